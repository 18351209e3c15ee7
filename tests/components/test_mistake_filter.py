"""The filter of the page browser: which mistakes and pages stay, in which order, and what is stated about it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluator.components.viewer import mistake_filter
from evaluator.components.viewer.mistake_filter import MistakeColumns, MistakeFilter, PageList, page_list, passing
from evaluator.components.viewer.page_strip import strip, window
from evaluator.data.boxes import overlap
from evaluator.data.dataset import join
from evaluator.matching.box_items import Items, items
from evaluator.matching.error_types import DOCUMENT, MistakeOptions
from evaluator.protocols import snapshot
from tests.building import Box, box, ground_truth, random_rows, read_by_browser
from tests.building import annotations as prediction


def result_of(truth: Sequence[Box], predicted: Sequence[Box], **given: Any) -> snapshot.ThresholdResult:
    dataset = join(ground_truth(truth, **given), prediction(predicted))
    return snapshot.pair(dataset, 0, iou_floor=snapshot.IOU_FLOOR).match().at(0.5)


def columns_of(result: snapshot.ThresholdResult, options: MistakeOptions | None = None) -> MistakeColumns:
    return mistake_filter.mistake_columns(result, mistake_filter.mistakes_of(result, options))


def names_of(result: snapshot.ThresholdResult, **chosen: Any) -> list[str]:
    columns = columns_of(result)
    keep = passing(columns, result.matching.dataset, MistakeFilter(**chosen))
    return [DOCUMENT[code] for code in columns.kind[keep]]


def pages_of(result: snapshot.ThresholdResult, *, label: str | None = None, **given: Any) -> PageList:
    columns = columns_of(result)
    chosen = MistakeFilter(document=given.get("document"), label=label)
    keep = passing(columns, result.matching.dataset, chosen)
    mistakes = np.bincount(columns.page[keep], minlength=result.matching.dataset.pages)
    return page_list(result.matching.dataset, mistakes, **{"only_mistakes": chosen.narrows, **given})


def shown(pages: PageList) -> list[str]:
    return [f"{document[0]}{index}" for document, index in map(pages.at, range(len(pages)))]


@pytest.fixture
def mixed() -> snapshot.ThresholdResult:
    """a0: cut off (IoU 0.25, score 0.8). a1: missed Table. b0: invented (score 0.3), wrong class (IoU 1, score 0.9)."""
    whole = box(0.1, 0.1, 0.5, 0.5)
    return result_of(
        [whole, box(0.1, 0.1, 0.9, 0.9, page=1, label="Table"), whole._replace(document="b.pdf", label="Table")],
        [
            box(0.1, 0.1, 0.5, 0.2, score=0.8),
            whole._replace(document="b.pdf", score=0.9),
            box(0.8, 0.8, 0.85, 0.9, document="b.pdf", score=0.3),
        ],
    )


def test_the_columns_say_what_the_mistakes_are(mixed: snapshot.ThresholdResult) -> None:
    columns = columns_of(mixed)
    assert [DOCUMENT[code] for code in columns.kind] == ["cut_off", "missed", "wrong_class", "invented"]
    assert columns.document.tolist() == [0, 0, 1, 1]
    assert columns.truth_label.tolist() == [0, 1, 1, -1]
    assert columns.prediction_label.tolist() == [0, -1, 0, 0]
    assert columns.score == pytest.approx([0.8, np.nan, 0.9, 0.3], nan_ok=True)
    assert columns.iou == pytest.approx([0.25, np.nan, 1.0, np.nan], nan_ok=True)
    assert columns.size == pytest.approx([0.16, 0.64, 0.16, 0.005])


def test_each_condition(mixed: snapshot.ThresholdResult) -> None:
    for chosen, left in (
        ({}, ["cut_off", "missed", "wrong_class", "invented"]),
        ({"document": "b.pdf"}, ["wrong_class", "invented"]),
        ({"document": "z.pdf"}, []),
        ({"names": ("missed", "invented")}, ["missed", "invented"]),
        ({"label": "Table"}, ["missed", "wrong_class"]),
        ({"label": "Figure"}, ["cut_off", "wrong_class", "invented"]),
        ({"label": "No such label"}, []),
        ({"score": (0.5, 1.0)}, ["cut_off", "missed", "wrong_class"]),
        ({"score": (0.8, 0.8)}, ["cut_off", "missed"]),
        ({"iou": (0.0, 0.3)}, ["cut_off", "missed", "invented"]),
        ({"iou": (0.2, 1.0)}, ["cut_off", "wrong_class"]),
        ({"size": (0.1, 0.2)}, ["cut_off", "wrong_class"]),
        ({"names": ("missed",), "label": "Figure"}, []),
    ):
        assert names_of(mixed, **chosen) == left, chosen
    with pytest.raises(ValueError, match="unknown names of mistakes: sloppy, torn"):
        names_of(mixed, names=("sloppy", "missed", "torn"))


def test_verdicts(mixed: snapshot.ThresholdResult) -> None:
    columns, dataset = columns_of(mixed), mixed.matching.dataset
    judged = np.array([True, False, False, True])
    assert passing(columns, dataset, MistakeFilter(unjudged=True), judged=judged).tolist() == [False, True, True, False]
    sentence = "only mistakes without a verdict were asked for, and nothing says which have one"
    with pytest.raises(ValueError, match=sentence):
        passing(columns, dataset, MistakeFilter(unjudged=True))


def test_counts_by_name_follow_the_other_conditions_only(mixed: snapshot.ThresholdResult) -> None:
    columns, dataset = columns_of(mixed), mixed.matching.dataset
    counts = mistake_filter.name_counts(columns, dataset, MistakeFilter(names=("missed",), score=(0.5, 1.0)))
    assert dict(zip(DOCUMENT, counts.tolist(), strict=True)) == dict.fromkeys(DOCUMENT, 0) | dict.fromkeys(
        ("wrong_class", "cut_off", "missed"), 1
    )


def test_pairs_and_mistakes_of_pixel_files_have_one_unit() -> None:
    """The same boxes in shares and in pixels of 400 x 800: size and height are the same shares, of pairs too."""
    rows = [box(0.1, 0.1, 0.5, 0.3), box(0.1, 0.7, 0.5, 0.9)]
    predicted = [rows[0]._replace(score=0.9), box(0.6, 0.4, 0.8, 0.5, score=0.5)]

    def every(scale: tuple[float, float]) -> Items:
        sides = [
            replace(
                side,
                unit="page" if scale == (1.0, 1.0) else "pixels",
                boxes=replace(side.boxes, xyxy=side.boxes.xyxy * np.tile(scale, 2)),
                page_size=None if scale == (1.0, 1.0) else np.array([scale]),
            )
            for side in (ground_truth(rows), prediction(predicted))
        ]
        result = snapshot.pair(join(*sides), 0).match().at(0.5)
        dataset = result.matching.dataset
        sides = (dataset.ground_truth, result.matching.prediction)
        first, second = (mistake_filter.box_places(dataset, side) for side in sides)
        return replace(items(result), places=(first, second))

    shares, pixels = every((1.0, 1.0)), every((400.0, 800.0))
    assert shares.size.tolist() == pytest.approx([0.08, 0.02, 0.08])
    assert pixels.size.tolist() == pytest.approx(shares.size.tolist())
    assert pixels.middle.tolist() == pytest.approx(shares.middle.tolist())
    assert shares.middle.tolist() == pytest.approx([0.2, 0.45, 0.8])


def test_no_mistakes() -> None:
    result = result_of([box(0.1, 0.1, 0.5, 0.5)], [box(0.1, 0.1, 0.5, 0.5)])
    columns = columns_of(result)
    assert len(columns) == 0
    keep = passing(columns, result.matching.dataset, MistakeFilter(score=(0.2, 0.4)))
    assert mistake_filter.kept_words(columns, keep) == "0 wrong boxes in 0 mistakes, at 0 places on 0 pages"
    pages = pages_of(result)
    assert (shown(pages), pages.mistakes.tolist()) == (["a0"], [0])


@pytest.mark.parametrize("seed", range(8))
def test_every_row_agrees_with_a_loop_over_the_mistakes(seed: int) -> None:
    result = result_of(*random_rows(seed))
    truth, predicted = result.matching.dataset.ground_truth, result.matching.prediction
    mistakes = result.mistakes
    columns = columns_of(result)
    low, high = np.sort(np.random.default_rng(seed).uniform(0, 1, 2))
    chosen = MistakeFilter(label="Table", score=(low, 1.0), iou=(0.0, high), size=(0.0, high))
    keep = passing(columns, result.matching.dataset, chosen)
    code = result.matching.dataset.labels.index("Table")
    for place in range(len(mistakes)):
        truths, predictions = mistakes.truths_of(place), mistakes.predictions_of(place)
        boxes = [*truth.xyxy[truths], *predicted.xyxy[predictions]]
        size = max((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in boxes)
        fits = [float(overlap(truth.xyxy[[g]], predicted.xyxy[[p]]).iou[0]) for g in truths for p in predictions]
        scores = [float(each) for each in predicted.score[predictions] if not np.isnan(each)]
        assert columns.size[place] == pytest.approx(size)
        assert columns.iou[place] == pytest.approx(max(fits, default=np.nan), nan_ok=True)
        assert columns.score[place] == pytest.approx(max(scores, default=np.nan), nan_ok=True)
        labels = {int(truth.label[truths[0]])} if len(truths) else set()
        labels |= {int(predicted.label[predictions[0]])} if len(predictions) else set()
        wanted = code in labels and (not scores or low <= max(scores)) and (not fits or max(fits) <= high)
        assert keep[place] == (wanted and size <= high)


@pytest.fixture
def three_documents() -> snapshot.ThresholdResult:
    truth = [
        box(0.1, 0.1, 0.2, 0.2),
        *(box(0.1 * i, 0.1, 0.1 * i + 0.05, 0.2, page=1) for i in (1, 2)),
        box(0.1, 0.1, 0.2, 0.2, document="b.pdf", page=3, label="Table"),
        box(0.1, 0.1, 0.2, 0.2, document="b.pdf", page=0),
    ]
    return result_of(truth, truth[:1], pages=[("c.pdf", 0)])


def test_order(three_documents: snapshot.ThresholdResult) -> None:
    worst = pages_of(three_documents)
    assert (shown(worst), worst.mistakes.tolist()) == (["a1", "b0", "b3", "a0", "c0"], [2, 1, 1, 0, 0])
    of_pdf = {"document": "b.pdf", "pdf_pages": 3}
    for given, pages in (
        ({"worst_first": False}, "a0 a1 b0 b3 c0"),
        ({"only_mistakes": True}, "a1 b0 b3"),
        ({"document": "b.pdf"}, "b0 b3"),
        ({"label": "Table"}, "b3"),
        ({"label": "Figure"}, "a1 b0"),
        ({"document": "c.pdf", "only_mistakes": True}, ""),
        ({"document": "z.pdf"}, ""),
        # A page of the file beyond the PDF's end stays.
        (of_pdf, "b0 b3 b1 b2"),
        ({**of_pdf, "worst_first": False}, "b0 b1 b2 b3"),
        ({**of_pdf, "only_mistakes": True}, "b0 b3"),
    ):
        assert " ".join(shown(pages_of(three_documents, **given))) == pages, given
    assert pages_of(three_documents, **of_pdf).position("b.pdf", 2) == 3


def test_a_place_in_the_list(three_documents: snapshot.ThresholdResult) -> None:
    pages = pages_of(three_documents)
    assert [pages.position(*pages.at(place)) for place in range(len(pages))] == [0, 1, 2, 3, 4]
    for document, index in (("a.pdf", 2), ("z.pdf", 0), ("a.pdf", -1), ("a.pdf", 2**40)):
        assert pages.position(document, index) is None


def test_the_next_page_with_a_mistake(three_documents: snapshot.ThresholdResult) -> None:
    pages = pages_of(three_documents, worst_first=False)  # a0 -, a1 two, b0 one, b3 one, c0 -
    assert [pages.with_mistakes(place, 1) for place in range(-1, 5)] == [1, 1, 2, 3, None, None]
    assert [pages.with_mistakes(place, -1) for place in range(5)] == [None, None, 1, 2, 3]


def test_what_the_filter_keeps_is_said(three_documents: snapshot.ThresholdResult) -> None:
    columns, dataset = columns_of(three_documents), three_documents.matching.dataset
    for chosen, line in (
        (MistakeFilter(), "4 wrong boxes in 4 mistakes (all missed), at 4 places on 3 pages"),
        (MistakeFilter(label="Table"), "1 wrong box in 1 mistake (all missed), at 1 place on 1 page"),
    ):
        assert mistake_filter.kept_words(columns, passing(columns, dataset, chosen)) == line


def test_strip(three_documents: snapshot.ThresholdResult) -> None:
    drawn = read_by_browser(strip(three_documents, pages_of(three_documents), 1))
    assert drawn["first"] == 0
    entries = drawn["pages"]
    assert [(f"{each['document'][0]}{each['index']}", each["mistakes"], len(each["blocks"])) for each in entries] == [
        ("a1", 2, 2), ("b0", 1, 1), ("b3", 1, 1), ("a0", 0, 1), ("c0", 0, 0),
    ]  # fmt: skip
    assert [each["current"] for each in entries] == [False, True, False, False, False]
    assert entries[3]["blocks"] == [[0.1, 0.1, 0.2, 0.2, "Figure"]]


def test_strip_draws_a_few_blocks_of_a_full_page() -> None:
    truth = [box(0.01 * i, 0.1, 0.01 * i + 0.005, 0.2) for i in range(60)]
    result = result_of(truth, [])
    (entry,) = read_by_browser(strip(result, pages_of(result), 0))["pages"]
    assert (len(entry["blocks"]), entry["mistakes"]) == (8, 60)


def test_the_strip_of_a_long_document_is_a_window_around_the_page() -> None:
    result = result_of([box(0.1, 0.1, 0.2, 0.2)], [], pages=[("a.pdf", page) for page in range(1, 500)])
    drawn = read_by_browser(strip(result, pages_of(result, worst_first=False), 300))
    assert (drawn["first"], len(drawn["pages"])) == (270, 120)
    (current,) = [each for each in drawn["pages"] if each["current"]]
    assert current["index"] == 300
    for position in range(500):
        first, last = window(position, 500)
        assert first <= position < last
        assert last - first == 120
