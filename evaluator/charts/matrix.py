"""A matrix of shares: cells coloured by their share, with a text in each and some framed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pandas as pd

from evaluator.charts.theme import palette, themed
from evaluator.charts.vega import Chart, Piece, field, layer, value_if
from evaluator.data.boxes import BoolArray, FloatArray

# Two texts that have nothing to do with each other share a tenth to a fifth of their words: the steps begin there. Ink
# text is on the pale steps, light text on the deep ones; in the dark theme it is the other way round.
_STEPS: Final = (0.05, 0.15, 0.25, 0.4, 0.6, 0.8)
_LIGHT_RAMP: Final = ("#F3F7FC", "#D6E4F4", "#ACC9E8", "#86B1DD", "#629ACF", "#1F5FA8", "#123F75")
_DARK_RAMP: Final = ("#1A222B", "#1F3B5C", "#28547F", "#3A74AE", "#5B97D6", "#8CBCF0", "#CFE3FB")


class _CellText(NamedTuple):
    """From which F1 on a cell is deep, and the colours of the text on deep and on pale cells."""

    deep_from: float
    on_deep: str
    on_pale: str


_LIGHT_TEXT: Final = _CellText(0.6, "#FFFFFF", "#1B2430")
_DARK_TEXT: Final = _CellText(0.4, "#14181D", "#E4E8ED")
_CELL: Final = (46, 34)


def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    f1: FloatArray,
    texts: Sequence[Sequence[str]],
    best: BoolArray,
    *,
    tips: list[Piece],
    named: Mapping[str, Sequence[str]],
    dark: bool,
    angle: int = 0,
) -> Chart:
    """Return cells under different names of `rows` and `columns`, coloured by `f1` in [0, 1], those of `best` framed.

    `named`: what `tips` calls a row and a column, by columns of the data; others are ``f1``, ``text``, ``best``.
    """
    (of_row, row_names), (of_column, column_names) = named.items()
    cells = [
        {
            of_row: row_names[row],
            of_column: column_names[column],
            "f1": float(f1[row, column]),
            "text": texts[row][column],
            "best": bool(best[row, column]),
            "name": name,
            "place": place,
        }
        for row, name in enumerate(rows)
        for column, place in enumerate(columns)
    ]
    across: Piece = {"orient": "top", "labelAngle": angle, "labelOverlap": False, "grid": False}
    down = {"labelOverlap": False, "labelLimit": 190, "grid": False}
    base: Piece = {
        "x": field("place:O", sort=columns, title=None, axis=across, scale={"paddingInner": 0.04, "paddingOuter": 0}),
        "y": field("name:N", sort=rows, title=None, axis=down, scale={"paddingInner": 0.06, "paddingOuter": 0}),
        "tooltip": tips,
    }
    colours, ramp, look = palette(dark=dark), _DARK_RAMP if dark else _LIGHT_RAMP, _DARK_TEXT if dark else _LIGHT_TEXT
    steps = {"type": "threshold", "domain": list(_STEPS), "range": list(ramp)}
    cell: Piece = base | {"color": field("f1:Q", scale=steps, legend=None)}
    ink = value_if(f"datum.f1 >= {look.deep_from}", look.on_deep, look.on_pale)
    number = base | {"text": field("text:N"), "color": ink}
    frame = pd.DataFrame(cells, columns=[of_row, of_column, "f1", "text", "best", "name", "place"])
    around: Piece = base | {"stroke": {"value": colours.text}}
    layers = [
        layer(frame, "rect", cell, cornerRadius=0),
        layer(frame, "rect", around, keep="datum.best", fillOpacity=0, strokeWidth=2.4),
        layer(frame, "text", number, keep="!datum.best", fontSize=12),
        layer(frame, "text", number, keep="datum.best", fontSize=12, fontWeight="bold"),
    ]
    width, height = max(_CELL[0] * len(columns), 120), max(_CELL[1] * len(rows), 34)
    return themed(layers, colours, height=height, width=width)
