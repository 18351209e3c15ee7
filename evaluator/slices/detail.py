"""A slice looked at closely: each model in it and elsewhere with intervals, and how its conditions split the boxes.

Owns `Detail`. Boxes are counted by document, documents are resampled; a combination of conditions that no box has is
left out. Averages have their exact numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from evaluator.compare.resampling import draws, interval, widened
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.observations import MeasureWords
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.slices.conditions import Condition, words
from evaluator.slices.measured import WORDS, Counted, CountedSide, Measure, ResultSides, counted_of, is_average
from evaluator.slices.slices import Slice

_RESAMPLES: Final = 1_000
_OF_PREDICTIONS: Final[tuple[Measure, ...]] = ("precision", "f1")


class Estimate(NamedTuple):
    """A measure, or a difference of measures.

    Attributes
    ----------
    value : float or None
        None without boxes.
    low, high : float or None
        The 95 % interval over documents; None where too few documents have boxes.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ModelDetail:
    """One model in a slice.

    Attributes
    ----------
    here, rest, difference : Estimate
        The measure in the slice, elsewhere, and the slice minus elsewhere.
    right : float
        Sum of the values of the boxes of the slice: how many are right, or how well all matches fit together.
    boxes : int
        Of the slice.
    lost : float
        How much higher the sum would be with the measure of elsewhere.
    """

    here: Estimate
    rest: Estimate
    difference: Estimate
    right: float
    boxes: int
    lost: float


class Cell(NamedTuple):
    """Boxes of one combination of conditions.

    Attributes
    ----------
    holds : tuple of bool
        For each factor whether it holds.
    models : tuple of Estimate
        The measure of each model there.
    boxes : tuple of int
        Of each model.
    right : tuple of float
        Sum of their values.
    """

    holds: tuple[bool, ...]
    models: tuple[Estimate, ...]
    boxes: tuple[int, ...]
    right: tuple[float, ...]

    @property
    def of_slice(self) -> bool:
        """Whether these are the boxes of the slice."""
        return all(self.holds)


class Factor(NamedTuple):
    """The conditions of a slice on one attribute, in words, and what the other boxes are."""

    yes: str
    no: str


class Detail(NamedTuple):
    """A slice looked at closely.

    Attributes
    ----------
    models : tuple of ModelDetail
    factors : tuple of Factor
        What splits the boxes: the conditions by attribute, without the label where there are others.
    cells : tuple of Cell
        Combinations of the factors that any box has, those that hold last.
    base : str
        Which boxes are split: "" for all, else the label.
    """

    models: tuple[ModelDetail, ...]
    factors: tuple[Factor, ...]
    cells: tuple[Cell, ...]
    base: str

    @property
    def alone(self) -> str:
        """What each of two factors does alone, in points against neither, for the first model; "" for other numbers.

        Examples
        --------
        ``Against neither, in points: scanned yes alone −6.7; ruled lines below 1 alone −11.2; both −56.4.``
        """
        value = {cell.holds: cell.models[0].value for cell in self.cells}
        wanted = [value.get(key) for key in ((False, False), (True, False), (False, True), (True, True))]
        if len(self.factors) != 2 or any(each is None for each in wanted):
            return ""
        neither, *others = [float(each) for each in wanted if each is not None]
        names = [f"{factor.yes} alone" for factor in self.factors] + ["both"]
        parts = [f"{name} {100 * (other - neither):+.1f}" for name, other in zip(names, others, strict=True)]
        return f"Against neither, in points: {'; '.join(parts)}.".replace(" -", " \N{MINUS SIGN}")


def places_shown(measure: Measure, results: Sequence[AnyBoxResult], searched: Sequence[AnyBoxResult]) -> list[int]:
    """Which of some results a slice by a measure shows: all of them, or those that were searched.

    Those that were searched where predictions are counted, which are other boxes in others, and of averages.
    """
    if measure not in _OF_PREDICTIONS and not is_average(measure):
        return list(range(len(results)))
    return [at for at, result in enumerate(results) if any(result is each for each in searched)]


class Overall(NamedTuple):
    """A measure over all boxes.

    Attributes
    ----------
    words : MeasureWords
        Of the measure.
    places : tuple of int
        Of the models that are shown, among all.
    values : tuple of float or None
        Of each of them; None without any box.
    """

    words: MeasureWords
    places: tuple[int, ...]
    values: tuple[float | None, ...]


def overall(measure: Measure, results: Sequence[AnyBoxResult], searched: Sequence[AnyBoxResult]) -> Overall:
    """A measure, which is no average, over all boxes of each model that a slice by it shows; see `places_shown`."""
    places = tuple(places_shown(measure, results, searched))
    return Overall(WORDS[measure], places, tuple(_over_all(ResultSides(results[at]).of(measure)) for at in places))


def _over_all(sides: Mapping[int, CountedSide]) -> float | None:
    """What one model has in all boxes that count; None without any."""
    boxes, right = 0, 0
    for side in sides.values():
        boxes += int(np.count_nonzero(side.counts))
        if side.fit is not None:
            return float(side.fit[side.counts].mean()) if boxes else None
        right += int(np.count_nonzero(side.right))
    return right / boxes if boxes else None


