"""The chart of a review: how the half width of the interval falls with the number of reviewed pages.

Owns its look; the numbers come ready from `evaluator.suspects.planning.course`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from evaluator.charts.theme import Chart, model_colour, palette, themed, tips

Points = Sequence[tuple[int, float]]


def half_width(
    courses: Mapping[str, tuple[Points, Points]], *, margin: float, baseline: str, dark: bool, height: int = 170
) -> Chart:  # fmt: skip
    """The half width in points against reviewed pages: solid as it was, dashed as expected, and the wanted margin.

    Parameters
    ----------
    courses : mapping of (points, points)
        By model: pages and half width as a ratio, so far and as expected; see `evaluator.suspects.planning.Course`.
    margin : float
        Where the review may stop, as a ratio.
    baseline : str
        The model that is drawn grey.
    height : int
        In pixels.
    """
    colours = palette(dark=dark, baseline=baseline)
    rows = [
        (model, part, pages, 100.0 * half)
        for model, course in courses.items()
        for part, points in zip(("so far", "expected"), course, strict=True)
        for pages, half in points
    ]
    frame = pd.DataFrame(rows, columns=["model", "part", "pages", "points"])
    dash = alt.StrokeDash("part:N", scale=alt.Scale(domain=["so far", "expected"], range=[[1, 0], [5, 4]]), legend=None)
    x = alt.X("pages:Q", title="Pages reviewed", axis=alt.Axis(tickMinStep=1))
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=x,
            y=alt.Y("points:Q", title="± points", scale=alt.Scale(zero=True)),
            color=model_colour(courses, colours),
            strokeDash=dash,
            tooltip=tips(model="Model", part="Part", pages=("Pages", "d"), points=("± points", ".1f")),
        )
    )
    wanted = pd.DataFrame({"points": [100.0 * margin], "text": [f"±{100 * margin:g}"]})
    rule = alt.Chart(wanted).mark_rule(color=colours.muted, strokeDash=[2, 2]).encode(y="points:Q")
    label = (
        alt.Chart(wanted)
        .mark_text(align="right", baseline="bottom", dx=-2, color=colours.muted, x="width")
        .encode(y="points:Q", text="text:N")
    )
    last = frame[frame["part"] == "so far"].groupby("model", as_index=False).last()
    dots = alt.Chart(last).mark_point(filled=True, size=70).encode(
        x=x, y="points:Q", color=model_colour(courses, colours)
    )  # fmt: skip
    return themed(alt.layer(rule, label, lines, dots).properties(height=height), colours)
