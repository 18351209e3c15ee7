"""A slice in detail: each model in it and elsewhere with intervals, and how its conditions split the boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.slices.conditions import Condition, words
from evaluator.analysis.slices.measure_values import WORDS, Means, Measure, MeasureValues, box_values, is_average
from evaluator.analysis.slices.slices import Slice
from evaluator.compare.sentences import points
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.exact_sums import ExactSums
from evaluator.metrics.observations import MeasureWords
from evaluator.metrics.resampling import draws, interval, widen_interval
from evaluator.metrics.results import defined

_RESAMPLES: Final = 1_000
_OF_PREDICTIONS: Final[tuple[Measure, ...]] = ("precision", "f1")


class Estimate(NamedTuple):
    """A measure or a difference of measures, with its 95 % interval over documents.

    `value` is None without boxes, `low` and `high` also where too few documents have boxes.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ModelDetail:
    """One model in a slice: the measure in it, elsewhere, and their difference.

    `right`: sum of the values of its boxes (right boxes, or fits). `lost`: how much elsewhere's measure would add.
    """

    here: Estimate
    rest: Estimate
    difference: Estimate
    right: float
    boxes: int
    lost: float


class Cell(NamedTuple):
    """Boxes of one combination of conditions (`holds`, by factor), with measure, number and sum of each model."""

    holds: tuple[bool, ...]
    models: tuple[Estimate, ...]
    boxes: tuple[int, ...]
    right: tuple[float, ...]

    @property
    def of_slice(self) -> bool:
        """Return whether these are the boxes of the slice."""
        return all(self.holds)


class Factor(NamedTuple):
    """The conditions of a slice on one attribute, in words, and what the other boxes are."""

    yes: str
    no: str


class Detail(NamedTuple):
    """A slice in detail.

    `factors`: the conditions by attribute, without the label where there are others. `cells`: combinations that any box
    has, those that hold last. `base`: the label whose boxes are split, "" for all boxes.
    """

    models: tuple[ModelDetail, ...]
    factors: tuple[Factor, ...]
    cells: tuple[Cell, ...]
    base: str

    @property
    def alone(self) -> str:
        """Return the effect of each of two factors alone, in points, for the first model; "" for other numbers.

        ``Against neither, in points: scanned yes alone −6.7; ruled lines below 1 alone −11.2; both −56.4.``
        """
        value = {cell.holds: cell.models[0].value for cell in self.cells}
        wanted = [value.get(key) for key in ((False, False), (True, False), (False, True), (True, True))]
        if len(self.factors) != 2 or any(each is None for each in wanted):
            return ""
        neither, *others = [float(each) for each in wanted if each is not None]
        names = [f"{factor.yes} alone" for factor in self.factors] + ["both"]
        parts = [f"{name} {points(other - neither)}" for name, other in zip(names, others, strict=True)]
        return f"Against neither, in points: {'; '.join(parts)}."


def shown_places(measure: Measure, results: Sequence[AnyBoxResult], searched: Sequence[AnyBoxResult]) -> list[int]:
    """Return the results a slice shows: the searched ones of averages and of predictions, else all."""
    if measure not in _OF_PREDICTIONS and not is_average(measure):
        return list(range(len(results)))
    return [at for at, result in enumerate(results) if any(result is each for each in searched)]


class Overall(NamedTuple):
    """A measure over all boxes: places of the models that are shown, and their values, None without boxes."""

    words: MeasureWords
    places: tuple[int, ...]
    values: tuple[float | None, ...]


def overall(measure: Measure, results: Sequence[AnyBoxResult], searched: Sequence[AnyBoxResult]) -> Overall:
    """Return a measure, no average, over all boxes of each model that is shown; see `shown_places`."""
    places = tuple(shown_places(measure, results, searched))
    counted = [box_values([results[at]], measure) for at in places]
    means = [Means(each).of(np.ones(len(each), dtype=bool))[0] for each in counted]
    return Overall(WORDS[measure], places, tuple(map(defined, means)))


def detail_of(one: Slice, results: Sequence[AnyBoxResult]) -> Detail:
    """Return a slice in detail for some models on the same dataset.

    With a measure of the ground truth's boxes or of matches any models of the same ground truth, with one of
    predictions those that were searched. By an average there are neither intervals nor cells: resampling evaluates all
    anew.
    """
    if is_average(one.measure):
        here, rest = one.models or (one.value,), one.models_elsewhere or (one.rest,)
        return Detail(tuple(exact_detail(*each, one.boxes) for each in zip(here, rest, strict=True)), (), (), "")
    return detail_in(one, box_values(results, one.box_measure))


