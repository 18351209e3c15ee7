"""What a reader waits for, in a real Chromium: milliseconds and frames from key to paint, bytes, messages, server CPU.

The page browser runs beside `st.image` with boxes that Pillow draws, in one run, and their turns alternate, so that a
busy machine slows both; and beside the browser of hotcoco, on the same pages and boxes, where its command `coco` is
named (of an environment with `hotcoco[browse]`). A turn is from the press of a key (`st.image`: a click on its
button) until the new boxes are on screen: for the page browser the overlay, for the peers the new image, decoded, for
hotcoco the canvas over it as well. Warm: every page was shown once before.
The first peer is the small app that a Streamlit user would write: two buttons, a page image, the boxes drawn into it,
without list, names, strip or permalink. `sent` and `received` are bytes of the websocket as they cross the wire: each
message is compressed here once more with what browser and server agreed on, the peer's as it is, because they agree on
nothing. Compare, with two models, and Fields, with a page of as many fields, are turned and judged in the same way, and
in each view a key is held down before any page was seen; fields, pixels and posters of the sample are judged in
Compare. Then every view is opened, the first time and again, and the IoU threshold is moved. `fetched` are bytes that
came by their own address; `cpu_ms` is of the server and what runs below it, until the page rests.

The part `controls` moves every slider of every view, without a browser: see `controls`. With `--against CHECKOUT` the
server of another checkout makes the same steps in turns with this one. The part `opens` opens every view cold, in a
server that has shown the list of files alone, and warm, with the time until its title and its first number are sent.

    python -m tests.benchmarks.bench_screen [--turns N] [--boxes N] [--folder DIR] [--part P] [--hotcoco COMMAND]
                                            [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tests.benchmarks import controls
from tests.building import Box, write_file
from tests.dashboard import ROOT

PAGES = 24
# Seconds in which what an act sets off has ended.
_LONGEST_REST = 5.0
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

PEER = """
import io, json, sys
from pathlib import Path
import pymupdf, streamlit as st
from PIL import Image, ImageDraw

folder = Path(sys.argv[1])

@st.cache_data
def boxes():
    return json.loads((folder / "peer.json").read_text())

@st.cache_data
def picture(page):
    with pymupdf.open(folder / "bench.pdf") as opened:
        pixmap = opened[page].get_pixmap(dpi=110)
    return Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)

st.session_state.setdefault("page", 0)
step = st.columns(2)
if step[0].button("Previous"):
    st.session_state.page = max(0, st.session_state.page - 1)
if step[1].button("Next"):
    st.session_state.page = min(len(boxes()) - 1, st.session_state.page + 1)
image = picture(st.session_state.page).copy()
draw = ImageDraw.Draw(image)
for x1, y1, x2, y2, colour in boxes()[st.session_state.page]:
    draw.rectangle((x1 * image.width, y1 * image.height, x2 * image.width, y2 * image.height), outline=colour, width=2)
