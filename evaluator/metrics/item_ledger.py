"""Pages, fields or posters that are better in one of two models: less is wrong; ``a`` is the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.metrics.results import JsonObject

Outcome = Literal["b_better", "a_better", "same_right", "same_wrong"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("b_better", "a_better", "same_right", "same_wrong")
"""What a thing can be, by code: better in B, better in A, nothing wrong in both, equally wrong in both."""
NOT_COUNTED: Final = -1


class Item(NamedTuple):
    """A thing that is counted, by document or poster id.

    `page`: from 0; None where the thing is on no page. `place`: such as the path of a field; empty for the whole page
    or poster. `spurious`: in predictions only, so that it is wrong where it is and right where it is not.
    """

    document: str
    page: int | None = None
    place: str = ""
    spurious: bool = False

    @property
    def words(self) -> str:
        """Return the thing as people read it.

        >>> Item("a.pdf", 1, "total").words
        'a.pdf, page 2, total'
        """
        page = [] if self.page is None else [f"page {self.page + 1:,}"]
        return ", ".join([self.document, *page, *([self.place_words] if self.place else [])])

    @property
    def place_words(self) -> str:
        """Return the place as people read it.

        >>> Item("a.pdf", 1, "total", spurious=True).place_words
        'total (extra)'
        """
        return f"{self.place} (extra)" if self.spurious else self.place


class Items(tuple[Item, ...]):
    """Things of a ledger, each once; what only depends on them is computed once for all ledgers of them."""

    @cached_property
    def pages(self) -> tuple[tuple[tuple[str, int], ...], IntArray]:
        """Return the (document, page from 0) that occur, in order, and the number of each thing's, int64.

        Things that lie on no page are on the first one.
        """
        code: dict[tuple[str, int], int] = {}
        number = [code.setdefault((item.document, item.page or 0), len(code)) for item in self]
        return tuple(code), np.array(number, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ItemLedger:
    """Two models thing by thing: K things, R rows. Ours: no evaluation system defines it.

    `noun`: what is counted (page, field, poster). `measure`: what makes a thing better. `rows`: everything first, then
    the labels or criteria. `a`, `b`: float64, shape (K, R), how much is wrong with each thing in each model, NaN in
    both where it is not counted. `at`: the threshold in words.
    """

    noun: str
    measure: str
    rows: tuple[str, ...]
    items: Items
    a: FloatArray
    b: FloatArray
    at: str = ""

    @property
    def criterion(self) -> str:
        """Return what makes a thing better, with its threshold, in a few words after "by"."""
        return f"{self.measure} at {self.at}" if self.at else self.measure

    @cached_property
    def outcome(self) -> npt.NDArray[np.int8]:
        """Return the code into `OUTCOMES` of each thing in each row, int8, shape (K, R); -1 if not counted."""
        # Sums of truth values, of which at most one is true but for the first two: many times faster than a choice.
        equal, right, better, worse = (
            case.view(np.int8) for case in (self.a == self.b, self.a == 0.0, self.b < self.a, self.a < self.b)
        )
        return NOT_COUNTED + better + 2 * worse + 4 * equal - (equal & right)

    def counts(self, row: int) -> dict[str, int]:
        """Return the four outcomes of a row, and ``net``: the things better in B less those better in A."""
        of_row = self.outcome[:, row]
        counted = np.bincount(of_row[of_row >= 0], minlength=len(OUTCOMES)).tolist()
        return {**dict(zip(OUTCOMES, counted, strict=True)), "net": counted[0] - counted[1]}

    def items_with_outcome(self, row: int, outcome: Outcome) -> IntArray:
        """Return the things of an outcome, int64, as many as `counts` says, those that moved most first.

        Equally moved ones: those with more wrong in A first, then in the order of `items`.
        """
        places = np.flatnonzero(self.outcome[:, row] == OUTCOMES.index(outcome))
        moved = np.abs(self.a[places, row] - self.b[places, row])
        wrong = self.a[places, row]
        return places[np.lexsort((-wrong, -moved))].astype(np.int64)

    @cached_property
    def is_yes_or_no(self) -> bool:
        """Return whether a thing is either right or wrong, without an amount."""
        return all(bool(((side == 0.0) | (side == 1.0) | np.isnan(side)).all()) for side in (self.a, self.b))

    def amounts(self, at: int) -> tuple[float, float]:
        """Return how much is wrong with a thing in A and in B, over everything."""
        return float(self.a[at, 0]), float(self.b[at, 0])

    def to_json(self) -> JsonObject:
        """Return the counts of each row, and the things that differ over everything, those worse in B first.

        ``item``, ``criterion``, ``rows`` by name, ``changed``: list of ``document``, ``page`` (from 0, None for none),
        ``place`` (None for the whole), ``spurious``, ``outcome``, ``a`` and ``b``. Empty lists without things.
        """
        changed = []
        for outcome in ("a_better", "b_better"):
            for at in self.items_with_outcome(0, outcome).tolist():
                item = self.items[at]
                amounts = dict(zip("ab", self.amounts(at), strict=True))
                where = {**item._asdict(), "place": item.place or None}
                changed.append({**where, "outcome": outcome, **amounts})
        rows = {name: self.counts(row) for row, name in enumerate(self.rows)}
        return {"item": self.noun, "criterion": self.criterion, "rows": rows, "changed": changed}


def item_ledger(
    noun: str, measure: str, rows: Sequence[str], items: Items, amounts: Iterable[FloatArray]
) -> ItemLedger:
    """Return a ledger of things from how much is wrong with them in A and in B, float64, shape (K, R) each.

    NaN where a thing is not counted; then it is not counted in the row at all. Rows after the first that count nothing
    are left out.
    """
    a, b = amounts
    unknown = np.isnan(a) | np.isnan(b)
    listed = [row for row in range(len(rows)) if row == 0 or not unknown[:, row].all()]
    if (unknown & ~(np.isnan(a) & np.isnan(b))).any():
        a, b = (np.where(unknown, np.nan, side) for side in (a, b))
    if len(listed) < len(rows):
        a, b = a[:, listed], b[:, listed]
    return ItemLedger(noun, measure, tuple(rows[row] for row in listed), items, a, b)
