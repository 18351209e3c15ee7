"""Average precision of slices: that of the pages and labels in them alone, in every command, and found by a search."""

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.analysis.slices.averages import average_values, find_by_average, influence, of_whole_pages
from evaluator.analysis.slices.conditions import Condition
from evaluator.analysis.slices.measure_values import tables_of
from evaluator.analysis.slices.named_slices import NamedSlice, numbers_of, slices_json, slices_part
from evaluator.analysis.slices.search import ALPHA
from evaluator.analysis.slices.slices import find_in_values, known_page_values
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import join
from evaluator.matching.box_measures import RankedLabel
from evaluator.metrics.measures import Key
from evaluator.protocols import PROTOCOLS, coco, pod
from tests.benchmarks.bench_slices import AverageCase, average_case, ranked_model
from tests.building import annotations, box, ground_truth
from tests.terminal import run_command

CATEGORIES = [{"id": 1, "name": "Text"}, {"id": 2, "name": "Table"}]


def files(
    folder: Path,
    pages: Callable[[int], bool] = lambda _page: True,
    label: int | None = None,
    *,
    documents: int = 12,
    on_scans: Sequence[float] = (0.6, 0.6),
) -> list[Path]:
    """Documents of two pages of two kinds, of which some pages or one label are written.

    A box is predicted by each model with a chance of 0.9, on scans with another one.
    """
    rng = np.random.default_rng(7)
    images: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    predicted: list[list[dict[str, Any]]] = [[], []]
    for page in range(2 * documents):
        kind = "scan" if page % 3 == 0 else "digital"
        image = {"id": page, "file_name": f"d{page // 2}_{page % 2}.png", "width": 1000, "height": 1000,
                 "doc_category": kind, "doc_name": f"d{page // 2}.pdf", "page_no": page % 2}  # fmt: skip
        images.append(image)
        for place in range(6):
            category = 1 + int(rng.random() < 0.3)
            box = [50.0 + 10 * place, 20.0 + 150 * place, 400.0, 90.0]
            wanted = pages(page) and label in (None, category)
            if wanted:
                truth.append({"id": len(truth), "image_id": page, "category_id": category, "bbox": box, "iscrowd": 0,
                              "area": box[2] * box[3]})  # fmt: skip
            for model, shaking in enumerate((20.0, 8.0)):
                shaken = [value + move for value, move in zip(box, rng.normal(0, shaking, 4), strict=True)]
                score, seen = float(rng.random()), rng.random() < (on_scans[model] if kind == "scan" else 0.9)
                if wanted and seen:
                    predicted[model].append({"image_id": page, "category_id": category, "bbox": shaken, "score": score})
    folder.mkdir(exist_ok=True)
    paths = [folder / "truth.json", folder / "a.json", folder / "b.json"]
    paths[0].write_text(json.dumps({"images": images, "annotations": truth, "categories": CATEGORIES}))
    for path, items in zip(paths[1:], predicted, strict=True):
        path.write_text(json.dumps(items))
    return paths


def evaluated(protocol: Any, paths: Sequence[Path], model: int = 0) -> Any:
    return protocol.evaluate(formats.read(paths[0]), formats.read(paths[1 + model]))


SCANS = NamedSlice("scans", (Condition("doc_category", "==", "scan"),))
TABLES = NamedSlice("tables", (Condition("label", "==", "Table"),))
SMALL = NamedSlice("small", (Condition("area", "<", 0.5),))
NONE = NamedSlice("none", (Condition("doc_category", "==", "digital"), Condition("doc_category", "==", "scan")))


