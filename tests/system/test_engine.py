"""The engine: shards of whole documents, answers in order, workers that are lost, processes that leave nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.system.engine import Engine, LostWorkersError, plan, processes
from tests.engine_work import broken, killed, no_main, squared


@given(sizes=st.lists(st.integers(1, 9), max_size=30), pages=st.integers(1, 40))
def test_shards_follow_each_other_and_cut_no_document(sizes: list[int], pages: int) -> None:
    document = np.repeat(np.arange(len(sizes)), sizes)
    shards = plan(document, pages)
    assert [page for shard in shards for page in range(*shard)] == list(range(len(document)))
    assert all(shard.stop > shard.start for shard in shards)
    firsts = {int(place) for place in np.flatnonzero(np.diff(document, prepend=-1))}
    assert {shard.start for shard in shards} <= firsts
    # No more than asked for, but for the documents at both ends.
    assert all(shard.stop - shard.start < pages + 2 * max(sizes) for shard in shards)


@pytest.fixture(scope="module", autouse=True)
def plain_processes() -> Iterator[None]:
    with no_main():
        yield


@pytest.fixture(scope="module", params=[None, ThreadPoolExecutor, processes])
def executor(request: pytest.FixtureRequest) -> Callable[[], Executor] | None:
    made: Callable[[], Executor] | None = request.param
    return made


@pytest.fixture(scope="module")
def engine(executor: Callable[[], Executor] | None) -> Iterator[Engine]:
    with Engine(executor) as shared:
        yield shared


def test_answers_come_in_the_order_of_the_shards(executor: Callable[[], Executor] | None, engine: Engine) -> None:
    assert engine.elsewhere == (executor is not None)
    assert engine.run(squared, []) == []
    for _ in range(2):
        answers = engine.run(squared, range(20), threads=2)
        assert [answer for answer, _ in answers] == [number * number for number in range(20)]
    assert (os.getpid() in {process for _, process in answers}) == (executor is not processes)


def test_what_the_work_raises_is_raised(engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError):
        engine.run(broken, range(9))


def works(folder: Path, times: int) -> Sequence[tuple[Path, int, int]]:
    return [(folder, number, times) for number in range(8)]


def test_a_lost_worker_costs_what_was_not_done(tmp_path: Path) -> None:
    with Engine(processes) as engine:
        assert engine.run(killed, works(tmp_path, 1)) == list(range(8))
    done = [len(list(tmp_path.glob(f"{number}-*"))) for number in range(8)]
    assert done[3] == 2
    # One process did the others meanwhile; a machine with one processor has lost them with the worker.
    assert done[0] == done[1] == done[2] == 1


def test_workers_that_are_always_lost_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.engine.processors", lambda: 1)
    with Engine(processes) as engine, pytest.raises(LostWorkersError, match=r"^2 executors lost a worker each$"):
        engine.run(killed, works(tmp_path, 9), tries=2)
    assert len(list(tmp_path.glob("3-*"))) == 2


PROGRAM = """
import os, sys, time
from pathlib import Path
from evaluator.system.engine import Engine, processes
from tests.engine_work import waiting
if __name__ == "__main__":
    with Engine(processes) as engine:
        engine.run(waiting, [Path(sys.argv[1])])
"""


def test_processes_end_with_the_one_that_began_them(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stderr=subprocess.DEVNULL) as command:
        while not (tmp_path / "begun").exists():
            assert command.poll() is None
            time.sleep(0.01)
        command.kill()
    process = int((tmp_path / "begun").read_text())
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            break
        if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.01)
