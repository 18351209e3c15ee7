"""Charts of scores and fits: curves against the score, precision against recall, coverage and purity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.charts.theme import model_colour, palette, themed, tips, unit_scale
from evaluator.charts.vega import Chart, Piece, brushed, field, layer, picked
from evaluator.data.boxes import AnyArray, BoolArray, FloatArray
from evaluator.metrics.results import ScoreCurve

Columns = Mapping[str, AnyArray]
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
    """Return precision, recall and F1 against the score threshold, with the current thresholds.

    `label`: None for all pooled. Undefined ratios leave a gap. Interval selection ``score`` on x.
    """
    colours = palette(dark=dark, baseline=baseline)
    frame = _one_below_the_other([_measures(model, curve, label) for model, curve in curves.items()])
    dash = field(
        "measure:N",
        scale={"domain": list(MEASURES), "range": [_DASHES[name] for name in MEASURES]},
        legend={"orient": "top", "symbolType": "stroke"},
    )
    line: Piece = {
        "x": field("score:Q", title="Minimum score", scale=unit_scale(), axis=_ratio_axis()),
        "y": field("value:Q", title=None, scale=unit_scale(), axis=_ratio_axis(grid=True)),
        "color": model_colour(curves, colours),
        "strokeDash": dash,
        "detail": field("model:N"),
        "tooltip": tips(model="Model", measure="Measure", score=("Minimum score", ".2f"), value=("Value", ".3f")),
    }
    marks = {"score": list(current.values()), "model": list(current)}
    rule: Piece = {"x": field("score:Q"), "color": model_colour(curves, colours)}
    layers = [
        # The brush belongs to the first layer: rules would give it another domain.
        layer(
            frame,
            "line",
            line,
            pick=brushed("score", ["x"]),
            strokeWidth=1.8,
            invalid="break-paths-show-path-domains",
        ),
        layer(marks, "rule", rule, strokeWidth=1.2, strokeDash=[3, 3]),
    ]
    return themed(layers, colours, height=height)


def precision_recall(
    curves: Mapping[str, ScoreCurve],
    current: Mapping[str, float],
    *,
    label: str | None,
    baseline: str,
    dark: bool,
    height: int = 230,
) -> Chart:
    """Return precision against recall as the score threshold moves, with the current point.

    See `against_score`. Undefined points are left out. Point selection ``point`` with ``model`` and ``score``.
    """
    colours = palette(dark=dark, baseline=baseline)
    points = {model: _points(model, curve, label) for model, curve in curves.items()}
    frame = _one_below_the_other([*points.values()])
    now = _one_below_the_other([_rows(own, np.isclose(own["score"], current[model])) for model, own in points.items()])
    ratios = {name: (title, ".3f") for name, title in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))}
    place: Piece = {
        "x": field("recall:Q", title="Recall", scale=unit_scale(), axis=_ratio_axis()),
        "y": field("precision:Q", title="Precision", scale=unit_scale(), axis=_ratio_axis(grid=True)),
    }
    dot: Piece = place | {
        "color": model_colour(curves, colours),
        "tooltip": tips(model="Model", score=("Minimum score", ".2f"), **ratios),
    }
    pick = picked("point", ["model", "score"], nearest=True)
    layers = [
        layer(frame, "line", dot | {"order": field("score:Q"), "detail": field("model:N")}, strokeWidth=1.8),
        layer(frame, "point", dot, pick=pick, filled=True, size=26, opacity=0.55, cursor="pointer"),
        layer(now, "point", dot, filled=False, size=130, strokeWidth=2.2),
        layer(
            now,
            "text",
            place | {"text": field("model:N")},
            dx=11,
            dy=-9,
            fontSize=12.5,
            fontWeight="bold",
            color=colours.text,
        ),
    ]
    return themed(layers, colours, height=height)


def coverage_purity(
    coverage: FloatArray, purity: FloatArray, matched: Sequence[bool], *, dark: bool, height: int = 230
) -> Chart:
    """Return purity against coverage of every pair: what a box loses, and what it takes in.

    At most `SCATTER_POINTS` pairs, in [0, 1]; those not `matched` are crosses. Selection ``fit``.
    """
    colours = palette(dark=dark)
    kinds = _PAIRS["dark" if dark else "light"]
    pair = np.where(np.asarray(matched, dtype=bool), "matched", "mistake")
    frame = {"coverage": coverage, "purity": purity, "pair": pair}
    names, inks = list(kinds), list(kinds.values())
    legend = {"orient": "top", "direction": "horizontal"}
    dot: Piece = {
        "x": field("coverage:Q", title="Coverage", scale=unit_scale(), axis=_ratio_axis()),
        "y": field("purity:Q", title="Purity", scale=unit_scale(), axis=_ratio_axis(grid=True)),
        "color": field("pair:N", scale={"domain": names, "range": inks}, legend=legend),
        "shape": field("pair:N", scale={"domain": names, "range": ["circle", "cross"]}, legend=legend),
        "tooltip": tips(pair="Pair", coverage=("Coverage", ".3f"), purity=("Purity", ".3f")),
    }
    brush = brushed("fit", ["x", "y"])
    points = layer(frame, "point", dot, pick=brush, filled=False, size=36, strokeWidth=1.5, opacity=0.7)
    return themed([points], colours, height=height)


def _measures(model: str, curve: ScoreCurve, label: str | None) -> Columns:
    columns, steps = curve.columns(label), len(curve.threshold)
    return {
        "score": np.tile(curve.threshold, len(MEASURES)),
        "value": np.concatenate([getattr(columns, name.lower()) for name in MEASURES]),
        "measure": np.repeat(np.array(MEASURES, dtype=object), steps),
        "model": np.full(len(MEASURES) * steps, model, dtype=object),
    }


def _points(model: str, curve: ScoreCurve, label: str | None) -> Columns:
    columns = {name: getattr(curve.columns(label), name) for name in ("precision", "recall", "f1")}
    every = {"score": curve.threshold, **columns, "model": np.full(len(curve.threshold), model, dtype=object)}
    return _rows(every, ~np.isnan(columns["precision"] + columns["recall"]))


def _rows(columns: Columns, chosen: BoolArray) -> Columns:
    return {name: column[chosen] for name, column in columns.items()}


def _one_below_the_other(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _ratio_axis(*, grid: bool = False) -> Piece:
    values = [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    return {"format": ".1f", "values": values, "labelFlush": True, "labelOverlap": False, "grid": grid}
