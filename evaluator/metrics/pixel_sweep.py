"""The slab sweep: the areas of equal label sets on pages of overlapping boxes, without painting a pixel.

Owns how a batch of pages is cut. Of the boxes of one class on one page only the outline of what they cover together
is kept, so that any number of boxes on one spot is one and passing a line always turns its class on or off. Pages are
then cut into upright strips and each strip between the lines in it into slabs, so that a line is looked at only
where others are near it, and the cost follows the boxes and not the resolution. From left to right, each upright line
of each slab has one label set before it and one after it. The area of a label set is the sum of x times height over
the lines that it ends at, less that over the lines that it begins at. Everything that is sorted is one number per line
or part of one. What a class is called and what a background is, is not known here.
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
# Pieces of boxes between the edges of a page in one go, an upper bound of what outlines and slabs need.
_PIECES_AT_ONCE: Final = 1 << 18
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
    page, y = edge >> X_BITS, edge & _X_MASK
    parts = []
    for low, high in _slab_ranges(top, bottom, page):
        here = slice(None) if high - low == len(edge) - 1 else np.flatnonzero((top < high) & (bottom > low))
        piece = _Pieces(
            (boxes.page[here] - page[low]) * lanes.both + lanes.of_box[here],
            np.maximum(top[here], low) - low,
            np.minimum(bottom[here], high) - low,
            boxes.x1[here],
            boxes.x2[here],
        )
        if len(piece.group):
            areas = _areas(*_outlines(piece, lanes.both), y[low : high + 1], lanes)
            parts.append(areas._replace(page=areas.page + page[low]))
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
    """First slab and the one after the last of ranges with about `_PIECES_AT_ONCE` pieces, whole pages if possible.

    Slabs of whole pages here: between one edge and the next, of which `page` has one more.
    """
    slabs = len(page) - 1
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


class _Lines(NamedTuple):
    """Lines of outlines: upright ones at an x from top to bottom, or level ones at a y from left to right.

    Attributes
    ----------
    page, lane, at, low, high : int64
    """

    page: IntArray
    lane: IntArray
    at: IntArray
    low: IntArray
    high: IntArray


def _outlines(boxes: _Pieces, lanes: int) -> tuple[_Lines, _Lines]:
    """The upright lines, sorted by page and x, and the level lines around what the boxes of each group cover together.

    Each group is cut between the edges of its own boxes only, which are few beside those of the page, into disjoint
    rectangles. Their corners that do not cancel one another are those of the outlines.
    """
    bits, lane_bits = int(boxes.bottom.max()).bit_length(), (lanes - 1).bit_length()
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
    ends = np.concatenate([begin[:1], begin[gap + 1], reach[gap], reach[-1:]])
    band, x = ends >> X_BITS, ends & _X_MASK
    corner = _single(np.concatenate([own[band] << X_BITS | x, own[band + 1] << X_BITS | x]))
    row, x = corner >> X_BITS, corner & _X_MASK
    group, y = row >> bits, row & ((1 << bits) - 1)
    page, lane = np.divmod(group, lanes)
    level = _Lines(page[::2], lane[::2], y[::2], x[::2], x[1::2])
    corner = ((page << X_BITS | x) << lane_bits | lane) << bits | y
    corner.sort()
    column, y = corner[::2] >> bits, corner & ((1 << bits) - 1)
    x = column >> lane_bits
    return _Lines(x >> X_BITS, column & ((1 << lane_bits) - 1), x & _X_MASK, y[::2], y[1::2]), level


def _single(corners: IntArray) -> IntArray:
    """The corners that occur an odd number of times, sorted: two on one spot end and begin the same lines."""
    corners.sort()
    start = np.flatnonzero(np.concatenate([[True], corners[1:] != corners[:-1]]))
    odd = np.diff(start, append=len(corners)) & 1 == 1
    return np.asarray(corners[start[odd]], dtype=np.int64)


def _counted_up(start: IntArray, span: IntArray) -> IntArray:
    """The numbers from each start on, as many as its span says, one start after the other."""
    numbers = np.arange(int(span.sum()))
    numbers -= np.repeat(np.cumsum(span) - span - start, span)
    return numbers


class _Slabs(NamedTuple):
    """The slabs of all strips, from top to bottom and from strip to strip.

    Attributes
    ----------
    edge : int64
        Rank of the y where each slab begins; it ends where the next one does.
    top, bottom : int64
        First slab of each upright line, and the one after its last.
    begun, lane : int64
        Slabs where a lane begins or ends on the left of the strip, and the lanes.
    """

    edge: IntArray
    top: IntArray
    bottom: IntArray
    begun: IntArray
    lane: IntArray


def _slabs(upright: _Lines, level: _Lines) -> _Slabs:
    """The slabs of the strips: between the ends of upright lines in a strip and the level lines that come into it."""
    strip, (first, last) = _strips(upright, level)
    entered = last - first
    y_bits = int(upright.high.max()).bit_length()
    into = _counted_up(first + 1, entered)
    ends = [strip << y_bits | upright.low, strip << y_bits | upright.high]
    edge, rank = _ranked(np.concatenate([*ends, into << y_bits | np.repeat(level.at, entered)]))
    top, bottom, begun = np.split(rank, [len(strip), 2 * len(strip)])
    return _Slabs(edge & ((1 << y_bits) - 1), top, bottom, begun, np.repeat(level.lane, entered))


def _strips(upright: _Lines, level: _Lines) -> tuple[IntArray, tuple[IntArray, IntArray]]:
    """The strip of each upright line, and those of the left and the right end of each level line; numbered by page.

    More strips have fewer slabs for upright lines to pass and more level lines to come in: as many strips of a page as
    make the two about equal.
    """
    pages = int(upright.page[-1]) + 1
    # Lines are sorted, so that the last x of a page is what remains.
    width = np.zeros(pages)
    width[upright.page] = upright.at
    passed = np.bincount(upright.page, upright.high - upright.low, minlength=pages)
    length = np.bincount(level.page, level.high - level.low, minlength=pages)
    strips = np.maximum(np.rint(np.sqrt(passed * width / np.maximum(2.0 * length, 1.0))), 1.0)
    first, factor = np.cumsum(strips) - strips, strips / (width + 1.0)

    def of(page: IntArray, x: IntArray) -> IntArray:
        # Whole numbers each, so that a strip is never that of another page.
        strip: IntArray = first.take(page).astype(np.int64)
        strip += (x * factor.take(page)).astype(np.int64)
        return strip

    return of(upright.page, upright.at), (of(level.page, level.low), of(level.page, level.high))


def _areas(upright: _Lines, level: _Lines, y: IntArray, lanes: _Lanes) -> Areas:
    """The pixels of each pair of label sets of each page: `y` by rank."""
    slabs = _slabs(upright, level)
    count, lines = len(slabs.edge), len(upright.at)
    span = slabs.bottom - slabs.top
    start = np.cumsum(span) - span
    # The slabs of the first line from the top, then those of the second, and so on.
    slab = np.arange(int(span.sum()), dtype=np.int32)
    slab -= np.repeat((start - slabs.top).astype(np.int32), span)
    by_slab = in_order(slab, count.bit_length())
    in_slab = np.bincount(slab, minlength=count)
    new = np.zeros(len(slab), dtype=bool)
    new[start] = True
    words, after = _words(lanes), []
    for word in words:
        # What is on the left of each slab, less what all lines of the slabs before it have turned on and off.
        begun = np.zeros(count, dtype=word.dtype)
        np.bitwise_xor.at(begun, slabs.begun, word.take(slabs.lane))
        np.bitwise_xor.accumulate(begun, out=begun)
        turned = np.zeros(len(slab) + 1, dtype=word.dtype)
        np.bitwise_xor.accumulate(np.repeat(word.take(upright.lane), span).take(by_slab), out=turned[1:])
        begun ^= turned.take(np.cumsum(in_slab) - in_slab)
        state = np.empty(len(slab), dtype=word.dtype)
        state[by_slab] = turned[1:] ^ np.repeat(begun, in_slab)
        new[1:] |= state[1:] != state[:-1]
        after.append(state)
    # Most slabs of a line have the same label sets beside it as the one above, and are one block with it.
    block = np.flatnonzero(new)
    line = np.repeat(np.arange(lines), np.diff(np.searchsorted(block, start), append=len(block)))
    top, last = slab[block], slab[np.append(block[1:], len(slab)) - 1]
    edge = y.take(slabs.edge)
    area = (edge.take(last + 1) - edge.take(top)) * upright.at.take(line)
    states = [state[block] for state in after]
    states = [
        np.concatenate([state, state ^ word.take(upright.lane).take(line)])
        for state, word in zip(states, words, strict=True)
    ]
    return _by_page(np.tile(upright.page.take(line), 2), states, np.concatenate([-area, area]), lanes)


def _by_page(page: IntArray, states: Sequence[npt.NDArray[Any]], area: IntArray, lanes: _Lanes) -> Areas:
    """Areas added up by page and pair of label sets, without those of no label and those between lines on one x."""
    bits, known = lanes.both, None
    page_bits = int(page.max()).bit_length()
    if page_bits + bits > _NUMBER_BITS:
        # The numbers of the words that occur, in their order, are shorter than the words.
        known, numbers = _numbered(states, lanes)
        states, bits = [numbers], len(known[0]).bit_length()
    key, pixels = _added_up(page << bits | states[0].astype(np.int64), area, page_bits + bits)
    word = key & ((1 << bits) - 1)
    labelled = word > 0 if known is None else (known[0] | known[1]).take(word) > 0
    some = np.flatnonzero(labelled & (pixels > 0))
    key, word, pixels = key[some], word[some], pixels[some]
    first_side, second_side = _sides(word.astype(np.uint64), lanes) if known is None else (side[word] for side in known)
    return Areas(key >> bits, first_side, second_side, pixels)


def in_order(numbers: AnyIntArray, bits: int) -> IntArray:
    """The order of numbers from 0 to before 2**bits, equal ones as they come, int64."""
    row_bits = len(numbers).bit_length()
    if bits > _DIGIT_BITS and bits + row_bits <= _NUMBER_BITS:
        # Numbers are sorted several times faster than their order is found.
        rows = numbers.astype(np.int64) << row_bits
        rows |= np.arange(len(numbers))
        rows.sort()
        return rows & ((1 << row_bits) - 1)
    # Digits of 16 bits, the lowest first: numpy sorts those by counting.
    order = numbers.astype(np.uint16).argsort(kind="stable")
    for shift in range(_DIGIT_BITS, bits, _DIGIT_BITS):
        digit = (numbers >> numbers.dtype.type(shift)).astype(np.uint16)
        order = order.take(digit.take(order).argsort(kind="stable"))
    return order


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
    """The different pairs of label sets, sorted, and the number of the pair of each state."""
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
    key = key.take(order)
    last = np.flatnonzero(np.concatenate([key[1:] != key[:-1], [True]]))
    # Differences of sums, several times faster than adding up run by run, and as exact.
    return key.take(last), np.diff(area.take(order).cumsum().take(last), prepend=0)
