"""Where a ground truth box is likely missing: predictions that lie at no ground truth box, weighed.

Owns the pairing of lone predictions of two models and the probability that an object is there. What an unlabelled
object would look like to the models is known from the labelled ones: their scores, how often the other model misses
them, how well both agree on them, their look, and how far they overlap others. What the models make up is known from
the lone predictions themselves, less those that are likely objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.model.boxes import BoolArray, FloatArray, IntArray, iou
from evaluator.suspects.at_boxes import OVERLAP_BINS, OVERLAP_EDGES, AtBoxes
from evaluator.suspects.evidence import Seen, dependence
from evaluator.suspects.laws import SCORE_BINS, Looks, histogram, surest_rate
from evaluator.suspects.pairing import NOBODY, SAME_OBJECT_IOU, Columns, covered_by_others, partners

_ROUNDS: Final = 3
_AGREEMENT_EDGES: Final = np.array([0.55, 0.7, 0.8, 0.9])
_AGREEMENT_BINS: Final = len(_AGREEMENT_EDGES) + 1
# Two made-up boxes that overlap at all overlap little.
_CHANCE_AGREEMENT: Final = np.array([0.5, 0.25, 0.13, 0.08, 0.04])
_FEW: Final = 0.5
"""Fewer are never expected."""


class Absent(NamedTuple):
    """Places where a box is likely missing, as columns of one length K.

    Attributes
    ----------
    score : float64, shape (K,)
        Probability that an object is there.
    page, label : int64, shape (K,)
    xyxy : float64, shape (K, 4)
        The box that should exist: the middle of both models.
    prediction : int64, shape (K, M)
        Row of each model's prediction; `NOBODY` for none.
    covered : float64, shape (K,)
        How far ground truth boxes claim the place.
    """

    score: FloatArray
    page: IntArray
    label: IntArray
    xyxy: FloatArray
    prediction: IntArray
    covered: FloatArray


class _Lone(NamedTuple):
    """Places where predictions lie at no ground truth box.

    Attributes
    ----------
    rows : int64, shape (K, M)
        Row of each model's prediction; `NOBODY` for none.
    there : bool, shape (K, M)
    both : bool, shape (K,)
        Whether two models are there.
    bins : int64, shape (K, M)
        Score bins; any for none.
    place : Columns
        Box (the middle of both), label and page (of the surer one).
    agreement : int64, shape (K,)
        Bin of the IoU of both; 0 for one alone.
    same : bool, shape (K,)
        Whether both say the same label.
    """

    rows: IntArray
    there: BoolArray
    both: BoolArray
    bins: IntArray
    place: Columns
    agreement: IntArray
    same: BoolArray


def absent(truth: Columns, seen: Sequence[Seen], evidence: AtBoxes, look: Looks, page_size: FloatArray) -> Absent:
    """The probability of an unlabelled object at each lone prediction or pair of them.

    Parameters
    ----------
    evidence : AtBoxes
        The laws of the models, and which ground truth boxes are right.
    look : Looks
    page_size : float64, shape (pages, 2)
        In the unit of the boxes.
    """
    lone = _lone(seen)
    place = lone.place
    covered = covered_by_others(place, truth)
    overlap = np.searchsorted(OVERLAP_EDGES, covered, side="right")
    cells = look.cells(place.xyxy / page_size[place.page][:, [0, 1, 0, 1]])
    right = 1.0 - evidence.wrong
    laid = histogram(np.searchsorted(OVERLAP_EDGES, evidence.covered, side="right"), OVERLAP_BINS, right)
    real = np.log(laid)[overlap] + look.of_label(cells, place.label) + _real(seen, evidence, lone, right)
    probability = np.where(lone.both, 0.8, 0.1)
    count = _objects(seen, evidence, lone)
    chance = _by_chance(seen) if len(seen) == 2 else 0.0
    # What models that err together make up alone would make up together as well.
    chance += dependence(truth, seen) * float(np.min(lone.there.sum(axis=0), initial=len(lone.rows)))
    for _turn in range(_ROUNDS if len(place.page) else 0):
        made_up = 1.0 - probability
        junk = np.log(histogram(overlap, OVERLAP_BINS, made_up))[overlap] + look.other(cells, made_up)
        junk += _junk(lone, made_up, chance)
        odds = np.clip(real + np.log(max(count, _FEW)) - junk, -500.0, 500.0)
        probability = 1.0 / (1.0 + np.exp(-odds))
        if len(seen) == 2:
            # Objects that neither model found are not in the list.
            misses = np.prod([law.miss[place.label] for law in evidence.behaviours], axis=0)
            count = float((probability / np.maximum(1.0 - misses, 0.1)).sum())
    return Absent(probability, place.page, place.label, place.xyxy, lone.rows, covered)


def _lone(seen: Sequence[Seen]) -> _Lone:
    """The places where predictions are alone."""
    rows = _places(seen)
    there = rows != NOBODY
    filled = np.maximum(rows, 0)
    # A model without predictions has no row to take; what is taken in its place is never used.
    boxes = [each.boxes.take(filled[:, model]) if each.boxes else None for model, each in enumerate(seen)]
    bins = np.column_stack([
        each.bins[filled[:, model]] if each.boxes else np.zeros(len(rows), dtype=np.int64)
        for model, each in enumerate(seen)
    ])  # fmt: skip
    nobody = np.zeros(len(rows), dtype=bool)
    first, second = boxes[0], boxes[-1]
    if len(seen) == 1 or first is None or second is None:
        place = first if first is not None else second
        if place is None:
            place = seen[0].boxes
        return _Lone(rows, there, nobody, bins, place, np.zeros(len(rows), dtype=np.int64), ~nobody)
    both = there.all(axis=1)
    surer = np.nan_to_num(second.score) > np.nan_to_num(first.score)
    pick = np.where(both, surer, ~there[:, 0])
    xyxy = np.where(pick[:, None], second.xyxy, first.xyxy)
    xyxy[both] = (first.xyxy[both] + second.xyxy[both]) / 2.0
    place = Columns(
        page=np.where(pick, second.page, first.page),
        label=np.where(pick, second.label, first.label),
        xyxy=xyxy,
        score=np.where(pick, second.score, first.score),
    )
    agreement = np.zeros(len(rows), dtype=np.int64)
    agreement[both] = np.searchsorted(_AGREEMENT_EDGES, iou(first.xyxy[both], second.xyxy[both]))
    return _Lone(rows, there, both, bins, place, agreement, first.label == second.label)


def _real(seen: Sequence[Seen], evidence: AtBoxes, lone: _Lone, right: FloatArray) -> FloatArray:
    """Log probability of what the models show if an object is there."""
    value = np.zeros(len(lone.rows))
    agree = np.ones(len(lone.rows))
    for model, (each, law) in enumerate(zip(seen, evidence.behaviours, strict=True)):
        here, bins, miss = lone.there[:, model], lone.bins[:, model], law.miss[lone.place.label]
        not_here = np.where(each.covers[lone.place.page], np.log(miss), 0.0)
        value += np.where(here, np.log(law.real)[bins] + np.log1p(-miss), not_here)
        agree *= 1.0 - law.flip[bins]
    if len(seen) == 2:
        labels = np.log(np.where(lone.same, agree, 1.0 - agree))
        value += np.where(lone.both, labels + _agreement_real(seen, right)[lone.agreement], 0.0)
    return value


def _junk(lone: _Lone, made_up: FloatArray, chance: float) -> FloatArray:
    """Log expected number of such places if the models made them up, `made_up` being how likely each is."""
    value = np.zeros(len(made_up))
    for model in range(lone.rows.shape[1]):
        here, bins = lone.there[:, model], lone.bins[:, model]
        law = histogram(bins[here], SCORE_BINS, made_up[here])
        value += np.where(here, np.log(law)[bins], 0.0)
        alone = here & ~lone.both
        value[alone] += np.log(max(float(made_up[alone].sum()), _FEW))
    both = lone.both
    if both.any():
        shares = np.bincount(lone.place.label) / len(made_up)
        same = float(np.clip((shares**2).sum(), 0.01, 0.99))
        # Models that learnt from the same data make the same things up more often than by chance.
        value[both] += np.log(max(chance, 0.5 * float(made_up[both].sum()), _FEW))
        value[both] += np.log(_CHANCE_AGREEMENT)[lone.agreement[both]]
        value[both] += np.log(np.where(lone.same, same, 1.0 - same))[both]
    return value


def _places(seen: Sequence[Seen]) -> IntArray:
    """Rows of the lone predictions of each model that are one place, int64, shape (K, M)."""
    if len(seen) == 1:
        return seen[0].alone[:, None]
    first, second = seen
    partner = partners(first.boxes.take(first.alone), second.boxes.take(second.alone), iou_floor=SAME_OBJECT_IOU)
    together = np.flatnonzero(partner != NOBODY)
    beside = np.full(len(first.alone), NOBODY, dtype=np.int64)
    beside[together] = second.alone[partner[together]]
    free = np.ones(len(second.alone), dtype=bool)
    free[partner[together]] = False
    rest = second.alone[free]
    return np.column_stack([
        np.concatenate([first.alone, np.full(len(rest), NOBODY, dtype=np.int64)]), np.concatenate([beside, rest])
    ])  # fmt: skip


def _agreement_real(seen: Sequence[Seen], right: FloatArray) -> FloatArray:
    """Log shares of the IoU of both models at one ground truth box."""
    first, second = seen
    rows = np.flatnonzero(first.hit & second.hit)
    values = iou(first.boxes.xyxy[first.partner[rows]], second.boxes.xyxy[second.partner[rows]])
    bins = np.searchsorted(_AGREEMENT_EDGES, values)
    return np.asarray(np.log(histogram(bins, _AGREEMENT_BINS, right[rows])))


def _by_chance(seen: Sequence[Seen]) -> float:
    """How many pairs of lone predictions there would be if one model had seen the next page."""
    first, second = (each.boxes.take(each.alone) for each in seen)
    if not first or not second:
        return 0.0
    pages, codes = np.unique(np.concatenate([first.page, second.page]), return_inverse=True)
    moved = (codes[len(first.page) :] + 1) % len(pages)
    pairs = partners(
        first._replace(page=codes[: len(first.page)]), second._replace(page=moved), iou_floor=SAME_OBJECT_IOU
    )
    return float((pairs != NOBODY).sum())


def _objects(seen: Sequence[Seen], evidence: AtBoxes, lone: _Lone) -> float:
    """How many objects are unlabelled, to begin with."""
    if len(seen) == 2:
        return float(lone.both.sum())
    (each,) = seen
    alone = np.ones(len(each.boxes.page), dtype=bool)
    alone[each.partner[each.hit]] = False
    share = surest_rate(each.bins, alone)
    # So many for each one that was found and is labelled; what the model missed is not in the list.
    return share / max(1.0 - share, 1e-3) * float(each.hit.sum())
