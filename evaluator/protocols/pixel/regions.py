"""Where on a page the pixels of one cell of a confusion matrix are: exact rectangles and their outline.

Owns the cut of a page between the edges of its boxes, and the merging of its parts into few rectangles. Coordinates
are pixels of the page's raster, origin top left, half-open. Nothing is painted: the cost follows the boxes and not
the resolution. What a cell is, and which pairs of label sets add to it, is `pixel_matrix`' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.pixel_counts import BACKGROUND, Resolution, covered_pixels
from evaluator.metrics.pixel_sweep import WordArray
from evaluator.model.boxes import BoolArray, IntArray

# Parts of a page whose label sets are held at once.
_PARTS_AT_ONCE: Final = 1 << 20


class Region(NamedTuple):
    """Some pixels of one page.

    Attributes
    ----------
    rectangles : int64, shape (N, 4)
        x1, y1, x2, y2; disjoint; sorted by y1 and x1. Shape (0, 4) for no pixel.
    outline : int64, shape (M, 4)
        x1, y1, x2, y2 of the horizontal and vertical lines between pixels of the region and others, the edge of the
        page included; each line as long as it goes.
    """

    rectangles: IntArray
    outline: IntArray

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        x1, y1, x2, y2 = self.rectangles.T
        return int(((x2 - x1) * (y2 - y1)).sum())


def region(
    first: Resolution, second: Resolution, page: int, size: tuple[int, int], pairs: Sequence[tuple[int, int]]
) -> Region:
    """The pixels of one page whose pair of label sets is one of some.

    Parameters
    ----------
    page : int
        Row of the page.
    size : tuple of int
        Width and height of its raster.
    pairs : sequence of (int, int)
        Label sets of the first and of the second side.

    Returns
    -------
    Region
        Exactly the pixels with these label sets, whatever the size of the page.
    """
    width, height = size
    if not pairs or width == 0 or height == 0:
        return Region(np.empty((0, 4), np.int64), np.empty((0, 4), np.int64))
    sides = [_on_page(side, page, size) for side in (first, second)]
    edges = np.concatenate([boxes for boxes, _ in sides])
    x = np.unique(np.concatenate([[0, width], edges[:, 0], edges[:, 2]]))
    y = np.unique(np.concatenate([[0, height], edges[:, 1], edges[:, 3]]))
    mask = np.zeros((len(y) - 1, len(x) - 1), dtype=bool)
    for low, high in _bands(len(y) - 1, len(x) - 1):
        words = [_words(boxes, bits, x, y[low : high + 1]) for boxes, bits in sides]
        for one, other in pairs:
            mask[low:high] |= (words[0] == np.uint64(one)) & (words[1] == np.uint64(other))
    return Region(_rectangles(mask, x, y), _outline(mask, x, y))


def _on_page(side: Resolution, page: int, size: tuple[int, int]) -> tuple[IntArray, IntArray]:
    """The pixels that the boxes of one page cover, int64 of shape (n, 4), and their bits."""
    here = side.at(np.flatnonzero(side.page == page))
    sizes = np.zeros((page + 1, 2), dtype=np.int64)
    sizes[page] = size
    edges = covered_pixels(here, sizes)
    seen = (edges[:, 0] < edges[:, 2]) & (edges[:, 1] < edges[:, 3])
    return edges[seen], here.bit[seen]


def _bands(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """First row and the one after the last of bands with about `_PARTS_AT_ONCE` parts."""
    step = max(_PARTS_AT_ONCE // max(columns, 1), 1)
    for low in range(0, rows, step):
        yield low, min(low + step, rows)


def _words(boxes: IntArray, bits: IntArray, x: IntArray, y: IntArray) -> WordArray:
    """The label set of each part between the given edges."""
    words = np.zeros((len(y) - 1, len(x) - 1), dtype=np.uint64)
    here = (boxes[:, 1] < y[-1]) & (boxes[:, 3] > y[0])
    columns = np.searchsorted(x, boxes[here][:, [0, 2]]).tolist()
    # A box that reaches beyond the band ends with it.
    rows = np.searchsorted(y, np.clip(boxes[here][:, [1, 3]], y[0], y[-1])).tolist()
    for (left, right), (top, bottom), bit in zip(columns, rows, bits[here].tolist(), strict=True):
        words[top:bottom, left:right] |= np.uint64(1 << bit)
    words[words == 0] = BACKGROUND
    return words


def _rectangles(mask: BoolArray, x: IntArray, y: IntArray) -> IntArray:
    """The chosen parts as rectangles: runs of each row, continued downwards while the same run goes on."""
    change = _changes(mask)
    top, left = np.nonzero(change == 1)
    right = np.nonzero(change == -1)[1]
    open_runs: dict[tuple[int, int], int] = {}
    rectangles: list[tuple[int, int, int, int]] = []
    row_of = np.searchsorted(top, np.arange(len(mask) + 1))
    for row in range(len(mask)):
        here = slice(row_of[row], row_of[row + 1])
        runs = set(zip(left[here].tolist(), right[here].tolist(), strict=True))
        rectangles += [(y1, run[0], row, run[1]) for run, y1 in open_runs.items() if run not in runs]
        open_runs = {run: open_runs.get(run, row) for run in runs}
    rectangles += [(y1, run[0], len(mask), run[1]) for run, y1 in open_runs.items()]
    parts = np.array(sorted(rectangles), dtype=np.int64).reshape(-1, 4)
    return np.stack([x[parts[:, 1]], y[parts[:, 0]], x[parts[:, 3]], y[parts[:, 2]]], axis=1)


def _outline(mask: BoolArray, x: IntArray, y: IntArray) -> IntArray:
    """The lines between chosen parts and others."""
    across = _changes(mask.T).T != 0
    along = _changes(mask) != 0
    row, start, stop = _runs(across)
    column, top, bottom = _runs(along.T)
    lines = [
        np.stack([x[start], y[row], x[stop], y[row]], axis=1),
        np.stack([x[column], y[top], x[column], y[bottom]], axis=1),
    ]
    return np.concatenate(lines).astype(np.int64)


def _runs(lines: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Row, first column and the one after the last of each run of true values."""
    change = _changes(lines)
    row, start = np.nonzero(change == 1)
    return row, start, np.nonzero(change == -1)[1]


def _changes(mask: BoolArray) -> npt.NDArray[np.int8]:
    """Where each row begins (1) and ends (-1) to be true, int8, one column more than the mask; outside it is not."""
    rows, columns = mask.shape
    # Many times faster than `numpy.pad`, which is slow for small masks.
    framed = np.zeros((rows, columns + 2), np.int8)
    framed[:, 1:-1] = mask
    return framed[:, 1:] - framed[:, :-1]
