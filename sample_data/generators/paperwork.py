"""One invoice or form under construction, and the record of where the ink of each field is.

Owns the sheet that fields are written on, the tree of rich values that comes of them, and writing both to bytes. A
field is named by its path ("line_items[2].amount"); its box is the ink of its text plus some air, as shares of the
displayed page, origin top left. A scanned document is a picture with the text layer that character recognition leaves.
Does not know what stands on a document (`invoices.py`, `applications.py`).
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pymupdf
from PIL import Image

from sample_data.generators.canvas import INK, Box, Canvas, Style, font_of, text_width
from sample_data.generators.photos import as_jpeg

A4 = (595.0, 842.0)
# Air around the ink, as a person leaves it who draws the box.
PADDING = 2.0
DECIMALS = 5

SCAN_DPI, SCAN_QUALITY, SCAN_SEED = 96, 34, 2025
# What character recognition takes for each other; every so many-th of them goes wrong.
CONFUSED = {"O": "0", "0": "O", "l": "1", "1": "l", "5": "S", "S": "5", "8": "B", "B": "8", "e": "c", "g": "q"}
CONFUSED_EVERY = 11

JsonObject = dict[str, object]
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True)
class FieldInk:
    """A field as it was written: path, value, page from 0, box in points of the page."""

    path: str
    value: object
    page: int
    box: Box


class LoggedCanvas(Canvas):
    """A canvas that remembers its texts, for the text layer of a scan."""

    def __init__(self, document: pymupdf.Document, width: float, height: float) -> None:
        super().__init__(document, width, height)
        self.texts: list[tuple[tuple[float, float], str, Style]] = []

    def text(self, x: float, baseline: float, text: str, style: Style, align: str = "left") -> float:
        """Set one line of text; return its advance width."""
        left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[align] * text_width(text, style)
        self.texts.append(((left, baseline), text, style))
        return super().text(x, baseline, text, style, align)


@dataclass
class Paper:
    """A document under construction; pages are added with `sheet`. A scanned one keeps no drawn letters."""

    scanned: bool = False
    document: pymupdf.Document = field(default_factory=pymupdf.open)
    fields: list[FieldInk] = field(default_factory=list)

    @contextmanager
    def sheet(self) -> Iterator[Sheet]:
        """The next page; it is finished when the block ends."""
        canvas = LoggedCanvas(self.document, *A4)
        sheet = Sheet(canvas)
        yield sheet
        canvas.finish()
        number = len(self.document) - 1
        if self.scanned:
            self._scan(number, canvas)
        for element in sheet.canvas.elements:
            self.fields.append(
                FieldInk(element.label, sheet.values[element.label], number, _padded(element.bounds(), A4))
            )

    def _scan(self, number: int, canvas: LoggedCanvas) -> None:
        """Replace a page by a grey picture of it, with an invisible text layer in which some letters are confused."""
        pixmap = self.document[number].get_pixmap(dpi=SCAN_DPI, colorspace=pymupdf.csGRAY)
        pixels = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)[:, : pixmap.width]
        grain = np.random.default_rng(SCAN_SEED + number).normal(0, 3, pixels.shape)
        aged = np.clip(pixels * 0.86 + 26 + grain, 0, 250).astype(np.uint8)
        self.document.delete_page(number)
        page = self.document.new_page(number, width=A4[0], height=A4[1])
        page.insert_image(page.rect, stream=as_jpeg(Image.fromarray(aged), SCAN_QUALITY))
        writer = pymupdf.TextWriter(page.rect)
        seen = 0
        for place, text, style in canvas.texts:
            read, seen = recognised(text, seen)
            writer.append(place, read, font=font_of(style.font), fontsize=style.size)
        writer.write_text(page, render_mode=3)

    def finish(self, title: str) -> tuple[bytes, JsonObject]:
        """The PDF, the same bytes on every run, and the ground truth of its fields."""
        self.document.subset_fonts()
        self.document.set_metadata({"title": title, "author": "LayoutScope sample data"})
        # A random /ID and dates would change the bytes on every run.
        data: bytes = self.document.tobytes(garbage=3, deflate=True, no_new_id=True, use_objstms=1)
        return data, tree_of([(ink.path, rich(ink.value, shares(ink.box, A4), ink.page)) for ink in self.fields])


@dataclass
class Sheet:
    """A page on which some texts are fields."""

    canvas: Canvas
    values: dict[str, object] = field(default_factory=dict)

    def put(
        self,
        path: str,
        place: tuple[float, float],
        text: str,
        style: Style,
        *,
        align: str = "left",
        value: object = None,
        before: str = "",
    ) -> float:
        """Write the text of a field at (x, baseline); return its width. The value is the text unless another is given.

        `before` is written in front of it and does not belong to the field.
        """
        self.values[path] = text if value is None else value
        x, baseline = place
        if before:
            x += self.canvas.text(x, baseline, before, style)
        with self.canvas.element(path):
            return self.canvas.text(x, baseline, text, style, align)

    def lines(self, path: str, place: tuple[float, float], texts: Sequence[str], style: Style, pitch: float) -> None:
        """Write a field of several lines."""
        self.values[path] = " ".join(texts)
        with self.canvas.element(path):
            for number, text in enumerate(texts):
                self.canvas.text(place[0], place[1] + number * pitch, text, style)

    def drawn(self, path: str, value: object, draw: Callable[[Canvas], None]) -> None:
        """A field that is drawn, such as a signature."""
        self.values[path] = value
        with self.canvas.element(path):
            draw(self.canvas)

    def say(self, x: float, baseline: float, text: str, style: Style, align: str = "left") -> float:
        """Write a text that is no field; return its width."""
        return self.canvas.text(x, baseline, text, style, align)


def recognised(text: str, seen: int) -> tuple[str, int]:
    """A text as character recognition reads it, after so many letters that it can confuse; and how many there were.

    >>> recognised("SOLO 15", CONFUSED_EVERY - 2)
    ('S0LO 15', 14)
    """
    letters = []
    for letter in text:
        seen += letter in CONFUSED
        wrong = letter in CONFUSED and seen % CONFUSED_EVERY == 0
        letters.append(CONFUSED[letter] if wrong else letter)
    return "".join(letters), seen


def _padded(box: Box, size: tuple[float, float]) -> Box:
    x0, y0, x1, y1 = box
    return max(x0 - PADDING, 0.0), max(y0 - PADDING, 0.0), min(x1 + PADDING, size[0]), min(y1 + PADDING, size[1])


def shares(box: Box, size: tuple[float, float]) -> list[float]:
    """A box in points as shares of the page, rounded.

    >>> shares((0, 421, 119, 842), A4)
    [0.0, 0.5, 0.2, 1.0]
    """
    return [round(value / size[axis % 2], DECIMALS) for axis, value in enumerate(box)]


def rich(value: object, box: list[float] | None, page: int, confidence: float | None = None) -> JsonObject:
    """A rich value; box, page and confidence are left out where they say nothing."""
    leaf: JsonObject = {"_value": value}
    if confidence is not None:
        leaf["_confidence"] = confidence
    if box is not None:
        leaf["_bbox"] = box
    if page:
        leaf["_page"] = page
    return leaf


def tree_of(fields: Sequence[tuple[str, JsonObject]]) -> JsonObject:
    """Objects and lists from paths.

    >>> tree_of([("a.b", {"_value": 1}), ("c[0].d", {"_value": 2})])
    {'a': {'b': {'_value': 1}}, 'c': [{'d': {'_value': 2}}]}
    """
    root: JsonObject = {}
    for path, leaf in fields:
        steps: list[str | int] = [name or int(index) for name, index in _STEP.findall(path)]
        place: object = root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            empty: object = leaf if following is None else [] if isinstance(following, int) else {}
            place = _at(place, step, empty)
    return root


def _at(place: object, step: str | int, empty: object) -> object:
    """What stands at a step of a path, put there when it is not; items of a list are added in order."""
    if isinstance(place, dict):
        return place.setdefault(step, empty)
    assert isinstance(place, list)
    assert isinstance(step, int)
    if step == len(place):
        place.append(empty)
    return place[step]


def plain(size: float, font: str = "sans", color: tuple[float, float, float] = INK) -> Style:
    """A style in one line."""
    return Style(font, size, color)
