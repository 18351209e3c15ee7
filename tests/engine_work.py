"""What the tests of the engine do in its processes, which import this file and neither pytest nor Hypothesis."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


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
