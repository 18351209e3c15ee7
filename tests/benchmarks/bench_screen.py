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

    python -m tests.benchmarks.bench_screen [--turns N] [--boxes N] [--folder DIR] [--part P] [--view VIEW]
                                            [--against CHECKOUT] [--hotcoco COMMAND] [--smoke] [--json]

`--folder` opens the views on other files than the sample; `--hotcoco` is the command of its environment.
"""

import argparse
import asyncio
import base64
import contextlib
import re
import shutil
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tests.benchmarks import controls
from tests.benchmarks.measuring import parsed, parser_of, tell
from tests.building import Box, write_file
from tests.serving import ROOT, cpu_ms, free_port, processes, served
from tests.sessions import quantile

PAGES = 24
# Seconds in which what an act sets off has ended.
_LONGEST_REST = 5.0
_BUSY_MS = 10.0
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
# A turn of a peer: from the act until its new picture, decoded, is on screen; `%s` says what that is and what turns it.
PEER_TURN = """(step) => new Promise((done, fail) => {
  %s
  const start = performance.now();
  const late = setTimeout(() => fail(new Error('no new page')), 10000);
  const look = () => {
    const image = turned();
    if (image && image.complete) {
      image.decode().then(() => requestAnimationFrame(() => setTimeout(() => {
        clearTimeout(late);
        done([performance.now() - start, 0]);
      })));
    } else requestAnimationFrame(look);
  };
  turn();
  look();
})"""
ST_IMAGE = """const image = () => document.querySelector('[data-testid="stImage"] img'), before = image().src;
  const turned = () => (image()?.src === before ? null : image());
  const turn = () => [...document.querySelectorAll('button')].find((each) => each.innerText === step).click();"""
# In the lightbox of hotcoco's browser: its picture is another one, and the canvas over it was drawn.
HOTCOCO = """const canvas = () => document.getElementById('overlay-canvas'), before = canvas();
  const drawn = () => canvas() && canvas() !== before && canvas().style.width;
  const turned = () => (drawn() ? document.getElementById('detail-img') : null);
  const turn = () => document.dispatchEvent(new KeyboardEvent('keydown', {key: step, bubbles: true}));"""


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


def cpu_of(pid: int) -> float:
    """Milliseconds of CPU that a process and everything below it have taken."""
    return cpu_ms(processes(pid))


def rest_of(page: Any, wire: Wire, pid: int, quiet: int) -> None:
    """Wait until for so many milliseconds no message has come or gone and the server has done nothing; at most 5 s."""
    until, messages, spent, since = time.monotonic() + _LONGEST_REST, wire.messages, cpu_of(pid), time.monotonic()
    while (now := time.monotonic()) < until and now - since < quiet / 1000:
        page.wait_for_timeout(25)
        # A server at rest still looks around now and then.
        if wire.messages != messages or cpu_of(pid) - spent >= _BUSY_MS:
            messages, spent, since = wire.messages, cpu_of(pid), time.monotonic()


def take(page: Any, wire: Wire, pid: int, script: str, argument: Any, *, quiet: int = 300, press: str = "") -> Taken:
    """One act, and everything that it sets off until the page rests; `press` is a key that the script waits for."""
    page.bring_to_front()
    before, spent = wire.read(), cpu_of(pid)
    if press:
        page.evaluate(f"(argument) => {{ window.taken = ({script})(argument); }}", argument)
        page.keyboard.press(press)
        ms, frames = page.evaluate("window.taken")
    else:
        ms, frames = page.evaluate(script, argument)
    rest_of(page, wire, pid, quiet)
    sent, received, messages, fetched = (after - at for after, at in zip(wire.read(), before, strict=True))
    return Taken(float(ms), float(frames), sent, received, messages, fetched, cpu_of(pid) - spent)


class Report:
    """What was taken so far, and what a key that was held down gave; said on standard error as it comes."""

    def __init__(self) -> None:
        self.acts: dict[str, dict[str, float]] = {}
        self.held: dict[str, dict[str, float]] = {}

    def add(self, name: str, taken: Sequence[Taken]) -> None:
        """An act, as often as it was done: medians, and the 95th percentile of its milliseconds."""
        if taken:
            medians = {of: round(statistics.median(getattr(each, of) for each in taken), 1) for of in Taken._fields}
            p95 = round(quantile([each.ms for each in taken], 0.95), 1)
            self.acts[name] = {"n": len(taken), **medians, "p95_ms": p95}
            print(name, self.acts[name], file=sys.stderr, flush=True)

    def hold(self, name: str, numbers: list[float]) -> None:
        """A key that was held down: what `HELD` gives."""
        names = ("pages", "ms_per_page", "frames_per_page", "longest_ms", "longest_silent_ms")
        self.held[name] = {of: round(float(number), 1) for of, number in zip(names, numbers, strict=True)}
        print(name, self.held[name], file=sys.stderr, flush=True)


VIEWER, PANES = ".layoutscope-viewer .strip", ".layoutscope-viewer .pair-work"
LISTED = {VIEWER: ".strip-page", PANES: ".net-page"}
LISTED_IN = {"compare": PANES, "fields": VIEWER}
SMALL_ACTS = (("select", {"key": "n"}), ("toggle", {"key": "g"}), ("zoom", {"key": "+"}), ("whole page", {"key": "0"}))


class Peer(NamedTuple):
    """Another way to turn pages: where it is up, what waits for its first page, and how a page is turned."""

    name: str
    server: tuple[str, int]
    address: str
    first: str
    script: str
    steps: tuple[str, str]


@contextlib.contextmanager
def tabs_of(play: Any, count: int = 1) -> Iterator[list[tuple[Any, Wire]]]:
    """New tabs of a browser for the block, in which a reviewer has given a name, with what goes over their wires."""
    browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    pages = [browser.new_page(viewport={"width": 1440, "height": 900}) for _ in range(count)]
    for page in pages:
        page.add_init_script("localStorage.setItem('layoutscope-reviewer', 'Bench')")
    yield [(page, Wire(page)) for page in pages]
    browser.close()


def opened(page: Any, address: str, rest: int = 2500) -> None:
    """A view with a viewer or with panes, drawn and at rest."""
    page.goto(address)
    page.locator(".chips.ready").first.wait_for(state="attached", timeout=120_000)
    page.wait_for_timeout(rest)


def there_and_back(pages: int) -> list[str]:
    """The keys that turn from the first page to the last and back."""
    return ["ArrowRight"] * (pages - 1) + ["ArrowLeft"] * (pages - 1)


def turns_of(play: Any, ours: tuple[str, int], peers: list[Peer], turns: int, total: int, *, report: Report) -> None:
    """Page turns of all, alternating, then what a reader does on a page; and a key held down, all pages seen."""
    address, every = f"{ours[0]}/page_browser?order=page&within=bench.pdf", there_and_back(total)
    with tabs_of(play, 1 + len(peers)) as [(page, wire), *others]:
        opened(page, address)
        report.hold("page browser, no page seen", page.evaluate(HELD, [VIEWER, total - 1, "ArrowRight"]))
        opened(page, address, 0)
        for (other, _), peer in zip(others, peers, strict=True):
            other.goto(peer.server[0] + peer.address)
            other.locator(peer.first).wait_for()
            other.wait_for_timeout(500)
        mine: list[Taken] = []
        theirs: list[list[Taken]] = [[] for _ in peers]
        for key in (every * (2 + turns // len(every)))[: len(every) + turns]:
            mine.append(take(page, wire, ours[1], OURS, [VIEWER, {"key": key, "turns": True}]))
            for (other, its), peer, taken in zip(others, peers, theirs, strict=True):
                step = peer.steps[key == "ArrowLeft"]
                taken.append(take(other, its, peer.server[1], PEER_TURN % peer.script, step, quiet=100))
        # Every page was shown once before.
        report.add("page turn", mine[len(every) :])
        for peer, taken in zip(peers, theirs, strict=True):
            report.add(f"page turn, {peer.name}", taken[len(every) :])
        for name, act in SMALL_ACTS:
            report.add(name, [take(page, wire, ours[1], OURS, [VIEWER, act]) for _ in range(max(3, turns // 4))])
        opened(page, address, 0)
        for key in every:
            page.evaluate(OURS, [VIEWER, {"key": key, "turns": True}])
            page.wait_for_timeout(300)
        report.hold("page browser, every page seen", page.evaluate(HELD, [VIEWER, total - 1, "ArrowRight"]))


def acts_of(play: Any, ours: tuple[str, int], name: str, component: str, turns: int, *, report: Report) -> None:
    """A key held down over pages that nobody saw yet, then what a reader does in one view, every page seen."""
    address, every = f"{ours[0]}/{name}", there_and_back(PAGES)
    with tabs_of(play) as [(page, wire)]:

        def take_all(act: dict[str, Any], quiet: int = 300) -> Taken:
            return take(page, wire, ours[1], OURS, [component, act], quiet=quiet)

        opened(page, address)
        report.hold(f"{name}, no page seen", page.evaluate(HELD, [component, PAGES - 1, "ArrowRight"]))
        opened(page, address)
        for key in every:
            take_all({"key": key, "turns": True}, 150)
        keys = every * (1 + turns // len(every))
        report.add(f"{name}: page turn", [take_all({"key": key, "turns": True}) for key in keys[:turns]])
        places = ((1, 2, 3, 2, 1, 0) * (1 + turns // 6))[:turns]
        opened(page, address)
        listed = [take_all({"click": LISTED[component], "nth": at, "turns": True}) for at in places]
        report.add(f"{name}: item of the list", listed)
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


def verdicts_of(play: Any, ours: tuple[str, int], times: int, report: Report) -> None:
    """Verdicts in Compare on what is not matched box by box: fields, pixels and posters of the sample."""
    with tabs_of(play, 3) as tabs:
        for kind, (page, wire) in zip(("fields", "pixels", "posters"), tabs, strict=True):
            opened(page, f"{ours[0]}/compare?compare={kind}")
            verdicts = []
            for _ in range(times):
                # On the last page of the list the last key leads nowhere: there is no turn to wait for.
                acts = ({"key": "n"}, {"click": ".verdict-buttons button"}, {"key": "ArrowRight"})
                _, verdict, _ = (take(page, wire, ours[1], OURS, [PANES, act], quiet=600) for act in acts)
                if verdict.sent:
                    # Nothing was chosen where a page has no mistake of its own.
                    verdicts.append(verdict)
            report.add(f"compare {kind}: verdict", verdicts)


def views_of(play: Any, ours: tuple[str, int], times: int, report: Report) -> None:
    """Every view of the navigation opened, the first time and later ones; and one step of the IoU threshold."""
    links_there, slider = '[data-testid="stTopNavLink"]', '[data-testid="stSlider"] input[type="range"]'
    rows: dict[str, list[Taken]] = {}
    with tabs_of(play) as [(page, wire)]:
        page.goto(ours[0])
        page.locator(links_there).first.wait_for()
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        names = "nodes => nodes.map((node) => node.innerText.split('\\n').at(-1).trim())"
        links = list(enumerate(page.eval_on_selector_all(links_there, names)))
        for number in range(1 + times):
            for place, name in [*links[1:], links[0]]:
                page.eval_on_selector_all(links_there, "nodes => nodes.forEach((node, at) => node.dataset.bench = at)")
                taken = take(page, wire, ours[1], RUN, [f'{links_there}[data-bench="{place}"]', None])
                rows.setdefault(f"open {name}, {'again' if number else 'first time'}", []).append(taken)
        page.locator(slider).first.wait_for(state="attached")
        page.locator(slider).first.focus()
        for number in range(2 * times):
            key, when = ("ArrowRight", "new") if number < times else ("ArrowLeft", "again")
            taken = take(page, wire, ours[1], RUN, [slider, key], press=key)
            rows.setdefault(f"IoU step on Overview, {when}", []).append(taken)
    for name, several in rows.items():
        report.add(name, several)


def our_server(port: int, *paths: str) -> list[str]:
    """The command of the dashboard on some paths, on the sample without."""
    named = ["open", *paths] if paths else []
    return [sys.executable, "-m", "evaluator.cli", *named, "--port", str(port), "--no-browser"]


@contextlib.contextmanager
def dashboard(folder: Path, *words: str, root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """Address and process of a dashboard of a checkout, apart from the reader's own findings."""
    port = free_port()
    command = our_server(port, *words, "--findings", str(folder / f"{port}.sqlite"))
    with served(command, port, folder, root) as server:
        yield server


