"""The five posters of `posters.toml`: their words, type and figures, for `poster_layout.py` to set."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sample_data.generators.charts import BLUES, EARTH, TEALS, bars, flow_diagram, heat_matrix, lines, sideways_bars
from sample_data.generators.layout import Drawing, Figure, Theme
from sample_data.generators.markup import blocks_of
from sample_data.generators.photos import harbour, harvest_field, photo, school_yard
from sample_data.generators.poster_layout import Part, Person, Sheet

RAMPS = {"blues": BLUES, "earth": EARTH, "teals": TEALS, "wine": [(0.48, 0.14, 0.26)], "olive": [(0.30, 0.36, 0.16)]}
COLORS = {f"{name}-{number}": color for name, ramp in RAMPS.items() for number, color in enumerate(ramp)}
CHARTS: dict[str, Callable[..., Drawing]] = {
    chart.__name__: chart for chart in (bars, flow_diagram, heat_matrix, lines, sideways_bars)
}
PHOTOS = {picture.__name__: picture for picture in (harbour, harvest_field, school_yard)}


def read_sheet(entry: dict[str, Any]) -> Sheet:
    """One poster of `posters.toml`."""
    figures = {name: read_figure(arguments) for name, arguments in entry.pop("figures").items()}
    parts = [[text.partition("\n") for text in column.split("## ")[1:]] for column in entry["columns"]]
    entry["columns"] = [[Part(title, list(blocks_of(body, figures))) for title, _, body in column] for column in parts]
    entry["people"] = [Person(*each) for each in entry["people"]]
    entry["theme"] = Theme(**entry["theme"] | {"accent": COLORS[entry["theme"]["accent"]]})
    return Sheet(**entry)


def read_figure(arguments: dict[str, Any]) -> Figure:
    """Return a figure: the name of its drawing, its height, whether it grows, and the arguments of the drawing."""
    name, tall, grow = arguments.pop("drawing"), arguments.pop("tall"), arguments.pop("grow", True)
    if name in PHOTOS:
        return Figure(photo(PHOTOS[name](**arguments)), tall, grow)
    if "color" in arguments:
        arguments["color"] = COLORS[arguments["color"]]
    if "colors" in arguments:
        arguments["colors"] = [COLORS[each] for each in arguments["colors"]]
    return Figure(CHARTS[name](**arguments), tall, grow)


_CONTENT = tomllib.loads(Path(__file__).with_name("posters.toml").read_text(encoding="utf-8"))
SHEETS = tuple(read_sheet(entry) for entry in _CONTENT["posters"])
