"""The dashboard as its readers have it: the command, the server, a real Chromium."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from evaluator import formats
from evaluator.charts.theme import DARK, LIGHT
from evaluator.drawing import layers, mistake_filter
from evaluator.drawing.mistake_filter import MistakeFilter
from evaluator.metrics.error_types import DOCUMENT
from evaluator.model.dataset import Dataset, join
from evaluator.protocols import snapshot
from pages.shared.login import THIS_MACHINE
from tests.browser.conftest import INK_INSIDE, ROOT, Screen, course, dashboard
from tests.building import Box, box, read_by_browser, snapshot_file
from tests.dashboard import SAMPLE_DATA

pytestmark = [pytest.mark.browser]
Visit = Callable[..., Screen]
WORST = "harvest-survey-2024.pdf"
# In a narrow window and in the dark, the last two are in `test_compare` and in `test_pixel`.
ELSEWHERE = ("overview", "page_browser", "compare", "pixel_confusion")
OTHER_VIEWS = [*sorted({path.stem for path in (ROOT / "pages").glob("[a-z]*.py")} - {*ELSEWHERE}), ""]


@cache
def sample() -> Dataset:
    return join(*(formats.read(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines", "blocks")))


@cache
def core(model: int = 0, iou: float = 0.5) -> snapshot.ThresholdResult:
    return snapshot.pair(sample(), model, iou_floor=snapshot.IOU_FLOOR).match().at(iou)


def page_of(document: str, number: int, model: int = 0, iou: float = 0.5) -> dict[str, Any]:
    """What the core says about a page, pages from 1."""
    dataset = sample()
    row = dataset.page_row(document, number - 1)
    assert row is not None
    result = core(model, iou)
    return read_by_browser(layers.page_data(result, row, causes=result.causes))


def page_order() -> list[tuple[str, int]]:
    """The pages of model A in the order of the list, worst first."""
    result = core()
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    keep = mistake_filter.passing(columns, sample(), MistakeFilter())
    pages = mistake_filter.page_list(result, columns, keep)
    return [pages.at(position) for position in range(len(pages))]


def counts_of(data: dict[str, Any]) -> dict[str, int]:
    return {status: data["counts"][status] for status in ("TP", "FP", "FN")}


def truth_of(document: str, number: int) -> list[list[float]]:
    """Boxes of a page as they are in the JSON file, without any code of ours."""
    file = json.loads((SAMPLE_DATA / "ground_truth.json").read_text(encoding="utf-8"))
    entries = [e for e in file["predictions"] if (e["doc_id"], e["page_index"]) == (document, number - 1)]
    return [each["bbox"] for entry in entries for each in entry["objects"]]


@pytest.fixture
def server(sample_server: str) -> str:
    """The sample data."""
    return sample_server


def assert_framed(screen: Screen) -> None:
    """Our settings, style and navigation are there."""
    assert screen.page.get_by_test_id("stSidebarNav").get_by_role("link").count() >= 3
    assert screen.page.locator(".ls-title h1").evaluate("(node) => getComputedStyle(node).fontSize") == "21px"
    assert screen.page.title() == "LayoutScope"
    background = screen.page.locator("[data-testid=stApp]").evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert background in ("rgb(255, 255, 255)", "rgb(20, 24, 29)")


# --- opening -------------------------------------------------------------------------------------------------


def test_from_overview_to_the_other_views_and_back(server: str, visit: Visit) -> None:
    course(
        visit(server).open(),
        another_theme_from_the_menu_recolours_the_charts,
        it_opens_on_the_sample_data_without_a_click,
        the_logo_needs_no_file_of_the_server,
        thresholds_stay_from_view_to_view_and_stepping_back_leads_back,
        a_row_of_the_overview_opens_its_pages,
        a_row_of_the_labels_opens_its_boxes,
    )


def it_opens_on_the_sample_data_without_a_click(screen: Screen) -> None:
    assert_framed(screen)
    assert THIS_MACHINE in screen.text()
    assert screen.page.locator(".ls-card").count() == 2
    for model in (0, 1):
        row = core(model).micro.row(0)
        card = screen.page.locator(".ls-card").nth(model).inner_text()
        for words in (f"{row['f1']:.3f}", f"TP {row['tp']}", f"FP {row['fp']}", f"FN {row['fn']}"):
            assert words in card
    drawn = screen.page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg")
    screen.bring("documents_row")
    screen.wait(lambda: drawn.count() >= 4, "the charts")
    assert screen.page.locator("[data-testid=stDataFrame] canvas").count() >= 2
    assert screen.page.locator("[data-testid=stException]").count() == 0


def the_logo_needs_no_file_of_the_server(screen: Screen) -> None:
    """Such a file is gone for a moment when a run is cut short, and the picture then stays broken."""
    sources = screen.page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stSidebarHeader] img, link[rel*=icon]')]"
        ".map((node) => node.src || node.href)"
    )
    assert len(sources) >= 2
    assert {source[:22] for source in sources} == {"data:image/png;base64,"}


def thresholds_stay_from_view_to_view_and_stepping_back_leads_back(screen: Screen) -> None:
    """The first run of a view had all numbers at the slider's lowest value while its title said another."""
    screen.to("", iou="0.6").go("Page browser")
    row = core(0, 0.6).micro.row(0)
    numbers = screen.page.locator(".ls-numbers dd").all_inner_texts()
    assert numbers == [f"{row[name]:.3f}" for name in ("precision", "recall", "f1")]  # type: ignore[literal-required]
    assert screen.address()["iou"] == "0.6"
    assert screen.address()["doc"], "the address is whole, although the history has one step"
    screen.page.go_back()
    screen.page.locator(".ls-title h1", has_text="Overview").wait_for()
    screen.settled()
    assert screen.page.locator(".ls-card").count() == 2


