"""Box geometry on columns: area, overlap, IoU, coverage, purity of row i with row i.

Boxes are float64 arrays of shape (N, 4): x1, y1, x2, y2, origin top left, any unit that both sides share (normalised to
[0, 1] unless the source has pixels only). Nothing here clamps, sorts or repairs a box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

# Below this the product of two sides has lost digits (or is 0) although both sides are positive.
_SMALLEST_SAFE_AREA = 1e-290


class Outlined(Protocol):
    """Boxes of which some have an outline, for instance `evaluator.data.dataset.Boxes`."""

    @property
    def xyxy(self) -> FloatArray:
        """Corners, float64, shape (N, 4)."""

    @property
    def polygons(self) -> Mapping[int, Sequence[FloatArray]]:
        """Rings of some rows."""


class Overlap(NamedTuple):
    """IoU, coverage and purity of paired boxes, float64 columns of one length, each in [0, 1]."""

    iou: FloatArray
    coverage: FloatArray
    purity: FloatArray


def area(xyxy: FloatArray) -> FloatArray:
    """Return the area of each box in squared units; 0 for a box without width or height."""
    return np.asarray((xyxy[..., 2] - xyxy[..., 0]) * (xyxy[..., 3] - xyxy[..., 1]), dtype=np.float64)


def intersection(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the area that box i of one side shares with box i of the other; 0 where they only touch."""
    width = np.minimum(first[..., 2], second[..., 2]) - np.maximum(first[..., 0], second[..., 0])
    height = np.minimum(first[..., 3], second[..., 3]) - np.maximum(first[..., 1], second[..., 1])
    shared = np.maximum(width, 0.0, out=width)
    shared *= np.maximum(height, 0.0, out=height)
    return np.asarray(shared, dtype=np.float64)


def overlap(ground_truth: FloatArray, prediction: FloatArray) -> Overlap:
    """Return IoU, coverage and purity of row i of the ground truth with row i of the prediction.

    Snapshot specification 1.3, section 7, with I the intersection, P and G the areas of prediction and ground truth:
    IoU = I / (P + G - I), coverage = I / G, purity = I / P; continuous coordinates, float64, no epsilon and no "+ 1". I
    = 0 gives 0, so a box without area overlaps nothing, itself included.

    Areas that underflow (sides near 1e-160) are computed again in a scaled unit, which leaves the ratios as they are;
    the reference evaluator divides 0 by 0 there and returns 0.
    """
    shared, truth_area, predicted_area = _areas(ground_truth, prediction)
    # The order of the sum is the reference's, so that equal inputs give equal last digits.
    union = predicted_area + truth_area - shared
    return Overlap(
        iou=_ratio(shared, union), coverage=_ratio(shared, truth_area), purity=_ratio(shared, predicted_area)
    )


def iou(ground_truth: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the intersection over union of row i with row i; see `overlap` for the formula and its edges.

    Of arrays of more dimensions, the last of which are the four numbers, those that lie together when broadcast.

    >>> iou(np.array([[0.0, 0.0, 2.0, 1.0]]), np.array([[1.0, 0.0, 3.0, 1.0]]))
    array([0.33333333])
    """
    shared, truth_area, predicted_area = _areas(ground_truth, prediction)
    return _ratio(shared, predicted_area + truth_area - shared)


def iou_of_stated(
    ground_truth: FloatArray, prediction: FloatArray, ground_truth_area: FloatArray, prediction_area: FloatArray
) -> FloatArray:
    """Return the IoU of row i with row i where the sources state width and height, and so the areas.

    Bit for bit that of pycocotools (``maskApi.c``, ``bbIou``): the second corner is the sum of the first and the size,
    the area width times height. Areas from corners may differ in the last digit, which moves a pair across a threshold.
    """
    shared = intersection(ground_truth, prediction)
    return _ratio(shared, prediction_area + ground_truth_area - shared)


def _areas(ground_truth: FloatArray, prediction: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return areas of intersections, ground truth and predictions, in a unit where none underflows."""
    truth_area, predicted_area = area(ground_truth), area(prediction)
    if _underflows(ground_truth, truth_area).any() or _underflows(prediction, predicted_area).any():
        ground_truth, prediction = _rescale_underflow(ground_truth, prediction)
        truth_area, predicted_area = area(ground_truth), area(prediction)
    return intersection(ground_truth, prediction), truth_area, predicted_area


def _underflows(xyxy: FloatArray, of: FloatArray) -> BoolArray:
    """Return which boxes have an area that has lost digits; one without width or height has none to lose."""
    tiny: BoolArray = of < _SMALLEST_SAFE_AREA
    if tiny.any():
        tiny &= (xyxy[..., 2] > xyxy[..., 0]) & (xyxy[..., 3] > xyxy[..., 1])
    return tiny


def _ratio(shared: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0.0)


def _rescale_underflow(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same pairs, those whose areas underflow stretched to a unit where they do not."""
    tiny = _underflows(first, area(first)) | _underflows(second, area(second))
    first, second = (side.copy() for side in np.broadcast_arrays(first, second))
    for low, high in ((0, 2), (1, 3)):
        origin = np.minimum(first[tiny, low], second[tiny, low])
        longest = np.maximum(first[tiny, high], second[tiny, high]) - origin
        longest[longest <= 0.0] = 1.0
        for side in (first, second):
            for column in (low, high):
                side[tiny, column] = (side[tiny, column] - origin) / longest
    return first, second
