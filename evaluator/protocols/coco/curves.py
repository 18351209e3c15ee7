"""COCO precision-recall curves of every size, label and IoU threshold, and the partials behind them.

Owns `CocoPartial`, which adds up over pages, and the way from there to average precision and recall. Who matches on a
page depends on no other page and on no prediction with a lower score: a score threshold keeps the first predictions of
each label and changes only the last stretch of a curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray
from evaluator.metrics.average_precision import (
    RECALL_101,
    average_precision,
    best_between,
    descending_order,
    first_reaching,
)
from evaluator.metrics.tied_scores import TiedAverages, tied_averages
from evaluator.protocols.coco.matching import (
    AREA_RANGES,
    HIGHEST_IOU,
    MOST_DETECTIONS,
    Accepted,
    Matching,
    Pairs,
    within,
)
from evaluator.system.threads import in_threads

if TYPE_CHECKING:
    from evaluator.metrics.bootstrap_ap import Ranking

# Detections of one page and label, best first; the last is the limit of the pairs, whatever that is.
MAX_DETECTIONS: Final = (1, 10, MOST_DETECTIONS)
# Thresholds of a partial: a bit for each.
MOST_THRESHOLDS: Final = 64
# Where one stretch begins.
_WHOLE: Final = np.zeros(1, dtype=np.int64)

BitArray = npt.NDArray[np.unsignedinteger[Any]]
RowArray = npt.NDArray[np.int32]
K = TypeVar("K", str, int)


class Columns(NamedTuple):
    """Average precision and recall, float64, shape (T, L); NaN where a label has no ground truth.

    `precision` and `recall` are by the name of each known size, with 100 predictions per page and label; `recall_at`,
    over all sizes, by the number of predictions.
    """

    precision: dict[str, FloatArray]
    recall: dict[str, FloatArray]
    recall_at: dict[int, FloatArray]


class _OfLabel(NamedTuple):
    score: FloatArray
    document: RowArray
    before: BitArray
    true: BitArray
    counts: BitArray


@dataclass(frozen=True, eq=False)
class CocoPartial:
    """What matched on some pages: the predictions that count for any size at any of T IoU thresholds.

    Columns, shape (N,), are by (label, falling score, image id, file order). `document`: its code. `before`: how many
    of the same page and label are better. `true`, `counts`, shape (S, N): at which thresholds, as bits, it is a true
    positive of a size, or counts at all. `bounds`, shape (L + 1,), delimits labels; `positives`, shape (S, L), is the
    ground truth that counts; `truth_document`, shape (G,), that of each which counts over all sizes, by label.
    `thresholds`, shape (T,), rise; T is at most `MOST_THRESHOLDS`.
    """

    score: FloatArray
    document: RowArray
    before: BitArray
    true: BitArray
    counts: BitArray
    bounds: IntArray
    positives: IntArray
    truth_document: RowArray
    thresholds: tuple[float, ...]

    @classmethod
    def of(cls, pairs: Pairs, iou: Sequence[float], page_document: RowArray | None = None) -> CocoPartial:
        """Return what matched among all pairs at some IoU thresholds, which rise.

        `page_document` is the document of each page, where it is not that of the dataset.
        """
        dataset, truth = pairs.dataset, pairs.dataset.ground_truth
        page_document = dataset.page_document if page_document is None else page_document
        true, counts = np.stack([*_bits(pairs, iou)], axis=1)
        rows = np.flatnonzero(counts.any(axis=0))
        label, labels = truth.label[pairs.truth_row], len(dataset.labels)
        positives = np.stack([np.bincount(label[~pairs.ignored(size)], minlength=labels) for size in pairs.sizes])
        counted = np.flatnonzero(~pairs.ignored("all"))
        by_label = pairs.truth_row[counted[np.argsort(label[counted], kind="stable")]]
        return cls(
            score=pairs.ordered_score[rows],
            document=page_document[pairs.prediction.page[pairs.order[rows]]],
            before=pairs.before[rows].astype(np.min_scalar_type(pairs.max_detections)),
            true=true.take(rows, axis=1),
            counts=counts.take(rows, axis=1),
            bounds=np.searchsorted(rows, pairs.label_bounds),
            positives=positives,
            truth_document=page_document[truth.page[by_label]],
            thresholds=tuple(iou),
        )

    def kept(self, cells: BoolArray) -> CocoPartial:
        """Return what matched over all sizes on some pages and labels, bool, shape (D, L); its documents are pages."""
        of_row = np.repeat(np.arange(self.labels), np.diff(self.bounds))
        of_truth = np.repeat(np.arange(self.labels), self.positives[0])
        rows = np.flatnonzero(cells[self.document, of_row])
        truths = np.flatnonzero(cells[self.truth_document, of_truth])
        return replace(
            self,
            score=self.score[rows],
            document=self.document[rows],
            before=self.before[rows],
            true=self.true[:1, rows],
            counts=self.counts[:1, rows],
            bounds=np.searchsorted(rows, self.bounds),
            positives=np.bincount(of_truth[truths], minlength=self.labels)[None],
            truth_document=self.truth_document[truths],
        )

    def on_documents(self, page_document: RowArray) -> CocoPartial:
        """Return what matched where the column of documents has had pages, of which these are the documents."""
        return replace(self, document=page_document[self.document], truth_document=page_document[self.truth_document])

    @classmethod
    def merged(cls, parts: Sequence[CocoPartial]) -> CocoPartial:
        """Return what matched on the pages of all parts, which follow each other by image id."""
        first = parts[0]
        if len(parts) == 1 or not first.labels:
            return first

        def joined(code: int) -> list[AnyArray]:
            every = zip(*(part.of_label(code) for part in parts), strict=True)
            columns: list[AnyArray] = [np.concatenate(column, axis=-1) for column in every]
            # Equal scores keep the order of the parts.
            order = descending_order(columns[0])
            return [column.take(order, axis=-1) for column in columns]

        of_labels = zip(*in_threads(joined, range(first.labels)), strict=True)
        score, document, before, true, counts = (np.concatenate(column, axis=-1) for column in of_labels)
        bounds = np.sum([part.bounds for part in parts], axis=0)
        positives = np.sum([part.positives for part in parts], axis=0)
        truths = [part.truth_documents(code) for code in range(first.labels) for part in parts]
        return cls(score, document, before, true, counts, bounds, positives, np.concatenate(truths), first.thresholds)

    @property
    def labels(self) -> int:
        """L."""
        return len(self.bounds) - 1

    def of_label(self, code: int) -> _OfLabel:
        """Return the predictions of a label."""
        span = slice(*self.bounds[code : code + 2].tolist())
        columns = self.score[span], self.document[span], self.before[span]
        return _OfLabel(*columns, self.true[:, span], self.counts[:, span])

    def truth_documents(self, code: int) -> RowArray:
        """Return the document of each ground truth of a label that counts over all sizes."""
        end = int(self.positives[0, : code + 1].sum())
        return self.truth_document[end - int(self.positives[0, code]) : end]

    def rankings(self, codes: Sequence[int], documents: int, min_score: float = 0.0) -> Iterator[Ranking]:
        """Yield the ranking of some labels over all sizes, by threshold, then by label.

        Of the predictions from a score on; those of a label in which the same predictions count share their columns.
        """
        for at_step in zip(*(self._rankings_of(code, documents, min_score) for code in codes), strict=True):
            yield from at_step

    def _rankings_of(self, code: int, documents: int, min_score: float) -> Iterator[Ranking]:
        from evaluator.metrics.bootstrap_ap import Ranking  # the numbers need none

        score, document, _, true, counts = self.of_label(code)
        kept = reaching(score, min_score)
        positives = np.bincount(self.truth_documents(code), minlength=documents)
        counted, of_counted = np.empty(0, dtype=bool), np.empty(0, dtype=np.int64)
        for step in range(len(self.thresholds)):
            at_step = _at(counts[0, :kept], step)
            if not step or not np.array_equal(at_step, counted):
                counted, of_counted = at_step, document[:kept][at_step].astype(np.int64)
            yield Ranking(of_counted, _at(true[0, :kept], step)[counted], positives)

    def per_document(self, documents: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield true positives, false positives and false negatives of each document, by threshold."""
        truth = np.bincount(self.truth_document, minlength=documents)
        for step in range(len(self.thresholds)):
            tp, predicted = (
                np.bincount(self.document[_at(bits[0], step)], minlength=documents) for bits in (self.true, self.counts)
            )
            yield tp, predicted - tp, truth - tp

    @property
    def f1(self) -> float | None:
        """F1 of all sizes and labels at the lowest threshold; None without any box."""
        hits, predicted, truth = self._matched
        return 2 * hits / (predicted + truth) if predicted + truth else None

    @property
    def recall(self) -> float | None:
        """Recall of all sizes and labels at the lowest threshold; None without ground truth."""
        hits, _, truth = self._matched
        return hits / truth if truth else None

    @cached_property
    def _matched(self) -> tuple[int, int, int]:
        """Return true positives, predictions and boxes of the ground truth, as in `f1`."""
        hits, predicted = (int(np.count_nonzero(_at(bits[0], 0))) for bits in (self.true, self.counts))
        return hits, predicted, int(self.positives[0].sum())


