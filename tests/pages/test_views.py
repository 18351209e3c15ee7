"""Every view under AppTest: opens on the sample data, says what the core says, and stays whole on odd data."""

from __future__ import annotations

import json
import time
import urllib.parse
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.charts.theme import label_axis
from evaluator.components.viewer import mistake_filter, text_lost
from evaluator.components.viewer.mistake_filter import MistakeFilter
from evaluator.matching import error_types
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES, MistakeOptions
from evaluator.matching.page_rows import rows_on
from evaluator.pdf.pool import PagePool
from evaluator.project import evaluate_together
from evaluator.protocols import PROTOCOLS, snapshot
from evaluator.protocols.snapshot import Matching, ThresholdResult
from evaluator.review.identity import mistake_targets
from evaluator.review.store import Store
from evaluator.review.verdicts import judge
from pages.app import widgets
from pages.app.state import State
from pages.views.overview import headline
from tests import dashboard
from tests.building import box, random_rows, snapshot_file, write_file
from tests.dashboard import (
    FILES,
    OVERVIEW,
    PAGE_BROWSER,
    SAMPLE_DATA,
    VIEWS,
    files_of,
    fine,
    html_blocks,
    key_of,
    start,
)
from tests.reading import HOSTILE as HOSTILE_FILES
from tests.sample_results import MODELS, box_result, sample

pytestmark = pytest.mark.usefixtures("store_path")

RATIOS = {
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "Mean IoU": "mean_iou",
    "Coverage": "mean_coverage",
    "Purity": "mean_purity",
}
COUNTS = {"TP": "tp", "FP": "fp", "FN": "fn"}


def shown(row: Any) -> dict[str, str]:
    """A row of metrics as a card writes it."""
    ratios = {word: "n/a" if row[name] is None else f"{row[name]:.3f}" for word, name in RATIOS.items()}
    return ratios | {word: f"{row[name]:,}" for word, name in COUNTS.items()}


def card_numbers(card: dict[str, str]) -> dict[str, str]:
    return {word: card[word] for word in (*RATIOS, *COUNTS)}


TRUTH = [box(0.1, 0.1, 0.5, 0.5), box(0.6, 0.1, 0.9, 0.5, label="Table"), box(0.1, 0.6, 0.5, 0.9, page=1)]


# --- on the sample data --------------------------------------------------------------------------------------


def test_a_signature_says_whether_an_iou_must_be_above_its_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, protocol="pod")
    assert dashboard.signature(app).startswith("pod 2017 · IoU > 0.60 · ")
    assert all(card["signature"].startswith("pod 2017 · IoU > 0.60 · ") for card in dashboard.cards(app))
    app = start(monkeypatch, protocol="coco")
    assert dashboard.signature(app).startswith("coco 2.0 · IoU ≥ 0.50 · ")


def test_the_overview_opens_on_the_sample_data(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    assert dashboard.title(app) == "Overview"
    assert dashboard.signature(app) == (
        "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 (A), ≥ 0.00 (B) · 8 documents, 36 pages"
    )
    first, second = dashboard.cards(app)
    assert (first["letter"], first["name"], second["letter"], second["name"]) == ("A", "lines 1.0", "B", "blocks 1.0")
    for model, card in enumerate((first, second)):
        row = box_result(model).micro.row(0)
        assert card_numbers(card) == shown(row)
        assert (
            card["signature"]
            == f"snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · {len(box_result(model).mistakes):,} mistakes"
        )
    points = 100 * (box_result(1).micro.f1[0] - box_result(0).micro.f1[0])
    assert first["against"] == "baseline"
    assert second["against"] == f"F1 {'+' if points > 0 else '−'}{abs(points):.1f} points against A"
    assert not app.warning
    assert not app.error
    assert "polygons" not in [each.key for each in app.checkbox], "the sample has no outlines"


def test_the_table_of_labels_holds_the_numbers_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    table = start(monkeypatch).dataframe[0].value
    results = [box_result(0), box_result(1)]
    assert list(table["Label"]) == ["All labels", *sample().labels]
    truth = results[0]
    assert list(table["Boxes"]) == [len(sample().ground_truth), *(truth.per_label.tp + truth.per_label.fn)]
    for letter, result in zip("AB", results, strict=True):
        np.testing.assert_array_equal(table[f"F1, {letter}"], [result.micro.f1[0], *result.per_label.f1])
    for word, name in (RATIOS | COUNTS).items():
        if word != "F1":
            wanted = [getattr(truth.micro, name)[0], *getattr(truth.per_label, name)]
            np.testing.assert_array_equal(table[word].astype(float), np.array(wanted, dtype=float))


def test_the_table_of_labels_follows_its_model_and_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    app.button_group(key="numbers_of").set_value("B")
    dashboard.fine(app.button_group(key="table_iou_0.5").set_value(0.75).run())
    table, result = app.dataframe[0].value, box_result(1, 0.75)
    assert list(table["TP"]) == [result.micro.tp[0], *result.per_label.tp]
    np.testing.assert_array_equal(table["F1, A"], [box_result(0, 0.75).micro.f1[0], *box_result(0, 0.75).per_label.f1])
    assert card_numbers(dashboard.cards(app)[1]) == shown(box_result(1).micro.row(0)), (
        "the cards keep the slider's threshold"
    )


def test_documents_stand_worst_first(monkeypatch: pytest.MonkeyPatch) -> None:
    table = start(monkeypatch).dataframe[1].value
    names = [document.name for document in sample().documents]
    for letter, model in (("A", 0), ("B", 1)):
        of = sample().page_document[box_result(model).mistakes.page]
        mistakes = dict(zip(names, np.bincount(of, minlength=len(names)).tolist(), strict=True))
        assert dict(zip(table["Document"], table[f"Mistakes, {letter}"], strict=True)) == mistakes
    assert table["Mistakes, A"].is_monotonic_decreasing
    assert table["Pages"].sum() == sample().pages


def test_charts_of_the_overview(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    assert [each.proto.alt for each in app.get("vega_lite_chart")] == [
        "Mistakes by label",
        "IoU of matched boxes",
        "Coverage of matched boxes",
        "Purity of matched boxes",
        "Reliability of the scores of A",
        "Reliability of the scores of B",
    ]
    first, second = (box_result(model).micro for model in (0, 1))
    words = dashboard.words(app)
    place = words.index("Mistakes")
    counts = [len(box_result(model).mistakes) for model in (0, 1)]
    assert words[place + 1 : place + 5] == ["A", f"{counts[0]:,}", "B", f"{counts[1]:,}"]
    assert f"mean A {first.mean_iou[0]:.3f}, B {second.mean_iou[0]:.3f}" in words
    dashboard.fine(app.button_group(key="mistakes_by").set_value("Name").run())
    assert app.get("vega_lite_chart")[0].proto.alt == "Mistakes by name"
    words = dashboard.words(app)
    place = words.index("Mistakes")
    named = [int(box_result(model).mistakes.counts.sum()) for model in (0, 1)]
    assert words[place + 1 : place + 5] == ["A", f"{named[0]:,}", "B", f"{named[1]:,}"]


def test_one_step_of_the_iou_threshold_computes_each_result_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, float]] = []
    pooled: list[tuple[int, float]] = []
    at, micro = Matching.at, ThresholdResult.micro.func

    def counted_at(self: Matching, iou: float) -> ThresholdResult:
        made.append((self.model, iou))
        return at(self, iou)

    @cached_property
    def counted_micro(self: ThresholdResult) -> Any:
        pooled.append((self.matching.model, self.iou))
        return micro(self)

    app = start(monkeypatch)
    counted_micro.__set_name__(ThresholdResult, "micro")
    monkeypatch.setattr(Matching, "at", counted_at)
    monkeypatch.setattr(ThresholdResult, "micro", counted_micro)
    # A threshold that no other test asks for: results are shared by all sessions of a process.
    dashboard.fine(app.slider(key="iou").set_value(0.37).run())
    assert sorted(made) == sorted(pooled) == [(0, 0.37), (1, 0.37)]
    dashboard.fine(app.run())
    assert len(made) == len(pooled) == 2, "a run without a change computes nothing"


