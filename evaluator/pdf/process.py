"""A process that reads documents, as the app has it: started with little, asked by messages, handed files, killed.

Files go over open, so that the process never learns or opens a path; Windows cannot do that, there the path is sent.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evaluator.pdf.worker import open_regular, read_frame, write_frame

_HANDING_SECONDS: Final = 5.0
_LOOK_IF_SLOW: Final = 0.1
# What Python needs to start, and nothing secret that may be beside it.
_ENVIRONMENT: Final = (
    "PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "PYTHONHOME", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip
_ROOT: Final = Path(__file__).resolve().parents[2]


class ProcessLost(Exception):
    """The process ended by itself, or said something that it must not say."""


class ProcessTimeout(Exception):
    """The process was ended at its limit: of the processor, by the system, or of the clock."""


def python_module(name: str) -> list[str]:
    """Return the command that runs one of our modules; neither the current folder nor the documents' is searched."""
    return [sys.executable, "-P", "-m", name]


def minimal_environment() -> dict[str, str]:
    """Return the environment of a process that reads documents; it empties even this before the first one."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    places = (str(_ROOT), os.environ.get("PYTHONPATH", ""))
    environment["PYTHONPATH"] = os.pathsep.join(place for place in places if place)
    return environment


class Process:
    """One process of a module of ours that answers messages; used by one thread at a time, but killed from any."""

    def __init__(self, module: str, *, reply_bytes: int) -> None:
        ours, theirs = socket.socketpair() if sys.platform != "win32" else (None, None)
        self._files = ours
        kept = () if theirs is None else (theirs.fileno(),)
        try:
            # A session of its own, so that a child that a hostile page managed to start dies with it.
            self.process = subprocess.Popen(
                [*python_module(module), *map(str, kept)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Never read: when this end closes, because this process has died, the other one dies too.
                stderr=subprocess.PIPE,
                env=minimal_environment(),
                pass_fds=kept,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except BaseException:
            if ours is not None:
                ours.close()
            raise
        finally:
            if theirs is not None:
                theirs.close()
        if ours is not None:
            # A process that takes nothing must not hold its asker.
            ours.settimeout(_HANDING_SECONDS)
        self._messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()
        # Pipes cannot be waited for with a limit on Windows: a thread waits for them, and whoever asks for the thread.
        threading.Thread(target=self._talk, args=(reply_bytes,), daemon=True, name="answers of a process").start()

    def hand(self, path: str | bytes) -> bool:
        """Hand a file over, open; False where its path has to be sent. OSError when it cannot be opened."""
        if self._files is None:
            return False
        with open_regular(path) as file:
            try:
                socket.send_fds(self._files, [b"f"], [file.fileno()])
            except OSError as problem:
                raise ProcessLost(str(problem)) from problem
        return True

    def exchange(
        self,
        message: bytes,
        *,
        seconds: float,
        slow_after: float = math.inf,
        slow_by_clock: float = math.inf,
        when_slow: Callable[[], object] = lambda: None,
    ) -> bytes:
        """Return the answer to a message, or the next one where that is empty.

        `ProcessLost` or `ProcessTimeout` with the process ended. `when_slow` is called once when the answer took so
        much of the processor, or so long by the clock.
        """
        begun, used = time.monotonic(), self.processor_seconds()
        self._messages.put(message)
        slow, wait = False, min(slow_after, slow_by_clock, seconds)
        while True:
            with contextlib.suppress(queue.Empty):
                answer = self._answers.get(timeout=wait)
                break
            clock = time.monotonic() - begun
            if clock >= seconds:
                self.kill()
                raise ProcessTimeout(f"{seconds:g} s")
            if not slow and (clock >= slow_by_clock or self.processor_seconds() - used >= slow_after):
                slow = True
                when_slow()
            wait = seconds - clock if slow else min(_LOOK_IF_SLOW, seconds - clock)
        if isinstance(answer, bytes):
            return answer
        self.kill()
        if sys.platform != "win32" and self.process.wait() == -signal.SIGXCPU:
            raise ProcessTimeout
        raise ProcessLost(str(answer)) from answer

    def _talk(self, reply_bytes: int) -> None:
        """Write messages and read their answers, until there is nobody to ask or nothing more is to be said."""
        sink, source = self.process.stdin, self.process.stdout
        assert sink is not None
        assert source is not None
        while (message := self._messages.get()) is not None:
            try:
                if message:
                    write_frame(sink, message)
                answer = read_frame(source, limit=reply_bytes)
            except (OSError, ValueError) as problem:
                self._answers.put(problem)
                return
            self._answers.put(EOFError("It ended.") if answer is None else answer)

    def processor_seconds(self) -> float:
        """Return what the process has taken of the processor; the time of the clock where the system does not say."""
        try:
            return time.clock_gettime(~self.process.pid << 3 | 2)  # as clock_getcpuclockid(3) makes it on Linux
        except (AttributeError, OSError):
            return time.monotonic()

    def kill(self) -> None:
        """End the process and whatever it started; harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32" and self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def discard(self) -> None:
        """Kill, reap and close: nothing of the process is left."""
        self.kill()
        self.process.wait()
        self._messages.put(None)
        for end in (self._files, self.process.stdin, self.process.stdout, self.process.stderr):
            # Closing flushes into the dead process's pipe.
            with contextlib.suppress(OSError):
                if end is not None:
                    end.close()
