"""Charts of boxes: mistakes by label, and how well matched boxes fit.

Owns how these charts look; what they show comes ready from ``results`` and ``protocols``. Field names are fixed words
and data are cells, so a label is never read as an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from evaluator.charts.theme import Chart, bars_of_labels, palette, themed, tips
from evaluator.model.boxes import FloatArray, IntArray

HISTOGRAM_BINS: Final = 20


def mistakes_by_label(
    labels: Sequence[str], mistakes: Mapping[str, IntArray], *, baseline: str, dark: bool, height: int, top: int = 12
) -> Chart:
    """Bars of unmatched boxes per label, most first, one bar per model.

    Parameters
    ----------
    mistakes : mapping of int64, shape (len(labels),)
        By model, in order.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels; bars get thinner to fit.
    top : int
        How many labels are drawn.

    Returns
    -------
    Chart
        With a point selection named ``label``; empty axes for no labels.
    """
    colours = palette(dark=dark, baseline=baseline)
    total = sum(mistakes.values(), np.zeros(len(labels), dtype=np.int64))
    shown = [int(row) for row in np.argsort(-total, kind="stable")[:top] if total[row]]
    largest = max((int(counts[row]) for counts in mistakes.values() for row in shown), default=1)
    # Room for the number behind the longest bar.
    scale = alt.Scale(domain=[0, largest * 1.14], nice=False)
    axis = alt.Axis(tickMinStep=1, tickCount=4, format=",d")
    chart = bars_of_labels(
        [labels[row] for row in shown],
        {model: counts[shown] for model, counts in mistakes.items()},
        "mistakes",
        x=alt.X("mistakes:Q", title=None, scale=scale, axis=axis),
        tooltip=tips(label="Label", model="Model", mistakes=("Mistakes", ",d")),
        colours=colours,
        thick=0.86,
        number=alt.Text("mistakes:Q", format=",d"),
        pick=alt.selection_point(name="label", fields=["label"], on="click", empty=False),
    )
    return themed(chart.properties(height=min(height, max(len(shown), 1) * (18 * len(mistakes) + 8) + 34)), colours)


def histogram(values: Mapping[str, FloatArray], *, low: float, baseline: str, dark: bool, height: int = 130) -> Chart:
    """Histogram of a ratio of matched boxes: the first model as bars, the second as a stepped line.

    Parameters
    ----------
    values : mapping of float64
        By model, at least one; each in [0, 1]; values below `low` are not drawn.
    low : float
        Left end of the axis, for instance the IoU threshold.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels.

    Returns
    -------
    Chart
        20 bins from `low` to 1, with an interval selection named ``range`` on x.
    """
    colours = palette(dark=dark, baseline=baseline)
    edges = np.linspace(low, 1.0, HISTOGRAM_BINS + 1)
    frame = pd.DataFrame(
        {
            "start": np.tile(edges[:-1], len(values)),
            "stop": np.tile(edges[1:], len(values)),
            "model": np.repeat(list(values), HISTOGRAM_BINS),
            "boxes": np.concatenate([np.histogram(column, bins=edges)[0] for column in values.values()]),
        }
    )
    brush = alt.selection_interval(name="range", encodings=["x"])
    x_axis = alt.Axis(format=".2f", values=[low, (low + 1) / 2, 1.0], labelFlush=True, grid=False)
    x = alt.X("start:Q", title=None, scale=alt.Scale(domain=[low, 1.0], nice=False), axis=x_axis)
    y = alt.Y("boxes:Q", title=None, axis=alt.Axis(tickCount=3, tickMinStep=1, format=",d"))
    tooltip = tips(model="Model", start=("From", ".3f"), stop=("To", ".3f"), boxes=("Matched boxes", ",d"))
    layers: list[alt.Chart] = []
    for model in values:
        bins = frame[frame["model"] == model]
        if not layers:
            opacity = 1.0 if len(values) == 1 else 0.45
            mark = alt.Chart(bins).mark_bar(color=colours.of(model), opacity=opacity, binSpacing=1, cornerRadius=0)
            bars = mark.encode(x=x, x2="stop:Q", y=y, y2=alt.datum(0), tooltip=tooltip)
            layers.append(bars.add_params(brush))
        else:
            # One more point, so that the last step is drawn to the end of the axis.
            last = bins.tail(1).assign(start=bins["stop"].tail(1))
            line = alt.Chart(pd.concat([bins, last], ignore_index=True)).mark_line(
                color=colours.of(model), strokeWidth=2, interpolate="step-after", clip=True
            )
            layers.append(line.encode(x=x, y=y, order="start:Q"))
    return themed(alt.layer(*layers).properties(height=height), colours)
