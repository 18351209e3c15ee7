"""Every view under AppTest: opens on the sample data, says what the core says, and stays whole on odd data."""

import json
import time
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.charts.theme import label_axis
from evaluator.compare.decision import decide
from evaluator.compare.differences import differences
from evaluator.components.overview import rows as shown_rows
from evaluator.components.viewer import mistake_filter, text_lost
from evaluator.components.viewer.mistake_filter import MistakeFilter
from evaluator.data.issues import count_of
from evaluator.matching import error_types
from evaluator.matching.box_measures import box_measures
from evaluator.matching.causes import Family, family_title
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES, MistakeOptions
from evaluator.pdf.pool import PagePool
from evaluator.project import evaluate_together
from evaluator.protocols import PROTOCOLS, snapshot
from evaluator.protocols.snapshot import Matching, ThresholdResult
from evaluator.review.identity import mistake_targets
from evaluator.review.store import Store
from evaluator.review.verdicts import judge
from pages.app import results, widgets
from pages.app.cache import Cached
from pages.app.state import State
from tests import dashboard
from tests.building import box, random_rows, snapshot_file, write_file
from tests.dashboard import FILES, OVERVIEW, PAGE_BROWSER, SAMPLE_DATA, cards, fine, go, start, viewer, words, workspace
from tests.reading import HOSTILE as HOSTILE_FILES
from tests.sample_results import MODELS, box_result, sample

pytestmark = pytest.mark.usefixtures("store_path")

RATIOS = {
    "Precision": "precision", "Recall": "recall", "F1": "f1",
    "Mean IoU": "mean_iou", "Coverage": "mean_coverage", "Purity": "mean_purity",
}  # fmt: skip
ON_BARS = ("Precision", "Recall", "F1")
COUNTS = {"TP": "tp", "FP": "fp", "FN": "fn"}
TRUTH = [box(0.1, 0.1, 0.5, 0.5), box(0.6, 0.1, 0.9, 0.5, label="Table"), box(0.1, 0.6, 0.5, 0.9, page=1)]


def shown(result: Any) -> dict[str, str]:
    row = result.micro.row(0)
    ratios = {word: "n/a" if row[RATIOS[word]] is None else f"{row[RATIOS[word]]:.3f}" for word in ON_BARS}
    return ratios | {word: f"{row[name]:,}" for word, name in COUNTS.items()}


def on_cards(app: AppTest) -> list[dict[str, str]]:
    return [{word: card[word] for word in (*ON_BARS, *COUNTS)} for card in cards(app)]


def worst_first(rows: Any, *, only: bool = False) -> list[int]:
    """How many mistakes each page has, whose rows are given for each mistake; `only` those with some."""
    counts = sorted(np.bincount(rows, minlength=sample().pages).tolist(), reverse=True)
    return [count for count in counts if count or not only]


def on_strip(app: AppTest) -> list[int]:
    return [entry["mistakes"] for entry in viewer(app)["strip"]]


def doc_id(row: int) -> str:
    return sample().documents[sample().page_document[row]].doc_id


def test_of_many_boxes_the_results_of_few_steps_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for many, expected in ((10**9, 6), (0, 4)):
        kept: Cached[Any] = Cached(32)
        monkeypatch.setattr(results, "_RESULTS", kept)
        monkeypatch.setattr(results, "_MANY_BOXES", many)
        app = start()
        for iou in (0.6, 0.7):
            fine(next(slider for slider in app.slider if slider.label == "IoU threshold").set_value(iou).run())
        assert len(kept._kept) == expected


def test_the_overview_opens_on_the_sample_data() -> None:
    app = start()
    assert dashboard.title(app) == "Overview"
    assert (
        dashboard.signature(app) == "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 (A), ≥ 0.00 (B) · 8 documents, 36 pages"
    )
    results = [box_result(0), box_result(1)]
    assert on_cards(app) == [shown(result) for result in results]
    assert [(card["letter"], card["name"]) for card in cards(app)] == [("A", "lines 1.0"), ("B", "blocks 1.0")]
    wrong = ", ".join(f"{letter} has {each.micro.mistakes[0]}" for letter, each in zip("AB", results, strict=True))
    assert dashboard.read_html(dashboard.block(app, "ls-foot")).words == [
        f"Wrong boxes, extra (FP) and missed (FN): {wrong}.",
        f"{dashboard.signature(app)} · intervals from 2,000 resamples of the documents",
    ]
    assert not app.warning
    assert not app.error
    assert "polygons" not in [each.key for each in app.checkbox], "the sample has no outlines"


def test_the_table_of_labels_holds_the_numbers_of_the_core() -> None:
    shown_table = start(charts="labels").dataframe[0].value
    results = [box_result(0), box_result(1)]
    assert list(shown_table["Label"]) == ["All labels", *sample().labels]
    truth = results[0]
    assert list(shown_table["Boxes"]) == [len(sample().ground_truth), *(truth.per_label.tp + truth.per_label.fn)]
    for letter, result in zip("AB", results, strict=True):
        np.testing.assert_array_equal(shown_table[f"F1, {letter}"], [result.micro.f1[0], *result.per_label.f1])
    for word, name in (RATIOS | COUNTS).items():
        if word != "F1":
            wanted = [getattr(truth.micro, name)[0], *getattr(truth.per_label, name)]
            np.testing.assert_array_equal(shown_table[word].astype(float), np.array(wanted, dtype=float))


def test_the_table_of_labels_follows_its_model_and_threshold() -> None:
    app = start(charts="labels")
    app.button_group(key="numbers_of").set_value("B")
    fine(app.button_group(key="table_iou_0.5").set_value(0.75).run())
    a, b, shown_table = box_result(0, 0.75), box_result(1, 0.75), app.dataframe[0].value
    assert list(shown_table["TP"]) == [b.micro.tp[0], *b.per_label.tp]
    np.testing.assert_array_equal(shown_table["F1, A"], [a.micro.f1[0], *a.per_label.f1])
    assert on_cards(app)[1] == shown(box_result(1)), "the bars keep the slider's threshold"
    # A row opens its pages at the threshold of its numbers.
    app.session_state["labels_B_0.75"] = {"selection": {"cells": [[0, "FN"]], "rows": [], "columns": []}}
    fine(app.run())
    assert dashboard.title(app) == "Pages"
    assert next(slider.value for slider in app.slider if slider.label == "IoU threshold") == 0.75
    assert viewer(app)["model"]["name"].startswith("blocks")