def detail_in(one: Slice, counted: MeasureValues) -> Detail:
    """Return a slice in detail from what is counted of the models, which are the same as in its search."""
    bits = {part.origin: part.condition_bits for part in one.parts}
    held = {
        each: counted.mask_of({origin: (of >> place & 1).astype(bool) for origin, of in bits.items()})
        for place, each in enumerate(one.conditions)
    }
    groups = _factors(one.conditions)
    factors = [np.logical_and.reduce([held[each] for each in conditions]) for conditions in groups]
    label = next((each for each in one.conditions if each.on_label and [each] not in groups), None)
    base = held[label] if label is not None else np.ones(len(counted), dtype=bool)
    combinations = list(product((False, True), repeat=len(groups)))
    inside = base & np.logical_and.reduce(factors)
    parts = [inside, base & ~inside]
    for holds in combinations:
        equal = [factor == wanted for factor, wanted in zip(factors, holds, strict=True)]
        parts.append(base & np.logical_and.reduce(equal))
    rates = _rates(counted.values, parts, counted.document)
    models = tuple(_model(each[0], each[1]) for each in rates)
    cells = []
    for place, holds in enumerate(combinations, 2):
        of_models = [each[place] for each in rates]
        if any(each.boxes for each in of_models):
            estimates = tuple(each.estimate for each in of_models)
            boxes, right = (tuple(getattr(each, name) for each in of_models) for name in ("boxes", "right"))
            cells.append(Cell(holds, estimates, boxes, right))
    named = tuple(Factor(" and ".join(map(words, conditions)), _opposite(conditions)) for conditions in groups)
    return Detail(models, named, tuple(cells), "" if label is None else str(label.value))


def exact_detail(here: float, rest: float, boxes: int) -> ModelDetail:
    """Return the numbers of one model without intervals; NaN is undefined."""
    values = [None if math.isnan(each) else each for each in (here, rest, here - rest)]
    lost = 0.0 if values[2] is None else -values[2] * boxes
    right = 0.0 if values[0] is None else values[0] * boxes
    return ModelDetail(Estimate(values[0]), Estimate(values[1]), Estimate(values[2]), right, boxes, lost)


def _factors(conditions: Sequence[Condition]) -> list[list[Condition]]:
    groups: dict[str, list[Condition]] = {}
    for each in conditions:
        groups.setdefault(each.attribute, []).append(each)
    if len(groups) > 1 and any(each.on_label for each in conditions):
        del groups["label"]
    return list(groups.values())


def _opposite(conditions: Sequence[Condition]) -> str:
    first = conditions[0]
    if len(conditions) == 1 and first.op != "==":
        return words(first._replace(op="<" if first.op == ">=" else ">="))
    return f"other {first.attribute}"


class _Part(NamedTuple):
    """The mean over some boxes; `resampled` has NaN where no box was drawn."""

    estimate: Estimate
    boxes: int
    right: float
    documents: int
    resampled: FloatArray


def _rates(values: FloatArray, parts: Sequence[BoolArray], document: IntArray) -> list[list[_Part]]:
    """Return the mean of each part, in the same resamples, by model; `values`: float64, shape (M, U), with NaN."""
    _, document = np.unique(document, return_inverse=True)
    documents = int(document.max(initial=-1)) + 1
    shown = [~np.isnan(each) for each in values]
    boxes = [_by_document(parts, each.astype(np.float64), document, documents) for each in shown]
    good = [_by_document(parts, np.nan_to_num(each), document, documents) for each in values]
    right = [[float(ExactSums.of(np.nan_to_num(each[part])).total[0]) for part in parts] for each in values]
    drawn: list[list[FloatArray]] = [[] for _ in values]
    with np.errstate(divide="ignore", invalid="ignore"):
        for drawn_often in draws(documents, resamples=_RESAMPLES) if documents else ():
            block = drawn_often.astype(np.float64)
            for rows, each, of_boxes in zip(drawn, good, boxes, strict=True):
                rows.append(block @ each / (block @ of_boxes))
    made = []
    for rows, sums, of_boxes in zip(drawn, right, boxes, strict=True):
        resampled = np.concatenate(rows) if rows else np.empty((0, len(parts)))
        made.append([_part(of_boxes[:, at], sums[at], resampled[:, at]) for at in range(len(parts))])
    return made


def _by_document(parts: Sequence[BoolArray], weight: FloatArray, document: IntArray, documents: int) -> FloatArray:
    return np.column_stack([ExactSums.of(weight[part], document[part], documents).total for part in parts])


def _part(boxes: FloatArray, right: float, resampled: FloatArray) -> _Part:
    seen, all_boxes = int((boxes > 0).sum()), int(boxes.sum())
    value = right / all_boxes if all_boxes else None
    return _Part(_estimate(value, resampled, seen, least=0.0), all_boxes, right, seen, resampled)


def _model(here: _Part, rest: _Part) -> ModelDetail:
    difference = Estimate(None)
    if here.estimate.value is not None and rest.estimate.value is not None:
        value = here.estimate.value - rest.estimate.value
        documents = min(here.documents, rest.documents)
        difference = _estimate(value, here.resampled - rest.resampled, documents, least=-1.0)
    lost = 0.0 if difference.value is None else -difference.value * here.boxes
    return ModelDetail(here.estimate, rest.estimate, difference, here.right, here.boxes, lost)


def _estimate(value: float | None, resampled: FloatArray, documents: int, *, least: float) -> Estimate:
    """Return a number from `least` to 1 with its interval, if two documents or more have it."""
    if value is None or documents < 2 or not len(resampled):
        return Estimate(value)
    plain = interval(resampled[:, None])
    wide = widen_interval(plain, np.array([value]), np.array([documents], dtype=np.int64), least=least, most=1.0)
    low, high = float(wide.low[0]), float(wide.high[0])
    return Estimate(value) if np.isnan(low) or np.isnan(high) else Estimate(value, low, high)