# --- the page ------------------------------------------------------------------------------------------------


def test_the_page_browser_from_page_to_page(server: str, visit: Visit) -> None:
    screen, other = visit(server).open("page_browser", mistakes="cut_off"), visit(server)
    screen.page.bring_to_front()
    course(
        screen,
        n_walks_over_pages_and_documents,
        a_page_turn_runs_the_viewer_only_and_the_address_follows,
        the_strip_shows_the_pages_that_are_in_view,
        boxes_lie_where_the_ground_truth_says,
        stepping_back_brings_the_thresholds_back,
        the_models_flip_and_the_choice_stays_on_the_way_over_other_views,
        partial(a_mistake_of_the_list_is_chosen_and_a_link_leads_there, other),
        partial(a_verdict_is_kept_under_a_name_and_another_reader_sees_it, other),
    )


def at_worst(screen: Screen) -> None:
    document, index = page_order()[0]
    screen.to("page_browser", doc=document, page=str(index + 1))


def a_page_turn_runs_the_viewer_only_and_the_address_follows(screen: Screen) -> None:
    """A page turns by key and by button."""
    order = [(document, index + 1) for document, index in page_order()]
    at_worst(screen)
    # What a run of the whole view would draw anew keeps a mark of ours.
    screen.page.locator(".ls-title").evaluate("(node) => { node.dataset.mark = 'kept'; }")
    screen.page.keyboard.press("ArrowRight")
    screen.wait_for_page(*order[1])
    screen.page.get_by_role("button", name="Next page").click()
    screen.wait_for_page(*order[2])
    assert screen.counts() == counts_of(page_of(*order[2]))
    assert screen.places()["boxes"].keys() == {each["key"] for each in page_of(*order[2])["boxes"]}
    assert (screen.address()["doc"], screen.address()["page"]) == (order[2][0], str(order[2][1]))
    assert screen.page.locator(".ls-title[data-mark=kept]").count() == 1