st.image(image, output_format="JPEG")
st.write(f"Page {st.session_state.page + 1}")
"""

# One act in a view of ours, until its change is painted: the boxes of a page are others, or the next frame is there.
OURS = """([component, act]) => new Promise((done, fail) => {
  const hosts = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')];
  const host = hosts.map((each) => each.shadowRoot).find((each) => each.querySelector(component));
  const layer = host.querySelector('.pane svg.overlay[role="group"]');
  let frames = 0, open = true;
  const count = () => { frames += 1; if (open) requestAnimationFrame(count); };
  const start = performance.now();
  const late = setTimeout(() => fail(new Error('nothing changed')), 20000);
  const painted = () => {
    clearTimeout(late);
    requestAnimationFrame(() => setTimeout(() => { open = false; done([performance.now() - start, frames]); }));
  };
  requestAnimationFrame(count);
  if (act.turns) {
    const watch = new MutationObserver(() => { watch.disconnect(); painted(); });
    watch.observe(layer, {childList: true});
  }
  if (act.click) [...host.querySelectorAll(act.click)].at(act.nth ?? 0).click();
  else if (act.hover !== undefined) {
    const at = [...host.querySelectorAll('.pane svg.overlay[role="group"] .box')].at(act.hover).getBoundingClientRect();
    host.querySelector('.pane').dispatchEvent(new PointerEvent('pointermove',
      {clientX: at.left + at.width / 2, clientY: at.top + at.height / 2, bubbles: true, composed: true}));
  } else host.querySelector('.pane').dispatchEvent(
    new KeyboardEvent('keydown', {key: act.key, bubbles: true, composed: true}));
  if (!act.turns) painted();
})"""
# A key held down: how many pages it draws, frames and milliseconds of each, the longest wait for one, and the longest
# time in which the view says of none where it is.
HELD = """([component, presses, key]) => new Promise((done) => {
  const hosts = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')];
  const host = hosts.map((each) => each.shadowRoot).find((each) => each.querySelector(component));
  const times = [], signs = [];
  let frames = 0, open = true;
  const count = () => { frames += 1; if (open) requestAnimationFrame(count); };
  requestAnimationFrame(count);
  const watch = new MutationObserver(() => times.push([performance.now(), frames]));
  watch.observe(host.querySelector('.pane svg.overlay[role="group"]'), {childList: true});
  const places = new MutationObserver(() => signs.push(performance.now()));
  for (const node of host.querySelectorAll('.joined-text, .net-head')) {
    places.observe(node, {childList: true, subtree: true, characterData: true});
  }
  let left = presses;
  const start = performance.now();
  let released = start;
  const longest = (list) => Math.max(0, ...list.slice(1).map((each, at) => each - list[at]));
  const press = () => {
    host.querySelector('.pane').dispatchEvent(
      new KeyboardEvent('keydown', {key, repeat: left < presses, bubbles: true, composed: true}));
    left -= 1;
    if (left) setTimeout(press, 33);
    else {
      released = performance.now();
      host.querySelector('.pane').dispatchEvent(new KeyboardEvent('keyup', {key, bubbles: true, composed: true}));
      setTimeout(() => {
        watch.disconnect();
        open = false;
        const [first, last] = [times[0], times[times.length - 1]];
        const steps = Math.max(1, times.length - 1);
        const waits = [start, ...times.map(([at]) => at)].filter((at) => at <= last[0]);
        const told = [start, ...signs.filter((at) => at <= released), released];
        done([times.length, (last[0] - first[0]) / steps, (last[1] - first[1]) / steps, longest(waits), longest(told)]);
      }, 3000);
    }
  };
  press();
})"""
# A control or a link outside of the components, until the script has run and its messages are drawn.
RUN = """([selector, key]) => new Promise((done, fail) => {
  const app = document.querySelector('[data-testid="stApp"]');
  const state = () => app.getAttribute('data-test-script-state');
  const start = performance.now();
  const late = setTimeout(() => fail(new Error('the script did not run')), 60000);
  let ran = false;
  const look = () => {
    if (state() !== 'notRunning') ran = true;
    if (ran && state() === 'notRunning') {
      clearTimeout(late);
      requestAnimationFrame(() => setTimeout(() => done([performance.now() - start, 0])));
    } else setTimeout(look, 2);
  };
  // A range of the browser is moved by keys of a person only, which come from outside.
  if (!key) document.querySelector(selector).click();
  look();
})"""
PEER_TURN = """(name) => new Promise((done, fail) => {
  const image = () => document.querySelector('[data-testid="stImage"] img');
  const before = image().src;
  const button = [...document.querySelectorAll('button')].find((each) => each.innerText === name);
  const start = performance.now();
  const late = setTimeout(() => fail(new Error('no new page')), 10000);
  const look = () => {
    const now = image();
    if (now && now.src !== before && now.complete) {
      now.decode().then(() => requestAnimationFrame(() => setTimeout(() => {
        clearTimeout(late);
        done([performance.now() - start, 0]);
      })));
    } else requestAnimationFrame(look);
  };
  button.click();
  look();
})"""


# The same in the lightbox of hotcoco's browser: its picture is another one, and the canvas over it was drawn.
HOTCOCO_TURN = """(key) => new Promise((done, fail) => {
  const canvas = () => document.getElementById('overlay-canvas');
  const before = canvas();
  const start = performance.now();
  const late = setTimeout(() => fail(new Error('no new page')), 10000);
  const look = () => {
    const image = document.getElementById('detail-img');
    if (canvas() && canvas() !== before && canvas().style.width && image.complete) {
      image.decode().then(() => requestAnimationFrame(() => setTimeout(() => {
        clearTimeout(late);
        done([performance.now() - start, 0]);
      })));
    } else requestAnimationFrame(look);
  };
  document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  look();
})"""


def make_files(folder: Path, boxes: int, pages: int, *, second: bool = False) -> None:
    """A PDF of text pages, a ground truth and a prediction with so many boxes a page on both sides together."""
    import pymupdf

    rng = np.random.default_rng(boxes)
    with pymupdf.open() as made:
        for number in range(pages):
            page = made.new_page(width=595, height=842)
            for line in range(60):
                words = " ".join(f"word{(number * 61 + line * 17 + place) % 997}" for place in range(11))
                page.insert_text((40, 40 + 13 * line), words, fontsize=9)
        made.save(folder / "bench.pdf")
    truth: list[Box] = []
    predicted: list[Box] = []
    peer: list[list[list[Any]]] = []
    columns, rows = 4, max(1, boxes // 8)
    for page in range(pages):
        drawn: list[list[Any]] = []
        for place in range(boxes // 2):
            x = 0.06 + 0.22 * (place % columns)
            y = 0.04 + 0.9 * (place // columns) / rows
            height = 0.6 * 0.9 / rows
            corners = (x, y, x + 0.19, y + height)
            moved = tuple(float(each) for each in np.clip(np.array(corners) + rng.normal(0, 0.002, 4), 0, 1))
            truth.append(Box("bench.pdf", page, "Figure", corners))
            label = "Table" if place % 10 == 0 else "Figure"
            predicted.append(Box("bench.pdf", page, label, moved, 0.9))  # type: ignore[arg-type]
            drawn += [[*corners, "#5E35B1"], [*moved, "#C75000"]]
        peer.append(drawn)
    write_file(folder / "ground_truth.json", truth, side="ground_truth")
    write_file(folder / "model.json", predicted)
    if second:
        others = [
            each._replace(label="Table" if at % 10 == 5 else "Figure", score=0.8)  # on every page other mistakes
            for at, each in enumerate(predicted)
        ]
        write_file(folder / "other.json", others)
    (folder / "peer.json").write_bytes(msgspec.json.encode(peer))
    (folder / "peer.py").write_text(PEER)


def make_coco(folder: Path) -> None:
    """The same boxes as COCO files with the pages as images, for hotcoco's browser."""
    import pymupdf

    images: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    predicted: list[dict[str, Any]] = []
    (folder / "images").mkdir()
    with pymupdf.open(folder / "bench.pdf") as opened:
        for page, drawn in enumerate(msgspec.json.decode((folder / "peer.json").read_bytes()), 1):
            pixmap = opened[page - 1].get_pixmap(dpi=110)
            pixmap.save(folder / "images" / f"{page}.png")
            images.append({"id": page, "file_name": f"{page}.png", "width": pixmap.width, "height": pixmap.height})
            for place, (x1, y1, x2, y2, _) in enumerate(drawn):
                box = [x1 * pixmap.width, y1 * pixmap.height, (x2 - x1) * pixmap.width, (y2 - y1) * pixmap.height]
                row = {"image_id": page, "bbox": box, "category_id": 2 if place % 20 == 1 else 1}
                if place % 2:
                    predicted.append({**row, "score": 0.9})
                else:
                    truth.append({**row, "id": len(truth) + 1, "area": box[2] * box[3], "iscrowd": 0})
    categories = [{"id": 1, "name": "Figure"}, {"id": 2, "name": "Table"}]
    whole = {"images": images, "annotations": truth, "categories": categories}
    (folder / "coco_gt.json").write_bytes(msgspec.json.encode(whole))
    (folder / "coco_dt.json").write_bytes(msgspec.json.encode(predicted))


