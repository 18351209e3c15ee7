"""Slices by every measure in one list: most costly first, and one row for one cause.

Every measure is searched by itself. What a slice costs has one unit for all of them, a box that is right, or a match
that fits entirely, so that they are one list. A failure mostly shows in several measures: a slice of nearly the same
boxes as a costlier one that moves the same way is no row of its own, its measure is named in the row of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.model.boxes import BoolArray
from evaluator.slices.attributes import Attribute, OfPages
from evaluator.slices.conditions import holding
from evaluator.slices.measured import MEASURES, Measure, counted_of, tables_of
from evaluator.slices.search import ALPHA, SMALLEST_EFFECT, Search
from evaluator.slices.slices import Slice, Slices, attribute_table, find_in, known_of_pages
from evaluator.system.progress import counting_from


def find_by_all_measures(
    results: Sequence[AnyBoxResult],
    *,
    measures: Sequence[Measure] = MEASURES,
    of_pages: OfPages | None = None,
    of_boxes: Sequence[Sequence[Attribute]] = (),
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
    count: Callable[[int, int], None] = lambda _done, _all: None,
) -> Slices:
    """Where a model fails by any of some measures, or where the second of two models differs from the first.

    Parameters
    ----------
    results, of_pages, of_boxes, smallest, depth, signature
        See `evaluator.slices.slices.find_slices`.
    measures : sequence of Measure, length >= 1
    count : callable
        Called with how many of how many measures are searched; what it raises ends the search.

    Returns
    -------
    Slices
        `p` is the chance of so clear a slice by any of the measures: the p-value of its own search times their number
        (Bonferroni), so that the chance that anything is listed where there is nothing stays `search.ALPHA`.
    """
    both_sides = counted_of(results, "f1")
    known = known_of_pages(both_sides.dataset.ground_truth, of_pages)
    tables = tables_of(both_sides, of_pages=known, of_boxes=of_boxes, score=False)
    searches: list[Slices] = []
    for done, measure in enumerate(measures):
        count(done, len(measures))
        counted = both_sides if measure == "f1" else counted_of(results, measure)
        with counting_from(sum(each.searched.tested for each in searches)):
            searches.append(find_in(counted, tables, alpha=ALPHA / len(measures), smallest=smallest, depth=depth))
    by_name = {origin: attribute_table(each) for origin, each in tables.items()}
    tried = [each.searched for each in searches]
    best_p = min(min(each.best_p * len(measures), 1.0) for each in tried)
    return Slices(
        _one_for_each_cause([one for each in searches for one in each.slices], by_name, len(measures)),
        _one_for_each_cause([one for each in searches for one in each.thin], by_name, len(measures)),
        len(both_sides),
        tuple(dict.fromkeys(name for each in searches for name in each.attributes)),
        Search((), sum(each.tested for each in tried), max(each.documents for each in tried), best_p=best_p),
        signature,
        tuple(measures),
    )


def _one_for_each_cause(
    slices: Sequence[Slice], by_name: Mapping[int, Mapping[str, Attribute]], searches: int
) -> tuple[Slice, ...]:
    """Slices of several searches without those that a costlier one tells already, most costly first."""
    kept: list[tuple[Slice, BoolArray]] = []
    for one in sorted(slices, key=lambda each: -abs(each.lost)):
        inside = np.concatenate([holding(one.conditions, table) for table in by_name.values()])
        for place, (other, of_other) in enumerate(kept):
            alike = 2 * int((inside & of_other).sum()) > int((inside | of_other).sum())
            if alike and one.measure != other.measure and (one.difference < 0) == (other.difference < 0):
                if one.measure not in other.also:
                    kept[place] = replace(other, also=(*other.also, one.measure)), of_other
                break
        else:
            kept.append((replace(one, p=min(one.p * searches, 1.0)), inside))
    return tuple(sorted((one for one, _ in kept), key=lambda each: -each.lost))
