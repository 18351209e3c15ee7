"""Rows in the order of several columns, against a sort by each of them in turn; and two lists that become one."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.model.boxes import AnyArray
from evaluator.model.order import PageRows, numbers_from, order_by, runs_up_to

DTYPES = st.sampled_from([np.int8, np.int32, np.int64, np.float64])


@st.composite
def columns(draw: st.DrawFn) -> list[AnyArray]:
    """Columns with many equal values, some with numbers that fill all bits."""
    rows = draw(st.integers(0, 30))
    made: list[AnyArray] = []
    for _ in range(draw(st.integers(1, 6))):
        dtype = draw(DTYPES)
        low, high = (-3, 3)
        if dtype is np.int64 and draw(st.booleans()):
            low, high = -(2**63), 2**63 - 1
        numbers: st.SearchStrategy[float] = st.integers(low, high)
        if dtype is np.float64 and draw(st.booleans()):
            numbers = st.one_of(st.floats(allow_nan=False), st.sampled_from([-0.0, 0.0, 0.5, np.nextafter(0.5, 1.0)]))
        made.append(np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)), dtype=dtype))
    return made


@given(columns())
def test_it_is_the_order_of_a_stable_sort(made: list[AnyArray]) -> None:
    order = order_by(made)
    assert order.tolist() == np.lexsort(made[::-1]).tolist()
    assert order.dtype == np.int64


@pytest.mark.parametrize("bits", [31, 40, 60, 62, 63])
def test_columns_that_fill_all_bits(bits: int) -> None:
    rng = np.random.default_rng(bits)
    made = [rng.integers(0, 2**bits, 1000), rng.integers(0, 2**21, 1000), rng.integers(0, 2**40, 1000)]
    made[0][::3] = made[0][0]
    assert order_by(made).tolist() == np.lexsort(made[::-1]).tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_floats_that_differ_in_their_last_bit_only(sign: float) -> None:
    rng = np.random.default_rng(2)
    page, ulps = rng.integers(0, 80_000, 5000), rng.integers(0, 3, 5000)
    page[1000:] = page[0]
    edge = sign * (rng.integers(0, 4, 5000) / 7 + ulps * 2.0**-54)
    made = [page, edge, rng.integers(0, 2, 5000) / 3]
    assert order_by(made).tolist() == np.lexsort(made[::-1]).tolist()


def test_floats_of_both_signs_are_as_fast_as_those_of_one() -> None:
    rng = np.random.default_rng(3)
    page, edge = rng.integers(0, 800, 5000), rng.normal(0.0, [1e-300, 1.0, 1e300], (5000, 3))[:, 1]
    edge[::7] = rng.choice([-0.0, 0.0, -1e308, 1e308, -np.inf, np.inf], len(edge[::7]))
    made = [page, edge, rng.integers(0, 2, 5000) / 3]
    with patch.object(np, "lexsort", wraps=np.lexsort) as sorted_:
        order = order_by(made)
    assert order.tolist() == np.lexsort(made[::-1]).tolist()
    # Only what the leading bits leave equal is sorted column by column.
    assert len(sorted_.call_args.args[0][0]) < 1000


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
