"""A number of each page from the label sets of its pixels: what it adds to a cell, or its pixels of a class.

Owns these sums and how they follow from those before some moves. They are whole numbers over one divisor, so that
nothing depends on the order in which they were added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluator.metrics.pixel_counts import PairCounts
from evaluator.metrics.pixel_moves import PixelMoves
from evaluator.metrics.pixel_sweep import WordArray
from evaluator.model.boxes import FloatArray, IntArray
from evaluator.protocols.pixel.matrix import EXACT, shares

Numbers = tuple[int] | tuple[int, int]
"""A class of the first side, or the row and the column of a cell."""


@dataclass(frozen=True, eq=False)
class PageSums:
    """One number of each of S pages over C classes.

    Attributes
    ----------
    of : tuple of int
        What it is.
    classes : int
    sums : float64, shape (S,)
        Whole numbers: `divisor` times the pixels.
    divisor : int
        What all shares of pixels have in common.
    """

    of: Numbers
    classes: int
    sums: FloatArray
    divisor: int = 1

    @property
    def pixels(self) -> FloatArray:
        """Pixels of each page, float64, shape (S,); fractions where they have several labels."""
        return np.asarray(self.sums / self.divisor)

    def counted(self, counts: PairCounts, most: int) -> PageSums | None:
        """The sums with counts of pages of at most so many pixels; None where they are too large to be exact."""
        weight, divisor = _weights(counts.first, counts.second, self.of, self.classes)
        return self._with((counts.scope, counts.pair, counts.pixels), weight, divisor, most)

    def moved(self, moves: PixelMoves, most: int) -> PageSums | None:
        """The sums after some moves; None where they are too large to be exact."""
        weight, divisor = _weights(*moves.kinds.pairs, self.of, self.classes)
        without, with_box = np.split(weight, 2)
        return self._with((moves.scope, moves.kind, moves.pixels), with_box - without, divisor, most)

    def _with(
        self, rows: tuple[IntArray, IntArray, IntArray], weight: IntArray, divisor: int, most: int
    ) -> PageSums | None:
        """The sums with rows, as scope, code and pixels, of which a pixel adds the weight of its code by a divisor."""
        common = math.lcm(self.divisor, divisor)
        # A pixel adds 1 at most.
        if most * common >= EXACT:
            return None
        scope, code, pixels = rows
        more = pixels * (weight * (common // divisor)).take(code)
        sums = self.sums * (common // self.divisor) + np.bincount(scope, weights=more, minlength=len(self.sums))
        return PageSums(self.of, self.classes, sums, common)


def rounded(counts: PairCounts, of: Numbers, classes: int) -> FloatArray:
    """`PageSums.pixels` of counts where shares of pixels are too fine for whole numbers."""
    weight, divisors = shares_of(counts.first, counts.second, of, classes)
    more = counts.pixels * (weight / divisors).take(counts.pair)
    return np.bincount(counts.scope, weights=more, minlength=counts.scopes).astype(np.float64, copy=False)


def shares_of(first: WordArray, second: WordArray, of: Numbers, classes: int) -> tuple[IntArray, IntArray]:
    """What a pixel of each pair of label sets adds: numerator and divisor, int64, shape (K,); 0 and 1 for nothing."""
    numerator, divisor = np.zeros(len(first), dtype=np.int64), np.ones(len(first), dtype=np.int64)
    if len(of) == 1:
        return (first >> np.uint64(of[0]) & np.uint64(1)).astype(np.int64), divisor
    parts = shares(first, second, classes)
    here = (parts.row == of[0]) & (parts.column == of[1])
    numerator[parts.pair[here]], divisor[parts.pair[here]] = parts.numerator[here], parts.divisor[here]
    return numerator, divisor


def _weights(first: WordArray, second: WordArray, of: Numbers, classes: int) -> tuple[IntArray, int]:
    """The same as whole numbers over one divisor."""
    numerator, divisors = shares_of(first, second, of, classes)
    divisor = math.lcm(*np.unique(divisors).tolist())
    return numerator * (divisor // divisors), divisor
