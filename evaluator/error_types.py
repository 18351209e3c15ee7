"""The names of mistakes: the six types of TIDE, and the words in which people talk about a page.

Owns two families of names and the rules that give them; `ERROR_TYPES` lists both. Works on columns of one dataset
side by side: boxes are x1, y1, x2, y2, origin top left, one unit on both sides; page and label are integer codes that
both sides share. Nothing here reads a file, draws or formats.

**TIDE** (`tide`) explains average precision: a mistake is a prediction or a ground truth, seen one by one, whatever
the score threshold.

**Document names** (`name_mistakes`) explain a page at one operating point: a mistake is what a person would point at
once, so it may hold several boxes. The rules are tried from the top. A box that has a name is out of reach for the
rules below, so each box gets exactly one.

====  ============  ====================================================================================================
rule  name          what must hold; "free" is an unmatched box that has no name yet, thresholds are `MistakeOptions`
====  ============  ====================================================================================================
1     split         a ground truth, free or matched with one of its parts, holds two or more predictions of its label:
                    the parts lie in it, they stand apart, and together they cover at least ``together_share`` of it;
                    all parts but the matched one are free
2     merged        the same with the sides exchanged: a prediction holds two or more ground truths of its label
3     duplicate     a free prediction has IoU >= the threshold with a matched ground truth of its label
4     wrong class   a free prediction and a free ground truth of another label have IoU >= the threshold
5     cut off       a free prediction and a free ground truth of one label are near; the prediction lies in the ground
                    truth, and the share it loses is at least ``lopsided`` times the share it takes in from outside
6     over-cropped  as 5, with the sides exchanged: the ground truth lies in the prediction, which takes in too much
7     near miss     as 5, and neither 5 nor 6 holds
8     wrong class   a free prediction and a free ground truth of another label have IoU >= ``near_iou``
9     duplicate     a free prediction is near a ground truth of its label that has its prediction by now (matched, or
                    named with one by rules 1 to 8), or has IoU >= the threshold with one of any label
10    missed        a free ground truth
11    invented      a free prediction
12    cut off       a matched pair that no split or merge holds has coverage < ``min_coverage``, and its purity is good
                    or its coverage the worse of the two
13    over-cropped  the same with purity < ``min_purity``
====  ============  ====================================================================================================

A box *lies in* another when at least ``inside_share`` of its area is inside of it. Two boxes are *near* when their IoU
is at least ``near_iou`` or one lies in the other; below ``touch_iou`` nothing is looked at. Parts stand *apart* when
less than ``apart_share`` of each is inside of the main part, which is the matched one or the one with the highest IoU.
Rules 4 to 8 pair boxes off greedily by falling IoU, ties by row (5, 6 and 7 are one pass); rules 1 and 2 give a part
to the box with which it has the highest IoU. The side of a cut is the one at which most of the height or width is
missing (over-cropped: taken in too much), ties in the order of `SIDES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.average_precision import average_precision, falling
from evaluator.boxes import BoolArray, FloatArray, IntArray, overlap
from evaluator.dataset import CodeArray, Side
from evaluator.matching import Candidates, greedy_rows, overlapping_pairs
from evaluator.results import defined

KindArray = npt.NDArray[np.int8]
NONE: Final = -1
"""No mistake, no partner, no side."""

SIDES: Final = ("top", "right", "bottom", "left")


class ErrorType(NamedTuple):
    """One name for a mistake.

    Attributes
    ----------
    family : "tide" or "document"
    name : str
        As in JSON.
    title : str
        As people read it.
    sentence : str
        What it says about the boxes.
    sides : tuple of "ground_truth" and "prediction"
        Which boxes are wrong and carry the name.
    """

    family: Literal["tide", "document"]
    name: str
    title: str
    sentence: str
    sides: tuple[Side, ...]


_TRUTH: Final[tuple[Side, ...]] = ("ground_truth",)
_PREDICTION: Final[tuple[Side, ...]] = ("prediction",)
_BOTH: Final[tuple[Side, ...]] = ("ground_truth", "prediction")


def _types(family: Literal["tide", "document"], *rows: tuple[str, str, str, tuple[Side, ...]]) -> dict[str, ErrorType]:
    """Error types of a family by name, in the order of their codes."""
    return {name: ErrorType(family, name, title, sentence, sides) for name, title, sentence, sides in rows}


ERROR_TYPES: Final[Mapping[str, Mapping[str, ErrorType]]] = {
    "tide": _types(
        "tide",
        ("classification", "Classification", "The place is right and the label is wrong.", _PREDICTION),
        ("localisation", "Localisation", "The label is right and the box fits too badly.", _PREDICTION),
        ("both", "Both", "The label is wrong and the box fits too badly.", _PREDICTION),
        ("duplicate", "Duplicate", "A prediction with a higher score already has this ground truth.", _PREDICTION),
        ("background", "Background", "There is nothing to find here.", _PREDICTION),
        ("missed", "Missed", "No prediction comes near, not even one with another mistake.", _TRUTH),
    ),
    "document": _types(
        "document",
        ("split", "Split", "One ground truth was found in several pieces.", _BOTH),
        ("merged", "Merged", "Several ground truths were found as one.", _BOTH),
        ("wrong_class", "Wrong class", "The place is found under another label.", _BOTH),
        ("cut_off", "Cut off", "The prediction ends before the ground truth does.", _BOTH),
        ("over_cropped", "Over-cropped", "The prediction takes in more than the ground truth.", _BOTH),
        ("near_miss", "Near miss", "The label is right and the box fits too badly.", _BOTH),
        ("duplicate", "Duplicate", "The ground truth here already has its prediction.", _PREDICTION),
        ("missed", "Missed", "No prediction belongs to this ground truth.", _TRUTH),
        ("invented", "Invented", "No ground truth belongs to this prediction.", _PREDICTION),
    ),
}
"""Every name by family; its position in the family is its code in columns."""

TIDE: Final = tuple(ERROR_TYPES["tide"])
DOCUMENT: Final = tuple(ERROR_TYPES["document"])
_CLASSIFICATION, _LOCALISATION, _BOTH_WRONG, _TIDE_DUPLICATE, _BACKGROUND, _TIDE_MISSED = range(len(TIDE))
_SPLIT, _MERGED, _WRONG_CLASS, _CUT_OFF, _OVER_CROPPED, _NEAR_MISS, _DUPLICATE, _MISSED, _INVENTED = range(
    len(DOCUMENT)
)


@dataclass(frozen=True, slots=True, eq=False)
class BoxColumns:
    """Boxes of one side as columns of one length N, in file order.

    Attributes
    ----------
    xyxy : float64, shape (N, 4)
        x1, y1, x2, y2; origin top left; the same unit on both sides.
    label : int32, shape (N,), >= 0
    page : int64, shape (N,), >= 0
        Codes that both sides share; a page is a page of one document.
    score : float64, shape (N,), or None
        Needed by `tide`, for predictions only.
    """

    xyxy: FloatArray
    label: CodeArray
    page: IntArray
    score: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.label)


class TideOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What TIDE is told; the defaults are those of ``tidecv``.

    Attributes
    ----------
    iou : float
        Foreground threshold, in (0, 1].
    background_iou : float
        In (0, iou].
    max_detections : int
        Predictions of a page beyond this, by falling score and whatever their labels, are left out.
    """

    iou: float = 0.5
    background_iou: float = 0.1
    max_detections: int = 100


