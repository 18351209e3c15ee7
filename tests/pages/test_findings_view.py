"""The view of findings under AppTest, and what the session holds: saved, not saved, imported, in a meeting."""

import contextlib
import json
import re
import sqlite3
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import platformdirs.windows
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.protocols import snapshot
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import corrections
from evaluator.review.identity import mistake_targets, page_target
from evaluator.review.problems import StoreProblem
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE, FINDINGS_WORKSPACE_VARIABLE, state_folder, store_address
from evaluator.review.verdicts import Target
from pages.app import routes
from pages.app.session_files import SAMPLE_READING, LoadedBoxes, is_bundled
from pages.views.findings import decision_rows, findings, meeting
from tests import dashboard
from tests.dashboard import (
    COMPARE,
    FIELDS,
    FINDINGS,
    GALLERY,
    PAGE_BROWSER,
    POSTERS,
    QUEUE,
    SAMPLE_DATA,
    SUSPECTS,
    fine,
    go,
    press,
    send_event,
    start,
    texts,
)  # fmt: skip
from tests.judging import opinion, store, stored
from tests.planting import write_spoilt
from tests.sample_part import SAMPLE, sample_dataset
from tests.sample_results import sample


@cache
def sample_targets() -> tuple[Target, ...]:
    scored = snapshot.pair(sample()).match().at(0.5)
    return tuple(target for page in range(sample().pages) for target in mistake_targets(scored, page).targets)


def seeded(path: Path) -> list[Target]:
    """Six findings: one of each kind, a conflict, a page, and one that is no longer there."""
    targets = sample_targets()
    missed = next(target for target in targets if target.mistake == "missed")
    others = [target for target in targets if target is not missed][:3]
    store(
        path,
        opinion(missed, "ground_truth_wrong", note="<b>nothing</b> here", tags=["guideline"]),
        opinion(others[0], "model_wrong", minutes=1),
        opinion(others[1], "ambiguous", minutes=2),
        opinion(others[1], "ignore", author="Ben", minutes=3),
        opinion(page_target("groundwater-note.pdf", 0), None, note="skewed", minutes=4),
        opinion(Target(kind="document", document="gone.pdf"), "ignore", author="Ben", minutes=5),
    )
    return [missed, *others]


def text_of(app: AppTest) -> str:
    return "\n".join([each.proto.body for each in app.get("html")] + [each.value for each in app.caption])


def corrected_of(app: AppTest) -> list[str]:
    return re.findall(r"corrected (\d\.\d{3})", text_of(app))


def decisions_of(app: AppTest) -> dict[str, Any]:
    return dashboard.component(app, "answered")


def row_of(app: AppTest, title: str) -> dict[str, Any]:
    (row,) = (row for row in decisions_of(app)["rows"] if row["title"] == title)
    return dict(row)


def edit(app: AppTest, title: str, field: str, value: str, *, name: str = "Chidi", act: str = "") -> AppTest:
    """The view after something was said of a row of the list."""
    event = {
        "id": act or uuid.uuid4().hex,
        "row": row_of(app, title)["key"],
        "field": field,
        "value": value,
        "name": name,
    }
    return dashboard.send_event(app, "answered", "edit", [event])


TABLES = "Table read as several boxes"


def test_two_views_show_what_the_verdicts_change(store_path: Path) -> None:
    seeded(store_path)
    with Store(store_path) as kept:
        to = corrections(sample(), kept.log())
    every, of_f1 = [], []
    for model in (0, 1):
        official = snapshot.pair(sample(), model).match().at(0.5)
        micros = official.micro, corrected_result(official, to).result.micro
        both = [[f"{getattr(micro, name)[0]:.3f}" for name in ("f1", "precision", "recall")] for micro in micros]
        every.append([after for before, after in zip(*both, strict=True) if before != after])
        of_f1.append(f"corrected {both[1][0]}" if both[0][0] != both[1][0] else None)
    assert all(every)
    assert any(of_f1)
    shown = dashboard.component(start(), "bars")["bars"]
    assert [bar.get("corrected") for bar in shown] == of_f1
    why = "On the ground truth as 1 agreed verdict of reviewers corrects it"
    assert all(bar["why"].startswith(why) for bar in shown if "corrected" in bar)
    assert corrected_of(start(COMPARE)) == every[0] + every[1]


def test_without_a_verdict_that_changes_them_there_are_no_corrected_numbers(store_path: Path) -> None:
    store(store_path, opinion(sample_targets()[0], "model_wrong"))
    assert corrected_of(start(COMPARE)) == []
    assert not any("corrected" in bar for bar in dashboard.component(start(), "bars")["bars"])


