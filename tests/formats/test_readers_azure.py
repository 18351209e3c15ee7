"""Azure Document Intelligence: inches and pixels, three generations, and the whole sentence for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_outputs import GONE, REAL, Box, around, boxes, changed, issues_of, over, own, read, real, refused, same
from tests.reading import needs_shared, warned

LINES = (
    "f.json: $.analyzeResult: a result should have paragraphs (Document Intelligence); found none. "
    "Its lines and tables are read; run prebuilt-layout of API version 2023-07-31 or later for paragraphs."
)


def test_columns() -> None:
    source = read(own("azure.json"), "report.pdf.json")
    assert (source.format, source.side, source.unit) == ("azure", "prediction", "page")
    assert [each.doc_id for each in source.documents] == ["report"]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[612, 792], [1000, 2000]]
    same(source, [
        (0, "title", 0.1, 0.1, 0.5, 0.2), (0, "paragraph", 0.0, 0.5, 1.0, 1.0), (1, "paragraph", 0.1, 0.1, 0.5, 0.205),
        (1, "table", 0.0, 0.0, 1.0, 0.25), (1, "figure", 0.25, 0.5, 0.75, 0.75),
    ])  # fmt: skip
    assert source.boxes.ids[2] == "$.analyzeResult.paragraphs[1].boundingRegions[1]"
    assert list(source.boxes.polygons) == [2]
    assert source.issues == ()
    assert boxes(read(own("azure.json")["analyzeResult"])) == boxes(source)


def test_a_result_without_paragraphs_is_read_by_its_lines() -> None:
    source = read(changed(own("azure.json"), "analyzeResult", "paragraphs"))
    assert [box[1] for box in boxes(source)] == ["line", "table", "figure"]
    assert warned(source) == [LINES]


def test_version_2() -> None:
    source = read(own("azure_old.json"))
    same(source, [
        (0, "line", 0.1, 0.1, 0.5, 0.2), (0, "table", 0.0, 0.5, 1.0, 1.0), (0, "table", 0.2, 0.2, 0.8, 0.3),
    ])  # fmt: skip
    assert warned(source) == [LINES]


@needs_shared
@pytest.mark.parametrize(("name", "count"), [("Invoice_1.pdf.ocr.json", 19), ("sample-layout-output.json", 70)])
def test_real_files_of_version_2_are_read_as_a_plain_script_reads_them(name: str, count: int) -> None:
    result = real("azure-di", name)["analyzeResult"]
    wanted: list[Box] = []
    for page, tables in zip(result["readResults"], result["pageResults"], strict=True):
        for label, shapes in (("line", page["lines"]), ("table", tables["tables"])):
            for shape in shapes:
                cells = [shape] if "boundingBox" in shape else shape["cells"]
                flat = [edge for cell in cells for edge in cell["boundingBox"]]
                box = around(list(zip(flat[::2], flat[1::2], strict=True)))
                wanted.append((page["page"] - 1, label, *over(box, page["width"], page["height"])))
    assert len(wanted) == count
    same(read((REAL / "azure-di" / name).read_bytes()), wanted)


@needs_shared
def test_a_real_result_that_docling_wrote_is_read_as_a_plain_script_reads_it() -> None:
    tree = real("docling", "activities.gt.azure.json")
    wanted: list[Box] = []
    for key, label in (("paragraphs", "paragraph"), ("tables", "table"), ("figures", "figure")):
        for element in tree[key]:
            for region in element["boundingRegions"]:
                page = tree["pages"][region["pageNumber"] - 1]
                box = around(list(zip(region["polygon"][::2], region["polygon"][1::2], strict=True)))
                named = element.get("role") or label
                wanted.append((page["pageNumber"] - 1, named, *over(box, page["width"], page["height"])))
    assert len(wanted) == 22
    same(read((REAL / "docling" / "activities.gt.azure.json").read_bytes()), wanted)


@needs_shared
def test_a_labels_file_is_named() -> None:
    assert refused((REAL / "azure-di" / "Invoice_1.pdf.labels.json").read_bytes()) == [
        "f.json: this is a labels file of Azure Document Intelligence, words of form fields, which is not read. "
        "Give the result of prebuilt-layout for the same document."
    ]


HOSTILE_AZURE: list[tuple[tuple[Any, ...], object, list[str]]] = [
    (("analyzeResult",), None, ["$.analyzeResult: a result must be an object (Document Intelligence); found status "
     '"succeeded". Export the file again, or correct it.']),
    (("analyzeResult", "pages", 0, "unit"), "foot", ["$.analyzeResult.pages[0].unit: unit must be inch or pixel "
     '(Document Intelligence); found "foot". Export the file again, or correct it.']),
    (("analyzeResult", "pages", 0, "width"), 0, ["$.analyzeResult.pages[0]: width and height must be above 0 (Document "
     "Intelligence); found [0, 792]. Write the size of the page."]),
    (("analyzeResult", "pages", 0, "width"), GONE, ["$.analyzeResult.pages[0]: every page must have a width and a "
     "height (Document Intelligence); found none. Write the size of the page."]),
    (("analyzeResult", "pages", 1, "pageNumber"), 1, ["$.analyzeResult.pages[1]: a page must occur once (Document "
     "Intelligence); found page 1 again, as in $.analyzeResult.pages[0]. Join the two, or remove one of them.",
     "$.analyzeResult.paragraphs[1].boundingRegions[1]: a box must be on a page of the file (Document Intelligence); "
     "found page 2. Add the page with its size, or remove the box.",
     "$.analyzeResult.tables[0].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); found "
     "page 2. Add the page with its size, or remove the box.",
     "$.analyzeResult.figures[0].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); "
     "found page 2. Add the page with its size, or remove the box."]),
    (("analyzeResult", "pages"), "x", ["$.analyzeResult.pages: pages must be an array (Document Intelligence); found "
     '"x". Export the file again, or correct it.',
     "$.analyzeResult.paragraphs[0].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); "
     "found page 1. Add the page with its size, or remove the box.",
     "$.analyzeResult.paragraphs[1].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); "
     "found page 1. Add the page with its size, or remove the box.",
     "$.analyzeResult.paragraphs[1].boundingRegions[1]: a box must be on a page of the file (Document Intelligence); "
     "found page 2. Add the page with its size, or remove the box.",
     "$.analyzeResult.tables[0].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); found "
     "page 2. Add the page with its size, or remove the box.",
     "$.analyzeResult.figures[0].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); "
     "found page 2. Add the page with its size, or remove the box."]),
    (("analyzeResult", "paragraphs", 0, "boundingRegions", 0, "polygon"), [1, 2, 3], [
     "$.analyzeResult.paragraphs[0].boundingRegions[0]: a polygon must have pairs of numbers, two at least (Document "
     "Intelligence); found [1, 2, 3]. Export the file again, or correct it."]),
    (("analyzeResult", "paragraphs", 0, "boundingRegions", 0, "polygon", 0), None, [
     "$.analyzeResult.paragraphs[0].boundingRegions[0].polygon[0]: polygon[0] must be a number (Document "
     "Intelligence); found null. Export the file again, or correct it."]),
    (("analyzeResult", "paragraphs", 0, "boundingRegions", 0, "polygon", 0), 1e300, [
     "$.analyzeResult.paragraphs[0].boundingRegions[0]: coordinates must be at most 1,000,000,000 pixels; found [61.2, "
     "79.2, 7.2e+301, 158.4]. Correct the region."]),
    (("analyzeResult", "paragraphs", 0, "boundingRegions", 0, "pageNumber"), 9, [
     "$.analyzeResult.paragraphs[0].boundingRegions[0]: a box must be on a page of the file (Document Intelligence); "
     "found page 9. Add the page with its size, or remove the box."]),
    (("analyzeResult", "paragraphs", 0, "boundingRegions"), "x", ["$.analyzeResult.paragraphs[0].boundingRegions: "
     'boundingRegions must be an array (Document Intelligence); found "x". Export the file again, or correct it.']),
    (("analyzeResult", "paragraphs", 0, "role"), 1, ["$.analyzeResult.paragraphs[0].role: role must be a string "
     "(Document Intelligence); found 1. Export the file again, or correct it."]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE_AZURE)
def test_hostile_azure(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("azure.json", path, value) == sentences


HOSTILE_OLD: list[tuple[tuple[Any, ...], object, list[str]]] = [
    (("analyzeResult", "readResults", 0, "height"), GONE, ["$.analyzeResult.readResults[0]: height is required here "
     '(Document Intelligence); found only "page", "angle", "width", "unit", "lines". Add height.']),
    (("analyzeResult", "readResults", 0, "lines", 0, "boundingBox"), [1], ["$.analyzeResult.readResults[0].lines[0]: a "
     "polygon must have pairs of numbers, two at least (Document Intelligence); found [1]. Export the file again, or "
     "correct it."]),
    (("analyzeResult", "pageResults", 0, "page"), 2, ["$.analyzeResult.pageResults[0].tables[0]: a box must be on a "
     "page of the file (Document Intelligence); found page 2. Add the page with its size, or remove the box.",
     "$.analyzeResult.pageResults[0].tables[1]: a box must be on a page of the file (Document Intelligence); found "
     "page 2. Add the page with its size, or remove the box."]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE_OLD)
def test_hostile_old(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("azure_old.json", path, value) == sentences
