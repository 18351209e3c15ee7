"""The chart of pixel F1: lowest first, labels stay data, both themes."""

import numpy as np
import pytest

from evaluator.charts import pixel as charts
from evaluator.charts import theme
from tests.charting import specification
from tests.charts.test_charts import HOSTILE, rows_of

CLASSES = ("Background", "Table", "Text", "Title")
A = np.array([0.9, 0.5, np.nan, 0.7])
B = np.array([0.95, 0.6, np.nan, 0.2])


def test_the_lowest_of_any_model_comes_first_and_undefined_is_left_out() -> None:
    assert charts.lowest_f1(CLASSES, {"A": A}) == [1, 3, 0]
    assert charts.lowest_f1(CLASSES, {"A": A, "B": B}) == [3, 1, 0]
    assert charts.lowest_f1(CLASSES, {"A": A}, top=1) == [1]
    assert charts.lowest_f1(CLASSES, {"A": np.full(4, np.nan)}) == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("f1", [{"A": A}, {"A": A, "B": B}, {"B": B}, {"A": np.full(4, np.nan)}])
def test_bars_are_the_numbers(f1: dict[str, np.ndarray], dark: bool) -> None:
    spec = specification(charts.f1_by_class(CLASSES, f1, baseline="A", dark=dark, height=300))
    rows = rows_of(spec)
    expected = {(name, letter): values[row] for letter, values in f1.items() for row, name in enumerate(CLASSES)}
    assert {(row["label"], row["model"]): row["f1"] for row in rows} == {
        key: value for key, value in expected.items() if not np.isnan(value)
    }
    colours = theme.palette(dark=dark, baseline="A")
    bars, numbers = spec["layer"]
    assert bars["encoding"]["color"]["scale"]["range"] == [colours.of(letter) for letter in f1]
    assert numbers["mark"]["color"] == colours.text
    assert spec["height"] <= 300


def test_labels_stay_data() -> None:
    f1 = {"A": np.linspace(0, 1, len(HOSTILE))}
    spec = specification(charts.f1_by_class(HOSTILE, f1, baseline="A", dark=False, height=300, top=64))
    assert {row["label"] for row in rows_of(spec)} == set(HOSTILE)
    encodings = [value for layer in spec["layer"] for name, value in layer["encoding"].items() if name != "y"]
    assert not any(label in str(encodings) for label in HOSTILE if len(label) > 8)
