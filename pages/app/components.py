"""Our Streamlit components (v2): their registration, and the check of what the browser reports.

A view passes a callback for each event, which runs before the script and reads `viewer.events(report(key))`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec
import streamlit as st

from evaluator.components.compare.pair import PAGE_FILTERS
from evaluator.components.compare.payload import (
    BoardEvents,
    BoardPayload,
    CompareEvents,
    ComparePayload,
    PairWindowPayload,
)
from evaluator.components.decisions.payload import DecisionsEvents, DecisionsPayload
from evaluator.components.drop.payload import DropEvents, DropPayload, FileListEvents, FileListPayload
from evaluator.components.gallery.payload import GalleryEvents, GalleryPayload
from evaluator.components.matrix.payload import MatrixEvents, MatrixPayload
from evaluator.components.meeting.payload import MeetingEvents, MeetingPayload, ReviewerEvents, ReviewerPayload
from evaluator.components.overview.payload import BarsPayload, LabelsPayload, OverviewEvents
from evaluator.components.payload import Events, Payload, plain_payload, read_events
from evaluator.components.slices.payload import SlicesEvents, SlicesPayload
from evaluator.components.source import component_script, component_style, loader_script
from evaluator.components.suspects.payload import SuspectsEvents, SuspectsPayload
from evaluator.components.theme.payload import ThemeEvents, ThemePayload
from evaluator.components.tint.payload import TintEvents, TintPayload
from evaluator.components.viewer.payload import OfPageEvent, PageEvents, PagePayload, WindowPayload
from evaluator.data.issues import MOST_SHOWN, whole
from pages.app import routes

P = TypeVar("P", bound=Payload)
E = TypeVar("E", bound=Events)
Reported = Mapping[str, object] | None
"""A component's entry in the session state: it comes from a browser."""
MODES: Final = ("side", "flip", "slider")
"""Ways to look at two pages: side by side, one over the other, with a divider."""
MOST_WANTED: Final = 24
"""Crops that are made in one run."""


def _nothing() -> None:
    """Do nothing; Streamlit reports only events that have a callback."""


class Component(Generic[P, E]):
    """A component that sends events of `kind`, under the names of its fields; `checked` knows which make sense.

    Called, it is shown, and returns what the reader asked for; after acting on events in a callback, do not act on them
    again. With one `key` for all pages it keeps toggles, zoom and focus over a page turn. Callbacks are named ``on_``
    and the event, and run before the script, so that a new page is drawn in the same run; `open` has none where it
    changes views.
    """

    def __init__(
        self,
        files: str,
        kind: type[E],
        *,
        checked: Callable[[E], E] = lambda events: events,
        isolate: bool | None = None,
    ) -> None:
        self._files, self._kind, self._checked = files, kind, checked
        more: dict[str, Any] = {} if isolate is None else {"isolate_styles": isolate}
        style, script = component_style(files), component_script(files)
        places = routes.script_address(script, "js"), routes.script_address(style, "css")
        if places[0] and places[1]:
            # Streamlit sends script and style with every change of the data: what it sends fetches them, once.
            script, style = loader_script(places[0], places[1]), ""
        self._mount = st.components.v2.component(f"layoutscope_{files}", html="", css=style, js=script, **more)

    def __call__(self, payload: P, *, key: str, **on: Callable[[], None]) -> E:
        """Show the component with its data; return what it sent since the last run, as `events`."""
        names = self._kind.__struct_fields__
        unknown = {name.removeprefix("on_") for name in on} - set(names)
        assert not unknown, f"the component {self._files} has no event {unknown}"
        calls: dict[str, Any] = {f"on_{event}_change": on.get(f"on_{event}", _nothing) for event in names}
        # In a list, where Streamlit looks for no data frames: it would import pandas, and ask of each value.
        shown = self._mount(key=key, data=[plain_payload(payload)], width="stretch", height="content", **calls)
        return self.events(shown)

    def events(self, state: Reported) -> E:
        """Return what the component sent since the last run, checked; what makes no sense is None.

        All but `selected` and `mode` are there for one run only. `selected` stays until another box or page is chosen,
        and names its page, so that a choice of an earlier page is never taken for one of this page.

        >>> viewer.events({"go": {"document": "a.pdf", "index": 3, "step": 0}}).go
        GoEvent(document='a.pdf', index=3, step=0)
        >>> viewer.events({"go": {"document": "a.pdf"}, "model": 7}) == PageEvents()
        True
        >>> panes.events({"show": "b_broke", "mode": "upside down", "open": {"letter": "B", "key": 7}}).show
        'b_broke'
        >>> panes.events({"show": "everything", "mode": "upside down", "open": {"letter": "C"}}) == CompareEvents()
        True
        >>> board.events({"link": {"show": "b_fixed", "label": "Table"}}).link
        LinkEvent(show='b_fixed', label='Table', at=0)
        >>> board.events({"link": {"show": "everything", "label": ""}}) == BoardEvents()
        True
        >>> tint.events({"sharper": {"width": 1800}}).sharper, tint.events({"sharper": {"width": -3}}).sharper
        (TintSharperEvent(width=1800), None)
        >>> slices.events({"open": {"document": "a.pdf", "index": 2}}).open
        SlicePageEvent(document='a.pdf', index=2)
        >>> slices.events({"open": {"document": 1}, "boxes": -1}) == SlicesEvents()
        True
        >>> suspects.events({"want": {"pages": [3], "crops": [], "held": "f0"}}).want
        SuspectWantEvent(pages=(3,), crops=(), near=(), held='f0')
        >>> suspects.events({"want": {"pages": "all"}, "verdict": 1}) == SuspectsEvents()
        True
        >>> sent = meeting.events({"show": {"item": "a", "example": 1}, "end": 1})
        >>> sent.show, sent.end
        (ShowItemEvent(item='a', example=1), None)
        """
        return self._checked(read_events(state, self._kind))


