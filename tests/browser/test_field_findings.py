"""Verdicts on fields in a real browser: given by keys, kept over a reload, and in the corrected numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from tests.browser.conftest import Screen, dashboard
from tests.browser.test_fields import drawn
from tests.browser.test_findings import events, name_oneself

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]


def test_a_verdict_by_keys_outlives_a_reload_and_corrects_the_numbers(
    browser: Any, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(kept))
    with dashboard(tmp_path) as url:
        screen, received = visit(url), []
        page = screen.page
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
        drawn(screen.open("fields", field_doc="quayside-77120", field_page="2"))
        whole_view = len(received)
        name_oneself(screen, "Anna")
        assert page.locator("table.ls-corrected").count() == 0
        page.locator(".pane").first.click(position={"x": 4, "y": 4})
        page.keyboard.press("n")
        page.locator(".verdict-button").first.wait_for()
        screen.settled()
        before = len(received)
        page.keyboard.press("v")
        page.keyboard.press("2")
        screen.wait(lambda: kept.exists() and len(events(kept)) == 1, "the verdict in the store")
        (event,) = events(kept)
        assert (event.verdict, event.author) == ("ground_truth_wrong", "Anna")
        assert (event.target.kind, event.target.document, event.target.mistake) == ("field", "quayside-77120", "missed")
        page.locator("table.ls-corrected").wait_for()
        screen.settled()
        assert len(received) - before < whole_view / 3, "the page and the corrected numbers alone"
        corrected = page.locator("table.ls-corrected tr.ls-corrected td").all_inner_texts()
        official = page.locator("table.ls-corrected tr.ls-official td").all_inner_texts()
        assert (official[0], corrected[0]) == ("official", "corrected")
        assert int(corrected[6]) == int(official[6]) - 1, "one missed field less"
        assert "corrected, 1 verdict applied" in screen.text()

        page.reload()
        drawn(screen)
        page.locator("table.ls-corrected").wait_for()
        page.locator(".pane").first.click(position={"x": 4, "y": 4})
        page.keyboard.press("n")
        # The browser remembers the name, so that the verdict is the reader's own.
        page.locator(".verdict-button[aria-pressed='true']", has_text="Ground truth wrong").wait_for()
        assert page.locator(".verdict-state").inner_text().startswith("Anna, ")

        screen.go("Findings")
        assert "1 finding" in screen.text()
        page.get_by_role("button", name="Show on the page").click()
        page.locator(".ls-title h1", has_text="Fields").wait_for()
        drawn(screen)
        assert screen.address()["field_doc"] == "quayside-77120"
        page.locator(".verdict-button[aria-pressed='true']", has_text="Ground truth wrong").wait_for()
        screen.leave()
