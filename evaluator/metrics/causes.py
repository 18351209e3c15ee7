"""Causes: mistakes that have one reason, put together, with what it costs to put them right.

Owns the rules that group named mistakes (`metrics.error_types`). One table that a model read as 22 lines is one event,
not 23 mistakes. Counts of boxes and mistakes stay what they are: each mistake is in exactly one cause, so the costs of
the causes add up to those of the mistakes. Rules are tried from the top, and a mistake that has a cause is out of reach
for those below.

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
6     alike        two or more mistakes of a page have the same name out of `ALIKE`, the same labels and the same side
7     single       any other mistake, alone
====  ===========  =====================================================================================================

A mistake *lies in* a box when all boxes that carry its name have `INSIDE_SHARE` of their area in it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from evaluator.metrics.box_results import UNMATCHED, AnyBoxResult
from evaluator.metrics.error_types import DOCUMENT, ERROR_TYPES, NONE, SIDES, Mistakes
from evaluator.metrics.matching import overlapping_pairs
from evaluator.metrics.results import count_of
from evaluator.model.boxes import BoolArray, FloatArray, IntArray, area

CAUSES: Final = ("page_missed", "page_extra", "shifted", "parts", "joined", "alike", "single")
"""Names of causes; the position is the code."""
ALIKE: Final = ("split", "merged", "wrong_class", "cut_off", "over_cropped")
LEAST_OF_PAGE: Final = 3
SHIFTED_SHARE: Final = 0.6
INSIDE_SHARE: Final = 0.75
_SAME_SIZE: Final = 0.15
# How far from the common distance a shifted box may be, as a share of the extent of the page's boxes.
_SAME_PLACE: Final = 0.01
# What is compared in one go, so that memory follows the boxes of a page and not their pairs.
_AT_ONCE: Final = 1 << 18
# A page with more pairs of boxes of one size and label is not looked at for a common distance.
_MOST_ALIKE: Final = 1 << 20
# Up to so many pairs each is tried as the common distance; of more, so many.
_TRY_ALL: Final = 10_000
_TRIED: Final = 64


class Family(NamedTuple):
    """What causes on several pages have in common: causes of one family are "like this".

    Attributes
    ----------
    cause : str
        One of `CAUSES`.
    name : str
        Name of the mistake of an ``alike`` or ``single`` one; "" for the others.
    truth_label, prediction_label : str
        "" where a side has none, or several.
    side : str
        Of a cut; "" for the others.
    """

    cause: str
    name: str = ""
    truth_label: str = ""
    prediction_label: str = ""
    side: str = ""


@dataclass(frozen=True, eq=False)
class Causes:
    """The causes of a result, each with its mistakes.

    Attributes
    ----------
    families : tuple of Family, length K
    page : int64, shape (K,)
    cost : int64, shape (K,)
        Boxes to put right; see `Mistakes.corrections`.
    boxes : int64, shape (K,)
        Boxes that carry the name of one of its mistakes, both sides.
    of_mistake : int64, shape (M,)
        Cause of each mistake of the result.
    rows : tuple of int64 arrays, length K
        Mistakes of each cause, rising.
    counts : tuple of (int, int), length K
        Ground truths and predictions that carry a name in each cause.
    """

    families: tuple[Family, ...]
    page: IntArray
    cost: IntArray
    boxes: IntArray
    of_mistake: IntArray
    rows: tuple[IntArray, ...]
    counts: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.families)

    @cached_property
    def alike(self) -> dict[Family, IntArray]:
        """The causes of each family, the costliest family first; within one the costliest cause first."""
        families: dict[Family, list[int]] = {}
        for row, family in enumerate(self.families):
            families.setdefault(family, []).append(row)
        ordered = sorted(families.items(), key=lambda item: -int(self.cost[item[1]].sum()))
        return {
            family: np.array(sorted(rows, key=lambda row: (-int(self.cost[row]), row)), dtype=np.int64)
            for family, rows in ordered
        }

    def more_like(self, cause: int) -> int:
        """How many other causes there are of the family of one."""
        return len(self.alike[self.families[cause]]) - 1

    def on_page(self, page: int) -> IntArray:
        """The causes of a page, the costliest first, int64."""
        rows = np.flatnonzero(self.page == page)
        return rows[np.argsort(-self.cost[rows], kind="stable")]

    def title(self, cause: int) -> str:
        """A cause in words, labels as they are in the files."""
        return title_of(self.families[cause], *self.counts[cause], len(self.rows[cause]))


def title_of(family: Family, truths: int, predictions: int, mistakes: int) -> str:
    """A cause in words: what happened to what, and how often.

    Examples
    --------
    >>> title_of(Family("parts", truth_label="Table", prediction_label="Text"), 1, 22, 3)
    'Table read as 22 Text boxes'
    >>> title_of(Family("alike", "wrong_class", "Title", "Section-header"), 3, 3, 3)
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
    """A family in words, without numbers."""
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
    """A mistake with its labels."""
    if family.name == "wrong_class":
        return f"{family.truth_label} taken for {family.prediction_label}"
    label = family.truth_label or family.prediction_label
    chip = ERROR_TYPES["document"][family.name].chip
    if family.side:
        return f"{label} {chip.lower()}, {family.side}"
    return f"{chip}: {label}"


