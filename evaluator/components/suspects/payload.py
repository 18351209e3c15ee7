"""What the list of suspected ground truth is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.components.gallery.payload import CropItem
from evaluator.components.payload import Event, Events, Payload, PictureItem, Rect
from evaluator.components.viewer.payload import JudgedItem, OfPageEvent, UnsavedItem, VerdictEvent


class SuspectModelItem(Payload, frozen=True):
    """What a model has at the place of a suspect."""

    letter: str
    label: str
    score: float | None
    xyxy: Rect


class SuspectItem(Payload, frozen=True, kw_only=True):
    """A place where the ground truth is likely wrong."""

    target: str
    """the identity of a verdict on it"""
    rank: int
    """place in the whole list, from 0"""
    document: str
    index: int
    place: str
    """document and page as people read them"""
    kind: str
    label: str
    score: float
    """probability that the ground truth is wrong there"""
    reason: str
    now: Rect | None
    """the ground truth box; null for a missing one, and where the size of the page is not known"""
    proposed: Rect | None
    """the box as it should be; null for one that should go, and where the size of the page is not known"""
    new_label: int | None
    """its label, as a place in the list of labels; null for one that should go"""
    scale: tuple[float, float]
    """by which shares of the page are multiplied for the reader, across and down"""
    models: Sequence[SuspectModelItem]
    fit: Sequence[tuple[str, str, str]]
    """evidence: what it is, for the ground truth now, for the proposal"""


class SuspectStateItem(Payload, frozen=True, kw_only=True):
    """What became of a suspect."""

    verdict: JudgedItem | None = None
    unsaved: UnsavedItem | None = None


class SuspectsPayload(Payload, frozen=True, kw_only=True):
    """The suspects that pass the filter, most likely first."""

    set: str
    """what the suspects are; the same name is the same list"""
    suspects: Sequence[SuspectItem] | None
    """null when the browser has the list of this name"""
    more: int
    """how many more pass the filter and are not in the list"""
    states: Mapping[str, SuspectStateItem]
    """by target, of those about which something is known"""
    only_open: bool
    """whether those with a verdict are left out of the list"""
    pages: Mapping[str, PictureItem]
    """those asked for last, by index and document with a space between"""
    crops: Mapping[str, CropItem]
    """those asked for last, by target"""
    labels: Sequence[str]
    """as people read them"""
    unit: str
    """of the scaled coordinates"""
    models: Sequence[tuple[str, str]]
    """letter and name"""
    effects: Mapping[str, Sequence[str]]
    """what accepting changes in the corrected numbers, a line for each model, by target; of those asked for last"""
    reviewer: str | None
    """empty when nobody was named"""
    answered: str = ""
    """id of the last answer that was handled, stored or not"""


class SuspectVerdictEvent(VerdictEvent, frozen=True, kw_only=True):
    """A verdict on a suspect; `number` is its rank."""

    label: int | None = None
    """of the correction as the reader edited it, as a place in the list of labels; null for the proposal as it is"""
    xyxy: Rect | None = None
    """the same"""


class SuspectWantEvent(Event, frozen=True):
    """What is needed, by rank: pages, crops, and the effect of accepting the chosen suspect and those beside it."""

    pages: tuple[int, ...]
    crops: tuple[int, ...]
    near: tuple[int, ...] = ()
    held: str = ""
    """name of the list that the browser has"""


class SuspectsEvents(Events, frozen=True):
    """What the view of suspects sends."""

    want: SuspectWantEvent | None = None
    verdict: Sequence[SuspectVerdictEvent] | None = None
    """those that are not answered, in order"""
    open: OfPageEvent | None = None
