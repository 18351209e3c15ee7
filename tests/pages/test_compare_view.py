"""The view Compare under AppTest: what it hands to its components, its states and its address."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.compare import differences
from evaluator.compare.changed_causes import changed_causes
from evaluator.compare.decision import cost_of, decide
from evaluator.compare.ledger import Ledger, ledger
from evaluator.compare.sentences import summary
from evaluator.components.compare.pair_causes import box_keys, key_of
from evaluator.components.compare.pair_causes import pages_of as pages_of_cause
from evaluator.components.compare.pair_list import boxes_of, listed_pages
from evaluator.components.compare.payload import CompareEvents, LinkItem, OpenEvent
from evaluator.components.viewer.payload import GoEvent
from evaluator.data.dataset import join
from evaluator.matching.box_measures import box_measures
from evaluator.matching.causes import family_title
from evaluator.protocols import snapshot
from evaluator.review.identity import page_targets
from evaluator.review.store_address import FINDINGS_VARIABLE
from evaluator.review.verdicts import ReviewLog
from pages.app import components
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import FILES, PAGE_BROWSER, SAMPLE_DATA, files_of, send_event, start
from tests.sample_results import box_result

COMPARE = "pages/compare.py"
MODELS = ("lines", "blocks")
HOSTILE = (
    '<img src=x onerror="x()">![](http://example.invalid/x.png) [x](http://example.invalid) $x$ :material/home: www.a.b'
)
TRUTH = [box(0.1, 0.1, 0.5, 0.5), box(0.6, 0.1, 0.9, 0.5, label="Table"), box(0.1, 0.6, 0.5, 0.9, page=1)]


@cache
def core(order: tuple[int, int] = (0, 1), iou: float = 0.5, scores: tuple[float, float] = (0.0, 0.0)) -> Any:
    """Results and ledger of the sample data, the way the command line gets them."""
    results = [box_result(model, iou, score) for model, score in zip(order, scores, strict=True)]
    return results, ledger(*results)


def test_more_than_two_models_stand_in_one_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    third = json.loads((SAMPLE_DATA / "lines.json").read_text())
    third["info"]["model"]["name"] = "third"
    for page in third["predictions"]:
        page["objects"] = page["objects"][:3]
    (tmp_path / "third.json").write_text(json.dumps(third))
    sides = [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json", tmp_path / "third.json"]
    app = start(monkeypatch, COMPARE, files=dashboard.workspace(SAMPLE_DATA / "ground_truth.json", sides))
    table = next(each.value for each in app.dataframe if "Recall − A" in each.value)
    assert table["Model"].tolist() == ["A lines 1.0", "B blocks 1.0", "third 1.0"]
    dataset = join(*(formats.read(path) for path in (SAMPLE_DATA / "ground_truth.json", *sides)))
    for model, (_, row) in enumerate(table.iterrows()):
        micro = snapshot.pair(dataset, model).match().at(0.5).micro
        assert row["Recall"] == micro.recall[0]
        assert row["TP"] == micro.tp[0]
    assert table["Recall − A"].isna().tolist() == [True, False, False]
    assert table["Recall − A"][1].startswith("+7.2 (+1.0 to +15.1)")
    assert table["Recall − A"][2].startswith("−")


def test_two_of_three_models_are_chosen_and_stand_in_the_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    third = json.loads((SAMPLE_DATA / "lines.json").read_text())
    third["info"]["model"]["name"] = "third"
    (tmp_path / "third.json").write_text(json.dumps(third))
    sides = [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json", tmp_path / "third.json"]
    files = dashboard.workspace(SAMPLE_DATA / "ground_truth.json", sides)
    app = start(monkeypatch, COMPARE, files=files, model_a="3", scores="0,0,0.4")
    assert [pane["name"] for pane in panes(app)["panes"]] == ["third 1.0", "blocks 1.0"]
    assert app.selectbox(key="model_a").options == ["lines 1.0", "blocks 1.0", "third 1.0"]
    dashboard.fine(app.selectbox(key="model_b").set_value(0).run())
    assert [pane["name"] for pane in panes(app)["panes"]] == ["third 1.0", "lines 1.0"]
    in_address = {name: app.query_params[name] for name in ("model_a", "model_b", "scores")}
    assert {name: value[0] if isinstance(value, list) else value for name, value in in_address.items()} == {
        "model_a": "3", "model_b": "1", "scores": "0,0,0.4",
    }  # fmt: skip
    dashboard.go(app, dashboard.PAGE_BROWSER)
    assert app.button_group(key="model").options == ["lines 1\\.0", "blocks 1\\.0", "third 1\\.0"]
    dashboard.fine(app.button_group(key="model").set_value(2).run())
    assert dashboard.viewer(app)["model"] == {"letter": "3", "name": "third 1.0"}
    assert [each.value for each in app.slider if each.label == "Minimum score"] == [0.4]


def told(results: Sequence[snapshot.ThresholdResult]) -> str:
    """The summary of two results."""
    a, b = (box_measures(result) for result in results)
    keys = [key for key in a.keys if key.metric in ("recall", "precision", "f1")]
    return " ".join(summary(differences.differences(a, b, keys=keys), ("A", "B")))


def component(app: AppTest, field: str) -> dict[str, Any]:
    """What the component with some field was given."""
    # The board is there twice: its sentence and differences, and its ledger.
    given = [data for each in app.get("bidi_component") if field in (data := dashboard.data_of(each))]
    parts = [data.pop("part", "differences") for data in given]
    assert parts == (["differences", "ledger"] if field == "sentence" else ["differences"])
    assert all(data == given[0] for data in given)
    return dict(given[0])


def board(app: AppTest) -> dict[str, Any]:
    return component(app, "sentence")


def panes(app: AppTest) -> dict[str, Any]:
    return component(app, "strip")


def test_a_mistake_of_either_pane_can_be_judged_as_in_the_page_browser(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FINDINGS_VARIABLE, str(tmp_path / "findings.sqlite"))
    results, both = core()
    app = start(monkeypatch, COMPARE)
    data = panes(app)
    assert (data["verdicts"], data["reviewer"]) == (True, "")
    document, index = data["page"]["document"], data["page"]["index"]
    row = both.dataset.page_row(document, index)
    for pane, result in zip(data["panes"], results, strict=True):
        targets = page_targets(result, row, ReviewLog())
        assert sorted(each["target"] for each in pane["mistakes"]) == sorted(targets)
        (first, *_) = pane["mistakes"]
        # The boxes of a mistake keep the keys of their pane.
        assert set(first["keys"]) <= {each["key"] for each in pane["boxes"]}
    judged = {pane["letter"]: pane["mistakes"][-1] for pane in data["panes"]}
    for letter, mistake in judged.items():
        event = {
            "id": f"one-{letter}", "document": document, "index": index, "number": mistake["number"],
            "keys": mistake["keys"], "target": mistake["target"], "verdict": "ignore", "note": letter,
            "letter": letter, "name": "Ngozi",
        }  # fmt: skip
        app = send_event(app, "panes", "verdict", event)
        (shown,) = (pane for pane in panes(app)["panes"] if pane["letter"] == letter)
        (now,) = (each for each in shown["mistakes"] if each["target"] == mistake["target"])
        assert [(each["author"], each["note"]) for each in now["verdict"]["opinions"]] == [("Ngozi", letter)]
        assert now["answered"] == f"one-{letter}"


def listed(data: dict[str, Any]) -> list[tuple[str, int]]:
    return [(each["document"], each["index"]) for each in data["strip"]]


def pages_of(both: Ledger, show: str) -> list[tuple[str, int]]:
    dataset = both.dataset
    return [
        (dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row]))
        for row in listed_pages(both, show).tolist()
    ]


# --- on the sample data --------------------------------------------------------------------------------------


def test_it_says_what_the_core_says(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE)
    results, both = core()
    assert dashboard.title(app) == "Compare"
    assert dashboard.signature(app) == (
        "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 (A), ≥ 0.00 (B) · 8 documents, 36 pages · 95 % intervals over "
        "documents"
    )
    shown = board(app)
    assert " ".join(part["text"] for part in shown["sentence"]) == told(results)
    total = both.total.rows()[0]
    assert {cell["name"]: cell["boxes"] for cell in shown["ledger"]} == {
        name: total[name] for name in ("both", "a_only", "b_only", "neither")
    }
    data = panes(app)
    assert listed(data) == pages_of(both, "changed")
    assert (data["page"]["document"], data["page"]["index"]) == pages_of(both, "changed")[0]
    assert [pane["name"] for pane in data["panes"]] == ["lines 1.0", "blocks 1.0"]
    assert data["page"]["image"].startswith("data:image/jpeg;base64,")
    assert not app.warning
    assert not any("Recall − A" in each.value for each in app.dataframe), "two models have no table of all"


@pytest.mark.parametrize(("iou", "scores"), [(0.75, (0.0, 0.0)), (0.5, (0.8, 0.35))])
def test_each_model_has_its_own_score_threshold(
    monkeypatch: pytest.MonkeyPatch, iou: float, scores: tuple[float, float]
) -> None:
    app = start(monkeypatch, COMPARE)
    for name, value in zip(("iou", "score_0", "score_1"), (iou, *scores), strict=True):
        app.slider(key=name).set_value(value)
    dashboard.fine(app.run())
    results, both = core(iou=iou, scores=scores)
    assert " ".join(part["text"] for part in board(app)["sentence"]) == told(results)
    assert [each["pages"] for each in panes(app)["filters"]] == [
        int((boxes_of(both.per_page, each["name"]) > 0).sum()) for each in panes(app)["filters"]
    ]
    assert f"IoU ≥ {iou:.2f} · score ≥ {scores[0]:.2f} (A), ≥ {scores[1]:.2f} (B)" in dashboard.signature(app)


def test_swapping_exchanges_models_and_each_keeps_its_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE)
    dashboard.fine(app.slider(key="score_0").set_value(0.4).run())
    (button,) = [each for each in app.button if each.label == "Swap A and B"]
    dashboard.fine(button.click().run())
    results, both = core((1, 0), scores=(0.0, 0.4))
    assert [pane["name"] for pane in panes(app)["panes"]] == ["blocks 1.0", "lines 1.0"]
    sliders = [(each.label, each.value) for each in app.slider if each.label.startswith("Minimum score")]
    assert sliders == [("Minimum score, A", 0.0), ("Minimum score, B", 0.4)]
    assert {cell["name"]: cell["boxes"] for cell in board(app)["ledger"]}["a_only"] == both.total.a_only[0]
    assert " ".join(part["text"] for part in board(app)["sentence"]) == told(results)


def test_an_address_is_the_whole_state(monkeypatch: pytest.MonkeyPatch) -> None:
    results, both = core((0, 1), 0.5)
    document, index = pages_of(both.only(labels={"Text"}), "b_broke")[2]
    app = start(
        monkeypatch, COMPARE, show="b_broke", label="Text", doc=document, page=str(index + 1), look="slider", box="g7"
    )
    data = panes(app)
    assert (data["show"], data["mode"], data["selected"]) == ("b_broke", "slider", "g7")
    assert (data["page"]["document"], data["page"]["index"], data["page"]["position"]) == (document, index, 3)
    assert listed(data) == pages_of(both.only(labels={"Text"}), "b_broke")
    assert {each["label"] for pane in data["panes"] for each in pane["boxes"]} == {"Text"}
    assert board(app)["chosen"] == {"show": "b_broke", "label": "Text"}
    assert {name: app.query_params[name] for name in app.query_params} == {
        "show": "b_broke",
        "label": "Text",
        "doc": document,
        "page": str(index + 1),
        "look": "slider",
        "box": "g7",
    }
    assert results[0].matching.dataset is both.dataset


def test_a_cause_of_the_address_lists_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    results, both = core()
    made = changed_causes(*results, both)
    key = key_of(made.families[0])
    app = start(monkeypatch, COMPARE, cause=key)
    data = panes(app)
    assert [each["title"] for each in data["causes"]] == [family_title(family) for family in made.families]
    assert (data["cause"], data["show"]) == (key, "")
    dataset = both.dataset
    assert listed(data) == [
        (dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row]))
        for row in pages_of_cause(made, 0, both).tolist()
    ]
    assert sum(each["gained"] for each in data["strip"]) == made.solved[0] + made.new[0]
    assert app.query_params["cause"] in (key, [key])
    app = send_event(app, "panes", "open", {"letter": "A", "key": None})
    assert dashboard.title(app) == "Page browser"
    assert dashboard.viewer(app)["selected"].replace("p", "a") in box_keys(made, 0)
    app = start(monkeypatch, COMPARE, cause="no/such/cause")
    assert (panes(app).get("cause", ""), panes(app)["show"]) == ("", "changed")
    assert "cause" not in app.query_params


def test_an_address_that_makes_no_sense_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE, show="everything", look="upside-down", label="No such label")
    assert panes(app)["show"] == "changed"
    assert "The address had parts that could not be followed: show, look, label." in [
        each.value.replace("\\", "") for each in app.caption
    ]


def test_an_address_with_one_model_twice_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models are compared: B is the other one."""
    app = start(monkeypatch, COMPARE, model_a="2", model_b="2")
    assert [pane["name"] for pane in panes(app)["panes"]] == ["blocks 1.0", "lines 1.0"]
    assert "The address had parts that could not be followed: model\\_b." in [each.value for each in app.caption]


