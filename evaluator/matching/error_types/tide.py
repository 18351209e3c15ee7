"""TIDE: the type of each mistake, whatever the score threshold, and what each type costs in AP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area, intersection, iou_of_stated
from evaluator.data.dataset import CodeArray
from evaluator.data.polygons import polygon_overlap
from evaluator.matching.error_types.names import NONE, TIDE, BoxColumns, KindArray
from evaluator.matching.pairs import Candidates, best_per_prediction, greedy_rows, overlapping_pairs
from evaluator.metrics.average_precision import average_precision, descending_order
from evaluator.metrics.results import JsonObject, defined

_CLASSIFICATION, _LOCALISATION, _BOTH_WRONG, _TIDE_DUPLICATE, _BACKGROUND, _TIDE_MISSED = range(len(TIDE))


class TideOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of TIDE; the defaults are those of ``tidecv``.

    `iou`: foreground threshold, in (0, 1]. `background_iou`: in (0, iou]. `max_detections`: predictions of a page
    beyond this, by falling score and whatever their labels, are left out.
    """

    iou: float = 0.5
    background_iou: float = 0.1
    max_detections: int = 100


class TideCosts(NamedTuple):
    """What errors cost in AP at ``options.iou``, 101 points, mean over labels; NaN without any box.

    `ap`: AP itself, in [0, 1]. `delta_ap`: float64, shape (6,), >= 0, what AP would gain if all errors of the type were
    mended; 0 when it would lose by the grid, NaN where mending leaves no box at all. `false_positive_ap`,
    `false_negative_ap`: what it would gain with every false positive at the end of the ranking, and without any false
    negative.
    """

    ap: float
    delta_ap: FloatArray
    false_positive_ap: float
    false_negative_ap: float


