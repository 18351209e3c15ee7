"""Causes of the mistakes that only one of two models makes: what B solves, and what is new in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evaluator.compare.ledger import A_ONLY, B_ONLY, NEITHER, FalsePositives, Ledger
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.causes import NO_TOTAL, CausesPartial, Family, FamilyTotal
from evaluator.matching.error_types import NONE

TRUTH, FIRST, SECOND = range(3)
"""Where the row of a changed box is from: the ground truth, or the predictions of one of the models; by code."""
Change = Literal["solved", "partly", "new", "fewer", "more", "other"]
"""What became of a cause in ``b``."""


@dataclass(frozen=True, eq=False)
class ChangedCauses:
    """Kinds of causes (K) of which only one of two models has some boxes, most boxes first.

    `solved` and `new`, shape (K,), count boxes that only ``a``, or only ``b``, has wrong; `remains`: a ground
    truth of it is missed by both; `totals`: what each model has of it, on all pages. `family`, `source` (`TRUTH` and so
    on), `row` there and `page` describe each changed box, shape (C,).
    """

    families: tuple[Family, ...]
    solved: IntArray
    new: IntArray
    remains: BoolArray
    totals: tuple[tuple[FamilyTotal, FamilyTotal], ...]
    family: IntArray
    source: IntArray
    row: IntArray
    page: IntArray

    def __len__(self) -> int:
        return len(self.families)

    def change(self, place: int) -> Change:
        """Return what became of a kind of cause in ``b``.

        ``solved``: only ``a`` has it, and ``b`` finds its ground truths; ``partly``: not all of them. ``new``: only
        ``b`` has it. Else by the number of boxes: ``fewer``, ``more``, or ``other`` for as many.
        """
        solved, new = int(self.solved[place]), int(self.new[place])
        if not new:
            return "partly" if self.remains[place] else "solved"
        if not solved:
            return "new"
        return "fewer" if solved > new else "more" if new > solved else "other"

    def boxes_of(self, place: int) -> BoolArray:
        """Return which of the changed boxes are of a kind of cause, bool, shape (C,)."""
        return np.asarray(self.family == place)

    def pages_of(self, place: int) -> IntArray:
        """Return the rows of the pages with such a box, rising, int64."""
        return np.unique(self.page[self.boxes_of(place)])

    @cached_property
    def page_counts(self) -> IntArray:
        """Return how many pages have a box of each kind of cause, int64, shape (K,); see `pages_of`."""
        cells = np.sort(self.page * len(self) + self.family)
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        return np.bincount(cells[first] % max(len(self), 1), minlength=len(self))


def changed_causes(a: AnyBoxResult, b: AnyBoxResult, ledger: Ledger) -> ChangedCauses:
    """Return the causes behind the boxes of a ledger of `a` and `b` that only one of them has wrong."""
    families: dict[Family, int] = {}
    parts: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
    remaining: set[int] = set()
    for result, own, missed, source in ((a, ledger.a, B_ONLY, FIRST), (b, ledger.b, A_ONLY, SECOND)):
        made, mistakes = result.causes, result.mistakes
        codes = np.array([families.setdefault(each, len(families)) for each in made.kinds], dtype=np.int64)
        truths = np.flatnonzero(ledger.truth_outcome == missed)
        extra = _alone(own)
        both = np.flatnonzero(ledger.truth_outcome == NEITHER)
        changed = [
            (TRUTH, truths, ledger.dataset.ground_truth.page[truths], made.of_mistake[mistakes.of_truth[truths]]),
            (source, extra, own.page[~own.shared], made.of_mistake[mistakes.of_prediction[extra]]),
        ]
        of_both = np.zeros(len(made), dtype=bool)
        of_both[made.of_mistake[mistakes.of_truth[both]]] = True
        for code, rows, page, cause in changed:
            family = codes[made.kind[cause]]
            remains = np.bincount(family[of_both[cause]], minlength=len(families))
            remaining.update(np.flatnonzero(remains).tolist())
            parts.append((family, np.full(len(rows), code), rows, page))
    every = [CausesPartial.of(each.causes, ledger.dataset.page_document).totals for each in (a, b)]
    totals = {family: (every[0].get(family, NO_TOTAL), every[1].get(family, NO_TOTAL)) for family in families}
    return _ranked(totals, parts, remaining)


def _ranked(
    totals: Mapping[Family, tuple[FamilyTotal, FamilyTotal]],
    parts: list[tuple[IntArray, IntArray, IntArray, IntArray]],
    remaining: set[int],
) -> ChangedCauses:
    """Return the families that have changed boxes, most first; `parts` are those of ``a``, then of ``b``."""
    families = list(totals)
    counts = np.array(
        [
            np.bincount(np.concatenate([part[0] for part in side]), minlength=len(families))
            for side in (parts[:2], parts[2:])
        ],
        dtype=np.int64,
    )
    total = counts.sum(axis=0)
    order = np.argsort(-total, kind="stable")[: int((total > 0).sum())]
    place = np.full(len(families), NONE, dtype=np.int64)
    place[order] = np.arange(len(order))
    family, source, row, page = (np.concatenate([part[at] for part in parts]).astype(np.int64) for at in range(4))
    return ChangedCauses(
        families=tuple(families[at] for at in order.tolist()),
        solved=counts[0, order],
        new=counts[1, order],
        remains=np.isin(order, list(remaining)),
        totals=tuple(totals[families[at]] for at in order.tolist()),
        family=place[family],
        source=source,
        row=row,
        page=page,
    )


def _alone(extra: FalsePositives) -> IntArray:
    """Return the rows of the false positives that only one of the models has, int64."""
    return np.asarray(extra.row[~extra.shared], dtype=np.int64)
