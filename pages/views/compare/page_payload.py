"""The pages of the comparison as they are sent: what each shows of two models, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_list import LISTED_PAGES
from evaluator.components.compare.payload import (
    ComparePayload,
    PairListItem,
    PairPageItem,
    PairWindowPayload,
    PaneItem,
    SaidItem,
)
from evaluator.components.payload import EmptyItem, PageItem, PictureItem, with_notes
from evaluator.data.issues import cut
from evaluator.system.lru_cache import LRUCache
from pages.app import page_list
from pages.app.session_files import Place
from pages.app.state import state
from pages.views.findings import findings

# What is drawn of pages, for all sessions.
_DRAWN: Final = LRUCache[object, PairLayers](most=256)


@dataclass(frozen=True)
class PairPages:
    """The pages of a list of the comparison.

    `listing` names all that decides which pages are listed and what is drawn; `first` is the place, from 0, of the
    first one beside the panes. `name` is empty where people read the document's id; `draw` leaves verdicts out,
    `judged` adds them to the pane of A (0) or B (1), `said` is what they say of listed pages and, by key, of causes;
    `prepare` fills the renderer's caches.
    """

    listing: str
    total: int
    first: int
    place: Callable[[int], Place]
    name: Callable[[Place], str]
    picture: Callable[[Place], PictureItem]
    draw: Callable[[Place, PictureItem], PairLayers]
    judged: Callable[[Place, int, PaneItem], PaneItem]
    in_common: Callable[[], PairListItem]
    prepare: Callable[[Place], object]
    said: Mapping[tuple[str, int], str]
    said_of_causes: Mapping[str, str] = field(default_factory=dict)

    def content(self, at: int) -> PairPageItem:
        """Return everything that a page shows, without list and chosen box."""
        place = self.place(at)
        picture = self.picture(place)
        drawn = self._layers(place, picture)
        page = PageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            document=cut(place.document),
            name=self.name(place),
            index=place.index,
            position=at + 1,
            total=self.total,
        )
        panes = [self.judged(place, order, pane) for order, pane in enumerate(drawn.panes)]
        return PairPageItem(page=page, panes=panes, differences=drawn.differences)

    def layers(self, at: int) -> PairLayers:
        """Return what is drawn on a page, without verdicts."""
        place = self.place(at)
        return self._layers(place, self.picture(place))

    def _layers(self, place: Place, picture: PictureItem) -> PairLayers:
        def draw() -> PairLayers:
            drawn = self.draw(place, picture)
            a, b = (msgspec.structs.replace(pane, boxes=page_list.round_boxes(pane.boxes)) for pane in drawn.panes)
            return drawn._replace(panes=(a, b))

        return _DRAWN.get_or_make((self.listing, place, picture.points), draw)


def empty_payload(pages: PairPages, empty: EmptyItem, *, address: str) -> ComparePayload:
    """Return the panes of an empty list."""
    common = msgspec.structs.asdict(pages.in_common()) | {"verdicts": False, "reviewer": None}
    return ComparePayload(
        page=None,
        panes=(),
        differences=(),
        mode=state.pair_mode,
        selected=None,
        summoned=state.pair_visits > 0,
        visit=str(state.pair_visits),
        empty=empty,
        address=address,
        **common,
    )


def payload(pages: PairPages, position: int, *, selected: str | None, address: str) -> PairWindowPayload:
    """Return what the panes draw of a page of the list (from 0), as far as the browser lacks it."""
    reviewer = findings.author()[0]

    def in_common() -> PairListItem:
        common = pages.in_common()
        bare = page_list.without_current(common.strip)
        return msgspec.structs.replace(common, strip=bare, verdicts=True, reviewer=reviewer)

    def prepare(at: int) -> None:
        pages.prepare(pages.place(at))

    last = min(pages.first + LISTED_PAGES, pages.total) if pages.said else pages.first
    shown = [(place.document, place.index) for place in map(pages.place, range(pages.first, last))]
    listed = page_list.PageList("compare", pages.listing, pages.total, position, pages.content, prepare)
    return PairWindowPayload(
        **listed.window_fields(pages.content(position)),
        **page_list.strip_fields((pages.listing, pages.first, reviewer), in_common),
        selected=selected,
        address=address,
        mode=state.pair_mode,
        summoned=state.pair_visits > 0,
        visit=str(state.pair_visits),
        said=SaidItem(pages.said_of_causes, [pages.said.get(place, "") for place in shown]),
    )
