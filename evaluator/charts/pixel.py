"""Charts of pixel evaluation: F1 of each class, lowest first.

Owns how these charts look; what they show comes ready from ``protocols``. The confusion matrix itself is a grid that
the keyboard walks, so it is in ``overlay``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from evaluator.charts.theme import Chart, label_axis, model_colour, palette, themed
from evaluator.model.boxes import FloatArray

TOP: Final = 8
"""Classes that are drawn unless told otherwise."""


def lowest_f1(classes: Sequence[str], f1: Mapping[str, FloatArray], *, top: int = TOP) -> list[int]:
    """The classes that are drawn, lowest F1 of any model first.

    Parameters
    ----------
    classes : sequence of str, length C
    f1 : mapping of float64, shape (C,)
        By model letter; NaN where undefined.
    top : int
        How many at most.

    Returns
    -------
    list of int
        Without classes that are undefined for every model.
    """
    lowest = np.full(len(classes), np.nan)
    for values in f1.values():
        lowest = np.fmin(lowest, values)
    order = np.argsort(lowest, kind="stable")
    return [int(row) for row in order if not np.isnan(lowest[row])][:top]


def f1_by_class(
    classes: Sequence[str], f1: Mapping[str, FloatArray], *, dark: bool, height: int, top: int = TOP
) -> Chart:
    """Bars of the F1 of each class, lowest first, one bar per model.

    Parameters
    ----------
    classes : sequence of str, length C
    f1 : mapping of float64, shape (C,)
        By model letter, in order; NaN is not drawn.
    dark : bool
    height : int
        In pixels, at most.
    top : int
        How many classes are drawn.

    Returns
    -------
    Chart
        Empty axes when no class has an F1.
    """
    colours = palette(dark=dark)
    shown = lowest_f1(classes, f1, top=top)
    letters = list(f1)
    frame = pd.DataFrame(
        [
            {"label": classes[row], "model": letter, "f1": float(f1[letter][row])}
            for row in shown
            for letter in letters
            if not np.isnan(f1[letter][row])
        ],
        columns=["label", "model", "f1"],
    )
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=[classes[row] for row in shown], title=None, axis=label_axis()),
        yOffset=alt.YOffset("model:N", sort=letters, scale=alt.Scale(paddingInner=0)),
        x=alt.X(
            "f1:Q",
            title=None,
            # Room for the number behind the longest bar.
            scale=alt.Scale(domain=[0, 1.18], nice=False),
            axis=alt.Axis(values=[0, 0.5, 1], format=".1f"),
        ),
        tooltip=[
            alt.Tooltip("label:N", title="Label"),
            alt.Tooltip("model:N", title="Model"),
            alt.Tooltip("f1:Q", title="Pixel F1", format=".3f"),
        ],
    )
    bars = base.mark_bar(cornerRadius=0, height={"band": 0.8}).encode(color=model_colour(letters, colours))
    numbers = base.mark_text(align="left", dx=5, fontSize=12, color=colours.text).encode(
        text=alt.Text("f1:Q", format=".3f")
    )
    chart = alt.layer(bars, numbers).properties(height=min(height, max(len(shown), 1) * (12 * len(letters) + 12) + 30))
    return themed(chart, colours)
