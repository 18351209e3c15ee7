"""What a review meeting and the name of the reviewer are sent, and what they send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from evaluator.components.gallery.payload import CardBoxItem
from evaluator.components.payload import Event, Events, Payload, Rect
from evaluator.components.viewer.payload import NOTE_LENGTH


class AgendaRowItem(Payload, frozen=True):
    """An item of the agenda."""

    key: str
    title: str
    wrong: str
    """how much is, of each model; empty for a finding without a cause"""
    noun: str
    """what is counted"""
    state: str
    """in words"""
    done: bool
    """whether all of it was judged"""


class MeetingPaneItem(Payload, frozen=True):
    """The page of one of the two models."""

    letter: str
    name: str
    words: str
    """what the model did here"""
    boxes: Sequence[CardBoxItem]
    chosen: Sequence[str]
    """keys of the boxes of the item; the others are drawn pale"""


class MeetingPageItem(Payload, frozen=True):
    """The page that both models are shown on."""

    place: str
    image: str | None
    """data URL"""
    aspect: float
    """width over height"""
    problem: str | None
    """why there is no picture"""
    zoom: Rect
    """the part of the page around the boxes of the item"""
    panes: Sequence[MeetingPaneItem]


class VoteItem(Payload, frozen=True):
    """The verdicts of a reviewer on the item."""

    name: str
    words: str
    role: str = ""
    """in the live meeting, in words; empty for somebody who is not there"""


class MeetingNumberItem(Payload, frozen=True):
    """An official number beside the corrected one."""

    name: str
    official: str
    corrected: str


class DecidedItem(Payload, frozen=True):
    """What was decided of an item of the agenda."""

    title: str
    words: str
    task: str
    """owner and due date in words"""


class LiveItem(Payload, frozen=True):
    """The meeting as a live one."""

    role: Literal["presents", "follows", "looks", "alone"]
    words: str
    people: str = ""
    """how many follow and have voted, in words"""
    asks: str = ""
    """address that answers what `seen` is now, and nothing when the findings do not answer; empty without one"""
    seen: str = ""
    """changes with what is shown of the meeting"""


class OpinionState(Payload, frozen=True):
    """What is held of an item by the reader, and who is to act on it."""

    verdict: str | None
    note: str
    owner: str
    due: str
    """2026-01-31, or empty"""
    status: str


class MeetingPayload(Payload, frozen=True, kw_only=True):
    """A meeting: the agenda, both models on one page, the verdict, and what was decided."""

    agenda: Sequence[AgendaRowItem]
    rest: str
    """what is in the data and not on the agenda, in words"""
    live: LiveItem
    letters: Sequence[str]
    """of the models"""
    signature: str
    item: str
    """key of the item that is shown; empty without an agenda"""
    title: str
    sentence: str
    example: int
    """from 0"""
    examples: int
    mistakes: int
    """that a verdict on the whole item is for; 0 when it can be given on this example only"""
    here: int
    """mistakes of this example"""
    page: MeetingPageItem | None
    counts: Mapping[str, int]
    """reviewers by verdict"""
    held: OpinionState
    votes: Sequence[VoteItem]
    owners: Sequence[str]
    """names that are known"""
    decided: Sequence[DecidedItem]
    numbers: Sequence[MeetingNumberItem]
    minutes: str
    """Markdown"""
    reviewer: str
    """whose verdicts are one's own; empty when nobody was named"""
    verified: bool
    """whether a login vouches for the reviewer"""
    answered: str
    """id of the last act that was handled"""
    problem: str
    """that the last decision is not saved, and why"""


class DecideEvent(Event, frozen=True):
    """A decision on an item of the agenda, or on one example of it."""

    id: str
    """made in the browser, one for each act of the reviewer: the same event may arrive twice"""
    item: str
    example: int
    whole: bool
    """for all examples of the item"""
    verdict: str | None
    note: str
    owner: str
    due: str
    status: str
    name: str
    """of the reviewer, when nobody had one"""
    onward: bool
    """show the next open item"""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "note", self.note[:NOTE_LENGTH])


class ShowItemEvent(Event, frozen=True):
    """An item of the agenda to show."""

    item: str
    example: int


class MeetingEvents(Events, frozen=True):
    """What the meeting sends."""

    decide: Sequence[DecideEvent] | None = None
    """those that are not answered, in order"""
    show: ShowItemEvent | None = None
    end: Literal[True] | None = None
    open: Literal[True] | None = None
    """show the page in Pages"""
    back: Literal[True] | None = None
    """follow the presenter again"""
    present: Literal[True] | None = None
    """present instead"""
    changed: Literal[True] | None = None
    """the meeting is not as it is shown"""


class ReviewerPayload(Payload, frozen=True):
    """The name of the reviewer, which the browser remembers."""

    name: str
    """empty when nobody was named in this session"""


class ReviewerEvents(Events, frozen=True):
    """What the browser remembers."""

    name: str | None = None
