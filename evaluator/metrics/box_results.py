"""What follows from a one-to-one matching of boxes at one operating point, the same for every protocol.

Owns `BoxResult`: partners, false positives and negatives, named mistakes, and the metric columns per label, page and
document. Who matched whom, and which boxes take part, a protocol decides; it hands over its matching and says at which
threshold what matched. Rows are file order, codes are those of the `Dataset`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from evaluator.metrics.error_types import BoxColumns, Mistakes, name_mistakes
from evaluator.metrics.matching import Matches
from evaluator.metrics.results import (
    RATIOS,
    MetricColumns,
    ScoreCurve,
    Signature,
    count_by,
    sum_by,
    sum_in_order,
    weighted_mean,
)
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.model.dataset import Dataset, JoinedBoxes, Side

UNMATCHED: Final = -1
ALL_LABELS: Final = "All labels"


class BoxMatching(Protocol):
    """What a protocol's matching must tell: the two sides, and which boxes and labels take part."""

    @property
    def dataset(self) -> Dataset:
        """What is compared."""
        ...

    @property
    def prediction(self) -> JoinedBoxes:
        """The boxes of the model under the dataset's codes."""
        ...

    @property
    def model(self) -> int:
        """Which of the dataset's predictions."""
        ...

    @property
    def min_score(self) -> float:
        """Predictions with a lower score are left out."""
        ...

    @property
    def min_area(self) -> float:
        """Predictions that cover less of the page are left out."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that are scored."""
        ...

    @property
    def truth_counts(self) -> BoolArray:
        """The ground truth that takes part, bool, shape (G,)."""
        ...

    @property
    def prediction_counts(self) -> BoolArray:
        """The predictions that take part, bool, shape (P,)."""
        ...

    @property
    def iou_floor(self) -> float:
        """The lowest IoU threshold that can be asked for."""
        ...

    def at(self, iou: float) -> BoxResult[Any]:
        """The result at one IoU threshold, at or above the floor."""
        ...

    def on(self, dataset: Dataset) -> BoxMatching:
        """The matching of the same model of another dataset under the same options."""
        ...

    def signature(self, *iou: float) -> Signature:
        """What made the numbers at the given thresholds."""
        ...


class SourceFile(Protocol):
    """A file that was read: its name without folder, and the digest of its bytes."""

    @property
    def name(self) -> str:
        """File name without folder."""
        ...

    @property
    def sha256(self) -> str:
        """Digest in hexadecimal digits."""
        ...


MatchingT = TypeVar("MatchingT", bound=BoxMatching)

SCORE_STEPS: Final[FloatArray] = np.arange(101) / 100
"""What a score slider can be set to: 0.00, 0.01, ..., 1.00."""
SCORE_STEPS.setflags(write=False)


def asked_labels(matching: BoxMatching) -> tuple[str, ...] | None:
    """The labels that were asked for; None when all are scored that the files map."""
    dataset = matching.dataset
    return None if matching.labels == dataset.labels[: dataset.evaluated] else matching.labels


def need_threshold(iou: float, floor: float) -> None:
    """Refuse an IoU threshold that a matching cannot answer.

    Raises
    ------
    ValueError
        When it is below the floor or above 1.
    """
    if not floor <= iou <= 1.0:
        raise ValueError(f"iou must be in [{floor}, 1]; found {iou}")


def signature_of(matching: BoxMatching, **own: Any) -> Signature:  # noqa: ANN401 - fields of different types
    """The signature of a matching: what all protocols of boxes say, and under `own` what this one adds."""
    dataset = matching.dataset
    return Signature(
        min_score=matching.min_score,
        min_area=matching.min_area,
        labels=asked_labels(matching),
        documents=len(dataset.documents),
        pages=dataset.pages,
        **own,
    )


def plain_values(matching: BoxMatching, signature: Signature, own: Mapping[str, Any]) -> dict[str, Any]:
    """A result under the keys of the terminal contract.

    Parameters
    ----------
    own : mapping
        What only this protocol says.

    Returns
    -------
    dict
        ``protocol``, ``signature``, ``ground_truth``, ``predictions``, ``issues``, ``labels``, those of `own`, and
        ``documents_only_in``.
    """
    dataset = matching.dataset
    return plain_values_of(
        signature,
        (dataset.ground_truth.source, matching.prediction.source),
        matching.labels,
        own,
        dataset.documents_only_in(matching.model),
    )


def plain_values_of(
    signature: Signature,
    sides: tuple[SourceFile, SourceFile],
    labels: Sequence[str],
    own: Mapping[str, Any],
    only_in: Mapping[Side, Sequence[str]],
) -> dict[str, Any]:
    """A result whose boxes are not at hand under the same keys; see `plain_values`.

    Parameters
    ----------
    sides : tuple of SourceFile
        Ground truth and predictions.
    labels : sequence of str
        The labels that are scored.
    only_in : mapping of sequences of str
        Documents that only one side names.
    """
    truth, prediction = sides
    return {
        "protocol": signature.protocol,
        "signature": signature.line,
        "ground_truth": {"name": truth.name, "sha256": truth.sha256},
        "predictions": {"name": prediction.name, "sha256": prediction.sha256},
        "issues": [],
        "labels": list(labels),
        **own,
        "documents_only_in": {
            "ground_truth": list(only_in["ground_truth"]),
            "predictions": list(only_in["prediction"]),
        },
    }


