"""The numbers of a COCO set, and some of the sample: each is the same in every view, and opens exactly so much."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.compare.ledger import ledger
from evaluator.components.compare.pair_list import boxes_of, listed_pages
from evaluator.data.issues import count_of
from evaluator.matching.box_items import class_confusion
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.causes import CausesPartial, family_title
from evaluator.project import evaluate_together
from evaluator.protocols.base import BoxEvaluation
from tests import dashboard
from tests.dashboard import (
    CLASSES,
    COMPARE,
    FINDINGS,
    GALLERY,
    MODELS,
    OVERVIEW,
    PAGE_BROWSER,
    SUSPECTS,
    component,
    fine,
    start,
    table,
    words,
)
from tests.sample_results import box_result

LABELS = ("Text", "Table", "Figure", "Caption")
LETTERS = "AB"
IOUS = (0.5, 0.75)
BAR_WORDS = {"TP": "matched", "FP": "extra", "FN": "missed"}
STATUS_WORDS = {"TP": "Matched (TP)", "FP": "Extra (FP)", "FN": "Missed (FN)"}

View = Callable[..., AppTest]
Results = dict[tuple[str, float], AnyBoxResult]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Twelve images of six boxes, and two models that miss, exchange, repeat and invent some."""
    folder, rng = tmp_path_factory.mktemp("coco"), np.random.default_rng(5)
    images = [{"id": at, "width": 800, "height": 1000, "file_name": f"page_{at:02d}.png"} for at in range(1, 13)]
    truth: list[dict[str, object]] = []
    models: tuple[list[dict[str, object]], ...] = ([], [])
    for image in images:
        for row in range(6):
            label, size = int(rng.integers(4)), np.array([rng.integers(300, 640), rng.integers(40, 120)])
            box = np.array([rng.integers(60, 100), 40 + row * 150, *size])
            one = {"image_id": image["id"], "category_id": label + 1, "bbox": box.tolist()}
            truth.append({**one, "id": len(truth) + 1, "area": int(size.prod()), "iscrowd": 0})
            for model in models:
                chance, moved = rng.random(), (box + rng.normal(0.0, 0.05, 4) * np.tile(size, 2)).round(1).tolist()
                if chance > 0.15:
                    said = label if chance > 0.3 else (label + 1) % 4
                    score = round(float(rng.beta(6, 2)), 3)
                    model.append({**one, "category_id": said + 1, "bbox": moved, "score": score})
                    if chance > 0.9:
                        model.append({**one, "bbox": moved, "score": round(score / 2, 3)})
        for model in models:
            made_up = {"image_id": image["id"], "category_id": int(rng.integers(4)) + 1, "bbox": [100, 930, 200, 40]}
            model.append({**made_up, "score": round(float(rng.random()), 3)})
    categories = [{"id": code + 1, "name": label} for code, label in enumerate(LABELS)]
    files = folder / "truth.json", folder / "a.json", folder / "b.json"
    contents = ({"images": images, "annotations": truth, "categories": categories}, *models)
    for path, content in zip(files, contents, strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    return files


@pytest.fixture(scope="module")
def results(paths: tuple[Path, Path, Path]) -> dict[tuple[str, float], AnyBoxResult]:
    made: dict[tuple[str, float], AnyBoxResult] = {}
    for letter, evaluated in zip(LETTERS, evaluate_together("coco", paths[0], list(paths[1:])), strict=True):
        assert isinstance(evaluated.result, BoxEvaluation)
        made |= {(letter, iou): evaluated.result.thresholds[iou] for iou in IOUS}
    return made


@pytest.fixture
def view(paths: tuple[Path, Path, Path]) -> View:
    files = dashboard.workspace(paths[0], list(paths[1:]))
    return lambda of=OVERVIEW, **address: start(of, files=files, **{"protocol": "coco"} | address)


@pytest.fixture(params=["snapshot", "coco"])
def either(request: pytest.FixtureRequest, view: View, results: Results) -> tuple[View, Results]:
    if request.param == "coco":
        return view, results
    sample = {(letter, iou): box_result(at, iou) for at, letter in enumerate(LETTERS) for iou in IOUS}
    return lambda of=OVERVIEW, **address: start(of, **address), sample


def boxes_on_all_pages(app: AppTest) -> dict[str, int]:
    drawn = dict.fromkeys(STATUS_WORDS, 0)
    for page in dashboard.viewer(app)["strip"]:
        app.query_params["doc"], app.query_params["page"] = page["document"], str(page["index"] + 1)
        for each in dashboard.viewer(fine(app.run()))["boxes"]:
            if each["mistake"] and not each["other"] and each["status"] in drawn:
                drawn[each["status"]] += 1
    return drawn


@pytest.mark.parametrize("letter", LETTERS)
def test_found_missed_and_extra_are_the_same_everywhere_and_open_their_boxes(
    either: tuple[View, Results], letter: str
) -> None:
    view, results = either
    counts = {status: int(getattr(results[letter, 0.5].micro, status.lower())[0]) for status in STATUS_WORDS}
    app = view(charts="labels")
    (card,) = [each for each in dashboard.cards(app) if each["letter"] == letter]
    (bar,) = [each for each in component(app, "bars")["bars"] if each["letter"] == letter]
    labels = table(fine(app.button_group(key="numbers_of").set_value(letter).run()), "Precision")
    assert f"{letter} finds {counts['TP']}" in dashboard.read_html(dashboard.block(app, "ls-headline")).words[0]
    for status, number in counts.items():
        assert int(card[status]) == int(labels[status][0]) == bar[BAR_WORDS[status]] == number
        opened = dashboard.send_event(app, "bars", "boxes", {"letter": letter, "status": status})
        said = dashboard.toolbar(opened)
        assert (dashboard.title(app), dashboard.viewer(app)["model"]["name"]) == ("Pages", bar["name"])
        assert said.startswith(f"{STATUS_WORDS[status]} boxes | {count_of(number, 'box')} in "), said
        dashboard.go(app, OVERVIEW)


def test_numbers_of_sizes_that_no_box_has_are_named_below_the_table_alone(view: View) -> None:
    app = view()
    heads = [cell for row in dashboard.read_html(dashboard.block(app, "ls-own")).rows[:2] for cell in row]
    assert ("Small" in heads, heads.count("Large"), "AP75" in heads) == (False, 2, True)
    assert any("Small: no ground truth of this size" in each for each in dashboard.texts(app.caption))


@pytest.mark.parametrize(("iou", "status"), [(0.5, "FP"), (0.75, "FN"), (0.75, "TP")])
def test_a_count_of_a_label_opens_all_its_boxes_at_the_iou_of_the_table(
    either: tuple[View, Results], iou: float, status: str
) -> None:
    view, results = either
    app = view(names="missed", label="Table", charts="labels")
    app.session_state["numbers_of"], app.session_state["table_iou_0.5"] = "B", iou
    labels, counts = table(fine(app.run()), "Precision"), results["B", iou].per_label
    assert labels[status][1:].tolist() == getattr(counts, status.lower()).tolist()
    at = int(np.argmax(labels[status][1:])) + 1
    app.session_state[f"labels_B_{iou}"] = {"selection": {"cells": [[at, status]], "rows": [], "columns": []}}
    opened = dashboard.go(app.run(), PAGE_BROWSER)
    said = f"{STATUS_WORDS[status]} {labels['Label'][at]} | {count_of(int(labels[status][at]), 'box')} in "
    assert dashboard.toolbar(opened).startswith(said), dashboard.toolbar(opened)
    assert f" · IoU ≥ {iou:.2f} · " in dashboard.viewer(opened)["signature"]
    assert boxes_on_all_pages(opened)[status] == labels[status][at]


def test_a_cell_of_the_confusion_opens_its_boxes(view: View, results: Results) -> None:
    confusion = class_confusion(results["A", 0.5])
    names = [*confusion.labels, None]
    for (row, column), boxes in np.ndenumerate(confusion.counts):
        # Every second one.
        if boxes and (row + column) % 2:
            cell = names[row], names[column]
            said = dashboard.toolbar(view(GALLERY, question=json.dumps({"cell": cell})))
            assert f" | {count_of(int(boxes), 'box')} in " in said, cell
    said = " ".join(words(view(CLASSES)))
    largest = re.search(r"(\d+) boxes? of A a.json on", said)
    assert largest
    assert int(largest[1]) in confusion.counts


@pytest.mark.usefixtures("store_path")
def test_a_cause_has_one_number_in_the_overview_grid_compare_and_meeting(either: tuple[View, Results]) -> None:
    view, results = either
    totals = {
        letter: {family_title(family): total for family, total in CausesPartial.of(
            result.causes, result.matching.dataset.page_document).totals.items()}
        for letter in LETTERS if (result := results[letter, 0.5])
    }  # fmt: skip
    for card in component(view(), "cards")["cards"]:
        every = [(letter, totals[letter].get(card["title"])) for letter in LETTERS]
        assert [(side["letter"], side["words"]) for side in card["sides"]] == [
            (letter, total.words if total else "none") for letter, total in every
        ]
    for at, letter in enumerate(LETTERS, 1):
        micro = results[letter, 0.5].micro
        assert sum(each.boxes for each in totals[letter].values()) == int((micro.fp + micro.fn)[0])
        grid = component(view(GALLERY, model=str(at)), "cards")
        assert {each["title"]: each["boxes"] for each in grid["causes"]} == {
            title: total.boxes for title, total in totals[letter].items()
        }
        assert {each["title"]: each["places"] for each in grid["groups"]} == {
            title: total.places for title, total in totals[letter].items()
        }
        said = f"{count_of(int((micro.fp + micro.fn)[0]), 'wrong box')} in "
        assert said in dashboard.toolbar(view(PAGE_BROWSER, model=str(at)))
    for cause in component(view(COMPARE), "strip")["causes"][::4]:
        strip = component(view(COMPARE, cause=cause["key"]), "strip")["strip"]
        boxes = sum(int(part or every) for part, every in re.findall(r"(?:(\d+) of )?[AB]'s (\d+)", cause["boxes"]))
        assert (len(strip), sum(each["gained"] for each in strip)) == (int(cause["boxes"].split()[-2]), boxes)
        for letter, number in re.findall(r"([AB])'s (\d+)", cause["boxes"]):
            assert totals[letter][cause["title"]].boxes == int(number), cause["title"]
    for row in component(view(FINDINGS, meeting="yes"), "agenda")["agenda"]:
        every = [str(totals[letter][row["title"]].boxes if row["title"] in totals[letter] else 0) for letter in LETTERS]
        assert row["wrong"] == " / ".join(every)


def test_every_count_of_compare_opens_its_pages(view: View, results: Results) -> None:
    app = view(COMPARE)
    board, everything = component(app, "ledger"), ledger(results["A", 0.5], results["B", 0.5])
    cells = [*board["ledger"], *board["false_positives"], *(cell for row in board["labels"] for cell in row["cells"])]
    for cell in cells:
        link = cell["link"]
        part = everything.only(labels={link["label"]}) if link["label"] else everything
        rows = listed_pages(part, link["show"])
        assert int(boxes_of(part.per_page, link["show"])[rows].sum()) == cell["boxes"], cell
        if cell["boxes"] and not link["label"]:
            assert len(component(view(COMPARE, show=link["show"]), "strip")["strip"]) == len(rows), cell
    said = " ".join(words(app))
    f1 = [results[letter, 0.5].micro.f1[0] for letter in LETTERS]
    assert f"F1 {100 * (f1[1] - f1[0]):+.1f} points" in said
    assert [card["F1"] for card in dashboard.cards(view())] == [f"{value:.3f}" for value in f1]
    assert table(view(MODELS), "0")["1"][0] == f"{100 * (f1[0] - f1[1]):+.1f}".replace("-", "−")


@pytest.mark.usefixtures("store_path")
def test_a_suspect_is_listed_as_often_as_its_kind_says(view: View) -> None:
    lists = [each["suspects"] for each in dashboard.every_component(view(SUSPECTS)) if "suspects" in each]
    buttons = [each for each in view(SUSPECTS).get("button_group") if each.key == "suspect_kind"]
    numbers = [int(text.rsplit(" ", 1)[1]) for text in buttons[0].options] if buttons else [0]
    assert sum(map(len, lists)) == numbers[0] == sum(numbers[1:])
