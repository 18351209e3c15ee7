"""The page list of a comparison of wrong pixels, fields or criteria, counted by an `ItemLedger`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.components.compare.pair import CHANGES
from evaluator.components.compare.pair_list import PageFacts, PageList, around
from evaluator.components.compare.payload import FilterItem
from evaluator.components.payload import PairKind
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.issues import count_of
from evaluator.data.order import order_by
from evaluator.metrics.item_ledger import OUTCOMES, ItemLedger, Outcome
from evaluator.metrics.results import MINUS


class ItemFilter(NamedTuple):
    """One way to list pages: title with places for the models' names, what it lists and what it draws."""

    words: str
    outcomes: tuple[Outcome, ...]
    kinds: tuple[PairKind, ...]

    def title(self, names: Sequence[str]) -> str:
        """Return the title with the names of the two models."""
        return self.words.format(*names)


ITEM_FILTERS: Final[Mapping[str, ItemFilter]] = {
    "changed": ItemFilter("Changed", ("a_better", "b_better"), CHANGES),
    "b_fixed": ItemFilter("Better in {1}", ("b_better",), ("b_only", "a_invents")),
    "b_broke": ItemFilter("Worse in {1}", ("a_better",), ("a_only", "b_invents")),
    "both_missed": ItemFilter("Equally wrong", ("same_wrong",), ("neither", "shared")),
    "both_found": ItemFilter("Right in both", ("same_right",), ("both",)),
}
"""The filters by name; the names are some of those of the comparison of boxes."""
KIND_OF: Final[Mapping[Outcome, PairKind]] = {
    "b_better": "b_only",
    "a_better": "a_only",
    "same_right": "both",
    "same_wrong": "neither",
}
"""How a thing of the ground truth is drawn."""
SPURIOUS_KIND_OF: Final[Mapping[Outcome, PairKind]] = {
    "b_better": "a_invents",
    "a_better": "b_invents",
    "same_right": "both",
    "same_wrong": "shared",
}
"""How a thing is drawn that only predictions have: it is worse in the model that has it."""


class ItemPages(NamedTuple):
    """What differs on each page; `noun` is what is counted, in the singular.

    `places` are (document, page from 0), in the ledger's order; things on no page are on the first. `has` and `amount`,
    shape (P, 4), are by `OUTCOMES`; wrong pixels count how many a model is better, for both on equally wrong pages.
    """

    noun: str
    places: tuple[tuple[str, int], ...]
    has: BoolArray
    amount: IntArray

    @property
    def net(self) -> IntArray:
        """Return what is better in B less what is worse, int64, shape (P,)."""
        return self.amount[:, 0] - self.amount[:, 1]


def item_pages(ledger: ItemLedger, noun: str, rows: Sequence[int] = (0,)) -> ItemPages:
    """Return the things of some rows of a ledger by page."""
    places, pages = ledger.items.pages
    has = np.zeros((len(places), len(OUTCOMES)), dtype=bool)
    amount = np.zeros((len(places), len(OUTCOMES)))
    for row in rows:
        outcome = ledger.outcome[:, row]
        known = np.flatnonzero(outcome >= 0)
        cell = pages[known] * len(OUTCOMES) + outcome[known]
        has.reshape(-1)[cell] = True
        amount += np.bincount(cell, weights=_moved(ledger, row)[known], minlength=amount.size).reshape(amount.shape)
    return ItemPages(noun, places, has, np.rint(amount).astype(np.int64))


def _moved(ledger: ItemLedger, row: int) -> FloatArray:
    """Return how much better each thing is, or how wrong if both are equal; 1 for what is right or wrong."""
    if ledger.is_yes_or_no:
        return np.ones(len(ledger.items))
    a, b = ledger.a[:, row], ledger.b[:, row]
    return np.where(a == b, a, np.abs(a - b))


def listed_item_pages(pages: ItemPages, show: str, documents: Collection[str] | None = None) -> IntArray:
    """Return places in ``pages.places`` of a filter of `ITEM_FILTERS`, int64; KeyError for an unknown one.

    *Changed*: by rising net change. The others: most of the kind first.
    """
    columns = [OUTCOMES.index(each) for each in ITEM_FILTERS[show].outcomes]
    chosen = pages.has[:, columns].any(axis=1)
    if documents is not None:
        chosen &= np.array([document in documents for document, _ in pages.places], dtype=bool)
    rows = np.flatnonzero(chosen)
    order = pages.net[rows] if show == "changed" else -pages.amount[rows][:, columns].sum(axis=1)
    return rows[order_by([order])]


def item_filters(pages: ItemPages, show: str, names: Sequence[str]) -> tuple[FilterItem, ...]:
    """Return the filters with their numbers of pages; the last one only while it is chosen."""
    items = []
    for name, each in ITEM_FILTERS.items():
        if name == "both_found" and show != name:
            continue
        columns = [OUTCOMES.index(outcome) for outcome in each.outcomes]
        count = int(pages.has[:, columns].any(axis=1).sum())
        amount = int(pages.amount[:, columns].sum())
        words = f"{count_of(count, 'page')}, {_amount_words(amount, pages.noun)}"
        items.append(FilterItem(name, each.title(names), count, words))
    return tuple(items)


def item_page_list(
    pages: ItemPages,
    show: str,
    rows: IntArray,
    position: int,
    names: Sequence[str],
    *,
    short: Callable[[int], str] = lambda value: f"{value:,}",
) -> PageList:
    """Return the pages around one of the list; `rows` are from `listed_item_pages`, `short` formats a number."""
    diverging = show == "changed"
    columns = [OUTCOMES.index(each) for each in ITEM_FILTERS[show].outcomes]
    right = pages.amount[:, 0] if diverging else pages.amount[:, columns].sum(axis=1)
    left = pages.amount[:, 1] if diverging else np.zeros_like(right)
    moved = pages.net

    def described(row: int) -> PageFacts:
        document, index = pages.places[row]
        gained, lost = int(right[row]), int(left[row])
        number = _signed(int(moved[row]), short) if diverging else short(gained)
        words = _page_words(pages.noun, gained, lost, names) if diverging else _amount_words(gained, pages.noun)
        return PageFacts(document, document, index, number, words)

    title = ITEM_FILTERS[show].title(names)
    plural = _amount_words(2, pages.noun).removeprefix("2 ")
    words = f"{plural.capitalize()} of each page: {title.lower() if not diverging else 'orange worse, blue better'}"
    order = f"net {plural}, worst first" if diverging else f"{title}, most first"
    return around(rows, position, (left, right), described, (order, words, diverging))


def _signed(value: int, short: Callable[[int], str]) -> str:
    return "0" if value == 0 else f"+{short(value)}" if value > 0 else f"{MINUS}{short(-value)}"


def _amount_words(amount: int, noun: str) -> str:
    return f"{amount:,} criteria" if noun == "criterion" and amount != 1 else count_of(amount, noun)


def _page_words(noun: str, gained: int, lost: int, names: Sequence[str]) -> str:
    parts = [f"{_amount_words(gained, noun)} better in {names[1]}"] if gained else []
    parts += [f"{_amount_words(lost, noun)} worse in {names[1]}"] if lost else []
    return ", ".join(parts)
