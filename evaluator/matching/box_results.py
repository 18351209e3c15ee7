"""What follows from a one-to-one matching of boxes at one operating point, for every protocol.

A protocol decides who matches whom and which boxes take part. Rows are file order, codes are those of the `Dataset`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar

import numpy as np

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray, Overlap, overlap
from evaluator.data.dataset import CodeArray, Dataset, JoinedBoxes, Side, fix_texts
from evaluator.data.order import PageRows
from evaluator.data.polygons import POLYGON_IOU, outline_bounds, polygon_overlap
from evaluator.matching.pairs import Candidates, Matches, outlined_pairs, overlapping_pairs
from evaluator.metrics.exact_sums import ExactMeans, ExactSums
from evaluator.metrics.results import (
    RATIOS,
    MetricColumns,
    ScoreCurve,
    Signature,
    SourceFile,
    applied_score,
    defined,
    weighted_mean,
)

if TYPE_CHECKING:
    # A result names its mistakes when it is asked; until then nothing of this is needed.
    from evaluator.matching.causes import Causes
    from evaluator.matching.error_types import BoxColumns, MistakeOptions, Mistakes, Touching

UNMATCHED: Final = -1
WEIGHTED_MEAN: Final = "Weighted mean over labels"
"""What a table calls the mean over labels that have weights."""
ALL_LABELS: Final = "All labels"


class BinnedScores(NamedTuple):
    """How many predictions have a score in each bin, shape (L, BINS + 1), and the sums of their scores.

    By label of the dataset; the last bin is that of scores that are no probability. `totals`: L * (BINS + 1) sums,
    label by label; 0 in the last bin.
    """

    counts: IntArray
    totals: ExactSums


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxMatching(ABC):
    """The boxes of one model that take part, ready to be matched at any IoU threshold from the floor on.

    `min_score`, `min_area`: applied before matching. `truth_counts`, `prediction_counts`: bool, shape (G,) and (P,),
    boxes whose label is scored, that pass the options, and that the protocol does not ignore.
    """

    pairs: AnyBoxPairs
    min_score: float
    min_area: float = 0.0
    labels: tuple[str, ...]
    truth_counts: BoolArray
    prediction_counts: BoolArray

    @property
    def dataset(self) -> Dataset:
        """Return what is compared."""
        return self.pairs.dataset

    @property
    def model(self) -> int:
        """Return which of the dataset's predictions."""
        return self.pairs.model

    @property
    def prediction(self) -> JoinedBoxes:
        """Return the boxes of the model under the dataset's codes."""
        return self.pairs.prediction

    @property
    def iou_floor(self) -> float:
        """Thresholds below this need new pairs."""
        return self.pairs.iou_floor

    @property
    def label_codes(self) -> IntArray:
        """Codes of the scored labels, int64."""
        return np.array([self.dataset.label_code[label] for label in self.labels], dtype=np.int64)

    @property
    def own_options(self) -> Mapping[str, object]:
        """Return what `BoxPairs.match` receives in addition, by name; empty for most protocols."""
        return {}

    @cached_property
    def binned_scores(self) -> BinnedScores:
        """Return the scores of the predictions that take part: the same at every IoU threshold."""
        return self.pairs.binned(self.prediction_counts)

    @cached_property
    def predictions_at_steps(self) -> IntArray:
        """Return how many predictions of each label take part at each of `SCORE_STEPS`, int64, shape (T, labels)."""
        return self.pairs.at_steps(self.prediction_counts)

    def fit(self, truths: IntArray, predictions: IntArray) -> Overlap:
        """Return how boxes in paired rows, shape (K,), fit, whether they match or not.

        By their outlines where these are compared. IoU, coverage and purity are float64, shape (K,), in [0, 1].
        """
        truth, prediction = self.dataset.ground_truth, self.prediction
        if self.pairs.polygons:
            return polygon_overlap(truth.source.boxes, prediction.source.boxes, truths, predictions)
        return overlap(truth.xyxy[truths], prediction.xyxy[predictions])

    @abstractmethod
    def at(self, iou: float) -> AnyBoxResult:
        """Return the result at one IoU threshold; ValueError when it is below the floor or above 1."""

    @abstractmethod
    def signature(self, *iou: float) -> Signature:
        """Return what made the numbers at the given thresholds."""

    def on(self, dataset: Dataset) -> Self:
        """Return the matching of the same model of another dataset under the same options."""
        again: Self = self.pairs.on(dataset).match(
            min_score=self.min_score, min_area=self.min_area, labels=self.asked_labels, **self.own_options
        )
        return again

    def signed(self, *, options: Sequence[str] = (), **own: Any) -> Signature:  # noqa: ANN401 - fields of different types
        """Return the signature: what all protocols of boxes say, and under `own` what this one adds."""
        min_score, kept = applied_score(self.min_score, self.prediction.score)
        return Signature(
            min_score=min_score,
            min_area=self.min_area,
            labels=self.asked_labels,
            documents=len(self.dataset.documents),
            pages=self.dataset.pages,
            options=(
                *kept,
                *options,
                *([POLYGON_IOU] if self.pairs.polygons else []),
                *fix_texts(self.dataset.ground_truth.source, self.prediction.source),
            ),
            **own,
        )

    @property
    def asked_labels(self) -> tuple[str, ...] | None:
        """Return the labels that were asked for; None when all are scored that the files map."""
        return None if self.labels == self.dataset.labels[: self.dataset.evaluated] else self.labels


