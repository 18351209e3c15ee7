"""What is drawn on a page for one cell: the pixels of the core, and the boxes that explain them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.components.tint import cell_overlay
from evaluator.components.tint.cell_overlay import tint_data
from evaluator.protocols import pixel
from tests.building import Box, annotations, box, ground_truth, read_by_browser
from tests.painting import cell_mask
from tests.protocols.test_protocol_pixel import HEIGHT, WIDTH, rows, side


@given(first=rows, second=rows, row=st.integers(0, 4), column=st.integers(0, 4))
def test_the_tinted_pixels_are_those_of_the_count(first: list[Box], second: list[Box], row: int, column: int) -> None:
    result = pixel.evaluate(side(first), side(second))
    for page in range(4):
        data = read_by_browser(tint_data(result, page, row, column))
        mask = np.zeros((HEIGHT, WIDTH), dtype=bool)
        for x1, y1, x2, y2 in data["rectangles"]:
            mask[y1:y2, x1:x2] = True
        assert (mask == cell_mask(result, page, row, column)).all()
        assert data["pixels"] == int(mask.sum())
        assert data["raster"] == [WIDTH, HEIGHT]
        if not data["pixels"]:
            assert data["boxes"] == []


def drawn(truth: list[Box], predicted: list[Box], row: str, column: str) -> list[tuple[str, str, list[float]]]:
    result = pixel.evaluate(ground_truth(truth), annotations(predicted), page_size=(100.0, 200.0))
    names = result.classes
    data = read_by_browser(tint_data(result, 0, names.index(row), names.index(column)))
    return [(each["side"], each["text"], each["xyxy"]) for each in data["boxes"]]


TRUE = box(0.1, 0.1, 0.5, 0.5, label="Table")
SHORT = box(0.1, 0.1, 0.5, 0.3, label="Table")
FAR = box(0.7, 0.7, 0.9, 0.9, label="Table")


def test_a_cut_off_table_shows_both_its_boxes() -> None:
    assert drawn([TRUE, FAR], [SHORT, FAR], "Table", "Background") == [
        ("ground_truth", "True Table", [0.1, 0.1, 0.5, 0.5]),
        ("prediction", "Predicted Table", [0.1, 0.1, 0.5, 0.3]),
    ]


def test_invented_pixels_show_the_ground_truth_that_they_belong_to() -> None:
    assert drawn([SHORT], [TRUE], "Background", "Table") == [
        ("ground_truth", "True Table", [0.1, 0.1, 0.5, 0.3]),
        ("prediction", "Predicted Table", [0.1, 0.1, 0.5, 0.5]),
    ]


def test_a_wrong_label_shows_both_labels() -> None:
    figure = SHORT._replace(label="Figure")
    assert [text for _, text, _ in drawn([TRUE], [figure], "Table", "Figure")] == ["True Table", "Predicted Figure"]


def test_boxes_in_pixels_are_drawn_as_shares_and_too_many_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    result = pixel.evaluate(side([Box("x", 0, "a", (0.0, 0.0, 7.0, 5.5))]), side([]))
    data = read_by_browser(tint_data(result, 0, 1, 0, names=("A", "B")))
    assert data["boxes"] == [{"xyxy": [0.0, 0.0, 0.5, 0.5], "side": "ground_truth", "text": "A a"}]
    monkeypatch.setattr(cell_overlay, "MOST_BOXES", 0)
    assert read_by_browser(tint_data(result, 0, 1, 0))["left_out"] == 1
