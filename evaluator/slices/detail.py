"""A slice looked at closely: each model in it and elsewhere with intervals, and how its conditions split the boxes.

Owns `Detail`. Boxes are counted by document, documents are resampled; a combination of conditions that no box has is
left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from evaluator.compare.resampling import draws, interval, widened
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.slices.conditions import Condition, words
from evaluator.slices.slices import Slice, hits, side_of

_RESAMPLES: Final = 1_000


class Estimate(NamedTuple):
    """A ratio, or a difference of ratios.

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
    right, boxes : int
        Boxes of the slice that are right, and all of them.
    lost : float
        Boxes that would be right besides with the measure of elsewhere.
    """

    here: Estimate
    rest: Estimate
    difference: Estimate
    right: int
    boxes: int
    lost: float


class Cell(NamedTuple):
    """Boxes of one combination of conditions.

    Attributes
    ----------
    holds : tuple of bool
        For each factor whether it holds.
    boxes : int
    models : tuple of Estimate
        The measure of each model there.
    right : tuple of int
        Right boxes of each model.
    """

    holds: tuple[bool, ...]
    boxes: int
    models: tuple[Estimate, ...]
    right: tuple[int, ...]

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


def detail_of(one: Slice, results: Sequence[AnyBoxResult]) -> Detail:
    """A slice looked at closely.

    Parameters
    ----------
    one : Slice
    results : sequence of BoxResult
        The models to show, on the same dataset: for recall any that pair the same ground truth, for precision the
        model that was searched alone.
    """
    side = side_of(results[0], one.measure)
    outcomes = [hits(result, one.measure) for result in results]
    counted = np.logical_and.reduce([counts for _, counts in outcomes])
    held = {each: (one.held[counted] >> place & 1).astype(bool) for place, each in enumerate(one.conditions)}
    groups = _factors(one.conditions)
    factors = [np.logical_and.reduce([held[each] for each in conditions]) for conditions in groups]
    label = next((each for each in one.conditions if _on_label(each) and [each] not in groups), None)
    base = held[label] if label is not None else np.ones(int(counted.sum()), dtype=bool)
    combinations = list(product((False, True), repeat=len(groups)))
    inside = base & np.logical_and.reduce(factors)
    parts = [inside, base & ~inside]
    for holds in combinations:
        equal = [factor == wanted for factor, wanted in zip(factors, holds, strict=True)]
        parts.append(base & np.logical_and.reduce(equal))
    right = [outcome[counted] for outcome, _ in outcomes]
    rates = _rates(right, parts, side.document[counted].astype(np.int64))
    models = tuple(_model(each[0], each[1]) for each in rates)
    cells = []
    for place, holds in enumerate(combinations, 2):
        of_models = [each[place] for each in rates]
        if of_models[0].boxes:
            estimates = tuple(each.estimate for each in of_models)
            cells.append(Cell(holds, of_models[0].boxes, estimates, tuple(each.right for each in of_models)))
    named = tuple(Factor(" and ".join(map(words, conditions)), _opposite(conditions)) for conditions in groups)
    return Detail(models, named, tuple(cells), "" if label is None else str(label.value))


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
    """The share of right boxes among some boxes: its resamples have NaN where no box was drawn."""

    estimate: Estimate
    boxes: int
    right: int
    documents: int
    resampled: FloatArray


def _rates(right: Sequence[BoolArray], parts: Sequence[BoolArray], document: IntArray) -> list[list[_Part]]:
    """The share of right boxes in each part, for each model; all in the same resamples of documents."""
    _, document = np.unique(document, return_inverse=True)
    documents = int(document.max(initial=-1)) + 1
    boxes = _by_document(parts, document, documents)
    good = [_by_document([part & each for part in parts], document, documents) for each in right]
    drawn: list[list[FloatArray]] = [[] for _ in right]
    with np.errstate(divide="ignore", invalid="ignore"):
        for block in draws(documents, resamples=_RESAMPLES) if documents else ():
            of_boxes = block @ boxes
            for rows, each in zip(drawn, good, strict=True):
                rows.append(block @ each / of_boxes)
    made = []
    for rows, each in zip(drawn, good, strict=True):
        resampled = np.concatenate(rows) if rows else np.empty((0, len(parts)))
        made.append([_part(boxes[:, at], each[:, at], resampled[:, at]) for at in range(len(parts))])
    return made


def _by_document(parts: Sequence[BoolArray], document: IntArray, documents: int) -> FloatArray:
    """How many boxes of each part each document has, float64, shape (documents, parts)."""
    return np.column_stack([np.bincount(document[part], minlength=documents).astype(np.float64) for part in parts])


def _part(boxes: FloatArray, good: FloatArray, resampled: FloatArray) -> _Part:
    seen, all_boxes, all_good = int((boxes > 0).sum()), int(boxes.sum()), int(good.sum())
    value = all_good / all_boxes if all_boxes else None
    plain = _estimate(value, resampled, seen)
    # The correction for few documents can carry an end beyond what a share can be.
    bounded = plain if plain.low is None or plain.high is None else Estimate(
        value, max(plain.low, 0.0), min(plain.high, 1.0)
    )  # fmt: skip
    return _Part(bounded, all_boxes, all_good, seen, resampled)


def _model(here: _Part, rest: _Part) -> ModelDetail:
    """The numbers of one model."""
    difference = Estimate(None)
    if here.estimate.value is not None and rest.estimate.value is not None:
        value = here.estimate.value - rest.estimate.value
        difference = _estimate(value, here.resampled - rest.resampled, min(here.documents, rest.documents))
    lost = 0.0 if difference.value is None else -difference.value * here.boxes
    return ModelDetail(here.estimate, rest.estimate, difference, here.right, here.boxes, lost)


def _estimate(value: float | None, resampled: FloatArray, documents: int) -> Estimate:
    """A number with its interval, without one where fewer than two documents have it."""
    if value is None or documents < 2 or not len(resampled):
        return Estimate(value)
    plain = interval(resampled[:, None])
    wide = widened(plain, np.array([value]), np.array([documents], dtype=np.int64))
    low, high = float(wide.low[0]), float(wide.high[0])
    return Estimate(value) if np.isnan(low) or np.isnan(high) else Estimate(value, low, high)
