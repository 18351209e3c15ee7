"""Two real layout detectors without training: "lines" reads ruling lines and MuPDF's blocks, "blocks" reads word gaps.

`detect_lines` and `detect_blocks` take the bytes of a PDF and nothing else; they return, per page, regions in points
of the displayed page. Their mistakes are their own: no region is moved, dropped or invented on purpose.

Scores are logistic in the evidence of each region: filled cells and number of rows for tables, number of strokes and
size for figures, and the evidence named in `labelling.py` for text.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import pymupdf

from sample_data.generators.canvas import Box, padded, union
from sample_data.generators.labelling import (
    HEADER_ZONE,
    LIST_MARK,
    Region,
    Surroundings,
    confidence,
    label_block,
    without_digits,
)
from sample_data.generators.page_text import (
    Run,
    TextBlock,
    area,
    clipped,
    covered,
    inside_share,
    main_size,
    mupdf_blocks,
    parts_of,
    rows_of,
    upright_pages,
    words,
)

AXIS_ROOM = 26.0  # points around a figure in which detector "lines" takes short small type for axis labels
MIN_SIDE = 34.0  # points; smaller drawings are marks, not figures
LINES_REACH, BLOCKS_REACH = 4.0, 14.0  # points between drawings of one figure
SWALLOW = 16.0  # points around a figure in which detector "blocks" takes short texts for its labels
CELL_GAP = 1.25  # font sizes between words of different cells
ROW_PITCH = 3.9  # font sizes between rows of one table
FORMULA_REACH = 74.0  # points to the sides in which parts of one formula, such as its number, may stand
PARAGRAPH_PITCH = 1.62  # font sizes between lines of one paragraph


def detect_lines(pdf: bytes) -> list[list[Region]]:
    """Regions of each page by detector "lines": ruling lines, images, clusters of drawings, MuPDF's text blocks."""
    return [_lines_page(page) for page in upright_pages(pdf)]


def _lines_page(page: pymupdf.Page) -> list[Region]:
    blocks = mupdf_blocks(page)
    tables = _ruled_tables(page, words(page))
    figures = _drawn_figures(page, LINES_REACH, [region.box for region in tables])
    objects = tuple(region.box for region in (*tables, *figures))
    body = main_size([run for block in blocks for run in block.runs]) or 1.0
    around = Surroundings(page.rect.height, body, objects)
    # Small type beside a figure is an axis label: left out, but the figure is not widened for it.
    wide = [padded(region.box, AXIS_ROOM, AXIS_ROOM) for region in figures]
    texts = [
        label_block(block, around)
        for block in blocks
        if not covered(block.box, objects, 0.5)
        and not (block.size < 0.84 * body and len(block.text) <= 12 and covered(block.box, wide, 0.6))
    ]
    return _on_page([*tables, *figures, *texts], page)


def _ruled_tables(page: pymupdf.Page, page_words: Sequence[Run]) -> list[Region]:
    """Tables from PyMuPDF's line strategy, and from stacks of rules of the same length with text in columns."""
    tables = []
    for table in page.find_tables(strategy="lines").tables:
        cells = [cell for row in table.extract() for cell in row]
        filled = sum(bool(cell and cell.strip()) for cell in cells) / len(cells)
        if table.row_count >= 2 and table.col_count >= 2 and filled >= 0.3:
            evidence = -2.2 + 3.4 * filled + 0.2 * min(table.row_count, 9)
            tables.append(Region("Table", tuple(table.bbox), confidence(evidence)))
    for stack in _rule_stacks(page):
        box = union(stack)
        runs = [word for word in page_words if inside_share(word.tight, box) > 0.6]
        rows = {round(run.baseline) for run in runs}
        ends = [Counter(round((run.tight[side] - box[0]) / 12) for run in runs) for side in (0, 2)]
        columns = max(sum(count >= 0.4 * len(rows) for count in counts.values()) for counts in ends)
        if len(rows) >= 2 and columns >= 2 and not covered(box, [region.box for region in tables], 0.5):
            tables.append(Region("Table", box, confidence(-1.6 + 0.35 * min(len(stack), 8) + 0.3 * min(columns, 6))))
    return tables


def _rule_stacks(page: pymupdf.Page) -> list[list[Box]]:
    """Lines below the header, at least 40 points long, with the same ends; at least three of them."""
    stacks: dict[tuple[int, int], list[Box]] = {}
    rects = [drawing["rect"] for drawing in page.get_drawings()]
    for rect in sorted(rects, key=lambda rect: (rect.y0, rect.x0)):
        if rect.width >= 40 and rect.height <= 2 and rect.y0 > HEADER_ZONE * page.rect.height:
            stacks.setdefault((round(rect.x0 / 3), round(rect.x1 / 3)), []).append((rect.x0, rect.y0, rect.x1, rect.y1))
    return [stack for stack in stacks.values() if len(stack) >= 3]


