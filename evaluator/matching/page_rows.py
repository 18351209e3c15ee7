"""The rows of both sides by page, and the corners of boxes as shares of their pages.

The size of a page is the file's, else another file's of the dataset, else one that the caller states.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.matching.box_results import AnyBoxResult


def rows_on(result: AnyBoxResult, page: int, labels: Sequence[str] | None = None) -> tuple[IntArray, IntArray]:
    """Return the rows of both sides on a page that take part (of `labels`), in file order; none for -1."""
    matching, pairs = result.matching, result.matching.pairs
    truth, prediction, names = matching.dataset.ground_truth, matching.prediction, matching.dataset.labels
    truths, predictions = pairs.truth_by_page.of(page), pairs.prediction_by_page.of(page)
    truths, predictions = truths[matching.truth_counts[truths]], predictions[result.counting_predictions[predictions]]
    if labels is None:
        return truths, predictions
    wanted = np.array([name in labels for name in names], dtype=bool)
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
