"""The search for slices: sets of boxes, selected by up to three conditions, where an outcome is worse than elsewhere.

Owns the counting, the statistic, its control, and the choice of conditions; knows nothing of files or words.

Every box has an outcome ("loss": 1 for a missed box, 0 for a found one; for two models the difference of the two). All
pairs of conditions are counted at once: with one column for each bin of each attribute, B, the boxes in every pair of
bins are ``BᵀB`` and their losses ``Bᵀ diag(loss) B``, and sums over neighbouring bins give every pair of conditions.
The counts are kept for groups of documents (each document where there are at most 64), because documents are what is
independent. Of a set c of boxes, T is the difference of the mean loss in it and elsewhere over its cluster-robust
standard error: what each group adds to the difference, less what its boxes were expected to add, squared and added
up. The variance is drawn towards the one that follows from how much all groups differ from each other, which is worth
20 degrees of freedom (the moderated t; Smyth 2004), and is never taken to be below that; T becomes a normal z by its
degrees of freedom, of which a set has as many as groups count in it (Wallace 1959). T is largest at the set itself: a
larger set that holds it is diluted, a smaller one is a part of it.

Chance is controlled over everything that is tried: what the groups add gets random signs (the wild cluster bootstrap;
Cameron, Gelbach and Miller 2008), the largest T over all single conditions and pairs is taken each time, and
a Gumbel law through these maxima gives the p-value of the largest T (max-T; Westfall and Young 1993). Triples are tried
below the best pairs only; their p-value counts as if all of them had been: a third condition multiplies the number of
independent tries by no more than the second one did.

What is found is listed once: its boxes get their own expectation, and the search goes on with what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.observations import Attribute
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.slices.conditions import Binned, Condition, Range, binned, holding, short_between
from evaluator.system import progress
from evaluator.system.one_thread import one_thread

Float32 = npt.NDArray[np.float32]
Blocks = list[Float32]
"""Something of every pair of bins by unit: for each attribute its own bins by these and those of later attributes."""

ALPHA: Final = 0.02
"""Chance that anything at all is listed where nothing is to be found."""
SMALLEST_EFFECT: Final = 0.03
"""A smaller difference is not listed."""
LEAST_BOXES: Final = 20
LEAST_DOCUMENTS: Final = 5
MOST_ROWS: Final = 12

_MOST_GROUPS: Final = 64
_LEAST_GROUPS: Final = 8
_FLIPS: Final = 400
_PARENTS: Final = 128
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
_CHUNK: Final = 1 << 14
# Sums of counts below this are whole numbers in float32.
_EXACT: Final = 1 << 24
_AT_A_TIME: Final = 4096
# With more cells than these, the bins of boxes are looked up anew each time.
_KEPT_CELLS: Final = 1 << 22


@dataclass(frozen=True, eq=False)
class Subset:
    """A slice.

    Attributes
    ----------
    conditions : tuple of Condition
        At most three.
    rows : int64
        Boxes in it, rising.
    documents : int
        How many documents these come from.
    z : float
        The statistic T.
    p : float
        Chance of a T as large anywhere in the search.
    confirmed : bool
        Whether the best slice of one half of the documents is this one (half of the boxes in common or more) and is
        worse than elsewhere in the other half too (one-sided p below 0.05).
    """

    conditions: tuple[Condition, ...]
    rows: IntArray
    documents: int
    z: float
    p: float
    confirmed: bool


@dataclass(frozen=True)
class Search:
    """What a search gave.

    Attributes
    ----------
    subsets : tuple of Subset
        In the order in which they were found, the clearest first.
    tested : int
        How many sets of boxes were tried, at least.
    documents : int
        With boxes.
    needed : int
        How many documents a search needs; more than `documents` when there were too few.
    best_p : float
        p-value of the best set that is not listed; 1 without any.
    thin : tuple of Subset
        As clear as those that are listed, from fewer than `LEAST_DOCUMENTS` documents.
    halves : tuple of int64
        Codes of the documents of the two halves by which a slice is confirmed; none without a search.
    """

    subsets: tuple[Subset, ...]
    tested: int = 0
    documents: int = 0
    needed: int = _LEAST_GROUPS
    best_p: float = 1.0
    thin: tuple[Subset, ...] = ()
    halves: tuple[IntArray, ...] = ()


def search(
    attributes: Sequence[Attribute],
    loss: FloatArray,
    document: IntArray,
    *,
    two_sided: bool = False,
    alpha: float = ALPHA,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    exact: Callable[[IntArray], float] | None = None,
    seed: int = 0,
) -> Search:
    """The slices where the loss is higher than elsewhere.

    Parameters
    ----------
    attributes : sequence of Attribute
        Of N boxes.
    loss : float64, shape (N,)
        Of each box: 1 and 0 of a wrong and a right one, or any numbers, such as the difference of two models.
    document : int64, shape (N,)
        Code of the document of each box.
    two_sided : bool
        Whether slices where it is lower are looked for too.
    alpha : float
        Chance that anything is listed where there is nothing.
    smallest : float
        Smallest difference that is listed.
    depth : int
        Conditions, at most; 1 to 3.
    exact : callable, optional
        A stricter statistic of a set of rows, as a normal z: where the loss is only the linear part of what is
        compared. A set that is listed must be as clear by this one.

    Notes
    -----
    It reports how many sets are tested, `evaluator.system.progress`.
    """
    present = np.unique(document)
    if len(present) < _LEAST_GROUPS or len(loss) < 2 * LEAST_BOXES:
        # As many more as are there for each of those that are there.
        enough = -(-2 * LEAST_BOXES * len(present) // len(loss)) if len(loss) else 0
        return Search((), 0, len(present), max(_LEAST_GROUPS, enough))
    run = _Run(
        attributes,
        loss,
        document,
        two_sided=two_sided,
        alpha=alpha,
        smallest=smallest,
        depth=depth,
        seed=seed,
        exact=exact,
    )
    # Its products of matrices are many and small: threads inside each only wait for each other, and last digits would
    # depend on their number.
    with one_thread():
        return run.run()


class _Tried(NamedTuple):
    """The best of a search before its conditions are looked at one by one.

    Attributes
    ----------
    t : float
        Of the best.
    p : float
        Of the clearest.
    others : tuple of _Candidate
        Some of the best, no two of them on the same attributes; the best is the first.
    """

    ranges: tuple[Range, ...]
    t: float
    p: float
    others: tuple[_Candidate, ...]


@dataclass(eq=False)
class _Outcome:
    """What is expected of the boxes so far: cells of boxes with one expectation each.

    Attributes
    ----------
    cell : int64, shape (N,)
        Bits: which of the slices that are set aside a box is in.
    residual, variance : float64, shape (N,)
    """

    cell: IntArray
    residual: FloatArray
    variance: FloatArray
    expected: dict[int, float] = field(default_factory=dict)
    spread: dict[int, float] = field(default_factory=dict)


class _Run:
    """One search; the rows are sorted by group."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        loss: FloatArray,
        document: IntArray,
        *,
        two_sided: bool,
        alpha: float,
        smallest: float,
        depth: int,
        seed: int,
        exact: Callable[[IntArray], float] | None,
    ) -> None:
        self.exact = exact
        self.rng = np.random.default_rng(seed)
        self.two_sided, self.alpha, self.smallest, self.depth = two_sided, alpha, smallest, depth
        unit, self.group_of_unit = self._units(document)
        self.order = np.argsort(unit, kind="stable").astype(np.int64)
        self.group = unit[self.order]
        self.loss, self.document = loss[self.order], document[self.order]
        self.documents = len(np.unique(document))
        self.attributes = {each.name: each.take(self.order) for each in attributes}
        self.bins: Binned = binned(tuple(self.attributes.values()), least=LEAST_BOXES)
        self.groups = int(self.group[-1]) + 1
        self.bounds = np.searchsorted(self.group, np.arange(self.groups + 1))
        documents = int(self.group_of_unit[-1]) + 1
        self.prior = _PRIOR * (documents / self.documents) ** 2
        first = np.isin(self.group_of_unit, self.rng.permutation(documents)[: documents // 2])
        self.first_half, self.other_half = np.flatnonzero(first), np.flatnonzero(~first)
        self.low = np.array([self.bins.starts[r.attribute] + r.low for r in self.bins.ranges], dtype=np.int64)
        self.high = np.array([self.bins.starts[r.attribute] + r.high for r in self.bins.ranges], dtype=np.int64)
        self.owner = np.array([r.attribute for r in self.bins.ranges], dtype=np.int64)
        # Where the conditions on each attribute begin.
        self.firsts = np.searchsorted(self.owner, np.arange(len(self.bins.attributes) + 1)).tolist()
        self.width = int(self.bins.starts[-1])
        self.size = len(loss)
        self.decoys = self._decoys()
        self.law: tuple[float, float, float] | None = None
        self.counted: dict[bytes, _Counted] = {}
        # Those of all units, of the last outcome that was asked for.
        self.residuals: tuple[_Outcome, dict[int, Blocks], Blocks] | None = None
        # By the identity of the table of a cell, which is kept beside so that no other one gets it: by groups.
        self.summed: dict[int, tuple[Blocks, dict[bytes, list[FloatArray]]]] = {}
        self.tested = 0

    def _units(self, document: IntArray) -> tuple[IntArray, IntArray]:
        """Unit of each box, and the group of documents of each unit, rising.

        A group is a document where there are at most 64, else some documents, about as many in each, at random. A
        unit is a group, or where there are few, one of several parts of about the same size: documents are what is
        independent, but signs of a few of them cannot show how many sets there are to choose from.
        """
        present, code = np.unique(document, return_inverse=True)
        if len(present) >= _MOST_GROUPS:
            shuffled = self.rng.permutation(len(present)) % _MOST_GROUPS
            return shuffled[code].astype(np.int64), np.arange(_MOST_GROUPS)
        parts = -(-_MOST_GROUPS // len(present))
        order = np.argsort(code, kind="stable")
        count = np.bincount(code)
        place = np.empty(len(code), np.int64)
        place[order] = np.arange(len(code)) - np.repeat(np.cumsum(count) - count, count)
        unit = code * parts + place * parts // count[code]
        used, unit = np.unique(unit, return_inverse=True)
        return unit.astype(np.int64), used // parts

    def _decoys(self) -> npt.NDArray[np.uint8]:
        """Bins of attributes without any meaning, uint8, shape (N, 6): numbers from 0 to 9, at random."""
        return self.rng.integers(0, 10, (self.size, _DECOYS), dtype=np.uint8)

    # --- the loop -----------------------------------------------------------------------------------------------

    def run(self) -> Search:
        """Slice after slice, until chance could have found the next one."""
        clearest: list[Subset] = []
        thin: list[Subset] = []
        documents = self.documents
        best_p = 1.0
        if self.width == 0:
            return Search((), 0, documents)
        self.losses = self._gram(np.flatnonzero(self.loss), self.loss)
        cells = {0: self._gram(np.arange(self.size))}
        self.counts = cells[0]
        outcome = self._expect(np.zeros(self.size, np.int64))
        every = np.arange(self.groups)
        for step in range(2 * MOST_ROWS):
            tried = self._best(outcome, cells, every, self.depth)
            if tried is None:
                break
            if tried.p > _WORTH_A_LOOK:
                best_p = tried.p
                break
            if step == 0:
                cells = self._without_parts(cells)
                every = np.arange(self.groups)
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
                confirmed = self._confirmed(mask, t, outcome, cells, len(conditions))
                clearest.append(Subset(conditions, np.sort(self.order[rows]), inside, t, p, confirmed))
                if len(clearest) == MOST_ROWS:
                    break
            bit = np.int64(1) << step
            cell = outcome.cell | np.where(mask, bit, 0)
            cells = self._split(cells, cell, mask, int(bit))
            outcome = self._expect(cell)
        halves = tuple(
            np.unique(self.document[np.isin(self.group, half)]) for half in (self.first_half, self.other_half)
        )
        return Search(tuple(clearest), self.tested, documents, _LEAST_GROUPS, best_p, tuple(thin), halves)

    def _expect(self, cell: IntArray) -> _Outcome:
        """What is expected of the boxes of each cell: their mean."""
        values, code = np.unique(cell, return_inverse=True)
        count = np.bincount(code)
        mean = np.bincount(code, self.loss) / count
        spread = np.maximum(np.bincount(code, self.loss**2) / count - mean**2, 0.0)
        return _Outcome(
            cell, self.loss - mean[code], spread[code],
            dict(zip(values.tolist(), mean.tolist(), strict=True)),
            dict(zip(values.tolist(), spread.tolist(), strict=True)),
        )  # fmt: skip

    def _split(self, cells: dict[int, Blocks], cell: IntArray, mask: BoolArray, bit: int) -> dict[int, Blocks]:
        """Counts of the cells after a new slice: only its own boxes are counted again."""
        split = dict(cells)
        for value in np.unique(cell[mask]).tolist():
            part = self._gram(np.flatnonzero(cell == value))
            split[value] = part
            split[value & ~bit] = [of - less for of, less in zip(split[value & ~bit], part, strict=True)]
        kept = set(np.unique(cell).tolist())
        left = {value: part for value, part in split.items() if value in kept}
        self.summed = {key: self.summed[key] for key in map(id, left.values()) if key in self.summed}
        return left

    def _without_parts(self, cells: dict[int, Blocks]) -> dict[int, Blocks]:
        """From here on a group is one unit: only the signs, which are drawn once, need its parts."""
        groups = int(self.group_of_unit[-1]) + 1
        if groups == self.groups:
            return cells
        starts = np.searchsorted(self.group_of_unit, np.arange(groups))
        self.losses, *merged = (
            [np.add.reduceat(each, starts, axis=2) for each in blocks] for blocks in (self.losses, *cells.values())
        )
        self.counts = merged[0]
        self.counted.clear()
        self.summed.clear()
        self.first_half, self.other_half = (
            np.unique(self.group_of_unit[half]) for half in (self.first_half, self.other_half)
        )
        self.group, self.groups = self.group_of_unit[self.group], groups
        self.bounds = np.searchsorted(self.group, np.arange(groups + 1))
        self.group_of_unit = np.arange(groups)
        return dict(zip(cells, merged, strict=True))

    # --- counting -----------------------------------------------------------------------------------------------

    def _columns(self, rows: IntArray) -> Iterator[tuple[IntArray, Float32]]:
        """One column for each bin, for some rows at a time; never across two chunks of `_CHUNK`."""
        for low in range(0, len(rows), _CHUNK):
            part = rows[low : low + _CHUNK]
            matrix = np.zeros((len(part), self.width + 1), np.float32)
            matrix[np.arange(len(part))[:, None], self._places(part)] = 1.0
            yield part, matrix[:, : self.width]

    def _places(self, rows: IntArray) -> IntArray:
        """The column of the bin of some boxes in each attribute, int64; `width`, which is left out, where unknown."""
        codes = self.bins.codes[rows].astype(np.int64)
        return np.where(codes < np.array(self.bins.sizes), codes + self.bins.starts[:-1], self.width)

    def _gram(self, rows: IntArray, weight: FloatArray | None = None) -> Blocks:
        """Boxes in every pair of bins by group, or the sum of their weights."""
        out = np.zeros((self.groups, self.width, self.width), np.float32)
        for part, matrix in self._columns(rows):
            group = self.group[part]
            for one in range(int(group[0]), int(group[-1]) + 1):
                low, high = np.searchsorted(group, [one, one + 1])
                if high > low:
                    some = matrix[low:high]
                    heavy = some if weight is None else some * weight[part[low:high], None].astype(np.float32)
                    out[one] += some.T @ heavy
        # Groups last: what is added up over neighbouring bins then is side by side in memory.
        blocks = []
        for start, stop in pairwise(self.bins.starts.tolist()):
            block = np.empty((stop - start, self.width - start, self.groups), np.float32)
            for place in range(start, stop):
                block[place - start] = out[:, place, start:].T
            blocks.append(block)
        return blocks

    def _by_bin(
        self, rows: IntArray, weight: FloatArray, placed: Callable[[IntArray], IntArray], groups: int
    ) -> tuple[FloatArray, FloatArray]:
        """Sum of the weights and number of some boxes in every bin by group, float64, shape (K, G) each.

        Every box is in one bin of each attribute, so that counting them is less work than a product of matrices.
        """
        cells = (self.width + 1) * groups
        sums, counts = np.zeros(cells), np.zeros(cells)
        for low in range(0, len(rows), _CHUNK):
            part = rows[low : low + _CHUNK]
            cell = placed(part).ravel()
            sums += np.bincount(cell, np.repeat(weight[part], self.bins.codes.shape[1]), minlength=cells)
            counts += np.bincount(cell, minlength=cells)
        shape = self.width + 1, groups
        return sums.reshape(shape)[: self.width], counts.reshape(shape)[: self.width]

    def _placed(self, group: IntArray, groups: int) -> Callable[[IntArray], IntArray]:
        """For some rows the cell of each attribute: its bin, and in it the group of the box; int64, shape (N, A)."""

        def made(rows: IntArray) -> IntArray:
            return self._places(rows) * groups + group[rows, None]

        if self.bins.codes.size > _KEPT_CELLS:
            return made
        # A box is in many of the sets that are looked at.
        every = made(np.arange(self.size))
        return lambda rows: every.take(rows, axis=0)

    # --- the statistic ------------------------------------------------------------------------------------------

    def _best(self, outcome: _Outcome, cells: dict[int, Blocks], groups: IntArray, depth: int) -> _Tried | None:
        """The best set in some of the groups, with its p-value when these are all of them."""
        every = len(groups) == self.groups
        sums, variance = self._residuals(outcome, cells, groups)
        level = self._level(outcome, groups)
        signs = None
        if self.law is None and every:
            signs = self.rng.choice(np.array([-1.0, 1.0], np.float32), (_FLIPS, len(groups)))
        singles, pairs = self._singles_and_pairs(sums, self._counted(groups), variance, level, signs)
        triples = self._triples(pairs, outcome, groups) if depth > 2 else []
        depths = [singles, pairs if depth > 1 else [], triples]
        if not any(depths):
            return None
        every_p = [[self._p(abs(each.z), depth) for each in tried] for depth, tried in enumerate(depths, 1)]
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
        most = _POLISHED if self.exact is None else 2 * _POLISHED
        return _Tried(best.ranges, best.t, least, _unlike([each for _, each in clear], most))

    def _residuals(self, outcome: _Outcome, cells: dict[int, Blocks], groups: IntArray) -> tuple[Blocks, FloatArray]:
        """The residuals of every pair of bins by unit, and the variance of every two bins, float64, shape (K, K)."""
        if self.residuals is None or self.residuals[0] is not outcome or self.residuals[1] is not cells:
            sums: Blocks = []
            for place, losses in enumerate(self.losses):
                block, product = losses.copy(), np.empty_like(losses)
                for value, parts in cells.items():
                    block -= np.multiply(parts[place], np.float32(outcome.expected[value]), out=product)
                sums.append(block)
            self.residuals = outcome, cells, sums
        variance = np.zeros((self.width, self.width))
        counts = [(outcome.spread[value], self._counts_in(parts, groups)) for value, parts in cells.items()]
        for place, start in enumerate(self.bins.starts[:-1].tolist()):
            of_pairs = variance[start : int(self.bins.starts[place + 1]), start:]
            for spread, by_place in counts:
                of_pairs += spread * by_place[place]
            variance[start:, start : start + len(of_pairs)] = of_pairs.T
        if len(groups) == self.groups:
            return self.residuals[2], variance
        return [np.ascontiguousarray(each[:, :, groups]) for each in self.residuals[2]], variance

    def _counts_in(self, parts: Blocks, groups: IntArray) -> list[FloatArray]:
        """The boxes of a cell in every pair of bins, all groups of some together; kept while the cell is what it is."""
        key = groups.tobytes()
        known = self.summed.setdefault(id(parts), (parts, {}))[1]
        if key not in known:
            chosen = np.zeros(self.groups)
            chosen[groups] = 1.0
            of_counts = chosen.astype(np.float32) if self.size < _EXACT else chosen
            known[key] = [np.asarray(each @ of_counts, dtype=np.float64) for each in parts]
        return known[key]

    def _counted(self, groups: IntArray) -> _Counted:
        """The boxes of some groups; they stay what they are while more and more of them are expected."""
        key = groups.tobytes()
        if key not in self.counted:
            every = len(groups) == self.groups
            counts = self.counts if every else [np.ascontiguousarray(each[:, :, groups]) for each in self.counts]
            self.counted[key] = _Counted(counts, {})
        return self.counted[key]

    def _level(self, outcome: _Outcome, groups: IntArray) -> _Level:
        """All boxes of some groups."""
        totals = np.bincount(self.group, outcome.residual, self.groups)[groups].astype(np.float64)
        boxes = np.diff(self.bounds)[groups].astype(np.float64)
        variance = np.bincount(self.group, outcome.variance, self.groups)[groups].astype(np.float64)
        return self._level_of(totals, boxes, variance, groups)

    def _level_of(self, totals: FloatArray, boxes: FloatArray, variance: FloatArray, groups: IntArray) -> _Level:
        """The same from sums by unit."""
        starts = np.flatnonzero(np.diff(self.group_of_unit[groups], prepend=-1))
        s, n, v = (np.add.reduceat(each, starts) for each in (totals, boxes, variance))
        between = max(float((s**2 - v).sum() / max((n**2).sum(), 1.0)), 0.0)
        return _Level(totals, boxes, starts, between, self.prior)

    def _p(self, z: float, conditions: int) -> float:
        """Chance of a T as large anywhere among the sets with so many conditions, twice: there are two families."""
        assert self.law is not None
        place, scale, more = self.law
        if conditions < 3:
            return min(1.0, 2.0 * -math.expm1(-math.exp(-(z - place) / scale)))
        # The same law, moved to where `more` times as many tries have their largest.
        return min(1.0, 2.0 * -math.expm1(-math.exp(-(z - place - more) / scale)))

    def _singles_and_pairs(
        self, sums: Blocks, counted: _Counted, variance: FloatArray, level: _Level, signs: Float32 | None
    ) -> tuple[list[_Candidate], list[_Candidate]]:
        """The best single conditions and the best pairs of every two attributes, clearest first."""
        prefix = _summed(_summed(variance).T).T
        largest = np.zeros((2, _FLIPS))

        def tried(of_sums: Float32, of_sets: _Sets, of_variance: FloatArray, depth: int) -> _Statistic:
            statistic = level.statistic(of_sums, of_sets, of_variance, signs, two_sided=self.two_sided)
            if statistic.largest is not None:
                np.maximum(largest[depth - 1], statistic.largest, out=largest[depth - 1])
                self.tested += len(statistic.z)
            return statistic

        of_attributes = [variance[start:stop, start:stop] for start, stop in pairwise(self.bins.starts.tolist())]
        # Ranges with two ends are pairs of conditions.
        alone = [
            self._alone(made, (sums, counted.counts, of_attributes), level, partial(tried, depth=conditions))
            for conditions, made in enumerate((self.bins.ranges, self.bins.two_ended)[: self.depth], 1)
        ]
        crosses: list[_Crossed] = []
        for place, (start, stop) in enumerate(pairwise(self.firsts)):
            if stop == len(self.owner) or self.depth < 2:
                break
            own, later = np.arange(start, stop), np.arange(stop, len(self.owner))
            crossed = self._crossed(sums[place], place, own, later)
            if place not in counted.crossed:
                counted.crossed[place] = level.sets(self._crossed(counted.counts[place], place, own, later))
            row = prefix[self.high[own]] - prefix[self.low[own]]
            of_variance = (row[:, self.high[later]] - row[:, self.low[later]]).ravel()
            statistic = tried(crossed, counted.crossed[place], of_variance, 2)
            progress.report(self.tested, 0)
            z, t = (each.reshape(len(own), len(later)) for each in (statistic.z, statistic.t))
            worth = (np.abs(z) if self.two_sided else z).max(axis=0)
            crosses.append(_Crossed(z, t, np.maximum.reduceat(worth, np.array(self.firsts[place + 1 : -1]) - stop)))
        if signs is not None:
            self._learn(largest)
        singles = sorted((each for best in alone[0] for each in best), key=lambda each: -abs(each.z))
        pairs = self._pairs(crosses, alone[1], singles) if self.depth > 1 else []
        return singles, pairs

    def _pairs(
        self, crosses: Sequence[_Crossed], two_ended: Sequence[list[_Candidate]], singles: Sequence[_Candidate]
    ) -> list[_Candidate]:
        """The best three of every two attributes, and the ranges with two ends, clearest first.

        Two attributes are left out when even their best is neither one of the clearest `_PARENTS` nor about as clear as
        the clearest of all.
        """
        maxima = np.concatenate([np.zeros(0), *(each.most for each in crosses)])
        ends = [abs(each.z) for best in two_ended for each in best]
        clearest = max([*ends, float(maxima.max(initial=0.0))])
        if clearest == 0.0:
            return []
        least = min([self._p(clearest, 2), *(self._p(abs(each.z), 1) for each in singles[:1])])
        parent = float(np.partition(maxima, -_PARENTS)[-_PARENTS]) if len(maxima) > _PARENTS else 0.0
        limit = max(self.alpha, _NEAR * least)
        pairs = []
        for place, best in enumerate(two_ended):
            pairs.extend(best)
            if place >= len(crosses):
                continue
            z, t, most = crosses[place]
            start, stop = self.firsts[place : place + 2]
            for value, low, high in zip(
                most.tolist(), self.firsts[place + 1 : -1], self.firsts[place + 2 :], strict=True
            ):
                if value < parent and self._p(value, 2) > limit:
                    continue
                part = z[:, low - stop : high - stop]
                for at in self._top(part.ravel(), 3):
                    i, j = divmod(at, high - low)
                    chosen = (self.bins.ranges[start + i], self.bins.ranges[low + j])
                    pairs.append(_Candidate(float(part[i, j]), float(t[i, low - stop + j]), chosen))
        pairs.sort(key=lambda each: -abs(each.z))
        return pairs

    def _alone(
        self,
        made: Sequence[Range],
        tables: tuple[Blocks, Blocks, list[FloatArray]],
        level: _Level,
        tried: Callable[[Float32, _Sets, FloatArray], _Statistic],
    ) -> list[list[_Candidate]]:
        """For each attribute the best of some ranges of its own bins, which are on the diagonal of its tables."""
        starts, sizes = self.bins.starts, self.bins.sizes
        own = [np.arange(size) for size in sizes]
        on_diagonal: list[Sequence[npt.NDArray[np.floating]]] = list(tables)
        prefixes = [
            np.concatenate([_summed(each[bins, bins]) for each, bins in zip(table, own, strict=True)])
            for table in on_diagonal
        ]
        owner, low, high = np.array(made, dtype=np.int64).reshape(-1, 3).T
        # The running sums of an attribute are one longer than its bins.
        first = starts[owner] + owner
        sums, counts, variance = (each[first + high] - each[first + low] for each in prefixes)
        statistic = tried(sums, level.sets(counts), variance)
        best = []
        for place in range(len(own)):
            those = np.flatnonzero(owner == place).tolist()
            chosen = (those[at] for at in self._top(statistic.z[those], 4))
            best.append([_Candidate(float(statistic.z[at]), float(statistic.t[at]), (made[at],)) for at in chosen])
        return best

    def _crossed(self, block: Float32, place: int, own: IntArray, later: IntArray) -> Float32:
        """The sums of every pair of a condition on one attribute and one on a later attribute, by unit."""
        start, first = int(self.bins.starts[place]), int(self.bins.starts[place + 1])
        units = block.shape[2]
        rows = _summed(block[:, first - start :])
        # The bins that are added up come first in memory: whole planes are added, not numbers far from each other.
        turned = np.empty((self.width - first, len(own), units), block.dtype)
        np.subtract(rows[self.high[own] - start], rows[self.low[own] - start], out=turned.transpose(1, 0, 2))
        turned = _summed(turned)
        columns = np.empty((len(own), len(later), units), block.dtype)
        np.subtract(turned[self.high[later] - first], turned[self.low[later] - first], out=columns.transpose(1, 0, 2))
        return columns.reshape(-1, units)

    def _learn(self, largest: FloatArray) -> None:
        """The law of the largest T of single conditions and pairs where nothing is, and its shift by a third.

        The method of moments for the Gumbel law. The shift is what the second condition moved the median by, from that
        of single conditions alone: the step from two to three is a smaller one, in sets per set and in T.
        """
        both = largest.max(axis=0)
        scale = float(both.std(ddof=1) * math.sqrt(6.0) / math.pi)
        place = float(both.mean() - 0.5772156649 * scale)
        normal = NormalDist()
        tails = [max(normal.cdf(-float(np.median(each))), 1e-300) for each in (largest[0], both)]
        ratio = max(tails[0] / tails[1], 1.0)
        third = -normal.inv_cdf(tails[1] / ratio)
        self.law = place, scale, third - float(np.median(both))

    def _top(self, z: FloatArray, most: int) -> list[int]:
        """Places of the largest values of interest."""
        worth = np.abs(z) if self.two_sided else z
        if len(worth) <= most:
            chosen = np.argsort(-worth)
        else:
            part = np.argpartition(-worth, most)[:most]
            chosen = part[np.argsort(-worth[part])]
        return [int(at) for at in chosen if worth[at] > 0]

    def _triples(self, pairs: Sequence[_Candidate], outcome: _Outcome, groups: IntArray) -> list[_Candidate]:
        """The best third conditions of the best pairs."""
        parents = [each.ranges for each in pairs[:_PARENTS]]
        if not parents:
            return []
        level = self._level(outcome, groups).by_group()
        group, pick = self.group_of_unit[self.group], np.unique(self.group_of_unit[groups])
        groups_in_all = int(group[-1]) + 1
        placed = self._placed(group, groups_in_all)
        tables = np.zeros((2, self.width, len(parents), len(pick)), np.float32)
        spread = np.zeros(len(parents))
        for place, parent in enumerate(parents):
            progress.report(self.tested, 0)
            rows = np.flatnonzero(self._mask(parent))
            spread[place] = outcome.variance.take(rows).sum() / max(len(rows), 1)
            counted = self._by_bin(rows, outcome.residual, placed, groups_in_all)
            for table, by_group in zip(tables, counted, strict=True):
                table[:, place] = by_group[:, pick]
        shape = len(parents), len(self.low)
        parts = []
        for each in tables:
            prefix = _summed(each)
            part = np.empty((*shape, len(pick)), each.dtype)
            np.subtract(prefix[self.high], prefix[self.low], out=part.transpose(1, 0, 2))
            parts.append(part.reshape(-1, len(pick)))
        of_variance = parts[1].sum(axis=1, dtype=np.float64) * np.repeat(spread, shape[1])
        statistic = level.statistic(parts[0], level.sets(parts[1]), of_variance, None, two_sided=self.two_sided)
        z = statistic.z.reshape(shape)
        # A range within a range of the same attribute is no third condition.
        taken = np.zeros((len(parents), len(self.bins.attributes)), bool)
        for place, parent in enumerate(parents):
            taken[place, [part.attribute for part in parent]] = True
        z[taken[:, self.owner]] = 0.0
        self.tested += z.size
        return [
            _Candidate(
                float(statistic.z[at]),
                float(statistic.t[at]),
                (*parents[at // shape[1]], self.bins.ranges[at % shape[1]]),
            )
            for at in self._top(z.ravel(), 32)
        ]

    def _mask(self, ranges: Sequence[Range]) -> BoolArray:
        return np.asarray(np.logical_and.reduce([self.bins.within(part) for part in ranges]), dtype=bool)

    def _statistic(self, mask: BoolArray, outcome: _Outcome, groups: IntArray) -> tuple[float, float]:
        """T of one set of boxes in some groups, as a normal z and as it is."""
        rows = np.flatnonzero(mask & np.isin(self.group, groups))
        sums = np.bincount(self.group[rows], outcome.residual[rows], self.groups)[groups]
        counts = np.bincount(self.group[rows], minlength=self.groups)[groups]
        variance = np.array([outcome.variance[rows].sum()])
        level = self._level(outcome, groups)
        statistic = level.statistic(
            sums[None].astype(np.float32), level.sets(counts[None].astype(np.float32)), variance, None, two_sided=True
        )
        return float(statistic.z[0]), float(statistic.t[0])

    def _clear(self, size: float, t: float, rows: IntArray) -> float:
        """The size of a statistic, or that of the stricter one where it is smaller; 0 where that has another sign."""
        if self.exact is None:
            return size
        return min(size, max(self.exact(self.order[rows]) * math.copysign(1.0, t), 0.0))

    # --- the conditions of what was found -------------------------------------------------------------------------

    def _chosen(self, tried: _Tried, outcome: _Outcome) -> tuple[tuple[Condition, ...], IntArray]:
        """The best of the candidates when each has the cuts where it separates best.

        A cut of the search is one of few; an attribute that goes with the right one can do better with its own.
        """
        every = np.arange(self.groups)
        best: tuple[float, tuple[Condition, ...], IntArray] | None = None
        for each in tried.others:
            conditions, rows = self._polished(each, outcome)
            mask = np.zeros(self.size, bool)
            mask[rows] = True
            t = self._statistic(mask, outcome, every)[1]
            worth = self._clear(abs(t), t, rows) ** 2 - _PRICE * len(conditions)
            if best is None or worth > best[0]:
                best = worth, conditions, rows
        assert best is not None
        return best[1], best[2]

    def _polished(self, tried: _Candidate, outcome: _Outcome) -> tuple[tuple[Condition, ...], IntArray]:
        """The conditions that are needed, with the cuts where they separate best, and the rows for which they hold."""
        conditions = [each for part in tried.ranges for each in self.bins.conditions(part)]
        sign = 1.0 if tried.t > 0 else -1.0
        for _ in range(3):
            before = list(conditions)
            for at in range(len(conditions)):
                conditions[at] = self._cut(conditions, at, outcome, sign)
            while len(conditions) > 1:
                without = [conditions[:at] + conditions[at + 1 :] for at in range(len(conditions))]
                inside = holding(conditions, self.attributes)
                worth = [self._told_by(inside, holding(each, self.attributes), sign) for each in without]
                at = int(np.argmin(worth))
                if worth[at] > 0.0:
                    break
                conditions = without[at]
            if conditions == before:
                break
        order = [each for each in conditions if each.attribute == "label"]
        ordered = (*order, *(each for each in conditions if each.attribute != "label"))
        return ordered, np.flatnonzero(holding(ordered, self.attributes))

    def _told_by(self, inside: BoolArray, parent: BoolArray, sign: float) -> float:
        """What a condition adds: by how much the square of z is above its price; 0 or less for nothing.

        z is that of the boxes inside against the rest of the parent, with the variance that the parent has. The price
        is what the best of some hundred conditions without meaning reaches, and not less than the best of the decoys.
        """
        rows = np.flatnonzero(parent)
        residual = sign * (self.loss[rows] - self.loss[rows].mean())
        spread = float((residual**2).mean())
        group, kept = self.group[rows], inside[rows]
        boxes = np.bincount(group, minlength=self.groups).astype(np.float64)
        totals = np.bincount(group, residual, self.groups).astype(np.float64)
        level = self._level_of(totals, boxes, spread * boxes, np.arange(self.groups))
        sums = np.bincount(group[kept], residual[kept], self.groups)[None].astype(np.float32)
        counts = np.bincount(group[kept], minlength=self.groups)[None].astype(np.float32)
        of_variance = np.array([spread * kept.sum()])
        z = float(level.statistic(sums, level.sets(counts), of_variance, None, two_sided=True).z[0])
        best = _PRICE
        for column in self.decoys[rows].T:
            part = np.cumsum(np.bincount(column, residual, 10))[:-1]
            share = np.cumsum(np.bincount(column, minlength=10))[:-1] / max(len(rows), 1)
            best = max(best, float((part**2 / np.maximum(spread * len(rows) * share * (1.0 - share), 1e-9)).max()))
        return z * z - best if z > 0 else -1.0

    def _cut(self, conditions: list[Condition], at: int, outcome: _Outcome, sign: float) -> Condition:
        """A condition on a number with the value that separates best, the other conditions being what they are."""
        one = conditions[at]
        if one.op == "==":
            return one
        others = conditions[:at] + conditions[at + 1 :]
        values = self.attributes[one.attribute].values
        known = ~np.isnan(values)
        rows = np.flatnonzero(holding(others, self.attributes) & known if others else known)
        if len(rows) < 2 * LEAST_BOXES:
            return one
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
            return one
        best = int(np.argmax(np.where(allowed & np.isfinite(z), z, -np.inf)))
        inside, outside = float(ordered[best]), float(ordered[best + 1])
        value = short_between(min(inside, outside), max(inside, outside))
        return one._replace(value=value)

    # --- the other half -------------------------------------------------------------------------------------------

    def _confirmed(self, mask: BoolArray, z: float, outcome: _Outcome, cells: dict[int, Blocks], depth: int) -> bool:
        """Whether one half of the documents finds this set by itself and the other half agrees."""
        if self.group_of_unit[-1] + 1 < _LEAST_GROUPS:
            return False
        for search_in, check_in in ((self.first_half, self.other_half), (self.other_half, self.first_half)):
            tried = self._best(outcome, cells, search_in, max(depth, 2))
            if tried is None:
                continue
            own = self._mask(tried.ranges)
            shared = int((own & mask).sum())
            if 2 * shared < int((own | mask).sum()) or tried.t * z < 0:
                continue
            if math.copysign(1.0, z) * self._statistic(own, outcome, check_in)[1] >= _CONFIRM_Z:
                return True
        return False


class _Counted(NamedTuple):
    """Boxes of some groups.

    Attributes
    ----------
    counts : Blocks
        In every pair of bins.
    crossed : dict of _Sets
        By attribute, in every pair of a condition on it and one on a later attribute; filled when first asked for.
    """

    counts: Blocks
    crossed: dict[int, _Sets]


class _Sets(NamedTuple):
    """Boxes of C sets by unit and by group, float32, shapes (C, U) and (C, G)."""

    by_unit: Float32
    by_group: Float32


class _Crossed(NamedTuple):
    """T of every pair of a condition on one attribute and one on a later attribute.

    Attributes
    ----------
    z, t : float64, shape (conditions on the attribute, conditions on later ones)
    most : float64, shape (later attributes,)
        The largest z of interest with each of them.
    """

    z: FloatArray
    t: FloatArray
    most: FloatArray


class _Level(NamedTuple):
    """All boxes of a search by unit.

    Attributes
    ----------
    totals, boxes : float64, shape (U,)
        The sum of their residuals, and how many there are.
    starts : int64, shape (G,)
        The first unit of each group.
    between : float
        Variance of the mean residual of a group beyond that of independent boxes.
    prior : float
        How many degrees of freedom the variance that follows from `between` counts as.
    """

    totals: FloatArray
    boxes: FloatArray
    starts: IntArray
    between: float
    prior: float

    def by_group(self) -> _Level:
        """The same with each group as one unit."""
        totals, boxes = (np.add.reduceat(each, self.starts) for each in (self.totals, self.boxes))
        return self._replace(totals=totals, boxes=boxes, starts=np.arange(len(self.starts)))

    def sets(self, counts: Float32) -> _Sets:
        """Sets of boxes from how many each unit has."""
        return _Sets(counts, self._grouped(counts))

    def _grouped(self, values: Float32) -> Float32:
        """Sums over the units of each group."""
        if len(self.starts) == len(self.totals):
            return values
        return np.asarray(np.add.reduceat(values, self.starts, axis=1))

    def statistic(
        self, sums: Float32, sets: _Sets, variance: FloatArray, signs: Float32 | None, *, two_sided: bool
    ) -> _Statistic:
        """The statistics of C sets of boxes.

        Parameters
        ----------
        sums : float32, shape (C, U)
            Residuals by unit.
        sets : _Sets
        variance : float64, shape (C,)
            Binomial variance; a set with too few boxes, or all but too few, gets 0.
        """
        units = sums, sets.by_unit
        whole = self if len(self.starts) == len(self.totals) else self.by_group()
        sums, counts = self._grouped(sums), sets.by_group
        size, overall = self.boxes.sum(), self.totals.sum()
        # The sums over groups of s, s S, s N and of n, n S, n N, where S and N are those of all boxes.
        every = np.column_stack([np.ones_like(whole.totals), whole.totals, whole.boxes]).astype(np.float32)
        s1, s_s, s_n = (sums @ every).astype(np.float64).T
        n1, n_s, n_n = (counts @ every).astype(np.float64).T
        ss, sn, nn = (
            np.einsum("cg,cg->c", one, other).astype(np.float64)
            for one, other in ((sums, sums), (sums, counts), (counts, counts))
        )
        share = n1 / size
        inside = s1 / np.maximum(n1, 1.0)
        outside = (overall - s1) / np.maximum(size - n1, 1.0)
        # What a group adds to (mean inside - mean outside) n (1 - share), less what is expected of its boxes:
        # s - a n - f S + b N.
        a, f, b = inside * (1.0 - share) + outside * share, share, share * outside
        squares = (
            ss + a * a * nn + f * f * (whole.totals**2).sum() + b * b * (whole.boxes**2).sum()
            + 2.0 * (-a * sn - f * s_s + b * s_n + a * f * n_s - a * b * n_n)
            - 2.0 * f * b * (whole.totals * whole.boxes).sum()
        )  # fmt: skip
        difference = (inside - outside) * n1 * (1.0 - share)
        # As many groups as count: fewer when most of the boxes are in few of them.
        effective = np.maximum(n1**2 / np.maximum(nn, 1.0), 1.0 + 1e-9)
        # A variance from few groups is drawn towards what all groups say about each other, never below that.
        pooled = (variance + self.between * nn) * np.maximum(1.0 - share, 0.0)
        freedom = effective - 1.0
        own = squares * effective / freedom
        spread = np.maximum(pooled, (freedom * own + self.prior * pooled) / (freedom + self.prior))
        usable = (n1 >= LEAST_BOXES) & (n1 <= size - LEAST_BOXES) & (spread > 0) & (effective > 2.0)
        scale = np.where(usable, 1.0 / np.sqrt(np.where(usable, spread, 1.0)), 0.0)
        t = difference * scale
        z = as_normal(t, freedom + self.prior)
        if signs is None:
            return _Statistic(z, t, None)
        largest = np.zeros(len(signs))
        chosen = np.flatnonzero(usable)
        for low in range(0, len(chosen), _AT_A_TIME):
            some = chosen[low : low + _AT_A_TIME]
            centred = units[1][some]
            centred *= a[some, None].astype(np.float32)
            np.subtract(units[0][some], centred, out=centred)
            # Each product is rounded once, when it is written: no table of float64 in between.
            product = np.empty_like(centred)
            centred -= np.multiply(f[some, None], self.totals, out=product, casting="same_kind")
            centred += np.multiply(b[some, None], self.boxes, out=product, casting="same_kind")
            # Of parts of documents, their own variance: that of whole documents is not in them.
            power = spread[some]
            if len(self.starts) < len(self.totals):
                power = np.maximum(np.einsum("cu,cu->c", centred, centred), (variance * (1.0 - share))[some])
            centred *= (1.0 / np.sqrt(np.maximum(power, 1e-30))).astype(np.float32)[:, None]
            part = centred @ signs.T
            np.maximum(largest, part.max(axis=0), out=largest)
            if two_sided:
                np.maximum(largest, -part.min(axis=0), out=largest)
        return _Statistic(z, t, largest)


class _Statistic(NamedTuple):
    """T of C sets of boxes.

    Attributes
    ----------
    z : float64, shape (C,)
        As a normal z, by as many degrees of freedom as there are groups that count, less one.
    t : float64, shape (C,)
        As it is.
    largest : float64, shape (flips,), or None
        The largest of all sets under each row of signs; None without signs.
    """

    z: FloatArray
    t: FloatArray
    largest: FloatArray | None


class _Candidate(NamedTuple):
    """A set of boxes that the search tried."""

    z: float
    t: float
    ranges: tuple[Range, ...]


def as_normal(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """Student's t as a normal z, float64 of the same shape (Wallace 1959)."""
    size = np.sqrt(freedom * np.log1p(t**2 / freedom))
    return np.asarray(np.sign(t) * (8 * freedom + 1) / (8 * freedom + 3) * size)


def _unlike(candidates: Sequence[_Candidate], most: int) -> tuple[_Candidate, ...]:
    """The first few, no two of them on the same attributes."""
    kept: dict[tuple[int, ...], _Candidate] = {}
    for each in candidates:
        kept.setdefault(tuple(sorted({part.attribute for part in each.ranges})), each)
        if len(kept) == most:
            break
    return tuple(kept.values())


def _summed(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Running sums along the first axis with a 0 in front: a range of bins is the difference of two of them.

    Adding whole planes is many times faster than `numpy.cumsum`, which goes along the axis for each number by itself,
    and adds in the same order.
    """
    sums = np.empty((len(values) + 1, *values.shape[1:]), values.dtype)
    sums[0] = 0.0
    sums[1:2] = values[:1]
    for place in range(1, len(values)):
        np.add(sums[place : place + 1], values[place : place + 1], out=sums[place + 1 : place + 2])
    return sums