@pytest.mark.parametrize("protocol", [coco, pod])
@pytest.mark.parametrize(
    ("named", "kept"), [(SCANS, {"pages": lambda page: page % 3 == 0}), (TABLES, {"label": 2})], ids=["scans", "tables"]
)
def test_it_is_that_of_files_with_only_these_boxes(
    tmp_path: Path, protocol: Any, named: NamedSlice, kept: dict[str, Any]
) -> None:
    everything, alone = (
        evaluated(protocol, files(tmp_path / name, **given)) for name, given in (("a", {}), ("b", kept))
    )
    name = everything.signature.protocol
    of_slice = slices_json(numbers_of(everything, [named]))[named.name]
    expected = {
        key.metric: value
        for part in PROTOCOLS[name].measures(alone).parts
        for key, value in zip(part.keys, part.values.tolist(), strict=True)
        if key.label == "All labels"
    }
    assert name == "pod" or {"AP", "AP50", "AP75", "AR100"} <= set(of_slice) & set(expected)
    shared = [metric for metric in expected if metric in of_slice]
    assert len(shared) > 6
    for metric in shared:
        assert of_slice[metric] == pytest.approx(expected[metric], abs=1e-12), metric


def test_a_slice_that_splits_a_page_has_none_and_an_empty_one_is_missing(tmp_path: Path) -> None:
    numbers = numbers_of(evaluated(coco, files(tmp_path)), [SMALL, NONE])
    of_slice = slices_json(numbers)
    assert "AP" not in of_slice["small"]
    assert of_slice["none"]["AP"] is None
    keys = [key for part in slices_part(numbers) for key in part.keys]
    assert Key("AP", "slice:none") in keys
    assert Key("AP", "slice:small") not in keys


def area_of(hit: np.ndarray[Any, Any], predictions: FloatArray, truths: FloatArray) -> float:
    """Area under the interpolated precision where every box has a weight, by its definition."""
    counted, true = np.cumsum(predictions), np.cumsum(predictions * hit)
    return float(sum(predictions[i] * (true[i:] / counted[i:]).max() for i in range(len(hit)) if hit[i]) / truths.sum())


@pytest.mark.parametrize("seed", range(6))
def test_the_influence_of_a_box_is_the_derivative_with_its_weight(seed: int) -> None:
    hit = np.random.default_rng(seed).random(40) < 0.55
    boxes = int(hit.sum()) + 7
    ranked = RankedLabel(np.arange(40), hit, np.arange(boxes), np.arange(boxes) < hit.sum())
    value, of_prediction = influence(ranked)
    ones, truths = np.ones(40), np.ones(boxes)
    assert value == pytest.approx(area_of(hit, ones, truths), abs=1e-12)
    for place in range(40):
        # Less weight: where precision is level over several places, more and less differ.
        less = area_of(hit, ones - 1e-6 * (np.arange(40) == place), truths)
        more = area_of(hit, ones + 1e-6 * (np.arange(40) == place), truths)
        low, high = sorted(((value - less) / 1e-6, (more - value) / 1e-6))
        assert low - 1e-4 <= of_prediction[place] <= high + 1e-4
    assert of_prediction.sum() == pytest.approx(value)


def test_what_is_never_found_has_no_average_precision_and_no_influence() -> None:
    value, of_prediction = influence(RankedLabel(np.arange(3), np.zeros(3, bool), np.arange(2), np.zeros(2, bool)))
    assert (value, of_prediction.tolist()) == (0.0, [0.0, 0.0, 0.0])


def test_the_values_of_the_boxes_of_a_label_average_to_its_own() -> None:
    evaluation = average_case(100, 5, depth=0).evaluation
    # The protocol reads 101 points off the curve, the values are about its area.
    for average, close in (("AR100", 1e-9), ("AP", 0.02)):
        counted = average_values([evaluation], average)  # type: ignore[arg-type]
        for code, name in enumerate(evaluation.evaluated.labels):
            mean = counted.values[0, counted.label == code].mean()
            assert mean == pytest.approx(evaluation.per_label[name][average], abs=close)


