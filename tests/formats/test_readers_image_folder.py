"""Data sets of images with objects: ``metadata.jsonl``, and Parquet files with a row for each image."""

import io
import json
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from evaluator import formats
from evaluator.data.dataset import Annotations
from tests.reading import refusal, rows, warned

SOURCE = "Hugging Face image folder"
NUMBERS = f"a category should have a name ({SOURCE}); found"
PICTURE = {"bytes": b"\x89PNG", "path": None}


def lines(*values: Any) -> bytes:
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


def read(content: bytes, name: str = "metadata.jsonl", **given: Any) -> Annotations:
    return formats.read_bytes(content, name, **given)


def table(*values: dict[str, Any], features: object = None) -> bytes:
    held = pa.Table.from_pylist(list(values))
    if features is not None:
        held = held.replace_schema_metadata({b"huggingface": json.dumps({"info": {"features": features}}).encode()})
    stream = io.BytesIO()
    parquet.write_table(held, stream)
    return stream.getvalue()


WANTED = [("0001", 0, "text", [302.0, 109.0, 375.0, 161.0]), ("0001", 0, "table", [1.0, 2.0, 4.0, 6.0])]
TWO = {"bbox": [[302.0, 109.0, 73.0, 52.0], [1, 2, 3, 4]]}


@pytest.mark.parametrize("key", ["category", "categories", "label"])
def test_lines_of_an_image_folder(key: str) -> None:
    content = lines(
        {"file_name": "a/0001.png", "objects": {**TWO, key: ["text", "table"]}},
        {"file_name": "0002.png", "objects": {"bbox": [], key: []}},
    )
    source = read(content)
    assert (source.format, source.side, source.unit, source.issues) == ("image-folder", "ground_truth", "pixels", ())
    assert (rows(source), [document.doc_id for document in source.documents]) == (WANTED, ["0001", "0002"])
    assert source.boxes.ids == ["line 1, object 1", "line 1, object 2"]


def test_a_line_may_begin_with_its_id_or_its_objects() -> None:
    objects = {**TWO, "categories": ["text", "table"], "id": [1, 2], "area": [9, 9]}
    for line in (
        {"image_id": 7, "file_name": "0001.png", "width": 400, "height": 300, "objects": objects},
        {"objects": objects, "file_name": "0001.png"},
    ):
        assert rows(read(lines(line))) == WANTED


def test_objects_may_be_a_list() -> None:
    objects = [{"bbox": box, "category": label} for box, label in zip(TWO["bbox"], ("text", "table"), strict=True)]
    assert rows(read(lines({"file_name": "0001.png", "objects": objects}))) == WANTED


def test_numbers_are_labels_with_a_warning() -> None:
    source = read(lines({"file_name": "0001.png", "objects": {**TWO, "categories": [0, 1]}}))
    assert source.labels == ("0", "1")
    assert warned(source) == [
        f"metadata.jsonl: line 1, object 1: {NUMBERS} 2 without one. The numbers are read as labels."
    ]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"objects": [{"bbox": 1}, 5]}, "line 1: the objects of a row must be lists by key, or a list of "
         f'objects ({SOURCE}); found {{"file_name":"a.png","objects":[{{"bbox":1}},5]}}. Correct the row, or write the '
         "data set again."),
        ({"objects": {**TWO, "category": ["a"]}}, f"line 1: bbox and category of a row must be lists of one length "
         f"({SOURCE}); found 2 and 1. Correct the row, or write the data set again."),
        ({"objects": {"bbox": [[1, 2, 3]], "category": ["a"]}}, "line 1, object 1: bbox must be four finite numbers, "
         f"x, y, width, height ({SOURCE}); found [1, 2, 3]. Correct the row, or write the data set again."),
        ({"objects": {"bbox": [[1, 2, 3, True]], "category": ["a"]}}, "line 1, object 1: bbox must be four finite "
         f"numbers, x, y, width, height ({SOURCE}); found [1, 2, 3, true]. Correct the row, or write the data set "
         "again."),
        ({"objects": {**TWO, "category": ["a", "b"], "score": [0.5]}}, "line 1: score of a row must be a list with a "
         f"number for each object ({SOURCE}); found [0.5]. Correct the row, or write the data set again."),
        ({"objects": {**TWO, "category": ["a", "b"], "score": [0.5, "x"]}}, "line 1, object 2: score must be a finite "
         f'number ({SOURCE}); found "x". Write a number between 0 and 1.'),
        ({"objects": {"bbox": [[1, 2, -3, 4]], "category": ["a"]}}, "line 1, object 1: x2 must not be less than "
         f"x1, nor y2 less than y1 ({SOURCE}); found [1, 2, -2, 6]. Exchange the corners, or remove the box."),
    ],
)  # fmt: skip
def test_rows_that_are_refused(row: dict[str, Any], sentence: str) -> None:
    assert refusal(read, lines({"file_name": "a.png", **row})) == [f"metadata.jsonl: {sentence}"]


