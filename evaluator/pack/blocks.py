"""The parts of a chapter of a review pack: rows of numbers, heatmaps, curves and marked texts.

Plain values; text is as in the files, and escaped where it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from evaluator.components.matrix.payload import MatrixLayer
from evaluator.metrics.results import ResultTable, ratio_text

NOTHING: Final = "n/a"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of numbers as printed, the first column as text (with `words` all); `note` may be empty."""

    kind: ClassVar = "rows"
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False


class HeatCell(NamedTuple):
    """A cell: its text, and the colours of cell and text in the light and the dark theme."""

    text: str
    fill: str
    ink: str
    dark_fill: str
    dark_ink: str


@dataclass(frozen=True, slots=True)
class Heatmap:
    """A matrix with coloured cells; rows are the ground truth, columns the prediction."""

    kind: ClassVar = "heatmap"
    title: str
    note: str
    classes: tuple[str, ...]
    cells: tuple[tuple[HeatCell, ...], ...]


class Line(NamedTuple):
    """A curve: its name, its points in [0, 1], and the one to be marked."""

    name: str
    points: tuple[tuple[float, float], ...]
    now: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves over two ratios, both from 0 to 1 or from a lower border of x."""

    kind: ClassVar = "plot"
    title: str
    note: str
    x: str
    y: str
    lines: tuple[Line, ...]
    start: float = 0.0


class Passage(NamedTuple):
    """A stretch of text: where it is, and its pieces, each with whether it is marked."""

    place: str
    pieces: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts in which what is lost is marked."""

    kind: ClassVar = "texts"
    title: str
    note: str
    passages: tuple[Passage, ...]


Block = Rows | Heatmap | Plot | Texts


def printed(value: str | float | int | None) -> str:
    """Return a value of a table in words: separators, three decimals, undefined as n/a.

    >>> printed(1234), printed(0.5), printed(None)
    ('1,234', '0.500', 'n/a')
    """
    if value is None:
        return NOTHING
    if isinstance(value, int):
        return f"{value:,}"
    return ratio_text(value) if isinstance(value, float) else value


def rows_of(table: ResultTable, title: str, note: str = "") -> Rows:
    """Return a table of a result as rows of a pack."""
    columns = tuple(name.replace("_", " ") for name in table.columns)
    return Rows(title, note, columns, tuple(tuple(printed(value) for value in row) for row in table.rows))


def heatmap_of(layer: MatrixLayer, title: str, note: str) -> Heatmap:
    """Return a heatmap as the browser shows it."""
    blank = "#FFFFFF", "#566172", "#11161C", "#A7B0BD"
    cells = tuple(
        tuple(
            HeatCell(text, *(layer.ramp[level] if level >= 0 else blank))
            for text, level in zip(texts, levels, strict=True)
        )
        for texts, levels in zip(layer.text, layer.level, strict=True)
    )
    return Heatmap(title, note, tuple(layer.classes), cells)
