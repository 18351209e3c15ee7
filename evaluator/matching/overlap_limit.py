"""Refuse files whose boxes overlap in so many pairs that comparing them would take too much memory.

Pairs are counted per box before any is kept. What is computed from pairs later is bounded by this count: IoU is a
positive definite kernel, so two files have few pairs with a high IoU when each has few with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes, join
from evaluator.data.issues import Issue, count_of
from evaluator.data.order import begins
from evaluator.data.polygons import edge_bounds, outline_bounds
from evaluator.matching.pairs import Crowding, crowding, most_pairs

_SIMPLER = "Simplify the outlines, or compare the boxes alone."
# Of the largest coordinate.
_HAIR = 1e-9
_FIX = "Remove the boxes that repeat others (non-maximum suppression does), or the page."


def crowding_issues(truth: Annotations, prediction: Annotations, *, polygons: bool = False) -> tuple[Issue, ...]:
    """Return an error for each file, or else for the pair, with more overlapping pairs than `most_pairs`.

    Both are in one unit, with pages and labels resolved; with `polygons` outlines are compared, which may be too much
    for the points that they have. An error names the page with the most pairs; empty for ordinary files.
    """
    crowded = _crowded(truth, prediction, polygons=polygons)
    return crowded or (_outline_issues(truth, prediction) if polygons else ())


def _crowded(truth: Annotations, prediction: Annotations, *, polygons: bool) -> tuple[Issue, ...]:
    if all(float((_per_page(source)[1] ** 2).sum()) <= most_pairs(len(source.boxes)) for source in (truth, prediction)):
        # No sum of products is above that of the squares, so the two together have few as well.
        return ()
    bounds = [outline_bounds(source.boxes) if polygons else source.boxes.xyxy for source in (truth, prediction)]
    # Page by page first: that needs no memory for the other pages.
    issues = [_of_a_page(source, boxes) for source, boxes in zip((truth, prediction), bounds, strict=True)]
    if not any(issues):
        issues = _of_all_pages(join(truth, prediction), bounds)
    return tuple(issue for issue in issues if issue)


class _Outlines(NamedTuple):
    """One file's points of each box and what its outline reaches, and the bounds of the edges with their pages."""

    points: IntArray
    reach: FloatArray
    edges: FloatArray
    edge_page: IntArray


def _outlines(side: JoinedBoxes) -> _Outlines:
    polygons, points, reach = side.source.boxes.polygons, np.full(len(side), 4), side.xyxy.copy()
    rings = [(row, ring) for row in polygons for ring in polygons[row] if len(ring)]
    edges = edge_bounds([ring for _, ring in rings])
    owner = np.repeat([row for row, _ in rings], [len(ring) for _, ring in rings]).astype(np.int64)
    if len(owner):
        first = np.flatnonzero(begins(owner))
        points[owner[first]] = np.diff(first, append=len(owner))
        reach[owner[first]] = np.hstack(
            [np.minimum.reduceat(edges[:, :2], first), np.maximum.reduceat(edges[:, 2:], first)]
        )
        # An edge along an axis has no area, which a box needs to overlap.
        edges += np.abs(edges).max() * _HAIR * np.array([-1.0, -1.0, 1.0, 1.0])
    return _Outlines(points, reach, edges, side.page[owner])


def _outline_issues(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return an error where pairs of outlines have too many points together, or edges that meet too often."""
    if not (truth.boxes.polygons or prediction.boxes.polygons):
        return ()
    dataset = join(truth, prediction)
    sides = dataset.ground_truth, dataset.predictions[0]
    first, second = map(_outlines, sides)
    sizes = first.points, second.points
    pairs = crowding(first.reach, sides[0].page, second.reach, sides[1].page, sizes=sizes, most=_most_points)
    if pairs:
        rule = "the pairs of outlines that overlap may have at most {0:,} points {1} (1,000,000 and 16 for each point)"
        return (_issue_of(dataset, sides, pairs, rule, _SIMPLER),)
    meeting = crowding(first.edges, first.edge_page, second.edges, second.edge_page, most=_most_edges)
    if meeting:
        rule = "the bounds of at most {0:,} pairs of edges of outlines may overlap {1} (100,000 and 8 for each edge)"
        return (_issue_of(dataset, sides, meeting, rule, _SIMPLER),)
    return ()


def _most_points(points: IntArray) -> IntArray:
    return 1_000_000 + 16 * points


def _most_edges(edges: IntArray) -> IntArray:
    return 100_000 + 8 * edges


def _per_page(source: Annotations) -> tuple[IntArray, FloatArray]:
    """Return the first entry of the page of each page entry, and how many boxes each such page has."""
    pages = source.page_document.astype(np.int64) << 32 | source.page_index
    _, first, page = np.unique(pages, return_index=True, return_inverse=True)
    of_entry = first[page].astype(np.int64)
    return of_entry, np.bincount(of_entry[source.boxes.entry], minlength=len(pages)).astype(np.float64)


def _of_a_page(source: Annotations, boxes: FloatArray) -> Issue | None:
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
    truth, prediction = sides = dataset.ground_truth, dataset.predictions[0]
    issues = [_issue_on(dataset, (side,), (boxes, boxes)) for side, boxes in zip(sides, bounds, strict=True)]
    return issues if any(issues) else [_issue_on(dataset, (truth, prediction), (bounds[0], bounds[1]))]


def _issue_on(
    dataset: Dataset, sides: tuple[JoinedBoxes, ...], bounds: tuple[FloatArray, FloatArray]
) -> Issue | None:  # fmt: skip
    crowd = crowding(bounds[0], sides[0].page, bounds[1], sides[-1].page)
    return None if crowd is None else _issue_of(dataset, sides, crowd)


def _issue_of(dataset: Dataset, sides: Sequence[JoinedBoxes], crowd: Crowding, *more: str) -> Issue:
    document = dataset.documents[dataset.page_document[crowd.group]].doc_id
    counts = [(side.source.name, int((side.page == crowd.group).sum())) for side in sides]
    return _issue(crowd, (document, int(dataset.page_index[crowd.group])), counts, *more)


def _issue(
    crowd: Crowding, place: tuple[str, int], counts: Sequence[tuple[str, int]], rule: str = "", fix: str = _FIX
) -> Issue:
    """Return an issue of a page, with the boxes that each file has there; it is that of the last file."""
    boxes = " and ".join(f"{count_of(count, 'box')} in {name}" for name, count in counts)
    what = "of the two files" if len(counts) > 1 else "of a file"
    rule = rule or f"at most {{0:,}} pairs of boxes {what} may overlap {{1}} (1,000,000 and 32 for each box)"
    return Issue(
        severity="error",
        file=counts[-1][0],
        place=f"{place[0]}, page {place[1] + 1}",
        rule=rule.format(crowd.limit, "on a page" if crowd.alone else "in all"),
        found=f"more{'' if crowd.alone else ', most of them here'}, with {boxes} on this page",
        fix=fix,
    )