def test_a_document_narrows_the_list_and_not_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    within = "school-census.pdf"
    app = start(monkeypatch, COMPARE)
    dashboard.fine(app.selectbox(key="within").set_value(within).run())
    _, both = core()
    assert listed(panes(app)) == pages_of(both.only(documents={within}), "changed")
    assert board(app)["ledger"][0]["boxes"] == both.total.both[0]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ({"label": "Table"}, "boxes of Table"),
        ({"within": "school-census.pdf"}, "boxes in school-census.pdf"),
    ],
)
def test_what_causes_count_is_said(monkeypatch: pytest.MonkeyPatch, address: dict[str, str], words: str) -> None:
    scope = panes(start(monkeypatch, COMPARE, **address)).get("scope", "")
    assert re.sub("[\u2068\u2069]", "", scope) == words


def test_class_confusion_and_pixels_are_b_minus_a(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE, below="classes")
    data = component(app, "ramp")
    assert (data["letters"], data["kind"], data["unit"]) == (["B", "A"], "difference", "boxes")
    place = data["classes"].index("Text")
    results, _ = core()
    true_positives = [int(result.per_label.tp[result.matching.labels.index("Text")]) for result in results]
    assert data["text"][place][place] == f"{true_positives[1] - true_positives[0]:+d}".replace("-", "−")
    dashboard.fine(app.button_group(key="pair_part").set_value("pixels").run())
    data = component(app, "ramp")
    assert (data["shows"], data["letters"]) == ("row", ["B", "A"])


