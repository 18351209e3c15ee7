"""The search for slices: sets of boxes, selected by up to three conditions, where an outcome is worse than elsewhere.

Every box has a loss (1 missed, 0 found; of two models the difference). All pairs of conditions are counted at once
(`counting`) for groups of documents, at most 64, because documents are independent. T of a set is the difference of the
mean loss in it and elsewhere over its cluster-robust standard error: what each group adds to the difference, less what
its boxes were expected to add, squared and added up. The variance is drawn towards that from how much all groups
differ, worth 20 degrees of freedom (the moderated t; Smyth 2004), and never below it; T becomes a normal z (Wallace
1959). So T has an upper bound without sums by group: after the first step only sets that can be among the best by it
are worked out.

Chance is controlled over everything that is tried: what groups add gets random signs (the wild cluster bootstrap;
Cameron, Gelbach and Miller 2008), the largest T over all single conditions and pairs is taken each time, and a Gumbel
law through these maxima gives the p-value (max-T; Westfall and Young 1993). Triples are tried below the best pairs
only, but their p-value counts as if all had been.

What is found is listed once: its boxes get their own expectation, and the search goes on with the rest.

Of more than `MOST_BOXES` boxes, those of documents drawn at random are searched. What is found there is a slice of all
boxes, and the documents that were not drawn confirm it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial, reduce
from itertools import pairwise
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.analysis.slices.conditions import (
    Binned,
    Condition,
    Float32,
    Range,
    binned,
    condition_mask,
    short_between,
)
from evaluator.analysis.slices.counting import BinCounts, Boxes, Outcome, Sums, firsts_of
from evaluator.analysis.slices.statistic import LEAST_BOXES, Level, Sets, difference_z
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.metrics.observations import Attribute
from evaluator.system import memory, progress
from evaluator.system.one_thread import one_thread

ALPHA: Final = 0.02
"""Chance that anything at all is listed where nothing is to be found."""
SMALLEST_EFFECT: Final = 0.03
"""A smaller difference is not listed."""
LEAST_DOCUMENTS: Final = 5
MOST_ROWS: Final = 12
MOST_BOXES: Final = 200_000
"""Of more boxes, those of documents drawn at random are searched."""

_MOST_GROUPS: Final = 64
_LEAST_GROUPS: Final = 8
# As many as a search has groups, in each half.
_LEAST_DRAWN: Final = 2 * _MOST_GROUPS
_FLIPS: Final = 400
_PARENTS: Final = 128
_THIRDS: Final = 32
_POLISHED: Final = 4
_NEAR: Final = 10.0
_WORTH_A_LOOK: Final = 0.5
# How many times more sets there are to try with any cut than with the few of the search, for each condition on a
# number: the chance that a running mean passes 4.5 anywhere, against at 13 places (Siegmund 1985).
_CUTS: Final = 6.0
_PRIOR: Final = 20.0
# What a further condition must add to z²: about what the best of some hundred conditions without any meaning adds.
_PRICE: Final = 12.0
_DECOYS: Final = 6
_CONFIRM_Z: Final = 1.645


@dataclass(frozen=True, eq=False)
class Subset:
    """A slice that the search found: at most three conditions, and its boxes.

    `rows`: rising. `z`: the statistic T. `p`: chance of a T as large anywhere in the search. `confirmed`: the best
    slice of one half of the documents is this one (half of the boxes in common or more), and it is worse than elsewhere
    in the other half too (one-sided p below 0.05); where documents were drawn, it is so in the others.
    """

    conditions: tuple[Condition, ...]
    rows: IntArray
    documents: int
    z: float
    p: float
    confirmed: bool


@dataclass(frozen=True)
class Search:
    """What a search gave: `subsets` as they were found, the clearest first.

    `tested`: sets tried, at least. `needed`: documents that a search needs, more than `documents` when there were too
    few. `best_p`: of the best set that is not listed, 1 without any. `thin`: as clear, from fewer than
    `LEAST_DOCUMENTS` documents. `halves`: document codes of the two halves that confirm, or of the documents drawn and
    of the others; empty without a search. `drawn`: numbers of the boxes and documents searched, None where all were.
    """

    subsets: tuple[Subset, ...]
    tested: int = 0
    documents: int = 0
    needed: int = _LEAST_GROUPS
    best_p: float = 1.0
    thin: tuple[Subset, ...] = ()
    halves: tuple[IntArray, ...] = ()
    drawn: tuple[int, int] | None = None


def search(
    attributes: Sequence[Attribute],
    loss: FloatArray,
    document: IntArray,
    *,
    two_sided: bool = False,
    alpha: float = ALPHA,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    models: Sequence[FloatArray] = (),
    seed: int = 0,
    cache: SearchCache | None = None,
) -> Search:
    """Return the slices where the loss is higher than elsewhere, or also lower if `two_sided`.

    `loss`, `document`: float64 and int64, shape (N,). `alpha`: chance that anything is listed where there is nothing.
    `smallest`: least difference listed. `depth`: 1 to 3 conditions. `models`: what the boxes add to the measures of A
    and of B, NaN where one does not count it; a listed set must be as clear by `difference_z` of these. `cache`: of
    searches of the same boxes. Reports the sets tested (`system.progress`).
    """
    drawn = _drawn(document, seed)
    if drawn is not None:
        rows = np.flatnonzero(drawn)
        part = search(
            [each.take(rows) for each in attributes], loss[rows], document[rows], two_sided=two_sided, alpha=alpha,
            smallest=smallest, depth=depth, models=[each[rows] for each in models], seed=seed, cache=cache,
        )  # fmt: skip
        return _on_all(part, drawn, attributes, models or (loss,), document)
    present = np.unique(document)
    if len(present) < _LEAST_GROUPS or len(loss) < 2 * LEAST_BOXES:
        # As many more as are there for each of those that are there.
        enough = -(-2 * LEAST_BOXES * len(present) // len(loss)) if len(loss) else 0
        return Search((), 0, len(present), max(_LEAST_GROUPS, enough))
    memory.keep_freed_memory()
    sorted_boxes = (
        _SortedBoxes(attributes, document, seed) if cache is None else cache.sorted_boxes(attributes, document, seed)
    )
    run = _Run(sorted_boxes, loss, two_sided=two_sided, alpha=alpha, smallest=smallest, depth=depth, models=models)
    # Its products of matrices are many and small: threads inside each only wait for each other, and last digits would
    # depend on their number.
    with one_thread():
        return run.run()


def _drawn(document: IntArray, seed: int) -> BoolArray | None:
    """Return which boxes are of the documents drawn to be searched; None when all are."""
    boxes = np.bincount(document)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(boxes))
    number = max(int(np.searchsorted(np.cumsum(boxes[order]), MOST_BOXES)) + 1, _LEAST_DRAWN)
    return np.isin(document, order[:number]) if number < len(order) else None


def _on_all(
    part: Search, drawn: BoolArray, attributes: Sequence[Attribute], models: Sequence[FloatArray], document: IntArray
) -> Search:
    """Return what was found in the boxes drawn as slices of all boxes, confirmed by the others."""
    by_name, others = {each.name: each for each in attributes}, np.flatnonzero(~drawn)

    def of_all(one: Subset) -> Subset:
        inside = condition_mask(one.conditions, by_name)
        z = difference_z([each[others] for each in models], document[others], inside[others])
        rows = np.flatnonzero(inside)
        confirmed = math.copysign(z, z * one.z) >= _CONFIRM_Z
        return replace(one, rows=rows, documents=len(np.unique(document[rows])), confirmed=confirmed)

    documents = np.unique(document[drawn]), np.unique(document[others])
    every = [of_all(each) for each in (*part.subsets, *part.thin)]
    return replace(
        part,
        subsets=tuple(each for each in every if each.documents >= LEAST_DOCUMENTS),
        thin=tuple(each for each in every if each.documents < LEAST_DOCUMENTS),
        documents=len(documents[0]) + len(documents[1]),
        halves=documents,
        drawn=(int(drawn.sum()), part.documents),
    )


class _Best(NamedTuple):
    ranges: tuple[Range, ...]
    t: float
    p: float
    others: tuple[_Candidate, ...]


class _Known(NamedTuple):
    """What was found about the conditions of candidates, which often come to the same ones.

    `cuts`: value that separates best, None for none, by attribute, operator, other conditions and sign of T. `told`:
    what a condition adds, by all conditions, those without it, and the sign of T.
    """

    cuts: dict[tuple[str, str, frozenset[Condition], float], float | None]
    gains: dict[tuple[frozenset[Condition], frozenset[Condition], float], float]


class _SortedBoxes:
    """The boxes of a search sorted by unit, and all that does not depend on the loss."""

    def __init__(
        self, attributes: Sequence[Attribute], document: IntArray, seed: int, *, for_several: bool = False
    ) -> None:
        self.given, self.given_document, self.seed, self.for_several = tuple(attributes), document, seed, for_several
        rng = np.random.default_rng(seed)
        unit, group_of_unit = _units(document, rng)
        self.order = np.argsort(unit, kind="stable").astype(np.int64)
        self.document = document[self.order]
        self.documents = len(np.unique(document))
        self.attributes = {each.name: each.take(self.order) for each in attributes}
        self.bins: Binned = binned(tuple(self.attributes.values()), least=LEAST_BOXES)
        documents = int(group_of_unit[-1]) + 1
        self.prior = _PRIOR * (documents / self.documents) ** 2
        first = np.isin(group_of_unit, rng.permutation(documents)[: documents // 2])
        self.firsts, self.firsts_of_two = (firsts_of(self.bins, of) for of in (self.bins.ranges, self.bins.two_ended))
        self.owner = np.repeat(np.arange(len(self.bins.attributes)), np.diff(self.firsts))
        self.size = len(document)
        self.units = _Units(unit[self.order], group_of_unit, np.flatnonzero(first), np.flatnonzero(~first))
        # Bins of attributes without any meaning, numbers from 0 to 9, at random: uint8, shape (N, 6).
        self.decoys = rng.integers(0, 10, (self.size, _DECOYS), dtype=np.uint8)
        self.signs: Float32 = rng.choice(np.array([-1.0, 1.0], np.float32), (_FLIPS, self.units.number))

    @cached_property
    def whole(self) -> _Units:
        """Groups of documents as units; the same ones where these have no parts."""
        return self.units.whole()


class SearchCache:
    """What searches of the same boxes have in common; that of the last boxes is kept up to `most` values."""

    def __init__(self, *, most: int | None = None) -> None:
        self._last: _SortedBoxes | None = None
        self._most = most

    def sorted_boxes(self, attributes: Sequence[Attribute], document: IntArray, seed: int) -> _SortedBoxes:
        """Return boxes as a search needs them."""
        if self._most is not None and len(document) * len(attributes) > self._most:
            return _SortedBoxes(attributes, document, seed)
        last = self._last
        if last is None or not _same_input(last, attributes, document, seed):
            # Given up before the next is made.
            last = self._last = None
            last = self._last = _SortedBoxes(attributes, document, seed, for_several=True)
        return last


def _same_input(last: _SortedBoxes, attributes: Sequence[Attribute], document: IntArray, seed: int) -> bool:
    return (
        last.seed == seed
        and np.array_equal(last.given_document, document)
        and len(last.given) == len(attributes)
        and all(
            (one.name, one.kind, one.names) == (other.name, other.kind, other.names)
            and np.array_equal(one.values, other.values, equal_nan=True)
            for one, other in zip(last.given, attributes, strict=True)
        )
    )


class _Units:
    """Units of boxes, which are sorted by them; several can be parts of one group of documents.

    `of_box`: int64 (N,), `group`: int64 (U,), both rising. `first_half`, `other_half`: the units of two halves of the
    documents. `counted`: boxes of some units, by the bytes of these.
    """

    def __init__(self, of_box: IntArray, group: IntArray, first_half: IntArray, other_half: IntArray) -> None:
        self.of_box, self.group, self.first_half, self.other_half = of_box, group, first_half, other_half
        self.number = int(of_box[-1]) + 1
        self.bounds = np.searchsorted(of_box, np.arange(self.number + 1))
        self.counted: dict[bytes, _BoxCounts] = {}

    @property
    def every(self) -> IntArray:
        return np.arange(self.number)

    def whole(self) -> _Units:
        groups = int(self.group[-1]) + 1
        if groups == self.number:
            return self
        halves = (np.unique(self.group[half]) for half in (self.first_half, self.other_half))
        return _Units(self.group[self.of_box], np.arange(groups), *halves)


def _units(document: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the unit of each box, and the group of documents of each unit, rising."""
    # Few groups are cut into units: signs of a few cannot show how many sets there are to choose from.
    present, code = np.unique(document, return_inverse=True)
    if len(present) >= _MOST_GROUPS:
        shuffled = rng.permutation(len(present)) % _MOST_GROUPS
        return shuffled[code].astype(np.int64), np.arange(_MOST_GROUPS)
    parts = -(-_MOST_GROUPS // len(present))
    order = np.argsort(code, kind="stable")
    count = np.bincount(code)
    place = np.empty(len(code), np.int64)
    place[order] = np.arange(len(code)) - np.repeat(np.cumsum(count) - count, count)
    unit = code * parts + place * parts // count[code]
    used, unit = np.unique(unit, return_inverse=True)
    return unit.astype(np.int64), used // parts


class _Run:
    """One search; the rows are sorted by unit."""

    def __init__(
        self,
        sorted_boxes: _SortedBoxes,
        loss: FloatArray,
        *,
        two_sided: bool,
        alpha: float,
        smallest: float,
        depth: int,
        models: Sequence[FloatArray],
    ) -> None:
        self.models = models
        self.two_sided, self.alpha, self.smallest, self.depth = two_sided, alpha, smallest, depth
        self.sorted_boxes, self.units = sorted_boxes, sorted_boxes.units
        self.order, self.document, self.size = sorted_boxes.order, sorted_boxes.document, sorted_boxes.size
        self.given_document = sorted_boxes.given_document
        self.attributes, self.bins = sorted_boxes.attributes, sorted_boxes.bins
        self.firsts, self.owner = sorted_boxes.firsts, sorted_boxes.owner
        self.loss = loss[self.order]
        self.law: tuple[float, float, float] | None = None
        self.tested = 0
        # Of the last outcome, by the bytes of the groups.
        self._levels: tuple[Outcome, dict[bytes, Level]] | None = None

    # --- the loop -----------------------------------------------------------------------------------------------

    def run(self) -> Search:
        """Return slice after slice, until chance could have found the next one."""
        clearest: list[Subset] = []
        thin: list[Subset] = []
        documents = self.sorted_boxes.documents
        best_p = 1.0
        if not self.bins.attributes:
            return Search((), 0, documents)
        self.counting = BinCounts(self._boxes())
        outcome = self._expect(np.zeros(self.size, np.int64))
        every = self.units.every
        for step in range(2 * MOST_ROWS):
            tried = self._best(outcome, every, self.depth)
            if tried is None:
                break
            if tried.p > _WORTH_A_LOOK:
                best_p = tried.p
                break
            if step == 0:
                self._without_parts()
                every = self.units.every
            conditions, rows = self._chosen(tried, outcome)
            mask = np.zeros(self.size, bool)
            mask[rows] = True
            z, t = self._statistic(mask, outcome, every)
            z = self._clear(abs(z), t, rows)
            p = max(tried.p, self._p(z, len(conditions)))
            if tried.p > self.alpha:
                # Clear only with cuts of its own: as if all of these had been tried.
                p = min(1.0, self._p(z, len(conditions)) * _CUTS ** sum(each.op != "==" for each in conditions))
                if p > self.alpha:
                    best_p = tried.p
                    break
            inside = len(np.unique(self.document[rows]))
            effect = (
                abs(outcome.residual[rows].mean() - outcome.residual[~mask].mean()) if len(rows) < self.size else 0.0
            )
            clear = p <= self.alpha and effect >= self.smallest and len(rows) >= LEAST_BOXES
            if clear and inside < LEAST_DOCUMENTS:
                thin.append(Subset(conditions, np.sort(self.order[rows]), inside, t, p, confirmed=False))
            elif clear:
                confirmed = self._confirmed(mask, t, outcome, len(conditions))
                clearest.append(Subset(conditions, np.sort(self.order[rows]), inside, t, p, confirmed))
                if len(clearest) == MOST_ROWS:
                    break
            outcome = self._expect(outcome.cell | np.where(mask, np.int64(1) << step, 0))
            self.counting.expect(outcome, mask)
        halves = tuple(
            np.unique(self.document[np.isin(self.units.of_box, half)])
            for half in (self.units.first_half, self.units.other_half)
        )
        return Search(tuple(clearest), self.tested, documents, _LEAST_GROUPS, best_p, tuple(thin), halves)

    def _expect(self, cell: IntArray) -> Outcome:
        """Return the outcome where boxes of each cell are expected to have their mean."""
        values, code = np.unique(cell, return_inverse=True)
        count = np.bincount(code)
        mean = np.bincount(code, self.loss) / count
        spread = np.maximum(np.bincount(code, self.loss**2) / count - mean**2, 0.0)
        return Outcome(
            cell, self.loss - mean[code], spread[code],
            dict(zip(values.tolist(), mean.tolist(), strict=True)),
            dict(zip(values.tolist(), spread.tolist(), strict=True)),
        )  # fmt: skip

    def _boxes(self) -> Boxes:
        return Boxes(self.bins, self.loss, self.units.of_box, self.units.number)

    def _without_parts(self) -> None:
        """Make a group one unit from here on: only the signs, drawn once, need its parts."""
        parts, whole = self.units, self.sorted_boxes.whole
        if whole is parts:
            return
        self.units, self._levels = whole, None
        self.counting.merge(self._boxes())
        of_parts, key = parts.counted.get(parts.every.tobytes()), whole.every.tobytes()
        if of_parts is not None and key not in whole.counted:
            whole.counted[key] = of_parts.by_group(partial(self.counting.boxes, whole.every))

    # --- the statistic ------------------------------------------------------------------------------------------

    def _best(self, outcome: Outcome, groups: IntArray, depth: int) -> _Best | None:
        """Return the best set in some groups, with its p-value when these are all of them."""
        every = len(groups) == self.units.number
        level = self._level(outcome, groups)
        signs = self.sorted_boxes.signs if self.law is None and every else None
        singles, pairs = self._singles_and_pairs(outcome, groups, level, signs)
        triples = self._triples(pairs, outcome, groups) if depth > 2 else []
        depths = [singles, pairs if depth > 1 else [], triples]
        if not any(depths):
            return None
        every_p = [
            self._p_values(np.array([abs(each.z) for each in tried]), depth).tolist()
            for depth, tried in enumerate(depths, 1)
        ]
        least = min(p for some in every_p for p in some)
        # Among those that chance does not give, the one that explains most for its number of conditions.
        clear = [
            (each.t**2 - _PRICE * depth, each)
            for depth, (tried, some) in enumerate(zip(depths, every_p, strict=True), 1)
            for each, p in zip(tried, some, strict=True)
            if p <= max(self.alpha, _NEAR * least)
        ]
        clear.sort(key=lambda each: -each[0])
        best = clear[0][1]
        # A set where one of two models has no box can be the best, and is none by the stricter statistic.
        most = 2 * _POLISHED if self.models else _POLISHED
        return _Best(best.ranges, best.t, least, _of_different_attributes([each for _, each in clear], most))

    def _counted(self, groups: IntArray) -> _BoxCounts:
        key, counted = groups.tobytes(), self.units.counted
        if key not in counted:
            counted[key] = _BoxCounts(partial(self.counting.boxes, groups), keep=self.sorted_boxes.for_several)
        return counted[key]

    def _level(self, outcome: Outcome, groups: IntArray) -> Level:
        if self._levels is None or self._levels[0] is not outcome:
            self._levels = outcome, {}
        known, key = self._levels[1], groups.tobytes()
        if key not in known:
            of_box, number = self.units.of_box, self.units.number
            totals = np.bincount(of_box, outcome.residual, number)[groups].astype(np.float64)
            boxes = np.diff(self.units.bounds)[groups].astype(np.float64)
            variance = np.bincount(of_box, outcome.variance, number)[groups].astype(np.float64)
            known[key] = self._level_of(totals, boxes, variance, groups)
        return known[key]

    def _level_of(self, totals: FloatArray, boxes: FloatArray, variance: FloatArray, groups: IntArray) -> Level:
        starts = np.flatnonzero(np.diff(self.units.group[groups], prepend=-1))
        s, n, v = (np.add.reduceat(each, starts) for each in (totals, boxes, variance))
        between = max(float((s**2 - v).sum() / max((n**2).sum(), 1.0)), 0.0)
        return Level(totals, boxes, starts, between, self.sorted_boxes.prior)

    def _p(self, z: float, conditions: int) -> float:
        """Return twice the chance of a T as large among sets with so many conditions: there are two families."""
        return float(self._p_values(np.array([z]), conditions)[0])

    def _p_values(self, z: FloatArray, conditions: int) -> FloatArray:
        assert self.law is not None
        place, scale, more = self.law
        if conditions > 2:
            # The same law, moved to where `more` times as many tries have their largest.
            place += more
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(2.0 * -np.expm1(-np.exp(-(z - place) / scale)), 1.0))

    def _singles_and_pairs(
        self, outcome: Outcome, groups: IntArray, level: Level, signs: Float32 | None
    ) -> tuple[list[_Candidate], list[_Candidate]]:
        sums, variances = self.counting.residuals(outcome, groups), self.counting.variances(outcome, groups)
        counted, signed = self._counted(groups), None if signs is None else level.signed(signs)
        largest, spread = np.zeros((2, _FLIPS)), list(outcome.spread.values())

        def tried(of: _Table, place: int, depth: int) -> tuple[FloatArray, FloatArray]:
            sets = counted.of(of, place, level)
            if place >= 0 and len(spread) == 1:
                # Before anything is set aside all boxes have the same variance.
                variance = spread[0] * sets.boxes
            else:
                variance = sets.taken(of(variances))[0].astype(np.float64)
            statistic = level.statistic(sets.taken(of(sums)), sets, variance, signed, two_sided=self.two_sided)
            if statistic.largest is not None:
                np.maximum(largest[depth - 1], statistic.largest, out=largest[depth - 1])
                self.tested += sets.among
            return sets.spread_out(statistic.z), sets.spread_out(statistic.t)

        # Ranges with two ends are pairs of conditions.
        alone = self._alone(self.bins.ranges, self.firsts, *tried(lambda some: some.singles(), _SINGLES, 1))
        singles = sorted((each for best in alone for each in best), key=lambda each: -abs(each.z))
        if self.depth < 2:
            if signs is not None:
                self._learn(largest)
            return singles, []
        two_ended = self._alone(
            self.bins.two_ended, self.sorted_boxes.firsts_of_two, *tried(lambda some: some.two_ended(), _TWO_ENDED, 2)
        )
        if signs is None:
            statistics = self._clearest_pairs(sums, variances, counted, level)
        else:
            parts = []
            for place in self._places():
                parts.append(tried(_crossed(place), place, 2))
                progress.report(self.tested, 0)
            self._learn(largest)
            every = counted.every(self, level)
            z, t = (np.concatenate([np.zeros(0), *(part[of] for part in parts)])[every.at] for of in (0, 1))
            statistics = _PairStatistics(every.pair, every.first, every.second, z, t)
        return singles, self._pairs(statistics, [each for best in two_ended for each in best], singles)

    def _places(self) -> range:
        return range(len(self.bins.attributes) - 1)

    def _clearest_pairs(self, sums: Sums, variances: Sums, counted: _BoxCounts, level: Level) -> _PairStatistics:
        progress.report(self.tested, 0)
        every = counted.every(self, level)
        if not len(every.at):
            return _PairStatistics(every.pair, every.first, every.second, np.zeros(0), np.zeros(0))
        totals, variance = (some.totals(every.at) for some in (sums, variances))
        bounds = [self._worth(each) for each in level.bound(totals, every.sets, variance)]
        starts = np.flatnonzero(np.diff(every.pair, prepend=-1))
        if len(starts) <= _PARENTS:
            return every.found(np.arange(len(every.at)), sums, variance, level)
        most = [np.maximum.reduceat(each, starts) for each in bounds]
        size = np.diff(np.append(starts, len(every.at)))
        best = np.flatnonzero(bounds[0] >= np.repeat(most[0], size))
        first = every.found(best[np.flatnonzero(np.diff(every.pair[best], prepend=-1))], sums, variance, level)
        z, t = self._worth(first.z), self._worth(first.t)
        clear = float(np.partition(z, -_PARENTS)[-_PARENTS])
        # Of those the best by T, whatever their z, are the candidates for a slice.
        far = float(np.sort(t[z >= clear])[-2 * _POLISHED])
        needed = (bounds[0] >= clear) | np.repeat(most[1] >= far, size)
        return every.found(np.flatnonzero(needed), sums, variance, level)

    def _worth(self, values: FloatArray) -> FloatArray:
        return np.abs(values) if self.two_sided else values

    def _pairs(
        self, statistics: _PairStatistics, two_ended: Sequence[_Candidate], singles: Sequence[_Candidate]
    ) -> list[_Candidate]:
        """Return the best three pairs of every two attributes and the two-ended ranges, clearest first."""
        starts = np.flatnonzero(np.diff(statistics.pair, prepend=-1))
        maxima = np.maximum.reduceat(self._worth(statistics.z), starts) if len(starts) else np.zeros(0)
        clearest = max([*(abs(each.z) for each in two_ended), float(maxima.max(initial=0.0))])
        if clearest == 0.0:
            return []
        least = min([self._p(clearest, 2), *(self._p(abs(each.z), 1) for each in singles[:1])])
        parent = float(np.partition(maxima, -_PARENTS)[-_PARENTS]) if len(maxima) > _PARENTS else 0.0
        looked_at = (maxima >= parent) | (self._p_values(maxima, 2) <= max(self.alpha, _NEAR * least))
        places: list[int] = []
        bounds = np.append(starts, len(statistics.z)).tolist()
        for each in np.flatnonzero(looked_at).tolist():
            low, high = bounds[each : each + 2]
            places += [low + at for at in self._top(statistics.z[low:high], 3)]
        ranges, columns = self.bins.ranges, (statistics.z, statistics.t, statistics.first, statistics.second)
        candidates = zip(*(column[places].tolist() for column in columns), strict=True)
        pairs = [*two_ended, *(_Candidate(z, t, (ranges[first], ranges[second])) for z, t, first, second in candidates)]
        pairs.sort(key=lambda each: -abs(each.z))
        return pairs

    def _alone(
        self, made: Sequence[Range], bounds: Sequence[int], z: FloatArray, t: FloatArray
    ) -> list[list[_Candidate]]:
        """Return for each attribute the best of some ranges of its bins, which begin at its bound."""
        return [
            [
                _Candidate(float(z[start + at]), float(t[start + at]), (made[start + at],))
                for at in self._top(z[start:stop], 4)
            ]
            for start, stop in pairwise(bounds)
        ]

    def _learn(self, largest: FloatArray) -> None:
        """Set the law of the largest T of singles and pairs under chance, and its shift by a third condition."""
        # Method of moments for the Gumbel law. The median moves less from two conditions to three than from one to two.
        both = largest.max(axis=0)
        scale = float(both.std(ddof=1) * math.sqrt(6.0) / math.pi)
        place = float(both.mean() - 0.5772156649 * scale)
        normal = NormalDist()
        tails = [max(normal.cdf(-float(np.median(each))), 1e-300) for each in (largest[0], both)]
        ratio = max(tails[0] / tails[1], 1.0)
        third = -normal.inv_cdf(tails[1] / ratio)
        self.law = place, scale, third - float(np.median(both))

    def _top(self, z: FloatArray, most: int) -> list[int]:
        # Called for every two attributes: the methods of arrays take half as long as the functions.
        negative = -self._worth(z)
        if len(z) <= most:
            chosen = negative.argsort()
        else:
            part = negative.argpartition(most)[:most]
            chosen = part[negative[part].argsort()]
        return [at for at, each in zip(chosen.tolist(), negative[chosen].tolist(), strict=True) if each < 0.0]

    def _triples(self, pairs: Sequence[_Candidate], outcome: Outcome, groups: IntArray) -> list[_Candidate]:
        parents = [each.ranges for each in pairs[:_PARENTS]]
        if not parents:
            return []
        level = self._level(outcome, groups).by_group()
        group, pick = self.units.group[self.units.of_box], np.unique(self.units.group[groups])
        spread, within, variances = np.zeros(len(parents)), cache(self.bins.within), outcome.variance

        def masks() -> Iterator[BoolArray]:
            for place, parent in enumerate(parents):
                progress.report(self.tested, 0)
                # Many parents have a condition in common.
                mask = _in_all(parent, within)
                inside = variances[mask]
                spread[place] = float(inside.sum()) / max(len(inside), 1)
                yield mask

        sums, counts = self.counting.within(masks(), len(parents), outcome, group, pick)
        sets = level.sets(counts)
        variance = sets.boxes * sets.taken(np.tile(spread, len(self.owner))[None])[0]
        # A range within a range of the same attribute is no third condition.
        taken = np.zeros((len(parents), len(self.bins.attributes)), bool)
        for place, parent in enumerate(parents):
            taken[place, [part.attribute for part in parent]] = True
        self.tested += sets.among
        at = np.arange(sets.among) if sets.kept is None else sets.kept
        third, of_parent = divmod(at, len(parents))
        sums = sets.taken(sums)
        bound = self._worth(level.bound(sums.sum(axis=0, dtype=np.float64), sets, variance)[0])
        bound[taken[of_parent, self.owner[third]]] = 0.0

        def statistic_of(chosen: IntArray) -> tuple[FloatArray, FloatArray]:
            some = sets.some(chosen)
            statistic = level.statistic(sums[:, chosen], some, variance[chosen], None, two_sided=self.two_sided)
            return statistic.z, statistic.t

        chosen = (
            np.argpartition(-bound, 2 * _THIRDS)[: 2 * _THIRDS] if len(bound) > 2 * _THIRDS else np.arange(len(bound))
        )
        best = np.sort(self._worth(statistic_of(chosen)[0]))[::-1][:_THIRDS]
        # Whatever can be among the best by its bound.
        chosen = np.flatnonzero((bound > 0.0) & (bound >= (best[-1] if len(best) == _THIRDS else 0.0)))
        z, t = statistic_of(chosen)
        return [
            _Candidate(
                float(z[place]),
                float(t[place]),
                (*parents[of_parent[chosen[place]]], self.bins.ranges[third[chosen[place]]]),
            )
            for place in self._top(z, _THIRDS)
        ]

    def _statistic(self, mask: BoolArray, outcome: Outcome, groups: IntArray) -> tuple[float, float]:
        """Return T of one set of boxes in some groups, as a normal z and as it is."""
        of_box, number = self.units.of_box, self.units.number
        rows = np.flatnonzero(mask & np.isin(of_box, groups))
        sums = np.bincount(of_box[rows], outcome.residual[rows], number)[groups]
        counts = np.bincount(of_box[rows], minlength=number)[groups]
        variance = np.array([outcome.variance[rows].sum()])
        level = self._level(outcome, groups)
        statistic = level.statistic(
            sums[:, None].astype(np.float32),
            level.sets(counts[:, None].astype(np.float32), countable_only=False),
            variance,
            None,
            two_sided=True,
        )
        return float(statistic.z[0]), float(statistic.t[0])

    def _clear(self, size: float, t: float, rows: IntArray) -> float:
        """Return the smaller size of a statistic and of the stricter one; 0 if their signs differ."""
        if not self.models:
            return size
        inside = np.zeros(self.size, bool)
        inside[self.order[rows]] = True
        return min(size, max(difference_z(self.models, self.given_document, inside) * math.copysign(1.0, t), 0.0))

    # --- the conditions of what was found -------------------------------------------------------------------------

    def _chosen(self, tried: _Best, outcome: Outcome) -> tuple[tuple[Condition, ...], IntArray]:
        # A cut of the search is one of few; an attribute that goes with the right one can do better with its own.
        every, known, seen = self.units.every, _Known({}, {}), set[tuple[Condition, ...]]()
        best: tuple[float, tuple[Condition, ...], IntArray] | None = None
        for each in tried.others:
            conditions, rows = self._polished(each, outcome, known)
            if conditions in seen:
                continue
            seen.add(conditions)
            mask = np.zeros(self.size, bool)
            mask[rows] = True
            t = self._statistic(mask, outcome, every)[1]
            worth = self._clear(abs(t), t, rows) ** 2 - _PRICE * len(conditions)
            if best is None or worth > best[0]:
                best = worth, conditions, rows
        assert best is not None
        return best[1], best[2]

    def _polished(self, tried: _Candidate, outcome: Outcome, known: _Known) -> tuple[tuple[Condition, ...], IntArray]:
        """Return the conditions that are needed, with the best cuts, and the rows where they hold."""
        conditions = [each for part in tried.ranges for each in self.bins.conditions(part)]
        sign = 1.0 if tried.t > 0 else -1.0
        for _ in range(3):
            before = list(conditions)
            for at in range(len(conditions)):
                conditions[at] = self._cut(conditions, at, outcome, sign, known)
            while len(conditions) > 1:
                without = [conditions[:at] + conditions[at + 1 :] for at in range(len(conditions))]
                worth = [self._kept_gain(conditions, each, sign, known) for each in without]
                at = int(np.argmin(worth))
                if worth[at] > 0.0:
                    break
                conditions = without[at]
            if conditions == before:
                break
        order = [each for each in conditions if each.attribute == "label"]
        ordered = (*order, *(each for each in conditions if each.attribute != "label"))
        return ordered, np.flatnonzero(condition_mask(ordered, self.attributes))

    def _kept_gain(
        self, conditions: Sequence[Condition], without: Sequence[Condition], sign: float, known: _Known
    ) -> float:
        """Return what a condition adds to those without it, kept: see `_gain`."""
        key = frozenset(conditions), frozenset(without), sign
        if key not in known.gains:
            inside, parent = (condition_mask(each, self.attributes) for each in (conditions, without))
            known.gains[key] = self._gain(inside, parent, sign)
        return known.gains[key]

    def _gain(self, inside: BoolArray, parent: BoolArray, sign: float) -> float:
        """Return how far z² of the boxes inside exceeds the price of a condition; 0 or less for nothing."""
        # The price is what the best of some hundred conditions without meaning reaches, or the best of the decoys.
        rows = np.flatnonzero(parent)
        residual = sign * (self.loss[rows] - self.loss[rows].mean())
        spread = float((residual**2).mean())
        unit, number, kept = self.units.of_box[rows], self.units.number, inside[rows]
        boxes = np.bincount(unit, minlength=number).astype(np.float64)
        totals = np.bincount(unit, residual, number).astype(np.float64)
        level = self._level_of(totals, boxes, spread * boxes, self.units.every)
        sums = np.bincount(unit[kept], residual[kept], number)[:, None].astype(np.float32)
        counts = np.bincount(unit[kept], minlength=number)[:, None].astype(np.float32)
        of_variance = np.array([spread * kept.sum()])
        sets = level.sets(counts, countable_only=False)
        z = float(level.statistic(sums, sets, of_variance, None, two_sided=True).z[0])
        if z <= 0:
            return -1.0
        decoys = (self.sorted_boxes.decoys[rows] + np.arange(0, 10 * _DECOYS, 10)).ravel()
        part = np.cumsum(np.bincount(decoys, np.repeat(residual, _DECOYS), 10 * _DECOYS).reshape(-1, 10), axis=1)
        share = np.cumsum(np.bincount(decoys, minlength=10 * _DECOYS).reshape(-1, 10), axis=1) / max(len(rows), 1)
        squares = part**2 / np.maximum(spread * len(rows) * share * (1.0 - share), 1e-9)
        best = max(_PRICE, float(squares[:, :-1].max()))
        return z * z - best

    def _cut(self, conditions: list[Condition], at: int, outcome: Outcome, sign: float, known: _Known) -> Condition:
        one = conditions[at]
        if one.op == "==":
            return one
        others = conditions[:at] + conditions[at + 1 :]
        key = one.attribute, one.op, frozenset(others), sign
        if key not in known.cuts:
            known.cuts[key] = self._cut_beside(others, one, outcome, sign)
        value = known.cuts[key]
        return one if value is None else one._replace(value=value)

    def _cut_beside(self, others: Sequence[Condition], one: Condition, outcome: Outcome, sign: float) -> float | None:
        """Return the value that separates best beside other conditions; None where none can be told."""
        values = self.attributes[one.attribute].values
        known = ~np.isnan(values)
        rows = np.flatnonzero(condition_mask(others, self.attributes) & known if others else known)
        if len(rows) < 2 * LEAST_BOXES:
            return None
        # From the end that the condition holds: how T grows with every further value.
        order = np.argsort(values[rows] if one.op == "<" else -values[rows], kind="stable")
        rows = rows[order]
        sums = np.cumsum(sign * outcome.residual[rows])
        spread = np.cumsum(outcome.variance[rows])
        share = np.arange(1, len(rows) + 1) / self.size
        with np.errstate(divide="ignore", invalid="ignore"):
            z = sums / np.sqrt(spread * np.maximum(1.0 - share, 1e-9))
        ordered = values[rows]
        # Only between two values can a cut be; the last row would be no condition at all.
        allowed = np.append(ordered[1:] != ordered[:-1], False)
        allowed[: LEAST_BOXES - 1] = False
        if not allowed.any():
            return None
        best = int(np.argmax(np.where(allowed & np.isfinite(z), z, -np.inf)))
        inside, outside = float(ordered[best]), float(ordered[best + 1])
        return short_between(min(inside, outside), max(inside, outside))

    # --- the other half -------------------------------------------------------------------------------------------

    def _confirmed(self, mask: BoolArray, z: float, outcome: Outcome, depth: int) -> bool:
        """Tell whether one half of the documents finds this set by itself and the other half agrees."""
        units = self.units
        if units.group[-1] + 1 < _LEAST_GROUPS:
            return False
        for search_in, check_in in ((units.first_half, units.other_half), (units.other_half, units.first_half)):
            tried = self._best(outcome, search_in, max(depth, 2))
            if tried is None:
                continue
            own = _in_all(tried.ranges, self.bins.within)
            shared = int((own & mask).sum())
            if 2 * shared < int((own | mask).sum()) or tried.t * z < 0:
                continue
            if math.copysign(1.0, z) * self._statistic(own, outcome, check_in)[1] >= _CONFIRM_Z:
                return True
        return False


