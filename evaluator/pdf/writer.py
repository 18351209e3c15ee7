"""The process that writes documents: the review pack as PDF, and marked copies of documents.

Like ``pdf.worker`` it imports pymupdf only in its own process and speaks the same frames. It is confined and opens no
file: documents come open, fonts as bytes, the result goes back in pieces. Boxes are shares of the displayed page,
lengths of the pack points on A4; text is escaped HTML, colours are "#RRGGBB".
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta

from evaluator.pdf.active_content import ActiveContent, take_out
from evaluator.pdf.worker import (
    DOCUMENT_BYTES_LIMIT,
    confine_process,
    engine,
    handed_file,
    open_regular,
    own_pipes,
    read_frame,
    write_frame,
)
from evaluator.system.decoding import msgpack_decoder

_Untyped: TypeAlias = Any

MESSAGE_BYTES_LIMIT: Final = 32 * 2**20
PIECE_BYTES: Final = 8 * 2**20
_PAPER: Final = (595.0, 842.0)
_EDGE: Final = 40.0
_GAP: Final = 14.0
_STYLES: Final = {
    "TP": ("#00796B", 1.0, None), "truth": ("#00796B", 0.6, None), "FP": ("#C75000", 1.8, None),
    "FN": ("#5E35B1", 1.4, "[5 3] 0"),
}  # fmt: skip
_LOST: Final = "#FFC400"
_FAINT: Final = 0.42
_BAR_COLOURS: Final = {"loss": "#C75000", "gain": "#1F5FA8"}
_MUTED: Final = "#566172"
_RIM: Final = "#D5D9E0"
_LEGEND_HEIGHT: Final = 18.0
# Taller than any text of a row.
_TALL: Final = 20_000.0
# Pictures that wait for their pages before these are completed.
_WAITING_BYTES: Final = 8 * 2**20
_FACES: Final = (
    '@font-face { font-family: "own"; src: url("regular.ttf"); } '
    '@font-face { font-family: "own"; font-weight: bold; src: url("bold.ttf"); } '
)


Ring: TypeAlias = tuple[tuple[float, float], ...]
"""A closed line: its points."""


class Box(msgspec.Struct, frozen=True):
    """Box on a picture: status, x, y, width and height as shares of the picture.

    `rings` is what it encloses where that is not the box, as shares, filled by the even-odd rule.
    """

    status: str
    x: float
    y: float
    width: float
    height: float
    faint: bool = False
    rings: tuple[Ring, ...] = ()


class Bar(msgspec.Struct, frozen=True):
    """One interval: the element it replaces, its ends and middle as shares of the width, and its meaning."""

    element: str
    kind: str
    zero: float
    middle: float | None
    low: float | None
    high: float | None


class Curve(msgspec.Struct, frozen=True):
    """One curve of a drawing: colour, points and the marked one as shares of the drawing, origin top left."""

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
    """Curves over two axes, or cells: the element it replaces, and texts with places as shares of it."""

    element: str
    frame: tuple[float, float, float, float] | None = None
    curves: tuple[Curve, ...] = ()
    cells: tuple[Cell, ...] = ()
    texts: tuple[tuple[float, float, str], ...] = ()


class Fonts(msgspec.Struct, frozen=True, tag=True):
    """The font of the text, two TrueType files; characters that it lacks come from those of the engine."""

    regular: bytes
    bold: bytes


class Section(msgspec.Struct, frozen=True, tag=True):
    """Flowing text, with bars and drawings where elements of their names are.

    `parts` are HTML; each stays whole where that leaves less than half of a page empty.
    """

    parts: tuple[str, ...]
    css: str
    bars: tuple[Bar, ...] = ()
    drawings: tuple[Drawing, ...] = ()


class Pane(msgspec.Struct, frozen=True):
    """JPEG picture with boxes and words, an empty sheet for None; `shape` is its width over height, 0 for words."""

    picture: bytes | None
    shape: float
    boxes: tuple[Box, ...] = ()
    html: str = ""


class Row(msgspec.Struct, frozen=True):
    """Text over the whole width with pictures below it, which stay together on a page.

    Only `html` longer than a page goes on on the next. `height`: the most of a picture, in points; `legend`: statuses
    and what they mean. `widths`: shares of the columns, equal ones for none.
    """

    html: str = ""
    panes: tuple[Pane, ...] = ()
    columns: Annotated[int, Meta(ge=1, le=6)] = 2
    height: Annotated[float, Meta(gt=0.0, le=460.0)] = 240.0
    legend: tuple[tuple[str, str], ...] = ()
    widths: tuple[float, ...] = ()


class Rows(msgspec.Struct, frozen=True, tag=True):
    """Rows one below the other."""

    rows: tuple[Row, ...]
    css: str


class Note(msgspec.Struct, frozen=True):
    """Marked rectangle of a document on a page (from 0), with a pop-up; `width` of its line in points.

    `rings` is what it encloses where that is not the rectangle: polygons with the same pop-up.
    """

    page: Annotated[int, Meta(ge=0)]
    xyxy: tuple[float, float, float, float]
    layer: str
    colour: str
    width: float
    dashed: bool
    title: str
    text: str
    rings: tuple[Ring, ...] = ()


class Mark(msgspec.Struct, frozen=True, tag=True):
    """Document to be marked, digest of its bytes and notes; `path` is empty when it is handed over open.

    Its active content is taken out unless `keep_active`.
    """

    path: str
    digest: str
    notes: tuple[Note, ...]
    password: str = ""
    keep_active: bool = False

    def __repr__(self) -> str:
        return f"Mark(digest={self.digest!r}, {len(self.notes)} notes)"


class Finish(msgspec.Struct, frozen=True, tag=True):
    """Nothing more comes: send the document."""

    title: str = ""


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """A message was worked off; `left_out` notes had no page, and `active` was taken out of a document."""

    left_out: int = 0
    active: ActiveContent = ActiveContent()


class Piece(msgspec.Struct, frozen=True, tag=True):
    """A part of the finished document; the last one is marked."""

    content: bytes
    last: bool


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why the document cannot be written."""

    detail: str


