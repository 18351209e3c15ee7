"""Turns of processes that write into one folder: who has waited longest is next.

A courtesy and no protection: the database's own lock is what keeps writers apart. It knows no order, so that of many
writers without pause some starve. Waiting for a turn ends after a time, and where the system has no such locks there
are no turns. The lock is on the folder itself: no file is made, and it is gone with the process that held it.

A lock that is given back is free until one of those who wait has woken up. A process that wants its next turn at once
would take it first, again and again; so it lets a moment pass.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Longer than a process takes to wake up.
_MOMENT: Final = 0.001


@contextmanager
def turn(folder: Path, seconds: float) -> Iterator[bool]:
    """Wait until it is our turn to write into a folder, at most so many seconds.

    Yields
    ------
    bool
        Whether it is; False after the time is over, and where there are no turns.
    """
    place = _Place(folder, seconds)
    try:
        yield place.reached
    finally:
        place.leave()


class _Place:
    """A place in the queue of a folder, with the lock when its turn has come."""

    given_back = -_MOMENT
    """When this process last gave a turn back."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._state = threading.Lock()
        self._answered = threading.Event()
        self._descriptor: int | None = None
        self._left = self._waits = self.reached = False
        if fcntl is None:
            return
        time.sleep(max(0.0, _Place.given_back + _MOMENT - time.monotonic()))
        try:
            self._descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Only a call that blocks is woken in order, and nothing ends it; so it has a thread of its own.
            self._waits = True
            threading.Thread(target=self._wait, name="turn", daemon=True).start()
            self._answered.wait(seconds)
        except OSError:
            return
        else:
            self.reached = True

    def leave(self) -> None:
        """Give the turn back; while a thread still waits for it, that thread does."""
        with self._state:
            self._left = True
            if not self._waits:
                self._close()
        _Place.given_back = time.monotonic()

    def _wait(self) -> None:
        """Wait for the lock, and give it back when nobody wants it any more."""
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError:
            taken = False
        else:
            taken = True
        with self._state:
            self._waits, self.reached = False, taken and not self._left
            if self._left:
                self._close()
            self._answered.set()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
