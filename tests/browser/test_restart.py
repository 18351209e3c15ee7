"""A server that ends and starts again: an open tab goes on where it was, and a new one finds what was kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from evaluator.review.store import Store
from evaluator.review.verdicts import Event
from tests.browser.conftest import Screen, dashboard, own_port
from tests.sample_part import write_part_with_pages

pytestmark = pytest.mark.browser
# What the browser itself says while nobody answers.
UNANSWERED = (
    "net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE", "WebSocket",
    "No response received", "server is not responding",
)  # fmt: skip


def test_an_open_tab_goes_on_after_the_server_has_started_again_and_a_new_one_finds_what_was_kept(
    visit: Callable[..., Screen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--workspace`: where the tab was, then verdicts, name, filter and upload."""
    kept, port = tmp_path / "findings.sqlite", own_port()
    monkeypatch.setenv(FINDINGS_VARIABLE, str(kept))
    data = write_part_with_pages(tmp_path / "data", "tram-options.pdf")
    third = (data / "blocks.json").rename(tmp_path / "third.json")
    words = ("open", str(data), "--workspace", str(tmp_path / "ws"))

    def given() -> list[Event]:
        if not kept.exists():
            return []
        with Store(kept) as store:
            return store.events()

    with dashboard(tmp_path, *words, port=port) as url:
        screen = visit(url).open("files").upload(third).to("page_browser", label="Section-header")
        page = screen.page
        page.locator(".pane").first.click(position={"x": 4, "y": 4})
        page.keyboard.press("n")
        screen.settled()
        page.locator(".verdict-button", has_text="Ground truth wrong").click()
        page.locator(".verdict-name").fill("Anna")
        page.keyboard.press("Enter")
        screen.wait(lambda: len(given()) == 1, "the verdict in the store")
        (first,) = given()
        assert (first.verdict, first.author, first.verified) == ("ground_truth_wrong", "Anna", False)
        assert (first.target.kind, first.target.label) == ("mistake", "Section-header")
        screen.settled()
        # Not a click, which would leave the chosen mistake: N goes on from it.
        page.locator(".pane").first.focus()
        chosen = screen.address().get("box")
        page.keyboard.press("n")
        screen.wait(lambda: screen.address().get("box", chosen) != chosen, "the next box in the address")
        screen.settled()
        was, at = screen.address(), screen.where()
    connected: list[str] = []

    def noted(socket: object) -> None:
        connected.append(url)

    page.on("websocket", noted)
    with dashboard(tmp_path, *words, port=port):
        # No reload: the tab knocks until somebody answers.
        screen.wait(lambda: bool(connected) and not screen.waiting, "the connection of the open tab")
        page.remove_listener("websocket", noted)
        screen.settled()
        page.get_by_test_id("stConnectionStatus").wait_for(state="detached")
        screen.wait(lambda: screen.address() == was, f"the address {was}, not {screen.address()}")
        assert screen.where() == at
        # It goes on: a verdict on the chosen box under the name of before.
        page.locator(".verdict-button").first.click()
        screen.wait(lambda: len(given()) == 2, "the second verdict in the store")
        second = given()[1]
        assert (second.author, second.verdict, second.target.document) == ("Anna", "model_wrong", at[0])
        assert second.target_id != first.target_id
        # Another session: the browser remembers the name, the workspace folder the filter and the upload.
        screen.open("page_browser")
        screen.wait(lambda: screen.address().get("label") == "Section-header", "the filter")
        screen.go("Findings")
        page.locator(".ls-history", has_text="Anna").wait_for()
        field = page.get_by_role("textbox", name="Your name", exact=True)
        screen.wait(lambda: field.input_value() == "Anna", "the name")
        assert "2 findings" in screen.text()
        assert "corrected, 1 verdict applied" in screen.text()
        page.get_by_role("button", name="Show on the page").click()
        page.locator(".ls-title h1", has_text="Page browser").wait_for()
        screen.settled()
        assert screen.where() == (first.target.document, (first.target.page or 0) + 1)
        screen.go("Files")
        screen.wait(lambda: "third.json" in screen.cells(), "the upload in the table")
        screen.leave()
    screen.trouble[:] = [line for line in screen.trouble if not any(words in line for words in UNANSWERED)]
