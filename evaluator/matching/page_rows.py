"""The rows of both sides by page, and the corners of boxes as shares of their pages.

The size of a page is the file's, else another file's of the dataset, else one that the caller states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.matching.box_results import AnyBoxResult


class ByPage(NamedTuple):
    """All rows of a side by page, in file order within one; `counts`, by file row, tells who takes part."""

    rows: IntArray
    page: IntArray
    counts: BoolArray

    @classmethod
    def of(cls, side: JoinedBoxes, counts: BoolArray) -> ByPage:
        """Return the boxes of a side for which `counts` is set, by page."""
        known = _SORTED.get(side)
        if known is None:
            order = np.argsort(side.page, kind="stable")
            known = _SORTED[side] = order, side.page[order]
        return cls(*known, counts)

    def on(self, page: int) -> IntArray:
        """Return the rows of one page that take part, in file order."""
        low, high = np.searchsorted(self.page, [page, page + 1])
        rows = self.rows[low:high]
        return rows[self.counts[rows]]


# Files are immutable, and every result of theirs is asked for pages.
_SORTED: WeakKeyDictionary[JoinedBoxes, tuple[IntArray, IntArray]] = WeakKeyDictionary()


def by_page(result: AnyBoxResult) -> tuple[ByPage, ByPage]:
    """Return the ground truth and the predictions of a result that take part, by page."""
    matching = result.matching
    return (
        ByPage.of(matching.dataset.ground_truth, matching.truth_counts),
        ByPage.of(matching.prediction, result.counting_predictions),
    )


def rows_on(result: AnyBoxResult, page: int, labels: Sequence[str] | None) -> tuple[IntArray, IntArray]:
    """Return the rows of both sides on a page that take part (of `labels`), in file order; none for -1."""
    matching = result.matching
    truth, prediction, names = matching.dataset.ground_truth, matching.prediction, matching.dataset.labels
    truths, predictions = (side.on(page) for side in by_page(result))
    shown = set(matching.labels if labels is None else labels)
    wanted = np.array([name in shown for name in names], dtype=bool)
    return truths[wanted[truth.label[truths]]], predictions[wanted[prediction.label[predictions]]]


def page_shares(
    dataset: Dataset, side: JoinedBoxes, rows: IntArray, *, stated: tuple[float, float] | None = None
) -> FloatArray:
    """Return x1, y1, x2, y2 of some boxes of a side as shares of their pages, shape (K, 4).

    `stated` is the size, in the boxes' unit, of pages without one; NaN for pixels of a page of unknown size.
    """
    corners = side.xyxy[rows]
    if side.source.unit == "page":
        return corners
    return np.asarray(corners / np.tile(sizes_of_pages(dataset, side, rows, stated=stated), 2))


def sizes_of_pages(
    dataset: Dataset, side: JoinedBoxes, rows: IntArray, *, stated: tuple[float, float] | None = None
) -> FloatArray:
    """Return page width and height in the boxes' unit (1, 1 for shares), shape (K, 2); NaN if unknown."""
    if side.source.unit == "page":
        return np.ones((len(rows), 2))
    size, own = dataset.page_size[side.page[rows]], side.source.page_size
    if own is not None:
        own = own[side.source.boxes.entry[rows]]
        size = np.where(np.isnan(own), size, own)
    if stated is not None:
        size = np.where(np.isnan(size), stated, size)
    return size
