"""Scores of boxes: their calibration, and what one threshold for each label would gain.

For results of any protocol that matches boxes; undefined is NaN in columns and None in single values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.error_types import TideErrors, TideOptions, tide
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.confidence import BINS, Calibration, calibration, calibration_of
from evaluator.metrics.results import JsonObject, ScoreCurve, defined, ratio

CURVE_POINTS: Final = 240
"""Points of a precision-recall curve that are drawn; more nobody sees."""


def box_calibration(result: AnyBoxResult, label: str | None = None, *, bins: int = BINS) -> Calibration | None:
    """Return the share of predictions that are true positives, by score in bins of equal width.

    Of the predictions that are true or false positives, of one label where it is given. None when one of them has no
    score or one outside [0, 1]. ValueError when the label is not scored, or with less than one bin.
    """
    prediction, rows = result.matching.prediction, np.flatnonzero(result.counting_predictions)
    if label is not None:
        rows = rows[prediction.label[rows] == _code(result, label)]
    score = prediction.score[rows]
    if np.isnan(score).any() or (score < 0.0).any() or (score > 1.0).any():
        return None
    return calibration(result.prediction_partner[rows] != UNMATCHED, score, bins=bins)


def _of_bins(count: IntArray, right: IntArray, total: FloatArray) -> Calibration | None:
    """Return the calibration of bins; None where a score is no probability."""
    return None if count[BINS] else calibration_of(count[:BINS], right[:BINS], total[:BINS])


def box_calibrations(result: AnyBoxResult) -> dict[str | None, Calibration | None]:
    """Return `box_calibration` for all labels together, under None, and for each label of the matching."""
    codes, (counts, totals) = result.matching.label_codes, result.binned_scores
    cells = np.arange(counts.size).reshape(counts.shape)[codes].ravel()
    right = result.true_positives_in_bins.reshape(counts.shape)[codes]
    counts, totals = counts[codes], totals.take(cells)
    # The last bin is that of scores that are no probability.
    width = BINS + 1
    of_all = totals.pooled(np.arange(len(totals)) % width, width).total
    rows = zip(result.matching.labels, counts, right, totals.total.reshape(-1, width), strict=True)
    every: dict[str | None, Calibration | None] = {None: _of_bins(counts.sum(axis=0), right.sum(axis=0), of_all)}
    return every | {label: _of_bins(*columns) for label, *columns in rows}


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdChoice:
    """One score threshold for all labels, or one for each; columns are float64, shape (L,).

    `one`: the lowest of 0.00, 0.01, ..., 1.00 with the best F1 of all labels pooled. `own`: the same for each label
    alone; NaN for a label without any box. `f1_one`, `f1_own`: F1 of all labels pooled, at the one threshold, and with
    each label at its own; NaN without any box. `label_f1_one`, `label_f1_own`: F1 of each label there. `recall_own`,
    `precision_own`: at its own threshold.
    """

    labels: tuple[str, ...]
    one: float
    own: FloatArray
    f1_one: float
    f1_own: float
    label_f1_one: FloatArray
    label_f1_own: FloatArray
    recall_own: FloatArray
    precision_own: FloatArray

    @property
    def gains(self) -> IntArray:
        """Places of the labels that gain by a threshold of their own, the largest gain first, int64."""
        gain = np.nan_to_num(self.label_f1_own - self.label_f1_one)
        order = np.argsort(-gain, kind="stable")
        return np.asarray(order[gain[order] > 0.0], dtype=np.int64)

    def to_json(self) -> JsonObject:
        """Return the thresholds as plain values: ``one`` and, by label, ``own``; undefined is None."""
        own = {label: defined(value) for label, value in zip(self.labels, self.own.tolist(), strict=True)}
        return {
            "one": {"score": self.one, "f1": defined(self.f1_one)},
            "own": {"f1": defined(self.f1_own), "score": own},
        }


def threshold_choice(curve: ScoreCurve) -> ThresholdChoice:
    """Return the best score threshold of all labels together, and that of each label.

    Boxes match within their label, so the counts of labels at their own thresholds add up. Each label's threshold is
    the best for its own F1, not always for F1 of all pooled: `f1_own` may be below `f1_one`.

    >>> counts = np.array([[2, 1], [1, 1]])
    >>> curve = ScoreCurve(np.array([0.0, 0.5]), ("a", "b"), tp=counts, predictions=np.array([[2, 4], [1, 1]]),
    ...     ground_truth=np.array([2, 1]))
    >>> threshold_choice(curve).own
    array([0. , 0.5])
    """
    f1 = ratio(2 * curve.tp, curve.predictions + curve.ground_truth)
    pooled = curve.columns().f1
    known = ~np.isnan(f1).all(axis=0)
    at_one = 0 if np.isnan(pooled).all() else int(np.nanargmax(pooled))
    at_own = np.where(known, np.argmax(np.nan_to_num(f1, nan=-1.0), axis=0), 0)
    columns = np.arange(len(curve.labels))
    tp, predictions = curve.tp[at_own, columns], curve.predictions[at_own, columns]
    truths = int(curve.ground_truth.sum())
    boxes = int(predictions.sum()) + truths
    return ThresholdChoice(
        labels=curve.labels,
        one=float(curve.threshold[at_one]),
        own=np.where(known, curve.threshold[at_own], np.nan),
        f1_one=float(pooled[at_one]),
        f1_own=2 * int(tp.sum()) / boxes if boxes else float("nan"),
        label_f1_one=f1[at_one],
        label_f1_own=f1[at_own, columns],
        recall_own=ratio(tp, curve.ground_truth),
        precision_own=ratio(tp, predictions),
    )


def thin_curve(curve: Curve, most: int = CURVE_POINTS) -> Curve:
    """Return at most so many points of a curve: its first, its last, and others at equal steps of recall.

    Points where precision or recall is undefined are left out.
    """
    rows = np.flatnonzero(~(np.isnan(curve.precision) | np.isnan(curve.recall)))
    if len(rows) > most:
        wanted = np.linspace(curve.recall[rows[0]], curve.recall[rows[-1]], most)
        kept = np.searchsorted(curve.recall[rows], wanted, side="left")
        rows = rows[np.unique(np.append(np.minimum(kept, len(rows) - 1), [0, len(rows) - 1]))]
    return Curve(*(column[rows] for column in curve))


def tide_of(result: AnyBoxResult) -> TideErrors | None:
    """Return the six TIDE types of a result, and what each costs in AP at its IoU threshold.

    Of the boxes that are true or false positives or false negatives, by their outlines where these are compared. None
    when a prediction has no score. See `matching.error_types.tide`: its AP is that of 101 points at IoU >= the
    threshold, whatever the protocol's is.
    """
    matching = result.matching
    rows = np.flatnonzero(result.counting_predictions)
    if np.isnan(matching.prediction.score[rows]).any():
        return None
    options = TideOptions(iou=result.iou, background_iou=min(TideOptions().background_iou, result.iou))
    truth = matching.pairs.columns("ground_truth", np.flatnonzero(matching.truth_counts))
    return tide(truth, matching.pairs.columns("prediction", rows), options=options)


def _code(result: AnyBoxResult, label: str) -> int:
    matching = result.matching
    if label not in matching.labels:
        raise ValueError(f"label must be one of {', '.join(matching.labels)}; found {label}")
    return int(matching.dataset.labels.index(label))
