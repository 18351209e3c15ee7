"""The dashboard as its readers have it: the command, the server, a real Chromium."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from evaluator.charts.theme import DARK, LIGHT
from evaluator.components.viewer import mistake_filter, page_overlay
from evaluator.components.viewer.mistake_filter import MistakeFilter
from evaluator.matching.error_types import DOCUMENT
from pages.app.login import THIS_MACHINE
from tests.browser.conftest import INK_INSIDE, ROOT, Screen, Visit, course, dashboard
from tests.building import Box, box, read_by_browser, snapshot_file
from tests.dashboard import SAMPLE_DATA
from tests.sample_results import box_result, sample

pytestmark = [pytest.mark.browser]
WORST = "harvest-survey-2024.pdf"
# Another threshold than the usual one, for what is carried from view to view.
IOU = 0.6
# A mistake that a filter keeps, by its address.
LINK = {"doc": WORST, "page": "4", "iou": "0.55", "mistakes": "missed", "box": "g116"}
# In a narrow window and in the dark, all but the first two are in tests of their own.
ELSEWHERE = {
    "overview", "page_browser", "compare", "fields", "findings", "gallery", "class_confusion", "pixel_confusion",
    "review_pack", "slices",
}  # fmt: skip
OTHER_VIEWS = [*sorted({path.stem for path in (ROOT / "pages").glob("[a-z]*.py")} - ELSEWHERE)]


def page_of(document: str, number: int, model: int = 0, iou: float = 0.5, **more: Any) -> dict[str, Any]:
    row = sample().page_row(document, number - 1)
    assert row is not None
    result = box_result(model, iou)
    return read_by_browser(page_overlay.page_data(result, row, causes=result.causes, **more))


def page_order(*names: str) -> list[tuple[str, int]]:
    result = box_result()
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    keep = mistake_filter.passing(columns, sample(), MistakeFilter(names=names))
    per_page = np.bincount(columns.page[keep], minlength=sample().pages)
    pages = mistake_filter.page_list(sample(), per_page, only_mistakes=bool(names))
    return [pages.at(position) for position in range(len(pages))]


def counts_of(data: dict[str, Any]) -> dict[str, int]:
    return {status: data["counts"][status] for status in ("TP", "FP", "FN")}


def truth_of(document: str, number: int) -> list[list[float]]:
    """Boxes of a page as they are in the JSON file, without any code of ours."""
    file = json.loads((SAMPLE_DATA / "ground_truth.json").read_text(encoding="utf-8"))
    entries = [e for e in file["predictions"] if (e["doc_id"], e["page_index"]) == (document, number - 1)]
    return [each["bbox"] for entry in entries for each in entry["objects"]]


def assert_framed(screen: Screen) -> None:
    assert screen.page.get_by_test_id("stTopNavLink").count() >= 3
    header = screen.page.get_by_test_id("stHeader").evaluate("(node) => getComputedStyle(node).height")
    assert header == "48px", "our style is in the page"
    assert screen.page.title() == "LayoutScope"
    background = screen.page.locator("[data-testid=stApp]").evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert background in ("rgb(255, 255, 255)", "rgb(20, 24, 29)")


def test_a_link_every_view_in_the_dark_and_pages_one_after_the_other(server: str, visit: Visit) -> None:
    """Most views in a narrow window only; what the policy of the server stops is an error of the console.

    Verdicts and their names are in `test_course` and `test_two_servers`.
    """
    course(
        visit(server, color_scheme="dark", width=1024, height=768).open("page_browser", **LINK),
        a_link_leads_to_its_mistake,
        the_page_browser_fits_a_narrow_window,
        *(partial(another_view, view) for view in OTHER_VIEWS),
        the_overview_fits_both_widths_in_the_dark,
        its_numbers_are_there_without_a_click_and_its_tables_after_one,
        the_logo_needs_no_file_of_the_server,
        the_tour_leads_from_view_to_view_until_it_is_left,
        a_row_of_the_overview_opens_its_pages_at_its_thresholds_and_stepping_back_leads_back,
        another_theme_from_the_menu_recolours_the_charts,
        a_row_of_the_labels_opens_its_boxes,
        n_walks_over_documents,
        boxes_lie_where_the_ground_truth_says,
        the_strip_shows_the_pages_that_are_in_view,
        stepping_back_brings_the_thresholds_back,
        a_page_turn_runs_the_viewer_only_and_the_address_follows,
        the_models_flip,
    )


def a_link_leads_to_its_mistake(screen: Screen) -> None:
    """With its filter and threshold, in a session that knows nothing of another."""
    assert screen.where() == (LINK["doc"], int(LINK["page"]))
    data = page_of(WORST, 4, iou=0.55)
    missed = [each for each in data["mistakes"] if each["name"] == "missed"]
    titles = screen.page.locator(".mistake-title").all_inner_texts()
    assert len(titles) == len(missed) < len(data["mistakes"])
    assert all("Missed" in each for each in titles)
    assert missed[-1]["keys"] == [LINK["box"]]
    assert "chosen" in screen.page.locator(".mistake").last.get_attribute("class")
    assert screen.counts() == counts_of(data)
    assert "IoU ≥ 0.55" in screen.signature()
    assert screen.address() == LINK


def its_numbers_are_there_without_a_click_and_its_tables_after_one(screen: Screen) -> None:
    assert_framed(screen)
    screen.opened("help_popover").get_by_text(THIS_MACHINE).wait_for()
    screen.page.keyboard.press("Escape")
    for model in (0, 1):
        row = box_result(model, IOU).micro.row(0)
        bar = screen.page.locator(f".ov-row.ov-of-{'AB'[model]}").inner_text()
        for words in (f"{row['f1']:.3f}", f"{row['tp']} found", f"{row['fp']} extra", f"{row['fn']} missed"):
            assert words in bar
    shown = screen.page.locator(".gl-card:visible")
    for width, cards in ((1024, 6), (1920, 8), (1440, 6)):
        screen.sized(width, 900).settled()
        assert shown.count() == cards
        tops = Counter(round(shown.nth(at).bounding_box()["y"]) for at in range(cards))
        assert set(tops.values()) == {{1024: 2, 1440: 3, 1920: 4}[width]}, "as many in each row"
    foot = screen.page.locator(".ls-foot").bounding_box()
    assert foot["y"] + foot["height"] <= 900, "what the numbers are made of shows without scrolling"
    screen.page.get_by_role("button", name="All 11 labels").click()
    screen.settled()
    table = screen.page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert 0 < table["y"] < table["y"] + table["height"] <= 900, "the whole table of the labels is in the window"
    for name in ("Fit", "Documents"):
        screen.page.get_by_role("button", name=name, exact=True).click()
        screen.settled()
    drawn = screen.page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg")
    screen.wait(lambda: drawn.count() == 4, "the charts")
    assert screen.page.locator("[data-testid=stDataFrame] canvas").count() >= 2
    assert screen.page.locator("[data-testid=stException]").count() == 0


def the_tour_leads_from_view_to_view_until_it_is_left(screen: Screen) -> None:
    screen.opened("help_popover").get_by_role("button", name="Tour of five steps").click()
    tour = screen.page.locator(".st-key-tour")
    tour.get_by_text("1 of 5").wait_for()
    tour.get_by_role("button", name="Next").click()
    screen.arrived("Pages")
    tour.get_by_role("button", name="Leave the tour").click()
    tour.wait_for(state="detached")
    screen.to("overview", iou=str(IOU), charts="labels,fit,documents")


def the_logo_needs_no_file_of_the_server(screen: Screen) -> None:
    """Such a file is gone for a moment when a run is cut short, and the picture then stays broken."""
    sources = screen.page.evaluate(
        "() => [...document.querySelectorAll('link[rel*=icon]')].map((node) => node.src || node.href)"
    )
    logo = "node => getComputedStyle(node, '::before').backgroundImage"
    assert screen.page.get_by_test_id("stHeader").evaluate(logo).startswith('url("data:image/png;base64,')
    assert {source[:22] for source in sources} == {"data:image/png;base64,"}


def a_page_turn_runs_the_viewer_only_and_the_address_follows(screen: Screen) -> None:
    order = [(document, index + 1) for document, index in page_order()]
    assert screen.where() == order[0]
    # What a run of the whole view would draw anew keeps a mark of ours.
    screen.page.locator(".ls-title").evaluate("(node) => { node.dataset.mark = 'kept'; }")
    screen.page.evaluate("document.activeElement.blur()")
    screen.page.keyboard.press("ArrowRight")
    screen.wait_for_page(*order[1])
    screen.page.get_by_role("button", name="Next page").click()
    screen.wait_for_page(*order[2])
    assert screen.counts() == counts_of(page_of(*order[2]))
    assert screen.places()["boxes"].keys() == {each["key"] for each in page_of(*order[2])["boxes"]}
    assert (screen.address()["doc"], screen.address()["page"]) == (order[2][0], str(order[2][1]))
    assert screen.page.locator(".ls-title[data-mark=kept]").count() == 1


def boxes_lie_where_the_ground_truth_says(screen: Screen) -> None:
    """CropBox, /Rotate 90, landscape; the last is the worst page, where the next steps begin."""
    for document, number in (("port-authority-annual.pdf", 3), ("school-census.pdf", 3), (WORST, 4)):
        assert_in_place(screen, document, number)


def assert_in_place(screen: Screen, document: str, number: int) -> None:
    screen.to("page_browser", doc=document, page=str(number))
    assert screen.where() == (document, number)
    shares = truth_of(document, number)
    left, top, right, bottom = boxes_in_place(screen, shares)
    with pymupdf.open(SAMPLE_DATA / "pdf" / document) as opened:
        rect = opened[number - 1].rect
    assert (right - left) / (bottom - top) == pytest.approx(rect.width / rect.height, rel=0.005)
    ink, inside = screen.page.evaluate(INK_INSIDE, shares)
    assert ink > 1_000
    assert inside / ink > 0.9, "the drawn page and its boxes belong together"


def boxes_in_place(screen: Screen, shares: list[list[float]]) -> list[float]:
    """The edges of the page on screen, once every box of the ground truth lies where its file says, and no other."""
    screen.press("g").rested()
    places = screen.places()
    screen.page.keyboard.press("g")
    left, top, right, bottom = places["image"]
    assert places["sheet"] == pytest.approx(places["image"], abs=0.01)
    wanted = np.array(shares) * ([right - left, bottom - top] * 2) + [left, top, left, top]
    mine = np.array([box for key, box in places["boxes"].items() if key.startswith("g")])
    assert len(mine) == len(shares) > 0
    assert np.abs(wanted[:, None] - mine).max(axis=2).min(axis=1).max() <= 1.0
    return list(places["image"])


def the_models_flip(screen: Screen) -> None:
    place = screen.where()
    wanted = counts_of(page_of(*place, model=1))
    assert screen.counts() != wanted, "the test needs a page where the model matters"
    screen.press("f").wait(lambda: screen.counts() == wanted, f"the counts of B: {wanted}").settled()
    assert screen.where() == place
    assert screen.address()["model"] == "2"
    screen.page.get_by_role("radio", name="blocks 1.0", checked=True).wait_for()


def the_strip_shows_the_pages_that_are_in_view(screen: Screen) -> None:
    pictures = screen.page.locator(".strip-page .thumb-picture")
    screen.page.locator(".strip-page .thumb-frame.drawn").first.wait_for()
    assert pictures.count() == screen.page.locator(".strip-page").count() == len(page_order())
    assert pictures.first.evaluate("(node) => node.naturalWidth") >= 90
    assert pictures.last.get_attribute("loading") == "lazy"
    told = [screen.page.locator(name).count() for name in (".strip-words:has-text('mistake')", ".strip-page .badge")]
    assert sum(told) == len(page_order())
    pictures.last.scroll_into_view_if_needed()
    screen.wait(lambda: pictures.last.evaluate("(node) => node.naturalWidth") >= 90, "the picture of the last page")


def n_walks_over_documents(screen: Screen) -> None:
    document, index = page_order("over_cropped")[0]
    screen.to("page_browser", doc=document, page=str(index + 1), mistakes="over_cropped")
    seen = []
    total = int(box_result().mistakes.counts[DOCUMENT.index("over_cropped")])
    for step in range(total):
        before = screen.address().get("box")
        screen.page.keyboard.press("n")
        screen.wait(lambda before=before: screen.address().get("box") != before, f"mistake {step + 1} of {total}")
        screen.settled()
        seen.append((*screen.where(), screen.address()["box"]))
    assert len({each[0] for each in seen}) > 1
    assert len(set(seen)) == total
    screen.page.keyboard.press("n")
    assert (*screen.settled().where(), screen.address()["box"]) == seen[-1], "the last of the list"
    assert screen.page.locator(".box-facts").inner_text() == f"That was the last of {total} mistakes. N starts again."
    screen.press("n").wait(lambda: screen.where() == seen[0][:2], "the first of the list")
    screen.page.locator(".mistake.chosen[data-number='1']").wait_for()
    screen.settled()


def stepping_back_brings_the_thresholds_back(screen: Screen) -> None:
    slider = screen.thresholds().get_by_role("slider", name="IoU threshold")
    slider.focus()
    screen.press("ArrowRight").addressed(iou="0.51")
    screen.page.go_back()
    # The slider of a value that was set elsewhere takes the place of the one that was moved.
    values = "(nodes) => nodes.map((node) => node.value)"
    screen.wait(lambda: slider.evaluate_all(values) == ["0.5"], "the slider at 0.5 again").settled()
    assert "iou" not in screen.address()
    assert "IoU ≥ 0.50" in screen.signature()


def a_row_of_the_overview_opens_its_pages_at_its_thresholds_and_stepping_back_leads_back(screen: Screen) -> None:
    result = box_result(iou=IOU)
    mistakes = [0] * len(sample().documents)
    for page in result.mistakes.page.tolist():
        mistakes[sample().page_document[page]] += 1
    worst = max(range(len(mistakes)), key=lambda row: (mistakes[row], -row))
    screen.click_cell(screen.page.locator("[data-testid=stDataFrame]").last, 0, 60)
    screen.arrived("Pages")
    name = sample().documents[worst].doc_id
    assert screen.where()[0] == name
    screen.addressed(within=name)
    assert f" in {mistakes[worst]} mistakes (" in screen.page.locator(".ls-result").inner_text()
    assert screen.address()["iou"] == str(IOU)
    assert screen.address()["doc"], "the address is whole, although the history has one step"
    assert max(screen.page.evaluate(OVERFLOW)) <= 0, "page browser at 1440"
    screen.page.go_back()
    screen.arrived("Overview")
    assert screen.page.locator(".ov-row[role=group]").count() == 2


def the_page_browser_fits_a_narrow_window(screen: Screen) -> None:
    left, top, right, bottom = screen.places()["sheet"]
    assert right - left > 200
    assert right - left > bottom - top > 250, "a landscape page; the list is beside it"
    assert screen.page.locator(".list").bounding_box()["x"] > right
    nothing_sticks_out(screen)


def a_row_of_the_labels_opens_its_boxes(screen: Screen) -> None:
    screen.click_cell(screen.page.locator("[data-testid=stDataFrame]").first, 1, 60)
    screen.arrived("Pages")
    screen.wait(lambda: screen.address().get("label") == sample().labels[0], "the label in the address")
    mine = {each["key"] for each in page_of(*screen.where(), iou=IOU)["boxes"] if each["label"] == sample().labels[0]}
    with_others = page_of(*screen.where(), iou=IOU, labels=sample().labels[:1])["boxes"]
    muted = {each["key"] for each in with_others if each["other"]}
    keys = "(nodes) => nodes.map((node) => node.dataset.key)"
    assert set(screen.page.locator(".box:not(.other)").evaluate_all(keys)) == mine
    assert set(screen.page.locator(".box.other").evaluate_all(keys)) == muted > set()
    grounds = "(nodes) => nodes.map((node) => getComputedStyle(node).backgroundColor)"
    assert set(screen.page.locator(".chip.other").evaluate_all(grounds)) == {"rgb(255, 255, 255)"}, "coloured text only"


OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]'), page = document.scrollingElement;
  return [main.scrollWidth - main.clientWidth, page.scrollWidth - page.clientWidth];
}"""


