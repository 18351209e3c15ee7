"""Calls after some seconds: made once, in their order, never when they are cancelled, and one thread waits for all."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from evaluator.system.timeouts import Timeouts

_LONG = 60.0


def waiting_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "timeouts"]


def test_calls_are_made_in_the_order_of_their_times() -> None:
    timeouts, made, last = Timeouts(), list[str](), threading.Event()
    timeouts.after(0.3, last.set)
    timeouts.after(0.15, lambda: made.append("second"))
    timeouts.after(0.01, lambda: made.append("first"))
    assert last.wait(_LONG)
    assert made == ["first", "second"]


def test_a_call_that_is_cancelled_is_not_made() -> None:
    timeouts, made, last = Timeouts(), list[str](), threading.Event()
    cancelled = timeouts.after(0.02, lambda: made.append("cancelled"))
    timeouts.after(0.1, last.set)
    cancelled.cancel()
    assert last.wait(_LONG)
    assert made == []


def test_one_thread_waits_for_all_and_ends_when_nothing_is_left() -> None:
    before = waiting_threads()
    timeouts, last = Timeouts(), threading.Event()
    many = [timeouts.after(_LONG + row, last.set) for row in range(200)]
    [thread] = [each for each in waiting_threads() if each not in before]
    for each in many:
        each.cancel()
    timeouts.after(0.01, last.set)
    assert last.wait(_LONG)
    thread.join(_LONG)
    assert not thread.is_alive()


def test_calls_are_made_again_after_the_thread_has_ended() -> None:
    before = waiting_threads()
    timeouts = Timeouts()
    for _ in range(3):
        made = threading.Event()
        timeouts.after(0.0, made.set)
        assert made.wait(_LONG)
        for thread in waiting_threads():
            if thread not in before:
                thread.join(_LONG)


def test_a_call_that_takes_long_or_fails_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda problem: failed.append(problem.exc_type))
    timeouts, go_on, last = Timeouts(), threading.Event(), threading.Event()

    def fails() -> None:
        raise ValueError

    timeouts.after(0.0, lambda: go_on.wait(_LONG))
    timeouts.after(0.01, fails)
    timeouts.after(0.05, last.set)
    assert last.wait(_LONG)
    go_on.set()
    assert failed == [ValueError]


def test_what_a_cancelled_call_refers_to_is_let_go() -> None:
    class Held:
        def call(self) -> None: ...

    timeouts, held, made = Timeouts(), Held(), threading.Event()
    gone = weakref.ref(held)
    timeout = timeouts.after(_LONG, held.call)
    # The thread has looked at it and waits.
    timeouts.after(0.01, made.set)
    assert made.wait(_LONG)
    timeout.cancel()
    del held
    for _ in range(600):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None
