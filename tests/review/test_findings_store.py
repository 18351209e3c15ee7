"""The store of findings: one contract on SQLite and PostgreSQL, and every way in which a disk lets us down.

PostgreSQL is that of LAYOUTSCOPE_POSTGRES_URL, in a schema of its own for each test; ``.ci/run`` starts one. Processes
that are killed, or run out of room, are those of ``store_process``.
"""

import contextlib
import gc
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, create_engine, text

from evaluator.review import schema
from evaluator.review import store as store_module
from evaluator.review.identity import page_target
from evaluator.review.meetings import Follower, Meeting, Thresholds
from evaluator.review.problems import StoreProblem
from evaluator.review.store import _POSTGRES_TURN, Store
from evaluator.review.verdicts import Event, JudgedBox, Target
from tests.judging import NOW, opinion
from tests.small_disk import small_disk
from tests.store_process import POSTGRES, own_schema

ROOT = Path(__file__).resolve().parents[2]

REQUIRED = os.environ.get("LAYOUTSCOPE_REQUIRE_POSTGRES") == "1"
WITHOUT_POSTGRES = "no PostgreSQL: set LAYOUTSCOPE_POSTGRES_URL to postgresql+psycopg://user@host/name"
LAYOUT_1 = """
CREATE TABLE layoutscope_version (version INTEGER NOT NULL);
INSERT INTO layoutscope_version VALUES (1);
CREATE TABLE layoutscope_event (
    seq {serial}, id VARCHAR(64) NOT NULL UNIQUE, target VARCHAR(64) NOT NULL, kind VARCHAR(20) NOT NULL,
    snapshot TEXT NOT NULL, action VARCHAR(20) NOT NULL, verdict VARCHAR(40), note TEXT NOT NULL, author TEXT NOT NULL,
    time VARCHAR(40) NOT NULL
);
"""


def on_page(page: int = 0, verdict: str | None = "model_wrong", **given: Any) -> Event:
    return opinion(page_target("a.pdf", page), verdict, **given)


MEETING = Meeting(
    session="one", presenter="Ada", verified=False, files="f" * 64, item="a", example=0, number=1, time=NOW,
    thresholds=Thresholds(protocol="snapshot", iou=0.5, scores={0: 0.25}),
)  # fmt: skip
Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """What a process of ``store_process`` tells when it ends, by its command, address and numbers."""
    words = [sys.executable, "-m", "tests.store_process"]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forking:

        def told(*given: object) -> dict[str, Any]:
            assert forking.stdin is not None
            assert forking.stdout is not None
            print(json.dumps([str(word) for word in given]), file=forking.stdin, flush=True)
            answer = json.loads(forking.stdout.readline())
            assert isinstance(answer, dict), "it failed: its standard error says how"
            return answer

        yield told


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "findings.sqlite")
        return
    if not POSTGRES:
        assert not REQUIRED, WITHOUT_POSTGRES
        pytest.skip(WITHOUT_POSTGRES)
    with own_schema() as place:
        yield place


Opener = Callable[..., Store]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens stores, each with connections of its own, and closes them when the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda address, **given: stack.enter_context(Store(address, **given))


@pytest.fixture
def store(address: str, opened: Opener) -> Store:
    return opened(address)


def begin_layout_1(address: str, events: list[Event]) -> None:
    serial = "BIGSERIAL PRIMARY KEY" if "://" in address else "INTEGER PRIMARY KEY AUTOINCREMENT"
    with database(address) as connection:
        for statement in LAYOUT_1.format(serial=serial).split(";")[:-1]:
            connection.execute(text(statement))
        for event in events:
            row = {
                "id": event.id, "target": event.target_id, "kind": event.target.kind,
                "snapshot": msgspec.json.encode(event.target).decode(), "action": event.action,
                "verdict": event.verdict, "note": event.note, "author": event.author, "time": event.stamp,
            }  # fmt: skip
            values = ", ".join(f":{name}" for name in row)
            connection.execute(text(f"INSERT INTO layoutscope_event ({', '.join(row)}) VALUES ({values})"), row)


@contextlib.contextmanager
def database(address: str) -> Iterator[Connection]:
    engine = create_engine(f"sqlite:///{address}" if "://" not in address else address)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


@contextlib.contextmanager
def left_open(path: Path) -> Iterator[None]:
    """What is kept within stays in the log, because somebody else has the file open."""
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("SELECT * FROM layoutscope_event").fetchall()
        yield


