"""The view of findings under AppTest, and what the session holds: saved, not saved, imported, in a meeting."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs.windows
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.protocols import snapshot
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import corrections
from evaluator.review.findings_export import to_csv
from evaluator.review.identity import mistake_targets, page_target
from evaluator.review.problems import StoreProblem
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE, FINDINGS_WORKSPACE_VARIABLE, state_folder, store_address
from evaluator.review.verdicts import Target
from tests import dashboard
from tests.dashboard import PAGE_BROWSER, SAMPLE_DATA, fine, go, start, words
from tests.judging import opinion
from tests.sample_results import sample

FINDINGS = "pages/findings.py"


@cache
def sample_targets() -> tuple[Target, ...]:
    """The mistakes of the first model of the sample, page by page."""
    scored = snapshot.pair(sample()).match().at(0.5)
    return tuple(target for page in range(sample().pages) for target in mistake_targets(scored, page).targets)


def seeded(path: Path) -> list[Target]:
    """Six findings: one of each kind, a conflict, a page, and one that is no longer there."""
    targets = sample_targets()
    missed = next(target for target in targets if target.mistake == "missed")
    others = [target for target in targets if target is not missed][:3]
    with Store(path) as store:
        store.add(
            [
                opinion(missed, "ground_truth_wrong", note="<b>nothing</b> here", tags=["guideline"]),
                opinion(others[0], "model_wrong", minutes=1),
                opinion(others[1], "ambiguous", minutes=2),
                opinion(others[1], "ignore", author="Ben", minutes=3),
                opinion(page_target("groundwater-note.pdf", 0), None, note="skewed", minutes=4),
                opinion(Target(kind="document", document="gone.pdf"), "ignore", author="Ben", minutes=5),
            ]
        )
    return [missed, *others]


def text_of(app: AppTest) -> str:
    """Everything that is on the screen as HTML or caption."""
    words = [each.proto.body for each in app.get("html")] + [each.value for each in app.caption]
    return "\n".join(words)


def corrected_of(app: AppTest) -> list[str]:
    """The corrected numbers that are beside official ones."""
    return re.findall(r"corrected (\d\.\d{3})", text_of(app))


class TestBesideOfficialNumbers:
    def test_overview_compare_and_page_browser_show_what_the_verdicts_change(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seeded(store_path)
        with Store(store_path) as store:
            to = corrections(sample(), store.log())
        every = []
        for model in (0, 1):
            official = snapshot.pair(sample(), model).match().at(0.5)
            again = corrected_result(official, to).result.micro
            names = ("f1", "precision", "recall")
            both = [[f"{getattr(micro, name)[0]:.3f}" for name in names] for micro in (official.micro, again)]
            every.append([after for before, after in zip(*both, strict=True) if before != after])
        assert every[0] != []
        assert every[1] != []
        overview = start(monkeypatch)
        assert corrected_of(overview) == every[0] + every[1]
        assert "On the ground truth as 1 agreed verdict of reviewers corrects it" in text_of(overview)
        assert corrected_of(start(monkeypatch, "pages/compare.py")) == every[0] + every[1]
        assert sorted(corrected_of(start(monkeypatch, PAGE_BROWSER))) == sorted(every[0])

    def test_without_a_verdict_that_changes_them_there_are_none(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert corrected_of(start(monkeypatch)) == []
        with Store(store_path) as store:
            store.add([opinion(sample_targets()[0], "model_wrong")])
        for view in ("pages/overview.py", "pages/compare.py", PAGE_BROWSER):
            assert corrected_of(start(monkeypatch, view)) == []


def queue_of(app: AppTest) -> Any:
    """The list of findings."""
    return next(frame.value for frame in app.dataframe if "Verdict" in frame.value)


class TestView:
    def test_nothing_is_judged_yet(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, FINDINGS)
        assert "Nothing has been judged yet." in text_of(app)
        assert not store_path.exists()

    def test_the_queue_says_verdict_state_and_who(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        rows = queue_of(app)
        # Groups by cost: two findings of one formula, a table, then those that are no mistake, the newest first.
        assert rows["Verdict"].tolist() == ["≠ Reviewers differ", "◆ Ground truth wrong", "○ Ignore", "✎ Note only"]
        assert rows["Boxes"].tolist()[:2] == [2, 1]
        assert rows["Judged"].tolist() == ["2 of 3", "1 of 9", "", ""]
        assert rows["State"].tolist() == [*["Still present in this run"] * 2, "Not open", "Still present in this run"]
        assert rows["Who"].tolist() == ["Anna, Ben", "Anna", "Ben", "Anna"]
        assert rows["Note"].tolist()[1] == "<b>nothing</b> here"
        assert "5 findings · 1 conflict · 0 agreed by two reviewers" in text_of(app)
        assert "5 of 5 findings in 4 groups, 3 boxes to correct, costliest first" in text_of(app)
        assert (len(rows), rows["Boxes"].sum()) == (4, 3)

        shown = text_of(app)
        assert "<td>official</td><td>345</td><td>189</td><td>113</td>" in shown
        assert "<td>corrected</td><td>345</td><td>189</td><td>112</td>" in shown
        assert "<td>change</td><td>±0</td><td>±0</td><td>−1</td>" in shown
        assert "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · corrected, 1 verdict applied" in shown

    def test_filters(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        for name, value, nothing, left in (
            ("finding_state", "past", "", ["○ Ignore"]),
            ("finding_verdicts", ["conflict", "note"], [], ["≠ Reviewers differ", "✎ Note only"]),
            ("finding_author", "Ben", "", ["≠ Reviewers differ", "○ Ignore"]),
            ("finding_tag", "guideline", "", ["◆ Ground truth wrong"]),
        ):
            app.session_state[name] = value
            assert queue_of(fine(app.run()))["Verdict"].tolist() == left, name
            if name == "finding_tag":
                shown = text_of(app)
                assert "&lt;b&gt;nothing&lt;/b&gt; here" in shown
                assert "<b>nothing" not in shown, "text of reviewers is shown as text"
            app.session_state[name] = nothing
        app.session_state["finding_author"] = "Ben"
        app.session_state["finding_tag"] = "guideline"
        fine(app.run())
        assert "No finding passes the filter; there are 5 findings." in text_of(app)
        fine(next(button for button in app.button if button.label == "Clear filter").click().run())
        assert len(queue_of(app)) == 4

    def test_a_damaged_store_is_told(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        store_path.write_bytes(b"no database" * 500)
        app = start(monkeypatch, FINDINGS)
        assert "The findings file is damaged" in app.error[0].value
        assert "findings cannot be read" in text_of(app)
        assert store_path.read_bytes() == b"no database" * 500


class TestVerdict:
    def verdict(self, app: AppTest, words: str) -> AppTest:
        """Press one of the four buttons."""
        return fine(next(button for button in app.button if words in button.label).click().run())

    def test_it_is_kept_under_the_name_of_the_reviewer(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        targets = seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        app.session_state["finding_tag"] = "guideline"
        app.session_state["reviewer"] = " Chidi "
        fine(app.run())
        app.session_state["finding_single"] = targets[0].id
        fine(app.run())
        app.text_area[0].input("seen").run()
        self.verdict(app, "Model wrong")
        with Store(store_path) as store:
            last = store.events()[-1]
        assert (last.target_id, last.verdict, last.note, last.author, last.verified) == (
            targets[0].id, "model_wrong", "seen", "Chidi", False,
        )  # fmt: skip
        assert "≠ Reviewers differ" in queue_of(app)["Verdict"].tolist()
        # One's own opinion can be taken back; the history stays.
        fine(next(button for button in app.button if button.label == "Undo").click().run())
        with Store(store_path) as store:
            assert [event.action for event in store.events()][-2:] == ["judged", "cleared"]

    def test_one_verdict_for_all_mistakes_of_a_cause(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        app.session_state["finding_tag"] = "guideline"
        app.session_state["reviewer"] = "Chidi"
        fine(app.run())
        (reach,) = (each for each in app.selectbox if each.label == "The verdict is for")
        assert reach.options[0] == "All 9 mistakes of this cause"
        self.verdict(app, "Ground truth wrong")
        with Store(store_path) as store:
            events = store.events()[6:]
        assert len({event.target_id for event in events}) == 9
        assert {(event.verdict, event.author) for event in events} == {("ground_truth_wrong", "Chidi")}
        app.session_state["finding_tag"] = ""
        rows = queue_of(fine(app.run()))
        assert rows["Judged"].tolist()[0] == "9 of 9"

    def test_without_a_name_nothing_is_kept_and_the_text_stays(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        app.text_area[0].input("do not lose me").run()
        self.verdict(app, "Ignore")
        assert "NOT SAVED" in text_of(app)
        assert "A verdict needs an author: log in, or type a name." in text_of(app)
        assert "NOT SAVED" in app.error[0].value
        assert app.text_area[0].value == "do not lose me"
        with Store(store_path) as store:
            assert len(store.events()) == 6
        app.session_state["reviewer"] = "Chidi"
        fine(next(button for button in app.button if button.label == "Save again").click().run())
        assert "NOT SAVED" not in text_of(app)
        with Store(store_path) as store:
            assert (store.events()[-1].note, store.events()[-1].author) == ("do not lose me", "Chidi")

    def test_what_was_stored_without_an_answer_is_not_stored_again(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The store took the verdict and its answer was lost: Save again sends it under the id that it had."""
        seeded_missed = seeded(store_path)[0].id
        app = start(monkeypatch, FINDINGS)
        app.session_state["reviewer"] = "Chidi"
        app.session_state["finding_tag"] = "guideline"
        fine(app.run())
        app.session_state["finding_single"] = seeded_missed
        fine(app.run())
        app.text_area[0].input("once").run()
        add = Store.add

        def answer_lost(store: Store, events: Any, workspace: str = "") -> None:
            add(store, events, workspace)
            raise StoreProblem("unreachable", store="findings")

        with monkeypatch.context() as broken:
            broken.setattr(Store, "add", answer_lost)
            self.verdict(app, "Ignore")
        assert "NOT SAVED" in text_of(app)
        fine(next(button for button in app.button if button.label == "Save again").click().run())
        assert "NOT SAVED" not in text_of(app)
        with Store(store_path) as store:
            assert [event.note for event in store.events()].count("once") == 1

    def test_a_disk_that_refuses_leaves_the_text_marked(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        app.session_state["reviewer"] = "Chidi"
        app.text_area[0].input("do not lose me").run()
        content = store_path.read_bytes()
        for name in ("", "-wal", "-shm"):
            Path(f"{store_path}{name}").unlink(missing_ok=True)
        store_path.write_bytes(b"damaged" * 1_000)
        self.verdict(app, "Ignore")
        shown = text_of(app)
        assert "NOT SAVED" in shown
        assert "do not lose me" in shown
        assert store_path.read_bytes() == b"damaged" * 1_000
        store_path.write_bytes(content)
        fine(next(button for button in app.button if button.label == "Save again").click().run())
        assert "NOT SAVED" not in text_of(app)
        with Store(store_path) as store:
            assert store.events()[-1].note == "do not lose me"


class TestMore:
    """Pages, documents and the comparison."""

    def test_a_page_a_document_and_the_comparison(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, FINDINGS)
        app.session_state["reviewer"] = "Chidi"
        for kind, document in (("page", "tram-options.pdf"), ("document", "tram-options.pdf"), ("comparison", None)):
            next(each for each in app.get("button_group") if each.label == "About").set_value(kind)
            if document is not None:
                next(each for each in app.selectbox if each.label == "Document").set_value(document)
            next(each for each in app.number_input if each.label == "Page").set_value(2)
            app.text_area[-1].set_value(f"about the {kind}")
            fine(next(button for button in app.button if button.label == "Save").click().run())
        with Store(store_path) as store:
            targets = [(event.target.kind, event.target.document, event.target.page) for event in store.events()]
        assert targets == [
            ("page", "tram-options.pdf", 1), ("document", "tram-options.pdf", None), ("comparison", None, None),
        ]  # fmt: skip
        assert len(queue_of(app)) == 3

    def test_a_page_that_there_is_not(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, FINDINGS)
        app.session_state["reviewer"] = "Chidi"
        next(each for each in app.number_input if each.label == "Page").set_value(99)
        app.text_area[-1].set_value("nothing")
        fine(next(button for button in app.button if button.label == "Save").click().run())
        assert "has no page 99" in app.error[0].value
        assert not store_path.exists()


def screen_of(app: AppTest) -> dict[str, Any]:
    """What the component of the meeting was given."""
    (data,) = (payload for each in app.get("bidi_component") if "agenda" in (payload := json.loads(each.proto.json)))
    return dict(data)


class TestMeeting:
    def meeting(self, monkeypatch: pytest.MonkeyPatch) -> AppTest:
        app = start(monkeypatch, FINDINGS)
        return fine(next(button for button in app.button if button.label == "Start a meeting").click().run())

    def test_the_agenda_has_the_causes_by_cost_and_what_is_no_mistake(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seeded(store_path)
        data = screen_of(self.meeting(monkeypatch))
        costs = [int(row["boxes"]) for row in data["agenda"] if row["boxes"]]
        assert costs == sorted(costs, reverse=True)
        assert sum(costs) == 172
        assert [row["title"] for row in data["agenda"] if not row["boxes"]] == [
            "Document: gone.pdf", "Page: groundwater-note.pdf, page 1",
        ]  # fmt: skip
        assert (data["letter"], data["title"], data["examples"]) == ("B", "Extra: Text", 37)
        assert (
            data["sentence"] == "B: 37 boxes to correct, 37 places on 14 pages of 7 documents. A: 41 boxes, 41 places."
        )
        assert [pane["letter"] for pane in data["page"]["panes"]] == ["A", "B"]

    def test_a_decision_is_a_verdict_on_every_mistake_of_the_item_and_goes_on(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = self.meeting(monkeypatch)
        data = screen_of(app)
        item = next(row["key"] for row in data["agenda"] if row["title"] == "Several boxes read as one Figure")
        sent = {
            "id": "one-act", "item": item, "example": 0, "whole": True, "verdict": "model_wrong", "note": "scans",
            "owner": "Ben", "due": "2026-12-05", "status": "open", "name": "Anna", "onward": True,
        }  # fmt: skip
        app.session_state["meeting_item"] = item
        app = decided(app, monkeypatch, sent)
        with Store(store_path) as store:
            events = store.events()
        assert len(events) == 37
        assert {(event.verdict, event.note, event.owner, event.due, event.author) for event in events} == {
            ("model_wrong", "scans", "Ben", "2026-12-05", "Anna")
        }
        data = screen_of(app)
        assert data["title"] != "Several boxes read as one Figure"
        (row,) = (row for row in data["agenda"] if row["key"] == item)
        assert (row["state"], row["done"]) == ("Model wrong", True)
        assert data["decided"][0]["words"] == "Model wrong, 1 of 1 reviewer"
        assert data["decided"][0]["task"] == "Ben, due 2026-12-05, open"
        assert "| Several boxes read as one Figure | 37 | Model wrong" in data["minutes"].replace("\\", "")
        # The same message again, and one of a second reviewer.
        app = decided(app, monkeypatch, sent)
        with Store(store_path) as store:
            assert len(store.events()) == 37
        app.session_state[dashboard.key_of(app, "reviewer")] = "Ben"
        app = decided(app, monkeypatch, {**sent, "id": "two-acts", "name": ""})
        (row,) = (row for row in screen_of(app)["agenda"] if row["key"] == item)
        assert row["state"] == "Model wrong, agreed"

    def test_only_this_place_and_no_date_that_is_none(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        app = self.meeting(monkeypatch)
        sent = {
            "id": "one-act", "item": screen_of(app)["item"], "example": 1, "whole": False, "verdict": "ignore",
            "note": "", "owner": "", "due": "", "status": "", "name": "Anna", "onward": True,
        }  # fmt: skip
        app = decided(app, monkeypatch, {**sent, "due": "tomorrow"})
        assert "The due date must be a day such as 2026-01-31." in screen_of(app)["problem"]
        assert not store_path.exists()
        app = decided(app, monkeypatch, sent)
        with Store(store_path) as store:
            assert len(store.events()) == 1
        data = screen_of(app)
        assert (data["item"], data["example"]) == (sent["item"], 2)
        assert next(row["state"] for row in data["agenda"] if row["key"] == sent["item"]) == "1 of 37 judged"


def decided(app: AppTest, monkeypatch: pytest.MonkeyPatch, event: dict[str, Any]) -> AppTest:
    """The view after a decision that the component sends; AppTest has no events of components."""

    def once(payload: Any, *, key: str, on_decide: Any, **on: Any) -> None:
        if event:
            sent.append(True)
            on_decide()
            event_left.clear()

    sent: list[bool] = []
    event_left = [event]
    import pages.views.findings.meeting as view

    with monkeypatch.context() as patch:
        patch.setattr(view, "meeting", once)
        patch.setattr(view, "report", lambda key: {"decide": event_left[0]} if event_left else None)
        app.run()
    assert sent
    return fine(app.run())


class TestImport:
    def test_files_of_others(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seeded(store_path)
        app = start(monkeypatch, FINDINGS)
        content = to_csv([opinion(page_target("tram-options.pdf", 0), "ignore", author="Dana", verified=True)]).encode()
        app.file_uploader[0].upload("dana.csv", content, "text/csv")
        fine(next(button for button in app.button if button.label == "Import").click().run())
        assert "1 event imported, 0 were there already." in app.success[0].value
        with Store(store_path) as store:
            last = store.events()[-1]
        assert (last.author, last.verified, last.source) == ("Dana", False, "dana.csv")


class TestPageBrowser:
    def test_a_verdict_of_the_viewer_is_kept(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, PAGE_BROWSER, doc="groundwater-note.pdf", page="3")
        data = dashboard.viewer(app)
        mistake = data["mistakes"][0]
        assert mistake.get("verdict") is None
        assert len(mistake["target"]) == 32

    def test_a_message_sent_twice_is_one_event(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def sent_twice(target, given):  # type: ignore[no-untyped-def]
            from evaluator.components.viewer.payload import VerdictEvent
            from pages.views.findings import findings

            event = VerdictEvent(target=target.id, **given)
            assert [findings.save_event(event, {target.id: target}) for _ in range(2)] == [None, None]
            assert findings.save_event(event, {}) is None

        monkeypatch.setattr("pages.views.findings.findings.author", lambda: ("Anna", False))
        given = {
            "id": "one-act", "document": "a.pdf", "index": 0, "number": 1, "keys": ("g1",),
            "verdict": "ignore", "note": "",
        }  # fmt: skip
        kwargs = {"target": sample_targets()[0], "given": given}
        fine(AppTest.from_function(sent_twice, kwargs=kwargs, default_timeout=60).run())
        with Store(store_path) as store:
            assert [event.id for event in store.events()] == ["one-act"]

    def test_a_verdict_on_a_cause_is_one_event_on_each_mistake(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With the name that was typed at the first verdict; sent again, nothing is stored twice."""

        def judged(targets, given):  # type: ignore[no-untyped-def]
            from evaluator.components.viewer.payload import VerdictEvent
            from pages.views.findings import findings

            ids = tuple(target.id for target in targets)
            event = VerdictEvent(target=ids[0], targets=(*ids, "not on this page"), **given)
            for _ in range(2):
                assert findings.save_event(event, {target.id: target for target in targets}) is None

        given = {
            "id": "one-act", "document": "a.pdf", "index": 0, "number": 1, "keys": ("g1",),
            "verdict": "model_wrong", "note": "one table", "name": " Ngozi ",
        }  # fmt: skip
        targets = sample_targets()[:3]
        fine(AppTest.from_function(judged, kwargs={"targets": targets, "given": given}, default_timeout=60).run())
        with Store(store_path) as store:
            events = store.events()
        assert [event.target_id for event in events] == [target.id for target in targets]
        assert [event.id for event in events] == ["one-act", "one-act-1", "one-act-2"]
        assert {(event.author, event.verified, event.note) for event in events} == {("Ngozi", False, "one table")}

    def test_a_name_given_with_a_verdict_outlives_a_message_sent_before_it_was_drawn(self, store_path: Path) -> None:
        """The browser sends what all its fields hold with each message; the field of the name was still empty."""

        def named() -> None:
            import streamlit as st

            from pages.views.findings import findings

            findings.ask_author()
            st.button("Give", on_click=lambda: findings.set_author(" Ada "))
            st.button("Forget", on_click=lambda: findings.set_author(" "))
            st.caption(f"{findings.author()}")

        app = AppTest.from_function(named, default_timeout=60).run()
        before = app._tree.get_widget_states()
        fine(app.button[0].click().run())
        assert (app.text_input[0].value, app.caption[0].value) == ("Ada", "('Ada', False)")
        fine(app._run(before))
        assert (app.text_input[0].value, app.caption[0].value) == ("Ada", "('Ada', False)")
        fine(app.button[1].click().run())
        fine(app.button[0].click().run())
        assert app.caption[0].value == "('Ada', False)"
        fine(app.text_input[0].set_value("Ben").run())
        assert (app.text_input[0].value, app.caption[0].value) == ("Ben", "('Ben', False)")
        fine(app.run())
        assert (app.text_input[0].value, app.caption[0].value) == ("Ben", "('Ben', False)")

    def test_a_name_goes_along_to_another_view(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The field of another view is another widget; a finding whose verdict can be changed asks for a name."""
        seeded(store_path)
        app = start(monkeypatch, PAGE_BROWSER)
        (field,) = [each for each in app.text_input if each.label == "Your name"]
        fine(field.set_value("Ada").run())
        go(app, FINDINGS)
        assert [each.value for each in app.text_input if each.label.startswith("Your name")] == ["Ada"]

    def test_mistakes_of_one_cause_stand_together(self, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, PAGE_BROWSER, doc="harvest-survey-2024.pdf", page="4")
        data = dashboard.viewer(app)
        cause = data["causes"][0]
        assert (cause["title"], cause["alike"]) == ("Table read as 14 boxes", 7)
        first = cause["numbers"][0]
        assert cause["numbers"] == list(range(first, first + 15))
        assert [each["number"] for each in data["mistakes"]] == list(range(1, len(data["mistakes"]) + 1))
        listed = [number for each in data["causes"] for number in each["numbers"]]
        assert len(listed) == len(set(listed))


class TestPlace:
    def test_beside_the_ground_truth(self, tmp_path: Path) -> None:
        file = tmp_path / "truth.json"
        file.write_text("{}")
        assert store_address(file, environment={}) == str(tmp_path / "layoutscope-findings.sqlite")
        folder = tmp_path / "truth"
        folder.mkdir()
        assert store_address(folder, environment={}) == str(tmp_path / "layoutscope-findings.sqlite")

    def test_named_ones_come_first(self, tmp_path: Path) -> None:
        file = tmp_path / "truth.json"
        assert store_address(file, environment={FINDINGS_VARIABLE: "postgresql://x"}) == "postgresql://x"
        assert store_address(file, named="a.sqlite", environment={FINDINGS_VARIABLE: "b"}) == "a.sqlite"

    def test_the_sample_and_uploads_have_the_state_of_the_user(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        wanted = str(tmp_path / ".local/state/layoutscope/layoutscope-findings.sqlite")
        assert store_address(None, environment={}) == wanted
        assert store_address(SAMPLE_DATA / "ground_truth.json", environment={}, bundled=SAMPLE_DATA) == wanted

    @pytest.mark.parametrize(
        ("platform", "chosen", "wanted"),
        [
            ("linux", "/s", "/s/layoutscope"),
            ("linux", "relative", "/h/.local/state/layoutscope"),
            ("darwin", "/s", "/h/Library/Application Support/LayoutScope"),
            ("win32", "/s", "/l/LayoutScope"),
        ],
    )
    def test_state_folders(self, platform: str, chosen: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """What users have saved is found: these places are those of every version."""
        monkeypatch.setenv("HOME", "/h")
        monkeypatch.setenv("XDG_STATE_HOME", chosen)
        if platform == "win32":
            monkeypatch.setattr("platformdirs.windows.get_win_folder", {"CSIDL_LOCAL_APPDATA": "/l"}.__getitem__)
            monkeypatch.setattr("platformdirs.PlatformDirs", platformdirs.windows.Windows)
        monkeypatch.setattr("sys.platform", platform)
        assert state_folder() == Path(wanted)

    def test_projects_of_one_database_do_not_see_each_other(
        self, store_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seeded(store_path)
        monkeypatch.setenv(FINDINGS_WORKSPACE_VARIABLE, "other")
        assert "Nothing has been judged yet." in text_of(start(monkeypatch, FINDINGS))


def test_the_review_sample_is_a_queue_with_its_bound_and_its_end(store_path: Path, monkeypatch: Any) -> None:
    """Reviewed pages count at once, and the sentence, the list and the views that share the plan say the same."""
    app = start(monkeypatch, FINDINGS, queue="sample")
    assert app.query_params["queue"] == "sample"
    fine(app.text_input(key="reviewer").set_value("Anna").run())
    table = app.dataframe[0].value
    assert list(table["No."]) == list(range(1, 21))
    assert set(table["Reviewed"]) == {""}
    assert "0 pages done, 20 left" in [caption.value for caption in app.caption]
    fine(app.button(key="sample_done").click().run())
    assert list(app.dataframe[0].value["Reviewed"]) == ["yes"] + [""] * 19
    pages = [page_target(row["Document"], int(row["Page"]) - 1) for _, row in table.iterrows()]
    with Store(store_path) as store:
        store.add([opinion(page, None, tags=("reviewed",)) for page in pages[2:]])
    go(app, FINDINGS)
    assert list(app.dataframe[0].value["Reviewed"]) == ["yes", "", *["yes"] * 18]
    # Only pages up to the first that is left out are a random sample of all.
    assert "1 page done, 19 left" in [caption.value for caption in app.caption]
    fine(app.button(key="sample_done").click().run())
    assert set(app.dataframe[0].value["Reviewed"]) == {"yes"}
    shown = words(app)
    assert "The review may stop here." in shown
    known = [line for line in shown if "known to ±" in line]
    assert len(known) == 2
    assert all("20 of 20 pages reviewed, enough for ±3 points." in line for line in known)
    assert "20 pages done, 0 left" in [caption.value for caption in app.caption]
    go(app, "pages/suspects.py")
    assert [line for line in words(app) if "known to ±" in line] == known
    with Store(store_path) as store:
        assert len(store.log().judged) == 20


def test_a_page_of_the_review_sample_is_taken_back_and_keeps_its_note(store_path: Path, monkeypatch: Any) -> None:
    app = start(monkeypatch, FINDINGS, queue="sample")
    fine(app.text_input(key="reviewer").set_value("Anna").run())
    first = app.dataframe[0].value.iloc[0]
    target = page_target(first["Document"], int(first["Page"]) - 1)
    with Store(store_path) as store:
        store.add([opinion(target, None, note="Scan is bad")])
    fine(app.run())
    fine(app.button(key="sample_done").click().run())
    with Store(store_path) as store:
        (judged,) = store.log().judged.values()
    assert [(event.note, event.tags) for event in judged.opinions] == [("Scan is bad", ("reviewed",))]
    fine(app.button(key="sample_previous").click().run())
    fine(app.button(key="sample_undo").click().run())
    with Store(store_path) as store:
        (judged,) = store.log().judged.values()
    assert [(event.note, event.tags) for event in judged.opinions] == [("Scan is bad", ())]
    assert app.dataframe[0].value["Reviewed"][0] == ""
