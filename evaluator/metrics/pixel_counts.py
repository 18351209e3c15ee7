"""Which pixels carry which labels on two layers of boxes: exact counts, without painting a pixel.

A label set is a 64-bit word: bit 0 is the background and is alone, bits 1 to 63 are classes. Coordinates are pixels of
the page's raster, origin top left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.order import all_true, begins, numbers_from
from evaluator.metrics.pixel_sweep import X_BITS, Areas, Covered, Lanes, WordArray, in_order, sweep_pages

Word = TypeVar("Word", bound="np.integer[Any]")

BACKGROUND: Final = 1
"""The label set of a pixel that no box covers: bit 0 alone."""
MAX_CLASSES: Final = 63
"""Classes beside the background that a 64-bit word has room for."""
MAX_SIDE: Final = (1 << X_BITS) - 1
"""Widest and highest page in pixels."""

# Boxes in one go.
_BOXES_AT_ONCE: Final = 1 << 12
# Scaling and scaling back moves an edge by less than this (in pixels); floor and ceil must not see it.
_NOISE: Final = 1e-9
_WORD_BITS: Final = 64
# Bits of a number that is not negative.
_NUMBER_BITS: Final = 63
# float64 holds every integer up to here.
_EXACT: Final = 1 << 53


class Resolution(NamedTuple):
    """One layout resolution: labelled boxes of many pages.

    `page`: int64, shape (N,). `bit`: int64, of the class, 1 to 63. `xyxy`: float64, shape (N, 4), in any unit. `scale`:
    float64, shape (P, 2), factors per page that take x and y to pixels; None where the unit is pixels.
    """

    page: IntArray
    bit: IntArray
    xyxy: FloatArray
    scale: FloatArray | None = None

    def at(self, rows: IntArray | slice) -> Resolution:
        """Return some of the boxes; those of a slice are not copied."""
        if isinstance(rows, slice):
            return Resolution(self.page[rows], self.bit[rows], self.xyxy[rows], self.scale)
        return Resolution(self.page.take(rows), self.bit.take(rows), self.xyxy.take(rows, axis=0), self.scale)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How many pixels carry which pair of label sets, per scope (a page, a document, everything).

    `scopes`: number S; a scope may have no row. `scope`: int64, shape (R,), rising. `row_first`, `row_second`: uint64,
    label sets of each row, sorted by (first, second) in each scope, none twice. `pixels`: int64, > 0. Sums are exact,
    so results do not depend on the order of pages, batches or shards.
    """

    scopes: int
    scope: IntArray
    row_first: WordArray
    row_second: WordArray
    pixels: IntArray

    def __len__(self) -> int:
        return len(self.scope)

    @property
    def totals(self) -> IntArray:
        """Return the number of pixels of each scope, int64, shape (S,)."""
        if self.scopes == 1:
            return np.add.reduce(self.pixels, keepdims=True)
        sums = np.zeros(self.scopes, dtype=np.int64)
        if len(self):
            begin = begins(self.scope).nonzero()[0]
            sums[self.scope.take(begin)] = np.add.reduceat(self.pixels, begin)
        return sums

    @cached_property
    def _known(self) -> tuple[IntArray, WordArray, WordArray]:
        known, pair = unique_pairs(self.row_first, self.row_second)
        return pair, self.row_first.take(known), self.row_second.take(known)

    @property
    def pair(self) -> IntArray:
        """Return the row in `first` and `second` of each row, int64, shape (R,); rising in each scope."""
        return self._known[0]

    @property
    def first(self) -> WordArray:
        """Return the first label set of each different pair, uint64, shape (K,), sorted by (first, second)."""
        return self._known[1]

    @property
    def second(self) -> WordArray:
        """Return the second label set of each different pair, uint64, shape (K,)."""
        return self._known[2]

    def triples(self, scope: int) -> list[tuple[int, int, int]]:
        """Return one scope as first label set, second, and pixels, sorted; empty without pixels."""
        rows = self._rows(scope, scope + 1)
        columns = (column[rows].tolist() for column in (self.row_first, self.row_second, self.pixels))
        return list(zip(*columns, strict=True))

    def between(self, start: int, stop: int) -> PairCounts:
        """Return the scopes from `start` to before `stop`, counted from 0 again."""
        rows = self._rows(start, stop)
        scope = self.scope[rows] - start
        return PairCounts(stop - start, scope, self.row_first[rows], self.row_second[rows], self.pixels[rows])

    def pooled(self, into: IntArray, scopes: int) -> PairCounts:
        """Return scopes added up under new codes, int64, shape (S,), as pages to documents."""
        return group_counts(self, into[self.scope], scopes)

    def taken(self, rows: IntArray) -> PairCounts:
        """Return some of the rows, rising."""
        columns = self.row_first.take(rows), self.row_second.take(rows)
        return PairCounts(self.scopes, self.scope.take(rows), *columns, self.pixels.take(rows))

    def _rows(self, start: int, stop: int) -> slice:
        return slice(*np.searchsorted(self.scope, [start, stop]).tolist())

    def of(self, scopes: IntArray) -> PairCounts:
        """Return the rows of some scopes, rising codes; the number of scopes stays."""
        begin = np.searchsorted(self.scope, scopes)
        return self.taken(numbers_from(begin, np.searchsorted(self.scope, scopes, side="right") - begin))


