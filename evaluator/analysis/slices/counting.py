"""Boxes, and sums over boxes, in every single condition and every pair of conditions, by unit of documents.

Few boxes: the masks of all conditions, C, are multiplied unit by unit, ``Cᵀ diag(weight) C``; sums of losses are kept,
and only boxes of slices that are set aside are multiplied again. Many boxes: the same product is made once with a
column for each bin and kept; a condition is a range of bins, so its sums are differences of running sums.

Tables have one row for each unit and one column for each set of boxes. Pairs of conditions come by the attribute of
their first condition, with those of all later attributes; ranges with two ends are pairs on one attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evaluator.analysis.slices.conditions import Binned, Float32, Range
from evaluator.data.boxes import BoolArray, FloatArray, IntArray

Blocks = list[Float32]
"""Something of every pair of bins by unit: for each attribute its own bins by these and those of later attributes."""

# With so many boxes counting them once by bins is less work than multiplying them each time.
_MOST_MULTIPLIED: Final = 1536
# Units are multiplied in one call when that takes at most so many times the rows.
_EVEN: Final = 2
_CHUNK: Final = 1 << 14
_PAIRS_AT_A_TIME: Final = 256
# A cell of fewer boxes has no table of its own, which takes longer to subtract than its boxes to count.
_FEW: Final = 2048
# Sums of counts below this are whole numbers in float32.
_EXACT: Final = 1 << 24
# With more cells than these, the bins of boxes are looked up anew each time.
_KEPT_CELLS: Final = 1 << 22


@dataclass(eq=False)
class Outcome:
    """The expected losses of the boxes, in cells of boxes with one expectation each.

    `cell`: int64 (N,), bits of the set-aside slices that a box is in. `residual`, `variance`: float64 (N,). `expected`,
    `spread`: mean and variance of the losses by cell.
    """

    cell: IntArray
    residual: FloatArray
    variance: FloatArray
    expected: dict[int, float] = field(default_factory=dict)
    spread: dict[int, float] = field(default_factory=dict)


class Boxes(NamedTuple):
    """The boxes of a search, those of a unit together: `loss` and `unit` have shape (N,), `unit` rises."""

    bins: Binned
    loss: FloatArray
    unit: IntArray
    units: int


class Pairs(NamedTuple):
    """Some pairs of conditions on two attributes, with the boxes of the units that are counted.

    `at`: their places in the concatenated tables of crossed conditions; `first`, `second`: places of their conditions
    among all single ones, the attribute of `first` rising; all int64 (S,). `by_unit`: boxes, float32 (U, S); `boxes`:
    those of all units, float64 (S,).
    """

    at: IntArray
    first: IntArray
    second: IntArray
    by_unit: Float32
    boxes: FloatArray


class Sums(Protocol):
    """Sums of the weights of boxes; rows are units, float32."""

    def singles(self) -> npt.NDArray[np.floating]:
        """Return the sums in every single condition."""

    def two_ended(self) -> npt.NDArray[np.floating]:
        """Return the sums in every range of numbers with two ends."""

    def crossed(self, place: int) -> npt.NDArray[np.floating]:
        """Return the sums in every pair of a condition on one attribute and one on a later attribute."""

    def pairs(self, pairs: Pairs) -> npt.NDArray[np.floating]:
        """Return the sums in some pairs of conditions."""

    def totals(self, pairs: Pairs) -> FloatArray:
        """Return the sums in some pairs, of all units together, float64, shape (S,)."""


class Counting(Protocol):
    """Counts the boxes of some units."""

    def boxes(self, units: IntArray) -> Sums:
        """Count the boxes."""

    def residuals(self, outcome: Outcome, units: IntArray) -> Sums:
        """Return the sums of residuals."""

    def variances(self, outcome: Outcome, units: IntArray) -> Sums:
        """Return the sums of variances of all units together: one row."""

    def expect(self, outcome: Outcome, inside: BoolArray) -> None:
        """Prepare for a new outcome, in which only the boxes `inside` have another expectation."""

    def merge(self, boxes: Boxes) -> None:
        """Count the same boxes by larger units, of which the present ones are parts; before `expect`."""

    def within(
        self, parents: Iterable[BoolArray], number: int, outcome: Outcome, group: IntArray, groups: IntArray
    ) -> tuple[Float32, Float32]:
        """Return sums of residuals and numbers of boxes of every parent in every single condition.

        Columns come condition by condition, then by parent, of which there are `number`. `group` is the group of units
        of each box, `groups` are those that count, both rising.
        """


def counting_of(boxes: Boxes) -> Counting:
    """Return the way to count that is less work."""
    return ByConditions(boxes) if len(boxes.loss) <= _MOST_MULTIPLIED else ByBins(boxes)


def firsts_of(bins: Binned, ranges: Sequence[Range]) -> list[int]:
    """Return where the conditions on each attribute begin, those of an attribute together."""
    owner = [each.attribute for each in ranges]
    firsts: list[int] = np.searchsorted(owner, np.arange(len(bins.attributes) + 1)).tolist()
    return firsts


# --- few boxes ---------------------------------------------------------------------------------------------------


class ByConditions:
    """Multiplies the masks of conditions; see `Counting`."""

    def __init__(self, boxes: Boxes) -> None:
        self._start(boxes)
        self._masks, self._firsts = boxes.bins.masks, firsts_of(boxes.bins, boxes.bins.ranges)

    def _start(self, boxes: Boxes) -> None:
        self._boxes, self._unit = boxes, boxes.unit
        self._chosen: dict[bytes, _Chosen] = {}
        # Of the last outcome and units.
        self._last: tuple[Outcome, IntArray, int, _Chosen] | None = None
        self.__dict__.pop("_losses", None)

    def expect(self, outcome: Outcome, inside: BoolArray) -> None:
        """Do nothing: residuals are multiplied as they are."""

    def merge(self, boxes: Boxes) -> None:
        """See `Counting`."""
        self._start(boxes)

    def boxes(self, units: IntArray) -> Sums:
        """See `Counting`."""
        return self._sums(np.ones(len(self._unit)), units)

    def residuals(self, outcome: Outcome, units: IntArray) -> Sums:
        """See `Counting`."""
        most, apart = self._apart(outcome, units)
        shift = self._about - outcome.expected[most]
        direct = self._sums(outcome.residual, units)
        usual = self._boxes.loss - self._about
        return _Residuals(
            direct, lambda: self._losses, units, shift, self._products(apart, outcome.residual),
            self._products(apart, usual), self._products(apart, np.ones(len(usual))),
        )  # fmt: skip

    def variances(self, outcome: Outcome, units: IntArray) -> Sums:
        """See `Counting`."""
        most, apart = self._apart(outcome, units)
        spread = outcome.spread[most]
        rest = self._products(apart, outcome.variance - spread, together=True)
        return _Variances(self._sums(outcome.variance, units, together=True), spread, rest)

    def within(
        self, parents: Iterable[BoolArray], number: int, outcome: Outcome, group: IntArray, groups: IntArray
    ) -> tuple[Float32, Float32]:
        """See `Counting`."""
        of_parents = np.array(list(parents)).astype(np.float32).T
        weighted = of_parents * outcome.residual.astype(np.float32)[:, None]
        sums, counts = np.empty((2, len(groups), self._masks.shape[1], number), np.float32)
        for place, one in enumerate(groups.tolist()):
            low, high = np.searchsorted(group, [one, one + 1])
            np.matmul(self._masks[low:high].T, weighted[low:high], out=sums[place])
            np.matmul(self._masks[low:high].T, of_parents[low:high], out=counts[place])
        return sums.reshape(len(groups), -1), counts.reshape(len(groups), -1)

    def _sums(self, weight: FloatArray, units: IntArray, *, together: bool = False) -> _Products:
        key = units.tobytes()
        if key not in self._chosen:
            self._chosen[key] = self._chosen_of(np.flatnonzero(np.isin(self._unit, units)), units)
        return self._products(self._chosen[key], weight, together=together)

    def _chosen_of(self, rows: IntArray, units: IntArray) -> _Chosen:
        bounds = np.append(np.searchsorted(self._unit[rows], units), len(rows))
        return _Chosen(rows, bounds, self._boxes.bins)

    def _products(self, chosen: _Chosen, weight: FloatArray, *, together: bool = False) -> _Products:
        bounds = np.array([0, len(chosen.rows)]) if together else chosen.bounds
        return _Products(chosen, weight[chosen.rows].astype(np.float32), bounds, self._firsts)

    def _apart(self, outcome: Outcome, units: IntArray) -> tuple[int, _Chosen]:
        """Return the cell with most boxes, and the boxes of some units that are in other cells."""
        if self._last is None or self._last[0] is not outcome or not np.array_equal(self._last[1], units):
            values, count = np.unique(outcome.cell, return_counts=True)
            most = int(values[np.argmax(count)])
            rows = np.flatnonzero((outcome.cell != most) & np.isin(self._unit, units))
            self._last = outcome, units, most, self._chosen_of(rows, units)
        return self._last[2:]

    @property
    def _about(self) -> float:
        """Mean loss to a 64th, so that sums of losses of 0 and 1 stay exact in float32."""
        return round(float(self._boxes.loss.mean()) * 64.0) / 64.0

    @cached_property
    def _losses(self) -> Float32:
        """Sums of the losses minus `_about` in all pairs of two attributes, float32, shape (U, P)."""
        every = np.arange(self._boxes.units)
        sums = self._sums(self._boxes.loss - self._about, every)
        return np.concatenate([sums.crossed(place) for place in range(len(self._firsts) - 1)], axis=1)


class _Chosen:
    """Some boxes: their rows, and where each unit begins and the last ends."""

    def __init__(self, rows: IntArray, bounds: IntArray, bins: Binned) -> None:
        self.rows, self.bounds, self._bins = rows, bounds, bins

    @cached_property
    def masks(self) -> Float32:
        """Where each condition holds, 1 or 0, float32, shape (N, K)."""
        return self._bins.masks[self.rows]

    @cached_property
    def two_ended(self) -> Float32:
        """Where each range with two ends holds, 1 or 0, float32, shape (N, K)."""
        return self._bins.two_ended_masks[self.rows]

    @property
    def even(self) -> bool:
        """Whether there are several units of about as many boxes."""
        size = np.diff(self.bounds)
        return len(size) > 1 and len(size) * int(size.max()) <= _EVEN * len(self.rows)

    @cached_property
    def places(self) -> tuple[IntArray, IntArray]:
        """The unit of each box, and its place in its unit."""
        size = np.diff(self.bounds)
        return np.repeat(np.arange(len(size)), size), np.arange(len(self.rows)) - np.repeat(self.bounds[:-1], size)

    @cached_property
    def by_unit(self) -> Float32:
        """The masks by unit, float32, shape (U, most boxes of a unit, K), padded with 0."""
        made = np.zeros((len(self.bounds) - 1, int(np.diff(self.bounds).max()), self.masks.shape[1]), np.float32)
        made[self.places] = self.masks
        return made

    @cached_property
    def by_condition(self) -> Float32:
        """The masks, those of a condition contiguous in memory."""
        return np.ascontiguousarray(self.masks.T)


@dataclass(frozen=True, eq=False)
class _Products:
    """See `Sums`."""

    chosen: _Chosen
    weight: Float32
    bounds: IntArray
    firsts: list[int]

    @cached_property
    def of_units(self) -> Float32:
        """The weights of the boxes of each unit, 0 for those of others, float32, shape (U, N)."""
        units = len(self.bounds) - 1
        made = np.zeros((units, len(self.weight)), np.float32)
        made[np.repeat(np.arange(units), np.diff(self.bounds)), np.arange(len(self.weight))] = self.weight
        return made

    @cached_property
    def _by_unit(self) -> Float32:
        weight = np.zeros((*self.chosen.by_unit.shape[:2], 1), np.float32)
        weight[self.chosen.places] = self.weight[:, None]
        return np.asarray(self.chosen.by_unit * weight)

    @cached_property
    def _weighted(self) -> Float32:
        return np.asarray(self.chosen.masks * self.weight[:, None])

    def singles(self) -> Float32:
        return np.asarray(self.of_units @ self.chosen.masks)

    def two_ended(self) -> Float32:
        return np.asarray(self.of_units @ self.chosen.two_ended)

    def crossed(self, place: int) -> Float32:
        start, stop = self.firsts[place : place + 2]
        if len(self.bounds) == len(self.chosen.bounds) and self.chosen.even:
            # One call for all units: a call for each takes longer than its few boxes.
            own, later = self.chosen.by_unit[:, :, start:stop], self._by_unit[:, :, stop:]
            return np.asarray(np.matmul(own.transpose(0, 2, 1), later).reshape(len(own), -1))
        made = np.empty((len(self.bounds) - 1, stop - start, self.chosen.masks.shape[1] - stop), np.float32)
        own, later = self.chosen.masks[:, start:stop].T, self._weighted[:, stop:]
        for unit, (low, high) in enumerate(pairwise(self.bounds.tolist())):
            np.matmul(own[:, low:high], later[low:high], out=made[unit])
        return made.reshape(len(made), -1)

    def pairs(self, pairs: Pairs) -> Float32:
        return _in_pairs([self], pairs)[0]

    def totals(self, pairs: Pairs) -> FloatArray:
        both = self.chosen.masks.T @ self._weighted
        return both.ravel().take(pairs.first * len(both) + pairs.second).astype(np.float64)


def _in_pairs(sums: Sequence[_Products], pairs: Pairs) -> list[Float32]:
    """Return the sums of several weights of the same boxes and units in some pairs of conditions."""
    chosen = sums[0].chosen
    of_units = np.ascontiguousarray(np.concatenate([each.of_units for each in sums]).T)
    made = np.empty((len(pairs.at), of_units.shape[1]), np.float32)
    for low in range(0, len(made), _PAIRS_AT_A_TIME):
        some = slice(low, low + _PAIRS_AT_A_TIME)
        both = chosen.by_condition.take(pairs.first[some], axis=0)
        both *= chosen.by_condition.take(pairs.second[some], axis=0)
        np.matmul(both, of_units, out=made[some])
    return np.split(made.T, len(sums))


@dataclass(frozen=True, eq=False)
class _OfAll:
    """Sums of the tables that are small enough to multiply all boxes."""

    direct: _Products

    def singles(self) -> Float32:
        return self.direct.singles()

    def two_ended(self) -> Float32:
        return self.direct.two_ended()

    def crossed(self, place: int) -> Float32:
        return self.direct.crossed(place)


@dataclass(frozen=True, eq=False)
class _Residuals(_OfAll):
    """Sums of residuals where most boxes share one expectation; see `Sums`.

    Sums in pairs follow from those of the `losses`, which are added up once; only boxes of other cells (`rest...`) are
    taken out and added as they are, so that sums of nothing are exactly 0, like their variance. Losses are minus
    `_about`; `shift` is `_about` minus the mean of most boxes.
    """

    losses: Callable[[], Float32]
    units: IntArray
    shift: float
    rest: _Products
    rest_losses: _Products
    rest_boxes: _Products

    def pairs(self, pairs: Pairs) -> Float32:
        losses, boxes = self.losses()[self.units[:, None], pairs.at], pairs.by_unit
        if not len(self.rest.weight):
            return (losses + self.shift * boxes.astype(np.float64)).astype(np.float32)
        rest, rest_losses, rest_boxes = _in_pairs([self.rest, self.rest_losses, self.rest_boxes], pairs)
        usual = (losses - rest_losses) + self.shift * (boxes - rest_boxes).astype(np.float64)
        return (usual + rest).astype(np.float32)

    def totals(self, pairs: Pairs) -> FloatArray:
        losses = self.losses()
        chosen = np.isin(np.arange(len(losses)), self.units).astype(np.float32)
        made = (chosen @ losses).take(pairs.at) + self.shift * pairs.boxes
        if len(self.rest.weight):
            more = self.rest.weight - self.rest_losses.weight - np.float32(self.shift)
            made += replace(self.rest, weight=more).totals(pairs)
        return made


@dataclass(frozen=True, eq=False)
class _Variances(_OfAll):
    """Sums of variances of all units together, where most boxes share one; see `Sums`.

    `usual` is the variance of most boxes, `rest` by how much the others differ.
    """

    usual: float
    rest: _Products

    def pairs(self, pairs: Pairs) -> Float32:
        return self.totals(pairs).astype(np.float32)[None]

    def totals(self, pairs: Pairs) -> FloatArray:
        made = self.usual * pairs.boxes
        if len(self.rest.weight):
            made += self.rest.totals(pairs)
        return made


# --- many boxes --------------------------------------------------------------------------------------------------


class ByBins:
    """Keeps the boxes and their losses in every pair of bins; see `Counting`."""

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
        """Count again the boxes of the slice that was set aside, and those it was cut out of."""
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
        """Return the tables of the cells that a cell is split into; none of one with few boxes."""
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
        """See `Counting`."""
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
        """See `Counting`."""
        return self._ranges(self._of_units(self._counts, units))

    def residuals(self, outcome: Outcome, units: IntArray) -> Sums:
        """See `Counting`."""
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
        """See `Counting`."""
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
        """See `Counting`."""
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

    def _ranges(self, blocks: Sequence[npt.NDArray[np.floating]]) -> _Ranges:
        return _Ranges(blocks, self._bins, self._ends, self._two_ended, self._firsts)

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
        """Yield one column for each bin, for some rows at a time, at most `_CHUNK`."""
        for low in range(0, len(rows), _CHUNK):
            part = rows[low : low + _CHUNK]
            matrix = np.zeros((len(part), self._width + 1), np.float32)
            matrix[np.arange(len(part))[:, None], self._places_of(part)] = 1.0
            yield part, matrix[:, : self._width]

    def _places_of(self, rows: IntArray) -> IntArray:
        """Return the bin column of boxes in each attribute, int64; `width`, left out, where unknown."""
        codes = self._bins.codes[rows].astype(np.int64)
        return np.where(codes < np.array(self._bins.sizes), codes + self._starts[:-1], self._width)

    def _gram(self, rows: IntArray, weight: FloatArray | None = None) -> Blocks:
        """Return the number of boxes in every pair of bins by unit, or the sum of their weights."""
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
        """Return weights and numbers of some boxes in every bin by group, float64, shape (W, G) each."""
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
        """Return what gives for rows the cell (bin and group) of each attribute, int64, shape (N, A)."""

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
        """Return the ends of some conditions."""
        attribute, low, high = np.array(ranges, dtype=np.int64).reshape(-1, 3).T
        return cls(bins.starts[attribute] + low, bins.starts[attribute] + high, attribute)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """See `Sums`."""

    blocks: Sequence[npt.NDArray[np.floating]]
    bins: Binned
    ends: _Ends
    ends_of_two: _Ends
    firsts: list[int]
    areas: dict[int, FloatArray] = field(default_factory=dict)

    @cached_property
    def _prefix(self) -> npt.NDArray[np.floating]:
        """Running sums over the bins of each attribute (the diagonal of its block), one more than bins."""
        own = (np.arange(size) for size in self.bins.sizes)
        return np.concatenate([_summed(block[bins, bins]) for block, bins in zip(self.blocks, own, strict=True)])

    def singles(self) -> npt.NDArray[np.floating]:
        return self._alone(self.ends)

    def two_ended(self) -> npt.NDArray[np.floating]:
        return self._alone(self.ends_of_two)

    def _alone(self, ends: _Ends) -> npt.NDArray[np.floating]:
        return np.asarray((self._prefix[ends.high + ends.attribute] - self._prefix[ends.low + ends.attribute]).T)

    def crossed(self, place: int) -> npt.NDArray[np.floating]:
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

    def totals(self, pairs: Pairs) -> FloatArray:
        ones = np.ones(self.blocks[0].shape[2], np.float32)
        blocks = [(each @ ones).astype(np.float64)[:, :, None] for each in self.blocks]
        every = _Ranges(blocks, self.bins, self.ends, self.ends_of_two, self.firsts)
        return np.concatenate([every.crossed(place)[0] for place in range(len(blocks) - 1)])[pairs.at]

    def pairs(self, pairs: Pairs) -> npt.NDArray[np.floating]:
        first, second = pairs.first, pairs.second
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
