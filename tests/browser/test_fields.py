"""The view Fields in a real Chromium: every number opens its fields, thresholds, keys, charts, states, bad files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from evaluator.drawing.fields import SHARES, Paper, page_data
from evaluator.formats.fields import FORMAT
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import FieldPages, behind
from evaluator.protocols.fields.types import type_rows
from tests.browser.conftest import Screen, course, dashboard
from tests.browser.test_app import OVERFLOW
from tests.building import read_by_browser
from tests.dashboard import SAMPLE_DATA

pytestmark = [pytest.mark.browser]
Visit = Callable[..., Screen]
SAMPLE = SAMPLE_DATA / "fields"


@cache
def core(letter: str = "A") -> fields.FieldsResult:
    return fields.evaluate(
        FORMAT.read_path(SAMPLE / "ground_truth"), FORMAT.read_path(SAMPLE / {"A": "anchors", "B": "rules"}[letter])
    )


@cache
def pages(letter: str = "A") -> FieldPages:
    return FieldPages(core(letter).compared)


def page_of(document: str, number: int, letter: str = "A", iou: float = 0.5) -> dict[str, Any]:
    """What the core says about a page, pages from 1."""
    code = core(letter).compared.documents.index(document)
    return read_by_browser(page_data(core(letter), pages(letter), Paper(code, number - 1, None, SHARES), iou=iou))


def counts_of(data: dict[str, Any]) -> dict[str, int]:
    return {status: data["counts"][status] for status in ("TP", "FP", "FN")}


@pytest.fixture
def server(sample_server: str) -> str:
    """The sample data."""
    return sample_server


@pytest.fixture(scope="module")
def empty_server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A session on a folder with one PDF and no annotations."""
    home = tmp_path_factory.mktemp("empty")
    (home / "corpus").mkdir()
    shutil.copy(next((SAMPLE_DATA / "pdf").glob("*.pdf")), home / "corpus")
    with dashboard(home, "open", str(home / "corpus")) as url:
        yield url


WORST = {"field_doc": "quayside-77120", "field_page": "2"}


def opened(screen: Screen, **address: str) -> Screen:
    """The view at the worst page of model A, or where it is said, with its page drawn."""
    return drawn(screen.to("fields", **({"field_page": "1", **address} if address else WORST)))


def drawn(screen: Screen) -> Screen:
    """Wait until the run has ended and the boxes are."""
    screen.settled()
    screen.page.locator(".chips.ready").wait_for(state="attached")
    return screen


def shown(screen: Screen) -> tuple[str, int]:
    """Document and page of the viewer, pages from 1."""
    root = screen.page.locator(".layoutscope-viewer [aria-label^='Page ']").first.get_attribute("aria-label")
    number, document = root.removeprefix("Page ").split(". Press")[0].split(" of ", 1)
    return document.rsplit(", ", 1)[0], int(number)


def click_cell(screen: Screen, table: int, row: int, x: float) -> None:
    """Click a cell of a table of the view: row from 0 below the header, x in pixels from its left edge."""
    screen.click_cell(screen.page.locator("[data-testid=stDataFrame]").nth(table), row, x)


def test_from_numbers_to_fields(server: str, visit: Visit) -> None:
    course(
        visit(server).open("fields"),
        a_page_opens_at_the_width_of_its_fields,
        a_count_of_the_table_opens_its_boxes,
        a_row_opens_the_problems_of_its_field,
        a_bin_of_the_confidence_opens_its_fields,
        a_curve_opens_its_field,
        the_review_budget_by_keyboard_and_its_button,
        a_cell_of_value_and_box_opens_its_fields,
    )


def test_from_page_to_page(server: str, visit: Visit, tmp_path: Path) -> None:
    course(
        visit(server).open("fields", **WORST),
        a_field_of_the_document_shows_its_box,
        boxes_lie_where_the_ground_truth_says,
        the_slider_scores_anew_by_keyboard,
        the_models_flip,
        next_and_previous_problem_walk_over_pages,
        a_problem_of_the_list_is_marked_with_both_values,
        pages_turn_by_the_strip_and_by_key,
        filters_of_the_sidebar,
        stepping_back_leads_back,
        partial(a_bad_upload_gives_findings_in_place, tmp_path),
    )


