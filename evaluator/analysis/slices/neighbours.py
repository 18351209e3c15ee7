"""The surroundings of a box on its page: the next box, boxes that hold it, boxes above and below."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.order import numbers_from, runs_up_to

NOTHING: Final = -1
"""Code of a neighbour that is not there."""
_PAIRS_AT_A_TIME: Final = 2_000_000
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
    page, label, xyxy = page[order], label[order], xyxy[order]
    size = len(page)
    around = Surroundings(
        np.full(size, np.nan), *(np.full(size, NOTHING, np.int64) for _ in range(3)), *np.zeros((3, size), np.int64)
    )
    first = np.searchsorted(page, page, side="left")
    count = np.searchsorted(page, page, side="right") - first
    for run in runs_up_to(_PAIRS_AT_A_TIME, count):
        one = np.repeat(np.arange(run.start, run.stop), count[run])
        _around(one, numbers_from(first[run], count[run]), label, xyxy, around)
    back = np.empty(size, np.int64)
    back[order] = np.arange(size)
    return _of(around, back)


def _of(every: Surroundings, rows: IntArray) -> Surroundings:
    """Return the surroundings of some of the boxes."""
    distance, *others = every
    return Surroundings(distance[rows], *(each[rows] for each in others))


def _around(one: IntArray, other: IntArray, label: IntArray, xyxy: FloatArray, out: Surroundings) -> None:
    """Write the surroundings of boxes into `out`: `one` rises, and has each box with all of its page."""
    apart = one != other
    one, other = one[apart], other[apart]
    if not len(one):
        return
    x1, y1, x2, y2 = np.ascontiguousarray(xyxy.T)
    across = np.maximum(x1[one], x1[other]) - np.minimum(x2[one], x2[other])
    along = np.maximum(y1[one], y1[other]) - np.minimum(y2[one], y2[other])
    middle = (y1 + y2) / 2
    starts = np.flatnonzero(np.diff(one, prepend=-1))
    rows = one[starts]

    def nearest(distance: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the least distance of each box, and the label of the first box there."""
        least = np.minimum.reduceat(distance, starts)
        at = np.where(distance == np.repeat(least, np.diff(np.append(starts, len(one)))), np.arange(len(one)), len(one))
        return least, label[other[np.minimum.reduceat(at, starts)]]

    gap = np.hypot(np.maximum(across, 0.0), np.maximum(along, 0.0))
    out.distance[rows], out.next_label[rows] = nearest(gap)
    over = across < 0.0
    for part, way in ((out.above, middle[other] < middle[one]), (out.below, middle[other] > middle[one])):
        least, names = nearest(np.where(over & way, along, np.inf))
        part[rows] = np.where(np.isfinite(least), names, NOTHING)
    areas = (x2 - x1) * (y2 - y1)
    shared = np.maximum(-across, 0.0) * np.maximum(-along, 0.0)
    held: BoolArray = (shared >= _HELD * areas[one]) & (areas[other] > areas[one])
    np.add.at(out.inside, one[held], 1)
    np.add.at(out.holds, other[held], 1)
    low = np.minimum((y2 - y1)[one], (y2 - y1)[other])
    np.add.at(out.beside, one[(across >= 0.0) & (-along > 0.5 * low)], 1)


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
