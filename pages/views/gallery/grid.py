"""Grid on screen, in Pages and in Queue: its filter, its cards, and what becomes of the reader's answers."""

from __future__ import annotations

from typing import Final

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.components.gallery import crops
from evaluator.matching.box_items import Query
from evaluator.matching.causes import Family
from pages.app import frame, widgets
from pages.app.components import gallery
from pages.app.results import result_key
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import State, go_to_page, report, state
from pages.views.browser import page_listing, toolbar
from pages.views.browser.page_listing import ListedPages
from pages.views.findings import findings
from pages.views.gallery import gallery_items, grid_judging
from pages.views.gallery.gallery_items import ShownItems

BROWSER_VIEW: Final = "pages/page_browser.py"
KEY: Final = "gallery"


def show(loaded: LoadedBoxes, model: Model, line: DeltaGenerator) -> None:
    """Draw the filter, in the line of the title too, and the cards of a model that pass it."""
    page_listing.drop_unknown(loaded)
    listed = gallery_items.list_pages(loaded, model)
    shown = gallery_items.filtered_items(loaded, model)
    with line:
        progress = toolbar.draw(loaded, model, listed, pages=False)
    unknown = gallery_items.slice_boxes(loaded, model)
    if isinstance(unknown, str):
        st.warning(frame.escaped(unknown), icon=":material/info:")
    _head(shown, listed)
    findings.remember_author()
    state.whole_view = False
    _cards(loaded, model, shown, listed, progress)


def _head(shown: ShownItems, listed: ListedPages) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="gallery_head"):
        toolbar.mistake_chips(listed.counts)
        toolbar.not_judged()
        widgets.switch("Order", gallery_items.ORDERS, State.gallery_sort, label_visibility="collapsed")
        sheet_choice(len(shown))


def sheet_choice(total: int) -> None:
    """Draw which of so many cards are shown, where they are more than one screen has."""
    if state.gallery_sheet * gallery_items.CARDS >= total:
        state.gallery_sheet = 0
    sheets = -(-total // gallery_items.CARDS)
    if sheets > 1:
        st.selectbox(
            "Cards",
            range(sheets),
            format_func=lambda at: _stretch(at, total),
            key=State.gallery_sheet.key,
            label_visibility="collapsed",
            width=190,
        )


def _stretch(sheet: int, total: int) -> str:
    first = sheet * gallery_items.CARDS
    return f"{first + 1:,} to {min(first + gallery_items.CARDS, total):,} of {total:,}"


@st.fragment
def _cards(loaded: LoadedBoxes, model: Model, shown: ShownItems, listed: ListedPages, progress: DeltaGenerator) -> None:
    if state.whole_view:
        st.rerun()
    toolbar.judged(progress, loaded, model, listed)
    first = state.gallery_sheet * gallery_items.CARDS
    stretch = np.arange(first, min(first + gallery_items.CARDS, len(shown)))
    of = "/".join(str(part) for part in result_key(loaded, model)[:3])
    if shown.causes is None:
        cards = crops.cards(shown.result, shown.every.take(shown.rows[stretch]))
        gallery_items.draw_cards(loaded, cards, of=of, key=KEY, empty=gallery_items.empty_text())
    else:
        families = list(shown.result.causes.alike)
        gallery_items.draw_cards(
            loaded,
            crops.cause_cards(shown.result, shown.causes[stretch]),
            of=of,
            key=KEY,
            empty=gallery_items.empty_text(),
            grid=grid_judging.part(loaded, model, shown, first, families),
            on_judge=lambda: _judge(loaded, model),
            on_cause=lambda: _choose_cause(families),
            on_model=lambda: _switch_model(loaded, model),
        )
    opened = State.gallery_opened.pop()
    if opened:
        card, _ = opened
        go_to_page(card.document, card.index)
        state.box = card.box
        st.switch_page(BROWSER_VIEW)


def _judge(loaded: LoadedBoxes, model: Model) -> None:
    named = findings.author()
    grid_judging.handle(loaded, model, gallery.events(report(KEY)).judge)
    # What is filtered by verdicts is another set now, and a name is shown outside of this part.
    state.whole_view = state.unjudged or findings.author() != named


def _choose_cause(families: list[Family]) -> None:
    at = gallery.events(report(KEY)).cause
    if at is not None and at < len(families):
        gallery_items.show_query(None if at < 0 else Query(cause=families[at]))
        state.whole_view = True


def _switch_model(loaded: LoadedBoxes, model: Model) -> None:
    if gallery.events(report(KEY)).model:
        state.model = (model.index + 1) % len(loaded.models)
        state.whole_view = True
