"""The process that writes documents: the review pack as PDF, and copies of documents with marks in them.

Owns the form of both, and the messages spoken with it. Like ``pdf.worker`` it imports pymupdf only inside of its own
process, which is started with ``python -m evaluator.pdf.writer``, asked over stdin and answered over stdout, four bytes
of length and one msgpack message each time. It is confined like the worker and may open or write no file: a document to
be marked is handed over open, the finished one comes back in pieces.

Conventions: boxes are shares of the displayed page, origin top left. Lengths of the pack are points on A4. Text comes
as HTML that the asker has escaped; colours as "#RRGGBB".
"""

from __future__ import annotations

import hashlib
import io
import sys
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta

from evaluator.pdf.handing import Taking
from evaluator.pdf.worker import (
    DOCUMENT_BYTES_LIMIT,
    confine_process,
    engine,
    open_regular,
    own_pipes,
    read_frame,
    write_frame,
)

_Untyped: TypeAlias = Any

MESSAGE_BYTES_LIMIT: Final = 32 * 2**20
PIECE_BYTES: Final = 8 * 2**20
_PAPER: Final = (595.0, 842.0)
_EDGE: Final = 40.0
_GAP: Final = 14.0
_STYLES: Final = {
    "TP": ("#00796B", 1.0, None),
    "truth": ("#00796B", 0.6, None),
    "FP": ("#C75000", 1.8, None),
    "FN": ("#5E35B1", 1.4, "[5 3] 0"),
}
_LOST: Final = "#FFC400"
_BAR_COLOURS: Final = {"loss": "#C75000", "gain": "#1F5FA8"}
_MUTED: Final = "#566172"
_RIM: Final = "#D5D9E0"


class Box(msgspec.Struct, frozen=True):
    """A box on a tile: its status, and x, y, width and height as shares of the picture."""

    status: str
    x: float
    y: float
    width: float
    height: float


class Bar(msgspec.Struct, frozen=True):
    """One interval: the element whose place it takes, its ends and middle as shares of the width, and what it means."""

    element: str
    kind: str
    zero: float
    middle: float | None
    low: float | None
    high: float | None


class Curve(msgspec.Struct, frozen=True):
    """One curve of a drawing: its colour, its points and the marked one as shares of the drawing, origin top left."""

    colour: str
    points: tuple[tuple[float, float], ...]
    dot: tuple[float, float] | None = None


class Cell(msgspec.Struct, frozen=True):
    """A coloured cell with a text in its middle; its rectangle as shares of the drawing."""

    xyxy: tuple[float, float, float, float]
    fill: str
    ink: str
    text: str


class Drawing(msgspec.Struct, frozen=True):
    """Curves over two axes, or cells: the element whose place it takes, and texts with their places as shares of it."""

    element: str
    frame: tuple[float, float, float, float] | None = None
    curves: tuple[Curve, ...] = ()
    cells: tuple[Cell, ...] = ()
    texts: tuple[tuple[float, float, str], ...] = ()


class Section(msgspec.Struct, frozen=True, tag=True):
    """Flowing text on pages of its own, with bars and drawings where elements of their names are.

    Attributes
    ----------
    parts : tuple of str
        HTML; a part begins a new page where it does not fit on the rest of one and would fit on a whole one.
    """

    parts: tuple[str, ...]
    css: str
    bars: tuple[Bar, ...] = ()
    drawings: tuple[Drawing, ...] = ()


class Tile(msgspec.Struct, frozen=True, tag=True):
    """A picture with boxes and text below; tiles of a kind fill a grid of columns and rows.

    Attributes
    ----------
    picture : bytes or None
        JPEG; None for an empty sheet.
    shape : float
        Width over height of the picture.
    share : float
        Part of the tile's height that the picture may take.
    boxes : tuple of Box
    """

    columns: Annotated[int, Meta(ge=1, le=4)]
    rows: Annotated[int, Meta(ge=1, le=6)]
    picture: bytes | None
    shape: float
    share: float
    boxes: tuple[Box, ...]
    html: str
    css: str


class Note(msgspec.Struct, frozen=True):
    """A marked rectangle of a document.

    Attributes
    ----------
    page : int
        From 0.
    xyxy : tuple of float
    layer : str
        Name of the layer that shows and hides it.
    width : float
        Of the line, in points.
    title, text : str
        What its pop-up says.
    """

    page: Annotated[int, Meta(ge=0)]
    xyxy: tuple[float, float, float, float]
    layer: str
    colour: str
    width: float
    dashed: bool
    title: str
    text: str


class Mark(msgspec.Struct, frozen=True, tag=True):
    """A document to be marked: the file (empty when it is handed over open), the digest of its bytes, and the notes."""

    path: str
    digest: str
    notes: tuple[Note, ...]


