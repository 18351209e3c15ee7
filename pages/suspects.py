"""Suspected ground truth: what two models and the look of a box speak against, with the proposed correction."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import streamlit as st

from evaluator.charts.review import half_width
from evaluator.drawing.suspect_picture import shares_of
from evaluator.metrics.results import capitalised
from evaluator.model.boxes import iou
from evaluator.model.issues import plain
from evaluator.suspects.listing import Suspects
from evaluator.suspects.pairing import NOBODY
from evaluator.suspects.planning import course
from evaluator.suspects.targets import edited
from pages.shared import frame, headline, pictures, reading, review_plan, widgets
from pages.shared import suspects as held
from pages.shared.address import read_url, write_url
from pages.shared.findings import log as findings
from pages.shared.gallery import crop
from pages.shared.opened import OpenedBoxes
from pages.shared.state import AnyField, State, chosen_cells, go_to, state
from pages.shared.suspects import Entry, Known

BROWSER_VIEW = "pages/page_browser.py"
_TITLE: Final = "Suspected ground truth"
_CROP_WIDTH: Final = 1_200
# Share of the width behind which there is no room for the name of a model beside its box.
_BESIDE: Final = 0.78
_CORRECTED: Final = "ground_truth_wrong"
_EDGES: Final = ("Left", "Top", "Right", "Bottom")
_ANSWERS: Final = (
    ("Accept correction", _CORRECTED, "1"),
    ("Model wrong", "model_wrong", "2"),
    ("Ambiguous", "ambiguous", "3"),
)


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
    again = State.suspect_kind.changed(_from_the_top)
    widgets.switch("Kind", names, State.suspect_kind, label_visibility="collapsed", on_change=again)


def _from_the_top() -> None:
    state.suspect_at = 0
    state.suspect_round += 1


def _pages_read(loaded: OpenedBoxes) -> None:
    """Words and ink of the pages: the way to them, their progress, or that they count."""
    if loaded.project.pdfs is None:
        return
    read = held.with_pages(loaded)
    reading.panel(
        held.READING,
        start=lambda: held.read_pages(loaded),
        unread="Words and ink of the pages do not count yet: cut words, uncovered ink, empty boxes.",
        read=None if read is None else "Words and ink of the likeliest suspects' pages count.",
        key="suspects",
    )


# --- queue -----------------------------------------------------------------------------------------------------------


def _queue(loaded: OpenedBoxes, every: Suspects, entries: list[Entry]) -> int:
    """The list; the place of the chosen suspect in it."""
    shown = [every[entry.place] for entry in entries]
    images = held.small_pictures(loaded, every, entries, min(state.suspect_at, len(entries) - 1))
    event: Any = widgets.table(
        {
            **({"Page": images} if any(images) else {}),
            "Evidence": [one.score for one in shown],
            "Suspect": [f"{one.kind.capitalize()} · {plain(one.label)}" for one in shown],
            "Reason": [plain(one.reason) for one in shown],
        },
        row_height=widgets.WRAPPED_HEIGHT,
        height=min(620, widgets.HEADER_HEIGHT + widgets.WRAPPED_HEIGHT * len(shown)),
        on_select="rerun",
        selection_mode="single-row",
        key=f"suspect_queue_{state.suspect_round}",
        columns={
            "Page": st.column_config.ImageColumn(width=88),
            "Evidence": st.column_config.NumberColumn(format="%.2f", width=64),
            "Suspect": 76,
            "Reason": 164 if any(images) else 226,
        },
        alt="Suspects, most likely first",
    )
    rows = event["selection"]["rows"]
    if rows and rows[0] < len(entries):
        state.suspect_at = rows[0]
    state.suspect_at = min(state.suspect_at, len(entries) - 1)
    return state.suspect_at


# --- one suspect -----------------------------------------------------------------------------------------------------


def _picture(loaded: OpenedBoxes, every: Suspects, entry: Entry) -> None:
    """The part of the page: ground truth now, the proposal, and what the models have."""
    suspect, page = every[entry.place], int(every.ranked.page[entry.place])
    rows = [int(row) for row in every.ranked.prediction[entry.place]]
    of_models = [
        (f"{loaded.pair[model].letter} {every.dataset.labels[side.label[row]]}", tuple(side.xyxy[row].tolist()))
        for model, (side, row) in enumerate(zip(every.dataset.predictions, rows, strict=True))
        if row != NOBODY
    ]
    # Both models have nearly the same box: their names stand beside it, one over the other, not at its corners.
    drawn = [
        (f"ls-crop-model {side}", name, shares_of(every.dataset, page, box))
        for side, (name, box) in zip(("ls-upper", "ls-lower"), of_models, strict=False)
    ]
    for box in entry.target.boxes:
        now = box.side == "ground_truth"
        style = "ls-crop-fn" if now else "ls-crop-proposed"
        drawn.append((style, _chip(box.label, now=now), shares_of(every.dataset, page, box.xyxy)))
    places = [box for *_, box in drawn if box is not None]
    if len(places) < len(drawn):
        st.caption("Boxes in pixels on a page of unknown size are drawn in the Page browser.")
        return
    part = crop(loaded, suspect.document, suspect.page, places, width=_CROP_WIDTH, dpi=pictures.FIRST_DPI * 1.5)
    left, top, right, bottom = part.region
    boxes = []
    for (style, name, _), (x1, y1, x2, y2) in zip(drawn, places, strict=True):
        edges = (
            (x1 - left) / (right - left),
            (y1 - top) / (bottom - top),
            (x2 - x1) / (right - left),
            (y2 - y1) / (bottom - top),
        )
        beside = "ls-right" if edges[0] + edges[2] < _BESIDE else "ls-left" if edges[0] > 1 - _BESIDE else "ls-inside"
        at = "left:{:.3f}%;top:{:.3f}%;width:{:.3f}%;height:{:.3f}%".format(*(100 * edge for edge in edges))
        chip = html.escape(plain(frame.shortened(name, 20 if "model" in style else 40)))
        boxes.append(f'<span class="ls-crop-box {style} {beside}" style="{at}"><b>{chip}</b></span>')
    image = f'<img src="{part.image}" alt="">' if part.image else f"<p>{html.escape(part.problem or '')}</p>"
    shape = f"aspect-ratio:{part.aspect:.4f};width:min(100%,{52 * part.aspect:.2f}vh)"
    st.html(f'<div class="ls-crop" style="{shape}">{image}{"".join(boxes)}</div>')


def _chip(label: str, *, now: bool) -> str:
    return f"Ground truth {label}" if now else f"Proposed {label}"


def _evidence(loaded: OpenedBoxes, every: Suspects, entry: Entry) -> None:
    """IoU of each model with the ground truth now and with the proposal."""
    suspect = every[entry.place]
    proposed = next((box.xyxy for box in entry.target.of("prediction")), None)
    rows: dict[str, list[str]] = {"Evidence": [], "Ground truth": [], "Proposed": []}
    for model, side in enumerate(every.dataset.predictions):
        row = int(every.ranked.prediction[entry.place, model])
        values = []
        for box in (suspect.bbox if suspect.kind != "missing" else None, proposed):
            there = box is not None and row != NOBODY
            values.append(f"{iou(side.xyxy[[row]], np.array([box]))[0]:.2f}" if there else "–")
        rows["Evidence"].append(f"IoU with {plain(frame.lettered(loaded.pair[model]))}")
        rows["Ground truth"].append(values[0])
        rows["Proposed"].append(values[1])
    height = widgets.HEADER_HEIGHT + widgets.ROW_HEIGHT * len(rows["Evidence"])
    widgets.table(rows, height=height, columns={"Evidence": 180, "Ground truth": 90, "Proposed": 80}, alt="Evidence")


def _answer(entry: Entry, verdict: str) -> None:
    """Keep a verdict, and go to the next suspect."""
    if verdict == _CORRECTED:
        entry, problem = _as_edited(entry)
        if problem:
            return
    refused = findings.save(entry.target, verdict=verdict, target_id=entry.id)
    if refused is not None:
        return
    held.LAST.set(entry)
    _step(0 if state.suspect_unjudged else 1)


def _step(by: int) -> None:
    """Another suspect of the list."""
    state.suspect_edited = ""
    state.suspect_at = max(state.suspect_at + by, 0)
    state.suspect_round += 1


def _undo() -> None:
    """Take the last verdict back."""
    last = held.LAST.get()
    if last is not None and findings.save(last.target, verdict=None, target_id=last.id) is None:
        held.LAST.set(None)
        _step(0)


def _buttons(loaded: OpenedBoxes, every: Suspects, entry: Entry) -> None:
    """Verdicts, steps and the way to the page."""
    named = bool(findings.author()[0])
    with st.container(horizontal=True, gap="small"):
        for words, verdict, key in _ANSWERS:
            st.button(
                words,
                key=f"suspect_{verdict}",
                shortcut=key,
                disabled=not named,
                type="primary" if key == "1" else "secondary",
                on_click=_answer,
                args=(entry, verdict),
            )
        editing = state.suspect_edited == entry.id
        words = "Proposed again" if editing else "Edit"
        st.button(words, key="suspect_edit", shortcut="e", disabled=not named, on_click=_edit, args=(every, entry))
        st.button("Skip", key="suspect_skip", shortcut="s", on_click=_step, args=(1,))
        st.button("Back", key="suspect_back", shortcut="p", on_click=_step, args=(-1,))
        st.button("Undo", key="suspect_undo", shortcut="u", disabled=held.LAST.get() is None, on_click=_undo)
        page, words = every[entry.place], "Show on the page"
        widgets.way_to(
            BROWSER_VIEW, words, go_to, page.document, page.page, key="suspect_page", icon=":material/find_in_page:"
        )
    if not named:
        st.caption("Type your name in the sidebar to answer.")
    waiting = findings.unsaved(entry.id)
    if waiting is not None:
        st.error(f"NOT SAVED. {frame.escaped(waiting.problem)}", icon=":material/error:")


# --- editing a correction --------------------------------------------------------------------------------------------


def _edit(every: Suspects, entry: Entry) -> None:
    """Begin to edit the proposed correction, from itself; or leave it as it was proposed."""
    if state.suspect_edited == entry.id:
        state.suspect_edited = ""
        return
    suspect, scale = every[entry.place], _scale(entry)
    state.suspect_edited = entry.id
    state.suspect_label = suspect.proposal.label or suspect.label
    for side, value in zip(_EDGES, suspect.proposal.bbox or suspect.bbox, strict=True):
        State.suspect_edge.of(side).set(round(value * scale, 2))


def _scale(entry: Entry) -> float:
    """By what a coordinate is multiplied for the reader: per cent of the page, or pixels."""
    return 100.0 if entry.target.unit == "page" else 1.0


def _as_edited(entry: Entry) -> tuple[Entry, str]:
    """The suspect with the correction as the reader edited it, and what is wrong with that."""
    if state.suspect_edited != entry.id or state.suspect_label is None:
        return entry, ""
    scale = _scale(entry)
    x1, y1, x2, y2 = (State.suspect_edge.of(side).get() / scale for side in _EDGES)
    try:
        return entry._replace(target=edited(entry.target, state.suspect_label, (x1, y1, x2, y2))), ""
    except ValueError as problem:
        return entry, f"{problem}."


def _edit_fields(every: Suspects, entry: Entry, problem: str) -> None:
    """Label and edges of the edited correction; the picture follows."""
    if state.suspect_edited != entry.id:
        return
    share = entry.target.unit == "page"
    most = 100.0 if share else None
    with st.container(horizontal=True, gap="small", key="suspect_fields"):
        st.selectbox("Label", every.dataset.labels, format_func=plain, key=State.suspect_label.key, width=128)
        for side in _EDGES:
            unit = "%" if share else "px"
            st.number_input(
                f"{side}, {unit}", min_value=0.0, step=0.1 if share else 1.0, format="%.2f",
                key=State.suspect_edge.of(side).key, max_value=most, width=108,
            )  # fmt: skip
    if problem:
        st.warning(capitalised(problem), icon=":material/warning:")


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
    _pages_read(loaded)
    every = held.listed(loaded)
    _kinds(every)
    entries = held.queue(every, findings.review_log(), signature)
    if entries:
        left, right = st.columns([1, 1.12], gap="medium")
        with left:
            more = f", the first {held.SHOWN}" if len(entries) == held.SHOWN else ""
            frame.section(f"{len(entries):,} to review", f"most evidence first{more}")
            entry = entries[_queue(loaded, every, entries)]
        with right:
            suspect = every[entry.place]
            frame.section(
                f"{suspect.kind.capitalize()} · {suspect.label}", f"{suspect.document}, page {suspect.page + 1}"
            )
            st.html(f'<p class="ls-state">{html.escape(plain(suspect.reason))}</p>')
            shown, problem = _as_edited(entry)
            _picture(loaded, every, shown)
            _edit_fields(every, entry, problem)
            _buttons(loaded, every, entry)
            _evidence(loaded, every, shown)
    else:
        st.html('<div class="ls-empty"><p>No suspect passes the filter.</p></div>')
    _plan(loaded, every)
    frame.sidebar(loaded)
    write_url("suspects")


view()