def test_what_is_below_the_labels_is_closed_until_it_is_opened() -> None:
    app = start()
    assert not app.get("vega_lite_chart")
    assert not app.dataframe
    fits = [f"{measure} of matched boxes" for measure in ("IoU", "Coverage", "Purity")]
    for name, number, first in (("scores", 4, "F1, precision and recall against the score threshold"), ("fit", 8, "")):
        fine(app.button(key=f"open_{name}").click().run())
        charts = [each.proto.alt for each in app.get("vega_lite_chart")]
        assert (len(charts), charts[0]) == (number, first or charts[0])
    assert [alt for alt in charts if alt in fits] == fits, "each once"
    assert dashboard.address(app) == {"charts": "scores,fit"}
    means = [box_result(model).micro.mean_iou[0] for model in (0, 1)]
    assert f"mean A {means[0]:.3f}, B {means[1]:.3f}" in words(app)
    fine(app.button(key="open_scores").click().run())
    assert len(app.get("vega_lite_chart")) == 4
    for name in ("fit", "means", "documents"):
        fine(app.button(key=f"open_{name}").click().run())
    assert dashboard.address(app) == {"charts": "means,documents"}
    assert "All boxes pooled" in words(app)
    assert [list(each.value) for each in app.dataframe] == [
        ["Document", "Pages", "F1, A", "F1, B", "Mistakes, A", "Mistakes, B"]
    ]


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

    app = start()
    counted_micro.__set_name__(ThresholdResult, "micro")
    monkeypatch.setattr(Matching, "at", counted_at)
    monkeypatch.setattr(ThresholdResult, "micro", counted_micro)
    # A threshold that no other test asks for: results are shared by all sessions of a process.
    fine(app.slider(key="iou").set_value(0.37).run())
    assert sorted(made) == sorted(pooled) == [(0, 0.37), (1, 0.37)]
    fine(app.run())
    assert len(made) == len(pooled) == 2, "a run without a change computes nothing"


@pytest.mark.parametrize("with_bbox", [True, False], ids=["bbox", "segmentation alone"])
def test_outlines_are_compared_where_files_have_them_and_the_reader_says_so(tmp_path: Path, *, with_bbox: bool) -> None:
    # Two opposite triangles of one box, and two equal ones.
    lower, upper = [0, 0, 40, 40, 0, 40], [0, 0, 40, 0, 40, 40]

    def side(*outlines: list[int], **more: Any) -> list[dict[str, Any]]:
        given = {"category_id": 1, "area": 800, "iscrowd": 0, **more}
        return [{"id": at, "image_id": at, "segmentation": [each], **given} for at, each in enumerate(outlines, 1)]

    images = [{"id": number, "width": 80, "height": 80, "file_name": f"{number}.png"} for number in (1, 2)]
    truth = side(lower, lower, bbox=[0, 0, 40, 40])
    instances = {"images": images, "categories": [{"id": 1, "name": "Text"}], "annotations": truth}
    predicted = side(lower, upper, score=0.5, **({"bbox": [0, 0, 40, 40]} if with_bbox else {}))
    (tmp_path / "truth.json").write_text(json.dumps(instances))
    (tmp_path / "model.json").write_text(json.dumps(predicted))
    files = workspace(tmp_path / "truth.json", [tmp_path / "model.json"])
    app = start(files=files, protocol="coco")
    assert " · IoU ≥ 0.50 · " in dashboard.signature(app)
    assert app.checkbox(key="polygons").value is False
    assert cards(app)[0]["F1"] == "1.000"
    fine(app.checkbox(key="polygons").set_value(True).run())
    assert " · polygon IoU ≥ 0.50 · " in dashboard.signature(app)
    assert dashboard.address(app)["polygons"] == "yes"
    assert cards(app)[0]["F1"] == "0.500"
    page = viewer(start(PAGE_BROWSER, files=files, protocol="coco", polygons="yes"))
    assert page["by_outline"]
    assert {each["outline"] for each in page["boxes"]} == {"M0 0L5000 0L5000 5000Z", "M0 0L5000 5000L0 5000Z"}


@pytest.mark.parametrize(("name", "line"), [("pod", "pod 2017 · IoU > 0.60 · "), ("coco", "coco 2.0 · IoU ≥ 0.50 · ")])
def test_another_protocol_has_its_own_thresholds_and_numbers(name: str, line: str) -> None:
    app = start(protocol=name)
    sides = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / f"{model}.json" for model in MODELS]
    made = evaluate_together(name, *sides)
    assert on_cards(app) == [shown(each.result.thresholds[PROTOCOLS[name].thresholds[0]]) for each in made]
    assert dashboard.signature(app).startswith(line)
    assert dashboard.address(app) == {"protocol": name}
    assert dashboard.signature(go(app, PAGE_BROWSER)).startswith(line)


@pytest.mark.parametrize(("iou", "score_a", "score_b"), [(0.75, 0.0, 0.0), (0.5, 0.8, 0.35), (0.1, 1.0, 0.9)])
def test_sliders_match_anew(iou: float, score_a: float, score_b: float) -> None:
    app = start(charts="labels")
    for name, value in (("iou", iou), ("score_0", score_a), ("score_1", score_b)):
        app.slider(key=name).set_value(value)
    fine(app.run())
    results = [box_result(0, iou, score_a), box_result(1, iou, score_b)]
    assert on_cards(app) == [shown(result) for result in results]
    assert f"IoU ≥ {iou:.2f} · score ≥ {score_a:.2f} (A), ≥ {score_b:.2f} (B)" in dashboard.signature(app)
    assert list(app.dataframe[0].value["TP"]) == [results[0].micro.tp[0], *results[0].per_label.tp]
    go(app, PAGE_BROWSER)
    assert f"{len(results[0].mistakes):,} mistakes" in dashboard.toolbar(app)
    assert f"IoU ≥ {iou:.2f} · score ≥ {score_a:.2f} ·" in dashboard.signature(app)


