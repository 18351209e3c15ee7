"""What all readers of model outputs have: each file is one format's, a cut-off file states so, and the known ones."""

import functools
import json
from collections.abc import Sequence
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.issues import BadInput, Issue
from evaluator.formats import unsupported
from tests.model_outputs import GONE, changed, own, paths, read, refused
from tests.reading import OWN

FORMAT_OF = {
    "azure.json": "azure", "azure_old.json": "azure", "docling.json": "docling", "documentai.json": "documentai",
    "marker.json": "marker", "mineru_content_list.json": "mineru", "mineru_middle.json": "mineru",
    "mineru_model.json": "mineru", "paddle.json": "paddle", "supervision.csv": "supervision", "table.csv": "table",
    "textract.json": "textract", "unstructured.json": "unstructured",
}  # fmt: skip
JSON = sorted(name for name in FORMAT_OF if name.endswith(".json"))


@pytest.mark.parametrize(("name", "format"), FORMAT_OF.items())
def test_a_file_is_of_one_format(name: str, format: str) -> None:
    content = (OWN / name).read_bytes()
    assert [key for key, row in formats.FORMATS.items() if row.detect(content, name)] == [format]
    assert formats.detect_bytes(content, name) == format
    assert formats.FORMATS[format].side_of(content, name) == "prediction"
    assert unsupported.find(content) is None


@pytest.mark.parametrize("name", JSON)
def test_a_cut_off_file_says_so(name: str) -> None:
    content = json.dumps(own(name)).encode()[:-1]
    assert refused(content) == [
        f"f.json: line 1, column {len(content) + 1}: the text must be well-formed JSON (RFC 8259); "
        "found the end of the text. The file is cut off; copy or export it again."
    ]


@pytest.mark.parametrize("name", JSON)
def test_a_repeated_key_and_a_number_that_is_none_are_said(name: str) -> None:
    content = json.dumps(own(name)).replace("{", '{"twice": 1, "twice": 2, "none": NaN, ', 1)
    twice, none = refused(content.encode())[:2]
    rule = 'a key must not be repeated in one object (RFC 8259, section 4); found "twice" 2 times. Keep one of them.'
    assert twice.endswith(f".twice: {rule}")
    assert none.endswith(".none: numbers must be finite and fit float64 (RFC 8259, section 6); found NaN. Correct it.")


def test_scores_as_ground_truth() -> None:
    assert refused(own("paddle.json"), side="ground_truth") == [
        "f.json: $.layout_det_res.boxes[0]: a ground truth file must not have a score (PaddleX); "
        "found 2 of 2 regions with one. Give this file as the prediction, or remove the score."
    ]
    source = read(own("paddle.json"), side="ground_truth", as_reference=True)
    assert [issue.sentence for issue in source.issues] == [
        "f.json: $.layout_det_res.boxes[0]: predictions are used as the reference, on request; "
        "found 2 of 2 regions with one. Their scores are left out; read results accordingly."
    ]


