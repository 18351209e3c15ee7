"""One-to-one matching of predictions to ground truth, over all pages at once.

A group is whatever may match: a (document, page, label) triple as one integer. Order of rows is file order, and ties
are decided by it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, Outlined, Overlap, iou, overlap
from evaluator.data.order import distinct, numbers_from, order_by, runs_up_to
from evaluator.data.polygons import outline_bounds, polygon_overlap

N = TypeVar("N", int, IntArray)
# Pairs whose boxes are compared in one go: what they need stays in the processor's cache, whatever the corpus.
_PAIRS_AT_ONCE = 1 << 14
# What takes part in no more than so many times the pairs that files may have is kept; see `most_pairs`.
_PAIRS_KEPT = 4
# Pairs that are compared for each that may overlap, at most.
_SCANNED_PER_PAIR = 64
# Pairs to compare for each box from which on it is worth looking whether the other axis has fewer.
_WIDE = 32
# Up to so many pairs of one group for each box, all of them are compared; and numbers of groups for each box.
_FEW_PER_BOX = 2
_NUMBERS_PER_BOX = 8
# Boxes that share any area.
TOUCHING = float(np.finfo(np.float64).tiny)
# A score cut that leaves nothing out.
_BELOW_ALL = -float(np.finfo(np.float64).max)
# A round of mutual best pairs that settles less than this share of the open pairs is not worth its scan.
_WORTHWHILE_SHARE = 1 / 16


class Candidates(NamedTuple):
    """Pairs of one group that overlap enough, sorted by (prediction, ground truth), K rows; IoU in (0, 1]."""

    prediction: IntArray
    ground_truth: IntArray
    iou: FloatArray

    def take(self, rows: IntArray) -> Candidates:
        """Return the candidates in the given rows; rising rows keep the order."""
        return Candidates(self.prediction[rows], self.ground_truth[rows], self.iou[rows])


_NO_PAIRS = Candidates(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Matched pairs as columns of one length K: int64 rows of both sides, none twice, and how they fit.

    `iou`, `coverage`, `purity`: float64, shape (K,), in (0, 1]; see `evaluator.data.boxes.overlap`.
    """

    prediction: IntArray
    ground_truth: IntArray
    iou: FloatArray
    coverage: FloatArray
    purity: FloatArray

    def __len__(self) -> int:
        return len(self.iou)

    def at(self, threshold: float) -> Matches:
        """Return the matches that a greedy matching at a higher IoU threshold gives; IoU >= threshold is kept.

        The greedy takes pairs by falling IoU: what it did below the threshold cannot have changed what it did above, so
        cutting the list is exact.
        """
        return self.take(np.flatnonzero(self.iou >= threshold))

    def take(self, rows: IntArray) -> Matches:
        """Return the matches in the given rows and order."""
        return Matches(
            prediction=self.prediction.take(rows),
            ground_truth=self.ground_truth.take(rows),
            iou=self.iou.take(rows),
            coverage=self.coverage.take(rows),
            purity=self.purity.take(rows),
        )


def check_iou_floor(iou: float) -> None:
    """Raise ValueError for a lowest IoU threshold outside (0, 1]."""
    if not 0.0 < iou <= 1.0:
        raise ValueError(f"iou_floor must be in (0, 1]; found {iou}")


def overlapping_pairs(
    ground_truth: FloatArray,
    ground_truth_group: IntArray,
    prediction: FloatArray,
    prediction_group: IntArray,
    *,
    iou_floor: float,
    measure: Callable[[IntArray, IntArray], FloatArray] | None = None,
    most: int | None = None,
) -> Candidates:
    """Return all pairs of one group with IoU >= the floor; empty columns when nothing overlaps.

    Boxes are float64, shape (N, 4), in one unit; groups int64, shape (N,), >= 0. `measure`: IoU of rows of the ground
    truth with rows of the predictions where it is not that of the boxes (crowds, outlines); 0 for boxes that do not
    touch. ValueError for a floor outside (0, 1]; `TooManyPairs` for more than `most`, else for more than four times as
    many as `most_pairs` allows.

    Ground truth is sorted by (group, y1). For a prediction, those that start above its lower edge end at one position;
    those before the first whose running maximum of y2 reaches its upper edge cannot touch it. Rounding of the searched
    number ``2 * group + y`` is monotone, so a touching pair is never lost.
    """
    check_iou_floor(iou_floor)
    limit = most or _PAIRS_KEPT * most_pairs(len(ground_truth) + len(prediction))
    parts, kept = [], 0
    for part in _search(
        ground_truth, ground_truth_group, prediction, prediction_group, iou_floor=iou_floor, measure=measure
    ):
        parts.append(part)
        kept += len(part.iou)
        if kept > limit:
            raise TooManyPairs(limit)
    if not parts:
        return _NO_PAIRS
    pairs = parts[0] if len(parts) == 1 else Candidates(*map(np.concatenate, zip(*parts, strict=True)))
    place = pairs.prediction * len(ground_truth) + pairs.ground_truth
    if (place[1:] > place[:-1]).all():
        return pairs
    return pairs.take(np.argsort(place, kind="stable"))


