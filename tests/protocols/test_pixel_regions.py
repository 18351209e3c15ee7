"""Where the pixels of a cell are: the rectangles and the outline against painted masks, and worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.pixel_counts import Resolution
from evaluator.protocols import pixel
from evaluator.protocols.pixel import regions as pixel_regions
from evaluator.protocols.pixel.cells import cell_facts
from evaluator.protocols.pixel.regions import CutPage, Region
from tests.building import Box, annotations, box, ground_truth
from tests.painting import cell_mask
from tests.protocols.test_protocol_pixel import KEYS, rows, side


def painted(region: Region, shape: tuple[int, int]) -> np.ndarray:
    """How often each pixel is in a rectangle."""
    times = np.zeros(shape, dtype=int)
    for x1, y1, x2, y2 in region.rectangles.tolist():
        assert x1 < x2
        assert y1 < y2
        times[y1:y2, x1:x2] += 1
    return times


def drawn(region: Region) -> set[tuple[str, int, int]]:
    """The outline as steps of one pixel."""
    steps: list[tuple[str, int, int]] = []
    for x1, y1, x2, y2 in region.outline.tolist():
        assert (x1 == x2) != (y1 == y2)
        steps += [("-", x, y1) for x in range(x1, x2)] + [("|", x1, y) for y in range(y1, y2)]
    assert len(steps) == len(set(steps)), "lines lie on each other"
    return set(steps)


def around(mask: np.ndarray) -> set[tuple[str, int, int]]:
    """Steps between chosen pixels and others, pixel by pixel."""
    padded = np.pad(mask, 1)
    steps = set()
    for y, x in np.argwhere(np.ones_like(mask)).tolist() if mask.size else []:
        if mask[y, x]:
            steps |= {("-", x, y)} if not padded[y, x + 1] else set()
            steps |= {("-", x, y + 1)} if not padded[y + 2, x + 1] else set()
            steps |= {("|", x, y)} if not padded[y + 1, x] else set()
            steps |= {("|", x + 1, y)} if not padded[y + 1, x + 2] else set()
    return steps


@given(first=rows, second=rows, row=st.integers(0, 4), column=st.integers(0, 4), at_once=st.integers(1, 40))
def test_a_region_is_the_painted_mask(first: list[Box], second: list[Box], row: int, column: int, at_once: int) -> None:
    result = pixel.evaluate(side(first), side(second))
    kept = pixel_regions._PARTS_AT_ONCE
    try:
        pixel_regions._PARTS_AT_ONCE = at_once  # type: ignore[misc]
        regions = [result.cell_region(page, row, column) for page in range(len(KEYS))]
    finally:
        pixel_regions._PARTS_AT_ONCE = kept  # type: ignore[misc]
    for page, part in enumerate(regions):
        mask = cell_mask(result, page, row, column)
        assert (painted(part, mask.shape) == mask).all()
        assert drawn(part) == around(mask)
        assert part.pixels == int(mask.sum())


def test_a_table_that_is_cut_off_leaves_one_rectangle() -> None:
    truth = side([Box("x", 0, "a", (2, 1, 8, 9))])
    predicted = side([Box("x", 0, "a", (2, 1, 8, 5))])
    result = pixel.evaluate(truth, predicted)
    page, row = 0, result.classes.index("a")
    part = result.cell_region(page, row, 0)
    assert part.rectangles.tolist() == [[2, 5, 8, 9]]
    assert sorted(part.outline.tolist()) == [[2, 5, 2, 9], [2, 5, 8, 5], [2, 9, 8, 9], [8, 5, 8, 9]]
    assert part.pixels == 24
    assert cell_facts(result, row, 0).behind[0].pixels == 24.0


def test_the_background_reaches_to_the_edge_of_the_page_with_a_hole() -> None:
    boxes = Resolution(np.array([0]), np.array([1]), np.array([[1.0, 1.0, 3.0, 3.0]]))
    nothing = Resolution(np.empty(0, int), np.empty(0, int), np.empty((0, 4)))
    part = CutPage(boxes, nothing, (4, 5)).region([(1, 1)])
    assert part.rectangles.tolist() == [[0, 0, 4, 1], [0, 1, 1, 3], [3, 1, 4, 3], [0, 3, 4, 5]]
    assert part.pixels == 16
    assert [1, 1, 3, 1] in part.outline.tolist()
    assert [0, 0, 4, 0] in part.outline.tolist()


@pytest.mark.parametrize(("size", "pairs"), [((0, 0), [(1, 1)]), ((9, 9), [])])
def test_no_pixel_has_no_rectangle(size: tuple[int, int], pairs: list[tuple[int, int]]) -> None:
    nothing = Resolution(np.empty(0, int), np.empty(0, int), np.empty((0, 4)))
    part = CutPage(nothing, nothing, size).region(pairs)
    assert part.rectangles.shape == part.outline.shape == (0, 4)
    assert part.pixels == 0


def test_a_page_too_large_to_paint_still_has_a_region() -> None:
    wide = (1 << 20) - 1
    one = Resolution(np.array([0]), np.array([63]), np.array([[0.0, 0.0, wide, wide]]))
    nothing = Resolution(np.empty(0, int), np.empty(0, int), np.empty((0, 4)))
    part = CutPage(one, nothing, (wide, wide)).region([(1 << 63, 1)])
    assert part.pixels == wide * wide


def test_shares_of_a_page_whose_width_is_no_whole_number() -> None:
    truth = ground_truth([box(0.5, 0.5, 1.0, 1.0, label="Table")])
    result = pixel.evaluate(truth, annotations([]), page_size=(10.5, 20.0))
    assert result.size.tolist() == [[11, 20]]
    assert result.extent.tolist() == [[10.5, 20.0]]
    part = result.cell_region(0, result.classes.index("Table"), 0)
    assert part.rectangles.tolist() == [[5, 10, 11, 20]]
