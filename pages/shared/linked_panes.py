"""The bridge between the view Compare and its two Streamlit components (v2): the board of numbers and the linked panes.

It owns the registration; what is sent and what comes back are structs of `evaluator.drawing.payloads`. It does not
touch the session state: the view passes callbacks and reads `parse_panes` or `parse_linked`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
import streamlit as st

from evaluator.drawing.pair import PAGE_FILTERS
from evaluator.drawing.payloads import (
    BoardEvents,
    BoardPayload,
    CompareEvents,
    ComparePayload,
    LinkItem,
    plain_payload,
    read_events,
)
from evaluator.web.source import component_script, component_style

MODES: Final = ("side", "flip", "slider")
"""Ways to look at two pages: side by side, one over the other, with a divider."""


def parse_panes(state: Mapping[str, object] | None) -> CompareEvents:
    """What the panes sent since the last run, checked; `selected` and `mode` stay until they change.

    Examples
    --------
    >>> parse_panes({"show": "b_broke", "mode": "upside down", "open": {"letter": "B", "key": 7}}).show
    'b_broke'
    >>> parse_panes({"show": "everything", "mode": "upside down", "open": {"letter": "C"}}) == CompareEvents()
    True
    """
    events = read_events(state, CompareEvents)
    return msgspec.structs.replace(
        events,
        show=events.show if events.show in PAGE_FILTERS else None,
        mode=events.mode if events.mode in MODES else None,
        open=events.open if events.open is not None and events.open.letter in ("A", "B") else None,
    )


def parse_linked(state: Mapping[str, object] | None) -> LinkItem | None:
    """The number of the board that was opened, checked; None when there is none.

    Examples
    --------
    >>> parse_linked({"door": {"show": "b_fixed", "label": "Table"}})
    LinkItem(show='b_fixed', label='Table')
    >>> parse_linked({"door": {"show": "everything", "label": ""}}) is None
    True
    """
    door = read_events(state, BoardEvents).door
    return None if door is None or door.show not in PAGE_FILTERS else LinkItem(door.show, door.label)


_mount_panes = st.components.v2.component(
    "layoutscope_compare", html="", css=component_style("compare"), js=component_script("compare")
)
_mount_board = st.components.v2.component(
    "layoutscope_compare_board", html="", css=component_style("compare_board"), js=component_script("compare_board")
)


def _nothing() -> None:
    """Stand-in for a callback; Streamlit reports only events that have one."""


def panes(
    payload: ComparePayload,
    *,
    key: str,
    on_go: Callable[[], None] = _nothing,
    on_selected: Callable[[], None] = _nothing,
    on_sharper: Callable[[], None] = _nothing,
    on_show: Callable[[], None] = _nothing,
    on_mode: Callable[[], None] = _nothing,
    on_clear_filter: Callable[[], None] = _nothing,
) -> CompareEvents:
    """Shows filters, list of pages and the two linked panes, and says what the reader asked for.

    Parameters
    ----------
    key : str
        One key for all pages: zoom keys, mode and focus then stay over a page turn.
    on_go, on_selected, on_sharper, on_show, on_mode, on_clear_filter : callable without arguments
        Run before the script. Inside, read `parse_panes(report(key))`.

    Returns
    -------
    CompareEvents
        The same events; `open` is there for one run only and has no callback, because a callback cannot change views.
    """
    result = _mount_panes(
        key=key,
        data=plain_payload(payload),
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


def board(payload: BoardPayload, *, key: str, on_door: Callable[[], None] = _nothing) -> None:
    """Shows the sentence, the differences with their intervals and the ledger.

    Parameters
    ----------
    on_door : callable without arguments
        Runs before the script when a number was opened. Inside, read `parse_linked(report(key))`.
    """
    _mount_board(key=key, data=plain_payload(payload), width="stretch", height="content", on_door_change=on_door)
