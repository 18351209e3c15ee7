"""The view of suspected ground truth under AppTest: the queue, a verdict with one button, the plan of a review."""

import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.analysis.suspects.listing import MOST_LABELS, suspect_target, suspects
from evaluator.data.dataset import Dataset, join
from evaluator.protocols import snapshot
from evaluator.review.corrections import corrections
from evaluator.review.status import finding_statuses
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import QUEUE, SUSPECTS, fine, press, send_event, texts, words
from tests.judging import opinion, store
from tests.planting import write_spoilt
from tests.sample_part import SAMPLE, sample_dataset

PREDICTIONS = [SAMPLE / "lines.json", SAMPLE / "blocks.json"]
# The ground truth of the sample with planted errors, for the tests of this file.
SPOILT: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> None:
    SPOILT[:] = [write_spoilt(tmp_path_factory.mktemp("spoilt"), sample_dataset())]


def sample() -> Dataset:
    return join(*map(formats.read, (SPOILT[0], *PREDICTIONS)))


def start(view: str, **address: str) -> AppTest:
    return dashboard.start(view, files=dashboard.workspace(SPOILT[0], PREDICTIONS, SAMPLE / "pdf"), **address)


def listed(app: AppTest) -> dict[str, Any]:
    return dashboard.component(app, "suspects")


def answer(app: AppTest, place: int, verdict: str | None, **more: Any) -> AppTest:
    one = listed(app)["suspects"][place]
    event = {
        "document": one["document"], "index": one["index"], "id": uuid4().hex, "number": one["rank"],
        "keys": [], "target": one["target"], "verdict": verdict, "note": "", "name": "Anna", **more,
    }  # fmt: skip
    return send_event(app, "suspects", "verdict", [event])


def want(app: AppTest, held: str = "", **more: Any) -> dict[str, Any]:
    send_event(app, "suspects", "want", {"pages": [], "crops": [], "held": held, **more})
    return listed(app)


def corrections_of(path: Path) -> int:
    with Store(path) as kept:
        return corrections(sample(), kept.log()).applied


def judged_in(path: Path) -> Any:
    with Store(path) as kept:
        (judged,) = kept.log().judged.values()
    return judged


def test_accepting_corrects_the_ground_truth(store_path: Path) -> None:
    app = start(SUSPECTS)
    assert dashboard.title(app) == "Suspects"
    before = listed(app)
    assert (before["states"], before["reviewer"]) == ({}, "")
    answer(app, 0, "ground_truth_wrong")
    after, target = listed(app), before["suspects"][0]["target"]
    assert after["reviewer"] == "Anna"
    assert after["states"][target]["verdict"]["agreed"] == "ground_truth_wrong"
    # The list is the same, so that the browser keeps its place in it.
    assert after["set"] == before["set"]
    judged = judged_in(store_path)
    assert (judged.verdict, judged.target_id) == ("ground_truth_wrong", suspect_target(suspects(sample()), 0).id)
    assert corrections_of(store_path) == 1
    answer(app, 0, None)
    assert corrections_of(store_path) == 0
    assert target not in listed(app)["states"]


def test_the_browser_that_has_the_list_gets_it_once(store_path: Path) -> None:
    app = start(SUSPECTS)
    data = listed(app)
    sent, first = want(app, data["set"], pages=[0, 1], crops=[0]), data["suspects"][0]
    assert (sent["suspects"], sent["set"]) == (None, data["set"])
    assert f"{first['index']} {first['document']}" in sent["pages"]
    assert list(sent["crops"]) == [first["target"]]
    assert sent["crops"][first["target"]]["image"].startswith("data:image/webp;base64,")
    assert want(app)["suspects"] == data["suspects"]


def test_what_a_browser_makes_up_is_not_taken(store_path: Path) -> None:
    app = start(SUSPECTS)
    sent = want(app, pages=[100_000, -1], crops=[100_000, -1])
    assert (sent["pages"], sent["crops"]) == ({}, {})
    for wrong in (
        *({"number": number} for number in (100_000, -1, 1)),
        {"target": "nobody's"},
        {"label": 0, "xyxy": [0.5, 0.1, 0.4, 0.2]},
        {"label": 99, "xyxy": [0.1, 0.1, 0.4, 0.2]},
    ):
        answer(app, 0, "ground_truth_wrong", **wrong)
    assert not store_path.exists() or not Store(store_path).log().judged


def test_an_accepted_suspect_of_each_kind_applies_and_changes_the_ground_truth(store_path: Path) -> None:
    dataset = sample()
    every = suspects(dataset)
    first = {one.kind: place for place, one in reversed(list(enumerate(every.to_list())))}
    what = {"missing": "added", "extra": "removed", "label": "relabelled", "border": "replaced"}
    results = [snapshot.pair(dataset, model).match().at(0.5) for model in (0, 1)]
    for kind, place in first.items():
        with Store(store_path.with_name(f"{kind}.sqlite")) as kept:
            kept.add([opinion(suspect_target(every, place), "ground_truth_wrong")])
            log = kept.log()
        assert [change.what for change in corrections(dataset, log).changes] == [what[kind]]
        assert [status.state for status in finding_statuses(log, results)] == ["applies"]
    # A box that models merge with another is suspected as one too many: the verdict is not on the merge.
    extra = [place for place, one in enumerate(every.to_list(20)) if one.kind == "extra"]
    assert len(extra) >= 2
    store(store_path, *(opinion(suspect_target(every, place), "model_wrong") for place in extra))
    with Store(store_path) as kept:
        assert [status.state for status in finding_statuses(kept.log(), results)] == ["applies"] * len(extra)


