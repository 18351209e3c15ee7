"""The corpora of the benchmarks are what they say, and what is shipped is what the linter for security allows.

`.ci/run` runs the benchmarks themselves.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.bench_attack import static
from tests.benchmarks.corpus import dln_like, snap_like


@pytest.mark.parametrize(("make", "truths", "predictions"), [(snap_like, 0.5, 1.4), (dln_like, 13.7, 15.7)])
def test_a_corpus_is_the_same_every_time_and_as_dense_as_it_says(
    make: object, truths: float, predictions: float
) -> None:
    sides, again = make(2000), make(2000)  # type: ignore[operator]
    for side, other, density in zip(sides, again, (truths, predictions), strict=True):
        boxes = side.boxes
        assert (boxes.xyxy == other.boxes.xyxy).all()
        assert len(boxes) / 2000 == pytest.approx(density, rel=0.1)
        assert ((boxes.xyxy >= 0.0) & (boxes.xyxy <= 1.0)).all()
        assert (boxes.xyxy[:, :2] < boxes.xyxy[:, 2:]).all()
        assert (np.diff(boxes.entry) >= 0).all()


def test_the_linter_for_security_finds_nothing_and_every_requirement_has_its_hash() -> None:
    assert static(1, 0, None)["static"] == {"issues": [], "without_hash": [], "harm": 0}
