"""Polygon geometry: IoU, coverage and purity of outlined regions, and what is wrong with an outline.

An outline is one or several rings, float64 arrays of shape (K, 2) in the unit of the boxes, origin top left; the
first point need not be repeated at the end. Several rings are parts of one region, which is their union (COCO
``segmentation``); holes do not exist. A row without a usable outline counts as its box. Who is paired with whom is
decided in ``matching``; nothing here reads a file or edits an outline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import shapely  # type: ignore[import-untyped]

from evaluator.model.boxes import FloatArray, IntArray, Overlap, overlap
from evaluator.model.issues import Collector

GeometryArray = npt.NDArray[np.object_]
_FEWEST_POINTS: Final = 3
# How GEOS says that nothing is wrong.
_VALID: Final = "Valid Geometry"

POLYGON_IOU: Final = "polygon IoU"
"""How a signature states that outlines were compared instead of boxes."""

ENCLOSES_RULE: Final = "a polygon must enclose an area (OGC simple features 1.2.1, section 6.1.11)"
CROSSES_RULE: Final = "a polygon must not cross or touch itself (OGC simple features 1.2.1, section 6.1.11)"


class Outlined(Protocol):
    """Boxes of which some have an outline, for instance `evaluator.model.dataset.Boxes`."""

    @property
    def xyxy(self) -> FloatArray:
        """Corners, float64, shape (N, 4)."""

    @property
    def polygons(self) -> Mapping[int, Sequence[FloatArray]]:
        """Rings of some rows."""


def polygon_overlap(
    ground_truth: Outlined, prediction: Outlined, truth_rows: IntArray, prediction_rows: IntArray
) -> Overlap:
    """IoU, coverage and purity of paired regions, by their outlines where they have one.

    Parameters
    ----------
    ground_truth, prediction : Outlined
        The same unit in both.
    truth_rows, prediction_rows : int64, shape (K,)
        Row i of one is paired with row i of the other.

    Returns
    -------
    Overlap
        Three float64 columns of shape (K,), in [0, 1]; empty columns for no pairs. A pair without any outline has
        exactly the numbers of `evaluator.model.boxes.overlap`.

    Notes
    -----
    The formulas are those of boxes, with areas by GEOS. A region that crosses itself is what its rings enclose; one
    that encloses nothing counts as its box. `polygon_issues` names both. Against masks of pixels, as in COCO's
    evaluation of segmentations, areas differ by about the pixels on the outline.
    """
    fit = overlap(ground_truth.xyxy[truth_rows], prediction.xyxy[prediction_rows])
    exact = np.flatnonzero(_has_outline(ground_truth, truth_rows) | _has_outline(prediction, prediction_rows))
    if not len(exact):
        return fit
    truth, predicted = _regions(ground_truth, truth_rows[exact]), _regions(prediction, prediction_rows[exact])
    truth_area, predicted_area = shapely.area(truth), shapely.area(predicted)
    # GEOS rounds the corners of an intersection, which may leave it larger than a part by a last digit.
    shared = np.minimum(shapely.area(shapely.intersection(truth, predicted)), np.minimum(truth_area, predicted_area))
    for column, whole in zip(fit, (predicted_area + truth_area - shared, truth_area, predicted_area), strict=True):
        column[exact] = np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0.0)
    return fit


def outline_bounds(boxes: Outlined, rows: IntArray | None = None) -> FloatArray:
    """Corners of what each region reaches: of its outline where it has one, else of its box.

    Parameters
    ----------
    rows : int64, shape (N,), optional
        Only these; all of them when absent.

    Returns
    -------
    float64, shape (N, 4)
        Only regions whose bounds overlap can overlap, whatever box a file states next to an outline.
    """
    chosen = np.arange(len(boxes.xyxy), dtype=np.int64) if rows is None else rows
    outlined = np.flatnonzero(_has_outline(boxes, chosen))
    bounds = boxes.xyxy[chosen]
    if len(outlined):
        bounds[outlined] = shapely.bounds(_regions(boxes, chosen[outlined]))
    return bounds


def drawn_rings(boxes: Outlined, rows: IntArray, *, tolerance: FloatArray) -> list[list[FloatArray]]:
    """The outlines of some rows as they are drawn: holes are rings too, and parts that touch are one.

    Parameters
    ----------
    rows : int64, shape (K,)
        Rows of the boxes.
    tolerance : float64, shape (K,)
        How far a drawn line may be from the outline, in the unit of the boxes.

    Returns
    -------
    list of list of float64 arrays of shape (N, 2)
        One list per row, to be filled by the even-odd rule; a ring does not repeat its first point. Empty for a row
        without a usable outline, and for one whose outline is its box.
    """
    outlined = np.flatnonzero(_has_outline(boxes, rows))
    drawn: list[list[FloatArray]] = [[] for _ in rows]
    if not len(outlined):
        return drawn
    shapes = _regions(boxes, rows[outlined])
    plain = shapely.box(*boxes.xyxy[rows[outlined]].T)
    own = ~shapely.equals(shapes, plain)
    simple = shapely.simplify(shapes[own], tolerance[outlined][own])
    for at, shape in zip(outlined[own].tolist(), simple, strict=True):
        rings = shapely.get_rings(shapely.get_parts(shape))
        drawn[at] = [np.asarray(shapely.get_coordinates(ring))[:-1] for ring in rings]
    return drawn


def polygon_issues(boxes: Outlined, issues: Collector, place_of: Callable[[int], str]) -> None:
    """Adds a warning for every outline that is not used as it is; the worst of its rings is named.

    Parameters
    ----------
    issues : Collector
        Of the file that the boxes come from.
    place_of : callable
        JSON path or line of the outline of a row.
    """
    for row in _suspects(boxes):
        rings = boxes.polygons[row]
        flat = [ring for ring in rings if not shapely.area(_outline([ring])) > 0.0]
        wrong = [shapely.is_valid_reason(_parts([ring])[0]) for ring in rings if len(ring) >= _FEWEST_POINTS]
        wrong = [reason for reason in wrong if reason != _VALID]
        if len(flat) == len(rings):
            text = _points(sum(len(ring) for ring in rings))
            issues.warning(place_of(row), ENCLOSES_RULE, text, "Its box is used; correct the outline, or leave it out.")
        elif flat:
            text = f"a ring of {_points(len(flat[0]))}"
            issues.warning(place_of(row), ENCLOSES_RULE, text, "Its other rings are used; correct this one.")
        elif wrong:
            issues.warning(place_of(row), CROSSES_RULE, wrong[0], "What it encloses is used; correct the outline.")


def _points(count: int) -> str:
    """A number of points in words."""
    return f"{count} point{'' if count == 1 else 's'}"


def _suspects(boxes: Outlined) -> list[int]:
    """Rows with a ring that is short, flat or not valid, rising."""
    owned = [(row, ring) for row in boxes.polygons for ring in boxes.polygons[row]]
    doubtful = dict.fromkeys(row for row in boxes.polygons if not len(boxes.polygons[row]))
    doubtful |= dict.fromkeys(row for row, ring in owned if len(ring) < _FEWEST_POINTS)
    owned = [(row, ring) for row, ring in owned if len(ring) >= _FEWEST_POINTS]
    if owned:
        parts = _parts([ring for _, ring in owned])
        wrong = ~shapely.is_valid(parts) | ~(shapely.area(parts) > 0.0)
        doubtful |= dict.fromkeys(owned[place][0] for place in np.flatnonzero(wrong))
    return sorted(doubtful)


def _parts(rings: Sequence[FloatArray]) -> GeometryArray:
    """One polygon for each ring."""
    number = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    return np.asarray(shapely.polygons(shapely.linearrings(np.concatenate(rings), indices=number)))


def _has_outline(boxes: Outlined, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Which of the rows have an outline, usable or not."""
    return np.isin(rows, np.fromiter(boxes.polygons, dtype=np.int64, count=len(boxes.polygons)))


