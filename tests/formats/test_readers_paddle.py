"""PP-DocLayout and PP-StructureV3: pixels kept, files of single pages, and the whole sentence for what is wrong."""

import json
import math
from typing import Any

from evaluator import formats
from tests.model_outputs import boxes, changed, own, read, refused
from tests.reading import head, outlines, refusal


def test_a_pipeline_result_is_read_by_its_layout_model() -> None:
    source = read(own("paddle.json"))
    assert head(source) == ("paddle", "prediction", "pixels", ["report"], [2], [[1000, 2000]])
    assert (source.documents[0].name, source.documents[0].path) == ("report.pdf", "scans/report.pdf")
    assert boxes(source) == [(2, "text", 34.5, 349.25, 363.5, 615), (2, "table", 100, 100, 300, 210)]
    assert source.boxes.score.tolist() == [0.9, 0.75]
    assert outlines(source) == {1: [[[100, 100], [300, 110], [300, 210], [100, 200]]]}
    assert (source.boxes.ids[0], source.issues) == ("$.layout_det_res.boxes[0]", ())


def test_blocks_stand_in_where_the_layout_model_is_left_out() -> None:
    source = read(changed(own("paddle.json"), "layout_det_res"))
    assert boxes(source) == [(2, "text", 1, 2, 3, 4)]
    assert math.isnan(source.boxes.score[0])
    assert refused(changed(own("paddle.json"), "layout_det_res") | {"parsing_res_list": 1}) == [
        "f.json: $.parsing_res_list: parsing_res_list must be an array (PaddleX); found 1. "
        "Export the file again, or correct it."
    ]


def test_what_is_around_a_result_is_taken_off() -> None:
    result = {"input_path": "a.png", "page_index": None, "boxes": [{"label": "t", "coordinate": [1, 2, 3, 4]}]}
    for tree in ({"res": result}, [result], {"result": {"layoutParsingResults": [{"prunedResult": result}]}}):
        source = read(tree)
        assert [each.doc_id for each in source.documents] == ["a"]
        assert boxes(source) == [(0, "t", 1, 2, 3, 4)]
    anonymous = {**result, "input_path": None}
    assert read([anonymous, anonymous], "scan_res.json").page_index.tolist() == [0, 1]
    assert read({**result, "boxes": []}).page_index.tolist() == [0]


def test_files_of_single_pages_are_one_document(tmp_path: Any) -> None:
    for page in range(3):
        tree = changed(own("paddle.json"), "page_index", to=page)
        (tmp_path / f"report_{page}_res.json").write_text(json.dumps(tree))
    source = formats.read(tmp_path)
    assert [each.doc_id for each in source.documents] == ["report"]
    assert source.page_index.tolist() == [0, 1, 2]
    assert source.boxes.page.tolist() == [0, 0, 1, 1, 2, 2]
    (tmp_path / "report_3_res.json").write_text(json.dumps(own("paddle.json")))
    assert refusal(formats.read, tmp_path) == [
        f"{tmp_path.name}: report_3_res.json and report_2_res.json: a page may be listed by one of the files read as "
        'one; found page 3 of "report". Remove one of the files, or give one alone with --gt or --pred.'
    ]
