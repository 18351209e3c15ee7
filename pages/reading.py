"""Reading: the order in which a model reads the items of a page, their text, and the cells of tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
import streamlit as st

from evaluator.compare.metrics import METRICS
from evaluator.components.viewer.payload import PageEvents
from evaluator.components.viewer.reading import READINGS, ListedPages
from evaluator.data.issues import Issue, count_of, displayed, has_errors, issue_count
from evaluator.protocols.items import DEFAULT_IOU, ItemProtocol
from evaluator.protocols.text.pdf_text import FROM_PDFS
from evaluator.workspace.roles import sample_reading
from pages.app import frame, page_list, pictures, session_files, widgets
from pages.app.address import at, leave_first_address, read_url, write_url
from pages.app.components import viewer, with_documents
from pages.app.session_files import BOXES, LoadedBoxes, Model
from pages.app.state import ITEM_IOU, Field, State, report, state
from pages.views.browser.page_payload import empty_payload, numbered_model
from pages.views.compare import compare_reading
from pages.views.findings import findings
from pages.views.overview import headline
from pages.views.reading import item_verdicts, page_payload, reading_grid, reading_results
from pages.views.reading.reading_results import Reading

_KEY: Final = "reading_viewer"
_WORDS: Final = {"order": "Order", "text": "Text", "tables": "Tables"}
_PROFILES: Final = {"auto": "As the files allow", "own": "Of the protocol", "omnidocbench-1.5": "OmniDocBench 1.5"}
_FORMS: Final = {"plain": "In one form", "none": "As written"}
_WORD_RULES: Final = {"scripts": "By script", "spaces": "By blanks"}
_LOOKS: Final = {"page": "Page", "grid": "Grid"}
_TRUE_TEXTS: Final = {"stated": "Of the ground truth", "pdf": "Of the PDFs"}
_ORDERS: Final = {"worst": "Worst first", "page": "In order"}
# Whether the whole view is to be drawn anew.
_WHOLE: Final = Field(False, "reading_whole")


def _events(loaded: LoadedBoxes) -> PageEvents:
    return with_documents(viewer.events(report(_KEY)), lambda: loaded.dataset.document_code)


def _turn_page(loaded: LoadedBoxes, shown: ListedPages) -> None:
    go = _events(loaded).go
    if go is None or not page_list.accept_event(go):
        return
    if go.mistake:
        reading_results.turn_to_mistake(shown, go.document, go.index, go.mistake)
    else:
        reading_results.turn(shown, go.document, go.index, go.step)
        state.box = go.box


def _select_box(loaded: LoadedBoxes) -> None:
    selected = _events(loaded).selected
    page_list.accept_event(selected)
    if selected is not None and (selected.document, selected.index) == (state.doc, state.page):
        state.box = selected.key


def _save_verdict(of: Reading, model: Model) -> None:
    for event in findings.newly_said(_events(of.loaded).verdict):
        page_list.accept_event(event)
        named = findings.author()
        item_verdicts.handle(of, model, event)
        if findings.author() != named:
            # The field for the name is outside of this part of the view.
            _WHOLE.set(True)


def _switch_model(loaded: LoadedBoxes) -> None:
    number = _events(loaded).model
    if number in [numbered_model(model).letter for model in loaded.models]:
        state.model = int(number) - 1
        _WHOLE.set(True)


def _clear_filter() -> None:
    reading_results.clear_filter()
    _WHOLE.set(True)


def _numbers(of: Reading, model: Model) -> str:
    parts = [
        f"<span>{html.escape(METRICS[metric].title)} {reading_results.score_html(of, model, metric)}</span>"
        for metric in reading_results.headline_of(of)
    ]
    return f'<p class="ls-numbers-line">{"".join(parts)}</p>'


def _thresholds(of: Reading, model: Model) -> None:
    """Draw models, how items are paired and compared, and what made the numbers, at the right of the navigation."""
    chosen = reading_results.options(of.system)
    if chosen.profile != "own":
        with frame.thresholds_at_right(of.loaded, f"*Numbers:* {chosen.profile}"):
            _numbers_choice(of)
            st.html(frame.facts_of(reading_results.result_of(of, model).signature.line))
        return
    changed = chosen != of.system.options(iou=(DEFAULT_IOU,), level=chosen.level, pdfs=chosen.pdfs)
    from_pdfs = FROM_PDFS in of.loaded.ground_truth.fixes
    label = f"*Thresholds:* IoU {state.reading_iou:.2f}" + ", text of the PDFs" * from_pdfs
    with frame.thresholds_at_right(of.loaded, f"**{label}**" if changed else label):
        _numbers_choice(of)
        low, high = ITEM_IOU
        st.slider("IoU of paired items", low, high, step=0.01, key=State.reading_iou.key, persist_state="session")
        st.checkbox("Pair items of one label only", key=State.reading_same_label.key, persist_state="session")
        if of.system.name == "text":
            widgets.switch("Texts", _FORMS, State.reading_normalisation)
            widgets.switch("Words", _WORD_RULES, State.reading_words)
            if of.loaded.project.pdfs is not None:
                widgets.switch("True text", _TRUE_TEXTS, State.reading_true_text)
        st.html(frame.facts_of(reading_results.result_of(of, model).signature.line))


def _numbers_choice(of: Reading) -> None:
    if of.loaded.ground_truth.format == "omnidocbench":
        widgets.switch("Numbers", _PROFILES, State.reading_profile)


def _filter(of: Reading, shown: ListedPages) -> None:
    with st.popover("Filter", icon=":material/add:", key="filter"):
        titles = of.system.titles
        every = sorted(titles, key=lambda name: -shown.counts.get(name, 0))
        names = {
            name: f"{titles[name]} {shown.counts.get(name, 0):,}"
            for name in every
            if shown.counts.get(name) or name in state.reading_names
        }
        widgets.several("Mistake", names, State.reading_names.key, persist_state="session")
        frame.document_choice(of.loaded)
        widgets.switch("Pages", _ORDERS, State.order)
    words = html.escape(displayed(shown.words(reading_results.cost_of(of))))
    st.html(f'<p class="ls-result"><b>{words}</b></p>', width="content")


def _without_files(system: ItemProtocol[Any], issues: Sequence[Issue]) -> None:
    what = html.escape(system.title.lower())
    if session_files.sample_is_open():
        with st.container(key="need_files"):
            st.html('<div class="ls-empty"><p>The sample is open with its boxes alone.</p></div>')
            st.button("Open its order, text and tables", icon=":material/folder_open:", on_click=_use_sample)
        return
    st.html(f'<div class="ls-empty"><p>There is no {what} in these files that can be compared.</p></div>')
    if system.name == "text" and session_files.files(BOXES).pdfs is not None and state.reading_true_text == "stated":
        st.button("Compare with the text of the PDFs", on_click=State.reading_true_text.set, args=("pdf",))
    truth = session_files.files(BOXES).truth
    if state.reading_profile not in ("auto", "own") or (truth is not None and truth.format == "omnidocbench"):
        widgets.switch("Numbers", _PROFILES, State.reading_profile)
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        frame.issues(errors)
    st.page_link(frame.FILES_VIEW, label="Open Files", icon=":material/description:")


def _use_sample() -> None:
    opened = sample_reading(session_files.SAMPLE_READING, session_files.SAMPLE_DATA / "pdf")
    session_files.open_workspace(BOXES, opened)


@st.fragment
def _pages(of: Reading, model: Model, shown: ListedPages) -> None:
    loaded = of.loaded
    if _WHOLE.pop():
        st.rerun()
    place = reading_results.shown_page(shown)
    if place is not None:
        state.doc, state.page = place.document, place.index
    leave_first_address()
    address = write_url("reading", at(place))
    viewer(
        msgspec.structs.replace(empty_payload(loaded, model), address=address)
        if place is None
        else page_payload.payload(of, model, shown, place, address=address),
        key=_KEY,
        on_go=lambda: _turn_page(loaded, shown),
        on_selected=lambda: _select_box(loaded),
        on_sharper=lambda: pictures.request_sharper(_events(loaded).sharper),
        on_model=lambda: _switch_model(loaded),
        on_clear_filter=_clear_filter,
        on_verdict=lambda: _save_verdict(of, model),
    )


def _issues(of: Reading) -> None:
    of_pairs = [issue for model in of.loaded.pair for issue in reading_results.evaluation_of(of, model).issues]
    issues = list(dict.fromkeys([*of.loaded.issues, *of_pairs]))
    if issues:
        title = f"Files of this view: {count_of(issue_count(issues), 'issue')}"
        with st.expander(title, expanded=has_errors(issues), icon=":material/folder_open:"):
            frame.issues(issues)


def view() -> None:
    """Draw the whole view."""
    read_url("reading")
    # Its processes start while the files are read.
    pictures.start_renderer(BOXES)
    _WHOLE.pop()
    line = frame.title("Reading")
    with line:
        name = widgets.switch("Compared", _WORDS, State.reading_of, label_visibility="collapsed")
    system = READINGS[name]
    opened = session_files.load_items(system)
    if opened.loaded is None:
        _without_files(system, opened.issues)
        write_url("reading")
        return
    of, model = Reading(system, opened.loaded), opened.loaded.shown
    reading_results.drop_unknown(of)
    shown = reading_results.list_pages(of, model)
    with line:
        widgets.switch("Shown as", _LOOKS, State.reading_look, label_visibility="collapsed")
        headline.model_switch(of.loaded.models)
        _filter(of, shown)
    with st.container(key="reading_numbers"):
        st.html(_numbers(of, model))
    _thresholds(of, model)
    frame.refused_parts()
    findings.remember_author()
    if state.reading_look == "grid":
        reading_grid.show(of, model, shown)
        write_url("reading")
    else:
        _pages(of, model, shown)
    compare_reading.differences(of, partial(reading_results.open_item, system.name))
    _issues(of)


view()