def merge(parts: Sequence[PairCounts]) -> PairCounts:
    """Return counts of shards, at least one, added up scope by scope, whatever their order.

    ValueError when the numbers of scopes differ.

    >>> shard = count_pairs(*[Resolution(*(np.empty(0, int),) * 2, np.empty((0, 4)))] * 2, np.array([[3, 2]]))
    >>> merge([shard, shard]).triples(0)
    [(1, 1, 12)]
    """
    scopes = {part.scopes for part in parts}
    if len(scopes) != 1:
        raise ValueError(f"shards must have the same scopes; found {sorted(scopes)}")
    every = concat_counts(parts, [0] * len(parts), scopes.pop())
    return group_counts(every, every.scope, every.scopes)


def count_pairs(
    first: Resolution, second: Resolution, size: IntArray, *, count: Callable[[int, int], None] | None = None
) -> PairCounts:
    """Return the pixels of each page per pair of label sets, exactly as if every pixel had been painted.

    `size`: int64, shape (P, 2), raster of each page, 0 to `MAX_SIDE`; a page of no pixels has no rows. `count`: called
    after each batch with pages done and pages. One scope per page; a page without boxes is background on both sides.
    The same class on one spot counts once.

    Notes
    -----
    A box covers the columns floor(x1) to ceil(x2) - 1 and likewise the rows, cut off at the page: one without width
    covers a column unless it lies between two, an inverted one nothing. docling-eval and docling-metrics-layout count
    negative coordinates from the far edge and lose such boxes, which lowers their recall or precision.
    """
    sides = first, second
    orders = [None if all_true(side.page[1:] >= side.page[:-1]) else side.page.argsort(kind="stable") for side in sides]
    pages = np.arange(len(size) + 1)
    ends = [
        (side.page if order is None else side.page.take(order)).searchsorted(pages)
        for side, order in zip(sides, orders, strict=True)
    ]
    highest = [int(side.bit.max(initial=1)) for side in sides]
    lanes = Lanes(highest[1], sum(highest))
    parts = []
    for start, stop in _batches(ends[0] + ends[1]):
        rows = [slice(end[start], end[stop]) for end in ends]
        some = [
            side.at(chosen if order is None else order[chosen])
            for side, order, chosen in zip(sides, orders, rows, strict=True)
        ]
        parts += [
            _labelled(part, start) for part in sweep_pages(_covered(some, lanes, size, start), lanes, stop - start)
        ]
        if count is not None:
            count(stop, len(size))
    return _with_background(parts, size) if parts else no_counts(len(size))


def on_page(edges: FloatArray, page: IntArray, size: IntArray) -> IntArray:
    """Return edges from `pixel_edges` cut off at the page of each, int64, shape (n, 4).

    First column and row, and those after the last: x2 <= x1 or y2 <= y1 for a box that covers nothing.
    """
    # In columns, as the edges are.
    most = np.ascontiguousarray(size.take(page, axis=0).T)
    covered = np.maximum(edges.T, 0.0)
    np.minimum(covered[:2], most, out=covered[:2])
    np.minimum(covered[2:], most, out=covered[2:])
    return covered.astype(np.int64).T


