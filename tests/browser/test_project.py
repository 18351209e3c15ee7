"""A project file in a real Chromium: saved with mapping, fix and filter, opened again, and found on Files."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, Screen, dashboard

pytestmark = [pytest.mark.browser]
Visit = Callable[..., Screen]
SAMPLE = ROOT / "sample_data"
FIXES = "flipped.json:y-flip;flipped.json:label=paragraph=Text"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A ground truth with its PDFs, and a model that counts from the bottom of the page and calls Text a paragraph."""
    folder = tmp_path / "work"
    (folder / "pdf").mkdir(parents=True)
    shutil.copy(SAMPLE / "ground_truth.json", folder)
    for path in (SAMPLE / "pdf").glob("*.pdf"):
        shutil.copy(path, folder / "pdf")
    value = json.loads((SAMPLE / "lines.json").read_text().replace('"Text"', '"paragraph"'))
    for page in value["predictions"]:
        for item in page["objects"]:
            x1, y1, x2, y2 = item["bbox"]
            item["bbox"] = [x1, 1 - y2, x2, 1 - y1]
    (folder / "flipped.json").write_text(json.dumps(value))
    return folder


def state(screen: Screen) -> tuple[dict[str, str], str]:
    """What a link to the Page browser holds of the project, and the numbers of Overview."""
    numbers = screen.go("Overview").page.locator(".ls-metrics").all_inner_texts()
    address = screen.go("Page browser").address()
    return {key: address[key] for key in ("fix", "label", "protocol") if key in address}, " ".join(numbers)


def test_a_project_comes_back_as_it_was_saved(
    visit: Visit, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dashboard(work, "open", ".") as url:
        screen = visit(url).open()
        # Both mistakes are proposed at once.
        words = "flipped.json: F1 0.018. With the y axis flipped and paragraph read as Text: 0.696."
        screen.wait(lambda: words in screen.text().replace("\u2060", ""), "the proposal")
        screen.page.get_by_role("button", name="Apply", exact=True).click()
        screen.wait(lambda: "y-flip" in screen.address().get("fix", ""), "the fix in the address")
        screen.settled()
        screen.go("Page browser")
        screen.page.get_by_role("combobox", name="Label").click()
        screen.page.get_by_role("option", name="Table").click()
        screen.wait(lambda: screen.address().get("label") == "Table", "the label in the address")
        was = state(screen.settled())
        assert was[0] == {"fix": FIXES, "label": "Table"}
        assert "0.696" in was[1]
        screen.go("Files").page.get_by_role("button", name="Save project").click()
        screen.page.get_by_text("Saved. Open it again with layoutscope open").wait_for()
        screen.settled().leave()
    kept = tomllib.loads((work / "layoutscope.toml").read_text())
    assert (kept["ground_truth"], kept["models"], kept["pdfs"]) == ("ground_truth.json", ["flipped.json"], "pdf")

    with dashboard(work, "open", "layoutscope.toml") as url:
        # Not by the line that the terminal prints, which has it all: a tab that is opened later has it as well.
        screen = visit(url).open()
        assert state(screen) == was
        screen.leave()

    with dashboard(tmp_path) as url:
        screen = visit(url).open("files")
        screen.page.get_by_role("heading", name="Recent projects").wait_for()
        reopen = screen.page.get_by_role("button", name="work/layoutscope.toml")
        (work / "flipped.json").rename(work / "moved.json")
        reopen.click()
        screen.wait(
            lambda: 'found "flipped.json"' in screen.text() or "does not exist" in screen.text(), "what is gone"
        )
        screen.settled()
        for words in (
            "models[0]", "a path must be that of a file or folder beside this one or below (project file)",
            '"flipped.json", which does not exist', "Put it there, or correct the path.",
        ):  # fmt: skip
            assert words in screen.text()
        assert "fix" not in screen.address(), "what was open stays as it was"
        (work / "moved.json").rename(work / "flipped.json")
        reopen.click()
        screen.wait(lambda: "does not exist" not in screen.text(), "the project")
        screen.settled()
        assert state(screen) == was
        work.rename(tmp_path / "elsewhere")
        screen.go("Files")
        assert "work/layoutscope.toml is not there any more; open it from its new place once." in screen.text()
        screen.leave()
