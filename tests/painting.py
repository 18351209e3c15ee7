"""Pages of a pixel evaluation painted pixel by pixel: what exact counts and rectangles are compared with."""

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.metrics.pixel_counts import BACKGROUND, Resolution, on_page, pixel_edges
from evaluator.protocols.pixel import PixelResult
from evaluator.protocols.pixel.matrix import shares


def paint(side: Resolution, page: int, size: tuple[int, int]) -> npt.NDArray[np.uint64]:
    """The label set of every pixel of one page, shape (height, width); `BACKGROUND` where no box is."""
    words = np.zeros(size[::-1], dtype=np.uint64)
    here = side.at(np.flatnonzero(side.page == page))
    sizes = np.zeros((page + 1, 2), dtype=np.int64)
    sizes[page] = size
    for (x1, y1, x2, y2), bit in zip(
        on_page(pixel_edges(here), here.page, sizes).tolist(), here.bit.tolist(), strict=True
    ):
        if x1 < x2 and y1 < y2:
            words[y1:y2, x1:x2] |= np.uint64(1 << bit)
    words[words == 0] = BACKGROUND
    return words


def cell_mask(result: PixelResult, page: int, row: int, column: int) -> npt.NDArray[Any]:
    """The pixels of one page that add to one cell of the confusion matrix, bool, shape (height, width)."""
    width, height = (int(side) for side in result.size[page])
    sides = (side.chosen(taken) for side, taken in zip(result.files.sides, result.taken, strict=True))
    first, second = (paint(side, page, (width, height)) for side in sides)
    parts = shares(result.counts.first, result.counts.second, len(result.classes))
    mask = np.zeros((height, width), dtype=bool)
    for pair in parts.pair[(parts.row == row) & (parts.column == column)].tolist():
        mask |= (first == result.counts.first[pair]) & (second == result.counts.second[pair])
    return mask