def assert_own_blocks(screen: Screen, ground: str, ink: str, tint: str) -> None:
    colours = "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    assert screen.page.locator("[data-testid=stApp]").evaluate(colours)[1] == ground
    assert screen.page.locator(".ov-of-A .ov-TP").evaluate(colours) == [ink, tint]


def nothing_sticks_out(screen: Screen) -> None:
    assert screen.page.locator("[data-testid=stException]").count() == 0, screen.page.url
    assert max(screen.page.evaluate(OVERFLOW)) <= 0, screen.page.url


def nothing_sticks_out_of_a_narrow_window(screen: Screen) -> None:
    screen.page.set_viewport_size({"width": 1024, "height": 768})
    nothing_sticks_out(screen.settled())
    screen.sized().settled()


def another_view(view: str, screen: Screen) -> None:
    nothing_sticks_out(screen.to(view))


def the_overview_fits_both_widths_in_the_dark(screen: Screen) -> None:
    screen.to("", iou=str(IOU))
    for width, height in ((1024, 768), (1440, 900)):
        screen.sized(width, height).settled()
        assert max(screen.page.evaluate(OVERFLOW)) <= 0, f"overview at {width}"
    assert_own_blocks(screen, "rgb(20, 24, 29)", "rgb(77, 182, 172)", "rgb(18, 53, 50)")