def _drawn_figures(page: pymupdf.Page, reach: float, tables: Sequence[Box]) -> list[Region]:
    """Figures from images and from clusters of drawings that are not tables."""
    whole = page.rect.width * page.rect.height
    figures = []
    for box in _visible((info["bbox"] for info in page.get_image_info()), page):
        share = area(box) / whole
        figures.append(Region("Figure", box, confidence(1.2 + 4 * share - 9 * max(share - 0.6, 0))))
    # A line gets a fifth of a point of thickness, so that it has an area.
    rects = [drawing["rect"] for drawing in page.get_drawings()]
    drawn = [(r.x0, r.y0, max(r.x1, r.x0 + 0.2), max(r.y1, r.y0 + 0.2)) for r in rects]
    for box in _visible(page.cluster_drawings(x_tolerance=reach, y_tolerance=reach), page):
        if min(box[2] - box[0], box[3] - box[1]) >= MIN_SIDE and not covered(box, tables, 0.5):
            strokes = sum(inside_share(each, box) > 0.9 for each in drawn)
            evidence = -1.4 + 0.75 * math.log1p(strokes) + 5 * area(box) / whole
            figures.append(Region("Figure", box, confidence(evidence)))
    return [r for r in figures if not any(o.box != r.box and inside_share(r.box, o.box) > 0.9 for o in figures)]


def _visible(boxes: Iterable[Sequence[float]], page: pymupdf.Page) -> list[Box]:
    """Return the visible parts of boxes."""
    return [seen for box in boxes if (seen := clipped(tuple(box), page))]


def _on_page(regions: Sequence[Region], page: pymupdf.Page) -> list[Region]:
    """Return the visible parts of the regions, from top to bottom."""
    seen = [region._replace(box=box) for region in regions if (box := clipped(region.box, page))]
    return sorted(seen, key=lambda region: (region.box[1], region.box[0]))


def detect_blocks(pdf: bytes) -> list[list[Region]]:
    """Regions of each page by detector "blocks": gaps between words, aligned columns, large clusters of drawings."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        page_words = []
        for page in document:
            page.remove_rotation()
            page_words.append(words(page))
        body = main_size([word for page in page_words for word in page]) or 1.0
        repeated = _repeated_rows(page_words)
        return [_blocks_page(page, runs, body, repeated) for page, runs in zip(document, page_words, strict=True)]


def _repeated_rows(page_words: Sequence[Sequence[Run]]) -> frozenset[str]:
    """Texts of rows that occur on more than one page, digits apart."""
    counts = Counter(text for runs in page_words for text in {without_digits(_text(row)) for row in _rows(runs)})
    return frozenset(text for text, count in counts.items() if count > 1)


def _blocks_page(page: pymupdf.Page, page_words: Sequence[Run], body: float, repeated: frozenset[str]) -> list[Region]:
    height = page.rect.height
    outer = [row for row in _rows(page_words) if not 0.1 < row[0].baseline / height < 0.9]
    running = [row for row in outer if without_digits(_text(row)) in repeated]
    inner = [word for word in page_words if not any(word in row for row in running)]
    segments = [segment for row in _rows(inner) for segment in parts_of(row, CELL_GAP, LIST_MARK)]
    tables = _aligned_tables(page, segments)
    figures = _swallowing_figures(page, segments, [region.box for region in tables])
    objects = tuple(region.box for region in (*tables, *figures))
    formulas, rest = _formulas([segment for segment in segments if not covered(_box(segment), objects, 0.5)])
    around = Surroundings(height, body, objects, repeated)
    blocks = [*formulas, *_paragraphs(rest), *running]
    texts = [label_block(TextBlock(tuple(runs), _box(runs)), around) for runs in blocks]
    return _on_page([*tables, *figures, *texts], page)


def _box(runs: Sequence[Run]) -> Box:
    return union(run.tight for run in runs)


def _text(runs: Sequence[Run]) -> str:
    return " ".join(run.text for run in runs)


def _rows(page_words: Sequence[Run]) -> list[list[Run]]:
    """Words on a common baseline, left to right; raised words join the row below them."""
    return rows_of(page_words, 0.42, raised=0.36)


def _aligned_tables(page: pymupdf.Page, segments: Sequence[Sequence[Run]]) -> list[Region]:
    """Return runs of rows with short cells, confirmed by PyMuPDF's text strategy and judged by their contents."""
    regions = []
    for group in _cell_groups(segments):
        box = union(_box(segment) for segment in group)
        cells = [_text(segment) for segment in group]
        numbers = sum(any(char.isdigit() for char in cell) for cell in cells) / len(cells)
        short = sum(len(cell.split()) <= 4 for cell in cells) / len(cells)
        tables = page.find_tables(clip=pymupdf.Rect(padded(box, 3, 3)), strategy="text").tables
        aligned = max((inside_share(box, tuple(table.bbox)) for table in tables), default=0.0)
        evidence = -4.2 + 2.6 * numbers + 3.0 * short + 1.3 * aligned + 0.05 * min(len(cells), 40)
        if evidence > 0:
            regions.append(Region("Table", box, confidence(evidence)))
    return regions


