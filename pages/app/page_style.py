"""The styles of all views, which stand in the page itself; light, because the server imports it."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Final

from evaluator.workspace.variables import WORKSPACE_VARIABLE

_FOLDER: Final = Path(__file__).resolve().parents[1]
ICON: Final = f"data:image/png;base64,{base64.b64encode((_FOLDER / 'icon.png').read_bytes()).decode()}"


def page_styles() -> dict[str, str]:
    """Return the style of the frame, for the head of the page, and that of what is in it, for the end of its body."""
    frame, views = ((_FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in ("frame", "app"))
    bar = "0px" if os.environ.get(WORKSPACE_VARIABLE) else "var(--ls-sample)"
    return {"head": frame.replace("BAR", bar).replace("ICON", ICON), "body": views}
