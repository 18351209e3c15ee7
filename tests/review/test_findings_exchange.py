"""Findings out and in again: nothing is lost, nothing runs, bad rows are all told, two reviewers are merged."""

import contextlib
import csv
import io
import json
import unicodedata
from datetime import timedelta
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyarrow import parquet

from evaluator.data.issues import BadInput
from evaluator.review.findings_export import COLUMNS, table, to_csv, to_json, to_parquet
from evaluator.review.findings_import import merge, read
from evaluator.review.identity import page_target
from evaluator.review.verdicts import STATUSES, VERDICTS, Event, JudgedBox, Target, judge
from tests.judging import NOW, opinion
from tests.reading import refusal
from tests.texts import character

FORMS: dict[str, Any] = {
    "csv": lambda events: to_csv(events).encode(),
    "json": lambda events: to_json(events).encode(),
    "parquet": to_parquet,
}
BOX = JudgedBox(side="prediction", label="=Fig", xyxy=(0.1, 0.2, 1 / 3, 0.4), model="@m")
MISTAKE = Target(
    kind="mistake", document="-a.pdf", page=2, boxes=(BOX,), models=("@m",), mistake="invented", label="=Fig"
)

FIELD = Target(kind="field", document="d", page=0, boxes=(BOX,), models=("@m",), mistake="missed", label="a[0].b")

texts = some.text(character.filter(lambda one: unicodedata.category(one) != "Cc"), max_size=30)
tasks = some.fixed_dictionaries(
    {"owner": texts, "due": some.dates().map(str), "status": some.sampled_from(["", *STATUSES])}
)
events = some.builds(
    lambda target, verdict, note, tags, author, verified, minutes, task: judge(
        target,
        verdict=verdict,
        note=note,
        tags=[tag for tag in tags if "," not in tag],
        author=author,
        verified=verified,
        time=NOW + timedelta(minutes=minutes),
        **task,
    ),
    some.sampled_from([MISTAKE, FIELD, page_target("a", 0), Target(kind="document", document="+b\u202e")]),
    some.sampled_from([*VERDICTS, None]),
    some.one_of(texts, some.sampled_from(["=1+1", "'=1", "''", "'tis", " -x", "two\nlines", "\ttab", 'a"b', "a;b,c"])),
    some.lists(texts, max_size=3),
    texts.filter(lambda text: bool(text.strip())),
    some.booleans(),
    some.integers(0, 10_000),
    some.one_of(some.just({}), tasks),
)


def imported(event: Event, name: str) -> Event:
    return msgspec.structs.replace(event, verified=False, source=name)


class TestRoundTrip:
    @given(some.lists(events, max_size=8))
    def test_nothing_is_lost(self, every: list[Event]) -> None:
        for form, write in FORMS.items():
            back = read(write(every), f"f.{form}")
            assert list(back.events) == [imported(event, f"f.{form}") for event in every], form
            assert len(back.issues) == (not every)

    @given(some.lists(events, min_size=1, max_size=4))
    def test_no_cell_runs_in_a_spreadsheet(self, every: list[Event]) -> None:
        for row in csv.reader(io.StringIO(to_csv(every))):
            for cell in row:
                assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))

    def test_the_rows_of_csv(self) -> None:
        event = opinion(MISTAKE, "ignore", note="=cmd", tags=["a", "b"], event_id="e" * 32)
        head, row = list(csv.reader(io.StringIO(to_csv([event]))))
        assert tuple(head) == COLUMNS
        assert row[:-4] == [
            "e" * 32, MISTAKE.id, "mistake", "'-a.pdf", "2", "'=Fig", "invented", "ignore", "'=cmd", "a,b", "Anna",
            "false", "2026-01-31T12:00:00.000000Z", "",
        ]  # fmt: skip
        assert row[-3:] == ["", "", ""]
        assert json.loads(row[-4])["boxes"][0]["xyxy"] == [0.1, 0.2, 1 / 3, 0.4]

    def test_owner_due_date_and_status_are_columns_and_the_latest_opinion_with_them_counts(self) -> None:
        event = opinion(MISTAKE, "ignore", owner="Ben", due="2026-12-05", status="open")
        head, row = list(csv.reader(io.StringIO(to_csv([event]))))
        assert row[head.index("owner") :] == ["Ben", "2026-12-05", "open"]
        (judged,) = merge([event, opinion(MISTAKE, "ignore", author="Ada", minutes=1)]).log.judged.values()
        assert judged.task == event
        (line,) = table([judged]).rows
        assert line[-3:] == ("Ben", "2026-12-05", "open")

    def test_owners_dates_and_statuses_that_cannot_be_stored(self) -> None:
        for task, words in (
            ({"due": "2026-02-30"}, 'the due date must be a day such as 2026-01-31; found "2026-02-30"'),
            ({"due": "5.12.2026"}, 'the due date must be a day such as 2026-01-31; found "5.12.2026"'),
            ({"status": "soon"}, 'the status must be one of open, in_progress, done; found "soon"'),
            ({"owner": "x" * 201}, "the owner may have 200 characters; this one has 201"),
        ):
            event = msgspec.structs.replace(opinion(MISTAKE, "ignore"), **task)
            for form, write in FORMS.items():
                assert words in refusal(read, write([event]), f"bad.{form}")[0]

    def test_a_file_that_is_read_twice_counts_once(self) -> None:
        hand = b"kind,document,page_index,verdict,author,time\npage,a,0,ignore,Anna,2026-01-31T12:00:00Z\n"
        assert read(hand, "one.csv").events[0].id == read(hand, "two.csv").events[0].id
        merged = merge(read(hand, "one.csv").events, read(hand, "two.csv").events)
        assert (len(merged.events), merged.repeated) == (1, 1)


