"""What the list of decisions is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from evaluator.components.gallery.payload import CardBoxItem, CropItem
from evaluator.components.meeting.payload import VoteItem
from evaluator.components.payload import Event, Events, ModelItem, Payload
from evaluator.components.viewer.payload import NOTE_LENGTH


class WorthItem(Payload, frozen=True):
    """A measure of one model before and after."""

    letter: str
    words: str
    after: str


class DecisionRowItem(Payload, frozen=True, kw_only=True):
    """A cause, or a finding of none, with what was decided."""

    key: str
    title: str
    tags: Sequence[str] = ()
    sides: Sequence[str] = ()
    """wrong boxes and places of each model, in words; empty for a finding"""
    place: str = ""
    """the page of the example; empty without one in the open files"""
    pictured: bool = False
    mark: str = ""
    verdict: str = ""
    """in words; empty when nobody said anything"""
    split: str = ""
    """what most reviewers say where they disagree"""
    votes: Sequence[VoteItem] = ()
    notes: Sequence[str] = ()
    people: str = ""
    """who decided, and when"""
    own: str = ""
    """the reader's verdict, "several", or empty"""
    own_note: str = ""
    owner: str = ""
    due: str = ""
    """2026-01-31, or empty"""
    due_words: str = ""
    status: str = ""
    status_words: str
    status_mark: str
    worth: str = ""
    """what the effect is, in words; empty without a verdict"""
    lines: Sequence[WorthItem] = ()
    worth_note: str = ""
    refused: str = ""
    """why nothing can be said of all of it at once"""


class DecisionPictureItem(Payload, frozen=True):
    """The place of a row, and the boxes of each model there."""

    crop: CropItem
    boxes: Sequence[Sequence[CardBoxItem]]


class DecisionsPayload(Payload, frozen=True, kw_only=True):
    """The list of decisions."""

    set: str
    """what the rows are of; another set forgets the pictures"""
    models: Sequence[ModelItem]
    rows: Sequence[DecisionRowItem]
    rest: str
    """what is not listed, in words"""
    empty: str
    pictures: Mapping[str, DecisionPictureItem]
    """those asked for last, by key of the row"""
    owners: Sequence[str]
    """names that are known"""
    reviewer: str
    """whose verdicts are one's own; empty when nobody was named"""
    verified: bool
    """whether a login vouches for the reviewer"""
    answered: str
    """id of the last act that was handled"""
    problem: str
    """that it is not saved, and why"""


class EditEvent(Event, frozen=True):
    """Something said of a row: `field` is verdict, note, owner, due or status; "" takes it back, "undo" everything."""

    id: str
    """made in the browser, one for each act of the reviewer: the same event may arrive twice"""
    row: str
    field: str
    value: str
    name: str
    """of the reviewer, when nobody had one"""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "value", self.value[:NOTE_LENGTH])


class DecisionsEvents(Events, frozen=True):
    """What the list of decisions sends."""

    want: Sequence[str] | None = None
    """keys of the rows that need a picture"""
    edit: Sequence[EditEvent] | None = None
    """those that are not answered, in order"""
    open: str | None = None
    """key of a row whose example is to be opened"""
    alike: str | None = None
    """key of a row whose places are to be listed"""