Message = Fonts | Section | Rows | Mark | Finish
Answer = Accepted | Piece | Refusal


class _Refused(Exception):
    """A document that cannot be marked."""


class _Flow:
    """Pages being filled: text at once, pictures when a page is complete, or when many bytes wait."""

    def __init__(self, fonts: Fonts | None) -> None:
        pymupdf = engine()
        self._pymupdf = pymupdf
        self._style, self._archive, self._font = "", None, pymupdf.Font("helv")
        if fonts is not None:
            self._archive = pymupdf.Archive()
            self._archive.add((fonts.regular, "regular.ttf"))
            self._archive.add((fonts.bold, "bold.ttf"))
            self._style, self._font = _FACES, pymupdf.Font(fontbuffer=fonts.regular)
        self._document = pymupdf.open()
        self._open()

    def _open(self) -> None:
        self._stream = io.BytesIO()
        self._sheets = self._pymupdf.DocumentWriter(self._stream)
        self._device: _Untyped = None
        self._page, self._top, self._waiting = -1, _EDGE, 0
        self._paint: list[list[Callable[[_Untyped], None]]] = []

    def _begin_page(self) -> None:
        if self._device is not None:
            self._sheets.end_page()
        if self._waiting > _WAITING_BYTES:
            self._complete()
            self._open()
        self._device = self._sheets.begin_page(self._pymupdf.Rect(0, 0, *_PAPER))
        self._page, self._top = self._page + 1, _EDGE
        self._paint.append([])

    def _complete(self) -> None:
        self._sheets.close()
        first = len(self._document)
        with self._pymupdf.open(stream=self._stream.getvalue(), filetype="pdf") as made:
            self._document.insert_pdf(made)
        for at, paints in enumerate(self._paint):
            page = self._document[first + at]
            for paint in paints:
                paint(page)

    def done(self) -> _Untyped:
        if self._device is not None:
            self._sheets.end_page()
            self._complete()
        for number, page in enumerate(self._document, start=1):
            self._write(page, [((_PAPER[0] - _EDGE - 14, _PAPER[1] - 18), str(number), 8.0, _MUTED)])
        return self._document

    def _story(self, html: str, css: str) -> _Untyped:
        return self._pymupdf.Story(html, user_css=self._style + css, archive=self._archive)

    def section(self, section: Section) -> None:
        bars = {bar.element: bar for bar in section.bars}
        drawings = {drawing.element: drawing for drawing in section.drawings}

        def place(element: _Untyped) -> None:
            if not element.open_close & 1 or not element.id:
                return
            rect = self._pymupdf.Rect(element.rect)
            if element.id in bars:
                self._paint[self._page].append(partial(_draw_bar, rect=rect, bar=bars[element.id]))
            if element.id in drawings:
                self._paint[self._page].append(partial(self._draw, rect=rect, drawing=drawings[element.id]))

        if self._device is None:
            self._begin_page()
        for part in section.parts:
            self._text(part, section.css, place)

    def _text(self, html: str, css: str, place: Callable[[_Untyped], None] | None = None) -> None:
        """Write text over the whole width, on a new page where the rest of this one is too small for it."""
        rect, story = self._pymupdf.Rect, self._story(html, css)
        left, right, bottom = _EDGE, _PAPER[0] - _EDGE, _PAPER[1] - _EDGE
        more, filled = story.place(rect(left, self._top, right, bottom))
        if more and self._top > _PAPER[1] / 2:
            story.reset()
            self._begin_page()
            more, filled = story.place(rect(left, self._top, right, bottom))
        while True:
            if place is not None:
                story.element_positions(place)
            story.draw(self._device)
            if not more:
                break
            self._begin_page()
            more, filled = story.place(rect(left, self._top, right, bottom))
        self._top = rect(filled).y1

    def rows(self, message: Rows) -> None:
        if self._device is None:
            self._begin_page()
        for row in message.rows:
            self._row(row, message.css)

    def _row(self, row: Row, css: str) -> None:
        columns = len(row.widths) or row.columns
        room = _PAPER[0] - 2 * _EDGE - (columns - 1) * _GAP
        widths = [room * share / sum(row.widths) for share in row.widths] or [room / columns] * columns
        lefts = [_EDGE + sum(widths[:place]) + place * _GAP for place in range(columns)]
        lines = [row.panes[at : at + columns] for at in range(0, len(row.panes), columns)]
        captions = [[self._story(pane.html, css) if pane.html else None for pane in line] for line in lines]
        sizes = [
            [_sheet_size(pane, width, row.height) for pane, width in zip(line, widths, strict=False)] for line in lines
        ]
        heights = [
            max(
                down + 3 + self._height(story, width)
                for (_, down), story, width in zip(size, words, widths, strict=False)
            )
            + _GAP
            for size, words in zip(sizes, captions, strict=True)
        ]
        legend = _LEGEND_HEIGHT if row.legend else 0.0
        head = self._height(self._story(row.html, css), _PAPER[0] - 2 * _EDGE) if row.html else 0.0
        # The text stays with the first pictures, and these with each other.
        if self._top > _EDGE and self._top + head + legend + sum(heights[:1]) > _PAPER[1] - _EDGE:
            self._begin_page()
        if row.html:
            self._text(row.html, css)
        if row.legend:
            self._paint[self._page].append(partial(self._legend, top=self._top, legend=row.legend))
            self._top += legend
        for line, words, size, height in zip(lines, captions, sizes, heights, strict=True):
            if self._top > _EDGE and self._top + height > _PAPER[1] - _EDGE:
                self._begin_page()
            for pane, story, sheet, left, width in zip(line, words, size, lefts, widths, strict=False):
                self._pane(pane, story, sheet, left, width)
            self._top += height

    def _pane(self, pane: Pane, story: _Untyped, size: tuple[float, float], left: float, width: float) -> None:
        rect = self._pymupdf.Rect
        inset = (width - size[0]) / 2
        sheet = rect(left + inset, self._top, left + inset + size[0], self._top + size[1])
        if pane.shape:
            self._paint[self._page].append(partial(_draw_pane, self._pymupdf, sheet=sheet, pane=pane))
        self._waiting += len(pane.picture or b"")
        if story is not None:
            story.place(rect(left, sheet.y1 + 3, left + width, _PAPER[1] - _EDGE / 2))
            story.draw(self._device)

    def _height(self, story: _Untyped, width: float) -> float:
        if story is None:
            return 0.0
        _, filled = story.place(self._pymupdf.Rect(0, 0, width, _TALL))
        story.reset()
        return float(self._pymupdf.Rect(filled).y1)

    def _legend(self, page: _Untyped, *, top: float, legend: tuple[tuple[str, str], ...]) -> None:
        x, texts = _EDGE, []
        shape = page.new_shape()
        for status, words in legend:
            _draw_box(self._pymupdf, shape, self._pymupdf.Rect(x, top + 1, x + 15, top + 10), Box(status, 0, 0, 1, 1))
            texts.append(((x + 19, top + 8.6), words, 8.5, _MUTED))
            x += 19 + self._font.text_length(words, fontsize=8.5) + 14
        shape.commit()
        self._write(page, texts)

    def _write(self, page: _Untyped, texts: Sequence[tuple[tuple[float, float], str, float, str]]) -> None:
        """Write short texts: place of the first letter on its line, text, size and colour."""
        colours = dict.fromkeys(colour for *_, colour in texts)
        for colour in colours:
            writer = self._pymupdf.TextWriter(page.rect)
            for place, text, size, own in texts:
                if own == colour and text:
                    writer.append(place, text, font=self._font, fontsize=size)
            writer.write_text(page, color=_rgb(colour))

    def _draw(self, page: _Untyped, rect: _Untyped, drawing: Drawing) -> None:
        pymupdf, shape = self._pymupdf, page.new_shape()

        def at(point: tuple[float, float]) -> tuple[float, float]:
            return float(rect.x0 + point[0] * rect.width), float(rect.y0 + point[1] * rect.height)

        if drawing.frame is not None:
            x0, y0, x1, y1 = drawing.frame
            shape.draw_rect(pymupdf.Rect(*at((x0, y0)), *at((x1, y1))))
            shape.finish(color=_rgb(_RIM), width=0.6)
        texts = []
        for cell in drawing.cells:
            where = pymupdf.Rect(*at(cell.xyxy[:2]), *at(cell.xyxy[2:]))
            shape.draw_rect(where)
            shape.finish(color=None, fill=_rgb(cell.fill))
            left = (where.x0 + where.x1 - self._font.text_length(cell.text, fontsize=6.5)) / 2
            texts.append(((left, (where.y0 + where.y1) / 2 + 2.3), cell.text, 6.5, cell.ink))
        for curve in drawing.curves:
            points = [at(point) for point in curve.points]
            colour = _rgb(curve.colour)
            if len(points) > 1:
                shape.draw_polyline(points)
                shape.finish(color=colour, width=1.1, closePath=False)
            dots = [(point, 1.6) for point in points] if len(points) == 1 else []
            dots += [(at(curve.dot), 2.6)] if curve.dot is not None else []
            for point, radius in dots:
                shape.draw_circle(point, radius)
                shape.finish(color=colour, fill=colour, width=0.6)
        shape.commit()
        self._write(page, [*texts, *((at((x, y)), text, 7.0, _MUTED) for x, y, text in drawing.texts)])


