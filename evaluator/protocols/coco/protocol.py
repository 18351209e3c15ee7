"""COCO detection as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import Annotated, ClassVar, Final, cast

import numpy as np
from msgspec import Meta

from evaluator.metrics.average_precision import RECALL_101
from evaluator.metrics.box_items import SliceAverage
from evaluator.metrics.box_measures import RankedLabel, box_measures, column, joined_means, ranked_labels, rankings
from evaluator.metrics.box_results import ALL_LABELS
from evaluator.metrics.error_types import TideErrors
from evaluator.metrics.measures import Averages, Key, Means, Measures, Part, Ratios
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.ranked import Ranking, on_grid
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.model.dataset import Annotations, Dataset
from evaluator.model.issues import Issue
from evaluator.protocols.base import BoxEvaluation, BoxOptions, BoxProtocol, Number, NumberGroup, Result
from evaluator.protocols.coco.curves import MAX_DETECTIONS
from evaluator.protocols.coco.evaluation import (
    IOU_THRESHOLDS,
    CocoResult,
    comparable_issues,
    result_of,
)
from evaluator.protocols.coco.matching import IOU_FLOOR, MOST_DETECTIONS, NAME, VERSION, Matching, Pairs, pair
from evaluator.protocols.coco.ranges import average_over_ranges

_AT: Final[Mapping[str, float]] = {"AP50": 0.5, "AP75": 0.75}
_MOST: Final[Mapping[str, int]] = {f"AR{most}": most for most in MAX_DETECTIONS}


class CocoOptions(BoxOptions, frozen=True, kw_only=True):
    """The options of COCO."""

    page_ranges: Annotated[
        bool,
        Meta(
            description="read and match a range of pages at a time: the twelve numbers alone, in a fraction of the "
            "memory."
        ),
    ] = False


class CocoProtocol(BoxProtocol[CocoOptions]):
    """Average precision over IoU thresholds, box sizes and numbers of detections; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = "COCO detection"
    options = CocoOptions
    needs_scores = True
    knows_crowds = True
    metrics: ClassVar[Mapping[str, Metric]] = {
        **BOX_METRICS,
        "AP": Metric("AP", "ranks better", "ranks worse"),
        "AP50": Metric("AP50", "ranks better", "ranks worse"),
        "AP75": Metric("AP75", "ranks better", "ranks worse"),
        "AR100": Metric("AR100", "finds more", "finds less"),
    }
    headline: ClassVar[tuple[str, ...]] = ("AP",)
    iou_floor = IOU_FLOOR
    thresholds = IOU_THRESHOLDS
    averages: ClassVar[tuple[SliceAverage, ...]] = ("AP", "AP50", "AP75", "AR1", "AR10", "AR100")

    def pair_issues(self, truth: Annotations, prediction: Annotations, options: CocoOptions) -> tuple[Issue, ...]:
        """Predictions without scores, units that differ, results that do not know their pages."""
        return comparable_issues(truth, prediction)

    def wants_ranges(self, options: CocoOptions) -> bool:
        """Whether ``--page-ranges`` is given."""
        return options.page_ranges

    def over_ranges(self, ground_truth: Path, prediction: Path, options: CocoOptions) -> Result | None:
        """The twelve numbers of one model without its boxes; None when a file needs the ordinary way."""
        result = average_over_ranges(ground_truth, prediction, iou=options.iou or IOU_THRESHOLDS)
        # Where nothing matches the boxes are needed to say why.
        nothing = result is not None and not any(result.numbers.values())
        return None if nothing and not options.allow_no_match else result

    def pair(self, dataset: Dataset, model: int, options: CocoOptions, *, iou_floor: float | None = None) -> Pairs:
        """Every pair of one label on one page that could match."""
        floor = self.iou_floor if iou_floor is None else iou_floor
        return pair(dataset, model, iou_floor=floor, min_area=options.min_area, polygons=options.polygons)

    def result(self, matching: Matching, iou: Sequence[float], options: CocoOptions) -> CocoResult:
        """The evaluation of a matching, thresholds rising."""
        return result_of(matching, iou)

    def own_numbers(self, result: BoxEvaluation) -> tuple[NumberGroup, ...]:
        """The twelve numbers in the official order; one of a size states why it is undefined."""
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
        recall = (*(number(f"AR{most}", str(most)) for most in MAX_DETECTIONS), *sized("AR"))
        return (
            NumberGroup("Average precision", precision),
            NumberGroup("Average recall, at most {}, {} or {} predictions".format(*MAX_DETECTIONS), recall),
        )

    def label_numbers(self, result: BoxEvaluation) -> Mapping[str, Sequence[float | None]]:
        """AP, AP50 and AR100 of each label."""
        coco = cast(CocoResult, result)
        return {
            name: [coco.per_label[label][name] for label in coco.matching.labels] for name in ("AP", "AP50", "AR100")
        }

    def error_types(self, result: BoxEvaluation) -> TideErrors | None:
        """The six TIDE types at IoU 0.5; see `CocoResult.error_types`."""
        return cast(CocoResult, result).error_types

    def ranked(self, result: BoxEvaluation, average: SliceAverage) -> Iterator[list[RankedLabel]]:
        """At every threshold, for AP50 and AP75 at theirs; for AR1 and AR10 the first predictions of a page alone."""
        steps = [step for step in result.thresholds if average not in _AT or step == _AT[average]]
        matching = cast(Matching, result.matching)
        order, most = matching.pairs.order, _MOST.get(average, MOST_DETECTIONS)
        kept = np.zeros(len(matching.prediction), bool)
        kept[order] = matching.pairs.before < most
        at, again = tee(map(matching.at, steps))
        every = ranked_labels(at, order, lambda threshold: threshold.ignored)
        for result_at, (*_, ranked) in zip(again, every, strict=True):
            yield ranked if most == MOST_DETECTIONS else [_first(one, kept, result_at.truth_partner) for one in ranked]

    def average(self, result: BoxEvaluation, average: SliceAverage) -> float | None:
        """One of the twelve numbers."""
        return cast(CocoResult, result).numbers[average]

    def measures(self, result: BoxEvaluation) -> Measures:
        """The ratios at the first threshold; AP, AP50, AP75 and AR100 over all labels and per label."""
        return box_measures(result.first, *_averages(cast(CocoResult, result)))


