"""Suspected ground truth: boxes that two models and their look speak against, with a correction."""

from __future__ import annotations

from typing import Final

import streamlit as st

from evaluator.analysis.suspects.listing import Suspects, too_many_labels
from evaluator.data.issues import whole
from pages.app import components, frame, jobs, widgets
from pages.app.address import read_url, write_url
from pages.app.session_files import LoadedBoxes
from pages.app.state import AnyField, State, open_page, report, state
from pages.views.findings import findings, review_counts
from pages.views.overview import headline
from pages.views.suspects import suspects

BROWSER_VIEW = "pages/page_browser.py"
_TITLE: Final = "Suspects"
_KEY: Final = "suspects_list"


# --- choices ---------------------------------------------------------------------------------------------------------


def _filter(loaded: LoadedBoxes) -> None:
    with frame.choices():
        frame.document_choice(loaded)
        frame.label_choice(loaded)
        st.slider("Minimum evidence", 0.0, 1.0, step=0.05, key=State.suspect_least.key, persist_state="session")
        st.checkbox("Only without verdict", key=State.suspect_unjudged.key, persist_state="session")
        findings.ask_author()


def _start_choices() -> None:
    """Write each field to the session: a widget without a value would not begin at its start."""
    fields: tuple[AnyField, ...] = (State.suspect_least, State.suspect_unjudged, State.suspect_kind)
    for field in fields:
        field.set(field.get())


def _kinds(every: Suspects) -> None:
    totals = suspects.counts(every)
    names = {kind: f"{kind.capitalize() or 'All'} {total:,}" for kind, total in totals.items()}
    widgets.switch("Kind", names, State.suspect_kind, label_visibility="collapsed")


def _pages_read(loaded: LoadedBoxes) -> None:
    if loaded.project.pdfs is None:
        return
    read = suspects.with_pages(loaded)
    jobs.read_pdfs_panel(
        suspects.READING,
        start=lambda: suspects.read_pages(loaded),
        unread="Words and ink of the pages do not count yet.",
        read=None if read is None else "Words and ink of the likeliest suspects' pages count.",
        key="suspects",
    )


# --- the list and the chosen suspect ---------------------------------------------------------------------------------


@st.fragment
def _list(loaded: LoadedBoxes, every: Suspects, signature: str) -> None:
    chosen = suspects.filtered_suspects(every, findings.review_log(), signature)
    if not chosen.entries:
        filtered = suspects.is_filtered()
        why = "No suspect passes the filter." if filtered else "No ground truth box is suspected."
        with st.container(key="suspects_none"):
            st.html(f'<div class="ls-empty"><p>{why}</p></div>')
        if filtered:
            st.button("Clear filter", on_click=suspects.clear_filter)
        return

    def want() -> None:
        wanted = components.suspects.events(report(_KEY)).want
        state.suspects_wanted = wanted
        state.suspects_near = wanted.near if wanted is not None else ()

    def judged() -> None:
        for event in findings.newly_said(components.suspects.events(report(_KEY)).verdict):
            suspects.judge(every, event, signature)

    heard = components.suspects.events(report(_KEY))
    has = heard.want.held if heard.want else "".join(heard.verdict[-1].held) if heard.verdict else ""
    # After an answer the whole view runs once more, and the browser still has its list.
    has = has or State.suspects_held.pop()
    events = components.suspects(
        suspects.payload(loaded, every, chosen, has), key=_KEY, on_want=want, on_verdict=judged
    )
    # A page from a browser: only one of the list.
    page = events.open
    document = whole(page.document, loaded.dataset.document_code) if page is not None else ""
    if page is not None and any(
        (entry.target.document, entry.target.page) == (document, page.index) for entry in chosen.entries
    ):
        open_page(document, page.index)
        st.switch_page(BROWSER_VIEW)
    if events.verdict:
        # The numbers above count the answer too.
        state.suspects_held = has
        st.rerun()


# --- the view --------------------------------------------------------------------------------------------------------


def view() -> None:
    """Draw the whole view."""
    read_url("suspects")
    loaded = frame.open_boxes(_TITLE)
    if loaded is None:
        return
    _start_choices()
    signature = frame.signature(loaded, loaded.pair)
    if state.entered_bare:
        suspects.open_unanswered()
    with frame.title(_TITLE, counts=review_counts.counts_of(loaded)):
        _filter(loaded)
    frame.banners(loaded, loaded.pair)
    headline.thresholds(loaded, loaded.pair, signature)
    if refused := too_many_labels(loaded.dataset):
        st.html(f'<div class="ls-empty"><p>{refused[0].upper()}{refused[1:]}</p></div>')
        return
    every = suspects.list_suspects(loaded)
    left, right = st.columns([1, 1.05], vertical_alignment="center")
    with left:
        _kinds(every)
    with right:
        _pages_read(loaded)
    _list(loaded, every, signature)
    write_url("suspects")


view()
