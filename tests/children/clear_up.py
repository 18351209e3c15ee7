"""Wait until a run of the tests is over, however it ended, then end each process that it left and remove its folder.

    python clear_up.py FOLDER PROCESS, whose standard input the run holds open

What belongs to a run has its folder in its environment: all that its processes start has it from them.
Needs Linux for the processes; elsewhere the folder goes.
"""

import contextlib
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path

PROCESSES = Path("/proc")


def belongs(process: Path, folder: Path) -> bool:
    """Whether a process of /proc that has not ended is one of the run."""
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:
        # It has ended, or is somebody else's.
        return False
    # A process that reads documents is given the second alone.
    return not {os.fsencode(f"LAYOUTSCOPE_TEST_RUN={folder}"), os.fsencode(f"TMPDIR={folder}/tmp")}.isdisjoint(
        variables
    )


def left(folder: Path) -> list[int]:
    """The processes of a run."""
    if not PROCESSES.is_dir():
        return []
    numbers = [entry for entry in PROCESSES.iterdir() if entry.name.isdigit()]
    return [int(entry.name) for entry in numbers if belongs(entry, folder)]


def main(folder: Path, run: int) -> None:
    """Wait, end and remove."""
    waited = [sys.stdin]
    if hasattr(os, "pidfd_open"):
        # A copy of the run that lives on holds its end of the pipe open too.
        waited.append(os.pidfd_open(run))
    select.select(waited, [], [])
    while remaining := left(folder):
        for process in remaining:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
