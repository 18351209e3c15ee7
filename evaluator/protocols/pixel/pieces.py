"""The wrong pixels of a page in pieces: each connected, and of one off-diagonal cell."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.protocols.pixel.evaluation import PixelResult

# More rectangles of one cell are one piece: to tell them apart takes longer than the eye looks.
_TOLD_APART: Final = 2_000


class Piece(NamedTuple):
    """Connected wrong pixels of one cell: names of row and column, and rectangles in raster pixels."""

    cell: tuple[str, str]
    rectangles: IntArray

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        x1, y1, x2, y2 = self.rectangles.T
        return int(((x2 - x1) * (y2 - y1)).sum())


def counted_page(result: PixelResult, document: str, index: int) -> int | None:
    """Return the row of a page that a result counts; None for another page."""
    row = result.dataset.page_row(document, index)
    return row if row is not None and result.counted[row] else None


def wrong_pieces(result: PixelResult, document: str, index: int) -> list[Piece]:
    """Return the wrong pixels of a page in pieces, largest first; none of a page that is not counted."""
    page = counted_page(result, document, index)
    if page is None:
        return []
    pieces = [
        Piece((result.classes[row], result.classes[column]), rectangles)
        for (row, column), part in result.wrong_regions(page).items()
        for rectangles in connected(part.rectangles)
    ]
    return sorted(pieces, key=lambda piece: (-piece.pixels, piece.cell, piece.rectangles[0].tolist()))


def connected(rectangles: IntArray) -> list[IntArray]:
    """Return groups of disjoint rectangles that touch along an edge, int64 (N, 4); one group of very many."""
    if len(rectangles) > _TOLD_APART:
        return [rectangles]
    x1, y1, x2, y2 = rectangles.T
    group = np.arange(len(rectangles))
    for at in range(len(rectangles)):
        across = np.minimum(x2, x2[at]) - np.maximum(x1, x1[at])
        down = np.minimum(y2, y2[at]) - np.maximum(y1, y1[at])
        touching = ((across > 0) & (down >= 0)) | ((across >= 0) & (down > 0))
        joined = np.zeros(len(rectangles), dtype=bool)
        joined[group[touching]] = True
        group[joined[group]] = group[at]
    return [rectangles[group == one] for one in dict.fromkeys(group.tolist())]
