"""Charts of scored boxes: precision and recall of labels, cost of each kind of error, and reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.charts.theme import bars_of_labels, fixed_scale, palette, themed, tips, unit_scale
from evaluator.charts.vega import Chart, Frame, Piece, field, layer
from evaluator.data.boxes import AnyArray, FloatArray
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.confidence import Calibration

MOST_CURVES: Final = 6
"""More labels than this nobody can tell apart."""
# Six inks that keep apart in both themes; the label is at the end of its line, so colour is never the only sign.
_INKS: Final = {
    "light": ("#B45309", "#3F7D0B", "#1D4ED8", "#8A6116", "#0F7A83", "#A21CAF"),
    "dark": ("#FDBA74", "#A3D977", "#93B8FF", "#D9B872", "#67D3DB", "#F0A6F5"),
}
# Below 1 the axis begins a little under the lowest value, at a tenth.
_LABEL_GAP: Final = 0.062


class Point(NamedTuple):
    """A point of a curve: recall and precision; NaN where undefined."""

    recall: float
    precision: float


def label_curves(
    curves: Mapping[str, Curve], now: Mapping[str, Point], best: Mapping[str, Point], *, dark: bool
) -> Chart:
    """Return precision against recall, a line for each label with its name at the end.

    `curves`: by label, at most `MOST_CURVES`, without undefined points. `now`, `best`: points at the current score
    threshold (filled dot) and at the best one of the label (hollow dot). The precision axis begins at the tenth below
    the lowest value.
    """
    colours, inks = palette(dark=dark), _INKS["dark" if dark else "light"]
    names = list(curves)
    frame = _curve_points(curves)
    dots = [(name, kind, *points[name]) for kind, points in (("now", now), ("best", best)) for name in names]
    marks = _columns(
        ["label", "kind", "recall", "precision"], [dot for dot in dots if not np.isnan(np.array(dot[2:])).any()]
    )
    lowest = min([1.0, *frame["precision"].tolist(), *marks["precision"]])
    low = max(np.floor(lowest * 10 - 1e-9) / 10, 0.0) if lowest < 1.0 else 0.9
    colour = field("label:N", scale={"domain": names, "range": list(inks[: len(names)])}, legend=None)
    dot = _axes(low) | {"color": colour}
    tooltip = tips(
        label="Label", recall=("Recall", ".3f"), precision=("Precision", ".3f"), score=("Minimum score", ".3f")
    )
    line: Piece = dot | {"detail": field("label:N"), "order": field("order:Q"), "tooltip": tooltip}
    ends = _ends(curves, low)
    leader: Piece = {
        "x": field("from_recall:Q"),
        "x2": {"field": "to_recall"},
        "y": field("from_precision:Q"),
        "y2": {"field": "to_precision"},
        "color": colour,
    }
    word: Piece = {"x": field("to_recall:Q"), "y": field("to_precision:Q"), "text": field("label:N"), "color": colour}
    hollow: Piece = {"filled": False, "strokeWidth": 2, "fill": colours.surface}
    layers = [
        layer(frame, "line", line, strokeWidth=1.8, interpolate="step-before", clip=True),
        layer(ends, "rule", leader, strokeWidth=1, opacity=0.7),
        layer(ends, "text", word, align="left", dx=4, fontSize=12.5, fontWeight="bold", limit=120),
        layer(marks, "point", dot, keep="datum.kind == 'best'", size=80, opacity=1, **hollow),
        layer(marks, "point", dot, keep="datum.kind == 'now'", size=80, opacity=1, filled=True),
    ]
    return themed(layers, colours, height=330)


def _curve_points(curves: Mapping[str, Curve]) -> Mapping[str, AnyArray]:
    lengths = [len(curve.score) for curve in curves.values()]
    return {
        "label": np.repeat(np.array(list(curves), dtype=object), lengths),
        **{
            name: np.concatenate([np.empty(0), *(getattr(curve, name) for curve in curves.values())])
            for name in ("recall", "precision", "score")
        },
        "order": np.concatenate([np.empty(0, dtype=np.int64), *map(np.arange, lengths)]),
    }


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _axes(low: float) -> Piece:
    """Return recall from 0, with room for the names behind 1, and precision from a tenth."""
    steps = [tenth / 10 for tenth in range(round(10 * low), 11)]
    x_axis = {"values": [0, 0.25, 0.5, 0.75, 1.0], "format": ".2f", "grid": False}
    y_axis = {"values": steps, "format": ".1f", "grid": True}
    return {
        "x": field("recall:Q", title="Recall", scale=fixed_scale(0, 1.42), axis=x_axis),
        "y": field("precision:Q", title="Precision", scale=fixed_scale(low, 1.0), axis=y_axis),
    }


def _ends(curves: Mapping[str, Curve], low: float) -> Frame:
    """Return the places of the names beside the ends of the lines, moved apart where they would touch."""
    ends = [
        (name, float(curve.recall[-1]), float(curve.precision[-1]))
        for name, curve in curves.items()
        if len(curve.score)
    ]
    ends.sort(key=lambda end: -end[2])
    gap = _LABEL_GAP * (1.0 - low)
    rows, above = [], 1.0 + gap
    for place, (name, recall, precision) in enumerate(ends):
        # Room below for those that follow.
        at = max(min(precision, above - gap), low + gap * (len(ends) - 1 - place))
        above = at
        rows.append((name, recall, precision, 1.05, at))
    return _columns(["label", "from_recall", "from_precision", "to_recall", "to_precision"], rows)


def error_costs(
    titles: Sequence[str],
    costs: Mapping[str, FloatArray],
    counts: Mapping[str, Sequence[int]],
    *,
    baseline: str,
    dark: bool,
) -> Chart:
    """Return bars of what each kind of error costs, one bar per model.

    `costs`: by model, points of AP that the repair of all errors of the kind gains; NaN where undefined. `counts`:
    number of errors of the kind.
    """
    colours = palette(dark=dark, baseline=baseline)
    largest = max([1e-9, *(float(np.nanmax(points, initial=0.0)) for points in costs.values())])
    bars = bars_of_labels(
        titles,
        costs,
        "points",
        x=field("points:Q", title=None, scale=fixed_scale(0, largest * 1.16), axis={"tickCount": 4}),
        tooltip=tips(label="Error", model="Model", points=("Points of AP", ".2f"), count=("Errors", ",d")),
        colours=colours,
        thick=0.86,
        number=".1f",
        counts=counts,
    )
    return themed(bars, colours, height=250)


def reliability_bars(bins: Calibration, *, model: str, baseline: str, dark: bool) -> Chart:
    """Return the share of right boxes by bin of score, none for an empty bin, in the colour of `model`."""
    colours = palette(dark=dark, baseline=baseline)
    filled = ~(np.isnan(bins.accuracy) | np.isnan(bins.mean_confidence))
    frame = {
        "low": bins.low[filled],
        "high": bins.high[filled],
        "accuracy": bins.accuracy[filled],
        "confidence": bins.mean_confidence[filled],
        "boxes": bins.count[filled],
    }
    across: Piece = {
        "x": field(
            "low:Q", title=None, scale=unit_scale(), axis={"values": [0, 0.5, 1], "format": ".1f", "grid": False}
        ),
        "y": field("accuracy:Q", title=None, scale=unit_scale(), axis={"values": [0, 0.5, 1], "format": ".1f"}),
    }
    tooltip = tips(
        low=("Score from", ".1f"), high=("to", ".1f"), accuracy=("Right", ".3f"), confidence=("Mean score", ".3f"),
        boxes=("Boxes", ",d"),
    )  # fmt: skip
    bar: Piece = across | {"x2": {"field": "high"}, "y2": {"datum": 0}, "tooltip": tooltip}
    diagonal = {"low": [0.0, 1.0], "accuracy": [0.0, 1.0]}
    layers = [
        layer(frame, "bar", bar, color=colours.of(model), opacity=0.55, binSpacing=1, cornerRadius=0),
        layer(diagonal, "line", across, color=colours.text, strokeWidth=1, strokeDash=[4, 3]),
    ]
    return themed(layers, colours, height=250)
