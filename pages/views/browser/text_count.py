"""The count of lost text over many pages, kept for all sessions by files, thresholds and document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from evaluator.components.viewer.text_lost import TextSummary, count_pages
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from pages.app import pictures
from pages.app.jobs import Jobs, ReportProgress
from pages.app.results import ResultKey, result_key, result_of
from pages.app.session_files import LoadedBoxes, Model

_FINISHED_KEPT: Final = 64


class CountKey(NamedTuple):
    """What a count is of: a result, the PDF folder, and a document or all."""

    result: ResultKey
    pdfs: str
    document: str | None


COUNT: Final[Jobs[CountKey, TextSummary]] = Jobs("word_count", kept=_FINISHED_KEPT)
"""The count of the session, and those of all sessions that came to their end."""


def _key(loaded: LoadedBoxes, model: Model, document: str | None) -> CountKey:
    return CountKey(result_key(loaded, model), str(loaded.project.pdfs), document)


def finished_count(loaded: LoadedBoxes, model: Model, document: str | None) -> TextSummary | None:
    """Return the finished count of a document, or of all; None when there is none."""
    return COUNT.result(_key(loaded, model, document))


def page_rows(loaded: LoadedBoxes, document: str | None) -> IntArray:
    """Return the rows of the pages of a document, or of all."""
    dataset = loaded.dataset
    if document is None:
        return np.arange(dataset.pages)
    return np.flatnonzero(dataset.page_document == dataset.document_code[document])


def start_count(loaded: LoadedBoxes, model: Model, document: str | None) -> None:
    """Begin to count; a count that this session has under way is stopped."""
    rows, result = page_rows(loaded, document), result_of(loaded, model)
    words_of = _reader(loaded, pictures.pool())

    def count(note: ReportProgress) -> TextSummary:
        for summary in count_pages(result, rows, words_of):
            note(summary.pages, len(rows))
        return summary

    COUNT.start(_key(loaded, model, document), count, total=len(rows))


def _reader(loaded: LoadedBoxes, pool: PagePool) -> Callable[[int], FloatArray | None]:
    dataset, folder = loaded.dataset, None if loaded.project.pdfs is None else PdfFolder(loaded.project.pdfs)

    def words_of(row: int) -> FloatArray | None:
        if folder is None:
            return None
        name = dataset.documents[dataset.page_document[row]].name
        try:
            page = folder.find_page(name, int(dataset.page_index[row]), dataset.page_images)
            return pool.words(page.path, page.page_index).boxes
        except PageProblem:
            return None

    return words_of
