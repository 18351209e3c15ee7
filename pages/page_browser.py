"""Page browser: the mistakes of one model on the page itself."""

from __future__ import annotations

import msgspec
import streamlit as st

from evaluator.drawing.mistake_filter import kept_text
from evaluator.drawing.page_strip import strip
from evaluator.drawing.payloads import (
    EmptyItem,
    ModelItem,
    PageEvents,
    PagePayload,
    ViewedPageItem,
    with_layers,
    with_notes,
    without_page,
)
from evaluator.drawing.text_lost import TextSummary
from evaluator.metrics.error_types import DOCUMENT, ERROR_TYPES
from evaluator.metrics.results import count_of
from evaluator.model.boxes import IntArray
from evaluator.model.issues import plain
from pages.shared import frame, session
from pages.shared import session_browser as browser
from pages.shared import session_findings as findings
from pages.shared import session_words as words
from pages.shared.viewer import parse_events, viewer

_KEY = "viewer"
_PAGES_OFFERED = 500
_ORDERS = {"worst": "Worst first", "page": "In order"}


def _filters(found: session.Opened, counts: IntArray) -> None:
    """The filter, in the sidebar: what, how sure, and which pages."""
    titles = {name: ERROR_TYPES["document"][name].title for name in DOCUMENT}
    present = [name for code, name in enumerate(DOCUMENT) if counts[code] or name in session.chosen("mistake_names")]
    st.pills(
        "Mistake",
        present,
        selection_mode="multi",
        format_func=lambda name: f"{titles[name]} {counts[DOCUMENT.index(name)]:,}",
        key="mistake_names",
        persist_state="session",
        help="None chosen shows all.",
    )
    frame.label_choice(found)
    _range("Box score", "score_range", "Missed boxes have no score and stay.")
    st.checkbox("Only pages with mistakes", key="only", persist_state="session")
    st.checkbox("Only without verdict", key="unjudged", persist_state="session")
    with st.expander("More filters"):
        _range(
            "IoU of the pair", "fit_range", "Mistakes without a pair have none; they stay when the range begins at 0."
        )
        _range("Size, share of the page", "size_range", "Of the largest box of a mistake.")
        st.segmented_control(
            "Pages",
            list(_ORDERS),
            format_func=_ORDERS.__getitem__,
            key="order",
            required=True,
            persist_state="session",
        )
        _poor_matches()
        _saved_filters()


def _range(label: str, key: str, explained: str) -> None:
    """A slider for two bounds."""
    st.slider(label, 0.0, 1.0, step=0.01, key=key, persist_state="session", help=explained)


def _poor_matches() -> None:
    """Matched boxes that fit badly, as mistakes of their own."""
    st.checkbox(
        "Also poor matches",
        key="poor",
        persist_state="session",
        help="Matched pairs below these shares are listed as cut off or over-cropped. The counts of TP, FP and FN "
        "stay as they are.",
    )
    if session.chosen("poor"):
        for name, key in (("Coverage below", "poor_coverage"), ("Purity below", "poor_purity")):
            st.slider(name, 0.0, 1.0, step=0.01, key=key, persist_state="session")


def _saved_filters() -> None:
    """Filters of this session under names."""
    saved = list(browser.saved_filters())
    name = st.text_input("Save the filter as", key="filter_name", max_chars=60)
    with st.container(horizontal=True, gap="small"):
        if st.button("Save", key="filter_save"):
            wrong = browser.save_filter(name)
            if wrong:
                st.caption(wrong)
            else:
                st.rerun()
    for each in saved:
        with st.container(horizontal=True, gap="small", key=f"saved_{saved.index(each)}"):
            st.button(
                frame.escaped(frame.shortened(each, 22)),
                key=f"use_{saved.index(each)}",
                on_click=browser.use_filter,
                args=(each,),
                width="stretch",
            )
            st.button(
                "Delete",
                key=f"forget_{saved.index(each)}",
                on_click=browser.forget_filter,
                args=(each,),
                type="tertiary",
            )


