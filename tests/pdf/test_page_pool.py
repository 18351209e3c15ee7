"""Processes that draw pages: limits, killing, slow pages, lies, what is kept, and that nothing is left behind."""

import contextlib
import io
import itertools
import os
import re
import signal
import sys
import textwrap
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from evaluator.pdf import pool as pages_pdf
from evaluator.pdf import process, worker
from evaluator.pdf.pool import PageImage, PagePool, Words
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.worker import (
    PIXEL_LIMIT,
    Description,
    Failure,
    InkGrid,
    LayoutList,
    Ready,
    Request,
    SizeList,
    WordList,
    read_frame,
    write_frame,
)
from tests.page_asking import picture_of, refused, run_python
from tests.pdf.conftest import Write
from tests.pdf_fixtures import form_bomb, page, pages

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals")
pytestmark = pytest.mark.usefixtures("compiled_modules")


@pytest.fixture
def good(write: Write) -> Path:
    return write("good.pdf", pages(60))


@pytest.fixture
def bomb(write: Write) -> Path:
    """A page that never ends."""
    return write("bomb.pdf", form_bomb())


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as made:
        yield made


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its adopter does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[-1].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()


def worker_pids(pool: PagePool) -> set[int]:
    return {worker.process.pid for worker in list(pool._live)}


def busy(pool: PagePool) -> list[Any]:
    return [worker for worker in list(pool._live) if worker not in pool._free]


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds, for a minute: a busy machine starts a process or a thread late."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def test_endless_page_is_killed_while_others_are_drawn(
    good: Path, bomb: Path, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_pdf, "_CLOCK_LIMITS", 20)
    # The system counts whole seconds of a process, which has taken some of the first one to start.
    with PagePool(time_limit=0.7, wait_limit=60.0, spares=1) as pool:
        pool.page_image(good, 0)
        # Three sessions on the same page: they wait for each other and cost one worker.
        sessions = [threads.submit(refused, pool.page_image, bomb, 0) for _ in range(3)]
        until(lambda: busy(pool))
        before = worker_pids(pool)
        for page_index in range(1, 6):
            assert pool.page_image(good, page_index).page_width == 100 + page_index
        assert not any(session.done() for session in sessions), "they do not wait for its end"
        bombed = [session.result() for session in sessions]
        assert [problem.kind for problem in bombed] == ["too_slow"] * 3
        # On a busy machine the clock may be first: a slow page has the lowest priority.
        assert re.fullmatch(
            r"Rendering took too long\. Page 1 of bomb\.pdf was not ready after (0\.7 s of the processor|14 s) and was "
            r"stopped\. It is not tried again for 10 minutes\. Open the page in a PDF viewer; saving it again in "
            r"simpler form often helps\.",
            str(bombed[0]),
        )
        assert pool.page_image(good, 6).page_width == 106
        # Exactly one process was lost and replaced.
        assert len(before - worker_pids(pool)) == 1
        assert not any(map(alive, before - worker_pids(pool)))