@contextlib.contextmanager
def replaced_later(address: str, change: str) -> Iterator[None]:
    """What is done within happens to a store that is replaced then by nothing, or by what it was before."""
    path, backup = Path(address), Path(f"{address}.backup")
    if "://" not in address:
        shutil.copy(path, backup)
    yield
    if "://" in address:
        with database(address) as connection:
            if change == "deleted":
                connection.execute(text("DROP TABLE layoutscope_version, layoutscope_event"))
            else:
                connection.execute(text("DELETE FROM layoutscope_event WHERE seq > 1"))
                connection.execute(text("ALTER SEQUENCE layoutscope_event_seq_seq RESTART 2"))
        return
    # Nothing of it is elsewhere.
    assert not list(path.parent.glob("*-wal"))
    if change in ("deleted", "restored"):
        path.unlink()
    if change in ("restored", "copied over"):
        shutil.copy(backup, path)
    elif change == "moved over":
        backup.replace(path)


@contextlib.contextmanager
def refused(kind: str) -> Iterator[pytest.ExceptionInfo[StoreProblem]]:
    with pytest.raises(StoreProblem) as raised:
        yield raised
    assert raised.value.kind == kind


class TestContract:
    """What holds on every database."""

    def test_a_store_that_was_not_begun_is_empty_and_is_not_begun_by_reading(self, address: str, store: Store) -> None:
        assert len(store.log()) == 0
        assert store.events() == []
        store.add([])
        if "://" not in address:
            assert not Path(address).exists()

    def test_what_was_kept_comes_back_to_the_last_character(self, address: str, store: Store, opened: Opener) -> None:
        box = JudgedBox(side="prediction", label="Tä'b\\le", xyxy=(0.1, 1 / 3, 0.7, 0.9), model='m"\x00')
        target = Target(kind="mistake", document="=a\u202e.pdf", page=3, boxes=(box,), models=("m",), unit="pixels")
        note, source = "zwei\nZeilen\t'; DROP TABLE layoutscope_event; -- 🙂", "other.csv"
        said = {"note": note, "tags": ["einer", "noch einer"], "author": "Åsa", "verified": True, "source": source}
        event = opinion(target, "ambiguous", time=datetime.now(UTC), **said)
        store.add([event])
        assert opened(address).events() == [event]

    def test_events_keep_their_order_and_their_workspace(self, store: Store) -> None:
        first, second = [on_page(page) for page in range(3)], [on_page(page, "ignore") for page in range(2)]
        store.add(first, "one")
        store.add(second, "two")
        assert store.events("one") == first
        assert store.events("two") == second
        assert store.events() == []

    def test_an_event_is_kept_once(self, store: Store) -> None:
        event, other = on_page(0), on_page(1)
        store.add([event, event])
        store.add([event, other])
        # Also when it is sent again a minute later.
        sent = on_page(0, event_id="2f1c6a1e-9a55-4c0c-8c0e-5b9a6f1e7d10")
        store.add([sent])
        store.add([msgspec.structs.replace(sent, time=on_page(0, minutes=1).time)])
        assert store.events() == [event, other, sent]

    def test_all_or_nothing(self, store: Store) -> None:
        broken = msgspec.structs.replace(on_page(2), note=None)  # type: ignore[arg-type]
        with pytest.raises(StoreProblem):
            store.add([on_page(0), on_page(1), broken])
        assert store.events() == []
        # In a store that was begun, where a server is sent all in one message.
        store.add([on_page(0)])
        with pytest.raises(StoreProblem):
            store.add([on_page(1), broken, on_page(3)])
        assert [event.target for event in store.events()] == [on_page(0).target]
        store.add([on_page(4)])
        assert [event.target for event in store.events()] == [on_page(0).target, on_page(4).target]

    def test_the_log_reads_what_others_kept_since(self, address: str, store: Store, opened: Opener) -> None:
        other = opened(address)
        store.add([on_page(0)])
        assert len(other.log()) == 1
        log = other.log()
        assert other.log() is log
        store.add([on_page(1), on_page(0, "ignore", minutes=1)])
        assert [judged.verdict for judged in other.log().judged.values()] == ["ignore", "model_wrong"]
        assert other.log().revision != log.revision

    @pytest.mark.parametrize("change", ["deleted", "restored", "copied over", "moved over"])
    @pytest.mark.parametrize("looked_at", [True, False])
    def test_a_store_that_is_replaced_while_it_is_open_is_opened_anew(
        self, address: str, opened: Opener, change: str, looked_at: bool
    ) -> None:
        store, left = opened(address), int(change != "deleted")
        store.add([on_page(0)])
        with replaced_later(address, change):
            store.add([on_page(1), on_page(2)], "other")
            store.add([on_page(3)])
            assert (len(store.log()), len(store.log("other")), store.replaced) == (2, 2, 0)
        if looked_at:
            assert (len(store.log()), len(store.log("other")), store.replaced) == (left, 0, 1)
            assert store.events() == opened(address).events()
        store.add([on_page(4)])
        kept = opened(address).events()
        assert [event.target.page for event in kept] == [*range(left), 4]
        assert (list(store.log().events), store.replaced) == (kept, 1)

    def test_twenty_writers_at_once_lose_nothing(self, address: str, opened: Opener, run: Run) -> None:
        told = run("together", address, 20, 3)
        assert len(told["acknowledged"]) == 60
        assert {event.id for event in opened(address).events()} == set(told["acknowledged"])

    def test_twenty_threads_of_one_process_lose_nothing(self, store: Store) -> None:
        events = [on_page(page, author=f"writer {writer}") for writer in range(20) for page in range(5)]
        gate = threading.Barrier(20)

        def write(writer: int) -> None:
            gate.wait()
            for event in events[writer * 5 : writer * 5 + 5]:
                store.add([event])
                assert event.target_id in store.log().judged

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(write, range(20)))
        assert {event.id for event in store.events()} == {event.id for event in events}

    def test_a_killed_writer_loses_nothing_that_was_acknowledged(self, address: str, opened: Opener, run: Run) -> None:
        # The thousand of them are in the benchmark.
        lives = 20
        told = run("kill", address, lives, 2, 7)
        store = opened(address)
        assert told["lives"] == lives
        assert told["died_alone"] == 0
        assert len(told["acknowledged"]) > lives / 2
        assert set(told["acknowledged"]) <= {event.id for event in store.events()}
        store.check()
        store.add([on_page(0)])

    @pytest.mark.parametrize("layout", [1, 2, 3, 4])
    def test_an_older_layout_becomes_the_present_one_and_keeps_every_event(
        self, address: str, opened: Opener, layout: int
    ) -> None:
        old = [on_page(0, "ignore", note="old"), on_page(1, None, note="only a note"), on_page(0, None, minutes=1)]
        begin_layout_1(address, old)
        with database(address) as connection:
            for step in range(1, layout):
                schema._UPGRADES[step](connection)
            connection.execute(text(f"UPDATE layoutscope_version SET version = {layout}"))
        store = opened(address)
        assert store.events() == old
        assert (store.events()[0].tags, store.log().judged[old[1].target_id].task) == ((), None)
        task = {"owner": "Ben", "due": "2026-12-05", "status": "in_progress"}
        if "://" not in address:
            with database(f"{address}.layout-{layout}") as connection:
                assert schema.stored_version(connection) == layout
                kept = connection.execute(text("SELECT id FROM layoutscope_event ORDER BY seq")).scalars().all()
            assert kept == [event.id for event in old]
        new = on_page(2, tags=["new"], author="Ben", verified=True, **task)
        store.add([new])
        assert opened(address).events() == [*old, new]
        assert store.meeting() is None
        store.present(MEETING)
        assert opened(address).meeting() == MEETING

    def test_a_meeting_is_what_was_presented_last(self, address: str, opened: Opener) -> None:
        """Also in a store that has no event yet; of another workspace there is none."""
        store = opened(address)
        assert store.meeting() is None
        store.present(MEETING)
        moved = msgspec.structs.replace(MEETING, item="b", example=3, number=2, time=NOW + timedelta(seconds=9))
        opened(address).present(moved)
        assert (store.meeting(), store.meeting("other")) == (moved, None)
        assert [moved.is_live(NOW + timedelta(minutes=minutes)) for minutes in (1, 6)] == [True, False]
        store.add([on_page(0)])
        store.present(msgspec.structs.replace(moved, open=False))
        ended = store.meeting()
        assert ended is not None
        assert not ended.is_live(NOW)
        assert len(store.events()) == 1

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            # Thresholds that no slider has, no JSON, and what no Meeting holds.
            ("thresholds", '{"protocol": "snapshot", "iou": 7.0}'), ("thresholds", "\\xff"), ("time", "yesterday"),
            ("time", "2026-12-01T10:00:00"), ("example", -5), ("number", -1),
        ],
    )  # fmt: skip
    def test_a_meeting_that_other_hands_changed_is_refused(
        self, address: str, opened: Opener, column: str, value: object
    ) -> None:
        opened(address).present(MEETING)
        with database(address) as connection:
            connection.execute(text(f"UPDATE layoutscope_meeting SET {column} = :value"), {"value": value})
        with refused("corrupt"):
            opened(address).meeting()

    def test_followers_are_those_who_were_heard_of_lately(self, address: str, opened: Opener) -> None:
        """Of their workspace, by name, each session once; gone when they leave or were silent."""
        store, now = opened(address), MEETING.time

        def names(seconds: int = 0, workspace: str = "") -> list[str]:
            return [each.name for each in opened(address).followers(now + timedelta(seconds=seconds), workspace)]

        assert names() == []
        cleo, ben = (Follower(session=name[:1], name=name, verified=False, time=now) for name in ("Cleo", "Ben"))
        for each in (cleo, cleo, ben):
            store.follow(each)
        assert (names(), names(workspace="other"), names(19), names(20)) == (["Ben", "Cleo"], [], ["Ben", "Cleo"], [])
        store.follow(msgspec.structs.replace(cleo, time=now + timedelta(seconds=15)))
        assert names(20) == ["Cleo"]
        store.follow(cleo, leaves=True)
        assert names() == ["Ben"]
        with database(address) as connection:
            connection.execute(text("UPDATE layoutscope_follower SET time = 'soon'"))
        with refused("corrupt"):
            store.followers(now - timedelta(days=9_999))

    def test_an_upgrade_that_breaks_off_leaves_layout_1(
        self, address: str, monkeypatch: pytest.MonkeyPatch, opened: Opener
    ) -> None:
        old = [on_page(0)]
        begin_layout_1(address, old)

        def broken(place: Connection | Path, *_: object) -> None:
            if isinstance(place, Connection):
                place.execute(text("ALTER TABLE layoutscope_event ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'"))
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setitem(schema._UPGRADES, 1, broken)
            with refused("full"):
                opened(address).add([on_page(1)])
            if "://" not in address:
                with monkeypatch.context() as full:
                    full.setattr(Path, "replace", broken)
                    with refused("full"):
                        opened(address).log()
                left = {path.name for path in Path(address).parent.iterdir()}
                assert left <= {f"findings.sqlite{end}" for end in ("", "-wal", "-shm", ".layout-1")}
        assert opened(address).events() == old

    def test_a_newer_layout_is_refused_and_left_alone(self, address: str, store: Store, opened: Opener) -> None:
        store.add([on_page(0)])
        store.close()
        with database(address) as connection:
            connection.execute(text("UPDATE layoutscope_version SET version = 6"))
        for use in (lambda: opened(address).log(), lambda: opened(address).add([on_page(1)])):
            with refused("newer_schema") as raised:
                use()
            assert "It has layout 6; this version knows 5." in raised.value.text
        with database(address) as connection:
            assert connection.execute(text("SELECT count(*) FROM layoutscope_event")).scalar() == 1

    def test_rows_that_other_hands_changed_are_told(self, address: str, store: Store, opened: Opener) -> None:
        store.add([on_page(0)])
        store.close()
        with database(address) as connection:
            connection.execute(text("UPDATE layoutscope_event SET verdict = 'perhaps'"))
        with refused("corrupt") as raised:
            opened(address).log()
        assert raised.value.text.startswith(f"{opened(address).name} cannot be read as a database.")