def _sheet_size(pane: Pane, width: float, height: float) -> tuple[float, float]:
    across = min(width, height * pane.shape)
    return across, across / pane.shape if pane.shape else 0.0


def _draw_pane(pymupdf: _Untyped, page: _Untyped, *, sheet: _Untyped, pane: Pane) -> None:
    if pane.picture is not None:
        page.insert_image(sheet, stream=pane.picture, keep_proportion=False)
    shape = page.new_shape()
    for box in pane.boxes:
        _draw_box(pymupdf, shape, sheet, box)
    # Outlines may reach beyond the picture: what is drawn is cut at its edges.
    if shape.totalcont:
        low = page.rect.height - sheet.y1
        shape.totalcont = f"q\n{sheet.x0:g} {low:g} {sheet.width:g} {sheet.height:g} re W n\n{shape.totalcont}Q\n"
    shape.draw_rect(sheet)
    shape.finish(color=_rgb(_RIM), width=0.6)
    shape.commit()


class _RequestHandler:
    def __init__(self) -> None:
        self._document: _Untyped = None
        self._locked = False
        self._flow: _Flow | None = None

    def take(self, message: Fonts | Section | Rows) -> Accepted:
        """Work one message off; the font comes first."""
        if self._flow is None:
            self._flow = _Flow(message if isinstance(message, Fonts) else None)
        if isinstance(message, Section):
            self._flow.section(message)
        elif isinstance(message, Rows):
            self._flow.rows(message)
        return Accepted()

    def finish(self, message: Finish) -> bytes:
        if self._flow is not None:
            self._document = self._flow.done()
            self._document.set_metadata({"title": message.title, "producer": "LayoutScope"})
            # Fonts are large; what is not used of them goes.
            self._document.subset_fonts()
        if self._document is None or not len(self._document):
            raise _Refused("Nothing was to be written.")
        pymupdf = engine()
        # What needs a password is not made readable for everybody.
        kept = pymupdf.PDF_ENCRYPT_KEEP if self._locked else pymupdf.PDF_ENCRYPT_NONE
        content: bytes = self._document.tobytes(garbage=3, deflate=True, no_new_id=True, encryption=kept)
        return content

    def mark(self, message: Mark, handed: int | None) -> Accepted:
        pymupdf = engine()
        self._document, self._locked = _opened(pymupdf, message, handed)
        active = ActiveContent() if message.keep_active else take_out(pymupdf, self._document)
        layers: dict[str, int] = {}
        left_out, pages = 0, len(self._document)
        sheet: _Sheet | None = None
        for note in message.notes:
            if note.page >= pages:
                left_out += 1
                continue
            if note.layer not in layers:
                layers[note.layer] = self._document.add_ocg(note.layer, on=True)
            if sheet is None or sheet.number != note.page:
                sheet = _Sheet(pymupdf, self._document[note.page])
            sheet.annotate(note, layers[note.layer])
        return Accepted(left_out, active)