def test_a_line_that_is_no_object() -> None:
    content = lines({"file_name": "a.png", "objects": {**TWO, "category": ["a", "b"]}}, 5)
    assert refusal(read, content) == [
        f"metadata.jsonl: line 2: a line must be an object ({SOURCE}); found 5. Correct the row, or write the data set "
        "again."
    ]


def doclaynet(hash_: str, boxes: list[list[float]], labels: list[int]) -> dict[str, Any]:
    metadata = {"coco_width": 1025, "coco_height": 1024, "page_hash": hash_, "page_no": 3, "doc_category": "manuals"}
    area = [box[2] * box[3] for box in boxes]
    return {"image": PICTURE, "bboxes": boxes, "category_id": labels, "area": area, "metadata": metadata}


def test_doclaynet_as_published() -> None:
    source = read(table(doclaynet("ab12", [[10, 20, 30, 40]] * 2, [10, 9]), doclaynet("cd34", [], [])), "test.parquet")
    assert (source.format, source.side, source.issues) == ("table", "ground_truth", ())
    assert rows(source) == [("ab12", 0, "Text", [10, 20, 40, 60]), ("ab12", 0, "Table", [10, 20, 40, 60])]
    assert [document.doc_id for document in source.documents] == ["ab12", "cd34"]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[1025, 1024]] * 2
    assert refusal(read, table(doclaynet("a", [[1, 2, 3, 4]], [12])), "t.parquet")[0] == (
        f"t.parquet: row 1, object 1: a category must be one of those that the data set names ({SOURCE}); found 12. "
        "Correct the row, or write the data set again."
    )


@pytest.mark.parametrize(
    "features",
    [
        {"objects": {"feature": {"category": {"names": ["text", "table"], "_type": "ClassLabel"}}}},
        {"objects": [{"category": {"names": ["text", "table"], "_type": "ClassLabel"}}]},
        {"objects": {"category": {"feature": {"names": ["text", "table"], "_type": "ClassLabel"}}}},
    ],
)
def test_names_of_categories_come_from_the_data_set(features: object) -> None:
    row = {"image": {**PICTURE, "path": "0001.png"}, "objects": {**TWO, "category": [0, 1]}}
    source = read(table(row, features=features), "train.parquet")
    assert (rows(source), source.issues) == (WANTED, ())
    listed = [{"bbox": box, "category": at} for at, box in enumerate(TWO["bbox"])]
    assert rows(read(table({**row, "objects": listed}, features=features), "train.parquet")) == WANTED


def test_scores_make_predictions_and_pages_without_a_name_are_said() -> None:
    row = {"image": PICTURE, "objects": {**TWO, "category": ["a", "b"], "score": [0.5, 0.25]}}
    content = table(row, row)
    source = read(content, "p.parquet")
    assert formats.FORMATS["table"].side_of(content) == "prediction"
    assert (source.side, source.boxes.score.tolist()) == ("prediction", [0.5, 0.25] * 2)
    assert [document.doc_id for document in source.documents] == ["p row 1", "p row 2"]
    assert warned(source) == [
        f"p.parquet: row 1: a row should name its image ({SOURCE}); found 2 without one. Pages are called by their "
        "rows; add a file_name."
    ]
    assert refusal(read, content, "p.parquet", columns="label=a") == [
        f"p.parquet: --columns is for tables with a row for each box ({SOURCE}); found lists of boxes. Leave --columns "
        "out."
    ]


def test_a_broken_parquet_file() -> None:
    content = table({"image": PICTURE, "objects": {**TWO, "category": ["a", "b"]}})
    assert refusal(read, content[:60] + b"\0" * 40 + content[100:], "p.parquet")[0].startswith(
        "p.parquet: the file must"
    )
