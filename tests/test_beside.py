"""A part of a work in a copy of the process: what comes back, what a copy that fails leaves, who is never copied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from evaluator.system.beside import Work, beside, copies, copies_allowed
from evaluator.system.progress import report, reporting

with copies_allowed():
    COPIES = copies()
copied = pytest.mark.skipif(not COPIES, reason="processes are copied on Linux with two processors")


def test_without_leave_the_work_is_done_when_it_is_asked_for() -> None:
    done = []

    def work() -> Work:
        done.append(os.getpid())
        told = yield [np.arange(3)]
        yield [array + 1 for array in told]

    with beside(work) as other:
        assert other.ready()
        assert not done
        assert [array.tolist() for array in other.ask()] == [[0, 1, 2]]
        other.tell([np.arange(2)])
        assert [array.tolist() for array in other.ask()] == [[1, 2]]
    assert done == [os.getpid()]
    with beside(work):
        pass
    assert len(done) == 1
    assert not copies()


def test_without_a_second_processor_nothing_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.beside.os.sched_getaffinity", lambda _process: {3}, raising=False)
    with copies_allowed():
        assert not copies()


def test_on_another_system_nothing_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.beside.sys.platform", "darwin")
    with copies_allowed():
        assert not copies()


@copied
def test_arrays_come_back_as_they_were() -> None:
    given = [
        np.array([os.getpid()]),
        np.zeros((0, 3)),
        np.array(2.5),
        np.array([[1, 2], [3, 4]], dtype=np.uint16).T,
        np.array([True, False]),
        np.array([np.nan, np.inf, -0.0]),
    ]

    def work() -> Work:
        told = yield [np.array([os.getpid()]), *given[1:]]
        yield [np.array([os.getpid()]), *told]

    with copies_allowed(), beside(work) as other:
        process, *back = other.ask()
        other.tell(given[1:])
        same, *again = other.ask()
    assert process[0] == same[0] != os.getpid()
    for one, two, before in zip(back, again, given[1:], strict=True):
        assert one.dtype == two.dtype == before.dtype
        np.testing.assert_array_equal(one, before)
        np.testing.assert_array_equal(two, before)


@copied
def test_nothing_may_be_said_and_told() -> None:
    def work() -> Work:
        told = yield []
        yield [np.array([len(told)])]

    with copies_allowed(), beside(work) as other:
        assert other.ask() == []
        other.tell([])
        assert other.ask()[0].tolist() == [0]


@copied
def test_a_copy_says_when_it_need_not_be_waited_for() -> None:
    def work() -> Work:
        yield [np.zeros(1)]
        time.sleep(60)
        yield []

    with copies_allowed(), beside(work) as other:
        while not other.ready():
            time.sleep(0.001)
        other.ask()
        other.tell([])
        assert not other.ready()


@copied
def test_what_a_copy_changes_is_its_own_and_it_reports_to_nobody() -> None:
    heard: list[tuple[int, int]] = []
    values = np.zeros(2)

    def work() -> Work:
        values[:] = 7
        report(1, 2)
        yield [values]

    with reporting(lambda done, total: heard.append((done, total))), copies_allowed(), beside(work) as other:
        assert other.ask()[0].tolist() == [7, 7]
    assert values.tolist() == [0, 0]
    assert heard == []


@copied
@pytest.mark.parametrize("end", ["raises", "killed", "objects", "nothing more"])
@pytest.mark.parametrize("steps", [0, 1])
def test_a_copy_that_does_not_come_to_its_end_is_an_error(end: str, steps: int) -> None:
    def work() -> Work:
        if steps:
            yield [np.arange(3)]
        if end == "raises":
            raise ValueError("not in this process")
        if end == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if end == "objects":
            yield [np.array([object()])]

    with copies_allowed(), beside(work) as other:
        if steps:
            other.ask()
            other.tell([])
        with pytest.raises(ChildProcessError, match=r"^the process that did a part of the work ended early$"):
            other.ask()
        with pytest.raises(ChildProcessError, match=r"^the process that did a part of the work ended early$"):
            other.tell([np.zeros(1 << 20)])


@copied
@pytest.mark.parametrize("problem", [None, KeyboardInterrupt()])
def test_a_copy_that_nobody_waits_for_is_ended(problem: BaseException | None, tmp_path: Path) -> None:
    known = tmp_path / "process"

    def work() -> Work:
        known.write_text(str(os.getpid()))
        known.rename(tmp_path / "begun")
        time.sleep(60)
        yield [np.zeros(1)]

    def begun() -> int:
        with copies_allowed(), beside(work):
            while not (tmp_path / "begun").exists():
                time.sleep(0.001)
            if problem is not None:
                raise problem
        return int((tmp_path / "begun").read_text())

    if problem is None:
        begun()
    else:
        with pytest.raises(KeyboardInterrupt):
            begun()
    process = int((tmp_path / "begun").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@copied
def test_a_copy_writes_nothing_of_what_its_original_still_has_to_write() -> None:
    program = """
import atexit, sys
import numpy as np
from evaluator.system.beside import beside, copies_allowed
atexit.register(print, "end")
print("begin")
def work():
    yield [np.zeros(1)]
with copies_allowed(), beside(work) as other:
    print(len(other.ask()))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("begin\n1\nend\n", "")
