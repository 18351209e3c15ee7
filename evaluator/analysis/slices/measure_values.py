"""What a measure is a mean of: one value for each box that counts, of one result or of several.

Recall is the mean over ground-truth boxes of 1 (matched) and 0, precision that over predictions, F1 that over the boxes
of both sides: 2 TP / (2 TP + FP + FN). Mean IoU, coverage and purity are means over matches, counted at their
ground-truth box. A measure of a slice is the mean over its boxes. Averages over rankings are in `averages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeGuard, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from evaluator.analysis.slices.attributes import PageValues, attributes_of
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.matching.box_items import SliceAverage, SliceMeasure
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.metrics.exact_sums import exact_mean
from evaluator.metrics.observations import Attribute, MeasureWords

Measure = SliceMeasure | SliceAverage
MEASURES: Final[tuple[SliceMeasure, ...]] = get_args(SliceMeasure)
AVERAGES: Final[tuple[SliceAverage, ...]] = get_args(SliceAverage)
ALL: Final = "all"
"""What is said instead of a measure for all of them."""
GROUND_TRUTH: Final = 0
"""Origin of a box of the ground truth; that of a prediction is 1 and more, by the place of its model."""
_OF_SIZES: Final = frozenset({"APs", "APm", "APl", "ARs", "ARm", "ARl"})
ScalarT = TypeVar("ScalarT", bound=np.generic)
_FITS: Final[Mapping[Measure, str]] = {"mean_iou": "iou", "mean_coverage": "coverage", "mean_purity": "purity"}


WORDS: Final[Mapping[Measure, MeasureWords]] = {
    "recall": MeasureWords("recall", "boxes", "missed", "boxes lost"),
    "precision": MeasureWords("precision", "predictions", "false", "boxes lost", scored=True),
    "f1": MeasureWords("F1", "boxes and predictions", "wrong", "boxes lost"),
    "mean_iou": MeasureWords("mean IoU", "matches", "ill-fitting", "IoU lost", "match", fits=True),
    "mean_coverage": MeasureWords("mean coverage", "matches", "ill-fitting", "coverage lost", "match", fits=True),
    "mean_purity": MeasureWords("mean purity", "matches", "ill-fitting", "purity lost", "match", fits=True),
    "AP": MeasureWords("AP", "boxes", "missed", "boxes lost"),
    "AP50": MeasureWords("AP50", "boxes", "missed", "boxes lost"),
    "AP75": MeasureWords("AP75", "boxes", "missed", "boxes lost"),
    "AR1": MeasureWords("AR1", "boxes", "missed", "boxes lost"),
    "AR10": MeasureWords("AR10", "boxes", "missed", "boxes lost"),
    "AR100": MeasureWords("AR100", "boxes", "missed", "boxes lost"),
    "map": MeasureWords("mAP", "boxes", "missed", "boxes lost"),
    "mean_f1": MeasureWords("mean F1", "boxes", "missed", "boxes lost"),
}


def is_average(measure: str) -> TypeGuard[SliceAverage]:
    """Tell whether a measure is read off the ranking of all predictions; see `averages`."""
    return measure in AVERAGES


def problem_of(name: str, averages: Sequence[str] = ()) -> str | None:
    """Return why slices have no measure of this name, given the protocol's `averages`; None where they have it."""
    if name == ALL or name in MEASURES or name in averages:
        return None
    if name in _OF_SIZES:
        return (
            f"{name} has no slices, because it matches the boxes of a range of sizes anew, so that what a box adds "
            "to it depends on the range; recall and precision have conditions on the area"
        )
    return f"slices have no measure {name}; use {', '.join((*MEASURES, *averages))} or {ALL}"


@dataclass(frozen=True, eq=False)
class MeasureValues:
    """The things that a measure is a mean over, of M results of one ground truth.

    `sizes`: things of each side by origin, counted or not. `origins`: those that the measure is about, rising.
    `origin`, `row`: int64 (U,), side and row of each thing, by origin, then in file order. `values`: float64 (M, U) in
    [0, 1], NaN where a result does not count the thing. `document`, `label`: codes, int64 (U,).
    """

    measure: str
    words: MeasureWords
    sizes: tuple[int, ...]
    origins: tuple[int, ...]
    origin: IntArray
    row: IntArray
    values: FloatArray
    document: IntArray
    label: IntArray

    def __len__(self) -> int:
        return len(self.row)

    @property
    def paired(self) -> bool:
        """Return whether every result counts every thing."""
        return not np.isnan(self.values).any()

    def attributes_of(self, tables: Mapping[int, Sequence[Attribute]]) -> tuple[Attribute, ...]:
        """Return attributes of the things that count from those of all things of each side, by origin."""
        parts = {at: {each.name: each.take(self.row[self.origin == at]) for each in tables[at]} for at in self.origins}
        first = parts[self.origins[0]]
        if len(parts) == 1:
            return tuple(first.values())
        made = []
        for name, one in first.items():
            if all(name in part for part in parts.values()):
                values = np.empty(len(self))
                for at, part in parts.items():
                    values[self.origin == at] = part[name].values
                made.append(Attribute(name, one.kind, values, one.names, one.level, one.whole))
        return tuple(made)

    @cached_property
    def of_sides(self) -> dict[int, slice]:
        """Return the slice of the things of each side, by origin."""
        return _places(self.origin, self.origins)

    def mask_of(self, of_side: Mapping[int, BoolArray]) -> BoolArray:
        """Return a mask over the things, bool, shape (U,), from one over each side; False for a side without one."""
        parts = []
        for at, these in self.of_sides.items():
            rows = self.row[these]
            mask = of_side[at] if at in of_side else np.zeros(self.sizes[at], bool)
            # Of a side that counts as a whole the rows are all rows.
            parts.append(mask if len(rows) == len(mask) else mask[rows])
        return np.asarray(_joined(parts))