def _regions(boxes: Outlined, rows: IntArray) -> GeometryArray:
    """Geometry of each row: its outline, or its box where there is none or it encloses nothing."""
    used, place = np.unique(rows, return_inverse=True)
    regions: GeometryArray = np.asarray(shapely.box(*boxes.xyxy[used].T))
    outlined = [(at, boxes.polygons[row]) for at, row in enumerate(used.tolist()) if row in boxes.polygons]
    usable = [(at, ring) for at, rings in outlined for ring in rings if len(ring) >= _FEWEST_POINTS]
    if usable:
        owner = np.array([at for at, _ in usable], dtype=np.int64)
        shapes = _united(owner, [ring for _, ring in usable])
        owners = np.unique(owner)
        encloses = shapely.area(shapes) > 0.0
        regions[owners[encloses]] = shapes[encloses]
    return regions[place]


def _united(owner: IntArray, rings: Sequence[FloatArray]) -> GeometryArray:
    """One valid geometry for each owner of rings, by rising owner."""
    parts = _parts(rings)
    order = np.argsort(owner, kind="stable")
    _, first = np.unique(owner[order], return_inverse=True)
    shapes: GeometryArray = np.asarray(shapely.multipolygons(parts[order], indices=first))
    crossed = ~shapely.is_valid(shapes)
    # Parts that overlap, and rings that cross themselves; what collapses to a line has no area to count.
    shapes[crossed] = shapely.make_valid(shapes[crossed], method="structure", keep_collapsed=False)
    return shapes


def _outline(rings: Sequence[FloatArray]) -> object:
    """The region of one row's rings, empty when they enclose nothing."""
    usable = [ring for ring in rings if len(ring) >= _FEWEST_POINTS]
    return _united(np.zeros(len(usable), dtype=np.int64), usable)[0] if usable else shapely.MultiPolygon()
