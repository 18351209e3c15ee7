"""Items of pages as lines of JSON, with the order, text and tables that the source has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from evaluator.data.cells import Table
from evaluator.data.dataset import Annotations, Place
from evaluator.data.issues import Collector
from evaluator.formats.items import FORMAT, PageCell, PageGroup, PageItem, PageLine
from evaluator.formats.writers.base import OutputPage, Writer, score_of

_TITLE = "items"


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return one file, a page a line; boxes in shares of a page without a size are those of one of 1 by 1."""
    encoder = msgspec.json.Encoder()
    return {"items.jsonl": encoder.encode_lines([_line(source, page) for page in pages])}


def _line(source: Annotations, page: OutputPage) -> PageLine:
    size = (1.0, 1.0) if page.size is None and source.unit == "page" else page.size
    factor = np.array(size * 2) if size is not None and source.unit == "page" else np.ones(4)
    boxes = source.boxes
    places = [None if boxes.order is None else boxes.order[row] for row in page.rows]
    plain = all(place is None or len(place) == 1 for place in places)
    items = []
    for at, (row, place) in enumerate(zip(page.rows, places, strict=True)):
        corners = (boxes.xyxy[row] * factor).tolist()
        table = None if boxes.cells is None else boxes.cells[row]
        items.append(
            PageItem(
                label=source.labels[boxes.label[row]],
                box=None if math.isnan(corners[0]) else tuple(corners),
                id=None if plain else str(at),
                order=_number(place[0]) if plain and place is not None else None,
                text=None if boxes.text is None else boxes.text[row],
                html=table if isinstance(table, str) else None,
                cells=None if table is None or isinstance(table, str) else _cells(table),
                score=score_of(source, row),
            )
        )
    return PageLine(
        document=source.documents[page.document].doc_id,
        page=page.number,
        items=items,
        width=None if size is None else _number(size[0]),
        height=None if size is None else _number(size[1]),
        groups=None if plain else group_of([(place, str(at)) for at, place in enumerate(places) if place]),
    )


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


def _cells(table: Table) -> list[PageCell]:
    return [PageCell(*cell) for cell in table if not isinstance(cell, str)]


def group_of(items: Sequence[tuple[Place, str]], depth: int = 0) -> PageGroup:
    """Return items with their places as a group; every second one is unordered."""
    members: dict[float, list[tuple[Place, str]]] = {}
    for place, name in items:
        members.setdefault(place[depth] if depth < len(place) else math.inf, []).append((place, name))
    held: list[Any] = []
    for number in sorted(members):
        some = members[number]
        if len(some) == 1 or number == math.inf:
            held += [name for _, name in some]
        else:
            held.append(group_of(some, depth + 1))
    return PageGroup(unordered=held) if depth % 2 else PageGroup(ordered=held)


WRITER = Writer(
    FORMAT.name,
    FORMAT.title,
    _TITLE,
    folder=False,
    unit=None,
    lacks=("outlines", "crowds", "model"),
    write=write,
    items=True,
)