@pytest.mark.parametrize("with_bbox", [True, False], ids=["bbox", "segmentation alone"])
def test_outlines_are_compared_where_files_have_them_and_the_reader_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, with_bbox: bool
) -> None:
    # Two opposite triangles of one box, and two equal ones.
    lower, upper = [0, 0, 40, 40, 0, 40], [0, 0, 40, 0, 40, 40]
    boxes = [
        {"id": number, "image_id": number, "category_id": 1, "bbox": [0, 0, 40, 40], "area": 800, "iscrowd": 0}
        for number in (1, 2)
    ]
    images = [{"id": number, "width": 80, "height": 80, "file_name": f"{number}.png"} for number in (1, 2)]
    truth = [{**each, "segmentation": [lower]} for each in boxes]
    predicted = [
        {**each, "segmentation": [shape], "score": 0.5} for each, shape in zip(boxes, (lower, upper), strict=True)
    ]
    if not with_bbox:
        predicted = [{key: value for key, value in each.items() if key != "bbox"} for each in predicted]
    (tmp_path / "truth.json").write_text(
        json.dumps({"images": images, "categories": [{"id": 1, "name": "Text"}], "annotations": truth})
    )
    (tmp_path / "model.json").write_text(json.dumps(predicted))
    files = dashboard.workspace(tmp_path / "truth.json", [tmp_path / "model.json"])
    app = start(monkeypatch, files=files, protocol="coco")
    assert " · IoU ≥ 0.50 · " in dashboard.signature(app)
    assert app.checkbox(key="polygons").value is False
    assert dashboard.cards(app)[0]["F1"] == "1.000"
    dashboard.fine(app.checkbox(key="polygons").set_value(True).run())
    assert " · polygon IoU ≥ 0.50 · " in dashboard.signature(app)
    assert app.query_params["polygons"] in ("yes", ["yes"])
    assert dashboard.cards(app)[0]["F1"] == "0.500"
    app = start(monkeypatch, PAGE_BROWSER, files=files, protocol="coco", polygons="yes")
    page = dashboard.viewer(app)
    assert page["by_outline"]
    assert {each["outline"] for each in page["boxes"]} == {"M0 0L5000 0L5000 5000Z", "M0 0L5000 5000L0 5000Z"}


@pytest.mark.parametrize("name", ["pod", "coco"])
def test_another_protocol_has_its_own_thresholds_and_numbers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    app = start(monkeypatch, protocol=name)
    system = PROTOCOLS[name]
    sides = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / f"{model}.json" for model in MODELS]
    results = [each.result.thresholds[system.thresholds[0]] for each in evaluate_together(name, *sides)]
    sign = ">" if system.above else "≥"
    assert f"{name} {system.version} · IoU {sign} {system.thresholds[0]:.2f}" in dashboard.signature(app)
    for card, result in zip(dashboard.cards(app), results, strict=True):
        assert card_numbers(card) == shown(result.micro.row(0))
    assert dict(app.query_params) == {"protocol": name}
    assert f"{name} {system.version}" in dashboard.signature(dashboard.go(app, PAGE_BROWSER))


@pytest.mark.parametrize(("iou", "score_a", "score_b"), [(0.75, 0.0, 0.0), (0.5, 0.8, 0.35), (0.1, 1.0, 0.9)])
def test_sliders_match_anew(monkeypatch: pytest.MonkeyPatch, iou: float, score_a: float, score_b: float) -> None:
    app = start(monkeypatch)
    for name, value in (("iou", iou), ("score_0", score_a), ("score_1", score_b)):
        app.slider(key=name).set_value(value)
    dashboard.fine(app.run())
    results = [box_result(0, iou, score_a), box_result(1, iou, score_b)]
    for card, result in zip(dashboard.cards(app), results, strict=True):
        assert card_numbers(card) == shown(result.micro.row(0))
    assert f"IoU ≥ {iou:.2f} · score ≥ {score_a:.2f} (A), ≥ {score_b:.2f} (B)" in dashboard.signature(app)
    assert list(app.dataframe[0].value["TP"]) == [results[0].micro.tp[0], *results[0].per_label.tp]
    dashboard.go(app, PAGE_BROWSER)
    row = results[0].micro.row(0)
    assert dashboard.three_numbers(app) == {word: shown(row)[word] for word in ("Precision", "Recall", "F1")}
    assert f"IoU ≥ {iou:.2f} · score ≥ {score_a:.2f} ·" in dashboard.signature(app)


