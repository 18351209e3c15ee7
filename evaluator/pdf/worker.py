"""The process that reads documents: draws one page or reads its words, and ends on request.

Alone in importing pymupdf, which holds the interpreter lock for a whole render. ``pdf.pool`` starts ``python -m
evaluator.pdf.worker`` and speaks over stdin and stdout: four bytes of length, big endian, then one msgpack message.
Boxes and sizes are those of the DISPLAYED page: the visible part of the MediaBox after /Rotate and /UserUnit, origin
top left; sizes in points, word boxes in [0, 1]; page indexes from 0.

Documents come as open files, the last one stays open. The process is confined before (``pdf.sandbox``): it opens no
file and learns no path, except on Windows. The digest in a request is checked against the bytes read, so an exchanged
file is never answered or cached under the other's digest. References to external streams stay empty.
"""

from __future__ import annotations

import array
import codecs
import contextlib
import gc
import hashlib
import io
import itertools
import math
import os
import re
import signal
import socket
import stat
import struct
import sys
import time
import warnings
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from evaluator.pdf.sandbox import empty_folder, enter, limit_process
from evaluator.system import memory
from evaluator.system.decoding import msgpack_decoder

if TYPE_CHECKING:
    from PIL import Image

# PyMuPDF marks itself as typed but is not: its module and objects are taken as they come.
_Untyped: TypeAlias = Any
_Box: TypeAlias = tuple[float, float, float, float]

# One page never has more pixels, or a longer side (WebP ends at 16383), whatever its MediaBox says.
PIXEL_LIMIT = 25_000_000
SIDE_LIMIT = 16_000
# A scanned A4 page has 35 million pixels at 600 dpi; an image is decoded at four bytes a pixel.
IMAGE_PIXEL_LIMIT = 50_000_000
# libwebp holds a picture four times while it decodes.
WEBP_PIXEL_LIMIT = 20_000_000
# A JPEG can be decoded at a half, a quarter or an eighth of its size: A0 at 300 dpi has 140 million pixels.
JPEG_PIXEL_LIMIT = 400_000_000
COEFFICIENT_LIMIT = 300 * 2**20
PAGE_LIMIT = 100_000
# A PDF may begin after other bytes, as readers allow it (ISO 32000-1, appendix H, note 13).
HEAD_BYTES = 1024
WORD_LIMIT = 50_000
SIZES_AT_ONCE = 500
DOCUMENT_BYTES_LIMIT = 200 * 2**20
REQUEST_BYTES_LIMIT = 64 * 2**10
REPLY_BYTES_LIMIT = 48 * 2**20
# Private memory of the whole process; with the libraries' shared pages it stays below 512 MiB.
MEMORY_LIMIT = 480 * 2**20
# A word of 9 pt is about two cells high on A4: enough to see which lines of a scan a box leaves out.
INK_COLUMNS = 160
INK_ROWS_LIMIT = 640
_PIXELS_PER_CELL = 4
# How far a pixel must be from the paper to be ink, of 255: grey paper and its shadows stay paper.
_INK_CONTRAST = 90
# On scans ruled lines are looked for in the picture: at 900 pixels a hairline is still a pixel wide.
MASK_COLUMNS = 900
MASK_ROWS_LIMIT = 3_600
# Of the displayed page: a picture that covers more is the page itself, unless text that is seen on it covers more than
# a stamp does.
SCAN_SHARE = 0.6
STAMP_SHARE = 0.01
_IMAGES_LIMIT = 2_000
_RULES_LIMIT = 10_000
# In points: shorter strokes are parts of letters and drawings, thicker ones are areas.
_RULE_LENGTH = 10.0
_RULE_THICKNESS = 3.0
_OPEN_FILES = 64
_WEBP_QUALITY = 80
_JPEG_QUALITY = 80
# As close to what was drawn as the WebP is.
_SCREEN_QUALITY = 90
# A larger picture is drawn in bands of so many pixels, each of so many rows at least.
_BAND_PIXELS = 2_500_000
_BAND_ROWS = 64
_WARNINGS_LIMIT = 8
# "calloc (1 x 4144 bytes) failed" of MuPDF, "malloc of 9 bytes failed" of older ones; others of Pillow and the system.
_NO_MEMORY = re.compile(r"\b[mc]?(re)?alloc\b.*\bfailed|out of memory|cannot allocate", re.IGNORECASE)

