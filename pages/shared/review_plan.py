"""The plan of a review as two views show it: what is known of recall, the next page, and its end."""

from __future__ import annotations

import streamlit as st

from evaluator.metrics.results import count_of
from evaluator.model.issues import plain
from evaluator.review.identity import page_target
from pages.shared import frame
from pages.shared import suspects as held
from pages.shared.findings import log as findings
from pages.shared.opened import OpenedBoxes
from pages.shared.state import go_to, state
from pages.shared.suspects import REVIEWED, Known


def known_text(answer: Known) -> str:
    """What is known of the recall of a model, in words."""
    name, bound, planned = frame.lettered(answer.model), answer.bound, answer.plan
    pages = f"{bound.reviewed:,} of {count_of(bound.reviewed + bound.more, 'page')} reviewed"
    if bound.recall is None or bound.half is None:
        return f"{name}: recall {frame.number(planned.official)} on the ground truth as it is; {pages}."
    more = "enough" if bound.done else f"review {bound.more:,} more"
    return (
        f"{name}: recall {frame.number(planned.official)} → {bound.recall:.3f} ± {100 * bound.half:.1f} points; "
        f"{pages}, {more}."
    )


def keep_reviewed(document: str, page: int) -> None:
    """Say of a page that everything on it was looked at."""
    findings.save(page_target(document, page), verdict=None, tags=[REVIEWED])


def reminder(loaded: OpenedBoxes) -> None:
    """How far the review is, while its pages are looked at in the Page browser, and the way to the next one."""
    if not state.reviewing:
        return
    answers = held.known(loaded, held.listed(loaded))
    with st.container(border=True, key="review_plan"):
        st.markdown(f"**Review to ±{100 * state.suspect_margin:g} points**")
        for answer in answers:
            st.caption(frame.escaped(plain(known_text(answer))))
        if all(answer.bound.done for answer in answers):
            st.caption("The review may stop here.")
        st.button(
            "Page reviewed",
            key="plan_page_done",
            help="Of the shown page; goes to the next page of the plan.",
            disabled=not findings.author()[0] or state.doc is None,
            on_click=_done,
            args=(loaded,),
            width="stretch",
        )
        st.button("End the review", key="plan_end", on_click=_end, type="tertiary")


def _done(loaded: OpenedBoxes) -> None:
    """The shown page is reviewed; the next one of the plan is shown."""
    if state.doc is None:
        return
    keep_reviewed(state.doc, state.page or 0)
    answers = held.known(loaded, held.listed(loaded))
    following = held.next_page(answers[0])
    if following is None or all(answer.bound.done for answer in answers):
        state.reviewing = False
        return
    go_to(*held.page_of(loaded.dataset, following))


def _end() -> None:
    state.reviewing = False
