"""The slices of pixels, items, fields and posters: what is searched, the list, and the view of an item."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from evaluator.analysis.slices.attributes import PageValues
from evaluator.analysis.slices.observation_slices import find_observation_slices, observation_values, pages_of
from evaluator.analysis.slices.pdf_pages import of_listed_pages
from evaluator.analysis.slices.slices import Slice, Slices
from evaluator.components.slices.payload import SlicesPayload
from evaluator.components.slices.rows import MeasuredSearch, observed_payload, wrong_of
from evaluator.components.viewer.reading import READINGS
from evaluator.data.issues import count_of, cut, displayed, name_in_list, whole
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.observations import MeasureWords, Observations
from evaluator.metrics.results import capitalised
from evaluator.pdf.folder import Folders, PdfFolder
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.base import Result
from pages.app import components, frame, jobs, pictures, session_files, widgets
from pages.app.cache import Cached
from pages.app.session_files import PairModel
from pages.app.state import State, chosen_cells, go_to_page, report, state
from pages.views.fields import field_results
from pages.views.pixel import pixel_results
from pages.views.posters import poster_results
from pages.views.reading import reading_results
from pages.views.slices import slice_list

_VIEWS: Final = {
    "pixels": "pages/pixel_confusion.py",
    "fields": "pages/fields.py",
    "posters": "pages/posters.py",
    **dict.fromkeys(READINGS, "pages/reading.py"),
}
_KEY: Final = "observed_slices"
_MOST_ROWS: Final = 14


@dataclass(frozen=True, eq=False)
class Source:
    """The results of one kind, of A and, if there are two, B; `open` is called before the view runs."""

    kind: str
    models: tuple[PairModel, ...]
    results: tuple[Result, ...]
    key: tuple[str, ...]
    pdfs: Folders | None
    open: Callable[[Item], None]

    @property
    def words(self) -> Mapping[str, MeasureWords]:
        """Return the measures of its protocol."""
        return PROTOCOLS[self.results[0].signature.protocol].sliced_by(self.results[0])


# --- what is open ------------------------------------------------------------------------------------------------


def kinds() -> dict[str, str]:
    """Return the kinds of open files that have slices, with their names; boxes where nothing is open."""
    boxes = session_files.load_boxes()
    named = {"boxes": "Boxes", "pixels": "Pixels"} if boxes is not None else {}
    named |= {name: system.title for name, system in READINGS.items() if reading_results.read(system) is not None}
    if field_results.compare_models() is not None:
        named["fields"] = "Fields"
    if poster_results.models():
        named["posters"] = "Posters"
    return named or {"boxes": "Boxes"}


def source_of(kind: str) -> Source | None:
    """Return the results of a kind; None where they cannot be had."""
    if kind in READINGS:
        return _items(kind)
    return {"pixels": _pixels, "fields": _fields, "posters": _posters}[kind]()


def _fields() -> Source | None:
    compared = field_results.compare_models()
    if compared is None:
        return None
    return Source(
        "fields",
        compared.models,
        tuple(replace(model.result, iou=(state.field_iou,)) for model in compared.models),
        (*(str(part) for model in compared.models for part in model.key), f"{state.field_iou:g}"),
        compared.opened.project.pdfs,
        partial(field_results.open_item, compared),
    )


def _items(kind: str) -> Source | None:
    of = reading_results.read(READINGS[kind])
    if of is None:
        return None
    pair = of.loaded.pair
    return Source(
        kind,
        pair,
        tuple(reading_results.result_of(of, model) for model in pair),
        tuple(str(reading_results.key_of(of, model)) for model in pair),
        of.loaded.project.pdfs,
        partial(reading_results.open_item, kind),
    )


def _posters() -> Source | None:
    loaded, models = session_files.load_files(session_files.POSTERS), poster_results.models()
    if loaded is None or not models:
        return None
    return Source(
        "posters",
        models,
        tuple(poster_results.result_of(model) for model in models),
        (
            *loaded.digests,
            *(str(model.index) for model in models),
            state.poster_profile,
            poster_results.words_under(state.poster_profile),
        ),
        loaded.project.pdfs,
        lambda item: poster_results.open_poster(item.document),
    )


def _pixels() -> Source | None:
    loaded = session_files.load_boxes()
    if loaded is None:
        return None
    counted = {model: pixel_results.result_of(loaded, model.letter).result for model in loaded.pair}
    if any(result is None for result in counted.values()):
        return None
    results = tuple(result for result in counted.values() if result is not None)
    return Source(
        "pixels",
        tuple(counted),
        results,
        (*loaded.digests, *(str(model.index) for model in counted), *(result.signature.line for result in results)),
        loaded.project.pdfs,
        lambda item: go_to_page(item.document, item.page or 0),
    )


# --- what the PDFs say -------------------------------------------------------------------------------------------


class ReadKey(NamedTuple):
    """What was read: the files and the PDF folder."""

    files: tuple[str, ...]
    pdfs: str


READING: Final[jobs.Jobs[ReadKey, PageValues]] = jobs.Jobs("observed_reading")
"""What the session reads of the PDFs, or has read."""


def _read_key(source: Source) -> ReadKey:
    return ReadKey(source.key, str(source.pdfs))


_PAGES: Final = Cached[list[tuple[str, int]]](16)


def _pages(source: Source) -> list[tuple[str, int]]:
    return _PAGES.of((source.kind, *source.key), lambda: pages_of(source.results))


def pdfs_part(source: Source) -> None:
    """Draw what the PDFs say: the way to read them, its progress, or that they count."""
    if source.pdfs is None:
        st.caption("Without PDFs or page images; words, fonts, ink and ruled lines of pages are not searched.")
        return
    pages = _pages(source)
    root, key = source.pdfs, _read_key(source)

    def start() -> None:
        pool = pictures.pool()
        READING.start(key, lambda note: of_listed_pages(pages, PdfFolder(root), pool, note), total=len(pages))

    seen = READING.result(key)
    slice_list.pdfs_panel(READING, start=start, pages=len(pages), read=None if seen is None else len(seen), key=_KEY)


# --- the search --------------------------------------------------------------------------------------------------


class SearchResult(NamedTuple):
    """The slices of a search, how they are shown, and what was searched by measure."""

    slices: Slices
    payload: SlicesPayload
    seen: Mapping[str, MeasuredSearch]


LARGE_PAGES: Final = 2_000
"""From so many pages on a search shows how far it is, and can be cancelled."""


def search(source: Source, of: str, measure: str) -> SearchResult | None:
    """Return the slices of "A", "B" or "B-A" by a measure or `ALL`; None where the search was cancelled."""
    letters = ["A", "B"] if of == "B-A" else [of]
    places = [place for place, model in enumerate(source.models) if model.letter in letters]
    of_pages = None if source.pdfs is None else READING.result(_read_key(source))
    key = (source.kind, *source.key, of, measure, "" if of_pages is None else f"{source.pdfs} {id(of_pages)}")
    work = partial(
        _search,
        [source.results[place] for place in places],
        measure,
        tuple((source.models[place].letter, source.models[place].name) for place in places),
        of_pages,
    )
    pages = len(_pages(source))
    result = jobs.search_slices(key, work, long=pages >= LARGE_PAGES)
    if result is None:
        jobs.search_again_button(_KEY)
    return result


def _search(
    results: Sequence[Result], measure: str, names: tuple[tuple[str, str], ...], of_pages: PageValues | None
) -> SearchResult:
    words = PROTOCOLS[results[0].signature.protocol].sliced_by(results[0])
    seen: dict[str, MeasuredSearch] = {}

    def keep(name: str, observed: Observations) -> None:
        seen[name] = MeasuredSearch(observed, observation_values(observed, name, words[name]))

    slices = find_observation_slices(results, measure, of_pages=of_pages, keep=keep)
    return SearchResult(slices, observed_payload(slices, names, seen), seen)


# --- the list ----------------------------------------------------------------------------------------------------


def show_slices(source: Source, of_search: SearchResult) -> None:
    """Draw what was tested, the list, and the items of the opened slice."""
    slices = of_search.slices
    slice_list.heading(slices)
    if slices.slices:
        _shown(source, of_search)
        order = state.slices_listed
        if order is not None and order < len(slices.slices):
            _things(source, of_search, slices.slices[order])
    if slices.thin:
        frame.section("Too few documents", "as clear as the others, not ranked")
        for one in slices.thin:
            st.caption(frame.escaped(one.sentence))


def _shown(source: Source, of_search: SearchResult) -> None:
    events = components.slices(of_search.payload, key=_KEY, on_boxes=_list_things)
    page = events.open
    if page is None:
        return
    every = [item for each in of_search.seen.values() for item in each.observations.items]
    document = whole(page.document, {item.document for item in every})
    item = next((each for each in every if (each.document, each.page or 0) == (document, page.index)), None)
    if item is not None:
        source.open(item)
        st.switch_page(_VIEWS[source.kind])


def _list_things() -> None:
    state.slices_listed = components.slices.events(report(_KEY)).boxes


def _things(source: Source, of_search: SearchResult, one: Slice) -> None:
    observed = of_search.seen[one.measure].observations
    rows = one.parts[0].rows
    order = rows[np.argsort(~wrong_of(one, observed, rows), kind="stable")]
    items = [observed.items[row] for row in order.tolist()]
    words = one.words
    frame.section(
        capitalised(frame.escaped(displayed(one.subject))),
        f"{count_of(len(items), words.unit)}; a row opens it",
    )
    table: dict[str, list[str]] = {"Document": [name_in_list(item.document) for item in items]}
    if any(item.page is not None for item in items):
        table["Page"] = ["–" if item.page is None else f"{item.page + 1:,}" for item in items]
    if any(item.place for item in items):
        table[capitalised(words.unit)] = [displayed(cut(item.place)) for item in items]
    values = observed.values[:, order]
    for letter, column in zip(_letters(source, len(values)), values, strict=True):
        table[f"{capitalised(words.title)}, {letter}"] = [_value(value, words) for value in column.tolist()]

    def picked() -> None:
        for at, _ in chosen_cells(f"{_KEY}_things"):
            if at < len(items):
                source.open(items[at])
                state.slices_opens = _VIEWS[source.kind]

    widgets.table(
        pd.DataFrame(table), rows=_MOST_ROWS, on_select=picked, key=f"{_KEY}_things", columns={"Document": 240},
        alt=f"{capitalised(words.noun)} of the slice",
    )  # fmt: skip
    if State.slices_opens.pop():
        st.switch_page(_VIEWS[source.kind])


def _letters(source: Source, number: int) -> list[str]:
    return [model.letter for model in source.models] if number == len(source.models) else [state.slices_of]


def _value(value: float, words: MeasureWords) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if words.fits else "yes" if value else "no"
