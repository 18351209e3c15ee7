"""Slices: sets of boxes in which a model is worse than elsewhere, with examples, pages and all boxes of each."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Final

import streamlit as st

from evaluator.analysis.slices.measure_values import ALL, MEASURES, WORDS, is_average
from evaluator.analysis.slices.observation_slices import measures_of
from evaluator.analysis.slices.slices import Slices, signature_of
from evaluator.data.issues import displayed
from evaluator.metrics import export
from evaluator.metrics.results import capitalised
from pages.app import frame, protocol, widgets
from pages.app.address import read_url, write_url
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, state
from pages.views.overview import headline
from pages.views.slices import observed_slices, slice_list
from pages.views.slices import slices as held

_OF_AVERAGES: Final = (
    "Averages rank all predictions, at the thresholds of the protocol and whatever the score: their slices are of "
    "pages, documents and labels."
)
_OF = {"A": "A", "B": "B", "B-A": "B minus A"}
_ALL_MEASURES: Final = (ALL, *MEASURES)
# Their names would not fit into a row.
_MANY_MEASURES: Final = 6
_LIST_WIDTH: Final = 320


def _controls(loaded: LoadedBoxes) -> None:
    offered = _OF if len(loaded.pair) > 1 else {"A": "A"}
    if state.slices_of not in offered:
        state.slices_of = "A"
    averages = protocol.chosen().averages
    if state.slices_measure not in (*_ALL_MEASURES, *averages):
        state.slices_measure = "recall"
    measures = {ALL: "All"} | {name: capitalised(WORDS[name].title) for name in (*MEASURES, *averages)}
    with st.container(horizontal=True, gap="medium"):
        widgets.switch("Of", offered, State.slices_of)
        widgets.switch("Measure", measures, State.slices_measure, help=_OF_AVERAGES if averages else None)
        overall = held.overall(loaded, state.slices_of, state.slices_measure)
        if overall:
            st.html(f'<p class="ls-overall">Over all boxes<b>{html.escape(overall)}</b></p>')


def _pdfs(loaded: LoadedBoxes) -> None:
    if loaded.project.pdfs is None:
        st.caption("Without PDFs or page images; words, fonts, ink and ruled lines are not searched.")
        return
    seen = held.pdf_facts(loaded)
    slice_list.pdfs_panel(
        held.READING,
        start=lambda: held.read_pdfs(loaded),
        pages=loaded.dataset.pages,
        read=None if seen is None else len(seen.of_pages),
        key="slices",
    )


def view() -> None:
    """Draw the whole view."""
    read_url("slices")
    kinds = observed_slices.kinds()
    kind = widgets.shown_kind(kinds, State.slices_kind)
    if kind == "boxes":
        _of_boxes(kinds)
    else:
        _observed(kind, kinds)


def _title(kinds: Mapping[str, str], facts: str = "") -> None:
    with frame.title("Slices", facts):
        widgets.kind_choice("Slices of", kinds, State.slices_kind, _drop_listed)


def _observed(kind: str, kinds: Mapping[str, str]) -> None:
    source = observed_slices.source_of(kind)
    if source is None:
        _title(kinds)
        st.info("The pixels of these files cannot be counted; Confusion shows why and asks for what is missing.")
        return
    models = [f"{model.letter}: {frame.shorten(displayed(model.name), 40)}" for model in source.models]
    _title(kinds, " · ".join([*models, signature_of([result.signature.line for result in source.results])]))
    frame.refused_parts()
    offered = _OF if len(source.models) > 1 else {"A": "A"}
    if state.slices_of not in offered:
        state.slices_of = "A"
    words = source.words
    measures = {name: capitalised(each.title) for name, each in words.items()}
    together = measures_of(words)
    if state.slices_measure not in (ALL, *measures):
        state.slices_measure = next(iter(measures))
    with st.container(horizontal=True, gap="medium"):
        widgets.switch("Of", offered, State.slices_of, on_change=_drop_listed)
        all_of = {ALL: "All" if len(together) == len(words) else f"All of {words[together[0]].noun}"}
        names = all_of | measures
        if len(measures) < _MANY_MEASURES:
            widgets.switch("Measure", names, State.slices_measure, on_change=_drop_listed)
        else:
            widgets.choice("Measure", names, State.slices_measure, on_change=_drop_listed, width=_LIST_WIDTH)
    observed_slices.pdfs_part(source)
    write_url("slices")
    of_search = observed_slices.search(source, state.slices_of, state.slices_measure)
    if of_search is None:
        return
    observed_slices.show_slices(source, of_search)
    _download(of_search.slices)


def _drop_listed() -> None:
    state.slices_listed = None


def _of_boxes(kinds: Mapping[str, str]) -> None:
    loaded = frame.open_boxes("Slices")
    if loaded is None:
        return
    chosen = loaded.pair
    _title(kinds)
    frame.banners(loaded, chosen)
    headline.thresholds(loaded, chosen, frame.signature(loaded, chosen))
    _controls(loaded)
    _pdfs(loaded)
    # Before the search: it may take long, and then the way to other views must be there.
    write_url("slices")
    _list(loaded)


def _list(loaded: LoadedBoxes) -> None:
    try:
        slice_list.of_choice(loaded, state.slices_of, state.slices_measure, key="slices", below=_below)
    except ValueError as missing:
        st.info(frame.escaped(f"{missing}."))


def _below(slices: Slices) -> None:
    if is_average(state.slices_measure):
        st.caption(frame.escaped(slices.signature))
    _download(slices)


def _download(slices: Slices) -> None:
    text = export.to_json([each.to_json() for each in slices.slices])
    st.download_button("JSON", text, "slices.json", "application/json", on_click="ignore")


view()
