"""JSON of Marker, the tree of blocks, to boxes in points of the page, origin top left."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from evaluator.data.plain_text import text_of_html
from evaluator.formats import json_text
from evaluator.formats.build import Held
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile, box_around, corners_of

_PAGE_ID = re.compile(r"/page/(\d{1,10})/Page/")
_ANSWER_MARK: Final = b'\\"block_type\\"'
_MAX_NESTING: Final = 8


class _Block(msgspec.Struct, gc=False):
    block_type: str
    polygon: list[tuple[float, float]] | None = None
    bbox: list[float] | None = None
    html: object = None


class _Chunk(msgspec.Struct, gc=False):
    page: int


class _Shape(msgspec.Struct, gc=False):
    polygon: list[tuple[float, float]] | None = None
    bbox: list[float] | None = None


class _Page(msgspec.Struct, gc=False):
    block_type: str
    id: str | None = None
    polygon: list[tuple[float, float]] | None = None
    bbox: list[float] | None = None


class Marker(ModelOutput):
    """JSON output of Marker 1 (``--output_format json``; "JSON" in its README).

    Read are the blocks of each page; a group (TableGroup, ListGroup) is read as its blocks, and whole at another
    `Reading.level`; no table cells are. There are no scores. The page is the number in its id. The flat list of
    ``--output_format chunks``, a list of pages without the document around it, and the ``json`` or the text in
    ``output`` of a server's answer are taken too.
    """

    name = "marker"
    title = "Marker (JSON)"
    looks_for = "blocks with block_type, polygon and children"
    source = "Marker"
    endings = ("_marker",)
    folder_per_document = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of a block are there."""
        if _ANSWER_MARK in head:  # of a server that gives the JSON as a text
            return b'"output"' in head
        blocks = b'"block_type"' in head and b'"polygon"' in head
        return blocks and (b'"children"' in head or (b'"blocks"' in head and b'"page"' in head))

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add every page with its blocks."""
        if isinstance(tree, dict) and isinstance(tree.get("json"), dict):
            tree = tree["json"]
        elif isinstance(tree, dict) and isinstance(text := tree.get("output"), str):
            tree = json_text.parse(json_text.open_source(text.encode(), file.collector.file))
        if isinstance(tree, list):
            tree = {"children": tree}
        if isinstance(tree, dict) and isinstance(tree.get("blocks"), list):
            _chunks(tree, file)
            return
        if not isinstance(tree, dict) or not isinstance(tree.get("children"), list):
            file.refuse("the top level must be an object with children, the pages (Marker)", AGAIN, excerpt(tree), "$")
        for index, (place, value) in enumerate(file.items(tree, "children", "$")):
            page = file.convert(value, _Page, place)
            if page is None:
                continue
            if page.block_type != "Page":
                rule = "a block of the document must be a Page (Marker)"
                file.collector.error(f"{place}.block_type", rule, excerpt(page.block_type), AGAIN)
                continue
            frame = _frame(page, place, file)
            if frame is None:
                continue
            x1, y1, x2, y2 = frame
            stated = _PAGE_ID.match(page.id or "")
            number = int(stated[1]) if stated else index
            row = file.page(place, index=number, size=(x2 - x1, y2 - y1), page_id=page.id or "")
            for where, child in file.items(value, "children", place):
                _add(child, row, where, (x1, y1), file, depth=0)


FORMAT: Final = Marker()


def _chunks(tree: dict[str, object], file: OutputFile) -> None:
    """Add the flat list of blocks, each with the number of its page; groups are as they are there."""
    pages = tree.get("page_info")
    frames: dict[int, tuple[int, tuple[float, float]]] = {}
    for key, value in (pages if isinstance(pages, dict) else {}).items():
        place = f'$.page_info["{key}"]'
        shape = file.convert(value, _Shape, place)
        frame = None if shape is None else _frame(shape, place, file)
        if frame is not None and key.isascii() and key.isdigit() and len(key) <= 10:
            x1, y1, x2, y2 = frame
            frames[int(key)] = file.page(place, index=int(key), size=(x2 - x1, y2 - y1), page_id=key), (x1, y1)
    for place, value in file.items(tree, "blocks", "$"):
        chunk = file.convert(value, _Chunk, place)
        if chunk is not None and file.needed_page(chunk.page + 1, place) is not None:
            row, origin = frames[chunk.page]
            _add(value, row, place, origin, file, depth=0)


def _frame(page: _Page | _Shape, place: str, file: OutputFile) -> tuple[float, float, float, float] | None:
    outer = box_around(page.polygon or ())
    if page.bbox is not None:
        box = corners_of(page.bbox, f"{place}.bbox", file)
        if box is not None:
            file.builder.check_again(place, "bbox", box, "polygon", outer)
        return box
    if outer is not None:
        return outer
    file.collector.error(place, "bbox is required here (Marker)", "", "Add bbox, or polygon.")
    return None


def _held(block: _Block, place: str, file: OutputFile) -> Held:
    order = None if block.block_type in ("PageHeader", "PageFooter") else (file.builder.boxes,)
    html = file.text_of(block.html, f"{place}.html")
    if html is None or block.block_type == "Table":
        return Held(order, None, html)
    return Held(order, text_of_html(html) or None)


def _add(value: object, page: int, place: str, origin: tuple[float, float], file: OutputFile, *, depth: int) -> None:
    block = file.convert(value, _Block, place)
    if block is None or not isinstance(value, dict):
        return
    group = block.block_type.endswith("Group") and depth < _MAX_NESTING
    inside = list(file.items(value, "children", place)) if group else ()
    item = place if inside or depth else None
    x, y = origin
    held = _held(block, place, file) if file.reads_items else None
    corners = None
    if block.bbox is not None and (box := corners_of(block.bbox, f"{place}.bbox", file)):
        x1, y1, x2, y2 = box
        corners = (x1 - x, y1 - y, x2 - x, y2 - y)
    if block.polygon:
        points = [(left - x, top - y) for left, top in block.polygon]
        if around := file.outline(page, block.block_type, points, place, item=item, held=held):
            file.builder.check_again(place, "polygon", around, "bbox", corners)
    elif corners is not None:
        file.builder.box(page, block.block_type, corners, place, item=item, held=held)
    elif block.bbox is None and not inside:
        file.collector.error(place, "polygon is required here (Marker)", "", "Add polygon, or bbox.")
    for where, child in inside:
        file.builder.nesting.put(where, inside=place, group=True)
        _add(child, page, where, origin, file, depth=depth + 1)
