"""The dashboard in a real Chromium, one server of the sample data and one browser for all modules.
A test that leaves a console error, an exception of a page or a request to another host behind fails when it ends.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests import network
from tests.serving import PATIENCE, ROOT, answering, free_port, processes, stop

CHROMIUM = shutil.which("chromium")
THERE = {"chromium": CHROMIUM, "playwright": importlib.util.find_spec("playwright")}
MISSING = [name for name, there in THERE.items() if there is None]
REQUIRED = os.environ.get("LAYOUTSCOPE_REQUIRE_BROWSER") == "1"
# Chromium loads the two lists below its address bar anew for each window, and nobody types there. The option takes the
# place of the one of Playwright, so that the names of that one are repeated.
SWITCHED_OFF = [
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
    "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter",
    "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch", "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
]  # fmt: skip
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--disable-features={','.join(SWITCHED_OFF)}",
]  # fmt: skip

# Where the page and its boxes are on the screen, in CSS pixels.
PLACES = """() => {
  const host = shadowOf('.page-image');
  const rect = (node) => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const boxes = {};
  for (const node of host.querySelectorAll('.box')) {
    const m = node.getScreenCTM(), b = node.getBBox();
    const x = (value) => value * m.a + m.e, y = (value) => value * m.d + m.f;
    boxes[node.dataset.key] = [x(b.x), y(b.y), x(b.x + b.width), y(b.y + b.height)];
  }
  const image = host.querySelector('.page-image');
  return {sheet: rect(host.querySelector('.sheet')), image: image.hidden ? null : rect(image), boxes,
    pixels: [image.naturalWidth, image.naturalHeight]};
}"""
# Share of the dark pixels of the page image that lie in the given boxes (shares of the page).
INK_INSIDE = """(boxes) => {
  const host = shadowOf('.page-image');
  const image = host.querySelector('.page-image'), canvas = document.createElement('canvas');
  const width = canvas.width = image.naturalWidth, height = canvas.height = image.naturalHeight;
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, width, height).data;
  let all = 0, inside = 0;
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) {
    const at = 4 * (y * width + x);
    if (data[at] + data[at + 1] + data[at + 2] > 380) continue;
    all += 1;
    const u = (x + 0.5) / width, v = (y + 0.5) / height;
    if (boxes.some((box) => u >= box[0] && u <= box[2] && v >= box[1] && v <= box[3])) inside += 1;
  }
  return [all, inside];
}"""

# Counts what the page has put off for a moment (the pause before a choice is told, the one after typing or sliding) and
# what it has asked for, pictures too. What is put off for longer is for a server that does not answer.
UNDER_WAY = """(() => {
  // What is drawn inside of our components, and of the one that has something.
  window.shadows = () => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .flatMap((node) => node.shadowRoot ?? []);
  window.shadowOf = (selector) => shadows().find((root) => root.querySelector(selector));
  const putOff = new Set(), { setTimeout: begin, clearTimeout: end, fetch: ask } = window;
  const { decode } = HTMLImageElement.prototype;
  let asked = 0;
  window.setTimeout = (act, delay = 0, ...rest) => {
    if (typeof act !== 'function' || delay > 400) return begin(act, delay, ...rest);
    const timer = begin(() => { putOff.delete(timer); act(...rest); }, delay);
    putOff.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => { putOff.delete(timer); end(timer); };
  const awaited = (answer) => { asked += 1; return answer.finally(() => { asked -= 1; }); };
  window.fetch = (...what) => awaited(ask(...what));
  HTMLImageElement.prototype.decode = function () { return awaited(decode.call(this)); };
  const busy = () => putOff.size || asked;
  const idle = () => new Promise((done) => requestIdleCallback(done, { timeout: 100 }));
  const pause = () => new Promise((done) => begin(done, 25));
  // Not asked in every frame, as a frame that nobody needs costs a twelfth of the processor; and idle by a bound, as
  // Chromium at times is idle and does not say so.
  window.atRest = async (more) => {
    const last = performance.now() + 10_000;
    let calm = 0;
    while (calm < 4 && performance.now() < last) {
      calm = busy() || !more() ? 0 : calm + 1;
      if (calm < 4) await (calm ? idle() : pause());
    }
    return calm === 4;
  };
})()"""
# Whether nothing is under way, and the page was idle three times, so that also what follows from a message is on
# screen.
_WAYS = {
    "Grid": ("Pages", "Grid"),
    "Decisions": ("Review", ""),
    "Pack": ("Review", "Pack"),
}
"""The word of the navigation and the mode of a view, by its title, where they are not that title."""
AT_REST = "() => window.atRest(() => true)"
# And the run has ended, nothing on screen is of an earlier one, and the page of Pages is drawn.
SETTLED = """() => window.atRest(() => {
  if (!document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')) return false;
  if (!document.querySelector('.ls-title') || document.querySelector('[data-stale=true]')) return false;
  if (document.querySelector('.ls-title')?.innerText !== 'Pages') return true;
  if (document.querySelector('.ls-empty')) return true;
  return Boolean(shadowOf('.chips.ready'));
})"""

STEP = """(address) => {
  // A key would belong to what was pressed last.
  document.activeElement?.blur();
  history.pushState(null, '', address);
  dispatchEvent(new PopStateEvent('popstate', {state: null}));
}"""


@functools.cache
def usual_port() -> int:
    """The port of the servers that do not live as long as the browser."""
    return free_port()


def own_port() -> int:
    """The usual port, else another one.

    Under an address that it knows, Chromium has Streamlit's scripts compiled; under a new one it compiles them anew.
    """
    with socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            usual.bind(("127.0.0.1", usual_port()))
            return usual_port()
    return free_port()


def started(folder: Path, port: int, *words: str, by_streamlit: bool = False) -> subprocess.Popen[bytes]:
    """The dashboard, started from `folder` by its command, or by Streamlit's own, once it answers."""
    environment = {name: value for name, value in os.environ.items() if name != "LAYOUTSCOPE_WORKSPACE"}
    command = [sys.executable, "-m", "evaluator.cli", *words, "--no-browser", "--port", str(port)]
    if by_streamlit:
        command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless", "true"]
        command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
    return noting(command, folder, folder / "server.log", port, environment)


def noting(
    command: Sequence[str], folder: Path, log: Path, port: int, environment: Mapping[str, str] = os.environ
) -> subprocess.Popen[bytes]:
    """A server that answers, notes its connections, and says where it crashes."""
    environment = {**environment, "PYTHONPATH": network.python_path(ROOT), "PYTHONFAULTHANDLER": "1"}
    return answering(command, folder, log, port, environment)


# The servers that run, and where each writes; what those said that ended with a failure, until it is reported.
_RUNNING: dict[subprocess.Popen[bytes], Path] = {}
_SAID: list[tuple[str, str]] = []


@contextlib.contextmanager
def alive(process: subprocess.Popen[bytes], log: Path) -> Iterator[None]:
    """End a server after the block, which fails when it has ended by itself before."""
    _RUNNING[process] = log
    try:
        yield
    except BaseException:
        _SAID.append((f"server {process.pid}", where_threads_are(process, log)))
        raise
    finally:
        del _RUNNING[process]
        code = process.poll()
        stop(process)
        said = log.read_text(encoding="utf-8", errors="replace")
        # One that was started again by its command has ended too.
        if code is not None or "ended by itself" in said:
            pytest.fail(f"the server ended by itself with {code}: {said}")


def where_threads_are(process: subprocess.Popen[bytes], log: Path) -> str:
    """What a server and the processes that it started wrote last, with where each of their threads is."""
    ask = signal.SIGUSR1
    for pid in processes(process.pid):
        with contextlib.suppress(OSError):
            # One that does not handle it would end.
            handled = int(re.findall(r"SigCgt:\t(\w+)", Path(f"/proc/{pid}/status").read_text())[0], 16)
            if handled >> (ask - 1) & 1:
                os.kill(pid, ask)
                time.sleep(0.5)
    return log.read_text(encoding="utf-8", errors="replace")[-20_000:]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that waited in vain says what it saw last and what the servers were doing."""
    report = yield
    screens = getattr(getattr(item, "funcargs", {}).get("visit"), "screens", ())
    if report.when == "call" and report.failed:
        for screen in screens:
            report.sections.append((f"screen of {screen.url}", screen.last_seen()))
        for process, log in _RUNNING.items():
            _SAID.append((f"server {process.pid}", where_threads_are(process, log)))
        report.sections += _SAID
    if report.when == "teardown":
        _SAID.clear()
    return report


@contextlib.contextmanager
def dashboard(folder: Path, *words: str, by_streamlit: bool = False, port: int | None = None) -> Iterator[str]:
    """A dashboard that runs for the block; yields its address."""
    port = port or own_port()
    process = started(folder, port, *words, by_streamlit=by_streamlit)
    with alive(process, folder / "server.log"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def harness(script: Path, folder: Path) -> Iterator[str]:
    """A small Streamlit app of these tests that runs for the block; yields its address."""
    port = own_port()
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
        "server.fileWatcherType": "none",
        "client.toolbarMode": "viewer",
    }
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [f"--{name}={value}" for name, value in options.items()]
    log = folder / "harness.log"
    with alive(noting(command, ROOT, log, port), log):
        yield f"http://127.0.0.1:{port}"


def new_reader(browser: Any, **more: Any) -> Any:
    """The context of a reader of their own, whose pages say what is under way."""
    context = browser.new_context(reduced_motion="reduce", **more)
    context.add_init_script(UNDER_WAY)
    return context


def free_tab(context: Any) -> Any:
    """The first tab of a context when nobody is in it, else a new one.

    A tab that has shown the dashboard before shows it again for two thirds of the CPU time of a new one.
    """
    if context.pages and context.pages[0].url == "about:blank":
        return context.pages[0]
    return context.new_page()


class Screen:
    """One open browser tab on the dashboard, and what went wrong in it."""

    def __init__(
        self,
        page: Any,
        url: str,
        trouble: list[str],
        *,
        width: int = 1440,
        height: int = 900,
        allowed: Sequence[str] = (),
        color_scheme: str = "light",
    ) -> None:
        self.page = page
        # A tab behind another one draws one frame a second.
        self.page.bring_to_front()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=color_scheme)
        self.url = url
        self.trouble = trouble
        self.local = (url, url.replace("http", "ws"), "data:", "blob:", *allowed)
        # Whether the server owes the answer to something that this tab has sent.
        self.waiting = False
        # How many messages this tab has sent.
        self.sent = 0
        # The parts of the view that the server runs alone, and those that the run so far has shown.
        self.parts: set[str] = set()
        self.shown_parts: set[str] = set()
        # The last messages, each with when it went.
        self.messages: deque[str] = deque(maxlen=60)
        self.listeners = {
            "console": self._heard, "pageerror": self._failed, "request": self._asked, "websocket": self._connected,
        }  # fmt: skip
        for event, listener in self.listeners.items():
            self.page.on(event, listener)

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.trouble.append(f"console: {message.text} {message.location.get('url', '')}")

    def _failed(self, error: Any) -> None:
        self.trouble.append(f"page error: {error}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.local):
            self.trouble.append(f"foreign: {request.url}")

    def _connected(self, socket: Any) -> None:
        """Note what is sent and answered: the state of a run on screen lags behind, by seconds on a busy machine."""
        self.waiting = False

        # The part of the view of what is sent again by its digest alone.
        part_of: dict[str, str] = {}

        def noted(what: str) -> None:
            self.messages.append(f"{time.monotonic():.2f} {what}")

        def sent(payload: bytes) -> None:
            message = BackMsg.FromString(payload)
            asked = message.rerun_script
            self.sent += 1
            # The server answers nothing about a part that it has no more: one that is about to leave the screen.
            known = {"", *self.parts, *self.shown_parts}
            kind = message.WhichOneof("type")
            if kind == "rerun_script" and asked.fragment_id in known:
                self.waiting = True
            noted(f"> {kind} part {asked.fragment_id or None} {asked.query_string}")

        def received(payload: bytes) -> None:
            message = ForwardMsg.FromString(payload)
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.fragment_id:
                part_of[message.hash] = message.delta.fragment_id
                self.shown_parts.add(message.delta.fragment_id)
            if kind == "ref_hash" and message.ref_hash in part_of:
                self.shown_parts.add(part_of[message.ref_hash])
            if kind == "script_finished":
                self.waiting = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
                whole = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
                self.parts = self.shown_parts if whole else self.parts | self.shown_parts
                self.shown_parts = set()
                noted(f"< {kind} {message.script_finished}")
            elif kind != "delta":
                noted(f"< {kind}")

        def closed(_: Any) -> None:
            self.waiting = False
            noted("closed")

        socket.on("framesent", sent)
        socket.on("framereceived", received)
        socket.on("close", closed)

    def last_seen(self) -> str:
        """The last messages, the state of the run and the text on screen, for a report; a tab may answer no more."""
        lines = [f"{time.monotonic():.2f} now; an answer is owed: {self.waiting}", *self.messages, *self.trouble]
        try:
            app = self.page.get_by_test_id("stApp")
            lines.append(str(app.get_attribute("data-test-script-state", timeout=5_000)))
            lines.append(app.inner_text(timeout=5_000)[:4_000])
        except Exception as problem:  # noqa: BLE001 - whatever it is, the report of the test comes first
            lines.append(f"the tab does not answer: {problem}")
        return "\n".join(lines)

    def leave(self) -> None:
        """Leave the dashboard, as one does who closes the tab; the next test goes on in it."""
        if self.page.is_closed():
            return
        if self.page != self.page.context.pages[0]:
            self.page.close()
            return
        self.page.goto("about:blank")
        for event in list(self.listeners):
            self.page.remove_listener(event, self.listeners.pop(event))

    def open(self, view: str = "", **address: str) -> Screen:
        """Go to a view by its address and wait until it is shown."""
        query = f"?{urllib.parse.urlencode(address)}" if address else ""
        self.page.goto(f"{self.url}/{view}{query}")
        return self.settled()

    def to(self, view: str = "", **address: str) -> Screen:
        """Go to a view by its address within the tab, as a step in its history does: the session goes on."""
        query = f"?{urllib.parse.urlencode(address)}" if address else ""
        self.settled()
        self.page.evaluate(STEP, f"/{view}{query}")
        self.settled()
        if view == "page_browser" and "doc" in address:
            self.wait_for_page(address["doc"], int(address.get("page", "1")))
        return self

    def settled(self) -> Screen:
        """Wait until what was sent is answered, the last run has ended, and nothing is under way in the page."""
        return self._at_rest(SETTLED)

    def arrived(self, title: str) -> Screen:
        """Wait until a view is shown, by its title."""
        self.page.locator(".ls-title", has_text=title).wait_for(state="attached")
        return self.settled()

    def addressed(self, **parts: str) -> Screen:
        """Wait until the address bar has these parts, and what follows from them is shown."""
        self.wait(lambda: parts.items() <= self.address().items(), f"{parts} in the address; {self.address()}")
        return self.settled()

    def drawn(self) -> Screen:
        """Wait until the page of the view has its boxes; in Compare that of the first model."""
        self.settled().page.locator(".chips.ready").first.wait_for(state="attached")
        return self

    def rested(self) -> Screen:
        """Wait until what was sent is answered and nothing is under way in the page, whichever page it is."""
        return self._at_rest(AT_REST)

    def _at_rest(self, condition: str) -> Screen:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.wait(lambda: not self.waiting, "the answer of the server")
            if self._holds(condition) and not self.waiting:
                return self
        pytest.fail("waited in vain for the page to rest")

    def _holds(self, condition: str) -> bool:
        """What a promise of the page says, within its own bound; no when the page has been left meanwhile."""
        from playwright.sync_api import Error

        try:
            return bool(self.page.evaluate(condition))
        except Error as problem:
            if "context was destroyed" not in str(problem):
                raise
            return False

    def go(self, name: str) -> Screen:
        """Another view through the navigation, as slowly as a hand presses.

        What the viewer still has to tell goes first: Streamlit takes an event of the old view that comes a moment
        after the press for a wish to stay.
        """
        self.settled()
        self.way(name).click(delay=60)
        if mode := _WAYS.get(name, (name, ""))[1]:
            self.mode(mode).click(delay=60)
        return self.arrived(name)

    def way(self, name: str) -> Any:
        """The word of the navigation that leads to a view."""
        return self.word(_WAYS.get(name, (name, ""))[0])

    def word(self, name: str) -> Any:
        """A word of the navigation."""
        return self.page.get_by_test_id("stTopNavLink").filter(has_text=re.compile(f"^{name}$"))

    def mode(self, name: str) -> Any:
        """The way to another mode of the shown word."""
        return self.page.locator(".st-key-modes").get_by_role("link", name=name)

    def thresholds(self) -> Any:
        """What is at the right of the navigation, opened: the sliders, and what made the numbers."""
        return self.opened("thresholds")

    def opened(self, name: str) -> Any:
        """What one of the buttons at the right of the navigation shows."""
        # One with a tooltip is there twice, once for windows of a hand's width.
        button = self.page.locator(f".st-key-{name}").get_by_test_id("stPopoverButton").filter(visible=True)
        if button.get_attribute("aria-expanded") != "true":
            button.click()
        body = self.page.get_by_test_id("stPopoverBody")
        body.wait_for()
        return body

    def signature(self, name: str = "thresholds") -> str:
        """What made the numbers, as the thresholds or the models have it; they are closed afterwards."""
        text: str = self.opened(name).locator(".ls-facts").inner_text()
        self.page.keyboard.press("Escape")
        self.page.get_by_test_id("stPopoverBody").wait_for(state="detached")
        return text

    def follow(self, name: str) -> Screen:
        """Another view through the navigation by keyboard, as slowly as `go`."""
        self.settled()
        mode = _WAYS.get(name, (name, ""))[1]
        for link in (self.way(name), *([self.mode(mode)] if mode else [])):
            link.focus()
            self.page.keyboard.press("Enter")
        return self.arrived(name)

    def press(self, *keys: str) -> Screen:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def sized(self, width: int = 1440, height: int = 900) -> Screen:
        """Give the window another size, and wait until the page has it."""
        self.page.set_viewport_size({"width": width, "height": height})
        return self.rested()

    def tab_to(self, target: Any, most: int = 60, key: str = "Tab") -> Screen:
        """Press Tab until something has the focus; fails when that takes more presses than a reader would make."""
        focused = target.and_(self.page.locator(":focus"))
        for _ in range(most):
            self.page.keyboard.press(key)
            if focused.count():
                return self
        pytest.fail(f"{most} times {key} do not lead to {target}")

    def bring(self, part: str) -> Screen:
        # What is drawn later moves the part out of the window again.
        self.settled()
        self.page.locator(f".st-key-{part}").scroll_into_view_if_needed()
        return self

    def click_cell(self, table: Any, row: int, x: float) -> None:
        """Click a cell of a table, which Streamlit draws on a canvas; row from 0 below the header, x in pixels.

        The header is 34 pixels high and a row 26. The press waits until the table no longer moves: on a busy machine
        what is above it is drawn late, and a place that was measured before is another row. And until the table has
        that row for screen readers, which comes after its first picture: a press before it has its data does nothing.
        A press that lands right and tells the server nothing, which the table of Streamlit has at times when it comes
        back into the window, is made again, as a reader would.
        """
        table.scroll_into_view_if_needed()
        table.locator("canvas tbody tr").nth(row).wait_for(state="attached")
        for _ in range(3):
            before = self.sent
            table.click(position={"x": x, "y": 34 + 26 * row + 13}, delay=60)
            self.rested()
            if self.sent > before:
                return

    def choose(self, *files: Path, link: str = "Add files") -> Screen:
        """Choose files by a link that is on screen, and wait until they are listed."""
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_role("button", name=link).first.click()
        chooser.value.set_files(files)
        for file in files:
            self.page.get_by_text(file.name).first.wait_for()
        return self.settled()

    def cells(self) -> str:
        """What is in the tables on screen: Streamlit draws them on a canvas, with their text for screen readers."""
        texts = "() => [...document.querySelectorAll('canvas table')].map((n) => n.textContent).join(' ')"
        return str(self.page.evaluate(texts))

    def places(self) -> dict[str, Any]:
        places: dict[str, Any] = self.page.evaluate(PLACES)
        return places

    def middle(self, key: str) -> tuple[float, float]:
        x1, y1, x2, y2 = self.places()["boxes"][key]
        return (x1 + x2) / 2, (y1 + y2) / 2

    def counts(self) -> dict[str, int]:
        """Numbers on the toggles."""
        return {status: self.count_of(status) for status in ("TP", "FP", "FN")}

    def count_of(self, status: str) -> int:
        """The number on a toggle."""
        return int(self.page.locator(f".toggle:has(.swatch-{status}) > b").last.inner_text().replace(",", ""))

    def where(self) -> tuple[str, int]:
        """Document and page on screen, pages from 1."""
        number = self.page.locator(".place b").inner_text()
        return self.page.locator(".place-document").inner_text(), int(number.replace(",", ""))

    def wait_for_page(self, document: str, number: int) -> None:
        self.wait(lambda: self.where() == (document, number), f"{document}, page {number}; {self.where()}")
        self.settled()

    def wait(self, done: Callable[[], bool], what: str) -> Screen:
        """Until something holds; generous, because the machine is shared."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if done():
                return self
            self.page.wait_for_timeout(50)
        pytest.fail(f"waited in vain for {what}")

    def painted(self) -> None:
        """Wait until what has happened in the browser so far is drawn."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def expand(self, title: str) -> Screen:
        """Open a folded part and wait until it has stopped growing: a press meanwhile lands beside its aim."""
        part = self.page.get_by_test_id("stExpander").filter(has=self.page.get_by_text(title, exact=True))
        part.locator("summary").click()
        grown = "(part) => !part.getAnimations({subtree: true}).some((each) => each.playState === 'running')"
        self.rested().wait(lambda: part.evaluate(grown), f"the end of opening {title}")
        return self.rested()

    def address(self) -> dict[str, str]:
        """What is in the address bar."""
        # Asked of the page itself: what the driver knows lags behind.
        return dict(urllib.parse.parse_qsl(self.page.evaluate("location.search").removeprefix("?")))

    def text(self) -> str:
        """Everything that can be read, the viewer too."""
        return str(self.page.locator("[data-testid=stApp]").inner_text())


class Alone(Screen):
    def __init__(self, page: Any, url: str, panes: int = 1) -> None:
        super().__init__(page, url, [])
        self.panes, self.visits = panes, 0
        self.page.goto(url)
        self.drawn()

    def drawn(self) -> Self:
        self.page.locator(".pane .chips.ready").nth(self.panes - 1).wait_for(state="attached")
        self.rested()
        return self

    def scene(self, query: str = "") -> Self:
        """Begin anew in the same tab: an empty log and a component that has shown nothing yet."""
        self.visits += 1
        self.page.emulate_media(color_scheme="light")
        self.page.mouse.move(5, 5)
        self.sized().page.evaluate(STEP, f"/?visit={self.visits}&{query}")
        self.rested()
        return self.drawn()

    def report(self) -> dict[str, Any]:
        """How often the app ran, and what the component told it."""
        report: dict[str, Any] = json.loads(self.page.locator("[data-testid=stText]").first.inner_text())
        return report

    def close(self) -> None:
        self.leave()
        assert self.trouble == []


Visit = Callable[..., Screen]
"""What the fixture `visit` gives: a tab on an address."""


def course(screen: Screen, *steps: Callable[[Screen], None]) -> None:
    """One after the other in the same tab; what fails says in which step."""
    for step in steps:
        try:
            step(screen)
            screen.rested()
        except BaseException as problem:
            problem.add_note(f"in the step {getattr(step, 'func', step).__name__}")
            raise


@pytest.fixture(scope="package")
def tabs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium with a profile on disk; skips when it is not there, unless it must be.

    Only such a profile keeps the compiled scripts of Streamlit from test to test: without it each tab compiles them
    anew, which is most of what a browser test costs. Animations are off for the same reason.
    """
    if MISSING and REQUIRED:
        pytest.fail(f"LAYOUTSCOPE_REQUIRE_BROWSER=1, and {' and '.join(MISSING)} is missing")
    if MISSING:
        pytest.skip(f"the browser tests need {' and '.join(MISSING)}")
    from playwright.sync_api import sync_playwright

    with network.browser_flags() as only_here, sync_playwright() as play:
        profile = tmp_path_factory.mktemp("profile")
        # Chromium fetches the dictionary of its spelling checker when somebody types; no option of its own stops that.
        (profile / "Default").mkdir()
        preferences = {"browser": {"enable_spellchecking": False}, "spellcheck": {"dictionaries": [], "dictionary": ""}}
        (profile / "Default" / "Preferences").write_text(json.dumps(preferences), encoding="utf-8")
        opened = play.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=[*FLAGS, *only_here], reduced_motion="reduce"
        )
        opened.add_init_script(UNDER_WAY)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def browser(tabs: Any) -> Any:
    """Chromium, for those who want a context of their own."""
    return tabs.browser


@pytest.fixture(scope="package")
def second(tabs: Any) -> Iterator[Any]:
    """The context of a second reader, kept for the compiled scripts: a new one takes three times as much to load."""
    context = new_reader(tabs.browser)
    yield context
    context.close()


@pytest.fixture(scope="package")
def server(tabs: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The sample data, from an empty folder; for all tests that need no server of their own."""
    with dashboard(tmp_path_factory.mktemp("elsewhere"), port=free_port()) as url:
        yield url


@pytest.fixture
def visit(tabs: Any, second: Any) -> Iterator[Callable[..., Screen]]:
    """Opens tabs that know nothing of each other; at the end nothing may have gone wrong in any of them.

    The first tab of a test is one of the shared profile and the next one of the second reader; both are empty again
    when the test ends. Every further one, and one for which the context needs `more`, has a context of its own.
    """
    screens: list[Screen] = []
    trouble: list[str] = []

    def visit(url: str, *, more: Mapping[str, Any] | None = None, **options: Any) -> Screen:
        free = [context for context in (tabs, second) if context not in [each.page.context for each in screens]]
        own = more or not free
        context = new_reader(tabs.browser, **(more or {})) if own else free[0]
        screens.append(screen := Screen(free_tab(context), url, trouble, **options))
        return screen

    # For the report of a test that fails.
    visit.screens = screens  # type: ignore[attr-defined]
    yield visit
    for screen in screens:
        if screen.page.context in (tabs, second):
            screen.leave()
        else:
            screen.page.context.close()
    for context in {tabs, *(each.page.context for each in screens)} & {tabs, second}:
        context.clear_cookies()
        storage = context.new_cdp_session(free_tab(context))
        for url in {screen.url for screen in screens}:
            storage.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "local_storage,indexeddb"})
        storage.detach()
    assert trouble == [], "\n".join(trouble)