def most_pairs(boxes: N) -> N:
    """Return how many pairs of boxes may overlap when so many boxes are compared, both sides counted."""
    return 32 * boxes + 1_000_000


class TooManyPairs(ValueError):
    """Raised before pairs of boxes take more memory than their number allows; one sentence."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit:,} pairs of boxes overlap")


class Crowding(NamedTuple):
    """Where boxes overlap in more pairs than are allowed.

    `group`: the one with the most pairs. `limit`: pairs allowed in it when `alone`, or else in all groups together.
    """

    group: int
    limit: int
    alone: bool


def crowding(
    ground_truth: FloatArray,
    ground_truth_group: IntArray,
    prediction: FloatArray,
    prediction_group: IntArray,
    *,
    sizes: tuple[IntArray, IntArray] | None = None,
    most: Callable[[IntArray], IntArray] | None = None,
) -> Crowding | None:
    """Return where more pairs overlap than `most` (`most_pairs`) of so many boxes, without keeping pairs; else None.

    With `sizes`, int64 (N,), a box counts as so many, and a pair as those of both. Groups are numbered without big
    gaps. Ends with the pair that is one too many, so time is bounded by the boxes.
    """
    ones = np.ones(len(ground_truth), dtype=np.int64), np.ones(len(prediction), dtype=np.int64)
    of_truth, of_prediction = sizes or ones
    groups = int(max(ground_truth_group.max(initial=0), prediction_group.max(initial=0))) + 1
    counted = np.bincount(ground_truth_group, of_truth, groups) + np.bincount(prediction_group, of_prediction, groups)
    boxes = counted.astype(np.int64)
    most = most or most_pairs
    allowed, limit = most(boxes), int(most(boxes.sum()))
    kept, scanned = 0, 0
    per_group = np.zeros(groups, dtype=np.int64)

    def touching(truth: IntArray, predicted: IntArray) -> FloatArray:
        nonlocal scanned
        scanned += len(truth)
        return iou(ground_truth[truth], prediction[predicted])

    for part in _search(
        ground_truth, ground_truth_group, prediction, prediction_group, iou_floor=TOUCHING, measure=touching
    ):
        count = of_truth[part.ground_truth] + of_prediction[part.prediction] if sizes else np.ones_like(part.prediction)
        kept += int(count.sum())
        np.add.at(per_group, ground_truth_group[part.ground_truth], count)
        most_in = int((per_group - allowed).argmax())
        if per_group[most_in] > allowed[most_in]:
            return Crowding(most_in, int(allowed[most_in]), alone=True)
        if kept > limit or scanned > _SCANNED_PER_PAIR * limit:
            return Crowding(int(per_group.argmax()), limit, alone=False)
    return None


def _search(
    ground_truth: FloatArray,
    ground_truth_group: IntArray,
    prediction: FloatArray,
    prediction_group: IntArray,
    *,
    iou_floor: float,
    measure: Callable[[IntArray, IntArray], FloatArray] | None,
) -> Iterator[Candidates]:
    """Yield the pairs of `overlapping_pairs` in bounded parts, in no particular order."""
    if not len(ground_truth) or not len(prediction):
        return
    sides = ground_truth, ground_truth_group, prediction, prediction_group
    window = _whole_groups(ground_truth_group, prediction_group)
    of_one_group = window is not None
    if window is None:
        window = _window(*sides, axis=1)
        if window.size > _WIDE * (len(ground_truth) + len(prediction)):
            # Columns of a table, bars of a chart: many boxes of one height are told apart by their sides.
            window = min(window, _window(*sides, axis=0), key=lambda either: either.size)
    some = np.flatnonzero(window.width)
    low, width = window.low[some], window.width[some]
    for rows in runs_up_to(_PAIRS_AT_ONCE, width):
        for compared, place in _pieces(rows, low[rows], width[rows]):
            predicted, truth = some[compared], window.order[place]
            if not of_one_group:
                together = ground_truth_group[truth] == prediction_group[predicted]
                predicted, truth = predicted[together], truth[together]
            if measure is None:
                truth, predicted, value = _meeting(ground_truth, truth, prediction, predicted)
            else:
                value = measure(truth, predicted)
            enough = value >= iou_floor
            yield Candidates(predicted[enough], truth[enough], value[enough])


class _Window(NamedTuple):
    """The ground truth that may touch each prediction: so many places from `low` on in `order`."""

    order: IntArray
    low: IntArray
    width: IntArray

    @property
    def size(self) -> int:
        return int(self.width.sum())


def _meeting(
    ground_truth: FloatArray, truth: IntArray, prediction: FloatArray, predicted: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the pairs of rows whose boxes share more than a line, and their IoU; most pairs do not."""
    first, second = ground_truth.take(truth, axis=0), prediction.take(predicted, axis=0)
    across = np.minimum(first[:, 2], second[:, 2]) > np.maximum(first[:, 0], second[:, 0])
    down = np.minimum(first[:, 3], second[:, 3]) > np.maximum(first[:, 1], second[:, 1])
    rows = np.flatnonzero(across & down)
    return truth[rows], predicted[rows], iou(first.take(rows, axis=0), second.take(rows, axis=0))


