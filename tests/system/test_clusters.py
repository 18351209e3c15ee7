"""Dask, started here, and what is said of both engines: answers of a serial run, and workers that are lost."""

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import pytest

from evaluator import cli, project
from evaluator.analysis import corpus_evaluation
from evaluator.protocols import sharding
from evaluator.system import clusters
from evaluator.system.clusters import EngineError, executor_of
from evaluator.system.engine import Engine, LostWorkersError
from tests.engine_work import Lent, broken, killed, squared
from tests.sample_part import write_part
from tests.terminal import run_command


@pytest.fixture(scope="module")
def workers() -> Iterator[Executor]:
    pytest.importorskip("distributed", reason="needs the extra dask")
    make = executor_of("dask")
    assert make is not None
    made = make()
    yield Lent(made)
    made.shutdown()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_part(tmp_path_factory.mktemp("sample"), "tram-options.pdf", "groundwater-note.pdf")


@pytest.fixture(scope="module")
def corpus(sample: Path) -> Path:
    files = str(sample / "ground_truth.json"), str(sample / "lines.json")
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["corpus", *files, "--out", str(sample / "kept")])
    return sample / "kept"


def test_answers_come_in_order_and_what_the_work_raises_is_raised(workers: Executor) -> None:
    with Engine(workers) as engine:
        assert [answer for answer, _ in engine.run(squared, range(20))] == [number * number for number in range(20)]
        with pytest.raises(ZeroDivisionError):
            engine.run(broken, range(9))


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod", "pixel"])
def test_the_numbers_are_those_of_one_process(
    protocol: str, workers: Executor, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sharding, corpus_evaluation):
        monkeypatch.setattr(module, "LARGE", 0)
    options: dict[str, Any] = {"page_size": (1000, 1400)} if protocol == "pixel" else {}
    said = []
    for executor in (None, workers):
        (made,) = project.evaluate(protocol, corpus, [corpus], executor=executor, page_ranges=1, **options)
        said.append((made.to_json(), made.result.table(), made.issues))
    assert said[0] == said[1]


def test_a_killed_worker_changes_nothing(workers: Executor, tmp_path: Path) -> None:
    with Engine(workers) as engine:
        assert engine.run(killed, [(tmp_path, number, 1) for number in range(8)]) == list(range(8))
    assert len(list(tmp_path.glob("3-*"))) == 2


def test_workers_that_are_always_lost_are_an_error() -> None:
    with Engine(sent(ConnectionError("gone"))) as engine, pytest.raises(LostWorkersError, match=r"^3 executors lost"):
        engine.run(squared, range(2))


def sent(answer: object) -> Executor:
    def send(*_: object) -> Future[Any]:
        made: Future[Any] = Future()
        if isinstance(answer, BaseException):
            made.set_exception(answer)
        elif answer is None:
            made.cancel()
            made.set_running_or_notify_cancel()
        return made

    return clusters._Workers(send, lambda: None, (ConnectionError,))


@pytest.mark.parametrize(
    ("answer", "raised", "words"),
    [
        (ConnectionError("gone"), BrokenExecutor, "^gone$"),
        (None, BrokenExecutor, "^$"),
        (ModuleNotFoundError("No module named 'evaluator'"), EngineError,
         "^the workers must have layoutscope installed; found No module named 'evaluator'$"),
        (ZeroDivisionError("zero"), ZeroDivisionError, "^zero$"),
    ],
)  # fmt: skip
def test_what_a_cluster_loses_is_a_broken_executor(answer: object, raised: type[Exception], words: str) -> None:
    with pytest.raises(raised, match=words):
        sent(answer).submit(squared, 1).result()


def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "__version__", "1.0")
    with pytest.raises(EngineError, match=r"^the workers must have layoutscope 2\.0; found 1\.0$"):
        clusters._worked("2.0", lambda: 1)


def test_engines_that_cannot_be_used_are_refused(
    sample: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "find_spec", {"ray": clusters}.get)
    files = "--gt", sample / "ground_truth.json", "--pred", sample / "lines.json"

    def said(*words: str) -> str:
        code, _, problem = run_command(capsys, "evaluate", "snapshot", *files, *words)
        assert code == 2
        return problem

    assert said("--engine-address", "a:1") == ("error: --engine-address goes with --engine dask or --engine ray.\n")
    assert said("--engine", "dask") == (
        'error: --engine dask needs its package: run uv pip install -e ".[dask]" in the clone.\n'
    )
    assert said("--engine", "ray") == "error: --engine ray needs --engine-address; none is started here.\n"
    assert said("--engine", "ray", "--engine-address", "a:1") == (
        "error: --engine-address takes a corpus that all workers can read; see layoutscope corpus.\n"
    )
    assert said("--engine", "ray", "--findings", "f.db") == (
        "error: --engine ray leaves no boxes that --findings could correct; choose one of them.\n"
    )
    assert said("--engine", "ray", "--shard", "1/2", "--out", "parts").startswith(
        "error: --shard goes with --out alone"
    )
