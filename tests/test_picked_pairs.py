"""Results that pick their matches from kept pairs: after any walk over thresholds what fresh pairs give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.box_results import SCORE_STEPS, BoxResult, counts_at_steps
from evaluator.metrics.box_scores import box_calibrations
from evaluator.metrics.picked_pairs import PickedResult, Tally
from evaluator.metrics.results import Fit
from evaluator.model.dataset import join
from evaluator.protocols import coco, snapshot
from tests.building import annotations, ground_truth, plain_curve, random_rows
from tests.test_protocol_coco import random_set, read_pair

WALK = (
    (0.5, 0.0),
    (0.51, 0.0),
    (0.5, 0.3),
    (0.75, 0.3),
    (0.74, 0.0),
    (1.0, 0.0),
    (0.55, 0.02),
    (0.56, 0.02),
    (0.5, 0.0),
)
COLUMNS = ("tp", "fp", "fn", *(f"mean_{name}" for name in get_args(Fit)))


def from_snapshot(seed: int) -> Callable[[], Any]:
    truth, predicted = random_rows(seed, documents=6, per_page=(1.0, 4.0, 9.0)[seed % 3])
    dataset = join(ground_truth(truth), annotations(predicted))
    return lambda: snapshot.pair(dataset)


def from_coco(seed: int) -> Callable[[], Any]:
    files = random_set(seed, images=8, per_image=5.0, crowds=(0.0, 0.3)[seed % 2], scores=(4, 50, 1000)[seed % 3])
    dataset = join(*read_pair(*files))
    return lambda: coco.pair(dataset)


def plain_values(result: BoxResult[Any]) -> dict[str, Any]:
    """Everything of a result that is counted over pairs, as the arrays of the plain definitions."""
    tables = {name: getattr(result, name) for name in ("micro", "per_label", "per_page", "per_document")}
    values: dict[str, Any] = {
        f"{name} {column}": getattr(table, column) for name, table in tables.items() for column in COLUMNS
    }
    values |= {name: getattr(result.matches, name) for name in ("prediction", "ground_truth", *get_args(Fit))}
    names = ("truth_partner", "prediction_partner", "false_positives", "false_negatives", "counting_predictions")
    values |= {name: getattr(result, name) for name in names}
    return values


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("made", [from_snapshot, from_coco])
def test_any_walk_over_thresholds_gives_what_fresh_pairs_give(made: Callable[[int], Any], seed: int) -> None:
    fresh_pairs = made(seed)
    pairs = fresh_pairs()
    matchings: dict[float, Any] = {}
    for iou, score in WALK:
        matching = matchings.setdefault(score, pairs.match(min_score=score))
        result, fresh = matching.at(iou), fresh_pairs().match(min_score=score).at(iou)
        assert isinstance(result, PickedResult)
        one, other = plain_values(result), plain_values(fresh)
        for name, values in one.items():
            assert values.dtype == other[name].dtype, name
            np.testing.assert_array_equal(values, other[name], err_msg=name)
        some = np.random.default_rng(seed)
        for side, partner in (("ground_truth", fresh.truth_partner), ("prediction", fresh.prediction_partner)):
            rows = some.integers(0, len(partner), 9)
            np.testing.assert_array_equal(result.partners(side, rows), partner[rows])
            np.testing.assert_array_equal(BoxResult.partners(fresh, side, rows), partner[rows])
        # Picked from the pairs and added up as the plain definitions say.
        by_hand = (result.matching.dataset.ground_truth.label, matching.prediction.label, len(pairs.dataset.labels))
        table = result._by(*by_hand).take(matching.label_codes)
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(result.per_label, column), getattr(table, column))
        assert plain_curve(result.score_curve()) == plain_curve(fresh.score_curve())
        np.testing.assert_array_equal(result.right_in_bins, BoxResult.right_in_bins.fget(fresh))  # type: ignore[attr-defined]
        np.testing.assert_array_equal(result.right_at_steps, BoxResult.right_at_steps.fget(fresh))  # type: ignore[attr-defined]
        predictions = result.right_at_steps + pairs.at_steps(
            np.isin(np.arange(len(matching.prediction)), one["false_positives"])
        )
        np.testing.assert_array_equal(result.predictions_at_steps, predictions)
        bins, wanted = box_calibrations(result), box_calibrations(fresh)
        assert {label: each and each.count.tolist() for label, each in bins.items()} == {
            label: each and each.count.tolist() for label, each in wanted.items()
        }


@given(st.lists(st.integers(0, 4), max_size=40), st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=6))
def test_a_tally_counts_each_choice(codes: list[int], choices: list[int]) -> None:
    code = np.array(codes, dtype=np.int64)
    tally = Tally(code, 5)
    for choice in choices:
        chosen = np.array([bool(choice >> place & 1) for place in range(len(codes))], dtype=bool)
        for _ in range(2):
            counts = tally.of(chosen)
            assert counts.tolist() == [
                sum(codes[place] == each for place in np.flatnonzero(chosen)) for each in range(5)
            ]
        with pytest.raises(ValueError, match="read-only"):
            counts[0] = 1


def test_counts_at_score_steps_without_labels() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert counts_at_steps(nothing, nothing, 0).shape == (len(SCORE_STEPS), 0)
