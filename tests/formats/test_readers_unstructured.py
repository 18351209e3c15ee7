"""unstructured: three coordinate systems, and the whole sentence for what is wrong."""

import json
import math

import numpy as np

from tests.model_outputs import own, read, refused, same
from tests.reading import head, warned


def test_columns() -> None:
    source = read(own("unstructured.json"))
    assert head(source) == ("unstructured", "prediction", "page", ["report"], [0, 1], [[1000, 2000], [600, 800]])
    assert source.documents[0].name == "report.pdf"
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
        'Partition the PDF with strategy="hi_res", or "fast" with coordinates, and export before chunking.'
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
