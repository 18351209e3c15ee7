"""Charts of pixel evaluation: F1 of each class, lowest first.

Owns how these charts look; what they show comes ready from ``protocols``. The confusion matrix itself is a grid that
the keyboard walks, so it is in ``overlay``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.charts.theme import bars_of_labels, fixed_scale, name_height, palette, themed, tips
from evaluator.charts.vega import Chart, field
from evaluator.model.boxes import FloatArray
from evaluator.model.issues import cut

TOP: Final = 8
"""Classes that are drawn unless stated otherwise."""


def lowest_f1(classes: Sequence[str], f1: Mapping[str, FloatArray], *, top: int = TOP) -> list[int]:
    """Rows of the classes that are drawn, lowest F1 of any model first; none that is undefined for every model."""
    lowest = np.full(len(classes), np.nan)
    for values in f1.values():
        lowest = np.fmin(lowest, values)
    order = np.argsort(lowest, kind="stable")
    return [int(row) for row in order if not np.isnan(lowest[row])][:top]


def f1_by_class(
    classes: Sequence[str], f1: Mapping[str, FloatArray], *, baseline: str, dark: bool, height: int, top: int = TOP
) -> Chart:
    """Bars of the F1 of each class, lowest first, one bar per model.

    Parameters
    ----------
    classes : sequence of str, length C
    f1 : mapping of float64, shape (C,)
        By model, in order; NaN is not drawn.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels, at most; names of several lines may need more.
    top : int
        How many classes are drawn.

    Returns
    -------
    Chart
        Empty axes when no class has an F1.
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