@dataclass(frozen=True, slots=True, eq=False)
class TideErrors:
    """What TIDE says of one model, per box and in sum.

    Attributes
    ----------
    options : TideOptions
    kind : int8, shape (P,)
        Code of each prediction into `TIDE`; -1 for a match and for what `TideOptions.max_detections` left out.
    target : int64, shape (P,)
        Row of the ground truth that a classification or localisation error would have matched, and of the match of a
        prediction without error; -1 for none.
    missed : bool, shape (G,)
        The ground truth that is missed. Others are unmatched too, but an error of a prediction explains them.
    counts : int64, shape (6,)
        Errors by code.
    ap : float
        AP at ``options.iou``, 101 points, mean over labels; in [0, 1], NaN without any box.
    delta_ap : float64, shape (6,), >= 0
        What AP would gain if all errors of the type were mended; 0 when it would lose by the grid. NaN as ``ap``, and
        where mending leaves no box at all.
    false_positive_ap, false_negative_ap : float
        What AP would gain with every false positive at the end of the ranking, and without any false negative.
    """

    options: TideOptions
    kind: KindArray
    target: IntArray
    missed: BoolArray
    counts: IntArray
    ap: float
    delta_ap: FloatArray
    false_positive_ap: float
    false_negative_ap: float

    def to_json(self) -> dict[str, Any]:
        """Plain values by the names of the types.

        Returns
        -------
        dict
            For each type ``{"count", "delta_ap"}``; undefined is None.
        """
        pairs = zip(self.counts.tolist(), self.delta_ap.tolist(), strict=True)
        return {
            name: {"count": count, "delta_ap": defined(gain)} for name, (count, gain) in zip(TIDE, pairs, strict=True)
        }


