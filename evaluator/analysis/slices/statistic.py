"""The statistic of sets of boxes (formula in `search`), and its largest values under random signs of the units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.analysis.slices.conditions import Float32
from evaluator.data.boxes import BoolArray, FloatArray, IntArray

LEAST_BOXES: Final = 20
# So many sets at a time fit a table of their sums under all signs into the processor's own memory.
_AT_A_TIME: Final = 512
# Sums in float32 may move z by some millionths.
_SLACK: Final = 1e-3


class _OfGroups(NamedTuple):
    """Rows of 1, of S and of N, float32, shape (3, G), and the sums over groups of S S, N N and S N."""

    rows: Float32
    ss: float
    nn: float
    sn: float


class Sets(NamedTuple):
    """Boxes of S of C sets.

    `among` is C; `kept`: which of them, int64 (S,), None for all. `by_unit`, `by_group`: boxes, float32 (U, S) and (G,
    S). `boxes`, `squares`: all boxes, and the sum of squares over groups, float64 (S,). `countable`: bool (S,), whether
    there are enough boxes and groups inside, and enough boxes outside.
    """

    among: int
    kept: IntArray | None
    by_unit: Float32
    by_group: Float32
    boxes: FloatArray
    squares: FloatArray
    countable: BoolArray

    def taken(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """Return the columns of these sets of a table over all."""
        if self.kept is None:
            return values
        if values.flags.f_contiguous and not values.flags.c_contiguous:
            return values.T.take(self.kept, axis=0).T
        return values.take(self.kept, axis=1)

    def some(self, columns: IntArray) -> Sets:
        """Return some of these sets, as if they were all."""
        by_unit = self.by_unit[:, columns]
        by_group = by_unit if self.by_group is self.by_unit else self.by_group[:, columns]
        boxes, squares, countable = self.boxes[columns], self.squares[columns], self.countable[columns]
        return Sets(len(columns), None, by_unit, by_group, boxes, squares, countable)

    def spread_out(self, values: FloatArray) -> FloatArray:
        """Return values of these sets as values of all, 0 for the others."""
        if self.kept is None:
            return values
        every = np.zeros(self.among)
        every[self.kept] = values
        return every


@dataclass(frozen=True, eq=False)
class Level:
    """All boxes of a search by unit.

    `totals`, `boxes`: residuals and numbers of boxes, float64 (U,). `starts`: first unit of each group, int64 (G,).
    `between`: variance of the mean residual of a group beyond that of independent boxes. `prior`: degrees of freedom
    that the variance from `between` counts as.
    """

    totals: FloatArray
    boxes: FloatArray
    starts: IntArray
    between: float
    prior: float

    def by_group(self) -> Level:
        """Return the same with each group as one unit."""
        totals, boxes = (np.add.reduceat(each, self.starts) for each in (self.totals, self.boxes))
        return replace(self, totals=totals, boxes=boxes, starts=np.arange(len(self.starts)))

    @cached_property
    def _of_groups(self) -> _OfGroups:
        whole = self if len(self.starts) == len(self.totals) else self.by_group()
        totals, boxes = whole.totals, whole.boxes
        rows = np.stack([np.ones_like(totals), totals, boxes]).astype(np.float32)
        return _OfGroups(rows, (totals**2).sum(), (boxes**2).sum(), (totals * boxes).sum())

    def sets(self, counts: Float32, *, countable_only: bool = True) -> Sets:
        """Return sets of boxes from their numbers by unit, shape (U, C), without sets that cannot be clear."""
        by_group = self._grouped(counts)
        boxes = by_group.sum(axis=0).astype(np.float64)
        squares = np.einsum("gc,gc->c", by_group, by_group).astype(np.float64)
        countable = (boxes >= LEAST_BOXES) & (boxes <= self.boxes.sum() - LEAST_BOXES)
        countable &= boxes**2 / np.maximum(squares, 1.0) > 2.0
        every = Sets(len(boxes), None, counts, by_group, boxes, squares, countable)
        if not countable_only or countable.all():
            return every
        every = every._replace(kept=np.flatnonzero(countable))
        by_unit = every.taken(counts)
        return every._replace(
            by_unit=by_unit,
            by_group=by_unit if by_group is counts else every.taken(by_group),
            boxes=boxes[countable],
            squares=squares[countable],
            countable=countable[countable],
        )

    def _grouped(self, values: Float32) -> Float32:
        if len(self.starts) == len(self.totals):
            return values
        # A product of matrices is many times faster than `numpy.add.reduceat`.
        owner = np.searchsorted(self.starts, np.arange(len(self.totals)), side="right") - 1
        of_group = owner == np.arange(len(self.starts))[:, None]
        return np.asarray(of_group.astype(np.float32) @ values)

    def bound(self, totals: FloatArray, sets: Sets, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest possible z and T from the sums of residuals of all units, float64 (S,) each.

        The variance between groups that shows in a set can only lower T. Widened by the error of float32.
        """
        size, overall = self.boxes.sum(), self.totals.sum()
        share = sets.boxes / size
        difference = totals - share * overall
        pooled = (variance + self.between * sets.squares) * np.maximum(1.0 - share, 0.0)
        freedom = np.maximum(sets.boxes**2 / np.maximum(sets.squares, 1.0) - 1.0, 1e-9) + self.prior
        # Without a variance by itself that of the groups counts alone.
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(pooled > 0.0, difference / np.sqrt(pooled), np.inf)
            z = as_normal(t, freedom)
        return z + np.copysign(_SLACK, z), t + np.copysign(_SLACK, t)

    def signed(self, signs: Float32) -> Float32:
        """Return random signs, shape (flips, U), as `statistic` takes them: float32, shape (U + 2, flips).

        The last two rows are the sums of `totals` and of `boxes` under these signs.
        """
        return np.concatenate([signs.T, np.stack([self.totals, self.boxes]).astype(np.float32) @ signs.T])

    def statistic(
        self, sums: Float32, sets: Sets, variance: FloatArray, signed: Float32 | None, *, two_sided: bool
    ) -> Statistic:
        """Return the statistics of S sets of boxes.

        `sums`: residuals by unit, float32 (U, S). `variance`: binomial, float64 (S,). `signed`: see `Level.signed`. A
        set with too few boxes inside or outside gets 0.
        """
        every = self._of_groups
        grouped, counts = self._grouped(sums), sets.by_group
        size, overall = self.boxes.sum(), self.totals.sum()
        # The sums over groups of s, s S, s N and of n S, n N, where S and N are those of all boxes.
        s1, s_s, s_n = (every.rows @ grouped).astype(np.float64)
        n_s, n_n = (every.rows[1:] @ counts).astype(np.float64)
        n1, nn = sets.boxes, sets.squares
        ss, sn = (np.einsum("gc,gc->c", grouped, other).astype(np.float64) for other in (grouped, counts))
        share = n1 / size
        inside = s1 / np.maximum(n1, 1.0)
        outside = (overall - s1) / np.maximum(size - n1, 1.0)
        # What a group adds to (mean inside - mean outside) n (1 - share), less what is expected of its boxes:
        # s - a n - f S + b N.
        a, f, b = inside * (1.0 - share) + outside * share, share, share * outside
        squares = (
            ss + a * a * nn + f * f * every.ss + b * b * every.nn
            + 2.0 * (-a * sn - f * s_s + b * s_n + a * f * n_s - a * b * n_n)
            - 2.0 * f * b * every.sn
        )  # fmt: skip
        difference = (inside - outside) * n1 * (1.0 - share)
        # As many groups as count: fewer when most of the boxes are in few of them.
        effective = np.maximum(n1**2 / np.maximum(nn, 1.0), 1.0 + 1e-9)
        # A variance from few groups is drawn towards what all groups say about each other, never below that.
        pooled = (variance + self.between * nn) * np.maximum(1.0 - share, 0.0)
        freedom = effective - 1.0
        own = squares * effective / freedom
        spread = np.maximum(pooled, (freedom * own + self.prior * pooled) / (freedom + self.prior))
        usable = sets.countable & (spread > 0)
        scale = np.where(usable, 1.0 / np.sqrt(np.where(usable, spread, 1.0)), 0.0)
        t = difference * scale
        z = as_normal(t, freedom + self.prior)
        if signed is None:
            return Statistic(z, t, None)
        # Of parts of documents, their own variance: that of whole documents is not in them.
        in_parts = len(self.starts) < len(self.totals)
        least = np.where(usable, variance * (1.0 - share) if in_parts else spread, np.inf)
        added = _Added(a, f, b)
        largest = added.largest(self, sums, sets.by_unit, least, signed, own=in_parts, two_sided=two_sided)
        return Statistic(z, t, largest)


