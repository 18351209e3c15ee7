"""The list of slices in two views: what was tested, the component, and where its boxes and pages open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import streamlit as st

from evaluator.analysis.slices.slices import Slice, Slices
from evaluator.components.slices.payload import SlicesPayload
from evaluator.data.issues import count_of, cut, whole
from pages.app import components, frame, jobs, widgets
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, open_page, report, state
from pages.views.browser import page_listing
from pages.views.gallery import gallery_items
from pages.views.slices import slices as held

BROWSER_VIEW, GALLERY_VIEW = "pages/page_browser.py", "pages/gallery.py"


def pdfs_panel(
    reading: jobs.Jobs[Any, Any], *, start: Callable[[], None], pages: int, read: int | None, key: str
) -> None:
    """Draw the way to read `pages` pages of PDFs, its progress, or how many were `read`, if any."""
    unread = f"Also search by words, fonts, ink, pictures and ruled lines: reads {count_of(pages, 'page')}."
    counted = f"Also by words, fonts, ink, pictures and ruled lines of {count_of(read or 0, 'page')}."
    jobs.read_pdfs_panel(reading, start=start, unread=unread, read=None if read is None else counted, key=key)


def heading(slices: Slices) -> None:
    """Draw how many slices there are and what was tested, or that the documents are too few."""
    if not slices.enough:
        st.info(frame.escaped(slices.summary))
    else:
        frame.section(slices.heading, slices.tested)


def of_choice(
    loaded: LoadedBoxes, of: str, measure: str, *, key: str, below: Callable[[Slices], None] = lambda _slices: None
) -> None:
    """Draw the slices of A, B or "B-A", and of too few documents; ValueError for an average that is not there."""
    # What comes in the place of something else has the same place in both: nothing moves.
    head = st.container(horizontal=True, vertical_alignment="center", gap="small")
    body = st.container()
    rest = st.empty()

    with head:
        result = held.search(loaded, of, measure)
        if result is None:
            jobs.search_again_button(key)
            return
        slices, payload = result
        heading(slices)
    with body:
        if slices.slices:
            draw_list(loaded, slices, payload, key=key, of=of)
    with rest.container():
        too_few(loaded, slices, key=key, of=of)
        below(slices)


@st.fragment
def draw_list(loaded: LoadedBoxes, slices: Slices, payload: SlicesPayload, *, key: str, of: str) -> None:
    """Draw the list; a crop that is wanted runs this part of the view only."""
    cards = {card.key: card for one in payload.slices for card in one.examples}

    def want() -> None:
        wanted = components.slices.events(report(key)).want or ()
        state.slices_wanted = [name for name in wanted if name in cards]

    asked = [cards[name] for name in State.slices_wanted.pop()]
    full = _sent(msgspec.structs.replace(payload, crops=gallery_items.crops_of(loaded, asked)))
    events = components.slices(full, key=key, on_want=want)
    # A page or a slice from a browser: only one of the list.
    page, order = events.open, events.boxes
    if page is not None and any(
        (page.document, page.index) == (each.document, each.index) for one in payload.slices for each in one.pages
    ):
        state.model = _model(loaded, of)
        open_page(whole(page.document, loaded.dataset.document_code), page.index)
        st.switch_page(BROWSER_VIEW)
    if order is not None and order < len(slices.slices):
        _choose(loaded, slices.slices[order], of)
        st.switch_page(GALLERY_VIEW)


def _sent(payload: SlicesPayload) -> SlicesPayload:
    shown = [
        msgspec.structs.replace(
            one, examples=[msgspec.structs.replace(card, document=cut(card.document)) for card in one.examples]
        )
        for one in payload.slices
    ]
    return msgspec.structs.replace(payload, slices=shown)


def too_few(loaded: LoadedBoxes, slices: Slices, *, key: str, of: str) -> None:
    """Draw the slices from too few documents in a band of their own; each opens its boxes."""
    if not slices.thin:
        return
    frame.section("Too few documents", "as clear as the others, not ranked")
    for place, one in enumerate(slices.thin):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(frame.escaped(one.sentence))
            words, at = f"Show {count_of(one.boxes, 'box')}", f"{key}_few_{place}"
            widgets.button_to_view(GALLERY_VIEW, words, _choose, loaded, one, of, key=at, type="tertiary")


def _choose(loaded: LoadedBoxes, one: Slice, of: str) -> None:
    page_listing.clear_filter()
    state.gallery_third = ""
    state.model = _model(loaded, of)
    gallery_items.show_query(held.question_of(one))


def _model(loaded: LoadedBoxes, of: str) -> int:
    return loaded.pair[0 if of == "A" else 1].index