def boxes_lie_where_the_ground_truth_says(screen: Screen) -> None:
    """Landscape, /Rotate 90, CropBox."""
    for document, number in (
        ("harvest-survey-2024.pdf", 4),
        ("school-census.pdf", 3),
        ("port-authority-annual.pdf", 3),
    ):
        assert_in_place(screen, document, number)


def assert_in_place(screen: Screen, document: str, number: int) -> None:
    screen.to("page_browser", doc=document, page=str(number))
    assert screen.where() == (document, number)
    screen.page.keyboard.press("g")
    screen.rested()
    places = screen.places()
    left, top, right, bottom = places["image"]
    assert places["sheet"] == pytest.approx(places["image"], abs=0.01)
    with pymupdf.open(SAMPLE_DATA / "pdf" / document) as opened:
        rect = opened[number - 1].rect
    assert (right - left) / (bottom - top) == pytest.approx(rect.width / rect.height, rel=0.005)
    shares = truth_of(document, number)
    assert shares
    width, height = right - left, bottom - top
    mine = [box for key, box in places["boxes"].items() if key.startswith("g")]
    assert len(mine) == len(shares)
    wanted = [(left + a * width, top + b * height, left + c * width, top + d * height) for a, b, c, d in shares]
    for place in wanted:
        nearest = min(mine, key=lambda box, place=place: max(abs(p - q) for p, q in zip(box, place, strict=True)))
        assert max(abs(p - q) for p, q in zip(nearest, place, strict=True)) <= 1.0
    ink, inside = screen.page.evaluate(INK_INSIDE, shares)
    assert ink > 1_000
    assert inside / ink > 0.9, "the drawn page and its boxes belong together"
    screen.page.keyboard.press("g")


def the_models_flip_and_the_choice_stays_on_the_way_over_other_views(screen: Screen) -> None:
    screen.to("page_browser", doc=WORST, page="4")
    screen.page.keyboard.press("f")
    wanted = counts_of(page_of(WORST, 4, model=1))
    screen.wait(lambda: screen.counts() == wanted, f"the counts of B: {wanted}")
    screen.settled()
    assert screen.address()["model"] == "2"
    screen.go("Files").go("Page browser")
    assert screen.page.locator(".model").inner_text().startswith("2")
    assert screen.counts() == wanted


def the_strip_shows_the_pages_that_are_in_view(screen: Screen) -> None:
    at_worst(screen)
    pictures = screen.page.locator(".strip-page .thumb-picture")
    screen.page.locator(".strip-page .thumb-frame.drawn").first.wait_for()
    assert pictures.count() == screen.page.locator(".strip-page").count() == len(page_order())
    assert pictures.first.evaluate("(node) => node.naturalWidth") >= 90
    assert pictures.last.get_attribute("loading") == "lazy"
    assert screen.page.locator(".strip-page .thumb-frame > .badge").count() == len(page_order())
    pictures.last.scroll_into_view_if_needed()
    screen.wait(lambda: pictures.last.evaluate("(node) => node.naturalWidth") >= 90, "the picture of the last page")


def n_walks_over_pages_and_documents(screen: Screen) -> None:
    seen = []
    total = int(core().mistakes.counts[DOCUMENT.index("cut_off")])
    for step in range(total):
        before = screen.address().get("box")
        screen.page.keyboard.press("n")
        screen.wait(lambda before=before: screen.address().get("box") != before, f"mistake {step + 1} of {total}")
        screen.settled()
        seen.append((*screen.where(), screen.address()["box"]))
    assert len({each[0] for each in seen}) > 1
    assert len(set(seen)) == total
    assert screen.page.get_by_role("button", name="Next mistake").is_disabled()


