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
from tests.browser.conftest import INK_INSIDE, Screen, course, dashboard
from tests.building import Box, box, read_by_browser, snapshot_file
from tests.dashboard import SAMPLE_DATA

pytestmark = [pytest.mark.browser]
Visit = Callable[..., Screen]
WORST = "harvest-survey-2024.pdf"


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


def page_order(document: str | None = None) -> list[tuple[str, int]]:
    """The pages of model A in the order of the list, worst first."""
    result = core()
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    keep = mistake_filter.passing(columns, sample(), MistakeFilter(document=document))
    pages = mistake_filter.page_list(result, columns, keep, document=document)
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


def test_a_link_straight_to_a_view_on_a_server_that_has_just_started(visit: Visit, tmp_path: Path) -> None:
    """Streamlit treats the very first visit of a process differently."""
    with dashboard(tmp_path) as url:
        screen = visit(url).open("page_browser", doc="school-census.pdf", page="3")
        assert screen.where() == ("school-census.pdf", 3)
        assert_framed(screen)
        screen.leave()


def test_from_overview_to_the_other_views_and_back(server: str, visit: Visit) -> None:
    course(
        visit(server).open(),
        another_theme_from_the_menu_recolours_the_charts,
        it_opens_on_the_sample_data_without_a_click,
        the_logo_needs_no_file_of_the_server,
        stepping_back_leads_back,
        a_row_of_the_overview_opens_its_pages,
        a_row_of_the_labels_opens_its_boxes,
        thresholds_stay_from_view_to_view,
    )


def it_opens_on_the_sample_data_without_a_click(screen: Screen) -> None:
    assert_framed(screen)
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


def thresholds_stay_from_view_to_view(screen: Screen) -> None:
    """The first run of a view had all numbers at the slider's lowest value while its title said another."""
    screen.to("", iou="0.6").go("Page browser")
    row = core(0, 0.6).micro.row(0)
    numbers = screen.page.locator(".ls-numbers dd").all_inner_texts()
    assert numbers == [f"{row[name]:.3f}" for name in ("precision", "recall", "f1")]  # type: ignore[literal-required]
    assert screen.address()["iou"] == "0.6"
    screen.go("Files").go("Overview")
    assert "IoU ≥ 0.60" in screen.page.locator(".ls-title span").inner_text()
    assert screen.address() == {"iou": "0.6"}


# --- the page ------------------------------------------------------------------------------------------------


def test_the_page_browser_from_page_to_page(server: str, visit: Visit) -> None:
    course(
        visit(server).open("page_browser"),
        a_page_turn_runs_the_viewer_only_and_the_address_follows,
        worst_first_is_the_default_and_in_order_a_choice,
        the_strip_shows_the_pages_that_are_in_view,
        a_page_turns_by_key_and_by_button,
        boxes_lie_where_the_ground_truth_says,
        hover_marks_the_pair_and_a_toggle_hides,
        the_models_flip,
        the_document_filter,
        stepping_back_brings_the_thresholds_back,
        the_slider_matches_anew_by_keyboard,
        the_choice_of_a_model_stays_on_the_way_over_other_views,
    )


def at_worst(screen: Screen) -> None:
    document, index = page_order()[0]
    screen.to("page_browser", doc=document, page=str(index + 1))


