"""Turns of processes: one at a time, in order, and nobody waits for one that is stuck."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evaluator.system import turns
from evaluator.system.turns import turn

HOLDER = """
import sys, time
from pathlib import Path
from evaluator.system.turns import turn
with turn(Path(sys.argv[1]), 1.0) as ours:
    print(ours, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Another process that has the turn of a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses in seconds that were made for others."""
    made: list[float] = []
    monkeypatch.setattr(turns.time, "sleep", made.append)
    monkeypatch.setattr(turns.time, "monotonic", lambda: 5.0)
    monkeypatch.setattr(turns._Place, "given_back", 0.0)
    return made


@pytest.mark.skipif(turns.fcntl is None, reason="This system has no such locks.")
class TestTurns:
    def test_nobody_waits_for_ever(self, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
        with turn(tmp_path, 0.05) as ours:
            assert not ours

    def test_a_killed_process_gives_its_turn_back(self, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
        holder.kill()
        holder.wait()
        with turn(tmp_path, 0.05) as ours:
            assert ours

    def test_a_turn_that_comes_too_late_is_given_on(self, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
        before = open_files()
        with turn(tmp_path, 0.05) as ours:
            assert not ours
        holder.kill()
        holder.wait()
        until = time.monotonic() + 60
        while open_files() > before and time.monotonic() < until:
            time.sleep(0.01)
        assert open_files() == before
        with turn(tmp_path, 10.0) as ours:
            assert ours

    def test_turns_come_one_after_the_other_and_leave_no_file(self, tmp_path: Path) -> None:
        with turn(tmp_path, 1.0) as first, turn(tmp_path, 0.01) as second:
            assert (first, second) == (True, False)
        with turn(tmp_path, 10.0) as third:
            assert third
        assert list(tmp_path.iterdir()) == []

    def test_whoever_wants_the_next_turn_at_once_lets_the_others_wake_up(
        self, tmp_path: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with turn(tmp_path, 1.0):
            pass
        with turn(tmp_path, 1.0):
            pass
        monkeypatch.setattr(turns.time, "monotonic", lambda: 6.0)
        with turn(tmp_path, 1.0):
            pass
        assert pauses == [0.0, pytest.approx(0.001), 0.0]


def test_without_such_locks_there_are_no_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with turn(tmp_path / "missing", 1.0) as ours:
        assert not ours
    monkeypatch.setattr(turns, "fcntl", None)
    with turn(tmp_path, 1.0) as ours:
        assert not ours
