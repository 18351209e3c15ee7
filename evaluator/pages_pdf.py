"""Page images and words: finds a document by its name and asks a killable worker process for its pages.

Owns the ONE function that decides which file a name from an annotation may reach (``find_document``), the pool of
renderer processes (``PagePool``), the caches of what they answered, and the sentences shown in the place of a page
that cannot be drawn (``PageProblem``). A page image is WebP; sizes are in pixels and points of the DISPLAYED page;
words are boxes x1, y1, x2, y2 in [0, 1] of that page, origin top left, so that a box times the picture's size lands
on the picture. Page indexes count from 0; sentences for people count pages from 1.

Everything that a worker says is untrusted: a hostile document may own its process. Messages are msgpack with strict
types and limits, and a picture is accepted only when it is WebP. The caches are shared by all users, so their keys are
the digest of the content and the parameters, never a name or a path.

It does not draw: the renderer lives in ``pdf_worker`` and is never imported into this process. It fetches nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import unicodedata
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, Literal, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.boxes import FloatArray
from evaluator.errors import plain, quote
from evaluator.pdf_worker import (
    DOCUMENT_BYTES_LIMIT,
    PAGE_LIMIT,
    PIXEL_LIMIT,
    REPLY_BYTES_LIMIT,
    SIZES_AT_ONCE,
    Description,
    Failure,
    InkGrid,
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

__all__ = [
    "IMAGE_SUFFIXES", "Description", "Ink", "PageImage", "PagePool", "PageProblem", "PdfFolder", "Words",
    "find_document", "sharpest_width",
]  # fmt: skip

ProblemKind = Literal[
    "no_folder", "missing", "blocked", "ambiguous", "not_pdf", "encrypted", "unreadable", "no_pages",
    "page_out_of_range", "too_large", "too_slow", "out_of_memory", "worker_lost", "busy", "no_renderer",
]  # fmt: skip

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")
_DOCUMENT_SUFFIXES = frozenset({*IMAGE_SUFFIXES, ".pdf", ""})
_STEM = re.compile(r"\.(pdf|xml|json|jpe?g|png|tiff?|bmp)$", re.IGNORECASE)
_NAME_BYTES = 255
_NAME_PARTS = 16
# Windows opens a device under these names in every folder, with any extension.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "123456789")}
)
_MAX_DPI = 1200.0
_MAX_WIDTH = 16_000
# A worker needs little of the environment, and nothing secret that may stand in it.
_ENVIRONMENT = (
    "PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "PYTHONHOME", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip

# Title, text, fix. Braces: document, folder, page (from 1), index (from 0), detail.
_SENTENCES: dict[ProblemKind, tuple[str, str, str]] = {
    "no_folder": (
        "No PDF folder is open",
        "{document} is looked up by its name in the folder of the PDFs, and none was given.",
        "Open the folder that holds it, or add the PDF in Files.",
    ),
    "missing": (
        "PDF not found under {folder}",
        "No document named {document} is in the folder {folder} or in the folders inside it. {detail}",
        "Put the document into this folder, or choose the folder that holds it.",
    ),
    "blocked": (
        "PDF not found under {folder}",
        "Documents are found by their name inside the folder {folder}; {document} {detail}, so it was not looked up.",
        "Name the document in the annotation by its file name, such as report.pdf.",
    ),
    "ambiguous": (
        "Several documents are named {document}",
        "The folder {folder} holds {detail}; which one is meant is not clear.",
        "Keep one of them, or give them different names.",
    ),
    "not_pdf": (
        "{document} is not a document that can be shown",
        "Its content is neither that of a PDF nor of the image that its name promises. {detail}",
        "Replace it by the real document.",
    ),
    "encrypted": (
        "{document} is password protected",
        "The document can be opened only with a password, so its pages cannot be drawn.",
        "Save a copy without the password under the same name.",
    ),
    "unreadable": (
        "{document} cannot be read",
        "The document is damaged, so this page cannot be drawn. {detail}",
        "Open it in a PDF viewer and save it again, or get a fresh copy.",
    ),
    "no_pages": (
        "{document} has no pages",
        "The document holds no page, so no annotation can lie on one.",
        "Get a complete copy of the document.",
    ),
    "page_out_of_range": (
        "{document} has no page {page}",
        "The annotation asks for page_index {index}, which counts from 0; the document has {detail}.",
        "Check page_index in the annotation, or get the document that was annotated.",
    ),
    "too_large": (
        "{document} is too large to be drawn",
        "The limits are 200 MiB for a document, 100,000 pages, and 50 million pixels for an image, 400 million for a "
        "JPEG. {detail}",
        "Split the document, or save it smaller.",
    ),
    "too_slow": (
        "Rendering took too long",
        "Page {page} of {document} was not ready after {detail} and was stopped. It is not tried again for 10 minutes.",
        "Open the page in a PDF viewer; saving it again in simpler form often helps.",
    ),
    "out_of_memory": (
        "Rendering needed too much memory",
        "Page {page} of {document} needs more memory than a page may have. It is not tried again for 10 minutes.",
        "Save the document with smaller images, or view it in a PDF viewer.",
    ),
    "worker_lost": (
        "The renderer stopped at this page",
        "The renderer ended while it was at page {page} of {document}. The page is not tried again for 10 minutes.",
        "Open the document in a PDF viewer and save it again.",
    ),
    "busy": (
        "The renderer is busy",
        "Other pages are being drawn; page {page} of {document} had to wait too long.",
        "Try again in a moment.",
    ),
    "no_renderer": (
        "Pages cannot be drawn here",
        "The renderer could not be started. {detail}",
        "Check the installation of PyMuPDF and Pillow; all numbers are complete without page images.",
    ),
}
# Only these mean that the page is dangerous; everything else is cheap to find out again.
_KILLERS: frozenset[ProblemKind] = frozenset({"too_slow", "out_of_memory", "worker_lost"})


class PageProblem(Exception):
    """Why a page, or its document, cannot be shown; to be shown in its place.

    Parameters
    ----------
    kind : str
        The typed outcome.
    document : str
        Name of the document as the annotation or the folder gives it; a folder in front of it is not shown.
    folder : str
        Name of the folder that was searched.
    page_index : int
        From 0.
    detail : str
        What the sentence of this kind leaves open.

    Attributes
    ----------
    kind : str
        The typed outcome.
    title, text, fix : str
        Sentences for the reader; control characters escaped, no path of this machine.
    """

    def __init__(
        self, kind: ProblemKind, *, document: str, folder: str = "", page_index: int = 0, detail: str = ""
    ) -> None:
        self.kind = kind
        self._arguments = (document, folder, page_index, detail)
        shown = {
            "document": plain(_shortened(document)) or '""',
            "folder": plain(_shortened(folder)) or "of the documents",
            # Digits without end are the annotation's; turning them into text may even be refused by Python.
            "page": page_index + 1 if abs(page_index) < 10**12 else "of that number",
            "index": page_index if abs(page_index) < 10**12 else "far out of range",
            "detail": plain(detail),
        }
        self.title, self.text, self.fix = (sentence.format(**shown).strip() for sentence in _SENTENCES[kind])
        super().__init__(f"{self.title}. {self.text} {self.fix}")

    def __reduce__(self) -> tuple[Callable[..., PageProblem], tuple[object, ...]]:
        return _problem, (self.kind, *self._arguments)


def _problem(kind: ProblemKind, document: str, folder: str, page_index: int, detail: str) -> PageProblem:
    return PageProblem(kind, document=document, folder=folder, page_index=page_index, detail=detail)


def _shortened(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:60]}…{name[-15:]}"


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


class Ink(msgspec.Struct, frozen=True, eq=False):
    """How much of a page is ink: what stands out from the paper, dark on light or light on dark.

    Attributes
    ----------
    cells : uint8, shape (rows, columns)
        Share of ink in each cell of a grid over the whole displayed page, 0 to 255, from the top left; read-only.
    """

    cells: npt.NDArray[np.uint8]


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


# --- finding a document ------------------------------------------------------------------------------------------


def _forbidden(name: str) -> str:
    """What makes a name unfit to be looked up, as the end of a sentence; empty for a fit one. Touches no file."""
    if not name.strip(". "):
        return "is empty"
    # Surrogates would become arbitrary bytes of a file name.
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return "holds a control character"
    if "\\" in name or ":" in name:
        return "holds a backslash or a colon, as a Windows path or a web address does"
    if name.startswith("/"):
        return "is an absolute path"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "holds steps such as . or .."
    if len(parts) > _NAME_PARTS or any(len(part.encode()) > _NAME_BYTES for part in parts):
        return "is too long for a file name"
    if any(part.split(".")[0].strip().casefold() in _DEVICES for part in parts):
        return "is the name of a device"
    return ""


def _folded(name: str) -> str:
    """A name as it is compared: accents composed, case ignored."""
    return unicodedata.normalize("NFC", name).casefold()


def _spellings(base: str) -> Iterator[tuple[str, ...]]:
    """Which files a base name may mean, better ones first; the names of one entry are equally good.

    Examples
    --------
    >>> list(_spellings("a.pdf"))[:4]
    [('a.pdf',), ('a.pdf.pdf',), ('a',), ('a.jpg', 'a.jpeg', 'a.png', 'a.tif', 'a.tiff', 'a.bmp')]
    """
    stem = _STEM.sub("", base)
    yield (base,)
    yield (f"{base}.pdf",)
    if stem != base:
        yield (stem,)
    if not base.lower().endswith((".pdf", "/")) and stem != base:
        yield (f"{stem}.pdf",)
    yield tuple(stem + suffix for suffix in IMAGE_SUFFIXES)
    if stem != base:
        yield tuple(base + suffix for suffix in IMAGE_SUFFIXES)


class PdfFolder:
    """The documents under one folder, found by name and only there.

    Parameters
    ----------
    root : path
        The folder.
    max_files, max_depth : int
        How much of the tree is listed, at most.

    Notes
    -----
    The tree is listed once, at the first name that is not found directly; ``refresh`` lists it again.
    """

    def __init__(self, root: Path | str, *, max_files: int = 50_000, max_depth: int = 8) -> None:
        self.root = Path(root)
        self._max_files = max_files
        self._max_depth = max_depth
        self._index: dict[str, list[Path]] | None = None
        self._complete = True
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Forget the listing, so that files added since are found."""
        with self._lock:
            self._index = None

    def find(self, name: str) -> Path:
        """The document of a name; see ``find_document``."""
        why = _forbidden(name)
        if why:
            raise self._problem("blocked", name, why)
        try:
            root = self.root.resolve(strict=True)
        except (OSError, RuntimeError):
            raise self._problem("missing", name, "The folder does not exist.") from None
        for spelling in (name, f"{name}.pdf"):
            found = self._contained(root / spelling, root, name)
            if found is not None and found.suffix.lower() in _DOCUMENT_SUFFIXES:
                return found
        return self._by_base_name(name, root)

    def _contained(self, path: Path, root: Path, name: str) -> Path | None:
        """The file behind a path, when it is a regular one inside the root; None when there is none."""
        try:
            resolved = path.resolve(strict=True)
            if not resolved.is_relative_to(root):
                raise self._problem("blocked", name, "is a link that leads out of the folder")
            return resolved if stat.S_ISREG(resolved.stat().st_mode) else None
        except (OSError, RuntimeError):  # RuntimeError: a circle of links, before Python 3.13
            return None

    def _by_base_name(self, name: str, root: Path) -> Path:
        base = name.rsplit("/", 1)[-1]
        index = self._listing(root)
        for spellings in _spellings(base):
            found = self._listed(index, spellings, name, root)
            if len(found) > 1:
                shown = " and ".join(path.relative_to(root).as_posix() for path in found[:3])
                more = f" and {len(found) - 3} more" if len(found) > 3 else ""
                raise self._problem("ambiguous", base, shown + more)
            if found:
                return found[0]
        # A folder of that name stands for the one document in it: poster-7/poster.pdf.
        links = {path for path in index.get(_folded(f"{base}/"), ()) if path.is_symlink()}
        inside = self._listed(index, (f"{base}/",), name, root, without=links)
        for alone in ([path for path in inside if path.suffix.lower() == ".pdf"], inside):
            if len(alone) == 1:
                return alone[0]
        told = "" if self._complete else f"Only the first {self._max_files} files were looked at."
        raise self._problem("missing", name, told)

    def _listed(
        self,
        index: Mapping[str, Sequence[Path]],
        spellings: Sequence[str],
        name: str,
        root: Path,
        without: Collection[Path] = (),
    ) -> list[Path]:
        """The files of the listing under some spellings, sorted; of exactly these, when there are any."""
        listed = [path for spelling in spellings for path in index.get(_folded(spelling), ()) if path not in without]
        exact = [path for path in listed if path.name in spellings]
        # Two links to one file are one document.
        contained = (self._contained(path, root, name) for path in exact or listed)
        return sorted({path for path in contained if path is not None})

    def _listing(self, root: Path) -> dict[str, list[Path]]:
        """Documents by file name, and by the name of their folder with a slash behind it."""
        with self._lock:
            if self._index is None:
                self._index = {}
                listed = 0
                for path in self._walk(root):
                    listed += 1
                    if listed > self._max_files:
                        break
                    if path.suffix.lower() in _DOCUMENT_SUFFIXES:
                        self._index.setdefault(_folded(path.name), []).append(path)
                        if path.suffix and path.parent != root:
                            self._index.setdefault(_folded(f"{path.parent.name}/"), []).append(path)
                self._complete = listed <= self._max_files
            return self._index

    def _walk(self, root: Path) -> Iterator[Path]:
        for folder, folders, files in os.walk(root, followlinks=False):
            depth = len(Path(folder).relative_to(root).parts)
            # Sorted, so that a cut listing is the same on every machine.
            folders[:] = sorted(folders) if depth < self._max_depth else []
            yield from (Path(folder, file) for file in sorted(files))

    def _problem(self, kind: ProblemKind, name: str, detail: str) -> PageProblem:
        return PageProblem(kind, document=name, folder=self.root.name, detail=detail)


