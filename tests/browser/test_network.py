"""What Chromium looks for on other machines is refused and noted, whoever in it asks."""

from pathlib import Path
from typing import Any

import pytest

from tests import network
from tests.browser.conftest import CHROMIUM, FLAGS

pytestmark = pytest.mark.browser
# A picture of the page, what a script asks for, a socket, and names that are looked up ahead.
ASK = """async () => {
  const picture = new Image();
  picture.src = 'http://192.0.2.1/picture.png';
  for (const rel of ['dns-prefetch', 'preconnect']) {
    const link = document.createElement('link');
    link.rel = rel;
    link.href = `https://${rel}.example.invalid`;
    document.head.append(link);
  }
  const asked = (url) => fetch(url, {mode: 'no-cors'}).then(() => 'answered', () => 'refused');
  const socket = new Promise((done) => {
    const each = new WebSocket('wss://socket.example.invalid/');
    each.onopen = () => done('open');
    each.onerror = () => done('refused');
  });
  return [await asked('https://script.example.invalid/a'), await socket];
}"""


def test_what_chromium_looks_for_elsewhere_is_noted(browser: Any, server: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    with network.noted(notes), network.browser_flags() as only_here:
        other = browser.browser_type.launch(executable_path=CHROMIUM, args=[*FLAGS, *only_here])
        try:
            page = other.new_page()
            # This machine is reached as ever.
            page.route("**/empty", lambda route: route.fulfill(body="<title>empty</title>", content_type="text/html"))
            page.goto(f"{server}/empty")
            health = "url => fetch(url).then((answer) => answer.text())"
            assert page.evaluate(health, f"{server}/_stcore/health") == "ok"
            assert not notes.exists(), notes.read_text()
            assert page.evaluate(ASK) == ["refused", "refused"]
            page.wait_for_load_state("networkidle")
        finally:
            other.close()
    asked = notes.read_text(encoding="utf-8")
    for what in (
        "GET http://192.0.2.1/picture.png",
        "CONNECT script.example.invalid:443",
        "CONNECT socket.example.inv",
    ):
        assert f" asked for '{what}" in asked