MatchingT = TypeVar("MatchingT", bound=BoxMatching)

SCORE_STEPS: Final[FloatArray] = np.arange(101) / 100
"""What a score slider can be set to: 0.00, 0.01, ..., 1.00."""
SCORE_STEPS.setflags(write=False)


def check_iou_threshold(iou: float, floor: float) -> None:
    """Raise ValueError for an IoU threshold that a matching cannot answer: below its floor or above 1."""
    if not floor <= iou <= 1.0:
        raise ValueError(f"iou must be in [{floor}, 1]; found {iou}")


def plain_values(
    signature: Signature,
    sides: tuple[SourceFile, SourceFile],
    labels: Sequence[str],
    own: Mapping[str, object],
    only_in: Mapping[Side, Sequence[str]],
) -> dict[str, object]:
    """Return a result under the keys of the terminal contract.

    `sides`: ground truth and predictions. `own`: what only this protocol says. `only_in`: documents that only one side
    names.
    """
    truth, prediction = sides
    return {
        "protocol": signature.protocol,
        "signature": signature.line,
        "ground_truth": truth._asdict(),
        "predictions": prediction._asdict(),
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

    def __post_init__(self) -> None:
        check_iou_threshold(self.iou, self.matching.iou_floor)

    @property
    @abstractmethod
    def matches(self) -> Matches:
        """Return the true positives."""

    @property
    def matched_rows(self) -> tuple[IntArray, IntArray]:
        """Rows of the predictions and of the ground truth of the true positives, in the order of `matches`."""
        return self.matches.prediction, self.matches.ground_truth

    @cached_property
    def truth_partner(self) -> IntArray:
        """Row of the prediction that matched each ground truth, int64, shape (G,); -1 for none."""
        partner = np.full(len(self.matching.dataset.ground_truth), UNMATCHED, dtype=np.int64)
        predictions, truths = self.matched_rows
        partner[truths] = predictions
        return partner

    @cached_property
    def prediction_partner(self) -> IntArray:
        """Row of the ground truth that each prediction matched, int64, shape (P,); -1 for none."""
        partner = np.full(len(self.matching.prediction), UNMATCHED, dtype=np.int64)
        predictions, truths = self.matched_rows
        partner[predictions] = truths
        return partner

    def partners(self, side: Side, rows: IntArray) -> IntArray:
        """Return the row on the other side that each of some boxes of a side matches, int64; -1 for none."""
        return (self.truth_partner if side == "ground_truth" else self.prediction_partner)[rows]

    def matched_iou(self, truth: int) -> float:
        """Return the IoU of the match of a ground truth that has one."""
        return float(self.matches.iou[self.matches.ground_truth == truth][0])

    @property
    def truth_matched(self) -> BoolArray:
        """Ground truth that is found, bool, shape (G,)."""
        return np.asarray(self.truth_partner != UNMATCHED)

    @cached_property
    def false_negatives(self) -> IntArray:
        """Rows of the scored ground truth that nothing matched, int64, in file order."""
        return _without(self.matching.truth_counts, self.matched_rows[1])

    @cached_property
    def false_positives(self) -> IntArray:
        """Rows of the scored predictions that matched nothing, int64, in file order."""
        return _without(self.matching.prediction_counts, self.matched_rows[0])

    @cached_property
    def counting_predictions(self) -> BoolArray:
        """Predictions that are true or false positives, bool, shape (P,); what a protocol ignores is neither."""
        counts = np.zeros(len(self.matching.prediction), dtype=bool)
        counts[self.matched_rows[0]] = True
        counts[self.false_positives] = True
        return counts

    @property
    def binned_scores(self) -> BinnedScores:
        """Return the scores of the true and false positives."""
        return self.matching.binned_scores if self._all_count else self.matching.pairs.binned(self.counting_predictions)

    @property
    def predictions_at_steps(self) -> IntArray:
        """True and false positives of each label at each of `SCORE_STEPS`, int64, shape (T, labels)."""
        matching = self.matching
        return matching.predictions_at_steps if self._all_count else matching.pairs.at_steps(self.counting_predictions)

    @property
    def _all_count(self) -> bool:
        counting, every = self.counting_predictions, self.matching.prediction_counts
        return counting is every or np.array_equal(counting, every)

    @property
    def true_positives_in_bins(self) -> IntArray:
        """Return how many true positives there are in each of the cells of `BoxPairs.score_cells`, int64."""
        pairs = self.matching.pairs
        cells = len(self.matching.dataset.labels) * pairs.bins
        return np.bincount(pairs.score_cells[self.matched_rows[0]], minlength=cells)

    @property
    def true_positives_at_steps(self) -> IntArray:
        """Return how many true positives of each label pass each of `SCORE_STEPS`, int64, shape (T, labels)."""
        pairs, rows = self.matching.pairs, self.matched_rows[0]
        exactly = np.bincount(pairs.step_cells[rows], minlength=pairs.step_count)
        return cumulative_counts(exactly, len(self.matching.dataset.labels))

    def score_curve(self) -> ScoreCurve:
        """Return what `BoxPairs.score_curve` gives at the IoU threshold of the result."""
        return self.matching.pairs.score_curve(iou=self.iou)

    @property
    def mistakes_known(self) -> bool:
        """Return whether `mistakes` was asked for before: a view shows the other numbers first where it was not."""
        return "mistakes" in vars(self)

    @cached_property
    def mistakes(self) -> Mistakes:
        """Return every unmatched box under exactly one name; see `named`."""
        return self.named(None)

    @property
    def corrections(self) -> IntArray:
        """Sum of `Mistakes.corrections` of each label of the dataset, int64, shape (labels,)."""
        return self.mistakes.corrections_per_label(len(self.matching.dataset.labels))

    @cached_property
    def causes(self) -> Causes:
        """Return the causes of the mistakes; see `evaluator.matching.causes.grouped_mistakes`."""
        from evaluator.matching.causes import grouped_mistakes

        return grouped_mistakes(
            self.mistakes,
            self.matching.dataset,
            self.matching.model,
            truth_partner=self.truth_partner,
            prediction_partner=self.prediction_partner,
            truth_counts=self.matching.truth_counts,
            prediction_counts=self.counting_predictions,
        )

    def named(self, options: MistakeOptions | None) -> Mistakes:
        """Return every unmatched box under exactly one name; see `evaluator.matching.error_types`.

        From outlines where they are compared. `options`: whether poor matched pairs are mistakes as well; None for
        those of the protocol.
        """
        from evaluator.matching.error_types import name_mistakes

        return name_mistakes(
            self.matching.pairs.columns("ground_truth"),
            self.matching.pairs.columns("prediction"),
            self.truth_partner,
            iou=self.iou,
            truth_counts=self.matching.truth_counts,
            prediction_counts=self.counting_predictions,
            options=options,
            touching=self.matching.pairs.touching,
        )

    @cached_property
    def per_label(self) -> MetricColumns:
        """Return one row per label of ``matching.labels``, in that order."""
        dataset = self.matching.dataset
        every = self._by(dataset.ground_truth.label, self.matching.prediction.label, len(dataset.labels))
        return every.take(self.matching.label_codes)

    @cached_property
    def micro(self) -> MetricColumns:
        """Return one row: all labels pooled."""
        tp = np.array([len(self.matched_rows[0])])
        return MetricColumns(
            tp=tp,
            fp=np.count_nonzero(self.counting_predictions) - tp,
            fn=np.count_nonzero(self.matching.truth_counts) - tp,
            sum_of_fit=lambda name: ExactSums.of(getattr(self.matches, name)),
        )

    @cached_property
    def per_page(self) -> MetricColumns:
        """Return one row per page of the dataset."""
        dataset = self.matching.dataset
        return self._by(dataset.ground_truth.page, self.matching.prediction.page, dataset.pages)

    @cached_property
    def per_document(self) -> MetricColumns:
        """Return one row per document of the dataset."""
        dataset = self.matching.dataset
        return self.per_page.pooled(dataset.page_document.astype(np.int64), len(dataset.documents))

    @property
    def by_document(self) -> IntArray:
        """True positives, false positives and false negatives of each document of the dataset, int64, shape (3, D)."""
        counts = self.per_document
        return np.stack([counts.tp, counts.fp, counts.fn])

    @cached_property
    def per_document_and_label(self) -> MetricColumns:
        """Return rows by document of the dataset and label of ``matching.labels``, labels running fastest."""
        dataset, size = self.matching.dataset, len(self.matching.dataset.labels)
        truth, prediction = dataset.ground_truth, self.matching.prediction
        every = self._by(
            truth.document.astype(np.int64) * size + truth.label,
            prediction.document.astype(np.int64) * size + prediction.label,
            len(dataset.documents) * size,
        )
        first = np.arange(len(dataset.documents), dtype=np.int64)[:, None] * size
        return every.take((first + self.matching.label_codes).ravel())

    def document_means(self, ratios: Sequence[str] = RATIOS) -> ExactMeans:
        """Add up each ratio, or some, over the documents where it is defined."""
        return ExactMeans.of(np.column_stack([getattr(self.per_document, name) for name in ratios]))

    def macro_documents(self, ratios: Sequence[str] = RATIOS) -> dict[str, object]:
        """Return the mean over documents of each ratio, or of some, and the documents where it is defined.

        ``precision`` … ``mean_purity``: float or None; ``documents``: int per ratio.
        """
        return macro_documents(self.document_means(ratios), ratios)

    def macro_labels(
        self, class_weight: Mapping[str, float] | None = None, ratios: Sequence[str] = RATIOS
    ) -> dict[str, object]:
        """Return the mean over labels of each ratio, or of some, weighted by `class_weight`; others weigh 1.

        ``precision`` … ``mean_purity``: float or None; ``labels``: int per ratio.
        """
        return macro_labels(self.per_label, self.matching.labels, class_weight, ratios)

    def in_documents(self, chosen: BoolArray) -> tuple[MetricColumns, MetricColumns]:
        """Return all labels pooled, and each label, on the `chosen` documents: bool, shape (D,)."""
        dataset, labels = self.matching.dataset, len(self.matching.dataset.labels)
        truth, prediction = dataset.ground_truth, self.matching.prediction
        # One more row for the documents that are not chosen.
        row = np.where(chosen, 0, labels)
        every = self._by(
            np.maximum(row[truth.document], truth.label),
            np.maximum(row[prediction.document], prediction.label),
            labels + 1,
        )
        per_label = every.take(self.matching.label_codes)
        return per_label.micro, per_label

    def _by(self, truth_code: AnyArray, prediction_code: AnyArray, size: int) -> MetricColumns:
        """Return counts and sums per code; codes are one per box of each side."""
        matched = truth_code[self.matched_rows[1]]
        return MetricColumns(
            tp=np.bincount(matched, minlength=size),
            fp=np.bincount(prediction_code[self.false_positives], minlength=size),
            fn=np.bincount(truth_code[self.false_negatives], minlength=size),
            sum_of_fit=lambda name: ExactSums.of(getattr(self.matches, name), matched, size),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxPairs(ABC, Generic[MatchingT]):
    """Every pair of one model that could match: new thresholds need no geometry.

    `iou_floor`: the lowest IoU threshold that can be asked for. `polygons`: outlines are compared, where a row has one.
    """

    dataset: Dataset
    model: int
    iou_floor: float
    polygons: bool = False
    derived: ClassVar[tuple[str, ...]] = ()
    """Names of the properties that take long and that every matching needs."""

    @property
    def prediction(self) -> JoinedBoxes:
        """Return the boxes of the model under the dataset's codes."""
        return self.dataset.predictions[self.model]

    def parts(self) -> dict[str, Any]:
        """Return everything but the dataset by name, what is `derived` too: the same pairs are made of it again."""
        own = [field.name for field in fields(self) if field.name != "dataset"]
        return {name: getattr(self, name) for name in (*own, *self.derived)}

    @classmethod
    def of_parts(cls, dataset: Dataset, parts: Mapping[str, Any]) -> Self:
        """Return the pairs of an equal dataset that have these `parts`."""
        derived = {name: parts[name] for name in cls.derived}
        made = cls(dataset=dataset, **{name: value for name, value in parts.items() if name not in derived})
        vars(made).update(derived)
        return made

    def columns(self, side: Side, rows: IntArray | None = None) -> BoxColumns:
        """Return boxes of a side for error types, all or some rows; with their outlines where these are compared."""
        from evaluator.matching.error_types import BoxColumns

        boxes = self.dataset.ground_truth if side == "ground_truth" else self.prediction
        source, chosen = boxes.source.boxes, slice(None) if rows is None else rows
        label, page, score = boxes.label[chosen], boxes.page[chosen], boxes.score[chosen]
        if self.polygons:
            own = np.arange(len(boxes), dtype=np.int64) if rows is None else rows
            return BoxColumns(outline_bounds(source, own), label, page, score, regions=(source, own))
        areas = None if source.box_area is None else source.box_area[chosen]
        return BoxColumns(boxes.xyxy[chosen], label, page, score, areas)

    @cached_property
    def touching(self) -> Touching:
        """Return every overlapping pair of boxes, whatever its labels, for mistakes at any threshold."""
        from evaluator.matching.error_types import touching_pairs

        return touching_pairs(self.columns("ground_truth"), self.columns("prediction"))

    @cached_property
    def truth_by_page(self) -> PageRows:
        """Looks up the ground truth of some pages."""
        return PageRows(self.dataset.ground_truth.page, self.dataset.pages)

    @cached_property
    def prediction_by_page(self) -> PageRows:
        """Looks up the predictions of some pages."""
        return PageRows(self.prediction.page, self.dataset.pages)

    @property
    def passed(self) -> IntArray:
        """Return how many of `SCORE_STEPS` the score of each prediction passes, int64, shape (P,); all without one."""
        return passed_steps(self.prediction.score)

    @property
    def step_count(self) -> int:
        """Return how many different `step_cells` there may be."""
        return (len(SCORE_STEPS) + 1) * len(self.dataset.labels)

    @cached_property
    def step_cells(self) -> CodeArray:
        """`passed` and label of each prediction as one number, int32, shape (P,); see `cumulative_counts`."""
        return (self.passed * len(self.dataset.labels) + self.prediction.label).astype(np.int32)

    def at_steps(self, predictions: BoolArray) -> IntArray:
        """Return how many of some predictions, bool, shape (P,), of each label pass each of `SCORE_STEPS`."""
        exactly = np.bincount(self.step_cells[predictions], minlength=self.step_count)
        return cumulative_counts(exactly, len(self.dataset.labels))

    @property
    def bins(self) -> int:
        """Return how many bins the scores of a label are in."""
        from evaluator.metrics.confidence import BINS

        return BINS + 1

    @cached_property
    def score_cells(self) -> CodeArray:
        """Label of each prediction and bin of its score as one number, ``label * bins + bin``, int32, shape (P,).

        The bin is `BINS` for a score that is no probability.
        """
        from evaluator.metrics.confidence import BINS, bin_of

        score = self.prediction.score
        bins = np.where((score >= 0.0) & (score <= 1.0), bin_of(score, bins=BINS), BINS)
        return (self.prediction.label * self.bins + bins).astype(np.int32)

    def binned(self, predictions: BoolArray) -> BinnedScores:
        """Return the scores of some predictions, bool, shape (P,), in bins."""
        rows, width, labels = np.flatnonzero(predictions), self.bins, len(self.dataset.labels)
        counts = np.bincount(self.score_cells[rows], minlength=labels * width).reshape(-1, width)
        rows = rows[self.score_cells[rows] % width < width - 1]
        return BinnedScores(counts, ExactSums.of(self.prediction.score[rows], self.score_cells[rows], labels * width))

    @abstractmethod
    def match(self, *, min_score: float = 0.0, min_area: float = 0.0, labels: Sequence[str] | None = None) -> MatchingT:
        """Return the matching of the boxes that take part."""

    def on(self, dataset: Dataset) -> Self:
        """Return the pairs of the same model of another dataset, from the same floor on."""
        return replace(self, dataset=dataset)

    def of_labels(self, labels: Sequence[str]) -> tuple[BoolArray, BoolArray]:
        """Return which ground truth and which predictions have one of some labels, bool, shape (G,) and (P,)."""
        truth, prediction = self.dataset.ground_truth, self.prediction
        if len(labels) == len(self.dataset.labels):
            return np.ones(len(truth), dtype=bool), np.ones(len(prediction), dtype=bool)
        chosen = np.array([label in labels for label in self.dataset.labels], dtype=bool)
        return chosen[truth.label], chosen[prediction.label]

    def score_curve(self, *, iou: float) -> ScoreCurve:
        """Return matches and predictions of every label at the score thresholds 0.00, 0.01, ..., 1.00.

        Every threshold is matched anew: its counts are those of `match` with that ``min_score``. Predictions without a
        score are never left out. ValueError when the IoU threshold is out of range.
        """
        check_iou_threshold(iou, self.iou_floor)
        steps = [self.match(min_score=float(score)).at(iou).per_label for score in SCORE_STEPS]
        tp, fp, fn = (np.stack([getattr(step, name) for step in steps]) for name in ("tp", "fp", "fn"))
        labels = self.dataset.labels[: self.dataset.evaluated]
        return ScoreCurve(SCORE_STEPS, labels, tp=tp, predictions=tp + fp, ground_truth=(tp + fn)[0])

    def best_f1(self, *, iou: float) -> float:
        """Return the score threshold with the highest pooled F1 at an IoU threshold >= ``iou_floor``.

        The lowest of 0.00, 0.01, ..., 1.00 that reach the best F1; 0 without scores or without boxes.
        """
        f1 = self.score_curve(iou=iou).columns().f1
        return 0.0 if np.isnan(f1).all() else float(SCORE_STEPS[np.nanargmax(f1)])


def passed_steps(score: FloatArray) -> IntArray:
    """Return how many of `SCORE_STEPS` each score passes, int64: at least one, all without a score (NaN)."""
    steps = np.searchsorted(SCORE_STEPS, np.nan_to_num(score, nan=np.inf), side="right")
    return np.maximum(steps, 1).astype(np.int64)


def counts_at_steps(passed: IntArray, label: AnyArray, labels: int) -> IntArray:
    """Return how many boxes of each label pass each of `SCORE_STEPS`, int64, shape (T, labels)."""
    return cumulative_counts(np.bincount(passed * labels + label, minlength=(len(SCORE_STEPS) + 1) * labels), labels)


def cumulative_counts(exactly: IntArray, labels: int) -> IntArray:
    """Return `counts_at_steps` from how many of each label pass exactly so many of `SCORE_STEPS`.

    The counts are int64, shape ((T + 1) * labels,).
    """
    # Who passes at least one more threshold than `step` is there at that step.
    return np.cumsum(exactly.reshape(len(SCORE_STEPS) + 1, labels)[::-1], axis=0)[::-1][1:].copy()


def curve_of_one_matching(every: AnyBoxResult) -> ScoreCurve:
    """Return the score curve from the result of all predictions, where boxes match by falling score.

    Only for protocols in which neither who matches nor which predictions count depends on predictions with a lower
    score.
    """
    matching, of_label, codes = every.matching, every.per_label, every.matching.label_codes
    tp, predictions = every.true_positives_at_steps[:, codes], every.predictions_at_steps[:, codes]
    return ScoreCurve(SCORE_STEPS, matching.labels, tp, predictions, ground_truth=of_label.tp + of_label.fn)


def page_and_label(dataset: Dataset, side: JoinedBoxes) -> IntArray:
    """Return (document, page, label) of each box of a side as one integer, int64, sorted as the triple."""
    return side.page * len(dataset.labels) + side.label


def candidate_pairs(
    dataset: Dataset, model: int, *, iou_floor: float, polygons: bool
) -> tuple[Candidates, Overlap | None]:
    """Return every prediction with every ground truth of its page and label that reaches an IoU.

    In rows of the two files; with how they fit by their outlines if `polygons`, else None. ValueError for a floor
    outside (0, 1].
    """
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    groups = page_and_label(dataset, truth), page_and_label(dataset, prediction)
    if polygons:
        return outlined_pairs(truth.source.boxes, groups[0], prediction.source.boxes, groups[1], iou_floor=iou_floor)
    return overlapping_pairs(truth.xyxy, groups[0], prediction.xyxy, groups[1], iou_floor=iou_floor), None


AnyBoxResult = BoxResult[Any]
AnyBoxPairs = BoxPairs[Any]


def _without(counts: BoolArray, matched: IntArray) -> IntArray:
    """Return rows that take part and are not among the matched ones, int64, rising."""
    left = counts.copy()
    left[matched] = False
    return np.flatnonzero(left)


def macro_documents(means: ExactMeans, ratios: Sequence[str] = RATIOS) -> dict[str, object]:
    """Return the means under the names of their ratios, and under ``documents`` how many each mean has."""
    values = {name: defined(value) for name, value in zip(ratios, means.values.tolist(), strict=True)}
    return {**values, "documents": dict(zip(ratios, means.known.tolist(), strict=True))}


def macro_labels(
    per_label: MetricColumns,
    labels: Sequence[str],
    class_weight: Mapping[str, float] | None = None,
    ratios: Sequence[str] = RATIOS,
) -> dict[str, object]:
    """Return the mean of each ratio over labels, with weights, and under ``labels`` how many each mean has."""
    weights = np.array([(class_weight or {}).get(label, 1.0) for label in labels])
    means = {name: weighted_mean(getattr(per_label, name), weights) for name in ratios}
    return {**{name: mean for name, (mean, _) in means.items()}, "labels": {name: n for name, (_, n) in means.items()}}
