"""Result columns that every protocol shares, and the signature line that every number carries.

Undefined values are NaN in columns and None in single values and JSON, never 0 or -1. Which boxes count, and what a row
is, the protocol decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypedDict, cast, get_args

import msgspec
import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.issues import count_of
from evaluator.data.order import all_true
from evaluator.metrics.exact_sums import ExactSums
from evaluator.system.version import __version__

MINUS: Final = "\u2212"
"""The sign of numbers that people read; data for machines have a hyphen."""
JsonObject = dict[str, Any]
"""Plain values under the keys of the terminal contract, as ``to_json`` gives them; undefined is None."""


class Metrics(TypedDict):
    """One row of `MetricColumns` as plain values; undefined is None."""

    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None
    mean_iou: float | None
    mean_coverage: float | None
    mean_purity: float | None


RATIOS = ("precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity")


Fit = Literal["iou", "coverage", "purity"]
"""How well a matched pair fits."""


@dataclass(frozen=True, eq=False)
class MetricColumns:
    """Counts of one row per label, page or document, and the ratios that follow from them.

    Attributes
    ----------
    tp, fp, fn : int64, shape (R,)
        True positives, false positives, false negatives.
    sum_of_fit : callable or None
        Gives the sums of "iou", "coverage" or "purity" over the true positives of each row; called at most once for
        each. None where how pairs fit is not known: the means are undefined.
    """

    tp: IntArray
    fp: IntArray
    fn: IntArray
    sum_of_fit: Callable[[Fit], ExactSums] | None
    _sums: dict[Fit, ExactSums] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.tp)

    def fit_sum(self, name: Fit) -> FloatArray:
        """Return the sum of "iou", "coverage" or "purity" over the true positives of each row, float64, shape (R,)."""
        return np.full(len(self), np.nan) if self.sum_of_fit is None else self._exact(name).total

    def _exact(self, name: Fit) -> ExactSums:
        if name not in self._sums:
            assert self.sum_of_fit is not None
            self._sums[name] = self.sum_of_fit(name)
        return self._sums[name]

    @cached_property
    def precision(self) -> FloatArray:
        """TP / (TP + FP), float64, shape (R,), in [0, 1]; NaN without predictions."""
        return ratio(self.tp, self.tp + self.fp)

    @cached_property
    def recall(self) -> FloatArray:
        """TP / (TP + FN), float64, shape (R,), in [0, 1]; NaN without ground truth."""
        return ratio(self.tp, self.tp + self.fn)

    @cached_property
    def f1(self) -> FloatArray:
        """2 TP / (2 TP + FP + FN), float64, shape (R,), in [0, 1]; NaN without any box."""
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @cached_property
    def mean_iou(self) -> FloatArray:
        """Mean IoU of the true positives, float64, shape (R,); NaN without any."""
        return ratio(self.fit_sum("iou"), self.tp)

    @cached_property
    def mean_coverage(self) -> FloatArray:
        """Mean coverage of the true positives, float64, shape (R,); NaN without any."""
        return ratio(self.fit_sum("coverage"), self.tp)

    @cached_property
    def mean_purity(self) -> FloatArray:
        """Mean purity of the true positives, float64, shape (R,); NaN without any."""
        return ratio(self.fit_sum("purity"), self.tp)

    @property
    def mistakes(self) -> IntArray:
        """Boxes that did not match, int64, shape (R,): false positives and false negatives."""
        return self.fp + self.fn

    def row(self, index: int) -> Metrics:
        """Return one row as plain values; undefined ratios are None."""
        counts = {name: int(getattr(self, name)[index]) for name in ("tp", "fp", "fn")}
        return cast(Metrics, counts | {name: defined(getattr(self, name)[index]) for name in RATIOS})

    def take(self, rows: IntArray) -> MetricColumns:
        """Return some of the rows, in the given order."""
        return MetricColumns(
            tp=self.tp[rows],
            fp=self.fp[rows],
            fn=self.fn[rows],
            sum_of_fit=self.sum_of_fit and (lambda name: self._exact(name).take(rows)),
        )

    def pooled(self, into: IntArray, size: int) -> MetricColumns:
        """Return `size` rows added up under new codes (micro-averaging); zeros where nothing went.

        `into`, int64, shape (R,), is the new row of each row.
        """
        return MetricColumns(
            tp=count_by(into, self.tp, size),
            fp=count_by(into, self.fp, size),
            fn=count_by(into, self.fn, size),
            sum_of_fit=self.sum_of_fit and (lambda name: self._exact(name).pooled(into, size)),
        )

    @property
    def micro(self) -> MetricColumns:
        """Return one row: all rows pooled."""
        return self.pooled(np.zeros(len(self), dtype=np.int64), 1)

    @classmethod
    def merged(cls, parts: Sequence[MetricColumns]) -> MetricColumns:
        """Add up the rows of all parts, at least one, which have the same rows and know how pairs fit."""
        tp, fp, fn = (np.sum([getattr(part, name) for part in parts], axis=0) for name in ("tp", "fp", "fn"))
        return cls(tp, fp, fn, sum_of_fit=lambda name: ExactSums.merged([part._exact(name) for part in parts]))

    def __getstate__(self) -> dict[str, object]:
        """Return plain columns, for another process: the sums are worked out."""
        sums = None if self.sum_of_fit is None else {name: self._exact(name) for name in get_args(Fit)}
        return {"tp": self.tp, "fp": self.fp, "fn": self.fn, "sums": sums}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sums = state.pop("sums")
        self.__dict__.update(state, sum_of_fit=sums and sums.__getitem__, _sums=sums or {})


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """What a model reaches at each score threshold; every threshold is a matching of its own.

    Attributes
    ----------
    threshold : float64, shape (T,), rising, in [0, 1]
        Predictions with a lower score are left out.
    labels : tuple of str, length L
    tp, predictions : int64, shape (T, L)
        Matched predictions, and predictions that take part.
    ground_truth : int64, shape (L,)
    """

    threshold: FloatArray
    labels: tuple[str, ...]
    tp: IntArray
    predictions: IntArray
    ground_truth: IntArray

    def columns(self, label: str | None = None) -> MetricColumns:
        """Return precision, recall and F1, a row for each threshold, of one label or of all labels pooled.

        The mean IoU, coverage and purity are NaN. ValueError for a label that it does not have.
        """
        chosen = slice(None) if label is None else [self.labels.index(label)]
        tp, predictions = self.tp[:, chosen].sum(axis=1), self.predictions[:, chosen].sum(axis=1)
        return MetricColumns(tp, predictions - tp, int(self.ground_truth[chosen].sum()) - tp, sum_of_fit=None)


def ratio(part: IntArray | FloatArray, whole: IntArray | FloatArray) -> FloatArray:
    """Return a part over its whole by row, float64; NaN where the whole is 0: undefined is not zero."""
    if not all_true(np.asarray(whole)):
        whole = np.where(whole, whole, np.nan)
    return np.asarray(np.divide(part, whole), dtype=np.float64)


def defined(value: float) -> float | None:
    """Return the value as a plain float, or None when it is undefined (NaN)."""
    return None if math.isnan(value) else float(value)


def weighted_mean(values: FloatArray, weights: FloatArray | None = None) -> tuple[float | None, int]:
    """Return the mean of the values that are defined (not NaN), and how many there were.

    None when nothing is defined or all defined values weigh 0. Both columns have shape (R,); weights are >= 0.
    """
    known = ~np.isnan(values)
    weight = np.ones(len(values)) if weights is None else weights
    heavy = math.fsum(weight[known].tolist())
    mean = math.fsum((values[known] * weight[known]).tolist()) / heavy if heavy > 0 else None
    return mean, int(known.sum())


class SourceFile(NamedTuple):
    """A file that was read: its name without folder, and the digest of its bytes in hexadecimal digits."""

    name: str
    sha256: str


class Signature(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What made a number: protocol, version, thresholds, options, package.

    Attributes
    ----------
    strict : bool
        Whether a pair must exceed the IoU threshold, not only reach it.
    min_score : float or None
        Predictions below are left out before matching; 0 keeps all, None for a protocol without scores.
    min_area : float
        Predictions that cover less than this share of the page are left out; 0 keeps all.
    labels : tuple of str or None
        The labels that were scored; None for all.
    class_weight : dict of float
        Weights of the labels in the mean over labels.
    options : tuple of str
        Anything else that the protocol was given, in its own words.
    """

    protocol: str
    version: str
    iou: tuple[float, ...] = ()
    strict: bool = False
    min_score: float | None = 0.0
    min_area: float = 0.0
    labels: tuple[str, ...] | None = None
    class_weight: Mapping[str, float] = {}
    options: tuple[str, ...] = ()
    documents: int = 0
    pages: int = 0
    package: str = f"layoutscope {__version__}"

    @property
    def line(self) -> str:
        """Return the signature in one line of plain text.

        For instance ``snapshot 1.3 · IoU ≥ 0.50, 0.75 · score ≥ 0.00 · 38 documents, 412 pages · layoutscope 0.2.0``.
        """
        parts = [f"{self.protocol} {self.version}"]
        if self.iou:
            parts.append(f"IoU {'>' if self.strict else '≥'} " + ", ".join(threshold_text(value) for value in self.iou))
        if self.min_score is not None:
            parts.append(f"score ≥ {threshold_text(self.min_score)}")
        if self.min_area:
            parts.append(f"area ≥ {self.min_area:g} of the page")
        if self.labels is not None:
            parts.append("labels " + ", ".join(self.labels))
        if self.class_weight:
            parts.append("weights " + ", ".join(f"{label} {weight:g}" for label, weight in self.class_weight.items()))
        return " · ".join([*parts, *self.options, self.counts, self.package])

    @property
    def counts(self) -> str:
        """Documents and pages, such as ``38 documents, 412 pages``."""
        return f"{count_of(self.documents, 'document')}, {count_of(self.pages, 'page')}"


