"""The chapter of slices in a review pack: the sentences of the search, and crops of their wrong boxes."""

import html
import json
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pymupdf
import pytest

from evaluator import formats
from evaluator.analysis.slices.all_measures import find_by_all_measures
from evaluator.analysis.slices.measure_values import MEASURES
from evaluator.analysis.slices.slices import Slices
from evaluator.components.payload import ModelItem
from evaluator.data.dataset import join
from evaluator.matching.box_results import UNMATCHED
from evaluator.metrics.observations import Attribute
from evaluator.pack import slice_cards, tables
from evaluator.pack.contents import gather
from evaluator.pack.html_pack import plan_of, write_html
from evaluator.pack.options import PackOptions
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.slice_cards import MOST_SLICES, PackSlices, pack_slices
from evaluator.pdf.pool import PagePool
from evaluator.protocols.snapshot.evaluation import ThresholdResult, pair
from evaluator.review.verdicts import ReviewLog
from tests.pack.test_pack import MODELS, SAMPLE, nothing


@pytest.fixture(scope="module")
def results() -> list[ThresholdResult]:
    dataset = join(*(formats.read(SAMPLE / f"{name}.json") for name in ("ground_truth", "blocks", "lines")))
    return [pair(dataset, model).match().at(0.5) for model in (0, 1)]


class Searched(NamedTuple):
    made: PackSlices
    searches: list[tuple[list[ThresholdResult], Slices]]


@pytest.fixture(scope="module")
def searched(results: list[ThresholdResult]) -> Searched:
    steps: list[tuple[int, int]] = []
    searches: list[tuple[list[ThresholdResult], Slices]] = []

    def noted(given: list[ThresholdResult], **more: Any) -> Slices:
        searches.append((given, find_by_all_measures(given, **more)))
        return searches[-1][1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(slice_cards, "find_by_all_measures", noted)
        made = pack_slices(results, ["A", "B"], count=lambda done, total: steps.append((done, total)))
    assert steps == [(done, 2 * len(MEASURES)) for done in range(2 * len(MEASURES))]
    return Searched(made, searches)


@pytest.fixture(scope="module")
def slices(searched: Searched) -> PackSlices:
    return searched.made


def test_the_slices_are_those_of_both_searches(results: list[ThresholdResult], searched: Searched) -> None:
    slices, ((of_own, own), (of_both, moved)) = searched
    assert (of_own, of_both) == (results[1:], results)
    assert slices.words == (f"B: {own.summary}", f"B minus A: {moved.summary}")
    assert own.slices
    # Half of the six of each search; what one lacks goes to the other.
    share = MOST_SLICES - min(MOST_SLICES // 2, len(moved.slices))
    shown = [*own.slices[:share], *moved.slices[: MOST_SLICES // 2]]
    assert [card.sentence for card in slices.cards] == [one.sentence for one in shown]
    assert [card.number for card in slices.cards] == list(range(1, len(slices.cards) + 1))
    for card in slices.cards:
        for example in card.examples:
            missed = [int(box.key[1:]) for box in example.boxes if box.status == "FN"]
            assert (results[1].truth_partner[missed] == UNMATCHED).all()
    assert {card.measure for card in slices.cards} > {"precision"}
    assert slices.cards[0].cost == f"{round(own.slices[0].lost)} boxes lost"


def test_one_model_has_the_slices_of_its_own_search_with_what_the_pdfs_show(results: list[ThresholdResult]) -> None:
    dataset = results[0].matching.dataset
    seen = {(document, None): {"scanned": "yes" if place % 2 else "no"}
            for place, document in enumerate(dataset.document_ids)}  # fmt: skip
    sides = [dataset.ground_truth, results[0].matching.prediction]
    missed = np.append(results[0].truth_partner, UNMATCHED)[: len(sides[0])] == UNMATCHED
    of_boxes = [
        (Attribute("ink in box", "number", np.where(missed, 0.01, 0.5) if place == 0 else np.full(len(side), 0.5)),)
        for place, side in enumerate(sides)
    ]
    steps: list[tuple[int, int]] = []
    alone = pack_slices(
        results[:1], ["A"], of_pages=seen, of_boxes=of_boxes, count=lambda done, total: steps.append((done, total))
    )
    assert {card.of for card in alone.cards} == {"A"}
    assert [card.lost for card in alone.cards] == sorted((card.lost for card in alone.cards), reverse=True)
    assert steps == [(done, len(MEASURES)) for done in range(len(MEASURES))]
    assert any("ink in box" in card.sentence and card.measure == "recall" for card in alone.cards)


def test_every_form_shows_them(results: list[ThresholdResult], slices: PackSlices, tmp_path: Path) -> None:
    options = PackOptions(pages=0)
    contents = gather(results, MODELS, ReviewLog.of([]), options, slices=slices)
    with PagePool() as pool:
        pictures = Pictures(pool, SAMPLE)
        assert plan_of(contents, pictures).slices == len(slices.cards)
        write_html(tmp_path / "pack.html", contents, pictures, progress=nothing)
        write_pdf(tmp_path / "pack.pdf", contents, Pictures(pool, None), progress=nothing)
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
    contents = gather(results[:1], [ModelItem("A", "blocks")], ReviewLog.of([]), PackOptions(pages=0))
    with PagePool() as pool:
        write_html(tmp_path / "pack.html", contents, Pictures(pool, None), progress=nothing)
    assert "Slices" not in (tmp_path / "pack.html").read_text()
