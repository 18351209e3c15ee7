"""How likely each ground truth box is wrong: its label, its border, or that it is there at all.

Owns the probabilities of what the models show at a ground truth box under "right" and under each kind of error, and the
estimate of how often each kind occurs. The laws of a model (how often it misses, says another label, draws badly) are
measured on the boxes in proportion to how likely these are right, which is a few rounds of expectation maximisation.

Sides of a box: the deviation of a model from a right border is a mixture of a usual one (1 after division by the scale)
and a bad one, whose share depends on the score; a wrong border adds the same unknown shift for both models to some of
the sides. Two models that deviate in the same direction by the same amount therefore say "border", two that deviate
differently say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.suspects.evidence import Seen, dependence
from evaluator.suspects.laws import SCORE_BINS, histogram, rates
from evaluator.suspects.pairing import Columns

_ROUNDS: Final = 3
_START: Final = 0.02
"""Share of each kind of error before anything is seen."""
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

    Attributes
    ----------
    miss : float64, shape (labels,)
        How often a box of each label is not found.
    flip : float64, shape (SCORE_BINS,)
        How often a prediction has the wrong label.
    bad : float64, shape (SCORE_BINS,)
        How often a prediction is drawn badly.
    bad_scale : float
        Usual deviation of a badly drawn side over that of a side.
    real, junk : float64, shape (SCORE_BINS,)
        Scores of predictions that are right, and of those at no ground truth box.
    coincidence : float
        How often a made-up prediction lies at a place by chance.
    """

    miss: FloatArray
    flip: FloatArray
    bad: FloatArray
    bad_scale: float
    real: FloatArray
    junk: FloatArray
    coincidence: float


class AtBoxes(NamedTuple):
    """Probabilities of each ground truth box, and the laws that gave them.

    Attributes
    ----------
    extra, label, border : float64, shape (G,)
        Probability of each error.
    best_label : int64, shape (G,)
        The label it should have most likely, another than its own.
    moved : bool, shape (G, 4)
        Which sides are likelier wrong than right, if the border is wrong.
    behaviours : tuple of Behaviour
    covered : float64, shape (G,)
        How far other ground truth boxes claim the place.
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
    """Counts over the boxes at which every model shows what is usual: nothing about them is in doubt.

    Attributes
    ----------
    labels : list of float64, shape (labels,)
        For each model, boxes that it found although it need not have.
    bins : list of float64, shape (SCORE_BINS,)
        For each model, its predictions there by score.
    overlap : float64, shape (OVERLAP_BINS,)
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


def weigh(truth: Columns, seen: Sequence[Seen], look: FloatArray, covered: FloatArray) -> AtBoxes:
    """The probability of each error of each ground truth box.

    Parameters
    ----------
    truth : Columns
    seen : sequence of Seen
        What one or two models show.
    look : float64, shape (G, labels)
        Log density of each box under each label.
    covered : float64, shape (G,)
        How far other ground truth boxes claim the place.
    """
    labels = look.shape[1]
    overlap = np.searchsorted(OVERLAP_EDGES, covered, side="right")
    odd, plain = _sorted_out(truth, seen, overlap, labels)
    rounds = _rounds(
        truth.take(odd),
        [each.at(odd) for each in seen],
        look[odd],
        overlap[odd],
        plain,
        together=dependence(truth, seen),
    )
    zeros = np.zeros((3, len(truth.page)))
    for row, values in zip(zeros, (rounds.extra, rounds.label, rounds.border), strict=True):
        row[odd] = values
    # Where nobody looked nothing is known.
    zeros[:, ~np.logical_or.reduce([each.looked for each in seen])] = 0.0
    best_label, moved = truth.label.copy(), np.zeros((len(truth.page), 4), dtype=bool)
    best_label[odd], moved[odd] = rounds.best_label, rounds.moved
    return AtBoxes(zeros[0], zeros[1], zeros[2], best_label, moved, rounds.behaviours, covered)


