"""The corpora of the benchmarks are what they say, and what is shipped is what the linter for security allows."""

import numpy as np
import pytest

from tests.benchmarks import bench_speed
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


def test_the_page_of_speeds_has_the_rows_of_its_benchmarks() -> None:
    """Numbers come from a run by hand; what is measured beside whom is written in one place."""
    written = [line for line in bench_speed.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    empty = list(bench_speed.lines({}))
    assert len(written) == len(empty)
    for line, other in zip(written, empty, strict=True):
        cells, expected = line[2:-2].split(" | "), other[2:-2].split(" | ")
        assert cells[:2] == expected[:2]
        assert cells[3].startswith(expected[3])
        if cells[2] != bench_speed.NOT_MEASURED and cells[0] not in ("work", "---"):
            ours, theirs, times = (float(cells[at].replace(",", "")) for at in (2, 4, 5))
            assert times == pytest.approx(theirs / ours, rel=0.02)


def test_a_speed_is_shown_with_three_digits() -> None:
    numbers = (0.7614, 342.4, 12_345.6, 0.000123)
    assert [bench_speed.shown(each) for each in numbers] == ["0.761", "342", "12,346", "0.000123"]