def test_presets(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    assert app.button_group(key=key_of(app, "preset")).value == "Standard thresholds"
    dashboard.fine(app.slider(key="iou").set_value(0.6).run())
    assert app.button_group(key=key_of(app, "preset")).value is None
    dashboard.fine(app.button_group(key=key_of(app, "preset")).set_value("Best F1").run())
    pairs = [snapshot.pair(sample(), model, iou_floor=snapshot.IOU_FLOOR) for model in (0, 1)]
    best = [each.best_f1(iou=0.6) for each in pairs]
    assert [app.slider(key=key_of(app, name)).value for name in ("score_0", "score_1")] == pytest.approx(best)
    assert app.slider(key="iou").value == 0.6
    assert app.button_group(key=key_of(app, "preset")).value == "Best F1"
    for model, (card, score) in enumerate(zip(dashboard.cards(app), best, strict=True)):
        assert card_numbers(card) == shown(box_result(model, 0.6, score).micro.row(0))
        assert box_result(model, 0.6, score).micro.f1[0] >= box_result(model, 0.6).micro.f1[0]
    dashboard.fine(app.button_group(key=key_of(app, "preset")).set_value("Standard thresholds").run())
    assert [app.slider(key=key_of(app, name)).value for name in ("iou", "score_0", "score_1")] == [0.5, 0.0, 0.0]


def test_best_f1_is_that_of_the_model_that_is_chosen_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every open model gets its own threshold, so that a change of the model leaves none behind."""
    pairs = [snapshot.pair(sample(), model, iou_floor=snapshot.IOU_FLOOR) for model in (0, 1)]
    best = [each.best_f1(iou=0.5) for each in pairs]
    sides = [SAMPLE_DATA / f"{name}.json" for name in MODELS]
    copy = tmp_path / "copy.json"
    copy.write_bytes(sides[1].read_bytes().replace(b'"blocks"', b'"third"'))
    app = start(monkeypatch, files=dashboard.workspace(SAMPLE_DATA / "ground_truth.json", [*sides, copy]))
    dashboard.fine(app.button_group(key=key_of(app, "preset")).set_value("Best F1").run())
    dashboard.fine(app.selectbox(key="model_a").set_value(2).run())
    assert app.button_group(key=key_of(app, "preset")).value == "Best F1"
    assert [app.slider(key=key_of(app, name)).value for name in ("score_2", "score_1")] == pytest.approx(
        [best[1], best[1]]
    )
    dashboard.fine(app.selectbox(key="model_a").set_value(0).run())
    assert app.slider(key=key_of(app, "score_0")).value == pytest.approx(best[0])
    dashboard.fine(app.slider(key="iou").set_value(0.75).run())
    assert app.button_group(key=key_of(app, "preset")).value is None, "another IoU threshold has another best F1"


def test_the_two_models_can_change_places(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    app.selectbox(key="model_a").set_value(1)
    dashboard.fine(app.selectbox(key="model_b").set_value(0).run())
    first, second = dashboard.cards(app)
    assert (first["name"], second["name"]) == ("blocks 1.0", "lines 1.0")
    assert card_numbers(first) == shown(box_result(1).micro.row(0))
    dashboard.go(app, PAGE_BROWSER)
    assert dashboard.viewer(app)["model"]["name"] == "lines 1.0", "its model is a choice of its own"


def test_the_page_browser_opens_on_the_worst_page(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    assert dashboard.title(app) == "Page browser"
    data, result = dashboard.viewer(app), box_result(0)
    # A mistake is an item of the list, whatever its number of boxes.
    listed = np.bincount(result.mistakes.page, minlength=sample().pages)
    worst = int(np.argmax(listed))
    dataset = sample()
    assert data["page"]["document"] == dataset.documents[dataset.page_document[worst]].doc_id
    assert data["page"]["index"] == dataset.page_index[worst]
    assert (data["page"]["position"], data["page"]["total"]) == (1, dataset.pages)
    row = result.per_page.row(worst)
    assert {name: data["counts"][name] for name in COUNTS} == {name: row[key] for name, key in COUNTS.items()}
    assert data["page"]["image"].startswith("data:image/jpeg;base64,")
    assert data["page"]["problem"] is None
    assert data["models"] == [{"letter": "1", "name": "lines 1.0"}, {"letter": "2", "name": "blocks 1.0"}]
    mistakes = [entry["mistakes"] for entry in data["strip"]]
    assert mistakes == sorted(listed.tolist(), reverse=True)
    assert dashboard.three_numbers(app)["F1"] == f"{result.micro.f1[0]:.3f}"


def test_the_other_model_in_the_page_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    dashboard.fine(app.button_group(key="model").set_value(1).run())
    data = dashboard.viewer(app)
    assert data["model"] == {"letter": "2", "name": "blocks 1.0"}
    assert dashboard.three_numbers(app)["F1"] == f"{box_result(1).micro.f1[0]:.3f}"
    strip = [entry["mistakes"] for entry in data["strip"]]
    assert strip == sorted(np.bincount(box_result(1).mistakes.page, minlength=sample().pages).tolist(), reverse=True)


def test_filters_of_the_page_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    app.selectbox(key="within").set_value("school-census.pdf")
    dashboard.fine(app.button_group(key="order").set_value("page").run())
    data = dashboard.viewer(app)
    assert {entry["document"] for entry in data["strip"]} == {"school-census.pdf"}
    assert [entry["index"] for entry in data["strip"]] == list(range(data["page"]["count"]))
    dashboard.fine(app.selectbox(key="label").set_value("Table").run())
    data = dashboard.viewer(app)
    assert {each["label"] for each in data["boxes"]} == {"Table"}
    pairs = snapshot.pair(sample(), 0, iou_floor=snapshot.IOU_FLOOR)
    tables = pairs.match(labels=("Table",)).at(0.5)
    census = [document.doc_id for document in sample().documents].index("school-census.pdf")
    rows = np.flatnonzero((sample().page_document == census) & (tables.per_page.tp + tables.per_page.mistakes > 0))
    assert [(entry["index"], entry["mistakes"]) for entry in data["strip"]] == [
        (int(sample().page_index[row]), int(tables.per_page.mistakes[row])) for row in rows
    ]
    app.selectbox(key="within").set_value("")
    app.selectbox(key="label").set_value("")
    dashboard.fine(app.checkbox(key="only").set_value(True).run())
    assert len(dashboard.viewer(app)["strip"]) == int((box_result(0).per_page.mistakes > 0).sum())


def test_mistakes_are_filtered_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    mistakes = box_result(0).mistakes
    pills = app.button_group(key="mistake_names")
    assert [option.content for option in pills.proto.options] == [
        f"{ERROR_TYPES['document'][name].chip} {count}"
        for name, count in zip(DOCUMENT, mistakes.counts.tolist(), strict=True)
        if count
    ]
    pills.set_value(["cut_off", "wrong_class"])
    dashboard.fine(app.run())
    data = dashboard.viewer(app)
    assert {each["name"] for each in data["mistakes"]} <= {"cut_off", "wrong_class"}
    wanted = np.isin(mistakes.kind, [DOCUMENT.index(name) for name in ("cut_off", "wrong_class")])
    by_page = np.bincount(mistakes.page[wanted], minlength=sample().pages)
    assert [each["mistakes"] for each in data["strip"]] == sorted(by_page.tolist(), reverse=True)
    on_page = [data["page"]["document"], data["page"]["index"]]
    row = next(
        row
        for row in range(sample().pages)
        if [sample().documents[sample().page_document[row]].doc_id, int(sample().page_index[row])] == on_page
    )
    assert len(data["mistakes"]) == by_page[row]
    assert data["hidden_mistakes"] == (mistakes.page == row).sum() - by_page[row]
    assert data["walk"]["total"] == wanted.sum()
    assert data["filtered"] is True
    assert dict(urllib.parse.parse_qsl(data["address"]))["mistakes"] == "cut_off,wrong_class"
    again = start(monkeypatch, PAGE_BROWSER, mistakes="cut_off,wrong_class")
    strips = [[{**entry, "current": None} for entry in each["strip"]] for each in (dashboard.viewer(again), data)]
    assert strips[0] == strips[1], "a link carries the filter"


def test_mistakes_are_filtered_by_score_fit_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER, score="0.5-1", fit="0.1-0.9", size="0-0.2")
    assert app.slider(key="score_range").value == (0.5, 1.0)
    assert app.slider(key="fit_range").value == (0.1, 0.9)
    result = box_result(0)
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    chosen = MistakeFilter(score=(0.5, 1.0), iou=(0.1, 0.9), size=(0.0, 0.2))
    keep = mistake_filter.passing(columns, sample(), chosen)
    assert 0 < keep.sum() < len(keep)
    assert dashboard.viewer(app)["walk"]["total"] == keep.sum()


def test_mistakes_with_a_verdict_can_be_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAYOUTSCOPE_FINDINGS", str(tmp_path / "findings.sqlite"))
    mistakes = box_result(0).mistakes
    page = int(mistakes.page[0])
    target = mistake_targets(box_result(0), page).targets[0]
    said = judge(target, verdict="ignore", author="Ada", verified=False, time=datetime(2026, 1, 2, tzinfo=UTC))
    Store(tmp_path / "findings.sqlite").add([said])
    assert dashboard.viewer(start(monkeypatch, PAGE_BROWSER))["walk"]["total"] == len(mistakes)
    app = start(monkeypatch, PAGE_BROWSER, unjudged="yes")
    assert app.checkbox(key="unjudged").value is True
    assert dashboard.viewer(app)["walk"]["total"] == len(mistakes) - 1


def test_what_was_judged_a_moment_ago_stays_until_another_is_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its note may still be typed, and a mistake that leaves the list would take the field with it."""
    monkeypatch.setenv("LAYOUTSCOPE_FINDINGS", str(tmp_path / "findings.sqlite"))
    result = box_result(0)
    page = int(result.mistakes.page[0])
    mistakes = mistake_targets(result, page)
    dataset = result.matching.dataset
    place = dataset.documents[dataset.page_document[page]].doc_id, int(dataset.page_index[page])
    address = {"doc": place[0], "page": str(place[1] + 1), "unjudged": "yes"}
    app = start(monkeypatch, PAGE_BROWSER, **address)
    listed = dashboard.viewer(app)["mistakes"]
    mistake = next(each for each in listed if each["target"] in {target.id for target in mistakes.targets})
    target = next(each for each in mistakes.targets if each.id == mistake["target"])
    said = judge(target, verdict="ignore", author="Ada", verified=False, time=datetime(2026, 1, 2, tzinfo=UTC))
    Store(tmp_path / "findings.sqlite").add([said])
    key = mistake["keys"][0]
    app.session_state["box"], app.session_state["judged_here"] = key, (*place, key)
    assert mistake["target"] in {each["target"] for each in dashboard.viewer(dashboard.fine(app.run()))["mistakes"]}
    app.session_state["box"] = None
    after = dashboard.viewer(dashboard.fine(app.run()))["mistakes"]
    assert mistake["target"] not in {each["target"] for each in after}


def test_poor_matches_join_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    before = dashboard.viewer(app)["walk"]["total"]
    dashboard.fine(app.checkbox(key="poor").set_value(True).run())
    dashboard.fine(app.slider(key="poor_coverage").set_value(0.9).run())
    data = dashboard.viewer(app)
    options = MistakeOptions(min_coverage=0.9, min_purity=0.7)
    assert data["walk"]["total"] == len(mistake_filter.mistakes_of(box_result(0), options)) > before
    assert dashboard.three_numbers(app)["F1"] == f"{box_result(0).micro.f1[0]:.3f}", "a poor match is a match"
    assert dict(urllib.parse.parse_qsl(data["address"])) | {"poor": "yes", "coverage": "0.9"} == dict(
        urllib.parse.parse_qsl(data["address"])
    )


def test_a_filter_is_saved_and_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER, mistakes="missed", within="tram-options.pdf", score="0.3-1")
    app.text_input(key="filter_name").set_value("![x](http://x) tram")
    dashboard.fine(app.button(key="filter_save").click().run())
    strip = dashboard.viewer(app)["strip"]
    assert_no_markup(app)
    app.session_state["mistake_names"], app.session_state["within"] = [], ""
    dashboard.fine(app.run())
    assert dashboard.viewer(app)["strip"] != strip
    dashboard.fine(app.button(key="use_0").click().run())
    assert [{**each, "current": False} for each in dashboard.viewer(app)["strip"]] == [
        {**each, "current": False} for each in strip
    ]
    dashboard.fine(app.button(key="delete_0").click().run())
    assert "use_0" not in [each.key for each in app.button]
    app.text_input(key="filter_name").set_value("  ")
    dashboard.fine(app.button(key="filter_save").click().run())
    assert "A filter needs a name." in [each.value for each in app.caption]