def find_document(name: str, root: Path | PdfFolder) -> Path:
    """The file that a document name from an annotation means; the only way from a name to a file.

    Parameters
    ----------
    name : str
        ``doc_name`` of an annotation: a file name, or folders and a file name with forward slashes.
    root : path or PdfFolder
        The folder of the documents; pass a ``PdfFolder`` to look up many names.

    Returns
    -------
    Path
        Resolved; a regular file inside the resolved root.

    Raises
    ------
    PageProblem
        ``blocked``: the name is a path out of the folder, an address, a device, or not a name at all. It is refused
        before any file-system call; only a link that leads outside is seen by resolving it.
        ``missing``: there is no such document. ``ambiguous``: there are several.

    Notes
    -----
    Order: the name inside the root, the same with ``.pdf``; then the base name anywhere in the tree, with case and the
    composition of accents ignored, the same with ``.pdf``, without its suffix, and as ``.pdf`` or an image instead;
    last the one document of a folder of that name. A file of exactly that spelling goes before one that differs in
    case. No name is expanded or decoded: ``~``, ``$HOME`` and ``%2e`` are plain characters.
    Rule: snapshot specification, item 9 (``doc_path`` is never trusted); reliability, CVE-2025-25295.
    """
    folder = root if isinstance(root, PdfFolder) else PdfFolder(root)
    return folder.find(name)


