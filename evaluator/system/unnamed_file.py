"""Files without a name, for what has to wait on disk."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import BinaryIO, Final

# In the order in which Python's own ``tempfile`` asks for them.
_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")
_FOLDER: Final = "/tmp"  # noqa: S108 - a file without a name cannot be taken for another


def unnamed_file() -> BinaryIO:
    """An empty file that nobody else can open, which is gone once it is closed.

    Notes
    -----
    That of ``tempfile.TemporaryFile``, which is asked where Linux cannot make one itself: to import its module, with
    the compressions and random numbers that it brings, takes 3 ms.
    """
    if sys.platform == "linux":
        folder = next(filter(None, map(os.environ.get, _VARIABLES)), _FOLDER)
        with suppress(OSError):
            return open(os.open(folder, os.O_TMPFILE | os.O_EXCL | os.O_RDWR, 0o600), "w+b")
    import tempfile

    return tempfile.TemporaryFile()
