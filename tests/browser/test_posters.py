"""The view Posters in a browser: choices, boxed words, keys, zoom, chart, download, layout."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import INK_INSIDE, Screen, Visit, course, dashboard
from tests.browser.test_app import OVERFLOW

pytestmark = pytest.mark.browser
SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
VIEWER = """() => {
  const host = shadowOf('.page-image');
  const image = host.querySelector('.page-image');
  return {pixels: image.naturalWidth, sheet: host.querySelector('.sheet').getBoundingClientRect().width,
    boxes: [...host.querySelectorAll('.box')].length};
}"""


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a dashboard of its own for a test; to be asked for before `visit`, so that the tabs close first."""
    with contextlib.ExitStack() as servers:
        yield lambda *words: servers.enter_context(dashboard(tmp_path, *words))


def poster(screen: Screen) -> str:
    return str(screen.page.locator(".ls-poster").inner_text())


def four(screen: Screen) -> list[str]:
    return [line.replace("\t", " ") for line in screen.page.locator(".ls-four tbody tr").all_inner_texts()]


def press(screen: Screen, name: str) -> None:
    screen.page.get_by_role("radio", name=name, exact=True).or_(
        screen.page.locator("[data-testid=stButtonGroup]").get_by_role("button", name=name, exact=True)
    ).first.click()


def wait_for(screen: Screen, poster_id: str) -> None:
    screen.wait(lambda: poster(screen) == poster_id, f"{poster_id}; {poster(screen)}").settled()


def cell(screen: Screen, row: int) -> None:
    screen.click_cell(screen.page.locator("[data-testid=stDataFrame]").first, row, 40)


def test_from_poster_to_poster(server: str, visit: Visit) -> None:
    course(
        visit(server, width=1_440, height=800).open("posters").drawn(),
        nothing_is_cut_off,
        choices_change_numbers_and_stand_in_the_address,
        the_profile_is_explained,
        the_keys_walk_through_words_and_posters,
        the_parts_of_a_poster,
        results_json_is_downloaded,
        missing_words_are_boxed_where_they_stand,
        a_small_window_shows_the_table_and_the_poster_beside_it,
        a_poster_gets_sharper_when_it_is_zoomed,
        a_dot_of_the_chart_opens_its_poster,
    )


def nothing_is_cut_off(screen: Screen) -> None:
    for selector in (".ls-four", ".ls-card"):
        for node in screen.page.locator(selector).all():
            wide = node.evaluate("(node) => [node.scrollWidth, node.clientWidth]")
            assert wide[0] <= wide[1] + 1, selector
    assert max(screen.page.evaluate(OVERFLOW)) <= 0


def choices_change_numbers_and_stand_in_the_address(screen: Screen) -> None:
    assert poster(screen) == "night-buses"
    assert screen.address() == {}
    cell(screen, 2)
    wait_for(screen, "seed-bank")
    assert screen.address()["poster"] == "seed-bank"
    press(screen, "B columns")
    screen.addressed(poster_of="B")
    numbers = four(screen)
    press(screen, "Published")
    screen.addressed(profile="published").drawn()
    assert "profile published" in screen.signature("models")
    assert four(screen) != numbers
    screen.page.go_back()
    screen.wait(lambda: "profile" not in screen.address(), "the step back")
    screen.drawn()
    assert "profile documented" in screen.signature("models")
    assert four(screen) == numbers


def the_profile_is_explained(screen: Screen) -> None:
    screen.page.get_by_role("button", name="What it changes").click()
    table = screen.page.locator(".ls-profiles")
    table.wait_for()
    assert "Porter stems of ASCII letters and digits" in table.inner_text()
    screen.page.keyboard.press("Escape")
    table.wait_for(state="hidden")


def missing_words_are_boxed_where_they_stand(screen: Screen) -> None:
    screen.to("posters", poster="reading-aloud", poster_of="B").drawn()
    page = screen.page
    assert (screen.count_of("FP"), screen.count_of("FN")) == (0, 11)
    assert not page.locator(".toggle:has(.swatch-TP)").is_visible()
    boxes = page.evaluate(
        """() => shadows().flatMap((root) => [...root.querySelectorAll('.box-FN')])
        .map((node) => ['x', 'y', 'width', 'height'].map((name) => parseFloat(node.getAttribute(name)) / 100))
        .map(([x, y, w, h]) => [x, y, x + w, y + h])"""
    )
    ink, inside = page.evaluate(INK_INSIDE, boxes)
    # Words are ink: their boxes are much darker than the sheet is on average.
    assert inside / ink > 2 * sum((box[2] - box[0]) * (box[3] - box[1]) for box in boxes)
    assert page.locator(".list-head h2").inner_text() == "11 mistakes"
    assert page.locator(".list-counts").get_attribute("title") == "11 missing, 0 extra on the page"
    page.locator(".mistake-open", has_text="education").click()
    page.locator(".mistake.chosen", has_text="education").wait_for()
    page.keyboard.press("Escape")
    page.locator(".mistake.chosen").wait_for(state="detached")