def _whole_groups(ground_truth_group: IntArray, prediction_group: IntArray) -> _Window | None:
    """Return all ground truth of the group of each prediction; None where that is much to compare."""
    boxes = len(ground_truth_group) + len(prediction_group)
    groups = 1 + max(int(ground_truth_group.max()), int(prediction_group.max()))
    if groups > _NUMBERS_PER_BOX * boxes:
        return None
    sizes = np.bincount(ground_truth_group, minlength=groups)
    width = sizes[prediction_group]
    if int(width.sum()) > _FEW_PER_BOX * boxes:
        return None
    return _Window(np.argsort(ground_truth_group, kind="stable"), (np.cumsum(sizes) - sizes)[prediction_group], width)


def _window(
    ground_truth: FloatArray,
    ground_truth_group: IntArray,
    prediction: FloatArray,
    prediction_group: IntArray,
    *,
    axis: int,
) -> _Window:
    """Return what may touch by one axis: 0 for x, 1 for y; see the notes of `overlapping_pairs`."""
    unit = max(float(np.abs(ground_truth[:, axis::2]).max()), float(np.abs(prediction[:, axis::2]).max()), 1.0)
    start = 2.0 * ground_truth_group + ground_truth[:, axis] / unit
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate((2.0 * ground_truth_group + ground_truth[:, axis + 2] / unit)[order])
    low = np.searchsorted(reach, 2.0 * prediction_group + prediction[:, axis] / unit, side="left")
    high = np.searchsorted(start[order], 2.0 * prediction_group + prediction[:, axis + 2] / unit, side="right")
    return _Window(order, low, np.maximum(high - low, 0))


def outlined_pairs(
    ground_truth: Outlined,
    ground_truth_group: IntArray,
    prediction: Outlined,
    prediction_group: IntArray,
    *,
    iou_floor: float,
) -> tuple[Candidates, Overlap]:
    """Return all pairs of one group whose outlines have IoU >= the floor, and how they fit.

    A row without an outline counts as its box; otherwise as `overlapping_pairs`.
    """
    check_iou_floor(iou_floor)
    # Outlines whose bounds share no area share none; IoU of bounds says nothing more about them.
    touching = overlapping_pairs(
        outline_bounds(ground_truth),
        ground_truth_group,
        outline_bounds(prediction),
        prediction_group,
        iou_floor=TOUCHING,
    )
    fit = polygon_overlap(ground_truth, prediction, touching.ground_truth, touching.prediction)
    rows = np.flatnonzero(fit.iou >= iou_floor)
    pairs = Candidates(touching.prediction[rows], touching.ground_truth[rows], fit.iou[rows])
    return pairs, Overlap(*(column[rows] for column in fit))


def best_per_prediction(pairs: Candidates) -> Candidates:
    """Return the pair with the highest IoU of each prediction, the first ground truth of equal ones."""
    if not len(pairs.iou):
        return pairs
    starts = np.flatnonzero(np.diff(pairs.prediction, prepend=-1))
    best = np.repeat(np.maximum.reduceat(pairs.iou, starts), np.diff(starts, append=len(pairs.iou)))
    highest = np.flatnonzero(pairs.iou == best)
    return pairs.take(highest[np.diff(pairs.prediction[highest], prepend=-1) != 0])


