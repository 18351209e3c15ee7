"""Document Snapshot Detection, specification 1.3: greedy matching at an IoU threshold, micro-averaged.

Sections 5 to 8 of the specification; the rules of section 9 are in ``formats.snapshot``. Boxes are those of the
displayed page, normalised, origin top left. Where the public reference evaluator (World Bank ``data-snapshot``) and the
text differ, the text is followed; on files that satisfy section 9 the numbers are equal. The score never orders the
matching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.dataset import Annotations, Dataset
from evaluator.matching.box_results import (
    ALL_LABELS,
    SCORE_STEPS,
    WEIGHTED_MEAN,
    BoxMatching,
    BoxPairs,
    BoxResult,
    candidate_pairs,
    check_iou_threshold,
    counts_at_steps,
    macro_documents,
    macro_labels,
    page_and_label,
    passed_steps,
)
from evaluator.matching.error_types import DOCUMENT
from evaluator.matching.pairs import FittedPairs, Matches, ScoreIntervals, check_iou_floor, fit_pairs
from evaluator.metrics.exact_sums import ExactMeans
from evaluator.metrics.results import (
    JsonObject,
    MetricColumns,
    Metrics,
    ResultTable,
    ScoreCurve,
    Signature,
)
from evaluator.protocols.base import BoxEvaluation, join_pair, lowest_threshold
from evaluator.system.lru_cache import LRUCache

NAME: Final = "snapshot"
VERSION: Final = "1.3"
# Section 5.2: the default threshold and the optional stricter one.
IOU_THRESHOLDS: Final = (0.5, 0.75)
# A slider may go down to here without a new matching.
IOU_FLOOR: Final = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching(BoxMatching):
    """The matching of one model."""

    pairs: Pairs

    @cached_property
    def matched(self) -> BoolArray:
        """Return which of the pairs match at ``iou_floor``, bool, shape (K,)."""
        matched = self.pairs.score_intervals(self.min_area).at(self.min_score)
        if len(self.labels) < len(self.dataset.labels):
            matched &= self.truth_counts[self.pairs.fitted.columns.ground_truth]
        return matched

    def at(self, iou: float) -> ThresholdResult:
        """Return the result at one IoU threshold, which a pair has to reach."""
        return ThresholdResult(self, iou)

    def signature(self, *iou: float, class_weight: Mapping[str, float] | None = None) -> Signature:
        """Return what made the numbers of this matching at the given thresholds."""
        return self.signed(protocol=NAME, version=VERSION, iou=iou, class_weight=dict(class_weight or {}))


@dataclass(frozen=True, eq=False)
class ThresholdResult(BoxResult[Matching]):
    """Everything that follows from a matching at one IoU threshold; pooling is that of section 8."""

    @cached_property
    def _taken(self) -> IntArray:
        """Return which pairs are true positives, int64, rising: exact, as the greedy goes by falling IoU."""
        matching = self.matching
        return np.flatnonzero(matching.matched & (matching.pairs.fitted.columns.iou >= self.iou))

    @cached_property
    def matches(self) -> Matches:
        """Return the true positives, by (document, page, label) and falling IoU."""
        return self.matching.pairs.fitted.columns.take(self._taken)

    @property
    def counting_predictions(self) -> BoolArray:
        """Predictions that are true or false positives, bool, shape (P,): all that take part."""
        return self.matching.prediction_counts


class ThresholdPartial(NamedTuple):
    """What the numbers at one IoU threshold of some documents follow from.

    `shared`: `per_label` on the documents that both files name; None where these are all. `documents`: means of each of
    `RATIOS` over the documents. `mistakes`: int64, how many have each name of `DOCUMENT`. `by_document` is that of
    `BoxResult`.
    """

    per_label: MetricColumns
    shared: MetricColumns | None
    documents: ExactMeans
    mistakes: IntArray
    by_document: IntArray

    @classmethod
    def of(cls, result: ThresholdResult) -> ThresholdPartial:
        """Return that of a result; copies of columns hold their sums and no boxes."""
        shared = result.matching.dataset.in_both(result.matching.model)
        columns = None if shared.all() else copy(result.in_documents(shared)[1])
        counts = result.mistakes.counts
        return cls(copy(result.per_label), columns, result.document_means(), counts, result.by_document)

    @classmethod
    def merged(cls, parts: Sequence[ThresholdPartial]) -> ThresholdPartial:
        """Add up the partials of different documents, at least one, which are in the order of the documents."""
        shared = [part.per_label if part.shared is None else part.shared for part in parts]
        return cls(
            per_label=MetricColumns.merged([part.per_label for part in parts]),
            shared=MetricColumns.merged(shared) if any(part.shared is not None for part in parts) else None,
            documents=ExactMeans.merged([part.documents for part in parts]),
            mistakes=np.sum([part.mistakes for part in parts], axis=0),
            by_document=np.concatenate([part.by_document for part in parts], axis=1),
        )


@dataclass(frozen=True, eq=False)
class SnapshotPartial:
    """Arrays that add up over documents and give the numbers of a result."""

    labels: tuple[str, ...]
    class_weight: dict[str, float]
    thresholds: dict[float, ThresholdPartial]

    @classmethod
    def of(cls, result: SnapshotResult) -> SnapshotPartial:
        """Return that of a result."""
        thresholds = {iou: ThresholdPartial.of(each) for iou, each in result.thresholds.items()}
        return cls(result.matching.labels, result.class_weight, thresholds)

    @classmethod
    def merged(cls, parts: Sequence[SnapshotPartial]) -> SnapshotPartial:
        """Add up the partials of different documents under the same labels and options, at least one."""
        first = parts[0]
        thresholds = {
            iou: ThresholdPartial.merged([part.thresholds[iou] for part in parts]) for iou in first.thresholds
        }
        return cls(first.labels, first.class_weight, thresholds)

    def to_json(self) -> dict[str, JsonObject]:
        """Return the numbers of `SnapshotResult.to_json` by key."""
        numbers: dict[str, JsonObject] = {"thresholds": {}}
        for iou, each in self.thresholds.items():
            numbers["thresholds"][repr(iou)] = {
                **self._pooled(each.per_label),
                "macro_documents": macro_documents(each.documents),
                "macro_labels": macro_labels(each.per_label, self.labels, self.class_weight),
                "mistakes": dict(zip(DOCUMENT, each.mistakes.tolist(), strict=True)),
            }
            if each.shared is not None:
                numbers.setdefault("common_documents", {})[repr(iou)] = self._pooled(each.shared)
        return numbers

    def _pooled(self, per_label: MetricColumns) -> JsonObject:
        """Return ``micro`` and ``per_class`` under the keys of the contract."""
        per_class = {label: per_label.row(row) for row, label in enumerate(self.labels)}
        return {"micro": per_label.micro.row(0), "per_class": per_class}


@dataclass(frozen=True, eq=False)
class SnapshotResult(BoxEvaluation):
    """The evaluation of one model under the protocol.

    Attributes
    ----------
    thresholds : dict of ThresholdResult
        By IoU threshold, in the order asked for.
    class_weight : dict of float
        Weights of the labels in the mean over labels; empty for none.
    """

    matching: Matching
    thresholds: dict[float, ThresholdResult]
    class_weight: dict[str, float] = field(default_factory=dict)

    @cached_property
    def partial(self) -> SnapshotPartial:
        """Return what the numbers follow from."""
        return self.merged or SnapshotPartial.of(self)

    @property
    def signature(self) -> Signature:
        """Return what made these numbers."""
        return self.matching.signature(*self.thresholds, class_weight=self.class_weight)

    def to_json(self) -> JsonObject:
        """Return the result as plain values under the keys of the terminal contract; undefined is None.

        Besides what all have: ``thresholds``; and ``common_documents`` (the same numbers on the documents that both
        files name) when the files do not name the same ones.
        """
        numbers = self.partial.to_json()
        common = numbers.pop("common_documents", None)
        result = self.plain_values(**numbers)
        return result if common is None else {**result, "common_documents": common}

    def table(self) -> ResultTable:
        """Return one row per threshold and label; before them the pooled row, and the mean of weighted labels.

        Columns ``iou_threshold``, ``label`` and those of `evaluator.metrics.results.Metrics`.
        """
        rows: list[tuple[str | int | float | None, ...]] = []
        labels = self.matching.labels
        for iou, each in self.counted.items():
            rows.append((iou, ALL_LABELS, *each.per_label.micro.row(0).values()))
            if self.class_weight:
                mean = macro_labels(each.per_label, labels, self.class_weight)
                # Boxes have no mean over labels.
                rows.append((iou, WEIGHTED_MEAN, *(mean.get(name) for name in Metrics.__annotations__)))  # type: ignore[arg-type]
            rows += [(iou, label, *each.per_label.row(row).values()) for row, label in enumerate(labels)]
        return self.as_table(("iou_threshold", "label", *Metrics.__annotations__), rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(BoxPairs[Matching]):
    """Every pair of one model that could match, in rows of the two files, found once for all thresholds."""

    derived = ("fitted",)

    def match(self, *, min_score: float = 0.0, min_area: float = 0.0, labels: Sequence[str] | None = None) -> Matching:
        """Return the greedy matching of the boxes that take part, see `evaluate`; ValueError for unknown labels."""
        chosen = self.dataset.scored_labels(labels)
        truth_counts, prediction_counts = self.of_labels(chosen)
        if min_score > 0.0:
            prediction_counts &= ~(self.prediction.score < min_score)
        if min_area > 0.0:
            prediction_counts &= self.prediction.page_share >= min_area
        return Matching(
            pairs=self,
            min_score=min_score,
            min_area=min_area,
            labels=chosen,
            truth_counts=truth_counts,
            prediction_counts=prediction_counts,
        )

    def score_intervals(self, min_area: float) -> ScoreIntervals:
        """Return at which score cuts each of the fitted pairs matches, small predictions left out."""

        def make() -> ScoreIntervals:
            large = self.prediction.page_share >= min_area if min_area > 0.0 else None
            keep = None if large is None else large[self.fitted.columns.prediction]
            return self.fitted.score_intervals(self.prediction.score, keep)

        return self._score_intervals.get_or_make(min_area, make)

    @cached_property
    def _score_intervals(self) -> LRUCache[float, ScoreIntervals]:
        """Return those of the smallest areas that were asked for last."""
        return LRUCache(most=2)

    @cached_property
    def fitted(self) -> FittedPairs:
        """Return the pairs in the order of the answer, sorted once, so that a new matching only picks from them."""
        truth = self.dataset.ground_truth
        candidates, outlines = candidate_pairs(
            self.dataset, self.model, iou_floor=self.iou_floor, polygons=self.polygons
        )
        group = page_and_label(self.dataset, truth)
        return fit_pairs(candidates, truth.xyxy, self.prediction.xyxy, group, outlines)

    def score_curve(self, *, iou: float) -> ScoreCurve:
        """See `BoxPairs.score_curve`; each pair is counted over its stretch of score cuts, without another matching."""
        check_iou_threshold(iou, self.iou_floor)
        truth, prediction, labels = self.dataset.ground_truth, self.prediction, self.dataset.evaluated
        fitted, (low, high) = self.fitted.columns, self.score_intervals(0.0)
        label = truth.label[fitted.ground_truth]
        rows = np.flatnonzero((fitted.iou >= iou) & (low < high) & (label < labels))
        later = rows[low[rows] > -np.inf]
        up_to = counts_at_steps(passed_steps(high[rows]), label[rows], labels)
        before = counts_at_steps(passed_steps(low[later]), label[later], labels)
        scored = np.flatnonzero(prediction.label < labels)
        return ScoreCurve(
            threshold=SCORE_STEPS,
            labels=self.dataset.labels[:labels],
            tp=up_to - before,
            predictions=counts_at_steps(self.passed[scored], prediction.label[scored], labels),
            ground_truth=np.bincount(truth.label, minlength=labels)[:labels],
        )


def pair(dataset: Dataset, model: int = 0, *, iou_floor: float = IOU_FLOOR, polygons: bool = False) -> Pairs:
    """Return every pair of a prediction and a ground truth that could match.

    `iou_floor`: the lowest IoU threshold that will be asked for. `polygons`: see `evaluate`. ValueError for a floor
    outside (0, 1].

    Notes
    -----
    Specification 1.3, section 5: per (document, page, label), where the page is the pair (doc_id, page_index); the
    reference evaluator uses the page_id string alone, so pages of two documents that share one can match there, which
    raises its score. A page or document that only one side has counts as empty on the other.
    """
    check_iou_floor(iou_floor)
    return Pairs(dataset=dataset, model=model, iou_floor=iou_floor, polygons=polygons)


def evaluate(
    ground_truth: Annotations,
    prediction: Annotations,
    *,
    iou: Sequence[float] = IOU_THRESHOLDS,
    min_score: float = 0.0,
    min_area: float = 0.0,
    labels: Sequence[str] | None = None,
    class_weight: Mapping[str, float] | None = None,
    polygons: bool = False,
) -> SnapshotResult:
    """Return the result of one prediction file against one ground truth.

    Parameters
    ----------
    ground_truth, prediction : Annotations
        As read by `evaluator.formats.read`; `evaluator.project.evaluate` checks the rules of section 9 on two files.
    iou : sequence of float
        Thresholds in (0, 1]; a pair matches at IoU >= threshold.
    min_score : float
        Predictions with a lower score are left out before matching; those without a score stay. The specification
        leaves out none, which is 0.
    min_area : float
        Predictions that cover less than this share of the page are left out, equality stays (the published World Bank
        numbers use 0.008). The specification has no such filter, which is 0.
    labels : sequence of str, optional
        Score these only; all labels of the label map when absent.
    class_weight : mapping of float >= 0, optional
        Weights of the labels in the mean over labels; labels that are not named weigh 1.
    polygons : bool
        Compare outlines instead of boxes, where a row has one; the signature states "polygon IoU". The specification
        knows boxes only: the score may move either way.

    Raises
    ------
    ValueError
        No threshold is given, one is out of range, or a label is unknown.

    Notes
    -----
    Specification 1.3, sections 5 to 8. Precision, recall and F1 come from pooled counts, the spatial means from the
    matched pairs; a ratio without denominator is undefined.
    """
    floor, dataset = lowest_threshold(iou), join_pair(ground_truth, prediction)
    check_class_weight(class_weight or {}, dataset)
    matching = pair(dataset, iou_floor=floor, polygons=polygons).match(
        min_score=min_score, min_area=min_area, labels=labels
    )
    thresholds = {float(threshold): matching.at(threshold) for threshold in iou}
    return SnapshotResult(matching, thresholds, dict(class_weight or {}))


def check_class_weight(class_weight: Mapping[str, float], dataset: Dataset) -> None:
    """Raise ValueError for weights of labels that no file maps."""
    unknown = [label for label in class_weight if label not in dataset.labels[: dataset.evaluated]]
    if unknown:
        raise ValueError(f"weights for labels not in the label map: {', '.join(unknown)}")
