"""Pixel counts at every score: what each box of the second side adds when boxes come by falling score.

Owns this table, which is made once, and `ScoredCounts`, counts by page that follow from earlier ones and the table. To
go from one score to another costs as much as the boxes between them, however many others are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.pixel_changes import PageCounts
from evaluator.metrics.pixel_counts import PairCounts, added
from evaluator.metrics.pixel_moves import Kinds, PixelMoves, distinct, joined_kinds
from evaluator.metrics.pixel_steps import PixelBoxes, SideTimes, Steps, step_pixels
from evaluator.metrics.pixel_sweep import in_order
from evaluator.model.boxes import FloatArray, IntArray
from evaluator.model.order import numbers_from, order_by

# Boxes in one go.
_BOXES_AT_ONCE: Final = 1 << 17
# Where this many times as many boxes lie on each other as there are, counting all pages at each score is less work.
_MANY_PIECES: Final = 3.0


@dataclass(frozen=True, eq=False)
class ScoreChanges:
    """What the boxes of the second side change one after the other, those without a score first, then by falling score.

    Attributes
    ----------
    pages : int
        Number of pages.
    page : int32, shape (R,), rising
    rank : int32, shape (R,)
        How many boxes of the side come before that of the row.
    kind : int32, shape (R,)
        Row of `kinds`.
    pixels : int64, shape (R,), > 0
    kinds : Kinds
    """

    pages: int
    page: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int32]
    pixels: IntArray
    kinds: Kinds

    @classmethod
    def of(cls, sides: Sequence[PixelBoxes], score: FloatArray, pages: int) -> ScoreChanges | None:
        """The changes of the boxes of the second side, float64 scores of shape (N,), beside all of the first side.

        None where so many boxes lie on each other that it is much more work than to count all pages.
        """
        rank = np.empty(len(score), dtype=np.int32)
        scored = ~np.isnan(score)
        rank[order_by([scored, -np.where(scored, score, 0.0)])] = np.arange(len(score))
        truths, boxes = sides
        timed = [
            SideTimes(truths, np.ones(_above(truths.row), dtype=bool), np.full(len(truths.row), -1, dtype=np.int32)),
            SideTimes(boxes, np.zeros(len(score), dtype=bool), rank.take(boxes.row)),
        ]
        most = int(_MANY_PIECES * (len(truths.row) + len(boxes.row)))
        parts: list[_Part] = []
        for start in range(0, max(len(boxes.row), 1), _BOXES_AT_ONCE):
            part = _changes_of(timed, np.arange(start, min(start + _BOXES_AT_ONCE, len(boxes.row))), most)
            if part is None:
                return None
            parts.append(part)
            most -= part.pieces
        kinds, own = joined_kinds([part.kinds for part in parts])
        return cls(
            pages,
            np.concatenate([part.page for part in parts]),
            np.concatenate([part.rank for part in parts]),
            np.concatenate([new.take(part.kind).astype(np.int32) for new, part in zip(own, parts, strict=True)]),
            np.concatenate([part.pixels for part in parts]),
            kinds,
        )

    def between(self, before: int, now: int, pages: IntArray | None = None) -> PixelMoves:
        """What moves from where so many boxes have come to where so many have.

        Parameters
        ----------
        before, now : int
            Numbers of boxes; `now` may be the smaller.
        pages : int64, optional
            Rising codes of the only pages that are wanted.

        Returns
        -------
        PixelMoves
            One scope per page.
        """
        low, high = min(before, now), max(before, now)
        if pages is None:
            rows = ((self.rank >= low) & (self.rank < high)).nonzero()[0]
        else:
            begin = self.page.searchsorted(pages)
            rows = numbers_from(begin, self.page.searchsorted(pages, side="right") - begin)
            rank = self.rank.take(rows)
            rows = rows[(rank >= low) & (rank < high)]
        pixels = self.pixels.take(rows)
        return PixelMoves(
            self.pages,
            self.page.take(rows).astype(np.int64),
            self.kind.take(rows).astype(np.int64),
            pixels if now > before else -pixels,
            self.kinds,
        )


class _Part(NamedTuple):
    """Rows of `ScoreChanges` of some boxes, and the pieces of other boxes that were looked at."""

    pieces: int
    page: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    kind: IntArray
    pixels: IntArray
    kinds: Kinds


def _changes_of(sides: Sequence[SideTimes], boxes: IntArray, most: int) -> _Part | None:
    """What some boxes of the second side change; None where more than so many pieces of others lie on them."""
    steps = Steps.of(sides, [boxes[:0], boxes])
    moving = step_pixels(sides, steps, most=most)
    if moving is None:
        return None
    kinds, kind = distinct(moving.kind)
    # The boxes are sorted by page.
    order = in_order(moving.step, len(boxes).bit_length())
    step = moving.step.take(order)
    columns = steps.page.take(step), steps.time.take(step), kind.take(order), moving.pixels.take(order)
    return _Part(moving.pieces, *columns, kinds)


@dataclass(frozen=True, eq=False)
class ScoredCounts:
    """The counts of all pages where some number of boxes have come.

    Attributes
    ----------
    earlier : PageCounts
        Those where `before` boxes had come.
    before, now : int
    changes : ScoreChanges
    """

    earlier: PageCounts
    before: int
    now: int
    changes: ScoreChanges

    def at(self, now: int) -> ScoredCounts:
        """Those where another number has come."""
        if "every" in vars(self):
            return ScoredCounts(PageCounts(self.every), self.now, now, self.changes)
        return ScoredCounts(self.earlier, self.before, now, self.changes)

    def since(self, boxes: int) -> PixelMoves:
        """What moved since so many boxes had come."""
        return self.changes.between(boxes, self.now)

    def changed(self, moves: PixelMoves) -> PageCounts:
        """The counts after some other moves."""
        return PageCounts(self.every, (moves.counts,))

    @cached_property
    def every(self) -> PairCounts:
        """The counts of all pages."""
        return added([self.earlier.every, self.since(self.before).counts])

    def of(self, pages: IntArray) -> PairCounts:
        """The rows of some pages, rising codes; the number of scopes stays."""
        if "every" in vars(self):
            return self.every.of(pages)
        return added([self.earlier.of(pages), self.changes.between(self.before, self.now, pages).counts])

    def on(self, page: int) -> PairCounts:
        """One page, as a single scope."""
        return self.of(np.array([page])).between(page, page + 1)


def _above(rows: npt.NDArray[np.int32]) -> int:
    """The first number above some rows."""
    return int(rows.max(initial=-1)) + 1
