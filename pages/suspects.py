"""Suspected ground truth: what two models and the look of a box speak against, with the proposed correction."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

import streamlit as st

from evaluator.charts.review import half_width
from evaluator.model.issues import plain
from evaluator.suspects.listing import Suspects
from evaluator.suspects.planning import course
from pages.shared import components, frame, headline, reading, review_plan, widgets
from pages.shared import suspects as held
from pages.shared.address import read_url, write_url
from pages.shared.findings import log as findings
from pages.shared.opened import OpenedBoxes
from pages.shared.state import AnyField, State, chosen_cells, go_to, report, state
from pages.shared.suspects import Known

BROWSER_VIEW = "pages/page_browser.py"
_TITLE: Final = "Suspected ground truth"
_KEY: Final = "suspects_list"


# --- choices ---------------------------------------------------------------------------------------------------------


def _sidebar(loaded: OpenedBoxes) -> None:
    """Filter and reviewer."""
    with st.sidebar:
        frame.document_choice(loaded)
        frame.label_choice(loaded)
        st.slider("Minimum evidence", 0.0, 1.0, step=0.05, key=State.suspect_least.key, persist_state="session")
        st.checkbox("Only without verdict", key=State.suspect_unjudged.key, persist_state="session")
        findings.ask_author()


def _start_choices() -> None:
    """Widgets read the session; a field that was never written begins at its own start."""
    fields: tuple[AnyField, ...] = (
        State.suspect_least,
        State.suspect_unjudged,
        State.suspect_kind,
        State.suspect_margin,
    )
    for field in fields:
        field.set(field.get())


def _kinds(every: Suspects) -> None:
    """All kinds, or one, each with its number."""
    totals = held.counts(every)
    names = {kind: f"{kind.capitalize() or 'All'} {total:,}" for kind, total in totals.items()}
    widgets.switch("Kind", names, State.suspect_kind, label_visibility="collapsed")


def _pages_read(loaded: OpenedBoxes) -> None:
    """Words and ink of the pages: the way to them, their progress, or that they count."""
    if loaded.project.pdfs is None:
        return
    read = held.with_pages(loaded)
    reading.panel(
        held.READING,
        start=lambda: held.read_pages(loaded),
        unread="Words and ink of the pages do not count yet.",
        read=None if read is None else "Words and ink of the likeliest suspects' pages count.",
        key="suspects",
    )


# --- the list and the chosen suspect ---------------------------------------------------------------------------------


@st.fragment
def _list(loaded: OpenedBoxes, every: Suspects, signature: str) -> None:
    """The component; pictures that are wanted run this part of the view only, an answer runs all of it."""
    chosen = held.chosen(every, findings.review_log(), signature)
    if not chosen.entries:
        st.html('<div class="ls-empty"><p>No suspect passes the filter.</p></div>')
        return

    def want() -> None:
        state.suspects_wanted = components.parse_suspects(report(_KEY)).want

    def judged() -> None:
        verdict = components.parse_suspects(report(_KEY)).verdict
        if verdict is not None:
            held.judge(every, verdict, signature)

    heard = components.parse_suspects(report(_KEY))
    has = heard.want.held if heard.want else "".join(heard.verdict.held) if heard.verdict else ""
    # After an answer the whole view runs once more, and the browser still has its list.
    has = has or State.suspects_held.take()
    events = components.suspects(held.payload(loaded, every, chosen, has), key=_KEY, on_want=want, on_verdict=judged)
    # A page from a browser: only one of the list.
    page = events.open
    if page is not None and any(
        (entry.target.document, entry.target.page) == (page.document, page.index) for entry in chosen.entries
    ):
        go_to(page.document, page.index)
        st.switch_page(BROWSER_VIEW)
    if events.verdict is not None:
        # The plan below counts the answer too.
        state.suspects_held = has
        st.rerun()


# --- how much to review ----------------------------------------------------------------------------------------------


def _plan(loaded: OpenedBoxes, every: Suspects) -> None:
    """How many pages to review, which ones, and what is known of the recall."""
    margins = {margin: f"±{100 * margin:g} points" for margin in held.MARGINS}
    head, control = st.columns([1.6, 1], vertical_alignment="center")
    head.html('<h2 class="ls-section">How much to review <small>whole pages, drawn at random in strata</small></h2>')
    with control.container(horizontal=True, horizontal_alignment="right"):
        widgets.switch("Recall known to", margins, State.suspect_margin, label_visibility="collapsed")
    answers = held.known(loaded, every)
    text = [review_plan.known_text(answer) for answer in answers]
    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        st.html(f'<p class="ls-state">{"<br>".join(html.escape(plain(line)) for line in text)}</p>')
        _next_page(loaded, answers)
        _sample(loaded, answers[0])
    with right:
        courses = {answer.model.letter: course(answer.plan, answer.reviewed) for answer in answers}
        if any(each.expected for each in courses.values()):
            chart = half_width(courses, margin=state.suspect_margin, baseline="A", dark=frame.is_dark())
            widgets.chart(st, chart, key="plan_course", alt="Half width of the interval by reviewed pages")


def _next_page(loaded: OpenedBoxes, answers: Sequence[Known]) -> None:
    """The next page of the plan, and that it is done."""
    following = held.next_page(answers[0])
    if following is None or all(answer.bound.done for answer in answers):
        return
    document, page = held.page_of(loaded.dataset, following)
    expected = f"Next page of the plan: {frame.shortened(document, 60)}, page {page + 1}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(frame.escaped(expected))
        words, symbol = "Review in the Page browser", ":material/find_in_page:"
        widgets.way_to(BROWSER_VIEW, words, _review, document, page, key="plan_page", icon=symbol)
        st.button(
            "Page reviewed",
            key="plan_done",
            disabled=not findings.author()[0],
            on_click=review_plan.keep_reviewed,
            args=(document, page),
        )


def _sample(loaded: OpenedBoxes, answer: Known) -> None:
    """The pages of the plan in order; a row opens its page."""
    pages = held.planned_pages(answer, loaded.dataset)
    key = "plan_sample"
    widgets.table(
        {
            "No.": [each.number for each in pages],
            "Document": [plain(each.document) for each in pages],
            "Page": [str(each.page + 1) for each in pages],
            "Boxes": [each.boxes for each in pages],
            "Reviewed": ["yes" if each.reviewed else "" for each in pages],
        },
        rows=6,
        on_select="rerun",
        key=key,
        columns={"No.": 44, "Document": 260, "Page": 50, "Boxes": 56, "Reviewed": 76},
        alt="Pages of the plan in order",
    )
    for row, _ in chosen_cells(key):
        if row < len(pages):
            _review(pages[row].document, pages[row].page)
            st.switch_page(BROWSER_VIEW)


def _review(document: str, page: int) -> None:
    """Choose a page of the plan; the Page browser shows how far the review is."""
    state.reviewing = True
    go_to(document, page)


# --- the view --------------------------------------------------------------------------------------------------------


def view() -> None:
    """The whole view."""
    read_url("suspects")
    loaded = frame.open_boxes(_TITLE)
    if loaded is None:
        return
    _start_choices()
    frame.files_choice(loaded)
    _sidebar(loaded)
    signature = frame.signature(loaded, loaded.pair)
    frame.title(_TITLE, signature)
    frame.banners(loaded, loaded.pair)
    headline.operating_point(loaded, loaded.pair)
    every = held.listed(loaded)
    left, right = st.columns([1, 1.05], vertical_alignment="center")
    with left:
        _kinds(every)
    with right:
        _pages_read(loaded)
    _list(loaded, every, signature)
    _plan(loaded, every)
    frame.sidebar(loaded)
    write_url("suspects")


view()
