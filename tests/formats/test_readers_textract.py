"""AWS Textract: layout blocks, or tables and lines, and the whole sentence for what is wrong."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.model_outputs import GONE, REAL, Box, boxes, issues_of, own, read, real, refused, same
from tests.reading import needs_shared, warned

LINES = (
    "f.json: $: a response should have LAYOUT blocks (Textract); found none. "
    "Its lines and tables are read; call AnalyzeDocument with the feature LAYOUT for regions."
)


def test_columns() -> None:
    source = read(own("textract.json"), "report.json")
    assert (source.format, source.side, source.unit) == ("textract", "prediction", "page")
    assert [each.doc_id for each in source.documents] == ["report"]
    assert (source.page_index.tolist(), source.page_size) == ([0, 1], None)
    assert boxes(source) == [(0, "LAYOUT_TITLE", 0.125, 0.5, 0.625, 0.75), (1, "LAYOUT_TABLE", 0.0, 0.5, 0.5, 1.0)]
    assert source.boxes.score.tolist() == [0.75, 0.25]
    assert source.boxes.ids == ["$.Blocks[2]", "$.Blocks[4]"]
    assert source.issues == ()


def test_a_response_without_layout_is_read_by_tables_and_lines() -> None:
    tree = own("textract.json")
    tree["Blocks"] = [block for block in tree["Blocks"] if not block["BlockType"].startswith("LAYOUT")]
    source = read(tree)
    assert [box[:2] for box in boxes(source)] == [(0, "LINE"), (1, "TABLE")]
    assert warned(source) == [LINES]


def test_the_parts_of_an_answer_are_one() -> None:
    tree = own("textract.json")
    parts = [{"Blocks": tree["Blocks"][:3]}, {"Blocks": tree["Blocks"][3:]}]
    source = read(parts)
    assert boxes(source) == boxes(read(tree))
    assert source.boxes.ids == ["$[0].Blocks[2]", "$[1].Blocks[1]"]
    assert refused([*parts, None]) == [
        "f.json: $[2]: a response must have an array of Blocks (Textract); found null. "
        "Export the file again, or correct it."
    ]


@needs_shared
@pytest.mark.parametrize(
    ("name", "count"),
    [("layout_csv_example.json", 21), ("employmentapp.json", 29), ("test_detect_document_text.json", 24)],
)
def test_real_files_are_read_as_a_plain_script_reads_them(name: str, count: int) -> None:
    blocks = real("textract", name)["Blocks"]
    layout = [block for block in blocks if block["BlockType"].startswith("LAYOUT_")]
    wanted: list[Box] = []
    scores = []
    for block in layout or [block for block in blocks if block["BlockType"] in ("TABLE", "LINE")]:
        box = block["Geometry"]["BoundingBox"]
        edges = box["Left"], box["Top"], box["Left"] + box["Width"], box["Top"] + box["Height"]
        wanted.append((block.get("Page", 1) - 1, block["BlockType"], *edges))
        scores.append(block["Confidence"] / 100)
    assert len(wanted) == count
    source = read((REAL / "textract" / name).read_bytes())
    same(source, wanted)
    assert source.boxes.score.tolist() == scores
    assert warned(source) == ([] if layout else [LINES])


HOSTILE: list[tuple[tuple[Any, ...], object, list[str]]] = [
    (("Blocks", 2, "Geometry"), None, [ "$.Blocks[2]: Geometry is required here (Textract). Add Geometry." ]),
    (("Blocks", 2, "Geometry", "BoundingBox", "Width"), -0.5, ["$.Blocks[2]: x2 must not be less than x1, nor y2 less "
     "than y1 (Textract); found [0.125, 0.5, -0.375, 0.75]. Exchange the corners, or remove the box."]),
    (("Blocks", 2, "Geometry", "BoundingBox", "Width"), "a", ["$.Blocks[2].Geometry.BoundingBox.Width: Width must be a "
     'number (Textract); found "a". Export the file again, or correct it.']),
    (("Blocks", 2, "Geometry", "BoundingBox", "Width"), math.nan, ["$.Blocks[2].Geometry.BoundingBox.Width: numbers "
     "must be finite and fit float64 (RFC 8259, section 6); found NaN. Correct it."]),
    (("Blocks", 2, "Geometry", "BoundingBox", "Width"), 1e20, ["$.Blocks[2]: coordinates must be at most 1,000,000,000 "
     "pixels; found [0.125, 0.5, 1e+20, 0.75]. Correct the region."]),
    (("Blocks", 2, "Geometry", "BoundingBox", "Width"), 2, ["$.Blocks[2]: coordinates should be between 0 and 1, "
     "shares of the page (Textract); found [0.125, 0.5, 2.125, 0.75] (corners) in 1 x 1. It is compared as it is; "
     "check the size of the image."]),
    (("Blocks", 2, "Confidence"), True, ["$.Blocks[2].Confidence: Confidence must be a number (Textract); found true. "
     "Export the file again, or correct it."]),
    (("Blocks", 2, "Confidence"), 400, ["$.Blocks[2]: score should be between 0 and 1 (Textract); found 4. It is kept "
     "as it is; only the rank counts."]),
    (("Blocks", 2, "Page"), 3, ["$.Blocks[2]: a box must be on a page of the file (Textract); found page 3. Add the "
     "page with its size, or remove the box."]),
    (("Blocks", 5, "Page"), 1, ["$.Blocks[5]: a page must occur once (Textract); found page 1 again, as in "
     "$.Blocks[0]. Join the two, or remove one of them.",
     "$.Blocks[4]: a box must be on a page of the file (Textract); found page 2. Add the page with its size, or remove "
     "the box."]),
    (("Blocks", 5, "Page"), 0, ["$.Blocks[5]: pages must be numbered from the first on (Textract); found page 0. "
     "Correct the number of the page.",
     "$.Blocks[4]: a box must be on a page of the file (Textract); found page 2. Add the page with its size, or remove "
     "the box."]),
    (("Blocks", 2, "BlockType"), GONE, ['$.Blocks[2]: BlockType is required here (Textract); found only "Id", "Page", '
     '"Confidence", "Geometry". Add BlockType.']),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE)
def test_hostile(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("textract.json", path, value) == sentences