def boxes_lie_where_the_ground_truth_says(screen: Screen) -> None:
    """Upright, landscape, /Rotate 90, CropBox, scan."""
    for document, number in (
        ("groundwater-note.pdf", 1),
        ("harvest-survey-2024.pdf", 4),
        ("school-census.pdf", 3),
        ("port-authority-annual.pdf", 3),
        ("scanned-minutes-1997.pdf", 2),
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


def a_page_turns_by_key_and_by_button(screen: Screen) -> None:
    screen.to("page_browser", doc="tram-options.pdf", page="1", within="tram-options.pdf", order="page")
    screen.page.keyboard.press("ArrowRight")
    screen.wait_for_page("tram-options.pdf", 2)
    assert screen.counts() == counts_of(page_of("tram-options.pdf", 2))
    screen.page.get_by_role("button", name="Next page").click()
    screen.wait_for_page("tram-options.pdf", 3)
    assert screen.address()["page"] == "3"
    screen.page.keyboard.press("ArrowLeft")
    screen.wait_for_page("tram-options.pdf", 2)
    assert screen.places()["boxes"].keys() == {each["key"] for each in page_of("tram-options.pdf", 2)["boxes"]}


def worst_first_is_the_default_and_in_order_a_choice(screen: Screen) -> None:
    order = page_order()
    at_worst(screen)
    screen.page.keyboard.press("ArrowRight")
    screen.wait_for_page(order[1][0], order[1][1] + 1)
    screen.expand("More filters")
    screen.page.get_by_role("radio", name="In order").or_(
        screen.page.get_by_role("button", name="In order")
    ).first.click()
    screen.wait(lambda: screen.address().get("order") == "page", "the order in the address")
    screen.settled()
    assert screen.where() == (order[1][0], order[1][1] + 1), "the page stays"


def hover_marks_the_pair_and_a_toggle_hides(screen: Screen) -> None:
    document, number = "groundwater-note.pdf", 1
    screen.to("page_browser", doc=document, page=str(number))
    data = page_of(document, number)
    matched = [each for each in data["boxes"] if each["status"] == "TP"]
    smallest = min(matched, key=lambda each: (each["xyxy"][2] - each["xyxy"][0]) * (each["xyxy"][3] - each["xyxy"][1]))
    screen.page.mouse.move(*screen.middle(smallest["key"]))
    marked = "(nodes) => nodes.map((node) => node.dataset.marked)"
    screen.wait(
        lambda: set(screen.page.locator(".marked").evaluate_all(marked)) == {smallest["key"], smallest["partner"]},
        "the marked pair",
    )
    screen.page.mouse.move(5, 5)
    shown = screen.page.locator(".box-TP:visible")
    assert shown.count() == len(matched)
    screen.page.locator(".toggle[aria-label^='TP ']").click()
    screen.wait(lambda: shown.count() == 0, "no matched boxes")
    screen.page.locator(".toggle[aria-label^='TP ']").click()
    screen.wait(lambda: shown.count() == len(matched), "all matched boxes")


def a_mistake_of_the_list_is_chosen_and_a_link_leads_there(other: Screen, screen: Screen) -> None:
    document, number = WORST, 4
    screen.page.bring_to_front()
    screen.to("page_browser", doc=document, page=str(number), iou="0.55")
    data = page_of(document, number, iou=0.55)
    assert screen.page.locator(".mistake").count() == len(data["mistakes"])
    # In whichever cause it is folded away.
    screen.page.locator(".mistake").nth(2).evaluate("node => node.click()")
    keys = data["mistakes"][2]["keys"]
    screen.wait(lambda: screen.address().get("box") in keys, "the chosen box in the address")
    link = screen.page.url
    other.page.bring_to_front()
    other.page.goto(link)
    other.settled()
    assert other.where() == (document, number)
    assert "chosen" in other.page.locator(".mistake").nth(2).get_attribute("class")
    assert other.counts() == counts_of(data)
    assert "IoU ≥ 0.55" in other.page.locator(".ls-title span").inner_text()
    assert other.address() == screen.address()


def the_slider_matches_anew_by_keyboard(screen: Screen) -> None:
    document, number = WORST, 4
    screen.to("page_browser", doc=document, page=str(number), iou="0.5")
    assert screen.counts() == counts_of(page_of(document, number))
    slider = screen.page.get_by_role("slider", name="IoU threshold")
    slider.focus()
    for _ in range(25):
        screen.page.keyboard.press("ArrowRight")
    wanted = counts_of(page_of(document, number, iou=0.75))
    assert wanted != counts_of(page_of(document, number)), "the test needs a page where the threshold matters"
    screen.wait(lambda: screen.counts() == wanted, f"counts at 0.75: {wanted}, {screen.counts()}")
    screen.settled()
    assert slider.input_value() == "0.75"
    screen.wait(lambda: screen.address()["iou"] == "0.75", "the threshold in the address")
    row = core(0, 0.75).micro.row(0)
    assert screen.page.locator(".ls-numbers dd").last.inner_text() == f"{row['f1']:.3f}"
    assert screen.where() == (document, number), "the keys of the slider turn no page"


def the_models_flip(screen: Screen) -> None:
    document, number = WORST, 4
    screen.to("page_browser", doc=document, page=str(number))
    screen.page.keyboard.press("f")
    wanted = counts_of(page_of(document, number, model=1))
    screen.wait(lambda: screen.counts() == wanted, f"the counts of B: {wanted}")
    screen.settled()
    assert screen.address()["model"] == "2"
    assert screen.page.locator(".model").inner_text().startswith("2")
    screen.page.keyboard.press("f")
    wanted = counts_of(page_of(document, number))
    screen.wait(lambda: screen.counts() == wanted, f"the counts of A: {wanted}")


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


def the_document_filter(screen: Screen) -> None:
    at_worst(screen)
    screen.page.get_by_role("combobox", name="Document").click()
    screen.page.get_by_role("option", name="rainfall-atlas.pdf").click()
    screen.wait(lambda: screen.where()[0] == "rainfall-atlas.pdf", "the document")
    screen.settled()
    assert screen.address()["within"] == "rainfall-atlas.pdf"
    worst = page_order("rainfall-atlas.pdf")
    assert screen.page.locator(".strip-page").count() == len(worst)
    assert screen.where()[1] == worst[0][1] + 1


def a_page_turn_runs_the_viewer_only_and_the_address_follows(screen: Screen) -> None:
    order = page_order()
    assert screen.where() == (order[0][0], order[0][1] + 1)
    # What a run of the whole view would draw anew keeps a mark of ours.
    screen.page.locator(".ls-title").evaluate("(node) => { node.dataset.mark = 'kept'; }")
    for place in (1, 2):
        screen.page.keyboard.press("ArrowRight")
        screen.wait_for_page(order[place][0], order[place][1] + 1)
    assert (screen.address()["doc"], screen.address()["page"]) == (order[2][0], str(order[2][1] + 1))
    assert screen.page.locator(".ls-title[data-mark=kept]").count() == 1
    screen.page.reload()
    screen.settled()
    assert screen.where() == (order[2][0], order[2][1] + 1)


def test_mistakes_and_links_to_them(server: str, visit: Visit) -> None:
    screen = visit(server).open("page_browser", mistakes="cut_off")
    other = visit(server)
    screen.page.bring_to_front()
    course(
        screen,
        n_walks_over_pages_and_documents,
        a_link_to_a_hidden_page_says_so,
        partial(pills_filter_the_list_and_a_link_carries_them, other),
        partial(a_mistake_of_the_list_is_chosen_and_a_link_leads_there, other),
    )


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


def pills_filter_the_list_and_a_link_carries_them(other: Screen, screen: Screen) -> None:
    screen.to("page_browser", doc=WORST, page="4")
    count = int(core().mistakes.counts[DOCUMENT.index("missed")])
    screen.page.get_by_role("button", name=f"Missed {count}").click()
    screen.wait(lambda: screen.address().get("mistakes") == "missed", "the filter in the address")
    screen.settled()
    assert f"Filter keeps {count} mistakes" in screen.text()
    titles = screen.page.locator(".mistake-title").all_inner_texts()
    assert titles
    assert all("Missed" in each for each in titles)
    other.page.bring_to_front()
    other.page.goto(screen.page.url)
    other.settled()
    assert other.page.locator(".mistake-title").all_inner_texts() == titles


def a_link_to_a_hidden_page_says_so(screen: Screen) -> None:
    screen.to("page_browser", doc="school-census.pdf", page="3", within="tram-options.pdf")
    assert screen.where() == ("school-census.pdf", 3)
    screen.page.get_by_text("The filter hides this page. Clear filter").click()
    screen.wait(lambda: "within" not in screen.address(), "no filter")
    screen.settled()
    assert screen.where() == ("school-census.pdf", 3)
    assert not screen.page.get_by_text("The filter hides this page").is_visible()


def test_a_verdict_is_kept_and_one_without_a_name_is_not(server: str, visit: Visit) -> None:
    screen = visit(server).open("page_browser", doc="river-districts.pdf", page="2")
    page = screen.page
    page.keyboard.press("n")
    page.get_by_role("textbox", name="Note on the verdict").fill("axis labels")
    page.get_by_role("button", name="Model wrong").click()
    name = page.get_by_role("textbox", name="Your name, needed for verdicts")
    name.wait_for()
    assert page.get_by_role("textbox", name="Note on the verdict").input_value() == "axis labels"
    name.fill("Ada")
    name.press("Enter")
    page.locator(".verdict-state", has_text="Ada, ").wait_for()
    other = visit(server).open("page_browser", doc="river-districts.pdf", page="2")
    other.page.keyboard.press("n")
    other.page.locator(".verdict-state").get_by_text("Ada: Model wrong", exact=True).wait_for()


def the_choice_of_a_model_stays_on_the_way_over_other_views(screen: Screen) -> None:
    screen.to("page_browser", model="2")
    screen.go("Overview").go("Page browser")
    assert screen.page.locator(".model").inner_text().startswith("2")


def stepping_back_leads_back(screen: Screen) -> None:
    screen.to("").go("Page browser")
    assert screen.address()["doc"], "the address is whole, although the history has one step"
    screen.page.go_back()
    screen.page.locator(".ls-title h1", has_text="Overview").wait_for()
    screen.settled()
    assert screen.page.locator(".ls-card").count() == 2


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


def test_uploads(server: str, visit: Visit, tmp_path: Path) -> None:
    another = visit(server).open("files")
    course(
        visit(server).open("files"),
        partial(a_good_upload_joins_the_others, another, tmp_path),
        partial(a_broken_upload_shows_its_findings_and_breaks_nothing, tmp_path),
    )


def a_broken_upload_shows_its_findings_and_breaks_nothing(tmp_path: Path, screen: Screen) -> None:
    broken = snapshot_file([box(0.5, 0.1, 0.1, 0.5)])
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    screen.go("Files").choose(tmp_path / "broken.json")
    screen.page.get_by_role("radio", name="Prediction").click()
    screen.page.get_by_role("button", name="Read the files").click()
    screen.page.get_by_text("The file has errors and was not taken").wait_for()
    screen.wait(lambda: "$.predictions[0].objects[0].bbox" in screen.text(), "the place of the finding in the table")
    screen.go("Overview")
    assert f"{core().micro.f1[0]:.3f}" in screen.page.locator(".ls-card").first.inner_text()


def a_good_upload_joins_the_others(another: Screen, tmp_path: Path, screen: Screen) -> None:
    shutil.copy(SAMPLE_DATA / "blocks.json", tmp_path / "third.json")
    screen.upload(tmp_path / "third.json").go("Overview")
    screen.page.get_by_role("combobox", name="Model B").click()
    screen.wait(lambda: screen.page.get_by_role("option").count() == 3, "three models to choose from")
    screen.page.keyboard.press("Escape")
    another.page.bring_to_front()
    another.page.reload()
    assert "third.json" not in another.settled().cells(), "uploads stay in their session"
    screen.page.bring_to_front()


# --- look ----------------------------------------------------------------------------------------------------

OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]'), page = document.scrollingElement;
  return [main.scrollWidth - main.clientWidth, page.scrollWidth - page.clientWidth];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_at_both_widths(server: str, visit: Visit, scheme: str) -> None:
    screen = visit(server, width=1024, height=768, color_scheme=scheme).open("page_browser")
    course(screen, a_narrow_window_from_the_start, partial(views_at_both_widths, scheme), partial(own_blocks, scheme))


