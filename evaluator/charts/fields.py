"""Charts of extracted fields: AP against the IoU threshold, reliability of the confidence, and the review budget.

Owns how these charts look and the names of their selections; the numbers come ready from ``protocols.fields`` and
``confidence``. Field names are fixed words and data are cells, so a path is never read as an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from evaluator.charts.theme import Chart, Palette, colour_of, model_colour, palette, themed
from evaluator.metrics.confidence import Calibration
from evaluator.model.boxes import FloatArray, IntArray

# Points of the review curve; more than this nobody sees.
_REVIEW_POINTS: Final = 200
# Pixels left of charts that stand above each other.
_LEFT: Final = 34


def ap_against_iou(
    iou: Sequence[float],
    curves: Mapping[str, FloatArray],
    others: Mapping[str, FloatArray],
    *,
    current: float,
    dark: bool,
    height: int = 236,
) -> Chart:
    """AP against the IoU threshold: a line for each model, and pale ones for the fields of one model.

    Parameters
    ----------
    iou : sequence of float
        Thresholds, rising.
    curves : mapping of float64, shape (len(iou),)
        By model letter: of the chosen field, or the mean of all.
    others : mapping of float64, shape (len(iou),)
        By class of field.
    current : float
        The threshold of the view.
    dark : bool
    height : int
        In pixels.

    Returns
    -------
    Chart
        With a point selection named ``field`` on the pale lines. Undefined values leave a gap.
    """
    colours = palette(dark=dark)
    x = alt.X("iou:Q", title="IoU threshold", scale=alt.Scale(domain=[iou[0], iou[-1]], nice=False), axis=_axis(".2f"))
    y = alt.Y("ap:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis())
    tooltip = [
        alt.Tooltip("name:N", title="Field"),
        alt.Tooltip("iou:Q", title="IoU threshold", format=".2f"),
        alt.Tooltip("ap:Q", title="AP", format=".3f"),
    ]
    pick = alt.selection_point(name="field", fields=["name"], on="click", empty=False)
    pale = (
        alt.Chart(_long(iou, others))
        .mark_line(strokeWidth=1.4, color=colours.muted, opacity=0.28, cursor="pointer")
        .encode(x=x, y=y, detail="name:N", tooltip=tooltip)
        .add_params(pick)
    )
    letters = list(curves)
    frame = _long(iou, curves).rename(columns={"name": "model"})
    lines = alt.Chart(frame).mark_line(strokeWidth=2.4).encode(x=x, y=y, color=model_colour(letters, colours))
    now = alt.Chart(pd.DataFrame({"iou": [current]})).mark_rule(strokeDash=[3, 3], color=colours.text).encode(x="iou:Q")
    return themed(alt.layer(pale, lines, _ends(frame, "iou", "ap", colours), now).properties(height=height), colours)


def reliability(bins: Mapping[str, Calibration], *, dark: bool, height: int = 170) -> Chart:
    """Share of right values against the confidence, bin by bin.

    Parameters
    ----------
    bins : mapping of Calibration
        By model letter, at least one.
    dark : bool
    height : int
        In pixels.

    Returns
    -------
    Chart
        With a point selection named ``bin`` that gives ``bin`` and ``model``. Empty bins have no point. As wide on the
        left as `bin_counts`, so that one can stand above the other.
    """
    colours = palette(dark=dark)
    letters = list(bins)
    frame = pd.concat([_bins(letter, each) for letter, each in bins.items()], ignore_index=True)
    filled = frame[frame["values"] > 0]
    scale = alt.Scale(domain=[0, 1], nice=False)
    pick = alt.selection_point(name="bin", fields=["bin", "model"], on="click", empty=False)
    ideal = (
        alt.Chart(pd.DataFrame({"confidence": [0.0, 1.0], "accuracy": [0.0, 1.0]}))
        .mark_line(strokeDash=[4, 4], strokeWidth=1.2, color=colours.muted)
        .encode(x="confidence:Q", y="accuracy:Q")
    )
    x = alt.X("confidence:Q", title=None, scale=scale, axis=alt.Axis(labels=False, grid=False, values=[0, 0.5, 1]))
    base = alt.Chart(filled).encode(
        x=x,
        y=alt.Y("accuracy:Q", title=None, scale=scale, axis=_ratio_axis()),
        color=model_colour(letters, colours),
        tooltip=_bin_tooltip(),
    )
    lines = base.mark_line(strokeWidth=1.8, opacity=0.6)
    points = base.mark_point(filled=True, size=80, opacity=1, cursor="pointer").add_params(pick)
    return themed(alt.layer(ideal, lines, points).properties(height=height), colours)


def bin_counts(bins: Mapping[str, Calibration], *, dark: bool, height: int = 150) -> Chart:
    """How many values are in each bin of confidence: bars side by side for two models, each with its number.

    Parameters
    ----------
    bins, dark, height
        See `reliability`.

    Returns
    -------
    Chart
        With a point selection named ``bin`` that gives ``bin`` and ``model``.
    """
    colours = palette(dark=dark)
    letters = list(bins)
    frame = pd.concat([_bins(letter, each) for letter, each in bins.items()], ignore_index=True)
    filled = frame[frame["values"] > 0]
    share = 0.1 / len(letters)
    place = {letter: order * share for order, letter in enumerate(letters)}
    start = filled["low"] + filled["model"].map(place).astype(float)
    filled = filled.assign(left=start + 0.006, right=start + share - 0.006, centre=filled["low"] + 0.05)
    largest = int(filled["values"].max()) if len(filled) else 1
    top = largest * (1.25 + 0.35 * len(letters))
    y_axis = alt.Axis(grid=False, tickCount=2, format="~s", minExtent=_LEFT, maxExtent=_LEFT)
    scale = alt.Scale(domain=[0, 1], nice=False)
    pick = alt.selection_point(name="bin", fields=["bin", "model"], on="click", empty=False)
    base = alt.Chart(filled)
    bars = base.mark_bar(cornerRadius=0, cursor="pointer").encode(
        x=alt.X("left:Q", title="Confidence", scale=scale, axis=_axis(".1f")),
        x2="right:Q",
        y=alt.Y(
            "values:Q",
            title=None,
            scale=alt.Scale(domain=[0, top], nice=False),
            axis=y_axis,
        ),
        y2=alt.datum(0),
        color=model_colour(letters, colours),
        tooltip=_bin_tooltip(),
    )
    # One row of numbers for each model: side by side they would run into each other.
    numbers = [
        alt.Chart(filled[filled["model"] == letter])
        .mark_text(fontSize=12, color=colour_of(letter, colours))
        .encode(
            x="centre:Q",
            y=alt.datum(top * (0.93 - 0.17 * row)),
            text=alt.Text("values:Q", format="~s"),
            tooltip=_bin_tooltip(),
        )
        for row, letter in enumerate(letters)
    ]
    return themed(alt.layer(bars.add_params(pick), *numbers).properties(height=height), colours)


def review_budget(curves: Mapping[str, IntArray], *, budget: float, dark: bool, height: int = 230) -> Chart:
    """Share of the errors that a review finds against the share of the values that it looks at.

    Parameters
    ----------
    curves : mapping of int64, shape (N + 1,)
        By model letter: errors found in the k least certain values, from ``confidence.review_curve``. Models without an
        error have no line.
    budget : float
        The share of the moment, in [0, 1].
    dark : bool
    height : int
        In pixels.

    Returns
    -------
    Chart
    """
    colours = palette(dark=dark)
    letters = list(curves)
    frame = pd.concat(
        [_review(letter, found) for letter, found in curves.items()] or [_review("A", np.zeros(1, dtype=np.int64))],
        ignore_index=True,
    )
    percent = alt.Axis(format=".0%", grid=False, tickCount=5)
    x = alt.X(
        "reviewed:Q", title="Reviewed, least sure first", scale=alt.Scale(domain=[0, 1], nice=False), axis=percent
    )
    y_axis = alt.Axis(format=".0%", tickCount=4)
    y = alt.Y("caught:Q", title="Errors caught", scale=alt.Scale(domain=[0, 1], nice=False), axis=y_axis)
    tooltip = [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("reviewed:Q", title="Reviewed", format=".1%"),
        alt.Tooltip("caught:Q", title="Errors caught", format=".1%"),
    ]
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.2)
        .encode(x=x, y=y, color=model_colour(letters, colours), tooltip=tooltip, order="reviewed:Q")
    )
    chance = (
        alt.Chart(pd.DataFrame({"reviewed": [0.0, 1.0], "caught": [0.0, 1.0]}))
        .mark_line(strokeDash=[4, 4], strokeWidth=1.2, color=colours.muted)
        .encode(x="reviewed:Q", y="caught:Q")
    )
    rule = alt.Chart(pd.DataFrame({"reviewed": [budget]})).mark_rule(strokeWidth=1.4, color=colours.text)
    return themed(alt.layer(chance, lines, rule.encode(x="reviewed:Q")).properties(height=height), colours)


def _axis(form: str) -> alt.Axis:
    return alt.Axis(format=form, grid=False, tickCount=5)


def _ratio_axis() -> alt.Axis:
    return alt.Axis(format=".2f", values=[0, 0.25, 0.5, 0.75, 1], minExtent=_LEFT, maxExtent=_LEFT)


def _long(iou: Sequence[float], curves: Mapping[str, FloatArray]) -> pd.DataFrame:
    """One row per name and threshold."""
    rows = [
        {"name": name, "iou": threshold, "ap": None if np.isnan(value) else float(value)}
        for name, column in curves.items()
        for threshold, value in zip(iou, column, strict=True)
    ]
    return pd.DataFrame(rows, columns=["name", "iou", "ap"])


def _ends(frame: pd.DataFrame, across: str, up: str, colours: Palette) -> alt.Chart:
    """The letter of each model at the start of its line, where lines are furthest apart."""
    known = frame.dropna()
    first = known.loc[known.groupby("model")[across].idxmin()] if len(known) else known
    letters = first["model"].tolist()
    marks = alt.Chart(first).mark_text(align="left", dx=4, dy=-9, fontWeight=700, fontSize=12.5)
    ends: alt.Chart = marks.encode(x=f"{across}:Q", y=f"{up}:Q", text="model:N", color=model_colour(letters, colours))
    return ends


def _bins(letter: str, bins: Calibration) -> pd.DataFrame:
    """One row per bin of a model."""
    return pd.DataFrame(
        {
            "model": letter,
            "bin": np.arange(len(bins.count)),
            "low": bins.low,
            "high": bins.high,
            "range": [f"{low:.1f} to {high:.1f}" for low, high in zip(bins.low, bins.high, strict=True)],
            "confidence": bins.mean_confidence,
            "accuracy": bins.accuracy,
            "values": bins.count,
        }
    )


def _bin_tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("range:N", title="Confidence"),
        alt.Tooltip("confidence:Q", title="Mean confidence", format=".3f"),
        alt.Tooltip("accuracy:Q", title="Right values, share", format=".3f"),
        alt.Tooltip("values:Q", title="Values", format=",d"),
    ]


def _review(letter: str, found: IntArray) -> pd.DataFrame:
    """Some points of a review curve as shares."""
    total, errors = len(found) - 1, int(found[-1])
    if not errors:
        return pd.DataFrame({"model": [], "reviewed": [], "caught": []})
    places = np.unique(np.linspace(0, total, min(total, _REVIEW_POINTS) + 1).round().astype(np.int64))
    return pd.DataFrame({"model": letter, "reviewed": places / total, "caught": found[places] / errors})
