"""A report: its typography, its pages, and writing it to PDF with the boxes of all layout elements.

The frames of special pages are added here: /Rotate 90, CropBox inside MediaBox, and scans without a text layer. Boxes
come back in points of the displayed page, origin top left, so they need no correction for any of these.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pymupdf
from PIL import Image

from sample_data.generators.canvas import GREY, HAIR, Box, Canvas, Element, Style, union
from sample_data.generators.layout import Page, Theme, draw_body
from sample_data.generators.photos import as_jpeg

# Free room around the ink of every element, so that a box does not touch the letters.
PADDING = 1.5
BLEED_LEFT, BLEED_BOTTOM = 36.0, 48.0  # offset of the CropBox of a trimmed page from the origin
BLEED_RIGHT, BLEED_TOP = 30.0, 40.0
SCAN_DPI = 118
SCAN_SEED = 1997
SCAN_QUALITY = 42
PAPER_GREY, GRAIN = 236.0, 6.0


@dataclass(frozen=True)
class TruthBox:
    """A ground-truth box in points of the displayed page."""

    label: str
    box: Box


@dataclass(frozen=True)
class TruthPage:
    """Size of a displayed page in points and its ground-truth boxes in drawing order."""

    width: float
    height: float
    boxes: tuple[TruthBox, ...]
    free: float


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
    """The PDF of a report (the same bytes on every run) and the truth of its pages."""
    document = pymupdf.open()
    truth: list[TruthPage] = []
    for number in range(len(report.pages)):
        canvas, free = draw_page(document, report, number)
        turn = 0.0
        if number in report.scanned:
            turn = report.scanned[number]
            _replace_by_scan(document, number, turn)
        boxes = [_truth_box(element, canvas, turn) for element in canvas.elements]
        truth.append(TruthPage(canvas.width, canvas.height, tuple(boxes), free))
        if report.pages[number].turned:
            _store_turned(document, number)
        if report.pages[number].trimmed:
            _store_trimmed(document, number)
    document.subset_fonts()
    document.set_metadata({"title": report.head[0], "author": "LayoutScope sample data"})
    # A random /ID and dates would change the bytes on every run.
    data = document.tobytes(garbage=3, deflate=True, no_new_id=True, use_objstms=1)
    return data, truth


def draw_page(document: pymupdf.Document, report: Report, number: int) -> tuple[Canvas, float]:
    """Draw one page at the end of the document; return its canvas and the free room in points."""
    page = report.pages[number]
    width, height = report.size if not page.wide else (report.size[1], report.size[0])
    canvas = Canvas(document, width, height)
    left, top, right, bottom = report.margin
    if page.backdrop is not None:
        page.backdrop(canvas)
    if not page.plain:
        _draw_running(canvas, report, number, (left, top, width - right, height - bottom))
    free = draw_body(canvas, report.theme, page, (left, top, width - right, height - bottom))
    canvas.finish()
    return canvas, free


def _draw_running(canvas: Canvas, report: Report, number: int, frame: Box) -> None:
    """Running header with its rule, and footer."""
    left, top, right, bottom = frame
    style = Style(report.theme.heads, 7.8, GREY)
    baseline = top - 30
    with canvas.element("Page-header"):
        canvas.text(left, baseline, report.head[0], style)
        if report.head[1]:
            canvas.text(right, baseline, report.head[1], style, "right")
    if report.theme.body != "mono":
        canvas.line((left, baseline + 6), (right, baseline + 6), color=HAIR, width=0.6)
    with canvas.element("Page-footer"):
        places = ((left, "left"), ((left + right) / 2, "center"), (right, "right"))
        for source, (x, align) in zip(report.foot, places, strict=True):
            if source:
                text = source.format(page=number + report.first_number)
                canvas.text(x, bottom + 32, text, style, align)


def _truth_box(element: Element, canvas: Canvas, degrees: float) -> TruthBox:
    """Box of an element: ink, turned as the scan is, padded, cut at the page."""
    center = (canvas.width / 2, canvas.height / 2)
    x0, y0, x1, y1 = union(_turned(ink, center, degrees) for ink in element.inks)
    box = (
        max(x0 - PADDING, 0.0),
        max(y0 - PADDING, 0.0),
        min(x1 + PADDING, canvas.width),
        min(y1 + PADDING, canvas.height),
    )
    return TruthBox(element.label, box)


def _turned(box: Box, center: tuple[float, float], degrees: float) -> Box:
    """Box around a box turned counter-clockwise about a centre."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[1]), (box[0], box[3]), (box[2], box[3])):
        dx, dy = x - center[0], y - center[1]
        turned = (center[0] + dx * cosine + dy * sine, center[1] - dx * sine + dy * cosine)
        corners.append((*turned, *turned))
    return union(corners)


