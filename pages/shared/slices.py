"""The slices of the chosen results, searched once for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from evaluator.slices.slices import Measure, Slices, find_slices
from pages.shared.opened import OpenedBoxes
from pages.shared.results import Result, ResultKey, result_key, result_of
from pages.shared.state import state


def chosen(found: OpenedBoxes) -> tuple[Slices, list[Result]]:
    """The slices of one model, or of what B does differently from A, and the results that were searched."""
    letters = ["A", "B"] if state.slices_of == "B-A" else [state.slices_of]
    models = [model for model in found.pair if model.letter in letters]
    results = [result_of(found, model) for model in models]
    keys = tuple(result_key(found, model) for model in models)
    return _searched(keys, cast(Measure, state.slices_measure), _results=results), results


@st.cache_resource(max_entries=16, show_spinner="Searching for slices")
def _searched(keys: tuple[ResultKey, ...], measure: Measure, *, _results: Sequence[Result]) -> Slices:
    """The slices of one or two results; `keys` say which."""
    return find_slices(_results, measure=measure)
