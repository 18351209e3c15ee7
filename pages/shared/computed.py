"""What is computed once for all sessions: values of functions, by all that they follow from.

In place of ``st.cache_resource``, which hashes every argument at every call, text by text: the parts of a view ask for
the same results some sixty times a run, which took a fifth of a run. Here the arguments are compared as they are.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Final, ParamSpec, TypeVar

import streamlit as st

from evaluator.system import freed_memory, held_memory
from evaluator.system.recent import Recent

FEW: Final = 8
"""Values of a function that are kept in any case."""

P = ParamSpec("P")
R = TypeVar("R")
# Whether a value is being computed, which may ask for others: there is one spinner at a time.
_computing: Final[ContextVar[bool]] = ContextVar("_computing", default=False)


def computed(most: int, *, spinner: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that keeps the values of a function, for all threads; two who ask for one at a time wait for it.

    Parameters
    ----------
    most : int
        Values; those that were asked for last are kept. Where the process holds much of the memory that it may have,
        `FEW` of them at most.
    spinner : str
        Shown while a value is computed, unless another one that asked for it shows its own.

    Returns
    -------
    callable
        The positional arguments of the function identify a value and have to be hashable. Its keyword arguments, whose
        names begin with "_", are used to compute it and identify nothing.

    Raises
    ------
    TypeError
        For a function with other arguments.
    """

    def decorate(make: Callable[P, R]) -> Callable[P, R]:
        for name, one in inspect.signature(make).parameters.items():
            if name.startswith("_") != (one.kind is one.KEYWORD_ONLY):
                raise TypeError(f"{make.__qualname__}: {name} is neither a part of the key nor named as none")
        kept: Recent[Hashable, tuple[R]] = Recent(most=most)
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


def _give_back(kept: Recent[Hashable, tuple[R]]) -> None:
    """Keep few values where memory is short: those of a large corpus take some ten megabytes for each threshold."""
    if held_memory.is_much() and kept.shorten(FEW):
        freed_memory.give_back()


@contextlib.contextmanager
def _spinning(spinner: str) -> Iterator[None]:
    """Shows a spinner while a value is computed, the outermost one alone."""
    outermost = not _computing.get()
    token = _computing.set(True)
    try:
        with st.spinner(spinner) if spinner and outermost else contextlib.nullcontext():
            yield
    finally:
        _computing.reset(token)