def tide(ground_truth: BoxColumns, prediction: BoxColumns, *, options: TideOptions | None = None) -> TideErrors:
    """The TIDE errors of a model: type of each box, counts, and what each type costs in AP.

    Parameters
    ----------
    ground_truth, prediction : BoxColumns
        The boxes that take part; predictions with scores.
    options : TideOptions, optional
        The thresholds of ``tidecv`` when absent.

    Returns
    -------
    TideErrors
        Without any box, no errors and NaN for every AP.

    Raises
    ------
    ValueError
        When a prediction has no score or a threshold is out of range.

    Notes
    -----
    Bolya et al., "TIDE: A General Toolbox for Identifying Object Detection Errors" (2020), as ``tidecv`` 1.0.1
    computes it, ties included: predictions of a page match by falling score, ties in file order, the free ground
    truth of their label with the highest IoU, ties in file order, at IoU >= threshold. Of the rest, in this order and
    with "best" over matched ground truth too: localisation (best IoU with its label in [background, threshold]),
    classification (best IoU with another label >= threshold), duplicate (IoU with matched ground truth of its label
    >= threshold), background (best IoU <= background), both. A ground truth is missed when it is neither matched nor
    the best of a localisation or classification error. Mending turns the best-scored of the errors that want one free
    ground truth into a match and removes the others; a missed one leaves the ground truth. Mended and false
    predictions stand before true ones of the same score, which is how ``tidecv`` sorts them; labels without boxes
    after the mending leave the mean.

    Three differences: AP is in [0, 1], not in percent; IoU is computed from corners, not from width and height, so a
    pair at a threshold may fall on the other side by a rounding of the file's coordinates; and predictions on
    pages that the ground truth does not list count here as on an empty page, where ``tidecv`` leaves them out, which
    can only lower AP. ``tidecv`` also sorts and tags the caller's boxes and fails without any; nothing is edited here.

    Examples
    --------
    >>> one = BoxColumns(np.array([[0.0, 0.0, 1.0, 1.0]]), np.zeros(1, np.int32), np.zeros(1, np.int64), np.ones(1))
    >>> round(tide(one, one).ap, 12)
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
    found = np.zeros(len(ground_truth), dtype=bool)
    found[target[matched]] = True
    kind = np.full(len(prediction), NONE, dtype=np.int8)
    kind[order] = _BACKGROUND
    kind[matched] = NONE
    unmatched = np.flatnonzero(kind[pairs.prediction] == _BACKGROUND)
    _classify(kind, target, pairs.take(unmatched), same[unmatched], found=found, options=chosen)
    wanted = np.zeros(len(ground_truth), dtype=bool)
    wanted[target[(kind == _CLASSIFICATION) | (kind == _LOCALISATION)]] = True
    missed = ~found & ~wanted
    counts = np.bincount(kind[kind != NONE], minlength=len(TIDE))
    counts[_TIDE_MISSED] = missed.sum()
    named = _Named(ground_truth, prediction, order, kind, target, found, missed)
    ap, delta_ap, false_positive_ap, false_negative_ap = _costs(named)
    return TideErrors(chosen, kind, target, missed, counts, ap, delta_ap, false_positive_ap, false_negative_ap)


class _Named(NamedTuple):
    """What TIDE knows of a model once every box has its type; see `TideErrors`, with `found` the matched truth."""

    ground_truth: BoxColumns
    prediction: BoxColumns
    order: IntArray
    kind: KindArray
    target: IntArray
    found: BoolArray
    missed: BoolArray


def _check_tide(prediction: BoxColumns, options: TideOptions) -> None:
    """ValueError for what TIDE cannot be computed from."""
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
    """Rows of the predictions that count, by falling score, then page, then row; int64."""
    score = np.empty(0) if prediction.score is None else prediction.score
    if (prediction.page[1:] >= prediction.page[:-1]).all():
        order = falling(score)
    else:
        by_page = np.argsort(prediction.page, kind="stable")
        order = by_page[falling(score[by_page])]
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
    """Pairs of a page at or above the background threshold, whatever their labels, of the predictions that count."""
    pairs = overlapping_pairs(
        ground_truth.xyxy, ground_truth.page, prediction.xyxy, prediction.page, iou_floor=options.background_iou
    )
    if len(order) == len(prediction):
        return pairs
    counts = np.zeros(len(prediction), dtype=bool)
    counts[order] = True
    return pairs.take(np.flatnonzero(counts[pairs.prediction]))


def _match_by_score(pairs: Candidates, order: IntArray, *, truths: int, predictions: int) -> IntArray:
    """Row of the ground truth that each prediction takes when they choose by falling score, int64; -1 for none.

    A prediction that is first of all that want a ground truth gets it when it likes none better, whatever else
    happens. All such pairs are taken at once, their boxes leave, and the rest is looked at again.
    """
    target = np.full(predictions, NONE, dtype=np.int64)
    per_truth = np.bincount(pairs.ground_truth, minlength=truths)
    per_prediction = np.bincount(pairs.prediction, minlength=predictions)
    alone = (per_truth[pairs.ground_truth] == 1) & (per_prediction[pairs.prediction] == 1)
    target[pairs.prediction[alone]] = pairs.ground_truth[alone]
    open_pairs = pairs.take(np.flatnonzero(~alone))
    rank = np.empty(predictions, dtype=np.int64)
    rank[order] = np.arange(len(order))
    # Stable: equal IoU keep the order of the ground truth.
    open_pairs = open_pairs.take(np.lexsort((-open_pairs.iou, rank[open_pairs.prediction])))
    first_of_truth = np.empty(truths, dtype=np.int64)
    first_of_prediction = np.empty(predictions, dtype=np.int64)
    free_truth, free_prediction = np.ones(truths, dtype=bool), np.ones(predictions, dtype=bool)
    while len(open_pairs.iou):
        predicted, truth = open_pairs.prediction, open_pairs.ground_truth
        place = np.arange(len(truth))
        # Written backwards, so that the first place of each box is what remains.
        first_of_truth[truth[::-1]] = place[::-1]
        first_of_prediction[predicted[::-1]] = place[::-1]
        settled = (first_of_truth[truth] == place) & (first_of_prediction[predicted] == place)
        target[predicted[settled]] = truth[settled]
        free_truth[truth[settled]] = False
        free_prediction[predicted[settled]] = False
        open_pairs = open_pairs.take(np.flatnonzero(free_truth[truth] & free_prediction[predicted]))
    return target


def _classify(
    kind: KindArray, target: IntArray, pairs: Candidates, same: BoolArray, *, found: BoolArray, options: TideOptions
) -> None:
    """Writes the type of every unmatched prediction into `kind`, and into `target` what it should have matched.

    The pairs are those of unmatched predictions, and `same` says whether their labels are equal.
    """
    # The later line wins, so the first rule comes last.
    kind[pairs.prediction[pairs.iou > options.background_iou]] = _BOTH_WRONG
    kind[pairs.prediction[same & (pairs.iou >= options.iou) & found[pairs.ground_truth]]] = _TIDE_DUPLICATE
    for code, rows in ((_CLASSIFICATION, ~same), (_LOCALISATION, same)):
        best = _best_per_prediction(pairs.take(np.flatnonzero(rows)))
        fits = best.iou >= options.iou if code == _CLASSIFICATION else best.iou <= options.iou
        kind[best.prediction[fits]] = code
        target[best.prediction[fits]] = best.ground_truth[fits]


def _best_per_prediction(pairs: Candidates) -> Candidates:
    """The pair with the highest IoU of each prediction, the first ground truth of equal ones."""
    if not len(pairs.iou):
        return pairs
    starts = np.flatnonzero(np.diff(pairs.prediction, prepend=-1))
    best = np.repeat(np.maximum.reduceat(pairs.iou, starts), np.diff(starts, append=len(pairs.iou)))
    highest = np.flatnonzero(pairs.iou == best)
    return pairs.take(highest[np.diff(pairs.prediction[highest], prepend=-1) != 0])


# The recall grid of tidecv; COCO's own differs from it in the last digit of ten points.
_RECALLS: Final[FloatArray] = np.arange(101) / 100


def _costs(named: _Named) -> tuple[float, FloatArray, float, float]:
    """AP, its gain by type, its gain without false positives and its gain without false negatives."""
    truth_label, label, kind = named.ground_truth.label, named.prediction.label, named.kind
    labels = int(max(truth_label.max(initial=-1), label.max(initial=-1))) + 1
    positives = np.bincount(truth_label, minlength=labels)
    rows, bounds = _by_label(named.order, label, labels)
    ap = _mean_ap(kind[rows] == NONE, bounds, positives)
    ranked = _true_last(named)
    if ranked is not named.order:
        rows, bounds = _by_label(ranked, label, labels)
    mended = _mended(named, ranked)
    kinds, true = kind[rows], kind[rows] == NONE
    gains = np.empty(len(TIDE))
    for code in (_BOTH_WRONG, _TIDE_DUPLICATE, _BACKGROUND):
        gains[code] = _mean_ap(true, bounds, positives, counts=kinds != code)
    moved = mended[rows] & (kinds == _LOCALISATION)
    gains[_LOCALISATION] = _mean_ap(true | moved, bounds, positives, counts=(kinds != _LOCALISATION) | moved)
    gains[_CLASSIFICATION] = _relabelled_ap(named, ranked, mended, positives)
    gains[_TIDE_MISSED] = _mean_ap(true, bounds, positives - np.bincount(truth_label[named.missed], minlength=labels))
    # Behind all the true ones the false ones still make their label one of the mean.
    only_true = _mean_ap(true, bounds, positives, counts=true, present=np.diff(bounds) > 0)
    all_found = _mean_ap(true, bounds, np.bincount(truth_label[named.found], minlength=labels))
    return ap, np.maximum(gains - ap, 0.0), only_true - ap, all_found - ap


def _relabelled_ap(named: _Named, ranked: IntArray, mended: BoolArray, positives: IntArray) -> float:
    """AP with classification errors mended: those that become a match change their label, the others go."""
    wrong = named.kind == _CLASSIFICATION
    right = wrong & mended
    label = named.prediction.label.copy()
    label[right] = named.ground_truth.label[named.target[right]]
    rows, bounds = _by_label(ranked[(~wrong | right)[ranked]], label, len(positives))
    return _mean_ap(((named.kind == NONE) | right)[rows], bounds, positives)


def _true_last(named: _Named) -> IntArray:
    """The ranking with false predictions before true ones of the same score; the same object without ties."""
    if named.prediction.score is None or not len(named.order):
        return named.order
    score = named.prediction.score[named.order]
    run = np.zeros(len(score), dtype=np.int64)
    np.cumsum(score[1:] != score[:-1], out=run[1:])
    if run[-1] == len(run) - 1:
        return named.order
    return named.order[np.argsort(2 * run + (named.kind[named.order] == NONE), kind="stable")]


def _mended(named: _Named, ranked: IntArray) -> BoolArray:
    """Which predictions become a match when their error is mended: the first of those that want one free box."""
    kind, target = named.kind, named.target
    asking = ranked[(kind[ranked] == _CLASSIFICATION) | (kind[ranked] == _LOCALISATION)]
    asking = asking[~named.found[target[asking]]]
    first = np.empty(len(named.found), dtype=np.int64)
    first[target[asking][::-1]] = asking[::-1]
    mended = np.zeros(len(kind), dtype=bool)
    mended[asking] = first[target[asking]] == asking
    return mended


def _by_label(ranked: IntArray, label: CodeArray, labels: int) -> tuple[IntArray, IntArray]:
    """The ranking label by label, and where each label begins and ends in it, int64, shape (labels + 1,)."""
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
    """Mean over the labels that are present of AP at 101 points; NaN without any.

    A label is present when it has ground truth or predictions; without ground truth its AP is 0, as in ``tidecv``.
    """
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


class MistakeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The thresholds of the document names; the table of this module says where each one stands.

    Attributes
    ----------
    near_iou : float
        IoU from which an unmatched pair is one mistake instead of two, in (0, 1].
    touch_iou : float
        IoU below which boxes are not looked at, in (0, near_iou]. A split into n lines needs about 1 / n.
    inside_share : float
        Share of a box that is inside another when it lies in it, in (0, 1].
    apart_share : float
        Parts that share less than this with the main part are pieces, not duplicates; in (0, 1].
    together_share : float
        Share of the whole that the parts of a split or merge cover together, in [0, 1].
    lopsided : float
        How many times what is lost must exceed what is taken in for a cut-off, and the other way round; >= 1.
    min_coverage, min_purity : float or None
        Matched pairs below are poor and get a name; None names no matched pair.
    """

    near_iou: float = 0.1
    touch_iou: float = 0.01
    inside_share: float = 0.75
    apart_share: float = 0.5
    together_share: float = 0.5
    lopsided: float = 2.0
    min_coverage: float | None = None
    min_purity: float | None = None

    def __post_init__(self) -> None:
        shares = {
            "near_iou": self.near_iou,
            "touch_iou": self.touch_iou,
            "inside_share": self.inside_share,
            "apart_share": self.apart_share,
        }
        wrong = [f"{name} {value}" for name, value in shares.items() if not 0.0 < value <= 1.0]
        wrong += [] if self.touch_iou <= self.near_iou else [f"touch_iou {self.touch_iou} above near_iou"]
        wrong += [] if 0.0 <= self.together_share <= 1.0 else [f"together_share {self.together_share}"]
        wrong += [] if self.lopsided >= 1.0 else [f"lopsided {self.lopsided}"]
        for name, least in (("min_coverage", self.min_coverage), ("min_purity", self.min_purity)):
            wrong += [] if least is None or 0.0 <= least <= 1.0 else [f"{name} {least}"]
        if wrong:
            raise ValueError(f"thresholds out of range: {', '.join(wrong)}")


