"""Gallery and Slices in a real browser: cells and slices open their boxes as crops, a card its page."""

import pytest

from evaluator.data.issues import name_in_list
from evaluator.matching.box_items import Query, class_confusion, in_query, items
from tests.browser.conftest import Screen, Visit, course
from tests.browser.test_app import nothing_sticks_out, nothing_sticks_out_of_a_narrow_window
from tests.sample_results import box_result

pytestmark = pytest.mark.browser


def heading(screen: Screen) -> str:
    return str(screen.page.locator(".st-key-title").inner_text())


def drawn(screen: Screen) -> int:
    return int(screen.page.locator(".gl-crop.shown img").count())


def test_from_cells_and_slices_to_cards_and_pages(server: str, visit: Visit) -> None:
    course(
        visit(server, color_scheme="dark").open("gallery"),
        many_cards_make_only_the_crops_that_are_near,
        a_cell_opens_its_boxes_and_a_card_its_page,
        examples_of_a_slice_are_drawn_and_all_its_boxes_open_in_the_gallery,
        keys_walk_the_cards_and_enter_opens_one,
        boxes_of_a_crop_lie_where_they_belong,
        a_point_of_the_curve_sets_the_score_threshold,
        the_fit_stays_in_a_narrow_window,
    )


def examples_of_a_slice_are_drawn_and_all_its_boxes_open_in_the_gallery(screen: Screen) -> None:
    page = screen.page
    nothing_sticks_out_of_a_narrow_window(screen.to("slices"))
    page.locator(".slices-example .gl-sheet img").first.wait_for()
    every = page.locator(".slices-boxes button")
    wanted = every.inner_text().removeprefix("Show all ")
    every.click()
    page.wait_for_url("**/gallery?*question=*")
    page.locator(".gl-card").first.wait_for()
    page.locator(".ls-result", has_text=f"{wanted} in ").wait_for()
    screen.settled()


def a_cell_opens_its_boxes_and_a_card_its_page(screen: Screen) -> None:
    confusion = class_confusion(box_result())
    row, column = confusion.labels.index("Table"), confusion.labels.index("Text")
    expected = int(confusion.counts[row, column])
    assert expected > 0
    every, result = items(box_result()), box_result()
    held = every.mistake[in_query(every, Query(cell=("Table", "Text")))]
    places = len(set(result.causes.of_mistake[held].tolist()))
    screen.to("class_confusion").page.get_by_role("gridcell", name=f"Table to Text: {expected}").click()
    screen.page.get_by_text(f"{expected} boxes of A").wait_for()
    screen.page.get_by_role("button", name="Show in Grid").click()
    screen.arrived("Grid")
    screen.wait(lambda: "Table predicted as Text" in heading(screen), "the heading of the cell")
    screen.wait(lambda: screen.page.locator(".gl-card").count() == places, f"{places} cards")
    screen.wait(lambda: drawn(screen) == places, "their crops")
    card = screen.page.locator(".gl-card").first
    place = card.locator(".gl-place").inner_text()
    card.click()
    screen.arrived("Pages")
    document, number = screen.where()
    assert place == f"{name_in_list(document)}, page {number}"
    assert screen.address()["box"].startswith("p")
    screen.page.go_back()
    screen.arrived("Grid")
    screen.wait(lambda: "Table predicted as Text" in heading(screen), "the way back to the cell")


def boxes_of_a_crop_lie_where_they_belong(screen: Screen) -> None:
    screen.to("gallery", question='{"cell":["Table","Table"]}')
    screen.wait(lambda: drawn(screen) > 0, "a crop")
    measured = screen.page.evaluate(
        """() => { const root = shadowOf('.gl-crop.shown').querySelector('.gl-crop.shown');
          const sheet = root.querySelector('.gl-sheet').getBoundingClientRect();
          const box = root.querySelector('.gl-box-TP').getBoundingClientRect();
          const frame = root.getBoundingClientRect();
          return { inside: box.left >= sheet.left - 2 && box.right <= sheet.right + 2
            && box.top >= sheet.top - 2 && box.bottom <= sheet.bottom + 2,
            fits: sheet.width <= frame.width + 1 && sheet.height <= frame.height + 1,
            filled: sheet.width > frame.width * 0.3 }; }"""
    )
    assert measured == {"inside": True, "fits": True, "filled": True}


def keys_walk_the_cards_and_enter_opens_one(screen: Screen) -> None:
    cards = screen.page.locator(".gl-card")
    assert cards.count() > 2
    cards.first.focus()
    screen.page.keyboard.press("ArrowRight")
    assert cards.nth(1).evaluate("(node) => node.getRootNode().activeElement === node")
    screen.page.keyboard.press("End")
    assert cards.last.evaluate("(node) => node.getRootNode().activeElement === node")
    screen.press("Home", "Enter").arrived("Pages")


def many_cards_make_only_the_crops_that_are_near(screen: Screen) -> None:
    places = len(box_result().causes)
    screen.wait(lambda: screen.page.locator(".gl-card").count() == places > 90, "a card for each place")
    screen.wait(lambda: drawn(screen) > 0, "the first crops").settled()
    assert drawn(screen) < 60
    screen.page.locator(".gl-card").last.scroll_into_view_if_needed()
    screen.wait(lambda: screen.page.locator(".gl-card").last.locator("img").count() == 1, "the last crop")


def the_fit_stays_in_a_narrow_window(screen: Screen) -> None:
    screen.page.set_viewport_size({"width": 1024, "height": 768})
    nothing_sticks_out(screen.to("overview", charts="fit"))


def a_point_of_the_curve_sets_the_score_threshold(screen: Screen) -> None:
    screen.to("overview", charts="scores")
    chart = screen.page.locator("[class*=st-key-precision_recall]")
    chart.scroll_into_view_if_needed()
    screen.rested()
    frame = chart.bounding_box()
    assert frame is not None
    screen.page.mouse.click(frame["x"] + frame["width"] * 0.55, frame["y"] + 40)
    screen.wait(lambda: "scores" in screen.address(), "a score threshold in the address")
