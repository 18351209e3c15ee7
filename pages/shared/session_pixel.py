"""What the view Pixel confusion has chosen and computed: its cached results, page sizes and the chosen cell.

Results are cached for all sessions under digests of the files, the sizes of the pages and the options. Sizes of pages
come from the files, else from the PDFs, which the render pool measures once per session; a page whose size nobody
gives has one only when the reader says so.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, Literal, get_args

import msgspec
import numpy as np
import streamlit as st

from evaluator.drawing.matrix import COLOURS, SHOWS
from evaluator.metrics.results import threshold_text
from evaluator.model.dataset import Annotations
from evaluator.model.issues import BadInput, Issue
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import pixel
from evaluator.protocols.pixel.sides import Classes, MissingPage, PageSizes
from pages.shared import session

Scope = Literal["page", "document", "dataset"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
OF: Final = ("A", "B", "A-B", "B on A")
"""What the matrix is of: a model, the difference of both, or one model against the other."""
SIZES: Final = "pixel_sizes"


def _size(text: str) -> tuple[float, float]:
    """Reads a page size such as 612x792 of an address."""
    width, height = (float(part) for part in text.split("x"))
    if not (0.0 < width < 1e6 and 0.0 < height < 1e6):
        raise ValueError(text)
    return width, height


session.own_choice("scope", "pixel_scope", "dataset", session.one_of(SCOPES))
session.own_choice("shows", "pixel_shows", "row", session.one_of(tuple(SHOWS)))
session.own_choice("colour", "pixel_colour", "steps", session.one_of(COLOURS))
session.own_choice("of", "pixel_of", "A", session.one_of(OF))
session.own_choice("classes", "pixel_classes", "auto", session.one_of(pixel.CLASSES))
session.own_choice("missing", "pixel_missing", "penalize", session.one_of(pixel.MISSING_PAGE))
session.own_choice("page_size", "pixel_size", None, _size)
session.own_choice("row", "pixel_row", None, str)
session.own_choice("column", "pixel_column", None, str)


@dataclass(frozen=True, slots=True)
class Counted:
    """A matrix that can be shown, or why there is none.

    Attributes
    ----------
    result : PixelResult or None
    issues : tuple of Issue
        All of the count: errors when there is no result, else warnings.
    """

    result: pixel.PixelResult | None
    issues: tuple[Issue, ...]


@st.cache_resource(max_entries=24, show_spinner="Counting the pixels")
def _counted(
    first: str,
    second: str,
    options: tuple[Classes, MissingPage, tuple[float, float] | None],
    floors: tuple[float, float],
    sizes: str,
    *,
    _sides: tuple[Annotations, Annotations],
    _sizes: PageSizes,
) -> Counted:
    """The result of two sides by the digests of everything that it follows from."""
    classes, missing_page, page_size = options
    try:
        result = pixel.evaluate(
            *_sides,
            classes=classes,
            missing_page=missing_page,
            page_sizes=_sizes,
            page_size=page_size,
            first_min_score=floors[0],
            min_score=floors[1],
        )
    except BadInput as problem:
        return Counted(None, problem.issues)
    return Counted(result, result.issues)


def result_of(found: session.Opened, of: str) -> Counted:
    """The count of model A or B against the ground truth, or of B against A ("B on A").

    Returns
    -------
    Counted
    """
    letters = {model.letter: model for model in session.models(found)}
    second = letters["B" if of == "B on A" else of]
    sides = found.dataset.ground_truth.source, found.dataset.predictions[second.index].source
    floors = 0.0, session.score_threshold(second)
    if of == "B on A":
        first = letters["A"]
        sides = found.dataset.predictions[first.index].source, sides[1]
        floors = session.score_threshold(first), floors[1]
    known = page_sizes(found)
    digests = [f"{side.sha256}/{side.name}/{side.side}" for side in sides]
    return _counted(
        digests[0],
        digests[1],
        (
            session.chosen("pixel_classes", "auto"),
            session.chosen("pixel_missing", "penalize"),
            session.chosen("pixel_size"),
        ),
        floors,
        known.digest,
        _sides=sides,
        _sizes=known.sizes,
    )


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of pages from the PDFs.

    Attributes
    ----------
    of : tuple
        What they were measured for.
    sizes : mapping
        Width and height in points by document id and page index.
    digest : str
        Of the sizes.
    """

    of: tuple[object, ...]
    sizes: PageSizes
    digest: str


