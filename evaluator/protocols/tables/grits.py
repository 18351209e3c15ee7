"""GriTS of tables as grids of slots: content, topology and location (Smock et al. 2023).

The similarity of contents is that of the longest common subsequence, that of spans and boxes the true IoU, as in the
paper and in grits-metric. The program of table-transformer takes difflib's blocks and the enclosing rectangle instead,
which gives lower numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray, iou
from evaluator.data.cells import Cell, shape_of

# Scores that are nearer than this are equal: a third and two thirds are 1.
_EQUAL: Final = 1e-9
_AT_ONCE: Final = 1 << 20
Pairs = list[tuple[int, int]]


class Grid:
    """A table as slots, rows x columns: which cell each is of, int64, -1 for none."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells, self.shape = cells, shape_of(cells)
        self.own: IntArray = np.full(self.shape, -1, dtype=np.int64)
        for at, cell in enumerate(cells):
            self.own[cell.row : cell.row + cell.row_span, cell.col : cell.col + cell.col_span] = at

    @property
    def slots(self) -> int:
        """Return how many slots there are."""
        return self.shape[0] * self.shape[1]

    @property
    def has_boxes(self) -> bool:
        """Return whether there are cells and each has a box."""
        return bool(self.cells) and all(cell.box is not None for cell in self.cells)

    @property
    def texts(self) -> list[str]:
        """Return the text of each cell, then that of a slot without one."""
        return [*(cell.text for cell in self.cells), ""]

    def text_at(self, row: int, column: int) -> str:
        """Return the text of the cell of a slot."""
        at = self.own[row, column]
        return self.cells[at].text if at >= 0 else ""

    @property
    def boxes(self) -> FloatArray:
        """Return the box of each cell, then that of a slot without one."""
        return np.array([*(cell.box for cell in self.cells), (0.0,) * 4], dtype=np.float64)

    def spans(self) -> FloatArray:
        """Return the span of the cell of each slot, from the slot itself: float64, shape (rows, columns, 4)."""
        ends = [(cell.col, cell.row, cell.col + cell.col_span, cell.row + cell.row_span) for cell in self.cells]
        held = np.array([*ends, (0, 0, 1, 1)], dtype=np.float64)[self.own]
        rows, columns = np.indices(self.shape)
        from_here = held - np.stack([columns, rows, columns, rows], axis=-1)
        return np.where((self.own >= 0)[..., None], from_here, held)


class Similarity(NamedTuple):
    """The similarities of all kinds of slots of two tables, and of which kind each slot is."""

    values: FloatArray
    truth: IntArray
    predicted: IntArray

    @property
    def transposed(self) -> Similarity:
        """Return the same with columns for rows."""
        return Similarity(self.values, self.truth.T, self.predicted.T)


class Score(NamedTuple):
    """The sum of similarities of aligned slots, and how many slots both have."""

    similar: float
    true_cells: int
    predicted_cells: int

    @property
    def precision(self) -> float:
        """Return the share of the predicted slots; 1 without any."""
        return self.similar / self.predicted_cells if self.predicted_cells else 1.0

    @property
    def recall(self) -> float:
        """Return the share of the true slots; 1 without any."""
        return self.similar / self.true_cells if self.true_cells else 1.0

    @property
    def f(self) -> float:
        """Return the harmonic mean of both, 0 where both are."""
        total = self.precision + self.recall
        return 2.0 * self.precision * self.recall / total if total else 0.0


class Alignment(NamedTuple):
    """Aligned rows and columns of two grids, and the score of their slots."""

    rows: Pairs
    columns: Pairs
    score: Score


def of_contents(truth: Grid, predicted: Grid) -> Similarity:
    """Return how similar texts are: twice their longest common subsequence over both lengths, 1 for equal ones."""
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    values = cdist(truth.texts, predicted.texts, scorer=Indel.normalized_similarity, dtype=np.float64)
    return Similarity(values, truth.own, predicted.own)


def of_spans(truth: Grid, predicted: Grid) -> Similarity:
    """Return how similar the spans of cells are around a slot: their IoU."""
    (one, first), (other, second) = (_kinds(grid) for grid in (truth, predicted))
    return Similarity(_all_ious(one, other), first, second)


def of_boxes(truth: Grid, predicted: Grid) -> Similarity:
    """Return how similar the boxes of cells are: their IoU."""
    return Similarity(_all_ious(truth.boxes, predicted.boxes), truth.own, predicted.own)


def _all_ious(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the IoU of each box with each other one, some rows at a time."""
    values = np.empty((len(boxes), len(others)))
    step = max(_AT_ONCE // max(len(others), 1), 1)
    for at in range(0, len(boxes), step):
        values[at : at + step] = iou(boxes[at : at + step, None], others[None])
    return values


def _kinds(grid: Grid) -> tuple[FloatArray, IntArray]:
    kinds, of_slot = np.unique(grid.spans().reshape(-1, 4), axis=0, return_inverse=True)
    return kinds, of_slot.reshape(grid.shape)


def align(similarity: Similarity) -> Alignment:
    """Return the aligned rows and columns of two grids, those whose own slots align best, and their score."""
    truth, predicted = similarity.truth, similarity.predicted
    if not truth.size or not predicted.size:
        return Alignment([], [], Score(0.0, truth.size, predicted.size))
    rows = _aligned(_rewards(similarity))
    columns = _aligned(_rewards(similarity.transposed))
    slots = np.ix_([row for row, _ in rows], [column for column, _ in columns])
    others = np.ix_([row for _, row in rows], [column for _, column in columns])
    similar = float(similarity.values[truth[slots], predicted[others]].sum())
    return Alignment(rows, columns, Score(similar, truth.size, predicted.size))


def _rewards(similarity: Similarity) -> FloatArray:
    """Return how well the slots of each row align with those of each row of the other grid."""
    values, truth, predicted = similarity
    rewards = np.empty((len(truth), len(predicted)))
    step = max(_AT_ONCE // predicted.size, 1)
    for start in range(0, len(truth), step):
        some = truth[start : start + step]
        best = np.zeros((len(some), *predicted.shape))
        for column in some.T:
            paired = values[column[:, None, None], predicted]
            paired[..., 1:] += best[..., :-1]
            best = np.maximum.accumulate(np.maximum(best, paired), axis=-1)
        rewards[start : start + step] = best[..., -1]
    return rewards


def _aligned(rewards: FloatArray) -> Pairs:
    """Return the pairs of the best order-keeping alignment; of equal ones pairs first, then a skipped true line."""
    lines, others = rewards.shape
    best = np.zeros((lines + 1, others + 1))
    for line in range(lines):
        paired = np.maximum(best[line, 1:], best[line, :-1] + rewards[line])
        best[line + 1, 1:] = np.maximum.accumulate(paired)
    pairs: Pairs = []
    line, other = lines, others
    while line and other:
        reached = best[line, other] - _EQUAL
        if best[line - 1, other - 1] + rewards[line - 1, other - 1] >= reached:
            line, other = line - 1, other - 1
            pairs.append((line, other))
        elif best[line - 1, other] >= reached:
            line -= 1
        else:
            other -= 1
    return pairs[::-1]
