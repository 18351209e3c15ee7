"""The count of lost text over many pages: a thread beside the views that reads their words, shown and stopped by them.

A count belongs to the files, the thresholds and the document that it was started for; one that is finished is kept for
all sessions under these. Words are cached by the digests of the PDFs, so a second count at other thresholds reads less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np
import streamlit as st

from evaluator.drawing.text_lost import TextSummary, count_pages
from evaluator.model.boxes import FloatArray, IntArray
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.system.recent import Recent
from pages.shared import pictures
from pages.shared.opened import Model, OpenedBoxes
from pages.shared.reading import PageJob
from pages.shared.results import ResultKey, result_key, result_of
from pages.shared.state import Field

_FINISHED_KEPT: Final = 64


class CountKey(NamedTuple):
    """What a count is of: a result, the PDF folder, and a document or all."""

    result: ResultKey
    pdfs: str
    document: str | None


class Count(PageJob[CountKey]):
    """One count that is under way, stopped or finished."""

    def __init__(self, key: CountKey, total: int) -> None:
        super().__init__(key, total)
        self.summary: TextSummary | None = None

    @property
    def finished(self) -> bool:
        """Whether all of its pages were looked at."""
        return self.summary is not None and self.summary.pages == self.total

    def start(self, steps: Callable[[], Iterable[TextSummary]]) -> None:
        """Begin; `steps` gives the summaries one after the other."""

        def count() -> None:
            for summary in steps():
                self.summary = summary
                if self._stop.is_set():
                    break

        self._begin(count, "word count")


COUNT: Final[Field[Count | None]] = Field(None, "word_count")
"""The count of the session."""


@st.cache_resource(show_spinner=False)
def _finished() -> Recent[CountKey, TextSummary]:
    """Counts of this process that came to their end."""
    return Recent(most=_FINISHED_KEPT)


def _key(loaded: OpenedBoxes, model: Model, document: str | None) -> CountKey:
    """What a count is of."""
    return CountKey(result_key(loaded, model), str(loaded.project.pdfs), document)


def counted(loaded: OpenedBoxes, model: Model, document: str | None) -> TextSummary | None:
    """The finished count of a document, or of all; None when there is none."""
    key = _key(loaded, model, document)
    job = COUNT.get()
    if job is not None and job.key == key and job.finished and job.summary is not None:
        _finished().put(key, job.summary)
    return _finished().get(key)


def rows_of(loaded: OpenedBoxes, document: str | None) -> IntArray:
    """Rows of the pages of a document, or of all."""
    dataset = loaded.dataset
    if document is None:
        return np.arange(dataset.pages)
    return np.flatnonzero(dataset.page_document == dataset.document_code[document])


def start(loaded: OpenedBoxes, model: Model, document: str | None) -> None:
    """Begin to count; a count that this session has under way is stopped."""
    stop()
    rows = rows_of(loaded, document)
    result = result_of(loaded, model)
    words_of = _reader(loaded, pictures.pool())
    job = Count(_key(loaded, model, document), len(rows))
    COUNT.set(job)
    job.start(lambda: count_pages(result, rows, words_of))


def stop() -> None:
    """End the count of this session."""
    job = COUNT.get()
    if job is not None:
        job.stop()


def _reader(loaded: OpenedBoxes, pool: PagePool) -> Callable[[int], FloatArray | None]:
    """What reads the words of a page by its row, outside of any session."""
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
