"""Boxes that come or leave one after the other, and the pixels that each moves to other label sets.

Owns the order of such steps, the boxes that are there at each, and the label sets of its pixels without its box. Only
these pixels are counted. Coordinates and label sets are those of `pixel_counts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.pixel_counts import BACKGROUND, PairCounts, Resolution, count_pairs, covered_pixels
from evaluator.metrics.pixel_moves import Kinds
from evaluator.metrics.pixel_sweep import X_BITS, WordArray, in_order
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.order import numbers_from, runs_up_to

# Pairs of boxes of one page that are looked at in one go.
_PAIRS_AT_ONCE: Final = 1 << 18


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

    def between(
        self, page: npt.NDArray[np.int32], edges: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Where the boxes that may reach into the rows of pixels of others begin, and how many of each there are.

        `page` and `edges` are those of the others. Between two that reach there may be some that do not.
        """
        # The first of which it or one before it reaches so far down, and the first that begins further down.
        begin = self._lowest.searchsorted(_places(page, edges[1]), side="right")
        return begin, np.maximum(self._highest.searchsorted(_places(page, edges[3])) - begin, 0)

    @cached_property
    def _highest(self) -> IntArray:
        """Page and first row of pixels of each."""
        return _places(self.page, self.edges[1])

    @cached_property
    def _lowest(self) -> IntArray:
        """Page and row after the last of each or one before it."""
        return np.maximum.accumulate(_places(self.page, self.edges[3]))


class SideTimes(NamedTuple):
    """The boxes of one side, and when each comes or leaves.

    Attributes
    ----------
    boxes : PixelBoxes
        Of N boxes.
    before : bool, shape (N,)
        Which of them are there before the first step.
    time : int32, shape (n,)
        Number of the step of each of those that cover a pixel, in their order; -1 for none.
    """

    boxes: PixelBoxes
    before: BoolArray
    time: npt.NDArray[np.int32]


class Steps(NamedTuple):
    """Boxes that come or leave, in any order.

    Attributes
    ----------
    side : int64
        0 or 1.
    time : int32
        Number of the step of each, all different.
    page : int32
    bit : int8
    edges : int32, shape (4, n)
    comes : bool
        Whether it comes.
    """

    side: IntArray
    time: npt.NDArray[np.int32]
    page: npt.NDArray[np.int32]
    bit: npt.NDArray[np.int8]
    edges: npt.NDArray[np.int32]
    comes: BoolArray

    @classmethod
    def of(cls, sides: Sequence[SideTimes], rows: Sequence[IntArray]) -> Steps:
        """Those of some of the boxes of each side, which have a step."""
        columns = (
            np.concatenate(
                [getattr(side.boxes, name).take(some, axis=-1) for side, some in zip(sides, rows, strict=True)], axis=-1
            )
            for name in ("row", "page", "bit", "edges")
        )
        row, page, bit, edges = columns
        which = np.repeat(np.arange(len(sides)), [len(some) for some in rows])
        time = np.concatenate([side.time.take(some) for side, some in zip(sides, rows, strict=True)])
        ends = np.split(row, [len(rows[0])])
        there = np.concatenate([side.before.take(some) for side, some in zip(sides, ends, strict=True)])
        return cls(which, time, page, bit, edges, ~there)


class StepPixels(NamedTuple):
    """Pixels that move at some steps, columns of one length.

    Attributes
    ----------
    pieces : int
        Parts of other boxes that lie on those of the steps.
    step : int64
        Place of the step among the given ones.
    kind : Kinds
        What moves, row by row.
    pixels : int64
        Below 0 where the box leaves.
    """

    pieces: int
    step: IntArray
    kind: Kinds
    pixels: IntArray