def test_a_link_to_a_page_that_the_filter_hides_leads_there_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER, doc="school-census.pdf", page="3", within="tram-options.pdf")
    data = dashboard.viewer(app)
    assert (data["page"]["document"], data["page"]["index"], data["page"]["position"]) == ("school-census.pdf", 2, 0)
    assert {each["document"] for each in data["strip"]} == {"tram-options.pdf"}
    assert not any(each["current"] for each in data["strip"])
    dashboard.fine(app.selectbox(key="within").set_value("rainfall-atlas.pdf").run())
    assert dashboard.viewer(app)["page"]["document"] == "rainfall-atlas.pdf", "a filter of one's own leads to its pages"


def test_the_page_choice_goes_to_a_page_and_forgets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    listed = dashboard.viewer(app)["strip"]
    choice = app.selectbox(key="page_wanted")
    assert choice.options[2].startswith(f"{listed[2]['index'] + 1} · {listed[2]['mistakes']} mistake")
    choice.set_value(2)
    dashboard.fine(app.run())
    page = dashboard.viewer(app)["page"]
    assert (page["document"], page["index"], page["position"]) == (listed[2]["document"], listed[2]["index"], 3)
    assert app.selectbox(key=key_of(app, "page_wanted")).value is None


def test_lost_text_reaches_the_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    data = dashboard.viewer(start(monkeypatch, PAGE_BROWSER, doc="river-districts.pdf", page="2"))
    assert data["page"]["lost_words"] == len(data["page"]["lost"]) == 7
    (cut,) = [each for each in data["mistakes"] if each["name"] == "cut_off"]
    assert cut["lost_words"] == 7
    assert cut["lines"][2] == "lost “0 20 40 60 80 light Mini-grid” (7 words)"
    scan = dashboard.viewer(start(monkeypatch, PAGE_BROWSER, doc="scanned-minutes-1997.pdf", page="2"))["page"]
    assert "lost_words" not in scan
    assert 0.0 <= scan["lost_ink"] < 1.0


