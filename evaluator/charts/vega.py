"""Vega-Lite specifications as plain dicts: encodings, layers, and a chart with its data beside it.

Data are columns, in Arrow, named by the digest of their content: field names are fixed words and data are cells, so
that a label is never read as an expression.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

if TYPE_CHECKING:
    # Both take longer to import than a view to draw.
    import altair as alt
    import pandas as pd

_LINES: Final = ("line", "rule")
_TYPES: Final = {"Q": "quantitative", "N": "nominal", "O": "ordinal", "T": "temporal"}

Piece = dict[str, Any]
"""A part of a specification, as JSON has it."""
AltairChart: TypeAlias = "alt.LayerChart"
Frame: TypeAlias = "pd.DataFrame | Mapping[str, Any]"
"""The rows of marks: a frame of pandas, or lists and arrays of one length, which are made sooner."""


class Chart(NamedTuple):
    """A chart for the browser: Vega-Lite as JSON, and Arrow streams by the names in it; undefined is null."""

    spec: Piece
    data: dict[str, bytes]

    def to_altair(self) -> AltairChart:
        """Return it as a chart of Altair, with its data inside."""
        import altair as alt

        rows = {name: pa.ipc.open_stream(content).read_all().to_pylist() for name, content in self.data.items()}
        return alt.LayerChart.from_dict({**self.spec, "datasets": rows})


def field(shorthand: str, **options: Any) -> Piece:  # noqa: ANN401 - as JSON has it
    """Return an encoding by a field: ``name:Q`` is a number, ``:N`` a name, ``:O`` an order, ``:T`` a date."""
    name, _, kind = shorthand.partition(":")
    return {"field": name, "type": _TYPES[kind], **options}


def layer(
    frame: Frame,
    mark: str,
    encoding: Piece,
    *,
    keep: str | None = None,
    pick: Piece | None = None,
    **look: Any,  # noqa: ANN401 - as JSON has it
) -> Piece:
    """Return one mark ("bar", "line", "point", "rect", "rule", "text", "tick") for each row of a table.

    Columns of `frame` are the fields; NaN is undefined. `encoding` by channel. `keep`: an expression, which rows are
    drawn. `pick`: the selection over this layer, from `picked` or `brushed`. `look`: properties of the mark; `opacity`
    is of its area, or of its line where it has no area.
    """
    if (pale := look.get("opacity", 1)) != 1:
        # A mark with an opacity of its own is a layer of its own to the browser, and thousands of them are sorted for
        # every frame of whatever else is on the page. Vega-Lite's own opacity of points is 0.7.
        inked = "strokeOpacity" if mark in _LINES or look.get("filled") is False else "fillOpacity"
        look |= {"opacity": 1, inked: pale}
    piece: Piece = {"data": frame, "mark": {"type": mark, **look}, "encoding": encoding}
    if keep is not None:
        piece["transform"] = [{"filter": keep}]
    if pick is not None:
        piece["name"], piece["pick"] = f"{pick['name']}_marks", pick
    return piece


def picked(name: str, fields: Iterable[str], *, nearest: bool = False) -> Piece:
    """Return the selection of the mark that is clicked, as the values of some fields."""
    select: Piece = {"type": "point", "fields": list(fields), "on": "click"}
    return {"name": name, "select": {**select, "nearest": True} if nearest else select}


def brushed(name: str, encodings: Iterable[str]) -> Piece:
    """Return the selection of a range on the axes "x", "y" or both."""
    return {"name": name, "select": {"type": "interval", "encodings": list(encodings)}}


def value_if(test: str, value: object, otherwise: object) -> Piece:
    """Return one value where an expression holds, and another elsewhere."""
    return {"condition": {"test": test, "value": value}, "value": otherwise}


def chart(layers: Iterable[Piece], config: Piece, *, height: int, width: int | None = None) -> Chart:
    """Return layers over each other, the first at the bottom; without a width as wide as its place."""
    data: dict[str, bytes] = {}
    drawn, picks = [], []
    for each in layers:
        content = _stream(each["data"])
        name = hashlib.blake2b(content, digest_size=16).hexdigest()
        data[name] = content
        piece = {**each, "data": {"name": name}}
        if "pick" in piece:
            picks.append({**piece.pop("pick"), "views": [piece["name"]]})
        drawn.append(piece)
    spec: Piece = {"config": config, "height": height, "layer": drawn}
    if width is not None:
        spec["width"] = width
    if picks:
        spec["params"] = picks
    return Chart(spec, data)


def _stream(frame: Frame) -> bytes:
    table = pa.table(
        {
            name: pa.array(column if isinstance(column, list) else np.asarray(column), from_pandas=True)
            for name, column in frame.items()
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