class _Added(NamedTuple):
    """What a group adds to a difference of means, minus what is expected: s - a n - f S + b N.

    s and n are the residuals and boxes of a set in the group, S and N those of all boxes; `a`, `f`, `b`: float64 (S,).
    """

    a: FloatArray
    f: FloatArray
    b: FloatArray

    def largest(
        self,
        level: Level,
        sums: Float32,
        counts: Float32,
        least: FloatArray,
        signed: Float32,
        *,
        own: bool,
        two_sided: bool,
    ) -> FloatArray:
        """Return the largest sum over its standard error, of all sets under each row of signs."""
        whole = np.stack([level.totals, level.boxes]).astype(np.float32)
        units, flips = len(level.totals), signed.shape[1]
        by_a, products = self.a.astype(np.float32), whole @ whole.T
        of_all = np.stack([-self.f, self.b]).astype(np.float32)
        rows = np.empty((units + 2, _AT_A_TIME), np.float32)
        table = np.empty((_AT_A_TIME, flips), np.float32)
        largest, of_some = np.zeros(flips, np.float32), np.empty(flips, np.float32)
        for low in range(0, len(least), _AT_A_TIME):
            some = slice(low, min(low + _AT_A_TIME, len(least)))
            added = rows[:, : some.stop - low]
            top, same = added[:units], of_all[:, some]
            np.multiply(by_a[some], counts[:, some], out=top)
            np.subtract(sums[:, some], top, out=top)
            added[units:] = same
            power = least[some]
            if own:
                squares = np.einsum("uc,uc->c", top, top)
                squares += np.einsum("kc,kc->c", 2.0 * (whole @ top) + products @ same, same)
                power = np.maximum(squares, power)
            added *= (1.0 / np.sqrt(np.maximum(power, 1e-30))).astype(np.float32)
            part = np.matmul(added.T, signed, out=table[: some.stop - low])
            np.maximum(largest, np.maximum.reduce(part, axis=0, out=of_some), out=largest)
            if two_sided:
                np.minimum.reduce(part, axis=0, out=of_some)
                np.maximum(largest, np.negative(of_some, out=of_some), out=largest)
        return largest.astype(np.float64)


