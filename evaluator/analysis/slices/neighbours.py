"""The surroundings of a box on its page: the next box, boxes that hold it, boxes above and below."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray

NOTHING: Final = -1
"""Code of a neighbour that is not there."""
_PAIRS_AT_A_TIME: Final = 100_000
# Boxes of a crowded page that lie near each other and are looked at together, each with those that matter to any.
_TOGETHER: Final = 64
# What rounding may add to a distance, as a share of it.
_HAIR: Final = 1e-9
# A box holds another one when it covers so much of its area.
_HELD: Final = 0.9


class Surroundings(NamedTuple):
    """The surroundings of N boxes.

    `distance`: gap to the next box in shares of the page, 0 where they touch, NaN for a box alone on its page.
    `next_label`, `above`, `below`: label codes, the latter of the nearest box that shares a part of the width; -1 for
    none.

    `inside`, `holds`: larger boxes that cover 90 % or more of it, and boxes it covers so. `beside`: boxes that share
    none of the width but more than half of the smaller height.
    """

    distance: FloatArray
    next_label: IntArray
    above: IntArray
    below: IntArray
    inside: IntArray
    holds: IntArray
    beside: IntArray


def surroundings(page: IntArray, label: IntArray, xyxy: FloatArray) -> Surroundings:
    """Return the surroundings of each box; `xyxy` in shares of the page, rows in any order."""
    order = np.argsort(page, kind="stable")
    size = len(page)
    around = Surroundings(
        np.full(size, np.nan), *(np.full(size, NOTHING, np.int64) for _ in range(3)), *np.zeros((3, size), np.int64)
    )
    first, count = (each.astype(np.int64) for each in np.unique(page[order], return_index=True, return_counts=True)[1:])
    # Pages of as many boxes are looked at together, each box with all of its page.
    for boxes in np.unique(count[count > 1]).tolist():
        rows = order[first[count == boxes][:, None] + np.arange(boxes)]
        if boxes > 2 * _TOGETHER:
            for page_rows in rows:
                for some in _near_each_other(page_rows, xyxy):
                    _around(some, some, label, xyxy, around)
                    others = _that_matter(xyxy[some[0]], float(around.distance[some].max()), xyxy[page_rows])
                    _around(some, page_rows[None, others], label, xyxy, around)
            continue
        pages = max(_PAIRS_AT_A_TIME // boxes**2, 1)
        for start in range(0, len(rows), pages):
            _around(rows[start : start + pages], rows[start : start + pages], label, xyxy, around)
    return around


def _near_each_other(rows: IntArray, xyxy: FloatArray) -> Iterator[IntArray]:
    """Yield the boxes of a page in parts of two or more that lie near each other, shape (1, K)."""
    x, y = (xyxy[rows, :2] + xyxy[rows, 2:]).T
    columns = math.isqrt(len(rows) // _TOGETHER)
    column = np.argsort(np.argsort(x)) * columns // len(rows)
    for part in np.array_split(rows[np.lexsort((y, column))], len(rows) // _TOGETHER):
        yield part[None]


def _that_matter(some: FloatArray, distance: float, every: FloatArray) -> BoolArray:
    """Return which boxes of a page are beside, above or below some of it, or within a distance of them."""
    low, high = np.maximum(some[:, :2].min(axis=0), every[:, :2]), np.minimum(some[:, 2:].max(axis=0), every[:, 2:])
    across, along = (low - high).T
    near = np.hypot(np.maximum(across, 0.0), np.maximum(along, 0.0)) <= distance * (1.0 + _HAIR)
    return np.asarray((across < 0.0) | (along < 0.0) | near)


def _around(here: IntArray, rows: IntArray, label: IntArray, xyxy: FloatArray, out: Surroundings) -> None:
    """Write the surroundings of K boxes of each of P pages among M, themselves included, into `out`.

    `here`: shape (P, K); `rows`: shape (P, M), as the page has them.
    """
    x1, y1, x2, y2 = np.moveaxis(xyxy[rows], -1, 0)[:, :, None, :]
    own_x1, own_y1, own_x2, own_y2 = np.moveaxis(xyxy[here], -1, 0)[..., None]
    names = label[rows]
    across = np.maximum(own_x1, x1) - np.minimum(own_x2, x2)
    along = np.maximum(own_y1, y1) - np.minimum(own_y2, y2)
    itself = here[:, :, None] == rows[:, None, :]

    def nearest(distance: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the least distance of each box, and the label of the first box there."""
        at = distance.argmin(axis=-1)
        return np.take_along_axis(distance, at[..., None], axis=-1)[..., 0], np.take_along_axis(names, at, axis=-1)

    gap = np.hypot(np.maximum(across, 0.0), np.maximum(along, 0.0))
    out.distance[here], out.next_label[here] = nearest(np.where(itself, np.inf, gap))
    over, middle, own_middle = across < 0.0, (y1 + y2) / 2, (own_y1 + own_y2) / 2
    for part, way in ((out.above, middle < own_middle), (out.below, middle > own_middle)):
        least, beside = nearest(np.where(over & way, along, np.inf))
        part[here] = np.where(np.isfinite(least), beside, NOTHING)
    areas, own_areas = (x2 - x1) * (y2 - y1), (own_x2 - own_x1) * (own_y2 - own_y1)
    shared = np.maximum(-across, 0.0) * np.maximum(-along, 0.0)
    out.inside[here] = ((shared >= _HELD * own_areas) & (areas > own_areas)).sum(axis=-1)
    out.holds[here] = ((shared >= _HELD * areas) & (own_areas > areas)).sum(axis=-1)
    low = np.minimum(own_y2 - own_y1, y2 - y1)
    out.beside[here] = ((across >= 0.0) & (-along > 0.5 * low) & ~itself).sum(axis=-1)


def columns_of_text(page: IntArray, xyxy: FloatArray, pages: int) -> IntArray:
    """Return the number of text columns of each page, int64, shape (pages,); 0 without boxes.

    The heights of the boxes are added up over the width of the page, without boxes wider than 0.6 of the page. A column
    is a stretch where the sum is above 0.15 of its largest value.
    """
    steps = 64
    narrow = xyxy[:, 2] - xyxy[:, 0] <= 0.6
    height = np.where(narrow, xyxy[:, 3] - xyxy[:, 1], 0.0)
    # Half a step from both sides, so that columns with a narrow gap stay apart.
    start = np.clip(np.ceil(xyxy[:, 0] * steps), 0, steps).astype(np.int64)
    end = np.maximum(np.clip(np.floor(xyxy[:, 2] * steps), 0, steps).astype(np.int64), start)
    width = steps + 1
    change = np.bincount(page * width + start, height, pages * width)
    change -= np.bincount(page * width + end, height, pages * width)
    sums = np.cumsum(change.reshape(pages, width), axis=1)
    covered = sums > np.maximum(0.15 * sums.max(axis=1, initial=0.0, keepdims=True), 1e-9)
    rising = covered & ~np.concatenate([np.zeros((pages, 1), bool), covered[:, :-1]], axis=1)
    places = rising.sum(axis=1)
    boxes = np.bincount(page, minlength=pages)
    return np.where(boxes > 0, np.maximum(places, 1), 0).astype(np.int64)
