"""One matrix minus another: worked numbers, classes that only one prediction has, which sign is good."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.protocols import pixel
from evaluator.protocols.pixel.difference import KINDS, difference, largest
from tests.building import Box
from tests.protocols.test_protocol_pixel import LABELS, fractions, rows, side


@given(truth=rows, first=rows, second=rows, kind=st.sampled_from(KINDS))
def test_it_is_the_difference_of_the_two_matrices(
    truth: list[Box], first: list[Box], second: list[Box], kind: str
) -> None:
    a, b = (pixel.evaluate(side(truth), side(predicted)) for predicted in (first, second))
    forth, back = difference(a.whole, b.whole, kind), difference(b.whole, a.whole, kind)
    expected = getattr(a.whole.matrices, kind)[0] - getattr(b.whole.matrices, kind)[0]
    assert forth.classes == a.classes
    assert np.array_equal(forth.values, expected, equal_nan=True)
    assert np.array_equal(back.values, -expected, equal_nan=True)
    assert (forth.gain == -back.gain).all()
    assert forth.limit == back.limit == largest(expected)
    none = difference(a.whole, a.whole, kind)
    assert none.limit == 0.0
    assert not none.gain.any()


@given(truth=rows, first=rows, second=rows)
def test_a_class_that_only_one_prediction_has_is_nothing_in_the_other(
    truth: list[Box], first: list[Box], second: list[Box]
) -> None:
    plain = [box for box in truth if box.label != "d"]
    only_first = [box for box in second if box.label not in ("c", "d")]
    labels = ("a", "b", "c"), LABELS, ("a", "b")
    reference, a, b = (side(boxes, names) for boxes, names in zip((plain, first, only_first), labels, strict=True))
    one, other = (pixel.evaluate(reference, change, classes="same") for change in (a, b))
    assert one.classes != other.classes
    # The same boxes under a label map that has every class.
    everywhere = pixel.evaluate(side(plain), side(only_first))
    for kind in KINDS:
        change = difference(one.whole, other.whole, kind)
        assert change.classes == one.classes
        assert np.array_equal(change.second, getattr(everywhere.whole.matrices, kind)[0], equal_nan=True)


def test_pixels_are_subtracted_exactly() -> None:
    truth = side([Box("x", 0, "a", (0, 0, 10, 10))])
    overlapping = [Box("x", 0, name, (0, 0, 10, 7)) for name in ("a", "b", "c")]
    a, b = (pixel.evaluate(truth, side(change)) for change in (overlapping, overlapping[1:]))
    change = difference(a.whole, b.whole, "confusion")
    exact = [
        [float(one - other) for one, other in zip(*lines, strict=True)]
        for lines in zip(fractions(a.whole.matrices), fractions(b.whole.matrices), strict=True)
    ]
    assert np.allclose(change.values, exact, rtol=1e-14)
    # 70 pixels of "a": a third stays, a third goes to each of the others; without "a" half goes to each.
    row = change.values[change.classes.index("a")]
    assert row.tolist() == pytest.approx([0.0, 70 / 3, 70 / 3 - 35, 70 / 3 - 35, 0.0])
    gain = change.gain[change.classes.index("a")].tolist()
    assert gain == [0, 1, 1, 1, 0]


def test_scopes_are_chosen_for_each() -> None:
    truth = side([Box("x", 0, "a", (0, 0, 4, 4)), Box("y", 1, "b", (0, 0, 4, 4))])
    result = pixel.evaluate(truth, truth)
    change = difference(result.per_page, result.per_page, "confusion", rows=(0, 3))
    assert change.values[1:3, 1:3].tolist() == [[16.0, 0.0], [0.0, -16.0]]
    assert change.limit == 16.0


def test_undefined_stays_undefined_and_is_no_gain() -> None:
    truth = side([Box("x", 0, "a", (0, 0, 4, 4))])
    result = pixel.evaluate(truth, truth)
    change = difference(result.whole, result.whole, "recall")
    assert np.isnan(change.values[2]).all()
    assert not change.gain[2].any()
    assert largest(np.full((2, 2), np.nan)) == 0.0
    assert largest(np.array([[7.0]])) == 0.0


def test_a_kind_that_does_not_exist() -> None:
    result = pixel.evaluate(side([]), side([]))
    with pytest.raises(ValueError, match="kind must be one of confusion, precision, recall, f1; found iou"):
        difference(result.whole, result.whole, "iou")


def test_the_first_side_has_a_score_threshold_of_its_own() -> None:
    low, high = Box("x", 0, "a", (0, 0, 4, 4), 0.2), Box("x", 0, "b", (4, 4, 8, 8), 0.9)
    result = pixel.evaluate(side([low, high]), side([low, high]), min_score=0.1, first_min_score=0.5)
    pixels = dict(zip(result.classes, result.whole.first_pixels[0].tolist(), strict=True))
    assert (pixels["a"], pixels["b"]) == (0, 16)
    assert result.whole.second_pixels[0, 1] == 16
    assert "score of the first side ≥ 0.50" in result.signature.line
