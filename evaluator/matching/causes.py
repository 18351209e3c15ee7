"""Causes: mistakes that have one reason, put together, with their wrong boxes.

Each mistake (`matching.error_types`) is in exactly one cause, so the wrong boxes of the causes, missed ground truth and
extra predictions, add up to those of the result. Rules are tried from the top, and a mistake that has a cause is out of
reach for those below.

====  ===========  =====================================================================================================
rule  cause        what must hold
====  ===========  =====================================================================================================
1     page_missed  a page with `LEAST_OF_PAGE` or more ground truths has no prediction at all
2     page_extra   a page with `LEAST_OF_PAGE` or more predictions has no ground truth at all
3     shifted      of the unmatched ground truths of a page `SHIFTED_SHARE` or more, and at least `LEAST_OF_PAGE`, have
                   an unmatched prediction of their label and size at the same distance
4     parts        a ground truth that carries a mistake holds two or more predictions that carry one: a table read as
                   lines; the largest such ground truth first, and all mistakes that lie in it
5     joined       the same with the sides exchanged: a prediction over several ground truths
6     named        all mistakes of a page that have the same name out of `TOGETHER`, the same labels and the same side
7     named        any other mistake, alone
====  ===========  =====================================================================================================

A mistake *lies in* a box when all boxes that carry its name have `INSIDE_SHARE` of their area in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple, overload

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area
from evaluator.data.dataset import CodeArray, Dataset, JoinedBoxes, Side
from evaluator.data.issues import count_of
from evaluator.data.order import distinct, order_by
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES, NONE, SIDES, Carriers, Mistakes
from evaluator.matching.pairs import TooManyPairs, overlapping_pairs

CAUSES: Final = ("page_missed", "page_extra", "shifted", "parts", "joined", "named")
"""Names of causes; the position is the code."""
TOGETHER: Final = ("split", "merged", "wrong_class", "cut_off", "over_cropped")
LEAST_OF_PAGE: Final = 3
SHIFTED_SHARE: Final = 0.6
INSIDE_SHARE: Final = 0.75
_SAME_SIZE: Final = 0.15
# How far from the common distance a shifted box may be, as a share of the extent of the page's boxes.
_SAME_PLACE: Final = 0.01
# What rounding may add to a size, as a share of it.
_HAIR: Final = 1e-9
# What is compared in one go, so that memory follows the boxes of a page and not their pairs.
_AT_ONCE: Final = 1 << 18
# A page with more pairs of boxes of one size and label is not looked at for a common distance.
_MOST_ALIKE: Final = 1 << 20
# Up to so many pairs each is tried as the common distance; of more, so many.
_TRY_ALL: Final = 10_000
_TRIED: Final = 64


class Family(NamedTuple):
    """What causes on several pages have in common: causes of one family are "like this".

    `cause`: of `CAUSES`. `name`: of the mistakes of a ``named`` one. Labels: "" where a side has none or several.
    `side`: of a cut.
    """

    cause: str
    name: str = ""
    truth_label: str = ""
    prediction_label: str = ""
    side: str = ""

    @property
    def label(self) -> str:
        """Return the label of the ground truth, else of the predictions; empty for several."""
        return self.truth_label or self.prediction_label


class Rows(Sequence[IntArray]):
    """Arrays of rows behind each other in one column: array i is ``column[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, column: IntArray, offsets: IntArray) -> None:
        self._column, self.offsets = column, offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> IntArray: ...
    @overload
    def __getitem__(self, place: slice) -> list[IntArray]: ...
    def __getitem__(self, place: int | slice) -> IntArray | list[IntArray]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        at = range(len(self))[place]
        return self._column[self.offsets[at] : self.offsets[at + 1]]


