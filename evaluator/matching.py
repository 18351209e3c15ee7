"""One-to-one matching of predictions to ground truth, over all pages at once.

Owns the search for overlapping pairs and the greedy assignment by IoU. A group is whatever may match: a
(document, page, label) triple as one integer. Works on columns of one dataset side by side; knows no file,
label name or metric. Order of rows is file order, and ties are decided by it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluator.boxes import BoolArray, FloatArray, IntArray, iou, overlap

# Pairs whose boxes are compared in one go: what they need stays in the processor's cache, whatever the corpus.
_PAIRS_AT_ONCE = 1 << 14
# A round of mutual best pairs that settles less than this share of the open pairs is not worth its scan.
_WORTHWHILE_SHARE = 1 / 16


class Candidates(NamedTuple):
    """Pairs of one group whose boxes overlap enough, sorted by (prediction, ground truth).

    Attributes
    ----------
    prediction, ground_truth : int64, shape (K,)
        Rows of the two sides.
    iou : float64, shape (K,), in (0, 1]
    """

    prediction: IntArray
    ground_truth: IntArray
    iou: FloatArray

    def take(self, rows: IntArray) -> Candidates:
        """The candidates in the given rows; rising rows keep the order."""
        return Candidates(self.prediction[rows], self.ground_truth[rows], self.iou[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Matched pairs as columns of one length K.

    Attributes
    ----------
    prediction, ground_truth : int64, shape (K,)
        Rows of the two sides; no row occurs twice.
    iou, coverage, purity : float64, shape (K,), in (0, 1]
        Of the pair; see `evaluator.boxes.overlap`.
    """

    prediction: IntArray
    ground_truth: IntArray
    iou: FloatArray
    coverage: FloatArray
    purity: FloatArray

    def __len__(self) -> int:
        return len(self.iou)

    def at(self, threshold: float) -> Matches:
        """The matches that a greedy matching at a higher IoU threshold gives.

        Parameters
        ----------
        threshold : float
            At or above the floor of the matching; IoU >= threshold is kept.

        Returns
        -------
        Matches

        Notes
        -----
        The greedy takes pairs by falling IoU, so what it did below the threshold cannot have changed what
        it did above: cutting the list is exact.
        """
        return self.take(np.flatnonzero(self.iou >= threshold))

    def take(self, rows: IntArray) -> Matches:
        """The matches in the given rows and order."""
        return Matches(
            prediction=self.prediction[rows],
            ground_truth=self.ground_truth[rows],
            iou=self.iou[rows],
            coverage=self.coverage[rows],
            purity=self.purity[rows],
        )


