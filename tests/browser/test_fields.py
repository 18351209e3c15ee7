"""The view Fields in a real Chromium: cells and marks of charts that open fields, keys, history, layout, bad files."""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from evaluator.components.viewer.fields import SHARES, Paper, page_data
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import FieldPages, linked_rows
from evaluator.protocols.fields.field_types import type_rows
from tests.browser.conftest import Screen, Visit, course
from tests.browser.test_app import OVERFLOW
from tests.building import read_by_browser
from tests.dashboard import SAMPLE_DATA
from tests.sample_results import field_results

pytestmark = [pytest.mark.browser]
SAMPLE = SAMPLE_DATA / "fields"


# The field of a pale curve, but one, and a place of it that no other line covers.
A_CURVE = """(chart, but) => {
  for (const line of chart.querySelectorAll('path[aria-roledescription="line mark"]')) {
    const name = /Field: ([^;]*)/.exec(line.getAttribute('aria-label'))?.[1];
    if (!name || name === but) continue;
    for (let share = 0.05; share < 1; share += 0.05) {
      const at = line.getPointAtLength(share * line.getTotalLength()).matrixTransform(line.getScreenCTM());
      if (document.elementFromPoint(at.x, at.y) === line) return [name, at.x, at.y];
    }
  }
  return [...chart.querySelectorAll('path')].map((line) => line.outerHTML.slice(0, 300)).join();
}"""


def core(letter: str = "A") -> fields.FieldsResult:
    return field_results()[letter]


@cache
def pages(letter: str = "A") -> FieldPages:
    return FieldPages(core(letter).compared)


def page_of(document: str, number: int, letter: str = "A", iou: float = 0.5) -> dict[str, Any]:
    code = core(letter).compared.documents.index(document)
    return read_by_browser(page_data(core(letter), pages(letter), Paper(code, number - 1, None, SHARES), iou=iou))


def counts_of(data: dict[str, Any]) -> dict[str, int]:
    return {status: data["counts"][status] for status in ("TP", "FP", "FN")}


def opened(screen: Screen, **address: str) -> Screen:
    """The view where it is said, on the first page of a document, with its page drawn."""
    return screen.to("fields", **{"field_page": "1", **address}).drawn()


def shown(screen: Screen) -> tuple[str, int]:
    root = screen.page.locator(".layoutscope-viewer [aria-label^='Page ']").first.get_attribute("aria-label")
    number, document = root.removeprefix("Page ").split(". Press")[0].split(" of ", 1)
    return document.rsplit(", ", 1)[0], int(number)


def click_cell(screen: Screen, table: int, row: int, x: float) -> None:
    screen.click_cell(screen.page.locator("[data-testid=stDataFrame]").nth(table), row, x)


def test_from_numbers_to_fields_and_from_page_to_page_in_a_small_dark_window(
    server: str, visit: Visit, tmp_path: Path
) -> None:
    course(
        visit(server).open("fields").drawn(),
        it_opens_on_its_sample_without_a_click,
        where_there_is_room_the_page_is_beside_both_tables,
        a_page_opens_at_the_width_of_its_fields,
        a_bin_of_the_confidence_opens_its_fields,
        a_count_of_the_table_opens_its_boxes,
        a_row_opens_the_problems_of_its_field,
        a_curve_opens_its_field,
        where_there_is_less_room_the_page_has_the_whole_width_and_a_row_leads_back_to_it,
        boxes_lie_where_the_ground_truth_says,
        the_slider_scores_anew_by_keyboard_and_stepping_back_scores_as_before,
        next_and_previous_problem_walk_over_pages,
        partial(a_bad_file_is_listed_with_the_place_of_its_error, tmp_path),
    )


def it_opens_on_its_sample_without_a_click(screen: Screen) -> None:
    counts = core().overall(0.5)
    numbers = screen.page.locator(".ls-numbers dd").all_inner_texts()
    assert numbers[:3] == [f"{core().map_at(0.5):.3f}", f"{counts.precision[0]:.3f}", f"{counts.recall[0]:.3f}"]
    assert screen.page.locator("[data-testid=stException]").count() == 0
    document, number = shown(screen)
    assert screen.counts() == counts_of(page_of(document, number))
    screen.wait(lambda: screen.page.locator("[data-testid=stVegaLiteChart]").count() == 4, "the charts below")
    assert_nothing_is_cut_off(screen)


def assert_nothing_is_cut_off(screen: Screen) -> None:
    assert max(screen.page.evaluate(OVERFLOW)) <= 0
    left, top, right, bottom = screen.places()["sheet"]
    assert right - left > 200
    assert bottom - top > 300


