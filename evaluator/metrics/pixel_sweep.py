"""The slab sweep: areas of equal label sets on pages of overlapping boxes, without painting a pixel.

Of the boxes of one class on one page only the outline of their union is kept, so each line turns its class on or off.
Pages are cut into upright strips and each strip between the lines in it into slabs: the cost follows the boxes and not
the resolution. From left to right, the upright lines of a slab and its left end each begin a place, as wide as it is to
the next, with one label set. Slabs follow one another, so all places lie on one axis, and label sets are running sums
of the bits that lines add and take away. What is sorted is one number per line or place, with what is needed of it in
its lower bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.order import begins, numbers_from
from evaluator.system import memory

WordArray = npt.NDArray[np.uint64]
AnyIntArray = npt.NDArray[np.integer[Any]]

X_BITS: Final = 20
"""Bits of a coordinate."""

# Pieces of boxes, level lines that come into strips, and places, in one go.
_PIECES_AT_ONCE: Final = 1 << 18
# How much wider strips are, squared, than the number of places alone asks for: a slab takes longer than a place. A half
# or twice of it was measured to be within 5 % on all pages of the benchmark.
_WIDER: Final = 4.0
# Bits of a number that is sorted in one go, of one that is not negative, and of that in 32 bits.
_DIGIT_BITS: Final = 16
_NUMBER_BITS: Final = 63
_SHORT_BITS: Final = 31
# Bits of a strip and a y: they leave room for the row of a line.
_EDGE_BITS: Final = 40


class Covered(NamedTuple):
    """Boxes of a batch of pages that cover at least one pixel each, int64 columns of one length.

    `page`: in the batch. `lane`: its class, see `Lanes`. x2 and y2 are those after the last column and row.
    """

    page: IntArray
    lane: IntArray
    x1: IntArray
    y1: IntArray
    x2: IntArray
    y2: IntArray


class Lanes(NamedTuple):
    """The classes of both sides as numbers from 1 on, those of the second side first, to keep the order.

    `second`, `both`: how many lanes the second side has, and both; at least 1.
    """

    second: int
    both: int

    @property
    def bits(self) -> int:
        """Return the bits of a lane; 0 is none."""
        return self.both.bit_length()

    @property
    def wide(self) -> bool:
        """Return whether the label sets of both sides need a word each."""
        return self.both >= _NUMBER_BITS


class Areas(NamedTuple):
    """Pixels per page and pair of label sets, columns of one length, sorted by page, first and second.

    A side without a label has the set 0. Each page, in each part that it is in, begins with a row of two such sides,
    whose `pixels` have no meaning; others are above 0.
    """

    page: IntArray
    first: WordArray
    second: WordArray
    pixels: IntArray


def sweep_pages(boxes: Covered, lanes: Lanes, pages: int) -> list[Areas]:
    """Return the labelled pixels of a batch of pages in parts, a page in several only where one is too small."""
    memory.keep_freed_memory()
    todo = [_Boxes(range(pages), boxes.page << lanes.bits | boxes.lane, *boxes[2:])]
    parts = []
    while todo:
        some = todo.pop()
        areas = _areas(some, lanes, _PIECES_AT_ONCE)
        if areas is None:
            halves = _halves(some, lanes)
            todo += reversed(halves)
            areas = None if halves else _areas(some, lanes, None)
        if areas is not None:
            parts.append(areas)
    return parts


class _Boxes(NamedTuple):
    """Boxes of some pages, and their groups: a page and, in the lowest bits, a lane."""

    pages: range
    group: IntArray
    x1: IntArray
    y1: IntArray
    x2: IntArray
    y2: IntArray

    def at(self, rows: BoolArray, pages: range) -> _Boxes:
        return _Boxes(pages, *(column[rows] for column in self[1:]))


def _halves(boxes: _Boxes, lanes: Lanes) -> list[_Boxes]:
    """Return the boxes in two parts, by pages, or above and below an edge; none if a page has two edges."""
    page = np.sort(boxes.group >> lanes.bits)
    first, last = int(page[0]), int(page[-1])
    if first < last:
        middle = max(int(page[len(page) // 2]), first + 1)
        before = boxes.group < middle << lanes.bits
        return [
            boxes.at(before, range(boxes.pages.start, middle)),
            boxes.at(~before, range(middle, boxes.pages.stop)),
        ]
    edges, _ = _ranked(np.concatenate([boxes.y1, boxes.y2]))
    if len(edges) == 2:
        return []
    middle = int(edges[len(edges) // 2])
    upper = boxes.at(boxes.y1 < middle, range(boxes.pages.start, first + 1))
    lower = boxes.at(boxes.y2 > middle, range(first, boxes.pages.stop))
    return [upper._replace(y2=np.minimum(upper.y2, middle)), lower._replace(y1=np.maximum(lower.y1, middle))]


def _ranked(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different keys, sorted, and the position of each; keys leave room for a row in 63 bits."""
    bits = len(keys).bit_length()
    order = keys << bits
    order |= np.arange(len(keys))
    order.sort()
    row = order & ((1 << bits) - 1)
    order >>= bits
    new = begins(order)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[row] = new.cumsum()
    rank -= 1
    return order.take(new.nonzero()[0]), rank