class Finish(msgspec.Struct, frozen=True, tag=True):
    """Nothing more comes: send the document."""

    title: str = ""


class Taken(msgspec.Struct, frozen=True, tag=True):
    """A message was worked off; `left_out` notes had no page."""

    left_out: int = 0


class Piece(msgspec.Struct, frozen=True, tag=True):
    """A part of the finished document; the last one says so."""

    content: bytes
    last: bool


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why the document cannot be written."""

    detail: str


Message = Section | Tile | Mark | Finish
Answer = Taken | Piece | Refusal


class _Refused(Exception):
    """A document that cannot be marked."""


class _Desk:
    """The document that is being written."""

    def __init__(self) -> None:
        self._document: _Untyped = None
        self._grid: tuple[int, int] | None = None
        self._tiles = 0

    def take(self, message: Section | Tile) -> Taken:
        """Work one message off."""
        if self._document is None:
            self._document = engine().open()
        if isinstance(message, Section):
            self._section(message)
        else:
            self._tile(message)
        return Taken()

    def finish(self, message: Finish) -> bytes:
        """The document."""
        if self._document is None:
            raise _Refused("Nothing was to be written.")
        if message.title:
            self._document.set_metadata({"title": message.title, "producer": "LayoutScope"})
            # Fonts for other scripts are large; what is not used of them goes.
            self._document.subset_fonts()
            self._number_pages()
        content: bytes = self._document.tobytes(garbage=3, deflate=True, no_new_id=True)
        return content

    def _number_pages(self) -> None:
        """Page numbers at the foot."""
        for number, page in enumerate(self._document, start=1):
            page.insert_text((_PAPER[0] - _EDGE - 14, _PAPER[1] - 18), str(number), fontsize=8, color=_rgb(_MUTED))

    def _section(self, section: Section) -> None:
        """Text laid out on as many pages as it needs, with the bars."""
        pymupdf = engine()
        whole = pymupdf.Rect(_EDGE, _EDGE, _PAPER[0] - _EDGE, _PAPER[1] - _EDGE)
        places: dict[str, tuple[int, _Untyped]] = {}
        pages, top = 0, whole.y0

        def place(element: _Untyped) -> None:
            if element.open_close & 1 and element.id:
                places[element.id] = (pages, pymupdf.Rect(element.rect))

        first = len(self._document)
        stream = io.BytesIO()
        sheets = pymupdf.DocumentWriter(stream)
        device = sheets.begin_page(pymupdf.Rect(0, 0, *_PAPER))
        for part in section.parts:
            story = pymupdf.Story(part, user_css=section.css)
            more, filled = story.place(pymupdf.Rect(whole.x0, top, whole.x1, whole.y1))
            if more and top > whole.y0:
                # The rest of this page is too small for it; a whole page may do.
                story.reset()
                sheets.end_page()
                device, pages, top = sheets.begin_page(pymupdf.Rect(0, 0, *_PAPER)), pages + 1, whole.y0
                more, filled = story.place(whole)
            while True:
                story.element_positions(place)
                story.draw(device)
                if not more:
                    break
                sheets.end_page()
                device, pages = sheets.begin_page(pymupdf.Rect(0, 0, *_PAPER)), pages + 1
                more, filled = story.place(whole)
            top = pymupdf.Rect(filled).y1
        sheets.end_page()
        sheets.close()
        self._document.insert_pdf(pymupdf.open(stream=stream.getvalue(), filetype="pdf"))
        for bar in section.bars:
            if bar.element in places:
                page, rect = places[bar.element]
                _draw_bar(self._document[first + page], rect, bar)
        for drawing in section.drawings:
            if drawing.element in places:
                page, rect = places[drawing.element]
                _draw(pymupdf, self._document[first + page], rect, drawing)
        self._grid = None

    def _tile(self, tile: Tile) -> None:
        """The next place of the grid."""
        pymupdf = engine()
        grid = (tile.columns, tile.rows)
        if grid != self._grid:
            self._grid, self._tiles = grid, 0
        at = self._tiles % (tile.columns * tile.rows)
        if at == 0:
            self._document.new_page(width=_PAPER[0], height=_PAPER[1])
        self._tiles += 1
        page = self._document[-1]
        width = (_PAPER[0] - 2 * _EDGE - (tile.columns - 1) * _GAP) / tile.columns
        height = (_PAPER[1] - 2 * _EDGE - (tile.rows - 1) * _GAP) / tile.rows
        left = _EDGE + (at % tile.columns) * (width + _GAP)
        top = _EDGE + (at // tile.columns) * (height + _GAP)
        room = pymupdf.Rect(left, top, left + width, top + height * tile.share)
        sheet = _fitted(pymupdf, room, tile.shape)
        if tile.picture is not None:
            page.insert_image(sheet, stream=tile.picture, keep_proportion=False)
        page.draw_rect(sheet, color=_rgb(_RIM), width=0.6)
        for box in tile.boxes:
            _draw_box(pymupdf, page, sheet, box)
        text = pymupdf.Rect(left, room.y1 + 3, left + width, top + height)
        page.insert_htmlbox(text, tile.html, css=tile.css, scale_low=0)

    def mark(self, message: Mark, handed: int | None) -> Taken:
        """A document with its notes, one layer for each of their names."""
        pymupdf = engine()
        self._document = _opened(pymupdf, message, handed)
        layers: dict[str, int] = {}
        left_out = 0
        for note in message.notes:
            if note.page >= len(self._document):
                left_out += 1
                continue
            if note.layer not in layers:
                layers[note.layer] = self._document.add_ocg(note.layer, on=True)
            _annotate(pymupdf, self._document[note.page], note, layers[note.layer])
        return Taken(left_out)


def _opened(pymupdf: _Untyped, message: Mark, handed: int | None) -> _Untyped:
    """The document to be marked, if it is still the one that was meant."""
    try:
        with open_regular(message.path) if handed is None else open(handed, "rb", closefd=False) as file:
            content = file.read(DOCUMENT_BYTES_LIMIT + 1)
    except OSError as problem:
        raise _Refused(problem.strerror or "The file cannot be read.") from problem
    if len(content) > DOCUMENT_BYTES_LIMIT:
        raise _Refused("The file is too large.")
    if hashlib.sha256(content).hexdigest() != message.digest:
        raise _Refused("The file has changed meanwhile.")
    if b"%PDF-" not in content[:1024]:
        raise _Refused("The file is no PDF, so it cannot hold marks.")
    document = pymupdf.open(stream=content, filetype="pdf")
    if not document.is_pdf:
        raise _Refused("The file is no PDF, so it cannot hold marks.")
    if document.needs_pass:
        raise _Refused("The file is encrypted.")
    return document


def _annotate(pymupdf: _Untyped, page: _Untyped, note: Note, layer: int) -> None:
    """One rectangle with its pop-up."""
    shown = page.rect
    x1, y1, x2, y2 = note.xyxy
    rect = pymupdf.Rect(
        shown.x0 + x1 * shown.width,
        shown.y0 + y1 * shown.height,
        shown.x0 + x2 * shown.width,
        shown.y0 + y2 * shown.height,
    )
    # Annotations are placed on the page before it is turned.
    mark = page.add_rect_annot(rect * page.derotation_matrix)
    mark.set_info(title=note.title, content=note.text)
    mark.set_colors(stroke=_rgb(note.colour))
    mark.set_border(width=note.width, dashes=[5, 3] if note.dashed else None)
    mark.set_oc(layer)
    mark.update()


def _draw_bar(page: _Untyped, rect: _Untyped, bar: Bar) -> None:
    """An interval where its element is."""
    colour = _rgb(_BAR_COLOURS.get(bar.kind, _MUTED))
    middle = (rect.y0 + rect.y1) / 2

    def at(share: float) -> float:
        return float(rect.x0 + share * rect.width)

    page.draw_line((at(bar.zero), rect.y0), (at(bar.zero), rect.y1), color=_rgb(_MUTED), width=0.7)
    if bar.low is not None and bar.high is not None:
        page.draw_line((at(bar.low), middle), (at(bar.high), middle), color=colour, width=1.4)
        for end in (bar.low, bar.high):
            page.draw_line((at(end), middle - 3), (at(end), middle + 3), color=colour, width=1.4)
    if bar.middle is not None:
        fill = colour if bar.kind in _BAR_COLOURS else (1.0, 1.0, 1.0)
        page.draw_circle((at(bar.middle), middle), 3.2, color=colour, fill=fill, width=1.2)


def _draw(pymupdf: _Untyped, page: _Untyped, rect: _Untyped, drawing: Drawing) -> None:
    """Curves or cells where their element is."""

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return float(rect.x0 + point[0] * rect.width), float(rect.y0 + point[1] * rect.height)

    if drawing.frame is not None:
        x0, y0, x1, y1 = drawing.frame
        page.draw_rect(pymupdf.Rect(*at((x0, y0)), *at((x1, y1))), color=_rgb(_RIM), width=0.6)
    for cell in drawing.cells:
        where = pymupdf.Rect(*at(cell.xyxy[:2]), *at(cell.xyxy[2:]))
        page.draw_rect(where, color=None, fill=_rgb(cell.fill))
        left = (where.x0 + where.x1 - pymupdf.get_text_length(cell.text, fontsize=6.5)) / 2
        page.insert_text((left, (where.y0 + where.y1) / 2 + 2.3), cell.text, fontsize=6.5, color=_rgb(cell.ink))
    for curve in drawing.curves:
        points = [at(point) for point in curve.points]
        if len(points) > 1:
            page.draw_polyline(points, color=_rgb(curve.colour), width=1.1)
        for point in points if len(points) == 1 else ():
            page.draw_circle(point, 1.6, color=_rgb(curve.colour), fill=_rgb(curve.colour), width=0.6)
        if curve.dot is not None:
            page.draw_circle(at(curve.dot), 2.6, color=_rgb(curve.colour), fill=_rgb(curve.colour), width=0.6)
    for x, y, text in drawing.texts:
        page.insert_text(at((x, y)), text, fontsize=7, color=_rgb(_MUTED))


def _draw_box(pymupdf: _Untyped, page: _Untyped, sheet: _Untyped, box: Box) -> None:
    """A box on a picture, cut at its edges."""
    colour, width, dashes = _STYLES.get(box.status, _STYLES["FP"])
    rect = pymupdf.Rect(
        sheet.x0 + box.x * sheet.width,
        sheet.y0 + box.y * sheet.height,
        sheet.x0 + (box.x + box.width) * sheet.width,
        sheet.y0 + (box.y + box.height) * sheet.height,
    )
    rect &= sheet
    if rect.is_empty:
        return
    if box.status == "lost":
        page.draw_rect(rect, color=None, fill=_rgb(_LOST), fill_opacity=0.45)
        return
    opacity = 0.0 if box.status == "truth" else 0.07
    page.draw_rect(rect, color=_rgb(colour), fill=_rgb(colour), fill_opacity=opacity, width=width, dashes=dashes)


def _fitted(pymupdf: _Untyped, room: _Untyped, shape: float) -> _Untyped:
    """The largest rectangle of a shape in a room, at its top."""
    width = min(room.width, room.height * shape)
    height = width / shape
    left = room.x0 + (room.width - width) / 2
    return pymupdf.Rect(left, room.y0, left + width, room.y0 + height)


def _rgb(colour: str) -> tuple[float, float, float]:
    """A colour such as "#1F5FA8" as PyMuPDF wants it."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def main() -> None:
    """Work off messages from stdin until the document is sent."""
    source, sink = own_pipes()
    encode = msgspec.msgpack.Encoder().encode
    decode = msgspec.msgpack.Decoder(Message).decode
    pymupdf = engine()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    taking = Taking(sys.argv[1:])
    _load_everything()
    confine_process()
    desk = _Desk()
    while (payload := read_frame(source, limit=MESSAGE_BYTES_LIMIT)) is not None:
        message = decode(payload)
        try:
            if isinstance(message, Finish):
                _send(sink, desk.finish(message))
                return
            if isinstance(message, Mark):
                with taking.file() as handed:
                    answer = desk.mark(message, handed)
            else:
                answer = desk.take(message)
            write_frame(sink, encode(answer))
        except Exception as problem:  # noqa: BLE001 - whatever a document makes the engine raise becomes an answer
            write_frame(sink, encode(Refusal(_words(problem))))
            return