def where_there_is_room_the_page_is_beside_both_tables(screen: Screen) -> None:
    pane = screen.page.locator(".pane").first
    widths = []
    for width in (1440, 1920, 2400):
        screen.sized(width, 900)
        widths.append(pane.bounding_box()["width"])
    assert widths[0] <= min(widths[1:]), "a wider window never has a smaller page"
    types, table, page, rest = (
        screen.page.locator(f".st-key-field_{name}").bounding_box() for name in ("types", "table", "page", "rest")
    )
    assert types["x"] == table["x"] == rest["x"] < types["x"] + types["width"] < page["x"]
    assert (
        types["y"] == page["y"] < types["y"] + types["height"] < table["y"] < table["y"] + table["height"] < rest["y"]
    )
    screen.sized()


def a_page_opens_at_the_width_of_its_fields(screen: Screen) -> None:
    page = screen.page
    pane, sheet = (page.locator(name).first.bounding_box() for name in (".pane", ".pane .sheet"))
    assert sheet["height"] > pane["height"], "enlarged"
    screen.wait(lambda: page.locator(".chip:not(.crowded)").count() > 0, "tags")
    for chip in page.locator(".chip:not(.crowded)").all():
        place = chip.bounding_box()
        assert pane["x"] <= place["x"], chip.inner_text()
        assert place["x"] + place["width"] <= pane["x"] + pane["width"], chip.inner_text()
    page.keyboard.press("0")
    screen.wait(lambda: page.locator(".pane .sheet").first.bounding_box()["height"] < pane["height"], "the whole page")


def where_there_is_less_room_the_page_has_the_whole_width_and_a_row_leads_back_to_it(screen: Screen) -> None:
    screen.page.set_viewport_size({"width": 1024, "height": 768})
    screen.page.emulate_media(color_scheme="dark")
    opened(screen, field_doc="norris-20418", field_iou="0.75")
    screen.page.get_by_text("Fields of the document", exact=True).click()
    screen.settled()
    assert_nothing_is_cut_off(screen)
    assert screen.page.locator(".pane").first.bounding_box()["width"] > 500
    assert screen.page.locator(".ls-field-numbers dd").first.is_visible()
    for table in screen.page.get_by_test_id("stDataFrame").all()[:2]:
        wide = "(table) => table.querySelector('.dvn-scroller').scrollWidth - table.clientWidth"
        assert table.evaluate(wide) <= 0
    screen.page.get_by_test_id("stDataFrame").nth(1).scroll_into_view_if_needed()
    assert screen.page.locator(".list-head").bounding_box()["y"] < 0
    rows = core().places("norris-20418")
    place = next(n for n, row in enumerate(rows[:10].tolist()) if core().with_prediction[row])
    click_cell(screen, 1, place, 40)
    key = f"p{rows[place]}"
    screen.addressed(field_box=key)
    screen.wait(lambda: screen.page.locator(".list-head").bounding_box()["y"] > 0, "the page in the window")
    assert screen.drawn().page.locator(f"[data-marked='{key}']").count() == 1


def boxes_lie_where_the_ground_truth_says(screen: Screen) -> None:
    places = screen.places()
    left, top, right, bottom = places["sheet"]
    assert places["image"] == pytest.approx(places["sheet"], abs=1)
    file = json.loads((SAMPLE / "ground_truth" / "norris-20418.json").read_text(encoding="utf-8"))
    wanted = file["vendor"]["name"]["_bbox"]
    data = page_of("norris-20418", 1)
    box = next(b for b in data["boxes"] if b["label"] == "vendor.name" and b["side"] == "ground_truth")
    screen.page.locator(".pane").first.hover()
    screen.press("g").rested()
    x1, y1, x2, y2 = screen.places()["boxes"][box["key"]]
    shares = [(x1 - left) / (right - left), (y1 - top) / (bottom - top), (x2 - left) / (right - left)]
    assert [*shares, (y2 - top) / (bottom - top)] == pytest.approx(wanted, abs=0.002)