def pixel_edges(side: Resolution) -> FloatArray:
    """Return floor of x1 and y1, ceil of x2 and y2 in pixels, float64, shape (N, 4)."""
    return _edges([side])


def _edges(sides: Sequence[Resolution]) -> FloatArray:
    # Columns lie one after the other in memory, which is several times faster than row by row.
    edges = np.empty((4, sum(len(side.page) for side in sides)))
    np.concatenate([_in_pixels(side) for side in sides], axis=1, out=edges)
    np.floor(edges[:2], out=edges[:2])
    np.ceil(edges[2:], out=edges[2:])
    return edges.T


def _in_pixels(side: Resolution) -> FloatArray:
    """Return the edges of the boxes in pixels, float64, shape (4, n)."""
    corners = side.xyxy.T
    return corners if side.scale is None else _scaled(corners, side.scale.take(side.page, axis=0).T)


def _batches(ends: IntArray) -> Iterator[tuple[int, int]]:
    """Yield first page and the one after the last of batches of about `_BOXES_AT_ONCE` boxes."""
    start, pages = 0, len(ends) - 1
    while start < pages:
        stop = int(ends.searchsorted(ends[start] + _BOXES_AT_ONCE, side="right")) - 1
        # Pages without boxes cost a row each.
        stop = min(max(stop, start + 1), start + _BOXES_AT_ONCE, pages)
        yield start, stop
        start = stop


def _covered(sides: Sequence[Resolution], lanes: Lanes, size: IntArray, start: int) -> Covered:
    """Return the boxes of both sides as pixels of their pages, those that cover nothing left out."""
    first, second = sides
    page = np.concatenate([first.page, second.page])
    x1, y1, x2, y2 = on_page(_edges(sides), page, size).T
    page -= start
    columns = page, np.concatenate([first.bit + lanes.second, second.bit]), x1, y1, x2, y2
    seen = (x1 < x2) & (y1 < y2)
    return Covered(*columns if all_true(seen) else (column[seen] for column in columns))


def _labelled(part: Areas, start: int) -> Areas:
    """Return the part with pages counted from `start` and the background where a side has no label.

    The row without a label, with which a page begins, has minus the pixels of its others. The part is used up.
    """
    page, first, second, pixels = part
    own = ((first | second) == 0).nonzero()[0]
    pixels[own] = 0
    pixels[own] = -np.add.reduceat(pixels, own)
    page += start
    np.maximum(first, np.uint64(BACKGROUND), out=first)
    np.maximum(second, np.uint64(BACKGROUND), out=second)
    return part


def _with_background(parts: Sequence[Areas], size: IntArray) -> PairCounts:
    """Return labelled pixels with the background that no box covers on either side; the parts are used up."""
    page, first, second, pixels = (
        parts[0] if len(parts) == 1 else (np.concatenate(column) for column in zip(*parts, strict=True))
    )
    # Each part of a page has one row without a label, its first.
    own = (pixels <= 0).nonzero()[0]
    bare = size[:, 0] * size[:, 1]
    np.add.at(bare, page[own], pixels[own])
    whole = len(own) == len(size)
    pixels[own] = 0
    pixels[own if whole else own[np.diff(page[own], prepend=-1) > 0]] = bare
    columns = page, first, second, pixels
    if not all_true(pixels[own]):
        some = pixels.nonzero()[0]
        page, first, second, pixels = (column.take(some) for column in columns)
    rows = PairCounts(len(size), page, first, second, pixels)
    # A page that was swept in several parts has a pair more than once.
    return rows if whole else group_counts(rows, page, len(size))


def unique_pairs(first: WordArray, second: WordArray) -> tuple[IntArray, IntArray]:
    """Return one row of each different pair, in the order of the pairs, and the position of each row."""
    widths = [int(word.max(initial=0)).bit_length() for word in (first, second)]
    if sum(widths) > _WORD_BITS:
        order = in_order(second, widths[1])
        order = order.take(in_order(first.take(order), widths[0]))
        new = begins(first.take(order)) | begins(second.take(order))
    else:
        both = first << np.uint64(widths[1]) | second
        order = in_order(both, sum(widths))
        new = begins(both.take(order))
    pair = np.empty(len(order), dtype=np.int64)
    pair[order] = np.cumsum(new) - 1
    return order[new], pair


