"""Mistakes as a person would point at them: the rules of the package's table, tried from the top."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray, Overlap, overlap
from evaluator.data.dataset import CodeArray, Side, parse_box_key
from evaluator.data.order import order_by
from evaluator.data.polygons import polygon_overlap
from evaluator.matching.error_types.names import DOCUMENT, ERROR_TYPES, NONE, BoxColumns, KindArray
from evaluator.matching.pairs import TOUCHING, Candidates, best_per_prediction, greedy_rows, overlapping_pairs

_SPLIT, _MERGED, _WRONG_CLASS, _CUT_OFF, _OVER_CROPPED, _NEAR_MISS, _DUPLICATE, _MISSED, _INVENTED = range(
    len(DOCUMENT)
)


class MistakeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The thresholds of the document names; the table of the package says where each one is.

    `near_iou`: from it an unmatched pair is one mistake instead of two, in (0, 1]. `touch_iou`: boxes below are not
    looked at, in (0, near_iou]; a split into n lines needs about 1 / n. `inside_share`: of a box that lies in another,
    in (0, 1]. `apart_share`: parts that share less with the main part are pieces, not duplicates, in (0, 1].
    `together_share`: what the parts of a split or merge cover of the whole, in [0, 1]. `lopsided`: how many times what
    is lost must exceed what is taken in for a cut-off, and the other way round, >= 1. `min_coverage`, `min_purity`:
    matched pairs below get a name; None for none.
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


class Carriers(NamedTuple):
    """The boxes of one side that carry the name of a mistake.

    `rows`: int64, shape (K,), rising. `mistake`: the one whose name each carries. `boxes`: all boxes of the side.
    """

    rows: IntArray
    mistake: IntArray
    boxes: int

    def spread(self) -> IntArray:
        """Return the mistake of each box of the side, int64, shape (boxes,); -1 for none."""
        of = np.full(self.boxes, NONE, dtype=np.int64)
        of[self.rows] = self.mistake
        return of


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
        Code into `SIDES` of a cut-off or over-cropped pair; -1 for the rest, and for outlines that end alike.
    share : float64, shape (M,)
        What is missing on that side (over-cropped: too much), as a share of the ground truth's height (top, bottom)
        or width (left, right); in (0, 1] for a cut-off, above 0 for over-cropped, NaN for the rest.
    truth_carriers, prediction_carriers : Carriers
        The boxes that carry the names: each unmatched box that takes part, and each poor one.
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
    truth_carriers: Carriers
    prediction_carriers: Carriers

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def of_truth(self) -> IntArray:
        """Return the mistake whose name each ground truth carries, int64, shape (G,); -1 for none."""
        return self.truth_carriers.spread()

    @cached_property
    def of_prediction(self) -> IntArray:
        """Return the mistake whose name each prediction carries, int64, shape (P,); -1 for none."""
        return self.prediction_carriers.spread()

    def of_box(self, key: str) -> int:
        """Return the mistake whose name a box carries, by its `box_key`; -1 for none."""
        side, row = parse_box_key(key)
        of = self.of_truth if side == "ground_truth" else self.of_prediction
        return int(of[row]) if row < len(of) else NONE

    @cached_property
    def first_truth(self) -> IntArray:
        """Return the first ground-truth row of each mistake, int64, shape (M,); -1 for none."""
        return _firsts(self.truth_rows, self.truth_offsets)

    @cached_property
    def first_prediction(self) -> IntArray:
        """Return the first prediction row of each mistake, int64, shape (M,); -1 for none."""
        return _firsts(self.prediction_rows, self.prediction_offsets)

    @cached_property
    def wrong_boxes(self) -> IntArray:
        """Return how many boxes of both sides carry the name of each mistake, int64, shape (M,)."""
        return np.asarray(sum(self._carried), dtype=np.int64)

    @property
    def _carried(self) -> list[IntArray]:
        sides = self.truth_carriers, self.prediction_carriers
        return [np.bincount(carriers.mistake, minlength=len(self)) for carriers in sides]

    @cached_property
    def corrections(self) -> IntArray:
        """Return how many boxes a person touches to put each mistake right, int64, shape (M,).

        Of the boxes that carry its name, the larger of the two sides: a pair is moved or relabelled once, a table that
        was read as 22 lines is 22 boxes to delete or stretch, what is missed is drawn once.
        """
        return np.maximum(*self._carried).astype(np.int64)

    def corrections_per_label(self, labels: int) -> IntArray:
        """Return the sum of the `corrections` of the mistakes of each label, int64, shape (labels,)."""
        return np.pad(self._label_corrections, (0, labels - len(self._label_corrections)))

    @cached_property
    def _label_corrections(self) -> IntArray:
        """Return the sum of the `corrections` of each label up to the last one that occurs, int64."""
        return np.bincount(self.label, weights=self.corrections).astype(np.int64)

    @cached_property
    def counts(self) -> IntArray:
        """Return the number of mistakes of each name, int64, shape (9,)."""
        return np.bincount(self.kind, minlength=len(DOCUMENT))

    def truths_of(self, mistake: int) -> IntArray:
        """Return the ground-truth rows of one mistake, int64; empty for an invented box."""
        return self.truth_rows[self.truth_offsets[mistake] : self.truth_offsets[mistake + 1]]

    def predictions_of(self, mistake: int) -> IntArray:
        """Return the prediction rows of one mistake, int64; empty for a missed box."""
        return self.prediction_rows[self.prediction_offsets[mistake] : self.prediction_offsets[mistake + 1]]


def name_mistakes(
    ground_truth: BoxColumns,
    prediction: BoxColumns,
    truth_partner: IntArray,
    *,
    iou: float,
    truth_counts: BoolArray | None = None,
    prediction_counts: BoolArray | None = None,
    options: MistakeOptions | None = None,
    touching: Touching | None = None,
) -> Mistakes:
    """Return the mistakes at one operating point, each unmatched or poor box under exactly one name.

    Parameters
    ----------
    ground_truth, prediction : BoxColumns
        All boxes of the two files, or those of one page.
    truth_partner : int64, shape (G,)
        Row of the prediction that matched each ground truth; -1 for none. No prediction occurs twice.
    iou : float
        The IoU threshold of that matching, in (0, 1]; ValueError outside.
    truth_counts, prediction_counts : bool, shape (G,) and (P,), optional
        The boxes that take part, all matched ones among them; all boxes when absent.
    touching : Touching, optional
        What `touching_pairs` gives for the same boxes.

    Notes
    -----
    The rules, the table of the package, are ours: TIDE has no name for split, merged, cut off or over-cropped, and
    counts a near miss as one error of a prediction that also explains the ground truth. Boxes without area overlap
    nothing, so they are missed or invented. Where outlines are compared, they decide what overlaps; sides and shares
    come from what they reach, and a free pair that ends at no other side is a near miss.

    Examples
    --------
    >>> from evaluator.matching.error_types import SIDES
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
    if touching is None or touching.iou != chosen.touch_iou:
        touching = touching_pairs(ground_truth, prediction, touch_iou=chosen.touch_iou)
    pairs = _near_pairs(truth, predicted, touching)
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


