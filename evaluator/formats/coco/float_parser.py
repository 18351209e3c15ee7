"""Numbers of JSON without exponents as float64, many at a time.

Owns the arithmetic on characters: eight of them are one integer of 64 bits, in which a few operations turn all digits
into the number they spell, as in D. Lemire, Number Parsing at a Gigabyte per Second, Software: Practice and Experience
51(8), 2021. Numbers are the nearest float64: up to eight characters are one division of exact numbers, which rounds
once; of longer ones both ends of a narrow interval around the quotient must round to one number. What this cannot
decide is left to a decoder.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray

WORD: Final = 8
"""Characters that are read at a time. Longer numbers take several times as long as shorter ones."""
PADDING: Final = bytes(WORD)
"""Behind the text, so that a word can be taken from any place."""

Text = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_MINUS: Final = ord("-")
# The character 0 in each byte: a digit becomes its value, and all else has a bit that no digit has.
_ZEROS: Final = np.uint64(0x3030303030303030)
_LOWEST_BITS: Final = np.uint64(0x0101010101010101)
# What the point is then.
_POINT: Final = np.uint64(ord(".") ^ ord("0"))
_POINT_BITS: Final = np.uint64(0x10)
# A first digit 0 with another digit behind it has none of these bits.
_FIRST_ZERO: Final = np.uint64(0xF0FF)
# Times a bit in byte j: the highest byte is 8 - j, how many characters there are from the point on.
_FROM_POINT: Final = np.uint64(0x0807060504030201)
# Neighbouring digits, pairs and quadruples put together: factor, distance in bits, and what is kept.
_STEPS: Final = tuple(
    tuple(map(np.uint64, step))
    for step in ((10, 8, 0x00FF00FF00FF00FF), (100, 16, 0x0000FFFF0000FFFF), (10_000, 32, 0x00000000FFFFFFFF))
)
_ALL_POINT_BITS: Final = np.uint64(0x1010101010101010)
# From the end of a number to where its last words begin.
_BEHIND: Final = np.array([[WORD], [2 * WORD], [3 * WORD]])
_HIGHEST_POWER: Final = 22
# By the characters from the point on; without a point there are none.
_OF_POINT: Final = np.array([1.0, *(10.0**power for power in range(WORD))])
_TENS: Final = np.array([float(10**power) for power in range(_HIGHEST_POWER + 1)])
# Those that have more than 64 bits are for numbers that are refused.
_WHOLE_TENS: Final = np.array([10**power % (1 << 64) for power in range(_HIGHEST_POWER + 1)], dtype=np.uint64)
_LARGEST: Final = 9e18
# Far above the error of a quotient's remainder.
_MARGIN: Final = 2.0**-48
_SPLITTER: Final = float((1 << 27) + 1)


def decimals(text: Text, begins: IntArray, ends: IntArray) -> FloatArray | None:
    """Return the float64 nearest to each of N numbers, shape (N,); None when one is not JSON, or too long to tell.

    `text`: uint8, shape (B,), with `PADDING` at its end. `begins`, `ends`: int64, shape (N,); between them are digits,
    points and minus signs only, and before and behind them are other characters.
    """
    negative = None
    if minus := np.count_nonzero(text == _MINUS):
        negative = text[begins] == _MINUS
        begins = begins + negative
        if np.count_nonzero(negative) != minus or (begins == ends).any():
            return None
    words = np.ndarray(len(text) - len(PADDING), dtype="<u8", buffer=text, strides=(1,))
    first = words[begins] ^ _ZEROS
    if not (first & _FIRST_ZERO).all() or np.bitwise_or.reduce(first, initial=0) & _POINT_BITS:
        return None
    sizes = ends - begins
    # What is longer than a word is shifted away.
    word = first << (8 * (WORD - sizes)).astype(np.uint64)
    point = word >> np.uint64(4)
    point &= _LOWEST_BITS
    before = point - np.minimum(point, np.uint64(1))
    # A point at the end, or a second one.
    if (np.bitwise_or.reduce(point, initial=0) >> np.uint64(56)) or np.bitwise_or.reduce(point & before, initial=0):
        return None
    before &= word
    # What is before the point moves into its place.
    before *= np.uint64(255)
    word += before
    word -= point * _POINT
    point *= _FROM_POINT
    point >>= np.uint64(56)
    numbers = _spelled(word).astype(np.float64)
    numbers /= _OF_POINT.take(point.view(np.int64))
    rows = np.flatnonzero(sizes > WORD)
    if len(rows):
        longer = _longer(words, first[rows], begins[rows], ends[rows])
        if longer is None:
            return None
        numbers[rows] = longer
    if negative is not None:
        # As decoders have it, -0 is the whole number 0.
        np.negative(numbers, out=numbers, where=negative & ((sizes > 1) | (numbers != 0.0)))
    return numbers


def _spelled(word: Words) -> Words:
    """Return the numbers that words of eight digits spell, the first digit in the lowest byte; changes the words."""
    for factor, distance, kept in _STEPS:
        further = word >> distance
        word *= factor
        word += further
        word &= kept
    return word


def _longer(words: Words, first: Words, begins: IntArray, ends: IntArray) -> FloatArray | None:
    """Return the same for numbers above eight characters, of which `first` are the first eight."""
    point = (first >> np.uint64(4)) & _LOWEST_BITS
    if (point & (point - np.minimum(point, np.uint64(1)))).any():
        return None
    dotted = point != 0
    # Characters before a point; all of a number without one are taken as if they came behind it.
    places = (WORD - (point * _FROM_POINT >> np.uint64(56)).view(np.int64)) * dotted
    sizes = ends - begins - places - dotted
    longest = int(sizes.max())
    if longest > _HIGHEST_POWER or int(ends.min()) < WORD * len(_BEHIND):
        return None
    # Those before the point, and the words from the last character towards it.
    behind = _BEHIND[: -(-longest // WORD)]
    parts = np.empty((1 + len(behind), len(first)), dtype=np.uint64)
    parts[0], parts[1:] = first, words[ends - behind] ^ _ZEROS
    there = np.empty(parts.shape, dtype=np.int64)
    there[0], there[1:] = places, np.maximum(np.minimum(sizes + (WORD - behind), WORD), 0)
    # Other characters are shifted out.
    shift = (8 * (WORD - there)).view(np.uint64)
    parts[1:] >>= shift[1:]
    parts <<= shift
    if np.bitwise_or.reduce(parts, axis=None) & _ALL_POINT_BITS:
        return None
    tens = _TENS.take(sizes)
    whole, last, *further = _spelled(parts)
    digits, size = whole * _WHOLE_TENS.take(sizes) + last, whole * tens
    for part, power in zip(further, (WORD, 2 * WORD), strict=False):
        digits += part * _WHOLE_TENS[power]
        size += part * _TENS[power]
    if (size > _LARGEST).any():
        return None
    return _nearest(digits, np.where(dotted, tens, 1.0))


def _nearest(digits: Words, divisors: FloatArray) -> FloatArray | None:
    """Return the float64 nearest to quotients; None when one is too near to the middle between two numbers."""
    rounded = digits.astype(np.float64)
    quotients = rounded / divisors
    # The remainder of a division is a number of its own, and so is what rounding left.
    product = quotients * divisors
    rest = (rounded - product) - _error(quotients, divisors, product)
    rest += (digits - rounded.astype(np.uint64)).view(np.int64)
    rest /= divisors
    least, most = quotients + rest * (1.0 - _MARGIN), quotients + rest * (1.0 + _MARGIN)
    return least if np.array_equal(least, most) else None


def _error(one: FloatArray, other: FloatArray, product: FloatArray) -> FloatArray:
    """Return what a product has too little (T. J. Dekker, Numerische Mathematik 18, 1971, section 5)."""
    (high, low), (other_high, other_low) = _split(one), _split(other)
    return low * other_low - (((product - high * other_high) - low * other_high) - high * other_low)


def _split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    return high, values - high
