"""Where boxes are on their page: shares from a file's pixels, whose size counts, and what is shown without one."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluator import formats
from evaluator.components.gallery.crops import cards
from evaluator.components.viewer import mistake_filter, page_overlay
from evaluator.components.viewer.page_strip import strip
from evaluator.components.viewer.text_lost import PageText, count_pages
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations, Dataset, join
from evaluator.matching.box_items import items
from evaluator.matching.page_rows import page_shares, rows_on
from evaluator.pdf.pool import Words
from evaluator.protocols import snapshot
from tests.building import Box, annotations, box, ground_truth, random_rows

SIZE = (600.0, 800.0)
ROWS = [box(60, 80, 300, 400), box(60, 480, 300, 560, label="Table")]
PREDICTED = [box(60, 80, 300, 400, score=0.9), box(120, 700, 180, 720, score=0.4)]
SHARES = [[0.1, 0.1, 0.5, 0.5], [0.1, 0.6, 0.5, 0.7]]


def in_pixels(source: Annotations, *sizes: tuple[float, float]) -> Annotations:
    """The same boxes in pixels, of images of some sizes; without any the file does not state it."""
    return replace(source, unit="pixels", page_size=np.array(sizes, dtype=np.float64) if sizes else None)


def result_of(truth: Annotations, predicted: Annotations) -> snapshot.ThresholdResult:
    return snapshot.pair(join(truth, predicted), 0, iou_floor=snapshot.IOU_FLOOR).match().at(0.5)


def shares_of(dataset: Dataset, stated: tuple[float, float] | None = None) -> tuple[FloatArray, FloatArray]:
    sides = dataset.ground_truth, dataset.predictions[0]
    truth, prediction = (page_shares(dataset, side, np.arange(len(side)), stated=stated) for side in sides)
    return truth, prediction


def test_shares_stay_as_they_are() -> None:
    truth, prediction = shares_of(join(ground_truth([box(0.1, 0.2, 0.3, 0.4)]), annotations([])), (10.0, 10.0))
    assert (truth.tolist(), prediction.shape) == ([[0.1, 0.2, 0.3, 0.4]], (0, 4))


def test_pixels_are_parts_of_the_size_that_the_file_states() -> None:
    dataset = join(in_pixels(ground_truth(ROWS), SIZE), in_pixels(annotations(PREDICTED), (1200.0, 1600.0)))
    truth, prediction = shares_of(dataset, (1.0, 1.0))
    assert truth.tolist() == SHARES
    assert prediction[0].tolist() == [0.05, 0.05, 0.25, 0.25], "each file has its own pixels"
    assert dataset.page_size.tolist() == [[600.0, 800.0]], "the page is as large as the ground truth states"


def test_a_prediction_without_sizes_takes_those_of_the_ground_truth() -> None:
    _, prediction = shares_of(join(in_pixels(ground_truth(ROWS), SIZE), in_pixels(annotations(PREDICTED))))
    assert prediction.tolist()[0] == SHARES[0]


def test_each_page_has_its_own_size_whatever_the_order_of_the_files() -> None:
    first, second = box(60, 80, 300, 400, page=0), box(60, 80, 300, 400, page=3)
    sized = in_pixels(ground_truth([second, first]), (300.0, 400.0), SIZE)
    truth, prediction = shares_of(join(sized, in_pixels(annotations([first, second]))))
    assert truth.tolist() == [[0.2, 0.2, 1.0, 1.0], [0.1, 0.1, 0.5, 0.5]]
    assert prediction.tolist() == truth.tolist()[::-1]


def test_a_stated_size_is_for_pages_that_no_file_knows() -> None:
    dataset = join(in_pixels(ground_truth(ROWS)), in_pixels(annotations(PREDICTED)))
    assert np.isnan(shares_of(dataset)[0]).all()
    assert np.isnan(dataset.page_size).all()
    assert shares_of(dataset, SIZE)[0].tolist() == SHARES


def test_boxes_in_pixels_are_drawn_where_boxes_in_shares_are() -> None:
    def in_shares(row: Box) -> Box:
        x1, y1, x2, y2 = row.xyxy
        return row._replace(xyxy=(x1 / 600, y1 / 800, x2 / 600, y2 / 800))

    pixels = result_of(in_pixels(ground_truth(ROWS), SIZE), in_pixels(annotations(PREDICTED)))
    page = page_overlay.page_data(pixels, 0, page_points=SIZE)
    other = result_of(ground_truth([*map(in_shares, ROWS)]), annotations([*map(in_shares, PREDICTED)]))
    expected = page_overlay.page_data(other, 0, page_points=SIZE)
    assert [each.xyxy for each in page.boxes] == [pytest.approx(each.xyxy) for each in expected.boxes]
    assert [each.lines for each in page.mistakes] == [each.lines for each in expected.mistakes]
    assert page.counts == expected.counts
    assert all(0.0 <= share <= 1.0 for each in page.boxes for share in each.xyxy)
    columns = mistake_filter.mistake_columns(pixels, pixels.mistakes)
    assert columns.size == pytest.approx(mistake_filter.mistake_columns(other, other.mistakes).size)
    pages = mistake_filter.page_list(pixels.matching.dataset, np.bincount(columns.page))
    (entry,) = strip(pixels, pages, 0).pages
    assert entry.blocks == [(*SHARES[0], "Figure"), (*SHARES[1], "Table")]
    assert {tuple(each.xyxy) for card in cards(pixels, items(pixels)) for each in card.boxes} == {
        each.xyxy for each in page.boxes
    }


def test_the_words_of_a_page_meet_boxes_in_pixels() -> None:
    result = result_of(in_pixels(ground_truth(ROWS), SIZE), in_pixels(annotations(PREDICTED)))
    text = PageText(Words(np.array([[0.1, 0.62, 0.2, 0.64]]), ("lost",)))
    assert page_overlay.lost_text(result, 0, text).lost_words == 1


def test_without_a_size_nothing_is_drawn_and_the_page_says_why() -> None:
    result = result_of(in_pixels(ground_truth(ROWS)), in_pixels(annotations(PREDICTED)))
    text = PageText(Words(np.array([[0.1, 0.62, 0.2, 0.64]]), ("lost",)))
    page = page_overlay.page_data(result, 0, page_points=SIZE, text=text)
    assert (list(page.boxes), list(page.mistakes)) == ([], [])
    assert page.notes == (page_overlay.NO_SIZE,)
    assert (page.limit and page.limit.drawn, page.limit and page.limit.total) == (0, 4)
    assert (page.counts.TP, page.counts.FP, page.counts.FN) == (1, 1, 1), "the numbers need no size"
    assert page_overlay.lost_text(result, 0, text).lost_words is None
    (summary,) = count_pages(result, np.array([0]), lambda _: text.words.boxes)
    assert (summary.silent, int(summary.counts.words.sum())) == (1, 0)
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    assert np.isnan(columns.size).all()
    small = mistake_filter.MistakeFilter(size=(0.0, 0.1))
    assert mistake_filter.passing(columns, result.matching.dataset, small).all(), "an unknown size hides nothing"
    pages = mistake_filter.page_list(result.matching.dataset, np.bincount(columns.page))
    assert strip(result, pages, 0).pages[0].blocks == []
    assert all(not card.boxes for card in cards(result, items(result)))
    assert len(page_overlay.page_data(result, 0, page_size=SIZE).boxes) == 4


def test_an_instances_file_of_predictions_is_drawn_on_the_page(tmp_path: Path) -> None:
    """It was drawn at 10,000 per cent."""
    image = {"id": 1, "file_name": "a.png", "width": 600, "height": 800}
    thing = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [60, 80, 240, 320], "area": 76_800, "iscrowd": 0}
    sides = []
    for name in ("truth", "model"):
        path = tmp_path / f"{name}.json"
        file = {"images": [image], "annotations": [thing], "categories": [{"id": 1, "name": "Figure"}]}
        path.write_text(json.dumps(file), encoding="utf-8")
        sides.append(formats.read(path))
    page = page_overlay.page_data(result_of(*sides), 0)
    assert [each.xyxy for each in page.boxes] == [(0.1, 0.1, 0.5, 0.5)] * 2


@pytest.mark.parametrize("seed", range(4))
def test_the_boxes_of_a_page_are_those_that_take_part_there(seed: int) -> None:
    truth, predicted = random_rows(seed)
    rng = np.random.default_rng(seed)
    truth, predicted = ([rows[at] for at in rng.permutation(len(rows))] for rows in (truth, predicted))
    dataset = join(ground_truth(truth), annotations(predicted))
    for score, labels in ((0.0, None), (0.5, None), (0.3, ("Table",))):
        result = snapshot.pair(dataset).match(min_score=score, labels=labels).at(0.5)
        for page in range(-1, dataset.pages):
            truths, predictions = (rows.tolist() for rows in rows_on(result, page))
            matching = result.matching
            assert truths == np.flatnonzero((dataset.ground_truth.page == page) & matching.truth_counts).tolist()
            counting = (matching.prediction.page == page) & result.counting_predictions
            assert predictions == np.flatnonzero(counting).tolist()
