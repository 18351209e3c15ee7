"""The plan of a review on screen: what is known of recall, the pages in order, the next one, its end."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import streamlit as st

from evaluator.analysis.suspects.review_plan import course
from evaluator.data.issues import count_of, displayed, plain
from evaluator.review.identity import page_target
from pages.app import frame, widgets
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, chosen_cells, go_to_page, open_page, state
from pages.views.findings import findings
from pages.views.suspects import suspects
from pages.views.suspects.suspects import REVIEWED, PlanProgress

BROWSER_VIEW = "pages/page_browser.py"
DONE_KEY = "D"
"""The key of "Page reviewed", in every view."""


# --- what is known ---------------------------------------------------------------------------------------------------


def known_text(answer: PlanProgress) -> str:
    """Return what is known of the recall of a model, in words."""
    name, bound, planned = frame.letter_and_name(answer.model), answer.bound, answer.plan
    pages = f"{bound.reviewed:,} of {count_of(bound.reviewed + bound.more, 'page')} reviewed"
    if bound.recall is None or bound.half is None:
        return f"{name}: recall {frame.number(planned.official)} on the ground truth as it is; {pages}, no bound yet."
    wanted = f"±{100 * planned.margin:g} points"
    more = f"enough for {wanted}" if bound.done else f"{count_of(bound.more, 'more page')} to {wanted}"
    return (
        f"{name}: recall {frame.number(planned.official)} → {frame.number(bound.recall)}, "
        f"known to ±{100 * bound.half:.1f} "
        f"points; {pages}, {more}."
    )


def may_stop(answers: Sequence[PlanProgress]) -> bool:
    """Return whether the recall of every model is known to the margin."""
    return all(answer.bound.done for answer in answers)


def margin_choice() -> None:
    """Draw to how many points the recall is to be known."""
    margins = {margin: f"±{100 * margin:g} points" for margin in suspects.MARGINS}
    widgets.switch("Recall known to", margins, State.suspect_margin, label_visibility="collapsed")


def known_lines(answers: Sequence[PlanProgress]) -> None:
    """Draw what is known of the recall of each model, and whether the review may stop."""
    text = [known_text(answer) for answer in answers]
    text += ["The review may stop here."] if may_stop(answers) else []
    st.html(f'<p class="ls-state">{"<br>".join(html.escape(plain(line)) for line in text)}</p>')


def course_chart(answers: Sequence[PlanProgress], *, key: str) -> None:
    """Draw how the half width of the interval falls with the reviewed pages."""
    courses = {answer.model.letter: course(answer.plan, answer.reviewed) for answer in answers}
    if any(each.expected for each in courses.values()):
        from evaluator.charts.review import half_width  # every view imports this module, and few draw a chart

        chart = half_width(courses, margin=state.suspect_margin, baseline="A", dark=frame.is_dark())
        widgets.chart(st, chart, key=key, alt="Half width of the interval by reviewed pages")


# --- its pages -------------------------------------------------------------------------------------------------------


def pages_table(pages: Sequence[suspects.PlannedPage], choose: Callable[[int], None], *, key: str, rows: int) -> None:
    """Draw the pages of the plan in order; a press on one chooses its place in the list."""

    def chosen() -> None:
        for row, _ in chosen_cells(key):
            if row < len(pages):
                choose(row)

    widgets.table(
        {
            "No.": [each.number for each in pages],
            "Document": [displayed(each.document) for each in pages],
            "Page": [str(each.page + 1) for each in pages],
            "Boxes": [each.boxes for each in pages],
            "Reviewed": ["yes" if each.reviewed else "" for each in pages],
        },
        rows=rows,
        on_select=chosen,
        key=key,
        columns={"No.": 44, "Document": 260, "Page": 50, "Boxes": 56, "Reviewed": 76},
        alt="Pages of the plan in order",
    )


def review(document: str, page: int) -> None:
    """Choose a page of the plan; Pages shows how far the review is."""
    state.reviewing = True
    open_page(document, page)


def way_to_page(document: str, page: int, *, key: str, shortcut: str | None = None) -> None:
    """Draw the button that opens a page of the plan."""
    words, symbol = "Review in Pages", ":material/find_in_page:"
    widgets.button_to_view(BROWSER_VIEW, words, review, document, page, key=key, icon=symbol, shortcut=shortcut)


def done_button(act: Callable[[], None], *, key: str, disabled: bool = False, width: str = "content") -> None:
    """Draw the button of a reviewed page; disabled without a name of the reviewer."""
    st.button(
        "Page reviewed",
        key=key,
        help="Everything on the page was looked at; goes to the next page of the plan.",
        disabled=disabled or not findings.author()[0],
        on_click=act,
        width="stretch" if width == "stretch" else "content",
        shortcut=DONE_KEY,
    )


def keep_reviewed(document: str, page: int, *, reviewed: bool = True) -> None:
    """State that a page was reviewed, or take that back; other opinions on it stay."""
    target = page_target(document, page)
    own = findings.own_opinion(target.id)
    tags = [tag for tag in (own.tags if own else ()) if tag != REVIEWED]
    note, verdict = (own.note, own.verdict) if own else ("", None)
    findings.save(target, verdict=verdict, note=note, tags=[*tags, REVIEWED] if reviewed else tags)


def reviewed_by_me(document: str, page: int) -> bool:
    """Return whether the reader stated that a page was reviewed."""
    own = findings.own_opinion(page_target(document, page).id)
    return own is not None and REVIEWED in own.tags


# --- in Pages ---------------------------------------------------------------------------------------------


def reminder(loaded: LoadedBoxes) -> None:
    """Draw, in Pages, how far a review is, and the way to the next page."""
    if not state.reviewing:
        return
    answers = suspects.plan_progress(loaded, suspects.list_suspects(loaded))
    with st.container(border=True, key="review_plan"):
        st.markdown(f"**Review to ±{100 * state.suspect_margin:g} points**")
        for answer in answers:
            st.caption(frame.escaped(plain(known_text(answer))))
        if may_stop(answers):
            st.caption("The review may stop here.")
        done_button(lambda: _done(loaded), key="plan_page_done", disabled=state.doc is None, width="stretch")
        st.button("End the review", key="plan_end", on_click=_end, type="tertiary")


def _done(loaded: LoadedBoxes) -> None:
    if state.doc is None:
        return
    keep_reviewed(state.doc, state.page or 0)
    answers = suspects.plan_progress(loaded, suspects.list_suspects(loaded))
    following = suspects.next_page(answers[0])
    if following is None or may_stop(answers):
        state.reviewing = False
        return
    go_to_page(*suspects.page_of(loaded.dataset, following))


def _end() -> None:
    state.reviewing = False