def best_f1(iou: float) -> list[float]:
    return [snapshot.pair(sample(), model, iou_floor=snapshot.IOU_FLOOR).best_f1(iou=iou) for model in (0, 1)]


def preset(app: AppTest) -> Any:
    return app.button_group(key=dashboard.key_of(app, "preset"))


def sliders(app: AppTest, *names: str) -> list[float]:
    return [app.slider(key=dashboard.key_of(app, name)).value for name in names]


def test_presets() -> None:
    app = start()
    assert preset(app).value == "Defaults"
    fine(app.slider(key="iou").set_value(0.6).run())
    assert preset(app).value is None
    fine(preset(app).set_value("Best F1").run())
    best = best_f1(0.6)
    assert sliders(app, "iou", "score_0", "score_1") == pytest.approx([0.6, *best])
    assert preset(app).value == "Best F1"
    results = [box_result(model, 0.6, score) for model, score in enumerate(best)]
    assert on_cards(app) == [shown(result) for result in results]
    assert all(result.micro.f1[0] >= box_result(at, 0.6).micro.f1[0] for at, result in enumerate(results))
    fine(preset(app).set_value("Defaults").run())
    assert sliders(app, "iou", "score_0", "score_1") == [0.5, 0.0, 0.0]


def test_best_f1_is_that_of_the_model_that_is_chosen_later(tmp_path: Path) -> None:
    """Every open model gets its own threshold, so that a change of the model leaves none behind."""
    best = best_f1(0.5)
    sides = [SAMPLE_DATA / f"{name}.json" for name in MODELS]
    copy = tmp_path / "copy.json"
    copy.write_bytes(sides[1].read_bytes().replace(b'"blocks"', b'"third"'))
    app = start(files=workspace(SAMPLE_DATA / "ground_truth.json", [*sides, copy]))
    fine(preset(app).set_value("Best F1").run())
    fine(app.selectbox(key="model_a").set_value(2).run())
    assert preset(app).value == "Best F1"
    assert sliders(app, "score_2", "score_1") == pytest.approx([best[1], best[1]])
    fine(app.selectbox(key="model_a").set_value(0).run())
    assert sliders(app, "score_0") == pytest.approx(best[:1])
    fine(app.slider(key="iou").set_value(0.75).run())
    assert preset(app).value is None, "another IoU threshold has another best F1"


def test_the_two_models_can_change_places() -> None:
    app = start()
    app.selectbox(key="model_a").set_value(1)
    fine(app.selectbox(key="model_b").set_value(0).run())
    assert [card["name"] for card in cards(app)] == ["blocks 1.0", "lines 1.0"]
    assert on_cards(app)[0] == shown(box_result(1))
    go(app, PAGE_BROWSER)
    assert viewer(app)["model"]["name"] == "lines 1.0", "its model is a choice of its own"


@pytest.mark.parametrize("model", [0, 1])
def test_the_page_browser_opens_on_the_worst_page(model: int) -> None:
    app = start(PAGE_BROWSER)
    assert dashboard.title(app) == "Pages"
    fine(app.button_group(key="model").set_value(model).run())
    data, result, dataset = viewer(app), box_result(model), sample()
    models = [{"letter": "1", "name": "lines 1.0"}, {"letter": "2", "name": "blocks 1.0"}]
    assert (data["models"], data["model"]) == (models, models[model])
    # A mistake is an item of the list, whatever its number of boxes.
    assert on_strip(app) == worst_first(result.mistakes.page)
    said = dashboard.toolbar(app)
    assert f" in {len(result.mistakes)} mistakes (" in said
    assert f", at {len(result.causes)} places on " in said
    page = data["page"]
    assert (page["problem"], page["image"][:23]) == (None, "data:image/jpeg;base64,")
    row = dataset.page_row(page["document"], page["index"])
    assert row is not None
    assert {name: data["counts"][name] for name in COUNTS} == {
        name: result.per_page.row(row)[key] for name, key in COUNTS.items()
    }
    if model == 0:
        assert row == np.argmax(np.bincount(result.mistakes.page, minlength=dataset.pages))
        assert (page["position"], page["total"]) == (1, dataset.pages)


def test_filters_of_the_page_browser() -> None:
    app = start(PAGE_BROWSER)
    app.selectbox(key="within").set_value("school-census.pdf")
    fine(app.button_group(key="order").set_value("page").run())
    data = viewer(app)
    assert {entry["document"] for entry in data["strip"]} == {"school-census.pdf"}
    assert [entry["index"] for entry in data["strip"]] == list(range(data["page"]["count"]))
    app.selectbox(key="within").set_value("")
    fine(app.selectbox(key="label").set_value("Table").run())
    data, result = viewer(app), box_result(0)
    assert {each["label"] for each in data["boxes"] if not each.get("other")} == {"Table"}
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    keep = mistake_filter.passing(columns, sample(), MistakeFilter(label="Table"))
    assert sorted(on_strip(app), reverse=True) == worst_first(columns.page[keep], only=True)
    app.selectbox(key="label").set_value("")
    fine(app.checkbox(key="only").set_value(True).run())
    assert len(viewer(app)["strip"]) == int((box_result(0).per_page.mistakes > 0).sum())