def _cell_groups(segments: Sequence[Sequence[Run]]) -> list[list[Sequence[Run]]]:
    """Neighbouring rows with at least two cells of which most are short; at least three such rows."""
    by_row: dict[int, list[Sequence[Run]]] = {}
    for segment in segments:
        by_row.setdefault(round(segment[0].baseline), []).append(segment)
    groups: list[list[list[Sequence[Run]]]] = []
    last = -math.inf
    for baseline, row in sorted(by_row.items()):
        if len(row) >= 2 and sum(len(segment) <= 4 for segment in row) >= 0.7 * len(row):
            if baseline - last > ROW_PITCH * row[0][0].size:
                groups.append([])
            groups[-1].append(row)
            last = baseline
    return [[segment for row in group for segment in row] for group in groups if len(group) >= 3]


def _swallowing_figures(page: pymupdf.Page, segments: Sequence[Sequence[Run]], tables: Sequence[Box]) -> list[Region]:
    """Clusters of drawings, widened by the short texts in and around them, which are taken for labels."""
    figures = []
    for region in _drawn_figures(page, BLOCKS_REACH, tables):
        near = padded(region.box, SWALLOW, SWALLOW)
        labels = [_box(s) for s in segments if len(s) <= 6 and inside_share(_box(s), near) > 0.5]
        drawn = math.log(region.score / (1 - region.score))
        sure = confidence(drawn - 0.4 + 0.06 * min(len(labels), 12))
        figures.append(Region("Figure", union([region.box, *labels]), sure))
    return figures


def _formulas(segments: Sequence[Sequence[Run]]) -> tuple[list[list[Run]], list[Sequence[Run]]]:
    """Segments around an equals sign, joined to formulas, and the segments that are left."""
    rest = list(segments)
    joined = []
    for seed in segments:
        if "=" not in _text(seed) or not _wordless(seed) or seed not in rest:
            continue
        parts, more = [], [seed]
        while more:
            parts += more
            rest = [segment for segment in rest if segment not in more]
            near = padded(union(_box(part) for part in parts), FORMULA_REACH, 4)
            more = [s for s in rest if _wordless(s) and inside_share(_box(s), near) > 0.4]
        joined.append(sorted((run for part in parts for run in part), key=lambda run: run.tight[0]))
    return joined, rest


def _wordless(segment: Sequence[Run]) -> bool:
    """Whether a segment has no word of more than three letters."""
    return not any(len(word.text) > 3 and word.text.isalpha() for word in segment)


def _paragraphs(segments: Sequence[Sequence[Run]]) -> list[list[Run]]:
    """Segments below each other in the same size and weight; list marks begin a new block."""
    blocks: list[list[Sequence[Run]]] = []
    for segment in sorted(segments, key=lambda s: (s[0].baseline, s[0].tight[0])):
        block = next((block for block in reversed(blocks) if _continues(block, segment)), None)
        if block is None:
            blocks.append([segment])
        else:
            block.append(segment)
    return [[run for segment in block for run in segment] for block in blocks]


def _continues(block: Sequence[Sequence[Run]], segment: Sequence[Run]) -> bool:
    """Whether a segment is the next line of a block."""
    last, first = _box(block[-1]), _box(segment)
    size = main_size(segment)
    pitch = segment[0].baseline - block[-1][0].baseline
    if not 0.3 * size < pitch <= PARAGRAPH_PITCH * size or abs(main_size(block[-1]) - size) > 0.6:
        return False
    if LIST_MARK.match(segment[0].text + " ") or block[-1][-1].bold != segment[0].bold:
        return False
    share = min(last[2], first[2]) - max(last[0], first[0])
    if len(block) > 1 and pitch > 1.18 * (block[-1][0].baseline - block[-2][0].baseline):
        return False
    return share > 0.5 * min(last[2] - last[0], first[2] - first[0])
