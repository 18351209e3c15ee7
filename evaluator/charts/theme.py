"""The one look of all charts: colours of the light and the dark theme, fonts, axes.

Owns what every chart shares; what a chart shows is its own module's. Models are a name and a colour (the baseline grey,
any other the accent), never a colour alone; what they are called, and which is the baseline, is up to the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

_FONT: Final = '"Source Sans", sans-serif'
# Longer labels are cut here and whole in the tooltip.
_LABEL_PIXELS: Final = 130
# Cut before it is measured: the browser measures text of ten thousand characters again and again to find where to cut
# it. Marks that turn the direction of writing would act on the rest of the axis.
_SHOWN: Final = (
    "replace(length(datum.label) > 60 ? slice(datum.label, 0, 59) + '\u2026' : datum.label, "
    "regexp('[\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]', 'g'), '\ufffd')"
)

Chart = alt.LayerChart | alt.FacetChart
Numbers = npt.NDArray[Any]


class Palette(NamedTuple):
    """Colours of one theme; every pair was checked for contrast on its background."""

    text: str
    muted: str
    grid: str
    surface: str
    a: str
    b: str
    baseline: str = ""

    def of(self, model: str) -> str:
        """Grey for the baseline, the accent for every other model."""
        return self.a if model == self.baseline else self.b


LIGHT: Final = Palette("#1B2430", "#566172", "#E3E6EB", "#FFFFFF", "#5B6675", "#1F5FA8")
DARK: Final = Palette("#E4E8ED", "#A3AEBB", "#2A323B", "#14181D", "#A3AEBB", "#7DB1F2")


def palette(*, dark: bool, baseline: str = "") -> Palette:
    """The colours of the light or the dark theme, and the name of the model that is drawn grey."""
    return (DARK if dark else LIGHT)._replace(baseline=baseline)


def model_colour(models: Iterable[str], colours: Palette) -> alt.Color:
    """Colour by model without a legend: the names stand beside the chart."""
    names = list(models)
    scale = alt.Scale(domain=names, range=[colours.of(model) for model in names])
    return alt.Color("model:N", scale=scale, legend=None)


def unit_scale() -> alt.Scale:
    """From 0 to 1, whatever is drawn."""
    return alt.Scale(domain=[0, 1], nice=False)


def tips(**fields: str | tuple[str, str]) -> list[alt.Tooltip]:
    """What a mark says: the title of each field; a number has its format beside it."""
    return [
        alt.Tooltip(f"{name}:N", title=title)
        if isinstance(title, str)
        else alt.Tooltip(f"{name}:Q", title=title[0], format=title[1])
        for name, title in fields.items()
    ]


def bars_of_labels(
    labels: Sequence[str],
    values: Mapping[str, Numbers],
    name: str,
    *,
    x: alt.X,
    tooltip: list[alt.Tooltip],
    colours: Palette,
    thick: float,
    number: alt.Text,
    pick: alt.Parameter | None = None,
    counts: Mapping[str, Sequence[int]] | None = None,
) -> Chart:
    """Horizontal bars of ``label``, one for each ``model`` below each other, with their numbers behind them.

    Parameters
    ----------
    labels : sequence of str
        From top to bottom.
    values : mapping of array, shape (len(labels),)
        By model, in order; NaN is not drawn.
    name : str
        What the values are called in `x`, `tooltip` and `number`.
    x : X
        Length of the bars.
    thick : float
        Thickness of a bar as a share of its band.
    pick : Parameter, optional
        The selection that a bar makes.
    counts : mapping of sequences of int, optional
        By model, ``count`` of the tooltip.
    """
    rows = [
        (label, model, value, counts[model][place] if counts else None)
        for place, label in enumerate(labels)
        for model, column in values.items()
        if not np.isnan(value := column[place].item())
    ]
    base = alt.Chart(pd.DataFrame(rows, columns=["label", "model", name, "count"])).encode(
        y=alt.Y("label:N", sort=list(labels), title=None, axis=label_axis()),
        yOffset=alt.YOffset("model:N", sort=list(values), scale=alt.Scale(paddingInner=0)),
        x=x,
        tooltip=tooltip,
    )
    cursor = alt.Undefined if pick is None else "pointer"
    bars = base.mark_bar(cornerRadius=0, height={"band": thick}, cursor=cursor)  # type: ignore[arg-type]
    bars = bars.encode(color=model_colour(values, colours))
    numbers = base.mark_text(align="left", dx=5, fontSize=12, color=colours.text).encode(text=number)
    layers: Chart = alt.layer(bars if pick is None else bars.add_params(pick), numbers)
    return layers


def label_axis() -> alt.Axis:
    """An axis of names: every one shown, cut at a fixed width, never rotated."""
    return alt.Axis(labelExpr=_SHOWN, labelOverlap=False, labelLimit=_LABEL_PIXELS, grid=False, minExtent=96)


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
