"""ICDAR 2017 page object detection (POD): Pascal VOC matching, AP and F1, at IoU above a threshold.

Boxes are pixels of the page image, origin top left; files in shares of the page are accepted too. No official program
is public: the competition's evaluation page, the published tables and Pascal VOC are the sources. A prediction is
compared with one ground truth only, that with the highest IoU of its label on its page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, Literal

import numpy as np

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray, overlap
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes
from evaluator.data.order import order_by
from evaluator.data.polygons import polygon_overlap
from evaluator.matching.box_results import (
    ALL_LABELS,
    UNMATCHED,
    BoxMatching,
    BoxPairs,
    BoxResult,
    candidate_pairs,
    curve_of_one_matching,
    page_and_label,
)
from evaluator.matching.pairs import Matches, check_iou_floor
from evaluator.metrics.average_precision import (
    Curve,
    all_point_precision,
    curve,
    descending_order,
    eleven_point_precision,
)
from evaluator.metrics.measures import Key
from evaluator.metrics.results import (
    JsonObject,
    MetricColumns,
    Metrics,
    ResultTable,
    ScoreCurve,
    Signature,
    defined,
    threshold_text,
    weighted_mean,
)
from evaluator.metrics.tied_scores import Range, Ties, tied_averages, widest
from evaluator.protocols.base import BoxEvaluation, join_pair, lowest_threshold

NAME: Final = "pod"
VERSION: Final = "2017"
# "Evaluation": two thresholds; IoU must be larger.
IOU_THRESHOLDS: Final = (0.6, 0.8)
# A slider may go down to here without a new search.
IOU_FLOOR: Final = 0.1
# "Evaluation Details": objects of at most this height and width are ignored.
SMALL_PX: Final = 30.0
# "Evaluation Details" ignores lines and does not say what a line is: here a box without width or height.
LINE_MAX_PX: Final = 0.0

AveragePrecision = Literal["11-point", "all-point"]
AVERAGE_PRECISION: Final[tuple[AveragePrecision, ...]] = ("11-point", "all-point")

MEAN_OF_LABELS: Final = "Mean of labels"


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching(BoxMatching):
    """Which predictions count and in which order, for any IoU threshold.

    `small_px`, `line_max_px`: sizes up to which boxes are ignored; nothing is without `in_pixels`. Ignored predictions
    are among ``prediction_counts``, ignored ground truth is not among ``truth_counts``. `prediction_small`: bool, shape
    (P,), ignored unless they match. `score`: without NaN. `order`: rows that take part, by falling score, then file
    order.
    """

    pairs: Pairs
    ap: AveragePrecision
    small_px: float
    line_max_px: float
    in_pixels: bool
    lenient: bool
    small_duplicates: bool
    prediction_small: BoolArray
    score: FloatArray
    order: IntArray

    @property
    def own_options(self) -> Mapping[str, object]:
        """Return what `Pairs.match` receives in addition."""
        return {name: getattr(self, name) for name in ("ap", "small_px", "line_max_px", "lenient", "small_duplicates")}

    def at(self, iou: float) -> ThresholdResult:
        """Return the result at one IoU threshold, which a pair has to exceed."""
        return ThresholdResult(self, iou)

    def signature(self, *iou: float) -> Signature:
        """Return what made the numbers of this matching at the given thresholds."""
        small, line = f"{self.small_px:g}", f"{self.line_max_px:g}"
        duplicates = "not their duplicates" if self.small_duplicates else "and their duplicates"
        ignored = f"ignored: {small} × {small} px, lines of {line} px, {duplicates}"
        ignored = ignored if self.in_pixels else "no pixels, none ignored"
        options = [f"AP {self.ap}", ignored, *(["lenient"] if self.lenient else [])]
        return self.signed(protocol=NAME, version=VERSION, iou=iou, strict=True, options=options)


@dataclass(frozen=True, eq=False)
class ThresholdResult(BoxResult[Matching]):
    """Everything that follows from a matching at one IoU threshold; computed when asked for.

    A prediction that claims ignored ground truth is neither a true nor a false positive. The competition does not
    report the pooled row.
    """

    @cached_property
    def matches(self) -> Matches:
        """Return the true positives, sorted by (document, page, label, falling IoU)."""
        matching = self.matching
        truth, prediction = matching.dataset.ground_truth, matching.prediction
        claimed = matching.order[self._above[matching.order]]
        claimed = claimed[matching.truth_counts[matching.pairs.best[claimed]]]
        # The first in rank takes the ground truth; np.unique gives the first place of each.
        _, first = np.unique(matching.pairs.best[claimed], return_index=True)
        rows = claimed[first]
        partner = matching.pairs.best[rows]
        group = page_and_label(matching.dataset, truth)[partner]
        order = order_by([group, -matching.pairs.best_iou[rows], partner])
        rows, partner = rows[order], partner[order]
        if matching.pairs.polygons:
            return Matches(rows, partner, *polygon_overlap(truth.source.boxes, prediction.source.boxes, partner, rows))
        return Matches(rows, partner, *overlap(truth.xyxy[partner], prediction.xyxy[rows]))

    @cached_property
    def ignored(self) -> BoolArray:
        """Predictions that take part and count neither way, bool, shape (P,).

        Those whose best match is ignored ground truth, and unmatched small ones and lines; see `evaluate` for
        duplicates.
        """
        matching = self.matching
        on_ignored = (
            self._above & ~matching.truth_counts[matching.pairs.best] if len(matching.truth_counts) else self._above
        )
        small = matching.prediction_small & (self.prediction_partner == UNMATCHED)
        if matching.small_duplicates:
            small &= ~self._above
        return np.asarray(matching.prediction_counts & (on_ignored | small))

    @cached_property
    def false_positives(self) -> IntArray:
        """Rows of the predictions that count and matched nothing, int64, in file order."""
        counts = self.matching.prediction_counts & ~self.ignored
        return np.flatnonzero(counts & (self.prediction_partner == UNMATCHED))

    @cached_property
    def partial(self) -> ThresholdPartial:
        """Return what the numbers are made of."""
        return ThresholdPartial.of(self)

    def curve(self, label: str) -> Curve:
        """Return precision, recall and F1 of a label against the score threshold.

        Empty without predictions that count. ValueError when the label is not scored.
        """
        if label not in self.matching.labels:
            raise ValueError(f"label must be one of {', '.join(self.matching.labels)}; found {label}")
        code = self.matching.dataset.labels.index(label)
        true_positive, counts = self._ranked(code)
        score = self.matching.score[self._rows_of(code)]
        positives = int((self.matching.truth_counts & (self.matching.dataset.ground_truth.label == code)).sum())
        return curve(score[counts], true_positive[counts], counts[counts], positives)

    @cached_property
    def _above(self) -> BoolArray:
        """Predictions that take part and whose best IoU is larger than the threshold, bool, shape (P,)."""
        pairs = self.matching.pairs
        return np.asarray(self.matching.prediction_counts & (pairs.best != UNMATCHED) & (pairs.best_iou > self.iou))

    def _rows_of(self, code: int) -> IntArray:
        order = self.matching.order
        return np.asarray(order[self.matching.prediction.label[order] == code])

    def _ranked(self, code: int) -> tuple[BoolArray, BoolArray]:
        rows = self._rows_of(code)
        return self.prediction_partner[rows] != UNMATCHED, ~self.ignored[rows]


@dataclass(frozen=True, eq=False)
class ThresholdPartial:
    """What the numbers at one IoU threshold of some documents follow from.

    `label`, `place`, `score`, `hit`: shape (N,), of the predictions that count, by falling score: row in `per_label`,
    place in the file (decides between equal scores), whether a true positive. `ignored`: boxes of the ground truth and
    of the predictions that count neither way. `by_document` is that of `BoxResult`.
    """

    ap: AveragePrecision
    per_label: MetricColumns
    label: AnyArray
    place: AnyArray
    score: FloatArray
    hit: BoolArray
    ignored: IntArray
    by_document: IntArray

    @classmethod
    def of(cls, result: ThresholdResult) -> ThresholdPartial:
        """Return that of a result; a copy of columns holds their sums and no boxes."""
        matching, truth = result.matching, result.matching.dataset.ground_truth
        rows = matching.order[~result.ignored[matching.order]]
        code, in_file = matching.label_codes, matching.prediction.source.boxes.row
        label = np.argsort(code)[np.searchsorted(np.sort(code), matching.prediction.label[rows])]
        ignored = (
            np.count_nonzero(np.isin(truth.label, code) & ~matching.truth_counts),
            np.count_nonzero(result.ignored),
        )
        return cls(
            ap=matching.ap,
            per_label=copy(result.per_label),
            label=_smallest(label, len(code)),
            place=_smallest(rows if in_file is None else in_file[rows], np.iinfo(np.int32).max),
            score=matching.score[rows],
            hit=result.prediction_partner[rows] != UNMATCHED,
            ignored=np.array(ignored, dtype=np.int64),
            by_document=result.by_document,
        )

    @classmethod
    def merged(cls, parts: Sequence[ThresholdPartial]) -> ThresholdPartial:
        """Add up the partials of different documents, at least one, which are in the order of the documents."""
        names = ("label", "place", "score", "hit")
        label, place, score, hit = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        order = order_by([-score, place])
        return cls(
            ap=parts[0].ap,
            per_label=MetricColumns.merged([part.per_label for part in parts]),
            label=label[order],
            place=place[order],
            score=score[order],
            hit=hit[order],
            ignored=np.sum([part.ignored for part in parts], axis=0),
            by_document=np.concatenate([part.by_document for part in parts], axis=1),
        )

    @cached_property
    def average_precision(self) -> FloatArray:
        """Return the average precision of each label, float64; NaN without ground truth that counts."""
        average = eleven_point_precision if self.ap == "11-point" else all_point_precision
        every = [average(np.flatnonzero(self.hit[rows]) + 1, positives) for rows, positives in self._by_label]
        return np.array(every, dtype=np.float64)

    @cached_property
    def _by_label(self) -> list[tuple[IntArray, int]]:
        """Return the predictions of each label, by falling score, and how much ground truth of it counts."""
        positives = (self.per_label.tp + self.per_label.fn).tolist()
        order = np.argsort(self.label, kind="stable")
        first = np.searchsorted(self.label[order], np.arange(len(positives) + 1))
        return [(order[low:high], count) for low, high, count in zip(first, first[1:], positives, strict=False)]

    @property
    def mean_average_precision(self) -> float | None:
        """Return the unweighted mean of the average precisions that are defined; None without any."""
        return weighted_mean(self.average_precision)[0]

    def ties(self, metric: str) -> Ties | None:
        """Return what equal scores do to mAP, which is called `metric`; None where no order of them matters."""
        in_order, tied = self.in_order
        if not tied:
            return None
        best, worst = (weighted_mean(values)[0] or 0.0 for values in in_order)
        return Ties(metric, len(self.label), tied, best, worst)

    @cached_property
    def in_order(self) -> tuple[FloatArray, int]:
        """Return AP of each label in the best and the worst order of equal scores, (2, L), and how many are tied."""
        average = eleven_point_precision if self.ap == "11-point" else all_point_precision
        in_order, tied = np.stack([self.average_precision, self.average_precision]), 0
        for row, (rows, positives) in enumerate(self._by_label):
            steps = [(self.hit[rows], np.ones(len(rows), dtype=bool))]
            of_runs = tied_averages(self.score[rows], steps, partial(average, positives=positives))
            if of_runs and of_runs.tied:
                in_order[:, row] = of_runs.averages[:, 0]
                tied += of_runs.tied
        return in_order, tied

    @property
    def mean_f1(self) -> float | None:
        """Return the unweighted mean of the labels' F1 that are defined; None without any."""
        return weighted_mean(self.per_label.f1)[0]


