"""The pages of a result of `order`, `text` or `tables`: which are listed, what each shows, and the strip of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.components.viewer.order_page import order_layers
from evaluator.components.viewer.payload import PageLayers, StripItem
from evaluator.components.viewer.published_page import published_layers
from evaluator.components.viewer.table_page import table_layers
from evaluator.components.viewer.text_page import text_layers
from evaluator.data.issues import count_of, cut, displayed
from evaluator.matching.page_rows import page_shares
from evaluator.protocols.items import ItemProtocol, ItemResult
from evaluator.protocols.omnidocbench.evaluation import ProfileResult
from evaluator.protocols.order import protocol as order
from evaluator.protocols.tables import protocol as tables
from evaluator.protocols.text import protocol as text

READINGS: Final[Mapping[str, ItemProtocol[Any]]] = {
    each.name: each for each in (order.PROTOCOL, text.PROTOCOL, tables.PROTOCOL)
}
"""The protocols of items."""
_LAYERS: Final[Mapping[str, Callable[..., PageLayers]]] = {
    "order": order_layers,
    "text": text_layers,
    "tables": table_layers,
}
_BLOCKS: Final = 8


class ListedPage(NamedTuple):
    """A page of a list: its place in the result, how many mistakes pass, and what they cost."""

    document: str
    page: int
    at: int
    mistakes: int
    cost: int


class ListedPages(NamedTuple):
    """The pages that pass, in order, and how often each name of mistakes occurs, whatever names are asked for."""

    pages: list[ListedPage]
    counts: Mapping[str, int]

    @property
    def mistakes(self) -> int:
        """Return how many mistakes pass."""
        return sum(page.mistakes for page in self.pages)

    def position(self, document: str | None, index: int | None) -> int | None:
        """Return the place of a page in the list; None for one that is not listed."""
        places = (at for at, page in enumerate(self.pages) if (page.document, page.page) == (document, index))
        return next(places, None)

    def next_with(self, here: int, step: int) -> int | None:
        """Return the place of the next page with mistakes, or of the one before for -1; None without."""
        places = range(here + 1, len(self.pages)) if step > 0 else range(here - 1, -1, -1)
        return next((at for at in places if self.pages[at].mistakes), None)

    def words(self, unit: str) -> str:
        """Return what is listed; `unit` is what mistakes cost."""
        cost = sum(page.cost for page in self.pages)
        pages = sum(page.mistakes > 0 for page in self.pages)
        return f"{count_of(self.mistakes, 'mistake')} ({count_of(cost, unit)}) on {count_of(pages, 'page')}"


def list_pages(
    result: ItemResult[Any], *, document: str = "", names: Collection[str] = (), worst_first: bool = True
) -> ListedPages:
    """Return the pages of a document, or of all, with the mistakes of some names, or with all.

    Pages without a mistake of these `names` are left out; with no names they are listed.
    """
    pages: list[ListedPage] = []
    counts: Counter[str] = Counter()
    for at, page in enumerate(result.own_pages):
        if document not in ("", page.document):
            continue
        costs = page.costs
        counts.update(name for name, _ in costs)
        kept = [cost for name, cost in costs if not names or name in names]
        if kept or not names:
            pages.append(ListedPage(page.document, page.page, at, len(kept), sum(kept)))
    if worst_first:
        pages.sort(key=lambda page: -page.cost)
    return ListedPages(pages, counts)


def page_layers(result: ItemResult[Any], at: int, names: Collection[str] = ()) -> PageLayers:
    """Return what is drawn of a page of a result."""
    if isinstance(result, ProfileResult):
        return published_layers(result, at, names)
    return _LAYERS[result.name](result, at, names)


def strip(result: ItemResult[Any], pages: Sequence[ListedPage]) -> list[StripItem]:
    """Return the strip of some pages, none of them the current one."""
    return [
        StripItem(
            document=cut(page.document),
            index=page.page,
            mistakes=page.mistakes,
            blocks=_blocks(result, page.at),
            current=False,
        )
        for page in pages
    ]


def _blocks(result: ItemResult[Any], at: int) -> list[tuple[float, float, float, float, str]]:
    truth, rows = result.dataset.ground_truth, np.array(result.paired[at].truth[:_BLOCKS], dtype=np.int64)
    places = page_shares(result.dataset, truth, rows).round(2).tolist()
    names = [displayed(result.dataset.labels[code]) for code in truth.label[rows].tolist()]
    return [
        (x1, y1, x2, y2, name) for (x1, y1, x2, y2), name in zip(places, names, strict=True) if not np.isnan([x1]).any()
    ]