@dataclass(frozen=True, eq=False)
class BoxResult(ABC, Generic[MatchingT]):
    """Everything that follows from a matching at one IoU threshold; computed when asked for."""

    matching: MatchingT
    iou: float

    @property
    @abstractmethod
    def matches(self) -> Matches:
        """The true positives."""

    @cached_property
    def truth_partner(self) -> IntArray:
        """Row of the prediction that matched each ground truth, int64, shape (G,); -1 for none."""
        partner = np.full(len(self.matching.dataset.ground_truth), UNMATCHED, dtype=np.int64)
        partner[self.matches.ground_truth] = self.matches.prediction
        return partner

    @cached_property
    def prediction_partner(self) -> IntArray:
        """Row of the ground truth that each prediction matched, int64, shape (P,); -1 for none."""
        partner = np.full(len(self.matching.prediction), UNMATCHED, dtype=np.int64)
        partner[self.matches.prediction] = self.matches.ground_truth
        return partner

    @cached_property
    def false_negatives(self) -> IntArray:
        """Rows of the scored ground truth that nothing matched, int64, in file order."""
        return _without(self.matching.truth_counts, self.matches.ground_truth)

    @cached_property
    def false_positives(self) -> IntArray:
        """Rows of the scored predictions that matched nothing, int64, in file order."""
        return _without(self.matching.prediction_counts, self.matches.prediction)

    @cached_property
    def counting_predictions(self) -> BoolArray:
        """Predictions that are true or false positives, bool, shape (P,); what a protocol ignores is neither."""
        counts: BoolArray = self.prediction_partner != UNMATCHED
        counts[self.false_positives] = True
        return counts

    @cached_property
    def mistakes(self) -> Mistakes:
        """Every unmatched box under exactly one name; see `evaluator.metrics.error_types`."""
        truth, prediction = self.matching.dataset.ground_truth, self.matching.prediction
        return name_mistakes(
            BoxColumns(truth.xyxy, truth.label, truth.page),
            BoxColumns(prediction.xyxy, prediction.label, prediction.page),
            self.truth_partner,
            iou=self.iou,
            truth_counts=self.matching.truth_counts,
            prediction_counts=self.counting_predictions,
        )

    @cached_property
    def per_label(self) -> MetricColumns:
        """One row per label of ``matching.labels``, in that order."""
        dataset = self.matching.dataset
        every = self._by(dataset.ground_truth.label, self.matching.prediction.label, len(dataset.labels))
        return every.take(self._label_codes)

    @cached_property
    def micro(self) -> MetricColumns:
        """One row: all labels pooled."""
        matches = self.matches
        return MetricColumns(
            tp=np.array([len(matches)]),
            fp=np.array([len(self.false_positives)]),
            fn=np.array([len(self.false_negatives)]),
            sum_of_fit=lambda name: sum_in_order(getattr(matches, name)),
        )

    @cached_property
    def per_page(self) -> MetricColumns:
        """One row per page of the dataset."""
        dataset = self.matching.dataset
        return self._by(dataset.ground_truth.page, self.matching.prediction.page, dataset.pages)

    @cached_property
    def per_document(self) -> MetricColumns:
        """One row per document of the dataset."""
        dataset, pages = self.matching.dataset, self.per_page
        size, document = len(dataset.documents), dataset.page_document.astype(np.int64)
        # Counts are those of the pages added up. Sums of fit are added up match by match, as in every other table: sums
        # of sums could differ in the last digit.
        return MetricColumns(
            tp=count_by(document, pages.tp, size),
            fp=count_by(document, pages.fp, size),
            fn=count_by(document, pages.fn, size),
            sum_of_fit=lambda name: sum_by(
                document[dataset.ground_truth.page[self.matches.ground_truth]], getattr(self.matches, name), size
            ),
        )

    @cached_property
    def per_document_and_label(self) -> MetricColumns:
        """One row per document of the dataset and label of ``matching.labels``: ``document * labels + label``."""
        dataset, size = self.matching.dataset, len(self.matching.dataset.labels)
        truth, prediction = dataset.ground_truth, self.matching.prediction
        every = self._by(
            truth.document.astype(np.int64) * size + truth.label,
            prediction.document.astype(np.int64) * size + prediction.label,
            len(dataset.documents) * size,
        )
        first = np.arange(len(dataset.documents), dtype=np.int64)[:, None] * size
        return every.take((first + self._label_codes).ravel())

    def macro_documents(self) -> dict[str, Any]:
        """Mean over documents of each ratio, with the number of documents where it is defined.

        Returns
        -------
        dict
            ``precision`` … ``mean_purity``: float or None; ``documents``: int per ratio.
        """
        return _macro(self.per_document, None, "documents")

    def macro_labels(self, class_weight: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Mean over labels of each ratio, weighted when weights are given.

        Parameters
        ----------
        class_weight : mapping of float >= 0, optional
            Labels that are not named weigh 1.

        Returns
        -------
        dict
            ``precision`` … ``mean_purity``: float or None; ``labels``: int per ratio.
        """
        weights = np.array([(class_weight or {}).get(label, 1.0) for label in self.matching.labels])
        return _macro(self.per_label, weights, "labels")

    def in_documents(self, chosen: BoolArray) -> tuple[MetricColumns, MetricColumns]:
        """Pooled and per-label results on some of the documents.

        Parameters
        ----------
        chosen : bool, shape (D,)
            Which documents of the dataset.

        Returns
        -------
        (MetricColumns, MetricColumns)
            One row for all labels pooled, and one per label.
        """
        dataset, labels = self.matching.dataset, len(self.matching.dataset.labels)
        truth, prediction = dataset.ground_truth, self.matching.prediction
        # One more row for the documents that are not chosen.
        row = np.where(chosen, 0, labels)
        every = self._by(
            np.maximum(row[truth.document], truth.label),
            np.maximum(row[prediction.document], prediction.label),
            labels + 1,
        )
        per_label = every.take(self._label_codes)
        return per_label.pooled(np.zeros(len(per_label), dtype=np.int64), 1), per_label

    @property
    def _label_codes(self) -> IntArray:
        """Codes of the scored labels, int64."""
        labels = self.matching.dataset.labels
        return np.array([labels.index(label) for label in self.matching.labels], dtype=np.int64)

    def _by(self, truth_code: npt.NDArray[Any], prediction_code: npt.NDArray[Any], size: int) -> MetricColumns:
        """Counts and sums per code; codes are one per box of each side."""
        matches = self.matches
        matched = truth_code[matches.ground_truth]
        return MetricColumns(
            tp=np.bincount(matched, minlength=size),
            fp=np.bincount(prediction_code[self.false_positives], minlength=size),
            fn=np.bincount(truth_code[self.false_negatives], minlength=size),
            sum_of_fit=lambda name: sum_by(matched, getattr(matches, name), size),
        )


class BoxPairs(ABC, Generic[MatchingT]):
    """Every pair of one model that could match, kept so that new thresholds need no geometry.

    Attributes
    ----------
    model : int
        Which of the dataset's predictions.
    iou_floor : float
        The lowest IoU threshold that can be asked for.
    """

    dataset: Dataset
    model: int
    iou_floor: float

    @abstractmethod
    def match(self, *, min_score: float = 0.0, labels: Sequence[str] | None = None) -> MatchingT:
        """The matching of the boxes that take part."""

    def score_curve(self, *, iou: float) -> ScoreCurve:
        """Matches and predictions of every label at the score thresholds 0.00, 0.01, ..., 1.00.

        Parameters
        ----------
        iou : float
            IoU threshold, at or above ``iou_floor``.

        Returns
        -------
        ScoreCurve
            Every threshold is matched anew: its counts are those of `match` with that ``min_score``. Predictions
            without a score are never left out.

        Raises
        ------
        ValueError
            When the threshold is out of range.
        """
        need_threshold(iou, self.iou_floor)
        steps = [self.match(min_score=float(score)).at(iou).per_label for score in SCORE_STEPS]
        tp, fp, fn = (np.stack([getattr(step, name) for step in steps]) for name in ("tp", "fp", "fn"))
        labels = self.dataset.labels[: self.dataset.evaluated]
        return ScoreCurve(SCORE_STEPS, labels, tp=tp, predictions=tp + fp, ground_truth=(tp + fn)[0])

    def best_f1(self, *, iou: float) -> float:
        """The score threshold with the highest pooled F1 at an IoU threshold.

        Parameters
        ----------
        iou : float
            At or above ``iou_floor``.

        Returns
        -------
        float
            The lowest of the thresholds 0.00, 0.01, ..., 1.00 that reach the best F1; 0 without scores or without
            boxes.
        """
        f1 = self.score_curve(iou=iou).columns().f1
        return 0.0 if np.isnan(f1).all() else float(SCORE_STEPS[np.nanargmax(f1)])


AnyBoxMatching = BoxMatching
AnyBoxResult = BoxResult[Any]
AnyBoxPairs = BoxPairs[Any]


def _without(counts: BoolArray, matched: IntArray) -> IntArray:
    """Rows that take part and are not among the matched ones, int64, rising."""
    left = counts.copy()
    left[matched] = False
    return np.flatnonzero(left)


def _macro(columns: MetricColumns, weights: FloatArray | None, counted: str) -> dict[str, Any]:
    """Means of the defined ratios over the rows, and under `counted` how many rows each mean has."""
    means = {name: weighted_mean(getattr(columns, name), weights) for name in RATIOS}
    return {**{name: mean for name, (mean, _) in means.items()}, counted: {name: n for name, (_, n) in means.items()}}