def _sorted_out(truth: Columns, seen: Sequence[Seen], overlap: IntArray, labels: int) -> tuple[IntArray, _Plain]:
    """Rows of the boxes about which anything is odd, and the counts over the rest."""
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


def _there(seen: Sequence[Seen], model: int) -> BoolArray:
    """The boxes by which it is seen how often a model misses: of two models those that the other one found."""
    each = seen[model]
    if len(seen) == 1:
        return each.looked
    both = each.looked & seen[1 - model].looked
    return both & seen[1 - model].hit if both.any() else each.looked


def _rounds(
    truth: Columns, seen: Sequence[Seen], look: FloatArray, overlap: IntArray, plain: _Plain, *, together: float
) -> AtBoxes:
    """The probabilities of the boxes about which anything is odd."""
    boxes = len(look) + int(plain.overlap.sum())
    none, some = np.ones(len(look), dtype=bool), np.zeros(len(look), dtype=bool)
    for each in seen:
        none &= ~each.hit & each.looked
        some |= each.hit
    share = _start(seen, plain, overlap[none], overlap[some], boxes)
    outliers = np.flatnonzero(np.logical_or.reduce([_far(each) for each in seen]))
    candidates, beside = _candidates(truth, seen, look), _missed_beside(truth, none)
    places = _Places(truth, seen, look, overlap, none, some, outliers, candidates, together, beside)
    state = _State(
        right=np.ones(len(look)),
        doubt=none.astype(np.float64),
        bad=[_far(each).astype(np.float64) for each in seen],
        bad_scale=[_BAD_SCALE] * len(seen),
        share=share,
    )
    for _turn in range(_ROUNDS):
        laws = tuple(_behaviour(places, plain, model, state) for model in range(len(seen)))
        odds = _odds(places, plain, laws, state)
        extra, label, border = _probabilities(odds, state.share)
        right = np.clip(1.0 - extra - label - border, 0.0, 1.0)
        share = state.share
        if len(seen) == 2:
            # One model cannot tell its own mistakes from those of the ground truth by agreement; its shares are kept.
            share = np.clip(np.array([extra.sum(), label.sum(), border.sum()]) / max(boxes, 1), _LEAST, _MOST)
        bad = [np.zeros(len(look)) for _ in seen]
        for values, drawn in zip(bad, odds.borders.bad, strict=True):
            values[outliers] = drawn
        scales = [
            _bad_scale(each, values * right, before)
            for each, values, before in zip(seen, bad, state.bad_scale, strict=True)
        ]
        state = _State(right, extra * none, bad, scales, share)
    moved = np.zeros((len(look), 4), dtype=bool)
    moved[outliers] = odds.borders.moved
    return AtBoxes(extra, label, border, odds.best_label, moved, laws, np.empty(0))


def _probabilities(odds: _Odds, share: FloatArray) -> FloatArray:
    """Probability of an extra box, a wrong label and a wrong border, float64, shape (3, G)."""
    logs = np.log(share)[:, None] + np.array([odds.extra, odds.label, odds.border])
    top = np.maximum(logs.max(axis=0, initial=-np.inf), 0.0)
    weights = np.exp(logs - top)
    return np.asarray(weights / (np.exp(-top) * (1.0 - share.sum()) + weights.sum(axis=0)))


def _missed_beside(truth: Columns, none: BoolArray) -> FloatArray:
    """How many other boxes of the page no model found, less one; the oddity of one page is not that of each box."""
    missed = np.bincount(truth.page, none, minlength=1)
    return np.asarray(np.maximum(missed[truth.page] - 2.0, 0.0))


def _of_none(places: _Places, laws: Sequence[Behaviour], extra: FloatArray) -> FloatArray:
    """The evidence for an extra box where no model found one, if models miss together and pages are hard as a whole."""
    misses = [law.miss[places.truth.label] for law in laws]
    independent = np.prod(misses, axis=0)
    shared = independent + places.together * (np.min(misses, axis=0) - independent)
    crowded = (places.crowded + _PAGE * shared) / (places.crowded + _PAGE)
    return np.asarray(extra + np.log(independent) - np.log(np.maximum(shared, crowded)))


