"""Pages: the mistakes of one model on the page itself."""

from __future__ import annotations

import msgspec
import streamlit as st

from evaluator.components.viewer.mistake_filter import filter_summary
from evaluator.components.viewer.payload import PageEvents
from evaluator.components.viewer.text_lost import TextSummary
from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of, displayed
from evaluator.matching.error_types import DOCUMENT
from pages.app import frame, jobs, page_list, pictures, session_files, widgets
from pages.app.address import at, leave_first_address, read_url, write_url
from pages.app.components import viewer, with_documents
from pages.app.session_files import BOXES, LoadedBoxes, Model
from pages.app.state import Field, State, form_value, go_to_page, report, state
from pages.views.browser import page_listing, page_payload, text_count
from pages.views.browser.page_listing import ListedPages
from pages.views.findings import findings
from pages.views.gallery import gallery_items
from pages.views.overview import headline
from pages.views.suspects import review_plan

GALLERY_VIEW = "pages/gallery.py"
_KEY = "viewer"
_PAGES_OFFERED = 500
_ORDERS = {"worst": "Worst first", "page": "In order"}


def _filters(loaded: LoadedBoxes, counts: IntArray) -> None:
    every = zip(DOCUMENT, counts.tolist(), strict=True)
    frame.mistake_choice({name: count for name, count in every if count or name in state.mistake_names})
    frame.label_choice(loaded)
    _range("Box score", State.score_range, "Missed boxes have no score and stay.")
    st.checkbox("Only pages with mistakes", key=State.only.key, persist_state="session")
    st.checkbox("Only without verdict", key=State.unjudged.key, persist_state="session")
    with st.expander("More filters"):
        _range(
            "IoU of the pair",
            State.fit_range,
            "Mistakes without a pair have none; they stay when the range begins at 0.",
        )
        _range("Size, share of the page", State.size_range, "Of the largest box of a mistake.")
        widgets.switch("Pages", _ORDERS, State.order)
        _poor_matches()
        _saved_filters()


def _range(label: str, field: Field[tuple[float, float]], explained: str) -> None:
    st.slider(label, 0.0, 1.0, step=0.01, key=field.key, persist_state="session", help=explained)


def _poor_matches() -> None:
    """Draw the choice of matched boxes that fit badly, as mistakes of their own."""
    st.checkbox(
        "Also poor matches",
        key=State.poor.key,
        persist_state="session",
        help="Matched pairs below these shares are listed as cut off or over-cropped. The counts of TP, FP and FN "
        "stay as they are.",
    )
    if state.poor:
        for name, field in (("Coverage below", State.poor_coverage), ("Purity below", State.poor_purity)):
            st.slider(name, 0.0, 1.0, step=0.01, key=field.key, persist_state="session")


def _saved_filters() -> None:
    saved = list(state.saved_filters)
    name = st.text_input("Save the filter as", key="filter_name", max_chars=60)
    with st.container(horizontal=True, gap="small"):
        st.button("Save", key="filter_save", on_click=lambda: page_listing.save_filter(str(form_value("filter_name"))))
        refused, why = state.filter_refused
        if why and refused == name:
            st.caption(why)
    for each in saved:
        with st.container(horizontal=True, gap="small", key=f"saved_{saved.index(each)}"):
            st.button(
                frame.escaped(frame.shorten(each, 22)),
                key=f"use_{saved.index(each)}",
                on_click=page_listing.use_filter,
                args=(each,),
                width="stretch",
            )
            st.button(
                "Delete",
                key=f"delete_{saved.index(each)}",
                on_click=page_listing.delete_filter,
                args=(each,),
                type="tertiary",
            )


