"""The drawing surface of one page, and the record of the ink of every layout element.

Owns: fonts, drawing primitives, the measured ink of each element. Coordinates are points of the page as the reader
sees it, origin top left, y downwards; /Rotate and CropBox are added afterwards by `report.py`, so that they never
enter these numbers. Does not know paragraphs (`typeset.py`), pages (`layout.py`) or files (`pdf_file.py`).
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import pymupdf

Color = tuple[float, float, float]
Point = tuple[float, float]
Box = tuple[float, float, float, float]

INK: Color = (0.11, 0.12, 0.14)
GREY: Color = (0.42, 0.45, 0.50)
HAIR: Color = (0.74, 0.77, 0.81)
WHITE: Color = (1.0, 1.0, 1.0)

# The builtin (base-14 compatible) fonts of MuPDF; nothing is read from the machine.
FONT_CODES = {
    "serif": "tiro",
    "serif-bold": "tibo",
    "serif-italic": "tiit",
    "serif-bold-italic": "tibi",
    "sans": "helv",
    "sans-bold": "hebo",
    "sans-italic": "heit",
    "sans-bold-italic": "hebi",
    "mono": "cour",
    "mono-bold": "cobo",
    "mono-italic": "coit",
}


@dataclass(frozen=True)
class Style:
    """Size in points of a type, its font (key of `FONT_CODES`) and its colour."""

    size: float
    font: str = "sans"
    color: Color = INK


class Cell(NamedTuple):
    """A cell of a table: where it is in the grid and on the page, and what it says; it may take several columns."""

    row: int
    col: int
    box: Box
    text: str
    header: bool = False
    col_span: int = 1


@dataclass
class Element:
    """A layout element: its label, its ink, and what it says as text or as the cells of a table; None without."""

    label: str
    inks: list[Box] = field(default_factory=list)
    text: str | None = None
    cells: list[Cell] | None = None


def union(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all boxes.

    >>> union([(0, 0, 1, 1), (2, -1, 3, 0.5)])
    (0, -1, 3, 1)
    """
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


def padded(box: Box, x: float, y: float) -> Box:
    """Return the box with so much room on the left and right, and above and below.

    >>> padded((1, 1, 2, 3), 1, 0)
    (0, 1, 3, 3)
    """
    return box[0] - x, box[1] - y, box[2] + x, box[3] + y


def shares(box: Box, size: tuple[float, float], decimals: int) -> list[float]:
    """Return a box in points as shares of the page, rounded.

    >>> shares((0, 50, 100, 100), (200, 100), 6)
    [0.0, 0.5, 0.5, 1.0]
    """
    return [round(value / size[axis % 2], decimals) for axis, value in enumerate(box)]


@functools.cache
def font_of(name: str) -> pymupdf.Font:
    """Return the builtin font behind a key of `FONT_CODES`."""
    return pymupdf.Font(FONT_CODES[name])


def text_width(text: str, style: Style) -> float:
    """Advance width of a string in points."""
    return float(font_of(style.font).text_length(text, style.size))


def text_ink(x: float, baseline: float, text: str, style: Style) -> Box | None:
    """Box of the visible glyphs of a string set at (x, baseline), or None when it is only spaces."""
    font, size, boxes = font_of(style.font), style.size, []
    for char, advance in zip(text, font.char_lengths(text, size), strict=True):
        if not char.isspace():
            left, low, right, high = font.glyph_bbox(ord(char))
            boxes.append((x + left * size, baseline - high * size, x + right * size, baseline - low * size))
        x += advance
    return union(boxes) if boxes else None


def write_texts(page: pymupdf.Page, texts: Iterable[tuple[Point, str, Style]], **manner: object) -> None:
    """Write texts into a page, each at (x, baseline); the manner is that of `TextWriter.write_text`."""
    writer = pymupdf.TextWriter(page.rect)
    for place, text, style in texts:
        writer.append(place, text, font=font_of(style.font), fontsize=style.size)
    writer.write_text(page, **manner)


