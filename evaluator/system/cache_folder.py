"""The folder of the user's files that can be made again, and the variable that moves or forbids it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "LAYOUTSCOPE_CACHE"
"""Names another folder."""
OFF: Final = "off"
"""Its value when nothing is kept, as ``--no-cache`` of the terminal sets it."""


def cache_folder() -> Path | None:
    """Return the folder, which need not exist; None when nothing is to be kept, or there is no home."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return None if named.lower() == OFF else Path(named)
    # Here, so that what reads no file starts without it.
    from platformdirs import user_cache_path

    with contextlib.suppress(RuntimeError):
        return user_cache_path("layoutscope", appauthor=False)
    return None
