"""What a command shows while it works: progress bars on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from evaluator.system.advance import told


class Bar:
    """Progress of one job after the other; calling it begins the next one. This one is silent."""

    def __call__(self, text: str) -> None:
        """Begin the next job, whose length is not known yet; the one before is done."""

    def count(self, done: int, total: int) -> None:
        """How much of the present job is done."""


@contextmanager
def progress(start: str) -> Iterator[Bar]:
    """Progress bars on a terminal's standard error, one for each job; silent elsewhere. Yields what they receive."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from evaluator.cli.bars import drawn  # here, because what is piped needs no drawing library

    with drawn(start) as bar, told(bar.count):
        yield bar
