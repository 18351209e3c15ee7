"""Differences of two models by metric, ``b`` minus ``a``, with intervals over documents, in reading order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.compare.metrics import METRICS
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.metrics.measures import Key, Measures
from evaluator.metrics.resampling import (
    FEW_DOCUMENTS,
    RESAMPLES,
    SEED,
    Weights,
    check_resamples,
    draws,
    interval,
    widen_interval,
)
from evaluator.metrics.results import defined
from evaluator.metrics.tied_scores import Range, one_within_the_other

Kind = Literal["loss", "unclear", "gain", "undefined"]
_ORDER: Final[Mapping[Kind, int]] = {"loss": 0, "unclear": 1, "gain": 2, "undefined": 3}


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate ``b`` minus baseline ``a`` in one metric, as a ratio; None where undefined.

    `low` and `high` (95 %) are None with fewer than 2 documents, or where more than 5 % of the resamples are
    `undefined`. `documents` were drawn from, `documents_with` have the label (None: all); in `documents_better` and
    `documents_worse` both numbers are defined. `noun` is what a document is called.
    `by_ties`: the order of equal scores alone can make it, so that it is never clear.
    """

    metric: str
    label: str
    overall: bool
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    documents: int
    documents_better: int
    documents_worse: int
    undefined: int
    resamples: int
    documents_with: int | None = None
    noun: str = "document"
    by_ties: bool = False

    @property
    def few_documents(self) -> bool:
        """Return whether there are too few documents for an interval."""
        return self.documents < FEW_DOCUMENTS

    @property
    def rare(self) -> bool:
        """Return whether enough documents are there and too few have the label: resampling gives no information."""
        with_label = self.documents if self.documents_with is None else self.documents_with
        return not self.few_documents and with_label < FEW_DOCUMENTS

    @property
    def too_few(self) -> bool:
        """Return whether an interval means too little to be shown, for either reason."""
        return self.few_documents or self.rare

    @property
    def excludes_zero(self) -> bool:
        """Return whether there is an interval and 0 is outside of it."""
        return self.low is not None and self.high is not None and (self.low > 0.0 or self.high < 0.0)

    @property
    def is_clear(self) -> bool:
        """Return whether the difference is clear: the interval excludes 0, and enough documents have the label."""
        return self.excludes_zero and not self.too_few and not self.by_ties

    @property
    def kind(self) -> Kind:
        """``loss`` and ``gain`` when starred, ``unclear`` when not, ``undefined`` without a difference."""
        if self.difference is None:
            return "undefined"
        if not self.is_clear or METRICS[self.metric].target is not None:
            return "unclear"
        return "gain" if self.gain > 0.0 else "loss"

    @property
    def gain(self) -> float:
        """Return the difference with what is better above 0; 0 where undefined."""
        return (self.difference or 0.0) * (-1.0 if METRICS[self.metric].lower_is_better else 1.0)

    @property
    def gain_interval(self) -> tuple[float, float] | None:
        """Return the interval of `gain`; None where there is none."""
        if self.low is None or self.high is None:
            return None
        return (-self.high, -self.low) if METRICS[self.metric].lower_is_better else (self.low, self.high)


def differences(
    a: Measures, b: Measures, *, seed: int = SEED, resamples: int = RESAMPLES, keys: Sequence[Key] | None = None
) -> tuple[Difference, ...]:
    """Return the differences ``b`` minus ``a``, in the order of ``a``, then what only ``b`` has.

    Paired bootstrap over documents in the order of their ids, so that the order of files changes nothing; percentile
    intervals, widened for the documents that have the label (`widen_interval`). No resamples: no intervals. A document
    or label that one model lacks is undefined for it, or empty, as the protocol has it.
    """
    check_resamples(resamples)
    if keys is not None:
        a, b = a.only(set(keys)), b.only(set(keys))
    every = list(dict.fromkeys([*a.keys, *b.keys]))
    documents = sorted({*a.documents, *b.documents})
    sides = [ModelColumns.of(measures, documents, every) for measures in (a, b)]
    drawn = draws(len(documents), resamples=resamples, seed=seed)
    resampled = np.concatenate(
        [np.empty((0, len(every))), *(sides[1].resampled(w) - sides[0].resampled(w) for w in drawn)]
    )
    difference = sides[1].values - sides[0].values
    alone = [side.per_document(len(documents)) for side in sides]
    counted = (~np.isnan(alone[0]) | ~np.isnan(alone[1])).sum(axis=0)
    most = np.array([METRICS[key.metric].most - METRICS[key.metric].least for key in every])
    intervals = widen_interval(interval(resampled), difference, counted, least=-most, most=most)
    known = ~np.isnan(difference) & (len(documents) > 1)
    low, high = np.where(known, intervals.low, np.nan), np.where(known, intervals.high, np.nan)
    good = [_judged(values, every) for values in alone]
    better, worse = (good[1] > good[0]).sum(axis=0), (good[1] < good[0]).sum(axis=0)
    return tuple(
        Difference(
            metric=key.metric,
            label=key.label,
            overall=key.label == a.overall,
            a=defined(sides[0].values[row]),
            b=defined(sides[1].values[row]),
            difference=defined(difference[row]),
            low=defined(low[row]),
            high=defined(high[row]),
            documents=len(documents),
            documents_better=int(better[row]),
            documents_worse=int(worse[row]),
            undefined=int(intervals.undefined[row]),
            resamples=resamples,
            documents_with=int(counted[row]),
            noun=a.noun,
        )
        for row, key in enumerate(every)
    )


