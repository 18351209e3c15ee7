"""Executors of parts of a corpus: processes of this machine, or the workers of Dask or Ray."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal

from evaluator.system.engine import processes, processors
from evaluator.system.version import __version__

EngineName = Literal["local", "dask", "ray"]
# The package that has each, and how long its scheduler may take to answer.
_PACKAGES: Final = {"dask": "distributed", "ray": "ray"}
_SECONDS: Final = 20


class EngineError(ValueError):
    """Raised for an engine that cannot be used; one sentence."""


def executor_of(name: EngineName, address: str | None = None) -> Callable[[], Executor] | None:
    """Return what makes the executor of an engine, None where this process does all; EngineError without its package.

    `address` is that of a cluster; without one Dask is started here, for as long as the executor is there.
    """
    if name == "local":
        if address is not None:
            raise EngineError("--engine-address goes with --engine dask or --engine ray")
        return processes if processors() > 1 else None
    if find_spec(_PACKAGES[name]) is None:
        raise EngineError(f'--engine {name} needs its package: run uv pip install -e ".[{name}]" in the clone')
    if name == "ray" and address is None:
        # It asks the network which cloud it is in, also without usage statistics.
        raise EngineError("--engine ray needs --engine-address; none is started here")
    return partial(_dask if name == "dask" else _ray, address)


class _Workers(Executor):
    """The workers of a cluster: what they lose is as broken as a pool of processes that loses one."""

    def __init__(
        self, send: Callable[..., Future[Any]], close: Callable[[], object], lost: tuple[type[Exception], ...]
    ) -> None:
        self._send, self._close, self._lost = send, close, lost

    def submit(self, work: Callable[..., Any], /, *given: object, **more: object) -> Future[Any]:
        answer: Future[Any] = Future()

        def answered(made: Future[Any]) -> None:
            problem = CancelledError() if made.cancelled() else made.exception()
            if isinstance(problem, (CancelledError, *self._lost)):
                problem = BrokenExecutor(str(problem))
            if isinstance(problem, ModuleNotFoundError):
                problem = EngineError(f"the workers must have layoutscope installed; found {problem}")
            if problem is None:
                answer.set_result(made.result())
            else:
                answer.set_exception(problem)

        self._send(_worked, __version__, partial(work, *given, **more)).add_done_callback(answered)
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._close()


def _worked(version: str, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the work makes
    if version != __version__:
        raise EngineError(f"the workers must have layoutscope {version}; found {__version__}")
    return work()


def _dask(address: str | None) -> Executor:
    dask: Any = import_module("distributed")
    try:
        here = {"n_workers": processors(), "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        cluster: Any = address or dask.LocalCluster(**here)
        client = dask.Client(cluster, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise EngineError(f"the scheduler of Dask must answer; found {problem}") from problem

    def close() -> None:
        client.close()
        if address is None:
            cluster.close()

    lost = dask.scheduler.KilledWorker, dask.comm.CommClosedError
    # Two equal shards are two: nothing is taken from an earlier answer.
    return _Workers(client.get_executor(pure=False).submit, close, lost)


def _ray(address: str | None) -> Executor:
    ray: Any = import_module("ray")
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as problem:
        raise EngineError(f"the head of Ray must answer; found {problem}") from problem
    errors = ray.exceptions
    lost = errors.WorkerCrashedError, errors.NodeDiedError, errors.LocalRayletDiedError, errors.ObjectLostError
    remote = ray.remote(_worked)
    return _Workers(lambda _, *given: remote.remote(*given).future(), ray.shutdown, lost)