def step_pixels(
    sides: Sequence[SideTimes], steps: Steps, *, most: int, count: Callable[[int, int], None] | None = None
) -> StepPixels | None:
    """The pixels that move at some steps, in any order.

    Parameters
    ----------
    sides : pair of SideTimes
        The first side, then the second.
    steps : Steps
        Of boxes of the sides.
    most : int
        Parts of other boxes that may lie on those of the steps; None where more do, as that is much work.
    count : callable, optional
        Called with how many of the boxes are counted, and how many there are.
    """
    pieces: list[Resolution] = []
    for side in sides:
        some = _pieces(side, steps, most)
        if some is None:
            return None
        pieces.append(some)
        most -= len(some.page)
    return _moved(_counts(pieces, steps, count), steps)._replace(pieces=sum(len(some.page) for some in pieces))


def _places(page: npt.NDArray[np.int32], row: npt.NDArray[np.int32]) -> IntArray:
    """Pages and rows of pixels, as one number each."""
    return np.asarray(page.astype(np.int64) << X_BITS + 1 | row, dtype=np.int64)


def _pieces(side: SideTimes, steps: Steps, most: int) -> Resolution | None:
    """What the boxes of a side that are there at each step cover of the box of the step, in pixels from its corner.

    None where that is more than so many pieces.
    """
    begin, width = side.boxes.between(steps.page, steps.edges)
    nothing = np.empty(0, np.int64)
    parts = [Resolution(nothing, nothing, np.empty((0, 4)))]
    for run in runs_up_to(_PAIRS_AT_ONCE, width):
        step = np.arange(run.start, run.stop).repeat(width[run])
        parts.append(_met(side, steps, numbers_from(begin[run], width[run]), step))
        most -= len(parts[-1].page)
        if most < 0:
            return None
    page, bit, xyxy = (np.concatenate(columns) for columns in list(zip(*parts, strict=True))[:3])
    return Resolution(page, bit, xyxy)


def _met(side: SideTimes, steps: Steps, box: IntArray, step: IntArray) -> Resolution:
    """The pieces of `_pieces` of some pairs of a box and a step on one page."""
    boxes = side.boxes
    for low, high in ((1, 3), (0, 2)):
        meet = boxes.edges[low].take(box) < steps.edges[high].take(step)
        meet &= boxes.edges[high].take(box) > steps.edges[low].take(step)
        rows = meet.nonzero()[0]
        box, step = box.take(rows), step.take(rows)
    before, time, other = side.before.take(boxes.row.take(box)), side.time.take(box), steps.time.take(step)
    # Those with a step before this one have come or left; at its own step a box is not there.
    rows = ((before ^ ((time >= 0) & (time < other))) & (time != other)).nonzero()[0]
    box, step = box.take(rows), step.take(rows)
    own, edges = steps.edges.take(step, axis=1), boxes.edges.take(box, axis=1)
    np.maximum(edges[:2], own[:2], out=edges[:2])
    np.minimum(edges[2:], own[2:], out=edges[2:])
    edges[:2] -= own[:2]
    edges[2:] -= own[:2]
    return Resolution(step, boxes.bit.take(box).astype(np.int64), edges.T.astype(np.float64))


def _counts(pieces: Sequence[Resolution], steps: Steps, count: Callable[[int, int], None] | None) -> PairCounts:
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


def _moved(counts: PairCounts, steps: Steps) -> StepPixels:
    """The pixels of each step that get another label set by its box: those where no other box says the same."""
    side, label = steps.side.take(counts.scope), np.uint64(1) << steps.bit.take(counts.scope).astype(np.uint64)
    rows = ((np.where(side == 0, counts.row_first, counts.row_second) & label) == 0).nonzero()[0]
    step = counts.scope.take(rows)
    kind = Kinds(
        side.take(rows).view(np.uint64), label.take(rows), counts.row_first.take(rows), counts.row_second.take(rows)
    )
    pixels = np.where(steps.comes.take(step), 1, -1) * counts.pixels.take(rows)
    return StepPixels(0, step, kind, pixels)