@dataclass(frozen=True, eq=False)
class PodPartial:
    """Arrays that add up over documents and give the table and the numbers of a result."""

    labels: tuple[str, ...]
    thresholds: dict[float, ThresholdPartial]

    @classmethod
    def of(cls, result: PodResult) -> PodPartial:
        """Return that of a result."""
        return cls(result.matching.labels, {iou: each.partial for iou, each in result.thresholds.items()})

    @classmethod
    def merged(cls, parts: Sequence[PodPartial]) -> PodPartial:
        """Add up the partials of different documents of one file under the same options, at least one."""
        first = parts[0]
        thresholds = {
            iou: ThresholdPartial.merged([part.thresholds[iou] for part in parts]) for iou in first.thresholds
        }
        return cls(first.labels, thresholds)

    def rows(self) -> list[tuple[str | int | float | None, ...]]:
        """Return the rows of `PodResult.table`."""
        rows: list[tuple[str | int | float | None, ...]] = []
        for iou, each in self.thresholds.items():
            mean = {"f1": each.mean_f1, "ap": each.mean_average_precision}
            rows.append((iou, MEAN_OF_LABELS, *(mean.get(name) for name in (*Metrics.__annotations__, "ap"))))
            rows.append((iou, ALL_LABELS, *each.per_label.micro.row(0).values(), None))  # type: ignore[arg-type]
            for row, label in enumerate(self.labels):
                ap = defined(each.average_precision[row])
                rows.append((iou, label, *each.per_label.row(row).values(), ap))  # type: ignore[arg-type]
        return rows

    def to_json(self) -> JsonObject:
        """Return ``thresholds`` of `PodResult.to_json`."""
        return {
            repr(iou): {
                "per_class": {
                    label: {**each.per_label.row(row), "ap": defined(each.average_precision[row])}
                    for row, label in enumerate(self.labels)
                },
                "map": each.mean_average_precision,
                "mean_f1": each.mean_f1,
                "micro": each.per_label.micro.row(0),
                "ignored": dict(zip(("ground_truth", "predictions"), each.ignored.tolist(), strict=True)),
            }
            for iou, each in self.thresholds.items()
        }