def the_keys_walk_through_words_and_posters(screen: Screen) -> None:
    """From the first poster of B, where the steps before have ended."""
    page = screen.page
    page.locator(".pane").first.focus()
    page.keyboard.press("n")
    page.locator(".mistake.chosen[data-number='1']").wait_for()
    # Of two messages that are sent at once the server may take the later one alone, which is about the choice.
    screen.rested().page.keyboard.press("ArrowRight")
    wait_for(screen, "museum-labels")
    screen.drawn()
    assert page.locator(".warning").first.inner_text() == (
        "This is an image without a text layer: missing words cannot be boxed."
    )
    page.keyboard.press("f")
    screen.wait(lambda: screen.address().get("poster_of") is None, "model A")


def a_small_window_shows_the_table_and_the_poster_beside_it(screen: Screen) -> None:
    for width, height in ((1024, 768), (960, 600)):
        screen.page.set_viewport_size({"width": width, "height": height})
        screen.drawn()
        nothing_is_cut_off(screen)
        sheet, table = screen.places()["sheet"], screen.page.get_by_test_id("stDataFrame").first.bounding_box()
        assert sheet[1] < 0.75 * height, f"the poster is in the first window of {width}"
        assert table["y"] + 100 < height, width
        assert table["x"] + table["width"] <= sheet[0] <= sheet[2] <= width
        fields = screen.page.locator("[data-testid=stButtonGroup] button", has_text="Fields").bounding_box()
        assert fields["x"] + fields["width"] <= width - 15, f"the last of the parts is not cut at {width}"
    screen.page.set_viewport_size({"width": 1_440, "height": 800})
    screen.drawn()


def zoomed(screen: Screen) -> Screen:
    button = screen.page.get_by_role("button", name="Zoom in")
    button.evaluate("(button) => { for (let press = 0; press < 14; press += 1) button.click(); }")
    return screen


def a_poster_gets_sharper_when_it_is_zoomed(screen: Screen) -> None:
    assert screen.page.evaluate(VIEWER)["pixels"] == 1_500
    zoomed(screen)
    # As sharp as the pixel budget allows: A0 at 25 million pixels is 4,205 wide.
    screen.wait(lambda: screen.page.evaluate(VIEWER)["pixels"] == 4_205, "the sharp picture")
    assert screen.page.evaluate(VIEWER)["sheet"] > 4_000


def the_parts_of_a_poster(screen: Screen) -> None:
    """What the parts say is tested without a browser: here each is shown, and in the address."""
    screen.to("posters", poster="seed-bank", part="text")
    page = screen.page
    press(screen, "Extraction, extra marked")
    page.locator(".ls-text mark.ls-extra", has_text="Harvest").wait_for()
    press(screen, "B columns")
    screen.wait(lambda: not page.locator(".ls-text mark.ls-extra").count(), "the text of B, which has no extra word")
    press(screen, "Sections")
    page.locator(".st-key-poster_matrix canvas, .st-key-poster_matrix svg").first.wait_for()
    press(screen, "Fields")
    page.get_by_text("31 fields against 43: 0.721").wait_for()
    screen.addressed(part="fields")
    press(screen, "Page")
    screen.drawn()
    assert page.evaluate(VIEWER)["boxes"] == 47


def a_dot_of_the_chart_opens_its_poster(screen: Screen) -> None:
    chart = screen.page.locator("[data-testid=stVegaLiteChart]").first
    chart.scroll_into_view_if_needed()
    dots = chart.locator("path[aria-roledescription=point]")
    dots.first.wait_for()
    # The lowest ROUGE-L of A, where no other dot lies.
    wanted = "model: A; Poster: night-buses; Model: A; Criterion: ROUGE-L"
    next(each for each in dots.all() if wanted in str(each.get_attribute("aria-label"))).click()
    wait_for(screen, "night-buses")
    assert screen.address() == {"poster": "night-buses", "poster_of": "B"}


def results_json_is_downloaded(screen: Screen) -> None:
    """Of the model that is shown, B."""
    with screen.page.expect_download() as waiting:
        screen.page.get_by_role("button", name="results.json").click()
    content = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert waiting.value.suggested_filename == "results.json"
    assert [each["passes"] for each in content["results"]].count(True) == 3
    assert round(content["aggregate"]["rouge_l"], 3) == 0.901


@pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of real/posters")
def test_a_real_jpeg_poster_stays_in_the_budget_and_gets_sharper(serve: Callable[..., str], visit: Visit) -> None:
    address = serve("open", str(Path(SHARED, "real", "posters")))
    screen = visit(address).open("posters", poster="4737132", profile="published").drawn()
    assert four(screen)[0].split()[:5] == ["A", "0.943", "0.792", "0.964", "1.219"]
    assert screen.page.evaluate(VIEWER)["pixels"] == 1_500
    zoomed(screen)
    screen.wait(lambda: screen.page.evaluate(VIEWER)["pixels"] == 5_000, "the sharp picture")
