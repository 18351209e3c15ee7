"""COCO ``segmentation`` to outlines: polygons as flat columns that look like a mapping.

Points are x, y in pixels, origin top left; a ring does not repeat its first point. A run-length mask becomes rectangles
of whole pixels, see ``masks``. An unusable one is an issue, and the box is used.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.issues import Collector
from evaluator.data.polygons import Outlines
from evaluator.formats.json_text import excerpt
from evaluator.formats.masks import mask_rings
from evaluator.system.decoding import json_decoder

# Rows whose outlines are decoded at a time.
_AT_A_TIME = 2048
_FEWEST_NUMBERS = 6
_LARGEST = sys.float_info.max
_RINGS = json_decoder(list[list[list[float]]])
_ANYTHING = json_decoder(object)


def outlines(values: Mapping[int, bytes], place: str, collector: Collector) -> Mapping[int, Sequence[FloatArray]]:
    """Return the polygons by row, float64 (K, 2) for each ring, of the rows that have usable ones.

    `values` has ``segmentation`` as JSON by rising row, `place` is the JSON path of the array of these rows. Each
    outline that is left out is a warning.
    """
    rows = list(values)
    kept: list[int] = []
    rings: list[list[float]] = []
    per_row: list[int] = []
    for start in range(0, len(rows), _AT_A_TIME):
        some = rows[start : start + _AT_A_TIME]
        decoded, typed = _decoded([values[row] for row in some])
        for row, shape in zip(some, decoded, strict=True):
            if isinstance(shape, dict):
                shape = _of_mask(shape, f"{place}[{row}].segmentation", collector)  # noqa: PLW2901 - rings in its place
            if shape and _usable(shape, rings_of_numbers=typed):
                kept.append(row)
                per_row.append(len(shape))
                rings += shape
            elif shape:
                _report(shape, f"{place}[{row}].segmentation", collector)
    if not kept:
        return {}
    points = np.fromiter(chain.from_iterable(rings), dtype=np.float64).reshape(-1, 2)
    return Outlines(
        rows=np.array(kept, dtype=np.int64),
        first_ring=_starts(per_row),
        first_point=_starts([len(ring) // 2 for ring in rings]),
        points=points,
    )


def is_number(value: object) -> bool:
    """Return whether a value of a parsed tree is a number that float64 holds; booleans are not."""
    return type(value) in (int, float) and abs(value) <= _LARGEST  # type: ignore[arg-type]


def _decoded(texts: Sequence[bytes]) -> tuple[list[Any], bool]:
    try:
        return _RINGS(b"".join((b"[", b",".join(texts), b"]"))), True
    except msgspec.ValidationError:
        return [_ANYTHING(text) for text in texts], False


def _usable(shape: object, *, rings_of_numbers: bool) -> bool:
    return isinstance(shape, list) and all(
        (rings_of_numbers or (isinstance(ring, list) and all(map(is_number, ring))))
        and len(ring) >= _FEWEST_NUMBERS
        and len(ring) % 2 == 0
        for ring in shape
    )


def extent(shape: Any) -> tuple[float, float, float, float] | None:  # noqa: ANN401 - a value of a parsed tree
    """Return x, y, width, height around a segmentation; None for one that cannot be used.

    Of a mask in whole pixels, as ``toBbox`` of pycocotools; of polygons the extremes of their points.
    """
    with suppress(ValueError):
        rings = mask_rings(shape) if isinstance(shape, dict) else shape
        if rings and _usable(rings, rings_of_numbers=False):
            points = np.array(list(chain.from_iterable(rings)), dtype=np.float64).reshape(-1, 2)
            low, high = points.min(axis=0), points.max(axis=0)
            return float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])
    return None


def region_area(shape: Any) -> float:  # noqa: ANN401 - a value of a parsed tree
    """Return the square pixels of a usable segmentation: those of a mask, or the areas of its rings."""
    rings = mask_rings(shape) if isinstance(shape, dict) else shape
    total = 0.0
    for ring in rings:
        x, y = np.array(ring, dtype=np.float64).reshape(-1, 2).T
        total += abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0
    return total


def _of_mask(mask: dict[str, object], place: str, collector: Collector) -> list[list[float]]:
    try:
        return mask_rings(mask)
    except ValueError as problem:
        rule = "a run-length mask must have a size and runs that fill it (COCO format, RLE)"
        collector.warning(place, rule, str(problem), "Its box is used; export the mask again.")
        return []


def _report(shape: object, place: str, collector: Collector) -> None:
    rule = "an outline must be an array of rings [x1, y1, x2, y2, x3, y3, ...] (COCO format)"
    collector.warning(place, rule, excerpt(shape), "Its box is used; correct the outline, or leave it out.")


def _starts(lengths: Sequence[int]) -> IntArray:
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
