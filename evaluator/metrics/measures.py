"""`Measures`: every metric of one model, by label, in a form that resampled documents can weigh.

A ratio is a sum over documents divided by another; average precision is a ranking; means over labels and thresholds are
made of these. Each protocol makes its own in ``from_results``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from evaluator.data.boxes import AnyArray, FloatArray, IntArray
from evaluator.metrics.bootstrap_ap import Curves, Interpolation, Ranking, per_document
from evaluator.metrics.results import ratio
from evaluator.system.one_thread import one_thread

T = TypeVar("T")

# Whole numbers up to here are exact in single and in double precision.
_EXACT: Final = 1 << 24
_EXACT_DOUBLE: Final = 1 << 53
# Rows of weights that are multiplied at a time: they stay in the processor's cache.
_ROWS_AT_ONCE: Final = 64


class Key(NamedTuple):
    """What a number is: a metric by its name in JSON, and the label or the name of the row for all labels."""

    metric: str
    label: str


class Part(Protocol):
    """Some numbers of one model; D documents, M numbers, R resamples. NaN is undefined everywhere."""

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return what the numbers are, length M."""
        ...

    @property
    def values(self) -> FloatArray:
        """Return the numbers on all documents, float64, shape (M,)."""
        ...

    @property
    def per_document(self) -> FloatArray:
        """Return the numbers on each document alone, float64, shape (D, M)."""
        ...

    def resampled(self, weights: FloatArray) -> FloatArray:
        """Return the numbers under weights of the documents, shape (R, D); float64, shape (R, M)."""
        ...

    def take(self, columns: IntArray) -> Part:
        """Return some of the numbers; what only the others need is not computed."""
        ...


@dataclass(frozen=True, eq=False)
class Ratios:
    """Numbers that are a sum over documents divided by another.

    `values`: float64, shape (M,), as the protocol reports them. `numerator`, `denominator`: float64, shape (D, M).
    """

    keys: tuple[Key, ...]
    values: FloatArray
    numerator: FloatArray
    denominator: FloatArray

    @property
    def per_document(self) -> FloatArray:
        """Return the ratio of each document."""
        return ratio(self.numerator, self.denominator)

    @cached_property
    def precision(self) -> type[np.floating[Any]] | None:
        """Return the precision in which sums under weights are exact; None where it is not made of counts."""
        sides = self.numerator, self.denominator
        if not all(bool((side >= 0.0).all() and (side == np.floor(side)).all()) for side in sides):
            return None
        if max(float(side.sum(axis=0).max(initial=0.0)) for side in sides) < _EXACT:
            return np.float32
        most = max(float(side.max(initial=0.0)) for side in sides)
        return np.float64 if most * len(self.numerator) < _EXACT_DOUBLE else None

    def resampled(self, weights: FloatArray) -> FloatArray:
        """Return the ratio of the weighted sums."""
        return ratio(weights @ self.numerator, weights @ self.denominator)

    def take(self, columns: IntArray) -> Ratios:
        """Return some of the ratios."""
        keys = _taken(self.keys, columns)
        return Ratios(keys, self.values[columns], self.numerator[:, columns], self.denominator[:, columns])


@dataclass(frozen=True, eq=False)
class Averages:
    """Average precision of M rankings, over D `documents`.

    `values`: float64, shape (M,), as the protocol reports them. `interpolated`: see `evaluator.metrics.bootstrap_ap`.
    """

    keys: tuple[Key, ...]
    values: FloatArray
    rankings: tuple[Ranking, ...]
    interpolated: Interpolation
    documents: int

    @cached_property
    def per_document(self) -> FloatArray:
        """Return the average precision of each document."""
        return _columns(self.documents, per_document(self.rankings, self.interpolated))

    def resampled(self, weights: FloatArray) -> FloatArray:
        """Return the average precision of the weighted curves."""
        return self._curves.averages(weights)

    @cached_property
    def _curves(self) -> Curves:
        return Curves(self.rankings, self.interpolated)

    def take(self, columns: IntArray) -> Averages:
        """Return some of the rankings."""
        keys, rankings = _taken(self.keys, columns), _taken(self.rankings, columns)
        return Averages(keys, self.values[columns], rankings, self.interpolated, self.documents)


@dataclass(frozen=True, eq=False)
class Means:
    """Means of numbers of another part; the mean of a single number is that number.

    `members`: int64, columns of `of` in each mean. `undefined_is_zero`: an undefined member counts as 0, as some
    protocols have it; else it is left out.
    """

    keys: tuple[Key, ...]
    values: FloatArray
    of: Part
    members: tuple[IntArray, ...]
    undefined_is_zero: bool = False

    @cached_property
    def per_document(self) -> FloatArray:
        """Return the mean of each document."""
        return self.of_members(self.of.per_document)

    def resampled(self, weights: FloatArray) -> FloatArray:
        """Return the mean of the resampled members."""
        return self.of_members(self.of.resampled(weights))

    def take(self, columns: IntArray) -> Means:
        """Return some of the means, of no more numbers than they need."""
        members = _taken(self.members, columns)
        needed, place = np.unique(np.concatenate([np.empty(0, np.int64), *members]), return_inverse=True)
        ends = np.cumsum([len(rows) for rows in members], dtype=np.int64)
        return Means(
            keys=_taken(self.keys, columns),
            values=self.values[columns],
            of=self.of.take(needed),
            members=tuple(np.split(place, ends[:-1])) if members else (),
            undefined_is_zero=self.undefined_is_zero,
        )

    def of_members(self, values: FloatArray) -> FloatArray:
        """Return the means of the numbers of `of`, shape (rows, M)."""
        known = ~np.isnan(values)
        counted = np.ones_like(known) if self.undefined_is_zero else known
        filled = np.where(known, values, 0.0)
        means = [ratio(filled[:, rows].sum(axis=1), counted[:, rows].sum(axis=1)) for rows in self.members]
        return _columns(len(values), means)


