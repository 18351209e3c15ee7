"""Findings in a real browser: a verdict given on the page outlives the server, and a meeting runs by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from evaluator.review.store import Store
from evaluator.review.verdicts import Event
from tests.browser.conftest import Screen, dashboard
from tests.test_findings_view import seeded

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of findings of one test and its server."""
    path = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(path))
    return path


def events(path: Path) -> list[Event]:
    with Store(path) as store:
        return store.events()


def name_oneself(screen: Screen, name: str) -> None:
    field = screen.page.get_by_role("textbox", name="Your name")
    field.fill(name)
    field.press("Enter")
    screen.settled()


def test_a_verdict_on_the_page_outlives_the_server(browser: Any, visit: Visit, kept: Path, tmp_path: Path) -> None:
    with dashboard(tmp_path) as url:
        screen = visit(url).open().go("Findings")
        assert "Nothing has been judged yet." in screen.text()
        name_oneself(screen, "Anna")
        screen.go("Page browser")
        screen.page.locator(".pane").first.click(position={"x": 4, "y": 4})
        screen.page.keyboard.press("n")
        screen.settled()
        screen.page.locator(".verdict-button", has_text="Ground truth wrong").click()
        screen.wait(lambda: kept.exists() and len(events(kept)) == 1, "the verdict in the store")
        (event,) = events(kept)
        assert (event.verdict, event.author, event.verified) == ("ground_truth_wrong", "Anna", False)
        assert event.target.kind == "mistake"
        screen.page.close()
    with dashboard(tmp_path) as url:
        screen = visit(url).open().go("Findings")
        screen.page.locator(".ls-history", has_text="Anna").wait_for()
        assert "1 finding" in screen.text()
        assert "corrected, 1 verdict applied" in screen.text()
        screen.page.get_by_role("button", name="Show on the page").click()
        screen.page.locator(".ls-title h1", has_text="Page browser").wait_for()
        screen.settled()
        assert screen.where() == (event.target.document, (event.target.page or 0) + 1)
        screen.page.close()


def test_a_meeting_runs_by_keys(browser: Any, visit: Visit, kept: Path, tmp_path: Path) -> None:
    seeded(kept)
    with dashboard(tmp_path) as url:
        screen = visit(url).open().go("Findings")
        name_oneself(screen, "Chidi")
        screen.page.get_by_role("button", name="Start a meeting").click()
        progress = screen.page.get_by_test_id("stProgress")
        progress.get_by_text("1 of 5").wait_for()
        # The whole screen: no sidebar while it runs.
        assert not screen.page.get_by_test_id("stSidebar").is_visible()
        screen.page.keyboard.press("ArrowRight")
        progress.get_by_text("2 of 5").wait_for()
        screen.page.keyboard.press("2")
        screen.wait(lambda: len(events(kept)) == 7, "the verdict by key")
        assert events(kept)[-1].verdict == "ground_truth_wrong"
        # In the note keys are text.
        note = screen.page.get_by_role("textbox", name="Note")
        note.fill("")
        note.press_sequentially("1 2 3")
        screen.page.get_by_role("button", name="Save note and tags").click()
        screen.wait(lambda: len(events(kept)) == 8, "the note")
        assert (events(kept)[-1].note, events(kept)[-1].verdict) == ("1 2 3", "ground_truth_wrong")
        screen.page.keyboard.press("Escape")
        screen.page.locator(".ls-title h1", has_text="Findings").wait_for()
        screen.page.close()
