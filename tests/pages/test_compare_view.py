"""The view Compare under AppTest: what it hands to its components, its states and its address."""

import json
import re
import uuid
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
from evaluator.components.compare.payload import BoardEvents, CompareEvents, LinkEvent, OpenEvent
from evaluator.components.viewer.payload import GoEvent
from evaluator.data.dataset import join
from evaluator.matching.box_measures import box_measures
from evaluator.matching.causes import family_title
from evaluator.protocols import snapshot
from evaluator.review.identity import page_targets
from evaluator.review.verdicts import ReviewLog
from pages.app import components
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import COMPARE, PAGE_BROWSER, SAMPLE_DATA, address, files_of, fine, start, texts, words, workspace
from tests.sample_results import box_result

GROUND_TRUTH, LINES, BLOCKS = (SAMPLE_DATA / f"{name}.json" for name in ("ground_truth", "lines", "blocks"))
TRUTH = [box(0.1, 0.1, 0.5, 0.5), box(0.6, 0.1, 0.9, 0.5, label="Table"), box(0.1, 0.6, 0.5, 0.9, page=1)]


@cache
def core(order: tuple[int, int] = (0, 1), iou: float = 0.5, scores: tuple[float, float] = (0.0, 0.0)) -> Any:
    results = [box_result(model, iou, score) for model, score in zip(order, scores, strict=True)]
    return results, ledger(*results)


def third_model(folder: Path, boxes_of_a_page: int | None = None) -> list[Path]:
    """The models of the sample data, and the first one again under another name, with some of its boxes."""
    third = json.loads(LINES.read_text())
    third["info"]["model"]["name"] = "third"
    for page in third["predictions"]:
        del page["objects"][boxes_of_a_page:]
    (folder / "third.json").write_text(json.dumps(third))
    return [LINES, BLOCKS, folder / "third.json"]


def told(results: Sequence[snapshot.ThresholdResult]) -> str:
    a, b = (box_measures(result) for result in results)
    keys = [key for key in a.keys if key.metric in ("recall", "precision", "f1")]
    return " ".join(summary(differences.differences(a, b, keys=keys), ("A", "B")))


def component(app: AppTest, field: str) -> dict[str, Any]:
    # The board is there twice, its sentence and differences where the reader has opened them, and its ledger.
    given = [data for each in app.get("bidi_component") if field in (data := dashboard.data_of(each))]
    parts = [data.pop("part", "differences") for data in given]
    opened = "differences" in app.session_state["pair_opened"] if "pair_opened" in app.session_state else False
    both = ["differences", "ledger"] if opened else ["ledger"]
    assert parts == (both if field == "sentence" else ["differences"])
    assert all(data == given[0] for data in given)
    return dict(given[0])


def board(app: AppTest) -> dict[str, Any]:
    return component(app, "sentence")


def sentence(app: AppTest) -> str:
    return " ".join(part["text"] for part in board(app)["sentence"])


def panes(app: AppTest) -> dict[str, Any]:
    return component(app, "strip")


def models_of(app: AppTest) -> list[str]:
    return [pane["name"] for pane in panes(app)["panes"]]


def listed(data: dict[str, Any]) -> list[tuple[str, int]]:
    return [(each["document"], each["index"]) for each in data["strip"]]


def places(both: Ledger, rows: Any) -> list[tuple[str, int]]:
    dataset = both.dataset
    return [
        (dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row])) for row in rows.tolist()
    ]


def pages_of(both: Ledger, show: str) -> list[tuple[str, int]]:
    return places(both, listed_pages(both, show))


