"""The order of rows by several columns, and the rows of pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from evaluator.data.boxes import AnyArray, BoolArray, IntArray

_LARGEST: Final = np.iinfo(np.int64).max
# Numbers that are so far apart are looked up and not counted through.
_WIDE: Final = 16


def order_by(columns: Sequence[AnyArray]) -> IntArray:
    """Return the stable order of rows by the first column, then by the second, and so on.

    At least one column, shape (N,): integers, truth values or floats without NaN.

    >>> page, y1, x1 = np.array([1, 0, 0]), np.array([0.2, 0.5, 0.5]), np.array([0.1, 0.9, 0.3])
    >>> order_by([page, y1, x1]).tolist()
    [2, 1, 0]
    """
    return np.lexsort(tuple(reversed(columns)))


def numbers_from(start: IntArray, count: IntArray, step: int = 1) -> IntArray:
    """Return int64 numbers from each start on, as many as its count and a step apart, start by start."""
    end = count.cumsum()
    numbers = np.arange(0, int(end[-1]) * step if len(end) else 0, step)
    numbers += (start - (end - count) * step).repeat(count)
    return numbers


def all_true(values: AnyArray) -> bool:
    """Return whether all values are true, or not 0; True for none. Faster than `numpy.all` for few.

    >>> all_true(np.array([True, False])), all_true(np.array([], dtype=bool))
    (False, True)
    """
    return bool(np.count_nonzero(values) == values.size)


def begins(values: AnyArray) -> BoolArray:
    """Return where each run of equal values begins, bool, shape (N,).

    >>> begins(np.array([4, 4, 7, 4])).tolist()
    [True, False, True, True]
    """
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def distinct(numbers: AnyArray) -> tuple[IntArray, IntArray]:
    """Return the different whole numbers, rising, and the place of each number among them, as `numpy.unique`, sooner.

    >>> distinct(np.array([7, 4, 7]))
    (array([4, 7]), array([1, 0, 1]))
    """
    low = int(numbers.min(initial=_LARGEST))
    width = int(numbers.max(initial=-_LARGEST)) - low + 1
    if 0 < width < _WIDE * len(numbers):
        present = np.zeros(width, dtype=bool)
        present[numbers - low] = True
        return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[numbers - low]
    ordered = np.sort(numbers)
    different = ordered[begins(ordered)]
    return different, np.searchsorted(different, numbers)


def runs_up_to(most: int, sizes: IntArray) -> Iterator[slice]:
    """Yield slices of rows whose sizes add up to `most` at most, or of one larger row alone.

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
    """Rows by page; `page` of each row, shape (N,), rising or not, is below `pages`."""

    def __init__(self, page: AnyArray, pages: int) -> None:
        self._page = page
        self._order = None if (page[1:] >= page[:-1]).all() else np.argsort(page, kind="stable")
        self._bounds = np.searchsorted(page if self._order is None else page[self._order], np.arange(pages + 1))

    def on(self, pages: BoolArray) -> IntArray:
        """Return the rows of some pages, bool, shape (pages,): int64, rising."""
        if self._order is not None:
            return np.flatnonzero(pages[self._page])
        chosen = np.flatnonzero(pages)
        start = self._bounds[chosen]
        return numbers_from(start, self._bounds[chosen + 1] - start)

    def of(self, page: int) -> IntArray:
        """Return the rows of one page, int64, rising; none for -1."""
        low, high = self._bounds[page], self._bounds[page + 1]
        return np.arange(low, high) if self._order is None else self._order[low:high]