def _prefix_contents(document: pymupdf.Document, number: int, matrix: str) -> None:
    """Move the whole drawing of a page by a PDF matrix."""
    page = document[number]
    page.clean_contents()
    xref = page.get_contents()[0]
    document.update_stream(xref, f"q {matrix} cm\n".encode() + document.xref_stream(xref) + b"\nQ")


def _store_turned(document: pymupdf.Document, number: int) -> None:
    """Store a page lying on its side with /Rotate 90, so that readers see it as it was drawn."""
    page = document[number]
    width, height = page.rect.width, page.rect.height
    _prefix_contents(document, number, f"0 1 -1 0 {height:g} 0")
    page.set_mediabox(pymupdf.Rect(0, 0, height, width))
    page.set_rotation(90)


def _store_trimmed(document: pymupdf.Document, number: int) -> None:
    """Put a page on a larger sheet with crop marks; the CropBox shows the page only."""
    page = document[number]
    width, height = page.rect.width, page.rect.height
    _prefix_contents(document, number, f"1 0 0 1 {BLEED_LEFT:g} {BLEED_BOTTOM:g}")
    page.set_mediabox(pymupdf.Rect(0, 0, width + BLEED_LEFT + BLEED_RIGHT, height + BLEED_BOTTOM + BLEED_TOP))
    marks: list[str] = []
    for x in (BLEED_LEFT, BLEED_LEFT + width):
        for low, high in ((4, BLEED_BOTTOM - 6), (BLEED_BOTTOM + height + 6, BLEED_BOTTOM + height + BLEED_TOP - 4)):
            marks.append(f"{x:g} {low:g} m {x:g} {high:g} l S")
    for y in (BLEED_BOTTOM, BLEED_BOTTOM + height):
        for low, high in ((4, BLEED_LEFT - 6), (BLEED_LEFT + width + 6, BLEED_LEFT + width + BLEED_RIGHT - 4)):
            marks.append(f"{low:g} {y:g} m {high:g} {y:g} l S")
    xref = page.get_contents()[0]
    ending = "\nq 0.5 w 0 G " + " ".join(marks) + " Q"
    document.update_stream(xref, document.xref_stream(xref) + ending.encode())
    sheet = page.mediabox
    # PyMuPDF takes a CropBox in its own top-down coordinates of the sheet.
    page.set_cropbox(pymupdf.Rect(BLEED_LEFT, BLEED_TOP, sheet.width - BLEED_RIGHT, sheet.height - BLEED_BOTTOM))


def _replace_by_scan(document: pymupdf.Document, number: int, degrees: float) -> None:
    """Replace a page by a grey picture of it: slightly turned, with paper grain and dark margins."""
    page = document[number]
    pixmap = page.get_pixmap(dpi=SCAN_DPI, colorspace=pymupdf.csGRAY)
    picture = Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)
    picture = picture.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
    stream = as_jpeg(_aged(picture, SCAN_SEED + number), SCAN_QUALITY)
    rect = page.rect
    document.delete_page(number)
    fresh = document.new_page(number, width=rect.width, height=rect.height)
    fresh.insert_image(rect, stream=stream)


def _aged(picture: Image.Image, seed: int) -> Image.Image:
    """A clean page as an old office scanner sees it."""
    rng = np.random.default_rng(seed)
    pixels = np.asarray(picture, dtype=np.float64)
    tall, wide = pixels.shape
    ink = (255.0 - pixels) / 255.0
    fade = 0.80 + 0.14 * np.linspace(0, 1, wide)[None, :]
    paper = PAPER_GREY + rng.normal(0, GRAIN, (tall, wide))
    edge = np.minimum(np.arange(wide), 26)[None, :] / 26
    paper = paper * (0.72 + 0.28 * edge)
    for _ in range(40):
        y, x = int(rng.integers(0, tall - 3)), int(rng.integers(0, wide - 3))
        paper[y : y + 2, x : x + 2] -= 70
    aged = np.clip(paper * (1 - ink * fade), 0, 255)
    return Image.fromarray(aged.astype(np.uint8))