class TestFiles:
    """What only a file can suffer."""

    def test_a_damaged_file_is_told_and_never_written(self, tmp_path: Path, opened: Opener) -> None:
        path = tmp_path / "findings.sqlite"
        path.write_bytes(random.Random(3).randbytes(9_000))
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        store = opened(path)
        for use in (store.log, lambda: store.add([on_page(0)]), store.check):
            with refused("corrupt") as raised:
                use()
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before
        assert [each.name for each in tmp_path.iterdir()] == ["findings.sqlite"]
        assert str(raised.value) == (
            "The findings file is damaged. findings.sqlite cannot be read as a database. It was left as it is, and "
            "nothing is written to it. The database reports: file is not a database. Put a backup in its place; or "
            "move it away and start again, and import an exported file of findings."
        )

    def test_no_connection_outlives_its_store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # Python 3.13 warns of every connection that is left open.
        sound, damaged = tmp_path / "findings.sqlite", tmp_path / "damaged.sqlite"
        damaged.write_bytes(random.Random(3).randbytes(9_000))
        connections: list[sqlite3.Connection] = []
        connect = sqlite3.connect

        def noted(*place: Any, **options: Any) -> sqlite3.Connection:
            connections.append(connect(*place, **options))
            return connections[-1]

        monkeypatch.setattr(sqlite3, "connect", noted)
        for path in (sound, damaged):
            before = len(connections)
            store = Store(path)
            with pytest.raises(StoreProblem) if path == damaged else contextlib.nullcontext():
                store.add([on_page(0)])
            assert len(connections) > before
        del store
        gc.collect()
        for connection in connections:
            with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
                connection.execute("SELECT 1")

    def test_a_page_in_the_middle_that_is_damaged_is_found_before_anything_is_written(
        self, tmp_path: Path, opened: Opener
    ) -> None:
        path = tmp_path / "findings.sqlite"
        store = opened(path)
        store.add([on_page(page, note="x" * 500) for page in range(200)])
        store.close()
        content = bytearray(path.read_bytes())
        for place in range(3 * 4096, len(content), 4096):
            content[place : place + 64] = b"\xff" * 64
        path.write_bytes(content)
        damaged = opened(path)
        with refused("corrupt"):
            damaged.add([on_page(0)])
        assert path.read_bytes() == bytes(content)

    def test_a_database_of_another_program_is_left_alone(self, tmp_path: Path, opened: Opener) -> None:
        path = tmp_path / "other.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE photos (name TEXT)")
        connection.close()
        before = path.read_bytes()
        for use in (lambda: opened(path).add([on_page(0)]), lambda: opened(path).events()):
            with refused("foreign"):
                use()
            # Not even the way in which it keeps its log.
            assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("change", "detail"),
        [
            ("UPDATE layoutscope_version SET version = 'x'", "The number of its layout is missing or wrong."),
            ("UPDATE layoutscope_version SET version = -5", "The number of its layout is missing or wrong."),
            ("DELETE FROM layoutscope_version", "The number of its layout is missing or wrong."),
            (
                "CREATE TRIGGER t BEFORE INSERT ON layoutscope_event BEGIN SELECT raise(IGNORE); END",
                "It has triggers or views, which this program never makes.",
            ),
        ],
    )
    def test_a_file_that_a_stranger_has_changed_is_damaged(
        self, tmp_path: Path, opened: Opener, change: str, detail: str
    ) -> None:
        path = tmp_path / "findings.sqlite"
        opened(path).add([on_page(0)])
        with database(str(path)) as connection:
            connection.execute(text(change))
        store = opened(path)
        for use in (store.log, store.check, lambda: store.add([on_page(1)])):
            with refused("corrupt") as raised:
                use()
            assert detail in raised.value.text

    def test_an_empty_file_is_left_alone_until_something_is_kept(self, tmp_path: Path, opened: Opener) -> None:
        path = tmp_path / "empty.sqlite"
        path.touch()
        store = opened(path)
        assert (store.events(), len(store.log())) == ([], 0)
        store.add([])
        assert [(each.name, each.stat().st_size) for each in tmp_path.iterdir()] == [("empty.sqlite", 0)]
        store.add([on_page(0)])
        assert len(store.events()) == 1

    @pytest.mark.parametrize("limit", [60_000, 250_000])
    def test_a_full_quota_refuses_the_last_and_keeps_the_rest(
        self, tmp_path: Path, limit: int, opened: Opener, run: Run
    ) -> None:
        path = tmp_path / "findings.sqlite"
        told = run("full", path, limit)
        assert told["problem"][0] == "full"
        assert told["problem"][1] == "No room for findings"
        assert {event.id for event in opened(path).events()} == set(told["acknowledged"])
        opened(path).add([on_page(0)])

    def test_a_full_disk_refuses_the_last_and_keeps_the_rest(self, opened: Opener, run: Run) -> None:
        with small_disk("300k") as disk:
            path = disk.place / "findings.sqlite"
            told = run("full", path, 0)
            assert told["problem"][0] == "full"
            assert "The database reports: database or disk is full." in told["problem"][2]
            store = opened(path)
            assert [event.id for event in store.events()] == told["acknowledged"]
            # The same text can be saved then.
            disk.grow()
            store.add([on_page(0)])

    @pytest.mark.parametrize("kept", [True, False])
    def test_a_read_only_folder_shows_what_is_there_and_refuses_more(
        self, kept: bool, opened: Opener, run: Run
    ) -> None:
        # Root may write everywhere, so the process gives itself up; pytest's own folders are closed to others.
        folder = Path(tempfile.mkdtemp())
        path = folder / "findings.sqlite"
        try:
            if kept:
                store = opened(path)
                store.add([on_page(0)])
                store.close()
                path.chmod(0o444)
            folder.chmod(0o555)
            told = run("refused", path)
            assert told["read"] == int(kept)
            assert told["write"][:2] == ["read_only", "Findings cannot be written"]
            assert told["files"] == (["findings.sqlite"] if kept else [])
        finally:
            folder.chmod(0o755)
            shutil.rmtree(folder)

    def test_a_file_that_somebody_holds_is_busy(self, tmp_path: Path, opened: Opener) -> None:
        path = tmp_path / "findings.sqlite"
        opened(path).add([on_page(0)])
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        try:
            store = opened(path, busy_seconds=0.2)
            assert len(store.log()) == 1
            with refused("busy"):
                store.add([on_page(1)])
        finally:
            holder.close()
        store.add([on_page(1)])
        assert len(store.log()) == 2

    def test_a_file_that_was_moved_away_is_followed(self, tmp_path: Path, opened: Opener) -> None:
        path = tmp_path / "findings.sqlite"
        store = opened(path)
        store.add([on_page(0)])
        for name in ("", "-wal", "-shm"):
            if (file := Path(f"{path}{name}")).exists():
                file.rename(tmp_path / f"moved.sqlite{name}")
        assert len(store.log()) == 0
        store.add([on_page(1)])
        assert [event.target.page for event in opened(path).events()] == [1]
        assert [event.target.page for event in opened(tmp_path / "moved.sqlite").events()] == [0]

    @pytest.mark.parametrize("running", [True, False])
    @pytest.mark.parametrize("put_back", [shutil.copyfile, shutil.copy2, os.replace])
    def test_a_log_that_was_left_beside_a_restored_backup_is_no_part_of_it(
        self, tmp_path: Path, opened: Opener, put_back: Callable[[Path, Path], object], *, running: bool
    ) -> None:
        path, log, backup = (tmp_path / f"findings.sqlite{more}" for more in ("", "-wal", ".backup"))
        store = opened(path)
        store.add([on_page(0)])
        shutil.copy2(path, backup)
        with left_open(path):
            store.add([on_page(1)])
            store.add([on_page(2, note="x" * 9_000)])
            states = [shutil.copy2(each, tmp_path / f"left{each.suffix}") for each in (path, log)]
        # As a killed process leaves it: what was acknowledged is there.
        for state, each in zip(states, (path, log), strict=True):
            shutil.copyfile(state, each)
        killed = shutil.copytree(tmp_path, tmp_path / "killed")
        os.utime(killed / "findings.sqlite-wal")
        assert len(opened(killed / "findings.sqlite").log()) == 3
        put_back(backup, path)
        if not running:
            store = opened(path)
        content = path.read_bytes(), log.read_bytes()
        for use in (store.log, store.check, lambda: store.add([on_page(3)])):
            with refused("left_log") as raised:
                use()
        assert str(raised.value) == (
            "Two states of the findings. findings.sqlite was put in the place of another file, whose log "
            "findings.sqlite-wal was left and has other findings. Nothing is shown or kept until one of them is chosen."
            " Move findings.sqlite-wal and findings.sqlite-shm away to use the file as it is, or put back the file of "
            "that log."
        )
        assert content == (path.read_bytes(), log.read_bytes())
        log.rename(tmp_path / "away")
        assert [event.target.page for event in store.log().events] == [0]
        store.add([on_page(3)])
        assert [event.target.page for event in store.log().events] == [0, 3]

    def test_a_log_that_is_in_its_file_already_is_no_other(self, tmp_path: Path, opened: Opener) -> None:
        path, log = tmp_path / "findings.sqlite", tmp_path / "findings.sqlite-wal"
        store = opened(path)
        store.add([on_page(0)])
        with left_open(path):
            store.add([on_page(1)])
            left = log.read_bytes()
        log.write_bytes(left)
        os.utime(log, (1, 1))
        path.chmod(0o644)
        assert len(opened(path).log()) == 2

    def test_what_goes_into_a_file_that_is_replaced_meanwhile_is_not_acknowledged(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opener
    ) -> None:
        path = tmp_path / "findings.sqlite"
        store = opened(path)
        store.add([on_page(0)])
        writing = store_module._writing

        @contextlib.contextmanager
        def deleted_meanwhile(*given: Any) -> Iterator[None]:
            with writing(*given):
                yield
            path.unlink()

        with monkeypatch.context() as patch:
            patch.setattr(store_module, "_writing", deleted_meanwhile)
            with refused("unreachable") as raised:
                store.add([on_page(1)])
        assert "The file was moved or replaced while it was written." in raised.value.text
        store.add([on_page(2)])
        assert [event.target.page for event in store.log().events] == [2]

    def test_a_file_that_does_not_change_is_not_opened_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opener
    ) -> None:
        path = tmp_path / "findings.sqlite"
        store = opened(path)
        store.add([on_page(0)])
        os.utime(path, (1, 1))
        log = store.log()
        with monkeypatch.context() as patch:
            patch.setattr(store_module, "_connected", None)
            assert store.log() is log
        opened(path).add([on_page(1)])
        assert len(store.log()) == 2

    def test_its_settings_are_those_that_keep_what_was_acknowledged(self, tmp_path: Path, opened: Opener) -> None:
        store = opened(tmp_path / "findings.sqlite")
        store.add([on_page(0)])
        with store._engine.connect() as connection:
            values = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "busy_timeout")
            ]
        assert values == ["wal", 2, 10_000]


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
class TestServers:
    """What only a server can suffer."""

    def test_a_turn_that_somebody_does_not_give_back_is_busy(self, address: str, opened: Opener) -> None:
        store = opened(address, busy_seconds=0.2)
        store.add([on_page(0)])
        with database(address) as holder:
            holder.execute(text(_POSTGRES_TURN), {"milliseconds": "0"})
            for seconds in (None, 0.0):
                with refused("busy"):
                    store.add([on_page(1)], busy_seconds=seconds)
        store.add([on_page(2)])
        assert [event.target.page for event in store.events()] == [0, 2]

    def test_a_connection_that_the_server_ends_loses_nothing_and_is_opened_again(
        self, address: str, store: Store
    ) -> None:
        store.add([on_page(0)])
        with database(address) as holder, ThreadPoolExecutor(1) as threads:
            holder.execute(text(_POSTGRES_TURN), {"milliseconds": "0"})
            adding = threads.submit(store.add, [on_page(1)])
            waits = text("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = :key")
            while (pid := holder.execute(waits, {"key": 0x4C536669}).scalar()) is None:
                time.sleep(0.01)
            holder.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
            raised = adding.exception(timeout=60)
        assert isinstance(raised, StoreProblem)
        assert raised.kind == "unreachable"
        store.add([on_page(2)])
        assert [event.target.page for event in store.events()] == [0, 2]