# --- opening -------------------------------------------------------------------------------------------------


def test_it_opens_on_its_sample_without_a_click(server: str, visit: Visit) -> None:
    screen = visit(server).open()
    screen.go("Fields")
    drawn(screen)
    counts = core().overall(0.5)
    numbers = screen.page.locator(".ls-numbers dd").all_inner_texts()
    assert numbers[:3] == [f"{core().map_at(0.5):.3f}", f"{counts.precision[0]:.3f}", f"{counts.recall[0]:.3f}"]
    assert screen.page.locator("[data-testid=stException]").count() == 0
    document, number = shown(screen)
    assert screen.counts() == counts_of(page_of(document, number))
    screen.wait(lambda: screen.page.locator("[data-testid=stVegaLiteChart]").count() == 4, "the charts below")


def a_page_opens_at_the_width_of_its_fields(screen: Screen) -> None:
    drawn(screen)
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


def boxes_lie_where_the_ground_truth_says(screen: Screen) -> None:
    opened(screen, field_doc="norris-20466", field_page="1")
    places = screen.places()
    left, top, right, bottom = places["sheet"]
    assert places["image"] == pytest.approx(places["sheet"], abs=1)
    file = json.loads((SAMPLE / "ground_truth" / "norris-20466.json").read_text(encoding="utf-8"))
    wanted = file["vendor"]["name"]["_bbox"]
    data = page_of("norris-20466", 1)
    box = next(b for b in data["boxes"] if b["label"] == "vendor.name" and b["side"] == "ground_truth")
    screen.page.locator(".pane").first.hover()
    screen.page.keyboard.press("g")
    screen.rested()
    x1, y1, x2, y2 = screen.places()["boxes"][box["key"]]
    shares = [(x1 - left) / (right - left), (y1 - top) / (bottom - top), (x2 - left) / (right - left)]
    assert [*shares, (y2 - top) / (bottom - top)] == pytest.approx(wanted, abs=0.002)


# --- thresholds and models -----------------------------------------------------------------------------------


def the_slider_scores_anew_by_keyboard(screen: Screen) -> None:
    document = "hartwell-3317"
    opened(screen, field_doc=document)
    assert screen.counts() == counts_of(page_of(document, 1))
    slider = screen.page.get_by_role("slider", name="IoU threshold")
    slider.focus()
    for _ in range(25):
        screen.page.keyboard.press("ArrowRight")
    wanted = counts_of(page_of(document, 1, iou=0.75))
    assert wanted != counts_of(page_of(document, 1)), "the test needs a page where the threshold matters"
    screen.wait(lambda: screen.counts() == wanted, f"counts at 0.75: {wanted}")
    screen.settled()
    assert screen.address()["field_iou"] == "0.75"
    assert slider.input_value() == "0.75"
    assert "IoU ≥ 0.75" in screen.page.locator(".ls-title span").inner_text()
    assert screen.page.locator(".ls-numbers dd").nth(2).inner_text() == f"{core().overall(0.75).recall[0]:.3f}"
    screen.page.get_by_role("radio", name="IoU 0.50").or_(
        screen.page.get_by_role("button", name="IoU 0.50", exact=True)
    ).first.click()
    screen.wait(lambda: screen.counts() == counts_of(page_of(document, 1)), "counts at 0.50")


def the_models_flip(screen: Screen) -> None:
    document = "norris-20466"
    opened(screen, field_doc=document)
    assert screen.counts() == counts_of(page_of(document, 1))
    screen.page.locator(".pane").first.hover()
    screen.page.keyboard.press("f")
    wanted = counts_of(page_of(document, 1, "B"))
    screen.wait(lambda: screen.counts() == wanted, "the boxes of B")
    screen.wait(lambda: screen.address().get("model") == "2", "the model in the address")


# --- what a number opens --------------------------------------------------------------------------------------