class TestByHand:
    def test_pages_and_documents_need_no_snapshot(self) -> None:
        rows = (
            "kind;document;page_index;verdict;note;author;time\n"
            "page;a.pdf;3;ambiguous;why, then;Anna;2026-01-31T13:00:00+01:00\n"
            "document;b.pdf;;;only a note;Ben;2026-01-31T12:00:00Z\n"
        )
        first, second = read(b"\xef\xbb\xbf" + rows.encode(), "hand.csv").events
        assert first.target == page_target("a.pdf", 3)
        assert (first.verdict, first.note, first.time) == ("ambiguous", "why, then", NOW)
        assert second.target == Target(kind="document", document="b.pdf")
        assert (second.verdict, second.author) == (None, "Ben")

    def test_a_column_that_is_not_known_is_told(self) -> None:
        content = b"kind,document,verdict,author,time,mood\ndocument,a,ignore,Anna,2026-01-31T12:00:00Z,good\n"
        back = read(content, "hand.csv")
        assert len(back.events) == 1
        assert [finding.sentence for finding in back.issues] == [
            'hand.csv: line 1: a column must be known; found "mood". It is left aside; the others are read.'
        ]

    def test_all_bad_rows_at_once_and_none_is_taken(self) -> None:
        good = "2026-01-31T12:00:00Z"
        rows = [
            "kind,document,page_index,verdict,note,author,time,event,snapshot",
            f"page,a,0,ignore,,Anna,{good},,",
            f"page,a,x,perhaps,,,{good},a b,",
            "page,a,-1,ignore,,Anna,yesterday,,",
            f"mistake,a,1,ignore,,Anna,{good},,",
            f"page,,1,ignore,,Anna,{good},,",
            f"page,a,1,ignore,bell\x07,Anna,{good},,",
            f"page,a,1,ignore,,Anna,{good},,{{",
            "short",
            "page,a,1,ignore,,Anna,2026-01-31T12:00:00,,",
        ]
        assert refusal(read, "\n".join(rows).encode(), "bad.csv") == [
            'bad.csv: line 3, page_index: page_index must be a number from 0; found "x". Correct it.',
            "bad.csv: line 3, author: a verdict needs an author; found nothing. Write who gave it.",
            "bad.csv: line 3, verdict: the verdict must be one of model_wrong, ground_truth_wrong, ambiguous, ignore; "
            'found "perhaps". Correct it, or leave it empty.',
            'bad.csv: line 3, event: event must be an id as it was exported; found "a b". Leave it empty.',
            'bad.csv: line 4, page_index: page_index must be a number from 0; found "-1". Correct it.',
            "bad.csv: line 4, time: time must be ISO 8601 with a time zone, for instance 2026-01-31T12:00:00Z; found "
            '"yesterday". Correct it.',
            "bad.csv: line 5: a row without snapshot must name a page or a document; found mistake without snapshot. "
            "Give kind, document and page_index, or the exported snapshot.",
            "bad.csv: line 6: a row without snapshot must name a page or a document; found page without document. "
            "Give kind, document and page_index, or the exported snapshot.",
            "bad.csv: line 7, note: a note must not contain control characters. Correct it.",
            "bad.csv: line 8, snapshot: snapshot must be as it was exported; found Input data was truncated. "
            "Export again.",
            "bad.csv: line 9: a row must have as many cells as the header; found 1 cells for 9 columns. "
            "Correct the row.",
            "bad.csv: line 10, time: time must be ISO 8601 with a time zone, for instance 2026-01-31T12:00:00Z; found "
            '"2026-01-31T12:00:00". Correct it.',
        ]

    def test_targets_that_make_no_sense(self) -> None:
        changes: list[dict[str, Any]] = [
            {"boxes": ()}, {"boxes": (msgspec.structs.replace(BOX, xyxy=(0.5, 0.1, 0.2, 0.3)),)},
            {"boxes": (msgspec.structs.replace(BOX, model=None),)}, {"boxes": (BOX,) * 1_001}, {"document": None},
            {"page": -1}, {"repeat": -1},
        ]  # fmt: skip
        wrong = [msgspec.structs.replace(MISTAKE, **change) for change in changes]
        for target in (*wrong, Target(kind="comparison", models=("one",))):
            event = msgspec.structs.replace(opinion(MISTAKE, "ignore"), target=target)
            for form, write in FORMS.items():
                assert len(refusal(read, write([event]), f"bad.{form}")) == 1

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "a file of findings must not be empty"),
            (b"\xff\xfe{\x00", "the text must be UTF-8 (RFC 3629); found 0xFF. Save the file as UTF-8."),
            (b"verdict,author,time\n,Zo\xe9,x\n", "byte 23: the text must be UTF-8 (RFC 3629); found 0xE9. Save the "),
            (b"a,b\n1,2\n", "findings need verdict, author and time; found no verdict, author, time"),
            (b"verdict,author,time,verdict\n", "a column must not be repeated"),
            (b'verdict,author,time\n"x', "the text must be well-formed CSV"),
            (b"{}", "findings must be a list; found null"),
            (b'{"events": [1, NaN]}', "an event must be an object; found 1"),
            (b'[{"verdict": NaN, "author": "A", "time": ""}]', "numbers must be finite"),
            (b'[{"verdict": "ignore", "author": 1, "time": 2, "tags": 3}]', "author must be text; found 1"),
            (b"[" * 2_000, "arrays and objects may be nested"),
            (b"PAR1", "the file must be readable as Parquet"),
            (b"PAR1" + b"\x00" * 100 + b"PAR1", "the file must be readable as Parquet"),
        ],
    )
    def test_files_that_are_none(self, content: bytes, words: str) -> None:
        with pytest.raises(BadInput) as raised:
            read(content, "bad")
        assert words in str(raised.value)

    def test_a_file_without_events_is_read_with_a_warning(self) -> None:
        assert to_csv([]) == ",".join(COLUMNS) + "\n"
        for form, write in FORMS.items():
            got = read(write([]), f"none.{form}")
            assert got.events == ()
            assert [issue.sentence for issue in got.issues] == [
                f"none.{form}: a file of findings should hold events; found none. Export the findings again, or leave "
                "the file out."
            ]

    def test_parquet_that_would_fill_the_memory_is_not_opened(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("evaluator.review.findings_import.MOST_ROWS", 10)
        rows = pa.table({name: ["x"] * 11 for name in ("verdict", "author", "time")})
        out = pa.BufferOutputStream()
        parquet.write_table(rows, out)
        with pytest.raises(BadInput, match="a file of findings may have 10 rows"):
            read(out.getvalue().to_pybytes(), "large.parquet")

    @given(some.binary(max_size=200))
    def test_any_bytes_give_events_or_findings(self, content: bytes) -> None:
        for start in (b"", b"{", b"PAR1", b"verdict,author,time,kind,document\n"):
            with contextlib.suppress(BadInput):
                read(start + content, "any")


class TestMerge:
    def test_two_reviewers(self) -> None:
        pages = [page_target("a", page) for page in range(3)]
        anna = [opinion(page, "ignore") for page in pages]
        ben = [
            opinion(pages[0], "ignore", author="Ben"),
            opinion(pages[1], "model_wrong", author="Ben"),
            opinion(pages[1], None, note="see the guideline", author="Chidi"),
        ]
        merged = merge(anna, ben, anna[:1])
        assert len(merged.events) == 6
        assert merged.repeated == 1
        assert [judged.target_id for judged in merged.conflicts] == [pages[1].id]
        assert merged.log.judged[pages[0].id].verdict == "ignore"
        rows = table(merged.log.judged.values())
        by_page = {row[2]: dict(zip(rows.columns, row, strict=True)) for row in rows.rows}
        assert by_page[1]["verdict"] == "conflict"
        assert by_page[1]["opinions"] == "Anna: ignore; Ben: model_wrong; Chidi: note"
        assert by_page[1]["notes"] == "Chidi: see the guideline"
        assert by_page[2]["verdict"] == "ignore"

    def test_the_order_of_the_files_does_not_matter(self) -> None:
        page = page_target("a", 0)
        first = [opinion(page, "ignore"), opinion(page, "model_wrong", time=NOW + timedelta(hours=2))]
        second = [opinion(page, "ambiguous", time=NOW + timedelta(hours=1))]
        for sources in ((first, second), (second, first)):
            assert merge(*sources).log.judged[page.id].verdict == "model_wrong"
