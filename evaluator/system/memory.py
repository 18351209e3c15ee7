"""Memory that Python and numpy freed: reused by other threads or given to the system; with glibc only."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any, Final

# From malloc.h of glibc.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
# The most that glibc takes for the second.
_BLOCK: Final = 1 << 25


def share_among_threads() -> None:
    """Have threads that start from now on share one pool of freed memory; glibc has one for each."""
    if (limit := _of_glibc("mallopt")) is not None:
        limit(_M_ARENA_MAX, 1)


@cache
def keep_freed_memory() -> None:
    """Have this process keep up to 64 MB of freed memory, so that large arrays need no new pages."""
    if (limit := _of_glibc("mallopt")) is not None:
        limit(_M_MMAP_THRESHOLD, _BLOCK)
        limit(_M_TRIM_THRESHOLD, 2 * _BLOCK)


def release_freed_memory() -> None:
    """Return unused memory to the system, wherever in a pool it lies."""
    if (trim := _of_glibc("malloc_trim")) is not None:
        trim(ctypes.c_size_t(0))


def _of_glibc(name: str) -> Any | None:  # noqa: ANN401 - a function of the C library
    """Return a function of this process's C library; None where that is not glibc."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return getattr(library, name, None) if hasattr(library, "gnu_get_libc_version") else None
