"""A page before and after a fix: the boxes of both files in shares of the page, and which of them fit.

Owns the choice of the page: the one on which a fix brings most boxes together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluator.doctor.fixes import Fix, apply_fixes, sizes_of
from evaluator.model.boxes import FloatArray, iou
from evaluator.model.dataset import Annotations
from evaluator.model.issues import BadInput

_IOU = 0.5
_MOST_PAGES = 200


class Boxes(NamedTuple):
    """The boxes of a page, in shares of it.

    Attributes
    ----------
    truth, prediction : float64, shape (N, 4) and (M, 4)
    matched : int
        How many boxes of the ground truth lie on one of the prediction.
    """

    truth: FloatArray
    prediction: FloatArray
    matched: int


class Preview(NamedTuple):
    """A page as given and with the fixes; the width and height of the page, 1 and 1.414 where they are not known."""

    document: str
    page: int
    given: Boxes
    fixed: Boxes
    size: tuple[float, float]


def preview(truth: Annotations, prediction: Annotations, fixes: Sequence[Fix]) -> Preview | None:
    """The page on which some fixes bring most boxes together; None when there is none.

    Parameters
    ----------
    truth, prediction : Annotations
        As for `diagnose`.
    fixes : sequence of Fix
    """
    try:
        fixed = apply_fixes(prediction, truth, fixes)
    except BadInput:
        return None
    known, mended, given = _by_page(truth, truth), _by_page(fixed, truth), _by_page(prediction, truth)
    shared = sorted(known.keys() & mended.keys())[:_MOST_PAGES]
    if not shared:
        return None
    best = max(shared, key=lambda page: (_matched(known[page], mended[page]), -len(mended[page])))
    none = np.empty((0, 4))
    before, after = given.get(best, none), mended[best]
    names = [document.doc_id for document in truth.documents]
    size = (1.0, 1.414)
    if truth.page_size is not None:
        for entry, (code, index) in enumerate(
            zip(truth.page_document.tolist(), truth.page_index.tolist(), strict=True)
        ):
            if (names[code], index) == best and not np.isnan(truth.page_size[entry]).any():
                size = (float(truth.page_size[entry, 0]), float(truth.page_size[entry, 1]))
    truths = known[best]
    return Preview(
        best[0],
        best[1],
        Boxes(truths, before, _matched(truths, before)),
        Boxes(truths, after, _matched(truths, after)),
        size,
    )


def _by_page(source: Annotations, truth: Annotations) -> dict[tuple[str, int], FloatArray]:
    """Corners in shares of the page, by document id and page."""
    xyxy = source.boxes.xyxy
    if source.unit == "pixels":
        size = sizes_of(source, truth)
        xyxy = xyxy / (np.tile(size, 2) if size is not None else max(float(np.abs(truth.boxes.xyxy).max()), 1e-9))
    names = [document.doc_id for document in source.documents]
    rows: dict[tuple[str, int], list[int]] = {}
    pages = zip(source.boxes.document.tolist(), source.boxes.page.tolist(), strict=True)
    for row, (code, index) in enumerate(pages):
        rows.setdefault((names[code], index), []).append(row)
    return {page: xyxy[of] for page, of in rows.items()}


def _matched(truth: FloatArray, prediction: FloatArray) -> int:
    if not len(truth) or not len(prediction):
        return 0
    first = np.repeat(np.arange(len(truth)), len(prediction))
    second = np.tile(np.arange(len(prediction)), len(truth))
    with np.errstate(invalid="ignore"):
        fits = iou(truth[first], prediction[second]) >= _IOU
    return len(np.unique(first[fits]))