@pytest.mark.parametrize("average", ["AR1", "AR10", "AR100"])
def test_the_mean_value_of_a_label_is_its_average_recall(tmp_path: Path, average: Any) -> None:
    # Of up to six boxes of a label on a page AR1 counts one.
    evaluation = evaluated(coco, files(tmp_path))
    counted = average_values([evaluation], average)
    label = counted.label
    means = [counted.values[0, label == code].mean() for code in range(len(evaluation.evaluated.labels))]
    assert np.mean(means) == pytest.approx(evaluation.numbers[average])
    assert evaluation.numbers["AR1"] < evaluation.numbers["AR10"] <= evaluation.numbers["AR100"]


@pytest.mark.parametrize("protocol", [coco, pod])
def test_an_average_on_some_pages_and_labels_is_that_of_a_file_without_the_others(
    tmp_path: Path, protocol: Any
) -> None:
    evaluation, rng = evaluated(protocol, files(tmp_path)), np.random.default_rng(3)
    truth, predicted = evaluation.evaluated.ground_truth, evaluation.matching.prediction
    name = evaluation.signature.protocol
    for share in (0.0, 0.3, 0.8, 1.0):
        cells = rng.random((evaluation.evaluated.pages, len(evaluation.evaluated.labels))) < share
        alone = evaluation.subset(cells[truth.page, truth.label], cells[predicted.page, predicted.label])
        for average in PROTOCOLS[name].averages:
            one = PROTOCOLS[name].average_on(evaluation, average, cells)
            assert one == PROTOCOLS[name].average(alone, average)
            assert share < 1.0 or one == PROTOCOLS[name].average(evaluation, average)


def test_what_each_box_adds_to_an_f1_by_hand() -> None:
    # Table: two boxes, one found, one false prediction: F1 2/4. Figure: a false prediction alone: F1 0.
    right = box(0.1, 0.1, 0.3, 0.3, label="Table", score=0.9)
    truth = ground_truth([right, box(0.5, 0.5, 0.8, 0.8, label="Table")])
    prediction = annotations(
        [right, box(0.1, 0.6, 0.2, 0.9, label="Table", score=0.8), box(0.6, 0.1, 0.9, 0.2, score=0.7)]
    )
    evaluation = pod.evaluate(truth, prediction)
    assert PROTOCOLS["pod"].average(evaluation, "mean_f1") == 0.25
    counted = average_values([evaluation], "mean_f1")
    # With the share 1/4 of the label: the pair adds 2 - 2 F1 = 1, the missed box and the false prediction -F1 each.
    # Three things count, the pair once: times 3, plus F1.
    assert list(zip(counted.origin.tolist(), counted.row.tolist(), counted.values[0].tolist(), strict=True)) == [
        (0, 0, 0.5 + 3 / 4), (0, 1, 0.5 - 3 / 8), (1, 1, 0.5 - 3 / 8), (1, 2, 0.0),
    ]  # fmt: skip


@pytest.mark.parametrize("average", ["map", "mean_f1"])
def test_planted_misses_are_found_by_the_means_of_pod(tmp_path: Path, average: Any) -> None:
    evaluation = evaluated(pod, files(tmp_path, documents=40, on_scans=(0.5, 0.2)), 1)
    first = find_by_average([evaluation], average).slices[0]
    assert [tuple(each) for each in first.conditions] == [("doc_category", "==", "scan")]
    (named,) = slices_json(numbers_of(evaluation, [NamedSlice("scans", first.conditions)])).values()
    assert first.value == named[average] < first.rest


@functools.cache
def on_scans() -> AverageCase:
    return average_case(400, 2, depth=1)


@pytest.mark.parametrize("average", ["AP", "AP50", "AP75", "AR100"])
def test_planted_misses_are_found_by_every_average_with_the_numbers_of_the_protocol(average: Any) -> None:
    case = on_scans()
    listed = find_by_average([case.evaluation], average, of_pages=case.of_pages)
    first = listed.slices[0]
    assert [tuple(each) for each in first.conditions] == [("scan", "==", "yes")]
    (named,) = slices_json(numbers_of(case.evaluation, [NamedSlice("scans", first.conditions)], case.of_pages)).values()
    assert first.value == named[average] < first.rest
    truth = case.evaluation.evaluated.ground_truth
    assert first.boxes == int(case.planted[truth.page].sum()) == named["ground_truth"]
    assert first.lost == pytest.approx(first.boxes * (first.rest - first.value))
    assert first.confirmed
    assert f": {average} {first.value:.2f}, elsewhere {first.rest:.2f}; " in first.sentence
    assert set(listed.attributes) == {"label", "boxes on page", "columns", "page number", "position in document",
                                     "pages in document", "doc_category", "scan"}  # fmt: skip


