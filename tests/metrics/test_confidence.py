"""Confidence metrics against scikit-learn, stickler-eval and paper."""

import json
import math
import random
from functools import partial
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
def test_every_metric_equals_the_reference_and_scikit_learn(case: dict[str, Any]) -> None:
    right, confidence = columns(case["pairs"])
    expected, close = case["expected"], partial(pytest.approx, rel=0, abs=1e-12, nan_ok=True)
    # The reference writes 0 where nothing is defined.
    numbers = Confidence(right, confidence).to_json(empty_bin=0.0)
    for ours, theirs in (("auroc", "auroc"), ("brier", "brier_score"), ("ece", "ece")):
        value = expected[theirs]["value"]
        assert numbers[ours] == (None if value is None else close(value))
        of_sklearn = (case["sklearn"] or {}).get(ours)
        assert of_sklearn is None or numbers[ours] == close(of_sklearn)
    for ours, theirs in zip(numbers["bins"], expected["ece"]["bins"], strict=True):
        assert (ours.pop("range"), ours) == (theirs.pop("range"), close(theirs))
    budgets = expected["error_capture_at_budget"]["budgets"]
    assert numbers["review_budget"] == {name: close(row) for name, row in budgets.items()}
    if five := expected.get("ece_5bins"):
        calibrated = calibration(right, confidence, bins=5)
        assert calibrated.error == close(math.nan if five["value"] is None else five["value"])
        assert five["value"] is None or calibrated.count.tolist() == [row["count"] for row in five["bins"]]


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


def test_what_is_out_of_range_is_refused() -> None:
    for budget in (0.0, -0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match=r"^a budget must be in \(0, 1\]; found "):
            review_budgets(*columns([(True, 0.5)]), [0.1, budget])
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


@given(pairs=values, budget=st.integers(1, 100).map(lambda percent: percent / 100))
def test_a_budget_counts_the_errors_of_the_least_sure(pairs: list[tuple[bool, float]], budget: float) -> None:
    right, confidence = columns(pairs)
    curve = review_curve(right, confidence)
    assert (len(curve), curve[-1]) == (len(pairs) + 1, (~right).sum())
    assert (np.diff(curve) >= 0).all()
    rows = least_confident(confidence, budget)
    assert len(rows) == reviewed_count(len(right), budget)
    for some, whole in zip(*(review_budgets(right, confidence, [share]) for share in (budget, 1.0)), strict=True):
        assert (some.reviewed, some.errors_found) == (len(rows), (~right[rows]).sum())
        assert (whole.caught, whole.at_random, whole.gain) == (1.0, 1.0, 1.0)
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
    ("wrong", "total", "sentence"),
    [
        ((0, 1, 9), 10, "Review the least confident 20 % and you catch 67 % of the errors: 2 of 3 in 2 of 10 values; "
         "at random 20 %."),
        ((), 10, "All 10 values with a confidence are right: a review would catch no error."),
        ((), 0, "No value has a confidence, so values cannot be ordered for a review."),
    ],
)  # fmt: skip
def test_what_a_review_finds_in_words(wrong: tuple[int, ...], total: int, sentence: str) -> None:
    right = np.array([place not in wrong for place in range(total)], dtype=bool)
    rows = review_budgets(right, np.arange(total) / 10, (0.2,))
    assert review_sentence(rows[0] if rows else None, errors=len(wrong), total=total) == sentence
    assert (reviewed_count(0, 0.5), reviewed_count(3, 0.1)) == (0, 1)
