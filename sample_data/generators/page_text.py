"""What the detectors see of a PDF page: blocks of text lines, words, drawings and images, in displayed coordinates.

Pages are turned upright first (`remove_rotation`), so that all boxes are points of the page as the reader sees it,
origin top left at the CropBox. Nothing here knows the ground truth; the only input is a PDF.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

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
        return _share(self.runs, [run.bold for run in self.runs])

    @property
    def italic_share(self) -> float:
        """Share of the characters that are italic."""
        return _share(self.runs, [run.italic for run in self.runs])

    @property
    def line_count(self) -> int:
        """Number of different baselines."""
        return len({round(run.baseline) for run in self.runs})


def _share(runs: Sequence[Run], marks: Sequence[bool]) -> float:
    total = sum(len(run.text) for run in runs)
    return sum(len(run.text) for run, mark in zip(runs, marks, strict=True) if mark) / total if total else 0.0


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
    """A run from a span of MuPDF."""
    x0, y0, x1, y1 = span["bbox"]
    baseline, size = float(span["origin"][1]), float(span["size"])
    bold, italic = bool(span["flags"] & BOLD_FLAG), bool(span["flags"] & ITALIC_FLAG)
    tight = (x0, baseline - ABOVE * size, x1, baseline + BELOW * size)
    return Run(str(span["text"]), size, bold, italic, baseline, (x0, y0, x1, y1), tight)


def words(page: pymupdf.Page) -> list[Run]:
    """Words of a page in reading order of the file, with tight boxes."""
    runs: list[Run] = []
    for block in page.get_text("rawdict", clip=page.rect)["blocks"]:
        for line in block.get("lines", ()):
            if abs(line["dir"][1]) > 0.1:
                continue
            for span in line["spans"]:
                runs.extend(_span_words(span))
    return runs


def _span_words(span: dict[str, Any]) -> Iterator[Run]:
    chars: list[dict[str, Any]] = []
    for char in [*span["chars"], {"c": " "}]:
        if char["c"].isspace():
            if chars:
                text = "".join(c["c"] for c in chars)
                first, last = chars[0]["bbox"], chars[-1]["bbox"]
                box = (first[0], first[1], last[2], first[3])
                yield _run({**span, "text": text, "bbox": box, "origin": chars[0]["origin"]})
            chars = []
        else:
            chars.append(char)


def drawing_clusters(page: pymupdf.Page, reach: float) -> list[Box]:
    """Boxes of drawings that lie within `reach` points of each other, cut at the page."""
    clusters = page.cluster_drawings(x_tolerance=reach, y_tolerance=reach)
    return [box for box in (clipped(tuple(rect), page) for rect in clusters) if box is not None]


def image_boxes(page: pymupdf.Page) -> list[Box]:
    """Boxes of the images, cut at the page."""
    boxes = [clipped(tuple(info["bbox"]), page) for info in page.get_image_info()]
    return [box for box in boxes if box is not None]


def horizontal_rules(page: pymupdf.Page) -> list[Box]:
    """Horizontal lines that are at least 40 points long."""
    rules = []
    for drawing in page.get_drawings():
        rect = drawing["rect"]
        if rect.width >= 40 and rect.height <= 2:
            rules.append((rect.x0, rect.y0, rect.x1, rect.y1))
    return sorted(rules, key=lambda rule: (rule[1], rule[0]))


def clipped(box: tuple[float, ...], page: pymupdf.Page) -> Box | None:
    """The part of a box on the displayed page, or None when less than a point of it is visible."""
    x0, y0 = max(box[0], 0.0), max(box[1], 0.0)
    x1, y1 = min(box[2], page.rect.width), min(box[3], page.rect.height)
    return (x0, y0, x1, y1) if x1 - x0 >= 1 and y1 - y0 >= 1 else None


def area(box: Box) -> float:
    """Area of a box, 0 when it is inverted."""
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def overlap(one: Box, two: Box) -> float:
    """Area that two boxes share."""
    return area((max(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), min(one[3], two[3])))


def inside_share(one: Box, two: Box) -> float:
    """Share of the first box that lies in the second; 0 for a box without area."""
    return overlap(one, two) / area(one) if area(one) else 0.0


def covered(box: Box, regions: Sequence[Box], share: float) -> bool:
    """Whether at least `share` of a box lies in one of the regions."""
    return any(inside_share(box, region) >= share for region in regions)
