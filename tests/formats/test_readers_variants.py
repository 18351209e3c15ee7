"""Variants of the formats that the samples do not show, by the documentation of the tools."""

import json
import math
from typing import Any, Final

import pytest

from tests.model_outputs import Box, boxes, changed, own, read, refused, same
from tests.reading import warned

PNG: Final = {"id": 1, "data": {"image": "/data/p1.png"}}
DOCLING, MARKER, TEXTRACT, ELEMENTS = (
    own(f"{name}.json") for name in ("docling", "marker", "textract", "unstructured")
)
ALIKE: Final[list[tuple[object, object]]] = [
    (DOCLING, {"document": {"json_content": DOCLING, "md_content": None}}),
    (DOCLING, {"document": DOCLING, "status": "success"}),
    (DOCLING, changed(DOCLING, "schema_name")),
    (MARKER, {"status": "complete", "json": MARKER}),
    (MARKER, {"format": "json", "output": json.dumps(MARKER), "success": True}),
    (MARKER, MARKER["children"]),
    (TEXTRACT, {"response": TEXTRACT}),
    (TEXTRACT, {"pages": [{"Blocks": TEXTRACT["Blocks"][:3]}, {"Blocks": TEXTRACT["Blocks"][3:]}]}),
    (ELEMENTS, {"elements": ELEMENTS}),
    (ELEMENTS, [changed(each, "element_id") for each in ELEMENTS]),
]
"""A document, and the same in an answer of a server, under a name, or without what names the format."""
CHUNKS: Final = {
    "blocks": [{"id": "/page/2/Text/1", "block_type": "Text", "page": 2, "bbox": [10, 10, 50, 20],
                "polygon": [[10, 10], [50, 10], [50, 20], [10, 20]]}],
    "page_info": {"2": {"bbox": [0, 0, 100, 100]}},
}  # fmt: skip
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

SHARES: Final = [{"x": 0.1, "y": 0.2}, {"x": 0.3, "y": 0.2}, {"x": 0.3, "y": 0.4}, {"x": 0.1, "y": 0.4}]
PLACED: Final = {"pageSpan": {"pageStart": 2, "pageEnd": 2}, "boundingBox": {"normalizedVertices": SHARES}}
LAYOUT_PARSED: Final = {"mimeType": "application/pdf", "documentLayout": {"blocks": [
    {**PLACED, "textBlock": {"text": "x", "type": "heading-1", "blocks": [{**PLACED, "tableBlock": {"bodyRows": []}}]}},
    {**PLACED, "listBlock": {}}, {**PLACED, "imageBlock": {}}, {**PLACED, "textBlock": {"text": "x"}}, PLACED,
]}}  # fmt: skip
PAGE_XML: Final = (
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename="p1.png"@>'
    '<TextRegion id="r"><Coords points="10,10 50,10 50,20 10,20"/></TextRegion></Page></PcGts>'
)
REGION_OF_TASK: Final = {
    "id": "r", "type": "rectanglelabels",
    "value": {"x": 10, "y": 5, "width": 40, "height": 5, "rotation": 0, "rectanglelabels": ["Text"]},
}  # fmt: skip
TASK: Final = {"id": 1, "data": {"ocr": "x.json", "image": "p1.png"}, "annotations": [{"result": [REGION_OF_TASK]}]}
OMNI: Final = {
    "layout_dets": [{"category_type": "title", "category_id": 0, "bbox": [1, 2, 3, 4]}],
    "page_info": {"page_no": 0, "width": 9, "height": 9, "image_path": "p1.png"},
}
OMNI_RESULTS: Final = {
    "results": [{"image_name": "p1", "bbox": [1, 2, 3, 4], "category_id": 1, "score": 0.5}],
    "categories": [{"id": 1, "name": "title"}],
}
TRACKED: Final = "0 0.5 0.5 0.2 0.4 0.75 1\n0 0.5 0.5 0.2 0.2 0.5 2\n"

