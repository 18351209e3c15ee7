"""The end of the run of a part of a view reaches the browser as what it was."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.shared import part_ends

DRAWN, BROKEN_OFF = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
WHOLE = ForwardMsg.FINISHED_SUCCESSFULLY


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the server; the method of Streamlit comes back afterwards."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    part_ends.keep()


def queued(status: ForwardMsg.ScriptFinishedStatus.ValueType, parts: Iterable[str]) -> ForwardMsgQueue:
    """What the browser has not been sent yet of the run of some parts."""
    queue = ForwardMsgQueue()
    for part in parts:
        drawn = ForwardMsg()
        drawn.delta.fragment_id = part
        drawn.delta.new_element.html.body = part
        drawn.metadata.delta_path.extend([0, len(queue)])
        queue.enqueue(drawn)
    end = ForwardMsg(script_finished=status)
    end.metadata.run.fragment_ids.extend(parts)
    queue.enqueue(end)
    return queue


@pytest.mark.parametrize(
    ("status", "parts", "begins", "left"),
    [
        (DRAWN, ["a"], ["b"], ("a", DRAWN)),
        (DRAWN, ["a", "b"], ["c"], ("ab", DRAWN)),
        (DRAWN, ["a"], ["a"], ("", BROKEN_OFF)),
        (DRAWN, ["a", "b"], ["b"], ("a", BROKEN_OFF)),
        (DRAWN, ["a"], None, ("", BROKEN_OFF)),
        (BROKEN_OFF, ["a"], ["b"], ("a", BROKEN_OFF)),
        (WHOLE, [], ["b"], ("", WHOLE)),
    ],
)
def test_a_part_that_was_drawn_ends_as_such_when_another_one_begins(
    status: ForwardMsg.ScriptFinishedStatus.ValueType,
    parts: list[str],
    begins: list[str] | None,
    left: tuple[str, ForwardMsg.ScriptFinishedStatus.ValueType],
) -> None:
    queue = queued(status, parts)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=begins)
    *drawn, end = queue.flush()
    assert ("".join(each.delta.fragment_id for each in drawn), end.script_finished) == left


def test_what_was_sent_is_not_there_any_more() -> None:
    queue = queued(DRAWN, ["a"])
    queue.clear()
    assert queue.is_empty()