@dataclass(frozen=True, eq=False)
class Mistakes:
    """Named mistakes as columns of one length M, sorted by page, then name, then the boxes' rows.

    Attributes
    ----------
    kind : int8, shape (M,)
        Code into `DOCUMENT`.
    page : int64, shape (M,)
    label : int32, shape (M,)
        Label of the ground truth; of the prediction where only that is wrong.
    truth_offsets, prediction_offsets : int64, shape (M + 1,)
        Boxes of mistake i are ``truth_rows[truth_offsets[i]:truth_offsets[i + 1]]``, and so for predictions.
    truth_rows, prediction_rows : int64
        Every box involved, matched ones included: the ground truth that a duplicate repeats, the matched part of a
        split. Rising within a mistake.
    side : int8, shape (M,)
        Code into `SIDES` of a cut-off or over-cropped pair; -1 for the rest.
    share : float64, shape (M,)
        What is missing on that side (over-cropped: too much), as a share of the ground truth's height (top, bottom)
        or width (left, right); in (0, 1] for a cut-off, above 0 for over-cropped, NaN for the rest.
    of_truth, of_prediction : int64, shape (G,) and (P,)
        Mistake whose name a box carries: of each unmatched box that takes part, and of each poor one; -1 for the rest.
    """

    kind: KindArray
    page: IntArray
    label: CodeArray
    truth_offsets: IntArray
    truth_rows: IntArray
    prediction_offsets: IntArray
    prediction_rows: IntArray
    side: KindArray
    share: FloatArray
    of_truth: IntArray
    of_prediction: IntArray

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def counts(self) -> IntArray:
        """Mistakes of each name, int64, shape (9,)."""
        return np.bincount(self.kind, minlength=len(DOCUMENT))

    def per_label(self, labels: int) -> IntArray:
        """Mistakes of each label and name, int64, shape (labels, 9)."""
        return self._by(self.label, labels)

    def per_page(self, pages: int) -> IntArray:
        """Mistakes of each page and name, int64, shape (pages, 9)."""
        return self._by(self.page, pages)

    def truths_of(self, mistake: int) -> IntArray:
        """Rows of the ground truth of one mistake, int64; empty for an invented box."""
        return self.truth_rows[self.truth_offsets[mistake] : self.truth_offsets[mistake + 1]]

    def predictions_of(self, mistake: int) -> IntArray:
        """Rows of the predictions of one mistake, int64; empty for a missed box."""
        return self.prediction_rows[self.prediction_offsets[mistake] : self.prediction_offsets[mistake + 1]]

    def _by(self, code: npt.NDArray[Any], size: int) -> IntArray:
        names = len(DOCUMENT)
        cells = np.bincount(code.astype(np.int64) * names + self.kind, minlength=size * names)
        return cells.reshape(size, names)


