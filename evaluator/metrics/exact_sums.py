"""Sums of floats that no order, no cut and no merge changes: whole numbers of a fixed unit, in limbs of 28 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluator.data.boxes import AnyArray, FloatArray, IntArray

_BITS: Final = 28
_LIMB: Final = float(1 << _BITS)
# What the least double, 2 ** -1074, needs.
_MOST_LIMBS: Final = 39
# Two limbs of sums below this make one word of 63 bits.
_ONE_WORD: Final = 1 << 34
# Values that are added up in one go: they stay in the processor's cache.
_PIECE: Final = 1 << 15
# So many whole numbers up to 2 ** 28 are added up in doubles without rounding.
_MOST_AT_ONCE: Final = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class ExactSums:
    """Exact sums of float64 values in [-1, 1], S of them, of up to 2 ** 34 values each.

    `limbs`: int64, shape (K, S); limb k counts multiples of ``2 ** (-28 * (k + 1))``; two, or as many more as a value
    needs.

    >>> float(ExactSums.of(np.full(10, 0.1)).total[0])
    1.0
    """

    limbs: IntArray

    def __len__(self) -> int:
        return int(self.limbs.shape[1])

    @classmethod
    def of(cls, values: FloatArray, cells: AnyArray | None = None, size: int = 1) -> ExactSums:
        """Add up values, shape (N,), each in the sum that `cells` names, one of `size`; all in one without."""
        limbs = np.zeros((2, size), dtype=np.int64)
        step = min(max(_PIECE, size), _MOST_AT_ONCE)
        for start in range(0, len(values), step):
            own = None if cells is None else cells[start : start + step]
            rest = values[start : start + step] * _LIMB
            for place in range(_MOST_LIMBS):
                if place == len(limbs):
                    limbs = np.concatenate([limbs, np.zeros((1, size), dtype=np.int64)])
                whole = np.trunc(rest)
                added = whole.sum() if own is None else np.bincount(own, whole, size)
                limbs[place] += added.astype(np.int64)
                rest -= whole
                if not rest.any():
                    break
                rest *= _LIMB
        return cls(limbs)

    @classmethod
    def merged(cls, parts: Sequence[ExactSums]) -> ExactSums:
        """Add up the sums of all parts, at least one, which have the same S."""
        limbs = np.zeros((max(len(part.limbs) for part in parts), len(parts[0])), dtype=np.int64)
        for part in parts:
            limbs[: len(part.limbs)] += part.limbs
        return cls(limbs)

    def take(self, rows: IntArray) -> ExactSums:
        """Return some of the sums, in the given order."""
        return ExactSums(self.limbs[:, rows])

    def pooled(self, into: IntArray, size: int) -> ExactSums:
        """Add each sum to the one of `size` new ones that `into`, int64, shape (S,), names."""
        limbs = np.zeros((len(self.limbs), size), dtype=np.int64)
        for own, limb in zip(limbs, self.limbs, strict=True):
            np.add.at(own, into, limb)
        return ExactSums(limbs)

    @property
    def total(self) -> FloatArray:
        """Return the doubles nearest to the sums, float64, shape (S,), as `math.fsum` has them."""
        if len(self.limbs) == 2 and int(np.abs(self.limbs).max(initial=0)) < _ONE_WORD:
            return np.asarray(((self.limbs[0] << _BITS) + self.limbs[1]).astype(np.float64) * _LIMB**-2)
        # Python divides whole numbers correctly rounded.
        unit = 1 << _BITS * len(self.limbs)
        sums = np.zeros(len(self), dtype=object)
        for limb in self.limbs:
            sums = sums * (1 << _BITS) + limb.astype(object)
        return np.asarray(sums / unit, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ExactMeans:
    """Means of M numbers over rows that add up, such as pages or documents; undefined ones do not count.

    `known`: int64, shape (M,), rows where each number is defined.
    """

    sums: ExactSums
    known: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> ExactMeans:
        """Add up rows of numbers in [-1, 1], shape (R, M); NaN is undefined."""
        size = values.shape[1]
        row, number = np.nonzero(~np.isnan(values))
        return cls(ExactSums.of(values[row, number], number, size), np.bincount(number, minlength=size))

    @classmethod
    def merged(cls, parts: Sequence[ExactMeans]) -> ExactMeans:
        """Add up the rows of all parts, at least one, which have the same M."""
        return cls(ExactSums.merged([part.sums for part in parts]), np.sum([part.known for part in parts], axis=0))

    @property
    def values(self) -> FloatArray:
        """Return the means, float64, shape (M,); NaN where nothing is defined."""
        return np.asarray(np.divide(self.sums.total, np.where(self.known, self.known, np.nan)))


def exact_mean(values: FloatArray) -> float:
    """Return the mean of values in [-1, 1], shape (N,), from their exact sum; NaN of none."""
    return float(ExactSums.of(values).total[0]) / len(values) if len(values) else float("nan")