def a_narrow_window_from_the_start(screen: Screen) -> None:
    assert max(screen.page.evaluate(OVERFLOW)) <= 0
    left, top, right, bottom = screen.places()["sheet"]
    assert right - left > 200
    assert bottom - top > 250, "a landscape page; the list is beside it"
    assert screen.page.locator(".list").bounding_box()["x"] > right


def views_at_both_widths(scheme: str, screen: Screen) -> None:
    for view in ("page_browser", "files", ""):
        screen.page.set_viewport_size({"width": 1440, "height": 900})
        screen.to(view)
        ground = screen.page.locator("[data-testid=stApp]").evaluate("(node) => getComputedStyle(node).backgroundColor")
        assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
        assert max(screen.page.evaluate(OVERFLOW)) <= 0, f"{view or 'overview'} at 1440"
        screen.page.set_viewport_size({"width": 1024, "height": 768})
        screen.settled()
        assert max(screen.page.evaluate(OVERFLOW)) <= 0, f"{view or 'overview'} at 1024"
        assert screen.page.locator("[data-testid=stException]").count() == 0


def own_blocks(scheme: str, screen: Screen) -> None:
    """The theme reaches what we draw ourselves."""
    tag = screen.page.locator(".ls-tag.ls-tp").first
    colours = tag.evaluate("(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]")
    assert colours == {
        "light": ["rgb(0, 107, 94)", "rgb(224, 242, 239)"], "dark": ["rgb(77, 182, 172)", "rgb(18, 53, 50)"]
    }[scheme]  # fmt: skip


