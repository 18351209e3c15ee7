"""What the Overview is sent for its bars and for its labels, and what both send."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.payload import CountedStatus, Event, Events, Payload


class ModelBarItem(Payload, frozen=True, kw_only=True):
    """What a model found, missed and drew besides, and its F1."""

    letter: str
    name: str
    matched: int
    missed: int
    extra: int
    f1: str
    recall: str
    precision: str
    place: float | None
    """of F1 on the axis, 0 to 1; null when undefined"""
    ends: tuple[float, float] | None
    """of its interval on the axis"""
    interval: str
    """in words, or why there is none"""
    corrected: str = ""
    """F1 on the ground truth as reviewers correct it, in words"""
    why: str = ""
    """what that is"""


class AxisTickItem(Payload, frozen=True):
    """A tick of the axis of F1."""

    at: float
    text: str


class BarsPayload(Payload, frozen=True):
    """The models in rows, their boxes at one scale."""

    bars: Sequence[ModelBarItem]
    boxes: int
    """of the ground truth"""
    ticks: Sequence[AxisTickItem]
    note: str
    """why there are no intervals; empty where there are"""


class LabelDotsItem(Payload, frozen=True, kw_only=True):
    """A label: F1 of each model, and one number."""

    label: str
    title: str
    values: Sequence[float | None]
    """F1 of each model, 0 to 1"""
    words: str
    fails: bool
    """whether the number is a clear loss"""
    hint: str


class LabelsPayload(Payload, frozen=True):
    """The labels with most wrong boxes."""

    cells: Sequence[LabelDotsItem]
    letters: Sequence[str]
    facts: str
    every: str
    """opens the table of all labels, in words"""
    star: str
    """what a star says; empty where there can be none"""
    opened: bool


class BoxesEvent(Event, frozen=True):
    """Boxes of a model are asked for."""

    letter: str
    status: CountedStatus


class OverviewEvents(Events, frozen=True):
    """What the Overview sends."""

    boxes: BoxesEvent | None = None
    label: str | None = None
    """whose mistakes are asked for"""
    every: bool | None = None
    """the table of all labels is opened, or closed"""
