"""The folder of the user's files that can be made again, its bound, and the variable that moves or forbids it.

In it are folders of columns. Each may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Final

VARIABLE: Final = "LAYOUTSCOPE_CACHE"
"""Names another folder, a relative one from the working directory."""
OFF: Final = "off"
"""Its value when nothing is kept, as ``--no-cache`` of the terminal sets it."""
_OFF_TOO: Final = (OFF, "0", "false", "no")
MOST: Final = 2 << 30
"""Bytes of all folders of the cache; the ones that were not used for longest go first."""
SUFFIX: Final = ".columns"
"""Ends the names of the folders, and of the single files of earlier versions."""


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


@cache
def code_digest(*rooms: str) -> str:
    """Return the digest of names, sizes and times of the modules of some rooms: other ones may make other columns."""
    root = Path(__file__).resolve().parent.parent
    modules = sorted(module for room in rooms for module in (root / room).rglob("*.py"))
    states = [(str(module.relative_to(root)), module.stat()) for module in modules]
    seen = [(module, state.st_size, state.st_mtime_ns) for module, state in states]
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def bound(home: Path) -> None:
    """Delete the folders that were not used for longest, until the rest has at most `MOST` bytes."""
    states = []
    for each in home.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            files = each.iterdir() if each.is_dir() else [each]
            states.append((each.stat().st_mtime_ns, sum(file.stat().st_size for file in files), each))
    room = MOST
    for _, size, each in sorted(states, reverse=True):
        room -= size
        if room < 0:
            with contextlib.suppress(OSError):
                shutil.rmtree(each) if each.is_dir() else each.unlink()