def _page_choice(shown: ListedPages) -> None:
    """Offer the pages of the list, none as chosen: the viewer turns pages without a run of this part."""
    several = shown.chosen.document is None
    offered = range(min(_PAGES_OFFERED, len(shown.pages)))

    def name(position: int) -> str:
        document, index = shown.pages.at(position)
        mistakes = count_of(int(shown.pages.mistakes[position]), "mistake")
        return f"{index + 1} · {mistakes}{' · ' + displayed(document) if several else ''}"

    def go() -> None:
        position = state.page_wanted
        if position is not None and position < len(shown.pages):
            go_to_page(*shown.pages.at(position))
        state.page_wanted = None

    st.selectbox(
        "Pages, worst first" if state.order == "worst" else "Pages, in order",
        offered,
        index=None,
        format_func=name,
        key=State.page_wanted.key,
        placeholder=f"Go to one of {len(shown.pages):,}",
        on_change=State.page_wanted.changed(go),
        disabled=not len(shown.pages),
    )


def _text_by_label(loaded: LoadedBoxes, model: Model, document: str | None) -> None:
    """How much text the model loses, by label: counted when asked for, because every page must be read."""
    with st.expander("Text lost by label", expanded=text_count.COUNT.running):
        _text_count(loaded, model, document)


def _text_count(loaded: LoadedBoxes, model: Model, document: str | None) -> None:
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
    """Labels with the most lost words first."""
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
    """Follow a page turn, made in the browser or asked for, a click on the strip, the way to the next mistake."""
    go = _events().go
    if go is None or not page_list.accept_event(go):
        return
    if go.mistake:
        page_listing.turn_to_mistake(shown, go.document, go.index, go.mistake)
    else:
        page_listing.turn(shown, go.document, go.index, go.step)
        state.box = go.box


def _select_box() -> None:
    """Keep the chosen box, or that none is; one of a page that was left meanwhile is not kept."""
    selected = _events().selected
    if selected is not None:
        page_list.accept_event(selected)
        if (selected.document, selected.index) == (state.doc, state.page):
            state.box = selected.key


def _save_verdict(loaded: LoadedBoxes, model: Model) -> None:
    """Save a verdict; what the store does not take comes back with the page, marked as not saved."""
    event = _events().verdict
    if event is not None:
        page_list.accept_event(event)
        named = findings.author()
        findings.handle(loaded, model, event)
        if event.keys and (state.doc, state.page) == (event.document, event.index):
            state.box = state.box if state.box in event.keys else event.keys[0]
            state.judged_here = event.document, event.index, state.box
        if findings.author() != named:
            # The field for the name is outside of this part of the view.
            state.whole_view = True


def _show_alike() -> None:
    """More causes like one of the page: the gallery shows them."""
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
    with frame.title("Pages"):
        headline.model_and_numbers(loaded, loaded.models)
    frame.banners(loaded, [model])
    headline.thresholds(loaded, [model], frame.signature(loaded, [model]))
    page_listing.drop_unknown(loaded)
    shown = gallery_items.list_pages(loaded, model)
    gallery_items.question_head(shown.words)
    with st.sidebar:
        review_plan.reminder(loaded)
        frame.document_choice(loaded)
        _page_choice(shown)
        _filters(loaded, shown.counts)
        _text_by_label(loaded, model, shown.chosen.document)
        with st.expander("Add PDFs or page images"):
            pictures.pages_uploader("page_browser_pages")
        with st.expander("Reviewer"):
            findings.ask_author()
        # Of outlines that cannot be drawn nothing else is seen here.
        issues = [frame.issues_line(loaded)] if loaded.issues else []
        frame.sidebar_lines(
            [*filter_summary(loaded.dataset, shown.words, whole=bool(shown.keep.all()) and not shown.said), *issues]
        )
    state.whole_view = False
    _pages(loaded, model, shown)


@st.fragment
def _pages(loaded: LoadedBoxes, model: Model, shown: ListedPages) -> None:
    """Draw the viewer: a page turn runs this part only, the numbers around it stay."""
    if State.alike_asked.pop():
        state.whole_view = False
        st.switch_page(GALLERY_VIEW)
    if state.whole_view:
        st.rerun()
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