class Touching(NamedTuple):
    """Every overlapping pair of the boxes of two files, in the order of their places on the pages.

    `prediction`, `truth`: int32 rows, shape (K,). `fit`: by outlines where these are compared. Pairs below `iou` are
    left out.
    """

    prediction: CodeArray
    truth: CodeArray
    fit: Overlap
    iou: float


def touching_pairs(ground_truth: BoxColumns, prediction: BoxColumns, *, touch_iou: float | None = None) -> Touching:
    """Return every pair that any matching of the same boxes can name, whatever its thresholds are.

    `touch_iou`: see `MistakeOptions`; its default when absent.
    """
    floor = MistakeOptions().touch_iou if touch_iou is None else touch_iou
    pairs = overlapping_pairs(
        ground_truth.xyxy,
        ground_truth.page,
        prediction.xyxy,
        prediction.page,
        # The IoU of what outlines reach says nothing of their own but that there is one.
        iou_floor=floor if ground_truth.regions is None else TOUCHING,
    )
    # By place: pairs of equal IoU are taken in one order whatever the rows.
    order = order_by([_by_place(prediction, pairs.prediction), _by_place(ground_truth, pairs.ground_truth)])
    predictions, truths = pairs.prediction[order], pairs.ground_truth[order]
    fit = _fit(ground_truth, truths, prediction, predictions)
    if ground_truth.regions is not None:
        near = fit.iou >= floor
        predictions, truths, fit = predictions[near], truths[near], Overlap(*(column[near] for column in fit))
    return Touching(predictions.astype(np.int32), truths.astype(np.int32), fit, floor)


