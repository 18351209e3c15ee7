"""Who matches whom under COCO: by falling score, at any IoU threshold, over all pages at once.

Areas are in square pixels. Predictions are kept in three orders. *File order*: the rows of the dataset. *Place*: by
(label, falling score, image id, file order), the order of the curves. *Queue*: by (page, label, place), the order of
the matching, where predictions that compete are together and the better one comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area, intersection, overlap
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes
from evaluator.data.issues import Issue, count_of
from evaluator.data.order import begins, distinct, order_by
from evaluator.data.polygons import outline_bounds, polygon_overlap
from evaluator.formats.coco.ids import by_number
from evaluator.matching.box_results import UNMATCHED, BoxMatching, BoxPairs, BoxResult, curve_of_one_matching
from evaluator.matching.pairs import Candidates, Matches, check_iou_floor, overlapping_pairs
from evaluator.metrics.average_precision import Curve, curve, descending_order
from evaluator.metrics.results import ScoreCurve, Signature
from evaluator.system.engine import Shard, plan
from evaluator.system.threads import in_threads

NAME: Final = "coco"
VERSION: Final = "2.0"
# The lowest threshold of COCO; a slider may go down to here without new pairs.
IOU_FLOOR: Final = 0.5
# Detections of one page and label, best first.
MOST_DETECTIONS: Final = 100
# Square pixels, both ends inclusive.
AREA_RANGES: Final = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
# pycocotools never asks for more, so that equal boxes match at a threshold of 1.
HIGHEST_IOU: Final = 1.0 - 1e-10

_NOBODY: Final = np.iinfo(np.int64).max
# Predictions whose candidates are searched, and pairs that are settled, at a time: they stay in the cache.
_QUEUED_AT_A_TIME: Final = 1 << 15
_SETTLED_AT_A_TIME: Final = 1 << 13

T = TypeVar("T")
R = TypeVar("R")


class Queue(NamedTuple):
    """Predictions that may match, int64, by (page, label, place); `group` is (page, label) as one integer.

    `row` is in file order, `place` the row in `Pairs.order`.
    """

    row: IntArray
    place: IntArray
    group: IntArray


class BeyondLimit(NamedTuple):
    """Predictions that do not count because a page has `limit` better ones of their label."""

    limit: int
    predictions: int
    pages: int

    @property
    def words(self) -> str:
        """Return what is left out, for a sentence."""
        return f"{count_of(self.predictions, 'prediction')} left out on {count_of(self.pages, 'page')}"

    def issue(self, file: str) -> Issue:
        """Return a warning about a file of predictions."""
        rule = f"the best {self.limit:,} predictions of a page and label count (COCO)"
        fix = "Give a larger --max-detections to count them."
        return Issue(severity="warning", file=file, place="", rule=rule, found=self.words, fix=fix)


class Accepted(NamedTuple):
    """What matched among contested candidates: rows of the candidates, and the index of the threshold of each."""

    pair: IntArray
    threshold: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(BoxPairs["Matching"]):
    """Every pair of one model that could match: a new score or IoU threshold needs no geometry.

    `min_area` is applied first. `order`, shape (Q,): rows of predictions within the limit of `max_detections` per page
    and label, by place; `beyond`: rows of the others; `before`: how many of the same group are better; `queue`: the
    same in matching order. `truth_row`, shape (G,): by (page, label, file order). `candidates` index `queue` and
    `truth_row` and are sorted by both; with a crowd, IoU is the share of the prediction in it.
    """

    min_area: float
    max_detections: int
    order: IntArray
    beyond: IntArray
    before: IntArray
    queue: Queue
    truth_row: IntArray
    candidates: Candidates
    derived = "rows", "fit", "contested", "preference"

    def on(self, dataset: Dataset) -> Pairs:
        """Return the pairs of the same model of another dataset, from the same floor on."""
        return self._paired(dataset, self.min_area)

    def _paired(self, dataset: Dataset, min_area: float) -> Pairs:
        return pair(
            dataset,
            self.model,
            iou_floor=self.iou_floor,
            min_area=min_area,
            polygons=self.polygons,
            max_detections=self.max_detections,
        )

    @cached_property
    def rows(self) -> tuple[IntArray, IntArray]:
        """Return the rows of the candidates in file order, int64: of the predictions and of the ground truth."""
        return self.queue.row[self.candidates.prediction], self.truth_row[self.candidates.ground_truth]

    @cached_property
    def fit(self) -> Matches:
        """Return the candidates with rows in file order, and with coverage and purity."""
        truth, prediction = self.dataset.ground_truth, self.prediction
        row, truth_row = self.rows
        if self.polygons:
            fit = polygon_overlap(truth.source.boxes, prediction.source.boxes, truth_row, row)
        else:
            fit = overlap(truth.xyxy.take(truth_row, axis=0), prediction.xyxy.take(row, axis=0))
        return Matches(row, truth_row, self.candidates.iou, fit.coverage, fit.purity)

    @cached_property
    def crowd(self) -> BoolArray:
        """Return which rows of `truth_row` are crowds, bool, shape (G,)."""
        crowd = self.dataset.ground_truth.source.boxes.crowd
        return np.zeros(len(self.truth_row), dtype=bool) if crowd is None else crowd[self.truth_row]

    @cached_property
    def contested(self) -> BoolArray:
        """Return which candidates share a prediction, or a ground truth that is no crowd; bool, shape (K,)."""
        pairs = self.candidates
        of_prediction = np.bincount(pairs.prediction, minlength=len(self.queue.row))[pairs.prediction]
        of_truth = np.bincount(pairs.ground_truth, minlength=len(self.truth_row))[pairs.ground_truth]
        return np.asarray((of_prediction > 1) | ((of_truth > 1) & ~self.crowd[pairs.ground_truth]))

    @cached_property
    def truth_area(self) -> FloatArray | None:
        """Areas of `truth_row` in square pixels, shape (G,); None when the page sizes are not known."""
        pixels = _pixel_area(self.dataset.ground_truth.source)
        return None if pixels is None else pixels[self.truth_row]

    @cached_property
    def prediction_area(self) -> FloatArray | None:
        """Areas of `order` in square pixels, shape (Q,); None when the page sizes are not known."""
        pixels = _pixel_area(self.prediction.source)
        return None if pixels is None else pixels[self.order]

    @cached_property
    def outsized(self) -> IntArray:
        """Rows of the predictions in no area range, which count where they match alone, int64, rising."""
        if self.prediction_area is None:
            return np.empty(0, dtype=np.int64)
        return np.sort(self.order[~within(self.prediction_area, "all")])

    @property
    def sizes(self) -> tuple[str, ...]:
        """Return the area ranges that can be evaluated: without areas in pixels only ``all``."""
        known = self.truth_area is not None and self.prediction_area is not None
        return tuple(AREA_RANGES) if known else ("all",)

    def ignored(self, size: str) -> BoolArray:
        """Return which rows of `truth_row` do not count in an area range, bool: crowds and other sizes."""
        if self.truth_area is None:
            return self.crowd
        return self.crowd | ~within(self.truth_area, size)

    @cached_property
    def label_bounds(self) -> IntArray:
        """Return where each label begins in `order`, and where the last one ends, int64, shape (L + 1,)."""
        return np.searchsorted(self.prediction.label[self.order], np.arange(len(self.dataset.labels) + 1))

    @cached_property
    def ordered_score(self) -> FloatArray:
        """Scores of `order`, float64, shape (Q,): falling within each label."""
        return self.prediction.score[self.order]

    @cached_property
    def kept(self) -> dict[tuple[float, ...], Any]:
        """Return what was made of the pairs for some IoU thresholds, whatever the score; see `curves.average`."""
        return {}

    @cached_property
    def preference(self) -> IntArray:
        """Contested candidates in the order in which predictions prefer under the range of all sizes, int64."""
        return self.preferred(np.flatnonzero(self.contested), self.ignored("all"))

    def preferred(self, rows: IntArray, ignored: BoolArray) -> IntArray:
        """Return candidates by (prediction, ignored last, falling IoU, last ground truth first), int64."""
        pairs = self.candidates
        truth = pairs.ground_truth[rows]
        return rows[order_by([pairs.prediction[rows], ignored[truth], -pairs.iou[rows], -truth])]

    def accept(self, rows: IntArray, iou: Sequence[float]) -> Accepted:
        """Return what matches among candidates, at each of several rising IoU thresholds.

        `rows` are candidates in the order of `preferred`: of a page and label all contested ones, or none; so the
        answer does not depend on where they are cut.
        """
        thresholds = np.minimum(np.asarray(iou, dtype=np.float64), HIGHEST_IOU)
        cuts = plan(self.queue.group[self.candidates.prediction[rows]], _SETTLED_AT_A_TIME)
        parts = list(in_threads(lambda cut: self._settle(rows[cut.start : cut.stop], thresholds), cuts))
        nothing = np.empty(0, dtype=np.int64)
        return Accepted(
            np.concatenate([nothing, *(part.pair for part in parts)]),
            np.concatenate([nothing, *(part.threshold for part in parts)]),
        )

    def _settle(self, rows: IntArray, thresholds: FloatArray) -> Accepted:
        """Deferred acceptance: everybody bids for the best that is left, and the better score is accepted.

        Equal to COCO's loop over falling scores: with one order of merit for all, what a bidder ends up with is the
        best that no better bidder takes. All thresholds run at once, on copies of bidders and ground truth.
        """
        truths, truth = distinct(self.candidates.ground_truth[rows])
        prediction = self.candidates.prediction[rows]
        endless = self.crowd[truths][truth]
        level = np.searchsorted(thresholds, self.candidates.iou[rows], side="right")
        entries = [np.flatnonzero(level > step) for step in range(len(thresholds))]
        entry = np.concatenate(entries)
        threshold = np.repeat(np.arange(len(thresholds)), [len(some) for some in entries])
        wanted = truth[entry] + threshold * len(truths)
        endless = endless[entry]
        # A bidder is a run of entries; the better one has the lower number.
        bid = np.flatnonzero(begins(prediction[entry]) | begins(threshold))
        last = np.append(bid[1:], len(entry))
        holder = np.full(len(truths) * len(thresholds), _NOBODY)
        best = np.empty_like(holder)
        open_bidders = np.arange(len(bid))
        while len(open_bidders):
            target = wanted[bid[open_bidders]]
            # Written backwards, so that the best bidder for each is what remains.
            best[target[::-1]] = open_bidders[::-1]
            free = endless[bid[open_bidders]]
            taken = ~free & (best[target] == open_bidders) & (open_bidders < holder[target])
            ousted = holder[target[taken]]
            holder[target[taken]] = open_bidders[taken]
            open_bidders = np.concatenate([open_bidders[~(taken | free)], ousted[ousted != _NOBODY]])
            bid[open_bidders] += 1
            open_bidders = np.sort(open_bidders[bid[open_bidders] < last[open_bidders]])
        accepted = bid[bid < last]
        return Accepted(rows[entry[accepted]], threshold[accepted])

    def match(
        self, *, min_score: float = 0.0, min_area: float | None = None, labels: Sequence[str] | None = None
    ) -> Matching:
        """Return the boxes that take part, ready to be matched at any IoU threshold; see `evaluate`.

        `min_area` is that of the pairs when absent. ValueError for an unknown label, or for `min_area` without page
        sizes. Who matches does not depend on predictions with a lower score: a score threshold needs no new matching.
        """
        if min_area is not None and min_area != self.min_area:
            again = self._paired(self.dataset, min_area)
            return again.match(min_score=min_score, min_area=min_area, labels=labels)
        chosen = self.dataset.scored_labels(labels)
        truth_counts, counts = self.of_labels(chosen)
        within_limit = np.zeros(len(counts), dtype=bool)
        within_limit[self.order] = True
        counts &= within_limit
        if min_score > 0.0:
            counts &= self.prediction.score >= min_score
        # Crowds count in no size.
        truth_counts[self.truth_row[self.ignored("all")]] = False
        return Matching(
            pairs=self,
            min_score=min_score,
            min_area=self.min_area,
            labels=chosen,
            truth_counts=truth_counts,
            prediction_counts=counts,
        )

    def beyond_limit(self, rows: IntArray) -> BeyondLimit:
        """Return how many predictions some of `beyond` are, on how many pages."""
        return BeyondLimit(self.max_detections, len(rows), len(distinct(self.prediction.page[rows])[0]))

    def score_curve(self, *, iou: float) -> ScoreCurve:
        """See `BoxPairs.score_curve`; all thresholds from one matching, because boxes match by falling score."""
        return self.match().at(iou).score_curve()


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching(BoxMatching):
    """The boxes of one model that take part: no crowds, a limited number of predictions per page and label."""

    pairs: Pairs

    @cached_property
    def beyond_limit(self) -> BeyondLimit:
        """Return how many predictions of the scored labels and scores are beyond the limit, on how many pages."""
        rows, prediction = self.pairs.beyond, self.pairs.prediction
        chosen = np.isin(prediction.label[rows], self.label_codes)
        if self.min_score > 0.0:
            chosen &= prediction.score[rows] >= self.min_score
        return self.pairs.beyond_limit(rows[chosen])

    @cached_property
    def _taking_part(self) -> BoolArray:
        return self.prediction_counts[self.pairs.rows[0]]

    def matched(self, iou: float) -> BoolArray:
        """Return which candidates match at an IoU threshold, crowds among them, bool, shape (K,)."""
        pairs, least = self.pairs, min(iou, HIGHEST_IOU)
        matched = self._taking_part & ~pairs.contested & (pairs.candidates.iou >= least)
        preference = pairs.preference
        matched[pairs.accept(preference[self._taking_part[preference]], [iou]).pair] = True
        return matched

    @cached_property
    def scored(self) -> BoolArray | None:
        """Return which candidates have ground truth that counts, bool, shape (K,); None for all."""
        scored = self.truth_counts[self.pairs.rows[1]]
        return None if scored.all() else scored

    def at(self, iou: float) -> ThresholdResult:
        """Return the result at one IoU threshold, which a pair has to reach."""
        return ThresholdResult(self, iou)

    def signature(self, *iou: float) -> Signature:
        """Return what made the numbers of this matching at the given thresholds."""
        options = ["sizes in pixels not known"] if len(self.pairs.sizes) == 1 else []
        return self.signed(**own_signature(iou, *options, max_detections=self.pairs.max_detections))


def own_signature(iou: Iterable[float], *options: str, max_detections: int = MOST_DETECTIONS) -> dict[str, Any]:
    """Return what every signature of the protocol states: fields of `Signature` by name."""
    return {
        "protocol": NAME,
        "version": VERSION,
        # A tenth of nine tenths is not a number that anybody chose.
        "iou": tuple(round(threshold, 10) for threshold in iou),
        "options": (f"at most {max_detections} predictions per page and label", *options),
    }


@dataclass(frozen=True, eq=False)
class ThresholdResult(BoxResult[Matching]):
    """Everything that follows from a matching at one IoU threshold; computed when asked for.

    A prediction that matched a crowd is neither a true nor a false positive, nor is one in no area range without match.
    """

    @cached_property
    def _matched(self) -> BoolArray:
        return self.matching.matched(self.iou)

    @cached_property
    def _taken(self) -> IntArray:
        """Return which candidates are true positives, int64, rising; they are by (page, label, falling score)."""
        scored = self.matching.scored
        return np.flatnonzero(self._matched if scored is None else self._matched & scored)

    @cached_property
    def matches(self) -> Matches:
        """Return the true positives, by (page, label, falling score)."""
        return self.matching.pairs.fit.take(self._taken)

    @property
    def matched_rows(self) -> tuple[IntArray, IntArray]:
        """Rows of the true positives, without how they fit."""
        predictions, truths = self.matching.pairs.rows
        return predictions[self._taken], truths[self._taken]

    @cached_property
    def ignored(self) -> IntArray:
        """Rows of the predictions that matched what does not count, or are too large to count unmatched; rising."""
        scored, outsized = self.matching.scored, self.matching.pairs.outsized
        if scored is None and not len(outsized):
            return outsized
        prediction = self.matching.pairs.rows[0]
        unmatched = outsized[~np.isin(outsized, prediction[self._matched])]
        elsewhere = unmatched[:0] if scored is None else prediction[self._matched & ~scored]
        return np.sort(np.concatenate([unmatched, elsewhere]))

    @cached_property
    def counting_predictions(self) -> BoolArray:
        """Predictions that are true or false positives, bool, shape (P,): all that take part but the ignored ones."""
        if not len(self.ignored):
            return self.matching.prediction_counts
        counts = self.matching.prediction_counts.copy()
        counts[self.ignored] = False
        return counts

    @cached_property
    def false_positives(self) -> IntArray:
        """Rows of the scored predictions that matched nothing, int64, in file order."""
        free = self.counting_predictions.copy()
        free[self.matched_rows[0]] = False
        return np.flatnonzero(free)

    def score_curve(self) -> ScoreCurve:
        """See `BoxPairs.score_curve`; from the matches of this result where nothing is left out of it."""
        matching = self.matching
        whole = matching.min_score <= 0.0 and matching.asked_labels is None
        return curve_of_one_matching(self) if whole else super().score_curve()

    def curve(self, label: str | None = None) -> Curve:
        """Return precision, recall and F1 against the score threshold, for one label or all labels pooled.

        ValueError when the label is not scored.
        """
        matching = self.matching
        if label is not None and label not in matching.labels:
            raise ValueError(f"label must be one of {', '.join(matching.labels)}; found {label}")
        pairs, truth = matching.pairs, matching.dataset.ground_truth
        positives = np.bincount(truth.label[matching.truth_counts], minlength=len(matching.dataset.labels))
        rows, score = pairs.order, pairs.ordered_score
        if label is None:
            order = descending_order(score)
            rows, score = rows[order], score[order]
        else:
            code = matching.dataset.labels.index(label)
            positives = positives[code]
            of_label = slice(*pairs.label_bounds[code : code + 2].tolist())
            rows, score = rows[of_label], score[of_label]
        # A curve has one point for all predictions of a score, so their order among themselves does not matter.
        counting = self.counting_predictions[rows]
        rows, score = rows[counting], score[counting]
        matched = self.prediction_partner[rows] != UNMATCHED
        return curve(score, matched, np.ones(len(rows), dtype=bool), int(positives.sum()))


def pair(
    dataset: Dataset,
    model: int = 0,
    *,
    iou_floor: float = IOU_FLOOR,
    min_area: float = 0.0,
    polygons: bool = False,
    max_detections: int = MOST_DETECTIONS,
) -> Pairs:
    """Return every pair of a prediction and a ground truth that could match; every prediction has a score.

    `iou_floor` is the lowest IoU threshold that will be asked for. ValueError for one outside (0, 1], or for `min_area`
    without page sizes.

    Differences from pycocotools: an annotation whose id is 0 can match (it never does there), which raises the score;
    predictions on images that the ground truth does not have are false positives (there: dropped), which lowers it. For
    outlines pycocotools compares masks (``iouType="segm"``), whose IoU differs by about the pixels on the outline, in
    either direction; sizes stay those of the boxes here.
    """
    check_iou_floor(iou_floor)
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    large_enough = None if min_area <= 0.0 else np.asarray(prediction.page_share >= min_area)
    order = _by_label_and_score(dataset, model, large_enough)
    labels = max(len(dataset.labels), 1)
    queue, before = _queue(prediction, order, labels)
    beyond = queue.row[before >= max_detections]
    if len(beyond):
        order, queue, before = _limited(order, queue, before, max_detections)
    truth_group, truth_row = _sorted_groups(truth.page * labels + truth.label)
    by_place = np.empty_like(before)
    by_place[queue.place] = before
    search = _outlined_candidates if polygons else _candidates
    return Pairs(
        dataset=dataset,
        model=model,
        iou_floor=iou_floor,
        min_area=min_area,
        max_detections=max_detections,
        order=order,
        beyond=beyond,
        before=by_place,
        queue=queue,
        truth_row=truth_row,
        candidates=search(truth, truth_row, truth_group, prediction, queue, iou=iou_floor),
        polygons=polygons,
    )


def within(pixels: FloatArray, size: str) -> BoolArray:
    """Return which areas are in a range of `AREA_RANGES`, bool, shape (N,)."""
    low, high = AREA_RANGES[size]
    return np.asarray((pixels >= low) & (pixels <= high))


def _by_label_and_score(dataset: Dataset, model: int, keep: BoolArray | None) -> IntArray:
    """Return rows of the predictions by (label, falling score, image id, file order), int64."""
    prediction = dataset.predictions[model]
    image = image_rank(dataset)[prediction.page]
    in_turn = bool((image[1:] >= image[:-1]).all())
    rows = np.arange(len(image)) if in_turn else np.argsort(image, kind="stable")
    if keep is not None:
        rows = rows[keep[rows]]
    label = prediction.label[rows]
    # 16 bits are sorted by counting.
    narrow = label.astype(np.int16) if len(dataset.labels) <= np.iinfo(np.int16).max else label
    rows = rows[np.argsort(narrow, kind="stable")]
    bounds = np.searchsorted(prediction.label[rows], np.arange(len(dataset.labels) + 1)).tolist()
    parts = [rows[start:stop] for start, stop in pairwise(bounds) if stop > start]
    ordered = in_threads(lambda part: part[descending_order(prediction.score[part])], parts, rows=len(rows))
    return np.concatenate([np.empty(0, dtype=np.int64), *ordered])


def image_rank(dataset: Dataset) -> IntArray:
    """Return the rank of each page by its image id, which decides between equal scores as in pycocotools.

    Without ids by (document, page); pages that the ground truth does not have go last.
    """
    source = dataset.ground_truth.source
    rank = np.arange(dataset.pages)
    if source.format != NAME or not len(source.page_ids):
        return rank
    page = dataset.ground_truth.entry_page
    rank += dataset.pages
    rank[page[np.argsort(np.array(by_number(source.page_ids)), kind="stable")]] = np.arange(len(page))
    return rank


def _queue(prediction: JoinedBoxes, order: IntArray, labels: int) -> tuple[Queue, IntArray]:
    group = (prediction.page * labels + prediction.label)[order]
    group, place = _sorted_groups(group)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(np.append(starts, len(group)))
    before = np.arange(len(group)) - np.repeat(starts, sizes)
    return Queue(order[place], place, group), before


def _limited(order: IntArray, queue: Queue, before: IntArray, limit: int) -> tuple[IntArray, Queue, IntArray]:
    keep = before < limit
    kept_place = np.zeros(len(order), dtype=bool)
    kept_place[queue.place[keep]] = True
    place = (np.cumsum(kept_place) - 1)[queue.place[keep]]
    return order[kept_place], Queue(queue.row[keep], place, queue.group[keep]), before[keep]


def _sorted_groups(group: IntArray) -> tuple[IntArray, IntArray]:
    """Return groups in rising order and the rows they come from; rows of one group keep their order."""
    if len(group) and int(group.max()) >= 1 << 31:
        rows = np.argsort(group, kind="stable")
        return group[rows], rows
    # One number for both sorts faster than a stable sort by one of them.
    key = (group.astype(np.int64) << 32) | np.arange(len(group))
    key.sort()
    return key >> 32, key & 0xFFFFFFFF


def _candidates(
    truth: JoinedBoxes, truth_row: IntArray, truth_group: IntArray, prediction: JoinedBoxes, queue: Queue, *, iou: float
) -> Candidates:
    """Return pairs of the queue and the sorted ground truth with enough IoU, searched part by part."""
    truth_area, predicted_area = _box_area(truth.source), _box_area(prediction.source)
    crowd = truth.source.boxes.crowd

    def search(part: Shard) -> Candidates:
        cut = slice(*part)
        first = int(queue.group[cut.start])
        near = slice(*np.searchsorted(truth_group, [first, int(queue.group[cut.stop - 1]) + 1]).tolist())
        truth_rows, rows = truth_row[near], queue.row[cut]
        corners, predicted_corners = truth.xyxy.take(truth_rows, axis=0), prediction.xyxy.take(rows, axis=0)
        whole, predicted_whole = truth_area[truth_rows], predicted_area[rows]
        crowded = None if crowd is None else crowd[truth_rows]

        def measure(one: IntArray, other: IntArray) -> FloatArray:
            shared = intersection(corners.take(one, axis=0), predicted_corners.take(other, axis=0))
            union = predicted_whole[other] + whole[one] - shared
            if crowded is not None:
                union = np.where(crowded[one], predicted_whole[other], union)
            return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0.0)

        pairs = overlapping_pairs(
            corners,
            truth_group[near] - first,
            predicted_corners,
            queue.group[cut] - first,
            iou_floor=min(iou, HIGHEST_IOU),
            measure=measure,
        )
        return Candidates(pairs.prediction + cut.start, pairs.ground_truth + near.start, pairs.iou)

    parts = list(in_threads(search, plan(queue.group, _QUEUED_AT_A_TIME)))
    nothing = np.empty(0, dtype=np.int64)
    return Candidates(
        np.concatenate([nothing, *(part.prediction for part in parts)]),
        np.concatenate([nothing, *(part.ground_truth for part in parts)]),
        np.concatenate([np.empty(0), *(part.iou for part in parts)]),
    )


def _outlined_candidates(
    truth: JoinedBoxes, truth_row: IntArray, truth_group: IntArray, prediction: JoinedBoxes, queue: Queue, *, iou: float
) -> Candidates:
    """Return the candidates by their outlines; see `_candidates`."""
    regions = truth.source.boxes, prediction.source.boxes
    bounds, predicted_bounds = outline_bounds(regions[0])[truth_row], outline_bounds(regions[1])[queue.row]
    crowd = truth.source.boxes.crowd
    crowded = np.zeros(len(truth_row), dtype=bool) if crowd is None else crowd[truth_row]

    def measure(one: IntArray, other: IntArray) -> FloatArray:
        shares = np.zeros(len(one))
        rows = np.flatnonzero(intersection(bounds[one], predicted_bounds[other]) > 0.0)
        fit = polygon_overlap(*regions, truth_row[one[rows]], queue.row[other[rows]])
        shares[rows] = np.where(crowded[one[rows]], fit.purity, fit.iou)
        return shares

    return overlapping_pairs(
        bounds, truth_group, predicted_bounds, queue.group, iou_floor=min(iou, HIGHEST_IOU), measure=measure
    )


def _box_area(source: Annotations) -> FloatArray:
    return area(source.boxes.xyxy) if source.boxes.box_area is None else source.boxes.box_area


def _pixel_area(source: Annotations) -> FloatArray | None:
    """Return areas in square pixels, as stated where they are; None when page sizes are not known."""
    areas = _box_area(source) if source.boxes.area is None else source.boxes.area
    if source.unit == "pixels":
        return areas
    size = source.box_page_size
    return None if size is None else areas * size.prod(axis=1)