@dataclass(frozen=True, eq=False)
class PodResult(BoxEvaluation):
    """The evaluation of one model under the protocol.

    Attributes
    ----------
    thresholds : dict of ThresholdResult
        By IoU threshold, in the order asked for.
    """

    matching: Matching
    thresholds: dict[float, ThresholdResult]

    @cached_property
    def partial(self) -> PodPartial:
        """Return what the numbers follow from."""
        return self.merged or PodPartial.of(self)

    @cached_property
    def ties(self) -> Ties | None:
        """Return what equal scores do to mAP at the threshold where it is most; None where it is nowhere anything."""
        return widest(each.ties(f"mAP at IoU > {threshold_text(iou)}") for iou, each in self.partial.thresholds.items())

    @cached_property
    def tied_ranges(self) -> Mapping[Key, Range]:
        """Return the worst and the best mAP, and AP of each label with equal scores, at the first threshold."""
        (best, worst), tied = next(iter(self.partial.thresholds.values())).in_order
        if not tied:
            return {}
        pairs = zip(self.matching.labels, worst.tolist(), best.tolist(), strict=True)
        ranges = {Key("ap", label): Range(low, high) for label, low, high in pairs if high > low}
        means = (weighted_mean(values)[0] or 0.0 for values in (worst, best))
        return {Key("map", ALL_LABELS): Range(*means), **ranges}

    def to_json(self) -> JsonObject:
        """Return the result as plain values under the keys of the terminal contract; undefined is None.

        Besides what all have: ``ap``, ``ties`` and ``thresholds``, each with ``per_class``, ``map``, ``mean_f1``,
        ``micro`` and ``ignored``. Undefined: precision without predictions, recall and AP without ground truth, all
        ratios of a class with neither.
        """
        ties = self.ties and self.ties.to_json()
        return self.plain_values(ap=self.matching.ap, ties=ties, thresholds=self.partial.to_json())

    def table(self) -> ResultTable:
        """Return the unweighted means, the pooled row and one row per label, for each threshold.

        Columns ``iou_threshold``, ``label``, those of `metrics.results.Metrics` and ``ap``; ``f1`` and ``ap`` of the
        row "Mean of labels" are the competition's mean F1 and mAP.
        """
        columns = ("iou_threshold", "label", *Metrics.__annotations__, "ap")
        return self.as_table(columns, self.partial.rows())


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(BoxPairs[Matching]):
    """The best ground truth of each prediction of one model: new options need no geometry."""

    derived = ("_best",)

    @property
    def best(self) -> IntArray:
        """Rows of their ground truth with the highest IoU, also ignored ones, int64, shape (P,); -1 for none."""
        return self._best[0]

    @property
    def best_iou(self) -> FloatArray:
        """Return that IoU, float64, shape (P,); 0 where there is none."""
        return self._best[1]

    @cached_property
    def _best(self) -> tuple[IntArray, FloatArray]:
        candidates, _ = candidate_pairs(self.dataset, self.model, iou_floor=self.iou_floor, polygons=self.polygons)
        best, best_iou = np.full(len(self.prediction), UNMATCHED, dtype=np.int64), np.zeros(len(self.prediction))
        if len(candidates.iou):
            # Candidates come by prediction, then by ground truth; a stable sort keeps the first of equals in front.
            order = order_by([candidates.prediction, -candidates.iou])
            first = order[np.flatnonzero(np.diff(candidates.prediction[order], prepend=UNMATCHED))]
            best[candidates.prediction[first]] = candidates.ground_truth[first]
            best_iou[candidates.prediction[first]] = candidates.iou[first]
        return best, best_iou

    def match(
        self,
        *,
        ap: AveragePrecision = "11-point",
        small_px: float = SMALL_PX,
        line_max_px: float = LINE_MAX_PX,
        min_score: float = 0.0,
        min_area: float = 0.0,
        labels: Sequence[str] | None = None,
        lenient: bool = False,
        small_duplicates: bool = False,
    ) -> Matching:
        """Return the ranking and which boxes are ignored; for the options see `evaluate`.

        ValueError for an unknown label or kind of average precision, a negative size, `min_area` without page sizes,
        and predictions without scores unless lenient.
        """
        _check_options(ap, small_px, line_max_px)
        dataset = self.dataset
        truth, prediction = dataset.ground_truth, self.prediction
        chosen = dataset.scored_labels(labels, unknown="labels that no file has")
        truth_counts, takes_part = self.of_labels(chosen)
        score = _scores(prediction, lenient=lenient)
        if lenient:
            takes_part &= np.isin(prediction.page, truth.entry_page)
        if min_score > 0.0:
            takes_part &= score >= min_score
        if min_area > 0.0:
            takes_part &= prediction.page_share >= min_area
        truth_size, prediction_size = _sizes(truth), _sizes(prediction)
        in_pixels = truth_size is not None and prediction_size is not None
        if not in_pixels:
            truth_size = prediction_size = None
        by_score = descending_order(score)
        return Matching(
            pairs=self,
            ap=ap,
            min_score=min_score,
            min_area=min_area,
            labels=chosen,
            small_px=small_px,
            line_max_px=line_max_px,
            in_pixels=in_pixels,
            lenient=lenient,
            small_duplicates=small_duplicates,
            truth_counts=truth_counts & ~_small(truth_size, len(truth), small_px, line_max_px),
            prediction_counts=takes_part,
            prediction_small=_small(prediction_size, len(prediction), small_px, line_max_px),
            score=score,
            order=by_score[takes_part[by_score]],
        )

    def score_curve(self, *, iou: float) -> ScoreCurve:
        """See `BoxPairs.score_curve`; all thresholds from one matching, because boxes match by falling score."""
        return curve_of_one_matching(self.match().at(iou))