# --- states --------------------------------------------------------------------------------------------------


def test_one_model_only_shows_how_to_add_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dashboard.workspace(SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "blocks.json"], SAMPLE_DATA / "pdf")
    app = start(monkeypatch, COMPARE, files=files)
    assert "Only one model is open, so there is nothing to compare. Add a second prediction under Files." in (
        dashboard.words(app)
    )
    assert len(app.get("page_link")) == 1
    assert dashboard.components(app) == []


def test_without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE, files=dashboard.workspace(None))
    assert any(word.startswith("No ground truth is open") for word in dashboard.words(app))


def test_few_documents_have_no_intervals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, COMPARE, files=files_of(tmp_path, TRUTH, TRUTH[:1], TRUTH[1:]))
    shown = board(app)
    assert shown["reason"] == "No intervals: with 1 document an interval means little; 8 are needed."
    assert {row["interval"] for row in shown["tables"][0]["rows"]} == {"–"}
    assert {row["low"] for row in shown["tables"][0]["rows"]} == {None}


def test_the_same_model_twice_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, COMPARE, files=files_of(tmp_path, TRUTH, TRUTH, TRUTH))
    data = panes(app)
    assert data["page"] is None
    assert data["empty"] == {
        "text": "A and B have the same matches and the same mistakes at these thresholds.",
        "action": "Show every changed page",
    }
    app = start(monkeypatch, COMPARE, files=files_of(tmp_path, TRUTH, TRUTH[:2], TRUTH), show="b_broke")
    assert panes(app)["empty"]["text"] == "No page passes the filter."


