"""Mistakes of a table by name: lines and cells that are missing, extra, split, merged or shifted, each cause once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
import numpy as np

from evaluator.data.cells import Cell
from evaluator.protocols.tables.grits import Alignment, Grid, align, of_contents

Name = Literal[
    "missing", "extra", "unreadable", "empty", "transposed", "row_missing", "row_extra", "column_missing",
    "column_extra", "cell_split", "cell_merged", "cells_regrouped", "cell_missing", "cell_extra", "text_wrong",
    "row_shifted", "column_shifted", "header_wrong",
]  # fmt: skip
TITLES: Final[Mapping[Name, str]] = {
    "missing": "Table missing",
    "extra": "Extra table",
    "unreadable": "Table cannot be read",
    "empty": "Table without cells",
    "transposed": "Rows and columns exchanged",
    "row_missing": "Row missing",
    "row_extra": "Extra row",
    "column_missing": "Column missing",
    "column_extra": "Extra column",
    "cell_split": "Cell split",
    "cell_merged": "Cells merged",
    "cells_regrouped": "Cells divided otherwise",
    "cell_missing": "Cell missing",
    "cell_extra": "Extra cell",
    "text_wrong": "Other text",
    "row_shifted": "Row shifted",
    "column_shifted": "Column shifted",
    "header_wrong": "Header marked otherwise",
}
"""The names in words."""
_GAIN_OF_TRANSPOSED: Final = 0.2
_EQUAL: Final = 1e-9
_FEWEST_SHIFTED: Final = 2


class Mistake(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mistake of a table: how many slots it concerns, and the line or the cells that it is about.

    `row` and `column` are those of the side that has the line, `cells` and `predictions` places of the cells of both
    sides. `step`: how many lines down or to the right the texts of a shifted line stand.
    """

    name: Name
    cost: int
    row: int | None = None
    column: int | None = None
    cells: list[int] = []
    predictions: list[int] = []
    step: int | None = None


def mistakes_of(truth: Grid, predicted: Grid, contents: Alignment) -> list[Mistake]:
    """Return the mistakes of two tables with cells, aligned by their contents."""
    if _is_transposed(truth, predicted, contents):
        return [Mistake(name="transposed", cost=truth.slots)]
    parts = list(_connected(truth, predicted, contents))
    wrong = {
        cells[0]: others[0]
        for cells, others in parts
        if len(cells) == len(others) == 1 and truth.cells[cells[0]].text != predicted.cells[others[0]].text
    }
    shifted = [*_shifted(truth, predicted, contents, wrong, 0), *_shifted(truth, predicted, contents, wrong, 1)]
    texts = [
        Mistake(name="text_wrong", cost=_slots([truth.cells[one]]), cells=[one], predictions=[other])
        for one, other in sorted(wrong.items())
    ]
    return [
        *_lines(truth, predicted, contents),
        *_of_cells(truth, predicted, parts),
        *shifted,
        *texts,
        *_headers(truth, predicted, parts),
    ]


def _slots(cells: Sequence[Cell]) -> int:
    return sum(cell.row_span * cell.col_span for cell in cells)


def _is_transposed(truth: Grid, predicted: Grid, contents: Alignment) -> bool:
    """Return whether contents align much better with rows and columns of the prediction exchanged."""
    if contents.score.f > 1.0 - _GAIN_OF_TRANSPOSED + _EQUAL:
        return False
    turned = Grid(
        [
            cell._replace(row=cell.col, col=cell.row, row_span=cell.col_span, col_span=cell.row_span)
            for cell in predicted.cells
        ]
    )
    return align(of_contents(truth, turned)).score.f - contents.score.f >= _GAIN_OF_TRANSPOSED - _EQUAL


def _lines(truth: Grid, predicted: Grid, contents: Alignment) -> Iterator[Mistake]:
    for axis, pairs in enumerate((contents.rows, contents.columns)):
        for side, grid in enumerate((truth, predicted)):
            held = {pair[side] for pair in pairs}
            for line in range(grid.shape[axis]):
                if line in held:
                    continue
                cost = grid.shape[1 - axis]
                if axis == 0:
                    yield Mistake(name="row_extra" if side else "row_missing", cost=cost, row=line)
                else:
                    yield Mistake(name="column_extra" if side else "column_missing", cost=cost, column=line)