Media = Literal["pdf", "image"]
Operation = Literal["describe", "page", "words", "sizes", "ink", "layout"]
Encoding = Literal["webp", "jpeg", "both", "screen"]
FailureKind = Literal[
    "not_pdf", "encrypted", "unreadable", "no_pages", "page_out_of_range", "out_of_memory", "too_large", "changed",
    "no_renderer",
]  # fmt: skip
_Warnings = Annotated[tuple[Annotated[str, Meta(max_length=1_000)], ...], Meta(max_length=_WARNINGS_LIMIT)]
_Points = Annotated[float, Meta(gt=0.0)]


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the app asks: one operation on one document.

    `page_index` is ignored by ``describe``, the first page for ``sizes``. `path` is empty when the file is handed over
    open; `digest` is its SHA-256. Exactly one of `dpi` and `width` for a ``page`` without `part` (x1, y1, x2, y2 in [0,
    1]), which is drawn at `dpi`, scaled down to `width`.
    """

    operation: Operation
    page_index: int = 0
    path: bytes = b""
    media: Media = "pdf"
    digest: str = ""
    dpi: float | None = None
    width: int | None = None
    part: _Box | None = None
    time_limit: float = 5.0
    most_pixels: Annotated[int, Meta(ge=1, le=PIXEL_LIMIT)] = PIXEL_LIMIT
    encoding: Encoding = "webp"
    password: str = ""

    def __repr__(self) -> str:
        return f"Request({self.operation!r}, {self.page_index!r}, digest={self.digest!r})"


class Ready(msgspec.Struct, frozen=True, tag=True):
    """First message of a worker: versions of the renderer, and what confines it (`pdf.sandbox`)."""

    engine: Annotated[str, Meta(max_length=200)]
    confined: Annotated[tuple[Annotated[str, Meta(max_length=60)], ...], Meta(max_length=8)] = ()


class Description(msgspec.Struct, frozen=True, tag=True):
    """Pages of a document (1 for an image but TIFF), whether it lacks its password, and warnings for the reader."""

    page_count: Annotated[int, Meta(ge=0, le=PAGE_LIMIT)]
    encrypted: bool
    warnings: _Warnings = ()


class PageImage(msgspec.Struct, frozen=True, tag=True):
    """One drawn page, or a part of one: WebP of quality 80, RGB on white; JPEG of 80, or 90 for a screen.

    A picture not asked for is empty. `page_width`, `page_height`: points of the displayed page, or an image's pixels.
    """

    webp: Annotated[bytes, Meta(max_length=REPLY_BYTES_LIMIT)]
    width: Annotated[int, Meta(ge=1, le=SIDE_LIMIT)]
    height: Annotated[int, Meta(ge=1, le=SIDE_LIMIT)]
    page_width: _Points
    page_height: _Points
    warnings: _Warnings = ()
    jpeg: Annotated[bytes, Meta(max_length=REPLY_BYTES_LIMIT)] = b""


class WordList(msgspec.Struct, frozen=True, tag=True):
    """Words of one page; `boxes` has x1, y1, x2, y2 of each as little-endian float64 in [0, 1]."""

    boxes: Annotated[bytes, Meta(max_length=32 * WORD_LIMIT)]
    texts: Annotated[list[str], Meta(max_length=WORD_LIMIT)]
    warnings: _Warnings = ()


class SizeList(msgspec.Struct, frozen=True, tag=True):
    """Sizes of up to `SIZES_AT_ONCE` pages, as little-endian float64 pairs of width and height.

    Points of the displayed page or an image's pixels; 0 for a page that cannot be measured.
    """

    sizes: Annotated[bytes, Meta(max_length=16 * SIZES_AT_ONCE)]


class InkGrid(msgspec.Struct, frozen=True, tag=True):
    """Share of ink in each cell of the displayed page, 0 to 255, row by row from the top left."""

    columns: Annotated[int, Meta(ge=1, le=INK_COLUMNS)]
    rows: Annotated[int, Meta(ge=1, le=INK_ROWS_LIMIT)]
    cells: Annotated[bytes, Meta(max_length=INK_COLUMNS * INK_ROWS_LIMIT)]


class LayoutList(msgspec.Struct, frozen=True, tag=True):
    """What a page is made of, apart from its words; numbers are little-endian float64, boxes in [0, 1].

    `texts` are pieces in one font, with `sizes` and `characters`. `mask`: a scan's ink, a bit per pixel, rows padded to
    bytes.
    """

    rotation: Annotated[int, Meta(ge=0, le=270, multiple_of=90)]
    producer: Annotated[str, Meta(max_length=200)]
    images: Annotated[bytes, Meta(max_length=32 * _IMAGES_LIMIT)]
    rules: Annotated[bytes, Meta(max_length=32 * _RULES_LIMIT)]
    texts: Annotated[bytes, Meta(max_length=32 * WORD_LIMIT)]
    sizes: Annotated[bytes, Meta(max_length=8 * WORD_LIMIT)]
    characters: Annotated[bytes, Meta(max_length=8 * WORD_LIMIT)]
    columns: Annotated[int, Meta(ge=0, le=MASK_COLUMNS)] = 0
    rows: Annotated[int, Meta(ge=0, le=MASK_ROWS_LIMIT)] = 0
    mask: Annotated[bytes, Meta(max_length=(MASK_COLUMNS // 8 + 1) * MASK_ROWS_LIMIT)] = b""


class Failure(msgspec.Struct, frozen=True, tag=True):
    """Why there is no answer; `detail` is for the sentence, not for decisions."""

    kind: FailureKind
    detail: Annotated[str, Meta(max_length=1_000)] = ""


Reply = Ready | Description | PageImage | WordList | SizeList | InkGrid | LayoutList | Failure


def write_frame(stream: IO[bytes], payload: bytes) -> None:
    """Send one encoded message."""
    stream.write(len(payload).to_bytes(4, "big") + payload)
    stream.flush()


def read_frame(stream: IO[bytes], *, limit: int) -> bytes | None:
    """Return a message, None when the other side has gone; ValueError, nothing read, above `limit` bytes."""
    header = stream.read(4)
    if len(header) < 4:
        return None
    size = int.from_bytes(header, "big")
    if size > limit:
        raise ValueError(f"message of {size} bytes, the limit is {limit}")
    payload = stream.read(size)
    return payload if len(payload) == size else None


def open_regular(path: str | bytes) -> io.BufferedReader:
    """Open a regular file under a resolved path for reading; the caller closes it.

    OSError when it is missing, not readable, a link, or not regular. The path was resolved when it was found, so a link
    there is new; a pipe or a device must not block: it is opened without waiting and then refused.
    """
    flags = os.O_RDONLY
    for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("not a regular file")
    return os.fdopen(descriptor, "rb")


def pixel_size(
    page_width: float, page_height: float, *, dpi: float | None, width: float | None, most: int = PIXEL_LIMIT
) -> tuple[int, int]:
    """Return width and height of a page's picture in pixels, capped before anything is drawn.

    The displayed page is in points, positive and finite; `width` is used when `dpi` is None. Each is from 1 to 16,000,
    with a product of at most `most`; a sliver is one pixel wide.

    >>> pixel_size(612.0, 792.0, dpi=72.0, width=None)
    (612, 792)
    >>> pixel_size(1e6, 1e6, dpi=72.0, width=None)
    (5000, 5000)
    >>> pixel_size(5e18, 100.0, dpi=72.0, width=None)
    (16000, 1)
    """
    wanted = dpi / 72.0 if dpi is not None else (width or 1.0) / page_width
    # Two divisions: the area of a page of 1e30 pt overflows.
    cap = min(math.sqrt(most / page_width / page_height), SIDE_LIMIT / max(page_width, page_height))
    if wanted <= cap:
        size = round(page_width * wanted), round(page_height * wanted)
        if size[0] * size[1] <= most:
            return max(1, size[0]), max(1, size[1])
    scale = min(wanted, cap)
    return max(1, math.floor(page_width * scale)), max(1, math.floor(page_height * scale))


def engine() -> _Untyped:
    """Return the renderer, loaded at first use: only the worker process may call this."""
    import pymupdf

    return pymupdf


class _Refused(Exception):
    """A typed outcome inside the worker; becomes a ``Failure``."""

    def __init__(self, kind: FailureKind, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.failure = Failure(kind, _sendable(detail))


def _sendable(text: str) -> str:
    """Return text that fits a message; MuPDF passes on stray bytes as lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")[:500]


