"""Boxes, and sums over boxes, in every single condition and every pair of conditions, by unit of documents.

With a column for each bin, C, all boxes are multiplied once unit by unit, ``Cᵀ diag(weight) C``, and the products are
kept; a condition is a range of bins, so its sums are differences of running sums.

Tables have one row for each unit and one column for each set of boxes. Pairs of conditions come by the attribute of
their first condition, with those of all later attributes; ranges with two ends are pairs on one attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.analysis.slices.conditions import Binned, Float32, Range
from evaluator.data.boxes import BoolArray, FloatArray, IntArray

Blocks = list[Float32]
"""Something of every pair of bins by unit: for each attribute its own bins by these and those of later attributes."""

_CHUNK: Final = 1 << 14
# A cell of fewer boxes has no table of its own, which takes longer to subtract than its boxes to count.
_FEW: Final = 2048
# Sums of counts below this are whole numbers in float32.
_EXACT: Final = 1 << 24
# With more cells than these, the bins of boxes are looked up anew each time.
_KEPT_CELLS: Final = 1 << 22


class Outcome(NamedTuple):
    """The expected losses of the boxes, in cells of boxes with one expectation each.

    `cell`: int64 (N,), bits of the set-aside slices that a box is in. `residual`, `variance`: float64 (N,). `expected`,
    `spread`: mean and variance of the losses by cell.
    """

    cell: IntArray
    residual: FloatArray
    variance: FloatArray
    expected: dict[int, float]
    spread: dict[int, float]


class Boxes(NamedTuple):
    """The boxes of a search, those of a unit together: `loss` and `unit` have shape (N,), `unit` rises."""

    bins: Binned
    loss: FloatArray
    unit: IntArray
    units: int


def firsts_of(bins: Binned, ranges: Sequence[Range]) -> list[int]:
    """Return where the conditions on each attribute begin, those of an attribute together."""
    owner = [each.attribute for each in ranges]
    firsts: list[int] = np.searchsorted(owner, np.arange(len(bins.attributes) + 1)).tolist()
    return firsts


class BinCounts:
    """Counts the boxes of a search and adds up their losses, in every pair of bins."""

    def __init__(self, boxes: Boxes) -> None:
        self._boxes, self._bins = boxes, boxes.bins
        self._starts: IntArray = boxes.bins.starts
        self._width = int(self._starts[-1])
        self._firsts = firsts_of(boxes.bins, boxes.bins.ranges)
        self._ends = _Ends.of(boxes.bins, boxes.bins.ranges)
        self._two_ended = _Ends.of(boxes.bins, boxes.bins.two_ended)
        self._losses = self._gram(np.flatnonzero(boxes.loss), boxes.loss)
        self._counts = self._gram(np.arange(len(boxes.loss)))
        self._cell = np.zeros(len(boxes.loss), np.int64)
        self._cells = {0: self._counts}
        self._few = _Few(np.zeros((2, len(boxes.loss))))
        # Those of all units, of the last outcome that was asked for.
        self._residuals: tuple[Outcome, Blocks] | None = None
        # By the identity of the table of a cell, which is kept beside so that no other one gets it: by units.
        self._summed: dict[int, tuple[Blocks, dict[bytes, list[FloatArray]]]] = {}

    def expect(self, outcome: Outcome, inside: BoolArray) -> None:
        """Prepare for a new outcome, in which only the boxes `inside` have another expectation.

        Counts again the boxes of the slice that was set aside, and those it was cut out of.
        """
        cells = dict(self._cells)
        for before in np.unique(self._cell[inside]).tolist():
            if before in cells:
                cells |= self._split(cells.pop(before), np.flatnonzero(self._cell == before), outcome.cell)
        values, code = np.unique(outcome.cell, return_inverse=True)
        few = ~np.isin(values, list(cells))
        weights = [
            np.where(few, [of[value] for value in values.tolist()], 0.0)[code]
            for of in (outcome.expected, outcome.spread)
        ]
        self._few = self._few.changed(np.array(weights), self._gram)
        self._cells, self._cell = cells, outcome.cell
        self._summed = {key: self._summed[key] for key in map(id, cells.values()) if key in self._summed}

    def _split(self, was: Blocks, rows: IntArray, cell: IntArray) -> dict[int, Blocks]:
        parts = {value: rows[cell[rows] == value] for value in np.unique(cell[rows]).tolist()}
        less, *more = sorted(parts, key=lambda value: len(parts[value]))
        if not more:
            return {less: was}
        if len(parts[more[0]]) < _FEW:
            return {}
        part = self._gram(parts[less])
        rest = {more[0]: [of - other for of, other in zip(was, part, strict=True)]}
        return rest if len(parts[less]) < _FEW else {**rest, less: part}

    def merge(self, boxes: Boxes) -> None:
        """Count the same boxes by larger units, of which the present ones are parts; before `expect`."""
        starts = np.searchsorted(boxes.unit, np.arange(boxes.units))
        first = self._boxes.unit[starts]
        self._losses, self._counts = (
            [np.asarray(np.add.reduceat(each, first, axis=2)) for each in blocks]
            for blocks in (self._losses, self._counts)
        )
        self._cells = {0: self._counts}
        self._residuals, self._boxes = None, boxes
        self._summed.clear()

    def boxes(self, units: IntArray) -> Sums:
        """Return the numbers of boxes of some units."""
        return self._ranges(self._of_units(self._counts, units))

    def residuals(self, outcome: Outcome, units: IntArray) -> Sums:
        """Return the sums of residuals of some units."""
        if self._residuals is None or self._residuals[0] is not outcome:
            sums: Blocks = []
            for place, losses in enumerate(self._losses):
                block, product = losses.copy(), np.empty_like(losses)
                for value, parts in self._cells.items():
                    block -= np.multiply(parts[place], np.float32(outcome.expected[value]), out=product)
                if self._few.tables:
                    block -= self._few.tables[0][place]
                sums.append(block)
            self._residuals = outcome, sums
        return self._ranges(self._of_units(self._residuals[1], units))

    def variances(self, outcome: Outcome, units: IntArray) -> Sums:
        """Return the sums of variances of some units together: one row."""
        made = [np.zeros(each.shape[:2]) for each in self._losses]
        for value, parts in self._cells.items():
            for place, counts in enumerate(self._counts_in(parts, units)):
                made[place] += outcome.spread[value] * counts
        if self._few.tables:
            chosen = np.isin(np.arange(self._boxes.units), units).astype(np.float32)
            for place, few in enumerate(self._few.tables[1]):
                made[place] += few @ chosen
        return self._ranges([each[:, :, None] for each in made])

    def within(
        self, parents: Iterable[BoolArray], number: int, outcome: Outcome, group: IntArray, groups: IntArray
    ) -> tuple[Float32, Float32]:
        """Return sums of residuals and numbers of boxes of every parent in every single condition.

        Columns come condition by condition, then by parent, of which there are `number`. `group` is the group of units
        of each box, `groups` are those that count, both rising.
        """
        size = int(group[-1]) + 1
        cells_of = self._cells_by(group, size)
        tables = np.zeros((2, self._width, number, len(groups)), np.float32)
        for place, parent in enumerate(parents):
            counted = self._by_bin(np.flatnonzero(parent), outcome.residual, cells_of, size)
            for table, by_group in zip(tables, counted, strict=True):
                table[:, place] = by_group[:, groups]
        sums, counts = (
            (prefix[self._ends.high] - prefix[self._ends.low]).reshape(-1, len(groups)).T
            for prefix in map(_summed, tables)
        )
        return sums, counts

    def _ranges(self, blocks: Sequence[npt.NDArray[np.floating]]) -> Sums:
        return Sums(blocks, self._bins, self._ends, self._two_ended, self._firsts)

    def _of_units(self, blocks: Blocks, units: IntArray) -> Blocks:
        if len(units) == self._boxes.units:
            return blocks
        return [np.ascontiguousarray(each[:, :, units]) for each in blocks]

    def _counts_in(self, parts: Blocks, units: IntArray) -> list[FloatArray]:
        """Return the boxes of a cell in every pair of bins, some units together; kept with the cell."""
        key = units.tobytes()
        known = self._summed.setdefault(id(parts), (parts, {}))[1]
        if key not in known:
            chosen = np.zeros(self._boxes.units)
            chosen[units] = 1.0
            of_counts = chosen.astype(np.float32) if len(self._cell) < _EXACT else chosen
            known[key] = [np.asarray(each @ of_counts, dtype=np.float64) for each in parts]
        return known[key]

    def _columns(self, rows: IntArray) -> Iterator[tuple[IntArray, Float32]]:
        for low in range(0, len(rows), _CHUNK):
            part = rows[low : low + _CHUNK]
            matrix = np.zeros((len(part), self._width + 1), np.float32)
            matrix[np.arange(len(part))[:, None], self._places_of(part)] = 1.0
            yield part, matrix[:, : self._width]

    def _places_of(self, rows: IntArray) -> IntArray:
        codes = self._bins.codes[rows].astype(np.int64)
        return np.where(codes < np.array(self._bins.sizes), codes + self._starts[:-1], self._width)

    def _gram(self, rows: IntArray, weight: FloatArray | None = None) -> Blocks:
        out = np.zeros((self._boxes.units, self._width, self._width), np.float32)
        for part, matrix in self._columns(rows):
            unit = self._boxes.unit[part]
            for one in range(int(unit[0]), int(unit[-1]) + 1):
                low, high = np.searchsorted(unit, [one, one + 1])
                if high > low:
                    some = matrix[low:high]
                    heavy = some if weight is None else some * weight[part[low:high], None].astype(np.float32)
                    out[one] += some.T @ heavy
        # Units last: what is added up over neighbouring bins then is side by side in memory.
        blocks = []
        for start, stop in pairwise(self._starts.tolist()):
            block = np.empty((stop - start, self._width - start, self._boxes.units), np.float32)
            for place in range(start, stop):
                block[place - start] = out[:, place, start:].T
            blocks.append(block)
        return blocks

    def _by_bin(
        self, rows: IntArray, weight: FloatArray, cells_of: Callable[[IntArray], IntArray], groups: int
    ) -> tuple[FloatArray, FloatArray]:
        # A box is in one bin of each attribute, so that counting is less work than a product of matrices.
        cells = (self._width + 1) * groups
        sums, counts = np.zeros(cells), np.zeros(cells)
        for low in range(0, len(rows), _CHUNK):
            part = rows[low : low + _CHUNK]
            cell = cells_of(part).ravel()
            sums += np.bincount(cell, np.repeat(weight[part], self._bins.codes.shape[1]), minlength=cells)
            counts += np.bincount(cell, minlength=cells)
        shape = self._width + 1, groups
        return sums.reshape(shape)[: self._width], counts.reshape(shape)[: self._width]

    def _cells_by(self, group: IntArray, groups: int) -> Callable[[IntArray], IntArray]:
        def made(rows: IntArray) -> IntArray:
            return self._places_of(rows) * groups + group[rows, None]

        if self._bins.codes.size > _KEPT_CELLS:
            return made
        # A box is in many of the sets that are looked at.
        every = made(np.arange(len(group)))
        return lambda rows: every.take(rows, axis=0)


class _Few(NamedTuple):
    """The expectations of the boxes of cells with few boxes, which have no table of their own.

    `weights`: float64, shape (2, N), mean and variance of a box, 0 where a table counts it. `tables`: their sums in
    every pair of bins by unit; empty before there are any.
    """

    weights: FloatArray
    tables: tuple[Blocks, ...] = ()

    def changed(self, weights: FloatArray, gram: Callable[[IntArray, FloatArray], Blocks]) -> _Few:
        """Return the sums with other expectations; only the boxes that changed are added up again."""
        more = weights - self.weights
        rows, tables = np.flatnonzero(more.any(axis=0)), []
        if not len(rows):
            return self
        for place, each in enumerate(more):
            added = gram(rows, each)
            if self.tables:
                added = [of + part for of, part in zip(self.tables[place], added, strict=True)]
            tables.append(added)
        return _Few(weights, tuple(tables))


class _Ends(NamedTuple):
    """Where conditions begin and end among all bins, int64, and the attribute of each."""

    low: IntArray
    high: IntArray
    attribute: IntArray

    @classmethod
    def of(cls, bins: Binned, ranges: Sequence[Range]) -> _Ends:
        attribute, low, high = np.array(ranges, dtype=np.int64).reshape(-1, 3).T
        return cls(bins.starts[attribute] + low, bins.starts[attribute] + high, attribute)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of the weights of boxes in every pair of bins; rows are units."""

    blocks: Sequence[npt.NDArray[np.floating]]
    bins: Binned
    ends: _Ends
    ends_of_two: _Ends
    firsts: list[int]
    areas: dict[int, FloatArray] = field(default_factory=dict)

    @cached_property
    def _prefix(self) -> npt.NDArray[np.floating]:
        own = (np.arange(size) for size in self.bins.sizes)
        return np.concatenate([_summed(block[bins, bins]) for block, bins in zip(self.blocks, own, strict=True)])

    def singles(self) -> npt.NDArray[np.floating]:
        """Return the sums in every single condition."""
        return self._alone(self.ends)

    def two_ended(self) -> npt.NDArray[np.floating]:
        """Return the sums in every range of numbers with two ends."""
        return self._alone(self.ends_of_two)

    def _alone(self, ends: _Ends) -> npt.NDArray[np.floating]:
        return np.asarray((self._prefix[ends.high + ends.attribute] - self._prefix[ends.low + ends.attribute]).T)

    def crossed(self, place: int) -> npt.NDArray[np.floating]:
        """Return the sums in every pair of a condition on one attribute and one on a later attribute."""
        block, (own, later) = self.blocks[place], self.firsts[place : place + 2]
        start, first = (int(each) for each in self.bins.starts[place : place + 2])
        (low, high), (low_later, high_later) = (
            (self.ends.low[those] - before, self.ends.high[those] - before)
            for those, before in ((slice(own, later), start), (slice(later, None), first))
        )
        rows = _summed(block[:, first - start :])
        # The bins that are added up come first in memory: whole planes are added, not numbers far from each other.
        turned = np.empty((block.shape[1] - (first - start), len(low), block.shape[2]), block.dtype)
        np.subtract(rows[high], rows[low], out=turned.transpose(1, 0, 2))
        turned = _summed(turned)
        made = np.empty((len(low), len(low_later), block.shape[2]), block.dtype)
        np.subtract(turned[high_later], turned[low_later], out=made.transpose(1, 0, 2))
        return made.reshape(-1, block.shape[2]).T

    def totals(self, at: IntArray) -> FloatArray:
        """Return sums of all units together, float64 (S,), at places in the joined tables of all `crossed`."""
        ones = np.ones(self.blocks[0].shape[2], np.float32)
        blocks = [(each @ ones).astype(np.float64)[:, :, None] for each in self.blocks]
        every = Sums(blocks, self.bins, self.ends, self.ends_of_two, self.firsts)
        return np.concatenate([every.crossed(place)[0] for place in range(len(blocks) - 1)])[at]

    def pairs(self, first: IntArray, second: IntArray) -> npt.NDArray[np.floating]:
        """Return the sums in some pairs of conditions, by their places; the attribute of `first` rises."""
        made = np.empty((len(first), self.blocks[0].shape[2]), self.blocks[0].dtype)
        bounds = np.searchsorted(first, self.firsts)
        for place, (start, stop) in enumerate(pairwise(bounds.tolist())):
            if stop == start:
                continue
            area, (own, later) = self._area(place), self.bins.starts[place : place + 2]
            (low, high), (left, right) = (
                (self.ends.low[those] - before, self.ends.high[those] - before)
                for those, before in ((first[start:stop], own), (second[start:stop], later))
            )
            made[start:stop] = area[high, right] - area[low, right] - area[high, left] + area[low, left]
        return made.T

    def _area(self, place: int) -> FloatArray:
        """Return running sums over the bins of one attribute and those of all later ones, float64."""
        if place not in self.areas:
            size = self.bins.sizes[place]
            rows = _summed(self.blocks[place][:, size:].astype(np.float64))
            self.areas[place] = np.zeros((size + 1, rows.shape[1] + 1, rows.shape[2]))
            np.cumsum(rows, axis=1, out=self.areas[place][:, 1:])
        return self.areas[place]


def _summed(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return running sums along the first axis with a 0 in front; equal to `numpy.cumsum`."""
    # The same order of additions, by whole planes; cumsum goes along the axis for each number by itself.
    sums = np.empty((len(values) + 1, *values.shape[1:]), values.dtype)
    sums[0] = 0.0
    sums[1:2] = values[:1]
    for place in range(1, len(values)):
        np.add(sums[place : place + 1], values[place : place + 1], out=sums[place + 1 : place + 2])
    return sums
