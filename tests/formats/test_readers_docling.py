"""DoclingDocument: boxes from both origins, pages, and the whole sentence for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_outputs import REAL, Box, boxes, changed, over, own, read, real, refused, same
from tests.reading import head, needs_shared, warned

SAMPLES = (
    "2203.01017v2", "2305.03393v1-pg9", "2408.09869_p1", "amt_handbook_sample", "multi_page", "normal_4pages",
    "picture_classification",
)  # fmt: skip


def test_columns() -> None:
    source = read(own("docling.json"))
    sizes = [[100, 200], [100, 200], [50, 101]]
    assert head(source) == ("docling", "prediction", "page", ["report.v2"], [0, 1, 2], sizes)
    assert source.documents[0].name == "in/report.v2.pdf"
    assert boxes(source) == [
        (0, "page_header", 0.2, 0.05, 0.8, 0.1), (0, "text", 0.1, 0.1, 0.6, 0.2), (2, "text", 0.0, 0.0, 0.5, 50 / 101),
        (2, "table", 0.1, 1 / 101, 0.9, 0.5),
    ]  # fmt: skip
    assert source.boxes.ids == ["$.texts[0].prov[0]", "$.texts[1].prov[0]", "$.texts[1].prov[2]", "$.tables[0].prov[0]"]
    assert warned(source) == [
        "f.json: $.texts[1].prov[1]: an item should state a box once (DoclingDocument); found charspan [0, 5] and "
        "[5, 9] in one box. It is read once."
    ]
    assert read(own("docling.json"), side="ground_truth").side == "ground_truth"


def test_without_pages() -> None:
    tree = changed(own("docling.json"), "pages", to={})
    sentence = (
        "f.json: This is a DoclingDocument without pages: its 5 items have no place on a page. "
        "Convert a PDF or images with Docling and save that as JSON."
    )
    assert refused(tree) == [sentence]
    assert refused(changed(tree, "pages")) == [sentence]


def counted(tree: Any) -> list[Box]:
    wanted: dict[tuple[object, ...], Box] = {}
    for key in ("texts", "tables", "pictures", "groups", "key_value_items", "form_items"):
        for item in tree.get(key, []):
            for prov in item.get("prov", []):
                size = tree["pages"][str(prov["page_no"])]["size"]
                box, low = prov["bbox"], prov["bbox"].get("coord_origin") == "BOTTOMLEFT"
                top, bottom = ((size["height"] - box[edge]) if low else box[edge] for edge in ("t", "b"))
                place = over((box["l"], top, box["r"], bottom), size["width"], size["height"])
                wanted[item["self_ref"], prov["page_no"], *place] = (prov["page_no"] - 1, item["label"], *place)
    return list(wanted.values())


@needs_shared
@pytest.mark.parametrize("name", SAMPLES)
def test_real_files_are_read_as_a_plain_script_reads_them(name: str) -> None:
    tree = real("docling", f"{name}.json")
    source = read((REAL / "docling" / f"{name}.json").read_bytes(), f"{name}.json")
    assert [each.doc_id for each in source.documents] == [name]
    assert source.page_index.tolist() == [int(number) - 1 for number in tree["pages"]]
    same(source, counted(tree))
