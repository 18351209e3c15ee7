"""Page images and words: asks a killable worker process for the pages of a document.

Owns the pool of renderer processes (``PagePool``) and the caches of what they answered. Which file a name from an
annotation may reach is the business of ``pdf_folder``; why a page cannot be shown is in ``page_problems``. A page
image is WebP; sizes are in pixels and points of the DISPLAYED page; words are boxes x1, y1, x2, y2 in [0, 1] of that
page, origin top left, so that a box times the picture's size lands on the picture. Page indexes count from 0.

Everything that a worker sends is untrusted: a hostile document may own its process. Messages are msgpack with strict
types and limits, and a picture is accepted only when it is WebP, or JPEG where that was asked for. The caches are
shared by all users, so their keys are the digest of the content and the parameters, never a name or a path.

It does not draw: the renderer lives in ``pdf.worker`` and is never imported into this process. It fetches nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.metrics.results import count_of
from evaluator.model.boxes import BoolArray, FloatArray
from evaluator.model.issues import plain, quote
from evaluator.pdf.folder import IMAGE_SUFFIXES
from evaluator.pdf.handing import Handing, little_environment, python_module
from evaluator.pdf.problems import PageProblem, ProblemKind
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
    Operation,
    PageImage,
    Ready,
    Reply,
    Request,
    SizeList,
    WordList,
    open_regular,
    pixel_size,
    read_frame,
    write_frame,
)
from evaluator.system.recent import Recent
from evaluator.system.timeouts import TIMEOUTS

__all__ = ["Description", "Ink", "Layout", "PageImage", "PagePool", "Words", "sharpest_width"]

# Of a process whose page is slow, as `nice` counts: a tenth of what others get while they want it.
_SLOW_PRIORITY = 10
# A page is slow by what it takes of the processor: on a busy machine every page is late. One that never ends is stopped
# after so many times its limit by the clock, which is more than it needs with a tenth of the processor.
_CLOCK_LIMITS: Final = 12
# What a process may wait beyond its limit for anything but the processor, such as a disk.
_IDLE_SECONDS: Final = 2.0
# Between two looks at a process that is near such a limit and wants the processor.
_LOOK_AGAIN: Final = 0.1
# Between two looks whether a page that is waited for no longer is a slow one.
_LOOK_IF_SLOW: Final = 0.1
# The processor's time is told in hundredths of a second.
_LEAST_WAIT: Final = 0.02
_MAX_DPI = 1200.0
_MAX_WIDTH = 16_000

# Only these mean that the page is dangerous; everything else is cheap to find out again.
_KILLERS: frozenset[ProblemKind] = frozenset({"too_slow", "out_of_memory", "worker_lost"})


def sharpest_width(page_width: float, page_height: float) -> int:
    """The largest width at which a page is drawn whole: more is not answered with more pixels.

    Parameters
    ----------
    page_width, page_height : float
        Displayed page in points (for an image, its pixels), positive and finite.

    Returns
    -------
    int
        In pixels, from 1 to 16,000.

    Examples
    --------
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
    """How much of a page is ink: what stands out from the paper, dark on light or light on dark.

    Attributes
    ----------
    cells : uint8, shape (rows, columns)
        Share of ink in each cell of a grid over the whole displayed page, 0 to 255, from the top left; read-only.
    """

    cells: npt.NDArray[np.uint8]

    @property
    def marked(self) -> BoolArray:
        """The cells that hold ink, bool; one with less than `LEAST_INK` is paper with a speck."""
        return self.cells >= LEAST_INK