class TestAddresses:
    @pytest.mark.parametrize(
        ("wrong", "kind"),
        [
            ("oracle+nothing://me:secret@host/base", "driver"),
            ("sqlite://", "unusable"),
            ("sqlite:///:memory:", "unusable"),
            ("://", "unusable"),
        ],
    )
    def test_an_address_that_can_never_work(self, wrong: str, kind: str, opened: Opener) -> None:
        with refused(kind) as raised:
            opened(wrong)
        assert "secret" not in str(raised.value)

    def test_a_server_that_does_not_answer(self, opened: Opener) -> None:
        pytest.importorskip("psycopg", reason="the driver of PostgreSQL is not installed")
        store = opened("postgresql+psycopg://me:secret@127.0.0.1:1/base")
        assert store.name == "postgresql 127.0.0.1/base"
        with refused("unreachable") as raised:
            store.log()
        assert "secret" not in str(raised.value)

    def test_an_sqlite_address_is_a_file_whatever_its_name_means_in_addresses(
        self, tmp_path: Path, opened: Opener
    ) -> None:
        opened(f"sqlite:///{tmp_path / 'findings.sqlite'}").add([on_page(0)])
        path = tmp_path / "what? 100% #1 & ü.sqlite"
        opened(path).add([on_page(0)])
        for each in (tmp_path / "findings.sqlite", path):
            assert each.exists()
            assert len(opened(each).log()) == 1
