"""All files of a session in one table on Files: what is read, what was left out and why, and roles that change."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.data.issues import Collector
from evaluator.review.identity import page_target
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from evaluator.review.verdicts import Target
from evaluator.workspace import roles
from evaluator.workspace.file_list import issues_in_words
from tests import dashboard
from tests.building import box, write_file
from tests.judging import opinion

pytestmark = pytest.mark.usefixtures("store_path")

ROWS = [box(0.1, 0.1, 0.5, 0.5), box(0.5, 0.5, 0.9, 0.9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ground truth, two models, a page, and files that are not read."""
    write_file(tmp_path / "truth.json", ROWS, side="ground_truth")
    write_file(tmp_path / "a.json", ROWS)
    write_file(tmp_path / "b.json", ROWS[:1])
    (tmp_path / "scan.html").write_text('<html><body><div class="ocr_page" id="page_1"/></body></html>')
    (tmp_path / "package.json").write_text('{"name": 1}')
    (tmp_path / "readme.md").write_text("hello")
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "a.pdf").write_bytes(b"%PDF-1.7")
    return tmp_path


def files(app: Any) -> dict[str, tuple[str, str]]:
    frame = dashboard.table(app, "Role")
    rows = zip(frame["File"], frame["Role"], frame["What it is"], strict=True)
    return {name: (role, what) for name, role, what in rows}


def start(folder: Path) -> Any:
    return dashboard.start(dashboard.FILES, files=roles.find([folder]).to_json())


SNAPSHOT = "Document Snapshot Detection, schema 1.3 (JSON)"
READ = {
    "truth.json": ("Ground truth", SNAPSHOT),
    "a.json": ("Model A", SNAPSHOT),
    "b.json": ("Model B", SNAPSHOT),
    "pdf/ 1 file": ("Pages", "PDFs and page images"),
}
LEFT_OUT = {
    "package.json": ("", "left out: its issue says why"),
    "scan.html": ("", "left out: its issue says why"),
    "readme.md": ("", "left out: neither annotations nor pages"),
}


def test_every_file_is_listed(folder: Path) -> None:
    app = start(folder)
    assert files(app) == READ | LEFT_OUT
    assert app.dataframe[0].value["Boxes"].tolist()[:3] == [2, 2, 1]
    switch = next(each for each in app.get("button_group") if each.label == "Files shown")
    assert [option.content for option in switch.proto.options] == ["All 7", "Read 4", "Left out 3", "With issues 2"]
    dashboard.fine(switch.set_value("Left out").run())
    assert list(files(app)) == list(LEFT_OUT)


def test_a_model_with_errors_is_not_among_what_is_read(folder: Path) -> None:
    wrong = folder / "b.json"
    wrong.write_text(wrong.read_text().replace('"score":0.', '"score":7.').replace('"score": 0.', '"score": 7.'))
    app = start(folder)
    assert files(app)["b.json"] == ("Prediction", "not read")
    switch = next(each for each in app.get("button_group") if each.label == "Files shown")
    assert [option.content for option in switch.proto.options] == ["All 7", "Read 3", "Left out 4", "With issues 3"]
    dashboard.fine(switch.set_value("Left out").run())
    assert list(files(app)) == ["b.json", *LEFT_OUT]


def test_a_file_that_cannot_be_read_is_an_issue_with_its_whole_reason(tmp_path: Path) -> None:
    write_file(tmp_path / "truth.json", ROWS, side="ground_truth")
    write_file(tmp_path / "a.json", ROWS)
    (tmp_path / "cut.json").write_text('{"info": {"type": "prediction"')
    app = start(tmp_path)
    reason = {
        "Severity": "warning", "File": "cut.json", "Place": "line 1, column 31",
        "Rule": "the text must be well-formed JSON (RFC 8259)", "Found": "the end of the text",
        "Fix": "Left out. The file is cut off; copy or export it again.",
    }  # fmt: skip
    assert dashboard.issues(app) == [reason]
    assert "1 in these files" in dashboard.words(app)
    assert "1 issue in the files" in dashboard.words(app)
    assert not [each for each in app.caption if each.value.startswith("Nothing is wrong")]
    choose(app, "files_All", 2, "File")
    assert dashboard.issues(app) == [reason, reason]


