"""Exact sums: those of `math.fsum`, the same bits in any order, cut and merge."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluator.metrics.exact_sums import ExactSums, exact_mean

SHARES = st.floats(0.0, 1.0)
# With the least doubles, and with both signs, where sums cancel each other.
VALUES = st.lists(st.one_of(SHARES, st.floats(-1.0, 1.0), st.sampled_from([5e-324, -5e-324, 1e-300, 2.0**-56, 1.0])))


@given(values=VALUES, size=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
@example(values=[0.1] * 200, size=1, seed=0)
@example(values=[1.0, 2.0**-53, 2.0**-106], size=1, seed=0)
def test_any_order_cut_and_merge_gives_the_nearest_double(values: list[float], size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    column, cells = np.array(values, dtype=np.float64), rng.integers(size, size=len(values))
    whole = ExactSums.of(column, cells, size)
    assert whole.total.tolist() == [math.fsum(column[cells == cell].tolist()) for cell in range(size)]
    parts = np.split(rng.permutation(len(values)), np.sort(rng.integers(len(values) + 1, size=3)))
    again = ExactSums.merged([ExactSums.of(column[part], cells[part], size) for part in parts])
    assert np.array_equal(again.limbs, whole.limbs)
    one = whole.pooled(np.zeros(size, dtype=np.int64), 1)
    assert one.total.tolist() == [math.fsum(values)]
    assert np.array_equal(one.limbs, ExactSums.of(column).limbs)
    assert np.array_equal(pickle.loads(pickle.dumps(whole)).take(np.arange(size)[::-1]).limbs, whole.limbs[:, ::-1])


def test_sums_of_many_values_are_exact() -> None:
    values = np.random.default_rng(1).uniform(size=200_000)
    cells = np.arange(len(values)) % 3
    assert ExactSums.of(values).total.tolist() == [math.fsum(values.tolist())]
    assert ExactSums.of(values, cells, 3).total.tolist() == [math.fsum(values[at::3].tolist()) for at in range(3)]
    # Beyond one word of 63 bits.
    assert ExactSums.of(np.ones(1 << 7)).total.tolist() == [128.0]
    assert exact_mean(values) == math.fsum(values.tolist()) / len(values)


def test_nothing_adds_up_to_zero() -> None:
    nothing = np.array([], dtype=np.float64)
    assert ExactSums.of(nothing, nothing.astype(np.int64), 2).total.tolist() == [0.0, 0.0]
    assert ExactSums.of(nothing, nothing.astype(np.int64), 0).total.shape == (0,)
    assert math.isnan(exact_mean(nothing))


def test_what_is_no_number_is_not_added_up() -> None:
    with pytest.raises(RuntimeWarning):
        ExactSums.of(np.array([0.5, np.nan]))