def _opened(pymupdf: _Untyped, message: Mark, handed: int | None) -> tuple[_Untyped, bool]:
    """Open the document to be marked if it is the one that was meant; say whether it needs a password."""
    # That must not be asked once the password is given: MuPDF would try the empty one, and lose the key.
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
    locked = bool(document.needs_pass)
    if locked and not document.authenticate(message.password):
        given = " The given one does not open it." if message.password else ""
        raise _Refused(
            f"It needs a password.{given} Give it with --password-file, or save a copy of the PDF without one."
        )
    return document, locked


class _Sheet:
    def __init__(self, pymupdf: _Untyped, page: _Untyped) -> None:
        self._pymupdf, self._page = pymupdf, page
        self._shown, self._unturned = page.rect, page.derotation_matrix
        self.number = int(page.number)

    def _at(self, x: float, y: float) -> _Untyped:
        """Return a place of the displayed page; annotations are placed on the page before it is turned."""
        shown = self._shown
        return self._pymupdf.Point(shown.x0 + x * shown.width, shown.y0 + y * shown.height) * self._unturned

    def annotate(self, note: Note, layer: int) -> None:
        x1, y1, x2, y2 = note.xyxy
        marks = [self._page.add_rect_annot(self._pymupdf.Rect(self._at(x1, y1), self._at(x2, y2)).normalize())]
        marks += [self._page.add_polygon_annot([self._at(*point) for point in ring]) for ring in note.rings]
        for place, mark in enumerate(marks):
            mark.set_info(title=note.title, content=note.text)
            mark.set_colors(stroke=_rgb(note.colour))
            mark.set_border(width=0.7 * note.width if place else note.width, dashes=[5, 3] if note.dashed else None)
            mark.set_oc(layer)
            mark.update()


