"""Marker: blocks below the groups, pages by their ids, and the whole sentence for what is wrong."""

from tests.model_outputs import boxes, own, read
from tests.reading import head, warned


def test_columns() -> None:
    source = read(own("marker.json"), "report.json")
    assert head(source) == ("marker", "prediction", "page", ["report"], [0, 4], [[100, 200], [50, 100]])
    assert boxes(source) == [
        (0, "Text", 0.1, 0.1, 0.9, 0.2), (0, "Table", 0.0, 0.25, 1.0, 0.65), (0, "Caption", 0.0, 0.655, 1.0, 0.75),
        (4, "Figure", 0.2, 0.25, 0.5, 0.5),
    ]  # fmt: skip
    assert source.boxes.ids[1] == "$.children[0].children[1].children[0]"
    assert warned(source) == [
        "report.json: $.children[0].children[1]: a box and the boxes in it should not both be counted (Marker); found "
        "5 boxes, of which 4 are read. Read others with --level outer (3), inner (4) or all (5)."
    ]
