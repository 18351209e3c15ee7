"""The end of a session whose tab was closed, with its files, threads and processes.

Each session gets a clock of its own: Streamlit looks for ended ones only when another begins.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_End = Callable[[], object]


class _Clock(NamedTuple):
    """The end of a session that has lost its browser, in the loop of the server."""

    handle: asyncio.TimerHandle
    loop: asyncio.AbstractEventLoop


# What sessions noted, of all that have a browser or wait for it.
_ENDS: Final[dict[str, dict[str, _End]]] = {}
_CLOCKS: Final[dict[str, _Clock]] = {}
_WHEN_NONE: Final[list[_End]] = []


def mark_connected() -> None:
    """Note that the session of this run has its browser; called at the beginning of each run."""
    context = get_script_run_ctx()
    if context is None or not (Runtime.exists() and Runtime.instance().is_active_session(context.session_id)):
        # Nobody is there, or not any more.
        return
    session = _session_with_browser()
    _ENDS.setdefault(session, {})
    clock = _CLOCKS.pop(session, None)
    if clock is not None:
        clock.loop.call_soon_threadsafe(clock.handle.cancel)


def _lost_browser(session: str) -> None:
    """Have a session end when its time has passed; called by the server."""
    with contextlib.suppress(RuntimeError):
        # Without a loop no server is there, and nobody waits.
        loop = asyncio.get_running_loop()
        seconds = st.get_option("server.disconnectedSessionTTL")
        before = _CLOCKS.pop(session, None)
        if before is not None:
            before.handle.cancel()
        _CLOCKS[session] = _Clock(loop.call_later(seconds, _end, session), loop)


@st.cache_resource(scope="session", on_release=_lost_browser, show_spinner=False)
def _session_with_browser() -> str:
    """Return the session of this run; Streamlit releases it when the browser goes."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def _end(session: str) -> None:
    _CLOCKS.pop(session, None)
    runtime = Runtime.instance()
    if runtime.is_active_session(session):
        return
    runtime.close_session(session)
    ends = [*_ENDS.pop(session, {}).values()]
    # What draws pages ahead stops before its renderer.
    rest = [] if _ENDS else [*_WHEN_NONE[::-1], _forget_garbage]
    # Beside the loop: folders are removed, processes are waited for.
    threading.Thread(target=_call, args=([*ends, *rest],), name="end of a session").start()


def call_at_end(name: str, end: _End | None) -> None:
    """Have `end` called at the end of this session, in place of the one before of this name, if any."""
    ends = _ENDS.get(current_session())
    if ends is not None:
        ends.pop(name, None)
    if ends is not None and end is not None:
        ends[name] = end


def current_session() -> str:
    """Return the session of this run, in which `call_at_end` can note something; empty where no server is there."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None and context.session_id in _ENDS else ""


def call_when_no_session(end: _End) -> None:
    """Call something each time that a session has ended and nobody has the dashboard open."""
    _WHEN_NONE.append(end)


def _call(ends: Iterable[_End]) -> None:
    for end in ends:
        # One that cannot be removed must not keep the others.
        with contextlib.suppress(OSError):
            end()


def _forget_garbage() -> None:
    """Collect what a session held, most of which `freeze_loaded` had set aside from collection."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