def test_more_than_two_models_stand_in_one_table(tmp_path: Path) -> None:
    sides = third_model(tmp_path, 3)
    every = dashboard.table(start(COMPARE, files=workspace(GROUND_TRUTH, sides)), "Recall − A")
    assert every["Model"].tolist() == ["A lines 1.0", "B blocks 1.0", "third 1.0"]
    dataset = join(*(formats.read(path) for path in (GROUND_TRUTH, *sides)))
    micros = [snapshot.pair(dataset, model).match().at(0.5).micro for model in range(3)]
    assert every[["Recall", "TP"]].to_numpy().tolist() == [[micro.recall[0], micro.tp[0]] for micro in micros]
    assert every["Recall − A"].isna().tolist() == [True, False, False]
    assert every["Recall − A"][1].startswith("+7.2 (+1.0 to +15.1)")
    assert every["Recall − A"][2].startswith("−")


def test_two_of_three_models_are_chosen_and_stand_in_the_address(tmp_path: Path) -> None:
    app = start(COMPARE, files=workspace(GROUND_TRUTH, third_model(tmp_path)), model_a="3", scores="0,0,0.4")
    assert models_of(app) == ["third 1.0", "blocks 1.0"]
    assert app.selectbox(key="model_a").options == ["lines 1.0", "blocks 1.0", "third 1.0"]
    fine(app.selectbox(key="model_b").set_value(0).run())
    assert models_of(app) == ["third 1.0", "lines 1.0"]
    assert address(app).items() >= {"model_a": "3", "model_b": "1", "scores": "0,0,0.4"}.items()
    dashboard.go(app, PAGE_BROWSER)
    assert app.button_group(key="model").options == ["lines 1\\.0", "blocks 1\\.0", "third 1\\.0"]
    fine(app.button_group(key="model").set_value(2).run())
    assert dashboard.viewer(app)["model"] == {"letter": "3", "name": "third 1.0"}
    assert [each.value for each in app.slider if each.label == "Minimum score"] == [0.4]


@pytest.mark.usefixtures("store_path")
def test_a_mistake_of_either_pane_can_be_judged_as_in_the_page_browser() -> None:
    results, both = core()
    app = start(COMPARE)
    data = panes(app)
    assert (data["verdicts"], data["reviewer"]) == (True, "")
    document, index = data["page"]["document"], data["page"]["index"]
    row = both.dataset.page_row(document, index)
    for pane, result in zip(data["panes"], results, strict=True):
        targets = page_targets(result, row, ReviewLog())
        assert sorted(each["target"] for each in pane["mistakes"]) == sorted(targets)
        # The boxes of a mistake keep the keys of their pane.
        assert set(pane["mistakes"][0]["keys"]) <= {each["key"] for each in pane["boxes"]}
    for pane in data["panes"]:
        letter, mistake = pane["letter"], pane["mistakes"][-1]
        event = {
            "id": uuid.uuid4().hex, "document": document, "index": index, "number": mistake["number"],
            "keys": mistake["keys"], "target": mistake["target"], "verdict": "ignore", "note": letter,
            "letter": letter, "name": "Ngozi",
        }  # fmt: skip
        app = dashboard.send_event(app, "panes", "verdict", [event])
        (shown,) = (pane for pane in panes(app)["panes"] if pane["letter"] == letter)
        (now,) = (each for each in shown["mistakes"] if each["target"] == mistake["target"])
        assert [(each["author"], each["note"]) for each in now["verdict"]["opinions"]] == [("Ngozi", letter)]
        assert component(app, "strip")["answered"] == event["id"]
    causes = panes(app)["said"]["causes"]
    assert causes
    for cause, said in causes.items():
        assert re.fullmatch(r"○ Ignore, [12] of \d+ mistakes judged", said)
        data = panes(start(COMPARE, cause=cause))
        marks = {place: mark for place, mark in zip(listed(data), data["said"]["pages"], strict=True) if mark}
        assert marks == {(document, index): "○ Ignore"}, "of its pages this one"


