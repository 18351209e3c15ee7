"""Azure Document Intelligence: inches and pixels, three generations, and the whole sentence for what is wrong."""

from __future__ import annotations

import pytest

from tests.model_outputs import REAL, Box, around, boxes, changed, over, own, read, real, same
from tests.reading import head, needs_shared, warned

LINES = (
    "f.json: $.analyzeResult: a result should have paragraphs (Document Intelligence); found none. "
    "Its lines and tables are read; run prebuilt-layout of API version 2023-07-31 or later for paragraphs."
)


def test_columns() -> None:
    source = read(own("azure.json"), "report.pdf.json")
    assert head(source) == ("azure", "prediction", "page", ["report"], [0, 1], [[612, 792], [1000, 2000]])
    same(source, [
        (0, "title", 0.1, 0.1, 0.5, 0.2), (0, "paragraph", 0.0, 0.5, 1.0, 1.0), (1, "paragraph", 0.1, 0.1, 0.5, 0.205),
        (1, "table", 0.0, 0.0, 1.0, 0.25), (1, "figure", 0.25, 0.5, 0.75, 0.75),
    ])  # fmt: skip
    assert source.boxes.ids[2] == "$.analyzeResult.paragraphs[1].boundingRegions[1]"
    assert (list(source.boxes.polygons), source.issues) == ([2], ())
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
