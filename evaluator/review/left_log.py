"""A log of SQLite (``-wal``) that lies beside a file to which it does not belong: a backup put in the place of another.

SQLite tells no log from another, and would write the later events of the other file into the backup, or pages that do
not fit. A log that a killed process left is later than its file; one of a file that was replaced is earlier.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote as url_quote

from evaluator.review.problems import StoreProblem

_Events: TypeAlias = list[tuple[int, str]]


def require_own_log(path: Path) -> None:
    """Refuse a file with a log that would change what is in it, `StoreProblem` ``left_log``, before SQLite opens it.

    It passes where both say the same: a process was killed after it had brought its log into the file.
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        before = _state(path), _state(log)
        if before[0][0] <= before[1][0] or not before[1][1]:
            return
        alone = _events(f"file:{url_quote(str(path.absolute()))}?mode=ro&immutable=1")
        if alone is None:
            # It was killed while it did so, and the log has the rest.
            return
        with tempfile.TemporaryDirectory(prefix="layoutscope-", ignore_cleanup_errors=True) as folder:
            for file in (path, log):
                shutil.copyfile(file, Path(folder, file.name))
            both = _events(f"file:{url_quote(str(Path(folder, path.name)))}?mode=rw")
        # Who uses it now changes it.
        if both != alone and before == (_state(path), _state(log)):
            raise StoreProblem("left_log", store=path.name)
    except (FileNotFoundError, NotADirectoryError):
        return


def _state(path: Path) -> tuple[int, int, int]:
    """Return when a file changed, its bytes and which file it is; a copy may keep the time of its original."""
    status = path.stat()
    return max(status.st_mtime_ns, status.st_ctime_ns), status.st_size, status.st_ino


def _events(address: str) -> _Events | None:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        events: _Events = connection.execute("SELECT seq, id FROM layoutscope_event ORDER BY seq").fetchall()
        last = connection.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'layoutscope_event'").fetchone()[0]
        whole = connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
        return events if whole and (last or 0) == (events[-1][0] if events else 0) else None
    return None
