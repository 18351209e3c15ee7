"""Page images and words: asks worker processes that can be killed for pages, and keeps the answers.

Sizes are in pixels and points of the DISPLAYED page, words are boxes in [0, 1] of it, origin top left; indexes count
from 0. Everything a worker sends is untrusted: messages are msgpack with strict types and limits, and a picture only in
the format asked for. All users share the cache: its keys are digest of content and parameters, never a name or path.
The renderer is never imported here.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.issues import count_of, plain, quote
from evaluator.pdf.folder import IMAGE_SUFFIXES
from evaluator.pdf.passwords import Passwords, in_force
from evaluator.pdf.problems import PageProblem, ProblemKind
from evaluator.pdf.process import Process, ProcessLost, ProcessTimeout
from evaluator.pdf.worker import (
    DOCUMENT_BYTES_LIMIT,
    PAGE_LIMIT,
    PIXEL_LIMIT,
    REPLY_BYTES_LIMIT,
    SIZES_AT_ONCE,
    Description,
    Encoding,
    Failure,
    InkGrid,
    LayoutList,
    Media,
    PageImage,
    Ready,
    Reply,
    Request,
    SizeList,
    WordList,
    open_regular,
    pixel_size,
)
from evaluator.system.decoding import msgpack_decoder
from evaluator.system.lru_cache import LRUCache

__all__ = ["Description", "Ink", "Layout", "PageImage", "PagePool", "Words", "media_type_of", "sharpest_width"]

# Of a process whose page is slow, as `nice` counts: a tenth of what others get while they want it.
_SLOW_PRIORITY: Final = 10
_reply_of: Final = msgpack_decoder(Reply)
# A page may take so many times its limit of the processor by the clock: it waits while others have the processor.
# Windows has no limit of the processor.
_CLOCK_LIMITS: Final = 1 if sys.platform == "win32" else 6
_LOOK_IF_SLOW: Final = 0.1
_MAX_DPI: Final = 1200.0
_MAX_WIDTH: Final = 16_000
# Only these mean that the page is dangerous; everything else is cheap to find out again.
_KILLERS: Final[frozenset[ProblemKind]] = frozenset({"too_slow", "out_of_memory", "worker_lost"})


def sharpest_width(page_width: float, page_height: float) -> int:
    """Return the largest width in pixels at which a page in points is drawn whole, from 1 to 16,000.

    >>> sharpest_width(2384, 3370)
    4205
    """
    return pixel_size(page_width, page_height, dpi=None, width=_MAX_WIDTH)[0]


class Sizes(msgspec.Struct, frozen=True, eq=False):
    """Width and height of some pages, float64, shape (P, 2); NaN for a page that cannot be measured."""

    sizes: FloatArray


LEAST_INK: Final = 24
"""Of 255: less in a cell of `Ink` does not count."""


class Ink(msgspec.Struct, frozen=True, eq=False):
    """What stands out from the paper of a page, dark on light or light on dark.

    `cells`, uint8, shape (rows, columns): share of ink, 0 to 255, in a grid over the displayed page.
    """

    cells: npt.NDArray[np.uint8]

    @property
    def marked(self) -> BoolArray:
        """Return the cells that hold ink, bool; one with less than `LEAST_INK` is paper with a speck."""
        return self.cells >= LEAST_INK


class Words(msgspec.Struct, frozen=True, eq=False):
    """The words of one page in the document's own order; none for a page without text.

    `boxes`, float64, shape (N, 4), read-only, in [0, 1], cut at the page's edges; words wholly outside are left out.
    """

    boxes: FloatArray
    texts: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Layout(msgspec.Struct, frozen=True, eq=False):
    """What a page is made of, apart from words; arrays are read-only, boxes in [0, 1] of the displayed page.

    `rotation` is /Rotate: 0, 90, 180 or 270. `rules` are thin straight strokes, those of a scan in `mask` alone.
    `texts` are pieces in one font, with `sizes` in points. `mask`: a scan's ink by pixel, else shape (0, 0).
    """

    rotation: int
    producer: str
    images: FloatArray
    rules: FloatArray
    texts: FloatArray
    sizes: FloatArray
    characters: FloatArray
    mask: BoolArray

    @property
    def scanned(self) -> bool:
        """Return whether the page is an image, or a picture that covers most of it with hardly any text on it."""
        return self.mask.size > 0


_Answer = TypeVar("_Answer", Description, PageImage, Words, Sizes, Ink, Layout)
_Page = tuple[str, int]
"""Digest of a document, and index of a page; -1 for what is asked of the document alone."""


class _Worker(Process):
    def __init__(self) -> None:
        super().__init__("evaluator.pdf.worker", reply_bytes=REPLY_BYTES_LIMIT)
        self.engine = ""
        self.confined: tuple[str, ...] = ()
        self.answered = 0
        self.page: _Page = ("", 0)
        self.stepped_back = False

    def await_ready(self, seconds: float) -> None:
        """Wait for the first message; the process was started earlier and is mostly there already."""
        reply = _decoded(self.exchange(b"", seconds=seconds))
        if not isinstance(reply, Ready):
            raise ProcessLost(reply.detail if isinstance(reply, Failure) else "It did not send its version.")
        self.engine, self.confined = reply.engine, reply.confined

    def ask(self, request: Request, path: Path, *, slow_after: float, when_slow: Callable[[], object]) -> Reply:
        self.page = (request.digest, request.page_index)
        try:
            sent = b"" if self.hand(os.fsencode(path)) else os.fsencode(path)
        except OSError as problem:
            return Failure("unreadable", problem.strerror or "")
        message = msgspec.msgpack.encode(msgspec.structs.replace(request, path=sent))
        limit = request.time_limit
        answer = self.exchange(
            message, seconds=limit * _CLOCK_LIMITS, slow_after=slow_after, slow_by_clock=limit, when_slow=when_slow
        )
        self.answered += 1
        return _decoded(answer)

    def step_back(self) -> None:
        """Let others go first on the processor; a process cannot take that back, so this one is replaced afterwards."""
        self.stepped_back = True
        if sys.platform == "win32":
            return
        with contextlib.suppress(OSError):
            own = os.getpriority(os.PRIO_PROCESS, self.process.pid)
            os.setpriority(os.PRIO_PROCESS, self.process.pid, min(19, own + _SLOW_PRIORITY))
        # Where Linux shares the processor among sessions first, a number of the process alone changes nothing.
        with contextlib.suppress(OSError):
            Path(f"/proc/{self.process.pid}/autogroup").write_text(str(_SLOW_PRIORITY), encoding="ascii")


def _decoded(answer: bytes) -> Reply:
    try:
        reply: Reply = _reply_of(answer)
    except (msgspec.MsgspecError, UnicodeError) as problem:
        raise ProcessLost("It sent something that is not an answer.") from problem
    return reply


def _discard_all(workers: set[_Worker], owner: int) -> None:
    """End every worker, when the pool is collected or the interpreter ends; a forked child leaves them alone."""
    while workers and os.getpid() == owner:
        workers.pop().discard()


class _Turn:
    """Those who ask for one page ask one after the other; whether the page that is asked for now is slow."""

    def __init__(self, page: _Page) -> None:
        self.page = page
        self.lock = threading.Lock()
        self.slow = False


class _Question(NamedTuple):
    request: Request
    place: Path
    name: str
    turn: _Turn
    deadline: float

    def problem(self, kind: ProblemKind, detail: str = "") -> PageProblem:
        return PageProblem(kind, document=self.name, page_index=self.request.page_index, detail=detail)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


class PagePool:
    """Draws pages and reads words in processes that can be killed; for any number of threads.

    Questions take a path from `PdfFolder.find`, and most a page index from 0; what cannot be answered raises a
    `PageProblem`. Processes start with the first request or with `start`, one and the spares; more only when requests
    overlap. Requests for one page wait for each other: a page that never ends costs one worker, not all.

    Parameters
    ----------
    workers, spares : int
        Requests that run at a time, as many more that are slow, and processes kept warm to replace a killed one.
    time_limit : float
        Seconds of the processor for one request, up to the next whole second; by the clock six times as many, on
        Windows as many.
    wait_limit, start_limit : float
        Seconds that a request waits for its turn, and a process may take to start.
    slow_after : float
        Seconds of the processor (`time_limit` by the clock) after which a request lets others go first.
    requests_per_worker : int
        After so many a process is replaced, so that what a document left behind in it does not stay.
    blocked_for : float
        Seconds for which a page that killed a worker is not tried again.
    passwords : Passwords, optional
        Those with which PDFs are opened; those `passwords.in_force` when not given. What was drawn with one is shown
        only to those who have it.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        spares: int = 0,
        time_limit: float = 5.0,
        wait_limit: float = 20.0,
        slow_after: float = 0.5,
        start_limit: float = 30.0,
        requests_per_worker: int = 200,
        cache_bytes: int = 96 * 2**20,
        blocked_for: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
        passwords: Passwords | None = None,
    ) -> None:
        self.workers = workers
        self.passwords = in_force() if passwords is None else passwords
        self._most = workers + spares
        self._spares = spares
        self._time_limit = time_limit
        self._wait_limit = wait_limit
        self._slow_after = slow_after
        self._start_limit = start_limit
        self._requests_per_worker = requests_per_worker
        self._blocked_for = blocked_for
        self._clock = clock
        self._answers: LRUCache[Request, object] = LRUCache(most_bytes=cache_bytes)
        self._digests: LRUCache[tuple[object, ...], str] = LRUCache(most=4_096)
        self._blocked: LRUCache[tuple[str, int, str], tuple[float, ProblemKind, str]] = LRUCache(most=1_024)
        self._lock = threading.Lock()
        self._running, self._slow = threading.Semaphore(workers), threading.Semaphore(workers)
        self._turns: weakref.WeakValueDictionary[_Page, _Turn] = weakref.WeakValueDictionary()
        self._free: list[_Worker] = []
        self._live: set[_Worker] = set()
        self._most_busy = 1
        self._engine = ""
        self._closed = self._resting = False
        # Holds the set, not the pool: runs when the pool is collected, or at the interpreter's end.
        self._ending = weakref.finalize(self, _discard_all, self._live, os.getpid())

    def close(self) -> None:
        """End all processes; a request that is running fails as ``worker_lost``, later ones as ``no_renderer``."""
        with self._lock:
            self._closed = True
        self.rest()
        # The thread that asked discards these: closing a pipe under a running read would block.
        for worker in list(self._live):
            worker.kill()
            worker.process.wait()

    def rest(self) -> None:
        """End the processes that wait for a request, and those at work after it; the next request starts its own."""
        with self._lock:
            self._resting = True
            free, self._free = self._free, []
            self._live.difference_update(free)
        for worker in free:
            worker.discard()

    def __enter__(self) -> PagePool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the processes that the first request would wait for; nothing is waited for here."""
        with self._lock:
            self._resting = False
        self._refill()

    def renderer(self) -> tuple[str, tuple[str, ...]]:
        """Names and versions of the renderer, and what confines its process (`pdf.sandbox.enter`)."""
        worker = self._borrow(("", 0), "")
        self._give_back(worker, healthy=True)
        return worker.engine, worker.confined

    def opening_with(self, passwords: Passwords) -> PagePool:
        """Return the same processes and kept answers for somebody who has other passwords; to be asked only."""
        return _OpeningPool(self, passwords)

    def describe(self, path: Path, *, patience: float | None = None) -> Description:
        """Page count (0 without its password), whether it lacks one, and warnings; for `patience` see `page_image`."""
        return self._answer(Description, path, Request("describe"), patience)

    def page_image(
        self,
        path: Path,
        page_index: int,
        *,
        dpi: float = 110.0,
        width: int | None = None,
        most_pixels: int = PIXEL_LIMIT,
        patience: float | None = None,
        encoding: Encoding = "webp",
    ) -> PageImage:
        """Return one page as a picture; images are one page at 72 dpi and are never enlarged.

        `dpi` is in (0, 1200], or instead `width` in pixels, 1 to 16,000; both are lowered to 25 million pixels (without
        a warning to `most_pixels`) and sides of 16,000. After `patience` seconds a slow page raises ``not_ready`` and
        is drawn further; None waits to the end, 0 asks for kept pages only. `encoding` "screen" is JPEG of quality 90.
        """
        if not 1 <= most_pixels <= PIXEL_LIMIT:
            raise ValueError(f"most_pixels must be from 1 to {PIXEL_LIMIT}, not {most_pixels!r}")
        _need_resolution(dpi if width is None else None, width)
        asked = float(dpi) if width is None else None
        request = Request("page", page_index, dpi=asked, width=width, most_pixels=most_pixels, encoding=encoding)
        return self._answer(PageImage, path, request, patience)

    def page_part(
        self,
        path: Path,
        page_index: int,
        *,
        part: tuple[float, float, float, float],
        dpi: float,
        width: int,
        encoding: Encoding = "webp",
    ) -> PageImage:
        """Return a part of one page, cut before it is encoded; see `page_image`.

        `part` is x1, y1, x2, y2 in [0, 1] of the displayed page, with an area; scaled down to `width` pixels if wider.
        """
        if not (0.0 <= part[0] < part[2] <= 1.0 and 0.0 <= part[1] < part[3] <= 1.0):
            raise ValueError(f"part must be x1, y1, x2, y2 in [0, 1] with an area, not {part!r}")
        _need_resolution(dpi, width)
        request = Request("page", page_index, dpi=float(dpi), width=width, part=part, encoding=encoding)
        return self._answer(PageImage, path, request)

    def words(self, path: Path, page_index: int, *, patience: float | None = None) -> Words:
        """Return a page's words; `patience` as in `page_image`: a slow page's picture is drawn before them."""
        return self._answer(Words, path, Request("words", page_index), patience)

    def ink(self, path: Path, page_index: int, *, patience: float | None = None) -> Ink:
        """Return the ink of one page on a small grid, all 0 for a blank one; `patience` is that of `page_image`."""
        return self._answer(Ink, path, Request("ink", page_index), patience)

    def layout(self, path: Path, page_index: int) -> Layout:
        """Pictures, ruled lines, font sizes, rotation and producer of one page, and the ink of a scan."""
        return self._answer(Layout, path, Request("layout", page_index))

    def page_sizes(self, path: Path) -> FloatArray:
        """Return width and height of every page, float64, shape (P, 2), in points or an image's pixels; or NaN."""
        count = max(self.describe(path).page_count, 1)
        parts = (self._answer(Sizes, path, Request("sizes", first)) for first in range(0, count, SIZES_AT_ONCE))
        return np.concatenate([part.sizes for part in parts])

    def page_size(self, path: Path, page_index: int) -> tuple[float, float]:
        """Width and height of one displayed page, as in `page_sizes`; those of its neighbours are kept with it."""
        if not 0 <= page_index < max(self.describe(path).page_count, 1):
            raise self._out_of_range(path, page_index)
        first = page_index - page_index % SIZES_AT_ONCE
        width, height = self._answer(Sizes, path, Request("sizes", first)).sizes[page_index - first].tolist()
        return width, height

    # The steps of a request: identify the content, look it up, take turns per page, borrow a worker, ask, keep.

    def _answer(self, wanted: type[_Answer], path: Path, question: Request, patience: float | None = None) -> _Answer:
        """Return what is known of the file of a path, or what a worker answers; `question` lacks the document."""
        if not 0 <= question.page_index < PAGE_LIMIT:
            # Refused here: such a number may not even fit into a message.
            raise self._out_of_range(path, question.page_index)
        if not question.password:
            question = msgspec.structs.replace(question, password=self.passwords.of(path))
        for _ in range(2):
            place, identity, digest = self._identify(path)
            media: Media = "image" if path.suffix.lower() in IMAGE_SUFFIXES else "pdf"
            request = msgspec.structs.replace(question, media=media, digest=digest, time_limit=self._time_limit)
            known = self._answers.get(request)
            if isinstance(known, wanted):
                return known
            deadline = time.monotonic() + self._wait_limit
            asked = _Question(request, place, path.name, self._turn(request), deadline)
            if patience == 0:
                raise asked.problem("not_ready", "0 s")
            ask = functools.partial(self._in_turn, wanted, asked)
            answer = ask() if patience is None else _within(patience, ask, asked)
            if answer is not None:
                return answer
            # The file was exchanged since its digest was taken.
            self._digests.drop(identity)
        raise PageProblem("unreadable", document=path.name, detail="The file changes while it is read.")

    def _out_of_range(self, path: Path, page_index: int) -> PageProblem:
        described = self.describe(path)
        kind: ProblemKind = "page_out_of_range" if described.page_count else "no_pages"
        if described.encrypted:
            kind = "encrypted"
        return PageProblem(
            kind, document=path.name, page_index=page_index, detail=count_of(described.page_count, "page")
        )

    def _identify(self, path: Path) -> tuple[Path, tuple[object, ...], str]:
        try:
            place = path.resolve(strict=True)
            status = place.stat()
            identity = (str(place), status.st_size, status.st_mtime_ns, status.st_ino)
            digest = self._digests.get(identity)
            if digest is None:
                if status.st_size > DOCUMENT_BYTES_LIMIT:
                    raise PageProblem("too_large", document=path.name)
                with open_regular(str(place)) as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                self._digests.put(identity, digest)
        except (OSError, RuntimeError, ValueError):
            raise PageProblem("missing", document=path.name, folder=path.parent.name) from None
        return place, identity, digest

    def _turn(self, request: Request) -> _Turn:
        """Return the turn of those who ask for this page, or for the document: opening it can kill, too."""
        page = request.digest, -1 if request.operation == "describe" else request.page_index
        with self._lock:
            return self._turns.setdefault(page, _Turn(page))

    def _in_turn(self, wanted: type[_Answer], asked: _Question) -> _Answer | None:
        """Return the answer, after those who asked before; None when the file is no longer that of the digest."""
        turn: _Turn = asked.turn
        if not turn.lock.acquire(timeout=asked.seconds_left):
            raise asked.problem("busy")
        try:
            known = self._answers.get(asked.request)
            if isinstance(known, wanted):
                return known
            blocked = self._blocked.get((*turn.page, self._engine))
            if blocked is not None and self._clock() < blocked[0]:
                raise asked.problem(blocked[1], blocked[2])
            answer = self._asked(wanted, asked)
            if answer is not None:
                self._answers.put(asked.request, answer, _size(answer))
            return answer
        finally:
            turn.slow = False
            turn.lock.release()

    def _asked(self, wanted: type[_Answer], asked: _Question, *, fresh: bool = False) -> _Answer | None:
        """Return the answer of a worker, and of a fresh one when the first was lost: others end processes, too."""
        try:
            return self._exchange(wanted, asked, fresh=fresh)
        except PageProblem as met:
            if met.kind == "worker_lost" and not (fresh or self._closed):
                return self._asked(wanted, asked, fresh=True)
            if met.kind in _KILLERS and not self._closed:
                until = self._clock() + self._blocked_for
                self._blocked.put((*asked.turn.page, self._engine), (until, met.kind, met.detail))
            raise

    def _exchange(self, wanted: type[_Answer], asked: _Question, *, fresh: bool) -> _Answer | None:
        """Return the checked answer of one worker; None when the file is no longer that of the digest."""
        request, held = asked.request, self._running
        if not held.acquire(timeout=asked.seconds_left):
            raise asked.problem("busy")
        try:
            worker = self._borrow((request.digest, request.page_index), asked.name, fresh=fresh)

            def when_slow() -> None:
                nonlocal held
                asked.turn.slow = True
                worker.step_back()
                if self._slow.acquire(blocking=False):
                    held.release()
                    held = self._slow

            healthy = False
            try:
                reply = worker.ask(request, asked.place, slow_after=self._slow_after, when_slow=when_slow)
                answer = _checked(reply, request.encoding)
                healthy = not (isinstance(answer, Failure) and answer.kind == "out_of_memory")
            except ProcessTimeout as met:
                detail = str(met) or f"{self._time_limit:g} s of the processor"
                raise asked.problem("too_slow", detail) from None
            except ProcessLost:
                raise asked.problem("worker_lost") from None
            finally:
                self._give_back(worker, healthy=healthy)
                self._refill()
        finally:
            held.release()
        if isinstance(answer, wanted):
            return answer
        if not isinstance(answer, Failure):
            raise asked.problem("worker_lost")
        if answer.kind == "changed":
            return None
        out = answer.kind == "page_out_of_range"
        raise asked.problem(answer.kind, count_of(int(answer.detail), "page") if out else _said(answer.detail))

    def _borrow(self, page: _Page, name: str, *, fresh: bool = False) -> _Worker:
        """Return a ready worker: last asked for this page, else with the document open, else any; `fresh`: unused."""
        detail = ""
        for _ in range(2 + self._most):
            with self._lock:
                if self._closed:
                    raise PageProblem("no_renderer", document=name, detail="The dashboard is closing.")
                usable = [worker for worker in self._free if not fresh or not worker.answered]
                usable.sort(key=lambda each: (each.page[0] != page[0], each.page != page, not each.engine))
                try:
                    worker = usable[0] if usable else _Worker()
                except OSError:
                    detail = "The system refused to start a process."
                    break
                if usable:
                    self._free.remove(worker)
                self._live.add(worker)
                self._resting = False
                self._most_busy = max(self._most_busy, len(self._live) - len(self._free))
            ready = False
            try:
                if not worker.engine:
                    worker.await_ready(self._start_limit)
                # One that ended while it was idle is no page's doing.
                ready = worker.process.poll() is None
            except (ProcessTimeout, ProcessLost) as met:
                detail = str(met)
            finally:
                if not ready:
                    self._give_back(worker, healthy=False)
            if ready:
                self._engine = worker.engine
                self._refill()
                return worker
        raise PageProblem("no_renderer", document=name, detail=_said(detail))

    def _give_back(self, worker: _Worker, *, healthy: bool) -> None:
        with self._lock:
            keep = healthy and not (self._closed or self._resting or worker.stepped_back)
            # Those that were started beside slow ones do not stay.
            keep = keep and worker.answered < self._requests_per_worker and len(self._live) <= self._most
            if keep:
                self._free.append(worker)
            else:
                self._live.discard(worker)
        if not keep:
            worker.discard()

    def _refill(self) -> None:
        """Start what is missing; a start is not waited for."""
        with self._lock, contextlib.suppress(OSError):
            wanted = min(self._most_busy, self.workers) + self._spares
            while not (self._closed or self._resting) and len(self._live) < wanted:
                worker = _Worker()
                self._live.add(worker)
                self._free.append(worker)