def applied_score(min_score: float, score: FloatArray) -> tuple[float, tuple[str, ...]]:
    """Return the score threshold as a signature states it, and in words what it does not reach.

    `score` is NaN for a prediction without one; such a prediction is never left out.
    """
    # The least of them is NaN as soon as one is, which takes a fraction of looking at each.
    if min_score <= 0.0 or not np.isnan(score.min(initial=np.inf)):
        return min_score, ()
    if np.isnan(score).all():
        return 0.0, (f"no scores: minimum score {threshold_text(min_score)} does not apply",)
    return min_score, ("predictions without a score stay",)


def signed(value: float, decimals: int = 0) -> str:
    """Return a change as people read it; one that is not nothing, but is rounded to nothing, is plus or minus it.

    >>> signed(1204), signed(-0.44, 1), signed(0), signed(-0.04, 1)
    ('+1,204', '−0.4', '0', '±0.0')
    """
    size = f"{abs(value):,.{decimals}f}"
    return size if value == 0.0 else f"{'±' if not size.strip('0.') else '+' if value > 0 else MINUS}{size}"


def threshold_text(value: float) -> str:
    """Return a threshold with at least two decimals and no digit lost: ``0.50``, ``0.125``."""
    text = repr(float(value))
    short = f"{value:.2f}"
    return short if float(short) == value else text


