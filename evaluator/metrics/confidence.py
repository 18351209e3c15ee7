"""Confidence metrics: AUROC, Brier score, calibration error with its bins, review budgets.

From two columns: whether each value is right, and the confidence of the model in it, in [0, 1]. Undefined is NaN in
columns and single numbers, None in plain values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.metrics.exact_sums import ExactSums, exact_mean
from evaluator.metrics.results import JsonObject, defined, ratio

BINS: Final = 10
BUDGETS: Final = (0.1, 0.3, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Bins of confidence in columns of one length: low <= confidence < high, the last with its high too.

    `accuracy`: share of right values. It and `mean_confidence` are in [0, 1], NaN for an empty bin.
    """

    low: FloatArray
    high: FloatArray
    count: IntArray
    accuracy: FloatArray
    mean_confidence: FloatArray

    @property
    def error(self) -> float:
        """Expected calibration error: mean gap between accuracy and confidence, weighted by count; NaN for none."""
        filled = self.count > 0
        if not filled.any():
            return float("nan")
        gap = np.abs(self.accuracy[filled] - self.mean_confidence[filled])
        return float((self.count[filled] / self.count.sum() * gap).sum())


class ReviewBudget(NamedTuple):
    """What a review of the least certain values finds.

    `budget`: share of the values that are reviewed; `reviewed`: how many, at least one. `caught`, `at_random`: share of
    all errors that this review finds, and that one of as many values at random would find. `gain`: their ratio.
    """

    budget: float
    reviewed: int
    errors_found: int
    caught: float
    at_random: float
    gain: float


def auroc(right: BoolArray, confidence: FloatArray) -> float:
    """Return the probability that a right value has more confidence than a wrong one; ties count half.

    NaN unless there are right and wrong values; both columns have shape (N,). The area under the ROC curve by ranks
    (Mann-Whitney U), average ranks for ties, as in scikit-learn and stickler-eval 1.0.0.

    >>> auroc(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    positives = int(right.sum())
    negatives = len(right) - positives
    if not positives or not negatives:
        return float("nan")
    _, place, count = np.unique(confidence, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    rank = (last - (count - 1) / 2)[place]
    above = float(rank[right].sum()) - positives * (positives + 1) / 2
    return above / (positives * negatives)


def brier(right: BoolArray, confidence: FloatArray) -> float:
    """Return the mean squared distance of confidence and outcome, in [0, 1]; NaN for no values.

    >>> brier(np.array([True, False]), np.array([0.5, 0.5]))
    0.25
    """
    return exact_mean((confidence - right) ** 2)


def calibration(right: BoolArray, confidence: FloatArray, *, bins: int) -> Calibration:
    """Return accuracy against confidence in bins of equal width; ValueError for less than one bin."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1; found {bins}")
    row = bin_of(confidence, bins=bins)
    right_ones = np.bincount(row[right], minlength=bins)
    return calibration_of(np.bincount(row, minlength=bins), right_ones, ExactSums.of(confidence, row, bins).total)


def calibration_of(count: IntArray, right: IntArray, confidence: FloatArray) -> Calibration:
    """Return the calibration of binned values from their number, the right ones, and sums of confidence."""
    edges = np.arange(len(count) + 1) / len(count)
    return Calibration(
        low=edges[:-1],
        high=edges[1:],
        count=count,
        accuracy=ratio(right, count),
        mean_confidence=ratio(confidence, count),
    )


def bin_of(confidence: FloatArray, *, bins: int) -> IntArray:
    """Return the bin of each confidence, int64: low <= confidence < high, the last one closed."""
    edges = np.arange(bins + 1) / bins
    return np.minimum(np.searchsorted(edges[1:], confidence, side="right"), bins - 1)


def reviewed_count(total: int, budget: float) -> int:
    """Return how many of some values a budget pays for: rounded down, at least one, 0 of none."""
    return min(total, max(1, int(total * budget)))


def least_confident(confidence: FloatArray, budget: float) -> IntArray:
    """Return places of the values that a review with a budget in (0, 1] looks at, int64, shape (K,).

    The least certain first; values of equal confidence in the given order.

    >>> least_confident(np.array([0.9, 0.2, 0.5, 0.2]), 0.5)
    array([1, 3])
    """
    order = np.argsort(confidence, kind="stable")
    return order[: reviewed_count(len(confidence), budget)].astype(np.int64)