def test_it_says_what_the_core_says() -> None:
    app = start(COMPARE, show="changed")
    results, both = core()
    assert dashboard.title(app) == "Compare"
    assert dashboard.signature(app) == (
        "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 (A), ≥ 0.00 (B) · 8 documents, 36 pages · 95 % intervals over "
        "documents"
    )
    assert sentence(app) == told(results)
    total = both.total.rows()[0]
    assert {cell["name"]: cell["boxes"] for cell in board(app)["ledger"]} == {
        name: total[name] for name in ("both", "a_only", "b_only", "neither")
    }
    data = panes(app)
    assert listed(data) == pages_of(both, "changed")
    assert (data["page"]["document"], data["page"]["index"]) == pages_of(both, "changed")[0]
    assert models_of(app) == ["lines 1.0", "blocks 1.0"]
    assert data["page"]["image"].startswith("data:image/jpeg;base64,")
    assert not app.warning
    assert not any("Recall − A" in each.value for each in app.dataframe), "two models have no table of all"


@pytest.mark.parametrize(("iou", "scores"), [(0.75, (0.0, 0.0)), (0.5, (0.8, 0.35))])
def test_each_model_has_its_own_score_threshold(iou: float, scores: tuple[float, float]) -> None:
    app = start(COMPARE)
    for name, value in zip(("iou", "score_0", "score_1"), (iou, *scores), strict=True):
        app.slider(key=name).set_value(value)
    fine(app.run())
    results, both = core(iou=iou, scores=scores)
    assert sentence(app) == told(results)
    for each in panes(app)["filters"]:
        assert each["pages"] == (boxes_of(both.per_page, each["name"]) > 0).sum()
    assert f"IoU ≥ {iou:.2f} · score ≥ {scores[0]:.2f} (A), ≥ {scores[1]:.2f} (B)" in dashboard.signature(app)


def test_swapping_exchanges_models_and_each_keeps_its_threshold() -> None:
    app = start(COMPARE)
    fine(app.slider(key="score_0").set_value(0.4).run())
    dashboard.press(app, "Swap A and B")
    results, both = core((1, 0), scores=(0.0, 0.4))
    assert models_of(app) == ["blocks 1.0", "lines 1.0"]
    sliders = [(each.label, each.value) for each in app.slider if each.label.startswith("Minimum score")]
    assert sliders == [("Minimum score, A", 0.0), ("Minimum score, B", 0.4)]
    assert {cell["name"]: cell["boxes"] for cell in board(app)["ledger"]}["a_only"] == both.total.a_only[0]
    assert sentence(app) == told(results)


def test_an_address_is_the_whole_state() -> None:
    _, both = core()
    some = both.only(labels={"Text"})
    document, index = pages_of(some, "b_broke")[2]
    chosen = {
        "show": "b_broke",
        "label": "Text",
        "doc": document,
        "page": str(index + 1),
        "look": "slider",
        "box": "g7",
    }
    app = start(COMPARE, **chosen)
    data = panes(app)
    assert (data["show"], data["mode"], data["selected"]) == ("b_broke", "slider", "g7")
    assert (data["page"]["document"], data["page"]["index"], data["page"]["position"]) == (document, index, 3)
    assert listed(data) == pages_of(some, "b_broke")
    boxes = [each for pane in data["panes"] for each in pane["boxes"]]
    assert {each["label"] for each in boxes if not each["other"]} == {"Text"}
    # Other boxes are those of mistakes with a Text box, which stay whole.
    others = [each for each in boxes if each["other"]]
    assert {(each["label"], each["status"], each["mistake"] is None) for each in others} == {
        ("Figure", "FN", False), ("Figure", "FP", False),
    }  # fmt: skip
    assert board(app)["chosen"] == {"show": "b_broke", "label": "Text"}
    assert address(app) == chosen


