"""The tolerant score of split and merged boxes: every group of the oracle, by every protocol that pairs boxes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.matching.tolerant import tolerant
from evaluator.protocols import PROTOCOLS
from tests.building import LABELS, annotations, box, ground_truth

ORACLE = json.loads(
    (Path(__file__).resolve().parents[1] / "oracles" / "reading" / "s01_split_and_merge.json").read_bytes()
)
SIDE = 500.0


def result_of(
    truth: list[list[float]], predicted: list[list[float]], protocol: str = "snapshot", **options: Any
) -> Any:
    """One page and one label; boxes in pixels of a page of 500 by 500."""
    sides = [[box(*(edge / SIDE for edge in each), score=0.5) for each in boxes] for boxes in (truth, predicted)]
    system = PROTOCOLS[protocol]
    chosen = system.options(**{"iou": (0.5,), "tolerant": True, **options})
    (evaluation,) = system.evaluate(ground_truth(sides[0]), [annotations(sides[1])], chosen)
    return evaluation.result


def near(value: Any) -> Any:
    return None if value is None else pytest.approx(value["value"], abs=1e-12)


@pytest.mark.parametrize("case", ORACLE["covers"])
@pytest.mark.parametrize("protocol", ["snapshot", "coco"])
def test_the_groups_of_an_oracle(case: str, protocol: str) -> None:
    sides, expected = ORACLE["input"][case], ORACLE["expected"][case]
    result = result_of(sides["ground_truth"], sides["prediction"], protocol)
    score = result.to_json()["tolerant"]["0.5"]
    wanted = expected["tolerant"]
    assert {name: score[name] for name in wanted} == {
        name: near(value) if name in ("precision", "recall", "f1") else value for name, value in wanted.items()
    }
    groups = [
        {name: group[name] for name in ("kind", "iou", "ground_truth", "predictions")} for group in score["groups"]
    ]
    assert groups == [{**group, "iou": near(group["iou"])} for group in expected["groups"]]
    strict, own = expected["strict"], result.first.per_label.micro.row(0)
    assert (own["tp"], own["recall"]) == (strict["tp"], near(strict["recall"]))


def test_a_group_is_of_one_label_and_page_and_of_boxes_that_take_part() -> None:
    truth = [box(0.0, 0.0, 0.2, 0.2)]
    halves = [box(0.0, 0.0, 0.2, 0.1, score=0.9), box(0.0, 0.1, 0.2, 0.2, score=0.2)]
    system = PROTOCOLS["snapshot"]

    def groups(predicted: list[Any], **options: Any) -> int:
        chosen = system.options(iou=(0.6,), **options)
        (evaluation,) = system.evaluate(ground_truth(truth), [annotations(predicted)], chosen)
        return len(tolerant(evaluation.result.first).groups)

    assert groups(halves) == 1
    assert groups(halves, min_score=0.5) == 0
    other = [halves[0], halves[1]._replace(label=LABELS[1])]
    assert groups(other) == 0
    assert groups([halves[0], halves[1]._replace(page=1)]) == 0


SIDES = st.lists(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8)), min_size=2, max_size=2), max_size=6)


@settings(max_examples=60, deadline=None)
@given(SIDES, SIDES)
def test_it_is_never_below_the_strict_score(truth: list[Any], predicted: list[Any]) -> None:
    def boxes(sides: list[Any]) -> list[list[float]]:
        return [[20.0 * x, 20.0 * y, 20.0 * (x + width), 20.0 * (y + height)] for (x, width), (y, height) in sides]

    result = result_of(boxes(truth), boxes(predicted))
    strict, score = result.first.per_label.micro.row(0), tolerant(result.first)
    for name in ("precision", "recall", "f1"):
        own, below = getattr(score, name), strict[name]
        assert (own is None) == (below is None)
        assert own is None or own >= below - 1e-12
    members = [group.ground_truth for group in score.groups], [group.predictions for group in score.groups]
    for rows in members:
        every = [row for group in rows for row in group]
        assert len(every) == len({*every})


def test_it_stands_below_the_result_and_is_refused_for_outlines() -> None:
    result = result_of([[0, 0, 100, 100]], [[0, 0, 100, 48], [0, 52, 100, 100]])
    (table,) = result.tables_beside()
    assert table.columns == ("iou_threshold", "score", "precision", "recall", "f1", "split", "merged")
    assert table.rows == ((0.5, "strict", 0.0, 0.0, 0.0, None, None), (0.5, "tolerant", 1.0, 1.0, 1.0, 1, 0))
    assert result_of([[0, 0, 9, 9]], [], tolerant=False).tables_beside() == ()
    with pytest.raises(ValueError, match="--tolerant is about boxes; leave out --polygons"):
        result_of([], [], polygons=True)