def another_theme_from_the_menu_recolours_the_charts(screen: Screen) -> None:
    page = screen.page
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
    page.get_by_role("button", name="Main menu").click()
    page.get_by_text("contrast").locator("xpath=..").click()
    page.keyboard.press("Escape")
    screen.wait(lambda: light in inks(), "the bars of the theme of the browser")


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
    (data / "text.pdf").write_text("<html>not a PDF</html>")
    truth: list[Box] = []
    for document in (HOSTILE_NAME, "locked.pdf", "missing.pdf", "text.pdf"):
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
    course(
        visit(odd_server).open("page_browser", doc=HOSTILE_NAME, page="1"),
        hostile_names_are_text_on_every_view,
        a_page_that_cannot_be_drawn_keeps_its_boxes,
        a_hostile_address_is_text,
    )


def hostile_names_are_text_on_every_view(screen: Screen) -> None:
    assert_framed(screen)
    assert_harmless(screen)
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
    for x in range(150, 420, 40):
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
    screen.open("page_browser", **{"![b](http://example.invalid/x.png)": "1", "www.example.invalid": "2", "iou": "<b>"})
    told = screen.page.get_by_text("could not be followed").inner_text().replace("\u2060", "")
    assert "![b](http://example.invalid/x.png)" in told
    assert_harmless(screen)


