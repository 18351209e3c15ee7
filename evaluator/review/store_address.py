"""The default place of findings: next to the ground truth, else in the state folder of the user."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE_NAME: Final = "layoutscope-findings.sqlite"
FINDINGS_VARIABLE: Final = "LAYOUTSCOPE_FINDINGS"
"""Environment variable with a path or database address; the option ``--findings`` comes before it."""
FINDINGS_WORKSPACE_VARIABLE: Final = "LAYOUTSCOPE_FINDINGS_WORKSPACE"
"""Environment variable with the name of the project in a database that several projects share."""


def store_address(
    ground_truth: Path | None,
    *,
    named: str | None = None,
    environment: Mapping[str, str],
    reader_folder: str = "",
) -> str:
    """Return the address of the findings of a session: a path or a database address.

    `named` (``--findings``), then the variable of `environment`, then `FILE_NAME` next to the ground truth file or
    folder; without one in `state_folder`, there in the folder of the reader. A read-only place is reported by the
    store.
    """
    given = named or environment.get(FINDINGS_VARIABLE)
    if given:
        return given
    if ground_truth is None:
        return str(state_folder() / reader_folder / FILE_NAME)
    return str(ground_truth.resolve().parent / FILE_NAME)


def in_home(path: str | Path) -> Path:
    """Return a path with ``~`` as the home folder; as it is written where there is no such user.

    >>> in_home("~no such user/notes.sqlite").parts[0]
    '~no such user'
    """
    return Path(os.path.expanduser(path))


def store_file(address: str) -> Path | None:
    """Return the file of a store by its address; None for a database on a server.

    >>> store_file("notes.sqlite"), store_file("postgresql+psycopg://host/base")
    (PosixPath('notes.sqlite'), None)
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return in_home(address)
    if scheme.partition("+")[0] != "sqlite":
        return None
    return Path(rest.partition("/")[2].partition("?")[0])


def stored_bytes(path: Path) -> int:
    """Return the bytes of a file, 0 for none."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def holds_nothing(address: str) -> bool:
    """Return whether a store is a file that is empty or not there, so that nothing has to be opened to read it."""
    try:
        return (file := store_file(address)) is not None and not stored_bytes(file)
    except OSError:
        return False


def state_folder() -> Path:
    """Return the folder of this user for what a program keeps between two runs; it need not exist.

    ``$XDG_STATE_HOME/layoutscope`` or ``~/.local/state/layoutscope``, the application support folder of macOS,
    ``%LOCALAPPDATA%`` of Windows.
    """
    from platformdirs import user_state_path

    if sys.platform == "darwin":  # also where XDG_STATE_HOME is set: what was saved lies there
        return Path.home() / "Library" / "Application Support" / "LayoutScope"
    return user_state_path("LayoutScope" if sys.platform == "win32" else "layoutscope", appauthor=False)
