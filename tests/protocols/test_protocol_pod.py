"""POD 2017: exact fractions worked out by hand, the published tables, and a plain VOC loop over pages and boxes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import formats
from evaluator.data.dataset import Annotations, join
from evaluator.data.issues import BadInput
from evaluator.matching.box_results import BoxPairs
from evaluator.metrics.average_precision import all_point_precision, eleven_point_precision
from evaluator.protocols import pod
from evaluator.protocols.pod.evaluation import evaluate, pair
from tests.building import Box, annotations, box, ground_truth, plain_curve

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "pod"
CASES = sorted(path.parent for path in ORACLES.glob("*/expected.json"))
PUBLISHED = json.loads((ORACLES / "published_results.json").read_text())
AP_KEYS = {"11-point": "11point", "all-point": "allpoint"}


def in_pixels(source: Annotations) -> Annotations:
    return replace(source, unit="pixels")


def both(truth: list[Box], predicted: list[Box], **given: Any) -> pod.PodResult:
    return evaluate(in_pixels(ground_truth(truth)), in_pixels(annotations(predicted)), **given)


def equals(value: float | None, exact: str) -> bool:
    """Whether a number is the fraction, up to the rounding of its last digits."""
    return value is not None and math.isclose(value, Fraction(exact), rel_tol=1e-15, abs_tol=0.0)


# --- oracles -------------------------------------------------------------------------------------------------


def test_every_oracle_is_there() -> None:
    assert [path.name[:3] for path in CASES] == ["p01", "p02", "p03", "p04", "p05", "p06"]


@pytest.mark.parametrize("ap", pod.AVERAGE_PRECISION)
@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_numbers_equal_those_by_hand(folder: Path, ap: pod.AveragePrecision) -> None:
    truth = formats.read(folder / "gt", side="ground_truth")
    prediction = formats.read(folder / "submission.xml", side="prediction")
    result = evaluate(truth, prediction, ap=ap).to_json()
    expected = json.loads((folder / "expected.json").read_text())["expected"]
    thresholds = {key: value for key, value in expected.items() if key in result["thresholds"]}
    assert list(thresholds) == ["0.6", "0.8"]
    for iou, numbers in thresholds.items():
        at_threshold = result["thresholds"][iou]
        assert list(at_threshold["per_class"]) == ["formula", "table", "figure"]
        for label, row in at_threshold["per_class"].items():
            if numbers[label] is None:
                assert (row["tp"], row["fp"], row["fn"]) == (0, 0, 0)
                assert {row[name] for name in ("precision", "recall", "f1", "ap")} == {None}
                continue
            assert all(row[name] == numbers[label][name] for name in ("tp", "fp", "fn"))
            for name in ("precision", "recall", "f1"):
                # The oracle writes 0 for the precision of no predictions; undefined is None here.
                undefined = name == "precision" and not row["tp"] + row["fp"]
                assert row[name] is None if undefined else equals(row[name], numbers[label][name]["exact"])
            # Eleven points are rounded once: equal to the last digit.
            exact = numbers[label][f"ap_{AP_KEYS[ap]}"]["exact"]
            assert row["ap"] == float(Fraction(exact)) if ap == "11-point" else equals(row["ap"], exact)
        assert equals(at_threshold["map"], numbers[f"map_{AP_KEYS[ap]}"]["exact"])
        assert equals(at_threshold["mean_f1"], numbers["ave_f1"]["exact"])


def test_the_next_best_ground_truth_is_not_allowed() -> None:
    folder = ORACLES / "p06_best_gt_already_taken"
    alternative = json.loads((folder / "expected.json").read_text())["expected"]["alternative_if_next_best_gt_allowed"]
    threshold = evaluate(formats.read(folder / "gt"), formats.read(folder / "submission.xml")).thresholds[0.6]
    row = threshold.micro.row(0)
    assert (row["tp"], row["fp"], row["fn"]) == (1, 1, 1)
    assert alternative == {"tp": 2, "fp": 0, "fn": 0}
    assert (threshold.truth_partner.tolist(), threshold.prediction_partner.tolist()) == ([0, -1], [0, -1])


def rows_of(tables: str) -> list[dict[str, Any]]:
    return [row for key, rows in PUBLISHED.items() if key[0] in tables for row in rows.values()]


def test_published_f1_is_that_of_all_predictions() -> None:
    rows = rows_of("ABC")
    assert len(rows) == 52
    for row in rows:
        p, r = row["precision"], row["recall"]
        low, high = ((2 * (p + e) * (r + e) / (p + r + 2 * e)) if p + r + 2 * e > 0 else 0.0 for e in (-5e-4, 5e-4))
        assert low - 5.1e-4 <= row["f1"] <= high + 5.1e-4


def test_published_means_are_unweighted() -> None:
    rows = rows_of("D")
    assert len(rows) == 16
    for row in rows:
        for mean, name in (("ave_f1", "f1"), ("map", "ap")):
            values = [row[f"{label}_{name}"] for label in ("formula", "table", "figure")]
            # Four numbers rounded to three digits.
            assert row[mean] == pytest.approx(sum(values) / 3, abs=1.01e-3)


def test_published_ap_is_not_that_of_eleven_points() -> None:
    # At most 1 at each level that the recall reaches: no 11-point AP can be higher.
    above = [row for row in rows_of("ABC") if row["ap"] > (math.floor(10 * (row["recall"] + 5e-4)) + 1) / 11 + 5e-4]
    assert len(above) == 12


# --- average precision ---------------------------------------------------------------------------------------


def test_average_precision_by_hand() -> None:
    first = np.array([1], dtype=np.int64)
    assert eleven_point_precision(first, 1) == all_point_precision(first, 1) == 1.0
    assert eleven_point_precision(first, 10) == 2 / 11
    assert all_point_precision(first, 10) == 0.1
    none = np.empty(0, dtype=np.int64)
    assert eleven_point_precision(none, 3) == all_point_precision(none, 3) == 0.0
    assert math.isnan(eleven_point_precision(none, 0))
    assert math.isnan(all_point_precision(none, 0))


@given(hits=st.lists(st.booleans(), max_size=30), missed=st.integers(0, 30))
def test_average_precision_equals_the_definition(hits: list[bool], missed: int) -> None:
    positives = sum(hits) + missed
    rank = np.flatnonzero(hits) + 1
    points = [(Fraction(sum(hits[:n]), max(positives, 1)), Fraction(sum(hits[:n]), n)) for n in range(1, len(hits) + 1)]
    if not positives:
        assert math.isnan(eleven_point_precision(rank, 0))
        return
    levels = [max((p for r, p in points if r >= Fraction(k, 10)), default=Fraction(0)) for k in range(11)]
    assert eleven_point_precision(rank, positives) == float(sum(levels) / 11)
    area, before = Fraction(0), Fraction(0)
    for recall, _ in points:
        area += (recall - before) * max(p for r, p in points if r >= recall)
        before = recall
    assert all_point_precision(rank, positives) == pytest.approx(float(area), rel=1e-14)


# --- a plain VOC loop ----------------------------------------------------------------------------------------


class Plain(NamedTuple):
    """Counts and AP of a label from the plain loop."""

    tp: int
    fp: int
    fn: int
    ap: float | None


def plain_iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def is_small(row: Box, small: float, line: float) -> bool:
    width, height = row.xyxy[2] - row.xyxy[0], row.xyxy[3] - row.xyxy[1]
    return (width <= small and height <= small) or width <= line or height <= line


def plain_voc(
    truth: list[Box], predicted: list[Box], label: str, *, iou: float, small: float, line: float, ap: str
) -> Plain:
    """What the VOC kit does, with the rules on small objects: one prediction after the other."""
    truth = [row for row in truth if row.label == label]
    difficult = [is_small(row, small, line) for row in truth]
    taken = [False] * len(truth)
    hits: list[bool] = []
    for row in sorted((row for row in predicted if row.label == label), key=lambda row: -row.score):
        best, best_iou = None, 0.0
        for index, other in enumerate(truth):
            if (other.document, other.page) == (row.document, row.page):
                value = plain_iou(other.xyxy, row.xyxy)
                if value > best_iou:
                    best, best_iou = index, value
        if best is not None and best_iou > iou and difficult[best]:
            continue
        if best is not None and best_iou > iou and not taken[best]:
            taken[best] = True
            hits.append(True)
        elif not is_small(row, small, line):
            hits.append(False)
    positives = len(truth) - sum(difficult)
    return Plain(sum(hits), len(hits) - sum(hits), positives - sum(hits), plain_ap(hits, positives, ap))


def plain_ap(hits: list[bool], positives: int, ap: str) -> float | None:
    if not positives:
        return None
    hit_count = np.cumsum(hits) if hits else np.zeros(0, dtype=int)
    precision = hit_count / np.arange(1, len(hits) + 1)
    if ap == "11-point":
        return sum(max(precision[10 * hit_count >= k * positives], default=0.0) for k in range(11)) / 11
    return sum(max(precision[n:]) for n, hit in enumerate(hits) if hit) / positives


def grid_rows(seed: int) -> tuple[list[Box], list[Box]]:
    """Boxes on a coarse grid of pixels, so that ties, exact thresholds, small boxes and lines are everywhere."""
    rng = np.random.default_rng(seed)

    def rows(count: int, page_of: Any) -> list[Box]:
        boxes = []
        for _ in range(count):
            x, y = rng.integers(0, 6, 2) * 10
            width, height = rng.choice([0, 10, 20, 30, 40, 50], 2, p=[0.05, 0.1, 0.2, 0.25, 0.2, 0.2])
            label = str(rng.choice(["Figure", "Table"]))
            corners = (float(x), float(y), float(x + width), float(y + height))
            boxes.append(Box(f"{page_of()}.bmp", 0, label, corners, float(rng.integers(0, 5)) / 4))
        return boxes

    return rows(int(rng.integers(0, 14)), lambda: rng.integers(0, 2)), rows(
        int(rng.integers(0, 20)), lambda: rng.integers(0, 3)
    )


@given(
    seed=st.integers(0, 10**6),
    iou=st.sampled_from([0.1, 0.25, 0.5, 0.6, 0.75, 0.8, 1.0]),
    sizes=st.sampled_from([(30.0, 0.0), (0.0, 0.0), (20.0, 10.0), (10.0, 30.0)]),
    ap=st.sampled_from(pod.AVERAGE_PRECISION),
)
def test_equal_to_a_plain_voc_loop(seed: int, iou: float, sizes: tuple[float, float], ap: pod.AveragePrecision) -> None:
    truth, predicted = grid_rows(seed)
    result = both(truth, predicted, iou=[iou], small_px=sizes[0], line_max_px=sizes[1], ap=ap).to_json()
    numbers = result["thresholds"][str(iou)]
    rows = []
    for label, row in numbers["per_class"].items():
        expected = plain_voc(truth, predicted, label, iou=iou, small=sizes[0], line=sizes[1], ap=ap)
        assert Plain(row["tp"], row["fp"], row["fn"], expected.ap) == expected
        assert row["ap"] == (None if expected.ap is None else pytest.approx(expected.ap, rel=1e-14))
        rows.append(expected)
    aps = [row.ap for row in rows if row.ap is not None]
    f1 = [2 * row.tp / (2 * row.tp + row.fp + row.fn) for row in rows if row.tp + row.fp + row.fn]
    for name, values in (("map", aps), ("mean_f1", f1)):
        assert numbers[name] == (pytest.approx(sum(values) / len(values), rel=1e-14) if values else None)


@given(seed=st.integers(0, 10**6), iou=st.sampled_from([0.1, 0.5, 0.6, 0.8, 0.9]), score=st.integers(0, 4))
def test_a_lower_floor_and_a_new_matching_give_the_same(seed: int, iou: float, score: int) -> None:
    truth, predicted = grid_rows(seed)
    dataset = join(in_pixels(ground_truth(truth)), in_pixels(annotations(predicted)))
    low = pair(dataset).match(min_score=score / 4, labels=["Table"]).at(iou)
    kept = [row for row in predicted if row.score >= score / 4 and row.label == "Table"]
    anew = both([row for row in truth if row.label == "Table"], kept, iou=[iou], labels=["Table"]).thresholds[iou]
    assert low.micro.row(0) == anew.micro.row(0)
    assert np.array_equal(low.partial.average_precision, anew.partial.average_precision, equal_nan=True)


@given(seed=st.integers(0, 10**6), iou=st.sampled_from([0.1, 0.5, 0.6, 0.8]), below=st.booleans())
def test_a_score_curve_is_the_matching_at_each_threshold(seed: int, iou: float, below: bool) -> None:
    truth, predicted = grid_rows(seed)
    if below:
        predicted = [row._replace(score=3 * row.score - 1) for row in predicted]
    pairs = pair(join(in_pixels(ground_truth(truth)), in_pixels(annotations(predicted))))
    assert plain_curve(pairs.score_curve(iou=iou)) == plain_curve(BoxPairs.score_curve(pairs, iou=iou))


@given(seed=st.integers(0, 10**6), iou=st.sampled_from([0.1, 0.5, 0.8]))
def test_every_box_is_one_thing(seed: int, iou: float) -> None:
    truth, predicted = grid_rows(seed)
    threshold = both(truth, predicted, iou=[iou]).thresholds[iou]
    matching, matches = threshold.matching, threshold.matches
    hit = np.zeros(len(predicted), dtype=bool)
    hit[matches.prediction] = True
    false = np.zeros(len(predicted), dtype=bool)
    false[threshold.false_positives] = True
    assert (hit.astype(int) + false + threshold.ignored == 1).all()
    # What is ignored is no mistake either.
    assert (threshold.counting_predictions == hit | false).all()
    assert (threshold.mistakes.of_prediction[threshold.ignored] == -1).all()
    assert (threshold.mistakes.of_prediction[false] >= 0).all()
    assert len(matches) + len(threshold.false_negatives) == matching.truth_counts.sum()
    assert threshold.prediction_partner[matches.prediction].tolist() == matches.ground_truth.tolist()
    assert threshold.truth_partner[matches.ground_truth].tolist() == matches.prediction.tolist()
    assert (matches.iou > iou).all()


@given(seed=st.integers(0, 10**6))
def test_the_curve_ends_where_the_row_is(seed: int) -> None:
    truth, predicted = grid_rows(seed)
    threshold = both(truth, predicted).thresholds[0.6]
    for row, label in enumerate(threshold.matching.labels):
        curve, metrics = threshold.curve(label), threshold.per_label.row(row)
        if metrics["precision"] is None:
            assert len(curve.score) == 0
        else:
            assert curve.precision[-1] == metrics["precision"]
            assert metrics["recall"] is None or curve.recall[-1] == metrics["recall"]


# --- rules by hand -------------------------------------------------------------------------------------------


def counts(result: pod.PodResult, iou: float = 0.6) -> tuple[int, int, int]:
    row = result.thresholds[iou].micro.row(0)
    return row["tp"], row["fp"], row["fn"]


def test_iou_must_be_larger_than_the_threshold() -> None:
    truth, predicted = [box(0, 0, 100, 100)], [box(0, 0, 100, 80, score=1.0)]
    result = both(truth, predicted, iou=[0.8, math.nextafter(0.8, 0)])
    assert [counts(result, iou) for iou in result.thresholds] == [(0, 1, 1), (1, 0, 0)]


def test_the_first_of_equal_scores_is_the_first_of_the_file() -> None:
    truth = [box(0, 0, 100, 100)]
    good, better = box(0, 0, 100, 90, score=0.5), box(0, 0, 100, 100, score=0.5)
    assert both(truth, [good, better]).thresholds[0.6].truth_partner.tolist() == [0]
    assert both(truth, [better, good]).thresholds[0.8].truth_partner.tolist() == [0]
    # The second is a duplicate even where the first is the better one no more.
    assert counts(both(truth, [good, better])) == (1, 1, 0)


def test_of_equal_ious_the_first_ground_truth_counts() -> None:
    truth = [box(0, 0, 100, 100), box(0, 0, 100, 100)]
    predicted = [box(0, 0, 100, 100, score=score) for score in (0.9, 0.8)]
    result = both(truth, predicted).thresholds[0.6]
    assert (result.truth_partner.tolist(), result.prediction_partner.tolist()) == ([0, -1], [0, -1])


def test_small_means_both_sides() -> None:
    for width, height, ignored in ((30, 30, True), (31, 30, False), (30, 31, False), (30.5, 30, False)):
        assert counts(both([box(0, 0, width, height)], [])) == (0, 0, int(not ignored))


def test_what_is_on_ignored_ground_truth_counts_neither_way() -> None:
    # As often as it likes, and whatever its own size.
    truth = [box(0, 0, 30, 30)]
    predicted = [box(0, 0, 30, 31, score=0.9), box(0, 0, 30, 30, score=0.8), box(0, 0, 31, 31, score=0.7)]
    result = both(truth, predicted)
    assert counts(result) == (0, 0, 0)
    assert result.to_json()["thresholds"]["0.6"]["ignored"] == {"ground_truth": 1, "predictions": 3}


def test_a_small_prediction_may_match_and_is_left_out_when_it_does_not() -> None:
    truth, small = [box(0, 0, 31, 30)], box(0, 0, 30, 30, score=0.9)
    assert counts(both(truth, [small])) == (1, 0, 0)
    assert counts(both(truth, [box(0, 0, 31, 30, score=1.0), small])) == (1, 0, 0)
    assert counts(both(truth, [box(50, 0, 80, 30, score=0.9)])) == (0, 0, 1)


def test_a_small_duplicate_is_left_out_unless_it_is_asked_for() -> None:
    # Plain VOC counts it: the ground truth is large enough, and taken.
    truth, first, small = [box(0, 0, 31, 30)], box(0, 0, 31, 30, score=1.0), box(0, 0, 30, 30, score=0.9)
    nowhere = box(50, 0, 80, 30, score=0.8)
    assert counts(both(truth, [first, small, nowhere])) == (1, 0, 0)
    counted = both(truth, [first, small, nowhere], small_duplicates=True)
    assert counts(counted) == (1, 1, 0)
    assert counted.thresholds[0.6].false_positives.tolist() == [1]
    assert "lines of 0 px, not their duplicates" in counted.signature.line
    # On ground truth that is ignored it counts neither way, however often.
    assert counts(both([box(0, 0, 30, 30)], [small, small], small_duplicates=True)) == (0, 0, 0)


def test_a_line_is_ignored_on_both_sides() -> None:
    line, bar = box(0, 0, 500, 0, score=1.0), box(0, 0, 500, 2, score=1.0)
    assert counts(both([line], [line])) == (0, 0, 0)
    assert counts(both([bar], [bar])) == (1, 0, 0)
    assert counts(both([bar], [bar], line_max_px=2)) == (0, 0, 0)
    assert counts(both([], [bar], line_max_px=1.9)) == (0, 1, 0)


def test_labels_with_one_side_only() -> None:
    truth, predicted = [box(0, 0, 99, 99)], [box(0, 0, 99, 99, label="Table", score=1.0)]
    threshold = both(truth, predicted).to_json()["thresholds"]["0.6"]
    figure, table = threshold["per_class"]["Figure"], threshold["per_class"]["Table"]
    assert (figure["precision"], figure["recall"], figure["f1"], figure["ap"]) == (None, 0.0, 0.0, 0.0)
    assert (table["precision"], table["recall"], table["f1"], table["ap"]) == (0.0, None, 0.0, None)
    assert (threshold["map"], threshold["mean_f1"]) == (0.0, 0.0)
    more = both([*truth, box(0, 0, 99, 99, page=1)], [*predicted, box(0, 0, 99, 99, page=1, score=0.5)])
    threshold = more.to_json()["thresholds"]["0.6"]
    # Figure: recall 1/2 at precision 1, six levels; Table is in the mean of F1 (2/3 and 0) only.
    assert threshold["map"] == 6 / 11
    assert threshold["mean_f1"] == pytest.approx(1 / 3)


def test_nothing_at_all() -> None:
    result = both([], [])
    threshold = result.to_json()["thresholds"]["0.8"]
    assert (threshold["map"], threshold["mean_f1"]) == (None, None)
    assert threshold["ignored"] == {"ground_truth": 0, "predictions": 0}
    assert counts(both([], [box(0, 0, 50, 50, score=1.0)])) == (0, 1, 0)
    assert counts(both([box(0, 0, 50, 50)], [])) == (0, 0, 1)


def test_unknown_pages_are_left_out_when_lenient() -> None:
    truth = [box(0, 0, 50, 50)]
    predicted = [
        box(0, 0, 50, 50, score=0.5),
        box(0, 0, 50, 50, document="b", score=1.0),
        box(0, 0, 50, 50, page=1, score=1.0),
    ]
    assert counts(both(truth, predicted)) == (1, 2, 0)
    result = both(truth, predicted, lenient=True)
    assert counts(result) == (1, 0, 0)
    assert result.matching.prediction_counts.tolist() == [True, False, False]
    # A page that the ground truth lists without boxes is known.
    empty = in_pixels(ground_truth(truth, pages=[("b", 0)]))
    assert counts(evaluate(empty, in_pixels(annotations(predicted)), lenient=True)) == (1, 1, 0)


def test_missing_scores_are_refused_or_one() -> None:
    truth = [box(0, 0, 50, 50)]
    predicted = [box(0, 0, 50, 49, score=0.9), box(0, 0, 50, 50)]
    with pytest.raises(ValueError, match="every prediction must have a score; 1 have none"):
        both(truth, predicted)
    assert both(truth, predicted, lenient=True).thresholds[0.6].truth_partner.tolist() == [1]


def test_shares_of_the_page_have_no_small_objects() -> None:
    rows = [box(0, 0, 0.01, 0.01, score=1.0)]
    truth, prediction = ground_truth(rows), annotations(rows)
    result = evaluate(truth, prediction)
    assert counts(result) == (1, 0, 0)
    assert "no pixels, none ignored" in result.signature.line
    sized = [replace(source, page_size=np.array([[3000.0, 3001.0]])) for source in (truth, prediction)]
    assert counts(evaluate(*sized)) == (1, 0, 0)
    sized = [replace(source, page_size=np.array([[3000.0, 3000.0]])) for source in (truth, prediction)]
    assert counts(evaluate(*sized)) == (0, 0, 0)
    with pytest.raises(BadInput, match=r"pixels can be compared with ground_truth\.json, which is in shares of"):
        evaluate(truth, in_pixels(prediction))
    with pytest.raises(ValueError, match="boxes must have one unit; found page and pixels"):
        pair(join(truth, in_pixels(prediction)))


def test_the_smallest_area_is_kept() -> None:
    rows = [box(0, 0, 50, 100, score=1.0), box(0, 200, 50, 299, score=1.0)]
    with pytest.raises(ValueError, match="min_area needs page sizes, which the files do not give"):
        both(rows, rows, min_area=0.01)
    size = np.array([[500.0, 1000.0]])
    sides = [replace(in_pixels(source), page_size=size) for source in (ground_truth(rows), annotations(rows))]
    assert counts(evaluate(*sides, min_area=0.01)) == (1, 0, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iou": []}, "at least one IoU threshold is needed"),
        ({"iou": [0.0]}, r"iou_floor must be in \(0, 1\]; found 0.0"),
        ({"iou": [0.5, 1.5]}, r"iou must be in \[0.5, 1\]; found 1.5"),
        ({"ap": "101-point"}, "ap must be one of 11-point, all-point; found 101-point"),
        ({"small_px": -1.0}, "small_px must be a number of at least 0; found -1.00"),
        ({"line_max_px": math.nan}, "line_max_px must be a number of at least 0; found nan"),
        ({"labels": ["Chart"]}, "labels that no file has: Chart"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        both([], [], **options)
    with pytest.raises(ValueError, match="label must be one of Figure, Table; found Chart"):
        both([], []).thresholds[0.6].curve("Chart")


def test_the_signature_says_everything_that_was_chosen() -> None:
    rows = [box(0, 0, 50, 50, score=1.0)]
    assert both(rows, rows).signature.line == (
        "pod 2017 · IoU > 0.60, 0.80 · score ≥ 0.00 · AP 11-point · "
        "ignored: 30 × 30 px, lines of 0 px, and their duplicates · 1 document, 1 page · layoutscope 0.1.0"
    )
    sizes = {"small_px": 10, "line_max_px": 1.5}
    changed = both(rows, rows, iou=[0.5], ap="all-point", min_score=0.25, labels=["Table"], lenient=True, **sizes)
    assert changed.signature.line == (
        "pod 2017 · IoU > 0.50 · score ≥ 0.25 · labels Table · AP all-point · "
        "ignored: 10 × 10 px, lines of 1.5 px, and their duplicates · lenient · 1 document, 1 page · layoutscope 0.1.0"
    )


def test_the_table_has_the_means_first() -> None:
    rows = [box(0, 0, 50, 50, score=1.0), box(60, 0, 99, 99, score=1.0, label="Table")]
    table = both(rows, rows[:1], iou=[0.6]).table()
    assert table.columns == (
        "iou_threshold", "label", "tp", "fp", "fn", "precision", "recall", "f1", "mean_iou", "mean_coverage",
        "mean_purity", "ap",
    )  # fmt: skip
    assert table.rows == (
        (0.6, "Mean of labels", None, None, None, None, None, 0.5, None, None, None, 0.5),
        (0.6, "All labels", 1, 0, 1, 1.0, 0.5, 2 / 3, 1.0, 1.0, 1.0, None),
        (0.6, "Figure", 1, 0, 0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        (0.6, "Table", 0, 0, 1, None, 0.0, 0.0, None, None, None, 0.0),
    )


def test_means_over_documents_and_labels() -> None:
    rows = [box(0, 0, 50, 50, score=1.0), box(0, 0, 50, 50, score=1.0, label="Table", document="b")]
    threshold = both(rows, rows[:1]).thresholds[0.6]
    assert threshold.macro_documents()["recall"] == threshold.macro_labels()["recall"] == 0.5
    assert threshold.macro_documents()["documents"]["precision"] == threshold.macro_labels()["labels"]["precision"] == 1


def test_the_constants_are_those_of_the_text() -> None:
    assert (pod.NAME, pod.VERSION, pod.IOU_THRESHOLDS) == ("pod", "2017", (0.6, 0.8))
    assert (pod.SMALL_PX, pod.LINE_MAX_PX) == (30.0, 0.0)
