"""Where a ground truth box is likely missing: predictions that lie at no ground truth box, weighed.

What an unlabelled object looks like to the models is learnt from the labelled ones: scores, misses, agreement, look and
overlap. What the models make up is learnt from the lone predictions, less those that are likely objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects.box_errors import OVERLAP_BINS, OVERLAP_EDGES, BoxErrors
from evaluator.analysis.suspects.model_evidence import ModelEvidence
from evaluator.analysis.suspects.noise_model import (
    SCORE_BINS,
    Looks,
    binned,
    histogram,
    known_scores,
    surest_rate,
    within,
)
from evaluator.analysis.suspects.pairing import NOBODY, SAME_OBJECT_IOU, Columns, covered_by_others, partners, shares
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, iou

_ROUNDS: Final = 3
_AGREEMENT_EDGES: Final = np.array([0.55, 0.7, 0.8, 0.9])
_AGREEMENT_BINS: Final = len(_AGREEMENT_EDGES) + 1
# Two made-up boxes that overlap at all overlap little.
_CHANCE_AGREEMENT: Final = np.array([0.5, 0.25, 0.13, 0.08, 0.04])
_FEW: Final = 0.5
"""Fewer are never expected."""


class MissingBoxes(NamedTuple):
    """Places where a box is likely missing, as columns of one length K.

    `score`: probability that an object is there. `xyxy`: the proposed box, the middle of both models. `prediction`:
    int64 (K, M), rows, `NOBODY` for none. `covered`: how far ground truth boxes claim the place.
    """

    score: FloatArray
    page: IntArray
    label: IntArray
    xyxy: FloatArray
    prediction: IntArray
    covered: FloatArray


class _Lone(NamedTuple):
    """Places where predictions lie at no ground truth box.

    `rows`: int64 (K, M), rows of predictions, `NOBODY` for none. For each model: `at`, its places; `alone`, those where
    it is the only one; `bins`, the score bins of its predictions. `both`: places of two models; for these `agreement`,
    the bin of their IoU, and `same`, whether their labels agree. `place`: the middle box, label of the surer model.
    """

    rows: IntArray
    at: list[IntArray]
    alone: list[IntArray]
    both: IntArray
    bins: list[IntArray]
    place: Columns
    agreement: IntArray
    same: BoolArray


def missing_boxes(
    truth: Columns,
    seen: Sequence[ModelEvidence],
    evidence: BoxErrors,
    look: Looks,
    page_size: FloatArray,
    *,
    together: float,
) -> MissingBoxes:
    """Return the probability of an unlabelled object at each lone prediction or pair of them.

    `evidence` has the laws of the models and which ground truth boxes are right. `page_size`: float64, shape (pages,
    2), in the unit of the boxes. `together`: see `dependence`.
    """
    lone = _lone(seen)
    place = lone.place
    covered = covered_by_others(place, truth)
    overlap = binned(covered, OVERLAP_EDGES)
    cells = look.cells(shares(place, page_size))
    right = 1.0 - evidence.wrong
    laid = histogram(binned(evidence.covered, OVERLAP_EDGES), OVERLAP_BINS, right)
    real = np.log(laid)[overlap] + look.of_label(cells, place.label) + _real(seen, evidence, lone, right)
    probability = np.full(len(lone.rows), 0.1)
    probability[lone.both] = 0.8
    count = _objects(seen, lone)
    chance = _by_chance(seen) if len(seen) == 2 else 0.0
    # What models that err together make up alone would make up together as well.
    chance += together * float(min(map(len, lone.at), default=len(lone.rows)))
    listed = np.maximum(1.0 - np.prod([law.miss for law in evidence.behaviours], axis=0), 0.1)
    for _turn in range(_ROUNDS if len(place.page) else 0):
        made_up = 1.0 - probability
        junk = np.log(histogram(overlap, OVERLAP_BINS, made_up))[overlap] + look.other(cells, made_up)
        junk += _junk(lone, made_up, chance)
        odds = within(real + np.log(max(count, _FEW)) - junk, -500.0, 500.0)
        probability = 1.0 / (1.0 + np.exp(-odds))
        if len(seen) == 2:
            # Objects that neither model found are not in the list.
            count = float((probability / listed[place.label]).sum())
    return MissingBoxes(probability, place.page, place.label, place.xyxy, lone.rows, covered)


def _lone(seen: Sequence[ModelEvidence]) -> _Lone:
    if len(seen) == 1:
        (each,) = seen
        rows, none = np.arange(len(each.alone)), np.zeros(0, dtype=np.int64)
        bins = [each.bins[each.alone]]
        return _Lone(each.alone[:, None], [rows], [rows], none, bins, each.boxes.take(each.alone), none, none == 0)
    # The places of the first model, then those where the second one is alone.
    first, second = (each.boxes.take(each.alone) for each in seen)
    partner = partners(first, second, iou_floor=SAME_OBJECT_IOU)
    paired = partner != NOBODY
    both = np.flatnonzero(paired)
    partner = partner[both]
    free = np.ones(len(second.page), dtype=bool)
    free[partner] = False
    rest = np.flatnonzero(free)
    added = np.arange(len(paired), len(paired) + len(rest))
    at = [np.arange(len(paired)), np.concatenate([both, added])]
    of_second = np.concatenate([partner, rest])
    rows = np.full((len(paired) + len(rest), 2), NOBODY, dtype=np.int64)
    rows[at[0], 0], rows[at[1], 1] = seen[0].alone, seen[1].alone[of_second]
    bins = [seen[0].bins[seen[0].alone], seen[1].bins[rows[at[1], 1]]]
    a, b = first.take(both), second.take(partner)
    # A place has the columns of the surer model, and the box in the middle of both.
    surer = known_scores(b.score) > known_scores(a.score)
    place = Columns(*(np.concatenate([one, other[rest]]) for one, other in zip(first, second, strict=True)))
    for column, of_a, of_b in ((place.page, a.page, b.page), (place.label, a.label, b.label)):
        column[both] = np.where(surer, of_b, of_a)
    place.score[both] = np.where(surer, b.score, a.score)
    place.xyxy[both] = (a.xyxy + b.xyxy) / 2.0
    agreement = binned(iou(a.xyxy, b.xyxy), _AGREEMENT_EDGES, above=True)
    return _Lone(rows, at, [np.flatnonzero(~paired), added], both, bins, place, agreement, a.label == b.label)


def _real(seen: Sequence[ModelEvidence], evidence: BoxErrors, lone: _Lone, right: FloatArray) -> FloatArray:
    """Return the log probability of what the models show if an object is there."""
    label = lone.place.label
    value = np.zeros(len(lone.rows))
    agree = np.ones(len(lone.both))
    for each, law, at, bins in zip(seen, evidence.behaviours, lone.at, lone.bins, strict=True):
        shown = np.where(each.covers[lone.place.page], np.log(law.miss)[label], 0.0)
        shown[at] = np.log(law.real)[bins] + np.log1p(-law.miss)[label[at]]
        value += shown
        if len(lone.both):
            agree *= 1.0 - law.flip[bins[np.searchsorted(at, lone.both)]]
    if len(lone.both):
        value[lone.both] += np.log(np.where(lone.same, agree, 1.0 - agree))
        value[lone.both] += _agreement_real(seen, right)[lone.agreement]
    return value


def _junk(lone: _Lone, made_up: FloatArray, chance: float) -> FloatArray:
    """Return the log expected number of such places if made up; `made_up` is how likely each is."""
    value = np.zeros(len(made_up))
    for at, alone, bins in zip(lone.at, lone.alone, lone.bins, strict=True):
        law = histogram(bins, SCORE_BINS, made_up[at])
        value[at] += np.log(law)[bins]
        value[alone] += np.log(max(float(made_up[alone].sum()), _FEW))
    both = lone.both
    if len(both):
        shares_of_labels = np.bincount(lone.place.label) / len(made_up)
        same = float(np.clip((shares_of_labels**2).sum(), 0.01, 0.99))
        # Models that learnt from the same data make the same things up more often than by chance.
        value[both] += np.log(max(chance, 0.5 * float(made_up[both].sum()), _FEW))
        value[both] += np.log(_CHANCE_AGREEMENT)[lone.agreement]
        value[both] += np.log(np.where(lone.same, same, 1.0 - same))
    return value


def _agreement_real(seen: Sequence[ModelEvidence], right: FloatArray) -> FloatArray:
    """Return the log shares of the IoU of both models at one ground truth box."""
    first, second = seen
    rows = np.flatnonzero(first.hit & second.hit)
    values = iou(first.boxes.xyxy[first.partner[rows]], second.boxes.xyxy[second.partner[rows]])
    bins = binned(values, _AGREEMENT_EDGES, above=True)
    return np.asarray(np.log(histogram(bins, _AGREEMENT_BINS, right[rows])))


def _by_chance(seen: Sequence[ModelEvidence]) -> float:
    """Return the number of pairs of lone predictions if one model had seen the next page."""
    first, second = (each.boxes.take(each.alone) for each in seen)
    if not first or not second:
        return 0.0
    there = np.zeros(max(int(first.page.max()), int(second.page.max())) + 1, dtype=bool)
    there[first.page] = there[second.page] = True
    code = np.cumsum(there) - 1
    moved = (code + 1) % (code[-1] + 1)
    pairs = partners(
        first._replace(page=code[first.page]), second._replace(page=moved[second.page]), iou_floor=SAME_OBJECT_IOU
    )
    return float((pairs != NOBODY).sum())


def _objects(seen: Sequence[ModelEvidence], lone: _Lone) -> float:
    if len(seen) == 2:
        return float(len(lone.both))
    (each,) = seen
    alone = np.ones(len(each.boxes.page), dtype=bool)
    alone[each.partner[each.hit]] = False
    share = surest_rate(each.bins, alone)
    # So many for each one that was found and is labelled; what the model missed is not in the list.
    return share / max(1.0 - share, 1e-3) * float(each.hit.sum())