def test_the_lost_text_of_a_slow_page_comes_once_its_words_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as late:
        late.setattr("pages.views.browser.page_listing.page_text", lambda *_: None)
        app = start(monkeypatch, PAGE_BROWSER, doc="river-districts.pdf", page="2")
        assert "lost_words" not in dashboard.viewer(app)["page"]
    assert dashboard.viewer(dashboard.fine(app.run()))["page"]["lost_words"] == 7


def test_lost_words_are_counted_by_label(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER, within="river-districts.pdf")
    app.button(key="words_count").click()
    deadline = time.monotonic() + 60
    while not any("Lost" in each.value.columns for each in app.dataframe):
        assert time.monotonic() < deadline, "the count does not end"
        dashboard.fine(app.run())
    table = next(each.value for each in app.dataframe if "Lost" in each.value.columns).set_index("Label")
    assert table.index[-1] == "All labels"
    lost = 0
    code = [document.doc_id for document in sample().documents].index("river-districts.pdf")
    with PagePool(workers=1, spares=0) as pool:
        for row in np.flatnonzero(sample().page_document == code).tolist():
            text = pool.words(SAMPLE_DATA / "pdf" / "river-districts.pdf", int(sample().page_index[row])).boxes
            truths, predictions = rows_on(box_result(0), row)
            for label in np.unique(sample().ground_truth.label[truths]):
                mine = truths[sample().ground_truth.label[truths] == label]
                held = [
                    text_lost.words_in_boxes(text, side)
                    for side in (sample().ground_truth.xyxy[mine], box_result(0).matching.prediction.xyxy[predictions])
                ]
                lost += int((held[0] & ~held[1]).sum())
    assert table.loc["All labels", "Lost"] == lost > 0
    assert table["Lost"][:-1].sum() == lost
    assert "6 pages" in " ".join(each.value for each in app.caption)


def test_a_filter_without_pages_says_so_and_shows_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, PAGE_BROWSER, files=files_of(tmp_path, TRUTH, TRUTH))
    dashboard.fine(app.checkbox(key="only").set_value(True).run())
    data = dashboard.viewer(app)
    assert data["page"] is None
    assert data["empty"] == {"text": "No page passes the filter.", "action": "Clear filter"}


def test_files_lists_the_sample_data(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    assert dashboard.title(app) == "Files"
    table = app.dataframe[0].value
    assert list(table["File"])[:3] == ["ground_truth.json", "lines.json", "blocks.json"]
    assert list(table["Role"])[:3] == ["Ground truth", "Model A", "Model B"]
    assert list(table["File"])[-3:] == ["pdf/ 8 files", "pdf/ 14 files", "pdf/ 5 files"]
    dataset = sample()
    assert list(table["Boxes"])[:3] == [len(dataset.ground_truth), *(len(each) for each in dataset.predictions)]
    assert list(table["Issues"]) == ["none"] * len(table)
    digests = [side.source.sha256[:12] for side in (dataset.ground_truth, *dataset.predictions)]
    assert list(table["SHA-256"])[:3] == digests
    assert "Nothing is wrong with these files." in [each.value for each in app.caption]


def test_the_foot_of_the_page_browser_says_what_the_filter_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER)
    mistakes = box_result(0).mistakes
    pages = len(set(mistakes.page.tolist()))
    assert dashboard.words(app)[-2:] == ["36 pages, 8 documents", f"{len(mistakes)} mistakes on {pages} pages"]
    dashboard.fine(app.button_group(key="mistake_names").set_value(["missed"]).run())
    missed = mistakes.kind == DOCUMENT.index("missed")
    kept, pages = int(missed.sum()), len(set(mistakes.page[missed].tolist()))
    assert dashboard.words(app)[-1] == f"Filter keeps {kept} mistakes on {pages} pages"


