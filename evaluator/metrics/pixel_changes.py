"""What some boxes more or less do to pixel counts: only the part of a page around them is counted again.

Owns the difference of two counts of the same pages and `PageCounts`, counts by page with the differences that came
after them beside them. A window is the smallest rectangle of a page around all boxes that left or came: outside of it
no pixel has other labels than before. Coordinates and label sets are those of `pixel_counts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from evaluator.metrics.pixel_counts import (
    PairCounts,
    Resolution,
    count_pairs,
    covered_pixels,
    gathered,
    joined,
    no_counts,
)
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.order import Joining, PageRows

# Where more boxes than this share left or came, or windows have more pieces of boxes than this share of all boxes,
# counting all pages anew is less work.
_MANY_BOXES: Final = 0.15
_MANY_PIECES: Final = 0.5
# Differences beside counts, at most, and their rows as a share of those of the counts: all are put together then.
_MOST_CHANGES: Final = 32
_MANY_ROWS: Final = 0.25


class SideChange(NamedTuple):
    """The boxes of one side of which some take part before, some after a change.

    Attributes
    ----------
    boxes : Resolution
        N boxes.
    by_page : PageRows
        Their rows by page.
    before, now : bool, shape (N,)
        Which of them take part.
    """

    boxes: Resolution
    by_page: PageRows
    before: BoolArray
    now: BoolArray


def count_changes(
    sides: Sequence[SideChange], size: IntArray, *, count: Callable[[int, int], None] | None = None
) -> PairCounts | None:
    """What the counts of each page have more now than before; None where counting all pages is less work.

    Parameters
    ----------
    sides : pair of SideChange
        The first side, then the second.
    size : int64, shape (P, 2)
        Width and height of the raster of each page.
    count : callable, optional
        Called with how many of how many windows are counted.

    Returns
    -------
    PairCounts or None
        One scope per page; pixels are below 0 where a pair has fewer, and never 0. `count_pairs` of the boxes now is
        that of the boxes before and this, added up.
    """
    rows = [np.flatnonzero(side.before != side.now) for side in sides]
    taken = sum(int(np.count_nonzero(side.now)) for side in sides)
    if sum(len(chosen) for chosen in rows) > _MANY_BOXES * taken:
        return None
    pages, windows = _windows(sides, rows, size)
    if not len(pages):
        return no_counts(len(size))
    on = np.zeros(len(size), dtype=bool)
    on[pages] = True
    # Each window is a page of its own, once with the boxes before and once with those of now.
    sheets = [_sheets(side, on, pages, windows, size) for side in sides]
    if sum(len(sheet.page) for sheet in sheets) > _MANY_PIECES * taken:
        return None
    extent = windows[:, 2:] - windows[:, :2]
    counts = count_pairs(sheets[0], sheets[1], np.concatenate([extent, extent]), count=count)
    of_before = counts.scope < len(pages)
    signed = replace(counts, pixels=np.where(of_before, -counts.pixels, counts.pixels))
    sums = gathered(signed, pages[np.where(of_before, counts.scope, counts.scope - len(pages))], len(size))
    return sums.taken(np.flatnonzero(sums.pixels))


def _windows(sides: Sequence[SideChange], rows: Sequence[IntArray], size: IntArray) -> tuple[IntArray, IntArray]:
    """The pages on which a pixel may have other labels, rising, and the window of each, int64, shape (W, 4).

    `rows` are those of the boxes of each side that left or came.
    """
    page = np.concatenate([side.boxes.page[chosen] for side, chosen in zip(sides, rows, strict=True)])
    edges = np.concatenate(
        [covered_pixels(side.boxes.at(chosen), size).T for side, chosen in zip(sides, rows, strict=True)], axis=1
    )
    seen = (edges[0] < edges[2]) & (edges[1] < edges[3])
    page, edges = page[seen], edges[:, seen]
    order = np.argsort(page, kind="stable")
    page, edges = page[order], edges[:, order]
    start = np.flatnonzero(np.diff(page, prepend=-1))
    if not len(start):
        return page, np.empty((0, 4), dtype=np.int64)
    least, most = (f.reduceat(part, start, axis=1) for f, part in ((np.minimum, edges[:2]), (np.maximum, edges[2:])))
    return page[start], np.concatenate([least, most]).T


def _sheets(side: SideChange, on: BoolArray, pages: IntArray, windows: IntArray, size: IntArray) -> Resolution:
    """What of the boxes of a side lies in a window, in pixels of that window: as it was, then as it is now."""
    rows = side.by_page.on(on)
    rows = rows[side.before[rows] | side.now[rows]]
    place = np.zeros(len(on), dtype=np.int64)
    place[pages] = np.arange(len(pages))
    window = place[side.boxes.page[rows]]
    edges, within = covered_pixels(side.boxes.at(rows), size).T, np.ascontiguousarray(windows.T).take(window, axis=1)
    np.maximum(edges[:2], within[:2], out=edges[:2])
    np.minimum(edges[2:], within[2:], out=edges[2:])
    inside = np.flatnonzero((edges[0] < edges[2]) & (edges[1] < edges[3]))
    rows, window = rows[inside], window[inside]
    xyxy = (edges.take(inside, axis=1) - np.tile(within[:2], (2, 1)).take(inside, axis=1)).T.astype(np.float64)
    before, now = np.flatnonzero(side.before[rows]), np.flatnonzero(side.now[rows])
    both = np.concatenate([before, now])
    sheet = np.concatenate([window[before], window[now] + len(pages)])
    return Resolution(sheet, side.boxes.bit[rows][both], xyxy[both])


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
        pages = np.zeros(self.earlier.scopes, dtype=bool)
        for change in self.changes:
            pages[change.scope] = True
        own = self.of(np.flatnonzero(pages))
        joining = Joining(self.earlier.scope, own.scope, pages)
        columns = ("scope", "row_first", "row_second", "pixels")
        merged = (joining.column(getattr(self.earlier, name), getattr(own, name)) for name in columns)
        return PairCounts(self.earlier.scopes, *merged)

    def of(self, pages: IntArray) -> PairCounts:
        """The rows of some pages, rising codes; the number of scopes stays."""
        if not self.changes or "every" in vars(self):
            return self.every.of(pages)
        parts = [self.earlier.of(pages), *(change.of(pages) for change in self.changes)]
        return added(parts)

    def on(self, page: int) -> PairCounts:
        """One page, as a single scope."""
        return self.of(np.array([page])).between(page, page + 1)


def added(parts: Sequence[PairCounts]) -> PairCounts:
    """Counts of the same scopes and differences of them, added up; pairs without a pixel are left out."""
    every = joined(parts, [0] * len(parts), parts[0].scopes)
    sums = gathered(every, every.scope, every.scopes)
    return sums.taken(np.flatnonzero(sums.pixels))