def name_mistakes(
    ground_truth: BoxColumns,
    prediction: BoxColumns,
    truth_partner: IntArray,
    *,
    iou: float,
    truth_counts: BoolArray | None = None,
    prediction_counts: BoolArray | None = None,
    options: MistakeOptions | None = None,
) -> Mistakes:
    """The mistakes at one operating point, each unmatched or poor box under exactly one name.

    Parameters
    ----------
    ground_truth, prediction : BoxColumns
        All boxes of the two files, or those of one page.
    truth_partner : int64, shape (G,)
        Row of the prediction that matched each ground truth; -1 for none. No prediction occurs twice.
    iou : float
        The IoU threshold of that matching, in (0, 1].
    truth_counts, prediction_counts : bool, shape (G,) and (P,), optional
        The boxes that take part; all of them when absent. A matched box takes part.
    options : MistakeOptions, optional

    Returns
    -------
    Mistakes
        Empty columns when everything matched well.

    Raises
    ------
    ValueError
        When the threshold is out of range.

    Notes
    -----
    The rules are the table at the top of this module. They are ours: TIDE has no name for split, merged, cut off or
    over-cropped, and counts a near miss as one error of a prediction that also explains the ground truth. Boxes
    without area overlap nothing, so they are missed or invented. Sides and shares come from the boxes, whatever the
    outline of a polygon.

    Examples
    --------
    >>> page, label = np.zeros(1, np.int64), np.zeros(1, np.int32)
    >>> truth = BoxColumns(np.array([[0.1, 0.1, 0.9, 0.5]]), label, page)
    >>> short = BoxColumns(np.array([[0.1, 0.1, 0.9, 0.2]]), label, page)
    >>> found = name_mistakes(truth, short, np.array([-1]), iou=0.5)
    >>> DOCUMENT[found.kind[0]], SIDES[found.side[0]], found.share.round(2).tolist()
    ('cut_off', 'bottom', [0.75])
    """
    if not 0.0 < iou <= 1.0:
        raise ValueError(f"iou must be in (0, 1]; found {iou}")
    chosen = MistakeOptions() if options is None else options
    matched = np.flatnonzero(truth_partner != NONE)
    partner = np.full(len(prediction), NONE, dtype=np.int64)
    partner[truth_partner[matched]] = matched
    truth = _Naming.of(ground_truth, truth_partner, truth_counts)
    predicted = _Naming.of(prediction, partner, prediction_counts)
    poor = _poor_pairs(truth, predicted, matched, chosen)
    pairs = _near_pairs(truth, predicted, chosen.touch_iou)
    draft = _Draft(truth, predicted)
    _name_groups(draft, pairs, chosen)
    _name_pairs(draft, pairs, iou, chosen)
    nobody = np.empty(0, dtype=np.int64)
    draft.add_pairs(_MISSED, np.flatnonzero(truth.free), nobody)
    draft.add_pairs(_INVENTED, nobody, np.flatnonzero(predicted.free))
    for kind, truths in poor.items():
        left = truths[truth.poor[truths]]
        draft.add_pairs(kind, left, truth_partner[left])
    return draft.finished()


