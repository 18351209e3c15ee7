"""unstructured: three coordinate systems, and the whole sentence for what is wrong."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from tests.model_outputs import REAL, Box, around, issues_of, over, own, read, real, refused, same
from tests.reading import needs_shared, warned


def test_columns() -> None:
    source = read(own("unstructured.json"))
    assert (source.format, source.side, source.unit) == ("unstructured", "prediction", "page")
    assert [(each.doc_id, each.name) for each in source.documents] == [("report", "report.pdf")]
    assert source.page_index.tolist() == [0, 1]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[1000, 2000], [600, 800]]
    same(source, [
        (0, "Title", 0.1, 0.1, 0.5, 0.2), (1, "NarrativeText", 0.1, 0.05, 0.5, 0.125), (1, "Table", 0.0, 0.5, 1.0, 1.0),
    ])  # fmt: skip
    np.testing.assert_array_equal(source.boxes.score, [0.5, math.nan, math.nan])
    assert source.boxes.ids[0] == "$[0].metadata.coordinates"
    assert warned(source) == [
        "f.json: $[3]: an element should have coordinates (unstructured); found 1 of 4 elements without. "
        "They are left out."
    ]


def test_without_coordinates() -> None:
    bare = {"type": "Title", "element_id": "a", "text": "x", "metadata": {"page_number": 1}}
    assert refused([bare, bare]) == [
        "f.json: These are unstructured elements without coordinates: none of the 2 has a place on a page. "
        'Partition the PDF with strategy="hi_res", or "fast" with coordinates, and export again.'
    ]


def test_lines_of_elements() -> None:
    tree = own("unstructured.json")
    whole = read(tree)
    for name in ("f.ndjson", "f.jsonl", "f.json"):
        lines = "\n".join(json.dumps(each) for each in tree) + "\n\n"
        source = read(lines.encode(), name)
        assert (source.format, list(source.boxes.ids)) == ("unstructured", list(whole.boxes.ids))
        np.testing.assert_array_equal(source.boxes.xyxy, whole.boxes.xyxy)
    assert len(read(json.dumps(tree[0]).encode(), "f.ndjson").boxes) == 1
    broken = "\n".join([json.dumps(tree[0]), "", json.dumps(tree[1])[:-1]])
    assert refused(broken.encode(), "f.ndjson")[0].startswith("f.ndjson: line 3, column")


@needs_shared
def test_a_real_file_is_read_as_a_plain_script_reads_it() -> None:
    name = "2023-Jan-economic-outlook.pdf.json"
    wanted: list[Box] = []
    for element in real("unstructured", name):
        about = element["metadata"]
        held = about["coordinates"]
        box = over(around(held["points"]), held["layout_width"], held["layout_height"])
        wanted.append((about["page_number"] - 1, element["type"], *box))
    assert len(wanted) == 114
    source = read((REAL / "unstructured" / name).read_bytes())
    same(source, wanted)
    assert [each.doc_id for each in source.documents] == ["2023-Jan-economic-outlook"]


HOSTILE: list[tuple[tuple[Any, ...], object, list[str]]] = [
    ((0, "metadata", "coordinates", "points"), [[1, 2]], ["$[0].metadata.coordinates: a polygon must have at least 2 "
     "points (unstructured); found 1. Export the file again, or correct it."]),
    ((0, "metadata", "coordinates", "points", 0), [1, "2"], ["$[0].metadata.coordinates.points[0][1]: points[0][1] "
     'must be a number (unstructured); found "2". Export the file again, or correct it.',
     "$[3]: an element should have coordinates (unstructured); found 1 of 3 elements without. They are left out."]),
    ((0, "metadata", "coordinates", "points", 0, 0), math.nan, ["$[0].metadata.coordinates.points[0][0]: numbers must "
     "be finite and fit float64 (RFC 8259, section 6); found NaN. Correct it."]),
    ((0, "metadata", "coordinates", "points", 0, 0), 1000000000000.0, ["$[0].metadata.coordinates: coordinates must be "
     "at most 1,000,000,000 pixels; found [100, 200, 1e+12, 400]. Correct the region."]),
    ((0, "metadata", "coordinates", "layout_width"), None, ["$[0].metadata.coordinates: coordinates must have "
     "layout_width and layout_height (unstructured); found none. Export the file again, or correct it."]),
    ((0, "metadata", "coordinates", "layout_width"), -1, ["$[0].metadata.coordinates: width and height must be above 0 "
     "(unstructured); found [-1, 2000]. Write the size of the page."]),
    ((0, "metadata", "page_number"), "1", ["$[0].metadata.page_number: page_number must be an integer (unstructured); "
     'found "1". Export the file again, or correct it.',
     "$[3]: an element should have coordinates (unstructured); found 1 of 3 elements without. They are left out."]),
    ((0, "metadata", "page_number"), 0, ["$[0].metadata.coordinates: pages must be numbered from the first on "
     "(unstructured); found page 0. Correct the number of the page."]),
    ((0, "metadata"), 3, ["$[0].metadata: metadata must be an object (unstructured); found 3. Export the file again, "
     "or correct it.",
     "$[3]: an element should have coordinates (unstructured); found 1 of 3 elements without. They are left out."]),
    ((0, "type"), None, ["$[0].type: type must be a string (unstructured); found null. Export the file again, or "
     "correct it." , "$[3]: an element should have coordinates (unstructured); found 1 of 3 elements without. They are "
     "left out."]),
    ((0, "metadata", "coordinates", "points", 0, 0), -40, ["$[0].metadata.coordinates: a region should not leave its "
     "image by more than 1 px; found [-40, 200, 500, 400] (corners) in 1000 x 2000. It is compared as it is; check the "
     "size of the image."]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE)
def test_hostile(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("unstructured.json", path, value) == sentences
