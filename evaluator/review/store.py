"""Where findings are kept: an SQLite file, or any database that SQLAlchemy reaches.

Owns the database: what `Store.add` returned from is on disk, events are only ever added, and every failure is one
typed `StoreProblem`. SQLite runs in WAL mode with synchronous FULL, and a writer asks for its lock at once, so that
twenty writers wait, each process in its turn (`system.turns`), and none fails half-way. On PostgreSQL an advisory
lock gives turns: rows then appear in the order of their numbers, and reading "everything after row n" misses nothing.

Nothing is created before the first event. A damaged file is never written to.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import monotonic, monotonic_ns, sleep
from typing import Any, Final, NamedTuple
from urllib.parse import quote as url_quote

import msgspec
from sqlalchemy import URL, Connection, Engine, Row, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DisconnectionError, SQLAlchemyError

from evaluator.review import schema
from evaluator.review.problems import StoreProblem, problem_of
from evaluator.review.verdicts import Event, ReviewLog, Target, checked
from evaluator.system.turns import turn

BUSY_SECONDS: Final = 10
# A turn that takes longer is somebody's who is stuck; the database's own lock then decides.
_TURN_SECONDS: Final = 3
_CONNECT_SECONDS: Final = 10
# Asked for in one message where that can be, as others may wait for this writer. "LSfi": who holds that lock may write
# findings; a commit is synchronous also where the server's own setting trades safety for speed.
_POSTGRES_TURN: Final = (
    f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'",
    "SET LOCAL synchronous_commit = on",
    f"SELECT pg_advisory_xact_lock({0x4C536669})",
)
# Held by the one who makes the tables; whoever finds none meanwhile waits for it beside the others, not after them.
_LAYOUT_KEY: Final = 0x4C53666C
_WRITES: Final = "layoutscope_writes"
_FILE: Final = "layoutscope_file"
# The driver's own errors come from what is asked of it past SQLAlchemy.
_RAISED: Final = (SQLAlchemyError, sqlite3.Error, OSError)

# Text, because building and compiling a statement takes longer than the database needs to run it; written out, so that
# nothing is ever put into it but by parameters. A test compares it with the columns of the schema.
# An event whose id is there already is not kept again. The id has two names, because PostgreSQL wants one type of each.
_KEEP_NEW: Final = text(
    "INSERT INTO layoutscope_event (id, workspace, target, kind, snapshot, action, verdict, note, tags, author, "
    "verified, time, source, owner, due, status) SELECT :id, :workspace, :target, :kind, :snapshot, :action, :verdict, "
    ":note, :tags, :author, :verified, :time, :source, :owner, :due, :status "
    "WHERE NOT EXISTS (SELECT 1 FROM layoutscope_event WHERE id = :same_id)"
)
_READ: Final = text("SELECT * FROM layoutscope_event WHERE workspace = :workspace AND seq > :after ORDER BY seq")


class _Kept(NamedTuple):
    """What was read of a workspace: the file it came from, its last row, the events and their log."""

    file: object
    last: int
    events: tuple[Event, ...]
    log: ReviewLog


class Store:
    """The findings of one or more workspaces.

    Parameters
    ----------
    address : str or Path
        A path of an SQLite file, which may not exist yet, or a database address (``postgresql+psycopg://…``).
        It comes from whoever starts the program, never from a data file.

    Raises
    ------
    StoreProblem
        ``driver`` or ``unusable``, for an address that can never work. All other problems come with the first use.

    Notes
    -----
    Safe to use from several threads; not to be carried over a fork.
    """

    def __init__(self, address: str | Path) -> None:
        self._path, url = _parsed(address)
        self.name: str = self._path.name if self._path else _shown(url)
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        # The file whose layout is known to be the present one.
        self._current_file: object = None
        try:
            self._engine = _engine(self._path, url)
        except ImportError as raised:
            raise StoreProblem("driver", store=self.name) from raised
        except SQLAlchemyError as raised:
            raise problem_of(raised, self.name) from raised
        # A store that nobody closed gives its connections back when it goes.
        weakref.finalize(self, self._engine.dispose)

    def add(self, events: Sequence[Event], workspace: str = "") -> None:
        """Keep events; when this returns they are on disk, when it raises `StoreProblem` none of them is kept.

        Parameters
        ----------
        events : sequence of Event
            One that is there already (by its id) is not added again.
        workspace : str
            Which of the projects in this database.
        """
        rows = [_row(event, workspace) for event in events]
        if not rows:
            return
        if self._current_file is None:
            # The first look at a file takes longest, so it is not left to the moment when others wait for this writer.
            self._look()
        if self._at_once and self._current_file is None:
            self._begin_at_server()
        if self._at_once and self._current_file is not None:
            self._add_at_once(rows)
            return
        statement, order = self._keeping
        parameters: Any = [tuple(row[name] for name in order) for row in rows] if order else rows
        # One writer of this process at a time: threads then queue fairly, where SQLite's own waiting is a lottery.
        with self._write_lock, self._writing() as connection:
            connection.exec_driver_sql(statement, parameters)

    def _add_at_once(self, rows: Sequence[dict[str, Any]]) -> None:
        """Keep rows in one message to a server, from the turn to the commit.

        Asked one by one, each answer of the server waits until this process runs again, and all others wait with it.
        """
        statement, _ = self._keeping
        try:
            with self._write_lock, self._engine.connect() as connection:
                # Past SQLAlchemy, which reads the answer to each statement before it sends the next.
                driver: Any = connection.connection.driver_connection
                with driver.pipeline():
                    for each in _POSTGRES_TURN:
                        driver.execute(each)
                    for row in rows:
                        driver.execute(statement, row)
                    driver.commit()
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error) as raised:
            raise problem_of(raised, self.name) from raised

    def _look(self) -> None:
        """Look at the store for the first time: its layout is known then, where it has one."""
        self._reading(lambda _connection: None, None)

    def _begin_at_server(self) -> None:
        """Have the tables in an empty database before a turn is taken: one writer makes them, all others wait at once.

        Each of twenty who begin together would otherwise look for them in a turn of its own.
        """
        try:
            with self._write_lock, self._engine.connect() as connection, connection.begin():
                connection.exec_driver_sql(_POSTGRES_TURN[0])
                if connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock({_LAYOUT_KEY})").scalar():
                    # Somebody may have made them between the look and this lock.
                    if self._version(connection) == 0:
                        connection.exec_driver_sql("; ".join(_POSTGRES_TURN))
                        self._ensure_layout(connection)
                else:
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock_shared({_LAYOUT_KEY})")
        except SQLAlchemyError as raised:
            raise problem_of(raised, self.name) from raised
        self._look()

    @cached_property
    def _at_once(self) -> bool:
        """Whether the driver sends several statements before it reads an answer."""
        dialect = self._engine.dialect
        return dialect.driver == "psycopg" and bool(dialect.loaded_dbapi.Pipeline.is_supported())

    def log(self, workspace: str = "") -> ReviewLog:
        """All events of a workspace, arranged; only new rows are read. Raises `StoreProblem`.

        Returns
        -------
        ReviewLog
            The same object as long as nothing was added; empty when nothing was ever kept.
        """
        with self._lock:
            file = _identity(self._path)
            kept = self._kept.get(workspace)
            if kept is None or kept.file != file:
                kept = _Kept(file, 0, (), ReviewLog())
            rows = self._read(workspace, after=kept.last)
            if rows:
                events = (*kept.events, *(_event(row, self.name) for row in rows))
                kept = _Kept(file, rows[-1].seq, events, ReviewLog.of(events))
            self._kept[workspace] = kept
            return kept.log

    def events(self, workspace: str = "") -> list[Event]:
        """All events of a workspace in the order in which they were kept; raises `StoreProblem`."""
        return [_event(row, self.name) for row in self._read(workspace, after=0)]

    def check(self) -> None:
        """Read the whole file and say what is wrong with it; raises `StoreProblem`."""
        self._reading(lambda connection: _require_sound(connection, self.name), None)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back; the store can be used again afterwards."""
        self._engine.dispose()

    @cached_property
    def _keeping(self) -> tuple[str, Sequence[str]]:
        """The statement that keeps new events, and the order of its values; none where they go by name."""
        compiled = _KEEP_NEW.compile(dialect=self._engine.dialect)
        return compiled.string, compiled.positiontup or ()

    def _read(self, workspace: str, *, after: int) -> list[Row[Any]]:
        """Rows of a workspace after a number, by number."""
        wanted = {"workspace": workspace, "after": after}
        rows: list[Row[Any]] = self._reading(lambda connection: list(connection.execute(_READ, wanted)), [])
        return rows

    def _reading(self, ask: Callable[[Connection], Any], nothing: Any) -> Any:  # noqa: ANN401 - what `ask` gives
        """What a question answers; `nothing` from a store that was not begun."""
        try:
            if _identity(self._path) is None or (self._path is not None and not self._path.stat().st_size):
                # To open an empty file would begin a database in it.
                return nothing
            with self._engine.connect() as connection:
                if connection.info[_FILE] != self._current_file and not self._prepared(connection):
                    return nothing
                return ask(connection)
        except _RAISED as raised:
            raise problem_of(raised, self.name) from raised

    def _prepared(self, connection: Connection) -> bool:
        """Whether there is anything to read: an older layout is upgraded first, when writing is possible."""
        version = self._version(connection)
        _require_sound(connection, self.name)
        if version == 0:
            return False
        if version < schema.VERSION:
            connection.rollback()
            with self._write_lock, self._writing():
                pass
        self._current_file = connection.info[_FILE]
        return True

    def _version(self, connection: Connection) -> int:
        """The layout of the store; a `StoreProblem` for a newer one and for a database of another program."""
        version = schema.stored_version(connection)
        if version is None:
            # A server may be shared with other programs; a file is not.
            if connection.dialect.name == "sqlite":
                raise StoreProblem("foreign", store=self.name)
            version = 0
        if version > schema.VERSION:
            detail = f"It has layout {version}; this version knows {schema.VERSION}."
            raise StoreProblem("newer_schema", store=self.name, detail=detail)
        return version

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that may write, in a store of the present layout."""
        try:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            # The turn is the last thing waited for, and the first given back: others wait for what happens in it.
            with self._engine.connect() as connection, self._turn(), _begun(connection):
                file = connection.info[_FILE]
                if file != self._current_file:
                    self._ensure_layout(connection)
                yield connection
            self._current_file = file
            if _identity(self._path) != file:
                detail = "The file was moved or replaced while it was written."
                raise StoreProblem("unreachable", store=self.name, detail=detail)
        except _RAISED as raised:
            raise problem_of(raised, self.name) from raised

    def _turn(self) -> AbstractContextManager[object]:
        """The turn of this process among those that write beside it; a server keeps an order itself."""
        if self._path is None or not self._path.parent.is_dir():
            return nullcontext()
        return turn(self._path.parent, _TURN_SECONDS)

    def _ensure_layout(self, connection: Connection) -> None:
        """Create or upgrade the tables inside the transaction of a writer."""
        version = self._version(connection)
        if version == 0:
            schema.create(connection)
            return
        _require_sound(connection, self.name)
        schema.upgrade(connection, version)


def _parsed(address: str | Path) -> tuple[Path | None, URL]:
    """The file behind an address, if it is one, and the address for SQLAlchemy."""
    if isinstance(address, Path) or "://" not in address:
        path = Path(address).expanduser()
        return path, URL.create("sqlite", database=str(path))
    try:
        url = make_url(address)
    except ArgumentError as raised:
        raise StoreProblem("unusable", store="The address") from raised
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise StoreProblem("unusable", store="The address", detail="A database in memory keeps nothing.")
        return Path(url.database), url
    return None, url


def _shown(url: URL) -> str:
    """A database for messages: kind, host and name, never a user or password."""
    return f"{url.get_backend_name()} {url.host or 'local'}/{url.database or ''}"


def _engine(path: Path | None, url: URL) -> Engine:
    """The engine of a store, with the settings that make an acknowledged event a kept one."""
    if path is None:
        options: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS} if "psycopg" in url.drivername else {}
        engine = create_engine(url, pool_pre_ping=True, pool_timeout=BUSY_SECONDS, connect_args=options)
        event.listen(engine, "connect", lambda _connection, record: record.info.update({_FILE: _identity(None)}))
        return engine
    engine = create_engine(
        url,
        creator=lambda: _connected(path),
        pool_size=5,
        max_overflow=30,
        pool_timeout=BUSY_SECONDS,
    )
    event.listen(engine, "connect", lambda _connection, record: record.info.update({_FILE: _identity(path)}))
    event.listen(engine, "checkout", lambda _connection, record, _proxy: _require_same_file(record.info, path))
    event.listen(engine, "begin", _begin)
    return engine


def _identity(path: Path | None) -> object:
    """The file under the path of a store now: None for no file, always the same for a server."""
    if path is None:
        return "server"
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _require_same_file(info: dict[Any, Any], path: Path) -> None:
    """Let go of a connection whose file was deleted or replaced.

    An open file lives on when its name is deleted or given to another: what is written to it would be lost.
    """
    if info[_FILE] != _identity(path):
        raise DisconnectionError


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to a file, readable only where nothing may be written.

    The mode is part of the address, so that a file is never created by looking at it: only a writer that finds
    nothing begins one.
    """
    quoted = url_quote(str(path.absolute()))
    connection = _opened(quoted, "rwc")
    try:
        _use_log(connection)
    except sqlite3.OperationalError as raised:
        connection.close()
        if not _is_read_only(raised) or not path.exists():
            raise
        connection = _read_only(quoted, path)
    except sqlite3.Error:
        connection.close()
        raise
    connection.execute("PRAGMA synchronous = FULL")
    # Full on some systems leaves data in the drive's own cache without this.
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Turn WAL on, which changes the file: not in a database of another program, nor in what is no database.

    SQLite does not wait when two connections of a new file want this at once, so we do.
    """
    tables = _until_free(connection, "SELECT name FROM sqlite_master WHERE type = 'table'", pause=lambda: 0.01)
    names = {name for (name,) in tables}
    if not names or schema.version_table.name in names:
        _until_free(connection, "PRAGMA journal_mode = WAL", pause=lambda: 0.01)


def _until_free(connection: Any, statement: str, pause: Callable[[], float]) -> Any:  # noqa: ANN401 - of the driver
    """Run a statement again and again, with pauses in seconds, as long as the database is busy; its rows."""
    deadline = monotonic() + BUSY_SECONDS
    while True:
        try:
            return connection.execute(statement)
        except sqlite3.OperationalError as raised:
            if not raised.sqlite_errorname.startswith("SQLITE_BUSY") or monotonic() > deadline:
                raise
        sleep(pause())


def _read_only(quoted: str, path: Path) -> sqlite3.Connection:
    """A connection to a file that cannot be written.

    WAL needs a file beside the database even for reading. Where that cannot be made, the file is read as one that
    nobody changes, unless somebody has left a log: then its last events would be missing, which is worse than none.
    """
    connection = _opened(quoted, "ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.OperationalError:
        connection.close()
        wal = path.with_name(path.name + "-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        connection = _opened(quoted, "ro&immutable=1")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _opened(quoted: str, mode: str) -> sqlite3.Connection:
    """A raw connection that begins and ends transactions only on request."""
    return sqlite3.connect(
        f"file:{quoted}?mode={mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _is_read_only(raised: sqlite3.OperationalError) -> bool:
    """Whether SQLite could not write where it wanted to."""
    return raised.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"))


@contextmanager
def _begun(connection: Connection) -> Iterator[None]:
    """A transaction that holds the right to write from its start."""
    connection.execution_options(**{_WRITES: True})
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("; ".join(_POSTGRES_TURN))
        yield


def _begin(connection: Connection) -> None:
    """Begin a transaction of SQLite: a writer asks for its lock at once, so that it cannot fail later."""
    if connection.get_execution_options().get(_WRITES, False):
        _take_turn(connection.connection.driver_connection)
    else:
        connection.exec_driver_sql("BEGIN")


def _take_turn(connection: Any) -> None:  # noqa: ANN401 - the raw connection, which SQLAlchemy calls Any
    """Wait for the write lock by asking often.

    SQLite's own waiting sleeps longer and longer, up to a tenth of a second, so that who has waited longest asks
    least often: of twenty writers without pause some starved for ten seconds.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        # Not in step with the others.
        _until_free(connection, "BEGIN IMMEDIATE", pause=lambda: 0.0005 + (monotonic_ns() % 2_000_000) / 1e9)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")


def _require_sound(connection: Connection, name: str) -> None:
    """Refuse a file with pages that contradict each other: reading would go wrong later, in the middle."""
    if connection.dialect.name != "sqlite":
        return
    answer = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if answer != "ok":
        raise StoreProblem("corrupt", store=name, detail=f"The database reports: {str(answer).splitlines()[0]}.")


def _row(entry: Event, workspace: str) -> dict[str, Any]:
    """An event as a row."""
    return {
        "id": entry.id,
        "same_id": entry.id,
        "workspace": workspace,
        "target": entry.target_id,
        "kind": entry.target.kind,
        "snapshot": msgspec.json.encode(entry.target).decode(),
        "action": entry.action,
        "verdict": entry.verdict,
        "note": entry.note,
        "tags": msgspec.json.encode(entry.tags).decode(),
        "author": entry.author,
        "verified": entry.verified,
        "time": entry.stamp,
        "source": entry.source,
        "owner": entry.owner,
        "due": entry.due,
        "status": entry.status,
    }


def _event(row: Row[Any], name: str) -> Event:
    """A row as an event; a `StoreProblem` for one that was changed by other hands."""
    try:
        event = Event(
            id=row.id,
            target_id=row.target,
            target=msgspec.json.decode(row.snapshot, type=Target),
            action=row.action,
            verdict=row.verdict,
            note=row.note,
            tags=msgspec.json.decode(row.tags, type=tuple[str, ...]),
            author=row.author,
            verified=bool(row.verified),
            time=datetime.fromisoformat(row.time).astimezone(UTC),
            source=row.source,
            owner=row.owner,
            due=row.due,
            status=row.status,
        )
        return checked(event)
    except (msgspec.MsgspecError, ValueError, TypeError) as raised:
        raise StoreProblem("corrupt", store=name, detail=f"Event {row.seq}: {str(raised).rstrip('.')}.") from raised