def test_pages_without_a_picture_keep_their_boxes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, COMPARE, files=files_of(tmp_path, TRUTH, TRUTH[:1], TRUTH[1:]))
    data = panes(app)
    assert data["page"]["image"] is None
    assert data["page"]["problem"]["text"]
    assert all(pane["boxes"] for pane in data["panes"])


def test_a_page_that_only_one_side_mentions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    alone = [*TRUTH, box(0.1, 0.1, 0.4, 0.4, document="b.pdf")]
    app = start(monkeypatch, COMPARE, files=files_of(tmp_path, TRUTH, TRUTH, alone), doc="b.pdf", page="1")
    data = panes(app)
    assert data["page"]["document"] == "b.pdf"
    assert [[each["kind"] for each in pane["boxes"]] for pane in data["panes"]] == [[], ["b_invents"]]
    assert data["panes"][0]["words"] == "misses none that B finds"


def test_label_sets_that_differ_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "truth.json", TRUTH, side="ground_truth")
    first = write_file(tmp_path / "a.json", TRUTH[:1])
    odd = [*TRUTH[1:], TRUTH[0]._replace(label="figure")]
    second = write_file(tmp_path / "b.json", odd)
    app = start(monkeypatch, COMPARE, files=dashboard.workspace(truth, [first, second]))
    texts = [each.value.replace("\\", "").replace("\u2060", "") for each in app.warning]
    assert any("figure: only in B." in text and '--map-label "figure=Figure"' in text for text in texts)


