"""Which compared fields are counted in a number of a fields result, and on which page they lie.

Owns what each number opens (a count, a cell of value against box, a bin of confidence, the least sure fields), what
counts as a problem, and the pages with their counts. A field is named by its row in `ComparedFields`. It computes no
metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from evaluator.metrics.confidence import BINS, bin_of, least_sure
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.fields import natural_order
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
    "spurious": "Spurious boxes",
    "value_right_box_right": "Value right, box right",
    "value_right_box_wrong": "Value right, box wrong",
    "value_wrong_box_right": "Value wrong, box right",
    "value_wrong_box_wrong": "Value wrong, box wrong",
    LEAST_SURE: "Least confident",
    **{f"{BIN}{number}": f"Confidence {number / BINS:.1f} to {(number + 1) / BINS:.1f}" for number in range(BINS)},
}
"""Every number that opens fields, with its name on screen."""


def problems(result: FieldsResult, iou: float) -> BoolArray:
    """Which rows have something wrong at a threshold, bool, shape (N,).

    Boxes below the threshold, missed and spurious ones, and fields whose value is wrong, with or without a box.
    """
    status = result.status(iou)
    wrong_box = np.isin(status, (BELOW_THRESHOLD, MISSED, SPURIOUS))
    return wrong_box | (result.taking_part & result.compared.is_field & ~result.compared.right)


def behind(
    result: FieldsResult, link: str, *, iou: float, label: str | None = None, budget: float | None = None
) -> IntArray:
    """The rows that a number counts.

    Parameters
    ----------
    link : str
        A key of `LINKS`.
    iou : float
        Threshold of the status.
    label : str, optional
        Only this class of field.
    budget : float, optional
        Share of the fields that are reviewed, in (0, 1]; only for ``least_sure``.

    Returns
    -------
    int64, shape (K,)
        In canonical order; the least sure first for ``least_sure``.

    Raises
    ------
    ValueError
        For an unknown number, or ``least_sure`` without a budget.
    """
    if link not in LINKS:
        raise ValueError(f"the linked number must be one of {', '.join(LINKS)}; found {link}")
    compared = result.compared
    if link == LEAST_SURE or link.startswith(BIN):
        return _of_confidence(result, link, label, budget)
    chosen = _CHOSEN[link](result, iou) if link in _CHOSEN else _of_cell(result, iou, link)
    if label is not None:
        chosen = chosen & result.of_class(label)
    rows: IntArray = compared.order[chosen[compared.order]]
    return rows


def _of_confidence(result: FieldsResult, link: str, label: str | None, budget: float | None) -> IntArray:
    """Rows of a bin of confidence, or the least sure ones."""
    rows = result.confidence_rows(label)
    confidence = result.compared.confidence[rows]
    if link.startswith(BIN):
        in_bin: IntArray = rows[bin_of(confidence, bins=BINS) == int(link.removeprefix(BIN))]
        return in_bin
    if budget is None:
        raise ValueError("the least sure fields need a budget")
    sent: IntArray = rows[least_sure(confidence, budget)]
    return sent


def _of_status(link: str) -> Callable[[FieldsResult, float], BoolArray]:
    return lambda result, iou: np.asarray(result.status(iou) == STATUS_LINKS[link])


_CHOSEN: Final[Mapping[str, Callable[[FieldsResult, float], BoolArray]]] = {
    "problems": problems,
    "ground_truth": lambda result, _iou: result.with_truth,
    "predictions": lambda result, _iou: result.with_prediction,
    **{link: _of_status(link) for link in STATUS_LINKS},
}


def _of_cell(result: FieldsResult, iou: float, link: str) -> BoolArray:
    """Rows of one cell of value against box."""
    value, box = VALUE_BOX[link]
    both = result.with_truth & result.with_prediction
    cell: BoolArray = both & (result.compared.right == value) & ((result.compared.iou >= iou) == box)
    return cell


@dataclass(frozen=True, eq=False)
class FieldPages:
    """Where the compared fields lie.

    Attributes
    ----------
    compared : ComparedFields
        With the fields themselves; rows of a state have no page.
    """

    compared: ComparedFields

    @cached_property
    def truth_page(self) -> IntArray:
        """Page of each ground-truth box from 0, int64, shape (N,); -1 without a box."""
        return _pages(self.compared.has_truth, [field.page if field else NO_PAGE for field in self.compared.truth])

    @cached_property
    def predicted_page(self) -> IntArray:
        """Page of each predicted box from 0, int64, shape (N,); -1 without a box."""
        pages = [field.page if field else NO_PAGE for field in self.compared.predicted]
        return _pages(self.compared.has_prediction, pages)

    @cached_property
    def in_natural_order(self) -> tuple[int, ...]:
        """Codes of the documents, as people count."""
        names = self.compared.documents
        return tuple(sorted(range(len(names)), key=lambda code: natural_order(names[code])))

    def places_of(self, rows: IntArray) -> list[list[int]]:
        """Pages on which each of some rows lies: that of its boxes, else the first of the document."""
        pairs = zip(self.truth_page[rows].tolist(), self.predicted_page[rows].tolist(), strict=True)
        return [sorted({page for page in pair if page != NO_PAGE}) or [0] for pair in pairs]

    def counts(self, rows: IntArray) -> dict[tuple[int, int], int]:
        """How many of some rows lie on which page, by document code and page; a row on two pages counts on both."""
        of_page: dict[tuple[int, int], int] = {}
        documents = self.compared.document[rows].tolist()
        for document, pages in zip(documents, self.places_of(rows), strict=True):
            for page in pages:
                of_page[document, page] = of_page.get((document, page), 0) + 1
        return of_page

    @cached_property
    def every(self) -> tuple[tuple[int, int], ...]:
        """Every page that a box names, and the first page of each document, in natural order."""
        known = {(code, 0) for code in range(len(self.compared.documents))}
        for column in (self.truth_page, self.predicted_page):
            on_page = column != NO_PAGE
            known |= set(zip(self.compared.document[on_page].tolist(), column[on_page].tolist(), strict=True))
        place = {code: order for order, code in enumerate(self.in_natural_order)}
        return tuple(sorted(known, key=lambda page: (place[page[0]], page[1])))

    def order(
        self, counts: Mapping[tuple[int, int], int], *, document: int | None = None, only: bool = False
    ) -> list[tuple[int, int]]:
        """Pages to walk through, those with the most first, equal ones in natural order.

        Parameters
        ----------
        counts : mapping of int
            From `counts`.
        document : int, optional
            Only the pages of this document, in their own order.
        only : bool
            Leave out pages without any.

        Returns
        -------
        list of (int, int)
            Document codes and pages; empty when none passes.
        """
        listed = [page for page in self.every if document in (None, page[0]) and (not only or counts.get(page))]
        return listed if document is not None else sorted(listed, key=lambda page: -counts.get(page, 0))

    def rows_on(self, document: int, page: int) -> IntArray:
        """Rows with a box on a page; on the first page also those without any box, int64, in canonical order."""
        here = (self.truth_page == page) | (self.predicted_page == page)
        if page == 0:
            here |= (self.truth_page == NO_PAGE) & (self.predicted_page == NO_PAGE) & self.compared.is_field
        chosen = here & (self.compared.document == document)
        rows: IntArray = self.compared.order[chosen[self.compared.order]]
        return rows


def _pages(has_box: BoolArray, pages: list[int]) -> IntArray:
    """The page where there is a box."""
    if len(pages) != len(has_box):
        return np.where(has_box, 0, NO_PAGE)
    return np.where(has_box, np.array(pages, dtype=np.int64), NO_PAGE)
