"""Charts of scores and fits: curves against the score, precision against recall, coverage and purity.

What is clicked or brushed in them opens the boxes behind it.
Owns how these charts look and the names of their selections; the numbers come ready from ``results`` and ``box_items``.
Field names are fixed words and data are cells, so a label is never read as an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from evaluator.charts.theme import Chart, model_colour, palette, themed, tips, unit_scale
from evaluator.metrics.results import ScoreCurve
from evaluator.model.boxes import FloatArray

MEASURES: Final = ("F1", "Precision", "Recall")
"""What is drawn against the score, each with a dash of its own."""
_DASHES: Final[Mapping[str, list[int]]] = {"F1": [1, 0], "Precision": [6, 3], "Recall": [2, 3]}
SCATTER_POINTS: Final = 4_000
"""More pairs than this are not drawn; the view says how many were left out."""
# Statuses on the page; dark themes need lighter ones.
_PAIRS: Final = {
    "light": {"matched": "#00796B", "mistake": "#C75000"},
    "dark": {"matched": "#4DB6AC", "mistake": "#FF9A4D"},
}


def against_score(
    curves: Mapping[str, ScoreCurve],
    current: Mapping[str, float],
    *,
    label: str | None,
    baseline: str,
    dark: bool,
    height: int = 230,
) -> Chart:
    """Precision, recall and F1 against the score threshold, with the thresholds of the moment.

    Parameters
    ----------
    curves : mapping of ScoreCurve
        By model, at least one.
    current : mapping of float
        Score threshold of each model.
    label : str or None
        One label, or all pooled.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels.

    Returns
    -------
    Chart
        With an interval selection named ``score`` on x. Undefined ratios leave a gap.
    """
    colours = palette(dark=dark, baseline=baseline)
    frame = pd.concat([_measures(model, curve, label) for model, curve in curves.items()], ignore_index=True)
    brush = alt.selection_interval(name="score", encodings=["x"])
    dash = alt.StrokeDash(
        "measure:N",
        scale=alt.Scale(domain=list(MEASURES), range=[_DASHES[name] for name in MEASURES]),
        legend=alt.Legend(orient="top", symbolType="stroke"),
    )
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.8, invalid="break-paths-show-path-domains")
        .encode(
            x=alt.X("score:Q", title="Score, at least", scale=unit_scale(), axis=_ratio_axis()),
            y=alt.Y("value:Q", title=None, scale=unit_scale(), axis=_ratio_axis(grid=True)),
            color=model_colour(curves, colours),
            strokeDash=dash,
            detail="model:N",
            tooltip=tips(model="Model", measure="Measure", score=("Score, at least", ".2f"), value=("Value", ".3f")),
        )
    )
    marks = pd.DataFrame({"score": list(current.values()), "model": list(current)})
    rules = alt.Chart(marks).mark_rule(strokeWidth=1.2, strokeDash=[3, 3])
    rules = rules.encode(x="score:Q", color=model_colour(curves, colours))
    # The brush belongs to the first layer: rules would give it another domain.
    return themed(alt.layer(lines.add_params(brush), rules).properties(height=height), colours)


def precision_recall(
    curves: Mapping[str, ScoreCurve],
    current: Mapping[str, float],
    *,
    label: str | None,
    baseline: str,
    dark: bool,
    height: int = 230,
) -> Chart:
    """Precision against recall as the score threshold moves, with the point of the moment.

    Parameters
    ----------
    curves, current, label, baseline, dark, height
        See `against_score`.

    Returns
    -------
    Chart
        With a point selection named ``point`` that gives ``model`` and ``score``. Thresholds where precision or recall
        is undefined have no point.
    """
    colours = palette(dark=dark, baseline=baseline)
    frame = pd.concat([_points(model, curve, label) for model, curve in curves.items()], ignore_index=True)
    now = pd.concat([frame[(frame["model"] == model) & np.isclose(frame["score"], current[model])] for model in curves])
    pick = alt.selection_point(name="point", fields=["model", "score"], on="click", nearest=True, empty=False)
    x = alt.X("recall:Q", title="Recall", scale=unit_scale(), axis=_ratio_axis())
    y = alt.Y("precision:Q", title="Precision", scale=unit_scale(), axis=_ratio_axis(grid=True))
    ratios = {name: (title, ".3f") for name, title in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))}
    tooltip = tips(model="Model", score=("Score, at least", ".2f"), **ratios)
    color = model_colour(curves, colours)
    base = alt.Chart(frame).encode(x=x, y=y, color=color, tooltip=tooltip)
    line = base.mark_line(strokeWidth=1.8).encode(order="score:Q", detail="model:N")
    points = base.mark_point(filled=True, size=26, opacity=0.55, cursor="pointer")
    here = alt.Chart(now).mark_point(filled=False, size=130, strokeWidth=2.2)
    here = here.encode(x=x, y=y, color=color, tooltip=tooltip)
    names = alt.Chart(now).mark_text(dx=11, dy=-9, fontSize=12.5, fontWeight="bold", color=colours.text)
    names = names.encode(x=x, y=y, text="model:N")
    return themed(alt.layer(line, points.add_params(pick), here, names).properties(height=height), colours)


def coverage_purity(
    coverage: FloatArray, purity: FloatArray, matched: Sequence[bool], *, dark: bool, height: int = 230
) -> Chart:
    """Purity against coverage of every pair: what a box loses, and what it takes in.

    Parameters
    ----------
    coverage, purity : float64, shape (K,), in [0, 1]
        At most `SCATTER_POINTS` pairs.
    matched : sequence of bool
        Whether the pair matches; a mistake is drawn as a cross.
    height : int
        In pixels.

    Returns
    -------
    Chart
        With an interval selection named ``fit`` on both axes.
    """
    colours = palette(dark=dark)
    kinds = _PAIRS["dark" if dark else "light"]
    pair = np.where(np.asarray(matched, dtype=bool), "matched", "mistake")
    frame = pd.DataFrame({"coverage": coverage, "purity": purity, "pair": pair})
    brush = alt.selection_interval(name="fit", encodings=["x", "y"])
    names, inks = list(kinds), list(kinds.values())
    legend = alt.Legend(orient="top", direction="horizontal")
    chart = (
        alt.Chart(frame)
        .mark_point(filled=False, size=36, strokeWidth=1.5, opacity=0.7)
        .encode(
            x=alt.X("coverage:Q", title="Coverage", scale=unit_scale(), axis=_ratio_axis()),
            y=alt.Y("purity:Q", title="Purity", scale=unit_scale(), axis=_ratio_axis(grid=True)),
            color=alt.Color("pair:N", scale=alt.Scale(domain=names, range=inks), legend=legend),
            shape=alt.Shape("pair:N", scale=alt.Scale(domain=names, range=["circle", "cross"]), legend=legend),
            tooltip=tips(pair="Pair", coverage=("Coverage", ".3f"), purity=("Purity", ".3f")),
        )
        .add_params(brush)
    )
    return themed(alt.layer(chart).properties(height=height), colours)


def _measures(model: str, curve: ScoreCurve, label: str | None) -> pd.DataFrame:
    """The three measures of a model at each threshold, one row each."""
    values = {name: getattr(curve.columns(label), name.lower()) for name in MEASURES}
    return pd.concat(
        [
            pd.DataFrame({"score": curve.threshold, "value": column, "measure": name, "model": model})
            for name, column in values.items()
        ]
    )


def _points(model: str, curve: ScoreCurve, label: str | None) -> pd.DataFrame:
    """Precision and recall of a model at each threshold where both are defined."""
    columns = {name: getattr(curve.columns(label), name) for name in ("precision", "recall", "f1")}
    return pd.DataFrame({"score": curve.threshold, **columns, "model": model}).dropna(subset=["precision", "recall"])


def _ratio_axis(*, grid: bool = False) -> alt.Axis:
    """An axis from 0 to 1."""
    return alt.Axis(format=".1f", values=[0, 0.2, 0.4, 0.6, 0.8, 1.0], labelFlush=True, labelOverlap=False, grid=grid)