def _read_document(request: Request, handed: int | None) -> bytes:
    try:
        with open_regular(request.path) if handed is None else open(handed, "rb", closefd=False) as file:
            # Not by its status: confined, a process asks for that of no file.
            if file.seek(0, os.SEEK_END) > DOCUMENT_BYTES_LIMIT:
                raise _Refused("too_large")
            file.seek(0)
            content = file.read(DOCUMENT_BYTES_LIMIT + 1)
    except OSError as problem:
        raise _Refused("unreadable", problem.strerror or "") from problem
    if hashlib.sha256(content).hexdigest() != request.digest:
        raise _Refused("changed")
    return content


@contextlib.contextmanager
def _no_file_opens() -> Iterator[None]:
    """Let no file be opened while a document is interpreted, whatever the document asks for."""
    if sys.platform == "win32":
        yield
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard), hard))


class _PdfDocument:
    def __init__(self, content: bytes, password: str = "") -> None:
        pymupdf = engine()
        # MuPDF goes by content and would draw an SVG or PNG of that name (reliability: Rendering).
        if b"%PDF-" not in content[:HEAD_BYTES]:
            raise _Refused("not_pdf", "" if content else "The file is empty.")
        pymupdf.TOOLS.store_shrink(100)
        pymupdf.TOOLS.reset_mupdf_warnings()
        self._document = pymupdf.open(stream=content, filetype="pdf")
        if not self._document.is_pdf:
            raise _Refused("not_pdf")
        self._locked = bool(self._document.needs_pass) and not self._document.authenticate(password)
        self._refused = bool(self._locked and password)
        self._told: dict[int, tuple[str, ...]] = {}
        self._kept: _Kept | None = None

    def describe(self) -> Description:
        page_count = 0 if self._locked else self._page_count()
        told = ("The file is damaged and was repaired while reading: pages may be missing or wrong.",)
        # Asked last: counting the pages can be what repairs it.
        return Description(page_count, self._locked, told if self._document.is_repaired else ())

    def page_image(
        self,
        page_index: int,
        *,
        dpi: float | None,
        width: int | None,
        part: _Box | None = None,
        most: int = PIXEL_LIMIT,
        encoding: Encoding = "webp",
    ) -> PageImage:
        page, told = self._page(page_index)
        size = _page_size(page)
        pixels = pixel_size(*size, dpi=dpi, width=width, most=most)
        told += () if most < PIXEL_LIMIT else _size_warning(size[0], pixels[0], dpi=dpi, width=width)
        if part is not None:
            # Drawn as large as it is sent: a page that is drawn whole and then scaled down takes five times as long.
            pixels = part_size(pixels, part, width=width or pixels[0])
        kept = self._kept or _Kept(page_index, *_content_of(page))
        # The next part is mostly of the same page.
        self._kept = None if part is None else kept
        if part is not None:
            # MuPDF takes an image that it decoded for something larger, which is a shade other than one of its own: a
            # part must not depend on what was drawn before.
            engine().TOOLS.store_shrink(100)
        picture, said = _drawn_page(kept.content, size, pixels, part)
        return _encoded(picture, size, (*told, *(kept.told or said))[:_WARNINGS_LIMIT], encoding)

    def words(self, page_index: int) -> WordList:
        page, told = self._page(page_index)
        # Asked once: PyMuPDF looks /Rotate up anew each time, which takes longer than the box of a word.
        width, height, rotation = *_page_size(page), int(page.rotation)
        boxes = array.array("d")
        texts: list[str] = []
        for x1, y1, x2, y2, text, *_ in page.get_text("words"):
            placed = displayed_box((x1, y1, x2, y2), rotation=rotation, width=width, height=height)
            if placed is None:
                continue
            if len(texts) == WORD_LIMIT:
                told += (f"The page has more than {WORD_LIMIT} words; the rest is left out.",)
                break
            boxes.extend(placed)
            texts.append(str(text).encode("utf-8", "replace").decode("utf-8"))
        return WordList(_as_bytes(boxes), texts, told[:_WARNINGS_LIMIT])

    def sizes(self, first: int) -> SizeList:
        self._page(first)  # refuses what has no such page
        sizes = array.array("d")
        for page_index in range(first, min(first + SIZES_AT_ONCE, self._page_count())):
            try:
                sizes.extend(_page_size(self._page(page_index)[0]))
            except _Refused:
                sizes.extend((0.0, 0.0))
        return SizeList(_as_bytes(sizes))

    def ink(self, page_index: int) -> InkGrid:
        page, _ = self._page(page_index)
        columns, rows = _grid(*_page_size(page), INK_COLUMNS, INK_ROWS_LIMIT)
        return _ink_grid(_grey(page, (columns * _PIXELS_PER_CELL, rows * _PIXELS_PER_CELL)), columns, rows)

    def layout(self, page_index: int) -> LayoutList:
        page, _ = self._page(page_index)
        width, height, rotation = *_page_size(page), int(page.rotation)

        def displayed(boxes: Iterator[tuple[float, float, float, float]], most: int) -> list[_Box]:
            placed = (displayed_box(box, rotation=rotation, width=width, height=height) for box in boxes)
            return list(itertools.islice((box for box in placed if box is not None), most))

        read = page.get_textpage(flags=engine().TEXT_PRESERVE_IMAGES)
        pictures = read.extractIMGINFO()
        images = displayed((tuple(image["bbox"]) for image in pictures), _IMAGES_LIMIT)
        rules = displayed(_ruled_lines(page), _RULES_LIMIT)
        texts, sizes, characters = array.array("d"), array.array("d"), array.array("d")
        # Pictures part the text beside them: only without any it is the same as where they are left out.
        for piece in itertools.islice(_pieces_of_text(page, None if pictures else read), WORD_LIMIT):
            placed = displayed_box(piece["bbox"], rotation=rotation, width=width, height=height)
            letters = len(str(piece["text"]).strip())
            size = float(piece["size"])
            if placed is not None and letters and math.isfinite(size) and size > 0.0:
                texts.extend(placed)
                sizes.append(size)
                characters.append(letters)
        largest = max(((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in images), default=0.0)
        scan = largest >= SCAN_SHARE and _text_in_front(page, width * height) < STAMP_SHARE
        columns, rows = _grid(width, height, MASK_COLUMNS, MASK_ROWS_LIMIT) if scan else (0, 0)
        mask = _bits(_grey(page, (columns, rows))) if scan else b""
        producer = _sendable(str((self._document.metadata or {}).get("producer") or ""))[:200]
        return LayoutList(
            rotation % 360, producer, _as_bytes(array.array("d", itertools.chain(*images))),
            _as_bytes(array.array("d", itertools.chain(*rules))), _as_bytes(texts), _as_bytes(sizes),
            _as_bytes(characters), columns, rows, mask,
        )  # fmt: skip

    def _page_count(self) -> int:
        count = int(self._document.page_count)
        if count > PAGE_LIMIT:
            raise _Refused("too_large", f"It says that it has {count} pages; at most {PAGE_LIMIT} are read.")
        return count

    def _page(self, page_index: int) -> tuple[_Untyped, tuple[str, ...]]:
        if self._locked:
            raise _Refused("encrypted", "The given password does not open it." if self._refused else "")
        count = self._page_count()
        if count == 0:
            repaired = self._document.is_repaired
            raise _Refused("unreadable" if repaired else "no_pages", "No page was found in it." if repaired else "")
        # PyMuPDF counts negative pages from the end; a page index from a file must not.
        if not 0 <= page_index < count:
            raise _Refused("page_out_of_range", str(count))
        if self._kept is not None and self._kept.page_index != page_index:
            # Given up before another page is looked at: two with very much on them do not fit.
            self._kept = None
        page = self._document.load_page(page_index)
        if page_index not in self._told:
            self._told[page_index] = geometry_warnings(page)
            if any("/CropBox" in warning for warning in self._told[page_index]):
                # MuPDF gives such a page the size of its MediaBox, and then clips all of it away. In memory only.
                mupdf = engine().mupdf
                entries = _entries(page)
                media = mupdf.pdf_copy_array(mupdf.pdf_dict_gets_inheritable(entries, "MediaBox"))
                mupdf.pdf_dict_puts(entries, "CropBox", media)
                page = self._document.load_page(page_index)
        return page, self._told[page_index]


class _Kept(NamedTuple):
    """What is on a page, as the renderer draws it in any size, and what it said while it read that."""

    page_index: int
    content: _Untyped
    told: tuple[str, ...]


def _content_of(page: _Untyped) -> tuple[_Untyped, tuple[str, ...]]:
    engine().TOOLS.reset_mupdf_warnings()
    content = page.get_displaylist()
    return content, _renderer_warning()


def _drawn_page(
    content: _Untyped, size: tuple[float, float], pixels: tuple[int, int], part: _Box | None
) -> tuple[Image.Image, tuple[str, ...]]:
    pymupdf = engine()
    pymupdf.TOOLS.reset_mupdf_warnings()
    x1, y1, x2, y2 = part or (0.0, 0.0, 1.0, 1.0)
    # One factor for each axis: the page then fills whole pixels, and a normalised box times the picture's
    # size is exact. With a single factor MuPDF rounds the picture outwards and boxes drift by up to a pixel.
    across, down = pixels[0] / ((x2 - x1) * size[0]), pixels[1] / ((y2 - y1) * size[1])
    matrix = pymupdf.Matrix(across, 0.0, 0.0, down, -x1 * size[0] * across, -y1 * size[1] * down)
    picture = None if pixels[0] * pixels[1] <= _BAND_PIXELS else _in_bands(content, matrix, pixels)
    if picture is None:
        clip = None if part is None else pymupdf.Rect(0, 0, *pixels) * ~matrix
        drawn = content.get_pixmap(matrix=matrix, colorspace=pymupdf.csRGB, alpha=0, clip=clip)
        picture = _picture(drawn)
        if part is not None and tuple(drawn.irect) != (0, 0, *pixels):
            picture = _moved(picture, (int(drawn.x), int(drawn.y)), pixels)
    return picture, _renderer_warning()


def _moved(picture: Image.Image, place: tuple[int, int], size: tuple[int, int]) -> Image.Image:
    """Return a picture at its place on a white sheet: MuPDF may round a part far from a corner by a pixel."""
    from PIL import Image

    sheet = Image.new("RGB", size, "white")
    sheet.paste(picture, place)
    return sheet


def _grey(page: _Untyped, size: tuple[int, int]) -> Image.Image:
    pymupdf = engine()
    page_width, page_height = _page_size(page)
    matrix = pymupdf.Matrix(size[0] / page_width, size[1] / page_height)
    pixmap = page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
    picture = _picture(pixmap, "L")
    return picture if picture.size == size else picture.resize(size)


def _ruled_lines(page: _Untyped) -> Iterator[_Box]:
    """Yield lines along an axis, thin and long enough for a rule, in points of the unrotated page."""
    half = 0.25
    for drawing in page.get_cdrawings():
        stroked = "s" in drawing["type"]
        thick = float(drawing.get("width") or 0.0) if stroked else 0.0
        for kind, *points in drawing["items"]:
            if kind == "l" and stroked:
                sides = [(*points[0], *points[1])]
            elif kind == "re":
                x1, y1, x2, y2 = points[0]
                thin = min(abs(x2 - x1), abs(y2 - y1)) <= _RULE_THICKNESS
                if thin:
                    sides = [(x1, y1, x2, y2)]
                elif stroked:
                    sides = [(x1, y1, x2, y1), (x1, y2, x2, y2), (x1, y1, x1, y2), (x2, y1, x2, y2)]
                else:
                    continue
            else:
                continue
            for x1, y1, x2, y2 in sides:
                across, down = abs(x2 - x1), abs(y2 - y1)
                if max(across, down) >= _RULE_LENGTH and min(across, down) + thick <= _RULE_THICKNESS:
                    # A line without an area would not be a box.
                    yield min(x1, x2) - half, min(y1, y2) - half, max(x1, x2) + half, max(y1, y2) + half


def _pieces_of_text(page: _Untyped, read: _Untyped | None) -> Iterator[_Untyped]:
    """Yield the spans of a page, which may have been read already: text in one font and size."""
    for block in page.get_text("dict", flags=0, textpage=read)["blocks"]:
        for line in block.get("lines", ()):
            yield from line["spans"]


def _text_in_front(page: _Untyped, area: float) -> float:
    """Return the share of a page under text that is painted and not below a picture as large as the page."""
    seen = 0.0
    for kind, (x1, y1, x2, y2), *_ in page.get_bboxlog():
        share = max(x2 - x1, 0.0) * max(y2 - y1, 0.0) / area
        if kind in ("fill-image", "fill-imgmask") and share >= SCAN_SHARE:
            seen = 0.0
        elif kind in ("fill-text", "stroke-text"):
            seen += share
    return seen


def _as_bytes(numbers: array.array[float]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _entries(page: _Untyped) -> _Untyped:
    return engine().mupdf.pdf_page_from_fz_page(page.this).obj()


def _page_size(page: _Untyped) -> tuple[float, float]:
    """Return width and height of the displayed page in points; ``page.cropbox`` would be flipped."""
    width, height = float(page.rect.width), float(page.rect.height)
    if not (math.isfinite(width) and math.isfinite(height) and width > 0 and height > 0):
        raise _Refused("unreadable", f"The page measures {width} x {height} pt.")
    return width, height


def displayed_box(
    box: tuple[float, float, float, float], *, rotation: int, width: float, height: float
) -> tuple[float, float, float, float] | None:
    """Return a box of the unrotated page, normalised to the displayed page and cut at its edges.

    `box` is in points as ``get_text`` gives it, before /Rotate (`rotation`, clockwise); None when it lies outside or is
    not finite. The turn of ``page.rotation_matrix`` written out: PyMuPDF 1.28.2 forgets /UserUnit in the matrix's
    shift.

    >>> displayed_box((10.0, 20.0, 30.0, 40.0), rotation=90, width=200.0, height=100.0)
    (0.8, 0.1, 0.9, 0.3)
    """
    x1, y1, x2, y2 = box
    if rotation == 90:
        x1, y1, x2, y2 = width - y2, x1, width - y1, x2
    elif rotation == 180:
        x1, y1, x2, y2 = width - x2, height - y2, width - x1, height - y1
    elif rotation == 270:
        x1, y1, x2, y2 = y1, height - x2, y2, height - x1
    if not all(map(math.isfinite, (x1, y1, x2, y2))):
        return None
    x1, x2 = max(0.0, x1 / width), min(1.0, x2 / width)
    y1, y2 = max(0.0, y1 / height), min(1.0, y2 / height)
    return (x1, y1, x2, y2) if x1 < x2 and y1 < y2 else None


def geometry_warnings(page: _Untyped) -> tuple[str, ...]:
    """Return sentences on a page whose geometry MuPDF had to guess, so that boxes may be drawn elsewhere.

    ISO 32000-1, table 30: /Rotate is a multiple of 90; /MediaBox is required and, with /CropBox, a rectangle (section
    7.9.5; its corners in any order). MuPDF draws 612 x 792 pt instead of an unusable /MediaBox. Empty for a legal page.
    """
    mupdf = engine().mupdf
    entries = _entries(page)
    told = []
    rotate = mupdf.pdf_dict_gets_inheritable(entries, "Rotate")
    if mupdf.pdf_is_number(rotate) and (value := mupdf.pdf_to_real(rotate)) % 90 != 0:
        told.append(f"The page's /Rotate is {value:g}, which is not a multiple of 90: boxes may be off.")
    media = _box_entry(entries, "MediaBox")
    size = f"drawn as {page.rect.width:g} x {page.rect.height:g} pt, boxes may be off"
    if media is None:
        told.append(f"The page has no /MediaBox: {size}.")
    elif len(media) != 4:
        told.append(f"The page's /MediaBox is not four numbers: {size}.")
    elif media[0] == media[2] or media[1] == media[3]:
        told.append(f"The page's /MediaBox has no area: {size}.")
    else:
        told.extend(_crop_warnings(_box_entry(entries, "CropBox"), media))
    return tuple(told)


def _crop_warnings(crop: list[float] | None, media: list[float]) -> Iterator[str]:
    if crop is None:
        return
    if len(crop) != 4:
        yield "The page's /CropBox is not four numbers: the whole /MediaBox is shown, boxes may be off."
        return
    overlap = [
        min(max(crop[axis], crop[axis + 2]), max(media[axis], media[axis + 2]))
        - max(min(crop[axis], crop[axis + 2]), min(media[axis], media[axis + 2]))
        for axis in (0, 1)
    ]
    if min(overlap) <= 0:
        yield "The page's /CropBox shares no area with its /MediaBox: the whole /MediaBox is shown, boxes may be off."


def _box_entry(entries: _Untyped, name: str) -> list[float] | None:
    mupdf = engine().mupdf
    value = mupdf.pdf_dict_gets_inheritable(entries, name)
    if mupdf.pdf_is_null(value):
        return None
    if not mupdf.pdf_is_array(value) or mupdf.pdf_array_len(value) != 4:
        return []
    items = [mupdf.pdf_array_get(value, position) for position in range(4)]
    numbers = [float(mupdf.pdf_to_real(item)) for item in items if mupdf.pdf_is_number(item)]
    return numbers if len(numbers) == 4 and all(map(math.isfinite, numbers)) else []


def _size_warning(page_width: float, pixels: int, *, dpi: float | None, width: int | None) -> tuple[str, ...]:
    wanted = dpi if dpi is not None else 72.0 * (width or 1) / page_width
    drawn = 72.0 * pixels / page_width
    if drawn > 0.9 * wanted or page_width * wanted <= 72.0:
        return ()
    return (f"The page is too large for {wanted:.3g} dpi; it is drawn at {drawn:.3g} dpi.",)


def _renderer_warning() -> tuple[str, ...]:
    lines = [line for line in str(engine().TOOLS.mupdf_warnings()).splitlines() if line.strip()]
    if not lines:
        return ()
    return (f"The renderer met a problem and may have left something out: {_sendable(lines[0][:200])}.",)


class _ImagePage(NamedTuple):
    """One page of an image file: its place in the file, displayed size in pixels, and orientation."""

    frame: int
    size: tuple[int, int]
    turned: int
    told: tuple[str, ...]


class _ImageDocument:
    """Page images: PNG, JPEG, WebP, BMP, or a TIFF of any number of pages, by their content."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._kind = _image_kind(content)
        with self._opened(0) as image:
            self._pages = list(_image_pages(image, self._kind))

    def describe(self) -> Description:
        return Description(len(self._pages), encrypted=False)

    def page_image(
        self,
        page_index: int,
        *,
        dpi: float | None,
        width: int | None,
        part: _Box | None = None,
        most: int = PIXEL_LIMIT,
        encoding: Encoding = "webp",
    ) -> PageImage:
        page = self._page(page_index)
        # Never larger than its own pixels: an image has nothing more to show.
        pixels = pixel_size(*page.size, dpi=None if dpi is None else min(dpi, 72.0), width=width, most=most)
        if dpi is None and width is not None and width > page.size[0]:
            pixels = pixel_size(*page.size, dpi=72.0, width=None, most=most)
        picture = self._displayed(page, pixels)
        size = (float(page.size[0]), float(page.size[1]))
        if part is not None:
            picture = part_of(picture, part, width=width or picture.size[0])
        return _encoded(picture, size, page.told, encoding)

    def words(self, page_index: int) -> WordList:
        self._page(page_index)
        return WordList(b"", [])

    def sizes(self, first: int) -> SizeList:
        self._page(first)
        sizes = [side for page in self._pages[first : first + SIZES_AT_ONCE] for side in page.size]
        return SizeList(struct.pack(f"<{len(sizes)}d", *sizes))

    def ink(self, page_index: int) -> InkGrid:
        from PIL import Image

        page = self._page(page_index)
        columns, rows = _grid(*page.size, INK_COLUMNS, INK_ROWS_LIMIT)
        pixels = (columns * _PIXELS_PER_CELL, rows * _PIXELS_PER_CELL)
        grey = self._displayed(page, pixels).convert("L")
        return _ink_grid(grey.resize(pixels, Image.Resampling.BOX, reducing_gap=2.0), columns, rows)

    def layout(self, page_index: int) -> LayoutList:
        from PIL import Image

        page = self._page(page_index)
        columns, rows = _grid(*page.size, MASK_COLUMNS, MASK_ROWS_LIMIT)
        grey = self._displayed(page, (columns, rows)).convert("L")
        grey = grey.resize((columns, rows), Image.Resampling.BOX, reducing_gap=2.0)
        whole = struct.pack("<4d", 0.0, 0.0, 1.0, 1.0)
        return LayoutList(0, "", whole, b"", b"", b"", b"", columns, rows, _bits(grey))

    def _displayed(self, page: _ImagePage, pixels: tuple[int, int]) -> Image.Image:
        """Return the page as it is shown, RGB on white; smaller where the file has no more pixels."""
        from PIL import Image

        # A TIFF is turned while it is read.
        turned = 1 if self._kind == "TIFF" else page.turned
        stored = pixels[::-1] if turned in _ON_SIDE else pixels
        with self._opened(page.frame) as image:
            if self._kind == "JPEG":
                stored = _drafted(image, stored)
            picture = _shrunk(image, stored)
        turn = _TURNS.get(turned)
        return picture if turn is None else picture.transpose(Image.Transpose(turn))

    def _page(self, page_index: int) -> _ImagePage:
        if not 0 <= page_index < len(self._pages):
            raise _Refused("page_out_of_range", str(len(self._pages)))
        return self._pages[page_index]

    @contextlib.contextmanager
    def _opened(self, frame: int) -> Iterator[Image.Image]:
        """Yield the image with the head of a frame read; refused before decoding when it is too large."""
        from PIL import Image

        # Pillow refuses in between with a warning, which is an error here.
        Image.MAX_IMAGE_PIXELS = _PIXEL_LIMITS.get(self._kind, IMAGE_PIXEL_LIMIT)
        try:
            with Image.open(io.BytesIO(self._content), formats=(self._kind,)) as image:
                if frame:
                    image.seek(frame)
                if image.size[0] * image.size[1] > Image.MAX_IMAGE_PIXELS:
                    raise _Refused("too_large")
                yield image
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as problem:
            raise _Refused("too_large") from problem


_PIXEL_LIMITS = {"JPEG": JPEG_PIXEL_LIMIT, "WEBP": WEBP_PIXEL_LIMIT}
# TIFF 6.0, tag NewSubfileType: a smaller copy of another picture, or a mask of it, is no page.
_SUBFILE_TYPE, _NO_PAGE = 0x00FE, 0b101


def _image_kind(content: bytes) -> str:
    """Return Pillow's name of the format that an image begins like."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "WEBP"
    kind = next((kind for sign, kind in _IMAGE_SIGNS.items() if content.startswith(sign)), None)
    if kind is None:
        raise _Refused("not_pdf", "" if content else "The file is empty.")
    return kind


def image_suffix(content: bytes) -> str:
    """Return the ending of the format that an image begins like; "" for none."""
    try:
        return f".{_image_kind(content).lower()}"
    except _Refused:
        return ""


def is_page_file(content: bytes) -> bool:
    """Return whether bytes begin like a PDF or a displayable image; they are judged again on opening."""
    return b"%PDF-" in content[:HEAD_BYTES] or bool(image_suffix(content))


def _image_pages(image: Image.Image, kind: str) -> Iterator[_ImagePage]:
    """Yield the pages of an image file: every frame of a TIFF that is a page, the first of all others."""
    for frame in range(PAGE_LIMIT if kind == "TIFF" else 1):
        if frame:
            try:
                image.seek(frame)
            except EOFError:
                return
            if int(getattr(image, "tag_v2", {}).get(_SUBFILE_TYPE, 0)) & _NO_PAGE:
                continue
        width, height = image.size
        turned, told = _orientation(image, kind)
        # A TIFF already says the size that it has when turned.
        size = (height, width) if turned in _ON_SIDE and kind != "TIFF" else (width, height)
        yield _ImagePage(frame, size, turned, told)


_IMAGE_SIGNS = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG", b"II*\0": "TIFF", b"MM\0*": "TIFF", b"BM": "BMP"}
# EXIF: how the stored picture has to be turned or mirrored, as numbers of Pillow's Transpose.
_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
_ON_SIDE = (5, 6, 7, 8)


def _orientation(image: Image.Image, kind: str) -> tuple[int, tuple[str, ...]]:
    """Return how a picture is turned for display (EXIF, TIFF tag 274), with a warning for the reader."""
    # Broken EXIF data read as none; a TIFF has the tag itself.
    turned = getattr(image, "tag_v2", {}).get(0x0112, 1) if kind == "TIFF" else image.getexif().get(0x0112, 1)
    if turned not in _TURNS:
        return 1, ()
    return turned, (f"The image is turned by its EXIF orientation ({turned}): boxes refer to the turned picture.",)


def _drafted(image: Image.Image, wanted: tuple[int, int]) -> tuple[int, int]:
    """Set a JPEG to decode at a fraction that is large enough, or the largest that fits; return its size."""
    width, height = image.size
    if image.info.get("progressive") and (needed := _coefficient_bytes(image)) > COEFFICIENT_LIMIT:
        much = f"{needed / 2**20:,.0f} MiB"
        raise _Refused("too_large", f"It is a progressive JPEG, which has to be held whole: {much}.")
    fraction = next((k for k in (1, 2, 4, 8) if (width // k) * (height // k) <= IMAGE_PIXEL_LIMIT), 8)
    most = max(1, width // fraction), max(1, height // fraction)
    wanted = min(wanted[0], most[0]), min(wanted[1], most[1])
    image.draft(None, wanted)
    return wanted


def _coefficient_bytes(image: Image.Image) -> float:
    """Return the memory of decoding a progressive JPEG at any fraction: two bytes for each coefficient."""
    sampling = [(across, down) for _, across, down, *_ in getattr(image, "layer", ())] or [(1, 1)] * 3
    finest = max(across for across, _ in sampling) * max(down for _, down in sampling)
    return float(2 * image.size[0] * image.size[1] * sum(across * down for across, down in sampling) / finest)


def _shrunk(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return an RGB picture of a size, made small before it is converted where the mode allows."""
    from PIL import Image

    picture = image if image.mode in ("RGB", "L", "CMYK") else _on_white(image)
    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.BOX, reducing_gap=2.0)
    else:
        picture.load()
    return picture if picture.mode == "RGB" and picture is not image else _on_white(picture)


def _grid(page_width: float, page_height: float, columns: int, rows_limit: int) -> tuple[int, int]:
    """Return columns and rows of a grid of nearly square cells over a page.

    >>> _grid(595.0, 842.0, INK_COLUMNS, INK_ROWS_LIMIT), _grid(595.0, 842.0, MASK_COLUMNS, MASK_ROWS_LIMIT)
    ((160, 226), (900, 1274))
    """
    return columns, max(1, min(rows_limit, round(columns * page_height / page_width)))


def _ink(grey: Image.Image) -> Image.Image:
    """Return 255 where a pixel differs from the paper (the median brightness), darker or lighter, else 0."""
    counts = grey.histogram()
    total, half, paper = 0, sum(counts) / 2, 0
    for paper, count in enumerate(counts):  # noqa: B007 - the brightness at which half of the pixels are reached
        total += count
        if total >= half:
            break
    return grey.point([255 if abs(value - paper) >= _INK_CONTRAST else 0 for value in range(256)])


def _ink_grid(grey: Image.Image, columns: int, rows: int) -> InkGrid:
    return InkGrid(columns, rows, _ink(grey).reduce(_PIXELS_PER_CELL).tobytes())


def _bits(grey: Image.Image) -> bytes:
    from PIL import Image

    return _ink(grey).convert("1", dither=Image.Dither.NONE).tobytes()


def _picture(pixmap: _Untyped, mode: Literal["RGB", "L"] = "RGB") -> Image.Image:
    """Return a copy of what was drawn: a picture that looks at the renderer's memory would outlive it."""
    from PIL import Image

    # Without a colour it is not filled first: every pixel is set here.
    picture = Image.new(mode, (int(pixmap.width), int(pixmap.height)), None)
    picture.frombytes(pixmap.samples_mv, "raw", mode, pixmap.stride, 1)
    return picture


def _in_bands(content: _Untyped, matrix: _Untyped, pixels: tuple[int, int]) -> Image.Image | None:
    """Return a page drawn in bands, which MuPDF draws faster; None when one is not on whole pixels."""
    from PIL import Image

    pymupdf = engine()
    width, height = pixels
    rows = max(_BAND_ROWS, _BAND_PIXELS // width)
    picture = Image.new("RGB", pixels)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        clip = pymupdf.Rect(0, top, width, bottom) * ~matrix
        band = content.get_pixmap(matrix=matrix, colorspace=pymupdf.csRGB, alpha=0, clip=clip)
        if tuple(band.irect) != (0, top, width, bottom):
            return None
        picture.paste(_picture(band), (0, top))
    return picture


def _encoded(picture: Image.Image, size: tuple[float, float], told: tuple[str, ...], encoding: Encoding) -> PageImage:
    webp = _webp(picture) if encoding in ("webp", "both") else b""
    quality = _SCREEN_QUALITY if encoding == "screen" else _JPEG_QUALITY
    jpeg = b"" if encoding == "webp" else _jpeg(picture, quality)
    return PageImage(webp, *picture.size, *size, told, jpeg)


def part_size(size: tuple[int, int], part: _Box, *, width: int) -> tuple[int, int]:
    """Return the pixels of a part (shares) of a picture: `width` across, or fewer when it has fewer."""
    across, down = part[2] * size[0] - part[0] * size[0], part[3] * size[1] - part[1] * size[1]
    new_width = min(width, max(1, round(across)))
    return new_width, max(1, round(new_width * down / across))


def part_of(picture: Image.Image, part: _Box, *, width: int) -> Image.Image:
    """Return a part of a page, as shares of its picture, in as many pixels as `part_size` says."""
    from PIL import Image

    across, down = picture.size
    edges = (part[0] * across, part[1] * down, part[2] * across, part[3] * down)
    # The box of `resize` keeps fractions of a pixel, so that overlays drawn by shares stay where they belong.
    return picture.resize(part_size(picture.size, part, width=width), Image.Resampling.LANCZOS, box=edges)


def _on_white(image: Image.Image) -> Image.Image:
    """Return an RGB copy: transparent parts on white, 16-bit grey scaled instead of cut."""
    from PIL import Image

    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 257)).convert("L").convert("RGB")
    if image.has_transparency_data:
        clear = image.convert("RGBA")
        sheet = Image.new("RGB", clear.size, "white")
        sheet.paste(clear, mask=clear.getchannel("A"))
        return sheet
    return image.convert("RGB")


def _webp(picture: Image.Image) -> bytes:
    sheet = io.BytesIO()
    # Method 0: 23 ms a page instead of 100, for a tenth more bytes (design: viewer).
    picture.save(sheet, "WEBP", quality=_WEBP_QUALITY, method=0)
    return sheet.getvalue()


def _jpeg(picture: Image.Image, quality: int) -> bytes:
    sheet = io.BytesIO()
    # 5 ms for 1,400 pixels across, and as long for a browser to show, where WebP takes 32 and 32; twice the bytes.
    picture.save(sheet, "JPEG", quality=quality)
    return sheet.getvalue()


class _RequestHandler:
    def __init__(self) -> None:
        self._document: _PdfDocument | _ImageDocument | None = None
        self._opened: tuple[str, str, str] | None = None

    def answer(self, request: Request, handed: int | None) -> Reply:
        try:
            document = self._open(request, handed)
            with _no_file_opens():
                if request.operation == "describe":
                    return document.describe()
                if request.operation == "words":
                    return document.words(request.page_index)
                if request.operation == "sizes":
                    return document.sizes(request.page_index)
                if request.operation == "ink":
                    return document.ink(request.page_index)
                if request.operation == "layout":
                    return document.layout(request.page_index)
                return document.page_image(
                    request.page_index,
                    dpi=request.dpi,
                    width=request.width,
                    part=request.part,
                    most=request.most_pixels,
                    encoding=request.encoding,
                )
        except _Refused as refused:
            return refused.failure
        except MemoryError:
            return Failure("out_of_memory")
        except Exception as problem:  # noqa: BLE001 - MuPDF's and Pillow's classes have no common root; every one is the document's fault
            detail = _sendable(str(problem))
            return Failure("out_of_memory" if _NO_MEMORY.search(detail) else "unreadable", detail)

    def _open(self, request: Request, handed: int | None) -> _PdfDocument | _ImageDocument:
        wanted = (request.media, request.digest, request.password)
        if self._document is None or self._opened != wanted:
            self._document = self._opened = None  # before the next one is read: two large documents do not fit
            content = _read_document(request, handed)
            with _no_file_opens():
                is_pdf = request.media == "pdf"
                self._document = _PdfDocument(content, request.password) if is_pdf else _ImageDocument(content)
            self._opened = wanted
        return self._document


def _start_engine() -> str:
    """Load every module of the renderer, as no file opens later, and return its name."""
    import PIL
    from PIL import (  # noqa: F401 - without these Pillow loads all of its forty formats when it writes the first picture
        BmpImagePlugin,
        Image,
        ImageColor,
        ImagePalette,
        JpegImagePlugin,
        MpoImagePlugin,
        PngImagePlugin,
        TiffImagePlugin,
        TiffTags,
        WebPImagePlugin,
    )

    pymupdf = engine()
    for encoding in ("raw_unicode_escape", "latin-1", "cp1252", "utf-16", "utf-16-be", "utf-16-le"):
        codecs.lookup(encoding)
    # Its complaints would go to stdout; they are collected instead and read after each page.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    with pymupdf.open() as sample:
        page = sample.new_page(width=72, height=72)
        page.insert_text((9, 36), "Ready")
        content = sample.tobytes()
    document = _PdfDocument(content)
    document.page_image(0, dpi=72.0, width=None)
    document.words(0)
    document.layout(0)
    turned = Image.Exif()
    turned[0x0112] = 6
    for format_name, mode, more in (
        ("PNG", "RGBA", {}), ("JPEG", "RGB", {"exif": turned}), ("JPEG", "CMYK", {}), ("BMP", "RGB", {}),
        ("PNG", "I;16", {}), ("TIFF", "RGB", {"exif": turned}), ("TIFF", "L", {"compression": "tiff_lzw"}),
        ("WEBP", "RGB", {}),
    ):  # fmt: skip
        sheet = io.BytesIO()
        Image.new(mode, (8, 8)).save(sheet, format_name, **more)
        _ImageDocument(sheet.getvalue()).page_image(0, dpi=36.0, width=None)
    return f"PyMuPDF {pymupdf.__version__}, Pillow {PIL.__version__}"


def confine_process() -> tuple[str, ...]:
    """Give up, for good, what reading a document never needs; return what is in force, in words."""
    # What is loaded by now stays: it is never looked through for garbage.
    gc.freeze()
    gc.enable()
    empty_folder()
    limit_process(memory=MEMORY_LIMIT, open_files=_OPEN_FILES)
    return enter()


def _limit_processor(seconds: float) -> None:
    """Let the system end this process after so many more seconds of the processor; not on Windows."""
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


def own_pipes() -> tuple[IO[bytes], IO[bytes], socket.socket | None]:
    """Return the streams of messages, for this process alone, and the socket of open files, if any.

    What a C library prints cannot fall between messages. The process ends with the one that started it. Until it is
    confined, nothing is looked through for garbage.
    """
    gc.disable()
    # Ctrl-C in the terminal is for the app, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(os.dup(2))
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
    return source, sink, socket.socket(fileno=int(sys.argv[1])) if len(sys.argv) > 1 else None


@contextlib.contextmanager
def handed_file(files: socket.socket | None) -> Iterator[int | None]:
    """Yield the number of the next open file, None where paths are sent; OSError when none comes."""
    if files is None:
        yield None
        return
    _, numbers, _, _ = socket.recv_fds(files, 1, 1)
    if not numbers:
        raise OSError("no file was handed over")
    try:
        yield numbers[0]
    finally:
        os.close(numbers[0])


def _end_with(pipe: int) -> None:
    """Let the system end this process when the other end of a silent pipe closes, also while drawing."""
    if sys.platform == "win32" or not stat.S_ISFIFO(os.fstat(pipe).st_mode):
        return
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def main() -> None:
    """Serve requests from stdin until it is closed."""
    source, sink, files = own_pipes()
    # The pictures of pages come and go.
    memory.keep_freed_memory()
    encode = msgspec.msgpack.Encoder().encode
    decode = msgpack_decoder(Request)
    try:
        name = _start_engine()
    except ImportError as problem:
        write_frame(sink, encode(Failure("no_renderer", str(problem)[:500])))
        return
    write_frame(sink, encode(Ready(name, confine_process())))
    desk = _RequestHandler()
    while (payload := read_frame(source, limit=REQUEST_BYTES_LIMIT)) is not None:
        request = decode(payload)
        _limit_processor(request.time_limit)
        with handed_file(files) as handed:
            answer = desk.answer(request, handed)
        write_frame(sink, encode(answer))


if __name__ == "__main__":
    main()
