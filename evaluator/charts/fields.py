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

from evaluator.charts.theme import Chart, Palette, model_colour, palette, themed, tips, unit_scale
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
    baseline: str,
    dark: bool,
    height: int = 236,
) -> Chart:
    """AP against the IoU threshold: a line for each model, and pale ones for the fields of one model.

    Parameters
    ----------
    iou : sequence of float
        Thresholds, rising.
    curves : mapping of float64, shape (len(iou),)
        By model: of the chosen field, or the mean of all.
    others : mapping of float64, shape (len(iou),)
        By class of field.
    current : float
        The threshold of the view.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels.

    Returns
    -------
    Chart
        With a point selection named ``field`` on the pale lines. Undefined values leave a gap.
    """
    colours = palette(dark=dark, baseline=baseline)
    x = alt.X("iou:Q", title="IoU threshold", scale=alt.Scale(domain=[iou[0], iou[-1]], nice=False), axis=_axis(".2f"))
    y = alt.Y("ap:Q", title=None, scale=unit_scale(), axis=_ratio_axis())
    tooltip = tips(name="Field", iou=("IoU threshold", ".2f"), ap=("AP", ".3f"))
    pick = alt.selection_point(name="field", fields=["name"], on="click", empty=False)
    pale = (
        alt.Chart(_long(iou, others))
        .mark_line(strokeWidth=1.4, color=colours.muted, opacity=0.28, cursor="pointer")
        .encode(x=x, y=y, detail="name:N", tooltip=tooltip)
        .add_params(pick)
    )
    frame = _long(iou, curves).rename(columns={"name": "model"})
    lines = alt.Chart(frame).mark_line(strokeWidth=2.4).encode(x=x, y=y, color=model_colour(curves, colours))
    now = alt.Chart(pd.DataFrame({"iou": [current]})).mark_rule(strokeDash=[3, 3], color=colours.text).encode(x="iou:Q")
    return themed(alt.layer(pale, lines, _ends(frame, colours), now).properties(height=height), colours)


def reliability(bins: Mapping[str, Calibration], *, baseline: str, dark: bool, height: int = 170) -> Chart:
    """Share of right values against the confidence, bin by bin.

    Parameters
    ----------
    bins : mapping of Calibration
        By model, at least one.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels.

    Returns
    -------
    Chart
        With a point selection named ``bin`` that gives ``bin`` and ``model``. Empty bins have no point. As wide on the
        left as `bin_counts`, so that one can stand above the other.
    """
    colours = palette(dark=dark, baseline=baseline)
    axis = alt.Axis(labels=False, grid=False, values=[0, 0.5, 1])
    base = alt.Chart(_filled(bins)).encode(
        x=alt.X("confidence:Q", title=None, scale=unit_scale(), axis=axis),
        y=alt.Y("accuracy:Q", title=None, scale=unit_scale(), axis=_ratio_axis()),
        color=model_colour(bins, colours),
        tooltip=_bin_tooltip(),
    )
    lines = base.mark_line(strokeWidth=1.8, opacity=0.6)
    points = base.mark_point(filled=True, size=80, opacity=1, cursor="pointer").add_params(_bin_picked())
    ideal = _diagonal("confidence", "accuracy", colours)
    return themed(alt.layer(ideal, lines, points).properties(height=height), colours)


def bin_counts(bins: Mapping[str, Calibration], *, baseline: str, dark: bool, height: int = 150) -> Chart:
    """How many values are in each bin of confidence: bars side by side for two models, each with its number.

    Parameters
    ----------
    bins, baseline, dark, height
        See `reliability`.

    Returns
    -------
    Chart
        With a point selection named ``bin`` that gives ``bin`` and ``model``.
    """
    colours, filled = palette(dark=dark, baseline=baseline), _filled(bins)
    share = 0.1 / len(bins)
    place = {model: order * share for order, model in enumerate(bins)}
    start = filled["low"] + filled["model"].map(place).astype(float)
    filled = filled.assign(left=start + 0.006, right=start + share - 0.006, centre=filled["low"] + 0.05)
    largest = int(filled["values"].max()) if len(filled) else 1
    top = largest * (1.25 + 0.35 * len(bins))
    y_axis = alt.Axis(grid=False, tickCount=2, format="~s", minExtent=_LEFT, maxExtent=_LEFT)
    bars = (
        alt.Chart(filled)
        .mark_bar(cornerRadius=0, cursor="pointer")
        .encode(
            x=alt.X("left:Q", title="Confidence", scale=unit_scale(), axis=_axis(".1f")),
            x2="right:Q",
            y=alt.Y("values:Q", title=None, scale=alt.Scale(domain=[0, top], nice=False), axis=y_axis),
            y2=alt.datum(0),
            color=model_colour(bins, colours),
            tooltip=_bin_tooltip(),
        )
    )
    # One row of numbers for each model: side by side they would run into each other.
    numbers = [
        alt.Chart(filled[filled["model"] == model])
        .mark_text(fontSize=12, color=colours.of(model))
        .encode(
            x="centre:Q",
            y=alt.datum(top * (0.93 - 0.17 * row)),
            text=alt.Text("values:Q", format="~s"),
            tooltip=_bin_tooltip(),
        )
        for row, model in enumerate(bins)
    ]
    return themed(alt.layer(bars.add_params(_bin_picked()), *numbers).properties(height=height), colours)