def pair(dataset: Dataset, model: int = 0, *, iou_floor: float = IOU_FLOOR, polygons: bool = False) -> Pairs:
    """Return the ground truth with the highest IoU for every prediction, of its label and on its page.

    `iou_floor`: the lowest IoU threshold that will be asked for. `polygons`: see `evaluate`. ValueError for a floor
    outside (0, 1], or files with boxes in different units.

    Notes
    -----
    Pascal VOC development kit, ``VOCevaldet``: a prediction is compared with its best ground truth only, even when that
    one is taken and the next best is free; ties of IoU go to the first in file order. IoU is that of plain areas, as
    the POD page writes it; the VOC kit adds 1 to every width and height, which gives small boxes a higher IoU.
    """
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    if truth.source.unit != prediction.source.unit:
        raise ValueError(f"boxes must have one unit; found {truth.source.unit} and {prediction.source.unit}")
    check_iou_floor(iou_floor)
    return Pairs(dataset=dataset, model=model, iou_floor=iou_floor, polygons=polygons)


def evaluate(
    ground_truth: Annotations,
    prediction: Annotations,
    *,
    iou: Sequence[float] = IOU_THRESHOLDS,
    ap: AveragePrecision = "11-point",
    small_px: float = SMALL_PX,
    line_max_px: float = LINE_MAX_PX,
    min_score: float = 0.0,
    min_area: float = 0.0,
    labels: Sequence[str] | None = None,
    lenient: bool = False,
    small_duplicates: bool = False,
    polygons: bool = False,
) -> PodResult:
    """Return the result of one prediction file against one ground truth.

    Parameters
    ----------
    ground_truth, prediction : Annotations
        As read by `evaluator.formats.read`; `evaluator.project.evaluate` checks the rules on two files.
    iou : sequence of float
        Thresholds in (0, 1]; a pair matches at IoU > threshold.
    ap : "11-point" or "all-point"
        Mean of the interpolated precision at eleven recall levels, or area under the interpolated curve.
    small_px, line_max_px : float, >= 0
        Small: width and height <= small_px. Line: width or height <= line_max_px.
    min_score : float
        Predictions with a lower score are left out; the competition leaves out none.
    min_area : float
        Predictions that cover less than this share of the page are left out, equality stays.
    labels : sequence of str, optional
        Score these only.
    lenient : bool
        Leave out predictions on pages that the ground truth does not have, and take 1.0 for missing scores. Without it
        such a page counts as one without ground truth; ``check_pair`` reports it as an error.
    small_duplicates : bool
        Count a small prediction or a line whose best ground truth counts and is already taken as a false positive.
    polygons : bool
        Compare outlines instead of boxes, where a row has one; the competition compares boxes, and the score may move
        either way. Small objects and lines are those whose box is.

    Raises
    ------
    ValueError
        No threshold is given or an option makes no sense; see `pair` and `Pairs.match`.

    Notes
    -----
    ICDAR 2017 POD, "Evaluation" and "Evaluation Details". Per label the predictions of all pages are ranked by falling
    score, equal scores in file order; the first on a ground truth is a true positive, each further one a false
    positive. Precision, recall and F1 are over all predictions, without a cut of the score; mAP and mean F1 are
    unweighted means over the labels. Both agree with the published tables (F1 in 52 of 52 rows, the means in 16 of 16).
    Their AP must be the area under the curve: 12 of 52 rows are above what eleven points allow at their recall. The
    text says eleven points, which is the default here; the two differ by at most 1/11, in either direction.

    The text says neither how small objects and lines are "ignored" nor what a line is. Here ignored ground truth is
    what VOC calls difficult: it cannot be missed, and predictions whose best match it is count neither way. A
    prediction that is small or a line and is no true positive is left out, also when its best ground truth counts and
    is taken; VOC counts such a duplicate as a false positive, which lowers precision, F1 and AP (`small_duplicates`).
    Sizes need pixels; for files in shares of the page nothing is ignored. The signature states both.

    A label with predictions only has no recall and no AP and an F1 of 0: it is in the mean F1 and not in mAP; a label
    with neither is in no mean.
    """
    floor, dataset = lowest_threshold(iou), join_pair(ground_truth, prediction)
    matching = pair(dataset, iou_floor=floor, polygons=polygons).match(
        ap=ap,
        small_px=small_px,
        line_max_px=line_max_px,
        min_score=min_score,
        min_area=min_area,
        labels=labels,
        lenient=lenient,
        small_duplicates=small_duplicates,
    )
    return PodResult(matching, {float(threshold): matching.at(threshold) for threshold in iou})


