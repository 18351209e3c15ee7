"""Which prediction lies at which ground truth box, whatever its label, and which predictions are alone.

Not the matching of a protocol: labels may differ and boxes that overlap a little are paired, since wrong labels and
borders are looked for. Boxes are x1, y1, x2, y2, origin top left, in one unit; columns are over all pages.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects.noise_model import known_scores
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area, intersection
from evaluator.matching.pairs import Candidates, greedy_rows, overlapping_pairs

NOBODY: Final = -1
SAME_PLACE_IOU: Final = 0.2
"""A prediction that overlaps a ground truth box at least so much may be meant for it."""
SAME_OBJECT_IOU: Final = 0.4
"""Two predictions that overlap at least so much may be one object."""
# Of two boxes at one place the one with the same label is the better partner, if it does not fit much worse.
_SAME_LABEL: Final = 0.15
_TOUCHING: Final = 1e-3


class Columns(NamedTuple):
    """Boxes of one side as columns of one length N; `score` is NaN for none."""

    page: IntArray
    label: IntArray
    xyxy: FloatArray
    score: FloatArray

    def take(self, rows: IntArray) -> Columns:
        """Return the boxes in the given rows."""
        return Columns(self.page[rows], self.label[rows], self.xyxy.take(rows, axis=0), self.score[rows])

    def __bool__(self) -> bool:
        return bool(len(self.page))


def shares(boxes: Columns, page_size: FloatArray) -> FloatArray:
    """Return the boxes as shares of their pages, float64, (N, 4); `page_size` in the unit of the boxes."""
    normal = np.empty_like(boxes.xyxy)
    for axis in range(2):
        size = page_size[boxes.page, axis]
        for side in (axis, axis + 2):
            np.divide(boxes.xyxy[:, side], size, out=normal[:, side])
    return normal


def partners(first: Columns, second: Columns, *, iou_floor: float) -> IntArray:
    """Return the row of `second` at the place of each row of `first`, one to one; `NOBODY` for none.

    Pairs are taken by falling IoU; a pair of one label is preferred to one of two labels with up to 0.15 more.
    """
    partner = np.full(len(first.page), NOBODY, dtype=np.int64)
    pairs = overlapping_pairs(first.xyxy, first.page, second.xyxy, second.page, iou_floor=iou_floor)
    if len(pairs.iou):
        value = pairs.iou + _SAME_LABEL * (first.label[pairs.ground_truth] == second.label[pairs.prediction])
        ranked = Candidates(pairs.prediction, pairs.ground_truth, value)
        rows = greedy_rows(ranked, len(first.page), len(second.page))
        partner[pairs.ground_truth[rows]] = pairs.prediction[rows]
    return partner


def covered_by_others(boxes: Columns, others: Columns, *, themselves: bool = False) -> FloatArray:
    """Return how far another box claims the place of each box, float64 in [0, 1], shape (N,).

    The largest shared area over the smaller of both areas; with `themselves` no box is its own other.
    """
    largest = np.zeros(len(boxes.page))
    pairs = overlapping_pairs(boxes.xyxy, boxes.page, others.xyxy, others.page, iou_floor=_TOUCHING)
    first, second = pairs.ground_truth, pairs.prediction
    if themselves:
        different = first != second
        first, second = first[different], second[different]
    if len(first):
        one, other = boxes.xyxy.take(first, axis=0), others.xyxy.take(second, axis=0)
        shared, smaller = intersection(one, other), np.minimum(area(one), area(other))
        np.maximum.at(largest, first, np.divide(shared, smaller, out=np.zeros_like(shared), where=smaller > 0.0))
    return np.minimum(largest, 1.0)


def without_repeats(boxes: Columns) -> BoolArray:
    """Tell which boxes no better one of the side repeats, by score, then by row; bool."""
    keep = np.ones(len(boxes.page), dtype=bool)
    # A box that is alone on its page repeats none.
    rows = np.flatnonzero(np.bincount(boxes.page)[boxes.page] > 1)
    page, xyxy, score = boxes.page[rows], boxes.xyxy.take(rows, axis=0), known_scores(boxes.score[rows])
    pairs = overlapping_pairs(xyxy, page, xyxy, page, iou_floor=SAME_OBJECT_IOU)
    first, second = pairs.ground_truth, pairs.prediction
    worse = (score[first] < score[second]) | ((score[first] == score[second]) & (first > second))
    keep[rows[first[worse]]] = False
    return keep


def original_rows(rows: IntArray, kept: IntArray) -> IntArray:
    """Return the rows of all boxes from rows of those that were `kept`; `NOBODY` stays."""
    return np.where(rows == NOBODY, NOBODY, np.append(kept, NOBODY)[rows])
