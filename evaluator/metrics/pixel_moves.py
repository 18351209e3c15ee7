"""Pixels that go from one pair of label sets to another, because a box comes or leaves.

Owns `PixelMoves`, of which differences of counts follow. There are few kinds, however many boxes come or leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evaluator.metrics.pixel_counts import BACKGROUND, PairCounts, gathered, known_pairs, no_counts
from evaluator.metrics.pixel_sweep import WordArray, in_order
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.order import begins


class Kinds(NamedTuple):
    """Kinds of moves, columns of length T, each once.

    Attributes
    ----------
    side : uint64
        Side of the box that comes, 0 or 1.
    label : uint64
        Its label set.
    first, second : uint64
        Label sets of both sides without the box.
    """

    side: WordArray
    label: WordArray
    first: WordArray
    second: WordArray

    @property
    def with_box(self) -> tuple[WordArray, WordArray]:
        """Label sets of both sides with the box."""
        first, second = (
            np.where(self.side == side, word & ~np.uint64(BACKGROUND) | self.label, word)
            for side, word in enumerate((self.first, self.second))
        )
        return first, second

    @property
    def pairs(self) -> tuple[WordArray, WordArray]:
        """Label sets of the first and of the second side: those without the box of all kinds, then those with it."""
        first, second = self.with_box
        return np.concatenate([self.first, first]), np.concatenate([self.second, second])


@dataclass(frozen=True, eq=False)
class PixelMoves:
    """Moves of pixels by scope (a page, a document, everything).

    Attributes
    ----------
    scopes : int
        Number of scopes S; a scope may have no row.
    scope : int64, shape (R,), rising
    kind : int64, shape (R,)
        Row of `kinds`; a scope may have one more than once.
    pixels : int64, shape (R,)
        Pixels that move as if the box came; below 0 where it leaves.
    kinds : Kinds
        A kind may have no row.
    """

    scopes: int
    scope: IntArray
    kind: IntArray
    pixels: IntArray
    kinds: Kinds

    def __len__(self) -> int:
        return len(self.scope)

    @classmethod
    def of(cls, scopes: int, scope: IntArray, columns: Kinds, pixels: IntArray) -> PixelMoves:
        """Moves whose kinds are given row by row."""
        kinds, kind = distinct(columns)
        return cls(scopes, scope, kind, pixels, kinds)

    @cached_property
    def counts(self) -> PairCounts:
        """The difference of counts; pixels are below 0 where a pair has fewer, and never 0."""
        return self._difference(self.scope, self.scopes)

    def pooled(self, into: IntArray, scopes: int) -> PairCounts:
        """The difference of counts of scopes that are added up under new codes, int64, shape (S,)."""
        if scopes > 1:
            return self._difference(into.take(self.scope), scopes)
        pixels = np.zeros(len(self.kinds.side), dtype=np.int64)
        np.add.at(pixels, self.kind, self.pixels)
        every = np.arange(len(pixels))
        return PixelMoves(1, np.zeros_like(every), every, pixels, self.kinds).counts

    def used(self) -> PixelMoves:
        """The same under the scopes and the kinds alone that have rows; see `scopes_used`."""
        there = np.bincount(self.kind, minlength=len(self.kinds.side)) > 0
        kinds = Kinds(*(column[there] for column in self.kinds))
        new = self._new
        return PixelMoves(
            int(np.count_nonzero(new)), new.cumsum() - 1, (there.cumsum() - 1).take(self.kind), self.pixels, kinds
        )

    @property
    def scopes_used(self) -> IntArray:
        """The scopes that have rows, int64, rising."""
        return self.scope[self._new]

    @cached_property
    def _new(self) -> BoolArray:
        """Where the rows of another scope begin."""
        return begins(self.scope)

    def _difference(self, scope: IntArray, scopes: int) -> PairCounts:
        """The difference of counts with the rows in other scopes."""
        if not len(scope):
            return no_counts(scopes)
        types = len(self.kinds.side)
        # Moves of one kind are put together first: there are fewer of them, and their numbers are shorter.
        place = scope * types + self.kind
        order = in_order(place, (scopes * types).bit_length())
        place = place.take(order)
        starts = begins(place).nonzero()[0]
        pixels = np.repeat(np.add.reduceat(self.pixels.take(order), starts), 2)
        pixels[::2] *= -1
        one = order.take(starts)
        pair = np.repeat(self.kind.take(one), 2)
        pair[1::2] += types
        first, second = self.kinds.pairs
        rows = PairCounts(scopes, np.repeat(scope.take(one), 2), first.take(pair), second.take(pair), pixels)
        sums = gathered(rows, rows.scope, scopes)
        return sums.taken(sums.pixels.nonzero()[0])


def distinct(columns: Kinds) -> tuple[Kinds, IntArray]:
    """The kinds among some, each once, and the row of each in these, int64."""
    _, pair = known_pairs(columns.first, columns.second)
    _, box = known_pairs(columns.side, columns.label)
    known, kind = known_pairs(pair.view(np.uint64), box.view(np.uint64))
    return Kinds(*(column.take(known) for column in columns)), kind


def joined_kinds(parts: Sequence[Kinds]) -> tuple[Kinds, list[IntArray]]:
    """The kinds of all parts, each once, and the row in these of each of each part."""
    kinds, kind = distinct(Kinds(*(np.concatenate(columns) for columns in zip(*parts, strict=True))))
    return kinds, np.split(kind, np.cumsum([len(part.side) for part in parts])[:-1])
