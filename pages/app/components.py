"""Our Streamlit components (v2): their registration, and the check of what the browser reports.

A view passes a callback for each event, which runs before the script and reads `parse_events(report(key))` or the like.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar

import msgspec
import streamlit as st

from evaluator.components.compare.pair import PAGE_FILTERS
from evaluator.components.compare.payload import (
    BoardEvents,
    BoardPayload,
    CompareEvents,
    ComparePayload,
    LinkItem,
    PairWindowPayload,
)
from evaluator.components.gallery.payload import GalleryEvents, GalleryPayload
from evaluator.components.matrix.payload import MatrixEvents, MatrixPayload
from evaluator.components.meeting.payload import MeetingEvents, MeetingPayload, ReviewerEvents, ReviewerPayload
from evaluator.components.payload import Events, Payload, plain_payload, read_events
from evaluator.components.slices.payload import SlicesEvents, SlicesPayload
from evaluator.components.source import component_script, component_style, loader_script
from evaluator.components.suspects.payload import SuspectsEvents, SuspectsPayload
from evaluator.components.theme.payload import ThemePayload
from evaluator.components.tint.payload import TintEvents, TintPayload
from evaluator.components.viewer.payload import (
    NOTE_LENGTH,
    OfPageEvent,
    PageEvents,
    PagePayload,
    VerdictEvent,
    WindowPayload,
)
from evaluator.data.issues import MOST_SHOWN, whole
from pages.app import routes

E = TypeVar("E", bound=Events)
Reported = Mapping[str, object] | None
"""A component's entry in the session state: it comes from a browser."""
MODES: Final = ("side", "flip", "slider")
"""Ways to look at two pages: side by side, one over the other, with a divider."""
MOST_WANTED: Final = 24
"""Crops that are made in one run."""


def _nothing() -> None:
    """Do nothing; Streamlit reports only events that have a callback."""


def _component(
    files: str, *events: str, isolate: bool | None = None
) -> Callable[[Payload, str, dict[str, Callable[[], None]]], Any]:
    """Register the component of some files and the events that it reports; what is returned shows it."""
    more: dict[str, Any] = {} if isolate is None else {"isolate_styles": isolate}
    style, script = component_style(files), component_script(files)
    places = routes.script_address(script, "js"), routes.script_address(style, "css")
    if places[0] and places[1]:
        # Streamlit sends script and style with every change of the data: what it sends fetches them, once.
        script, style = loader_script(places[0], places[1]), ""
    mount = st.components.v2.component(f"layoutscope_{files}", html="", css=style, js=script, **more)

    def show(payload: Payload, key: str, on: dict[str, Callable[[], None]]) -> Any:  # noqa: ANN401 - as Streamlit's
        unknown = {name.removeprefix("on_") for name in on} - set(events)
        assert not unknown, f"the component {files} has no event {unknown}"
        calls: dict[str, Any] = {f"on_{event}_change": on.get(f"on_{event}", _nothing) for event in events}
        return mount(key=key, data=plain_payload(payload), width="stretch", height="content", **calls)

    return show


_viewer = _component("viewer", "go", "selected", "sharper", "model", "clear_filter", "verdict", "alike")
_panes = _component(
    "compare",
    "go",
    "selected",
    "sharper",
    "show",
    "cause",
    "mode",
    "open",
    "clear_filter",
    "verdict",
    "alike",
)
_board = _component("compare_board", "link")
_matrix = _component("matrix", "cell", isolate=True)
_tint = _component("tint", "sharper", isolate=True)
_slices = _component("slices", "open", "boxes", "want")
_suspects = _component("suspects", "want", "verdict", "open")
_gallery = _component("gallery", "want", "open")
_meeting = _component("meeting", "decide", "show", "end", "open")
_reviewer = _component("reviewer", "name")
_theme = _component("theme", "changed")


# --- the page viewer -----------------------------------------------------------------------------------------


def viewer(payload: PagePayload | WindowPayload, *, key: str, **on: Callable[[], None]) -> PageEvents:
    """Show the page viewer and return what the reader asked for.

    With one `key` for all pages the viewer keeps toggles and focus over a page turn. `on`: ``on_go``, ``on_selected``,
    ``on_sharper``, ``on_model``, ``on_clear_filter``, ``on_verdict``, ``on_alike``; they run before the script, so that
    the new page is drawn in the same run. After acting on events in a callback, do not act on them again.
    """
    return parse_events(_viewer(payload, key, on))