@dataclass(frozen=True, eq=False)
class Causes:
    """The K causes of the M mistakes of a result.

    Attributes
    ----------
    kinds : tuple of Family
        The families that there are, in the order of their first causes.
    kind, page : int64, shape (K,)
        Family of each cause, its place in `kinds`; page.
    of_mistake : int64, shape (M,)
        Cause of each mistake of the result.
    rows : Rows, length K
        Mistakes of each cause, rising.
    counts : int64, shape (K, 2)
        Missed ground truths and extra predictions of each cause: the boxes that carry the name of one of its mistakes.
    """

    kinds: tuple[Family, ...]
    kind: IntArray
    page: IntArray
    of_mistake: IntArray
    rows: Rows
    counts: IntArray

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def boxes(self) -> IntArray:
        """Return the wrong boxes of each cause, of both sides, int64, shape (K,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Return the family of each cause, length K."""
        return tuple(self.kinds[code] for code in self.kind.tolist())

    @cached_property
    def alike(self) -> dict[Family, IntArray]:
        """Return the causes of each family, most wrong boxes first, of the families and within each."""
        order = np.lexsort((-self.boxes, self.kind))
        starts = np.searchsorted(self.kind[order], np.arange(len(self.kinds) + 1))
        totals = np.bincount(self.kind, weights=self.boxes, minlength=len(self.kinds))
        return {
            self.kinds[code]: order[starts[code] : starts[code + 1]]
            for code in np.argsort(-totals, kind="stable").tolist()
        }

    def family(self, cause: int) -> Family:
        """Return the family of one cause."""
        return self.kinds[int(self.kind[cause])]

    def more_like(self, cause: int) -> int:
        """Return how many other causes there are of the family of one."""
        return int(self.of_kind[self.kind[cause]]) - 1

    @cached_property
    def of_kind(self) -> IntArray:
        """Return how many causes there are of each of `kinds`, int64."""
        return np.bincount(self.kind, minlength=len(self.kinds))

    def on_page(self, page: int) -> IntArray:
        """Return the causes of a page, most wrong boxes first, int64."""
        rows = np.flatnonzero(self.page == page)
        return rows[np.argsort(-self.boxes[rows], kind="stable")]

    def title(self, cause: int) -> str:
        """Return a cause in words, labels as they are in the files."""
        truths, predictions = self.counts[cause].tolist()
        return title_of(self.family(cause), truths, predictions, len(self.rows[cause]))


class FamilyTotal(NamedTuple):
    """What the causes of a family come to: places (how many causes), mistakes, wrong boxes of both sides, pages."""

    places: int
    mistakes: int
    missed: int
    extra: int
    pages: int
    documents: int

    @property
    def boxes(self) -> int:
        """Return the number of wrong boxes."""
        return self.missed + self.extra

    @property
    def words(self) -> str:
        """Return wrong boxes and places in words.

        >>> FamilyTotal(places=8, mistakes=68, missed=8, extra=68, pages=8, documents=6).words
        '76 wrong boxes at 8 places'
        """
        return f"{count_of(self.boxes, 'wrong box')} at {count_of(self.places, 'place')}"


NO_TOTAL: Final = FamilyTotal(0, 0, 0, 0, 0, 0)
"""What a model has of a family that it lacks."""


@dataclass(frozen=True)
class CausesPartial:
    """What the causes of some documents come to, by family, in the order of the first cause of each."""

    totals: Mapping[Family, FamilyTotal]

    @classmethod
    def of(cls, causes: Causes, page_document: CodeArray) -> CausesPartial:
        """Return that of causes; `page_document` is the document of each page, shape (P,)."""
        mistakes = np.diff(causes.rows.offsets)
        totals = {}
        for family in causes.kinds:
            rows = causes.alike[family]
            pages = np.unique(causes.page[rows])
            missed, extra = causes.counts[rows].sum(axis=0).tolist()
            documents = len(np.unique(page_document[pages]))
            totals[family] = FamilyTotal(len(rows), int(mistakes[rows].sum()), missed, extra, len(pages), documents)
        return cls(totals)


def title_of(family: Family, truths: int, predictions: int, mistakes: int) -> str:
    """Return a cause in words: what happened to what, and how often.

    >>> title_of(Family("parts", truth_label="Table", prediction_label="Text"), 1, 22, 3)
    'Table read as 22 Text boxes'
    >>> title_of(Family("named", "wrong_class", "Title", "Section-header"), 3, 3, 3)
    'Title taken for Section-header, 3 times'
    """
    match family.cause:
        case "page_missed":
            return f"Whole page missed, {count_of(truths, 'box')}"
        case "page_extra":
            return f"{count_of(predictions, 'box')} on a page without ground truth"
        case "shifted":
            return f"Page shifted, {count_of(truths, 'box')}"
        case "parts":
            what = f"{family.prediction_label} " if family.prediction_label else ""
            return f"{family.truth_label} read as {predictions:,} {what}boxes"
        case "joined":
            what = f"{family.truth_label} " if family.truth_label else ""
            return f"{truths:,} {what}boxes read as one {family.prediction_label}"
    return _named_title(family) + (f", {mistakes:,} times" if mistakes > 1 else "")


