"""The doctor in the dashboard: what it says on Overview and Files, and fixes that are applied, undone and linked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import dashboard

SENTENCE = "F1 0.040. With the y axis flipped: 0.696."


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    """The lines of the sample data, counted from the bottom of the page."""
    value = json.loads((dashboard.SAMPLE_DATA / "lines.json").read_text())
    for page in value["predictions"]:
        for item in page["objects"]:
            x1, y1, x2, y2 = item["bbox"]
            item["bbox"] = [x1, 1 - y2, x2, 1 - y1]
    path = tmp_path / "flipped.json"
    path.write_text(json.dumps(value))
    return path


def opened(path: Path) -> str:
    return dashboard.workspace(dashboard.SAMPLE_DATA / "ground_truth.json", [path])


def button(app: Any, label: str) -> Any:
    return next(each for each in app.button if each.label.replace("\\", "") == label)


def shown(app: Any) -> str:
    return " ".join(each.proto.body if hasattr(each.proto, "body") else "" for each in app.get("html"))


def warnings(app: Any) -> list[str]:
    return [each.value.replace("\\", "").replace("\u2060", "") for each in app.warning]


def test_overview_says_what_is_wrong_and_applies_it(monkeypatch: pytest.MonkeyPatch, flipped: Path) -> None:
    app = dashboard.start(monkeypatch, files=opened(flipped))
    assert warnings(app) == [f"flipped.json: {SENTENCE}"]
    dashboard.fine(button(app, "Apply").click().run())
    assert warnings(app) == []
    assert "fix flipped.json: y-flip" in shown(app)
    assert app.query_params["fix"] == ["flipped.json:y-flip"] or app.query_params["fix"] == "flipped.json:y-flip"
    dashboard.fine(button(app, "Undo").click().run())
    assert warnings(app) == [f"flipped.json: {SENTENCE}"]


def test_overview_says_that_nothing_was_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a fix, too: every number is n/a, and the reader would look for the reason."""
    names = []
    for name in ("ground_truth", "lines"):
        value = json.loads((dashboard.SAMPLE_DATA / f"{name}.json").read_text())
        value["label_map"] = {number: f"{label}s" for number, label in value["label_map"].items()}
        names.append(tmp_path / f"{name}.json")
        names[-1].write_text(json.dumps(value))
    app = dashboard.start(monkeypatch, files=dashboard.workspace(names[0], names[1:]))
    said = "lines.json: F1 n/a. Nothing was compared: no box of the two files is counted."
    assert warnings(app) == [said]
    dashboard.fine(button(app, "Dismiss").click().run())
    assert warnings(app) == []


def test_files_shows_the_hypotheses_and_a_page_before_and_after(monkeypatch: pytest.MonkeyPatch, flipped: Path) -> None:
    app = dashboard.start(monkeypatch, dashboard.FILES, files=opened(flipped))
    text = shown(app)
    assert SENTENCE in text
    assert "So in 8 of 8 documents." in text
    assert "The y axis flipped" in text
    assert "0.696" in text
    assert "match</b>" in text
    dashboard.fine(button(app, "Apply to flipped.json").click().run())
    assert SENTENCE not in shown(app)
    dashboard.fine(button(app, "Undo").click().run())
    dashboard.fine(button(app, "Dismiss").click().run())
    assert SENTENCE not in shown(app)


def test_a_link_has_the_fix(monkeypatch: pytest.MonkeyPatch, flipped: Path) -> None:
    app = dashboard.start(monkeypatch, files=opened(flipped), fix="flipped.json:y-flip")
    assert "fix flipped.json: y-flip" in shown(app)
    app = dashboard.start(monkeypatch, files=opened(flipped), fix="flipped.json:turn")
    assert warnings(app) == [f"flipped.json: {SENTENCE}"]
    assert any("could not be followed: fix" in each.value for each in app.caption)


def test_a_file_that_breaks_its_rules_is_mended(monkeypatch: pytest.MonkeyPatch, flipped: Path) -> None:
    value = json.loads((dashboard.SAMPLE_DATA / "lines.json").read_text())
    for page in value["predictions"]:
        for item in page["objects"]:
            item["bbox"] = [1000.0 * number for number in item["bbox"]]
    flipped.write_text(json.dumps(value))
    app = dashboard.start(monkeypatch, files=opened(flipped))
    assert warnings(app) == ["flipped.json: F1 0.000. With coordinates read as 0 to 1,000: 0.696."]
    dashboard.fine(button(app, "Apply").click().run())
    assert dashboard.title(app) == "Overview"
    assert "fix flipped.json: units=thousandths" in shown(app)


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod"])
def test_labels_are_mapped_on_files(monkeypatch: pytest.MonkeyPatch, flipped: Path, protocol: str) -> None:
    text = (dashboard.SAMPLE_DATA / "lines.json").read_text()
    flipped.write_text(text.replace('"Text"', '"paragraph"').replace('"Figure"', '"FIGURE"'))
    app = dashboard.start(monkeypatch, dashboard.FILES, files=opened(flipped), protocol=protocol)
    assert "2 labels unknown to the ground truth" in shown(app)
    dashboard.fine(button(app, "Apply 2").click().run())
    assert "unknown to the ground truth" not in shown(app)
    assert any("paragraph read as Text" in each.value.replace("\\", "") for each in app.caption)
    dashboard.fine(dashboard.go(app, dashboard.OVERVIEW))
    assert "label=paragraph=Text" in shown(app)


def test_nothing_is_said_of_good_files(monkeypatch: pytest.MonkeyPatch) -> None:
    app = dashboard.start(monkeypatch, dashboard.FILES)
    assert "Diagnosis" not in shown(app)
    assert "What is in the data" in shown(app)


def test_a_results_list_is_counted_under_the_labels_of_the_ground_truth(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It has their ids alone; one whose ids are not those of the ground truth is counted as it is."""
    truth = {
        "images": [{"id": 4, "file_name": "a.png", "width": 100, "height": 100}],
        "categories": [{"id": 7, "name": "Of the list"}],
        "annotations": [{"id": 1, "image_id": 4, "category_id": 7, "bbox": [1, 2, 30, 40], "area": 1200, "iscrowd": 0}],
    }
    box = {"image_id": 4, "category_id": 7, "bbox": [1, 2, 30, 40], "score": 0.5}
    files = {"truth": truth, "known": [box, box], "strange": [{**box, "category_id": 8}]}
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    paths = [tmp_path / f"{name}.json" for name in files]
    app = dashboard.start(monkeypatch, dashboard.FILES, files=dashboard.workspace(paths[0], paths[1:]))
    table = next(each.value for each in app.dataframe if "Label" in each.value and "known.json" in each.value)
    assert table.to_dict("list") == {
        "Label": ["Of the list", "8", "All"],
        "truth.json": [1, 0, 1],
        "known.json": [2, 0, 2],
        "strange.json": [0, 1, 1],
    }
