"""The bridge to the gallery of crops, one Streamlit component (v2), and the check of what it reports.

It does not touch the session state. The shape of `data` is written down in `evaluator/web/shared/payloads.d.ts`
(`GalleryPayload`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from evaluator.web.source import component_script, component_style

NAME: Final = "layoutscope_gallery"
MOST_WANTED: Final = 24
"""Crops that are made in one run."""

_mount = st.components.v2.component(NAME, html="", css=component_style("gallery"), js=component_script("gallery"))


def wanted(state: Mapping[str, Any] | None) -> list[str]:
    """Keys of the cards that came near the screen without a crop, checked: they come from a browser."""
    value = state.get("want") if state else None
    return [key for key in value if isinstance(key, str)][:MOST_WANTED] if isinstance(value, list) else []


def opened_card(state: Mapping[str, Any] | None) -> str | None:
    """Key of the card that was opened in this run."""
    value = state.get("open") if state else None
    return value if isinstance(value, str) else None


def gallery(data: Mapping[str, Any], *, key: str, on_want: Callable[[], None], on_open: Callable[[], None]) -> None:
    """Shows the gallery.

    Parameters
    ----------
    data : mapping
        Cards and the crops that were asked for last.
    key : str
    on_want, on_open : callable without arguments
        Run before the script; inside, read `wanted` or `opened_card` of ``st.session_state[key]``.
    """
    _mount(key=key, data=dict(data), width="stretch", height="content", on_want_change=on_want, on_open_change=on_open)
