"""Names that are too long or write in the other direction, where they are shown."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluator import formats
from evaluator.charts.boxes import mistakes_by_label
from evaluator.charts.theme import name_height
from pages.shared.frame import short_name
from pages.shared.opened import Model
from pages.shared.widgets import _room
from tests.building import box, snapshot_file
from tests.charting import specification


@pytest.mark.parametrize(
    ("name", "shown"),
    [("org/model-x", "model-x"), ("model <b>1</b>", "model <b>1<…"), ("a / b", "a / b"), ("1.2/3", "3"), ("/x", "/x")],
)
def test_only_an_owner_is_left_out_of_a_short_name(name: str, shown: str) -> None:
    assert short_name(Model(0, name)) == shown


def test_names_on_axes_are_cut_before_they_are_measured() -> None:
    chart = mistakes_by_label(["x" * 10_000], {"A": np.array([1])}, baseline="A", dark=False, height=100)
    axis = next(layer["encoding"]["y"]["axis"] for layer in specification(chart)["layer"])
    assert "slice(datum.label, 0, 299)" in axis["labelExpr"]
    assert "202a" in axis["labelExpr"]


LONG = "Paragraph of running text in the body of the report, without captions or notes."


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("Section-header", 1),
        ("PARAGRAPH TEXT", 1),
        ("\u8868\u683c" * 10, 2),
        (LONG, 4),
        ("HEADING OF A SECTION IN THE ANNEX", 3),
        (LONG * 2, 7),
        (LONG * 9, 12),
    ],
)
def test_bars_have_room_for_the_lines_of_their_names(label: str, lines: int) -> None:
    assert name_height([label]) == 12 * lines
    chart = mistakes_by_label([label], {"A": np.array([1])}, baseline="A", dark=False, height=400)
    assert specification(chart)["height"] == max(60, 12 * lines + 2 + 34)


@pytest.mark.parametrize(
    ("names", "room"),
    [(["Text"], (112, 26)), (["Section-header-2"], (130, 26)), (["\u8868\u683c" * 8], (220, 58)), ([LONG], (220, 58))],
)
def test_a_column_of_names_gets_room_then_lines(names: list[str], room: tuple[int, int]) -> None:
    assert _room(["All labels", *names], 112) == room


def test_a_page_number_that_no_document_has_is_not_taken_in_silence() -> None:
    text = json.dumps(snapshot_file([box(0.1, 0.1, 0.4, 0.4, score=0.5)]))
    read = formats.read_bytes(text.replace('"page_index": 0', '"page_index": 1e9').encode(), "p.json")
    assert [issue.sentence for issue in read.issues] == [
        "p.json: $.predictions[0].page_index: page_index should be written as an integer (schema 1.3); "
        "found 1000000000.0. Read as 1000000000.",
        "p.json: $.predictions[0].page_index: page_index should be that of a page; no document has 100,000 pages; "
        "found 1000000000. Count the pages from 0.",
    ]
    assert formats.read_bytes(text.encode(), "p.json").issues == ()