def test_a_file_that_is_no_page_is_not_counted_as_one(folder: Path) -> None:
    (folder / "scan.html").unlink()
    (folder / "package.json").unlink()
    (folder / "pdf" / "b.pdf").write_text("no page")
    (folder / "pdf" / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "pdf" / "empty.jpg").write_bytes(b"")
    app = start(folder)
    assert "pdf/ 2 files" in files(app)
    assert [(row["File"], row["Rule"]) for row in dashboard.issues(app)] == [
        (name, "a file with the ending of a page must be a PDF or an image") for name in ("b.pdf", "empty.jpg")
    ]
    assert "0 in these files, 2 page files that cannot be read" in dashboard.words(app)


def test_only_files_of_no_use_are_no_issue(folder: Path) -> None:
    (folder / "scan.html").unlink()
    (folder / "package.json").unlink()
    fine = "Nothing is wrong with the files that are read. 1 file left out: neither annotations nor pages."
    assert fine in [each.value for each in start(folder).caption]


@pytest.mark.usefixtures("whole_app")
def test_a_role_is_changed_and_changed_back(folder: Path) -> None:
    app = start(folder)

    def change(name: str, role: str) -> dict[str, str]:
        dashboard.press(app, "Change roles")
        dashboard.evaluate(dashboard.set_role(app, name, role))
        dashboard.go(app, dashboard.FILES)
        return {name: role for name, (role, _) in files(app).items() if role and role != "Pages"}

    assert change("a.json", "") == {"truth.json": "Ground truth", "b.json": "Model A", "a.json": "Not used"}
    assert change("a.json", "B") == {"truth.json": "Ground truth", "b.json": "Model A", "a.json": "Model B"}
    assert files(app).keys() == {*READ, *LEFT_OUT}


def choose(app: Any, key: str, row: int, column: str) -> None:
    app.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [(row, column)]}}
    dashboard.fine(app.run())


def test_a_row_leads_to_what_is_in_the_file(folder: Path) -> None:
    app = start(folder)
    choose(app, "files_All", 2, "File")
    assert dashboard.table(app, "In this file")["In this file"].tolist() == [
        "1 document, 1 page, 1 box, 2 labels", "0.4 to 0.4, median 0.4 of the page",
        "0.4 to 0.4, median 0.4 of the page", "0.5 to 0.5, median 0.5, 0 without", "0",
    ]  # fmt: skip
    dashboard.press(app, "Show pages")
    assert dashboard.title(app) == "Pages"


def test_a_count_of_a_check_opens_as_many_pages(tmp_path: Path) -> None:
    write_file(tmp_path / "truth.json", ROWS, side="ground_truth", pages=[("a.pdf", 3), ("a.pdf", 5)])
    write_file(tmp_path / "a.json", [*ROWS, *ROWS[:1]])
    app, pages = start(tmp_path), ["Document", "Page", "Count"]
    for row, name, head, behind in (
        (1, "truth.json", pages, [["a.pdf", 4, 1], ["a.pdf", 6, 1]]),
        (0, "a.json", pages, [["a.pdf", 1, 1]]),
        (4, "a.json", ["Label", "Boxes"], [["Figure", 3]]),
    ):
        choose(app, "checks_of_files", row, name)
        assert behind in [each.value.to_numpy().tolist() for each in app.dataframe if list(each.value) == head]


def test_the_project_and_the_findings_of_the_open_documents_are_listed(
    monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "layoutscope.toml").write_text('ground_truth = "truth.json"\nmodels = ["a.json"]\n')
    assert files(start(folder))["layoutscope.toml"] == ("Project", "Project file")
    both = Target(kind="comparison", models=("a", "b"))
    for targets, listed in (
        ([page_target("a.pdf", 0), page_target("b.pdf", 0), both], "2 findings"),
        ([page_target("b.pdf", 0)], None),
    ):
        path = tmp_path_factory.mktemp("findings") / "judged.sqlite"
        monkeypatch.setenv(FINDINGS_VARIABLE, str(path))
        with Store(path) as store:
            store.add([*map(opinion, targets)])
        assert files(start(folder)).get("judged.sqlite", ("Findings", None)) == ("Findings", listed)


def test_counts_have_the_issues_that_are_not_spelled_out() -> None:
    collector = Collector("f.json", max_per_rule=2)
    for place in range(534):
        collector.error(f"$[{place}]", "a rule", "", "Mend it.")
    collector.warning("", "another rule", "", "Mend it.")
    assert issues_in_words(collector.issues()) == "534 errors, 1 warning"
