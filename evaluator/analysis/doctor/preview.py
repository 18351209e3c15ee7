"""A page before and after a fix: the boxes of both files in shares of the page, and which of them fit.

The page is the one on which a fix brings most boxes together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, iou
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.fixes import Fix, apply_fixes, sizes_of
from evaluator.data.issues import BadInput

_IOU = 0.5
_MOST_PAGES = 200


class _Page(NamedTuple):
    """Corners in shares of the page, float64, shape (N, 4), and labels."""

    xyxy: FloatArray
    labels: list[str]


class Boxes(NamedTuple):
    """The boxes of a page, in shares of it: float64, shapes (N, 4) and (M, 4).

    `hits`: bool (M,), boxes of the prediction on one of the ground truth with their label; `matched`: boxes of the
    ground truth on one of the prediction with their label.
    """

    truth: FloatArray
    prediction: FloatArray
    hits: BoolArray
    matched: int


class Preview(NamedTuple):
    """A page as given and with the fixes; `size` is 1 by 1.414 where it is not known."""

    document: str
    page: int
    given: Boxes
    fixed: Boxes
    size: tuple[float, float]


def preview(truth: Annotations, prediction: Annotations, fixes: Sequence[Fix]) -> Preview | None:
    """Return the page on which some fixes bring most boxes together; None when there is none."""
    try:
        fixed = apply_fixes(prediction, truth, fixes)
    except BadInput:
        return None
    known, fixed_by_page, given = _by_page(truth, truth), _by_page(fixed, truth), _by_page(prediction, truth)
    shared = sorted(known.keys() & fixed_by_page.keys())[:_MOST_PAGES]
    if not shared:
        return None
    best = max(
        shared, key=lambda page: (_boxes(known[page], fixed_by_page[page]).matched, -len(fixed_by_page[page].labels))
    )
    size = (1.0, 1.414)
    if truth.page_size is not None:
        for entry, key in enumerate(page_keys(truth)):
            if key == best and not np.isnan(truth.page_size[entry]).any():
                size = (float(truth.page_size[entry, 0]), float(truth.page_size[entry, 1]))
    before = given.get(best, _Page(np.empty((0, 4)), []))
    return Preview(best[0], best[1], _boxes(known[best], before), _boxes(known[best], fixed_by_page[best]), size)


def _by_page(source: Annotations, truth: Annotations) -> dict[tuple[str, int], _Page]:
    xyxy = source.boxes.xyxy
    if source.unit == "pixels":
        size = sizes_of(source, truth)
        xyxy = xyxy / (np.tile(size, 2) if size is not None else max(float(np.abs(truth.boxes.xyxy).max()), 1e-9))
    names = [document.doc_id for document in source.documents]
    rows: dict[tuple[str, int], list[int]] = {}
    pages = zip(source.boxes.document.tolist(), source.boxes.page.tolist(), strict=True)
    for row, (code, index) in enumerate(pages):
        rows.setdefault((names[code], index), []).append(row)
    labels = [source.labels[code] for code in source.boxes.label.tolist()]
    return {page: _Page(xyxy[of], [labels[row] for row in of]) for page, of in rows.items()}


def _boxes(truth: _Page, prediction: _Page) -> Boxes:
    count = len(prediction.labels)
    first = np.repeat(np.arange(len(truth.labels)), count)
    second = np.tile(np.arange(count), len(truth.labels))
    same = np.array([one == other for one in truth.labels for other in prediction.labels], dtype=bool)
    with np.errstate(invalid="ignore"):
        fits = same & (iou(truth.xyxy[first], prediction.xyxy[second]) >= _IOU)
    hits = np.zeros(count, dtype=bool)
    hits[second[fits]] = True
    return Boxes(truth.xyxy, prediction.xyxy, hits, len(np.unique(first[fits])))