def peers_of(servers: contextlib.ExitStack, hotcoco: str, folder: Path) -> list[Peer]:
    """The small app, and the browser of hotcoco on the same pages and boxes, the first page in its lightbox."""
    port = free_port()
    run = [sys.executable, "-m", "streamlit", "run", str(folder / "peer.py"), "--server.port", str(port)]
    run += ["--server.address", "127.0.0.1", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    run += ["--server.fileWatcherType", "none", "--", str(folder)]
    plain = servers.enter_context(served(run, port, folder))
    peers = [Peer("st.image", plain, "", "[data-testid=stImage] img", ST_IMAGE, ("Next", "Previous"))]
    if hotcoco:
        make_coco(folder)
        port = free_port()
        explore = [hotcoco, "explore", "--gt", str(folder / "coco_gt.json"), "--dt", str(folder / "coco_dt.json")]
        explore += ["--images", str(folder / "images"), "--port", str(port)]
        server = servers.enter_context(served(explore, port, folder, path="/"))
        peers.append(Peer("hotcoco", server, "/?detail=1", "#overlay-canvas", HOTCOCO, ("ArrowRight", "ArrowLeft")))
    return peers


def steps_of_controls(given: argparse.Namespace, folder: Path, paths: list[str]) -> dict[str, Any]:
    """What a step of each slider takes of the server, of this checkout and of another one."""
    checkouts = {"here": ROOT} | ({"there": Path(given.against).resolve()} if given.against else {})
    views = [view for view in given.view or controls.VIEWS if view in controls.VIEWS]
    with contextlib.ExitStack() as servers:
        up = [servers.enter_context(dashboard(folder, *paths, root=root)) for root in checkouts.values()]
        rows = asyncio.run(controls.measured(up, views[:1] if given.smoke else views, given.turns))
    return {act: dict(zip(checkouts, map(controls.medians, of), strict=True)) for act, of in rows.items()}


def openings(given: argparse.Namespace, folder: Path, paths: list[str]) -> dict[str, Any]:
    """What each view takes to open, cold in a new server and then warm."""
    views, times = given.view or list(controls.OPENED), 1 if given.smoke else max(3, given.turns // 10)
    acts: dict[str, Any] = {}
    for view in views[:1] if given.smoke else views:
        with dashboard(folder, *paths) as server:
            cold, *warm = asyncio.run(controls.opened(server, view, times))
        acts |= {f"{view}, cold": controls.medians([cold]), f"{view}, warm": controls.medians(warm)}
    return acts


def in_the_browser(given: argparse.Namespace, folder: Path, paths: list[str], play: Any) -> dict[str, Any]:
    """The parts that a real browser makes, or one of them; of a smoke run a few page turns."""
    report, pages = Report(), 4 if given.smoke else PAGES
    wanted = ["turns"] if given.smoke else [given.part] if given.part else ["turns", *LISTED_IN, "verdicts", "views"]
    if "turns" in wanted:
        make_files(folder, given.boxes, pages)
        with contextlib.ExitStack() as servers:
            ours = servers.enter_context(dashboard(folder, str(folder)))
            turns_of(play, ours, peers_of(servers, given.hotcoco, folder), given.turns, pages, report=report)
    for part, component in LISTED_IN.items():
        if part in wanted:
            (place := folder / part).mkdir()
            if part == "fields":
                make_fields(place, given.boxes, PAGES)
            else:
                make_files(place, given.boxes, PAGES, second=True)
            with dashboard(folder, str(place)) as ours:
                acts_of(play, ours, part, component, given.turns, report=report)
    if "verdicts" in wanted:
        with dashboard(folder) as ours:
            verdicts_of(play, ours, max(2, given.turns // 10), report)
    if "views" in wanted:
        with dashboard(folder, *paths) as ours:
            views_of(play, ours, max(1, given.turns // 8), report)
    return {"boxes": given.boxes, "acts": report.acts, "held_key": report.held}


def main() -> None:
    """Print what each act takes."""
    parser = parser_of(__doc__, turns=40, boxes=200, folder="", against="", hotcoco="")
    parts = ["turns", *LISTED_IN, "verdicts", "views", "controls", "opens"]
    parser.add_argument("--part", choices=parts, help="one part only")
    parser.add_argument("--view", action="append", choices=list(controls.OPENED), help="of controls and opens")
    given = parsed(parser, turns=3)
    paths = [str(Path(given.folder).resolve())] if given.folder else []
    with tempfile.TemporaryDirectory(prefix="layoutscope-") as name:
        folder = Path(name)
        if given.part in ("controls", "opens"):
            acts = (steps_of_controls if given.part == "controls" else openings)(given, folder, paths)
        elif shutil.which("chromium") is None:
            raise SystemExit("the benchmark needs chromium")
        else:
            from playwright.sync_api import sync_playwright

            with sync_playwright() as play:
                acts = in_the_browser(given, folder, paths, play)
    tell(acts, as_json=given.json)


if __name__ == "__main__":
    main()
