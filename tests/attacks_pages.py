"""Documents and names as an attacker would send them: changed PDFs, every legal geometry, paths that leave the folder.
A picture or a typed problem, an edge at most a pixel off, nothing opened outside; ``bench_attack`` runs large counts.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from tests.attacks import SAMPLE, once
from tests.pdf_fixtures import LEGAL, Geometry, hidden_layer, page, pages
from tests.red_box import off

# What words and numbers of a PDF are exchanged for.
_ODD: Final = (
    b"0", b"-1", b"1e9", b"99999999999999999999", b"nan", b"null", b"[ ]", b"<< >>", b"<<", b">>", b"(", b"2 0 R",
    b"3 0 R", b"/Kids", b"/Type", b"stream", b"endobj", b"\x00", b"[" * 300, b"/Length 1",
    b"/Filter /FlateDecode", b"/Rotate 7",
)  # fmt: skip
_PIECES: Final = (
    "..", ".", "", "/", "\\", "etc", "passwd", "outside.pdf", "ok.pdf", "sub", "~", "$HOME", "%2e%2e", "C:", "CON",
    "file:", "//", "\\\\host\\share", "\x00", "\n", "\u202e", "\uff0f", "link.pdf", "linked", "a" * 300, "http://127.0.0.1/",
    "\ud800", "?", "*", "|", "-rf", "proc", "self", "environ", "dev", "zero", " ", "é", "e\u0301",
)  # fmt: skip


class Drawn(NamedTuple):
    """What became of one document: ``picture``, the kind of a typed problem, or the error that was neither."""

    outcome: str
    uncaught: str
    seconds: float


def good_documents() -> list[bytes]:
    """Small PDFs to begin with: made by hand, and the smallest of the sample data."""
    small = sorted(SAMPLE.rglob("*.pdf"), key=lambda path: path.stat().st_size)[:6]
    made = [page(), pages(3), hidden_layer(), *(geometry.document() for geometry in LEGAL.values())]
    return [*made, *(path.read_bytes() for path in small)]


def drawn_documents(count: int, seed: int) -> Iterator[Drawn]:
    """What the pool makes of changed PDFs, one after the other, as the dashboard asks for a page and its words."""
    chance, good = random.Random(f"documents/{seed}"), good_documents()
    with tempfile.TemporaryDirectory() as folder, PagePool(cache_bytes=2 << 20) as pool:
        path = Path(folder, "changed.pdf")
        for number in range(count):
            content = chance.choice(good)
            for _ in range(chance.randint(1, 6)):
                content = once(content, chance, _ODD, before=b" ", after=b" /[]<>()\n", cuts=0.2)
            path.write_bytes(content)
            start, outcome, uncaught = time.perf_counter(), "picture", ""
            try:
                pool.page_image(path, 0, width=120)
                if number % 4 == 0:
                    pool.words(path, 0)
            except PageProblem as problem:
                outcome = problem.kind
            except Exception as problem:  # noqa: BLE001 - what is looked for
                outcome, uncaught = "uncaught", f"{type(problem).__name__}: {problem}"
            yield Drawn(outcome, uncaught, time.perf_counter() - start)


class Late(NamedTuple):
    """A sleeping thread that woke late, and what the machine and the process did meanwhile, in seconds."""

    seconds: float
    machine: float
    """How long it was itself ready while others were run."""
    ran: float
    """How long other threads of the process ran."""
    waited: float
    """How long other threads of the process were ready while others were run, together."""
    stolen: float = 0.0
    """How long the machine below a virtual one ran others on its processors; no thread is said to wait then."""
    elsewhere: float = 0.0
    """How long a process that does nothing else was late with its own sleep at the same time."""

    @property
    def frozen(self) -> float:
        """Seconds in which the process kept the thread from running.

        That is what other threads ran, who may have held the interpreter all that time, or what no thread's wait for a
        processor explains, whichever is more: a call that holds the interpreter and sleeps is a freeze as well, and
        a thread that holds it while the machine runs other programs is none of this process. A machine that stands
        still for all processes says of none that it waits.
        """
        kept = max(0.0, self.seconds - max(self.machine + self.stolen, self.elsewhere))
        return max(min(self.ran, kept), kept - self.waited)


# What another process does meanwhile: it sleeps as well, and prints from when to when it should have been awake.
_SLEEPER: Final = """
import sys, time
step = float(sys.argv[1])
print(flush=True)
while True:
    due = time.monotonic() + step
    time.sleep(step)
    now = time.monotonic()
    if now - due > step:
        print(due, now, flush=True)