def review_sentence(row: ReviewBudget | None, *, errors: int, total: int) -> str:
    """Return what a review finds, in one sentence; `row` is None when there is no error to find.

    `errors` are the wrong values, `total` all values with a confidence.

    >>> print(review_sentence(ReviewBudget(0.2, 4, 3, 0.75, 0.2, 3.75), errors=4, total=20))
    Review the least confident 20 % and you catch 75 % of the errors: 3 of 4 in 4 of 20 values; at random 20 %.
    """
    if not total:
        return "No value has a confidence, so values cannot be ordered for a review."
    if row is None:
        return f"All {total:,} values with a confidence are right: a review would catch no error."
    counts = f"{row.errors_found:,} of {errors:,} in {row.reviewed:,} of {total:,} values"
    promise = f"Review the least confident {_percent(row.budget)} and you catch {_percent(row.caught)} of the errors"
    return f"{promise}: {counts}; at random {_percent(row.at_random)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def review_curve(right: BoolArray, confidence: FloatArray) -> IntArray:
    """Return errors among the k least certain values, int64, shape (N + 1,), for k = 0, 1, ..., N.

    Values of equal confidence are reviewed in the given order.
    """
    order = np.argsort(confidence, kind="stable")
    return np.concatenate([[0], np.cumsum(~right[order])]).astype(np.int64)


def review_budgets(right: BoolArray, confidence: FloatArray, budgets: Sequence[float]) -> tuple[ReviewBudget, ...]:
    """Return what reviews of some shares of the values, each in (0, 1], find, by rising budget.

    Empty without an error. ValueError for a budget out of range. stickler-eval 1.0.0: the number of values is rounded
    down and at least 1, and a review at random is that of as many values.
    """
    if outside := [budget for budget in budgets if not 0.0 < budget <= 1.0]:
        raise ValueError(f"a budget must be in (0, 1]; found {outside[0]}")
    curve = review_curve(right, confidence)
    errors, total = int(curve[-1]), len(right)
    if not errors:
        return ()
    rows = []
    for budget in sorted(budgets):
        reviewed = reviewed_count(total, budget)
        caught, at_random = int(curve[reviewed]) / errors, reviewed / total
        rows.append(ReviewBudget(budget, reviewed, int(curve[reviewed]), caught, at_random, caught / at_random))
    return tuple(rows)


@dataclass(frozen=True, eq=False)
class Confidence:
    """The confidence metrics of N values: whether each is right, and its confidence in [0, 1]."""

    right: BoolArray
    confidence: FloatArray

    def __len__(self) -> int:
        return len(self.right)

    @cached_property
    def calibration(self) -> Calibration:
        """Ten bins of equal width."""
        return calibration(self.right, self.confidence, bins=BINS)

    @cached_property
    def review(self) -> tuple[ReviewBudget, ...]:
        """Budgets of 10, 30 and 50 %."""
        return review_budgets(self.right, self.confidence, BUDGETS)

    def to_json(self, *, empty_bin: float | None = None) -> JsonObject:
        """Return the metrics as plain values; `empty_bin` stands for the means of a bin without values.

        ``auroc``, ``brier``, ``ece``: None where undefined; ``bins``: empty without values; ``review_budget``: by
        budget (``"0.10"``), empty without errors. stickler-eval 1.0.0 writes 0 for the means of an empty bin; undefined
        is not zero here.
        """
        return {
            "auroc": defined(auroc(self.right, self.confidence)),
            "brier": defined(brier(self.right, self.confidence)),
            "ece": defined(self.calibration.error),
            "bins": self._bins(empty_bin) if len(self) else [],
            "review_budget": {
                f"{row.budget:.2f}": {
                    "fields_reviewed": row.reviewed,
                    "errors_found": row.errors_found,
                    "pct_errors_caught": row.caught,
                    "pct_errors_random": row.at_random,
                    "gain": row.gain,
                }
                for row in self.review
            },
        }

    def _bins(self, empty_bin: float | None) -> list[dict[str, object]]:
        bins = self.calibration
        columns = (column.tolist() for column in (bins.low, bins.high, bins.count, bins.accuracy, bins.mean_confidence))
        return [
            {
                "range": [low, high],
                "count": count,
                "accuracy": accuracy if count else empty_bin,
                "mean_confidence": mean if count else empty_bin,
            }
            for low, high, count, accuracy, mean in zip(*columns, strict=True)
        ]
