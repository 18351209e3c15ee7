"""The text that PDFs have in the boxes of a ground truth: what is compared where no true text exists."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations
from evaluator.data.issues import Issue, examples
from evaluator.pdf.folder import Folders, PdfFolder
from evaluator.pdf.pool import PagePool, Words
from evaluator.pdf.problems import PageProblem
from evaluator.protocols.base import Count
from evaluator.system.threads import in_threads

FROM_PDFS: Final = "text of the PDFs"
"""Among the fixes of a ground truth, and so in signatures: its text is that of the PDFs."""
_NO_TEXT: Final = (
    "a page must have a text layer in its PDF and a known size to be compared with it",
    "These pages take no part; give the PDFs with --pdfs, and a text for scans.",
)


def with_pdf_text(source: Annotations, folder: Folders, count: Count | None = None) -> Annotations:
    """Return a ground truth whose items say what their PDFs have there, with a warning for pages without.

    A word belongs to the smallest box around its middle; an item without words has no text.
    """
    boxes, documents, images = source.boxes, PdfFolder(folder), source.images_by_page()
    order = np.argsort(boxes.entry, kind="stable")
    entries, starts = np.unique(boxes.entry[order], return_index=True)
    rows_of = dict(zip(entries.tolist(), np.split(order, starts[1:]), strict=True)) if len(entries) else {}
    pages = [(source.documents[source.page_document[entry]].name, int(source.page_index[entry])) for entry in rows_of]
    texts: list[str | None] = [None] * len(boxes)
    without: list[str] = []
    with PagePool() as pool:

        def read(page: tuple[str, int]) -> Words | None:
            try:
                return pool.words(*documents.find_page(*page, images))
            except PageProblem:
                return None

        for done, (words, entry) in enumerate(zip(in_threads(read, pages, most=2), rows_of, strict=True)):
            if count is not None:
                count(done, len(pages))
            corners = boxes.xyxy[rows_of[entry]]
            if source.unit == "pixels":
                size = np.full(2, np.nan) if source.page_size is None else source.page_size[entry]
                corners = corners / np.tile(size, 2)
            if words is None or not words.texts or np.isnan(corners).all():
                without.append(f"{pages[done][0]}, page {pages[done][1] + 1}")
                continue
            for row, text in zip(rows_of[entry].tolist(), _texts(corners, words), strict=True):
                texts[row] = text
    issues = source.issues
    if without:
        rule, fix = _NO_TEXT
        found = f"pages without {examples(without)}"
        issues += (Issue(severity="warning", file=source.name, place="", rule=rule, found=found, fix=fix),)
    return replace(source, boxes=replace(boxes, text=texts), fixes=(*source.fixes, FROM_PDFS), issues=issues, parts=())


def _texts(corners: FloatArray, words: Words) -> list[str | None]:
    middles = (words.boxes[:, :2] + words.boxes[:, 2:]) / 2.0
    owner: IntArray = np.full(len(middles), -1, dtype=np.int64)
    # The smallest one last, so that it keeps its words.
    for row in np.argsort(-np.prod(corners[:, 2:] - corners[:, :2], axis=1), kind="stable").tolist():
        owner[((middles >= corners[row, :2]) & (middles <= corners[row, 2:])).all(axis=1)] = row
    return [_lines(words, np.flatnonzero(owner == row)) for row in range(len(corners))]


def _lines(words: Words, some: IntArray) -> str | None:
    """Return words in the order of the document: a blank between two of one line, else a line end."""
    text, low, high = "", 0.0, 0.0
    for at in some.tolist():
        top, bottom = words.boxes[at, 1], words.boxes[at, 3]
        same = low <= (top + bottom) / 2.0 <= high
        text = words.texts[at] if not text else f"{text}{' ' if same else chr(10)}{words.texts[at]}"
        low, high = top, bottom
    return text or None