def without_ties(every: Sequence[Difference], a: Mapping[Key, Range], b: Mapping[Key, Range]) -> tuple[Difference, ...]:
    """Return differences, marked where the order of equal scores alone can make them; see `one_within_the_other`.

    `a`, `b`: the worst and the best value of each number that this order moves, see ``Result.tied_ranges``.
    """

    def by_ties(one: Difference) -> bool:
        return ties_make(Key(one.metric, one.label), one.a, one.b, a, b)

    return tuple(replace(one, by_ties=by_ties(one)) if one.difference else one for one in every)


def ties_make(
    key: Key, first: float | None, second: float | None, a: Mapping[Key, Range], b: Mapping[Key, Range]
) -> bool:
    """Return whether the order of equal scores alone can make a difference of two numbers; see `without_ties`."""
    if first is None or second is None or not (key in a or key in b):
        return False
    return one_within_the_other(a.get(key, Range(first, first)), b.get(key, Range(second, second)))


def in_reading_order(every: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return clear losses, unclear ones, clear gains and undefined ones, each by rising difference."""
    return tuple(sorted(every, key=lambda one: (_ORDER[one.kind], one.gain)))


def headline_differences(every: Sequence[Difference], *, limit: int = 8) -> tuple[Difference, ...]:
    """Return the few differences of recall and precision that a reader should see, in reading order.

    Those over all labels always have a place; then clear losses before clear gains before unclear ones, the larger
    before the smaller.
    """
    chosen = [one for one in every if one.metric in ("recall", "precision") and one.difference is not None]
    rank: Mapping[Kind, int] = {"loss": 1, "gain": 2, "unclear": 3, "undefined": 4}
    chosen.sort(key=lambda one: (0 if one.overall else rank[one.kind], -abs(one.difference or 0.0)))
    return in_reading_order(chosen[:limit])


def decision_differences(
    every: Sequence[Difference], *, limit: int = 8, metrics: Sequence[str] = ("f1", "precision", "recall")
) -> tuple[Difference, ...]:
    """Return the differences that a decision rests on, in the order in which they are read.

    Those over all labels in the order of `metrics`; all clear losses, the largest first; then, up to `limit` rows,
    clear gains and what is not clear, the larger before the smaller. Undefined ones are left out.
    """
    known = [one for one in every if one.metric in metrics and one.difference is not None]
    first = sorted((one for one in known if one.overall), key=lambda one: metrics.index(one.metric))
    by_size = sorted((one for one in known if not one.overall), key=lambda one: -abs(one.difference or 0.0))
    losses = [one for one in by_size if one.kind == "loss"]
    rest = [one for kind in ("gain", "unclear") for one in by_size if one.kind == kind]
    return (*first, *losses, *rest[: max(limit - len(first) - len(losses), 0)])


def _judged(values: FloatArray, keys: Sequence[Key]) -> FloatArray:
    """Return how good numbers are, more being better: with a target, how near they are to it."""
    values = values * [-1.0 if METRICS[key.metric].lower_is_better else 1.0 for key in keys]
    target = np.array([np.nan if METRICS[key.metric].target is None else METRICS[key.metric].target for key in keys])
    return np.where(np.isnan(target), values, -np.abs(values - target))


class ModelColumns(NamedTuple):
    """The numbers of one model under documents and keys that several models share."""

    measures: Measures
    # Row of each of its documents in the shared ones.
    documents: IntArray
    # Its column of each shared key; one too high for what it does not have.
    columns: IntArray

    @classmethod
    def of(cls, measures: Measures, documents: Sequence[str], keys: Sequence[Key]) -> ModelColumns:
        """Return the numbers of a model under shared documents, which have all of its own, and keys."""
        place = {name: row for row, name in enumerate(documents)}
        column = {key: row for row, key in enumerate(measures.keys)}
        return cls(
            measures,
            np.array([place[name] for name in measures.documents], dtype=np.int64),
            np.array([column.get(key, len(column)) for key in keys], dtype=np.int64),
        )

    @property
    def values(self) -> FloatArray:
        """Return its numbers, NaN for what it does not have."""
        return np.append(self.measures.values, np.nan)[self.columns]

    def resampled(self, weights: Weights) -> FloatArray:
        """Return its numbers under weights of the shared documents, shape (R, keys)."""
        if not np.array_equal(self.documents, np.arange(weights.shape[1])):
            weights = np.ascontiguousarray(weights[:, self.documents])
        return self._shared(self.measures.resampled(weights))

    def per_document(self, documents: int) -> FloatArray:
        """Return its numbers in each shared document, NaN where undefined or not its document."""
        every = np.full((documents, len(self.columns)), np.nan)
        every[self.documents] = self._shared(self.measures.per_document)
        return every

    def _shared(self, values: FloatArray) -> FloatArray:
        return np.column_stack([values, np.full(len(values), np.nan)])[:, self.columns]
