"""Judged fields and words in the chapters of a review pack."""

from pathlib import Path
from typing import Any

from evaluator.components.payload import ModelItem
from evaluator.formats.base import Reading
from evaluator.formats.fields import FORMAT
from evaluator.formats.items import FORMAT as ITEMS
from evaluator.formats.posters import FORMAT as POSTERS
from evaluator.pack.contents import Contents
from evaluator.pack.extra_protocols import ExtraEvaluation, MadeBefore, gather_all
from evaluator.pack.finding_rows import text_findings
from evaluator.pack.html_pack import write_html
from evaluator.pack.options import PackOptions
from evaluator.pack.pictures import Pictures
from evaluator.pdf.pool import PagePool
from evaluator.protocols import PROTOCOLS
from evaluator.review.verdicts import Event, JudgedBox, ReviewLog, Target
from tests.building import write_items
from tests.dashboard import SAMPLE_DATA
from tests.judging import opinion

FIELDS = SAMPLE_DATA / "fields"
PLACE = (0.1, 0.1, 0.2, 0.2)


def said(mistake: str, label: str, model: str | None = "anchors", **given: Any) -> Event:
    box = JudgedBox(side="prediction" if model else "ground_truth", label=label, xyxy=PLACE, model=model)
    place = {"kind": given.pop("kind", "field"), "document": given.pop("document", "norris-20466"), "page": 0}
    target = Target(**place, boxes=(box,), models=(model or "anchors",), mistake=mistake, label=label)
    return opinion(target, **{"note": "see\nthe  contract", "tags": ("bad",), **given})


EVENTS = [
    said("spurious", "total"), said("missed", "vendor.name", None, author="Ben", verdict="ignore", note="", tags=()),
    said("missed", "total", "another model"), said("missed", "total", document="nowhere"),
    said("missing_word", "seed", None, kind="word", document="seed-bank"),
]  # fmt: skip


def rows(options: PackOptions, events: Any = EVENTS) -> Any:
    truth = FORMAT.read_path(FIELDS / "ground_truth")
    return text_findings(ReviewLog.of(events), truth, {"anchors", "rules"}, options)


def test_fields_of_these_documents_and_models_are_listed_in_words() -> None:
    listed = rows(PackOptions())
    assert listed.note == "2 findings, as they were when they were judged"
    assert listed.rows == (
        ("norris-20466, page 1", "Extra: total", "anchors", "Model wrong", "Anna", "see the contract", ""),
        ("norris-20466, page 1", "Missed: vendor.name", "anchors", "Ignore", "Ben", "", ""),
    )
    assert [row[1] for row in rows(PackOptions(verdicts=("ignore",))).rows] == ["Missed: vendor.name"]
    assert [row[1] for row in rows(PackOptions(tags=("bad",))).rows] == ["Extra: total"]
    assert rows(PackOptions(documents=("quayside-77120",))) is None
    assert rows(PackOptions(), []) is None


def test_words_of_posters_are_listed() -> None:
    truth = POSTERS.read_path(SAMPLE_DATA / "posters" / "ground_truth")
    listed = text_findings(ReviewLog.of(EVENTS), truth, {"across"}, PackOptions())
    assert listed is not None
    assert [row[:2] for row in listed.rows] == [("seed-bank, page 1", "Missing word: seed")]


def test_mistakes_of_items_are_listed_under_their_protocol(tmp_path: Path) -> None:
    page = {"width": 9, "height": 9, "items": [{"label": "text", "box": [0, 0, 9, 9]}]}
    truth = ITEMS.read_path(write_items(tmp_path / "truth.jsonl", [page]), Reading(side="ground_truth"))
    events = [
        said(name, name, None, kind="item", document="a", minutes=minutes)
        for minutes, name in enumerate(("order_missing", "text_missing"))
    ]
    listed = text_findings(ReviewLog.of(events), truth, {"anchors"}, PackOptions(), items_of="order")
    assert listed is not None
    assert [row[:2] for row in listed.rows] == [("a, page 1", "Missing (order): order_missing")]
    assert text_findings(ReviewLog.of(events), truth, {"anchors"}, PackOptions()) is None


def contents(log: ReviewLog, before: MadeBefore) -> Contents:
    sides = [FORMAT.read_path(FIELDS / name) for name in ("ground_truth", "anchors", "rules")]
    system = PROTOCOLS["fields"]
    called = [ModelItem("A", "anchors"), ModelItem("B", "rules")]
    one = ExtraEvaluation(system, sides[0], sides[1:], system.options(), called, key="fields", log=log)
    return gather_all(None, [one], PackOptions(), lambda done, total, words: None, before=before)


def test_a_pack_of_fields_has_its_findings_and_takes_them_from_the_log_each_time(tmp_path: Path) -> None:
    before = MadeBefore(most=2)
    assert all(block.title != "Findings" for block in contents(ReviewLog(), before).chapters[0].blocks)
    judged = contents(ReviewLog.of(EVENTS), before)
    assert next(block.title for block in judged.chapters[0].blocks) == "Findings"
    path = tmp_path / "pack.html"
    with PagePool(workers=1) as pool:
        write_html(path, judged, Pictures(pool, None), progress=lambda done, total, words: None)
    written = path.read_text(encoding="utf-8")
    assert "Extra: total" in written
    assert "see the contract" in written
