"""Why findings cannot be read or kept: one typed problem, in words that state what a reviewer can do.

Made from what SQLite, PostgreSQL and SQLAlchemy raise. Addresses are shown without password, files by name only.
"""

from __future__ import annotations

import errno
import sqlite3
from typing import Final, Literal

from evaluator.data.issues import plain

ProblemKind = Literal[
    "read_only", "full", "busy", "corrupt", "left_log", "newer_schema", "foreign", "unreachable", "driver", "unusable"
]

# Title, text, fix; "{store}" is the name of the file or database, "{detail}" what the kind leaves open.
_SENTENCES: Final[dict[ProblemKind, tuple[str, str, str]]] = {
    "read_only": (
        "Findings cannot be written",
        "{store} or its folder does not allow writing, so nothing new is kept. {detail}",
        "Make it writable, or start with --findings and a place where you may write.",
    ),
    "full": (
        "No room for findings",
        "The disk or quota under {store} took no more, so the last finding was not kept. Older ones are safe. {detail}",
        "Make room and save again; the text stays on screen until then.",
    ),
    "busy": (
        "Findings are busy",
        "{store} was in use by others for too long. {detail}",
        "The dashboard tries again by itself. If this persists, a copy or a backup may hold the file open.",
    ),
    "corrupt": (
        "The findings file is damaged",
        "{store} cannot be read as a database. It was left as it is, and nothing is written to it. {detail}",
        "Put a backup in its place; or move it away and start again, and import an exported file of findings.",
    ),
    "left_log": (
        "Two states of the findings",
        "{store} was put in the place of another file, whose log {store}-wal was left and has other findings. Nothing "
        "is shown or kept until one of them is chosen. {detail}",
        "Move {store}-wal and {store}-shm away to use the file as it is, or put back the file of that log.",
    ),
    "newer_schema": (
        "Findings of a newer LayoutScope",
        "{store} was written by a newer version, which this one does not understand. {detail}",
        "Update LayoutScope, or choose another place with --findings.",
    ),
    "foreign": (
        "Not a file of findings",
        "{store} is a database of another program. It was left as it is. {detail}",
        "Choose another place with --findings.",
    ),
    "unreachable": (
        "The findings database does not answer",
        "{store} could not be reached. {detail}",
        "Check the address, the network and that the database runs; then save again.",
    ),
    "driver": (
        "A database driver is missing",
        "There is no driver for {store}. {detail}",
        'For PostgreSQL run uv pip install -e ".[postgres]" in the clone and write postgresql+psycopg://…',
    ),
    "unusable": (
        "The address of the findings is not usable",
        "{store} is no path and no database address. {detail}",
        "Give a file name, or an address such as postgresql+psycopg://user@host/name.",
    ),
}


class StoreProblem(Exception):
    """Why findings cannot be read or kept, as sentences with control characters escaped.

    `store` is the name of the file or database without password and folders; `detail` is what the sentence of this kind
    leaves open.
    """

    def __init__(self, kind: ProblemKind, *, store: str, detail: str = "") -> None:
        self.kind: ProblemKind = kind
        self.title, self.text, self.fix = (
            sentence.format(store=plain(store), detail=plain(detail)).strip() for sentence in _SENTENCES[kind]
        )
        super().__init__(f"{self.title}. {self.text} {self.fix}")


def problem_of(raised: Exception, store: str) -> StoreProblem:
    """Return the problem behind what SQLAlchemy, a driver or the system raised, else ``unreachable``."""
    # A view without findings names their problems and needs no database.
    from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
    from sqlalchemy.exc import TimeoutError as PoolTimeoutError

    if isinstance(raised, OSError):
        kind: ProblemKind = "full" if raised.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "read_only"
        return StoreProblem(kind, store=store, detail=_sentence(raised.strerror or ""))
    if isinstance(raised, NoSuchModuleError):
        return StoreProblem("driver", store=store)
    if isinstance(raised, ArgumentError):
        return StoreProblem("unusable", store=store)
    if isinstance(raised, PoolTimeoutError):
        return StoreProblem("busy", store=store)
    original: BaseException | None = raised.orig if isinstance(raised, DBAPIError) else raised
    if isinstance(original, sqlite3.Error):
        return StoreProblem(_sqlite_kind(original), store=store, detail=_sentence(str(original)))
    state = getattr(original, "sqlstate", None)
    if isinstance(state, str):
        return StoreProblem(_sql_state_kind(state), store=store, detail=_sentence(_first_line(original)))
    return StoreProblem("unreachable", store=store, detail=_sentence(_first_line(original)))


def _sqlite_kind(raised: sqlite3.Error) -> ProblemKind:
    name = getattr(raised, "sqlite_errorname", "")
    # A write that fails for another reason than a full disk is one over a quota or size limit.
    if name in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_SHMSIZE"):
        return "full"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")):
        return "busy"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or isinstance(raised, sqlite3.IntegrityError):
        return "corrupt"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return "read_only"
    # Reading what a table should have and does not: a file of ours that somebody changed.
    return "corrupt" if name in ("SQLITE_ERROR", "SQLITE_MISMATCH") else "unreachable"


def _sql_state_kind(state: str) -> ProblemKind:
    """Return the kind of an error of PostgreSQL, by SQLSTATE (PostgreSQL manual, appendix A)."""
    if state.startswith("53"):
        return "busy" if state == "53300" else "full"
    if state in ("25006", "42501"):
        return "read_only"
    if state in ("55P03", "57014", "40001", "40P01"):
        return "busy"
    if state.startswith("XX") or state in ("42P01", "42703"):
        return "corrupt"
    return "unreachable"


def _first_line(raised: BaseException | None) -> str:
    """Return the first line of what a driver says; the others repeat the statement or give hints."""
    return str(raised).strip().split("\n", 1)[0][:200]


def _sentence(text: str) -> str:
    return f"The database reports: {text.rstrip('.')}." if text else ""