class _OpeningPool(PagePool):
    """The processes of another pool, asked with passwords of its own; it owns nothing."""

    def __init__(self, pool: PagePool, passwords: Passwords) -> None:
        self.workers, self.passwords, self._pool = pool.workers, passwords, pool

    def start(self) -> None:
        self._pool.start()

    def _answer(self, wanted: type[_Answer], path: Path, question: Request, patience: float | None = None) -> _Answer:
        if not 0 <= question.page_index < PAGE_LIMIT:
            raise self._out_of_range(path, question.page_index)
        asked = msgspec.structs.replace(question, password=self.passwords.of(path))
        return self._pool._answer(wanted, path, asked, patience)


def _within(patience: float, ask: Callable[[], _Answer | None], asked: _Question) -> _Answer | None:
    """Return what `ask` returns or raises; ``not_ready`` when a slow page takes longer, and goes on."""
    future: Future[_Answer | None] = Future()

    def run() -> None:
        try:
            future.set_result(ask())
        except BaseException as met:  # noqa: BLE001 - raised by whoever waits
            future.set_exception(met)

    threading.Thread(target=run, daemon=True, name="page that is asked for").start()
    seconds = patience
    while not wait([future], seconds).done:
        if asked.turn.slow:
            raise asked.problem("not_ready", f"{patience:g} s")
        # On a busy machine every page is late.
        seconds = _LOOK_IF_SLOW
    return future.result()