def make_fields(folder: Path, boxes: int, pages: int) -> None:
    """The same PDF as one document whose pages have so many boxes of fields on both sides together."""
    make_files(folder, 2, pages)
    for name in ("ground_truth.json", "model.json"):
        (folder / name).unlink()
    rng = np.random.default_rng(boxes)
    rows = max(1, boxes // 8)
    sides: list[dict[str, Any]] = [{}, {}]
    for page in range(pages):
        for place in range(boxes // 2):
            x, y = 0.06 + 0.22 * (place % 4), 0.04 + 0.9 * (place // 4) / rows
            corners = np.array([x, y, x + 0.19, y + 0.6 * 0.9 / rows])
            moved = np.clip(corners + rng.normal(0, 0.0002, 4), 0, 1)
            for side, at in zip(sides, (corners, moved), strict=True):
                value = f"value {place}{' read wrong' if side is sides[1] and place % 10 == 0 else ''}"
                more = {"_confidence": round(float(rng.uniform(0.5, 1)), 3)} if side is sides[1] else {}
                side[f"p{page}_f{place}"] = {"_value": value, "_bbox": at.tolist(), "_page": page + 1, **more}
    for name, side in zip(("ground_truth", "model"), sides, strict=True):
        (folder / name).mkdir()
        (folder / name / "bench.json").write_bytes(msgspec.json.encode(side))


@contextlib.contextmanager
def served(
    command: list[str], port: int, folder: Path, root: Path = ROOT, *, health: str = "/_stcore/health"
) -> Iterator[tuple[str, int]]:
    """Address and process of a server of the checkout in `root` that is up; ended when the block ends."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    # As users have it: where this is set, each process compiles the whole product anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), opener.open(f"{url}{health}", timeout=1):
                break
            time.sleep(0.1)
        else:
            raise SystemExit("a server did not come up")
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Taken(NamedTuple):
    """What one act took."""

    ms: float
    frames: float
    sent: int
    received: int
    messages: int
    fetched: int
    cpu_ms: float


class Direction:
    """Messages of one direction of a websocket, and the bytes that they are on the wire."""

    def __init__(self) -> None:
        self._compressed: Any = None

    def agree(self, extensions: str, side: str) -> None:
        """Begin a connection, compressed when its handshake says so."""
        bits = re.search(rf"{side}_max_window_bits=(\d+)", extensions)
        deflated = "permessage-deflate" in extensions
        # The two ends need not have one level; that of the server is what `websockets` makes of its settings.
        self._compressed = zlib.compressobj(wbits=-int(bits[1] if bits else 15), memLevel=5) if deflated else None

    def size(self, event: Any) -> int:
        """Bytes of a message, without the two to ten of its head; one that is not text is given in base64."""
        response = event["response"]
        payload = response["payloadData"].encode()
        if response["opcode"] != 1:
            payload = base64.b64decode(payload)
        if self._compressed is None:
            return len(payload)
        return len(self._compressed.compress(payload) + self._compressed.flush(zlib.Z_SYNC_FLUSH)) - 4


class Wire:
    """Bytes of one browser tab: over the websocket in both directions, and fetched by their own address."""

    def __init__(self, page: Any) -> None:
        self.sent = self.received = self.messages = self.fetched = 0
        self._to_server, self._to_browser = Direction(), Direction()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.webSocketHandshakeResponseReceived", self._agreed)
        session.on("Network.webSocketFrameSent", self._sent)
        session.on("Network.webSocketFrameReceived", self._received)
        session.on("Network.loadingFinished", self._fetched)

    def _agreed(self, event: Any) -> None:
        headers = {name.lower(): value for name, value in event["response"]["headers"].items()}
        extensions = headers.get("sec-websocket-extensions", "")
        self._to_server.agree(extensions, "client")
        self._to_browser.agree(extensions, "server")

    def _sent(self, event: Any) -> None:
        self.sent += self._to_server.size(event)
        self.messages += 1

    def _received(self, event: Any) -> None:
        self.received += self._to_browser.size(event)
        self.messages += 1

    def _fetched(self, event: Any) -> None:
        self.fetched += int(event["encodedDataLength"])

    def read(self) -> tuple[int, int, int, int]:
        return self.sent, self.received, self.messages, self.fetched


def cpu_ms(pid: int) -> float:
    """Milliseconds of CPU that a process and everything below it have taken."""
    ticks, below = 0, {pid}
    for path in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda each: int(each.parent.name)):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(path.parent.name) in below or int(fields[1]) in below:
                below.add(int(path.parent.name))
                ticks += int(fields[11]) + int(fields[12])
    return 1000.0 * ticks / os.sysconf("SC_CLK_TCK")


def rest_of(page: Any, wire: Wire, pid: int, quiet: int) -> None:
    """Wait until for so many milliseconds no message has come or gone and the server has done nothing; at most 5 s."""
    until, seen, since = time.monotonic() + _LONGEST_REST, (wire.messages, cpu_ms(pid)), time.monotonic()
    while (now := time.monotonic()) < until and now - since < quiet / 1000:
        page.wait_for_timeout(25)
        state = wire.messages, cpu_ms(pid)
        if state != seen:
            seen, since = state, time.monotonic()


def take(page: Any, wire: Wire, pid: int, script: str, argument: Any, *, quiet: int = 300, press: str = "") -> Taken:
    """One act, and everything that it sets off until the page rests; `press` is a key that the script waits for."""
    page.bring_to_front()
    before, spent = wire.read(), cpu_ms(pid)
    if press:
        page.evaluate(f"(argument) => {{ window.taken = ({script})(argument); }}", argument)
        page.keyboard.press(press)
        ms, frames = page.evaluate("window.taken")
    else:
        ms, frames = page.evaluate(script, argument)
    rest_of(page, wire, pid, quiet)
    sent, received, messages, fetched = (after - at for after, at in zip(wire.read(), before, strict=True))
    return Taken(float(ms), float(frames), sent, received, messages, fetched, cpu_ms(pid) - spent)


HEAD = ("n", "ms", "p95_ms", "frames", "sent", "received", "messages", "fetched", "cpu_ms")


class Report:
    """What was taken so far; an act is printed as soon as it is done, for all of them take minutes.

    Parameters
    ----------
    quietly : bool
        Nothing is printed.
    """

    def __init__(self, *, quietly: bool) -> None:
        self.rows: dict[str, list[Taken]] = {}
        self.held: dict[str, list[float]] = {}
        self._quietly = quietly
        self._print(f"{'act':44}" + "".join(f"{each:>10}" for each in HEAD))

    def add(self, name: str, taken: list[Taken]) -> None:
        """An act, as often as it was done."""
        if taken:
            self.rows[name] = taken
            numbers = summary({name: taken})[name]
            self._print(f"{name:44}" + "".join(f"{numbers[each]:>10g}" for each in HEAD))

    def hold(self, name: str, numbers: list[float]) -> None:
        """A key that was held down: what `HELD` gives."""
        self.held[name] = [float(each) for each in numbers]
        pages, each_ms, frames, longest, silent = self.held[name]
        self._print(
            f"key held down, {name}: {pages:.0f} pages drawn, {each_ms:.1f} ms and {frames:.1f} frames a page, "
            f"longest {longest:.0f} ms, without a sign {silent:.0f} ms"
        )

    def _print(self, line: str) -> None:
        if not self._quietly:
            print(line, flush=True)


VIEWER, PANES = ".layoutscope-viewer .strip", ".layoutscope-viewer .pair-work"
LISTED = {VIEWER: ".strip-page", PANES: ".net-page"}
SMALL_ACTS = (("select", {"key": "n"}), ("toggle", {"key": "g"}), ("zoom", {"key": "+"}), ("whole page", {"key": "0"}))


class Peer(NamedTuple):
    """Another way to turn pages: where it is up, what waits for its first page, and how a page is turned."""

    name: str
    server: tuple[str, int]
    address: str
    first: str
    script: str
    steps: tuple[str, str]


def turns_of(play: Any, ours: tuple[str, int], peers: list[Peer], turns: int, total: int, *, report: Report) -> None:
    """Page turns of all, alternating, then what a reader does on a page; and a key held down, all pages seen."""
    browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    pages = [browser.new_page(viewport={"width": 1440, "height": 900}) for _ in range(1 + len(peers))]
    wires = [Wire(page) for page in pages]
    pages[0].goto(f"{ours[0]}/page_browser?order=page&within=bench.pdf")
    pages[0].locator(".chips.ready").wait_for(state="attached")
    pages[0].wait_for_timeout(2500)
    report.hold("page browser, no page seen", pages[0].evaluate(HELD, [VIEWER, total - 1, "ArrowRight"]))
    pages[0].goto(f"{ours[0]}/page_browser?order=page&within=bench.pdf")
    pages[0].locator(".chips.ready").wait_for(state="attached")
    for page, peer in zip(pages[1:], peers, strict=True):
        page.goto(peer.server[0] + peer.address)
        page.locator(peer.first).wait_for()
        page.wait_for_timeout(500)
    mine: list[Taken] = []
    others: list[list[Taken]] = [[] for _ in peers]
    there_and_back = ["ArrowRight"] * (total - 1) + ["ArrowLeft"] * (total - 1)
    acts = (there_and_back * (2 + turns // len(there_and_back)))[: len(there_and_back) + turns]
    for key in acts:
        mine.append(take(pages[0], wires[0], ours[1], OURS, [VIEWER, {"key": key, "turns": True}]))
        for page, wire, peer, taken in zip(pages[1:], wires[1:], peers, others, strict=True):
            step = peer.steps[key == "ArrowLeft"]
            taken.append(take(page, wire, peer.server[1], peer.script, step, quiet=100))
    report.add("page turn", mine[len(there_and_back) :])
    for peer, taken in zip(peers, others, strict=True):
        report.add(f"page turn, {peer.name}", taken[len(there_and_back) :])
    for name, act in SMALL_ACTS:
        report.add(name, [take(pages[0], wires[0], ours[1], OURS, [VIEWER, act]) for _ in range(max(3, turns // 4))])
    pages[0].goto(f"{ours[0]}/page_browser?order=page&within=bench.pdf")
    pages[0].locator(".chips.ready").wait_for(state="attached")
    for key in there_and_back:
        pages[0].evaluate(OURS, [VIEWER, {"key": key, "turns": True}])
        pages[0].wait_for_timeout(300)
    report.hold("page browser, every page seen", pages[0].evaluate(HELD, [VIEWER, total - 1, "ArrowRight"]))
    browser.close()


def acts_of(
    play: Any, ours: tuple[str, int], view: tuple[str, str], address: str, turns: int, *, report: Report
) -> None:
    """A key held down over pages that nobody saw yet, then what a reader does in one view, every page seen."""
    name, component = view
    browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script("localStorage.setItem('layoutscope-reviewer', 'Bench')")
    wire = Wire(page)

    def opened() -> None:
        page.goto(f"{ours[0]}/{address}")
        page.locator(".chips.ready").first.wait_for(state="attached", timeout=120_000)
        page.wait_for_timeout(2500)

    def take_all(act: dict[str, Any], quiet: int = 300) -> Taken:
        return take(page, wire, ours[1], OURS, [component, act], quiet=quiet)

    opened()
    report.hold(f"{name}, no page seen", page.evaluate(HELD, [component, PAGES - 1, "ArrowRight"]))
    opened()
    there_and_back = ["ArrowRight"] * (PAGES - 1) + ["ArrowLeft"] * (PAGES - 1)
    for key in there_and_back:
        take_all({"key": key, "turns": True}, 150)
    keys = there_and_back * (1 + turns // len(there_and_back))
    report.add(f"{name}: page turn", [take_all({"key": key, "turns": True}) for key in keys[:turns]])
    listed = LISTED[component]
    acts = [{"click": listed, "nth": at, "turns": True} for at in (1, 2, 3, 2, 1, 0) * (1 + turns // 6)]
    opened()
    report.add(f"{name}: item of the list", [take_all(act) for act in acts[:turns]])
    few = max(3, turns // 4)
    for word, act in (*SMALL_ACTS[:1], ("hover", {"hover": 0}), *SMALL_ACTS[1:]):
        several = [{**act, "hover": at} if "hover" in act else act for at in range(few)]
        report.add(f"{name}: {word}", [take_all(each) for each in several])
    verdicts = []
    for _ in range(few):
        # On another page each time: what has a verdict, as its whole cause has then, asks before it takes another.
        take_all({"key": "ArrowRight", "turns": True}, 600)
        take_all({"key": "n"}, 600)
        verdicts.append(take_all({"click": ".verdict-buttons button"}, 600))
    report.add(f"{name}: verdict", verdicts)
    browser.close()


def verdicts_of(play: Any, ours: tuple[str, int], times: int, report: Report) -> None:
    """Verdicts in Compare on what is not matched box by box: fields, pixels and posters of the sample."""
    browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    for kind in ("fields", "pixels", "posters"):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script("localStorage.setItem('layoutscope-reviewer', 'Bench')")
        wire = Wire(page)
        page.goto(f"{ours[0]}/compare?compare={kind}")
        page.locator(".chips.ready").first.wait_for(state="attached", timeout=120_000)
        page.wait_for_timeout(2500)
        verdicts = []
        for _ in range(times):
            take(page, wire, ours[1], OURS, [PANES, {"key": "n"}], quiet=600)
            verdict = take(page, wire, ours[1], OURS, [PANES, {"click": ".verdict-buttons button"}], quiet=600)
            if verdict.sent:
                # Nothing was chosen where a page has no mistake of its own.
                verdicts.append(verdict)
            # No turn to wait for: on the last page of the list the key leads nowhere.
            take(page, wire, ours[1], OURS, [PANES, {"key": "ArrowRight"}], quiet=600)
        report.add(f"compare {kind}: verdict", verdicts)
        page.close()
    browser.close()


def views_of(play: Any, ours: tuple[str, int], times: int, report: Report) -> None:
    """Every view of the navigation opened, the first time and later ones; and one step of the IoU threshold."""
    browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    wire = Wire(page)
    page.goto(ours[0])
    ready = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    links_there = '[data-testid="stSidebarNavLink"]'
    page.locator(links_there).first.wait_for()
    ready.wait_for()
    links = page.eval_on_selector_all(links_there, "nodes => nodes.map((node) => node.innerText.split('\\n').at(-1))")
    rows: dict[str, list[Taken]] = {}
    for round_number in range(1 + times):
        for place, name in [*list(enumerate(links))[1:], (0, links[0])]:
            kind = "first time" if round_number == 0 else "again"
            page.eval_on_selector_all(links_there, "nodes => nodes.forEach((node, at) => node.dataset.bench = at)")
            link = [f'{links_there}[data-bench="{place}"]', None]
            taken = take(page, wire, ours[1], RUN, link)
            rows.setdefault(f"open {name.strip()}, {kind}", []).append(taken)
    slider = '[data-testid="stSlider"] input[type="range"]'
    page.locator(slider).first.wait_for(state="attached")
    page.locator(slider).first.focus()
    for number in range(2 * times):
        key = "ArrowRight" if number < times else "ArrowLeft"
        rows.setdefault("IoU step on Overview, " + ("new" if number < times else "again"), []).append(
            take(page, wire, ours[1], RUN, [slider, key], press=key)
        )
    for name, several in rows.items():
        report.add(name, several)
    browser.close()


def quantile(values: list[float], share: float) -> float:
    """A quantile of some numbers, of the nearest rank."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def summary(rows: dict[str, list[Taken]]) -> dict[str, dict[str, float]]:
    """Medians of each act, and the 95th percentile of its milliseconds."""
    return {
        name: {
            "n": len(taken),
            "ms": round(statistics.median(each.ms for each in taken), 1),
            "p95_ms": round(quantile([each.ms for each in taken], 0.95), 1),
            "frames": statistics.median(each.frames for each in taken),
            **{
                field: round(statistics.median(getattr(each, field) for each in taken))
                for field in ("sent", "received", "messages", "fetched", "cpu_ms")
            },
        }
        for name, taken in rows.items()
    }


def our_server(port: int, *paths: str) -> list[str]:
    """The command of the dashboard on some paths, on the sample without."""
    named = ["open", *paths] if paths else []
    return [sys.executable, "-m", "evaluator.cli", *named, "--port", str(port), "--no-browser"]


def hotcoco_peer(servers: contextlib.ExitStack, command: str, folder: Path) -> Peer:
    """The browser of hotcoco on the same pages and boxes, with its evaluation, the first page in its lightbox."""
    make_coco(folder)
    port = free_port()
    explore = [command, "explore", "--gt", str(folder / "coco_gt.json"), "--dt", str(folder / "coco_dt.json")]
    explore += ["--images", str(folder / "images"), "--port", str(port)]
    server = servers.enter_context(served(explore, port, folder, health="/"))
    return Peer("hotcoco", server, "/?detail=1", "#overlay-canvas", HOTCOCO_TURN, ("ArrowRight", "ArrowLeft"))


def print_controls(given: argparse.Namespace) -> None:
    """Print what a step of each slider takes of the server, of this checkout and of another one."""
    checkouts = {"here": ROOT} | ({"there": given.against.resolve()} if given.against else {})
    paths = [str(given.folder.resolve())] if given.folder else []
    views = [view for view in given.view or controls.VIEWS if view in controls.VIEWS]
    times = 2 if given.smoke else given.turns
    with tempfile.TemporaryDirectory(prefix="layoutscope-") as name, contextlib.ExitStack() as servers:
        up = []
        for checkout, root in checkouts.items():
            # Apart from the reader's own findings, which lie beside the ground truth.
            port, kept = free_port(), ["--findings", str(Path(name) / f"{checkout}.sqlite")]
            up.append(servers.enter_context(served(our_server(port, *paths, *kept), port, Path(name), root)))
        rows = controls.summary(asyncio.run(controls.measured(up, views[:1] if given.smoke else views, times)))
    if given.json:
        print(msgspec.json.encode({act: dict(zip(checkouts, of, strict=True)) for act, of in rows.items()}).decode())
        return
    print(f"{'act':44}{'':8}" + "".join(f"{each:>14}" for each in controls.FIELDS))
    for act, of in rows.items():
        for checkout, numbers in zip(checkouts, of, strict=True):
            texts = ("-" if numbers[each] is None else f"{numbers[each]:g}" for each in controls.FIELDS)
            print(f"{act:44}{checkout:8}" + "".join(f"{each:>14}" for each in texts))


def print_opens(given: argparse.Namespace) -> None:
    """Print what each view takes to open, cold in a new server and then warm."""
    head = ("n", "title_ms", "number_ms", "number_cpu_ms", "ms", "cpu_ms")
    views, times = given.view or list(controls.OPENED), 1 if given.smoke else max(3, given.turns // 10)
    paths = [str(given.folder.resolve())] if given.folder else []
    acts: dict[str, dict[str, float | None]] = {}
    if not given.json:
        print(f"{'view':44}" + "".join(f"{each:>14}" for each in head))
    with tempfile.TemporaryDirectory(prefix="layoutscope-") as name:
        for view in views[:1] if given.smoke else views:
            port = free_port()
            kept = ["--findings", str(Path(name) / f"{port}.sqlite")]
            with served(our_server(port, *paths, *kept), port, Path(name)) as server:
                cold, *warm = asyncio.run(controls.opened(server, view, times))
            for act, steps in ((f"{view}, cold", [cold]), (f"{view}, warm", warm)):
                acts[act] = controls.median_opening(steps)
                if not given.json:
                    texts = ("-" if acts[act][each] is None else f"{acts[act][each]:g}" for each in head)
                    print(f"{act:44}" + "".join(f"{each:>14}" for each in texts), flush=True)
    if given.json:
        print(msgspec.json.encode(acts).decode())


def main() -> None:
    """Print what each act takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--boxes", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="open the views on these files instead of the sample")
    parser.add_argument(
        "--part", choices=["turns", "compare", "fields", "verdicts", "views", "controls", "opens"], help="one part only"
    )
    parser.add_argument(
        "--view", action="append", choices=list(controls.OPENED), help="of the parts controls and opens"
    )
    parser.add_argument("--against", type=Path, help="another checkout, for the part controls")
    parser.add_argument(
        "--hotcoco", help="the command `coco` of an environment with hotcoco[browse], for the part turns"
    )
    parser.add_argument("--smoke", action="store_true", help="a few page turns only")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.part in ("controls", "opens"):
        (print_controls if given.part == "controls" else print_opens)(given)
        return
    if shutil.which("chromium") is None:
        raise SystemExit("the benchmark needs chromium")
    from playwright.sync_api import sync_playwright

    report = Report(quietly=given.json)
    with tempfile.TemporaryDirectory(prefix="layoutscope-") as name, sync_playwright() as play:
        folder = Path(name)
        if given.part in (None, "turns"):
            make_files(folder, given.boxes, 4 if given.smoke else PAGES)
            options = ["--server.address", "127.0.0.1", "--server.headless", "true", "--server.port"]
            port = free_port()
            run = [sys.executable, "-m", "streamlit", "run", str(folder / "peer.py"), *options, str(port)]
            run += ["--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none", "--", str(folder)]
            own = free_port()
            with contextlib.ExitStack() as servers:
                ours = servers.enter_context(served(our_server(own, str(folder)), own, folder))
                plain = servers.enter_context(served(run, port, folder))
                peers = [Peer("st.image", plain, "", "[data-testid=stImage] img", PEER_TURN, ("Next", "Previous"))]
                if given.hotcoco is not None:
                    peers.append(hotcoco_peer(servers, given.hotcoco, folder))
                turns_of(
                    play, ours, peers, 3 if given.smoke else given.turns, 4 if given.smoke else PAGES, report=report
                )
        for part, component, address in (("compare", PANES, "compare"), ("fields", VIEWER, "fields")):
            if given.part not in (None, part) or given.smoke:
                continue
            (folder / part).mkdir()
            if part == "fields":
                make_fields(folder / part, given.boxes, PAGES)
            else:
                make_files(folder / part, given.boxes, PAGES, second=True)
            own = free_port()
            kept = ["--findings", str(folder / f"{part}.sqlite")]
            with served(our_server(own, str(folder / part), *kept), own, folder) as ours:
                acts_of(play, ours, (part, component), address, given.turns, report=report)
        if given.part in (None, "verdicts") and not given.smoke:
            own = free_port()
            # Apart from the reader's own findings, which lie beside the ground truth.
            with served(our_server(own, "--findings", str(folder / "findings.sqlite")), own, folder) as ours:
                verdicts_of(play, ours, max(2, given.turns // 10), report)
        if given.part in (None, "views") and not given.smoke:
            own = free_port()
            paths = [str(given.folder.resolve())] if given.folder else []
            with served(our_server(own, *paths), own, folder) as ours:
                views_of(play, ours, max(1, given.turns // 8), report)
    if not given.json:
        return
    result = {"boxes": given.boxes, "acts": summary(report.rows)}
    if report.held:
        names = ("pages", "ms_per_page", "frames_per_page", "longest_ms", "longest_silent_ms")
        result["held_key"] = {
            name: dict(zip(names, [round(each, 1) for each in numbers], strict=True))
            for name, numbers in report.held.items()
        }
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
