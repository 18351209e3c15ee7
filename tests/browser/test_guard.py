"""What a page of another origin can do to the dashboard."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser
# What a hostile page tries; each line says what came of it.
ATTACK = """async (target) => {
  const told = {};
  told.socket = await new Promise((done) => {
    const socket = new WebSocket(target.replace('http', 'ws') + '/_stcore/stream');
    socket.onopen = () => done('open');
    socket.onerror = () => done('refused');
  });
  for (const path of ['/', '/_stcore/host-config', '/_stcore/health', '/_stcore/metrics']) {
    told[path] = await fetch(target + path).then(() => 'read', () => 'refused');
  }
  const upload = target + '/_stcore/upload_file/a/b';
  told.put = await fetch(upload, {method: 'PUT', body: 'x'}).then(() => 'sent', () => 'refused');
  told.picture = await new Promise((done) => {
    const picture = new Image();
    picture.onload = () => done('shown');
    picture.onerror = () => done('refused');
    picture.src = target + '/favicon.png';
  });
  const frame = document.createElement('iframe');
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; frame.src = target; });
  told.text = await new Promise((done) => setTimeout(() => {
    try { done(frame.contentDocument ? 'readable' : 'closed'); } catch { done('closed'); }
  }, 1000));
  return told;
}"""

# What a label could bring along, if it ever were put out as markup.
INJECT = """(foreign) => {
  const script = document.createElement('script');
  script.textContent = 'window.ran = "inline"';
  document.body.append(script);
  const box = document.createElement('div');
  box.innerHTML = `<img src="x:" onerror="window.ran = 'handler'"><img src="${foreign}/a.png">
    <iframe src="${foreign}/b"></iframe><link rel="stylesheet" href="${foreign}/c.css">`;
  document.body.append(box);
  fetch(`${foreign}/d`, {mode: 'no-cors'}).catch(() => null);
}"""


@pytest.fixture
def foreign() -> Iterator[str]:
    """The address of somebody else's page on this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>foreign</title><body>")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


def test_a_page_of_another_origin_reaches_nothing(server: str, foreign: str, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(foreign)
    told = page.evaluate(ATTACK, server)
    frames = [frame.content() for frame in page.frames[1:]]
    context.close()
    assert set(told.values()) == {"refused", "closed"}, told
    assert len(frames) == 1
    assert "Streamlit" not in frames[0]
    assert "stApp" not in frames[0]


def test_markup_that_got_into_the_page_runs_no_script_and_fetches_nothing(
    server: str, foreign: str, visit: Visit
) -> None:
    """That the policy breaks no view of ours, the other tests say: what it stops is an error of the console."""
    screen = visit(server).open("files")
    assert screen.trouble == []
    asked: list[str] = []
    screen.page.on("response", lambda answer: asked.append(answer.url))
    screen.page.evaluate(INJECT, foreign)
    screen.rested()
    assert screen.page.evaluate("window.ran") is None
    assert [url for url in asked if url.startswith(foreign)] == []
    assert len([line for line in screen.trouble if "Content Security Policy" in line]) >= 4
    # All of it is of the markup.
    screen.trouble.clear()
