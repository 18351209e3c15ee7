"""Pages of which the boxes are off although those of other pages are not: turned, mirrored or at another scale.

What brings the boxes of such a page onto those of the ground truth, whatever their labels, is proposed for it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray, FloatArray, IntArray, iou
from evaluator.data.dataset import Annotations, Dataset, PageKey, page_keys
from evaluator.data.issues import Collector, Issue
from evaluator.data.page_sizes import entry_sizes, pages_named, unturned

_IOU: Final = 0.5
_FITS: Final = 0.75
_GAIN: Final = 0.4
"""With a change, so many of the boxes of a page lie on one of the other file, and so many more than before."""
_PRICE: Final = 0.02
_FEWEST: Final = 3
_FOUND: Final = 0.25
"""Where more of the ground truth of a page is found its boxes are in place."""
_MOST_PAGES: Final = 1_000
_MOST_PAIRS: Final = 20_000
_SCALES: Final = (
    0.25, 1 / 3, 0.36, 0.48, 0.5, 2 / 3, 0.72, 0.75, 0.8, 1.25, 4 / 3, 100 / 72, 1.5, 2.0, 150 / 72, 200 / 72, 3.0, 4.0,
)  # fmt: skip
"""Usual ones of resolutions."""


class PagesApart(msgspec.Struct, frozen=True, kw_only=True):
    """Pages on which the boxes match with one change. `words` follow "when they are", `named` is how many and which."""

    words: str
    named: str
    pages: int


def apart_issues(apart: Sequence[PagesApart], file: str) -> tuple[Issue, ...]:
    """Return a warning that names the pages of a file of predictions that are off; empty for none."""
    if not apart:
        return ()
    collector = Collector(file, max_per_rule=None)
    rule = "boxes of single pages should not be turned, mirrored or rescaled where those of other pages are not"
    found = "; ".join(f"they match when {each.words} on {each.named}" for each in apart)
    fix = "They are compared as they are written; write them in the frame that the ground truth has for the page."
    collector.warning("", rule, found, fix)
    return collector.issues()


def apart_of(changes: Mapping[int, str], keys: Sequence[PageKey]) -> tuple[PagesApart, ...]:
    """Return pages by what brings their boxes in place; `changes` has these words by row of `keys`."""
    rows: dict[str, list[int]] = {}
    for row, words in changes.items():
        rows.setdefault(words, []).append(row)
    return tuple(
        PagesApart(words=words, named=pages_named(keys, np.array(of_words)), pages=len(of_words))
        for words, of_words in rows.items()
    )


def pages_apart(truth: Annotations, prediction: Annotations) -> tuple[tuple[PagesApart, ...], Annotations]:
    """Return the pages that are off, by what brings their boxes in place, and the prediction with all of that.

    None for files of two units. Pages with fewer than three boxes on a side say nothing; the first thousand are looked
    at.
    """
    if truth.unit != prediction.unit:
        return (), prediction
    sizes = np.ones((len(prediction.page_index), 2)) if truth.unit == "page" else entry_sizes(prediction, truth)
    xyxy = prediction.boxes.xyxy.copy()
    changes: dict[int, str] = {}
    for entry, ours, theirs in _shared_pages(truth, prediction):
        change = _change(prediction.boxes.xyxy[ours], truth.boxes.xyxy[theirs], sizes[entry])
        if change is not None:
            changes[entry], xyxy[ours] = change
    if not changes:
        return (), prediction
    moved = replace(prediction, boxes=replace(prediction.boxes, xyxy=xyxy, polygons={}, area=None, box_area=None))
    return apart_of(changes, page_keys(prediction)), moved


def pages_in_doubt(dataset: Dataset, model: int, true_positives: IntArray) -> tuple[IntArray, int]:
    """Return the pages with few `true_positives`, int64 (P,), for their ground truth, and how many are compared.

    Pages with fewer than three boxes on a side say nothing.
    """
    truths, boxes = (
        np.bincount(side.page, minlength=dataset.pages) for side in (dataset.ground_truth, dataset.predictions[model])
    )
    compared = (truths >= _FEWEST) & (boxes >= _FEWEST) & (truths * boxes <= _MOST_PAIRS)
    return np.flatnonzero(compared & (true_positives <= _FOUND * truths)), int(np.count_nonzero(compared))


def single_pages(doubt: IntArray, compared: int) -> IntArray:
    """Return the pages in doubt that are looked at: the first thousand, none where they are most of those compared."""
    return doubt[: _MOST_PAGES if 2 * len(doubt) <= compared else 0]


def changes_on(dataset: Dataset, model: int, pages: IntArray) -> dict[int, str]:
    """Return what brings the boxes of some pages, which rise, onto the ground truth, by page; only where that helps."""
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    sizes = np.ones((dataset.pages, 2)) if truth.source.unit == "page" else dataset.page_size
    ours, theirs = (_grouped(side.page, pages) for side in (prediction, truth))
    changes = (
        _change(prediction.xyxy[own], truth.xyxy[known], sizes[page])
        for page, own, known in zip(pages, ours, theirs, strict=True)
    )
    return {page: change[0] for page, change in zip(pages.tolist(), changes, strict=True) if change is not None}


def _change(boxes: FloatArray, known: FloatArray, size: FloatArray) -> tuple[str, FloatArray] | None:
    """Return what brings the boxes of a page onto those of the ground truth, in words, and them; None for nothing."""
    given = float(_fit(boxes[None], known)[0][0])
    if given > 1.0 - _GAIN:
        return None
    words, changed = zip(*_changed(boxes, known, size), strict=True)
    shares, overlaps = _fit(np.stack(changed), known)
    # A usual change goes before the scale that the boxes suggest.
    best = int((shares + overlaps - _PRICE * (np.arange(len(words)) == len(words) - 1)).argmax())
    return (words[best], changed[best]) if shares[best] >= max(_FITS, given + _GAIN) else None


def _shared_pages(truth: Annotations, prediction: Annotations) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield page entries of the prediction with their boxes and those of the ground truth, where both have enough."""
    theirs = {key: rows for key, rows in zip(page_keys(truth), _rows(truth), strict=True) if len(rows) >= _FEWEST}
    for entry, (key, rows) in enumerate(zip(page_keys(prediction), _rows(prediction), strict=True)):
        if entry == _MOST_PAGES:
            return
        if len(rows) >= _FEWEST and key in theirs and len(rows) * len(theirs[key]) <= _MOST_PAIRS:
            yield entry, rows, theirs[key]


