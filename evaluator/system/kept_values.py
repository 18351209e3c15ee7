"""Values of long work in a folder of the user's, so that another process need not work again.

A value is kept under all that decides it and the code that made it. Its arrays are files of their own, which are maps
when it is there again. What differs from its manifest is not believed, and made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numpy as np

from evaluator.data.boxes import AnyArray
from evaluator.system import plain_values
from evaluator.system.atomic_write import checksum_of, written_folder
from evaluator.system.cache_folder import SUFFIX, bound, cache_folder, code_digest
from evaluator.system.threads import in_threads
from evaluator.system.version import __version__

_MANIFEST: Final = "manifest"
# What is kept is made by these.
_ROOMS: Final = "data", "formats", "matching", "metrics", "protocols", "system"

V = TypeVar("V")


def get_or_make(key: object, make: Callable[[], V]) -> V:
    """Return the value of a key from the cache, with maps for its arrays; `make` computes it where it is not there.

    Both are plain; see `plain_values`.
    """
    home = cache_folder()
    if home is None:
        return make()
    seen = plain_values.to_bytes((__version__, code_digest(*_ROOMS), key))
    folder = home / (hashlib.sha256(seen).hexdigest() + SUFFIX)
    with contextlib.suppress(OSError, ValueError):
        return cast(V, _opened(folder))
    value = make()
    # Without room or permission there is no cache and nothing else is wrong.
    with contextlib.suppress(OSError, ValueError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with written_folder(folder) as begun:
            _write(begun, folder.name, value)
        folder.chmod(0o700)
        bound(home)
        return cast(V, _opened(folder))
    return value


def _write(folder: Path, key: str, value: object) -> None:
    arrays: list[AnyArray] = []
    content = plain_values.to_bytes(value, arrays)
    for number, array in enumerate(arrays):
        np.save(_place(folder, number), array)
    sums = [checksum_of(_place(folder, number)) for number in range(len(arrays))]
    body = plain_values.to_bytes((key, sums, content))
    (folder / _MANIFEST).write_bytes(b"%08x" % zlib.crc32(body) + body)


def _opened(folder: Path) -> Any:  # noqa: ANN401 - whatever was kept
    """Return what was written; ValueError or OSError where it is not as it was."""
    content = (folder / _MANIFEST).read_bytes()
    if content[:8] != b"%08x" % zlib.crc32(content[8:]):
        raise ValueError(_MANIFEST)
    key, sums, value = plain_values.from_bytes(content[8:])
    places = [_place(folder, number) for number in range(len(sums))]
    if key != folder.name or sums != list(in_threads(checksum_of, places)):
        raise ValueError(folder.name)
    # A view of a map: `np.memmap` is slower in parts.
    arrays = [np.load(place, mmap_mode="r").view(np.ndarray) for place in places]
    opened = plain_values.from_bytes(value, arrays)
    os.utime(folder)
    return opened


def _place(folder: Path, number: int) -> Path:
    return folder / f"{number}.npy"
