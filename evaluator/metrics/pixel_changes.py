"""What some boxes more or less do to pixel counts: only the pixels of these boxes are counted.

Owns the difference of two counts of the same pages and `PageCounts`, counts by page with the differences that came
after them beside them. Boxes leave and come one after the other. Each that does changes the label sets of its own
pixels only, from those that the boxes then there give them, and only where none of these says the same. Coordinates and
label sets are those of `pixel_counts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.pixel_counts import (
    BACKGROUND,
    PairCounts,
    Resolution,
    added,
    count_pairs,
    covered_pixels,
    gathered,
    no_counts,
)
from evaluator.metrics.pixel_sweep import X_BITS, WordArray, in_order
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.order import numbers_from

# Where more boxes than this share left or came, or lie on those that did, counting all pages anew is less work.
_MANY_BOXES: Final = 0.5
_MANY_PIECES: Final = 1.0
# Pairs of boxes of one page that are looked at in one go.
_PAIRS_AT_ONCE: Final = 1 << 18
# Differences beside counts, at most, and their rows as a share of those of the counts: all are put together then.
_MOST_CHANGES: Final = 32
_MANY_ROWS: Final = 1.0


@dataclass(frozen=True, eq=False)
class PixelBoxes:
    """The boxes of a side that cover a pixel, sorted by page and first row of pixels, columns of one length.

    Attributes
    ----------
    row : int32
        Row of each among all boxes of the side.
    page : int32
    bit : int8
        Bit of the class, 1 to 63.
    edges : int32, shape (4, n)
        First column and row, and those after the last.
    """

    row: npt.NDArray[np.int32]
    page: npt.NDArray[np.int32]
    bit: npt.NDArray[np.int8]
    edges: npt.NDArray[np.int32]

    @classmethod
    def of(cls, boxes: Resolution, size: IntArray) -> PixelBoxes:
        """The boxes of a side; `size`, int64, shape (P, 2), is the width and height of the raster of each page."""
        edges = covered_pixels(boxes, size).T
        row = ((edges[0] < edges[2]) & (edges[1] < edges[3])).nonzero()[0]
        key = boxes.page.take(row) << X_BITS | edges[1].take(row)
        row = row.take(in_order(key, max(len(size) - 1, 0).bit_length() + X_BITS))
        columns = row.astype(np.int32), boxes.page.take(row).astype(np.int32), boxes.bit.take(row).astype(np.int8)
        return cls(*columns, edges.take(row, axis=1).astype(np.int32))

    def between(self, page: IntArray, edges: npt.NDArray[np.int32]) -> tuple[IntArray, IntArray]:
        """Where the boxes that may reach into the rows of pixels of others begin, and how many of each there are.

        `page` and `edges` are those of the others. Between two that reach there may be some that do not.
        """
        page = page.astype(np.int64) << X_BITS + 1
        # The first of which it or one before it reaches so far down, and the first that begins further down.
        begin = self._lowest.searchsorted(page | edges[1], side="right")
        return begin, np.maximum(self._highest.searchsorted(page | edges[3]) - begin, 0)

    @cached_property
    def _highest(self) -> IntArray:
        """Page and first row of pixels of each, as one number."""
        return self.page.astype(np.int64) << X_BITS + 1 | self.edges[1]

    @cached_property
    def _lowest(self) -> IntArray:
        """Page and row after the last of each or one before it, as one number."""
        return np.maximum.accumulate(self.page.astype(np.int64) << X_BITS + 1 | self.edges[3])


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
) -> PairCounts | None:
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
    PairCounts or None
        One scope per page; pixels are below 0 where a pair has fewer, and never 0. `count_pairs` of the boxes now is
        that of the boxes before and this, added up.
    """
    taken = sum(int(np.count_nonzero(side.now)) for side in sides)
    if sum(int(np.count_nonzero(side.before != side.now)) for side in sides) > _MANY_BOXES * taken:
        return None
    steps, own = _steps(sides)
    if not len(steps.page):
        return no_counts(pages)
    pieces: list[Resolution] = []
    most = int(_MANY_PIECES * taken)
    for side, step_of in zip(sides, own, strict=True):
        some = _pieces(side, step_of, steps, most)
        if some is None:
            return None
        pieces.append(some)
        most -= len(some.page)
    return _change(_counts(pieces, steps, count), steps, pages)