def stepping_back_brings_the_thresholds_back(screen: Screen) -> None:
    screen.to("page_browser", doc=WORST, page="4")
    slider = screen.page.get_by_role("slider", name="IoU threshold")
    slider.focus()
    screen.page.keyboard.press("ArrowRight")
    screen.wait(lambda: screen.address().get("iou") == "0.51", "0.51 in the address")
    screen.settled()
    screen.page.go_back()
    # The slider of a value that was set elsewhere takes the place of the one that was moved.
    values = "(nodes) => nodes.map((node) => node.value)"
    screen.wait(lambda: slider.evaluate_all(values) == ["0.5"], "the slider at 0.5 again")
    screen.settled()
    assert "iou" not in screen.address()
    assert "IoU ≥ 0.50" in screen.page.locator(".ls-title span").inner_text()


def a_mistake_of_the_list_is_chosen_and_a_link_leads_there(other: Screen, screen: Screen) -> None:
    """With its filter and threshold, to another reader."""
    screen.to("page_browser", doc=WORST, page="4", iou="0.55")
    screen.page.get_by_role("button", name=f"Missed {core(iou=0.55).mistakes.counts[DOCUMENT.index('missed')]}").click()
    screen.wait(lambda: screen.address().get("mistakes") == "missed", "the filter in the address")
    screen.settled()
    titles = screen.page.locator(".mistake-title").all_inner_texts()
    assert titles
    assert all("Missed" in each for each in titles)
    # In whichever cause it is folded away.
    screen.page.locator(".mistake").last.evaluate("node => node.click()")
    missed = {key for each in page_of(WORST, 4, iou=0.55)["mistakes"] for key in each["keys"]}
    screen.wait(lambda: screen.address().get("box") in missed, "the chosen box in the address")
    screen.settled()
    other.page.bring_to_front()
    other.page.goto(screen.page.url)
    other.settled()
    assert other.where() == (WORST, 4)
    assert other.page.locator(".mistake-title").all_inner_texts() == titles
    assert "chosen" in other.page.locator(".mistake").last.get_attribute("class")
    assert other.counts() == screen.counts()
    assert "IoU ≥ 0.55" in other.page.locator(".ls-title span").inner_text()
    assert other.address() == screen.address()


def a_verdict_is_kept_under_a_name_and_another_reader_sees_it(other: Screen, screen: Screen) -> None:
    """One without a name waits for it, with its note."""
    page = screen.page
    page.bring_to_front()
    screen.to("page_browser", doc="river-districts.pdf", page="2")
    page.keyboard.press("n")
    page.get_by_role("textbox", name="Note on the verdict").fill("axis labels")
    page.get_by_role("button", name="Model wrong").click()
    name = page.get_by_role("textbox", name="Your name, needed for verdicts")
    name.wait_for()
    assert page.get_by_role("textbox", name="Note on the verdict").input_value() == "axis labels"
    name.fill("Ada")
    name.press("Enter")
    page.locator(".verdict-state", has_text="Ada, ").wait_for()
    other.page.bring_to_front()
    other.to("page_browser", doc="river-districts.pdf", page="2")
    other.page.keyboard.press("n")
    other.page.locator(".verdict-state").get_by_text("Ada: Model wrong", exact=True).wait_for()


# --- other views ---------------------------------------------------------------------------------------------


def a_row_of_the_overview_opens_its_pages(screen: Screen) -> None:
    screen.to("")
    result = core()
    mistakes = [0] * len(sample().documents)
    for page in result.mistakes.page.tolist():
        mistakes[sample().page_document[page]] += 1
    worst = max(range(len(mistakes)), key=lambda row: (mistakes[row], -row))
    screen.bring("documents_row")
    grid = screen.page.locator(".st-key-documents_row [data-testid=stDataFrame]").last
    screen.click_cell(grid, 0, 60)
    screen.page.locator(".ls-title h1", has_text="Page browser").wait_for()
    screen.settled()
    name = sample().documents[worst].doc_id
    assert screen.where()[0] == name
    screen.wait(lambda: screen.address().get("within") == name, "the document in the address")