def family_title(family: Family) -> str:
    """Return a family in words, without numbers."""
    match family.cause:
        case "page_missed":
            return "Whole page missed"
        case "page_extra":
            return "Boxes on a page without ground truth"
        case "shifted":
            return "Page shifted"
        case "parts":
            return f"{family.truth_label} read as several {family.prediction_label or ''} boxes".replace("  ", " ")
        case "joined":
            return f"Several {family.truth_label or ''} boxes read as one {family.prediction_label}".replace("  ", " ")
    return _named_title(family)


def _named_title(family: Family) -> str:
    if family.name == "wrong_class":
        return f"{family.truth_label} taken for {family.prediction_label}"
    chip = ERROR_TYPES["document"][family.name].chip
    if family.side:
        return f"{family.label} {chip.lower()}, {family.side}"
    return f"{chip} {family.label}"


def grouped_mistakes(
    mistakes: Mistakes,
    dataset: Dataset,
    model: int,
    *,
    truth_partner: IntArray,
    prediction_partner: IntArray,
    truth_counts: BoolArray,
    prediction_counts: BoolArray,
) -> Causes:
    """Return the causes of the mistakes of a model, by page, of one page in the order of the rules.

    Empty columns without mistakes. Of each box of both sides the row of its partner, -1 for none, and whether it takes
    part.
    """
    sides = dataset.ground_truth, dataset.predictions[model]
    totals = [
        np.bincount(side.page[counts], minlength=dataset.pages)
        for side, counts in zip(sides, (truth_counts, prediction_counts), strict=True)
    ]
    return _Grouping(mistakes, dataset.labels, sides, (truth_partner, prediction_partner), totals).grouped()


def _rows(of_mistake: IntArray, causes: int) -> Rows:
    offsets = np.zeros(causes + 1, dtype=np.int64)
    np.cumsum(np.bincount(of_mistake, minlength=causes), out=offsets[1:])
    return Rows(np.argsort(of_mistake, kind="stable"), offsets)


class _Boxes(NamedTuple):
    """Boxes of one side that carry a mistake's name, by page; of one page as files have them."""

    rows: IntArray
    of: IntArray
    page: IntArray
    xyxy: FloatArray
    label: IntArray

    def take(self, places: IntArray | slice) -> _Boxes:
        return _Boxes(self.rows[places], self.of[places], self.page[places], self.xyxy[places], self.label[places])

    def on(self, page: int) -> _Boxes:
        return self.take(slice(*np.searchsorted(self.page, [page, page + 1])))


