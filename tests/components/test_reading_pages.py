"""What the viewer is given of reading order, text and tables, from lines of items."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from evaluator import project
from evaluator.components.viewer import reading
from evaluator.protocols.items import ItemResult
from tests.building import read_by_browser, write_items

SIZE = {"width": 200, "height": 400}
HOSTILE = "<img src=x onerror=alert(1)>"
ORDER = [
    {"label": "text", "box": [0, 0, 90, 40], "order": 0, "text": "left one"},
    {"label": "text", "box": [0, 50, 90, 90], "order": 1, "text": "left two"},
    {"label": "text", "box": [100, 0, 190, 40], "order": 2, "text": "right one"},
    {"label": "text", "box": [100, 50, 190, 90], "order": 3, "text": "right two"},
]


def result_of(folder: Path, protocol: str, truth: list[dict[str, Any]], predicted: list[dict[str, Any]]) -> Any:
    """The result of pages of items on both sides."""
    sides = [
        write_items(folder / f"{n}.jsonl", [{**SIZE, "items": items}]) for n, items in enumerate((truth, predicted))
    ]
    (evaluation,) = project.evaluate(protocol, sides[0], [sides[1]])
    assert isinstance(evaluation.result, ItemResult)
    return evaluation.result


def page(folder: Path, protocol: str, truth: list[dict[str, Any]], predicted: list[dict[str, Any]], *names: str) -> Any:
    """The first page as the browser gets it."""
    return read_by_browser(reading.page_layers(result_of(folder, protocol, truth, predicted), 0, names))


def in_order(items: list[dict[str, Any]], *order: int | None) -> list[dict[str, Any]]:
    return [{**item, "order": at} for item, at in zip(items, order, strict=True)]


def statuses(data: Any) -> dict[str, str]:
    return {box["key"]: box["status"] for box in data["boxes"] if box["status"] != "truth"}


def test_a_page_that_is_read_across_has_its_wrong_jumps_marked(tmp_path: Path) -> None:
    data = page(tmp_path, "order", ORDER, in_order(ORDER, 0, 2, 1, 3))
    truth, predicted = data["paths"]
    assert (truth["keys"], truth["numbers"], truth["wrong"]) == (["g0", "g1", "g2", "g3"], [1, 2, 3, 4], [])
    assert (predicted["keys"], predicted["wrong"]) == (["p0", "p2", "p1", "p3"], [1, 2, 3])
    (mistake,) = data["mistakes"]
    assert (mistake["title"], mistake["keys"]) == ("Column jumped", ["p2"])
    assert mistake["lines"] == ["3 of the ground truth, read after 1 instead of after 2", "“right one”"]
    assert statuses(data) == {"p0": "TP", "p2": "FP", "p1": "TP", "p3": "TP"}
    assert data["head"] == "edit distance 0.500 · tau 0.667 · neighbours 0.000"


def test_what_one_side_alone_has_breaks_no_jump(tmp_path: Path) -> None:
    extra = {"label": "text", "box": [0, 300, 190, 340], "order": 0.5, "text": "watermark"}
    data = page(tmp_path, "order", ORDER, [*ORDER[:3], extra])
    assert data["paths"][1]["keys"] == ["p0", "p3", "p1", "p2"]
    assert data["paths"][1]["wrong"] == []
    assert sorted(each["title"] for each in data["mistakes"]) == ["Extra", "Missing"]
    assert {statuses(data)[key] for key in ("p3", "g3")} == {"FP", "FN"}


def test_the_order_of_items_without_boxes_is_in_the_list_alone(tmp_path: Path) -> None:
    bare = [{name: value for name, value in item.items() if name != "box"} for item in ORDER]
    data = page(tmp_path, "order", bare, in_order(bare, 1, 0, 2, 3))
    assert (data["boxes"], [path["keys"] for path in data["paths"]]) == ([], [[], []])
    assert [each["title"] for each in data["mistakes"]] == ["Neighbours exchanged"]
    assert data["notes"] == ["Without a box, and so in the list alone: 8 of 8 items of this page."]


def test_a_name_lists_its_mistakes_alone_and_the_others_are_pale(tmp_path: Path) -> None:
    predicted = in_order(ORDER, 0, 2, 1, None)[:3]
    data = page(tmp_path, "order", ORDER, predicted, "missing")
    assert ([each["name"] for each in data["mistakes"]], data["hidden_mistakes"]) == (["missing"], 1)
    assert [box["key"] for box in data["boxes"] if box["faded"]] == ["p2"]


def test_a_text_says_where_it_differs_and_stays_text(tmp_path: Path) -> None:
    predicted = [
        {**ORDER[0], "text": "left 0ne"},
        {**ORDER[1], "text": "left  two"},
        {**ORDER[2], "text": HOSTILE},
        {"label": "text", "box": [0, 300, 190, 340], "text": "water\u202emark"},
    ]
    data = page(tmp_path, "text", ORDER, predicted)
    pieces = {
        each["keys"][0]: [(piece["text"], piece["mark"]) for piece in each["pieces"]] for each in data["mistakes"]
    }
    assert pieces["p0"] == [("left ", ""), ("o", "was"), ("0", "now"), ("ne", "")]
    assert pieces["p2"] == [("right one", "was"), (HOSTILE, "now")]
    assert pieces["g3"] == [("right two", "out")]
    assert pieces["p3"] == [("watermark", "in")]
    costs = [int(each["tags"][0].split()[0]) for each in data["mistakes"]]
    assert costs == sorted(costs, reverse=True)
    assert statuses(data) == {"p0": "FP", "p1": "TP", "p2": "FP", "p3": "FP", "g3": "FN"}
    assert next(each for each in data["mistakes"] if each["keys"] == ["p0"])["lines"] == [
        "CER 0.125 · WER 0.500 · NED 0.125 of 8 characters", "1 changed",
    ]  # fmt: skip


def table(html: str) -> list[dict[str, Any]]:
    return [{"label": "table", "box": [0, 0, 200, 100], "html": f"<table>{html}</table>"}]


def test_a_wrong_span_is_one_mistake_of_its_cells(tmp_path: Path) -> None:
    rest = "<tr><td>b</td><td>c</td></tr><tr><td>d</td><td>e</td></tr>"
    data = page(
        tmp_path, "tables", table(f"<tr><td colspan=2>a</td></tr>{rest}"), table(f"<tr><td>a</td><td></td></tr>{rest}")
    )
    (mistake,) = data["mistakes"]
    assert (mistake["title"], mistake["table"]) == ("Cell split", 0)
    assert sorted(mistake["keys"]) == ["g0c0", "p0c0", "p0c1"]
    (shown,) = data["tables"]
    grids = shown["ground_truth"], shown["prediction"]
    assert [(grid["rows"], grid["columns"]) for grid in grids] == [(3, 2), (3, 2)]
    assert [[cell["mistakes"] for cell in grid["cells"]][:2] for grid in grids] == [[[1], []], [[1], [1]]]
    assert shown["facts"].startswith("TEDS 0.")
    assert data["notes"] == ["Cells without boxes are drawn as an even grid in their table."]
    places = {box["key"]: box["xyxy"] for box in data["boxes"]}
    assert places["g0c0"] == [0, 0, 1, 0.25 / 3]


def test_a_missing_row_has_the_cells_of_the_ground_truth(tmp_path: Path) -> None:
    rows = ["<tr><td>a</td><td>b</td></tr>", f"<tr><td>c</td><td>{HOSTILE.replace('<', '&lt;')}</td></tr>"]
    data = page(tmp_path, "tables", table("".join(rows) * 2 + rows[0]), table(rows[0] + rows[1] + rows[0]))
    missing = [each for each in data["mistakes"] if each["name"] == "row_missing"]
    assert len(missing) == 2
    assert all(key.startswith("g0c") for each in missing for key in each["keys"])
    assert HOSTILE in [cell["text"] for cell in data["tables"][0]["ground_truth"]["cells"]]


def test_cells_with_boxes_lie_where_they_are(tmp_path: Path) -> None:
    cells = [{"row": 0, "col": 0, "text": "a", "box": [10, 20, 60, 40]}, {"row": 0, "col": 1, "text": "b"}]
    boxed = [cells[0], {**cells[1], "box": [60, 20, 110, 40]}]
    item = {"label": "table", "box": [0, 0, 200, 100]}
    data = page(tmp_path, "tables", [{**item, "cells": boxed}], [{**item, "cells": cells}])
    places = {box["key"]: box["xyxy"] for box in data["boxes"]}
    assert places["g0c0"] == [0.05, 0.05, 0.3, 0.1]
    assert places["p0c1"] == [0.5, 0, 1, 0.25]


def test_pages_are_listed_by_what_their_mistakes_cost(tmp_path: Path) -> None:
    swapped, rows = in_order(ORDER, 1, 0, 2, 3), []
    for number, items in enumerate((ORDER, swapped, ORDER[:1])):
        rows.append((ORDER, items, number))
    sides = [write_items(tmp_path / f"{n}.jsonl", [{**SIZE, "items": row[n]} for row in rows]) for n in (0, 1)]
    (evaluation,) = project.evaluate("order", sides[0], [sides[1]])
    assert isinstance(evaluation.result, ItemResult)
    listed = reading.list_pages(evaluation.result)
    assert [(each.page, each.mistakes, each.cost) for each in listed.pages] == [(2, 3, 3), (1, 1, 1), (0, 0, 0)]
    assert (listed.counts, listed.mistakes) == ({"missing": 3, "swapped": 1}, 4)
    assert listed.words("misplaced item") == "4 mistakes (4 misplaced items) on 2 pages"
    one = reading.list_pages(evaluation.result, names=["swapped"], worst_first=False)
    assert [each.page for each in one.pages] == [1]
    assert one.counts == listed.counts
    assert [each.mistakes for each in reading.strip(evaluation.result, listed.pages)] == [3, 1, 0]
    (ledger,) = reading.READINGS["order"].item_ledgers(evaluation.result, evaluation.result)
    assert ledger.rows == ("All mistakes", "Neighbours exchanged", "Missing")


def many(protocol: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A page of 4,000 mistakes, in half a megabyte for each side."""
    if protocol == "tables":
        one, other = ("".join(f"<tr><td>{at}" for at in range(rows)) for rows in (10_000, 50))
        return table(one), table(other)
    places = [[at % 64 * 3, at // 64 * 6] for at in range(4_000)]
    first, second = (
        [
            {"label": "text", "box": [x, y, x + 2, y + 5], "text": f"{at * by}", "order": at * by % 4_001}
            for at, (x, y) in enumerate(places)
        ]
        for by in (1, 7)
    )
    return first, second


@pytest.mark.parametrize("protocol", ["order", "text", "tables"])
def test_a_page_of_thousands_of_mistakes_costs_little(tmp_path: Path, protocol: str) -> None:
    """Each took half a minute or more."""
    start = time.process_time()
    result = result_of(tmp_path, protocol, *many(protocol))
    assert len(reading.page_layers(result, 0).mistakes) > 3_000
    assert time.process_time() - start < 6.0
