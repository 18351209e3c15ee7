"""ICDAR 2017 page object detection as one object: options, rules of a pair, evaluation, measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Final, cast

import msgspec
import numpy as np
from msgspec import Meta

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, Dataset, Side
from evaluator.data.issues import Issue
from evaluator.data.unshared_pages import unshared_issues
from evaluator.formats.base import Reading
from evaluator.formats.pod import check_pair
from evaluator.matching.box_items import SliceAverage
from evaluator.matching.box_measures import RankedLabel, box_measures, column, ranked_labels, rankings
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.bootstrap_ap import Interpolation, all_point, eleven_point
from evaluator.metrics.measures import Averages, Key, Means, Measures, Part
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.results import RATIOS, defined, threshold_text
from evaluator.protocols.base import BoxEvaluation, BoxOptions, BoxProtocol, Number, NumberGroup
from evaluator.protocols.pod.evaluation import (
    IOU_FLOOR,
    IOU_THRESHOLDS,
    LINE_MAX_PX,
    NAME,
    SMALL_PX,
    VERSION,
    AveragePrecision,
    Matching,
    Pairs,
    PodResult,
    ThresholdResult,
    pair,
)


class PodOptions(BoxOptions, frozen=True, kw_only=True):
    """The options of POD 2017."""

    ap: Annotated[AveragePrecision, Meta(description="how average precision is read off the curve.")] = "11-point"
    small_px: Annotated[
        Annotated[float, Meta(ge=0.0)],
        Meta(description="objects of at most this width and height are not counted."),
    ] = SMALL_PX
    line_px: Annotated[
        Annotated[float, Meta(ge=0.0)],
        Meta(description="regions of at most this width or height count as lines and are left out."),
    ] = LINE_MAX_PX
    small_duplicates: Annotated[
        bool,
        Meta(description="count a small prediction or line whose best ground truth is taken as false, as VOC does."),
    ] = False
    lenient: Annotated[bool, Meta(description="repair what the format allows, with a warning each.")] = False


class PodProtocol(BoxProtocol[PodOptions]):
    """Pascal VOC matching strictly above an IoU; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = "ICDAR 2017 page object detection"
    options = PodOptions
    needs_scores = True
    averages: ClassVar[tuple[SliceAverage, ...]] = ("map", "mean_f1")
    metrics: ClassVar[Mapping[str, Metric]] = {
        **BOX_METRICS,
        "ap": Metric("AP", "ranks better", "ranks worse"),
        "map": Metric("mAP", "ranks better", "ranks worse"),
        "mean_f1": Metric("mean F1", "is better", "is worse"),
    }
    headline: ClassVar[tuple[str, ...]] = ("map",)
    iou_floor = IOU_FLOOR
    pairs = Pairs
    above = True
    thresholds = IOU_THRESHOLDS

    def reading(self, side: Side, options: PodOptions) -> Reading:
        """Return how one side is read: with the repairs of the format when the options ask for that."""
        return msgspec.structs.replace(super().reading(side, options), lenient=options.lenient)

    def pair_issues(self, truth: Annotations, prediction: Annotations, options: PodOptions) -> tuple[Issue, ...]:
        """Return the issues of two files by the rules of the competition."""
        return check_pair(truth, prediction, lenient=options.lenient)

    def unshared_issues(
        self, truth: Annotations, prediction: Annotations, counts: tuple[IntArray, IntArray] | None = None
    ) -> tuple[Issue, ...]:
        """Return what only the ground truth lists; other pages are errors, or left out."""
        return unshared_issues(truth, prediction, counts, invented=False)

    def pair(self, dataset: Dataset, model: int, options: PodOptions, *, iou_floor: float | None = None) -> Pairs:
        """Return the best ground truth of each prediction."""
        floor = self.iou_floor if iou_floor is None else iou_floor
        return pair(dataset, model, iou_floor=floor, polygons=options.polygons)

    def own_options(self, options: PodOptions) -> Mapping[str, object]:
        """Return the kind of average precision and the rules on ignored boxes."""
        return {
            "ap": options.ap,
            "small_px": options.small_px,
            "line_max_px": options.line_px,
            "lenient": options.lenient,
            "small_duplicates": options.small_duplicates,
        }

    def result(self, matching: Matching, iou: Sequence[float], options: PodOptions) -> PodResult:
        """Return the evaluation of a matching."""
        return PodResult(matching, {float(threshold): matching.at(threshold) for threshold in iou})

    def protocol_metrics(self, result: BoxEvaluation) -> tuple[NumberGroup, ...]:
        """Return mean AP (mAP) and mean F1 at each threshold; only those of the first have intervals."""
        groups = []
        for place, (iou, at_iou) in enumerate(cast(PodResult, result).thresholds.items()):
            means = at_iou.partial
            numbers = [("mAP", "map", means.mean_average_precision), ("Mean F1", "mean_f1", means.mean_f1)]
            groups.append(
                NumberGroup(
                    f"IoU > {threshold_text(iou)}",
                    tuple(
                        Number(title, "" if place else metric, value, "no ground truth" if value is None else "")
                        for title, metric, value in numbers
                    ),
                )
            )
        return tuple(groups)

    def label_numbers(self, result: BoxEvaluation) -> Mapping[str, Sequence[float | None]]:
        """Return AP and F1 of each label at each threshold."""
        columns: dict[str, Sequence[float | None]] = {}
        for iou, at_iou in cast(PodResult, result).thresholds.items():
            at = threshold_text(iou)
            columns[f"AP {at}"] = [defined(value) for value in at_iou.partial.average_precision.tolist()]
            columns[f"F1 {at}"] = [defined(value) for value in at_iou.per_label.f1.tolist()]
        return columns

    def ranked(self, result: BoxEvaluation, average: SliceAverage) -> Iterator[list[RankedLabel]]:
        """Yield the ranked boxes of each label at the first threshold."""
        return _ranked(cast(ThresholdResult, result.first))

    def average(self, result: BoxEvaluation, average: SliceAverage) -> float | None:
        """Return mAP or mean F1 at the first threshold."""
        first = cast(ThresholdResult, result.first).partial
        return first.mean_f1 if average == "mean_f1" else first.mean_average_precision

    def measures(self, result: BoxEvaluation) -> Measures:
        """Return the ratios, AP of each label, and the means over the labels, at the first threshold."""
        first = cast(ThresholdResult, result.first)
        return box_measures(first, *_averages(first))


PROTOCOL: Final = PodProtocol()


def _ranked(result: ThresholdResult) -> Iterator[list[RankedLabel]]:
    return ranked_labels([result], result.matching.order, lambda one: np.flatnonzero(one.ignored))


def _averages(result: ThresholdResult) -> tuple[Part, ...]:
    matching = result.matching
    labels = matching.labels
    everything = np.arange(len(labels))
    interpolated: Interpolation = eleven_point if matching.ap == "11-point" else all_point
    ap = Averages(
        keys=tuple(Key("ap", label) for label in labels),
        values=result.partial.average_precision,
        rankings=rankings(matching, next(_ranked(result))),
        interpolated=interpolated,
        documents=len(matching.dataset.documents),
    )
    f1 = box_measures(result).parts[RATIOS.index("f1")]
    # One part for the mean and what it is a mean of: a ranking is dear, so it is resampled once.
    return (
        Means(
            keys=(Key("map", ALL_LABELS), *ap.keys),
            values=np.append(column(result.partial.mean_average_precision), ap.values),
            of=ap,
            members=(everything, *everything[:, None]),
        ),
        Means((Key("mean_f1", ALL_LABELS),), column(result.partial.mean_f1), f1, (everything + 1,)),
    )
