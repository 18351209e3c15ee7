"""Choices of the sidebar that decide how pixels are counted, in Pixel confusion and Compare."""

from __future__ import annotations

from typing import Final

from evaluator.protocols.pixel.inputs import Classes, MissingPage
from pages.app import widgets
from pages.app.state import State

_CLASSES: Final[dict[Classes, str]] = {
    "auto": "Recognised by label names",
    "same": "The same",
    "different": "Different",
}
_MISSING: Final[dict[MissingPage, str]] = {"penalize": "Counts as background", "ignore": "Is left out"}


def count_choices() -> None:
    """Draw whether both sides have the same classes, and what a page of only one side counts as."""
    widgets.choice("Classes of both sides", _CLASSES, State.pixel_classes)
    widgets.choice("Page missing on one side", _MISSING, State.pixel_missing)
