"""The view of suspected ground truth under AppTest: the queue, a verdict with one button, the plan of a review."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.model.dataset import join
from evaluator.protocols import snapshot
from evaluator.review.corrections import corrections
from evaluator.review.place import FINDINGS_VARIABLE
from evaluator.review.status import finding_statuses
from evaluator.review.store import Store
from evaluator.suspects.listing import suspects
from evaluator.suspects.targets import target_of
from tests.dashboard import SAMPLE_DATA, fine, start, title, words
from tests.test_findings_view import said

SUSPECTS = "pages/suspects.py"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(path))
    return path


def test_accepting_corrects_the_ground_truth(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS)
    assert title(app) == "Suspected ground truth"
    accept = next(button for button in app.button if button.label == "Accept correction")
    assert accept.disabled
    app.text_input(key="reviewer").set_value("Anna")
    fine(app.run())
    before = next(word for word in words(app) if word.endswith("to review"))
    fine(next(button for button in app.button if button.label == "Accept correction").click().run())
    after = next(word for word in words(app) if word.endswith("to review"))
    assert int(after.split()[0]) == int(before.split()[0]) - 1
    with Store(kept) as store:
        log = store.log()
    (judged,) = log.judged.values()
    assert judged.verdict == "ground_truth_wrong"
    dataset = join(*(formats.read(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines", "blocks")))
    assert judged.target_id == target_of(suspects(dataset), 0).id
    assert corrections(dataset, log).applied == 1
    fine(next(button for button in app.button if button.label == "Undo").click().run())
    assert next(word for word in words(app) if word.endswith("to review")) == before


def test_an_accepted_suspect_of_each_kind_applies_and_changes_the_ground_truth(kept: Path) -> None:
    dataset = join(*(formats.read(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines", "blocks")))
    listed = suspects(dataset)
    first = {one.kind: place for place, one in reversed(list(enumerate(listed.to_list())))}
    what = {"missing": "added", "extra": "removed", "label": "relabelled", "border": "replaced"}
    results = [snapshot.pair(dataset, model).match().at(0.5) for model in (0, 1)]
    for kind, place in first.items():
        with Store(kept.with_name(f"{kind}.sqlite")) as store:
            store.add([said(target_of(listed, place), "ground_truth_wrong")])
            log = store.log()
        assert [change.what for change in corrections(dataset, log).changes] == [what[kind]]
        (status,) = finding_statuses(log, results)
        assert status.state in ("applies", "matched", "regrouped")


def test_a_reviewed_page_counts_for_the_bound(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS, margin="0.01")
    assert any("0 of" in word and "reviewed" in word for word in words(app))
    app.text_input(key="reviewer").set_value("Anna")
    fine(app.run())
    fine(next(button for button in app.button if button.label == "Page reviewed").click().run())
    assert any("1 of" in word and "reviewed" in word for word in words(app))


def test_the_kind_and_the_evidence_are_in_the_address(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS, suspected="extra", evidence="0.9")
    table = app.dataframe[0].value
    assert {text.partition(" · ")[0] for text in table["Suspect"]} == {"Extra"}
    assert (table["Evidence"] >= 0.9).all()
    assert app.query_params["suspected"] == "extra"
    app = start(monkeypatch, SUSPECTS, suspected="label", evidence="1")
    assert any("No suspect passes the filter" in word for word in words(app))


def test_the_first_rows_of_the_queue_show_the_page_with_the_proposal(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS, evidence="0")
    pictures = list(app.dataframe[0].value["Page"])
    assert len(pictures) > 12
    drawn = [at for at, picture in enumerate(pictures) if isinstance(picture, str)]
    assert drawn == list(range(12))
    assert all(pictures[at].startswith("data:image/svg+xml;base64,") for at in drawn)


def test_an_edited_correction_is_stored_and_the_suspect_is_answered(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS)
    app.text_input(key="reviewer").set_value("Anna")
    fine(app.run())
    before = next(word for word in words(app) if word.endswith("to review"))
    fine(app.button(key="suspect_edit").click().run())
    right = app.number_input(key="suspect_edge_Right")
    moved = round(right.value - 1.0, 2)
    fine(right.set_value(moved).run())
    fine(next(button for button in app.button if button.label == "Accept correction").click().run())
    with Store(kept) as store:
        (judged,) = store.log().judged.values()
    (box,) = judged.target.of("prediction")
    assert box.xyxy[2] == pytest.approx(moved / 100)
    dataset = join(*(formats.read(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines", "blocks")))
    assert judged.target_id == target_of(suspects(dataset), 0).id
    with Store(kept) as store:
        assert corrections(dataset, store.log()).applied == 1
    after = next(word for word in words(app) if word.endswith("to review"))
    assert int(after.split()[0]) == int(before.split()[0]) - 1
    # Another suspect starts with its own proposal.
    assert not [each for each in app.number_input if each.key == "suspect_edge_Right"]


def test_a_correction_without_area_is_not_stored(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS)
    app.text_input(key="reviewer").set_value("Anna")
    fine(app.run())
    fine(app.button(key="suspect_edit").click().run())
    fine(app.number_input(key="suspect_edge_Right").set_value(0.0).run())
    assert any("right of the left one" in warning.value for warning in app.warning)
    fine(next(button for button in app.button if button.label == "Accept correction").click().run())
    assert not kept.exists() or not Store(kept).log().judged


def test_words_and_ink_count_once_they_are_read(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS, evidence="0.01")
    fine(app.button(key="suspects_read").click().run())
    deadline = time.monotonic() + 60
    while not any(caption.value.startswith("Words and ink of the likeliest") for caption in app.caption):
        assert time.monotonic() < deadline
        time.sleep(0.2)
        fine(app.run())
    reasons = " ".join(app.dataframe[0].value["Reason"])
    assert "cuts through" in reasons or "no ground truth box covers" in reasons


def test_the_review_goes_on_in_the_page_browser(kept: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, SUSPECTS, margin="0.01")
    app.text_input(key="reviewer").set_value("Anna")
    fine(app.run())
    order = list(app.dataframe[-1].value["Document"]), list(app.dataframe[-1].value["Page"])
    app.session_state["reviewing"] = True
    app.session_state["doc"], app.session_state["page"] = order[0][0], int(order[1][0]) - 1
    app.switch_page("pages/page_browser.py")
    fine(app.run())
    assert any("0 of" in caption.value and "reviewed" in caption.value for caption in app.caption)
    fine(app.button(key="plan_page_done").click().run())
    assert any("1 of" in caption.value and "reviewed" in caption.value for caption in app.caption)
    assert (app.session_state["doc"], app.session_state["page"]) == (order[0][1], int(order[1][1]) - 1)


def test_a_score_stands_beside_its_model_and_never_after_a_label(kept: Path, monkeypatch: Any) -> None:
    """After a label from right to left a number would be read as a part of it."""
    reasons = list(start(monkeypatch, SUSPECTS, evidence="0").dataframe[0].value["Reason"])
    scored = [reason for reason in reasons if "(0." in reason]
    assert scored
    assert all(re.fullmatch(r"(?:[AB] \(\d\.\d+\)|[^()])*", reason) for reason in scored)
