"""Results of Azure Document Intelligence (Form Recognizer) to boxes.

Polygons are in the unit of their page, origin top left; inches become points, so that a page can be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from evaluator.data.cells import Cell, Cells
from evaluator.formats.build import Held
from evaluator.formats.items import Index, Span
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import (
    AGAIN,
    NO_SIZE,
    ModelOutput,
    OutputFile,
    box_around,
    camel_keys,
    listed_in,
    pairs_of,
)
from evaluator.formats.nesting import Extent

_POINTS_PER_INCH: Final = 72.0
_NOT_READ: Final = (
    "words", "lines", "selectionMarks", "barcodes", "formulas", "keyValuePairs", "documents", "documentResults",
)  # fmt: skip
_WHOLE: Final = {"paragraphs": "paragraph", "tables": "table", "figures": "figure"}
_PARAGRAPH: Final = re.compile(r"/paragraphs/(\d+)")
_NOT_IN_ORDER: Final = ("pageHeader", "pageFooter", "pageNumber")


class _Page(msgspec.Struct, gc=False, rename="camel"):
    page_number: int
    width: float | None = None
    height: float | None = None
    unit: str | None = None


class _Point(msgspec.Struct, gc=False):
    x: float
    y: float


_Polygon = list[float | _Point]
"""x, y, x, y... as the service writes them, or points, as its older Python SDK does."""


class _Region(msgspec.Struct, gc=False, rename="camel"):
    page_number: int
    polygon: _Polygon | None = None
    bounding_box: _Polygon | None = None


class _Element(msgspec.Struct, gc=False, rename="camel"):
    bounding_regions: list[_Region] | None = None
    role: str | None = None
    # Only looked at where items are read.
    content: object = None


class _Line(msgspec.Struct, gc=False, rename="camel"):
    polygon: _Polygon | None = None
    bounding_box: _Polygon | None = None
    content: object = None


class _Cell(msgspec.Struct, gc=False, rename="camel"):
    """A cell of a table; before 3.0 with `text`, `is_header` and a box of its own."""

    row_index: Index
    column_index: Index
    row_span: Span | None = None
    column_span: Span | None = None
    kind: str | None = None
    is_header: bool | None = None
    content: str | None = None
    text: str | None = None
    bounding_regions: list[_Region] | None = None
    bounding_box: list[float] | None = None


class _OldPage(msgspec.Struct, gc=False):
    page: int
    width: float
    height: float
    unit: str | None = None


class _OldResult(msgspec.Struct, gc=False):
    page: int


class _OldShape(msgspec.Struct, gc=False, rename="camel"):
    bounding_box: list[float]
    elements: list[object] | None = None
    text: object = None


class _OldTable(msgspec.Struct, gc=False, rename="camel"):
    bounding_box: list[float] | None = None
    cells: list[_OldShape] = []


class Azure(ModelOutput):
    """Analyze results of Azure Document Intelligence, versions 2.0 to 4.0.

    "Document Intelligence layout model", "Analyze document API response", REST API 2022-08-31 to 2024-11-30. A
    paragraph has its role as label, or "paragraph"; tables and figures are "table" and "figure". Results without
    paragraphs (prebuilt-read before 2023, prebuilt-invoice, all of 2.x) are read by lines, "line", with a warning.
    Output of the older Python SDK (``to_dict()``) is taken too, with the places of the service. A table of 2.x
    without a box is the box of its cells. What the cells of a table or a figure list as their `elements`, and
    before 4.0 what lies in the spans of cells, is read at another `Reading.level`. Words, selection marks and fields
    are not read. Items have the order of the paragraphs, a table that of the first paragraph in it, or that of the
    lines; an element on several pages has its text and cells with the first of its boxes. There are no scores.
    """

    name = "azure"
    title = "Azure Document Intelligence result (JSON)"
    looks_for = "analyzeResult, boundingRegions with pageNumber, or modelId with stringIndexType"
    source = "Document Intelligence"
    endings = (".ocr", ".layout", ".result")

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of a result are there."""
        return (
            b'"analyzeResult"' in head
            or b'"readResults"' in head
            or (b'"boundingRegions"' in head and b'"pageNumber"' in head)
            or (b'"bounding_regions"' in head and b'"page_number"' in head)
            or (b'"stringIndexType"' in head and b'"modelId"' in head)
            or (b'"api_version"' in head and b'"model_id"' in head and b'"page_number"' in head)
        )

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the pages, then what is on them."""
        if isinstance(tree, dict) and isinstance(tree.get("pages"), list) and "boundingRegions" not in tree:
            # As the older Python SDK writes them.
            snake = any(isinstance(page, dict) and "page_number" in page for page in tree["pages"])
            tree = camel_keys(tree) if snake else tree
        result, place = tree, "$"
        if isinstance(tree, dict) and "analyzeResult" in tree:
            result, place = tree["analyzeResult"], "$.analyzeResult"
        if isinstance(tree, dict) and "status" in tree and not isinstance(result, dict):
            rule = "a result must be an object (Document Intelligence)"
            file.refuse(rule, AGAIN, f"status {excerpt(tree['status'])}", place)
        result = file.document_in(result, place)
        if "readResults" in result:
            _old(result, place, file)
            return
        scale: dict[int, float] = {}
        by_row: dict[int, object] = {}
        for where, value in file.items(result, "pages", place):
            if (page := file.convert(value, _Page, where)) is None:
                continue
            factor = scale[page.page_number] = _scale(page.unit, where, file)
            size = None if page.width is None or page.height is None else (page.width * factor, page.height * factor)
            by_row[file.page(where, index=page.page_number - 1, size=size)] = value
        texts = {f"/paragraphs/{at}": value for at, value in enumerate(listed_in(result, "paragraphs"))} or {
            f"{place}.pages[{at}].lines[{line}]": value
            for at, page in enumerate(listed_in(result, "pages"))
            for line, value in enumerate(listed_in(page, "lines"))
        }
        _nest(result, texts, file)
        nested = file.builder.nesting.stated
        if not result.get("paragraphs"):
            for where, value in file.items(result, "pages", place):
                number = value.get("pageNumber") if isinstance(value, dict) else None
                for line, shape in file.structs(value, "lines", where, _Line):
                    if isinstance(number, int):
                        region, item = _Region(number, shape.polygon, shape.bounding_box), line if nested else None
                        held = _line(shape.content, line, file)
                        _region(region, "line", line, scale, file, item=item, held=held)
        bare, elements = _elements(result, place, scale, file)
        file.leave_out(
            bare,
            elements,
            "",
            should="an element should have boundingRegions",
            without="This is a Document Intelligence result without places: none of its {} elements is on a page",
            fix="Analyze a PDF or images; Office and HTML files have no pages.",
        )
        _say_read(by_row, result, f"{place}.pages", file)


FORMAT: Final = Azure()


def _elements(
    result: dict[str, object], place: str, scale: Mapping[int, float], file: OutputFile
) -> tuple[list[str], int]:
    bare: list[str] = []
    elements = 0
    for key, label in _WHOLE.items():
        for number, (where, value) in enumerate(file.items(result, key, place)):
            element = file.convert(value, _Element, where)
            elements += 1
            if element is None:
                continue
            if not element.bounding_regions:
                bare.append(where)
            item = f"/{key}/{number}"
            held = _held(element, item, (where, value), scale, file) if file.reads_items else None
            for index, region in enumerate(element.bounding_regions or ()):
                spot = f"{where}.boundingRegions[{index}]"
                if held is not None and index:
                    held = Held(held.order)
                named = element.role or label
                _region(region, named, spot, scale, file, item=item if file.builder.nesting.stated else None, held=held)
    return bare, elements


def _say_read(pages: Mapping[int, object], result: dict[str, object], place: str, file: OutputFile) -> None:
    if file.builder.boxes and not result.get("paragraphs"):
        rule = "a result should have paragraphs (Document Intelligence)"
        fix = "Its lines and tables are read; run prebuilt-layout of API version 2023-07-31 or later for paragraphs."
        file.collector.warning(place.rpartition(".")[0], rule, "none", fix)
    should = "pages should have paragraphs, lines, tables or figures"
    fix = "Words, marks and fields are not read; run prebuilt-layout of API version 2023-07-31 or later."
    file.say_unread(pages, result, _NOT_READ, place, should=should, fix=fix)


def _scale(unit: str | None, place: str, file: OutputFile) -> float:
    if unit not in (None, "inch", "pixel"):
        file.collector.error(
            f"{place}.unit", "unit must be inch or pixel (Document Intelligence)", excerpt(unit), AGAIN
        )
    return _POINTS_PER_INCH if unit == "inch" else 1.0


def _nest(result: dict[str, object], texts: Mapping[str, object], file: OutputFile) -> None:
    """State which elements are text of table cells, or in figures; captions and footnotes are beside these."""
    spans: list[Extent] = []
    for index, (_, table) in enumerate(file.items(result, "tables", "")):
        cells, item = listed_in(table, "cells"), f"/tables/{index}"
        elements = [inner for cell in cells for inner in listed_in(cell, "elements")]
        for inner in elements:
            file.builder.nesting.put(_item(inner), inside=item, group=False)
        if not elements:
            spans += [(*extent, item) for held in cells or [table] if (extent := _extent(held))]
    placed = ((*extent, item) for item, text in texts.items() if (extent := _extent(text))) if spans else ()
    file.builder.nesting.put_by_text(placed, inside=spans)
    for index, (_, figure) in enumerate(file.items(result, "figures", "")):
        caption = figure.get("caption") if isinstance(figure, dict) else None
        beside = {
            _item(each) for part in (caption, *listed_in(figure, "footnotes")) for each in listed_in(part, "elements")
        }
        for inner in listed_in(figure, "elements"):
            if _item(inner) not in beside:
                file.builder.nesting.put(_item(inner), inside=f"/figures/{index}", group=False)


def _line(text: object, place: str, file: OutputFile) -> Held | None:
    return Held((file.builder.boxes,), file.text_of(text, place)) if file.reads_items else None


def _held(
    element: _Element, item: str, source: tuple[str, object], scale: Mapping[int, float], file: OutputFile
) -> Held:
    place, value = source
    inside = [item] if element.role not in _NOT_IN_ORDER else []
    cells = None
    if item.startswith("/tables/"):
        inside = [str(each) for each in file.builder.nesting.members(item)]
        cells = _cells(value, place, [region.page_number for region in element.bounding_regions or ()], scale, file)
    paragraphs = [int(number[1]) for each in inside if (number := _PARAGRAPH.fullmatch(each))]
    text = file.text_of(element.content, f"{place}.content")
    return Held((min(paragraphs),) if paragraphs else None, text, cells)


def _cells(value: object, place: str, pages: Sequence[int], scale: Mapping[int, float], file: OutputFile) -> Cells:
    cells: list[Cell] = []
    for where, cell in file.structs(value, "cells", place, _Cell):
        regions = cell.bounding_regions or ()
        if cell.bounding_box:
            regions = [_Region(page, [*cell.bounding_box]) for page in pages[:1]]
        points = [_points(region, where, scale, file) for region in regions if region.page_number in pages[:1]]
        header = cell.kind == "columnHeader" or cell.is_header is True
        text = (cell.text if cell.content is None else cell.content) or ""
        spans = cell.row_span or 1, cell.column_span or 1
        cells.append(
            Cell(cell.row_index, cell.column_index, *spans, header, text, box_around(points[0]) if points else None)
        )
    return tuple(cells)


def _extent(value: object) -> tuple[int, int] | None:
    """Return where the text of an element begins and ends in the content; None where it states no spans."""
    pairs = [(each.get("offset"), each.get("length")) for each in listed_in(value, "spans") if isinstance(each, dict)]
    known = [(start, start + count) for start, count in pairs if isinstance(start, int) and isinstance(count, int)]
    return (min(start for start, _ in known), max(end for _, end in known)) if known else None


def _item(pointer: object) -> str:
    """Return what an element of another is called: ``/paragraphs/3``, and the line of a word."""
    return re.sub(r"/words/\d+\Z", "", str(pointer).removeprefix("#"))


def _region(
    region: _Region,
    label: str,
    place: str,
    scale: Mapping[int, float],
    file: OutputFile,
    *,
    item: str | None = None,
    held: Held | None = None,
) -> None:
    page = file.needed_page(region.page_number, place)
    points = _points(region, place, scale, file)
    if page is not None and points:
        file.outline(page, label, points, place, item=item, held=held)


def _points(region: _Region, place: str, scale: Mapping[int, float], file: OutputFile) -> Sequence[tuple[float, float]]:
    shape = region.bounding_box if region.polygon is None else region.polygon
    if shape is None:
        file.collector.error(place, "polygon is required here (Document Intelligence)", "", "Add polygon.")
        return ()
    polygon = [edge for point in shape for edge in ((point.x, point.y) if isinstance(point, _Point) else (point,))]
    factor = scale.get(region.page_number, 1.0)
    return [(x * factor, y * factor) for x, y in pairs_of(polygon, place, file)]


def _old(result: dict[str, object], place: str, file: OutputFile) -> None:
    """Add the lines and tables of a result of version 2.x."""
    scale: dict[int, float] = {}
    by_row: dict[int, object] = {}
    for where, value in file.items(result, "readResults", place):
        page = file.convert(value, _OldPage, where)
        if page is None:
            file.page(where, index=file.builder.pages, size=NO_SIZE)
            continue
        factor = scale[page.page] = _scale(page.unit, where, file)
        by_row[file.page(where, index=page.page - 1, size=(page.width * factor, page.height * factor))] = value
        for line, shape in file.structs(value, "lines", where, _OldShape):
            item = line.removeprefix(place).replace("[", "/").replace("]", "").replace(".", "/")
            said = _line(shape.text, line, file)
            _region(_Region(page.page, [*shape.bounding_box]), "line", line, scale, file, item=item, held=said)
    for where, value in file.items(result, "pageResults", place):
        held = file.convert(value, _OldResult, where)
        for spot, tree in file.items(value, "tables", where):
            if (table := file.convert(tree, _OldTable, spot)) is None:
                continue
            for inner in (each for cell in table.cells for each in cell.elements or ()):
                file.builder.nesting.put(_item(inner), inside=spot, group=False)
            if held is None:
                continue
            outline = table.bounding_box or [edge for cell in table.cells for edge in _box_of(cell.bounding_box)]
            polygon = outline if table.bounding_box else _box_of(outline)
            cells = Held(cells=_cells(tree, spot, [held.page], scale, file)) if file.reads_items else None
            _region(_Region(held.page, [*polygon]), "table", spot, scale, file, item=spot, held=cells)
    _say_read(by_row, result, f"{place}.readResults", file)


def _box_of(polygon: Sequence[float]) -> list[float]:
    xs, ys = polygon[::2], polygon[1::2]
    return [min(xs), min(ys), max(xs), max(ys)] if ys else []