def _in_all(ranges: Sequence[Range], within: Callable[[Range], BoolArray]) -> BoolArray:
    return reduce(np.logical_and, map(within, ranges))


_Table = Callable[[Sums], npt.NDArray[np.floating]]
"""Takes one of the tables of some sums."""
# Besides the places of attributes.
_SINGLES: Final = -1
_TWO_ENDED: Final = -2


def _crossed(place: int) -> _Table:
    return lambda some: some.crossed(place)


@dataclass(eq=False)
class _BoxCounts:
    """Boxes of some units; `keep`: whether what was looked at once is kept for further searches."""

    count: Callable[[], Sums]
    keep: bool
    _sets: dict[int, Sets] = field(default_factory=dict)
    _every: _AllPairs | None = None

    @cached_property
    def boxes(self) -> Sums:
        return self.count()

    def of(self, table: _Table, place: int, level: Level) -> Sets:
        """Return the sets of a table, kept by the place of its attribute, `_SINGLES` or `_TWO_ENDED`."""
        if place not in self._sets:
            self._sets[place] = level.sets(np.asarray(table(self.boxes), dtype=np.float32))
        return self._sets[place]

    def every(self, run: _Run, level: Level) -> _AllPairs:
        if self._every is None:
            made = []
            places = len(run.bins.attributes)
            before = 0
            for place in run._places():
                sets = self.of(_crossed(place), place, level)
                start, stop = run.firsts[place : place + 2]
                later = len(run.owner) - stop
                at = np.arange(sets.among) if sets.kept is None else sets.kept
                first, second = at // later + start, at % later + stop
                made.append((sets, at + before, run.owner[first] * places + run.owner[second], first, second))
                before += sets.among
                if not self.keep:
                    del self._sets[place]
            self._every = _AllPairs.of(made)
        return self._every

    def by_group(self, count: Callable[[], Sums]) -> _BoxCounts:
        """Return the same by groups of units, which the sets have already."""
        whole = {
            place: sets._replace(by_unit=sets.by_group)
            for place, sets in self._sets.items()
            if place in (_SINGLES, _TWO_ENDED)
        }
        return _BoxCounts(count, self.keep, whole, self._every)


