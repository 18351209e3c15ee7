"""The ink of a page without a text layer: how much ink of a ground truth no prediction holds."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.pdf.pool import Ink

Rect = tuple[float, float, float, float]
"""x1, y1, x2, y2."""
_GAP: Final = 2
MARKED: Final = 2_000
"""More stretches of ink or words than this are counted and not marked."""


def cells_in(shape: tuple[int, int], boxes: FloatArray) -> BoolArray:
    """Return which cells of a grid have their middle in any of some boxes; `shape` is rows and columns."""
    inside = np.zeros(shape, dtype=bool)
    rows, columns = shape
    low = np.ceil(boxes * np.array([columns, rows, columns, rows]) - 0.5).astype(np.int64)
    for x1, y1, x2, y2 in np.maximum(low, 0).tolist():
        inside[y1:y2, x1:x2] = True
    return inside


class InkLost(NamedTuple):
    """The share of a truth's ink (None without any) and the truth's cells that no prediction holds."""

    share: float | None
    cells: BoolArray


def ink_lost(ink: Ink, truth: FloatArray, prediction: FloatArray) -> InkLost:
    """Return how much ink of some ground-truth boxes no prediction of the page holds; boxes (N, 4)."""
    cells = ink.cells
    mine = cells_in(cells.shape, truth)
    out = mine & ~cells_in(cells.shape, prediction)
    whole = int(cells[mine].sum(dtype=np.int64))
    return InkLost(int(cells[out].sum(dtype=np.int64)) / whole if whole else None, out)


def inked_stretches(ink: Ink, cells: BoolArray) -> tuple[Rect, ...]:
    """Return the inked parts of some cells, row by row, as at most `MARKED` boxes in page shares."""
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
    """Return runs of rising whole numbers as first and last plus one; small gaps are closed."""
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > _GAP)
    firsts = np.concatenate([places[:1], places[cuts + 1]])
    lasts = np.concatenate([places[cuts], places[-1:]])
    return [(int(first), int(last) + 1) for first, last in zip(firsts, lasts, strict=True)]
