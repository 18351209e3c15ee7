"""The folder of the user's files that can be made again, and the variable that moves or forbids it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "LAYOUTSCOPE_CACHE"
"""Names another folder, a relative one from the working directory."""
OFF: Final = "off"
"""Its value when nothing is kept, as ``--no-cache`` of the terminal sets it."""
_OFF_TOO: Final = (OFF, "0", "false", "no")


def cache_folder() -> Path | None:
    """Return the folder, which need not exist; None when nothing is to be kept, or there is no home."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return None if named.strip().lower() in _OFF_TOO else Path(named)
    # Here, so that what reads no file starts without it.
    from platformdirs import user_cache_path

    with contextlib.suppress(RuntimeError):
        return user_cache_path("layoutscope", appauthor=False)
    return None