@dataclass(frozen=True, slots=True, eq=False)
class _Naming:
    """One side while names are given; the masks change as boxes get theirs.

    Attributes
    ----------
    boxes : BoxColumns
    partner : int64, shape (N,)
        The match on the other side; -1 for none.
    takes_part : bool, shape (N,)
    free : bool, shape (N,)
        Takes part, is unmatched and has no name.
    poor : bool, shape (N,)
        Is matched poorly and has no name.
    taken : bool, shape (N,)
        Is matched, or named together with a box of the other side.
    mistake : int64, shape (N,)
        Number in the draft of the mistake whose name the box carries; -1 for none.
    """

    boxes: BoxColumns
    partner: IntArray
    takes_part: BoolArray
    free: BoolArray
    poor: BoolArray
    taken: BoolArray
    mistake: IntArray

    @classmethod
    def of(cls, boxes: BoxColumns, partner: IntArray, counts: BoolArray | None) -> _Naming:
        """A side on which only matched boxes are settled."""
        takes_part = np.ones(len(boxes), dtype=bool) if counts is None else counts
        return cls(
            boxes=boxes,
            partner=partner,
            takes_part=takes_part,
            free=takes_part & (partner == NONE),
            poor=np.zeros(len(boxes), dtype=bool),
            taken=partner != NONE,
            mistake=np.full(len(boxes), NONE, dtype=np.int64),
        )

    def carry(self, rows: IntArray, mistake: IntArray, *, together: bool) -> None:
        """Gives names to those of the rows that wait for one; `together` with boxes of the other side."""
        waiting = self.free[rows] | self.poor[rows]
        # Backwards: a poor box in two groups is named by the first.
        self.mistake[rows[waiting][::-1]] = mistake[waiting][::-1]
        self.free[rows] = False
        self.poor[rows] = False
        self.taken[rows] |= together


class _Pairs(NamedTuple):
    """Overlapping pairs of which a box is unmatched, in (prediction, ground truth) order.

    Attributes
    ----------
    prediction, truth : int64, shape (K,)
    iou, coverage, purity : float64, shape (K,)
    same : bool, shape (K,)
        Whether the labels are equal.
    """

    prediction: IntArray
    truth: IntArray
    iou: FloatArray
    coverage: FloatArray
    purity: FloatArray
    same: BoolArray

    def candidates(self, rows: IntArray) -> Candidates:
        """Some of the pairs, to be matched."""
        return Candidates(self.prediction[rows], self.truth[rows], self.iou[rows])


class _Members(NamedTuple):
    """Boxes of one side in mistakes: int64 columns of one length, the number of the mistake and the row."""

    mistake: IntArray
    row: IntArray


@dataclass(slots=True, eq=False)
class _Draft:
    """Mistakes in the order in which they were named."""

    truth: _Naming
    prediction: _Naming
    kinds: list[IntArray] = field(default_factory=list)
    truths: list[_Members] = field(default_factory=list)
    predictions: list[_Members] = field(default_factory=list)
    size: int = 0

    def add(self, kind: IntArray, truths: _Members, predictions: _Members) -> None:
        """Names mistakes of the given kinds; members are numbered from 0 and include matched boxes."""
        bearers = [ERROR_TYPES["document"][DOCUMENT[code]].sides for code in np.unique(kind)]
        for side, members, kept, name in (
            (self.truth, truths, self.truths, "ground_truth"),
            (self.prediction, predictions, self.predictions, "prediction"),
        ):
            number = members.mistake + self.size
            kept.append(_Members(number, members.row))
            if all(name in sides for sides in bearers):
                side.carry(members.row, number, together=all(len(sides) > 1 for sides in bearers))
        self.kinds.append(kind)
        self.size += len(kind)

    def add_pairs(self, kind: int | IntArray, truth: IntArray, prediction: IntArray) -> None:
        """Names mistakes of one box of each side, or of one side when the other is empty."""
        number = np.arange(max(len(truth), len(prediction)))
        kinds = np.broadcast_to(np.asarray(kind, dtype=np.int64), number.shape)
        self.add(kinds, _Members(number[: len(truth)], truth), _Members(number[: len(prediction)], prediction))

    def finished(self) -> Mistakes:
        """The mistakes by page, name and rows."""
        kind = np.concatenate(self.kinds).astype(np.int8)
        truths, truth_bounds = _ragged(self.truths, self.size)
        predictions, prediction_bounds = _ragged(self.predictions, self.size)
        first_truth, first_prediction = _firsts(truths, truth_bounds), _firsts(predictions, prediction_bounds)
        of_prediction = (kind == _DUPLICATE) | (kind == _INVENTED)
        page, label = (
            np.where(
                of_prediction,
                _taken(getattr(self.prediction.boxes, name), first_prediction),
                _taken(getattr(self.truth.boxes, name), first_truth),
            )
            for name in ("page", "label")
        )
        order = np.lexsort((first_prediction, first_truth, kind, page))
        place = np.empty(self.size + 1, dtype=np.int64)
        place[order] = np.arange(self.size)
        place[NONE] = NONE
        side, share = _sides(kind, (self.truth.boxes.xyxy, first_truth), (self.prediction.boxes.xyxy, first_prediction))
        truth_rows, truth_offsets = _reordered(truths, truth_bounds, order)
        prediction_rows, prediction_offsets = _reordered(predictions, prediction_bounds, order)
        return Mistakes(
            kind=kind[order],
            page=page[order].astype(np.int64),
            label=label[order].astype(np.int32),
            truth_offsets=truth_offsets,
            truth_rows=truth_rows,
            prediction_offsets=prediction_offsets,
            prediction_rows=prediction_rows,
            side=side[order],
            share=share[order],
            of_truth=place[self.truth.mistake],
            of_prediction=place[self.prediction.mistake],
        )


