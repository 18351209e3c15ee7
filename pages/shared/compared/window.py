"""The pages of the comparison as they are sent: what each shows of two models, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import streamlit as st

from evaluator.drawing import page_window
from evaluator.drawing.page_window import PackedBoxes
from evaluator.drawing.pair import PairLayers
from evaluator.drawing.payloads import (
    ComparePayload,
    EmptyItem,
    PackedPairItem,
    PageItem,
    PairListItem,
    PairWindowPayload,
    PictureItem,
    PlacedItem,
    with_notes,
)
from evaluator.system.recent import Recent
from pages.shared import window as turned
from pages.shared.findings import log as findings
from pages.shared.opened import Place
from pages.shared.pictures import Preparation
from pages.shared.state import state

_KEPT_PAGES: Final = 256


@st.cache_resource(show_spinner=False)
def _drawn() -> Recent[object, tuple[PairLayers, Sequence[PackedBoxes]]]:
    """What is drawn of pages, and their boxes as they are sent, for all sessions."""
    return Recent(most=_KEPT_PAGES)


@dataclass(frozen=True)
class PairPages:
    """The pages of a list of the comparison.

    Attributes
    ----------
    listing : str
        What decides which pages are listed and what is drawn on them, as one name.
    total : int
        How many there are.
    first : int
        Place of the first page of the list beside the panes, from 0.
    place : callable
        A page by its place in the list.
    name : callable
        How people read the name of its document; empty for its id.
    picture, draw, judged : callable
        Its picture, what lies on it, and the same with the verdicts.
    in_common : callable
        What all pages of the list have in common, around one of them.
    preparation : callable
        What renders its picture in the background; None for a page without one.
    sent : callable
        A document's id as the browser is given it; by default whole.
    """

    listing: str
    total: int
    first: int
    place: Callable[[int], Place]
    name: Callable[[Place], str]
    picture: Callable[[Place], PictureItem]
    draw: Callable[[Place, PictureItem], PairLayers]
    judged: Callable[[Place, PairLayers], PairLayers]
    in_common: Callable[[], PairListItem]
    preparation: Callable[[Place], Preparation | None]
    sent: Callable[[str], str] = str

    def around(self, position: int) -> turned.Pages[PackedPairItem]:
        """The pages around one of them."""

        def next_with(at: int, step: int) -> int | None:
            return at + step if 0 <= at + step < self.total else None

        return turned.Pages(
            listing=self.listing,
            total=self.total,
            here=position,
            make=self.made,
            next_with=next_with,
            preparation=lambda at: [self.preparation(self.place(at))],
        )

    def made(self, at: int) -> turned.Made[PackedPairItem]:
        """One page, packed and named."""
        place = self.place(at)
        picture = self.picture(place)
        drawn, boxes = self._layers(place, picture)
        drawn = self.judged(place, drawn)
        page = PageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            document=self.sent(place.document),
            name=self.name(place),
            index=place.index,
            position=at + 1,
            total=self.total,
        )
        content = page_window.packed_pair(page, drawn, boxes)
        placed = PlacedItem(
            document=self.sent(place.document),
            index=place.index,
            position=at + 1,
            content=page_window.name_of(content),
            image=picture.image,
            image_width=picture.image_width,
            said=page_window.said_of_pair(drawn.panes),
        )
        return turned.Made(placed, content)

    def layers(self, at: int) -> PairLayers:
        """What is drawn on a page, without verdicts."""
        place = self.place(at)
        return self._layers(place, self.picture(place))[0]

    def _layers(self, place: Place, picture: PictureItem) -> tuple[PairLayers, Sequence[PackedBoxes]]:
        """What is drawn on a page, without verdicts, and its boxes as they are sent."""

        def made() -> tuple[PairLayers, Sequence[PackedBoxes]]:
            drawn = self.draw(place, picture)
            return drawn, [page_window.packed_pair_boxes(pane.boxes) for pane in drawn.panes]

        return _drawn().get_or_make((self.listing, place, picture.points), made)


def without_pages(pages: PairPages, empty: EmptyItem, *, address: str) -> ComparePayload:
    """The panes of an empty list."""
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


def payload(pages: PairPages, position: int, *, selected: str | None, address: str, build: bool) -> PairWindowPayload:
    """What the panes draw of a page, and what the browser lacks of the pages around it.

    Parameters
    ----------
    position : int
        Of the page in the list, from 0.
    selected : str or None
        Key of the chosen box.
    address : str
        The query that leads back here.
    build : bool
        See `window.placed_around`.
    """
    around = pages.around(position)
    reviewer = findings.author()[0]

    def in_common() -> PairListItem:
        common = pages.in_common()
        bare = page_window.without_current(common.strip)
        return msgspec.structs.replace(common, strip=bare, verdicts=True, reviewer=reviewer)

    with turned.passing(build=build):
        made = around.make(position)
    strip_name, strips = turned.strip_of((pages.listing, pages.first, reviewer), in_common, build=build)
    placed, contents = turned.placed_around(around, made, build=build)
    return PairWindowPayload(
        shown=made.placed,
        around=placed,
        listing=pages.listing,
        contents=contents,
        strip=strip_name,
        strips=strips,
        turn=state.viewer_turn,
        selected=selected,
        address=address,
        mode=state.pair_mode,
        summoned=state.pair_visits > 0,
        visit=str(state.pair_visits),
    )