def test_posters_alone_open_on_their_view_and_the_empty_views_are_muted(visit: Visit, tmp_path: Path) -> None:
    with dashboard(tmp_path, "open", str(SAMPLE_DATA / "posters")) as url:
        screen = visit(url).open()
        page = screen.page
        page.locator(".ls-title h1", has_text="Posters").wait_for()
        link = "[data-testid=stSidebarNavLink][href$='${name}'] > *"
        opacity = f"name => getComputedStyle(document.querySelector(`{link}`)).opacity"
        assert {page.evaluate(opacity, f"/{name}") for name in ("", "gallery", "fields")} == {"0.5"}
        assert {page.evaluate(opacity, f"/{name}") for name in ("posters", "compare", "files")} == {"1"}
        # Once only: the reader may look at an empty view.
        screen.go("Overview")
        assert page.get_by_text("No ground truth is open").is_visible()
        screen.leave()


def test_a_page_without_its_pdf_leads_to_files(visit: Visit, tmp_path: Path) -> None:
    names = [str(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines")]
    with dashboard(tmp_path, "open", "--gt", names[0], "--pred", names[1]) as url:
        screen = visit(url).open("page_browser")
        alert = screen.page.get_by_role("alert").filter(has_text="No PDF folder is open")
        places = screen.places()
        assert alert.bounding_box()["y"] > (places["sheet"][1] + places["sheet"][3]) / 2, "at the foot of the page"
        alert.get_by_role("button", name="Open Files").click()
        screen.page.locator(".ls-title h1", has_text="Files").wait_for()
        screen.settled()
        screen.leave()


def a_page_that_cannot_be_drawn_keeps_its_boxes(screen: Screen) -> None:
    for document, words in (("missing.pdf", "missing.pdf"), ("locked.pdf", "password"), ("text.pdf", "PDF")):
        screen.to("page_browser", doc=document, page="1")
        assert screen.where()[0] == document
        alert = screen.page.get_by_role("alert").filter(has_text=words)
        assert alert.is_visible(), document
        places = screen.places()
        assert places["image"] is None
        assert len(places["boxes"]) >= len(HOSTILE)
        left, top, right, bottom = places["sheet"]
        for x1, y1, x2, y2 in places["boxes"].values():
            assert left - 1 <= x1 < x2 <= right + 1
            assert top - 1 <= y1 < y2 <= bottom + 1
        buttons = [screen.page.get_by_role("button", name=f"{name} page") for name in ("Next", "Previous")]
        next(button for button in buttons if button.is_enabled()).click()
        screen.wait(lambda document=document: screen.where()[0] != document, "another page")  # type: ignore[misc]


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
