"""Makes the pictures of the documentation, all of ``docs/images``, from the dashboard on the sample data.

Needs what the tests need, and Chromium. Run from the top folder of the repository::

    python -m docs.make_tour

The dashboard is started and driven through the steps of one review (``tour``), and of reading a page (``reading``);
then each view is photographed. ``--only`` makes one of these pictures. With ``--frames FOLDER`` each frame is
written as PNG too, to look at it.
"""

from __future__ import annotations

import argparse
import functools
import io
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Locator, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS, Screen, dashboard, free_port, new_reader

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FONTS = ROOT / "evaluator" / "pack" / "fonts"
# A window in which no view of the tour hides a column or cuts a control off.
WIDTH, HEIGHT = 1440, 900
STRIP = 54
# What is drawn here is drawn so many times as large and then reduced.
FINE = 4
REVIEWER = "Ana"
NOTE = "The table is read row by row"

Point = tuple[float, float]


class Frame(NamedTuple):
    """One picture of the window, how long it stays, and what is said below it."""

    picture: Image.Image
    seconds: float
    step: int
    words: str
    pointer: Point


def taken(screen: Screen, seconds: float) -> bytes:
    """Return the picture of a window that has not changed for some seconds: pages are drawn after their boxes."""
    last, data = b"", b"-"
    while data != last:
        screen.page.wait_for_timeout(1000 * seconds)
        screen.rested().painted()
        last, data = data, screen.page.screenshot(animations="disabled", caret="hide")
    return data


