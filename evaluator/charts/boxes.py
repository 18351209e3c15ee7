"""Charts of boxes: mistakes by label, and how well matched boxes fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.charts.theme import bars_of_labels, fixed_scale, name_height, palette, themed, tips
from evaluator.charts.vega import Chart, Frame, Piece, brushed, field, layer, picked
from evaluator.data.boxes import FloatArray, IntArray

HISTOGRAM_BINS: Final = 20


def mistakes_by_label(
    labels: Sequence[str],
    mistakes: Mapping[str, IntArray],
    *,
    baseline: str,
    dark: bool,
    height: int,
    top: int = 12,
    what: str = "Mistakes",
) -> Chart:
    """Return bars of mistakes per label, most first, one bar per model, of the `top` labels.

    `mistakes`: int64 (len(labels),) by model, called `what`. `height` in pixels; names of several lines may need more.
    Point selection ``label`` with ``label`` and ``model`` of one bar; empty axes for no labels.
    """
    colours = palette(dark=dark, baseline=baseline)
    total = sum(mistakes.values(), np.zeros(len(labels), dtype=np.int64))
    shown = [int(row) for row in np.argsort(-total, kind="stable")[:top] if total[row]]
    largest = max((int(counts[row]) for counts in mistakes.values() for row in shown), default=1)
    # Room for the number behind the longest bar.
    scale, axis = fixed_scale(0, largest * 1.14), {"tickMinStep": 1, "tickCount": 4, "format": ",d"}
    bars = bars_of_labels(
        [labels[row] for row in shown],
        {model: counts[shown] for model, counts in mistakes.items()},
        "mistakes",
        x=field("mistakes:Q", title=None, scale=scale, axis=axis),
        tooltip=tips(label="Label", model="Model", mistakes=(what, ",d")),
        colours=colours,
        thick=0.86,
        number=",d",
        pick=picked("label", ["label", "model"]),
    )
    rows, named = max(len(shown), 1), name_height(labels[row] for row in shown)
    # Names of several lines must be apart, so that each is seen to be that of its bars.
    height = max(min(height, rows * (18 * len(mistakes) + 8) + 34), rows * (named + 8) + 34)
    return themed(bars, colours, height=height)


def histogram(values: Mapping[str, FloatArray], *, low: float, baseline: str, dark: bool, height: int = 130) -> Chart:
    """Return the histogram of a ratio of matched boxes: first model as bars, second as stepped line.

    `values` in [0, 1]; those below `low`, the left end of the axis, are not drawn. 20 bins from `low` to 1, with an
    interval selection ``range`` on x.
    """
    colours = palette(dark=dark, baseline=baseline)
    edges = np.linspace(low, 1.0, HISTOGRAM_BINS + 1)
    x_axis = {"format": ".2f", "values": [low, (low + 1) / 2, 1.0], "labelFlush": True, "grid": False}
    across: Piece = {
        "x": field("start:Q", title=None, scale=fixed_scale(low, 1.0), axis=x_axis),
        "y": field("boxes:Q", title=None, axis={"tickCount": 3, "tickMinStep": 1, "format": ",d"}),
    }
    tooltip = tips(model="Model", start=("From", ".3f"), stop=("To", ".3f"), boxes=("Matched boxes", ",d"))
    layers: list[Piece] = []
    look: Piece
    for model, column in values.items():
        # Of even bins numpy looks each place up; `edges` would be searched for every box.
        boxes = np.histogram(column, bins=HISTOGRAM_BINS, range=(low, 1.0))[0]
        if not layers:
            encoding = across | {"x2": {"field": "stop"}, "y2": {"datum": 0}, "tooltip": tooltip}
            look = {"color": colours.of(model), "opacity": 1.0 if len(values) == 1 else 0.45, "binSpacing": 1}
            bins = _bins(edges[:-1], edges[1:], model, boxes)
            layers.append(layer(bins, "bar", encoding, pick=brushed("range", ["x"]), cornerRadius=0, **look))
        else:
            # One more point, so that the last step is drawn to the end of the axis.
            stop, boxes = np.append(edges[1:], edges[-1]), np.append(boxes, boxes[-1])
            encoding = across | {"order": field("start:Q")}
            look = {"color": colours.of(model), "strokeWidth": 2, "interpolate": "step-after", "clip": True}
            layers.append(layer(_bins(edges, stop, model, boxes), "line", encoding, **look))
    return themed(layers, colours, height=height)


def _bins(start: FloatArray, stop: FloatArray, model: str, boxes: IntArray) -> Frame:
    return {"start": start, "stop": stop, "model": [model] * len(start), "boxes": boxes}
