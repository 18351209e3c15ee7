"""Where on a page the pixels of a cell of a confusion matrix are: exact rectangles and their outline.

Pixels of the page's raster, origin top left, half-open. Nothing is painted: the cost follows the boxes, not the
resolution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.metrics.pixel_counts import BACKGROUND, Resolution, on_page, pixel_edges
from evaluator.metrics.pixel_sweep import WordArray

# Parts of a page whose label sets are held at once.
_PARTS_AT_ONCE: Final = 1 << 20
# More rectangles of one cell are one component: to tell them apart takes longer than the eye looks.
_MOST_SEPARATED: Final = 2_000


@dataclass(frozen=True, eq=False)
class Region:
    """Some pixels of one page, as parts of it between edges of boxes.

    `mask`: bool, shape (Y - 1, X - 1), the chosen parts. `x`, `y`: int64, shape (X,) and (Y,), the edges, rising.
    """

    mask: BoolArray
    x: IntArray
    y: IntArray

    @cached_property
    def rectangles(self) -> IntArray:
        """Return disjoint rectangles x1, y1, x2, y2 by y1 and x1, int64, shape (N, 4); (0, 4) for no pixel."""
        return _rectangles(self.mask, self.x, self.y)

    @cached_property
    def outline(self) -> IntArray:
        """Return lines x1, y1, x2, y2 between pixels of the region and others, int64, shape (M, 4).

        Horizontal and vertical, the edge of the page included, each as long as it goes.
        """
        return _outline(self.mask, self.x, self.y)

    @property
    def pixels(self) -> int:
        """Return the number of pixels."""
        return _pixels(self.rectangles)


class WrongComponent(NamedTuple):
    """Connected wrong pixels of one cell: names of row and column, and rectangles in raster pixels."""

    cell: tuple[str, str]
    rectangles: IntArray

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        return _pixels(self.rectangles)


def connected_components(rectangles: IntArray) -> list[IntArray]:
    """Return groups of disjoint rectangles that touch along an edge, int64 (N, 4); one group of very many."""
    if len(rectangles) > _MOST_SEPARATED:
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


class CutPage:
    """One page, cut between the edges of its boxes; `size` is width and height of its raster."""

    def __init__(self, first: Resolution, second: Resolution, size: tuple[int, int]) -> None:
        width, height = size
        self._sides = [_in_pixels(side, size) for side in (first, second)]
        edges = np.concatenate([boxes for boxes, _ in self._sides])
        self._x = np.unique(np.concatenate([[0, width], edges[:, 0], edges[:, 2]]))
        self._y = np.unique(np.concatenate([[0, height], edges[:, 1], edges[:, 3]]))
        self._bands = list(_bands(len(self._y) - 1, len(self._x) - 1))

    def region(self, pairs: Sequence[tuple[int, int]]) -> Region:
        """Return the pixels whose pair of label sets is one of some, exactly."""
        mask = np.zeros((len(self._y) - 1, len(self._x) - 1), dtype=bool)
        for low, high in self._bands:
            words = self._of_all if len(self._bands) == 1 else self._words(low, high)
            for one, other in pairs:
                mask[low:high] |= (words[0] == np.uint64(one)) & (words[1] == np.uint64(other))
        return Region(mask, self._x, self._y)

    @cached_property
    def _of_all(self) -> list[WordArray]:
        """Return the label sets of all parts of both sides, where they are few enough to be held."""
        return self._words(0, len(self._y) - 1)

    def _words(self, low: int, high: int) -> list[WordArray]:
        return [_words(boxes, bits, self._x, self._y[low : high + 1]) for boxes, bits in self._sides]


def _pixels(rectangles: IntArray) -> int:
    x1, y1, x2, y2 = rectangles.T
    return int(((x2 - x1) * (y2 - y1)).sum())


def _in_pixels(side: Resolution, size: tuple[int, int]) -> tuple[IntArray, IntArray]:
    """Return the pixels that the boxes of one page cover, int64, shape (n, 4), and their bits."""
    edges = on_page(pixel_edges(side), np.zeros(len(side.page), np.int64), np.array([size], dtype=np.int64))
    seen = (edges[:, 0] < edges[:, 2]) & (edges[:, 1] < edges[:, 3])
    return edges[seen], side.bit[seen]


def _bands(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Yield first row and the one after the last of bands with about `_PARTS_AT_ONCE` parts."""
    step = max(_PARTS_AT_ONCE // max(columns, 1), 1)
    for low in range(0, rows, step):
        yield low, min(low + step, rows)


def _words(boxes: IntArray, bits: IntArray, x: IntArray, y: IntArray) -> WordArray:
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
    """Return the chosen parts as rectangles: runs of each row, continued downwards while they are equal."""
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
    """Return row, first column and the one after the last of each run of true values."""
    change = _changes(lines)
    row, start = np.nonzero(change == 1)
    return row, start, np.nonzero(change == -1)[1]


def _changes(mask: BoolArray) -> npt.NDArray[np.int8]:
    """Return where each row begins (1) and ends (-1) to be true, int8, one column more than the mask."""
    rows, columns = mask.shape
    # Many times faster than `numpy.pad`, which is slow for small masks.
    framed = np.zeros((rows, columns + 2), np.int8)
    framed[:, 1:-1] = mask
    return framed[:, 1:] - framed[:, :-1]