def _size(answer: msgspec.Struct) -> int:
    size = 512
    for part in msgspec.structs.astuple(answer):
        if isinstance(part, np.ndarray):
            size += part.nbytes
        elif isinstance(part, bytes):
            size += len(part)
        elif isinstance(part, tuple):
            size += sum(64 + len(each) for each in part)
    return size


def _checked(
    reply: Reply, encoding: Encoding = "webp"
) -> Description | PageImage | Words | Sizes | Ink | Layout | Failure:
    """Return the answer as the app keeps it; `ProcessLost` when an honest worker cannot have sent it."""
    match reply:
        case Description():
            return msgspec.structs.replace(reply, warnings=_plain_warnings(reply.warnings))
        case PageImage():
            # The picture goes to browsers or into a PDF: nothing but what was asked for, however the worker was talked
            # into it.
            size = (reply.width, reply.height)
            webp, jpeg = encoding in ("webp", "both"), encoding != "webp"
            sound = (bool(reply.webp), bool(reply.jpeg)) == (webp, jpeg) and size[0] * size[1] <= PIXEL_LIMIT
            sound = sound and not (webp and _webp_size(reply.webp) != size)
            sound = sound and not (jpeg and _jpeg_size(reply.jpeg) != size)
            _need(sound, "It sent a picture in another format, or of another size than it says.")
            return msgspec.structs.replace(reply, warnings=_plain_warnings(reply.warnings))
        case WordList():
            _need(len(reply.boxes) == 32 * len(reply.texts), "It sent words without boxes.")
            return Words(_boxes(reply.boxes), tuple(reply.texts), _plain_warnings(reply.warnings))
        case SizeList():
            _need(bool(reply.sizes) and not len(reply.sizes) % 16, "It sent an incomplete size.")
            sizes = _numbers(reply.sizes).reshape(-1, 2).copy()
            sizes[~(np.isfinite(sizes) & (sizes > 0.0)).all(axis=1)] = np.nan
            sizes.flags.writeable = False
            return Sizes(sizes)
        case InkGrid():
            _need(len(reply.cells) == reply.columns * reply.rows, "It sent a grid with missing cells.")
            return Ink(np.frombuffer(reply.cells, dtype=np.uint8).reshape(reply.rows, reply.columns))
        case LayoutList():
            return _checked_layout(reply)
        case Failure():
            counted = reply.kind != "page_out_of_range" or re.fullmatch(r"[0-9]{1,9}", reply.detail)
            _need(bool(counted), "It sent an invalid page count.")
            return reply
    raise ProcessLost("It sent its version twice.")


