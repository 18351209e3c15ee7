"""The page viewer in a real Chromium: geometry, toggles, hover, keys, events, hostile text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Alone, course, free_tab, harness
from tests.browser.viewer_harness import plain_boxes
from tests.contrast import contrast

pytestmark = pytest.mark.browser
HARNESS = Path(__file__).with_name("viewer_harness.py")

ROOT_OF = "const [host] = shadows();"


@pytest.fixture(scope="module")
def server(tabs: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with harness(HARNESS, tmp_path_factory.mktemp("harness")) as url:
        yield url


class Screen(Alone):
    """A tab on the harness."""

    def __init__(self, page: Any, server: str) -> None:
        super().__init__(page, server)
        # Whether it shows the plain page as nobody has touched it.
        self.plain = True

    def drawn(self) -> Screen:
        self.page.wait_for_selector(".mistake:visible, .message")
        return super().drawn()

    def js(self, body: str) -> Any:
        return self.page.evaluate(f"() => {{ {ROOT_OF} {body} }}")

    def wait_for_log(self, length: int) -> list[list[str]]:
        self.wait(lambda: len(self.report()["log"]) >= length, f"{length} reports; {self.report()}")
        return self.report()["log"]

    def wait_until(self, body: str) -> None:
        """Wait for a condition in the page: what comes from a rerun comes when the machine has time for it."""
        self.page.wait_for_function(f"() => {{ {ROOT_OF} {body} }}")

    def hover(self, key: str) -> None:
        self.page.mouse.move(*self.middle(key))
        self.painted()

    def marked(self) -> list[str]:
        return self.js("return [...host.querySelectorAll('.marked')].map((node) => node.dataset.marked)")

    def facts(self) -> str:
        """What is said of the box under the pointer, else of the chosen one."""
        return str(self.js("return host.querySelector('.box-facts').textContent"))

    def row_classes(self) -> list[str]:
        return self.js("return [...host.querySelectorAll('.mistake')].map((node) => node.className)")

    def shown(self) -> dict[str, int]:
        return self.js(
            "const shown = (name) => [...host.querySelectorAll(name)].filter((n) => n.getClientRects().length).length;"
            "return Object.fromEntries(['TP', 'FP', 'FN', 'truth'].map((status) => [status, shown('.box-' + status)]))"
        )


@pytest.fixture(scope="module")
def tab(tabs: Any, server: str) -> Iterator[Screen]:
    opened = Screen(free_tab(tabs), server)
    yield opened
    opened.close()


@pytest.fixture
def alone(tab: Screen) -> Iterator[Screen]:
    tab.plain = False
    yield tab
    assert tab.trouble == []


@pytest.fixture
def screen(tab: Screen) -> Iterator[Screen]:
    """One scene for the tests that send nothing to Python and leave no trace."""
    if not tab.plain:
        tab.scene()
        tab.plain = True
    tab.page.mouse.move(5, 5)
    tab.page.evaluate("() => document.activeElement.blur()")
    for key in ("Escape", "Escape", "0"):
        tab.page.keyboard.press(key)
    tab.painted()
    yield tab
    assert tab.trouble == []


def assert_in_place(screen: Screen) -> None:
    measured = screen.places()
    x1, y1, x2, y2 = measured["sheet"]
    assert max(abs(a - b) for a, b in zip(measured["sheet"], measured["image"], strict=True)) < 0.01
    wanted = {box["key"]: box["xyxy"] for box in plain_boxes()[0]}
    assert measured["boxes"].keys() == wanted.keys()
    for key, share in wanted.items():
        places = [
            low + part * size for part, low, size in zip(share, [x1, y1] * 2, [x2 - x1, y2 - y1] * 2, strict=True)
        ]
        assert max(abs(a - b) for a, b in zip(places, measured["boxes"][key], strict=True)) <= 0.5, key


def test_boxes_lie_on_the_image_at_every_size(screen: Screen) -> None:
    page = screen.page
    page.keyboard.press("g")
    screen.painted()
    assert_in_place(screen)
    page.mouse.move(*screen.middle("p100"))
    page.mouse.wheel(0, -240)
    page.mouse.wheel(0, -240)
    screen.painted()
    width = screen.js("return host.querySelector('.sheet').clientWidth")
    assert width > 1200
    assert_in_place(screen)
    x, y = screen.middle("p100")
    page.mouse.move(700, 500)
    page.mouse.down()
    page.mouse.move(640, 450, steps=4)
    page.mouse.up()
    assert screen.middle("p100") == pytest.approx((x - 60, y - 50), abs=1.1)
    screen.sized(1100, 800)
    assert_in_place(screen)
    page.keyboard.press("0")
    screen.sized()
    assert_in_place(screen)
    page.keyboard.press("g")


def test_the_zoom_keeps_the_point_under_the_pointer(screen: Screen) -> None:
    x, y = screen.middle("p100")
    screen.page.mouse.move(x, y)
    screen.page.mouse.wheel(0, -300)
    screen.painted()
    assert screen.middle("p100") == pytest.approx((x, y), abs=2)


def test_the_view_needs_no_page_scroll_and_under_900_the_list_is_below_the_page(screen: Screen) -> None:
    over = "const main = document.querySelector('[data-testid=stMain]'); return main.scrollHeight - main.clientHeight"
    side, stage = (f"host.querySelector('.{name}').getBoundingClientRect()" for name in ("side", "stage"))
    for width, wide in ((1440, 372), (1024, 320)):
        screen.sized(width, 900)
        assert screen.js(over) <= 0
        assert screen.js(f"return {side}.width") == wide
    screen.sized(840, 900)
    assert screen.js(f"return {side}.top >= {stage}.bottom")
    screen.sized()


def test_where_there_is_little_room_the_place_in_the_list_opens_the_strip(screen: Screen) -> None:
    strip, opener = screen.page.locator(".strip"), screen.page.locator(".joined-text")
    assert strip.is_visible()
    assert opener.is_disabled()
    screen.sized(1024, 900)
    assert not strip.is_visible()
    opener.click()
    screen.wait_until("return host.activeElement?.className === 'strip-page current'")
    screen.page.keyboard.press("ArrowDown")
    assert screen.js("return host.activeElement.title").startswith("river-districts.pdf, page 28")
    screen.page.keyboard.press("Escape")
    assert not strip.is_visible()
    screen.sized()
    assert strip.is_visible()


def test_toggles_hide_boxes_chips_and_rows_without_a_rerun(screen: Screen) -> None:
    page, before, all_of_them = screen.page, screen.report(), {"TP": 12, "FP": 6, "FN": 5, "truth": 0}
    assert screen.shown() == all_of_them
    page.get_by_role("button", name="TP matched 12").click()
    page.get_by_role("button", name="FP extra 6").click()
    assert screen.shown() == all_of_them | {"TP": 0, "FP": 0}
    assert page.get_by_role("button", name="FP extra 6").get_attribute("aria-pressed") == "false"
    assert screen.js("return [...host.querySelectorAll('.mistake')].filter((row) => !row.hidden).length") == 5
    page.get_by_role("button", name="FN missed 5").click()
    page.get_by_role("button", name="Show all boxes").click()
    assert screen.shown() == all_of_them
    page.keyboard.press("g")
    assert screen.shown() == all_of_them | {"truth": 12}
    page.keyboard.press("t")
    assert screen.shown() == {"TP": 0, "FP": 0, "FN": 5, "truth": 12}
    screen.press("t", "g")
    page.get_by_role("button", name="Labels 10").click()
    page.get_by_role("checkbox", name="Table").uncheck()
    assert screen.shown()["FP"] == 5
    assert screen.js("return host.querySelector('.list-head h2').textContent") == "5 of 6 mistakes"
    page.keyboard.press("Escape")
    assert page.get_by_role("button", name="Labels 9 of 10").is_visible()
    page.get_by_role("button", name="Labels 9 of 10").click()
    page.get_by_role("button", name="All", exact=True).click()
    page.keyboard.press("Escape")
    assert screen.report() == before


def test_hover_goes_both_ways_without_a_rerun(screen: Screen) -> None:
    before = screen.report()
    screen.hover("p100")
    assert set(screen.marked()) == {"p100", "g10"}
    assert "hovered" in screen.row_classes()[0]
    assert screen.js("return host.querySelectorAll('.link').length") == 1
    screen.page.locator(".mistake-open").nth(4).hover()
    screen.painted()
    assert set(screen.marked()) == {"p105", "g7"}
    assert [place for place, name in enumerate(screen.row_classes()) if "hovered" in name] == [4]
    screen.page.mouse.move(5, 5)
    screen.painted()
    assert screen.marked() == []
    assert screen.facts() == ""
    assert screen.report() == before


def test_the_facts_of_a_box_stand_below_the_list_and_nothing_over_the_page(screen: Screen) -> None:
    screen.hover("p100")
    assert screen.facts() == (
        "Cut off · Table, bottom −59 %, 100 pt, IoU 0.412, Coverage 0.412, Purity 1.000, "
        "score 0.83, lines.json, object 100"
    )
    screen.hover("p6")
    assert screen.facts().startswith("Matched · Text, matches its ground truth, IoU 0.968")
    assert screen.js("return host.querySelectorAll('.tooltip.shown').length") == 0


def test_z_zooms_to_the_chosen_place_and_to_those_that_follow_and_back(screen: Screen) -> None:
    screen.press("n", "z")
    for key in ("g10", "g8"):
        screen.painted()
        x1, y1, x2, y2 = screen.places()["boxes"][key]
        pane = screen.js(
            "const r = host.querySelector('.pane').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]"
        )
        left, top, right, bottom = screen.places()["sheet"]
        sheet = right - left, bottom - top
        shares = (x2 - x1) / (pane[2] - pane[0]), (y2 - y1) / (pane[3] - pane[1])
        zoom = screen.js("return Number(host.querySelector('.fit').title.match(/now (\\d+)/)[1]) / 100")
        assert max(shares) == pytest.approx(0.85, abs=0.01) or zoom == 4, key
        assert (x1 + x2) / 2 == pytest.approx((pane[0] + pane[2]) / 2, abs=2), key
        seen = screen.js(
            "const { width, height } = host.querySelector('.current .thumb-seen rect');"
            "const whole = host.querySelector('.thumb-seen').viewBox.baseVal;"
            "return [width.baseVal.value / whole.width, height.baseVal.value / whole.height]"
        )
        assert seen == pytest.approx([(pane[2] - pane[0]) / sheet[0], (pane[3] - pane[1]) / sheet[1]], abs=0.01)
        screen.page.keyboard.press("n")
    screen.page.keyboard.press("z")
    assert screen.page.get_by_role("button", name="Fit", pressed=True).count() == 1
    assert screen.page.locator(".thumb-seen").count() == 0


def test_the_smallest_box_is_hit_and_the_arrows_go_through_the_stack(screen: Screen) -> None:
    screen.hover("p105")
    assert screen.marked()[0] in {"p105", "g7", "p7"}
    first = screen.facts()
    assert first.startswith("Duplicate · Picture")
    screen.page.keyboard.press("ArrowDown")
    assert screen.facts().startswith("Matched · Picture")
    screen.page.keyboard.press("ArrowDown")
    assert screen.facts() == first


def test_no_key_of_the_view_reaches_streamlit_inside_and_beside_it(screen: Screen) -> None:
    screen.js("window.heard = []; document.addEventListener('keydown', (e) => window.heard.push(e.key))")
    for place in ((700, 500), (5, 5)):
        screen.page.mouse.click(*place)
        screen.press("n", "ArrowDown", "c", "r", "x")
    assert screen.page.evaluate("() => window.heard") == ["x", "x"]


def test_the_help_lists_the_keys(screen: Screen) -> None:
    page = screen.page
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys of the page browser")
    assert dialog.is_visible()
    assert "Previous and next place" in dialog.inner_text()
    page.keyboard.press("n")
    assert not any("chosen" in name for name in screen.row_classes())
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    page.get_by_role("button", name="All keys").click()
    page.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_a_walk_with_the_keyboard_alone(screen: Screen) -> None:
    page = screen.page
    page.get_by_role("button", name="Previous page").focus()
    names = []
    for _ in range(16):
        names.append(
            screen.js(
                "const a = host.activeElement;"
                "return a ? (a.getAttribute('aria-label') || a.innerText || a.title).replace(/\\s+/g, ' ') : ''"
            )
        )
        page.keyboard.press("Tab")
    for part in (
        "Next page", "matched", "Labels", "Zoom in", "page 27",
        "Page 27 of river", "1 Cut off", "all keys",
    ):  # fmt: skip
        assert any(part in name for name in names), names
    assert sum(".pdf, page " in name for name in names) == 1, "one page of the strip is on the way"
    page.locator(".mistake-open").first.focus()
    page.keyboard.press("ArrowDown")
    assert "chosen" in screen.row_classes()[1]
    assert screen.js("return host.activeElement.dataset.number") == "2"
    ring = screen.js(
        "return getComputedStyle(host.activeElement).outlineStyle + getComputedStyle(host.activeElement).outlineWidth"
    )
    assert ring == "solid2px"
    assert page.get_by_role("img", name="False positive, Table, score 0.83, mistake 1").count() == 1


def test_loose_boxes_leave_the_letters_free(screen: Screen) -> None:
    before = screen.places()
    screen.page.keyboard.press("l")
    after = screen.places()
    scale = (before["sheet"][2] - before["sheet"][0]) / 595
    (x1, y1, x2, y2), (u1, v1, u2, v2) = before["boxes"]["p100"], after["boxes"]["p100"]
    assert (x1 - u1, u2 - x2) == pytest.approx((3 * scale, 3 * scale), abs=0.1)
    assert (y1 - v1, v2 - y2) == pytest.approx((1.5 * scale, 1.5 * scale), abs=0.1)
    screen.page.keyboard.press("l")
    assert screen.places()["boxes"] == before["boxes"]
    screen.page.get_by_role("button", name="Labels 10").click()
    assert not screen.page.get_by_role("checkbox", name="Enlarged boxes").is_checked()
    screen.page.keyboard.press("Escape")


def test_without_verdicts_there_is_no_row(screen: Screen) -> None:
    assert screen.js("return host.querySelector('.verdict').hidden")
    screen.press("v", "1")
    assert screen.js("return host.activeElement?.className ?? ''") != "verdict-note"
    assert screen.page.get_by_text("verdict", exact=True).count() == 0


def test_what_reaches_python_from_a_link_to_another_page(alone: Screen, tmp_path: Path) -> None:
    course(
        alone.scene("selected=p100"),
        partial(a_link_chooses_and_the_print_has_the_page_the_list_and_the_signature, tmp_path),
        a_sharper_image_is_asked_for_once_and_swapped_in_place,
        next_mistake_reaches_python_once_as_a_choice_and_a_click_chooses,
        a_choice_does_not_follow_a_reader_who_leaves,
        an_enlarged_page_moves_to_the_next_mistake,
        turns_reach_python_once_keep_toggles_and_end_on_the_right_page_and_f_changes_the_model,
    )


def plain(screen: Screen) -> dict[str, Any]:
    """The report, once nothing is chosen and the whole page is shown."""
    screen.press("Escape", "0")
    screen.rested()
    return screen.report()


def a_link_chooses_and_the_print_has_the_page_the_list_and_the_signature(tmp_path: Path, screen: Screen) -> None:
    import pymupdf

    assert "chosen" in screen.row_classes()[0]
    assert screen.report()["runs"] == 1
    screen.page.pdf(path=str(tmp_path / "page.pdf"), format="A4", print_background=True)
    with pymupdf.open(tmp_path / "page.pdf") as printed:
        assert printed.page_count == 1
        text = printed[0].get_text()
        assert printed[0].get_images(), "the page itself"
    for words in (
        "river-districts.pdf, page 27", "snapshot 1.3 · IoU ≥ 0.50 · 1 document", "FP extra 6", "6 mistakes",
        "1 Cut off", "lost “2015 and 2024", "6 FN Footnote", "Model A",
    ):  # fmt: skip
        assert words in text, words
    for words in ("stacked boxes", "Previous", "runs"):
        assert words not in text, words
    assert screen.page.evaluate("() => document.querySelectorAll('.layoutscope-print').length") == 0


def a_sharper_image_is_asked_for_once_and_swapped_in_place(fresh: Screen) -> None:
    page = fresh.page
    page.mouse.move(*fresh.middle("p100"))
    # In one task of the browser: a pause of the machine between two turns of the wheel is a rest, and asks by itself.
    fresh.js(
        "const pane = host.querySelector('.pane'), r = pane.getBoundingClientRect();"
        "for (let turn = 0; turn < 3; turn += 1) pane.dispatchEvent(new WheelEvent('wheel', {deltaY: -240, "
        "clientX: r.left + r.width / 2, clientY: r.top + r.height / 2, bubbles: true, cancelable: true}));"
    )
    fresh.painted()
    before = fresh.middle("p100")
    source = fresh.js("return host.querySelector('.page-image').src.length")
    log = fresh.wait_for_log(1)
    fresh.rested()
    assert [name for name, _ in fresh.report()["log"]] == ["sharper"]
    assert int(log[0][1].rsplit("width=", 1)[1].rstrip(")")) > 1.3 * 900
    fresh.page.wait_for_function(
        f"() => {{ {ROOT_OF} return host.querySelector('.page-image').src.length > {source} }}"
    )
    assert fresh.middle("p100") == pytest.approx(before, abs=0.01)
    assert fresh.js("return host.querySelectorAll('.page-image').length") == 1


def an_enlarged_page_moves_to_the_next_mistake(fresh: Screen) -> None:
    page = fresh.page
    plain(fresh)
    for _ in range(5):
        page.keyboard.press("+")
    for _ in range(6):
        page.keyboard.press("n")
    fresh.rested()
    x, y = fresh.middle("g15")
    left, top, right, bottom = fresh.js(
        "const r = host.querySelector('.pane').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]"
    )
    assert top < y < bottom
    assert left - 400 < x < right + 400


def a_choice_does_not_follow_a_reader_who_leaves(fresh: Screen) -> None:
    """Called after a press on the link of another view, it would call the reader back to this one."""
    before = fresh.report()["log"]
    # Pressed within the moment for which a choice waits, however busy the machine.
    fresh.page.evaluate(
        """() => {
          const link = document.body.appendChild(document.createElement('a'));
          const press = () => link.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, composed: true }));
          addEventListener('keydown', () => setTimeout(press), { capture: true, once: true });
        }"""
    )
    fresh.page.keyboard.press("n")
    fresh.rested()
    assert fresh.report()["log"] == before
    fresh.page.keyboard.press("n")
    fresh.page.mouse.click(5, 60)
    fresh.wait_for_log(len(before) + 1)
    fresh.page.evaluate("() => document.querySelector('body > a').remove()")


def next_mistake_reaches_python_once_as_a_choice_and_a_click_chooses(fresh: Screen) -> None:
    page, before = fresh.page, plain(fresh)
    told = len(before["log"])
    # In one task: on a loaded machine presses come so far apart that each is a choice of its own.
    page.evaluate("""() => ["n", "n", "n", "p"].forEach((key) =>
        window.dispatchEvent(new KeyboardEvent("keydown", {key, cancelable: true})))""")
    assert "chosen" in fresh.row_classes()[1]
    assert fresh.js("return host.querySelector('.joined-text').textContent") == "5 of 20"
    log = fresh.wait_for_log(told + 1)
    fresh.rested()
    assert fresh.report() == {"runs": before["runs"] + 1, "log": log}
    assert log[told:] == [["selected", "SelectedEvent(document='river-districts.pdf', index=26, key='p102')"]]
    page.keyboard.press("Escape")
    assert fresh.wait_for_log(told + 2)[told + 1][1].endswith("key=None)")
    assert not any("chosen" in name for name in fresh.row_classes())
    page.mouse.click(*fresh.middle("g15"))
    assert "chosen" in fresh.row_classes()[5]
    assert fresh.wait_for_log(told + 3)[told + 2][1].endswith("key='g15')")


def test_a_late_answer_does_not_lead_back_to_an_earlier_mistake(alone: Screen) -> None:
    screen = alone.scene("scene=late")
    for number in range(1, 3):
        screen.page.keyboard.press("n")
        screen.wait_for_log(number)
        screen.rested()
        screen.page.locator(f".mistake.chosen[data-number='{number}']").wait_for()
    assert len(screen.report()["log"]) == 2, "nothing is told twice"


def turns_reach_python_once_keep_toggles_and_end_on_the_right_page_and_f_changes_the_model(fresh: Screen) -> None:
    page, before = fresh.page, plain(fresh)
    told = len(before["log"])

    def bar_says_page(number: int) -> None:
        page.locator(".joined-text, .place").filter(has_text=re.compile(rf"(To|,) page {number}$")).first.wait_for()

    page.get_by_role("button", name="TP matched 12").click()
    page.keyboard.press("+")
    page.get_by_role("button", name="Next page").click()
    # The bar says where it turns to before the page is drawn as a whole.
    page.get_by_role("button", name="Fit", pressed=True).wait_for()
    fresh.wait_for_log(told + 1)
    fresh.rested()
    assert fresh.report() == {
        "runs": before["runs"] + 1,
        "log": [*before["log"], ["go", "GoEvent(document='river-districts.pdf', index=27, step=0)"]],
    }
    assert fresh.shown()["TP"] == 0
    page.keyboard.press("ArrowLeft")
    bar_says_page(27)
    page.locator(".strip-page[title*='page 30:']").click()
    bar_says_page(30)
    fresh.wait_for_log(told + 3)
    fresh.rested()
    assert [name for name, _ in fresh.report()["log"][told:]] == ["go", "go", "go"]
    assert fresh.js("return host.querySelectorAll('[aria-current=page]').length") == 1
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    bar_says_page(36)
    page.get_by_text("index=35").wait_for(state="attached")
    fresh.rested()
    log = fresh.report()["log"]
    assert log[-1][1] == "GoEvent(document='river-districts.pdf', index=35, step=0)"
    assert len(log) <= told + 9
    page.keyboard.press("f")
    assert fresh.wait_for_log(len(log) + 1)[-1] == ["model", "'B'"]
    fresh.wait_until("return host.querySelector('.model').textContent === 'B blocks'")


def test_text_from_strangers_stays_text(alone: Screen) -> None:
    screen = alone.scene("scene=hostile&selected=p100")
    screen.hover("p100")
    assert screen.facts().startswith("<img src=x onerror=")
    assert screen.page.evaluate("() => window.hacked") is None
    assert screen.js("return host.querySelectorAll('img').length") == 1
    assert screen.js("return host.querySelectorAll('a, script, iframe').length") == 0
    chip = screen.js(
        "return [...host.querySelectorAll('.chip')].find((node) => node.dataset.key === 'p100').textContent"
    )
    assert chip.startswith("1 FP <img src=x") or chip == "1 FP"
    assert screen.js("return host.querySelector('.mistake').scrollWidth <= host.querySelector('.list').clientWidth")


def test_states(alone: Screen) -> None:
    problem = alone.scene("scene=problem")
    assert "the renderer stopped after 5 s" in problem.page.get_by_role("alert").inner_text()
    assert problem.shown()["FP"] == 6
    assert problem.page.get_by_text("23 of 1,312 boxes drawn").is_visible()
    assert problem.page.get_by_text("/Rotate is 45").is_visible()
    empty = alone.scene("scene=empty")
    assert empty.page.get_by_text("No mistake passes the filter.").is_visible()
    empty.page.get_by_role("button", name="Clear filter").click()
    assert empty.wait_for_log(1) == [["clear_filter", "True"]]
    none = alone.scene("scene=none")
    assert none.page.get_by_text("No mistake on this page.").is_visible()


def test_chips_never_cover_each_other(alone: Screen) -> None:
    overlap = """const shown = [...host.querySelectorAll('.chips .chip')].filter((n) => n.getClientRects().length);
    const rects = shown.map((n) => n.getBoundingClientRect());
    const common = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
    let pairs = 0;
    rects.forEach((a, i) => rects.slice(i + 1).forEach((b) => {
      if (common(a, b, 'left', 'right') > 1 && common(a, b, 'top', 'bottom') > 1) pairs += 1;
    }));
    return [rects.length, pairs]"""
    screen = alone.scene("boxes=200")
    number, pairs = screen.js(overlap)
    assert number >= 55
    assert pairs == 0
    height = screen.js("return host.querySelector('.chip:not(.crowded)').offsetHeight")
    screen.page.keyboard.press("+")
    screen.rested()
    screen.painted()
    assert screen.js("return host.querySelector('.chip:not(.crowded)').offsetHeight") == height


def test_what_a_filter_hides_is_pale_and_the_way_through_its_mistakes_leads_to_other_pages(alone: Screen) -> None:
    screen = alone.scene("scene=filtered")
    page = screen.page

    def turned() -> list[str]:
        return [value for name, value in screen.report()["log"] if name == "go"]

    assert screen.js("return host.querySelectorAll('.mistake').length") == 2
    assert page.get_by_text("The filter hides 4 more mistakes of this page").is_visible()
    faded = screen.js("return [...host.querySelectorAll('.box.faded')].map((n) => n.dataset.key).sort()")
    assert faded == ["g11", "g15", "g4", "p101", "p103", "p104", "p105"]
    chips = screen.js("return [...host.querySelectorAll('.chips .chip')].map((n) => n.dataset.key).sort()")
    assert chips == ["g10", "g8", "p100", "p102"]
    assert page.get_by_text("not listed").is_visible()
    assert screen.js("return host.querySelectorAll('.badge').length") == 0, "no page is said to be without mistakes"
    page.get_by_role("button", name="Clear filter").click()
    assert screen.wait_for_log(1) == [["clear_filter", "True"]]
    screen.rested()
    screen.press("n", "p")
    screen.rested()
    assert "first mistake of the list" in screen.js("return host.querySelector('.unseen[aria-live]').textContent")
    page.keyboard.press("n")
    assert "chosen" in screen.row_classes()[1]
    assert turned() == []
    page.keyboard.press("n")
    screen.wait_until("return host.ownerDocument.body.innerText.includes('mistake=1')")
    assert turned() == ["GoEvent(document='river-districts.pdf', index=26, step=0, mistake=1)"]


def assert_a_page_without_text_layer_is_told_by_its_ink(screen: Screen) -> None:
    toggle = screen.page.get_by_role("button", name="Text lost 4.2 % of the ink")
    assert toggle.inner_text().split() == ["Text", "lost", "4.2", "%", "of", "the", "ink"]
    assert "No text layer" in toggle.get_attribute("title")
    screen.hover("p100")
    assert screen.js("return host.querySelectorAll('.foreign-line').length") == 4
    screen.page.mouse.move(5, 5)
    screen.painted()
    assert screen.js("return host.querySelectorAll('.foreign-line').length") == 0


def test_the_strip_of_a_long_document_says_what_lies_beyond(alone: Screen) -> None:
    screen = alone.scene("scene=long")
    page = screen.page
    assert_a_page_without_text_layer_is_told_by_its_ink(screen)
    assert screen.js("return host.querySelectorAll('.strip-page').length") == 120
    current = screen.js("return host.querySelector('.strip-page.current .strip-number').textContent")
    assert current == "page 301"
    assert page.get_by_role("button", name="110 after").count() == 1
    page.get_by_role("button", name="270 before").click()
    assert screen.wait_for_log(1) == [["go", "GoEvent(document='river-districts.pdf', index=26, step=-31)"]]


def row(screen: Screen) -> dict[str, Any]:
    return screen.js(
        "const r = host.querySelector('.verdict'); const text = (name) => r.querySelector(name).textContent;"
        "return {title: text('.verdict-title'), state: text('.verdict-state'), problem: text('.verdict-problem'),"
        "note: r.querySelector('textarea').value, open: !r.querySelector('.verdict-button').disabled,"
        "pressed: [...r.querySelectorAll('[aria-pressed=true]')].map((n) => n.lastChild.textContent)}"
    )


def verdicts(screen: Screen) -> list[str]:
    return [value for name, value in screen.report()["log"] if name == "verdict"]


COLOURS = """(scheme) => {
  const [host] = shadows();
  const of = (name, part = 'color') => getComputedStyle(host.querySelector(name))[part];
  const ground = (name) => {
    for (let node = host.querySelector(name); node; node = node.parentElement ?? node.getRootNode().host) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!/^rgba.*, 0.$|transparent/.test(colour)) return colour;
    }
    return scheme === 'dark' ? 'rgb(20, 24, 29)' : 'rgb(255, 255, 255)';
  };
  const pairs = {};
  for (const name of ['.mistake-title', '.mistake-line.muted', '.mistake.chosen .mistake-line.muted', '.list-counts',
    '.mistake-said', '.mistake-facts dt', '.list-judged', '.box-facts', '.chip-FP', '.toggle',
    '.place-document', '.key-group span', '.strip-number', '.badge',
    '.verdict-button[aria-pressed=true]', '.verdict-state', '.verdict-unsaved', '.verdict-problem', '.joined-text',
    '.toggle[aria-pressed=false]']) {
    if (host.querySelector(name)) pairs[name] = [of(name), ground(name)];
  }
  for (const status of ['TP', 'FP', 'FN']) {
    pairs[`line of ${status}`] = [of(`.box-${status}`, 'stroke'), 'rgb(255, 255, 255)'];
  }
  return pairs;
}"""


def text_can_be_read_in_both_themes(judging: Screen) -> None:
    judging.page.locator(".mistake-open").nth(2).click()
    judging.page.get_by_role("button", name="TP matched 12").click()
    for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")):
        judging.page.emulate_media(color_scheme=scheme)
        judging.wait_until(
            "return getComputedStyle(host.ownerDocument.querySelector('[data-testid=stApp]')).backgroundColor"
            f" === '{ground}'"
        )
        judging.rested()
        pairs = judging.page.evaluate(COLOURS, scheme)
        assert len(pairs) > 18
        weak = {name: (pair, round(contrast(*pair), 2)) for name, pair in pairs.items() if contrast(*pair) < 4.5}
        assert weak == {}, scheme


def every_control_has_a_name(judging: Screen) -> None:
    nameless = judging.js(
        "return [...host.querySelectorAll('button, input, textarea, [tabindex=\"0\"], [role=img]')]"
        ".filter((n) => !n.closest('[hidden]'))"
        ".filter((n) => !(n.getAttribute('aria-label') || n.labels?.length || n.textContent.trim()))"
        ".map((n) => n.className)"
    )
    assert nameless == []
    assert judging.js("return host.querySelectorAll('.box:not([aria-label])').length") == 0


def the_focus_goes_from_bar_to_strip_to_page_to_list(judging: Screen) -> None:
    judging.page.get_by_role("button", name="Zoom in").focus()
    places = []
    for _ in range(8):
        judging.page.keyboard.press("Tab")
        places.append(
            judging.js(
                "return ['strip', 'pane', 'list', 'verdict', 'key-line']"
                ".find((name) => host.querySelector('.' + name).contains(host.activeElement)) ?? ''"
            )
        )
    order = [place for number, place in enumerate(places) if place and place not in places[:number]]
    assert order[:3] == ["strip", "pane", "list"]


def a_key_asks_before_it_overwrites_ones_own_verdict(judging: Screen) -> None:
    page = judging.page
    page.locator(".mistake-open").nth(1).click()
    page.keyboard.press("3")
    assert row(judging)["state"] == "Press 3 again: Ambiguous instead of Model wrong"
    page.keyboard.press("4")
    assert row(judging)["state"] == "Press 4 again: Ignore instead of Model wrong"
    page.keyboard.press("Escape")
    assert row(judging)["state"].startswith("me, ")
    judging.press("3", "n", "p", "3")
    assert (row(judging)["pressed"], verdicts(judging)) == (["Model wrong"], []), (
        "what was asked elsewhere is forgotten"
    )
    page.keyboard.press("3")
    judging.wait_until("return host.ownerDocument.body.innerText.includes(\"verdict='ambiguous'\")")
    assert row(judging)["title"] == "Verdict on mistake 3", "a verdict leads on"
    page.keyboard.press("p")
    assert row(judging)["pressed"] == ["Ambiguous"]


def test_the_verdict_row(alone: Screen) -> None:
    course(
        alone.scene("scene=verdicts"),
        the_row_tells_what_is_known_of_the_chosen_mistake,
        every_control_has_a_name,
        the_focus_goes_from_bar_to_strip_to_page_to_list,
        a_key_asks_before_it_overwrites_ones_own_verdict,
        a_verdict_by_keyboard_alone,
        text_can_be_read_in_both_themes,
        letters_in_a_note_are_no_hotkeys_and_what_is_not_sent_or_not_saved_stays,
    )


def the_row_tells_what_is_known_of_the_chosen_mistake(judging: Screen) -> None:
    page = judging.page
    assert row(judging) == {
        "title": "Verdict", "state": "Choose a mistake (N)", "problem": "", "note": "", "open": False, "pressed": []
    }  # fmt: skip
    page.keyboard.press("n")
    assert row(judging) == {
        "title": "Verdict on mistake 1", "state": "ada: Ambiguous", "problem": "", "note": "", "open": True,
        "pressed": [],
    }  # fmt: skip
    page.keyboard.press("n")
    assert row(judging) == {
        "title": "Verdict on mistake 2", "state": "me, 2026-01-02 03:04", "problem": "", "note": "half of it",
        "open": True, "pressed": ["Model wrong"],
    }  # fmt: skip
    page.keyboard.press("n")
    assert row(judging) == {
        "title": "Verdict on mistake 3", "state": "NOT SAVED", "problem": "The disk is full.", "note": "keep me",
        "open": True, "pressed": ["Ignore"],
    }  # fmt: skip
    for _ in range(3):
        page.keyboard.press("n")
    assert (row(judging)["state"], row(judging)["open"]) == ("A poor match takes no verdict", False)
    page.locator(".mistake-open").nth(0).click()


def a_verdict_by_keyboard_alone(judging: Screen) -> None:
    page = judging.page
    before = len(verdicts(judging))
    judging.press("Escape", "Escape")
    assert row(judging)["title"] == "Verdict"
    page.keyboard.press("2")
    assert row(judging)["title"] == "Verdict on mistake 2"
    page.keyboard.press("p")
    judging.wait_until("return host.querySelector('.verdict-state').textContent.startsWith('me, ')")
    sent = "VerdictEvent(document='river-districts.pdf', index=26, id='', number=1, keys=('p100', 'g10'), target='t1', "
    sent += "verdict={}, note={}, name='', targets=(), everywhere=False, letter='', held=())"
    assert verdicts(judging)[before:] == [sent.format("'ground_truth_wrong'", "''")]
    assert row(judging)["pressed"] == ["Ground truth wrong"]
    page.keyboard.press("v")
    page.keyboard.type("1 of 4, n")
    page.keyboard.press("Enter")
    judging.page.get_by_text("1 of 4, n").wait_for(state="attached")
    judging.wait_until("return host.querySelector('.verdict-save').hidden")
    assert verdicts(judging)[before + 1 :] == [sent.format("'ground_truth_wrong'", "'1 of 4, n'")]
    assert row(judging)["title"] == "Verdict on mistake 1", "keys in the note are text"
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    assert row(judging)["state"] == "Press 2 again to take back Ground truth wrong"
    page.keyboard.press("2")
    judging.wait_until("return host.ownerDocument.body.innerText.includes('verdict=None')")
    assert row(judging)["pressed"] == []
    assert "verdict=None" in verdicts(judging)[before + 2], "the same twice takes it back"
    page.keyboard.press("u")
    judging.wait_until("return host.querySelector('.verdict-state').textContent.startsWith('me, ')")
    assert verdicts(judging)[before + 3] == sent.format("'ground_truth_wrong'", "'1 of 4, n'"), "undo is for that too"


def test_the_name_is_asked_at_the_first_verdict_and_remembered(alone: Screen) -> None:
    screen = alone.scene("scene=nameless")
    page = screen.page
    screen.press("n", "1")
    assert screen.js("return host.activeElement.getAttribute('aria-label')") == "Your name, needed for verdicts"
    assert verdicts(screen) == []
    page.keyboard.type("1 Ngozi")
    page.keyboard.press("Enter")
    screen.wait_until("return host.ownerDocument.body.innerText.includes(\"name='1 Ngozi'\")")
    assert "verdict='model_wrong'" in verdicts(screen)[0]
    assert screen.js("return window.localStorage.getItem('layoutscope-reviewer')") == "1 Ngozi"
    screen.js("window.localStorage.removeItem('layoutscope-reviewer'); return true")


def test_a_cause_is_one_place_that_opens_and_takes_one_verdict(alone: Screen) -> None:
    screen = alone.scene("scene=causes")
    page = screen.page
    assert screen.js("return [...host.querySelectorAll('.mistake-title b')].map((n) => n.textContent)") == [
        "1 Table read as 22 boxes", "2 Split", "3 Duplicate", "4 Missed"
    ]  # fmt: skip
    assert page.locator(".list-counts").inner_text() == "in 4 places"
    said = page.locator(".mistake-said").all_inner_texts()
    assert said == ["∷ Several verdicts by ada, me", "◌ Not decided", "◌ Not decided", "◌ Not decided"]
    page.locator(".mistake-open").first.click()
    assert page.locator(".mistake.chosen .mistake-facts").inner_text().split() == [
        "Boxes", "3", "FP,", "3", "FN", "Score", "0.57", "to", "0.83", "Best", "IoU", "0.801"
    ]  # fmt: skip
    buttons = "host.querySelectorAll('.list button, .strip button, .key-line button')"
    assert screen.js(f"window.before = [...{buttons}]; return window.before.length") > 20
    screen.press("1", "1")
    screen.wait_until("return host.ownerDocument.body.innerText.includes('targets=(')")
    assert "targets=('t1', 't2', 't3')" in verdicts(screen)[0]
    page.keyboard.press("p")
    screen.wait_until("return host.querySelector('.verdict-state').textContent.startsWith('me, ')")
    assert screen.js("return window.before.every((node) => node.isConnected)"), "the answer draws no button anew"
    # For all places like it, on every page; another place is a choice of its own.
    assert page.locator(".verdict-whole").inner_text() == "All 48 places like this"
    page.keyboard.press("c")
    assert page.locator(".verdict-whole").get_attribute("aria-pressed") == "true"
    screen.press("2", "2")
    screen.wait_until("return host.ownerDocument.body.innerText.includes('everywhere=True')")
    page.keyboard.press("p")
    assert page.locator(".verdict-whole").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Show them in Grid").click()
    screen.wait_until("return host.ownerDocument.body.innerText.includes('alike')")


def letters_in_a_note_are_no_hotkeys_and_what_is_not_sent_or_not_saved_stays(judging: Screen) -> None:
    page = judging.page
    page.locator(".mistake-open").nth(0).click()
    given = verdicts(judging)
    page.locator(".verdict-button").first.focus()
    page.keyboard.press("ArrowRight")
    assert judging.js("return host.activeElement.lastChild.textContent") == "Ground truth wrong"
    page.keyboard.press("v")
    page.get_by_role("textbox", name="Note on the verdict").fill("")
    page.keyboard.type("not yet")
    assert row(judging)["title"] == "Verdict on mistake 1"
    page.locator(".mistake-open").nth(3).click()
    assert (row(judging)["title"], row(judging)["note"]) == ("Verdict on mistake 4", "")
    page.locator(".mistake-open").nth(0).click()
    assert row(judging)["note"] == "not yet"
    assert page.get_by_role("button", name="Save the note").is_visible()
    assert verdicts(judging) == given
    page.locator(".mistake-open").nth(2).click()
    page.get_by_role("button", name="Ignore").click()
    judging.wait_until("return host.ownerDocument.body.innerText.includes(\"verdict='ignore', note='keep me'\")")
