"""The plan of a review on screen: what is known of recall, the pages in order, the next one, its end."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from evaluator.analysis.suspects.listing import too_many_labels
from evaluator.analysis.suspects.review_plan import course
from evaluator.components.gallery import crops
from evaluator.data.issues import count_of, plain
from evaluator.review.identity import page_target
from pages.app import frame, widgets
from pages.app.results import result_key, result_of
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import State, go_to_page, open_page, state
from pages.views.findings import findings
from pages.views.gallery import gallery_items
from pages.views.suspects import suspects
from pages.views.suspects.suspects import REVIEWED, PlanProgress

BROWSER_VIEW = "pages/page_browser.py"


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


def show(
    loaded: LoadedBoxes, model: Model, answers: Sequence[PlanProgress], pages: Sequence[suspects.PlannedPage]
) -> None:
    """Draw what is known so far, and the pages of the plan in order as cards that open in Pages."""
    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        facts = "whole pages, drawn at random in strata: recall of all pages follows with its bound"
        frame.section("Sample of pages", facts)
        known_lines(answers)
        margin_choice()
    with right:
        course_chart(answers, key="plan_course")
    _cards(loaded, model, pages)


@st.fragment
def _cards(loaded: LoadedBoxes, model: Model, pages: Sequence[suspects.PlannedPage]) -> None:
    result, made = result_of(loaded, model), []
    for page in pages:
        row = loaded.dataset.page_row(page.document, page.page)
        if row is not None:
            facts = [count_of(page.boxes, "ground truth box"), *(["reviewed"] if page.reviewed else [])]
            made.append(crops.page_card(result, row, title=f"Page {page.number} of the sample", facts=facts))
    of = "/".join(str(part) for part in ("sample", *result_key(loaded, model)[:3]))
    gallery_items.draw_cards(loaded, made, of=of, key="sample", empty="No page is to be reviewed.")
    opened = State.gallery_opened.pop()
    if opened:
        card, _ = opened
        state.reviewing = True
        open_page(card.document, card.index)
        st.switch_page(BROWSER_VIEW)


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
    if not state.reviewing or too_many_labels(loaded.dataset):
        return
    answers = suspects.plan_progress(loaded, suspects.list_suspects(loaded))
    with st.container(border=True, key="review_plan"):
        st.markdown(f"**Review to ±{100 * state.suspect_margin:g} points**")
        for answer in answers:
            st.caption(frame.escaped(plain(known_text(answer))))
        if may_stop(answers):
            st.caption("The review may stop here.")
        if state.doc is not None and reviewed_by_me(state.doc, state.page or 0):
            st.button("Page not reviewed", key="plan_page_undone", on_click=_undo, width="stretch")
        else:
            st.button(
                "Page reviewed",
                key="plan_page_done",
                help="Everything on the page was looked at; goes to the next page of the plan.",
                # Without a name nobody has reviewed it.
                disabled=state.doc is None or not findings.author()[0],
                on_click=_done,
                args=(loaded,),
                width="stretch",
                shortcut="D",
            )
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


def _undo() -> None:
    if state.doc is not None:
        keep_reviewed(state.doc, state.page or 0, reviewed=False)


def _end() -> None:
    state.reviewing = False
