"""The order of rows by several columns, faster than a sort by each in turn, and the rows of pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from evaluator.model.boxes import AnyArray, BoolArray, IntArray

_BITS: Final = 63
# Sign and exponent of a float take 12.
_LEAST_BITS: Final = 24


def order_by(columns: Sequence[AnyArray]) -> IntArray:
    """The stable order of rows by the first column, then by the second, and so on.

    Parameters
    ----------
    columns : sequence of array, shape (N,) each
        At least one, of integers, truth values or floats without NaN; the one that decides first in front.

    Returns
    -------
    int64, shape (N,)
        What ``np.lexsort(columns[::-1])`` gives; empty for no rows.

    Notes
    -----
    Neighbouring columns of integers become one number where they fit into 63 bits, and the leading bits of a column of
    floats that follows become a part of it. All columns are looked at only in the rows that this number leaves equal:
    few, when it is of page and upper edge of a box.

    Examples
    --------
    >>> page, y1, x1 = np.array([1, 0, 0]), np.array([0.2, 0.5, 0.5]), np.array([0.1, 0.9, 0.3])
    >>> order_by([page, y1, x1]).tolist()
    [2, 1, 0]
    """
    rows = len(columns[0])
    if not rows:
        return np.empty(0, dtype=np.int64)
    keys, room = _packed(columns)
    if room < 0:
        keys, room = [np.zeros(rows, dtype=np.int64), *keys], _BITS
    if len(keys) == 1:
        return _order_of_one(keys[0])
    # With its row at its end a number is sorted several times faster than its order is found.
    row_bits = (rows - 1).bit_length()
    ends = row_bits if room - row_bits >= _LEAST_BITS else 0
    leading = _with_leading_bits(keys[0], room - ends, keys[1]) if room >= _LEAST_BITS else None
    if leading is None:
        return np.lexsort(tuple(reversed(keys)))
    if ends:
        numbers = np.sort((leading << ends) | np.arange(rows))
        order, ranked = numbers & ((1 << ends) - 1), numbers >> ends
    else:
        order = np.argsort(leading)
        ranked = leading[order]
    level = ranked[1:] == ranked[:-1]
    places = np.flatnonzero(np.append(level, False) | np.append(False, level))
    tied = np.sort(order[places])
    order[places] = tied[np.lexsort(tuple(key[tied] for key in reversed(keys)))]
    return order


def numbers_from(start: IntArray, count: IntArray, step: int = 1) -> IntArray:
    """The numbers from each start on, as many as its count says and a step apart, one start after the other; int64."""
    end = count.cumsum()
    numbers = np.arange(0, int(end[-1]) * step if len(end) else 0, step)
    numbers += (start - (end - count) * step).repeat(count)
    return numbers


def all_true(values: AnyArray) -> bool:
    """Whether all values are true, or not 0; True for none. Several times faster than `numpy.all` where there are few.

    Examples
    --------
    >>> all_true(np.array([True, False])), all_true(np.array([], dtype=bool))
    (False, True)
    """
    return bool(np.count_nonzero(values) == values.size)


def begins(values: AnyArray) -> BoolArray:
    """Where each run of equal values begins, bool, shape (N,).

    Examples
    --------
    >>> begins(np.array([4, 4, 7, 4])).tolist()
    [True, False, True, True]
    """
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def runs_up_to(most: int, sizes: IntArray) -> Iterator[slice]:
    """Slices of rows one after the other whose sizes add up to that much at most, or of one row that is larger alone.

    Examples
    --------
    >>> [(run.start, run.stop) for run in runs_up_to(5, np.array([2, 3, 1, 9, 0]))]
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    ends = sizes.cumsum()
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(ends.searchsorted(done + most, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


class PageRows:
    """Looks up the rows of some pages; of a list by page without a look at the others.

    Parameters
    ----------
    page : integers, shape (N,)
        Page of each row, rising or not.
    pages : int
        Above every page.
    """

    def __init__(self, page: AnyArray, pages: int) -> None:
        self._page = page
        rising = bool((page[1:] >= page[:-1]).all())
        self._bounds = np.searchsorted(page, np.arange(pages + 1)) if rising else None

    def on(self, pages: BoolArray) -> IntArray:
        """The rows of some pages, bool, shape (pages,): int64, rising."""
        if self._bounds is None:
            return np.flatnonzero(pages[self._page])
        chosen = np.flatnonzero(pages)
        start = self._bounds[chosen]
        return numbers_from(start, self._bounds[chosen + 1] - start)

    def of(self, page: int) -> IntArray:
        """The rows of one page, int64, rising."""
        if self._bounds is None:
            return np.flatnonzero(self._page == page)
        return np.arange(self._bounds[page], self._bounds[page + 1])


def _packed(columns: Iterable[AnyArray]) -> tuple[list[AnyArray], int]:
    """Fewer columns of the same order: each is one of floats, or what fits of neighbouring integers from 0 up.

    And the bits that are free in the first of them; -1 where it is no such number.
    """
    keys: list[AnyArray] = []
    rooms: list[int] = []
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if column.dtype.kind in "biu" else (0, 1 << _BITS)
        bits = (high - low).bit_length()
        if bits > _BITS:
            keys.append(column)
            rooms.append(-1)
        elif rooms and bits <= rooms[-1]:
            keys[-1] = (keys[-1] << bits) | (column.astype(np.int64) - low)
            rooms[-1] -= bits
        else:
            keys.append(column.astype(np.int64) - low)
            rooms.append(_BITS - bits)
    return keys, rooms[0]


def _with_leading_bits(key: IntArray, room: int, column: AnyArray) -> IntArray | None:
    """A key that goes on with as much of a column of floats as there is room for; None where that says too little."""
    if column.dtype != np.float64:
        return None
    # Of one sign, floats are in the order of their bits; the sum makes one zero of two.
    raw = (column + 0.0).view(np.int64)
    raw = np.where(raw < 0, -(raw & np.iinfo(np.int64).max), raw)
    low, high = int(raw.min()), int(raw.max())
    # The difference of two signs takes 64 bits.
    bits = (high - low).bit_length()
    kept = min(bits, room)
    above = raw.view(np.uint64) - np.uint64(low % (1 << 64))
    return np.asarray((key << kept) | (above >> np.uint64(bits - kept)).view(np.int64))


def _order_of_one(key: AnyArray) -> IntArray:
    """The stable order of one column."""
    bits = (len(key) - 1).bit_length()
    if key.dtype == np.int64 and int(key.min()) >= 0 and int(key.max()).bit_length() + bits <= _BITS:
        # A number that ends with its row needs no second array that is moved along.
        return np.asarray(np.sort((key << bits) | np.arange(len(key))) & ((1 << bits) - 1))
    return np.argsort(key, kind="stable")
