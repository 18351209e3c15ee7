"""What the two extractors of fields see of a PDF: lines of its text layer, cut at wide gaps, and strokes.

Owns the segments, their neighbours, and the tree that comes of what an extractor found. The only input is a PDF; no
ground truth is known here. Coordinates are points of the displayed page, origin top left; pages count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sample_data.generators.canvas import Box, shares, union
from sample_data.generators.page_text import Run, parts_of, rows_of, upright_pages, words
from sample_data.generators.paperwork import DECIMALS, JsonObject, rich, tree_of

# A gap of so many font sizes ends a cell of a table or a value.
CELL_GAP = 1.6
# Handwriting has more strokes than a frame.
MANY_STROKES = 40
AMOUNTS = ("subtotal", "tax", "total")
AMOUNT = re.compile(r"(?:[A-Z]{3} ?)?(\d{1,3}(?:,\d{3})+\.\d{2}|\d+\.\d{2})$")


@dataclass(frozen=True)
class Segment:
    """Words of one line without a wide gap, and the page they stand on."""

    runs: tuple[Run, ...]
    page: int

    @property
    def text(self) -> str:
        """The words, separated by spaces."""
        return " ".join(run.text for run in self.runs)

    @property
    def tight(self) -> Box:
        """Box of the letters."""
        return union(run.tight for run in self.runs)

    @property
    def loose(self) -> Box:
        """Box of the font, which is taller than its letters."""
        return union(run.loose for run in self.runs)

    @property
    def baseline(self) -> float:
        """Baseline of the first word."""
        return self.runs[0].baseline

    @property
    def size(self) -> float:
        """Font size of the first word."""
        return self.runs[0].size

    def after(self, count: int) -> Segment:
        """Return the words after so many."""
        return Segment(self.runs[count:], self.page)

    def span(self, start: int, end: int) -> Segment:
        """Return the words that some characters of the text belong to."""
        place, kept = 0, []
        for run in self.runs:
            if place < end and place + len(run.text) > start:
                kept.append(run)
            place += len(run.text) + 1
        return Segment(tuple(kept), self.page)

    def code_and_town(self) -> list[Segment]:
        """Postal code and town of a line of an address; empty for another line."""
        matched = re.fullmatch(r"(\d{5}) (.+)", self.text)
        return [self.span(*matched.span(group)) for group in (1, 2)] if matched else []


@dataclass(frozen=True)
class FieldValue:
    """A value that an extractor gives: path, value, box in points, page and confidence."""

    path: str
    value: object
    box: Box
    page: int
    confidence: float


@dataclass(frozen=True)
class PdfText:
    """Segments of all pages in reading order, sizes of the pages, boxes of handwriting and of short slanted lines."""

    segments: list[Segment]
    sizes: list[tuple[float, float]]
    strokes: list[tuple[int, Box]]
    ticks: list[tuple[int, Box]]

    def line(self, segment: Segment) -> list[Segment]:
        """Segments on the same line, left to right."""
        near = 0.35 * segment.size
        same = [s for s in self.segments if s.page == segment.page and abs(s.baseline - segment.baseline) < near]
        return sorted(same, key=lambda s: s.tight[0])

    def right_of(self, segment: Segment) -> Segment | None:
        """Return the next segment on the line."""
        return next((s for s in self.line(segment) if s.tight[0] > segment.tight[2] - 0.5), None)

    def below(self, segment: Segment, reach: float) -> Segment | None:
        """Return the nearest segment below that shares a column with it, so many points away at most."""
        x0, _, x1, _ = segment.tight
        level = [s for s in self.segments if s.page == segment.page and s.tight[0] < x1 and s.tight[2] > x0]
        under = [s for s in level if 0 < s.baseline - segment.baseline <= reach]
        return min(under, key=lambda s: (s.baseline, s.tight[0]), default=None)


def read_pdf(pdf: bytes) -> PdfText:
    """Return the text layer of a PDF as segments of lines."""
    text = PdfText([], [], [], [])
    for number, page in enumerate(upright_pages(pdf)):
        for row in rows_of(words(page), 0.35):
            text.segments.extend(Segment(tuple(part), number) for part in parts_of(row, CELL_GAP))
        text.sizes.append((page.rect.width, page.rect.height))
        for drawing in page.get_drawings():
            rect, items = drawing["rect"], len(drawing["items"])
            if items > MANY_STROKES:
                text.strokes.append((number, (rect.x0, rect.y0, rect.x1, rect.y1)))
            elif items == 1 and 4 < rect.width < 14 and 4 < rect.height < 14:
                text.ticks.append((number, (rect.x0, rect.y0, rect.x1, rect.y1)))
    return text


def as_tree(fields: Iterable[FieldValue], sizes: Sequence[tuple[float, float]]) -> JsonObject:
    """Return what an extractor found as a tree of rich values; the first find of a path counts."""
    first: dict[str, JsonObject] = {}
    for each in fields:
        box = shares(each.box, sizes[each.page], DECIMALS)
        first.setdefault(each.path, rich(each.value, box, each.page, each.confidence))
    return tree_of(first.items())


def number(text: str) -> float | None:
    """Return an amount or a count; None for anything else.

    >>> number("GBP 1,234.50"), number("12"), number("about 3")
    (1234.5, 12, None)
    """
    amount = AMOUNT.fullmatch(text)
    if amount:
        return float(amount[1].replace(",", ""))
    return int(text) if text.isdigit() else None
