"""The doctor in the dashboard: what it says on Overview and Files, and fixes that are applied, undone and linked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.views.files import doctor
from tests.dashboard import FILES, OVERVIEW, SAMPLE_DATA, address, go, press, start, table, texts, title, workspace

SAID = "flipped.json: F1 0.040. With the y axis flipped: 0.696."
Box = list[float]


def changed(path: Path, change: Callable[[Box], Box]) -> str:
    value = json.loads((SAMPLE_DATA / "lines.json").read_text())
    for page in value["predictions"]:
        for item in page["objects"]:
            item["bbox"] = change(item["bbox"])
    path.write_text(json.dumps(value))
    return workspace(SAMPLE_DATA / "ground_truth.json", [path])


@pytest.fixture
def flipped(tmp_path: Path) -> str:
    return changed(tmp_path / "flipped.json", lambda box: [box[0], 1 - box[3], box[2], 1 - box[1]])


def shown(app: AppTest) -> str:
    return " ".join(each.proto.body if hasattr(each.proto, "body") else "" for each in app.get("html"))


def test_overview_says_what_is_wrong_and_applies_it(flipped: str) -> None:
    app = start(files=flipped)
    assert texts(app.warning) == [SAID]
    press(app, "Apply")
    assert texts(app.warning) == []
    assert "fix flipped.json: y-flip" in shown(app)
    assert address(app)["fix"] == "flipped.json:y-flip"
    assert texts(press(app, "Undo").warning) == [SAID]


def test_the_numbers_wait_for_no_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "diagnoses", st.stop)
    assert "of 458 boxes, A finds 345" in shown(start())


def test_overview_says_that_nothing_was_compared(tmp_path: Path) -> None:
    """Without a fix, too: every number is n/a, and the reader would look for the reason."""
    names = []
    for name in ("ground_truth", "lines"):
        value = json.loads((SAMPLE_DATA / f"{name}.json").read_text())
        value["label_map"] = {number: f"{label}s" for number, label in value["label_map"].items()}
        names.append(tmp_path / f"{name}.json")
        names[-1].write_text(json.dumps(value))
    app = start(files=workspace(names[0], names[1:]))
    said = "lines.json: F1 n/a. Nothing was compared: no box of the two files is counted."
    assert texts(app.warning) == [said]
    assert texts(press(app, "Dismiss").warning) == []


def test_files_shows_the_hypotheses_and_a_page_before_and_after(flipped: str) -> None:
    app = start(FILES, files=flipped)
    sentence = SAID.removeprefix("flipped.json: ")
    for said in (sentence, "So in 8 of 8 documents.", "The y axis flipped", "0.696", "match</b>"):
        assert said in shown(app)
    assert sentence not in shown(press(app, "Apply to flipped.json"))
    press(app, "Undo")
    assert sentence not in shown(press(app, "Dismiss"))
    good = start(FILES)
    assert "Diagnosis" not in shown(good)
    assert "What is in the data" in shown(good)


def test_a_link_has_the_fix(flipped: str) -> None:
    assert "fix flipped.json: y-flip" in shown(start(files=flipped, fix="flipped.json:y-flip"))
    app = start(files=flipped, fix="flipped.json:turn")
    assert texts(app.warning) == [SAID]
    assert any("could not be followed: fix" in text for text in texts(app.caption))


def test_a_file_that_breaks_its_rules_is_mended(tmp_path: Path) -> None:
    app = start(files=changed(tmp_path / "thousands.json", lambda box: [1000.0 * number for number in box]))
    assert texts(app.warning) == ["thousands.json: F1 0.000. With coordinates read as 0 to 1,000: 0.696."]
    press(app, "Apply")
    assert title(app) == "Overview"
    assert "fix thousands.json: units=thousandths" in shown(app)


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod"])
def test_labels_are_mapped_on_files(tmp_path: Path, protocol: str) -> None:
    text = (SAMPLE_DATA / "lines.json").read_text()
    path = tmp_path / "named.json"
    path.write_text(text.replace('"Text"', '"paragraph"').replace('"Figure"', '"FIGURE"'))
    app = start(FILES, files=workspace(SAMPLE_DATA / "ground_truth.json", [path]), protocol=protocol)
    assert "2 labels unknown to the ground truth" in shown(app)
    press(app, "Apply 2")
    assert "unknown to the ground truth" not in shown(app)
    assert any("paragraph read as Text" in text for text in texts(app.caption))
    assert "label=paragraph=Text" in shown(go(app, OVERVIEW))


def test_a_results_list_is_counted_under_the_labels_of_the_ground_truth(tmp_path: Path) -> None:
    """It has their ids alone; one whose ids are not those of the ground truth is counted as it is."""
    item: dict[str, Any] = {"image_id": 4, "category_id": 7, "bbox": [1, 2, 30, 40]}
    truth = {
        "images": [{"id": 4, "file_name": "a.png", "width": 100, "height": 100}],
        "categories": [{"id": 7, "name": "Of the list"}],
        "annotations": [{**item, "id": 1, "area": 1200, "iscrowd": 0}],
    }
    box = {**item, "score": 0.5}
    files = {"truth": truth, "known": [box, box], "strange": [{**box, "category_id": 8}]}
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    paths = [tmp_path / f"{name}.json" for name in files]
    assert table(start(FILES, files=workspace(paths[0], paths[1:])), "known.json").to_dict("list") == {
        "Label": ["Of the list", "8", "All"],
        "truth.json": [1, 0, 1],
        "known.json": [2, 0, 2],
        "strange.json": [0, 1, 1],
    }


def test_a_results_list_whose_ids_are_counted_from_elsewhere_is_mended(tmp_path: Path) -> None:
    items = [{"image_id": page, "category_id": 1, "bbox": [9 * page, 9, 30, 40]} for page in range(1, 6)]
    truth = {
        "images": [
            {"id": page, "file_name": f"{'abcdef'[page]}.png", "width": 100, "height": 100} for page in range(1, 6)
        ],
        "categories": [{"id": 1, "name": "Text"}],
        "annotations": [{**item, "id": at, "area": 1200, "iscrowd": 0} for at, item in enumerate(items, 1)],
    }
    results = [{**item, "category_id": 0, "score": 0.5} for item in items]
    for name, value in (("truth", truth), ("results", results)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    app = start(FILES, files=workspace(tmp_path / "truth.json", [tmp_path / "results.json"]))
    assert "F1 n/a. With 1 added to category ids: 1.000." in shown(app)
    press(app, "Apply to results.json")
    assert "In results.json: 0 read as Text." in texts(app.caption)
    assert (texts(app.error), texts(app.exception)) == ([], [])
