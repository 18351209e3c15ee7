"""A protocol of one file: a prediction matches the ground truth of its label that its centre lies in.

Nothing outside of this file knows of it. The first prediction in file order takes a ground truth; a pair must reach the
IoU threshold besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from evaluator.data.boxes import overlap
from evaluator.data.dataset import Dataset
from evaluator.matching.box_measures import box_measures, column
from evaluator.matching.box_results import ALL_LABELS, BoxMatching, BoxPairs, BoxResult
from evaluator.matching.pairs import Matches
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.results import Metrics, ResultTable, Signature
from evaluator.protocols.base import BoxEvaluation, BoxOptions, BoxProtocol


class Matching(BoxMatching):
    """The boxes that take part."""

    def at(self, iou: float) -> Result:
        """Return the result at an IoU threshold."""
        return Result(self, iou)

    def signature(self, *iou: float) -> Signature:
        """Return what made the numbers."""
        return self.signed(protocol="centres", version="0", iou=iou)


class Pairs(BoxPairs[Matching]):
    """All boxes of two files; there is nothing to prepare."""

    def on(self, dataset: Dataset) -> Pairs:
        """Return the same of other boxes, such as a corrected ground truth."""
        return Pairs(dataset=dataset, model=self.model, iou_floor=self.iou_floor)

    def match(self, *, min_score: float = 0.0, min_area: float = 0.0, labels: Sequence[str] | None = None) -> Matching:
        """Return the matching of the boxes of some labels with at least a score."""
        chosen = self.dataset.scored_labels(labels)
        truths, predictions = self.of_labels(chosen)
        return Matching(
            pairs=self,
            min_score=min_score,
            labels=chosen,
            truth_counts=truths,
            prediction_counts=predictions & ~(self.prediction.score < min_score),
        )


@dataclass(frozen=True, eq=False)
class Result(BoxResult[Matching]):
    """What matches at one IoU threshold."""

    @cached_property
    def matches(self) -> Matches:
        """Match each prediction with the first free ground truth of its label that its centre lies in."""
        matching = self.matching
        truth, prediction = matching.dataset.ground_truth, matching.prediction
        centre = (prediction.xyxy[:, :2] + prediction.xyxy[:, 2:]) / 2.0
        taken: dict[int, int] = {}
        for row in np.flatnonzero(matching.prediction_counts).tolist():
            inside = (truth.xyxy[:, :2] <= centre[row]).all(axis=1) & (centre[row] <= truth.xyxy[:, 2:]).all(axis=1)
            same = (truth.page == prediction.page[row]) & (truth.label == prediction.label[row])
            free = inside & same & matching.truth_counts & ~np.isin(np.arange(len(truth)), list(taken))
            rows = np.flatnonzero(free)
            reached = rows[overlap(truth.xyxy[rows], prediction.xyxy[[row] * len(rows)]).iou >= self.iou]
            if len(reached):
                taken[int(reached[0])] = row
        truths, predictions = np.array(list(taken), dtype=np.int64), np.array(list(taken.values()), dtype=np.int64)
        return Matches(predictions, truths, *overlap(truth.xyxy[truths], prediction.xyxy[predictions]))


@dataclass(frozen=True, eq=False)
class Evaluation(BoxEvaluation):
    """Counts of the whole, as JSON and as a table."""

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        micro = {repr(iou): {"micro": result.micro.row(0)} for iou, result in self.thresholds.items()}
        return self.plain_values(thresholds=micro)

    def table(self) -> ResultTable:
        """Return one row per threshold."""
        rows = []
        for iou, result in self.thresholds.items():
            metrics: Mapping[str, Any] = result.micro.row(0)
            rows.append((iou, *metrics.values()))
        return self.as_table(("iou_threshold", *Metrics.__annotations__), rows)


class Centres(BoxProtocol[BoxOptions]):
    """The protocol."""

    name = "centres"
    version = "0"
    title = "Centres inside"
    options = BoxOptions
    metrics: ClassVar[Mapping[str, Metric]] = {**BOX_METRICS, "hits": Metric("hits", "hits more", "hits less")}
    iou_floor = 0.0
    thresholds = (0.25,)

    def pair(self, dataset: Dataset, model: int, options: BoxOptions, *, iou_floor: float | None = None) -> Pairs:
        """Return all pairs of a model; called first."""
        return Pairs(dataset=dataset, model=model, iou_floor=0.0)

    def result(self, matching: Matching, iou: Sequence[float], options: BoxOptions) -> Evaluation:
        """Return the evaluation of a matching."""
        return Evaluation(matching, {float(threshold): matching.at(threshold) for threshold in iou})

    def measures(self, result: BoxEvaluation) -> Measures:
        """Return the compared metrics: those of boxes, and the number of hits."""
        first = result.first
        hits = column(float(first.micro.tp[0]))
        ones = np.ones((len(first.matching.dataset.documents), 1))
        per_document = first.per_document.tp.astype(np.float64)[:, None]
        return box_measures(first, Ratios((Key("hits", ALL_LABELS),), hits, per_document, ones / len(ones)))


PROTOCOL: Final = Centres()