# --- caches ------------------------------------------------------------------------------------------------------

_Value = TypeVar("_Value")
_Key = tuple[object, ...]


class _ContentCache(Generic[_Value]):
    """Least recently used answers, bounded by entries and bytes."""

    def __init__(self, *, entries: int, size: int) -> None:
        self._entries = entries
        self._size = size
        self._held = 0
        self._values: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: _Key) -> _Value | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        if size > self._size:
            return
        with self._lock:
            if key in self._values:
                self._held -= self._values.pop(key)[1]
            self._values[key] = (value, size)
            self._held += size
            while len(self._values) > self._entries or self._held > self._size:
                self._held -= self._values.popitem(last=False)[1][1]

    def drop(self, key: _Key) -> None:
        with self._lock:
            if key in self._values:
                self._held -= self._values.pop(key)[1]


# --- the processes -----------------------------------------------------------------------------------------------


class _Expired(Exception):
    """The worker was killed because its time was over."""


class _Lost(Exception):
    """The worker ended by itself, or said something that it must not say."""


class _Worker:
    """One renderer process; used by one thread at a time, but killed from any."""

    def __init__(self) -> None:
        package = Path(__file__).resolve().parent
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        places = (str(package.parent), os.environ.get("PYTHONPATH", ""))
        environment["PYTHONPATH"] = os.pathsep.join(place for place in places if place)
        # -P: neither the current folder nor the documents' one is searched for modules.
        command = [sys.executable, "-P", "-m", f"{package.name}.pdf_worker"]
        # A session of its own, so that a child that a hostile page managed to start dies with it.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self.engine = ""
        self.answered = 0
        self.digest = ""

    def await_ready(self, *, limit: float) -> None:
        """Wait for the first message; the process was started earlier and is mostly there already."""
        reply = self._exchange(None, limit=limit)
        if isinstance(reply, Failure):
            raise _Lost(reply.detail)
        if not isinstance(reply, Ready):
            raise _Lost("It did not introduce itself.")
        self.engine = reply.engine

    def ask(self, request: Request, *, limit: float) -> Reply:
        """The answer to one request, or the worker's end."""
        self.digest = request.digest
        reply = self._exchange(msgspec.msgpack.encode(request), limit=limit)
        self.answered += 1
        return reply

    def _exchange(self, payload: bytes | None, *, limit: float) -> Reply:
        process = self.process
        if process.stdin is None or process.stdout is None:
            raise _Lost("It has no pipes.")
        turn = threading.Lock()
        state = "running"

        def stop() -> None:
            nonlocal state
            # Under the lock: a limit that fires while the answer arrives must not kill the next request.
            with turn:
                if state == "running":
                    state = "expired"
                    self.kill()

        # Pipes cannot be polled on Windows, so the limit is a second thread that kills; the read then ends.
        watch = threading.Timer(limit, stop)
        watch.daemon = True
        watch.start()
        answer = None
        try:
            if payload is not None:
                write_frame(process.stdin, payload)
            answer = read_frame(process.stdout, limit=REPLY_BYTES_LIMIT)
        except (OSError, ValueError) as problem:
            raise (_Expired() if state == "expired" else _Lost(str(problem))) from problem
        finally:
            with turn:
                state = "done" if state == "running" else state
            watch.cancel()
            watch.join()
        if state == "expired":
            raise _Expired
        if answer is None:
            raise _Lost("It ended.")
        try:
            reply: Reply = msgspec.msgpack.decode(answer, type=Reply)
        except (msgspec.MsgspecError, UnicodeError) as problem:
            raise _Lost("It sent something else than an answer.") from problem
        return reply

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
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                # Closing flushes into the dead worker's pipe.
                with contextlib.suppress(OSError):
                    pipe.close()


