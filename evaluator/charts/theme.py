"""The one look of all charts: colours of the light and the dark theme, fonts, axes.

Owns what every chart shares; what a chart shows is its own module's. Models are a letter and a colour (A grey bars, B
accent), never a colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import altair as alt

_FONT: Final = '"Source Sans", sans-serif'
# Longer labels are cut here and whole in the tooltip.
_LABEL_PIXELS: Final = 130


Chart = alt.LayerChart | alt.FacetChart


class Palette(NamedTuple):
    """Colours of one theme; every pair was checked for contrast on its background."""

    text: str
    muted: str
    grid: str
    surface: str
    a: str
    b: str


LIGHT: Final = Palette("#1B2430", "#566172", "#E3E6EB", "#FFFFFF", "#5B6675", "#1F5FA8")
DARK: Final = Palette("#E4E8ED", "#A3AEBB", "#2A323B", "#14181D", "#A3AEBB", "#7DB1F2")


def palette(*, dark: bool) -> Palette:
    """The colours of the light or the dark theme."""
    return DARK if dark else LIGHT


def colour_of(letter: str, colours: Palette) -> str:
    """Grey for the baseline A, the accent for every other model."""
    return colours.a if letter == "A" else colours.b


def model_colour(letters: Sequence[str], colours: Palette) -> alt.Color:
    """Colour by model without a legend: the letters stand beside the chart."""
    scale = alt.Scale(domain=list(letters), range=[colour_of(letter, colours) for letter in letters])
    return alt.Color("model:N", scale=scale, legend=None)


def label_axis() -> alt.Axis:
    """An axis of names: every one shown, cut at a fixed width, never rotated."""
    return alt.Axis(labelOverlap=False, labelLimit=_LABEL_PIXELS, grid=False, minExtent=96)


def themed(chart: Chart, colours: Palette) -> Chart:
    """The chart in the one theme: no frame, no ticks, muted text, horizontal or vertical hairlines."""
    axis: dict[str, Any] = {
        "labelFont": _FONT,
        "labelFontSize": 12.5,
        "labelColor": colours.muted,
        "titleColor": colours.muted,
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "domain": False,
        "ticks": False,
        "gridColor": colours.grid,
        "labelPadding": 6,
    }
    finished: Chart = (
        chart.configure(background="transparent", font=_FONT, padding={"left": 2, "right": 8, "top": 6, "bottom": 2})
        .configure_axis(**axis)
        .configure_legend(labelColor=colours.muted, labelFontSize=12.5, labelFont=_FONT, title=None, offset=6)
        .configure_view(stroke=None)
    )
    return finished
