"""The widgets of a notebook without a browser: what they draw, and what they do with what a browser sends."""

from __future__ import annotations

from typing import Any

import pytest

import evaluator
from evaluator.opened import ModelResult
from tests.dashboard import SAMPLE_DATA

FILES = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"]


@pytest.fixture(scope="module")
def models() -> list[ModelResult]:
    return evaluator.open(*FILES, pdfs=SAMPLE_DATA / "pdf").evaluate("snapshot")


def send(widget: Any, name: object, value: object) -> Any:
    """What a browser sends, as ipywidgets hands it on; the data that the widget shows then."""
    widget._handle_custom_msg({"name": name, "value": value}, [])
    return widget.data


def at(data: Any) -> tuple[str, int, int]:
    page = data["page"]
    return page["document"], page["index"], page["position"]


def test_the_viewer_shows_the_worst_page_as_the_dashboard_does(models: list[ModelResult]) -> None:
    data = models[0].viewer().data
    assert data["page"]["image"].startswith("data:image/jpeg;base64,")
    assert data["page"]["total"] == len(data["strip"]) == 36
    assert [each["mistakes"] for each in data["strip"]] == sorted(
        (each["mistakes"] for each in data["strip"]), reverse=True
    )
    wrong = models[0].boxes().query("status != 'TP'").groupby(["document", "page"]).size()
    counts = data["counts"]
    assert counts["FP"] + counts["FN"] == wrong[at(data)[:2]]
    assert data["page"]["lost_words"] == 0  # its words are known, and each is in a prediction


def test_pages_turn_and_end_at_the_last(models: list[ModelResult]) -> None:
    viewer = models[0].viewer()
    first = viewer.data
    where = dict(zip(("document", "index"), at(first)[:2], strict=True))
    second = send(viewer, "go", {**where, "step": 1})
    assert at(second)[2] == 2
    assert at(send(viewer, "go", {**where, "step": 99}))[2] == 36
    back = send(viewer, "go", {**where, "step": 0})
    assert back["page"] == first["page"]
    walked = send(viewer, "go", {**where, "step": 0, "mistake": 1})
    assert at(walked) == at(second)
    assert walked["selected"] == second["mistakes"][0]["keys"][0]


def test_a_chosen_box_comes_back_as_its_row(models: list[ModelResult]) -> None:
    viewer, boxes = models[0].viewer(), models[0].boxes_table().to_pylist()
    seen: list[Any] = []
    viewer.observe(lambda change: seen.append(change["new"]), "selected")
    where = dict(zip(("document", "index"), at(viewer.data)[:2], strict=True))
    for side in ("prediction", "ground_truth"):
        key = next(box["key"] for box in viewer.data["boxes"] if box["side"] == side)
        send(viewer, "selected", {**where, "key": key})
        assert viewer.selected in boxes
        assert (viewer.selected["side"], viewer.selected["row"]) == (side, int(key[1:]))
        assert (viewer.selected["document"], viewer.selected["page"]) == at(viewer.data)[:2]
    send(viewer, "selected", {**where, "key": None})
    assert [row and row["side"] for row in seen] == ["prediction", "ground_truth", None]


def test_a_page_is_drawn_sharper_when_asked_for(models: list[ModelResult]) -> None:
    viewer = models[0].viewer()
    where = dict(zip(("document", "index"), at(viewer.data)[:2], strict=True))
    assert send(viewer, "sharper", {**where, "width": 1500})["page"]["image_width"] == 1500


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("selected", {"document": "a.pdf", "index": 0, "key": "x"}),
        ("selected", {"document": "a.pdf", "index": 0, "key": "g999999"}),
        ("selected", {"document": 3}),
        ("go", {"document": "a.pdf", "index": 0}),
        ("sharper", {"document": "a.pdf", "index": 0, "width": -1}),
        ("show", "everything"),
        ("cause", 7),
        ("__class__", None),
        (None, None),
    ],
)
def test_what_makes_no_sense_changes_nothing(models: list[ModelResult], name: object, value: object) -> None:
    for widget in (models[0].viewer(), models[0].compare(models[1])):
        before = widget.data
        assert send(widget, name, value) == before
        assert widget.selected is None


def test_the_comparison_lists_and_turns_as_the_dashboard_does(models: list[ModelResult]) -> None:
    panes = models[0].compare(models[1])
    first = panes.data
    assert [pane["name"] for pane in first["panes"]] == ["lines.json", "blocks.json"]
    where = dict(zip(("document", "index"), at(first)[:2], strict=True))
    assert at(send(panes, "go", {**where, "step": 1}))[2] == 2
    cause = first["causes"][0]["key"]
    of_cause = send(panes, "cause", cause)
    assert (of_cause["cause"], of_cause["show"], at(of_cause)[2]) == (cause, "", 1)
    missed = send(panes, "show", "both_missed")
    assert (missed["show"], missed.get("cause")) == ("both_missed", None)
    assert send(panes, "clear_filter", True) == first


def test_a_box_of_the_comparison_comes_back_as_the_rows_of_both(models: list[ModelResult]) -> None:
    panes = models[0].compare(models[1])
    of = dict(zip("AB", (model.boxes_table().to_pylist() for model in models), strict=True))
    where = dict(zip(("document", "index"), at(panes.data)[:2], strict=True))
    drawn = [box["key"] for pane in panes.data["panes"] for box in pane["boxes"]]
    for letters in ("AB", "A", "B"):
        begin = "g" if letters == "AB" else letters.lower()
        send(panes, "selected", {**where, "key": next(key for key in drawn if key[0] == begin)})
        assert "".join(panes.selected) == letters
        assert all(row in of[letter] for letter, row in panes.selected.items())


def test_pages_without_a_folder_say_how_to_name_one() -> None:
    (lines,) = evaluator.open(FILES[0], FILES[1][0]).evaluate("snapshot")
    problem = lines.viewer().data["page"]["problem"]
    assert problem["fix"] == 'Name the folder: evaluator.open(..., pdfs="FOLDER").'


def test_two_thresholds_are_no_pair(models: list[ModelResult]) -> None:
    other = evaluator.open(*FILES).evaluate("snapshot", iou=(0.75,))[1]
    with pytest.raises(ValueError, match=r"^two models are compared at one IoU threshold; found 0.5 and 0.75$"):
        models[0].compare(other)
