"""Pages: the mistakes of one model on the page itself."""

from __future__ import annotations

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.components.viewer.payload import PageEvents
from evaluator.components.viewer.text_lost import TextSummary
from evaluator.data.issues import count_of, displayed
from pages.app import frame, jobs, page_list, pictures, session_files, widgets
from pages.app.address import at, leave_first_address, read_url, write_url
from pages.app.components import viewer, with_documents
from pages.app.session_files import BOXES, LoadedBoxes, Model
from pages.app.state import State, report, state
from pages.views.browser import page_listing, page_payload, text_count, toolbar
from pages.views.browser.page_listing import ListedPages
from pages.views.findings import findings
from pages.views.gallery import gallery_items
from pages.views.overview import headline
from pages.views.suspects import review_plan

GALLERY_VIEW = "pages/gallery.py"
_KEY = "viewer"


def _text_by_label(loaded: LoadedBoxes, model: Model, document: str | None) -> None:
    """How much text the model loses, by label: counted when asked for, because every page must be read."""
    job, summary = text_count.COUNT.current, text_count.finished_count(loaded, model, document)
    if job is not None and job.running:
        counted = "{:,} of " + count_of(job.total, "page")
        jobs.progress(
            text_count.COUNT, lambda at: counted.format(at.done), text_count.COUNT.cancel, "Stop", "words_stop"
        )
        return
    if summary is None:
        pages = len(text_count.page_rows(loaded, document))
        if job is not None and job.failed:
            st.caption("Counting failed; see the server log.")
        st.caption(f"Reads the words of {count_of(pages, 'page')}.")
        st.button(
            "Count",
            key="words_count",
            disabled=not pages,
            on_click=text_count.start_count,
            args=(loaded, model, document),
        )
        return
    _text_table(loaded, summary)


def _text_table(loaded: LoadedBoxes, summary: TextSummary) -> None:
    rows = summary.rows(loaded.dataset.labels)
    counted = count_of(summary.pages, "page")
    if summary.silent:
        counted += f"; {summary.silent:,} without a text layer or unreadable, not counted"
    if rows:
        widgets.table(
            {
                "Label": ["All labels" if row["label"] is None else displayed(row["label"]) for row in rows],
                "Lost %": [None if row["share"] is None else 100 * row["share"] for row in rows],
                "Lost": [row["lost"] for row in rows],
                "Words": [row["words"] for row in rows],
                "Elsewhere": [row["elsewhere"] for row in rows],
                "Foreign": [row["foreign"] for row in rows],
            },
            columns={
                "Label": 80,
                "Lost %": st.column_config.NumberColumn(format="%.1f", width=56),
                "Lost": st.column_config.NumberColumn(help="In a ground truth and in no prediction.", width=52),
                "Words": st.column_config.NumberColumn(help="In a ground truth of the label.", width=60),
                "Elsewhere": st.column_config.NumberColumn(help="Only in predictions of other labels.", width=80),
                "Foreign": st.column_config.NumberColumn(
                    help="In a prediction of the label, in no ground truth of it.", width=70
                ),
            },
        )
    st.caption(f"Words of the text layer. {counted}.")


def _events() -> PageEvents:
    loaded = session_files.load_boxes()
    return with_documents(viewer.events(report(_KEY)), lambda: loaded.dataset.document_code if loaded else ())


def _turn_page(shown: ListedPages) -> None:
    go = _events().go
    if go is None or not page_list.accept_event(go):
        return
    if go.mistake:
        page_listing.turn_to_mistake(shown, go.document, go.index, go.mistake)
    else:
        page_listing.turn(shown, go.document, go.index, go.step)
        state.box = go.box


def _select_box() -> None:
    selected = _events().selected
    if selected is not None:
        page_list.accept_event(selected)
        if (selected.document, selected.index) == (state.doc, state.page):
            state.box = selected.key


def _save_verdict(loaded: LoadedBoxes, model: Model) -> None:
    for event in findings.newly_said(_events().verdict):
        page_list.accept_event(event)
        named = findings.author()
        if event.everywhere:
            every = page_listing.targets_alike(loaded, model, event)
            findings.save_event(msgspec.structs.replace(event, targets=tuple(every)), every)
        else:
            findings.handle(loaded, model, event)
        if event.keys and (state.doc, state.page) == (event.document, event.index):
            state.box = state.box if state.box in event.keys else event.keys[0]
            state.judged_here = event.document, event.index, state.box
        if findings.author() != named:
            # The field for the name is outside of this part of the view.
            state.whole_view = True


def _show_alike() -> None:
    family = _events().alike
    if family is not None:
        gallery_items.show_alike(family)
        state.whole_view = True


def _switch_model(loaded: LoadedBoxes) -> None:
    number = _events().model
    if number in [page_payload.numbered_model(model).letter for model in loaded.models]:
        state.model = int(number) - 1
        state.whole_view = True


def _clear_filter() -> None:
    page_listing.clear_filter()
    state.whole_view = True


def view() -> None:
    """Draw the whole view."""
    read_url("page_browser")
    # Its processes start while the files are read.
    pictures.start_renderer(BOXES)
    loaded = frame.open_boxes("Pages")
    if loaded is None:
        return
    model = loaded.shown
    line = headline.of_one_model("Pages", loaded)
    page_listing.drop_unknown(loaded)
    shown = gallery_items.list_pages(loaded, model)
    with line:
        place = toolbar.draw(loaded, model, shown, pages=True)
        with st.popover("Text lost", key="text_lost"):
            _text_by_label(loaded, model, shown.chosen.document)
    review_plan.reminder(loaded)
    findings.remember_author()
    state.whole_view = False
    _pages(loaded, model, shown, place)


@st.fragment
def _pages(loaded: LoadedBoxes, model: Model, shown: ListedPages, progress: DeltaGenerator) -> None:
    if State.alike_asked.pop():
        state.whole_view = False
        st.switch_page(GALLERY_VIEW)
    if state.whole_view:
        st.rerun()
    toolbar.judged(progress, loaded, model, shown)
    place = page_listing.find_place(shown)
    if place is not None:
        state.doc, state.page = place.document, place.index
    leave_first_address()
    address = write_url("page_browser", at(place))
    viewer(
        msgspec.structs.replace(page_payload.empty_payload(loaded, model), address=address)
        if place is None
        else page_payload.payload(loaded, model, shown, place, address=address),
        key=_KEY,
        on_go=lambda: _turn_page(shown),
        on_selected=_select_box,
        on_sharper=lambda: pictures.request_sharper(_events().sharper),
        on_model=lambda: _switch_model(loaded),
        on_clear_filter=_clear_filter,
        on_verdict=lambda: _save_verdict(loaded, model),
        on_alike=_show_alike,
    )
    session_files.freeze_loaded("page drawn")


view()
