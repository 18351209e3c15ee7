"""How many pixels of each page are wrong, over everything and by class: those off the diagonal of its matrix.

Owns these sums and how they follow from those before a change of the counts. They are whole numbers over one divisor,
so that nothing depends on the order in which they were added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evaluator.metrics.pixel_counts import PairCounts
from evaluator.model.boxes import FloatArray
from evaluator.protocols.pixel.matrix import EXACT, shares, spread


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
        amounts = np.full((counts.scopes, classes), np.nan)
        amounts[:, 0] = 0.0
        return cls(np.zeros((counts.scopes, 2, classes)), 1, amounts).changed(counts, most)

    def changed(self, change: PairCounts, most: int) -> WrongPixels | None:
        """The sums after a change of the counts; None where they are too large to be exact."""
        classes = self.sums.shape[2]
        parts = shares(change.first, change.second, classes)
        divisor = math.lcm(self.divisor, *np.unique(parts.divisor).tolist())
        # A row and a column of every class, of pixels that may have every label.
        if 2 * classes * most * divisor >= EXACT:
            return None
        weight = parts.numerator * (divisor // parts.divisor)
        right = np.flatnonzero(parts.row == parts.column)
        pair = np.concatenate([parts.pair, parts.pair, parts.pair[right]])
        cell = np.concatenate([parts.row, parts.column, classes + parts.row[right]])
        order = np.argsort(pair, kind="stable")
        weight = np.concatenate([weight, weight, weight[right]])
        pages, scope = np.unique(change.scope, return_inverse=True)
        some = replace(change, scopes=len(pages), scope=scope)
        more = spread(some, pair[order], cell[order], weight[order], 2 * classes).reshape(-1, 2, classes)
        sums = self.sums.copy() if divisor == self.divisor else self.sums * (divisor // self.divisor)
        sums[pages] += more
        amounts = self.amounts.copy()
        amounts[pages] = _amounts(sums[pages], divisor)
        return WrongPixels(sums, divisor, amounts)


def _amounts(sums: FloatArray, divisor: int) -> FloatArray:
    """`WrongPixels.amounts` of some sums."""
    touched, right = sums[:, 0], sums[:, 1]
    wrong = touched - 2.0 * right
    everything = wrong.sum(axis=1) / 2
    wrong[touched == 0.0] = np.nan
    wrong[:, 0] = everything
    wrong /= divisor
    return wrong