class _Grouping:
    """Groups that are made rule by rule, over all pages at once where the pages allow it."""

    def __init__(
        self,
        mistakes: Mistakes,
        labels: Sequence[str],
        sides: tuple[JoinedBoxes, JoinedBoxes],
        partners: tuple[IntArray, IntArray],
        totals: list[IntArray],
    ) -> None:
        self._labels = labels
        self._mistakes = mistakes
        self._sides = sides
        self._free = np.ones(len(mistakes), dtype=bool)
        self._truth = self._boxes(self._sides[0], mistakes.truth_carriers)
        self._prediction = self._boxes(self._sides[1], mistakes.prediction_carriers)
        self._unmatched = (
            self._truth.take(np.flatnonzero(partners[0][self._truth.rows] == NONE)),
            self._prediction.take(np.flatnonzero(partners[1][self._prediction.rows] == NONE)),
        )
        self._totals = totals
        self._of_mistake = np.full(len(mistakes), NONE, dtype=np.int64)
        # Each family once, by its code, and the code of each group so far; mistakes carry the number of their group.
        self._families: dict[Family, int] = {}
        self._groups: list[int] = []

    @staticmethod
    def _boxes(side: JoinedBoxes, carriers: Carriers) -> _Boxes:
        order = np.argsort(side.page[carriers.rows], kind="stable")
        rows = carriers.rows[order]
        page, label = side.page[rows].astype(np.int64), side.label[rows].astype(np.int64)
        return _Boxes(rows, carriers.mistake[order], page, side.xyxy[rows], label)

    def grouped(self) -> Causes:
        self._whole_pages()
        for page in self._pages_that_may_have_moved().tolist():
            self._shifted(page)
        self._regions(self._truth, self._prediction, "parts")
        self._regions(self._prediction, self._truth, "joined")
        self._named()
        return self._finished()

    def _code(self, family: Family) -> int:
        return self._families.setdefault(family, len(self._families))

    def _add(self, family: Family, rows: IntArray | list[int]) -> None:
        self._free[rows] = False
        self._of_mistake[rows] = len(self._groups)
        self._groups.append(self._code(family))

    def _whole_pages(self) -> None:
        """Apply rules 1 and 2."""
        truths, predictions = self._totals
        pages, starts = np.unique(self._mistakes.page, return_index=True)
        ends = np.append(starts, len(self._mistakes))[1:]
        for cause, some, none in (("page_missed", truths, predictions), ("page_extra", predictions, truths)):
            for place in np.flatnonzero((some[pages] >= LEAST_OF_PAGE) & (none[pages] == 0)).tolist():
                self._add(Family(cause), np.arange(starts[place], ends[place]))

    def _pages_that_may_have_moved(self) -> IntArray:
        """Return pages where enough unmatched ground truths have one prediction as wide and one as high; rising."""
        truth, prediction = self._unmatched
        group, other_group = (side.page * len(self._labels) + side.label for side in (truth, prediction))
        sizes = _sizes(truth.xyxy), _sizes(prediction.xyxy)
        partnered = np.ones(len(truth.rows), dtype=bool)
        for own, other in zip(*(each.T for each in sizes), strict=True):
            partnered &= _have_as_long(own, group, other, other_group)
        pages = len(self._totals[0])
        all_of, able = (np.bincount(each, minlength=pages) for each in (truth.page, truth.page[partnered]))
        return np.flatnonzero((able >= LEAST_OF_PAGE) & (able >= SHIFTED_SHARE * all_of))

    def _shifted(self, page: int) -> None:
        """Apply rule 3."""
        truth, prediction = (side.on(page) for side in self._unmatched)
        if len(prediction.rows) < LEAST_OF_PAGE:
            return
        first, second = _alike_boxes(truth.xyxy, truth.label, prediction.xyxy, prediction.label)
        if len(first) < LEAST_OF_PAGE:
            return
        own, other = truth.xyxy, prediction.xyxy
        moved = (other[second, :2] + other[second, 2:] - own[first, :2] - own[first, 2:]) / 2.0
        extent = np.maximum(own[:, 2:].max(axis=0) - own[:, :2].min(axis=0), 1e-9)
        best = _together(moved, _SAME_PLACE * extent)
        partnered = np.unique(first[best])
        if len(partnered) < LEAST_OF_PAGE or len(partnered) < SHIFTED_SHARE * len(own):
            return
        self._add(
            Family("shifted"), np.unique(np.concatenate([truth.of[partnered], prediction.of[np.unique(second[best])]]))
        )

    def _regions(self, whole: _Boxes, parts: _Boxes, cause: str) -> None:
        """Apply rules 4 and 5: each whole, the largest of its page first, with the mistakes that lie in it."""
        whole_free = np.flatnonzero(self._free[whole.of])
        inside = _inside(whole.take(whole_free), parts)
        several = np.flatnonzero(np.diff(inside.starts) >= 2)
        held_wholes = _inside(whole.take(whole_free[several]), whole)
        # How many boxes of each mistake have to lie in a box for the mistake to lie in it.
        carried = np.bincount(np.concatenate([whole.of, parts.of]), minlength=len(self._mistakes))
        at = whole_free[several]
        own, label = whole.of[at].tolist(), whole.label[at].tolist()
        # A few boxes at a time are quicker in Python's own types.
        free = bytearray(self._free.tobytes())
        for place in order_by([whole.page[at], -area(whole.xyxy[at])]).tolist():
            lying = inside.of(int(several[place]))
            of = parts.of[lying].tolist()
            if not free[own[place]] or sum(map(free.__getitem__, of)) < 2:
                continue
            held = Counter(chain(of, whole.of[held_wholes.of(place)].tolist()))
            members = {own[place]} | {each for each in of if free[each] and held[each] == carried[each]}
            labels = [
                code
                for code, mistake in zip(parts.label[lying].tolist(), of, strict=True)
                if free[mistake] and mistake in members
            ]
            if len(labels) < 2:
                continue
            several_of = self._labels[labels[0]] if len(set(labels)) == 1 else ""
            one = self._labels[label[place]]
            self._add(
                Family(cause, "", one, several_of) if cause == "parts" else Family(cause, "", several_of, one),
                sorted(members),
            )
            for each in members:
                free[each] = False

    def _named(self) -> None:
        """Apply rules 6 and 7."""
        rows = np.flatnonzero(self._free)
        named = self._named_families(rows)
        pages = self._mistakes.page[rows]
        repeated = np.isin(self._mistakes.kind[rows], [DOCUMENT.index(name) for name in TOGETHER])
        _, first, group, count = np.unique(
            pages[repeated] * len(named.families) + named.of_mistake[repeated],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        several = np.flatnonzero(count > 1)
        # On a page they come in the order of their first mistakes.
        several = several[np.argsort(first[several], kind="stable")]
        number = np.full(len(count), NONE, dtype=np.int64)
        number[several] = np.arange(len(several))
        of_group = np.full(len(rows), NONE, dtype=np.int64)
        of_group[repeated] = number[group]
        single = of_group == NONE
        of_group[single] = len(several) + np.arange(int(single.sum()))
        self._of_mistake[rows] = len(self._groups) + of_group
        family = np.empty(len(several) + int(single.sum()), dtype=np.int64)
        family[of_group] = named.of_mistake
        codes = np.array([self._code(each._replace(cause="named")) for each in named.families], dtype=np.int64)
        self._groups += codes[family].tolist()

    def _named_families(self, mistake: IntArray) -> _Named:
        mistakes, labels = self._mistakes, [*self._labels, ""]
        # One number for each family: rows of several columns are sorted a hundred times slower.
        kind = mistakes.kind[mistake]
        code = kind.astype(np.int64)
        sides: tuple[tuple[Side, JoinedBoxes], ...] = (("ground_truth", self._sides[0]), ("prediction", self._sides[1]))
        for side, boxes in sides:
            bears = np.array([side in ERROR_TYPES["document"][name].sides for name in DOCUMENT])
            first = mistakes.first_truth if side == "ground_truth" else mistakes.first_prediction
            label, row = np.full(len(mistake), NONE, dtype=np.int64), first[mistake]
            there = np.flatnonzero(bears[kind] & (row != NONE))
            label[there] = boxes.label[row[there]]
            code = code * len(labels) + label - NONE
        cuts = ["", *SIDES]
        shape = len(DOCUMENT), len(labels), len(labels), len(cuts)
        every, of_mistake = distinct(code * len(cuts) + mistakes.side[mistake] - NONE)
        families = [
            Family("", DOCUMENT[kind], labels[truth + NONE], labels[prediction + NONE], cuts[at])
            for kind, truth, prediction, at in np.column_stack(np.unravel_index(every, shape)).tolist()
        ]
        return _Named(families, of_mistake)

    def _finished(self) -> Causes:
        groups = len(self._groups)
        page = np.zeros(groups, dtype=np.int64)
        page[self._of_mistake] = self._mistakes.page
        order = np.argsort(page, kind="stable")
        place = np.empty(groups, dtype=np.int64)
        place[order] = np.arange(groups)
        of_mistake = place[self._of_mistake]
        kinds, kind = _by_first(np.array(self._groups, dtype=np.int64)[order], list(self._families))
        counts = np.column_stack(
            [np.bincount(of_mistake[side.of], minlength=groups) for side in (self._truth, self._prediction)]
        )
        return Causes(
            kinds=kinds,
            kind=kind,
            page=page[order],
            of_mistake=of_mistake,
            rows=_rows(of_mistake, groups),
            counts=counts,
        )


def _by_first(codes: IntArray, families: list[Family]) -> tuple[tuple[Family, ...], IntArray]:
    """Return the families that occur by first occurrence, and the place of each code among them, int64."""
    first = np.full(len(families), len(codes), dtype=np.int64)
    # Backwards: what is written last comes first.
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    place = np.full(len(families), NONE, dtype=np.int64)
    place[order] = np.arange(len(order))
    return tuple(families[at] for at in order.tolist()), place[codes]


class _Named(NamedTuple):
    """Families of single mistakes, without their cause, and which one each mistake is of."""

    families: list[Family]
    of_mistake: IntArray


def _alike_boxes(
    own: FloatArray, own_label: IntArray, other: FloatArray, other_label: IntArray
) -> tuple[IntArray, IntArray]:
    """Return rows of the pairs of one label and nearly one size, int64; none when there are too many."""
    sizes, other_sizes = _sizes(own), _sizes(other)
    reach, points = np.hstack(_bounds_of_same(sizes)), np.hstack([other_sizes, other_sizes])

    def alike(second: IntArray, first: IntArray) -> FloatArray:
        return _same_size(sizes[first], other_sizes[second]).astype(np.float64)

    try:
        pairs = overlapping_pairs(points, other_label, reach, own_label, iou_floor=1.0, measure=alike, most=_MOST_ALIKE)
    except TooManyPairs:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return pairs.prediction, pairs.ground_truth


def _sizes(boxes: FloatArray) -> FloatArray:
    return boxes[:, 2:] - boxes[:, :2]


def _same_size(sizes: FloatArray, others: FloatArray) -> BoolArray:
    return np.asarray((np.abs(sizes - others) <= _SAME_SIZE * np.maximum(sizes, others)).all(axis=-1))


def _bounds_of_same(sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest of what is nearly as large, or a hair more."""
    return sizes * (1.0 - _SAME_SIZE) * (1.0 - _HAIR), sizes / (1.0 - _SAME_SIZE) * (1.0 + _HAIR)


def _have_as_long(own: FloatArray, group: IntArray, other: FloatArray, other_group: IntArray) -> BoolArray:
    """Return which of some lengths have one of their group that is nearly as long, or a hair more, bool."""
    order = order_by([other_group, other])
    # Groups one behind the other, each wider than what is looked for around its largest length.
    step = 2.0 * max(float(own.max(initial=0.0)), float(other.max(initial=0.0)), 1e-300)
    low, high = (group * step + bound for bound in _bounds_of_same(own))
    held = (other_group * step + other)[order]
    room = 8.0 * np.spacing((group.max(initial=0) + 2.0) * step)
    return np.asarray(np.searchsorted(held, low - room) < np.searchsorted(held, high + room, side="right"))


def _together(moved: FloatArray, tolerance: FloatArray) -> BoolArray:
    """Return the pairs that moved like the first one that most others moved like, bool, shape (K,); K > 0."""
    # A little wider, so that rounding puts no pair that moved alike two cells away.
    cells, firsts, cell, counts = np.unique(
        np.floor(moved / (tolerance * (1.0 + 1e-9))), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    tried = np.arange(len(moved))
    if len(moved) > _TRY_ALL:
        tried = np.sort(firsts[np.argsort(-counts, kind="stable")[:_TRIED]])
    around = _around(cells, counts)[cell.ravel()[tried]]
    tried = tried[order := np.argsort(-around, kind="stable")]
    around = around[order]
    most, first, best = 0, 0, np.zeros(len(moved), dtype=bool)
    step = min(max(_AT_ONCE // len(moved), 1), _TRIED)
    for start in range(0, len(tried), step):
        if around[start] < most:
            break
        rows = tried[start : start + step]
        near: BoolArray = np.all(np.abs(moved[rows, None, :] - moved) <= tolerance, axis=2)
        alike = near.sum(axis=1)
        at = int(np.lexsort((rows, -alike))[0])
        if (int(alike[at]), -int(rows[at])) > (most, -first):
            most, first, best = int(alike[at]), int(rows[at]), near[at]
    return best


def _around(cells: FloatArray, counts: IntArray) -> IntArray:
    """Return how many lie in each cell and the eight around it, int64; the cells are sorted, each once."""
    every = [tuple(cell) for cell in cells.tolist()]
    known = dict(zip(every, counts.tolist(), strict=True))
    sides = (-1.0, 0.0, 1.0)
    return np.array([sum(known.get((x + i, y + j), 0) for i in sides for j in sides) for x, y in every], dtype=np.int64)


class _Inside(NamedTuple):
    rows: IntArray
    starts: IntArray

    def of(self, whole: int) -> IntArray:
        """Return the boxes that lie in a whole, rising, int64."""
        return self.rows[self.starts[whole] : self.starts[whole + 1]]


def _inside(wholes: _Boxes, boxes: _Boxes) -> _Inside:
    """Return which of some boxes lie in which wholes of their page; memory follows the pairs that do."""
    own = area(boxes.xyxy)

    def lies(whole: IntArray, box: IntArray) -> FloatArray:
        low = np.maximum(boxes.xyxy[box, :2], wholes.xyxy[whole, :2])
        high = np.minimum(boxes.xyxy[box, 2:], wholes.xyxy[whole, 2:])
        shared = np.prod(np.maximum(high - low, 0.0), axis=1)
        return np.asarray((own[box] > 0.0) & (shared >= INSIDE_SHARE * own[box]), dtype=np.float64)

    pairs = overlapping_pairs(wholes.xyxy, wholes.page, boxes.xyxy, boxes.page, iou_floor=1.0, measure=lies)
    order = order_by([pairs.ground_truth, pairs.prediction])
    whole, box = pairs.ground_truth[order], pairs.prediction[order]
    return _Inside(box, np.searchsorted(whole, np.arange(len(wholes.rows) + 1)))
