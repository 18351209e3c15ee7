"""The ledger of what is not matched box by box: the pages, fields or posters that are better in one of two models.

Owns `ItemLedger`, for protocols whose results are right or wrong by whole things. Each thing has an amount of what is
wrong with it in each model: wrong pixels of a page, 0 or 1 for a field or a poster. Less is better. ``a`` is the
baseline, ``b`` the candidate. The box-by-box ledger of one-to-one matchings is ``compare.ledger``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.results import JsonObject
from evaluator.model.boxes import FloatArray, IntArray

Outcome = Literal["b_better", "a_better", "same_right", "same_wrong"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("b_better", "a_better", "same_right", "same_wrong")
"""What a thing can be, by code: better in B, better in A, nothing wrong in both, equally wrong in both."""
NOT_COUNTED: Final = -1


class Item(NamedTuple):
    """A thing that is counted.

    Attributes
    ----------
    document : str
        Id of the document, or of the poster.
    page : int or None
        From 0; None where the thing is no page and lies on none.
    place : str
        What it is in the document, such as the path of a field; empty for the whole page or poster.
    spurious : bool
        Whether it is in predictions only, so that it is wrong where it is and right where it is not.
    """

    document: str
    page: int | None = None
    place: str = ""
    spurious: bool = False

    @property
    def words(self) -> str:
        """As people read it.

        Examples
        --------
        >>> Item("a.pdf", 1, "total").words
        'a.pdf, page 2, total'
        """
        page = [] if self.page is None else [f"page {self.page + 1:,}"]
        return ", ".join([self.document, *page, *([self.place_words] if self.place else [])])

    @property
    def place_words(self) -> str:
        """The place as people read it.

        Examples
        --------
        >>> Item("a.pdf", 1, "total", spurious=True).place_words
        'total (spurious)'
        """
        return f"{self.place} (spurious)" if self.spurious else self.place


class Items(tuple[Item, ...]):
    """Things of a ledger, each once; what only depends on them is worked out once for all ledgers of them."""

    @cached_property
    def pages(self) -> tuple[tuple[tuple[str, int], ...], IntArray]:
        """The pages on which they are, in the order in which they come, and the number of each one's, int64.

        A page is a document and a page from 0; things that lie on no page are on the first one.
        """
        code: dict[tuple[str, int], int] = {}
        number = [code.setdefault((item.document, item.page or 0), len(code)) for item in self]
        return tuple(code), np.array(number, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ItemLedger:
    """Two models thing by thing.

    Attributes
    ----------
    noun : str
        What is counted, in the singular: page, field, poster.
    measure : str
        What makes a thing better, in a word or two, whatever the threshold.
    rows : tuple of str, length R
        Everything first, then the labels or criteria.
    items : Items, length K
    a, b : float64, shape (K, R)
        How much is wrong with each thing in each model; NaN in both where it is not counted in a row.
    at : str
        The threshold in words, where there is one.

    Notes
    -----
    Ours: no evaluation system defines it.
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
        """What makes a thing better, with its threshold, in a few words after "by"."""
        return f"{self.measure} at {self.at}" if self.at else self.measure

    @cached_property
    def outcome(self) -> npt.NDArray[np.int8]:
        """Code into `OUTCOMES` of each thing in each row, int8, shape (K, R); -1 where it is not counted."""
        # Sums of truth values, of which at most one is true but for the first two: many times faster than a choice.
        equal, right, better, worse = (
            case.view(np.int8) for case in (self.a == self.b, self.a == 0.0, self.b < self.a, self.a < self.b)
        )
        return NOT_COUNTED + better + 2 * worse + 4 * equal - (equal & right)

    def counts(self, row: int) -> dict[str, int]:
        """One row as plain values: the four outcomes, then ``net``, the things better in B less those better in A."""
        of_row = self.outcome[:, row]
        counted = np.bincount(of_row[of_row >= 0], minlength=len(OUTCOMES)).tolist()
        return {**dict(zip(OUTCOMES, counted, strict=True)), "net": counted[0] - counted[1]}

    def behind(self, row: int, outcome: Outcome) -> IntArray:
        """The things of an outcome, those that moved most first, int64, shape (N,): as many as `counts` says.

        Equally moved ones in the order of `items`.
        """
        places = np.flatnonzero(self.outcome[:, row] == OUTCOMES.index(outcome))
        moved = np.abs(self.a[places, row] - self.b[places, row])
        wrong = self.a[places, row]
        return places[np.lexsort((-wrong, -moved))].astype(np.int64)

    @cached_property
    def is_yes_or_no(self) -> bool:
        """Whether a thing is either right or wrong, without an amount."""
        return all(bool(((side == 0.0) | (side == 1.0) | np.isnan(side)).all()) for side in (self.a, self.b))

    def amounts(self, at: int) -> tuple[float, float]:
        """How much is wrong with a thing in A and in B, over everything."""
        return float(self.a[at, 0]), float(self.b[at, 0])

    def to_json(self) -> JsonObject:
        """The counts of each row, and the things that differ over everything with what is wrong with them.

        Returns
        -------
        dict
            ``item``, ``criterion``, ``rows`` by name, ``changed``: list of ``document``, ``page`` (from 0, None for
            none), ``place`` (None for the whole), ``spurious`` (in predictions only), ``outcome``, ``a`` and ``b``;
            those worse in B first. Empty lists without things.
        """
        changed = []
        for outcome in ("a_better", "b_better"):
            for at in self.behind(0, outcome).tolist():
                item = self.items[at]
                amounts = dict(zip("ab", self.amounts(at), strict=True))
                where = {**item._asdict(), "place": item.place or None}
                changed.append({**where, "outcome": outcome, **amounts})
        rows = {name: self.counts(row) for row, name in enumerate(self.rows)}
        return {"item": self.noun, "criterion": self.criterion, "rows": rows, "changed": changed}


def item_ledger(
    noun: str,
    measure: str,
    rows: Sequence[str],
    first: dict[Item, FloatArray],
    second: dict[Item, FloatArray],
    *,
    at: str = "",
) -> ItemLedger:
    """A ledger from what each model has wrong.

    Parameters
    ----------
    rows : sequence of str, length R
        See `ItemLedger`.
    first, second : dict of float64, shape (R,)
        The amounts of A and of B by thing; NaN where a thing is not counted in a row.
    noun, measure, at : str
        See `ItemLedger`.

    Returns
    -------
    ItemLedger
        Of the things that both have, in the order of `first`; in a row where one of them does not count it, it is not
        counted. Rows after the first that count nothing are left out.
    """
    items = Items(item for item in first if item in second)
    amounts = [np.array([side[item] for item in items]).reshape(len(items), len(rows)) for side in (first, second)]
    return ledger_of(noun, measure, rows, items, amounts, at=at)


def ledger_of(
    noun: str, measure: str, rows: Sequence[str], items: Items, amounts: Sequence[FloatArray], *, at: str = ""
) -> ItemLedger:
    """A ledger from the amounts of A and of B as columns, float64, shape (K, R) each; see `item_ledger`."""
    a, b = amounts
    unknown = np.isnan(a) | np.isnan(b)
    listed = [row for row in range(len(rows)) if row == 0 or not unknown[:, row].all()]
    if (unknown & ~(np.isnan(a) & np.isnan(b))).any():
        a, b = (np.where(unknown, np.nan, side) for side in (a, b))
    if len(listed) < len(rows):
        a, b = a[:, listed], b[:, listed]
    return ItemLedger(noun, measure, tuple(rows[row] for row in listed), items, a, b, at)
