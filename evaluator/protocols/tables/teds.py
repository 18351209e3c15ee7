"""Edit distance of tables as trees: TEDS and TEDS-S of PubTabNet on the canonical tree table > tr > td.

Insertion and deletion cost 1, and so does a change of tag or span; else that of a cell costs the normalised edit
distance of its text, 0 in TEDS-S. Roots of one tag are always paired and rows hold leaves alone, so that the distance
of ordered trees (Zhang and Shasha 1989; APTED gives the same) needs one table over the nodes of both: a pair of rows
costs the distance of two lists of cells, a cell with a row one change and the cells of the row.

Where rows are paired with rows alone, that table is one of rows. A cell with a row costs a change, the cells of the row
on one side, and on the other at least as many nodes less the difference of the sizes: what costs no more than that
without any such pair is the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.cells import Cell

# Above this, all pairs of cells at once take too much memory.
_AT_ONCE: Final = 250_000


def teds_of(truth: Sequence[Cell], predicted: Sequence[Cell]) -> tuple[float, float] | None:
    """Return TEDS and TEDS-S of two tables; 0 without predicted cells, None without true ones."""
    if not truth:
        return None
    if not predicted:
        return 0.0, 0.0
    one, other = _rows(predicted), _rows(truth)
    nodes = max(len(rows) + sum(map(len, rows)) for rows in (one, other))
    with_text, structure = (1.0 - distance_of_rows(one, other) / nodes).tolist()
    return with_text, structure


def _rows(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells of each row, also of one without any, by column; none behind the last with one."""
    rows: list[list[Cell]] = [[] for _ in range(max(cell.row + cell.row_span for cell in cells))]
    for cell in sorted(cells, key=lambda cell: cell.col):
        rows[cell.row].append(cell)
    return rows


class _Lists:
    """The rows of a table as lists of cells: a matrix of places of cells, and positions of nodes in postorder."""

    def __init__(self, rows: Sequence[Sequence[Cell]]) -> None:
        self.lengths: IntArray = np.array([len(row) for row in rows], dtype=np.int64)
        self.cells = [cell for row in rows for cell in row]
        self.texts = [cell.text for cell in self.cells]
        self.spans: IntArray = np.array([(cell.row_span, cell.col_span) for cell in self.cells], dtype=np.int64)
        first = np.cumsum(self.lengths) - self.lengths
        wide = np.arange(self.lengths.max())
        # What is beyond the end of a row is never read.
        self.places: IntArray = np.minimum(first[:, None] + wide, len(self.cells) - 1)
        # In postorder a row comes after its cells; node 0 is before all.
        self.row_nodes: IntArray = np.cumsum(self.lengths + 1)
        nodes = np.arange(1, self.row_nodes[-1] + 1)
        self.cell_nodes: IntArray = np.setdiff1d(nodes, self.row_nodes, assume_unique=True)


def distance_of_rows(one: Sequence[Sequence[Cell]], other: Sequence[Sequence[Cell]]) -> FloatArray:
    """Return the distance of rows of cells with texts, and that of the structure alone, float64, shape (2,).

    Both have a cell.
    """
    lists = _Lists(one), _Lists(other)
    if len(lists[0].cells) * len(lists[1].cells) <= _AT_ONCE:
        distances = _of_rows_alone(*lists)
        if (distances <= _least_across(*lists)).all():
            return distances
    return _of_all_nodes(one, lists[1])


def _least_across(one: _Lists, other: _Lists) -> int:
    """Return what any pairing of a cell with a row costs at least: its change, insertions and deletions."""
    more = int(one.row_nodes[-1] - other.row_nodes[-1])
    inserted = max(int(other.lengths.min()), 1 - more)
    deleted = max(int(one.lengths.min()), 1 + more)
    return 1 + min(2 * inserted + more, 2 * deleted - more)


