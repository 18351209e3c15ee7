"""A press of a button holds although another message of the browser ends the run that it started."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from evaluator.review.findings_export import to_csv
from evaluator.review.identity import page_target
from evaluator.workspace import project_file
from pages.app import address
from pages.app.state import State
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import FILES, FINDINGS, PAGE_BROWSER, SAMPLE_DATA, fine, start, texts, workspace
from tests.judging import opinion, stored

LINES, BLOCKS = SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return write_file(tmp_path / "truth.json", [box(0.1, 0.1, 0.5, 0.5, label="Table")], side="ground_truth")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_file(tmp_path / "model.json", [box(0.1, 0.1, 0.5, 0.5, label="Table")])


def press(monkeypatch: pytest.MonkeyPatch, app: AppTest, label: str) -> AppTest:
    """The session after a press whose run ends before the view has drawn anything, for the next message."""
    read_url, ended = address.read_url, []

    def other_message(view: str) -> None:
        read_url(view)
        if not ended:
            ended.append(view)
            dashboard.send_message()
            st.empty()

    with monkeypatch.context() as patch:
        patch.setattr(address, "read_url", other_message)
        dashboard.press(app, label)
    assert len(ended) == 1
    return app


def choose(app: AppTest, label: str, value: object) -> None:
    next(each for each in app.selectbox if each.label == label).set_value(value)


def test_save_a_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(PAGE_BROWSER, mistakes="missed")
    app.text_input(key="filter_name").set_value("only missed")
    press(monkeypatch, app, "Save")
    assert list(app.session_state[State.saved_filters.key]) == ["only missed"]
    app.text_input(key="filter_name").set_value(" ")
    press(monkeypatch, app, "Save")
    assert "A filter needs a name." in texts(app.caption)
    fine(app.text_input(key="filter_name").set_value("another").run())
    assert "A filter needs a name." not in texts(app.caption)


def test_save_a_project(monkeypatch: pytest.MonkeyPatch, truth: Path, model: Path) -> None:
    app = start(FILES, files=workspace(truth, [model]), protocol="coco")
    press(monkeypatch, app, "Save project")
    opened, query = project_file.read(truth.parent / "layoutscope.toml")
    assert (opened.of("boxes").ground_truth, query) == (truth, "protocol=coco")
    assert [text.split(".")[0] for text in texts(app.success)] == ["Saved"]
    app.session_state[State.iou.name] = 0.75
    assert not fine(app.run()).success, "what was saved has another threshold"


def test_weigh_the_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(charts="means")
    next(each for each in app.number_input if each.label == "Table").set_value(2.5)
    press(monkeypatch, app, "Use these weights")
    assert app.session_state[State.class_weights.key] == (("Table", 2.5),)
    assert "class weight Table=2.5" in dashboard.signature(app)


def test_a_note_on_a_page(monkeypatch: pytest.MonkeyPatch, store_path: Path) -> None:
    app = start(FINDINGS)
    app.session_state["reviewer"] = "Chidi"
    fine(app.run())
    next(each for each in app.number_input if each.label == "Page").set_value(2)
    app.text_area(key="said_note").set_value("two columns")
    press(monkeypatch, app, "Save")
    assert [(event.target.page, event.note) for event in stored(store_path)] == [(1, "two columns")]


def test_import_findings(monkeypatch: pytest.MonkeyPatch, store_path: Path) -> None:
    app = start(FINDINGS)
    content = to_csv([opinion(page_target("tram-options.pdf", 0), "ignore", author="Dana", verified=True)]).encode()
    app.file_uploader(key="import_files").upload("dana.csv", content, "text/csv")
    press(monkeypatch, app, "Import")
    assert texts(app.success) == ["1 event imported, 0 were there already."]
    assert [(event.author, event.verified, event.source) for event in stored(store_path)] == [
        ("Dana", False, "dana.csv")
    ]


def _asking() -> None:
    """A view that does what was asked for; the first time another message ends it, the second time it fails."""
    import streamlit as st

    from pages.app import widgets
    from pages.app.state import Field
    from tests import dashboard

    asked = Field[str | None](None, "asked")
    times = Field(0, "times")

    def act(what: str) -> None:
        times.set(times.get() + 1)
        if times.get() == 1:
            dashboard.send_message()
            st.empty()
        raise ValueError(what)

    st.button("Read", on_click=asked.set, args=("a file",))
    widgets.run_pending(asked, act)


def test_what_was_asked_for_is_done_again_when_its_run_was_ended_and_not_when_it_failed() -> None:
    app = AppTest.from_function(_asking, default_timeout=60).run()
    app.button[0].click().run()
    assert len(app.exception) == 1
    assert (app.session_state["asked"], app.session_state["times"]) == (None, 2)
    app.run()
    assert not app.exception
