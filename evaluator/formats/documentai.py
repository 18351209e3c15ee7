"""Documents of Google Document AI to boxes, in shares of the page, origin top left.

Vertices may be pixels of the page image; a coordinate that is left out is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from evaluator.data.page_sizes import TRANSFORMED
from evaluator.formats import limits
from evaluator.formats.build import NO_ATTRIBUTES, Corners, Size
from evaluator.formats.model_output import ModelOutput, OutputFile, box_around, camel_keys, listed_in
from evaluator.formats.nesting import Extent, Placed
from evaluator.formats.unsupported import VISION

_MARKS: Final = (
    b'"textAnchor"', b'"normalizedVertices"', b'"documentLayout"', b'"mimeType"', b'"text_anchor"',
    b'"normalized_vertices"', b'"mime_type"', b'"textBlock"', b'"text_block"',
)  # fmt: skip
_PAGE_MARKS: Final = (b'"mimeType"', b'"text"', b'"pages"', b'"pageNumber"')
_SHARD_NUMBER: Final = re.compile(r"(?<=.)-\d+\Z")
_SNAKE: Final = ("mime_type", "shard_info", "document_layout")
_MOST_NESTING: Final = 16
_MOST_DIGITS: Final = 15
_NOT_READ: Final = ("lines", "tokens", "symbols", "formFields", "detectedBarcodes", "entities")
_LABELS: Final = {"blocks": "block", "paragraphs": "paragraph", "tables": "table"}


class _Vertex(msgspec.Struct, gc=False):
    x: float = 0.0
    y: float = 0.0


class _Polygon(msgspec.Struct, gc=False, rename="camel"):
    vertices: list[_Vertex] = []
    normalized_vertices: list[_Vertex] = []


class _Layout(msgspec.Struct, gc=False, rename="camel"):
    bounding_poly: _Polygon | None = None
    confidence: float | None = None
    text_anchor: object = None


class _Element(msgspec.Struct, gc=False):
    layout: _Layout
    type: str | None = None


class _Dimension(msgspec.Struct, gc=False):
    width: float
    height: float


class _Page(msgspec.Struct, gc=False, rename="camel"):
    page_number: int | None = None
    dimension: _Dimension | None = None
    transforms: list[object] | None = None


class _Shard(msgspec.Struct, gc=False, rename="camel"):
    shard_count: int | str | None = None


class _PageSpan(msgspec.Struct, gc=False, rename="camel"):
    page_start: int | None = None
    page_end: int | None = None


class _TextBlock(msgspec.Struct, gc=False):
    type: str | None = None


class _LayoutBlock(msgspec.Struct, gc=False, rename="camel"):
    """A block of the layout parser; the one of its keys that is there says what it is."""

    bounding_box: _Polygon | None = None
    page_span: _PageSpan | None = None
    text_block: _TextBlock | None = None
    table_block: dict[str, object] | None = None
    list_block: dict[str, object] | None = None
    image_block: dict[str, object] | None = None


class _Part(NamedTuple):
    """An element of a page with boxes in boxes: where its text is, None where it states none, and its box."""

    text: Extent | None
    placed: Placed


class DocumentAI(ModelOutput):
    """Documents of Document AI v1 ("Document") that give pages.

    Of `pages` the blocks, paragraphs, tables and visual elements are read, labelled "block", "paragraph", "table" and
    the element's type. Paragraphs are read and not the blocks that have their text, and tables and not what has text in
    them, or, of elements without a text anchor, their box; see `Reading.level`. The score is ``layout.confidence``. The
    ``document`` of a process response and what ``Document.to_dict`` writes are taken too. Elements without vertices are
    left out with a warning. Shards (name, hyphen, number) in one folder are one document. Of ``documentLayout`` blocks
    with a ``boundingBox`` are read, text blocks under their ``type``, others as "table", "list" and "image"; no cells
    or entries. Lines, tokens, form fields and entities are not read. Pages with `transforms` are named, see
    `page_sizes.as_given`: their boxes are on the image that these made.
    """

    pages_apart = True

    name = "documentai"
    title = "Google Document AI document (JSON)"
    looks_for = "pages with a boundingPoly and a textAnchor or normalizedVertices"
    source = "Document AI"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of a document or of a shard are there, and not those of Cloud Vision."""
        if any(mark in head for mark in VISION):
            return False
        if any(mark in head for mark in (b'"shardInfo"', b'"shard_info"')) and b'"pages"' in head:
            return True
        # A page may begin with its image, of several MB, and may have nothing on it.
        if all(mark in head for mark in _PAGE_MARKS):
            return True
        inside = any(
            mark in head for mark in (b'"boundingPoly"', b'"bounding_poly"', b'"documentLayout"', b'"document_layout"')
        )
        return inside and any(mark in head for mark in _MARKS) and b'"block_type"' not in head

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add every page with its elements."""
        document, place = tree, "$"
        if isinstance(tree, dict) and isinstance(tree.get("document"), dict):
            document, place = tree["document"], "$.document"
        if isinstance(document, dict) and any(key in document for key in _SNAKE):
            document = camel_keys(document)
        document = file.document_in(document)
        layout = document.get("documentLayout")
        has_layout = isinstance(layout, dict) and bool(layout.get("blocks"))
        if not document.get("pages") and not has_layout:
            rule = "This is a Document AI document without pages: nothing has a place on a page"
            file.refuse(rule, "Process the document with an OCR or form processor, and keep pages in the field mask.")
        if _is_shard(document.get("shardInfo"), file):
            file.document = _SHARD_NUMBER.sub("", file.document)
        file.in_shares()
        bare: list[str] = []
        elements = 0
        sizes: dict[int, Size | None] = {}
        by_row: dict[int, object] = {}
        for index, (where, value) in enumerate(file.items(document, "pages", place)):
            page = file.convert(value, _Page, where)
            if page is None:
                continue
            size = None if page.dimension is None else (page.dimension.width, page.dimension.height)
            number = index if page.page_number is None else page.page_number - 1
            attributes = {TRANSFORMED: "yes"} if page.transforms else NO_ATTRIBUTES
            row = file.page(where, index=number, size=size, attributes=attributes)
            sizes[row], by_row[row] = size, value
            parts: dict[str, list[_Part]] = {}
            several = isinstance(value, dict) and sum(bool(value.get(key)) for key in _LABELS) > 1
            for key, label in (*_LABELS.items(), ("visualElements", "visual element")):
                for spot, held in file.items(value, key, where):
                    elements += 1
                    element = file.convert(held, _Element, spot)
                    if element is not None and not _has_place(element):
                        bare.append(spot)
                    elif element is not None:
                        box = _add(element, element.type or label, (row, size), spot, file, nested=several)
                        if several and box is not None:
                            texts = [*_spans(element.layout.text_anchor, spot)] or _span_of_cells(held, spot)
                            text = next((extent for extent in texts if extent[0] < extent[1]), None)
                            parts.setdefault(key, []).append(_Part(text, (box, spot)))
            _nest(parts, file)
        file.leave_out(
            bare,
            elements,
            "",
            should="an element should have a boundingPoly with vertices",
            without="This is a Document AI document without places: none of its {} elements has vertices",
            fix="Process the document again with an OCR processor, and keep boundingPoly in the field mask.",
        )
        if has_layout and not elements:
            _layout(layout, f"{place}.documentLayout", sizes, file)
        else:
            should = "pages should hold blocks, paragraphs, tables or visual elements"
            fix = "Lines, tokens, form fields and entities are not read; check the field mask."
            file.say_unread(by_row, document, _NOT_READ, f"{place}.pages", should=should, fix=fix)


FORMAT: Final = DocumentAI()


def _spans(anchor: object, spot: str) -> Iterator[Extent]:
    """Yield the place of an element's text, from its beginning to its end, with that of the element."""
    segments = anchor.get("textSegments") if isinstance(anchor, dict) else None
    held = [each for each in segments if isinstance(each, dict)] if isinstance(segments, list) else []
    edges = [str(each.get(key, 0)) for each in held for key in ("startIndex", "endIndex")]
    if edges and all(edge.isascii() and edge.isdecimal() and len(edge) <= _MOST_DIGITS for edge in edges):
        yield min(map(int, edges[::2])), max(map(int, edges[1::2])), spot


