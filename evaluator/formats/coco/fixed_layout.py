"""Annotations and results of plain numbers that are all spelled like the first one, read without an object for each.

Owns the keys of plain numbers, and one function that fills the columns of a piece. The text without its numbers must be
the first record without its numbers, again and again, and every number must stand where one of the first record stands.
Most numbers are short and read by ``decimals``; others are one JSON array, for a decoder. A piece of which any of this
is not so is left to the decoder of records.
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.formats.coco.float_parser import PADDING, WORD, decimals
from evaluator.system.decoding import json_decoder

BOX: Final = "bbox"
INTEGERS: Final = frozenset({"image_id", "category_id", "id", "iscrowd", "ignore"})
NUMBERS: Final = frozenset({"score", "area"})
# White space is that of JSON: Python's own has more.
BLANKS: Final = b" \t\n\r"

_OF_NUMBERS: Final = b"0123456789.-"
_FIRST, _LAST = min(_OF_NUMBERS), max(_OF_NUMBERS)
_NUMBER = re.compile(rb"[-.0-9]+")
_NEITHER_NUMBER_NOR_COMMA: Final = bytes(set(range(256)) - {*_OF_NUMBERS, *b","})
# Written out as decimals, which are the same numbers; other exponents are left to the decoder of records.
_EXPONENT = re.compile(rb"(?<![-+.0-9eE])-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?[eE][-+]?[0-9]{1,3}(?![-+.0-9eE])")
# The spelling of one of these many bytes is remembered; a record of plain numbers has a few hundred.
_LONGEST_RECORD: Final = 1 << 12
# Beyond, not every whole number is a float64.
_MOST_EXACT: Final = 1 << 53

Text = npt.NDArray[np.uint8]
Column = npt.NDArray[Any]

_record = json_decoder(dict[str, float | tuple[float, float, float, float]])
_decoded = json_decoder(list[float])


class _Spelling(NamedTuple):
    """How the records of a piece are spelled, with their `keys` in order.

    `record`, `between`: a record, and what separates two of them, without numbers. `gaps`, int64, shape (K + 1,):
    characters before, between and behind the K numbers of a record.
    """

    keys: tuple[str, ...]
    record: bytes
    between: bytes
    gaps: IntArray


def read(text: Text, columns: dict[str, Column]) -> bool:
    """Write records with a comma between them, uint8, shape (B,), into columns; return whether that was possible.

    `columns`: int64 or float64, shape (N,), ``bbox`` (N, 4), by the keys that every record must have, and no others;
    they mean nothing when the text is not N such records.
    """
    piece, count = text.tobytes().strip(BLANKS), len(columns[BOX])
    return _read(piece, columns, count) or _read(_EXPONENT.sub(_written_out, piece), columns, count)


def _read(piece: bytes, columns: dict[str, Column], count: int) -> bool:
    """Return the same for a piece without white space around it and without exponents."""
    spelling = _spelling(piece)
    if spelling is None or {*spelling.keys} != columns.keys() or not count:
        return False
    without = spelling.record + (spelling.between + spelling.record) * (count - 1)
    if piece.translate(None, _OF_NUMBERS) != without:
        return False
    numbers = _numbers(piece, spelling, count)
    if numbers is None:
        return False
    values = numbers.reshape(count, -1)
    place = 0
    for key in spelling.keys:
        column = columns[key]
        if key == BOX:
            column[...] = values[:, place : place + 4]
            place += 4
            continue
        numbers_of = values[:, place]
        place += 1
        if key in INTEGERS and not (np.abs(numbers_of) < _MOST_EXACT).all():
            return False
        column[...] = numbers_of
        if key in INTEGERS and not np.array_equal(column, numbers_of):
            return False
    return True


def _spelling(piece: bytes) -> _Spelling | None:
    stop = piece.find(b"}") + 1
    following = piece.find(b"{", stop)
    between = piece[stop:following] if following >= 0 else b","
    if stop + len(between) > _LONGEST_RECORD:
        return None
    # Pieces differ in their numbers alone, which are looked at for all records later on.
    return _spelled(_NUMBER.sub(b"0", piece[:stop]), between)


@lru_cache(maxsize=64)
def _spelled(first: bytes, between: bytes) -> _Spelling | None:
    """Return how records are spelled of which the first, with 0 for each number, and what follows it are given."""
    try:
        values = _record(first)
    except msgspec.MsgspecError:
        return None
    keys = tuple(values)
    # A key that is repeated, or spelled with an escape.
    if first.count(b'"') != 2 * len(keys) or b"\\" in first:
        return None
    if not {*keys} <= {BOX, *INTEGERS, *NUMBERS} or any(isinstance(values[key], tuple) != (key == BOX) for key in keys):
        return None
    if between.strip(BLANKS) != b",":
        return None
    numbers = [*_NUMBER.finditer(first)]
    if len(numbers) != len(keys) + 3 * (BOX in keys):
        return None
    edges = [0, *chain.from_iterable(number.span() for number in numbers), len(first)]
    gaps = np.array([begin - end for end, begin in zip(edges[::2], edges[1::2], strict=True)])
    return _Spelling(keys, first.translate(None, _OF_NUMBERS), between, gaps)


def _numbers(piece: bytes, spelling: _Spelling, count: int) -> FloatArray | None:
    """Return all numbers of a piece; None if they are not JSON, or not where those of the first record are."""
    text = np.frombuffer(piece + PADDING, dtype=np.uint8)
    # The characters between the first and the last one are those of numbers, but for one that no record has.
    inside = (text - np.uint8(_FIRST)) <= _LAST - _FIRST
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    edges += 1
    gaps = np.tile(spelling.gaps[:-1], count)
    gaps[len(spelling.gaps) - 1 :: len(spelling.gaps) - 1] += len(spelling.between) + spelling.gaps[-1]
    if inside[0] or len(edges) != 2 * len(gaps):
        return None
    begins, ends = edges[::2], edges[1::2]
    # What is between them is right already.
    if begins[0] != gaps[0] or not np.array_equal(begins[1:] - ends[:-1], gaps[1:]):
        return None
    # Where many numbers are longer, a decoder is faster.
    if 4 * np.count_nonzero(ends - begins > WORD) <= len(begins):
        numbers = decimals(text, begins, ends)
        if numbers is not None:
            return numbers
    try:
        decoded = _decoded(b"[%b]" % piece.translate(None, _NEITHER_NUMBER_NOR_COMMA))
    except msgspec.MsgspecError:
        return None
    # In a third of the time that array or numpy take for a list.
    return np.frombuffer(struct.pack(f"{len(decoded)}d", *decoded))


def _written_out(number: re.Match[bytes]) -> bytes:
    return format(Decimal(number[0].decode()), "f").encode()