def _load_everything() -> None:
    """Load what will be needed, because no file can be opened later: a small document goes through everything once."""
    desk = _Desk()
    bar = Bar("a", "loss", 0.5, 0.5, 0.4, 0.6)
    curve = Curve("#1F5FA8", ((0.0, 0.0), (1.0, 1.0)), (0.5, 0.5))
    cell = Cell((0.0, 0.0, 0.5, 0.5), "#1F5FA8", "#FFFFFF", "1")
    drawing = Drawing("b", (0.0, 0.0, 1.0, 1.0), (curve,), (cell,), ((0.5, 0.5, "1"),))
    desk.take(Section(("<p id='a'>Ready</p><p id='b'>Ready</p>",), "", (bar,), (drawing,)))
    desk.take(Tile(1, 1, None, 1.0, 0.5, (Box("FP", 0.1, 0.1, 0.2, 0.2),), "<p>Ready</p>", ""))
    desk.finish(Finish("Ready"))


def _words(problem: Exception) -> str:
    """What went wrong, in a form that can be sent."""
    text = str(problem) if isinstance(problem, _Refused) else f"{type(problem).__name__}: {problem}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")[:500]


def _send(sink: Any, content: bytes) -> None:  # noqa: ANN401 - a binary stream
    """The document in pieces."""
    for start in range(0, max(len(content), 1), PIECE_BYTES):
        piece = content[start : start + PIECE_BYTES]
        write_frame(sink, msgspec.msgpack.encode(Piece(piece, start + PIECE_BYTES >= len(content))))


if __name__ == "__main__":
    main()
