"""Chapters of a pack: the numbers are those of the results, curves and heatmaps are those of the browser."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.components.payload import ModelItem
from evaluator.matching.box_scores import box_calibration
from evaluator.pack.blocks import Heatmap, Plot, Rows, Texts
from evaluator.pack.chapters import Chapter, chapter_differences, chapter_of
from evaluator.pack.html_pack import plot_paths
from evaluator.project import evaluate_together
from tests.building import write_items
from tests.components.test_reading_pages import ORDER, SIZE, in_order

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
MODELS = [ModelItem("A", "lines 1.0"), ModelItem("B", "blocks 1.0")]


def made(
    protocol: str, folder: str = "", names: tuple[str, ...] = ("lines.json", "blocks.json"), **options: Any
) -> tuple[list[Any], Chapter]:
    root = SAMPLE / folder
    truth = root / ("ground_truth" if folder else "ground_truth.json")
    results = [one.result for one in evaluate_together(protocol, truth, [root / name for name in names], **options)]
    return results, chapter_of(results, MODELS[: len(names)])


def block(chapter: Chapter, kind: type, title: str) -> Any:
    return next(one for one in chapter.blocks if isinstance(one, kind) and one.title == title)


@pytest.fixture(scope="module")
def coco() -> tuple[list[Any], Chapter]:
    return made("coco")


def test_coco_says_its_twelve_numbers(coco: tuple[list[Any], Chapter]) -> None:
    results, chapter = coco
    precision = block(chapter, Rows, "Average precision")
    recall = block(chapter, Rows, "Average recall, at most 1, 10 or 100 predictions")
    for row, result in enumerate(results):
        cells = [*precision.rows[row][1:], *recall.rows[row][1:]]
        expected = ["n/a" if value is None else f"{value:.3f}" for value in result.numbers.values()]
        assert cells == expected
    assert precision.rows[2][:2] == ("B − A, points", "+14.4")
    assert "Small: sizes in pixels are not known" in precision.note
    labels = block(chapter, Rows, "By label")
    assert labels.columns[:4] == ("Label", "Boxes", "AP, A", "AP, B")
    first = results[0].matching.labels[0]
    assert labels.rows[0][2:4] == tuple(f"{result.per_label[first]['AP']:.3f}" for result in results)
    assert chapter.decision is not None
    assert {one.metric for one in chapter_differences(chapter) if one.overall} >= {"AP", "AP50", "AR100", "f1"}


def test_curves_end_at_the_operating_point(coco: tuple[list[Any], Chapter]) -> None:
    results, chapter = coco
    curves = block(chapter, Plot, "Precision and recall")
    assert len(curves.lines) == 6
    result = results[0].first
    for line in curves.lines:
        row = result.matching.labels.index(line.name)
        assert line.now == pytest.approx((result.per_label.recall[row], result.per_label.precision[row]))
        assert max(x for x, _ in line.points) == pytest.approx(line.now[0])
    drawn = plot_paths(curves)
    for line in drawn["lines"]:
        assert all(drawn["left"] <= x <= drawn["right"] and y <= drawn["bottom"] for x, y in line["points"])


def test_costs_and_reliability_are_those_of_the_result(coco: tuple[list[Any], Chapter]) -> None:
    results, chapter = coco
    costs = block(chapter, Rows, "What each error costs")
    assert [int(row[1]) for row in costs.rows] == results[0].error_types.counts.tolist()
    reliable = block(chapter, Plot, "Reliability of scores")
    bins = box_calibration(results[1].first)
    assert bins is not None
    assert f"B {bins.error:.3f}" in reliable.note


def test_pod_says_map_and_f1_at_both_thresholds() -> None:
    results, chapter = made("pod", names=("blocks.json",))
    for iou, result in results[0].thresholds.items():
        rows = block(chapter, Rows, f"IoU > {iou:.2f}").rows
        expected = (result.partial.mean_average_precision, result.partial.mean_f1)
        assert rows == (("A lines 1.0", *(f"{value:.3f}" for value in expected)),)
    assert (chapter.decision, chapter.summary, chapter.differences) == (None, "", ())


def test_pixel_shows_the_heatmap_of_the_browser() -> None:
    results, chapter = made("pixel", page_size=(60.0, 80.0))
    heat = block(chapter, Heatmap, "Confusion of pixels: recall")
    share = results[0].whole.matrices.recall[0]
    assert heat.classes == results[0].classes
    assert float(heat.cells[1][1].text) == pytest.approx(100 * share[1, 1], abs=0.06)
    assert heat.cells[1][1].fill != heat.cells[1][2].fill
    assert block(chapter, Heatmap, "Confusion of pixels: B − A").classes == heat.classes


def test_fields_show_ap_against_iou_and_confidence() -> None:
    results, chapter = made("fields", "fields", ("anchors",))
    curve = block(chapter, Plot, "AP against IoU")
    assert curve.lines[0].points[0] == (0.5, results[0].map_at(0.5))
    assert curve.start == 0.5
    assert block(chapter, Rows, "Confidence").rows[0][1] == f"{len(results[0].confidence()):,}"


def test_posters_mark_what_is_lost() -> None:
    results, chapter = made("posters", "posters", ("across", "columns"))
    texts = [one for one in chapter.blocks if isinstance(one, Texts)]
    marked = {piece for one in texts for passage in one.passages for piece, mark in passage.pieces if mark}
    missing = {word for result in results for poster in result.posters for word in poster.comparison.words.missing}
    assert marked
    assert any(word in piece.lower() for piece in marked for word in missing)
    assert all(len("".join(text for text, _ in passage.pieces)) for one in texts for passage in one.passages)


def test_reading_order_lists_what_goes_wrong_with_cost_and_place(tmp_path: Path) -> None:
    truth, right, worse = (
        write_items(tmp_path / f"{name}.jsonl", [{**SIZE, "items": in_order(ORDER, *places)}])
        for name, places in (("truth", range(4)), ("right", range(4)), ("worse", (0, 2, 1, 3)))
    )
    results = [each.result for each in evaluate_together("order", truth, [right, worse])]
    chapter = chapter_of(results, [ModelItem("A", "right"), ModelItem("B", "worse")])
    listed = block(chapter, Rows, "Mistakes")
    assert (listed.columns, listed.rows) == (
        ("Mistake", "A", "B", "Costs most on"),
        (("Column jumped", "none", "1 misplaced item at 1 place", "a, page 1"),),
    )


def test_names_and_results_must_be_as_many() -> None:
    with pytest.raises(ValueError, match=r"^a pack needs a result and a name of each model; found 0 and 2$"):
        chapter_of([], MODELS)