AGAIN = "Export the file again, or correct it."
LEFT_OUT = "$[3]: an element should have coordinates (unstructured); found 1 of 3 elements without. They are left out."
SPOILT: dict[str, list[tuple[Any, ...]]] = {
    "azure.json": [
        ("analyzeResult", None,
         f'@: a result must be an object (Document Intelligence); found status "succeeded". {AGAIN}'),
        ("analyzeResult.pages.0.unit", "foot",
         f'@: unit must be inch or pixel (Document Intelligence); found "foot". {AGAIN}'),
        ("analyzeResult.pages.0.width", GONE, "^: every page must have a width and a height (Document Intelligence); "
         "found none. Write the size of the page."),
        ("analyzeResult.paragraphs.0.boundingRegions", "x",
         f'@: boundingRegions must be an array (Document Intelligence); found "x". {AGAIN}'),
        ("analyzeResult.paragraphs.0.boundingRegions.0.polygon", [1, 2, 3],
         f"^: a polygon must have pairs of numbers, two at least (Document Intelligence); found [1, 2, 3]. {AGAIN}"),
        ("analyzeResult.paragraphs.0.boundingRegions.0.polygon.0", None,
         f"@: polygon[0] must be a number (Document Intelligence); found null. {AGAIN}"),
        ("analyzeResult.paragraphs.0.boundingRegions.0.polygon", GONE,
         "^: polygon is required here (Document Intelligence). Add polygon."),
        ("analyzeResult.paragraphs.0.boundingRegions.0.pageNumber", 9, "^: a box must be on a page of the file "
         "(Document Intelligence); found page 9. Add the page with its size, or remove the box."),
        ("analyzeResult.paragraphs.0.role", 1, f"@: role must be a string (Document Intelligence); found 1. {AGAIN}"),
    ],
    "azure_old.json": [
        ("analyzeResult.readResults.0.height", GONE, "^: height is required here (Document Intelligence); found only "
         '"page", "angle", "width", "unit", "lines". Add height.'),
        ("analyzeResult.readResults.0.lines.0.boundingBox", [1],
         f"^: a polygon must have pairs of numbers, two at least (Document Intelligence); found [1]. {AGAIN}"),
        ("analyzeResult.pageResults.0.page", "1",
         f'@: page must be an integer (Document Intelligence); found "1". {AGAIN}'),
        ("analyzeResult.pageResults.0.page", 2, *(f"$.analyzeResult.pageResults[0].tables[{table}]: a box must be on a "
         "page of the file (Document Intelligence); found page 2. Add the page with its size, or remove the box."
         for table in range(2))),
    ],
    "docling.json": [
        ("texts", "x", f'@: texts must be an array (DoclingDocument); found "x". {AGAIN}'),
        ("texts.0", None, f"@: texts[0] must be an object (DoclingDocument); found null. {AGAIN}"),
        ("texts.0.label", GONE, '^: label is required here (DoclingDocument); found only "self_ref", "children", '
         '"content_layer", "orig", "text", "prov". Add label.'),
        ("texts.0.prov.0.bbox.l", "a", f'@: l must be a number (DoclingDocument); found "a". {AGAIN}'),
        ("texts.0.prov.0.bbox.l", GONE,
         '^: l is required here (DoclingDocument); found only "t", "r", "b", "coord_origin". Add l.'),
        ("texts.0.prov.0.bbox.coord_origin", "CENTRE",
         f'@: coord_origin must be TOPLEFT or BOTTOMLEFT (DoclingDocument); found "CENTRE". {AGAIN}'),
        ("texts.0.self_ref", {}, f"@: self_ref must be a string (DoclingDocument); found {{}}. {AGAIN}"),
        ("tables.0.captions", 3, f"@: captions must be an array (DoclingDocument); found 3. {AGAIN}"),
        ("texts.0.prov", GONE, "^: an item should have prov, also an empty one (DoclingDocument); found 1 of 5 items "
         "without. They are left out."),
        ("texts.0.prov.0.page_no", 4, "^: a box must be on a page of the file (DoclingDocument); found page 4. Add the "
         "page with its size, or remove the box."),
        ("texts.0.prov.0.page_no", 1.5, f"@: page_no must be a number that fits (DoclingDocument); found 1.5. {AGAIN}"),
        ("pages", [], f"@: pages must be an object (DoclingDocument); found []. {AGAIN}"),
        ("pages.2.size", None, "@: a page must have a size, in which its boxes have a place (DoclingDocument); found "
         "null, and 1 of 3 pages without one. Convert the PDF or the images again with Docling, or write the width "
         "and height of each page in points."),
    ],
    "documentai.json": [
        ("pages.0.blocks", 1, f"@: blocks must be an array (Document AI); found 1. {AGAIN}"),
        ("pages.0.blocks.0.layout", GONE, "^: layout is required here (Document AI). Add layout."),
        ("pages.0.blocks.0.layout.boundingPoly", {}, "$.pages[0].blocks[0]: an element should have a boundingPoly with "
         "vertices (Document AI); found 1 without. They are left out."),
        ("pages.0.blocks.0.layout.boundingPoly.normalizedVertices.0.x", "0",
         f'@: x must be a number (Document AI); found "0". {AGAIN}'),
        ("pages.0.blocks.0.layout.boundingPoly.normalizedVertices.0.x", -3,
         "$.pages[0].blocks[0]: vertices should be the box of normalizedVertices (Document AI); found [0.25, 0.25, "
         "0.5, 0.5] and [-3, 0.25, 0.5, 0.5]. The box of normalizedVertices is compared; correct the other one.",
         "$.pages[0].blocks[0]: coordinates should be between 0 and 1, shares of the page (Document AI); found [-3, "
         "0.25, 0.5, 0.5] (corners) in 1 x 1. It is compared as it is; check the size of the image."),
        ("pages.0.blocks.0.layout.confidence", "x",
         f'@: confidence must be a number (Document AI); found "x". {AGAIN}'),
        ("pages.0.dimension.width", -5,
         "$.pages[0]: width and height must be above 0 (Document AI); found [-5, 2000]. Write the size of the page."),
        ("pages.0.dimension", GONE, "$.pages[0].paragraphs[0]: a page with vertices in pixels must have a dimension "
         "(Document AI); found none. Add dimension, or normalizedVertices."),
    ],
    "marker.json": [
        ("children.0.block_type", "Text",
         f'@: a block of the document must be a Page (Marker); found "Text". {AGAIN}'),
        ("children.0.bbox", [0, 0, 1], f"@: a box must have 4 numbers (Marker); found [0, 0, 1]. {AGAIN}"),
        ("children.0.children", 3, f"@: children must be an array (Marker); found 3. {AGAIN}"),
        ("children.0.children.0.polygon", [[1, 2]],
         f"^: a polygon must have at least 2 points (Marker); found 1. {AGAIN}"),
        ("children.0.children.0.polygon.0", [1], f"@: polygon[0] must be an array of 2 (Marker); found [1]. {AGAIN}"),
        ("children.0.children.0.block_type", GONE, '^: block_type is required here (Marker); found only "id", "html", '
         '"polygon", "bbox", "children", "images". Add block_type.'),
        ("children.1.children.0.bbox", GONE, "^: polygon is required here (Marker). Add polygon, or bbox."),
    ],
    "mineru_model.json": [
        ("0.layout_dets", 5, f"@: layout_dets must be an array (MinerU); found 5. {AGAIN}"),
        ("2.layout_dets", GONE, '^: layout_dets is required here (MinerU); found only "page_info". Add layout_dets.'),
        ("0.layout_dets.0.poly", "x", f'@: poly must be an array (MinerU); found "x". {AGAIN}'),
        ("0.layout_dets.0.poly", [1, 2, 3],
         f"@: a polygon must have pairs of numbers, two at least (MinerU); found [1, 2, 3]. {AGAIN}"),
        ("0.layout_dets.0.poly.1", -1e300, "$[0].layout_dets[0]: coordinates must be at most 1,000,000,000 pixels; "
         "found [10, -1e+300, 90, 40]. Correct the region."),
        ("0.layout_dets.0.poly", GONE, "^: poly is required here (MinerU). Add poly, or bbox."),
        ("0.layout_dets.0.category_id", GONE, "^: category_id is required here (MinerU). Add category_id."),
        ("0.layout_dets.0.score", "high", f'@: score must be a number (MinerU); found "high". {AGAIN}'),
        ("0.layout_dets.0.score", 1.5,
         "^: score should be between 0 and 1 (MinerU); found 1.5. It is kept as it is; only the rank counts."),
        ("0.page_info", GONE, f"@: page_info must be an object (MinerU); found null. {AGAIN}"),
        ("0.page_info.width", -100,
         "^: width and height must be above 0 (MinerU); found [-100, 200]. Write the size of the page."),
        ("0.page_info.page_no", 2, "$[2].page_info: a page must occur once (MinerU); found page 3 again, as in "
         "$[0].page_info. Join the two, or remove one of them."),
        ("0.page_info.page_no", -1, "^: pages must be numbered from the first on (MinerU); found page 0. Correct the "
         "number of the page."),
        ("1", 7, f"@.page_info: page_info must be an object (MinerU); found 7. {AGAIN}"),
    ],
    "mineru_middle.json": [
        ("pdf_info.0.page_size", [600], f"@: page_size must be an array of 2 (MinerU); found [600]. {AGAIN}"),
        ("pdf_info.0.para_blocks.0.bbox", GONE,
         '^: bbox is required here (MinerU); found only "type", "lines", "index". Add bbox.'),
        ("pdf_info.0.para_blocks.0.bbox", [540, 80, 60, 120], "^: x2 must not be less than x1, nor y2 less than y1 "
         "(MinerU); found [540, 80, 60, 120]. Exchange the corners, or remove the box."),
        ("pdf_info.0.para_blocks.0.bbox.2", 700, "$.pdf_info[0].para_blocks[0]: a region should not leave its image by "
         "more than 1 px; found [60, 80, 700, 120] (corners) in 600 x 800. It is compared as it is; check the size of "
         "the image."),
        ("pdf_info.0.para_blocks.1.blocks.0.type", 3, f"@: type must be a string (MinerU); found 3. {AGAIN}"),
    ],
    "mineru_content_list.json": [
        ("0.bbox", [1, 2], f"@: a box must have 4 numbers (MinerU); found [1, 2]. {AGAIN}"),
        ("0.page_idx", "1", f'@: page_idx must be an integer (MinerU); found "1". {AGAIN}',
         "$[3]: an entry should have a bbox (MinerU); found 1 of 3 entries without. They are left out."),
        ("0.type", "", "^: a region must have a label (MinerU). Label it, or remove it."),
    ],
    "paddle.json": [
        ("page_index", "x", f'@: page_index must be an integer (PaddleX); found "x". {AGAIN}'),
        ("layout_det_res", 3, f"@: layout_det_res must be an object (PaddleX); found 3. {AGAIN}"),
        ("layout_det_res", {}, "@: boxes is required here (PaddleX). Add boxes."),
        ("layout_det_res.boxes", {}, f"@: boxes must be an array (PaddleX); found {{}}. {AGAIN}"),
        ("layout_det_res.boxes.0.coordinate", [1, 2, 3],
         f"@: a box must have 4 numbers (PaddleX); found [1, 2, 3]. {AGAIN}"),
        ("layout_det_res.boxes.0.coordinate.0", "1",
         f'@: coordinate[0] must be a number (PaddleX); found "1". {AGAIN}'),
        ("layout_det_res.boxes.0.label", None, f"@: label must be a string (PaddleX); found null. {AGAIN}"),
        ("layout_det_res.boxes.1.coordinate", [1, 2, 3, 4, 5],
         f"@: a polygon must have pairs of numbers, two at least (PaddleX); found [1, 2, 3, 4, 5]. {AGAIN}"),
    ],
    "textract.json": [
        ("Blocks.2.Geometry", None, "^: Geometry is required here (Textract). Add Geometry."),
        ("Blocks.2.Geometry.BoundingBox.Width", "a", f'@: Width must be a number (Textract); found "a". {AGAIN}'),
        ("Blocks.2.Confidence", True, f"@: Confidence must be a number (Textract); found true. {AGAIN}"),
        ("Blocks.2.Page", 3, "^: a box must be on a page of the file (Textract); found page 3. Add the page with its "
         "size, or remove the box."),
        ("Blocks.2.BlockType", GONE,
         '^: BlockType is required here (Textract); found only "Id", "Page", "Confidence", "Geometry". Add BlockType.'),
    ],
    "unstructured.json": [
        ("0.metadata", 3, f"@: metadata must be an object (unstructured); found 3. {AGAIN}", LEFT_OUT),
        ("0.metadata.coordinates.points.0", [1, "2"],
         f'@[1]: points[0][1] must be a number (unstructured); found "2". {AGAIN}', LEFT_OUT),
        ("0.metadata.coordinates.layout_width", -1, "^: width and height must be above 0 (unstructured); found [-1, "
         "2000]. Write the size of the page."),
        ("2.metadata.coordinates.layout_width", 0, "^: width and height must be above 0 (unstructured); found [0, "
         "1600]. Write the size of the page."),
        ("0.metadata.coordinates.layout_width", None,
         f"^: coordinates must have layout_width and layout_height (unstructured); found none. {AGAIN}"),
        ("0.metadata.page_number", "1",
         f'@: page_number must be an integer (unstructured); found "1". {AGAIN}', LEFT_OUT),
    ],
}  # fmt: skip
"""Path and value of what is spoilt in a sample, and what is said: `@` is its place, `^` that of what holds it."""


