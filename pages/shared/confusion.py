"""The bridge between the view Pixel confusion and its two components (v2): the heatmap, and the page beside it.

It owns the registration and the shape of what the components report. It does not touch the session state. The shapes
of the data are written down in `evaluator/web/shared/payloads.d.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from evaluator.web.source import component_script, component_style

_matrix = st.components.v2.component(
    "layoutscope_matrix", html="", css=component_style("matrix"), js=component_script("matrix"), isolate_styles=True
)
_page = st.components.v2.component(
    "layoutscope_tint", html="", css=component_style("tint"), js=component_script("tint"), isolate_styles=True
)


def matrix(data: Mapping[str, Any], *, key: str, on_cell: Callable[[], None]) -> None:
    """Shows the heatmap; `on_cell` runs before the script when a cell is chosen, see `chosen_cell`."""
    _matrix(key=key, data=dict(data), width="stretch", height="content", on_cell_change=on_cell)


def tinted_page(data: Mapping[str, Any], *, key: str, on_sharper: Callable[[], None]) -> None:
    """Shows the page with its tinted pixels; `on_sharper` runs when it is zoomed beyond its picture."""
    _page(key=key, data=dict(data), width="stretch", height="content", on_sharper_change=on_sharper)


def chosen_cell(state: Mapping[str, Any] | None, classes: int) -> tuple[int, int] | None:
    """The cell that the heatmap reports, checked: it comes from a browser.

    Parameters
    ----------
    state : mapping or None
        The component's entry in the session state.
    classes : int
        Classes of the matrix that is shown; a report about another matrix is none.

    Returns
    -------
    (int, int) or None

    Examples
    --------
    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 3}}, 3)
    (2, 0)
    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 12}}, 3) is None
    True
    """
    value = state.get("cell") if state else None
    if not isinstance(value, Mapping):
        return None
    row, column, size = (value.get(name) for name in ("row", "column", "classes"))
    known = all(isinstance(each, int) and not isinstance(each, bool) for each in (row, column, size))
    if not known or size != classes or not (0 <= row < classes and 0 <= column < classes):  # type: ignore[operator]
        return None
    return row, column  # type: ignore[return-value]


def wished_width(state: Mapping[str, Any] | None) -> int | None:
    """Pixels of the page image that the reader's zoom asks for, None for no sensible wish.

    Examples
    --------
    >>> wished_width({"sharper": {"width": 1800}}), wished_width({"sharper": {"width": -3}}), wished_width(None)
    (1800, None, None)
    """
    value = state.get("sharper") if state else None
    width = value.get("width") if isinstance(value, Mapping) else None
    return width if isinstance(width, int) and not isinstance(width, bool) and 0 < width <= 8_000 else None
