"""Labels and scores for text blocks, from size, weight, position, wording and neighbours.

Shared by both detectors; they differ in how they find blocks, figures and tables. Every score is a logistic function
of weighted evidence (`confidence`), so it moves with each piece of evidence and is never a constant or a random number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
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
    """The text as it would read on another page: digits removed."""
    return re.sub(r"\d+", "#", text.strip())


def distance_to(box: Box, objects: Sequence[Box]) -> float:
    """Vertical distance to the nearest object that shares a column with the box; infinite without one."""
    gaps = [
        max(other[1] - box[3], box[1] - other[3], 0.0)
        for other in objects
        if min(box[2], other[2]) - max(box[0], other[0]) > 0
    ]
    return min(gaps, default=math.inf)


def label_block(block: TextBlock, around: Surroundings) -> Region:
    """Label of one text block and its score: the first rule that holds, from the most special to plain text."""
    for rule in (_running, _caption, _formula, _footnote, _list_item, _heading):
        region = rule(block, around)
        if region is not None:
            return region
    words = len(block.text.split())
    likeness = -6 * abs(block.size / around.body_size - 1)
    return Region("Text", block.box, confidence(0.2 + min(words, 60) / 18 + likeness))


def _running(block: TextBlock, around: Surroundings) -> Region | None:
    """Page-header or Page-footer: in the outer zone, small, perhaps repeated on other pages."""
    x0, y0, x1, y1 = block.box
    del x0, x1
    label, depth = "", 0.0
    if y1 < HEADER_ZONE * around.height:
        label, depth = "Page-header", 1 - y1 / (HEADER_ZONE * around.height)
    elif y0 > FOOTER_ZONE * around.height:
        label, depth = "Page-footer", (y0 / around.height - FOOTER_ZONE) / (1 - FOOTER_ZONE)
    if not label or block.size > 1.2 * around.body_size:
        return None
    again = without_digits(block.text) in around.repeated
    return Region(label, block.box, confidence(0.4 + 3 * depth + 1.4 * again + 2 * (1 - block.size / around.body_size)))


def _caption(block: TextBlock, around: Surroundings) -> Region | None:
    """Caption: begins with the name of an object and stands next to one."""
    if not CAPTION.match(block.text):
        return None
    gap = distance_to(block.box, around.objects)
    near = max(1 - gap / NEAR, -1.0) if math.isfinite(gap) else -1.0
    lead = any(run.bold for run in block.runs[:2])
    if near < 0 and not lead:
        return None
    return Region("Caption", block.box, confidence(0.6 + 1.6 * near + 0.9 * lead - 0.25 * (block.line_count - 1)))


def _formula(block: TextBlock, around: Surroundings) -> Region | None:
    """Formula: an equals sign, many signs and single italic letters, few words."""
    text = block.text
    words = [word for word in text.split() if len(word) > 3 and word.isalpha()]
    signs = sum(char in MATH for char in text)
    if "=" not in text or len(words) > 1 or len(text) > 90:
        return None
    share = signs / len(text)
    del around
    return Region("Formula", block.box, confidence(-0.6 + 6 * share + 1.8 * block.italic_share - 0.8 * len(words)))


def _footnote(block: TextBlock, around: Surroundings) -> Region | None:
    """Footnote: small type low on the page, with a mark in front."""
    low = block.box[1] / around.height
    small = 1 - block.size / around.body_size
    if low < 0.66 or small < 0.1 or not NOTE_MARK.match(block.text):
        return None
    raised = block.runs[0].size < 0.8 * block.size
    return Region("Footnote", block.box, confidence(-0.8 + 5 * small + 4 * (low - 0.66) + 1.1 * raised))


def _list_item(block: TextBlock, around: Surroundings) -> Region | None:
    """List-item: begins with a bullet or a number in the size of the text."""
    if not LIST_MARK.match(block.text) or block.bold_share > 0.6:
        return None
    fit = 1 - 5 * abs(block.size / around.body_size - 1)
    bullet = block.text.startswith("•")
    return Region("List-item", block.box, confidence(0.5 + fit + 0.8 * bullet - 0.12 * (block.line_count - 2)))


def _heading(block: TextBlock, around: Surroundings) -> Region | None:
    """Title or Section-header: large or bold, few words, no full stop."""
    ratio = block.size / around.body_size
    words = len(block.text.split())
    bold = block.bold_share > 0.8
    if not (bold or ratio > 1.18) or words > 24 or block.text.endswith((".", ";")):
        return None
    if ratio > 1.5:
        high = 1 - block.box[1] / around.height
        return Region("Title", block.box, confidence(-1.6 + 1.5 * min(ratio, 3) + 0.9 * high - 0.04 * words))
    return Region("Section-header", block.box, confidence(-0.4 + 3 * (ratio - 1) + 1.5 * bold - 0.06 * words))
