"""Files that state the box of a region by two keys: where the two differ, which one is compared is said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats

_USED = [10, 20, 110, 220]


def _points(box: list[float]) -> list[list[float]]:
    x1, y1, x2, y2 = box
    return [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]


def _marker(box: list[float]) -> Any:
    block = {"block_type": "Text", "polygon": _points(_USED), "bbox": box, "children": None}
    return {"children": [{"block_type": "Page", "bbox": [0, 0, 1000, 1000], "children": [block]}]}


def _marker_page(box: list[float]) -> Any:
    block = {"block_type": "Text", "polygon": _points(_USED), "children": None}
    return {"children": [{"block_type": "Page", "bbox": _USED, "polygon": _points(box), "children": [block]}]}


def _mineru(box: list[float]) -> Any:
    detection = {
        "category_id": 1,
        "poly": [edge for point in _points(_USED) for edge in point],
        "bbox": box,
        "score": 0.5,
    }
    return [{"page_info": {"page_no": 0, "width": 1000, "height": 1000}, "layout_dets": [detection]}]


def _omnidocbench(box: list[float]) -> Any:
    region = {
        "category_type": "title",
        "poly": [edge for point in _points(_USED) for edge in point],
        "bbox": box,
        "anno_id": 1,
    }
    page = {"image_path": "a.png", "page_no": 0, "width": 1000, "height": 1000}
    return [{"layout_dets": [region], "page_info": page, "extra": {}}]


def _textract(box: list[float]) -> Any:
    x1, y1, x2, y2 = (edge / 1000 for edge in _USED)
    stated = {"Left": x1, "Top": y1, "Width": x2 - x1, "Height": y2 - y1}
    polygon = [{"X": x / 1000, "Y": y / 1000} for x, y in _points(box)]
    geometry = {"BoundingBox": stated, "Polygon": polygon}
    page = {"BlockType": "PAGE", "Id": "p", "Page": 1, "Geometry": {"BoundingBox": {**stated}}}
    return {"Blocks": [page, {"BlockType": "LAYOUT_TEXT", "Id": "t", "Page": 1, "Geometry": geometry}]}


def _documentai(box: list[float]) -> Any:
    shares = [{"x": x / 1000, "y": y / 1000} for x, y in _points(_USED)]
    pixels = [{"x": x, "y": y} for x, y in _points(box)]
    block = {"layout": {"boundingPoly": {"normalizedVertices": shares, "vertices": pixels}}}
    return {"text": "", "pages": [{"pageNumber": 1, "dimension": {"width": 1000, "height": 1000}, "blocks": [block]}]}


def _voc(box: list[float]) -> str:
    edges = "".join(f"<{key}>{at}</{key}>" for key, at in zip(("xmin", "ymin", "xmax", "ymax"), _USED, strict=True))
    polygon = "".join(f"<x{n}>{x}</x{n}><y{n}>{y}</y{n}>" for n, (x, y) in enumerate(_points(box), 1))
    size = "<size><width>1000</width><height>1000</height></size>"
    region = f"<object><name>a</name><bndbox>{edges}</bndbox><polygon>{polygon}</polygon></object>"
    return f"<annotation><filename>a.png</filename>{size}{region}</annotation>"


def _alto(box: list[float]) -> str:
    points = " ".join(f"{x},{y}" for x, y in _points(box))
    block = (
        f'<TextBlock ID="t" HPOS="10" VPOS="20" WIDTH="100" HEIGHT="200"><Shape><Polygon POINTS="{points}"/></Shape>'
    )
    space = f"<PrintSpace>{block}</TextBlock></PrintSpace>"
    page = f'<Layout><Page ID="p" PHYSICAL_IMG_NR="1" WIDTH="1000" HEIGHT="1000">{space}</Page></Layout>'
    unit = "<Description><MeasurementUnit>pixel</MeasurementUnit></Description>"
    return f'<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">{unit}{page}</alto>'


@pytest.mark.parametrize(
    ("make", "used", "sentence"),
    [
        (_marker, "polygon", "bbox should be the box of polygon (Marker); found [50, 20, 110, 220] and [10, 20, 110, "
         "220]. The box of polygon is compared; correct the other one."),
        (_marker_page, "bbox", "polygon should be the box of bbox (Marker)"),
        (_mineru, "poly", "bbox should be the box of poly (MinerU)"),
        (_omnidocbench, "poly", "bbox should be the box of poly (OmniDocBench)"),
        (_textract, "BoundingBox", "Polygon should be the box of BoundingBox (Textract); found [0.05, 0.02,"),
        (_documentai, "normalizedVertices", "vertices should be the box of normalizedVertices (Document AI)"),
        (_voc, "<bndbox>", "<polygon> should be the box of <bndbox> (Pascal VOC)"),
        (_alto, "HPOS and WIDTH", "Polygon should be the box of HPOS and WIDTH (ALTO)"),
    ],
)  # fmt: skip
def test_a_box_that_is_stated_twice_is_stated_once_or_said(
    make: Callable[[list[float]], Any], used: str, sentence: str, tmp_path: Path
) -> None:
    said = []
    for box in (_USED, [10.4, 20, 110, 220.4], [50, 20, 110, 220]):
        content = make(box)
        path = tmp_path / ("a.xml" if isinstance(content, str) else "a.json")
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        issues = formats.read(path).issues
        said.append([issue for issue in issues if "should be the box of" in issue.rule])
    assert said[:2] == [[], []]
    (issue,) = said[2]
    whole = f"{issue.rule}; found {issue.found}. {issue.fix}"
    assert issue.severity == "warning"
    assert whole.startswith(sentence)
    assert whole.endswith(f". The box of {used} is compared; correct the other one.")
