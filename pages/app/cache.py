"""Values of functions, computed once for all sessions by arguments compared as they are."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Final, ParamSpec, TypeVar

import streamlit as st

from evaluator.system import memory, memory_limit
from evaluator.system.lru_cache import LRUCache

FEW: Final = 8
"""Values of a function that are kept in any case."""

P = ParamSpec("P")
R = TypeVar("R")
# Whether a value is being computed, which may ask for others: there is one spinner at a time.
_computing: Final[ContextVar[bool]] = ContextVar("_computing", default=False)


def cached(most: int, *, spinner: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that keeps the `most` last used values of a function, made by one thread each.

    Positional arguments identify a value and must be hashable; keyword-only ones, named "_...", only compute it;
    TypeError for a function with others. At most `FEW` are kept where memory is short. The outermost spinner alone is
    shown.
    """

    def decorate(make: Callable[P, R]) -> Callable[P, R]:
        for name, one in inspect.signature(make).parameters.items():
            if name.startswith("_") != (one.kind is one.KEYWORD_ONLY):
                raise TypeError(f"{make.__qualname__}: {name} is neither a part of the key nor named as none")
        kept: LRUCache[Hashable, tuple[R]] = LRUCache(most=most)
        turns: dict[Hashable, threading.Lock] = {}

        @functools.wraps(make)
        def value(*key: P.args, **more: P.kwargs) -> R:
            held = kept.get(key)
            if held is not None:
                return held[0]
            with _spinning(spinner), turns.setdefault(key, threading.Lock()):
                held = kept.get(key)
                if held is None:
                    try:
                        held = (make(*key, **more),)
                        kept.put(key, held)
                        _give_back(kept)
                    finally:
                        turns.pop(key, None)
            return held[0]

        return value

    return decorate


def _give_back(kept: LRUCache[Hashable, tuple[R]]) -> None:
    if memory_limit.is_exceeded() and kept.shorten(FEW):
        memory.release_freed_memory()


@contextlib.contextmanager
def _spinning(spinner: str) -> Iterator[None]:
    """Show a spinner while a value is computed, the outermost one alone."""
    outermost = not _computing.get()
    token = _computing.set(True)
    try:
        with st.spinner(spinner) if spinner and outermost else contextlib.nullcontext():
            yield
    finally:
        _computing.reset(token)