def a_cell_of_value_and_box_opens_its_fields(screen: Screen) -> None:
    opened(screen)
    count = core().value_by_box(0.5)["value_wrong"]["box_right"]
    button = screen.page.locator(".st-key-linked_value_wrong_box_right button").first
    assert button.inner_text().split()[0] == str(count)
    button.click()
    screen.wait(lambda: screen.address().get("behind") == "value_wrong_box_right", "the address of the cell")
    drawn(screen)
    rows = behind(core(), "value_wrong_box_right", iou=0.5)
    screen.wait(lambda: f"{count} fields: Value wrong, box right of A" in screen.text(), "the caption of the table")
    first = core().compared.documents[core().compared.document[rows[0]]]
    screen.wait(lambda: first in screen.cells(), "the first document in the table")
    assert screen.page.locator(".mistake-title").first.inner_text().startswith("1 Wrong value")


def a_count_of_the_table_opens_its_boxes(screen: Screen) -> None:
    opened(screen)
    rows = type_rows({"A": core(), "B": core("B")}, "A", iou=0.5)
    # Field, four ratios, TP, Below, Missed; every column gets as much of the room that is left.
    place = next(number for number, row in enumerate(rows[:12]) if row.missed and number)
    click_cell(screen, 0, place, 0.637 * screen.page.locator("[data-testid=stDataFrame]").first.bounding_box()["width"])
    screen.wait(lambda: screen.address().get("behind") == "missed", f"missed boxes; {screen.address()}")
    assert screen.address()["field"] == rows[place].label
    drawn(screen)
    wanted = pages().counts(behind(core(), "missed", iou=0.5, label=rows[place].label))
    document, number = shown(screen)
    assert (core().compared.documents.index(document), number - 1) in wanted


def a_row_opens_the_problems_of_its_field(screen: Screen) -> None:
    opened(screen)
    rows = type_rows({"A": core(), "B": core("B")}, "A", iou=0.5)
    click_cell(screen, 0, 2, 40)
    screen.wait(lambda: screen.address().get("field") == rows[2].label, f"the field; {screen.address()}")
    assert "behind" not in screen.address()


def a_field_of_the_document_shows_its_box(screen: Screen) -> None:
    opened(screen, field_doc="norris-20418")
    rows = core().document_rows("norris-20418")
    place = next(n for n, row in enumerate(rows[:10].tolist()) if core().with_prediction[row])
    click_cell(screen, 1, place, 40)
    key = f"p{rows[place]}"
    screen.wait(lambda: screen.address().get("field_box") == key, f"box {key}; {screen.address()}")
    drawn(screen)
    assert screen.page.locator(f"[data-marked='{key}']").count() == 1


def a_bin_of_the_confidence_opens_its_fields(screen: Screen) -> None:
    opened(screen).bring("confidence")
    chart = screen.page.locator(".st-key-field_bins [data-testid=stVegaLiteChart]")
    chart.scroll_into_view_if_needed()
    frame = chart.bounding_box()
    # The last bin is at the right edge; a little above its foot there is always a bar.
    for left in range(14, 60, 4):
        screen.page.mouse.click(frame["x"] + frame["width"] - left, frame["y"] + frame["height"] - 58)
        # Another click before the answer would let the bar go again.
        if screen.settled().address().get("behind"):
            break
    screen.wait(lambda: screen.address().get("behind") == "bin_9", f"the last bin; {screen.address()}")
    counts = {letter: int(core(letter).confidence().calibration.count[-1]) for letter in "AB"}
    words = [f"{count} fields: Confidence 0.9 to 1.0 of {letter}" for letter, count in counts.items()]
    screen.wait(lambda: any(each in screen.text() for each in words), "the table of the bin")


def a_curve_opens_its_field(screen: Screen) -> None:
    opened(screen)
    chart = screen.page.locator(".st-key-field_curves_A [data-testid=stVegaLiteChart]")
    chart.scroll_into_view_if_needed()
    frame = chart.bounding_box()
    for y in range(20, int(frame["height"]) - 50, 2):
        screen.page.mouse.click(frame["x"] + 0.45 * frame["width"], frame["y"] + y)
        if screen.settled().address().get("field"):
            break
    screen.wait(lambda: screen.address().get("field") in core().compared.classes, "the field of a curve")
    drawn(screen)
    title = screen.page.locator(".ls-section", has_text="AP against IoU")
    screen.wait(lambda: title.inner_text().endswith(screen.address()["field"]), "the title of the curve")


