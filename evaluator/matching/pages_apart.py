"""Pages of which the boxes are off although those of other pages are not: turned, mirrored or at another scale.

What brings the boxes of such a page onto those of the ground truth, whatever their labels, is proposed for it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray, FloatArray, IntArray, iou
from evaluator.data.dataset import Dataset, PageKey
from evaluator.data.issues import Collector, Issue
from evaluator.data.page_sizes import pages_named, unturned

_IOU: Final = 0.5
_FITS: Final = 0.75
GAIN: Final = 0.4
"""With a change, so many of the boxes of a page lie on one of the other file, and so many more than before."""
_PRICE: Final = 0.02
FEWEST: Final = 3
"""Fewer boxes on a side of a page say nothing by themselves."""
_FOUND: Final = 0.25
"""Where more of the ground truth of a page is found its boxes are in place."""
MOST_PAGES: Final = 1_000
MOST_PAIRS: Final = 20_000
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
    rule = "boxes of some pages should not be turned, rescaled, moved or renamed where those of other pages are not"
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


def pages_in_doubt(dataset: Dataset, model: int, true_positives: IntArray) -> tuple[IntArray, int]:
    """Return the pages with few `true_positives`, int64 (P,), for their ground truth, and how many are compared.

    Pages with fewer than three boxes on a side say nothing.
    """
    truths, boxes = (
        np.bincount(side.page, minlength=dataset.pages) for side in (dataset.ground_truth, dataset.predictions[model])
    )
    compared = (truths >= FEWEST) & (boxes >= FEWEST) & (truths * boxes <= MOST_PAIRS)
    return np.flatnonzero(compared & (true_positives <= _FOUND * truths)), int(np.count_nonzero(compared))


def single_pages(doubt: IntArray, compared: int) -> IntArray:
    """Return the pages in doubt that are looked at: the first thousand, none where they are most of those compared."""
    return doubt[: MOST_PAGES if 2 * len(doubt) <= compared else 0]


def changes_on(dataset: Dataset, model: int, pages: IntArray) -> dict[int, str]:
    """Return what brings the boxes of some pages, which rise, onto the ground truth, by page; only where that helps."""
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    sizes = np.ones((dataset.pages, 2)) if truth.source.unit == "page" else dataset.page_size
    ours, theirs = (grouped(side.page, pages) for side in (prediction, truth))
    changes = (
        _change(prediction.xyxy[own], truth.xyxy[known], sizes[page])
        for page, own, known in zip(pages, ours, theirs, strict=True)
    )
    return {page: change[0] for page, change in zip(pages.tolist(), changes, strict=True) if change is not None}


def _change(boxes: FloatArray, known: FloatArray, size: FloatArray) -> tuple[str, FloatArray] | None:
    """Return what brings the boxes of a page onto those of the ground truth, in words, and them; None for nothing."""
    (given,) = fits(boxes[None], known)
    if given.share > 1.0 - GAIN:
        return None
    tried = list(changed(boxes, size, own_scale(boxes, known)))
    of_each = fits(np.stack([xyxy for _, xyxy in tried]), known)
    best = max(range(len(tried)), key=lambda at: of_each[at].rank(usual=at < len(tried) - 1))
    return tried[best] if of_each[best].mends(given) else None


def grouped(page: AnyArray, pages: IntArray) -> list[IntArray]:
    """Return the rows of each of some pages, which rise."""
    rows = np.flatnonzero(np.isin(page, pages))
    rows = rows[np.argsort(page[rows], kind="stable")]
    ends = np.searchsorted(page[rows], pages[1:])
    return np.split(rows, ends) if len(pages) else []


class Fit(NamedTuple):
    """How well boxes fit those of a page: pairs one to one at most, the mean share of either side, the mean IoU."""

    boxes: float
    share: float
    overlap: float

    def rank(self, *, usual: bool) -> float:
        """Return how good it is; a usual change goes before the scale that the boxes suggest."""
        return self.share + self.overlap - (0.0 if usual else _PRICE)

    def mends(self, given: Fit) -> bool:
        """Return whether a page that fits so says by itself that it was off when it fitted as `given`."""
        return self.share >= max(_FITS, given.share + GAIN)


def overlaps(ours: FloatArray, known: FloatArray) -> FloatArray:
    """Return the IoU of each of (C, N, 4) boxes with each of (M, 4), float64 (C, N, M)."""
    first = np.repeat(ours.reshape(-1, 4), len(known), axis=0)
    with np.errstate(invalid="ignore", over="ignore"):
        return iou(np.tile(known, (ours.shape[0] * ours.shape[1], 1)), first).reshape(*ours.shape[:2], len(known))


def fits(ours: FloatArray, known: FloatArray) -> list[Fit]:
    """Return how well (C, N, 4) boxes fit those of the ground truth, (M, 4), C of them; 0 without any."""
    if not len(known):
        return [Fit(0.0, 0.0, 0.0)] * len(ours)
    of_pair = overlaps(ours, known)
    sides = of_pair.max(axis=2), of_pair.max(axis=1)
    fitting = [(side >= _IOU).sum(axis=1) for side in sides]
    shares = sum(count / side.shape[1] for count, side in zip(fitting, sides, strict=True)) / 2.0
    overlap = np.concatenate(sides, axis=1).mean(axis=1)
    return list(map(Fit, np.minimum(*fitting).tolist(), shares.tolist(), overlap.tolist()))


def own_scale(boxes: FloatArray, known: FloatArray) -> float:
    """Return the scale that the extents suggest, for a resolution that is not usual; 1 for boxes without extent."""
    extent = np.ptp(boxes.reshape(-1, 2), axis=0)
    return float((np.ptp(known.reshape(-1, 2), axis=0) / extent).mean()) if (extent > 0.0).all() else 1.0


def changed(boxes: FloatArray, size: FloatArray, scale: float) -> Iterator[tuple[str, FloatArray]]:
    """Yield what may have been done to a page, in words, and its boxes without that; `scale` is the last.

    `size` may be NaN.
    """
    yield "read with x and y exchanged", boxes[:, [1, 0, 3, 2]]
    if not np.isnan(size).any():
        for quarter in (1, 2, 3):
            points = unturned(boxes.reshape(-1, 2, 2), np.full(len(boxes), quarter), np.tile(size, (len(boxes), 1)))
            yield f"turned clockwise by {90 * quarter} degrees", np.hstack([points.min(axis=1), points.max(axis=1)])
        for axis, words in enumerate(("mirrored from left to right", "mirrored from top to bottom")):
            mirrored = boxes.copy()
            mirrored[:, [axis, axis + 2]] = size[axis] - boxes[:, [axis + 2, axis]]
            yield words, mirrored
        yield "read as shares of the page", boxes * np.tile(size, 2)
    for each in (*_SCALES, scale):
        yield f"rescaled by {each:.3g}", boxes * each