def another_theme_from_the_menu_recolours_the_charts(screen: Screen) -> None:
    page = screen.page
    chart = page.get_by_test_id("stVegaLiteChart").first
    chart.wait_for()

    def inks() -> str:
        return str(chart.inner_html()).lower()

    light, dark = LIGHT.b.lower(), DARK.b.lower()
    screen.wait(lambda: dark in inks(), "the bars of the dark theme")
    page.get_by_role("button", name="Main menu").click()
    page.get_by_text("light_mode").locator("xpath=..").click()
    page.keyboard.press("Escape")
    screen.wait(lambda: light in inks() and dark not in inks(), "the bars of the light theme").settled()
    assert_own_blocks(screen, "rgb(255, 255, 255)", "rgb(0, 107, 94)", "rgb(224, 242, 239)")


HOSTILE = (
    '<img src=x onerror="window.hacked=1">![b](http://example.invalid/x.png)',
    "[a](http://example.invalid/) www.example.invalid",
    '"><script>window.hacked=1</script>',
    ":red[red] $x$ **bold** `code`",
    "a:Q",
    "datum['x']",
    # None may make a view wider than the window.
    "W\u202eide " * 1400,
)
HOSTILE_NAME = "<img src=x onerror=window.hacked=1>![b](example.invalid).pdf"
MODEL_NAMES = ("![b](http://example.invalid/x.png) [a](http://example.invalid)", "www.example.invalid")


