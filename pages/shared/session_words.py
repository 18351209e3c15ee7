"""The count of lost text over many pages: a thread beside the views that reads their words, shown and stopped by them.

A count belongs to the files, the thresholds and the document that it was started for; one that is finished is kept for
all sessions under these. Words are cached by the digests of the PDFs, so a second count at other thresholds reads less.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import streamlit as st

from evaluator.drawing.text_lost import TextSummary, count_pages
from evaluator.model.boxes import FloatArray
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import snapshot
from pages.shared import session

_FINISHED_KEPT: Final = 64
_JOB: Final = "word_count"


class Count:
    """One count that is under way, stopped or finished.

    Parameters
    ----------
    key : tuple
        What it is of.
    total : int
        Pages that it will look at.
    """

    def __init__(self, key: tuple[Any, ...], total: int) -> None:
        self.key = key
        self.total = total
        self.summary: TextSummary | None = None
        self.failed = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def finished(self) -> bool:
        """Whether all of its pages were looked at."""
        return self.summary is not None and self.summary.pages == self.total

    def start(self, steps: Callable[[], Any]) -> None:
        """Begin; `steps` gives the summaries one after the other."""

        def run() -> None:
            self.failed = True
            for summary in steps():
                self.summary = summary
                if self._stop.is_set():
                    break
            self.failed = False

        self._thread = threading.Thread(target=run, daemon=True, name="word count")
        self._thread.start()

    def stop(self) -> None:
        """End after the page of the moment."""
        self._stop.set()


@st.cache_resource(show_spinner=False)
def _finished() -> OrderedDict[tuple[Any, ...], TextSummary]:
    """Counts of this process that came to their end."""
    return OrderedDict()


def _scope(found: session.Opened, model: session.Model, document: str | None) -> tuple[Any, ...]:
    """What a count is of."""
    return (*session.result_key(found, model), str(found.files.pdfs), document)


def counted(found: session.Opened, model: session.Model, document: str | None) -> TextSummary | None:
    """The finished count of a document, or of all; None when there is none."""
    key = _scope(found, model, document)
    job = under_way()
    if job is not None and job.key == key and job.finished and job.summary is not None:
        finished = _finished()
        finished[key] = job.summary
        while len(finished) > _FINISHED_KEPT:
            finished.popitem(last=False)
    return _finished().get(key)


def under_way() -> Count | None:
    """The count that this session started last."""
    job: Count | None = st.session_state.get(_JOB)
    return job


def rows_of(found: session.Opened, document: str | None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows of the pages of a document, or of all."""
    dataset = found.dataset
    if document is None:
        return np.arange(dataset.pages)
    code = [each.doc_id for each in dataset.documents].index(document)
    return np.flatnonzero(dataset.page_document == code)


def start(found: session.Opened, model: session.Model, document: str | None) -> None:
    """Begin to count; a count that this session has under way is stopped."""
    stop()
    rows = rows_of(found, document)
    result = session.result_of(found, model)
    words_of = _reader(found, session.pool())
    job = Count(_scope(found, model, document), len(rows))
    st.session_state[_JOB] = job
    job.start(lambda: _counting(result, rows, words_of))


def _counting(
    result: snapshot.ThresholdResult, rows: np.ndarray[Any, Any], words_of: Callable[[int], FloatArray | None]
) -> Any:  # noqa: ANN401 - an iterator of summaries
    return count_pages(result, rows, words_of)


def stop() -> None:
    """End the count of this session."""
    job = under_way()
    if job is not None:
        job.stop()


def _reader(found: session.Opened, pool: PagePool) -> Callable[[int], FloatArray | None]:
    """What reads the words of a page by its row, outside of any session."""
    dataset, folder = found.dataset, None if found.files.pdfs is None else PdfFolder(found.files.pdfs)

    def words_of(row: int) -> FloatArray | None:
        if folder is None:
            return None
        name = dataset.documents[dataset.page_document[row]].name
        try:
            return pool.words(folder.find(name), int(dataset.page_index[row])).boxes
        except PageProblem:
            return None

    return words_of