"""


@contextmanager
def freezes(step: float = 0.005) -> Iterator[list[Late]]:
    """How late a thread wakes that sleeps again and again: somebody holds the interpreter, or the machine is busy.

    The list has what was late by more than a step, in seconds, and is complete when the context ends.
    """
    late: list[Late] = []
    dues: list[float] = []
    watching, done = threading.Event(), threading.Event()

    def watch() -> None:
        own = str(threading.get_native_id())
        while not done.is_set():
            before, stolen, ran = _waited(), _stolen(), time.process_time() - time.thread_time()
            due = time.monotonic() + step
            watching.set()
            time.sleep(step)
            seconds = time.monotonic() - due
            # A thread that began meanwhile has waited since then; of one that ended nothing is known, and it excuses
            # nothing.
            waited = {thread: after - before.get(thread, 0.0) for thread, after in _waited().items()}
            machine = waited.pop(own, 0.0)
            ran = time.process_time() - time.thread_time() - ran
            # What is kept of every look, some hundred thousand, would itself be what the garbage collector goes
            # through for a tenth of a second, holding the interpreter.
            if seconds > step:
                dues.append(due)
                late.append(Late(seconds, machine, ran, sum(waited.values()), _stolen() - stolen))

    with tempfile.TemporaryFile("w+") as said:
        sleeper = subprocess.Popen([sys.executable, "-c", _SLEEPER, str(step)], stdout=said)
        while sleeper.poll() is None and not os.fstat(said.fileno()).st_size:
            time.sleep(step)
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        # What happens before the first look would not be seen.
        watching.wait()
        try:
            yield late
        finally:
            done.set()
            thread.join()
            sleeper.kill()
            sleeper.wait()
            said.seek(0)
            # The last line may be cut off where the process was ended.
            others = [tuple(map(float, line.split())) for line in said if line.endswith("\n") and line.strip()]
            late[:] = _compared(late, dues, others)


def _compared(late: list[Late], dues: list[float], others: Sequence[tuple[float, ...]]) -> list[Late]:
    """The same, with how long another process was late meanwhile, which is said by from when to when, in order."""
    if not others:
        return late
    starts, ends = np.array(others).T
    compared = []
    for each, due in zip(late, dues, strict=True):
        first = int(np.searchsorted(ends, due))
        last = int(np.searchsorted(starts, due + each.seconds))
        both = np.minimum(ends[first:last], due + each.seconds) - np.maximum(starts[first:last], due)
        compared.append(each._replace(elsewhere=float(both.sum())))
    return compared


def _waited() -> dict[str, float]:
    """Seconds that each thread of this process was ready to run while a processor ran others, where that is counted."""
    seconds = {}
    for place in Path("/proc/self/task").glob("*/schedstat"):
        # A thread may end meanwhile.
        with suppress(OSError):
            seconds[place.parent.name] = int(place.read_text(encoding="ascii").split()[1]) / 1e9
    return seconds


def _stolen() -> float:
    """Seconds that others had the processors of this virtual machine: ``steal`` of proc_stat(5); 0 elsewhere."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return 0.0
    return int(first[8]) / os.sysconf("SC_CLK_TCK")