def _page_choice(shown: browser.Listed) -> None:
    """The pages of the list with their counts; choosing one opens it.

    It names no page as the chosen one: the viewer turns pages without running this part of the view again.
    """
    several = shown.chosen.document is None
    offered = range(min(_PAGES_OFFERED, len(shown.pages)))

    def name(position: int) -> str:
        document, index = shown.pages.at(position)
        mistakes = count_of(int(shown.pages.mistakes[position]), "mistake")
        return f"{index + 1} · {mistakes}{' · ' + plain(document) if several else ''}"

    def go() -> None:
        position = session.chosen("page_wish")
        if position is not None and position < len(shown.pages):
            session.go_to(*shown.pages.at(position))
        session.choose("page_wish", None)

    st.selectbox(
        "Pages, worst first" if session.chosen("order") == "worst" else "Pages, in order",
        offered,
        index=None,
        format_func=name,
        key="page_wish",
        placeholder=f"Go to one of {len(shown.pages):,}",
        on_change=go,
        disabled=not len(shown.pages),
    )


def _text_by_label(found: session.Opened, model: session.Model, document: str | None) -> None:
    """How much text the model loses, by label: counted when asked for, because every page must be read."""
    job = words.under_way()
    running = job is not None and job.running
    with st.expander("Text lost by label", expanded=running):
        st.fragment(_text_count, run_every=0.5 if running else None)(found, model, document, running)


def _text_count(found: session.Opened, model: session.Model, document: str | None, was_running: bool) -> None:
    """The count, its progress, or the way to it."""
    job, summary = words.under_way(), words.counted(found, model, document)
    if job is not None and job.running:
        done = job.summary.pages if job.summary else 0
        st.progress(done / max(job.total, 1), text=f"{done:,} of {count_of(job.total, 'page')}")
        if st.button("Stop", key="words_stop"):
            words.stop()
        return
    if was_running:
        st.rerun()
    if summary is None:
        pages = len(words.rows_of(found, document))
        if job is not None and job.failed:
            st.caption("The count ended with an error of the program; the log has it.")
        st.caption(f"Reads the words of {count_of(pages, 'page')}.")
        if st.button("Count", key="words_count", disabled=not pages):
            words.start(found, model, document)
            st.rerun()
        return
    _text_table(found, summary)


def _text_table(found: session.Opened, summary: TextSummary) -> None:
    """Labels with the most lost words first."""
    rows = summary.rows(found.dataset.labels)
    told = f"{count_of(summary.pages, 'page')}"
    if summary.silent:
        told += f"; {summary.silent:,} without a text layer or unreadable, not counted"
    if rows:
        st.dataframe(
            {
                "Label": ["All labels" if row["label"] is None else plain(row["label"]) for row in rows],
                "Lost %": [None if row["share"] is None else 100 * row["share"] for row in rows],
                "Lost": [row["lost"] for row in rows],
                "Words": [row["words"] for row in rows],
                "Elsewhere": [row["elsewhere"] for row in rows],
                "Foreign": [row["foreign"] for row in rows],
            },
            hide_index=True,
            row_height=26,
            column_config={
                "Label": st.column_config.TextColumn(width=80),
                "Lost %": st.column_config.NumberColumn(format="%.1f", width=56),
                "Lost": st.column_config.NumberColumn(help="In a ground truth and in no prediction.", width=52),
                "Words": st.column_config.NumberColumn(help="In a ground truth of the label.", width=60),
                "Elsewhere": st.column_config.NumberColumn(help="Only in predictions of other labels.", width=80),
                "Foreign": st.column_config.NumberColumn(
                    help="In a prediction of the label, in no ground truth of it.", width=70
                ),
            },
        )
    st.caption(f"Words of the text layer. {told}.")


def _events() -> PageEvents:
    return parse_events(session.chosen(_KEY))


def _went(shown: browser.Listed) -> None:
    """A page turn, a click on the strip, the way to the next mistake."""
    go = _events().go
    if go is None:
        return
    if go.mistake:
        browser.turn_to_mistake(shown, go.document, go.index, go.mistake)
    else:
        browser.turn(shown, go.document, go.index, go.step)


def _selected() -> None:
    """A box was chosen or let go."""
    selected = _events().selected
    if selected is not None:
        session.choose("box", selected.key)


def _sharper() -> None:
    """The page is zoomed beyond its picture."""
    wish = _events().sharper
    if wish is not None:
        session.choose("sharper", (wish.document, wish.index, min(wish.width, 8_000)))