class _Bits(NamedTuple):
    """Bits of a lane, an x, a y, the number of a page, and how many of those of an x are within a strip.

    A turn is a lane with one more bit below it: 0 turns it on, 1 off, to the right of an upright line or below a level
    one. That of no lane is 0.
    """

    lane: int
    x: int
    y: int
    page: int
    strip: int = 0

    @property
    def turn(self) -> int:
        return self.lane + 1


class _Outlines(NamedTuple):
    """Upright lines from a higher to a lower y, and level lines, as int64 columns.

    `column`: group | x of each upright line, rising. `y`: shape (2, n), top and bottom. `left`, `right`: group | y | x
    of both ends of each level line. `off`, `level_off`: 1 where it turns its lane off, 0 where on.
    """

    column: IntArray
    off: IntArray
    y: IntArray
    left: IntArray
    right: IntArray
    level_off: IntArray


def _outlines(boxes: _Boxes, bits: _Bits, most: int | None) -> _Outlines | None:
    """Return the lines around what the boxes of each group cover together; None for too many pieces."""
    # Bands are cut between the edges of the boxes of a group, which are few beside those of the page.
    row = boxes.group << bits.y
    own, rank = _ranked(np.concatenate([row | boxes.y1, row | boxes.y2]))
    band = rank[: len(row)]
    span = rank[len(row) :] - band
    if most is not None and int(span.sum()) > most:
        return None
    x_mask, y_mask, band_bits = (1 << bits.x) - 1, (1 << bits.y) - 1, len(own).bit_length()
    # band | x1 | x2
    pieces = numbers_from((band << bits.x | boxes.x1) << bits.x | boxes.x2, span, 1 << 2 * bits.x)
    pieces.sort()
    begin = pieces >> bits.x
    # band | x2: the running maximum starts anew with each band.
    reach = begin & ~x_mask
    reach |= pieces & x_mask
    np.maximum.accumulate(reach, out=reach)
    gap = (begin[1:] > reach[:-1]).nonzero()[0]
    ends = np.concatenate([begin[:1], begin[1:].take(gap), reach.take(gap), reach[-1:]])
    # group | x | off | band: the bands of a group are numbered one after the other.
    band = ends >> bits.x
    ends &= x_mask
    ends |= own.take(band) >> bits.y << bits.x
    ends <<= 1
    ends[len(gap) + 1 :] |= 1
    ends <<= band_bits
    ends |= band
    ends.sort()
    cut = (ends[1:] - ends[:-1] != 1).nonzero()[0]
    # The first and the last of each line.
    runs = np.concatenate([ends[:1], ends[1:].take(cut), ends.take(cut), ends[-1:]]).reshape(2, -1)
    column = runs[0] >> band_bits
    off = column & 1
    column >>= 1
    runs &= (1 << band_bits) - 1
    runs[1] += 1
    y = own.take(runs)
    y &= y_mask
    # group | y | x | off of a level line that begins here: below the top of a line as on its right, below its end not.
    corners = column >> bits.x << bits.y | y
    corners <<= bits.x
    corners |= column & x_mask
    corners <<= 1
    corners |= off
    corners[1] ^= 1
    corners = corners.reshape(-1)
    corners.sort()
    left, right = corners[::2], corners[1::2]
    return _Outlines(column, off, y, left >> 1, right >> 1, left & 1)


def _strip_bits(lines: _Outlines, bits: _Bits, width: int, height: int) -> int:
    """Return the bits of an x within a strip, as many on all pages of that width and height."""
    # Wider strips have more lines, and so more slabs for each upright one; narrower ones more level lines that come in.
    page = lines.column >> bits.x + bits.lane
    passed = float(np.bincount(page) @ np.bincount(page, lines.y[1] - lines.y[0]))
    length = int((lines.right - lines.left).sum())
    least = max(bits.page + bits.x + bits.y - _EDGE_BITS, 0)
    return min(max(round(math.log2(_WIDER * width * height * length / passed) / 2), least), bits.x)


