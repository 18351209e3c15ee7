"""Coordinates and page numbers that mean something else than they are read as.

The search for the form of boxes, order of axes, unit, scale, direction, shift and page offset that bring most boxes of
one file onto boxes of the other, whatever their labels, on a sample of pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, iou
from evaluator.data.dataset import Annotations
from evaluator.data.fixes import POSITIONAL, Fix, apply_fixes, sizes_of, to_corners
from evaluator.data.issues import BadInput
from evaluator.data.label_names import Overlaps
from evaluator.data.order import begins
from evaluator.matching.pages_apart import refined, votes

_IOU: Final = 0.5
_MOST_PAIRS: Final = 20_000
_MOST_OFFSETS: Final = 8
_FORMS: Final = ("xywh", "xyxy", "centre", "corners")
# Each further fix has to bring more than this of all boxes.
_PRICE: Final = 0.03
_ENOUGH: Final = 0.5
# What a wrong scale and shift may reach by chance; not looked at further.
_CHANCE: Final = 0.1
GOOD: Final = 0.6
"""A file of which so many boxes lie on one of the other has nothing wrong with its coordinates."""
NEARLY_ALL: Final = 0.75
"""So many boxes of one file are not on those of the other by chance, however many more the other has."""
IN_PLACE: Final = 0.2
"""Where so many boxes are in place, images, axes and forms are right, and a scale and a shift may be wrong."""
# Factors that people meet: units, and the usual resolutions in dots per inch.
_ROUND: Final = (
    0.01, 0.001, 100.0, 1000.0, 0.5, 2.0, 0.25, 4.0, 1 / 3, 3.0, 0.75, 4 / 3, 0.72, 0.48, 0.36, 0.24, 100 / 72,
    150 / 72, 200 / 72, 300 / 72, 96 / 150, 96 / 200, 96 / 300, 150 / 96, 200 / 96, 300 / 96, 2 / 3, 1.5,
)  # fmt: skip


class Guess(NamedTuple):
    """Fixes, and the mean share of boxes of both files that lie on one of the other with them, in [0, 1]."""

    fixes: tuple[Fix, ...]
    score: float


class Pairs(NamedTuple):
    """Every pair of boxes on a shared page, and how many boxes there are in all."""

    first: IntArray
    second: IntArray
    of_first: int
    of_second: int


def guesses(source: Annotations, other: Annotations, *, units: bool = True) -> list[Guess]:
    """Return what may be wrong with coordinates and page numbers of a file, best first.

    The first has no fixes and is the score as given; no others when that is good. Documents go by their names in
    `source`. Empty when the two share no document, or one of them has no boxes. Without `units` the numbers are in the
    unit of `source`.
    """
    search = _Search(source, other, units=units)
    if not search.possible:
        return []
    given = Guess((), search.as_given())
    return [given] if given.score >= GOOD else [given, *search.ranked(given.score)]


class _Base(NamedTuple):
    """The numbers of the boxes as they may be meant, the fixes that say so, and their forms; see `_forms`.

    `size`: what the file's own numbers were divided by, float64 (N, 2); None for numbers that were not.
    """

    numbers: FloatArray
    fixes: tuple[Fix, ...]
    forms: tuple[str, ...]
    size: FloatArray | None


class _Search:
    def __init__(self, source: Annotations, other: Annotations, *, units: bool = True) -> None:
        self._units_open = units
        self._source, self._other = source, other
        codes = {document.doc_id: code for code, document in enumerate(other.documents)}
        self._ours = np.array([codes.get(document.doc_id, -1) for document in source.documents], dtype=np.int64)
        mine = self._ours[source.boxes.document] if len(source.boxes) else np.empty(0, np.int64)
        self.rows = np.flatnonzero(mine >= 0)
        self._document = mine[self.rows]
        self._theirs = _pages(other.boxes.document.astype(np.int64), other.boxes.page)
        self.possible = len(self.rows) > 0 and len(other.boxes) > 0
        # With sizes of pages everything is looked at in shares of the page.
        self._shares = other.unit == "page" or other.page_size is not None
        self._found: list[Guess] = []
        self._in_place = False

    @cached_property
    def _truth(self) -> FloatArray:
        return self._known(np.arange(len(self._other.boxes)))

    @cached_property
    def _extent(self) -> FloatArray:
        return np.ptp(self._truth.reshape(-1, 2), axis=0) if len(self._truth) else np.ones(2)

    def as_given(self) -> float:
        if self._source.unit != self._other.unit:
            return 0.0
        pairs, value = self.sample()
        if not len(pairs.first):
            return 0.0
        shares = self._shares_of(pairs, value >= _IOU)
        # A model that finds nearly everything has the right coordinates, whatever it finds besides.
        return max(shares) if max(shares) >= NEARLY_ALL else sum(shares) / 2.0

    def ranked(self, given: float) -> list[Guess]:
        """Return guesses with fixes, best first; costly ones are tried only when no cheap one explains it."""
        format, offsets = self._source.format, self._offsets()
        self._in_place = given >= IN_PLACE
        numbers_read = [*self._bases(), *self._reordered()]
        bases = [_Base(numbers, fixes, _forms(numbers, format), size) for numbers, fixes, size in numbers_read]
        shifted = [(Fix("page-offset", f"{offset:+d}"), self._pairs(offset)) for offset in offsets]
        pairs = self._pairs(0)
        for base in bases:
            self._try(base, (), pairs, estimate=False)
        if not self._explained(given):
            for fix, at in shifted:
                for base in bases:
                    self._try(base, (fix,), at, estimate=False)
        if not self._explained(given):
            for base in bases:
                self._try(base, (), pairs, estimate=True)
        if not self._explained(given):
            for fix, at in shifted[:3]:
                for base in bases:
                    self._try(base, (fix,), at, estimate=True)
        different = {guess.fixes: guess for guess in self._found if guess.fixes and guess.score > 0.0}
        return sorted(different.values(), key=lambda guess: -_value(guess))

    def _explained(self, given: float) -> bool:
        return any(guess.fixes and guess.score >= max(_ENOUGH, 1.5 * given) for guess in self._found)

    # --- what is looked at -----------------------------------------------------------------------------------

    def _known(self, rows: IntArray) -> FloatArray:
        boxes, size = self._other.boxes, self._other.page_size
        xyxy = boxes.xyxy.take(rows, axis=0)
        if self._other.unit == "page" or size is None:
            return xyxy
        return np.asarray(xyxy / np.tile(size.take(boxes.entry.take(rows), axis=0), 2))

    def _base(self, of: IntArray | None = None) -> FloatArray:
        """Return the numbers of the file in the unit of the search; of some of `rows`, or of all."""
        rows = self.rows if of is None else self.rows.take(of)
        return _divided(self._source.boxes.xyxy.take(rows, axis=0), self._size(rows))

    def _size(self, rows: IntArray) -> FloatArray | None:
        # Shares are compared with shares, pixels with pixels.
        pixels = self._other.unit != "page" and self._shares
        return sizes_of(self._source, self._other, rows=rows) if pixels else None

    def _bases(self) -> Iterator[tuple[FloatArray, tuple[Fix, ...], FloatArray | None]]:
        """Yield the numbers as they may be meant, with the fix that says so, and what they were divided by."""
        source, to_page = self._source, self._other.unit == "page"
        raw = source.boxes.xyxy[self.rows]
        if source.unit == self._other.unit:
            size = self._size(self.rows)
            yield _divided(raw, size), (), size
        if not self._units_open:
            return
        if self._shares and not to_page:
            yield raw, _units("share"), None
        if self._shares and (not to_page or source.unit == "page"):
            yield raw / 100.0, _units("percent"), None
            yield raw / 1000.0, _units("thousandths"), None
        if self._shares and (to_page or source.unit == "pixels") and source.page_size is not None:
            size = source.page_size[source.boxes.entry][self.rows]
            yield _divided(raw, size), _units("pixels"), size

    def _reordered(self) -> Iterator[tuple[FloatArray, tuple[Fix, ...], FloatArray | None]]:
        order = Fix("confidence-second")
        if self._source.format in POSITIONAL:
            with suppress(BadInput):
                search = _Search(apply_fixes(self._source, self._other, (order,)), self._other, units=self._units_open)
                yield from ((numbers, (order, *fixes), size) for numbers, fixes, size in search._bases())

    def _pairs(self, offset: int) -> Pairs:
        # A page later is a number more.
        ours = _pages(self._document, self._source.boxes.page[self.rows])
        return _paired(ours + offset, self._theirs)

    def _offsets(self) -> list[int]:
        """Return possible page offsets, most likely first: by pages with equally many boxes."""
        votes: Counter[int] = Counter()
        ours, theirs = (
            _by_document(self._document, self._source.boxes.page[self.rows]),
            _by_document(self._other.boxes.document.astype(np.int64), self._other.boxes.page),
        )
        for document in list(ours.keys() & theirs.keys())[:200]:
            for page, count in list(ours[document].items())[:60]:
                for other, known in list(theirs[document].items())[:60]:
                    votes[other - page] += 4 if count == known else 1 if 0.5 <= count / known <= 2.0 else 0
        near = [offset for offset in (-1, 1, -2, 2) if votes[offset]]
        most = [offset for offset, _ in votes.most_common(_MOST_OFFSETS)]
        return [offset for offset in dict.fromkeys([*near[:2], *most, *near]) if offset]

    def sample(self) -> tuple[Pairs, FloatArray]:
        pairs = self._pairs(0)
        return pairs, iou(self._known(pairs.first), self._base(pairs.second))

    # --- one hypothesis --------------------------------------------------------------------------------------

    def _try(self, base: _Base, offset: tuple[Fix, ...], pairs: Pairs, *, estimate: bool) -> None:
        if not len(pairs.first):
            return
        in_hundreds = any(fix.value in ("percent", "thousandths") for fix in base.fixes)
        # Of all boxes those of a pair are looked at.
        used, second = np.unique(pairs.second, return_inverse=True)
        numbers, pairs = base.numbers.take(used, axis=0), pairs._replace(second=second)
        # Axes are exchanged in the numbers of the file: a page is not as wide as it is high.
        size = np.ones(2) if base.size is None else base.size.take(used, axis=0)
        aspect = np.tile(size[..., ::-1] / size, 2)
        for form in base.forms:
            shape = to_corners(numbers, form, self._source.format) if form else numbers
            for swapped in (False, True):
                corners = shape[:, [1, 0, 3, 2]] * aspect if swapped else shape
                kinds = [*([form] if form else []), *(["swap-axes"] if swapped else [])]
                before = (*offset, *base.fixes, *map(Fix, kinds))
                for flips, turned in self._turned(corners):
                    score = self._score(pairs, turned) if self._shares else 0.0
                    if not self._shares and not flips:
                        score = self._score(pairs, turned)
                    self._found.append(Guess((*before, *flips), score))
                    if estimate and not (before or flips):
                        # Many boxes that are nowhere outvote the others.
                        usual = ((Fix("scale", f"{scale:.4g}"), corners * scale) for scale in _ROUND[4:])
                        self._found += [Guess((fix,), self._score(pairs, scaled)) for fix, scaled in usual]
                    # Per cent and the like are scales already.
                    as_read = not (self._in_place and (base.fixes or form or swapped or flips))
                    if estimate and as_read and not in_hundreds and score < 0.8:
                        self._found += self._estimated(pairs, corners, before, flips)

    def _turned(self, corners: FloatArray) -> Iterator[tuple[tuple[Fix, ...], FloatArray]]:
        for kinds in ((), ("y-flip",), ("x-flip",), ("x-flip", "y-flip")):
            turned = corners
            for kind in kinds:
                axis = 0 if kind == "x-flip" else 1
                turned = turned.copy()
                ends = 1.0 - turned[:, [axis + 2, axis]]
                turned[:, [axis, axis + 2]] = np.sort(ends, axis=1)
            yield tuple(Fix(kind) for kind in kinds), turned

    def _estimated(
        self, pairs: Pairs, corners: FloatArray, before: tuple[Fix, ...], flips: tuple[Fix, ...]
    ) -> Iterator[Guess]:
        kinds = {fix.kind for fix in flips}
        sign = np.array([-1.0 if "x-flip" in kinds else 1.0, -1.0 if "y-flip" in kinds else 1.0])
        ordered = np.sort((corners * np.tile(sign, 2)).reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        of_pairs = ordered[pairs.second], self._truth[pairs.first]
        for voted in votes(*of_pairs, self._extent):
            if self._score(pairs, ordered * np.tile(voted[0], 2) + np.tile(voted[1], 2)) < _CHANCE:
                continue
            scale, shift = refined(*of_pairs, *voted)
            if not (np.isfinite(scale).all() and np.isfinite(shift).all() and (scale > 0.0).all()):
                continue
            best = Guess((), 0.0)
            for factor, moved in _simpler(scale, shift, sign, self._shares):
                score = self._score(pairs, ordered * np.tile(factor, 2) + np.tile(moved, 2))
                fixes = _written(factor, moved, kinds, shares=self._shares, percent=self._other.unit == "pixels")
                guess = Guess((*before, *fixes), score)
                best = max(best, guess, key=_value)
            yield best

    def _score(self, pairs: Pairs, ours: FloatArray) -> float:
        if not len(pairs.first):
            return 0.0
        with np.errstate(invalid="ignore", over="ignore"):
            fitting = iou(self._truth.take(pairs.first, axis=0), ours.take(pairs.second, axis=0)) >= _IOU
        # A mean of shares, not a share of all: one file may have many more boxes than the other.
        return sum(self._shares_of(pairs, fitting)) / 2.0

    def _shares_of(self, pairs: Pairs, fitting: BoolArray) -> tuple[float, float]:
        first = np.count_nonzero(np.bincount(pairs.first[fitting])) / pairs.of_first
        second = np.count_nonzero(np.bincount(pairs.second[fitting])) / pairs.of_second
        return float(first), float(second)


def _divided(xyxy: FloatArray, size: FloatArray | None) -> FloatArray:
    return xyxy if size is None else np.asarray(xyxy / np.tile(size, 2))


def _units(value: str) -> tuple[Fix, ...]:
    return (Fix("units", value),)


def _value(guess: Guess) -> float:
    return guess.score - _PRICE * len(guess.fixes)


def _forms(numbers: FloatArray, format: str) -> tuple[str, ...]:
    shapes = ((form, to_corners(numbers, form, format)) for form in _FORMS)
    others = (form for form, shape in shapes if _makes_boxes(shape) and (form != "corners" or (shape != numbers).any()))
    return ("", *others)


def _makes_boxes(corners: FloatArray) -> bool:
    """Tell whether nearly all boxes have their corners in one order, on each axis by itself."""
    # The second corner may come before the first: a file that counts from the bottom may name its corners by the page.
    extent = corners[:, 2:] - corners[:, :2]
    shares = np.maximum((extent > 0.0).mean(axis=0), (extent < 0.0).mean(axis=0))
    return bool((shares >= 0.95).all())


def _pages(document: IntArray, page: IntArray) -> IntArray:
    """Return one number for each page; negative pages keep apart from those of other documents."""
    return np.asarray((document << 33) + page)


def _by_document(document: IntArray, page: IntArray) -> dict[int, Counter[int]]:
    shifts: dict[int, Counter[int]] = {}
    for of, index in zip(document.tolist(), page.tolist(), strict=True):
        shifts.setdefault(of, Counter())[index] += 1
    return shifts


class _ByPage(NamedTuple):
    """Boxes by page.

    `pages`: those with boxes, rising. `order`: the boxes page by page, as they come. `start`, `boxes`: the first box of
    each page in `order`, and their number.
    """

    pages: IntArray
    order: IntArray
    start: IntArray
    boxes: IntArray

    @classmethod
    def of(cls, pages: IntArray) -> _ByPage:
        # Most files list them page by page.
        in_order = bool((pages[1:] >= pages[:-1]).all())
        order = np.arange(len(pages)) if in_order else np.argsort(pages, kind="stable")
        pages = pages.take(order)
        start = np.flatnonzero(begins(pages))
        return cls(pages.take(start), order, start, np.diff(start, append=len(pages)))


def _paired(ours: IntArray, theirs: IntArray) -> Pairs:
    mine, known = _ByPage.of(ours), _ByPage.of(theirs)
    shared, at_mine, at_known = np.intersect1d(mine.pages, known.pages, assume_unique=True, return_indices=True)
    if not len(shared):
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), len(theirs), len(ours))
    count_mine, count_known = mine.boxes[at_mine], known.boxes[at_known]
    product = count_mine * count_known
    # Only where not all of them are taken: numpy.random is imported at its first use.
    order = np.arange(len(shared))
    if int(product.sum()) > _MOST_PAIRS:
        order = np.random.default_rng(0).permutation(len(shared))
    kept = order[: max(1, int(np.searchsorted(np.cumsum(product[order]), _MOST_PAIRS, side="right")))]
    start_mine, start_known = mine.start[at_mine], known.start[at_known]
    first, second = [], []
    sampled_known = sampled_mine = 0
    for page in kept.tolist():
        mine_rows = mine.order[start_mine[page] : start_mine[page] + count_mine[page]]
        known_rows = known.order[start_known[page] : start_known[page] + count_known[page]]
        # A page with more pairs than all may have is looked at in part.
        side = max(1, int(_MOST_PAIRS**0.5))
        mine_rows, known_rows = mine_rows[:side], known_rows[:side]
        sampled_known, sampled_mine = sampled_known + len(known_rows), sampled_mine + len(mine_rows)
        first.append(np.repeat(known_rows, len(mine_rows)))
        second.append(np.tile(mine_rows, len(known_rows)))
    share = len(kept) / len(shared)
    # Boxes on pages that only one file has count against the hypothesis, in proportion to the sample.
    lonely_known = int(share * (len(theirs) - count_known.sum()))
    lonely_mine = int(share * (len(ours) - count_mine.sum()))
    return Pairs(
        np.concatenate(first), np.concatenate(second), sampled_known + lonely_known, sampled_mine + lonely_mine
    )


def _simpler(
    scale: FloatArray, shift: FloatArray, sign: FloatArray, shares: bool
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield a scale and a shift in round numbers, and as found; a flip of shares has its own shift of 1."""
    none = np.where(sign < 0.0, 1.0, 0.0) if shares else np.zeros(2)
    rounded = np.array([_rounded(value) for value in scale])
    for factor in (
        {tuple(rounded), (rounded.mean(), rounded.mean())} if np.ptp(rounded) < 0.02 * rounded[0] else {tuple(rounded)}
    ):
        yield np.array(factor), none
        yield np.array(factor), shift
    yield np.ones(2), shift
    yield scale, none
    yield scale, shift