class Curves:
    """The curves behind a partial, kept so that a score threshold cuts them short; none without ground truth."""

    def __init__(self, partial: CocoPartial) -> None:
        self.partial = partial
        jobs = [*zip(*(of_axis.tolist() for of_axis in np.nonzero(partial.positives)), strict=True)]
        made = in_threads(lambda job: LabelCurves.of(partial, *job), jobs, rows=len(partial.score))
        self._curves = dict(zip(jobs, made, strict=True))

    def averages(self, codes: Sequence[int], min_score: float = 0.0) -> Columns:
        """Average precision and recall of some labels, of the predictions from a score on."""
        kept = [reaching(self.partial.of_label(code).score, min_score) for code in codes]
        by_size = {}
        for size, name in enumerate([*AREA_RANGES][: len(self.partial.positives)]):
            limits = MAX_DETECTIONS[-1:] if size else MAX_DETECTIONS
            by_size[name] = np.full((1 + len(limits), len(self.partial.thresholds), len(codes)), np.nan)
            for column, (code, first) in enumerate(zip(codes, kept, strict=True)):
                if (size, code) in self._curves:
                    by_size[name][..., column] = self._curves[size, code].averages(first, limits)
        return Columns(
            precision={name: values[0] for name, values in by_size.items()},
            recall={name: values[-1] for name, values in by_size.items()},
            recall_at=dict(zip(MAX_DETECTIONS, by_size["all"][1:], strict=True)),
        )


