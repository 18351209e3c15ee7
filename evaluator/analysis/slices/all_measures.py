"""Slices by every measure in one list: most costly first, and one row for one cause.

Each measure is searched by itself. The cost of a slice has one unit for all measures: a box that is right, or a match
that fits entirely. A slice of mostly the same boxes as a costlier one, in the same direction, is named in its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaluator.analysis.slices.attributes import PageValues
from evaluator.analysis.slices.conditions import condition_mask
from evaluator.analysis.slices.measure_values import MEASURES, Measure, box_values, tables_of
from evaluator.analysis.slices.search import ALPHA, SMALLEST_EFFECT, Search, SearchCache
from evaluator.analysis.slices.slices import Slice, Slices, attribute_table, find_in_values, known_page_values
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute
from evaluator.system.progress import counting_from


def find_by_all_measures(
    results: Sequence[AnyBoxResult],
    *,
    measures: Sequence[Measure] = MEASURES,
    of_pages: PageValues | None = None,
    of_boxes: Sequence[Sequence[Attribute]] = (),
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
    count: Callable[[int, int], None] = lambda _done, _all: None,
) -> Slices:
    """Find where a model fails by any of some measures, or where the second of two models differs.

    See `slices.find_slices` for the other parameters. `p` of a slice is the p-value of its own search
    times the number of measures (Bonferroni), so that the chance of any false slice stays `search.ALPHA`. `count` gets
    how many of how many measures are searched; what it raises ends the search.
    """
    both_sides = box_values(results, "f1")
    known = known_page_values(both_sides.dataset.ground_truth, of_pages)
    tables = tables_of(both_sides, of_pages=known, of_boxes=of_boxes, score=False)
    searches: list[Slices] = []
    cache = SearchCache()
    for done, measure in enumerate(measures):
        count(done, len(measures))
        counted = both_sides if measure == "f1" else box_values(results, measure)
        with counting_from(sum(each.searched.tested for each in searches)):
            alpha = ALPHA / len(measures)
            searches.append(find_in_values(counted, tables, alpha=alpha, smallest=smallest, depth=depth, cache=cache))
    by_name = {origin: attribute_table(each) for origin, each in tables.items()}

    def inside(one: Slice) -> frozenset[int]:
        masks = [condition_mask(one.conditions, table) for table in by_name.values()]
        return frozenset(np.flatnonzero(np.concatenate(masks)).tolist())

    return merge_searches(searches, inside, boxes=len(both_sides), signature=signature)


def merge_searches(
    searches: Sequence[Slices], inside: Callable[[Slice], frozenset[Any]], *, boxes: int, signature: str
) -> Slices:
    """Return the slices of several searches in one list, without those that a costlier one explains.

    Each search (one or more) is by one measure at its share of `search.ALPHA`. `inside` gives what is in a slice,
    `boxes` is the number of boxes searched.
    """
    number, tried = len(searches), [each.searched for each in searches]
    best_p = min(min(each.best_p * number, 1.0) for each in tried)
    needed = min(each.needed for each in tried)

    def one_for_each_cause(slices: Iterable[Slice]) -> tuple[Slice, ...]:
        kept: list[tuple[Slice, frozenset[Any]]] = []
        for one in sorted(slices, key=lambda each: -abs(each.lost)):
            mine = inside(one)
            for place, (other, of_other) in enumerate(kept):
                same_way = one.measure != other.measure and (one.difference < 0) == (other.difference < 0)
                if same_way and 2 * len(mine & of_other) > len(mine | of_other):
                    if one.measure not in other.also:
                        also, titles = (*other.also, one.measure), (*other.also_titles, one.words.title)
                        kept[place] = replace(other, also=also, also_titles=titles), of_other
                    break
            else:
                kept.append((replace(one, p=min(one.p * number, 1.0)), mine))
        return tuple(sorted((one for one, _ in kept), key=lambda each: -each.lost))

    return Slices(
        one_for_each_cause(one for each in searches for one in each.slices),
        one_for_each_cause(one for each in searches for one in each.thin),
        boxes,
        tuple(dict.fromkeys(name for each in searches for name in each.attributes)),
        Search(
            (),
            sum(each.tested for each in tried),
            max(each.documents for each in tried),
            needed,
            best_p,
            drawn=tried[0].drawn,
        ),
        signature,
        tuple(each.measures[0] for each in searches),
        tuple(each.words[0] for each in searches),
        searches[0].unit,
    )
