"""What changed between two models: named mistakes or slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from evaluator.analysis.slices.measure_values import ALL
from evaluator.charts import boxes as charts
from evaluator.components.viewer.mistake_filter import label_counts
from evaluator.data.issues import displayed
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from pages.app import frame, widgets
from pages.app.address import at, write_url
from pages.app.session_files import LoadedBoxes, PairModel, Place, of_letter
from pages.app.state import State, chosen_points, state
from pages.views.browser import page_listing
from pages.views.compare import model_pair
from pages.views.slices import slice_list

BROWSER_VIEW, SLICES_VIEW = "pages/page_browser.py", "pages/slices.py"
_BY_NAME, _BY_LABEL = "compare_names", "compare_labels"
_PARTS = {"mistakes": "Mistakes", "slices": "Slices"}
_BARS_HEIGHT = 330


def write_address(place: Place | None) -> str:
    """Write what the view shows into the address bar; the query of the address."""
    if place is not None:
        state.doc, state.page = place.document, place.index
    return write_url("compare", at(place))


@st.fragment
def part(loaded: LoadedBoxes) -> None:
    """Named mistakes, or slices."""
    if State.pair_whole.pop():
        st.rerun()
    if State.pair_mistakes.pop():
        st.switch_page(BROWSER_VIEW)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="compare_more"):
        st.html('<h2 class="ls-section">What changed</h2>', width="content")
        widgets.switch(
            "What changed",
            _PARTS,
            State.pair_part,
            on_change=lambda: State.pair_part_moved.set(True),
            label_visibility="collapsed",
        )
    if State.pair_part_moved.pop():
        write_address(model_pair.shown_place(loaded))
    {"mistakes": _mistakes, "slices": _slices}[state.pair_part](loaded)


def _mistakes(loaded: LoadedBoxes) -> None:
    both = model_pair.compare_models(loaded)
    every = [page_listing.all_mistakes(loaded, model) for model in both.chosen]
    if not any(map(len, every)):
        st.caption("No mistake at these thresholds.")
        return
    labels = loaded.dataset.labels
    titles = [ERROR_TYPES["document"][name].chip for name in DOCUMENT]
    totals = " ".join(
        f"{frame.letter_badge(model.letter)} {len(columns):,}"
        for model, columns in zip(both.chosen, every, strict=True)
    )
    left, right = st.columns(2, gap="medium")
    for column, name, key, names, meant, counts in (
        (
            left,
            "By name",
            _BY_NAME,
            titles,
            DOCUMENT,
            [np.bincount(one.kind, minlength=len(DOCUMENT)) for one in every],
        ),
        (
            right,
            "By label",
            _BY_LABEL,
            list(map(displayed, labels)),
            labels,
            [label_counts(one, len(labels)) for one in every],
        ),
    ):
        column.html(
            f'<h2 class="ls-section{frame.theme_class()}">{name} <small>a bar opens its mistakes</small>'
            f'<small class="ls-right">{totals}</small></h2>'
        )
        bars = charts.mistakes_by_label(
            names, dict(zip("AB", counts, strict=True)), baseline="A", dark=frame.is_dark(), height=_BARS_HEIGHT
        )
        widgets.chart(
            column,
            bars,
            on_select=_bar_callback(both.chosen, key, dict(zip(names, meant, strict=True))),
            selection_mode="label",
            key=key,
            alt=f"Mistakes of A and B, {name}",
        )
    right.caption("A mistake between two labels counts for both.")


def _bar_callback(chosen: tuple[PairModel, ...], key: str, meant: dict[str, str]) -> Callable[[], None]:
    def opened() -> None:
        for point in chosen_points(key, "label"):
            asked, letter = str(point["label"]), str(point.get("model"))
            model = of_letter(chosen, letter) or chosen[0]
            asked = meant.get(asked, "")
            model_pair.ask_mistakes(
                model, label=asked if key == _BY_LABEL else "", name=asked if key == _BY_NAME else ""
            )

    return opened


def _slices(loaded: LoadedBoxes) -> None:
    slice_list.of_choice(loaded, "B-A", ALL, key="compare_slices")
    st.page_link(SLICES_VIEW, label="Open Slices", icon=":material/troubleshoot:")
