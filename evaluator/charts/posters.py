"""Charts of posters: the four criteria against their thresholds, and the sections of two texts matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from evaluator.charts.theme import fixed_scale, model_colour, palette, themed, tips
from evaluator.charts.vega import Chart, Piece, field, layer, picked, value_if
from evaluator.data.boxes import FloatArray, IntArray

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
# More sections of a side than this are not drawn.
DRAWN_SECTIONS: Final = 30
_LOSS, _LOSS_DARK = "#A84300", "#FF9A4D"


def criteria(
    values: Mapping[str, Sequence[FloatArray]],
    titles: Sequence[str],
    bounds: Sequence[tuple[float, float]],
    *,
    names: Mapping[str, Sequence[str]],
    chosen: str | None,
    baseline: str,
    dark: bool,
) -> Chart:
    """Return every poster as a dot on each criterion, with the thresholds as lines.

    By model: `values`, one float64 (P,) per criterion, NaN is not drawn, and `names`, the poster ids. `bounds`: what
    passes, inclusive; infinity for no upper bound. `chosen` is drawn larger; the baseline is grey circles, others
    diamonds. Values above 2.1 are at the right edge. Point selection ``poster``.
    """
    colours = palette(dark=dark, baseline=baseline)
    rows = [
        (title, model, poster, value, min(value, 2.1), poster == chosen, "meets" if low <= value <= high else "fails")
        for model, columns in values.items()
        for title, (low, high), column in zip(titles, bounds, columns, strict=True)
        for poster, value in zip(names[model], column.tolist(), strict=True)
        if np.isfinite(value)
    ]
    frame = pd.DataFrame(rows, columns=["criterion", "model", "poster", "value", "shown", "chosen", "verdict"])
    edges = [(title, edge) for title, pair in zip(titles, bounds, strict=True) for edge in pair if np.isfinite(edge)]
    limits = pd.DataFrame(edges, columns=["criterion", "limit"])
    shapes = {"domain": list(values), "range": ["circle" if name == baseline else "diamond" for name in values]}
    scale = fixed_scale(0, 2.1)
    axis = {"values": [0, 0.25, 0.5, 0.75, 1, 1.5, 2], "format": ".2~f", "labelFlush": False}
    y_axis = {"grid": False, "labelLimit": 120, "minExtent": 64}
    y = field("criterion:N", sort=list(titles), title=None, axis=y_axis)
    dot: Piece = {
        "x": field("shown:Q", title=None, scale=scale, axis=axis),
        "y": y,
        "yOffset": field("model:N", sort=list(values)),
        "shape": field("model:N", scale=shapes, legend=None),
        "color": model_colour(values, colours),
        "size": value_if("datum.chosen", 150, 46),
        "tooltip": tips(
            poster="Poster", model="Model", criterion="Criterion", value=("Value", ".3f"), verdict="Threshold"
        ),
    }
    limit: Piece = {"x": field("limit:Q", scale=scale), "y": y}
    layers = [
        layer(limits, "tick", limit, thickness=2, size=34, color=_LOSS_DARK if dark else _LOSS),
        layer(frame, "point", dot, pick=picked("poster", ["poster"]), filled=True, opacity=0.85, cursor="pointer"),
    ]
    return themed(layers, colours, height=172)


def section_matrix(
    reference: Sequence[str], generated: Sequence[str], f1: FloatArray, best: IntArray, *, dark: bool
) -> Chart:
    """Return ROUGE-L of the sections of reference and extraction, the best of each row framed.

    `f1`: float64 (R, G) in [0, 1]. `best`: column of the best match, -1 for none. At most `DRAWN_SECTIONS` of each.
    """
    names = [f"{row + 1} {_short(name)}" for row, name in enumerate(reference[:DRAWN_SECTIONS])]
    places = [str(column + 1) for column in range(min(len(generated), DRAWN_SECTIONS))]
    rows = [
        {
            "row": row,
            "column": column,
            "reference": reference[row],
            "generated": generated[column],
            "f1": float(f1[row, column]),
            "text": f"{f1[row, column]:.2f}" if f1[row, column] > 0 else "0",
            "best": bool(best[row] == column),
            "name": name,
            "place": place,
        }
        for row, name in enumerate(names)
        for column, place in enumerate(places)
    ]
    columns = ["row", "column", "reference", "generated", "f1", "text", "best", "name", "place"]
    across: Piece = {"orient": "top", "labelAngle": 0, "labelOverlap": False, "grid": False}
    down = {"labelOverlap": False, "labelLimit": 190, "grid": False}
    base: Piece = {
        "x": field("place:O", sort=places, title=None, axis=across, scale={"paddingInner": 0.04, "paddingOuter": 0}),
        "y": field("name:N", sort=names, title=None, axis=down, scale={"paddingInner": 0.06, "paddingOuter": 0}),
        "tooltip": tips(reference="Reference", generated="Extraction", f1=("ROUGE-L", ".3f"), best="Best of its row"),
    }
    colours, ramp, look = palette(dark=dark), _DARK_RAMP if dark else _LIGHT_RAMP, _DARK_TEXT if dark else _LIGHT_TEXT
    steps = {"type": "threshold", "domain": list(_STEPS), "range": list(ramp)}
    cell: Piece = base | {"color": field("f1:Q", scale=steps, legend=None)}
    ink = value_if(f"datum.f1 >= {look.deep_from}", look.on_deep, look.on_pale)
    number, frame = base | {"text": field("text:N"), "color": ink}, pd.DataFrame(rows, columns=columns)
    around: Piece = base | {"stroke": {"value": colours.text}}
    layers = [
        layer(frame, "rect", cell, cornerRadius=0),
        layer(frame, "rect", around, keep="datum.best", fillOpacity=0, strokeWidth=2.4),
        layer(frame, "text", number, keep="!datum.best", fontSize=12),
        layer(frame, "text", number, keep="datum.best", fontSize=12, fontWeight="bold"),
    ]
    width, height = max(_CELL[0] * len(places), 120), max(_CELL[1] * len(names), 34)
    return themed(layers, colours, height=height, width=width)


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"
