"""The slices of the chosen results, searched once for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from evaluator.drawing.payloads import SlicesPayload
from evaluator.drawing.slices import slices_payload
from evaluator.slices.slices import Measure, Slices, find_slices
from pages.shared.opened import OpenedBoxes
from pages.shared.results import Result, ResultKey, result_key, result_of
from pages.shared.state import state


def chosen(loaded: OpenedBoxes) -> tuple[Slices, SlicesPayload]:
    """The slices of one model, or of what B does differently from A, and how they are shown.

    Slices of ground-truth boxes show both models, slices of predictions the model whose predictions they are.
    """
    letters = ["A", "B"] if state.slices_of == "B-A" else [state.slices_of]
    measure = cast(Measure, state.slices_measure)
    searched = [model for model in loaded.pair if model.letter in letters]
    shown = loaded.pair if measure == "recall" else searched
    names = tuple((model.letter, model.name) for model in shown)
    return _searched(
        tuple(result_key(loaded, model) for model in searched),
        tuple(result_key(loaded, model) for model in shown),
        names,
        measure,
        _searched_results=[result_of(loaded, model) for model in searched],
        _results=[result_of(loaded, model) for model in shown],
    )


def pages_in(payload: SlicesPayload) -> set[tuple[str, int]]:
    """Document and page index of every page that the slices list."""
    return {(page.document, page.index) for one in payload.slices for page in one.pages}


@st.cache_resource(max_entries=16, show_spinner="Searching for slices")
def _searched(
    keys: tuple[ResultKey, ...],
    shown: tuple[ResultKey, ...],
    names: tuple[tuple[str, str], ...],
    measure: Measure,
    *,
    _searched_results: Sequence[Result],
    _results: Sequence[Result],
) -> tuple[Slices, SlicesPayload]:
    """The slices of one or two results, and how they are shown; `keys` and `shown` say which results."""
    slices = find_slices(_searched_results, measure=measure)
    return slices, slices_payload(slices, names, _results, _searched_results)
