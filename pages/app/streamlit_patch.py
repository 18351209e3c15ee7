"""Callbacks of widgets and components run to their end, whatever the browser sends meanwhile.

Streamlit ends a run, a callback too, when another message has come; here that message waits for the last callback. Two
methods inside Streamlit are replaced; nothing is where a Streamlit lacks one of `_METHODS`, and then a verdict may have
to be given again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequest, ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import SessionState

_IN_CALLBACKS: Final[ContextVar[bool]] = ContextVar("in_callbacks", default=False)


_METHODS: Final = (
    (SessionState, "on_script_will_rerun"),
    (ScriptRequests, "on_scriptrunner_yield"),
    (SessionState, "_widget_changed"),
    (ScriptRequests, "request_rerun"),
)


def protect_callbacks() -> bool:
    """Let no message end a callback of this process; return False where Streamlit lacks the methods."""
    if not all(hasattr(owner, name) for owner, name in _METHODS):
        return False
    for (owner, name), by in zip(_METHODS, (_uninterrupted, _later), strict=False):
        method = getattr(owner, name)
        setattr(owner, name, functools.wraps(method)(by(method)))
    return True


def _uninterrupted(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that takes over a message and calls the callbacks, marked as such."""

    def take_message(session: SessionState, *message: object, **more: object) -> None:
        token = _IN_CALLBACKS.set(True)
        try:
            method(session, *message, **more)
        finally:
            _IN_CALLBACKS.reset(token)
        context = get_script_run_ctx()
        if context is not None and _exceeds_its_part(session, context):
            run_whole_view()

    return take_message


def _exceeds_its_part(session: SessionState, context: ScriptRunContext) -> bool:
    """Return whether a message for a part of the view changes something outside of it."""
    parts = context.fragment_ids_this_run
    if not parts:
        return False
    widgets = session._new_widget_state
    for name in list(widgets):
        known = widgets.widget_metadata.get(name)
        if known is None or known.disabled or not session._widget_changed(name):
            continue
        part = known.fragment_id
        if part is None or not (part in parts or context.fragment_storage.has_ancestor_in(part, parts)):
            return True
    return False


def run_whole_view() -> None:
    """Run the whole view next, where a message was for a part of it alone; for a callback, which cannot `st.rerun`."""
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run and context.script_requests is not None:
        context.script_requests.request_rerun(
            RerunData(
                query_string=context.query_string,
                page_script_hash=context.page_script_hash,
                cached_message_hashes=context.cached_message_hashes,
                context_info=context.context_info,
            )
        )


def _later(method: Callable[..., Any]) -> Callable[..., Any]:
    def next_message(requests: ScriptRequests) -> ScriptRequest | None:
        waiting: ScriptRequest | None = None if _IN_CALLBACKS.get() else method(requests)
        return waiting

    return next_message