def group_counts(rows: PairCounts, scope: IntArray, scopes: int) -> PairCounts:
    """Return rows under other scopes, in any order: put in order and added up by scope and pair."""
    if not len(rows):
        return no_counts(scopes)
    if scopes == 1 and int(rows.pixels.sum()) < _EXACT:
        # Rows are sorted by their pairs alone, which is known.
        sums = np.bincount(rows.pair, weights=rows.pixels, minlength=len(rows.first)).astype(np.int64)
        return PairCounts(1, np.zeros(len(sums), dtype=np.int64), rows.first, rows.second, sums)
    widths = [int(words.max()).bit_length() for words in (rows.row_first, rows.row_second)]
    bits = (scopes - 1).bit_length() + sum(widths)
    if bits <= _NUMBER_BITS:
        key = scope << sum(widths) | (rows.row_first << np.uint64(widths[1]) | rows.row_second).view(np.int64)
    else:
        key, bits = scope * len(rows.first) + rows.pair, (scopes * len(rows.first)).bit_length()
    order = in_order(key, bits)
    key = key.take(order)
    starts = begins(key).nonzero()[0]
    sums = np.add.reduceat(rows.pixels.take(order), starts)
    one = order.take(starts)
    return PairCounts(scopes, scope.take(one), rows.row_first.take(one), rows.row_second.take(one), sums)


class PageCounts:
    """The counts of pages for the boxes that were asked for last: only changed pages are counted anew.

    `sides`: all boxes of both. `size`: int64, shape (P, 2), raster of each page.
    """

    def __init__(self, sides: tuple[Resolution, Resolution], size: IntArray) -> None:
        self._sides, self._size = sides, size
        # Replaced as a whole, so that threads may ask at the same time.
        self._last: tuple[tuple[BoolArray, BoolArray], PairCounts] | None = None

    def of(self, taken: tuple[BoolArray, BoolArray], *, count: Callable[[int, int], None] | None = None) -> PairCounts:
        """Return `count_pairs` of some boxes of each side, bool, shape (N,); `count` as there."""
        last = self._last
        changed = np.full(len(self._size), last is None)
        if last is not None:
            for side, before, now in zip(self._sides, last[0], taken, strict=True):
                changed[side.page[before != now]] = True
            if not changed.any():
                return last[1]
        first, second = (
            side if all_true(now) and all_true(changed) else side.at(np.flatnonzero(now & changed[side.page]))
            for side, now in zip(self._sides, taken, strict=True)
        )
        counts = count_pairs(first, second, np.where(changed[:, None], self._size, 0), count=count)
        if last is not None:
            counts = _inserted(last[1], ~changed, counts)
        self._last = taken, counts
        return counts


def _inserted(counts: PairCounts, kept: BoolArray, others: PairCounts) -> PairCounts:
    """Return the rows of the kept scopes, bool, shape (S,), and of the others from other counts."""
    mine = counts.taken(np.flatnonzero(kept[counts.scope]))
    at = mine.scope.searchsorted(others.scope)
    columns = ("scope", "row_first", "row_second", "pixels")
    return PairCounts(counts.scopes, *(np.insert(getattr(mine, name), at, getattr(others, name)) for name in columns))


def concat_counts(parts: Sequence[PairCounts], starts: Sequence[int], scopes: int) -> PairCounts:
    """Return rows of all parts one after the other, the scopes of each part moved on by its start."""
    scope = np.concatenate([part.scope + start for part, start in zip(parts, starts, strict=True)])
    columns = ("row_first", "row_second", "pixels")
    return PairCounts(scopes, scope, *(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def no_counts(scopes: int) -> PairCounts:
    """Return counts without a row."""
    nothing, no_word = np.empty(0, np.int64), np.empty(0, np.uint64)
    return PairCounts(scopes, nothing, no_word, no_word, nothing)


def _scaled(edges: FloatArray, scale: FloatArray) -> FloatArray:
    """Return edges in pixels, shape (4, n), by scales of shape (2, n)."""
    # An edge that was on a pixel's edge but for the last digits of the product is put back.
    factor = np.concatenate([scale, scale])
    moved = edges * factor
    whole = np.rint(moved)
    noise = (np.abs(moved - whole) <= _NOISE) & (factor != 1.0)
    np.copyto(moved, whole, where=noise)
    return np.asarray(moved, dtype=np.float64)
