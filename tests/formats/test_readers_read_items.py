"""Order, text and tables that files of models and ground truths have beside their boxes, which stay as they are."""

import copy
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.cells import Cell
from evaluator.data.issues import BadInput, Issue
from evaluator.data.plain_text import text_of_html
from tests.model_outputs import own, read, refused
from tests.reading import needs_shared, real, warned

TABLE = "<table><tr><td>1</td></tr></table>"


def held(tree: object, **given: Any) -> list[tuple[str, Any, Any, Any]]:
    source = read(tree, items=True, **given)
    boxes = source.boxes
    columns = [column or [None] * len(boxes) for column in (boxes.order, boxes.text, boxes.cells)]
    return [(source.labels[code], *row) for code, *row in zip(boxes.label, *columns, strict=True)]


def docling() -> dict[str, Any]:
    def prov(page: int, top: float, *span: int) -> dict[str, Any]:
        return {"page_no": page, "bbox": {"l": 0, "t": top, "r": 10, "b": top + 10}, "charspan": list(span)}

    cell = {"start_row_offset_idx": 0, "start_col_offset_idx": 1, "row_span": 1, "col_span": 2, "column_header": True,
            "text": "a", "bbox": {"l": 0, "t": 90, "r": 10, "b": 80, "coord_origin": "BOTTOMLEFT"}}  # fmt: skip
    texts = [
        {"self_ref": "#/texts/0", "label": "page_header", "content_layer": "furniture", "text": "h",
         "prov": [prov(1, 0)]},
        {"self_ref": "#/texts/1", "label": "text", "text": "one two", "prov": [prov(1, 50, 0, 4), prov(2, 0, 4, 7)]},
        {"self_ref": "#/texts/2", "label": "list_item", "text": "first", "prov": [prov(1, 20)],
         "parent": {"$ref": "#/groups/0"}},
    ]  # fmt: skip
    tables = [
        {"self_ref": "#/tables/0", "label": "table", "prov": [prov(2, 50)], "data": {"table_cells": [cell]}},
        {"self_ref": "#/tables/1", "label": "document_index", "prov": [prov(2, 70)], "data": {"table_cells": [cell]}},
    ]
    groups = [{"self_ref": "#/groups/0", "label": "list", "children": [{"$ref": "#/texts/2"}]}]
    body = [{"$ref": f"#/{name}"} for name in ("groups/0", "texts/0", "texts/1", "tables/0", "tables/1")]
    pages = {str(number): {"page_no": number, "size": {"width": 100, "height": 100}} for number in (1, 2)}
    return {"schema_name": "DoclingDocument", "pages": pages, "texts": texts, "tables": tables, "groups": groups,
            "body": {"children": body}}  # fmt: skip


def test_docling_is_read_through_its_body() -> None:
    cells = (Cell(0, 1, 1, 2, True, "a", (0.0, 0.1, 0.1, 0.2)),)
    assert held(docling()) == [
        ("page_header", None, "h", None), ("text", (2,), "one", None), ("text", (3,), "two", None),
        ("list_item", (0,), "first", None), ("table", (4,), None, cells), ("document_index", (5,), None, None),
    ]  # fmt: skip
    assert warned(read(docling(), items=True)) == [
        "f.json: $.tables: a table of contents (document_index) has no cells to be compared (DoclingDocument); found 1."
        " They are left out of tables."
    ]
    broken = docling()
    broken["texts"][0]["text"] = 3
    assert refused(broken, items=True)[0] == (
        "f.json: $.texts[0].text: a text must be a string (DoclingDocument); found 3. Export the file again, or "
        "correct it."
    )
    assert len(read(broken).boxes) == 6


