"""Confidence metrics against scikit-learn, stickler-eval and paper."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.confidence import (
    Confidence,
    auroc,
    bin_of,
    brier,
    calibration,
    least_confident,
    review_budgets,
    review_curve,
    review_sentence,
    reviewed_count,
)

# AUROC of scikit-learn 1.9.1, Brier of numpy, the rest of stickler-eval 1.0.0; see tests/oracles/README.md.
CASES = json.loads((Path(__file__).parents[1] / "oracles" / "stickler" / "_confidence_metrics.json").read_text())
# Whether a value is right, and its confidence in tenths. A byte is one draw, where a pair takes three.
values = st.binary(max_size=40).map(lambda drawn: [(byte % 2 == 1, byte // 2 % 11 / 10) for byte in drawn])


def columns(pairs: Any) -> tuple[Any, Any]:
    return np.array([right for right, _ in pairs], dtype=bool), np.array([c for _, c in pairs], dtype=np.float64)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_metric_equals_the_reference(case: dict[str, Any]) -> None:
    right, confidence = columns(case["pairs"])
    numbers, expected = Confidence(right, confidence).to_json(), case["expected"]
    for ours, theirs in (("auroc", "auroc"), ("brier", "brier_score"), ("ece", "ece")):
        value = expected[theirs]["value"]
        assert numbers[ours] == (None if value is None else pytest.approx(value, rel=0, abs=1e-12))
    assert len(numbers["bins"]) == len(expected["ece"]["bins"])
    for ours, theirs in zip(numbers["bins"], expected["ece"]["bins"], strict=True):
        assert (ours["range"], ours["count"]) == (theirs["range"], theirs["count"])
        means = (ours["accuracy"], ours["mean_confidence"])
        if theirs["count"]:
            assert means == pytest.approx((theirs["accuracy"], theirs["mean_confidence"]), rel=0, abs=1e-12)
        else:  # the reference writes 0 where nothing is defined
            assert means == (None, None)
    budgets = expected["error_capture_at_budget"]["budgets"]
    assert numbers["review_budget"].keys() == budgets.keys()
    for name, row in budgets.items():
        assert numbers["review_budget"][name] == pytest.approx(row, rel=0, abs=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_auroc_and_brier_equal_scikit_learn(case: dict[str, Any]) -> None:
    right, confidence = columns(case["pairs"])
    for name, ours in (("auroc", auroc(right, confidence)), ("brier", brier(right, confidence))):
        expected = (case["sklearn"] or {}).get(name)
        if expected is not None:
            assert ours == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if "ece_5bins" in case["expected"]], ids=lambda c: c["name"])
def test_five_bins_equal_the_reference(case: dict[str, Any]) -> None:
    right, confidence = columns(case["pairs"])
    ours, expected = calibration(right, confidence, bins=5), case["expected"]["ece_5bins"]
    if expected["value"] is None:
        assert math.isnan(ours.error)
        return
    assert ours.error == pytest.approx(expected["value"], rel=0, abs=1e-12)
    assert ours.count.tolist() == [row["count"] for row in expected["bins"]]


def test_a_bin_holds_its_lower_edge_and_the_last_one_both() -> None:
    edges = np.array([0.0, 0.1, 0.2, 0.3, 0.7, 0.9, 1.0])
    calibrated = calibration(np.ones(7, dtype=bool), edges, bins=10)
    assert calibrated.count.tolist() == [1, 1, 1, 1, 0, 0, 0, 1, 0, 2]
    assert calibrated.mean_confidence[9] == 0.95
    assert np.isnan(calibrated.accuracy[4])


def test_by_hand() -> None:
    right, confidence = columns([(True, 0.9), (False, 0.8), (True, 0.8), (False, 0.2)])
    # Four pairs of a right and a wrong value: one tie, three won.
    assert auroc(right, confidence) == 3.5 / 4
    assert brier(right, confidence) == pytest.approx((0.01 + 0.64 + 0.04 + 0.04) / 4)
    # Bin .2: gap .2 with weight 1/4; bin .8: accuracy 1/2, gap .3, weight 2/4; bin .9: gap .1, weight 1/4.
    assert calibration(right, confidence, bins=10).error == pytest.approx(0.05 + 0.15 + 0.025)
    assert review_curve(right, confidence).tolist() == [0, 1, 2, 2, 2]
    (half,) = review_budgets(right, confidence, [0.5])
    assert half == (0.5, 2, 2, 1.0, 0.5, 2.0)


def test_nothing_is_undefined_and_not_zero() -> None:
    nothing = Confidence(*columns([]))
    assert nothing.to_json() == {"auroc": None, "brier": None, "ece": None, "bins": [], "review_budget": {}}
    assert len(nothing) == 0
    assert Confidence(*columns([(True, 0.5)])).to_json()["auroc"] is None


def test_what_stands_for_an_empty_bin_can_be_chosen() -> None:
    confidence = Confidence(*columns([(True, 0.5)]))
    assert [row["accuracy"] for row in confidence.to_json()["bins"]].count(None) == 9
    assert [row["accuracy"] for row in confidence.to_json(empty_bin=0.0)["bins"]] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("budget", [0.0, -0.1, 1.5, math.nan])
def test_a_budget_out_of_range_is_refused(budget: float) -> None:
    with pytest.raises(ValueError, match=r"^a budget must be in \(0, 1\]; found "):
        review_budgets(*columns([(True, 0.5)]), [0.1, budget])


def test_no_bins_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^bins must be at least 1; found 0$"):
        calibration(*columns([(True, 0.5)]), bins=0)


@given(pairs=values)
def test_auroc_is_the_share_of_pairs_in_order(pairs: list[tuple[bool, float]]) -> None:
    right = [c for is_right, c in pairs if is_right]
    wrong = [c for is_right, c in pairs if not is_right]
    area = auroc(*columns(pairs))
    if not right or not wrong:
        assert math.isnan(area)
        return
    won = sum((one > other) + 0.5 * (one == other) for one in right for other in wrong)
    assert area == pytest.approx(won / (len(right) * len(wrong)), abs=1e-12)


@given(pairs=values, seed=st.integers(0, 10**6))
def test_the_order_of_values_does_not_matter(pairs: list[tuple[bool, float]], seed: int) -> None:
    shuffled = random.Random(seed).sample(pairs, len(pairs))
    one, other = Confidence(*columns(pairs)).to_json(), Confidence(*columns(shuffled)).to_json()
    for name in ("auroc", "brier", "ece"):
        assert one[name] == pytest.approx(other[name], abs=1e-12)


@given(pairs=values)
def test_a_review_of_everything_finds_everything(pairs: list[tuple[bool, float]]) -> None:
    right, confidence = columns(pairs)
    curve = review_curve(right, confidence)
    assert len(curve) == len(pairs) + 1
    assert (np.diff(curve) >= 0).all()
    assert curve[-1] == (~right).sum()
    for row in review_budgets(right, confidence, [1.0]):
        assert (row.caught, row.at_random, row.gain) == (1.0, 1.0, 1.0)


# --- reviews -------------------------------------------------------------------------------------------------


@given(values, st.integers(1, 100).map(lambda percent: percent / 100))
def test_the_least_sure_are_those_that_the_budget_counts(pairs: Any, budget: float) -> None:
    right, confidence = columns(pairs)
    rows = least_confident(confidence, budget)
    budgets = review_budgets(right, confidence, (budget,))
    if budgets:
        assert len(rows) == budgets[0].reviewed
        assert int((~right[rows]).sum()) == budgets[0].errors_found
    assert len(rows) == reviewed_count(len(right), budget)
    others = np.setdiff1d(np.arange(len(right)), rows)
    assert not len(rows) or not len(others) or confidence[rows].max() <= confidence[others].min()


@given(values, st.integers(1, 12))
def test_bins_hold_their_lower_edge(pairs: Any, bins: int) -> None:
    _, confidence = columns(pairs)
    edges = np.arange(bins + 1) / bins
    for value, row in zip(confidence, bin_of(confidence, bins=bins), strict=True):
        assert edges[row] <= value
        assert value < edges[row + 1] or (row == bins - 1 and value == 1.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            (0, 1, 9),
            "Review the least confident 20 % and you catch 67 % of the errors: 2 of 3 in 2 of 10 values; "
            "at random 20 %.",
        ),
        ((), "All 10 values with a confidence are right: a review would catch no error."),
    ],
)
def test_what_a_review_finds_in_words(wrong: tuple[int, ...], sentence: str) -> None:
    right = np.array([place not in wrong for place in range(10)])
    rows = review_budgets(right, np.arange(10) / 10, (0.2,))
    assert review_sentence(rows[0] if rows else None, errors=len(wrong), total=10) == sentence


def test_a_review_of_nothing_in_words() -> None:
    assert (
        review_sentence(None, errors=0, total=0)
        == "No value has a confidence, so values cannot be ordered for a review."
    )
    assert reviewed_count(0, 0.5) == 0
    assert reviewed_count(3, 0.1) == 1
