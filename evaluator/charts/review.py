"""The chart of a review: how the half width of the interval falls with the number of reviewed pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from evaluator.charts.theme import model_colour, palette, themed, tips
from evaluator.charts.vega import Chart, Piece, field, layer

Points = Sequence[tuple[int, float]]


def half_width(
    courses: Mapping[str, tuple[Points, Points]], *, margin: float, baseline: str, dark: bool
) -> Chart:  # fmt: skip
    """Return the half width in points against reviewed pages, solid so far, dashed as expected.

    `courses`: by model pages and half width as a ratio, so far and as expected; see
    `evaluator.analysis.suspects.review_plan.Course`. `margin`: where the review may stop, as a ratio.
    """
    colours = palette(dark=dark, baseline=baseline)
    rows = [
        (model, part, pages, 100.0 * half)
        for model, course in courses.items()
        for part, points in zip(("so far", "expected"), course, strict=True)
        for pages, half in points
    ]
    frame = pd.DataFrame(rows, columns=["model", "part", "pages", "points"])
    highest = max((points for *_, points in rows), default=0.0)
    line: Piece = {
        "x": field("pages:Q", title="Pages reviewed", axis={"tickMinStep": 1}, scale={"zero": True}),
        # The text of the wanted margin lies above its line.
        "y": field(
            "points:Q", title="± points", scale={"zero": True, "domainMax": 1.12 * max(highest, 100.0 * margin)}
        ),
        "color": model_colour(courses, colours),
        "strokeDash": field("part:N", scale={"domain": ["so far", "expected"], "range": [[1, 0], [5, 4]]}, legend=None),
        "tooltip": tips(model="Model", part="Part", pages=("Pages", "d"), points=("± points", ".1f")),
    }
    wanted = pd.DataFrame({"points": [100.0 * margin], "text": [f"±{100 * margin:g}"]})
    last = frame[frame["part"] == "so far"].groupby("model", as_index=False).last()
    dot: Piece = {"x": field("pages:Q"), "y": field("points:Q"), "color": model_colour(courses, colours)}
    layers = [
        layer(frame, "line", line, strokeWidth=2),
        layer(wanted, "rule", {"y": field("points:Q")}, color=colours.muted, strokeDash=[2, 2]),
        layer(
            wanted,
            "text",
            {"y": field("points:Q"), "x": {"value": 0}, "text": field("text:N")},
            align="left",
            baseline="bottom",
            dx=3,
            color=colours.muted,
        ),
        # Of no point the browser cannot say how far it reaches, and warns in its console.
        *([layer(last, "point", dot, filled=True, size=70)] if len(last) else []),
    ]
    return themed(layers, colours, height=170)