def _need(sound: bool, otherwise: str) -> None:
    """Raise `Lost` for what an honest worker cannot have sent."""
    if not sound:
        raise ProcessLost(otherwise)


def _numbers(sent: bytes) -> FloatArray:
    """Return the bytes as float64: they are not writable, so neither is the array, which all sessions share."""
    return np.frombuffer(sent, dtype="<f8").astype(np.float64, copy=False)


def _boxes(sent: bytes) -> FloatArray:
    """Return the bytes as boxes in [0, 1], shape (N, 4)."""
    _need(not len(sent) % 32, "It sent an incomplete box.")
    boxes = _numbers(sent).reshape(-1, 4)
    _need(bool(np.all((boxes >= 0.0) & (boxes <= 1.0))), "It sent boxes outside the page.")
    return boxes


def _webp_size(picture: bytes) -> tuple[int, int] | None:
    """Width and height of a WebP as our worker makes them, lossy and without more parts; None for all else."""
    # By its first bytes (RFC 9649, section 2.5): a picture is not decoded to find out that it is too large to be.
    if picture[:4] != b"RIFF" or picture[8:16] != b"WEBPVP8 " or picture[23:26] != b"\x9d\x01\x2a":
        return None
    width, height = (int.from_bytes(picture[place : place + 2], "little") & 0x3FFF for place in (26, 28))
    return width, height


