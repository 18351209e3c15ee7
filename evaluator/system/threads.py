"""Parts of a work at a time: numpy and Arrow release the interpreter's lock in large operations."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# More threads than this find no more memory bandwidth.
MOST_THREADS: Final = 8
# To start threads takes as long as numpy needs for so many rows.
_FEW_ROWS: Final = 10_000

T = TypeVar("T")
R = TypeVar("R")


def thread_pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool of so many threads."""
    # With queues and logging it takes 4 ms to import, which a command that starts no thread need not wait for.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads)


def in_threads(
    work: Callable[[T], R], parts: Iterable[T], *, most: int = MOST_THREADS, rows: int | None = None
) -> Iterator[R]:
    """Yield what `work` makes of each part, in their order; what it raises is raised in its place.

    A part is taken when a thread is free for it, so that few exist at a time. At most `most` threads, no more than
    processors; none for few `rows` of all parts together (None: not known).
    """
    threads = min(os.cpu_count() or 1, most)
    coming = iter(parts)
    first = list(islice(coming, 2))
    if threads == 1 or len(first) < 2 or (rows is not None and rows < _FEW_ROWS):
        yield from map(work, chain(first, coming))
        return
    waiting: deque[Future[R]] = deque()
    pool = thread_pool(threads)
    try:
        for part in chain(first, coming):
            waiting.append(pool.submit(work, part))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # What nobody waits for any more is not begun.
        pool.shutdown(cancel_futures=True)


def runs_of(items: Iterable[T], key: Callable[[T], object], *, most: int) -> Iterator[Sequence[T]]:
    """Yield items in their order, in runs of one key, each of at most `most` items.

    >>> list(runs_of(["a1", "a2", "a3", "b1", "a4"], lambda item: item[0], most=2))
    [['a1', 'a2'], ['a3'], ['b1'], ['a4']]
    """
    for _, of_key in groupby(items, key):
        while run := list(islice(of_key, most)):
            yield run
