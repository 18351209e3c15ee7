"""How a process that reads documents is started, and files handed over open: it never learns or opens a path.

Owns its command, its environment, and the channel for open files, a pair of sockets beside the pipes of messages.
Windows has no such thing; there the path goes over in the message.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

_SECONDS: Final = 5.0
# What Python needs to start, and nothing secret that may be beside it.
_ENVIRONMENT: Final = (
    "PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "PYTHONHOME", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip
_ROOT: Final = Path(__file__).resolve().parents[2]


def python_module(name: str) -> list[str]:
    """The command that runs one of our modules; neither the current folder nor the documents' is searched."""
    return [sys.executable, "-P", "-m", name]


def little_environment() -> dict[str, str]:
    """The environment of a process that reads documents; it empties even this before the first one."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    places = (str(_ROOT), os.environ.get("PYTHONPATH", ""))
    environment["PYTHONPATH"] = os.pathsep.join(place for place in places if place)
    return environment


class Handing:
    """The app's end of a channel; made before the process, which gets `words` as arguments and keeps `kept` open."""

    def __init__(self) -> None:
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        if sys.platform != "win32":
            self._ours, self._theirs = socket.socketpair()
            # A process that takes nothing must not hold its asker.
            self._ours.settimeout(_SECONDS)

    @property
    def open(self) -> bool:
        """Whether files are handed over; else their paths are sent."""
        return self._ours is not None

    @property
    def kept(self) -> tuple[int, ...]:
        """What the new process keeps open."""
        return () if self._theirs is None else (self._theirs.fileno(),)

    @property
    def words(self) -> list[str]:
        """Arguments of its command."""
        return [str(number) for number in self.kept]

    def started(self) -> None:
        """The process runs and has its end."""
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None

    def hand(self, file: IO[bytes]) -> None:
        """Hand one file over; OSError when the process has gone or takes none."""
        if self._ours is not None:
            socket.send_fds(self._ours, [b"f"], [file.fileno()])

    def close(self) -> None:
        """Close what is open of the channel."""
        self.started()
        if self._ours is not None:
            self._ours.close()


class Taking:
    """The reading process's end, from its arguments; it holds what one request handed over."""

    def __init__(self, words: list[str]) -> None:
        self._socket = socket.socket(fileno=int(words[0])) if words else None

    @contextlib.contextmanager
    def file(self) -> Iterator[int | None]:
        """Number of the next file, open for the block; None where paths are sent. OSError when none comes."""
        if self._socket is None:
            yield None
            return
        _, numbers, _, _ = socket.recv_fds(self._socket, 1, 1)
        if not numbers:
            raise OSError("no file was handed over")
        try:
            yield numbers[0]
        finally:
            os.close(numbers[0])
