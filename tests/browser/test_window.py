"""Pages that the browser has are turned to at once: Compare and Fields, before the answer, in a row, and meanwhile."""

from functools import partial
from typing import Any

import pytest

from tests.browser.conftest import Screen, Visit, course

pytestmark = [pytest.mark.browser]

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
  const host = shadowOf('.pane');
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
  const host = shadowOf('.pane');
  window.drawn = 0;
  const watch = new MutationObserver(() => { window.drawn += 1; });
  watch.observe(host.querySelector('.pane svg.overlay[role="group"]'), {childList: true});
}"""
VIEWS = {
    "compare": ("compare", {"show": "both_found"}, ".net-page", ("doc", "page")),
    "compare fields": ("compare", {"compare": "fields"}, ".net-page", ("field_doc", "field_page")),
    "compare pixels": ("compare", {"compare": "pixels"}, ".net-page", ("doc", "page")),
    "fields": ("fields", {}, ".strip-page", ("field_doc", "field_page")),
}


def shown(screen: Screen) -> dict[str, Any]:
    measured: dict[str, Any] = screen.page.evaluate(SHOWN)
    return measured


def where(screen: Screen) -> list[str]:
    """Page from 1 and document; of two panes they are the same."""
    places: list[list[str]] = shown(screen)["page"]
    assert all(place == places[0] for place in places), places
    return places[0]


def listed(screen: Screen, rows: str) -> list[list[str]]:
    names = screen.page.locator(rows).evaluate_all("nodes => nodes.map((node) => node.title)")
    # "tram-options, page 3: ...".
    parts = [name.split(", page ") for name in names]
    return [[rest.split(",")[0].split(":")[0], name] for name, rest in parts]


def opened(visit: Visit, url: str, name: str) -> Screen:
    view, address, _, _ = VIEWS[name]
    screen = visit(url)
    screen.page.add_init_script(f"({HOLD})()")
    return screen.open(view, **address)


def turned(screen: Screen, name: str, last: int) -> list[list[str]]:
    """Turn to a page of the list, which is given back, over those before it: the browser has shown these."""
    screen.page.locator(".chips.ready").first.wait_for(state="attached")
    pages = listed(screen, VIEWS[name][2])
    screen.page.locator(".pane").first.focus()
    for step, row in enumerate(pages[: last + 1]):
        if step:
            screen.page.keyboard.press("ArrowRight")
        elif not same(where(screen), row):
            screen.page.locator(VIEWS[name][2]).first.click()
        screen.wait(lambda row=row: same(where(screen), row), f"page {step + 1} of the list")  # type: ignore[misc]
        screen.rested()
    screen.wait(lambda: agrees(screen, name), "the address of the page").settled()
    return pages


def same(page: list[str], row: list[str]) -> bool:
    return page[0] == row[0] and page[1].removesuffix(".pdf") == row[1].removesuffix(".pdf")


def agrees(screen: Screen, name: str) -> bool:
    document, number = VIEWS[name][3]
    address, page = screen.address(), where(screen)
    return (address.get(number, "1"), address.get(document, "")) == (page[0], page[1])


def test_pages_of_compare_and_fields(server: str, visit: Visit) -> None:
    """Every kind draws in its own way; all else is of the panes, which know no kind."""
    course(
        opened(visit, server, "compare"),
        partial(pages_are_drawn_before_the_answer_and_once, "compare", 2),
        partial(fast_presses_end_where_they_lead, "compare"),
        a_box_that_is_chosen_after_a_turn_reaches_python,
        two_panes_stay_linked_over_a_turn,
        another_filter_of_compare_begins_at_its_first_page,
        partial(another_kind, "compare fields"),
        partial(another_kind, "compare pixels"),
        partial(another_kind, "fields"),
        partial(fast_presses_end_where_they_lead, "fields"),
        the_other_model_of_fields_shows_the_page_that_was_turned_to,
    )


def another_kind(name: str, screen: Screen) -> None:
    view, address, _, _ = VIEWS[name]
    screen.to(view, **address)
    pages_are_drawn_before_the_answer_and_once(name, 1, screen)


def pages_are_drawn_before_the_answer_and_once(name: str, last: int, screen: Screen) -> None:
    """From one of them back to the first."""
    pages = turned(screen, name, last)
    screen.page.evaluate(COUNT)
    screen.page.evaluate("() => { window.held = true; }")
    for at in reversed(range(last)):
        screen.page.keyboard.press("ArrowLeft")
        assert same(where(screen), pages[at])
    before = shown(screen)
    assert all(there for _, there in before["pictures"])
    assert all(before["boxes"])
    screen.rested()
    assert same(where(screen), pages[0])
    drawn = shown(screen)["drawn"]
    screen.page.evaluate("() => window.letGo()")
    screen.wait(lambda: agrees(screen, name), "the address of the page").settled()
    after = shown(screen)
    assert {key: after[key] for key in ("page", "pictures", "boxes")} == {
        key: before[key] for key in ("page", "pictures", "boxes")
    }
    assert after["drawn"] == drawn, "the answer draws nothing again"


def fast_presses_end_where_they_lead(name: str, screen: Screen) -> None:
    """From the first page, where the step before has ended."""
    pages = listed(screen, VIEWS[name][2])
    for key in ["ArrowRight"] * 7 + ["ArrowLeft"] * 2:
        screen.page.keyboard.press(key)
    screen.wait(lambda: same(where(screen), pages[5]), f"page 6 of the list; {where(screen)}, {pages[5]}")
    screen.wait(lambda: agrees(screen, name), "the address of the page").settled()
    assert same(where(screen), pages[5])


def another_filter_of_compare_begins_at_its_first_page(screen: Screen) -> None:
    screen.page.keyboard.press("ArrowRight")
    screen.page.get_by_role("group", name="Pages of the list").get_by_role("button", name="Lost in B").click()
    screen.addressed(show="b_broke")
    assert same(where(screen), listed(screen, ".net-page")[0])
    assert agrees(screen, "compare")
    screen.page.keyboard.press("ArrowRight")
    screen.wait(lambda: same(where(screen), listed(screen, ".net-page")[1]), "the second page of the filter")


def the_other_model_of_fields_shows_the_page_that_was_turned_to(screen: Screen) -> None:
    """From the sixth page, where the step before has ended."""
    pages = listed(screen, ".strip-page")
    screen.press("ArrowLeft", "f")
    screen.wait(lambda: screen.page.locator(".list-head .model b").inner_text() == "B", "the other model").settled()
    assert same(where(screen), pages[4])
    assert agrees(screen, "fields")
    assert screen.address()["model"] == "2"


def a_box_that_is_chosen_after_a_turn_reaches_python(screen: Screen) -> None:
    """From the sixth page, where the step before has ended."""
    pages = listed(screen, ".net-page")
    screen.press("ArrowLeft", "n")
    screen.wait(lambda: agrees(screen, "compare") and "box" in screen.address(), "page and box in the address")
    screen.settled()
    assert same(where(screen), pages[4])
    assert screen.page.locator(".joined-text").first.inner_text().startswith("1 of")


def two_panes_stay_linked_over_a_turn(screen: Screen) -> None:
    """From the fifth page, where the step before has ended."""
    pages = listed(screen, ".net-page")
    for key, at in (("ArrowRight", 5), ("ArrowLeft", 4), ("ArrowRight", 5)):
        screen.page.keyboard.press(key)
        assert same(where(screen), pages[at])
        screen.page.keyboard.press("+")
        first, second = shown(screen)["sheets"]
        assert first == second
        assert len({source for source, _ in shown(screen)["pictures"]}) == 1
