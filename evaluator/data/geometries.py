"""Outlines as geometries of GEOS: areas, bounds, rings, and problems; the only file that imports Shapely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import shapely  # type: ignore[import-untyped]

from evaluator.data.boxes import FloatArray, IntArray, Outlined

GeometryArray = npt.NDArray[np.object_]
_FEWEST_POINTS: Final = 3
# With 20,000 others in as many pairs as take 80 MB.
_AT_ONCE: Final = 64
# How GEOS says that nothing is wrong.
_VALID: Final = "Valid Geometry"


def of_rows(boxes: Outlined, rows: IntArray) -> GeometryArray:
    """Return the geometry of each row: its outline, or its box where there is none or it encloses nothing."""
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


def areas(one: GeometryArray, other: GeometryArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the areas of paired geometries, and of what they share; float64, shape (N,)."""
    own, others = shapely.area(one), shapely.area(other)
    # GEOS rounds the corners of an intersection, which may leave it larger than a part by a last digit.
    shared = np.minimum(shapely.area(shapely.intersection(one, other)), np.minimum(own, others))
    return own, others, shared


def bounds(boxes: Outlined, rows: IntArray) -> FloatArray:
    """Return the corners of what the geometries of some rows reach, float64, shape (N, 4)."""
    return np.asarray(shapely.bounds(of_rows(boxes, rows)))


def rings(boxes: Outlined, rows: IntArray, tolerance: FloatArray) -> list[list[FloatArray]]:
    """Return the rings of some rows as they are drawn, as `polygons.drawn_rings`."""
    drawn: list[list[FloatArray]] = [[] for _ in rows]
    shapes = of_rows(boxes, rows)
    own = ~shapely.equals(shapes, shapely.box(*boxes.xyxy[rows].T))
    simple = shapely.simplify(shapes[own], tolerance[own])
    for at, shape in zip(np.flatnonzero(own).tolist(), simple, strict=True):
        every = shapely.get_rings(shapely.get_parts(shape))
        drawn[at] = [np.asarray(shapely.get_coordinates(ring))[:-1] for ring in every]
    return drawn


def overlapping(bounds: FloatArray, most: int) -> bool:
    """Return whether more than `most` pairs of bounds, float64 (K, 4), overlap or touch."""
    shapes = shapely.box(*bounds.T)
    tree = shapely.STRtree(shapes)
    # Each pair is found twice, and each shape with itself.
    left = 2 * most + len(shapes)
    for start in range(0, len(shapes), _AT_ONCE):
        left -= tree.query(shapes[start : start + _AT_ONCE]).shape[1]
        if left < 0:
            return True
    return False


def flaws(outline: Sequence[FloatArray]) -> tuple[list[FloatArray], list[str]]:
    """Return the rings of an outline that enclose nothing, and what GEOS finds wrong with others."""
    # What goes around more area one way than the other encloses some; only of the rest the crossings are worked out.
    around = [len(ring) >= _FEWEST_POINTS and shapely.area(_parts([ring])[0]) > 0.0 for ring in outline]
    flat = [
        ring
        for ring, some in zip(outline, around, strict=True)
        if not some and not shapely.area(_outline([ring])) > 0.0
    ]
    reasons = [shapely.is_valid_reason(_parts([ring])[0]) for ring in outline if len(ring) >= _FEWEST_POINTS]
    return flat, [reason for reason in reasons if reason != _VALID]


def suspects(boxes: Outlined) -> list[int]:
    """Return the rows with a ring that is short, flat or not valid, rising."""
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
    number = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    return np.asarray(shapely.polygons(shapely.linearrings(np.concatenate(rings), indices=number)))


# Points at which a ring that is lost is begun anew.
_BEGINS: Final = 4


def _united(owner: IntArray, rings: Sequence[FloatArray]) -> GeometryArray:
    """Return one valid geometry for each owner of rings, by rising owner."""
    order = np.argsort(owner, kind="stable")
    _, of_shape = np.unique(owner[order], return_inverse=True)
    ordered = [rings[row] for row in order.tolist()]
    shapes: GeometryArray = np.asarray(shapely.multipolygons(_parts(ordered), indices=of_shape))
    crossed = ~shapely.is_valid(shapes)
    # Parts that overlap, and rings that cross themselves; what collapses to a line has no area to count.
    shapes[crossed] = _repaired(shapes[crossed])
    # A ring that begins on a line out and back is lost whole; begun behind it, it is not.
    for later in range(1, _BEGINS + 1):
        lost = np.flatnonzero(crossed & ~(shapely.area(shapes) > 0.0))
        if not len(lost):
            break
        rows = np.flatnonzero(np.isin(of_shape, lost))
        parts = _parts([_begun_later(ordered[row], later) for row in rows.tolist()])
        indices = np.searchsorted(lost, of_shape[rows])
        shapes[lost] = _repaired(np.asarray(shapely.multipolygons(parts, indices=indices)))
    return shapes


def _repaired(shapes: GeometryArray) -> GeometryArray:
    return np.asarray(shapely.make_valid(shapes, method="structure", keep_collapsed=False))


def _begun_later(ring: FloatArray, later: int) -> FloatArray:
    """Return a ring with each point once in a row, from a later point on."""
    apart = ring[(ring != np.roll(ring, 1, axis=0)).any(axis=1)]
    return np.roll(apart if len(apart) >= _FEWEST_POINTS else ring, -later, axis=0)


def _outline(rings: Sequence[FloatArray]) -> object:
    usable = [ring for ring in rings if len(ring) >= _FEWEST_POINTS]
    return _united(np.zeros(len(usable), dtype=np.int64), usable)[0] if usable else shapely.MultiPolygon()
