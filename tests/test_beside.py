"""A part of a work in a copy of the process: what comes back, what a copy that fails leaves, who is never copied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.system.beside import beside, copies, copies_allowed
from evaluator.system.progress import report, reporting

with copies_allowed():
    COPIES = copies()
copied = pytest.mark.skipif(not COPIES, reason="processes are copied on Linux with two processors")

Arrays = Iterator[npt.NDArray[Any]]


def test_without_leave_the_work_is_done_when_it_is_asked_for() -> None:
    done = []

    def work() -> Arrays:
        done.append(os.getpid())
        yield np.arange(3)

    with beside(work) as answer:
        assert not done
        assert [array.tolist() for array in answer()] == [[0, 1, 2]]
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
    with copies_allowed(), beside(lambda: [np.array([os.getpid()]), *given[1:]]) as answer:
        process, *back = answer()
    assert process[0] != os.getpid()
    for one, other in zip(back, given[1:], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@copied
def test_nothing_may_come_back() -> None:
    with copies_allowed(), beside(lambda: []) as answer:
        assert answer() == []


@copied
def test_what_a_copy_changes_is_its_own_and_it_reports_to_nobody() -> None:
    heard: list[tuple[int, int]] = []
    values = np.zeros(2)

    def work() -> Arrays:
        values[:] = 7
        report(1, 2)
        yield values

    with reporting(lambda done, total: heard.append((done, total))), copies_allowed(), beside(work) as answer:
        assert answer()[0].tolist() == [7, 7]
    assert values.tolist() == [0, 0]
    assert heard == []


@copied
@pytest.mark.parametrize("end", ["raises", "killed", "objects"])
def test_a_copy_that_does_not_come_to_its_end_is_an_error(end: str) -> None:
    def work() -> Arrays:
        yield np.arange(3)
        if end == "raises":
            raise ValueError("not in this process")
        if end == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        yield np.array([object()])

    with (
        copies_allowed(),
        beside(work) as answer,
        pytest.raises(ChildProcessError, match=r"^the process that did a part of the work ended early$"),
    ):
        answer()


@copied
@pytest.mark.parametrize("problem", [None, KeyboardInterrupt()])
def test_a_copy_that_nobody_waits_for_is_ended(problem: BaseException | None, tmp_path: Path) -> None:
    known = tmp_path / "process"

    def work() -> Arrays:
        known.write_text(str(os.getpid()))
        known.rename(tmp_path / "begun")
        time.sleep(60)
        yield np.zeros(1)

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
with copies_allowed(), beside(lambda: [np.zeros(1)]) as answer:
    print(len(answer()))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("begin\n1\nend\n", "")
