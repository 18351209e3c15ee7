"""A browser that stays open while its server ends and starts again: the tab finds where it was, and goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from evaluator.review.store import Store
from tests.browser.conftest import Screen, dashboard, own_port
from tests.browser.test_findings import name_oneself

pytestmark = pytest.mark.browser
# What the browser itself says while nobody answers.
UNANSWERED = (
    "net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE", "WebSocket",
    "No response received", "server is not responding",
)  # fmt: skip


def test_an_open_tab_goes_on_after_the_server_has_started_again(
    visit: Callable[..., Screen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FINDINGS_VARIABLE, str(tmp_path / "findings.sqlite"))
    port = own_port()
    with dashboard(tmp_path, port=port) as url:
        screen = visit(url).open("findings")
        name_oneself(screen, "Anna")
        screen.go("Page browser")
        screen.page.get_by_role("combobox", name="Label").click()
        screen.page.get_by_role("option", name="Table").click()
        screen.wait(lambda: screen.address().get("label") == "Table", "the label in the address")
        screen.settled()
        screen.page.locator(".pane").first.click(position={"x": 4, "y": 4})
        for _ in range(2):
            screen.page.keyboard.press("n")
            screen.settled()
        screen.wait(lambda: "box" in screen.address(), "the box in the address")
        was, at = screen.address(), screen.where()
    connected: list[str] = []
    screen.page.on("websocket", lambda socket: connected.append(socket.url))
    with dashboard(tmp_path, port=port):
        # No reload: the tab knocks until somebody answers.
        screen.wait(lambda: bool(connected) and not screen.waiting, "the connection of the open tab")
        screen.settled()
        screen.page.get_by_test_id("stConnectionStatus").wait_for(state="detached")
        screen.wait(lambda: screen.address() == was, f"the address {was}, not {screen.address()}")
        assert screen.where() == at
        # It goes on: a verdict on the chosen box under the name of before.
        screen.page.locator(".verdict-button").first.click()
        with Store(tmp_path / "findings.sqlite") as store:
            screen.wait(lambda: bool(store.events()), "the verdict in the store")
            (event,) = store.events()
        assert (event.author, event.verdict, event.target.document) == ("Anna", "model_wrong", at[0])
        screen.leave()
    screen.trouble[:] = [line for line in screen.trouble if not any(words in line for words in UNANSWERED)]