def page_sizes(found: session.Opened) -> Sizes:
    """Sizes of the pages from the PDFs of this session, measured once, with progress.

    Returns
    -------
    Sizes
        Without those of documents that cannot be found or measured, and empty when every page of the ground truth has
        a size in its file.
    """
    dataset = found.dataset
    sides = (dataset.ground_truth, *dataset.predictions)
    of = (found.files.pdfs, session.pdf_listing(found.files.pdfs), tuple(side.source.sha256 for side in sides))
    kept: Sizes | None = session.chosen(SIZES)
    if kept is not None and kept.of == of:
        return kept
    given = dataset.ground_truth.source.page_size
    sizes: dict[tuple[str, int], tuple[float, float]] = {}
    if found.files.pdfs is not None and (given is None or np.isnan(given).any()):
        sizes = _measured(found)
    digest = hashlib.sha256(msgspec.json.encode(sorted((*key, *size) for key, size in sizes.items()))).hexdigest()
    kept = Sizes(of, sizes, digest)
    session.choose(SIZES, kept)
    return kept


def _measured(found: session.Opened) -> dict[tuple[str, int], tuple[float, float]]:
    """Sizes of the pages of every document of the dataset."""
    sizes: dict[tuple[str, int], tuple[float, float]] = {}
    documents = found.dataset.documents
    bar = st.progress(0.0, "Measuring the pages") if len(documents) > 1 else None
    for count, document in enumerate(documents):
        if bar is not None:
            bar.progress(count / len(documents), f"Measuring the pages of document {count + 1:,} of {len(documents):,}")
        try:
            measured = session.sizes_of(found, document.doc_id)
        except PageProblem:
            continue  # a page without a size is said by the count itself, with its place
        for index, (width, height) in enumerate(measured.tolist()):
            if width > 0.0 and height > 0.0:
                sizes[document.doc_id, index] = (width, height)
    if bar is not None:
        bar.empty()
    return sizes


def letters_of(found: session.Opened) -> tuple[str, ...]:
    """What the matrix can be of: with one model only that."""
    return OF if len(session.models(found)) == 2 else OF[:1]


def chosen_of(found: session.Opened) -> str:
    """What the matrix is of."""
    wanted = session.chosen("pixel_of", "A")
    return wanted if wanted in letters_of(found) else "A"


def thresholds(found: session.Opened) -> str:
    """Score thresholds of the models whose boxes take part, for a signature."""
    of = chosen_of(found)
    models = [model for model in session.models(found) if model.letter in of]
    return "score " + ", ".join(f"≥ {threshold_text(session.score_threshold(each))} ({each.letter})" for each in models)


def cell(classes: tuple[str, ...]) -> tuple[int, int] | None:
    """The chosen cell, None when none was chosen or it does not fit these classes."""
    row, column = session.chosen("pixel_row"), session.chosen("pixel_column")
    return (classes.index(row), classes.index(column)) if row in classes and column in classes else None


def choose_cell(classes: tuple[str, ...], row: int, column: int) -> None:
    """Choose a cell; the page that is shown follows it."""
    session.choose("pixel_row", classes[row])
    session.choose("pixel_column", classes[column])
    session.choose("pixel_follow", True)


def forget_size() -> None:
    """No size for pages whose size nobody gives."""
    session.choose("pixel_size", None)


def finish(found: session.Opened, place: session.Place | None, cell: tuple[str, str] | None) -> None:
    """Write what the view shows into the address bar; what is at its start is left out, but not the cell and the page.

    These follow from the files when nobody chose them, and a link must show the same on other files' numbers too.
    """
    size = session.chosen("pixel_size")
    shown = {
        "scope": session.chosen("pixel_scope", "dataset"),
        "shows": session.chosen("pixel_shows", "row"),
        "colour": session.chosen("pixel_colour", "steps"),
        "of": chosen_of(found),
        "classes": session.chosen("pixel_classes", "auto"),
        "missing": session.chosen("pixel_missing", "penalize"),
    }
    starts = {
        "scope": "dataset",
        "shows": "row",
        "colour": "steps",
        "of": "A",
        "classes": "auto",
        "missing": "penalize",
    }
    session.finish(
        **{name: None if text == starts[name] else text for name, text in shown.items()},
        page_size=None if size is None else f"{size[0]:g}x{size[1]:g}",
        row=cell[0] if cell else session.chosen("pixel_row"),
        column=cell[1] if cell else session.chosen("pixel_column"),
        doc=place.document if place else None,
        page=str(place.index + 1) if place else None,
    )
