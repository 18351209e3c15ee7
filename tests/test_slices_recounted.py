"""Slices counted again at other thresholds: the numbers are those of a search there that finds the same conditions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.drawing.slices import overall_words, recounted_payload, slices_payload
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.model.dataset import Annotations, join
from evaluator.protocols.coco import evaluation as coco
from evaluator.protocols.snapshot import evaluation as snapshot
from evaluator.slices.all_measures import find_by_all_measures
from evaluator.slices.conditions import Condition, holding
from evaluator.slices.detail import detail_of
from evaluator.slices.measured import MEASURES, CountedBoxes, Measure, counted_of, tables_of
from evaluator.slices.recounted import Recounted
from evaluator.slices.slices import Part, Slice, Slices, attribute_table, find_slices
from tests.benchmarks.corpus import dln_like
from tests.dashboard import SAMPLE_DATA

# IoU threshold and minimum score: other matches, fewer predictions, and these again.
POINTS = ((0.5, 0.0), (0.62, 0.0), (0.62, 0.7), (0.5, 0.35))
NAMES = (("A", "a.json"), ("B", "b.json"))


def without(source: Annotations, name: str, rows: np.ndarray) -> Annotations:
    """A model without some of its boxes."""
    kept = np.flatnonzero(~rows)
    boxes = source.boxes
    columns = {each: getattr(boxes, each)[kept] for each in ("document", "page", "label", "xyxy", "entry", "position")}
    assert boxes.score is not None
    ids = [boxes.ids[row] for row in kept.tolist()]
    return dataclasses.replace(
        source, name=name, boxes=dataclasses.replace(boxes, **columns, score=boxes.score[kept], ids=ids)
    )


def planted() -> tuple[Annotations, Annotations, Annotations]:
    """A ground truth, a tenth of it ignored by COCO, and two models: one misses low texts, one draws beside lists."""
    truth, predicted = dln_like(240)
    rng = np.random.default_rng(5)
    crowd = rng.random(len(truth.boxes)) < 0.1
    truth = dataclasses.replace(truth, boxes=dataclasses.replace(truth.boxes, crowd=crowd))
    boxes = predicted.boxes
    missed = (boxes.label == 9) & (boxes.xyxy[:, 3] - boxes.xyxy[:, 1] < 0.03) & (rng.random(len(boxes)) < 0.5)
    beside = (boxes.label == 3) & (boxes.xyxy[:, 1] > 0.5) & (rng.random(len(boxes)) < 0.6)
    moved = boxes.xyxy + np.where(beside, 0.9 * (boxes.xyxy[:, 3] - boxes.xyxy[:, 1]), 0.0)[:, None] * [
        0.0,
        1.0,
        0.0,
        1.0,
    ]
    other = dataclasses.replace(boxes, xyxy=np.minimum(moved, 1.0))
    return truth, without(predicted, "a.json", missed), dataclasses.replace(predicted, name="b.json", boxes=other)


def sample() -> tuple[Annotations, ...]:
    """The bundled files."""
    return tuple(formats.read(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines", "blocks"))


def results_at(files: Sequence[Annotations], protocol: str) -> list[list[AnyBoxResult]]:
    """The results of both models at each of the points."""
    dataset = join(*files)
    pairs = [{"snapshot": snapshot.pair, "coco": coco.pair}[protocol](dataset, model) for model in (0, 1)]
    return [[each.match(min_score=score).at(iou) for each in pairs] for iou, score in POINTS]


@pytest.fixture(scope="module")
def walk() -> list[list[AnyBoxResult]]:
    """Boxes that COCO ignores, and planted misses."""
    return results_at(planted(), "coco")


@pytest.fixture(scope="module")
def walks(walk: list[list[AnyBoxResult]]) -> list[list[AnyBoxResult]]:
    """The same, and the same boxes where none is ignored."""
    return [*walk, *results_at(planted(), "snapshot")]


def numbers(one: Slice) -> dict[str, Any]:
    """All that is counted of a slice; of its parts plain values."""
    values = {name: getattr(one, name) for name in (each.name for each in dataclasses.fields(Slice))}
    for name in ("p", "confirmed", "missing", "also", "also_titles"):
        del values[name]
    values["parts"] = [(part.origin, part.rows.tolist(), part.held.tolist()) for part in one.parts]
    return values


OF = {"A": [0], "B": [1], "B-A": [0, 1]}


def searched_at(results: list[AnyBoxResult], of: str, measure: Measure) -> Slices:
    return find_slices([results[at] for at in OF[of]], measure=measure)


def check(walk: list[list[AnyBoxResult]], of: str, measure: Measure) -> int:
    """Each slice of a search, counted at every other point and then again where it was of_search."""
    seen = 0
    for place, results in enumerate(walk[::2]):
        of_search = searched_at(results, of, measure)
        for other in (each for each in walk if each is not results):
            away = Recounted(other, [other[at] for at in OF[of]]).slices((*of_search.slices, *of_search.thin))
            back = Recounted(results, [results[at] for at in OF[of]]).slices([each.slice for each in away])
            by_conditions = {each.slice.conditions: each for each in back}
            for one in (*of_search.slices, *of_search.thin):
                again = by_conditions[one.conditions]
                assert numbers(again.slice) == numbers(one), (place, one.sentence)
                assert (again.slice.p, again.slice.confirmed) == (one.p, one.confirmed)
                seen += 1
    return seen


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("measure", ["recall", "precision", "mean_iou"])
def test_numbers_are_those_of_a_search_that_finds_the_same(
    walk: list[list[AnyBoxResult]], of: str, measure: Measure
) -> None:
    assert not walk[0][0].matching.truth_counts.all()
    assert check(walk, of, measure) or measure == "mean_iou"


@pytest.mark.parametrize("of", OF)
def test_slices_by_all_measures_of_the_sample_are_counted_again(of: str) -> None:
    walk = results_at(sample(), "snapshot")
    of_searched = [[results[at] for at in OF[of]] for results in walk]
    for results, searched in zip(walk[:2], of_searched, strict=False):
        of_search = find_by_all_measures(searched)
        assert of_search.slices
        for other, of_other in zip(walk, of_searched, strict=True):
            away = Recounted(other, of_other).slices(of_search.slices)
            assert [each.slice.lost for each in away] == sorted((each.slice.lost for each in away), reverse=True)
            back = Recounted(results, searched).slices([each.slice for each in away])
            assert {(each.slice.measure, each.slice.conditions): numbers(each.slice) for each in back} == {
                (one.measure, one.conditions): numbers(one) for one in of_search.slices
            }
            # What the same conditions select there, by the attributes as they are read.
            for each in away:
                check_plainly(each.slice, of_other)


def check_plainly(one: Slice, results: list[AnyBoxResult]) -> None:
    """The numbers of a slice from the definitions: which boxes its conditions hold for, and means over them."""
    counted = counted_of(results, one.box_measure)
    table = attribute_table(counted.taken(tables_of(counted, score=False)))
    inside = holding(one.conditions, table)
    elsewhere = ~inside
    label = [each for each in one.conditions if each.attribute == "label"]
    if label and len(one.conditions) > 1:
        same = elsewhere & holding(label, table)
        elsewhere = same if same.any() else elsewhere
    here, rest = ([mean_of(each, mask) for each in counted.values] for mask in (inside, elsewhere))
    last = inside & ~np.isnan(counted.values[-1])
    np.testing.assert_equal((one.value, one.rest), (here[-1] - sum(here[:-1]), rest[-1] - sum(rest[:-1])))
    assert (one.boxes, one.documents) == (last.sum(), len(set(counted.document[last].tolist())))
    assert one.lost == (0.0 if math.isnan(one.rest - one.value) else one.boxes * (one.rest - one.value))
    np.testing.assert_equal(one.models, tuple(here) if len(here) == 2 else None)
    np.testing.assert_equal(one.models_elsewhere, tuple(rest) if len(rest) == 2 else None)
    of_sides = {part.origin: part.rows.tolist() for part in one.parts}
    assert of_sides == {origin: counted.row[last & (counted.origin == origin)].tolist() for origin in counted.origins}


def mean_of(values: np.ndarray, mask: np.ndarray) -> float:
    """The mean of what counts of some boxes; NaN without any."""
    kept = mask & ~np.isnan(values)
    return float(np.mean(values[kept])) if kept.any() else math.nan


def drawn(counted: CountedBoxes, rng: np.random.Generator) -> Slice:
    """A slice by random conditions, some of them on a label and some that no box has, without numbers."""
    tables = {origin: attribute_table(each) for origin, each in tables_of(counted, score=False).items()}
    names = rng.choice(["area", "x", "y", "boxes on page"], rng.integers(0, 3), replace=False).tolist()
    conditions = [Condition(name, "<", float(rng.choice(tables[counted.origins[0]][name].values))) for name in names]
    if not names or rng.random() < 0.7:
        labels = tables[counted.origins[0]]["label"].names
        conditions.insert(rng.integers(len(conditions) + 1), Condition("label", "==", str(rng.choice(labels))))
    parts = []
    for origin, table in tables.items():
        held = sum((each.holds(table[each.attribute]).astype(np.uint8) << at for at, each in enumerate(conditions)))
        parts.append(Part(origin, np.empty(0, np.int64), np.asarray(held, np.uint8)))
    return Slice(tuple(conditions), counted.measure, counted.words, 0.0, 0.0, 0, 0, 0.0, 1.0, False, None, tuple(parts))


@pytest.mark.parametrize("measure", MEASURES)
def test_random_slices_are_counted_as_they_are_defined(walks: list[list[AnyBoxResult]], measure: Measure) -> None:
    rng = np.random.default_rng(MEASURES.index(measure))
    for results in walks:
        for places in OF.values():
            searched = [results[at] for at in places]
            counted = counted_of(searched, measure)
            made = [drawn(counted, rng) for _ in range(3)]
            for each in Recounted(results, searched).slices(made):
                check_plainly(each.slice, searched)
                shown = counted_of([results[at] for at in each.places], measure)
                inside = holding(each.slice.conditions, attribute_table(shown.taken(tables_of(shown, score=False))))
                known = [mean_of(values, inside) for values in shown.values]
                assert [each.here.value for each in each.models] == [None if math.isnan(one) else one for one in known]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_over_all_boxes_is_the_mean_of_what_counts(walks: list[list[AnyBoxResult]], measure: Measure) -> None:
    for results in walks:
        counted = counted_of(results, measure)
        known = [mean_of(values, np.ones(len(counted), bool)) for values in counted.values]
        assert list(Recounted(results, results).overall(measure).values) == known


def test_every_model_that_is_shown_has_its_numbers(walk: list[list[AnyBoxResult]]) -> None:
    of_search, other = searched_at(walk[0], "A", "recall"), walk[2]
    recounted = Recounted(other, other[:1])
    for each in recounted.slices(of_search.slices):
        detail = detail_of(each.slice, other)
        assert each.places == (0, 1)
        for model, whole in zip(each.models, detail.models, strict=True):
            assert (model.here.value, model.rest.value) == (whole.here.value, whole.rest.value)
            assert (model.boxes, model.lost) == pytest.approx((whole.boxes, whole.lost))
            assert model.right == pytest.approx(whole.right)
    precise = recounted.slices(searched_at(walk[0], "A", "precision").slices)
    assert precise
    assert all(each.places == (0,) and len(each.models) == 1 for each in precise)


def test_measures_over_all_boxes_are_those_of_the_results(walk: list[list[AnyBoxResult]]) -> None:
    for results in walk:
        recounted = Recounted(results, results[1:])
        every = [recounted.overall(measure) for measure in MEASURES]
        for measure, overall in zip(MEASURES, every, strict=True):
            known = [float(getattr(results[place].micro, measure)[0]) for place in overall.places]
            assert list(overall.values) == pytest.approx(known)
        assert overall_words(every[:2], "AB") == (
            f"Recall A {every[0].values[0]:.3f}, B {every[0].values[1]:.3f} · precision B {every[1].values[0]:.3f}"
        )
        assert [each.places for each in every] == [(0, 1), (1,), (1,), (0, 1), (0, 1), (0, 1)]


def test_without_a_box_nothing_is_said(walk: list[list[AnyBoxResult]]) -> None:
    """A threshold that no prediction reaches: a slice of predictions is empty, and elsewhere is nothing either."""
    pairs = [result.matching.pairs for result in walk[0]]
    nothing = [each.match(min_score=1.0).at(0.5) for each in pairs]
    assert not nothing[0].matching.prediction_counts.any()
    of_search = searched_at(walk[0], "A", "precision")
    recounted = Recounted(nothing, nothing[:1])
    assert recounted.overall("precision").values == (None,)
    assert overall_words([recounted.overall("precision"), recounted.overall("recall")], "AB") == (
        "Precision A n/a · recall A 0.000, B 0.000"
    )
    listed = recounted.slices(of_search.slices)
    assert [(each.slice.boxes, each.slice.documents, each.slice.lost) for each in listed] == [(0, 0, 0.0)] * len(listed)
    shown = recounted_payload(of_search, listed, NAMES).slices
    assert [one.line for one in shown] == ["precision n/a, elsewhere n/a; 0 boxes in 0 documents"] * len(listed)
    assert [bar.here for one in shown for bar in one.bars] == [None] * len(listed)
    both = find_slices(walk[0], measure="precision")
    of_both = Recounted(nothing, nothing).slices(both.slices)
    assert {each.slice.numbers for each in of_both} == {"precision n/a against n/a of A; 0 boxes in 0 documents"}


def test_what_is_shown_is_what_a_search_shows_without_what_only_a_search_says(walk: list[list[AnyBoxResult]]) -> None:
    results = walk[0]
    of_search = searched_at(results, "B", "recall")
    whole = slices_payload(of_search, NAMES, results, results[1:])
    brief = recounted_payload(of_search, Recounted(results, results[1:]).slices(of_search.slices), NAMES)
    assert [one.title for one in brief.slices] == [one.title for one in whole.slices]
    for one, other in zip(brief.slices, whole.slices, strict=True):
        assert (one.line, one.lead, one.bars, one.chips) == (other.line, other.lead, other.bars, other.chips)
        assert (one.boxes, one.gate, one.conditions) == (other.boxes, other.gate, other.conditions)
        assert [row.cells[0::2] for row in one.rows[:2]] == [[*row.cells[0::2][:2], ""] for row in other.rows[:2]]
        assert one.confirmed is None
        assert [*one.panels, *one.pages, *one.examples, *one.places] == []
