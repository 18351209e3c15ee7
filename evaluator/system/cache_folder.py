"""Where this user's files that can be made again are kept, and the one variable that moves or forbids them."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

VARIABLE: Final = "LAYOUTSCOPE_CACHE"
"""Names another folder."""
OFF: Final = "off"
"""Its value when nothing is kept, as ``--no-cache`` of the terminal sets it."""


def cache_folder() -> Path | None:
    """The folder, which need not exist; None when nothing is to be kept, or there is no home."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return None if named.lower() == OFF else Path(named)
    with contextlib.suppress(RuntimeError):
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "layoutscope" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "layoutscope"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "layoutscope"
    return None
