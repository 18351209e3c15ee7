"""What a command says while it works: progress bars on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext


class Bar:
    """Progress of one job after the other; calling it begins the next one. This one is silent."""

    def __call__(self, text: str) -> None:
        """Begin the next job, whose length is not known yet; the one before is done."""

    def count(self, done: int, total: int) -> None:
        """How much of the present job is done."""


def progress(start: str) -> AbstractContextManager[Bar]:
    """Progress bars on a terminal's standard error, one for each job; silent elsewhere. Yields what they receive."""
    if not sys.stderr.isatty():
        return nullcontext(Bar())
    from evaluator.cli.bars import drawn  # here, because what is piped needs no drawing library

    return drawn(start)
