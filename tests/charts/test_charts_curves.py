"""Curves and scatters: selections with their names, gaps where a ratio is undefined, labels that stay data."""

from __future__ import annotations

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


@pytest.mark.parametrize("dark", [False, True])
def test_against_the_score_by_hand(dark: bool) -> None:
    chart = curves.against_score({"A": CURVE}, {"A": 0.25}, label=None, baseline="A", dark=dark)
    points = {(row["measure"], row["score"]): row["value"] for row in rows(chart, 0)}
    assert points["Precision", 0.0] == pytest.approx(4 / 5)
    assert points["Recall", 0.25] == pytest.approx(3 / 8)
    assert points["F1", 0.5] == pytest.approx(2 * 2 / (2 + 8))
    # Without predictions there is no precision, but a recall of 0.
    assert points["Precision", 1.0] is None
    assert points["Recall", 1.0] == 0.0
    assert [row["score"] for row in rows(chart, 1)] == [0.25]
    assert [param["name"] for param in specification(chart)["params"]] == ["score"]


def test_one_label_only() -> None:
    chart = curves.against_score({"A": CURVE}, {"A": 0.0}, label="a:Q", baseline="A", dark=False)
    points = {(row["measure"], row["score"]): row["value"] for row in rows(chart, 0)}
    assert points["Precision", 0.0] == pytest.approx(2 / 3)
    assert points["Recall", 0.0] == pytest.approx(2 / 4)


def test_precision_against_recall_leaves_out_what_is_undefined_and_marks_the_moment() -> None:
    chart = curves.precision_recall(
        {"A": CURVE, "B": CURVE}, {"A": 0.25, "B": 0.5}, label=None, baseline="A", dark=False
    )
    points = [row for row in rows(chart, 0) if row["model"] == "A"]
    assert [row["score"] for row in points] == [0.0, 0.25, 0.5, 0.75]
    assert [(row["model"], row["score"]) for row in rows(chart, 2)] == [("A", 0.25), ("B", 0.5)]
    assert [param["name"] for param in specification(chart)["params"]] == ["point"]


def test_the_scatter_tells_matched_pairs_from_mistakes_by_shape_too() -> None:
    chart = curves.coverage_purity(np.array([1.0, 0.4]), np.array([0.9, 1.0]), [True, False], dark=True)
    drawn = specification(chart)
    assert [row["pair"] for row in rows(chart, 0)] == ["matched", "mistake"]
    assert drawn["layer"][0]["encoding"]["shape"]["scale"]["range"] == ["circle", "cross"]
    assert [param["name"] for param in drawn["params"]] == ["fit"]


def test_a_curve_of_nothing_is_an_empty_chart() -> None:
    nothing = ScoreCurve(
        STEPS, ("a",), np.zeros((5, 1), dtype=int), np.zeros((5, 1), dtype=int), np.zeros(1, dtype=int)
    )
    chart = curves.precision_recall({"A": nothing}, {"A": 0.0}, label=None, baseline="A", dark=False)
    assert specification(chart)["layer"]
    assert (
        rows(curves.against_score({"A": nothing}, {"A": 0.0}, label=None, baseline="A", dark=False), 0)[0]["value"]
        is None
    )
