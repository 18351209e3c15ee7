"""The three files of MinerU: their coordinate spaces, and the whole sentence for what is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from tests.model_outputs import GONE, REAL, Box, around, boxes, issues_of, over, own, read, real, refused, same
from tests.reading import needs_shared, warned

NAMES = {
    0: "title", 1: "plain_text", 2: "abandon", 3: "figure", 4: "figure_caption", 5: "table", 6: "table_caption",
    7: "table_footnote", 8: "isolate_formula", 9: "formula_caption", 13: "embedding", 14: "isolated", 15: "ocr_text",
}  # fmt: skip


def test_model() -> None:
    source = read(own("mineru_model.json"), "in report_model.json")
    assert (source.format, source.side, source.unit) == ("mineru", "prediction", "page")
    assert [each.doc_id for each in source.documents] == ["in report"]
    assert source.page_index.tolist() == [0, 1, 2]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[100, 200]] * 3
    assert boxes(source) == [
        (0, "title", 0.1, 0.1, 0.9, 0.2),
        (0, "ocr_text", 0.1, 0.1, 0.5, 0.21),
        (0, "category 77", 0.0, 0.0, 1.0, 1.0),
        (2, "text", 0.25, 0.25, 0.5, 0.75),
    ]
    assert source.boxes.score.tolist() == [0.98, 1.0, 0.5, 0.25]
    assert list(source.boxes.polygons) == [1]
    assert source.boxes.ids[3] == "$[2].layout_dets[0]"
    assert source.issues == ()


def test_model_of_the_vlm_backend() -> None:
    page = [{"type": "title", "bbox": [0.1, 0.2, 0.9, 0.25], "angle": 0, "content": "x"}]
    source = read([page, []], "a_model.json")
    assert (source.format, source.page_index.tolist(), source.page_size) == ("mineru", [0, 1], None)
    assert boxes(source) == [(0, "title", 0.1, 0.2, 0.9, 0.25)]
    whole = read([[{"type": "title", "bbox": [100, 200, 900, 250], "content": {}}]], "a_content_list_v2.json")
    assert boxes(whole) == [(0, "title", 0.1, 0.2, 0.9, 0.25)]


def test_middle() -> None:
    source = read(own("mineru_middle.json"), "report_middle.json")
    assert (source.documents[0].doc_id, source.page_index.tolist()) == ("report", [0, 1])
    assert boxes(source) == [
        (0, "title", 0.1, 0.1, 0.9, 0.15),
        (0, "image_body", 0.1, 0.25, 0.5, 0.575),
        (0, "image_caption", 0.1, 0.5875, 0.5, 0.625),
        (0, "discarded", 0.0, 0.95, 1.0, 1.0),
        (1, "text", 0.05, 0.05, 0.1, 0.1),
    ]
    assert source.boxes.score[4] == 0.5
    assert np.isnan(source.boxes.score[:4]).all()


def test_content_list() -> None:
    source = read(own("mineru_content_list.json"), "report_content_list.json")
    assert (source.documents[0].doc_id, source.page_index.tolist(), source.page_size) == ("report", [0, 2, 3], None)
    assert boxes(source) == [
        (0, "title", 0.1, 0.05, 0.9, 0.1),
        (0, "text", 0.1, 0.12, 0.9, 0.5),
        (2, "image", 0.0, 0.0, 1.0, 1.0),
    ]
    assert warned(source) == [
        "report_content_list.json: $[3]: an entry should have a bbox (MinerU); found 1 of 4 entries without. "
        "They are left out."
    ]


def test_content_list_without_boxes() -> None:
    assert refused([{"type": "text", "text": "x", "page_idx": 0}, {"type": "table", "page_idx": 1}]) == [
        "f.json: This is a MinerU content_list without boxes: none of its 2 entries has a bbox. "
        "Give the middle.json or model.json of the same run."
    ]


@needs_shared
def test_a_real_model_is_read_as_a_plain_script_reads_it() -> None:
    wanted: list[Box] = []
    for page in real("mineru", "mineru2_model.json"):
        info = page["page_info"]
        for detection in page["layout_dets"]:
            box = around(list(zip(detection["poly"][::2], detection["poly"][1::2], strict=True)))
            name = NAMES[detection["category_id"]]
            wanted.append((info["page_no"], name, *over(box, info["width"], info["height"])))
    source = read((REAL / "mineru" / "mineru2_model.json").read_bytes(), "mineru2_model.json")
    assert len(wanted) == 1321
    same(source, wanted)
    assert not np.isnan(source.boxes.score).any()


@needs_shared
def test_a_real_middle_is_read_as_a_plain_script_reads_it() -> None:
    wanted: list[Box] = []
    for page in real("mineru", "mineru2_middle.trimmed.json")["pdf_info"]:
        for block in page["para_blocks"] + page["discarded_blocks"]:
            parts = block.get("blocks") or [block]
            wanted += [(page["page_idx"], part["type"], *over(part["bbox"], *page["page_size"])) for part in parts]
    assert len(wanted) == 45
    same(read((REAL / "mineru" / "mineru2_middle.trimmed.json").read_bytes()), wanted)


@needs_shared
def test_a_real_content_list_is_read_as_a_plain_script_reads_it() -> None:
    wanted: list[Box] = []
    for entry in real("mineru", "mineru2_content_list.json"):
        label = "title" if entry.get("text_level") else entry["type"]
        wanted.append((entry["page_idx"], label, *over(entry["bbox"], 1000, 1000)))
    assert len(wanted) == 112
    same(read((REAL / "mineru" / "mineru2_content_list.json").read_bytes()), wanted)


def test_ground_truth_of_omnidocbench_is_not_of_mineru() -> None:
    page = {"layout_dets": [{"category_type": "text_block", "poly": [0, 0, 1, 0, 1, 1, 0, 1]}], "page_info": {}}
    assert not formats.FORMATS["mineru"].detect(str([page]).replace("'", '"').encode())


HOSTILE_MODEL: list[tuple[tuple[Any, ...], object, list[str]]] = [
    ((0, "layout_dets", 0, "poly"), [1, 2, 3], ["$[0].layout_dets[0].poly: a polygon must have pairs of numbers, two "
     "at least (MinerU); found [1, 2, 3]. Export the file again, or correct it."]),
    ((0, "layout_dets", 0, "poly"), "x", ['$[0].layout_dets[0].poly: poly must be an array (MinerU); found "x". Export '
     "the file again, or correct it."]),
    ((0, "layout_dets", 0, "poly", 1), None, ["$[0].layout_dets[0].poly[1]: poly[1] must be a number (MinerU); found "
     "null. Export the file again, or correct it."]),
    ((0, "layout_dets", 0, "poly", 1), math.nan, ["$[0].layout_dets[0].poly[1]: numbers must be finite and fit float64 "
     "(RFC 8259, section 6); found NaN. Correct it."]),
    ((0, "layout_dets", 0, "poly", 1), -1e300, ["$[0].layout_dets[0]: coordinates must be at most 1,000,000,000 "
     "pixels; found [10, -1e+300, 90, 40]. Correct the region."]),
    ((0, "layout_dets", 0, "poly"), GONE, [ "$[0].layout_dets[0]: poly is required here (MinerU). Add poly, or bbox."
     ]),
    ((0, "layout_dets", 0, "category_id"), GONE, [ "$[0].layout_dets[0]: category_id is required here (MinerU). Add "
     "category_id." ]),
    ((0, "layout_dets", 0, "score"), "high", ["$[0].layout_dets[0].score: score must be a number (MinerU); found "
     '"high". Export the file again, or correct it.']),
    ((0, "layout_dets", 0, "score"), 1.5, ["$[0].layout_dets[0]: score should be between 0 and 1 (MinerU); found 1.5. "
     "It is kept as it is; only the rank counts."]),
    ((0, "page_info", "width"), -100, [ "$[0].page_info: width and height must be above 0 (MinerU); found [-100, 200]. "
     "Write the size of the page." ]),
    ((0, "page_info"), GONE, [ "$[0].page_info: page_info must be an object (MinerU); found null. Export the file "
     "again, or correct it." ]),
    ((0, "page_info", "page_no"), 2, ["$[2].page_info: a page must occur once (MinerU); found page 3 again, as in "
     "$[0].page_info. Join the two, or remove one of them."]),
    ((0, "page_info", "page_no"), -1, ["$[0].page_info: pages must be numbered from the first on (MinerU); found page "
     "0. Correct the number of the page."]),
    ((0, "layout_dets"), 5, [ "$[0].layout_dets: layout_dets must be an array (MinerU); found 5. Export the file "
     "again, or correct it." ]),
    ((2, "layout_dets", 0, "bbox"), [1, 2, 3], ["$[2].layout_dets[0].bbox: a box must have 4 numbers (MinerU); found "
     "[1, 2, 3]. Export the file again, or correct it."]),
    ((1,), 7, [ "$[1].page_info: page_info must be an object (MinerU); found 7. Export the file again, or correct it."
     ]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE_MODEL)
def test_hostile_model(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("mineru_model.json", path, value) == sentences


HOSTILE_MIDDLE: list[tuple[tuple[Any, ...], object, list[str]]] = [
    (("pdf_info", 0, "page_size"), [600], ["$.pdf_info[0].page_size: page_size must be an array of 2 (MinerU); found "
     "[600]. Export the file again, or correct it."]),
    (("pdf_info", 0, "page_size"), [600, 0], [ "$.pdf_info[0]: width and height must be above 0 (MinerU); found [600, "
     "0]. Write the size of the page." ]),
    (("pdf_info", 0, "page_size"), GONE, ['$.pdf_info[0]: page_size is required here (MinerU); found only "page_idx", '
     '"preproc_blocks", "para_blocks", "discarded_blocks". Add page_size.']),
    (("pdf_info", 1, "page_idx"), 0, ["$.pdf_info[1]: a page must occur once (MinerU); found page 1 again, as in "
     "$.pdf_info[0]. Join the two, or remove one of them."]),
    (("pdf_info", 0, "para_blocks", 0, "bbox"), GONE, ["$.pdf_info[0].para_blocks[0]: bbox is required here (MinerU); "
     'found only "type", "lines", "index". Add bbox.']),
    (("pdf_info", 0, "para_blocks", 0, "bbox"), [540, 80, 60, 120], ["$.pdf_info[0].para_blocks[0]: x2 must not be "
     "less than x1, nor y2 less than y1 (MinerU); found [540, 80, 60, 120]. Exchange the corners, or remove the box."]),
    (("pdf_info", 0, "para_blocks", 0, "bbox", 2), 700, ["$.pdf_info[0].para_blocks[0]: a region should not leave its "
     "image by more than 1 px; found [60, 80, 700, 120] (corners) in 600 x 800. It is compared as it is; check the "
     "size of the image."]),
    (("pdf_info", 0, "para_blocks", 1, "blocks", 0, "type"), 3, ["$.pdf_info[0].para_blocks[1].blocks[0].type: type "
     "must be a string (MinerU); found 3. Export the file again, or correct it."]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE_MIDDLE)
def test_hostile_middle(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("mineru_middle.json", path, value) == sentences


HOSTILE_CONTENT_LIST: list[tuple[tuple[Any, ...], object, list[str]]] = [
    ((0, "bbox"), [1, 2], [ "$[0].bbox: a box must have 4 numbers (MinerU); found [1, 2]. Export the file again, or "
     "correct it." ]),
    ((0, "bbox", 0), -200, ["$[0]: coordinates should be between 0 and 1, shares of the page (MinerU); found [-0.2, "
     "0.05, 0.9, 0.1] (corners) in 1 x 1. It is compared as it is; check the size of the image."]),
    ((0, "page_idx"), "1", ['$[0].page_idx: page_idx must be an integer (MinerU); found "1". Export the file again, or '
     "correct it." , "$[3]: an entry should have a bbox (MinerU); found 1 of 3 entries without. They are left out."]),
    ((0, "page_idx"), -1, [ "$[0]: pages must be numbered from the first on (MinerU); found page 0. Correct the number "
     "of the page." ]),
    ((0, "type"), "", [ "$[0]: a region must have a label (MinerU). Label it, or remove it." ]),
    ((0, "bbox", 3), 10, ["$[0]: x2 must not be less than x1, nor y2 less than y1 (MinerU); found [0.1, 0.05, 0.9, "
     "0.01]. Exchange the corners, or remove the box."]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentences"), HOSTILE_CONTENT_LIST)
def test_hostile_content_list(path: tuple[Any, ...], value: object, sentences: list[str]) -> None:
    assert issues_of("mineru_content_list.json", path, value) == sentences
