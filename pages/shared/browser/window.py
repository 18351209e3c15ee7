"""The pages around the shown one: their contents made before the reader turns to them, and what the browser has of it.

The browser turns to a page of which it has the content without asking, and says so afterwards. It is given pages in
the runs of a page turn: as many as are made in `_SECONDS`, the next ones first. It never asks for more by itself: an
event that comes while the reader goes to another view would call the reader back. Pictures and words of the pages
around are rendered in the background meanwhile.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, NamedTuple

import msgspec
import streamlit as st

from evaluator.drawing import page_window
from evaluator.drawing.page_strip import strip, window
from evaluator.drawing.payloads import (
    EmptyItem,
    LostText,
    ModelItem,
    PackedItem,
    PageLayers,
    PagePayload,
    PictureItem,
    PlacedItem,
    StripItem,
    ViewedPageItem,
    WindowPayload,
    with_layers,
    with_notes,
    without_page,
)
from evaluator.model.issues import cut, displayed
from evaluator.pdf.problems import PageProblem
from evaluator.system.recent import Recent
from pages.shared import by_digest, ended_sessions, frame, pictures
from pages.shared.browser import listing
from pages.shared.browser.listing import Listed
from pages.shared.opened import Model, OpenedBoxes, Place
from pages.shared.results import result_key
from pages.shared.state import state

AHEAD: Final = 8
"""Pages of the list that the browser is given on the way that the reader goes."""
_BEHIND: Final = 2
_SECONDS: Final = 0.1
_KEPT_PAGES: Final = 256


@st.cache_resource(show_spinner=False)
def _drawn() -> Recent[object, tuple[PageLayers, LostText]]:
    """What is drawn of pages, for all sessions."""
    return Recent(most=_KEPT_PAGES)


@st.cache_resource(show_spinner=False)
def _strips() -> Recent[object, tuple[str, Sequence[StripItem]]]:
    """Strips and their names, for all sessions."""
    return Recent(most=64)


class _Made(NamedTuple):
    """One page as it is sent."""

    placed: PlacedItem
    content: PackedItem
    payload: PagePayload


def numbered(model: Model) -> ModelItem:
    """A model as the viewer knows it: by its number in the list of models."""
    return ModelItem(str(model.index + 1), displayed(model.name))


def nothing_shown(loaded: OpenedBoxes, model: Model) -> PagePayload:
    """The viewer without a page."""
    nothing = EmptyItem("No page passes the filter.", "Clear filter")
    return without_page(numbered(model), [numbered(other) for other in loaded.models], nothing)


def payload(
    loaded: OpenedBoxes, model: Model, shown: Listed, place: Place, *, address: str, build: bool
) -> WindowPayload:
    """What the viewer draws of a page, and what the browser lacks of the pages around it.

    Parameters
    ----------
    address : str
        The query that leads back here.
    build : bool
        Whether the reader turns pages; in other runs the browser is given none around, and nothing waits for them.
    """
    held = set(state.viewer_held)
    here = shown.pages.position(place.document, place.index)
    made = _made(loaded, model, shown, place)
    of_list = _listing(loaded, model, shown)
    around = _around(loaded, model, shown, here) if build and by_digest.routed() and here is not None else []
    first, _ = window(here or 0, len(shown.pages))
    strip_name, strip_pages = _strips().get_or_make(
        (of_list, first, pictures.pdf_listing(loaded.project.pdfs)), lambda: _named_strip(loaded, shown, here)
    )
    return WindowPayload(
        shown=made.placed,
        around=[each.placed for each in around],
        listing=of_list,
        contents={each.placed.content: each.content for each in (made, *around) if each.placed.content not in held},
        strip=strip_name,
        strip_first=first,
        strips={} if strip_name in held else {strip_name: strip_pages},
        turn=state.viewer_turn,
        selected=listing.chosen_box(made.payload.mistakes),
        address=address,
    )


def _named_strip(loaded: OpenedBoxes, shown: Listed, here: int | None) -> tuple[str, Sequence[StripItem]]:
    """A strip for all pages in it, and its name."""
    bare = page_window.without_current(strip(shown.working.result, shown.pages, here).pages)
    dataset = loaded.dataset
    names = {cut(document.doc_id): document.name for document in dataset.documents}
    pages = pictures.with_thumbnails(bare, loaded.project.pdfs, lambda document: names[document], dataset.page_images)
    return page_window.name_of(pages), pages


def _made(loaded: OpenedBoxes, model: Model, shown: Listed, place: Place) -> _Made:
    """One page, packed and named."""
    picture = pictures.page_picture(loaded, place)
    whole = _content(loaded, model, shown, place, picture)
    content = page_window.packed(whole)
    position = shown.pages.position(place.document, place.index)
    placed = PlacedItem(
        document=cut(place.document),
        index=place.index,
        position=0 if position is None else position + 1,
        content=page_window.name_of(content),
        image=picture.image,
        image_width=picture.image_width,
        said=page_window.said(whole),
    )
    return _Made(placed, content, whole)


def _content(loaded: OpenedBoxes, model: Model, shown: Listed, place: Place, picture: PictureItem) -> PagePayload:
    """Everything that a page shows, without strip and chosen box."""
    position = shown.pages.position(place.document, place.index)
    name = loaded.dataset.documents[loaded.dataset.document_code[place.document]].name
    key = (_listing(loaded, model, shown), place, picture.image, picture.points)
    drawn, lost = _drawn().get_or_make(key, lambda: listing.drawn(loaded, shown, place, picture.points))
    payload = listing.with_verdicts(loaded, model, place, with_layers(nothing_shown(loaded, model), drawn))
    return msgspec.structs.replace(
        payload,
        page=ViewedPageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            **msgspec.structs.asdict(lost),
            document=cut(place.document),
            name=displayed(name),
            index=place.index,
            count=pictures.page_count(loaded, place.document),
            position=0 if position is None else position + 1,
            total=len(shown.pages),
        ),
        walk=listing.walk(shown, position),
        filtered=not shown.keep.all(),
        signature=frame.signature(loaded, [model]),
        empty=None,
    )


def _listing(loaded: OpenedBoxes, model: Model, shown: Listed) -> str:
    """What decides which pages are listed and what they show, as one name."""
    said = hashlib.blake2b(shown.keep.tobytes(), digest_size=8).hexdigest() if shown.chosen.unjudged else ""
    poor = (state.poor_coverage, state.poor_purity) if listing.options() is not None else None
    parts = (result_key(loaded, model), poor, shown.chosen, state.order, state.only, len(shown.pages), said)
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


# --- the pages around ----------------------------------------------------------------------------------------


def places_around(shown: Listed, here: int, toward: int) -> list[int]:
    """Positions that a reader may turn to next, from 0, the likely ones first.

    The pages on the way come first, the nearest pages with mistakes in both directions among them.
    """
    pages = shown.pages
    mistaken = [pages.with_mistakes(here, step) for step in (toward, -toward)]
    ahead = [here + toward * step for step in range(1, AHEAD + 1)]
    behind = [here - toward * step for step in range(1, _BEHIND + 1)]
    wanted = [*ahead[:2], *behind[:1], *(each for each in mistaken if each is not None), *ahead[2:], *behind[1:]]
    return [at for at in dict.fromkeys(wanted) if 0 <= at < len(pages)]


def _around(loaded: OpenedBoxes, model: Model, shown: Listed, here: int) -> list[_Made]:
    """Pages around a position, as many as are made in time."""
    until = monotonic() + _SECONDS
    made: list[_Made] = []
    wanted = places_around(shown, here, 1 if state.viewer_toward >= 0 else -1)
    for at in wanted:
        if made and monotonic() > until:
            break
        made.append(_made(loaded, model, shown, Place(*shown.pages.at(at))))
    return made


class _Preparer:
    """One thread that draws pages before they are wanted; only the latest request counts."""

    def __init__(self) -> None:
        self._asked: list[Callable[[], None]] = []
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True, name="page preparer")
        self._thread.start()

    def ask(self, tasks: Sequence[Callable[[], None]]) -> None:
        with self._wake:
            self._asked = list(tasks)
            self._wake.notify()

    def forget(self) -> None:
        """Draw nothing more: nobody is there."""
        self.ask([])

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._asked:
                    self._wake.wait()
                task = self._asked.pop(0)
            task()


@st.cache_resource(show_spinner=False)
def _preparer() -> _Preparer:
    """The preparing thread of this process."""
    made = _Preparer()
    ended_sessions.when_none(made.forget)
    return made


def prepare(loaded: OpenedBoxes, shown: Listed, place: Place) -> None:
    """Have the pages around a page rendered in the background."""
    here = shown.pages.position(place.document, place.index)
    if here is None:
        return
    tasks = []
    for at in places_around(shown, here, 1 if state.viewer_toward >= 0 else -1):
        document, index = shown.pages.at(at)
        try:
            page = pictures.page_file(loaded, document, index)
        except PageProblem:
            continue
        tasks.append(pictures.preparation(page.path, page.page_index))
    _preparer().ask(tasks)
