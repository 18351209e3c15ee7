"""What the list of slices is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.components.gallery.payload import CardItem, CropItem
from evaluator.components.payload import Event, Events, Payload


class SliceBarItem(Payload, frozen=True):
    """One model in a slice and elsewhere, on the scale from 0 to 1."""

    letter: str
    here: float | None
    rest: float | None
    lost: int
    """boxes; below 0 when the slice is better than elsewhere"""


class SliceRowItem(Payload, frozen=True):
    """A row of the table of a slice, in words."""

    letter: str
    """"" for the difference of two models"""
    name: str
    cells: Sequence[str]
    """slice, interval, elsewhere, points, interval"""


class SlicePointItem(Payload, frozen=True):
    """One model among the boxes of one combination of conditions."""

    letter: str
    value: float | None
    low: float | None
    high: float | None


class SliceCellItem(Payload, frozen=True):
    """The boxes of one combination of conditions."""

    name: str
    boxes: str
    """how many are right of how many, in words"""
    points: Sequence[SlicePointItem]
    chosen: bool
    """whether these are the boxes of the slice"""


class SlicePanelItem(Payload, frozen=True):
    """Combinations that differ in one condition."""

    title: str
    cells: Sequence[SliceCellItem]


class SlicePageItem(Payload, frozen=True):
    """A page with boxes of a slice."""

    document: str
    name: str
    """as people read it"""
    index: int
    """0-based"""
    boxes: int
    wrong: int


class SliceItem(Payload, frozen=True):
    """A slice: a set of boxes in which a model is worse than elsewhere."""

    title: str
    line: str
    """its numbers in words"""
    chips: Sequence[str]
    confirmed: bool | None
    """None while a search is under way that says it"""
    bars: Sequence[SliceBarItem]
    lead: str
    rows: Sequence[SliceRowItem]
    panels: Sequence[SlicePanelItem]
    split: str
    """which boxes the panels have"""
    alone: str
    """what each of two conditions does alone"""
    pages: Sequence[SlicePageItem]
    """those with most wrong boxes first, at most a hundred"""
    places: str
    """how many pages, in words; empty while they are not looked up"""
    paged: bool
    """whether they are pages of documents, else whole documents"""
    noun: str
    """what the slice is made of, as a plural"""
    boxes: str
    """how many, in words"""
    wrong: str
    """what a wrong box is called"""
    examples: Sequence[CardItem]
    """some of its wrong boxes"""
    examples_order: str
    """which boxes the examples are, and in which order"""
    gate: str
    """a condition of `layoutscope gate`, {name} where its name goes; empty without one"""
    conditions: str
    """JSON of its conditions"""


class SlicesPayload(Payload, frozen=True):
    """All slices of a search, most costly first."""

    measure: str
    """as people read it"""
    lost: str
    """what a slice costs, as the head of a column"""
    order: str
    """the head of the list: what is first"""
    file: str
    """name of the file of named slices"""
    slices: Sequence[SliceItem]
    crops: Mapping[str, CropItem]
    """of examples, those asked for last, by key of the card"""


class SlicePageEvent(Event, frozen=True):
    """A page of a slice that was opened."""

    document: str
    index: int


class SlicesEvents(Events, frozen=True):
    """What the slices send."""

    open: SlicePageEvent | None = None
    boxes: int | None = None
    """place of the slice whose boxes are wanted"""
    want: Sequence[str] | None = None
    """keys of the examples that need a crop"""