def parse_events(state: Reported) -> PageEvents:
    """Return what the viewer sent since the last run, checked; a long note is cut.

    All but `selected` are there for one run only. `selected` stays until another box or page is chosen, and names its
    page, so that a choice of an earlier page is never taken for one of this page.

    >>> parse_events({"go": {"document": "a.pdf", "index": 3, "step": 0}}).go
    GoEvent(document='a.pdf', index=3, step=0)
    >>> parse_events({"go": {"document": "a.pdf"}, "model": 7}) == PageEvents()
    True
    """
    events = read_events(state, PageEvents)
    return msgspec.structs.replace(events, verdict=_with_short_note(events.verdict))


def with_documents(events: E, documents: Callable[[], Collection[str]]) -> E:
    """Return events with whole document ids; `documents` is called only for an id that `cut` shortened."""
    of_pages = {name: getattr(events, name) for name in events.__struct_fields__}
    wholes = {
        name: msgspec.structs.replace(event, document=whole(event.document, documents()))
        for name, event in of_pages.items()
        if isinstance(event, OfPageEvent) and len(event.document) > MOST_SHOWN
    }
    return msgspec.structs.replace(events, **wholes)


def _with_short_note(verdict: VerdictEvent | None) -> VerdictEvent | None:
    return verdict and msgspec.structs.replace(verdict, note=verdict.note[:NOTE_LENGTH])


# --- Compare -------------------------------------------------------------------------------------------------


def panes(payload: ComparePayload | PairWindowPayload, *, key: str, **on: Callable[[], None]) -> CompareEvents:
    """Show filters, list of pages and the two linked panes, and return what the reader asked for.

    With one `key` for all pages zoom keys, mode and focus stay over a page turn. `on`: ``on_go``, ``on_selected``,
    ``on_sharper``, ``on_show``, ``on_cause``, ``on_mode``, ``on_clear_filter``, ``on_verdict``, ``on_alike``. `open` is
    there for one run only and has no callback, because a callback cannot change views.
    """
    return parse_panes(_panes(payload, key, on))


