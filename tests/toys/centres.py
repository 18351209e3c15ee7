"""A protocol of one file: a prediction matches the ground truth of its label that its centre lies in.

Nothing outside of this file knows of it. The first prediction in file order takes a ground truth; a pair must reach the
IoU threshold besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from evaluator.metrics.box_measures import box_measures, column
from evaluator.metrics.box_results import ALL_LABELS, BoxPairs, BoxResult, asked_labels, plain_values, signature_of
from evaluator.metrics.matching import Matches
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.results import Metrics, ResultTable, Signature
from evaluator.model.boxes import BoolArray, overlap
from evaluator.model.dataset import Dataset, JoinedBoxes
from evaluator.protocols.base import BoxEvaluation, BoxOptions, BoxProtocol


@dataclass(frozen=True, eq=False)
class Matching:
    """The boxes that take part."""

    dataset: Dataset
    model: int
    min_score: float
    min_area: float
    labels: tuple[str, ...]
    truth_counts: BoolArray
    prediction_counts: BoolArray
    iou_floor: float = 0.0

    @property
    def prediction(self) -> JoinedBoxes:
        return self.dataset.predictions[self.model]

    def at(self, iou: float) -> Result:
        return Result(self, iou)

    def on(self, dataset: Dataset) -> Matching:
        return Pairs(dataset, self.model).match(min_score=self.min_score, labels=asked_labels(self))

    def signature(self, *iou: float) -> Signature:
        return signature_of(self, protocol="centres", version="0", iou=iou)


@dataclass(frozen=True, eq=False)
class Pairs(BoxPairs[Matching]):
    """All boxes of two files; there is nothing to prepare."""

    dataset: Dataset
    model: int
    iou_floor: float = 0.0

    def match(self, *, min_score: float = 0.0, labels: Sequence[str] | None = None) -> Matching:
        dataset, prediction = self.dataset, self.dataset.predictions[self.model]
        chosen = dataset.scored_labels(labels)
        codes = [dataset.labels.index(label) for label in chosen]
        return Matching(
            dataset=dataset,
            model=self.model,
            min_score=min_score,
            min_area=0.0,
            labels=chosen,
            truth_counts=np.isin(dataset.ground_truth.label, codes),
            prediction_counts=np.isin(prediction.label, codes) & ~(prediction.score < min_score),
        )


@dataclass(frozen=True, eq=False)
class Result(BoxResult[Matching]):
    """What matches at one IoU threshold."""

    @cached_property
    def matches(self) -> Matches:
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

    @property
    def signature(self) -> Signature:
        return self.matching.signature(*self.thresholds)

    def to_json(self) -> dict[str, Any]:
        micro = {repr(iou): {"micro": result.micro.row(0)} for iou, result in self.thresholds.items()}
        return plain_values(self.matching, self.signature, {"thresholds": micro})

    def table(self) -> ResultTable:
        rows = tuple((iou, *result.micro.row(0).values()) for iou, result in self.thresholds.items())
        columns = ("iou_threshold", *Metrics.__annotations__)
        title = self.matching.prediction.source.name
        return ResultTable(title=title, signature=self.signature.line, columns=columns, rows=rows)


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
        return Pairs(dataset, model)

    def match(
        self, pairs: Pairs, options: BoxOptions, *, min_score: float | None = None, labels: Sequence[str] | None = None
    ) -> Matching:
        return pairs.match(
            min_score=options.min_score if min_score is None else min_score,
            labels=options.labels if labels is None else labels,
        )

    def result(self, matching: Matching, iou: Sequence[float], options: BoxOptions) -> Evaluation:
        return Evaluation(matching, {float(threshold): matching.at(threshold) for threshold in iou})

    def measures(self, result: BoxEvaluation) -> Measures:
        first = result.first
        hits = column(float(first.micro.tp[0]))
        ones = np.ones((len(first.matching.dataset.documents), 1))
        per_document = first.per_document.tp.astype(np.float64)[:, None]
        return box_measures(first, Ratios((Key("hits", ALL_LABELS),), hits, per_document, ones / len(ones)))