@needs_signals
def test_a_page_that_waits_for_the_processor_is_drawn_and_one_that_is_stuck_ends_by_the_clock(
    write: Write, good: Path, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    monkeypatch.setattr(pages_pdf, "_CLOCK_LIMITS", 600)
    with PagePool(time_limit=0.2, workers=1) as pool:
        pool.describe(good)
        (worker,) = pool._live
        worker.process.send_signal(signal.SIGSTOP)
        waiting = threads.submit(pool.page_image, good, 1)
        # It has waited for longer than it may compute.
        until(lambda: worker.stepped_back)
        worker.process.send_signal(signal.SIGCONT)
        assert waiting.result().page_width == 101
        pool.describe(write("other.pdf", page()))
        (worker,) = pool._live
        worker.process.send_signal(signal.SIGSTOP)
        monkeypatch.setattr(pages_pdf, "_CLOCK_LIMITS", 2)
        stuck = refused(pool.page_image, good, 2)
        assert stuck.text.startswith("Page 3 of good.pdf was not ready after 0.4 s and was stopped.")
        assert not alive(worker.process.pid)


def test_a_slow_page_is_not_waited_for_longer_than_is_said(bomb: Path, threads: ThreadPoolExecutor) -> None:
    """It lets others go first, so that on a busy machine it takes long; what is said comes in time, to all who ask."""
    with PagePool(time_limit=0.7, slow_after=0.05, wait_limit=120.0, workers=1) as pool:
        pool.describe(bomb)
        asking = [threads.submit(refused, pool.page_image, bomb, 0, patience=0.2) for _ in range(3)]
        said = [each.result() for each in asking]
        assert [problem.kind for problem in said] == ["not_ready"] * 3
        assert str(said[0]) == (
            "This page is still being drawn. Page 1 of bomb.pdf was not ready after 0.2 s. It is drawn further while "
            "others go first. It is looked for again by itself for a minute; after that open it again."
        )
        # Its words come after its picture.
        assert refused(pool.words, bomb, 0, patience=0.1).kind == "not_ready"
        assert refused(pool.page_image, bomb, 0).kind == "too_slow"
        # What is known by then is said at once.
        assert refused(pool.page_image, bomb, 0, patience=0.2).kind == "too_slow"


def test_a_page_that_is_not_waited_for_is_there_only_when_it_is_kept(pool: PagePool, write: Write) -> None:
    # Of no other test, which would have asked for its pages.
    path = write("good.pdf", pages(3) + b"% not waited for")
    for ask in (pool.page_image, pool.words, pool.ink):
        assert refused(ask, path, 1, patience=0).kind == "not_ready"
        answer = ask(path, 1)
        assert ask(path, 1, patience=0) is answer


def test_the_size_of_a_page_is_that_of_its_picture(pool: PagePool, good: Path) -> None:
    sizes = pool.page_sizes(good)
    for index in range(3):
        image = pool.page_image(good, index)
        assert pool.page_size(good, index) == (image.page_width, image.page_height) == tuple(sizes[index])
    assert refused(pool.page_size, good, 60).kind == "page_out_of_range"


@needs_signals
def test_a_page_that_is_waited_for_no_longer_is_drawn_for_the_next_one_who_asks(good: Path) -> None:
    with PagePool(time_limit=30.0, workers=1) as pool:
        pool.describe(good)
        (pid,) = worker_pids(pool)
        # From now on: a process that was slow once is replaced, and another one would draw the page.
        pool._slow_after = 0.0
        os.kill(pid, signal.SIGSTOP)
        assert refused(pool.page_image, good, 1, patience=0.05).kind == "not_ready"
        os.kill(pid, signal.SIGCONT)
        assert pool.page_image(good, 1).page_width == 101


@linux_only
def test_a_slow_page_lets_others_go_first_and_its_process_is_replaced(
    good: Path, bomb: Path, threads: ThreadPoolExecutor
) -> None:
    """Also in a process that had to start, which takes longer than `slow_after` on a busy machine."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with PagePool(time_limit=60.0, slow_after=0.01) as pool:
        slow = threads.submit(refused, pool.page_image, bomb, 0)
        until(lambda: any(each.stepped_back for each in list(pool._live)))
        (worker,) = [each for each in list(pool._live) if each.stepped_back]
        assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) > own or own == 19
        pool._slow_after = 60.0
        assert pool.page_image(good, 0).width
        assert [each for each in pool._live if each.stepped_back] == [worker]
        worker.kill()
        until(lambda: worker not in pool._live)
        pool.close()
        assert slow.result().kind in ("worker_lost", "no_renderer")


@needs_signals
def test_a_page_that_is_late_and_not_slow_is_waited_for(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine every page is late."""
    looks: list[float] = []
    wait = pages_pdf.wait

    def look(futures: Any, seconds: float) -> Any:
        looks.append(seconds)
        if len(looks) == 4:
            os.kill(pid, signal.SIGCONT)
        return wait(futures, seconds)

    with PagePool(time_limit=300.0, workers=1) as pool:
        pool.describe(good)
        (pid,) = worker_pids(pool)
        os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(pages_pdf, "wait", look)
        assert pool.page_image(good, 1, patience=0.05).page_width == 101
        assert len(looks) >= 4
        # What goes wrong beside the one who waits is said to him.
        assert refused(pool.page_image, good, 99, patience=5.0).kind == "page_out_of_range"


def test_page_that_killed_a_worker_is_not_retried_for_ten_minutes(bomb: Path) -> None:
    now = [1000.0]
    with PagePool(clock=lambda: now[0]) as pool:
        assert pool.describe(bomb).page_count == 1
        pool._time_limit = 0.05
        assert refused(pool.page_image, bomb, 0, dpi=72).kind == "too_slow"
        processes = worker_pids(pool)
        # By content: the same page under another name and at another size is the same page.
        copy = bomb.with_name("copy.pdf")
        copy.write_bytes(bomb.read_bytes())
        now[0] += 599
        for blocked in (bomb, copy):
            assert refused(pool.page_image, blocked, 0, dpi=20).kind == "too_slow"
        assert worker_pids(pool) == processes
        now[0] += 2
        assert refused(pool.page_image, bomb, 0, dpi=72).kind == "too_slow"
        assert worker_pids(pool) != processes


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
def test_a_page_that_needs_too_much_memory_is_said_to_and_not_tried_again(write: Write) -> None:
    """Its text is 300 MiB long; MuPDF says that realloc failed."""
    path = write("text.pdf", page(zlib.compress(b"(" + bytes(300 * 2**20), 1), packed=True))
    with PagePool() as pool:
        pool.describe(path)
        before = worker_pids(pool)
        problem = refused(pool.page_image, path, 0)
        assert (problem.kind, "alloc" in problem.detail) == ("out_of_memory", True)
        assert problem.text == (
            "Page 1 of text.pdf needs more memory than a page may have. It is not tried again for 10 minutes."
        )
        after = worker_pids(pool)
        assert not before & after
        assert refused(pool.page_image, path, 0, dpi=20).kind == "out_of_memory"
        assert worker_pids(pool) == after


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("code=2: calloc (1 x 4144 bytes) failed", "out_of_memory"),
        ("code=2: realloc (536870912 bytes) failed", "out_of_memory"),
        ("malloc of 9 bytes failed", "out_of_memory"),
        ("Out of memory", "out_of_memory"),
        ("[Errno 12] Cannot allocate memory", "out_of_memory"),
        ("code=7: no objects found", "unreadable"),
        ("cannot find font Metalloc", "unreadable"),
    ],
)
def test_the_cause_of_a_failure_is_told_from_what_the_renderer_says(
    said: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(worker._RequestHandler, "_open", fail)
    answer = worker._RequestHandler().answer(Request("page"), None)
    assert answer == Failure(kind, said)  # type: ignore[arg-type]


@needs_signals
def test_worker_that_dies_is_replaced(good: Path, bomb: Path, threads: ThreadPoolExecutor) -> None:
    with PagePool(time_limit=60.0) as pool:
        pool.page_image(good, 0)
        for worker in list(pool._live):  # while idle: no page is to blame
            worker.process.kill()
            worker.process.wait()
        assert pool.page_image(good, 1).page_width == 101
        lost = threads.submit(refused, pool.page_image, bomb, 0)
        shot: set[Any] = set()
        # The page is asked for again in a fresh worker before it is blamed.
        while len(shot) < 2:
            until(lambda: [worker for worker in busy(pool) if worker.page[0] and worker not in shot])
            (worker,) = [worker for worker in busy(pool) if worker not in shot]
            shot.add(worker)
            worker.process.send_signal(signal.SIGSEGV)
        assert lost.result().kind == "worker_lost"
        assert refused(pool.page_image, bomb, 0).kind == "worker_lost"
        assert pool.page_image(good, 2).page_width == 102


def test_close_leaves_no_process_and_fails_typed(good: Path, bomb: Path, threads: ThreadPoolExecutor) -> None:
    pool = PagePool(time_limit=60.0, spares=1)
    assert not pool._live  # nothing starts before the first request
    pool.page_image(good, 0)
    waiting = threads.submit(refused, pool.page_image, bomb, 0)
    until(lambda: busy(pool) and len(worker_pids(pool)) >= 2)
    pids = worker_pids(pool)
    pool.close()
    assert waiting.result().kind == "worker_lost"
    assert not any(map(alive, pids))
    assert refused(pool.page_image, bomb, 0).kind == "no_renderer"
    pool.close()


def test_a_pool_at_rest_has_no_process_and_draws_again(good: Path, bomb: Path, threads: ThreadPoolExecutor) -> None:
    with PagePool() as pool:
        pool.page_image(good, 0)
        pool._time_limit = 0.1
        waiting = threads.submit(refused, pool.page_image, bomb, 0)
        until(lambda: busy(pool))
        pids = worker_pids(pool)
        pool.rest()
        assert waiting.result().kind == "too_slow"
        assert not pool._live  # the one that was at work is not replaced
        assert not any(map(alive, pids))
        pool._time_limit = 5.0
        assert pool.page_image(good, 0, dpi=30).width > 0


def test_collected_pool_leaves_no_process(good: Path) -> None:
    pool = PagePool()
    pool.page_image(good, 0)
    pids = worker_pids(pool)
    del pool
    assert not any(map(alive, pids))


def test_worker_is_replaced_after_its_share_of_requests(good: Path) -> None:
    with PagePool(workers=1, requests_per_worker=3) as pool:
        seen = []
        for page_index in range(4):
            assert pool.page_image(good, page_index, dpi=30).page_width == 100 + page_index
            seen.append(frozenset(worker_pids(pool)))
        # The third answer is the last one of the first process.
        assert seen[0] == seen[1] != seen[2] == seen[3]


def test_eight_threads_get_their_own_pages(pool: PagePool, good: Path, threads: ThreadPoolExecutor) -> None:

    def ask(turn: int) -> tuple[int, float, tuple[str, ...]]:
        page_index = turn * 7 % 40
        return page_index, pool.page_image(good, page_index, dpi=50).page_width, pool.words(good, page_index).texts

    for page_index, width, texts in threads.map(ask, range(120)):
        assert width == 100 + page_index
        assert texts == (f"page{page_index}",)


def test_waiting_is_bounded(good: Path, bomb: Path, threads: ThreadPoolExecutor) -> None:
    with PagePool(workers=1, time_limit=0.3, wait_limit=0.1, slow_after=9.0) as pool:
        pool.describe(good)
        slow = threads.submit(refused, pool.page_image, bomb, 0)
        until(lambda: busy(pool))
        assert refused(pool.page_image, good, 0).kind == "busy"
        assert slow.result().kind == "too_slow"
        assert pool.page_image(good, 0).width


def test_slow_pages_of_one_session_leave_room_for_the_others(
    write: Write, good: Path, threads: ThreadPoolExecutor
) -> None:
    bombs = [write(f"bomb{number}.pdf", form_bomb() + b"%" * number) for number in range(2)]
    # Nobody may wait longer than a slow page takes: without room beside them every good page would be "busy".
    with PagePool(time_limit=60.0, wait_limit=30.0, slow_after=0.2) as pool:
        pool.describe(good)
        slow = [threads.submit(refused, pool.page_image, bomb, 0) for bomb in bombs]
        until(lambda: len(busy(pool)) == 2)
        for page_index in range(3):
            assert pool.page_image(good, page_index).page_width == 100 + page_index
        assert not any(each.done() for each in slow), "the slow pages are drawn all the while"
        pool.close()
        assert {each.result().kind for each in slow} == {"worker_lost"}
        assert (pool._running._value, pool._slow._value) == (2, 2)


def run_pool(code: str, *documents: Path) -> list[str]:
    """The words that a process prints that uses a pool and ends without closing it, with no error and no warning."""
    head = """
        import os, signal, sys, threading
        from pathlib import Path
        from evaluator.pdf.pool import PagePool
        from evaluator.pdf.problems import PageProblem
        paths = [Path(word) for word in sys.argv[1:]]
        def pids(): return [worker.process.pid for worker in pool._live]
    """
    done = run_python(textwrap.dedent(head) + textwrap.dedent(code), *map(str, documents))
    assert (done.returncode in (0, -signal.SIGKILL), done.stderr) == (True, "")
    return done.stdout.split()


def test_app_process_never_imports_the_renderer(write: Write) -> None:
    pids = run_pool(
        """
        pool = PagePool()
        assert pool.describe(paths[0]).page_count == 2
        assert pool.page_image(paths[0], 1).page_width == 101
        assert pool.words(paths[0], 1).texts == ("page1",)
        assert not {name.split(".")[0] for name in sys.modules} & {"pymupdf", "fitz", "PIL", "streamlit"}
        print(*pids())
        """,
        write("two.pdf", pages(2)),
    )
    assert pids
    assert not any(alive(int(pid)) for pid in pids)


@needs_signals
def test_workers_end_when_the_app_is_killed_also_in_the_middle_of_a_page(good: Path, bomb: Path) -> None:
    pids = run_pool(
        """
        pool = PagePool(time_limit=120.0, spares=1)
        pool.page_image(paths[0], 0)
        print(*pids(), flush=True)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
        pool.page_image(paths[1], 0)
        """,
        good,
        bomb,
    )
    assert pids
    until(lambda: not any(alive(int(pid)) for pid in pids))


def test_the_app_ends_while_a_page_is_drawn_that_nobody_waits_for(bomb: Path) -> None:
    kind, *pids = run_pool(
        """
        pool = PagePool(time_limit=600.0, slow_after=0.05)
        try:
            pool.page_image(paths[0], 0, patience=0.1)
        except PageProblem as problem:
            print(problem.kind, *pids())
        """,
        bomb,
    )
    assert kind == "not_ready"
    assert pids
    assert not any(alive(int(pid)) for pid in pids)


def test_a_session_that_asks_for_many_pages_does_not_keep_the_others_waiting(
    write: Write, good: Path, threads: ThreadPoolExecutor
) -> None:
    one = write("one.pdf", page())
    with PagePool(workers=1, wait_limit=120.0, time_limit=60.0) as pool:
        drawn: list[int] = []

        def greedy() -> None:
            for page_index in range(60):
                pool.page_image(good, page_index, dpi=20)
                drawn.append(page_index)

        going = threads.submit(greedy)
        until(lambda: len(drawn) > 5)
        pool.page_image(one, 0)
        pool.words(one, 0)
        assert len(drawn) < 60, "they are served between the others"
        going.result()


# Not the worker: it introduces itself, and then answers the first request as its argument says.
LIAR = """
import os, sys, time
from evaluator.pdf import process, worker
import msgspec
source, sink, files = worker.own_pipes()
worker.write_frame(sink, msgspec.msgpack.encode(worker.Ready("liar")))
worker.read_frame(source, limit=65536)
answer = msgspec.msgpack.encode(worker.Description(1, False))
said = {SAID}
sink.write(said)
sink.flush()
if {ENDS}:
    os._exit(0)
time.sleep(600)
"""


def test_a_worker_that_lies_or_stalls_costs_a_limit_and_nothing_else(
    write: Write, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, kinds = process.python_module, []
    lies = [
        ("b'\\0\\0'", False, "too_slow"),
        ("len(answer).to_bytes(4, 'big') + answer[:-1]", False, "too_slow"),
        ("len(answer).to_bytes(4, 'big') + answer[:-1]", True, "worker_lost"),
        ("b'\\xff' * 4 + answer", False, "worker_lost"),
        ("(3).to_bytes(4, 'big') + b'abc'", False, "worker_lost"),
    ]
    for said, ends, _ in lies:
        program = write("liar.py", LIAR.replace("{SAID}", said).replace("{ENDS}", str(ends)).encode())
        with PagePool(time_limit=0.1) as pool:
            monkeypatch.setattr(process, "python_module", lambda _: [sys.executable, "-P", str(program)])  # noqa: B023
            kinds.append((said, ends, refused(pool.page_image, good, 0).kind))
            # Those that replace them would lie as well.
            pool.rest()
            monkeypatch.setattr(process, "python_module", command)
            if kinds[-1][-1] not in {kind for *_, kind in kinds[:-1]}:
                assert pool.describe(good).page_count == 60
    assert kinds == lies


@linux_only
def test_worker_gives_up_what_it_does_not_need_and_stays_small(write: Write) -> None:
    poster = write("poster.pdf", page(entries=b"/MediaBox [0 0 20000 20000]"))
    with PagePool(time_limit=20.0, slow_after=20.0) as pool:
        image = pool.page_image(poster, 0, dpi=300)
        assert image.width * image.height == PIXEL_LIMIT
        (pid,) = worker_pids(pool)
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        assert peak is not None
        assert int(peak.group(1)) <= 512 * 1024
        limits = Path(f"/proc/{pid}/limits").read_text()
        for line in ("Max core file size +0 +0 ", "Max file size +0 +0 ", "Max processes +0 +0 "):
            assert re.search(line, limits)
        assert re.search(rf"Max data size +{480 * 2**20} +{480 * 2**20} ", limits)
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert not [entry for entry in environment if entry.startswith((b"HOME=", b"LAYOUTSCOPE_SHARED="))]


def webp(width: int, height: int, **more: bool) -> bytes:
    return picture_of(Image.new("RGB", (width, height)), "WEBP", **more)


def jpeg(width: int, height: int, mode: str = "RGB", **more: bool) -> bytes:
    return picture_of(Image.new(mode, (width, height)), "JPEG", **more)


def test_an_honest_picture_is_taken_where_it_was_asked_for() -> None:
    for size in ((1, 1), (40, 30), (1, 16_000)):
        shown = PageImage(webp(*size), *size, 5.0, 5.0)
        alone = PageImage(b"", *size, 5.0, 5.0, jpeg=jpeg(*size))
        both = PageImage(webp(*size), *size, 5.0, 5.0, jpeg=jpeg(*size))
        honest = {"webp": shown, "jpeg": alone, "screen": alone, "both": both}
        for encoding, reply in itertools.product(honest, (shown, alone, both)):
            if reply == honest[encoding]:
                assert pages_pdf._checked(reply, encoding) == reply  # type: ignore[arg-type]
            else:
                with pytest.raises(pages_pdf.ProcessLost, match="another format"):
                    pages_pdf._checked(reply, encoding)  # type: ignore[arg-type]


def boxes_of(*numbers: float) -> bytes:
    return np.array(numbers).tobytes()


DISHONEST = [
    *[PageImage(b"", 40, 30, 5.0, 5.0, jpeg=picture) for picture in (
        b"<svg onload=alert(1)>", webp(40, 30), jpeg(30, 40), jpeg(40, 30, "L"), jpeg(40, 30, "CMYK"),
        jpeg(40, 30, progressive=True), jpeg(40, 30)[:100], b"\xff\xd8" + b"\xff\xe0\0\0" * 9,
        b"\xff\xd8\xff\xc0\0\x11\x08",
    )],
    PageImage(b"<svg onload=alert(1)>", 5, 5, 5.0, 5.0),
    PageImage(b"RIFF\0\0\0\0WEBP", 16_000, 16_000, 5.0, 5.0),
    PageImage(webp(40, 30), 4, 3, 5.0, 5.0),
    PageImage(webp(40, 30, lossless=True), 40, 30, 5.0, 5.0),
    WordList(b"\0" * 31, ["a"]),
    WordList(boxes_of(0.0, 0.0, 2.0, 1.0), ["a"]),
    WordList(boxes_of(0.0, 0.0, np.nan, 1.0), ["a"]),
    SizeList(b""),
    SizeList(boxes_of(1.0)),
    InkGrid(2, 2, b"\0" * 3),
    LayoutList(0, "", b"\0" * 31, b"", b"", b"", b""),
    LayoutList(0, "", boxes_of(0.0, 0.0, 2.0, 1.0), b"", b"", b"", b""),
    LayoutList(0, "", b"", b"", boxes_of(0.0, 0.0, 1.0, 1.0), boxes_of(1.0), b""),
    LayoutList(0, "", b"", b"", boxes_of(0.0, 0.0, 1.0, 1.0), boxes_of(-1.0), boxes_of(1.0)),
    LayoutList(0, "", b"", b"", b"", b"", b"", columns=8, rows=2, mask=b"\0"),
    Failure("page_out_of_range", "many"),
    Ready("again"),
]  # fmt: skip


def test_dishonest_answers_are_refused() -> None:
    taken = []
    for reply in DISHONEST:
        encoding = "jpeg" if isinstance(reply, PageImage) and reply.jpeg else "webp"
        with contextlib.suppress(pages_pdf.ProcessLost):
            taken.append((reply, pages_pdf._checked(reply, encoding)))  # type: ignore[arg-type]
    assert taken == []


def test_a_page_comes_in_the_encoding_that_is_asked_for(pool: PagePool, write: Write) -> None:
    path = write("one.pdf", page())
    shown, printed, both = (pool.page_image(path, 0, encoding=each) for each in ("webp", "jpeg", "both"))
    assert (both.webp, both.jpeg) == (shown.webp, printed.jpeg)
    assert (shown.jpeg, printed.webp) == (b"", b"")
    screen = pool.page_image(path, 0, encoding="screen")
    assert (screen.webp, screen.width, screen.warnings) == (b"", shown.width, shown.warnings)
    pictures = []
    for content, kind in ((both.webp, "WEBP"), (both.jpeg, "JPEG"), (screen.jpeg, "JPEG")):
        with Image.open(io.BytesIO(content), formats=(kind,)) as image:
            assert image.size == (both.width, both.height)
            pictures.append(np.asarray(image.convert("RGB"), dtype=np.float64))
    assert np.abs(pictures[0] - pictures[1]).mean() < 3.0
    assert np.abs(pictures[0] - pictures[2]).mean() < 2.0
    assert len(screen.jpeg) > len(printed.jpeg)
    part = pool.page_part(path, 0, part=(0.1, 0.1, 0.6, 0.4), dpi=144.0, width=640, encoding="jpeg")
    assert part.webp == b""
    with Image.open(io.BytesIO(part.jpeg), formats=("JPEG",)) as image:
        assert image.size == (part.width, part.height)


def test_honest_answers_are_cleaned() -> None:
    checked = pages_pdf._checked(Description(1, False, ("red \x1b[31m",)))
    assert checked == Description(1, False, ("red \\x1b[31m",))
    words = pages_pdf._checked(WordList(np.array([[0.0, 0.1, 0.2, 0.3]]).tobytes(), ["a"]))
    assert isinstance(words, Words)
    assert words.boxes.tolist() == [[0.0, 0.1, 0.2, 0.3]]


def test_messages_of_the_wrong_shape_are_refused() -> None:
    for payload in (
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"type": "Description", "page_count": -1, "encrypted": False}),
        msgspec.msgpack.encode({"type": "PageImage", "webp": b"", "width": 0, "height": 1}),
        msgspec.msgpack.encode(["PageImage"]),
    ):
        with pytest.raises(pages_pdf.ProcessLost, match="something that is not an answer"):
            pages_pdf._decoded(payload)