@dataclass(frozen=True, eq=False)
class Measures:
    """Everything that can be compared of one model; its parts are all of these documents, in this order.

    `documents`: ids, each once. `overall`: label of the numbers over all labels. `noun`: what a document is called.
    """

    documents: tuple[str, ...]
    overall: str
    parts: tuple[Part, ...]
    noun: str = "document"

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Return what the numbers are, length M, each once."""
        return tuple(key for part in self.parts for key in part.keys)

    @cached_property
    def values(self) -> FloatArray:
        """Return the numbers on all documents, float64, shape (M,); NaN where undefined."""
        return np.concatenate([np.empty(0), *(part.values for part in self.parts)])

    @cached_property
    def per_document(self) -> FloatArray:
        """Return the numbers on each document alone, float64, shape (D, M); NaN where undefined."""
        nothing = np.empty((len(self.documents), 0))
        return np.concatenate([nothing, *(part.per_document for part in self.parts)], axis=1)

    def only(self, keys: Collection[Key]) -> Measures:
        """Return some of the numbers, in the order they have here; others are not computed any more."""
        parts = [
            part.take(np.array([row for row, key in enumerate(part.keys) if key in keys], dtype=np.int64))
            for part in self.parts
        ]
        return replace(self, parts=tuple(part for part in parts if part.keys))

    def resampled(self, weights: AnyArray) -> FloatArray:
        """Return the numbers under document weights, float64, shape (R, M); NaN where undefined.

        `weights`: whole numbers >= 0 of any type, shape (R, D).
        """
        numbers: dict[int, FloatArray] = {}
        for counted in self._counted:
            sums = _sums_of_counts(weights, counted.columns)
            for row, sides in counted.places.items():
                numbers[id(self.parts[row])] = ratio(*(sums[:, places] for places in sides))
        # What is no count rounds, so that it goes on as it is.
        exact: FloatArray | None = None
        for part in self.parts:
            if id(part) in numbers:
                continue
            if isinstance(part, Means) and id(part.of) in numbers:
                numbers[id(part)] = part.of_members(numbers[id(part.of)])
                continue
            exact = weights.astype(np.float64, copy=False) if exact is None else exact
            numbers[id(part)] = part.resampled(exact)
        return np.concatenate([np.empty((len(weights), 0)), *(numbers[id(part)] for part in self.parts)], axis=1)

    @cached_property
    def _counted(self) -> tuple[_Counted, ...]:
        rows = len(self.documents)
        parts: dict[type[np.floating[Any]], dict[int, Ratios]] = {np.float32: {}, np.float64: {}}
        for row, part in enumerate(self.parts):
            precision = part.precision if isinstance(part, Ratios) else None
            if precision is not None:
                parts[precision][row] = cast("Ratios", part)
        return tuple(_Counted.of(some, rows, precision) for precision, some in parts.items() if some)


class _Counted(NamedTuple):
    """Parts of some measures that are ratios of counts.

    `columns`: each column of counts once, shape (D, C). `places`: of each part, by its place, the columns that it
    divides, and by which.
    """

    columns: AnyArray
    places: dict[int, tuple[IntArray, IntArray]]

    @classmethod
    def of(cls, parts: Mapping[int, Ratios], rows: int, precision: type[np.floating[Any]]) -> _Counted:
        column_of: dict[bytes, int] = {}
        columns: list[AnyArray] = []
        places: dict[int, tuple[IntArray, IntArray]] = {}
        for row, part in parts.items():
            sides = []
            for side in (part.numerator, part.denominator):
                side_columns = np.ascontiguousarray(side.T, dtype=precision)
                keys = [column.tobytes() for column in side_columns]
                for key, column in zip(keys, side_columns, strict=True):
                    if key not in column_of:
                        column_of[key] = len(columns)
                        columns.append(column)
                sides.append(np.array([column_of[key] for key in keys], dtype=np.int64))
            places[row] = sides[0], sides[1]
        return cls(
            np.ascontiguousarray(np.stack(columns, axis=1) if columns else np.empty((rows, 0), precision)), places
        )


def _sums_of_counts(weights: AnyArray, counts: AnyArray) -> FloatArray:
    """Return ``weights @ counts`` of columns of whole numbers from 0 up, float64.

    Single precision is exact as long as a sum stays below `_EXACT`: none of its parts is larger, and one that is too
    large never becomes small again, as nothing is taken away.
    """
    sums = np.empty((len(weights), counts.shape[1]), dtype=counts.dtype)
    # In this thread: products this small only make threads wait for each other.
    with one_thread():
        for start in range(0, len(weights), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            np.matmul(weights[rows].astype(counts.dtype), counts, out=sums[rows])
    if sums.dtype == np.float32 and sums.size and sums.max() >= _EXACT:
        return _sums_of_counts(weights, counts.astype(np.float64))
    return sums.astype(np.float64, copy=False)


def _columns(rows: int, columns: Sequence[FloatArray]) -> FloatArray:
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0))


def _taken(items: Sequence[T], columns: IntArray) -> tuple[T, ...]:
    return tuple(items[column] for column in columns.tolist())
