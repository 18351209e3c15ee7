"""A report: its typography, its pages, and writing it to PDF with the boxes of all layout elements.

The frames of special pages are added here: /Rotate 90, CropBox inside MediaBox, and scans without a text layer. Boxes
come back in points of the displayed page, origin top left, so they need no correction for any of these.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pymupdf
from PIL import Image

from sample_data.generators.canvas import GREY, HAIR, Box, Canvas, Element, Style, padded, union
from sample_data.generators.layout import Page, Theme, draw_body
from sample_data.generators.pdf_file import as_jpeg, move_contents, pdf_bytes, picture_of, replace_by_picture

# Free room around the ink of every element, so that a box does not touch the letters.
PADDING = 1.5
BLEED_LEFT, BLEED_BOTTOM = 36.0, 48.0  # offset of the CropBox of a trimmed page from the origin
BLEED_RIGHT, BLEED_TOP = 30.0, 40.0
SCAN_DPI = 118
SCAN_SEED = 1997
SCAN_QUALITY = 42
PAPER_GREY, GRAIN = 236.0, 6.0


TruthBox = tuple[str, Box, None]  # label, box in points, and no score
RUNNING = ("Page-header", "Page-footer")


@dataclass(frozen=True)
class TruthPage:
    """Size of a displayed page in points, and its ground truth in drawing order: boxes, and elements that say more."""

    size: tuple[float, float]
    boxes: list[TruthBox]
    elements: list[Element]

    @property
    def places(self) -> list[int | None]:
        """Return where each element is read, footnotes last; None for what runs through the pages."""
        read = [number for number, each in enumerate(self.elements) if each.label not in RUNNING]
        in_order = sorted(read, key=lambda number: self.elements[number].label == "Footnote")
        place = {number: at for at, number in enumerate(in_order)}
        return [place.get(number) for number in range(len(self.elements))]


@dataclass(frozen=True)
class Report:
    """A document: file name without suffix, running head, footer ("{page}" is the number) and pages.

    `scanned` are the 0-based pages that become pictures, each with its skew in degrees.
    """

    name: str
    head: tuple[str, str]
    foot: tuple[str, str, str]
    theme: Theme
    pages: Sequence[Page]
    size: tuple[float, float] = (595.0, 842.0)
    margin: tuple[float, float, float, float] = (62.0, 76.0, 62.0, 70.0)
    first_number: int = 1
    scanned: dict[int, float] = field(default_factory=dict)


def write(report: Report) -> tuple[bytes, list[TruthPage]]:
    """Return the PDF of a report (the same bytes on every run) and the truth of its pages."""
    document = pymupdf.open()
    truth: list[TruthPage] = []
    for number, page in enumerate(report.pages):
        canvas = draw_page(document, report, number)
        turn = report.scanned.get(number, 0.0)
        if turn:
            picture = picture_of(document[number], SCAN_DPI).rotate(turn, Image.Resampling.BICUBIC, fillcolor=255)
            replace_by_picture(document, number, as_jpeg(_aged(picture, SCAN_SEED + number), SCAN_QUALITY))
        size = canvas.width, canvas.height
        boxes = [(each.label, _truth_box(each.inks, size, turn), None) for each in canvas.elements]
        for each in canvas.elements:
            each.cells = each.cells and [cell._replace(box=_turned(cell.box, size, turn)) for cell in each.cells]
        truth.append(TruthPage(size, boxes, canvas.elements))
        if page.turned:
            _store_turned(document[number])
        if page.trimmed:
            _store_trimmed(document[number])
    return pdf_bytes(document, report.head[0]), truth


def draw_page(document: pymupdf.Document, report: Report, number: int) -> Canvas:
    """Draw one page at the end of the document; return its canvas."""
    page = report.pages[number]
    canvas = Canvas(document, *(report.size[::-1] if page.wide else report.size))
    left, top, right, bottom = report.margin
    frame = (left, top, canvas.width - right, canvas.height - bottom)
    if page.backdrop is not None:
        page.backdrop(canvas)
    if not page.plain:
        _draw_running(canvas, report, number, frame)
    draw_body(canvas, report.theme, page, frame)
    canvas.finish()
    return canvas


def _draw_running(canvas: Canvas, report: Report, number: int, frame: Box) -> None:
    """Draw the running header with its rule, and footer."""
    left, top, right, bottom = frame
    style = Style(7.8, report.theme.heads, GREY)
    baseline = top - 30
    with canvas.element("Page-header", " ".join(filter(None, report.head))):
        canvas.text(left, baseline, report.head[0], style)
        if report.head[1]:
            canvas.text(right, baseline, report.head[1], style, "right")
    if report.theme.body != "mono":
        canvas.line((left, baseline + 6), (right, baseline + 6), color=HAIR, width=0.6)
    foot = [source.format(page=number + report.first_number) for source in report.foot]
    with canvas.element("Page-footer", " ".join(filter(None, foot))):
        places = ((left, "left"), ((left + right) / 2, "center"), (right, "right"))
        for text, (x, align) in zip(foot, places, strict=True):
            if text:
                canvas.text(x, bottom + 32, text, style, align)


def _truth_box(inks: Sequence[Box], size: tuple[float, float], degrees: float) -> Box:
    """Box of an element: ink, turned as the scan is, padded, cut at the page."""
    x0, y0, x1, y1 = padded(union(_turned(ink, size, degrees) for ink in inks), PADDING, PADDING)
    return max(x0, 0.0), max(y0, 0.0), min(x1, size[0]), min(y1, size[1])


def _turned(box: Box, size: tuple[float, float], degrees: float) -> Box:
    """Box around a box turned counter-clockwise about the middle of the page."""
    middle, turn = complex(*size) / 2, cmath.rect(1, -math.radians(degrees))
    corners = [middle + (complex(x, y) - middle) * turn for x in box[::2] for y in box[1::2]]
    return union((corner.real, corner.imag, corner.real, corner.imag) for corner in corners)


def _store_turned(page: pymupdf.Page) -> None:
    """Store a page lying on its side with /Rotate 90, so that readers see it as it was drawn."""
    width, height = page.rect.width, page.rect.height
    move_contents(page, f"0 1 -1 0 {height:g} 0")
    page.set_mediabox(pymupdf.Rect(0, 0, height, width))
    page.set_rotation(90)


def _store_trimmed(page: pymupdf.Page) -> None:
    """Put a page on a larger sheet with crop marks; the CropBox shows the page only."""
    right, top = BLEED_LEFT + page.rect.width, BLEED_BOTTOM + page.rect.height
    marks: list[str] = []
    for x in (BLEED_LEFT, right):
        for low, high in ((4, BLEED_BOTTOM - 6), (top + 6, top + BLEED_TOP - 4)):
            marks.append(f"{x:g} {low:g} m {x:g} {high:g} l S")
    for y in (BLEED_BOTTOM, top):
        for low, high in ((4, BLEED_LEFT - 6), (right + 6, right + BLEED_RIGHT - 4)):
            marks.append(f"{low:g} {y:g} m {high:g} {y:g} l S")
    move_contents(page, f"1 0 0 1 {BLEED_LEFT:g} {BLEED_BOTTOM:g}", f"\nq 0.5 w 0 G {' '.join(marks)} Q")
    page.set_mediabox(pymupdf.Rect(0, 0, right + BLEED_RIGHT, top + BLEED_TOP))
    # PyMuPDF takes a CropBox in its own top-down coordinates of the sheet.
    page.set_cropbox(pymupdf.Rect(BLEED_LEFT, BLEED_TOP, right, page.mediabox.height - BLEED_BOTTOM))


def _aged(picture: Image.Image, seed: int) -> Image.Image:
    """Return a clean page as an old office scanner sees it."""
    rng = np.random.default_rng(seed)
    pixels = np.asarray(picture, dtype=np.float64)
    tall, wide = pixels.shape
    ink = (255.0 - pixels) / 255.0
    fade = 0.80 + 0.14 * np.linspace(0, 1, wide)
    paper = PAPER_GREY + rng.normal(0, GRAIN, (tall, wide))
    paper *= 0.72 + 0.28 * np.minimum(np.arange(wide), 26) / 26
    for _ in range(40):
        y, x = int(rng.integers(0, tall - 3)), int(rng.integers(0, wide - 3))
        paper[y : y + 2, x : x + 2] -= 70
    return Image.fromarray(np.clip(paper * (1 - ink * fade), 0, 255).astype(np.uint8))
