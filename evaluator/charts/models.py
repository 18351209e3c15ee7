"""Charts of many models: one measure over their runs."""

from __future__ import annotations

import re
from typing import NamedTuple

import pandas as pd

from evaluator.charts.theme import palette, themed, tips
from evaluator.charts.vega import Chart, Piece, field, layer


class Placed(NamedTuple):
    """A model with a date or a run_id: `place` is the day, ``2026-02-22``, or the run_id.

    Runs of one `family` are joined by a line; `letter` is "A", "B" or empty; `low` and `high` are its interval.
    """

    name: str
    family: str
    letter: str
    place: str
    value: float
    low: float | None
    high: float | None


def over_runs(models: list[Placed], *, dated: bool, title: str, dark: bool) -> Chart:
    """Return a measure against the runs of one or more models, with whiskers and names.

    Places are dates if `dated`, else run_ids, in which numbers count as numbers (run-9 before run-10).
    """
    colours = palette(dark=dark)
    frame = pd.DataFrame(models, columns=Placed._fields)
    frame["shown"] = [f"{letter} {name}".strip() for letter, name in zip(frame["letter"], frame["name"], strict=True)]
    ink = field(
        "letter:N", scale={"domain": ["", "A", "B"], "range": [colours.text, colours.a, colours.b]}, legend=None
    )
    if dated:
        frame["place"] = pd.to_datetime(frame["place"])
        axis = {"format": "%Y-%m-%d", "tickCount": 4, "labelOverlap": True, "grid": False}
        x = field("place:T", title=None, axis=axis)
    else:
        order = sorted({model.place for model in models}, key=_by_numbers)
        frame["order"] = [order.index(model.place) for model in models]
        axis = {"labelAngle": 0, "labelLimit": 120, "labelOverlap": True, "grid": False}
        x = field("place:N", title=None, axis=axis, sort=order, scale={"padding": 0.5})
    y = field("value:Q", title=title, scale={"zero": False}, axis={"format": ".2f"})
    tooltip = tips(shown="Model", value=(title, ".3f"), low=("from", ".3f"), high=("to", ".3f"))
    whisker: Piece = {"x": x, "y": field("low:Q"), "y2": {"field": "high"}, "color": ink}
    names: Piece = {"x": x, "y": y, "text": field("shown:N"), "color": ink}
    line: Piece = {"x": x, "y": y, "detail": field("family:N")}
    if not dated:
        line["order"] = field("order:Q")
    layers = [
        layer(frame, "line", line, strokeWidth=1.4, color=colours.muted),
        layer(frame, "rule", whisker, strokeWidth=1.4),
        layer(frame, "point", {"x": x, "y": y, "color": ink, "tooltip": tooltip}, filled=True, size=70, opacity=1),
        layer(frame, "text", names, align="left", dx=8, dy=-7, fontSize=12.5, limit=140),
    ]
    return themed(layers, colours, height=300)


def _by_numbers(run: str) -> list[tuple[bool, int, str]]:
    """Return a key that sorts digits as the number that they write."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", run)]
