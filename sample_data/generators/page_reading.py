"""What the two detectors read of a PDF: the order of their regions, the text in them and the cells of tables.

`read_lines` goes through a page from top to bottom, over all columns, and takes cells between rules; `read_blocks` cuts
a page at its widest gaps, joins lines by blanks and takes cells between columns of words. They get the bytes of a PDF
and nothing else. Mistakes are their own.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pymupdf

from sample_data.generators.canvas import Box, Cell, padded
from sample_data.generators.detectors import detect_blocks, detect_lines
from sample_data.generators.labelling import Region
from sample_data.generators.page_text import Run, inside_share, rows_of, upright_pages, words

RUNNING = ("Page-header", "Page-footer")
GUTTER = 6.0  # points between columns


class ReadItem(NamedTuple):
    """A region with its place in the order, and what was read in it; None for nothing."""

    region: Region
    place: int | None
    text: str | None
    cells: list[Cell] | None


def read_lines(pdf: bytes) -> list[list[ReadItem]]:
    """Items of each page by "lines": from top to bottom, as the detector returns them."""
    return _read(pdf, detect_lines(pdf), lambda boxes: list(range(len(boxes))), "\n", "lines")


def read_blocks(pdf: bytes) -> list[list[ReadItem]]:
    """Items of each page by "blocks": column by column where a gap goes through."""
    return _read(pdf, detect_blocks(pdf), lambda boxes: [*_cut(boxes, list(range(len(boxes))))], " ", "text")


def _read(
    pdf: bytes,
    detected: Sequence[Sequence[Region]],
    in_order: Callable[[Sequence[Box]], list[int]],
    end_of_line: str,
    rows: str,
) -> list[list[ReadItem]]:
    pages = []
    for page, regions in zip(upright_pages(pdf), detected, strict=True):
        page_words = words(page)
        body = [region for region in regions if region.label not in RUNNING]
        place_of = {body[at]: place for place, at in enumerate(in_order([region.box for region in body]))}
        pages.append(
            [
                ReadItem(
                    region,
                    place_of.get(region),
                    None if region.label in ("Figure", "Table") else _text(region.box, page_words, end_of_line),
                    _cells(page, region.box, rows) if region.label == "Table" else None,
                )
                for region in regions
            ]
        )
    return pages


def _text(box: Box, page_words: Sequence[Run], end_of_line: str) -> str:
    inside = [word for word in page_words if inside_share(word.tight, box) > 0.5]
    lines = rows_of(inside, 0.42, raised=0.36)
    return end_of_line.join(" ".join(word.text for word in line) for line in lines)


def _cells(page: pymupdf.Page, box: Box, rows: str) -> list[Cell]:
    """Return the cells of the table in a box, columns by words, the first row as its header."""
    area = pymupdf.Rect(padded(box, 3, 3))
    tables = page.find_tables(clip=area, horizontal_strategy=rows, vertical_strategy="text").tables
    filled = [
        (row.cells, texts)
        for table in tables[:1]
        for row, texts in zip(table.rows, table.extract(), strict=True)
        if any(texts)
    ]
    return [
        Cell(number, column, tuple(cell), " ".join((text or "").split()), number == 0)
        for number, (cells, texts) in enumerate(filled)
        for column, (cell, text) in enumerate(zip(cells, texts, strict=True))
        if cell is not None
    ]


def _cut(boxes: Sequence[Box], some: list[int]) -> Iterator[int]:
    """Yield boxes column by column where a gutter goes through all of them, else above and below the widest gap."""
    for axis, least in ((0, GUTTER), (1, 0.0)):
        order = sorted(some, key=lambda at: boxes[at][axis])
        ends = itertools.accumulate((boxes[at][axis + 2] for at in order), max)
        gaps = [boxes[at][axis] - end for at, end in zip(order[1:], ends, strict=False)]
        if gaps and max(gaps) >= least:
            cut = gaps.index(max(gaps)) + 1
            yield from _cut(boxes, order[:cut])
            yield from _cut(boxes, order[cut:])
            return
    yield from sorted(some, key=lambda at: boxes[at][1])