class Means:
    """Means of the values of each result over some things; `counts`: bool (M, U), what each counts."""

    def __init__(self, counted: MeasureValues) -> None:
        self._values, self.counts = counted.values, ~np.isnan(counted.values)
        right = counted.values == 1.0
        # The sum of 0 and 1 is a count, which takes a tenth of the time and has the same digits.
        self._right = right if np.array_equal(right | (counted.values == 0.0), self.counts) else None

    def of(self, inside: BoolArray) -> tuple[float, ...]:
        """Return the mean of each result where `inside`, bool (U,); NaN where it counts nothing there."""
        return tuple(self._of(result, inside) for result in range(len(self._values)))

    def _of(self, result: int, inside: BoolArray) -> float:
        kept = inside & self.counts[result]
        if self._right is not None:
            number = int(np.count_nonzero(kept))
            return int(np.count_nonzero(inside & self._right[result])) / number if number else float("nan")
        return exact_mean(self._values[result].compress(kept))


@dataclass(frozen=True, eq=False)
class BoxValues(MeasureValues):
    """The boxes that a measure is a mean over, of M results; `sides`: ground truth, predictions of each result."""

    dataset: Dataset
    sides: tuple[JoinedBoxes, ...]

    @classmethod
    def of(
        cls,
        measure: Measure,
        dataset: Dataset,
        sides: tuple[JoinedBoxes, ...],
        at: tuple[IntArray, IntArray],
        values: FloatArray,
    ) -> BoxValues:
        """Return the boxes, given as origins and rows, with their documents and labels."""
        origin, row = at
        predictions = tuple(range(1, len(sides)))
        origins: tuple[int, ...] = (GROUND_TRUTH,)
        if measure == "f1" or is_average(measure):
            origins = (GROUND_TRUTH, *predictions)
        elif measure == "precision":
            origins = predictions
        places = _places(origin, origins)
        document, label = (_column(sides, places, row, name) for name in ("document", "label"))
        sizes = tuple(map(len, sides))
        return cls(measure, WORDS[measure], sizes, origins, origin, row, values, document, label, dataset, sides)

    @property
    def page(self) -> IntArray:
        """Row of the page of each box, int64, shape (U,)."""
        return _column(self.sides, self.of_sides, self.row, "page")


def _column(sides: Sequence[JoinedBoxes], at: Mapping[int, slice], row: IntArray, name: str) -> IntArray:
    """Return a column of the sides for some of their boxes, int64, shape (U,)."""
    parts = []
    for origin, these in at.items():
        values, rows = getattr(sides[origin], name), row[these]
        parts.append(values if len(rows) == len(values) else values[rows])
    return np.asarray(_joined(parts), dtype=np.int64)


def _places(origin: IntArray, origins: Sequence[int]) -> dict[int, slice]:
    """Return the slice of the things of each side; `origin` rises."""
    bounds = np.searchsorted(origin, [*origins, origins[-1] + 1]).tolist()
    return {at: slice(*ends) for at, ends in zip(origins, pairwise(bounds), strict=True)}


def box_values(results: Sequence[AnyBoxResult], measure: Measure) -> BoxValues:
    """Return the boxes that a measure is a mean over: of the ground truth once, of each result's predictions."""
    dataset = results[0].matching.dataset
    sides = (dataset.ground_truth, *(result.matching.prediction for result in results))
    # Of each side what every result has there.
    blocks: dict[int, FloatArray] = {}
    for place, result in enumerate(results):
        for kind, values in _values(result, measure).items():
            side = kind * (place + 1)
            if side not in blocks:
                blocks[side] = np.full((len(results), len(sides[side])), np.nan)
            blocks[side][place] = values
    origins, rows, kept_blocks = [], [], []
    for side, block in sorted(blocks.items()):
        kept = np.flatnonzero(~np.logical_and.reduce(np.isnan(block)))
        origins.append(np.full(len(kept), side, np.int64))
        rows.append(kept.astype(np.int64, copy=False))
        kept_blocks.append(block if len(kept) == len(sides[side]) else block[:, kept])
    origin, row = _joined(origins), _joined(rows)
    return BoxValues.of(measure, dataset, sides, (origin, row), _joined(kept_blocks))


def _joined(parts: Sequence[npt.NDArray[ScalarT]]) -> npt.NDArray[ScalarT]:
    """Join parts along the last axis; a single one is returned as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _values(result: AnyBoxResult, measure: Measure) -> dict[int, FloatArray]:
    """Return the values of ground truth (0) and predictions (1); NaN for a box that does not count."""
    if measure in _FITS:
        values, matches = np.full(len(result.truth_matched), np.nan), result.matches
        values[matches.ground_truth] = getattr(matches, _FITS[measure])
        return {0: values}
    made = {}
    if measure != "precision":
        made[0] = np.where(result.matching.truth_counts, result.truth_matched, np.nan)
    if measure != "recall":
        made[1] = np.where(result.counting_predictions, result.prediction_partner != UNMATCHED, np.nan)
    return made


def tables_of(
    counted: BoxValues, *, of_pages: PageValues | None = None, of_boxes: Sequence[Sequence[Attribute]] = (), score: bool
) -> dict[int, tuple[Attribute, ...]]:
    """Return the attributes of all boxes of the sides that a measure is about, by origin.

    `of_boxes` has attributes from elsewhere for each side, by origin, or is empty. See `attributes_of`.
    """
    return {
        origin: attributes_of(
            counted.dataset,
            counted.sides[origin],
            of_pages=of_pages,
            of_boxes=of_boxes[origin] if of_boxes else (),
            score=score and origin != GROUND_TRUTH,
        )
        for origin in counted.origins
    }
