"""Extracted fields: bounding-box mAP in the manner of COCO, coverage, and confidence metrics.

Source: Stickler documentation, "Bounding Box mAP Metrics". Each field has at most one box on each side; who belongs to
whom is decided in ``pairing``. The text is followed where its implementation (stickler-eval 1.0.0) loses boxes;
``parity="stickler"`` gives the implementation's numbers: its pairing, its recall grid in decimals, ties in the order of
arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import fix_texts
from evaluator.data.fields import Field, FieldDocuments, Schema
from evaluator.metrics.average_precision import RECALL_101, average_precision
from evaluator.metrics.confidence import Confidence
from evaluator.metrics.exact_sums import ExactSums
from evaluator.metrics.results import (
    JsonObject,
    ResultTable,
    Signature,
    applied_score,
    defined,
    ratio,
    weighted_mean,
)
from evaluator.metrics.tied_scores import Range, Ties, tied_averages, widest
from evaluator.protocols.base import Result, ShardRunner
from evaluator.protocols.fields.pairing import compare
from evaluator.protocols.fields.rows import ComparedFields, Parity, as_one, merge

if TYPE_CHECKING:
    from evaluator.metrics.measures import Key

__all__ = [
    "ALL_FIELDS", "IOU_THRESHOLDS", "NAME", "STATUSES", "VERSION", "ComparedFields", "FieldRow", "FieldsResult",
    "Parity", "RecallGrid", "StatusCounts", "compare", "evaluate", "merge", "score",
]  # fmt: skip

NAME: Final = "fields"
VERSION: Final = "1.0"
IOU_THRESHOLDS: Final = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
ALL_FIELDS: Final = "All fields"
# Of a prediction without confidence.
MISSING_CONFIDENCE: Final = 1.0

RecallGrid = Literal["linspace", "decimal"]
RECALL: Final[Mapping[RecallGrid, FloatArray]] = {
    "linspace": RECALL_101,
    # The reference's grid: ten of its points are one ulp apart from the other's.
    "decimal": np.array([round(0.01 * step, 2) for step in range(101)]),
}

NO_BOX, TRUE_POSITIVE, BELOW_THRESHOLD, MISSED, SPURIOUS = range(5)
STATUSES: Final = ("no box", "true positive", "below threshold", "missed", "spurious")


class FieldRow(NamedTuple):
    """One compared field as it can be shown at a threshold.

    `status`: one of `STATUSES`. `iou`: None unless there are two boxes. `confidence`: None for none and for one that is
    not a number. `right`: of the value.
    """

    document: str
    label: str
    truth_path: str | None
    prediction_path: str | None
    status: str
    iou: float | None
    confidence: float | None
    right: bool
    truth: Field | None
    predicted: Field | None


@dataclass(frozen=True, slots=True, eq=False)
class StatusCounts:
    """How many fields have which status, int64, shape (R,): of classes, documents, or one for all.

    A box below the threshold is a false positive and leaves its ground truth unmatched, both at once.
    """

    true_positive: IntArray
    below_threshold: IntArray
    missed: IntArray
    spurious: IntArray

    def row(self, place: int) -> tuple[int, int, int, int]:
        """Return the counts of one row, in the order of the columns."""
        return tuple(int(getattr(self, name)[place]) for name in self.__slots__)  # type: ignore[return-value]

    @property
    def precision(self) -> FloatArray:
        """True positives over all predicted boxes, float64, shape (R,); NaN without any."""
        return ratio(self.true_positive, self.true_positive + self.below_threshold + self.spurious)

    @property
    def recall(self) -> FloatArray:
        """True positives over all ground-truth boxes, float64, shape (R,); NaN without any."""
        return ratio(self.true_positive, self.true_positive + self.below_threshold + self.missed)


@dataclass(frozen=True, eq=False)
class FieldsResult(Result):
    """The numbers of some compared fields; computed when asked for.

    Attributes
    ----------
    iou : tuple of float
        Thresholds in (0, 1], rising; may be empty or repeat one.
    min_score : float
        Predicted boxes with a lower confidence are left out; confidence metrics see every field.
    labels : tuple of str or None
        The classes that are scored; None for all.
    fixes : tuple of str
        What was done to the names of documents, in words of the signature.
    """

    compared: ComparedFields
    iou: tuple[float, ...]
    recall_grid: RecallGrid
    min_score: float = 0.0
    labels: tuple[str, ...] | None = None
    fixes: tuple[str, ...] = ()

    # Which rows count, and their ranking ---------------------------------------------------------------------

    @cached_property
    def taking_part(self) -> BoolArray:
        """Rows of the classes that are scored, bool, shape (N,)."""
        compared = self.compared
        if self.labels is None:
            return np.ones(len(compared), dtype=bool)
        codes = [code for code, name in enumerate(compared.classes) if name in self.labels]
        return np.isin(compared.field_class, codes)

    @cached_property
    def _score(self) -> FloatArray:
        """Confidence for ranking: 1 where there is none."""
        return np.where(np.isnan(self.compared.confidence), MISSING_CONFIDENCE, self.compared.confidence)

    @cached_property
    def with_prediction(self) -> BoolArray:
        """Rows with a predicted box that counts, bool, shape (N,)."""
        kept = self._score >= self.min_score if self.min_score > 0.0 else True
        return self.compared.has_prediction & self.taking_part & kept

    @cached_property
    def with_truth(self) -> BoolArray:
        """Rows with a ground-truth box that counts, bool, shape (N,)."""
        return self.compared.has_truth & self.taking_part

    @cached_property
    def _ranked(self) -> list[FloatArray]:
        """IoU and confidence of the predicted boxes of each class, float64, shape (2, K), the most confident first."""
        compared = self.compared
        order = compared.tie_order
        rows = order[self.with_prediction[order]]
        rows = rows[np.lexsort((-self._score[rows], compared.field_class[rows]))]
        ends = np.cumsum(np.bincount(compared.field_class[rows], minlength=len(compared.classes)))
        return np.split(np.stack([compared.iou[rows], self._score[rows]]), ends[:-1], axis=1) if len(ends) else []

    # Localisation -------------------------------------------------------------------------------------------

    @cached_property
    def boxed(self) -> tuple[int, ...]:
        """Codes of the classes with a box on either side: those that are listed."""
        seen = np.bincount(self.compared.field_class[self.with_truth | self.with_prediction], minlength=0)
        return tuple(np.flatnonzero(seen).tolist())

    @cached_property
    def num_gt(self) -> IntArray:
        """Ground-truth boxes of each class, int64, shape (C,)."""
        return self._count(self.with_truth)

    @cached_property
    def num_detections(self) -> IntArray:
        """Predicted boxes of each class, int64, shape (C,)."""
        return self._count(self.with_prediction)

    @cached_property
    def mean_iou(self) -> FloatArray:
        """Mean IoU over the predicted boxes of each class, spurious ones with 0, float64, shape (C,); NaN for none."""
        return ratio(self._iou_sums.total, self.num_detections)

    @cached_property
    def mean_iou_of_all(self) -> float | None:
        """Return the mean IoU over the predicted boxes of all classes; None for none."""
        total = self._iou_sums.pooled(np.zeros(len(self._iou_sums), dtype=np.int64), 1).total
        return defined(ratio(total, self.num_detections.sum(keepdims=True))[0])

    @cached_property
    def _iou_sums(self) -> ExactSums:
        compared, rows = self.compared, self.with_prediction
        return ExactSums.of(compared.iou[rows], compared.field_class[rows], len(compared.classes))

    def average_precisions(self, iou: Sequence[float]) -> FloatArray:
        """Return AP of each class at some thresholds in (0, 1], float64, shape (C, T).

        NaN for classes without a ground-truth box, 0 for classes with some and without a prediction. COCO: precision
        envelope, 101 recall points. Confidence ranks, 1 where it is missing.
        """
        table = np.full((len(self.compared.classes), len(iou)), np.nan)
        recall = RECALL[self.recall_grid]
        for row, (ranked, _) in enumerate(self._ranked):
            # A threshold keeps the hits of every higher one, so that as many are the same ones.
            known: dict[int, float] = {}
            for column, threshold in enumerate(iou):
                hits = np.flatnonzero(ranked >= threshold) + 1
                if len(hits) not in known:
                    known[len(hits)] = average_precision(hits, int(self.num_gt[row]), recall=recall)
                table[row, column] = known[len(hits)]
        return table

    @cached_property
    def _ap(self) -> dict[float, FloatArray]:
        """AP of each class by threshold; one that is repeated counts once."""
        thresholds = list(dict.fromkeys(self.iou))
        return dict(zip(thresholds, self.average_precisions(thresholds).T, strict=True))

    @cached_property
    def ap(self) -> FloatArray:
        """AP of each class, mean over the thresholds, float64, shape (C,); NaN where undefined."""
        columns = list(self._ap.values())
        return np.mean(columns, axis=0) if columns else np.full(len(self.compared.classes), np.nan)

    @property
    def mean_ap(self) -> float | None:
        """Mean over the thresholds of the mean over the classes with ground truth; None without such."""
        means = [mean for column in self._ap.values() if (mean := weighted_mean(column)[0]) is not None]
        return sum(means) / len(means) if means else None

    @cached_property
    def _in_order(self) -> tuple[FloatArray, int]:
        """AP in the best and the worst order of equal confidences, float64, shape (2, T, C), and how many are tied."""
        steps, recall, tied = list(self._ap), RECALL[self.recall_grid], 0
        in_order = np.stack([np.array(list(self._ap.values())).reshape(len(steps), len(self.compared.classes))] * 2)
        for row, (iou, score) in enumerate(self._ranked):
            hits = [(iou >= threshold, np.ones(len(iou), dtype=bool)) for threshold in steps]
            average = partial(average_precision, positives=int(self.num_gt[row]), recall=recall)
            of_runs = tied_averages(score, hits, average)
            if of_runs and of_runs.tied:
                moved = of_runs.averages
                in_order[..., row] = np.where(np.isnan(moved), in_order[..., row], moved)
                tied += of_runs.tied
        return in_order, tied

    @cached_property
    def ties(self) -> Ties | None:
        """Return what equal confidences, missing ones among them, do to mean AP; None where it is the same anyway."""
        in_order, tied = self._in_order
        if not tied:
            return None
        best, worst = (float(np.nanmean(values)) for values in in_order)
        return widest([Ties("mean AP", int(self.num_detections.sum()), tied, best, worst)])

    @cached_property
    def tied_ranges(self) -> Mapping[Key, Range]:
        """Return the worst and the best AP, over and at the thresholds, over the classes and of each class."""
        from evaluator.metrics.measures import Key  # the numbers need no resampling

        in_order, tied = self._in_order
        ranges: dict[Key, Range] = {}
        for metrics, threshold in (("mean_ap", "ap"), None), (("map_50", "ap_50"), 0.5), (("map_75", "ap_75"), 0.75):
            steps = [at for at, step in enumerate(self._ap) if threshold in (None, step)]
            if tied and steps:
                best, worst = in_order[:, steps].mean(axis=1)[:, list(self.boxed)]
                ends = [(ALL_FIELDS, np.nanmean(worst), np.nanmean(best))]
                ends += zip((self.compared.classes[code] for code in self.boxed), worst, best, strict=True)
                for metric, (name, low, high) in zip((metrics[0], *[metrics[1]] * len(ends)), ends, strict=False):
                    if high > low:
                        ranges[Key(metric, name)] = Range(float(low), float(high))
        return ranges

    def map_at(self, threshold: float) -> float | None:
        """Return the mean AP of the classes at a threshold; None for one that was not asked for."""
        return weighted_mean(self._ap[threshold])[0] if threshold in self._ap else None

    @property
    def coverage(self) -> dict[str, Any]:
        """Return ``fields_with_bbox``, ``fields_total`` and their ``ratio``, which is None without rows."""
        return _coverage("fields_with_bbox", int(self.with_truth.sum()), int(self.taking_part.sum()))

    # Fields one by one --------------------------------------------------------------------------------------

    def status(self, iou: float) -> npt.NDArray[np.int8]:
        """Return the status of each row at a threshold, int8, shape (N,): code into `STATUSES`."""
        truth, predicted = self.with_truth, self.with_prediction
        hit = truth & predicted & (self.compared.iou >= iou)
        chosen = [hit, truth & predicted, truth, predicted]
        return np.select(chosen, [TRUE_POSITIVE, BELOW_THRESHOLD, MISSED, SPURIOUS], NO_BOX).astype(np.int8)

    def rows(self, iou: float, *, document: str | None = None, label: str | None = None) -> list[FieldRow]:
        """Return compared fields, of one document or class if named, with their status, in canonical order."""
        return self.rows_of(self.places(document, label), iou)

    def places(self, document: str | None = None, label: str | None = None) -> IntArray:
        """Return places in `compared` of fields, in canonical order, int64, shape (K,); see `rows`."""
        compared = self.compared
        chosen = compared.is_field & self.taking_part
        if document is not None:
            codes = [code for code, name in enumerate(compared.documents) if name == document]
            chosen &= np.isin(compared.document, codes)
        if label is not None:
            chosen &= self.of_class(label)
        return compared.in_order(chosen)

    def rows_of(self, rows: IntArray, iou: float) -> list[FieldRow]:
        """Return compared fields at some places in `compared`, as they can be shown at a threshold."""
        status = self.status(iou)
        return [self._row(row, int(status[row])) for row in rows.tolist()]

    def per_class(self, iou: float) -> StatusCounts:
        """Return counts of each class, in the order of ``compared.classes``."""
        return self._statuses(iou, self.compared.field_class, len(self.compared.classes))

    def overall(self, iou: float) -> StatusCounts:
        """Return one row: all classes pooled."""
        return self._statuses(iou, np.zeros(len(self.compared), dtype=np.int64), 1)

    def value_by_box(self, iou: float) -> dict[str, dict[str, int]]:
        """Return how often value and box are right, over the fields with two boxes.

        ``value_right`` and ``value_wrong``, each with ``box_right`` (IoU >= the threshold) and ``box_wrong``.
        """
        both = self.with_truth & self.with_prediction
        box, value = self.compared.iou >= iou, self.compared.right
        return {
            name: {"box_right": int((both & side & box).sum()), "box_wrong": int((both & side & ~box).sum())}
            for name, side in (("value_right", value), ("value_wrong", ~value))
        }

    # Confidence ---------------------------------------------------------------------------------------------

    def confidence(self, label: str | None = None) -> Confidence:
        """Return the confidence metrics of all scored classes, or of one.

        Of predicted fields with a confidence in [0, 1]; a field without partner is wrong unless it is null.
        """
        rows = self.confidence_rows(label)
        return Confidence(right=self.compared.right[rows], confidence=self.compared.confidence[rows])

    def confidence_rows(self, label: str | None = None) -> IntArray:
        """Return rows behind `confidence`, in canonical order, int64, shape (K,)."""
        compared = self.compared
        chosen = self._judged & ~np.isnan(compared.confidence) & ~compared.refused
        if label is not None:
            chosen &= self.of_class(label)
        return compared.in_order(chosen)

    def of_class(self, label: str) -> BoolArray:
        """Return which rows are of a class, bool, shape (N,); none for an unknown one."""
        codes = [code for code, name in enumerate(self.compared.classes) if name == label]
        return np.isin(self.compared.field_class, codes)

    @cached_property
    def _judged(self) -> BoolArray:
        """Rows with a prediction side; the reference drops a document with one confidence that it refuses."""
        compared = self.compared
        judged = np.array([path is not None for path in compared.prediction_path], dtype=bool) & self.taking_part
        if compared.parity == "stickler":
            dropped = np.unique(compared.document[compared.refused & judged])
            judged &= ~np.isin(compared.document, dropped)
        return judged

    # Output -------------------------------------------------------------------------------------------------

    @property
    def signature(self) -> Signature:
        """Return what made these numbers."""
        compared = self.compared
        options = [compared.value_rule]
        options += [f"parity {compared.parity}"] if compared.parity != "none" else []
        options += [f"recall grid {self.recall_grid}"] if self.recall_grid != "linspace" else []
        min_score, kept = applied_score(self.min_score, compared.confidence[compared.has_prediction])
        return Signature(
            protocol=NAME,
            version=VERSION,
            iou=self.iou,
            min_score=min_score,
            labels=self.labels,
            options=(*kept, *options, *self.fixes),
            documents=len(compared.documents),
            pages=int(compared.pages.sum()),
        )

    def to_json(self) -> JsonObject:
        """Return the result as plain values under the keys of the terminal contract; undefined is None.

        Besides what all have: ``mean_ap``, ``map_50``, ``map_75``, ``ties``, ``iou_thresholds``, ``fields``,
        ``coverage`` in the source's structure, and ``confidence``. ``mean_iou`` of a class without predictions is 0, as
        in the source.
        """
        compared = self.compared
        truth, prediction = as_one(compared.ground_truth), as_one(compared.prediction)
        return {
            "protocol": NAME,
            "signature": self.signature.line,
            "ground_truth": truth._asdict(),
            "predictions": prediction._asdict(),
            "issues": [],
            "mean_ap": self.mean_ap,
            "map_50": self.map_at(0.5),
            "map_75": self.map_at(0.75),
            "ties": self.ties and self.ties.to_json(),
            "iou_thresholds": list(self.iou),
            "fields": {compared.classes[code]: self._class(code) for code in self.boxed},
            "coverage": self.coverage,
            "confidence": self._confidence(),
        }

    def table(self) -> ResultTable:
        """Return the means over the classes, then one row per class of field.

        Columns ``field``, ``ap``, ``ap_50``, ``ap_75``, ``mean_iou``, ``num_gt``, ``num_detections``.
        """
        total = int(self.num_gt.sum()), int(self.num_detections.sum())
        rows = [(ALL_FIELDS, self.mean_ap, self.map_at(0.5), self.map_at(0.75), self.mean_iou_of_all, *total)]
        rows += [(self.compared.classes[code], *self._class(code).values()) for code in self.boxed]
        return ResultTable(
            title=as_one(self.compared.prediction).name,
            signature=self.signature.line,
            columns=("field", "ap", "ap_50", "ap_75", "mean_iou", "num_gt", "num_detections"),
            rows=tuple(rows),
        )

    def _class(self, code: int) -> dict[str, Any]:
        return {
            "ap": defined(self.ap[code]),
            "ap_50": defined(self._ap[0.5][code]) if 0.5 in self._ap else None,
            "ap_75": defined(self._ap[0.75][code]) if 0.75 in self._ap else None,
            "mean_iou": defined(self.mean_iou[code]) or 0.0,
            "num_gt": int(self.num_gt[code]),
            "num_detections": int(self.num_detections[code]),
        }

    def _confidence(self) -> dict[str, object]:
        empty_bin = 0.0 if self.compared.parity == "stickler" else None
        overall = self.confidence()
        coverage = _coverage("fields_with_confidence", len(overall), int(self._judged.sum()))
        return {**overall.to_json(empty_bin=empty_bin), "coverage": coverage}

    def _count(self, rows: BoolArray) -> IntArray:
        return np.bincount(self.compared.field_class[rows], minlength=len(self.compared.classes))

    def _statuses(self, iou: float, code: IntArray, size: int) -> StatusCounts:
        status = self.status(iou)
        every = np.bincount(code * len(STATUSES) + status, minlength=size * len(STATUSES)).reshape(size, len(STATUSES))
        # In the order of the codes, without what has no box.
        return StatusCounts(*every[:, TRUE_POSITIVE:].T)

    def _row(self, row: int, status: int) -> FieldRow:
        compared = self.compared
        both = bool(compared.has_truth[row] and compared.has_prediction[row])
        return FieldRow(
            document=compared.documents[compared.document[row]],
            label=compared.classes[compared.field_class[row]],
            truth_path=compared.truth_path[row],
            prediction_path=compared.prediction_path[row],
            status=STATUSES[status],
            iou=float(compared.iou[row]) if both else None,
            confidence=defined(compared.confidence[row]),
            right=bool(compared.right[row]),
            truth=compared.truth[row],
            predicted=compared.predicted[row],
        )


def score(
    compared: ComparedFields,
    *,
    iou: float | Sequence[float] = IOU_THRESHOLDS,
    recall_grid: RecallGrid | None = None,
    min_score: float = 0.0,
    labels: Sequence[str] | None = None,
) -> FieldsResult:
    """Return the numbers of compared fields, such as merged shards; for the options see `evaluate`."""
    if not 0.0 <= min_score <= 1.0:
        raise ValueError(f"min_score must be in [0, 1]; found {min_score}")
    grid = recall_grid or ("decimal" if compared.parity == "stickler" else "linspace")
    if grid not in get_args(RecallGrid):
        raise ValueError(f"recall_grid must be one of {', '.join(get_args(RecallGrid))}; found {grid}")
    unknown = [label for label in labels or () if label not in compared.classes]
    if unknown:
        raise ValueError(f"labels that no document has: {', '.join(unknown)}")
    return FieldsResult(
        compared=compared,
        iou=_thresholds((iou,) if isinstance(iou, int | float) else iou),
        recall_grid=grid,
        min_score=min_score,
        labels=tuple(labels) if labels is not None else None,
    )


def evaluate(
    ground_truth: FieldDocuments,
    prediction: FieldDocuments,
    *,
    iou: float | Sequence[float] = IOU_THRESHOLDS,
    schema: Schema | None = None,
    parity: Parity = "none",
    recall_grid: RecallGrid | None = None,
    min_score: float = 0.0,
    labels: Sequence[str] | None = None,
    parts: ShardRunner | None = None,
) -> FieldsResult:
    """Return the result of one prediction against one ground truth.

    Parameters
    ----------
    ground_truth, prediction : FieldDocuments
    iou : float or sequence of float
        Thresholds in (0, 1]; a box is right at IoU >= threshold. None at all leaves every AP undefined.
    schema, parity
        See `pairing.compare`.
    recall_grid : "linspace", "decimal" or None
        The 101 recall points as pycocotools or as the reference spells them; None chooses by the parity.
    min_score : float
        Predicted boxes with a lower confidence are left out, in [0, 1]; a missing confidence is 1.
    labels : sequence of str, optional
        Score these classes only (``LineItems[].Desc``).
    parts : callable, optional
        Has parts of the documents compared by themselves; see `protocols.base.ShardRunner`.

    Raises
    ------
    ValueError
        An option is out of range or names a class that no document has.

    Notes
    -----
    Stickler documentation, "Bounding Box mAP Metrics". The result that it prints for its example is illustrative: by
    its own rules the example gives a mean AP of 0.600, not 0.667.
    """
    if parity not in get_args(Parity):
        raise ValueError(f"parity must be one of {', '.join(get_args(Parity))}; found {parity}")
    compared = compare(ground_truth, prediction, schema=schema, parity=parity, parts=parts)
    result = score(compared, iou=iou, recall_grid=recall_grid, min_score=min_score, labels=labels)
    fixes = fix_texts(ground_truth, prediction)
    return replace(result, fixes=fixes) if fixes else result


def _thresholds(iou: Sequence[float]) -> tuple[float, ...]:
    if outside := [threshold for threshold in iou if not 0.0 < threshold <= 1.0]:
        raise ValueError(f"iou must be in (0, 1]; found {outside[0]}")
    return tuple(sorted(float(threshold) for threshold in iou))


def _coverage(with_name: str, having: int, total: int) -> dict[str, object]:
    return {with_name: having, "fields_total": total, "ratio": having / total if total else None}