def test_a_cause_of_the_address_lists_its_pages() -> None:
    results, both = core()
    made = changed_causes(*results, both)
    key = key_of(made.families[0])
    app = start(COMPARE, cause=key)
    data = panes(app)
    fails = "Several Text boxes read as one Text"
    (decides,) = (each for each in data["causes"] if each.get("fails"))
    assert decides["title"] == fails, "the loss of Text recall"
    assert panes(start(COMPARE))["cause"] == decides["key"], "without a choice the view begins with it"
    others = [title for title in map(family_title, made.families) if title != fails]
    assert [each["title"] for each in data["causes"]] == [fails, *others]
    assert (data["cause"], data["show"]) == (key, "")
    assert listed(data) == places(both, pages_of_cause(made, 0, both))
    assert sum(each["gained"] for each in data["strip"]) == made.solved[0] + made.new[0]
    assert address(app)["cause"] == key
    app = dashboard.send_event(app, "panes", "open", {"letter": "A", "key": None})
    assert dashboard.title(app) == "Pages"
    assert dashboard.viewer(app)["selected"].replace("p", "a") in box_keys(made, 0)
    app = start(COMPARE, cause="no/such/cause")
    assert (panes(app).get("cause", ""), panes(app)["show"]) == ("", "changed")
    assert "cause" not in address(app)


def test_an_address_that_makes_no_sense_is_said() -> None:
    app = start(COMPARE, show="everything", look="upside-down", label="No such label")
    assert panes(app)["show"] == "changed"
    assert "The address had parts that could not be followed: show, look, label." in texts(app.caption)
    # Two models are compared: B is the other one.
    app = start(COMPARE, model_a="2", model_b="2")
    assert models_of(app) == ["blocks 1.0", "lines 1.0"]
    assert "The address had parts that could not be followed: model_b." in texts(app.caption)


def test_a_document_narrows_the_list_and_not_the_board() -> None:
    app = start(COMPARE, show="changed")
    fine(app.selectbox(key="within").set_value("school-census.pdf").run())
    _, both = core()
    assert listed(panes(app)) == pages_of(both.only(documents={"school-census.pdf"}), "changed")
    assert board(app)["ledger"][0]["boxes"] == both.total.both[0]


def test_what_causes_count_is_said() -> None:
    for name, value, said in (
        ("label", "Table", "boxes of Table"),
        ("within", "school-census.pdf", "boxes in school-census.pdf"),
    ):
        assert re.sub("[\u2068\u2069]", "", panes(start(COMPARE, **{name: value}))["scope"]) == said


def test_without_two_models_it_shows_how_to_add_one() -> None:
    app = start(COMPARE, files=workspace(GROUND_TRUTH, [BLOCKS], SAMPLE_DATA / "pdf"))
    alone = "Only one model is open, so there is nothing to compare. Add a second prediction under Files."
    assert alone in words(app)
    assert ([each.proto.label for each in app.get("page_link")], dashboard.components(app)) == (
        ["All models", "Open Files"],
        [],
    )
    app = start(COMPARE, files=workspace(None))
    assert any(word.startswith("No ground truth is open") for word in words(app))


def test_few_documents_have_no_intervals_and_pages_without_a_picture_keep_their_boxes(tmp_path: Path) -> None:
    app = start(COMPARE, files=files_of(tmp_path, TRUTH, TRUTH[:1], TRUTH[1:]))
    shown = board(app)
    assert shown["reason"] == "No intervals: with 1 document an interval means little; 8 are needed."
    assert {(row["interval"], row["low"]) for row in shown["tables"][0]["rows"]} == {("–", None)}
    data = panes(app)
    assert data["page"]["image"] is None
    assert data["page"]["problem"]["text"]
    assert all(pane["boxes"] for pane in data["panes"])


def test_the_same_model_twice_says_so(tmp_path: Path) -> None:
    data = panes(start(COMPARE, files=files_of(tmp_path, TRUTH, TRUTH, TRUTH)))
    assert data["page"] is None
    assert data["empty"] == {
        "text": "A and B have the same matches and the same mistakes at these thresholds.",
        "action": "Show every changed page",
    }
    app = start(COMPARE, files=files_of(tmp_path, TRUTH, TRUTH[:2], TRUTH), show="b_broke")
    assert panes(app)["empty"]["text"] == "No page passes the filter."