def _rounded(value: float) -> float:
    near = min(_ROUND, key=lambda each: abs(each - value))
    return near if abs(near - value) <= 0.01 * near else value


def _written(
    scale: FloatArray, shift: FloatArray, flips: set[str], *, shares: bool, percent: bool
) -> tuple[Fix, ...]:  # fmt: skip
    """Return the fixes of a scale and a shift; shares of pages in files of pixels are per cent."""
    fixes: list[Fix] = []
    factors = [f"{value:.4g}" for value in scale]
    if factors != ["1", "1"]:
        text = factors[0] if factors[0] == factors[1] else ",".join(factors)
        known = {"0.01": "percent", "0.001": "thousandths"}
        fixes.append(Fix("scale", text) if text not in known else Fix("units", known[text]))
    rest = shift.copy()
    for axis, kind in enumerate(("x-flip", "y-flip")):
        if kind in flips:
            # Without sizes of pages the height is what the boxes say.
            fixes.append(Fix(kind) if shares else Fix(kind, f"{max(rest[axis], 1e-9):.6g}"))
            rest[axis] = rest[axis] - 1.0 if shares else 0.0
    if (np.abs(rest) > 0.002).any() if shares else (np.abs(rest) > 0.5).any():
        by = [f"{100.0 * value:.4g}%" if shares and percent else f"{value:.4g}" for value in rest]
        fixes.append(Fix("shift", ",".join(by)))
    return tuple(fixes)