def a_row_of_the_labels_opens_its_boxes(screen: Screen) -> None:
    screen.to("")
    screen.click_cell(screen.page.locator("[data-testid=stDataFrame]").first, 1, 60)
    screen.page.locator(".ls-title h1", has_text="Page browser").wait_for()
    screen.settled()
    screen.wait(lambda: screen.address().get("label") == sample().labels[0], "the label in the address")
    data = page_of(*screen.where())
    mine = {each["key"] for each in data["boxes"] if each["label"] == sample().labels[0]}
    assert screen.places()["boxes"].keys() == mine


# --- look ----------------------------------------------------------------------------------------------------

OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]'), page = document.scrollingElement;
  return [main.scrollWidth - main.clientWidth, page.scrollWidth - page.clientWidth];
}"""


def assert_own_blocks(screen: Screen, ground: str, ink: str, tint: str) -> None:
    """The theme reaches what we draw ourselves."""
    colours = "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    assert screen.page.locator("[data-testid=stApp]").evaluate(colours)[1] == ground
    assert screen.page.locator(".ls-tag.ls-tp").first.evaluate(colours) == [ink, tint]


def test_every_view_in_the_dark_and_some_at_both_widths(server: str, visit: Visit) -> None:
    """Most in a narrow window only; what the policy of the server stops is an error of the console."""
    screen = visit(server, color_scheme="dark").open("page_browser")
    assert max(screen.page.evaluate(OVERFLOW)) <= 0, "page browser at 1440"
    screen.page.set_viewport_size({"width": 1024, "height": 768})
    screen.settled()
    left, top, right, bottom = screen.places()["sheet"]
    assert right - left > 200
    assert bottom - top > 250, "a landscape page; the list is beside it"
    assert screen.page.locator(".list").bounding_box()["x"] > right
    assert max(screen.page.evaluate(OVERFLOW)) <= 0, "page browser at 1024"
    for view in OTHER_VIEWS:
        screen.to(view, **({"charts": "fit"} if view == "gallery" else {}))
        assert screen.page.locator("[data-testid=stException]").count() == 0, view
        assert max(screen.page.evaluate(OVERFLOW)) <= 0, f"{view or 'overview'} at 1024"
    assert_own_blocks(screen, "rgb(20, 24, 29)", "rgb(77, 182, 172)", "rgb(18, 53, 50)")
    screen.page.set_viewport_size({"width": 1440, "height": 900})
    screen.settled()
    assert max(screen.page.evaluate(OVERFLOW)) <= 0, "overview at 1440"


def another_theme_from_the_menu_recolours_the_charts(screen: Screen) -> None:
    page = screen.page
    assert_own_blocks(screen, "rgb(255, 255, 255)", "rgb(0, 107, 94)", "rgb(224, 242, 239)")
    chart = page.get_by_test_id("stVegaLiteChart").first
    chart.wait_for()

    def inks() -> str:
        """The drawing with its colours."""
        return str(chart.inner_html()).lower()

    light, dark = LIGHT.b.lower(), DARK.b.lower()
    screen.wait(lambda: light in inks(), "the bars of the light theme")
    page.get_by_role("button", name="Main menu").click()
    page.get_by_text("dark_mode").locator("xpath=..").click()
    page.keyboard.press("Escape")
    screen.wait(lambda: dark in inks() and light not in inks(), "the bars of the dark theme")
    screen.settled()


# --- text from strangers, and pages that cannot be drawn -----------------------------------------------------

HOSTILE = (
    '<img src=x onerror="window.hacked=1">![b](http://example.invalid/x.png)',
    "[a](http://example.invalid/) www.example.invalid",
    '"><script>window.hacked=1</script>',
    ":red[red] $x$ **bold** `code`",
    "a:Q",
    "datum['x']",
)
HOSTILE_NAME = "<img src=x onerror=window.hacked=1>![b](example.invalid).pdf"
MODEL_NAMES = ("![b](http://example.invalid/x.png) [a](http://example.invalid)", "www.example.invalid")


@pytest.fixture(scope="module")
def odd_server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Hostile names everywhere, a PDF that is missing, and one that asks for a password."""
    folder = tmp_path_factory.mktemp("odd")
    data = folder / "data"
    data.mkdir()
    shutil.copy(SAMPLE_DATA / "pdf" / "tram-options.pdf", data / HOSTILE_NAME)
    with pymupdf.open(SAMPLE_DATA / "pdf" / "tram-options.pdf") as opened:
        opened.save(data / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="u")
    truth: list[Box] = []
    for document in (HOSTILE_NAME, "locked.pdf", "missing.pdf"):
        for place, label in enumerate(HOSTILE):
            truth.append(box(0.1, 0.1 + 0.13 * place, 0.6, 0.2 + 0.13 * place, label=label, document=document))
    first = [row._replace(score=0.5 + 0.01 * place) for place, row in enumerate(truth) if place % 3]
    second = [row._replace(score=0.5 + 0.01 * place, label=HOSTILE[place % 6 - 1]) for place, row in enumerate(truth)]
    (data / "truth.json").write_text(json.dumps(snapshot_file(truth, side="ground_truth", labels=HOSTILE)))
    for rows, name in ((first, MODEL_NAMES[0]), (second, MODEL_NAMES[1])):
        value = snapshot_file(rows, labels=HOSTILE)
        value["info"]["model"] = {"name": name, "version": "<b>1</b>"}
        (data / f"model{len(list(data.glob('model*')))}.json").write_text(json.dumps(value))
    with dashboard(folder, "open", str(data)) as url:
        yield url


