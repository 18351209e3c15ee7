"""Slices: sets of boxes in which a model is worse than elsewhere, with examples, pages and all boxes of each."""

from __future__ import annotations

from typing import Final

import streamlit as st

from evaluator import export
from evaluator.metrics.results import capitalised, count_of
from evaluator.slices.measured import ALL, MEASURES, WORDS, is_average
from pages.shared import frame, headline, protocol, reading, slice_list, widgets
from pages.shared import slices as held
from pages.shared.address import read_url, write_url
from pages.shared.opened import OpenedBoxes
from pages.shared.state import State, state

_OF_AVERAGES: Final = (
    "Averages rank all predictions, at the thresholds of the protocol and whatever the score: their slices are of "
    "pages, documents and labels."
)
_OF = {"A": "A", "B": "B", "B-A": "B minus A"}
_ALL_MEASURES: Final = (ALL, *MEASURES)


def _controls(loaded: OpenedBoxes) -> None:
    """Which measure of which model, and of which measures there are no slices."""
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


def _pdfs(loaded: OpenedBoxes) -> None:
    """What the PDFs say: the way to it, its progress, or that it counts."""
    if loaded.project.pdfs is None:
        st.caption("Without PDFs or page images; words, fonts, ink and ruled lines are not searched.")
        return
    seen = held.from_pdfs(loaded)
    pages = count_of(loaded.dataset.pages, "page")
    reading.panel(
        held.READING,
        start=lambda: held.read_pdfs(loaded),
        unread=f"Also search by words, fonts, ink, pictures and ruled lines: reads {pages}.",
        read=None
        if seen is None
        else f"Also by words, fonts, ink, pictures and ruled lines of {count_of(len(seen.of_pages), 'page')}.",
        key="slices",
    )


def view() -> None:
    """The whole view."""
    read_url("slices")
    loaded = frame.open_boxes("Slices")
    if loaded is None:
        return
    frame.files_choice(loaded)
    chosen = loaded.pair
    frame.title("Slices", frame.signature(loaded, chosen))
    frame.banners(loaded, chosen)
    headline.operating_point(loaded, chosen)
    _controls(loaded)
    _pdfs(loaded)
    # Before the search: it may take long, and then the way to other views must be there.
    frame.sidebar(loaded)
    write_url("slices")
    _list(loaded)


def _list(loaded: OpenedBoxes) -> None:
    """The slices of the choice, or why there are none."""
    try:
        searched = slice_list.searched(loaded, state.slices_of, state.slices_measure, key="slices")
    except ValueError as missing:
        st.info(frame.escaped(f"{missing}."))
        return
    if searched is None:
        return
    slices, payload = searched
    if is_average(state.slices_measure):
        st.caption(frame.escaped(slices.signature))
    slice_list.listed(loaded, slices, payload, key="slices", of=state.slices_of)
    text = export.to_json([each.to_json() for each in slices.slices])
    st.download_button("JSON", text, "slices.json", "application/json", on_click="ignore")


view()