class _Slabs(NamedTuple):
    """The slabs of all strips from top to bottom, strip by strip, and what is the end of a strip.

    `edge`: strip | y where each slab begins; it ends where the next one does, the last of a strip is empty. `x` (in its
    strip), `turn`, `top`, `bottom`: of each upright line, its first slab and the one after its last. `begun`,
    `begun_turn`: slabs where a lane begins or ends on the left of the strip, and which.
    """

    edge: IntArray
    x: IntArray
    turn: IntArray
    top: IntArray
    bottom: IntArray
    begun: IntArray
    begun_turn: IntArray


def _slabs(lines: _Outlines, bits: _Bits, most: int | None) -> _Slabs | None:
    """Return the slabs between ends of upright lines and entering level lines; None for too many places."""
    x_mask, y_mask, lane_mask = (1 << bits.x) - 1, (1 << bits.y) - 1, (1 << bits.lane) - 1
    x = lines.column >> bits.x + bits.lane << bits.x | lines.column & x_mask
    strip = x >> bits.strip << bits.y
    page = lines.left >> bits.y + bits.x + bits.lane << bits.x
    first, last = ((page | end & x_mask) >> bits.strip for end in (lines.left, lines.right))
    entered = last - first
    if most is not None and int(entered.sum()) > most:
        return None
    at = lines.left >> bits.x
    # strip | y | turn
    into = (((first + 1) << bits.y | at & y_mask) << bits.lane | at >> bits.y & lane_mask) << 1 | lines.level_off
    into = numbers_from(into, entered, 1 << bits.y + bits.turn)
    edge, rank = _ranked(np.concatenate([(strip | lines.y).reshape(-1), into >> bits.turn]))
    top, bottom, begun = rank[: len(x)], rank[len(x) : 2 * len(x)], rank[2 * len(x) :]
    if most is not None and len(edge) + int((bottom - top).sum()) > most:
        return None
    turn = (lines.column >> bits.x & lane_mask) << 1 | lines.off
    return _Slabs(edge, x & (1 << bits.strip) - 1, turn, top, bottom, begun, into & (1 << bits.turn) - 1)


def _areas(boxes: _Boxes, lanes: Lanes, most: int | None) -> Areas | None:
    """Return the pixels of each pair of label sets of each page; None where that is too much in one go."""
    pages = np.arange(boxes.pages.start, boxes.pages.stop)
    if not len(boxes.group):
        first, second = np.zeros((2, len(pages)), np.uint64)
        return Areas(pages, first, second, np.zeros(len(pages), np.int64))
    width, height = int(boxes.x2.max()), int(boxes.y2.max())
    bits = _Bits(lanes.bits, width.bit_length(), height.bit_length(), (boxes.pages.stop - 1).bit_length())
    lines = _outlines(boxes, bits, most)
    if lines is None:
        return None
    bits = bits._replace(strip=_strip_bits(lines, bits, width, height))
    slabs = _slabs(lines, bits, most)
    if slabs is None:
        return None
    places = _places(slabs, bits)
    # The page goes into the words where they have room.
    paged = not lanes.wide and lanes.both + bits.page <= _NUMBER_BITS
    page = slabs.edge >> bits.y + bits.x - bits.strip
    words = _words(lanes, bits.page if paged else 0)
    turn = places & (1 << bits.turn) - 1
    left = (turn == 0).nonzero()[0]
    states = _states(slabs, turn.astype(np.int64), left, words, page << lanes.both if paged else None)
    places >>= bits.turn
    inside = left[1:] - left[:-1]
    y = slabs.edge & (1 << bits.y) - 1
    high = np.maximum(y[1:] - y[:-1], 0)
    area_bits = bits.strip + int(high.max()).bit_length()
    area = places[1:] - places[:-1]
    if area_bits > _SHORT_BITS:
        area = area.astype(np.int64)
    area *= high.astype(area.dtype).repeat(inside)
    known, number_bits = None, lanes.both
    # At least this of each page is without a label.
    key = np.empty(len(area) + len(pages), dtype=np.int64)
    if paged:
        key[: len(area)] = states[0][:-1]
    else:
        known, number = _numbered(states)
        number_bits = len(known[0]).bit_length()
        key[: len(area)] = page[:-1].repeat(inside) << number_bits | number[:-1]
    key[len(area) :] = pages << number_bits
    key, pixels = _added_up(key, area.astype(np.int64), bits.page + number_bits, area_bits)
    number = key & (1 << number_bits) - 1
    some = ((pixels > 0) | (number == 0)).nonzero()[0]
    key, number, pixels = key.take(some), number.take(some), pixels.take(some)
    sets = _sides([number] if known is None else [side.take(number) for side in known], lanes)
    return Areas(key >> number_bits, *sets, pixels)


