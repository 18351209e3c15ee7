"""The three files of MinerU: their coordinate spaces, and the whole sentence for what is wrong."""

import numpy as np

from evaluator import formats
from tests.model_outputs import boxes, own, read, refused
from tests.reading import head, warned


def test_model() -> None:
    source = read(own("mineru_model.json"), "in report_model.json")
    assert head(source) == ("mineru", "prediction", "page", ["in report"], [0, 1, 2], [[100, 200]] * 3)
    assert boxes(source) == [
        (0, "title", 0.1, 0.1, 0.9, 0.2), (0, "ocr_text", 0.1, 0.1, 0.5, 0.21), (0, "category 77", 0.0, 0.0, 1.0, 1.0),
        (2, "text", 0.25, 0.25, 0.5, 0.75),
    ]  # fmt: skip
    assert source.boxes.score.tolist() == [0.98, 1.0, 0.5, 0.25]
    assert (list(source.boxes.polygons), source.boxes.ids[3], source.issues) == ([1], "$[2].layout_dets[0]", ())


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
        (0, "title", 0.1, 0.1, 0.9, 0.15), (0, "image_body", 0.1, 0.25, 0.5, 0.575),
        (0, "image_caption", 0.1, 0.5875, 0.5, 0.625), (0, "discarded", 0.0, 0.95, 1.0, 1.0),
        (1, "text", 0.05, 0.05, 0.1, 0.1),
    ]  # fmt: skip
    np.testing.assert_array_equal(source.boxes.score, [np.nan] * 4 + [0.5])


def test_content_list() -> None:
    source = read(own("mineru_content_list.json"), "report_content_list.json")
    assert head(source)[3:] == (["report"], [0, 2, 3], None)
    assert boxes(source) == [
        (0, "title", 0.1, 0.05, 0.9, 0.1), (0, "text", 0.1, 0.12, 0.9, 0.5), (2, "image", 0.0, 0.0, 1.0, 1.0),
    ]  # fmt: skip
    assert warned(source) == [
        "report_content_list.json: $[3]: an entry should have a bbox (MinerU); found 1 of 4 entries without. "
        "They are left out."
    ]


def test_content_list_without_boxes() -> None:
    assert refused([{"type": "text", "text": "x", "page_idx": 0}, {"type": "table", "page_idx": 1}]) == [
        "f.json: This is a MinerU content_list without boxes: none of its 2 entries has a bbox. "
        "Give the middle.json or model.json of the same run."
    ]


def test_ground_truth_of_omnidocbench_is_not_of_mineru() -> None:
    page = {"layout_dets": [{"category_type": "text_block", "poly": [0, 0, 1, 0, 1, 1, 0, 1]}], "page_info": {}}
    assert not formats.FORMATS["mineru"].detect(str([page]).replace("'", '"').encode())
