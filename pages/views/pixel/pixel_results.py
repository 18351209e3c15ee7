"""The view Confusion: what both modes draw; of pixels the cached results, the chosen cell, and page sizes."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

import msgspec
import numpy as np
import streamlit as st

from evaluator.data.issues import BadInput, Issue, displayed
from evaluator.metrics.results import threshold_text
from evaluator.protocols import pixel
from evaluator.protocols.pixel.inputs import Classes, MissingPage, PageSizes
from pages.app import frame, pictures, widgets
from pages.app.cache import Cached
from pages.app.results import score_threshold
from pages.app.session_files import BOXES, LoadedBoxes
from pages.app.state import Field, Scope, State, state

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
OF: Final = ("A", "B", "A-B", "B on A")
"""What the matrix is of: a model, the difference of both, or one model against the other."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A pixel count, or None with why there is none: `issues` are errors then, else warnings."""

    result: pixel.PixelResult | None
    issues: tuple[Issue, ...]


_FILES: Final = Cached[pixel.PixelInputs](4)
_COUNTED: Final = Cached[Counted](24, spinner="Counting the pixels")


def result_of(loaded: LoadedBoxes, of: str) -> Counted:
    """Return the count of model A or B against the ground truth, or of B against A ("B on A")."""
    letters = {model.letter: model for model in loaded.pair}
    second = letters["B" if of == "B on A" else of]
    sides = loaded.dataset.ground_truth.source, loaded.dataset.predictions[second.index].source
    floors = 0.0, score_threshold(loaded, second)
    if of == "B on A":
        first = letters["A"]
        sides = loaded.dataset.predictions[first.index].source, sides[1]
        floors = score_threshold(loaded, first), floors[1]
    known = page_sizes(loaded)
    classes, missing, size = state.pixel_classes, state.pixel_missing, state.pixel_size
    key = (*map(BOXES.digest, sides), classes, missing, size, known.digest)

    def inputs() -> pixel.PixelInputs:
        return pixel.PixelInputs.of(
            *sides, classes=classes, missing_page=missing, page_sizes=known.sizes, page_size=size
        )

    def counted() -> Counted:
        try:
            files = _FILES.of(key, inputs)
        except BadInput as problem:
            return Counted(None, problem.issues)
        result = files.evaluate(first_min_score=floors[0], min_score=floors[1])
        return Counted(result, result.issues)

    return _COUNTED.of((key, floors), counted)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Page sizes by document id and page index, in points of a PDF or pixels of an image, with a digest."""

    of: tuple[object, ...]
    sizes: PageSizes
    digest: str


_SIZES: Final[Field[Sizes | None]] = Field(None, "pixel_sizes")


def page_sizes(loaded: LoadedBoxes) -> Sizes:
    """Return page sizes measured from PDFs and images; empty when each ground-truth page has its own."""
    dataset = loaded.dataset
    sides = (dataset.ground_truth, *dataset.predictions)
    of = (loaded.project.pdfs, pictures.pdf_listing(loaded.project.pdfs), tuple(side.source.sha256 for side in sides))
    kept = _SIZES.get()
    if kept is not None and kept.of == of:
        return kept
    given = dataset.ground_truth.source.page_size
    sizes: dict[tuple[str, int], tuple[float, float]] = {}
    if loaded.project.pdfs is not None and (given is None or np.isnan(given).any()):
        sizes = _measured(loaded)
    digest = hashlib.sha256(msgspec.json.encode(sorted((*key, *size) for key, size in sizes.items()))).hexdigest()
    kept = Sizes(of, sizes, digest)
    _SIZES.set(kept)
    return kept


def _measured(loaded: LoadedBoxes) -> dict[tuple[str, int], tuple[float, float]]:
    sizes: dict[tuple[str, int], tuple[float, float]] = {}
    dataset, documents = loaded.dataset, loaded.dataset.documents
    pages: dict[int, list[int]] = {}
    for code, index in zip(dataset.page_document.tolist(), dataset.page_index.tolist(), strict=True):
        pages.setdefault(code, []).append(index)
    bar = st.progress(0.0, "Measuring the pages") if len(documents) > 1 else None
    for count, document in enumerate(documents):
        if bar is not None:
            bar.progress(count / len(documents), f"Measuring the pages of document {count + 1:,} of {len(documents):,}")
        # A page without a size is said by the count itself, with its place.
        measured = pictures.sizes_of(loaded, document.doc_id, pages.get(count, ()))
        sizes |= {(document.doc_id, index): size for index, size in measured.items() if min(size) > 0.0}
    if bar is not None:
        bar.empty()
    return sizes


def matrix_choices(loaded: LoadedBoxes) -> tuple[str, ...]:
    """Return what the matrix can be of: only "A" with one model."""
    return OF if len(loaded.pair) == 2 else OF[:1]


def chosen_matrix(loaded: LoadedBoxes) -> str:
    """Return what the matrix is of."""
    return state.pixel_of if state.pixel_of in matrix_choices(loaded) else "A"


def model_switch(loaded: LoadedBoxes, choices: Sequence[str], **look: Any) -> None:  # noqa: ANN401 - of Streamlit
    """Draw the choice of what the matrix is of."""
    names = {model.letter: frame.letter_and_name(model) for model in loaded.pair}
    names |= {"A-B": "A − B", "B on A": "B vs A"}
    state.pixel_of = state.pixel_of if state.pixel_of in choices else choices[0]
    widgets.switch("Model", {of: frame.escaped(names[of]) for of in choices}, State.pixel_of, **look)


def cell_card(head: str, detail: str) -> None:
    """Draw what the chosen cell is, and its numbers."""
    st.html(
        f'<div class="ls-cell{frame.theme_class()}"><b>{html.escape(displayed(head))}</b>'
        f"<span>{html.escape(displayed(detail))}</span></div>"
    )


def thresholds(loaded: LoadedBoxes) -> str:
    """Return the score thresholds of all models, for a signature."""
    every = [f"≥ {threshold_text(score_threshold(loaded, each))} ({each.letter})" for each in loaded.pair]
    return f"score {', '.join(every)}"


def chosen_cell(classes: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the chosen cell, None when none was chosen or it does not fit these classes."""
    row, column = state.pixel_row, state.pixel_column
    return (classes.index(row), classes.index(column)) if row in classes and column in classes else None


def choose_cell(classes: tuple[str, ...], row: int, column: int) -> None:
    """Choose a cell; the page that is shown follows it."""
    state.pixel_row = classes[row]
    state.pixel_column = classes[column]
    state.pixel_follow = True


_CLASSES: Final[dict[Classes, str]] = {
    "auto": "Recognised by label names",
    "same": "The same",
    "different": "Different",
}
_MISSING: Final[dict[MissingPage, str]] = {"penalize": "Counts as background", "ignore": "Is left out"}


def count_choices() -> None:
    """Draw whether both sides have the same classes, and what a page of only one side counts as."""
    widgets.choice("Classes of both sides", _CLASSES, State.pixel_classes)
    widgets.choice("Page missing on one side", _MISSING, State.pixel_missing)
