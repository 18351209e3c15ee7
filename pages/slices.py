"""Slices: sets of boxes in which a model is worse than elsewhere, and the pages behind each slice."""

from __future__ import annotations

import streamlit as st

from evaluator import export
from pages.shared import components, frame, headline, widgets
from pages.shared import slices as held
from pages.shared.address import read_url, write_url
from pages.shared.opened import OpenedBoxes
from pages.shared.state import State, go_to, state

BROWSER_VIEW = "pages/page_browser.py"
_OF = {"A": "A", "B": "B", "B-A": "B minus A"}
_MEASURES = {"recall": "Recall", "precision": "Precision"}


def _controls(loaded: OpenedBoxes) -> None:
    """Which measure of which model."""
    offered = _OF if len(loaded.pair) > 1 else {"A": "A"}
    if state.slices_of not in offered:
        state.slices_of = "A"
    with st.container(horizontal=True, gap="medium"):
        widgets.switch("Of", offered, State.slices_of)
        if state.slices_of == "B-A":
            # Two models are compared on the boxes of the ground truth.
            state.slices_measure = "recall"
        else:
            widgets.switch("Measure", _MEASURES, State.slices_measure)


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
    slices, payload = held.chosen(loaded)
    if not slices.enough:
        st.info(frame.escaped(slices.summary))
    else:
        frame.section(slices.heading, slices.tested)
    if slices.slices:
        page = components.slices(payload, key="slices")
        # A page from a browser: only one of the list.
        if page is not None and (page.document, page.index) in held.pages_in(payload):
            go_to(page.document, page.index)
            st.switch_page(BROWSER_VIEW)
    text = export.to_json([each.to_json() for each in slices.slices])
    st.download_button("JSON", text, "slices.json", "application/json", on_click="ignore")
    frame.sidebar(loaded)
    write_url("slices")


view()
