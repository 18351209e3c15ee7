"""Slices of what a protocol observes one by one: fields, posters and their words, labels of pages.

The protocol (`Protocol.observations`) says what a measure is a mean over, its words and its attributes; attributes of
pages and documents from elsewhere are added to all of them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.analysis.slices.all_measures import merge_searches
from evaluator.analysis.slices.attributes import PageValues, attributes_at, merge_page_values
from evaluator.analysis.slices.conditions import condition_mask
from evaluator.analysis.slices.measure_values import ALL, MeasureValues
from evaluator.analysis.slices.named_slices import NamedMeasure, NamedNumbers, NamedSlice
from evaluator.analysis.slices.search import ALPHA, SMALLEST_EFFECT, SearchCache
from evaluator.analysis.slices.slices import Slice, Slices, attribute_table, file_page_values, find_in_values
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.observations import MeasureWords, Observations
from evaluator.protocols import protocol_of
from evaluator.protocols.base import DatasetResult, Result
from evaluator.system.progress import counting_from

_ORIGIN: Final = 0
"""All observations are of one side."""


def measure_problem(words: Mapping[str, MeasureWords], name: str) -> str | None:
    """Return why slices have no measure of this name, in a sentence; None where they have it."""
    if name == ALL or name in words:
        return None
    return f"slices have no measure {name}; use {', '.join(words)} or {ALL}"


def find_observation_slices(
    results: Sequence[Result],
    measure: str,
    *,
    of_pages: PageValues | None = None,
    use_score: bool = False,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
    count: Callable[[int, int], None] = lambda _done, _all: None,
    keep: Callable[[str, Observations], None] = lambda _measure, _observed: None,
) -> Slices:
    """Find where a model has a low measure, or where the second of two models differs from the first.

    `results`: one or two of one ground truth. `measure`: one of the ``slice_measures`` of the protocol (KeyError
    otherwise), or `ALL` for those over the same things as the first, see `all_measures`. `count` may end the search by
    raising; `keep` gets each measure and its observations. See `find_slices`.
    """
    words = protocol_of(results[0]).sliced_by(results[0])
    measures = measures_of(words) if measure == ALL else (measure,)
    searches: list[Slices] = []
    items: dict[str, Observations] = {}
    cache = SearchCache()
    for done, name in enumerate(measures):
        count(done, len(measures))
        observed = items[name] = observations_of(results, name, of_pages=of_pages, scores=use_score)
        keep(name, observed)
        with counting_from(sum(each.searched.tested for each in searches)):
            searched = find_in_values(
                observation_values(observed, name, words[name]),
                {_ORIGIN: observed.attributes},
                alpha=ALPHA / len(measures),
                smallest=smallest,
                depth=depth,
                signature=signature,
                cache=cache,
            )
        searches.append(searched)
    if len(searches) == 1:
        return searches[0]

    def inside(one: Slice) -> frozenset[Item]:
        return frozenset(items[one.measure].items[row] for row in one.parts[0].rows.tolist())

    boxes = max(each.boxes for each in searches)
    return merge_searches(searches, inside, boxes=boxes, signature=signature)


def measures_of(words: Mapping[str, MeasureWords]) -> tuple[str, ...]:
    """Return the measures that can be searched together: means over the same things as the first."""
    unit = next(iter(words.values())).unit
    return tuple(name for name, each in words.items() if each.unit == unit)


def observations_of(
    results: Sequence[Result], measure: str, *, of_pages: PageValues | None = None, scores: bool = False
) -> Observations:
    """Return what a measure is a mean over, with attributes from elsewhere, named as with boxes."""
    observed = protocol_of(results[0]).observations(results, measure, scores=scores)
    known: PageValues = {}
    if isinstance(results[0], DatasetResult):
        known = file_page_values(results[0].evaluated.ground_truth)
    places = [
        (observed.documents[code], None if page < 0 else page)
        for code, page in zip(observed.document.tolist(), observed.page.tolist(), strict=True)
    ]
    taken = {each.name for each in observed.attributes}
    more = [
        replace(each, name=f"{each.name} (file)") if each.name in taken else each
        for each in attributes_at(places, merge_page_values(known, of_pages or {}))
    ]
    return replace(observed, attributes=(*observed.attributes, *more))


def observation_values(observed: Observations, measure: str, words: MeasureWords) -> MeasureValues:
    """Return observations as the search counts them."""
    rows = np.arange(len(observed), dtype=np.int64)
    return MeasureValues(
        measure, words, (len(observed),), (_ORIGIN,), np.zeros(len(observed), np.int64), rows, observed.values,
        observed.document, observed.label,
    )  # fmt: skip


def observation_numbers(
    result: Result, named: Sequence[NamedSlice], of_pages: PageValues | None = None, *, known_only: bool = False
) -> NamedNumbers:
    """Return every measure of named slices of observations; none for a protocol without measures.

    A slice on an attribute that only some measures have, such as the confidence of predictions, has these measures
    alone. ValueError, one sentence, for an attribute that no measure has; such slices are left out with `known_only`.
    """
    words = protocol_of(result).sliced_by(result)
    every = {name: observations_of([result], name, of_pages=of_pages, scores=True) for name in words}
    tables = {name: attribute_table(each.attributes) for name, each in every.items()}
    there = dict.fromkeys(name for table in tables.values() for name in table)
    missing = {each.name: [one.attribute for one in each.conditions if one.attribute not in there] for each in named}
    kept = [each for each in named if not missing[each.name]]
    if len(kept) < len(named) and not known_only:
        name, absent = next((name, absent) for name, absent in missing.items() if absent)
        raise ValueError(f"slice {name} needs the attribute {absent[0]}; there are {', '.join(there)}")
    made = []
    for name, observed in every.items():
        size, (values,), table = len(observed.documents), observed.values, tables[name]
        for each in kept:
            if any(one.attribute not in table for one in each.conditions):
                continue
            rows = np.flatnonzero(condition_mask(each.conditions, table) & ~np.isnan(values))
            made.append(NamedMeasure.of(each, name, values[rows], observed.document[rows], size))
    nouns = {each.noun: name for name, each in reversed(list(words.items()))}
    sizes = {name: f"{noun.replace(' ', '_')}_counted" for noun, name in nouns.items()}
    return NamedNumbers(tuple(made), (), tuple(words), sizes)


def documents_of(results: Sequence[Result]) -> list[str]:
    """Return the ids of the documents of some results of one ground truth."""
    protocol = protocol_of(results[0])
    return list(protocol.observations(results, next(iter(protocol.sliced_by(results[0])))).documents)


def pages_of(results: Sequence[Result]) -> list[tuple[str, int]]:
    """Return every page of the observations of all measures, document and page from 0, in order."""
    protocol = protocol_of(results[0])
    pages: dict[tuple[str, int], None] = {}
    for measure in protocol.sliced_by(results[0]):
        observed = protocol.observations(results, measure)
        known = np.flatnonzero(observed.page >= 0)
        pairs = np.unique(np.column_stack([observed.document[known], observed.page[known]]), axis=0)
        pages |= dict.fromkeys((observed.documents[code], page) for code, page in pairs.tolist())
    return list(pages)