def reaching(score: FloatArray, min_score: float) -> int:
    """Return how many predictions, best first, pass a score threshold; 0 leaves none out, with whatever score."""
    return len(score) - int(np.searchsorted(score[::-1], min_score)) if min_score > 0.0 else len(score)


class LabelCurves(NamedTuple):
    """The curves of one label and size at T thresholds.

    `rows`, shape (M,), rising: the label's predictions that count at any threshold; `counts`: at which, as bits;
    `before`: how many of the same page and label are better. `hits`: true positives among them, rising, by threshold.
    `first`, shape (R,): the true positive that reaches each recall point. `rank`, `best`: by threshold, rank of the
    first true positive and best precision of each stretch between two reached points.
    """

    positives: int
    rows: RowArray
    before: BitArray
    counts: BitArray
    hits: Sequence[RowArray]
    first: IntArray
    rank: Sequence[IntArray]
    best: Sequence[FloatArray]

    @classmethod
    def of(cls, partial: CocoPartial, size: int, code: int) -> LabelCurves:
        """Return those of a size and a label, with all predictions."""
        of_label, positives = partial.of_label(code), int(partial.positives[size, code])
        counts = of_label.counts[size]
        rows = np.flatnonzero(counts)
        true, counts = of_label.true[size][rows], counts[rows]
        first = first_reaching(RECALL_101, positives)
        hits, rank, best = [], [], []
        for step in range(len(partial.thresholds)):
            of_step = np.flatnonzero(_at(true, step))
            ranks = np.cumsum(_at(counts, step), dtype=np.int64)[of_step]
            reached = first[: np.searchsorted(first, len(of_step))]
            hits.append(of_step.astype(np.int32))
            rank.append(ranks[reached])
            best.append(best_between(ranks, reached))
        return cls(positives, rows.astype(np.int32), of_label.before[rows], counts, hits, first, rank, best)

    def averages(self, kept: int, limits: Sequence[int]) -> FloatArray:
        """Average precision, and recall at each limit, of the first predictions; float64, shape (1 + M, T)."""
        answer = np.empty((1 + len(limits), len(self.hits)))
        interpolated = np.zeros((len(self.hits), len(self.first)))
        # Of the same type, because a column of another one would be copied first.
        last = np.int32(self.rows.searchsorted(np.int32(kept)))
        counts = [int(hits.searchsorted(last)) for hits in self.hits]
        for step, (count, points) in enumerate(zip(counts, self.first.searchsorted(counts).tolist(), strict=True)):
            answer[-1, step] = count
            if len(limits) > 1:
                near = self.before.take(self.hits[step][:count])
                answer[1:-1, step] = [np.count_nonzero(near < most) for most in limits[:-1]]
            interpolated[step, :points] = self.best[step][:points]
            if points and count < len(self.hits[step]):
                interpolated[step, points - 1] = self._best_before(step, count, points)
        interpolated = np.maximum.accumulate(interpolated[:, ::-1], axis=1)[:, ::-1]
        answer[0] = np.ascontiguousarray(interpolated).mean(axis=1)
        answer[1:] /= self.positives
        return answer

    def _best_before(self, step: int, count: int, points: int) -> float:
        """Best precision of the last of some stretches, cut behind so many true positives."""
        start = int(self.first[points - 1])
        hits = self.hits[step][start:count]
        counted = np.cumsum(_at(self.counts[hits[0] : hits[-1] + 1], step), dtype=np.int64)
        rank = counted[hits - hits[0]] + (self.rank[step][points - 1] - 1)
        return float(best_between(rank, _WHOLE, before=start)[0])


