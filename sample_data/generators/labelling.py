"""Labels and scores for text blocks, from size, weight, position, wording and neighbours.

Shared by both detectors; they differ in how they find blocks, figures and tables. Every score is a logistic function
of weighted evidence (`confidence`), so it moves with each piece of evidence and is never a constant or a random number.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from sample_data.generators.canvas import Box
from sample_data.generators.page_text import TextBlock

CAPTION = re.compile(r"^(Figure|Table|Map|Plate|Photo)\s+[A-Z]?\.?\d")
LIST_MARK = re.compile(r"^(•|\d{1,2}\.\s|\([a-z]\))")
NOTE_MARK = re.compile(r"^(\d{1,2}|[a-z*])\s+[A-Z]")
MATH = set("=∑√×−+/^Δ()")
HEADER_ZONE, FOOTER_ZONE = 0.085, 0.918  # shares of the page height
NEAR = 34.0  # points between a caption and its object


class Region(NamedTuple):
    """A detection: label, box in points of the displayed page, score in (0, 1)."""

    label: str
    box: Box
    score: float


@dataclass(frozen=True)
class Surroundings:
    """What is known about the page around a block."""

    height: float
    body_size: float
    objects: tuple[Box, ...]
    repeated: frozenset[str] = frozenset()


def confidence(evidence: float) -> float:
    """Evidence from minus to plus infinity as a score in (0, 1), four decimals.

    >>> confidence(0.0)
    0.5
    """
    return round(min(max(1 / (1 + math.exp(-evidence)), 0.0101), 0.9899), 4)


def without_digits(text: str) -> str:
    """Return the text as it would read on another page: digits removed."""
    return re.sub(r"\d+", "#", text.strip())


def label_block(block: TextBlock, around: Surroundings) -> Region:
    """Label of one text block and its score: the first rule that holds, from the most special to plain text."""
    for rule in (_running, _caption, _formula, _footnote, _list_item, _heading):
        judged = rule(block, around)
        if judged is not None:
            return Region(judged[0], block.box, confidence(judged[1]))
    likeness = -6 * abs(block.size / around.body_size - 1)
    return Region("Text", block.box, confidence(0.2 + min(len(block.text.split()), 60) / 18 + likeness))


Judged = tuple[str, float] | None  # label and evidence


def _running(block: TextBlock, around: Surroundings) -> Judged:
    """Page-header or Page-footer: in the outer zone, small, perhaps repeated on other pages."""
    top, bottom = block.box[1] / around.height, block.box[3] / around.height
    small = 1 - block.size / around.body_size
    if not (bottom < HEADER_ZONE or top > FOOTER_ZONE) or small < -0.2:
        return None
    header = bottom < HEADER_ZONE
    depth = 1 - bottom / HEADER_ZONE if header else (top - FOOTER_ZONE) / (1 - FOOTER_ZONE)
    again = without_digits(block.text) in around.repeated
    return "Page-header" if header else "Page-footer", 0.4 + 3 * depth + 1.4 * again + 2 * small


def _caption(block: TextBlock, around: Surroundings) -> Judged:
    """Caption: begins with the name of an object and stands next to one."""
    x0, y0, x1, y1 = block.box
    beside = [other for other in around.objects if min(x1, other[2]) > max(x0, other[0])]
    gap = min((max(other[1] - y1, y0 - other[3], 0.0) for other in beside), default=math.inf)
    near = max(1 - gap / NEAR, -1.0)
    lead = any(run.bold for run in block.runs[:2])
    if not CAPTION.match(block.text) or (near < 0 and not lead):
        return None
    return "Caption", 0.6 + 1.6 * near + 0.9 * lead - 0.25 * (block.line_count - 1)


def _formula(block: TextBlock, around: Surroundings) -> Judged:
    """Return formula: an equals sign, many signs and single italic letters, few words."""
    text = block.text
    words = sum(len(word) > 3 and word.isalpha() for word in text.split())
    if "=" not in text or words > 1 or len(text) > 90:
        return None
    share = sum(char in MATH for char in text) / len(text)
    return "Formula", -0.6 + 6 * share + 1.8 * block.italic_share - 0.8 * words


def _footnote(block: TextBlock, around: Surroundings) -> Judged:
    """Footnote: small type low on the page, with a mark in front."""
    low = block.box[1] / around.height
    small = 1 - block.size / around.body_size
    if low < 0.66 or small < 0.1 or not NOTE_MARK.match(block.text):
        return None
    raised = block.runs[0].size < 0.8 * block.size
    return "Footnote", -0.8 + 5 * small + 4 * (low - 0.66) + 1.1 * raised


def _list_item(block: TextBlock, around: Surroundings) -> Judged:
    """List-item: begins with a bullet or a number in the size of the text."""
    if not LIST_MARK.match(block.text) or block.bold_share > 0.6:
        return None
    fit = 1 - 5 * abs(block.size / around.body_size - 1)
    bullet = block.text.startswith("•")
    return "List-item", 0.5 + fit + 0.8 * bullet - 0.12 * (block.line_count - 2)


def _heading(block: TextBlock, around: Surroundings) -> Judged:
    """Title or Section-header: large or bold, few words, no full stop."""
    ratio = block.size / around.body_size
    words = len(block.text.split())
    bold = block.bold_share > 0.8
    if not (bold or ratio > 1.18) or words > 24 or block.text.endswith((".", ";")):
        return None
    if ratio > 1.5:
        high = 1 - block.box[1] / around.height
        return "Title", -1.6 + 1.5 * min(ratio, 3) + 0.9 * high - 0.04 * words
    return "Section-header", -0.4 + 3 * (ratio - 1) + 1.5 * bold - 0.06 * words
