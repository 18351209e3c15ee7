"""Document Snapshot Detection as one object: its options, the rules of a pair, how it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from evaluator.data.dataset import Annotations, Dataset
from evaluator.data.issues import Issue
from evaluator.formats.snapshot import check_pair
from evaluator.protocols.base import BoxOptions, BoxProtocol
from evaluator.protocols.snapshot.evaluation import (
    IOU_FLOOR,
    IOU_THRESHOLDS,
    NAME,
    VERSION,
    Matching,
    Pairs,
    SnapshotResult,
    check_class_weight,
    pair,
)


class SnapshotOptions(BoxOptions, frozen=True, kw_only=True):
    """The options of snapshot 1.3."""

    class_weight: Annotated[
        Mapping[str, Annotated[float, Meta(ge=0.0)]],
        Meta(description="weight of a label in the mean over labels, Table=2; repeat it for more."),
    ] = msgspec.field(default_factory=dict)


class SnapshotProtocol(BoxProtocol[SnapshotOptions]):
    """Greedy matching at an IoU threshold, micro-averaged; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = "Document Snapshot Detection"
    options = SnapshotOptions
    iou_floor = IOU_FLOOR
    pairs = Pairs
    thresholds = IOU_THRESHOLDS

    def pair_issues(self, truth: Annotations, prediction: Annotations, options: SnapshotOptions) -> tuple[Issue, ...]:
        """Return the issues of units that differ, and of the rules of section 9 on two files."""
        return (*super().pair_issues(truth, prediction, options), *check_pair(truth, prediction))

    def pair(self, dataset: Dataset, model: int, options: SnapshotOptions, *, iou_floor: float | None = None) -> Pairs:
        """Return every pair of one label on one page that reaches the floor."""
        floor = self.iou_floor if iou_floor is None else iou_floor
        return pair(dataset, model, iou_floor=floor, polygons=options.polygons)

    def result(self, matching: Matching, iou: Sequence[float], options: SnapshotOptions) -> SnapshotResult:
        """Return the evaluation of a matching, with the weights of the labels."""
        check_class_weight(options.class_weight, matching.dataset)
        thresholds = {float(threshold): matching.at(threshold) for threshold in iou}
        return SnapshotResult(matching, thresholds, dict(options.class_weight))


PROTOCOL: Final = SnapshotProtocol()
