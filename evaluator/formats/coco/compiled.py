"""Annotations and results whose values are plain numbers, read by compiled code: the optional extra ``fast``.

Owns one function that fills the columns of a piece as ``uniform`` does, several times faster. It accepts only the
grammar of JSON and only records of plain numbers; a piece that has anything else is left to the decoder. Numbers are
the nearest float64: exactly where one division or product of exact numbers gives it, else by the method of Eisel and
Lemire (D. Lemire, Number Parsing at a Gigabyte per Second, Software: Practice and Experience 51(8), 2021, section 5),
which reports when it cannot decide. Compiled once per machine, which takes some seconds, and kept by numba.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from numba import njit

from evaluator.formats.coco.uniform import Column, Text

_KEYS: Final = ("image_id", "category_id", "bbox", "score", "area", "id", "iscrowd", "ignore")
_IMAGE, _CATEGORY, _BOX, _SCORE, _AREA, _ID = range(6)
_COUNT: Final = len(_KEYS)
_NAMES: Final = np.array([list(key.ljust(12, "\0").encode()) for key in _KEYS], dtype=np.uint8)
_LENGTHS: Final = np.array([len(key) for key in _KEYS], dtype=np.int64)

_LOWEST_POWER: Final = -342
_HIGHEST_POWER: Final = 308
_MOST_DIGITS: Final = 19
_MOST_DIGITS_OF_AN_INTEGER: Final = 18
_EXACT: Final = np.uint64(1 << 53)
_TENS: Final = np.array([float(10**power) for power in range(23)])
_HALF: Final = np.uint64(0xFFFFFFFF)
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_HIDDEN: Final = np.uint64(1 << 52)


def _powers_of_five() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """High and low words of 5 to each power with 128 significant bits, cut off; from -27 to -1 rounded up."""
    words = []
    for power in range(_LOWEST_POWER, _HIGHEST_POWER + 1):
        five = 5 ** abs(power)
        if power >= 0:
            words.append(five << 128 >> five.bit_length())
        else:
            words.append((1 << (five.bit_length() + 127)) // five + (power >= -27))
    full = (1 << 64) - 1
    return (
        np.array([word >> 64 for word in words], dtype=np.uint64),
        np.array([word & full for word in words], dtype=np.uint64),
    )


_HIGH, _LOW = _powers_of_five()


def read(text: Text, columns: dict[str, Column]) -> bool:
    """Write the records of a piece into columns of their number; parameters and result as in `uniform.read`."""
    wanted = sum(1 << place for place, key in enumerate(_KEYS) if key in columns)
    no_integers, no_numbers = np.empty(0, dtype=np.int64), np.empty(0)
    others = tuple(columns.get(key, no_integers) for key in ("id", "iscrowd", "ignore"))
    numbers = tuple(columns.get(key, no_numbers) for key in ("score", "area"))
    integers = (columns["image_id"], columns["category_id"]), others
    return bool(_records(text, wanted, integers, columns["bbox"], numbers))


@njit(nogil=True, cache=True)
def _records(
    text: Text,
    wanted: int,
    integers: tuple[tuple[Column, ...], tuple[Column, ...]],
    box: Column,
    numbers: tuple[Column, ...],
) -> bool:
    """Whether the text is as many records of the wanted keys as the columns have rows."""
    (image_id, category_id), others = integers
    score, area = numbers
    after = np.zeros(_COUNT + 1, dtype=np.int64)
    end, rows = len(text), len(image_id)
    at = _skipped(text, 0)
    for row in range(rows):
        if at >= end or text[at] != 123:  # {
            return False
        seen, last = 0, _COUNT
        while True:
            key, at = _key(text, _skipped(text, at + 1), after[last])
            if at < 0 or seen >> key & 1 or not wanted >> key & 1:
                return False
            after[last] = last = key
            seen |= 1 << key
            # The columns are written here: a call that is given them costs more than what it reads.
            if key == _BOX:
                if at >= end or text[at] != 91:  # [
                    return False
                for side in range(4):
                    number, at = _number(text, _skipped(text, at + 1))
                    if at < 0:
                        return False
                    box[row, side] = number
                    at = _skipped(text, at)
                    if at >= end or text[at] != (93 if side == 3 else 44):  # ] or ,
                        return False
                at += 1
            elif key in (_SCORE, _AREA):
                number, at = _number(text, at)
                if key == _SCORE:
                    score[row] = number
                else:
                    area[row] = number
            else:
                integer, at = _integer(text, at)
                if key == _IMAGE:
                    image_id[row] = integer
                elif key == _CATEGORY:
                    category_id[row] = integer
                else:
                    others[key - _ID][row] = integer
            if at < 0:
                return False
            at = _skipped(text, at)
            if at >= end:
                return False
            if text[at] == 125:  # }
                break
            if text[at] != 44:  # ,
                return False
        if seen != wanted:
            return False
        at = _skipped(text, at + 1)
        if row + 1 < rows:
            if at >= end or text[at] != 44:  # ,
                return False
            at = _skipped(text, at + 1)
    return at == end


@njit(nogil=True, cache=True)
def _key(text: Text, at: int, guess: int) -> tuple[int, int]:
    """The key that begins here and the place of its value; a place below 0 for anything else."""
    end = len(text)
    if at >= end or text[at] != 34:  # "
        return 0, -1
    # Records spell their keys in one order, nearly always.
    key = guess
    for _ in range(_COUNT):
        if _is_key(text, at + 1, key):
            at = _skipped(text, at + 2 + _LENGTHS[key])
            if at >= end or text[at] != 58:  # :
                return 0, -1
            return key, _skipped(text, at + 1)
        key = key + 1 if key + 1 < _COUNT else 0
    return 0, -1


@njit(nogil=True, cache=True)
def _skipped(text: Text, at: int) -> int:
    """The next place that is not white space of JSON."""
    end = len(text)
    while at < end and (text[at] == 32 or text[at] == 10 or text[at] == 13 or text[at] == 9):
        at += 1
    return at


@njit(nogil=True, cache=True)
def _is_key(text: Text, at: int, key: int) -> bool:
    """Whether a name of a key and a quotation mark are here."""
    size = _LENGTHS[key]
    if at + size >= len(text) or text[at + size] != 34:
        return False
    same = True
    for place in range(size):
        same &= text[at + place] == _NAMES[key, place]
    return same


@njit(nogil=True, cache=True)
def _integer(text: Text, at: int) -> tuple[int, int]:
    """An integer and the place behind it; a place below 0 for anything else."""
    end = len(text)
    negative = at < end and text[at] == 45
    at += negative
    first, value = at, 0
    while at < end and 48 <= text[at] <= 57:
        if at - first == _MOST_DIGITS_OF_AN_INTEGER:
            return 0, -1
        value = value * 10 + int(text[at]) - 48
        at += 1
    if at == first or (text[first] == 48 and at > first + 1):
        return 0, -1
    if at < end and (text[at] == 46 or text[at] == 101 or text[at] == 69):
        return 0, -1
    return -value if negative else value, at


@njit(nogil=True, cache=True)
def _number(text: Text, at: int) -> tuple[float, int]:
    """The float64 nearest to a number, and the place behind it; a place below 0 for anything else or if unsure."""
    end = len(text)
    negative = at < end and text[at] == 45
    at += negative
    first = at
    digits, power, value = 0, 0, np.uint64(0)
    while at < end and 48 <= text[at] <= 57:
        value = value * np.uint64(10) + np.uint64(text[at] - np.uint8(48))
        digits += value != np.uint64(0)
        at += 1
    if at == first or (text[first] == 48 and at > first + 1):
        return 0.0, -1
    if at < end and text[at] == 46:  # .
        at += 1
        first = at
        while at < end and 48 <= text[at] <= 57:
            value = value * np.uint64(10) + np.uint64(text[at] - np.uint8(48))
            digits += value != np.uint64(0)
            at += 1
        if at == first:
            return 0.0, -1
        power = first - at
    if digits > _MOST_DIGITS:
        # The value may have wrapped around.
        return 0.0, -1
    if at < end and (text[at] == 101 or text[at] == 69):
        at += 1
        downwards = at < end and text[at] == 45
        at += at < end and (text[at] == 45 or text[at] == 43)
        first, exponent = at, 0
        while at < end and 48 <= text[at] <= 57:
            exponent = min(exponent * 10 + int(text[at]) - 48, 100_000)
            at += 1
        if at == first:
            return 0.0, -1
        power += -exponent if downwards else exponent
    if value == np.uint64(0):
        number = 0.0
    elif value <= _EXACT and -22 <= power <= 22:
        # Both are exact, so that the one operation rounds once.
        number = np.float64(value) / _TENS[-power] if power < 0 else np.float64(value) * _TENS[power]
    else:
        number = _nearest(value, power)
        if number < 0.0:
            return 0.0, -1
    return -number if negative else number, at


@njit(nogil=True, cache=True)
def _nearest(value: np.uint64, power: int) -> float:
    """The float64 nearest to value times 10 to the power, value above 0; negative where this cannot decide."""
    if power < _LOWEST_POWER or power > _HIGHEST_POWER:
        return -1.0
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if value >> np.uint64(64 - step) == np.uint64(0):
            value <<= np.uint64(step)
            zeros += step
    place = power - _LOWEST_POWER
    high, low = _product(value, _HIGH[place])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(value, _LOW[place])
        low += more
        if more > low:
            high += np.uint64(1)
    if low == _ALL and (power < -27 or power > 55):
        return -1.0
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    binary = (217706 * power >> 16) + 63 + np.int64(upper) - zeros + 1023
    if binary <= 0:
        return -1.0
    # Half way between two numbers, the even one is the nearest.
    half_way = low <= np.uint64(1) and -4 <= power <= 23 and mantissa << shift == high
    if half_way and mantissa & np.uint64(3) == np.uint64(1):
        mantissa &= ~np.uint64(1)
    mantissa += mantissa & np.uint64(1)
    mantissa >>= np.uint64(1)
    if mantissa >= _HIDDEN << np.uint64(1):
        mantissa = _HIDDEN
        binary += 1
    if binary >= 2047:
        return -1.0
    return math.ldexp(np.float64(mantissa), int(binary) - 1075)


@njit(nogil=True, cache=True)
def _product(one: np.uint64, other: np.uint64) -> tuple[np.uint64, np.uint64]:
    """High and low word of the product of two words."""
    half = np.uint64(32)
    one_high, one_low, other_high, other_low = one >> half, one & _HALF, other >> half, other & _HALF
    lowest = one_low * other_low
    middle = one_high * other_low + (lowest >> half)
    other_middle = one_low * other_high + (middle & _HALF)
    return one_high * other_high + (middle >> half) + (other_middle >> half), one * other
