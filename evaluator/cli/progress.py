"""Progress of a command: bars on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from evaluator.system.progress import reporting


class Bar(Protocol):
    """Progress of one job after the other; calling it begins the next one."""

    def __call__(self, text: str) -> None:
        """Begin the next job, whose length is not known yet; the one before is done."""

    def count(self, done: int, total: int) -> None:
        """Show how much of the present job is done."""


class _Silent:
    def __call__(self, text: str) -> None:
        pass

    def count(self, done: int, total: int) -> None:
        pass


SILENT: Final[Bar] = _Silent()
"""Where nobody watches."""


@contextmanager
def progress(start: str) -> Iterator[Bar]:
    """Yield bars on a terminal's standard error, one for each job; silent elsewhere."""
    if not sys.stderr.isatty():
        yield SILENT
        return
    from evaluator.cli.bars import terminal_bars  # here, because what is piped needs no drawing library

    with terminal_bars(start) as bar, reporting(bar.count):
        yield bar