def test_docling_loses_no_text_of_boxes_whose_spans_are_odd() -> None:
    tree = docling()
    first, second = tree["texts"][1]["prov"]
    first["charspan"], second["charspan"] = [4, 7], [9, 2]
    assert [text for label, _, text, _ in held(tree) if label == "text"] == ["one two", ""]
    assert (
        "f.json: $.texts[1].prov: the charspan of the boxes of an item should rise, within its text (DoclingDocument); "
        "found [9]. All of its text is read with the first."
    ) in warned(read(tree, items=True))
    tree["body"]["children"][1]["$ref"] = "#/texts/9"
    assert (
        "f.json: $.body: children should name items of the document (DoclingDocument); found 1 name of nothing, "
        'the first "#/texts/9". These have no place in the order.'
    ) in warned(read(tree, items=True))
    unnamed = "body should name each item, or one that holds it, among its children (DoclingDocument); found "
    for body in ({"children": []}, None):
        empty = {**docling(), "body": body}
        assert [place for _, place, *_ in held(empty)] == [None] * 6
        assert (
            f'f.json: $.body: {unnamed}4 of 6 items not named, the first "#/texts/1". These have no place in the order.'
        ) in warned(read(empty, items=True))
    tree["texts"][1]["prov"] = [first, {**first, "charspan": [4, 6]}, {**second, "charspan": [6, 7]}]
    assert [text for label, _, text, _ in held(tree) if label == "text"] == ["one tw", "o"]


