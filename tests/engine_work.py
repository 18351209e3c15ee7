"""What the tests of the engine do in its processes, which import this file and neither pytest nor Hypothesis."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from types import ModuleType
from typing import Any


@contextlib.contextmanager
def no_main() -> Iterator[None]:
    """Processes that begin here import no main module: it is pytest or, once a view was tested, the dashboard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class Lent(Executor):
    """An executor that outlives the engine that closes it."""

    def __init__(self, owned: Executor) -> None:
        self._owned = owned

    def submit(self, work: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        return self._owned.submit(work, *given, **more)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Left to its owner."""


def squared(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def broken(number: int) -> int:
    return 1 // (3 - number)


def killed(given: tuple[Path, int, int]) -> int:
    """A number, of which some processes do not live to tell; each work is written down."""
    folder, number, times = given
    (folder / f"{number}-{len(list(folder.glob(f'{number}-*')))}").touch()
    if number == 3 and len(list(folder.glob("3-*"))) <= times:
        # What other workers have done is told before.
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def waiting(folder: Path) -> None:
    own = folder / "writing"
    own.write_text(str(os.getpid()))
    own.rename(folder / "begun")
    time.sleep(600)