def the_review_budget_by_keyboard_and_its_button(screen: Screen) -> None:
    opened(screen).bring("confidence")
    slider = screen.page.get_by_role("slider", name="Reviewed, per cent of the values")
    slider.scroll_into_view_if_needed()
    slider.focus()
    for _ in range(10):
        screen.page.keyboard.press("ArrowRight")
    screen.wait(lambda: "Review the least confident 30 % and you catch" in screen.text(), "the sentence at 30 %")
    screen.wait(lambda: screen.address().get("budget") == "30", "the budget in the address")
    screen.settled()
    screen.page.locator(".st-key-linked_least_A button").first.click()
    screen.wait(lambda: screen.address().get("behind") == "least_sure", "the least sure fields")
    count = len(behind(core(), "least_sure", iou=0.5, budget=0.3))
    screen.wait(lambda: f"{count} fields: Least confident 30 % of A" in screen.text(), "the table of the least sure")


# --- the page ------------------------------------------------------------------------------------------------


def next_and_previous_problem_walk_over_pages(screen: Screen) -> None:
    counts = pages("B").counts(behind(core("B"), "problems", iou=0.5))
    order = [page for page in pages("B").order(counts) if counts.get(page)]
    names = [(core("B").compared.documents[code], page + 1) for code, page in order]
    opened(screen, field_doc=names[0][0], field_page=str(names[0][1]), model="2")
    assert shown(screen) == names[0]
    for _ in range(counts[order[0]] + 1):
        screen.page.get_by_role("button", name="Next mistake").click()
    screen.wait(lambda: shown(screen) == names[1], f"the next page with a problem, {names[1]}; {shown(screen)}")
    drawn(screen)
    screen.wait(lambda: screen.page.locator(".joined-text").nth(1).inner_text().startswith("Mistake "), "its first one")
    for _ in range(3):
        if shown(screen) == names[1]:
            screen.page.get_by_role("button", name="Previous mistake").click()
            screen.settled()
    screen.wait(lambda: shown(screen) == names[0], "back on the first page")


def a_problem_of_the_list_is_marked_with_both_values(screen: Screen) -> None:
    opened(screen, field_doc="lund-freight-118", model="2")
    row = screen.page.locator(".mistake", has_text="due_date")
    row.scroll_into_view_if_needed()
    for words in ("predicted “2 July 2025”", "ground truth “8 July 2025”", "IoU 0.00 · confidence 0.88"):
        assert words in row.text_content()
    row.click()
    screen.wait(lambda: screen.page.locator("[data-marked]").count() == 2, "both boxes of the pair")
    screen.wait(lambda: "field_box" in screen.address(), "the box in the address")


def pages_turn_by_the_strip_and_by_key(screen: Screen) -> None:
    opened(screen)
    first = shown(screen)
    screen.page.locator(".strip-page").nth(1).click()
    screen.wait(lambda: shown(screen) != first, "another page")
    drawn(screen)
    screen.page.locator(".pane").first.hover()
    screen.page.keyboard.press("ArrowLeft")
    screen.wait(lambda: shown(screen) == first, "the first page again")


def filters_of_the_sidebar(screen: Screen) -> None:
    opened(screen, field_doc="pitch-okafor", field_within="pitch-okafor")
    wanted = counts_of(page_of("pitch-okafor", 1))
    assert screen.counts() == wanted
    assert screen.page.locator(".strip-page").count() == 2
    box = screen.page.get_by_test_id("stSidebar").get_by_role("combobox", name="Fields shown")
    box.click()
    screen.page.get_by_role("option", name="Missed boxes").click()
    screen.wait(lambda: screen.address().get("behind") == "missed", "missed boxes only")


def stepping_back_leads_back(screen: Screen) -> None:
    opened(screen, field_doc="pitch-tan")
    screen.page.get_by_role("slider", name="IoU threshold").focus()
    for _ in range(5):
        screen.page.keyboard.press("ArrowRight")
    screen.wait(lambda: screen.address().get("field_iou") == "0.55", "0.55 in the address")
    screen.page.go_back()
    screen.wait(lambda: screen.address().get("field_iou") != "0.55", "the address before")
    drawn(screen)
    title = screen.page.locator(".ls-title span")
    screen.wait(
        lambda: f"IoU ≥ {float(screen.address().get('field_iou', 0.5)):.2f}" in title.inner_text(), "its number"
    )


