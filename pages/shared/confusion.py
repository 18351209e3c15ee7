"""The bridge between the view Pixel confusion and its two components (v2): the heatmap, and the page beside it.

It owns the registration; what is sent and what comes back are structs of `evaluator.drawing.payloads`. It does not
touch the session state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from evaluator.drawing.payloads import (
    MatrixEvents,
    MatrixPayload,
    TintEvents,
    TintPayload,
    plain_payload,
    read_events,
)
from evaluator.web.source import component_script, component_style

_matrix = st.components.v2.component(
    "layoutscope_matrix", html="", css=component_style("matrix"), js=component_script("matrix"), isolate_styles=True
)
_page = st.components.v2.component(
    "layoutscope_tint", html="", css=component_style("tint"), js=component_script("tint"), isolate_styles=True
)


def matrix(payload: MatrixPayload, *, key: str, on_cell: Callable[[], None]) -> None:
    """Shows the heatmap; `on_cell` runs before the script when a cell is chosen, see `chosen_cell`."""
    _matrix(key=key, data=plain_payload(payload), width="stretch", height="content", on_cell_change=on_cell)


def tinted_page(payload: TintPayload, *, key: str, on_sharper: Callable[[], None]) -> None:
    """Shows the page with its tinted pixels; `on_sharper` runs when it is zoomed beyond its picture."""
    _page(key=key, data=plain_payload(payload), width="stretch", height="content", on_sharper_change=on_sharper)


def chosen_cell(state: Mapping[str, object] | None, classes: int) -> tuple[int, int] | None:
    """The cell that the heatmap reports, checked: it comes from a browser.

    Parameters
    ----------
    state : mapping or None
        The component's entry in the session state.
    classes : int
        Classes of the matrix that is shown; a report about another matrix is none.

    Examples
    --------
    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 3}}, 3)
    (2, 0)
    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 12}}, 3) is None
    True
    """
    cell = read_events(state, MatrixEvents).cell
    known = cell is not None and cell.classes == classes and max(cell.row, cell.column) < classes
    return (cell.row, cell.column) if cell is not None and known else None


def wanted_width(state: Mapping[str, object] | None) -> int | None:
    """Pixels of the page image that the reader's zoom asks for, None for no sensible request.

    Examples
    --------
    >>> wanted_width({"sharper": {"width": 1800}}), wanted_width({"sharper": {"width": -3}}), wanted_width(None)
    (1800, None, None)
    """
    sharper = read_events(state, TintEvents).sharper
    return None if sharper is None else sharper.width