class TiedOrders(NamedTuple):
    """AP over all sizes in the best and the worst order of equal scores, float64, shape (T, L); NaN as in `Columns`.

    `tied` of the `predictions` are in a run that matters at any threshold.
    """

    best: FloatArray
    worst: FloatArray
    predictions: int
    tied: int


def tied_orders(
    parts: Sequence[CocoPartial], codes: Sequence[int], min_score: float, precision: FloatArray
) -> TiedOrders | None:
    """Return AP in both orders of equal scores of some labels; None where no order of them matters.

    `precision`: AP by threshold, in the order of the partials, and by label, of the predictions from a score on.
    """
    in_order, tied, predictions = np.stack([precision, precision]), 0, 0
    of_labels = in_threads(lambda code: _tied(parts, code, min_score), codes, rows=len(parts[0].score))
    for column, of_parts in enumerate(of_labels):
        if of_parts:
            moved = np.concatenate([part.averages for part in of_parts], axis=1)
            in_order[..., column] = np.where(np.isnan(moved), precision[:, column], moved)
            tied += max(part.tied for part in of_parts)
    if not tied:
        return None
    for code in codes:
        predictions += int(np.count_nonzero(_reaching(parts[0].of_label(code), min_score).counts[0]))
    return TiedOrders(in_order[0], in_order[1], predictions, tied)


def _tied(parts: Sequence[CocoPartial], code: int, min_score: float) -> list[TiedAverages]:
    """Return what equal scores of a label do at the thresholds of each part; empty where no two are equal."""
    answer = []
    for part in parts:
        label = _reaching(part.of_label(code), min_score)
        steps = ((_at(label.true[0], step), _at(label.counts[0], step)) for step in range(len(part.thresholds)))
        average = partial(average_precision, positives=int(part.positives[0, code]))
        answer.append(tied_averages(label.score, steps, average))
    return [each for each in answer if each is not None]


def _reaching(label: _OfLabel, min_score: float) -> _OfLabel:
    kept = reaching(label.score, min_score)
    score, document, before, true, counts = label
    return _OfLabel(score[:kept], document[:kept], before[:kept], true[:, :kept], counts[:, :kept])