def test_mistakes_are_filtered_by_name() -> None:
    app = start(PAGE_BROWSER)
    mistakes = box_result(0).mistakes
    pills = app.button_group(key="mistake_names")
    most_first = sorted(zip(DOCUMENT, mistakes.counts.tolist(), strict=True), key=lambda each: -each[1])
    assert [option.content for option in pills.proto.options] == [
        f"{ERROR_TYPES['document'][name].chip} {count}" for name, count in most_first if count
    ]
    pills.set_value(["cut_off", "wrong_class"])
    fine(app.run())
    data = viewer(app)
    assert {each["name"] for each in data["mistakes"]} <= {"cut_off", "wrong_class"}
    wanted = np.isin(mistakes.kind, [DOCUMENT.index(name) for name in ("cut_off", "wrong_class")])
    assert on_strip(app) == worst_first(mistakes.page[wanted], only=True)
    here = mistakes.page == sample().page_row(data["page"]["document"], data["page"]["index"])
    assert (len(data["mistakes"]), data["hidden_mistakes"]) == ((here & wanted).sum(), (here & ~wanted).sum())
    assert (data["walk"]["total"], data["filtered"]) == (wanted.sum(), True)
    assert dict(parse_qsl(data["address"]))["mistakes"] == "cut_off,wrong_class"
    again = viewer(start(PAGE_BROWSER, mistakes="cut_off,wrong_class"))
    strips = [[{**entry, "current": None} for entry in each["strip"]] for each in (again, data)]
    assert strips[0] == strips[1], "a link carries the filter"


def test_mistakes_are_filtered_by_score_fit_and_size() -> None:
    app = start(PAGE_BROWSER, score="0.5-1", fit="0.1-0.9", size="0-0.2")
    assert [app.slider(key=name).value for name in ("score_range", "fit_range")] == [(0.5, 1.0), (0.1, 0.9)]
    result = box_result(0)
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    chosen = MistakeFilter(score=(0.5, 1.0), iou=(0.1, 0.9), size=(0.0, 0.2))
    keep = mistake_filter.passing(columns, sample(), chosen)
    assert 0 < keep.sum() < len(keep)
    assert viewer(app)["walk"]["total"] == keep.sum()


def test_what_was_judged_is_left_out_once_another_is_chosen(store_path: Path) -> None:
    """A note on it may still be typed, and a mistake that leaves the list would take the field with it."""
    result = box_result(0)
    page, total = int(result.mistakes.page[0]), len(result.mistakes)
    targets = {each.id: each for each in mistake_targets(result, page).targets}
    place = doc_id(page), int(sample().page_index[page])
    app = start(PAGE_BROWSER, doc=place[0], page=str(place[1] + 1), unjudged="yes")
    assert app.checkbox(key="unjudged").value is True
    mistake = next(each for each in viewer(app)["mistakes"] if each["target"] in targets)
    said = {"verdict": "ignore", "author": "Ada", "verified": False, "time": datetime(2026, 1, 2, tzinfo=UTC)}
    Store(store_path).add([judge(targets[mistake["target"]], **said)])
    key = mistake["keys"][0]
    app.session_state["box"], app.session_state["judged_here"] = key, (*place, key)
    for there in (True, False):
        data = viewer(fine(app.run()))
        assert (mistake["target"] in {each["target"] for each in data["mistakes"]}) == there
        app.session_state["box"] = None
    assert data["walk"]["total"] == total - 1
    assert viewer(start(PAGE_BROWSER))["walk"]["total"] == total


def test_poor_matches_join_the_list() -> None:
    app = start(PAGE_BROWSER)
    before = viewer(app)["walk"]["total"]
    fine(app.checkbox(key="poor").set_value(True).run())
    fine(app.slider(key="poor_coverage").set_value(0.9).run())
    data = viewer(app)
    options = MistakeOptions(min_coverage=0.9, min_purity=0.7)
    assert data["walk"]["total"] == len(mistake_filter.mistakes_of(box_result(0), options)) > before
    assert f"{box_result(0).micro.mistakes[0]} wrong boxes in " in dashboard.toolbar(app), "a poor match is a match"
    assert dict(parse_qsl(data["address"])).items() >= {"poor": "yes", "coverage": "0.9"}.items()


def test_a_filter_is_saved_and_used_again() -> None:
    app = start(PAGE_BROWSER, mistakes="missed", within="tram-options.pdf", score="0.3-1")
    app.text_input(key="filter_name").set_value("![x](http://x) tram")
    fine(app.button(key="filter_save").click().run())
    strip = [{**each, "current": False} for each in viewer(app)["strip"]]
    assert_no_markup(app)
    app.session_state["mistake_names"], app.session_state["within"] = [], ""
    fine(app.run())
    assert len(viewer(app)["strip"]) > len(strip)
    fine(app.button(key="use_0").click().run())
    assert [{**each, "current": False} for each in viewer(app)["strip"]] == strip
    fine(app.button(key="delete_0").click().run())
    assert "use_0" not in [each.key for each in app.button]


def test_a_link_to_a_page_that_the_filter_hides_leads_there_and_says_so() -> None:
    app = start(PAGE_BROWSER, doc="school-census.pdf", page="3", within="tram-options.pdf")
    data = viewer(app)
    assert (data["page"]["document"], data["page"]["index"], data["page"]["position"]) == ("school-census.pdf", 2, 0)
    assert {(each["document"], each["current"]) for each in data["strip"]} == {("tram-options.pdf", False)}
    fine(app.selectbox(key="within").set_value("rainfall-atlas.pdf").run())
    assert viewer(app)["page"]["document"] == "rainfall-atlas.pdf", "a filter of one's own leads to its pages"


def test_a_cause_becomes_a_chip_and_the_choice_forgets_it() -> None:
    app, made = start(PAGE_BROWSER), box_result(0).causes
    family, rows = list(made.alike.items())[2]
    choice = app.selectbox(key="cause_wanted")
    assert choice.options[2] == family_title(family)
    choice.set_value(2)
    message = app._tree.get_widget_states()
    assert dashboard.toolbar(fine(app.run())).startswith(f"{family_title(family)} | ")
    assert f", at {len(rows)} places on " in dashboard.toolbar(app)
    assert app.selectbox(key=dashboard.key_of(app, "cause_wanted")).value is None
    assert len(viewer(app)["strip"]) == len(np.unique(made.page[rows]))
    fine(app.button(key="chip_question").click().run())
    # A message about the choice of before chooses nothing.
    assert "|" not in dashboard.toolbar(fine(app._run(message)))