def assert_harmless(screen: Screen) -> None:
    page = screen.page
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("a[href*='example']").count() == 0
    assert page.locator("img[src*='example'], img[src='x']").count() == 0
    assert page.locator("[data-testid=stApp] script").count() == 0
    assert page.locator("[data-testid=stException]").count() == 0


def test_hostile_names_and_pages_that_cannot_be_drawn(odd_server: str, visit: Visit) -> None:
    """On a server that has just started: Streamlit treats the very first visit of a process differently."""
    course(
        visit(odd_server).open("page_browser", doc=HOSTILE_NAME, page="1"),
        hostile_names_are_text_on_every_view,
        a_page_that_cannot_be_drawn_keeps_its_boxes,
        a_hostile_address_is_text,
    )


def hostile_names_are_text_on_every_view(screen: Screen) -> None:
    assert_framed(screen)
    assert_harmless(screen)
    # Views without data are muted.
    link = "[data-testid=stSidebarNavLink][href$='${name}'] > *"
    opacity = f"name => getComputedStyle(document.querySelector(`{link}`)).opacity"
    assert {screen.page.evaluate(opacity, f"/{name}") for name in ("posters", "fields")} == {"0.5"}
    assert {screen.page.evaluate(opacity, f"/{name}") for name in ("", "gallery", "compare", "files")} == {"1"}
    assert screen.where() == (HOSTILE_NAME, 1)
    assert screen.places()["image"] is not None, "the file of that name is found and drawn"
    screen.page.locator(".mistake:visible, .cause-open").first.hover()
    screen.rested()
    assert_harmless(screen)
    for name in ("Document", "Label"):
        screen.page.get_by_role("combobox", name=name).click()
        screen.page.get_by_role("option").first.wait_for()
        assert_harmless(screen)
        screen.page.keyboard.press("Escape")
    screen.go("Overview")
    assert screen.page.locator(".ls-card b").first.inner_text() == f"{MODEL_NAMES[0]} <b>1</b>"
    # The help of a column shows as a tooltip above its head.
    frame = screen.page.locator("[data-testid=stDataFrame]").first.bounding_box()
    for x in range(150, 420, 90):
        screen.page.mouse.move(frame["x"] + x, frame["y"] + 15)
        screen.rested()
        assert_harmless(screen)
    chart = screen.page.locator("[data-testid=stVegaLiteChart]").first.bounding_box()
    for share in (0.3, 0.5, 0.7):
        screen.page.mouse.move(chart["x"] + chart["width"] * 0.5, chart["y"] + chart["height"] * share)
        screen.rested()
    assert_harmless(screen)
    screen.go("Files")
    assert_harmless(screen)