def partials(pairs: Pairs, iou: Sequence[float], *, by_page: bool = False) -> list[CocoPartial]:
    """Return what matched at rising IoU thresholds from the floor of the pairs on, `MOST_THRESHOLDS` in each.

    `by_page`: with the page of each box in place of its document.
    """
    curves: list[Curves] | None = pairs.kept.get(tuple(iou))
    if curves is not None and not by_page:
        return [of_part.partial for of_part in curves]
    pages = np.arange(pairs.dataset.pages, dtype=np.int32) if by_page else None
    steps = range(0, len(iou), MOST_THRESHOLDS)
    return [CocoPartial.of(pairs, iou[at : at + MOST_THRESHOLDS], pages) for at in steps]


def average(matching: Matching, iou: Sequence[float]) -> Columns:
    """Return AP and recall for every size, label and IoU threshold, which rise from the matching's floor on."""
    pairs, codes = matching.pairs, matching.label_codes.tolist()
    curves: list[Curves] | None = pairs.kept.get(tuple(iou))
    if curves is None:
        curves = pairs.kept[tuple(iou)] = [*map(Curves, partials(pairs, iou))]
    return columns_of(curves, codes, matching.min_score)


def columns_of(curves: Sequence[Curves], codes: Sequence[int], min_score: float) -> Columns:
    """Return AP and recall of some labels from the curves of rising thresholds, of the predictions from a score on."""
    every = [part.averages(codes, min_score) for part in curves]
    if len(every) == 1:
        return every[0]

    def joined(columns: Sequence[Mapping[K, FloatArray]]) -> dict[K, FloatArray]:
        return {key: np.concatenate([column[key] for column in columns]) for key in columns[0]}

    precision, recall = joined([part.precision for part in every]), joined([part.recall for part in every])
    return Columns(precision, recall, joined([part.recall_at for part in every]))


def _bits(pairs: Pairs, iou: Sequence[float]) -> Iterator[tuple[BitArray, BitArray]]:
    """For every size at which thresholds each prediction, by place, is a true positive, and at which it counts."""
    before = [(1 << step) - 1 for step in range(len(iou) + 1)]
    below = np.array(before, dtype=np.min_scalar_type(before[-1]))
    candidates, place = pairs.candidates, pairs.queue.place[pairs.candidates.prediction]
    # A candidate for which no other competes matches at every threshold up to its IoU.
    alone = np.flatnonzero(~pairs.contested)
    thresholds = np.minimum(np.asarray(iou, dtype=np.float64), HIGHEST_IOU)
    reached = below.take(np.searchsorted(thresholds, candidates.iou[alone], side="right"))
    settled = pairs.accept(pairs.preference, iou)
    for size in pairs.sizes:
        ignored = pairs.ignored(size)
        accepted = settled if size == "all" else _settled_again(pairs, settled, ignored, iou)
        # All predictions twice: matched with ground truth that counts, and with ground truth that does not.
        matches = np.zeros(2 * len(pairs.order), dtype=below.dtype)
        at, again = (
            place[rows] + len(pairs.order) * ignored[candidates.ground_truth[rows]] for rows in (alone, accepted.pair)
        )
        matches[at] = reached
        # A prediction matches once at each threshold, so that a sum sets every bit once.
        np.add.at(matches, again, below.dtype.type(1) << accepted.threshold.astype(below.dtype))
        true, others = matches.reshape(2, -1)
        yield true, true | np.where(_inside(pairs, size), below[-1] & ~others, 0).astype(below.dtype)


def _at(bits: BitArray, step: int) -> BoolArray:
    """Return which have the bit of a threshold."""
    return np.asarray((bits & bits.dtype.type(1 << step)) != 0)


def _settled_again(pairs: Pairs, settled: Accepted, ignored: BoolArray, iou: Sequence[float]) -> Accepted:
    """Return what is accepted when other ground truth is ignored than in the range of all sizes."""
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
    if pairs.prediction_area is None:
        return np.ones(len(pairs.order), dtype=bool)
    return within(pairs.prediction_area, size)
