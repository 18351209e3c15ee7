"""The chapter of slices in a review pack: the sentences of the search, and crops of their wrong boxes."""

from __future__ import annotations

import html
import json
import unicodedata
from pathlib import Path

import pymupdf
import pytest

from evaluator import formats
from evaluator.drawing.payloads import ModelItem
from evaluator.metrics.box_results import UNMATCHED
from evaluator.model.dataset import join
from evaluator.pack import tables
from evaluator.pack.cards import PackOptions
from evaluator.pack.contents import gather
from evaluator.pack.html_pack import plan_of, write_html
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.slice_cards import pack_slices
from evaluator.pdf.pool import PagePool
from evaluator.protocols.snapshot.evaluation import ThresholdResult, pair
from evaluator.review.verdicts import ReviewLog
from evaluator.slices.slices import find_slices
from tests.test_pack import MODELS, SAMPLE, nothing


@pytest.fixture(scope="module")
def results() -> list[ThresholdResult]:
    dataset = join(*(formats.read(SAMPLE / f"{name}.json") for name in ("ground_truth", "blocks", "lines")))
    return [pair(dataset, model).match().at(0.5) for model in (0, 1)]


def test_the_slices_are_those_of_both_searches(results: list[ThresholdResult]) -> None:
    slices = pack_slices(results, ["A", "B"])
    own, moved = find_slices(results[1:]), find_slices(results)
    assert slices.words == (f"B: {own.summary}", f"B minus A: {moved.summary}")
    assert own.slices
    assert [card.sentence for card in slices.cards] == [one.sentence for one in (*own.slices[:3], *moved.slices[:3])]
    assert [card.number for card in slices.cards] == list(range(1, len(slices.cards) + 1))
    for card in slices.cards:
        for example in card.examples:
            missed = [int(box.key[1:]) for box in example.boxes if box.status == "FN"]
            assert (results[1].truth_partner[missed] == UNMATCHED).all()
    alone = pack_slices(results[1:], ["A"])
    assert [card.sentence for card in alone.cards] == [one.sentence for one in own.slices]


def test_every_form_shows_them(results: list[ThresholdResult], tmp_path: Path) -> None:
    slices = pack_slices(results, ["A", "B"])
    options = PackOptions(cards=0, pages=0)
    contents = gather(results, MODELS, ReviewLog.of([]), options, slices=slices)
    with PagePool() as pool:
        pictures = Pictures(pool, SAMPLE)
        assert plan_of(contents, pictures).slices == len(slices.cards)
        write_html(tmp_path / "pack.html", contents, pictures, progress=nothing)
        write_pdf(tmp_path / "pack.pdf", contents, pictures, progress=nothing)
    text = (tmp_path / "pack.html").read_text()
    chapter = text[text.index('<section id="slices">') :].split("</section>")[0]
    assert chapter.count('<svg class="picture"') == sum(len(card.examples) for card in slices.cards) > 0
    with pymupdf.open(tmp_path / "pack.pdf") as document:
        # A line may end at the hyphen of a label, and letters be one glyph.
        printed = unicodedata.normalize("NFKC", "".join("".join(page.get_text() for page in document).split()))
    for card in slices.cards:
        assert card.sentence in html.unescape(chapter)
        assert "".join(card.sentence.split()) in printed
    stored = json.loads(tables.to_json(contents))["slices"]
    assert [each["sentence"] for each in stored] == [card.sentence for card in slices.cards]


def test_a_pack_whose_slices_nobody_searched_has_no_chapter(results: list[ThresholdResult], tmp_path: Path) -> None:
    contents = gather(results[:1], [ModelItem("A", "blocks")], ReviewLog.of([]), PackOptions(cards=0, pages=0))
    with PagePool() as pool:
        write_html(tmp_path / "pack.html", contents, Pictures(pool, None), progress=nothing)
    assert "Slices" not in (tmp_path / "pack.html").read_text()
