"""Slices of an earlier search counted at other thresholds: what they are there while a new search is under way.

Which slices there are, their conditions, `p` and `confirmed` come from the earlier search. Every other number is the
one that `Slice` has when a search at these thresholds finds the same conditions. Attributes of boxes do not follow from
thresholds: for which boxes a condition holds, the parts of a slice know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.observations import MeasureWords
from evaluator.slices.detail import ModelDetail, exact_of, places_shown
from evaluator.slices.measured import WORDS, CountedBoxes, Means, Measure, counted_of
from evaluator.slices.slices import Slice, inside_and_elsewhere, with_numbers


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


class _Counts(NamedTuple):
    """What a measure is a mean of, of some results."""

    counted: CountedBoxes
    means: Means


class Recounted:
    """What slices of boxes are at some thresholds, each measure counted once.

    Parameters
    ----------
    results : sequence of BoxResult
        Of the models to show, at these thresholds.
    searched : sequence of BoxResult
        Those of them that were searched: one, or two for their difference.
    """

    def __init__(self, results: Sequence[AnyBoxResult], searched: Sequence[AnyBoxResult]) -> None:
        self._results, self._searched = tuple(results), tuple(searched)
        self._shown: dict[Measure, _Counts] = {}
        self._own: dict[Measure, _Counts] = {}

    def overall(self, measure: Measure) -> Overall:
        """A measure, which is no average, over all boxes of each model that is shown."""
        counted, means = self._counts(measure)
        values = (None if np.isnan(value) else value for value in means.of(np.ones(len(counted), bool)))
        return Overall(WORDS[measure], tuple(places_shown(measure, self._results, self._searched)), tuple(values))

    def slices(self, earlier: Sequence[Slice]) -> tuple[RecountedSlice, ...]:
        """The slices of an earlier search of the same files and models by any measure but averages, by their cost."""
        made = [self._recounted(one) for one in earlier]
        return tuple(sorted(made, key=lambda each: -each.slice.lost))

    def _recounted(self, one: Slice) -> RecountedSlice:
        measure, held = one.box_measure, {part.origin: part.held for part in one.parts}
        (counted, means), own = self._counts(measure), self._counts_searched(measure)
        inside, elsewhere = inside_and_elsewhere(one.conditions, counted, held)
        sides = inside, elsewhere
        if own.counted.row is not counted.row:
            sides = inside_and_elsewhere(one.conditions, own.counted, held)
        slice_ = with_numbers(
            one.conditions, *own, held, sides, p=one.p, confirmed=one.confirmed, missing=one.missing, also=one.also,
            also_titles=one.also_titles,
        )  # fmt: skip
        numbers = zip(means.of(inside), means.of(elsewhere), means.boxes(inside), strict=True)
        places = places_shown(measure, self._results, self._searched)
        return RecountedSlice(slice_, tuple(places), tuple(exact_of(*each) for each in numbers))

    def _counts(self, measure: Measure) -> _Counts:
        """Of the models that are shown."""
        if measure not in self._shown:
            places = places_shown(measure, self._results, self._searched)
            counted = counted_of([self._results[at] for at in places], measure)
            self._shown[measure] = _Counts(counted, Means(counted))
        return self._shown[measure]

    def _counts_searched(self, measure: Measure) -> _Counts:
        """Of the models that were searched."""
        if measure not in self._own:
            shown = [self._results[at] for at in places_shown(measure, self._results, self._searched)]
            places = [at for at, result in enumerate(shown) if any(result is each for each in self._searched)]
            counts = self._counts(measure)
            if len(places) < len(shown):
                counted = _of_some(counts.counted, places)
                counts = _Counts(counted, Means(counted))
            self._own[measure] = counts
        return self._own[measure]


def _of_some(counted: CountedBoxes, places: Sequence[int]) -> CountedBoxes:
    """What some of the results count, of boxes that all of them have."""
    values = counted.values[list(places)]
    kept = ~np.isnan(values).all(axis=0)
    if kept.all():
        return replace(counted, values=values)
    return replace(
        counted,
        values=values[:, kept],
        **{name: getattr(counted, name)[kept] for name in ("origin", "row", "document", "label")},
    )
