"""Suspected ground truth in a real browser: a correction is accepted by key, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from tests.browser.conftest import Screen, dashboard
from tests.browser.test_findings import events, name_oneself

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]


def test_a_correction_is_accepted_by_key(
    browser: Any, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(kept))
    with dashboard(tmp_path) as url:
        screen = visit(url).open("suspects")
        name_oneself(screen, "Anna")
        screen.page.locator(".ls-crop img").first.wait_for()
        first = screen.page.locator(".ls-state").first.inner_text()
        screen.page.locator(".ls-crop").first.click()
        screen.page.keyboard.press("1")
        screen.wait(lambda: kept.exists() and len(events(kept)) == 1, "the verdict in the store")
        (event,) = events(kept)
        assert (event.verdict, event.author) == ("ground_truth_wrong", "Anna")
        screen.wait(lambda: screen.page.locator(".ls-state").first.inner_text() != first, "the next suspect")
        screen.settled()
        screen.page.locator("button:enabled", has_text="Undo").wait_for()
        screen.page.keyboard.press("u")
        screen.wait(lambda: len(events(kept)) == 2, "the verdict taken back")
        assert events(kept)[-1].action == "cleared"
        screen.leave()
