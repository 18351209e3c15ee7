"""Widgets as the views use them: choices that are kept in a field of the session, and tables of plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar
from unicodedata import east_asian_width

import streamlit as st

from evaluator.charts.vega import Chart
from pages.shared.state import AnyField, chart_key, state

ROW_HEIGHT: Final = 26
HEADER_HEIGHT: Final = 34
WRAPPED_HEIGHT: Final = 76
"""Of a row with text of up to four lines; the table breaks lines only in rows of more than 56 pixels."""
_NAMES_HEIGHT: Final = 58
"""Of a row with a name of up to three lines."""
_WIDEST_NAMES: Final = 220
K = TypeVar("K")


def switch(label: str, names: Mapping[K, str], field: AnyField, **more: Any) -> K:  # noqa: ANN401 - as Streamlit's
    """One of a few options in a row, always one of them; `names` has the words of each, rendered as Markdown."""
    # Without a value in the session the option in force would not be marked.
    field.set(field.get())
    chosen: K = st.segmented_control(
        label,
        list(names),
        format_func=names.__getitem__,
        key=field.key,
        required=True,
        persist_state="session",
        **more,
    )
    return chosen


def choice(label: str, names: Mapping[K, str], field: AnyField, **more: Any) -> K:  # noqa: ANN401 - as Streamlit's
    """One of many options from a list; `names` has the words of each."""
    chosen: K = st.selectbox(
        label, list(names), format_func=names.__getitem__, key=field.key, persist_state="session", **more
    )
    return chosen


def way_to(view: str, label: str, act: Callable[..., object], *args: Any, key: str, **more: Any) -> None:  # noqa: ANN401
    """A button that does something and leads to another view; both hold although another message ends the run."""
    st.button(label, key=key, on_click=_go, args=(view, act, args), **more)


def _go(view: str, act: Callable[..., object], args: tuple[Any, ...]) -> None:
    act(*args)
    state.next_view = view


def table(
    data: Any,  # noqa: ANN401
    *,
    rows: int = 0,
    columns: Mapping[str, Any] | None = None,
    names: str = "",
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """A table without an index; `rows` limits its height, and with `on_select` one cell can be chosen.

    `names` is a column with a width that gets more room, then lines, when a text in it needs more.

    Rows of a ``row_height`` of `WRAPPED_HEIGHT` break long text into lines.

    `columns` has the settings of columns, for one of text only its width in pixels.
    """
    settings = dict(columns or {})
    if names:
        settings[names], height = _room(data[names], settings[names])
        more.setdefault("row_height", height)
    if rows:
        more["height"] = HEADER_HEIGHT + min(more.get("row_height", ROW_HEIGHT) * len(data), ROW_HEIGHT * rows)
    if "on_select" in more:
        more.setdefault("selection_mode", "single-cell")
    settings = {
        name: st.column_config.TextColumn(width=setting) if isinstance(setting, int) else setting
        for name, setting in settings.items()
    }
    more.setdefault("row_height", ROW_HEIGHT)
    return st.dataframe(data, hide_index=True, column_config=settings, **more)


def _room(texts: Iterable[str], least: int) -> tuple[int, int]:
    """Width of a column and height of its rows in pixels in which every text of usual length shows whole."""
    wide = max((sum(1 + (east_asian_width(char) in "WF") for char in text) for text in texts), default=0)
    pixels = 18 + 7 * wide
    if pixels <= _WIDEST_NAMES:
        return max(pixels, least), ROW_HEIGHT
    return max(_WIDEST_NAMES, least), _NAMES_HEIGHT


def chart(place: Any, drawn: Chart, *, alt: str, **more: Any) -> Any:  # noqa: ANN401 - as Streamlit's
    """A chart in a place of the view: `st`, a column or a container."""
    if "key" in more:
        more["key"] = chart_key(more["key"])
    return place.vega_lite_chart(spec={**drawn.spec, "datasets": drawn.data}, theme=None, alt=alt, **more)


def ratio(width: int, **more: Any) -> Any:  # noqa: ANN401 - a setting of a column
    """A column of ratios with three decimals."""
    return st.column_config.NumberColumn(format="%.3f", width=width, **more)


def count(width: int, **more: Any) -> Any:  # noqa: ANN401 - a setting of a column
    """A column of counts."""
    return st.column_config.NumberColumn(format="localized", width=width, **more)


def bar(letter: str, width: int, title: str, help: str | None = None) -> object:
    """A column of ratios of a model as bars, in the colour of its letter."""
    return st.column_config.ProgressColumn(
        title,
        help=help,
        format="%.3f",
        min_value=0.0,
        max_value=1.0,
        width=width,
        color="gray" if letter == "A" else "blue",
    )
