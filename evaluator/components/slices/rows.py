"""Slices as the browser shows them: words, scales, bars; the numbers come from `evaluator.analysis.slices`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.analysis.slices.conditions import words
from evaluator.analysis.slices.detail import (
    Cell,
    Detail,
    Estimate,
    ModelDetail,
    Overall,
    detail_in,
    detail_of,
    shown_places,
)
from evaluator.analysis.slices.measure_values import MeasureValues, is_average
from evaluator.analysis.slices.named_slices import FILE_NAME
from evaluator.analysis.slices.slices import Slice, Slices, boxes_of_slice, pages_of
from evaluator.compare.sentences import points
from evaluator.components.gallery.crops import cards
from evaluator.components.gallery.payload import CardItem
from evaluator.components.slices.payload import (
    SliceBarItem,
    SliceCellItem,
    SliceItem,
    SlicePageItem,
    SlicePanelItem,
    SlicePointItem,
    SliceRowItem,
    SlicesPayload,
)
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.issues import count_of, cut, displayed, name_in_list
from evaluator.matching.box_items import MATCHED, Items, items, with_boxes
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Observations
from evaluator.metrics.results import capitalised, ratio_text

_MOST_PAGES: Final = 100
_EXAMPLES: Final = 6
_MISSING: Final = "n/a"
_BOXES: Final = ("boxes", "box")
_MATCHES: Final = "matches"
_NOT_NAMED: Final[tuple[str, ...]] = ("AR1", "AR10")
"""Measures that a named slice does not have."""


def slices_payload(
    slices: Slices,
    names: Sequence[tuple[str, str]],
    results: Sequence[AnyBoxResult],
    searched: Sequence[AnyBoxResult],
) -> SlicesPayload:
    """Return what the component of the slices shows; `names` are letter and name of each model."""
    every = items(searched[-1])
    return _payload(slices, [_slice(one, names, results, searched, every) for one in slices.slices])


def _slice(
    one: Slice,
    names: Sequence[tuple[str, str]],
    results: Sequence[AnyBoxResult],
    searched: Sequence[AnyBoxResult],
    every: Items,
) -> SliceItem:
    places = shown_places(one.box_measure, results, searched)
    names, results = [names[at] for at in places], [results[at] for at in places]
    detail = detail_of(one, results)
    pages = pages_of(one, searched)
    return _item(
        one,
        names,
        detail,
        things=_BOXES,
        fitting=_MATCHES,
        pages=[
            SlicePageItem(cut(each.document), name_in_list(each.document), each.page, each.boxes, each.wrong)
            for each in pages[:_MOST_PAGES]
        ],
        places=len(pages),
        paged=True,
        shown=examples(one, searched[-1], every, most=_EXAMPLES),
        order="worst first" if one.words.fits else f"{one.words.wrong}, largest first",
        confirmed=one.confirmed,
    )


def _payload(slices: Slices, listed: list[SliceItem]) -> SlicesPayload:
    alone = len(slices.measures) == 1
    titles = slices.words[0]
    return SlicesPayload(
        measure=capitalised(titles.title) if alone else "Measure",
        lost=capitalised(titles.lost) if alone else "Lost",
        order=f"Slice, most {titles.lost} first" if alone else "Slice, most costly first",
        file=FILE_NAME,
        slices=listed,
        crops={},
    )


def _item(
    one: Slice,
    names: Sequence[tuple[str, str]],
    detail: Detail,
    *,
    things: tuple[str, str],
    fitting: str,
    pages: list[SlicePageItem],
    places: int,
    paged: bool,
    shown: list[CardItem],
    order: str,
    confirmed: bool | None,
) -> SliceItem:
    """Return one slice, with the first of `places` pages; `confirmed` is None where only a search can say."""
    letters, words_ = [letter for letter, _ in names], one.words
    noun, unit = things
    return SliceItem(
        title=displayed(one.subject),
        line=displayed(one.numbers),
        chips=[displayed(words(each)) for each in one.conditions],
        confirmed=confirmed,
        bars=[
            SliceBarItem(letter, each.here.value, each.rest.value, round(each.lost))
            for letter, each in zip(letters, detail.models, strict=True)
        ],
        lead=_lead(one, letters, detail),
        rows=[*map(_row, names, detail.models), *_difference(detail)],
        panels=_panels(letters, detail, fits=words_.fits, noun=fitting),
        split=f"{words_.title} of {detail.base} {words_.noun}" if detail.base else words_.title,
        alone=displayed(detail.alone),
        pages=pages,
        places=count_of(places, "page" if paged else "document") if places else "",
        paged=paged,
        noun=noun,
        boxes=count_of(one.boxes, unit),
        wrong=words_.wrong,
        examples=shown,
        examples_order=order,
        gate=_gate(one),
        conditions=msgspec.json.encode([each.to_json() for each in one.conditions]).decode(),
    )


def overall_words(overall: Sequence[Overall], letters: Sequence[str]) -> str:
    """Return measures over all boxes of each model: "Recall A 0.912, B 0.934"."""
    parts = []
    for number, each in enumerate(overall):
        title = capitalised(each.words.title) if not number else each.words.title
        shown = zip(each.places, each.values, strict=True)
        models = (f"{letters[at]} {_MISSING if value is None else ratio_text(value)}" for at, value in shown)
        parts.append(f"{title} {', '.join(models)}")
    return " · ".join(parts)


def observed_payload(
    slices: Slices, names: Sequence[tuple[str, str]], observed: Mapping[str, MeasuredSearch]
) -> SlicesPayload:
    """Return what the component shows of slices of observations, which are by measure in `observed`."""
    return _payload(slices, [_observed_slice(one, names, observed[one.measure]) for one in slices.slices])


class MeasuredSearch(NamedTuple):
    """What was searched by one measure, and as the search counts it."""

    observations: Observations
    counted: MeasureValues


def _observed_slice(one: Slice, names: Sequence[tuple[str, str]], seen: MeasuredSearch) -> SliceItem:
    observed = seen.observations
    noun, unit = one.words.noun, one.words.unit
    pages = _pages_of(one, observed, one.parts[0].rows)
    return _item(
        one,
        names,
        detail_in(one, seen.counted),
        things=(noun, unit),
        fitting=noun,
        pages=pages[:_MOST_PAGES],
        places=len(pages),
        paged=any(item.page is not None for item in observed.items),
        shown=[],
        order="",
        confirmed=one.confirmed,
    )


def wrong_of(one: Slice, observed: Observations, rows: IntArray) -> BoolArray:
    """Return which things of a slice lower it: wrong ones, or fits that are worse than elsewhere."""
    values = observed.values[-1][rows]
    usual = one.rest if one.models_elsewhere is None else one.models_elsewhere[-1]
    return np.asarray(values < usual if one.words.fits else values == 0.0)


def _pages_of(one: Slice, observed: Observations, rows: IntArray) -> list[SlicePageItem]:
    """Return the pages or documents of a slice, those with most wrong things first."""
    wrong = wrong_of(one, observed, rows)
    counts: dict[tuple[str, int], list[int]] = {}
    for row, bad in zip(rows.tolist(), wrong.tolist(), strict=True):
        item = observed.items[row]
        of_page = counts.setdefault((item.document, item.page or 0), [0, 0])
        of_page[0] += 1
        of_page[1] += bad
    order = sorted(counts, key=lambda page: -counts[page][1])
    return [SlicePageItem(cut(name), name_in_list(name), index, *counts[name, index]) for name, index in order]


def _gate(one: Slice) -> str:
    """Return a condition that fails when the slice gets worse than it is, or than the baseline; "" without one."""
    if one.measure in _NOT_NAMED:
        return ""
    if one.models is None:
        return f"{one.measure}[slice:{{name}}] < {max(one.value - 0.01, 0.0):.2f}"
    return f"{one.measure}[slice:{{name}}] < baseline" if one.difference < 0 else ""


def examples(one: Slice, result: AnyBoxResult, every: Items, *, most: int) -> list[CardItem]:
    """Return wrong boxes of a slice, from as many pages as possible, those with most to correct first."""
    held = with_boxes(every, boxes_of_slice(one, result))
    if one.words.fits:
        rows = np.flatnonzero(held)
        rows = rows[np.argsort(getattr(every, one.measure.removeprefix("mean_"))[rows], kind="stable")]
    else:
        rows = np.flatnonzero(held & (every.kind != MATCHED))
        rows = rows[np.lexsort((-every.size[rows], -result.mistakes.corrections[every.mistake[rows]]))]
    _, first = np.unique(every.page[rows], return_index=True)
    # One of each page before a second one of any.
    later = np.ones(len(rows), dtype=bool)
    later[first] = False
    order = np.concatenate([np.sort(first), np.flatnonzero(later)])[:most]
    return cards(result, every.take(rows[order]))


def _lead(one: Slice, letters: Sequence[str], detail: Detail) -> str:
    title, noun = one.words.title, one.words.noun
    if one.words.fits:
        shown = zip(letters, detail.models, strict=True)
        return " ".join(f"{letter}: {title} {_ratio(each.here)} over {each.boxes:,} {noun}." for letter, each in shown)
    if is_average(one.measure):
        shown = zip(letters, detail.models, strict=True)
        return " ".join(
            f"{letter}: {title} {_ratio(each.here)} over {each.boxes:,} {noun}, elsewhere {_ratio(each.rest)}."
            for letter, each in shown
        )
    verb = "finds" if one.measure == "recall" else "is right in"
    parts = []
    for letter, each in zip(letters, detail.models, strict=True):
        text = f"{letter} {verb} {round(each.right):,} of {each.boxes:,}"
        if round(each.lost) > 0:
            text += f"; at its rate elsewhere it would be {round(each.right + each.lost):,}"
        parts.append(text + ".")
    return " ".join(parts)


def _row(name: tuple[str, str], model: ModelDetail) -> SliceRowItem:
    letter, title = name
    points, interval = _points(model.difference)
    cells = [_ratio(model.here), _interval(model.here), _ratio(model.rest), points, interval]
    return SliceRowItem(letter, displayed(title), cells)


def _difference(detail: Detail) -> list[SliceRowItem]:
    if len(detail.models) != 2:
        return []
    a, b = detail.models
    values = [(y.value, x.value) for x, y in ((a.here, b.here), (a.rest, b.rest), (a.difference, b.difference))]
    here, rest, both = (_MISSING if x is None or y is None else points(x - y) for x, y in values)
    return [SliceRowItem("", "B minus A", [here, "", rest, both, ""])]


def _panels(letters: Sequence[str], detail: Detail, *, fits: bool, noun: str) -> list[SlicePanelItem]:
    if not detail.factors:
        return []
    panels = []
    for outer, cells in groupby(detail.cells, key=lambda cell: cell.holds[:-1]):
        named = zip(detail.factors, outer, strict=False)
        title = ", ".join(displayed(factor.yes if holds else factor.no) for factor, holds in named)
        panels.append(SlicePanelItem(title, [_cell(letters, detail, cell, fits=fits, noun=noun) for cell in cells]))
    return panels


def _cell(letters: Sequence[str], detail: Detail, cell: Cell, *, fits: bool, noun: str) -> SliceCellItem:
    last = detail.factors[-1]
    points = [
        SlicePointItem(letter, each.value, each.low, each.high)
        for letter, each in zip(letters, cell.models, strict=True)
    ]
    name = displayed(last.yes if cell.holds[-1] else last.no)
    return SliceCellItem(name, _counts(letters, cell, noun=noun if fits else ""), points, cell.of_slice)


def _counts(letters: Sequence[str], cell: Cell, *, noun: str) -> str:
    """Return how many boxes are right of how many; of things that fit (`noun`) only how many there are."""
    if noun:
        counts = [f"{letter} {boxes:,}" for letter, boxes in zip(letters, cell.boxes, strict=True)]
        return f"{', '.join(counts)} {noun}"
    right = [f"{letter} {round(total):,}" for letter, total in zip(letters, cell.right, strict=True)]
    if len(set(cell.boxes)) == 1:
        return f"{', '.join(right)} of {cell.boxes[0]:,}"
    return ", ".join(f"{text} of {boxes:,}" for text, boxes in zip(right, cell.boxes, strict=True))


def _ratio(estimate: Estimate) -> str:
    return _MISSING if estimate.value is None else ratio_text(estimate.value)


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{estimate.low:.2f} to {estimate.high:.2f}"


def _points(estimate: Estimate) -> tuple[str, str]:
    if estimate.value is None:
        return _MISSING, ""
    if estimate.low is None or estimate.high is None:
        return points(estimate.value), ""
    return points(estimate.value), f"{points(estimate.low)} to {points(estimate.high)}"
