"""What some boxes more or less do to pixel counts: only the pixels of these boxes are counted.

Owns the difference of two counts of the same pages and `PageCounts`, counts by page with the differences that came
after them beside them. Boxes leave and come one after the other, see `pixel_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from evaluator.metrics.pixel_counts import PairCounts, added
from evaluator.metrics.pixel_moves import Kinds, PixelMoves
from evaluator.metrics.pixel_steps import PixelBoxes, SideTimes, Steps, step_pixels
from evaluator.metrics.pixel_sweep import in_order
from evaluator.model.boxes import BoolArray, IntArray

# Where more boxes than this share left or came, or lie on those that did, counting all pages anew is less work.
_MANY_BOXES: Final = 0.5
_MANY_PIECES: Final = 1.0
# Differences beside counts, at most, and their rows as a share of those of the counts: all are put together then.
_MOST_CHANGES: Final = 32
_MANY_ROWS: Final = 1.0


class SideChange(NamedTuple):
    """The boxes of one side of which some take part before, some after a change.

    Attributes
    ----------
    boxes : PixelBoxes
        Of N boxes.
    before, now : bool, shape (N,)
        Which of them take part.
    """

    boxes: PixelBoxes
    before: BoolArray
    now: BoolArray


def count_changes(
    sides: Sequence[SideChange], pages: int, *, count: Callable[[int, int], None] | None = None
) -> PixelMoves | None:
    """What the counts of each page have more now than before; None where counting all pages is less work.

    Parameters
    ----------
    sides : pair of SideChange
        The first side, then the second.
    pages : int
        Number of pages.
    count : callable, optional
        Called with how many of the boxes that left or came are counted, and how many there are.

    Returns
    -------
    PixelMoves or None
        One scope per page. `count_pairs` of the boxes now is that of the boxes before and the counts of this, added up.
    """
    moved = [(side.before != side.now).take(side.boxes.row).nonzero()[0] for side in sides]
    taken = sum(int(np.count_nonzero(side.now)) for side in sides)
    if sum(len(rows) for rows in moved) > _MANY_BOXES * taken:
        return None
    timed = _in_turn(sides, moved)
    steps = Steps.of(timed, moved)
    moving = step_pixels(timed, steps, most=int(_MANY_PIECES * taken), count=count)
    if moving is None:
        return None
    page = steps.page.take(moving.step).astype(np.int64)
    order = in_order(page, max(pages - 1, 0).bit_length())
    kind = Kinds(*(column.take(order) for column in moving.kind))
    return PixelMoves.of(pages, page.take(order), kind, moving.pixels.take(order))


def _in_turn(sides: Sequence[SideChange], moved: Sequence[IntArray]) -> list[SideTimes]:
    """When the boxes that leave or come do so: those that leave before those that come."""
    comes = np.concatenate([side.now.take(side.boxes.row.take(rows)) for side, rows in zip(sides, moved, strict=True)])
    time = np.empty(len(comes), dtype=np.int32)
    time[np.argsort(comes, kind="stable")] = np.arange(len(comes))
    timed = []
    for side, rows, own in zip(sides, moved, np.split(time, [len(moved[0])]), strict=True):
        times = np.full(len(side.boxes.row), -1, dtype=np.int32)
        times[rows] = own
        timed.append(SideTimes(side.boxes, side.before, times))
    return timed


@dataclass(frozen=True, eq=False)
class PageCounts:
    """The counts of all pages, and what changed after them, in the order in which it did.

    Attributes
    ----------
    earlier : PairCounts
        One scope per page.
    changes : tuple of PairCounts
        Differences, of the same pages.
    """

    earlier: PairCounts
    changes: tuple[PairCounts, ...] = ()

    def changed(self, moves: PixelMoves) -> PageCounts:
        """The counts after some moves; this one stays as it is."""
        change = moves.counts
        rows = len(change) + sum(len(each) for each in self.changes)
        many = len(self.changes) >= _MOST_CHANGES or rows > _MANY_ROWS * len(self.earlier)
        if many or not self.changes or "every" in vars(self):
            return PageCounts(self.every, (change,))
        return PageCounts(self.earlier, (*self.changes, change))

    @cached_property
    def every(self) -> PairCounts:
        """The counts of all pages."""
        if not self.changes:
            return self.earlier
        return added([self.earlier, *self.changes])

    def of(self, pages: IntArray) -> PairCounts:
        """The rows of some pages, rising codes; the number of scopes stays."""
        if not self.changes or "every" in vars(self):
            return self.every.of(pages)
        return added([self.earlier.of(pages), *(change.of(pages) for change in self.changes)])

    def on(self, page: int) -> PairCounts:
        """One page, as a single scope."""
        return self.of(np.array([page])).between(page, page + 1)
