"""Annotations and results whose values are plain numbers: several pieces of the array at a time.

Owns the cuts of the array and the threads that turn pieces into the columns of ``shape`` by ``fixed_layout``, which
makes no object per record. A piece that has anything but plain numbers is left to the decoder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

import msgspec
import numpy as np

from evaluator.formats.coco import fixed_layout
from evaluator.formats.coco.fixed_layout import Column, Text
from evaluator.system.threads import MOST_THREADS, thread_pool

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_STEP: Final = 1 << 18
# Arrays of fewer bytes are decoded before threads are started.
_FEWEST_BYTES: Final = 1 << 22
# Then pieces are small, so that what the decoder makes of them stays in the processor's cache.
_SMALL_STEP: Final = 1 << 16
# White space is that of JSON: Python's own has more.
_NEXT_ITEM = re.compile(rb"\}[ \t\n\r]*+,[ \t\n\r]*+(?=\{)")
_FIRST_ITEM = re.compile(rb"[ \t\n\r]*+(\{[^{}]*+\})")
CLOSING: Final = b"}"[0]
_REQUIRED: Final = frozenset({"image_id", "category_id", fixed_layout.BOX})


class ChunkReader:
    """The pieces of the array at `start` to `stop` of UTF-8 on their way to columns, while others are read."""

    def __init__(self, content: bytes, start: int, stop: int) -> None:
        keys = plain_keys(content, start + 1, stop) if stop - start >= _FEWEST_BYTES else ()
        self._cuts = list(_cuts(content, start + 1, stop - 1, _STEP if keys else _SMALL_STEP))
        self._rows = [0] * (len(self._cuts) + 1)
        self._columns: dict[str, Column] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._answers: list[Future[bool]] = []
        if keys:
            self._begin(np.frombuffer(content, dtype=np.uint8), keys)

    def _begin(self, text: Text, keys: tuple[str, ...]) -> None:
        """Hand the pieces to threads, which write into columns of the full length."""
        closing = [np.count_nonzero(text[cut] == CLOSING) for cut in self._cuts]
        self._rows = [0, *np.cumsum(closing).tolist()]
        self._columns = empty_columns(keys, self._rows[-1])
        self._pool = thread_pool(min(os.cpu_count() or 1, MOST_THREADS))
        for cut, rows in zip(self._cuts, pairwise(self._rows), strict=True):
            part = {key: column[slice(*rows)] for key, column in self._columns.items()}
            self._answers.append(self._pool.submit(fixed_layout.read, text[cut], part))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        if self._pool is not None:
            # Pieces that still wait are not needed when something else is wrong with the file.
            self._pool.shutdown(cancel_futures=True)

    def columns(self) -> dict[str, Column] | None:
        """Return all columns by key, int64 or float64, (N,), ``bbox`` (N, 4); None if a piece needs the decoder."""
        return self._columns if self._answers and all(answer.result() for answer in self._answers) else None

    def pieces(self) -> Iterator[tuple[slice, dict[str, Column] | None]]:
        """Yield where each piece is in the content, and its columns; None for one that needs the decoder."""
        for row, cut in enumerate(self._cuts):
            rows = slice(self._rows[row], self._rows[row + 1])
            known = self._answers and self._answers[row].result()
            yield cut, {key: column[rows] for key, column in self._columns.items()} if known else None


def empty_columns(keys: Iterable[str], count: int) -> dict[str, Column]:
    """Room for the values of some records: int64 or float64, shape (N,), ``bbox`` (N, 4)."""
    columns: dict[str, Column] = {key: np.empty(count, dtype=np.int64) for key in keys if key in fixed_layout.INTEGERS}
    columns |= {key: np.empty(count) for key in keys if key in fixed_layout.NUMBERS}
    return {**columns, fixed_layout.BOX: np.empty((count, 4))}


def plain_keys(content: bytes, start: int, stop: int) -> tuple[str, ...]:
    """Return the keys of the first record; none without one, and where they are not those of plain numbers."""
    first = _FIRST_ITEM.match(content, start, stop)
    if first is None:
        return ()
    try:
        keys = msgspec.json.decode(first[1], type=dict[str, object]).keys()
    except msgspec.MsgspecError:
        return ()
    return tuple(keys) if _REQUIRED <= keys <= {fixed_layout.BOX, *fixed_layout.INTEGERS, *fixed_layout.NUMBERS} else ()


def _cuts(content: bytes, at: int, end: int, step: int) -> Iterator[slice]:
    """Yield where pieces begin and end: between two objects, at a comma that neither of them has."""
    while at < end:
        cut = _NEXT_ITEM.search(content, at + step, end) if at + step < end else None
        yield slice(at, cut.start() + 1 if cut else end)
        at = cut.end() if cut else end
