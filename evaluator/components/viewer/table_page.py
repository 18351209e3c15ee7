"""What the viewer draws of the tables of a page: the cells of both sides, mistakes by name, and both grids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.components.payload import BoxStatus, Rect
from evaluator.components.viewer.items import PageItems, counts_of, kept_mistakes, key_of
from evaluator.components.viewer.payload import (
    BoxItem,
    GridCellItem,
    GridItem,
    MistakeItem,
    PageLayers,
    TableItem,
)
from evaluator.components.viewer.text_page import displayed_text
from evaluator.data.cells import Cell, cells_of, shape_of
from evaluator.data.dataset import Side
from evaluator.data.issues import count_of
from evaluator.matching.page_rows import sizes_of_pages
from evaluator.metrics.results import ratio_text
from evaluator.protocols.items import value_of
from evaluator.protocols.tables.evaluation import GRITS, TEDS, TablePair, TablesResult
from evaluator.protocols.tables.mistakes import TITLES, Mistake

WORDS: Final = ("cells right", "cells wrong or extra", "cells missing or wrong")
MOST_ROWS: Final = 60
MOST_COLUMNS: Final = 24
"""Rows and columns of a table that are listed; all of its cells are on the page."""
_LONGEST: Final = 80
_TITLES: Final = ("TEDS", "TEDS-S", "GriTS content", "topology", "location")
_SIDES: Final[tuple[Side, Side]] = ("ground_truth", "prediction")


Lines = dict[int, list[int]]


class _Table(NamedTuple):
    """A table of one side: its row, its cells, and the corners of each as shares of the page, None where unknown.

    `lines`: the cells on each of its rows, and on each of its columns.
    """

    side: Side
    row: int
    cells: Sequence[Cell]
    places: Sequence[Rect | None]
    is_even: bool
    lines: tuple[Lines, Lines]

    def key(self, cell: int) -> str:
        return f"{key_of(self.side, self.row)}c{cell}"

    def on_line(self, mistake: Mistake) -> list[int]:
        lines = zip(self.lines, (mistake.row, mistake.column), strict=True)
        return sorted({cell for own, line in lines if line is not None for cell in own.get(line, ())})

    def cells_of(self, mistake: Mistake) -> list[int]:
        own = mistake.cells if self.side == "ground_truth" else mistake.predictions
        if own or mistake.cells or mistake.predictions:
            return list(own)
        ends = "_missing" if self.side == "ground_truth" else "_extra"
        return self.on_line(mistake) if mistake.name.endswith(ends) else []


def table_layers(result: TablesResult, at: int, names: Collection[str] = ()) -> PageLayers:
    """Return what is drawn of a page of a result; only mistakes of some `names` are listed, all without any."""
    page, items = result.own_pages[at], PageItems(result.dataset, result.paired[at])
    tables = [_both(items, pair) for pair in page.tables]
    kept = kept_mistakes([_mistake(items, tables[of], each, of) for of, each in page.by_cost], names)
    wrong = kept.keys
    drawn, limit = kept.numbered([box for both in tables for table in both for box in _boxes(items, table, wrong)])
    numbers: dict[str, list[int]] = {}
    for each in kept.mistakes:
        for key in each.keys:
            numbers.setdefault(key, []).append(each.number)
    measures = ((title, value_of(page.ratios[name])) for title, name in zip(_TITLES, (*TEDS, *GRITS), strict=True))
    even = any(table.is_even for both in tables for table in both)
    return items.layers(
        kept,
        (drawn, limit),
        counts_of(box for box in drawn if "c" in box.key),
        notes=[*items.notes(), *["Cells without boxes are drawn as an even grid in their table."] * even],
        head=" · ".join(f"{title} {ratio_text(value)}" for title, value in measures if value is not None),
        tables=[_table_item(pair, both, numbers) for pair, both in zip(page.tables, tables, strict=True)],
        status_words=WORDS,
    )


def _both(items: PageItems, pair: TablePair) -> list[_Table]:
    return [
        _table(items, side, row)
        for side, position in zip(_SIDES, (pair.ground_truth, pair.prediction), strict=True)
        for row in items.at(side, [position])
    ]


def _table(items: PageItems, side: Side, row: int) -> _Table:
    boxes = items.sides[side]
    markup = (boxes.source.boxes.cells or [])[row]
    cells = (None if markup is None else cells_of(markup)) or ()
    place, (rows, columns) = items.place(side, row), shape_of(cells)
    width, height = sizes_of_pages(items.dataset, boxes, np.array([row]))[0].tolist()
    has_boxes = all(cell.box is not None for cell in cells) and not np.isnan(width)

    def corners(cell: Cell) -> Rect | None:
        if has_boxes and cell.box is not None:
            x1, y1, x2, y2 = cell.box
            return x1 / width, y1 / height, x2 / width, y2 / height
        if place is None:
            return None
        across, down = (place[2] - place[0]) / columns, (place[3] - place[1]) / rows
        left, top = place[0] + across * cell.col, place[1] + down * cell.row
        return left, top, left + across * cell.col_span, top + down * cell.row_span

    places = [corners(cell) for cell in cells]
    lines: tuple[Lines, Lines] = ({}, {})
    for at, cell in enumerate(cells):
        for own, first, span in zip(lines, (cell.row, cell.col), (cell.row_span, cell.col_span), strict=True):
            for line in range(first, first + span):
                own.setdefault(line, []).append(at)
    return _Table(side, row, cells, places, bool(cells) and not has_boxes and place is not None, lines)


def _boxes(items: PageItems, table: _Table, wrong: Collection[str]) -> Iterator[BoxItem | None]:
    key, is_true = key_of(table.side, table.row), table.side == "ground_truth"
    statuses: tuple[BoxStatus, BoxStatus] = ("truth", "FN") if is_true else ("TP", "FP")
    name = f"table of the {table.side.replace('_', ' ')}"
    yield items.box(table.side, table.row, statuses[key in wrong], name)
    label = items.label(table.side, table.row)
    for at, (cell, place) in enumerate(zip(table.cells, table.places, strict=True)):
        if place is not None:
            where = f"row {cell.row + 1}, column {cell.col + 1} of the {table.side.replace('_', ' ')}"
            yield BoxItem(
                key=table.key(at),
                side=table.side,
                status=statuses[table.key(at) in wrong],
                label=displayed_text(cell.text[:_LONGEST]) or label,
                xyxy=place,
                name=where,
                cause="",
                source=where,
            )


def _mistake(items: PageItems, tables: Sequence[_Table], mistake: Mistake, of: int) -> MistakeItem:
    own = {table.side: table.cells_of(mistake) for table in tables}
    keys = [table.key(at) for table in reversed(tables) for at in own[table.side]]
    line = [f"{word} {at + 1}" for word, at in (("row", mistake.row), ("column", mistake.column)) if at is not None]
    texts = [f"{table.side.replace('_', ' ')} {_texts(table, own[table.side])}" for table in tables if own[table.side]]
    if len(tables) == 1:
        texts = [_texts(tables[0], range(len(tables[0].cells)))]
    return MistakeItem(
        number=0,
        name=mistake.name,
        status="FN" if mistake.name.endswith("missing") else "FP",
        title=TITLES[mistake.name],
        label=items.label(tables[0].side, tables[0].row),
        lines=[", ".join([*line, count_of(mistake.cost, "slot")]), *texts],
        tags=[count_of(mistake.cost, "slot")],
        keys=keys or [key_of(table.side, table.row) for table in reversed(tables)],
        table=of,
    )


def _texts(table: _Table, cells: Sequence[int]) -> str:
    texts = [f"“{displayed_text(table.cells[at].text[:_LONGEST])}”" for at in cells[:4]]
    return ", ".join(texts) + ("…" if len(cells) > 4 else "")


def _table_item(pair: TablePair, tables: Sequence[_Table], numbers: dict[str, list[int]]) -> TableItem:
    grids = {table.side: _grid(table, numbers) for table in tables if table.cells}
    scores = [pair.teds, pair.teds_s, *(None if (one := pair.grits.get(name)) is None else one.f for name in GRITS)]
    facts = [f"{title} {ratio_text(value)}" for title, value in zip(_TITLES, scores, strict=True) if value is not None]
    return TableItem(grids.get("ground_truth"), grids.get("prediction"), " · ".join(facts))


def _grid(table: _Table, numbers: dict[str, list[int]]) -> GridItem:
    rows, columns = shape_of(table.cells)
    shown = [
        GridCellItem(
            row=cell.row,
            col=cell.col,
            row_span=min(cell.row_span, MOST_ROWS - cell.row),
            col_span=min(cell.col_span, MOST_COLUMNS - cell.col),
            header=cell.header,
            text=displayed_text(cell.text[:_LONGEST]),
            mistakes=numbers.get(table.key(at), ()),
        )
        for at, cell in enumerate(table.cells)
        if cell.row < MOST_ROWS and cell.col < MOST_COLUMNS
    ]
    return GridItem(rows, columns, shown)