def overlapping_pairs(
    ground_truth: FloatArray,
    ground_truth_group: IntArray,
    prediction: FloatArray,
    prediction_group: IntArray,
    *,
    iou_floor: float,
    measure: Callable[[IntArray, IntArray], FloatArray] | None = None,
) -> Candidates:
    """All pairs of one group with IoU >= the floor.

    Parameters
    ----------
    ground_truth : float64, shape (G, 4)
    ground_truth_group : int64, shape (G,), >= 0
    prediction : float64, shape (P, 4)
    prediction_group : int64, shape (P,), >= 0
        Boxes in one unit; groups are comparable between the sides.
    iou_floor : float
        In (0, 1]; inclusive.
    measure : callable, optional
        IoU of rows of the ground truth with rows of the predictions, where it is not that of the boxes (crowds,
        outlines); 0 for boxes that do not touch.

    Returns
    -------
    Candidates
        Empty columns when a side is empty or nothing overlaps.

    Raises
    ------
    ValueError
        When the floor is not in (0, 1]: at 0 every pair of boxes would be a candidate.

    Notes
    -----
    Ground truth is sorted by (group, y1). For a prediction, those that start above its lower edge end at
    one position; those before the first whose running maximum of y2 reaches its upper edge cannot touch it.
    Both ends are binary searches on the number ``2 * group + y``; rounding of that number is monotone, so a
    touching pair is never lost, and the IoU itself is computed from the untouched coordinates.
    """
    if not 0.0 < iou_floor <= 1.0:
        raise ValueError(f"iou_floor must be in (0, 1]; found {iou_floor}")
    if not len(ground_truth) or not len(prediction):
        return Candidates(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
    unit = max(float(np.abs(ground_truth[:, 1::2]).max()), float(np.abs(prediction[:, 1::2]).max()), 1.0)
    start = 2.0 * ground_truth_group + ground_truth[:, 1] / unit
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate((2.0 * ground_truth_group + ground_truth[:, 3] / unit)[order])
    low = np.searchsorted(reach, 2.0 * prediction_group + prediction[:, 1] / unit, side="left")
    high = np.searchsorted(start[order], 2.0 * prediction_group + prediction[:, 3] / unit, side="right")
    parts = []
    for rows in _slices_of(np.maximum(high - low, 0)):
        width = np.maximum(high[rows] - low[rows], 0)
        predicted = np.repeat(np.arange(rows.start, rows.stop), width)
        offset = np.arange(len(predicted)) - np.repeat(np.cumsum(width) - width, width)
        truth = order[np.repeat(low[rows], width) + offset]
        together = ground_truth_group[truth] == prediction_group[predicted]
        predicted, truth = predicted[together], truth[together]
        value = measure(truth, predicted) if measure else iou(ground_truth[truth], prediction[predicted])
        enough = value >= iou_floor
        parts.append(Candidates(predicted[enough], truth[enough], value[enough]))
    predicted = np.concatenate([part.prediction for part in parts])
    truth = np.concatenate([part.ground_truth for part in parts])
    in_file_order = np.argsort(predicted * len(ground_truth) + truth, kind="stable")
    value = np.concatenate([part.iou for part in parts])[in_file_order]
    return Candidates(predicted[in_file_order], truth[in_file_order], value)


def _slices_of(width: IntArray) -> Iterator[slice]:
    """Slices of rows whose widths add up to about `_PAIRS_AT_ONCE`, at least one row each."""
    total = np.cumsum(width)
    row = 0
    while row < len(width):
        before = int(total[row - 1]) if row else 0
        stop = max(int(np.searchsorted(total, before + _PAIRS_AT_ONCE, side="right")), row + 1)
        yield slice(row, stop)
        row = stop


def answer_order(pairs: Candidates, group: IntArray) -> IntArray:
    """Rows of the pairs by (group, falling IoU, prediction, ground truth), int64, shape (K,).

    Parameters
    ----------
    pairs : Candidates
        In (prediction, ground truth) order.
    group : int64, shape (G,)
        Group of each ground truth.
    """
    # Both sorts of lexsort are stable, so ties keep the order of the pairs.
    return np.lexsort((-pairs.iou, group[pairs.ground_truth]))


def match_by_iou(
    pairs: Candidates,
    ground_truth: FloatArray,
    prediction: FloatArray,
    order: IntArray,
    rows: IntArray | None = None,
) -> Matches:
    """Greedy one-to-one matches by falling IoU.

    Parameters
    ----------
    pairs : Candidates
        The pairs that may match, in (prediction, ground truth) order.
    ground_truth : float64, shape (G, 4)
    prediction : float64, shape (P, 4)
        The boxes that the pairs point to.
    order : int64, shape (K,)
        The order of the answer, from `answer_order`; sorted once, it serves any number of matchings.
    rows : int64, rising, optional
        The pairs that take part; all of them when absent.

    Returns
    -------
    Matches
        In that order; empty when there is no pair. Scores play no part.

    Notes
    -----
    Snapshot specification 1.3, section 5.3. Ties of IoU go to the lower prediction row, then to the lower
    ground-truth row, which is what the reference evaluator's stable sort of prediction-major pairs does.
    The pairs are those of the sequential greedy: a pair that is best for both of its boxes under that
    strict order is taken by the greedy whatever else happens, so all such pairs are taken at once, their
    boxes leave, and the rest is looked at again. What stays open after the rounds that pay (long chains,
    hundreds of equal boxes) goes through the sequential greedy itself, on a heap.
    """
    open_pairs = pairs if rows is None else pairs.take(rows)
    chosen = greedy_rows(open_pairs, len(ground_truth), len(prediction))
    taken = np.zeros(len(order), dtype=bool)
    taken[chosen if rows is None else rows[chosen]] = True
    matched = pairs.take(order[taken[order]])
    fit = overlap(ground_truth[matched.ground_truth], prediction[matched.prediction])
    return Matches(
        prediction=matched.prediction,
        ground_truth=matched.ground_truth,
        iou=fit.iou,
        coverage=fit.coverage,
        purity=fit.purity,
    )


def greedy_rows(pairs: Candidates, truths: int, predictions: int) -> IntArray:
    """Rows of the candidates that the sequential greedy takes, int64, in no particular order.

    Parameters
    ----------
    pairs : Candidates
        In (prediction, ground truth) order.
    truths, predictions : int
        Number of boxes of each side.
    """
    per_truth = np.bincount(pairs.ground_truth, minlength=truths)
    per_prediction = np.bincount(pairs.prediction, minlength=predictions)
    alone = (per_truth[pairs.ground_truth] == 1) & (per_prediction[pairs.prediction] == 1)
    chosen = [np.flatnonzero(alone)]
    contested = np.flatnonzero(~alone)
    # Stable: equal IoU keep the (prediction, ground truth) order of the candidates.
    open_rows = contested[np.argsort(-pairs.iou[contested], kind="stable")]
    free_truth, free_prediction = np.ones(truths, dtype=bool), np.ones(predictions, dtype=bool)
    best_truth, best_prediction = np.empty(truths, dtype=np.int64), np.empty(predictions, dtype=np.int64)
    while len(open_rows):
        truth, predicted = pairs.ground_truth[open_rows], pairs.prediction[open_rows]
        rank = np.arange(len(open_rows))
        # Written backwards, so that the best rank of each box is what remains.
        best_truth[truth[::-1]] = rank[::-1]
        best_prediction[predicted[::-1]] = rank[::-1]
        mutual = (best_truth[truth] == rank) & (best_prediction[predicted] == rank)
        chosen.append(open_rows[mutual])
        free_truth[truth[mutual]] = False
        free_prediction[predicted[mutual]] = False
        still_open = free_truth[truth] & free_prediction[predicted]
        settled = len(open_rows) - int(still_open.sum())
        open_rows, before = open_rows[still_open], len(open_rows)
        if len(open_rows) and settled < before * _WORTHWHILE_SHARE:
            chosen.append(_greedy_on_heap(pairs, open_rows, free_truth))
            break
    return np.concatenate(chosen)


def _greedy_on_heap(pairs: Candidates, rows: IntArray, free_truth: BoolArray) -> IntArray:
    """What the sequential greedy takes of the open rows, given in the order of the greedy.

    Each prediction waits in a heap with its best ground truth that was free when it last looked; when that
    one is gone it looks again. The top of the heap is then the best open pair of all.
    """
    by_prediction = np.argsort(pairs.prediction[rows], kind="stable")
    starts = np.flatnonzero(np.diff(pairs.prediction[rows][by_prediction], prepend=-1))
    stops = np.append(starts[1:], len(rows))
    truth = pairs.ground_truth[rows]
    heap = [(int(by_prediction[start]), int(start), int(stop)) for start, stop in zip(starts, stops, strict=True)]
    heapq.heapify(heap)
    taken = []
    while heap:
        rank, at, stop = heapq.heappop(heap)
        if free_truth[truth[rank]]:
            free_truth[truth[rank]] = False
            taken.append(rank)
            continue
        free = free_truth[truth[by_prediction[at:stop]]]
        step = int(free.argmax())
        if free[step]:
            heapq.heappush(heap, (int(by_prediction[at + step]), at + step, stop))
    return rows[np.array(taken, dtype=np.int64)]