def test_where_b_loses_against_a_is_found_by_average_precision() -> None:
    case = on_scans()
    truth = case.evaluation.evaluated.ground_truth.source
    better = ranked_model(truth, np.random.default_rng(8))
    dataset = join(truth, better, case.evaluation.matching.prediction.source)
    both = [coco.evaluation.result_of(coco.matching.pair(dataset, model).match(), coco.IOU_THRESHOLDS)
            for model in (0, 1)]  # fmt: skip
    first = find_by_average(both, "AP", of_pages=case.of_pages).slices[0]
    assert [tuple(each) for each in first.conditions] == [("scan", "==", "yes")]
    assert first.models is not None
    a, b = first.models
    assert b < a
    assert first.value == pytest.approx(b - a)
    assert "B loses here, AP " in first.sentence


def test_both_sides_of_a_page_agree_on_how_many_boxes_it_has(tmp_path: Path) -> None:
    few = NamedSlice("few", (Condition("boxes on page", "<", 6.0),))
    evaluation = evaluated(coco, files(tmp_path))
    # Every page has six boxes and mostly fewer predictions.
    assert slices_json(numbers_of(evaluation, [few]))["few"]["AP"] is None
    every = NamedSlice("every", (Condition("boxes on page", ">=", 6.0),))
    assert slices_json(numbers_of(evaluation, [every]))["every"]["AP"] == evaluation.numbers["AP"]


def test_the_terminal_searches_by_average_precision(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    truth, a, b = files(tmp_path)
    command = ("slices", "coco", "--gt", truth, "--pred", a)
    code, out, err = run_command(capsys, *command, "--measure", "ap", "--json")
    assert code == 0, err
    assert isinstance(json.loads(out), list)
    code, out, err = run_command(capsys, *command, "--pred", b, "--measure", "AR100")
    assert code == 0, err
    code, out, err = run_command(capsys, *command, "--measure", "AP75", "--iou", "0.5")
    assert code == 2
    assert "--measure: AP75 needs an IoU threshold that was not evaluated." in err


def test_a_failure_in_ten_of_fifty_documents_that_differ_is_found() -> None:
    """What documents differ by hides it as long as whole documents are compared; within them it is clear."""
    case = average_case(1000, 90_000, depth=2, spread=0.4)
    searched = find_by_average([case.evaluation], "AP", of_pages=case.of_pages)
    (one,) = searched.slices
    assert {each.attribute for each in one.conditions} == {"scan", "doc_category"}
    truth = case.evaluation.evaluated.ground_truth
    planted = case.planted[truth.page]
    inside = np.zeros(len(truth), bool)
    inside[one.parts[0].rows] = True
    assert (inside & planted).sum() > 0.9 * max(inside.sum(), planted.sum())
    assert one.documents < 15
    assert one.p <= ALPHA
    # Half of the error rate is for each of the two searches.
    counted = average_values([case.evaluation], "AP")
    known = known_page_values(counted.dataset.ground_truth, case.of_pages)
    tables = of_whole_pages(counted.sides, tables_of(counted, of_pages=known, score=False))
    plain, within = (
        find_in_values(counted, tables, alpha=ALPHA / 2, within_documents=within_documents)
        for within_documents in (False, True)
    )
    assert not plain.slices
    assert one.p == pytest.approx(2.0 * within.slices[0].p)
    assert searched.searched.tested == plain.searched.tested + within.searched.tested
