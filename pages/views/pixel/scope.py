"""The scope, page and classes that the view Confusion shows of the results of one or two models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaluator.components.matrix import matrix as heatmap
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.protocols import pixel
from evaluator.protocols.pixel.cells import CellFacts, cell_facts, worst_cell
from evaluator.protocols.pixel.difference import MatrixDifference, difference
from evaluator.protocols.pixel.matrix import Matrices, PixelColumns
from pages.app.session_files import Place
from pages.app.state import state
from pages.views.pixel import pixel_results


class Scope(NamedTuple):
    """What the matrix is of: the columns of a result, the row in them, and the pages that count."""

    result: pixel.PixelResult
    columns: PixelColumns
    row: int
    pages: IntArray

    @property
    def matrices(self) -> Matrices:
        """Return the matrices of this scope alone."""
        matrices = self.columns.matrices
        return Matrices(matrices.scaled[self.row : self.row + 1], matrices.divisor)


class ShownMatrix(NamedTuple):
    """What one run shows: its matrix, classes, the scopes of the matrix and of all models `beside` it."""

    of: str
    classes: tuple[str, ...]
    scopes: dict[str, Scope]
    beside: dict[str, Scope]

    @property
    def first(self) -> Scope:
        """Return the only scope, or that of A."""
        return next(iter(self.scopes.values()))


def _scope_of(result: pixel.PixelResult, place: Place | None) -> Scope:
    wanted = state.pixel_scope
    page = page_row(result, place)
    every = np.flatnonzero(result.counted)
    if wanted == "page" and page is not None:
        return Scope(result, result.page_columns(page), 0, np.array([page]))
    if wanted == "document" and page is not None:
        document = int(result.dataset.page_document[page])
        pages = every[result.dataset.page_document[every] == document]
        return Scope(result, result.document_columns(document), 0, pages)
    return Scope(result, result.whole, 0, every)


def page_row(result: pixel.PixelResult, place: Place | None) -> int | None:
    """Return the row of a page that a result counts; None for any other."""
    if place is None:
        return None
    row = result.dataset.page_row(place.document, place.index)
    return row if row is not None and result.counted[row] else None


def place_of(result: pixel.PixelResult, row: int) -> Place:
    """Return document and index of a page."""
    dataset = result.dataset
    return Place(dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row]))


def shown_place(result: pixel.PixelResult) -> Place | None:
    """Return the chosen page, else that of the chosen document with most pixels of the worst cell."""
    document, index = state.doc, state.page
    if document is not None and index is not None:
        place = Place(document, index)
        if page_row(result, place) is not None:
            return place
    every = np.flatnonzero(result.counted)
    if document is not None and document in result.dataset.document_code:
        mine = every[result.dataset.page_document[every] == result.dataset.document_code[document]]
        every = mine if len(mine) else every
    if not len(every):
        return None
    cell = pixel_results.chosen_cell(result.classes) or worst_cell(result.whole.matrices.confusion[0])
    behind = cell_facts(result, *cell, pages=every, limit=1).behind
    return place_of(result, behind[0].page if behind else int(every[0]))


def build_matrix(of: str, results: dict[str, pixel.PixelResult], place: Place | None) -> ShownMatrix:
    """Return scopes and classes of the matrix; `results` may have models beside those of the matrix."""
    every = {letter: _scope_of(result, place) for letter, result in results.items()}
    scopes = {letter: every[letter] for letter in letters_of(of)}
    classes = tuple(dict.fromkeys(name for scope in scopes.values() for name in scope.result.classes))
    return ShownMatrix(of, classes, scopes, every)


def letters_of(of: str) -> tuple[str, ...]:
    """Return the results that a matrix is made of."""
    return ("A", "B") if of == "A-B" else (of,)


def first_cell(shown: ShownMatrix) -> tuple[int, int]:
    """Return the cell to look at when none was chosen."""
    row, column = worst_cell(shown.first.matrices.confusion[0])
    own = shown.first.result.classes
    return shown.classes.index(own[row]), shown.classes.index(own[column])


def facts_of(shown: ShownMatrix, cell: tuple[int, int]) -> dict[str, CellFacts]:
    """Return the chosen cell for every model that is shown."""
    row, column = (shown.classes[each] for each in cell)
    facts = {}
    for letter, scope in shown.scopes.items():
        own = scope.result.classes
        if row in own and column in own:
            facts[letter] = cell_facts(scope.result, own.index(row), own.index(column), pages=scope.pages)
        else:
            facts[letter] = CellFacts(row, column, 0.0, 0, 0, 0, ())
    return facts


def differences(shown: ShownMatrix, shows: str) -> MatrixDifference:
    """Return the matrix of model A minus that of model B for the chosen scope."""
    a, b = shown.scopes["A"], shown.scopes["B"]
    return difference(a.columns, b.columns, heatmap.SHOWS[shows], rows=(a.row, b.row))  # type: ignore[index]


def sides_of(shown: ShownMatrix) -> tuple[str, str]:
    """Return what rows and columns are."""
    if shown.of == "B on A":
        return "Model A", "Model B"
    return "Ground truth", {"A-B": "A minus B"}.get(shown.of, f"Predicted by {shown.of}")


def values_of(scope: Scope, shows: str) -> FloatArray:
    """Return the shown matrix of a scope."""
    values: FloatArray = getattr(scope.matrices, heatmap.SHOWS[shows])[0]  # type: ignore[index]
    return values
