"""The ink of a page without a text layer, such as a scan: how much of a ground truth no prediction holds.

Ink comes as the share of dark (on dark paper: light) pixels in the cells of a small grid over the displayed page, see
`evaluator.pdf.pool.Ink`. A cell belongs to a box when its middle lies in it. Boxes are shares of the page.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.drawing.payloads import Rect
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.pdf.pool import Ink

_GAP: Final = 2
MARKED: Final = 2_000
"""More stretches of ink or words than this are counted and not marked."""


def cells_in(shape: tuple[int, int], boxes: FloatArray) -> BoolArray:
    """Which cells of a grid have their middle in any of some boxes, bool; `shape` is rows and columns."""
    inside = np.zeros(shape, dtype=bool)
    rows, columns = shape
    low = np.ceil(boxes * np.array([columns, rows, columns, rows]) - 0.5).astype(np.int64)
    for x1, y1, x2, y2 in np.maximum(low, 0).tolist():
        inside[y1:y2, x1:x2] = True
    return inside


class InkLost(NamedTuple):
    """What a prediction leaves out of the ink of a ground truth.

    Attributes
    ----------
    share : float or None
        Of the ink in the ground truth, in [0, 1]; None when there is no ink in it.
    cells : bool, shape (rows, columns)
        Cells of the ground truth that no prediction holds.
    """

    share: float | None
    cells: BoolArray


def ink_lost(ink: Ink, truth: FloatArray, prediction: FloatArray) -> InkLost:
    """How much of the ink of the ground truth that is asked about no prediction of the page holds; boxes (N, 4)."""
    cells = ink.cells
    mine = cells_in(cells.shape, truth)
    out = mine & ~cells_in(cells.shape, prediction)
    whole = int(cells[mine].sum(dtype=np.int64))
    return InkLost(int(cells[out].sum(dtype=np.int64)) / whole if whole else None, out)


def inked_stretches(ink: Ink, cells: BoolArray) -> tuple[Rect, ...]:
    """The inked parts of some cells as boxes: one for each stretch of a row, rows of equal extent joined.

    Returns
    -------
    tuple of Rect
        As shares of the page; at most `MARKED`.
    """
    rows, columns = ink.cells.shape
    marked = cells & ink.marked
    stretches: list[Rect] = []
    above: dict[tuple[int, int], int] = {}
    for row in range(rows):
        here: dict[tuple[int, int], int] = {}
        for start, stop in _stretches(np.flatnonzero(marked[row])):
            x1, y1, x2, y2 = start / columns, row / rows, stop / columns, (row + 1) / rows
            if (start, stop) in above:
                place = above[start, stop]
                stretches[place] = (x1, stretches[place][1], x2, y2)
            elif len(stretches) < MARKED:
                place = len(stretches)
                stretches.append((x1, y1, x2, y2))
            else:
                continue
            here[start, stop] = place
        above = here
    return tuple(stretches)


def _stretches(places: IntArray) -> list[tuple[int, int]]:
    """Runs of rising whole numbers as first and last plus one; small gaps are closed."""
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > _GAP)
    firsts = np.concatenate([places[:1], places[cuts + 1]])
    lasts = np.concatenate([places[cuts], places[-1:]])
    return [(int(first), int(last) + 1) for first, last in zip(firsts, lasts, strict=True)]