def test_lost_text_reaches_the_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as late:
        late.setattr("pages.views.browser.page_listing.page_text", lambda *_: None)
        app = start(PAGE_BROWSER, doc="river-districts.pdf", page="2")
        assert "lost_words" not in viewer(app)["page"], "the words of a slow page are not there yet"
    data = viewer(fine(app.run()))
    assert data["page"]["lost_words"] == len(data["page"]["lost"]) == 7
    (cut,) = [each for each in data["mistakes"] if each["name"] == "cut_off"]
    assert (cut["lost_words"], cut["lines"][2]) == (7, "lost “0 20 40 60 80 light Mini-grid” (7 words)")
    scan = viewer(start(PAGE_BROWSER, doc="scanned-minutes-1997.pdf", page="2"))["page"]
    assert "lost_words" not in scan
    assert 0.0 <= scan["lost_ink"] < 1.0


def test_lost_words_are_counted_by_label() -> None:
    app = start(PAGE_BROWSER, within="river-districts.pdf")
    app.button(key="words_count").click()
    deadline = time.monotonic() + 60
    while not any("Lost" in each.value.columns for each in app.dataframe):
        assert time.monotonic() < deadline, "the count does not end"
        fine(app.run())
    counted = dashboard.table(app, "Lost").set_index("Label")["Lost"]
    rows = [row for row in range(sample().pages) if doc_id(row) == "river-districts.pdf"]
    pdf = SAMPLE_DATA / "pdf" / "river-districts.pdf"
    with PagePool(workers=1, spares=0) as pool:
        words_of = [pool.words(pdf, int(sample().page_index[row])).boxes for row in rows]
    *_, last = text_lost.count_pages(box_result(0), np.array(rows), dict(zip(rows, words_of, strict=True)).get)
    lost = {row["label"] or "All labels": row["lost"] for row in last.rows(sample().labels)}
    assert counted.to_dict() == {label: lost[label] for label in counted.index}
    assert counted.index[-1] == "All labels"
    assert counted.iloc[-1] > 0
    assert "6 pages" in " ".join(dashboard.texts(app.caption))


def test_files_lists_the_sample_data() -> None:
    app = start(FILES)
    assert dashboard.title(app) == "Files"
    listed, dataset = app.dataframe[0].value, sample()
    boxes = [dataset.ground_truth, *dataset.predictions]
    roles = {"ground_truth.json": "Ground truth", "lines.json": "Model A", "blocks.json": "Model B"}
    assert listed[["File", "Role", "Boxes", "Issues"]][:3].to_numpy().tolist() == [
        [*named, len(side), "none"] for named, side in zip(roles.items(), boxes, strict=True)
    ]
    assert list(listed["File"])[3:] == ["pdf/ 8 files"], "boxes alone"
    # Of the pages, which are read when they are shown, nothing is known.
    assert set(listed["Issues"]) == {"none", ""}
    assert "Nothing is wrong with these files." in dashboard.texts(app.caption)
    for words_of in ("14 invoices and forms", "5 posters"):
        app = dashboard.press(app, f"Also open the sample's {words_of}")
    assert list(app.dataframe[0].value["File"])[-3:] == ["pdf/ 8 files", "pdf/ 14 files", "pdf/ 5 files"]


def test_the_models_and_the_toolbar_have_counts() -> None:
    boxes = f"{len(sample().ground_truth):,} ground-truth boxes, 11 labels"
    for view in (OVERVIEW, FILES):
        assert {"36 pages, 8 documents", boxes, "No issues in the files"} <= set(words(start(view)))
    app, mistakes = start(PAGE_BROWSER), box_result(0).mistakes
    pages = len(set(mistakes.page.tolist()))
    places = f"{len(box_result(0).causes)} places on {pages} pages"
    said = f"302 wrong boxes in {len(mistakes)} mistakes (189 extra, 113 missed), at {places}"
    assert dashboard.toolbar(app) == said
    fine(app.button_group(key="mistake_names").set_value(["missed"]).run())
    missed = mistakes.page[mistakes.kind == DOCUMENT.index("missed")].tolist()
    assert dashboard.viewer(app)["page"]["total"] == len(set(missed)), "no page without such a mistake is listed"
    assert dashboard.toolbar(app).startswith(
        f"Mistake: Missed | {len(missed)} wrong boxes in {len(missed)} mistakes (all missed), at "
    )


NOTHING_TRUTH = "No ground truth is open, so nothing can be evaluated yet."
NOTHING_PREDICTION = "No prediction is open, so there is nothing to compare with the ground truth."


def test_without_a_ground_truth_or_a_prediction(tmp_path: Path) -> None:
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    prediction = write_file(tmp_path / "p.json", TRUTH)
    for view in (OVERVIEW, PAGE_BROWSER):
        assert NOTHING_TRUTH in words(start(view, files=workspace(None)))
        assert NOTHING_PREDICTION in words(start(view, files=workspace(truth)))
    app = start(files=workspace(None, [prediction]))
    assert dashboard.component(app, "groups")["headline"] == "No ground truth in this file"
    assert NOTHING_TRUTH in words(go(app, PAGE_BROWSER))
    assert [each.proto.label for each in app.get("page_link")][-1] == "Open Files"
    assert list(go(app, FILES).dataframe[0].value["File"]) == ["p.json"]
    nothing = "No annotation file is open. Add files, or start with layoutscope open FOLDER."
    assert nothing in dashboard.texts(start(FILES, files=workspace(None)).caption)


def test_an_empty_view_names_the_formats_and_opens_the_sample_data() -> None:
    app = start(files=workspace(None))
    (formats_,) = [word for word in words(app) if word.startswith("Recognised by content:")]
    for name in ("COCO instances or results", "PAGE XML", "Pascal VOC", "YOLO labels", "DoclingDocument"):
        assert name in formats_
    assert "Open your own files" in words(app)
    dashboard.press(app, "Open the sample data")
    assert on_cards(app) == [shown(box_result(0)), shown(box_result(1))]