def causes(result: AnyBoxResult) -> Causes:
    """The causes of the mistakes of a result.

    Returns
    -------
    Causes
        Empty columns without mistakes. In the order of their pages; of one page, in the order of the rules. The same
        object for the same result.
    """
    grouped = _KNOWN.get(result)
    if grouped is None:
        grouping = _Grouping(result, result.mistakes)
        for page in np.unique(result.mistakes.page).tolist():
            grouping.group(page)
        grouped = _KNOWN[result] = grouping.finished()
    return grouped


# A result is immutable and asked for page after page.
_KNOWN: WeakKeyDictionary[AnyBoxResult, Causes] = WeakKeyDictionary()


class _Boxes(NamedTuple):
    """Boxes of one page and side that carry a mistake's name."""

    rows: IntArray
    of: IntArray
    xyxy: FloatArray
    label: IntArray


class _Grouping:
    """Groups that are made page by page."""

    def __init__(self, result: AnyBoxResult, mistakes: Mistakes) -> None:
        matching = result.matching
        self._labels = matching.dataset.labels
        self._mistakes = mistakes
        self._sides = (
            (matching.dataset.ground_truth, mistakes.of_truth, matching.truth_counts, result.truth_partner),
            (matching.prediction, mistakes.of_prediction, result.counting_predictions, result.prediction_partner),
        )
        self._named = [_by_page(side.page, np.flatnonzero(of != NONE)) for side, of, _, _ in self._sides]
        self._all = [
            np.bincount(side.page[counts], minlength=matching.dataset.pages) for side, _, counts, _ in self._sides
        ]
        self._by_page = _by_page(mistakes.page, np.arange(len(mistakes)))
        self._found: list[tuple[Family, int, IntArray]] = []
        self._free = np.ones(len(mistakes), dtype=bool)

    def group(self, page: int) -> None:
        """Find the causes of a page."""
        rows = self._by_page[page]
        truth, prediction = (self._boxes(side, page) for side in (0, 1))
        totals = int(self._all[0][page]), int(self._all[1][page])
        if totals[0] >= LEAST_OF_PAGE and not totals[1]:
            self._add(Family("page_missed"), page, rows)
        elif totals[1] >= LEAST_OF_PAGE and not totals[0]:
            self._add(Family("page_extra"), page, rows)
        else:
            self._shifted(page, truth, prediction)
            self._regions(page, truth, prediction, "parts")
            self._regions(page, prediction, truth, "joined")
            self._alike(page, rows)
        for row in rows[self._free[rows]].tolist():
            self._add(self._family(row, "single"), page, np.array([row]))

    def finished(self) -> Causes:
        """All causes as columns."""
        of_mistake = np.full(len(self._mistakes), NONE, dtype=np.int64)
        for number, (_, _, rows) in enumerate(self._found):
            of_mistake[rows] = number
        per_side = [np.bincount(of_mistake[of[of != NONE]], minlength=len(self._found)) for _, of, _, _ in self._sides]
        cost = np.array([int(self._mistakes.corrections[rows].sum()) for _, _, rows in self._found], dtype=np.int64)
        return Causes(
            families=tuple(family for family, _, _ in self._found),
            page=np.array([page for _, page, _ in self._found], dtype=np.int64),
            cost=cost,
            boxes=np.asarray(per_side[0] + per_side[1], dtype=np.int64),
            of_mistake=of_mistake,
            rows=tuple(rows for _, _, rows in self._found),
            counts=tuple(zip(per_side[0].tolist(), per_side[1].tolist(), strict=True)),
        )

    def _add(self, family: Family, page: int, rows: IntArray) -> None:
        self._free[rows] = False
        self._found.append((family, page, np.sort(rows)))

    def _boxes(self, side: int, page: int) -> _Boxes:
        """Boxes of a side on a page that carry a name."""
        column, of, _, _ = self._sides[side]
        rows = self._named[side].get(page, np.empty(0, dtype=np.int64))
        return _Boxes(rows, of[rows], column.xyxy[rows], column.label[rows].astype(np.int64))

    def _shifted(self, page: int, truth: _Boxes, prediction: _Boxes) -> None:
        """Rule 3."""
        truths = np.flatnonzero(self._sides[0][3][truth.rows] == UNMATCHED)
        predictions = np.flatnonzero(self._sides[1][3][prediction.rows] == UNMATCHED)
        if min(len(truths), len(predictions)) < LEAST_OF_PAGE:
            return
        own, other = truth.xyxy[truths], prediction.xyxy[predictions]
        first, second = _alike_boxes(own, truth.label[truths], other, prediction.label[predictions])
        if len(first) < LEAST_OF_PAGE:
            return
        moved = (other[second, :2] + other[second, 2:] - own[first, :2] - own[first, 2:]) / 2.0
        extent = np.maximum(own[:, 2:].max(axis=0) - own[:, :2].min(axis=0), 1e-9)
        best = _together(moved, _SAME_PLACE * extent)
        partnered = np.unique(first[best])
        if len(partnered) < LEAST_OF_PAGE or len(partnered) < SHIFTED_SHARE * len(truths):
            return
        members = np.unique(
            np.concatenate([truth.of[truths[partnered]], prediction.of[predictions[np.unique(second[best])]]])
        )
        self._add(Family("shifted"), page, members)

    def _regions(self, page: int, whole: _Boxes, parts: _Boxes, cause: str) -> None:
        """Rules 4 and 5: each whole, the largest first, with the mistakes that lie in it."""
        parts_in, wholes_in = _inside(whole.xyxy, parts.xyxy), _inside(whole.xyxy, whole.xyxy)
        # How many boxes of each mistake have to lie in a box for the mistake to lie in it.
        carried = Counter(parts.of.tolist()) + Counter(whole.of.tolist())
        for at in np.argsort(-area(whole.xyxy), kind="stable").tolist():
            own = int(whole.of[at])
            inside = parts_in.of(at)
            if len(inside) < 2 or not self._free[own]:
                continue
            free = inside[self._free[parts.of[inside]]]
            if len(free) < 2:
                continue
            held = Counter(parts.of[inside].tolist()) + Counter(whole.of[wholes_in.of(at)].tolist())
            members = {own} | {mistake for mistake in parts.of[free].tolist() if held[mistake] == carried[mistake]}
            free = free[np.isin(parts.of[free], list(members))]
            if len(free) < 2:
                continue
            labels = {self._labels[code] for code in parts.label[free].tolist()}
            several = labels.pop() if len(labels) == 1 else ""
            one = self._labels[int(whole.label[at])]
            family = Family(cause, "", one, several) if cause == "parts" else Family(cause, "", several, one)
            self._add(family, page, np.array(sorted(members)))

    def _alike(self, page: int, rows: IntArray) -> None:
        """Rule 6."""
        groups: dict[Family, list[int]] = {}
        for row in rows[self._free[rows]].tolist():
            family = self._family(row, "alike")
            if family.name in ALIKE:
                groups.setdefault(family, []).append(row)
        for family, members in groups.items():
            if len(members) > 1:
                self._add(family, page, np.array(members))

    def _family(self, row: int, cause: str) -> Family:
        """What a mistake has in common with others."""
        mistakes = self._mistakes
        name = DOCUMENT[mistakes.kind[row]]
        sides = ERROR_TYPES["document"][name].sides
        labels = [
            self._labels[int(side.label[rows[0]])] if len(rows) and kind in sides else ""
            for side, rows, kind in (
                (self._sides[0][0], mistakes.truths_of(row), "ground_truth"),
                (self._sides[1][0], mistakes.predictions_of(row), "prediction"),
            )
        ]
        cut = int(mistakes.side[row])
        return Family(cause, name, labels[0], labels[1], "" if cut == NONE else SIDES[cut])


