"""DoclingDocument: boxes from both origins, pages, and the whole sentence for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_outputs import GONE, REAL, Box, boxes, changed, over, own, read, real, refused, same
from tests.reading import needs_shared, warned

REPEATED = (
    "f.json: $.texts[1].prov[1]: an item should state a box once (DoclingDocument); "
    "found charspan [0, 5] and [5, 9] in one box. It is read once."
)
SAMPLES = (
    "2203.01017v2", "2305.03393v1-pg9", "2408.09869_p1", "amt_handbook_sample", "multi_page", "normal_4pages",
    "picture_classification",
)  # fmt: skip


def test_columns() -> None:
    source = read(own("docling.json"))
    assert (source.format, source.side, source.unit) == ("docling", "prediction", "page")
    assert [(each.doc_id, each.name) for each in source.documents] == [("report.v2", "in/report.v2.pdf")]
    assert source.page_index.tolist() == [0, 1, 2]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[100, 200], [100, 200], [50, 101]]
    assert boxes(source) == [
        (0, "page_header", 0.2, 0.05, 0.8, 0.1),
        (0, "text", 0.1, 0.1, 0.6, 0.2),
        (2, "text", 0.0, 0.0, 0.5, 50 / 101),
        (2, "table", 0.1, 1 / 101, 0.9, 0.5),
    ]
    assert source.boxes.ids == ["$.texts[0].prov[0]", "$.texts[1].prov[0]", "$.texts[1].prov[2]", "$.tables[0].prov[0]"]
    assert warned(source) == [REPEATED]


def test_as_ground_truth() -> None:
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


@needs_shared
def test_the_schema_is_named() -> None:
    assert refused((REAL / "docling" / "DoclingDocument.schema.json").read_bytes()) == [
        "f.json: this is a JSON schema, which is not read. Give a file that follows it."
    ]


AT = ("texts", 0, "prov", 0)
HOSTILE: list[tuple[tuple[Any, ...], object, str]] = [
    ((*AT, "bbox", "l"), "a", '$.texts[0].prov[0].bbox.l: l must be a number (DoclingDocument); found "a". '
     "Export the file again, or correct it."),
    ((*AT, "bbox", "l"), GONE, '$.texts[0].prov[0].bbox: l is required here (DoclingDocument); '
     'found only "t", "r", "b", "coord_origin". Add l.'),
    ((*AT, "bbox", "l"), float("nan"), "$.texts[0].prov[0].bbox.l: numbers must be finite and fit float64 "
     "(RFC 8259, section 6); found NaN. Correct it."),
    ((*AT, "bbox", "r"), 1e12, "$.texts[0].prov[0]: coordinates must be at most 1,000,000,000 pixels; "
     "found [20, 10, 1e+12, 20]. Correct the region."),
    ((*AT, "bbox", "r"), 10, "$.texts[0].prov[0]: x2 must not be less than x1, nor y2 less than y1 (DoclingDocument); "
     "found [20, 10, 10, 20]. Exchange the corners, or remove the box."),
    ((*AT, "bbox", "coord_origin"), "CENTRE", "$.texts[0].prov[0].bbox.coord_origin: coord_origin must be TOPLEFT or "
     'BOTTOMLEFT (DoclingDocument); found "CENTRE". Export the file again, or correct it.'),
    ((*AT, "page_no"), 4, "$.texts[0].prov[0]: a box must be on a page of the file (DoclingDocument); found page 4. "
     "Add the page with its size, or remove the box."),
    ((*AT, "page_no"), 1.5, "$.texts[0].prov[0].page_no: page_no must be a number that fits (DoclingDocument); "
     "found 1.5. Export the file again, or correct it."),
    (("texts", 0, "prov"), {}, "$.texts[0].prov: prov must be an array (DoclingDocument); found {}. "
     "Export the file again, or correct it."),
    (("texts", 0, "label"), GONE, '$.texts[0]: label is required here (DoclingDocument); found only "self_ref", '
     '"children", "content_layer", "orig", "text", "prov". Add label.'),
    (("texts", 0, "label"), " ", '$.texts[0].prov[0]: a region must have a label (DoclingDocument); found " ". '
     "Label it, or remove it."),
    (("texts", 0), None, "$.texts[0]: texts[0] must be an object (DoclingDocument); found null. "
     "Export the file again, or correct it."),
    (("texts",), "x", '$.texts: texts must be an array (DoclingDocument); found "x". '
     "Export the file again, or correct it."),
    (("pages",), [], "$.pages: pages must be an object (DoclingDocument); found []. "
     "Export the file again, or correct it."),
    (("pages", "2", "size", "height"), -5, '$.pages["2"]: width and height must be above 0 (DoclingDocument); '
     "found [100, -5]. Write the size of the page."),
    (("pages", "2", "size"), None, '$.pages["2"].size: a page must have a size, in which its boxes have a place '
     "(DoclingDocument); found null, and 1 of 3 pages without one. Convert the PDF or the images again with Docling, "
     "or write the width and height of each page in points."),
    (("pages", "2", "page_no"), 1, '$.pages["2"]: a page must occur once (DoclingDocument); '
     'found page 1 again, as in $.pages["1"]. Join the two, or remove one of them.'),
    (("pages", "2", "page_no"), 0, '$.pages["2"]: pages must be numbered from the first on (DoclingDocument); '
     "found page 0. Correct the number of the page."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentence"), HOSTILE)
def test_hostile(path: tuple[Any, ...], value: object, sentence: str) -> None:
    sentences = refused(changed(own("docling.json"), *path, to=value))
    assert [each for each in sentences if each != REPEATED] == [f"f.json: {sentence}"]
