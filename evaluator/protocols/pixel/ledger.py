"""Two pixel counts of one ground truth, page by page: on which pages which model has fewer wrong pixels.

Owns how much of a page is wrong: the pixels of its confusion matrix off the diagonal, over all classes, and for a label
those of its row and of its column (pixels of the label that became something else, and the other way round).
"""

from __future__ import annotations

import numpy as np

from evaluator.metrics.item_ledger import Item, ItemLedger, item_ledger
from evaluator.model.boxes import FloatArray
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME

EVERYTHING = "All labels"
BY_PIXELS = "wrong pixels"
_PAGES_AT_ONCE = 1_000


def page_ledger(a: PixelResult, b: PixelResult) -> ItemLedger | None:
    """The ledger of pages by wrong pixels.

    Parameters
    ----------
    a, b : PixelResult
        Of two predictions against one ground truth.

    Returns
    -------
    ItemLedger or None
        Rows are all labels, then each label of either. A page counts for a label that has pixels on it, in the ground
        truth or in the prediction of either model. None where the sides use different classes: nothing is on a
        diagonal then.
    """
    if not (a.same_classes and b.same_classes):
        return None
    labels = tuple(dict.fromkeys(name for result in (a, b) for name in result.classes if name != BACKGROUND_NAME))
    first, second = (_wrong_pixels(result, labels) for result in (a, b))
    for item in first.keys() & second.keys():
        # A label that only one of the models has on the page: nothing is wrong with it in the other.
        for mine, other in ((first[item], second[item]), (second[item], first[item])):
            absent = np.isnan(mine) & ~np.isnan(other)
            mine[absent] = 0.0
    return item_ledger("page", BY_PIXELS, (EVERYTHING, *labels), first, second)


def _wrong_pixels(result: PixelResult, labels: tuple[str, ...]) -> dict[Item, FloatArray]:
    """Wrong pixels of each counted page, over everything and by label, float64, shape (1 + L,); NaN without pixels."""
    dataset, own = result.dataset, result.classes
    column = np.array([own.index(name) if name in own else 0 for name in labels], dtype=np.int64)
    known = np.array([name in own for name in labels], dtype=bool)
    wrong: dict[Item, FloatArray] = {}
    # The matrices of all pages at once would not fit.
    for start in range(0, dataset.pages, _PAGES_AT_ONCE):
        stop = min(start + _PAGES_AT_ONCE, dataset.pages)
        matrices = result.per_page.between(start, stop).matrices
        right = np.diagonal(matrices.scaled, axis1=1, axis2=2)
        rows, columns = matrices.scaled.sum(axis=2), matrices.scaled.sum(axis=1)
        every = (rows.sum(axis=1) - right.sum(axis=1)) / matrices.divisor
        of_label = ((rows + columns - 2.0 * right) / matrices.divisor)[:, column]
        of_label[~(known & ((rows + columns) > 0.0)[:, column])] = np.nan
        for at in np.flatnonzero(result.counted[start:stop]).tolist():
            document = dataset.documents[dataset.page_document[start + at]].doc_id
            page = int(dataset.page_index[start + at])
            wrong[Item(document, page)] = np.append(every[at], of_label[at])
    return wrong