@pytest.mark.parametrize("view", [view for view in VIEWS if view != PAGE_BROWSER])
def test_the_sidebar_counts(monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    words = dashboard.words(start(monkeypatch, view))
    for line in ("36 pages, 8 documents", f"{len(sample().ground_truth):,} ground-truth boxes, 11 labels"):
        assert line in words
    assert "No issues in the files" in words


# --- states --------------------------------------------------------------------------------------------------

NOTHING_TRUTH = "No ground truth is open, so nothing can be evaluated yet."
NOTHING_PREDICTION = "No prediction is open, so there is nothing to compare with the ground truth."


def test_without_a_ground_truth_or_a_prediction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    prediction = write_file(tmp_path / "p.json", TRUTH)
    for view in (OVERVIEW, PAGE_BROWSER):
        app = start(monkeypatch, view, files=dashboard.workspace(None, [prediction]))
        assert NOTHING_TRUTH in dashboard.words(app)
        assert "Nothing to evaluate yet" in dashboard.words(app)
        assert len(app.get("page_link")) == 1
        assert NOTHING_PREDICTION in dashboard.words(start(monkeypatch, view, files=dashboard.workspace(truth)))
    assert list(dashboard.go(app, FILES).dataframe[0].value["File"]) == ["p.json"]


def test_an_empty_view_names_the_formats_and_opens_the_sample_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = start(monkeypatch, files=dashboard.workspace(None))
    (formats_,) = [word for word in dashboard.words(app) if word.startswith("Recognised by content:")]
    for name in ("COCO instances or results", "PAGE XML", "Pascal VOC", "YOLO labels", "DoclingDocument"):
        assert name in formats_
    assert [each.label for each in app.get("file_uploader")] == [
        "Ground truth, predictions, PDFs and page images, or zip archives of them"
    ]
    next(button for button in app.button if button.label == "Open the sample data").click().run()
    assert [card["F1"] for card in dashboard.cards(app)] == [shown(box_result(at).micro.row(0))["F1"] for at in (0, 1)]


def test_files_that_an_empty_view_takes_are_sorted_by_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The form of an empty view has no choice of a role."""
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    prediction = write_file(tmp_path / "p.json", TRUTH)
    app = start(monkeypatch, files=dashboard.workspace(None))
    app.file_uploader[0].set_value([(path.name, path.read_bytes(), "application/json") for path in (truth, prediction)])
    dashboard.fine(next(button for button in app.button if button.label == "Read the files").click().run())
    proposed = {each.label.split(" ")[0]: each.value for each in app.selectbox if each.key.startswith("dropped_role")}
    assert proposed == {"p\\.json": "Prediction", "t\\.json": "Ground truth"}
    dashboard.fine(next(button for button in app.button if button.label == "Open these files").click().run())
    assert [card["F1"] for card in dashboard.cards(dashboard.go(app, OVERVIEW))] == ["1.000"]


@pytest.mark.parametrize("view", VIEWS)
def test_with_nothing_at_all(monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    app = start(monkeypatch, view, files=dashboard.workspace(None))
    if view == FILES:
        text = [each.value for each in app.caption]
        assert "No annotation file is open. Upload one below, or start with layoutscope open FOLDER." in text
    else:
        assert NOTHING_TRUTH in dashboard.words(app)


def test_a_ground_truth_with_errors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = write_file(tmp_path / "t.json", [box(0.5, 0.1, 0.1, 0.5)], side="ground_truth")
    prediction = write_file(tmp_path / "p.json", TRUTH)
    app = start(monkeypatch, files=dashboard.workspace(broken, [prediction]))
    for view in (OVERVIEW, PAGE_BROWSER):
        said = dashboard.words(dashboard.go(app, view))
        assert any(word.startswith("The ground truth has errors") for word in said), view
    dashboard.go(app, FILES)
    assert [each.value for each in app.error] == [
        "Files with an error are not evaluated. Each row shows how to fix it."
    ]
    issues = dashboard.issues(app)
    assert issues[0]["File"] == "t.json"
    assert issues[0]["Place"] == "$.predictions[0].objects[0].bbox"
    assert all(row["Rule"] and row["Fix"] for row in issues)


def test_a_prediction_with_errors_leaves_the_other_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    (tmp_path / "broken.json").write_text("{")
    good = write_file(tmp_path / "good.json", TRUTH[:1])
    app = start(monkeypatch, files=dashboard.workspace(truth, [tmp_path / "broken.json", good]))
    (card,) = dashboard.cards(app)
    assert (card["letter"], card["TP"], card["FN"]) == ("A", "1", "2")
    app = start(monkeypatch, files=dashboard.workspace(truth, [tmp_path / "broken.json"]))
    text = "No prediction can be evaluated against this ground truth."
    assert text in dashboard.words(app)


def test_a_file_that_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, FILES, files=dashboard.workspace(tmp_path / "gone.json", [tmp_path / "gone too.json"]))
    assert [row["Rule"] for row in dashboard.issues(app)] == ["the file must be readable"] * 2


def test_one_model_only(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dashboard.workspace(SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "blocks.json"], SAMPLE_DATA / "pdf")
    app = start(monkeypatch, files=files)
    (card,) = dashboard.cards(app)
    assert card_numbers(card) == shown(box_result(1).micro.row(0))
    assert card["against"] == "baseline"
    assert [slider.key for slider in app.slider] == ["iou", "score_0"]
    assert "B" not in app.dataframe[0].value.columns
    assert "how well they fit: bars" in dashboard.words(app)
    dashboard.go(app, PAGE_BROWSER)
    assert [each["letter"] for each in dashboard.viewer(app)["models"]] == ["1"]


def test_two_models_of_one_name_are_numbered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, files=files_of(tmp_path, TRUTH, TRUTH[:1], TRUTH[:2]))
    assert [(card["name"], card["TP"]) for card in dashboard.cards(app)] == [("toy (1)", "1"), ("toy (2)", "2")]


def test_two_files_of_one_name_have_the_folders_that_distinguish_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    paths = [write_file(tmp_path / name / "p.json", TRUTH) for name in ("a", "b")]
    app = start(monkeypatch, FILES, files=dashboard.workspace(truth, paths))
    models = app.session_state[State.files.key].models
    assert [(model.name, model.source.name) for model in models] == [("a/p.json", "a/p.json"), ("b/p.json", "b/p.json")]


def test_scores_that_are_all_equal_lock_the_slider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [row._replace(score=1.0) for row in TRUTH]
    app = start(monkeypatch, files=files_of(tmp_path, TRUTH, rows, [*rows[:2], rows[2]._replace(score=0.1)]))
    assert [app.slider(key=name).disabled for name in ("score_0", "score_1")] == [True, False]
    assert app.slider(key="score_0").proto.help == "All scores of this model are equal or missing."


def test_a_ground_truth_as_model_has_no_scores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two annotators: the file of the second one has no scores."""
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    second = snapshot_file(TRUTH[:2], side="prediction")
    for entry in second["predictions"]:
        for each in entry["objects"]:
            each["score"] = None
    (tmp_path / "p.json").write_text(json.dumps(second))
    app = start(monkeypatch, files=dashboard.workspace(truth, [tmp_path / "p.json"]))
    if dashboard.cards(app):
        assert app.slider(key="score_0").disabled
    else:
        assert dashboard.go(app, FILES).error


def test_a_side_without_any_box(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for truth, predicted, ratios, status in (
        (TRUTH, [], ("n/a", "0.000", "0.000", "n/a"), "FN"),
        ([], TRUTH, ("0.000", "n/a", "0.000", "n/a"), "FP"),
    ):
        app = start(monkeypatch, files=files_of(tmp_path, truth, predicted, pages=[("a.pdf", 0)]))
        (card,) = dashboard.cards(app)
        assert (card["Precision"], card["Recall"], card["F1"], card["Mean IoU"]) == ratios
        assert "No box matches at these thresholds." in [each.value for each in app.caption]
        dashboard.go(app, PAGE_BROWSER)
        assert {each["status"] for each in dashboard.viewer(app)["boxes"]} == {status}


def test_no_mistake_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, files=files_of(tmp_path, TRUTH, TRUTH))
    assert "No mistake at these thresholds." in [each.value for each in app.caption]
    assert dashboard.cards(app)[0]["F1"] == "1.000"


def test_a_label_that_nobody_uses_is_undefined_and_not_zero(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, files=files_of(tmp_path, TRUTH[:1], TRUTH[:1]))
    table = app.dataframe[0].value.set_index("Label")
    assert np.isnan(table.loc["Table", "F1, A"])
    assert np.isnan(table.loc["Table", "Mean IoU"])
    assert table.loc["Table", "TP"] == 0
    assert app.dataframe[0].proto.placeholder == "–"


def test_a_prediction_as_reference_is_said_on_every_view_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dashboard.workspace(
        SAMPLE_DATA / "lines.json", [SAMPLE_DATA / "blocks.json"], SAMPLE_DATA / "pdf", as_reference=True
    )
    app = start(monkeypatch, files=files)
    for view in (OVERVIEW, PAGE_BROWSER):
        dashboard.go(app, view)
        assert [each.value for each in app.warning] == [
            "The reference is a model's prediction, not a ground truth: the numbers show how far the models agree, "
            "not which is right."
        ]
    assert app.main.children
    assert dashboard.go(app, FILES).dataframe[0].value["Role"][0] == "Reference (a prediction)"


def test_a_prediction_is_not_taken_as_ground_truth_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dashboard.workspace(SAMPLE_DATA / "lines.json", [SAMPLE_DATA / "blocks.json"])
    app = start(monkeypatch, files=files)
    assert dashboard.cards(app) == []
    assert dashboard.go(app, FILES).error


def test_without_a_ground_truth_a_prediction_can_be_made_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dashboard.workspace(None, [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"])
    app = start(monkeypatch, FILES, files=files)
    (choice,) = (each for each in app.selectbox if each.label == "Reference")
    choice.set_value(0)
    dashboard.fine(next(button for button in app.button if button.label == "Use as reference").click().run())
    assert list(app.dataframe[0].value["Role"]) == ["Reference (a prediction)", "Model A"]
    dashboard.go(app, OVERVIEW)
    assert len(app.warning) == 1
    assert dashboard.cards(app)[0]["name"] == "blocks 1.0"


def test_documents_of_one_file_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = [*TRUTH, box(0.1, 0.1, 0.2, 0.2, document="only-truth.pdf")]
    predicted = [*TRUTH[:2], box(0.1, 0.1, 0.2, 0.2, document="x.pdf"), box(0.1, 0.1, 0.2, 0.2, document="y.pdf")]
    files = files_of(tmp_path, truth, predicted, predicted[:2])
    app = start(monkeypatch, files=files)
    result = snapshot.evaluate(
        formats.read(tmp_path / "truth.json"), formats.read(tmp_path / "model1.json"), iou=(0.5,)
    )
    value = result.to_json()
    with_them = value["thresholds"]["0.5"]["micro"]["f1"]
    without = value["common_documents"]["0.5"]["micro"]["f1"]
    assert (with_them, without) == pytest.approx((2 * 2 / (4 + 4), 2 * 2 / (3 + 2)))
    assert [each.value for each in app.warning] == [
        "Model A: 1 document only in the ground truth and 2 documents only in the prediction count as missed and "
        f"false positive. F1 {with_them:.3f} with them, {without:.3f} without.",
        "Model B: 1 document only in the ground truth and 0 documents only in the prediction count as missed and "
        "false positive. F1 0.667 with them, 0.800 without.",
    ]
    assert dashboard.cards(app)[0]["F1"] == f"{with_them:.3f}"


def test_random_files_on_every_view(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth, predicted = random_rows(5)
    app = start(monkeypatch, files=files_of(tmp_path, truth, predicted, predicted[::2]))
    for view in (*VIEWS, OVERVIEW):
        dashboard.go(app, view)


# --- text from strangers -------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[click](javascript:alert(1))",
    "![b](http://example.invalid/x.png)",
    "[a](http://example.invalid/)",
    "**bold** _it_ `code`",
    "$\\href{javascript:alert(1)}{x}$",
    ":material/delete:",
    ":red[red]",
    "www.example.invalid",
    "</style><script>alert(1)</script>",
    "a:Q",
    "a[0]",
    "\u202egnp",
    "=1+1",
    "x" * 150,
]


def hostile_labels() -> list[str]:
    """The labels of the collection of bad files, and some more."""
    more = json.loads((HOSTILE_FILES / "json" / "labels.json").read_text(encoding="utf-8"))
    # The reader refuses empty labels and control characters in file names; neither can reach the screen.
    return list(
        dict.fromkeys(label for label in [*HOSTILE, *more["label_map"]] if label.strip() and "\x00" not in label)
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A data set in which every name is hostile: labels, documents, models; with a file of one side only."""
    folder = tmp_path_factory.mktemp("hostile")
    labels = hostile_labels()
    truth, first, second = [], [], []
    for number, label in enumerate(labels):
        row = box(0.02 * (number % 40), 0.1, 0.02 * (number % 40) + 0.015, 0.2, label=label, page=number // 40)
        document = HOSTILE[number % 8]
        truth.append(row._replace(document=document))
        first.append(row._replace(document=document, score=0.3 if number % 3 else 0.6))
        second.append(row._replace(document=document, label=labels[number - 1], score=0.4 + 0.001 * number))
    truth.append(truth[0]._replace(document="![only](http://example.invalid/only.png)"))
    truth.sort(key=lambda row: row.document)
    ground_truth = write_file(folder / "truth.json", truth, side="ground_truth", labels=labels)
    predictions = []
    for number, (rows, name) in enumerate(((first, HOSTILE[3]), (second, "www.example.invalid")), 1):
        value = snapshot_file(sorted(rows, key=lambda row: row.document), labels=labels)
        value["info"]["model"] = {"name": name, "version": "<b>1</b>"}
        path = folder / f"model{number}![x](http:example).json"
        path.write_text(json.dumps(value), encoding="utf-8")
        predictions.append(path)
    return dashboard.workspace(ground_truth, predictions, SAMPLE_DATA / "pdf")


@pytest.mark.parametrize("view", VIEWS)
def test_names_from_strangers_never_reach_a_renderer_of_markup(
    monkeypatch: pytest.MonkeyPatch, hostile: str, view: str
) -> None:
    app = start(monkeypatch, view, files=hostile)
    if view == OVERVIEW:
        assert len(dashboard.cards(app)) == 2, "the hostile files must be evaluated, or the test tests nothing"
    if view == PAGE_BROWSER:
        assert dashboard.viewer(app)["boxes"]
    assert_no_markup(app)


def assert_no_markup(app: AppTest) -> None:
    active = {
        place: text for place, text in dashboard.markdown_texts(app) if dashboard.active_markdown(text) is not None
    }
    assert active == {}
    allowed = {
        "div", "h1", "h2", "small", "span", "b", "i", "p", "dl", "dt", "dd", "section", "header", "footer", "br", "ul",
        "li", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    attributes_allowed = {"class", "aria-label", "title", "colspan", "scope"}
    for body in dashboard.html_blocks(app):
        tags = dashboard.read_html(body).tags
        assert {tag for tag, _ in tags} <= allowed
        assert {name for _, attributes in tags for name in attributes} <= attributes_allowed


def test_a_hostile_address_is_told_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, **{"![b](http://example.invalid/x.png)": "1", "iou": "<script>alert(1)</script>"})
    assert app.caption
    assert_no_markup(app)


def test_labels_are_shown_whole_in_the_table_and_are_cells_of_the_chart(
    monkeypatch: pytest.MonkeyPatch, hostile: str
) -> None:
    app = start(monkeypatch, files=hostile)
    column = list(app.dataframe[0].value["Label"])
    for label in ("<script>alert(1)</script>", "![b](http://example.invalid/x.png)", "a:Q", "=1+1", "\\u202egnp"):
        assert label in column
    chart = app.get("vega_lite_chart")[0].proto
    spec = json.loads(chart.spec)
    fields: set[str] = set()
    # That of the lines of a label on an axis, whatever the labels are.
    fixed = label_axis()["labelOffset"]["condition"]

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            fields.update([node["field"]] if isinstance(node.get("field"), str) else [])
            assert node == fixed or not {"expr", "calculate", "url", "href"} & node.keys()
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(spec)
    assert fields == {"label", "model", "mistakes"}


def test_a_new_threshold_shows_its_numbers_before_the_mistakes_get_names(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    happened: list[str] = []
    write, name = headline._model_card, error_types.name_mistakes

    def card(*given: Any, mistakes: bool) -> str:
        body = write(*given, mistakes=mistakes)
        happened.append("whole card" if mistakes else "numbers")
        return body

    def named(*given: Any, **options: Any) -> Any:
        happened.append("named")
        return name(*given, **options)

    monkeypatch.setattr(headline, "_model_card", card)
    monkeypatch.setattr(error_types, "name_mistakes", named)
    # A threshold that no other test asks for: its results are in no cache of this process.
    fine(next(slider for slider in app.slider if slider.label == "IoU threshold").set_value(0.87).run())
    assert happened == ["numbers", "numbers", "named", "whole card", "named", "whole card"]
    assert sum(" mistakes</span>" in body for body in html_blocks(app)) == 2
    happened.clear()
    fine(app.run())
    assert happened == ["whole card", "whole card"]


@pytest.mark.parametrize(
    ("view", "address"),
    [
        (OVERVIEW, {}),
        ("pages/compare.py", {}),
        ("pages/compare.py", {"compare": "pixels"}),
        ("pages/compare.py", {"compare": "posters"}),
        ("pages/fields.py", {}),
        ("pages/review_pack.py", {}),
    ],
)  # fmt: skip
def test_a_and_b_are_two_models(monkeypatch: pytest.MonkeyPatch, view: str, address: dict[str, str]) -> None:
    """The model that is chosen for one letter and has the other one changes places with it."""
    app = start(monkeypatch, view, **address)
    assert dict(app.query_params).items() >= address.items()

    def shown_models() -> list[str]:
        boxes = [each for each in app.sidebar.selectbox if each.label.startswith("Model ")]
        return [each.options[each.value] for each in boxes]

    first, second = shown_models()
    for letter in ("A", "B"):
        box_of = next(each for each in app.sidebar.selectbox if each.label.startswith(f"Model {letter}"))
        box_of.set_value(1 - box_of.value)
        fine(app.run())
        first, second = second, first
        assert shown_models() == [first, second]


@pytest.mark.parametrize(("place", "models"), [("1", ["lines 1.0", "blocks 1.0"]), ("2", ["blocks 1.0", "lines 1.0"])])
def test_a_link_with_one_model_twice(monkeypatch: pytest.MonkeyPatch, place: str, models: list[str]) -> None:
    app = start(monkeypatch, model_a=place, model_b=place)
    boxes = [each for each in app.sidebar.selectbox if each.label.startswith("Model ")]
    assert [each.options[each.value] for each in boxes] == models


@pytest.mark.parametrize("view", [OVERVIEW, "pages/pixel_confusion.py"])
def test_a_and_b_of_three_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, view: str) -> None:
    models = [write_file(tmp_path / f"{name}.json", TRUTH[: 1 + at]) for at, name in enumerate("pqr")]
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    app = start(monkeypatch, view, files=dashboard.workspace(truth, models))
    places = []
    for letter, place in (("A", 2), ("B", 2), ("A", 1), ("B", 0)):
        fine(next(each for each in app.sidebar.selectbox if each.label == f"Model {letter}").set_value(place).run())
        places.append([each.value for each in app.sidebar.selectbox if each.label.startswith("Model ")])
    assert places == [[2, 1], [1, 2], [1, 2], [1, 0]]


def test_a_table_of_columns_is_that_of_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns by name go to the browser without pandas; what is undefined is missing either way."""
    columns: dict[str, widgets.Column] = {
        "Label": ["Text", "Table\u202e", None],
        "Boxes": np.array([3, 0, 12]),
        "F1": [0.5, None, float("nan")],
        "Purity": np.array([np.nan, 0.25, 1.0]),
    }
    shown: list[Any] = []
    monkeypatch.setattr(widgets.st, "dataframe", lambda data, **more: shown.append((data, more["height"])))
    widgets.table(columns, rows=2, alt="")
    widgets.table(pd.DataFrame(columns), rows=2, alt="")
    (arrow, height), (frame, other) = shown
    assert height == other == widgets.HEADER_HEIGHT + 2 * widgets.ROW_HEIGHT
    assert arrow.column_names == list(frame.columns)
    assert [column.null_count for column in arrow.columns] == [1, 0, 2, 1]
    pd.testing.assert_frame_equal(arrow.to_pandas(), frame, check_dtype=False)