def _of_rows_alone(one: _Lists, other: _Lists) -> FloatArray:
    """Return the distances where no cell is paired with a row."""
    costs = _costs(one.cells, other)[:, one.places][..., other.places]
    rows, wide = other.places.shape
    steps = np.arange(wide + 1, dtype=np.float64)
    current = np.broadcast_to(steps, (2, len(one.lengths), rows, wide + 1))
    for at in range(one.places.shape[1]):
        held = current + 1.0
        held[..., 1:] = np.minimum(held[..., 1:], current[..., :-1] + costs[:, :, at])
        current = np.where((one.lengths > at)[:, None, None], _inserted(held, steps), current)
    between = current[:, :, np.arange(rows), other.lengths]
    whole = np.concatenate([[0.0], np.cumsum(1.0 + other.lengths)])
    done = np.broadcast_to(whole, (2, rows + 1))
    for row, length in enumerate(one.lengths.tolist()):
        held = done + 1.0 + length
        held[:, 1:] = np.minimum(held[:, 1:], done[:, :-1] + between[:, row])
        done = _inserted(held, whole)
    return np.asarray(done[:, -1])


def _of_all_nodes(one: Sequence[Sequence[Cell]], columns: _Lists) -> FloatArray:
    size = int(columns.row_nodes[-1]) + 1
    steps = np.arange(size, dtype=np.float64)
    before_rows = columns.row_nodes - columns.lengths - 1
    done = np.broadcast_to(steps, (2, size)).copy()
    for row in one:
        costs = _costs(row, columns)
        start, current = done, done
        for cost in costs.swapaxes(0, 1):
            held = current + 1.0
            cells = columns.cell_nodes
            held[:, cells] = np.minimum(held[:, cells], current[:, cells - 1] + cost)
            # A cell with a row: one change, and the cells of the row are inserted.
            with_row = current[:, before_rows] + 1.0 + columns.lengths
            held[:, columns.row_nodes] = np.minimum(held[:, columns.row_nodes], with_row)
            current = _inserted(held, steps)
        held = current + 1.0
        cells = columns.cell_nodes
        held[:, cells] = np.minimum(held[:, cells], start[:, cells - 1] + 1.0 + len(row))
        paired = start[:, before_rows] + _between_rows(costs, columns)
        held[:, columns.row_nodes] = np.minimum(held[:, columns.row_nodes], paired)
        done = _inserted(held, steps)
    return np.asarray(done[:, -1])


def _costs(row: Sequence[Cell], columns: _Lists) -> FloatArray:
    """Return what it costs to change each cell of a row to each one of the other table, (2, cells, other cells)."""
    if not row:
        return np.empty((2, 0, len(columns.cells)))
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    texts = cdist([cell.text for cell in row], columns.texts, scorer=Levenshtein.normalized_distance, dtype=np.float64)
    spans = np.array([(cell.row_span, cell.col_span) for cell in row], dtype=np.int64)
    other = (spans[:, None] != columns.spans).any(axis=2)
    return np.stack([np.where(other, 1.0, texts), other.astype(np.float64)])


def _between_rows(costs: FloatArray, columns: _Lists) -> FloatArray:
    """Return the edit distance of a list of cells to that of each row of the other table, (2, rows)."""
    rows, wide = columns.places.shape
    steps = np.arange(wide + 1, dtype=np.float64)
    current = np.broadcast_to(steps, (2, rows, wide + 1))
    for cost in costs.swapaxes(0, 1):
        held = current + 1.0
        held[..., 1:] = np.minimum(held[..., 1:], current[..., :-1] + cost[:, columns.places])
        current = _inserted(held, steps)
    return np.asarray(current[:, np.arange(rows), columns.lengths])


def _inserted(held: FloatArray, steps: FloatArray) -> FloatArray:
    """Return costs that may come from any to their left, each step to the right being an insertion."""
    return np.asarray(np.minimum.accumulate(held - steps, axis=-1) + steps)
