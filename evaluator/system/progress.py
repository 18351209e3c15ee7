"""Progress of long work, reported to a listener of the thread, which may end the work by raising."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Listener = Callable[[int, int], None]
"""Called with how much of how much is done, in any unit."""

_LISTENER: Final[ContextVar[Listener | None]] = ContextVar("listener", default=None)


@contextmanager
def reporting(listener: Listener | None) -> Iterator[None]:
    """Send what is reported within the context to one listener and no other; None silences it."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def counting_from(before: int) -> Iterator[None]:
    """Add `before` to what is reported within the context."""
    listener = _LISTENER.get()
    with reporting(None if listener is None else lambda done, total: listener(before + done, total)):
        yield


def report(done: int, total: int) -> None:
    """Report how much is done; raises what the listener raises."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, total)