def detail_of(one: Slice, results: Sequence[AnyBoxResult]) -> Detail:
    """A slice looked at closely.

    Parameters
    ----------
    one : Slice
    results : sequence of BoxResult
        The models to show, on the same dataset: for a measure of the ground truth's boxes or of matches any that pair
        the same ground truth, for one with predictions those that were searched.

    Returns
    -------
    Detail
        Of a slice by an average the numbers of the slice itself, without intervals and without cells: an average ranks
        all predictions, and resampling it evaluates everything anew each time.
    """
    if is_average(one.measure):
        here, rest = one.models or (one.value,), one.models_elsewhere or (one.rest,)
        return Detail(tuple(exact_of(*each, one.boxes) for each in zip(here, rest, strict=True)), (), (), "")
    return detail_in(one, counted_of(results, one.box_measure))


def detail_in(one: Slice, counted: Counted) -> Detail:
    """A slice looked at closely, by what is counted of the models to show: the same things as in its search."""
    bits = {part.origin: part.held for part in one.parts}
    held = {
        each: counted.placed({origin: (of >> place & 1).astype(bool) for origin, of in bits.items()})
        for place, each in enumerate(one.conditions)
    }
    groups = _factors(one.conditions)
    factors = [np.logical_and.reduce([held[each] for each in conditions]) for conditions in groups]
    label = next((each for each in one.conditions if _on_label(each) and [each] not in groups), None)
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


def exact_of(here: float, rest: float, boxes: int) -> ModelDetail:
    """The numbers of one model that are known without intervals; NaN is undefined."""
    values = [None if math.isnan(each) else each for each in (here, rest, here - rest)]
    lost = 0.0 if values[2] is None else -values[2] * boxes
    right = 0.0 if values[0] is None else values[0] * boxes
    return ModelDetail(Estimate(values[0]), Estimate(values[1]), Estimate(values[2]), right, boxes, lost)


def _on_label(condition: Condition) -> bool:
    return condition.attribute == "label" and condition.op == "=="


def _factors(conditions: Sequence[Condition]) -> list[list[Condition]]:
    """The conditions by attribute, in their order; without the label when there are others."""
    groups: dict[str, list[Condition]] = {}
    for each in conditions:
        groups.setdefault(each.attribute, []).append(each)
    if len(groups) > 1 and any(map(_on_label, conditions)):
        del groups["label"]
    return list(groups.values())


def _opposite(conditions: Sequence[Condition]) -> str:
    """What the boxes are for which some conditions on one attribute do not hold."""
    first = conditions[0]
    if len(conditions) == 1 and first.op != "==":
        return words(first._replace(op="<" if first.op == ">=" else ">="))
    return f"other {first.attribute}"


class _Part(NamedTuple):
    """The mean over some boxes: its resamples have NaN where no box was drawn."""

    estimate: Estimate
    boxes: int
    right: float
    documents: int
    resampled: FloatArray


def _rates(values: FloatArray, parts: Sequence[BoolArray], document: IntArray) -> list[list[_Part]]:
    """The mean of each part, for each model; all in the same resamples of documents.

    Parameters
    ----------
    values : float64, shape (M, U)
        NaN where a model does not count a box.
    """
    _, document = np.unique(document, return_inverse=True)
    documents = int(document.max(initial=-1)) + 1
    shown = [~np.isnan(each) for each in values]
    boxes = [_by_document(parts, each.astype(np.float64), document, documents) for each in shown]
    good = [_by_document(parts, np.nan_to_num(each), document, documents) for each in values]
    drawn: list[list[FloatArray]] = [[] for _ in values]
    with np.errstate(divide="ignore", invalid="ignore"):
        for drawn_often in draws(documents, resamples=_RESAMPLES) if documents else ():
            block = drawn_often.astype(np.float64)
            for rows, each, of_boxes in zip(drawn, good, boxes, strict=True):
                rows.append(block @ each / (block @ of_boxes))
    made = []
    for rows, each, of_boxes in zip(drawn, good, boxes, strict=True):
        resampled = np.concatenate(rows) if rows else np.empty((0, len(parts)))
        made.append([_part(of_boxes[:, at], each[:, at], resampled[:, at]) for at in range(len(parts))])
    return made


def _by_document(parts: Sequence[BoolArray], weight: FloatArray, document: IntArray, documents: int) -> FloatArray:
    """The sum of the weights of each part in each document, float64, shape (documents, parts)."""
    return np.column_stack([np.bincount(document[part], weight[part], documents) for part in parts])


def _part(boxes: FloatArray, good: FloatArray, resampled: FloatArray) -> _Part:
    seen, all_boxes, all_good = int((boxes > 0).sum()), int(boxes.sum()), float(good.sum())
    value = all_good / all_boxes if all_boxes else None
    return _Part(_estimate(value, resampled, seen, least=0.0), all_boxes, all_good, seen, resampled)


def _model(here: _Part, rest: _Part) -> ModelDetail:
    """The numbers of one model."""
    difference = Estimate(None)
    if here.estimate.value is not None and rest.estimate.value is not None:
        value = here.estimate.value - rest.estimate.value
        documents = min(here.documents, rest.documents)
        difference = _estimate(value, here.resampled - rest.resampled, documents, least=-1.0)
    lost = 0.0 if difference.value is None else -difference.value * here.boxes
    return ModelDetail(here.estimate, rest.estimate, difference, here.right, here.boxes, lost)


def _estimate(value: float | None, resampled: FloatArray, documents: int, *, least: float) -> Estimate:
    """A number from `least` to 1 with its interval, without one where fewer than two documents have it."""
    if value is None or documents < 2 or not len(resampled):
        return Estimate(value)
    plain = interval(resampled[:, None])
    wide = widened(plain, np.array([value]), np.array([documents], dtype=np.int64), least=least, most=1.0)
    low, high = float(wide.low[0]), float(wide.high[0])
    return Estimate(value) if np.isnan(low) or np.isnan(high) else Estimate(value, low, high)
