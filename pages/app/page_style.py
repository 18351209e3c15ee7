"""What stands in the page itself: the styles of all views, and where the server is; light: the server imports it."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Final

from evaluator.workspace.variables import WORKSPACE_VARIABLE

_FOLDER: Final = Path(__file__).resolve().parents[1]
ICON: Final = f"data:image/png;base64,{base64.b64encode((_FOLDER / 'icon.png').read_bytes()).decode()}"
# Streamlit would ask below the address of the view first, and again above it when nobody answers there.
_SERVER: Final = 'window.__streamlit = { BACKEND_BASE_URL: new URL(".", window.location.href).href }'


def page_styles() -> dict[str, str]:
    """Return what belongs into the head of the page, and at the end of its body, as HTML."""
    frame, views = ((_FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in ("frame", "app"))
    bar = "0px" if os.environ.get(WORKSPACE_VARIABLE) else "var(--ls-sample)"
    head = f"<script>{_SERVER}</script><style>{frame.replace('BAR', bar).replace('ICON', ICON)}</style>"
    return {"head": head, "body": f"<style>{views}</style>"}
