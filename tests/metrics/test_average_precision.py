"""Average precision: hand-worked curves, the official loop as an oracle, and the properties of ranks.

`official_loop` is what pycocotools 2.0 computes in ``COCOeval.accumulate``, written anew for one label.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.average_precision import (
    RECALL_101,
    average_precision,
    curve,
    descending_order,
    precision_at_recall,
)

NO_RANKS = np.empty(0, dtype=np.int64)
hits = st.lists(st.booleans(), max_size=60)


def official_loop(hit: list[bool], positives: int, grid: np.ndarray) -> list[float]:
    """The curve point by point, over all predictions, false ones included."""
    true, false = np.cumsum(hit).astype(float), np.cumsum(np.logical_not(hit)).astype(float)
    recall = true / positives
    precision = (true / (false + true + np.spacing(1))).tolist()
    for row in range(len(precision) - 1, 0, -1):
        precision[row - 1] = max(precision[row - 1], precision[row])
    places = np.searchsorted(recall, grid, side="left")
    return [precision[row] if row < len(precision) else 0.0 for row in places.tolist()]


def ranks_of(hit: list[bool]) -> np.ndarray:
    return np.flatnonzero(hit) + 1


def test_a_curve_worked_by_hand() -> None:
    # Right, wrong, right, with three to find: recall 1/3 at precision 1, 2/3 at 2/3, never more.
    rank = ranks_of([True, False, True])
    precision = precision_at_recall(rank, 3, recall=np.array([0.0, 1 / 3, 0.34, 2 / 3, 0.67, 1.0]))
    assert precision == pytest.approx([1.0, 1.0, 2 / 3, 2 / 3, 0.0, 0.0])
    assert average_precision(rank, 3) == pytest.approx((34 * 1.0 + 33 * 2 / 3) / 101)
    # Precision takes the best that is to come.
    assert precision_at_recall(np.array([2, 3, 4]), 3, recall=np.array([0.0])) == pytest.approx([0.75])


def test_no_positives_is_undefined_and_no_hits_is_zero() -> None:
    assert math.isnan(average_precision(NO_RANKS, 0))
    assert average_precision(NO_RANKS, 4) == 0.0
    assert len(precision_at_recall(NO_RANKS, 4, recall=np.empty(0))) == 0


@given(hit=hits, more=st.integers(0, 40))
def test_ranks_alone_give_the_official_curve_to_the_last_bit(hit: list[bool], more: int) -> None:
    positives = max(sum(hit) + more, 1)
    for grid in (RECALL_101, np.arange(101) / 100, np.array([0.3, 0.5, 1.0])):
        precision = precision_at_recall(ranks_of(hit), positives, recall=grid)
        assert precision.tolist() == official_loop(hit, positives, grid)


@pytest.mark.parametrize("positives", [1, 3, 7, 10, 49, 100, 101, 997, 3 * 10**6, 10**9 + 7])
def test_a_grid_point_belongs_to_the_first_recall_that_reaches_it(positives: int) -> None:
    # Recall is a quotient of float64, which is on either side of the decimal; only the quotient decides.
    for point in RECALL_101[1:].tolist():
        near = [k for k in range(int(point * positives) - 2, int(point * positives) + 4) if 1 <= k <= positives]
        first = next(k for k in near if k / positives >= point)
        if first <= 2000:
            enough, short = np.arange(1, first + 1), np.arange(1, first)
            assert precision_at_recall(enough, positives, recall=np.array([point]))[0] > 0.0
            assert precision_at_recall(short, positives, recall=np.array([point]))[0] == 0.0


@given(scores=st.lists(st.sampled_from([0.0, -0.0, 0.1, 0.5, 0.9, 1.0]), max_size=80))
def test_equal_scores_keep_their_order(scores: list[float]) -> None:
    score = np.array(scores, dtype=np.float64)
    assert descending_order(score).tolist() == np.argsort(-score, kind="mergesort").tolist()


@given(hit=hits, more=st.integers(0, 10), place=st.integers(0, 60))
def test_an_extra_false_positive_never_helps(hit: list[bool], more: int, place: int) -> None:
    positives = sum(hit) + more
    if positives:
        worse = [*hit[:place], False, *hit[place:]]
        assert average_precision(ranks_of(worse), positives) <= average_precision(ranks_of(hit), positives)


@given(rows=st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40), more=st.integers(0, 5))
def test_a_curve_counts_what_scores_at_least_as_much(rows: list[tuple[int, bool]], more: int) -> None:
    rows = sorted(rows, key=lambda row: -row[0])
    score, hit = np.array([float(row[0]) for row in rows]), np.array([row[1] for row in rows], dtype=bool)
    positives = int(hit.sum()) + more
    line = curve(score, hit, np.ones(len(rows), dtype=bool), positives)
    assert line.score.tolist() == sorted(set(score.tolist()), reverse=True)
    for row, threshold in enumerate(line.score.tolist()):
        kept = score >= threshold
        hits = int(hit[kept].sum())
        assert line.precision[row] == hits / int(kept.sum())
        assert math.isnan(line.recall[row]) if not positives else line.recall[row] == hits / positives
        assert line.f1[row] == 2 * hits / (int(kept.sum()) + positives)


def test_a_curve_without_predictions_is_empty() -> None:
    line = curve(np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=bool), 3)
    assert [len(column) for column in line] == [0, 0, 0, 0]
