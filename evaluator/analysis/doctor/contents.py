"""What is in a file of boxes: counts per label, what is odd about its boxes and pages, and the pages behind a count."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Annotations, repeated
from evaluator.data.order import order_by

# Boxes may leave their page by so much of its side; models round.
_TOLERANCE: Final = 0.002
FEW: Final = 20
"""A label with fewer boxes than this means little."""


Check = Literal["duplicates", "pages_without_boxes", "outside", "flat"]
"""A count of `Contents` that has pages behind it."""


class PageCount(NamedTuple):
    """A page behind a count: document, page from 0, and how many of what is counted are there."""

    document: str
    page: int
    number: int


class Spread(msgspec.Struct, frozen=True):
    """The smallest, middle and largest of some numbers; None without any."""

    smallest: float | None
    median: float | None
    largest: float | None


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a file; `width` and `height` are of boxes, in `unit`.

    `labels`: boxes of each, also 0, in file order. `pages_without_size`: of a file in pixels. `duplicates`: boxes with
    another one of the same label and corners. `outside`: boxes that leave their page by more than rounding, None
    without page sizes. `flat`: without width or height. `few`: labels with 1 to 19 boxes.
    """

    name: str
    format: str
    side: str
    model: str | None
    unit: str
    documents: int
    pages: int
    boxes: int
    labels: dict[str, int]
    pages_without_boxes: int
    pages_without_size: int
    duplicates: int
    outside: int | None
    flat: int
    without_score: int
    outlines: int
    width: Spread
    height: Spread
    page_share: Spread
    score: Spread
    few: list[str]


def contents(source: Annotations) -> Contents:
    """Return what is in a file of boxes; counts of 0 and spreads of None without boxes."""
    boxes = source.boxes
    xyxy = boxes.xyxy
    pages = _different(source.page_document, source.page_index)
    used = _different(boxes.document, boxes.page)
    sides = xyxy[:, 2:] - xyxy[:, :2]
    size = _size(source)
    share = None if size is None else np.asarray(sides.prod(axis=1) / size.prod(axis=1), dtype=np.float64)
    outside = _outside(source)
    counts = np.bincount(boxes.label, minlength=len(source.labels)).tolist()
    labels = dict(zip(source.labels, counts, strict=True))
    without = 0
    if source.unit == "pixels":
        entries = len(source.page_index)
        without = entries if source.page_size is None else int(np.isnan(source.page_size).any(axis=1).sum())
    return Contents(
        name=source.name,
        format=source.format,
        side=source.side,
        model=source.model,
        unit=source.unit,
        documents=len(source.documents),
        pages=pages,
        boxes=len(boxes),
        labels=labels,
        pages_without_boxes=pages - used,
        pages_without_size=without,
        duplicates=int(repeated(source.boxes).sum()),
        outside=None if outside is None else int(outside.sum()),
        flat=int(_flat(source).sum()),
        without_score=int(np.isnan(boxes.score).sum()),
        outlines=len(boxes.polygons),
        width=_spread(sides[:, 0]),
        height=_spread(sides[:, 1]),
        page_share=_spread(np.empty(0) if share is None else share),
        score=_spread(boxes.score[~np.isnan(boxes.score)]),
        few=[label for label, count in labels.items() if 0 < count < FEW],
    )


def _different(document: AnyArray, page: AnyArray) -> int:
    order = order_by([document, page])
    return len(order) and 1 + int(np.count_nonzero(np.diff(document[order]) | np.diff(page[order])))


def _size(source: Annotations) -> FloatArray | None:
    if source.unit == "page":
        return np.ones((len(source.boxes), 2))
    return source.box_page_size


def page_counts(source: Annotations, check: Check) -> list[PageCount]:
    """Return the pages behind a count of `contents`, in the order of the file; empty for 0 or None."""
    if check == "pages_without_boxes":
        page = np.stack([source.page_document.astype(np.int64), source.page_index], axis=1)
        used = set(zip(source.boxes.document.tolist(), source.boxes.page.tolist(), strict=True))
        empty = dict.fromkeys((code, index) for code, index in page.tolist() if (code, index) not in used)
        return [PageCount(source.documents[code].doc_id, index, 1) for code, index in empty]
    rows = repeated(source.boxes) if check == "duplicates" else {"outside": _outside, "flat": _flat}[check](source)
    return [] if rows is None else _by_page(source, np.flatnonzero(rows))


def _by_page(source: Annotations, rows: IntArray) -> list[PageCount]:
    counts = Counter(zip(source.boxes.document[rows].tolist(), source.boxes.page[rows].tolist(), strict=True))
    return [PageCount(source.documents[code].doc_id, index, count) for (code, index), count in counts.items()]


def _outside(source: Annotations) -> BoolArray | None:
    size = _size(source)
    if size is None:
        return None
    xyxy, room = source.boxes.xyxy, _TOLERANCE * size
    return np.asarray((xyxy[:, :2] < -room).any(axis=1) | (xyxy[:, 2:] > size + room).any(axis=1))


def _flat(source: Annotations) -> BoolArray:
    xyxy = source.boxes.xyxy
    return np.asarray((xyxy[:, 2:] <= xyxy[:, :2]).any(axis=1))


def _spread(values: FloatArray) -> Spread:
    if not len(values):
        return Spread(None, None, None)
    return Spread(float(values.min()), float(np.median(values)), float(values.max()))