def test_mineru_middle_has_lines_and_spans() -> None:
    def block(kind: str, *lines: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {"type": kind, "bbox": [0, 0, 10, 10], "lines": [{"spans": line} for line in lines], **more}

    words = [{"type": "text", "content": "of"}, {"type": "inline_equation", "content": "x^2"}]
    blocks = [
        block("text", words, [{"type": "text", "content": "b"}]),
        {"type": "table", "bbox": [0, 0, 9, 9], "blocks": [block("table_body", [{"type": "table", "html": TABLE}])]},
        block("text", lines_deleted=True),
    ]
    page = {"page_idx": 0, "page_size": [100, 100], "para_blocks": blocks, "discarded_blocks": [block("header", words)]}
    assert held({"pdf_info": [page]}) == [
        ("text", (0,), "of $x^2$\nb", None), ("table_body", (2,), None, TABLE), ("text", (3,), "", None),
        ("header", None, "of $x^2$", None),
    ]  # fmt: skip


def test_a_content_list_of_mineru_is_read_with_or_without_boxes() -> None:
    entries = [
        {"type": "text", "page_idx": 0, "text": "Title", "text_level": 1, "bbox": [0, 0, 500, 100]},
        {"type": "table", "page_idx": 0, "table_body": TABLE},
        {"type": "page_number", "page_idx": 0, "text": "3"},
    ]
    assert held(entries, name="a_content_list.json") == [
        ("title", (0,), "Title", None), ("table", (1,), None, TABLE), ("page_number", None, "3", None),
    ]  # fmt: skip
    blocks = [[{"type": "text", "bbox": [0, 0, 0.5, 0.1], "angle": 0, "content": "x"},
               {"type": "table", "bbox": [0, 0.2, 0.5, 0.4], "angle": 0, "content": TABLE}]]  # fmt: skip
    assert held(blocks, name="a_model.json") == [("text", (0,), "x", None), ("table", (1,), None, TABLE)]


def test_paddle_has_its_order_its_position_or_none() -> None:
    blocks = [
        {"block_label": "text", "block_bbox": [0, 0, 9, 9], "block_content": "a", "block_order": 2},
        {"block_label": "header", "block_bbox": [0, 0, 9, 9], "block_content": "h", "block_order": None},
        {"block_label": "table", "block_bbox": [0, 0, 9, 9], "block_content": TABLE},
    ]
    expected = [("text", (2.0,), "a", None), ("header", None, "h", None), ("table", (2,), None, TABLE)]
    assert held({"input_path": "a.png", "parsing_res_list": blocks}) == expected
    boxes = [{"label": "text", "coordinate": [0, 0, 9, 9], "score": 0.5, "order": 1}]
    both = {"input_path": "a.png", "parsing_res_list": blocks, "layout_det_res": {"boxes": boxes}}
    assert held(both) == expected
    assert held({"input_path": "a.png", "boxes": boxes}) == [("text", (1.0,), None, None)]


def test_marker_has_html() -> None:
    def block(kind: str, html: str) -> dict[str, Any]:
        return {"block_type": kind, "polygon": [[0, 0], [9, 0], [9, 9], [0, 9]], "html": html}

    children = [block("PageHeader", "<p>h</p>"), block("Text", "<p>of <math>x^2</math></p>"), block("Table", TABLE),
                block("Picture", "")]  # fmt: skip
    page = {"block_type": "Page", "id": "/page/0/Page/1", "bbox": [0, 0, 100, 100], "children": children}
    assert held({"children": [page], "block_type": "Document"}) == [
        ("PageHeader", None, "h", None), ("Text", (1,), "of $x^2$", None), ("Table", (2,), None, TABLE),
        ("Picture", (3,), None, None),
    ]  # fmt: skip
    assert (text_of_html("a<br>b &amp; <b>c</b>"), text_of_html("")) == ("a\nb & c", "")


def test_unstructured_has_text_and_html() -> None:
    coordinates = {"points": [[0, 0], [9, 0], [9, 9], [0, 9]], "system": "PixelSpace", "layout_width": 100,
                   "layout_height": 100}  # fmt: skip
    metadata = {"page_number": 1, "coordinates": coordinates}
    elements = [
        {"type": "Header", "element_id": "a", "text": "h", "metadata": metadata},
        {"type": "NarrativeText", "element_id": "b", "text": "of", "metadata": metadata},
        {"type": "Table", "element_id": "c", "text": "1", "metadata": {**metadata, "text_as_html": TABLE}},
    ]
    assert held(elements) == [
        ("Header", None, "h", None), ("NarrativeText", (1,), "of", None), ("Table", (2,), "1", TABLE),
    ]  # fmt: skip


def test_omnidocbench_has_latex_of_equations_alone() -> None:
    tree = own("omnidocbench.json")
    region = tree[0]["layout_dets"][0]
    regions = [
        {**region, "category_type": "text_block", "order": 1, "text": "a", "latex": "b"},
        {**region, "category_type": "equation_isolated", "order": 0, "latex": "x^2"},
        {**region, "category_type": "table", "order": None, "latex": "t", "html": TABLE},
    ]
    for each in regions[1:]:
        each.pop("text", None)
    changed = [{**copy.deepcopy(tree[0]), "layout_dets": regions}]
    assert held(changed) == [
        ("text_block", (1.0,), "a", None), ("equation_isolated", (0.0,), "x^2", None), ("table", None, None, TABLE),
    ]  # fmt: skip


def azure() -> dict[str, Any]:
    def placed(page: int, top: float, **more: Any) -> dict[str, Any]:
        polygon = [0, top, 10, top, 10, top + 5, 0, top + 5]
        return {"boundingRegions": [{"pageNumber": page, "polygon": polygon}], **more}

    def paragraph(content: str, top: float, **more: Any) -> dict[str, Any]:
        return placed(1, top, content=content, **more)

    cells = [
        placed(1, 20, rowIndex=0, columnIndex=0, columnSpan=2, kind="columnHeader", content="a",
               elements=["/paragraphs/2"]),
        placed(2, 0, rowIndex=1, columnIndex=0, content="b", elements=["/paragraphs/3"]),
    ]  # fmt: skip
    table = placed(1, 20, cells=cells)
    table["boundingRegions"] += placed(2, 0)["boundingRegions"]
    paragraphs = [
        paragraph("h", 0, role="pageHeader"), paragraph("Title", 10, role="title"), paragraph("a", 20),
        paragraph("b", 22), paragraph("end", 40),
    ]  # fmt: skip
    pages = [{"pageNumber": number, "width": 10, "height": 50, "unit": "inch"} for number in (1, 2)]
    return {"analyzeResult": {"apiVersion": "2024-11-30", "pages": pages, "paragraphs": paragraphs, "tables": [table],
                              "figures": [placed(2, 30)]}}  # fmt: skip


def test_azure_has_its_paragraphs_and_a_table_at_the_first_one_in_it() -> None:
    cells = (Cell(0, 0, 1, 2, True, "a", (0.0, 0.4, 1.0, 0.5)), Cell(1, 0, text="b"))
    assert held(azure()) == [
        ("pageHeader", None, "h", None), ("title", (1,), "Title", None), ("paragraph", (4,), "end", None),
        ("table", (2,), None, cells), ("table", (2,), None, None), ("figure", None, None, None),
    ]  # fmt: skip
    broken = azure()
    broken["analyzeResult"]["tables"][0]["cells"][0]["rowIndex"] = -1
    assert refused(broken, items=True) == [
        "f.json: $.analyzeResult.tables[0].cells[0].rowIndex: rowIndex must be a number that fits (Document "
        "Intelligence); found -1. Export the file again, or correct it."
    ]
    assert len(read(broken).boxes) == 6


def test_azure_2_has_lines_and_no_table_in_the_order() -> None:
    box = [0, 0, 10, 0, 10, 5, 0, 5]
    lines = [{"boundingBox": box, "text": "one"}, {"boundingBox": box, "text": "a"}]
    cell = {"rowIndex": 0, "columnIndex": 0, "isHeader": True, "text": "a", "boundingBox": box,
            "elements": ["#/readResults/0/lines/1/words/0"]}  # fmt: skip
    pages = [{"page": 1, "width": 10, "height": 10, "unit": "pixel", "lines": lines}]
    tree = {"analyzeResult": {"readResults": pages, "pageResults": [{"page": 1, "tables": [{"cells": [cell]}]}]}}
    cells = (Cell(0, 0, header=True, text="a", box=(0.0, 0.0, 1.0, 0.5)),)
    assert held(tree) == [("line", (0,), "one", None), ("table", None, None, cells)]


def textract() -> list[dict[str, Any]]:
    def block(kind: str, name: str, top: float, *children: str, merged: str = "", **more: Any) -> dict[str, Any]:
        box = {"Left": 0, "Top": top, "Width": 0.5, "Height": 0.25}
        relations = [{"Type": "CHILD", "Ids": [*children]}, {"Type": "MERGED_CELL", "Ids": merged.split()}]
        return {"BlockType": kind, "Id": name, "Page": 1, "Geometry": {"BoundingBox": box}, "Relationships": relations,
                **more}  # fmt: skip

    def cell(name: str, column: int, *children: str, kind: str = "CELL", **more: Any) -> dict[str, Any]:
        return block(kind, name, 0.5, *children, RowIndex=1, ColumnIndex=column, **more)

    return [
        block("PAGE", "p", 0), block("LINE", "l1", 0, Text="first"), block("LINE", "l2", 0, Text="second"),
        block("WORD", "w1", 0, Text="a"), block("WORD", "w2", 0, Text="b"), block("WORD", "w3", 0, Text="c"),
        block("LAYOUT_HEADER", "h", 0, "l1"), block("LAYOUT_TEXT", "t", 0.25, "l2", "l1"),
        block("LAYOUT_TABLE", "lt", 0.5), block("TABLE", "t1", 0.5, "c1", "c2", "c3", merged="m"),
        block("TABLE", "t2", 0.75, "c1"), cell("c1", 1, "w1", "w2"), cell("c2", 2, "w2", EntityTypes=["COLUMN_HEADER"]),
        cell("c3", 3, "w3"), cell("m", 1, "c1", "c2", kind="MERGED_CELL", ColumnSpan=2),
    ]  # fmt: skip


def test_textract_has_the_lines_of_its_layout_and_the_cells_of_the_table_on_it() -> None:
    box = (0, 0.5, 0.5, 0.75)
    merged = (Cell(0, 0, 1, 2, True, "a b b", box), Cell(0, 2, text="c", box=box))
    assert held({"Blocks": textract()}) == [
        ("LAYOUT_HEADER", None, "first", None), ("LAYOUT_TEXT", (1,), "second\nfirst", None),
        ("LAYOUT_TABLE", (2,), None, merged), ("TABLE", None, None, (Cell(0, 0, text="a b", box=box),)),
    ]  # fmt: skip
    assert len(read({"Blocks": textract()}).boxes) == 3
    broken = textract()
    broken[11]["RowIndex"] = 0
    assert refused({"Blocks": broken}, items=True) == [
        "f.json: $.Blocks[11].RowIndex: RowIndex must be a number that fits (Textract); found 0. "
        "Export the file again, or correct it."
    ]


@pytest.mark.parametrize(("ids", "what"), [(3, "Ids must be an array"), (["w1", 3], "Ids[1] must be a string")])
def test_textract_says_which_relationship_cannot_be_read(ids: object, what: str) -> None:
    broken = textract()
    broken[7]["Relationships"] = [{"Type": "CHILD", "Ids": ids}]
    (sentence,) = refused({"Blocks": broken}, items=True)
    place, _, rest = sentence.removeprefix("f.json: $.Blocks[7].Relationships[0].").partition(": ")
    assert (place, rest.partition("; ")[0]) == (what.partition(" ")[0], f"{what} (Textract)")
    odd = textract()
    odd[1]["Id"] = []
    assert len(read({"Blocks": odd}).boxes) == 3


def page_xml(order: str, *regions: str) -> bytes:
    text = (
        f'<PcGts><Page imageFilename="a.png" imageWidth="90" imageHeight="90">{order}{"".join(regions)}</Page></PcGts>'
    )
    return text.encode()


def region(name: str, inside: str = "", element: str = "TextRegion", more: str = "") -> str:
    return f'<{element} id="{name}"{more}><Coords points="0,0 9,0 9,9 0,9"/>{inside}</{element}>'


def test_page_xml_has_groups_of_groups_and_the_first_text() -> None:
    order = (
        '<ReadingOrder><OrderedGroup id="g"><UnorderedGroupIndexed id="u" index="2" regionRef="b"><RegionRef '
        'regionRef="c"/><OrderedGroup id="o"><RegionRefIndexed index="1" regionRef="e"/><RegionRefIndexed index="0" '
        'regionRef="d"/></OrderedGroup></UnorderedGroupIndexed><RegionRefIndexed index="1" regionRef="a"/>'
        '<RegionRefIndexed index="3" regionRef="x"/></OrderedGroup></ReadingOrder>'
    )
    said = '<TextEquiv index="1"><Unicode>2</Unicode></TextEquiv><TextEquiv><PlainText>1</PlainText></TextEquiv>'
    lines = "".join(f"<TextLine><TextEquiv><Unicode>{line}</Unicode></TextEquiv></TextLine>" for line in "xy")
    source = page_xml(order, region("a", said), region("b", lines), *map(region, "cdef"))
    read_order = [(0,), (1, 0, 0), (1, 0, 1, 0), (1, 0, 1, 1, 0), (1, 0, 1, 1, 1), None]
    assert held(source, name="f.xml") == [
        ("TextRegion", place, text, None) for place, text in zip(read_order, ["1", "x\ny", *[None] * 4], strict=True)
    ]
    assert warned(read(source, "f.xml", items=True)) == [
        "f.xml: line 1, <RegionRefIndexed>: ReadingOrder should name each region of the page once (PAGE XML); "
        'found 1 name of none or again, the first "x". They are left out.'
    ]
    assert held(page_xml("", region("a")), name="f.xml") == [("TextRegion", None, None, None)]


def test_page_xml_has_cells_with_roles_or_of_transkribus() -> None:
    role = '<Roles><TableCellRole rowIndex="0" columnIndex="1" colSpan="2" header="true"/></Roles>'
    text = "<TextEquiv><Unicode>a</Unicode></TextEquiv>"
    cell = '<TableCell row="1" col="0" rowSpan="2"><Coords points="0,0 4,0 4,5 0,5"/></TableCell>'
    tables = [region("t", region("c", role + text), "TableRegion"), region("u", cell, "TableRegion")]
    assert [each[3] for each in held(page_xml("", *tables), name="f.xml")] == [
        (Cell(0, 1, 1, 2, True, "a", (0.0, 0.0, 9.0, 9.0)),), (Cell(1, 0, 2, 1, box=(0.0, 0.0, 4.0, 5.0)),),
    ]  # fmt: skip
    assert warned(read(page_xml("", region("t", "", "TableRegion"), region("a")), "f.xml", items=True)) == [
        "f.xml: line 1, <TableRegion>: a table should have cells with their rows and columns (PAGE XML); found 1 table "
        "without. They have no cells to be compared; add TableCellRole to the regions in them."
    ]
    odd = page_xml("", region("u", cell.replace('"1"', '"-1"'), "TableRegion"))
    assert refused(odd, "f.xml", items=True) == [
        'f.xml: line 1, <TableCell>: row must be a whole number from 0 on (PAGE XML); found "-1". Correct it.'
    ]


def test_page_xml_has_the_text_of_words_and_of_glyphs() -> None:
    def said(text: str) -> str:
        return f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv>"

    glyphs = "".join(f"<Glyph>{said(letter)}</Glyph>" for letter in "cd")
    lines = f"<TextLine><Word>{said('ab')}</Word><Word>{glyphs}</Word></TextLine><TextLine>{said('e')}</TextLine>"
    assert held(page_xml("", region("a", lines)), name="f.xml") == [("TextRegion", None, "ab cd\ne", None)]


UNKNOWN = (
    "elements should be those of the format ({}); found 1 other element, the first a <{}>. What they hold is not read."
)


def test_xml_says_which_elements_are_not_of_the_format() -> None:
    source = page_xml("<Order/>", region("a"))
    assert warned(read(source, "f.xml", items=True)) == [
        f"f.xml: line 1, <Order>: {UNKNOWN.format('PAGE XML', 'Order')}"
    ]
    lines = block("a", '<String CONTENT="x"/>', "<String/>").replace("<String/>", "<String/><Tab/>")
    order = '<ReadingOrder><OrderedGroup ID="o"><ElementRef ID="1" REF="a"/></OrderedGroup></ReadingOrder>'
    assert warned(read(alto(lines, order=order), "f.xml", items=True)) == [
        "f.xml: line 1, <String>: a String must have CONTENT (ALTO); found 1 without. They are read without text.",
        f"f.xml: line 1, <Tab>: {UNKNOWN.format('ALTO', 'Tab')}",
    ]
    named = alto(block("a"), order=order.replace("ElementRef", "Named"))
    assert f"f.xml: line 1, <Named>: {UNKNOWN.format('ALTO', 'Named')}" in warned(read(named, "f.xml", items=True))


def alto(*blocks: str, order: str = "", margin: str = "") -> bytes:
    page = (
        f'<Page WIDTH="90" HEIGHT="90"><TopMargin>{margin}</TopMargin><PrintSpace>{"".join(blocks)}</PrintSpace></Page>'
    )
    return f"<alto>{order}<Layout>{page}</Layout></alto>".encode()


def block(name: str, *lines: str, more: str = "", element: str = "TextBlock") -> str:
    box = 'HPOS="0" VPOS="0" WIDTH="9" HEIGHT="9"'
    held_lines = "".join(f'<TextLine ID="{name}{number}">{line}</TextLine>' for number, line in enumerate(lines))
    return f'<{element} ID="{name}" {box}{more}>{held_lines}</{element}>'


def test_alto_reads_words_and_puts_parted_ones_together() -> None:
    whole = 'SUBS_CONTENT="measurement"'
    first = f'<String CONTENT="of"/><SP/><String CONTENT="measure" SUBS_TYPE="HypPart1" {whole}/><HYP CONTENT="-"/>'
    second = f'<String CONTENT="ment" SUBS_TYPE="HypPart2" {whole}/><SP/><String CONTENT="wa"/><HYP CONTENT="-"/>'
    source = alto(block("a", first, second, '<String CONTENT="ter"/>'), block("b"))
    assert held(source, name="f.xml") == [
        ("TextBlock", (0,), "of measurement\nwa-\nter", None), ("TextBlock", (1,), None, None),
    ]  # fmt: skip


def test_alto_takes_its_order_from_groups_from_chains_or_from_the_file() -> None:
    def places(source: bytes) -> list[Any]:
        return [place for _, place, *_ in held(source, name="f.xml")]

    word = '<String ID="w" CONTENT="x"/>'
    blocks = [block("a"), block("b", word), block("c")]
    order = (
        '<ReadingOrder><UnorderedGroup ID="u"><OrderedGroup ID="o"><ElementRef ID="1" REF="w"/><ElementRef ID="2" '
        'REF="b0"/><ElementRef ID="3" REF="a"/></OrderedGroup><ElementRef ID="4" REF="zz"/></UnorderedGroup>'
        "</ReadingOrder>"
    )
    named = alto(*blocks, order=order)
    assert places(named) == [(0, 0, 2), (0, 0, 0), None]
    assert warned(read(named, "f.xml", items=True)) == [
        "f.xml: line 1, <ElementRef>: ReadingOrder should name what is on a page (ALTO); found 1 name of nothing, the "
        'first "zz". They are left out.'
    ]
    assert places(alto(block("a"), block("b", more=' IDNEXT="c"'), block("c", more=' IDNEXT="a"'))) == [
        (2,),
        (0,),
        (1,),
    ]
    pairs = [block(one, more=f' IDNEXT="{other}"') for one, other in ("ab", "cd")]
    assert places(alto(pairs[0], block("b"), pairs[1], block("d"))) == [(0, 0, 0), (0, 0, 1), (0, 1, 2), (0, 1, 3)]
    lead = "f.xml: line 1, <TextBlock>: IDNEXT should lead from one block to the next, and in no circle (ALTO); found "
    for ends, expected, broken, first in (
        ("bca", [None, None, None], 3, "a"), ("bcb", [(0,), (1,), (2,)], 1, "c"),
        ("cc_", [(0, 0, 0), (0, 1, 2), (0, 0, 1)], 1, "b"),
    ):  # fmt: skip
        circle = alto(
            *(block(one, more=f' IDNEXT="{other}"'.replace("_", "")) for one, other in zip("abc", ends, strict=True))
        )
        assert places(circle) == expected
        assert warned(read(circle, "f.xml", items=True)) == [
            f'{lead}{broken} block{"s" * (broken > 1)} that the next does not follow, the first "{first}". Blocks of a '
            "circle have no place in the order; correct IDNEXT."
        ]
    assert warned(read(alto(block("a", more=' IDNEXT="z"')), "f.xml", items=True)) == [
        'f.xml: line 1, <TextBlock>: IDNEXT should name a block (ALTO); found 1 name of nothing, the first "z". The '
        "order ends there."
    ]
    unsaid = alto(*blocks, margin=block("m"))
    assert places(unsaid) == [None, (0,), (1,), (2,)]
    assert warned(read(unsaid, "f.xml", items=True)) == [
        "f.xml: line 1, <Page>: a page should have its order, in ReadingOrder or IDNEXT (ALTO); found 1 page without. "
        "Its blocks have that of the file; those in margins have none."
    ]


@needs_shared
@pytest.mark.parametrize(
    "folder",
    [
        "docling",
        "mineru",
        "marker",
        "pp-doclayout",
        "omnidocbench",
        "unstructured",
        "azure-di",
        "textract",
        "page-xml",
        "alto",
    ],
)
def test_boxes_are_the_same_with_and_without_what_they_hold(folder: str) -> None:
    files = [
        path
        for path in sorted(real("formats", folder).glob("*.*l")) + sorted(real("formats", folder).glob("*.json"))
        if "schema" not in path.name and "labels" not in path.name
    ]
    assert files
    for path in files:
        boxes, items = (formats.read(path, items=each) for each in (False, True))
        assert (boxes.boxes.order, boxes.boxes.text, boxes.boxes.cells) == (None, None, None)
        np.testing.assert_array_equal(boxes.boxes.xyxy, items.boxes.xyxy)
        assert (boxes.labels, list(boxes.boxes.ids)) == (items.labels, list(items.boxes.ids))


def related(kind: str, name: str, *children: str, by: str = "CHILD", **more: Any) -> dict[str, Any]:
    place = {"Left": 0.1, "Top": 0.1, "Width": 0.5, "Height": 0.5}
    relations = [{"Type": by, "Ids": [*children]}]
    return {"BlockType": kind, "Id": name, "Geometry": {"BoundingBox": place}, "Relationships": relations, **more}


def of_textract(*blocks: dict[str, Any]) -> bytes:
    return json.dumps({"Blocks": [related("PAGE", "p"), related("LAYOUT_TEXT", "z"), *blocks]}).encode()


def of_docling(*starts: int) -> bytes:
    tree = docling()
    text = "ab " * 50_000
    places = [{"l": 0, "t": 0, "r": 1 + at / len(starts), "b": 1} for at in range(len(starts))]
    boxes = [
        {"page_no": 1, "bbox": place, "charspan": [start, len(text)]}
        for place, start in zip(places, starts, strict=True)
    ]
    texts = [{**tree["texts"][1], "text": text, "prov": boxes}]
    return json.dumps({**tree, "texts": texts, "tables": [], "groups": []}).encode()


def of_azure(cells: int) -> bytes:
    polygon = [0, 0, 1, 0, 1, 1, 0, 1]
    table = {
        "cells": [{"rowIndex": at, "columnIndex": 0, "boundingBox": polygon} for at in range(cells)],
        "boundingRegions": [{"pageNumber": 1, "polygon": polygon}] * cells,
    }
    pages = [{"pageNumber": 1, "width": 9, "height": 9, "unit": "pixel"}]
    return json.dumps({"analyzeResult": {"pages": pages, "tables": [table]}}).encode()


CELL = {"RowIndex": 1, "ColumnIndex": 1}
COSTLY: dict[str, tuple[str, Callable[[], bytes]]] = {
    "blocks in blocks, each ten times": ("a.json", lambda: of_textract(
        *(related("LAYOUT_TEXT", f"l{at}", *[f"l{at + 1}"] * 10) for at in range(8)), related("LINE", "l8", Text="a"))),
    "tables and layout tables in one place": ("a.json", lambda: of_textract(
        *(related(kind, f"{kind}{at}") for at in range(1_500) for kind in ("TABLE", "LAYOUT_TABLE")))),
    "tables that share a cell of many words": ("a.json", lambda: of_textract(
        *(related("TABLE", f"t{at}", "c") for at in range(2_000)),
        related("CELL", "c", *(f"w{at}" for at in range(30_000)), **CELL))),
    "tables that share a merged cell of many": ("a.json", lambda: of_textract(
        *(related("TABLE", f"t{at}", "m", by="MERGED_CELL") for at in range(2_000)),
        related("MERGED_CELL", "m", *(f"c{at}" for at in range(30_000)), **CELL))),
    "blocks that share lines": ("a.json", lambda: of_textract(
        *(related("LAYOUT_TEXT", f"l{at}", "all") for at in range(1_500)),
        related("LAYOUT_LIST", "all", *(f"x{at}" for at in range(1_500))),
        *(related("LINE", f"x{at}", Text="abc" * 30) for at in range(1_500)))),
    "an item of many boxes": ("a.json", lambda: of_docling(*range(4_000))),
    "an item whose boxes have all of its text": ("a.json", lambda: of_docling(*[0, 150_000] * 2_000)),
    "cells of a table of many regions": ("a.json", lambda: of_azure(3_000)),
    "a custom attribute that never ends": ("a.xml", lambda: page_xml(
        "", region("a", more=f' custom="{"structure{" * 30_000}"'))),
}  # fmt: skip


@pytest.mark.parametrize("case", COSTLY)
def test_few_bytes_cost_little(case: str) -> None:
    """Each took minutes or a gigabyte."""
    name, make = COSTLY[case]
    content = make()
    assert len(content) < 1 << 20
    start = time.process_time()
    said: list[Issue] = []
    try:
        source = formats.read_bytes(content, name, items=True)
        assert sum(map(len, filter(None, source.boxes.text or ()))) < 1 << 20
    except BadInput as refusal:
        said = [issue for issue in refusal.issues if issue.severity == "error"]
    assert time.process_time() - start < 3.0
    assert {f"{issue.rule} {issue.fix}" for issue in said[:1]} <= {
        "a block must lie in at most 64 others, by way of others (Textract) Export the file again, or correct it."
    }
