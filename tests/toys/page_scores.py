"""Page scores: every page with its F1, worst page of model A first. A view of one file."""

from __future__ import annotations

import numpy as np
import streamlit as st

from evaluator.data.issues import displayed
from pages.app import frame, widgets
from pages.app.address import read_url, write_url
from pages.app.navigation import PluginView
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import go_to_page, state
from pages.app.widgets import Column
from pages.views.overview import headline

BROWSER_VIEW = "pages/page_browser.py"


def _pages(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    dataset = loaded.dataset
    columns = {model.letter: result_of(loaded, model).per_page for model in chosen}
    rows = np.arange(dataset.pages)
    if state.within in dataset.document_code:
        rows = rows[dataset.page_document == dataset.document_code[state.within]]
    # A page without boxes has no F1: NaN comes last.
    order = rows[np.argsort(columns["A"].f1[rows], kind="stable")]
    documents = [dataset.documents[code] for code in dataset.page_document[order]]
    table: dict[str, Column] = {"Document": [displayed(document.name) for document in documents]}
    table["Page"] = dataset.page_index[order] + 1
    for letter, metrics in columns.items():
        table[f"F1, {letter}"] = metrics.f1[order]
        table[f"Mistakes, {letter}"] = (metrics.fp + metrics.fn)[order]
    frame.section("Pages", "worst page of A first; a row opens the page")
    event = widgets.table(
        table,
        rows=20,
        on_select="rerun",
        key="page_scores",
        names="Document",
        columns={
            "Document": 150,
            "Page": widgets.count_column(48),
            **{f"F1, {letter}": widgets.bar_column(letter, 90, f"F1, {letter}") for letter in columns},
            **{f"Mistakes, {letter}": widgets.count_column(90) for letter in columns},
        },
        alt="Pages, worst first",
    )
    for row, _ in event["selection"]["cells"]:
        go_to_page(documents[row].doc_id, int(dataset.page_index[order[row]]))
        st.switch_page(BROWSER_VIEW)


def view() -> None:
    """Draw the whole view."""
    read_url("plugin")
    loaded = frame.open_boxes("Page scores")
    if loaded is None:
        return
    with frame.title("Page scores"), frame.choices():
        frame.document_choice(loaded)
    frame.banners(loaded, loaded.pair)
    headline.thresholds(loaded, loaded.pair, frame.signature(loaded, loaded.pair))
    _pages(loaded, loaded.pair)
    write_url("plugin")


VIEW = PluginView("page_scores", "Page scores", view)