class Statistic(NamedTuple):
    """T of S sets of boxes, float64 (S,) each.

    `z` is T as a normal z, with as many degrees of freedom as groups that count, minus one. `largest`: the largest of
    all sets under each row of signs, float64 (flips,); None without signs.
    """

    z: FloatArray
    t: FloatArray
    largest: FloatArray | None


def as_normal(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return Student's t as a normal z, float64 of the same shape (Wallace 1959)."""
    size = np.sqrt(freedom * np.log1p(t**2 / freedom))
    return np.asarray(np.sign(t) * (8 * freedom + 1) / (8 * freedom + 3) * size)


def difference_z(models: Sequence[FloatArray], document: IntArray, inside: BoolArray) -> float:
    """Return the z of a mean inside minus that elsewhere; of two models A and B, of this of A minus this of B.

    `models`: the values of each model, float64 (N,), NaN where it does not count a box. The standard error is
    cluster-robust, from the linear parts of the means by document; Student's t with the documents inside minus one. 0
    where a mean has no box.
    """
    size = int(document.max(initial=-1)) + 1
    difference, errors = 0.0, np.zeros(size)
    for sign, values in zip((1.0, -1.0), models, strict=False):
        for side, mask in ((sign, inside), (-sign, ~inside)):
            kept = mask & ~np.isnan(values)
            if not kept.any():
                return 0.0
            mean = float(values[kept].mean())
            difference += side * mean
            errors += side * np.bincount(document[kept], values[kept] - mean, size) / kept.sum()
    documents = len(np.unique(document[inside]))
    if documents < 2 or not errors.any():
        return 0.0
    t = difference / np.sqrt((errors**2).sum() * documents / (documents - 1))
    return float(as_normal(np.array([t]), np.array([documents - 1.0]))[0])