# --- states --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_at_both_widths(server: str, visit: Visit, scheme: str) -> None:
    screen = visit(server, color_scheme=scheme).open("fields")
    for width, height in ((1440, 900), (1024, 768)):
        screen.page.set_viewport_size({"width": width, "height": height})
        drawn(screen)
        assert max(screen.page.evaluate(OVERFLOW)) <= 0, f"{width} wide"
        left, top, right, bottom = screen.places()["sheet"]
        assert right - left > 200
        assert bottom - top > 300


def test_where_there_is_less_room_the_page_has_the_whole_width_and_a_row_leads_back_to_it(
    server: str, visit: Visit
) -> None:
    screen = visit(server, width=1024, height=768).open("fields", field_doc="norris-20418")
    drawn(screen)
    assert screen.page.locator(".pane").first.bounding_box()["width"] > 500
    assert screen.page.locator(".ls-field-numbers dd").first.is_visible()
    for table in screen.page.get_by_test_id("stDataFrame").all()[:2]:
        wide = "(table) => table.querySelector('.dvn-scroller').scrollWidth - table.clientWidth"
        assert table.evaluate(wide) <= 0
    screen.page.get_by_test_id("stDataFrame").nth(1).scroll_into_view_if_needed()
    assert screen.page.locator(".list-head").bounding_box()["y"] < 0
    rows = core().document_rows("norris-20418")
    place = next(n for n, row in enumerate(rows[:10].tolist()) if core().with_prediction[row])
    click_cell(screen, 1, place, 40)
    screen.wait(lambda: screen.address().get("field_box") == f"p{rows[place]}", f"the box; {screen.address()}")
    screen.wait(lambda: screen.page.locator(".list-head").bounding_box()["y"] > 0, "the page in the window")


def a_bad_upload_gives_findings_in_place(tmp_path: Path, screen: Screen) -> None:
    (tmp_path / "bad.json").write_text('{"total": {"_value": 1e400}}')
    opened(screen)
    screen.page.get_by_text("Files of this view").click()
    screen.choose(tmp_path / "bad.json", within="[data-testid=stMain]")
    screen.page.get_by_role("button", name="Read the files").click()
    screen.page.get_by_text("The uploaded files have errors and were not taken").wait_for()
    screen.wait(lambda: "$.total._value" in screen.text(), "the place of the finding")
    drawn(screen)
    assert screen.page.locator(".ls-numbers dd").first.inner_text() == f"{core().map_at(0.5):.3f}"


def test_nothing_open_has_a_way_out(empty_server: str, visit: Visit, tmp_path: Path) -> None:
    screen = visit(empty_server).open("fields")
    screen.page.get_by_text("No ground truth of fields is open.").wait_for()
    line = json.dumps({"doc_id": "a", "fields": {"t": {"_value": 1, "_bbox": [0.1, 0.1, 0.5, 0.2]}}})
    (tmp_path / "a.jsonl").write_text(line)
    for role in ("Ground truth", "Prediction"):
        screen.page.get_by_role("radio", name=role).or_(screen.page.get_by_role("button", name=role)).first.click()
        screen.choose(tmp_path / "a.jsonl")
        screen.page.get_by_role("button", name="Read the files").click()
        screen.settled()
    screen.page.get_by_text("1 document, 1 page").first.wait_for()
    drawn(screen)
    assert screen.counts() == {"TP": 1, "FP": 0, "FN": 0}


def test_a_count_of_two_models_lists_and_opens_its_fields(sample_server: str, visit: Visit) -> None:
    screen = visit(sample_server, width=1440, height=800)
    screen.open("fields")
    screen.bring("pair_differences")
    tables = screen.page.locator(".st-key-pair_differences").get_by_test_id("stDataFrame")
    screen.wait(lambda: tables.count() == 3, "the differences and two ledgers")
    screen.click_cell(tables.nth(1), 0, 400)
    screen.wait(lambda: tables.count() == 4, "the fields behind the count")
    screen.settled()
    before = screen.address().get("field_box")
    screen.click_cell(tables.nth(3), 2, 60)
    screen.wait(lambda: screen.address().get("field_box") not in (None, before), "the box of the field")