def _judged(found: session.Opened, model: session.Model) -> None:
    """A verdict; what the store does not take comes back with the page, marked as not saved."""
    event = _events().verdict
    if event is not None:
        place = session.Place(event.document, event.index)
        told = {"target": event.target, "verdict": event.verdict, "note": event.note}
        findings.handle(found, model, place, told)


def _flipped(letters: list[str]) -> None:
    """The other model."""
    letter = _events().model
    if letter in letters:
        session.choose("model", letter)
        session.choose("whole_view", True)


def _cleared() -> None:
    """All filters off."""
    browser.clear_filter()
    session.choose("whole_view", True)


def view() -> None:
    """The whole view."""
    session.begin("page_browser")
    found = session.opened()
    if found is None:
        frame.title("Page browser", "")
        frame.sidebar(None)
        frame.need_files()
        return
    chosen = session.models(found)
    frame.title("Page browser", frame.signature(found, chosen))
    frame.banners(found)
    frame.operating_point(found, pick_model=True)
    model = session.model_choice(found)
    browser.settle_filter(found)
    shown = browser.listed(found, model)
    with st.sidebar:
        frame.document_choice(found)
        _page_choice(shown)
        _filters(found, shown.counts)
        _text_by_label(found, model, shown.chosen.document)
        with st.expander("You as reviewer"):
            findings.ask_author()
        frame.lines(kept_text(shown.pages, shown.keep, shown.chosen))
    session.choose("whole_view", False)
    _pages(found, chosen, model, shown)


@st.fragment
def _pages(
    found: session.Opened, chosen: tuple[session.Model, ...], model: session.Model, shown: browser.Listed
) -> None:
    """The viewer: a page turn runs this part only, the numbers around it stay."""
    if session.chosen("whole_view"):
        st.rerun()
    place = browser.find_place(shown)
    if place is not None:
        session.choose("doc", place.document)
        session.choose("page", place.index)
    data = _data(found, chosen, model, shown, place)
    session.leave_first_address()
    address = session.finish(
        doc=place.document if place else None,
        page=str(place.index + 1) if place else None,
        box=session.chosen("box"),
        **browser.filter_address(),
    )
    viewer(
        msgspec.structs.replace(data, address=address, signature=frame.signature(found, chosen)),
        key=_KEY,
        on_go=lambda: _went(shown),
        on_selected=_selected,
        on_sharper=_sharper,
        on_model=lambda: _flipped([other.letter for other in chosen]),
        on_clear_filter=_cleared,
        on_verdict=lambda: _judged(found, model),
    )
    if place is not None:
        browser.prepare_neighbours(found, shown, place)
    session.settle_memory("page drawn")


def _data(
    found: session.Opened,
    chosen: tuple[session.Model, ...],
    model: session.Model,
    shown: browser.Listed,
    place: session.Place | None,
) -> PagePayload:
    """What the viewer draws."""
    models = [ModelItem(other.letter, plain(other.name)) for other in chosen]
    nothing = EmptyItem("No page passes the filter.", "Clear filter")
    payload = without_page(ModelItem(model.letter, plain(model.name)), models, nothing)
    if place is None:
        return payload
    pages = shown.pages
    position = pages.position(place.document, place.index)
    wish = session.chosen("sharper")
    width = wish[2] if wish and wish[:2] == (place.document, place.index) else None
    name = next(document.name for document in found.dataset.documents if document.doc_id == place.document)
    picture = session.page_picture(found, place, width=width)
    drawn, lost = browser.drawn(found, shown, place, picture.points)
    payload = browser.with_verdicts(found, model, place, with_layers(payload, drawn))
    around = strip(shown.working.result, pages, position)
    return msgspec.structs.replace(
        payload,
        page=ViewedPageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            **msgspec.structs.asdict(lost),
            document=place.document,
            name=plain(name),
            index=place.index,
            count=session.page_count(found, place.document),
            position=0 if position is None else position + 1,
            total=len(pages),
        ),
        strip=around.pages,
        strip_first=around.first,
        selected=browser.settle_box(payload.mistakes),
        walk=browser.walk(shown, position),
        filtered=not shown.keep.all(),
        empty=None,
    )


view()
