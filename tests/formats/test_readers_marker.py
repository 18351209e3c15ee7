"""Marker: blocks below the groups, pages by their ids, and the whole sentence for what is wrong."""

from __future__ import annotations

from tests.model_outputs import REAL, Box, around, boxes, over, own, read, real, same
from tests.reading import head, needs_shared


def test_columns() -> None:
    source = read(own("marker.json"), "report.json")
    assert head(source) == ("marker", "prediction", "page", ["report"], [0, 4], [[100, 200], [50, 100]])
    assert boxes(source) == [
        (0, "Text", 0.1, 0.1, 0.9, 0.2), (0, "Table", 0.0, 0.25, 1.0, 0.65), (0, "Caption", 0.0, 0.655, 1.0, 0.75),
        (4, "Figure", 0.2, 0.25, 0.5, 0.5),
    ]  # fmt: skip
    assert (source.boxes.ids[1], source.issues) == ("$.children[0].children[1].children[0]", ())


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
