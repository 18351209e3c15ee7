"""How many pixels of each page are wrong, over everything and by class: those off the diagonal of its matrix.

Owns these sums and how they follow from those before a change of the counts. They are whole numbers over one divisor,
so that nothing depends on the order in which they were added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluator.metrics.pixel_counts import PairCounts
from evaluator.metrics.pixel_moves import PixelMoves
from evaluator.metrics.pixel_sweep import WordArray
from evaluator.model.boxes import FloatArray, IntArray
from evaluator.protocols.pixel.matrix import EXACT, Coded, Entries, coded, shares, spread


@dataclass(frozen=True, eq=False)
class WrongPixels:
    """Sums of the confusion matrices of S pages over C classes.

    Attributes
    ----------
    sums : float64, shape (S, 2, C)
        Row plus column of each class, then its cell on the diagonal; times `divisor`, whole numbers.
    divisor : int
        What all shares of pixels have in common.
    amounts : float64, shape (S, C)
        Pixels off the diagonal, fractions where pixels have several labels; then those of the row and of the column of
        each class but the background, NaN without pixels of the class.
    """

    sums: FloatArray
    divisor: int
    amounts: FloatArray

    @classmethod
    def of(cls, counts: PairCounts, classes: int, most: int) -> WrongPixels | None:
        """The sums of counts of pages with at most so many pixels; None where they are too large to be exact."""
        nothing = cls(np.zeros((counts.scopes, 2, classes)), 1, np.empty((counts.scopes, classes)))
        weights = _weights((counts.first, counts.second), 1, classes)
        return nothing._with(coded(counts), np.arange(counts.scopes), weights, most)

    def changed(self, moves: PixelMoves, most: int) -> WrongPixels | None:
        """The sums after some moves; None where they are too large to be exact."""
        some = moves.used()
        weights = _weights(some.kinds.pairs, 2, self.sums.shape[2])
        return self._with(Coded(some.scopes, some.scope, some.kind, some.pixels), moves.scopes_used, weights, most)

    def _with(self, rows: Coded, pages: IntArray, weights: _Weights, most: int) -> WrongPixels | None:
        """The sums with more rows of some pages."""
        classes = self.sums.shape[2]
        divisor = math.lcm(self.divisor, weights.divisor)
        # A row and a column of every class, of pixels that may have every label.
        if 2 * classes * most * divisor >= EXACT:
            return None
        entries = weights.entries._replace(weight=weights.entries.weight * (divisor // weights.divisor))
        more = spread(rows, entries, 2 * classes).reshape(-1, 2, classes)
        sums = self.sums * (divisor // self.divisor)
        if len(pages) == len(sums):
            sums += more
            return WrongPixels(sums, divisor, _amounts(sums, divisor))
        sums[pages] += more
        amounts = self.amounts.copy()
        amounts[pages] = _amounts(sums[pages], divisor)
        return WrongPixels(sums, divisor, amounts)


class _Weights(NamedTuple):
    """What a pixel adds to the sums of a page, times `divisor`."""

    entries: Entries
    divisor: int


def _weights(pairs: tuple[WordArray, WordArray], parts: int, classes: int) -> _Weights:
    """What a pixel of each pair of label sets adds; of two parts, what it adds as it moves from first to second.

    The pairs are those of the first part, one after the other, then those of the second.
    """
    every = shares(*pairs, classes)
    codes = len(pairs[0]) // parts
    divisor = math.lcm(*np.unique(every.divisor).tolist())
    weight = every.numerator * (divisor // every.divisor)
    if parts > 1:
        weight *= np.where(every.pair < codes, -1, 1)
    right = np.flatnonzero(every.row == every.column)
    code = every.pair % max(codes, 1)
    place = 2 * classes * np.concatenate([code, code, code[right]])
    place += np.concatenate([every.row, every.column, classes + every.row[right]])
    places, inverse = np.unique(place, return_inverse=True)
    sums = np.zeros(len(places), dtype=np.int64)
    np.add.at(sums, inverse, np.concatenate([weight, weight, weight[right]]))
    # Most of what a move takes away it gives back: the pixel stays in its row.
    places, sums = places[sums != 0], sums[sums != 0]
    return _Weights(Entries(places // (2 * classes), places % (2 * classes), sums), divisor)


def _amounts(sums: FloatArray, divisor: int) -> FloatArray:
    """`WrongPixels.amounts` of some sums."""
    touched, right = sums[:, 0], sums[:, 1]
    wrong = touched - 2.0 * right
    everything = wrong.sum(axis=1) / 2
    wrong[touched == 0.0] = np.nan
    wrong[:, 0] = everything
    wrong /= divisor
    return wrong
