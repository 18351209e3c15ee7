"""COCO detection as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, cast

from msgspec import Meta

from evaluator.data.boxes import BoolArray
from evaluator.data.dataset import Annotations, Dataset
from evaluator.data.issues import Issue
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.protocols.base import BoxEvaluation, BoxOptions, BoxProtocol, Number, NumberGroup, Result
from evaluator.protocols.coco.curves import MAX_DETECTIONS
from evaluator.protocols.coco.evaluation import (
    IOU_THRESHOLDS,
    CocoNumbers,
    CocoResult,
    comparable_issues,
    result_of,
)
from evaluator.protocols.coco.matching import IOU_FLOOR, MOST_DETECTIONS, NAME, VERSION, Matching, Pairs, pair
from evaluator.protocols.coco.streaming import evaluate_streamed

if TYPE_CHECKING:
    from evaluator.matching.box_items import SliceAverage
    from evaluator.matching.box_measures import RankedLabel
    from evaluator.matching.error_types import TideErrors
    from evaluator.metrics.measures import Measures
    from evaluator.system.engine import Engine


class CocoOptions(BoxOptions, frozen=True, kw_only=True):
    """The options of COCO."""

    max_detections: Annotated[
        Annotated[int, Meta(ge=1)],
        Meta(description="So many predictions of a page and label count, the best ones; AR100 is the recall of these."),
    ] = MOST_DETECTIONS


class CocoProtocol(BoxProtocol[CocoOptions]):
    """Average precision over IoU thresholds, box sizes and numbers of detections; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = "COCO detection"
    options = CocoOptions
    needs_scores = True
    knows_crowds = True
    can_stream = True
    metrics: ClassVar[Mapping[str, Metric]] = {
        **BOX_METRICS,
        "AP": Metric("AP", "ranks better", "ranks worse"),
        "AP50": Metric("AP50", "ranks better", "ranks worse"),
        "AP75": Metric("AP75", "ranks better", "ranks worse"),
        "AR100": Metric("AR100", "finds more", "finds less"),
    }
    headline: ClassVar[tuple[str, ...]] = ("AP",)
    iou_floor = IOU_FLOOR
    pairs = Pairs
    thresholds = IOU_THRESHOLDS
    averages: ClassVar[tuple[SliceAverage, ...]] = ("AP", "AP50", "AP75", "AR1", "AR10", "AR100")

    def pair_issues(self, truth: Annotations, prediction: Annotations, options: CocoOptions) -> tuple[Issue, ...]:
        """Predictions without scores, units that differ, results that do not know their pages."""
        return comparable_issues(truth, prediction)

    def evaluate_streamed(
        self,
        ground_truth: Path,
        prediction: Path,
        options: CocoOptions,
        name: str,
        *,
        error_types: bool = True,
        engine: Engine,
    ) -> Result | None:
        """Return the numbers of one model without its boxes; None when a file needs the ordinary way."""
        pages = None if options.page_ranges is True else options.page_ranges
        iou = options.iou or IOU_THRESHOLDS
        result = evaluate_streamed(
            ground_truth, prediction, iou=iou, pages=pages, error_types=error_types, engine=engine
        )
        # Where nothing matches the boxes are needed to say why.
        nothing = result is not None and not any(result.numbers.values())
        if result is None or (nothing and not options.allow_no_match):
            return None
        return replace(result, prediction=result.prediction._replace(name=name))

    def pair(self, dataset: Dataset, model: int, options: CocoOptions, *, iou_floor: float | None = None) -> Pairs:
        """Return every pair of one label on one page that could match."""
        floor = self.iou_floor if iou_floor is None else iou_floor
        return pair(
            dataset,
            model,
            iou_floor=floor,
            min_area=options.min_area,
            polygons=options.polygons,
            max_detections=options.max_detections,
        )

    def result(self, matching: Matching, iou: Sequence[float], options: CocoOptions) -> CocoResult:
        """Return the evaluation of a matching, thresholds rising."""
        return result_of(matching, iou)

    def protocol_metrics(self, result: BoxEvaluation) -> tuple[NumberGroup, ...]:
        """Return the twelve numbers in the official order; one of a size states why it is undefined."""
        coco = cast(CocoResult, result)
        sizes = coco.matching.pairs.sizes

        def number(name: str, title: str, size: str = "all") -> Number:
            value = coco.numbers[name]
            why = ""
            if value is None:
                why = "no ground truth" if size == "all" else "no ground truth of this size"
                why = why if size in sizes else "sizes in pixels are not known"
                if name in ("AP50", "AP75") and int(name[2:]) / 100 not in coco.thresholds:
                    why = "its IoU threshold was not evaluated"
            return Number(title, name if name in self.metrics else "", value, why)

        def sized(kind: str) -> tuple[Number, ...]:
            return tuple(number(f"{kind}{size[0]}", size.capitalize(), size) for size in ("small", "medium", "large"))

        precision = (number("AP", "AP"), number("AP50", "AP50"), number("AP75", "AP75"), *sized("AP"))
        limits = (*MAX_DETECTIONS[:-1], coco.beyond_limit.limit)
        titled = zip(MAX_DETECTIONS, limits, strict=True)
        recall = (*(number(f"AR{most}", str(limit)) for most, limit in titled), *sized("AR"))
        return (
            NumberGroup("Average precision", precision),
            NumberGroup("Average recall, at most {}, {} or {} predictions".format(*limits), recall),
        )

    def label_numbers(self, result: BoxEvaluation) -> Mapping[str, Sequence[float | None]]:
        """AP, AP50 and AR100 of each label."""
        coco = cast(CocoResult, result)
        return {
            name: [coco.per_label[label][name] for label in coco.matching.labels] for name in ("AP", "AP50", "AR100")
        }

    def error_types(self, result: BoxEvaluation) -> TideErrors | None:
        """Return the six TIDE types at IoU 0.5; see `CocoResult.error_types`."""
        return cast(CocoResult, result).error_types

    def ranked(self, result: BoxEvaluation, average: SliceAverage) -> Iterator[list[RankedLabel]]:
        """At every threshold, for AP50 and AP75 at theirs; for AR1 and AR10 the first predictions of a page alone."""
        from evaluator.protocols.coco.measures import ranked

        return ranked(cast(CocoResult, result), average)

    def average(self, result: BoxEvaluation, average: SliceAverage) -> float | None:
        """Return one of the twelve numbers."""
        return cast(CocoResult, result).numbers[average]

    def average_on(self, result: BoxEvaluation, average: SliceAverage, cells: BoolArray) -> float | None:
        """Return one of the numbers over all sizes, without matching anew."""
        return cast(CocoResult, result).numbers_on(cells)[average]

    def measures(self, result: Result) -> Measures:
        """Return AP, AP50, AP75 and AR100 over all labels and per label; with boxes also the ratios."""
        from evaluator.matching.box_measures import box_measures
        from evaluator.matching.box_results import ALL_LABELS
        from evaluator.metrics.measures import Measures
        from evaluator.protocols.coco.measures import averages

        parts = averages(cast(CocoNumbers, result))
        if isinstance(result, BoxEvaluation):
            return box_measures(result.first, *parts)
        return Measures(cast(CocoNumbers, result).documents, ALL_LABELS, parts)


PROTOCOL: Final = CocoProtocol()
