"""Polygon geometry: IoU, coverage and purity of outlined regions, and what is wrong with an outline.

An outline is one or several rings, float64 arrays of shape (K, 2) in the unit of the boxes, origin top left; the
first point need not be repeated at the end. Several rings are parts of one region, which is their union (COCO
``segmentation``); holes do not exist. A row without a usable outline counts as its box. Who is paired with whom is
decided in ``matching``; nothing here reads a file or edits an outline. The geometry is in ``regions``, which brings a
library that boxes alone do not need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from evaluator.model.boxes import FloatArray, IntArray, Overlap, overlap
from evaluator.model.issues import Collector

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
    from evaluator.model import regions

    truth_area, predicted_area, shared = regions.areas(
        regions.of_rows(ground_truth, truth_rows[exact]), regions.of_rows(prediction, prediction_rows[exact])
    )
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
        from evaluator.model import regions

        bounds[outlined] = regions.bounds(boxes, chosen[outlined])
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
    from evaluator.model import regions

    for at, rings in zip(outlined.tolist(), regions.rings(boxes, rows[outlined], tolerance[outlined]), strict=True):
        drawn[at] = rings
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
    if not boxes.polygons:
        return
    from evaluator.model import regions

    for row in regions.suspects(boxes):
        rings = boxes.polygons[row]
        flat, wrong = regions.flaws(rings)
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


def _has_outline(boxes: Outlined, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Which of the rows have an outline, usable or not."""
    return np.isin(rows, np.fromiter(boxes.polygons, dtype=np.int64, count=len(boxes.polygons)))
