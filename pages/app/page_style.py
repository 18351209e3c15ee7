"""The style of the frame of every view, which stands in the page itself; light, because the server imports it."""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).resolve().parents[1]
ICON: Final = f"data:image/png;base64,{base64.b64encode((_FOLDER / 'icon.png').read_bytes()).decode()}"


@functools.cache
def frame_style() -> str:
    """Return the style of the frame of every view."""
    return (_FOLDER / "frame.css").read_text(encoding="utf-8").replace("ICON", ICON)