def _rows(source: Annotations) -> list[IntArray]:
    """Return the boxes of each page entry."""
    return _grouped(source.boxes.entry, np.arange(len(source.page_index)))


def _grouped(page: AnyArray, pages: IntArray) -> list[IntArray]:
    """Return the rows of each of some pages, which rise."""
    rows = np.flatnonzero(np.isin(page, pages))
    rows = rows[np.argsort(page[rows], kind="stable")]
    ends = np.searchsorted(page[rows], pages[1:])
    return np.split(rows, ends) if len(pages) else []


def _fit(ours: FloatArray, known: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how well (C, N, 4) boxes fit those of the ground truth, two float64 (C,).

    The mean share of the boxes of either side that lie on one of the other, and the mean of their highest IoU.
    """
    first = np.repeat(ours.reshape(-1, 4), len(known), axis=0)
    second = np.tile(known, (ours.shape[0] * ours.shape[1], 1))
    of_pair = iou(second, first).reshape(*ours.shape[:2], len(known))
    highest = np.concatenate([of_pair.max(axis=2), of_pair.max(axis=1)], axis=1)
    shares = ((of_pair >= _IOU).any(axis=2).mean(axis=1) + (of_pair >= _IOU).any(axis=1).mean(axis=1)) / 2.0
    return shares, highest.mean(axis=1)


def _changed(boxes: FloatArray, known: FloatArray, size: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield what may have been done to a page, in words, and its boxes without that; `size` may be NaN."""
    yield "read with x and y exchanged", boxes[:, [1, 0, 3, 2]]
    if not np.isnan(size).any():
        for quarter in (1, 2, 3):
            points = unturned(boxes.reshape(-1, 2, 2), np.full(len(boxes), quarter), np.tile(size, (len(boxes), 1)))
            yield f"turned clockwise by {90 * quarter} degrees", np.hstack([points.min(axis=1), points.max(axis=1)])
        for axis, words in enumerate(("mirrored from left to right", "mirrored from top to bottom")):
            mirrored = boxes.copy()
            mirrored[:, [axis, axis + 2]] = size[axis] - boxes[:, [axis + 2, axis]]
            yield words, mirrored
    # The one that the extents suggest, for a resolution that is not usual.
    extent = np.ptp(boxes.reshape(-1, 2), axis=0)
    own = np.ptp(known.reshape(-1, 2), axis=0) / extent if (extent > 0.0).all() else np.ones(2)
    for scale in (*_SCALES, float(own.mean())):
        yield f"rescaled by {scale:.3g}", boxes * scale
