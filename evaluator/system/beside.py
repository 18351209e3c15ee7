"""A part of a work done by a copy of this process beside it, where threads would wait for the interpreter's lock.

Owns when a process may be copied and how the two hand each other arrays. A copy shares the memory of this process until
one of them writes there; it has none of its threads. So only a command may be copied, which says so: its other threads
draw progress and hold no lock that the work needs. A server never is.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from io import BufferedReader
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.system.progress import reporting

Array = npt.NDArray[Any]
Work = Generator[Iterable[Array], list[Array], None]
"""Steps of a work: each gives arrays, and takes those that it is told."""

_KIND: Final = msgspec.msgpack.Encoder()
_KIND_OF: Final = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...]]).decode
_SIZE_BYTES: Final = 8
_NO_MORE: Final = bytes(_SIZE_BYTES)
"""In the place of the next size."""
_ENDED: Final = "the process that did a part of the work ended early"

_ALLOWED: Final[ContextVar[bool]] = ContextVar("allowed", default=False)


@contextlib.contextmanager
def copies_allowed() -> Iterator[None]:
    """While this lasts the process may be copied: it is a command of its own, with no work in other threads."""
    token = _ALLOWED.set(True)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def copies() -> bool:
    """Whether `beside` copies this process: where it may, on Linux, with a second processor."""
    return _ALLOWED.get() and sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


class Beside:
    """Some work beside this process: what it has to say, and what it is told; see `beside`."""

    def __init__(self, work: Callable[[], Work]) -> None:
        self._work = work()
        self._told: list[Array] = []
        self._begun = False

    def ask(self) -> list[Array]:
        """Wait for the arrays of the next step.

        Raises
        ------
        ChildProcessError
            When the copy ended before: the work raised something, or the system ended it.
        Exception
            What the work raises, without a copy.
        """
        arrays = self._work.send(self._told) if self._begun else next(self._work)
        self._begun = True
        return [*arrays]

    def tell(self, arrays: Iterable[Array]) -> None:
        """Hand arrays to the step after the one whose arrays were asked for; it waits for them."""
        self._told = [*arrays]

    def ready(self) -> bool:
        """Whether `ask` need not wait for a copy."""
        return True

    def end(self) -> None:
        """End the work, which has nothing more to say or whose answer nobody wants."""
        self._work.close()


class _Copy(Beside):
    """The same of a copy of this process, through two pipes."""

    def __init__(self, work: Callable[[], Work]) -> None:
        heard, said = os.pipe()
        told, telling = os.pipe()
        self._process = _begun(work, (told, said), (heard, telling))
        os.close(told)
        os.close(said)
        self._heard, self._telling = open(heard, "rb"), open(telling, "wb")  # noqa: SIM115 - closed by `end`

    def ask(self) -> list[Array]:
        arrays = _read(self._heard)
        if arrays is None:
            raise ChildProcessError(_ENDED)
        return arrays

    def tell(self, arrays: Iterable[Array]) -> None:
        try:
            _write(arrays, self._telling)
        except BrokenPipeError as problem:
            raise ChildProcessError(_ENDED) from problem

    def ready(self) -> bool:
        return bool(select.select([self._heard], [], [], 0)[0])

    def end(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        self._heard.close()
        # What a copy that ended early was still to be told is lost.
        with contextlib.suppress(BrokenPipeError):
            self._telling.close()


@contextlib.contextmanager
def beside(work: Callable[[], Work]) -> Iterator[Beside]:
    """Some work done by a copy of this process meanwhile; without a copy, when it is asked for.

    Parameters
    ----------
    work : callable
        Makes a generator of steps. Each gives arrays of plain values, and takes those that it is told before the next.
        What it changes in memory is changed in the copy alone. Files that are open are shared with their position.

    Yields
    ------
    Beside
        To ask for the arrays of each step, and to tell it others.
    """
    other = _Copy(work) if copies() else Beside(work)
    try:
        yield other
    finally:
        other.end()


def _begun(work: Callable[[], Work], mine: tuple[int, int], others: tuple[int, int]) -> int:
    """The copy that works step by step; it reads and writes its own ends of the pipes."""
    # A collection would write into what both share, which then takes memory of each. At its end a command need not look
    # through what was there before, either.
    gc.freeze()
    with warnings.catch_warnings():
        # Python 3.12 and later warn of any other thread; see the module.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        return process
    try:
        for end in others:
            os.close(end)
        with reporting(None), open(mine[0], "rb") as told, open(mine[1], "wb") as said:
            steps = work()
            arrays: Iterable[Array] = next(steps)
            while True:
                _write(arrays, said)
                given = _read(told)
                if given is None:
                    break
                arrays = steps.send(given)
    finally:
        # Neither what this process still had to write nor what it does at its end is the copy's. That it ended is known
        # by the end of its pipe.
        os._exit(0)


def _write(arrays: Iterable[Array], pipe: BinaryIO) -> None:
    """Some arrays, each behind its kind and shape; only one that does not lie in one piece is copied meanwhile."""
    for array in arrays:
        if array.dtype.hasobject:
            raise TypeError("only plain values are handed over")
        head = _KIND.encode((array.dtype.str, array.shape))
        pipe.write(len(head).to_bytes(_SIZE_BYTES))
        pipe.write(head)
        pipe.write(_bytes_of(np.ascontiguousarray(array)))
    pipe.write(_NO_MORE)
    pipe.flush()


def _read(pipe: BufferedReader) -> list[Array] | None:
    """The arrays that the other process wrote next; None when it ended."""
    arrays: list[Array] = []
    while (size := pipe.read(_SIZE_BYTES)) != _NO_MORE:
        head = pipe.read(int.from_bytes(size))
        if not head or len(head) < int.from_bytes(size):
            return None
        kind, shape = _KIND_OF(head)
        array = np.empty(shape, kind)
        if pipe.readinto(_bytes_of(array)) < array.nbytes:
            return None
        arrays.append(array)
    return arrays


def _bytes_of(array: Array) -> memoryview:
    """The memory of an array that lies in one piece."""
    return array.reshape(-1).view(np.uint8).data
