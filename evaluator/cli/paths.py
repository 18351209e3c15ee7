"""Checks of ``--out`` before anything is read: never over what a command reads or foreign files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from evaluator.cli.program import UsageError
from evaluator.data.issues import count_of, plain, refuse
from evaluator.pdf.folder import IMAGE_SUFFIXES
from evaluator.pdf.passwords import NONE, Passwords
from evaluator.review.store_address import store_file

PDFS: Final = "--pdfs"
"""The flag of the folder in which PDFs and images are looked up by name; all others name files to be read whole."""
_PAGES: Final = (".pdf", *IMAGE_SUFFIXES)
# No reader takes these for a file of a side, so that a pack may lie beside the files of a folder.
_NEVER_READ: Final = (".html", ".pdf")

PasswordFile = Annotated[
    Path | None,
    Parameter(help="File with the password of the PDFs: one for all, or lines of a name, a tab and its password."),
]
Read = Mapping[str, Path | Sequence[Path] | None]
"""What a command reads, by what names it: a flag, or the word of the command."""


def passwords_of(file: Path | None) -> Passwords:
    """Return the passwords of a file; none without one. UsageError for a file that is not there or holds none."""
    if file is None:
        return NONE
    try:
        return Passwords.read(file)
    except OSError as problem:
        reason = plain(problem.strerror or str(problem))
        name = plain(file.name or str(file))
        raise UsageError(f"--password-file: {name} must be readable; found {reason}. Check the name.") from problem
    except ValueError as problem:
        raise UsageError(f"--password-file: {problem}") from problem


def need_apart(written: Iterable[Path], read: Read) -> None:
    """Refuse to write where something is read: `BadInput` with the first path that is both.

    `written` are files, and folders that are replaced or filled; they need not exist. A folder is read whole: nothing
    is written among its files. In the folder of `PDFS` no PDF and no image is written over.
    """
    sources = [
        (named, path) for named, paths in read.items() for path in ([paths] if isinstance(paths, Path) else paths or ())
    ]
    for out in written:
        for named, source in sources:
            if _is_read(out, source, pages_only=named == PDFS):
                rule = "a source file is never written to"
                refuse(out.name, "", rule, f"what {named} reads", "Choose another --out.")


def need_free(out: Path, *, force: bool) -> None:
    """Refuse to write over what exists, unless it is asked for."""
    if out.exists() and not force:
        raise UsageError(f"{plain(out.name)} exists; choose another --out, or overwrite it with --force.")


def need_no_foreign(out: Path, foreign: Sequence[str], rule: str) -> None:
    """Refuse a folder with files, by their names in it, that the command never wrote and would replace."""
    if foreign:
        more = f" and {count_of(len(foreign) - 1, 'other file')}" if len(foreign) > 1 else ""
        refuse(out.resolve().name, "", rule, f"{foreign[0]}{more}", "Choose another --out, or move what is in it.")


def store_files(address: str | None) -> list[Path]:
    """Return the files of a store: the database and those SQLite keeps beside it; none of a server."""
    path = None if address is None else store_file(address)
    return [] if path is None else [path, *(path.with_name(path.name + more) for more in ("-wal", "-shm"))]


def need_store(address: str, *, must_exist: bool = True) -> None:
    """Refuse a folder and, when a store must exist, a missing or empty file; servers are asked later."""
    path = store_file(address)
    if path is None:
        return
    name = plain(path.name or str(path))
    if path.is_dir():
        raise UsageError(f"--findings must name a file; {name} is a folder. Name the file of the store.")
    if must_exist and not path.exists():
        raise UsageError(f"there are no findings at {name}; check the spelling of --findings.")
    if must_exist and path.stat().st_size == 0:
        raise UsageError(f"{name} is an empty file, which holds no findings; check the spelling of --findings.")


def _is_read(out: Path, source: Path, *, pages_only: bool) -> bool:
    """Return whether a written path is read, holds what is read, or is among a folder's read files."""
    place, read = (Path(os.path.realpath(path)) for path in (out, source))
    if place == read or place in read.parents or (out.exists() and source.exists() and out.samefile(source)):
        return True
    if not source.is_dir():
        return False
    if pages_only:
        return read in place.parents and out.suffix.lower() in _PAGES and out.exists()
    return place.parent == read and out.suffix.lower() not in _NEVER_READ
