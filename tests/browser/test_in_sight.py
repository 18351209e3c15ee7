"""Parts of a view out of sight are not drawn: they come while the reader scrolls, go afterwards, and are printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Screen

pytestmark = [pytest.mark.browser]
Visit = Callable[..., Screen]
CHARTS = '[data-testid="stVegaLiteChart"]'
PARTS = """() => [...document.querySelectorAll('[class*="st-key-part-"]')].map((part) => ({
  name: part.className.match(/st-key-part-(\\w+)/)[1],
  top: Math.round(part.getBoundingClientRect().top),
  height: part.offsetHeight,
  charts: part.querySelectorAll('[data-testid="stVegaLiteChart"]').length,
}))"""
SCROLL = "(to) => document.querySelector('[data-testid=\"stMain\"]').scrollTo(0, to)"
HEIGHT = "() => document.querySelector('[data-testid=\"stMain\"]').scrollHeight"


def parts(screen: Screen) -> dict[str, dict[str, Any]]:
    """The parts of the view by their names."""
    return {part["name"]: part for part in screen.page.evaluate(PARTS)}


def charts(screen: Screen) -> list[int]:
    """How many charts each part has."""
    return [part["charts"] for part in parts(screen).values()]


def test_charts_below_the_window_come_and_go_without_moving_anything(sample_server: str, visit: Visit) -> None:
    screen = visit(sample_server, width=1440, height=800)
    screen.open()
    screen.page.locator(CHARTS).first.wait_for()
    screen.settled()
    # What is in the window is drawn: the mistakes by label.
    assert charts(screen) == [0, 0]
    assert screen.page.locator(CHARTS).count() == 1
    screen.page.evaluate(SCROLL, 5000)
    screen.wait(lambda: charts(screen) == [3, 2], "the charts of both parts")
    screen.page.wait_for_timeout(2500)
    assert charts(screen) == [3, 2], "what is in sight stays"
    drawn, height = parts(screen), screen.page.evaluate(HEIGHT)
    screen.page.evaluate(SCROLL, 0)
    screen.wait(lambda: charts(screen) == [0, 0], "no chart out of sight")
    screen.settled()
    again = parts(screen)
    assert {name: part["height"] for name, part in again.items()} == {
        name: part["height"] for name, part in drawn.items()
    }
    assert screen.page.evaluate(HEIGHT) == height
    assert screen.page.get_by_role("heading", name="Scores by label").count() == 0
    # A new threshold draws what is in sight, and what comes later is that of the new threshold.
    screen.page.get_by_role("slider", name="IoU threshold").focus()
    screen.page.keyboard.press("ArrowRight")
    screen.wait(lambda: screen.address().get("iou") == "0.51", "the new threshold")
    screen.settled()
    assert charts(screen) == [0, 0]
    screen.page.evaluate(SCROLL, 5000)
    screen.wait(lambda: charts(screen) == [3, 2], "the charts of both parts")
    assert "IoU 0.51" in screen.text()


def test_a_print_has_all_parts(sample_server: str, visit: Visit) -> None:
    screen = visit(sample_server, width=1440, height=800)
    screen.open()
    screen.page.locator(CHARTS).first.wait_for()
    screen.settled()
    screen.page.evaluate(f"window.print = () => {{ window.printed = document.querySelectorAll('{CHARTS}').length; }}")
    screen.page.keyboard.press("Control+p")
    screen.wait(lambda: screen.page.evaluate("window.printed") == 6, "a print of all charts")
    screen.wait(lambda: charts(screen) == [0, 0], "nothing out of sight afterwards")


def test_a_choice_in_a_part_is_one_of_the_whole_view(sample_server: str, visit: Visit) -> None:
    screen = visit(sample_server, width=1440, height=800)
    screen.open()
    screen.page.locator(CHARTS).first.wait_for()
    # The parts are there: what comes later lies below the window again.
    screen.settled()
    screen.page.evaluate(SCROLL, 5000)
    screen.wait(lambda: charts(screen) == [3, 2], "the charts of both parts")
    screen.settled()
    box = screen.page.locator(".st-key-part-documents").get_by_test_id("stDataFrame")
    screen.click_cell(box, 0, 40)
    screen.wait(lambda: "/page_browser" in screen.page.url, "the pages of the document")
    screen.settled()
    screen.wait(lambda: bool(screen.address().get("within")), "the document in the address")


def test_a_count_of_two_models_lists_and_opens_its_fields(sample_server: str, visit: Visit) -> None:
    screen = visit(sample_server, width=1440, height=800)
    screen.open("fields")
    screen.wait(lambda: parts(screen).get("fields_pair", {}).get("height", 0) > 700, "the place that it takes")
    assert not screen.page.locator(".st-key-part-fields_pair").get_by_test_id("stDataFrame").count()
    screen.bring("fields_pair")
    tables = screen.page.locator(".st-key-part-fields_pair").get_by_test_id("stDataFrame")
    screen.wait(lambda: tables.count() == 3, "the differences and two ledgers")
    screen.click_cell(tables.nth(1), 0, 400)
    screen.wait(lambda: tables.count() == 4, "the fields behind the count")
    screen.settled()
    before = screen.address().get("field_box")
    screen.click_cell(tables.nth(3), 2, 60)
    screen.wait(lambda: screen.address().get("field_box") not in (None, before), "the box of the field")
