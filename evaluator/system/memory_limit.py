"""The memory that this process holds and may hold: for caches that should not fill the machine."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Final

SHARE: Final = 0.5
"""Of the memory of the machine, or of the control group (a container) that the process is in."""
# Of version 2 and of version 1 of control groups, as a process in one sees it; "max" is no limit.
_GROUP_LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_OWN: Final = Path("/proc/self/statm")


def is_exceeded() -> bool:
    """Return whether more than `SHARE` of memory is held, shared included, swapped not; False if unknown."""
    most = memory_bytes()
    if most is None:
        return False
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(_OWN.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") > SHARE * most
    return False


@cache
def memory_bytes() -> int | None:
    """Return the bytes of the machine, or of the control group if fewer; None where not known."""
    if sys.platform != "linux":
        return None
    known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _GROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            known.append(int(path.read_text(encoding="ascii")))
    return min(known)