def _discard_all(workers: set[_Worker], owner: int) -> None:
    """End every worker, when the pool is collected or the interpreter ends; a forked child leaves them alone."""
    while workers and os.getpid() == owner:
        workers.pop().discard()


class _Turn:
    """A lock with the number of threads that hold or want it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted = 0


class PagePool:
    """Draws pages and reads words in processes that can be killed; for any number of threads.

    Parameters
    ----------
    workers : int
        Requests that run at the same time.
    spares : int
        Processes kept warm beyond those, to replace a killed one at once.
    time_limit : float
        Seconds for one request; then its process is killed.
    wait_limit : float
        Seconds that a request waits for its turn.
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
    Processes start with the first request, one and a spare; more only when requests overlap. Requests for one page
    wait for each other: twenty users on a page that never ends cost one worker, not all.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        spares: int = 1,
        time_limit: float = 5.0,
        wait_limit: float = 20.0,
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
        self._start_limit = start_limit
        self._requests_per_worker = requests_per_worker
        self._blocked_for = blocked_for
        self._clock = clock
        self._images: _ContentCache[PageImage] = _ContentCache(entries=image_entries, size=image_bytes)
        self._words: _ContentCache[Words] = _ContentCache(entries=word_entries, size=word_bytes)
        self._inks: _ContentCache[Ink] = _ContentCache(entries=word_entries, size=word_bytes)
        self._sizes: _ContentCache[Sizes] = _ContentCache(entries=4_096, size=8 * 2**20)
        self._described: _ContentCache[Description] = _ContentCache(entries=4_096, size=2**20)
        self._digests: _ContentCache[str] = _ContentCache(entries=4_096, size=2**20)
        self._blocked: _ContentCache[tuple[float, ProblemKind, str]] = _ContentCache(entries=1_024, size=2**20)
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(workers)
        self._turns: dict[_Key, _Turn] = {}
        self._free: list[_Worker] = []
        self._live: set[_Worker] = set()
        self._busy = 0
        self._most_busy = 1
        self._engine = ""
        self._closed = False
        # Holds the set, not the pool: runs when the pool is collected, or at the interpreter's end.
        self._ending = weakref.finalize(self, _discard_all, self._live, os.getpid())

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

    def __enter__(self) -> PagePool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def describe(self, path: Path) -> Description:
        """Page count, encryption and warnings of a document.

        Parameters
        ----------
        path : Path
            From ``find_document``.

        Returns
        -------
        Description
            ``page_count`` is 0 for an encrypted document, as for one without pages.

        Raises
        ------
        PageProblem
            The document cannot be opened at all.
        """
        return self._answer(path, "describe", 0, wanted=Description, cache=self._described, size=lambda _: 256)

    def page_image(self, path: Path, page_index: int, *, dpi: float = 110.0, width: int | None = None) -> PageImage:
        """One page as WebP.

        Parameters
        ----------
        path : Path
            From ``find_document``; the `IMAGE_SUFFIXES` are images of one page at 72 dpi and are never enlarged,
            everything else has to be a PDF.
        page_index : int
            From 0.
        dpi : float
            Resolution; lowered when the page would exceed 25 million pixels or a side of 16,000.
        width : int or None
            Width in pixels, instead of ``dpi``.

        Returns
        -------
        PageImage
            The picture, its size in pixels, the displayed page in points, and warnings on its geometry.

        Raises
        ------
        PageProblem
            The page cannot be drawn.
        ValueError
            ``dpi`` is not in (0, 1200], or ``width`` not in 1 to 16,000.
        """
        if width is None and not 0 < dpi <= _MAX_DPI:
            raise ValueError(f"dpi must be above 0 and at most {_MAX_DPI:g}, not {dpi!r}")
        if width is not None and not 1 <= width <= _MAX_WIDTH:
            raise ValueError(f"width must be from 1 to {_MAX_WIDTH}, not {width!r}")
        return self._answer(
            path,
            "page",
            page_index,
            wanted=PageImage,
            cache=self._images,
            size=lambda image: len(image.webp) + 256,
            dpi=float(dpi) if width is None else None,
            width=width,
        )

    def thumbnail(self, path: Path, page_index: int, *, width: int = 160) -> PageImage:
        """A small picture of one page; ``page_image`` by width."""
        return self.page_image(path, page_index, width=width)

    def words(self, path: Path, page_index: int) -> Words:
        """The words of one page with their boxes in the displayed page.

        Parameters
        ----------
        path : Path
            From ``find_document``.
        page_index : int
            From 0.

        Returns
        -------
        Words
            Without rows for a page without text.

        Raises
        ------
        PageProblem
            The page cannot be read.
        """

        def size(words: Words) -> int:
            return words.boxes.nbytes + sum(64 + len(text) for text in words.texts)

        return self._answer(path, "words", page_index, wanted=Words, cache=self._words, size=size)

    def ink(self, path: Path, page_index: int) -> Ink:
        """The ink of one page on a small grid: what a page without a text layer is compared by.

        Parameters
        ----------
        path : Path
            From ``find_document``.
        page_index : int
            From 0.

        Returns
        -------
        Ink
            All 0 for a blank page.

        Raises
        ------
        PageProblem
            The page cannot be drawn.
        """
        return self._answer(
            path, "ink", page_index, wanted=Ink, cache=self._inks, size=lambda ink: ink.cells.nbytes + 256
        )

    def page_sizes(self, path: Path) -> FloatArray:
        """Width and height of every displayed page.

        Parameters
        ----------
        path : Path
            From ``find_document``.

        Returns
        -------
        float64, shape (P, 2)
            In points; for an image, its pixels. NaN for a page that cannot be measured.

        Raises
        ------
        PageProblem
            The document cannot be opened, is encrypted or has no pages.
        """
        count = max(self.describe(path).page_count, 1)
        parts = [
            self._answer(
                path, "sizes", first, wanted=Sizes, cache=self._sizes, size=lambda part: part.sizes.nbytes
            ).sizes
            for first in range(0, count, SIZES_AT_ONCE)
        ]
        return np.concatenate(parts)

    # The steps of a request: identify the content, look it up, take turns per page, borrow a worker, ask, keep.

    def _answer(
        self,
        path: Path,
        operation: Operation,
        page_index: int,
        *,
        wanted: type[_Value],
        cache: _ContentCache[_Value],
        size: Callable[[_Value], int],
        dpi: float | None = None,
        width: int | None = None,
    ) -> _Value:
        name = path.name
        if page_index < 0 or page_index >= PAGE_LIMIT:
            # Refused here: such a number may not even fit into a message.
            raise self._out_of_range(path, page_index)
        media: Media = "image" if path.suffix.lower() in IMAGE_SUFFIXES else "pdf"
        for _ in range(2):
            place, identity, digest = self._identify(path)
            key: _Key = (operation, media, digest, page_index, dpi, width)
            known = cache.get(key)
            if known is not None:
                return known
            request = Request(
                operation=operation,
                path=os.fsencode(place),
                media=media,
                digest=digest,
                page_index=page_index,
                dpi=dpi,
                width=width,
                time_limit=self._time_limit,
            )
            # Opening can kill too, so describing has a place of its own among the blocked pages.
            page: _Key = (digest, -1 if operation == "describe" else page_index)
            deadline = time.monotonic() + self._wait_limit
            with self._turn(page, name, page_index, deadline):
                known = cache.get(key)
                if known is not None:
                    return known
                self._refuse_blocked(page, name, page_index)
                try:
                    reply = self._exchange(request, name, deadline, wanted)
                except PageProblem as problem:
                    if problem.kind in _KILLERS and not self._closed:
                        self._block(page, problem)
                    raise
                if isinstance(reply, wanted):
                    cache.put(key, reply, size(reply))
                    return reply
            # The file was exchanged since its digest was taken.
            self._digests.drop(identity)
        raise PageProblem("unreadable", document=name, detail="The file changes while it is read.")

    def _out_of_range(self, path: Path, page_index: int) -> PageProblem:
        described = self.describe(path)
        kind: ProblemKind = "page_out_of_range" if described.page_count else "no_pages"
        if described.encrypted:
            kind = "encrypted"
        return PageProblem(kind, document=path.name, page_index=page_index, detail=_pages(described.page_count))

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
    def _turn(self, page: _Key, name: str, page_index: int, deadline: float) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(page, _Turn())
            turn.wanted += 1
        try:
            if not turn.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise PageProblem("busy", document=name, page_index=page_index)
            try:
                yield
            finally:
                turn.lock.release()
        finally:
            with self._lock:
                turn.wanted -= 1
                if not turn.wanted:
                    del self._turns[page]

    def _block(self, page: _Key, problem: PageProblem) -> None:
        detail = f"{self._time_limit:g} s" if problem.kind == "too_slow" else ""
        self._blocked.put((*page, self._engine), (self._clock() + self._blocked_for, problem.kind, detail), 256)

    def _refuse_blocked(self, page: _Key, name: str, page_index: int) -> None:
        blocked = self._blocked.get((*page, self._engine))
        if blocked is not None and self._clock() < blocked[0]:
            raise PageProblem(blocked[1], document=name, page_index=page_index, detail=blocked[2])

    def _exchange(self, request: Request, name: str, deadline: float, wanted: type[_Value]) -> _Value | None:
        """The checked answer of a worker; None when the file is no longer the one of the digest."""
        page_index = request.page_index
        if not self._slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise PageProblem("busy", document=name, page_index=page_index)
        try:
            worker = self._borrow(request.digest, name)
            healthy = False
            try:
                reply = worker.ask(request, limit=self._time_limit)
                answer = _checked(reply)
                healthy = not (isinstance(reply, Failure) and reply.kind == "out_of_memory")
            except _Expired:
                detail = f"{self._time_limit:g} s"
                raise PageProblem("too_slow", document=name, page_index=page_index, detail=detail) from None
            except _Lost:
                raise PageProblem("worker_lost", document=name, page_index=page_index) from None
            finally:
                self._give_back(worker, healthy=healthy)
        finally:
            self._slots.release()
        if isinstance(answer, Failure):
            if answer.kind == "changed":
                return None
            detail = _pages(int(answer.detail)) if answer.kind == "page_out_of_range" else _said(answer.detail)
            raise PageProblem(answer.kind, document=name, page_index=page_index, detail=detail)
        if not isinstance(answer, wanted):
            raise PageProblem("worker_lost", document=name, page_index=page_index)
        return answer

    def _borrow(self, digest: str, name: str) -> _Worker:
        """A worker that has introduced itself: one that has the document open, else one that is ready, else any."""
        detail = ""
        for _ in range(2 + self._workers + self._spares):
            with self._lock:
                if self._closed:
                    raise PageProblem("no_renderer", document=name, detail="The dashboard is closing.")
                try:
                    worker = self._choose(digest)
                except OSError:
                    detail = "The system refused to start a process."
                    break
                self._busy += 1
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

    def _choose(self, digest: str) -> _Worker:
        ranked = sorted(self._free, key=lambda worker: (worker.digest != digest, not worker.engine))
        if ranked:
            self._free.remove(ranked[0])
            return ranked[0]
        worker = _Worker()
        self._live.add(worker)
        return worker

    def _give_back(self, worker: _Worker, *, healthy: bool, refill: bool = True) -> None:
        with self._lock:
            self._busy -= 1
            keep = healthy and not self._closed and worker.answered < self._requests_per_worker
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
            while not self._closed and len(self._live) < wanted:
                worker = _Worker()
                self._live.add(worker)
                self._free.append(worker)