class _PairStatistics(NamedTuple):
    """z and T of some pairs of conditions, those on the same two attributes together: `pair` rises."""

    pair: IntArray
    first: IntArray
    second: IntArray
    z: FloatArray
    t: FloatArray


class _AllPairs(NamedTuple):
    """All pairs of conditions on two attributes that can be clear, those on the same two together.

    int64 (S,) each: `at`, places in the concatenated tables of crossed conditions; `pair`, which two attributes,
    rising; `first`, `second`, places of the conditions.
    """

    sets: Sets
    at: IntArray
    pair: IntArray
    first: IntArray
    second: IntArray

    @classmethod
    def of(cls, parts: Sequence[tuple[Sets, IntArray, IntArray, IntArray, IntArray]]) -> _AllPairs:
        sets, *columns = zip(*parts, strict=True) if parts else ((), (), (), (), ())
        at, pair, first, second = (np.concatenate([np.zeros(0, np.int64), *each]) for each in columns)
        # So few pairs of attributes fit 16 bits, which are sorted many times faster.
        order = np.argsort(pair.astype(np.uint16) if pair.max(initial=0) < 1 << 16 else pair, kind="stable")
        by_group = np.zeros((0, 0), np.float32)
        if sets:
            by_group = np.concatenate([each.by_group for each in sets], axis=1)[:, order]
        boxes, squares = (
            np.concatenate([np.zeros(0), *(getattr(each, name) for each in sets)])[order]
            for name in ("boxes", "squares")
        )
        every = Sets(len(order), None, by_group, by_group, boxes, squares, np.ones(len(order), bool))
        return cls(every, at[order], pair[order], first[order], second[order])

    def found(self, chosen: IntArray, sums: Sums, variance: FloatArray, level: Level) -> _PairStatistics:
        """Return the statistic of some of them, with the variance of all."""
        sets, first, second = self.sets.some(chosen), self.first[chosen], self.second[chosen]
        of_sums = sums.pairs(first, second)
        statistic = level.statistic(np.asarray(of_sums, np.float32), sets, variance[chosen], None, two_sided=True)
        return _PairStatistics(self.pair[chosen], first, second, statistic.z, statistic.t)


class _Candidate(NamedTuple):
    z: float
    t: float
    ranges: tuple[Range, ...]


def _of_different_attributes(candidates: Sequence[_Candidate], most: int) -> tuple[_Candidate, ...]:
    kept: dict[tuple[int, ...], _Candidate] = {}
    for each in candidates:
        kept.setdefault(tuple(sorted({part.attribute for part in each.ranges})), each)
        if len(kept) == most:
            break
    return tuple(kept.values())
