"""Charts of pixel evaluation: F1 of each class, lowest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.charts.theme import bars_of_labels, fixed_scale, name_height, palette, themed, tips
from evaluator.charts.vega import Chart, field
from evaluator.data.boxes import FloatArray
from evaluator.data.issues import cut

TOP: Final = 8
"""Classes that are drawn unless stated otherwise."""


def lowest_f1(classes: Sequence[str], f1: Mapping[str, FloatArray], *, top: int = TOP) -> list[int]:
    """Return the rows of the classes that are drawn, lowest F1 of any model first, without undefined ones."""
    lowest = np.full(len(classes), np.nan)
    for values in f1.values():
        lowest = np.fmin(lowest, values)
    order = np.argsort(lowest, kind="stable")
    return [int(row) for row in order if not np.isnan(lowest[row])][:top]


def f1_by_class(
    classes: Sequence[str], f1: Mapping[str, FloatArray], *, baseline: str, dark: bool, height: int, top: int = TOP
) -> Chart:
    """Return bars of the F1 of the `top` classes, lowest first, one bar per model.

    `f1`: float64, shape (C,), NaN is not drawn. `height` in pixels, at most; names of several lines may need more.
    """
    colours, shown = palette(dark=dark, baseline=baseline), lowest_f1(classes, f1, top=top)
    # Room for the number behind the longest bar.
    scale, axis = fixed_scale(0, 1.18), {"values": [0, 0.5, 1], "format": ".1f"}
    bars = bars_of_labels(
        [cut(classes[row]) for row in shown],
        {model: values[shown] for model, values in f1.items()},
        "f1",
        x=field("f1:Q", title=None, scale=scale, axis=axis),
        tooltip=tips(label="Label", model="Model", f1=("Pixel F1", ".3f")),
        colours=colours,
        thick=0.8,
        number=".3f",
    )
    rows, named = max(len(shown), 1), name_height(classes[row] for row in shown)
    return themed(bars, colours, height=max(min(height, rows * (12 * len(f1) + 12) + 30), rows * (named + 8) + 30))
