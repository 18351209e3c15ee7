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
from evaluator.matching.box_items import MATCHED, Query, class_confusion, in_query, items
from evaluator.matching.causes import Family
from evaluator.protocols.snapshot.evaluation import pair
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from pages.app import routes
from pages.views.gallery.gallery_items import _order
from tests.building import annotations, ground_truth, random_rows
from tests.dashboard import SAMPLE_DATA, components, fine, gallery_heading, start, words, workspace
from tests.pages.test_routes import asked as answered
from tests.sample_results import box_result

GALLERY = "pages/gallery.py"


def component(app: AppTest, key: str) -> dict[str, Any]:
    """The data of the component whose data has a key."""
    for each in app.get("bidi_component"):
        data = json.loads(each.proto.json)
        if key in data:
            return dict(data)
    raise AssertionError(f"no component with {key}")


def asked(app: AppTest) -> int:
    return len(component(app, "cards")["cards"])


@pytest.mark.parametrize("matched", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_worst_first_is_a_stable_sort_by_cost_fit_and_size(seed: int, matched: bool) -> None:
    truth, predicted = random_rows(seed)
    result = pair(join(ground_truth(truth), annotations(predicted))).match().at(0.5)
    every = items(result, matched=matched)
    # Sizes of one digit, so that many are equal, and some that nobody knows.
    size = every.size.round(1)
    size[::7] = np.nan
    every = every.with_columns(size=size)

    def cost(row: int) -> tuple[int, float, float]:
        pairs = every.kind[row] == MATCHED
        touched = 0 if pairs else int(result.mistakes.corrections[every.mistake[row]])
        return -touched, float(every.iou[row]) if pairs else 0.0, np.inf if np.isnan(size[row]) else -float(size[row])

    rows = list(range(len(every)))
    assert len({cost(row) for row in rows}) < len(rows)
    assert _order(result, every, "costliest").tolist() == sorted(rows, key=cost)


def test_it_begins_with_all_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY)
    result = box_result()
    assert asked(app) == len(result.mistakes)
    assert f"{len(result.mistakes)} mistakes on" in gallery_heading(app)
    assert component(app, "ramp")["unit"] == "boxes"
    boxes = [len(card["boxes"]) for card in component(app, "cards")["cards"]]
    assert boxes[0] == max(boxes), "the worst first"
    facts = component(app, "facts")["facts"]
    # Nobody counts the boxes of the background: the numbers of its cell are undefined, and it opens nothing.
    assert {name: rows[0][0] for name, rows in facts.items()} == dict.fromkeys(("pixels", "row", "column", "f1"))
    assert facts["pixels"][0][1] is not None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Query(cell=("Text", None)), "Text predicted as background"),
        (Query(cell=(None, "Text")), "background predicted as Text"),
        (Query(name="matched", iou=(0.5, 0.7)), "Matched, IoU 0.50 to 0.70"),
        (Query(score=(0.2, 0.4)), "score 0.20 to 0.40"),
        (Query(name="cut_off"), "Cut off"),
    ],
)
def test_a_link_opens_the_boxes_behind_a_number(monkeypatch: pytest.MonkeyPatch, question: Query, words: str) -> None:
    text = json.dumps({name: value for name in question.__struct_fields__ if (value := getattr(question, name))})
    app = start(monkeypatch, GALLERY, question=text)
    result = box_result()
    every = items(result)
    expected = in_query(every, question)
    assert 0 < expected.sum() <= 240
    assert asked(app) == expected.sum()
    assert words in gallery_heading(app)
    matched = int((every.kind[expected] == MATCHED).sum())
    assert ("matched pair" in gallery_heading(app)) == (matched > 0)
    next(button for button in app.button if button.label == "All mistakes").click()
    assert asked(fine(app.run())) == len(result.mistakes)
    assert "question" not in app.query_params


def test_a_link_that_makes_no_sense_shows_all_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ('{"cell":["Chart",null]}', '{"name":"gone"}', '{"colour":1}', "no", '{"iou":[1]}'):
        assert asked(start(monkeypatch, GALLERY, question=text)) == len(box_result().mistakes), text


def test_the_filter_is_that_of_the_page_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY, within="rainfall-atlas.pdf", mistakes="missed", sort="largest")
    cards = component(app, "cards")["cards"]
    assert cards
    assert {card["document"] for card in cards} == {"rainfall-atlas.pdf"}
    assert {card["title"] for card in cards} == {"Missed"}
    sizes = [
        (box["xyxy"][2] - box["xyxy"][0]) * (box["xyxy"][3] - box["xyxy"][1])
        for box in (card["boxes"][0] for card in cards)
    ]
    assert sizes == sorted(sizes, reverse=True)
    thirds = start(monkeypatch, GALLERY, third="top")
    assert all(min(box["xyxy"][1] for box in card["boxes"]) < 1 / 3 for card in component(thirds, "cards")["cards"])
    assert 0 < asked(thirds) < len(box_result().mistakes)


def test_thresholds_match_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY, iou="0.75", scores="0.4")
    result = box_result(iou=0.75, min_score=0.4)
    assert asked(app) == min(len(result.mistakes), 240)
    confusion = class_confusion(result)
    data = component(app, "ramp")
    assert data["text"][1][1] == f"{confusion.counts[0, 0]:,}"
    assert data["classes"] == ["Background", *confusion.labels]


