"""The bridge between the view Compare and its two Streamlit components (v2): the board of numbers and the linked panes.

It owns the registration and the shape of what the components report. It does not touch the session state: the view
passes callbacks and reads `parse_panes` or `parse_door`. The shapes of `data` are written down in
`evaluator/web/shared/payloads.d.ts` (`ComparePayload`, `BoardPayload`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from evaluator.drawing.pair import PAGE_FILTERS
from evaluator.web.source import component_script, component_style
from pages.shared.viewer import Selection, Sharper, Turn, parse_events

MODES: Final = ("side", "flip", "slider")
"""Ways to look at two pages: side by side, one over the other, with a divider."""


@dataclass(frozen=True, slots=True)
class Door:
    """Pages to list: a filter of `PAGE_FILTERS`, and a label or "" for all."""

    show: str
    label: str


@dataclass(frozen=True, slots=True)
class PageOf:
    """A page of one model to open in the Page browser; `key` is the chosen box or None."""

    letter: str
    key: str | None


@dataclass(frozen=True, slots=True)
class PaneEvents:
    """What the reader asked for in the panes since the last run; `selected` and `mode` stay until they change."""

    go: Turn | None = None
    selected: Selection | None = None
    sharper: Sharper | None = None
    show: str | None = None
    mode: str | None = None
    open: PageOf | None = None
    clear_filter: bool = False


def parse_panes(state: Mapping[str, Any] | None) -> PaneEvents:
    """What the panes report, checked: it comes from a browser.

    Parameters
    ----------
    state : mapping or None
        The component's result, or its entry in the session state inside a callback.

    Returns
    -------
    PaneEvents
        Anything malformed is left out.

    Examples
    --------
    >>> parse_panes({"show": "b_broke", "mode": "upside down", "open": {"letter": "B", "key": 7}})
    PaneEvents(go=None, selected=None, sharper=None, show='b_broke', mode=None, open=None, clear_filter=False)
    """
    if not state:
        return PaneEvents()
    shared = parse_events(state)
    show, mode, opened = state.get("show"), state.get("mode"), state.get("open")
    return PaneEvents(
        go=shared.go,
        selected=shared.selected,
        sharper=shared.sharper,
        show=show if isinstance(show, str) and show in PAGE_FILTERS else None,
        mode=mode if isinstance(mode, str) and mode in MODES else None,
        open=_page_of(opened),
        clear_filter=shared.clear_filter,
    )


def _page_of(value: object) -> PageOf | None:
    """A page of a model, None when the event names none."""
    if not isinstance(value, Mapping):
        return None
    letter, key = value.get("letter"), value.get("key")
    if letter not in ("A", "B") or not (key is None or isinstance(key, str)):
        return None
    return PageOf(letter, key)


def parse_door(state: Mapping[str, Any] | None) -> Door | None:
    """The number of the board that was opened, checked; None when there is none.

    Examples
    --------
    >>> parse_door({"door": {"show": "b_fixed", "label": "Table"}})
    Door(show='b_fixed', label='Table')
    >>> parse_door({"door": {"show": "everything", "label": ""}}) is None
    True
    """
    value = (state or {}).get("door")
    if not isinstance(value, Mapping):
        return None
    show, label = value.get("show"), value.get("label")
    if not isinstance(show, str) or show not in PAGE_FILTERS or not isinstance(label, str):
        return None
    return Door(show, label)


_mount_panes = st.components.v2.component(
    "layoutscope_compare", html="", css=component_style("compare"), js=component_script("compare")
)
_mount_board = st.components.v2.component(
    "layoutscope_compare_board", html="", css=component_style("compare_board"), js=component_script("compare_board")
)


def _nothing() -> None:
    """Stand-in for a callback; Streamlit reports only events that have one."""


def panes(
    data: Mapping[str, Any],
    *,
    key: str,
    on_go: Callable[[], None] = _nothing,
    on_selected: Callable[[], None] = _nothing,
    on_sharper: Callable[[], None] = _nothing,
    on_show: Callable[[], None] = _nothing,
    on_mode: Callable[[], None] = _nothing,
    on_clear_filter: Callable[[], None] = _nothing,
) -> PaneEvents:
    """Shows filters, list of pages and the two linked panes, and says what the reader asked for.

    Parameters
    ----------
    data : mapping
        `ComparePayload` in `evaluator/web/shared/payloads.d.ts`.
    key : str
        One key for all pages: zoom keys, mode and focus then stay over a page turn.
    on_go, on_selected, on_sharper, on_show, on_mode, on_clear_filter : callable without arguments
        Run before the script. Inside, read `parse_panes(st.session_state[key])`.

    Returns
    -------
    PaneEvents
        The same events; `open` is there for one run only and has no callback, because a callback cannot change views.
    """
    result = _mount_panes(
        key=key,
        data=dict(data),
        width="stretch",
        height="content",
        on_go_change=on_go,
        on_selected_change=on_selected,
        on_sharper_change=on_sharper,
        on_show_change=on_show,
        on_mode_change=on_mode,
        on_open_change=_nothing,
        on_clear_filter_change=on_clear_filter,
    )
    return parse_panes(result)


def board(data: Mapping[str, Any], *, key: str, on_door: Callable[[], None] = _nothing) -> None:
    """Shows the sentence, the differences with their intervals and the ledger.

    Parameters
    ----------
    data : mapping
        `BoardPayload` in `evaluator/web/shared/payloads.d.ts`.
    key : str
    on_door : callable without arguments
        Runs before the script when a number was opened. Inside, read `parse_door(st.session_state[key])`.
    """
    _mount_board(key=key, data=dict(data), width="stretch", height="content", on_door_change=on_door)