@dataclass(frozen=True, slots=True, eq=False)
class _Naming:
    """One side while names are given: masks and columns of shape (N,) that change as boxes get names.

    `partner`: the match, -1 for none. `free`: takes part, unmatched, without a name. `poor`: matched poorly, without a
    name. `taken`: matched, or named together with a box of the other side. `mistake`: its number in the draft; -1 for
    none.
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
        """Give names to those of the rows that wait for one; `together` with boxes of the other side."""
        waiting = self.free[rows] | self.poor[rows]
        # Backwards: a poor box in two groups is named by the first.
        self.mistake[rows[waiting][::-1]] = mistake[waiting][::-1]
        self.free[rows] = False
        self.poor[rows] = False
        self.taken[rows] |= together

    def carriers(self, place: IntArray) -> Carriers:
        """Return the boxes that have a name; `place` is the number of each mistake of the draft."""
        rows = np.flatnonzero(self.mistake != NONE)
        return Carriers(rows, place[self.mistake[rows]], len(self.boxes))


class _Pairs(NamedTuple):
    """Overlapping pairs of which a box is unmatched, by place; `same`: the labels are equal."""

    prediction: IntArray
    truth: IntArray
    iou: FloatArray
    coverage: FloatArray
    purity: FloatArray
    same: BoolArray

    def candidates(self, rows: IntArray) -> Candidates:
        return Candidates(self.prediction[rows], self.truth[rows], self.iou[rows])


class _Members(NamedTuple):
    """Boxes of one side in mistakes: int64 columns of one length, number of the mistake and row."""

    mistake: IntArray
    row: IntArray


@dataclass(slots=True, eq=False)
class _Draft:
    truth: _Naming
    prediction: _Naming
    kinds: list[IntArray] = field(default_factory=list)
    truths: list[_Members] = field(default_factory=list)
    predictions: list[_Members] = field(default_factory=list)
    size: int = 0

    def add(self, kind: IntArray, truths: _Members, predictions: _Members) -> None:
        """Name mistakes of the given kinds; members are numbered from 0 and include matched boxes."""
        bearers = [ERROR_TYPES["document"][DOCUMENT[code]].sides for code in np.flatnonzero(np.bincount(kind))]
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
        """Name mistakes of one box of each side, or of one side when the other is empty."""
        number = np.arange(max(len(truth), len(prediction)))
        kinds = np.broadcast_to(np.asarray(kind, dtype=np.int64), number.shape)
        self.add(kinds, _Members(number[: len(truth)], truth), _Members(number[: len(prediction)], prediction))

    def finished(self) -> Mistakes:
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
        order = order_by([page, kind, first_truth, first_prediction])
        place = np.empty(self.size, dtype=np.int64)
        place[order] = np.arange(self.size)
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
            truth_carriers=self.truth.carriers(place),
            prediction_carriers=self.prediction.carriers(place),
        )


def _poor_pairs(truth: _Naming, predicted: _Naming, matched: IntArray, options: MistakeOptions) -> dict[int, IntArray]:
    """Return the ground truth of poorly matched pairs, by the name that they get if no group holds them."""
    if options.min_coverage is None and options.min_purity is None:
        return {}
    fit = _fit(truth.boxes, matched, predicted.boxes, truth.partner[matched])
    short = fit.coverage < (-1.0 if options.min_coverage is None else options.min_coverage)
    foreign = fit.purity < (-1.0 if options.min_purity is None else options.min_purity)
    cut = short & (~foreign | (fit.coverage <= fit.purity))
    poor = matched[short | foreign]
    truth.poor[poor] = True
    predicted.poor[truth.partner[poor]] = True
    return {_CUT_OFF: matched[cut], _OVER_CROPPED: matched[foreign & ~cut]}


def _fit(first: BoxColumns, rows: IntArray, second: BoxColumns, others: IntArray) -> Overlap:
    if first.regions is None or second.regions is None:
        return overlap(first.xyxy[rows], second.xyxy[others])
    (one, own), (other, theirs) = first.regions, second.regions
    return polygon_overlap(one, other, own[rows], theirs[others])


def _near_pairs(truth: _Naming, predicted: _Naming, touching: Touching) -> _Pairs:
    free = truth.free[touching.truth] | predicted.free[touching.prediction]
    rows = np.flatnonzero(free & truth.takes_part[touching.truth] & predicted.takes_part[touching.prediction])
    prediction, ground_truth = touching.prediction[rows].astype(np.int64), touching.truth[rows].astype(np.int64)
    same = truth.boxes.label[ground_truth] == predicted.boxes.label[prediction]
    fit = touching.fit
    return _Pairs(prediction, ground_truth, fit.iou[rows], fit.coverage[rows], fit.purity[rows], same)


def _by_place(boxes: BoxColumns, rows: IntArray) -> IntArray:
    """Return the rank by page, y1, x1, y2, x2 and label, int64; only boxes equal in all go by row."""
    used = np.flatnonzero(np.bincount(rows, minlength=len(boxes)))
    x1, y1, x2, y2 = np.ascontiguousarray(boxes.xyxy[used].T)
    page, label = boxes.page[used], boxes.label[used]
    order = order_by([page, y1])
    # Few boxes of a page begin at one height: the other columns are looked at for those alone.
    level = (np.diff(page[order]) == 0) & (np.diff(y1[order]) == 0)
    places = np.flatnonzero(np.append(level, False) | np.append(False, level))
    tied = np.sort(order[places])
    order[places] = tied[order_by([column[tied] for column in (page, y1, x1, y2, x2, label)])]
    rank = np.empty(len(boxes), dtype=np.int64)
    rank[used[order]] = np.arange(len(used))
    return rank[rows]


def _name_groups(draft: _Draft, pairs: _Pairs, options: MistakeOptions) -> None:
    """Apply rules 1 and 2."""
    parts, wholes = _groups(draft.truth, draft.prediction, pairs, wholes="ground_truth", options=options)
    draft.add(np.full(len(wholes.row), _SPLIT), wholes, parts)
    parts, wholes = _groups(draft.prediction, draft.truth, pairs, wholes="prediction", options=options)
    draft.add(np.full(len(wholes.row), _MERGED), parts, wholes)


def _groups(
    whole: _Naming, part: _Naming, pairs: _Pairs, *, wholes: Side, options: MistakeOptions
) -> tuple[_Members, _Members]:
    """Return parts and wholes of the groups where a box holds several of the other side, numbered from 0."""
    if wholes == "ground_truth":
        whole_row, part_row, inside = pairs.truth, pairs.prediction, pairs.purity
    else:
        whole_row, part_row, inside = pairs.prediction, pairs.truth, pairs.coverage
    able = whole.free | (whole.partner != NONE)
    rows = np.flatnonzero(pairs.same & (inside >= options.inside_share) & part.free[part_row] & able[whole_row])
    rows = rows[order_by([part_row[rows], -pairs.iou[rows]])]
    rows = rows[np.diff(part_row[rows], prepend=NONE) != 0]
    # Now every part is in one whole; the main part of each whole is its match, or else the best of its parts.
    rows = rows[order_by([whole_row[rows], -pairs.iou[rows], rows])]
    main = whole.partner.copy()
    first = rows[np.diff(whole_row[rows], prepend=NONE) != 0]
    first = first[main[whole_row[first]] == NONE]
    main[whole_row[first]] = part_row[first]
    others = rows[part_row[rows] != main[whole_row[rows]]]
    beside = _fit(part.boxes, main[whole_row[others]], part.boxes, part_row[others])
    others = others[beside.purity < options.apart_share]
    held, group = np.unique(whole_row[others], return_inverse=True)
    main_fit = _fit(whole.boxes, held, part.boxes, main[held])
    fit = _fit(whole.boxes, whole_row[others], part.boxes, part_row[others])
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
    """Apply rules 3 to 9."""
    truth, predicted = draft.truth, draft.prediction
    lies_in = np.maximum(pairs.coverage, pairs.purity) >= options.inside_share
    near = (pairs.iou >= options.near_iou) | lies_in

    def pair_off(allowed: BoolArray) -> IntArray:
        rows = np.flatnonzero(allowed & truth.free[pairs.truth] & predicted.free[pairs.prediction])
        return rows[greedy_rows(pairs.candidates(rows), len(truth.boxes), len(predicted.boxes))]

    def repeat(allowed: BoolArray) -> None:
        rows = np.flatnonzero(allowed & truth.taken[pairs.truth] & predicted.free[pairs.prediction])
        best = best_per_prediction(pairs.candidates(rows))
        draft.add_pairs(_DUPLICATE, best.ground_truth, best.prediction)

    def name(kind: int | IntArray, rows: IntArray) -> None:
        draft.add_pairs(kind, pairs.truth[rows], pairs.prediction[rows])

    repeat(pairs.same & (pairs.iou >= iou) & (truth.partner[pairs.truth] != NONE))
    name(_WRONG_CLASS, pair_off(~pairs.same & (pairs.iou >= iou)))
    rows = pair_off(pairs.same & near)
    kind = _fit_name(pairs.coverage[rows], pairs.purity[rows], options)
    # Outlines can differ inside of what they reach; nothing is missing at a side then.
    corners = truth.boxes.xyxy[pairs.truth[rows]], predicted.boxes.xyxy[pairs.prediction[rows]]
    kind[(kind != _NEAR_MISS) & ~(_missing(kind, *corners).max(axis=1) > 0.0)] = _NEAR_MISS
    name(kind, rows)
    name(_WRONG_CLASS, pair_off(~pairs.same & (pairs.iou >= options.near_iou)))
    repeat((pairs.same & near) | (pairs.iou >= iou))


def _fit_name(coverage: FloatArray, purity: FloatArray, options: MistakeOptions) -> IntArray:
    """Return cut off, over-cropped or near miss by rules 5 to 7, int64."""
    lost, foreign = 1.0 - coverage, 1.0 - purity
    cut = (purity >= options.inside_share) & (lost >= options.lopsided * foreign) & (lost > foreign)
    over = (coverage >= options.inside_share) & (foreign >= options.lopsided * lost) & (foreign > lost)
    return np.where(cut, _CUT_OFF, np.where(over, _OVER_CROPPED, _NEAR_MISS))


def _sides(
    kind: KindArray, truth: tuple[FloatArray, IntArray], prediction: tuple[FloatArray, IntArray]
) -> tuple[KindArray, FloatArray]:
    """Return side and share of what is missing (over-cropped: too much); -1 and NaN for other mistakes."""
    side, share = np.full(len(kind), NONE, dtype=np.int8), np.full(len(kind), np.nan)
    rows = np.flatnonzero((kind == _CUT_OFF) | (kind == _OVER_CROPPED))
    missing = _missing(kind[rows], *(corners[first[rows]] for corners, first in (truth, prediction)))
    at_side = missing.max(axis=1) > 0.0
    rows, missing = rows[at_side], missing[at_side]
    side[rows] = missing.argmax(axis=1)
    share[rows] = missing.max(axis=1)
    return side, share


def _missing(kind: AnyArray, outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Return what predictions miss of the ground truth at each of SIDES, or take in when over-cropped.

    float64, shape (K, 4): shares of height (top, bottom) or width; below 0 for the contrary.
    """
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
    missing[kind == _OVER_CROPPED] *= -1.0
    return missing


def _ragged(parts: list[_Members], size: int) -> tuple[IntArray, IntArray]:
    """Return rows by mistake, and where each mistake begins and ends, int64, shape (size + 1,)."""
    mistake = np.concatenate([members.mistake for members in parts])
    row = np.concatenate([members.row for members in parts])
    bounds = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(mistake, minlength=size), out=bounds[1:])
    return row[order_by([mistake, row])], bounds


def _reordered(rows: IntArray, bounds: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    first = bounds[:-1][order]
    width = bounds[1:][order] - first
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(width, out=offsets[1:])
    return rows[np.repeat(first - offsets[:-1], width) + np.arange(offsets[-1])], offsets


def _firsts(rows: IntArray, bounds: IntArray) -> IntArray:
    """Return the first row of each mistake, int64; -1 for none."""
    filled = np.diff(bounds) > 0
    first = np.full(len(filled), NONE, dtype=np.int64)
    first[filled] = rows[bounds[:-1][filled]]
    return first


def _taken(column: AnyArray, rows: IntArray) -> AnyArray:
    if not len(column):
        return np.full(len(rows), NONE, dtype=column.dtype)
    taken = column[rows]
    taken[rows == NONE] = NONE
    return taken