def _less_shared(value: FloatArray, places: _Places, laws: Sequence[Behaviour], candidate: IntArray) -> FloatArray:
    """The evidence for a label that both models say, if they may have mistaken it together."""
    if not places.together:
        return value
    first, second = places.seen
    both = first.hit & second.hit & (first.label == candidate) & (second.label == candidate)
    flips = [law.flip[each.bin] for each, law in zip(places.seen, laws, strict=True)]
    # Odds against: the label of both by independent mistakes, or by one mistake that they share.
    shared = places.together * np.minimum(*flips) / ((1.0 - flips[0]) * (1.0 - flips[1]))
    return np.where(both, -np.logaddexp(-value, np.log(np.maximum(shared, 1e-300))), value)


class _State(NamedTuple):
    """What one round leaves to the next.

    Attributes
    ----------
    right : float64, shape (G,)
        Probability that a box is right.
    doubt : float64, shape (G,)
        Probability that a box that no model found was never there.
    bad : list of float64, shape (G,)
        For each model, the probability that it drew badly.
    bad_scale : list of float
    share : float64, shape (3,)
        Of extra, label and border errors.
    """

    right: FloatArray
    doubt: FloatArray
    bad: list[FloatArray]
    bad_scale: list[float]
    share: FloatArray


class _Places(NamedTuple):
    """What stays the same over the rounds."""

    truth: Columns
    seen: Sequence[Seen]
    look: FloatArray
    overlap: IntArray
    none: BoolArray
    some: BoolArray
    outliers: IntArray
    candidates: list[IntArray]
    together: float
    crowded: FloatArray


def _odds(places: _Places, plain: _Plain, laws: Sequence[Behaviour], state: _State) -> _Odds:
    """The evidence for each kind of error at each box."""
    truth, seen, look, overlap = places.truth, places.seen, places.look, places.overlap
    rows, labels = np.arange(len(look)), look.shape[1]
    own = look[rows, truth.label]
    invented = histogram(overlap, OVERLAP_BINS, state.doubt)
    usual = histogram(overlap[places.some], OVERLAP_BINS, state.right[places.some], base=plain.overlap)
    # An invented box may look like one of its label, or like anything.
    extra = np.log(invented / usual)[overlap] + np.logaddexp(0.0, -own) - np.log(2.0)
    for each, law in zip(seen, laws, strict=True):
        extra += _present(truth, each, law)
    extra[places.none] = np.minimum(extra, _of_none(places, laws, extra))[places.none]
    label, best = np.full(len(rows), -np.inf), places.candidates[0]
    for place, candidate in enumerate(places.candidates):
        value = look[rows, candidate] - own - np.log(max(labels - 1, 1))
        for each, law in zip(seen, laws, strict=True):
            value += _says(each, law, candidate, truth.label, labels)
        value = _less_shared(value, places, laws, candidate)
        repeated = candidate == truth.label
        for before in places.candidates[:place]:
            repeated |= candidate == before
        value[repeated] = -np.inf
        best = np.where(value > label, candidate, best)
        label = np.logaddexp(label, value)
    borders = _borders(seen, laws, places.outliers, places.together)
    border = np.full(len(rows), -np.inf)
    border[places.outliers] = borders.log_ratio
    return _Odds(extra, label, border, best, borders)


def _bad_scale(each: Seen, weight: FloatArray, before: float) -> float:
    """The usual deviation of badly drawn sides."""
    weight = weight * each.hit
    total = float(weight.sum())
    if total < 5.0:
        return before
    return float(np.clip(np.sqrt((weight @ (each.jitter.z**2)).sum() / (4.0 * total)), 3.0, 15.0))


