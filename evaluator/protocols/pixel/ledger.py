"""Two pixel counts of one ground truth by page: on which pages which model has fewer wrong pixels."""

from __future__ import annotations

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.metrics.item_ledger import ItemLedger, Items, item_ledger
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME

EVERYTHING = "All labels"
BY_PIXELS = "wrong pixels"


def page_ledger(a: PixelResult, b: PixelResult) -> ItemLedger | None:
    """Return the ledger of pages by wrong pixels; None where the sides use different classes.

    Rows are all labels, then each label of either. A page counts for a label that has pixels on it, in the ground truth
    or in the prediction of either model.
    """
    if not (a.same_classes and b.same_classes):
        return None
    labels = tuple(dict.fromkeys(name for result in (a, b) for name in result.classes if name != BACKGROUND_NAME))
    (items, first), (others, second) = (_wrong_pixels(result, labels) for result in (a, b))
    if items != others:
        place = {item: row for row, item in enumerate(others)}
        rows = np.array([row for row, item in enumerate(items) if item in place], dtype=np.int64)
        items, first = Items(items[row] for row in rows.tolist()), first[rows]
        second = second[np.array([place[item] for item in items], dtype=np.int64)]
    # A label that only one of the models has on the page: nothing is wrong with it in the other.
    unknown = np.isnan(first), np.isnan(second)
    if (unknown[0] != unknown[1]).any():
        first = np.where(unknown[0] & ~unknown[1], 0.0, first)
        second = np.where(unknown[1] & ~unknown[0], 0.0, second)
    return item_ledger("page", BY_PIXELS, (EVERYTHING, *labels), items, (first, second))


def _wrong_pixels(result: PixelResult, labels: tuple[str, ...]) -> tuple[Items, FloatArray]:
    """Return wrong pixels of each counted page: everything, then each label; NaN without pixels."""
    amounts, own = result.wrong_pixels, result.classes
    if not result.counted.all():
        amounts = amounts[result.counted]
    columns = [0, *(own.index(name) if name in own else -1 for name in labels)]
    if columns != list(range(amounts.shape[1])):
        amounts = np.where(np.array(columns) < 0, np.nan, amounts[:, columns])
    return result.files.items, amounts
