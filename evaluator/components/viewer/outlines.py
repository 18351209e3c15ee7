"""Outlines and masks as even-odd SVG paths in ten-thousandths of the displayed page, origin top left."""

from __future__ import annotations

from typing import Final

import numpy as np

from evaluator.components.payload import Rect
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.data.polygons import drawn_rings
from evaluator.matching.page_rows import sizes_of_pages

UNITS: Final = 10_000
"""Of a path, across and down the page."""
_TOLERANCE: Final = 1 / 2_000


def outline_paths(
    dataset: Dataset, side: JoinedBoxes, rows: IntArray, *, stated: tuple[float, float] | None = None
) -> list[str | None]:
    """Return the path of each box in `rows`; None without an own outline or, in pixels, a page size."""
    boxes = side.source.boxes
    if not boxes.polygons:
        return [None] * len(rows)
    size = sizes_of_pages(dataset, side, rows, stated=stated)
    known = np.flatnonzero(~np.isnan(size).any(axis=1))
    paths: list[str | None] = [None] * len(rows)
    rings = drawn_rings(boxes, rows[known], tolerance=size[known].min(axis=1) * _TOLERANCE)
    for at, own in zip(known.tolist(), rings, strict=True):
        if own:
            paths[at] = "".join(_closed(ring / size[at]) for ring in own)
    return paths


def path_rings(path: str, part: Rect = (0.0, 0.0, 1.0, 1.0)) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Return the points of a path of `outline_paths`, by ring, as shares of a part of the page.

    >>> path_rings("M0 0L5000 0L5000 2500Z", (0.0, 0.0, 0.5, 0.5))
    (((0.0, 0.0), (1.0, 0.0), (1.0, 0.5)),)
    """
    x1, y1, x2, y2 = part
    across, down = (x2 - x1) * UNITS, (y2 - y1) * UNITS
    rings = []
    for ring in path.split("Z")[:-1]:
        points = (point.split() for point in ring[1:].split("L"))
        rings.append(tuple(((int(x) - x1 * UNITS) / across, (int(y) - y1 * UNITS) / down) for x, y in points))
    return tuple(rings)


def _closed(ring: FloatArray) -> str:
    points = np.rint(ring * UNITS).astype(np.int64).tolist()
    return "M" + "L".join(f"{x} {y}" for x, y in points) + "Z"
