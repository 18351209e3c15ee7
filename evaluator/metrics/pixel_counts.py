"""Which pixels carry which labels on two layers of boxes: exact counts, without painting a pixel.

Owns the raster rule (which pixels a box covers), the batches of pages that are swept at once, and `PairCounts`, the
integer result that everything else about pixels follows from: how many pixels carry the label set G on the first
side and P on the second. A label set is a 64-bit word: bit 0 is the background and is alone, bits 1 to 63 are
classes. Coordinates are pixels of the page's raster, origin top left. The sweep itself is `pixel_sweep`; what a class
is called, and what is made of the counts, is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from evaluator.metrics.pixel_sweep import X_BITS, Areas, Covered, WordArray, in_order, swept
from evaluator.model.boxes import BoolArray, FloatArray, IntArray

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

_NO_WORD: Final = np.empty(0, np.uint64)
_NOTHING: Final = Areas(np.empty(0, np.int64), _NO_WORD, _NO_WORD, np.empty(0, np.int64))


class Resolution(NamedTuple):
    """One layout resolution: labelled boxes of many pages.

    Attributes
    ----------
    page : int64, shape (N,)
        Row of the page.
    bit : int64, shape (N,)
        Bit of the class, 1 to 63.
    xyxy : float64, shape (N, 4)
        x1, y1, x2, y2 in any unit.
    scale : float64, shape (P, 2), or None
        Factors per page that take x and y to the raster's pixels; None where the unit is pixels.
    """

    page: IntArray
    bit: IntArray
    xyxy: FloatArray
    scale: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """How many pixels carry which pair of label sets, per scope (a page, a document, everything).

    Attributes
    ----------
    scopes : int
        Number of scopes S; a scope may have no row.
    scope : int64, shape (R,), rising
    pair : int64, shape (R,)
        Row in `first` and `second`; rising in each scope.
    pixels : int64, shape (R,), > 0
    first, second : uint64, shape (K,)
        The label sets of each pair, sorted by (first, second); each pair occurs in some row.

    Notes
    -----
    Sums of counts are exact, so results do not depend on the order of pages, batches or shards.
    """

    scopes: int
    scope: IntArray
    pair: IntArray
    pixels: IntArray
    first: WordArray
    second: WordArray

    def __len__(self) -> int:
        return len(self.scope)

    @property
    def totals(self) -> IntArray:
        """Number of pixels of each scope, int64, shape (S,)."""
        return _summed(self.scope, self.pixels, self.scopes)

    def triples(self, scope: int) -> list[tuple[int, int, int]]:
        """One scope as label set of the first side, of the second, and pixels, sorted; empty without pixels."""
        low, high = np.searchsorted(self.scope, [scope, scope + 1])
        pair = self.pair[low:high]
        columns = self.first[pair].tolist(), self.second[pair].tolist(), self.pixels[low:high].tolist()
        return list(zip(*columns, strict=True))

    def between(self, start: int, stop: int) -> PairCounts:
        """The scopes from `start` to before `stop`, counted from 0 again."""
        low, high = np.searchsorted(self.scope, [start, stop])
        rows = replace(
            self,
            scopes=stop - start,
            scope=self.scope[low:high] - start,
            pair=self.pair[low:high],
            pixels=self.pixels[low:high],
        )
        return _used(rows)

    def pooled(self, into: IntArray, scopes: int) -> PairCounts:
        """Scopes added up under new codes, int64, shape (S,): pages to documents, documents to a dataset."""
        return _gathered(replace(self, scopes=scopes, scope=into[self.scope]))


def merge(parts: Sequence[PairCounts]) -> PairCounts:
    """Counts of shards, at least one, added up scope by scope; the same whatever their order.

    ValueError when the numbers of scopes differ.

    Examples
    --------
    >>> shard = count_pairs(*[Resolution(*(np.empty(0, int),) * 2, np.empty((0, 4)))] * 2, np.array([[3, 2]]))
    >>> merge([shard, shard]).triples(0)
    [(1, 1, 12)]
    """
    scopes = {part.scopes for part in parts}
    if len(scopes) != 1:
        raise ValueError(f"shards must have the same scopes; found {sorted(scopes)}")
    return _gathered(_joined(parts, [0] * len(parts), scopes.pop()))


def in_sequence(parts: Sequence[PairCounts]) -> PairCounts:
    """Counts of shards one after the other: the scopes of the first, then those of the second, and so on."""
    sizes = [part.scopes for part in parts]
    starts = np.cumsum(sizes) - sizes
    # Rows of one part after those of the other are in order, and so are the shared pairs of each part.
    return _used(_joined(parts, starts.tolist(), sum(sizes)))


def count_pairs(
    first: Resolution, second: Resolution, size: IntArray, *, count: Callable[[int, int], None] | None = None
) -> PairCounts:
    """Number of pixels of each page per pair of label sets, exactly as if every pixel had been painted.

    Parameters
    ----------
    first, second : Resolution
        Boxes in any order. The same class on one spot counts once, however many boxes say it.
    size : int64, shape (P, 2)
        Width and height of the raster of each page, 0 to `MAX_SIDE`; a page of no pixels has no rows.
    count : callable, optional
        Called after each batch how many of how many pages are counted.

    Returns
    -------
    PairCounts
        One scope per page; a page without boxes is background on both sides.

    Notes
    -----
    A box covers the columns floor(x1) to ceil(x2) - 1 and likewise the rows, cut off at the page: one without
    width covers a column unless it lies between two, an inverted one nothing. docling-eval and
    docling-metrics-layout count negative coordinates from the far edge and lose such boxes, which lowers
    their recall or precision.
    """
    sides = [(side, np.argsort(side.page, kind="stable")) for side in (first, second)]
    ends = [np.searchsorted(side.page[order], np.arange(len(size) + 1)) for side, order in sides]
    parts = []
    for start, stop in _batches(ends[0] + ends[1]):
        rows = [order[end[start] : end[stop]] for (_, order), end in zip(sides, ends, strict=True)]
        swept_parts = swept(_covered(first, second, rows, size, start))
        parts += [part._replace(page=part.page + start) for part in swept_parts]
        if count is not None:
            count(stop, len(size))
    return _with_background(parts, size)


def count_again(
    earlier: PairCounts,
    pages: BoolArray,
    first: Resolution,
    second: Resolution,
    size: IntArray,
    *,
    count: Callable[[int, int], None] | None = None,
) -> PairCounts:
    """What `count_pairs` gives where only some pages have other boxes than before.

    Parameters
    ----------
    earlier : PairCounts
        Of the boxes before, on pages of the same sizes.
    pages : bool, shape (P,)
        Those whose boxes may have changed: only they are counted.
    first, second, size, count
        As `count_pairs` takes them.
    """
    # A page of no pixels has no rows.
    own_size = np.where(pages[:, None], size, 0)
    own = count_pairs(_of_pages(first, pages), _of_pages(second, pages), own_size, count=count)
    kept = np.flatnonzero(~pages[earlier.scope])
    others = replace(earlier, scope=earlier.scope[kept], pair=earlier.pair[kept], pixels=earlier.pixels[kept])
    rows = _joined([others, own], [0, 0], len(size))
    # No page has rows of both, so those of one only have to be put between those of the other.
    place = np.searchsorted(others.scope, own.scope) + np.arange(len(own))
    source = np.empty(len(rows), dtype=np.int64)
    stays = np.ones(len(rows), dtype=bool)
    stays[place] = False
    source[place], source[stays] = np.arange(len(others), len(rows)), np.arange(len(others))
    return _used(replace(rows, scope=rows.scope[source], pair=rows.pair[source], pixels=rows.pixels[source]))


def _of_pages(side: Resolution, pages: BoolArray) -> Resolution:
    """The boxes of a side on some pages."""
    rows = np.flatnonzero(pages[side.page])
    return side._replace(page=side.page[rows], bit=side.bit[rows], xyxy=side.xyxy[rows])


def covered_pixels(side: Resolution, rows: IntArray, size: IntArray) -> IntArray:
    """The pixels that the boxes in some rows of a side cover, cut off at the page, int64, shape (n, 4).

    First column and row, and those after the last: x2 <= x1 or y2 <= y1 for a box that covers nothing. `size`, int64,
    shape (P, 2), is the width and height of the raster of each page.
    """
    return on_page(pixel_edges(side, rows), side.page[rows], size)


def on_page(edges: FloatArray, page: IntArray, size: IntArray) -> IntArray:
    """Edges from `pixel_edges` cut off at the page of each, int64, shape (n, 4); `size` is that of each page."""
    most = size[page]
    covered = np.maximum(edges, 0.0)
    np.minimum(covered[:, :2], most, out=covered[:, :2])
    np.minimum(covered[:, 2:], most, out=covered[:, 2:])
    return covered.astype(np.int64)


def pixel_edges(side: Resolution, rows: IntArray) -> FloatArray:
    """The same before they are cut off at the page: whole numbers, floor of x1 and y1, ceil of x2 and y2, float64."""
    edges = side.xyxy[rows]
    if side.scale is not None:
        edges = _scaled(edges, side.scale[side.page[rows]])
    np.floor(edges[:, :2], out=edges[:, :2])
    np.ceil(edges[:, 2:], out=edges[:, 2:])
    return edges


def _batches(ends: IntArray) -> Iterator[tuple[int, int]]:
    """First page and the one after the last of batches of about `_BOXES_AT_ONCE` boxes, at least one page each."""
    start, pages = 0, len(ends) - 1
    while start < pages:
        stop = int(np.searchsorted(ends, ends[start] + _BOXES_AT_ONCE, side="right")) - 1
        # Pages without boxes cost a row each.
        stop = min(max(stop, start + 1), start + _BOXES_AT_ONCE, pages)
        yield start, stop
        start = stop


def _covered(first: Resolution, second: Resolution, rows: Sequence[IntArray], size: IntArray, start: int) -> Covered:
    """The boxes of both sides in the given rows as pixels of their pages, those that cover nothing left out."""
    sides = tuple(zip((first, second), rows, strict=True))
    edges = np.concatenate([covered_pixels(side, chosen, size) for side, chosen in sides])
    page = np.concatenate([side.page[chosen] for side, chosen in sides]) - start
    bit = np.concatenate([side.bit[chosen] for side, chosen in sides])
    of_side = np.repeat([0, 1], [len(chosen) for chosen in rows])
    seen = (edges[:, 0] < edges[:, 2]) & (edges[:, 1] < edges[:, 3])
    return Covered(page[seen], of_side[seen], bit[seen], *edges.T[:, seen])


def _with_background(parts: Sequence[Areas], size: IntArray) -> PairCounts:
    """Labelled pixels with a background: no label becomes it, and what no box covers is it on both sides."""
    page, first, second, pixels = (np.concatenate(columns) for columns in zip(_NOTHING, *parts, strict=True))
    bare = size[:, 0] * size[:, 1] - _summed(page, pixels, len(size))
    open_page = bare > 0
    # Two backgrounds are the lowest pair there is, so they come first on their page.
    before = np.cumsum(open_page)
    place = np.arange(len(page)) + before[page]
    own = np.flatnonzero(open_page)
    own_place = np.searchsorted(page, own) + before[own] - 1
    columns = []
    for labelled, added in ((page, own), (first, BACKGROUND), (second, BACKGROUND), (pixels, bare[own])):
        column = np.empty(len(page) + len(own), dtype=labelled.dtype)
        column[place], column[own_place] = labelled, added
        columns.append(column)
    scope, first, second, pixels = columns
    np.maximum(first, np.uint64(BACKGROUND), out=first)
    np.maximum(second, np.uint64(BACKGROUND), out=second)
    known, pair = _known_pairs(first, second)
    rows = PairCounts(len(size), scope, pair, pixels, first[known], second[known])
    # A page that was swept in several parts has a pair more than once.
    key = scope * len(known) + pair
    return _gathered(rows) if (key[1:] <= key[:-1]).any() else rows


def _known_pairs(first: WordArray, second: WordArray) -> tuple[IntArray, IntArray]:
    """One row of each different pair, in the order of the pairs; and the position in it of each row."""
    widths = [int(word.max(initial=0)).bit_length() for word in (first, second)]
    new = np.ones(len(first), dtype=bool)
    if sum(widths) > _WORD_BITS:
        order = in_order(second, widths[1])
        order = order.take(in_order(first.take(order), widths[0]))
        left, right = first.take(order), second.take(order)
        new[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    else:
        both = first << np.uint64(widths[1]) | second
        order = in_order(both, sum(widths))
        both = both.take(order)
        np.not_equal(both[1:], both[:-1], out=new[1:])
    pair = np.empty(len(order), dtype=np.int64)
    pair[order] = np.cumsum(new) - 1
    return order[new], pair


def _gathered(rows: PairCounts) -> PairCounts:
    """Rows in any order, put in order and added up by scope and pair; pairs without a row left out."""
    key = rows.scope * len(rows.first) + rows.pair
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones(len(key), dtype=bool)
    new[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(new)
    if not len(starts):
        return _no_counts(rows.scopes)
    scope, pair = np.divmod(key[starts], len(rows.first))
    sums = np.add.reduceat(rows.pixels[order], starts)
    return _used(PairCounts(rows.scopes, scope, pair, sums, rows.first, rows.second))


def _joined(parts: Sequence[PairCounts], starts: Sequence[int], scopes: int) -> PairCounts:
    """Rows of all parts one after the other under shared pairs, the scopes of each part moved on by its start."""
    first, second = (np.concatenate([getattr(part, side) for part in parts]) for side in ("first", "second"))
    known, pair = _known_pairs(first, second)
    ends = np.cumsum([len(part.first) for part in parts])
    shared = np.split(pair, ends[:-1])
    return PairCounts(
        scopes=scopes,
        scope=np.concatenate([part.scope + start for part, start in zip(parts, starts, strict=True)]),
        pair=np.concatenate([codes[part.pair] for part, codes in zip(parts, shared, strict=True)]),
        pixels=np.concatenate([part.pixels for part in parts]),
        first=first[known],
        second=second[known],
    )


def _used(rows: PairCounts) -> PairCounts:
    """The same without the pairs that no row has."""
    used = np.zeros(len(rows.first), dtype=bool)
    used[rows.pair] = True
    if used.all():
        return rows
    return replace(rows, pair=(np.cumsum(used) - 1)[rows.pair], first=rows.first[used], second=rows.second[used])


def _no_counts(scopes: int) -> PairCounts:
    """Counts without a row."""
    nothing, no_word = np.empty(0, np.int64), np.empty(0, np.uint64)
    return PairCounts(scopes, nothing, nothing, nothing, no_word, no_word)


def _summed(scope: IntArray, pixels: IntArray, scopes: int) -> IntArray:
    """Sum of the pixels of each scope, int64, exact."""
    sums = np.zeros(scopes, dtype=np.int64)
    np.add.at(sums, scope, pixels)
    return sums


def _scaled(xyxy: FloatArray, scale: FloatArray) -> FloatArray:
    """Boxes in pixels; an edge that was on a pixel's edge but for the last digits of the product is put back."""
    factor = np.concatenate([scale, scale], axis=1)
    moved = xyxy * factor
    whole = np.rint(moved)
    noise = (np.abs(moved - whole) <= _NOISE) & (factor != 1.0)
    np.copyto(moved, whole, where=noise)
    return np.asarray(moved, dtype=np.float64)