def _checked(reply: Reply) -> Description | PageImage | Words | Sizes | Ink | Failure:
    """The answer as the app keeps it; raises when the worker sends what an honest one cannot."""
    if isinstance(reply, Description):
        return msgspec.structs.replace(reply, warnings=_plain_warnings(reply.warnings))
    if isinstance(reply, PageImage):
        # The picture goes to browsers: nothing but WebP, however the worker was talked into it.
        if reply.webp[:4] != b"RIFF" or reply.webp[8:12] != b"WEBP" or reply.width * reply.height > PIXEL_LIMIT:
            raise _Lost("It sent a picture that is not WebP.")
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
            raise _Lost("It sent half a size.")
        sizes = np.frombuffer(reply.sizes, dtype="<f8").reshape(-1, 2).astype(np.float64)
        sizes[~(np.isfinite(sizes) & (sizes > 0.0)).all(axis=1)] = np.nan
        sizes.flags.writeable = False
        return Sizes(sizes)
    if isinstance(reply, InkGrid):
        if len(reply.cells) != reply.columns * reply.rows:
            raise _Lost("It sent a grid with missing cells.")
        return Ink(np.frombuffer(reply.cells, dtype=np.uint8).reshape(reply.rows, reply.columns))
    if isinstance(reply, Failure):
        if reply.kind == "page_out_of_range" and not re.fullmatch(r"[0-9]{1,9}", reply.detail):
            raise _Lost("It sent a page count that is none.")
        return reply
    raise _Lost("It introduced itself twice.")


def _plain_warnings(warnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(plain(warning) for warning in warnings)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _said(detail: str) -> str:
    """The renderer's own words as a sentence; they can quote the document, so they are shortened."""
    detail = detail.strip()
    if not detail:
        return ""
    return detail if detail.endswith(".") and len(detail) < 160 else f"The renderer says: {quote(detail)}."