class _Steps(NamedTuple):
    """Boxes that leave or come one after the other: those that leave before those that come.

    Attributes
    ----------
    side : int64
        0 or 1.
    page : int32
    bit : int8
    edges : int32, shape (4, n)
    comes : bool
        Whether it comes.
    """

    side: IntArray
    page: npt.NDArray[np.int32]
    bit: npt.NDArray[np.int8]
    edges: npt.NDArray[np.int32]
    comes: BoolArray


def _steps(sides: Sequence[SideChange]) -> tuple[_Steps, list[npt.NDArray[np.int32]]]:
    """The boxes that leave or come, in their order, and the step of each box of each side, -1 for none."""
    moved = [(side.before != side.now).take(side.boxes.row).nonzero()[0] for side in sides]
    comes = np.concatenate(
        [side.now.take(side.boxes.row.take(rows)) for side, rows in zip(sides, moved, strict=True)]
    )
    order = np.argsort(comes, kind="stable")
    step = np.empty(len(order), dtype=np.int32)
    step[order] = np.arange(len(order))
    own = [np.full(len(side.boxes.row), -1, dtype=np.int32) for side in sides]
    for all_steps, rows, some in zip(own, moved, np.split(step, [len(moved[0])]), strict=True):
        all_steps[rows] = some
    which = np.repeat(np.arange(len(sides)), [len(rows) for rows in moved])
    columns = (
        np.concatenate(
            [getattr(side.boxes, name).take(rows, axis=-1) for side, rows in zip(sides, moved, strict=True)], axis=-1
        )
        for name in ("page", "bit", "edges")
    )
    page, bit, edges = (column.take(order, axis=-1) for column in columns)
    return _Steps(which.take(order), page, bit, edges, comes.take(order)), own


def _pieces(side: SideChange, step_of: npt.NDArray[np.int32], steps: _Steps, most: int) -> Resolution | None:
    """What the boxes of a side that take part at each step cover of the box of the step, in pixels from its corner.

    None where that is more than so many pieces.
    """
    begin, width = side.boxes.between(steps.page, steps.edges)
    ends = width.cumsum()
    parts: list[Resolution] = []
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(ends.searchsorted(done + _PAIRS_AT_ONCE, side="right")), start + 1)
        pairs = numbers_from(begin[start:stop], width[start:stop]), np.arange(start, stop).repeat(width[start:stop])
        parts.append(_met(side, step_of, steps, *pairs))
        most -= len(parts[-1].page)
        if most < 0:
            return None
        start = stop
    page, bit, xyxy = (np.concatenate(columns) for columns in list(zip(*parts, strict=True))[:3])
    return Resolution(page, bit, xyxy)


def _met(side: SideChange, step_of: npt.NDArray[np.int32], steps: _Steps, box: IntArray, step: IntArray) -> Resolution:
    """The pieces of `_pieces` of some pairs of a box and a step on one page."""
    boxes = side.boxes
    for low, high in ((1, 3), (0, 2)):
        meet = boxes.edges[low].take(box) < steps.edges[high].take(step)
        meet &= boxes.edges[high].take(box) > steps.edges[low].take(step)
        rows = meet.nonzero()[0]
        box, step = box.take(rows), step.take(rows)
    rows = _there(side.before.take(boxes.row.take(box)), step_of.take(box), step).nonzero()[0]
    box, step = box.take(rows), step.take(rows)
    own, edges = steps.edges.take(step, axis=1), boxes.edges.take(box, axis=1)
    np.maximum(edges[:2], own[:2], out=edges[:2])
    np.minimum(edges[2:], own[2:], out=edges[2:])
    edges[:2] -= own[:2]
    edges[2:] -= own[:2]
    return Resolution(step, boxes.bit.take(box).astype(np.int64), edges.T.astype(np.float64))


