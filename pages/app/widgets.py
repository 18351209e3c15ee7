"""Widgets of the views: choices that are kept in a field of the session, and tables of plain text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar
from unicodedata import east_asian_width

import numpy as np
import numpy.typing as npt
import streamlit as st

from evaluator.metrics.results import distinct_names
from evaluator.metrics.terms import explained
from pages.app.state import AnyField, Field, chart_key, state

if TYPE_CHECKING:
    from evaluator.charts.vega import Chart

ROW_HEIGHT: Final = 26
HEADER_HEIGHT: Final = 34
WRAPPED_HEIGHT: Final = 76
"""Of a row with text of up to four lines; the table breaks lines only in rows of more than 56 pixels."""
_NAMES_HEIGHT: Final = 58
"""Of a row with a name of up to three lines."""
# A name is about a tenth shorter than it is taken to be, and words leave a part of a line empty.
_FILLED_LINES: Final = 3.0
_WIDEST_NAMES: Final = 220
_KIND_WIDTH: Final = 140
# As the reader's language writes them.
_COUNT_FORMAT: Final = "localized"
_OF_MODEL: Final = re.compile(r",? [A-Z]$")
K = TypeVar("K")
T = TypeVar("T")
Column = Sequence[Any] | npt.NDArray[Any]
"""A column of a table: undefined numbers are None or NaN."""


def switch(label: str, names: Mapping[K, str], field: AnyField, **more: Any) -> K:  # noqa: ANN401 - as Streamlit's
    """Draw a few options in a row, always one chosen; `names` has the Markdown of each."""
    # Without a value in the session the option in force would not be marked.
    field.set(field.get())
    chosen: K = st.segmented_control(
        label,
        list(names),
        format_func=distinct_words(names),
        key=field.key,
        required=True,
        persist_state="session",
        **more,
    )
    return _known(chosen, names, field)


def choice(label: str, names: Mapping[K, str], field: AnyField, **more: Any) -> K:  # noqa: ANN401 - as Streamlit's
    """Draw many options as a list; `names` has the words of each."""
    chosen: K = st.selectbox(
        label, list(names), format_func=distinct_words(names), key=field.key, persist_state="session", **more
    )
    return _known(chosen, names, field)


def several(label: str, names: Mapping[K, str], key: str, **more: Any) -> tuple[K, ...]:  # noqa: ANN401 - as Streamlit's
    """Draw options of which any number may be chosen; `names` has the Markdown of each."""
    words = distinct_words(names)
    chosen = st.pills(label, list(names), selection_mode="multi", format_func=words, key=key, **more)
    return tuple(chosen or ())


def one_of(label: str, names: Mapping[K, str], key: str) -> K:
    """Draw a few options in a row, always one chosen, at first the first; `names` has the Markdown of each."""
    chosen: K = st.segmented_control(
        label,
        list(names),
        format_func=distinct_words(names),
        default=next(iter(names)),
        key=key,
        label_visibility="collapsed",
        required=True,
        persist_state="session",
    )
    return chosen


def shown_kind(kinds: Mapping[str, str], field: Field[str]) -> str:
    """Return which kind of the open files a view shows, the first unless chosen."""
    if field.get() not in kinds:
        field.set(next(iter(kinds)))
    return field.get()


def kind_choice(label: str, kinds: Mapping[str, str], field: Field[str], changed: Callable[[], object]) -> None:
    """Draw the choice of the kind of open files that a view shows; nothing for one kind."""
    if len(kinds) > 1:
        choice(label, kinds, field, on_change=changed, label_visibility="collapsed", width=_KIND_WIDTH)


def _known(chosen: K, names: Mapping[K, str], field: AnyField) -> K:
    """Return what was chosen; the first option where the words of the options have changed meanwhile."""
    if chosen is None or chosen in names or not names:
        return chosen
    first = next(iter(names))
    field.set(first)
    return first


def distinct_words(names: Mapping[K, str]) -> Callable[[K], str]:
    """Return the words of each option, numbered where equal: the browser names an option by its words."""
    words = list(names.values())
    if len(set(words)) == len(words):
        return names.__getitem__
    return dict(zip(names, distinct_names(words), strict=True)).__getitem__


def button_to_view(view: str, label: str, act: Callable[..., object], *args: Any, key: str, **more: Any) -> None:  # noqa: ANN401
    """Draw a button that does something and leads to another view, even if a message ends the run."""
    st.button(label, key=key, on_click=_go, args=(view, act, args), **more)


def _go(view: str, act: Callable[..., object], args: tuple[Any, ...]) -> None:
    act(*args)
    state.next_view = view


def fold(name: str, words: str, opened: Field[list[str]], *, then: Callable[[], object] = lambda: None) -> None:
    """Draw what opens a part of a view, and closes it again; `opened` has the names of those that are open."""
    icon = ":material/expand_less:" if name in opened.get() else ":material/expand_more:"

    def act() -> None:
        turn(opened, name)
        then()

    st.button(words, key=f"open_{name}", type="tertiary", icon=icon, icon_position="right", on_click=act)


def turn(opened: Field[list[str]], name: str) -> None:
    """Open a part of a view, or close it."""
    held = opened.get()
    opened.set([each for each in held if each != name] if name in held else [*held, name])


def run_pending(asked: Field[T | None], act: Callable[[T], object]) -> None:
    """Do what a button asked for, and run the view again.

    The button only notes it, in a callback: reading a file shows its progress and can be cancelled. A run that ends
    before leaves it for the next one; what fails is not tried again.
    """
    wanted = asked.get()
    if wanted is None:
        return
    try:
        act(wanted)
    except Exception:
        asked.set(None)
        raise
    asked.set(None)
    st.rerun()


def table(
    data: Any,  # noqa: ANN401
    *,
    rows: int = 0,
    columns: Mapping[str, Any] | None = None,
    names: str | None = None,
    widest: int = _WIDEST_NAMES,
    high: bool = False,
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Draw a table without an index; with `on_select` one cell can be chosen.

    It is as high as `rows` of one line at most; `high`, as so many rows as they are. The column `names` gets more room,
    up to `widest`, then lines, for long text. `columns` has settings, for text only a width in pixels. A missing value
    is "n/a", or `placeholder`.
    """
    settings = dict(columns or {})
    if names is not None:
        settings[names], height = _room(data[names], settings[names], widest)
        more.setdefault("row_height", height)
    if rows:
        # Columns by name: their number is not that of the rows.
        filled = len(next(iter(data.values()), ())) if isinstance(data, Mapping) else len(data)
        each = more.get("row_height", ROW_HEIGHT)
        more["height"] = HEADER_HEIGHT + min(each * filled, (each if high else ROW_HEIGHT) * rows)
    if "on_select" in more:
        more.setdefault("selection_mode", "single-cell")
    settings = {
        name: st.column_config.TextColumn(width=setting) if isinstance(setting, int) else setting
        for name, setting in settings.items()
    }
    settings = {name: _explained(name, setting) for name, setting in settings.items()}
    more.setdefault("row_height", ROW_HEIGHT)
    more.setdefault("placeholder", "n/a")
    if isinstance(data, Mapping):
        settings = {name: _whole(setting, data.get(name, ())) for name, setting in settings.items()}
        data = _arrow(data)
    return st.dataframe(data, hide_index=True, column_config=settings, **more)


