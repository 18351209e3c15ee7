"""Variants of the formats that the samples do not show, by the documentation of the tools."""

from __future__ import annotations

import json
import math
from typing import Any, Final

import pytest

from evaluator import formats
from tests.model_outputs import Box, read, same, warned

PNG: Final = {"id": 1, "data": {"image": "/data/p1.png"}}
DOCLING: Final = {
    "schema_name": "DoclingDocument",
    "version": "1.3.0",
    "name": "d",
    "texts": [
        {"label": "text",
         "prov": [{"page_no": 1, "bbox": {"l": 10, "t": 90, "r": 50, "b": 80, "coord_origin": "BOTTOMLEFT"}}]}
    ],
    "pages": {"1": {"size": {"width": 100, "height": 100}, "page_no": 1}},
}  # fmt: skip
SQUARE: Final = [[10, 10], [50, 10], [50, 20], [10, 20]]
MARKER: Final = {
    "block_type": "Document",
    "children": [
        {"id": "/page/0/Page/0", "block_type": "Page", "bbox": [0, 0, 100, 100],
         "children": [{"block_type": "Text", "polygon": SQUARE, "children": None}]}
    ],
}  # fmt: skip
CHUNKS: Final = {
    "blocks": [{"id": "/page/2/Text/1", "block_type": "Text", "page": 2, "polygon": SQUARE, "bbox": [10, 10, 50, 20]}],
    "page_info": {"2": {"bbox": [0, 0, 100, 100]}},
}
REGION: Final = {"type": "text", "bbox": [1, 2, 3, 4], "res": [{"text": "x", "confidence": 0.9}], "img_idx": 1}
SERVER: Final = {"errorCode": 0, "result": {"detectedObjects": [
    {"bbox": [1, 2, 3, 4], "categoryId": 0, "categoryName": "text", "score": 0.5}
]}}  # fmt: skip
GEOMETRY: Final = {"BoundingBox": {"Width": 0.5, "Height": 0.25, "Left": 0.25, "Top": 0.5}}
TITLE: Final = {"BlockType": "LAYOUT_TITLE", "Geometry": GEOMETRY, "Page": 3, "Confidence": 90.0}
CORNERS: Final = [{"x": 1, "y": 1}, {"x": 2, "y": 1}, {"x": 2, "y": 2}, {"x": 1, "y": 2}]
AZURE_SDK: Final = {
    "pages": [{"page_number": 1, "width": 4, "height": 8, "unit": "inch"}],
    "paragraphs": [{"role": "title", "bounding_regions": [{"page_number": 1, "polygon": CORNERS}]}],
}
AZURE_2021: Final = {"analyzeResult": {
    "apiVersion": "2021-09-30-preview",
    "pages": [{"pageNumber": 1, "width": 4, "height": 8, "unit": "inch",
               "lines": [{"boundingBox": [1, 1, 2, 1, 2, 2, 1, 2]}]}],
    "tables": [{"boundingRegions": [{"pageNumber": 1, "boundingBox": [0, 0, 4, 0, 4, 8, 0, 8]}]}],
}}  # fmt: skip
GOOGLE_SDK: Final = {
    "mime_type": "application/pdf",
    "pages": [{"page_number": 1, "dimension": {"width": 4, "height": 8}, "blocks": [
        {"layout": {"text_anchor": {}, "bounding_poly": {"vertices": CORNERS}}}
    ]}],
}  # fmt: skip
LAYOUT_PARSER: Final = (
    ",x_1,y_1,x_2,y_2,block_type,type,score,id\n"
    "0,1.0,2.0,3.0,4.0,rectangle,Text,0.5,0\n1,5.0,6.0,7.0,8.0,rectangle,Title,,1\n"
)
VOC_TURNED: Final = (
    "<annotation><filename>p1</filename><size><width>0</width><height>0</height></size><object><type>robndbox</type>"
    "<name>t</name><robndbox><cx>10</cx><cy>20</cy><w>4</w><h>6</h><angle>1.5707963267948966</angle></robndbox>"
    "</object></annotation>"
)
POSE: Final = "0 0.5 0.5 0.2 0.4 " + "0.5 0.5 2 0.4 0.4 1 0.3 0.3 0"
CVAT: Final = "<annotations><version>1.1</version><meta><task><id>1</id></task></meta></annotations>"

