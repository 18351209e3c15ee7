"""Which pixels carry which labels on two layers of boxes: exact counts, without painting a pixel.

Owns the raster rule (which pixels a box covers), the slab sweep over batches of pages, and `PairCounts`, the
integer result that everything else about pixels follows from: how many pixels carry the label set G on the first
side and P on the second. A label set is a 64-bit word: bit 0 is the background and is alone, bits 1 to 63 are
classes. Pages are cut between the edges of their boxes into horizontal slabs, and each slab from left to right
into stretches of constant label sets, so that the cost follows the boxes and not the resolution. Coordinates
are pixels of the page's raster, origin top left. What a class is called, and what is made of the counts, is not
known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.model.boxes import FloatArray, IntArray

WordArray = npt.NDArray[np.uint64]

BACKGROUND: Final = 1
"""The label set of a pixel that no box covers: bit 0 alone."""
MAX_CLASSES: Final = 63
"""Classes beside the background that a 64-bit word has room for."""
MAX_SIDE: Final = (1 << 20) - 1
"""Widest and highest page in pixels."""

# One number holds a stretch: slab | field | x1 | x2, or an edge of one: slab | x | field. A field is a side and a bit.
_X_BITS: Final = 20
_X_MASK: Final = (1 << _X_BITS) - 1
_FIELD_BITS: Final = 7
_FIELD_MASK: Final = (1 << _FIELD_BITS) - 1
_SECOND_SIDE: Final = 64
# What remains of 63 bits: slabs that are swept in one go.
_MOST_SLABS: Final = 1 << (63 - _FIELD_BITS - 2 * _X_BITS)
# Boxes, and pieces of boxes between two slab edges, in one go: what they need stays in the processor's cache.
_BOXES_AT_ONCE: Final = 1 << 12
_PIECES_AT_ONCE: Final = 1 << 16
# Scaling and scaling back moves an edge by less than this (in pixels); floor and ceil must not see it.
_NOISE: Final = 1e-9

_BITS = np.arange(_SECOND_SIDE, dtype=np.uint64)
_FIRST_WORD = np.concatenate([np.uint64(1) << _BITS, np.zeros(_SECOND_SIDE, np.uint64)])
_SECOND_WORD = np.concatenate([np.zeros(_SECOND_SIDE, np.uint64), np.uint64(1) << _BITS])
# Both sides in one word, for classes up to bit 31: the first in the upper half.
_HALF: Final = np.uint64(32)
_BOTH_WORDS = (_FIRST_WORD << _HALF) | (_SECOND_WORD & np.uint64(0xFFFFFFFF))


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
        labelled = _swept(_covered(first, second, rows, size, start), stop - start)
        parts.append(_with_background(labelled, size[start:stop]))
        if count is not None:
            count(stop, len(size))
    return in_sequence(parts) if parts else _no_counts(0)


def covered_pixels(side: Resolution, rows: IntArray, size: IntArray) -> IntArray:
    """The pixels that the boxes in some rows of a side cover, cut off at the page, int64, shape (n, 4).

    First column and row, and those after the last: x2 <= x1 or y2 <= y1 for a box that covers nothing. `size`, int64,
    shape (P, 2), is the width and height of the raster of each page.
    """
    edges = pixel_edges(side, rows)
    np.maximum(edges, 0.0, out=edges)
    np.minimum(edges, np.concatenate([size, size], axis=1)[side.page[rows]], out=edges)
    return edges.astype(np.int64)


def pixel_edges(side: Resolution, rows: IntArray) -> FloatArray:
    """The same before they are cut off at the page: whole numbers, floor of x1 and y1, ceil of x2 and y2, float64."""
    edges = side.xyxy[rows]
    if side.scale is not None:
        edges = _scaled(edges, side.scale[side.page[rows]])
    np.floor(edges[:, :2], out=edges[:, :2])
    np.ceil(edges[:, 2:], out=edges[:, 2:])
    return edges


class _Covered(NamedTuple):
    """Boxes of a batch that cover at least one pixel, int64 columns of one length: page in the batch, field, edges."""

    page: IntArray
    field: IntArray
    x1: IntArray
    y1: IntArray
    x2: IntArray
    y2: IntArray


def _batches(ends: IntArray) -> Iterator[tuple[int, int]]:
    """First page and the one after the last of batches of about `_BOXES_AT_ONCE` boxes, at least one page each."""
    start, pages = 0, len(ends) - 1
    while start < pages:
        stop = int(np.searchsorted(ends, ends[start] + _BOXES_AT_ONCE, side="right")) - 1
        # Pages without boxes cost a row each.
        stop = min(max(stop, start + 1), start + _BOXES_AT_ONCE, pages)
        yield start, stop
        start = stop


def _covered(first: Resolution, second: Resolution, rows: Sequence[IntArray], size: IntArray, start: int) -> _Covered:
    """The boxes of both sides in the given rows as pixels of their pages, those that cover nothing left out."""
    sides = tuple(zip((first, second), rows, strict=True))
    edges = np.concatenate([covered_pixels(side, chosen, size) for side, chosen in sides])
    page = np.concatenate([side.page[chosen] for side, chosen in sides]) - start
    field = np.concatenate([side.bit[chosen] + at * _SECOND_SIDE for at, (side, chosen) in enumerate(sides)])
    seen = (edges[:, 0] < edges[:, 2]) & (edges[:, 1] < edges[:, 3])
    return _Covered(page[seen], field[seen], *edges.T[:, seen])


def _swept(boxes: _Covered, pages: int) -> PairCounts:
    """The labelled pixels of a batch of pages; a side without label has the word 0."""
    if not len(boxes.page):
        return _no_counts(pages)
    edge, slab = np.unique(
        np.concatenate([boxes.page << _X_BITS | boxes.y1, boxes.page << _X_BITS | boxes.y2]), return_inverse=True
    )
    top, bottom = slab[: len(boxes.page)], slab[len(boxes.page) :]
    # Between the last edge of a page and the first of the next no box is: that height is never asked for.
    height, page = np.diff(edge), edge[:-1] >> _X_BITS
    constant = (boxes.field << _X_BITS | boxes.x1) << _X_BITS | boxes.x2
    wide = bool((boxes.field & (_SECOND_SIDE - 1)).max() >= int(_HALF))
    parts = [_no_counts(pages)]
    for low, high in _slab_ranges(top, bottom, len(height)):
        here = slice(None) if high - low == len(height) else np.flatnonzero((top < high) & (bottom > low))
        pieces = _pieces(np.maximum(top[here], low) - low, np.minimum(bottom[here], high) - low, constant[here])
        if len(pieces):
            parts.append(_stretches(_edges(pieces), height[low:high], page[low:high], pages, wide=wide))
    return parts[1] if len(parts) == 2 else merge(parts)


def _slab_ranges(top: IntArray, bottom: IntArray, slabs: int) -> Iterator[tuple[int, int]]:
    """First slab and the one after the last of ranges with about `_PIECES_AT_ONCE` pieces of boxes."""
    if int((bottom - top).sum()) <= _PIECES_AT_ONCE and slabs <= _MOST_SLABS:
        yield 0, slabs
        return
    begun, ended = np.bincount(top, minlength=slabs + 1), np.bincount(bottom, minlength=slabs + 1)
    pieces = np.cumsum(np.cumsum(begun - ended)[:slabs])
    low = 0
    while low < slabs:
        before = int(pieces[low - 1]) if low else 0
        high = int(np.searchsorted(pieces, before + _PIECES_AT_ONCE, side="right"))
        high = min(max(high, low + 1), low + _MOST_SLABS, slabs)
        yield low, high
        low = high


def _pieces(top: IntArray, bottom: IntArray, constant: IntArray) -> IntArray:
    """A number slab | field | x1 | x2 for each box in each slab from its top to before its bottom, sorted."""
    span = bottom - top
    end = np.cumsum(span)
    pieces = np.arange(int(span.sum()))
    pieces -= np.repeat(end - span - top, span)
    pieces <<= _FIELD_BITS + 2 * _X_BITS
    pieces |= np.repeat(constant, span)
    pieces.sort()
    return pieces


def _edges(pieces: IntArray) -> IntArray:
    """A number slab | x | field for each edge of the union of each field's pieces in its slab, sorted.

    Pieces of one field that overlap or touch become one, so that passing an edge always turns its field on
    or off: any number of boxes on one spot is one.
    """
    begin = pieces >> _X_BITS
    # slab | field | x2: the running maximum starts anew with each slab and field.
    reach = begin & ~_X_MASK
    reach |= pieces & _X_MASK
    np.maximum.accumulate(reach, out=reach)
    gap = np.flatnonzero(begin[1:] > reach[:-1])
    # In place from here on: fresh memory costs more than the arithmetic.
    edges = np.concatenate([begin[:1], begin[gap + 1], reach[gap], reach[-1:]])
    field = edges >> _X_BITS
    field &= _FIELD_MASK
    x = edges & _X_MASK
    x <<= _FIELD_BITS
    x |= field
    edges &= ~((1 << (_X_BITS + _FIELD_BITS)) - 1)
    edges |= x
    edges.sort()
    return edges


def _stretches(edges: IntArray, height: IntArray, page: IntArray, pages: int, *, wide: bool) -> PairCounts:
    """The pixels between sorted edges, added up by page and pair of label sets."""
    words = (_FIRST_WORD, _SECOND_WORD) if wide else (_BOTH_WORDS,)
    field = edges & _FIELD_MASK
    states = [np.bitwise_xor.accumulate(word[field])[:-1] for word in words]
    at = edges >> _FIELD_BITS
    width = np.diff(at)
    # Beyond the last edge of a slab every field is off, so no stretch reaches into the next slab.
    labelled = states[0] != 0 if not wide else (states[0] | states[1]) != 0
    kept = np.flatnonzero(labelled & (width > 0))
    slab = at[kept] >> _X_BITS
    first, second, pair = _distinct([state[kept] for state in states])
    # Exact: a page has fewer than 2**40 pixels, and float64 counts to 2**53.
    sums = np.bincount(page[slab] * len(first) + pair, weights=width[kept] * height[slab], minlength=pages * len(first))
    row = np.flatnonzero(sums > 0.0)
    scope, pair = np.divmod(row, len(first))
    return PairCounts(pages, scope, pair, sums[row].astype(np.int64), first, second)


def _distinct(states: Sequence[WordArray]) -> tuple[WordArray, WordArray, IntArray]:
    """The different pairs of label sets, sorted, and the pair of each stretch."""
    if len(states) == 1:
        both, pair = np.unique(states[0], return_inverse=True)
        return both >> _HALF, both & np.uint64(0xFFFFFFFF), pair
    (first, left), (second, right) = (np.unique(state, return_inverse=True) for state in states)
    known, pair = np.unique(left * len(second) + right, return_inverse=True)
    return first[known // len(second)], second[known % len(second)], pair


def _with_background(labelled: PairCounts, size: IntArray) -> PairCounts:
    """The same with a background: no label becomes it, and what no box covers is it on both sides."""
    bare = size[:, 0] * size[:, 1] - labelled.totals
    pages = np.flatnonzero(bare > 0)
    scope = np.concatenate([pages, labelled.scope])
    order = np.argsort(scope, kind="stable")
    # The pair of two backgrounds is the lowest there is, so pairs stay in order.
    return PairCounts(
        scopes=len(size),
        scope=scope[order],
        pair=np.concatenate([np.zeros(len(pages), np.int64), labelled.pair + 1])[order],
        pixels=np.concatenate([bare[pages], labelled.pixels])[order],
        first=np.maximum(np.append(np.uint64(0), labelled.first), np.uint64(BACKGROUND)),
        second=np.maximum(np.append(np.uint64(0), labelled.second), np.uint64(BACKGROUND)),
    )


def _known_pairs(first: WordArray, second: WordArray) -> tuple[IntArray, IntArray]:
    """One row of each different pair, in the order of the pairs; and the position in it of each row."""
    order = np.lexsort((second, first))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
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