def the_slider_scores_anew_by_keyboard_and_stepping_back_scores_as_before(screen: Screen) -> None:
    before, wanted = (counts_of(page_of("norris-20418", 1, iou=iou)) for iou in (0.75, 0.76))
    assert wanted != before, "the test needs a page where the threshold matters"
    assert screen.counts() == before
    slider = screen.thresholds().get_by_role("slider", name="IoU threshold")
    signed = screen.page.locator(".ls-facts")
    slider.focus()
    screen.press("ArrowRight").wait(lambda: screen.counts() == wanted, f"counts at 0.76: {wanted}").settled()
    assert screen.address()["field_iou"] == "0.76"
    assert slider.input_value() == "0.76"
    assert "IoU ≥ 0.76" in signed.inner_text()
    assert screen.page.locator(".ls-numbers dd").nth(2).inner_text() == f"{core().overall(0.76).recall[0]:.3f}"
    screen.page.go_back()
    screen.addressed(field_iou="0.75")
    screen.wait(lambda: screen.counts() == before, "its counts")
    assert "IoU ≥ 0.75" in screen.drawn().signature()


def a_count_of_the_table_opens_its_boxes(screen: Screen) -> None:
    rows = type_rows({"A": core(), "B": core("B")}, "A", iou=0.5)
    # Field, four ratios, TP, Below, Missed; every column gets as much of the room that is left.
    place = next(number for number, row in enumerate(rows[:12]) if row.missed and number)
    click_cell(screen, 0, place, 0.637 * screen.page.locator("[data-testid=stDataFrame]").first.bounding_box()["width"])
    screen.addressed(behind="missed")
    assert screen.address()["field"] == rows[place].label
    screen.drawn()
    wanted = pages().counts(linked_rows(core(), "missed", iou=0.5, label=rows[place].label))
    document, number = shown(screen)
    assert (core().compared.documents.index(document), number - 1) in wanted


def a_row_opens_the_problems_of_its_field(screen: Screen) -> None:
    rows = type_rows({"A": core(), "B": core("B")}, "A", iou=0.5)
    click_cell(screen, 0, 2, 40)
    screen.addressed(field=rows[2].label)
    assert "behind" not in screen.address()


def a_bin_of_the_confidence_opens_its_fields(screen: Screen) -> None:
    chart = screen.bring("confidence").page.locator(".st-key-field_bins [data-testid=stVegaLiteChart]")
    chart.scroll_into_view_if_needed()
    screen.settled()
    bars = chart.locator("path[aria-roledescription=bar][aria-label*='Model: A;']").all()
    last = max((bar.bounding_box() for bar in bars), key=lambda bar: bar["x"])
    screen.page.mouse.click(last["x"] + last["width"] / 2, last["y"] + last["height"] / 2)
    screen.addressed(behind="bin_9")
    words = f"{int(core().confidence().calibration.count[-1])} fields: Confidence 0.9 to 1.0 of A"
    screen.wait(lambda: words in screen.text(), "the table of the bin").settled()


def a_curve_opens_its_field(screen: Screen) -> None:
    before = screen.address()["field"]
    chart = screen.page.locator(".st-key-field_curves_A [data-testid=stVegaLiteChart]")
    chart.scroll_into_view_if_needed()
    screen.settled()
    name, x, y = chart.evaluate(A_CURVE, before)
    screen.page.mouse.click(x, y)
    screen.addressed(field=name).drawn()
    title = screen.page.locator(".ls-section", has_text="AP against IoU")
    screen.wait(lambda: title.inner_text().endswith(screen.address()["field"]), "the title of the curve")


def next_and_previous_problem_walk_over_pages(screen: Screen) -> None:
    counts = pages("B").counts(linked_rows(core("B"), "problems", iou=0.5))
    order = [page for page in pages("B").order(counts) if counts.get(page)]
    names = [(core("B").compared.documents[code], page + 1) for code, page in order]
    opened(screen, field_doc=names[1][0], field_page=str(names[1][1]), model="2")
    screen.page.locator(".pane").first.focus()
    for key, page, number in (("n", names[1], 1), ("p", names[0], counts[order[0]]), ("n", names[1], 1)):
        screen.page.keyboard.press(key)
        screen.wait(lambda page=page: shown(screen) == page, f"{key}: {page}; {shown(screen)}")  # type: ignore[misc]
        screen.page.locator(f".mistake.chosen[data-number='{number}']").wait_for()
        screen.settled()


def a_bad_file_is_listed_with_the_place_of_its_error(tmp_path: Path, screen: Screen) -> None:
    (tmp_path / "bad.json").write_text('{"total": {"_value": 1e400}}')
    screen.page.get_by_text("Files of this view").click()
    screen.choose(tmp_path / "bad.json")
    screen.page.get_by_text("$.total._value").first.wait_for()
    screen.page.get_by_role("button", name="Back to the sample").click()
    screen.drawn()
    assert screen.page.locator(".ls-numbers dd").first.inner_text() == f"{core('B').map_at(0.5):.3f}"
