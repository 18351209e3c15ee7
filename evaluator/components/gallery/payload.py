"""What the gallery is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.components.payload import BoxStatus, Events, Payload, Rect, Side


class CardBoxItem(Payload, frozen=True):
    """A box on a card of the gallery."""

    key: str
    side: Side
    status: BoxStatus
    xyxy: Rect
    outline: str | None = None
    """as in `BoxItem`"""


class CardItem(Payload, frozen=True):
    """A card of the gallery."""

    key: str
    title: str
    label: str
    facts: Sequence[str]
    place: str
    tags: Sequence[str]
    document: str
    index: int
    box: str
    """key of the box that the page browser chooses"""
    boxes: Sequence[CardBoxItem]


class CropItem(Payload, frozen=True):
    """The part of a page that a card shows."""

    image: str | None
    """data URL; null when the page cannot be drawn"""
    region: Rect
    """the part of the page that it shows"""
    aspect: float
    """width over height"""
    problem: str | None
    """why there is no picture"""


class GalleryPayload(Payload, frozen=True):
    """The gallery of crops."""

    set: str
    """what the cards are of; another set forgets the crops"""
    cards: Sequence[CardItem]
    crops: Mapping[str, CropItem]
    """those asked for last, by key of the card"""
    empty: str | None
    """shown when there are no cards"""


class GalleryEvents(Events, frozen=True):
    """What the gallery sends."""

    want: Sequence[str] | None = None
    """keys of the cards that need a crop"""
    open: str | None = None
    """key of a card"""
