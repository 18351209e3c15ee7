"""Ruled lines on a scan: long thin runs of ink, mostly free beside them, in a picture of one bit a pixel."""

from __future__ import annotations

from typing import Final

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray

LEAST_LENGTH: Final = 0.05
"""Of the width of the page: no stroke of a letter is that long at the sizes of body text."""
MOST_THICKNESS: Final = 6
"""In pixels of the mask."""
_BESIDE: Final = 0.3


def ruled_lines(mask: BoolArray) -> FloatArray:
    """Return the ruled lines of a scan, float64, shape (N, 4), in [0, 1]: x1, y1, x2, y2.

    `mask` is the ink, bool, shape (rows, columns). Lines across come first, then those down. A line turned by more than
    a pixel over its least length is found in parts or not at all.
    """
    if not mask.size:
        return np.empty((0, 4))
    rows, columns = mask.shape
    least = max(8, round(LEAST_LENGTH * columns))
    across = _runs(mask, least) / np.array([columns, rows, columns, rows])
    down = _runs(np.ascontiguousarray(mask.T), least)[:, [1, 0, 3, 2]] / np.array([columns, rows, columns, rows])
    return np.concatenate([across, down])


def _runs(mask: BoolArray, least: int) -> FloatArray:
    """Return long thin runs along the rows, float64, shape (N, 4): x1, y1, x2, y2 in pixels."""
    rows, columns = mask.shape
    edged = np.zeros((rows, columns + 2), dtype=np.int8)
    edged[:, 1:-1] = mask
    steps = np.diff(edged, axis=1)
    row, start = np.nonzero(steps == 1)
    stop = np.nonzero(steps == -1)[1]
    long = stop - start >= least
    row, start, stop = row[long], start[long], stop[long]
    if not len(row):
        return np.empty((0, 4))
    total = np.zeros((rows, columns + 1), dtype=np.int32)
    np.cumsum(mask, axis=1, out=total[:, 1:])

    def ink(at: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
        inside = (at >= 0) & (at < rows)
        held = np.clip(at, 0, rows - 1)
        share = (total[held, stop] - total[held, start]) / (stop - start)
        return np.asarray(np.where(inside, share, 0.0), dtype=np.float64)

    # The first row of a line: what lies above it in the same span is mostly paper.
    top = ink(row - 1) < 0.5
    row, start, stop = row[top], start[top], stop[top]
    thickness = np.ones(len(row), dtype=np.int64)
    going = np.ones(len(row), dtype=bool)
    for offset in range(1, MOST_THICKNESS + 1):
        going &= ink(row + offset) >= 0.5
        thickness += going
    thin = thickness <= MOST_THICKNESS
    free = (ink(row - 3) < _BESIDE) & (ink(row + thickness + 2) < _BESIDE)
    kept = thin & free
    boxes = np.column_stack([start, row, stop, row + thickness])[kept]
    return boxes.astype(np.float64)