def steps_of(tree: Any, path: str) -> list[str | int]:
    steps: list[str | int] = []
    for word in path.split("."):
        steps.append(int(word) if isinstance(tree, list) else word)
        tree = tree[steps[-1]]
    return steps


def place_of(steps: Sequence[str | int]) -> str:
    return "$" + "".join(f".{step}" if str(step).isidentifier() else f"[{json.dumps(step)}]" for step in steps)


@pytest.mark.parametrize(
    ("name", "path", "value", "sentences"),
    [(name, path, value, sentences) for name, rows in SPOILT.items() for path, value, *sentences in rows],
)
def test_what_is_said_of_a_spoilt_value(name: str, path: str, value: object, sentences: list[str]) -> None:
    known, steps = read(own(name)).issues, steps_of(own(name), path)
    issues = [issue.sentence for issue in issues_of(changed(own(name), *steps, to=value)) if issue not in known]
    places = {"@": place_of(steps), "^": place_of(steps[:-1])}
    assert issues == [f"f.json: {places.get(each[0], each[0])}{each[1:]}" for each in sentences]


TOPS = [
    ("docling", [1], f"$: the top level must be an object (DoclingDocument); found [1]. {AGAIN}"),
    ("mineru", 3, f"$: the top level must be an array or an object with pdf_info (MinerU); found 3. {AGAIN}"),
    ("mineru", {"pdf_info": {}}, f"$.pdf_info: pdf_info must be an array (MinerU); found {{}}. {AGAIN}"),
    ("mineru", [[1], 2], f"$[0][0]: an entry must be an object (MinerU); found 1. {AGAIN}"),
    ("mineru", [[], 2], f"$[1]: a page must be an array (MinerU); found 2. {AGAIN}"),
    ("paddle", 3, f"$: a result must be an object (PaddleX); found 3. {AGAIN}"),
    ("paddle", {"a": 1},
     f'$: a result must have boxes, layout_det_res or parsing_res_list (PaddleX); found "a". {AGAIN}'),
    ("marker", {"children": None},
     f'$: the top level must be an object with children, the pages (Marker); found {{"children":null}}. {AGAIN}'),
    ("azure", [], f"$: the top level must be an object (Document Intelligence); found []. {AGAIN}"),
    ("textract", {"Blocks": {}},
     f'$: a response must have an array of Blocks (Textract); found {{"Blocks":{{}}}}. {AGAIN}'),
    ("documentai", [], f"$: the top level must be an object (Document AI); found []. {AGAIN}"),
    ("unstructured", {}, f"$: the top level must be an array of elements (unstructured); found {{}}. {AGAIN}"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "tree", "sentence"), TOPS)
