"""The slices of the chosen results, searched once for each of them, and what the PDFs say of their boxes.

Reading the PDFs is a thread beside the views, shown and stopped by them. What was read is kept for all sessions under
the files, the PDF folder and the models; pages are cached by the digests of the documents, so reading again is quick.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import streamlit as st

from evaluator.drawing.payloads import SlicesPayload
from evaluator.drawing.slices import slices_payload
from evaluator.metrics.box_items import SliceOf
from evaluator.model.boxes import BoolArray
from evaluator.model.dataset import Dataset, JoinedBoxes
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.slices.attributes import FROM_PDFS, Attribute, OfPages
from evaluator.slices.conditions import Condition, subject
from evaluator.slices.pdf_pages import PdfAttributes, of_pdf_pages
from evaluator.slices.slices import Measure, Slices, boxes_in, find_slices
from pages.shared import pictures
from pages.shared.opened import Model, OpenedBoxes
from pages.shared.results import Result, ResultKey, result_key, result_of
from pages.shared.state import state

_READ_KEPT: Final = 8


# --- what the PDFs say -----------------------------------------------------------------------------------------


class ReadKey(NamedTuple):
    """What was read: the files, the PDF folder, and the models whose boxes have attributes."""

    digests: tuple[str, ...]
    pdfs: str
    models: tuple[int, ...]


class _Stopped(Exception):
    """Raised in the thread to end it."""


class Reading:
    """Pages that are being read, or were.

    Parameters
    ----------
    key : ReadKey
    total : int
        Pages.
    """

    def __init__(self, key: ReadKey, total: int) -> None:
        self.key, self.total, self.done = key, total, 0
        self.seen: PdfAttributes | None = None
        self.failed = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, dataset: Dataset, sides: Sequence[JoinedBoxes], folder: PdfFolder, pool: PagePool) -> None:
        """Begin."""

        def note(done: int, _total: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self.done = done

        def run() -> None:
            self.failed = True
            with contextlib.suppress(_Stopped):
                self.seen = of_pdf_pages(dataset, sides, folder, pool, note)
            self.failed = False

        self._thread = threading.Thread(target=run, daemon=True, name="slices of PDFs")
        self._thread.start()

    def stop(self) -> None:
        """End after the page of the moment."""
        self._stop.set()


@st.cache_resource(show_spinner=False)
def _read() -> OrderedDict[ReadKey, PdfAttributes]:
    """What this process has read to its end."""
    return OrderedDict()


def _read_key(loaded: OpenedBoxes) -> ReadKey:
    return ReadKey(loaded.digests, str(loaded.project.pdfs), tuple(model.index for model in loaded.pair))


def from_pdfs(loaded: OpenedBoxes) -> PdfAttributes | None:
    """What the PDFs say of pages and boxes; None while they are not read."""
    key, job = _read_key(loaded), state.slices_reading
    if job is not None and job.key == key and job.seen is not None and key not in _read():
        kept = _read()
        kept[key] = job.seen
        while len(kept) > _READ_KEPT:
            kept.popitem(last=False)
    return _read().get(key)


def read_pdfs(loaded: OpenedBoxes) -> None:
    """Begin to read; what this session has under way is stopped."""
    stop_reading()
    root = loaded.project.pdfs
    if root is None:
        return
    _read().pop(_read_key(loaded), None)
    dataset = loaded.dataset
    sides = [dataset.ground_truth, *(dataset.predictions[model.index] for model in loaded.pair)]
    job = Reading(_read_key(loaded), dataset.pages)
    state.slices_reading = job
    job.start(dataset, sides, PdfFolder(root), pictures.pool())


def stop_reading() -> None:
    """End the reading of this session."""
    if state.slices_reading is not None:
        state.slices_reading.stop()


def _pdfs(loaded: OpenedBoxes) -> str:
    """What was read, for the keys of caches; another text after reading again."""
    seen = from_pdfs(loaded)
    return "" if seen is None else f"{loaded.project.pdfs} {id(seen)}"


class _Known(NamedTuple):
    """Attributes from PDFs for a search; empty while they are not read."""

    of_pages: OfPages
    of_boxes: tuple[Attribute, ...]


def _known(loaded: OpenedBoxes, model: Model, measure: Measure) -> _Known:
    """Attributes of the pages, and of the boxes that a measure of a model is of."""
    seen = from_pdfs(loaded)
    if seen is None:
        return _Known({}, ())
    place = 0 if measure == "recall" else 1 + [each.index for each in loaded.pair].index(model.index)
    return _Known(seen.of_pages, seen.of_boxes[place])


# --- the search ------------------------------------------------------------------------------------------------


def chosen(loaded: OpenedBoxes, of: str, measure: Measure) -> tuple[Slices, SlicesPayload]:
    """The slices of one model, or of what B does differently from A, and how they are shown.

    Slices of ground-truth boxes show both models, slices of predictions the model whose predictions they are.

    Parameters
    ----------
    of : "A", "B" or "B-A"
    measure : "recall" or "precision"
        Recall for two models.
    """
    letters = ["A", "B"] if of == "B-A" else [of]
    searched = [model for model in loaded.pair if model.letter in letters]
    shown = loaded.pair if measure == "recall" else searched
    names = tuple((model.letter, model.name) for model in shown)
    return _searched(
        tuple(result_key(loaded, model) for model in searched),
        tuple(result_key(loaded, model) for model in shown),
        names,
        measure,
        _pdfs(loaded),
        _searched_results=[result_of(loaded, model) for model in searched],
        _results=[result_of(loaded, model) for model in shown],
        _of=_known(loaded, searched[0], measure),
    )


@st.cache_resource(max_entries=16, show_spinner="Searching for slices")
def _searched(
    keys: tuple[ResultKey, ...],
    shown: tuple[ResultKey, ...],
    names: tuple[tuple[str, str], ...],
    measure: Measure,
    pdfs: str,
    *,
    _searched_results: Sequence[Result],
    _results: Sequence[Result],
    _of: _Known,
) -> tuple[Slices, SlicesPayload]:
    """The slices of one or two results, and how they are shown; the other arguments say which results."""
    slices = find_slices(_searched_results, measure=measure, of_pages=_of.of_pages, of_boxes=_of.of_boxes)
    return slices, slices_payload(slices, names, _results, _searched_results)


def pages_in(payload: SlicesPayload) -> set[tuple[str, int]]:
    """Document and page index of every page that the slices list."""
    return {(page.document, page.index) for one in payload.slices for page in one.pages}


# --- the boxes of a slice --------------------------------------------------------------------------------------


def slice_of(conditions: Sequence[Condition], measure: Measure) -> SliceOf:
    """The boxes of a slice as a question of the gallery."""
    return SliceOf(measure, tuple((each.attribute, each.op, each.value) for each in conditions))


def slice_words(asked: SliceOf) -> str:
    """The slice of a question in words."""
    return subject([Condition(*each) for each in asked.conditions], _noun(asked.measure))


def _noun(measure: Measure) -> str:
    return "predictions" if measure == "precision" else "boxes"


def inside(loaded: OpenedBoxes, model: Model, asked: SliceOf) -> BoolArray | str:
    """The boxes of a slice of one model, bool; or why they are not known, in a sentence."""
    known, key = _known(loaded, model, asked.measure), result_key(loaded, model)
    try:
        return _inside(key, asked, _pdfs(loaded), _result=lambda: result_of(loaded, model), _of=known)
    except KeyError as missing:
        name = str(missing.args[0])
        hint = "read the PDFs in the view Slices first" if name in FROM_PDFS else "the open files do not say it"
        return f"The slice needs the attribute {name}: {hint}."


@st.cache_resource(max_entries=16, show_spinner=False)
def _inside(key: ResultKey, asked: SliceOf, pdfs: str, *, _result: Callable[[], Result], _of: _Known) -> BoolArray:
    """The boxes of a slice; KeyError for an attribute that is not known."""
    conditions = [Condition(*each) for each in asked.conditions]
    return boxes_in(conditions, _result(), asked.measure, of_pages=_of.of_pages, of_boxes=_of.of_boxes)
