"""The workspace folder: uploads by content and the state file, whole, bounded, and nothing outside of the folder."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.cli import dashboard as command
from evaluator.cli.program import UsageError
from evaluator.project import Upload
from evaluator.workspace.store import STATE_FILE, OpenUpload, StoredUploads, StoreError, WorkspaceFolder, link_or_copy
from evaluator.workspace.variables import FOLDER_VARIABLE
from pages.app import workspace_store
from tests import dashboard
from tests.dashboard import FILES, PAGE_BROWSER, SAMPLE_DATA, start
from tests.pages.test_findings_view import seeded

pytestmark = pytest.mark.usefixtures("store_path")

TRUTH_FILE, BOXES_FILE = ((SAMPLE_DATA / f"{name}.json").read_bytes() for name in ("ground_truth", "lines"))
PDF = (SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[WorkspaceFolder]:
    opened = WorkspaceFolder(tmp_path / "ws")
    yield opened
    opened.close()


def taken(name: str = "a.json", content: bytes = b"{}", side: str = "prediction", *, alone: bool = False) -> OpenUpload:
    return OpenUpload("boxes", side, Upload(name, ((name, content),)), alone)  # type: ignore[arg-type]


def stored(folder: WorkspaceFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder.root / "uploads").iterdir()}


def test_what_is_kept_is_read_again(folder: WorkspaceFolder) -> None:
    assert folder.read() == StoredUploads()
    several = OpenUpload("fields", "ground_truth", Upload("gt", (("a.json", b"1"), ("b/c.json", b"2")), "fields"))
    folder.keep(taken())
    folder.keep(several)
    folder.keep_pages([("x/y.pdf", PDF)])
    folder.keep_filters({"label": "Table"})
    folder.close()
    again = WorkspaceFolder(folder.root)
    held = again.read()
    again.close()
    assert held.taken == (taken(), several)
    assert held.filters == {"label": "Table"}
    assert {name: path.read_bytes() for name, path in held.pages.items()} == {"x/y.pdf": PDF}
    assert held.issues == ()


def test_uploads_lie_under_the_digest_of_their_content_once(folder: WorkspaceFolder) -> None:
    folder.keep(taken("a.json", b"same"))
    folder.keep(taken("b.json", b"same"))
    assert stored(folder) == {hashlib.sha256(b"same").hexdigest(): b"same"}
    folder.remove(taken("a.json"))
    assert [each.upload.name for each in folder.read().taken] == ["b.json"]
    assert len(stored(folder)) == 1
    folder.remove(taken("b.json"))
    assert stored(folder) == {}


def test_an_upload_takes_the_place_of_what_it_replaces(folder: WorkspaceFolder) -> None:
    folder.keep(taken("old.json", b"1", "ground_truth"))
    folder.keep(taken("m.json", b"2"))
    folder.keep(taken("new.json", b"3", "ground_truth"))
    folder.keep(taken("m.json", b"4"))
    assert [(each.upload.name, each.upload.files[0][1]) for each in folder.read().taken] == [
        ("new.json", b"3"), ("m.json", b"4"),
    ]  # fmt: skip
    folder.keep(taken("only.json", b"5", "ground_truth", alone=True))
    assert [each.upload.name for each in folder.read().taken] == ["only.json"]
    assert len(stored(folder)) == 1


def test_pages_are_removed_by_name(folder: WorkspaceFolder) -> None:
    folder.keep_pages([("a.pdf", b"1"), ("b.pdf", b"2")])
    folder.keep_pages([("a.pdf", b"3")])
    folder.remove_page("b.pdf")
    assert {name: path.read_bytes() for name, path in folder.read().pages.items()} == {"a.pdf": b"3"}
    assert sorted(stored(folder).values()) == [b"3"]


def test_a_full_folder_says_so_and_keeps_what_it_had(tmp_path: Path) -> None:
    small = WorkspaceFolder(tmp_path / "ws", most_bytes=10)
    small.keep(taken("a.json", b"123456"))
    with pytest.raises(StoreError, match="is full"):
        small.keep(taken("b.json", b"1234567"))
    assert [each.upload.name for each in small.read().taken] == ["a.json"]
    assert list(stored(small).values()) == [b"123456"]
    # A content that is there already needs no room.
    small.keep(taken("c.json", b"123456"))
    small.close()


def test_one_server_at_a_time(folder: WorkspaceFolder) -> None:
    with pytest.raises(StoreError, match="Another LayoutScope uses this workspace folder"):
        WorkspaceFolder(folder.root)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"layout": 2}', '{"sides": [{"kind": "boxes"}]}', "\udce4"])
def test_a_broken_state_file_is_said_and_not_written_over(folder: WorkspaceFolder, text: str) -> None:
    folder.keep(taken())
    content = text.encode("utf-8", "surrogateescape")
    (folder.root / STATE_FILE).write_bytes(content)
    held = folder.read()
    assert held.taken == ()
    (issue,) = held.issues
    assert (issue.severity, issue.file) == ("error", STATE_FILE)
    with pytest.raises(StoreError, match="cannot be read"):
        folder.keep(taken("b.json"))
    assert (folder.root / STATE_FILE).read_bytes() == content
    assert len(stored(folder)) == 1


def test_uploads_that_are_gone_or_changed_are_said(folder: WorkspaceFolder) -> None:
    for name, content in (("gone.json", b"1"), ("changed.json", b"2"), ("fine.json", b"3")):
        folder.keep(taken(name, content))
    (folder.root / "uploads" / hashlib.sha256(b"1").hexdigest()).unlink()
    (folder.root / "uploads" / hashlib.sha256(b"2").hexdigest()).write_bytes(b"other")
    held = folder.read()
    assert [each.upload.name for each in held.taken] == ["fine.json"]
    assert [issue.found for issue in held.issues] == [
        '"gone.json", which is gone', '"changed.json", whose bytes are others now',
    ]  # fmt: skip


def test_a_name_of_the_state_file_leads_nowhere(folder: WorkspaceFolder) -> None:
    digest = hashlib.sha256(PDF).hexdigest()
    folder.keep_pages([("a.pdf", PDF)])
    for name in ("../a.pdf", "/etc/passwd", "a/../../b.pdf", "C:\\x.pdf", ""):
        pages = [{"name": name, "sha256": digest}, {"name": "b.pdf", "sha256": "../../secret"}]
        (folder.root / STATE_FILE).write_text(json.dumps({"layout": 1, "pages": pages}))
        held = folder.read()
        assert (held.pages, len(held.issues)) == ({}, 2), name


def test_links_of_the_folder_lead_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    opened = WorkspaceFolder(tmp_path / "ws")
    digest = hashlib.sha256(b"secret").hexdigest()
    os.symlink(secret, opened.root / "uploads" / digest)
    state = {"layout": 1, "pages": [{"name": "a.pdf", "sha256": digest}]}
    (opened.root / STATE_FILE).write_text(json.dumps(state))
    assert opened.read().pages == {}
    opened.close()
    (tmp_path / "other").mkdir()
    os.symlink(tmp_path, tmp_path / "other" / "uploads")
    with pytest.raises(StoreError, match="must not be links"):
        WorkspaceFolder(tmp_path / "other")


def test_a_file_is_put_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"1"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "ws"
    monkeypatch.setenv(FOLDER_VARIABLE, str(root))
    yield root
    opened = workspace_store.folder()
    if opened is not None:
        opened.close()
    workspace_store._open.clear()


def names(app: AppTest) -> list[str]:
    return list(dashboard.table(app, "Issues")["File"])


@pytest.mark.usefixtures("whole_app")
def test_uploads_and_filter_survive_a_reload_until_they_are_removed(workspace: Path) -> None:
    app = start(FILES)
    dashboard.add(app, {"truth.json": TRUTH_FILE, "mine.json": BOXES_FILE, "tram-options.pdf": PDF})
    dashboard.go(app, PAGE_BROWSER)
    app.session_state["label"] = "Table"
    dashboard.fine(app.run())
    # Another session of the server, as after a reload.
    again = start(PAGE_BROWSER)
    assert again.session_state["label"] == "Table"
    assert dashboard.viewer(again)["page"]["problem"] is None or again.session_state["doc"] != "tram-options.pdf"
    dashboard.go(again, FILES)
    assert "mine.json" in names(again)
    assert "Uploads are kept in ws until they are not used." in dashboard.texts(again.caption)
    dashboard.press(again, "Change roles")
    dashboard.add(again, {"other.json": BOXES_FILE})
    for name in ("mine.json", "tram-options.pdf"):
        dashboard.set_role(dashboard.press(dashboard.go(again, FILES), "Change roles"), name, "")
        dashboard.evaluate(again)
    assert len(list((workspace / "uploads").iterdir())) == 2
    assert "mine.json" not in names(start(FILES))
    for each in (app, again):
        each.session_state["upload_folder"].cleanup()


def test_an_address_goes_before_the_kept_filter_and_says_nothing_of_what_only_other_views_show(workspace: Path) -> None:
    start(PAGE_BROWSER, mistakes="missed", order="page", label="Table")
    again = start("pages/compare.py", show="b_broke")
    assert (again.session_state["pair_show"], again.session_state["order"]) == ("b_broke", "page")
    # Compare shows the label: without one in its address all labels are shown.
    assert "label" not in again.session_state or not again.session_state["label"]
    assert start(PAGE_BROWSER, label="Text").session_state["label"] == "Text"


def test_saved_filters_and_the_filter_of_findings_survive_a_reload(workspace: Path, store_path: Path) -> None:
    seeded(store_path)
    app = start(PAGE_BROWSER, mistakes="missed", score="0.3-1", poor="yes", coverage="0.9")
    app.text_input(key="filter_name").set_value("missed, sure")
    dashboard.fine(app.button(key="filter_save").click().run())
    saved = app.session_state["saved_filters"]
    dashboard.go(app, "pages/findings.py")
    app.session_state["decided"] = "decided"
    dashboard.fine(app.run())
    again = start(PAGE_BROWSER)
    assert again.session_state["saved_filters"] == saved
    assert list(saved["missed, sure"])[3:5] == [["missed"], (0.3, 1.0)]
    assert again.session_state["decided"] == "decided"
    assert start("pages/findings.py", decided="open").session_state["decided"] == "open"


@pytest.mark.parametrize("text", ["{", "[]", '{"a": {"score": "x", "label": "Table"}}'])
def test_saved_filters_that_make_no_sense_are_at_their_start(workspace: Path, text: str) -> None:
    opened = workspace_store.folder()
    assert opened is not None
    opened.keep_filters({"saved": text})
    app = start(PAGE_BROWSER)
    # Under AppTest the session has no `get`.
    saved = app.session_state["saved_filters"] if text.startswith('{"a"') else {}
    assert [values[:2] + values[4:5] for values in saved.values()] in ([], [("", "Table", (0.0, 1.0))])


@pytest.mark.usefixtures("whole_app")
def test_without_a_folder_the_view_says_what_a_reload_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    app = dashboard.add(start(FILES), {"truth.json": TRUTH_FILE, "mine.json": BOXES_FILE})
    app.button(key="undo_open").click().run()
    assert names(dashboard.go(app, FILES))[:3] == ["ground_truth.json", "lines.json", "blocks.json"]
    dashboard.add(app, {"truth.json": TRUTH_FILE, "mine.json": BOXES_FILE})
    dashboard.go(app, FILES)
    (said,) = [text for text in dashboard.texts(app.caption) if "--workspace DIR" in text]
    assert said.startswith("Uploads are kept until this tab closes or is reloaded.")


def test_a_folder_that_cannot_be_used_is_said_on_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file" / "ws"))
    app = start(FILES)
    assert any("The workspace folder cannot be written" in each.value for each in app.error)
    workspace_store._open.clear()


def test_a_reload_stays_in_the_meeting() -> None:
    address = dashboard.address(dashboard.press(start(dashboard.FINDINGS), "Start meeting"))
    assert address["meeting"] == "yes"
    assert start(dashboard.FINDINGS, **address).session_state["meeting_open"] is True


def test_the_command_hands_the_folder_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[dict[str, str]] = []
    monkeypatch.setattr(command, "_serve", lambda _files, variables, **_: given.append(dict(variables)) or 0)
    command.dashboard(workspace=tmp_path / "ws")
    command.open_paths([SAMPLE_DATA / "lines.json", SAMPLE_DATA / "ground_truth.json"], workspace=tmp_path / "ws")
    assert given == [{FOLDER_VARIABLE: str(tmp_path / "ws")}] * 2
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--workspace must name a folder; file is a file"):
        command.dashboard(workspace=tmp_path / "file")
