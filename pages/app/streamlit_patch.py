"""What the reader asked for holds, however close together the messages of the browser come.

Streamlit ends a run, a callback too, when another message has come: here that message waits for the last callback, also
where the first has not begun. Of a message that waits, it drops an event of a component that sends another one: here
both are heard. It drops what a part of the view has shown, and not been sent yet, when the part runs again: here that
is sent, or the browser would take the part away until then, with the keys that are pressed in it. An event that was
sent a moment after a press in the navigation leads it back to the view that is left: here it does not.

Five functions inside Streamlit are replaced; nothing is where a Streamlit lacks one of `_METHODS`, and then a verdict
or a press may have to be repeated. `runner.fastReruns` is off: a message that waits would be dropped for the next one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from streamlit.components.v2.bidi_component.serialization import deserialize_trigger_list
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequest, ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import SafeSessionState, SessionState

_IN_CALLBACKS: Final[ContextVar[bool]] = ContextVar("in_callbacks", default=False)


_METHODS: Final = (
    (SafeSessionState, "on_script_will_rerun"),
    (ScriptRequests, "on_scriptrunner_yield"),
    (ForwardMsgQueue, "clear"),
    (AppSession, "request_rerun"),
    (script_requests, "_coalesce_widget_states"),
    (SessionState, "_widget_changed"),
    (ScriptRequests, "request_rerun"),
)


def protect_messages() -> bool:
    """Let no message undo what an earlier one asked for; return False where Streamlit lacks the methods."""
    if not all(hasattr(owner, name) for owner, name in _METHODS):
        return False
    for (owner, name), by in zip(_METHODS, (_uninterrupted, _later, _kept, _forward, _joined), strict=False):
        method = getattr(owner, name)
        setattr(owner, name, functools.wraps(method)(by(method)))
    return True


def _uninterrupted(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that takes over a message and calls the callbacks, marked as such."""

    def take_message(session: SafeSessionState, *message: object, **more: object) -> None:
        token = _IN_CALLBACKS.set(True)
        try:
            method(session, *message, **more)
        finally:
            _IN_CALLBACKS.reset(token)
        context = get_script_run_ctx()
        if context is not None and _exceeds_its_part(session._state, context):
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


def _kept(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that drops no message of a part of the view when that part runs again."""

    def clear(
        queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        # Where parts run and none is named, nothing is dropped.
        method(queue, retain_lifecycle_msgs, fragment_ids_this_run and [])

    return clear


def _joined(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the states of a message into those of the next one, with the events of both."""

    def coalesce(older: WidgetStates | None, newer: WidgetStates | None) -> WidgetStates | None:
        states: WidgetStates | None = method(older, newer)
        if older is not None and newer is not None and states is not None:
            earlier = {each.id: each.json_trigger_value for each in older.widgets}
            for each in states.widgets:
                if each.json_trigger_value:
                    each.json_trigger_value = _with_events(earlier.get(each.id, ""), each.json_trigger_value)
        return states

    return coalesce


def _with_events(older: str, newer: str) -> str:
    """Return the events of a component with those before them of other names: of one name the later one counts."""
    before, events = (deserialize_trigger_list(text or None) or [] for text in (older, newer))
    names = [each.get("event") for each in events if isinstance(each, dict)]
    kept = [each for each in before if isinstance(each, dict) and each.get("event") not in names]
    return json.dumps([*kept, *events])


class _Way(NamedTuple):
    """The page that a session has left, while its browser may not know, and what was asked for instead."""

    left: str
    page: str
    query: str


_WAYS: Final[WeakKeyDictionary[AppSession, _Way]] = WeakKeyDictionary()
_EVENTS: Final = ("trigger_value", "string_trigger_value", "json_trigger_value")
"""Values that are sent once: of a button, of an event of a component."""


def _forward(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method in which an event of a page that was just left does not lead back to it."""

    def request(session: AppSession, asked: ClientState | None) -> None:
        if asked is not None:
            way = _WAYS.get(session, _Way("", "", ""))
            if asked.page_script_hash == way.page:
                _WAYS[session] = way._replace(left="")
            elif asked.page_script_hash != way.left or not _is_event(asked):
                _WAYS[session] = _Way(way.page, asked.page_script_hash, asked.query_string)
            else:
                asked.page_script_hash, asked.query_string = way.page, way.query
        method(session, asked)

    return request


def _is_event(asked: ClientState) -> bool:
    """Return whether a message is of something on the page, and no press in the navigation."""
    values = ((each, each.WhichOneof("value")) for each in asked.widget_states.widgets)
    return bool(asked.fragment_id) or any(kind in _EVENTS and getattr(each, kind) for each, kind in values)