def test_a_ground_truth_with_errors(tmp_path: Path) -> None:
    broken = write_file(tmp_path / "t.json", [box(0.5, 0.1, 0.1, 0.5)], side="ground_truth")
    app = start(files=workspace(broken, [write_file(tmp_path / "p.json", TRUTH)]))
    for view in (OVERVIEW, PAGE_BROWSER):
        assert any(word.startswith("The ground truth has errors") for word in words(go(app, view))), view
    go(app, FILES)
    assert dashboard.texts(app.error) == ["Files with an error are not evaluated. Each row shows how to fix it."]
    listed = dashboard.issues(app)
    assert (listed[0]["File"], listed[0]["Place"]) == ("t.json", "$.predictions[0].objects[0].bbox")
    assert all(row["Rule"] and row["Fix"] for row in listed)


def test_a_prediction_with_errors_leaves_the_other_one(tmp_path: Path) -> None:
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    (tmp_path / "broken.json").write_text("{")
    good = write_file(tmp_path / "good.json", TRUTH[:1])
    (card,) = cards(start(files=workspace(truth, [tmp_path / "broken.json", good])))
    assert (card["letter"], card["TP"], card["FN"]) == ("A", "1", "2")
    app = start(files=workspace(truth, [tmp_path / "broken.json"]))
    assert "No prediction can be evaluated against this ground truth." in words(app)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    app = start(FILES, files=workspace(tmp_path / "gone.json", [tmp_path / "gone too.json"]))
    assert [row["Rule"] for row in dashboard.issues(app)] == ["the file must be readable"] * 2


def test_one_model_only() -> None:
    files = workspace(SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "blocks.json"], SAMPLE_DATA / "pdf")
    app = start(files=files, charts="labels")
    assert on_cards(app) == [shown(box_result(1))]
    assert [slider.key for slider in app.slider] == ["iou", "score_0"]
    assert "F1, B" not in app.dataframe[0].value.columns
    assert {len(card["sides"]) for card in dashboard.component(app, "cards")["cards"]} == {1}
    assert [each["letter"] for each in viewer(go(app, PAGE_BROWSER))["models"]] == ["1"]


