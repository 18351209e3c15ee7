"""Which boxes are on a page, and where: the rows of both sides sorted by page, and their corners as shares of the page.

A file gives its boxes as shares of the page or in pixels of its image. What is drawn, compared with the text of a page
or measured in parts of it needs shares, so pixels are divided by the size of the page: the one that the file states,
else the one that another file of the dataset states for the same page, else one that the caller states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.model.dataset import Dataset, JoinedBoxes


class ByPage(NamedTuple):
    """The boxes of one side that take part, to be looked up by page.

    Attributes
    ----------
    rows : int64, shape (N,)
        All boxes of the side by page, in file order within a page.
    page : int64, shape (N,)
        Their pages, rising.
    counts : bool, shape (N,)
        By row of the file: who takes part.
    """

    rows: IntArray
    page: IntArray
    counts: BoolArray

    @classmethod
    def of(cls, side: JoinedBoxes, counts: BoolArray) -> ByPage:
        """The boxes of a side for which `counts` is set."""
        known = _SORTED.get(side)
        if known is None:
            order = np.argsort(side.page, kind="stable")
            known = _SORTED[side] = order, side.page[order]
        return cls(*known, counts)

    def on(self, page: int) -> IntArray:
        """Rows of one page, in file order."""
        low, high = np.searchsorted(self.page, [page, page + 1])
        rows = self.rows[low:high]
        return rows[self.counts[rows]]


# Files are immutable, and every result of theirs is asked for pages.
_SORTED: WeakKeyDictionary[JoinedBoxes, tuple[IntArray, IntArray]] = WeakKeyDictionary()


def by_page(result: AnyBoxResult) -> tuple[ByPage, ByPage]:
    """The ground truth and the predictions of a result that take part, by page."""
    matching = result.matching
    return (
        ByPage.of(matching.dataset.ground_truth, matching.truth_counts),
        ByPage.of(matching.prediction, result.counting_predictions),
    )


def rows_on(result: AnyBoxResult, page: int, labels: Sequence[str] | None) -> tuple[IntArray, IntArray]:
    """Rows of the ground truth and of the predictions on a page that take part, int64, in file order.

    Only those of some labels, or all that are scored; the page -1 has none.
    """
    matching = result.matching
    truth, prediction, names = matching.dataset.ground_truth, matching.prediction, matching.dataset.labels
    truths, predictions = (side.on(page) for side in by_page(result))
    shown = set(matching.labels if labels is None else labels)
    wanted = np.array([name in shown for name in names], dtype=bool)
    return truths[wanted[truth.label[truths]]], predictions[wanted[prediction.label[predictions]]]


def page_shares(
    dataset: Dataset, side: JoinedBoxes, rows: IntArray, *, stated: tuple[float, float] | None = None
) -> FloatArray:
    """Corners of some boxes as shares of their pages.

    Parameters
    ----------
    side : JoinedBoxes
        One of its sides.
    rows : int64, shape (K,)
        Rows of the side.
    stated : tuple of float, optional
        Width and height, in the unit of the boxes, of pages whose size no file states. The size of a PDF page in points
        is such a size only for boxes that are known to be in points.

    Returns
    -------
    float64, shape (K, 4)
        x1, y1, x2, y2, origin top left; NaN for a box in pixels of a page whose size nobody states.
    """
    corners = side.xyxy[rows]
    if side.source.unit == "page":
        return corners
    return np.asarray(corners / np.tile(sizes_of_pages(dataset, side, rows, stated=stated), 2))


def sizes_of_pages(
    dataset: Dataset, side: JoinedBoxes, rows: IntArray, *, stated: tuple[float, float] | None = None
) -> FloatArray:
    """Width and height of the pages of some boxes in the unit of the boxes, float64, shape (K, 2); see `page_shares`.

    1 and 1 for shares of the page; NaN for pixels of a page whose size nobody states.
    """
    if side.source.unit == "page":
        return np.ones((len(rows), 2))
    size, own = dataset.page_size[side.page[rows]], side.source.page_size
    if own is not None:
        own = own[side.source.boxes.entry[rows]]
        size = np.where(np.isnan(own), size, own)
    if stated is not None:
        size = np.where(np.isnan(size), stated, size)
    return size
