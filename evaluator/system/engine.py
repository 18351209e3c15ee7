"""One way to work on a corpus: planned in shards, each worked off by itself, and merged in order.

No result depends on where the work was done, nor on a worker that was lost meanwhile.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.system.memory import keep_freed_memory
from evaluator.system.threads import in_threads

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from evaluator.system.parts import Parts

# Each process needs memory of its own.
_MOST_PROCESSES: Final = 8

T = TypeVar("T")
R = TypeVar("R")


class Shard(NamedTuple):
    """A run of pages: the number of its first one, and of the one behind its last."""

    start: int
    stop: int


class Partial(Protocol):
    """What the numbers need of some pages: plain arrays, which another process can be given."""

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Return what they need of the pages of all parts, which are in the order of their shards."""


class LostWorkersError(ChildProcessError):
    """Raised when workers were lost again and again."""


def plan(document: IntArray, pages: int) -> tuple[Shard, ...]:
    """Return shards of about so many pages, none of which cuts a document.

    `document` is that of each page, int64, shape (M,); the pages of a document are together.

    >>> plan(np.array([0, 0, 0, 1, 1, 2]), 2)
    (Shard(start=0, stop=3), Shard(start=3, stop=5), Shard(start=5, stop=6))
    """
    begins = np.flatnonzero(np.diff(document, prepend=-1))
    wanted = np.searchsorted(begins, np.arange(0, len(document), pages))
    bounds = sorted({*begins[wanted[wanted < len(begins)]].tolist(), len(document)})
    return tuple(map(Shard, bounds, bounds[1:]))


class Engine:
    """What works on shards, here or with the executor that the callable makes; it has to be closed."""

    def __init__(self, executor: Executor | Callable[[], Executor] | None = None, parts: Parts | None = None) -> None:
        self._make, self.parts = executor, parts
        self._executor: Executor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, place: TracebackType | None
    ) -> None:  # fmt: skip
        self._close()

    def _close(self) -> None:
        # One that was given is its owner's.
        if self._executor is not None and self._executor is not self._make:
            # What nobody waits for any more is not begun.
            self._executor.shutdown(cancel_futures=True)
        self._executor = None

    @property
    def elsewhere(self) -> bool:
        """Return whether an executor does the work."""
        return self._make is not None

    def here(self) -> Engine:
        """Return one without the executor, for little work."""
        return Engine(parts=self.parts)

    def share(
        self, shards: Sequence[T], sources: Sequence[str], work: Callable[[T], R], *, threads: int = 1
    ) -> list[R]:
        """Return what the work makes of each shard as `run`, with what other runs have made of theirs; see `Parts`."""
        if self.parts is None:
            return self.run(work, shards, threads=threads)
        return self.parts.run(shards, sources, lambda some: self.run(work, some, threads=threads))

    def run(self, work: Callable[[T], R], shards: Sequence[T], *, threads: int = 1, tries: int = 3) -> list[R]:
        """Return what the work makes of each shard, in their order; raise what it raises.

        `threads` shards are worked off at a time without an executor. When an executor loses a worker the next one gets
        the rest, up to `tries`; LostWorkersError after that.
        """
        if self._make is None:
            return list(in_threads(work, shards, most=threads))
        from concurrent.futures import BrokenExecutor, Future  # what works here need not wait for it

        done: dict[int, R] = {}
        for _ in range(tries):
            executor = self._executor = self._executor or (self._make() if callable(self._make) else self._make)
            waiting: dict[int, Future[R]] = {}
            try:
                for at, shard in enumerate(shards):
                    if at not in done:
                        waiting[at] = executor.submit(work, shard)
                for at, future in waiting.items():
                    done[at] = future.result()
            except BrokenExecutor:
                done |= {at: each.result() for at, each in waiting.items() if each.done() and not each.exception()}
                self._close()
            else:
                return [done[at] for at in range(len(shards))]
        raise LostWorkersError(f"{tries} executors lost a worker each")


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes() -> Executor:
    """Return a pool of a process for each processor, none of which is a copy of this one."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(min(processors(), _MOST_PROCESSES), mp_context=context, initializer=_begun)


def _begun() -> None:
    """Have this process keep freed memory, leave Ctrl+C to the one that began it, and end when that one is gone."""
    import multiprocessing
    from multiprocessing.connection import wait

    keep_freed_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
