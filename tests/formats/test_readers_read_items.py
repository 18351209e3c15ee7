"""Order, text and tables that files of models and ground truths have beside their boxes, which stay as they are."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.cells import Cell
from evaluator.data.plain_text import text_of_html
from tests.model_outputs import own, read, refused
from tests.reading import needs_shared, real, warned

TABLE = "<table><tr><td>1</td></tr></table>"


def held(tree: object, **given: Any) -> list[tuple[str, Any, Any, Any]]:
    """Label, place in the order, text and table of each item."""
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


@needs_shared
@pytest.mark.parametrize("folder", ["docling", "mineru", "marker", "pp-doclayout", "omnidocbench", "unstructured"])
def test_boxes_are_the_same_with_and_without_what_they_hold(folder: str) -> None:
    files = [path for path in sorted(real("formats", folder).glob("*.json")) if "schema" not in path.name]
    assert files
    for path in files:
        boxes, items = (formats.read(path, items=each) for each in (False, True))
        assert (boxes.boxes.order, boxes.boxes.text, boxes.boxes.cells) == (None, None, None)
        np.testing.assert_array_equal(boxes.boxes.xyxy, items.boxes.xyxy)
        assert (boxes.labels, list(boxes.boxes.ids)) == (items.labels, list(items.boxes.ids))
