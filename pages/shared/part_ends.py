"""The browser hears that a part of a view has been drawn, also when the run of another part begins at once.

What the browser has not been sent yet is thinned out when a run begins. What another part has drawn stays among it, but
Streamlit says of that run then that it was broken off, and the browser keeps what the part had shown before beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_DRAWN = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


def keep() -> None:
    """Let each part that was drawn end as such; said once, before the first session."""
    clear = ForwardMsgQueue.clear

    @functools.wraps(clear)
    def cleared(
        queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        # What was sent is cleared as well, many times a run: nothing is looked at then.
        parts = fragment_ids_this_run
        ends = [message for message in queue._queue if _is_end_of_others(message, parts)] if parts else []
        clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)
        for message in ends:
            message.script_finished = _DRAWN

    ForwardMsgQueue.clear = cleared  # type: ignore[method-assign, assignment]


def _is_end_of_others(message: ForwardMsg, parts: Sequence[str]) -> bool:
    """Whether a message says that parts, and none of these, have been drawn."""
    if message.WhichOneof("type") != "script_finished" or message.script_finished != _DRAWN:
        return False
    return not {*message.metadata.run.fragment_ids} & {*parts}
