"""The columns of large files in a folder of the user's, so that the second opening of a file parses nothing.

In the folder of the cache is a folder of columns for the bytes and the name of one annotation file, for how it was
asked for, and for these readers; anything else is another folder. What differs from its manifest is not believed: the
annotation file is read, and the folder is written again. Files with errors are not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from evaluator.data.dataset import Annotations
from evaluator.formats import columns
from evaluator.formats.base import Reading
from evaluator.system.cache_folder import SUFFIX, bound, cache_folder, code_digest
from evaluator.system.threads import in_threads
from evaluator.system.version import __version__

SMALLEST: Final = 8 << 20
"""Bytes from which a file is kept: a smaller one is parsed in the time of a blink."""
# Bytes whose digest one thread makes at a time.
_PIECE: Final = 4 << 20

Asked = tuple[str | None, Reading]
"""The format that was named, and what the reader is asked for."""


def digest_of(content: bytes) -> str:
    """Return the digest of some bytes: that of the digests of their pieces, which threads make at the same time."""
    view = memoryview(content)
    return _digest_of(view[start : start + _PIECE] for start in range(0, len(view), _PIECE))


def _digest_of(pieces: Iterable[bytes | memoryview]) -> str:
    # On processors that have no instruction for SHA-256 this is the faster one.
    digests = in_threads(lambda piece: hashlib.blake2b(piece).digest(), pieces)
    return hashlib.blake2b(b"".join(digests), digest_size=32).hexdigest()


def get_or_read(
    content: bytes, name: str, asked: Asked, read: Callable[[], Annotations], *, digest: str | None = None
) -> Annotations:
    """Return the columns of a file with these bytes and this name, those of the cache where it has them.

    `read` reads the file; what it raises is raised. `digest` is that of the bytes, where it is known.
    """
    home = cache_folder()
    # The folders have no columns of order, text and cells.
    if home is None or len(content) < SMALLEST or asked[1].items:
        return read()
    folder = home / _folder_name(name, asked, digest or digest_of(content))
    source = _opened(folder)
    if source is None:
        source = read()
        # Without room or permission, or with names that are no text, there is no cache and nothing else is wrong.
        with contextlib.suppress(OSError, UnicodeEncodeError):
            _store(folder, source)
    return source


def is_stored(path: Path, asked: Asked) -> bool:
    """Return whether the cache has the columns of an annotation file, whose bytes are not read where it is empty."""
    home = cache_folder()
    if home is None or path.stat().st_size < SMALLEST or not home.is_dir() or not any(home.glob(f"*{SUFFIX}")):
        return False
    try:
        with path.open("rb") as file:
            digest = _digest_of(iter(partial(file.read, _PIECE), b""))
    except OSError:
        return False
    return (home / _folder_name(path.name, asked, digest) / columns.MANIFEST).exists()


def _folder_name(name: str, asked: Asked, digest: str) -> str:
    seen = msgspec.json.encode((__version__, code_digest("formats", "data"), name, asked, digest))
    return hashlib.sha256(seen).hexdigest() + SUFFIX


def _opened(folder: Path) -> Annotations | None:
    try:
        kept = columns.ColumnFolder(folder)
        if kept.manifest.key != folder.name:
            return None
        source = kept.checked().whole()
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)
    return source


def _store(folder: Path, source: Annotations) -> None:
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    columns.write(folder, source, folder.name)
    # A folder of the user's has the rights that he gives; what is kept by itself is his alone.
    folder.chmod(0o700)
    bound(folder.parent)
