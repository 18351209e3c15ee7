"""Which compared fields, by row in `ComparedFields`, a number of a result counts, and on which page they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.fields import natural_order
from evaluator.metrics.confidence import BINS, bin_of, least_confident
from evaluator.protocols.fields.evaluation import BELOW_THRESHOLD, MISSED, SPURIOUS, TRUE_POSITIVE, FieldsResult
from evaluator.protocols.fields.rows import ComparedFields

NO_PAGE: Final = -1
BIN: Final = "bin_"
LEAST_SURE: Final = "least_sure"
STATUS_LINKS: Final[Mapping[str, int]] = {
    "true_positive": TRUE_POSITIVE,
    "below_threshold": BELOW_THRESHOLD,
    "missed": MISSED,
    "spurious": SPURIOUS,
}
VALUE_BOX: Final[Mapping[str, tuple[bool, bool]]] = {
    "value_right_box_right": (True, True),
    "value_right_box_wrong": (True, False),
    "value_wrong_box_right": (False, True),
    "value_wrong_box_wrong": (False, False),
}
"""Whether the value is right, and whether the box is, over the fields with two boxes."""
LINKS: Final[Mapping[str, str]] = {
    "problems": "Problems",
    "ground_truth": "Ground-truth boxes",
    "predictions": "Predicted boxes",
    "true_positive": "True positives",
    "below_threshold": "Boxes below the threshold",
    "missed": "Missed boxes",
    "spurious": "Extra boxes",
    "value_right_box_right": "Value right, box right",
    "value_right_box_wrong": "Value right, box wrong",
    "value_wrong_box_right": "Value wrong, box right",
    "value_wrong_box_wrong": "Value wrong, box wrong",
    LEAST_SURE: "Least confident",
    **{f"{BIN}{number}": f"Confidence {number / BINS:.1f} to {(number + 1) / BINS:.1f}" for number in range(BINS)},
}
"""Every number that opens fields, with its name on screen."""


def problems(result: FieldsResult, iou: float) -> BoolArray:
    """Return which rows have something wrong at a threshold, bool, shape (N,).

    Boxes below the threshold, missed and spurious ones, and fields whose value is wrong, with or without a box.
    """
    status = result.status(iou)
    wrong_box = np.isin(status, (BELOW_THRESHOLD, MISSED, SPURIOUS))
    return wrong_box | (result.taking_part & result.compared.is_field & ~result.compared.right)


def linked_rows(
    result: FieldsResult, link: str, *, iou: float, label: str | None = None, budget: float | None = None
) -> IntArray:
    """Return the rows that a number counts, int64, in canonical order; of ``least_sure`` least sure first.

    `link`: a key of `LINKS`. `label`: only this class of field. `budget`: share of the fields that are reviewed, in (0,
    1], for ``least_sure``. ValueError for an unknown number, or ``least_sure`` without a budget.
    """
    if link not in LINKS:
        raise ValueError(f"the linked number must be one of {', '.join(LINKS)}; found {link}")
    if link == LEAST_SURE or link.startswith(BIN):
        return _of_confidence(result, link, label, budget)
    chosen = _linked(result, link, iou)
    if label is not None:
        chosen = chosen & result.of_class(label)
    return result.compared.in_order(chosen)


def _of_confidence(result: FieldsResult, link: str, label: str | None, budget: float | None) -> IntArray:
    rows = result.confidence_rows(label)
    confidence = result.compared.confidence[rows]
    if link.startswith(BIN):
        return np.asarray(rows[bin_of(confidence, bins=BINS) == int(link.removeprefix(BIN))])
    if budget is None:
        raise ValueError("the least sure fields need a budget")
    return np.asarray(rows[least_confident(confidence, budget)])


def _linked(result: FieldsResult, link: str, iou: float) -> BoolArray:
    if link == "problems":
        return problems(result, iou)
    if link in STATUS_LINKS:
        return np.asarray(result.status(iou) == STATUS_LINKS[link])
    if link not in VALUE_BOX:
        return result.with_truth if link == "ground_truth" else result.with_prediction
    value, box = VALUE_BOX[link]
    both = result.with_truth & result.with_prediction
    return np.asarray(both & (result.compared.right == value) & ((result.compared.iou >= iou) == box))


@dataclass(frozen=True, eq=False)
class FieldPages:
    """Where the compared fields lie."""

    compared: ComparedFields

    @cached_property
    def truth_page(self) -> IntArray:
        """Return the page of each ground-truth box from 0, int64, shape (N,); -1 without a box."""
        return _pages(self.compared.has_truth, [field.page if field else NO_PAGE for field in self.compared.truth])

    @cached_property
    def predicted_page(self) -> IntArray:
        """Return the page of each predicted box from 0, int64, shape (N,); -1 without a box."""
        pages = [field.page if field else NO_PAGE for field in self.compared.predicted]
        return _pages(self.compared.has_prediction, pages)

    @cached_property
    def in_natural_order(self) -> tuple[int, ...]:
        """Return the codes of the documents, as people count."""
        names = self.compared.documents
        return tuple(sorted(range(len(names)), key=lambda code: natural_order(names[code])))

    def places_of(self, rows: IntArray) -> list[list[int]]:
        """Return the pages on which each row lies: those of its boxes, else the first of the document."""
        pairs = zip(self.truth_page[rows].tolist(), self.predicted_page[rows].tolist(), strict=True)
        return [sorted({page for page in pair if page != NO_PAGE}) or [0] for pair in pairs]

    def counts(self, rows: IntArray) -> dict[tuple[int, int], int]:
        """Return how many rows lie on which (document code, page); a row on two pages counts on both."""
        of_rows = zip(self.compared.document[rows].tolist(), self.places_of(rows), strict=True)
        return Counter((document, page) for document, pages in of_rows for page in pages)

    @cached_property
    def every(self) -> tuple[tuple[int, int], ...]:
        """Return every page that a box names, and the first page of each document, in natural order."""
        known = {(code, 0) for code in range(len(self.compared.documents))}
        for column in (self.truth_page, self.predicted_page):
            on_page = column != NO_PAGE
            known |= set(zip(self.compared.document[on_page].tolist(), column[on_page].tolist(), strict=True))
        place = {code: order for order, code in enumerate(self.in_natural_order)}
        return tuple(sorted(known, key=lambda page: (place[page[0]], page[1])))

    def order(
        self, counts: Mapping[tuple[int, int], int], *, document: int | None = None, only: bool = False
    ) -> list[tuple[int, int]]:
        """Return (document code, page) to walk through, most `counts` first, equal ones in natural order.

        `document`: only its pages, in their own order. `only`: leave out pages without any.
        """
        listed = [page for page in self.every if document in (None, page[0]) and (not only or counts.get(page))]
        return listed if document is not None else sorted(listed, key=lambda page: -counts.get(page, 0))

    def rows_on(self, document: int, page: int) -> IntArray:
        """Return rows with a box on a page, in canonical order; on the first page also those without any box."""
        here = (self.truth_page == page) | (self.predicted_page == page)
        if page == 0:
            here |= (self.truth_page == NO_PAGE) & (self.predicted_page == NO_PAGE) & self.compared.is_field
        return self.compared.in_order(here & (self.compared.document == document))


def _pages(has_box: BoolArray, pages: list[int]) -> IntArray:
    return np.where(has_box, np.array(pages, dtype=np.int64), NO_PAGE)
