"""Table structure as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

import numpy as np

from evaluator.data.boxes import BoolArray
from evaluator.data.cells import Table
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.metrics.metric import Metric
from evaluator.metrics.observations import MeasureWords
from evaluator.protocols.items import PAGES, ItemOptions, ItemProtocol, Page, Thing, position
from evaluator.protocols.omnidocbench import TablesProfile
from evaluator.protocols.tables.evaluation import (
    NAME,
    TITLE,
    VERSION,
    TablesPage,
    TablesResult,
    compare_tables,
)
from evaluator.protocols.tables.mistakes import TITLES


class TablesOptions(ItemOptions, frozen=True, kw_only=True):
    """The options of table structure."""


class TablesProtocol(ItemProtocol[TablesOptions]):
    """How the rows, columns and cells of tables are read; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = TITLE
    options = TablesOptions
    column = "cells"
    titles: ClassVar[Mapping[str, str]] = {**dict(TITLES.items()), **TablesProfile.titles}
    cost = "wrong slot"
    by_page = "teds"
    published = TablesProfile
    metrics: ClassVar[Mapping[str, Metric]] = {
        "teds": Metric("TEDS", "reads tables better", "reads tables worse"),
        "teds_s": Metric("TEDS-S", "keeps their structure better", "keeps their structure worse"),
        "grits_con": Metric("GriTS of content", "reads more cells right", "reads fewer cells right"),
        "grits_top": Metric("GriTS of topology", "keeps more spans", "keeps fewer spans"),
        "grits_loc": Metric("GriTS of location", "places cells better", "places cells worse"),
    }
    headline: ClassVar[tuple[str, ...]] = ("teds", "teds_s")
    slice_measures: ClassVar[Mapping[str, MeasureWords]] = {
        "teds": MeasureWords("TEDS", "tables", "wrong", "TEDS lost", "table", fits=True),
        "teds_s": MeasureWords("TEDS-S", "tables", "wrong", "TEDS-S lost", "table", fits=True),
        PAGES: MeasureWords("TEDS of pages", "pages", "wrong", "TEDS lost", "page", fits=True),
    }

    def takes_part(self, side: JoinedBoxes) -> BoolArray:
        """Return which items are tables."""
        cells = side.source.boxes.cells or [None] * len(side)
        return np.array([table is not None for table in cells], dtype=bool)

    def result(
        self, pages: Sequence[Page], dataset: Dataset, options: TablesOptions, said: tuple[str, ...]
    ) -> TablesResult:
        """Return the result of a dataset with one prediction."""
        return TablesResult(
            dataset=dataset,
            paired=pages,
            own_pages=tuple(_page(page, dataset) for page in pages),
            said=(*said, "plain", "TEDS canonical, GriTS LCS and true IoU"),
        )

    def things(self, result: TablesResult, measure: str) -> Iterator[Thing]:
        """Yield the true tables with a number; one below 0 counts as 0."""
        for at, page in enumerate(result.pages):
            for pair in page.tables:
                value = getattr(pair, measure)
                if pair.ground_truth is not None and value is not None:
                    rows, columns = map(float, pair.shape[0])
                    yield Thing(at, str(pair.ground_truth), max(value, 0.0), {"rows": rows, "columns": columns})


PROTOCOL: Final = TablesProtocol()


def _page(page: Page, dataset: Dataset) -> TablesPage:
    truth, prediction = dataset.ground_truth, dataset.predictions[0]
    tables = [
        compare_tables(
            _table(truth, one), _table(prediction, other), (position(truth, one), position(prediction, other))
        )
        for one, other in page.rows
    ]
    return TablesPage(document=page.document, page=page.page, tables=tables)


def _table(side: JoinedBoxes, row: int | None) -> Table | None:
    cells = side.source.boxes.cells
    return None if row is None or cells is None else cells[row]
