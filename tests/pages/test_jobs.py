"""Jobs: they say how far they are, end when they are cancelled, fail alone, and leave nothing that nobody can have."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import streamlit as st

from evaluator.system import progress
from pages.app import ended_sessions, jobs
from pages.app.jobs import Cancelled, Job, Jobs


class Step:
    """Work of two steps that waits between them until it may go on."""

    def __init__(self, says: Callable[[int, int], object] = progress.report) -> None:
        self.begun, self.go_on, self._says = threading.Event(), threading.Event(), says

    def __call__(self, _note: jobs.ReportProgress) -> str:
        self._says(1, 2)
        self.begun.set()
        assert self.go_on.wait(10)
        self._says(2, 2)
        return "done"


class Session:
    session_id = "reader"


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A session that the server watches: what it holds."""
    held: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", held)
    monkeypatch.setattr(ended_sessions, "get_script_run_ctx", lambda **_: Session)
    ended_sessions._ENDS["reader"] = {}
    yield held
    ended_sessions._ENDS.pop("reader", None)


def end_session() -> None:
    ended_sessions._call([*ended_sessions._ENDS.pop("reader").values()])


def test_a_job_says_how_far_it_is_and_what_came_of_it() -> None:
    step = Step()
    job = Job("key", step, total=9)
    assert step.begun.wait(10)
    assert (job.done, job.total, job.running, job.result, job.failed) == (1, 2, True, None, False)
    step.go_on.set()
    assert job.future.result(10) == "done"
    assert (job.done, job.running, job.result, job.failed) == (2, False, "done", False)


def test_a_cancelled_job_ends_at_its_next_report() -> None:
    step = Step()
    job = Job("key", step)
    assert step.begun.wait(10)
    job.cancel()
    step.go_on.set()
    assert isinstance(job.future.exception(10), Cancelled)
    assert (job.done, job.result, job.failed) == (1, None, False)


@pytest.mark.parametrize("ended", [False, True])
def test_what_a_cancelled_job_gave_is_discarded(ended: bool) -> None:
    step, discarded = Step(lambda _done, _total: None), list[str]()
    job = Job("key", step, discard=discarded.append)
    assert step.begun.wait(10)
    if ended:
        step.go_on.set()
        assert job.future.result(10) == "done"
        assert discarded == []
    job.cancel()
    step.go_on.set()
    job.future.exception(10)
    assert discarded == ["done"]


def test_an_error_is_raised_where_somebody_waits_and_else_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: logged.append(str(args.exc_value)))

    def fail(_note: jobs.ReportProgress) -> None:
        raise ValueError("no such average")

    waited_for, alone = Job("key", fail, awaited=True, name="awaited"), Job("key", fail, name="alone")
    for job in (waited_for, alone):
        with pytest.raises(ValueError, match=r"^no such average$"):
            job.future.result(10)
        assert job.failed
    [thread.join(10) for thread in threading.enumerate() if thread.name in ("awaited", "alone")]
    assert logged == ["no such average"]


def test_a_new_job_of_a_kind_ends_the_one_before_and_results_are_for_all_sessions(session: dict[str, Any]) -> None:
    kind: Jobs[str, str] = Jobs("kind")
    first, second = Step(), Step()
    begun = kind.start("first", first)
    assert first.begun.wait(10)
    assert kind.running
    job = kind.start("second", second)
    first.go_on.set()
    assert isinstance(begun.future.exception(10), Cancelled)
    second.go_on.set()
    assert job.future.result(10) == "done"
    assert (kind.result("first"), kind.result("second"), kind.running) == (None, "done", False)
    session.clear()
    assert (kind.current, kind.result("second")) == (None, "done")
    # What is read again is not there until it is.
    third = Step()
    again = kind.start("second", third)
    assert kind.result("second") is None
    kind.cancel()
    third.go_on.set()
    again.future.exception(10)
    assert (kind.current, kind.result("second")) == (None, None)


def test_a_job_that_a_view_waits_for_goes_on_and_a_failed_one_begins_again(session: dict[str, Any]) -> None:
    kind, step = Jobs[str, str]("kind", kept=0), Step()
    job = kind.of("key", step)
    assert kind.of("key", step) is job
    step.go_on.set()
    assert job.future.result(10) == "done"
    assert kind.of("key", step) is job
    assert kind.of("other", step) is not job

    def fail(_note: jobs.ReportProgress) -> str:
        raise ValueError("no")

    failed = kind.of("third", fail)
    failed.future.exception(10)
    assert kind.of("third", fail) is not failed


def test_a_job_ends_with_its_session_and_so_does_what_it_gave(session: dict[str, Any]) -> None:
    discarded: list[str] = []
    at_work, ended = Jobs[str, str]("at work", kept=0), Jobs[str, str]("ended", kept=0, discard=discarded.append)
    step, over = Step(), Step()
    over.go_on.set()
    assert ended.start("key", over).future.result(10) == "done"
    job = at_work.start("key", step)
    assert step.begun.wait(10)
    end_session()
    step.go_on.set()
    assert isinstance(job.future.exception(10), Cancelled)
    assert discarded == ["done"]
