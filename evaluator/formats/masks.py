"""Run-length masks to rings: the region of a mask as rectangles of whole pixels that touch and never overlap.

Owns the two forms of ``counts`` of COCO, a list of numbers and the compressed text, whose runs go down the columns, and
the runs along the rows of CVAT and Label Studio. No pixel is ever allocated: a mask that claims a million pixels a side
costs what its runs cost. Rectangles, not contours, because a mask may have holes, which an outline of rings cannot say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray

MOST_RECTANGLES: Final = 20_000
"""More rectangles than this are not read; the box is used."""
MOST_PIXELS: Final = 1 << 40
_DIGITS: Final = 5
_MORE: Final = 0x20
_SIGN: Final = 0x10
_MOST_RUNS: Final = 1_000_000
_MOST_DIGITS: Final = 12
# Red, green, blue and alpha.
_CHANNELS: Final = 4


def mask_rectangles(mask: Mapping[str, object]) -> FloatArray:
    """Return the pixels of a mask as rectangles.

    Parameters
    ----------
    mask : mapping
        ``size``, height and width, and ``counts``, as parsed from JSON.

    Returns
    -------
    float64, shape (K, 4)
        x1, y1, x2, y2 in pixels, from the left. Shape (0, 4) for a mask without a pixel.

    Raises
    ------
    ValueError
        The mask is not one, its runs do not fill it, or it has too many; one short reason.

    Notes
    -----
    COCO format, RLE; maskApi.c of pycocotools 2.0.8, ``rleFrString``: digits of five bits, the sixth says that more
    follow, and from the third run on the difference to the run before the last is written.
    """
    size, counts = mask.get("size"), mask.get("counts")
    if not (isinstance(size, list) and len(size) == 2 and all(type(side) is int and side > 0 for side in size)):
        raise ValueError("size must be height and width")
    height, width = size
    runs = _compressed(counts) if isinstance(counts, str) else _listed(counts)
    return _filled(runs, height=height, width=width)


def row_rectangles(runs: Sequence[int], width: int, height: int) -> FloatArray:
    """Return the pixels of runs along the rows, background first, as rectangles from the left.

    float64 (K, 4), K 0 without a pixel; ValueError, with one short reason, for runs that do not fill the mask.
    """
    if width <= 0 or height <= 0 or width * height > MOST_PIXELS or len(runs) > _MOST_RUNS:
        raise ValueError("the runs must fill the mask")
    return _filled(_listed(list(runs)), height=width, width=height)[:, [1, 0, 3, 2]]


def label_studio_rectangles(stream: Sequence[int], width: int, height: int) -> FloatArray:
    """Return the pixels of a brush of Label Studio that are not transparent, as `row_rectangles`.

    `stream` has the bytes of the format rle-pack: 32 bits for the number of values, 5 for their size less one, 4 times
    4 for the sizes of lengths less one; then runs, a bit that says whether one value is repeated, 2 bits for the size
    of the length, the length less one, and the values: red, green, blue and alpha of each pixel along the rows.
    """
    if not all(type(byte) is int and 0 <= byte <= 0xFF for byte in stream):
        raise ValueError("rle must be bytes")
    bits = _Bits(bytes(stream))
    values, size = bits.read(32), bits.read(5) + 1
    if not 0 < values == width * height * _CHANNELS or values > MOST_PIXELS:
        raise ValueError("the runs must fill the mask")
    lengths = [bits.read(4) + 1 for _ in range(4)]
    runs, shown, at = [0], False, 0
    while at < values:
        repeated = bits.read(1)
        stop = at + 1 + bits.read(lengths[bits.read(2)])
        if stop > values:
            raise ValueError("the runs must fill the mask")
        while at < stop:
            value, end = bits.read(size), stop if repeated else at + 1
            # Alpha is the last value of a pixel: so many are before, and up to the end of, these values.
            first, last = at // _CHANNELS, end // _CHANNELS
            if last > first:
                if (value > 0) is not shown:
                    shown = not shown
                    runs.append(0)
                runs[-1] += last - first
            at = end
    return row_rectangles(runs, width, height)


def mask_rings(mask: Mapping[str, object]) -> list[list[float]]:
    """Return the rectangles as rings of an outline: x and y of four corners each; ValueError as `mask_rectangles`."""
    corners: list[list[float]] = rings(mask_rectangles(mask)).reshape(-1, 8).tolist()
    return corners


def rings(rectangles: FloatArray) -> FloatArray:
    """Return the corners of rectangles, float64 (K, 4, 2): the rings of an outline."""
    return rectangles[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)


class _Bits:
    def __init__(self, content: bytes) -> None:
        self._bytes = iter(content)
        self._value = self._left = 0

    def read(self, count: int) -> int:
        while self._left < count:
            byte = next(self._bytes, None)
            if byte is None:
                raise ValueError("rle ends too early")
            self._value, self._left = self._value << 8 | byte, self._left + 8
        self._left -= count
        number, self._value = self._value >> self._left, self._value & (1 << self._left) - 1
        return number


def _filled(runs: IntArray, *, height: int, width: int) -> FloatArray:
    """Return the rectangles of runs down the columns, which must fill the mask."""
    if height * width > MOST_PIXELS or int(runs.sum()) != height * width:
        raise ValueError("the runs must fill the mask")
    ends = np.cumsum(runs)
    start, stop = ends[0::2][: len(ends[1::2])], ends[1::2]
    kept = stop > start
    return _rectangles(start[kept], stop[kept], height)


def _listed(counts: object) -> IntArray:
    if not isinstance(counts, list) or len(counts) > _MOST_RUNS:
        raise ValueError("counts must be text or a list of runs")
    if not all(type(run) is int and 0 <= run <= MOST_PIXELS for run in counts):
        raise ValueError("counts must be whole numbers of at least 0")
    return np.array(counts, dtype=np.int64)


def _compressed(text: str) -> IntArray:
    runs: list[int] = []
    value = digits = 0
    for char in text:
        code = ord(char) - 48
        if not 0 <= code < 64 or digits == _MOST_DIGITS or len(runs) == _MOST_RUNS:
            raise ValueError("counts must be compressed runs")
        value |= (code & 0x1F) << (_DIGITS * digits)
        digits += 1
        if code & _MORE:
            continue
        if code & _SIGN:
            value -= 1 << (_DIGITS * digits)
        run = value + (runs[-2] if len(runs) > 2 else 0)
        if not 0 <= run <= MOST_PIXELS:
            raise ValueError("counts must be compressed runs")
        runs.append(run)
        value = digits = 0
    if digits:
        raise ValueError("counts must be compressed runs")
    return np.array(runs, dtype=np.int64)


def _rectangles(start: IntArray, stop: IntArray, height: int) -> FloatArray:
    """Return runs of pixels, numbered down the columns, as rectangles; equal ones in neighbouring columns are one."""
    first, last = start // height, (stop - 1) // height
    # A run over several columns has whole columns between its ends.
    inner = last - first > 1
    ends_apart = last > first
    top, bottom = start - first * height, stop - last * height
    full = np.full(int(inner.sum()), height)
    x1 = np.concatenate([first, last[ends_apart], first[inner] + 1])
    x2 = np.concatenate([first + 1, last[ends_apart] + 1, last[inner]])
    y1 = np.concatenate([top, np.zeros(int(ends_apart.sum()), np.int64), np.zeros(len(full), np.int64)])
    y2 = np.concatenate([np.where(ends_apart, height, bottom), bottom[ends_apart], full])
    order = np.lexsort((x1, y2, y1))
    x1, x2, y1, y2 = x1[order], x2[order], y1[order], y2[order]
    begins = np.ones(len(x1), dtype=bool)
    begins[1:] = (y1[1:] != y1[:-1]) | (y2[1:] != y2[:-1]) | (x1[1:] != x2[:-1])
    first_of = np.flatnonzero(begins)
    if len(first_of) > MOST_RECTANGLES:
        raise ValueError(f"a mask may have {MOST_RECTANGLES:,} rectangles of pixels")
    end_of = np.append(first_of[1:], len(x1)) - 1 if len(x1) else first_of
    rectangles = np.column_stack([x1[first_of], y1[first_of], x2[end_of], y2[first_of]]).astype(np.float64)
    return np.asarray(rectangles[np.lexsort((rectangles[:, 1], rectangles[:, 0]))])
