"""The heatmap's data: texts, levels, colours that can be read, and that background x background is left out."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.components.matrix import matrix
from evaluator.components.matrix.matrix import COLOURS, SHOWS, contrast, difference_data, matrix_data, short_pixels
from evaluator.protocols import pixel
from evaluator.protocols.pixel.difference import MatrixDifference, difference
from evaluator.protocols.pixel.matrix import Matrices, PixelColumns
from tests.building import Box, read_by_browser
from tests.protocols.test_protocol_pixel import rows, side

CLASSES = ("Background", "Table", "Text")
PIXELS = np.array([[[9_000_000.0, 1_000.0, 0.0], [112.0, 834.0, 54.0], [0.5, 0.0, 99_999.5]]])


@pytest.mark.parametrize("shows", SHOWS)
@pytest.mark.parametrize("colour", COLOURS)
def test_every_level_has_a_colour_and_the_crossed_cell_none(shows: matrix.Shows, colour: matrix.Colour) -> None:
    data = read_by_browser(matrix_data(CLASSES, Matrices(PIXELS, 1), shows, colour))
    levels = np.array(data["level"])
    assert levels[0, 0] == -1
    assert ((levels.ravel()[1:] >= 0) & (levels.ravel()[1:] < len(data["ramp"]))).all()
    assert levels[2, 1] == 0
    assert {level for level, _ in data["scale"]["swatches"]} <= set(range(len(data["ramp"])))
    assert data["facts"]["pixels"] == PIXELS[0].tolist()


def test_steps_are_those_of_the_design() -> None:
    shares = [0.0, 0.0009, 0.001, 0.019, 0.02, 0.05, 0.15, 0.4, 0.849, 0.85, 1.0]
    assert [matrix.step_of(share) for share in shares] == [0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 6]
    data = read_by_browser(matrix_data(CLASSES, Matrices(PIXELS, 1), "row", "steps"))
    assert data["text"][1] == ["11.2", "83.4", "5.4"]
    assert data["level"][1] == [3, 5, 3]
    assert data["text"][0][1:] == ["<0.1", "0"]
    # Not all of it is not 100 per cent.
    assert data["text"][2][2] == "99.9"
    assert [ink[0] for ink in data["ramp"]][::6] == ["#F3F7FC", "#123F75"]
    assert [mark for _, mark in data["scale"]["swatches"]] == ["0", "0.1", "2", "5", "15", "40", "85 +"]


def test_linear_and_logarithmic_scales_end_at_the_largest_cell_outside_the_crossed_one() -> None:
    linear = read_by_browser(matrix_data(CLASSES, Matrices(PIXELS, 1), "pixels", "linear"))
    assert linear["level"][2][2] == 32
    assert linear["scale"]["swatches"][-1] == [32, "100k"]
    # A cell that has something never has the colour of nothing.
    assert linear["level"][2][0] == 1
    log = read_by_browser(matrix_data(CLASSES, Matrices(PIXELS, 1), "pixels", "log"))
    assert log["level"][1][0] == round(32 * np.log(113) / np.log(100_000.5))
    joint = read_by_browser(matrix_data(CLASSES, Matrices(PIXELS, 1), "pixels", "linear", largest_pixels=200_000))
    assert joint["level"][2][2] == 16


@given(first=rows, second=rows, shows=st.sampled_from(list(SHOWS)), colour=st.sampled_from(COLOURS))
def test_more_is_never_paler(first: list[Box], second: list[Box], shows: matrix.Shows, colour: matrix.Colour) -> None:
    result = pixel.evaluate(side(first), side(second))
    data = read_by_browser(matrix_data(result.classes, result.whole.matrices, shows, colour))
    name = "recall" if shows == "pixels" and colour == "steps" else SHOWS[shows]
    values = getattr(result.whole.matrices, name)[0].ravel()[1:]
    levels = np.array(data["level"]).ravel()[1:]
    assert ((levels == -1) == np.isnan(values)).all()
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    assert (np.diff(levels[known][order]) >= 0).all()
    texts = np.array(data["text"]).ravel()[1:]
    if name == SHOWS[shows]:
        assert ((texts == "–") == ~known).all()
        assert ((texts == "0") == (values == 0.0)).all()
    assert all(re.fullmatch(r"–|<?\.?[0-9]+([.][0-9]+)?[k]?( [MG])?", text) for text in texts), texts


def test_a_difference_is_blue_where_the_first_is_better() -> None:
    first = np.array([[np.nan, 0.2, 0.0], [0.1, 0.9, np.nan], [0.3, 0.0, 0.7]])
    second = np.array([[np.nan, 0.1, 0.0], [0.3, 0.7, 0.5], [0.3, 0.00001, 0.7]])
    data = read_by_browser(difference_data(MatrixDifference(CLASSES, first, second), "row", "steps"))
    assert data["text"] == [["–", "+10.0", "0"], ["−20.0", "+20.0", "–"], ["0", "±0.0", "0"]]
    middle = 6
    # More confusion of the background is bad for the first, less of the table and more on the diagonal is good.
    assert data["level"] == [[-1, middle - 3, middle], [middle + 4, middle + 4, -1], [middle, middle, middle]]
    assert data["facts"]["gain"][1] == [1, 1, 0]
    assert [mark for _, mark in data["scale"]["swatches"]][5:8] == ["0.1", "0", "0.1"]


@given(truth=rows, first=rows, second=rows, shows=st.sampled_from(list(SHOWS)), colour=st.sampled_from(COLOURS))
def test_a_difference_turned_round_changes_sides(
    truth: list[Box], first: list[Box], second: list[Box], shows: matrix.Shows, colour: matrix.Colour
) -> None:
    a, b = (pixel.evaluate(side(truth), side(predicted)).whole for predicted in (first, second))

    def data(one: PixelColumns, other: PixelColumns) -> dict[str, list[list[int]]]:
        shares = difference(one, other, "recall") if shows == "pixels" else None
        return read_by_browser(difference_data(difference(one, other, SHOWS[shows]), shows, colour, shares=shares))

    forth, back = data(a, b), data(b, a)
    middle = (len(forth["ramp"]) - 1) // 2
    levels, turned = np.array(forth["level"]), np.array(back["level"])
    assert ((levels < 0) == (turned < 0)).all()
    assert (levels[levels >= 0] + turned[levels >= 0] == 2 * middle).all()


@pytest.mark.parametrize("steps", [True, False])
def test_every_cell_can_be_read_in_both_themes(steps: bool) -> None:
    for ink in (*matrix._ramp(steps), *matrix._two_sided(steps)):
        fill, text, dark_fill, dark_text = ink
        assert contrast(fill, text) >= 4.5
        assert contrast(dark_fill, dark_text) >= 4.5


def test_pixels_in_little_room() -> None:
    pixels = 9.94, 9.96, 99.6, 999.4, 99_940.0, 99_960.0, 3e9
    assert [short_pixels(each) for each in pixels] == ["9.9", "10", "100", "999", "99.9k", "100k", "3.0 G"]
