"""The linked panes of two models for what is not matched box by box; a `Source` gives what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_items import (
    ITEM_FILTERS,
    ItemPages,
    item_filters,
    item_page_list,
    listed_item_pages,
)
from evaluator.components.compare.pair_list import LISTED_PAGES
from evaluator.components.compare.payload import CompareEvents, OpenEvent, PairListItem, PaneItem
from evaluator.components.payload import EmptyItem, PairKind, PictureItem
from evaluator.components.viewer.page_strip import window as first_and_last
from evaluator.components.viewer.payload import SharperEvent, VerdictEvent
from evaluator.data.boxes import IntArray
from evaluator.data.issues import displayed
from evaluator.review.decisions import said_of_pages
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import ReviewLog
from pages.app import components, page_list, pictures, widgets
from pages.app.address import at, write_url
from pages.app.session_files import PairModel, Place
from pages.app.state import KINDS_COMPARED, State, go_to_page, report, state
from pages.views.compare import page_payload
from pages.views.compare.page_payload import PairPages
from pages.views.findings import findings

# A key for each kind: boxes of one are nothing to another.
_KEYS = {kind: f"compare_{kind}_panes" for kind in KINDS_COMPARED}


def chosen_page() -> Place | None:
    """Return the page that Pages and Compare have chosen; None without one."""
    return Place(state.doc, state.page or 0) if state.doc is not None else None


def choose_page(place: Place) -> None:
    """Choose a page for Pages and Compare; what is chosen on it stays where it is the page already."""
    if (state.doc, state.page) != (place.document, place.index):
        go_to_page(place.document, place.index)


def write_page_url() -> str:
    """Write the address of Compare with the chosen page; return the query."""
    return write_url("compare", at(chosen_page()))


@dataclass(frozen=True)
class Source:
    """What the panes of a comparison show, and what their events do.

    `place` gives the page chosen at the moment, None for none; `key` is all that decides what is listed and drawn;
    `draw` leaves verdicts out, `judged` adds them to the pane of A (0) or B (1), `said` returns the findings on all of
    it. `opens` is the view of one model that `open` goes to, `write_url` returns the query, `short` fits a number into
    the list, and `prepare` fills the renderer's caches.
    """

    chosen: tuple[PairModel, ...]
    key: tuple[object, ...]
    pages: ItemPages
    picture: Callable[[Place], PictureItem]
    draw: Callable[[Place, PictureItem, Sequence[PairKind]], PairLayers]
    judged: Callable[[Place, int, PaneItem], PaneItem]
    opens: str
    open: Callable[[OpenEvent], None]
    judge: Callable[[VerdictEvent], None]
    said: Callable[[ReviewLog], Sequence[FindingStatus]]
    place: Callable[[], Place | None] = chosen_page
    go: Callable[[Place], None] = choose_page
    write_url: Callable[[], str] = write_page_url
    short: Callable[[int], str] = field(default=lambda value: f"{value:,}")
    sharper: Callable[[SharperEvent | None], None] = pictures.request_sharper
    below: Callable[[Place], None] = field(default=lambda _: None)
    prepare: Callable[[Place], object] = field(default=lambda _: None)


def kind_choice(kinds: Mapping[str, str]) -> None:
    """Draw by what the models are compared."""
    widgets.kind_choice("Compare", kinds, State.pair_kind, lambda: State.pair_box.set(None))


def shown_filter() -> str:
    """Return the filter of the session, or "changed" for one that only boxes have."""
    return state.pair_show if state.pair_show in ITEM_FILTERS else "changed"


def open_place(go: Callable[[], None]) -> None:
    """Show a page in the panes and bring them into view; `go` chooses it."""
    state.pair_show, state.pair_box = "changed", None
    go()
    state.pair_visits += 1


@st.fragment
def part(find: Callable[[], Source | None]) -> None:
    """Draw the list of pages and the panes; a page turn runs this part alone. None draws nothing."""
    if State.pair_whole.pop():
        st.rerun()
    source = find()
    if source is None:
        return
    show = shown_filter()
    rows = listed_item_pages(source.pages, show)
    position = _position(source, rows)
    place = None
    if position is not None:
        place = Place(*source.pages.places[int(rows[position])])
        _go(source, place)
    pages, address = _pages(source, show, rows, position), source.write_url()
    # Its room is kept until it is drawn, so that what is below does not move.
    with st.container(key="pair_panes"):
        events = components.panes(
            page_payload.empty_payload(pages, _nothing(show), address=address)
            if position is None
            else page_payload.payload(pages, position, selected=_chosen(pages.layers(position)), address=address),
            key=_KEYS[state.pair_kind],
            on_go=lambda: _turn_page(source),
            on_selected=lambda: _select_box(source),
            on_sharper=lambda: source.sharper(_events(source).sharper),
            on_show=_choose_filter,
            on_mode=_choose_mode,
            on_clear_filter=lambda: _choose_show("changed"),
            on_verdict=lambda: _save_verdict(source),
        )
    if place is not None and position is not None:
        source.below(place)
    if events.open and place is not None:
        source.open(events.open)


def _events(source: Source) -> CompareEvents:
    events = components.panes.events(report(_KEYS[state.pair_kind]))
    return components.with_documents(events, lambda: {document for document, _ in source.pages.places})


def _position(source: Source, rows: IntArray) -> int | None:
    if not len(rows):
        return None
    shown = source.place()
    here = shown and (shown.document, shown.index)
    return next((at for at, row in enumerate(rows.tolist()) if source.pages.places[row] == here), 0)


def _nothing(show: str) -> EmptyItem:
    text = "A and B are equally right on every page." if show == "changed" else "No page passes the filter."
    return EmptyItem(text, "Show every changed page")


def _pages(source: Source, show: str, rows: IntArray, position: int | None) -> PairPages:
    names = [model.letter for model in source.chosen]

    def in_common() -> PairListItem:
        listed_ = item_page_list(source.pages, show, rows, position or 0, names, short=source.short)
        filters = item_filters(source.pages, show, names)
        return PairListItem(strip=listed_.strip, look=listed_.look, filters=filters, show=show, opens=source.opens)

    return PairPages(
        listing=page_list.list_digest(state.pair_kind, *source.key, show, len(rows)),
        total=len(rows),
        first=first_and_last(position or 0, len(rows), LISTED_PAGES)[0],
        place=lambda at: Place(*source.pages.places[int(rows[at])]),
        name=lambda place: displayed(place.document),
        picture=source.picture,
        draw=lambda place, picture: source.draw(place, picture, ITEM_FILTERS[show].kinds),
        judged=source.judged,
        in_common=in_common,
        prepare=source.prepare,
        said=said_of_pages(each for each in source.said(findings.review_log()) if each.state == "applies"),
    )


def _chosen(drawn: PairLayers) -> str | None:
    if not any(box.key == state.pair_box for pane in drawn.panes for box in pane.boxes):
        state.pair_box = None
    return state.pair_box


def _turn_page(source: Source) -> None:
    go = _events(source).go
    if go is None or not page_list.accept_event(go):
        return
    rows = listed_item_pages(source.pages, shown_filter())
    if not go.step:
        place: Place | None = Place(go.document, go.index)
    elif len(rows):
        here = _position(source, rows) or 0
        place = Place(*source.pages.places[int(rows[min(max(here + go.step, 0), len(rows) - 1)])])
    else:
        place = None
    if place is not None:
        _go(source, place)
        state.pair_box = go.box


def _go(source: Source, place: Place) -> None:
    if source.place() != place:
        state.pair_box = None
    source.go(place)


def _select_box(source: Source) -> None:
    selected = _events(source).selected
    page_list.accept_event(selected)
    if selected is not None and source.place() == Place(selected.document, selected.index):
        state.pair_box = selected.key


def _save_verdict(source: Source) -> None:
    for event in findings.newly_said(_events(source).verdict):
        page_list.accept_event(event)
        source.judge(event)


def _choose_show(name: str) -> None:
    state.pair_show = name
    State.pair_whole.set(True)


def _choose_filter() -> None:
    name = components.panes.events(report(_KEYS[state.pair_kind])).show
    if name is not None and name in ITEM_FILTERS:
        _choose_show(name)


def _choose_mode() -> None:
    name = components.panes.events(report(_KEYS[state.pair_kind])).mode
    if name is not None:
        state.pair_mode = name