@dataclass(frozen=True, eq=False)
class TidePartial:
    """What counts and costs follow from: arrays that add up over pages.

    Columns, shape (N,), are of the predictions that count, by falling score, then page and row: `score`, `label`,
    `kind` (code into `TIDE`, -1 for a match), `ignored`, and `mended`, the label of the match that a mended error
    becomes, -1 where it becomes none. Counts of ground truth by label, int64, shape (L,): `positives` is all,
    `matched` and `missed` some of it.
    """

    score: FloatArray
    label: CodeArray
    kind: KindArray
    ignored: BoolArray
    mended: CodeArray
    positives: IntArray
    matched: IntArray
    missed: IntArray

    @classmethod
    def merged(cls, parts: Sequence[TidePartial]) -> TidePartial:
        """Return that of all parts, at least one, which follow each other by page under the same labels."""
        every = zip(*(part._columns for part in parts), strict=True)
        columns = [np.concatenate(column) for column in every]
        # Equal scores keep the order of the parts.
        order = descending_order(columns[0])
        labels = max(len(part.positives) for part in parts)
        counts = [
            np.sum([np.pad(own, (0, labels - len(own))) for own in of_parts], axis=0)
            for of_parts in zip(*(part._counts for part in parts), strict=True)
        ]
        return cls(*(column[order] for column in columns), *counts)

    @property
    def _columns(self) -> tuple[FloatArray, CodeArray, KindArray, BoolArray, CodeArray]:
        return self.score, self.label, self.kind, self.ignored, self.mended

    @property
    def _counts(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.positives, self.matched, self.missed

    @property
    def counts(self) -> IntArray:
        """Return errors by code, int64, shape (6,)."""
        counts = np.bincount(self.kind[self.kind != NONE], minlength=len(TIDE))
        counts[_TIDE_MISSED] = self.missed.sum()
        return counts

    @cached_property
    def costs(self) -> TideCosts:
        """Return what the errors cost."""
        return _costs(self)

    def to_json(self) -> JsonObject:
        """Return for each type by name ``{"count", "delta_ap"}`` as plain values; undefined is None."""
        pairs = zip(self.counts.tolist(), self.costs.delta_ap.tolist(), strict=True)
        return {
            name: {"count": count, "delta_ap": defined(gain)} for name, (count, gain) in zip(TIDE, pairs, strict=True)
        }


@dataclass(frozen=True, eq=False)
class TideErrors:
    """The result of TIDE for one model, per box; counts and costs are those of `partial`.

    Attributes
    ----------
    kind : int8, shape (P,)
        Code of each prediction into `TIDE`; -1 for a match and for what `TideOptions.max_detections` left out.
    ignored : bool, shape (P,)
        Predictions without a match that lie in a region of `tide`'s `ignore`: they have a type and do not count in AP.
    target : int64, shape (P,)
        Row of the ground truth that a classification or localisation error would have matched, and of the match of a
        prediction without error; -1 for none.
    missed : bool, shape (G,)
        The ground truth that is missed. Others are unmatched too, but an error of a prediction explains them.
    partial : TidePartial
    """

    options: TideOptions
    kind: KindArray
    ignored: BoolArray
    target: IntArray
    missed: BoolArray
    partial: TidePartial

    @property
    def counts(self) -> IntArray:
        """Return errors by code, int64, shape (6,)."""
        return self.partial.counts

    @property
    def costs(self) -> TideCosts:
        """Return what the errors cost."""
        return self.partial.costs


def tide(
    ground_truth: BoxColumns,
    prediction: BoxColumns,
    *,
    ignore: BoxColumns | None = None,
    options: TideOptions | None = None,
) -> TideErrors:
    """Return the TIDE errors of a model: type of each box, counts, and what each type costs in AP.

    Without any box, no errors and NaN for every AP. ValueError when a prediction has no score or a threshold is out of
    range.

    Parameters
    ----------
    ground_truth, prediction : BoxColumns
        The boxes that take part; predictions with scores. With ``area`` on both sides the IoU is that of pycocotools to
        the last bit; with ``regions`` on both it is that of the outlines, as ``tidecv`` compares masks.
    ignore : BoxColumns, optional
        Regions that stand for many objects of a label (COCO crowds), which nothing matches and nobody misses.

    Notes
    -----
    Bolya et al., "TIDE: A General Toolbox for Identifying Object Detection Errors" (2020), as ``tidecv`` 1.0.1 computes
    it, ties included: predictions of a page match by falling score, ties in file order, the free ground truth of their
    label with the highest IoU, ties in file order, at IoU >= threshold. Of the rest, in this order and with "best" over
    matched ground truth too: localisation (best IoU with its label in [background, threshold]), classification (best
    IoU with another label >= threshold), duplicate (IoU with matched ground truth of its label >= threshold),
    background (best IoU <= background), both. A ground truth is missed when it is neither matched nor the best of a
    localisation or classification error. Mending turns the best-scored of the errors that want one free ground truth
    into a match and removes the others; a missed one leaves the ground truth. Mended and false predictions come before
    true ones of the same score, which is how ``tidecv`` sorts them; labels without boxes after the mending leave the
    mean.

    A prediction without a match of which more than the threshold lies in one region to ignore of its label leaves the
    ranking. It keeps its type and is counted, and when the mending of its type makes a match of it, it comes back.

    Two differences: AP is in [0, 1], not in percent; and predictions on pages that the ground truth does not list count
    here as on an empty page, where ``tidecv`` leaves them out, which can only lower AP. ``tidecv`` computes IoU from
    width and height: give areas for the same last digit.

    Examples
    --------
    >>> one = BoxColumns(np.array([[0.0, 0.0, 1.0, 1.0]]), np.zeros(1, np.int32), np.zeros(1, np.int64), np.ones(1))
    >>> round(tide(one, one).costs.ap, 12)
    1.0
    """
    chosen = TideOptions() if options is None else options
    _check_tide(prediction, chosen)
    order = _ranking(prediction, chosen.max_detections)
    pairs = _ranked_pairs(ground_truth, prediction, order, chosen)
    same = ground_truth.label[pairs.ground_truth] == prediction.label[pairs.prediction]
    alike = pairs.take(np.flatnonzero(same & (pairs.iou >= chosen.iou)))
    target = _match_by_score(alike, order, truths=len(ground_truth), predictions=len(prediction))
    matched = target != NONE
    matched_truth = np.zeros(len(ground_truth), dtype=bool)
    matched_truth[target[matched]] = True
    kind = np.full(len(prediction), NONE, dtype=np.int8)
    kind[order] = _BACKGROUND
    kind[matched] = NONE
    unmatched = np.flatnonzero(kind[pairs.prediction] == _BACKGROUND)
    _classify(kind, target, pairs.take(unmatched), same[unmatched], matched=matched_truth, options=chosen)
    wanted = np.zeros(len(ground_truth), dtype=bool)
    wanted[target[(kind == _CLASSIFICATION) | (kind == _LOCALISATION)]] = True
    missed = ~matched_truth & ~wanted
    ignored = (kind != NONE) & _in_regions(ignore, prediction, chosen.iou)
    labels = int(max(ground_truth.label.max(initial=-1), prediction.label.max(initial=-1))) + 1
    partial = TidePartial(
        score=np.empty(0) if prediction.score is None else prediction.score[order],
        label=prediction.label[order],
        kind=kind[order],
        ignored=ignored[order],
        mended=_mended(kind[order], target[order], ground_truth.label, matched_truth),
        positives=np.bincount(ground_truth.label, minlength=labels),
        matched=np.bincount(ground_truth.label[matched_truth], minlength=labels),
        missed=np.bincount(ground_truth.label[missed], minlength=labels),
    )
    return TideErrors(chosen, kind, ignored, target, missed, partial)


def _check_tide(prediction: BoxColumns, options: TideOptions) -> None:
    if not 0.0 < options.background_iou <= options.iou <= 1.0:
        raise ValueError(
            "TIDE needs 0 < background_iou <= iou <= 1; "
            f"found background_iou {options.background_iou}, iou {options.iou}"
        )
    if options.max_detections < 1:
        raise ValueError(f"max_detections must be at least 1; found {options.max_detections}")
    if len(prediction) and (prediction.score is None or np.isnan(prediction.score).any()):
        raise ValueError("TIDE ranks predictions by score, and some have none")


def _ranking(prediction: BoxColumns, max_detections: int) -> IntArray:
    """Return rows of the predictions that count, by falling score, then page, then row; int64."""
    score = np.empty(0) if prediction.score is None else prediction.score
    if (prediction.page[1:] >= prediction.page[:-1]).all():
        order = descending_order(score)
    else:
        by_page = np.argsort(prediction.page, kind="stable")
        order = by_page[descending_order(score[by_page])]
    if len(order) <= max_detections or np.bincount(prediction.page).max() <= max_detections:
        return order
    page = prediction.page[order]
    grouped = np.argsort(page, kind="stable")
    place = np.arange(len(page)) - np.searchsorted(page[grouped], page[grouped], side="left")
    kept = np.empty(len(page), dtype=bool)
    kept[grouped] = place < max_detections
    return order[kept]


def _ranked_pairs(
    ground_truth: BoxColumns, prediction: BoxColumns, order: IntArray, options: TideOptions
) -> Candidates:
    """Return pairs of a page at or above the background threshold, of any labels, that count."""
    pairs = overlapping_pairs(
        ground_truth.xyxy,
        ground_truth.page,
        prediction.xyxy,
        prediction.page,
        iou_floor=options.background_iou,
        measure=_outlined(ground_truth, prediction) or _stated(ground_truth, prediction),
    )
    if len(order) == len(prediction):
        return pairs
    counts = np.zeros(len(prediction), dtype=bool)
    counts[order] = True
    return pairs.take(np.flatnonzero(counts[pairs.prediction]))


def _stated(ground_truth: BoxColumns, prediction: BoxColumns) -> Callable[[IntArray, IntArray], FloatArray] | None:
    """Return IoU by the areas that both sides state; None where the corners say everything."""
    truth_area, predicted_area = ground_truth.area, prediction.area
    if truth_area is None or predicted_area is None:
        return None
    return lambda truth, predicted: iou_of_stated(
        ground_truth.xyxy[truth], prediction.xyxy[predicted], truth_area[truth], predicted_area[predicted]
    )


def _outlined(
    ground_truth: BoxColumns, prediction: BoxColumns, share: Literal["iou", "purity"] = "iou"
) -> Callable[[IntArray, IntArray], FloatArray] | None:
    """Return IoU by outlines, or the share of the prediction; None where boxes are compared."""
    first, second = ground_truth.regions, prediction.regions
    if first is None or second is None:
        return None
    (outlined, own), (others, theirs) = first, second

    def measure(truth: IntArray, predicted: IntArray) -> FloatArray:
        values = np.zeros(len(truth))
        # Outlines whose bounds share no area share none.
        rows = np.flatnonzero(intersection(ground_truth.xyxy[truth], prediction.xyxy[predicted]) > 0.0)
        fit = polygon_overlap(outlined, others, own[truth[rows]], theirs[predicted[rows]])
        values[rows] = getattr(fit, share)
        return values

    return measure


def _in_regions(ignore: BoxColumns | None, prediction: BoxColumns, iou: float) -> BoolArray:
    """Return predictions of which more than a share lies in a region of their label, bool, shape (P,)."""
    inside = np.zeros(len(prediction), dtype=bool)
    if ignore is None or not len(ignore):
        return inside
    whole = area(prediction.xyxy) if prediction.area is None else prediction.area
    labels = int(max(ignore.label.max(initial=-1), prediction.label.max(initial=-1))) + 1

    def covered(region: IntArray, predicted: IntArray) -> FloatArray:
        shared = intersection(ignore.xyxy[region], prediction.xyxy[predicted])
        return np.divide(shared, whole[predicted], out=np.zeros_like(shared), where=shared > 0.0)

    pairs = overlapping_pairs(
        ignore.xyxy,
        ignore.page * labels + ignore.label,
        prediction.xyxy,
        prediction.page * labels + prediction.label,
        iou_floor=iou,
        measure=_outlined(ignore, prediction, "purity") or covered,
    )
    inside[pairs.prediction[pairs.iou > iou]] = True
    return inside


def _match_by_score(pairs: Candidates, order: IntArray, *, truths: int, predictions: int) -> IntArray:
    """Return the ground-truth row that each prediction takes by falling score, int64; -1 for none."""
    rank = np.empty(predictions, dtype=np.int64)
    rank[order] = np.arange(len(order))
    taken = pairs.take(greedy_rows(pairs, truths, predictions, rank))
    target = np.full(predictions, NONE, dtype=np.int64)
    target[taken.prediction] = taken.ground_truth
    return target


def _classify(
    kind: KindArray, target: IntArray, pairs: Candidates, same: BoolArray, *, matched: BoolArray, options: TideOptions
) -> None:
    """Write the type of every unmatched prediction into `kind`, and what it should match into `target`."""
    # The later line wins, so the first rule comes last.
    kind[pairs.prediction[pairs.iou > options.background_iou]] = _BOTH_WRONG
    kind[pairs.prediction[same & (pairs.iou >= options.iou) & matched[pairs.ground_truth]]] = _TIDE_DUPLICATE
    for code, rows in ((_CLASSIFICATION, ~same), (_LOCALISATION, same)):
        best = best_per_prediction(pairs.take(np.flatnonzero(rows)))
        fits = best.iou >= options.iou if code == _CLASSIFICATION else best.iou <= options.iou
        kind[best.prediction[fits]] = code
        target[best.prediction[fits]] = best.ground_truth[fits]


_RECALLS: Final[FloatArray] = np.arange(101) / 100


def _costs(partial: TidePartial) -> TideCosts:
    """Return AP, its gain by type, its gain without false positives and its gain without false negatives."""
    label, positives, labels = partial.label, partial.positives, len(partial.positives)
    places = np.arange(len(label))
    rows, bounds = _by_label(places, label, labels)
    ap = _mean_ap(partial.kind[rows] == NONE, bounds, positives, counts=~partial.ignored[rows])
    ranked = _true_last(partial, places)
    if ranked is not places:
        rows, bounds = _by_label(ranked, label, labels)
    kinds, true, counts = partial.kind[rows], partial.kind[rows] == NONE, ~partial.ignored[rows]
    gains = np.empty(len(TIDE))
    for code in (_BOTH_WRONG, _TIDE_DUPLICATE, _BACKGROUND):
        gains[code] = _mean_ap(true, bounds, positives, counts=counts & (kinds != code))
    moved = (partial.mended[rows] != NONE) & (kinds == _LOCALISATION)
    gains[_LOCALISATION] = _mean_ap(true | moved, bounds, positives, counts=(counts & (kinds != _LOCALISATION)) | moved)
    gains[_CLASSIFICATION] = _relabelled_ap(partial, ranked)
    gains[_TIDE_MISSED] = _mean_ap(true, bounds, positives - partial.missed, counts=counts)
    # Behind all the true ones the false ones still make their label one of the mean.
    present = np.bincount(label[rows[counts]], minlength=labels) > 0
    only_true = _mean_ap(true, bounds, positives, counts=true, present=present)
    all_matched = _mean_ap(true, bounds, partial.matched, counts=counts)
    return TideCosts(ap, np.maximum(gains - ap, 0.0), only_true - ap, all_matched - ap)


def _relabelled_ap(partial: TidePartial, ranked: IntArray) -> float:
    """Return AP with classification errors mended: a new match changes its label, the others go."""
    wrong = partial.kind == _CLASSIFICATION
    right = wrong & (partial.mended != NONE)
    label = np.where(right, partial.mended, partial.label)
    stays = (~wrong & ~partial.ignored) | right
    rows, bounds = _by_label(ranked[stays[ranked]], label, len(partial.positives))
    return _mean_ap(((partial.kind == NONE) | right)[rows], bounds, partial.positives)


def _true_last(partial: TidePartial, places: IntArray) -> IntArray:
    """Return places with false before true predictions of one score; the same object without ties."""
    score = partial.score
    run = np.zeros(len(score), dtype=np.int64)
    np.cumsum(score[1:] != score[:-1], out=run[1:])
    if not len(run) or run[-1] == len(run) - 1:
        return places
    return np.argsort(2 * run + (partial.kind == NONE), kind="stable")


def _mended(kind: KindArray, target: IntArray, truth_label: CodeArray, matched: BoolArray) -> CodeArray:
    """Return the label of the match that each error becomes when mended, -1 for none."""
    asking = np.flatnonzero((kind == _CLASSIFICATION) | (kind == _LOCALISATION))
    asking = asking[~matched[target[asking]]]
    _, first = np.unique(target[asking], return_index=True)
    mended = np.full(len(kind), NONE, dtype=truth_label.dtype)
    mended[asking[first]] = truth_label[target[asking[first]]]
    return mended


def _by_label(ranked: IntArray, label: CodeArray, labels: int) -> tuple[IntArray, IntArray]:
    """Return the ranking label by label, and the bounds of each label, int64, shape (labels + 1,)."""
    # Sorting small integers stably takes linear time.
    codes = label[ranked].astype(np.min_scalar_type(labels))
    bounds = np.zeros(labels + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=labels), out=bounds[1:])
    return ranked[np.argsort(codes, kind="stable")], bounds


def _mean_ap(
    true: BoolArray,
    bounds: IntArray,
    positives: IntArray,
    *,
    counts: BoolArray | None = None,
    present: BoolArray | None = None,
) -> float:
    """Return the mean over the labels that are present of AP at 101 points; NaN without any."""
    # A label is present when it has ground truth or predictions; without ground truth its AP is 0, as in tidecv.
    counted = np.arange(1, len(true) + 1) if counts is None else np.cumsum(counts)
    total, size = 0.0, 0
    for code, (start, stop) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        before = int(counted[start - 1]) if start else 0
        inside = stop > start and int(counted[stop - 1]) > before
        if not (inside or positives[code] or (present is not None and present[code])):
            continue
        size += 1
        if positives[code]:
            rank = counted[start:stop][true[start:stop]] - before
            total += average_precision(rank, int(positives[code]), recall=_RECALLS)
    return total / size if size else float("nan")