def _smallest(codes: IntArray, most: int) -> AnyArray:
    """Return codes below a number in the smallest type for these: there is one for each prediction of a corpus."""
    return codes.astype(np.min_scalar_type(most))


def _check_options(ap: str, small_px: float, line_max_px: float) -> None:
    if ap not in AVERAGE_PRECISION:
        raise ValueError(f"ap must be one of {', '.join(AVERAGE_PRECISION)}; found {ap}")
    for name, value in (("small_px", small_px), ("line_max_px", line_max_px)):
        if not 0.0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number of at least 0; found {threshold_text(value)}")


def _scores(prediction: JoinedBoxes, *, lenient: bool) -> FloatArray:
    missing = np.isnan(prediction.score)
    if missing.any() and not lenient:
        raise ValueError(f"every prediction must have a score; {int(missing.sum()):,} have none")
    return np.where(missing, 1.0, prediction.score)


def _sizes(side: JoinedBoxes) -> FloatArray | None:
    size = side.xyxy[:, 2:] - side.xyxy[:, :2]
    if side.source.unit == "pixels":
        return size
    of_page = side.source.box_page_size
    return None if of_page is None else size * of_page


def _small(size: FloatArray | None, boxes: int, small_px: float, line_max_px: float) -> BoolArray:
    if size is None:
        return np.zeros(boxes, dtype=bool)
    return np.asarray((size <= small_px).all(axis=1) | (size <= line_max_px).any(axis=1))
