"""Dropped files: listed with their roles, opened by one button in place of the sample, and taken back."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.workspace.roles import find
from tests import dashboard
from tests.building import Box, box, snapshot_file, write_file
from tests.dashboard import block, component, fine, html_blocks, send_event, start


def model(rows: Sequence[Box], name: str) -> dict[str, Any]:
    file = snapshot_file(rows)
    return {**file, "info": {**file["info"], "model": {"name": name}}}


TRUTH = [box(0.1, 0.1, 0.5, 0.5, document=f"{name}.pdf") for name in "abc"]
GIVEN = {
    "one.json": snapshot_file(TRUTH[:2], side="ground_truth"),
    "two.json": snapshot_file(TRUTH[2:], side="ground_truth"),
    "copy.json": snapshot_file(TRUTH[2:], side="ground_truth"),
    "model.json": snapshot_file(TRUTH),
    "other.json": model([box(0.1, 0.1, 0.5, 0.5, document="z.pdf")], "other"),
    "notes.json": {"a": 1},
}
COCO = {
    "images": [{"id": 1, "width": 100, "height": 100, "file_name": "a.png"}],
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 50, 50], "area": 2500, "iscrowd": 0}],
}
RESULTS = [{"image_id": 1, "category_id": 1, "bbox": [10, 10, 50, 50], "score": 0.9}]


pytestmark = pytest.mark.usefixtures("whole_app")


def drop(app: AppTest, files: dict[str, Any]) -> AppTest:
    return dashboard.drop(app, {name: json.dumps(value).encode() for name, value in files.items()})


def roles(app: AppTest) -> dict[str, str]:
    groups = component(app, "groups")["groups"]
    return {file["name"]: f"{group['title']}: {file.get('role', '')}" for group in groups for file in group["files"]}


def headline(app: AppTest) -> str:
    return dashboard.read_html(block(app, "ls-headline")).words[0]


def test_what_is_dropped_is_listed_whole_opened_by_one_button_and_taken_back() -> None:
    app = drop(start(), GIVEN)
    listed = component(app, "groups")
    assert listed["headline"] == "Ready: 1 ground truth, 1 model, 3 documents"
    assert listed["summary"] == "3 documents, 3 ground-truth boxes, 1 model"
    assert listed["missing"] == "No PDF or image for these 3 documents: boxes on empty sheets. Drop them here, too."
    assert roles(app) == {
        "one.json": "Ground truth: truth", "two.json": "Ground truth: ", "copy.json": "Ground truth: truth",
        "model.json": "Models: A", "other.json": "Other documents: ", "notes.json": "Left out: ",
    }  # fmt: skip
    # Another choice changes the roles, and back.
    send_event(app, "groups", "choose", "truth:boxes:1")
    assert component(app, "groups")["headline"] == "Ready: 1 ground truth, 1 model, 1 document"
    send_event(app, "groups", "choose", "truth:boxes:0")
    for role, is_ready in (("", False), ("A", True)):
        send_event(app, "groups", "role", {"at": 1, "role": role})
        assert (roles(app)["model.json"], component(app, "groups")["ready"]) == (f"Models: {role}", is_ready)
    send_event(app, "groups", "evaluate", 1)
    assert headline(app) == "A finds all 3 boxes." or headline(app).startswith("A finds 3 of 3 boxes")
    assert "3 files opened, 2 not used, 1 left out. The sample is closed." in block(app, 'role="status"')
    assert not [body for body in html_blocks(app) if "Sample data" in body]
    assert dashboard.address(app) == {"uploads": "yes"}
    app.button(key="show_roles").click().run()
    assert roles(fine(app))["model.json"] == "Models: A"
    send_event(app, "groups", "back", 1)
    # A further model beside what is open.
    drop(app, {"second.json": model(TRUTH, "second")})
    assert roles(app)["second.json"] == "Models: B"
    send_event(app, "groups", "evaluate", 1)
    app.button(key="undo_open").click().run()
    assert headline(fine(app)).startswith("A finds")


def test_after_a_reload_it_is_said_that_the_uploads_ended() -> None:
    app = start(uploads="yes", doc="a.pdf")
    assert "Your uploads ended with the reload; this is the sample data." in block(app, "ls-lost")
    assert not [each.value for each in app.caption if "could not be followed" in each.value]
    assert '<button class="ls-opener ls-link">Drop them again</button>' in block(app, "ls-lost")


def test_predictions_alone_are_compared_with_one_as_the_reference() -> None:
    app = drop(start(), {"m.json": model(TRUTH, "m"), "n.json": model(TRUTH, "n")})
    assert component(app, "groups")["headline"] == "No ground truth among these 2 files"
    # One press.
    send_event(app, "groups", "evaluate", 1)
    assert any("The reference is a model's prediction" in each.value for each in app.warning)


@pytest.mark.parametrize(("scored", "protocol"), [(True, "coco"), (False, "snapshot")])
def test_coco_files_with_scores_open_under_coco(protocol: str, *, scored: bool) -> None:
    app = drop(start(), {"gt.json": COCO, "model.json": RESULTS if scored else COCO})
    send_event(app, "groups", "role", {"at": 1, "role": "A"})
    assert component(app, "groups")["protocol"].startswith(f"Protocol {protocol} ")
    send_event(app, "groups", "evaluate", 1)
    assert app.session_state[dashboard.key_of(app, "protocol")] == protocol
    assert dashboard.address(app) == {"uploads": "yes"}


def test_one_page_on_each_side_under_two_names_is_paired_on_request() -> None:
    app = drop(start(), {"gt.json": snapshot_file(TRUTH[:1], side="ground_truth"), "m.json": snapshot_file(TRUTH[1:2])})
    models = next(group for group in component(app, "groups")["groups"] if group["title"] == "Models")
    assert models["sentence"] == "a.pdf and b.pdf: one page on each side, under two names."
    send_event(app, "groups", "choose", "pair")
    send_event(app, "groups", "evaluate", 1)
    assert "1 of 1" in headline(app) or "all" in headline(app)


def test_a_folder_with_several_ground_truths_opens_on_the_list(tmp_path: Path) -> None:
    for name, rows in (("one", TRUTH[:2]), ("two", TRUTH[2:])):
        write_file(tmp_path / f"{name}.json", rows, side="ground_truth")
    write_file(tmp_path / "model.json", TRUTH)
    app = start(files=find([tmp_path]).to_json())
    assert component(app, "groups")["headline"] == "Ready: 1 ground truth, 1 model, 3 documents"
    assert component(app, "groups")["back"] == "Back"
    send_event(app, "groups", "evaluate", 1)
    assert "3" in headline(app)


def test_a_folder_of_predictions_opens_on_the_list_which_offers_one_of_them_as_the_reference(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_file(tmp_path / f"{name}.json", TRUTH)
    app = start(files=find([tmp_path]).to_json())
    groups = component(app, "groups")["groups"]
    assert groups[0]["sentence"].startswith("A prediction can be the reference")
    assert component(app, "groups")["back"] == "Back"


def test_what_did_not_arrive_is_named() -> None:
    app = drop(start(), {"model.json": GIVEN["model.json"]})
    names = {"drop": "dropped_0", "names": ["model.json", "big.pdf", "cut.json"], "large": ["big.pdf"]}
    send_event(app, "limit", "dropped", names)
    left_out = component(app, "groups")["groups"][-1]["files"]
    assert {each["name"]: each["what"] for each in left_out} == {
        "big.pdf": "a dropped file may have 50 MB. Use layoutscope open FOLDER, which has no such limit.",
        "cut.json": "a dropped file must arrive whole. Drop it again.",
    }


def test_what_the_list_never_sends_changes_nothing() -> None:
    app = drop(start(), GIVEN)
    before = component(app, "groups")
    hostile = [("role", {"at": 0, "role": role}) for role in ("AB", "x" * 100_000)] + [
        ("role", {"at": -1, "role": "A"})
    ]
    choices = ("truth:boxes:" + "9" * 5_000, "truth:boxes:\u0661", ":::")
    for event, value in [*hostile, *(("choose", each) for each in choices), ("evaluate", "x")]:
        send_event(app, "groups", event, value)
        assert component(app, "groups") == before
    # Of a message of 512 KiB.
    many = [f"{number}" for number in range(30_000)]
    send_event(app, "limit", "dropped", {"drop": "", "names": many, "large": many})
    assert component(app, "groups")["groups"][-1]["facts"] == "30,001 files; the first 200"
