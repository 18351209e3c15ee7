"""Confusion of boxes: the matrix, the boxes of its cells, and the old addresses that lead here."""

import json

import numpy as np
import pytest

from evaluator.matching.box_items import class_confusion
from tests import dashboard
from tests.dashboard import CLASSES, COMPARE, GALLERY, address, component, press, start
from tests.sample_results import box_result


def test_it_opens_on_the_largest_cell_off_the_diagonal_with_its_boxes() -> None:
    app = start(CLASSES, iou="0.75", scores="0.4")
    confusion, data = class_confusion(box_result(iou=0.75, min_score=0.4)), component(app, "ramp")
    assert data["unit"] == "boxes"
    assert data["text"][1][1] == f"{confusion.counts[0, 0]:,}"
    assert data["classes"] == ["Background", *confusion.labels]
    # Nobody counts the boxes of the background: the numbers of its cell are undefined, and it opens nothing.
    assert {name: rows[0][0] for name, rows in data["facts"].items()} == dict.fromkeys(
        ("pixels", "row", "column", "f1")
    )
    most = int((confusion.counts * (1 - np.eye(len(confusion.counts), dtype=np.int64))).max())
    assert f"{most} boxes of A lines 1.0" in dashboard.block(app, "ls-cell")


def test_a_cell_goes_on_in_grid() -> None:
    app = start(CLASSES, question='{"cell":["Table",null]}')
    missed = class_confusion(box_result()).counts[box_result().matching.labels.index("Table"), -1]
    assert f"{missed} boxes of A lines 1.0" in dashboard.block(app, "ls-cell")
    press(app, "Show in Grid")
    assert json.loads(address(app)["question"]) == {"cell": ["Table", None]}
    assert any(f"{missed} boxes in" in each for each in dashboard.words(app))


@pytest.mark.parametrize(
    ("view", "old", "kind", "letters"),
    [
        (GALLERY, {"charts": "classes"}, "matrix", ["A", "B"]),
        (COMPARE, {"below": "classes"}, "difference", ["A", "B"]),
        (COMPARE, {"below": "pixels"}, "difference", ["A", "B"]),
    ],
)
def test_an_old_address_leads_here(view: str, old: dict[str, str], kind: str, letters: list[str]) -> None:
    data = component(start(view, **old), "ramp")
    assert (data["kind"], data["letters"]) == (kind, letters)
    assert data.get("unit", "pixels") == ("pixels" if old == {"below": "pixels"} else "boxes")