READ: Final[dict[str, tuple[object, str, list[Box]]]] = {
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
    "Textract, a response for each image": (
        [{"Blocks": [{"BlockType": "PAGE", "Page": 1}, {**TITLE, "Page": 1}]}] * 2, "f.json",
        [(page, "LAYOUT_TITLE", 0.25, 0.5, 0.75, 0.75) for page in (0, 1)],
    ),
    "Document AI's layout parser": (
        LAYOUT_PARSED, "f.json",
        [(1, label, 0.1, 0.2, 0.3, 0.4) for label in ("table", "list", "image", "text", "block")],
    ),
    "Document AI's layout parser in pixels": (
        {"mimeType": "image/png", "pages": [{"pageNumber": 1, "dimension": {"width": 4, "height": 8}}],
         "documentLayout": {"blocks": [{"boundingBox": {"vertices": CORNERS}, "tableBlock": {}}]}}, "f.json",
        [(0, "table", 0.25, 0.125, 0.5, 0.25)],
    ),
    "PAGE XML without a size": (PAGE_XML.replace("@", ""), "f.xml", [(0, "TextRegion", 10, 10, 50, 20)]),
    "PAGE XML of 0 x 0": (
        PAGE_XML.replace("@", ' imageWidth="0" imageHeight="0"'), "f.xml", [(0, "TextRegion", 10, 10, 50, 20)],
    ),
    "tasks of Label Studio's API": ({"tasks": [TASK], "total": 1}, "f.json", [(0, "Text", 0.1, 0.05, 0.5, 0.1)]),
    "an OmniDocBench page alone": (OMNI, "f.json", [(0, "title", 1, 2, 3, 4)]),
    "OmniDocBench results with a list of categories": (OMNI_RESULTS, "f.json", [(0, "title", 1, 2, 3, 4)]),
    "YOLO boxes of a tracker": (TRACKED, "p1.txt", [(0, "0", 0.4, 0.3, 0.6, 0.7), (0, "0", 0.4, 0.4, 0.6, 0.6)]),
    "one YOLO box of a tracker beside one without": (
        "0 0.5 0.5 0.2 0.4 0.9 1\n0 0.5 0.5 0.2 0.2 0.8", "p1.txt",
        [(0, "0", 0.4, 0.3, 0.6, 0.7), (0, "0", 0.4, 0.4, 0.6, 0.6)],
    ),
    "YOLO boxes of one track, written as floats, beside one without a confidence": (
        "0.0 0.5 0.5 0.2 0.4 0.9 1.0\n0.0 0.5 0.5 0.2 0.2 0.9 1.0\n0 0.5 0.5 0.2 0.2", "p1.txt",
        [(0, "0", 0.4, 0.3, 0.6, 0.7), *[(0, "0", 0.4, 0.4, 0.6, 0.6)] * 2],
    ),
    "columns of Open Images": (
        "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\nf,x,/m/1,0.9,1,3,2,4\n", "f.csv",
        [(0, "/m/1", 1, 2, 3, 4)],
    ),
    "an OmniDocBench page without regions": (
        [{"layout_dets": [], "page_info": {"width": 9, "height": 9, "image_path": "p1.png"}}], "f.json", [],
    ),
    "a record of JSON_MIN without regions": (
        [{"image": "/data/p1.png", "id": 1, "annotator": 1, "annotation_id": 2}], "f.json", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tree", "variant"), ALIKE)
def test_what_is_around_a_document_is_taken_off(tree: object, variant: object) -> None:
    assert boxes(read(variant)) == boxes(read(tree))


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
    assert read(TRACKED.encode(), "p1.txt").boxes.score.tolist() == [0.75, 0.5]
    assert read((POSE + " 0.75").encode(), "p1.txt").boxes.score.tolist() == [0.75]


ONE_DOCUMENT: Final = (
    "Write each document to a file of its own, without a list around it; a folder of them is read as one."
)
NO_BOXES_OF_TEXT: Final = {"id": 1, "data": {"text": "x"}, "annotations": [
    {"result": [{"type": "labels", "value": {"start": 1, "end": 2, "labels": ["PER"]}}]}
]}  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "name", "sentence"),
    [
        (PAGE_XML.replace("@", ""), "f.xml", "line 1, <Page>: imageWidth and imageHeight should be those of the image "
         "(PAGE XML); found none. The page is read without a size; write that of the image."),
        (PAGE_XML.replace("@", ' imageWidth="0" imageHeight="0"'), "f.xml", "line 1, <Page>: imageWidth and "
         "imageHeight "
         "should be those of the image (PAGE XML); found 0 x 0. The page is read without a size; write that of the "
         "image."),
        ({"documentLayout": {"blocks": [{"blockId": "1", "textBlock": {}}, PLACED]}}, "f.json",
         "$.documentLayout.blocks[0]: a block of a layout should have a boundingBox with vertices (Document "
         "AI); found 1 of 2 blocks without. They are left out."),
        ("0 0.5 0.5 0.2 0.1 0.9 1", "f.txt", "line 1: seven numbers are an outline of three points, or a box with a "
         'confidence and a track (YOLO); found "0 0.5 0.5 0.2 0.1 0.9 1". It is read as an outline; leave out the '
         "track if it is a box."),
        (TRACKED, "f.txt", "numbers of tracks are not read (YOLO, save_txt of a tracker); found 2 boxes with one. They "
         "are left out."),
    ],
)  # fmt: skip
def test_what_is_said_of_variants(tree: object, name: str, sentence: str) -> None:
    assert f"{name}: {sentence}" in warned(read(tree.encode() if isinstance(tree, str) else tree, name))


