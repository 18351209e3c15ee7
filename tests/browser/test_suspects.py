"""Suspected ground truth in a real browser: a correction is accepted by key, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from tests.browser.conftest import Screen, dashboard
from tests.browser.test_findings import name_oneself, since

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]


@pytest.fixture(scope="module")
def judging(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server for the tests of this file, and its file of findings."""
    folder = tmp_path_factory.mktemp("judging")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FINDINGS_VARIABLE, str(folder / "findings.sqlite"))
        with dashboard(folder) as url:
            yield url, folder / "findings.sqlite"


def test_an_edited_correction_is_the_one_that_is_stored(visit: Visit, judging: tuple[str, Path]) -> None:
    url, kept = judging
    given = since(kept)
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
    screen.wait(lambda: len(given()) == 1, "the verdict in the store")
    (box,) = given()[0].target.of("prediction")
    assert box.xyxy == pytest.approx(edges, abs=1e-4)


def test_a_correction_is_accepted_by_key(visit: Visit, judging: tuple[str, Path]) -> None:
    url, kept = judging
    given = since(kept)
    screen = visit(url).open("suspects")
    page = screen.page
    page.locator(".suspect-row").first.wait_for()
    screen.wait(lambda: page.locator(".suspect-image[src]").is_visible(), "the page of the first suspect")
    first = page.locator(".suspect-row b").first.inner_text()
    # The name is asked for where the answer was pressed.
    page.keyboard.press("1")
    page.locator(".verdict-name").fill("Anna")
    page.keyboard.press("Enter")
    screen.wait(lambda: len(given()) == 1, "the verdict in the store")
    (event,) = given()
    assert (event.verdict, event.author) == ("ground_truth_wrong", "Anna")
    screen.wait(lambda: page.locator(".suspect-row b").first.inner_text() != first, "the next suspect")
    # Two answers at once arrive both, in their order.
    page.keyboard.press("2")
    page.keyboard.press("3")
    screen.wait(lambda: len(given()) == 3, "two more verdicts")
    assert [each.verdict for each in given()] == ["ground_truth_wrong", "model_wrong", "ambiguous"]
    page.keyboard.press("u")
    screen.wait(lambda: len(given()) == 4, "the verdict taken back")
    assert given()[-1].action == "cleared"
    assert given()[-1].target_id == given()[-2].target_id
