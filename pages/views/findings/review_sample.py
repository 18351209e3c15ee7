"""The queue of pages to review on Findings: a drawn sample of pages in order, until recall is known to some points."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

import streamlit as st

from evaluator.components.gallery import crops
from evaluator.data.issues import count_of, plain
from evaluator.review.identity import page_targets
from pages.app import frame
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import state
from pages.views.findings import findings
from pages.views.gallery.gallery_items import crop
from pages.views.suspects import review_plan, suspects
from pages.views.suspects.suspects import PlannedPage

_PAGE_WIDTH: Final = 900
# The classes of boxes on a page by their status: what matches is drawn thin.
_CLASSES: Final = {"TP": "tp", "truth": "tp", "FP": "fp", "FN": "fn"}
NAME: Final = "sample"
"""Of the queue, among those of Findings."""


def show(loaded: LoadedBoxes) -> None:
    """Draw what is known so far and the pages in order, beside the chosen page."""
    answers = suspects.plan_progress(loaded, suspects.list_suspects(loaded))
    pages = suspects.planned_pages(answers[0], loaded.dataset)
    frame.section("Review sample", "whole pages, drawn at random in strata: recall of all pages follows with its bound")
    review_plan.known_lines(answers)
    if not pages:
        return
    place = _chosen(pages)
    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        _facts(pages, answers)
        review_plan.pages_table(pages, _choose, key="sample_pages", rows=12)
        review_plan.course_chart(answers, key="sample_course")
    with right:
        _page(loaded, pages, place)


def _chosen(pages: Sequence[PlannedPage]) -> int:
    """Return the place of the chosen page, else of the first that is not reviewed, else of the last."""
    place = state.sample_place
    if place is None:
        place = next((at for at, each in enumerate(pages) if not each.reviewed), len(pages) - 1)
    return min(place, len(pages) - 1)


def _choose(place: int) -> None:
    state.sample_place = place


def _facts(pages: Sequence[PlannedPage], answers: Sequence[suspects.PlanProgress]) -> None:
    done = answers[0].bound.reviewed
    left = max(answer.bound.more for answer in answers)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        st.caption(f"{count_of(done, 'page')} done, {left:,} left", width="content")
        review_plan.margin_choice()


def _page(loaded: LoadedBoxes, pages: Sequence[PlannedPage], place: int) -> None:
    page = pages[place]
    frame.section(
        f"{page.number}. {plain(frame.shorten(page.document, 60))}, page {page.page + 1}",
        "reviewed" if page.reviewed else "not reviewed yet",
    )
    if not findings.author()[0]:
        findings.ask_author(label="Your name, shown with your verdicts")
    with st.container(horizontal=True, gap="small", key="sample_buttons"):
        last = place == len(pages) - 1
        for words, step, off, shortcut in (("Previous", -1, not place, "P"), ("Next", 1, last, "N")):
            key = f"sample_{words.lower()}"
            st.button(words, key=key, disabled=off, on_click=_choose, args=(place + step,), shortcut=shortcut)
        review_plan.way_to_page(page.document, page.page, key="sample_open", shortcut="O")
        if page.reviewed:
            mine = review_plan.reviewed_by_me(page.document, page.page)
            st.button("Undo", key="sample_undo", on_click=_undo, args=(page, place), disabled=not mine)
        else:
            review_plan.done_button(lambda: _done(page), key="sample_done")
    for model in loaded.pair:
        _draw(loaded, model, page)


def _draw(loaded: LoadedBoxes, model: PairModel, page: PlannedPage) -> None:
    """Draw a whole page with what a model shows on it."""
    row = loaded.dataset.page_row(page.document, page.page)
    if row is None:
        return
    st.html(
        f'<p class="ls-pane-head">{frame.letter_badge(model.letter)} '
        f"<b>{html.escape(plain(frame.shorten(model.name, 40)))}</b> {_judged_count(loaded, model, page)}</p>"
    )
    whole = crop(loaded, page.document, page.page, [], width=_PAGE_WIDTH)
    spans = []
    for box in crops.page_boxes(result_of(loaded, model), row):
        x1, y1, x2, y2 = (100 * edge for edge in box.xyxy)
        place = f"left:{x1:.3f}%;top:{y1:.3f}%;width:{x2 - x1:.3f}%;height:{y2 - y1:.3f}%"
        spans.append(f'<span class="ls-crop-box ls-crop-{_CLASSES[box.status]}" style="{place}"></span>')
    image = f'<img src="{whole.image}" alt="">' if whole.image else f"<p>{html.escape(whole.problem or '')}</p>"
    shape = f"aspect-ratio:{whole.aspect:.4f};width:min(100%,{44 * whole.aspect:.2f}vh)"
    st.html(f'<div class="ls-crop" style="{shape}">{image}{"".join(spans)}</div>')


def _judged_count(loaded: LoadedBoxes, model: PairModel, page: PlannedPage) -> str:
    row = loaded.dataset.page_row(page.document, page.page)
    if row is None:
        return ""
    log = findings.review_log()
    targets = page_targets(result_of(loaded, model), row, log)
    judged = sum((each := log.get(target)) is not None and bool(each.opinions) for target in targets)
    return f"{judged:,} of {count_of(len(targets), 'mistake')} judged"


def _done(page: PlannedPage) -> None:
    review_plan.keep_reviewed(page.document, page.page)
    state.sample_place = None


def _undo(page: PlannedPage, place: int) -> None:
    review_plan.keep_reviewed(page.document, page.page, reviewed=False)
    state.sample_place = place
