"""Polygon geometry: IoU, coverage and purity of outlined regions, and what is wrong with an outline.

An outline is one or several rings, float64 arrays of shape (K, 2) in the unit of the boxes, origin top left; the first
point need not be repeated at the end. Several rings are parts of one region, which is their union (COCO
``segmentation``); holes do not exist. A row without a usable outline counts as its box. Shapely is imported
(``regions``) only where there is an outline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray, Outlined, Overlap, overlap
from evaluator.data.issues import Collector, count_of

POLYGON_IOU: Final = "polygon IoU"
"""How a signature states that outlines were compared instead of boxes."""

ENCLOSES_RULE: Final = "a polygon must enclose an area (OGC simple features 1.2.1, section 6.1.11)"
CROSSES_RULE: Final = "a polygon must not cross or touch itself (OGC simple features 1.2.1, section 6.1.11)"

MOST_POINTS: Final = 20_000
"""Points of one outline."""

# All pairs of edges of so few are not too many.
_ALWAYS_USABLE: Final = 53
_POINTS_RULE: Final = f"an outline must have at most {MOST_POINTS:,} points"
_EDGES_RULE: Final = (
    "the bounds of at most 1,000 pairs of edges of an outline, and 8 for each of its points, may overlap"
)


class Outlines(Mapping[int, Sequence[FloatArray]]):
    """The outlines of `rows`, int64 (R,), rising, as columns; a lookup makes views.

    Row i has the rings from ``first_ring[i]`` up to ``first_ring[i + 1]``, ring s the `points`, float64 (K, 2), from
    ``first_point[s]`` up to ``first_point[s + 1]``.
    """

    __slots__ = ("_first_point", "_first_ring", "_points", "_rows")

    def __init__(self, rows: IntArray, first_ring: IntArray, first_point: IntArray, points: FloatArray) -> None:
        self._rows, self._first_ring, self._first_point, self._points = rows, first_ring, first_point, points

    def __getitem__(self, row: int) -> Sequence[FloatArray]:
        at = int(np.searchsorted(self._rows, row))
        if at == len(self._rows) or self._rows[at] != row:
            raise KeyError(row)
        bounds = self._first_point[self._first_ring[at] : self._first_ring[at + 1] + 1].tolist()
        return [self._points[start:stop] for start, stop in pairwise(bounds)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows.tolist())

    def __len__(self) -> int:
        return len(self._rows)

    def larger(self, points: int) -> list[int]:
        """Return the rows whose outlines have more than so many points."""
        ends = self._first_point[self._first_ring]
        rows: list[int] = self._rows[np.diff(ends) > points].tolist()
        return rows

    @property
    def extents(self) -> FloatArray:
        """Return the smallest box that holds each row, float64 (R, 4)."""
        first = self._first_point[self._first_ring[:-1]]
        sides = [side.reduceat(axis, first) for side in (np.minimum, np.maximum) for axis in self._points.T]
        return np.stack(sides, axis=1)

    @property
    def columns(self) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Return what it was made of, in that order."""
        return self._rows, self._first_ring, self._first_point, self._points


def most_edge_pairs(points: int) -> int:
    """Return how many pairs of edges of an outline may overlap: each may cross, at some microseconds and 2 KB."""
    return 1_000 + 8 * points


def usable_outlines(
    boxes: Outlined, issues: Collector, place_of: Callable[[int], str]
) -> Mapping[int, Sequence[FloatArray]]:
    """Return the usable outlines, the same object for all; others are warnings, placed by `place_of` their row."""
    outlines, left_out = boxes.polygons, set()
    for row in _larger(outlines, _ALWAYS_USABLE):
        rings = outlines[row]
        points = sum(map(len, rings))
        if points > MOST_POINTS:
            rule = _POINTS_RULE
        elif points * points > 2 * most_edge_pairs(points) and _cross_often(rings, most_edge_pairs(points)):
            rule = _EDGES_RULE
        else:
            continue
        left_out.add(row)
        issues.warning(
            place_of(row), rule, count_of(points, "point"), "Its box is used; simplify the outline, or leave it out."
        )
    return {row: rings for row, rings in outlines.items() if row not in left_out} if left_out else outlines


def _larger(outlines: Mapping[int, Sequence[FloatArray]], points: int) -> list[int]:
    if isinstance(outlines, Outlines):
        return outlines.larger(points)
    return [row for row, rings in outlines.items() if sum(map(len, rings)) > points]


