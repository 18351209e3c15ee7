"""The one look of all charts: colours of both themes, fonts, axes; a model is a name and a colour, never one alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.charts.vega import Chart, Piece, chart, field, layer

_FONT: Final = '"Source Sans", sans-serif'
# Of a line; wider ones are cut here and whole in the tooltip.
_LABEL_PIXELS: Final = 172
# Cut before it is measured: the browser measures text of ten thousand characters again and again to find where to cut
# it. Marks that turn the direction of writing would act on the rest of the axis.
_CUT: Final = (
    "replace(length(datum.label) > 300 ? slice(datum.label, 0, 299) + '\u2026' : datum.label, "
    "regexp('[\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]', 'g'), '\ufffd')"
)
# A long name is broken into lines: behind a space, a hyphen or a slash, Chinese and Japanese anywhere, many capitals
# sooner. A text of a Vega expression loses the backslash of an escape that it does not know, so the hyphen is the last
# of its class.
_CAPITALS: Final = "[A-Z0-9 _/-]"
_LINES: Final = (
    f"((?={_CAPITALS}{{20}})(?:{_CAPITALS}{{8,18}}[ _/-]|{_CAPITALS}{{17,19}}))|"
    "([\\u2e80-\\ud7ff\\uf900-\\uffef]{1,13})|(.{1,26}$|.{1,25}[ _/-])|(.{1,26})"
)
_PARTED: Final = f"split(replace(replace({_CUT}, regexp('{_LINES}', 'g'), '$1$2$3$4\\n'), regexp('\\n+$'), ''), '\\n')"
# More than any name that somebody reads; what is longer is whole in the tooltip.
_MOST_LINES: Final = 12
_LINE_HEIGHT: Final = 12
_FIRST: Final = f"split(join(slice({_PARTED}, 0, {_MOST_LINES}), '\\n') + '\u2026', '\\n')"
_SHOWN: Final = f"length({_PARTED}) > {_MOST_LINES} ? {_FIRST} : {_PARTED}"

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
        """Return grey for the baseline, the accent for every other model."""
        return self.a if model == self.baseline else self.b


LIGHT: Final = Palette("#1B2430", "#566172", "#E3E6EB", "#FFFFFF", "#5B6675", "#1F5FA8")
DARK: Final = Palette("#E4E8ED", "#A3AEBB", "#2A323B", "#14181D", "#A3AEBB", "#7DB1F2")


def palette(*, dark: bool, baseline: str = "") -> Palette:
    """Return the colours of the light or the dark theme; `baseline` is the model that is drawn grey."""
    return (DARK if dark else LIGHT)._replace(baseline=baseline)


def model_colour(models: Iterable[str], colours: Palette) -> Piece:
    """Return colour by model without a legend: the names are beside the chart."""
    names = list(models)
    return field("model:N", scale={"domain": names, "range": [colours.of(model) for model in names]}, legend=None)


def fixed_scale(low: float, high: float) -> Piece:
    """Return a scale from one value to another, whatever is drawn."""
    return {"domain": [low, high], "nice": False}


def unit_scale() -> Piece:
    """Return a scale from 0 to 1, whatever is drawn."""
    return fixed_scale(0, 1)


def tips(**fields: str | tuple[str, str]) -> list[Piece]:
    """Return the tooltip of a mark: the title of each field, of a number with its format."""
    return [
        field(f"{name}:N", title=title)
        if isinstance(title, str)
        else field(f"{name}:Q", title=title[0], format=title[1])
        for name, title in fields.items()
    ]


def bars_of_labels(
    labels: Sequence[str],
    values: Mapping[str, Numbers],
    name: str,
    *,
    x: Piece,
    tooltip: list[Piece],
    colours: Palette,
    thick: float,
    number: str,
    pick: Piece | None = None,
    counts: Mapping[str, Sequence[int]] | None = None,
) -> list[Piece]:
    """Return horizontal bars of ``label``, one below another for each ``model``, and their numbers.

    Two layers. `labels` from top to bottom; `values` by model, NaN is not drawn; `name`: of the values in `x`,
    `tooltip` and `number`. `x`: encoding of the length. `thick`: share of the band. `number`: format. `pick`: the
    selection of a bar. `counts`: by model, ``count`` of the tooltip.
    """
    rows = [
        (label, model, value, counts[model][place] if counts else None)
        for place, label in enumerate(labels)
        for model, column in values.items()
        if not np.isnan(value := column[place].item())
    ]
    frame = dict(
        zip(
            ("label", "model", name, "count"),
            map(list, zip(*rows, strict=True)) if rows else ([], [], [], []),
            strict=True,
        )
    )
    base: Piece = {
        "y": field("label:N", sort=list(labels), title=None, axis=label_axis()),
        "yOffset": field("model:N", sort=list(values), scale={"paddingInner": 0}),
        "x": x,
        "tooltip": tooltip,
    }
    look: Piece = {"cornerRadius": 0, "height": {"band": thick}} | ({} if pick is None else {"cursor": "pointer"})
    bars = layer(frame, "bar", base | {"color": model_colour(values, colours)}, pick=pick, **look)
    text = base | {"text": field(f"{name}:Q", format=number)}
    return [bars, layer(frame, "text", text, align="left", dx=5, fontSize=12, color=colours.text)]


def name_height(labels: Iterable[str]) -> int:
    """Return the pixels that the longest of some names needs on a `label_axis`."""
    lines = max((len(re.findall(_LINES, label[:300])) for label in labels), default=1)
    return _LINE_HEIGHT * min(lines, _MOST_LINES)


def label_axis() -> Piece:
    """Return an axis of names: every one shown, long ones on several lines of a fixed width, not rotated."""
    lines = f"min(length({_PARTED}), {_MOST_LINES})"
    return {
        "labelExpr": _SHOWN,
        # Vega puts the first line of a label beside the middle of its bars; all of its lines belong there.
        "labelOffset": {
            "condition": {"test": f"{lines} > 1", "expr": f"-{_LINE_HEIGHT / 2:g} * ({lines} - 1)"},
            "value": 0,
        },
        "labelOverlap": False,
        "labelLimit": _LABEL_PIXELS,
        "labelLineHeight": _LINE_HEIGHT,
        "grid": False,
        "minExtent": 96,
    }


def themed(layers: Iterable[Piece], colours: Palette, *, height: int, width: int | None = None) -> Chart:
    """Return layers as a chart in the one theme: no frame, no ticks, muted text, hairlines."""
    config: Piece = {
        "background": "transparent",
        "font": _FONT,
        "padding": {"left": 2, "right": 8, "top": 6, "bottom": 2},
        "axis": {
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
        },
        "legend": {
            "labelColor": colours.muted, "labelFontSize": 12.5, "labelFont": _FONT, "title": None, "offset": 6
        },
        "view": {"stroke": None},
    }  # fmt: skip
    return chart(layers, config, height=height, width=width)