def _places(slabs: _Slabs, bits: _Bits) -> npt.NDArray[np.int32] | IntArray:
    """Return slab | x in its strip | turn of each place, sorted; the left end, on no lane, comes first."""
    step = 1 << bits.strip + bits.turn
    end = len(slabs.edge) * step
    start = (slabs.top << bits.strip | slabs.x) << bits.turn | slabs.turn
    places = np.concatenate([np.arange(0, end, step), numbers_from(start, slabs.bottom - slabs.top, step)])
    # Numbers of 32 bits are sorted twice as fast.
    ordered = places if end > 1 << _SHORT_BITS else places.astype(np.int32)
    ordered.sort()
    return ordered


def _states(
    slabs: _Slabs, turn: IntArray, left: IntArray, words: Sequence[AnyIntArray], page: IntArray | None
) -> list[npt.NDArray[Any]]:
    """Return the label sets of each place, with the page of its slab above; `left`: at the left end of a slab."""
    states = []
    for word in words:
        # What all lines of a slab turn on and off together, and what begins or ends on its left.
        turned, begun = np.zeros((2, len(slabs.edge)), dtype=word.dtype)
        of_line = word.take(slabs.turn)
        np.add.at(turned, slabs.top, of_line)
        np.subtract.at(turned, slabs.bottom, of_line)
        np.add.accumulate(turned, out=turned, dtype=word.dtype)
        np.add.at(begun, slabs.begun, word.take(slabs.begun_turn))
        begun[1:] -= turned[:-1]
        if page is not None:
            begun += page.astype(word.dtype)
            begun[1:] -= page[:-1].astype(word.dtype)
        # From the last place of a slab to the left end of the next.
        state = word.take(turn)
        state[left] = begun
        np.add.accumulate(state, out=state, dtype=word.dtype)
        states.append(state)
    return states


def in_order(numbers: AnyIntArray, bits: int) -> IntArray:
    """Return the order of numbers from 0 to before 2**bits, equal ones as they come, int64."""
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


@cache
def _words(lanes: Lanes, page_bits: int) -> list[AnyIntArray]:
    """Return what each turn adds to a label set, 0 for none: a word with room for a page, or two words."""
    lane = np.arange(-1, lanes.both)
    if not lanes.wide:
        word = _bit(lane, lane >= 0)
        return [_turns(word.astype(np.int32) if lanes.both + page_bits <= _SHORT_BITS else word)]
    of_second = lane < lanes.second
    return [_turns(_bit(lane - lanes.second, ~of_second)), _turns(_bit(lane, of_second & (lane >= 0)))]


def _turns(word: AnyIntArray) -> AnyIntArray:
    """Return the word of each lane twice: as it is added where turned on, and taken away where turned off."""
    return np.column_stack([word, -word]).reshape(-1)


def _sides(words: Sequence[IntArray], lanes: Lanes) -> tuple[WordArray, WordArray]:
    """Return the label sets of both sides, class k at bit k, of the words of lanes."""
    one = np.uint64(1)
    if lanes.wide:
        first, second = (word.view(np.uint64) << one for word in words)
        return first, second
    both, bits = words[0].view(np.uint64), np.uint64(lanes.second)
    return both >> bits << one, (both & ((one << bits) - one)) << one


def _bit(bit: IntArray, there: BoolArray) -> IntArray:
    return there.astype(np.int64) << np.maximum(bit, 0)


def _numbered(states: Sequence[AnyIntArray]) -> tuple[list[IntArray], IntArray]:
    """Return the different label sets, sorted, none first, and the number of each state; the last is none."""
    known, number = np.unique(states[0].astype(np.int64), return_inverse=True)
    if len(states) == 1:
        return [known], number
    second, of_second = np.unique(states[1].astype(np.int64), return_inverse=True)
    pairs, number = np.unique(number * len(second) + of_second, return_inverse=True)
    return [known.take(pairs // len(second)), second.take(pairs % len(second))], number


def _added_up(key: IntArray, area: IntArray, bits: int, area_bits: int) -> tuple[IntArray, IntArray]:
    """Return the different keys of some bits, sorted, with the sum of their areas; the last may have none."""
    if bits + area_bits <= _NUMBER_BITS:
        # Numbers are sorted several times faster than their order is found.
        key <<= area_bits
        key[: len(area)] |= area
        key.sort()
        area = key & (1 << area_bits) - 1
        key >>= area_bits
    else:
        order = in_order(key, bits)
        area = np.concatenate([area, np.zeros(len(key) - len(area), np.int64)])
        key, area = key.take(order), area.take(order)
    end = np.empty(len(key), dtype=bool)
    end[-1] = True
    np.not_equal(key[1:], key[:-1], out=end[:-1])
    last = end.nonzero()[0]
    # Differences of sums, faster than adding up run by run, and as exact.
    sums = area.cumsum().take(last)
    sums[1:] -= sums[:-1].copy()
    return key.take(last), sums