def geometries(count: int, seed: int) -> Iterator[tuple[Geometry, int]]:
    """Legal pages by chance, with the dpi that they are drawn at: shifted, cropped, turned, in other units."""
    chance = random.Random(f"geometry/{seed}")
    for _ in range(count):
        left, bottom = chance.choice([(0.0, 0.0), (chance.uniform(-90, 90), chance.uniform(-90, 90))])
        media = (left, bottom, left + chance.uniform(250, 700), bottom + chance.uniform(290, 900))
        crop = None
        if chance.random() < 0.6:
            crop = (chance.uniform(left - 50, 90), chance.uniform(bottom - 50, 90),
                    chance.uniform(165, media[2] + 50), chance.uniform(195, media[3] + 50))  # fmt: skip
        rotate, unit = chance.choice([0, 90, 180, 270, -90, 450]), chance.choice([1.0, 1.0, 2.0, 1.5])
        if max(media[0], crop[0] if crop else media[0]) < 98 and max(media[1], crop[1] if crop else media[1]) < 98:
            yield Geometry(media, crop, rotate, unit), chance.choice([72, 100, 150, 200, 300])


def geometry_offs(count: int, seed: int) -> Iterator[tuple[Geometry, int, float]]:
    """By how many pixels the box of each legal page is off its picture."""
    with tempfile.TemporaryDirectory() as folder, PagePool(time_limit=20.0) as pool:
        for number, (geometry, dpi) in enumerate(geometries(count, seed)):
            path = Path(folder, f"{number}.pdf")
            path.write_bytes(geometry.document())
            yield geometry, dpi, off(pool.page_image(path, 0, dpi=dpi), geometry)


def names_of_the_corpus() -> list[str]:
    content = Path(__file__).parent.joinpath("hostile", "json", "doc_paths.json").read_text(encoding="utf-8")
    return [document["doc_path"] for document in json.loads(content)["documents"]]


def hostile_names(count: int, seed: int) -> Iterator[str]:
    """Names of documents made of pieces that lead elsewhere."""
    chance = random.Random(f"names/{seed}")
    for _ in range(count):
        parts = [chance.choice(_PIECES) for _ in range(chance.randint(1, 8))]
        yield chance.choice(["/", "\\", "", "//"]).join(parts)


def opened_outside(count: int, seed: int) -> tuple[int, list[str]]:
    """How many names were looked up, and what was opened outside the folder while they were.

    Every opening and listing of this process is noted by an audit hook, which cannot be taken back: so this is for a
    process of its own, ``python -m tests.attacks_pages COUNT SEED``.
    """
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "documents")
        (root / "sub").mkdir(parents=True)
        for name in ("documents/ok.pdf", "documents/sub/ok.pdf", "outside.pdf"):
            Path(place, name).write_bytes(page())
        (root / "link.pdf").symlink_to(Path(place, "outside.pdf"))
        (root / "linked").symlink_to(place)
        inside, touched, watching = str(root.resolve()), [], True

        def note(event: str, arguments: tuple[object, ...]) -> None:
            if not watching or event not in ("open", "os.listdir", "os.scandir", "socket.connect", "subprocess.Popen"):
                return
            where = str(arguments[0]) if isinstance(arguments[0], str | Path) else ""
            if event in ("socket.connect", "subprocess.Popen") or (where and not where.startswith(inside)):
                touched.append(f"{event} {arguments[0]!r}")

        known = names_of_the_corpus()
        sys.addaudithook(note)
        folder, looked_up = PdfFolder(root), 0
        for name in (*known, *hostile_names(count, seed)):
            looked_up += 1
            try:
                path = folder.find(name)
                if not str(path).startswith(inside):
                    touched.append(f"returned {path}")
            except PageProblem:
                continue
        watching = False
        return looked_up, touched


if __name__ == "__main__":
    names, outside = opened_outside(int(sys.argv[1]), int(sys.argv[2]))
    print(names, len(outside), *outside[:5], sep="\n")
