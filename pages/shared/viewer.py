"""The bridge between the views and the page viewer, one Streamlit component (v2).

It owns the registration and the shape of what the component reports. It does not touch the session state: a view
passes callbacks and reads `parse_events(st.session_state[key], ...)` in `_session.py`, or uses what `viewer` returns.
The shape of `data` is written down in `evaluator/web/shared/payloads.d.ts` (`PagePayload`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from evaluator.web.source import component_script, component_style

NAME: Final = "layoutscope_viewer"
NOTE_LENGTH: Final = 2_000


@dataclass(frozen=True, slots=True)
class Turn:
    """A page to open: `step` pages after page `index` of `document`, in the order of the filtered list.

    `step` is 0 when the page itself is meant. `mistake` is 1 for the next page of the list that has a mistake, -1 for
    the one before, and else 0.
    """

    document: str
    index: int
    step: int
    mistake: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen box of a page; `key` is None when the reader let it go."""

    document: str
    index: int
    key: str | None


@dataclass(frozen=True, slots=True)
class Sharper:
    """A wish for a page image of at least `width` pixels."""

    document: str
    index: int
    width: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict on a mistake.

    `target` is what the data gave the mistake under that name, `keys` are its boxes. `verdict` is None when an earlier
    one is taken back.
    """

    document: str
    index: int
    number: int
    keys: tuple[str, ...]
    target: str | None
    verdict: str | None
    note: str


@dataclass(frozen=True, slots=True)
class ViewerEvents:
    """What the reader asked for since the last run.

    `go`, `sharper`, `model`, `clear_filter` and `verdict` are there for one run only. `selected` stays until another
    box or page is chosen, and names its page, so that a choice of an earlier page is never taken for one of this page.
    """

    go: Turn | None = None
    selected: Selection | None = None
    sharper: Sharper | None = None
    model: str | None = None
    clear_filter: bool = False
    verdict: Verdict | None = None


def _page_of(value: object) -> tuple[str, int] | None:
    """Document and page index of an event, None when it names none."""
    if not isinstance(value, Mapping):
        return None
    document, index = value.get("document"), value.get("index")
    if not isinstance(document, str) or not isinstance(index, int) or isinstance(index, bool):
        return None
    return document, index


def _whole(value: object, name: str) -> int | None:
    """A whole number of an event, None when it is none."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def parse_events(state: Mapping[str, Any] | None) -> ViewerEvents:
    """What the component reports, checked: it comes from a browser.

    Parameters
    ----------
    state : mapping or None
        The component's result, or its entry in the session state inside a callback.

    Returns
    -------
    ViewerEvents
        Anything malformed is left out.

    Examples
    --------
    >>> parse_events({"go": {"document": "a.pdf", "index": 3, "step": 0}}).go
    Turn(document='a.pdf', index=3, step=0, mistake=0)
    >>> parse_events({"go": {"document": "a.pdf"}, "model": 7})
    ViewerEvents(go=None, selected=None, sharper=None, model=None, clear_filter=False, verdict=None)
    """
    if not state:
        return ViewerEvents()
    go, selected, sharper, model = (state.get(name) for name in ("go", "selected", "sharper", "model"))
    go_page, step = _page_of(go), _whole(go, "step")
    selected_page = _page_of(selected)
    key = selected.get("key") if isinstance(selected, Mapping) else None
    sharper_page, width = _page_of(sharper), _whole(sharper, "width")
    return ViewerEvents(
        go=Turn(*go_page, step, _whole(go, "mistake") or 0) if go_page and step is not None else None,
        selected=Selection(*selected_page, key) if selected_page and (key is None or isinstance(key, str)) else None,
        sharper=Sharper(*sharper_page, width) if sharper_page and width is not None and width > 0 else None,
        model=model if isinstance(model, str) else None,
        clear_filter=state.get("clear_filter") is True,
        verdict=_verdict(state.get("verdict")),
    )


def _verdict(value: object) -> Verdict | None:
    """A verdict of an event, None when it is malformed."""
    page, number = _page_of(value), _whole(value, "number")
    if page is None or number is None or not isinstance(value, Mapping):
        return None
    keys, target, verdict, note = (value.get(name) for name in ("keys", "target", "verdict", "note"))
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or not isinstance(note, str):
        return None
    if not all(each is None or isinstance(each, str) for each in (target, verdict)):
        return None
    return Verdict(*page, number, tuple(keys), target, verdict, note[:NOTE_LENGTH])


_mount = st.components.v2.component(NAME, html="", css=component_style("viewer"), js=component_script("viewer"))


def _nothing() -> None:
    """Stand-in for a callback; Streamlit reports only events that have one."""


def viewer(
    data: Mapping[str, Any],
    *,
    key: str,
    on_go: Callable[[], None] = _nothing,
    on_selected: Callable[[], None] = _nothing,
    on_sharper: Callable[[], None] = _nothing,
    on_model: Callable[[], None] = _nothing,
    on_clear_filter: Callable[[], None] = _nothing,
    on_verdict: Callable[[], None] = _nothing,
) -> ViewerEvents:
    """Shows the page viewer and says what the reader asked for.

    Parameters
    ----------
    data : mapping
        Page, boxes, mistakes, strip and counts; `PagePayload` in `evaluator/web/shared/payloads.d.ts`.
    key : str
        One key for all pages: the viewer then keeps toggles and focus over a page turn.
    on_go, on_selected, on_sharper, on_model, on_clear_filter, on_verdict : callable without arguments
        Run before the script, so that the new page is drawn in the same run without `st.rerun`. Inside, read
        `parse_events(st.session_state[key])`.

    Returns
    -------
    ViewerEvents
        The same events. After acting on them in a callback, do not act on them again.
    """
    result = _mount(
        key=key,
        data=dict(data),
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