@pytest.fixture(scope="module")
def odd_server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("odd")
    data = folder / "data"
    data.mkdir()
    shutil.copy(SAMPLE_DATA / "pdf" / "tram-options.pdf", data / HOSTILE_NAME)
    with pymupdf.open(SAMPLE_DATA / "pdf" / "tram-options.pdf") as opened:
        opened.save(data / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="u")
    truth: list[Box] = []
    for document in (HOSTILE_NAME, "locked.pdf", "missing.pdf"):
        for place, label in enumerate(HOSTILE):
            truth.append(box(0.1, 0.1 + 0.12 * place, 0.6, 0.2 + 0.12 * place, label=label, document=document))
    first = [row._replace(score=0.5 + 0.01 * place) for place, row in enumerate(truth) if place % 3]
    second = [
        row._replace(score=0.5 + 0.01 * place, label=HOSTILE[place % len(HOSTILE) - 1])
        for place, row in enumerate(truth)
    ]
    (data / "truth.json").write_text(json.dumps(snapshot_file(truth, side="ground_truth", labels=HOSTILE)))
    for rows, name in ((first, MODEL_NAMES[0]), (second, MODEL_NAMES[1])):
        value = snapshot_file(rows, labels=HOSTILE)
        value["info"]["model"] = {"name": name, "version": "<b>1</b>"}
        (data / f"model{len(list(data.glob('model*')))}.json").write_text(json.dumps(value))
    with dashboard(folder, "open", str(data)) as url:
        yield url


