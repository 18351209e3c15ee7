"""Curves and scatters: selections with their names, gaps where a ratio is undefined, labels that stay data."""

from typing import Any

import numpy as np
import pytest

from evaluator.charts import curves
from evaluator.metrics.results import ScoreCurve
from tests.charting import specification

STEPS = np.arange(5) / 4
# Two labels, five thresholds: 4 of 5 predictions match at 0, none is left at 1.
CURVE = ScoreCurve(
    threshold=STEPS,
    labels=("a:Q", "Table"),
    tp=np.array([[2, 2], [2, 1], [1, 1], [0, 1], [0, 0]]),
    predictions=np.array([[3, 2], [2, 1], [1, 1], [0, 1], [0, 0]]),
    ground_truth=np.array([4, 4]),
)


def rows(chart: Any, layer: int) -> list[dict[str, Any]]:
    drawn = specification(chart)
    name = drawn["layer"][layer]["data"]["name"] if "data" in drawn["layer"][layer] else drawn["data"]["name"]
    return list(drawn["datasets"][name])


def parameters(chart: Any) -> list[str]:
    return [param["name"] for param in specification(chart)["params"]]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("label", "values"),
    [
        # Without predictions there is no precision, but a recall of 0.
        (None, {"Precision 0.0": 4 / 5, "Recall 0.25": 3 / 8, "F1 0.5": 0.4, "Precision 1.0": None, "Recall 1.0": 0.0}),
        ("a:Q", {"Precision 0.0": 2 / 3, "Recall 0.0": 2 / 4}),
    ],
)
def test_against_the_score_by_hand(label: str | None, values: dict[str, float | None], dark: bool) -> None:
    chart = curves.against_score({"A": CURVE}, {"A": 0.25}, label=label, baseline="A", dark=dark)
    points = {f"{row['measure']} {row['score']}": row["value"] for row in rows(chart, 0)}
    assert {point: points[point] for point in values} == pytest.approx(values)
    assert [row["score"] for row in rows(chart, 1)] == [0.25]
    assert parameters(chart) == ["score"]


def test_precision_against_recall_leaves_out_what_is_undefined_and_marks_the_moment() -> None:
    chart = curves.precision_recall(
        {"A": CURVE, "B": CURVE}, {"A": 0.25, "B": 0.5}, label=None, baseline="A", dark=False
    )
    points = [row for row in rows(chart, 0) if row["model"] == "A"]
    assert [row["score"] for row in points] == [0.0, 0.25, 0.5, 0.75]
    assert [(row["model"], row["score"]) for row in rows(chart, 2)] == [("A", 0.25), ("B", 0.5)]
    assert parameters(chart) == ["point"]


def test_the_scatter_tells_matched_pairs_from_mistakes_by_shape_too() -> None:
    chart = curves.coverage_purity(np.array([1.0, 0.4]), np.array([0.9, 1.0]), [True, False], dark=True)
    drawn = specification(chart)
    assert [row["pair"] for row in rows(chart, 0)] == ["matched", "mistake"]
    assert drawn["layer"][0]["encoding"]["shape"]["scale"]["range"] == ["circle", "cross"]
    assert parameters(chart) == ["fit"]


def test_a_curve_of_nothing_is_an_empty_chart() -> None:
    none = np.zeros((5, 1), dtype=int)
    of_none = {"A": ScoreCurve(STEPS, ("a",), none, none, none[0])}
    chart = curves.precision_recall(of_none, {"A": 0.0}, label=None, baseline="A", dark=False)
    assert specification(chart)["layer"]
    chart = curves.against_score(of_none, {"A": 0.0}, label=None, baseline="A", dark=False)
    assert rows(chart, 0)[0]["value"] is None
