"""POD 2017: exact fractions worked out by hand, the published tables, and a plain VOC loop over pages and boxes."""

import itertools
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
from evaluator.metrics.average_precision import all_point_precision, eleven_point_precision
from evaluator.protocols import pod
from evaluator.protocols.pod.evaluation import evaluate, pair
from evaluator.system.version import __version__
from tests.building import Box, annotations, box, ground_truth

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "pod"
CASES = sorted(path.parent for path in ORACLES.glob("*/expected.json"))
PUBLISHED = json.loads((ORACLES / "published_results.json").read_text())
AP_KEYS = {"11-point": "11point", "all-point": "allpoint"}


def in_pixels(truth: list[Box], predicted: list[Box]) -> tuple[Annotations, Annotations]:
    return replace(ground_truth(truth), unit="pixels"), replace(annotations(predicted), unit="pixels")


def both(truth: list[Box], predicted: list[Box], **given: Any) -> pod.PodResult:
    return evaluate(*in_pixels(truth, predicted), **given)


def equals(value: float | None, exact: str) -> bool:
    return value is not None and math.isclose(value, Fraction(exact), rel_tol=1e-15, abs_tol=0.0)


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


def published(tables: str, count: int) -> list[dict[str, Any]]:
    rows = [row for key, rows in PUBLISHED.items() if key[0] in tables for row in rows.values()]
    assert len(rows) == count
    return rows


def test_published_f1_is_that_of_all_predictions() -> None:
    for row in published("ABC", 52):
        p, r = row["precision"], row["recall"]
        low, high = ((2 * (p + e) * (r + e) / (p + r + 2 * e)) if p + r + 2 * e > 0 else 0.0 for e in (-5e-4, 5e-4))
        assert low - 5.1e-4 <= row["f1"] <= high + 5.1e-4


def test_published_means_are_unweighted() -> None:
    for row in published("D", 16):
        for mean, name in (("ave_f1", "f1"), ("map", "ap")):
            values = [row[f"{label}_{name}"] for label in ("formula", "table", "figure")]
            # Four numbers rounded to three digits.
            assert row[mean] == pytest.approx(sum(values) / 3, abs=1.01e-3)


def test_published_ap_is_not_that_of_eleven_points() -> None:
    # At most 1 at each level that the recall reaches: no 11-point AP can be higher.
    highest = [(row["ap"], (math.floor(10 * (row["recall"] + 5e-4)) + 1) / 11) for row in published("ABC", 52)]
    assert sum(ap > possible + 5e-4 for ap, possible in highest) == 12


def test_average_precision_by_hand() -> None:
    first = np.array([1], dtype=np.int64)
    assert eleven_point_precision(first, 1) == all_point_precision(first, 1) == 1.0
    assert eleven_point_precision(first, 10) == 2 / 11
    assert all_point_precision(first, 10) == 0.1
    none = np.empty(0, dtype=np.int64)
    assert eleven_point_precision(none, 3) == all_point_precision(none, 3) == 0.0
    assert math.isnan(eleven_point_precision(none, 0))
    assert math.isnan(all_point_precision(none, 0))


def plain_ap(hits: list[bool], positives: int, ap: str) -> Fraction | None:
    if not positives:
        return None
    points = [(Fraction(sum(hits[:n]), positives), Fraction(sum(hits[:n]), n)) for n in range(1, len(hits) + 1)]

    def best(level: Fraction) -> Fraction:
        return max((precision for recall, precision in points if recall >= level), default=Fraction(0))

    if ap == "11-point":
        return sum((best(Fraction(k, 10)) for k in range(11)), Fraction(0)) / 11
    recalls = itertools.pairwise([Fraction(0), *(recall for recall, _ in points)])
    return sum(((recall - before) * best(recall) for before, recall in recalls), Fraction(0))


@given(hits=st.lists(st.booleans(), max_size=30), missed=st.integers(0, 30))
def test_average_precision_equals_the_definition(hits: list[bool], missed: int) -> None:
    positives, rank = sum(hits) + missed, np.flatnonzero(hits) + 1
    eleven, every = (plain_ap(hits, positives, ap) for ap in ("11-point", "all-point"))
    if eleven is None or every is None:
        assert math.isnan(eleven_point_precision(rank, 0))
        return
    assert eleven_point_precision(rank, positives) == float(eleven)
    assert all_point_precision(rank, positives) == pytest.approx(float(every), rel=1e-14)


class Plain(NamedTuple):
    tp: int
    fp: int
    fn: int
    ap: Fraction | None


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


