"""Slices of an earlier search counted at other thresholds: what they are there while a new search is under way.

Which slices there are, their conditions, `p` and `confirmed` come from the earlier search. Every other number is the
one that `Slice` has when a search at these thresholds finds the same conditions. Attributes of boxes do not follow from
thresholds: for which boxes a condition holds, the parts of a slice know.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.observations import MeasureWords
from evaluator.model.boxes import BoolArray
from evaluator.slices.detail import ModelDetail, exact_of, places_shown
from evaluator.slices.measured import WORDS, CountedSide, Measure, ResultSides
from evaluator.slices.slices import Part, Slice, label_bit, numbers_in


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


class RecountedSlice(NamedTuple):
    """A slice with its numbers, and those of each model that is shown, without intervals.

    Attributes
    ----------
    slice : Slice
    places : tuple of int
        Of the models that are shown, among all.
    models : tuple of ModelDetail
    """

    slice: Slice
    places: tuple[int, ...]
    models: tuple[ModelDetail, ...]


Sides = Mapping[int, CountedSide]
"""What one result counts, by origin of the boxes; see `evaluator.slices.slices.Part`."""
Masks = Mapping[int, BoolArray]
"""Some boxes of each origin."""


class Recounted:
    """What slices of boxes are at some thresholds; what a result counts is worked out once for all of them.

    Parameters
    ----------
    results : sequence of BoxResult
        Of the models to show, at these thresholds.
    searched : sequence of BoxResult
        Those of them that were searched: one, or two for their difference.
    """

    def __init__(self, results: Sequence[AnyBoxResult], searched: Sequence[AnyBoxResult]) -> None:
        self._results, self._searched = tuple(results), tuple(searched)
        self._sides = tuple(map(ResultSides, results))

    def overall(self, measure: Measure) -> Overall:
        """A measure, which is no average, over all boxes of each model that is shown."""
        models = self._models(measure)
        values = (_mean(sides, None).value for sides in models.shown)
        return Overall(WORDS[measure], models.places, tuple(None if math.isnan(each) else each for each in values))

    def slices(self, earlier: Sequence[Slice]) -> tuple[RecountedSlice, ...]:
        """The slices of an earlier search of the same files and models by any measure but averages, by their cost."""
        models = {measure: self._models(measure) for measure in {one.box_measure for one in earlier}}
        made = [_recounted(one, models[one.box_measure]) for one in earlier]
        return tuple(sorted(made, key=lambda each: -each.slice.lost))

    def _models(self, measure: Measure) -> _Models:
        places = tuple(places_shown(measure, self._results, self._searched))
        sides = [self._sides[at].of(measure) for at in places]
        # Where predictions count, the models that are shown are those that were searched, whose places are the origins.
        shown: list[Sides] = [
            {kind * number: side for kind, side in each.items()} for number, each in enumerate(sides, 1)
        ]
        searched = [any(self._results[at] is each for each in self._searched) for at in places]
        return _Models(places, shown, searched)


class _Models(NamedTuple):
    """What the models that are shown count by a measure: their places among all, and which of them were searched."""

    places: tuple[int, ...]
    shown: list[Sides]
    searched: list[bool]


class _Mean(NamedTuple):
    """A measure over some boxes, NaN without any, and how many they are."""

    value: float
    boxes: int


def _mean(sides: Sides, masks: Masks | None) -> _Mean:
    """What one model has in some boxes; None for all boxes."""
    boxes, right = 0, 0.0
    for origin, side in sides.items():
        kept = side.counts if masks is None else masks[origin] & side.counts
        boxes += int(np.count_nonzero(kept))
        if side.fit is None:
            right += int(np.count_nonzero(side.right if masks is None else masks[origin] & side.right))
        elif boxes:
            # Of the ground truth's side alone. `compress` takes a third of the time of a mask as index.
            return _Mean(float(side.fit.compress(kept).mean()), boxes)
    return _Mean(right / boxes if boxes else math.nan, boxes)


def _recounted(one: Slice, models: _Models) -> RecountedSlice:
    """A slice at the thresholds of some models."""
    every, label = (1 << len(one.conditions)) - 1, label_bit(one.conditions)
    inside = {part.origin: part.held == every for part in one.parts}
    others = {origin: ~mask for origin, mask in inside.items()}
    alike = {part.origin: others[part.origin] & (part.held & label != 0) for part in one.parts} if label else {}

    def elsewhere(shown: Sequence[Sides]) -> Masks:
        """What a slice is compared with, of the boxes that some models count; see `label_bit`."""
        counted = (alike[origin] & side.counts for sides in shown for origin, side in sides.items())
        return alike if alike and any(mask.any() for mask in counted) else others

    searched, usual = list(compress(models.shown, models.searched)), elsewhere(models.shown)
    here, there = ([_mean(sides, masks) for sides in models.shown] for masks in (inside, usual))
    own, own_there = ([each.value for each in compress(means, models.searched)] for means in (here, there))
    if len(searched) < len(models.shown) and (masks := elsewhere(searched)) is not usual:
        own_there = [_mean(sides, masks).value for sides in searched]
    rows = {origin: np.flatnonzero(inside[origin] & side.counts) for origin, side in searched[-1].items()}
    document = np.concatenate([side.boxes.document[rows[origin]] for origin, side in searched[-1].items()])
    none = np.empty(0, np.int64)
    parts = tuple(Part(part.origin, rows.get(part.origin, none), part.held) for part in one.parts)
    slice_ = replace(one, parts=parts, **numbers_in(own, own_there, document)._asdict())
    models_ = (exact_of(mean.value, rest.value, mean.boxes) for mean, rest in zip(here, there, strict=True))
    return RecountedSlice(slice_, models.places, tuple(models_))
