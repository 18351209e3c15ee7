"""Gallery under AppTest: every linked number opens exactly its boxes, and the address is the whole state."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.data.dataset import join
from evaluator.matching.box_items import MATCHED, Query, asks_for_matches, in_query, items
from evaluator.matching.causes import Family, family_title
from evaluator.matching.error_types import DOCUMENT
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
    toolbar,
    viewer,
    words,
)
from tests.judging import stored
from tests.pages.test_routes import asked as answered
from tests.sample_results import box_result, sample

TABLES = Family("parts", "", "Table", "")


def cards(app: AppTest) -> list[dict[str, Any]]:
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


def test_it_begins_with_all_places_by_cause(store_path: Path) -> None:
    app, made = start(GALLERY), box_result().causes
    data = component(app, "cards")
    assert toolbar(app) == "302 wrong boxes in 234 mistakes (189 extra, 113 missed), at 94 places on 33 pages"
    assert [(group["title"], group["first"], group["places"]) for group in data["groups"][:3]] == [
        ("Table read as several boxes", 0, 8), ("Extra Text", 8, 41), ("Several boxes read as one Figure", 49, 3),
    ]  # fmt: skip
    assert data["groups"][0]["words"] == "76 wrong boxes at 8 places: 68 extra (FP), 8 missed (FN)"
    assert data["groups"][1]["words"] == "41 wrong boxes at 41 places: all extra (FP)"
    first = data["cards"][0]
    assert (first["title"], first["tags"]) == ("Table read as 14 boxes", ["14 FP", "1 FN"])
    assert [(cause["title"], cause["boxes"]) for cause in data["causes"]] == [
        (family_title(family), int(made.boxes[rows].sum())) for family, rows in made.alike.items()
    ]
    assert len(data["cards"]) == len(data["verdicts"]) == len(made) == sum(each["places"] for each in data["groups"])


@pytest.mark.parametrize("order", ["page", "label", "surest"])
def test_every_order_has_all_places(order: str, store_path: Path) -> None:
    data = component(start(GALLERY, sort=order), "cards")
    assert len({card["key"] for card in data["cards"]}) == len(box_result().causes)
    if order == "page":
        assert [group["title"] for group in data["groups"]] == list(
            dict.fromkeys(card["place"] for card in data["cards"])
        )
    assert bool(data.get("groups")) == (order in ("page", "label"))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Query(cell=("Text", None)), "Text predicted as background"),
        (Query(cell=(None, "Text")), "background predicted as Text"),
        (Query(name="matched", iou=(0.5, 0.7)), "Matched, IoU 0.50 to 0.70"),
        (Query(score=(0.2, 0.4)), "score 0.20 to 0.40"),
        (Query(name="cut_off"), "Cut off"),
        (Query(cause=TABLES), "Table read as several boxes"),
    ],
)
def test_a_link_opens_the_places_of_a_number_and_matched_pairs_one_by_one(question: Query, said: str) -> None:
    text = json.dumps({name: value for name in question.__struct_fields__ if (value := getattr(question, name))})
    app, every, of_mistake = start(GALLERY, question=text), items(box_result()), box_result().causes.of_mistake
    expected = in_query(every, question)
    matched = asks_for_matches(question)
    places = set(of_mistake[every.mistake[expected & (every.kind != MATCHED)]].tolist())
    assert 0 < len(cards(app)) == (int(expected.sum()) if matched else len(places)) <= 240
    assert toolbar(app).startswith(f"{said} | ")
    assert ("matched pair" in toolbar(app)) == bool((every.kind[expected] == MATCHED).any())
    fine(app.button(key="chip_question").click().run())
    assert len(cards(app)) == len(box_result().causes)
    assert "question" not in address(app)


def test_a_link_that_makes_no_sense_shows_all_mistakes() -> None:
    for text in ('{"cell":["Chart",null]}', '{"name":"gone"}', '{"colour":1}', "no", '{"iou":[1]}'):
        assert len(cards(start(GALLERY, question=text))) == len(box_result().causes), text


def test_the_filter_is_that_of_the_page_browser(store_path: Path) -> None:
    app = start(GALLERY, within="rainfall-atlas.pdf", mistakes="missed", sort="page")
    result = box_result()
    wanted = result.mistakes.kind == DOCUMENT.index("missed")
    of_document = sample().page_document[result.mistakes.page] == sample().document_code["rainfall-atlas.pdf"]
    assert len(cards(app)) == len(set(result.causes.of_mistake[wanted & of_document].tolist())) > 0
    assert {card["document"] for card in cards(app)} == {"rainfall-atlas.pdf"}
    assert 0 < len(cards(start(GALLERY, third="top"))) < len(result.causes)


def test_thresholds_match_everything_again() -> None:
    app, result = start(GALLERY, iou="0.75", scores="0.4"), box_result(iou=0.75, min_score=0.4)
    assert len(cards(app)) == len(result.causes)


def judge(app: AppTest, *acts: dict[str, Any]) -> AppTest:
    return dashboard.send_event(app, "cards", "judge", [{"verdict": None, "keys": [], **act} for act in acts])


def test_verdicts_are_for_whole_places_once_and_the_last_is_taken_back(store_path: Path) -> None:
    app, made = start(GALLERY), box_result().causes
    keys = [card["key"] for card in cards(app)[:3]]
    first = {"id": "one", "keys": keys[:1], "verdict": "model_wrong", "name": "Ada"}
    judge(app, first)
    # A message that is not answered comes again with the next one.
    data = component(judge(app, first, {"id": "two", "keys": keys[1:2], "verdict": "ambiguous"}), "cards")
    mistakes = sum(len(made.rows[row]) for row in made.alike[TABLES][:2].tolist())
    assert len(stored(store_path)) == len({event.target_id for event in stored(store_path)}) == mistakes
    agreed = [{each["agreed"] for each in said} for said in data["verdicts"][:3]]
    assert agreed == [{"model_wrong"}, {"ambiguous"}, set()]
    assert (data["answered"], data["reviewer"], data["groups"][0]["judged"]) == ("two", "Ada", 2)
    assert "2 of 94 places judged" in words(app)
    # The rest of the cause, and back.
    data = component(judge(app, {"id": "3", "keys": keys[2:], "verdict": "ignore", "everywhere": True}), "cards")
    agreed = [{each["agreed"] for each in said} for said in data["verdicts"][:8]]
    assert agreed == [{"model_wrong"}, {"ambiguous"}, *[{"ignore"}] * 6]
    data = component(judge(app, {"id": "4", "undo": True}), "cards")
    assert (data["groups"][0]["judged"], [len(said) for said in data["verdicts"][2:8]]) == (2, [0] * 6)
    # What is judged is away where only the rest is asked for.
    fine(app.checkbox(key="unjudged").set_value(True).run())
    assert len(cards(app)) == len(made) - 2
    assert "Not judged" in toolbar(app)


def test_a_cause_of_the_rail_becomes_a_chip_and_f_shows_the_other_model(store_path: Path) -> None:
    app = start(GALLERY)
    dashboard.send_event(app, "cards", "cause", 1)
    assert toolbar(fine(app.run())).startswith("Extra Text | 41 wrong boxes in 41 mistakes, at 41 places on ")
    assert [cause["chosen"] for cause in component(app, "cards")["causes"]][:3] == [False, True, False]
    dashboard.send_event(app, "cards", "cause", -1)
    dashboard.send_event(app, "cards", "model", True)
    assert len(cards(fine(app.run()))) == len(box_result(1).causes)


def test_one_verdict_on_a_page_for_all_places_like_it(store_path: Path) -> None:
    app, made = start(PAGE_BROWSER, doc="harvest-survey-2024.pdf", page="4"), box_result().causes
    data = viewer(app)
    first = next(each for each in data["mistakes"] if each.get("family") == list(TABLES))
    assert first["alike"] == len(made.alike[TABLES]) - 1
    event = {
        "id": "one", "document": "harvest-survey-2024.pdf", "index": 3, "number": first["number"],
        "keys": first["keys"], "target": first["target"], "verdict": "model_wrong", "note": "rulings", "name": "Ada",
    }  # fmt: skip
    data = viewer(dashboard.send_event(app, "mistakes", "verdict", [{**event, "everywhere": True}]))
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


def test_without_pdfs_a_crop_is_an_empty_sheet_and_the_overview_says_why() -> None:
    files = dashboard.workspace(SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json"])
    app = start(GALLERY, files=files)
    (crop,) = crops(app, cards(app)[0]["key"]).values()
    assert (crop["image"], crop["problem"]) == (None, None)
    assert any("no PDF is open: boxes on empty sheets" in words for words in dashboard.words(start(files=files)))


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


def test_old_addresses_of_charts_open_the_curves_of_the_overview() -> None:
    for charts, number in (("scores", 4), ("fit", 4)):
        app = start(GALLERY, charts=charts)
        assert dashboard.title(app) == "Overview"
        assert len(app.get("vega_lite_chart")) == number, charts
    for charts in ("names", "causes"):
        app = start(GALLERY, charts=charts)
        assert (dashboard.title(app), len(cards(app))) == ("Grid", len(box_result().causes))
        assert not app.caption


def test_without_files_it_says_what_to_do() -> None:
    app = start(GALLERY, files=dashboard.workspace(None))
    assert any("No ground truth is open" in word for word in words(app))
    assert dashboard.components(app) == []
