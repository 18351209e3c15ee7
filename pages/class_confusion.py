"""Confusion of boxes: which label is taken for which, down to the boxes of a cell."""

from __future__ import annotations

import numpy as np
import streamlit as st

from evaluator.components.gallery import crops
from evaluator.components.matrix.class_matrix import class_difference, class_matrix
from evaluator.components.matrix.payload import with_axes
from evaluator.data.issues import count_of
from evaluator.matching import box_items
from evaluator.matching.box_items import ClassConfusion, Query
from pages.app import frame, widgets
from pages.app.address import read_url, write_url
from pages.app.components import chosen_cell, matrix
from pages.app.results import confusion_of, result_key, result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import State, open_page, report, state
from pages.views.browser import page_listing
from pages.views.gallery import gallery_items
from pages.views.overview import headline
from pages.views.pixel import pixel_results
from pages.views.pixel.scope import letters_of

BROWSER_VIEW, GALLERY_VIEW = "pages/page_browser.py", "pages/gallery.py"
_MATRIX, _CARDS = "class_matrix", "class_cards"
Cell = tuple[str | None, str | None]


def _worst_cell(confusion: ClassConfusion) -> Cell:
    names: list[str | None] = [*confusion.labels, None]
    off = confusion.counts * (1 - np.eye(len(names), dtype=np.int64))
    row, column = divmod(int(off.argmax()), len(names))
    return (names[row], names[column]) if off.any() else (names[0], names[0])


def _matrix(models: list[PairModel], sides: list[ClassConfusion], names: list[str | None], cell: Cell) -> None:

    def pick() -> None:
        picked = chosen_cell(report(_MATRIX), len(names))
        # No box of the background was ever drawn.
        if picked is not None and any(picked):
            gallery_items.show_query(Query(cell=(names[picked[0]], names[picked[1]])))

    letters = [model.letter for model in models]
    several = len(sides) > 1
    layer = class_difference(*reversed(sides), names=letters[::-1]) if several else class_matrix(sides[0])
    matrix(
        with_axes(
            layer,
            key=" ".join(letters),
            rows="Ground truth",
            columns="A minus B" if several else f"Predicted by {letters[0]}",
            letters=("A", "B"),
            chosen=(names.index(cell[0]), names.index(cell[1])),
        ),
        key=_MATRIX,
        on_cell=pick,
    )


@st.fragment
def _cards(loaded: LoadedBoxes, model: PairModel, asked: Query) -> None:
    every = gallery_items.every_item(loaded, model)
    result = result_of(loaded, model)
    held = every.take(np.flatnonzero(box_items.in_query(every, asked)))
    boxes = box_items.count_asked(held, asked) or 0
    pages = count_of(len(np.unique(held.page)), "page")
    facts = f"{count_of(boxes, 'box')} of {frame.letter_and_name(model)} on {pages}"
    pixel_results.cell_card(gallery_items.query_words(asked), facts)
    cards = crops.cards(result, held.take(np.arange(min(len(held), gallery_items.CARDS))))
    of = "/".join(str(part) for part in result_key(loaded, model)[:3])
    with st.container(key="class_crops", height=560, border=False):
        gallery_items.draw_cards(loaded, cards, of=of, key=_CARDS, empty="No box is in this cell.")
    if opened := State.gallery_opened.pop():
        card, _ = opened
        state.model = model.index
        open_page(card.document, card.index, card.box)
        state.gallery_question = asked
        st.switch_page(BROWSER_VIEW)


def _show_in_grid(model: PairModel, asked: Query) -> None:
    page_listing.clear_filter()
    state.model = model.index
    gallery_items.show_query(asked)


def view() -> None:
    """Draw the whole view."""
    read_url("class_confusion")
    loaded = frame.open_boxes("Confusion")
    if loaded is None:
        return
    page_listing.drop_unknown(loaded)
    with frame.title("Confusion"):
        if len(loaded.pair) > 1:
            pixel_results.model_switch(loaded, ("A", "B", "A-B"), label_visibility="collapsed")
    headline.thresholds(loaded, loaded.pair, frame.signature(loaded, loaded.pair))
    frame.banners(loaded, loaded.pair)
    letters = letters_of(pixel_results.chosen_matrix(loaded))
    models = [model for model in loaded.pair if model.letter in letters]
    sides = [confusion_of(loaded, model) for model in models]
    labels: list[str | None] = [None, *sides[0].labels]
    asked = state.gallery_question
    cell = asked.cell if asked is not None and asked.cell is not None else _worst_cell(sides[0])
    with st.container(key="pixel_upper"):
        left, right = st.columns([1.75, 1], gap="medium")
    with left:
        frame.section("Where each label’s boxes go", "a cell opens its boxes")
        _matrix(models, sides, labels, cell)
    with right:
        # Of a difference, the model that has more boxes in the cell.
        at = tuple(len(labels) - 1 if label is None else labels.index(label) - 1 for label in cell)
        most = max(range(len(sides)), key=lambda place: int(sides[place].counts[at]))
        shown = models[most], Query(cell=cell)
        _cards(loaded, *shown)
        # Not in the part that is run alone, which leads to no other view.
        widgets.button_to_view(
            GALLERY_VIEW, "Show in Grid", _show_in_grid, *shown, key="class_grid", icon=":material/grid_view:"
        )
    write_url("class_confusion")


view()
