"""Where findings are kept: an SQLite file, or any database that SQLAlchemy reaches.

Owns the database: what `Store.add` returned from is on disk, events are only ever added, and every failure is one
typed `StoreProblem`. SQLite runs in WAL mode with synchronous FULL, and a writer asks for its lock at once, so that
writers wait for each other and none fails half-way. On PostgreSQL an advisory lock gives turns: rows then appear in
the order of their numbers, and reading "everything after row n" misses nothing.

Nothing is created before the first event. A damaged file is never written to.

A store is known by the last event that was seen in it. One without that event is another one, put in its place, and is
opened anew. No connection to a file stays open: between two uses it is one whole file, to be copied or replaced.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import Any, Final, NamedTuple, cast
from urllib.parse import quote as url_quote

import msgspec
from sqlalchemy import URL, Connection, Engine, NullPool, Row, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError

from evaluator.review import schema
from evaluator.review.left_log import require_own_log
from evaluator.review.meetings import ABSENT, Follower, Meeting, decode_thresholds
from evaluator.review.problems import StoreProblem, problem_of
from evaluator.review.store_address import in_home, stored_bytes
from evaluator.review.verdicts import Event, ReviewLog, check_event, decode_target, time_text
from evaluator.system.decoding import convert

BUSY_SECONDS: Final = 10
_CONNECT_SECONDS: Final = 10
# Seconds between two questions for the lock of SQLite, at first and for who has waited ten times as long.
_FIRST_PAUSE: Final = 0.01
_LEAST_PAUSE: Final = 0.001
# A file that changed so lately may change again without another time of change.
_UNSETTLED_NANOSECONDS: Final = 10**9
# "LSfi": who holds that lock may write findings; a commit is synchronous also where the server's own setting trades
# safety for speed.
_POSTGRES_TURN: Final = (
    "SELECT set_config('synchronous_commit', 'on', true), set_config('lock_timeout', :milliseconds, true), "
    f"pg_advisory_xact_lock({0x4C536669})"
)

# An event whose id is there already is not kept again. The id has two names, because PostgreSQL wants one type of each.
_KEEP_NEW: Final = text(
    "INSERT INTO layoutscope_event (id, workspace, target, kind, snapshot, action, verdict, note, tags, author, "
    "verified, time, source, owner, due, status) SELECT :id, :workspace, :target, :kind, :snapshot, :action, "
    ":verdict, :note, :tags, :author, :verified, :time, :source, :owner, :due, :status "
    "WHERE NOT EXISTS (SELECT 1 FROM layoutscope_event WHERE id = :same_id)"
)
# One message, so that nobody waits for a writer who does not get on: the turn, the events and the end of the turn. What
# the statement sees is as old as its beginning, but for the ids of events.
_KEEP_NEW_POSTGRES: Final = text(
    "WITH turn AS MATERIALIZED (" + _POSTGRES_TURN + ") "
    "INSERT INTO layoutscope_event (id, workspace, target, kind, snapshot, action, verdict, note, tags, author, "
    "verified, time, source, owner, due, status) SELECT id, workspace, target, kind, snapshot, action, verdict, note, "
    "tags, author, verified, time, source, owner, due, status "
    "FROM turn, json_populate_recordset(NULL::layoutscope_event, CAST(:rows AS json)) "
    "ON CONFLICT (id) DO NOTHING RETURNING seq, id"
)
# Columns that hold what an event has under the same name.
_PLAIN: Final = ("id", "action", "verdict", "note", "author", "source", "owner", "due", "status")
# Writers that began a store at the same time have each left a row.
_HAS: Final = text("SELECT max(version), (SELECT id FROM layoutscope_event WHERE seq = :seq) FROM layoutscope_version")
_LAST: Final = text("SELECT seq, id FROM layoutscope_event ORDER BY seq DESC LIMIT 1")
_MEETING: Final = text("SELECT * FROM layoutscope_meeting WHERE workspace = :workspace")
_MOVE: Final = text(
    "UPDATE layoutscope_meeting SET session = :session, presenter = :presenter, verified = :verified, files = :files, "
    "item = :item, example = :example, thresholds = :thresholds, number = :number, time = :time, open = :open "
    "WHERE workspace = :workspace"
)
_BEGIN: Final = text(
    "INSERT INTO layoutscope_meeting (workspace, session, presenter, verified, files, item, example, thresholds, "
    "number, time, open) VALUES (:workspace, :session, :presenter, :verified, :files, :item, :example, :thresholds, "
    ":number, :time, :open)"
)
_FOLLOWERS: Final = text("SELECT * FROM layoutscope_follower WHERE workspace = :workspace AND time > :since")
_LEAVE: Final = text("DELETE FROM layoutscope_follower WHERE session = :session OR time <= :since")
_FOLLOW: Final = text(
    "INSERT INTO layoutscope_follower (session, workspace, name, verified, time) "
    "VALUES (:session, :workspace, :name, :verified, :time)"
)
_READ: Final = text("SELECT * FROM layoutscope_event WHERE workspace = :workspace AND seq > :after ORDER BY seq")


class _Kept(NamedTuple):
    """What was read of a workspace: the state of its file before, its last row, the events and their log."""

    state: object
    last: int
    events: tuple[Event, ...]
    log: ReviewLog


class Store:
    """The findings of one or more workspaces.

    `address`: the path of an SQLite file, which may not exist yet, or a database address (``postgresql+psycopg://…``);
    from whoever starts the program, never from a data file. One that can never work is a `StoreProblem` ``driver`` or
    ``unusable``; all other problems come with the first use. One that others use is ``busy`` after `busy_seconds`. Safe
    for several threads; not to be carried over a fork.
    """

    def __init__(self, address: str | Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._busy = busy_seconds
        self._path, url = _parsed(address)
        self.name: str = self._path.name if self._path else _shown(url)
        self._lock = threading.RLock()
        self._write_lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self.replaced = 0
        """How often another store was found in the place of one in which events had been seen."""
        # Number and id of the last event that was seen, 0 and None in an empty store; None for a store not yet opened.
        self._seen: tuple[int, str | None] | None = None
        try:
            self._engine = _engine(self._path, url, self._busy)
            self._reader = self._engine if self._path is None else _engine(self._path, url, self._busy, reading=True)
        except ImportError as raised:
            raise StoreProblem("driver", store=self.name) from raised
        except SQLAlchemyError as raised:
            raise problem_of(raised, self.name) from raised
        # A store that nobody closed gives its connections back when it goes.
        weakref.finalize(self, self._engine.dispose)

    def add(self, events: Sequence[Event], workspace: str = "", *, busy_seconds: float | None = None) -> None:
        """Keep events; when this returns they are on disk, when it raises `StoreProblem` none of them is kept.

        One that is there already (by its id) is not added again. `workspace` is one of the projects in this database.
        `busy_seconds`: how long to wait for others, if not as long as the store does.
        """
        busy = self._busy if busy_seconds is None else busy_seconds
        rows = [_row(event, workspace) for event in events]
        if not rows:
            return
        # One writer of this process at a time: its threads then queue in order, where SQLite's waiting is a lottery.
        with self._turn(busy), self._problems():
            # The folder of a store that was there is gone with its disk.
            if self._path is not None and self._seen is None and not self.replaced:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._engine.connect() as connection:
                file = _identity(self._path)
                self._open(connection, begin=True)
                connection.rollback()
                if connection.dialect.name == "postgresql":
                    given = {"rows": msgspec.json.encode(rows).decode(), "milliseconds": _milliseconds(busy)}
                    last = max(connection.execute(_KEEP_NEW_POSTGRES, given), default=None)
                else:
                    with _writing(connection, busy):
                        connection.execute(_KEEP_NEW, rows)
                        last = connection.execute(_LAST).one()
                # An open file lives on when its name is deleted or given to another: what is written to it is lost.
                if _identity(self._path) != file:
                    detail = "The file was moved or replaced while it was written."
                    raise StoreProblem("unreachable", store=self.name, detail=detail)
            self._note(last)

    def log(self, workspace: str = "") -> ReviewLog:
        """Return all events of a workspace, arranged; only new rows are read. Raises `StoreProblem`.

        The same object as long as nothing was added; empty when nothing was ever kept.
        """
        with self._lock, self._problems():
            state = _settled(self._path)
            kept = self._kept.get(workspace)
            if kept is not None and state is not None and kept.state == state:
                return kept.log
            with self._reading() as connection:
                # What was kept of another store is gone now.
                kept = self._kept.get(workspace, _Kept(None, 0, (), ReviewLog()))
                rows = self._rows(connection, workspace, after=kept.last)
            events, log = kept.events, kept.log
            if rows:
                events = (*events, *(_event(row, self.name) for row in rows))
                log = ReviewLog.of(events)
                self._note(rows[-1])
            self._kept[workspace] = _Kept(state, rows[-1].seq if rows else kept.last, events, log)
            return log

    def events(self, workspace: str = "") -> list[Event]:
        """Return all events of a workspace in the order in which they were kept; raises `StoreProblem`."""
        with self._reading() as connection:
            rows = self._rows(connection, workspace, after=0)
        return [_event(row, self.name) for row in rows]

    def meeting(self, workspace: str = "") -> Meeting | None:
        """Return the meeting of a workspace, also one that has ended; None without any. Raises `StoreProblem`."""
        with self._reading() as connection:
            row = None if connection is None else connection.execute(_MEETING, {"workspace": workspace}).one_or_none()
        return None if row is None else _meeting(row, self.name)

    def present(self, meeting: Meeting, workspace: str = "") -> None:
        """Put a meeting in the place of the one of the workspace; raises `StoreProblem`."""
        given = msgspec.structs.asdict(meeting) | {
            "workspace": workspace,
            "thresholds": msgspec.json.encode(meeting.thresholds).decode(),
            "time": time_text(meeting.time),
        }
        with self._written() as connection:
            if not connection.execute(_MOVE, given).rowcount:
                connection.execute(_BEGIN, given)

    def followers(self, now: datetime, workspace: str = "") -> list[Follower]:
        """Return who follows the meeting of a workspace, by name; raises `StoreProblem`."""
        asked = {"workspace": workspace, "since": time_text(now - ABSENT)}
        with self._reading() as connection:
            rows = [] if connection is None else connection.execute(_FOLLOWERS, asked).all()
        return sorted((_follower(row, self.name) for row in rows), key=lambda each: (each.name, each.session))

    def follow(self, follower: Follower, workspace: str = "", *, leaves: bool = False) -> None:
        """Note that somebody follows, or `leaves`; raises `StoreProblem`."""
        time = time_text(follower.time)
        given = msgspec.structs.asdict(follower) | {"workspace": workspace, "time": time}
        with self._written() as connection:
            connection.execute(_LEAVE, {"session": follower.session, "since": time_text(follower.time - ABSENT)})
            if not leaves:
                connection.execute(_FOLLOW, given)

    @contextlib.contextmanager
    def _written(self) -> Iterator[Connection]:
        """Yield a connection to write what is no event, in one transaction; begins a store that is not there."""
        with self._turn(self._busy), self._problems():
            if self._path is not None and self._seen is None and not self.replaced:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._engine.connect() as connection:
                self._open(connection, begin=True)
                connection.rollback()
                with _writing(connection, self._busy):
                    yield connection

    def check(self) -> None:
        """Read the whole file and say what is wrong with it; raises `StoreProblem`."""
        with self._reading() as connection:
            if connection is not None:
                _require_sound(connection, self.name)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back; the store can be used again afterwards."""
        self._engine.dispose()

    @staticmethod
    def _rows(connection: Connection | None, workspace: str, *, after: int) -> Sequence[Row[Any]]:
        return [] if connection is None else connection.execute(_READ, {"workspace": workspace, "after": after}).all()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection | None]:
        """Yield a connection to a store, upgraded to the present layout; None to one that was not begun."""
        with self._problems():
            # To open an empty file would begin a database in it.
            if self._path is not None and not stored_bytes(self._path):
                self._forget()
                yield None
                return
            with self._reader.connect() as connection:
                yield connection if self._open(connection) else None

    def _open(self, connection: Connection, *, begin: bool = False) -> bool:
        """Return whether the store was begun; it is opened anew unless it has the last event that was seen in it."""
        with self._lock:
            if self._seen is not None and self._has(connection, *self._seen):
                return True
            self._forget()
            version = self._version(connection)
            if version == 0 and not begin:
                return False
            if version < schema.VERSION:
                connection.rollback()
                self._prepare(connection)
            self._seen = 0, None
            self._note(connection.execute(_LAST).one_or_none())
            return True

    def _has(self, connection: Connection, seq: int, event_id: str | None) -> bool:
        try:
            if connection.execute(_HAS, {"seq": seq}).one() == (schema.VERSION, event_id):
                return True
        except DBAPIError as raised:
            # The tables are gone, or it is damaged: to open it anew tells which.
            if problem_of(raised, self.name).kind != "corrupt":
                raise
        connection.rollback()
        return False

    def _forget(self) -> None:
        with self._lock:
            self.replaced += bool(self._seen and self._seen[0])
            self._seen = None
            self._kept.clear()

    def _note(self, last: Row[Any] | None) -> None:
        with self._lock:
            if last is not None and (self._seen is None or last.seq >= self._seen[0]):
                self._seen = last.seq, last.id

    @contextlib.contextmanager
    def _turn(self, busy_seconds: float) -> Iterator[None]:
        if not self._write_lock.acquire(timeout=busy_seconds):
            raise StoreProblem("busy", store=self.name)
        try:
            yield
        finally:
            self._write_lock.release()

    @contextlib.contextmanager
    def _problems(self) -> Iterator[None]:
        """Yield what the database or the file system raises, as a `StoreProblem`."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, OSError) as raised:
            raise problem_of(raised, self.name) from raised

    def _version(self, connection: Connection) -> int:
        """Return the layout of the store; a `StoreProblem` for one that is newer, damaged, or of another program."""
        version = schema.stored_version(connection)
        if version is None:
            # A server may be shared with other programs; a file is not.
            if connection.dialect.name == "sqlite":
                raise StoreProblem("foreign", store=self.name)
            version = 0
        if version < 0:
            raise StoreProblem("corrupt", store=self.name, detail="The number of its layout is missing or wrong.")
        if version > schema.VERSION:
            detail = f"It has layout {version}; this version knows {schema.VERSION}."
            raise StoreProblem("newer_schema", store=self.name, detail=detail)
        _require_sound(connection, self.name)
        return version

    def _prepare(self, connection: Connection) -> None:
        """Create or upgrade the tables, in a transaction of a writer of their own."""
        if connection.dialect.name == "postgresql":
            # Elsewhere each statement is a transaction of its own.
            with self._engine.connect().execution_options(isolation_level="READ COMMITTED") as other:
                self._make(other)
            return
        self._make(connection)
        if connection.dialect.name == "sqlite":
            # Refused while another uses the file, who asks for the same; until then commits are as safe, and slower.
            with contextlib.suppress(OperationalError):
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            connection.rollback()

    def _make(self, connection: Connection) -> None:
        with _writing(connection, self._busy):
            version = self._version(connection)
            if version == 0:
                schema.create(connection)
            elif version < schema.VERSION:
                if self._path is not None:
                    _keep_copy(self._path, version)
                schema.upgrade(connection, version)


def _keep_copy(path: Path, version: int) -> None:
    """Keep a copy of a file beside it as it is before its upgrade; an upgrade that is tried again keeps one."""
    kept = path.with_name(f"{path.name}.layout-{version}")
    begun = kept.with_name(f".{kept.name}.part")
    begun.unlink(missing_ok=True)
    try:
        # A reader may read while the writer holds its turn.
        with contextlib.closing(sqlite3.connect(path)) as source:
            source.execute("VACUUM INTO ?", (str(begun),))
        begun.replace(kept)
    finally:
        begun.unlink(missing_ok=True)


def _parsed(address: str | Path) -> tuple[Path | None, URL]:
    if isinstance(address, Path) or "://" not in address:
        path = in_home(address)
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
    """Return a database for messages: kind, host and name, never a user or password."""
    return f"{url.get_backend_name()} {url.host or 'local'}/{url.database or ''}"


def _engine(path: Path | None, url: URL, busy_seconds: float, *, reading: bool = False) -> Engine:
    """Return the engine of a store, with the settings that make an acknowledged event a kept one."""
    if path is None:
        options: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS} if "psycopg" in url.drivername else {}
        more = {"isolation_level": "AUTOCOMMIT"} if url.get_backend_name() == "postgresql" else {}
        return create_engine(url, pool_pre_ping=True, pool_timeout=BUSY_SECONDS, connect_args=options, **more)
    return create_engine(url, creator=lambda: _connected(path, busy_seconds, reading=reading), poolclass=NullPool)


def _identity(path: Path | None) -> object:
    """Return the file under the path of a store now: None for no file, always the same for a server."""
    if path is None:
        return "server"
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _settled(path: Path | None) -> object:
    """Return what tells a file from itself after any change; None for a server and for a file that is in use."""
    if path is None or not stored_bytes(path) or path.with_name(path.name + "-wal").exists():
        return None
    status = path.stat()
    if time_ns() - status.st_mtime_ns < _UNSETTLED_NANOSECONDS:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _connected(path: Path, busy_seconds: float, *, reading: bool) -> sqlite3.Connection:
    """Return a connection to a file; transactions begin only on request.

    WAL needs a file beside the database even for `reading`. Where that cannot be made, the file is read as one that
    nobody changes, unless somebody has left a log: then its last events would be missing, which is worse than none.
    """
    require_own_log(path)
    connection = _opened(path, "rwc", busy_seconds)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as raised:
        connection.close()
        log = path.with_name(path.name + "-wal")
        left = log.exists() and log.stat().st_size
        if not reading or not path.exists() or left or not _takes_nothing(raised):
            raise
        connection = _opened(path, "ro&immutable=1", busy_seconds)
    except sqlite3.Error:
        connection.close()
        raise
    connection.execute("PRAGMA synchronous = FULL")
    # Who ends last brings the log into the file: halfway, because others read, it would look like a log left behind.
    connection.execute("PRAGMA wal_autocheckpoint = 10000")
    # Full on some systems leaves data in the drive's own cache without this.
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    return connection


def _opened(path: Path, mode: str, busy_seconds: float) -> sqlite3.Connection:
    place = f"file:{url_quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(place, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False)


def _takes_nothing(raised: sqlite3.OperationalError) -> bool:
    """Return whether SQLite could not write where it wanted to: there is no permission, or no room."""
    names = (
        "SQLITE_READONLY",
        "SQLITE_CANTOPEN",
        "SQLITE_PERM",
        "SQLITE_FULL",
        "SQLITE_IOERR_SHM",
        "SQLITE_IOERR_WRITE",
    )
    return raised.sqlite_errorname.startswith(names)


@contextlib.contextmanager
def _writing(connection: Connection, busy_seconds: float) -> Iterator[None]:
    """Yield a transaction that holds the right to write from its start, so that it cannot fail later."""
    with connection.begin():
        if connection.dialect.name == "sqlite":
            _begin_immediate(connection, busy_seconds)
        elif connection.dialect.name == "postgresql":
            connection.execute(text(_POSTGRES_TURN), {"milliseconds": _milliseconds(busy_seconds)})
        yield


def _milliseconds(seconds: float) -> str:
    """Return a time to wait for PostgreSQL, to which 0 is for ever."""
    return str(max(1, int(1000 * seconds)))


def _begin_immediate(connection: Connection, busy_seconds: float) -> None:
    """Wait for the write lock of SQLite; who has waited longer asks more often, so that nobody is passed by."""
    # SQLite's own pauses grow to a tenth of a second: of twenty writers without pause some waited ten seconds in vain.
    start = monotonic()
    raw = cast(sqlite3.Connection, connection.connection.driver_connection)
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                raw.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as raised:
                waited = monotonic() - start
                if not raised.sqlite_errorname.startswith("SQLITE_BUSY") or waited > busy_seconds:
                    raise
                sleep(max(_LEAST_PAUSE, _FIRST_PAUSE - waited / 10))
            else:
                return
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(1000 * busy_seconds)}")


def _require_sound(connection: Connection, name: str) -> None:
    """Refuse a file with pages that contradict each other: reading would go wrong later, in the middle."""
    # Also one in which a stranger has left what acts when something is kept, or stands for a table.
    if connection.dialect.name != "sqlite":
        return
    if connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").first():
        raise StoreProblem("corrupt", store=name, detail="It has triggers or views, which this program never makes.")
    answer = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if answer != "ok":
        raise StoreProblem("corrupt", store=name, detail=f"The database reports: {str(answer).splitlines()[0]}.")


def _row(entry: Event, workspace: str) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in (*_PLAIN, "verified")} | {
        "same_id": entry.id,
        "workspace": workspace,
        "target": entry.target_id,
        "kind": entry.target.kind,
        "snapshot": msgspec.json.encode(entry.target).decode(),
        "tags": msgspec.json.encode(entry.tags).decode(),
        "time": entry.stamp,
    }


def _meeting(row: Row[Any], name: str) -> Meeting:
    """Return a row as a meeting; a `StoreProblem` for one that was changed by other hands."""
    try:
        given = {**row._mapping, "thresholds": decode_thresholds(row.thresholds)}
        return convert(given, Meeting, strict=False)
    except (msgspec.MsgspecError, TypeError) as raised:
        raise StoreProblem("corrupt", store=name, detail=f"The meeting: {str(raised).rstrip('.')}.") from raised


def _follower(row: Row[Any], name: str) -> Follower:
    """Return a row as a follower; a `StoreProblem` for one that was changed by other hands."""
    try:
        return convert({**row._mapping}, Follower, strict=False)
    except msgspec.MsgspecError as raised:
        raise StoreProblem("corrupt", store=name, detail=f"Who follows: {str(raised).rstrip('.')}.") from raised


def _event(row: Row[Any], name: str) -> Event:
    """Return a row as an event; a `StoreProblem` for one that was changed by other hands."""
    try:
        event = Event(
            **{name: getattr(row, name) for name in _PLAIN},
            target_id=row.target,
            target=decode_target(row.snapshot),
            tags=msgspec.json.decode(row.tags, type=tuple[str, ...]),
            verified=bool(row.verified),
            time=datetime.fromisoformat(row.time).astimezone(UTC),
        )
        return check_event(event)
    except (msgspec.MsgspecError, ValueError, TypeError) as raised:
        raise StoreProblem("corrupt", store=name, detail=f"Event {row.seq}: {str(raised).rstrip('.')}.") from raised