def _span_of_cells(table: object, spot: str) -> list[Extent]:
    """Return the place of the text of all cells of a table that states none of its own; empty for other elements."""
    rows = [row for key in ("headerRows", "bodyRows") for row in listed_in(table, key)]
    layouts = [cell.get("layout") for row in rows for cell in listed_in(row, "cells") if isinstance(cell, dict)]
    anchors = [layout.get("textAnchor") for layout in layouts if isinstance(layout, dict)]
    known = [(start, end) for anchor in anchors for start, end, _ in _spans(anchor, spot)]
    return [(min(start for start, _ in known), max(end for _, end in known), spot)] if known else []


def _nest(parts: dict[str, list[_Part]], file: OutputFile) -> None:
    """State which elements of a page have their text in a table or block; their box where one has no text."""
    pairs = (("tables", "blocks"), ("tables", "paragraphs"), ("blocks", "tables"), ("blocks", "paragraphs"))
    nesting = file.builder.nesting
    for outer, inner in pairs:
        holders, items = parts.get(outer, []), parts.get(inner, [])
        # A block with the text of a table is in it, and not the other way round.
        group, equal = outer == "blocks", inner != "tables"
        texts = [holder.text for holder in holders if holder.text]
        nesting.put_by_text((item.text for item in items if item.text), inside=texts, group=group, equal=equal)
        # A page with more is refused.
        if len(holders) + len(items) <= limits.MAX_OBJECTS_PER_PAGE:
            for stated in (False, True):
                inside = [holder.placed for holder in holders if not (stated and holder.text)]
                bare = [item.placed for item in items if bool(item.text) == stated]
                nesting.put_by_place(bare, inside=inside, group=group, equal=equal)