def _by_page(page: IntArray, rows: IntArray) -> dict[int, IntArray]:
    """Rows by the page that they are on."""
    ordered = rows[np.argsort(page[rows], kind="stable")]
    if not len(ordered):
        return {}
    pages, starts = np.unique(page[ordered], return_index=True)
    return dict(zip(pages.tolist(), np.split(ordered, starts[1:]), strict=True))


def _alike_boxes(
    own: FloatArray, own_label: IntArray, other: FloatArray, other_label: IntArray
) -> tuple[IntArray, IntArray]:
    """Rows of the pairs of one label whose boxes have nearly one size, int64; none when there are too many."""
    sizes, other_sizes = own[:, 2:] - own[:, :2], other[:, 2:] - other[:, :2]
    firsts, seconds, kept = [], [], 0
    step = max(_AT_ONCE // len(other), 1)
    for start in range(0, len(own), step):
        rows = slice(start, start + step)
        here = sizes[rows][:, None]
        alike = (np.abs(here - other_sizes) <= _SAME_SIZE * np.maximum(here, other_sizes)).all(axis=2)
        alike &= own_label[rows][:, None] == other_label
        first, second = np.nonzero(alike)
        kept += len(first)
        if kept > _MOST_ALIKE:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        firsts.append(first + start)
        seconds.append(second)
    return np.concatenate(firsts), np.concatenate(seconds)


def _together(moved: FloatArray, tolerance: FloatArray) -> BoolArray:
    """The pairs that moved like the one that most others moved like, bool, shape (K,); K > 0.

    Each pair is tried; of many pairs the first in each of the cells where most of them are.
    """
    tried = np.arange(len(moved))
    if len(moved) > _TRY_ALL:
        cells = np.floor(moved / tolerance)
        _, firsts, counts = np.unique(cells, axis=0, return_index=True, return_counts=True)
        tried = np.sort(firsts[np.argsort(-counts, kind="stable")[:_TRIED]])
    most, best = 0, np.zeros(len(moved), dtype=bool)
    step = max(_AT_ONCE // len(moved), 1)
    for start in range(0, len(tried), step):
        near: BoolArray = np.all(np.abs(moved[tried[start : start + step], None, :] - moved) <= tolerance, axis=2)
        counts = near.sum(axis=1)
        at = int(counts.argmax())
        if counts[at] > most:
            most, best = int(counts[at]), near[at]
    return best


class _Inside(NamedTuple):
    """Which boxes have enough of their area in each of some wholes: rows in order, and where those of a whole begin."""

    rows: IntArray
    starts: IntArray

    def of(self, whole: int) -> IntArray:
        """The boxes that lie in a whole, rising, int64."""
        return self.rows[self.starts[whole] : self.starts[whole + 1]]


def _inside(wholes: FloatArray, boxes: FloatArray) -> _Inside:
    """Which of some boxes lie in which wholes; memory follows the pairs that do."""
    own = area(boxes)

    def lies(whole: IntArray, box: IntArray) -> FloatArray:
        low = np.maximum(boxes[box, :2], wholes[whole, :2])
        high = np.minimum(boxes[box, 2:], wholes[whole, 2:])
        shared = np.prod(np.maximum(high - low, 0.0), axis=1)
        return np.asarray((own[box] > 0.0) & (shared >= INSIDE_SHARE * own[box]), dtype=np.float64)

    if len(wholes) * len(boxes) <= _AT_ONCE:
        whole, box = (each.ravel() for each in np.indices((len(wholes), len(boxes))))
        kept = lies(whole, box) > 0.0
        whole, box = whole[kept], box[kept]
    else:
        group = np.zeros(max(len(wholes), len(boxes)), dtype=np.int64)
        pairs = overlapping_pairs(wholes, group[: len(wholes)], boxes, group[: len(boxes)], iou_floor=1.0, measure=lies)
        order = np.lexsort((pairs.prediction, pairs.ground_truth))
        whole, box = pairs.ground_truth[order], pairs.prediction[order]
    return _Inside(box, np.searchsorted(whole, np.arange(len(wholes) + 1)))