def a_hostile_address_is_text(screen: Screen) -> None:
    screen.to("page_browser", **{"![b](http://example.invalid/x.png)": "1", "www.example.invalid": "2", "iou": "<b>"})
    told = screen.page.get_by_text("could not be followed").inner_text().replace("\u2060", "")
    assert "![b](http://example.invalid/x.png)" in told
    assert_harmless(screen)


def a_page_that_cannot_be_drawn_keeps_its_boxes(screen: Screen) -> None:
    """One can turn on from it, and where the document can be added, the way there is on it."""
    page = screen.page
    for document, words in (("locked.pdf", "password"), ("missing.pdf", "missing.pdf")):
        screen.to("page_browser", doc=document, page="1")
        assert screen.where()[0] == document
        alert = page.get_by_role("alert").filter(has_text=words)
        places = screen.places()
        left, top, right, bottom = places["sheet"]
        assert alert.bounding_box()["y"] > (top + bottom) / 2, f"at the foot of the page of {document}"
        assert places["image"] is None
        assert len(places["boxes"]) >= len(HOSTILE)
        for x1, y1, x2, y2 in places["boxes"].values():
            assert left - 1 <= x1 < x2 <= right + 1
            assert top - 1 <= y1 < y2 <= bottom + 1
        if document == "locked.pdf":
            buttons = [page.get_by_role("button", name=f"{name} page") for name in ("Next", "Previous")]
            next(button for button in buttons if button.is_enabled()).click()
            screen.wait(lambda: screen.where()[0] != "locked.pdf", "another page")
    page.get_by_role("alert").get_by_role("button", name="Open Files").click()
    page.locator(".ls-title h1", has_text="Files").wait_for()


# --- real data -----------------------------------------------------------------------------------------------


@pytest.mark.skipif("LAYOUTSCOPE_SHARED" not in os.environ, reason="needs the real data of LAYOUTSCOPE_SHARED")
def test_two_models_of_the_world_bank_against_each_other(visit: Visit, tmp_path: Path) -> None:
    real = Path(os.environ["LAYOUTSCOPE_SHARED"]) / "real" / "worldbank"
    reference, prediction = real / "doclayoutyolo_ref.json", real / "yolo11_ref.json"
    words = ["open", str(real / "pdf"), "--gt", str(reference), "--pred", str(prediction), "--as-reference"]
    with dashboard(tmp_path, *words) as url:
        screen = visit(url).open("page_browser")
        assert screen.page.get_by_text("The reference is a model's prediction, not a ground truth").is_visible()
        document, number = screen.where()
        places = screen.places()
        assert places["image"] is not None
        screen.page.keyboard.press("g")
        screen.rested()
        places = screen.places()
        left, top, right, bottom = places["image"]
        file = json.loads(reference.read_text(encoding="utf-8"))
        ids = {
            each["doc_id"] for each in file["documents"] if each["doc_id"] == document or document in json.dumps(each)
        }
        shares = [
            each["bbox"]
            for entry in file["predictions"]
            if entry["doc_id"] in ids and entry["page_index"] == number - 1
            for each in entry["objects"]
        ]
        assert shares
        mine = [each for key, each in places["boxes"].items() if key.startswith("g")]
        for a, b, c, d in shares:
            place = (
                left + a * (right - left), top + b * (bottom - top), left + c * (right - left), top + d * (bottom - top)
            )  # fmt: skip
            assert min(max(abs(p - q) for p, q in zip(each, place, strict=True)) for each in mine) <= 1.0
        screen.leave()