def _layout(layout: object, place: str, sizes: dict[int, Size | None], file: OutputFile) -> None:
    """Add the blocks of the layout parser that have a box; `sizes` has the page sizes by row."""
    elements = [
        (where, block, _Element(_Layout(block.bounding_box)), above)
        for where, block, above in _blocks(layout, place, file)
    ]
    file.leave_out(
        [where for where, _, element, _ in elements if not _has_place(element)],
        len(elements),
        "blocks",
        should="a block of a layout should have a boundingBox with vertices",
        without="This is a Document AI layout without boxes: none of its {} blocks has a boundingBox",
        fix="Process the document again with returnBoundingBoxes in the layoutConfig, or with an OCR processor.",
    )
    placed: dict[str, Placed] = {}
    for where, block, element, above in elements:
        if not _has_place(element):
            continue
        number = 1 if block.page_span is None or block.page_span.page_start is None else block.page_span.page_start
        page = file.page_at(where, number - 1)
        kinds = ((block.table_block, "table"), (block.list_block, "list"), (block.image_block, "image"))
        label = next((name for held, name in kinds if held is not None), "block")
        if block.text_block is not None:
            label = block.text_block.type or "text"
        if (box := _add(element, label, (page, sizes.get(page)), where, file, nested=True)) is not None:
            placed[where] = box, where
            holders = [placed[each] for each in above if each in placed]
            file.builder.nesting.put_by_place([placed[where]], inside=holders, group=True)


def _blocks(
    held: object, place: str, file: OutputFile, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, _LayoutBlock, tuple[str, ...]]]:
    """Yield the blocks under a key, each before those in its text block, with the blocks in whose text block it is."""
    for where, value in file.items(held, "blocks", place):
        block = file.convert(value, _LayoutBlock, where)
        if block is None:
            continue
        yield where, block, above
        if isinstance(value, dict) and "textBlock" in value and len(above) < _MOST_NESTING:
            yield from _blocks(value["textBlock"], f"{where}.textBlock", file, (*above, where))


def _is_shard(value: object, file: OutputFile) -> bool:
    """Return whether a document is one of several; counts of 64 bits are written as text."""
    shard = None if value is None else file.convert(value, _Shard, "$.shardInfo")
    return shard is not None and str(shard.shard_count or 0).isdecimal() and int(shard.shard_count or 0) > 1


def _has_place(element: _Element) -> bool:
    polygon = element.layout.bounding_poly
    return polygon is not None and bool(polygon.normalized_vertices or polygon.vertices)


def _add(
    element: _Element,
    label: str,
    page: tuple[int, Size | None],
    place: str,
    file: OutputFile,
    *,
    nested: bool = False,
) -> Corners | None:
    """Add the box of an element on a page of this row and size, and return it; None with an issue, or for no page size.

    `nested`: it may lie in others, or hold them.
    """
    row, size = page
    polygon = element.layout.bounding_poly
    assert polygon is not None
    pixels = [(vertex.x / size[0], vertex.y / size[1]) for vertex in polygon.vertices] if size and min(size) > 0 else []
    points = [(vertex.x, vertex.y) for vertex in polygon.normalized_vertices]
    if not points:
        if size is None:
            rule = "a page with vertices in pixels must have a dimension (Document AI)"
            file.collector.error(place, rule, "none", "Add dimension, or normalizedVertices.")
            return None
        if not min(size) > 0.0:
            return None
        points = pixels
    item = place if nested else None
    box = file.outline(row, label, points, place, score=element.layout.confidence, item=item)
    if box is not None and points is not pixels:
        file.builder.check_again(place, "normalizedVertices", box, "vertices", box_around(pixels))
    return box
