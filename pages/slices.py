"""Slices: sets of boxes in which a model is worse than elsewhere, and the pages behind each slice."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pandas as pd
import streamlit as st

from evaluator import export
from evaluator.metrics.results import count_of
from evaluator.model.issues import plain
from evaluator.slices.named import FILE_NAME
from evaluator.slices.slices import Slice, Slices, pages_of
from pages.shared import frame, headline, widgets
from pages.shared import slices as held
from pages.shared.address import read_url, write_url
from pages.shared.opened import OpenedBoxes
from pages.shared.results import Result
from pages.shared.state import State, go_to, state

BROWSER_VIEW = "pages/page_browser.py"
_OF = {"A": "A", "B": "B", "B-A": "B minus A"}
_MEASURES = {"recall": "Recall", "precision": "Precision"}
_NAME = "worst"


def _controls(found: OpenedBoxes) -> None:
    """Which measure of which model."""
    offered = _OF if len(found.pair) > 1 else {"A": "A"}
    if state.slices_of not in offered:
        state.slices_of = "A"
    with st.container(horizontal=True, gap="medium"):
        widgets.switch("Of", offered, State.slices_of)
        if state.slices_of == "B-A":
            # Two models are compared on the boxes of the ground truth.
            state.slices_measure = "recall"
        else:
            widgets.switch("Measure", _MEASURES, State.slices_measure)


def _listed(slices: Slices) -> Slice | None:
    """The slices, most costly first; the one that is looked at, None without any."""
    heading = count_of(len(slices.slices), "slice") + ", most costly first" if slices.slices else "No slice to list"
    frame.section(heading)
    st.caption(frame.escaped(slices.summary))
    if not slices.slices:
        return None
    table = pd.DataFrame(
        {
            "Slice": [plain(each.subject) for each in slices.slices],
            "Here": [each.value for each in slices.slices],
            "Elsewhere": [each.rest for each in slices.slices],
            "Lost": [round(each.lost) for each in slices.slices],
            "Boxes": [each.boxes for each in slices.slices],
            "Documents": [each.documents for each in slices.slices],
            "Other half": ["confirms" if each.confirmed else "does not confirm" for each in slices.slices],
        }
    )
    columns = {
        "Slice": 460,
        "Here": widgets.ratio(70),
        "Elsewhere": widgets.ratio(80),
        "Lost": widgets.count(70),
        "Boxes": widgets.count(70),
        "Documents": widgets.count(84),
        "Other half": 120,
    }
    event = widgets.table(
        table, rows=12, on_select="rerun", key="slices_table", columns=columns, alt="Slices, most costly first"
    )
    row = next((row for row, _ in event["selection"]["cells"]), 0)
    return slices.slices[min(row, len(slices.slices) - 1)]


def _detail(one: Slice, results: Sequence[Result]) -> None:
    """One slice: its sentence, its pages, and how it becomes a condition of a gate."""
    frame.section(one.subject)
    st.text(plain(one.sentence))
    pages = pages_of(one, results)
    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        wrong = "Missed" if one.measure == "recall" else "False"
        st.caption(f"{count_of(len(pages), 'page')}; a row opens the page")
        event = widgets.table(
            pd.DataFrame(
                {
                    "Document": [plain(page.document) for page in pages],
                    "Page": [each.page + 1 for each in pages],
                    "Boxes": [page.boxes for page in pages],
                    wrong: [page.wrong for page in pages],
                }
            ),
            rows=10,
            on_select="rerun",
            key="slices_pages",
            columns={"Document": 260, "Page": widgets.count(60), "Boxes": widgets.count(60), wrong: widgets.count(70)},
            alt="Pages of the slice",
        )
        for row, _ in event["selection"]["cells"]:
            go_to(pages[row].document, pages[row].page)
            st.switch_page(BROWSER_VIEW)
    with right:
        st.caption(f"As a named slice, for evaluate, compare and gate: save it as {FILE_NAME} beside the ground truth")
        named = {_NAME: [condition.to_json() for condition in one.conditions]}
        text = msgspec.json.format(msgspec.json.encode(named), indent=2).decode()
        st.code(text, language="json")
        st.download_button("Save as named slice", text, FILE_NAME, "application/json", on_click="ignore")
        if len(results) == 1:
            st.code(f'--fail-if "{one.measure}[slice:{_NAME}] < {max(one.value - 0.01, 0.0):.2f}"', language="text")


def view() -> None:
    """The whole view."""
    read_url("slices")
    found = frame.open_boxes("Slices")
    if found is None:
        return
    frame.files_choice(found)
    chosen = found.pair
    frame.title("Slices", frame.signature(found, chosen))
    frame.banners(found, chosen)
    headline.operating_point(found, chosen)
    _controls(found)
    slices, results = held.chosen(found)
    one = _listed(slices)
    if one is not None:
        _detail(one, results)
    text = export.to_json([each.to_json() for each in slices.slices])
    st.download_button("JSON", text, "slices.json", "application/json", on_click="ignore")
    frame.sidebar(found)
    write_url("slices")


view()