def _far(each: Seen, limit: float = _OUTLIER) -> BoolArray:
    """Where a prediction deviates on some side by more than the usual."""
    z = each.jitter.z
    return np.asarray(np.maximum(z.max(axis=1, initial=-np.inf), -z.min(axis=1, initial=np.inf)) > limit)


def _candidates(truth: Columns, seen: Sequence[Seen], look: FloatArray) -> list[IntArray]:
    """Labels that a box may have instead: those that the models say, and the one that it looks like."""
    others = look.copy()
    others[np.arange(len(look)), truth.label] = -np.inf
    return [*(each.label for each in seen), others.argmax(axis=1).astype(np.int64)]


def _start(
    seen: Sequence[Seen], plain: _Plain, overlap_none: IntArray, overlap_some: IntArray, boxes: int
) -> FloatArray:
    """Shares of extra, label and border errors to begin with."""
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
    return np.asarray(np.clip(np.array([extra, label, border]), _LEAST, _MOST))


def _behaviour(places: _Places, plain: _Plain, model: int, state: _State) -> Behaviour:
    """The laws of one model, measured where the ground truth is likely right."""
    right, share = state.right, state.share
    each = places.seen[model]
    there, hits = _there(places.seen, model), each.hit
    missed = (~each.hit[there]).astype(np.float64)
    bins, weight, base = each.bin[hits], right[hits], plain.bins[model]
    flip = rates(bins, (~each.same[hits]).astype(np.float64), weight, base=base, falling=True)
    drawn = rates(bins, state.bad[model][hits], weight, base=base, falling=True)
    if len(places.seen) == 1:
        flip, drawn = (flip - share[1]) / (1.0 - share[1]), (drawn - share[2]) / (1.0 - share[2])
    return Behaviour(
        miss=np.clip(rates(places.truth.label[there], missed, right[there], base=plain.labels[model]), 1e-3, 0.999),
        flip=np.clip(flip, _LEAST, 0.9),
        bad=np.clip(drawn, 1e-4, 0.9),
        bad_scale=state.bad_scale[model],
        real=histogram(bins, SCORE_BINS, weight, base=base),
        junk=histogram(each.bins[each.alone], SCORE_BINS),
        coincidence=_COINCIDENCE,
    )


def _present(truth: Columns, each: Seen, law: Behaviour) -> FloatArray:
    """Log ratio of what a model shows for an invented box to what it shows for a right one, without the label."""
    value = np.where(each.looked, np.log((1.0 - law.coincidence) / law.miss[truth.label]), 0.0)
    hit = each.hit
    z = each.jitter.z[hit]
    usual = _mixed(z, law, law.bad[each.bin[hit]])
    broad = (_ANYWHERE / max(each.jitter.relative, 1e-4)) ** 2
    anywhere = (-0.5 * (z**2 / broad + np.log(broad))).sum(axis=1)
    value[hit] = (
        np.log(law.coincidence / (1.0 - law.miss[truth.label[hit]]))
        + np.log(law.junk / law.real)[each.bin[hit]]
        + anywhere
        - usual
    )
    return value


def _mixed(z: FloatArray, law: Behaviour, bad: FloatArray) -> FloatArray:
    """Log density of deviations from a right border, float64, shape (N,)."""
    square = (z**2).sum(axis=1)
    good = np.log1p(-bad) - 0.5 * square
    badly = np.log(bad) - 0.5 * square / law.bad_scale**2 - 4.0 * np.log(law.bad_scale)
    return np.asarray(np.logaddexp(good, badly))


def _says(each: Seen, law: Behaviour, candidate: IntArray, own: IntArray, labels: int) -> FloatArray:
    """Log ratio of the label that a model says if the right one is the candidate to what it says if it is its own."""
    right, wrong = np.log1p(-law.flip), np.log(law.flip / max(labels - 1, 1))
    said_candidate, said_own = each.label == candidate, each.label == own
    value = np.where(said_candidate, right[each.bin], wrong[each.bin])
    value -= np.where(said_own, right[each.bin], wrong[each.bin])
    return np.where(each.hit, value, 0.0)