def _cross_often(rings: Sequence[FloatArray], most: int) -> bool:
    from evaluator.data import geometries

    return geometries.overlapping(edge_bounds(rings), most)


def edge_bounds(rings: Sequence[FloatArray]) -> FloatArray:
    """Return the corners of what each edge of some rings reaches, float64, shape (K, 4): one edge for each point."""
    if not len(rings):
        return np.empty((0, 4))
    points = np.concatenate(rings)
    length = np.array([len(ring) for ring in rings if len(ring)], dtype=np.int64)
    last = np.cumsum(length) - 1
    following = np.arange(1, len(points) + 1)
    following[last] -= length
    ends = points[following]
    return np.hstack([np.minimum(points, ends), np.maximum(points, ends)])


def polygon_overlap(
    ground_truth: Outlined, prediction: Outlined, truth_rows: IntArray, prediction_rows: IntArray
) -> Overlap:
    """Return IoU, coverage and purity of paired regions, by their outlines where they have one.

    The formulas are those of `evaluator.data.boxes.overlap`, whose numbers a pair without any outline has exactly,
    with areas by GEOS. A region that crosses itself is what its rings enclose; one that encloses nothing counts as its
    box. Against masks of pixels, as in COCO's evaluation of segmentations, areas differ by about the pixels on the
    outline.
    """
    fit = overlap(ground_truth.xyxy[truth_rows], prediction.xyxy[prediction_rows])
    exact = np.flatnonzero(_has_outline(ground_truth, truth_rows) | _has_outline(prediction, prediction_rows))
    if not len(exact):
        return fit
    from evaluator.data import geometries

    truth_area, predicted_area, shared = geometries.areas(
        geometries.of_rows(ground_truth, truth_rows[exact]), geometries.of_rows(prediction, prediction_rows[exact])
    )
    for column, whole in zip(fit, (predicted_area + truth_area - shared, truth_area, predicted_area), strict=True):
        column[exact] = np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0.0)
    return fit


def outline_bounds(boxes: Outlined, rows: IntArray | None = None) -> FloatArray:
    """Return the corners of what each region reaches: of its outline where it has one, else of its box.

    Only regions whose bounds overlap can overlap, whatever box a file states next to an outline.
    """
    chosen = np.arange(len(boxes.xyxy), dtype=np.int64) if rows is None else rows
    outlined = np.flatnonzero(_has_outline(boxes, chosen))
    bounds = boxes.xyxy[chosen]
    if len(outlined):
        from evaluator.data import geometries

        bounds[outlined] = geometries.bounds(boxes, chosen[outlined])
    return bounds


def drawn_rings(boxes: Outlined, rows: IntArray, *, tolerance: FloatArray) -> list[list[FloatArray]]:
    """Return the outlines of some rows as they are drawn: holes are rings too, parts that touch are one.

    One list per row, to be filled by the even-odd rule; a ring does not repeat its first point. Empty for a row without
    a usable outline, and for one whose outline is its box. `tolerance`, shape (K,), is in the unit of the boxes.
    """
    outlined = np.flatnonzero(_has_outline(boxes, rows))
    drawn: list[list[FloatArray]] = [[] for _ in rows]
    if not len(outlined):
        return drawn
    from evaluator.data import geometries

    for at, rings in zip(outlined.tolist(), geometries.rings(boxes, rows[outlined], tolerance[outlined]), strict=True):
        drawn[at] = rings
    return drawn


def polygon_issues(boxes: Outlined, issues: Collector, place_of: Callable[[int], str]) -> None:
    """Add a warning, placed by `place_of` its row, for every outline that is not used as it is."""
    if not boxes.polygons:
        return
    from evaluator.data import geometries

    for row in geometries.suspects(boxes):
        rings = boxes.polygons[row]
        flat, wrong = geometries.flaws(rings)
        if len(flat) == len(rings):
            text = count_of(sum(len(ring) for ring in rings), "point")
            issues.warning(place_of(row), ENCLOSES_RULE, text, "Its box is used; correct the outline, or leave it out.")
        elif flat:
            text = f"a ring of {count_of(len(flat[0]), 'point')}"
            issues.warning(place_of(row), ENCLOSES_RULE, text, "Its other rings are used; correct this one.")
        elif wrong:
            issues.warning(place_of(row), CROSSES_RULE, wrong[0], "What it encloses is used; correct the outline.")


def _has_outline(boxes: Outlined, rows: IntArray) -> npt.NDArray[np.bool_]:
    return np.isin(rows, np.fromiter(boxes.polygons, dtype=np.int64, count=len(boxes.polygons)))
