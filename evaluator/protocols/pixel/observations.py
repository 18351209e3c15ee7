"""The labels of each page with their pixel numbers: the columns in which slices are searched.

A measure of a slice is the mean over the labels of its pages, each with the same weight: of one label it is the number
of ``page_mean`` over these pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import page_keys
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.observations import Attribute, MeasureWords, Observations, category, number
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME

MEASURES: Final[Mapping[str, MeasureWords]] = {
    name: MeasureWords(f"page mean of {title}", "page labels", "low", f"{title} lost", "page label", fits=True)
    for name, title in (("iou", "pixel IoU"), ("recall", "recall"), ("precision", "precision"), ("f1", "F1"))
}
"""What a slice of pixels can be measured by, the first one when nothing is said."""
_PAGES_AT_ONCE: Final = 1_000


def observations(results: Sequence[PixelResult], measure: str) -> Observations:
    """Return the labels of pages that a measure is a mean over, of one or two results of one ground truth.

    A label counts on a page where its number is defined; of two results, where it is in both. The background is no
    label here. KeyError for a measure that is none of `MEASURES`.
    """
    if measure not in MEASURES:
        raise KeyError(measure)
    every = [_numbers(result, measure) for result in results]
    dataset = results[0].dataset
    kept = [key for key in every[0] if all(key in numbers for numbers in every)]
    row_of = {key: row for row, key in enumerate(page_keys(dataset))}
    pages = np.array([row_of[key[:2]] for key in kept], dtype=np.int64)
    names = sorted({key[2] for key in kept})
    values = [[numbers[key][0] for key in kept] for numbers in every]
    return Observations(
        documents=dataset.document_ids,
        document=dataset.page_document.astype(np.int64)[pages],
        page=dataset.page_index.astype(np.int64)[pages],
        items=[Item(*key) for key in kept],
        label=np.array([names.index(key[2]) for key in kept], dtype=np.int64),
        values=np.array(values, dtype=np.float64).reshape(len(results), len(kept)),
        attributes=_attributes(results[0], pages, [key[2] for key in kept], [every[0][key][1] for key in kept]),
    )


def _numbers(result: PixelResult, measure: str) -> dict[tuple[str, int, str], tuple[float, float]]:
    dataset, ids = result.dataset, result.dataset.document_ids
    own = [code for code in np.flatnonzero(result.comparable).tolist() if result.classes[code] != BACKGROUND_NAME]
    numbers: dict[tuple[str, int, str], tuple[float, float]] = {}
    # The matrices of all pages at once would not fit.
    for start in range(0, dataset.pages, _PAGES_AT_ONCE):
        stop = min(start + _PAGES_AT_ONCE, dataset.pages)
        part = result.per_page.between(start, stop)
        values, first, size = getattr(part, measure), part.first_pixels, part.pixels
        for at in np.flatnonzero(result.counted[start:stop]).tolist():
            document, page = ids[dataset.page_document[start + at]], int(dataset.page_index[start + at])
            for code in own:
                if not np.isnan(values[at, code]):
                    share = float(first[at, code]) / max(float(size[at]), 1.0)
                    numbers[document, page, result.classes[code]] = float(values[at, code]), share
    return numbers


def _attributes(
    result: PixelResult, pages: IntArray, labels: Sequence[str], shares: Sequence[float]
) -> tuple[Attribute, ...]:
    dataset = result.dataset
    truth = dataset.ground_truth
    boxes = np.bincount(truth.page, minlength=dataset.pages).astype(np.float64)
    codes = {name: code for code, name in enumerate(dataset.labels)}
    own = np.array([codes.get(name, -1) for name in labels], dtype=np.int64)
    of_label = np.bincount(truth.page * len(codes) + truth.label, minlength=dataset.pages * len(codes))
    last = np.zeros(len(dataset.documents))
    np.maximum.at(last, dataset.page_document, dataset.page_index)
    count = (last + 1.0)[dataset.page_document][pages]
    index = dataset.page_index.astype(np.float64)[pages]
    attributes = [
        category("label", labels),
        number("area of label", np.asarray(shares, dtype=np.float64)),
        number("boxes of label", np.where(own >= 0, of_label[pages * len(codes) + np.maximum(own, 0)], 0), whole=True),
        number("boxes on page", boxes[pages], "page", whole=True),
        number("labels on page", _labels_on(dataset.pages, truth.page, truth.label)[pages], "page", whole=True),
        number("page number", index + 1.0, "page", whole=True),
        number("position in document", np.where(count > 1.0, index / np.maximum(count - 1.0, 1.0), np.nan), "page"),
        number("pages in document", count, "document", whole=True),
    ]
    size = result.size.astype(np.float64)[pages]
    turned = ["yes" if wide else "no" for wide in (size[:, 0] > size[:, 1]).tolist()]
    return (*attributes, category("landscape", turned, "page"))


def _labels_on(pages: int, page: IntArray, label: IntArray | npt.NDArray[np.int32]) -> FloatArray:
    """Return how many different labels each page has, float64, shape (P,)."""
    pairs = np.unique(np.column_stack([page, label]), axis=0)
    return np.bincount(pairs[:, 0], minlength=pages).astype(np.float64)