PAGE_OF_9: Final = {"size": {"width": 9, "height": 9}, "page_no": 1}


def nothing(source: str) -> str:
    return (
        f"a file must have a region that can be read, or pages without anything ({source}); found none. The warnings "
        "say what was left out; correct it, or omit the file."
    )


def page_xml(inner: str) -> str:
    return f'<PcGts><Page imageFilename="a.png" imageWidth="9" imageHeight="9">{inner}</Page></PcGts>'


def alto_xml(inner: str) -> str:
    return f'<alto><Layout><Page WIDTH="9" HEIGHT="9"><PrintSpace>{inner}</PrintSpace></Page></Layout></alto>'


def cvat_xml(inner: str) -> str:
    return f'<annotations><image id="0" name="a.png" width="9" height="9">{inner}</image></annotations>'


@pytest.mark.parametrize(
    ("tree", "name", "sentences"),
    [
        ({"Blocks": [{"BlockType": "PAGE"}, {"BlockType": "WORD", "Geometry": GEOMETRY}]}, "f.json", [
            "$: a response "
            'must have LAYOUT, TABLE or LINE blocks (Textract); found "PAGE", "WORD". '
            "Call AnalyzeDocument with the feature LAYOUT for regions.",
        ]),
        ([NO_BOXES_OF_TEXT], "f.json", [
            nothing("Label Studio"),
            "$[0].annotations[0].result[0]: only rectangles, polygons, ellipses and brush masks are read "
            '(Label Studio); found 1 of the kind "labels". They are left out; draw regions as rectangles or polygons.',
        ]),
        (CVAT, "f.xml", [
            "a file must have a page or a box; found none. Check that it is the right file; CVAT for images 1.1 (XML) "
            "has an <annotations> element with an <image> or a <track>.",
        ]),
        ([{**PNG, "annotations": []}], "f.json", [
            "a file must have a page or a box; found none. Check that it is the right file; Label Studio export (JSON "
            "or JSON_MIN) has tasks with annotations or predictions that have results, or regions with "
            "rectanglelabels.",
            "$[0]: tasks that were not annotated, or were skipped, are left out (Label Studio); found 1. Nothing to do "
            "if so meant.",
        ]),
        (page_xml("<TextRegion/>"), "f.xml", [
            nothing("PAGE XML"),
            "line 1, <TextRegion>: a region must have an outline (PAGE XML); found none. It is left out; draw its "
            "outline to have it compared.",
        ]),
        (page_xml('<TextLine><Coords points="1,1 2,2 3,1"/></TextLine>' * 2), "f.xml", [
            nothing("PAGE XML"),
            "line 1, <TextLine>: a page should have regions, with lines and words in them (PAGE XML); found 2 other "
            "elements with an outline, the first a <TextLine>. They are left out.",
        ]),
        (alto_xml("<TextBlock/>"), "f.xml", [
            nothing("ALTO"),
            "line 1, <TextBlock>: a block must have HPOS, VPOS, WIDTH, HEIGHT or an outline (ALTO); found neither. It "
            "is left out; give its place to have it compared.",
        ]),
        (alto_xml('<TextLine HPOS="1" VPOS="1" WIDTH="2" HEIGHT="2"/>'), "f.xml", [
            nothing("ALTO"),
            "line 1, <TextLine>: a page should have blocks, with lines and words in them (ALTO); found 1 other "
            "element, the first a <TextLine>. They are left out.",
        ]),
        ("<annotation><filename>a.png</filename><item><bndbox/></item></annotation>", "f.xml", [
            nothing("Pascal VOC"),
            "line 1, <item>: a <bndbox> must be in an <object> (Pascal VOC); found 1 other element with one. They are "
            "left out.",
        ]),
        (cvat_xml('<tag label="x"/>'), "f.xml", [
            nothing("CVAT for images 1.1"),
            "line 1, <tag>: only boxes, polygons, ellipses and masks are read (CVAT for images 1.1); found 1 of the "
            'kind "tag". They are left out; draw regions as boxes or polygons.',
        ]),
        (cvat_xml('<box xtl="1" ytl="1" xbr="2" ybr="2"/>'), "f.xml", [
            nothing("CVAT for images 1.1"),
            "line 1, <box>: a region should have a label (CVAT for images 1.1); found 1 without. They are left out; "
            "label them to have them compared.",
        ]),
        ("<document filename='a.png'><p/></document>", "f.xml", [
            nothing("ICDAR 2017 POD"),
            "line 1, <p>: a region must be a formulaRegion, tableRegion or figureRegion (ICDAR 2017 POD); found "
            '"p". It is left out.',
        ]),
        ([{**PNG, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["a"]}}]}]}], "f.json", [
            nothing("Label Studio"),
            "$[0].annotations[0].result[0]: a result must be a region, or be about one (Label Studio); found 1 and no "
            "region. They are left out; give a project with regions.",
        ]),
        ({"schema_name": "DoclingDocument", "texts": [{"label": "text", "prov": []}], "pages": {"1": PAGE_OF_9}},
         "f.json", [
            "This is a DoclingDocument without places: none of its 1 items is on a page. Convert a PDF or images with "
            "Docling and save that as JSON.",
        ]),
        ({"pdf_info": [{"page_idx": 0, "page_size": [9, 9], "images": []}]}, "f_middle.json", [
            "$.pdf_info[0]: a page must have para_blocks or preproc_blocks (MinerU); found only \"page_idx\", "
            '"page_size", "images". Export the file again, or correct it.',
        ]),
    ],
)  # fmt: skip
def test_a_file_of_which_nothing_is_read_is_refused(tree: object, name: str, sentences: list[str]) -> None:
    assert refused(tree.encode() if isinstance(tree, str) else tree, name) == [f"{name}: {each}" for each in sentences]


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
        ({"document": {"json_content": None, "md_content": "x"}}, "f.json: $.document.json_content: This is an answer "
         "of Docling Serve without the document: its json_content is empty. Ask the server for it with "
         "to_formats=json."),
        ([DOCLING], f"f.json: $: a file must hold one document (DoclingDocument); found a list of 1. {ONE_DOCUMENT}"),
        ([{"pages": AZURE_2021["analyzeResult"]["pages"], "boundingRegions": 1}] * 2, "f.json: $: a file must hold "
         f"one document (Document Intelligence); found a list of 2. {ONE_DOCUMENT}"),
        ([GOOGLE_SDK], f"f.json: $: a file must hold one document (Document AI); found a list of 1. {ONE_DOCUMENT}"),
        ({"stringIndexType": "x", "modelId": "prebuilt-layout", "pages": [], "paragraphs": [{"content": "x"}]},
         "f.json: This is a Document Intelligence result without places: none of its 1 elements is on a page. Analyze "
         "a PDF or images; Office and HTML files have no pages."),
        ({"documentLayout": {"blocks": [{"blockId": "1", "textBlock": {}}]}}, "f.json: This is a Document AI layout "
         "without boxes: none of its 1 blocks has a boundingBox. Process the document again with returnBoundingBoxes "
         "in the layoutConfig, or with an OCR processor."),
        ({"images": [], "categories": [], "annotations": [{"image_id": 1, "segments_info": []}]},
         "f.json: $.annotations[0].segments_info: this is a panoptic file of COCO, whose segments are in images of "
         "their own. Convert it with panoptic2detection_coco_format.py of panopticapi."),
        ({"images": [], "annotations": [{"image_id": 1, "caption": "x"}]}, "f.json: $.annotations[0].caption: this is "
         "a file of captions of COCO, which has no boxes. Give the instances file of the same images."),
        ({"predictions": [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]}, "f.json: $: results "
         'must be an array at the top level (COCO format); found an object with results under "predictions". Write the '
         "array alone."),
        ([{"image_id": 10**19, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}], "f.json: $[0].image_id: "
         "image_id must be an integer of 64 bits (COCO format); found 10000000000000000000. Write a smaller number, or "
         "put this id in quotes everywhere."),
    ],
)  # fmt: skip
def test_refusals(tree: Any, sentence: str) -> None:
    assert refused(tree) == [sentence]