class Words(msgspec.Struct, frozen=True, eq=False):
    """The words of one page.

    Attributes
    ----------
    boxes : float64, shape (N, 4), in [0, 1]
        x1, y1, x2, y2 in the displayed page, origin top left, cut at the page's edges; read-only. Shape (0, 4) for a
        page without text, such as a scan or an image. Words wholly outside the displayed page are left out.
    texts : tuple of str, length N
        The words in the order of the boxes, which is the document's own.
    warnings : tuple of str
        Sentences for the reader.
    """

    boxes: FloatArray
    texts: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Layout(msgspec.Struct, frozen=True, eq=False):
    """What a page is made of, apart from its words. All arrays are read-only.

    Attributes
    ----------
    rotation : int
        /Rotate of the page: 0, 90, 180 or 270.
    producer : str
        The program that wrote the document; "" when it does not say.
    images, rules : float64, shape (N, 4), in [0, 1]
        x1, y1, x2, y2 of pictures and of ruled lines (thin straight strokes) in the displayed page. The ruled lines of
        a scan are in `mask` alone.
    texts : float64, shape (N, 4), in [0, 1]
        Pieces of text in one font.
    sizes, characters : float64, shape (N,)
        Font size in points, and number of characters, of each piece of text.
    mask : bool, shape (rows, columns)
        The ink of a scan, pixel by pixel; shape (0, 0) for a page that is none.
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
        """Whether a picture covers most of the page with hardly any text painted on it, or the page is an image."""
        return self.mask.size > 0


# --- caches ------------------------------------------------------------------------------------------------------

_Value = TypeVar("_Value")
_Key = tuple[object, ...]


# --- the processes -----------------------------------------------------------------------------------------------


class _Expired(Exception):
    """The worker was killed because its time was over; its text is which one."""


class _Lost(Exception):
    """The worker ended by itself, or said something that it must not say."""


class _Spent(NamedTuple):
    """What a process has spent at a time of the clock: seconds of the processor, and of waiting for it."""

    clock: float
    processor: float
    waited: float


class _Worker:
    """One renderer process; used by one thread at a time, but killed from any."""

    def __init__(self) -> None:
        self._handing = Handing()
        # A session of its own, so that a child that a hostile page managed to start dies with it.
        try:
            self.process = subprocess.Popen(
                [*python_module("evaluator.pdf.worker"), *self._handing.words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Never read: when this end closes, because this process has died, the worker dies too.
                stderr=subprocess.PIPE,
                env=little_environment(),
                pass_fds=self._handing.kept,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except BaseException:
            self._handing.close()
            raise
        self._handing.started()
        self.engine = ""
        self.confined: tuple[str, ...] = ()
        self.answered = 0
        self.page: tuple[str, int] = ("", 0)
        self.stepped_back = False

    def await_ready(self, *, limit: float) -> None:
        """Wait for the first message; the process was started earlier and is mostly there already."""
        reply = self._exchange(None, limit=limit)
        if isinstance(reply, Failure):
            raise _Lost(reply.detail)
        if not isinstance(reply, Ready):
            raise _Lost("It did not send its version.")
        self.engine = reply.engine
        self.confined = reply.confined

    def ask(self, request: Request, *, limit: float) -> Reply:
        """The answer to one request, or the worker's end."""
        self.page = (request.digest, request.page_index)
        if self._handing.open:
            try:
                file = open_regular(request.path)
            except OSError as problem:
                return Failure("unreadable", problem.strerror or "")
            with file:
                try:
                    self._handing.hand(file)
                except OSError as problem:
                    raise _Lost(str(problem)) from problem
            request = msgspec.structs.replace(request, path=b"")
        reply = self._exchange(msgspec.msgpack.encode(request), limit=limit)
        self.answered += 1
        return reply

    def _exchange(self, payload: bytes | None, *, limit: float) -> Reply:
        process = self.process
        if process.stdin is None or process.stdout is None:
            raise _Lost("It has no pipes.")
        turn, over = threading.Lock(), threading.Event()
        state, after = "running", ""
        begun = self._spent()

        def watch() -> None:
            nonlocal state, after
            after = self._time_over(over, begun, limit, limit * _CLOCK_LIMITS if payload is not None else limit)
            # Under the lock: a limit that is reached while the answer arrives must not kill the next request.
            with turn:
                if after and state == "running":
                    state = "expired"
                    self.kill()

        # Pipes cannot be polled on Windows, so the limit is a second thread that kills; the read then ends. What a
        # process takes of the processor cannot overtake the clock, so nothing is looked at before the limit.
        watching = TIMEOUTS.after(limit, watch)
        answer = None
        try:
            if payload is not None:
                write_frame(process.stdin, payload)
            answer = read_frame(process.stdout, limit=REPLY_BYTES_LIMIT)
        except (OSError, ValueError) as problem:
            raise (_Expired(after) if state == "expired" else _Lost(str(problem))) from problem
        finally:
            with turn:
                state = "done" if state == "running" else state
            over.set()
            watching.cancel()
        if state == "expired":
            raise _Expired(after)
        if answer is None:
            raise _Lost("It ended.")
        try:
            reply: Reply = msgspec.msgpack.decode(answer, type=Reply)
        except (msgspec.MsgspecError, UnicodeError) as problem:
            raise _Lost("It sent something that is not an answer.") from problem
        return reply

    def _spent(self) -> _Spent:
        """What the process has spent so far."""
        return _Spent(time.monotonic(), self.processor_seconds(), self.waited_seconds())

    def _time_over(self, over: threading.Event, begun: _Spent, limit: float, by_clock: float) -> str:
        """Wait until a request is over, or has taken `limit` seconds of the processor or `by_clock` of the clock.

        Called when it has taken `limit` of the clock. One that neither computes nor waits for the processor, which no
        page of an honest process does, is over as soon as one that computes on a machine of its own.

        Returns
        -------
        str
            The limit that was reached; empty for a request that is over.
        """
        left = 0.0
        while not over.wait(left):
            used, clock = self.processor_seconds() - begun.processor, time.monotonic() - begun.clock
            if used >= limit:
                return f"{limit:g} s of the processor"
            if clock >= by_clock:
                return f"{by_clock:g} s"
            left = min(limit - used, by_clock - clock)
            own = clock - (self.waited_seconds() - begun.waited)
            if own < limit + _IDLE_SECONDS:
                left = min(left, limit + _IDLE_SECONDS - own)
            elif self.asleep():
                return f"{limit + _IDLE_SECONDS:g} s"
            else:
                # What it waits now is not told before it gets the processor.
                left = min(left, _LOOK_AGAIN)
            left = max(left, _LEAST_WAIT)
        return ""

    def processor_seconds(self) -> float:
        """What the process has taken of the processor; the time of the clock where the system does not say."""
        fields = self._status()
        if not fields:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def waited_seconds(self) -> float:
        """How long the process wanted the processor and others had it; 0 where the system does not say."""
        try:
            return int(Path(f"/proc/{self.process.pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
        except (OSError, IndexError):
            return 0.0

    def asleep(self) -> bool:
        """Whether the process does not want the processor now; False where the system does not say."""
        fields = self._status()
        # A process that has run has waited for it, if only nanoseconds: without, the system does not count.
        return bool(fields) and fields[0] != "R" and self.waited_seconds() > 0.0

    def _status(self) -> list[str]:
        """What Linux says of the process, from its state on (proc_pid_stat(5)); empty elsewhere and after its end."""
        try:
            return Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return []

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

    def kill(self) -> None:
        """End the process and whatever it started; harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32" and self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def discard(self) -> None:
        """Kill, reap and close: nothing of the worker is left."""
        self.kill()
        self.process.wait()
        self._handing.close()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                # Closing flushes into the dead worker's pipe.
                with contextlib.suppress(OSError):
                    pipe.close()


def _discard_all(workers: set[_Worker], owner: int) -> None:
    """End every worker, when the pool is collected or the interpreter ends; a forked child leaves them alone."""
    while workers and os.getpid() == owner:
        workers.pop().discard()


class _Places:
    """Places for the requests that run at the same time; a slow one makes room for as many others meanwhile.

    Knows nothing of the pool: a watch that has not ended yet would otherwise keep a pool that nobody uses any more.
    """

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count)
        self._lock = threading.Lock()
        self._count = count
        self.slow = 0

    @contextlib.contextmanager
    def taken(self, wait: float, slow_after: float, when_slow: Callable[[], None] = lambda: None) -> Iterator[bool]:
        """A place, or False when none was free for `wait` seconds; `when_slow` is called once the request is slow."""
        if not self._free.acquire(timeout=wait):
            yield False
            return
        state = "counted"

        def make_room() -> None:
            nonlocal state
            with self._lock:
                if state == "counted" and self.slow < self._count:
                    self.slow += 1
                    state = "slow"
                    self._free.release()
            when_slow()

        watch = TIMEOUTS.after(slow_after, make_room)
        try:
            yield True
        finally:
            watch.cancel()
            with self._lock:
                if state == "slow":
                    self.slow -= 1
                else:
                    state = "over"
                    self._free.release()


class _Turn:
    """A lock with the number of threads that hold or want it, and whether the page that holds it is slow."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0
        self.slow = False


class PagePool:
    """Draws pages and reads words in processes that can be killed; for any number of threads.

    Parameters
    ----------
    workers : int
        Requests that run at the same time; as many more that are slow.
    spares : int
        Processes kept warm beyond those, to replace a killed one at once.
    time_limit : float
        Seconds of the processor for one request; then its process is killed. By the clock it may take two seconds more,
        and up to twelve times as long while it waits for the processor.
    wait_limit : float
        Seconds that a request waits for its turn.
    slow_after : float
        Seconds after which a request no longer counts as running: others need not wait for a page that never ends.
    start_limit : float
        Seconds for a process to start.
    requests_per_worker : int
        After so many a process is replaced, so that what a document left behind in it does not stay.
    image_entries, image_bytes, word_entries, word_bytes : int
        Bounds of the two caches.
    blocked_for : float
        Seconds for which a page that killed a worker is not tried again.
    clock : callable
        Monotonic seconds; replaced in tests.

    Notes
    -----
    Each question takes a path from ``find_document``, and most a page index from 0; what cannot be answered raises a
    `PageProblem`. Processes start with the first request or with `start`, one and a spare; more only when requests
    overlap. Requests for one page wait for each other: twenty users on a page that never ends cost one worker, not all.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        spares: int = 1,
        time_limit: float = 5.0,
        wait_limit: float = 20.0,
        slow_after: float = 0.5,
        start_limit: float = 30.0,
        requests_per_worker: int = 200,
        image_entries: int = 512,
        image_bytes: int = 64 * 2**20,
        word_entries: int = 512,
        word_bytes: int = 16 * 2**20,
        blocked_for: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._spares = spares
        self._time_limit = time_limit
        self._wait_limit = wait_limit
        self._slow_after = slow_after
        self._start_limit = start_limit
        self._requests_per_worker = requests_per_worker
        self._blocked_for = blocked_for
        self._clock = clock
        self._images: Recent[_Key, PageImage] = Recent(most=image_entries, most_bytes=image_bytes)
        self._words: Recent[_Key, Words] = Recent(most=word_entries, most_bytes=word_bytes)
        self._inks: Recent[_Key, Ink] = Recent(most=word_entries, most_bytes=word_bytes)
        self._layouts: Recent[_Key, Layout] = Recent(most=word_entries, most_bytes=word_bytes)
        self._sizes: Recent[_Key, Sizes] = Recent(most=4_096, most_bytes=8 * 2**20)
        self._described: Recent[_Key, Description] = Recent(most=4_096, most_bytes=2**20)
        self._digests: Recent[_Key, str] = Recent(most=4_096, most_bytes=2**20)
        self._blocked: Recent[_Key, tuple[float, ProblemKind, str]] = Recent(most=1_024, most_bytes=2**20)
        self._lock = threading.Lock()
        self._places = _Places(workers)
        self._turns: dict[_Key, _Turn] = {}
        self._free: list[_Worker] = []
        self._live: set[_Worker] = set()
        self._busy = 0
        self._most_busy = 1
        self._engine = ""
        self._closed = self._resting = False
        # Holds the set, not the pool: runs when the pool is collected, or at the interpreter's end.
        self._ending = weakref.finalize(self, _discard_all, self._live, os.getpid())

    @property
    def workers(self) -> int:
        """How many pages may be drawn at the same time."""
        return self._workers

    def close(self) -> None:
        """End all processes; a request that is running fails as ``worker_lost``, later ones as ``no_renderer``."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
            busy = self._live - set(free)
            self._live -= set(free)
        for worker in free:
            worker.discard()
        # The thread that asked closes the pipes of these: closing under a running read would block.
        for worker in busy:
            worker.kill()
            worker.process.wait()

    def rest(self) -> None:
        """End the processes that wait for a request, and those at work after it; the next request starts its own."""
        with self._lock:
            self._resting = True
            free, self._free = self._free, []
            self._live -= set(free)
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
        """Names and versions of the renderer, and what confines its process (`system.confine.shut_in`)."""
        with self._places.taken(self._wait_limit, self._slow_after) as granted:
            if not granted:
                raise PageProblem("busy", document="")
            worker = self._borrow(("", 0), "")
            self._give_back(worker, healthy=True)
        return worker.engine, worker.confined

    def describe(self, path: Path) -> Description:
        """Page count (0 for an encrypted document too), encryption and warnings of a document."""
        return self._answer(path, "describe", 0, wanted=Description, cache=self._described, size=lambda _: 256)

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
        """One page as WebP; images by the `IMAGE_SUFFIXES` are one page at 72 dpi and are never enlarged.

        Parameters
        ----------
        path, page_index
        dpi : float
            Resolution; lowered when the page would exceed 25 million pixels or a side of 16,000.
        width : int or None
            Width in pixels, instead of ``dpi``.
        most_pixels : int
            Fewer where a sharp picture is not needed: what drawing a page takes grows with its pixels. A picture that
            is less sharp for that reason has no warning.
        patience : float or None
            Seconds after which a slow page raises ``not_ready``, and is drawn further for whoever asks next: it lets
            others go first on the processor, so on a busy machine it takes long. None waits to the end; with 0 a page
            is not asked for, and one that is not kept from before is ``not_ready``.
        encoding : "webp", "jpeg", "both" or "screen"
            Of the picture: an HTML file holds WebP, a PDF JPEG; "screen" is JPEG of quality 90, which takes a sixth of
            the time to write and to show.

        Raises
        ------
        ValueError
            ``dpi`` is not in (0, 1200], ``width`` not in 1 to 16,000, or ``most_pixels`` not in 1 to 25 million.
        """
        if not 1 <= most_pixels <= PIXEL_LIMIT:
            raise ValueError(f"most_pixels must be from 1 to {PIXEL_LIMIT}, not {most_pixels!r}")
        if width is None:
            _need_dpi(dpi)
        else:
            _need_width(width)
        asked = float(dpi) if width is None else None
        return self._picture(
            path, page_index, dpi=asked, width=width, most_pixels=most_pixels, patience=patience, encoding=encoding
        )

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
        """A part of one page, cut before it is encoded; see `page_image` for the encodings and what is raised.

        Parameters
        ----------
        path, page_index
        part : tuple of float
            x1, y1, x2, y2 in [0, 1] of the displayed page, of some width and height.
        dpi : float
            Resolution; images are never enlarged.
        width : int
            A part that would have more pixels across is scaled down to these.
        """
        if not (0.0 <= part[0] < part[2] <= 1.0 and 0.0 <= part[1] < part[3] <= 1.0):
            raise ValueError(f"part must be x1, y1, x2, y2 in [0, 1] with an area, not {part!r}")
        _need_dpi(dpi)
        _need_width(width)
        return self._picture(path, page_index, dpi=float(dpi), width=width, part=part, encoding=encoding)

    def _picture(
        self,
        path: Path,
        page_index: int,
        *,
        dpi: float | None,
        width: int | None,
        part: tuple[float, float, float, float] | None = None,
        most_pixels: int = PIXEL_LIMIT,
        patience: float | None = None,
        encoding: Encoding,
    ) -> PageImage:
        """A page or a part of it, as the worker is asked for it."""

        def size(image: PageImage) -> int:
            return len(image.webp) + len(image.jpeg) + 256

        return self._answer(
            path,
            "page",
            page_index,
            wanted=PageImage,
            cache=self._images,
            size=size,
            dpi=dpi,
            width=width,
            part=part,
            most_pixels=most_pixels,
            patience=patience,
            encoding=encoding,
        )

    def words(self, path: Path, page_index: int, *, patience: float | None = None) -> Words:
        """The words of one page with their boxes in the displayed page; without rows for a page without text.

        `patience` is that of `page_image`: the picture of a slow page is drawn before its words are read.
        """

        def size(words: Words) -> int:
            return words.boxes.nbytes + sum(64 + len(text) for text in words.texts)

        return self._answer(path, "words", page_index, wanted=Words, cache=self._words, size=size, patience=patience)

    def ink(self, path: Path, page_index: int, *, patience: float | None = None) -> Ink:
        """The ink of one page on a small grid, all 0 for a blank one: what a page without text is compared by.

        `patience` is that of `page_image`.
        """

        def size(ink: Ink) -> int:
            return ink.cells.nbytes + 256

        return self._answer(path, "ink", page_index, wanted=Ink, cache=self._inks, size=size, patience=patience)

    def layout(self, path: Path, page_index: int) -> Layout:
        """Pictures, ruled lines, font sizes, rotation and producer of one page, and the ink of a scan."""

        def size(layout: Layout) -> int:
            return 1024 + layout.texts.nbytes * 2 + layout.rules.nbytes + layout.mask.nbytes

        return self._answer(path, "layout", page_index, wanted=Layout, cache=self._layouts, size=size)

    def page_sizes(self, path: Path) -> FloatArray:
        """Width and height of every displayed page.

        Returns
        -------
        float64, shape (P, 2)
            In points; for an image, its pixels. NaN for a page that cannot be measured.
        """
        count = max(self.describe(path).page_count, 1)
        return np.concatenate([self._sizes_from(path, first) for first in range(0, count, SIZES_AT_ONCE)])

    def page_size(self, path: Path, page_index: int) -> tuple[float, float]:
        """Width and height of one displayed page, as in `page_sizes`; those of its neighbours are kept with it."""
        if page_index < 0 or page_index >= max(self.describe(path).page_count, 1):
            raise self._out_of_range(path, page_index)
        first = page_index - page_index % SIZES_AT_ONCE
        width, height = self._sizes_from(path, first)[page_index - first].tolist()
        return width, height

    def _sizes_from(self, path: Path, first: int) -> FloatArray:
        """Sizes of up to `SIZES_AT_ONCE` pages from one on."""

        def size(part: Sizes) -> int:
            return part.sizes.nbytes

        return self._answer(path, "sizes", first, wanted=Sizes, cache=self._sizes, size=size).sizes

    # The steps of a request: identify the content, look it up, take turns per page, borrow a worker, ask, keep.

    def _answer(
        self,
        path: Path,
        operation: Operation,
        page_index: int,
        *,
        wanted: type[_Value],
        cache: Recent[_Key, _Value],
        size: Callable[[_Value], int],
        dpi: float | None = None,
        width: int | None = None,
        part: tuple[float, float, float, float] | None = None,
        most_pixels: int = PIXEL_LIMIT,
        patience: float | None = None,
        encoding: Encoding = "webp",
    ) -> _Value:
        name = path.name
        if page_index < 0 or page_index >= PAGE_LIMIT:
            # Refused here: such a number may not even fit into a message.
            raise self._out_of_range(path, page_index)
        media: Media = "image" if path.suffix.lower() in IMAGE_SUFFIXES else "pdf"
        for _ in range(2):
            place, identity, digest = self._identify(path)
            key: _Key = (operation, media, digest, page_index, dpi, width, part, most_pixels, encoding)
            known = cache.get(key)
            if known is not None:
                return known
            if patience == 0:
                raise PageProblem("not_ready", document=name, page_index=page_index, detail="0 s")
            request = Request(
                operation=operation,
                path=os.fsencode(place),
                media=media,
                digest=digest,
                page_index=page_index,
                dpi=dpi,
                width=width,
                part=part,
                time_limit=self._time_limit,
                most_pixels=most_pixels,
                encoding=encoding,
            )
            # Opening can kill too, so describing has a place of its own among the blocked pages.
            page: _Key = (digest, -1 if operation == "describe" else page_index)

            # What is defined here belongs to this round: it is called before the next one begins, or in its own thread.
            def in_turn(key: _Key = key, page: _Key = page, request: Request = request) -> _Value | None:
                deadline = time.monotonic() + self._wait_limit
                with self._turn(page, name, page_index, deadline) as turn:
                    known = cache.get(key)
                    if known is not None:
                        return known
                    self._refuse_blocked(page, name, page_index)
                    try:
                        reply = self._asked_twice(request, name, deadline, wanted, turn)
                    except PageProblem as problem:
                        if problem.kind in _KILLERS and not self._closed:
                            self._block(page, problem)
                        raise
                    if isinstance(reply, wanted):
                        cache.put(key, reply, size(reply))
                        return reply
                return None

            answer = in_turn() if patience is None else self._within(patience, in_turn, page, name, page_index)
            if answer is not None:
                return answer
            # The file was exchanged since its digest was taken.
            self._digests.drop(identity)
        raise PageProblem("unreadable", document=name, detail="The file changes while it is read.")

    def _within(
        self, patience: float, ask: Callable[[], _Value | None], page: _Key, name: str, page_index: int
    ) -> _Value | None:
        """What `ask` returns or raises; ``not_ready`` when it takes longer and the page is slow, while it goes on."""
        over = threading.Event()
        answers: list[_Value | None] = []
        problems: list[BaseException] = []

        def run() -> None:
            try:
                answers.append(ask())
            except BaseException as problem:  # noqa: BLE001 - raised by whoever waits
                problems.append(problem)
            finally:
                over.set()

        threading.Thread(target=run, daemon=True, name="page that is asked for").start()
        if not over.wait(patience):
            while not over.wait(_LOOK_IF_SLOW):
                with self._lock:
                    turn = self._turns.get(page)
                    slow = turn is not None and turn.slow
                if slow:
                    raise PageProblem("not_ready", document=name, page_index=page_index, detail=f"{patience:g} s")
        if problems:
            raise problems[0]
        return answers[0]

    def _out_of_range(self, path: Path, page_index: int) -> PageProblem:
        described = self.describe(path)
        kind: ProblemKind = "page_out_of_range" if described.page_count else "no_pages"
        if described.encrypted:
            kind = "encrypted"
        return PageProblem(
            kind, document=path.name, page_index=page_index, detail=count_of(described.page_count, "page")
        )

    def _identify(self, path: Path) -> tuple[Path, _Key, str]:
        """Resolved path, identity of the file's state, and digest of its bytes."""
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
                self._digests.put(identity, digest, 256)
        except (OSError, RuntimeError, ValueError):
            raise PageProblem("missing", document=path.name, folder=path.parent.name) from None
        return place, identity, digest

    @contextlib.contextmanager
    def _turn(self, page: _Key, name: str, page_index: int, deadline: float) -> Iterator[_Turn]:
        with self._lock:
            turn = self._turns.setdefault(page, _Turn())
            turn.wanted += 1
        try:
            if not turn.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise PageProblem("busy", document=name, page_index=page_index)
            try:
                yield turn
            finally:
                turn.slow = False
                turn.lock.release()
        finally:
            with self._lock:
                turn.wanted -= 1
                if not turn.wanted:
                    del self._turns[page]

    def _block(self, page: _Key, problem: PageProblem) -> None:
        blocked = self._clock() + self._blocked_for, problem.kind, problem.detail
        self._blocked.put((*page, self._engine), blocked, 256)

    def _refuse_blocked(self, page: _Key, name: str, page_index: int) -> None:
        blocked = self._blocked.get((*page, self._engine))
        if blocked is not None and self._clock() < blocked[0]:
            raise PageProblem(blocked[1], document=name, page_index=page_index, detail=blocked[2])

    def _asked_twice(
        self, request: Request, name: str, deadline: float, wanted: type[_Value], turn: _Turn
    ) -> _Value | None:
        """The answer of a worker, and of a fresh one when the first was lost: others end processes, too."""
        try:
            return self._exchange(request, name, deadline, wanted, turn)
        except PageProblem as problem:
            if problem.kind != "worker_lost" or self._closed:
                raise
        return self._exchange(request, name, deadline, wanted, turn, fresh=True)

    def _exchange(
        self, request: Request, name: str, deadline: float, wanted: type[_Value], turn: _Turn, *, fresh: bool = False
    ) -> _Value | None:
        """The checked answer of a worker; None when the file is no longer the one of the digest."""
        page_index = request.page_index
        asked: list[tuple[_Worker, float]] = []
        over = threading.Event()
        # The thread that watches the time must not hold the pool, or the pool outlives its last request.
        slow_after = self._slow_after

        def step_back() -> None:
            # A page is slow by what it takes of the processor: on a busy machine every page is late, and there its
            # process may still be starting.
            while not over.is_set():
                for worker, before in asked:
                    if worker.processor_seconds() - before >= slow_after:
                        worker.step_back()
                        turn.slow = True
                        return
                over.wait(max(slow_after / 4, _LEAST_WAIT))

        with self._places.taken(max(0.0, deadline - time.monotonic()), slow_after, step_back) as granted:
            if not granted:
                raise PageProblem("busy", document=name, page_index=page_index)
            try:
                worker = self._borrow((request.digest, page_index), name, fresh=fresh)
            except BaseException:
                over.set()
                raise
            asked.append((worker, worker.processor_seconds()))
            healthy = False
            try:
                reply = worker.ask(request, limit=self._time_limit)
                answer = _checked(reply, request.encoding)
                healthy = not (isinstance(reply, Failure) and reply.kind == "out_of_memory")
            except _Expired as problem:
                raise PageProblem("too_slow", document=name, page_index=page_index, detail=str(problem)) from None
            except _Lost:
                raise PageProblem("worker_lost", document=name, page_index=page_index) from None
            finally:
                over.set()
                self._give_back(worker, healthy=healthy)
        if isinstance(answer, Failure):
            if answer.kind == "changed":
                return None
            detail = (
                count_of(int(answer.detail), "page") if answer.kind == "page_out_of_range" else _said(answer.detail)
            )
            raise PageProblem(answer.kind, document=name, page_index=page_index, detail=detail)
        if not isinstance(answer, wanted):
            raise PageProblem("worker_lost", document=name, page_index=page_index)
        return answer

    def _borrow(self, page: tuple[str, int], name: str, *, fresh: bool = False) -> _Worker:
        """A worker that has introduced itself: one that was asked last for this page (digest of the document, index),
        else one that has the document open, else one that is ready, else any.

        With `fresh` one that has answered nothing yet, so that no other file can have harmed it.
        """
        detail = ""
        for _ in range(2 + self._workers + self._spares):
            with self._lock:
                if self._closed:
                    raise PageProblem("no_renderer", document=name, detail="The dashboard is closing.")
                try:
                    worker = self._choose(page, fresh=fresh)
                except OSError:
                    detail = "The system refused to start a process."
                    break
                self._busy += 1
                self._resting = False
                self._most_busy = max(self._most_busy, self._busy)
            try:
                if not worker.engine:
                    worker.await_ready(limit=self._start_limit)
            except (_Expired, _Lost) as problem:
                self._give_back(worker, healthy=False, refill=False)
                detail = str(problem)
                continue
            except BaseException:
                self._give_back(worker, healthy=False)
                raise
            if worker.process.poll() is None:
                self._engine = worker.engine
                self._refill()
                return worker
            # It ended while it was idle: no page is to blame.
            self._give_back(worker, healthy=False)
        raise PageProblem("no_renderer", document=name, detail=_said(detail))

    def _choose(self, page: tuple[str, int], *, fresh: bool) -> _Worker:
        usable = [worker for worker in self._free if not fresh or not worker.answered]
        ranked = sorted(usable, key=lambda each: (each.page[0] != page[0], each.page != page, not each.engine))
        if ranked:
            self._free.remove(ranked[0])
            return ranked[0]
        worker = _Worker()
        self._live.add(worker)
        return worker

    def _give_back(self, worker: _Worker, *, healthy: bool, refill: bool = True) -> None:
        with self._lock:
            self._busy -= 1
            keep = healthy and not (self._closed or self._resting) and worker.answered < self._requests_per_worker
            keep = keep and not worker.stepped_back
            # Those that were started beside slow ones do not stay.
            keep = keep and len(self._live) <= self._workers + self._spares
            if keep:
                self._free.append(worker)
            else:
                self._live.discard(worker)
        if not keep:
            worker.discard()
            if refill:
                self._refill()

    def _refill(self) -> None:
        """Start what is missing; a start is not waited for."""
        with self._lock, contextlib.suppress(OSError):
            wanted = min(self._most_busy, self._workers) + self._spares
            while not (self._closed or self._resting) and len(self._live) < wanted:
                worker = _Worker()
                self._live.add(worker)
                self._free.append(worker)


def _checked(
    reply: Reply, encoding: Encoding = "webp"
) -> Description | PageImage | Words | Sizes | Ink | Layout | Failure:
    """The answer as the app keeps it; raises when the worker sends what an honest one cannot.

    `encoding` is that of the picture that was asked for.
    """
    if isinstance(reply, Description):
        return msgspec.structs.replace(reply, warnings=_plain_warnings(reply.warnings))
    if isinstance(reply, PageImage):
        # The picture goes to browsers or into a PDF: nothing but what was asked for, however the worker was talked
        # into it.
        size = (reply.width, reply.height)
        sent = bool(reply.webp), bool(reply.jpeg)
        asked = encoding in ("webp", "both"), encoding != "webp"
        sound = sent == asked and reply.width * reply.height <= PIXEL_LIMIT
        sound = sound and (not asked[0] or _webp_size(reply.webp) == size)
        sound = sound and (not asked[1] or _jpeg_size(reply.jpeg) == size)
        if not sound:
            raise _Lost("It sent a picture in another format, or of another size than it says.")
        return msgspec.structs.replace(reply, warnings=_plain_warnings(reply.warnings))
    if isinstance(reply, WordList):
        if len(reply.boxes) != 32 * len(reply.texts):
            raise _Lost("It sent words without boxes.")
        # The bytes are not writable, so neither is the array, which all sessions share.
        boxes = np.frombuffer(reply.boxes, dtype="<f8").reshape(-1, 4).astype(np.float64, copy=False)
        if not bool(np.all((boxes >= 0.0) & (boxes <= 1.0))):
            raise _Lost("It sent boxes outside the page.")
        return Words(boxes, tuple(reply.texts), _plain_warnings(reply.warnings))
    if isinstance(reply, SizeList):
        if not reply.sizes or len(reply.sizes) % 16:
            raise _Lost("It sent an incomplete size.")
        sizes = np.frombuffer(reply.sizes, dtype="<f8").reshape(-1, 2).astype(np.float64)
        sizes[~(np.isfinite(sizes) & (sizes > 0.0)).all(axis=1)] = np.nan
        sizes.flags.writeable = False
        return Sizes(sizes)
    if isinstance(reply, InkGrid):
        if len(reply.cells) != reply.columns * reply.rows:
            raise _Lost("It sent a grid with missing cells.")
        return Ink(np.frombuffer(reply.cells, dtype=np.uint8).reshape(reply.rows, reply.columns))
    if isinstance(reply, LayoutList):
        return _checked_layout(reply)
    if isinstance(reply, Failure):
        if reply.kind == "page_out_of_range" and not re.fullmatch(r"[0-9]{1,9}", reply.detail):
            raise _Lost("It sent an invalid page count.")
        return reply
    raise _Lost("It sent its version twice.")


def _webp_size(picture: bytes) -> tuple[int, int] | None:
    """Width and height of a WebP as our worker makes them, lossy and without more parts; None for all else.

    By its first bytes (RFC 9649, section 2.5): a picture is not decoded to find out that it is too large to be.
    """
    if picture[:4] != b"RIFF" or picture[8:16] != b"WEBPVP8 " or picture[23:26] != b"\x9d\x01\x2a":
        return None
    width, height = (int.from_bytes(picture[place : place + 2], "little") & 0x3FFF for place in (26, 28))
    return width, height


def _jpeg_size(picture: bytes) -> tuple[int, int] | None:
    """Width and height of a JPEG as our worker makes them, baseline in three colours; None for all else.

    By its segments up to the frame header (ITU-T T.81, annex B).
    """
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
    """The layout of a page as the app keeps it; raises when an honest worker cannot have sent it."""
    stride = (reply.columns + 7) // 8
    if len(reply.mask) != stride * reply.rows or (reply.columns == 0) != (reply.rows == 0):
        raise _Lost("It sent a mask with missing pixels.")
    if len(reply.texts) != 4 * len(reply.sizes) or len(reply.sizes) != len(reply.characters):
        raise _Lost("It sent text without sizes.")
    if any(len(each) % 32 for each in (reply.images, reply.rules, reply.texts)):
        raise _Lost("It sent an incomplete box.")
    images, rules, texts = (
        np.frombuffer(each, dtype="<f8").reshape(-1, 4).astype(np.float64, copy=False)
        for each in (reply.images, reply.rules, reply.texts)
    )
    sizes, characters = (np.frombuffer(each, dtype="<f8").astype(np.float64, copy=False)
                         for each in (reply.sizes, reply.characters))  # fmt: skip
    if not all(bool(np.all((boxes >= 0.0) & (boxes <= 1.0))) for boxes in (images, rules, texts)):
        raise _Lost("It sent boxes outside the page.")
    if not all(bool(np.all(np.isfinite(numbers) & (numbers > 0.0))) for numbers in (sizes, characters)):
        raise _Lost("It sent text without a size.")
    bits = np.frombuffer(reply.mask, dtype=np.uint8).reshape(reply.rows, stride)
    mask = np.unpackbits(bits, axis=1, count=reply.columns).astype(np.bool_) if reply.rows else np.zeros((0, 0), bool)
    mask.flags.writeable = False
    return Layout(reply.rotation, plain(reply.producer), images, rules, texts, sizes, characters, mask)


def _plain_warnings(warnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(plain(warning) for warning in warnings)


def _said(detail: str) -> str:
    """The renderer's own words as a sentence; they can quote the document, so they are shortened."""
    detail = detail.strip()
    if not detail:
        return ""
    return detail if detail.endswith(".") and len(detail) < 160 else f"The renderer reports: {quote(detail)}."


def _need_dpi(dpi: float) -> None:
    if not 0 < dpi <= _MAX_DPI:
        raise ValueError(f"dpi must be above 0 and at most {_MAX_DPI:g}, not {dpi!r}")


def _need_width(width: int) -> None:
    if not 1 <= width <= _MAX_WIDTH:
        raise ValueError(f"width must be from 1 to {_MAX_WIDTH}, not {width!r}")
