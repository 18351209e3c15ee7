"""Callbacks of widgets and components run to their end, whatever the browser sends meanwhile.

At each use of the session Streamlit looks whether another message has come, and ends what runs for it, a callback too:
a verdict would then be half handled, and a reload of the page right after it would drop it. A callback is short, so
the message waits until the last one has ended. The view below is still left for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests
from streamlit.runtime.state import SafeSessionState

_IN_CALLBACKS: Final[ContextVar[bool]] = ContextVar("in_callbacks", default=False)


def keep_whole() -> None:
    """Let no message end a callback of this process; said once, before the first session."""
    _replace(SafeSessionState, "on_script_will_rerun", _uninterrupted)
    _replace(ScriptRequests, "on_scriptrunner_yield", _later)


def _replace(owner: type, name: str, by: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put another method in the place of one of Streamlit's."""
    method = getattr(owner, name)
    setattr(owner, name, functools.wraps(method)(by(method)))


def _uninterrupted(method: Callable[..., Any]) -> Callable[..., Any]:
    """What takes over a message and calls the callbacks, marked as such."""

    def take_message(session: SafeSessionState, *message: object, **more: object) -> None:
        token = _IN_CALLBACKS.set(True)
        try:
            method(session, *message, **more)
        finally:
            _IN_CALLBACKS.reset(token)

    return take_message


def _later(method: Callable[..., Any]) -> Callable[..., Any]:
    """The question for the next message, which finds none while a callback runs."""

    def next_message(requests: ScriptRequests) -> ScriptRequest | None:
        waiting: ScriptRequest | None = None if _IN_CALLBACKS.get() else method(requests)
        return waiting

    return next_message