def _jpeg_size(picture: bytes) -> tuple[int, int] | None:
    """Width and height of a baseline JPEG in colour, by its frame header (ITU-T T.81, annex B); else None."""
    if picture[:2] != b"\xff\xd8":
        return None
    place = 2
    while picture[place : place + 1] == b"\xff":
        kind, length = picture[place + 1 : place + 2], int.from_bytes(picture[place + 2 : place + 4], "big")
        if kind == b"\xc0":
            frame = picture[place + 4 : place + 2 + length]
            if len(frame) != 15 or frame[0] != 8 or frame[5] != 3:
                return None
            return int.from_bytes(frame[3:5], "big"), int.from_bytes(frame[1:3], "big")
        if kind not in (b"\xe0", b"\xdb") or length < 2:
            return None
        place += 2 + length
    return None


def _checked_layout(reply: LayoutList) -> Layout:
    """Return the layout of a page as the app keeps it; `ProcessLost` when an honest worker cannot have sent it."""
    stride = (reply.columns + 7) // 8
    whole = len(reply.mask) == stride * reply.rows and (reply.columns == 0) == (reply.rows == 0)
    _need(whole, "It sent a mask with missing pixels.")
    sized = len(reply.texts) == 4 * len(reply.sizes) and len(reply.sizes) == len(reply.characters)
    _need(sized, "It sent text without sizes.")
    images, rules, texts = _boxes(reply.images), _boxes(reply.rules), _boxes(reply.texts)
    sizes, characters = _numbers(reply.sizes), _numbers(reply.characters)
    positive = all(bool(np.all(np.isfinite(numbers) & (numbers > 0.0))) for numbers in (sizes, characters))
    _need(positive, "It sent text without a size.")
    bits = np.frombuffer(reply.mask, dtype=np.uint8).reshape(reply.rows, stride)
    mask = np.unpackbits(bits, axis=1, count=reply.columns).astype(np.bool_) if reply.rows else np.zeros((0, 0), bool)
    mask.flags.writeable = False
    return Layout(reply.rotation, plain(reply.producer), images, rules, texts, sizes, characters, mask)


def _plain_warnings(warnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(plain(warning) for warning in warnings)


def _said(detail: str) -> str:
    """Return the renderer's own words as a sentence; they can quote the document, so they are shortened."""
    detail = detail.strip()
    if not detail:
        return ""
    return detail if detail.endswith(".") and len(detail) < 160 else f"The renderer reports: {quote(detail)}."


def _need_resolution(dpi: float | None, width: int | None) -> None:
    if dpi is not None and not 0 < dpi <= _MAX_DPI:
        raise ValueError(f"dpi must be above 0 and at most {_MAX_DPI:g}, not {dpi!r}")
    if width is not None and not 1 <= width <= _MAX_WIDTH:
        raise ValueError(f"width must be from 1 to {_MAX_WIDTH}, not {width!r}")


def media_type_of(picture: bytes) -> str:
    """Return the media type of a JPEG or WebP; the renderer makes no other pictures."""
    return "image/jpeg" if picture.startswith(b"\xff\xd8") else "image/webp"