class _Borders(NamedTuple):
    """Some boxes: log ratio of a wrong border, which sides are wrong, and how likely each model drew badly."""

    log_ratio: FloatArray
    moved: BoolArray
    bad: list[FloatArray]


def _borders(seen: Sequence[Seen], laws: Sequence[Behaviour], rows: IntArray, together: float) -> _Borders:
    """The evidence for a wrong border.

    Returns
    -------
    _Borders
        For a right border both deviations are independent. For a wrong one each side is wrong with probability
        `_MOVED`; a wrong side adds one normal shift to both deviations, so that they have the covariance of its
        variance. Good and bad drawing are summed out over both models.
    """
    z = [each.jitter.z[rows] for each in seen]
    hit = [each.hit[rows] for each in seen]
    shift = (_SHIFT / max(np.median([each.jitter.relative for each in seen]), 1e-4)) ** 2
    bad = [np.where(there, law.bad[each.bin[rows]], 0.5) for each, law, there in zip(seen, laws, hit, strict=True)]
    combinations = [(first,) for first in (0, 1)] if len(seen) == 1 else [(a, b) for a in (0, 1) for b in (0, 1)]
    log_right, log_wrong, moved = [], [], []
    for combination in combinations:
        prior = np.zeros(len(rows))
        variances = []
        for model, drawn_badly in enumerate(combination):
            prior += np.log(bad[model] if drawn_badly else 1.0 - bad[model])
            variances.append(laws[model].bad_scale ** 2 if drawn_badly else 1.0)
        still = sum(
            there[:, None] * -0.5 * (values**2 / variance + np.log(variance))
            for values, there, variance in zip(z, hit, variances, strict=True)
        )
        shifted = _shifted(z, hit, variances, shift)
        side = np.logaddexp(np.log1p(-_MOVED) + still, np.log(_MOVED) + shifted)
        log_right.append(prior + np.sum(still, axis=1))
        log_wrong.append(prior + side.sum(axis=1))
        moved.append(np.log(_MOVED) + shifted > np.log1p(-_MOVED) + still)
    right, wrong = np.array(log_right), np.array(log_wrong)
    if together:
        # Both may have made the same mistake about a right border.
        shared = np.log(together * np.minimum(*bad)) + wrong[0]
        right = np.vstack([right, np.where(hit[0] & hit[1], shared, -np.inf)])
    total_right, total_wrong = np.logaddexp.reduce(right, axis=0), np.logaddexp.reduce(wrong, axis=0)
    likeliest = wrong.argmax(axis=0) if len(rows) else np.zeros(0, dtype=np.int64)
    chance = np.exp(right - total_right)
    drawn = [
        there * sum(chance[place] for place, combination in enumerate(combinations) if combination[model])
        for model, there in enumerate(hit)
    ]
    return _Borders(total_wrong - total_right, np.array(moved)[likeliest, np.arange(len(rows))], drawn)


def _shifted(z: Sequence[FloatArray], hit: Sequence[BoolArray], variances: Sequence[float], shift: float) -> FloatArray:
    """Log density of the deviations of a side that is wrong, float64, shape (N, 4)."""
    alone = [
        -0.5 * (values**2 / (variance + shift) + np.log(variance + shift))
        for values, variance in zip(z, variances, strict=True)
    ]
    if len(z) == 1:
        return np.asarray(alone[0])
    (first, second), (a, b) = z, variances
    determinant = a * b + shift * (a + b)
    quadratic = ((b + shift) * first**2 + (a + shift) * second**2 - 2.0 * shift * first * second) / determinant
    both = -0.5 * (quadratic + np.log(determinant))
    return np.where(
        (hit[0] & hit[1])[:, None], both, np.where(hit[0][:, None], alone[0], np.where(hit[1][:, None], alone[1], 0.0))
    )
