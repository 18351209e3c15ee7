"""One cell of a pixel confusion matrix in words and numbers: its sentence, and the pages behind it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.issues import count_of
from evaluator.protocols.pixel.evaluation import Cell, PixelResult
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, PixelColumns


class CellFacts(NamedTuple):
    """A cell over some pages; row and column are the classes of the first and the second side.

    `pixels`: a fraction where pixels have several labels. `row_pixels`, `row_pages`: those with the row's class on the
    first side. `pages`: those that add to the cell. `behind`: the pages that add most, most first.
    """

    row: str
    column: str
    pixels: float
    row_pixels: int
    pages: int
    row_pages: int
    behind: tuple[Cell, ...]


def cell_facts(
    result: PixelResult, row: int, column: int, *, pages: IntArray | None = None, limit: int = 200
) -> CellFacts:
    """Return the numbers of one cell over some pages (all when absent), naming `limit` pages at most."""
    per_page, in_row = result.cell_pixels(row, column), result.row_pixels(row)
    chosen = np.arange(len(per_page)) if pages is None else np.asarray(pages, dtype=np.int64)
    mine = per_page[chosen]
    order = chosen[np.argsort(-mine, kind="stable")]
    return CellFacts(
        row=result.classes[row],
        column=result.classes[column],
        pixels=float(mine.sum()),
        row_pixels=int(in_row[chosen].sum()),
        pages=int((mine > 0.0).sum()),
        row_pages=int((in_row[chosen] > 0).sum()),
        behind=tuple(Cell(int(page), float(per_page[page])) for page in order[:limit] if per_page[page] > 0.0),
    )


def cell_words(facts: CellFacts, *, models: tuple[str, str] | None = None) -> tuple[str, str]:
    """Return one sentence about a cell, and its numbers.

    "11.2 % of Table pixels became background" and "1,309,000 of 11,690,000 pixels, on 96 of 181 pages with Table".
    `models`: names of the two sides when both are predictions: then nothing "became" anything.
    """
    row, column = _in_words(facts.row), _in_words(facts.column)
    if not facts.row_pixels:
        where = "on these pages" if models is None else f"in {models[0]} on these pages"
        return f"No {row} pixels {where}", "Its row is empty, so shares of it are undefined."
    share = share_text(facts.pixels / facts.row_pixels)
    if models is not None:
        head = f"{share} of {row} pixels of {models[0]} are {column} in {models[1]}"
    elif row == column:
        head = f"{share} of {row} pixels stayed {column}"
    else:
        head = f"{share} of {row} pixels became {column}"
    having = f"with {row}" if facts.row != BACKGROUND_NAME else "with background"
    numbers = f"{pixels_text(facts.pixels)} of {facts.row_pixels:,} pixels"
    return head, f"{numbers}, on {facts.pages:,} of {count_of(facts.row_pages, 'page')} {having}"


def difference_words(first: CellFacts, second: CellFacts, models: tuple[str, str]) -> tuple[str, str]:
    """Return one sentence about a cell of two predictions against one ground truth, and its numbers.

    "A: 14.6 % of Figure pixels became background; B: 10.2 %" and the pixels and pages of both.
    """
    head, detail = cell_words(first)
    if not first.row_pixels and not second.row_pixels:
        return head, detail
    share = share_text(second.pixels / second.row_pixels) if second.row_pixels else "n/a"
    parts = [
        f"{model} {pixels_text(facts.pixels)} pixels on {count_of(facts.pages, 'page')}"
        for model, facts in zip(models, (first, second), strict=True)
    ]
    of = f"of {max(first.row_pixels, second.row_pixels):,} pixels"
    return f"{models[0]}: {head}; {models[1]}: {share}", f"{parts[0]}, {parts[1]}, {of}"


def asymmetry(columns: PixelColumns, scope: int, models: tuple[str, str]) -> str:
    """Return why a matrix of two predictions, by their names, cannot be mirrored, and which of them labels more."""
    sentence = (
        f"Rows are {models[0]}, columns {models[1]}. Swapping them does not mirror the matrix: a label that only "
        f"{models[1]} adds to a pixel takes a share from {models[0]}'s label there and lowers its recall; a label that "
        f"only {models[0]} has does not."
    )
    first, second = (
        int(pixels[scope, 0]) for pixels in (columns.first_pixels, columns.second_pixels)
    )  # what each leaves as background
    every = int(columns.pixels[scope])
    if every == 0 or first == second:
        return sentence
    shares = [share_text((every - bare) / every) for bare in (first, second)]
    return f"{sentence} {models[0]} labels {shares[0]} of the pixels, {models[1]} {shares[1]}."


def worst_cell(confusion: FloatArray) -> tuple[int, int]:
    """Return row and column of the most pixels that went elsewhere, the background's last; (0, 0) for none."""
    wrong = np.where(np.eye(len(confusion), dtype=bool), 0.0, np.nan_to_num(confusion))
    lost = wrong.copy()
    lost[0] = 0.0
    chosen = lost if lost.any() else wrong
    row, column = np.unravel_index(int(chosen.argmax()), chosen.shape)
    return int(row), int(column)


def share_text(share: float) -> str:
    """Return a share in per cent: "11.2 %", "under 0.1 %", "0 %"; only all of it is 100 %.

    >>> [share_text(share) for share in (0.0, 0.0004, 0.1123, 0.99999, 1.0)]
    ['0 %', 'under 0.1 %', '11.2 %', '99.9 %', '100 %']
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.0005:
        return "under 0.1 %"
    return f"{min(100 * share, 99.9) if share < 1.0 else 100 * share:.1f} %"


def pixels_text(pixels: float) -> str:
    """Return a number of pixels, with one decimal only where it is no whole number.

    >>> [pixels_text(pixels) for pixels in (1_309_000.0, 70 / 3)]
    ['1,309,000', '23.3']
    """
    return f"{pixels:,.0f}" if abs(pixels - round(pixels)) < 0.05 else f"{pixels:,.1f}"


def _in_words(name: str) -> str:
    """Return a class inside a sentence: the background is a common word, labels keep their spelling."""
    return name.lower() if name == BACKGROUND_NAME else name
