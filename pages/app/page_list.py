"""The pages of a list: the one that is shown, as it is sent, and all of them by their address.

A page is made from what the session has chosen, for the run that shows it or for a route of `routes`. The browser
turns pages and says afterwards which one it shows; each view gives its `PageList`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from evaluator.components.compare.payload import ListedPageItem, PairPageItem
from evaluator.components.payload import Payload
from evaluator.components.viewer.payload import (
    BoxItem,
    GoEvent,
    NearestItem,
    PagePayload,
    SelectedEvent,
    StripItem,
    VerdictEvent,
)
from evaluator.system.lru_cache import LRUCache
from pages.app import pictures, routes
from pages.app.state import Field, session_values, state, using_values
from pages.views.findings import findings

# What all pages of a list have in common and its name, for all sessions.
_STRIPS: Final = LRUCache[object, tuple[str, Payload | Sequence[Payload]]](most=64)
_DECIMALS: Final = 6
# What was last said about the pages, and how often that changed in the session.
_SAID: Final[Field[tuple[object, ...]]] = Field((), "viewer_said")
_VERSION: Final = Field(0, "viewer_version")

ContentT = TypeVar("ContentT", PagePayload, PairPageItem)
StripT = TypeVar("StripT", bound=Payload | Sequence[Payload])
ListedT = TypeVar("ListedT", StripItem, ListedPageItem)
BoxT = TypeVar("BoxT", bound=BoxItem)


@dataclass(frozen=True)
class PageList(Generic[ContentT]):
    """The pages of a list of one view.

    `listing` names all that decides which pages are listed and what they show. `here` is the shown page, from 0; -1 for
    one that is not listed. `make` and `prepare`, which fills the renderer's caches, take a place.
    """

    view: str
    listing: str
    total: int
    here: int
    make: Callable[[int], ContentT]
    prepare: Callable[[int], object]

    def window_fields(self, shown: ContentT) -> dict[str, Any]:
        """Return the fields of a `WindowLayer` that say which page is shown; all get an address."""
        page = shown.page
        assert page is not None
        said = (findings.verdicts_key(), state.pdf_folders)
        if said != _SAID.get():
            _SAID.set(said)
            _VERSION.set(_VERSION.get() + 1)
        version, values = _VERSION.get(), session_values()

        def answer(place: int, whole: bool) -> tuple[bytes, bool]:
            with using_values(values), pictures.of_pages_ahead():
                if whole:
                    self.prepare(place)
                made = self.make(place)
            lasts = whole and not (made.page and made.page.problem and made.page.problem.again)
            return msgspec.json.encode({"version": version, "name": page_digest(made), "content": made}), lasts

        name = page_digest(shown)
        return {
            "listing": self.listing,
            "pages": routes.pages_address(self.view, self.listing, self.total, version, answer),
            "version": version,
            "position": self.here + 1,
            "name": name,
            "image": page.image,
            "image_width": page.image_width,
            "turn": state.viewer_turn,
            "answered": state.answered,
            "content": None if name in state.viewer_held else shown,
        }


def accept_event(event: GoEvent | SelectedEvent | VerdictEvent | None) -> bool:
    """Note what an event says of the browser; False for one that came before, or none."""
    if event is None:
        return False
    state.viewer_held = event.held
    if not isinstance(event, GoEvent) or not event.turn:
        return True
    known, state.viewer_turn = state.viewer_turn, event.turn
    return event.turn != known


def list_digest(*parts: object) -> str:
    """Return the name of what decides which pages are listed."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def content_digest(item: Payload | Sequence[Payload]) -> str:
    """Return the name of a content: 16 hexadecimal digits that follow from everything in it."""
    return hashlib.blake2b(msgspec.json.encode(item), digest_size=8).hexdigest()


def page_digest(content: PagePayload | PairPageItem) -> str:
    """Return the name of the content of a page, the same for each of its pictures."""
    page = content.page and msgspec.structs.replace(content.page, image=None, image_width=0)
    return content_digest(msgspec.structs.replace(content, page=page))


def round_boxes(boxes: Sequence[BoxT]) -> list[BoxT]:
    """Boxes with six decimals: a hundredth of a pixel on the largest picture."""

    def short(value: float | None) -> float | None:
        return None if value is None else round(value, _DECIMALS)

    return [
        msgspec.structs.replace(
            box,
            xyxy=tuple(round(each, _DECIMALS) for each in box.xyxy),
            score=short(box.score),
            iou=short(box.iou),
            coverage=short(box.coverage),
            purity=short(box.purity),
            nearest=box.nearest and NearestItem(box.nearest.key, round(box.nearest.iou, _DECIMALS)),
        )
        for box in boxes
    ]


def without_current(strip: Sequence[ListedT]) -> list[ListedT]:
    """Return a strip that is the same for all pages in it: which page is the current one is known by its place."""
    return [msgspec.structs.replace(each, current=False) for each in strip]


def strip_fields(key: object, make: Callable[[], StripT]) -> dict[str, Any]:
    """Return the fields of a payload with what all pages of a list share; `key` is all that decides it."""

    def named() -> tuple[str, StripT]:
        made = make()
        return content_digest(made), made

    name, items = _STRIPS.get_or_make(key, named)
    if name in state.viewer_held:
        return {"strip": name, "items": None}
    # The browser keeps a few of them alone: what else it has is known again when it says so.
    state.viewer_held = ()
    return {"strip": name, "items": items}