def parse_panes(state: Reported) -> CompareEvents:
    """Return what the panes sent since the last run, checked; `selected` and `mode` stay until changed.

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
        verdict=_with_short_note(events.verdict),
    )


def board(payload: BoardPayload, *, key: str, on_link: Callable[[], None] = _nothing) -> None:
    """Show a part of the numbers: sentence and differences, or the ledger; see `parse_linked`."""
    _board(payload, key, {"on_link": on_link})


def parse_linked(state: Reported) -> LinkItem | None:
    """Return the number of the board that was opened, checked; None when there is none.

    >>> parse_linked({"link": {"show": "b_fixed", "label": "Table"}})
    LinkItem(show='b_fixed', label='Table')
    >>> parse_linked({"link": {"show": "everything", "label": ""}}) is None
    True
    """
    link = read_events(state, BoardEvents).link
    return None if link is None or link.show not in PAGE_FILTERS else LinkItem(link.show, link.label)


# --- matrices ------------------------------------------------------------------------------------------------


def matrix(payload: MatrixPayload, *, key: str, on_cell: Callable[[], None]) -> None:
    """Show a heatmap; see `chosen_cell`."""
    _matrix(payload, key, {"on_cell": on_cell})


def chosen_cell(state: Reported, classes: int) -> tuple[int, int] | None:
    """Return the cell that the heatmap reports, checked; None for a matrix of another number of classes.

    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 3}}, 3)
    (2, 0)
    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 12}}, 3) is None
    True
    """
    cell = read_events(state, MatrixEvents).cell
    known = cell is not None and cell.classes == classes and max(cell.row, cell.column) < classes
    return (cell.row, cell.column) if cell is not None and known else None


def tinted_page(payload: TintPayload, *, key: str, on_sharper: Callable[[], None]) -> None:
    """Show the page with its tinted pixels; see `wanted_width`."""
    _tint(payload, key, {"on_sharper": on_sharper})


def wanted_width(state: Reported) -> int | None:
    """Return the pixels of page width that the zoom asks for, None for no sensible request.

    >>> wanted_width({"sharper": {"width": 1800}}), wanted_width({"sharper": {"width": -3}}), wanted_width(None)
    (1800, None, None)
    """
    sharper = read_events(state, TintEvents).sharper
    return None if sharper is None else sharper.width


# --- slices --------------------------------------------------------------------------------------------------


def slices(payload: SlicesPayload, *, key: str, **on: Callable[[], None]) -> SlicesEvents:
    """Show the list of slices and the chosen one; callbacks are ``on_open``, ``on_boxes`` and ``on_want``."""
    return parse_slices(_slices(payload, key, on))


def parse_slices(state: Reported) -> SlicesEvents:
    """Return what the slices sent since the last run, checked.

    >>> parse_slices({"open": {"document": "a.pdf", "index": 2}}).open
    SlicePageEvent(document='a.pdf', index=2)
    >>> parse_slices({"open": {"document": 1}, "boxes": -1}) == SlicesEvents()
    True
    """
    events = read_events(state, SlicesEvents)
    return msgspec.structs.replace(
        events,
        boxes=events.boxes if events.boxes is not None and events.boxes >= 0 else None,
        want=list(events.want)[:MOST_WANTED] if events.want else None,
    )


# --- suspected ground truth ----------------------------------------------------------------------------------


def suspects(payload: SuspectsPayload, *, key: str, **on: Callable[[], None]) -> SuspectsEvents:
    """Show the suspects and one of them on its page; callbacks are ``on_want`` and ``on_verdict``."""
    return parse_suspects(_suspects(payload, key, on))


def parse_suspects(state: Reported) -> SuspectsEvents:
    """Return what the view of suspects sent since the last run, checked; a long note is cut.

    >>> parse_suspects({"want": {"pages": [3], "crops": [], "held": "f0"}}).want
    SuspectWantEvent(pages=(3,), crops=(), near=(), held='f0')
    >>> parse_suspects({"want": {"pages": "all"}, "verdict": 1}) == SuspectsEvents()
    True
    """
    events = read_events(state, SuspectsEvents)
    verdict = events.verdict
    if verdict is not None:
        verdict = msgspec.structs.replace(verdict, note=verdict.note[:NOTE_LENGTH])
    return msgspec.structs.replace(events, verdict=verdict)


# --- the gallery ---------------------------------------------------------------------------------------------


def gallery(payload: GalleryPayload, *, key: str, on_want: Callable[[], None], on_open: Callable[[], None]) -> None:
    """Show the gallery of crops; see `wanted` and `opened_card`."""
    _gallery(payload, key, {"on_want": on_want, "on_open": on_open})


def wanted(state: Reported) -> list[str]:
    """Return the keys of the cards that came near the screen without a crop."""
    return list(read_events(state, GalleryEvents).want or ())[:MOST_WANTED]


def opened_card(state: Reported) -> str | None:
    """Return the key of the card that was opened in this run."""
    return read_events(state, GalleryEvents).open


# --- the meeting ---------------------------------------------------------------------------------------------


def meeting(payload: MeetingPayload, *, key: str, **on: Callable[[], None]) -> None:
    """Show the meeting; callbacks are ``on_decide``, ``on_show`` and ``on_end``; see `parse_meeting`."""
    _meeting(payload, key, on)


def parse_meeting(state: Reported) -> MeetingEvents:
    """Return what the meeting sent since the last run, checked; a long note is cut.

    >>> parse_meeting({"show": {"item": "a", "example": 1, "letter": "B"}, "end": 1})
    MeetingEvents(decide=None, show=ShowItemEvent(item='a', example=1, letter='B'), end=None, open=None)
    """
    events = read_events(state, MeetingEvents)
    if events.decide is None:
        return events
    return msgspec.structs.replace(
        events, decide=msgspec.structs.replace(events.decide, note=events.decide.note[:NOTE_LENGTH])
    )


def reviewer(payload: ReviewerPayload, *, key: str, on_name: Callable[[], None]) -> None:
    """Let the browser remember the reviewer's name and report it to a session without one."""
    _reviewer(payload, key, {"on_name": on_name})


def theme(payload: ThemePayload, *, key: str) -> None:
    """Draw the view again when the reader chooses the other theme."""
    _theme(payload, key, {})


def remembered_name(state: Reported) -> str:
    """Return the name that the browser remembers; empty for none."""
    return (read_events(state, ReviewerEvents).name or "").strip()