def _arrow(columns: Mapping[str, Column]) -> Any:  # noqa: ANN401 - a table of Arrow
    import pyarrow as pa  # type: ignore[import-untyped]  # every view imports this module, and not all draw a table

    arrays = {name: each if isinstance(each, list) else np.asarray(each) for name, each in columns.items()}
    return pa.table({name: pa.array(each, from_pandas=True) for name, each in arrays.items()})


def _explained(name: str, setting: Any) -> Any:  # noqa: ANN401 - of Streamlit
    """Return a column's setting, with the formula of the term that is its title, maybe with the letter of a model."""
    words = explained(name) or explained(_OF_MODEL.sub("", name))
    return {**setting, "help": words} if words and isinstance(setting, dict) and not setting.get("help") else setting


def _whole(setting: Any, values: Any) -> Any:  # noqa: ANN401 - of Streamlit
    """Return a column's setting, wide enough for its longest count: one cut off is another number."""
    if setting["type_config"].get("format") != _COUNT_FORMAT:
        return setting
    numbers = np.asarray(values, dtype=np.float64)
    digits = len(f"{np.nanmax(np.abs(numbers)):.0f}") if np.isfinite(numbers).any() else 1
    pixels = math.ceil(14 + 6.2 * digits + 3.4 * ((digits - 1) // 3))
    return setting | {"width": max(setting["width"], pixels)}


def _room(texts: Iterable[str], least: int, most: int = _WIDEST_NAMES) -> tuple[int, int]:
    wide = max((sum(1 + (east_asian_width(char) in "WF") for char in text) for text in texts), default=0)
    pixels = 18 + 7 * wide
    if pixels <= most:
        return max(pixels, least), ROW_HEIGHT
    return max(most, least), _NAMES_HEIGHT if pixels <= _FILLED_LINES * max(most, least) else WRAPPED_HEIGHT


def chart(place: Any, drawn: Chart, *, alt: str, **more: Any) -> Any:  # noqa: ANN401 - as Streamlit's
    """Draw a chart in a place of the view: `st`, a column or a container."""
    if "key" in more:
        more["key"] = chart_key(more["key"])
    return place.vega_lite_chart(spec={**drawn.spec, "datasets": drawn.data}, theme=None, alt=alt, **more)


def ratio_column(width: int, **more: Any) -> Any:  # noqa: ANN401 - a setting of a column
    """Return a column of ratios with three decimals."""
    return st.column_config.NumberColumn(format="%.3f", width=width, **more)


def count_column(width: int, **more: Any) -> Any:  # noqa: ANN401 - a setting of a column
    """Return a column of counts."""
    return st.column_config.NumberColumn(format=_COUNT_FORMAT, width=width, **more)


def bar_column(letter: str, width: int, title: str, help: str | None = None) -> object:
    """Return a column of ratios of a model as bars, in the colour of its letter."""
    return st.column_config.ProgressColumn(
        title,
        help=help,
        format="%.3f",
        min_value=0.0,
        max_value=1.0,
        width=width,
        color="gray" if letter == "A" else "blue",
    )
