"""The bridge to the gallery of crops, one Streamlit component (v2), and the check of what it reports.

What is sent and what comes back are structs of `evaluator.drawing.payloads`. It does not touch the session state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from evaluator.drawing.payloads import GalleryEvents, GalleryPayload, plain_payload, read_events
from evaluator.web.source import component_script, component_style

NAME: Final = "layoutscope_gallery"
MOST_WANTED: Final = 24
"""Crops that are made in one run."""

_mount = st.components.v2.component(NAME, html="", css=component_style("gallery"), js=component_script("gallery"))


def wanted(state: Mapping[str, object] | None) -> list[str]:
    """Keys of the cards that came near the screen without a crop, checked: they come from a browser."""
    return list(read_events(state, GalleryEvents).want or ())[:MOST_WANTED]


def opened_card(state: Mapping[str, object] | None) -> str | None:
    """Key of the card that was opened in this run."""
    return read_events(state, GalleryEvents).open


def gallery(payload: GalleryPayload, *, key: str, on_want: Callable[[], None], on_open: Callable[[], None]) -> None:
    """Shows the gallery.

    Parameters
    ----------
    on_want, on_open : callable without arguments
        Run before the script; inside, read `wanted` or `opened_card` of ``report(key)``.
    """
    data = plain_payload(payload)
    _mount(key=key, data=data, width="stretch", height="content", on_want_change=on_want, on_open_change=on_open)
