"""How likely each ground truth box is wrong: its label, its border, or that it is there at all.

What the models show is weighed under "right" and under each kind of error, and the share of each kind is estimated. The
laws of a model are measured on boxes weighted by how likely these are right, in rounds of expectation maximisation.

The deviation of a side from a right border is a mixture of a usual one (1 after division by the scale) and a bad one,
whose share depends on the score. A wrong border adds the same unknown shift for both models to some sides: two models
that deviate alike say "border", two that deviate differently say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects.model_evidence import ModelEvidence
from evaluator.analysis.suspects.noise_model import SCORE_BINS, binned, histogram, log_sum, log_total, rates, within
from evaluator.analysis.suspects.pairing import Columns
from evaluator.data.boxes import BoolArray, FloatArray, IntArray

_ROUNDS: Final = 3
_START: Final = 0.02
"""Share of each kind of error before anything is seen."""
_NEVER: Final = -1e9
"""Log ratio of what cannot be; its exponential is 0."""
_LEAST: Final = 1e-5
_MOST: Final = 0.3
_MOVED: Final = 0.6
"""How likely each side is to be wrong where the border is."""
_SHIFT: Final = 0.2
"""How far, in sizes of the box, a wrong side is from the right one."""
_ANYWHERE: Final = 0.3
"""How far, in sizes of the box, a made-up prediction is from an invented ground truth box that it touches."""
_OUTLIER: Final = 3.0
"""Deviations below this on all sides are usual."""
_FAR_OUT: Final = 5.0
_FARTHEST: Final = 30.0
"""A usual deviation is never so large."""
_BAD_SCALE: Final = 6.0
_COINCIDENCE: Final = 0.02
"""How often a made-up prediction lies at an invented box."""
_ENOUGH: Final = 20
_PAGE: Final = 5.0
"""A page is as hard as all pages with the weight of so many boxes."""
OVERLAP_EDGES: Final = np.array([0.1, 0.3, 0.6, 0.85, 0.97])
OVERLAP_BINS: Final = len(OVERLAP_EDGES) + 1


class Behaviour(NamedTuple):
    """The laws of one model where the ground truth is right.

    `miss`: how often a box of each label is not found, (labels,). By score bin: `flip`, `bad`, how often a prediction
    has a wrong label or is drawn badly; `real`, `junk`, shares of right predictions and of those at no box.
    `bad_scale`: bad over usual deviation of a side. `coincidence`: how often a made-up prediction is at a place by
    chance.
    """

    miss: FloatArray
    flip: FloatArray
    bad: FloatArray
    bad_scale: float
    real: FloatArray
    junk: FloatArray
    coincidence: float


class BoxErrors(NamedTuple):
    """Probabilities of each error at each of G ground truth boxes, and the laws that gave them.

    `best_label`: the most likely label other than its own. `moved`: bool (G, 4), the sides likelier wrong than right if
    the border is wrong. `covered`: how far other ground truth boxes claim the place.
    """

    extra: FloatArray
    label: FloatArray
    border: FloatArray
    best_label: IntArray
    moved: BoolArray
    behaviours: tuple[Behaviour, ...]
    covered: FloatArray

    @property
    def wrong(self) -> FloatArray:
        """Probability of any error, float64, shape (G,)."""
        return np.minimum(self.extra + self.label + self.border, 1.0)


class _Plain(NamedTuple):
    """Counts over the boxes at which every model shows what is usual.

    For each model: `labels`, boxes by label that it found although it need not have; `bins`, its predictions there by
    score. `overlap`: by overlap bin.
    """

    labels: list[FloatArray]
    bins: list[FloatArray]
    overlap: FloatArray


class _Odds(NamedTuple):
    """Log ratio of what is seen under each kind of error to what is seen when the box is right."""

    extra: FloatArray
    label: FloatArray
    border: FloatArray
    best_label: IntArray
    borders: _Borders


def box_errors(
    truth: Columns, seen: Sequence[ModelEvidence], look: FloatArray, covered: FloatArray, *, together: float
) -> BoxErrors:
    """Return the probability of each error of each ground truth box.

    `seen`: one or two models. `look`: float64 (G, labels), log density of each box under each label. `covered`: how far
    other ground truth boxes claim the place. `together`: see `dependence`. Where no model looked, all are 0.
    """
    labels = look.shape[1]
    overlap = binned(covered, OVERLAP_EDGES)
    odd, plain = _sorted_out(truth, seen, overlap, labels)
    rounds = _rounds(
        truth.take(odd), [each.at(odd) for each in seen], look[odd], overlap[odd], plain, together=together
    )
    zeros = np.zeros((3, len(truth.page)))
    for row, values in zip(zeros, (rounds.extra, rounds.label, rounds.border), strict=True):
        row[odd] = values
    # Where nobody looked nothing is known.
    zeros[:, ~np.logical_or.reduce([each.looked for each in seen])] = 0.0
    best_label, moved = truth.label.copy(), np.zeros((len(truth.page), 4), dtype=bool)
    best_label[odd], moved[odd] = rounds.best_label, rounds.moved
    return BoxErrors(zeros[0], zeros[1], zeros[2], best_label, moved, rounds.behaviours, covered)


def _sorted_out(
    truth: Columns, seen: Sequence[ModelEvidence], overlap: IntArray, labels: int
) -> tuple[IntArray, _Plain]:
    usual = np.logical_or.reduce([each.hit for each in seen]) & (overlap < OVERLAP_BINS - 2)
    for each in seen:
        usual &= ~each.looked | (each.hit & each.same & ~_far(each))
    rest = np.flatnonzero(usual)
    of_labels, bins = [], []
    for model, each in enumerate(seen):
        there = rest[_there(seen, model)[rest]]
        of_labels.append(np.bincount(truth.label[there], minlength=labels).astype(np.float64))
        bins.append(np.bincount(each.bin[rest[each.hit[rest]]], minlength=SCORE_BINS).astype(np.float64))
    counts = np.bincount(overlap[rest], minlength=OVERLAP_BINS).astype(np.float64)
    return np.flatnonzero(~usual), _Plain(of_labels, bins, counts)


def _there(seen: Sequence[ModelEvidence], model: int) -> BoolArray:
    """Return the boxes that show how often a model misses: of two models those the other one found."""
    each = seen[model]
    if len(seen) == 1:
        return each.looked
    both = each.looked & seen[1 - model].looked
    return both & seen[1 - model].hit if both.any() else each.looked


def _rounds(
    truth: Columns,
    seen: Sequence[ModelEvidence],
    look: FloatArray,
    overlap: IntArray,
    plain: _Plain,
    *,
    together: float,
) -> BoxErrors:
    """Return the probabilities of the boxes with anything unusual."""
    boxes = len(look) + int(plain.overlap.sum())
    none, some = np.ones(len(look), dtype=bool), np.zeros(len(look), dtype=bool)
    for each in seen:
        none &= ~each.hit & each.looked
        some |= each.hit
    share = _start(seen, plain, overlap[none], overlap[some], boxes)
    far = [_far(each) for each in seen]
    outliers = np.flatnonzero(np.logical_or.reduce(far))
    places = _Places(
        truth=truth,
        seen=seen,
        look=look,
        overlap=overlap,
        none=none,
        some=np.flatnonzero(some),
        outliers=outliers,
        sides=_sides(seen, outliers),
        candidates=_candidates(truth, seen, look),
        models=[_at_hits(truth, seen, model) for model in range(len(seen))],
        together=together,
        crowded=np.maximum(np.bincount(truth.page, none, minlength=1)[truth.page] - 2.0, 0.0),
    )
    state = _State(
        right=np.ones(len(look)),
        doubt=none.astype(np.float64),
        bad=[each.astype(np.float64) for each in far],
        bad_scale=[_BAD_SCALE] * len(seen),
        share=share,
    )
    for _turn in range(_ROUNDS):
        laws = tuple(_behaviour(places, plain, model, state) for model in range(len(seen)))
        odds = _odds(places, plain, laws, state)
        extra, label, border = _probabilities(odds, state.share)
        right = within(1.0 - extra - label - border, 0.0, 1.0)
        share = state.share
        if len(seen) == 2:
            # One model cannot tell its own mistakes from those of the ground truth by agreement; its shares are kept.
            share = within(np.array([extra.sum(), label.sum(), border.sum()]) / max(boxes, 1), _LEAST, _MOST)
        bad = [np.zeros(len(look)) for _ in seen]
        for values, drawn in zip(bad, odds.borders.bad, strict=True):
            values[outliers] = drawn
        scales = [
            _bad_scale(each, (values * right)[each.rows], before)
            for each, values, before in zip(places.models, bad, state.bad_scale, strict=True)
        ]
        state = _State(right, extra * none, bad, scales, share)
    moved = np.zeros((len(look), 4), dtype=bool)
    moved[outliers] = odds.borders.moved
    return BoxErrors(extra, label, border, odds.best_label, moved, laws, np.empty(0))


def _probabilities(odds: _Odds, share: FloatArray) -> FloatArray:
    """Return the probability of extra, label and border errors, float64, shape (3, G)."""
    logs = np.log(share)[:, None] + np.array([odds.extra, odds.label, odds.border])
    top = np.maximum(logs.max(axis=0, initial=-np.inf), 0.0)
    weights = np.exp(logs - top)
    return np.asarray(weights / (np.exp(-top) * (1.0 - share.sum()) + weights.sum(axis=0)))


def _of_none(places: _Places, laws: Sequence[Behaviour], extra: FloatArray) -> FloatArray:
    of_labels = [law.miss for law in laws]
    independent = np.prod(of_labels, axis=0)
    shared = (independent + places.together * (np.min(of_labels, axis=0) - independent))[places.truth.label]
    independent = independent[places.truth.label]
    crowded = (places.crowded + _PAGE * shared) / (places.crowded + _PAGE)
    return np.asarray(extra + np.log(independent) - np.log(np.maximum(shared, crowded)))


def _less_shared(value: FloatArray, places: _Places, laws: Sequence[Behaviour], rows: IntArray) -> None:
    """Lower the evidence for a label that both models say in some rows: a possible shared mistake."""
    if not places.together or not len(rows):
        return
    first, second = (law.flip[each.bin[rows]] for each, law in zip(places.seen, laws, strict=True))
    # Odds against: the label of both by independent mistakes, or by one mistake that they share.
    shared = places.together * np.minimum(first, second) / ((1.0 - first) * (1.0 - second))
    value[rows] = -np.logaddexp(-value[rows], np.log(np.maximum(shared, 1e-300)))


class _State(NamedTuple):
    """What one round passes to the next.

    `right`: probability that a box is right. `doubt`: that one no model found was never there. `bad`: for each model,
    that it drew badly. `share`: of extra, label and border errors.
    """

    right: FloatArray
    doubt: FloatArray
    bad: list[FloatArray]
    bad_scale: list[float]
    share: FloatArray


class _AtHits(NamedTuple):
    """What one model shows at the H boxes that it found (`rows`), the same in all rounds.

    `other_label`: 1 for another label. `square`: sum of squared deviations. `anywhere`: their log density at an
    invented box. `own`: int64 (G,), see `_label_place`. `there...`: the boxes that show how often it misses, their
    labels, and 1 where it missed. `junk`: score law of predictions at no box.
    """

    rows: IntArray
    bin: IntArray
    label: IntArray
    other_label: FloatArray
    square: FloatArray
    anywhere: FloatArray
    own: IntArray
    there: IntArray
    there_label: IntArray
    there_missed: FloatArray
    junk: FloatArray


def _at_hits(truth: Columns, seen: Sequence[ModelEvidence], model: int) -> _AtHits:
    each = seen[model]
    rows, there = np.flatnonzero(each.hit), np.flatnonzero(_there(seen, model))
    z = _weighed(each.jitter.z, rows)
    broad = (_ANYWHERE / max(each.jitter.relative, 1e-4)) ** 2
    return _AtHits(
        rows=rows,
        bin=each.bin[rows],
        label=truth.label[rows],
        other_label=(~each.same[rows]).astype(np.float64),
        square=(z**2).sum(axis=0),
        anywhere=(-0.5 * (z**2 / broad + np.log(broad))).sum(axis=0),
        own=_label_place(each, truth.label),
        there=there,
        there_label=truth.label[there],
        there_missed=(~each.hit[there]).astype(np.float64),
        junk=histogram(each.bins[each.alone], SCORE_BINS),
    )


class _Candidate(NamedTuple):
    """A label that each box may have instead of its own.

    `prior`: the evidence of the look alone. `label_place`: for each model, see `_label_place`. `repeated`: rows
    where the label is the box's own, or of a candidate before. `both`: rows where both models say it.
    """

    label: IntArray
    prior: FloatArray
    label_place: list[IntArray]
    repeated: IntArray
    both: IntArray


class _Places(NamedTuple):
    """What is known of the boxes in all rounds; `crowded`: other boxes of the page that no model found, minus one."""

    truth: Columns
    seen: Sequence[ModelEvidence]
    look: FloatArray
    overlap: IntArray
    none: BoolArray
    some: IntArray
    outliers: IntArray
    sides: _Sides
    candidates: list[_Candidate]
    models: list[_AtHits]
    together: float
    crowded: FloatArray


def _odds(places: _Places, plain: _Plain, laws: Sequence[Behaviour], state: _State) -> _Odds:
    truth, seen, overlap = places.truth, places.seen, places.overlap
    rows, some = len(overlap), places.some
    own = places.look[np.arange(rows), truth.label]
    invented = histogram(overlap, OVERLAP_BINS, state.doubt)
    usual = histogram(overlap[some], OVERLAP_BINS, state.right[some], base=plain.overlap)
    # An invented box may look like one of its label, or like anything.
    extra = np.log(invented / usual)[overlap] + log_sum(np.zeros(rows), -own) - np.log(2.0)
    for each, at, law in zip(seen, places.models, laws, strict=True):
        extra += _present(truth, each, at, law)
    extra[places.none] = np.minimum(extra, _of_none(places, laws, extra))[places.none]
    tables = [_log_label(law, places.look.shape[1]) for law in laws]
    label, best = np.full(rows, _NEVER), places.candidates[0].label
    for candidate in places.candidates:
        value = candidate.prior.copy()
        for table, label_place, at in zip(tables, candidate.label_place, places.models, strict=True):
            value += table[label_place] - table[at.own]
        _less_shared(value, places, laws, candidate.both)
        value[candidate.repeated] = _NEVER
        best = np.where(value > label, candidate.label, best)
        label = log_sum(label, value)
    borders = _borders(places.sides, laws, places.together)
    border = np.full(rows, _NEVER)
    border[places.outliers] = borders.log_ratio
    return _Odds(extra, label, border, best, borders)


def _bad_scale(at: _AtHits, weight: FloatArray, before: float) -> float:
    """Return the usual deviation of badly drawn sides; `weight`: how likely each is drawn badly."""
    total = float(weight.sum())
    if total < 5.0:
        return before
    return float(np.clip(np.sqrt((weight @ at.square) / (4.0 * total)), 3.0, 15.0))


def _weighed(z: FloatArray, rows: IntArray) -> FloatArray:
    """Return the deviations of some boxes, clipped so that none outweighs all else."""
    return within(z.take(rows, axis=1), -_FARTHEST, _FARTHEST)


def _far(each: ModelEvidence, limit: float = _OUTLIER) -> BoolArray:
    return np.asarray(np.abs(each.jitter.z).max(axis=0) > limit)


def _candidates(truth: Columns, seen: Sequence[ModelEvidence], look: FloatArray) -> list[_Candidate]:
    """Return alternative labels: those that the models say, and the one that a box looks like."""
    rows, labels = np.arange(len(look)), look.shape[1]
    others = look.copy()
    others[rows, truth.label] = -np.inf
    own = look[rows, truth.label]
    candidates: list[_Candidate] = []
    for label in [*(each.label for each in seen), others.argmax(axis=1).astype(np.int64)]:
        repeated = label == truth.label
        for before in candidates:
            repeated |= label == before.label
        both = np.logical_and.reduce([each.hit & (each.label == label) for each in seen])
        candidates.append(
            _Candidate(
                label=label,
                prior=look[rows, label] - own - np.log(max(labels - 1, 1)),
                label_place=[_label_place(each, label) for each in seen],
                repeated=np.flatnonzero(repeated),
                both=np.flatnonzero(both) if len(seen) == 2 else np.zeros(0, dtype=np.int64),
            )
        )
    return candidates


def _start(
    seen: Sequence[ModelEvidence], plain: _Plain, overlap_none: IntArray, overlap_some: IntArray, boxes: int
) -> FloatArray:
    if len(seen) == 2:
        return np.full(3, _START)
    (each,) = seen
    quarter = plain.bins[0][(SCORE_BINS * 3) // 4 :].sum()
    surest = each.hit & (each.bin >= (SCORE_BINS * 3) // 4)
    number = max(quarter + surest.sum(), 1.0)
    label = (surest & ~each.same).sum() / number
    border = (surest & each.same & _far(each, _FAR_OUT)).sum() / number
    # Boxes that were only missed lie like those that were found; what lies otherwise was never there.
    missed = histogram(overlap_none, OVERLAP_BINS)
    hits = histogram(overlap_some, OVERLAP_BINS, base=plain.overlap)
    ratio = float((missed / hits)[hits * len(overlap_none) >= _ENOUGH].min(initial=1.0))
    extra = (1.0 - ratio) * len(overlap_none) / max(boxes, 1)
    return within(np.array([extra, label, border]), _LEAST, _MOST)


def _behaviour(places: _Places, plain: _Plain, model: int, state: _State) -> Behaviour:
    """Return the laws of one model, measured where the ground truth is likely right."""
    right, share, at = state.right, state.share, places.models[model]
    weight, base = right[at.rows], plain.bins[model]
    flip = rates(at.bin, at.other_label, weight, base=base, falling=True)
    drawn = rates(at.bin, state.bad[model][at.rows], weight, base=base, falling=True)
    if len(places.seen) == 1:
        flip, drawn = (flip - share[1]) / (1.0 - share[1]), (drawn - share[2]) / (1.0 - share[2])
    miss = rates(at.there_label, at.there_missed, right[at.there], base=plain.labels[model])
    return Behaviour(
        miss=within(miss, 1e-3, 0.999),
        flip=within(flip, _LEAST, 0.9),
        bad=within(drawn, 1e-4, 0.9),
        bad_scale=state.bad_scale[model],
        real=histogram(at.bin, SCORE_BINS, weight, base=base),
        junk=at.junk,
        coincidence=_COINCIDENCE,
    )


def _present(truth: Columns, each: ModelEvidence, at: _AtHits, law: Behaviour) -> FloatArray:
    """Return the log ratio of what a model shows for an invented and a right box, without the label."""
    missing = np.log((1.0 - law.coincidence) / law.miss)
    value = np.where(each.looked, missing[truth.label], 0.0)
    shown = np.log(law.coincidence / (1.0 - law.miss))[at.label] + np.log(law.junk / law.real)[at.bin]
    value[at.rows] = shown + at.anywhere - _mixed(at, law)
    return value


def _mixed(at: _AtHits, law: Behaviour) -> FloatArray:
    """Return the log density of deviations from a right border, float64, shape (H,)."""
    good = np.log1p(-law.bad)[at.bin] - 0.5 * at.square
    badly = np.log(law.bad)[at.bin] - 0.5 * at.square / law.bad_scale**2 - 4.0 * np.log(law.bad_scale)
    return log_sum(good, badly)


def _log_label(law: Behaviour, labels: int) -> FloatArray:
    """Return the log probability of the label that a model says, at the places of `_label_place`."""
    return np.concatenate([np.log(law.flip / max(labels - 1, 1)), np.log1p(-law.flip), [0.0]])


def _label_place(each: ModelEvidence, label: IntArray) -> IntArray:
    """Return the place in the table of `_log_label` if these labels are right, int64."""
    # By score bin, another label before the right one; the last place is for a model that says nothing.
    return np.where(each.hit, each.bin + SCORE_BINS * (each.label == label), 2 * SCORE_BINS)


class _Sides(NamedTuple):
    """Deviations of the sides of some boxes in each model, and which models found them; see `_borders`.

    `z`: float64 (4, N) for each model. `shift`: variance of the shift of a wrong side.
    """

    z: list[FloatArray]
    hit: list[BoolArray]
    bin: list[IntArray]
    shift: float


def _sides(seen: Sequence[ModelEvidence], rows: IntArray) -> _Sides:
    return _Sides(
        z=[_weighed(each.jitter.z, rows) for each in seen],
        hit=[each.hit[rows] for each in seen],
        bin=[each.bin[rows] for each in seen],
        shift=(_SHIFT / max(np.median([each.jitter.relative for each in seen]), 1e-4)) ** 2,
    )


class _Borders(NamedTuple):
    """For some boxes: log ratio of a wrong border, wrong sides, and how likely each model drew badly."""

    log_ratio: FloatArray
    moved: BoolArray
    bad: list[FloatArray]


def _borders(sides: _Sides, laws: Sequence[Behaviour], together: float) -> _Borders:
    """Return the evidence for a wrong border.

    Right: both deviations are independent. Wrong: each side is wrong with probability `_MOVED`, and adds one normal
    shift to both, so that they have the covariance of its variance. Drawing well or badly is summed out: an axis of two
    for each model, before those of sides and boxes.
    """
    models, hit, rows = len(sides.z), sides.hit, len(sides.hit[0])
    prior, still, variances = np.zeros(1), np.zeros(1), []
    for model, (z, law) in enumerate(zip(sides.z, laws, strict=True)):
        bad = np.where(hit[model], law.bad[sides.bin[model]], 0.5)
        prior = prior + _along(np.log(np.array([1.0 - bad, bad])), model, models)
        variance = np.array([1.0, law.bad_scale**2])[:, None, None]
        still = still + _along(hit[model] * -0.5 * (z**2 / variance + np.log(variance)), model, models)
        variances.append(_along(variance, model, models))
    moving, staying = np.log(_MOVED) + _shifted(sides, variances), np.log1p(-_MOVED) + still
    side = log_sum(staying, moving)
    right = (prior + still.sum(axis=-2)).reshape(2**models, rows)
    wrong = (prior + side.sum(axis=-2)).reshape(2**models, rows)
    moved = (moving > staying).reshape(2**models, 4, rows)
    if together:
        # Both may have made the same mistake about a right border.
        flips = [np.where(there, law.bad[bins], 0.5) for there, law, bins in zip(hit, laws, sides.bin, strict=True)]
        shared = np.log(together * np.minimum(*flips)) + wrong[0]
        right = np.vstack([right, np.where(hit[0] & hit[1], shared, _NEVER)])
    total_right, total_wrong = log_total(right), log_total(wrong)
    likeliest = wrong.argmax(axis=0) if rows else np.zeros(0, dtype=np.int64)
    chance = np.exp(right[: 2**models] - total_right).reshape((2,) * models + (rows,))
    drawn = [
        there * np.moveaxis(chance, model, 0)[1].reshape(models, rows).sum(axis=0) for model, there in enumerate(hit)
    ]
    return _Borders(total_wrong - total_right, moved[likeliest, :, np.arange(rows)], drawn)


def _along(values: FloatArray, model: int, models: int) -> FloatArray:
    """Return the values with their first axis, well or badly drawn, as the one of a model."""
    if models == 1:
        return values
    return values[:, None] if model == 0 else values[None]


def _shifted(sides: _Sides, variances: Sequence[FloatArray]) -> FloatArray:
    """Return the log density of a wrong side's deviations, float64, shape (2 for each model, 4, N)."""
    hit, shift = sides.hit, sides.shift
    alone = [
        -0.5 * (z**2 / (variance + shift) + np.log(variance + shift))
        for z, variance in zip(sides.z, variances, strict=True)
    ]
    if len(alone) == 1:
        return np.asarray(alone[0])
    (first, second), (a, b) = sides.z, variances
    determinant = a * b + shift * (a + b)
    quadratic = ((b + shift) * first**2 + (a + shift) * second**2 - 2.0 * shift * first * second) / determinant
    both = -0.5 * (quadratic + np.log(determinant))
    return np.where(hit[0] & hit[1], both, np.where(hit[0], alone[0], np.where(hit[1], alone[1], 0.0)))
