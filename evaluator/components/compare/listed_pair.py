"""Two models and the pages that the comparison lists of them, by a filter or a cause."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.compare.changed_causes import ChangedCauses
from evaluator.compare.ledger import Ledger
from evaluator.components.compare import pair_causes, pair_list
from evaluator.components.compare.pair import PairLayers, pair_data
from evaluator.components.compare.payload import PairListItem
from evaluator.components.payload import ModelItem
from evaluator.data.boxes import IntArray
from evaluator.matching.box_results import AnyBoxResult


@dataclass(frozen=True, eq=False, kw_only=True)
class ListedPair:
    """The pages of two models; `ledger` is of all boxes, `listed` of a label and a document, `causes` are of `listed`.

    `show` is a name of `PAGE_FILTERS`. `key` names a cause whose pages are listed instead; empty, or of a cause of
    which nothing changed, for none. Pages are named by the id of their document and their index.
    """

    results: tuple[AnyBoxResult, AnyBoxResult]
    models: tuple[ModelItem, ModelItem]
    ledger: Ledger
    listed: Ledger
    causes: ChangedCauses
    show: str = "changed"
    key: str = ""
    label: str | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def cause(self) -> int | None:
        """Return the place of the cause whose pages are listed; None for a filter."""
        return pair_causes.place_of(self.causes, self.key) if self.key else None

    @cached_property
    def rows(self) -> IntArray:
        """Return the rows of the pages that are listed."""
        if self.cause is not None:
            return pair_causes.pages_of(self.causes, self.cause, self.listed)
        return pair_list.listed_pages(self.listed, self.show)

    def at(self, position: int) -> tuple[str, int]:
        """Return the page at a position, from 0."""
        dataset, row = self.ledger.dataset, int(self.rows[position])
        return dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row])

    def position(self, document: str | None, index: int) -> int | None:
        """Return the position of a page; 0 for one that is not listed, None without pages."""
        if not len(self):
            return None
        row = self.ledger.dataset.page_row(document, index) if document else None
        here = np.flatnonzero(self.rows == row) if row is not None else np.empty(0, dtype=np.int64)
        return int(here[0]) if len(here) else 0

    def on_from(self, document: str | None, index: int, step: int) -> tuple[str, int] | None:
        """Return the page some pages on, at most the first or last; None without pages."""
        here = self.position(document, index)
        return None if here is None else self.at(min(max(here + step, 0), len(self) - 1))

    def in_common(self, position: int, *, scope: str = "", fails: str = "") -> PairListItem:
        """Return what all pages of the list have in common, around a position; for `fails` see `cause_items`."""
        names = [model.letter for model in self.models]
        cause, pages = self.cause, self.listed.dataset.pages
        of_cause = None if cause is None else pair_causes.boxes_per_page(self.causes, cause, pages)
        listed = pair_list.page_list(self.listed, self.show, self.rows, position, names, of_cause=of_cause)
        return PairListItem(
            strip=listed.strip,
            look=listed.look,
            filters=pair_list.filters(self.listed, self.show, names),
            show=self.show if cause is None else "",
            causes=pair_causes.cause_items(self.causes, names, fails),
            cause="" if cause is None else self.key,
            scope=scope,
        )

    def draw(self, document: str, index: int, page_points: tuple[float, float] | None) -> PairLayers:
        """Return what is drawn of a page; see `pair_data`."""
        row = self.ledger.dataset.page_row(document, index)
        return pair_data(
            *self.results,
            self.ledger,
            -1 if row is None else row,
            show=self.show,
            only=None if self.cause is None else pair_causes.box_keys(self.causes, self.cause),
            labels=[self.label] if self.label else None,
            page_points=page_points,
            models=self.models,
        )
