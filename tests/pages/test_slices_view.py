"""Slices under AppTest: the list is that of the search and its pages those of the boxes."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from evaluator import project
from evaluator.analysis.slices.averages import find_by_average
from evaluator.analysis.slices.slices import find_slices, pages_of
from pages.app import jobs
from pages.views.slices import observed_slices, slices
from tests import dashboard
from tests.analysis.test_slices_averages import files
from tests.building import box, write_file
from tests.dashboard import (
    GALLERY,
    PAGE_BROWSER,
    SLICES,
    block,
    component,
    fine,
    html_blocks,
    plain,
    press,
    start,
    table,
    texts,
    viewer,
    workspace,
)
from tests.pdf_fixtures import page, pages
from tests.sample_results import box_result

RECALL_OF_A = {"of_models": "A", "slice_measure": "recall"}


def test_it_lists_what_the_search_finds() -> None:
    result = box_result()
    expected = find_slices([result])
    app = start(SLICES, **RECALL_OF_A)
    assert any(f"{expected.heading} <small>{expected.tested}" in block for block in html_blocks(app))
    assert expected.slices
    payload = viewer(app)
    assert [each["title"] for each in payload["slices"]] == [each.subject for each in expected.slices]
    for shown, one in zip(payload["slices"], expected.slices, strict=True):
        behind = pages_of(one, [result])
        assert [(page["document"], page["index"], page["boxes"], page["wrong"]) for page in shown["pages"]] == [
            (page.document, page.page, page.boxes, page.wrong) for page in behind[:100]
        ]
        assert shown["places"] == f"{len(behind)} page{'s' if len(behind) > 1 else ''}"
        assert sum(page.boxes for page in behind) == one.boxes
        assert (shown["bars"][0]["lost"], shown["rows"][0]["cells"][0]) == (round(one.lost), f"{one.value:.3f}")


def slices_of(app: AppTest) -> dict[str, Any]:
    return component(app, "slices")


def searched(app: AppTest) -> bool:
    return any(" tested on " in block for block in html_blocks(app))


def question_of(payload: dict[str, Any], order: int, measure: str = "recall") -> str:
    conditions = json.loads(payload["slices"][order]["conditions"])
    asked = [[each["attribute"], each["op"], each["value"]] for each in conditions]
    return json.dumps({"slice": {"measure": measure, "conditions": asked}})


def test_the_examples_of_a_slice_are_cards_of_the_gallery() -> None:
    payload = viewer(start(SLICES, **RECALL_OF_A))
    one = payload["slices"][0]
    gallery = start(GALLERY, question=question_of(payload, 0))
    # They are wrong boxes of the slice.
    keys = {card["key"] for card in viewer(gallery)["cards"]}
    assert {card["key"] for card in one["examples"]} <= keys
    assert all(any(tag.endswith(("FN", "FP")) for tag in card["tags"]) for card in one["examples"])


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return files(tmp_path_factory.mktemp("planted"), documents=40, on_scans=(0.5, 0.2))


@pytest.mark.parametrize(
    ("protocol", "measure", "of"), [("coco", "AR100", "B"), ("coco", "AP50", "B-A"), ("pod", "map", "B")]
)
def test_slices_by_averages_are_those_of_the_search(planted: list[Path], protocol: str, measure: Any, of: str) -> None:
    asked = {"protocol": protocol, "of_models": of, "slice_measure": measure}
    app = start(SLICES, files=workspace(planted[0], planted[1:]), **asked)
    models = {"B": (1,), "B-A": (0, 1)}[of]
    made = project.evaluate_together(protocol, planted[0], planted[1:], lambda _words: None)
    evaluations = [made[model].result for model in models]
    expected = find_by_average(evaluations, measure)
    assert [each["title"] for each in viewer(app)["slices"]] == [each.subject for each in expected.slices]
    one, shown = expected.slices[0], viewer(app)["slices"][0]
    assert evaluations[0].signature.line in texts(app.caption)
    values = [one.value] if one.models is None else list(one.models)
    assert [row["cells"][0] for row in shown["rows"][: len(models)]] == [f"{value:.3f}" for value in values]
    rest = [one.rest] if one.models_elsewhere is None else list(one.models_elsewhere)
    assert [bar["rest"] for bar in shown["bars"]] == pytest.approx(rest)
    assert sum(page["boxes"] for page in shown["pages"]) == one.boxes
    # No interval and no split: an average is of the whole ranking.
    assert (shown["panels"], shown["rows"][0]["cells"][1]) == ([], "")
    gallery = start(
        GALLERY, files=workspace(planted[0], planted[1:]), protocol=protocol, model="2",
        question=question_of(viewer(app), 0, measure),
    )  # fmt: skip
    assert f"{shown['title']} ✕" in [plain(each.label) for each in gallery.button]
    assert f">{shown['boxes']} in " in block(gallery, "ls-result")
    assert shown["boxes"] == f"{one.boxes} boxes"


KINDS = pytest.mark.parametrize("kind", ["boxes", "fields"])


@pytest.fixture
def every_search_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    every_search_long(monkeypatch)


def every_search_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LARGE_BOXES", 0)
    monkeypatch.setattr(observed_slices, "LARGE_PAGES", 0)


@KINDS
def test_a_long_search_lists_the_same(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    asked = {"slices": kind, "of_models": "A", "slice_measure": "recall"}
    short = slices_of(start(SLICES, **asked))
    every_search_long(monkeypatch)
    app = start(SLICES, **asked)
    assert slices_of(app) == short
    assert not [button for button in app.button if button.label == "Cancel"]


@KINDS
@pytest.mark.usefixtures("every_search_is_long")
def test_a_search_that_was_cancelled_begins_when_asked_for(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    with monkeypatch.context() as cancelled:

        def cancel(_title: str, _job: object, cancel: Callable[[], None], **_more: object) -> None:
            # What the button does, and the run that comes of it.
            cancel()
            st.rerun()

        cancelled.setattr(jobs, "wait_with_progress", cancel)
        app = start(SLICES, slices=kind, of_models="B", slice_measure="mean_coverage")
        assert "The search was cancelled." in texts(app.caption)
        assert not app.get("bidi_component")
    press(app, "Search for slices")
    assert searched(app)
    assert "The search was cancelled." not in texts(app.caption)


@KINDS
@pytest.mark.usefixtures("every_search_is_long")
def test_a_search_goes_on_when_the_view_is_run_again(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    begun: list[jobs.Job[Any, Any]] = []
    wait_for = jobs.wait_with_progress

    def leave(_title: str, job: jobs.Job[Any, Any], *_more: object, **_named: object) -> None:
        begun.append(job)
        st.stop()

    with monkeypatch.context() as left:
        left.setattr(jobs, "wait_with_progress", leave)
        app = start(SLICES, slices=kind, of_models="B", slice_measure="mean_iou")
        fine(app.run())

    def again(title: str, job: jobs.Job[Any, Any], *more: Any, **named: Any) -> Any:
        begun.append(job)
        return wait_for(title, job, *more, **named)

    monkeypatch.setattr(jobs, "wait_with_progress", again)
    assert searched(fine(app.run()))
    # It may have ended before the second run, which then has no need of it.
    assert len({id(job) for job in begun}) == 1


@pytest.mark.usefixtures("every_search_is_long")
def test_a_search_that_goes_on_shows_the_measure_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "wait_with_progress", lambda *_given, **_named: st.stop())
    app = start(SLICES, of_models="B", slice_measure="mean_purity")
    a, b = (box_result(model).micro.mean_purity[0] for model in (0, 1))
    words = f"Over all boxes<b>Mean purity A {a:.3f}, B {b:.3f}"
    assert any(words in block for block in html_blocks(app))
    assert not app.get("bidi_component")


def test_a_score_of_the_other_model_searches_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(SLICES, **RECALL_OF_A)
    searches: list[object] = []
    monkeypatch.setattr(slices, "find_slices", lambda *given, **_named: searches.append(given))
    fine(next(slider for slider in app.slider if slider.label == "Minimum score, B").set_value(0.77).run())
    assert slices_of(app)["slices"]
    assert not searches


def test_an_average_that_the_protocol_does_not_have_is_not_chosen() -> None:
    app = start(SLICES, protocol="snapshot", slice_measure="AP")
    assert app.session_state[dashboard.key_of(app, "slices_measure")] == "recall"
    assert viewer(app)["measure"] == "Recall"


def test_a_slice_about_pdfs_that_are_not_read_says_so() -> None:
    asked = {"slice": {"measure": "recall", "conditions": [["scanned", "==", "yes"]]}}
    app = start(GALLERY, question=json.dumps(asked))
    assert any("read the PDFs in the view Slices first" in text for text in texts(app.warning))
    assert not viewer(app)["cards"]


def test_the_pdfs_are_read_when_asked_for(tmp_path: Path) -> None:
    """Eight documents, the fewest that are searched; half of the PDFs have a word."""
    rows = [box(0.05, 0.05, 0.95, 0.95, document=f"{letter}.pdf") for letter in "abcdefgh"]
    truth = write_file(tmp_path / "truth.json", rows, side="ground_truth")
    predicted = write_file(tmp_path / "one.json", rows)
    (tmp_path / "pdf").mkdir()
    for place, row in enumerate(rows):
        (tmp_path / "pdf" / row.document).write_bytes(pages(1) if place < 4 else page())
    app = start(SLICES, files=workspace(truth, [predicted], tmp_path / "pdf"))
    fine(app.button(key="slices_read").click().run())
    deadline = time.monotonic() + 120
    while not any("Also by words" in text for text in texts(app.caption)):
        assert time.monotonic() < deadline
        time.sleep(0.2)
        fine(app.run())
    app.switch_page(GALLERY)
    app.query_params["charts"] = "names"
    for size, cards in ((20.0, 4), (9.0, 0)):
        asked = {"slice": {"measure": "recall", "conditions": [["font size", "<", size]]}}
        app.query_params["question"] = json.dumps(asked)
        fine(app.run())
        assert len(viewer(app)["cards"]) == cards


def test_compare_shows_where_b_loses_by_every_measure() -> None:
    payload = slices_of(start(dashboard.COMPARE, below="slices"))
    assert (payload["measure"], payload["order"]) == ("Measure", "Slice, most costly first")
    lines = [each["line"] for each in payload["slices"]]
    assert any("B gains here, recall " in line for line in lines)
    assert any(", mean purity " in line for line in lines)
    costs = [each["bars"][1]["lost"] - each["bars"][0]["lost"] for each in payload["slices"]]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize(
    ("kind", "measure", "said"),
    [
        ("fields", "recall", " tested on 416 fields of 14 documents"),
        ("posters", "passes", "5 with posters"),
        ("pixels", "iou", " page labels of 8 documents"),
    ],
)
def test_fields_pixels_and_posters_have_slices_too(kind: str, measure: str, said: str) -> None:
    app = start(SLICES, slices=kind, slice_measure=measure)
    every = [*html_blocks(app), *texts(app.info), *texts(app.caption)]
    assert any(said in text for text in every), every
    # A measure that the kind does not have gives way to its first one.
    start(SLICES, slices=kind, slice_measure="mean_purity")


def test_a_slice_of_fields_lists_its_fields_and_opens_one() -> None:
    app = start(SLICES, slices="fields", slice_measure="recall")
    (one,) = slices_of(app)["slices"]
    assert (one["noun"], one["paged"], one["examples"]) == ("fields", True, [])
    recalled = table(dashboard.send_event(app, "slices", "boxes", 0), "Recall, A")["Recall, A"].tolist()
    assert sum(page["boxes"] for page in one["pages"]) == len(recalled) == int(one["boxes"].split()[0])
    assert recalled == sorted(recalled, key=["no", "yes"].index), "wrong ones first"
    assert sum(page["wrong"] for page in one["pages"]) == recalled.count("no")


def test_a_slice_is_chosen_as_a_filter_of_pages() -> None:
    of_view = slices_of(start(SLICES, **RECALL_OF_A))
    listed = [each["title"] for each in of_view["slices"]]
    app = start(PAGE_BROWSER)
    assert not [each for each in app.selectbox if each.key == "slice_wanted"], "nothing is searched unasked"
    choice = fine(app.checkbox(key="search_slices").check().run()).selectbox(key="slice_wanted")
    assert choice.options[: len(listed)] == listed
    chosen = dashboard.toolbar(fine(choice.set_value(0).run()))
    assert dashboard.toolbar(start(PAGE_BROWSER, question=question_of(of_view, 0))) == chosen
    assert dashboard.toolbar(start(PAGE_BROWSER)) != chosen