def _pieces(rows: slice, low: IntArray, width: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    if len(width) == 1:
        # One box against all of a page may be more than is compared at once.
        for first in range(0, int(width[0]), _PAIRS_AT_ONCE):
            offset = np.arange(first, min(first + _PAIRS_AT_ONCE, int(width[0])))
            yield np.full(len(offset), rows.start), low[0] + offset
        return
    yield np.repeat(np.arange(rows.start, rows.start + len(width)), width), numbers_from(low, width)


@dataclass(frozen=True, eq=False)
class FittedPairs:
    """Pairs that may match with how they fit: other choices of boxes are matched without geometry.

    `columns`: all pairs by group, falling IoU, prediction, ground truth. `alone`: bool, shape (K,), neither box is in
    another pair. `contested`: int64, rows of the other pairs in the order of the greedy.
    """

    columns: Matches
    alone: BoolArray
    contested: IntArray

    def score_intervals(self, score: FloatArray, keep: BoolArray | None = None) -> ScoreIntervals:
        """Return at which score cuts the greedy one-to-one matching by falling IoU takes each pair.

        `score`: float64, shape (P,), NaN for a prediction that never leaves; it decides nothing else. `keep`: bool,
        shape (K,), the pairs whose boxes take part.

        Snapshot specification 1.3, section 5.3. Ties of IoU go to the lower prediction row, then to the lower
        ground-truth row, as in the reference evaluator's stable sort. When a prediction leaves, its ground truth takes
        the best further pair whose prediction has nothing better, and so on: no ground truth ever goes back, so a pair
        matches over one stretch of cuts.
        """
        leaves = np.nan_to_num(score, nan=np.inf)
        certain = self.alone if keep is None else self.alone & keep
        low, high = np.where(certain, -np.inf, np.inf), np.where(certain, leaves[self.columns.prediction], -np.inf)
        rows = self.contested if keep is None else self.contested[keep[self.contested]]
        truths, truth = distinct(self.columns.ground_truth[rows])
        predictions, predicted = distinct(self.columns.prediction[rows])
        taken = _settled(truth, predicted, len(truths), len(predictions))
        low[rows], high[rows] = _without_lowest(truth, predicted, taken, leaves[predictions])
        return ScoreIntervals(low, high)


class ScoreIntervals(NamedTuple):
    """At which score cuts pairs match: each of K pairs at those above ``low`` up to ``high``.

    A cut leaves out the predictions with a lower score. A pair that never matches begins at infinity.
    """

    low: FloatArray
    high: FloatArray

    def at(self, min_score: float) -> BoolArray:
        """Return which pairs match without predictions below a score, bool, shape (K,); 0 leaves none out."""
        cut = min_score if min_score > 0.0 else _BELOW_ALL
        return np.asarray((self.low < cut) & (cut <= self.high))


def fit_pairs(
    pairs: Candidates, ground_truth: FloatArray, prediction: FloatArray, group: IntArray, fit: Overlap | None = None
) -> FittedPairs:
    """Return pairs in the order of `FittedPairs` with how they fit; they serve any number of matchings.

    The pairs come in (prediction, ground truth) order; `group` is int64, shape (G,), of the ground truth; `fit` is
    given where it is not that of the boxes (outlines).
    """
    alone = alone_pairs(pairs, len(ground_truth), len(prediction))
    # Stable: equal IoU keep the (prediction, ground truth) order of the candidates.
    contested = np.flatnonzero(~alone)
    contested = contested[order_by([-pairs.iou[contested]])]
    order = order_by([group[pairs.ground_truth], -pairs.iou])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    predicted, truth = pairs.prediction[order], pairs.ground_truth[order]
    fitted = overlap(ground_truth[truth], prediction[predicted]) if fit is None else [column[order] for column in fit]
    return FittedPairs(
        columns=Matches(predicted, truth, *fitted),
        alone=alone[order],
        contested=place[contested],
    )


def greedy_rows(pairs: Candidates, truths: int, predictions: int, rank: IntArray | None = None) -> IntArray:
    """Return rows of the candidates that the sequential greedy takes, int64, in no particular order.

    The candidates are in (prediction, ground truth) order; `truths` and `predictions` count the boxes of each side. The
    greedy goes by falling IoU, with `rank`, int64, shape (predictions,), by rising rank of the predictions first.
    """
    alone = alone_pairs(pairs, truths, predictions)
    contested = np.flatnonzero(~alone)
    keys = [-pairs.iou[contested]] if rank is None else [-pairs.iou[contested], rank[pairs.prediction[contested]]]
    # Stable: equal IoU keep the (prediction, ground truth) order of the candidates.
    rows = contested[np.lexsort(keys)]
    settled = rows[_settled(pairs.ground_truth[rows], pairs.prediction[rows], truths, predictions)]
    return np.concatenate([np.flatnonzero(alone), settled])


def alone_pairs(pairs: Candidates, truths: int, predictions: int) -> BoolArray:
    """Return whether neither box of a pair is in another pair, bool, shape (K,)."""
    per_truth = np.bincount(pairs.ground_truth, minlength=truths)
    per_prediction = np.bincount(pairs.prediction, minlength=predictions)
    alone: BoolArray = (per_truth[pairs.ground_truth] == 1) & (per_prediction[pairs.prediction] == 1)
    return alone


def _settled(truth: IntArray, predicted: IntArray, truths: int, predictions: int) -> IntArray:
    """Return places of the pairs that the sequential greedy takes, int64; the pairs come in its order.

    A pair that is the first of both its boxes is taken, whatever else happens. All such pairs are taken at once, their
    boxes leave, and the rest is looked at again.
    """
    chosen = [np.empty(0, dtype=np.int64)]
    open_rows = np.arange(len(truth))
    free_truth, free_prediction = np.ones(truths, dtype=bool), np.ones(predictions, dtype=bool)
    best_truth, best_prediction = np.empty(truths, dtype=np.int64), np.empty(predictions, dtype=np.int64)
    while len(open_rows):
        truth_here, predicted_here = truth[open_rows], predicted[open_rows]
        rank = np.arange(len(open_rows))
        # Written backwards, so that the best rank of each box is what remains.
        best_truth[truth_here[::-1]] = rank[::-1]
        best_prediction[predicted_here[::-1]] = rank[::-1]
        mutual = (best_truth[truth_here] == rank) & (best_prediction[predicted_here] == rank)
        chosen.append(open_rows[mutual])
        free_truth[truth_here[mutual]] = False
        free_prediction[predicted_here[mutual]] = False
        still_open = free_truth[truth_here] & free_prediction[predicted_here]
        settled = len(open_rows) - int(still_open.sum())
        open_rows, before = open_rows[still_open], len(open_rows)
        if len(open_rows) and settled < before * _WORTHWHILE_SHARE:
            chosen.append(open_rows[_greedy_on_heap(truth[open_rows], predicted[open_rows], free_truth)])
            break
    return np.concatenate(chosen)


def _without_lowest(
    truth: IntArray, predicted: IntArray, taken: IntArray, score: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return above which cut and up to which each pair matches, while the lowest scores leave one by one."""
    low, high = np.full(len(truth), np.inf), np.full(len(truth), -np.inf)
    low[taken] = -np.inf
    # The pairs that each prediction holds, by place: what is lower is better.
    gone, nobody = -1, len(truth)
    holds = np.full(len(score), nobody)
    holds[predicted[taken]] = taken
    by_truth = np.argsort(truth, kind="stable")
    following = np.full(len(truth), gone)
    next_of_same = np.flatnonzero(truth[by_truth[1:]] == truth[by_truth[:-1]])
    following[by_truth[next_of_same]] = by_truth[next_of_same + 1]
    leaving = np.argsort(score, kind="stable")[: np.count_nonzero(score < np.inf)]
    # One number at a time, a view of memory is twice as fast as an array.
    numbers: list[memoryview[Any]] = [each.data for each in (holds, following, predicted, low, high)]
    holds_, following_, predicted_, low_, high_ = numbers
    for prediction, cut in zip(leaving.tolist(), score[leaving].tolist(), strict=True):
        place, holds_[prediction] = holds_[prediction], gone
        while place != nobody:
            high_[place] = cut
            place = following_[place]
            while place != gone and place > holds_[predicted_[place]]:
                place = following_[place]
            if place == gone:
                break
            low_[place], other = cut, predicted_[place]
            place, holds_[other] = holds_[other], place
    high[holds[(holds != gone) & (holds != nobody)]] = np.inf
    return low, high


def _greedy_on_heap(truth: IntArray, predicted: IntArray, free_truth: BoolArray) -> IntArray:
    """Return places of what the sequential greedy takes, int64; the pairs come in its order."""
    # Each prediction waits with its best ground truth that was free, and looks again when that is gone.
    by_prediction = np.argsort(predicted, kind="stable")
    starts = np.flatnonzero(np.diff(predicted[by_prediction], prepend=-1))
    stops = np.append(starts[1:], len(predicted))
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
    return np.array(taken, dtype=np.int64)
