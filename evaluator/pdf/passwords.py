"""Passwords of PDFs, from a file or from the reader of the dashboard: in memory alone, and never in what is shown.

They go to the processes that read and write PDFs in messages, never in an argument, a log or a file.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final

FILE_VARIABLE: Final = "LAYOUTSCOPE_PASSWORD_FILE"
"""Where the dashboard finds the path of the file of passwords, which it reads itself."""
_MOST_BYTES: Final = 1 << 20
_TRAILER_BYTES: Final = 1 << 14
_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


class Passwords:
    """Passwords by the file name of a PDF, with or without .pdf, and one for all others; empty for none."""

    __slots__ = ("_by_name", "_for_all")

    def __init__(self, for_all: str = "", by_name: Mapping[str, str] = _NO_NAMES) -> None:
        self._for_all, self._by_name = for_all, dict(by_name)

    def of(self, path: Path) -> str:
        """Return the password of a PDF; empty for none."""
        return self._by_name.get(path.name) or self._by_name.get(path.stem) or self._for_all

    def having(self, by_name: Mapping[str, str]) -> Passwords:
        """Return these passwords with others by name, which go first."""
        return Passwords(self._for_all, {**self._by_name, **by_name})

    @classmethod
    def read(cls, path: Path) -> Passwords:
        """Return those of a file: one password for all, or lines of a name, a tab and a password.

        ValueError with one sentence, which never has a password, for what is neither; OSError when it cannot be read.
        """
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1).removeprefix(codecs.BOM_UTF8)
        try:
            # Not `splitlines`, to which a form feed and others are ends of lines too.
            lines = [line for each in content.decode().split("\n") if (line := each.removesuffix("\r"))]
        except UnicodeDecodeError as problem:
            raise ValueError("the file must be UTF-8 text.") from problem
        if len(content) > _MOST_BYTES or not lines:
            raise ValueError(f"the file must hold a password, and at most {_MOST_BYTES:,} bytes.")
        pairs = [line.partition("\t") for line in lines]
        if len(lines) == 1 and not pairs[0][1]:
            return cls(lines[0])
        for number, (name, tab, password) in enumerate(pairs, start=1):
            if not (name.strip() and tab and password):
                raise ValueError(
                    "the file must hold one password, or lines of a name, a tab and a password; line "
                    f"{number:,} has no name, tab or password."
                )
        return cls("", {name.strip(): password for name, _, password in pairs})


def states_encryption(file: IO[bytes]) -> bool:
    """Return whether a PDF says in its last trailer that it is encrypted, with a password for the reader or not."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _TRAILER_BYTES))
    tail = file.read(_TRAILER_BYTES)
    if b"/Encrypt" in tail:
        return True
    # The trailer may be before the objects, or the dictionary of a stream.
    starts = re.findall(rb"startxref\s+(\d{1,12})", tail)
    if not starts or int(starts[-1]) >= end:
        return False
    file.seek(int(starts[-1]))
    return b"/Encrypt" in file.read(_TRAILER_BYTES)


NONE: Final = Passwords()
_in_force: Final[ContextVar[Passwords]] = ContextVar("_in_force", default=NONE)


def in_force() -> Passwords:
    """Return the passwords with which PDFs are opened here unless others are given."""
    return _in_force.get()


@contextlib.contextmanager
def opening_with(passwords: Passwords) -> Iterator[None]:
    """Open PDFs with some passwords: those that a `PagePool` made inside is asked for."""
    token = _in_force.set(passwords)
    try:
        yield
    finally:
        _in_force.reset(token)