def test_the_kind_and_the_evidence_are_in_the_address(store_path: Path) -> None:
    app = start(SUSPECTS, suspected="extra", evidence="0.9")
    shown = listed(app)["suspects"]
    assert {(one["kind"], one["score"] >= 0.9) for one in shown} == {("Extra", True)}
    assert dashboard.address(app)["suspected"] == "extra"
    app = start(SUSPECTS, suspected="label", evidence="1")
    assert any("No suspect passes the filter" in word for word in words(app))
    press(app, "Clear filter")
    assert len({one["kind"] for one in listed(app)["suspects"]}) > 1


def test_an_edited_correction_is_stored_and_the_suspect_is_answered(store_path: Path) -> None:
    app = start(SUSPECTS)
    data = listed(app)
    one = data["suspects"][0]
    left, top, right, bottom = one["proposed"]
    label = data["labels"].index("Caption")
    answer(app, 0, "ground_truth_wrong", label=label, xyxy=[left, top, right - 0.01, bottom])
    judged = judged_in(store_path)
    (box,) = judged.target.of("prediction")
    assert (box.label, box.xyxy[2]) == ("Caption", pytest.approx(right - 0.01))
    assert judged.target_id == suspect_target(suspects(sample()), 0).id == one["target"]
    assert corrections_of(store_path) == 1


def test_a_verdict_that_is_not_stored_is_marked(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "no-store").mkdir()
    monkeypatch.setenv(FINDINGS_VARIABLE, str(tmp_path / "no-store"))
    app = start(SUSPECTS)
    answer(app, 0, "model_wrong")
    state = listed(app)["states"][listed(app)["suspects"][0]["target"]]
    assert state["unsaved"]["verdict"] == "model_wrong"
    assert state["unsaved"]["problem"]


def test_words_and_ink_count_once_they_are_read(store_path: Path) -> None:
    app = start(SUSPECTS, evidence="0.01")
    fine(app.button(key="suspects_read").click().run())
    deadline = time.monotonic() + 120
    while not any(caption.value.startswith("Words and ink of the likeliest") for caption in app.caption):
        assert time.monotonic() < deadline
        time.sleep(0.2)
        fine(app.run())
    assert "no ground truth box covers" in " ".join(one["reason"] for one in listed(app)["suspects"])


def test_the_review_goes_on_in_the_page_browser(store_path: Path) -> None:
    app = start(QUEUE, margin="0.01", queue="sample")
    app.session_state["reviewer"], app.session_state["reviewing"] = "Anna", True
    first, following, *_ = dashboard.component(app, "cards")["cards"]
    app.session_state["doc"], app.session_state["page"] = first["document"], first["index"]
    dashboard.go(app, "pages/page_browser.py")
    assert any("0 of" in text and "reviewed" in text for text in texts(app.caption))
    fine(app.button(key="plan_page_done").click().run())
    assert any("1 of" in text and "reviewed" in text for text in texts(app.caption))
    assert (app.session_state["doc"], app.session_state["page"]) == (following["document"], following["index"])


def test_a_score_stands_beside_its_model_and_never_after_a_label(store_path: Path) -> None:
    """After a label from right to left a number would be read as a part of it."""
    reasons = [one["reason"] for one in listed(start(SUSPECTS, evidence="0"))["suspects"]]
    scored = [reason for reason in reasons if "(0." in reason]
    assert scored
    assert all(re.fullmatch(r"(?:[AB] \(\d\.\d+\)|[^()])*", reason) for reason in scored)


def test_what_accepting_changes_is_said_for_the_chosen_and_is_what_happens(store_path: Path) -> None:
    app = start(SUSPECTS)
    data = listed(app)
    assert data["effects"] == {}
    near = [one["rank"] for one in data["suspects"][:3]]
    effects = want(app, near=[*near, 10_000])["effects"]
    assert list(effects) == [one["target"] for one in data["suspects"][:3]]
    moved = next(place for place, lines in enumerate(effects.values()) if any("→" in line for line in lines))
    promised = effects[data["suspects"][moved]["target"]]
    answer(app, moved, "ground_truth_wrong")
    # Once it is accepted the numbers are those that were promised, and nothing more would change.
    for line, promise in zip(listed(app)["effects"][data["suspects"][moved]["target"]], promised, strict=True):
        assert "→" not in line
        assert re.findall(r"(?:→ |stays )(\S+)", promise) == re.findall(r"stays (\S+)", line)


def test_more_labels_than_suspects_are_looked_for_under_are_said(tmp_path: Path) -> None:
    many = [box(0.1, 0.1, 0.4, 0.2, page=at, label=f"label {at}") for at in range(MOST_LABELS + 1)]
    names = [each.label for each in many]
    truth = write_file(tmp_path / "truth.json", many, side="ground_truth", labels=names)
    model = write_file(tmp_path / "model.json", [each._replace(score=0.9) for each in many], labels=names)
    files = dashboard.workspace(truth, [model], None)
    said = "uspects are looked for under at most 256 labels; found 257. Bring some together."
    assert f"S{said}" in words(fine(dashboard.start(SUSPECTS, files=files)))
    assert "Sample of 0 pages" in str(fine(dashboard.start(QUEUE, files=files, queue="sample")))
    with pytest.raises(ValueError, match=f"^s{re.escape(said)}$"):
        suspects(join(formats.read(truth), formats.read(model)))
