"""What the confusion matrix is sent, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from evaluator.components.payload import Event, Events, Payload
from evaluator.components.viewer.payload import Index


class ScaleItem(Payload, frozen=True):
    """The legend of a heatmap."""

    name: str
    swatches: Sequence[tuple[int, str]]
    """level and text"""


class MatrixLayer(Payload, frozen=True):
    """The cells of a heatmap."""

    classes: Sequence[str]
    """the background first"""
    kind: Literal["matrix", "difference"]
    shows: Literal["pixels", "row", "column", "f1"]
    text: Sequence[Sequence[str]]
    """row by row"""
    level: Sequence[Sequence[int]]
    """place in `ramp`; -1 has no colour"""
    ramp: Sequence[tuple[str, str, str, str]]
    """fill and text, light and dark"""
    facts: Mapping[str, Sequence[Sequence[float | None]]]
    """of a matrix: pixels, row, column and f1; of a difference: first, second and gain"""
    scale: ScaleItem
    unit: str = "pixels"
    """what the cells count; "pixels" when absent"""


class MatrixPayload(MatrixLayer, frozen=True, kw_only=True):
    """A heatmap and the chosen cell."""

    key: str
    """what the matrix is of; another key takes the reader back to the chosen cell"""
    rows: str
    """what the rows are, for instance "Ground truth\""""
    columns: str
    letters: tuple[str, str]
    """of the two models of a difference; empty for the matrix of one"""
    chosen: tuple[int, int] | None
    """row and column"""


def with_axes(
    layer: MatrixLayer,
    *,
    key: str,
    rows: str,
    columns: str,
    letters: tuple[str, str] = ("", ""),
    chosen: tuple[int, int] | None = None,
) -> MatrixPayload:
    """Return a heatmap with what its rows and columns are; see `MatrixPayload`."""
    cells = msgspec.structs.asdict(layer)
    return MatrixPayload(**cells, key=key, rows=rows, columns=columns, letters=letters, chosen=chosen)


class CellEvent(Event, frozen=True):
    """The chosen cell of a heatmap."""

    row: Index
    column: Index
    classes: int
    """of the matrix that was shown"""


class MatrixEvents(Events, frozen=True):
    """What a heatmap sends."""

    cell: CellEvent | None = None
