"""The pages around the shown one: their contents made before the reader turns to them, and what the browser has of it.

The browser turns to a page of which it has the content without asking, and says so afterwards. It is given pages in
the runs of a page turn: as many as are made in `_SECONDS`, the next ones first. It never asks for more by itself: an
event that comes while the reader goes to another view would call the reader back. Nothing waits for the renderer: a
page around that is not drawn has its boxes and the address of its picture. Pictures and words of the pages around are
rendered in the background meanwhile. Which pages there are and what is drawn on them is the business of each
view, which gives a `Pages`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final, Generic, NamedTuple, TypeVar, cast

import streamlit as st

from evaluator.drawing import page_window
from evaluator.drawing.payloads import GoEvent, MoreEvent, Payload, PlacedItem, SelectedEvent, VerdictEvent
from evaluator.system.recent import Recent
from pages.shared import by_digest, pictures
from pages.shared.jobs import prefetch
from pages.shared.state import Field, state

AHEAD: Final = 8
"""Pages of the list that the browser is given on the way that the reader goes."""
RUNNING_AHEAD: Final = 24
"""The same while a key is held down."""
_BEHIND: Final = 2
_MISTAKEN: Final = 3
_SECONDS: Final = 0.1
_FIRST_SECONDS: Final = 0.05
_KEPT_STRIPS: Final = 64

_GIVEN: Final = Field(False, "viewer_given")

ContentT = TypeVar("ContentT", bound=Payload)
StripT = TypeVar("StripT", bound=Payload | Sequence[Payload])


class Made(NamedTuple, Generic[ContentT]):
    """One page as it is sent."""

    placed: PlacedItem
    content: ContentT


@dataclass(frozen=True)
class Pages(Generic[ContentT]):
    """The pages of a list.

    Attributes
    ----------
    listing : str
        What decides which pages are listed and what they show, as one name.
    total : int
        How many there are.
    here : int or None
        Place of the page that is shown, from 0; None for one that is not listed.
    make : callable
        A page by its place.
    next_with : callable
        From a place, in a direction (1 or -1): the next place that N or P leads to; None for none.
    preparation : callable
        By place, what is done for it in the background, its picture rendered first; None for what it lacks.
    """

    listing: str
    total: int
    here: int | None
    make: Callable[[int], Made[ContentT]]
    next_with: Callable[[int, int], int | None]
    preparation: Callable[[int], Iterable[Callable[[], object] | None]]


def heard(event: GoEvent | SelectedEvent | VerdictEvent | MoreEvent | None) -> None:
    """Note what an event says of the browser: what it has, and where the reader is going."""
    if event is None:
        return
    state.viewer_held = event.held
    if isinstance(event, GoEvent):
        state.viewer_turn, state.viewer_toward, state.viewer_running = event.turn, event.toward, event.running
    elif isinstance(event, MoreEvent):
        state.viewer_toward, state.viewer_running = event.toward, False


@contextlib.contextmanager
def passing(*, build: bool) -> Iterator[None]:
    """A page that is made while a key is held down waits for nothing: the reader has mostly left it already."""
    with pictures.of_pages_ahead() if build and state.viewer_running else contextlib.nullcontext():
        yield


def name_of_list(*parts: object) -> str:
    """The name of what decides which pages are listed."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def placed_around(
    pages: Pages[ContentT], shown: Made[ContentT], *, build: bool
) -> tuple[list[PlacedItem], dict[str, ContentT]]:
    """Pages around the shown one, and the contents that the browser lacks.

    Parameters
    ----------
    build : bool
        Whether the reader turns pages; in other runs the browser is given none around, and nothing waits for them. The
        first page of a session comes with some, so that a reader can go on at once.
    """
    held = set(state.viewer_held)
    seconds = _SECONDS if build else 0.0 if _GIVEN.get() else _FIRST_SECONDS
    _GIVEN.set(True)
    around = _around(pages, seconds) if seconds and by_digest.routed() else []
    lacks = {each.placed.content: each.content for each in (shown, *around) if each.placed.content not in held}
    if build:
        _sent(lacks)
    return [each.placed for each in around], lacks


def _sent(names: Iterable[str]) -> None:
    """What the browser has from now on: it has asked, so it is there to take it, and a later run sends it no more."""
    state.viewer_held = (*state.viewer_held, *names)


@st.cache_resource(show_spinner=False)
def _strips() -> Recent[object, tuple[str, Payload | Sequence[Payload]]]:
    """What all pages of a list have in common and its name, for all sessions."""
    return Recent(most=_KEPT_STRIPS)


def strip_of(key: object, make: Callable[[], StripT], *, build: bool) -> tuple[str, dict[str, StripT]]:
    """The name of what all pages of a list have in common, and the thing by its name when the browser lacks it.

    Parameters
    ----------
    key : hashable
        All that decides it.
    make : callable
        Makes it, when it is not kept.
    build : bool
        See `placed_around`.
    """

    def named() -> tuple[str, StripT]:
        made = make()
        return page_window.name_of(made), made

    name, strip = _strips().get_or_make(key, named)
    if name in state.viewer_held:
        return name, {}
    if build:
        _sent([name])
    return name, {name: cast("StripT", strip)}


def places_around(
    total: int, here: int, toward: int, next_with: Callable[[int, int], int | None], *, running: bool = False
) -> list[int]:
    """Places that a reader may turn to next, from 0, the likely ones first.

    The pages on the way come first, the nearest pages with mistakes in both directions among them; while a key is held
    down there are more of them on the way, and none behind.
    """
    ahead = [here + toward * step for step in range(1, (RUNNING_AHEAD if running else AHEAD) + 1)]
    behind = [] if running else [here - toward * step for step in range(1, _BEHIND + 1)]
    mistaken: list[int | None] = []
    at: int | None = here
    for _ in range(AHEAD if running else _MISTAKEN):
        at = None if at is None else next_with(at, toward)
        mistaken.append(at)
    if not running:
        mistaken.insert(1, next_with(here, -toward))
    wanted = [*ahead[:2], *behind[:1], *(each for each in mistaken if each is not None), *ahead[2:], *behind[1:]]
    return [at for at in dict.fromkeys(wanted) if 0 <= at < total and at != here]


def _wanted(pages: Pages[ContentT]) -> list[int]:
    """Places around the shown page."""
    if pages.here is None:
        return []
    toward = 1 if state.viewer_toward >= 0 else -1
    return places_around(pages.total, pages.here, toward, pages.next_with, running=state.viewer_running)


def _around(pages: Pages[ContentT], seconds: float) -> list[Made[ContentT]]:
    """Pages around the shown one, as many as are made in time."""
    until = monotonic() + seconds
    made: list[Made[ContentT]] = []
    with pictures.of_pages_ahead():
        for at in _wanted(pages):
            if made and monotonic() > until:
                break
            made.append(pages.make(at))
    return made


def prepare(pages: Pages[ContentT]) -> None:
    """Have the pages around the shown one rendered in the background."""
    if pages.here is not None:
        tasks = (task for at in _wanted(pages) for task in pages.preparation(at))
        prefetch("page preparer", [task for task in tasks if task is not None])