def overlaps(source: Annotations, other: Annotations) -> Overlaps:
    """Return how many boxes of each label lie on one of each label of another file, of a sample of pages."""
    counts = np.bincount(source.boxes.label, minlength=len(source.labels)).astype(np.int64)
    nothing = Overlaps(counts, np.zeros_like(counts), Counter(), np.zeros(len(other.labels), dtype=np.int64))
    search = _Search(source, other)
    if not search.possible:
        return nothing
    pairs, value = search.sample()
    if not len(pairs.first):
        return nothing
    order = np.lexsort((-value, pairs.second))
    second, first, value = pairs.second[order], pairs.first[order], value[order]
    best = np.flatnonzero(np.diff(second, prepend=-1))
    label = source.boxes.label[search.rows[second[best]]]
    fits = value[best] >= _IOU
    np.add.at(nothing.compared, label, 1)
    np.add.at(nothing.known, other.boxes.label[np.flatnonzero(np.bincount(first))], 1)
    nothing.table.update(zip(label[fits].tolist(), other.boxes.label[first[best[fits]]].tolist(), strict=True))
    return nothing


def share_in_place(source: Annotations, other: Annotations) -> float:
    """Return how good a file is as it is, as the first of `guesses`; 0 when nothing can be compared."""
    search = _Search(source, other)
    return search.as_given() if search.possible else 0.0


def fitting_counts(source: Annotations, other: Annotations) -> tuple[int, int]:
    """Return in how many documents boxes lie on one of the other file, and how many, of a sample of pages."""
    search = _Search(source, other)
    if not search.possible or source.unit != other.unit:
        return 0, 0
    pairs, value = search.sample()
    rows = np.unique(pairs.first[value >= _IOU])
    return len(np.unique(other.boxes.document[rows])), len(rows)
