"""Items of pages as lines of JSON, one page a line: box or none, label, reading order, text, table.

Boxes are in the unit of width and height, origin top left; pages count from 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from evaluator.data.cells import Cell, Table
from evaluator.data.dataset import Place, Side
from evaluator.data.issues import quote
from evaluator.formats import limits
from evaluator.formats.build import Held, member_place
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile

_MARKS: Final = tuple(re.compile(rb'"%s"\s*:' % key) for key in (b"document", b"page", b"items"))
_SOURCE: Final = "items"
Corners = tuple[float, float, float, float]
Index = Annotated[int, Meta(ge=0, le=limits.MAX_PAGE_INDEX)]
Span = Annotated[int, Meta(ge=1, le=limits.MAX_PAGE_INDEX)]


class PageCell(msgspec.Struct, gc=False, omit_defaults=True):
    """A cell of a table; rows and columns count from 0."""

    row: Index
    col: Index
    row_span: Span = 1
    col_span: Span = 1
    header: bool = False
    text: str = ""
    box: Corners | None = None


class PageItem(msgspec.Struct, gc=False, omit_defaults=True):
    """An item of a page; `id` is what `groups` call it, `order` null has no place, `text` null was not read."""

    label: str
    box: Corners | None = None
    id: str | None = None
    order: float | None = None
    text: str | None = None
    html: str | None = None
    cells: list[PageCell] | None = None
    score: float | None = None


class PageGroup(msgspec.Struct, gc=False, omit_defaults=True):
    """Items, by id, and groups that are read in this order, or in any."""

    ordered: "list[str | PageGroup] | None" = None  # noqa: UP037 - the class is not there yet
    unordered: "list[str | PageGroup] | None" = None  # noqa: UP037


class PageLine(msgspec.Struct, omit_defaults=True):
    """A page of a document; `groups` is its reading order where that is more than numbers."""

    document: str
    page: Index
    items: list[PageItem]
    width: float | None = None
    height: float | None = None
    groups: PageGroup | None = None


_KEYS: Final = {kind: frozenset(kind.__struct_fields__) for kind in (PageLine, PageItem, PageCell)}


def schema() -> dict[str, Any]:
    """Return the JSON schema of a line, draft 2020-12."""
    return {"title": "A page of items", **msgspec.json.schema(PageLine)}


class Items(ModelOutput):
    """A plain format for tools that have none of those that are read: ``docs/items.schema.json`` is its schema."""

    name = "items"
    title = "Items of pages (lines of JSON)"
    looks_for = "lines with document, page and items"
    suffixes = (".jsonl", ".ndjson", ".json")
    source = _SOURCE
    states_side = False
    file_per_document = False
    normalise = False

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of a page are there, in an object."""
        start = head[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        return start.startswith(b"{") and all(mark.search(head) for mark in _MARKS)

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return None: only scores tell predictions."""
        return "prediction" if re.search(rb'"score"\s*:\s*[0-9]', content) else None

    def tree_text(self, content: bytes) -> bytes:
        """Return the lines as an array, each in the line where it was."""
        lines = content.split(b"\n")
        for at in [at for at, line in enumerate(lines) if line.strip()][1:]:
            lines[at] = b"," + lines[at]
        return b"[" + b"\n".join(lines) + b"]"

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the pages and their items."""
        assert isinstance(tree, list)
        bare: list[str] = []
        total = 0
        for place, line in file.entries(tree, "$", PageLine):
            _check_spelling(tree[int(place[2:-1])], place, file)
            total += len(line.items)
            bare += _add(line, place, file)
        if not file.reads_items:
            file.leave_out(
                bare,
                total,
                "items",
                should="an item should have a box",
                without="None of the {} items has a box (items)",
                fix="Evaluate them with order, text or tables, or give the boxes.",
            )


FORMAT: Final = Items()


def _check_spelling(line: Mapping[str, Any], place: str, file: OutputFile) -> None:
    """Report keys of a page and of what is on it that are there in another spelling."""
    objects: list[tuple[object, str, frozenset[str]]] = [(line, place, _KEYS[PageLine])]
    for at, item in enumerate(line["items"]):
        objects.append((item, f"{place}.items[{at}]", _KEYS[PageItem]))
        cells = item.get("cells") or ()
        objects += (
            (cell, f"{place}.items[{at}].cells[{cell_at}]", _KEYS[PageCell]) for cell_at, cell in enumerate(cells)
        )
    for held, where, keys in objects:
        if isinstance(held, dict) and not held.keys() <= keys:
            for key in sorted(keys):
                file.check_spelling(held, key, where)


def _add(line: PageLine, place: str, file: OutputFile) -> list[str]:
    size = None
    if (line.width is None) != (line.height is None):
        rule = f"a page must have both width and height, or neither ({_SOURCE})"
        file.collector.error(place, rule, f"{excerpt(line.width)} and {excerpt(line.height)}", "Add the other one.")
    elif line.width is not None and line.height is not None:
        size = (line.width, line.height)
    page = file.page(place, index=line.page, document=line.document, size=size)
    places = _places(line, place, file)
    bare: list[str] = []
    for at, (item, order) in enumerate(zip(line.items, places, strict=True)):
        where = f"{place}.items[{at}]"
        if item.html is not None and item.cells is not None:
            rule = f"an item must have html or cells, not both ({_SOURCE})"
            file.collector.error(where, rule, "both", "Leave out html.")
        if item.box is None and not file.reads_items:
            bare.append(where)
            continue
        held = Held(order, item.text, _table(item))
        score = math.nan if item.score is None else item.score
        file.builder.box(page, item.label, item.box, where, score=score, held=held if file.reads_items else None)
    return bare


def _table(item: PageItem) -> Table | None:
    if item.cells is None:
        return item.html
    return tuple(
        Cell(cell.row, cell.col, cell.row_span, cell.col_span, cell.header, cell.text, cell.box) for cell in item.cells
    )


def _places(line: PageLine, place: str, file: OutputFile) -> list[Place | None]:
    """Return where each item stands: by `groups` where the page has them, else by its number."""
    if line.groups is None:
        return [None if item.order is None else (item.order,) for item in line.items]
    error = file.collector.error
    rows: dict[str, int] = {}
    for row, item in enumerate(line.items):
        if item.id is not None and rows.setdefault(item.id, row) != row:
            rule = f"an id must occur once on a page that has groups ({_SOURCE})"
            error(f"{place}.items[{row}].id", rule, quote(item.id), "Give each item an id of its own.")
    places: dict[str, Place] = {}
    # A stack, not a recursion: what a file nests has no bound but that of JSON.
    waiting: list[tuple[str | PageGroup, str, Place]] = [(line.groups, f"{place}.groups", ())]
    while waiting:
        group, where, at = waiting.pop()
        if isinstance(group, PageGroup):
            waiting += _members(group, where, at, file)
        elif group not in rows:
            rule = f"groups must name the ids of items of the page ({_SOURCE})"
            error(where, rule, quote(group), "Correct the id, or add the item.")
        elif group in places:
            error(where, f"groups may name an item once ({_SOURCE})", f"{quote(group)} again", "Name it in one group.")
        else:
            places[group] = at
    return [places.get(item.id or "") for item in line.items]


def _members(group: PageGroup, where: str, at: Place, file: OutputFile) -> list[tuple[str | PageGroup, str, Place]]:
    held = [(key, values) for key in ("ordered", "unordered") if (values := getattr(group, key)) is not None]
    if len(held) != 1:
        rule = f"a group must be ordered or unordered ({_SOURCE})"
        file.collector.error(where, rule, "both" if held else "neither", AGAIN)
        return []
    ((key, members),) = held
    ordered = key == "ordered"
    return [
        (member, f"{where}.{key}[{number}]", member_place(at, number, ordered=ordered))
        for number, member in enumerate(members)
    ]