def test_nothing_is_judged_yet(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "<b>Nothing is decided yet.</b> 28 are open" in text_of(start(FINDINGS))
    assert not store_path.exists()
    seeded(store_path)
    monkeypatch.setenv(FINDINGS_WORKSPACE_VARIABLE, "another project of the same database")
    assert "<b>Nothing is decided yet.</b> 28 are open" in text_of(start(FINDINGS))


def test_a_date_that_cannot_be_right_is_named(store_path: Path) -> None:
    store(store_path, opinion(page_target("a.pdf", 0), minutes=60 * 24 * 3650), opinion(page_target("b.pdf", 0)))
    words = "a date is improbable: a clock was wrong"
    said = {row["title"]: words in row["tags"] for row in decisions_of(start(FINDINGS))["rows"] if row.get("verdict")}
    assert said == {"Page: a.pdf, page 1": True, "Page: b.pdf, page 1": False}


def test_decisions_list_every_cause_and_what_was_said(store_path: Path) -> None:
    targets = seeded(store_path)
    app = start(FINDINGS)
    rows = decisions_of(app)["rows"]
    assert (len(rows), rows[0]["tags"]) == (30, ["fails the rule"])
    said = {row["title"]: (row["mark"], row["verdict"]) for row in rows if row.get("verdict")}
    assert said.pop("Document: gone.pdf") == ("○", "Ignore")
    assert said.pop("Page: groundwater-note.pdf, page 1") == ("✎", "Note only")
    assert sorted(said.values()) == [
        ("≠", "1 Reviewers differ, 1 Model wrong"), ("◆", "Ground truth wrong, 1 of 90 mistakes judged"),
    ]  # fmt: skip
    (differ,) = (row for row in rows if row.get("split"))
    assert (differ["split"], [(vote["name"], vote["words"]) for vote in differ["votes"]]) == (
        "1 of 2: Ignore", [("Anna (unverified)", "Several verdicts"), ("Ben (unverified)", "Ignore")],
    )  # fmt: skip
    assert row_of(app, TABLES)["sides"] == ["76 wrong boxes at 8 places", "21 wrong boxes at 1 place"]
    (noted,) = (row for row in rows if "Ground truth wrong" in row.get("verdict", ""))
    assert (noted["notes"], noted["worth"]) == (["<b>nothing</b> here"], "Corrected, official stays")
    assert row_of(app, "Document: gone.pdf")["tags"] == ["Not open"]
    shown = text_of(app)
    for words in (
        "5 findings · 1 conflict · 0 agreed by two reviewers",
        "<b>2 of 28 causes are decided.</b> 0 with an owner, 0 done; 26 are open",
        "<td>official</td><td>345</td><td>189</td><td>113</td>",
        "<td>corrected</td><td>345</td><td>189</td><td>112</td>",
        "<td>change</td><td>±0</td><td>±0</td><td>−1</td>",
        "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · corrected, 1 verdict applied",
    ):
        assert words in shown
    # The corrected boxes for those who annotate: the sizes of the pages are those of the PDFs.
    fine(next(each for each in app.selectbox if each.label == "Corrected ground truth as").set_value("cvat").run())
    press(app, "Write the file")
    assert [each.label for each in app.get("download_button")][-1] == "Download corrected-cvat.xml"
    # The choice of rows is kept in the address; what is not said of a cause goes with what was decided.
    assert [row["key"] for row in decisions_of(start(FINDINGS, decided="decided"))["rows"]][-2:] == [
        page_target("groundwater-note.pdf", 0).id, Target(kind="document", document="gone.pdf").id,
    ][::-1]  # fmt: skip
    assert len(decisions_of(start(FINDINGS, decided="open"))["rows"]) == 26
    assert targets


def test_a_damaged_store_is_told(store_path: Path) -> None:
    store_path.write_bytes(b"no database" * 500)
    app = start()
    assert any("The findings file is damaged." in text for text in texts(app.warning))
    assert "findings cannot be read" in text_of(go(app, FINDINGS))
    assert store_path.read_bytes() == b"no database" * 500


def test_a_store_that_is_deleted_while_it_is_open_is_told(store_path: Path) -> None:
    seeded(store_path)
    another = "findings.sqlite was deleted, moved or restored. What is shown is what is in it now."
    app = start()

    def said() -> object:
        # app.py, which shows it, runs once only: see the test before.
        held = fine(app.run()).session_state
        return "said_of_findings" in held and held["said_of_findings"]

    assert not said()
    store_path.unlink()
    assert said() == another
    store(store_path, opinion(page_target("a.pdf", 0)))
    assert said() == another
    # Who comes later has seen no other.
    app = start()
    assert not said()


def test_a_message_has_all_that_is_not_answered_and_each_verdict_is_stored_once(store_path: Path) -> None:
    app = start(PAGE_BROWSER)
    data = dashboard.component(app, "page")
    first, other, *_ = ({"target": each["target"], "keys": each["keys"]} for each in data["mistakes"] if each["keys"])
    place = {
        "document": data["page"]["document"],
        "index": data["page"]["index"],
        "number": 1,
        "note": "",
        "name": "Ada",
    }
    said = [
        {**place, **first, "id": "one", "verdict": "ignore"},
        {**place, **other, "id": "two", "verdict": "ambiguous"},
    ]
    gone = {**place, "target": "of other thresholds", "keys": [], "id": "three", "verdict": "ignore"}
    # The second message is the first one again, with one more.
    for message, answered in ((said, "two"), ([*said, gone], "three"), ([{**said[0], "id": "four"}], "four")):
        app = dashboard.send_event(go(app, PAGE_BROWSER), "page", "verdict", message)
        assert dashboard.component(app, "page")["answered"] == answered
        refused = texts(go(app, "app.py").warning)
        wanted = ["The last verdict was not stored: what it is about is not there any more."]
        assert refused == (wanted if answered == "three" else [])
    assert [(event.id, event.verdict) for event in stored(store_path)] == [
        ("one", "ignore"),
        ("two", "ambiguous"),
        ("four", "ignore"),
    ]


def by_event(field: str) -> Callable[[AppTest], AppTest]:
    def act(app: AppTest) -> AppTest:
        data = dashboard.component(app, field)
        shown = data["suspects"] if field == "suspects" else data.get("mistakes") or data["panes"][0]["mistakes"]
        place = data["page"] if "page" in data else shown[0]
        event = {
            "id": "one", "document": place["document"], "index": place["index"], "number": 0, "keys": [],
            "target": shown[0]["target"], "verdict": "ignore", "note": "", "letter": "A", "name": "Berta",
        }  # fmt: skip
        return dashboard.send_event(app, field, "verdict", [event])

    return act


def by_button(label: str, **state: Any) -> Callable[[AppTest], AppTest]:
    def act(app: AppTest) -> AppTest:
        for name, value in {"reviewer": "Berta", **state}.items():
            app.session_state[name] = value
        return press(fine(app.run()), label)

    return act


def on_a_card(app: AppTest) -> AppTest:
    key = dashboard.component(app, "cards")["cards"][0]["key"]
    act = {"id": "one", "keys": [key], "verdict": "ambiguous", "name": "Berta"}
    return dashboard.send_event(app, "cards", "judge", [act])


def in_the_meeting(app: AppTest) -> AppTest:
    decision = {**DECISION, "item": screen_of(app := press(app, "Start meeting"))["item"], "name": "Berta"}
    return dashboard.send_event(app, "agenda", "decide", [decision])


@pytest.mark.parametrize(
    ("view", "act", "names_it"),
    [
        (PAGE_BROWSER, by_event("page"), True),
        (COMPARE, by_event("panes"), True),
        (FIELDS, by_event("page"), True),
        (POSTERS, by_event("page"), True),
        (SUSPECTS, by_event("suspects"), True),
        (PAGE_BROWSER, by_button("Page reviewed", reviewing=True), False),
        (GALLERY, on_a_card, True),
        (FINDINGS, lambda app: edit(app, TABLES, "verdict", "ambiguous", name="Berta"), True),
        (FINDINGS, in_the_meeting, True),
    ],
)
def test_a_verdict_in_a_store_that_others_use_waits_in_every_view(
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    view: str,
    act: Callable[[AppTest], AppTest],
    *,
    names_it: bool,
) -> None:
    seeded(store_path)
    # Nothing is suspected in the sample data as they are.
    truth = write_spoilt(tmp_path, sample_dataset()) if view == SUSPECTS else None
    models = [SAMPLE / "lines.json", SAMPLE / "blocks.json"]
    for name in ("_BUSY_SECONDS", "_BUSY_AGAIN_SECONDS", "_SAVE_AGAIN_SECONDS"):
        monkeypatch.setattr(findings, name, 0.0)
    app = start(view, files=truth and dashboard.workspace(truth, models, SAMPLE / "pdf"))
    with contextlib.closing(sqlite3.connect(store_path, isolation_level=None)) as others:
        others.execute("BEGIN IMMEDIATE")
        app = act(app)
        said = json.dumps(dashboard.every_component(app)) + text_of(app) + str(texts(app.warning) + texts(app.error))
        assert "NOT SAVED" not in said
        assert ("Findings are busy. findings.sqlite was in use by others for too long." in said) == names_it
        # Also of a reader who goes to another view; a view is run without app.py here.
        app = go(app, "app.py")
        (notice,) = texts(app.warning)
        assert re.fullmatch(r"Waiting to be saved: \d+ verdicts?. The findings are in use by others.", notice)
    assert len(stored(store_path)) == 6
    assert not texts(fine(app.run()).warning)
    assert {each.author for each in stored(store_path)[6:]} == {"Berta"}


def test_what_is_edited_in_a_row_is_kept_on_all_mistakes_of_the_cause(store_path: Path) -> None:
    """One field at a time: the others, and what was said of single mistakes, stay as they were."""
    app = edit(start(FINDINGS), TABLES, "verdict", "model_wrong")
    events = stored(store_path)
    row = row_of(app, TABLES)
    assert {(event.verdict, event.author, event.verified, event.owner) for event in events} == {
        ("model_wrong", "Chidi", False, "")
    }
    assert (row["verdict"], row["own"]) == ("Model wrong", "model_wrong")
    assert row["people"].startswith("Chidi (unverified), ")
    assert [(line["letter"], line["words"], line["after"]) for line in row["lines"]] == [
        ("A", "F1 0.696", "0.758"), ("B", "F1 0.794", "0.812"),
    ]  # fmt: skip
    one = events[0].target
    store(store_path, opinion(one, "ambiguous", author="Chidi", minutes=600_000))
    app = start(FINDINGS)
    app.session_state["reviewer"] = "Chidi"
    # In one message, as the browser sends what is not answered; one is of a row that is not there any more.
    said = {"owner": "Ben", "due": "2026-12-11", "status": "done", "note": "rows"}
    acts = [
        {"id": f"act-{field}", "row": row["key"], "field": field, "value": value, "name": ""}
        for field, value in said.items()
    ]
    app = dashboard.send_event(app, "answered", "edit", [*acts[:3], {**acts[3], "row": "gone"}])
    assert (decisions_of(app)["answered"], app.session_state["verdict_refused"]) == ("act-note", True)
    app = edit(app, TABLES, "note", "rows", act="another-note")
    row = row_of(app, TABLES)
    said = [row[name] for name in ("owner", "due_words", "status_words", "notes")]
    assert said == ["Ben", "11 Dec 2026", "Done", ["rows"]]
    last = {event.target_id: event for event in stored(store_path)}
    assert (last.pop(one.id).verdict, {event.verdict for event in last.values()}) == ("ambiguous", {"model_wrong"})
    # The same message again, and all of it taken back.
    count = len(stored(store_path))
    app = edit(app, TABLES, "note", "rows", act="another-note")
    assert len(stored(store_path)) == count
    app = edit(app, TABLES, "undo", "", act="undo")
    assert {event.action for event in stored(store_path)[count:]} == {"cleared"}
    assert "verdict" not in row_of(app, TABLES)


def test_a_date_that_is_none_is_refused(store_path: Path) -> None:
    app = edit(start(FINDINGS), TABLES, "due", "tomorrow")
    assert "The due date must be a day such as 2026-01-31." in decisions_of(app)["problem"]
    assert not store_path.exists()


def test_without_a_name_nothing_is_kept_and_the_text_stays(store_path: Path) -> None:
    seeded(store_path)
    app = edit(start(FINDINGS), TABLES, "note", "do not lose me", name="")
    assert "NOT SAVED" in text_of(app)
    assert "A verdict needs an author: log in, or type a name." in text_of(app)
    assert "do not lose me" in text_of(app)
    assert len(stored(store_path)) == 6
    app.session_state["reviewer"] = "Chidi"
    assert "NOT SAVED" not in text_of(press(app, "Save again"))
    last = stored(store_path)[-1]
    assert (last.note, last.author) == ("do not lose me", "Chidi")


def test_what_was_stored_without_an_answer_is_not_stored_again(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store took the verdict and its answer was lost: Save again sends it under the id that it had."""
    app, add = start(FINDINGS), Store.add

    def answer_lost(kept: Store, *given: Any, **more: Any) -> None:
        add(kept, *given, **more)
        raise StoreProblem("unreachable", store="findings")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "add", answer_lost)
        app = edit(app, TABLES, "note", "once")
    assert "NOT SAVED" in text_of(app)
    assert "NOT SAVED" not in text_of(press(app, "Save again"))
    assert len(stored(store_path)) == len({event.target_id for event in stored(store_path)})


def test_a_disk_that_refuses_leaves_the_text_marked(store_path: Path) -> None:
    seeded(store_path)
    app = start(FINDINGS)
    content = store_path.read_bytes()
    for name in ("", "-wal", "-shm"):
        Path(f"{store_path}{name}").unlink(missing_ok=True)
    store_path.write_bytes(b"damaged" * 1_000)
    app = edit(app, TABLES, "note", "do not lose me")
    assert "NOT SAVED" in text_of(app)
    assert "do not lose me" in text_of(app)
    assert store_path.read_bytes() == b"damaged" * 1_000
    store_path.write_bytes(content)
    assert "NOT SAVED" not in text_of(press(app, "Save again"))
    assert stored(store_path)[-1].note == "do not lose me"


def about(app: AppTest, page: int, note: str) -> AppTest:
    next(each for each in app.number_input if each.label == "Page").set_value(page)
    app.text_area[-1].set_value(note)
    return press(app, "Save")


def test_a_page_a_document_and_the_comparison(store_path: Path) -> None:
    app = start(FINDINGS)
    app.session_state["reviewer"] = "Chidi"
    about(fine(app.run()), 99, "nothing")
    assert "has no page 99" in app.error[0].value
    assert not store_path.exists()
    for kind in ("page", "document", "comparison"):
        next(each for each in app.get("button_group") if each.label == "About").set_value(kind)
        if kind != "comparison":
            next(each for each in app.selectbox if each.label == "Document").set_value("tram-options.pdf")
        about(app, 2, f"about the {kind}")
    targets = [(event.target.kind, event.target.document, event.target.page) for event in stored(store_path)]
    assert targets == [
        ("page", "tram-options.pdf", 1), ("document", "tram-options.pdf", None), ("comparison", None, None),
    ]  # fmt: skip
    assert [row["title"] for row in decisions_of(app)["rows"][28:]] == [
        "Comparison", "Document: tram-options.pdf", "Page: tram-options.pdf, page 2",
    ]  # fmt: skip


def screen_of(app: AppTest) -> dict[str, Any]:
    (data,) = (payload for each in app.get("bidi_component") if "agenda" in (payload := json.loads(each.proto.json)[0]))
    return dict(data)


def started_meeting() -> AppTest:
    return press(start(FINDINGS), "Start meeting")


def decided(app: AppTest, monkeypatch: pytest.MonkeyPatch, *events: dict[str, Any]) -> AppTest:
    """The view after decisions that the component sends; AppTest has no events of components."""
    left = [events]

    def once(*, on_decide_change: Any, **_: Any) -> None:
        if left:
            on_decide_change()
            left.clear()

    with monkeypatch.context() as patch:
        patch.setattr(meeting.meeting, "_mount", once)
        patch.setattr(meeting, "report", lambda key: {"decide": list(left[0])} if left else None)
        app.run()
    assert not left
    return fine(app.run())


DECISION = {
    "id": "one-act", "example": 0, "whole": True, "verdict": "model_wrong", "note": "scans", "owner": "Ben",
    "due": "2026-12-05", "status": "open", "name": "Anna", "onward": True,
}  # fmt: skip


def test_the_agenda_has_the_causes_by_boxes_and_what_is_no_mistake(store_path: Path) -> None:
    seeded(store_path)
    data = screen_of(started_meeting())
    boxes = [[int(each) for each in row["wrong"].split(" / ")] for row in data["agenda"] if row["wrong"]]
    assert list(map(sum, zip(*boxes, strict=True))) == [302, 196]
    # The cause that fails the rule comes first.
    worse = list(map(max, boxes))[1:]
    assert worse == sorted(worse, reverse=True)
    assert [row["title"] for row in data["agenda"] if not row["wrong"]] == [
        "Document: gone.pdf", "Page: groundwater-note.pdf, page 1",
    ]  # fmt: skip
    assert (data["title"], data["examples"]) == ("Several Text boxes read as one Text", 5)
    assert data["sentence"] == "A: none. B: 19 wrong boxes at 5 places in 3 documents."
    assert [pane["letter"] for pane in data["page"]["panes"]] == ["A", "B"]


def test_a_decision_is_a_verdict_on_every_mistake_of_the_item_and_goes_on(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = started_meeting()
    title = "Several boxes read as one Figure"
    item = next(row["key"] for row in screen_of(app)["agenda"] if row["title"] == title)
    sent = {**DECISION, "item": item}
    app.session_state["meeting_item"] = item
    app = decided(app, monkeypatch, sent)
    events = stored(store_path)
    # The 34 boxes that both miss are one finding each, and each model has three boxes of its own.
    assert len(events) == 40
    assert {(event.verdict, event.note, event.owner, event.due, event.author) for event in events} == {
        ("model_wrong", "scans", "Ben", "2026-12-05", "Anna")
    }
    data = screen_of(app)
    assert data["title"] != title
    (row,) = (row for row in data["agenda"] if row["key"] == item)
    assert (row["state"], row["done"]) == ("Model wrong", True)
    said = data["decided"][0]
    assert (said["words"], said["task"]) == ("Model wrong, 1 of 1 reviewer", "Ben, due 5 Dec 2026, open")
    told = next(row for row in data["minutes"].replace("\\", "").splitlines() if row.startswith(f"| {title} |"))
    assert all(each in told for each in ("page_browser?doc=scanned", "Model wrong", "| Ben | 5 Dec 2026 | Open |"))
    # The same message again, and one of a second reviewer.
    app = decided(app, monkeypatch, sent)
    assert len(stored(store_path)) == 40
    app.session_state[dashboard.key_of(app, "reviewer")] = "Ben"
    app = decided(app, monkeypatch, sent, {**sent, "id": "two-acts", "name": ""})
    assert (screen_of(app)["answered"], len(stored(store_path))) == ("two-acts", 80)
    assert [row["state"] for row in screen_of(app)["agenda"] if row["key"] == item] == ["Model wrong, agreed"]


def test_who_presents_is_told_when_nobody_can_follow(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise StoreProblem("read_only", store="findings.sqlite")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "present", refused)
        live = screen_of(started_meeting())["live"]
    assert (live["role"], live["words"].partition(". ")[0]) == ("alone", "Nobody can follow")
    live = screen_of(started_meeting())["live"]
    assert (live["role"], live["words"].partition(". ")[0]) == ("presents", "You present")


def test_who_presents_may_move_on_while_a_follower_is_drawn(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the browser asks for tells it, without a run, and what it says then draws the meeting again."""
    first, second = (row["key"] for row in screen_of(started_meeting())["agenda"][:2])
    rows_of, left, answers = decision_rows.rows_of, [second], list[Callable[[], bytes]]()

    def meanwhile(loaded: LoadedBoxes) -> object:
        while left:
            with Store(store_path) as opened:
                now = opened.meeting()
                assert now is not None
                opened.present(msgspec.structs.replace(now, item=left.pop()))
        return rows_of(loaded)

    monkeypatch.setattr(findings, "_PULSE_SECONDS", 0.0)
    monkeypatch.setattr(decision_rows, "rows_of", meanwhile)
    monkeypatch.setattr(routes, "answer_address", lambda view, of, answer: answers.append(answer) or "there")
    app = start(FINDINGS, meeting="yes")
    follower = screen_of(app)
    assert (follower["live"]["role"], follower["item"]) == ("follows", first)
    assert answers[-1]().decode() not in ("", follower["live"]["seen"])
    follower = screen_of(send_event(app, "agenda", "changed", value=True))
    assert (follower["live"]["role"], follower["item"]) == ("follows", second)
    assert answers[-1]().decode() == follower["live"]["seen"]

    def unanswered(*_: object) -> None:
        raise StoreProblem("unreachable", store="findings.sqlite")

    monkeypatch.setattr(Store, "meeting", unanswered)
    assert answers[-1]() == b"", "nobody is led away from the place by a store that does not answer"


def test_who_presents_stays_while_looking_at_other_views(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = started_meeting()
    monkeypatch.setattr(findings, "_PULSE_SECONDS", 0.0)
    with Store(store_path) as opened:
        told = opened.meeting()
        assert told is not None
        early = told.time - timedelta(minutes=4)
        opened.present(msgspec.structs.replace(told, time=early))
        # A view is run without app.py here.
        go(app, "app.py")
        heard = opened.meeting()
    assert heard is not None
    assert heard.time > told.time
    assert msgspec.structs.replace(heard, time=told.time) == told


def test_a_name_that_is_half_a_character_is_shown_escaped_and_presented(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = started_meeting()
    item = screen_of(app)["item"]
    app = decided(app, monkeypatch, {**DECISION, "item": item, "name": "Zo\ud800", "example": 10**30, "whole": False})
    assert screen_of(app)["reviewer"] == r"Zo\ud800"
    with Store(store_path) as opened:
        now = opened.meeting()
    assert now is not None
    assert (now.presenter, now.example) == (r"Zo\ud800", 0)


def test_only_this_place_and_no_date_that_is_none(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = started_meeting()
    title = "Several boxes read as one Figure"
    item = app.session_state["meeting_item"] = next(
        row["key"] for row in screen_of(app)["agenda"] if row["title"] == title
    )
    sent = {**DECISION, "item": item, "example": 1, "whole": False, "verdict": "ignore", "note": "", "owner": ""}
    app = decided(app, monkeypatch, {**sent, "due": "tomorrow", "status": ""})
    assert "The due date must be a day such as 2026-01-31." in screen_of(app)["problem"]
    assert not stored(store_path)
    app = decided(app, monkeypatch, {**sent, "id": "another", "due": "", "status": ""})
    assert len(stored(store_path)) == 12
    data = screen_of(app)
    assert (data["item"], data["example"]) == (item, 2)
    assert next(row["state"] for row in data["agenda"] if row["key"] == item) == "23 of 74 judged"


@pytest.mark.parametrize("count", [1, 3])
def test_a_verdict_sent_twice_is_one_event_on_each_mistake(store_path: Path, count: int) -> None:
    """With the name that was typed at the first verdict."""

    def judged(targets, given):  # type: ignore[no-untyped-def]
        from evaluator.components.viewer.payload import VerdictEvent
        from pages.views.findings import findings

        ids = tuple(target.id for target in targets)
        more = {"targets": (*ids, "not on this page")} if len(ids) > 1 else {}
        event = VerdictEvent(target=ids[0], **more, **given)
        for known in ({target.id: target for target in targets},) * 2 + ({},):
            assert findings.save_event(event, known) is None

    given = {
        "id": "one-act", "document": "a.pdf", "index": 0, "number": 1, "keys": ("g1",),
        "verdict": "model_wrong", "note": "one table", "name": " Ngozi ",
    }  # fmt: skip
    targets = sample_targets()[:count]
    fine(AppTest.from_function(judged, kwargs={"targets": targets, "given": given}, default_timeout=60).run())
    events = stored(store_path)
    assert [event.target_id for event in events] == [target.id for target in targets]
    assert [event.id for event in events] == ["one-act", "one-act-1", "one-act-2"][:count]
    assert {(event.author, event.verified, event.note) for event in events} == {("Ngozi", False, "one table")}


def test_a_name_given_with_a_verdict_outlives_a_message_sent_before_it_was_drawn(store_path: Path) -> None:
    """The browser sends what all its fields hold with each message; the field of the name was still empty."""

    def named() -> None:
        import streamlit as st

        from pages.views.findings import findings

        findings.ask_author()
        st.button("Give", on_click=lambda: findings.set_author(" Ada "))
        st.button("Forget", on_click=lambda: findings.set_author(" "))
        st.caption(f"{findings.author()}")

    app = AppTest.from_function(named, default_timeout=60).run()

    def shown() -> tuple[str, str]:
        fine(app)
        return str(app.text_input[0].value), app.caption[0].value

    before = app._tree.get_widget_states()
    app.button[0].click().run()
    assert shown() == ("Ada", "('Ada', False)")
    app._run(before)
    assert shown() == ("Ada", "('Ada', False)")
    app.button[1].click().run()
    app.button[0].click().run()
    assert shown()[1] == "('Ada', False)"
    app.text_input[0].set_value("Ben").run()
    assert shown() == ("Ben", "('Ben', False)")
    app.run()
    assert shown() == ("Ben", "('Ben', False)")


def test_a_name_goes_along_to_another_view(store_path: Path) -> None:
    """The field of another view is another widget; a finding whose verdict can be changed asks for a name."""
    seeded(store_path)
    app = start(dashboard.SUSPECTS)
    (field,) = [each for each in app.text_input if each.label == "Your name"]
    fine(field.set_value("Ada").run())
    go(app, FINDINGS)
    assert [each.value for each in app.text_input if each.label.startswith("Your name")] == ["Ada"]


def test_mistakes_of_one_cause_stand_together(store_path: Path) -> None:
    data = dashboard.viewer(start(PAGE_BROWSER, doc="harvest-survey-2024.pdf", page="4"))
    assert {(len(each["target"]), each.get("verdict")) for each in data["mistakes"]} == {(32, None)}
    cause = data["causes"][0]
    assert (cause["title"], cause["alike"]) == ("Table read as 14 boxes", 7)
    first = cause["numbers"][0]
    assert cause["numbers"] == list(range(first, first + 15))
    assert [each["number"] for each in data["mistakes"]] == list(range(1, len(data["mistakes"]) + 1))
    listed = [number for each in data["causes"] for number in each["numbers"]]
    assert len(listed) == len(set(listed))


def test_findings_lie_beside_the_ground_truth_or_where_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = tmp_path / "truth.json", tmp_path / "truth"
    file.write_text("{}")
    folder.mkdir()
    for truth in (file, folder):
        assert store_address(truth, environment={}) == str(tmp_path / "layoutscope-findings.sqlite")
    assert store_address(file, environment={FINDINGS_VARIABLE: "postgresql://x"}) == "postgresql://x"
    assert store_address(file, named="a.sqlite", environment={FINDINGS_VARIABLE: "b"}) == "a.sqlite"
    # Those of uploads, and of the sample, are of the state of the user.
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    wanted = str(tmp_path / ".local/state/layoutscope/layoutscope-findings.sqlite")
    assert store_address(None, environment={}) == wanted
    assert is_bundled(SAMPLE_DATA / "ground_truth.json")
    assert is_bundled(SAMPLE_READING / "ground_truth.jsonl")


@pytest.mark.parametrize(
    ("platform", "given", "wanted"),
    [
        ("linux", "/s", "/s/layoutscope"),
        ("linux", "relative", "/h/.local/state/layoutscope"),
        ("darwin", "/s", "/h/Library/Application Support/LayoutScope"),
        ("win32", "/s", "/l/LayoutScope"),
    ],
)
def test_state_folders(platform: str, given: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What users have saved is found: these places are those of every version."""
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_STATE_HOME", given)
    if platform == "win32":
        monkeypatch.setattr("platformdirs.windows.get_win_folder", {"CSIDL_LOCAL_APPDATA": "/l"}.__getitem__)
        monkeypatch.setattr("platformdirs.PlatformDirs", platformdirs.windows.Windows)
    monkeypatch.setattr("sys.platform", platform)
    assert state_folder() == Path(wanted)


def sampling() -> AppTest:
    app = start(FINDINGS, queue="sample")
    app.session_state["reviewer"] = "Anna"
    return go(app, QUEUE)


def drawn(app: AppTest) -> list[tuple[str, int, bool]]:
    cards = dashboard.component(app, "cards")["cards"]
    return [(card["document"], card["index"], "reviewed" in card["facts"]) for card in cards]


def mark_reviewed(app: AppTest, place: int, key: str = "plan_page_done") -> None:
    card = dashboard.component(app, "cards")["cards"][place]
    dashboard.send_event(app, "cards", "open", card["key"])
    assert dashboard.title(app) == "Pages"
    go(app, PAGE_BROWSER)
    assert (app.session_state["doc"], app.session_state["page"]) == (card["document"], card["index"])
    fine(app.button(key=key).click().run())
    go(app, QUEUE)


def test_the_review_sample_is_a_queue_with_its_bound_and_its_end(store_path: Path) -> None:
    """Reviewed pages count at once, and the sentence and the cards say the same."""
    app = sampling()
    assert app.query_params["queue"] == "sample"
    assert dashboard.title(app) == "Queue"
    pages = drawn(app)
    assert [reviewed for *_, reviewed in pages] == [False] * 20
    mark_reviewed(app, 0)
    assert [reviewed for *_, reviewed in drawn(app)] == [True, *[False] * 19]
    store(store_path, *(opinion(page_target(*page), None, tags=("reviewed",)) for *page, _ in pages[2:]))
    # Only pages up to the first that is left out are a random sample of all.
    assert "1 of 20 pages reviewed" in text_of(go(app, QUEUE))
    mark_reviewed(app, 1)
    assert {reviewed for *_, reviewed in drawn(app)} == {True}
    assert "The review may stop here." in dashboard.words(app)
    known = [line for line in dashboard.words(app) if "known to ±" in line]
    assert len(known) == 2
    assert all("20 of 20 pages reviewed, enough for ±3 points." in line for line in known)
    with Store(store_path) as kept:
        assert len(kept.log().judged) == 20


def test_a_page_of_the_review_sample_is_taken_back_and_keeps_its_note(store_path: Path) -> None:
    app = sampling()
    document, page, _ = drawn(app)[0]
    store(store_path, opinion(page_target(document, page), None, note="Scan is bad"))
    fine(app.run())
    for key, tags in (("plan_page_done", ("reviewed",)), ("plan_page_undone", ())):
        mark_reviewed(app, 0, key)
        with Store(store_path) as kept:
            (judged,) = kept.log().judged.values()
        assert [(event.note, event.tags) for event in judged.opinions] == [("Scan is bad", tags)]
    assert not drawn(app)[0][2]


def test_each_count_of_the_modes_opens_exactly_so_many(store_path: Path, tmp_path: Path) -> None:
    """Whatever was chosen there before, and with verdicts of any kind."""
    store(store_path, *(opinion(target, "ambiguous") for target in sample_targets()[:60]))
    models = [SAMPLE / "lines.json", SAMPLE / "blocks.json"]
    app = start(
        FINDINGS, decided="decided", files=dashboard.workspace(write_spoilt(tmp_path, sample_dataset()), models)
    )
    go(app, GALLERY)
    app.session_state["label"], app.session_state["suspect_kind"] = "Text", "extra"
    counts = {}
    for view, name in ((FINDINGS, "Decisions"), (QUEUE, "Queue"), (SUSPECTS, "Suspects")):
        app.query_params.clear()
        go(app, view)
        counts[view] = {
            word: int(count) for word, count in re.findall(r"(Decisions|Queue|Suspects) ([\d,]+)", modes(app))
        }
        assert set(counts[view]) == {"Decisions", "Queue", "Suspects"}
        listed = {
            FINDINGS: lambda: len(dashboard.component(app, "owners")["rows"]),
            QUEUE: lambda: len(dashboard.component(app, "cards")["cards"]),
            SUSPECTS: lambda: sum(
                "suspects" in each and len(each["suspects"]) for each in dashboard.every_component(app)
            ),
        }[view]()
        assert listed == counts[view][name]
    assert counts[FINDINGS] == counts[QUEUE] == counts[SUSPECTS]
    assert 0 < counts[QUEUE]["Queue"] < len(snapshot.pair(sample()).match().at(0.5).causes)
    assert counts[QUEUE]["Suspects"] > 0


def modes(app: AppTest) -> str:
    links = [each.proto.label for each in app.get("page_link")]
    return " ".join([*links, *dashboard.read_html(dashboard.block(app, "ls-mode")).words])
