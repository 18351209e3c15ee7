"""What the page with the pixels of a cell is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from evaluator.components.payload import Event, Events, Payload, PictureItem, Rect, Side


class TintBoxItem(Payload, frozen=True):
    """A box beside the pixels of a cell."""

    xyxy: Rect
    side: Side
    text: str


class TintItem(Payload, frozen=True):
    """The pixels of a cell on one page."""

    raster: tuple[float, float]
    """width and height of the page in pixels, not rounded"""
    rectangles: Sequence[Rect]
    """pixels"""
    outline: Sequence[Rect]
    """lines in pixels"""
    pixels: int
    """how many are tinted"""
    boxes: Sequence[TintBoxItem]
    left_out: int
    """boxes that are not drawn"""


class TintPayload(Payload, frozen=True, kw_only=True):
    """A page with the pixels of a cell."""

    key: str
    """page and cell; another key brings the pixels into view again"""
    name: str
    """what a screen reader reads for the page"""
    caption: str
    """what the tinted pixels are"""
    height: int = 0
    """of the pane, pixels"""
    page: PictureItem
    tint: TintItem


class TintSharperEvent(Event, frozen=True):
    """A request for a picture of at least `width` pixels."""

    width: Annotated[int, msgspec.Meta(gt=0, le=8_000)]


class TintEvents(Events, frozen=True):
    """What the page with the pixels of a cell sends."""

    sharper: TintSharperEvent | None = None
