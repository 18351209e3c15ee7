"""Order, text and tables of items in the formats that hold them: what comes back, and what they cannot hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.cells import Cell, cells_of, html_of
from evaluator.data.dataset import Annotations
from evaluator.formats.writers import WRITERS
from tests.model_outputs import read

GRID = (Cell(0, 0, 1, 2, True, "a < b", (0.0, 0.0, 9.0, 4.0)), Cell(1, 1, text="c", box=(4.0, 4.0, 9.0, 9.0)))
BOXES = [[0, 0, 9, 9], [0, 20, 9, 29], [0, 40, 9, 49], [0, 60, 9, 69]]


def items(*held: dict[str, Any], groups: object = None) -> Annotations:
    boxed = [{"label": "text", "id": str(at), "box": BOXES[at], **each} for at, each in enumerate(held)]
    page = {"document": "a", "page": 0, "width": 90, "height": 90, "items": boxed, "groups": groups}
    return read(json.dumps(page).encode(), "f.jsonl", items=True, side="ground_truth")


def cells(table: tuple[Cell, ...]) -> list[dict[str, Any]]:
    return [{**cell._asdict(), "box": cell.box} for cell in table]


def again(name: str, source: Annotations) -> tuple[Annotations, list[str]]:
    """The file as it is read again, and what the writer could not hold."""
    written = WRITERS[name].convert(source)
    ((file, content),) = written.files.items()
    said = [issue.sentence.partition(": ")[2] for issue in written.warnings]
    return formats.read_bytes(content, file, items=True, side="ground_truth"), said


@pytest.mark.parametrize("name", ["omnidocbench", "page-xml"])
def test_order_text_and_cells_come_back(name: str) -> None:
    source = items(
        {"order": 3, "text": "one\ntwo <3"}, {"text": ""}, {"order": 0, "label": "table", "cells": cells(GRID)}, {}
    )
    back, said = again(name, source)
    assert (back.labels, said) == (("text", "table"), [])
    order = [place and place[0] for place in back.boxes.order or ()]
    assert order == ([2, None, 1, None] if name == "omnidocbench" else [1, None, 0, None])
    assert back.boxes.text == ["one\ntwo <3", "", None, None]
    table = (back.boxes.cells or ())[2]
    if name == "page-xml":
        assert table == GRID
    else:
        gap = Cell(1, 0)
        assert cells_of(table or "") == (GRID[0]._replace(box=None), gap, GRID[1]._replace(box=None))


def test_groups_come_back_from_page_xml_and_are_numbered_in_omnidocbench() -> None:
    groups = {"ordered": ["0", {"unordered": [{"ordered": ["1", "2"]}, "3"]}]}
    source = items({}, {}, {}, {}, groups=groups)
    back, said = again("page-xml", source)
    assert (back.boxes.order, said) == (source.boxes.order, [])
    back, said = again("omnidocbench", source)
    assert back.boxes.order == [(1,), (2,), (3,), (4,)]
    assert said == [
        "OmniDocBench numbers what is read, and has no groups; found 3 items in one. They are numbered in the order of "
        "the file."
    ]


def test_what_a_format_cannot_hold_is_said() -> None:
    bare = items({"box": None, "text": "x"}, {"text": "y", "html": "<table><tr><td>1</td></tr></table>"})
    for name, said in (
        ("omnidocbench", []),
        ("page-xml", ["a PAGE XML cell has an outline; found 1 table with a cell without. Their cells are left out."]),
    ):
        written = WRITERS[name].convert(bare)
        lost = [f"{WRITERS[name].target} has no items without a box; found 1 item without. They are left out."]
        assert ([issue.sentence.partition(": ")[2] for issue in written.warnings], written.boxes) == ([*said, *lost], 1)
    predicted = read(
        b'[[{"type": "text", "bbox": [0, 0, 0.5, 0.1], "angle": 0, "content": "x"}]]', "a_model.json", items=True
    )
    sized = formats.read_bytes(
        WRITERS["items"].convert(predicted).files["items.jsonl"], "a.jsonl", items=True, side="prediction"
    )
    assert (
        "OmniDocBench results have no order, text and tables; found 1 item with some. They are left out; write them "
        "with --to items, or as a ground truth."
        in [issue.sentence.partition(": ")[2] for issue in WRITERS["omnidocbench"].convert(sized).warnings]
    )


def test_a_table_is_written_as_it_is_or_from_its_cells() -> None:
    assert html_of("<table><td>x</table>") == "<table><td>x</table>"
    assert html_of("a | b\n---|---\n1 | 2") == (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    assert html_of(GRID) == '<table><tr><th colspan="2">a &lt; b</th></tr><tr><td></td><td>c</td></tr></table>'
    assert html_of("no table") is None


@pytest.mark.parametrize("large", [(Cell(0, 0, 1 << 20, 1 << 20),), (Cell(0, 0, 300, 300),) * 2])
def test_a_table_of_too_many_slots_is_left_out_of_omnidocbench(large: tuple[Cell, ...]) -> None:
    back, said = again("omnidocbench", items({"label": "table", "cells": cells(large)}, {"text": "a"}))
    assert back.boxes.cells is None
    assert said == [
        "a table that becomes HTML may have 100,000 rows times columns, and its cells as many slots; found 1 table "
        "with more. Their cells are left out."
    ]
    assert cells_of(large) is None
