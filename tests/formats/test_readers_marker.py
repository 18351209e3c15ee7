"""Marker: blocks below the groups, pages by their ids, and the whole sentence for what is wrong."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.model_outputs import GONE, REAL, Box, around, boxes, issues_of, over, own, read, real, same
from tests.reading import needs_shared


def test_columns() -> None:
    source = read(own("marker.json"), "report.json")
    assert (source.format, source.side, source.unit) == ("marker", "prediction", "page")
    assert [each.doc_id for each in source.documents] == ["report"]
    assert source.page_index.tolist() == [0, 4]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[100, 200], [50, 100]]
    assert boxes(source) == [
        (0, "Text", 0.1, 0.1, 0.9, 0.2),
        (0, "Table", 0.0, 0.25, 1.0, 0.65),
        (0, "Caption", 0.0, 0.655, 1.0, 0.75),
        (4, "Figure", 0.2, 0.25, 0.5, 0.5),
    ]
    assert source.boxes.ids[1] == "$.children[0].children[1].children[0]"
    assert source.issues == ()


@needs_shared
def test_a_real_file_is_read_as_a_plain_script_reads_it() -> None:
    wanted: list[Box] = []
    for number, page in enumerate(real("marker", "multicolcnn.json")["children"]):
        for block in page["children"]:
            parts = block["children"] if block["block_type"].endswith("Group") else [block]
            wanted += [
                (number, part["block_type"], *over(around(part["polygon"]), *page["bbox"][2:])) for part in parts
            ]
    assert len(wanted) == 140
    source = read((REAL / "marker" / "multicolcnn.json").read_bytes(), "multicolcnn.json")
    same(source, wanted)
    assert source.page_index.tolist() == list(range(10))


HOSTILE: list[tuple[tuple[Any, ...], object, list[str]]] = [
    (("children", 0, "block_type"), "Text", ["$.children[0].block_type: a block of the document must be a Page "
     '(Marker); found "Text". Export the file again, or correct it.']),
    (("children", 0, "bbox"), [0, 0, 1], ["$.children[0].bbox: a box must have 4 numbers (Marker); found [0, 0, 1]. "
     "Export the file again, or correct it."]),
    (("children", 0, "bbox"), [0, 0, -10, 5], [ "$.children[0]: width and height must be above 0 (Marker); found [-10, "
     "5]. Write the size of the page." ]),
    (("children", 0, "children", 0, "polygon"), [[1, 2]], ["$.children[0].children[0]: a polygon must have at least 2 "
     "points (Marker); found 1. Export the file again, or correct it."]),
    (("children", 0, "children", 0, "polygon", 0), [1], ["$.children[0].children[0].polygon[0]: polygon[0] must be an "
     "array of 2 (Marker); found [1]. Export the file again, or correct it."]),
    (("children", 0, "children", 0, "polygon", 0, 0), math.nan, ["$.children[0].children[0].polygon[0][0]: numbers "
     "must be finite and fit float64 (RFC 8259, section 6); found NaN. Correct it."]),
    (("children", 0, "children", 0, "polygon", 0, 0), 1000000000000000.0, ["$.children[0].children[0]: coordinates "
     "must be at most 1,000,000,000 pixels; found [10, 20, 1e+15, 40]. Correct the region."]),
    (("children", 0, "children", 0, "polygon", 0, 0), "1", ["$.children[0].children[0].polygon[0][0]: polygon[0][0] "
     'must be a number (Marker); found "1". Export the file again, or correct it.']),
    (("children", 0, "children", 0, "block_type"), GONE, ["$.children[0].children[0]: block_type is required here "
     '(Marker); found only "id", "html", "polygon", "bbox", "children", "images". Add block_type.']),
    (("children", 1, "children", 0, "bbox"), GONE, [ "$.children[1].children[0]: polygon is required here (Marker). "
     "Add polygon, or bbox." ]),
    (("children", 1, "id"), "/page/0/Page/0", ["$.children[1]: a page must occur once (Marker); found page 1 again, as "
     "in $.children[0]. Join the two, or remove one of them."]),
    (("children", 0, "children"), 3, ["$.children[0].children: children must be an array (Marker); found 3. Export the "
     "file again, or correct it."]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE)
def test_hostile(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("marker.json", path, value) == sentences