class Tour:
    """A window of the dashboard, and the frames taken of it so far."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.page = screen.page
        self.frames: list[Frame] = []
        self.pointer: Point = (WIDTH / 2, HEIGHT / 2)
        self.step = 0
        self.words = ""

    def say(self, step: int, words: str) -> None:
        """Set what stands below the next frames."""
        self.step, self.words = step, words

    def show(self, seconds: float) -> None:
        """Take a frame of the window as it is at rest."""
        picture = Image.open(io.BytesIO(taken(self.screen, 1.0))).convert("RGB")
        self.frames.append(Frame(picture, seconds, self.step, self.words, self.pointer))

    def point(self, target: Locator) -> None:
        """Move the pointer to the middle of something on screen, in a few frames of the last picture."""
        box = target.bounding_box()
        assert box
        end = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        start, last = self.pointer, self.frames[-1]
        for part in range(1, 6):
            share = part / 5
            eased = share * share * (3 - 2 * share)
            self.pointer = (start[0] + eased * (end[0] - start[0]), start[1] + eased * (end[1] - start[1]))
            self.frames.append(last._replace(seconds=0.04, step=self.step, words=self.words, pointer=self.pointer))
        self.frames[-1] = self.frames[-1]._replace(seconds=0.15)

    def go(self, view: str) -> None:
        """Move the pointer to a view of the navigation and open it."""
        self.point(self.screen.way(view))
        self.screen.go(view)

    def press(self, target: Locator) -> None:
        """Move the pointer to something and click it."""
        self.point(target)
        target.click(delay=60)


def review(tour: Tour, folder: Path) -> None:
    """Walk through one review, from the numbers to the pack on disk."""
    screen, page = tour.screen, tour.page
    screen.open()
    tour.say(1, "What the better model finds, and what it breaks")
    tour.show(1.6)

    tour.say(2, "The page with most mistakes first: matches, false positives, missed boxes")
    tour.go("Pages")
    tour.show(1.8)
    tour.say(2, "What is wrong with each box, and which words it costs")
    tour.press(page.locator(".mistake-open").nth(1))
    page.locator(".mistake.chosen").first.wait_for()
    screen.settled()
    tour.show(1.8)

    tour.say(3, "Is B better? The decision under your rule, each difference with its interval")
    tour.go("Compare")
    page.locator(".pair-pane .chips.ready").nth(1).wait_for(state="attached")
    tour.show(2.4)
    tour.say(3, "One cause of many mistakes, in both models")
    tour.press(page.locator(".cause-row").nth(1))
    screen.settled()
    page.locator(".pair-pane").first.focus()
    page.keyboard.press("n")
    page.locator(".pair-pane .marked").first.wait_for(state="attached")
    tour.show(1.8)

    tour.say(4, "One verdict and one note for all mistakes of the cause")
    tour.press(page.locator(".verdict-whole"))
    page.get_by_role("textbox", name="Note on the verdict").fill(NOTE)
    tour.show(1.2)
    tour.press(page.get_by_role("button", name="Model wrong"))
    page.locator(".verdict-state", has_text=REVIEWER).wait_for()
    tour.show(1.3)

    tour.say(5, "The review as one HTML file")
    tour.go("Pack")
    tour.show(0.6)
    tour.press(page.get_by_role("button", name="Make the pack"))
    download = page.get_by_role("button", name="Download review-pack.html")
    download.wait_for()
    tour.show(0.4)
    tour.point(download)
    with page.expect_download() as waiting:
        download.click()
    waiting.value.save_as(folder / "review-pack.html")
    page.goto((folder / "review-pack.html").as_uri())
    page.evaluate("document.fonts.ready")
    tour.say(5, "It opens from disk, without a server: the decision, and who does what")
    tour.show(2.0)
    page.get_by_role("heading", name="Decisions").first.evaluate(
        "(heading) => scrollTo(0, heading.getBoundingClientRect().top - 20)"
    )
    tour.show(2.2)


def reading(tour: Tour, _: Path) -> None:
    """Walk through the order, the text and the tables of one page."""
    screen, page = tour.screen, tour.page
    choice = page.locator("[data-testid=stButtonGroup]").get_by_text
    screen.open("reading")
    page.get_by_role("button", name="Open its order, text and tables").click()
    screen.drawn()
    # The model that reads tables as tables.
    choice("blocks.jsonl", exact=True).click()
    screen.drawn()
    tour.say(1, "Both orders on the page: the true one dashed, the predicted one teal, orange where it goes wrong")
    tour.show(2.2)
    tour.say(2, "O plays the predicted order; full stop goes one item on")
    for _step in range(8):
        page.keyboard.press(".")
        tour.show(0.5)
    page.keyboard.press("Escape")
    tour.say(3, "What is read otherwise in each region: struck out is missing, underlined is new")
    tour.press(choice("Text", exact=True))
    page.locator(".pieces").first.wait_for()
    tour.show(2.4)
    tour.say(4, "Both tables cell by cell; the cells of the mistake are framed")
    tour.press(choice("Tables", exact=True))
    screen.drawn()
    while not page.locator(".grids").count():
        page.keyboard.press("n")
        screen.settled()
    tour.show(2.6)


class Picture(NamedTuple):
    """A moving picture: its steps, named in the line below, and the walk through them."""

    steps: tuple[str, ...]
    walk: Callable[[Tour, Path], None]


PICTURES: Mapping[str, Picture] = {
    "tour": Picture(("Open", "Worst page", "Compare", "Verdict", "Pack"), review),
    "reading": Picture(("Order", "Play", "Text", "Tables"), reading),
}

STILLS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "overview-light": ("", {}),
    "page-browser-light": ("page_browser", {}),
    "page-browser-dark": ("page_browser", {}),
    "gallery-light": ("gallery", {}),
    "compare-light": ("compare", {}),
    "models-light": ("models", {}),
    "slices-light": ("slices", {}),
    "pixel-confusion-light": ("pixel_confusion", {}),
    "fields-light": ("fields", {}),
    "posters-light": ("posters", {}),
    "findings-light": ("findings", {}),
    # With what the PDFs say nothing of the sample is suspected.
    "suspects-light": ("suspects", {"evidence": "0"}),
    "review-pack-light": ("review_pack", {}),
    "files-light": ("files", {}),
}
"""Pictures of a view as it opens: its address by the name of the file, which ends with the theme."""


@functools.cache
def pointer() -> Image.Image:
    """Return the arrow of the pointer; its tip is the top left corner."""
    large = Image.new("RGBA", (16 * FINE, 24 * FINE))
    corners = [(1, 1), (1, 19), (5.2, 15), (8, 21.5), (11, 20.2), (8.2, 13.9), (13.8, 13.6)]
    drawn = [(x * FINE, y * FINE) for x, y in corners]
    ImageDraw.Draw(large).polygon(drawn, fill="#111827", outline="#FFFFFF", width=FINE)
    return large.reduce(FINE)


@functools.cache
def strip(steps: tuple[str, ...], step: int, words: str) -> Image.Image:
    """Return the line below the window: all steps, of which one is bold, and what it shows."""
    large = Image.new("RGB", (WIDTH * FINE, STRIP * FINE), "#0F172A")
    draw = ImageDraw.Draw(large)
    bold, regular = (ImageFont.truetype(FONTS / f"{name}.ttf", 23 * FINE) for name in ("bold", "regular"))
    place, middle = 20.0 * FINE, STRIP * FINE / 2
    for number, name in enumerate(steps, 1):
        font, colour = (bold, "#FFFFFF") if number == step else (regular, "#94A3B8")
        draw.text((place, middle), name, colour, font, "lm")
        place += draw.textlength(name, bold) + 24 * FINE
    draw.text(((WIDTH - 20) * FINE, middle), words, "#E2E8F0", regular, "rm")
    return large.reduce(FINE)


def drawn(frame: Frame, steps: tuple[str, ...]) -> Image.Image:
    """Return the picture of a frame with its pointer and the line below it."""
    canvas = Image.new("RGB", (WIDTH, HEIGHT + STRIP))
    canvas.paste(frame.picture, (0, 0))
    canvas.paste(strip(steps, frame.step, frame.words), (0, HEIGHT))
    canvas.paste(pointer(), (round(frame.pointer[0]), round(frame.pointer[1])), pointer())
    return canvas


def photograph(names: Sequence[str]) -> None:
    """Photograph views as they open, in a window of their own each."""
    trouble: list[str] = []
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with dashboard(Path(place), "open", "--findings", f"{place}/findings.sqlite", port=free_port()) as url:
            for name in names:
                view, address = STILLS[name]
                tab = new_reader(browser).new_page()
                theme = name.rpartition("-")[2]
                screen = Screen(tab, url, trouble, width=WIDTH, height=HEIGHT, color_scheme=theme)
                (IMAGES / f"{name}.png").write_bytes(taken(screen.open(view, **address), 4.0))
                screen.leave()
        browser.close()
    assert trouble == [], "\n".join(trouble)


def make(name: str, folder_of_frames: Path | None) -> None:
    """Take the frames of a moving picture and write it."""
    picture, trouble = PICTURES[name], list[str]()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        folder = Path(place)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with dashboard(folder, "open", "--findings", str(folder / "findings.sqlite"), port=free_port()) as url:
            reader = new_reader(browser)
            reader.add_init_script(f"localStorage.setItem('layoutscope-reviewer', '{REVIEWER}')")
            window = Screen(reader.new_page(), url, trouble, width=WIDTH, height=HEIGHT, allowed=("file:",))
            window.page.set_default_timeout(60_000)
            tour = Tour(window)
            try:
                picture.walk(tour, folder)
            finally:
                frames = [drawn(frame, picture.steps) for frame in tour.frames]
                if folder_of_frames:
                    for number, frame in enumerate(frames):
                        frame.save(folder_of_frames / f"{name}-{number:03}.png")
        browser.close()
    assert trouble == [], "\n".join(trouble)
    durations = [round(1000 * frame.seconds) for frame in tour.frames]
    target = IMAGES / f"{name}.webp"
    frames[0].save(
        target, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=85, method=6,
        minimize_size=True,
    )  # fmt: skip
    size, length = target.stat().st_size / 1e6, sum(durations) / 1000
    sys.stdout.write(f"{target.relative_to(ROOT)}: {size:.2f} MB, {length:.1f} s\n")


def main() -> None:
    """Make the pictures that are asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=[*PICTURES, *STILLS])
    options.add_argument("--frames", type=Path)
    given = options.parse_args()
    for name in PICTURES:
        if given.only in (None, name):
            make(name, given.frames)
    photograph([name for name in STILLS if given.only in (None, name)])


if __name__ == "__main__":
    main()
