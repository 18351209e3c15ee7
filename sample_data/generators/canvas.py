"""The drawing surface of one report page, and the record of the ink of every layout element.

Owns: fonts, drawing primitives, the measured ink of each element. Coordinates are points of the page as the reader
sees it, origin top left, y downwards; /Rotate and CropBox are added afterwards by `frames.py`, so that they never
enter these numbers. Does not know paragraphs (`typeset.py`), pages (`layout.py`) or files (`make.py`).
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

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
    """A font (key of `FONT_CODES`), its size in points and its colour."""

    font: str
    size: float
    color: Color = INK

    def with_font(self, font: str) -> Style:
        """Same size and colour in another font."""
        return replace(self, font=font)

    def scaled(self, factor: float) -> Style:
        """Same font and colour, size multiplied."""
        return replace(self, size=self.size * factor)


@dataclass
class Element:
    """One layout element: its label and the boxes of everything drawn for it (points, displayed page)."""

    label: str
    inks: list[Box] = field(default_factory=list)

    def bounds(self) -> Box:
        """The smallest box around all ink of the element."""
        return union(self.inks)


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box around all boxes.

    >>> union([(0, 0, 1, 1), (2, -1, 3, 0.5)])
    (0, -1, 3, 1)
    """
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


@functools.cache
def font_of(name: str) -> pymupdf.Font:
    """The builtin font behind a key of `FONT_CODES`."""
    return pymupdf.Font(FONT_CODES[name])


@functools.cache
def _advance(name: str, char: str) -> float:
    return float(font_of(name).glyph_advance(ord(char)))


@functools.cache
def _glyph_box(name: str, char: str) -> Box:
    rect = font_of(name).glyph_bbox(ord(char))
    return rect.x0, rect.y0, rect.x1, rect.y1


def text_width(text: str, style: Style) -> float:
    """Advance width of a string in points."""
    return style.size * sum(_advance(style.font, char) for char in text)


def text_ink(x: float, baseline: float, text: str, style: Style) -> Box | None:
    """Box of the visible glyphs of a string set at (x, baseline), or None when it is only spaces."""
    boxes: list[Box] = []
    pen = x
    for char in text:
        left, low, right, high = _glyph_box(style.font, char)
        if not char.isspace():
            size = style.size
            boxes.append((pen + left * size, baseline - high * size, pen + right * size, baseline - low * size))
        pen += _advance(style.font, char) * style.size
    return union(boxes) if boxes else None


class Canvas:
    """One page under construction: shapes below, text above, images at the very bottom."""

    def __init__(self, document: pymupdf.Document, width: float, height: float) -> None:
        self.page = document.new_page(width=width, height=height)
        self.width = width
        self.height = height
        self.elements: list[Element] = []
        self._open: Element | None = None
        self._shape = self.page.new_shape()
        self._writers: dict[Color, pymupdf.TextWriter] = {}
        self._upward: list[tuple[Point, str, Style]] = []

    @contextmanager
    def element(self, label: str) -> Iterator[Element]:
        """Everything drawn inside the block belongs to one element of this label."""
        if self._open is not None:
            raise ValueError(f"element {label} inside element {self._open.label}")
        self._open = Element(label)
        try:
            yield self._open
        finally:
            if self._open.inks:
                self.elements.append(self._open)
            self._open = None

    def _record(self, box: Box | None) -> None:
        if self._open is not None and box is not None:
            self._open.inks.append(box)

    def text(self, x: float, baseline: float, text: str, style: Style, align: str = "left") -> float:
        """Set one line of text; return its advance width. Align: left, right or center at x."""
        width = text_width(text, style)
        x -= {"left": 0.0, "center": width / 2, "right": width}[align]
        writer = self._writers.setdefault(style.color, pymupdf.TextWriter(self.page.rect))
        writer.append((x, baseline), text, font=font_of(style.font), fontsize=style.size)
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
        closed: bool = False,
        dash: str = "",
        opacity: float = 1.0,
    ) -> None:
        """Draw a polygon or an open line through the points."""
        self._shape.draw_polyline([pymupdf.Point(*point) for point in points])
        self._finish(color=color, width=width, fill=fill, closed=closed, dash=dash, opacity=opacity)
        half = width / 2 if color is not None else 0.0
        xs, ys = zip(*points, strict=True)
        self._record((min(xs) - half, min(ys) - half, max(xs) + half, max(ys) + half))

    def rect(self, box: Box, *, color: Color | None = None, width: float = 0.5, fill: Color | None = None) -> None:
        """Draw a rectangle."""
        self._shape.draw_rect(pymupdf.Rect(*box))
        self._finish(color=color, width=width, fill=fill, closed=True)
        half = width / 2 if color is not None else 0.0
        self._record((box[0] - half, box[1] - half, box[2] + half, box[3] + half))

    def circle(
        self, center: Point, radius: float, *, color: Color | None = None, width: float = 0.5, fill: Color | None = None
    ) -> None:
        """Draw a circle."""
        self._shape.draw_circle(pymupdf.Point(*center), radius)
        self._finish(color=color, width=width, fill=fill, closed=True)
        reach = radius + (width / 2 if color is not None else 0.0)
        self._record((center[0] - reach, center[1] - reach, center[0] + reach, center[1] + reach))

    def image(self, box: Box, stream: bytes) -> None:
        """Place a JPEG so that it fills the box."""
        self.page.insert_image(pymupdf.Rect(*box), stream=stream, keep_proportion=False)
        self._record(box)

    def finish(self) -> None:
        """Write shapes and text into the page; nothing can be drawn afterwards."""
        self._shape.commit()
        for color, writer in self._writers.items():
            writer.write_text(self.page, color=color)
        for start, text, style in self._upward:
            writer = pymupdf.TextWriter(self.page.rect)
            writer.append(start, text, font=font_of(style.font), fontsize=style.size)
            writer.write_text(self.page, color=style.color, morph=(pymupdf.Point(*start), pymupdf.Matrix(90)))

    def _finish(
        self, *, color: Color | None, width: float, fill: Color | None, closed: bool, dash: str = "", opacity: float = 1
    ) -> None:
        self._shape.finish(
            color=color,
            width=width,
            fill=fill,
            closePath=closed,
            dashes=dash or None,
            lineCap=1,
            lineJoin=1,
            fill_opacity=opacity,
        )
