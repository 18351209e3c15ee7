"""Pages that the browser has are turned to at once: Compare and Fields, before the answer, in a row, and meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Screen

pytestmark = [pytest.mark.browser]
Visit = Callable[..., Screen]

# What the server says waits while `held` is set, and is heard in its order afterwards.
HOLD = """() => {
  if (window.letGo) return;
  const listen = WebSocket.prototype.addEventListener, waiting = [];
  WebSocket.prototype.addEventListener = function (kind, act, ...rest) {
    if (kind !== 'message') return listen.call(this, kind, act, ...rest);
    return listen.call(this, kind, (event) => (window.held ? waiting.push([act, event]) : act(event)), ...rest);
  };
  window.letGo = () => {
    window.held = false;
    waiting.splice(0).forEach(([act, event]) => act(event));
  };
}"""
# Which page each pane shows, none before its first one is drawn, whether its picture is there, where the sheets are,
# and how often boxes were drawn.
SHOWN = """() => {
  const host = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
    .map((node) => node.shadowRoot).find((root) => root.querySelector('.pane'));
  const panes = [...host.querySelectorAll('.pane')];
  return {
    page: panes.map((pane) => pane.getAttribute('aria-label'))
      .map((name) => name?.match(/[Pp]age ([0-9,]+) of (.*), [0-9,]+ box/).slice(1, 3) ?? ["", ""]),
    pictures: panes.map((pane) => pane.querySelector('.page-image'))
      .map((image) => image ? [image.src, image.complete && image.naturalWidth > 0] : ["", false]),
    sheets: panes.map((pane) => pane.querySelector('.sheet')?.style.cssText ?? ""),
    boxes: panes.map((pane) => pane.querySelectorAll('.box').length),
    drawn: window.drawn ?? 0,
  };
}"""
COUNT = """() => {
  const host = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
    .map((node) => node.shadowRoot).find((root) => root.querySelector('.pane'));
  window.drawn = 0;
  const watch = new MutationObserver(() => { window.drawn += 1; });
  watch.observe(host.querySelector('.pane svg.overlay[role="group"]'), {childList: true});
}"""
VIEWS = {
    "compare": ("compare", {}, ".net-page", ("doc", "page")),
    "compare fields": ("compare", {"compare": "fields"}, ".net-page", ("field_doc", "field_page")),
    "compare pixels": ("compare", {"compare": "pixels"}, ".net-page", ("doc", "page")),
    "fields": ("fields", {}, ".strip-page", ("field_doc", "field_page")),
}


@pytest.fixture
def server(sample_server: str) -> str:
    """The sample data."""
    return sample_server


def shown(screen: Screen) -> dict[str, Any]:
    measured: dict[str, Any] = screen.page.evaluate(SHOWN)
    return measured


def where(screen: Screen) -> list[str]:
    """Page from 1 and document; of two panes they are the same."""
    places: list[list[str]] = shown(screen)["page"]
    assert all(place == places[0] for place in places), places
    return places[0]


def listed(screen: Screen, rows: str) -> list[list[str]]:
    """Page and document of the list, in its order."""
    names = screen.page.locator(rows).evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))")
    # "tram-options, page 3: ..." of the comparison, "pitch-tan, page 1, 2 mistakes" of the strip.
    parts = [name.split(", page ") for name in names]
    return [[rest.split(",")[0].split(":")[0], name] for name, rest in parts]


def opened(visit: Visit, url: str, name: str) -> tuple[Screen, list[list[str]]]:
    """A view at its second page, with the two after it in the browser, which has shown them; its list."""
    view, address, rows, _ = VIEWS[name]
    screen = visit(url)
    screen.page.add_init_script(f"({HOLD})()")
    screen.open(view, **address)
    screen.page.locator(".chips.ready").first.wait_for(state="attached")
    pages = listed(screen, rows)
    screen.page.locator(".pane").first.focus()
    for key, at in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("ArrowLeft", 1)):
        screen.page.keyboard.press(key)
        screen.wait(lambda at=at: same(where(screen), pages[at]), f"page {at + 1} of the list")
        screen.wait(lambda: agrees(screen, name), "the address of the page")
        screen.settled()
    return screen, pages


def same(page: list[str], row: list[str]) -> bool:
    """Whether a page is that of a row of the list, which leaves endings out."""
    return page[0] == row[0] and page[1].removesuffix(".pdf") == row[1].removesuffix(".pdf")


def agrees(screen: Screen, name: str) -> bool:
    """Whether the address, which Python writes, names the page on screen."""
    document, number = VIEWS[name][3]
    address, page = screen.address(), where(screen)
    return (address.get(number, "1"), address.get(document, "")) == (page[0], page[1])


@pytest.mark.parametrize("name", list(VIEWS))
def test_a_page_is_drawn_before_the_answer_and_once(server: str, visit: Visit, name: str) -> None:
    screen, pages = opened(visit, server, name)
    screen.page.evaluate(COUNT)
    screen.page.evaluate("() => { window.held = true; }")
    for at in (2, 3):
        screen.page.keyboard.press("ArrowRight")
        assert same(where(screen), pages[at])
    before = shown(screen)
    assert all(there for _, there in before["pictures"])
    assert all(before["boxes"])
    screen.rested()
    assert same(where(screen), pages[3])
    drawn = shown(screen)["drawn"]
    screen.page.evaluate("() => window.letGo()")
    screen.wait(lambda: agrees(screen, name), "the address of the page")
    screen.settled()
    after = shown(screen)
    assert {key: after[key] for key in ("page", "pictures", "boxes")} == {
        key: before[key] for key in ("page", "pictures", "boxes")
    }
    assert after["drawn"] == drawn, "the answer draws nothing again"


@pytest.mark.parametrize("name", ["compare", "fields"])
def test_fast_presses_end_where_they_lead(server: str, visit: Visit, name: str) -> None:
    screen, pages = opened(visit, server, name)
    for key in ["ArrowRight"] * 6 + ["ArrowLeft"] * 2:
        screen.page.keyboard.press(key)
    screen.wait(lambda: same(where(screen), pages[5]), f"page 6 of the list; {where(screen)}, {pages[5]}")
    screen.wait(lambda: agrees(screen, name), "the address of the page")
    screen.settled()
    assert same(where(screen), pages[5])
    screen.page.reload()
    screen.page.locator(".chips.ready").first.wait_for(state="attached")
    screen.wait(lambda: same(where(screen), pages[5]), "the same page by its address")


def test_another_filter_of_compare_begins_at_its_first_page(server: str, visit: Visit) -> None:
    screen, _ = opened(visit, server, "compare")
    screen.page.keyboard.press("ArrowRight")
    screen.page.get_by_role("group", name="Pages of the list").get_by_role("button", name="Lost in B").click()
    screen.wait(lambda: screen.address().get("show") == "b_broke", "the filter in the address")
    screen.settled()
    assert same(where(screen), listed(screen, ".net-page")[0])
    assert agrees(screen, "compare")
    screen.page.keyboard.press("ArrowRight")
    screen.wait(lambda: same(where(screen), listed(screen, ".net-page")[1]), "the second page of the filter")


def test_the_other_model_of_fields_shows_the_page_that_was_turned_to(server: str, visit: Visit) -> None:
    screen, pages = opened(visit, server, "fields")
    screen.page.keyboard.press("ArrowRight")
    screen.page.keyboard.press("f")
    screen.wait(lambda: screen.page.locator(".list-head .model b").inner_text() == "B", "the other model")
    screen.settled()
    assert same(where(screen), pages[2])
    assert agrees(screen, "fields")


def test_a_box_that_is_chosen_after_a_turn_reaches_python(server: str, visit: Visit) -> None:
    screen, pages = opened(visit, server, "compare")
    screen.page.keyboard.press("ArrowRight")
    screen.page.keyboard.press("n")
    screen.wait(lambda: agrees(screen, "compare") and "box" in screen.address(), "page and box in the address")
    screen.settled()
    assert same(where(screen), pages[2])
    assert screen.page.locator(".joined-text").first.inner_text().startswith("1 of")


def test_two_panes_stay_linked_over_a_turn(server: str, visit: Visit) -> None:
    screen, pages = opened(visit, server, "compare")
    for at in (2, 3, 2):
        screen.page.keyboard.press("ArrowRight" if at > 1 and not same(where(screen), pages[3]) else "ArrowLeft")
        assert same(where(screen), pages[at])
        screen.page.keyboard.press("+")
        first, second = shown(screen)["sheets"]
        assert first == second
        assert len({source for source, _ in shown(screen)["pictures"]}) == 1
