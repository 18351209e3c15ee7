"""What the detectors see of a PDF page: blocks of text lines, words, drawings and images, in displayed coordinates.

Pages are turned upright first (`remove_rotation`), so that all boxes are points of the page as the reader sees it,
origin top left at the CropBox. Nothing here knows the ground truth; the only input is a PDF.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pymupdf

from sample_data.generators.canvas import Box, union

BOLD_FLAG, ITALIC_FLAG = 16, 2
# Share of the font size above and below the baseline that letters take, with a little air.
ABOVE, BELOW = 0.82, 0.28


@dataclass(frozen=True)
class Run:
    """Text of one line and its style; `tight` is the box of the letters, `loose` the box of the font."""

    text: str
    size: float
    bold: bool
    italic: bool
    baseline: float
    loose: Box
    tight: Box


@dataclass(frozen=True)
class TextBlock:
    """Lines that belong together, top to bottom, and the box a detector gives them."""

    runs: tuple[Run, ...]
    box: Box

    @property
    def text(self) -> str:
        """All runs, separated by spaces."""
        return " ".join(run.text.strip() for run in self.runs)

    @property
    def size(self) -> float:
        """Font size of most of the characters."""
        return main_size(self.runs)

    @property
    def bold_share(self) -> float:
        """Share of the characters that are bold."""
        return self._share([run for run in self.runs if run.bold])

    @property
    def italic_share(self) -> float:
        """Share of the characters that are italic."""
        return self._share([run for run in self.runs if run.italic])

    def _share(self, some: Sequence[Run]) -> float:
        return sum(len(run.text) for run in some) / sum(len(run.text) for run in self.runs)

    @property
    def line_count(self) -> int:
        """Number of different baselines."""
        return len({round(run.baseline) for run in self.runs})


def main_size(runs: Sequence[Run]) -> float:
    """Font size of most of the characters, 0 without text."""
    sizes: Counter[float] = Counter()
    for run in runs:
        sizes[round(run.size, 1)] += len(run.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def upright_pages(pdf: bytes) -> Iterator[pymupdf.Page]:
    """Pages of a PDF without rotation; the document lives as long as the iterator."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        for page in document:
            page.remove_rotation()
            yield page


def mupdf_blocks(page: pymupdf.Page) -> list[TextBlock]:
    """Text blocks as MuPDF groups them, with their loose boxes."""
    blocks = []
    for block in page.get_text("dict", clip=page.rect)["blocks"]:
        runs = [_run(span) for line in block.get("lines", ()) for span in line["spans"] if span["text"].strip()]
        if runs:
            blocks.append(TextBlock(tuple(runs), union(run.loose for run in runs)))
    return blocks


def _run(span: dict[str, Any]) -> Run:
    """Return a run from a span of MuPDF."""
    x0, y0, x1, y1 = span["bbox"]
    baseline, size, flags = float(span["origin"][1]), float(span["size"]), span["flags"]
    tight = (x0, baseline - ABOVE * size, x1, baseline + BELOW * size)
    loose = (x0, y0, x1, y1)
    return Run(span["text"], size, bool(flags & BOLD_FLAG), bool(flags & ITALIC_FLAG), baseline, loose, tight)


def words(page: pymupdf.Page) -> list[Run]:
    """Words of a page in reading order of the file, with tight boxes; none of lines that are turned."""
    blocks = page.get_text("rawdict", clip=page.rect)["blocks"]
    lines = [line for block in blocks for line in block.get("lines", ()) if abs(line["dir"][1]) <= 0.1]
    return [word for line in lines for span in line["spans"] for word in _span_words(span)]


def _span_words(span: dict[str, Any]) -> Iterator[Run]:
    for space, group in itertools.groupby(span["chars"], key=lambda char: char["c"].isspace()):
        if not space:
            chars = list(group)
            (x0, y0, _, _), (_, _, x1, y1) = chars[0]["bbox"], chars[-1]["bbox"]
            text = "".join(char["c"] for char in chars)
            yield _run({**span, "text": text, "bbox": (x0, y0, x1, y1), "origin": chars[0]["origin"]})


def rows_of(runs: Sequence[Run], reach: float, raised: float = 0.0) -> list[list[Run]]:
    """Return runs whose baselines are at most so many font sizes apart, from left to right.

    Type under 7 points is sorted as if it stood `raised` font sizes lower, so that it joins the row below.
    """

    def place(run: Run) -> tuple[float, float]:
        return round(run.baseline + (raised * run.size if run.size < 7 else 0)), run.tight[0]

    rows: list[list[Run]] = []
    for run in sorted(runs, key=place):
        size = run.size if raised or not rows else min(run.size, rows[-1][0].size)
        if rows and abs(rows[-1][0].baseline - run.baseline) < reach * size:
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.tight[0]) for row in rows]


def parts_of(row: Sequence[Run], gap: float, mark: re.Pattern[str] | None = None) -> list[list[Run]]:
    """Parts of a row with gaps of so many font sizes between them; behind the mark of a list it must be wider."""
    parts = [[row[0]]]
    for run in row[1:]:
        marked = mark is not None and len(parts[-1]) == 1 and mark.match(parts[-1][0].text + " ")
        if run.tight[0] - parts[-1][-1].tight[2] > gap * run.size * (2.2 if marked else 1.0):
            parts.append([run])
        else:
            parts[-1].append(run)
    return parts


def clipped(box: tuple[float, ...], page: pymupdf.Page) -> Box | None:
    """Return the part of a box on the displayed page, or None when less than a point of it is visible."""
    x0, y0 = max(box[0], 0.0), max(box[1], 0.0)
    x1, y1 = min(box[2], page.rect.width), min(box[3], page.rect.height)
    return (x0, y0, x1, y1) if x1 - x0 >= 1 and y1 - y0 >= 1 else None


def area(box: Box) -> float:
    """Area of a box, 0 when it is inverted."""
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def inside_share(one: Box, two: Box) -> float:
    """Share of the first box that lies in the second; 0 for a box without area."""
    shared = (max(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), min(one[3], two[3]))
    return area(shared) / area(one) if area(one) else 0.0


def covered(box: Box, regions: Sequence[Box], share: float) -> bool:
    """Whether at least `share` of a box lies in one of the regions."""
    return any(inside_share(box, region) >= share for region in regions)