def grid_rows(seed: int) -> tuple[list[Box], list[Box]]:
    """Boxes on a coarse grid of pixels, so that ties, exact thresholds, small boxes and lines are everywhere."""
    rng = np.random.default_rng(seed)
    sides: tuple[list[Box], list[Box]] = ([], [])
    for rows, most, documents in zip(sides, (14, 20), (2, 3), strict=True):
        for _ in range(rng.integers(0, most)):
            x, y = rng.integers(0, 6, 2) * 10.0
            width, height = rng.choice([0.0, 10, 20, 30, 40, 50], 2, p=[0.05, 0.1, 0.2, 0.25, 0.2, 0.2])
            label, score = str(rng.choice(["Figure", "Table"])), float(rng.integers(0, 5)) / 4
            corners = (x, y, x + width, y + height)
            rows.append(Box(f"{rng.integers(0, documents)}.bmp", 0, label, corners, score))
    return sides


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
        assert row["ap"] == (None if expected.ap is None else pytest.approx(float(expected.ap), rel=1e-14))
        rows.append(expected)
    aps = [row.ap for row in rows if row.ap is not None]
    f1 = [2 * row.tp / (2 * row.tp + row.fp + row.fn) for row in rows if row.tp + row.fp + row.fn]
    for name, values in (("map", aps), ("mean_f1", f1)):
        assert numbers[name] == (pytest.approx(float(sum(values) / len(values)), rel=1e-14) if values else None)


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
    threshold = both([], []).to_json()["thresholds"]["0.8"]
    assert (threshold["map"], threshold["mean_f1"]) == (None, None)
    assert threshold["ignored"] == {"ground_truth": 0, "predictions": 0}
    one = [box(0, 0, 50, 50, score=1.0)]
    assert (counts(both([], one)), counts(both(one, []))) == ((0, 1, 0), (0, 0, 1))


def test_unknown_pages_are_left_out_when_lenient() -> None:
    here = box(0, 0, 50, 50, score=0.5)
    predicted = [here, here._replace(document="b", score=1.0), here._replace(page=1, score=1.0)]
    assert counts(both([here], predicted)) == (1, 2, 0)
    result = both([here], predicted, lenient=True)
    assert counts(result) == (1, 0, 0)
    assert result.matching.prediction_counts.tolist() == [True, False, False]
    # A page that the ground truth lists without boxes is known.
    empty = replace(ground_truth([here], pages=[("b", 0)]), unit="pixels")
    assert counts(evaluate(empty, in_pixels([], predicted)[1], lenient=True)) == (1, 1, 0)


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
    for height, matched in ((3001.0, 1), (3000.0, 0)):
        sized = [replace(source, page_size=np.array([[3000.0, height]])) for source in (truth, prediction)]
        assert counts(evaluate(*sized)) == (matched, 0, 0)
    in_pixels_ = replace(prediction, unit="pixels")
    with pytest.raises(BadInput, match=r"pixels can be compared with ground_truth\.json, which is in shares of"):
        evaluate(truth, in_pixels_)
    with pytest.raises(ValueError, match="boxes must have one unit; found page and pixels"):
        pair(join(truth, in_pixels_))


def test_the_smallest_area_is_kept() -> None:
    rows = [box(0, 0, 50, 100, score=1.0), box(0, 200, 50, 299, score=1.0)]
    with pytest.raises(ValueError, match="min_area needs page sizes, which the files do not give"):
        both(rows, rows, min_area=0.01)
    sides = [replace(source, page_size=np.array([[500.0, 1000.0]])) for source in in_pixels(rows, rows)]
    assert counts(evaluate(*sides, min_area=0.01)) == (1, 0, 1)


def test_the_signature_says_everything_that_was_chosen() -> None:
    rows = [box(0, 0, 50, 50, score=1.0)]
    assert both(rows, rows).signature.line == (
        "pod 2017 · IoU > 0.60, 0.80 · score ≥ 0.00 · AP 11-point · "
        f"ignored: 30 × 30 px, lines of 0 px, and their duplicates · 1 document, 1 page · layoutscope {__version__}"
    )
    sizes = {"small_px": 10, "line_max_px": 1.5}
    changed = both(rows, rows, iou=[0.5], ap="all-point", min_score=0.25, labels=["Table"], lenient=True, **sizes)
    assert changed.signature.line == (
        "pod 2017 · IoU > 0.50 · score ≥ 0.25 · labels Table · AP all-point · "
        "ignored: 10 × 10 px, lines of 1.5 px, and their duplicates · lenient · 1 document, 1 page · "
        f"layoutscope {__version__}"
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