TALL = """(nodes) => nodes.filter((node) => node.clientHeight > 3.3 * parseFloat(getComputedStyle(node).lineHeight))
  .map((node) => `${node.className} ${node.clientHeight}`)"""


def assert_harmless(screen: Screen) -> None:
    page = screen.page
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("a[href*='example']").count() == 0
    assert page.locator("img[src*='example'], img[src='x']").count() == 0
    assert page.locator("[data-testid=stApp] script").count() == 0
    names = page.locator(".net-name, .cause-title, .strip-document, .gl-title, .mistake:not(.chosen) .mistake-title")
    assert names.evaluate_all(TALL) == [], "a name has three lines at most"
    nothing_sticks_out(screen)


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
    words = screen.page.get_by_test_id("stTopNavLink").all_inner_texts()
    assert words == ["Overview", "Pages", "Compare", "Confusion", "Slices", "Review", "Files"], "views with data"
    assert screen.where() == (HOSTILE_NAME, 1)
    assert screen.places()["image"] is not None, "the file of that name is found and drawn"
    screen.page.locator(".mistake:visible").first.hover()
    screen.rested()
    assert_harmless(screen)
    choices = screen.opened("filter")
    for name in ("Document", "Label"):
        choices.get_by_role("combobox", name=name).click()
        screen.page.get_by_role("option").first.wait_for()
        assert_harmless(screen)
        screen.page.keyboard.press("Escape")
    screen.go("Overview")
    assert screen.page.locator(".ov-of-A .ov-name > span").inner_text() == f"{MODEL_NAMES[0]} <b>1</b>"
    for name in (f"All {len(HOSTILE)} labels", "Fit"):
        screen.page.get_by_role("button", name=name, exact=True).click()
        screen.settled()
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
    for view in ("Grid", "Slices", "Files"):
        screen.go(view)
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
        said = alert.bounding_box()
        assert said["y"] + said["height"] <= top, f"above the page of {document}, not over it"
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
    screen.arrived("Files")


@pytest.mark.skipif("LAYOUTSCOPE_SHARED" not in os.environ, reason="needs the real data of LAYOUTSCOPE_SHARED")
def test_two_models_of_the_world_bank_against_each_other(visit: Visit, tmp_path: Path) -> None:
    real = Path(os.environ["LAYOUTSCOPE_SHARED"]) / "real" / "worldbank"
    reference, prediction = real / "doclayoutyolo_ref.json", real / "yolo11_ref.json"
    words = ["open", str(real / "pdf"), "--gt", str(reference), "--pred", str(prediction), "--as-reference"]
    with dashboard(tmp_path, *words) as url:
        screen = visit(url).open("page_browser")
        assert screen.page.get_by_text("The reference is a model's prediction, not a ground truth").is_visible()
        document, number = screen.where()
        file = json.loads(reference.read_text(encoding="utf-8"))
        ids = {each["doc_id"] for each in file["documents"] if document in json.dumps(each)}
        entries = [each for each in file["predictions"] if each["doc_id"] in ids and each["page_index"] == number - 1]
        boxes_in_place(screen, [each["bbox"] for entry in entries for each in entry["objects"]])
        screen.leave()
