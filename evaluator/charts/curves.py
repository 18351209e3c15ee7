"""Charts of scores and fits that are doors: curves against the score, precision against recall, coverage and purity.

Owns how these charts look and the names of their selections; the numbers come ready from ``results`` and ``box_items``.
Field names are fixed words and data are cells, so a label is never read as an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from evaluator.charts.theme import Chart, model_colour, palette, themed
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
    curves: Mapping[str, ScoreCurve], current: Mapping[str, float], *, label: str | None, dark: bool, height: int = 230
) -> Chart:
    """Precision, recall and F1 against the score threshold, with the thresholds of the moment.

    Parameters
    ----------
    curves : mapping of ScoreCurve
        By model letter, at least one.
    current : mapping of float
        Score threshold of each model.
    label : str or None
        One label, or all pooled.
    dark : bool
    height : int
        In pixels.

    Returns
    -------
    Chart
        With an interval selection named ``score`` on x. Undefined ratios leave a gap.
    """
    colours = palette(dark=dark)
    frame = pd.concat([_measures(letter, curve, label) for letter, curve in curves.items()], ignore_index=True)
    brush = alt.selection_interval(name="score", encodings=["x"])
    x = alt.X("score:Q", title="Score, at least", scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis())
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis(grid=True))
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.8, invalid="break-paths-show-path-domains")
        .encode(
            x=x,
            y=y,
            color=model_colour(list(curves), colours),
            strokeDash=alt.StrokeDash(
                "measure:N",
                scale=alt.Scale(domain=list(MEASURES), range=[_DASHES[name] for name in MEASURES]),
                legend=alt.Legend(orient="top", symbolType="stroke"),
            ),
            detail="model:N",
            tooltip=_tooltips(),
        )
    )
    marks = pd.DataFrame({"score": list(current.values()), "model": list(current)})
    rules = (
        alt.Chart(marks)
        .mark_rule(strokeWidth=1.2, strokeDash=[3, 3])
        .encode(x="score:Q", color=model_colour(list(curves), colours))
    )
    # The brush belongs to the first layer: rules would give it another domain.
    return themed(alt.layer(lines.add_params(brush), rules).properties(height=height), colours)


def precision_recall(
    curves: Mapping[str, ScoreCurve], current: Mapping[str, float], *, label: str | None, dark: bool, height: int = 230
) -> Chart:
    """Precision against recall as the score threshold moves, with the point of the moment.

    Parameters
    ----------
    curves, current, label, dark, height
        See `against_score`.

    Returns
    -------
    Chart
        With a point selection named ``point`` that gives ``model`` and ``score``. Thresholds where precision or recall
        is undefined have no point.
    """
    colours = palette(dark=dark)
    frame = pd.concat([_points(letter, curve, label) for letter, curve in curves.items()], ignore_index=True)
    letters = list(curves)
    now = pd.concat(
        [frame[(frame["model"] == letter) & np.isclose(frame["score"], current[letter])] for letter in letters]
    )
    pick = alt.selection_point(name="point", fields=["model", "score"], on="click", nearest=True, empty=False)
    x = alt.X("recall:Q", title="Recall", scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis())
    y = alt.Y("precision:Q", title="Precision", scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis(grid=True))
    tooltip = [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("score:Q", title="Score, at least", format=".2f"),
        alt.Tooltip("precision:Q", title="Precision", format=".3f"),
        alt.Tooltip("recall:Q", title="Recall", format=".3f"),
        alt.Tooltip("f1:Q", title="F1", format=".3f"),
    ]
    base = alt.Chart(frame).encode(x=x, y=y, color=model_colour(letters, colours), tooltip=tooltip)
    line = base.mark_line(strokeWidth=1.8).encode(order="score:Q", detail="model:N")
    points = base.mark_point(filled=True, size=26, opacity=0.55, cursor="pointer")
    here = (
        alt.Chart(now)
        .mark_point(filled=False, size=130, strokeWidth=2.2)
        .encode(x=x, y=y, color=model_colour(letters, colours), tooltip=tooltip)
    )
    names = (
        alt.Chart(now)
        .mark_text(dx=11, dy=-9, fontSize=12.5, fontWeight="bold", color=colours.text)
        .encode(x=x, y=y, text="model:N")
    )
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
    dark : bool
    height : int
        In pixels.

    Returns
    -------
    Chart
        With an interval selection named ``fit`` on both axes.
    """
    colours = palette(dark=dark)
    kinds = _PAIRS["dark" if dark else "light"]
    frame = pd.DataFrame(
        {
            "coverage": coverage,
            "purity": purity,
            "pair": np.where(np.asarray(matched, dtype=bool), "matched", "mistake"),
        }
    )
    brush = alt.selection_interval(name="fit", encodings=["x", "y"])
    names, inks = list(kinds), list(kinds.values())
    legend = alt.Legend(orient="top", direction="horizontal")
    chart = (
        alt.Chart(frame)
        .mark_point(filled=False, size=36, strokeWidth=1.5, opacity=0.7)
        .encode(
            x=alt.X("coverage:Q", title="Coverage", scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis()),
            y=alt.Y(
                "purity:Q", title="Purity", scale=alt.Scale(domain=[0, 1], nice=False), axis=_ratio_axis(grid=True)
            ),
            color=alt.Color("pair:N", scale=alt.Scale(domain=names, range=inks), legend=legend),
            shape=alt.Shape("pair:N", scale=alt.Scale(domain=names, range=["circle", "cross"]), legend=legend),
            tooltip=[
                alt.Tooltip("pair:N", title="Pair"),
                alt.Tooltip("coverage:Q", title="Coverage", format=".3f"),
                alt.Tooltip("purity:Q", title="Purity", format=".3f"),
            ],
        )
        .add_params(brush)
    )
    return themed(alt.layer(chart).properties(height=height), colours)


def _measures(letter: str, curve: ScoreCurve, label: str | None) -> pd.DataFrame:
    """The three measures of a model at each threshold, one row each."""
    columns = curve.columns(label)
    values = {"F1": columns.f1, "Precision": columns.precision, "Recall": columns.recall}
    return pd.concat(
        [
            pd.DataFrame({"score": curve.threshold, "value": values[name], "measure": name, "model": letter})
            for name in MEASURES
        ]
    )


def _points(letter: str, curve: ScoreCurve, label: str | None) -> pd.DataFrame:
    """Precision and recall of a model at each threshold where both are defined."""
    columns = curve.columns(label)
    frame = pd.DataFrame(
        {
            "score": curve.threshold,
            "precision": columns.precision,
            "recall": columns.recall,
            "f1": columns.f1,
            "model": letter,
        }
    )
    return frame.dropna(subset=["precision", "recall"])


def _ratio_axis(*, grid: bool = False) -> alt.Axis:
    """An axis from 0 to 1."""
    return alt.Axis(format=".1f", values=[0, 0.2, 0.4, 0.6, 0.8, 1.0], labelFlush=True, labelOverlap=False, grid=grid)


def _tooltips() -> list[alt.Tooltip]:
    """What a point of `against_score` says."""
    return [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("measure:N", title="Measure"),
        alt.Tooltip("score:Q", title="Score, at least", format=".2f"),
        alt.Tooltip("value:Q", title="Value", format=".3f"),
    ]