def _poor_pairs(truth: _Naming, predicted: _Naming, matched: IntArray, options: MistakeOptions) -> dict[int, IntArray]:
    """Ground truth of the matched pairs that fit too badly, by the name that they get if no group holds them."""
    if options.min_coverage is None and options.min_purity is None:
        return {}
    fit = overlap(truth.boxes.xyxy[matched], predicted.boxes.xyxy[truth.partner[matched]])
    short = fit.coverage < (-1.0 if options.min_coverage is None else options.min_coverage)
    foreign = fit.purity < (-1.0 if options.min_purity is None else options.min_purity)
    cut = short & (~foreign | (fit.coverage <= fit.purity))
    poor = matched[short | foreign]
    truth.poor[poor] = True
    predicted.poor[truth.partner[poor]] = True
    return {_CUT_OFF: matched[cut], _OVER_CROPPED: matched[foreign & ~cut]}


def _near_pairs(truth: _Naming, predicted: _Naming, touch_iou: float) -> _Pairs:
    """Overlapping pairs of which at least one box is free, and how they fit."""
    # Most boxes are matched, so the free ones of each side against the other are a fraction of all against all.
    everyone = np.flatnonzero(truth.takes_part), np.flatnonzero(predicted.free)
    the_rest = np.flatnonzero(truth.free), np.flatnonzero(predicted.takes_part & ~predicted.free)
    parts = []
    for truths, predictions in (everyone, the_rest):
        pairs = overlapping_pairs(
            truth.boxes.xyxy[truths],
            truth.boxes.page[truths],
            predicted.boxes.xyxy[predictions],
            predicted.boxes.page[predictions],
            iou_floor=touch_iou,
        )
        parts.append((predictions[pairs.prediction], truths[pairs.ground_truth]))
    prediction, ground_truth = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    # No prediction is in both parts, so their orders only have to be merged.
    order = np.argsort(prediction, kind="stable")
    prediction, ground_truth = prediction[order], ground_truth[order]
    fit = overlap(truth.boxes.xyxy[ground_truth], predicted.boxes.xyxy[prediction])
    same = truth.boxes.label[ground_truth] == predicted.boxes.label[prediction]
    return _Pairs(prediction, ground_truth, fit.iou, fit.coverage, fit.purity, same)


def _name_groups(draft: _Draft, pairs: _Pairs, options: MistakeOptions) -> None:
    """Rules 1 and 2."""
    parts, wholes = _groups(draft.truth, draft.prediction, pairs, wholes="ground_truth", options=options)
    draft.add(np.full(len(wholes.row), _SPLIT), wholes, parts)
    parts, wholes = _groups(draft.prediction, draft.truth, pairs, wholes="prediction", options=options)
    draft.add(np.full(len(wholes.row), _MERGED), parts, wholes)


def _groups(
    whole: _Naming, part: _Naming, pairs: _Pairs, *, wholes: Side, options: MistakeOptions
) -> tuple[_Members, _Members]:
    """Parts and wholes of the groups in which a box of one side holds several of the other, numbered from 0."""
    if wholes == "ground_truth":
        whole_row, part_row, inside = pairs.truth, pairs.prediction, pairs.purity
    else:
        whole_row, part_row, inside = pairs.prediction, pairs.truth, pairs.coverage
    able = whole.free | (whole.partner != NONE)
    rows = np.flatnonzero(pairs.same & (inside >= options.inside_share) & part.free[part_row] & able[whole_row])
    rows = rows[np.lexsort((whole_row[rows], -pairs.iou[rows], part_row[rows]))]
    rows = rows[np.diff(part_row[rows], prepend=NONE) != 0]
    # Now every part is in one whole; the main part of each whole is its match, or else the best of its parts.
    rows = rows[np.lexsort((part_row[rows], -pairs.iou[rows], whole_row[rows]))]
    main = whole.partner.copy()
    first = rows[np.diff(whole_row[rows], prepend=NONE) != 0]
    first = first[main[whole_row[first]] == NONE]
    main[whole_row[first]] = part_row[first]
    others = rows[part_row[rows] != main[whole_row[rows]]]
    beside = overlap(part.boxes.xyxy[main[whole_row[others]]], part.boxes.xyxy[part_row[others]])
    others = others[beside.purity < options.apart_share]
    held, group = np.unique(whole_row[others], return_inverse=True)
    main_fit = overlap(whole.boxes.xyxy[held], part.boxes.xyxy[main[held]])
    fit = overlap(whole.boxes.xyxy[whole_row[others]], part.boxes.xyxy[part_row[others]])
    covered = main_fit.coverage + np.bincount(group, weights=fit.coverage, minlength=len(held))
    good = (main_fit.purity >= options.inside_share) & (covered >= options.together_share)
    number = np.cumsum(good) - 1
    chosen = good[group]
    parts = _Members(
        np.concatenate([number[good], number[group[chosen]]]),
        np.concatenate([main[held[good]], part_row[others[chosen]]]),
    )
    return parts, _Members(number[good], held[good])