def test_hostile_names_stay_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [row._replace(label=HOSTILE, document=f"{HOSTILE}.pdf") for row in TRUTH]
    files = files_of(tmp_path, rows, rows[:1], rows[1:], labels=[HOSTILE])
    for part in ("mistakes", "classes"):
        app = start(monkeypatch, COMPARE, files=files, below=part)
        for place, text in dashboard.markdown_texts(app):
            active = dashboard.active_markdown(text)
            assert active is None or HOSTILE not in text, f"{place}: {active}"
        for body in dashboard.html_blocks(app):
            assert not {tag for tag, _ in dashboard.read_html(body).tags} & {"img", "script", "a"}
    assert panes(app)["panes"][0]["boxes"][0]["label"] == HOSTILE


def test_the_choices_stay_on_the_way_over_other_views(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE, show="b_fixed", look="flip")
    dashboard.go(app, FILES)
    dashboard.go(app, PAGE_BROWSER)
    dashboard.go(app, COMPARE)
    assert (panes(app)["show"], panes(app)["mode"]) == ("b_fixed", "flip")


# --- what the components report ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"go": 3, "show": ["b_fixed"], "mode": 1, "open": "A", "selected": "g1", "sharper": {"width": 3}},
        {"go": {"document": 1, "index": "2", "step": 0}, "show": "everything", "open": {"letter": "C", "key": None}},
    ],
)
def test_malformed_reports_are_left_out(state: dict[str, Any] | None) -> None:
    assert components.parse_panes(state) == CompareEvents()
    assert components.parse_linked(state) is None


def test_reports_are_read() -> None:
    state = {
        "go": {"document": "a.pdf", "index": 2, "step": 1},
        "selected": {"document": "a.pdf", "index": 2, "key": "b3"},
        "show": "both_missed",
        "mode": "flip",
        "open": {"letter": "B", "key": "g1"},
    }
    panes = components.parse_panes(state)
    assert (panes.go, panes.show, panes.mode) == (GoEvent("a.pdf", 2, 1), "both_missed", "flip")
    assert panes.selected is not None
    assert panes.selected.key == "b3"
    assert panes.open == OpenEvent("B", "g1")
    linked = components.parse_linked({"link": {"show": "both_found", "label": "Table", "at": 1}})
    assert linked == LinkItem("both_found", "Table")


# --- the decision --------------------------------------------------------------------------------------------


def decision_words(app: AppTest) -> list[str]:
    body = next(body for body in dashboard.html_blocks(app) if "ls-decision" in body)
    return dashboard.read_html(body).words


def test_it_opens_with_the_decision_of_the_terminal_and_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE)
    assert [each.proto.alt for each in app.get("vega_lite_chart")] == [
        "Mistakes of A and B, By name",
        "Mistakes of A and B, By label",
    ]
    results, _ = core()
    words = dashboard.words(app)
    place = words.index("By name")
    named = [int(result.mistakes.counts.sum()) for result in results]
    assert words[place + 2 : place + 6] == ["A", f"{named[0]:,}", "B", f"{named[1]:,}"]
    made = decide(differences.differences(*(box_measures(each) for each in results)), ("lines 1.0", "blocks 1.0"))
    assert decision_words(app)[:2] == [made.headline, made.sentence]
    assert made.headline == "Cannot tell on these 8 documents"
    text = " ".join(dashboard.words(app))
    assert made.more_documents in text
    assert cost_of(*results) is not None
    assert decide([], ("", ""), cost=cost_of(*results)).cost_words[0] in text
    few, every = board(app)["tables"]
    assert few["rows"][0]["title"].startswith("F1")
    losses = {row["title"] for row in every["rows"] if row["tone"] == "loss"}
    assert losses
    assert losses <= {row["title"] for row in few["rows"]}


def test_the_rule_can_be_set_and_stands_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE, measure="recall", least="2", loss="100")
    assert [app.selectbox(key=name).value for name in ("rule_measure", "rule_least", "rule_loss")] == [
        "recall",
        2.0,
        100,
    ]
    assert decision_words(app)[1].startswith("Recall ")
    dashboard.fine(app.selectbox(key="rule_measure").set_value("precision").run())
    assert decision_words(app)[1].startswith("Precision ")
    assert (app.query_params["measure"], app.query_params["least"]) == ("precision", "2")


def test_names_of_models_are_text_in_the_decision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    value = json.loads((SAMPLE_DATA / "lines.json").read_text())
    value["info"]["model"]["name"] = HOSTILE
    (tmp_path / "hostile.json").write_text(json.dumps(value))
    sides = [tmp_path / "hostile.json", SAMPLE_DATA / "blocks.json"]
    app = start(monkeypatch, COMPARE, files=dashboard.workspace(SAMPLE_DATA / "ground_truth.json", sides))
    body = next(body for body in dashboard.html_blocks(app) if "ls-decision" in body)
    assert "img" not in [tag for tag, _ in dashboard.read_html(body).tags]
