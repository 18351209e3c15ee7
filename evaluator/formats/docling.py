"""DoclingDocument JSON to boxes, in points of the page; each box states its origin."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import UNSET

from evaluator.data.cells import Cell
from evaluator.data.issues import count_of, quote
from evaluator.formats.build import Corners, Held, Size
from evaluator.formats.items import Index, Span
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, NO_SIZE, ModelOutput, OutputFile, document_of
from evaluator.formats.nesting import is_whole

_MARK = re.compile(rb'"schema_name"\s*:\s*"DoclingDocument"')
_ITEM_MARKS: Final = (b'"self_ref"', b'"prov"', b'"page_no"')
_ORIGIN = re.compile(rb'"coord_origin"\s*:\s*"(?:TOP|BOTTOM)LEFT"')
_LISTS: Final = (
    "texts", "tables", "pictures", "groups", "key_value_items", "form_items", "field_regions", "field_items",
)  # fmt: skip

# What holds others on a page; the items below a text come after it.
_HOLDING: Final = tuple(name for name in _LISTS if name not in ("texts", "field_items"))
_HOLDERS: Final = tuple(f"#/{name}/" for name in _HOLDING)

_CONTENTS: Final = "document_index"
_IN_BODY: Final = (None, "body")

_NO_SIZE: Final = {"width": math.nan, "height": math.nan}


class _Box(msgspec.Struct, gc=False):
    l: float  # noqa: E741 - the key of the format
    t: float
    r: float
    b: float
    coord_origin: str = "TOPLEFT"


class _Provenance(msgspec.Struct, gc=False):
    page_no: int
    bbox: _Box
    charspan: list[int] | None = None


class _Reference(msgspec.Struct, gc=False):
    ref: str = msgspec.field(default="", name="$ref")
    cref: str = ""

    @property
    def target(self) -> str:
        """Return the item that is meant; older versions call it ``cref``."""
        return self.ref or self.cref


class _Cell(msgspec.Struct, gc=False):
    start_row_offset_idx: Index
    start_col_offset_idx: Index
    row_span: Span = 1
    col_span: Span = 1
    column_header: bool = False
    text: str = ""
    bbox: _Box | None = None


class _Grid(msgspec.Struct, gc=False):
    table_cells: list[_Cell] = []


class _Body(msgspec.Struct, gc=False):
    children: list[_Reference] = []


class _Item(msgspec.Struct, gc=False):
    label: str
    prov: list[_Provenance] | None = None
    self_ref: str | None = None
    parent: _Reference | None = None
    children: list[_Reference] | None = None
    captions: list[_Reference] | None = None
    footnotes: list[_Reference] | None = None
    # Only looked at where items are read.
    content_layer: object = None
    text: object = None
    data: object = None

    @property
    def beside(self) -> set[str]:
        return {each.target for each in (*(self.captions or ()), *(self.footnotes or ()))}


class _Size(msgspec.Struct, gc=False):
    width: float
    height: float


class _Page(msgspec.Struct, gc=False):
    size: _Size
    page_no: int | None = None


class Docling(ModelOutput):
    """DoclingDocument 1.0 to 1.10 of docling-core (JSON schema in its docs).

    Boxes are those of `prov` of texts, tables, pictures, groups, key-value, form and field items, in all content
    layers; a provenance that repeats page and box is read once. Items have the order of the body, their text, each box
    its part of it, and the cells of tables. What lies in a picture, table or
    form, captions and footnotes aside, is read at another `Reading.level`. The document is ``origin.filename`` without
    its ending, else ``name``. There are no scores. Of an answer of Docling Serve the ``json_content`` is read, with
    places in it.
    """

    name = "docling"
    title = "DoclingDocument (JSON)"
    looks_for = 'the schema_name "DoclingDocument", or items with prov, page_no and coord_origin'
    source = "DoclingDocument"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the schema name, which Docling writes first, or the keys of its items are there."""
        if _MARK.search(head) is not None or (b'"json_content"' in head and b'"md_content"' in head):
            return True
        return all(mark in head for mark in _ITEM_MARKS) and _ORIGIN.search(head) is not None

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the pages, then the items of all lists."""
        if isinstance(tree, dict) and isinstance(answer := tree.get("document"), dict) and "json_content" in answer:
            if not isinstance(answer["json_content"], dict):
                rule = "This is an answer of Docling Serve without the document: its json_content is empty"
                file.refuse(rule, "Ask the server for it with to_formats=json.", place="$.document.json_content")
            tree = answer["json_content"]
        elif isinstance(tree, dict) and isinstance(answer := tree.get("document"), dict):
            tree = answer if "schema_name" in answer else tree
        tree = file.document_in(tree)
        entries = [entry for key in _LISTS for entry in file.items(tree, key, "$")]
        pages = tree.get("pages")
        if pages is not None and not isinstance(pages, dict):
            file.refuse("pages must be an object (DoclingDocument)", AGAIN, excerpt(pages), "$.pages")
        if not pages and entries:
            rule = f"This is a DoclingDocument without pages: its {len(entries):,} items have no place on a page"
            file.refuse(rule, "Convert a PDF or images with Docling and save that as JSON.")
        origin = tree.get("origin")
        name, filename = tree.get("name"), origin.get("filename") if isinstance(origin, dict) else None
        name = name if isinstance(name, str) else ""
        filename = filename if isinstance(filename, str) else ""
        file.document = document_of(filename.strip() or name.strip() or file.document)
        sizes = _pages(pages or {}, filename or name, file)
        items: Iterable[tuple[str, _Item]] = (
            (place, item) for place, value in entries if (item := file.convert(value, _Item, place)) is not None
        )
        nested = False
        if file.reads_items or any(tree.get(name) for name in _HOLDING):
            items = list(items)
            nested = _nest([item for _, item in items], file)
        order = _order(tree.get("body"), [item for _, item in items], file) if file.reads_items else {}
        contents = 0
        bare: list[str] = []
        for place, item in items:
            if item.prov is None and not place.startswith("$.groups"):
                bare.append(place)
            else:
                _add(item, place, sizes, file, order.get(item.self_ref or ""), nested=nested)
                contents += file.reads_items and item.label == _CONTENTS and item.data is not None
        if contents:
            rule = f"a table of contents ({_CONTENTS}) has no cells to be compared (DoclingDocument)"
            file.collector.warning("$.tables", rule, f"{contents:,}", "They are left out of tables.")
        if bare:
            rule, fix = "an item should have prov, also an empty one (DoclingDocument)", "They are left out."
            file.collector.warning(bare[0], rule, f"{len(bare):,} of {len(entries):,} items without", fix)
        if entries and not file.builder.boxes and not file.collector.failed:
            rule = f"This is a DoclingDocument without places: none of its {len(entries):,} items is on a page"
            file.refuse(rule, "Convert a PDF or images with Docling and save that as JSON.")


FORMAT: Final = Docling()


def _pages(pages: dict[str, object], name: str, file: OutputFile) -> dict[int, Size]:
    sizes: dict[int, Size] = {}
    without: list[str] = []
    for key, value in pages.items():
        place = f'$.pages["{key}"]'
        if isinstance(value, dict) and value.get("size", UNSET) is None:
            without.append(f"{place}.size")
            value = {**value, "size": _NO_SIZE}  # noqa: PLW2901 - its number and its boxes are looked at all the same
        page = file.convert(value, _Page, place)
        number = page.page_no if page is not None else None
        if number is None:
            number = int(key) if key.isascii() and key.isdigit() and len(key) <= 10 else 0
        sizes[number] = NO_SIZE if page is None else (page.size.width, page.size.height)
        file.page(place, index=number - 1, size=sizes[number], page_id=key, name=name)
    if without:
        rule = "a page must have a size, in which its boxes have a place (DoclingDocument)"
        fix = "Convert the PDF or the images again with Docling, or write the width and height of each page in points."
        file.collector.error(without[0], rule, f"null, and {len(without):,} of {len(pages):,} pages without one", fix)
    return sizes


def _nest(items: Sequence[_Item], file: OutputFile) -> bool:
    """State what lies in pictures, tables, groups and forms, and return whether anything does."""
    nested = False
    holders = {item.self_ref: item for item in items if str(item.self_ref).startswith(_HOLDERS)}
    beside = {reference for item in holders.values() for reference in item.beside}
    parents = {child.target: reference for reference, item in holders.items() for child in item.children or ()}
    for item in items:
        reference = item.parent.target if item.parent else parents.get(item.self_ref or "")
        holder = holders.get(reference)
        if holder is not None and item.self_ref not in beside:
            group = str(reference).startswith("#/groups/") and not is_whole(holder.label)
            file.builder.nesting.put(item.self_ref, inside=reference, group=group)
            nested = True
    return nested


def _order(body: object, items: Sequence[_Item], file: OutputFile) -> dict[str, int]:
    """Return where each item of the body comes when its children are walked through, the first of its boxes."""
    held = None if body is None else file.convert(body, _Body, "$.body")
    every = {item.self_ref: item for item in items}
    order: dict[str, int] = {}
    boxes = 0
    unknown: list[str] = []
    waiting = [] if held is None else held.children[::-1]
    while waiting:
        reference = waiting.pop().target
        item = every.get(reference)
        if item is None:
            unknown.append(reference)
        if item is None or reference in order:
            continue
        order[reference] = boxes
        boxes += len(item.prov or ())
        waiting += (item.children or [])[::-1]
    if unknown:
        rule, fix = "children should name items of the document (DoclingDocument)", "These have no place in the order."
        found = f"{count_of(len(unknown), 'name')} of nothing, the first {quote(unknown[0])}"
        file.collector.warning("$.body", rule, found, fix)
    left = [
        item
        for item in items
        if item.prov
        and item.content_layer in _IN_BODY
        and item.self_ref not in order
        # Versions before 1.1 have no layers.
        and not (item.parent and item.parent.target.startswith("#/furniture"))
    ]
    if left:
        rule = "body should name each item, or one that holds it, among its children (DoclingDocument)"
        what = f"{len(left):,} of {count_of(len(items), 'item')} not named, the first {quote(left[0].self_ref)}"
        file.collector.warning("$.body", rule, what, "These have no place in the order.")
    return order


def _texts(item: _Item, boxes: Sequence[_Provenance], place: str, file: OutputFile) -> Sequence[str | None]:
    """Return the part of the text of an item that each of its boxes has."""
    text = file.text_of(item.text, f"{place}.text")
    if text is None or len(boxes) < 2:
        return [text] * len(boxes)
    spans = [prov.charspan for prov in boxes[1:]]
    starts = [0, *(0 if span is None or len(span) != 2 else span[0] for span in spans), len(text)]
    if starts == sorted(starts):
        return [text[start:stop].strip() for start, stop in pairwise(starts)]
    rule = "the charspan of the boxes of an item should rise, within its text (DoclingDocument)"
    file.collector.warning(f"{place}.prov", rule, excerpt(starts[1:-1]), "All of its text is read with the first.")
    return [text, *[""] * (len(boxes) - 1)]


def _held(
    item: _Item, index: int, place: str, first: int | None, *, text: str | None, height: float, file: OutputFile
) -> Held:
    """Return what one of the boxes of an item holds: its place, its part of the text, the cells with the first box."""
    placed = None if first is None or item.content_layer not in _IN_BODY else (first + index,)
    table = None
    if item.label == "table" and index == 0 and item.data is not None:
        grid = file.convert(item.data, _Grid, f"{place}.data")
        table = None if grid is None else tuple(_cell(cell, height) for cell in grid.table_cells)
    return Held(placed, text, table)


def _cell(cell: _Cell, height: float) -> Cell:
    box = None
    if cell.bbox is not None:
        top, bottom = _from_top(cell.bbox, height)
        box = cell.bbox.l, top, cell.bbox.r, bottom
    spans = cell.row_span, cell.col_span
    return Cell(cell.start_row_offset_idx, cell.start_col_offset_idx, *spans, cell.column_header, cell.text, box)


def _from_top(box: _Box, height: float) -> tuple[float, float]:
    return (height - box.t, height - box.b) if box.coord_origin == "BOTTOMLEFT" else (box.t, box.b)


def _add(item: _Item, place: str, sizes: dict[int, Size], file: OutputFile, first: int | None, *, nested: bool) -> None:
    boxes: dict[tuple[int, Corners], tuple[int, _Provenance]] = {}
    for index, prov in enumerate(item.prov or ()):
        key = (prov.page_no, (prov.bbox.l, prov.bbox.t, prov.bbox.r, prov.bbox.b))
        _, first_prov = boxes.setdefault(key, (index, prov))
        if first_prov is not prov:
            rule = "an item should state a box once (DoclingDocument)"
            what = f"charspan {excerpt(first_prov.charspan)} and {excerpt(prov.charspan)} in one box"
            file.collector.warning(f"{place}.prov[{index}]", rule, what, "It is read once.")
    texts = _texts(item, [prov for _, prov in boxes.values()], place, file) if file.reads_items else [None] * len(boxes)
    for (index, prov), text in zip(boxes.values(), texts, strict=True):
        where, box = f"{place}.prov[{index}]", prov.bbox
        page = file.needed_page(prov.page_no, where)
        if page is None:
            continue
        height = sizes[prov.page_no][1]
        if box.coord_origin not in ("TOPLEFT", "BOTTOMLEFT"):
            rule = "coord_origin must be TOPLEFT or BOTTOMLEFT (DoclingDocument)"
            file.collector.error(f"{where}.bbox.coord_origin", rule, excerpt(box.coord_origin), AGAIN)
            continue
        top, bottom = _from_top(box, height)
        if math.isnan(height):
            continue
        item_ref = item.self_ref if nested else None
        held = _held(item, index, place, first, text=text, height=height, file=file) if file.reads_items else None
        file.builder.box(page, item.label, (box.l, top, box.r, bottom), where, item=item_ref, held=held)