def _name_pairs(draft: _Draft, pairs: _Pairs, iou: float, options: MistakeOptions) -> None:
    """Rules 3 to 9."""
    truth, predicted = draft.truth, draft.prediction
    lies_in = np.maximum(pairs.coverage, pairs.purity) >= options.inside_share
    near = (pairs.iou >= options.near_iou) | lies_in

    def pair_off(allowed: BoolArray) -> IntArray:
        rows = np.flatnonzero(allowed & truth.free[pairs.truth] & predicted.free[pairs.prediction])
        return rows[greedy_rows(pairs.candidates(rows), len(truth.boxes), len(predicted.boxes))]

    def repeat(allowed: BoolArray) -> None:
        rows = np.flatnonzero(allowed & truth.taken[pairs.truth] & predicted.free[pairs.prediction])
        best = _best_per_prediction(pairs.candidates(rows))
        draft.add_pairs(_DUPLICATE, best.ground_truth, best.prediction)

    def name(kind: int | IntArray, rows: IntArray) -> None:
        draft.add_pairs(kind, pairs.truth[rows], pairs.prediction[rows])

    repeat(pairs.same & (pairs.iou >= iou) & (truth.partner[pairs.truth] != NONE))
    name(_WRONG_CLASS, pair_off(~pairs.same & (pairs.iou >= iou)))
    rows = pair_off(pairs.same & near)
    name(_fit_name(pairs.coverage[rows], pairs.purity[rows], options), rows)
    name(_WRONG_CLASS, pair_off(~pairs.same & (pairs.iou >= options.near_iou)))
    repeat((pairs.same & near) | (pairs.iou >= iou))


def _fit_name(coverage: FloatArray, purity: FloatArray, options: MistakeOptions) -> IntArray:
    """Rules 5 to 7: cut off, over-cropped or near miss, int64."""
    lost, foreign = 1.0 - coverage, 1.0 - purity
    cut = (purity >= options.inside_share) & (lost >= options.lopsided * foreign) & (lost > foreign)
    over = (coverage >= options.inside_share) & (foreign >= options.lopsided * lost) & (foreign > lost)
    return np.where(cut, _CUT_OFF, np.where(over, _OVER_CROPPED, _NEAR_MISS))


def _sides(
    kind: KindArray, truth: tuple[FloatArray, IntArray], prediction: tuple[FloatArray, IntArray]
) -> tuple[KindArray, FloatArray]:
    """Side and share of what is missing (over-cropped: too much); -1 and NaN for other mistakes.

    A side is its corners and the row of the first box of each mistake.
    """
    side, share = np.full(len(kind), NONE, dtype=np.int8), np.full(len(kind), np.nan)
    rows = np.flatnonzero((kind == _CUT_OFF) | (kind == _OVER_CROPPED))
    outer, inner = (corners[first[rows]] for corners, first in (truth, prediction))
    height, width = outer[:, 3] - outer[:, 1], outer[:, 2] - outer[:, 0]
    # In the order of SIDES; positive where the prediction ends before the ground truth.
    missing = np.column_stack(
        [
            (inner[:, 1] - outer[:, 1]) / height,
            (outer[:, 2] - inner[:, 2]) / width,
            (outer[:, 3] - inner[:, 3]) / height,
            (inner[:, 0] - outer[:, 0]) / width,
        ]
    )
    missing[kind[rows] == _OVER_CROPPED] *= -1.0
    side[rows] = missing.argmax(axis=1)
    share[rows] = missing.max(axis=1)
    return side, share


def _ragged(parts: list[_Members], size: int) -> tuple[IntArray, IntArray]:
    """Rows by mistake, and where each mistake begins and ends, int64, shape (size + 1,)."""
    mistake = np.concatenate([members.mistake for members in parts])
    row = np.concatenate([members.row for members in parts])
    bounds = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(mistake, minlength=size), out=bounds[1:])
    return row[np.lexsort((row, mistake))], bounds


def _reordered(rows: IntArray, bounds: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """The same for mistakes in another order."""
    width = np.diff(bounds)[order]
    offsets = np.zeros_like(bounds)
    np.cumsum(width, out=offsets[1:])
    return rows[np.repeat(bounds[:-1][order] - offsets[:-1], width) + np.arange(len(rows))], offsets


def _firsts(rows: IntArray, bounds: IntArray) -> IntArray:
    """First row of each mistake, int64; -1 for none."""
    filled = np.diff(bounds) > 0
    first = np.full(len(filled), NONE, dtype=np.int64)
    first[filled] = rows[bounds[:-1][filled]]
    return first


def _taken(column: npt.NDArray[Any], rows: IntArray) -> npt.NDArray[Any]:
    """The column at the rows; -1 where a row is -1."""
    return np.append(column, NONE)[rows]