class Canvas:
    """One page under construction: shapes below, text above, images at the very bottom."""

    def __init__(self, document: pymupdf.Document, width: float, height: float) -> None:
        self.page = document.new_page(width=width, height=height)
        self.width = width
        self.height = height
        self.elements: list[Element] = []
        """Layout elements with ink, in the order of drawing."""
        self.texts: list[tuple[Point, str, Style]] = []
        self._upward: list[tuple[Point, str, Style]] = []
        self._shape = self.page.new_shape()
        self._inks: list[Box] | None = None

    @contextmanager
    def element(self, label: str, text: str | None = None) -> Iterator[Element]:
        """Everything drawn inside the block belongs to one element of this label, which says this text."""
        if self._inks is not None:
            raise ValueError(f"element {label} inside another element")
        element = Element(label, text=text)
        self._inks = element.inks
        yield element
        self._inks = None
        if element.inks:
            self.elements.append(element)

    def _record(self, box: Box | None) -> None:
        if self._inks is not None and box is not None:
            self._inks.append(box)

    def text(self, x: float, baseline: float, text: str, style: Style, align: str = "left") -> float:
        """Set one line of text; return its advance width. Align: left, right or center at x."""
        width = text_width(text, style)
        x -= {"left": 0.0, "center": width / 2, "right": width}[align]
        self.texts.append(((x, baseline), text, style))
        self._record(text_ink(x, baseline, text, style))
        return width

    def text_upward(self, x: float, middle: float, text: str, style: Style) -> None:
        """Set one line that reads upwards, centred on `middle`, baseline at x."""
        start = middle + text_width(text, style) / 2
        self._upward.append(((x, start), text, style))
        ink = text_ink(0.0, 0.0, text, style)
        if ink is not None:
            self._record((x + ink[1], start - ink[2], x + ink[3], start - ink[0]))

    def line(self, start: Point, end: Point, color: Color = INK, width: float = 0.5, dash: str = "") -> None:
        """Draw a straight line; `dash` in PDF notation, e.g. "[3 2]"."""
        self.polyline([start, end], color=color, width=width, dash=dash)

    def polyline(
        self,
        points: Sequence[Point],
        *,
        color: Color | None = INK,
        width: float = 0.5,
        fill: Color | None = None,
        dash: str = "",
        opacity: float = 1.0,
    ) -> None:
        """Draw an open line through the points, or with a fill the polygon."""
        self._shape.draw_polyline([pymupdf.Point(*point) for point in points])
        box = union((*point, *point) for point in points)
        self._finish_shape(
            box, color, width, fill, closePath=fill is not None, dashes=dash or None, fill_opacity=opacity
        )

    def rect(self, box: Box, *, color: Color | None = None, width: float = 0.5, fill: Color | None = None) -> None:
        """Draw a rectangle."""
        self._shape.draw_rect(pymupdf.Rect(*box))
        self._finish_shape(box, color, width, fill)

    def circle(
        self, center: Point, radius: float, *, color: Color | None = None, width: float = 0.5, fill: Color | None = None
    ) -> None:
        """Draw a circle."""
        self._shape.draw_circle(pymupdf.Point(*center), radius)
        self._finish_shape(padded((*center, *center), radius, radius), color, width, fill)

    def _finish_shape(self, box: Box, color: Color | None, width: float, fill: Color | None, **options: object) -> None:
        """Stroke and fill what was drawn last; its ink is the box with half the stroke around it."""
        self._shape.finish(color=color, width=width, fill=fill, lineCap=1, lineJoin=1, **options)
        half = width / 2 if color is not None else 0.0
        self._record(padded(box, half, half))

    def image(self, box: Box, stream: bytes) -> None:
        """Place a JPEG so that it fills the box."""
        self.page.insert_image(pymupdf.Rect(*box), stream=stream, keep_proportion=False)
        self._record(box)

    def finish(self) -> None:
        """Write shapes and text into the page; nothing can be drawn afterwards."""
        self._shape.commit()
        for color in dict.fromkeys(style.color for _, _, style in self.texts):
            write_texts(self.page, (each for each in self.texts if each[2].color == color), color=color)
        for start, text, style in self._upward:
            turn = (pymupdf.Point(*start), pymupdf.Matrix(90))
            write_texts(self.page, [(start, text, style)], color=style.color, morph=turn)