def test_a_page_that_only_one_side_mentions(tmp_path: Path) -> None:
    alone = [*TRUTH, box(0.1, 0.1, 0.4, 0.4, document="b.pdf")]
    data = panes(start(COMPARE, files=files_of(tmp_path, TRUTH, TRUTH, alone), doc="b.pdf", page="1"))
    assert data["page"]["document"] == "b.pdf"
    assert [[each["kind"] for each in pane["boxes"]] for pane in data["panes"]] == [[], ["b_invents"]]
    assert data["panes"][0]["words"] == "misses none that B finds"


def test_label_sets_that_differ_are_said(tmp_path: Path) -> None:
    truth = write_file(tmp_path / "truth.json", TRUTH, side="ground_truth")
    first = write_file(tmp_path / "a.json", TRUTH[:1])
    second = write_file(tmp_path / "b.json", [*TRUTH[1:], TRUTH[0]._replace(label="figure")])
    said = texts(start(COMPARE, files=workspace(truth, [first, second])).warning)
    assert any("figure: only in B." in text and '--map-label "figure=Figure"' in text for text in said)


def test_the_choices_stay_on_the_way_over_other_views() -> None:
    app = start(COMPARE, show="b_fixed", look="flip")
    for view in (dashboard.FILES, PAGE_BROWSER, COMPARE):
        dashboard.go(app, view)
    assert (panes(app)["show"], panes(app)["mode"]) == ("b_fixed", "flip")


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
    assert components.panes.events(state) == CompareEvents()
    assert components.board.events(state) == BoardEvents()


def test_reports_are_read() -> None:
    state = {
        "go": {"document": "a.pdf", "index": 2, "step": 1},
        "selected": {"document": "a.pdf", "index": 2, "key": "b3"},
        "show": "both_missed",
        "mode": "flip",
        "open": {"letter": "B", "key": "g1"},
    }
    read = components.panes.events(state)
    assert (read.go, read.show, read.mode) == (GoEvent("a.pdf", 2, 1), "both_missed", "flip")
    assert (read.selected and read.selected.key, read.open) == ("b3", OpenEvent("B", "g1"))
    linked = components.board.events({"link": {"show": "both_found", "label": "Table", "at": 1}})
    assert linked.link == LinkEvent("both_found", "Table", 1)


def decision_words(app: AppTest) -> list[str]:
    return dashboard.read_html(dashboard.block(app, "ls-decision")).words


def test_it_opens_with_the_decision_of_the_terminal_and_what_changed() -> None:
    app = fine(start(COMPARE).button(key="open_differences").click().run())
    assert address(app)["opened"] == "differences"
    assert [each.proto.alt for each in app.get("vega_lite_chart")] == [
        "Mistakes of A and B, By name",
        "Mistakes of A and B, By label",
    ]
    results, _ = core()
    place = words(app).index("By name")
    named = [int(result.mistakes.counts.sum()) for result in results]
    assert words(app)[place + 2 : place + 6] == ["A", f"{named[0]:,}", "B", f"{named[1]:,}"]
    made = decide(differences.differences(*(box_measures(each) for each in results)), ("lines 1.0", "blocks 1.0"))
    assert decision_words(app)[:2] == [made.headline, made.sentence]
    assert made.headline == "Keep lines 1.0"
    assert "more document" not in " ".join(words(app))
    assert decide([], ("", ""), cost=cost_of(*results)).cost_words[0] in " ".join(words(app))
    few, every = board(app)["tables"]
    assert few["rows"][0]["title"].startswith("F1")
    losses = {row["title"] for row in every["rows"] if row["tone"] == "loss"}
    assert losses
    assert losses <= {row["title"] for row in few["rows"]}


def test_the_rule_can_be_set_and_stands_in_the_address() -> None:
    app = start(COMPARE, measure="recall", least="2", loss="100", opened="rule")
    assert [app.selectbox(key=f"rule_{name}").value for name in ("measure", "least", "loss")] == ["recall", 2.0, 100]
    assert decision_words(app)[1].startswith("Recall ")
    fine(app.selectbox(key="rule_measure").set_value("precision").run())
    assert decision_words(app)[1].startswith("Precision ")
    assert address(app).items() >= {"measure": "precision", "least": "2"}.items()
