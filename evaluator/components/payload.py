"""What Python sends to the components of the browser and what they send back: the bases, pages and models.

A struct is what JavaScript reads, key by key; `typescript` writes ``shared/payloads.d.ts`` from all of them. A field of
a payload that equals its default is left out on the way, so it is optional in JavaScript. Coordinates are shares of the
displayed page, origin top left, unless a field names pixels. What fills the structs of a component lies beside them, a
view adds its own part with ``msgspec.structs.replace``, and `plain_payload` turns the whole into plain values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec

from evaluator.system.decoding import convert

Rect = tuple[float, float, float, float]
"""x1, y1, x2, y2."""
Side = Literal["ground_truth", "prediction"]
BoxStatus = Literal["TP", "FP", "FN", "truth"]
"""`truth` is a matched ground truth."""
CountedStatus = Literal["TP", "FP", "FN"]
"""The statuses that a toggle shows and hides."""
BlockItem = tuple[float, float, float, float, str]
"""A box of a thumbnail, and its label."""
PairKind = Literal["both", "a_only", "b_only", "neither", "shared", "a_invents", "b_invents"]


class Payload(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of everything that is sent to a component."""


class Event(msgspec.Struct, frozen=True):
    """Base of everything that a component sends."""


class Events(msgspec.Struct, frozen=True):
    """Base of what one component may send; each event is None when it was not sent."""


class ProblemItem(Payload, frozen=True):
    """Why a page has no picture."""

    title: str
    text: str
    fix: str
    in_files: bool = False
    """whether the view Files has what mends it"""
    again: bool = False
    """whether the picture comes by itself, so that asking again helps"""


class PictureItem(Payload, frozen=True, kw_only=True):
    """The picture of a page, or the reason why there is none."""

    width: float
    """points"""
    height: float
    """points"""
    image: str | None
    """data URL, or a path on this server"""
    image_width: int
    """pixels; 0 without an image"""
    problem: ProblemItem | None
    notes: Sequence[str]

    @property
    def points(self) -> tuple[float, float] | None:
        """Width and height in points; None where the page could not be measured."""
        return None if self.problem else (self.width, self.height)


class PageItem(PictureItem, frozen=True, kw_only=True):
    """A page of a list of pages."""

    document: str
    name: str = ""
    """as people read it"""
    index: int
    """0-based"""
    position: int
    """1-based place in the list; 0 for a page that the filter hides"""
    total: int
    """pages of the list"""


class ViewedPageItem(PageItem, frozen=True, kw_only=True):
    """A page of the page viewer."""

    count: int | None
    """pages of the document"""
    lost: Sequence[Rect] = ()
    """words, or inked stretches, that no prediction holds"""
    lost_words: int | None = None
    """how many; null or missing takes the toggle away"""
    lost_ink: float | None = None
    """share of the ink instead, for a page without a text layer"""


def with_notes(picture: PictureItem, notes: Sequence[str]) -> PictureItem:
    """Return the same page with more notes."""
    return msgspec.structs.replace(picture, notes=(*picture.notes, *notes))


class LostText(Payload, frozen=True):
    """What no prediction holds of a page, under the names of `ViewedPageItem`."""

    lost: Sequence[Rect] = ()
    lost_words: int | None = None
    lost_ink: float | None = None


class ModelItem(Payload, frozen=True):
    """A model as the reader knows it."""

    letter: str
    name: str


class LimitItem(Payload, frozen=True):
    """How many of how many boxes are drawn."""

    drawn: int
    total: int


class EmptyItem(Payload, frozen=True):
    """A sentence in place of what is missing, and the words of the one way out."""

    text: str
    action: str


EventsT = TypeVar("EventsT", bound=Events)


def plain_payload(payload: Payload) -> dict[str, object]:
    """Return the plain values that a component is given; fields that equal their default are left out."""
    values: dict[str, object] = msgspec.to_builtins(payload)
    return values


@cache
def _forms(kind: type[Events]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def read_events(state: Mapping[str, object] | None, kind: type[EventsT]) -> EventsT:
    """Return what a component reports, checked: it comes from a browser.

    Parameters
    ----------
    state : mapping or None
        The component's result, or its entry in the session state inside a callback.
    kind : type of Events
        What this component may send.

    Returns
    -------
    Events
        An event that is malformed or was not sent is None.

    Examples
    --------
    >>> from evaluator.components.matrix.payload import MatrixEvents
    >>> from evaluator.components.viewer.payload import PageEvents
    >>> read_events({"go": {"document": "a.pdf", "index": 3, "step": 0}, "model": 7}, PageEvents).go
    GoEvent(document='a.pdf', index=3, step=0)
    >>> read_events({"cell": {"row": -1, "column": 0, "classes": 3}}, MatrixEvents)
    MatrixEvents(cell=None)
    """
    events = {}
    for name, form in _forms(kind).items():
        try:
            events[name] = convert((state or {}).get(name), form)
        except msgspec.ValidationError:
            events[name] = None
    return kind(**events)
