"""A part of a work done by a copy of this process beside it, where threads would wait for the interpreter's lock.

Owns when a process may be copied and how arrays come back. A copy shares the memory of this process until one of them
writes there; it has none of its threads. So only a command may be copied, which says so: its other threads draw
progress and hold no lock that the work needs. A server never is.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.system.progress import reporting

Arrays = Iterable[npt.NDArray[Any]]

_ARRAY: Final = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...], bytes]).decode
_SIZE_BYTES: Final = 8

_ALLOWED: Final[ContextVar[bool]] = ContextVar("allowed", default=False)


@contextmanager
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


@contextmanager
def beside(work: Callable[[], Arrays]) -> Iterator[Callable[[], list[npt.NDArray[Any]]]]:
    """Some work done by a copy of this process meanwhile; without a copy, when its answer is asked for.

    Parameters
    ----------
    work : callable
        Returns arrays of plain values. What it changes in memory is changed in the copy alone. Files that are open are
        shared with their position.

    Yields
    ------
    callable
        Waits for the arrays and returns them; those of a copy can only be read.

    Raises
    ------
    ChildProcessError
        By the callable, when the copy did not come to its end: `work` raised something, or the system ended it.
    Exception
        What `work` raises, by the callable, without a copy.
    """
    if not copies():
        yield lambda: [*work()]
        return
    with tempfile.TemporaryFile() as file:
        process = _begun(work, file)
        status: list[int] = []

        def answer() -> list[npt.NDArray[Any]]:
            status.append(os.waitpid(process, 0)[1])
            if status[0]:
                raise ChildProcessError("the process that did a part of the work ended early")
            return [*_read(file)]

        try:
            yield answer
        finally:
            if not status:
                # Nobody wants the answer any more.
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def _begun(work: Callable[[], Arrays], file: BinaryIO) -> int:
    """The copy that writes the arrays of some work into a file; 0 is its exit status when all of them are there."""
    # A collection would write into what both share, which then takes memory of each. At its end a command need not look
    # through what was there before, either.
    gc.freeze()
    with warnings.catch_warnings():
        # Python 3.12 and later warn of any other thread; see the module.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        return process
    status = 1
    try:
        with reporting(None):
            for array in work():
                _write(array, file)
            file.flush()
        status = 0
    finally:
        # Neither what this process still had to write nor what it does at its end is the copy's. An exception is known
        # by the status.
        os._exit(status)


def _write(array: npt.NDArray[Any], file: BinaryIO) -> None:
    """One array behind the number of its bytes; what numpy itself writes takes several times as long to read."""
    if array.dtype.hasobject:
        raise TypeError("only plain values come back from a copy")
    content = msgspec.msgpack.encode((array.dtype.str, array.shape, array.tobytes()))
    file.write(len(content).to_bytes(_SIZE_BYTES))
    file.write(content)


def _read(file: BinaryIO) -> Iterator[npt.NDArray[Any]]:
    """The arrays in a file that a copy wrote."""
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    while file.tell() < end:
        size = int.from_bytes(file.read(_SIZE_BYTES))
        kind, shape, values = _ARRAY(file.read(size))
        yield np.frombuffer(values, dtype=kind).reshape(shape)
