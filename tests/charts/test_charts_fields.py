"""Charts of extracted fields: specifications that validate, paths that stay data, points equal to the numbers."""

from typing import Any

import numpy as np
import pytest

from evaluator.charts import fields as charts
from evaluator.metrics.confidence import BINS, calibration, review_curve
from tests.charting import specification
from tests.charts.test_charts import HOSTILE, every_value, rows_of

IOU = (0.25, 0.5, 0.75)


def curve(*values: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def against_iou(every: Any, others: Any = (), *, current: float = 0.5, dark: bool = False) -> dict[str, Any]:
    chart = charts.ap_against_iou(IOU, every, dict(others), current=current, baseline="A", dark=dark)
    return specification(chart)


def parameters(drawn: dict[str, Any]) -> set[str]:
    return {param["name"] for params in every_value(drawn, "params") for param in params}


def bins(seed: int = 0, count: int = 300) -> Any:
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0, 1, count)
    return calibration(rng.uniform(0, 1, count) < confidence, confidence, bins=BINS)


@pytest.mark.parametrize("dark", [False, True])
def test_paths_are_cells_and_never_expressions(dark: bool) -> None:
    others = {name: curve(1.0, 0.5, 0.0) for name in HOSTILE}
    drawn = against_iou({"A": curve(1, 0.8, 0.2)}, others, dark=dark)
    assert {row["name"] for row in rows_of(drawn) if "name" in row} == set(HOSTILE)
    for name in ("field", "expr", "labelExpr", "test"):
        assert not set(every_value(drawn, name)) & set(HOSTILE)


def test_every_point_of_a_curve_is_its_number() -> None:
    drawn = against_iou({"A": curve(1, 0.8, 0.2), "B": curve(0.9, 0.7, np.nan)}, current=0.6)
    rows = [row for row in rows_of(drawn) if "model" in row and row["ap"] is not None]
    assert {(row["model"], row["iou"], row["ap"]) for row in rows} == {
        ("A", 0.25, 1.0), ("A", 0.5, 0.8), ("A", 0.75, 0.2), ("B", 0.25, 0.9), ("B", 0.5, 0.7),
    }  # fmt: skip
    assert {"iou": 0.6} in rows_of(drawn)
    assert "field" in parameters(drawn)
    assert rows_of(against_iou({}, dark=True)) == [{"iou": 0.5}]


@pytest.mark.parametrize("letters", [("A",), ("A", "B"), ("B",)])
@pytest.mark.parametrize("draw", [charts.reliability, charts.bin_counts])
def test_only_filled_bins_are_drawn(letters: tuple[str, ...], draw: Any) -> None:
    few = calibration(np.array([True, False, True]), np.array([0.05, 0.55, 1.0]), bins=BINS)
    drawn = specification(draw(dict.fromkeys(letters, few), baseline="A", dark=False))
    rows = {(row["model"], row["bin"], row["values"]) for row in rows_of(drawn) if "bin" in row}
    assert rows == {(letter, number, 1) for letter in letters for number in (0, 5, 9)}
    assert "bin" in parameters(drawn)


def test_bars_of_two_models_stand_side_by_side_in_their_bin() -> None:
    drawn = specification(charts.bin_counts({"A": bins(1), "B": bins(2)}, baseline="A", dark=True))
    rows = {(row["model"], row["bin"]): row for row in rows_of(drawn) if "bin" in row}
    for (model, number), row in rows.items():
        assert number / 10 <= row["left"] < row["right"] <= (number + 1) / 10 + 1e-9
        if model == "A" and ("B", number) in rows:
            assert row["right"] < rows["B", number]["left"]


def test_no_value_at_all_is_an_empty_chart() -> None:
    nothing = calibration(np.zeros(0, dtype=bool), np.zeros(0), bins=BINS)
    for draw in (charts.reliability, charts.bin_counts):
        drawn = specification(draw({"A": nothing}, baseline="A", dark=False))
        assert not [row for row in rows_of(drawn) if "bin" in row]


def test_the_review_curve_ends_with_every_error() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0, 1, 5_000)
    curve = review_curve(rng.uniform(0, 1, 5_000) < confidence, confidence)
    drawn = specification(charts.review_budget({"B": curve}, budget=0.2, baseline="A", dark=False))
    points = [(row["reviewed"], row["caught"]) for row in rows_of(drawn) if "model" in row]
    assert 100 < len(points) <= 201
    assert (points[0], points[-1]) == ((0.0, 0.0), (1.0, 1.0))
    caught = [share for _, share in points]
    assert caught == sorted(caught)


@pytest.mark.parametrize("curves", [{}, {"A": np.zeros(5, dtype=np.int64)}])
def test_a_model_without_an_error_has_no_line(curves: dict[str, Any]) -> None:
    drawn = specification(charts.review_budget(curves, budget=0.5, baseline="A", dark=False))
    assert not [row for row in rows_of(drawn) if "model" in row]
