"""The page list of the comparison: pages of a filter, their order, bars and numbers.

A place is a position among the rows of `listed_pages`; rows are those of the dataset's page columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.compare.ledger import Ledger, LedgerCounts
from evaluator.components.compare.pair import PAGE_FILTERS
from evaluator.components.compare.payload import FilterItem, ListedPageItem, LookItem
from evaluator.components.viewer.page_strip import window
from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of, cut, name_in_list
from evaluator.metrics.results import signed

LISTED_PAGES: Final = 200
"""So many pages of the list are handed over at once."""


def listed_pages(ledger: Ledger, show: str) -> IntArray:
    """Return the page rows of a `PAGE_FILTERS` name, int64; KeyError for an unknown one.

    *Changed*: most lost first. The others: most boxes of the kind first, ties by rising net change.
    """
    counts = boxes_of(ledger.per_page, show)
    if show != "changed":
        return most_first(ledger, counts)
    ordered = ledger.pages
    return ordered[counts[ordered] > 0]


def most_first(ledger: Ledger, boxes: IntArray) -> IntArray:
    """Return the rows of pages with `boxes` (a number for each page), most first, then rising net change."""
    ordered = ledger.pages
    rows = ordered[boxes[ordered] > 0]
    return rows[np.argsort(-boxes[rows], kind="stable")]


def boxes_of(counts: LedgerCounts, show: str) -> IntArray:
    """Return how many boxes a filter asks for in each row of some counts, int64, shape (R,)."""
    boxes = np.zeros(len(counts), dtype=np.int64)
    for kind in PAGE_FILTERS[show].kinds:
        boxes += getattr(counts, kind)
    return boxes


def filters(ledger: Ledger, show: str, names: Sequence[str]) -> tuple[FilterItem, ...]:
    """Return the filters with their numbers of pages; one that is chosen is always there."""
    items = []
    for name, each in PAGE_FILTERS.items():
        if not each.main and name != show:
            continue
        counts = boxes_of(ledger.per_page, name)
        pages, boxes = int((counts > 0).sum()), int(counts.sum())
        words = f"{count_of(pages, 'page')}, {count_of(boxes, 'box')}"
        items.append(FilterItem(name, each.title(names), pages, words))
    return tuple(items)


class PageList(NamedTuple):
    """The pages around one page of the list, and how the list looks."""

    strip: tuple[ListedPageItem, ...]
    look: LookItem


def page_list(
    ledger: Ledger,
    show: str,
    rows: IntArray,
    position: int,
    names: Sequence[str],
    *,
    of_cause: IntArray | None = None,
) -> PageList:
    """Return the listed pages around a position of `rows`, with title and scale; see `listed_pages`."""
    counts, dataset = ledger.per_page, ledger.dataset
    asked = PAGE_FILTERS[show].title(names) if of_cause is None else "of this cause"
    diverging = show == "changed" and of_cause is None
    right = counts.gains if diverging else boxes_of(counts, show) if of_cause is None else of_cause
    left = counts.losses if diverging else np.zeros_like(right)
    net = counts.net
    # The first page that gained is below those that nothing happened to.
    gap = (int((net[rows] <= 0).sum()), _gap(counts)) if diverging else None

    def described(row: int) -> PageFacts:
        document = dataset.documents[dataset.page_document[row]]
        number = signed(int(net[row])) if diverging else f"{int(right[row]):,}"
        words = _words(counts, row, names) if diverging else f"{asked}: {int(right[row]):,}"
        return PageFacts(document.doc_id, document.name, int(dataset.page_index[row]), number, words)

    title = "net change, worst first" if diverging else f"{asked}, most first"
    words = f"Boxes of each page{'' if of_cause is not None else ':'} {asked}"
    if diverging:
        fewer = f"Net change: by how many mistakes {names[1]} has fewer"
        words = f"{fewer}; orange what is lost or extra in {names[1]}, blue what is gained"
    return around(rows, position, (left, right), described, (title, words, diverging), gap=gap)


class PageFacts(NamedTuple):
    """A page of a list: id and name of its document, page there from 0, number, and what the number means."""

    document: str
    name: str
    page: int
    number: str
    words: str


def around(
    rows: IntArray,
    position: int,
    bars: tuple[IntArray, IntArray],
    described: Callable[[int], PageFacts],
    look: tuple[str, str, bool],
    *,
    gap: tuple[int, str | None] | None = None,
) -> PageList:
    """Return at most `LISTED_PAGES` pages around a position, with bars to the left and right by row."""
    left, right = bars
    first, _ = window(position, len(rows), LISTED_PAGES)
    strip = []
    for place, row in enumerate(rows[first : first + LISTED_PAGES].tolist(), start=first):
        document, name, page, number, words = described(row)
        strip.append(
            ListedPageItem(
                document=cut(document),
                name=name_in_list(name),
                index=page,
                lost=int(left[row]),
                gained=int(right[row]),
                number=number,
                words=words,
                above=gap[1] if gap and place == gap[0] else None,
                current=place == position,
            )
        )
    title, said, diverging = look
    longest = int(max(left[rows].max(initial=0), right[rows].max(initial=0)))
    return PageList(tuple(strip), LookItem(title, said, longest, diverging))


def _words(counts: LedgerCounts, row: int, names: Sequence[str]) -> str:
    parts = (
        (counts.b_only, "gained"),
        (counts.a_only, "lost"),
        (counts.a_invents, f"extra only in {names[0]}"),
        (counts.b_invents, f"extra only in {names[1]}"),
    )
    listed = ", ".join(f"{int(column[row]):,} {words}" for column, words in parts if column[row])
    return f"net change {signed(int(counts.net[row]))}: {listed}"


def _gap(counts: LedgerCounts) -> str | None:
    changed = counts.changed
    taking_part = counts.both + counts.neither + counts.shared + changed
    unchanged = int(((changed == 0) & (taking_part > 0)).sum())
    return f"{count_of(unchanged, 'page')} unchanged" if unchanged else None
