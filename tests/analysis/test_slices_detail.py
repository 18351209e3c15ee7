"""A slice looked at closely: its numbers are counts of boxes, its intervals those of resampled documents."""

import numpy as np
import pytest

from evaluator.analysis.slices.conditions import Condition
from evaluator.analysis.slices.detail import Estimate, detail_of, overall
from evaluator.analysis.slices.measure_values import MEASURES, WORDS, Measure, box_values, tables_of
from evaluator.analysis.slices.slices import Part, Slice, attribute_table, find_slices
from evaluator.components.slices.rows import overall_words
from evaluator.matching.box_results import AnyBoxResult
from tests.sample_part import sample_results


@pytest.fixture
def results() -> list[AnyBoxResult]:
    return list(sample_results())


def slice_of(conditions: tuple[Condition, ...], result: AnyBoxResult, measure: Measure = "recall") -> Slice:
    """A slice by its conditions alone; its own numbers are not used."""
    parts = []
    for origin, every in tables_of(box_values([result], measure), score=False).items():
        table = attribute_table(every)
        held = sum(each.holds(table[each.attribute]).astype(np.uint8) << place for place, each in enumerate(conditions))
        parts.append(Part(origin, np.empty(0, np.int64), np.asarray(held, np.uint8)))
    return Slice(conditions, measure, WORDS[measure], 0.0, 0.0, 0, 0, 0.0, 0.0, False, None, tuple(parts))


def test_the_numbers_of_a_found_slice_are_those_of_the_search(results: list[AnyBoxResult]) -> None:
    for one in find_slices(results[:1]).slices:
        detail = detail_of(one, results)
        model = detail.models[0]
        assert (model.here.value, model.rest.value) == pytest.approx((one.value, one.rest))
        assert (model.boxes, model.lost) == pytest.approx((one.boxes, one.lost))
        assert sum(cell.boxes[0] for cell in detail.cells if cell.of_slice) == one.boxes


def test_each_model_is_counted_on_the_same_boxes(results: list[AnyBoxResult]) -> None:
    label, low = Condition("label", "==", "Text"), Condition("y", ">=", 0.5)
    detail = detail_of(slice_of((label, low), results[0]), results)
    side = results[0].matching.dataset.ground_truth
    text = side.label == results[0].matching.dataset.labels.index("Text")
    lower = (side.xyxy[:, 1] + side.xyxy[:, 3]) / 2 >= 0.5
    assert detail.base == "Text"
    assert [factor.yes for factor in detail.factors] == ["centre from the top 50 % of the page or more"]
    assert [factor.no for factor in detail.factors] == ["centre from the top below 50 % of the page"]
    for place, result in enumerate(results):
        right, counted = result.truth_partner >= 0, result.matching.truth_counts
        here, rest = text & lower & counted, text & ~lower & counted
        model = detail.models[place]
        assert (model.right, model.boxes) == (int(right[here].sum()), int(here.sum()))
        assert model.rest.value == pytest.approx(right[rest].mean())
        assert detail.cells[0].models[place].value == model.rest.value
        assert detail.cells[1].models[place] == model.here
        assert model.here.low is not None
        assert model.here.high is not None
        assert 0.0 <= model.here.low <= (model.here.value or 0.0) <= model.here.high <= 1.0


def test_two_factors_have_four_cells_that_add_up(results: list[AnyBoxResult]) -> None:
    conditions = (Condition("x", "<", 0.5), Condition("y", ">=", 0.5), Condition("y", "<", 0.9))
    detail = detail_of(slice_of(conditions, results[0]), results)
    assert len(detail.factors) == 2
    assert detail.factors[1].no == "other y"
    assert [cell.holds for cell in detail.cells] == [(False, False), (False, True), (True, False), (True, True)]
    assert sum(cell.boxes[0] for cell in detail.cells) == int(results[0].matching.truth_counts.sum())
    neither, second, first, both = (cell.models[0].value or 0.0 for cell in detail.cells)
    assert detail.alone == (
        f"Against neither, in points: {detail.factors[0].yes} alone {100 * (first - neither):+.1f}; "
        f"{detail.factors[1].yes} alone {100 * (second - neither):+.1f}; both {100 * (both - neither):+.1f}.".replace(
            " -", " \N{MINUS SIGN}"
        )
    )


def test_what_no_box_has_is_undefined(results: list[AnyBoxResult]) -> None:
    detail = detail_of(slice_of((Condition("label", "==", "Nothing of the kind"),), results[0]), results)
    assert detail.models[0].here == Estimate(None)
    assert detail.models[0].difference == Estimate(None)
    assert detail.models[0].lost == 0.0
    assert [cell.holds for cell in detail.cells] == [(False,)]


def test_measures_over_all_boxes_are_those_of_the_results(results: list[AnyBoxResult]) -> None:
    every = [overall(measure, results, results[1:]) for measure in MEASURES]
    for measure, each in zip(MEASURES, every, strict=True):
        known = [float(getattr(results[place].micro, measure)[0]) for place in each.places]
        assert list(each.values) == pytest.approx(known)
    assert [each.places for each in every] == [(0, 1), (1,), (1,), (0, 1), (0, 1), (0, 1)]
    assert overall_words(every[:2], "AB") == (
        f"Recall A {every[0].values[0]:.3f}, B {every[0].values[1]:.3f} · precision B {every[1].values[0]:.3f}"
    )


def test_a_measure_over_no_box_is_not_known(results: list[AnyBoxResult]) -> None:
    nothing = [each.matching.pairs.match(min_score=2.0).at(0.5) for each in results]
    assert not nothing[0].matching.prediction_counts.any()
    values = [overall(measure, nothing, nothing[:1]) for measure in ("precision", "recall")]
    assert values[0].values == (None,)
    assert overall_words(values, "AB") == "Precision A n/a · recall A 0.000, B 0.000"
