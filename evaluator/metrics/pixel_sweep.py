"""The slab sweep: the areas of equal label sets on pages of overlapping boxes, without painting a pixel.

Owns how a batch of pages is cut. Boxes of one class on one page become disjoint first, so that any number of boxes on
one spot is one and passing an edge always turns its class on or off. Pages are then cut between the edges of their
boxes into horizontal slabs, and each slab from left to right into stretches of constant label sets, so that the cost
follows the boxes and not the resolution. Everything that is sorted is one number per edge or stretch, as narrow as
the batch allows. What a class is called and what a background is, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.model.boxes import IntArray

WordArray = npt.NDArray[np.uint64]
AnyIntArray = npt.NDArray[np.integer[Any]]

X_BITS: Final = 20
"""Bits of a coordinate."""

_X_MASK: Final = (1 << X_BITS) - 1
# Pieces of boxes between two slab edges in one go: what they need stays in the processor's cache.
_PIECES_AT_ONCE: Final = 1 << 17
# Bits of a number that is not negative, and of a word of label sets.
_NUMBER_BITS: Final = 63
_WORD_BITS: Final = 64


class Covered(NamedTuple):
    """Boxes of a batch of pages that cover at least one pixel each, int64 columns of one length.

    Attributes
    ----------
    page : int64
        Page in the batch.
    side : int64
        0 for the first side, 1 for the second.
    bit : int64
        Bit of the class, 1 to 63.
    x1, y1, x2, y2 : int64
        First column and row, and those after the last.
    """

    page: IntArray
    side: IntArray
    bit: IntArray
    x1: IntArray
    y1: IntArray
    x2: IntArray
    y2: IntArray


class Areas(NamedTuple):
    """Pixels per page and pair of label sets, columns of one length, sorted by page, first and second.

    A side without a label has the set 0. The same pair of a page may have several rows one after the other.

    Attributes
    ----------
    page : int64
    first, second : uint64
    pixels : int64, > 0
    """

    page: IntArray
    first: WordArray
    second: WordArray
    pixels: IntArray


def swept(boxes: Covered) -> list[Areas]:
    """The labelled pixels of a batch of pages, in parts that follow one another.

    A page is in several parts only where one part would be too large for it.
    """
    if not len(boxes.page):
        return []
    _keep_freed_memory()
    lanes = _lanes(boxes)
    edge, rank = _ranked(np.concatenate([boxes.page << X_BITS | boxes.y1, boxes.page << X_BITS | boxes.y2]))
    top, bottom = rank[: len(boxes.page)], rank[len(boxes.page) :]
    # Between the last edge of a page and the first of the next no box is: that height is never asked for.
    height, page = np.diff(edge), edge[:-1] >> X_BITS
    parts = []
    for low, high in _slab_ranges(top, bottom, page):
        here = slice(None) if high - low == len(height) else np.flatnonzero((top < high) & (bottom > low))
        piece = _Pieces(
            boxes.page[here] * lanes.both + lanes.of_box[here],
            np.maximum(top[here], low) - low,
            np.minimum(bottom[here], high) - low,
            boxes.x1[here],
            boxes.x2[here],
        )
        if len(piece.group):
            parts.append(_stretches(_edges(_disjoint(piece), lanes.both), height[low:high], page[low:high], lanes))
    return parts


@cache
def _keep_freed_memory() -> None:
    """Let the allocator of glibc keep up to 32 MB that are freed, once per process; no other minds.

    It learns that from a large block that comes and goes, here one that is never written to. Without it every array
    of the sweep goes back to the system and comes anew page by page, which takes longer than the arithmetic.
    """
    np.empty(1 << 24, np.uint8)


class _Lanes(NamedTuple):
    """The bits of both sides beside one another, those of the second side lowest, so that order is kept.

    Attributes
    ----------
    of_box : int64
        The bit of each box in a word of both sides.
    second, both : int
        How many bits the second side has, and both.
    """

    of_box: IntArray
    second: int
    both: int


def _lanes(boxes: Covered) -> _Lanes:
    """As many bits for each side as its highest class of the batch needs."""
    of_second = boxes.side == 1
    second = int(boxes.bit[of_second].max(initial=0))
    first = int(boxes.bit[~of_second].max(initial=0))
    return _Lanes(boxes.bit - 1 + np.where(of_second, 0, second), second, first + second)


def _ranked(keys: IntArray) -> tuple[IntArray, IntArray]:
    """The different keys, sorted, and the position among them of each key: keys leave room for a row in 63 bits."""
    bits = len(keys).bit_length()
    order = keys << bits
    order |= np.arange(len(keys))
    order.sort()
    row = order & ((1 << bits) - 1)
    order >>= bits
    new = np.empty(len(keys), dtype=bool)
    new[0] = True
    np.not_equal(order[1:], order[:-1], out=new[1:])
    rank = np.empty(len(keys), dtype=np.int64)
    rank[row] = np.cumsum(new)
    rank -= 1
    return order[new], rank


def _slab_ranges(top: IntArray, bottom: IntArray, page: IntArray) -> Iterator[tuple[int, int]]:
    """First slab and the one after the last of ranges with about `_PIECES_AT_ONCE` pieces, whole pages if possible."""
    slabs = len(page)
    if int((bottom - top).sum()) <= _PIECES_AT_ONCE:
        yield 0, slabs
        return
    begun, ended = np.bincount(top, minlength=slabs + 1), np.bincount(bottom, minlength=slabs + 1)
    pieces = np.cumsum(np.cumsum(begun - ended)[:slabs])
    low = 0
    while low < slabs:
        before = int(pieces[low - 1]) if low else 0
        high = int(np.searchsorted(pieces, before + _PIECES_AT_ONCE, side="right"))
        high = min(max(high, low + 1), slabs)
        if high < slabs:
            of_page = int(np.searchsorted(page, page[high]))
            high = of_page if of_page > low else high
        yield low, high
        low = high


class _Pieces(NamedTuple):
    """Rectangles: their group (a page and a lane), their slabs from top to before bottom, their columns."""

    group: IntArray
    top: IntArray
    bottom: IntArray
    x1: IntArray
    x2: IntArray


def _disjoint(boxes: _Pieces) -> _Pieces:
    """The same pixels as disjoint rectangles per group, those of no pixel left out.

    Each group is cut between the edges of its own boxes only, which are few beside those of the page.
    """
    bits = int(boxes.bottom.max()).bit_length()
    own, rank = _ranked(np.concatenate([boxes.group << bits | boxes.top, boxes.group << bits | boxes.bottom]))
    top, bottom = rank[: len(boxes.group)], rank[len(boxes.group) :]
    span = bottom - top
    pieces = _counted_up(top, span)
    pieces <<= 2 * X_BITS
    pieces |= np.repeat(boxes.x1 << X_BITS | boxes.x2, span)
    pieces.sort()
    begin = pieces >> X_BITS
    # band | x2: the running maximum starts anew with each band.
    reach = begin & ~_X_MASK
    reach |= pieces & _X_MASK
    np.maximum.accumulate(reach, out=reach)
    gap = np.flatnonzero(begin[1:] > reach[:-1])
    begin = np.concatenate([begin[:1], begin[gap + 1]])
    reach = np.append(reach[gap], reach[-1])
    band = begin >> X_BITS
    group, slab = own >> bits, own & ((1 << bits) - 1)
    return _Pieces(group[band], slab[band], slab[band + 1], begin & _X_MASK, reach & _X_MASK)


def _counted_up(start: IntArray, span: IntArray) -> IntArray:
    """The numbers from each start on, as many as its span says, one start after the other."""
    numbers = np.arange(int(span.sum()))
    numbers -= np.repeat(np.cumsum(span) - span - start, span)
    return numbers


class _Edges(NamedTuple):
    """Sorted numbers slab | x | lane, one for each edge of a rectangle in each of its slabs."""

    numbers: AnyIntArray
    lane_bits: int
    x_bits: int


def _edges(boxes: _Pieces, lanes: int) -> _Edges:
    """The edges in each slab, in numbers of 32 bits where there is room: they are sorted in half the time."""
    lane_bits, x_bits = (lanes - 1).bit_length(), int(boxes.x2.max()).bit_length()
    narrow = int(boxes.bottom.max()).bit_length() + x_bits + lane_bits <= 32
    kind: type[np.integer[Any]] = np.uint32 if narrow else np.int64
    span = boxes.bottom - boxes.top
    pieces = int(span.sum())
    lane = boxes.group % lanes
    numbers = np.empty((2, pieces), dtype=kind)
    slab = _counted_up(boxes.top, span).astype(kind, copy=False)
    slab <<= kind(x_bits + lane_bits)
    for row, x in zip(numbers, (boxes.x1, boxes.x2), strict=True):
        np.bitwise_or(slab, np.repeat((x << lane_bits | lane).astype(kind), span), out=row)
    edges = numbers.reshape(-1)
    edges.sort()
    return _Edges(edges, lane_bits, x_bits)


def _stretches(edges: _Edges, height: IntArray, page: IntArray, lanes: _Lanes) -> Areas:
    """The pixels between sorted edges, added up by page and pair of label sets."""
    kind = edges.numbers.dtype.type
    lane = edges.numbers & kind((1 << edges.lane_bits) - 1)
    at = edges.numbers >> kind(edges.lane_bits)
    states = [np.bitwise_xor.accumulate(word.take(lane))[:-1] for word in _words(lanes)]
    labelled = states[0] != 0 if len(states) == 1 else (states[0] | states[1]) != 0
    # Beyond the last edge of a slab every lane is off, so no stretch reaches into the next slab.
    width = np.diff(at)
    width *= labelled
    slab = (at[:-1] >> kind(edges.x_bits)).astype(np.intp)
    area = height.take(slab)
    area *= width
    bits, known = lanes.both, None
    if int(page[-1]).bit_length() + bits + int(area.max()).bit_length() > _NUMBER_BITS:
        # The numbers of the words that occur, in their order, are shorter than the words.
        known, numbers = _numbered(states, lanes)
        states, bits = [numbers], len(known[0]).bit_length()
    key = (page << bits).take(slab)
    key |= states[0].astype(np.int64)
    key, pixels = _added_up(key, area)
    word = key & ((1 << bits) - 1)
    first, second = _sides(word.astype(np.uint64), lanes) if known is None else (side[word] for side in known)
    return Areas(key >> bits, first, second, pixels)


def _words(lanes: _Lanes) -> list[npt.NDArray[Any]]:
    """The word of each lane: one for both sides when they fit, as narrow as possible, else one for each side."""
    lane = np.arange(lanes.both)
    if lanes.both <= _WORD_BITS:
        words = np.uint64(1) << lane.astype(np.uint64)
        return [words.astype(np.uint32) if lanes.both <= _WORD_BITS // 2 else words]
    of_second = lane < lanes.second
    word = np.uint64(1) << np.where(of_second, lane, lane - lanes.second).astype(np.uint64)
    return [np.where(of_second, np.uint64(0), word), np.where(of_second, word, np.uint64(0))]


def _sides(words: WordArray, lanes: _Lanes) -> tuple[WordArray, WordArray]:
    """The label sets of both sides in words of both: lane 0 of a side is bit 1."""
    second, one = np.uint64(lanes.second), np.uint64(1)
    return words >> second << one, (words & ((one << second) - one)) << one


def _numbered(
    states: Sequence[npt.NDArray[Any]], lanes: _Lanes
) -> tuple[tuple[WordArray, WordArray], npt.NDArray[np.int64]]:
    """The different pairs of label sets, sorted, and the number of the pair of each stretch."""
    if len(states) == 1:
        both, pair = np.unique(states[0].astype(np.uint64), return_inverse=True)
        return _sides(both, lanes), pair
    (first, left), (second, right) = (np.unique(state, return_inverse=True) for state in states)
    known, pair = np.unique(left * len(second) + right, return_inverse=True)
    one = np.uint64(1)
    return (first[known // len(second)] << one, second[known % len(second)] << one), pair


def _added_up(key: IntArray, area: IntArray) -> tuple[IntArray, IntArray]:
    """The different keys, sorted, with the sum of the areas of each; those without any left out."""
    bits = int(area.max()).bit_length()
    if bits + int(key.max()).bit_length() <= _NUMBER_BITS:
        # One number to sort is several times faster than an order to find.
        key <<= bits
        key |= area
        key.sort()
        area = key & ((1 << bits) - 1)
        key >>= bits
    else:
        order = np.argsort(key)
        key, area = key[order], area[order]
    start = np.concatenate([[0], np.flatnonzero(key[1:] != key[:-1]) + 1])
    key, sums = key[start], np.add.reduceat(area, start)
    some = np.flatnonzero(sums)
    return key[some], sums[some]
