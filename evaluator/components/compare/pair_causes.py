"""Causes of the comparison (of `evaluator.compare.changed_causes`) as its list reads them, with keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec
import numpy as np

from evaluator.compare.changed_causes import FIRST, SECOND, TRUTH, Change, ChangedCauses
from evaluator.compare.ledger import Ledger
from evaluator.components.compare.pair_list import most_first
from evaluator.components.compare.payload import ChangedCauseItem
from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of, cut, displayed
from evaluator.matching.causes import Family, family_title

_CHANGES: Final[dict[Change, tuple[str, Literal["gain", "loss", "unclear"]]]] = {
    "solved": ("Solved in {1}", "gain"),
    "partly": ("Partly solved in {1}", "gain"),
    "new": ("New in {1}", "loss"),
    "fewer": ("Fewer in {1}", "gain"),
    "more": ("More in {1}", "loss"),
    "other": ("Others in {1}", "unclear"),
}
_PREFIXES: Final = {TRUTH: "g", FIRST: "a", SECOND: "b"}


def key_of(family: Family) -> str:
    """Return the key of a kind of cause, for the browser and the address."""
    return "/".join(map(cut, family))


def place_of(causes: ChangedCauses, key: str) -> int | None:
    """Place of a kind of cause; None when nothing of it changed."""
    return next((place for place, family in enumerate(causes.families) if key_of(family) == key), None)


def cause_items(causes: ChangedCauses, names: Sequence[str], fails: str = "") -> tuple[ChangedCauseItem, ...]:
    """Return the causes as the comparison lists them, with the models' `names`; empty without a change."""
    items = [_item(causes, place, names, pages) for place, pages in enumerate(causes.page_counts.tolist())]
    items = [msgspec.structs.replace(each, fails=True) if each.key == fails else each for each in items]
    return tuple(sorted(items, key=lambda each: not each.fails))


def _item(causes: ChangedCauses, place: int, names: Sequence[str], on_pages: int) -> ChangedCauseItem:
    change = causes.change(place)
    words, tone = _CHANGES[change]
    solved, new = int(causes.solved[place]), int(causes.new[place])
    pages = count_of(on_pages, "page")
    counted = list(zip(names, (solved, new), causes.totals[place], strict=True))
    shares = [
        f"{name}'s {total.boxes:,}" if count == total.boxes else f"{count:,} of {name}'s {total.boxes:,}"
        for name, count, total in counted
        if count
    ]
    boxes = f"{', '.join(shares)} {'wrong box' if solved + new == 1 else 'wrong boxes'} on {pages}"
    title, became = displayed(family_title(causes.families[place])), words.format(*names)
    parts = [f"{count:,} wrong only in {name}, which has {total.words}" for name, count, total in counted if count]
    remains = ", some ground truth is missed by both" if causes.remains[place] else ""
    said = f"{title}. {became}: {'; '.join(parts)}; on {pages}{remains}"
    return ChangedCauseItem(key_of(causes.families[place]), title, became, boxes, said, tone)


def boxes_per_page(causes: ChangedCauses, place: int, pages: int) -> IntArray:
    """Return how many changed boxes of a cause each page has, int64, shape (pages,)."""
    return np.bincount(causes.page[causes.boxes_of(place)], minlength=pages).astype(np.int64)


def pages_of(causes: ChangedCauses, place: int, ledger: Ledger) -> IntArray:
    """Rows of the pages of a cause, the page with most boxes first, equal ones by rising net change; int64."""
    return most_first(ledger, boxes_per_page(causes, place, ledger.dataset.pages))


def box_keys(causes: ChangedCauses, place: int) -> frozenset[str]:
    """Keys of the changed boxes of a cause, as the panes name them (`evaluator.components.compare.pair`)."""
    of = causes.boxes_of(place)
    return frozenset(
        f"{_PREFIXES[source]}{row}"
        for source, row in zip(causes.source[of].tolist(), causes.row[of].tolist(), strict=True)
    )
