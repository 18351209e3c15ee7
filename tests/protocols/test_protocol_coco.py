"""COCO average precision: equal to pycocotools on sets full of ties, crowds and limits, and consistent with itself.

The oracle is pycocotools 2.0 itself, run here on seeded random sets; without it those tests are skipped.
"""

import contextlib
import io
import json
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import Annotations, join
from evaluator.formats import coco as reader
from evaluator.matching.box_scores import box_calibrations
from evaluator.metrics.average_precision import curve
from evaluator.metrics.confidence import BINS, calibration
from evaluator.protocols import coco, snapshot
from evaluator.protocols.coco.evaluation import comparable_issues
from tests.building import annotations, box, ground_truth
from tests.formats.test_readers_coco import annotation, instances
from tests.formats.test_readers_coco import result as prediction
from tests.reading import refusal

Instances = dict[str, Any]
Results = list[dict[str, Any]]


def random_set(
    seed: int,
    *,
    images: int = 12,
    labels: int = 4,
    per_image: float = 6.0,
    grid: float = 8.0,
    crowds: float = 0.1,
    scores: int = 12,
) -> tuple[Instances, Results]:
    """Boxes on a coarse grid with few different scores, so that ties of IoU and score are everywhere."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(np.arange(1, 3 * images))[:images].tolist()
    annotations_, results = [], []

    def a_box() -> list[float]:
        x, y = rng.integers(0, 20, 2) * grid
        width, height = rng.integers(1, 12, 2) * grid
        return [float(x), float(y), float(width), float(height)]

    for image in ids[: images - 2]:
        for _ in range(rng.poisson(per_image)):
            bbox = a_box()
            label = int(rng.integers(1, labels))
            area = bbox[2] * bbox[3] * (1.0 if rng.uniform() < 0.7 else float(rng.uniform(0.2, 1.0)))
            crowd = int(rng.uniform() < crowds)
            annotations_.append(
                {"id": len(annotations_) + 1, "image_id": image, "category_id": label, "bbox": bbox, "area": area,
                 "iscrowd": crowd}
            )  # fmt: skip
            for _ in range(rng.integers(0, 4)):
                moved = [value + float(rng.integers(-1, 2)) * grid / 2 for value in bbox]
                moved[2:] = [max(value, 0.0) for value in moved[2:]]
                flipped = label if rng.uniform() < 0.9 else int(rng.integers(1, labels + 1))
                results.append({"image_id": image, "category_id": flipped, "bbox": moved})
    for image in ids[2:]:
        results += [{"image_id": image, "category_id": int(rng.integers(1, labels)), "bbox": a_box()} for _ in range(2)]
    order = rng.permutation(len(results))
    results = [{**results[row], "score": float(rng.integers(0, scores)) / scores} for row in order]
    instances = {
        "images": [{"id": image, "width": 300, "height": 300, "file_name": f"{image:04d}.png"} for image in ids],
        "categories": [{"id": label, "name": f"label {label}"} for label in range(1, labels + 2)],
        "annotations": annotations_,
    }
    return instances, results


def official(instances: Instances, results: Results, **params: Any) -> Any:
    """pycocotools on the same data; its dictionaries are its own."""
    cocoeval = pytest.importorskip("pycocotools.cocoeval", reason="pycocotools is not installed")
    from pycocotools.coco import COCO

    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = json.loads(json.dumps(instances))
        truth.createIndex()
        evaluation = cocoeval.COCOeval(truth, truth.loadRes(json.loads(json.dumps(results))), "bbox")
        for name, value in params.items():
            setattr(evaluation.params, name, value)
        evaluation.evaluate()
        evaluation.accumulate()
        if not params:
            evaluation.summarize()
    return evaluation


def read_pair(instances: Instances, results: Results) -> tuple[Annotations, Annotations]:
    truth = reader.FORMAT.read(json.dumps(instances).encode(), "gt.json")
    return truth, reader.resolve(reader.FORMAT.read(json.dumps(results).encode(), "dt.json"), truth)


def undefined_as_none(value: float) -> float | None:
    return None if value == -1.0 else float(value)


def assert_equal_to_official(instances: Instances, results: Results) -> coco.CocoResult:
    expected = official(instances, results)
    result = coco.evaluate(*read_pair(instances, results))
    for name, value in zip(coco.NUMBERS, expected.stats, strict=True):
        wanted = undefined_as_none(value)
        values = result.numbers[name]
        assert (values is None) == (wanted is None), name
        assert values is None or values == pytest.approx(wanted, abs=1e-12), name
    precision = expected.eval["precision"].mean(axis=1)
    for row, size in enumerate(coco.AREA_RANGES):
        ours = np.nan_to_num(result.columns.precision[size], nan=-1.0)
        np.testing.assert_allclose(ours, precision[:, :, row, 2], rtol=0, atol=1e-12)
        ours = np.nan_to_num(result.columns.recall[size], nan=-1.0)
        np.testing.assert_allclose(ours, expected.eval["recall"][:, :, row, 2], rtol=0, atol=1e-12)
    return result


@pytest.mark.parametrize("seed", range(6))
def test_random_sets_full_of_ties_are_equal_to_pycocotools(seed: int) -> None:
    assert_equal_to_official(*random_set(seed, crowds=0.15 * (seed % 3), grid=(4.0, 8.0, 15.7)[seed % 3]))


def crowded_set(seed: int) -> tuple[Instances, Results]:
    """More predictions of a page and label than are counted."""
    truth, results = random_set(seed, images=4, labels=2, per_image=90.0, scores=5)
    assert np.bincount([row["image_id"] for row in results]).max() > coco.MAX_DETECTIONS[-1]
    return truth, results


def test_the_limits_of_detections_are_equal_to_pycocotools() -> None:
    assert_equal_to_official(*crowded_set(0))


@given(seed=st.integers(0, 10**6), crowds=st.sampled_from([0.0, 0.3]), scores=st.integers(1, 30))
def test_any_random_set_is_equal_to_pycocotools(seed: int, crowds: float, scores: int) -> None:
    instances, results = random_set(seed, images=6, per_image=3.0, crowds=crowds, scores=scores)
    if results:  # pycocotools looks at the first one
        assert_equal_to_official(instances, results)


@pytest.mark.parametrize("iou", [[0.6], [0.55, 0.75, 1.0]])
def test_other_thresholds_are_equal_to_pycocotools(iou: list[float]) -> None:
    sets = random_set(7)
    expected = official(*sets, iouThrs=np.array(iou)).eval["precision"].mean(axis=1)[:, :, 0, 2]
    result = coco.evaluate(*read_pair(*sets), iou=iou)
    np.testing.assert_allclose(np.nan_to_num(result.columns.precision["all"], nan=-1.0), expected, rtol=0, atol=1e-12)
    assert result.numbers["AP50"] is None
    assert (result.numbers["AP75"] is None) == (0.75 not in iou)


# The best ground truth of the prediction is medium, the second best small: for "small" it must take the second.
BETWEEN_SIZES = (
    instances(annotation(bbox=[0, 0, 33, 33], area=1089.0), annotation(id=2, bbox=[0, 0, 30, 30], area=900.0)),
    [prediction(bbox=[0, 0, 32, 32])],
)


def test_a_prediction_between_kept_and_ignored_sizes_is_matched_anew_for_each_size() -> None:
    result = assert_equal_to_official(*BETWEEN_SIZES)
    # IoU 900 / 1024 with the small one, 1024 / 1089 with the other: eight and nine of ten thresholds.
    assert [result.numbers["APs"], result.numbers["APm"]] == pytest.approx([0.8, 0.9])


def test_of_two_equal_overlaps_the_later_ground_truth_is_taken() -> None:
    truth = instances(*(annotation(id=at, bbox=[x, 0, 100, 100], area=1e4) for at, x in ((1, 0), (2, 40))))
    for x, taken in ((0, 2), (40, 1)):
        results = [prediction(bbox=[20, 0, 100, 100], score=0.9), prediction(bbox=[x, 0, 100, 100], score=0.8)]
        assert assert_equal_to_official(truth, results).thresholds[0.5].micro.tp.tolist() == [taken]


def test_an_annotation_with_id_zero_can_be_matched() -> None:
    # pycocotools takes its id for "not matched" and counts the prediction as false.
    truth, _ = random_set(1, crowds=0.0)
    truth["annotations"] = [{**row, "id": row["id"] - 1} for row in truth["annotations"]]
    keys = ("image_id", "category_id", "bbox")
    perfect = [{**{key: row[key] for key in keys}, "score": 0.5} for row in truth["annotations"]]
    assert coco.evaluate(*read_pair(truth, perfect)).numbers["AR100"] == 1.0
    assert official(truth, perfect).stats[8] < 1.0
    (issue,) = [one for one in read_pair(truth, perfect)[0].issues if "id 0" in one.rule]
    assert issue.severity == "warning"
    assert issue.sentence == (
        "gt.json: $.annotations[0].id: pycocotools counts a match with the annotation of id 0 as a false positive; "
        "found 0. It is matched here, so AP and AR are higher than those of pycocotools; count the ids from 1."
    )


@given(seed=st.integers(0, 10**6))
def test_a_new_score_threshold_cuts_the_curves_that_are_there(seed: int) -> None:
    truth, prediction = read_pair(*random_set(seed, images=5, per_image=4.0))
    pairs, iou = coco.pair(join(truth, prediction)), list(coco.IOU_THRESHOLDS)
    for min_score in (0.0, 0.5, 0.25, 1.0, 0.0):
        averages = coco.average(pairs.match(min_score=min_score), iou)
        again = coco.evaluate(truth, prediction, min_score=min_score).columns
        for one, other in zip(averages, again, strict=True):
            for key, column in other.items():
                assert one[key].tobytes() == column.tobytes()


def test_a_released_result_can_be_had_at_another_score() -> None:
    truth, prediction = read_pair(*random_set(3))
    result = coco.evaluate(truth, prediction)
    before, pairs = result.numbers, result.matching.pairs
    assert pairs.kept
    result.release()
    assert not pairs.kept
    assert result.of(pairs.match()).numbers == before
    expected = coco.evaluate(truth, prediction, min_score=0.5).numbers
    assert result.of(pairs.match(min_score=0.5)).numbers == expected


@given(
    seed=st.integers(0, 10**6), scores=st.sampled_from([3, 10, 1000]), crowds=st.sampled_from([0.0, 0.3]),
    min_score=st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_what_is_kept_between_thresholds_gives_what_a_fresh_sort_and_count_give(
    seed: int, scores: int, crowds: float, min_score: float
) -> None:
    pairs = coco.pair(join(*read_pair(*random_set(seed, images=6, per_image=4.0, crowds=crowds, scores=scores))))
    matching = pairs.match(min_score=min_score)
    prediction, truth = pairs.prediction, pairs.dataset.ground_truth
    for iou in (0.5, 0.51, 0.8):
        result = matching.at(iou)
        for label, bins in box_calibrations(result).items():
            rows, positives = result.counting_predictions, matching.truth_counts
            if label is not None:
                code = pairs.dataset.labels.index(label)
                rows, positives = rows & (prediction.label == code), positives & (truth.label == code)
            score, matched = prediction.score[rows], result.prediction_partner[rows] >= 0
            order = np.argsort(-score, kind="stable")
            wanted = curve(score[order], matched[order], np.ones(len(order), dtype=bool), int(positives.sum()))
            fresh = calibration(matched, score, bins=BINS)
            kept = [*result.curve(label), bins.count, bins.accuracy, bins.mean_confidence]
            for mine, other in zip(kept, [*wanted, fresh.count, fresh.accuracy, fresh.mean_confidence], strict=True):
                np.testing.assert_array_equal(mine, other)


@given(seed=st.integers(0, 10**6))
def test_counts_and_curves_agree_with_recall(seed: int) -> None:
    result = coco.evaluate(*read_pair(*random_set(seed, images=6, per_image=4.0)))
    for row, threshold in enumerate(result.thresholds.values()):
        assert threshold.per_label.recall == pytest.approx(result.columns.recall["all"][row], nan_ok=True)
        assert not set(threshold.ignored) & set(threshold.false_positives)
        assert (np.diff(threshold.curve().score) < 0).all()


def test_threads_and_cuts_do_not_change_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = read_pair(*random_set(3, images=40, per_image=8.0))
    whole = coco.evaluate(*sides).to_json()
    monkeypatch.setattr("evaluator.protocols.coco.matching._QUEUED_AT_A_TIME", 7)
    monkeypatch.setattr("evaluator.protocols.coco.matching._SETTLED_AT_A_TIME", 5)
    assert coco.evaluate(*sides).to_json() == whole
    monkeypatch.setattr("evaluator.system.threads.os.cpu_count", lambda: 1)
    assert coco.evaluate(*sides).to_json() == whole


def test_labels_and_small_boxes_can_be_left_out() -> None:
    instances, results = random_set(5)
    truth, prediction = read_pair(instances, results)
    one = coco.evaluate(truth, prediction, labels=["label 2"])
    assert one.per_label == {"label 2": coco.evaluate(truth, prediction).per_label["label 2"]}
    assert "labels label 2" in one.signature.line
    share = 2000.0 / 300.0**2
    large = [row for row in results if row["bbox"][2] * row["bbox"][3] >= 2000.0]
    assert coco.evaluate(truth, prediction, min_area=share).numbers == coco.evaluate(
        *read_pair(instances, large)
    ).numbers  # fmt: skip


def test_shares_of_the_page_leave_the_sizes_undefined() -> None:
    result = coco.evaluate(ground_truth([box(0.1, 0.1, 0.5, 0.5)]), annotations([box(0.1, 0.1, 0.5, 0.5, score=0.9)]))
    undefined = [name for name, value in result.numbers.items() if value is None]
    assert undefined == ["APs", "APm", "APl", "ARs", "ARm", "ARl"]
    assert result.numbers["AP"] == pytest.approx(1.0)
    assert result.to_json()["per_class"]["Table"]["AP"] is None
    assert result.signature.line == (
        "coco 2.0 · IoU ≥ 0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.95 · score ≥ 0.00 · "
        "at most 100 predictions per page and label · sizes in pixels not known · 1 document, 1 page · "
        + result.signature.package
    )


def test_the_table_has_the_mean_first_and_then_each_label() -> None:
    result = coco.evaluate(*read_pair(*random_set(2)))
    table = result.table()
    assert table.columns == ("label", *coco.NUMBERS)
    assert table.rows[0] == ("All labels", *result.numbers.values())
    assert [row[0] for row in table.rows[1:]] == list(result.matching.labels)


def test_predictions_without_scores_are_refused() -> None:
    assert refusal(coco.evaluate, ground_truth([]), annotations([box(0, 0, 1, 1)])) == [
        "prediction.json: average precision needs a score for every prediction (COCO); found 1 without. "
        "Export the scores, or use a protocol that needs none."
    ]


def test_different_units_and_unresolved_results_are_refused() -> None:
    instances_, results = random_set(0)
    truth, _ = read_pair(instances_, results)
    assert refusal(coco.evaluate, truth, annotations([box(0, 0, 1, 1, score=0.5)], name="shares.json")) == [
        "shares.json: documents should be those of gt.json, which states the sizes of pages; none is; found "
        '"a.pdf", where gt.json has "0005". Give both sides the same documents, or one size for all pages '
        "(--page-size WxH)."
    ]
    (issue,) = comparable_issues(truth, reader.FORMAT.read(json.dumps(results).encode(), "dt.json"))
    assert issue.rule.startswith("a results list must be read with its ground truth")


@pytest.mark.parametrize("protocol", [snapshot, coco])
def test_a_results_list_gets_its_pages_from_the_ground_truth(protocol: Any) -> None:
    """Plain Python gives the numbers of the terminal; joined as they are, no box would be on a page of the other."""
    instances, results = random_set(0)
    truth, resolved = read_pair(instances, results)
    unresolved = reader.FORMAT.read(json.dumps(results).encode(), "dt.json")
    expected = protocol.evaluate(truth, resolved).to_json()
    assert protocol.evaluate(truth, unresolved).to_json() == {**expected, "predictions": ANY}
    assert next(iter(protocol.evaluate(truth, unresolved).thresholds.values())).micro.tp[0] > 0


def test_ids_that_are_texts_give_the_numbers_of_pycocotools() -> None:
    """Images of equal scores are ranked by their ids, as texts where they are texts."""
    truth, results = random_set(0)

    def renamed(rows: Results, key: str) -> Results:
        return [{**row, key: f"{row[key]:05d}x"} for row in rows]

    named = {"images": renamed(truth["images"], "id"), "annotations": renamed(truth["annotations"], "image_id")}
    pairs = read_pair(truth, results), read_pair({**truth, **named}, renamed(results, "image_id"))
    numbers, texts = (coco.evaluate(*pair).to_json() for pair in pairs)
    assert [texts["AP"], texts["AR100"]] == [numbers["AP"], numbers["AR100"]]


def test_a_page_full_of_equal_boxes_is_quick() -> None:
    rows = (annotation(id=row + 1, bbox=[5, 5, 50, 50], area=2500) for row in range(1500))
    result = coco.evaluate(*read_pair(instances(*rows), [prediction(bbox=[5, 5, 50, 50])] * 1500))
    assert result.numbers["AR100"] == pytest.approx(100 / 1500)
