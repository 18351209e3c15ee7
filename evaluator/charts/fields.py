"""Charts of extracted fields: AP against the IoU threshold, reliability of the confidence, review budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from evaluator.charts.theme import Palette, fixed_scale, model_colour, palette, themed, tips, unit_scale
from evaluator.charts.vega import Chart, Frame, Piece, field, layer, picked
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.metrics.confidence import Calibration

# Points of the review curve; more than this nobody sees.
_REVIEW_POINTS: Final = 200
# Pixels left of charts that are above each other.
_LEFT: Final = 34


def ap_against_iou(
    iou: Sequence[float],
    curves: Mapping[str, FloatArray],
    others: Mapping[str, FloatArray],
    *,
    current: float,
    baseline: str,
    dark: bool,
) -> Chart:
    """Return AP against the IoU threshold: a line for each model, pale ones for `others`, the fields.

    `iou` rises; `current` is the threshold of the view. Undefined values leave a gap. Selection ``field``.
    """
    colours = palette(dark=dark, baseline=baseline)
    place: Piece = {
        "x": field("iou:Q", title="IoU threshold", scale=fixed_scale(iou[0], iou[-1]), axis=_axis(".2f")),
        "y": field("ap:Q", title=None, scale=unit_scale(), axis=_ratio_axis()),
    }
    tooltip = tips(name="Field", iou=("IoU threshold", ".2f"), ap=("AP", ".3f"))
    pale: Piece = place | {"detail": field("name:N"), "tooltip": tooltip}
    look: Piece = {"strokeWidth": 1.4, "color": colours.muted, "opacity": 0.28, "cursor": "pointer"}
    lines = _long("model", iou, curves)
    layers = [
        layer(_long("name", iou, others), "line", pale, pick=picked("field", ["name"]), **look),
        layer(lines, "line", place | {"color": model_colour(curves, colours)}, strokeWidth=2.4),
        _starts(iou, curves, colours),
        layer({"iou": [current]}, "rule", {"x": field("iou:Q")}, strokeDash=[3, 3], color=colours.text),
    ]
    return themed(layers, colours, height=236)


def reliability(bins: Mapping[str, Calibration], *, baseline: str, dark: bool) -> Chart:
    """Return the share of right values against the confidence, bin by bin.

    Empty bins have no point. Point selection ``bin`` with ``bin`` and ``model``. As wide on the left as `bin_counts`,
    so that one can be above the other.
    """
    colours = palette(dark=dark, baseline=baseline)
    axis = {"labels": False, "grid": False, "values": [0, 0.5, 1]}
    base, filled = (
        {
            "x": field("confidence:Q", title=None, scale=unit_scale(), axis=axis),
            "y": field("accuracy:Q", title=None, scale=unit_scale(), axis=_ratio_axis()),
            "color": model_colour(bins, colours),
            "tooltip": _bin_tooltip(),
        },
        _filled(bins),
    )
    layers = [
        _diagonal("confidence", "accuracy", colours),
        layer(filled, "line", base, strokeWidth=1.8, opacity=0.6),
        layer(filled, "point", base, pick=_bin_picked(), filled=True, size=80, opacity=1, cursor="pointer"),
    ]
    return themed(layers, colours, height=170)


def bin_counts(bins: Mapping[str, Calibration], *, baseline: str, dark: bool) -> Chart:
    """Return the number of values in each bin of confidence, side by side; selection as in `reliability`."""
    colours, filled = palette(dark=dark, baseline=baseline), _filled(bins)
    share = 0.1 / len(bins)
    place: Piece = {model: order * share for order, model in enumerate(bins)}
    start = filled["low"] + filled["model"].map(place).astype(float)
    filled = filled.assign(left=start + 0.006, right=start + share - 0.006, centre=filled["low"] + 0.05)
    largest = int(filled["values"].max()) if len(filled) else 1
    top = largest * (1.25 + 0.35 * len(bins))
    y_axis = {"grid": False, "tickCount": 2, "format": "~s", "minExtent": _LEFT, "maxExtent": _LEFT}
    bar: Piece = {
        "x": field("left:Q", title="Confidence", scale=unit_scale(), axis=_axis(".1f")),
        "x2": {"field": "right"},
        "y": field("values:Q", title=None, scale=fixed_scale(0, top), axis=y_axis),
        "y2": {"datum": 0},
        "color": model_colour(bins, colours),
        "tooltip": _bin_tooltip(),
    }
    # One row of numbers for each model: side by side they would run into each other.
    numbers = [
        layer(
            filled[filled["model"] == model],
            "text",
            {
                "x": field("centre:Q"),
                "y": {"datum": top * (0.93 - 0.17 * row)},
                "text": field("values:Q", format="~s"),
                "tooltip": _bin_tooltip(),
            },
            fontSize=12,
            color=colours.of(model),
        )
        for row, model in enumerate(bins)
    ]
    bars = layer(filled, "bar", bar, pick=_bin_picked(), cornerRadius=0, cursor="pointer")
    return themed([bars, *numbers], colours, height=150)


def review_budget(
    curves: Mapping[str, IntArray], *, budget: float, baseline: str, dark: bool, height: int = 230
) -> Chart:
    """Return the share of errors that a review finds against the share of values that it looks at.

    `curves`: int64 (N + 1,), errors in the k least certain values, from ``confidence.review_curve``; a model without
    errors has no line. `budget` in [0, 1].
    """
    colours = palette(dark=dark, baseline=baseline)
    nothing = pd.DataFrame({"model": [], "reviewed": [], "caught": []})
    frame = pd.concat([nothing, *(_review(model, curve) for model, curve in curves.items())], ignore_index=True)
    x_axis, y_axis = {"format": ".0%", "grid": False, "tickCount": 5}, {"format": ".0%", "tickCount": 4}
    line: Piece = {
        "x": field("reviewed:Q", title="Reviewed, least confident first", scale=unit_scale(), axis=x_axis),
        "y": field("caught:Q", title="Errors caught", scale=unit_scale(), axis=y_axis),
        "color": model_colour(curves, colours),
        "tooltip": tips(model="Model", reviewed=("Reviewed", ".1%"), caught=("Errors caught", ".1%")),
        "order": field("reviewed:Q"),
    }
    share = pd.DataFrame({"reviewed": [budget]})
    layers = [
        _diagonal("reviewed", "caught", colours),
        layer(frame, "line", line, strokeWidth=2.2),
        layer(share, "rule", {"x": field("reviewed:Q")}, strokeWidth=1.4, color=colours.text),
    ]
    return themed(layers, colours, height=height)


def _axis(form: str) -> Piece:
    return {"format": form, "grid": False, "tickCount": 5}


def _ratio_axis() -> Piece:
    return {"format": ".2f", "values": [0, 0.25, 0.5, 0.75, 1], "minExtent": _LEFT, "maxExtent": _LEFT}


def _long(of: str, iou: Sequence[float], curves: Mapping[str, FloatArray]) -> Frame:
    """Return one row per name and threshold; the column of the names is called `of`."""
    return {
        of: np.array([name for name in curves for _ in iou], dtype=object),
        "iou": np.tile(np.asarray(iou, dtype=np.float64), len(curves)),
        "ap": np.concatenate([np.empty(0), *curves.values()]),
    }


def _starts(iou: Sequence[float], curves: Mapping[str, FloatArray], colours: Palette) -> Piece:
    """Return the name of each model at the start of its line, where lines are furthest apart."""
    first = {name: int(np.argmin(np.isnan(curve))) for name, curve in curves.items() if not np.isnan(curve).all()}
    frame: Frame = {
        "model": np.array(list(first), dtype=object),
        "iou": np.array([iou[at] for at in first.values()], dtype=np.float64),
        "ap": np.array([curves[name][at] for name, at in first.items()], dtype=np.float64),
    }
    name: Piece = {
        "x": field("iou:Q"),
        "y": field("ap:Q"),
        "text": field("model:N"),
        "color": model_colour(first, colours),
    }
    return layer(frame, "text", name, align="left", dx=4, dy=-9, fontWeight=700, fontSize=12.5)


def _diagonal(across: str, up: str, colours: Palette) -> Piece:
    corners = pd.DataFrame({across: [0.0, 1.0], up: [0.0, 1.0]})
    place: Piece = {"x": field(f"{across}:Q"), "y": field(f"{up}:Q")}
    return layer(corners, "line", place, strokeDash=[4, 4], strokeWidth=1.2, color=colours.muted)


def _filled(bins: Mapping[str, Calibration]) -> pd.DataFrame:
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


def _bin_picked() -> Piece:
    return picked("bin", ["bin", "model"])


def _bin_tooltip() -> list[Piece]:
    means = {"confidence": ("Mean confidence", ".3f"), "accuracy": ("Share of right values", ".3f")}
    return tips(model="Model", range="Confidence", **means, values=("Values", ",d"))


def _review(model: str, caught: IntArray) -> pd.DataFrame:
    total, errors = len(caught) - 1, int(caught[-1])
    places = np.unique(np.linspace(0, total, min(total, _REVIEW_POINTS) + 1).round().astype(np.int64))
    points = pd.DataFrame(
        {"model": model, "reviewed": places / max(total, 1), "caught": caught[places] / max(errors, 1)}
    )
    return points if errors else points.head(0)
