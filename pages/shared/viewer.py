"""The bridge between the views and the page viewer, one Streamlit component (v2).

It owns the registration; what is sent and what comes back are structs of `evaluator.drawing.payloads`. It does not
touch the session state: a view passes callbacks and reads `parse_events(report(key))`, or uses what `viewer`
returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
import streamlit as st

from evaluator.drawing.payloads import NOTE_LENGTH, PageEvents, PagePayload, plain_payload, read_events
from evaluator.web.source import component_script, component_style

NAME: Final = "layoutscope_viewer"


def parse_events(state: Mapping[str, object] | None) -> PageEvents:
    """What the viewer sent since the last run, checked; a long note is cut.

    `go`, `sharper`, `model`, `clear_filter` and `verdict` are there for one run only. `selected` stays until another
    box or page is chosen, and names its page, so that a choice of an earlier page is never taken for one of this page.

    Examples
    --------
    >>> parse_events({"go": {"document": "a.pdf", "index": 3, "step": 0}}).go
    GoEvent(document='a.pdf', index=3, step=0, mistake=0)
    >>> parse_events({"go": {"document": "a.pdf"}, "model": 7}) == PageEvents()
    True
    """
    events = read_events(state, PageEvents)
    if events.verdict is None:
        return events
    verdict = msgspec.structs.replace(events.verdict, note=events.verdict.note[:NOTE_LENGTH])
    return msgspec.structs.replace(events, verdict=verdict)


_mount = st.components.v2.component(NAME, html="", css=component_style("viewer"), js=component_script("viewer"))


def _nothing() -> None:
    """Stand-in for a callback; Streamlit reports only events that have one."""


def viewer(
    payload: PagePayload,
    *,
    key: str,
    on_go: Callable[[], None] = _nothing,
    on_selected: Callable[[], None] = _nothing,
    on_sharper: Callable[[], None] = _nothing,
    on_model: Callable[[], None] = _nothing,
    on_clear_filter: Callable[[], None] = _nothing,
    on_verdict: Callable[[], None] = _nothing,
) -> PageEvents:
    """Shows the page viewer and says what the reader asked for.

    Parameters
    ----------
    key : str
        One key for all pages: the viewer then keeps toggles and focus over a page turn.
    on_go, on_selected, on_sharper, on_model, on_clear_filter, on_verdict : callable without arguments
        Run before the script, so that the new page is drawn in the same run without `st.rerun`. Inside, read
        `parse_events(report(key))`.

    Returns
    -------
    PageEvents
        The same events. After acting on them in a callback, do not act on them again.
    """
    result = _mount(
        key=key,
        data=plain_payload(payload),
        width="stretch",
        height="content",
        on_go_change=on_go,
        on_selected_change=on_selected,
        on_sharper_change=on_sharper,
        on_model_change=on_model,
        on_clear_filter_change=on_clear_filter,
        on_verdict_change=on_verdict,
    )
    return parse_events(result)