def test_frames() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, b"one")
    write_frame(pipe, b"")
    whole = pipe.getvalue()
    reader = io.BytesIO(whole)
    assert [read_frame(reader, limit=3) for _ in range(3)] == [b"one", b"", None]
    assert read_frame(io.BytesIO(whole[:5]), limit=3) is None
    with pytest.raises(ValueError, match="message of 3 bytes, the limit is 2"):
        read_frame(io.BytesIO(whole), limit=2)


def test_answers_are_kept_by_content(pool: PagePool, write: Write) -> None:
    path = write("one.pdf", pages(2))
    first = pool.page_image(path, 0)
    assert pool.page_image(path, 0) is first
    assert pool.page_image(path, 0, dpi=111) is not first
    assert pool.words(path, 0) is pool.words(path, 0)
    copy = path.with_name("copy.pdf")
    copy.write_bytes(path.read_bytes())
    assert pool.page_image(copy, 0) is first
    path.write_bytes(page())
    assert pool.page_image(path, 0).page_width == 612


def test_file_exchanged_behind_the_digest_is_noticed(write: Write) -> None:
    path = write("one.pdf", page(entries=b"/MediaBox [0 0 612 792]"))
    # A new process for each request: one that has the document open would not read the file again.
    with PagePool(requests_per_worker=1) as pool:
        pool.describe(path)
        status = path.stat()
        # Same size, same inode, same time: only the bytes tell.
        path.write_bytes(page(entries=b"/MediaBox [0 0 512 792]"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert pool.page_image(path, 0).page_width == 512


def test_missing_and_odd_files(pool: PagePool, tmp_path: Path) -> None:
    for path in (tmp_path / "none.pdf", tmp_path, Path("/dev/zero"), tmp_path / "a\0b.pdf"):
        assert refused(pool.page_image, path, 0).kind == "missing"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.pdf")
        with pytest.raises(PageProblem):
            pool.page_image(tmp_path / "pipe.pdf", 0)