def _there(before: BoolArray, own: npt.NDArray[np.int32], step: IntArray) -> BoolArray:
    """Whether boxes take part at some steps: whether each did before, its own step, -1 for none, and the other step.

    A box is not there at its own step, for which its pixels are counted without it.
    """
    return np.asarray((before ^ ((own >= 0) & (own < step))) & (own != step))


def _counts(pieces: Sequence[Resolution], steps: _Steps, count: Callable[[int, int], None] | None) -> PairCounts:
    """The pixels of the box of each step without that box, from the pieces of both sides; rows in any order."""
    extent = np.ascontiguousarray((steps.edges[2:] - steps.edges[:2]).T, dtype=np.int64)
    number = np.bincount(np.concatenate([side.page for side in pieces]), minlength=len(extent))
    # Most boxes have at most one other on them: its pixels and the remaining ones need no sweep.
    swept = np.flatnonzero(number > 1)
    place = np.full(len(extent), -1)
    place[swept] = np.arange(len(swept))
    several: list[Resolution] = []
    parts: list[tuple[IntArray, WordArray, WordArray, IntArray]] = []
    rest = extent.prod(axis=1)
    rest[swept] = 0
    for at, side in enumerate(pieces):
        many = place.take(side.page) >= 0
        several.append(Resolution(place.take(side.page[many]), side.bit[many], side.xyxy[many]))
        step, edges = side.page[~many], side.xyxy[~many].astype(np.int64)
        pixels = (edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])
        rest[step] -= pixels
        words = np.full((2, len(step)), BACKGROUND, dtype=np.uint64)
        words[at] = np.uint64(1) << side.bit[~many].astype(np.uint64)
        parts.append((step, words[0], words[1], pixels))
    counts = count_pairs(several[0], several[1], extent[swept], count=count)
    parts.append((swept.take(counts.scope), counts.row_first, counts.row_second, counts.pixels))
    step = np.flatnonzero(rest)
    none = np.full(len(step), BACKGROUND, dtype=np.uint64)
    parts.append((step, none, none, rest[step]))
    scope, first, second, pixels = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return PairCounts(len(extent), scope, first, second, pixels)


def _change(counts: PairCounts, steps: _Steps, pages: int) -> PairCounts:
    """What the steps add to the counts of the pages, of the counts of the pixels of each without its box."""
    words = counts.row_first, counts.row_second
    side, label = steps.side.take(counts.scope), np.uint64(1) << steps.bit.take(counts.scope).astype(np.uint64)
    # Where another box of the side says the same, nothing changes.
    rows = ((np.where(side == 0, *words) & label) == 0).nonzero()[0]
    side, label, step = side.take(rows), label.take(rows), counts.scope.take(rows)
    bare = [word.take(rows) for word in words]
    full = [np.where(side == own, word & ~np.uint64(BACKGROUND) | label, word) for own, word in enumerate(bare)]
    pixels = np.where(steps.comes.take(step), 1, -1) * counts.pixels.take(rows)
    page = np.tile(steps.page.take(step).astype(np.int64), 2)
    first, second = (np.concatenate([with_box, without]) for with_box, without in zip(full, bare, strict=True))
    both = PairCounts(pages, page, first, second, np.concatenate([pixels, -pixels]))
    sums = gathered(both, page, pages)
    return sums.taken(sums.pixels.nonzero()[0])


@dataclass(frozen=True, eq=False)
class PageCounts:
    """The counts of all pages, and what changed after them, in the order in which it did.

    Attributes
    ----------
    earlier : PairCounts
        One scope per page.
    changes : tuple of PairCounts
        From `count_changes`, of the same pages.
    """

    earlier: PairCounts
    changes: tuple[PairCounts, ...] = ()

    def changed(self, change: PairCounts) -> PageCounts:
        """The counts after one more change; this one stays as it is."""
        if not self.changes or "every" in vars(self):
            return PageCounts(self.every, (change,))
        rows = len(change) + sum(len(each) for each in self.changes)
        if len(self.changes) >= _MOST_CHANGES or rows > _MANY_ROWS * len(self.earlier):
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
