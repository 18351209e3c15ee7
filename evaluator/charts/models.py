"""Charts of many models: one measure over the dates of their runs.

Owns how the chart looks; what it shows comes ready from ``compare.models``. Field names are fixed words and data are
cells, so the name of a model is never read as an expression.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from evaluator.charts.theme import palette, themed, tips
from evaluator.charts.vega import Chart, Piece, field, layer


class Dated(NamedTuple):
    """A model with a date.

    Attributes
    ----------
    name : str
        As it is shown.
    family : str
        Runs of one family are joined by a line.
    letter : str
        "A", "B" or empty.
    date : str
        The day, as ``2026-02-22``.
    value : float
    low, high : float or None
        Its interval.
    """

    name: str
    family: str
    letter: str
    date: str
    value: float
    low: float | None
    high: float | None


def over_dates(models: list[Dated], *, title: str, dark: bool, height: int = 300) -> Chart:
    """A measure against the date of the run, with whiskers and the names of the models.

    Parameters
    ----------
    models : list of Dated
        At least one.
    title : str
        Of the measure.
    height : int
        In pixels.
    """
    colours = palette(dark=dark)
    frame = pd.DataFrame(models, columns=Dated._fields)
    frame["date"] = pd.to_datetime(frame["date"])
    frame["shown"] = [f"{letter} {name}".strip() for letter, name in zip(frame["letter"], frame["name"], strict=True)]
    ink = field(
        "letter:N", scale={"domain": ["", "A", "B"], "range": [colours.text, colours.a, colours.b]}, legend=None
    )
    x_axis = {"format": "%Y-%m-%d", "tickCount": 4, "labelOverlap": True, "grid": False}
    x = field("date:T", title=None, axis=x_axis)
    y = field("value:Q", title=title, scale={"zero": False}, axis={"format": ".2f"})
    tooltip = tips(shown="Model", value=(title, ".3f"), low=("from", ".3f"), high=("to", ".3f"))
    whisker: Piece = {"x": x, "y": field("low:Q"), "y2": {"field": "high"}, "color": ink}
    names: Piece = {"x": x, "y": y, "text": field("shown:N"), "color": ink}
    layers = [
        layer(frame, "line", {"x": x, "y": y, "detail": field("family:N")}, strokeWidth=1.4, color=colours.muted),
        layer(frame, "rule", whisker, strokeWidth=1.4),
        layer(frame, "point", {"x": x, "y": y, "color": ink, "tooltip": tooltip}, filled=True, size=70, opacity=1),
        layer(frame, "text", names, align="left", dx=8, dy=-7, fontSize=12.5, limit=140),
    ]
    return themed(layers, colours, height=height)
