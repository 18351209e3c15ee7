"""The style of the frame of every view, which stands in the page itself; light, because the server imports it."""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).resolve().parents[1]
ICON: Final = f"data:image/png;base64,{base64.b64encode((_FOLDER / 'icon.png').read_bytes()).decode()}"
SIDEBAR: Final = 248
"""Width of the sidebar, in pixels."""
WITH_SIDEBAR: Final = (
    "models", "pixel_confusion", "fields", "suspects",
)  # fmt: skip
"""Views that always have filters or choices in the sidebar, whose room is kept from the first picture on."""


def frame_style(path: str) -> str:
    """Return the style of the frame of the view of a path, which keeps the room of a sidebar.

    >>> frame_style("/below/models")[-30:]
    ':root { --ls-sidebar: 248px; }'
    """
    view = path.rstrip("/").rpartition("/")[2]
    return _frame_style() + (f":root {{ --ls-sidebar: {SIDEBAR}px; }}" if view in WITH_SIDEBAR else "")


@functools.cache
def _frame_style() -> str:
    return (_FOLDER / "frame.css").read_text(encoding="utf-8").replace("ICON", ICON)
