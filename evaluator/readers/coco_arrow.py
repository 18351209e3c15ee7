"""Annotations and results whose values are plain numbers, read by Arrow: several pieces of the array at a time.

Owns the fastest way to the columns of `coco_shape`. Arrow's parser runs without the interpreter's lock and makes no
object per record. It refuses unknown and repeated keys, other types and anything that is not JSON, with three
exceptions that are checked here: NaN and Infinity, null or missing values, and records without a comma between them.
A piece that has anything else is left to the decoder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, Self

import msgspec
import numpy as np
import numpy.typing as npt

Text = npt.NDArray[np.uint8]
Column = npt.NDArray[Any]

_STEP: Final = 1 << 20
# Arrays of fewer bytes are decoded before Arrow is loaded.
_FEWEST_BYTES: Final = 1 << 22
# Then pieces are small, so that what the decoder makes of them stays in the processor's cache.
_SMALL_STEP: Final = 1 << 16
# More threads than this find no more memory bandwidth.
_MOST_THREADS: Final = 8
# White space is that of JSON: Python's own has more.
_NEXT_ITEM = re.compile(rb"\}[ \t\n\r]*+,[ \t\n\r]*+(?=\{)")
_FIRST_ITEM = re.compile(rb"\[[ \t\n\r]*+(\{[^{}]*+\})")
_CLOSING, _COMMA, _BLANK = b"},"[0], b"},"[1], b" "[0]
_BOX: Final = "bbox"
_INTEGERS: Final = frozenset({"image_id", "category_id", "id", "iscrowd", "ignore"})
_NUMBERS: Final = frozenset({"score", "area"})
_REQUIRED: Final = frozenset({"image_id", "category_id", _BOX})


class Reading:
    """The pieces of an array on their way to columns, so that other parts of the file can be read meanwhile.

    Parameters
    ----------
    content : bytes
        UTF-8.
    start, stop : int
        Where the array begins and ends in it.
    """

    def __init__(self, content: bytes, start: int, stop: int) -> None:
        keys = _keys(content, start, stop) if stop - start >= _FEWEST_BYTES else ()
        self._cuts = list(_cuts(content, start + 1, stop - 1, _STEP if keys else _SMALL_STEP))
        self._rows = [0] * (len(self._cuts) + 1)
        self._columns: dict[str, Column] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._answers: list[Future[bool]] = []
        if keys:
            self._begin(np.frombuffer(content, dtype=np.uint8), keys)

    def _begin(self, text: Text, keys: tuple[str, ...]) -> None:
        """Hand the pieces to threads, which write into columns of the full length."""
        closing = [np.count_nonzero(text[cut] == _CLOSING) for cut in self._cuts]
        self._rows = [0, *np.cumsum(closing).tolist()]
        self._columns = {key: np.empty(self._rows[-1], dtype=np.int64) for key in keys if key in _INTEGERS}
        self._columns |= {key: np.empty(self._rows[-1]) for key in keys if key in _NUMBERS}
        self._columns[_BOX] = np.empty((self._rows[-1], 4))
        self._pool = ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS))
        self._answers = [
            self._pool.submit(_read, text[cut], {key: column[slice(*rows)] for key, column in self._columns.items()})
            for cut, rows in zip(self._cuts, pairwise(self._rows), strict=True)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        if self._pool is not None:
            # Pieces that still wait are not needed when something else is wrong with the file.
            self._pool.shutdown(cancel_futures=True)

    def columns(self) -> dict[str, Column] | None:
        """All columns by key, int64 or float64, shape (N,), ``bbox`` (N, 4); None when a piece needs the decoder."""
        return self._columns if self._answers and all(answer.result() for answer in self._answers) else None

    def pieces(self) -> Iterator[tuple[slice, dict[str, Column] | None]]:
        """Where each piece stands in the content, and its columns; None for one that needs the decoder."""
        for row, cut in enumerate(self._cuts):
            rows = slice(self._rows[row], self._rows[row + 1])
            known = self._answers and self._answers[row].result()
            yield cut, {key: column[rows] for key, column in self._columns.items()} if known else None


def _keys(content: bytes, start: int, stop: int) -> tuple[str, ...]:
    """The keys of the first record; none without one, and where they are not those of plain numbers."""
    first = _FIRST_ITEM.match(content, start, stop)
    if first is None:
        return ()
    try:
        keys = msgspec.json.decode(first[1], type=dict[str, Any]).keys()
    except msgspec.MsgspecError:
        return ()
    return tuple(keys) if _REQUIRED <= keys <= {_BOX, *_INTEGERS, *_NUMBERS} else ()


def _cuts(content: bytes, at: int, end: int, step: int) -> Iterator[slice]:
    """Where pieces begin and end: between two objects, at a comma that neither of them has."""
    while at < end:
        cut = _NEXT_ITEM.search(content, at + step, end) if at + step < end else None
        yield slice(at, cut.start() + 1 if cut else end)
        at = cut.end() if cut else end


def _read(text: Text, columns: dict[str, Column]) -> bool:
    """Write the records of a piece into columns of their number; whether they are what they should be."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.json  # type: ignore[import-untyped]

    records = text.copy()
    closing = np.flatnonzero(records == _CLOSING)
    if not len(closing) or (records[closing[:-1] + 1] != _COMMA).any():
        return False
    # Arrow reads records that follow each other. When each has one closing brace, which a comma follows in all but
    # the last, they are the array that the bytes spell.
    records[closing[:-1] + 1] = _BLANK
    kinds = {_BOX: pa.list_(pa.float64()), **dict.fromkeys(_NUMBERS, pa.float64())}
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(pa.py_buffer(records)),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(records) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=pa.schema([(key, kinds.get(key, pa.int64())) for key in columns]),
                newlines_in_values=True,
                unexpected_field_behavior="error",
            ),
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        return False
    if len(table) != len(closing) or any(table.column(key).null_count for key in columns):
        return False
    for key, column in columns.items():
        values = table.column(key).combine_chunks()
        if key == _BOX:
            bounds, values = _numbers(values.offsets, "i4"), values.values
            if values.null_count or not np.array_equal(bounds, np.arange(0, 4 * len(column) + 1, 4)):
                return False
        column[...] = _numbers(values, column.dtype).reshape(column.shape)
    return all(np.isfinite(columns[key]).all() for key in columns if key not in _INTEGERS)


def _numbers(values: Any, dtype: npt.DTypeLike) -> Column:  # noqa: ANN401 - pyarrow has no types
    """An array without nulls as it stands in memory; Arrow's own conversion would load pandas."""
    return np.frombuffer(values.buffers()[1], dtype=dtype)[values.offset : values.offset + len(values)]
