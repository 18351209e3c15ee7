"""COCO detection: average precision and recall by IoU thresholds, box sizes and numbers of detections.

The numbers are those of pycocotools 2.0 (``COCOeval`` with ``iouType="bbox"``) to the last digits, ties included; its
-1 is undefined here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from evaluator import formats
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Annotations, Dataset, Side
from evaluator.data.issues import Collector, Issue
from evaluator.data.page_sizes import unit_issue
from evaluator.formats.coco import is_unresolved
from evaluator.matching.box_results import ALL_LABELS, BoxMatching
from evaluator.metrics.results import JsonObject, ResultTable, defined
from evaluator.metrics.tied_scores import Range, Ties, widest
from evaluator.protocols.base import BoxEvaluation, Result, join_pair, lowest_threshold, raise_on_errors
from evaluator.protocols.coco.curves import (
    MAX_DETECTIONS,
    CocoPartial,
    Columns,
    Curves,
    TiedOrders,
    average,
    columns_of,
    partials,
    tied_orders,
)
from evaluator.protocols.coco.matching import (
    IOU_FLOOR,
    MOST_DETECTIONS,
    BeyondLimit,
    Matching,
    ThresholdResult,
    image_rank,
    pair,
)

if TYPE_CHECKING:
    from evaluator.matching.error_types import BoxColumns, TideErrors, TidePartial
    from evaluator.metrics.bootstrap_ap import Ranking
    from evaluator.metrics.measures import Key

IOU_THRESHOLDS: Final = tuple(np.linspace(IOU_FLOOR, 0.95, 10).tolist())
NUMBERS: Final = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")


@dataclass(frozen=True, eq=False, kw_only=True)
class CocoNumbers(Result):
    """The numbers of one model, with its boxes or without.

    `columns` has rows of the rising thresholds `iou` and columns of `labels`, which are scored; `documents` are ids.
    `beyond_limit`: predictions that do not count because a page has enough better ones of their label.
    """

    labels: tuple[str, ...]
    iou: tuple[float, ...]
    documents: tuple[str, ...]
    columns: Columns
    beyond_limit: BeyondLimit

    def own_issues(self, file: str) -> tuple[Issue, ...]:
        """Return warnings about a file of predictions: those beyond the limit, and equal scores."""
        limited = (self.beyond_limit.issue(file),) if self.beyond_limit.predictions else ()
        return (*limited, *super().own_issues(file))

    @property
    @abstractmethod
    def title(self) -> str:
        """Return the name of the predictions."""

    @property
    @abstractmethod
    def ranked(self) -> tuple[Sequence[CocoPartial], Sequence[int], float]:
        """Return what matched by rising threshold, codes of the labels that are scored, and the lowest score."""

    def rankings(self) -> Iterator[Ranking]:
        """Yield the ranking of each label over all sizes, by threshold, then by label."""
        parts, codes, min_score = self.ranked
        for part in parts:
            yield from part.rankings(codes, len(self.documents), min_score)

    @cached_property
    def ties(self) -> Ties | None:
        """Return what equal scores do to AP; None where it is the same in every order of them, see `tied_scores`."""
        orders = self._orders
        if orders is None:
            return None
        best, worst = (_numbers_of(self._columns_of(each), self.iou)["AP"] or 0.0 for each in orders[:2])
        return widest([Ties("AP", orders.predictions, orders.tied, best, worst)])

    @cached_property
    def _orders(self) -> TiedOrders | None:
        return tied_orders(*self.ranked, self.columns.precision["all"])

    def _columns_of(self, precision: FloatArray) -> Columns:
        return self.columns._replace(precision={**self.columns.precision, "all": precision})

    @cached_property
    def tied_ranges(self) -> Mapping[Key, Range]:
        """Return the worst and the best AP, AP50 and AP75 over all labels and of each label that has equal scores."""
        from evaluator.metrics.measures import Key  # the numbers need no resampling

        orders, ranges = self._orders, {}
        if orders is None:
            return {}
        best, worst = (self._columns_of(each) for each in orders[:2])
        rows = [(ALL_LABELS, slice(None)), *((name, slice(at, at + 1)) for at, name in enumerate(self.labels))]
        for label, columns in rows:
            of_best, of_worst = (_numbers_of(each, self.iou, columns) for each in (best, worst))
            for metric in ("AP", "AP50", "AP75"):
                high, low = of_best[metric], of_worst[metric]
                if high is not None and low is not None and high > low:
                    ranges[Key(metric, label)] = Range(low, high)
        return ranges

    @cached_property
    def numbers(self) -> dict[str, float | None]:
        """Return the twelve numbers by their COCO names; None where undefined."""
        return _numbers_of(self.columns, self.iou)

    @cached_property
    def per_label(self) -> dict[str, dict[str, float | None]]:
        """Return the twelve numbers of each label; None where undefined."""
        return {
            label: _numbers_of(self.columns, self.iou, slice(row, row + 1)) for row, label in enumerate(self.labels)
        }

    def own_values(self, errors: TidePartial | None) -> JsonObject:
        """Return what only this protocol says, as plain values: numbers, ``ties``, ``per_class``, ``error_types``."""
        ties = self.ties and self.ties.to_json()
        return {**self.numbers, "ties": ties, "per_class": self.per_label, "error_types": errors and errors.to_json()}

    def table(self) -> ResultTable:
        """Return one row per label, the mean over labels first: columns ``label`` and the twelve numbers."""
        of_labels = ((label, *values.values()) for label, values in self.per_label.items())
        rows = ((ALL_LABELS, *self.numbers.values()), *of_labels)
        return ResultTable(title=self.title, signature=self.signature.line, columns=("label", *NUMBERS), rows=rows)


@dataclass(frozen=True, eq=False)
class CocoResult(BoxEvaluation, CocoNumbers):
    """The evaluation of one model under the protocol.

    Attributes
    ----------
    thresholds : dict of ThresholdResult
        By IoU threshold, rising.
    """

    matching: Matching
    thresholds: dict[float, ThresholdResult]

    def of(self, matching: BoxMatching) -> CocoResult:
        """Return the evaluation of another matching at the same thresholds."""
        return result_of(cast(Matching, matching), list(self.thresholds))

    def release(self) -> None:
        """Give up the curves, which take more memory than the boxes."""
        self.matching.pairs.kept.clear()

    @property
    def title(self) -> str:
        """Return the name of the predictions."""
        return self.matching.prediction.source.name

    @property
    def ranked(self) -> tuple[Sequence[CocoPartial], Sequence[int], float]:
        """Return what matched by rising threshold, codes of the labels that are scored, and the lowest score."""
        matching = self.matching
        return partials(matching.pairs, self.iou), matching.label_codes.tolist(), matching.min_score

    @cached_property
    def _by_page(self) -> list[CocoPartial]:
        return partials(self.matching.pairs, self.iou, by_page=True)

    def numbers_on(self, cells: BoolArray) -> dict[str, float | None]:
        """Return the numbers over all sizes of some pages and labels, bool, shape (pages, labels); others are None.

        Boxes of other pages and labels change no match, so that these are the numbers of a file without them.
        """
        curves = [Curves(each.kept(cells)) for each in self._by_page]
        _, codes, min_score = self.ranked
        return _numbers_of(columns_of(curves, codes, min_score), self.iou)

    @cached_property
    def error_types(self) -> TideErrors | None:
        """Return the six TIDE types at IoU 0.5 and what each costs in AP; None without scores."""
        return error_types(self.matching)

    def to_json(self) -> JsonObject:
        """Return the result as plain values under the keys of the terminal contract; undefined is None.

        Besides what all have: the twelve numbers, ``ties``, ``per_class`` with those of each label, ``error_types``.
        """
        errors = None if self.error_types is None else self.error_types.partial
        return self.plain_values(**self.own_values(errors))


def error_types(matching: Matching) -> TideErrors | None:
    """Return the TIDE errors of a matching at IoU 0.5; None when a prediction has no score.

    See `matching.error_types.tide`; crowds are its regions to ignore, as in ``tidecv``. Where outlines are compared the
    types follow from them, as ``tidecv`` names masks. Of equal scores that of the lower image id is first, as in AP.
    """
    from evaluator.matching.error_types import tide

    pairs, rows = matching.pairs, np.flatnonzero(matching.prediction_counts)
    if np.isnan(matching.prediction.score[rows]).any():
        return None
    rank = image_rank(matching.dataset)

    def by_image(side: Side, rows: IntArray) -> BoxColumns:
        columns = pairs.columns(side, rows)
        return replace(columns, page=rank[columns.page])

    crowd = matching.dataset.ground_truth.source.boxes.crowd
    ignore = None if crowd is None else by_image("ground_truth", np.flatnonzero(crowd))
    truth = by_image("ground_truth", np.flatnonzero(matching.truth_counts))
    return tide(truth, by_image("prediction", rows), ignore=ignore)


def _numbers_of(columns: Columns, iou: Sequence[float], labels: slice = slice(None)) -> dict[str, float | None]:
    nothing = np.empty((0, 0))

    def mean(values: FloatArray, threshold: float | None = None) -> float | None:
        if threshold is not None:
            values = values[[row for row, value in enumerate(iou) if value == threshold]]
        known = values[:, labels][~np.isnan(values[:, labels])] if values.size else nothing
        return defined(known.mean()) if known.size else None

    everything = columns.precision["all"]
    numbers = {"AP": mean(everything), "AP50": mean(everything, 0.5), "AP75": mean(everything, 0.75)}
    for size in ("small", "medium", "large"):
        numbers[f"AP{size[0]}"] = mean(columns.precision.get(size, nothing))
    for most in MAX_DETECTIONS:
        numbers[f"AR{most}"] = mean(columns.recall_at[most])
    for size in ("small", "medium", "large"):
        numbers[f"AR{size[0]}"] = mean(columns.recall.get(size, nothing))
    return numbers


def evaluate(
    ground_truth: Annotations,
    prediction: Annotations,
    *,
    iou: Sequence[float] = IOU_THRESHOLDS,
    min_score: float = 0.0,
    min_area: float = 0.0,
    labels: Sequence[str] | None = None,
    polygons: bool = False,
    max_detections: int = MOST_DETECTIONS,
) -> CocoResult:
    """Return the result of one prediction file against one ground truth.

    Parameters
    ----------
    ground_truth, prediction : Annotations
        As read by `evaluator.formats.read`; a results list gets its pages and labels from the ground truth.
    iou : sequence of float
        Thresholds in (0, 1]; a pair matches at IoU >= threshold.
    min_score : float
        Predictions with a lower score are left out; 0 keeps all.
    min_area : float
        Predictions that cover less than this share of the page are left out, equality stays.
    labels : sequence of str, optional
        Score these only.
    polygons : bool
        Compare outlines instead of boxes, where a row has one; the signature states "polygon IoU".
    max_detections : int
        So many predictions of a page and label count, the best ones, at least 1; ``AR100`` is the recall of these.

    Raises
    ------
    BadInput
        A prediction has no score, the units differ, or a results list does not know its pages yet.
    ValueError
        No threshold is given, one is out of range, a label is unknown, no prediction may count, or the page sizes are
        needed.

    Notes
    -----
    pycocotools 2.0, ``COCOeval``: greedy by score for each image, label and threshold, 101-point interpolated
    precision, means over thresholds and then labels that have ground truth.
    """
    raise_on_errors(comparable_issues(ground_truth, formats.resolve(prediction, ground_truth)))
    floor, dataset = lowest_threshold(iou), join_pair(ground_truth, prediction)
    if max_detections < 1:
        raise ValueError(f"max_detections must be at least 1; found {max_detections}")
    pairs = pair(dataset, iou_floor=floor, min_area=min_area, polygons=polygons, max_detections=max_detections)
    matching = pairs.match(min_score=min_score, min_area=min_area, labels=labels)
    return result_of(matching, iou)


def result_of(matching: Matching, iou: Sequence[float]) -> CocoResult:
    """Return the evaluation of a matching at IoU thresholds, which are put in rising order."""
    rising = tuple(sorted(set(map(float, iou))))
    return CocoResult(
        matching,
        {threshold: matching.at(threshold) for threshold in rising},
        labels=matching.labels,
        iou=rising,
        documents=matching.dataset.document_ids,
        columns=average(matching, rising),
        beyond_limit=matching.beyond_limit,
    )


def coco_numbers(dataset: Dataset, model: int = 0) -> dict[str, float | None] | None:
    """Return the `NUMBERS` of COCO of a model of any dataset, over all labels at the ten IoU thresholds.

    Those of a size are None where sizes in pixels are not known. None instead of the dict when a prediction has no
    score: there is no ranking.
    """
    if np.isnan(dataset.predictions[model].score).any():
        return None
    return dict(result_of(pair(dataset, model).match(), IOU_THRESHOLDS).numbers)


def comparable_issues(ground_truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return errors of two files that cannot be compared by score or in one unit; empty when they can."""
    collector = Collector(prediction.name, max_per_rule=None)
    without = int(np.isnan(prediction.boxes.score).sum())
    if without:
        rule = "average precision needs a score for every prediction (COCO)"
        collector.error("", rule, f"{without:,} without", "Export the scores, or use a protocol that needs none.")
    if ground_truth.label_map and is_unresolved(prediction):
        rule = "a results list must be read with its ground truth, which has the images and categories"
        collector.error("", rule, "image and category ids", "Resolve it with evaluator.formats.resolve.")
    return (*collector.issues(), *unit_issue(ground_truth, prediction))
