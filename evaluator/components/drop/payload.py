"""What takes dropped files and the list of files with their roles are sent, and what they send."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.payload import Event, Events, Payload


class DropPayload(Payload, frozen=True):
    """Where dropped files go."""

    key: str
    """of the uploader that takes them; another one for each drop"""
    limit: int
    """the largest file that is taken, in megabytes"""


class DroppedEvent(Event, frozen=True):
    """All files of a drop by name: what is too large or was cut off does not arrive and can so be named."""

    drop: str
    names: Sequence[str]
    large: Sequence[str] = ()
    """those above the limit"""


class DropEvents(Events, frozen=True):
    """What a drop sends."""

    dropped: DroppedEvent | None = None


class RoleItem(Payload, frozen=True):
    """A role that a file may have."""

    role: str
    words: str


class ListedItem(Payload, frozen=True):
    """A file of the list."""

    name: str
    what: str
    at: int = -1
    """place among the files with a role; -1 for what has no choice"""
    role: str = ""
    roles: Sequence[RoleItem] = ()
    documents: str = ""
    boxes: str = ""
    wrong: bool = False
    """whether it cannot be read"""


class ChoiceItem(Payload, frozen=True):
    """Something to choose, by its name."""

    name: str
    words: str
    chosen: bool = False


class ListedGroup(Payload, frozen=True):
    """Files of one purpose."""

    title: str
    facts: str
    files: Sequence[ListedItem]
    link: ChoiceItem | None = None
    """behind the facts"""
    sentence: str = ""
    """of the bar below the files"""
    choices: Sequence[ChoiceItem] = ()


class FileListPayload(Payload, frozen=True):
    """All files that were dropped, used or not, and what will be evaluated."""

    headline: str
    facts: str
    groups: Sequence[ListedGroup]
    back: str
    """words of the way back"""
    ready: bool
    button: str
    """what the button does that opens the files"""
    summary: str
    protocol: str
    missing: str = ""


class RoleEvent(Event, frozen=True):
    """Another role for a file."""

    at: int
    role: str


class FileListEvents(Events, frozen=True):
    """What the list of files sends."""

    role: RoleEvent | None = None
    choose: str | None = None
    """the name of a choice"""
    evaluate: int | None = None
    back: int | None = None