def test_another_top_level(format: str, tree: object, sentence: str) -> None:
    assert refused(tree, format=format)[0] == f"f.json: {sentence}"


@pytest.mark.parametrize(
    ("name", "path", "other"),
    [
        ("docling.json", "texts", "Texts"), ("marker.json", "children.0.children.1.children", "Children"),
        ("mineru_middle.json", "pdf_info.0.para_blocks", "paraBlocks"),
        ("paddle.json", "layout_det_res", "layoutDetRes"), ("azure.json", "analyzeResult.tables", "tables_"),
    ],
)  # fmt: skip
def test_a_key_in_another_spelling_is_said(name: str, path: str, other: str) -> None:
    *steps, key = steps_of(own(name), path)
    held = functools.reduce(lambda tree, step: tree[step], [*steps, key], own(name))
    spelled = changed(changed(own(name), *steps, other, to=held), *steps, key)
    source = formats.FORMATS[FORMAT_OF[name]].source  # type: ignore[attr-defined]
    assert (
        f"f.json: {place_of([*steps, other])}: a key must be spelled as its format does ({source}); "
        f'found "{other}". Write {key}.'
    ) in [issue.sentence for issue in issues_of(spelled, format=FORMAT_OF[name])]


ODD = (None, [], {}, "x", -1, 1e308, True, [[[]]], 10**30)


@pytest.mark.parametrize("name", JSON)
def test_no_value_anywhere_gives_a_traceback(name: str) -> None:
    tree = own(name)
    for turn, path in enumerate(paths(tree)):
        issues = issues_of(changed(tree, *path, to=ODD[turn % len(ODD)]), format=FORMAT_OF[name])
        assert all(issue.file == "f.json" and issue.rule and issue.fix for issue in issues)


def issues_of(tree: object, **given: Any) -> tuple[Issue, ...]:
    try:
        return read(tree, **given).issues
    except BadInput as bad:
        return bad.issues
