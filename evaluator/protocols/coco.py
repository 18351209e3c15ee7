"""COCO detection: average precision and recall over IoU thresholds, box sizes and numbers of detections.

Owns the twelve numbers and those of each label, from the matching in ``coco_matching`` and the arithmetic in
``average_precision``. The numbers are those of pycocotools 2.0 (``COCOeval`` with ``iouType="bbox"``) to the last
digits, ties included; its -1 is undefined here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.average_precision import average_precision
from evaluator.box_results import ALL_LABELS
from evaluator.boxes import BoolArray, FloatArray, IntArray
from evaluator.dataset import Annotations, join
from evaluator.error_types import BoxColumns, TideErrors, tide
from evaluator.errors import BadInput, Collector
from evaluator.protocols.coco_matching import (
    AREA_RANGES,
    HIGHEST_IOU,
    IOU_FLOOR,
    MOST_DETECTIONS,
    NAME,
    VERSION,
    Accepted,
    Matching,
    Pairs,
    ThresholdResult,
    in_threads,
    pair,
    within,
)
from evaluator.results import ResultTable, Signature, defined

__all__ = [
    "ALL_LABELS", "AREA_RANGES", "IOU_FLOOR", "IOU_THRESHOLDS", "MAX_DETECTIONS", "NAME", "NUMBERS", "VERSION",
    "CocoResult", "Columns", "Matching", "Pairs", "ThresholdResult", "average", "evaluate", "pair",
]  # fmt: skip

IOU_THRESHOLDS: Final = tuple(np.linspace(IOU_FLOOR, 0.95, 10).tolist())
# Detections of one page and label, best first.
MAX_DETECTIONS: Final = (1, 10, MOST_DETECTIONS)
NUMBERS: Final = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")

StepArray = npt.NDArray[np.int16]


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


@dataclass(frozen=True, eq=False)
class CocoResult:
    """The evaluation of one model under the protocol.

    Attributes
    ----------
    matching : Matching
    thresholds : dict of ThresholdResult
        By IoU threshold, rising.
    columns : Columns
        Rows of ``thresholds``, columns of ``matching.labels``.
    """

    matching: Matching
    thresholds: dict[float, ThresholdResult]
    columns: Columns

    @property
    def signature(self) -> Signature:
        """What made these numbers."""
        return self.matching.signature(*self.thresholds)

    @cached_property
    def numbers(self) -> dict[str, float | None]:
        """The twelve numbers by their COCO names; None where undefined."""
        return self._numbers(slice(None))

    @cached_property
    def per_label(self) -> dict[str, dict[str, float | None]]:
        """The twelve numbers of each label; None where undefined."""
        return {label: self._numbers(slice(row, row + 1)) for row, label in enumerate(self.matching.labels)}

    @cached_property
    def error_types(self) -> TideErrors | None:
        """The six TIDE types at IoU 0.5 and what each costs in AP; None without scores, or with crowd regions.

        Notes
        -----
        See `evaluator.error_types.tide`. A crowd region stands for objects that nobody drew, so an error near it has
        no type of its own.
        """
        matching = self.matching
        truth, prediction = matching.dataset.ground_truth, matching.prediction
        crowd = truth.source.boxes.crowd
        rows = np.flatnonzero(matching.prediction_counts)
        score = prediction.score[rows]
        if (crowd is not None and crowd.any()) or np.isnan(score).any():
            return None
        truths = np.flatnonzero(matching.truth_counts)
        return tide(
            BoxColumns(truth.xyxy[truths], truth.label[truths], truth.page[truths]),
            BoxColumns(prediction.xyxy[rows], prediction.label[rows], prediction.page[rows], score),
        )

    def to_json(self) -> dict[str, Any]:
        """The result as plain values under the keys of the terminal contract.

        Returns
        -------
        dict
            ``protocol``, ``signature``, ``ground_truth``, ``predictions``, ``findings``, the twelve numbers,
            ``per_class`` with the same numbers for each label, ``error_types`` and ``documents_only_in``. Undefined is
            None.
        """
        dataset = self.matching.dataset
        truth, prediction = dataset.ground_truth.source, self.matching.prediction.source
        only_in = dataset.documents_only_in(self.matching.model)
        return {
            "protocol": NAME,
            "signature": self.signature.line,
            "ground_truth": {"name": truth.name, "sha256": truth.sha256},
            "predictions": {"name": prediction.name, "sha256": prediction.sha256},
            "findings": [],
            "labels": list(self.matching.labels),
            **self.numbers,
            "per_class": self.per_label,
            "error_types": None if self.error_types is None else self.error_types.to_json(),
            "documents_only_in": {
                "ground_truth": list(only_in["ground_truth"]),
                "predictions": list(only_in["prediction"]),
            },
        }

    def table(self) -> ResultTable:
        """One row per label, the mean over labels first.

        Returns
        -------
        ResultTable
            Columns ``label`` and the twelve numbers.
        """
        rows = [(ALL_LABELS, *self.numbers.values())]
        rows += [(label, *numbers.values()) for label, numbers in self.per_label.items()]
        return ResultTable(
            title=self.matching.prediction.source.name,
            signature=self.signature.line,
            columns=("label", *NUMBERS),
            rows=tuple(rows),
        )

    def _numbers(self, labels: slice) -> dict[str, float | None]:
        """The twelve numbers over some of the labels."""
        columns, iou = self.columns, list(self.thresholds)
        nothing = np.empty((0, 0))

        def mean(values: FloatArray, threshold: float | None = None) -> float | None:
            if threshold is not None:
                values = values[[row for row, value in enumerate(iou) if value == threshold]]
            known = values[:, labels][~np.isnan(values[:, labels])] if values.size else nothing
            return defined(known.mean()) if known.size else None

        everything = columns.precision["all"]
        found = {"AP": mean(everything), "AP50": mean(everything, 0.5), "AP75": mean(everything, 0.75)}
        for size in ("small", "medium", "large"):
            found[f"AP{size[0]}"] = mean(columns.precision.get(size, nothing))
        for most in MAX_DETECTIONS:
            found[f"AR{most}"] = mean(columns.recall_at[most])
        for size in ("small", "medium", "large"):
            found[f"AR{size[0]}"] = mean(columns.recall.get(size, nothing))
        return found


def evaluate(
    ground_truth: Annotations,
    prediction: Annotations,
    *,
    iou: Sequence[float] = IOU_THRESHOLDS,
    min_score: float = 0.0,
    min_area: float = 0.0,
    labels: Sequence[str] | None = None,
) -> CocoResult:
    """The result of one prediction file against one ground truth.

    Parameters
    ----------
    ground_truth, prediction : Annotations
        As read by ``readers.read``; a results list after ``readers.coco.resolve``.
    iou : sequence of float
        Thresholds in (0, 1]; a pair matches at IoU >= threshold.
    min_score, min_area, labels
        See `Pairs.match`.

    Returns
    -------
    CocoResult

    Raises
    ------
    BadInput
        When a prediction has no score, the units differ, or a results list does not know its pages yet.
    ValueError
        When no threshold is given, one is out of range, a label is unknown, or the page sizes are needed.

    Notes
    -----
    pycocotools 2.0, ``COCOeval``: greedy by score for each image, label and threshold, 101-point interpolated
    precision, means over thresholds and then labels that have ground truth.
    """
    if not iou:
        raise ValueError("at least one IoU threshold is needed")
    _require_comparable(ground_truth, prediction)
    rising = sorted(set(map(float, iou)))
    matching = pair(join(ground_truth, prediction), iou_floor=rising[0], min_area=min_area).match(
        min_score=min_score, min_area=min_area, labels=labels
    )
    thresholds = {threshold: matching.at(threshold) for threshold in rising}
    return CocoResult(matching=matching, thresholds=thresholds, columns=average(matching, rising))


def average(matching: Matching, iou: Sequence[float]) -> Columns:
    """Average precision and recall of a matching, for every size and label.

    Parameters
    ----------
    matching : Matching
    iou : sequence of float
        Rising, at or above its floor.

    Returns
    -------
    Columns
        T thresholds by L labels of ``matching.labels``.
    """
    pairs, dataset = matching.pairs, matching.dataset
    codes = [dataset.labels.index(label) for label in matching.labels]
    spans = _spans(matching, codes)
    unrivalled = _unrivalled(pairs, iou)
    settled = _by_place(pairs, pairs.accept(pairs.preference, iou))
    # Sizes, labels, (precision, recall at each limit), thresholds.
    answers = np.empty((len(pairs.sizes), len(codes), 1 + len(MAX_DETECTIONS), len(iou)))
    for row, size in enumerate(pairs.sizes):
        ignored = pairs.ignored(size)
        truth_label = dataset.ground_truth.label[pairs.truth_row[~ignored]]
        positives = np.bincount(truth_label, minlength=len(dataset.labels))
        contested = settled if size == "all" else _settled_again(pairs, settled, ignored, iou)
        found = unrivalled, _rivals(pairs, contested)
        inside = _inside(pairs, size)
        jobs = [
            _Curves(found, ignored, inside, pairs.before, int(positives[code]), len(iou), span)
            for code, span in zip(codes, spans, strict=True)
        ]
        for column, averages in enumerate(in_threads(_Curves.averages, jobs)):
            answers[row, column] = averages
    return Columns(
        precision={size: answers[row, :, 0].T for row, size in enumerate(pairs.sizes)},
        recall={size: answers[row, :, -1].T for row, size in enumerate(pairs.sizes)},
        recall_at={most: answers[0, :, 1 + row].T for row, most in enumerate(MAX_DETECTIONS)},
    )


class _Found(NamedTuple):
    """Matched pairs by rising place: they match at the thresholds from index ``first`` to before ``last``."""

    place: IntArray
    truth: IntArray
    first: StepArray
    last: StepArray

    def take(self, rows: IntArray | BoolArray | slice) -> _Found:
        """Some of the pairs."""
        return _Found(self.place[rows], self.truth[rows], self.first[rows], self.last[rows])

    def between(self, span: slice) -> _Found:
        """Those whose place is in a span, counted from its start."""
        start, stop = np.searchsorted(self.place, [span.start, span.stop])
        found = self.take(slice(start, stop))
        return found._replace(place=found.place - span.start)

    def at(self, step: int) -> BoolArray:
        """Which pairs match at a threshold."""
        return np.asarray((self.first <= step) & (step < self.last))

    def counted(self, size: int) -> IntArray:
        """How many pairs match at each of the thresholds."""
        begin = np.bincount(self.first, minlength=size + 1)
        end = np.bincount(self.last, minlength=size + 1)
        return np.cumsum(begin - end)[:size]


class _Curves(NamedTuple):
    """The curves of one label and size: what is matched, what counts, how much there is to find, and where it stands.

    The columns are those of all labels; ``span`` are the places of this one.
    """

    found: tuple[_Found, ...]
    ignored: BoolArray
    inside: BoolArray
    before: IntArray
    positives: int
    thresholds: int
    span: slice

    def averages(self) -> FloatArray:
        """Average precision, and recall at each limit of predictions, shape (1 + M, T)."""
        answer = np.full((1 + len(MAX_DETECTIONS), self.thresholds), np.nan)
        if not self.positives:
            return answer
        found = [part.between(self.span) for part in self.found]
        inside, before = self.inside[self.span], self.before[self.span]
        kept = [part.take(~self.ignored[part.truth]) for part in found]
        for row, most in enumerate(MAX_DETECTIONS, 1):
            within = [part.take(before[part.place] < most) for part in kept]
            answer[row] = sum(part.counted(self.thresholds) for part in within) / self.positives
        of_size = np.cumsum(inside, dtype=np.int64)
        moved, by = self._moved(found, inside)
        for step in range(self.thresholds):
            alone, rivals = (part.place[part.at(step)] for part in kept)
            place = np.insert(alone, np.searchsorted(alone, rivals), rivals) if len(rivals) else alone
            rank = of_size[place]
            if len(by):
                now = moved.at(step)
                shift = np.zeros(len(place) + 1, dtype=np.int64)
                np.add.at(shift, np.searchsorted(place, moved.place[now]), by[now])
                rank += np.cumsum(shift[:-1])
            answer[0, step] = average_precision(rank, self.positives)
        return answer

    def _moved(self, found: Sequence[_Found], inside: BoolArray) -> tuple[_Found, IntArray]:
        """Pairs by which more (1) or fewer (-1) predictions count than those of the size.

        A prediction of another size counts when it matched ground truth that counts, and one of the size does not
        when it matched ground truth that is ignored.
        """
        every = _Found(*(np.concatenate(columns) for columns in zip(*found, strict=True)))
        kept = ~self.ignored[every.truth]
        rows = np.flatnonzero(kept != inside[every.place])
        return every.take(rows), np.where(kept[rows], 1, -1)


def _spans(matching: Matching, codes: Sequence[int]) -> list[slice]:
    """Places of the predictions of each label, without those below the score threshold."""
    pairs = matching.pairs
    label = matching.prediction.label[pairs.order]
    spans = []
    for code in codes:
        start, stop = np.searchsorted(label, [code, code + 1]).tolist()
        if matching.min_score > 0.0:
            score = matching.prediction.score[pairs.order[start:stop]]
            stop = start + int(np.searchsorted(-score, -matching.min_score, side="right"))
        spans.append(slice(start, stop))
    return spans


def _unrivalled(pairs: Pairs, iou: Sequence[float]) -> _Found:
    """The candidates for which no other competes: they match at every threshold up to their IoU."""
    alone = np.flatnonzero(~pairs.contested)
    place = pairs.queue.place[pairs.candidates.prediction[alone]]
    order = np.argsort(place)
    alone = alone[order]
    thresholds = np.minimum(np.asarray(iou, dtype=np.float64), HIGHEST_IOU)
    last = np.searchsorted(thresholds, pairs.candidates.iou[alone], side="right").astype(np.int16)
    return _Found(place[order], pairs.candidates.ground_truth[alone], np.zeros_like(last), last)


def _by_place(pairs: Pairs, settled: Accepted) -> Accepted:
    """The same by rising place of the prediction."""
    order = np.argsort(pairs.queue.place[pairs.candidates.prediction[settled.pair]])
    return Accepted(settled.pair[order], settled.threshold[order])


def _rivals(pairs: Pairs, settled: Accepted) -> _Found:
    """What was accepted of the contested candidates."""
    place = pairs.queue.place[pairs.candidates.prediction[settled.pair]]
    # Sorted already but for what was settled again: a stable sort merges such runs.
    order = np.argsort(place, kind="stable")
    first = settled.threshold[order].astype(np.int16)
    return _Found(place[order], pairs.candidates.ground_truth[settled.pair[order]], first, first + np.int16(1))


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


def _require_comparable(ground_truth: Annotations, prediction: Annotations) -> None:
    """Refuse files that cannot be compared by score or in one unit."""
    found = Collector(prediction.name, max_per_rule=None)
    without = int(np.isnan(prediction.boxes.score).sum())
    if without:
        rule = "average precision needs a score for every prediction (COCO)"
        found.error("", rule, f"{without:,} without", "Export the scores, or use a protocol that needs none.")
    if ground_truth.unit != prediction.unit:
        rule = f"boxes must be in the unit of {ground_truth.name}"
        found.error("", rule, f"{prediction.unit}, not {ground_truth.unit}", "Convert one of the files.")
    if prediction.format == NAME and ground_truth.label_map and not prediction.label_map:
        rule = "a results list must be read with its ground truth, which has the images and categories"
        found.error("", rule, "image and category ids", "Resolve it with readers.coco.resolve.")
    if found.failed:
        raise BadInput(found.findings())
