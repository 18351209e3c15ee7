"""The view Reading in a browser: both orders and their play, what differs in a text, both tables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Screen, Visit, course, dashboard
from tests.browser.test_app import OVERFLOW
from tests.building import write_items
from tests.components.test_reading_pages import HOSTILE, ORDER, SIZE, in_order

pytestmark = pytest.mark.browser
TABLE = {"label": "table", "box": [0, 200, 190, 300], "order": 4}
HTML = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>{}</td></tr></table>"
TRUTH = [*ORDER, {**TABLE, "html": HTML.format("d")}]
WORSE = [
    *in_order(ORDER, 0, 2, 1, 3)[:3],
    {**ORDER[3], "text": "right 2wo"},
    {**TABLE, "html": HTML.format(HOSTILE.replace("<", "&lt;"))},
]
AHEAD = "() => shadowOf('.order-step').querySelectorAll('line.order-step.order-ahead').length"
MARKED = (
    "() => [...shadowOf('.pieces').querySelectorAll('del, ins')].map((node) => `${node.localName} ${node.textContent}`)"
)
OWN = "() => [...shadowOf('.grids').querySelectorAll('.own')].map((node) => node.textContent)"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a dashboard of its own for a test; to be asked for before `visit`, so that the tabs close first."""
    with contextlib.ExitStack() as servers:
        yield lambda *words: servers.enter_context(dashboard(tmp_path, *words))


def test_a_page_is_read(serve: Callable[..., str], visit: Visit, tmp_path: Path) -> None:
    truth, model = (
        write_items(tmp_path / f"{name}.jsonl", [{**SIZE, "items": items}])
        for name, items in (("truth", TRUTH), ("model", WORSE))
    )
    server = serve("open", "--gt", str(truth), "--pred", str(model))
    course(
        visit(server, width=1_440, height=900).open("reading").drawn(),
        the_order_is_drawn_and_played,
        a_text_is_marked_letter_by_letter,
        a_table_of_strangers_stays_text,
    )


def the_order_is_drawn_and_played(screen: Screen) -> None:
    assert (
        screen.page.evaluate("() => shadowOf('.order-step').querySelectorAll('.order-path line.order-wrong').length")
        == 3
    )
    assert "Column jumped" in screen.page.locator(".mistake-title").first.inner_text()
    for ahead, key in ((8, "."), (6, "."), (8, ",")):
        screen.page.keyboard.press(key)
        screen.wait(lambda ahead=ahead: screen.page.evaluate(AHEAD) == ahead, f"{ahead} steps ahead")
    screen.page.keyboard.press("o")
    screen.wait(lambda: screen.page.evaluate(AHEAD) == 0, "the order is played to its end")
    screen.page.keyboard.press("Escape")
    assert max(screen.page.evaluate(OVERFLOW)) <= 0


def part(screen: Screen, name: str) -> None:
    screen.page.locator("[data-testid=stButtonGroup]").get_by_text(name, exact=True).first.click()
    screen.settled()


def a_text_is_marked_letter_by_letter(screen: Screen) -> None:
    part(screen, "Text")
    screen.wait(lambda: screen.page.locator(".pieces").count() == 1, "the text")
    assert screen.page.evaluate(MARKED) == ["del t", "ins 2"]


def a_table_of_strangers_stays_text(screen: Screen) -> None:
    part(screen, "Tables")
    screen.wait(lambda: screen.page.locator(".mistake").count() == 1, "the table")
    screen.page.keyboard.press("n")
    screen.wait(lambda: screen.page.locator(".grids").count() == 1, "both grids")
    assert screen.page.evaluate(OWN) == ["d", HOSTILE]
    # What is wider than the list scrolls by keys too.
    tables = screen.page.locator(".grid-scroll[tabindex='0']")
    assert [each.get_attribute("aria-label") for each in tables.all()] == ["Ground truth", "Prediction"]
