"""The default place of findings: beside the ground truth, or in the user's own folder.

Owns the rule and nothing else; no file is made here. Verdicts belong to the data, so they lie beside it and travel
with it. The bundled sample and uploaded files have no such place: theirs is the folder that the system gives each user
for the state of programs.
"""

from __future__ import annotations

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
    ground_truth: Path | None, *, named: str | None = None, environment: Mapping[str, str], bundled: Path | None = None
) -> str:
    """The address of the findings of a session.

    Parameters
    ----------
    ground_truth : Path or None
        The open file or folder; None for uploaded bytes and for no ground truth.
    named : str, optional
        The value of ``--findings``: a path or a database address.
    environment : mapping of str
        ``os.environ`` of the caller.
    bundled : Path, optional
        The folder of the sample data, which is never written to.

    Returns
    -------
    str
        For a ground truth file, `FILE_NAME` in its folder; for a folder of files, beside that folder, where no reader
        takes it for one of them. When that place is read-only the store reports it; no other place is chosen silently.
    """
    given = named or environment.get(FINDINGS_VARIABLE)
    if given:
        return given
    if ground_truth is None or (bundled is not None and ground_truth.resolve().is_relative_to(bundled.resolve())):
        return str(state_folder() / FILE_NAME)
    return str(ground_truth.resolve().parent / FILE_NAME)


def store_file(address: str) -> Path | None:
    """The file of a store by its address; None for a database on a server.

    Examples
    --------
    >>> store_file("notes.sqlite"), store_file("postgresql+psycopg://host/base")
    (PosixPath('notes.sqlite'), None)
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return Path(address).expanduser()
    if scheme.partition("+")[0] != "sqlite":
        return None
    return Path(rest.partition("/")[2].partition("?")[0])


def state_folder() -> Path:
    """The folder of this user for what a program keeps between two runs; it need not exist.

    ``$XDG_STATE_HOME/layoutscope`` or ``~/.local/state/layoutscope``, the application support folder of macOS,
    ``%LOCALAPPDATA%`` of Windows.
    """
    from platformdirs import user_state_path

    if sys.platform == "darwin":  # also where XDG_STATE_HOME is set: what was saved lies there
        return Path.home() / "Library" / "Application Support" / "LayoutScope"
    return user_state_path("LayoutScope" if sys.platform == "win32" else "layoutscope", appauthor=False)