def _connected(truth: Grid, predicted: Grid, contents: Alignment) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the cells of both sides that lie on each other in aligned slots, part by part."""
    links: dict[tuple[int, int], set[tuple[int, int]]] = {}
    rows, columns = (np.array(pairs, dtype=np.int64).reshape(-1, 2).T for pairs in (contents.rows, contents.columns))
    ones, others = truth.own[np.ix_(rows[0], columns[0])], predicted.own[np.ix_(rows[1], columns[1])]
    for one, other in {*zip(ones.ravel().tolist(), others.ravel().tolist(), strict=True)}:
        nodes = [(side, cell) for side, cell in enumerate((one, other)) if cell >= 0]
        for node in nodes:
            links.setdefault(node, set()).update(nodes)
    seen: set[tuple[int, int]] = set()
    for begin in sorted(links):
        if begin in seen:
            continue
        part, waiting = {begin}, [begin]
        while waiting:
            new = links[waiting.pop()] - part
            part |= new
            waiting += new
        seen |= part
        yield sorted(cell for side, cell in part if side == 0), sorted(cell for side, cell in part if side == 1)


def _of_cells(truth: Grid, predicted: Grid, parts: Sequence[tuple[list[int], list[int]]]) -> Iterator[Mistake]:
    for cells, others in parts:
        name = _name(len(cells), len(others))
        if name is not None:
            held = [truth.cells[cell] for cell in cells] or [predicted.cells[cell] for cell in others]
            yield Mistake(name=name, cost=_slots(held), cells=cells, predictions=others)


def _name(cells: int, others: int) -> Name | None:
    if not others:
        return "cell_missing"
    if not cells:
        return "cell_extra"
    if cells == 1:
        return "cell_split" if others > 1 else None
    return "cell_merged" if others == 1 else "cells_regrouped"


def _shifted(truth: Grid, predicted: Grid, contents: Alignment, wrong: dict[int, int], axis: int) -> Iterator[Mistake]:
    """Yield the rows, or the columns, whose texts stand one line beside; their cells are taken out of `wrong`."""
    along, across = (contents.rows, contents.columns) if axis == 0 else (contents.columns, contents.rows)
    to, over = dict(along), dict(across)
    lines: dict[int, list[int]] = {}
    for cell in wrong:
        lines.setdefault(_place(truth.cells[cell])[axis], []).append(cell)
    for line, mine in sorted(lines.items()):
        for step in (-1, 1):
            beside = [_stands_beside(truth.cells[cell], predicted, to, over, axis=axis, step=step) for cell in mine]
            if sum(beside) < _FEWEST_SHIFTED:
                continue
            cost = _slots([truth.cells[cell] for cell in mine])
            others = [wrong.pop(cell) for cell in mine]
            place = {"row": line} if axis == 0 else {"column": line}
            name: Name = "column_shifted" if axis else "row_shifted"
            yield Mistake(name=name, cost=cost, cells=mine, predictions=others, step=step, **place)
            break


def _place(cell: Cell) -> tuple[int, int]:
    return cell.row, cell.col


def _stands_beside(
    cell: Cell, predicted: Grid, to: Mapping[int, int], over: Mapping[int, int], *, axis: int, step: int
) -> bool:
    line, other = to.get(_place(cell)[axis]), over.get(_place(cell)[1 - axis])
    if line is None or other is None or not cell.text:
        return False
    row, column = (line, other + step) if axis == 0 else (other + step, line)
    if not (0 <= row < predicted.shape[0] and 0 <= column < predicted.shape[1]):
        return False
    return predicted.text_at(row, column) == cell.text


def _headers(truth: Grid, predicted: Grid, parts: Collection[tuple[list[int], list[int]]]) -> Iterator[Mistake]:
    """Yield the true rows with a cell that is a header on one side alone, where both sides have header cells."""
    if not all(any(cell.header for cell in grid.cells) for grid in (truth, predicted)):
        return
    rows: dict[int, list[tuple[int, int]]] = {}
    for cells, others in parts:
        if len(cells) == len(others) == 1 and truth.cells[cells[0]].header != predicted.cells[others[0]].header:
            rows.setdefault(truth.cells[cells[0]].row, []).append((cells[0], others[0]))
    for row, pairs in sorted(rows.items()):
        ones, others = ([pair[side] for pair in pairs] for side in (0, 1))
        cost = _slots([truth.cells[one] for one in ones])
        yield Mistake(name="header_wrong", cost=cost, row=row, cells=ones, predictions=others)
