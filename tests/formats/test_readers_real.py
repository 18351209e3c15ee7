"""Real outputs of models and annotations: the boxes that a plain script finds in them, and no others."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from tests.model_outputs import REAL, around, over, read, real, same
from tests.reading import needs_shared, real_samples

Read = Iterator[tuple[Any, ...]]
"""Page index, label, corners, and the score where the format has scores."""
CATEGORIES = {
    0: "title", 1: "plain_text", 2: "abandon", 3: "figure", 4: "figure_caption", 5: "table", 6: "table_caption",
    7: "table_footnote", 8: "isolate_formula", 9: "formula_caption", 13: "embedding", 14: "isolated", 15: "ocr_text",
}  # fmt: skip


def corners_of(flat: list[float]) -> tuple[float, float, float, float]:
    return around([*zip(flat[::2], flat[1::2], strict=True)])


def azure(tree: Any) -> Read:
    for key, label in (("paragraphs", "paragraph"), ("tables", "table"), ("figures", "figure")):
        for element in tree[key]:
            for region in element["boundingRegions"]:
                page = tree["pages"][region["pageNumber"] - 1]
                box = over(corners_of(region["polygon"]), page["width"], page["height"])
                yield page["pageNumber"] - 1, element.get("role") or label, *box


def azure_2(tree: Any) -> Read:
    result = tree["analyzeResult"]
    for page, tables in zip(result["readResults"], result["pageResults"], strict=True):
        for label, shapes in (("line", page["lines"]), ("table", tables["tables"])):
            for shape in shapes:
                cells = [shape] if "boundingBox" in shape else shape["cells"]
                box = corners_of([edge for cell in cells for edge in cell["boundingBox"]])
                yield page["page"] - 1, label, *over(box, page["width"], page["height"])


def docling(tree: Any) -> Read:
    places = set()
    for key in ("texts", "tables", "pictures", "groups", "key_value_items", "form_items"):
        for item in tree.get(key, []):
            for prov in item.get("prov", []):
                size = tree["pages"][str(prov["page_no"])]["size"]
                box, low = prov["bbox"], prov["bbox"].get("coord_origin") == "BOTTOMLEFT"
                top, bottom = ((size["height"] - box[edge]) if low else box[edge] for edge in ("t", "b"))
                place = over((box["l"], top, box["r"], bottom), size["width"], size["height"])
                places.add((item["self_ref"], prov["page_no"] - 1, item["label"], *place))
    yield from (place[1:] for place in places)


def documentai(tree: Any) -> Read:
    for page in tree["pages"]:
        for key in ("blocks", "paragraphs", "tables"):
            for element in page[key]:
                corners = element["layout"]["boundingPoly"]["normalizedVertices"]
                box = around([(corner.get("x", 0), corner.get("y", 0)) for corner in corners])
                yield page["pageNumber"] - 1, key[:-1], *box


def marker(tree: Any) -> Read:
    for number, page in enumerate(tree["children"]):
        for block in page["children"]:
            for part in [block, *(block["children"] if block["block_type"].endswith("Group") else ())]:
                yield number, part["block_type"], *over(around(part["polygon"]), *page["bbox"][2:])


def mineru_model(tree: Any) -> Read:
    for page in tree:
        info = page["page_info"]
        for each in page["layout_dets"]:
            box = over(corners_of(each["poly"]), info["width"], info["height"])
            yield info["page_no"], CATEGORIES[each["category_id"]], *box, each["score"]


def mineru_middle(tree: Any) -> Read:
    for page in tree["pdf_info"]:
        for block in page["para_blocks"] + page["discarded_blocks"]:
            for part in [block, *block.get("blocks", ())]:
                yield page["page_idx"], part["type"], *over(part["bbox"], *page["page_size"])


def mineru_content_list(tree: Any) -> Read:
    for entry in tree:
        label = "title" if entry.get("text_level") else entry["type"]
        yield entry["page_idx"], label, *over(entry["bbox"], 1000, 1000)


def paddle(tree: Any) -> Read:
    for each in tree["boxes"]:
        yield 0, each["label"], *each["coordinate"], each["score"]


def textract(tree: Any) -> Read:
    layout = [block for block in tree["Blocks"] if block["BlockType"].startswith("LAYOUT_")]
    for block in layout or [block for block in tree["Blocks"] if block["BlockType"] in ("TABLE", "LINE")]:
        box = block["Geometry"]["BoundingBox"]
        edges = box["Left"], box["Top"], box["Left"] + box["Width"], box["Top"] + box["Height"]
        yield block.get("Page", 1) - 1, block["BlockType"], *edges, block["Confidence"] / 100


def unstructured(tree: Any) -> Read:
    for element in tree:
        about, held = element["metadata"], element["metadata"]["coordinates"]
        box = over(around(held["points"]), held["layout_width"], held["layout_height"])
        yield about["page_number"] - 1, element["type"], *box


FILES: list[tuple[str, str, Callable[[Any], Read], int]] = [
    ("azure-di", "Invoice_1.pdf.ocr.json", azure_2, 19), ("azure-di", "sample-layout-output.json", azure_2, 70),
    ("docling", "activities.gt.azure.json", azure, 22), ("docling", "2203.01017v2.json", docling, 626),
    ("docling", "2305.03393v1-pg9.json", docling, 10), ("docling", "2408.09869_p1.json", docling, 13),
    ("docling", "amt_handbook_sample.json", docling, 29), ("docling", "multi_page.json", docling, 53),
    ("docling", "normal_4pages.json", docling, 88), ("docling", "picture_classification.json", docling, 11),
    ("google-documentai", "form_with_tables.json", documentai, 35), ("marker", "multicolcnn.json", marker, 151),
    ("mineru", "mineru2_model.json", mineru_model, 1321), ("mineru", "mineru2_middle.trimmed.json", mineru_middle, 46),
    ("mineru", "mineru2_content_list.json", mineru_content_list, 112),
    ("pp-doclayout", "PP-DocLayoutV2_layout_detection_docs.json", paddle, 4),
    ("textract", "layout_csv_example.json", textract, 21), ("textract", "employmentapp.json", textract, 29),
    ("textract", "test_detect_document_text.json", textract, 24),
    ("unstructured", "2023-Jan-economic-outlook.pdf.json", unstructured, 114),
]  # fmt: skip


@needs_shared
@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("azure-di/Invoice_1.pdf.ocr.json", "19 boxes, of which 9 are read"),
        ("azure-di/sample-layout-output.json", "70 boxes, of which 55 are read"),
        ("page-xml/SimplePage.xml", "14 boxes, of which 5 are read"),
        ("textract/layout_csv_example.json", "21 boxes, of which 13 are read"),
        ("textract/employmentapp.json", "29 boxes, of which 7 are read"),
        ("docling/2203.01017v2.json", "626 boxes, of which 231 are read"),
        ("docling/amt_handbook_sample.json", "29 boxes, of which 18 are read"),
        ("google-documentai/form_with_tables.json", "35 boxes, of which 10 are read"),
        ("marker/multicolcnn.json", "151 boxes, of which 140 are read"),
        ("mineru/mineru2_middle.trimmed.json", "46 boxes, of which 45 are read"),
    ],
)
def test_boxes_in_tables_of_real_files_are_not_read(name: str, counted: str) -> None:
    source = formats.read(REAL / name)
    assert source.issues[-1].found == counted
    assert len(source.boxes) == int(counted.split()[-3])


@needs_shared
@pytest.mark.parametrize(("folder", "name", "script", "count"), FILES)
def test_a_real_file_has_the_boxes_of_a_plain_script(
    folder: str, name: str, script: Callable[[Any], Read], count: int
) -> None:
    wanted = list(script(real(folder, name)))
    source = read((REAL / folder / name).read_bytes(), name, level="all")
    assert len(wanted) == count
    same(source, [row[:6] for row in wanted])
    if len(wanted[0]) > 6:
        assert sorted(source.boxes.score.tolist()) == sorted(row[6] for row in wanted)


Annotated = Iterator[tuple[str, list[float]]]
"""Id or label of each box, and its corners."""


def alto(path: Path) -> Annotated:
    for element in ET.parse(path).iter():
        if element.tag.rpartition("}")[2] in ("TextBlock", "Illustration", "GraphicalElement", "ComposedBlock"):
            left, top, width, height = (float(element.get(key, "")) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
            yield element.get("ID", ""), [left, top, left + width, top + height]


def page_xml(path: Path) -> Annotated:
    for element in ET.parse(path).iter():
        coords = [child for child in element if child.tag.endswith("}Coords")]
        if element.tag.endswith("Region") and coords:
            pairs = [pair.split(",") for pair in coords[0].get("points", "").split()]
            pairs = pairs or [[point.get("x", ""), point.get("y", "")] for point in coords[0]]
            if pairs:
                yield element.get("id", ""), [*around([(float(x), float(y)) for x, y in pairs])]


def voc(path: Path) -> Annotated:
    for element in ET.parse(path).getroot().findall("object"):
        edges = ("xmin", "ymin", "xmax", "ymax")
        yield element.findtext("name", ""), [float(element.findtext(f"bndbox/{key}", "")) for key in edges]


def label_studio(path: Path) -> Annotated:
    for task in json.loads(path.read_text(encoding="utf-8")):
        for result in task["annotations"][0]["result"]:
            value, kind = result.get("value", {}), result["type"]
            if kind == "rectanglelabels":
                x, y, width, height = (value[key] / 100 for key in ("x", "y", "width", "height"))
                yield value[kind][0], [x, y, x + width, y + height]
            elif kind == "polygonlabels":
                yield value[kind][0], [edge / 100 for edge in around(value["points"])]


def cvat(path: Path) -> Annotated:
    for shape in ET.parse(path).getroot().iterfind("image/*"):
        if shape.tag == "box":
            yield shape.get("label", ""), [float(shape.get(key, "")) for key in ("xtl", "ytl", "xbr", "ybr")]
        elif shape.tag == "polygon":
            pairs = [tuple(map(float, pair.split(","))) for pair in shape.get("points", "").split(";")]
            yield shape.get("label", ""), [*around(pairs)]


def omnidocbench(path: Path) -> Annotated:
    for page in json.loads(path.read_text(encoding="utf-8")):
        for each in page["layout_dets"]:
            yield each["category_type"], [*corners_of(each["poly"])]


def omnidocbench_results(path: Path) -> Annotated:
    value = json.loads(path.read_text(encoding="utf-8"))
    for each in value["results"]:
        yield value["categories"][str(each["category_id"])], each["bbox"]


@needs_shared
@pytest.mark.parametrize(
    ("folder", "pattern", "script", "named"),
    [
        ("alto", "*.xml", alto, "ids"), ("page-xml", "*.xml", page_xml, "ids"), ("pascal-voc", "*.xml", voc, "labels"),
        ("label-studio", "*.json", label_studio, "labels"), ("cvat", "*_project_*.xml", cvat, "labels"),
        ("omnidocbench", "*demo*.json", omnidocbench, "labels"),
        ("omnidocbench", "detection_prediction.json", omnidocbench_results, "labels"),
    ],
)  # fmt: skip
def test_real_annotations_have_the_boxes_of_a_plain_script(
    folder: str, pattern: str, script: Callable[[Path], Annotated], named: str
) -> None:
    for path in real_samples(folder, pattern):
        boxes = (source := formats.read(path, level="all")).boxes
        names = boxes.ids if named == "ids" else [source.labels[code] for code in boxes.label]
        assert sorted(zip(names, boxes.xyxy.tolist(), strict=True)) == sorted(script(path)), path.name
