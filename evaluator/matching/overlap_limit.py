"""Refuse files whose boxes overlap in so many pairs that comparing them would take too much memory.

Pairs are counted per box before any is kept. What is computed from pairs later is bounded by this count: IoU is a
positive definite kernel, so two files have few pairs with a high IoU when each has few with itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes, join
from evaluator.data.issues import Issue, count_of
from evaluator.data.polygons import outline_bounds
from evaluator.matching.pairs import Crowding, crowding, most_pairs

_FIX = "Remove the boxes that repeat others (non-maximum suppression does), or the page."


def crowding_issues(truth: Annotations, prediction: Annotations, *, polygons: bool = False) -> tuple[Issue, ...]:
    """Return an error for each file, or else for the pair, with more overlapping pairs than `most_pairs`.

    Both are in one unit, with pages and labels resolved; with `polygons` the bounds of outlines are compared. An error
    names the page with the most pairs; empty for ordinary files.
    """
    if all(float((_per_page(source)[1] ** 2).sum()) <= most_pairs(len(source.boxes)) for source in (truth, prediction)):
        # No sum of products is above that of the squares, so the two together have few as well.
        return ()
    bounds = [outline_bounds(source.boxes) if polygons else source.boxes.xyxy for source in (truth, prediction)]
    # Page by page first: that needs no memory for the other pages.
    issues = [_of_a_page(source, boxes) for source, boxes in zip((truth, prediction), bounds, strict=True)]
    if not any(issues):
        issues = _of_all_pages(join(truth, prediction), bounds)
    return tuple(issue for issue in issues if issue)


def _per_page(source: Annotations) -> tuple[IntArray, FloatArray]:
    """Return the first entry of the page of each page entry, and how many boxes each such page has."""
    pages = source.page_document.astype(np.int64) << 32 | source.page_index
    _, first, page = np.unique(pages, return_index=True, return_inverse=True)
    of_entry = first[page].astype(np.int64)
    return of_entry, np.bincount(of_entry[source.boxes.entry], minlength=len(pages)).astype(np.float64)


def _of_a_page(source: Annotations, boxes: FloatArray) -> Issue | None:
    """Return the issue of a page of one file; None when each page has few enough pairs."""
    of_entry, counts = _per_page(source)
    of_box = of_entry[source.boxes.entry]
    for page in np.flatnonzero(counts**2 > most_pairs(0)).tolist():
        rows = np.flatnonzero(of_box == page)
        group = np.zeros(len(rows), dtype=np.int64)
        crowd = crowding(boxes[rows], group, boxes[rows], group)
        if crowd:
            place = source.documents[source.page_document[page]].doc_id, int(source.page_index[page])
            return _issue(crowd, place, [(source.name, len(rows))])
    return None


def _of_all_pages(dataset: Dataset, bounds: Sequence[FloatArray]) -> list[Issue | None]:
    """Return the issues of each file with itself, or else of the two with each other."""
    truth, prediction = sides = dataset.ground_truth, dataset.predictions[0]
    issues = [_issue_on(dataset, (side,), (boxes, boxes)) for side, boxes in zip(sides, bounds, strict=True)]
    return issues if any(issues) else [_issue_on(dataset, (truth, prediction), (bounds[0], bounds[1]))]


def _issue_on(
    dataset: Dataset, sides: tuple[JoinedBoxes, ...], bounds: tuple[FloatArray, FloatArray]
) -> Issue | None:  # fmt: skip
    """Return the issue of one side with itself, or of two with each other; None for few enough pairs."""
    crowd = crowding(bounds[0], sides[0].page, bounds[1], sides[-1].page)
    if crowd is None:
        return None
    document = dataset.documents[dataset.page_document[crowd.group]].doc_id
    counts = [(side.source.name, int((side.page == crowd.group).sum())) for side in sides]
    return _issue(crowd, (document, int(dataset.page_index[crowd.group])), counts)


def _issue(crowd: Crowding, place: tuple[str, int], counts: Sequence[tuple[str, int]]) -> Issue:
    """Return an issue of a page, with the boxes that each file has there; it is that of the last file."""
    boxes = " and ".join(f"{count_of(count, 'box')} in {name}" for name, count in counts)
    what = "of the two files" if len(counts) > 1 else "of a file"
    where = "on a page" if crowd.alone else "in all"
    return Issue(
        severity="error",
        file=counts[-1][0],
        place=f"{place[0]}, page {place[1] + 1}",
        rule=f"at most {crowd.limit:,} pairs of boxes {what} may overlap {where} (1,000,000 and 32 for each box)",
        found=f"more{'' if crowd.alone else ', most of them here'}, with {boxes} on this page",
        fix=_FIX,
    )
