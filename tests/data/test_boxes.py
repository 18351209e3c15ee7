"""Box geometry by hand: areas, overlaps, edges that touch, areas that underflow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluator.data.boxes import area, intersection, iou, overlap

NO_BOXES = np.empty((0, 4))


def boxes(*rows: tuple[float, float, float, float]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_area_is_width_times_height() -> None:
    assert area(boxes((0, 0, 2, 3), (1, 1, 1, 5), (-1, -1, 1, 1))).tolist() == [6.0, 0.0, 4.0]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ((0, 0, 4, 2), 8.0),  # the same box
        ((1, 1, 3, 5), 2.0),  # a corner
        ((1, 0, 2, 1), 1.0),  # inside
        ((4, 0, 8, 2), 0.0),  # a shared edge
        ((4, 2, 8, 4), 0.0),  # a shared corner
        ((5, 5, 6, 6), 0.0),  # apart in both directions: two negative sides are not a positive area
    ],
)
def test_intersection(other: tuple[float, float, float, float], expected: float) -> None:
    assert intersection(boxes((0, 0, 4, 2)), boxes(other)).tolist() == [expected]


def test_overlap_by_hand() -> None:
    # G = 8, P = 8, I = 2: IoU 2 / 14; then a prediction inside (P = 2) and one around (P = 32).
    fit = overlap(boxes((0, 0, 4, 2), (0, 0, 4, 2), (0, 0, 4, 2)), boxes((3, 0, 7, 2), (0, 0, 2, 1), (0, 0, 8, 4)))
    assert fit.iou.tolist() == [2 / 14, 0.25, 0.25]
    assert fit.coverage.tolist() == [0.25, 0.25, 1.0]
    assert fit.purity.tolist() == [0.25, 1.0, 0.25]


def test_a_box_without_area_overlaps_nothing_not_even_itself() -> None:
    flat = boxes((0.5, 0.5, 0.5, 0.8), (0.2, 0.2, 0.8, 0.2))
    for column in overlap(flat, flat):
        assert column.tolist() == [0.0, 0.0]


def test_no_boxes_give_empty_columns() -> None:
    assert area(NO_BOXES).shape == intersection(NO_BOXES, NO_BOXES).shape == (0,)
    assert [column.shape for column in overlap(NO_BOXES, NO_BOXES)] == [(0,), (0,), (0,)]


@pytest.mark.parametrize("unit", [5e-324, 2e-323, 1e-308, 1e-200, 1e-160, 1e-145, 1.0, 1e6, 1e150])
def test_the_unit_does_not_matter(unit: float) -> None:
    fit = overlap(boxes((0, 0, 2, 1), (0, 0, 1, 1)) * unit, boxes((1, 0, 4, 1), (0, 0, 1, 1)) * unit)
    assert fit.iou.tolist() == [0.25, 1.0]
    assert fit.coverage.tolist() == [0.5, 1.0]
    assert fit.purity.tolist() == pytest.approx([1 / 3, 1.0], rel=1e-15)


def test_thin_boxes_keep_their_ratio() -> None:
    # One side ordinary, one so thin that the area underflows.
    thin = boxes((0.0, 0.0, 1.0, 2e-300), (0.0, 0.0, 2e-300, 1.0))
    half = boxes((0.0, 0.0, 1.0, 1e-300), (0.0, 0.0, 1e-300, 1.0))
    assert iou(thin, half).tolist() == iou(thin, half[:, None]).diagonal().tolist() == [0.5, 0.5]


coordinates = arrays(np.float64, (6, 4), elements=st.floats(-1e3, 1e3))


@given(first=coordinates, second=coordinates)
def test_ratios_stay_in_range_and_swap_with_the_sides(first: np.ndarray, second: np.ndarray) -> None:
    low_high = [(np.minimum(a[:, :2], a[:, 2:]), np.maximum(a[:, :2], a[:, 2:])) for a in (first, second)]
    first, second = (np.hstack(corners) for corners in low_high)
    before = first.copy()
    one, other = overlap(first, second), overlap(second, first)
    assert (one.iou == other.iou).all()
    assert (one.coverage == other.purity).all()
    for column in one:
        assert ((column >= 0.0) & (column <= 1.0)).all()
    assert (one.iou <= np.minimum(one.coverage, one.purity) + 1e-12).all()
    assert (first == before).all()
    assert (iou(first, second) == one.iou).all()
    assert (iou(first, second[:, None]).diagonal() == one.iou).all()
