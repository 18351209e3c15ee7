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
        page = screen.page
        page.locator(".suspect-row").first.wait_for()
        screen.wait(lambda: page.locator(".suspect-image[src]").is_visible(), "the page of the first suspect")
        first = page.locator(".suspect-row b").first.inner_text()
        # The name is asked for where the answer was pressed.
        page.keyboard.press("1")
        page.locator(".verdict-name").fill("Anna")
        page.keyboard.press("Enter")
        screen.wait(lambda: kept.exists() and len(events(kept)) == 1, "the verdict in the store")
        (event,) = events(kept)
        assert (event.verdict, event.author) == ("ground_truth_wrong", "Anna")
        screen.wait(lambda: page.locator(".suspect-row b").first.inner_text() != first, "the next suspect")
        # Two answers at once arrive both, in their order.
        page.keyboard.press("2")
        page.keyboard.press("3")
        screen.wait(lambda: len(events(kept)) == 3, "two more verdicts")
        assert [each.verdict for each in events(kept)] == ["ground_truth_wrong", "model_wrong", "ambiguous"]
        page.keyboard.press("u")
        screen.wait(lambda: len(events(kept)) == 4, "the verdict taken back")
        assert events(kept)[-1].action == "cleared"
        assert events(kept)[-1].target_id == events(kept)[-2].target_id
        screen.leave()


def test_an_edited_correction_is_the_one_that_is_stored(
    browser: Any, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(kept))
    with dashboard(tmp_path) as url:
        screen = visit(url).open("suspects")
        name_oneself(screen, "Anna")
        page = screen.page
        screen.wait(lambda: page.locator(".suspect-image[src]").is_visible(), "the page of the first suspect")
        page.locator(".suspect-pane").click()
        page.keyboard.press("e")
        corner = page.locator(".suspect-handle-3").bounding_box()
        assert corner is not None
        x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 30, y - 12)
        page.mouse.up()
        edges = [float(page.locator(f"input[data-side='{side}']").input_value()) / 100 for side in range(4)]
        # Letters in a field are text: nothing is answered.
        page.locator("input[data-side='0']").press("1")
        page.locator("input[data-side='0']").fill(f"{100 * edges[0]:.2f}")
        page.locator(".suspect-pane").focus()
        page.keyboard.press("1")
        screen.wait(lambda: kept.exists() and len(events(kept)) == 1, "the verdict in the store")
        (box,) = events(kept)[0].target.of("prediction")
        assert box.xyxy == pytest.approx(edges, abs=1e-4)
        screen.leave()
