"""Calls that are made after some seconds unless they are cancelled before: one thread waits for all of them.

`threading.Timer` starts a thread for each, which takes longer than most of what is timed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final


class Timeout:
    """A call that is to be made at a time of the monotonic clock."""

    def __init__(self, due: float, call: Callable[[], object]) -> None:
        self.due = due
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        """Do not make the call, and let go of what it refers to; a call that has begun goes on."""
        self.call = None


class Timeouts:
    """Makes calls at their times, each in a thread of its own; its own thread ends when nothing is left to wait for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Timeout] = []
        self._thread: threading.Thread | None = None
        self._next = 0.0

    def after(self, seconds: float, call: Callable[[], object]) -> Timeout:
        """Make a call after so many seconds; it is cancelled by what is returned."""
        timeout = Timeout(time.monotonic() + seconds, call)
        with self._changed:
            self._waiting.append(timeout)
            # A copy of a process has none of its threads.
            if self._thread is None or not self._thread.is_alive():
                self._next = timeout.due
                self._thread = threading.Thread(target=self._wait, daemon=True, name="timeouts")
                self._thread.start()
            elif timeout.due < self._next:
                self._changed.notify()
        return timeout

    def _wait(self) -> None:
        with self._changed:
            while True:
                # In a function of its own: what a call refers to is not held while the thread waits.
                self._make_calls()
                if not self._waiting:
                    self._thread = None
                    return
                self._next = min(timeout.due for timeout in self._waiting)
                self._changed.wait(self._next - time.monotonic())

    def _make_calls(self) -> None:
        """Make those whose time has come, and forget them and what is cancelled."""
        now = time.monotonic()
        for timeout in self._waiting:
            call = timeout.call
            if call is not None and timeout.due <= now:
                threading.Thread(target=call, daemon=True, name="timeout").start()
                timeout.cancel()
        self._waiting = [timeout for timeout in self._waiting if timeout.call is not None]


TIMEOUTS: Final = Timeouts()
"""Those of this process."""
