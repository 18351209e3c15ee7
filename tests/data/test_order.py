"""Rows in the order of several columns, and those of pages."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.order import PageRows, numbers_from, order_by, runs_up_to


def test_the_first_column_decides_first_and_equal_rows_keep_their_order() -> None:
    rng = np.random.default_rng(2)
    made = [rng.integers(-2, 3, 500), rng.choice([-1.5, -0.0, 0.0, 0.5], 500), rng.integers(0, 2, 500).astype(bool)]
    rows = [*zip(*(column.tolist() for column in made), strict=True)]
    assert order_by(made).tolist() == sorted(range(500), key=lambda row: rows[row])


def test_runs_add_up_to_the_limit_or_have_one_row() -> None:
    sizes = np.random.default_rng(4).integers(0, 12, 200)
    runs = list(runs_up_to(10, sizes))
    assert [row for run in runs for row in range(run.start, run.stop)] == list(range(200))
    for run, after in pairwise(runs):
        assert sizes[run].sum() <= 10 or run.stop - run.start == 1
        assert sizes[run].sum() + sizes[after.start] > 10
    assert list(runs_up_to(10, sizes[:0])) == []


def test_not_a_row() -> None:
    assert order_by([np.empty(0), np.empty(0, dtype=np.int64)]).tolist() == []


@given(st.lists(st.integers(0, 9), max_size=30), st.lists(st.booleans(), min_size=10, max_size=10), st.booleans())
def test_rows_of_some_pages(page: list[int], pages: list[bool], rising: bool) -> None:
    listed = sorted(page) if rising else page
    rows = PageRows(np.array(listed, dtype=np.int32), 10).on(np.array(pages))
    assert rows.tolist() == [row for row, each in enumerate(listed) if pages[each]]
    assert rows.dtype == np.int64


def test_numbers_from_each_start() -> None:
    start, count = np.array([7, 0, 3]), np.array([2, 0, 3])
    assert numbers_from(start, count).tolist() == [7, 8, 3, 4, 5]
    assert numbers_from(start, count, 10).tolist() == [7, 17, 3, 13, 23]
    nothing = numbers_from(start[:0], count[:0])
    assert (nothing.tolist(), nothing.dtype) == ([], np.int64)
