"""Charts of posters: the four criteria against their thresholds, and the sections of two texts matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from evaluator.charts.matrix import matrix
from evaluator.charts.theme import fixed_scale, model_colour, palette, themed, tips
from evaluator.charts.vega import Chart, Piece, field, layer, picked, value_if
from evaluator.data.boxes import FloatArray, IntArray

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
    f1 = f1[:DRAWN_SECTIONS, :DRAWN_SECTIONS]
    return matrix(
        [f"{row + 1} {_short(name)}" for row, name in enumerate(reference[:DRAWN_SECTIONS])],
        [str(column + 1) for column in range(min(len(generated), DRAWN_SECTIONS))],
        f1,
        [[f"{value:.2f}" if value > 0 else "0" for value in row] for row in f1.tolist()],
        best[: len(f1), None] == np.arange(f1.shape[1]),
        tips=tips(reference="Reference", generated="Extraction", f1=("ROUGE-L", ".3f"), best="Best of its row"),
        named={"reference": reference, "generated": generated},
        dark=dark,
    )


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"