def test_a_cause_is_one_card_each_time_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY, charts="causes")
    table = next(each.value for each in app.dataframe if "Cause" in each.value)
    assert table["Cause"][0] == "Table read as several boxes"
    assert table["Boxes to correct"].is_monotonic_decreasing
    assert table["Mistakes"].sum() == len(box_result().mistakes)
    app.session_state["gallery_question"] = Query(cause=Family("parts", "", "Table", ""))
    cards = component(fine(app.run()), "cards")["cards"]
    assert len(cards) == table["Times"][0] == 8
    assert cards[0]["title"] == "Table read as 14 boxes"
    assert "8 times, " in gallery_heading(app)
    assert f"{table['Mistakes'][0]} mistakes on {table['Pages'][0]} pages" in gallery_heading(app)
    again = start(monkeypatch, GALLERY, **{name: app.query_params[name] for name in ("question", "charts")})
    assert component(again, "cards")["cards"] == cards


def test_one_verdict_for_all_causes_of_one_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(path))
    app = start(monkeypatch, GALLERY, charts="causes")
    assert not [each for each in app.button if each.key == "say_ambiguous"]
    app.session_state["gallery_question"] = Query(cause=Family("parts", "", "Table", ""))
    fine(app.run())
    assert app.button(key="say_ambiguous").disabled
    fine(app.text_input(key="reviewer").set_value("Ngozi").run())
    next(each for each in app.text_input if each.label == "Note").set_value("rulings")
    fine(app.button(key="say_ambiguous").click().run())
    result = box_result()
    made = result.causes
    rows = made.alike[Family("parts", "", "Table", "")]
    mistakes = sum(len(made.rows[row]) for row in rows.tolist())
    with Store(path) as store:
        events = store.events()
    assert len({event.target_id for event in events}) == len(events) == mistakes
    assert {(event.verdict, event.note, event.author) for event in events} == {("ambiguous", "rulings", "Ngozi")}
    assert f"yours: Ambiguous on {mistakes} of {mistakes}; another one replaces it" in words(app)


def test_crops_come_when_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY)
    first = component(app, "cards")
    assert first["crops"] == {}
    app.session_state["gallery_wanted"] = [first["cards"][0]["key"], "nobody's"]
    crops = component(fine(app.run()), "cards")["crops"]
    assert list(crops) == [first["cards"][0]["key"]]
    assert crops[first["cards"][0]["key"]]["image"].startswith("data:image/webp;base64,")


def test_a_crop_has_an_address_of_its_own_where_the_server_answers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY)
    keys = [card["key"] for card in component(app, "cards")["cards"][:3]]

    def images() -> list[str]:
        app.session_state["gallery_wanted"] = keys
        crops = component(fine(app.run()), "cards")["crops"]
        return [crops[key]["image"] for key in keys]

    inside = images()
    monkeypatch.setattr(routes, "_routed", True)
    monkeypatch.setattr(routes, "_one_at_a_time", asyncio.Semaphore(1))
    addresses = images()
    assert len(set(addresses)) == len(keys)
    assert images() == addresses, "the browser has them already"
    for address, whole in zip(addresses, inside, strict=True):
        assert base64.b64decode(whole.partition(",")[2]) == answered(address.rpartition("/")[2]).body


def test_without_pdfs_a_crop_is_an_empty_sheet_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    files = workspace(SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json"])
    app = start(monkeypatch, GALLERY, files=files)
    key = component(app, "cards")["cards"][0]["key"]
    app.session_state["gallery_wanted"] = [key]
    crop = component(fine(app.run()), "cards")["crops"][key]
    assert crop["image"] is None
    assert crop["problem"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"mistakes": "duplicate", "score": "0.01-0.02"}, "No box passes the filter. Clear the filter in the sidebar."),
        ({"question": '{"cell":["Text","Title"]}'}, "No box is behind this number. Choose All mistakes."),
        (
            {"question": '{"cell":["Text","Title"]}', "label": "Table"},
            "No box passes the filter. Clear the filter in the sidebar or choose All mistakes.",
        ),
    ],
)
def test_without_boxes_it_says_what_is_there_to_do(
    monkeypatch: pytest.MonkeyPatch, address: dict[str, str], said: str
) -> None:
    app = start(monkeypatch, GALLERY, **address)
    cards = component(app, "cards")
    assert (cards["cards"], cards["empty"]) == ([], said)
    assert ("All mistakes" in said) == any(button.label == "All mistakes" for button in app.button)


def test_every_choice_has_its_charts_and_names_the_colours_of_several_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for charts, number, several in (("names", 1, True), ("fit", 4, True), ("scores", 2, True), ("classes", 0, False)):
        app = start(monkeypatch, GALLERY, charts=charts)
        assert len(app.get("vega_lite_chart")) == number, charts
        head = next(each.proto.body for each in app.get("html") if 'class="ls-section"' in each.proto.body)
        assert (">A<" in head and ">B<" in head) == several, charts


def test_without_files_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, GALLERY, files=workspace(None))
    assert any("No ground truth is open" in each.proto.body for each in app.get("html"))
    assert components(app) == []
