"""What files state about pages besides boxes: kept by page entry, through folders and results lists."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.formats.coco import Coco
from tests.reading import needs_shared, real, walked

IMAGES = [
    {"id": 1, "file_name": "a.png", "doc_category": "patents", "collection": "c1", "precedence": 0, "annotator": None},
    {"id": 2, "file_name": "b.png", "doc_category": "manuals"},
]
WANTED = {"doc_category": ["patents", "manuals"], "collection": ["c1", None], "precedence": ["0", None],
          "annotator": [None, None]}  # fmt: skip


def coco(images: list[dict[str, Any]]) -> bytes:
    box = {"image_id": images[0]["id"], "category_id": 1, "bbox": [1, 1, 5, 5], "id": 1}
    value = {"images": images, "annotations": [box], "categories": [{"id": 1, "name": "Table"}]}
    return json.dumps(value).encode()


@pytest.mark.parametrize("by", [Coco.read, walked])
def test_images_of_coco(by: Callable[..., Annotations]) -> None:
    assert by(Coco(), coco(IMAGES), "a.json").attributes == WANTED


def test_values_of_other_types_are_left_alone() -> None:
    odd = [{**IMAGES[0], "doc_category": ["patents"], "collection": {"a": 1}}]
    assert Coco().read(coco(odd), "a.json").attributes == {"precedence": ["0"], "annotator": [None]}
    assert Coco().read(coco([{"id": 1, "file_name": "a.png"}]), "a.json").attributes == {}


def test_a_folder_and_a_results_list(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(coco(IMAGES[:1]))
    (tmp_path / "2.json").write_bytes(coco([{"id": 7, "file_name": "c.png", "collection": "c2"}]))
    source = formats.read(tmp_path)
    assert source.attributes["doc_category"] == ["patents", None]
    assert source.attributes["collection"] == ["c1", "c2"]
    results = formats.read_bytes(b'[{"image_id": 7, "category_id": 1, "bbox": [1, 1, 5, 5], "score": 1}]', "r.json")
    assert results.attributes == {}
    assert formats.resolve(results, source).attributes == source.attributes


@needs_shared
def test_the_record_of_doclaynet() -> None:
    source = formats.read(real("formats", "doclaynet", "doclaynet_record.json"))
    assert source.attributes == {
        "doc_category": ["financial_reports"], "collection": ["ann_reports_00_04_fancy"], "precedence": ["0"],
    }  # fmt: skip
