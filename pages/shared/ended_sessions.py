"""The end of a session whose tab was closed: it comes by itself, and takes its files, threads and processes with it.

Streamlit keeps a session that has lost its browser for a while, so that it can go on after a short break, and looks
for those whose time has passed only when another session begins or ends: the last one would stay for good. Here each
gets a clock of its own. What a session holds outside Streamlit is noted by `at_end`, and what all share by `when_none`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import gc
import threading
from collections.abc import Callable
from typing import Final

from streamlit import config as settings
from streamlit.runtime import Runtime, RuntimeConfig, RuntimeState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import SessionInfo, SessionStorage

MOST_WAITING: Final = 128
"""Sessions without a browser that are kept, as Streamlit does."""
_End = Callable[[], object]
_ENDS: Final[dict[str, dict[str, _End]]] = {}
_WHEN_NONE: Final[list[_End]] = []
_IN_FORCE: Final = threading.Event()


class UnknownStreamlit(Exception):
    """The installed Streamlit keeps its sessions in another way than the tested one."""


class EndingStorage(SessionStorage):
    """Sessions without a browser, each of which ends when its time has passed.

    Parameters
    ----------
    maxsize : int
        Beyond so many the oldest ends at once.
    ttl_seconds : int
        How long a session waits for its browser.

    Notes
    -----
    Used in the thread of the server's loop alone, as Streamlit's own.
    """

    def __init__(self, maxsize: int = MOST_WAITING, ttl_seconds: int = 120) -> None:
        self._most, self._seconds = maxsize, ttl_seconds
        self._waiting: dict[str, tuple[SessionInfo, asyncio.TimerHandle]] = {}

    def get(self, session_id: str) -> SessionInfo | None:
        """A session that waits; None when there is none."""
        held = self._waiting.get(session_id)
        return None if held is None else held[0]

    def save(self, session_info: SessionInfo) -> None:
        """Have a session wait from now on."""
        name = session_info.session.id
        if name in self._waiting:
            self.delete(name)
        while len(self._waiting) >= self._most:
            self._end(next(iter(self._waiting)))
        clock = asyncio.get_running_loop().call_later(self._seconds, self._end, name)
        self._waiting[name] = session_info, clock

    def delete(self, session_id: str) -> None:
        """Forget a session: its browser is back, or it was ended."""
        self._waiting.pop(session_id)[1].cancel()

    def list(self) -> list[SessionInfo]:
        """The sessions that wait, the oldest first."""
        return [held for held, _ in self._waiting.values()]

    def _end(self, session_id: str) -> None:
        held, clock = self._waiting.pop(session_id)
        clock.cancel()
        held.session.shutdown()
        _beside(_rest)


def keep_watch() -> None:
    """Have every session of this process end by itself; said once, before the first one.

    Raises
    ------
    UnknownStreamlit
        When this Streamlit has no place for that.
    """
    asked: frozenset[str] = getattr(SessionStorage, "__abstractmethods__", frozenset())
    fields = {each.name for each in dataclasses.fields(RuntimeConfig)}
    if not asked <= {"get", "save", "delete", "list"} or "session_storage" not in fields:
        raise UnknownStreamlit
    begin = Runtime.__init__

    @functools.wraps(begin)
    def with_our_storage(runtime: Runtime, config: RuntimeConfig) -> None:
        storage = EndingStorage(ttl_seconds=settings.get_option("server.disconnectedSessionTTL"))
        begin(runtime, dataclasses.replace(config, session_storage=storage))

    Runtime.__init__ = with_our_storage  # type: ignore[method-assign, assignment]
    shutdown = AppSession.shutdown

    @functools.wraps(shutdown)
    def ended(session: AppSession) -> None:
        shutdown(session)
        # Streamlit asks once more when the session is collected.
        if session.id in _ENDS:
            _beside(functools.partial(_call, [*_ENDS.pop(session.id).values()]))

    AppSession.shutdown = ended  # type: ignore[method-assign, assignment]
    _IN_FORCE.set()


def at_end(name: str, end: _End | None) -> None:
    """Call something when the session of this run has ended, in place of what it noted by this name before.

    Nothing with None, and where no server watches its sessions.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not _IN_FORCE.is_set():
        return
    ends = _ENDS.setdefault(context.session_id, {})
    ends.pop(name, None)
    if end is not None:
        ends[name] = end


def when_none(end: _End) -> None:
    """Call something each time that a session has ended and nobody has the dashboard open."""
    _WHEN_NONE.append(end)


def _beside(work: Callable[[], None]) -> None:
    """Work beside the server's loop: folders are removed, processes are waited for."""
    threading.Thread(target=work, name="end of a session").start()


def _call(ends: list[_End]) -> None:
    for end in ends:
        # One that cannot be removed must not keep the others.
        with contextlib.suppress(OSError):
            end()


def _rest() -> None:
    """Give back what all sessions share, when there is none."""
    if Runtime.exists() and Runtime.instance().state == RuntimeState.NO_SESSIONS_CONNECTED:
        # What draws pages ahead stops before its renderer.
        _call(_WHEN_NONE[::-1])
        # What a session held refers to itself, and most of it was set aside for good (`opened`). Nobody waits now.
        gc.unfreeze()
        gc.collect()
        gc.freeze()
