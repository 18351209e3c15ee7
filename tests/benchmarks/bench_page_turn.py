"""Page turns in a real Chromium: the page browser beside `st.image` with boxes that Pillow draws, in one run.

Both dashboards run at the same time and their turns alternate, so that a busy machine slows both. A turn is from the
press of a key (peer: a click on its button) until the new boxes are on screen: for the page browser the overlay, for
the peer the new image, decoded. Warm: every page was shown once before. The peer is the small app that a Streamlit
user would write: two buttons, a page image, the boxes drawn into it, without list, names, strip or permalink.

    python -m tests.benchmarks.bench_page_turn [--turns N] [--boxes N] [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tests.building import Box, write_file
from tests.dashboard import ROOT

GOAL_MS = 100.0
PAGES = 6
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

OURS_TURN = """(key) => new Promise((done, fail) => {
  const host = document.querySelector('[data-testid="stBidiComponentIsolated"]').shadowRoot;
  const layer = host.querySelector('.overlay[aria-label="Boxes"]');
  const start = performance.now();
  const late = setTimeout(() => fail(new Error('no new page')), 10000);
  const watch = new MutationObserver(() => {
    watch.disconnect();
    clearTimeout(late);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  });
  watch.observe(layer, {childList: true});
  host.querySelector('.pane').dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, composed: true}));
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
        done(performance.now() - start);
      })));
    } else requestAnimationFrame(look);
  };
  button.click();
  look();
})"""


def make_files(folder: Path, boxes: int) -> None:
    """A PDF of text pages, a ground truth and a prediction with so many boxes a page on both sides together."""
    import pymupdf

    rng = np.random.default_rng(boxes)
    with pymupdf.open() as made:
        for number in range(PAGES):
            page = made.new_page(width=595, height=842)
            for line in range(60):
                words = " ".join(f"word{(number * 61 + line * 17 + place) % 997}" for place in range(11))
                page.insert_text((40, 40 + 13 * line), words, fontsize=9)
        made.save(folder / "bench.pdf")
    truth: list[Box] = []
    predicted: list[Box] = []
    peer: list[list[list[Any]]] = []
    columns, rows = 4, max(1, boxes // 8)
    for page in range(PAGES):
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
    (folder / "peer.json").write_bytes(msgspec.json.encode(peer))
    (folder / "peer.py").write_text(PEER)


@contextlib.contextmanager
def served(command: list[str], port: int, folder: Path) -> Iterator[str]:
    """A server that is up; ended when the block ends."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), opener.open(f"{url}/_stcore/health", timeout=1):
                break
            time.sleep(0.1)
        else:
            raise SystemExit("a server did not come up")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def measure(folder: Path, turns: int) -> dict[str, list[float]]:
    """Milliseconds of the turns of both, alternating."""
    from playwright.sync_api import sync_playwright

    ports = free_port(), free_port()
    ours = [sys.executable, "-m", "evaluator.cli", "open", str(folder), "--port", str(ports[0]), "--no-browser"]
    options = ["--server.port", str(ports[1]), "--server.address", "127.0.0.1", "--server.headless", "true"]
    options += ["--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none"]
    peer = [sys.executable, "-m", "streamlit", "run", str(folder / "peer.py"), *options, "--", str(folder)]
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    with served(ours, ports[0], folder) as first, served(peer, ports[1], folder) as second, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        pages = {name: browser.new_page(viewport={"width": 1440, "height": 900}) for name in ("ours", "peer")}
        pages["ours"].goto(f"{first}/page_browser?order=page&within=bench.pdf")
        pages["ours"].locator(".chips.ready").wait_for(state="attached")
        pages["peer"].goto(second)
        pages["peer"].locator("[data-testid=stImage] img").wait_for()
        forth = [("ArrowRight", "Next")] * (PAGES - 1) + [("ArrowLeft", "Previous")] * (PAGES - 1)
        for round_number in range(1 + -(-turns // len(forth))):
            for key, button in forth:
                for name, script, argument in (("ours", OURS_TURN, key), ("peer", PEER_TURN, button)):
                    pages[name].bring_to_front()
                    pages[name].wait_for_timeout(250)
                    spent = float(pages[name].evaluate(script, argument))
                    if round_number:
                        times[name].append(spent)
        browser.close()
    return times


def main() -> None:
    """Print medians, spread and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--boxes", type=int, default=200)
    parser.add_argument("--smoke", action="store_true", help="a few turns only")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if shutil.which("chromium") is None:
        raise SystemExit("the benchmark needs chromium")
    with tempfile.TemporaryDirectory(prefix="layoutscope-") as name:
        make_files(Path(name), given.boxes)
        times = measure(Path(name), 10 if given.smoke else given.turns)
    medians = {name: statistics.median(each) for name, each in times.items()}
    result = {
        "boxes": given.boxes,
        "turns": len(times["ours"]),
        "median_ms": {name: round(value, 1) for name, value in medians.items()},
        "quartiles_ms": {name: [round(q, 1) for q in statistics.quantiles(each, n=4)] for name, each in times.items()},
        "ratio": round(medians["peer"] / medians["ours"], 2),
        "goal_ms": GOAL_MS,
    }
    if given.json:
        print(msgspec.json.encode(result).decode())
        return
    print(f"{result['turns']} warm page turns, {given.boxes} boxes a page, alternating")
    for name, title in (("ours", "page browser"), ("peer", "st.image with boxes by Pillow")):
        low, _, high = result["quartiles_ms"][name]
        print(f"  {title:30} median {medians[name]:6.1f} ms, quartiles {low:.1f} to {high:.1f}")
    print(f"  ratio peer / ours {result['ratio']:.2f}; goal for ours {GOAL_MS:g} ms")


if __name__ == "__main__":
    main()
