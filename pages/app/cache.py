"""Values computed once for all sessions, by keys compared as they are."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Final, Generic, TypeVar

import streamlit as st

from evaluator.system import memory, memory_limit
from evaluator.system.lru_cache import LRUCache

FEW: Final = 8
"""Values of a kind that are kept in any case."""

V = TypeVar("V")
# Whether a value is being computed, which may ask for others: there is one spinner at a time.
_computing: Final[ContextVar[bool]] = ContextVar("_computing", default=False)


class Cached(Generic[V]):
    """The `most` last used values of a kind by their key, made by one thread each."""

    def __init__(self, most: int, *, spinner: str = "") -> None:
        self._spinner = spinner
        self._kept: LRUCache[Hashable, tuple[V]] = LRUCache(most=most)
        self._turns: dict[Hashable, threading.Lock] = {}

    def of(self, key: Hashable, make: Callable[[], V], *, most: int | None = None) -> V:
        """Return the value of a key, which is all that decides it; `make` computes it when it is not there.

        `most`: how many are kept from then on, for a value of so many boxes that no more should be.
        """
        held = self._kept.get(key)
        if held is not None:
            return held[0]
        with _spinning(self._spinner), self._turns.setdefault(key, threading.Lock()):
            held = self._kept.get(key)
            if held is None:
                try:
                    held = (make(),)
                    self._kept.put(key, held)
                    room = FEW if most is None and memory_limit.is_exceeded() else most
                    if room is not None:
                        if self._kept.shorten(room):
                            # A result and what is made of it refer to each other.
                            gc.collect()
                        memory.release_freed_memory()
                finally:
                    self._turns.pop(key, None)
        return held[0]


@contextlib.contextmanager
def _spinning(spinner: str) -> Iterator[None]:
    outermost = not _computing.get()
    token = _computing.set(True)
    try:
        with st.spinner(spinner) if spinner and outermost else contextlib.nullcontext():
            yield
    finally:
        _computing.reset(token)
