"""Files and folders that appear whole or not at all: written beside their place, synchronised, then moved there.

A killed process leaves `.NAME.xxxxxxxx.part`, removed by the next writer of the same file. A writer holds a lock that
ends with its process, so no unfinished file of a living process is removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows has no such lock: what a killed process left stays there
    fcntl = None  # type: ignore[assignment]

UNFINISHED: Final = re.compile(r"\..+\.[a-z0-9_]{8}\.part")
"""Names of files that are being written, or were when their process was killed."""
_PIECE: Final = 1 << 20


def atomic_write(path: Path, pieces: Iterable[bytes], *, durable: bool = True) -> int:
    """Write a file from pieces and return its bytes; an older one stays until the new one is complete.

    `durable` waits for the disk; without it a crash of the machine may leave an empty file. On OSError, which names
    `path`, or what `pieces` raises, nothing is left behind and the older file is untouched.
    """
    _remove_unfinished(path)
    try:
        descriptor, name = _begun(path)
    except OSError as problem:
        problem.filename = str(path)
        raise
    # The lock goes with the last copy of the descriptor, when the file has its name.
    lock = os.dup(descriptor)
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
        os.chmod(name, 0o644)
        if fcntl is None:  # an open file cannot be moved there
            os.close(lock)
            lock = -1
        os.replace(name, path)
    except BaseException as problem:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        # A full disk names no file.
        if isinstance(problem, OSError) and problem.filename in (None, name):
            problem.filename = str(path)
        raise
    finally:
        if lock >= 0:
            os.close(lock)
    if durable:
        _keep_name(path.parent)
    return size


@contextlib.contextmanager
def written_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside a place; it is moved there, in the place of an older one, when nothing was raised."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".", suffix=folder.suffix))
    try:
        yield begun
        # It was made for its owner alone.
        begun.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        begun.rename(folder)
    finally:
        shutil.rmtree(begun, ignore_errors=True)


def checksum_of(path: Path) -> int:
    """Return the checksum of the bytes of a file."""
    checksum = 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _begun(path: Path) -> tuple[int, str]:
    """Return descriptor and name of a new file beside a path, locked for its writer."""
    while True:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        if fcntl is None:
            return descriptor, name
        # A file system without locks takes part in no removal either.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Before it was locked another process may have taken it for a leftover.
        if os.fstat(descriptor).st_nlink:
            return descriptor, name
        os.close(descriptor)


def _remove_unfinished(path: Path) -> None:
    """Remove what killed processes left of a file; what cannot be looked at or removed stays."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            ours = entry.name.startswith(f".{path.name}.") and UNFINISHED.fullmatch(entry.name)
            # Of the same name, not of a longer one that begins with it.
            if ours and len(entry.name) == len(path.name) + len("..xxxxxxxx.part"):
                with contextlib.suppress(OSError):
                    _remove_unlocked(entry.path)


def _remove_unlocked(name: str) -> None:
    """Remove a file that no process writes; raises OSError when one does."""
    descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name)
    finally:
        os.close(descriptor)


def _keep_name(folder: Path) -> None:
    """Put the new name on disk too, where the system lets us."""
    if hasattr(os, "O_DIRECTORY"):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
