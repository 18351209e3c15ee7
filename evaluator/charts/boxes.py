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

from evaluator.charts.theme import Chart, colour_of, label_axis, model_colour, palette, themed
from evaluator.model.boxes import FloatArray, IntArray

HISTOGRAM_BINS: Final = 20


def mistakes_by_label(
    labels: Sequence[str], mistakes: Mapping[str, IntArray], *, dark: bool, height: int, top: int = 12
) -> Chart:
    """Bars of unmatched boxes per label, most first, one bar per model.

    Parameters
    ----------
    labels : sequence of str
    mistakes : mapping of int64, shape (len(labels),)
        By model letter, in order.
    dark : bool
    height : int
        In pixels; bars get thinner to fit.
    top : int
        How many labels are drawn.

    Returns
    -------
    Chart
        With a point selection named ``label``; empty axes for no labels.
    """
    colours = palette(dark=dark)
    total = sum(mistakes.values(), np.zeros(len(labels), dtype=np.int64))
    shown = [int(row) for row in np.argsort(-total, kind="stable")[:top] if total[row]]
    frame = pd.DataFrame(
        [
            {"label": labels[row], "model": letter, "mistakes": int(counts[row]), "rank": rank}
            for rank, row in enumerate(shown)
            for letter, counts in mistakes.items()
        ],
        columns=["label", "model", "mistakes", "rank"],
    )
    largest = max((int(counts[row]) for counts in mistakes.values() for row in shown), default=1)
    order = [labels[row] for row in shown]
    letters = list(mistakes)
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=order, title=None, axis=label_axis()),
        yOffset=alt.YOffset("model:N", sort=letters, scale=alt.Scale(paddingInner=0)),
        x=alt.X(
            "mistakes:Q",
            title=None,
            # Room for the number behind the longest bar.
            scale=alt.Scale(domain=[0, largest * 1.14], nice=False),
            axis=alt.Axis(tickMinStep=1, tickCount=4, format=",d"),
        ),
        tooltip=[
            alt.Tooltip("label:N", title="Label"),
            alt.Tooltip("model:N", title="Model"),
            alt.Tooltip("mistakes:Q", title="Mistakes", format=",d"),
        ],
    )
    pick = alt.selection_point(name="label", fields=["label"], on="click", empty=False)
    bars = base.mark_bar(cornerRadius=0, height={"band": 0.86}, cursor="pointer").encode(
        color=model_colour(letters, colours)
    )
    numbers = base.mark_text(align="left", dx=5, fontSize=12, color=colours.text).encode(
        text=alt.Text("mistakes:Q", format=",d")
    )
    chart = alt.layer(bars.add_params(pick), numbers).properties(
        height=min(height, max(len(shown), 1) * (18 * len(letters) + 8) + 34)
    )
    return themed(chart, colours)


def histogram(values: Mapping[str, FloatArray], *, low: float, dark: bool, height: int = 130) -> Chart:
    """Histogram of a ratio of matched boxes: the first model as bars, the second as a stepped line.

    Parameters
    ----------
    values : mapping of float64
        By model letter, at least one; each in [0, 1]; values below `low` are not drawn.
    low : float
        Left end of the axis, for instance the IoU threshold.
    dark : bool
    height : int
        In pixels.

    Returns
    -------
    Chart
        20 bins from `low` to 1, with an interval selection named ``range`` on x.
    """
    colours = palette(dark=dark)
    edges = np.linspace(low, 1.0, HISTOGRAM_BINS + 1)
    frame = pd.DataFrame(
        {
            "start": np.tile(edges[:-1], len(values)),
            "stop": np.tile(edges[1:], len(values)),
            "model": np.repeat(list(values), HISTOGRAM_BINS),
            "boxes": np.concatenate([np.histogram(column, bins=edges)[0] for column in values.values()]),
        }
    )
    letters = list(values)
    brush = alt.selection_interval(name="range", encodings=["x"])
    x_axis = alt.Axis(format=".2f", values=[low, (low + 1) / 2, 1.0], labelFlush=True, grid=False)
    x = alt.X("start:Q", title=None, scale=alt.Scale(domain=[low, 1.0], nice=False), axis=x_axis)
    y = alt.Y("boxes:Q", title=None, axis=alt.Axis(tickCount=3, tickMinStep=1, format=",d"))
    tooltip = [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("start:Q", title="From", format=".3f"),
        alt.Tooltip("stop:Q", title="To", format=".3f"),
        alt.Tooltip("boxes:Q", title="Matched boxes", format=",d"),
    ]
    layers: list[alt.Chart] = []
    for place, letter in enumerate(letters):
        chart = alt.Chart(frame[frame["model"] == letter])
        if place == 0:
            opacity = 1.0 if len(letters) == 1 else 0.45
            mark = chart.mark_bar(color=colour_of(letter, colours), opacity=opacity, binSpacing=1, cornerRadius=0)
            bars = mark.encode(x=x, x2="stop:Q", y=y, y2=alt.datum(0), tooltip=tooltip)
            layers.append(bars.add_params(brush))
        else:
            steps = _stepped(frame[frame["model"] == letter])
            line = alt.Chart(steps).mark_line(
                color=colour_of(letter, colours), strokeWidth=2, interpolate="step-after", clip=True
            )
            layers.append(line.encode(x=x, y=y, order="start:Q"))
    return themed(alt.layer(*layers).properties(height=height), colours)


def _stepped(bins: pd.DataFrame) -> pd.DataFrame:
    """Bin starts and one more point, so that the last step is drawn to the end of the axis."""
    last = bins.tail(1).assign(start=bins["stop"].tail(1))
    return pd.concat([bins, last], ignore_index=True)
