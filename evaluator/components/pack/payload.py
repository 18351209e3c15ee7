"""The pages of a review pack, as JSON in the file."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.payload import LostText, ModelItem, Payload, ProblemItem
from evaluator.components.viewer.payload import PageLayers


class PackPageItem(Payload, frozen=True):
    """A page of the pack."""

    document: str
    name: str
    index: int
    """0-based"""
    position: int
    total: int
    width: float
    """points"""
    height: float
    """points"""
    image_width: int
    """pixels"""
    problem: ProblemItem | None


class PackModelItem(Payload, frozen=True):
    """What one model has on a page of the pack."""

    model: ModelItem
    data: PageLayers
    text: LostText = LostText()


class PackPagePayload(Payload, frozen=True):
    """One page of the pack, as JSON in the file."""

    page: PackPageItem
    models: Sequence[PackModelItem]
