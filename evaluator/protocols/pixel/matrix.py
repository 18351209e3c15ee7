"""Multi-label confusion matrices of pixels: shares of label sets, ratios, collapsed matrix and means.

Works on `PairCounts` of any scopes: pages, documents, everything. Rows are the first side (label set G), columns the
second (P); index 0 of every matrix is the background. Counts stay integers over one common divisor until the last
division. Undefined is NaN in columns and None in plain values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.order import numbers_from, runs_up_to
from evaluator.metrics.exact_sums import ExactMeans
from evaluator.metrics.pixel_counts import PairCounts
from evaluator.metrics.pixel_sweep import WordArray
from evaluator.metrics.results import defined, ratio

AnyWords = npt.NDArray[np.unsignedinteger[Any]]

BACKGROUND_NAME: Final = "Background"
REST_NAME: Final = "All classes"
"""Every class but the background, in the collapsed matrix."""

VECTORS: Final = ("precision", "recall", "f1", "iou")

# Cells of label sets, and rows of counts, worked on in one go.
_CELLS_AT_ONCE: Final = 1 << 22
_ROWS_AT_ONCE: Final = 1 << 13
# Multiplications of one product of matrices: larger ones are shared out to threads, which wait for one another.
_PRODUCT_AT_ONCE: Final = 1 << 18
_SHARES_AT_ONCE: Final = 1 << 16
# Rows of a scope from which a product of matrices is less work than its shares one by one.
_MANY_ROWS: Final = 16
# Labels of a set, at most.
_LABELS: Final = 64
EXACT: Final = 1 << 53
"""float64 holds every integer up to here."""


class Shares(NamedTuple):
    """What a pixel of each pair of label sets adds to (row, column): numerator / divisor; sorted by pair."""

    pair: IntArray
    row: IntArray
    column: IntArray
    numerator: IntArray
    divisor: IntArray


def shares(first: WordArray, second: WordArray, classes: int) -> Shares:
    """Return what one pixel of each pair of label sets adds to which cells; no set is empty.

    The shares of a pair in one row add up to 1 for each label of G, and to 0 for any other.

    Notes
    -----
    Krstinic et al. 2020, section 3. With I the labels in both: G = P gives 1 to each (i, i). G within P gives |G| / |P|
    to (i, i) and 1 / |P| to (i, j) for j in P only. P within G gives 1 to (j, j) and 1 / |P| to (i, j) for i in G only.
    Otherwise (i, i) of I get 1, and (i, j) with i in G only and j in P only get 1 / |P without G|. The count of "pixels
    that are i and j" holds for one label per pixel only.
    """
    step = max(_CELLS_AT_ONCE // classes**2, 1)
    parts = [_shares(first[at : at + step], second[at : at + step], classes, at) for at in range(0, len(first), step)]
    if not parts:
        return Shares(*(np.empty(0, np.int64) for _ in Shares._fields))
    return Shares(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _shares(first: WordArray, second: WordArray, classes: int, start: int) -> Shares:
    truth, predicted = has_label(first, classes), has_label(second, classes)
    both, missed, added = truth & predicted, truth & ~predicted, predicted & ~truth
    misses, adds = np.asarray(missed.any(axis=1)), np.asarray(added.any(axis=1))
    within, around = np.asarray(~misses & adds), np.asarray(misses & ~adds)
    rows = np.where(within[:, None], truth, missed)
    columns = np.where(around[:, None], predicted, added)
    size = np.where(within | around, predicted.sum(axis=1), np.maximum(added.sum(axis=1), 1))
    kept = both[:, :, None] & np.eye(classes, dtype=bool)
    pair, row, column = np.nonzero(rows[:, :, None] & columns[:, None, :] | kept)
    same = row == column
    return Shares(
        pair=pair + start,
        row=row,
        column=column,
        numerator=np.where(same & within[pair], truth.sum(axis=1)[pair], 1),
        divisor=np.where(same & ~within[pair], 1, size[pair]),
    )


def has_label(words: WordArray, classes: int) -> BoolArray:
    """Return which labels each label set has, bool, shape (K, classes)."""
    return np.asarray(words[:, None] >> np.arange(classes, dtype=np.uint64) & np.uint64(1)).astype(bool)


@dataclass(frozen=True, eq=False)
class Matrices:
    """Confusion matrices of S scopes over C classes, rows of the first side, columns of the second.

    `scaled`: float64, shape (S, C, C), the confusion times `divisor`: whole numbers, unless the divisor would be too
    large for them.
    """

    scaled: FloatArray
    divisor: int

    @cached_property
    def confusion(self) -> FloatArray:
        """Pixels, float64, shape (S, C, C); fractions where a pixel has several labels."""
        return np.asarray(self.scaled / self.divisor, dtype=np.float64)

    @cached_property
    def precision(self) -> FloatArray:
        """Confusion over the sum of its column, float64, shape (S, C, C), in [0, 1]; NaN in an empty column."""
        return ratio(self.scaled, self._columns)

    @cached_property
    def recall(self) -> FloatArray:
        """Confusion over the sum of its row, float64, shape (S, C, C), in [0, 1]; NaN in an empty row."""
        return ratio(self.scaled, self._rows)

    @cached_property
    def f1(self) -> FloatArray:
        """Harmonic mean of precision and recall, float64, shape (S, C, C); NaN where row and column are empty.

        2 M / (row sum + column sum). The reference divides 2 P R by P + R and gives 0 for an empty row or column; so
        does this for one of them, and NaN for both.
        """
        return ratio(2.0 * self.scaled, self._rows + self._columns)

    @property
    def collapsed(self) -> Matrices:
        """Return the same with two classes: the background and everything else, shape (S, 2, 2)."""
        edges = np.array([0, 1])
        sums = np.add.reduceat(np.add.reduceat(self.scaled, edges, axis=1), edges, axis=2)
        return Matrices(sums, self.divisor)

    @cached_property
    def _rows(self) -> FloatArray:
        return np.asarray(self.scaled.sum(axis=2, keepdims=True))

    @cached_property
    def _columns(self) -> FloatArray:
        return np.asarray(self.scaled.sum(axis=1, keepdims=True))


def confusion(counts: PairCounts, classes: int) -> Matrices:
    """Return the confusion matrix of each scope; zeros for a scope without pixels.

    A row sums to the number of pixels that carry its label on the first side; the whole matrix to the labels of all
    pixels of the first side.

    Notes
    -----
    Whole numbers over the least common multiple of all divisors, added up and divided once: exact and independent of
    any order. Where that multiple is so large that float64 would lose digits (a pixel with about 15 labels in a large
    corpus), the whole numbers of each divisor are divided first and then added in order of the divisors, which is
    independent of the order of pages too.
    """
    if len(counts) < _MANY_ROWS * counts.scopes:
        return _from_shares(counts, classes)
    kind = np.dtype(next(f"u{size}" for size in (2, 4, 8) if classes <= 8 * size))
    rules = _rules(counts.row_first.astype(kind), counts.row_second.astype(kind))
    # No row may have the divisor 1, which whole rows have.
    divisors = [1, *(np.bincount(rules.divisor)[2:].nonzero()[0] + 2).tolist()]
    common = math.lcm(*divisors)
    share = np.zeros(_LABELS + 1, dtype=np.int64)
    if int(counts.totals.max(initial=0)) * common < EXACT:
        share[divisors] = [common // divisor for divisor in divisors]
        return Matrices(_completed(counts, rules, share, common, classes), common)
    scaled = np.zeros((counts.scopes, classes, classes))
    for divisor in divisors:
        share[:] = 0
        share[divisor] = 1
        scaled += _products(counts, rules, share, int(divisor == 1), classes) / divisor
    return Matrices(scaled, 1)


def _from_shares(counts: PairCounts, classes: int) -> Matrices:
    """Return `confusion` of scopes of few rows."""
    parts = shares(counts.first, counts.second, classes)
    cells = parts.row * classes + parts.column
    scaled, common = _sums_of_shares(counts, parts, cells, classes**2)
    return Matrices(scaled.reshape(-1, classes, classes), common)


def _sums_of_shares(
    counts: PairCounts, parts: Shares, cell: IntArray, cells: int, *, most: int = 1
) -> tuple[FloatArray, int]:
    """Return pixels times their shares, at most `most`, by scope and cell, (S, cells), and what to divide by."""
    divisors = np.unique(parts.divisor).tolist()
    common = math.lcm(*divisors)
    if int(counts.totals.max(initial=0)) * common * most < EXACT:
        weight = parts.numerator * (common // parts.divisor)
        return spread(counts, Entries(parts.pair, cell, weight), cells), common
    sums = np.zeros((counts.scopes, cells))
    for divisor in divisors:
        weight = np.where(parts.divisor == divisor, parts.numerator, 0)
        sums += spread(counts, Entries(parts.pair, cell, weight), cells) / divisor
    return sums, 1


def pixels_of_cell(counts: PairCounts, row: int, column: int, classes: int) -> FloatArray:
    """Return one cell of the confusion matrix of each scope, float64, shape (S,)."""
    parts = shares(counts.first, counts.second, classes)
    here = np.flatnonzero((parts.row == row) & (parts.column == column))
    sums, common = _sums_of_shares(counts, Shares(*(part[here] for part in parts)), np.zeros_like(here), 1)
    return np.asarray(sums[:, 0] / common)


def wrong_pixels(counts: PairCounts, classes: int) -> FloatArray:
    """Return pixels off the diagonal of each confusion matrix, float64, shape (S, C).

    All of them, fractions where pixels have several labels; then those of the row and of the column of each class but
    the background, NaN without pixels of the class.
    """
    every = shares(counts.first, counts.second, classes)
    wrong = Shares(*(part[every.row != every.column] for part in every))
    of_row, of_column = (Shares(*(part[codes > 0] for part in wrong)) for codes in (wrong.row, wrong.column))
    parts = Shares(*(np.concatenate(columns) for columns in zip(wrong, of_row, of_column, strict=True)))
    cell = np.concatenate([np.zeros_like(wrong.row), of_row.row, of_column.column])
    order = np.argsort(parts.pair, kind="stable")
    sums, common = _sums_of_shares(
        counts, Shares(*(part[order] for part in parts)), cell[order], classes, most=2 * classes
    )
    amounts = np.asarray(sums / common)
    pair, label = np.nonzero(has_label(counts.first | counts.second, classes))
    there = spread(counts, Entries(pair, label, np.ones_like(pair)), classes) > 0.0
    amounts[:, 1:][~there[:, 1:]] = np.nan
    return amounts


class Entries(NamedTuple):
    """What a pixel of each pair of label sets adds to which cells, columns of one length, sorted by pair."""

    pair: IntArray
    cell: IntArray
    weight: IntArray


def spread(rows: PairCounts, entries: Entries, cells: int) -> FloatArray:
    """Return pixels times the weight of each cell of their pair, by scope, float64, shape (S, cells)."""
    sums = np.zeros((rows.scopes, cells))
    width_of = np.bincount(entries.pair, minlength=len(rows.first))
    start = np.cumsum(width_of) - width_of
    widths = width_of.take(rows.pair)
    amount = np.bincount(rows.scope, weights=widths, minlength=rows.scopes).astype(np.int64)
    for run in runs_up_to(_SHARES_AT_ONCE, amount):
        low, high = run.start, run.stop
        some = slice(*np.searchsorted(rows.scope, [low, high]))
        pair, width = rows.pair[some], widths[some]
        at = numbers_from(start.take(pair), width)
        target = np.repeat((rows.scope[some] - low) * cells, width)
        target += entries.cell.take(at)
        pixels = np.repeat(rows.pixels[some], width)
        pixels *= entries.weight.take(at)
        sums[low:high] = np.bincount(target, weights=pixels, minlength=(high - low) * cells).reshape(-1, cells)
    return sums


class _Rules(NamedTuple):
    """`shares` of each pair of label sets G and P, as sets; columns of one length K.

    A pixel adds 1 / divisor to each cell of `rows` x `columns`, and 1 to the diagonal cell of each label in `both`, or
    |G| / divisor there where G (`first`) is within P and not the same (`within`).
    """

    rows: AnyWords
    columns: AnyWords
    both: AnyWords
    divisor: npt.NDArray[np.uint8]
    first: AnyWords
    within: BoolArray


def _rules(first: AnyWords, second: AnyWords) -> _Rules:
    """Return the rules of some pairs, none with an empty set; in words as wide as the given ones."""
    both = first & second
    missed, added = first ^ both, second ^ both
    subset, superset = missed == 0, added == 0
    different = subset ^ superset
    return _Rules(
        rows=np.where(subset, first, missed),
        # Nothing where both are the same.
        columns=np.where(superset & different, second, added),
        both=both,
        divisor=np.maximum(np.bitwise_count(np.where(different, second, added)), 1),
        first=first,
        within=subset & different,
    )


def _completed(counts: PairCounts, rules: _Rules, share: IntArray, common: int, classes: int) -> FloatArray:
    """Return pixels times what each pair adds, summed by scope, float64, shape (S, classes, classes).

    `share`, by divisor, is for each cell of rows x columns of a rule, none on the diagonal. The row of a label has
    `common` for each pixel that carries it on the first side, so the diagonal is what remains.
    """
    sums = np.zeros((counts.scopes, classes, classes))
    whole = np.zeros((counts.scopes, classes))
    label = np.arange(classes, dtype=rules.rows.dtype)[:, None]
    for block in _blocks(counts, classes):
        pixels = counts.pixels[block.rows]
        rows, columns, labels = _flags([words[block.rows] for words in (rules.rows, rules.columns, rules.first)], label)
        columns *= (pixels * share.take(rules.divisor[block.rows])).astype(np.float64)
        held = (pixels * common).astype(np.float64)
        for scope, start, stop in block.parts:
            sums[scope] += rows[:, start:stop] @ columns[:, start:stop].T
            whole[scope] += labels[:, start:stop] @ held[start:stop]
    whole -= sums.sum(axis=2)
    # The diagonals.
    sums.reshape(len(sums), -1)[:, :: classes + 1] = whole
    return sums


def _products(counts: PairCounts, rules: _Rules, share: IntArray, whole: int, classes: int) -> FloatArray:
    """Return what `_completed` does for shares that do not add up to whole rows."""
    sums = np.zeros((counts.scopes, classes, classes))
    diagonal = np.einsum("sii->si", sums)
    label = np.arange(classes, dtype=rules.rows.dtype)[:, None]
    weight = share.take(rules.divisor)
    gain = np.where(rules.within, np.bitwise_count(rules.first) * weight, whole)
    for block in _blocks(counts, classes):
        pixels = counts.pixels[block.rows]
        rows, columns, both = _flags([words[block.rows] for words in (rules.rows, rules.columns, rules.both)], label)
        columns *= (pixels * weight[block.rows]).astype(np.float64)
        gained = (pixels * gain[block.rows]).astype(np.float64)
        for scope, start, stop in block.parts:
            sums[scope] += rows[:, start:stop] @ columns[:, start:stop].T
            diagonal[scope] += both[:, start:stop] @ gained[start:stop]
    return sums


class _Block(NamedTuple):
    """Rows of counts worked on in one go, and its parts: a scope, first row in the block, one after the last."""

    rows: slice
    parts: list[tuple[int, int, int]]


def _blocks(counts: PairCounts, classes: int) -> Iterator[_Block]:
    """Yield all rows in blocks; a part is one scope, so short that a product needs no second thread."""
    most = max(_PRODUCT_AT_ONCE // classes**2, 1)
    ends = counts.scope.searchsorted(np.arange(counts.scopes), side="right").tolist()
    begin, at = 0, 0
    parts: list[tuple[int, int, int]] = []
    for scope, end in enumerate(ends):
        while at < end:
            stop = min(end, at + most)
            if parts and stop - begin > _ROWS_AT_ONCE:
                yield _Block(slice(begin, at), parts)
                begin, parts = at, []
            parts.append((scope, at - begin, stop - begin))
            at = stop
    if parts:
        yield _Block(slice(begin, at), parts)


def _flags(words: Sequence[AnyWords], label: AnyWords) -> FloatArray:
    """Return which label sets of some columns have each label, 1.0 or 0.0, shape (columns, classes, K)."""
    bits = np.array(words)[:, None, :] >> label
    bits &= label.dtype.type(1)
    return bits.astype(np.float64)


@dataclass(frozen=True, eq=False)
class PixelColumns:
    """Everything that follows from the counts of S scopes; computed when asked for.

    `classes`: the background first. `comparable`: bool, shape (C,), classes that mean the same on both sides. Only
    these have a precision, recall, F1 and IoU of their own; there is a mean over classes only when all are.
    """

    counts: PairCounts
    classes: tuple[str, ...]
    comparable: BoolArray

    def __len__(self) -> int:
        return self.counts.scopes

    def between(self, start: int, stop: int) -> PixelColumns:
        """Return the scopes from `start` to before `stop`."""
        return PixelColumns(self.counts.between(start, stop), self.classes, self.comparable)

    @cached_property
    def matrices(self) -> Matrices:
        """Return the confusion matrices and their ratios, shape (S, C, C)."""
        return confusion(self.counts, len(self.classes))

    @cached_property
    def collapsed(self) -> Matrices:
        """Background against everything else, shape (S, 2, 2)."""
        return self.matrices.collapsed

    @cached_property
    def pixels(self) -> IntArray:
        """Number of pixels, int64, shape (S,)."""
        return self.counts.totals

    @cached_property
    def first_pixels(self) -> IntArray:
        """Pixels that carry each class on the first side, int64, shape (S, C)."""
        return self._sets[:, 0]

    @cached_property
    def second_pixels(self) -> IntArray:
        """Pixels that carry each class on the second side, int64, shape (S, C)."""
        return self._sets[:, 1]

    @cached_property
    def shared_pixels(self) -> IntArray:
        """Pixels that carry each class on both sides, int64, shape (S, C)."""
        return self._sets[:, 2]

    @cached_property
    def precision(self) -> FloatArray:
        """Diagonal of the precision matrix, float64, shape (S, C); NaN where undefined."""
        return self._diagonal(self.matrices.precision)

    @cached_property
    def recall(self) -> FloatArray:
        """Diagonal of the recall matrix, float64, shape (S, C); NaN where undefined."""
        return self._diagonal(self.matrices.recall)

    @cached_property
    def f1(self) -> FloatArray:
        """Diagonal of the F1 matrix, float64, shape (S, C); NaN where undefined."""
        return self._diagonal(self.matrices.f1)

    @cached_property
    def pixel_precision(self) -> FloatArray:
        """Shared pixels over those of the second side, float64, shape (S, C), in [0, 1]; NaN without any."""
        return self._own(ratio(self.shared_pixels, self.second_pixels))

    @cached_property
    def pixel_recall(self) -> FloatArray:
        """Shared pixels over those of the first side, float64, shape (S, C), in [0, 1]; NaN without any."""
        return self._own(ratio(self.shared_pixels, self.first_pixels))

    @cached_property
    def iou(self) -> FloatArray:
        """Shared pixels over those of either side, float64, shape (S, C), in [0, 1]; NaN without any."""
        return self._own(ratio(self.shared_pixels, self.first_pixels + self.second_pixels - self.shared_pixels))

    def mean_all(self, name: str) -> FloatArray:
        """Return the mean of one of `VECTORS` over all classes of the matrix, float64, shape (S,).

        The reference's mean: background and absent classes count, undefined counts as 0, so that every absent class
        lowers it. NaN when the sides use different classes.
        """
        mean = zero_division(getattr(self, name)).mean(axis=1)
        return np.where(self.comparable.all(), mean, np.nan)

    def mean_present(self, name: str) -> FloatArray:
        """Return the mean of one of `VECTORS` over the classes where it is defined, float64, shape (S,).

        Absent classes do not count, the background does. NaN when none is defined, or when the sides use different
        classes.
        """
        values = getattr(self, name)
        known = ~np.isnan(values)
        return np.where(self.comparable.all(), ratio(zero_division(values).sum(axis=1), known.sum(axis=1)), np.nan)

    def row(self, index: int, *, exact: bool = False) -> dict[str, object]:
        """Return one scope as plain values under the keys of the terminal contract; undefined is None.

        `exact` adds ``pair_counts``, the integers that all of it follows from.
        """
        value: dict[str, object] = {"pixels": int(self.pixels[index]), **_matrices(self.matrices, index)}
        names = (*VECTORS, "pixel_precision", "pixel_recall")
        value["per_class"] = {
            label: {name: defined(getattr(self, name)[index, code]) for name in names}
            for code, label in enumerate(self.classes)
        }
        value["collapsed"] = {
            "classes": [BACKGROUND_NAME, REST_NAME],
            **_matrices(self.collapsed, index),
            "per_class": {
                label: {name: defined(getattr(self.collapsed, name)[index, code, code]) for name in VECTORS[:3]}
                for code, label in enumerate((BACKGROUND_NAME, REST_NAME))
            },
        }
        value["mean"] = {
            "all_classes": {name: defined(self.mean_all(name)[index]) for name in VECTORS},
            "present_classes": {name: defined(self.mean_present(name)[index]) for name in VECTORS},
        }
        if exact:
            value["pair_counts"] = [list(row) for row in self.counts.triples(index)]
        return value

    @cached_property
    def _sets(self) -> IntArray:
        """Pixels of each class on the first side, on the second and on both, int64, shape (S, 3, C)."""
        size = len(self.classes)
        first, second = has_label(self.counts.first, size), has_label(self.counts.second, size)
        pair, cell = np.nonzero(np.concatenate([first, second, first & second], axis=1))
        sums = spread(self.counts, Entries(pair, cell, np.ones(len(pair), np.int64)), 3 * size)
        return sums.astype(np.int64).reshape(-1, 3, size)

    def _diagonal(self, matrix: FloatArray) -> FloatArray:
        return self._own(np.diagonal(matrix, axis1=1, axis2=2))

    def _own(self, values: FloatArray) -> FloatArray:
        """Return the values of comparable classes, NaN for the others."""
        return np.where(self.comparable, values, np.nan)


# Pages whose matrices are held at once: 64 classes take 32 KiB each.
_PAGES_AT_ONCE: Final = 1 << 9


@dataclass(frozen=True, eq=False)
class PageMeans:
    """Mean over pages of each number of a page, every page with the same weight, whatever its pixels."""

    classes: tuple[str, ...]
    pages: int
    means: ExactMeans

    @classmethod
    def of(cls, pages: PixelColumns, rows: Sequence[int] | IntArray) -> PageMeans:
        """Add up the pages that count, `rows`, int64, of `pages`, which has one scope per page."""
        chosen = np.zeros(len(pages), dtype=bool)
        chosen[np.asarray(rows, dtype=np.int64)] = True
        size = sum(math.prod(shape) for _, shape in _numbers(len(pages.classes)))
        parts = [ExactMeans.of(np.empty((0, size)))]
        for start in range(0, len(pages), _PAGES_AT_ONCE):
            stop = min(start + _PAGES_AT_ONCE, len(pages))
            parts.append(ExactMeans.of(_values(pages.between(start, stop))[chosen[start:stop]]))
        return cls(pages.classes, int(chosen.sum()), ExactMeans.merged(parts))

    @classmethod
    def merged(cls, parts: Sequence[PageMeans]) -> PageMeans:
        """Return the means over the pages of all parts, which have the same classes."""
        means = ExactMeans.merged([part.means for part in parts])
        return cls(parts[0].classes, sum(part.pages for part in parts), means)

    def to_json(self) -> dict[str, Any]:
        """Return ``pages`` (how many) and ``per_class``, ``collapsed``, ``mean`` as in `PixelColumns.row`.

        Each number is the mean over the pages where it is defined; None where there is none.
        """
        numbers = _numbers(len(self.classes))
        ends = np.cumsum([math.prod(shape) for _, shape in numbers])
        flat = np.split(self.means.values, ends[:-1])
        mean = {name: values.reshape(shape) for (name, shape), values in zip(numbers, flat, strict=True)}
        return {
            "pages": self.pages,
            "per_class": {
                label: {name: defined(mean[name][code]) for name in VECTORS} for code, label in enumerate(self.classes)
            },
            "collapsed": {name: plain_matrix(mean[f"collapsed {name}"]) for name in VECTORS[:3]},
            "mean": {
                kind: {name: defined(float(mean[f"{kind} {name}"])) for name in VECTORS}
                for kind in ("all_classes", "present_classes")
            },
        }


def _numbers(classes: int) -> list[tuple[str, tuple[int, ...]]]:
    """Name the numbers of a page of which a mean is made, with their shapes, in the order of `_values`."""
    numbers: list[tuple[str, tuple[int, ...]]] = [(name, (classes,)) for name in VECTORS]
    numbers += [(f"collapsed {name}", (2, 2)) for name in VECTORS[:3]]
    return numbers + [(f"{kind} {name}", ()) for kind in ("all_classes", "present_classes") for name in VECTORS]


def _values(pages: PixelColumns) -> FloatArray:
    """Return these numbers of some pages, one page per row, shape (pages, M)."""
    numbers = [getattr(pages, name) for name in VECTORS]
    numbers += [getattr(pages.collapsed, name) for name in VECTORS[:3]]
    numbers += [mean(name) for mean in (pages.mean_all, pages.mean_present) for name in VECTORS]
    return np.concatenate([values.reshape(len(pages), -1) for values in numbers], axis=1)


def zero_division(values: FloatArray) -> FloatArray:
    """Return the values with 0 where undefined: the view of docling-eval and docling-metrics-layout.

    It does not distinguish a class that nobody has from one that is always wrong.
    """
    return np.where(np.isnan(values), 0.0, values)


def plain_matrix(values: FloatArray) -> list[list[float | None]]:
    """Return a matrix as lists; undefined is None."""
    lists: list[list[float | None]] = np.where(np.isnan(values), None, values).tolist()  # type: ignore[call-overload]
    return lists


def _matrices(matrices: Matrices, index: int) -> dict[str, list[list[float | None]]]:
    return {name: plain_matrix(getattr(matrices, name)[index]) for name in ("confusion", "precision", "recall", "f1")}
