"""Processes that use a findings store and come to harm: killed at any moment, out of room, without permission.

Owns no expectations; prints JSON for the tests and the benchmark. ``python -m tests.store_process COMMAND ADDRESS …``;
without words each line of the input is such a command, as a JSON list, and has a process of its own.
Children are forked from one process that has imported everything, so that a life costs milliseconds.
"""

import contextlib
import json
import os
import random
import resource
import select
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import create_engine, text

from evaluator.review.identity import page_target
from evaluator.review.problems import StoreProblem
from evaluator.review.store import Store
from evaluator.review.verdicts import Event, judge

POSTGRES = os.environ.get("LAYOUTSCOPE_POSTGRES_URL", "")
ID_LENGTH = 32
NOBODY = 65534


@contextlib.contextmanager
def own_schema() -> Iterator[str]:
    """The address of an empty store on the PostgreSQL of LAYOUTSCOPE_POSTGRES_URL, gone when the block ends."""
    name, engine = f"test_{uuid.uuid4().hex}", create_engine(POSTGRES)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    try:
        yield f"{POSTGRES}{'&' if '?' in POSTGRES else '?'}options=-csearch_path%3D{name}"
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        engine.dispose()


def verdict(page: int, note: str, author: str = "writer") -> Event:
    return judge(
        page_target("a.pdf", page),
        verdict="model_wrong",
        note=note,
        author=author,
        verified=False,
        time=datetime.now(UTC),
    )


def write_for_ever(address: str, seed: int, out: int) -> None:
    """Keep verdicts, and say the id of each after the store has taken it."""
    generator = random.Random(seed)
    store = Store(address)
    page = 0
    while True:
        events = [verdict(page, "x" * generator.randrange(2_000)) for _ in range(generator.choice([1, 1, 1, 3]))]
        store.add(events)
        os.write(out, "".join(event.id for event in events).encode())
        page += 1


def forked(work: Callable[[int], object]) -> tuple[int, int]:
    """A process of its own that does some work, which is given a pipe: the process, and the other end of the pipe."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            work(writing)
        finally:
            os._exit(1)
    os.close(writing)
    return process, reading


def kill(address: str, lives: int, together: int, seed: int) -> dict[str, object]:
    """Writers that are killed at a random moment, from before they have opened the store on."""
    generator = random.Random(seed)
    acknowledged: list[str] = []
    died_alone = 0
    for life in range(0, lives, together):
        writers = [
            forked(partial(write_for_ever, address, seed + life + place))
            for place in range(min(together, lives - life))
        ]
        # Most moments lie after the first acknowledgement, some before or while the store is opened.
        if generator.random() < 0.8:
            select.select([reading for _, reading in writers], [], [], 30)
        time.sleep(generator.random() * 0.02)
        for process, reading in writers:
            os.kill(process, signal.SIGKILL)
            said = b""
            while part := os.read(reading, 1 << 16):
                said += part
            os.close(reading)
            _, status = os.waitpid(process, 0)
            died_alone += not os.WIFSIGNALED(status)
            acknowledged += [
                said[start : start + ID_LENGTH].decode() for start in range(0, len(said) - ID_LENGTH + 1, ID_LENGTH)
            ]
    return {"lives": lives, "acknowledged": acknowledged, "died_alone": died_alone}


def until_full(address: str, limit: int) -> dict[str, object]:
    """Write until the store refuses; `limit` bytes for a file, 0 for no limit but the disk's."""
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = Store(address)
    acknowledged: list[str] = []
    problem = None
    while problem is None and len(acknowledged) < 5_000:
        event = verdict(len(acknowledged), "y" * 1_000)
        try:
            store.add([event])
            acknowledged.append(event.id)
        except StoreProblem as raised:
            problem = [raised.kind, raised.title, raised.text, raised.fix]
    return {"acknowledged": acknowledged, "problem": problem}


def without_permission(address: str) -> dict[str, object]:
    """Read and write as a user who may do neither more nor less than the permissions say: root gives itself up."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    told: dict[str, object] = {}
    store = Store(address)
    for what, use in (("read", lambda: len(store.log())), ("write", lambda: store.add([verdict(0, "z")]))):
        try:
            told[what] = use()
        except StoreProblem as raised:
            told[what] = [raised.kind, raised.title, raised.text, raised.fix]
    told["files"] = sorted(path.name for path in Path(address).parent.iterdir())
    return told


def together(address: str, writers: int, count: int) -> dict[str, object]:
    """Writers at the same time: how long each of their verdicts took in seconds, and what was acknowledged."""
    pipes = [forked(partial(write_some, address, count, f"writer {writer}")) for writer in range(writers)]
    seconds: list[float] = []
    acknowledged: list[str] = []
    for process, reading in pipes:
        with os.fdopen(reading) as said:
            told = json.loads(said.read() or '{"seconds": [], "acknowledged": []}')
        os.waitpid(process, 0)
        seconds += told["seconds"]
        acknowledged += told["acknowledged"]
    return {"seconds": seconds, "acknowledged": acknowledged}


def write_some(address: str, count: int, author: str, out: int) -> None:
    """Keep some verdicts, and say at the end how long each took."""
    store = Store(address)
    # Whoever writes a verdict has read the others before, and the file is open.
    store.log()
    seconds, acknowledged = [], []
    for page in range(count):
        event = verdict(page, "n" * 200, author)
        start = time.perf_counter()
        store.add([event])
        seconds.append(time.perf_counter() - start)
        acknowledged.append(event.id)
    os.write(out, json.dumps({"seconds": seconds, "acknowledged": acknowledged}).encode())


RUNS = {"kill": kill, "full": until_full, "refused": without_permission, "together": together}


def tell(command: str, where: str, *numbers: str) -> None:
    print(json.dumps(RUNS[command](where, *map(int, numbers))), flush=True)  # type: ignore[operator]


if __name__ == "__main__":
    if sys.argv[1:]:
        tell(*sys.argv[1:])
    else:
        for line in sys.stdin:
            if (child := os.fork()) == 0:
                tell(*json.loads(line))
                break
            if os.waitpid(child, 0)[1]:
                print("null", flush=True)
