"""A played meeting: every decision, with its owner, due date and status, is in every form of the pack."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pymupdf
import pytest

from evaluator.components.payload import ModelItem
from evaluator.matching.error_types import NONE
from evaluator.pack import html_pack
from evaluator.pack.contents import Contents, gather
from evaluator.pack.folder import write_folder
from evaluator.pack.minutes import minutes
from evaluator.pack.options import PackOptions
from evaluator.pack.pictures import Pictures
from evaluator.pdf.pool import PagePool
from evaluator.review.decisions import CauseRow, cause_rows
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import ReviewLog
from tests.judging import NOW, opinion
from tests.sample_part import SAMPLE, sample_results

MODELS = [ModelItem("A", "lines 1.0"), ModelItem("B", "blocks 1.0")]
# Of each cause: verdict, note, owner, due date as stored and as shown, status as stored and as shown.
DECIDED = {
    "Several Text boxes read as one Text": (
        "model_wrong", "Split at paragraph gaps.", "Cleo", "2026-12-11", "11 Dec 2026", "in_progress", "In work",
    ),
    "Table read as several boxes": (
        "model_wrong", "Train with merged rows.", "Ben", "2026-12-12", "12 Dec 2026", "open", "Open",
    ),
    "Several boxes read as one Figure": ("ambiguous", "A test set of their own?", "", "", "no date", "", "Open"),
    "Figure read as several boxes": (
        "ground_truth_wrong", "A figure ends with its axis.", "Dan", "2026-12-04", "4 Dec 2026", "done", "Done",
    ),
}  # fmt: skip


def play(rows: list[CauseRow]) -> ReviewLog:
    """The verdicts of a meeting on all places of some causes under both models."""
    events = []
    for row in (each for each in rows if each.title in DECIDED):
        verdict, note, owner, due, _, status, _ = DECIDED[row.title]
        said = {"note": note, "owner": owner, "due": due, "status": status}
        events += [opinion(target, verdict, **said) for target in row.targets(ReviewLog()).values()]
    return ReviewLog.of(events)


class Packed(NamedTuple):
    folder: Path
    contents: Contents
    log: ReviewLog


@pytest.fixture(scope="module")
def pool() -> Iterator[PagePool]:
    with PagePool() as started:
        yield started


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory, pool: PagePool) -> Packed:
    folder, results = tmp_path_factory.mktemp("packed"), list(sample_results())
    log = play(cause_rows(results, [])[0])
    contents = gather(results, MODELS, log, PackOptions(pages=6))
    write_folder(folder, contents, Pictures(pool, SAMPLE / "pdf"), log.events, None, progress=lambda *_: None)
    return Packed(folder, contents, log)


def text_of(path: Path) -> str:
    with pymupdf.open(path) as document:
        return " ".join(" ".join(page.get_text() for page in document).split())


def test_every_owner_due_date_and_status_is_in_every_form(packed: Packed) -> None:
    results = [model.result for model in packed.contents.models]
    rows, _ = cause_rows(results, finding_statuses(packed.log, results), packed.contents.decision)
    told = minutes(
        [(row, cause.effect) for row, cause in zip(rows, packed.contents.causes, strict=True)], [], [],
        letters="AB", signature="snapshot", time=NOW, link=lambda document, page: f"http://x/{document}?{page}",
    )  # fmt: skip
    html = (packed.folder / "pack.html").read_text(encoding="utf-8")
    forms = {
        "html": html[html.index('id="decisions"') : html.index('id="causes"')],
        "pdf": text_of(packed.folder / "pack.pdf"),
        "minutes": told.replace("\\", ""),
    }
    with (packed.folder / "decisions.csv").open(encoding="utf-8", newline="") as file:
        table = {row["cause"]: row for row in csv.DictReader(file)}
    assert list(table) == [cause.row.title for cause in packed.contents.causes if cause.decided]
    assert set(table) == set(DECIDED)
    for title, (_, note, owner, due, day, _, status) in DECIDED.items():
        row = table[title]
        assert (row["owner"], row["due"], row["status"], row["notes"]) == (owner, due, status, note)
        for form, text in forms.items():
            assert all(each in text for each in (title, owner or "no owner", day, status)), (form, title)
            assert text.count(note) == 1, (form, title)
    assert all("Still to do: Ben 1, Cleo 1, no owner 1." in text for text in forms.values())
    assert json.loads((packed.folder / "results.json").read_text())["decisions"][0]["owner"] == "Cleo"
    assert "## Decisions" in told
    assert "(http://x/port-authority-annual.pdf?1)" in told


def test_rows_are_all_causes_costliest_first_and_add_up(packed: Packed) -> None:
    causes = [cause.row for cause in packed.contents.causes]
    assert [row.title for row in causes if row.fails] == ["Several Text boxes read as one Text"]
    worse = [row.most for row in causes[1:]]
    assert worse == sorted(worse, reverse=True)
    for place, model in enumerate(packed.contents.models):
        counts = model.result.micro.row(0)
        assert sum(row.sides[place].wrong for row in causes) == (counts["fp"] or 0) + (counts["fn"] or 0)
        assert sum(row.sides[place].mistakes for row in causes) == len(model.result.mistakes)
        assert (model.result.causes.of_mistake != NONE).all()


@pytest.mark.parametrize(
    ("title", "effect"),
    [
        (
            "Several Text boxes read as one Text",
            (
                "fixed",
                [(1, "Text recall", "0.727", "0.825")],
                "Text recall 4.2 points below A, within the 5 allowed.",
            ),
        ),
        ("Table read as several boxes", ("fixed", [(0, "F1", "0.696", "0.758"), (1, "F1", "0.794", "0.812")], "")),
        ("Several boxes read as one Figure", ("none", [], "")),
        ("Figure read as several boxes", ("corrected", [(0, "F1", "0.696", "0.723"), (1, "F1", "0.794", "0.807")], "")),
    ],
)
def test_a_decision_says_what_it_is_worth(packed: Packed, title: str, effect: object) -> None:
    (worth,) = (cause.effect for cause in packed.contents.causes if cause.row.title == title)
    assert worth is not None
    lines = [(line.model, line.measure, f"{line.before:.3f}", f"{line.after:.3f}") for line in worth.lines]
    assert (worth.kind, lines, worth.note) == effect


def test_a_picture_has_the_whole_place_and_the_boxes_of_its_caption(packed: Packed, pool: PagePool) -> None:
    pictures = Pictures(pool, None)
    for cause in packed.contents.causes:
        for boxes, side in zip(
            cause.example.boxes, html_pack.sides_of_cause(cause, packed.contents, pictures), strict=True
        ):
            strong = [box for box in side.boxes if not box.faint]
            counts = [sum(box.status == status for box in strong) for status in ("TP", "FN", "FP")]
            assert counts == [boxes.matched, boxes.missed, boxes.extra], cause.row.title
            assert side.counts == boxes.words
            edges = [edge for box in strong for edge in (box.x, box.y, 1 - box.x - box.width, 1 - box.y - box.height)]
            assert min(edges, default=0.0) >= -1e-6


def test_no_page_of_the_pdf_but_the_last_is_half_empty_and_no_row_is_on_two(packed: Packed) -> None:
    with pymupdf.open(packed.folder / "pack.pdf") as document:
        pages = [page.get_text("blocks") for page in document]
        texts = ["".join(page.get_text().split()) for page in document]
    for number, blocks in enumerate(pages[:-1], 1):
        # The last block is the number of the page.
        assert max(block[3] for block in blocks[:-1]) > 842 / 2, f"page {number}"
    for cause in packed.contents.causes:
        sides = [f"{side.wrong}wrongbox" for side in cause.row.sides if side.wrong]
        with_title = [text for text in texts if "".join(cause.row.title.split()) in text]
        assert any(all(side in text for side in sides) for text in with_title), cause.row.title


def test_before_any_decision_the_chapter_is_one_line(tmp_path: Path, pool: PagePool) -> None:
    contents = gather(sample_results(), MODELS, ReviewLog(), PackOptions(pages=0, documents=("groundwater-note.pdf",)))
    html_pack.write_html(tmp_path / "pack.html", contents, Pictures(pool, None), progress=lambda *_: None)
    text = (tmp_path / "pack.html").read_text(encoding="utf-8")
    chapter = text[text.index('<section id="decisions">') :].split("</section>")[0]
    assert chapter.split(">", 1)[1].strip() == "<h2>Decisions <small>No cause is decided yet.</small></h2>"


def test_the_viewer_of_the_pack_has_verdicts_and_causes(packed: Packed) -> None:
    layers = [layer for page in packed.contents.pages for layer in html_pack.page_layers(packed.contents, page, None)]
    assert any(layer.causes for layer in layers)
    assert {
        mistake.verdict.agreed for layer in layers for mistake in layer.mistakes if mistake.verdict is not None
    } == {"model_wrong", "ambiguous", "ground_truth_wrong"}
