"""Two extractors of structured poster text that see the bytes of a PDF and nothing else.

`across` reads the words of the sheet line by line over its whole width, as a plain text export does. `columns` groups
blocks of text into columns first. Both tell titles by type size, and both make the mistakes that follow: nothing is
added or removed by hand.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from sample_data.generators.canvas import union
from sample_data.generators.page_text import Run, TextBlock, main_size, mupdf_blocks, rows_of, upright_pages, words

Json = dict[str, object]
Section = tuple[str, list[str]]  # title and texts

CAPTION = re.compile(r"^(Figure|Table) \d+\.")
# Type this much larger than most of the sheet is a title; smaller type is that of charts and small print.
HEADING_SIZE, TITLE_SIZE, SMALL_SIZE = 1.12, 1.9, 0.86
# Two words stand on one line when their baselines differ by less, in type sizes.
SAME_LINE = 0.5
COLUMN_GAP = 0.6


def extract_across(pdf: bytes) -> Json:
    """Words from left to right and top to bottom, over all columns; a line of larger type begins a section."""
    pages = upright_pages(pdf)
    runs = words(next(pages))
    body = main_size(runs)
    title: list[str] = []
    sections: list[Section] = []
    for line in rows_of(runs, SAME_LINE):
        if median(run.size for run in line) >= TITLE_SIZE * body:
            title += [run.text for run in line]
            continue
        heading = [run for run in line if run.bold and run.size >= HEADING_SIZE * body]
        text = [run.text for run in line if run not in heading]
        if heading or not sections:
            sections.append((" ".join(run.text for run in heading), []))
        if text:
            sections[-1][1].append(" ".join(text))
    return _poster(" ".join(title), [], sections, [])


def extract_columns(pdf: bytes) -> Json:
    """Blocks of text column by column; people, captions and sections are told by place, wording and type."""
    pages = upright_pages(pdf)
    blocks = [_joined(block) for block in mupdf_blocks(next(pages))]
    body = main_size([run for block in blocks for run in block.runs])
    titles = [block for block in blocks if block.size >= TITLE_SIZE * body]
    below = max((block.box[3] for block in titles), default=0.0)
    text = [block for block in blocks if block not in titles and block.size >= SMALL_SIZE * body]
    headings = [block for block in text if _is_heading(block, body)]
    start = min((block.box[1] for block in headings), default=below)
    people = [block for block in text if block.box[1] < start]
    sections: list[Section] = []
    captions: list[str] = []
    for block in _by_column([block for block in text if block not in people]):
        if _is_heading(block, body):
            sections.append((block.text, []))
        elif CAPTION.match(block.text):
            captions.append(block.text)
        elif sections:
            sections[-1][1].append(block.text)
        else:
            sections.append(("", [block.text]))
    return _poster(" ".join(block.text for block in titles), [block.text for block in people], sections, captions)


def _poster(title: str, people: Sequence[str], sections: Sequence[Section], captions: Sequence[str]) -> Json:
    """Return the findings of an extractor in the schema of the reference."""
    content: Json = {"titles": [{"title": title}]}
    if people:
        content["creators"] = [{"name": name} for name in people[0].split("; ")]
    if len(people) > 1:
        content["conference"] = {"conferenceName": " ".join(people[1:])}
    texts = [{"sectionTitle": title, "sectionContent": "\n".join(lines)} for title, lines in sections]
    content["posterContent"] = {"sections": texts}
    if captions:
        for kind, key in (("Figure", "imageCaptions"), ("Table", "tableCaptions")):
            own = [{"captionParts": [caption]} for caption in captions if caption.startswith(kind)]
            content[key] = {"captions": own}
    return content


def _joined(block: TextBlock) -> TextBlock:
    """Return a block whose words that were divided at the end of a line are whole again."""
    runs: list[Run] = []
    for run in block.runs:
        if runs and runs[-1].text.rstrip().endswith("-") and run.text[:1].islower():
            runs[-1] = replace(runs[-1], text=runs[-1].text.rstrip()[:-1] + run.text)
        else:
            runs.append(run)
    return replace(block, runs=tuple(runs))


def _is_heading(block: TextBlock, body: float) -> bool:
    return block.size >= HEADING_SIZE * body and block.bold_share > 0.5


def _by_column(blocks: Sequence[TextBlock]) -> list[TextBlock]:
    """Blocks in the order of the columns that their boxes form, each from top to bottom."""
    columns: list[list[TextBlock]] = []
    for block in sorted(blocks, key=lambda block: block.box[0]):
        for column in columns:
            x0, _, x1, _ = union(other.box for other in column)
            narrower = min(block.box[2] - block.box[0], x1 - x0)
            if min(block.box[2], x1) - max(block.box[0], x0) > COLUMN_GAP * narrower:
                column.append(block)
                break
        else:
            columns.append([block])
    return [block for column in columns for block in sorted(column, key=lambda block: (block.box[1], block.box[0]))]