def test_two_files_of_one_name_have_the_folders_that_distinguish_them(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    truth = write_file(tmp_path / "t.json", TRUTH, side="ground_truth")
    paths = [write_file(tmp_path / name / "p.json", TRUTH) for name in ("a", "b")]
    models = start(FILES, files=workspace(truth, paths)).session_state[State.files.key].models
    assert [(model.name, model.source.name) for model in models] == [("a/p.json", "a/p.json"), ("b/p.json", "b/p.json")]


def test_two_models_of_one_name_are_numbered_and_equal_scores_lock_a_slider(tmp_path: Path) -> None:
    rows = [row._replace(score=1.0) for row in TRUTH]
    app = start(files=dashboard.files_of(tmp_path, TRUTH, rows[:1], [rows[0], rows[2]._replace(score=0.1)]))
    assert [(card["name"], card["TP"]) for card in cards(app)] == [("toy (1)", "1"), ("toy (2)", "2")]
    assert [app.slider(key=name).disabled for name in ("score_0", "score_1")] == [True, False]
    assert app.slider(key="score_0").proto.help == "All scores of this model are equal or missing."


def test_a_side_without_any_box(tmp_path: Path) -> None:
    for truth, predicted, ratios, status in (
        (TRUTH, [], ("n/a", "0.000", "0.000"), "FN"),
        ([], TRUTH, ("0.000", "n/a", "0.000"), "FP"),
    ):
        app = start(files=dashboard.files_of(tmp_path, truth, predicted, pages=[("a.pdf", 0)]), charts="fit")
        (card,) = cards(app)
        assert (card["Precision"], card["Recall"], card["F1"]) == ratios
        assert "No box overlaps another at these thresholds." in dashboard.texts(app.caption)
        assert {each["status"] for each in viewer(go(app, PAGE_BROWSER))["boxes"]} == {status}


def test_no_mistake_at_all_and_a_label_that_nobody_uses(tmp_path: Path) -> None:
    app = start(files=dashboard.files_of(tmp_path, TRUTH[:1], TRUTH[:1]), charts="labels")
    assert dashboard.component(app, "cards")["empty"] == "No mistake at these thresholds."
    assert cards(app)[0]["F1"] == "1.000"
    assert app.dataframe[0].proto.placeholder == "–"
    row = app.dataframe[0].value.set_index("Label").loc["Table"]
    assert (np.isnan(row["F1, A"]), np.isnan(row["Mean IoU"]), row["TP"]) == (True, True, 0), "undefined, and not zero"
    data = viewer(fine(go(app, PAGE_BROWSER).checkbox(key="only").set_value(True).run()))
    assert data["page"] is None
    assert data["empty"] == {"text": "No page passes the filter.", "action": "Clear filter"}


def test_a_prediction_as_reference_is_said_on_every_view_with_numbers() -> None:
    sides = SAMPLE_DATA / "lines.json", [SAMPLE_DATA / "blocks.json"]
    app = start(files=workspace(*sides, SAMPLE_DATA / "pdf", as_reference=True))
    for view in (OVERVIEW, PAGE_BROWSER):
        assert dashboard.texts(go(app, view).warning) == [
            "The reference is a model's prediction, not a ground truth: the numbers show how far the models agree, "
            "not which is right."
        ]
    assert go(app, FILES).dataframe[0].value["Role"][0] == "Reference (a prediction)"
    app = start(files=workspace(*sides))
    assert cards(app) == [], "a prediction is not taken as ground truth unasked"
    assert go(app, FILES).error


def test_documents_of_one_file_only(tmp_path: Path) -> None:
    truth = [*TRUTH, box(0.1, 0.1, 0.2, 0.2, document="only-truth.pdf")]
    predicted = [*TRUTH[:2], box(0.1, 0.1, 0.2, 0.2, document="x.pdf"), box(0.1, 0.1, 0.2, 0.2, document="y.pdf")]
    app = start(files=dashboard.files_of(tmp_path, truth, predicted, predicted[:2]))
    value = snapshot.evaluate(
        formats.read(tmp_path / "truth.json"), formats.read(tmp_path / "model1.json"), iou=(0.5,)
    ).to_json()
    with_them, without = (value[name]["0.5"] for name in ("thresholds", "common_documents"))
    assert (with_them["micro"]["f1"], without["micro"]["f1"]) == pytest.approx((2 * 2 / (4 + 4), 2 * 2 / (3 + 2)))
    assert dashboard.texts(app.warning) == [
        "Model A: 1 document only in the ground truth and 2 documents only in the prediction count as missed and "
        "false positive. F1 0.500 with them, 0.800 without.",
        "Model B: 1 document only in the ground truth and 0 documents only in the prediction count as missed and "
        "false positive. F1 0.667 with them, 0.800 without.",
    ]
    assert cards(app)[0]["F1"] == "0.500"


def test_random_files_on_every_view(tmp_path: Path) -> None:
    truth, predicted = random_rows(5)
    app = start(files=dashboard.files_of(tmp_path, truth, predicted, predicted[::2]))
    for view in (*dashboard.VIEWS, OVERVIEW):
        go(app, view)


HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "[click](javascript:alert(1))",
    "![b](http://example.invalid/x.png)", "[a](http://example.invalid/)", "**bold** _it_ `code`",
    "$\\href{javascript:alert(1)}{x}$", ":material/delete:", ":red[red]", "www.example.invalid",
    "</style><script>alert(1)</script>", "a:Q", "a[0]", "\u202egnp", "=1+1", "x" * 150,
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    more = json.loads((HOSTILE_FILES / "json" / "labels.json").read_text(encoding="utf-8"))["label_map"]
    # The reader refuses empty labels and control characters in file names; neither can reach the screen.
    labels = [label for label in dict.fromkeys([*HOSTILE, *more]) if label.strip() and "\x00" not in label]
    truth, first, second = [], [], []
    for number, label in enumerate(labels):
        row = box(0.02 * (number % 40), 0.1, 0.02 * (number % 40) + 0.015, 0.2, label=label, page=number // 40)
        truth.append(row._replace(document=HOSTILE[number % 8]))
        first.append(truth[-1]._replace(score=0.3 if number % 3 else 0.6))
        second.append(truth[-1]._replace(label=labels[number - 1], score=0.4 + 0.001 * number))
    truth.append(truth[0]._replace(document="![only](http://example.invalid/only.png)"))
    truth.sort(key=lambda row: row.document)
    ground_truth = write_file(folder / "truth.json", truth, side="ground_truth", labels=labels)
    predictions = []
    for number, (rows, name) in enumerate(((first, HOSTILE[3]), (second, "www.example.invalid")), 1):
        value = snapshot_file(sorted(rows, key=lambda row: row.document), labels=labels)
        value["info"]["model"] = {"name": name, "version": "<b>1</b>"}
        predictions.append(folder / f"model{number}![x](http:example).json")
        predictions[-1].write_text(json.dumps(value), encoding="utf-8")
    return workspace(ground_truth, predictions, SAMPLE_DATA / "pdf")


@pytest.mark.parametrize(
    ("view", "chosen"),
    [
        *((view, {}) for view in dashboard.VIEWS),
        (dashboard.COMPARE, {}),
        *((dashboard.CLASSES, of) for of in ({}, {"of": "A-B"})),
        *((dashboard.PIXELS, {"page_size": "100x100", **of}) for of in ({}, {"of": "A-B"}, {"of": "B on A"})),
    ],
)
def test_names_from_strangers_never_reach_a_renderer_of_markup(hostile: str, view: str, chosen: dict[str, str]) -> None:
    app = start(view, files=hostile, **chosen)
    if view == OVERVIEW:
        assert len(cards(app)) == 2, "the hostile files must be evaluated, or the test tests nothing"
    if view == PAGE_BROWSER:
        assert viewer(app)["boxes"]
    # The bars of the decision and of what the doctor tried have a width.
    assert_no_markup(app, *(["style"] if view in (dashboard.COMPARE, dashboard.FILES) else []))


def assert_no_markup(app: AppTest, *attributes_too: str) -> None:
    """No text from files acts as Markdown, and our own HTML has harmless elements and attributes alone."""
    assert {place: text for place, text in dashboard.markdown_texts(app) if dashboard.active_markdown(text)} == {}
    allowed = {
        "div", "h1", "h2", "small", "span", "b", "i", "p", "dl", "dt", "dd", "section", "header", "footer", "br", "ul",
        "li", "table", "thead", "tbody", "tr", "th", "td", "u", "s", "code", "kbd", "figure", "figcaption",
        "button", "progress", "bdi",
    }  # fmt: skip
    for tag, attributes in (each for body in dashboard.html_blocks(app) for each in dashboard.read_html(body).tags):
        assert tag in allowed
        assert attributes.keys() <= {
            "class",
            "aria-current",
            "aria-label",
            "role",
            "title",
            "colspan",
            "max",
            "value",
            "scope",
            *attributes_too,
        }


def test_a_hostile_address_is_told_as_text() -> None:
    app = start(**{"![b](http://example.invalid/x.png)": "1", "iou": "<script>alert(1)</script>"})
    assert app.caption
    assert_no_markup(app)


def test_labels_are_shown_whole_in_the_table_and_are_cells_of_the_chart(hostile: str) -> None:
    app = start(files=hostile, charts="labels")
    wanted = {"<script>alert(1)</script>", "![b](http://example.invalid/x.png)", "a:Q", "=1+1", "\\u202egnp"}
    assert wanted <= set(app.dataframe[0].value["Label"])
    fields: set[str] = set()
    # That of the lines of a label on an axis, whatever the labels are.
    fixed = label_axis()["labelOffset"]["condition"]

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            fields.update([node["field"]] if isinstance(node.get("field"), str) else [])
            assert node == fixed or not {"expr", "calculate", "url", "href"} & node.keys()
        for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(value)

    app = start(dashboard.COMPARE, files=hostile, below="mistakes")
    walk(json.loads(app.get("vega_lite_chart")[-1].proto.spec))
    assert fields == {"label", "model", "mistakes"}


def test_a_new_threshold_shows_its_numbers_before_the_mistakes_get_names(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start()
    happened: list[str] = []
    bars, name = shown_rows.bars, error_types.name_mistakes

    def drawn(*given: Any, **options: Any) -> Any:
        happened.append("numbers")
        return bars(*given, **options)

    def named(*given: Any, **options: Any) -> Any:
        happened.append("named")
        return name(*given, **options)

    monkeypatch.setattr(shown_rows, "bars", drawn)
    monkeypatch.setattr(error_types, "name_mistakes", named)
    # A threshold that no other test asks for: its results are in no cache of this process.
    fine(next(slider for slider in app.slider if slider.label == "IoU threshold").set_value(0.87).run())
    assert happened == ["numbers", "named", "named"]
    happened.clear()
    fine(app.run())
    assert happened == ["numbers"]


def test_the_overview_begins_with_a_sentence_and_pictures_that_open_all_their_places() -> None:
    app = start()
    truth = len(sample().ground_truth)
    a, b = (box_result(model).micro.row(0)["tp"] for model in (0, 1))
    worse = "But B joins Text boxes that A keeps apart."
    assert f"B finds {b} of {truth} boxes, A finds {a}. {worse}" in words(app)
    assert "The ground truth has 11 labels on 36 pages of 8 documents." in words(app)
    results = [box_result(model) for model in (0, 1)]
    made = decide(differences(*map(box_measures, results)), ["lines 1.0", "blocks 1.0"])
    (answer,) = [each.proto.label for each in app.get("page_link") if each.proto.page == "compare"]
    assert dashboard.plain(answer) == f"{made.headline}: {made.sentence}"
    cards = dashboard.component(app, "cards")["cards"]
    causes = [result.causes for result in results]
    boxes = {
        family: max(int(every.boxes[every.alike[family]].sum()) for every in causes if family in every.alike)
        for every in causes
        for family in every.alike
    }
    # The one behind the decision first: Text recall falls.
    worst = Family("joined", truth_label="Text", prediction_label="Text")
    titles = {family_title(family): family for family in boxes}
    largest = [titles[card["title"]] for card in cards]
    assert largest[0] == worst
    assert [boxes[family] for family in largest[1:]] == sorted(
        (boxes[each] for each in boxes if each != worst), reverse=True
    )[:7]
    assert [card["tags"] for card in cards][:2] == [["only in B"], []]
    for card, family in zip(cards, largest, strict=True):
        told = [
            f"{count_of(int(every.boxes[rows].sum()), 'wrong box')} at {count_of(len(rows), 'place')}"
            if (rows := every.alike.get(family)) is not None
            else "none"
            for every in causes
        ]
        assert [side["words"] for side in card["sides"]] == told
    dashboard.send_event(app, "cards", "open", cards[0]["key"])
    assert dashboard.title(fine(app)) == "Grid"
    assert dashboard.toolbar(app).startswith(family_title(largest[0]))
    assert dashboard.address(app)["model"] == "2", "the model that has it"


def model_boxes(app: AppTest) -> list[Any]:
    return [each for each in app.selectbox if each.label.startswith("Model ")]


@pytest.mark.parametrize(
    ("view", "chosen"),
    [
        *((view, {}) for view in (OVERVIEW, dashboard.COMPARE, dashboard.FIELDS, dashboard.PACK)),
        *((dashboard.COMPARE, {"compare": kind}) for kind in ("pixels", "posters")),
    ],
)
def test_a_and_b_are_two_models(view: str, chosen: dict[str, str]) -> None:
    """The model that is chosen for one letter and has the other one changes places with it."""
    app = start(view, **chosen)
    assert dashboard.address(app).items() >= chosen.items()
    names = [each.options[each.value] for each in model_boxes(app)]
    for letter in ("A", "B"):
        choice = next(each for each in model_boxes(app) if each.label.startswith(f"Model {letter}"))
        fine(choice.set_value(1 - choice.value).run())
        names.reverse()
        assert [each.options[each.value] for each in model_boxes(app)] == names


@pytest.mark.parametrize(("place", "models"), [("1", ["lines 1.0", "blocks 1.0"]), ("2", ["blocks 1.0", "lines 1.0"])])
def test_a_link_with_one_model_twice(place: str, models: list[str]) -> None:
    app = start(model_a=place, model_b=place)
    assert [each.options[each.value] for each in model_boxes(app)] == models


@pytest.mark.parametrize("view", [OVERVIEW, dashboard.PIXELS])
def test_a_and_b_of_three_models(tmp_path: Path, view: str) -> None:
    app = start(view, files=dashboard.files_of(tmp_path, TRUTH, *(TRUTH[:number] for number in (1, 2, 3))))
    places = []
    for letter, place in (("A", 2), ("B", 2), ("A", 1), ("B", 0)):
        fine(next(each for each in model_boxes(app) if each.label.startswith(f"Model {letter}")).set_value(place).run())
        places.append([each.value for each in model_boxes(app)])
    assert places == [[2, 1], [1, 2], [1, 2], [1, 0]]


def test_a_table_of_columns_is_that_of_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns by name go to the browser without pandas; what is undefined is missing either way."""
    columns: dict[str, widgets.Column] = {
        "Label": ["Text", "Table\u202e", None],
        "Boxes": np.array([3, 0, 12]),
        "F1": [0.5, None, float("nan")],
        "Purity": np.array([np.nan, 0.25, 1.0]),
    }
    drawn: list[Any] = []
    monkeypatch.setattr(widgets.st, "dataframe", lambda data, **more: drawn.append((data, more["height"])))
    widgets.table(columns, rows=2, alt="")
    widgets.table(pd.DataFrame(columns), rows=2, alt="")
    (arrow, height), (frame, other) = drawn
    assert height == other == widgets.HEADER_HEIGHT + 2 * widgets.ROW_HEIGHT
    assert arrow.column_names == list(frame.columns)
    assert [column.null_count for column in arrow.columns] == [1, 0, 2, 1]
    pd.testing.assert_frame_equal(arrow.to_pandas(), frame, check_dtype=False)