def _first(ranked: RankedLabel, kept: BoolArray, partner: IntArray) -> RankedLabel:
    """A label with some of the predictions alone: a box is found when its own is among them."""
    chosen = kept[ranked.prediction]
    own = ranked.found & kept[partner[ranked.truth]]
    return RankedLabel(ranked.prediction[chosen], ranked.hit[chosen], ranked.truth, own)


def _averages(result: CocoResult) -> tuple[Part, ...]:
    """AP, AP50 and AP75 over all labels and per label, and AR100."""
    labels, steps = result.matching.labels, list(result.thresholds)
    size = len(labels)
    documents = len(result.matching.dataset.documents)
    every: list[Ranking] = []
    columns: list[FloatArray] = []
    positives: list[FloatArray] = []
    # Made for this and given up again: what a result keeps of its matches, for all thresholds, is more than all else.
    matching, order = result.matching, result.matching.pairs.order
    for ranked in rankings(map(matching.at, steps), order, lambda threshold: threshold.ignored):
        every += ranked
        columns += [np.bincount(one.document[one.hit], minlength=documents).astype(np.float64) for one in ranked]
        positives += [one.positives.astype(np.float64) for one in ranked]
    unnamed = tuple(Key("", label) for _ in steps for label in labels)
    precision = Averages(unnamed, result.columns.precision["all"].ravel(), tuple(every), on_grid(RECALL_101), documents)
    recall = Ratios(
        unnamed, result.columns.recall["all"].ravel(), _stacked(documents, columns), _stacked(documents, positives)
    )
    chosen = {"AP": range(len(steps)), **{name: _steps_at(steps, threshold) for name, threshold in _AT.items()}}
    # One part for all of them: a ranking is dear, so it is resampled once.
    return (
        joined_means([_over_labels(name, result, precision, size, rows) for name, rows in chosen.items() if len(rows)]),
        _over_labels("AR100", result, recall, size, range(len(steps))),
    )


def _stacked(documents: int, columns: Sequence[FloatArray]) -> FloatArray:
    """Columns side by side, float64, shape (D, M)."""
    return np.column_stack(columns) if columns else np.empty((documents, 0))


def _steps_at(steps: Sequence[float], threshold: float) -> list[int]:
    return [row for row, value in enumerate(steps) if value == threshold]


def _over_labels(name: str, result: CocoResult, of: Part, size: int, steps: Sequence[int]) -> Means:
    """A number of COCO over all labels and per label, as the mean over some thresholds."""
    per_label = [np.array([step * size + label for step in steps], dtype=np.int64) for label in range(size)]
    labels = result.matching.labels
    values = [result.numbers[name], *(result.per_label[label][name] for label in labels)]
    return Means(
        keys=(Key(name, ALL_LABELS), *(Key(name, label) for label in labels)),
        values=np.concatenate([column(value) for value in values]),
        of=of,
        members=(np.concatenate([np.empty(0, np.int64), *per_label]), *per_label),
    )