def _known_choices(events: CompareEvents) -> CompareEvents:
    return msgspec.structs.replace(
        events,
        show=events.show if events.show in PAGE_FILTERS else None,
        mode=events.mode if events.mode in MODES else None,
        open=events.open if events.open is not None and events.open.letter in ("A", "B") else None,
    )


def _known_link(events: BoardEvents) -> BoardEvents:
    return events if events.link is not None and events.link.show in PAGE_FILTERS else BoardEvents()


def _few_crops(events: SlicesEvents) -> SlicesEvents:
    return msgspec.structs.replace(
        events,
        boxes=events.boxes if events.boxes is not None and events.boxes >= 0 else None,
        want=list(events.want)[:MOST_WANTED] if events.want else None,
    )


viewer = Component[PagePayload | WindowPayload, PageEvents]("viewer", PageEvents)
"""The page viewer."""
panes = Component[ComparePayload | PairWindowPayload, CompareEvents]("compare", CompareEvents, checked=_known_choices)
"""Filters, list of pages and the two linked panes."""
board = Component[BoardPayload, BoardEvents]("compare_board", BoardEvents, checked=_known_link)
"""A part of the numbers: sentence and differences, or the ledger."""
matrix = Component[MatrixPayload, MatrixEvents]("matrix", MatrixEvents, isolate=True)
"""A heatmap; see `chosen_cell`."""
tint = Component[TintPayload, TintEvents]("tint", TintEvents, isolate=True)
"""A page with its tinted pixels."""
slices = Component[SlicesPayload, SlicesEvents]("slices", SlicesEvents, checked=_few_crops)
"""The list of slices and the chosen one."""
suspects = Component[SuspectsPayload, SuspectsEvents]("suspects", SuspectsEvents)
"""The suspects and one of them on its page."""
gallery = Component[GalleryPayload, GalleryEvents]("gallery", GalleryEvents)
"""The gallery of crops."""
decisions = Component[DecisionsPayload, DecisionsEvents]("decisions", DecisionsEvents)
"""The list of decisions."""
overview = Component[BarsPayload | LabelsPayload, OverviewEvents]("overview", OverviewEvents)
"""The bars of the models, or the cells of the labels."""
meeting = Component[MeetingPayload, MeetingEvents]("meeting", MeetingEvents)
reviewer = Component[ReviewerPayload, ReviewerEvents]("reviewer", ReviewerEvents)
"""What lets the browser remember the reviewer's name, and report it to a session without one."""
drop = Component[DropPayload, DropEvents]("drop", DropEvents)
"""What takes files that are dropped anywhere."""
file_list = Component[FileListPayload, FileListEvents]("file_list", FileListEvents)
"""The list of dropped files with their roles."""
theme = Component[ThemePayload, ThemeEvents]("theme", ThemeEvents)
"""What draws the view again when the reader chooses the other theme."""


def with_documents(events: E, documents: Callable[[], Collection[str]]) -> E:
    """Return events with whole document ids; `documents` is called only for an id that `cut` shortened."""

    def of_whole(event: object) -> object:
        if isinstance(event, list):
            return [of_whole(each) for each in event]
        if isinstance(event, OfPageEvent) and len(event.document) > MOST_SHOWN:
            return msgspec.structs.replace(event, document=whole(event.document, documents()))
        return event

    given = {name: getattr(events, name) for name in events.__struct_fields__}
    return msgspec.structs.replace(events, **{name: of_whole(event) for name, event in given.items()})


def chosen_cell(state: Reported, classes: int) -> tuple[int, int] | None:
    """Return the cell that the heatmap reports, checked; None for a matrix of another number of classes.

    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 3}}, 3)
    (2, 0)
    >>> chosen_cell({"cell": {"row": 2, "column": 0, "classes": 12}}, 3) is None
    True
    """
    cell = matrix.events(state).cell
    known = cell is not None and cell.classes == classes and max(cell.row, cell.column) < classes
    return (cell.row, cell.column) if cell is not None and known else None
