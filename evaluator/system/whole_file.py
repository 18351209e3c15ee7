"""Files that appear whole or not at all: written beside their place, synchronised, then moved there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, pieces: Iterable[bytes], *, durable: bool = True, mode: int = 0o644) -> int:
    """Write a file; an older one stays until the new one is complete.

    Parameters
    ----------
    pieces : iterable of bytes
        Taken one by one, so that they may be made on the way.
    durable : bool
        Wait until the disk has it. Without, a crash of the machine may leave an empty file under the name.
    mode : int
        Who may read it; a report is passed on.

    Returns
    -------
    int
        Bytes that were written.

    Raises
    ------
    OSError
        When it cannot be written. Whatever is raised, nothing is left behind and the older file is untouched.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    size = 0
    try:
        with os.fdopen(descriptor, "wb") as out:
            for piece in pieces:
                out.write(piece)
                size += len(piece)
            out.flush()
            if durable:
                os.fsync(out.fileno())
        # mkstemp gives the file to its owner alone.
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    if durable:
        _keep_name(path.parent)
    return size


def _keep_name(folder: Path) -> None:
    """Put the new name on disk too, where the system lets us."""
    if hasattr(os, "O_DIRECTORY"):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
