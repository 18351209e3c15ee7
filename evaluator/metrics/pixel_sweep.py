"""The slab sweep: the areas of equal label sets on pages of overlapping boxes, without painting a pixel.

Owns how a batch of pages is cut. Boxes of one class on one page become disjoint first, so that any number of boxes
on one spot is one and passing an edge always turns its class on or off. Pages are then cut between the edges of
their boxes into horizontal slabs, and each slab from left to right into stretches of constant label sets, so that
the cost follows the boxes and not the resolution. Everything that is sorted is one number per edge or stretch. What
a class is called and what a background is, is not known here.
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
_PIECES_AT_ONCE: Final = 1 << 16
# Bits of a number that is sorted in one go, of one that is not negative, and of a word of label sets.
_DIGIT_BITS: Final = 16
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
    """The vertical edges of rectangles, sorted by x, and each of them in each of its slabs.

    Attributes
    ----------
    start : int64
        Row of the first slab of each edge in `slab`.
    slab : int32
        The slabs of the first edge from the top, then those of the second, and so on.
    by_slab : int64
        Order of `slab` by slab, in which edges of one slab stay sorted by x.
    x, lane : uint32
        Of the edge of each row of `by_slab`.
    x_bits : int
    """

    start: IntArray
    slab: npt.NDArray[np.int32]
    by_slab: IntArray
    x: npt.NDArray[np.uint32]
    lane: npt.NDArray[np.uint32]
    x_bits: int


def _edges(boxes: _Pieces, lanes: int) -> _Edges:
    """The edges of disjoint rectangles: sorted by x while they are few, and only then brought to their slabs."""
    x_bits, lane_bits = int(boxes.x2.max()).bit_length(), (lanes - 1).bit_length()
    x = np.concatenate([boxes.x1, boxes.x2])
    by_x = in_order(x, x_bits)
    piece = by_x % len(boxes.x1)
    span = (boxes.bottom - boxes.top).take(piece)
    start = np.cumsum(span) - span
    slab = np.arange(int(span.sum()), dtype=np.int32)
    slab -= np.repeat((start - boxes.top.take(piece)).astype(np.int32), span)
    by_slab = in_order(slab, int(boxes.bottom.max()).bit_length())
    # A coordinate and a lane have 27 bits.
    edge = (x.take(by_x) << lane_bits | boxes.group.take(piece) % lanes).astype(np.uint32)
    edges = np.repeat(edge, span).take(by_slab)
    x_sorted, lane = edges >> np.uint32(lane_bits), edges & np.uint32((1 << lane_bits) - 1)
    return _Edges(start, slab, by_slab, x_sorted, lane, x_bits)


def in_order(numbers: AnyIntArray, bits: int) -> IntArray:
    """The order of numbers from 0 to before 2**bits, equal ones as they come, int64.

    Digits of 16 bits, the lowest first: numpy sorts those by counting, several times faster than longer numbers.
    """
    order = numbers.astype(np.uint16).argsort(kind="stable")
    for shift in range(_DIGIT_BITS, bits, _DIGIT_BITS):
        digit = (numbers >> numbers.dtype.type(shift)).astype(np.uint16)
        order = order.take(digit.take(order).argsort(kind="stable"))
    return order


def _stretches(edges: _Edges, height: IntArray, page: IntArray, lanes: _Lanes) -> Areas:
    """The pixels to the right of each edge up to the next one, added up by page and pair of label sets."""
    states = [np.bitwise_xor.accumulate(word.take(edges.lane)) for word in _words(lanes)]
    bits, known = lanes.both, None
    page_bits = int(page[-1] - page[0]).bit_length()
    if max(page_bits, edges.x_bits) + bits > _NUMBER_BITS:
        # The numbers of the words that occur, in their order, are shorter than the words.
        known, numbers = _numbered(states, lanes)
        states, bits = [numbers], len(known[0]).bit_length()
    # The next edge may be one of the next slab: every lane is off there, and no label is state 0.
    width = np.diff(edges.x, append=edges.x[-1:])
    stretch = states[0].astype(np.int64) << edges.x_bits
    stretch |= width & np.uint32((1 << edges.x_bits) - 1)
    # Back to the slabs of one edge after those of another: most of a column of them are alike, and are one block.
    column = np.empty_like(stretch)
    column[edges.by_slab] = stretch
    new = np.empty(len(column), dtype=bool)
    np.not_equal(column[1:], column[:-1], out=new[1:])
    new[edges.start] = True
    first = np.flatnonzero(new)
    block = column[first]
    top, bottom = edges.slab[first], edges.slab[np.append(first[1:], len(column)) - 1]
    y = np.concatenate([[0], np.cumsum(height)])
    area = (y[bottom + 1] - y[top]) * (block & ((1 << edges.x_bits) - 1))
    state = block >> edges.x_bits
    labelled = np.flatnonzero((state > 0) & (area > 0))
    key, pixels = _added_up((page - page[0] << bits)[top[labelled]] | state[labelled], area[labelled], page_bits + bits)
    word = key & ((1 << bits) - 1)
    first_side, second_side = _sides(word.astype(np.uint64), lanes) if known is None else (side[word] for side in known)
    return Areas((key >> bits) + page[0], first_side, second_side, pixels)


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


def _added_up(key: IntArray, area: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """The different keys of some bits, sorted, with the sum of the areas of each."""
    order = in_order(key, bits)
    key, area = key.take(order), area.take(order)
    start = np.concatenate([[0], np.flatnonzero(key[1:] != key[:-1]) + 1])
    return key[start], np.add.reduceat(area, start)
