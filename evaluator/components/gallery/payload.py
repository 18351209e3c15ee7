"""What the gallery is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.components.payload import BoxStatus, Event, Events, Payload, Rect, Side
from evaluator.components.viewer.payload import JudgedItem


class CardBoxItem(Payload, frozen=True):
    """A box on a card of the gallery."""

    key: str
    side: Side
    status: BoxStatus
    xyxy: Rect
    outline: str | None = None
    """as in `BoxItem`"""


class CardSideItem(Payload, frozen=True):
    """What one of two models has of the place of a card."""

    key: str
    letter: str
    words: str
    boxes: Sequence[CardBoxItem]
    empty: bool = False
    """whether the model has none of it"""


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
    family: str = ""
    """the same for all places of one cause"""
    sides: Sequence[CardSideItem] = ()
    """a picture for each model, and what opens its places; empty for a card of one picture"""


class GroupItem(Payload, frozen=True):
    """Cards of Grid that stand together under a head."""

    title: str
    words: str
    """what they hold"""
    first: int
    """its first card among those that are shown, from 0"""
    places: int
    """on other sheets too"""
    judged: int
    """how many of them have only mistakes with a verdict"""


class GridCauseItem(Payload, frozen=True, omit_defaults=False):
    """A cause in the rail of Grid."""

    title: str
    boxes: int
    """wrong boxes"""
    judged: float
    """share of its places with a verdict, in [0, 1]"""
    chosen: bool


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
    groups: Sequence[GroupItem] = ()
    """empty for cards without heads"""
    causes: Sequence[GridCauseItem] = ()
    by_cause: bool = False
    """whether a group is a cause, which takes one verdict"""
    verdicts: Sequence[Sequence[JudgedItem | None]] | None = None
    """on the mistakes of each card, empty for a card without any; null where nothing is judged"""
    reviewer: str = ""
    """whose verdicts are one's own; empty for nobody yet"""
    answered: str = ""
    """id of the last act that was handled"""
    problem: str = ""
    """why it is not saved"""


class JudgeItem(Event, frozen=True, kw_only=True):
    """An act of a reviewer in Grid: a verdict on some cards, or the last one taken back."""

    id: str
    keys: tuple[str, ...]
    """of cards; with `everywhere` the first one says which cause"""
    verdict: str | None
    everywhere: bool = False
    """also all places of the cause that are not judged"""
    undo: bool = False
    name: str = ""
    """of the reviewer, when nobody had one"""


class GalleryEvents(Events, frozen=True):
    """What the gallery sends."""

    want: Sequence[str] | None = None
    """keys of the cards that need a crop"""
    open: str | None = None
    """key of a card, or of a side of one"""
    judge: Sequence[JudgeItem] | None = None
    """those that are not answered, in order"""
    cause: int | None = None
    """place of a cause in the rail; -1 for all"""
    model: bool | None = None
    """the next model is asked for"""