def ratio_text(value: float | None) -> str:
    """Return a ratio with three decimals; undefined is n/a. A tie goes up, as in the tables that a browser writes.

    >>> ratio_text(0.3125), ratio_text(None)
    ('0.313', 'n/a')
    """
    return "n/a" if value is None else str(Decimal(value).quantize(Decimal("0.001"), ROUND_HALF_UP))


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, numbered where two models have the same one.

    >>> distinct_names(["toy", "base", "toy"])
    ('toy (1)', 'base', 'toy (2)')
    """
    count, seen, distinct = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        distinct.append(name if count[name] == 1 else f"{name} ({seen[name]})")
    return tuple(distinct)


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case: ``mean IoU`` is ``Mean IoU``.

    A first word with a capital in it is a symbol and stays as it is: ``mAP at 0.50``.
    """
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() else text[:1].upper() + text[1:]


def count_by(rows: IntArray, counts: IntArray, size: int) -> IntArray:
    """Return the sum of the counts per row code, int64, shape (size,); exact below 2**53."""
    return np.bincount(rows, weights=counts, minlength=size).astype(np.int64)


class ResultTable(msgspec.Struct, frozen=True, kw_only=True):
    """A result as rows of plain values, for terminals and spreadsheets; None is undefined.

    `title`: what the rows are, for instance the name of the predictions. `signature`: what made the numbers.
    """

    title: str
    signature: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
