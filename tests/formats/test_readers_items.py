"""Items: columns, places in groups, the JSON schema, round trips, and the whole sentence for what is wrong."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pytest

from evaluator import formats
from evaluator.data.cells import Cell
from evaluator.formats.items import schema
from evaluator.formats.writers import WRITERS
from tests.model_outputs import read, refused
from tests.reading import warned

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = {
    "document": "a", "page": 2, "width": 600, "height": 800,
    "items": [
        {"label": "title", "box": [0, 0, 10, 20], "order": 0, "text": "Größe", "score": 0.5},
        {"label": "table", "box": [0, 30, 10, 50], "order": 1, "html": "<table><tr><td>1</td></tr></table>"},
        {"label": "table", "box": [0, 60, 10, 80], "text": "",
         "cells": [{"row": 0, "col": 0, "col_span": 2, "header": True, "text": "a", "box": [0, 60, 5, 70]}]},
        {"label": "text", "box": None, "order": 1},
    ],
}  # fmt: skip


def lines(*pages: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, pages)).encode()


def with_groups(groups: object, ids: str = "abcd") -> dict[str, Any]:
    return {
        **PAGE,
        "groups": groups,
        "items": [{**item, "id": at} for item, at in zip(PAGE["items"], ids, strict=True)],
    }


def test_columns() -> None:
    source = read(lines(PAGE), "f.jsonl", items=True)
    assert (source.format, source.side, source.unit, source.page_index.tolist()) == (
        "items",
        "prediction",
        "pixels",
        [2],
    )
    boxes = source.boxes
    assert boxes.order == [(0.0,), (1.0,), None, (1.0,)]
    assert boxes.text == ["Größe", None, "", None]
    assert boxes.cells == [
        None, "<table><tr><td>1</td></tr></table>", (Cell(0, 0, 1, 2, True, "a", (0.0, 60.0, 5.0, 70.0)),), None,
    ]  # fmt: skip
    assert np.isnan(boxes.xyxy).all(axis=1).tolist() == [False, False, False, True]
    assert source.page_size is not None
    assert source.page_size.tolist() == [[600, 800]]


def test_boxes_alone_have_no_order_and_need_a_box() -> None:
    source = read(lines(PAGE), "f.jsonl")
    assert (len(source.boxes), source.boxes.order, source.boxes.text, source.boxes.cells) == (3, None, None, None)
    assert warned(source) == [
        "f.jsonl: $[0].items[3]: an item should have a box (items); found 1 of 4 items without. They are left out."
    ]
    bare = {**PAGE, "items": PAGE["items"][3:]}
    assert refused(lines(bare), "f.jsonl") == [
        "f.jsonl: None of the 1 items has a box (items). Evaluate them with order, text or tables, or give the boxes."
    ]


def test_a_group_of_groups_is_a_way_to_each_item() -> None:
    groups = {"ordered": ["a", {"unordered": [{"ordered": ["b", "c"]}, "d"]}]}
    assert read(lines(with_groups(groups)), "f.jsonl", items=True).boxes.order == [(0,), (1, 0, 0), (1, 0, 1), (1, 1)]
    twice = {"unordered": [{"unordered": ["a", "b"]}, {"ordered": [{"ordered": ["c"]}]}]}
    assert read(lines(with_groups(twice)), "f.jsonl", items=True).boxes.order == [
        (0, 0, 0, 0), (0, 0, 0, 1), (0, 1, 0, 0, 0), None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [PAGE, {**PAGE, "items": []}, with_groups({"ordered": ["a", {"unordered": [{"ordered": ["b", "c"]}, "d"]}]})],
)
def test_what_is_written_is_read_again_and_fits_the_schema(page: dict[str, Any]) -> None:
    source = read(lines(page), "f.jsonl", items=True, side="prediction")
    (written,) = WRITERS["items"].convert(source).files.values()
    again = formats.read_bytes(written, "f.jsonl", items=True, side="prediction")
    for name in ("order", "text", "cells"):
        assert getattr(again.boxes, name) == getattr(source.boxes, name)
    np.testing.assert_array_equal(again.boxes.xyxy, source.boxes.xyxy)
    np.testing.assert_array_equal(again.boxes.score, source.boxes.score)
    for line in (page, msgspec.json.decode(written)):
        jsonschema.Draft202012Validator(schema()).validate(line)


def test_the_schema_of_the_documentation_is_that_of_the_reader() -> None:
    assert json.loads((DOCS / "items.schema.json").read_text(encoding="utf-8")) == schema()


def test_shares_of_a_page_without_a_size_are_written_on_one_of_1_by_1() -> None:
    shares = formats.read_bytes(
        b'[[{"type": "text", "bbox": [0.1, 0.2, 0.5, 0.4], "angle": 0, "content": "x"}]]', "a_model.json"
    )
    (written,) = WRITERS["items"].convert(shares).files.values()
    line = json.loads(written)
    assert (line["width"], line["height"], line["items"][0]["box"]) == (1, 1, [0.1, 0.2, 0.5, 0.4])


@pytest.mark.parametrize(
    ("page", "issue"),
    [
        ({**PAGE, "height": None},
         "f.jsonl: $[0]: a page must have both width and height, or neither (items); found 600.0 and null. "
         "Add the other one."),
        ({**PAGE, "items": [{"label": "table", "box": [0, 0, 1, 1], "html": "", "cells": []}]},
         "f.jsonl: $[0].items[0]: an item must have html or cells, not both (items); found both. Leave out html."),
        (with_groups({"ordered": []}, "abca"),
         'f.jsonl: $[0].items[3].id: an id must occur once on a page that has groups (items); found "a". '
         "Give each item an id of its own."),
        (with_groups({"ordered": ["a", "x"]}),
         'f.jsonl: $[0].groups.ordered[1]: groups must name the ids of items of the page (items); found "x". '
         "Correct the id, or add the item."),
        (with_groups({"ordered": ["a", "a"]}),
         'f.jsonl: $[0].groups.ordered[0]: groups may name an item once (items); found "a" again. '
         "Name it in one group."),
        (with_groups({"ordered": [{}]}),
         "f.jsonl: $[0].groups.ordered[0]: a group must be ordered or unordered (items); found neither. "
         "Export the file again, or correct it."),
        ({**PAGE, "page": -1},
         "f.jsonl: $[0].page: page must be a number that fits (items); found -1. "
         "Export the file again, or correct it."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(page: dict[str, Any], issue: str) -> None:
    assert refused(lines(page), "f.jsonl", items=True) == [issue]