def _draw_bar(page: _Untyped, rect: _Untyped, bar: Bar) -> None:
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


def _draw_box(pymupdf: _Untyped, shape: _Untyped, sheet: _Untyped, box: Box) -> None:
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
    line = _FAINT if box.faint else 1.0
    shape.draw_rect(rect)
    if box.status == "lost":
        shape.finish(color=None, fill=_rgb(_LOST), fill_opacity=0.45)
        return
    fill = 0.0 if box.status == "truth" or box.rings else 0.07 * line
    shape.finish(
        color=_rgb(colour), fill=_rgb(colour), fill_opacity=fill, stroke_opacity=line, width=width, dashes=dashes
    )
    for ring in box.rings:
        points = [(sheet.x0 + x * sheet.width, sheet.y0 + y * sheet.height) for x, y in ring]
        shape.draw_polyline([*points, points[0]])
    if box.rings:
        shape.finish(
            color=_rgb(colour), fill=_rgb(colour), fill_opacity=0.12 * line, stroke_opacity=line, width=0.7,
            even_odd=True,
        )  # fmt: skip


def _rgb(colour: str) -> tuple[float, float, float]:
    """Return a colour such as "#1F5FA8" as PyMuPDF wants it."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def main() -> None:
    """Work off messages from stdin until it is closed or a document is refused."""
    source, sink, files = own_pipes()
    encode = msgspec.msgpack.Encoder().encode
    decode = msgpack_decoder(Message)
    pymupdf = engine()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    _load_everything()
    confine_process()
    desk = _RequestHandler()
    while (payload := read_frame(source, limit=MESSAGE_BYTES_LIMIT)) is not None:
        message = decode(payload)
        try:
            if isinstance(message, Finish):
                _send(sink, desk.finish(message))
                # The next document gets nothing of this one.
                desk = _RequestHandler()
                pymupdf.TOOLS.store_shrink(100)
                continue
            if isinstance(message, Mark):
                with handed_file(files) as handed:
                    answer = desk.mark(message, handed)
            else:
                answer = desk.take(message)
            write_frame(sink, encode(answer))
        except Exception as problem:  # noqa: BLE001 - whatever a document makes the engine raise becomes an answer
            write_frame(sink, encode(Refusal(_words(problem))))
            return


def _load_everything() -> None:
    """Load what will be needed by sending a small document through everything: no file opens later."""
    desk = _RequestHandler()
    bar = Bar("a", "loss", 0.5, 0.5, 0.4, 0.6)
    curve = Curve("#1F5FA8", ((0.0, 0.0), (1.0, 1.0)), (0.5, 0.5))
    cell = Cell((0.0, 0.0, 0.5, 0.5), "#1F5FA8", "#FFFFFF", "1")
    drawing = Drawing("b", (0.0, 0.0, 1.0, 1.0), (curve,), (cell,), ((0.5, 0.5, "1"),))
    desk.take(Section(("<p id='a'>Ready</p><p id='b'>Ready</p>",), "", (bar,), (drawing,)))
    pane = Pane(None, 1.0, (Box("FP", 0.1, 0.1, 0.2, 0.2),), "<p>Ready</p>")
    desk.take(Rows((Row("<p>Ready</p>", (pane,), legend=(("FP", "Ready"),)),), ""))
    desk.finish(Finish("Ready"))


def _words(problem: Exception) -> str:
    text = str(problem) if isinstance(problem, _Refused) else f"{type(problem).__name__}: {problem}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")[:500]


def _send(sink: Any, content: bytes) -> None:  # noqa: ANN401 - a binary stream
    for start in range(0, max(len(content), 1), PIECE_BYTES):
        piece = content[start : start + PIECE_BYTES]
        write_frame(sink, msgspec.msgpack.encode(Piece(piece, start + PIECE_BYTES >= len(content))))


if __name__ == "__main__":
    main()
