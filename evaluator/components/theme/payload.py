"""What the theme is sent, and what it sends."""

from __future__ import annotations

from evaluator.components.payload import Events, Payload


class ThemePayload(Payload, frozen=True):
    """The theme in which the server drew the charts."""

    dark: bool


class ThemeEvents(Events, frozen=True):
    """That the reader chose the other theme."""

    changed: str | None = None
    """dark or light"""
