"""Milliseconds of the components' own script for an act, before the next frame, in a real Chromium.

    python -m tests.benchmarks.bench_frames [--boxes N ...] [--smoke] [--json]

The page viewer and the two panes of Compare alone, as the tests have them, without a project and with so many boxes on
a page. Medians of 9: the script with the layout that it forces, and until the second frame after it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec

from tests.benchmarks.bench_screen import FLAGS, free_port, served
from tests.dashboard import ROOT

HARNESSES = Path(__file__).parent.parent / "browser"

VIEWER = """async () => {
  const host = document.querySelector('[data-testid="stBidiComponentIsolated"]').shadowRoot;
  const pane = host.querySelector('.pane'), frame = pane.getBoundingClientRect();
  const next = () => new Promise((done) => requestAnimationFrame(() => done()));
  const key = (name) => pane.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, composed: true}));
  const time = async (act) => {
    const all = [];
    for (let round = 0; round < 9; round += 1) {
      await next();
      const start = performance.now();
      act(round);
      host.querySelector('.sheet').getBoundingClientRect();
      const script = performance.now() - start;
      await next();
      await next();
      all.push([script, performance.now() - start]);
    }
    all.sort((a, b) => a[0] - b[0]);
    return all[4];
  };
  const move = (round) => pane.dispatchEvent(new PointerEvent('pointermove', {
    clientX: frame.left + frame.width * (0.4 + 0.02 * round),
    clientY: frame.top + frame.height * (0.2 + 0.06 * round),
    bubbles: true,
  }));
  return {
    toggle: await time(() => host.querySelector('.toggle').click()),
    hover: await time(move),
    next: await time(() => key('n')),
    zoom: await time((round) => key(round % 2 ? '-' : '+')),
  };
}"""

PANES = """async () => {
  const host = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
    .map((node) => node.shadowRoot).find((root) => root.querySelector('.pair-work'));
  const pane = host.querySelector('.pair-pane'), frame = pane.getBoundingClientRect();
  const next = () => new Promise((done) => requestAnimationFrame(() => done()));
  const key = (name) => pane.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, composed: true}));
  const pointer = (kind, x, y) => pane.dispatchEvent(new PointerEvent(kind, {
    clientX: frame.left + x, clientY: frame.top + y, button: 0,
    buttons: kind === 'pointerup' ? 0 : 1, bubbles: true, pointerId: 1}));
  const time = async (act) => {
    const all = [];
    for (let round = 0; round < 9; round += 1) {
      await next();
      const start = performance.now();
      act(round);
      for (const sheet of host.querySelectorAll('.sheet')) sheet.getBoundingClientRect();
      const script = performance.now() - start;
      await next();
      await next();
      all.push([script, performance.now() - start]);
    }
    all.sort((a, b) => a[0] - b[0]);
    return all[4];
  };
  pane.setPointerCapture = () => {};
  const found = {zoom: await time((round) => key(round % 2 ? '-' : '+'))};
  key('+'); key('+');
  pointer('pointerdown', 200, 200);
  found.pan = await time((round) => pointer('pointermove', 190 - 9 * round, 190 - 11 * round));
  pointer('pointerup', 100, 100);
  found.next = await time(() => key('n'));
  found.flip = await time(() => key('f'));
  return found;
}"""

# The app that shows a component alone, what is there when it is drawn, and the acts.
ALONE = {
    "viewer": ("viewer_harness.py", ".chips.ready", 1, VIEWER),
    "compare": ("compare_harness.py", ".pair-pane .chips.ready", 2, PANES),
}


def times(play: Any, part: str, boxes: list[int]) -> dict[int, dict[str, list[float]]]:
    """Milliseconds of script and until the second frame, by boxes on the page and act."""
    script, ready, panes, acts = ALONE[part]
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(HARNESSES / script), "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    measured = {}
    with served(command, port, ROOT) as (url, _):
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for count in boxes:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{url}/?boxes={count}")
            page.locator(ready).nth(panes - 1).wait_for(state="attached")
            page.wait_for_timeout(1000)
            measured[count] = page.evaluate(acts)
            page.close()
        browser.close()
    return measured


def main() -> None:
    """Print what each act takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--smoke", action="store_true", help="a few boxes only")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if shutil.which("chromium") is None:
        raise SystemExit("the benchmark needs chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        result = {part: times(play, part, [20] if given.smoke else given.boxes) for part in ALONE}
    if given.json:
        print(msgspec.json.encode(result).decode())
        return
    print(f"{'act':10}{'boxes':>8}{'script ms':>12}{'frame ms':>12}")
    for part, measured in result.items():
        print(part)
        for count, acts in measured.items():
            for name, (script, frame) in acts.items():
                print(f"  {name:8}{count:>8}{script:>12.1f}{frame:>12.1f}")


if __name__ == "__main__":
    main()