def review_budget(
    curves: Mapping[str, IntArray], *, budget: float, baseline: str, dark: bool, height: int = 230
) -> Chart:
    """Share of the errors that a review finds against the share of the values that it looks at.

    Parameters
    ----------
    curves : mapping of int64, shape (N + 1,)
        By model: errors found in the k least certain values, from ``confidence.review_curve``. Models without an error
        have no line.
    budget : float
        The share of the moment, in [0, 1].
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels.
    """
    colours = palette(dark=dark, baseline=baseline)
    nothing = pd.DataFrame({"model": [], "reviewed": [], "caught": []})
    frame = pd.concat([nothing, *(_review(model, curve) for model, curve in curves.items())], ignore_index=True)
    x_axis, y_axis = alt.Axis(format=".0%", grid=False, tickCount=5), alt.Axis(format=".0%", tickCount=4)
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.2)
        .encode(
            x=alt.X("reviewed:Q", title="Reviewed, least sure first", scale=unit_scale(), axis=x_axis),
            y=alt.Y("caught:Q", title="Errors caught", scale=unit_scale(), axis=y_axis),
            color=model_colour(curves, colours),
            tooltip=tips(model="Model", reviewed=("Reviewed", ".1%"), caught=("Errors caught", ".1%")),
            order="reviewed:Q",
        )
    )
    chance = _diagonal("reviewed", "caught", colours)
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


def _ends(frame: pd.DataFrame, colours: Palette) -> alt.Chart:
    """The name of each model at the start of its line, where lines are furthest apart."""
    known = frame.dropna()
    first = known.loc[known.groupby("model")["iou"].idxmin()] if len(known) else known
    marks = alt.Chart(first).mark_text(align="left", dx=4, dy=-9, fontWeight=700, fontSize=12.5)
    ends: alt.Chart = marks.encode(x="iou:Q", y="ap:Q", text="model:N", color=model_colour(first["model"], colours))
    return ends


def _diagonal(across: str, up: str, colours: Palette) -> alt.Chart:
    """A dashed line from 0 to 1 on both axes."""
    marks = alt.Chart(pd.DataFrame({across: [0.0, 1.0], up: [0.0, 1.0]}))
    marks = marks.mark_line(strokeDash=[4, 4], strokeWidth=1.2, color=colours.muted)
    diagonal: alt.Chart = marks.encode(x=f"{across}:Q", y=f"{up}:Q")
    return diagonal


def _filled(bins: Mapping[str, Calibration]) -> pd.DataFrame:
    """One row for each bin of each model that holds a value."""
    frame = pd.concat(
        [
            pd.DataFrame(
                {
                    "model": model,
                    "bin": np.arange(len(each.count)),
                    "low": each.low,
                    "high": each.high,
                    "range": [f"{low:.1f} to {high:.1f}" for low, high in zip(each.low, each.high, strict=True)],
                    "confidence": each.mean_confidence,
                    "accuracy": each.accuracy,
                    "values": each.count,
                }
            )
            for model, each in bins.items()
        ],
        ignore_index=True,
    )
    return frame[frame["values"] > 0]


def _bin_picked() -> alt.Parameter:
    return alt.selection_point(name="bin", fields=["bin", "model"], on="click", empty=False)


def _bin_tooltip() -> list[alt.Tooltip]:
    means = {"confidence": ("Mean confidence", ".3f"), "accuracy": ("Right values, share", ".3f")}
    return tips(model="Model", range="Confidence", **means, values=("Values", ",d"))


def _review(model: str, found: IntArray) -> pd.DataFrame:
    """Some points of a review curve as shares; none without an error."""
    total, errors = len(found) - 1, int(found[-1])
    places = np.unique(np.linspace(0, total, min(total, _REVIEW_POINTS) + 1).round().astype(np.int64))
    points = pd.DataFrame(
        {"model": model, "reviewed": places / max(total, 1), "caught": found[places] / max(errors, 1)}
    )
    return points if errors else points.head(0)