READ: Final[dict[str, tuple[object, str, list[Box]]]] = {
    "Docling Serve": (
        {"document": {"json_content": DOCLING, "md_content": None}}, "f.json", [(0, "text", 0.1, 0.1, 0.5, 0.2)],
    ),
    "Marker's server": ({"status": "complete", "json": MARKER}, "f.json", [(0, "Text", 0.1, 0.1, 0.5, 0.2)]),
    "Marker's chunks": (CHUNKS, "f.json", [(2, "Text", 0.1, 0.1, 0.5, 0.2)]),
    "PP-StructureV2": ([REGION], "f.json", [(1, "text", 1, 2, 3, 4)]),
    "PaddleX server": (SERVER, "f.json", [(0, "text", 1, 2, 3, 4)]),
    "a later part of Textract": ({"Blocks": [TITLE]}, "f.json", [(2, "LAYOUT_TITLE", 0.25, 0.5, 0.75, 0.75)]),
    "blocks of Textract": ([TITLE], "f.json", [(2, "LAYOUT_TITLE", 0.25, 0.5, 0.75, 0.75)]),
    "Azure's older SDK": (AZURE_SDK, "f.json", [(0, "title", 0.25, 0.125, 0.5, 0.25)]),
    "Azure of 2021": (AZURE_2021, "f.json", [(0, "line", 0.25, 0.125, 0.5, 0.25), (0, "table", 0, 0, 1, 1)]),
    "Document AI's to_dict": (GOOGLE_SDK, "f.json", [(0, "block", 0.25, 0.125, 0.5, 0.25)]),
    "LayoutParser's CSV": (LAYOUT_PARSER, "f.csv", [(0, "Text", 1, 2, 3, 4), (0, "Title", 5, 6, 7, 8)]),
    "a turned box of roLabelImg": (VOC_TURNED, "f.xml", [(0, "t", 7, 18, 13, 22)]),
    "a YOLO pose": (POSE, "p1.txt", [(0, "0", 0.4, 0.3, 0.6, 0.7)]),
    "a YOLO pose with confidence": (POSE + " 0.75", "p1.txt", [(0, "0", 0.4, 0.3, 0.6, 0.7)]),
    "a CVAT task without images": (CVAT, "f.xml", []),
    "an OmniDocBench page without regions": (
        [{"layout_dets": [], "page_info": {"width": 9, "height": 9, "image_path": "p1.png"}}], "f.json", [],
    ),
    "a task that nobody annotated": ([{**PNG, "annotations": []}], "f.json", []),
    "a record of JSON_MIN without regions": (
        [{"image": "/data/p1.png", "id": 1, "annotator": 1, "annotation_id": 2}], "f.json", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("variant", READ)
def test_variants_are_read(variant: str) -> None:
    tree, name, wanted = READ[variant]
    source = read(tree.encode() if isinstance(tree, str) else tree, name)
    same(source, wanted)
    assert {document.doc_id for document in source.documents} <= {"f", "d", "p1"}


def test_scores_go_along() -> None:
    assert read(SERVER).boxes.score.tolist() == [0.5]
    assert read([TITLE]).boxes.score.tolist() == [0.9]
    csv = read(LAYOUT_PARSER.encode(), "f.csv").boxes.score
    assert csv[0] == 0.5
    assert math.isnan(csv[1])
    assert read((POSE + " 0.75").encode(), "p1.txt").boxes.score.tolist() == [0.75]


def test_a_turned_box_keeps_its_outline_and_no_size_is_said() -> None:
    source = read(VOC_TURNED.encode(), "f.xml")
    assert source.page_size is None
    assert warned(source) == [
        "f.xml: line 1, <size>: width and height should be those of the image (Pascal VOC); found 0 x 0. The page is "
        "read without a size; write that of the image."
    ]
    slanted = read(VOC_TURNED.replace("1.5707963267948966", "0.5").encode(), "f.xml")
    assert slanted.boxes.polygons[0][0].shape == (4, 2)


def test_an_outline_is_no_pose() -> None:
    outline = "0 " + " ".join(["0.1 0.1", "0.5 0.1", "1 1", "0 0.5", "0.2 0.3", "1 0", "0 0"])
    assert 0 in read(outline.encode(), "p1.txt").boxes.polygons


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        (
            {"document": {"json_content": None, "md_content": "x"}},
            "f.json: $.document.json_content: This is an answer of Docling Serve without the document: its "
            "json_content is empty. Ask the server for it with to_formats=json.",
        ),
    ],
)
def test_refusals(tree: Any, sentence: str) -> None:
    with pytest.raises(formats.base.BadInput) as refused:
        formats.read_bytes(json.dumps(tree).encode(), "f.json")
    assert [issue.sentence for issue in refused.value.issues] == [sentence]


def test_an_element_without_vertices_is_left_out() -> None:
    layout = {"textAnchor": {}, "boundingPoly": {}}
    page = {"pageNumber": 1, "dimension": {"width": 4, "height": 8}, "blocks": [{"layout": layout}]}
    assert warned(read({"mimeType": "x", "pages": [page]})) == [
        "f.json: $.pages[0].blocks[0]: an element should have a boundingPoly with vertices (Document AI); found 1 "
        "without. They are left out."
    ]
