"""COCO precision-recall curves of every size, label and IoU threshold, kept so that a score threshold cuts them short.

Owns the arithmetic between the matching in ``coco_matching`` and the numbers in ``coco``. Predictions are sorted by
place: by label, then by falling score, so that a score threshold keeps the first of each label. Who matches, and the
rank of every true positive, do not depend on what comes behind: both are found once. Only the last stretch of a curve
between two points of the recall grid changes with the cut.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.average_precision import RECALL_101, best_between, first_reaching
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.protocols.coco.matching import HIGHEST_IOU, MOST_DETECTIONS, Accepted, Matching, Pairs, within
from evaluator.system.threads import in_threads

# Detections of one page and label, best first.
MAX_DETECTIONS: Final = (1, 10, MOST_DETECTIONS)

StepArray = npt.NDArray[np.int16]
RankArray = npt.NDArray[np.int32]


class Columns(NamedTuple):
    """Average precision and recall per size, IoU threshold and label; NaN where a label has no ground truth.

    Attributes
    ----------
    precision, recall : dict of float64, shape (T, L)
        By the name of the size; with at most 100 predictions per page and label. Only sizes that are known.
    recall_at : dict of float64, shape (T, L)
        By the number of predictions per page and label, over all sizes.
    """

    precision: dict[str, FloatArray]
    recall: dict[str, FloatArray]
    recall_at: dict[int, FloatArray]


def average(matching: Matching, iou: Sequence[float]) -> Columns:
    """Average precision and recall of a matching, for every size, threshold and label of ``matching.labels``.

    `iou` rises, and is at or above its floor.
    """
    pairs, dataset = matching.pairs, matching.dataset
    curves: dict[str, list[LabelCurves]] | None = pairs.kept.get(tuple(iou))
    if curves is None:
        curves = pairs.kept[tuple(iou)] = _curves(pairs, iou)
    codes = [dataset.labels.index(label) for label in matching.labels]
    kept = [_kept(matching, code) for code in codes]
    # Sizes, labels, (precision, recall at each limit), thresholds.
    answers = np.empty((len(pairs.sizes), len(codes), 1 + len(MAX_DETECTIONS), len(iou)))
    for row, size in enumerate(pairs.sizes):
        for column, (code, first) in enumerate(zip(codes, kept, strict=True)):
            answers[row, column] = curves[size][code].averages(first)
    return Columns(
        precision={size: answers[row, :, 0].T for row, size in enumerate(pairs.sizes)},
        recall={size: answers[row, :, -1].T for row, size in enumerate(pairs.sizes)},
        recall_at={most: answers[0, :, 1 + row].T for row, most in enumerate(MAX_DETECTIONS)},
    )


def _kept(matching: Matching, code: int) -> int:
    """How many predictions of a label, best first, pass the score threshold."""
    pairs = matching.pairs
    span = _span(pairs, code)
    if matching.min_score <= 0.0:
        return int(span.stop - span.start)
    score, order = matching.prediction.score, pairs.order
    # By halves, because a whole column would have to be gathered first.
    places = range(span.start, span.stop)
    return bisect_left(places, True, key=lambda at: bool(score[order[at]] < matching.min_score))


def _span(pairs: Pairs, code: int) -> slice:
    """Places of the predictions of a label."""
    return slice(int(pairs.label_bounds[code]), int(pairs.label_bounds[code + 1]))


def _curves(pairs: Pairs, iou: Sequence[float]) -> dict[str, list[LabelCurves]]:
    """The curves of every size, by the code of the label."""
    curves = {}
    for size, matched in matched_by_size(pairs, iou):
        jobs = [
            _Label(matched, pairs.before, int(positives), len(iou), _span(pairs, code), size == "all")
            for code, positives in enumerate(matched.positives.tolist())
        ]
        curves[size] = list(in_threads(_Label.curves, jobs, rows=len(pairs.order)))
    return curves


class Matched(NamedTuple):
    """What matched in one range of sizes.

    Attributes
    ----------
    pairs : tuple of MatchedPairs
        The matched pairs, with ground truth that counts and with ground truth that does not.
    ignored : bool, shape (G,)
        Which rows of `Pairs.truth_row` do not count.
    inside : bool, shape (Q,)
        Which predictions, by place, are of the size.
    positives : int64, shape (L,)
        Ground truth that counts, by label.
    """

    pairs: tuple[MatchedPairs, ...]
    ignored: BoolArray
    inside: BoolArray
    positives: IntArray


def matched_by_size(pairs: Pairs, iou: Sequence[float]) -> Iterator[tuple[str, Matched]]:
    """What matched at each of several IoU thresholds, rising, for every size that is known."""
    dataset = pairs.dataset
    unrivalled = _unrivalled(pairs, iou)
    settled = _by_place(pairs, pairs.accept(pairs.preference, iou))
    for size in pairs.sizes:
        ignored = pairs.ignored(size)
        truth_label = dataset.ground_truth.label[pairs.truth_row[~ignored]]
        contested = settled if size == "all" else _settled_again(pairs, settled, ignored, iou)
        yield (
            size,
            Matched(
                pairs=(unrivalled, _rivals(pairs, contested)),
                ignored=ignored,
                inside=_inside(pairs, size),
                positives=np.bincount(truth_label, minlength=len(dataset.labels)),
            ),
        )


class MatchedPairs(NamedTuple):
    """Matched pairs by rising place: they match at the thresholds from index ``first`` to before ``last``."""

    place: IntArray
    truth: IntArray
    first: StepArray
    last: StepArray

    def take(self, rows: IntArray | BoolArray | slice) -> MatchedPairs:
        """Some of the pairs."""
        return MatchedPairs(self.place[rows], self.truth[rows], self.first[rows], self.last[rows])

    def between(self, span: slice) -> MatchedPairs:
        """Those whose place is in a span, counted from its start."""
        start, stop = np.searchsorted(self.place, [span.start, span.stop])
        part = self.take(slice(start, stop))
        return part._replace(place=part.place - span.start)

    def before(self, place: int) -> MatchedPairs:
        """Those whose place is below a place."""
        return self.take(slice(int(np.searchsorted(self.place, place))))

    def narrow(self) -> MatchedPairs:
        """The same in fewer bytes, without the ground truth."""
        return self._replace(place=self.place.astype(np.int32), truth=np.empty(0, dtype=np.int64))

    def at(self, step: int) -> BoolArray:
        """Which pairs match at a threshold."""
        return np.asarray((self.first <= step) & (step < self.last))

    def counted(self, size: int) -> IntArray:
        """How many pairs match at each of the thresholds."""
        begin = np.bincount(self.first, minlength=size + 1)
        end = np.bincount(self.last, minlength=size + 1)
        return np.cumsum(begin - end)[:size]


class LabelCurves(NamedTuple):
    """The curves of one label and size at T thresholds.

    Attributes
    ----------
    positives : int
        Ground truth that counts.
    rank : sequence of int32, length T
        Ranks of the true positives, rising.
    best : sequence of float64, length T
        Best precision in each stretch between two points of the recall grid that are reached.
    first : int64, shape (R,)
        Index of the first true positive of each grid point.
    true_positives : sequence of MatchedPairs
        The true positives among the best predictions of each page, for each limit, or for the last limit alone;
        places count from the label's first.
    """

    positives: int
    rank: Sequence[RankArray]
    best: Sequence[FloatArray]
    first: IntArray
    true_positives: Sequence[Sequence[MatchedPairs]]

    def averages(self, kept: int) -> FloatArray:
        """Average precision, and recall at each limit, of the first predictions alone; float64, shape (1 + M, T)."""
        answer = np.full((1 + len(MAX_DETECTIONS), len(self.rank)), np.nan)
        if not self.positives:
            return answer
        count = np.zeros(len(self.rank), dtype=np.int64)
        for row, parts in enumerate(self.true_positives, len(answer) - len(self.true_positives)):
            count = np.sum([part.before(kept).counted(len(self.rank)) for part in parts], axis=0)
            answer[row] = count / self.positives
        interpolated = np.zeros((len(self.rank), len(self.first)))
        reached = np.searchsorted(self.first, count).tolist()
        for step, (true_positives, points) in enumerate(zip(count.tolist(), reached, strict=True)):
            if points:
                interpolated[step, :points] = self._best(step, true_positives, points)
        interpolated = np.maximum.accumulate(interpolated[:, ::-1], axis=1)[:, ::-1]
        answer[0] = np.ascontiguousarray(interpolated).mean(axis=1)
        return answer

    def _best(self, step: int, true_positives: int, points: int) -> FloatArray:
        """Best precision of the stretches that some of the true positives reach."""
        best = self.best[step][:points]
        if true_positives == len(self.rank[step]):
            return best
        last = int(self.first[points - 1])
        rank = self.rank[step][last:true_positives]
        return np.append(best[:-1], best_between(rank, np.zeros(1, dtype=np.int64), before=last))


class _Label(NamedTuple):
    """What the curves of one label and size are made of; the columns are those of all labels, ``span`` its places."""

    matched: Matched
    before: IntArray
    positives: int
    thresholds: int
    span: slice
    every_limit: bool

    def curves(self) -> LabelCurves:
        """The ranks of the true positives, and what can be known of them before any cut."""
        if not self.positives:
            nothing = [np.empty(0, dtype=np.int32)] * self.thresholds
            return LabelCurves(0, nothing, [], np.empty(0, dtype=np.int64), [])
        first = first_reaching(RECALL_101, self.positives)
        chosen = [part.between(self.span) for part in self.matched.pairs]
        before = self.before[self.span]
        kept = [part.take(~self.matched.ignored[part.truth]) for part in chosen]
        limits = MAX_DETECTIONS[:-1] if self.every_limit else ()
        limited = [[part.take(before[part.place] < most) for part in kept] for most in limits]
        rank = self._ranks(chosen, kept)
        best = [best_between(row, first[: np.searchsorted(first, len(row))]) for row in rank]
        narrow = [[part.narrow() for part in parts] for parts in (*limited, kept)]
        return LabelCurves(self.positives, rank, best, first, narrow)

    def _ranks(self, chosen: Sequence[MatchedPairs], kept: Sequence[MatchedPairs]) -> list[RankArray]:
        """Ranks of the true positives at each threshold."""
        inside = self.matched.inside[self.span]
        of_size = np.cumsum(inside, dtype=np.int64)
        moved, by = self._moved(chosen, inside)
        ranks = []
        for step in range(self.thresholds):
            alone, rivals = (part.place[part.at(step)] for part in kept)
            place = np.insert(alone, np.searchsorted(alone, rivals), rivals) if len(rivals) else alone
            rank = of_size[place]
            if len(by):
                now = moved.at(step)
                shift = np.zeros(len(place) + 1, dtype=np.int64)
                np.add.at(shift, np.searchsorted(place, moved.place[now]), by[now])
                rank += np.cumsum(shift[:-1])
            # A file has fewer boxes than fit 31 bits.
            ranks.append(rank.astype(np.int32))
        return ranks

    def _moved(self, chosen: Sequence[MatchedPairs], inside: BoolArray) -> tuple[MatchedPairs, IntArray]:
        """Pairs by which more (1) or fewer (-1) predictions count than those of the size.

        A prediction of another size counts when it matched ground truth that counts, and one of the size does not
        when it matched ground truth that is ignored.
        """
        every = MatchedPairs(*(np.concatenate(columns) for columns in zip(*chosen, strict=True)))
        kept = ~self.matched.ignored[every.truth]
        rows = np.flatnonzero(kept != inside[every.place])
        return every.take(rows), np.where(kept[rows], 1, -1)


def _unrivalled(pairs: Pairs, iou: Sequence[float]) -> MatchedPairs:
    """The candidates for which no other competes: they match at every threshold up to their IoU."""
    alone = np.flatnonzero(~pairs.contested)
    place = pairs.queue.place[pairs.candidates.prediction[alone]]
    order = np.argsort(place)
    alone = alone[order]
    thresholds = np.minimum(np.asarray(iou, dtype=np.float64), HIGHEST_IOU)
    last = np.searchsorted(thresholds, pairs.candidates.iou[alone], side="right").astype(np.int16)
    return MatchedPairs(place[order], pairs.candidates.ground_truth[alone], np.zeros_like(last), last)


def _by_place(pairs: Pairs, settled: Accepted) -> Accepted:
    """The same by rising place of the prediction."""
    order = np.argsort(pairs.queue.place[pairs.candidates.prediction[settled.pair]])
    return Accepted(settled.pair[order], settled.threshold[order])


def _rivals(pairs: Pairs, settled: Accepted) -> MatchedPairs:
    """What was accepted of the contested candidates."""
    place = pairs.queue.place[pairs.candidates.prediction[settled.pair]]
    # Sorted already but for what was settled again: a stable sort merges such runs.
    order = np.argsort(place, kind="stable")
    first = settled.threshold[order].astype(np.int16)
    return MatchedPairs(place[order], pairs.candidates.ground_truth[settled.pair[order]], first, first + np.int16(1))


def _settled_again(pairs: Pairs, settled: Accepted, ignored: BoolArray, iou: Sequence[float]) -> Accepted:
    """What is accepted when other ground truth is ignored than in the range of all sizes.

    Only where a prediction now prefers differently: where some but not all of its candidates are ignored, in one of
    the two ranges, and not the same ones. All of such a page and label is settled again.
    """
    rows = pairs.preference
    if not len(rows):
        return settled
    truth, prediction = pairs.candidates.ground_truth[rows], pairs.candidates.prediction[rows]
    starts = np.flatnonzero(np.diff(prediction, prepend=-1))
    now, before = ignored[truth], pairs.ignored("all")[truth]
    same = np.logical_and.reduceat(now == before, starts)
    mixed = [np.logical_or.reduceat(one, starts) & ~np.logical_and.reduceat(one, starts) for one in (now, before)]
    group = pairs.queue.group[prediction]
    touched = np.isin(group, group[starts][(mixed[0] | mixed[1]) & ~same])
    if not touched.any():
        return settled
    again = pairs.accept(pairs.preferred(rows[touched], ignored), iou)
    anew = np.zeros(len(pairs.contested), dtype=bool)
    anew[rows[touched]] = True
    stays = ~anew[settled.pair]
    return Accepted(
        np.concatenate([settled.pair[stays], again.pair]),
        np.concatenate([settled.threshold[stays], again.threshold]),
    )


def _inside(pairs: Pairs, size: str) -> BoolArray:
    """Which predictions, by place, are of the size."""
    if pairs.prediction_area is None:
        return np.ones(len(pairs.order), dtype=bool)
    return within(pairs.prediction_area, size)
