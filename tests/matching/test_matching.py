"""Matching: the same pairs as a plain sequential greedy, whatever the ties, the chunks and the units."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.matching import pairs as matching
from evaluator.matching.pairs import Matches, fit_pairs, overlapping_pairs

NOBODY = np.empty((0, 4)), np.empty(0, dtype=np.int64)
Boxes = tuple[FloatArray, IntArray]


def one_iou(first: FloatArray, second: FloatArray) -> float:
    width = max(min(first[2], second[2]) - max(first[0], second[0]), 0.0)
    shared = width * max(min(first[3], second[3]) - max(first[1], second[1]), 0.0)
    own, other = ((box[2] - box[0]) * (box[3] - box[1]) for box in (second, first))
    return shared / (own + other - shared) if shared > 0 else 0.0


def all_pairs(truth: Boxes, prediction: Boxes, floor: float) -> list[tuple[int, int, float]]:
    rows = []
    for p, (box, group) in enumerate(zip(*prediction, strict=True)):
        for g, (other, other_group) in enumerate(zip(*truth, strict=True)):
            if group == other_group and (value := one_iou(other, box)) >= floor:
                rows.append((p, g, value))
    return rows


def sequential(pairs: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """The greedy as the specification tells it: a stable sort, then one pair after the other."""
    used_p, used_g, taken = set(), set(), []
    for p, g, value in sorted(pairs, key=lambda pair: -pair[2]):
        if p not in used_p and g not in used_g:
            used_p.add(p)
            used_g.add(g)
            taken.append((p, g, value))
    return taken


def matched(truth: Boxes, prediction: Boxes, floor: float) -> Matches:
    pairs = overlapping_pairs(*truth, *prediction, iou_floor=floor)
    fitted = fit_pairs(pairs, truth[0], prediction[0], truth[1])
    return fitted.columns.take(np.flatnonzero(fitted.score_intervals(np.full(len(prediction[0]), np.nan)).at(0.0)))


def triples(matches: Matches) -> list[tuple[int, int, float]]:
    return list(zip(matches.prediction.tolist(), matches.ground_truth.tolist(), matches.iou.tolist(), strict=True))


@st.composite
def sides(draw: st.DrawFn, *, steps: int, most: int = 14, groups: int = 3) -> Boxes:
    """Boxes on a coarse grid: equal boxes, equal IoUs and boxes without area are everywhere."""
    shape = draw(st.integers(0, most)), 5
    numbers = draw(arrays(np.int64, shape, elements=st.integers(0, steps)))
    low, high = np.minimum(numbers[:, :2], numbers[:, 2:4]), np.maximum(numbers[:, :2], numbers[:, 2:4])
    boxes, group = np.hstack([low, high]) / steps, numbers[:, 4] % groups
    boxes.flags.writeable = group.flags.writeable = False
    return boxes, group


@given(
    truth=sides(steps=4),
    prediction=sides(steps=4),
    floor=st.sampled_from([0.05, 0.25, 0.5, 0.75, 1.0]),
    at_once=st.sampled_from([1, 2, 7, 1 << 20]),
    tuning=st.tuples(st.sampled_from([0, 32]), st.sampled_from([0.0, 1 / 16, 0.5, 2.0])),
)
def test_ties_go_where_the_sequential_greedy_sends_them(
    truth: Boxes, prediction: Boxes, floor: float, at_once: int, tuning: tuple[int, float]
) -> None:
    # 0 may search by x; 0.0 keeps to rounds, 2.0 goes to the heap after the first; small chunks cut predictions.
    with (
        patch.object(matching, "_PAIRS_AT_ONCE", at_once),
        patch.object(matching, "_WIDE", tuning[0]),
        patch.object(matching, "_WORTHWHILE_SHARE", tuning[1]),
    ):
        pairs = matched(truth, prediction, floor)
    expected = sequential(all_pairs(truth, prediction, floor))
    assert sorted(triples(pairs)) == sorted(expected)
    assert triples(pairs) == sorted(expected, key=lambda pair: (truth[1][pair[1]], -pair[2], pair[0], pair[1]))


@given(
    truth=sides(steps=4),
    prediction=sides(steps=4),
    steps=st.lists(st.integers(0, 6), min_size=14, max_size=14),
    keeps=st.lists(st.booleans(), min_size=14, max_size=14),
)
def test_at_every_score_cut_pairs_match_as_in_the_sequential_greedy(
    truth: Boxes, prediction: Boxes, steps: list[int], keeps: list[bool]
) -> None:
    # 6 is a prediction without a score.
    score = np.array([np.nan if step == 6 else step / 5 for step in steps[: len(prediction[0])]])
    pairs = overlapping_pairs(*truth, *prediction, iou_floor=0.1)
    fitted = fit_pairs(pairs, truth[0], prediction[0], truth[1])
    some = np.array(keeps[: len(score)], dtype=bool)[fitted.columns.prediction]
    for keep in (None, some):
        score_intervals = fitted.score_intervals(score, keep)
        for cut in (0.0, 0.1, 0.2, 0.4, 0.6, 0.61, 0.8, 1.0, 2.0):
            stays = [
                bool(cut <= 0.0 or not each < cut) and (keep is None or keeps[at]) for at, each in enumerate(score)
            ]
            expected = sequential([pair for pair in all_pairs(truth, prediction, 0.1) if stays[pair[0]]])
            assert sorted(triples(fitted.columns.take(np.flatnonzero(score_intervals.at(cut))))) == sorted(expected)


@given(truth=sides(steps=2, most=40, groups=1), prediction=sides(steps=2, most=40, groups=1))
def test_crowds_of_equal_boxes_match_as_in_the_sequential_greedy(truth: Boxes, prediction: Boxes) -> None:
    expected = sorted(sequential(all_pairs(truth, prediction, 0.2)))
    assert sorted(triples(matched(truth, prediction, 0.2))) == expected


@given(
    truth=sides(steps=5),
    prediction=sides(steps=5),
    floor=st.sampled_from([1e-9, 0.1, 0.5, 1.0]),
    unit=st.tuples(st.sampled_from([1.0, 3.0, 1025.0, 1e6]), st.sampled_from([0.0, -700.0, 1e5])),
    spread=st.sampled_from([1, 10**6, 2**40]),
)
def test_overlapping_pairs_are_those_of_brute_force(
    truth: Boxes, prediction: Boxes, floor: float, unit: tuple[float, float], spread: int
) -> None:
    # Pixels, coordinates left of the origin, and group numbers of a large corpus.
    scale, shift = unit
    first, second = ((boxes * scale + shift, groups * spread) for boxes, groups in (truth, prediction))
    pairs = overlapping_pairs(*first, *second, iou_floor=floor)
    rows = list(zip(pairs.prediction.tolist(), pairs.ground_truth.tolist(), pairs.iou.tolist(), strict=True))
    assert rows == all_pairs(first, second, floor)


@given(truth=sides(steps=4), prediction=sides(steps=4), higher=st.floats(0.1, 1.0))
def test_cutting_a_matching_equals_matching_at_the_higher_threshold(
    truth: Boxes, prediction: Boxes, higher: float
) -> None:
    cut, anew = matched(truth, prediction, 0.1).at(higher), matched(truth, prediction, higher)
    for column in ("prediction", "ground_truth", "iou", "coverage", "purity"):
        assert getattr(cut, column).tolist() == getattr(anew, column).tolist()


def test_a_long_chain_unravels_from_its_best_end() -> None:
    # Each box overlaps the next a little better than the one before it, so one pair is decided per round.
    step = np.cumsum(np.linspace(0.5, 0.1, 401))
    edge = np.column_stack([step, np.zeros(401), step + 1.0, np.ones(401)])
    truth, prediction = (edge[0::2], np.zeros(201, dtype=np.int64)), (edge[1::2], np.zeros(200, dtype=np.int64))
    pairs = matched(truth, prediction, 0.1)
    assert sorted(triples(pairs)) == sorted(sequential(all_pairs(truth, prediction, 0.1)))


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e-200, 1e-160, 1e-145])
def test_boxes_whose_area_underflows_still_have_their_iou(unit: float) -> None:
    group = np.zeros(1, dtype=np.int64)
    truth, prediction = np.array([[0.0, 0.0, 2.0, 1.0]]) * unit, np.array([[0.0, 0.0, 1.0, 1.0]]) * unit
    truth.flags.writeable = prediction.flags.writeable = False
    pairs = matched((truth, group), (prediction, group), 0.25)
    assert triples(pairs) == [(0, 0, 0.5)]
    assert (pairs.coverage.tolist(), pairs.purity.tolist()) == ([0.5], [1.0])


def test_denormal_boxes_match_only_their_like() -> None:
    tiny = 5e-324
    rows = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [3, 3, 4, 5]]) * tiny
    boxes = np.vstack([rows, [[0.0, 0.0, 1.0, 1.0]]]), np.zeros(4, dtype=np.int64)
    assert triples(matched(boxes, boxes, 0.2)) == [(row, row, 1.0) for row in range(4)]


@given(truth=sides(steps=7, most=5, groups=1), prediction=sides(steps=7, most=5, groups=1))
def test_iou_coverage_and_purity_are_exact_to_the_last_digits(truth: Boxes, prediction: Boxes) -> None:
    pairs = matched(truth, prediction, 0.01)
    for p, g, iou, coverage, purity in zip(
        pairs.prediction, pairs.ground_truth, pairs.iou, pairs.coverage, pairs.purity, strict=True
    ):
        a, b = ([Fraction(float(value)) for value in row] for row in (truth[0][g], prediction[0][p]))
        shared = (min(a[2], b[2]) - max(a[0], b[0])) * (min(a[3], b[3]) - max(a[1], b[1]))
        area_a, area_b = ((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b))
        exact = shared / (area_a + area_b - shared), shared / area_a, shared / area_b
        assert (iou, coverage, purity) == pytest.approx(tuple(map(float, exact)), rel=1e-14)


@pytest.mark.parametrize("empty", [(0,), (1,), (0, 1)])
def test_nothing_matches_nothing(empty: tuple[int, ...]) -> None:
    some = np.array([[0.0, 0.0, 1.0, 1.0]]), np.zeros(1, dtype=np.int64)
    pairs = matched(*(NOBODY if side in empty else some for side in (0, 1)), 0.5)
    assert len(pairs) == 0
    assert (pairs.prediction.dtype, pairs.ground_truth.dtype, pairs.iou.dtype) == (np.int64, np.int64, np.float64)


def test_boxes_of_different_groups_never_meet() -> None:
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (3, 1))
    assert triples(matched((boxes, np.array([0, 1, 5])), (boxes, np.array([1, 2, 3])), 0.5)) == [(0, 1, 1.0)]


def test_boxes_without_area_match_nothing_not_even_themselves() -> None:
    lines = np.array([[0.1, 0.1, 0.1, 0.9], [0.1, 0.5, 0.9, 0.5], [0.3, 0.3, 0.3, 0.3]]), np.zeros(3, dtype=np.int64)
    assert len(matched(lines, lines, 1e-9)) == 0


@pytest.mark.parametrize("floor", [0.0, -0.1, 1.1, float("nan")])
def test_a_floor_out_of_range_is_refused(floor: float) -> None:
    with pytest.raises(ValueError, match=r"^iou_floor must be in \(0, 1\]; found "):
        overlapping_pairs(*NOBODY, *NOBODY, iou_floor=floor)
