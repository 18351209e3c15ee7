"""The toolbar of Pages, one for both of its modes: model, filter as chips, what passes in words, how much is judged."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of, displayed
from evaluator.matching.box_items import Query
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from pages.app import frame, widgets
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import Field, State, WidgetField, form_value, reset, state
from pages.views.browser import page_listing
from pages.views.browser.page_listing import ListedPages
from pages.views.gallery import gallery_items
from pages.views.slices import slices as held

_ORDERS: Final = {"worst": "Worst first", "page": "In order"}
# Longer chips have their text in the tooltip.
_CHIP_LENGTH: Final = 44


def draw(loaded: LoadedBoxes, model: Model, shown: ListedPages, *, pages: bool) -> DeltaGenerator:
    """Draw the filter and what passes it in the line of the title; return the place of `judged`."""
    _chips(loaded, pages=pages)
    with st.popover("Filter", icon=":material/add:", key="filter"):
        _conditions(loaded, model, shown.counts, pages=pages)
    with st.popover("Save filter", key="filters"):
        _saved_filters()
    said, *more = re.split(r"(?= \(|, )", html.escape(displayed(shown.words)), maxsplit=1)
    st.html(f'<p class="ls-result"><b>{said}</b>{"".join(more)}</p>', width="content")
    return st.empty()


def judged(place: DeltaGenerator, loaded: LoadedBoxes, model: Model, shown: ListedPages) -> None:
    """Draw how many of the places that pass are judged, each of their mistakes; nothing where only others pass."""
    if shown.chosen.unjudged:
        return
    every, done = page_listing.judged_places(loaded, model, shown)
    words = f"{done:,} of {count_of(every, 'place')} judged" if every else ""
    bar = f'<progress max="{every}" value="{done}" title="{words}"></progress>' if every else ""
    place.html(f'<p class="ls-judged">{words}{bar}</p>', width="content")


def _chips(loaded: LoadedBoxes, *, pages: bool) -> None:
    chips: list[tuple[str, str]] = []
    if state.gallery_question is not None:
        chips.append(("question", gallery_items.query_words(state.gallery_question)))
    if state.within:
        document = loaded.dataset.documents[loaded.dataset.document_code[state.within]]
        chips.append((State.within.name, f"Document: {document.name}"))
    if state.label:
        chips.append((State.label.name, f"Label: {state.label}"))
    if state.mistake_names:
        names = (ERROR_TYPES["document"][name].chip for name in state.mistake_names)
        chips.append((State.mistake_names.name, f"Mistake: {', '.join(names)}"))
    ranges = (("Score", State.score_range), ("IoU", State.fit_range), ("Size", State.size_range))
    for words, field in ranges:
        low, high = field.get()
        if (low, high) != field.start:
            chips.append((field.name, f"{words} {low:.2f} to {high:.2f}"))
    flags = [(State.unjudged, "Not judged")]
    flags += [(State.only, "Pages with mistakes"), (State.poor, "Poor matches too")] if pages else []
    chips += [(field.name, words) for field, words in flags if field.get()]
    if not pages and state.gallery_third:
        chips.append((State.gallery_third.name, gallery_items.THIRDS[state.gallery_third]))
    for name, text in chips:
        short = frame.shorten(displayed(text), _CHIP_LENGTH)
        st.button(
            f"{frame.escaped(short)} ✕",
            key=f"chip_{name}",
            on_click=_drop,
            args=(name,),
            help=None if short == displayed(text) else frame.escaped(text),
        )


def _drop(name: str) -> None:
    if name == "question":
        gallery_items.show_query(None)
    else:
        reset([vars(State)[name]])


def _conditions(loaded: LoadedBoxes, model: Model, counts: IntArray, *, pages: bool) -> None:
    if pages:
        mistake_chips(counts)
    causes = [Query(cause=family) for family in result_of(loaded, model).causes.alike]
    _question_choice("Cause", causes, State.cause_wanted)
    # The search takes a while. A popover that says when it is opened swallows the click that closes it.
    if st.checkbox("Slices", key="search_slices", help="Searches for those that the view Slices lists."):
        _question_choice("Slice", held.questions(loaded, model), State.slice_wanted)
    frame.label_choice(loaded)
    frame.document_choice(loaded)
    if pages:
        not_judged()
    _range("Box score", State.score_range, "Missed boxes have no score and stay.")
    _range(
        "IoU of the pair",
        State.fit_range,
        "Mistakes without a pair have none; they stay when the range begins at 0.",
    )
    _range("Size, share of the page", State.size_range, "Of the largest box of a mistake.")
    if not pages:
        widgets.choice("Place on the page", gallery_items.THIRDS, State.gallery_third)
        return
    st.checkbox("Only pages with mistakes", key=State.only.key, persist_state="session")
    widgets.switch("Pages", _ORDERS, State.order)
    _poor_matches()


def mistake_chips(counts: IntArray) -> None:
    """Draw the names of mistakes with what each would list, the most first."""
    every = sorted(zip(DOCUMENT, counts.tolist(), strict=True), key=lambda each: -each[1])
    frame.mistake_choice({name: count for name, count in every if count or name in state.mistake_names})


def not_judged() -> None:
    """Draw whether only mistakes without a verdict pass."""
    st.checkbox("Not judged", key=State.unjudged.key, persist_state="session")


def _range(label: str, field: Field[tuple[float, float]], explained: str) -> None:
    st.slider(label, 0.0, 1.0, step=0.01, key=field.key, persist_state="session", help=explained)


def _question_choice(name: str, asked: Sequence[Query], field: WidgetField[int | None]) -> None:

    def choose() -> None:
        at = field.get()
        if at is not None and at < len(asked):
            gallery_items.show_query(asked[at])
        field.set(None)

    st.selectbox(
        name,
        range(len(asked)),
        index=None,
        format_func=lambda at: displayed(gallery_items.query_words(asked[at])),
        key=field.key,
        placeholder=f"Any of {count_of(len(asked), name.lower())}" if asked else f"No {name.lower()}",
        on_change=field.changed(choose),
        disabled=not asked,
    )


def _poor_matches() -> None:
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
    for at, each in enumerate(saved):
        with st.container(horizontal=True, gap="small", key=f"saved_{at}"):
            words = frame.escaped(frame.shorten(each, 22))
            st.button(words, key=f"use_{at}", on_click=page_listing.use_filter, args=(each,), width="stretch")
            st.button("Delete", key=f"delete_{at}", on_click=page_listing.delete_filter, args=(each,), type="tertiary")
