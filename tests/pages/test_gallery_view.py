"""Gallery under AppTest: every linked number opens exactly its boxes, and the address is the whole state."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.data.dataset import join
from evaluator.matching.box_items import MATCHED, Query, in_query, items
from evaluator.matching.causes import Family
from evaluator.protocols.snapshot.evaluation import pair
from pages.app import pictures, routes
from pages.views.gallery.gallery_items import _order
from tests import dashboard
from tests.building import annotations, ground_truth, random_rows
from tests.dashboard import (
    GALLERY,
    PAGE_BROWSER,
    SAMPLE_DATA,
    address,
    component,
    fine,
    start,
    table,
    toolbar,
    viewer,
    words,
)
from tests.judging import stored
from tests.pages.test_routes import asked as answered
from tests.sample_results import box_result

TABLES = Family("parts", "", "Table", "")


def cards(app: AppTest) -> list[dict[str, Any]]:
    """The cards that are shown."""
    shown: list[dict[str, Any]] = component(app, "cards")["cards"]
    return shown


def crops(app: AppTest, *keys: str) -> dict[str, Any]:
    """The crops that the browser gets when it wants those of some cards."""
    app.session_state["gallery_wanted"] = list(keys)
    return dict(component(fine(app.run()), "cards")["crops"])


@pytest.mark.parametrize("matched", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_worst_first_is_a_stable_sort_by_boxes_fit_and_size(seed: int, matched: bool) -> None:
    truth, predicted = random_rows(seed)
    result = pair(join(ground_truth(truth), annotations(predicted))).match().at(0.5)
    every = items(result, matched=matched)
    # Sizes of one digit, so that many are equal, and some that nobody knows.
    size = every.size.round(1)
    size[::7] = np.nan
    every = every.with_columns(size=size)

    def cost(row: int) -> tuple[int, float, float]:
        pairs = every.kind[row] == MATCHED
        touched = 0 if pairs else int(result.mistakes.wrong_boxes[every.mistake[row]])
        return -touched, float(every.iou[row]) if pairs else 0.0, np.inf if np.isnan(size[row]) else -float(size[row])

    rows = list(range(len(every)))
    assert len({cost(row) for row in rows}) < len(rows)
    assert _order(result, every, "costliest").tolist() == sorted(rows, key=cost)


def test_it_begins_with_all_mistakes() -> None:
    app, result = start(GALLERY), box_result()
    assert len(cards(app)) == len(result.mistakes)
    assert f"{len(result.mistakes)} mistakes, at" in toolbar(app)
    boxes = [len(card["boxes"]) for card in cards(app)]
    assert boxes[0] == max(boxes), "the worst first"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Query(cell=("Text", None)), "Text predicted as background"),
        (Query(cell=(None, "Text")), "background predicted as Text"),
        (Query(name="matched", iou=(0.5, 0.7)), "Matched, IoU 0.50 to 0.70"),
        (Query(score=(0.2, 0.4)), "score 0.20 to 0.40"),
        (Query(name="cut_off"), "Cut off"),
    ],
)
def test_a_link_opens_the_boxes_behind_a_number(question: Query, said: str) -> None:
    text = json.dumps({name: value for name in question.__struct_fields__ if (value := getattr(question, name))})
    app, every = start(GALLERY, question=text), items(box_result())
    expected = in_query(every, question)
    assert 0 < len(cards(app)) == expected.sum() <= 240
    assert said in toolbar(app)
    assert ("matched pair" in toolbar(app)) == bool((every.kind[expected] == MATCHED).any())
    fine(app.button(key="chip_question").click().run())
    assert len(cards(app)) == len(box_result().mistakes)
    assert "question" not in address(app)


def test_a_link_that_makes_no_sense_shows_all_mistakes() -> None:
    for text in ('{"cell":["Chart",null]}', '{"name":"gone"}', '{"colour":1}', "no", '{"iou":[1]}'):
        assert len(cards(start(GALLERY, question=text))) == len(box_result().mistakes), text


def test_the_filter_is_that_of_the_page_browser() -> None:
    shown = cards(start(GALLERY, within="rainfall-atlas.pdf", mistakes="missed", sort="largest"))
    assert {(card["document"], card["title"]) for card in shown} == {("rainfall-atlas.pdf", "Missed")}
    corners = [card["boxes"][0]["xyxy"] for card in shown]
    sizes = [(x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in corners]
    assert sizes == sorted(sizes, reverse=True)
    thirds = cards(start(GALLERY, third="top"))
    assert all(min(box["xyxy"][1] for box in card["boxes"]) < 1 / 3 for card in thirds)
    assert 0 < len(thirds) < len(box_result().mistakes)


def test_thresholds_match_everything_again() -> None:
    app, result = start(GALLERY, iou="0.75", scores="0.4"), box_result(iou=0.75, min_score=0.4)
    assert len(cards(app)) == min(len(result.mistakes), 240)


def test_a_cause_is_one_card_each_time_it_happened() -> None:
    app = start(GALLERY, charts="causes")
    causes = table(app, "Cause")
    assert causes["Cause"][0] == "Table read as several boxes"
    assert causes["Wrong boxes"].is_monotonic_decreasing
    assert causes["Mistakes"].sum() == len(box_result().mistakes)
    app.session_state["gallery_question"] = Query(cause=TABLES)
    shown = cards(fine(app.run()))
    assert len(shown) == causes["Places"][0] == 8
    assert shown[0]["title"] == "Table read as 14 boxes"
    assert "8 places, " in toolbar(app)
    assert f"{causes['Mistakes'][0]} mistakes on {causes['Pages'][0]} pages" in toolbar(app)
    assert cards(start(GALLERY, question=address(app)["question"])) == shown


def test_one_verdict_for_all_causes_of_one_kind(store_path: Path) -> None:
    app = start(GALLERY, charts="causes")
    assert not [each for each in app.button if each.key == "say_ambiguous"]
    app.session_state["gallery_question"] = Query(cause=TABLES)
    assert fine(app.run()).button(key="say_ambiguous").disabled
    fine(app.text_input(key="reviewer").set_value("Ngozi").run())
    next(each for each in app.text_input if each.label == "Note").set_value("rulings")
    fine(app.button(key="say_ambiguous").click().run())
    made, events = box_result().causes, stored(store_path)
    mistakes = sum(len(made.rows[row]) for row in made.alike[TABLES].tolist())
    assert len({event.target_id for event in events}) == len(events) == mistakes
    assert {(event.verdict, event.note, event.author) for event in events} == {("ambiguous", "rulings", "Ngozi")}
    assert f"yours: Ambiguous on {mistakes} of {mistakes}; another one replaces it" in words(app)


def test_one_verdict_on_a_page_for_all_places_like_it(store_path: Path) -> None:
    app, made = start(PAGE_BROWSER, doc="harvest-survey-2024.pdf", page="4"), box_result().causes
    data = viewer(app)
    first = next(each for each in data["mistakes"] if each.get("family") == list(TABLES))
    assert first["alike"] == len(made.alike[TABLES]) - 1
    event = {
        "id": "one", "document": "harvest-survey-2024.pdf", "index": 3, "number": first["number"],
        "keys": first["keys"], "target": first["target"], "verdict": "model_wrong", "note": "rulings", "name": "Ada",
    }  # fmt: skip
    data = viewer(dashboard.send_event(app, "mistakes", "verdict", {**event, "everywhere": True}))
    mistakes = sum(len(made.rows[row]) for row in made.alike[TABLES].tolist())
    assert {(each.verdict, each.note, each.author) for each in stored(store_path)} == {
        ("model_wrong", "rulings", "Ada")
    }
    assert len({each.target_id for each in stored(store_path)}) == mistakes
    assert sum(data["judged"]) == mistakes
    assert f"{len(made.alike[TABLES])} of {len(made)} places judged" in words(app)


def test_crops_come_when_they_are_wanted() -> None:
    app = start(GALLERY)
    assert component(app, "cards")["crops"] == {}
    key = cards(app)[0]["key"]
    given = crops(app, key, "nobody's")
    assert list(given) == [key]
    assert given[key]["image"].startswith("data:image/webp;base64,")


def test_a_crop_has_an_address_of_its_own_where_the_server_answers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(GALLERY)
    keys = [card["key"] for card in cards(app)[:3]]

    def images() -> list[str]:
        given = crops(app, *keys)
        return [given[key]["image"] for key in keys]

    inside = images()
    monkeypatch.setattr(routes, "_routed", True)
    monkeypatch.setattr(routes, "_one_at_a_time", asyncio.Semaphore(1))
    addresses = images()
    assert len(set(addresses)) == len(keys)
    assert images() == addresses, "the browser has them already"
    # Fetched, they are made without a session, of which the passwords would be missed.
    monkeypatch.setattr(pictures, "pool", None)
    for at, whole in zip(addresses, inside, strict=True):
        assert base64.b64decode(whole.partition(",")[2]) == answered(at.rpartition("/")[2]).body


def test_without_pdfs_a_crop_is_an_empty_sheet_with_the_reason() -> None:
    files = dashboard.workspace(SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json"])
    app = start(GALLERY, files=files)
    (crop,) = crops(app, cards(app)[0]["key"]).values()
    assert crop["image"] is None
    assert crop["problem"]


@pytest.mark.parametrize(
    ("chosen", "chips"),
    [
        ({"mistakes": "duplicate", "score": "0.01-0.02"}, 2),
        ({"question": '{"cell":["Text","Title"]}'}, 1),
        ({"question": '{"cell":["Text","Title"]}', "label": "Table"}, 2),
    ],
)
def test_without_boxes_it_says_what_is_there_to_do(chosen: dict[str, str], chips: int) -> None:
    app = start(GALLERY, **chosen)
    said = "Nothing passes the filter. Remove a condition above."
    assert (cards(app), component(app, "cards")["empty"]) == ([], said)
    assert toolbar(app).count("|") == chips


def test_every_choice_has_its_charts_and_names_the_colours_of_several_models() -> None:
    for charts, number, several in (("names", 1, True), ("fit", 4, True), ("scores", 2, True), ("causes", 0, False)):
        app = start(GALLERY, charts=charts)
        assert len(app.get("vega_lite_chart")) == number, charts
        head = dashboard.block(app, 'class="ls-section"')
        assert (">A<" in head and ">B<" in head) == several, charts


def test_without_files_it_says_what_to_do() -> None:
    app = start(GALLERY, files=dashboard.workspace(None))
    assert any("No ground truth is open" in word for word in words(app))
    assert dashboard.components(app) == []
