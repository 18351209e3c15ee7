"""How far a long piece of work is, reported to whoever asked for it; they may end it by raising an exception.

Owns `reporting`, `counting_from` and `report`. What works does not know who listens, and nobody need listen. A thread
has listeners of its own.
"""

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
    """What is done while this lasts is reported to a listener, and to no other; None silences it."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def counting_from(before: int) -> Iterator[None]:
    """What is reported while this lasts is on top of what was done before."""
    listener = _LISTENER.get()
    with reporting(None if listener is None else lambda done, total: listener(before + done, total)):
        yield


def report(done: int, total: int) -> None:
    """Report how much is done; raises what the listener raises."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, total)
