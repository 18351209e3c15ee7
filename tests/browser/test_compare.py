"""Compare in a real Chromium: from the sentence to the page and back, linked panes, flip, slider, keys, frame times."""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evaluator.compare.changed_causes import changed_causes
from evaluator.compare.ledger import Ledger, ledger
from evaluator.components.compare.pair import pair_data
from evaluator.components.compare.pair_causes import key_of, pages_of
from evaluator.components.compare.pair_list import boxes_of, listed_pages
from evaluator.components.payload import ModelItem
from evaluator.data.issues import count_of
from evaluator.matching.causes import Family
from evaluator.matching.error_types import DOCUMENT
from evaluator.protocols import snapshot
from tests.browser.conftest import Alone, Screen, Visit, course, harness
from tests.browser.viewer_harness import HOSTILE
from tests.building import read_by_browser
from tests.sample_results import box_result, place_of

MODELS = (ModelItem("A", ""), ModelItem("B", ""))

pytestmark = [pytest.mark.browser]
HARNESS = Path(__file__).with_name("compare_harness.py")

# Where each pane's page and boxes are on the screen, and what is shown of them.
PANES = """() => {
  const host = shadowOf('.pair-work');
  const rect = (node) => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const panes = [...host.querySelectorAll('.pair-pane')].map((pane) => {
    const boxes = {};
    for (const node of pane.querySelectorAll('.box')) {
      const m = node.getScreenCTM(), b = node.getBBox();
      const x = (value) => value * m.a + m.e, y = (value) => value * m.d + m.f;
      boxes[node.dataset.key] = [x(b.x), y(b.y), x(b.x + b.width), y(b.y + b.height)];
    }
    const marks = [...pane.querySelectorAll('.marked')].map(rect);
    const marked = [...pane.querySelectorAll('.marked')].map((node) => node.dataset.marked);
    return {pane: rect(pane), sheet: rect(pane.querySelector('.sheet')), boxes, marked, marks,
      full: [...pane.querySelectorAll('.box.differs')].map((node) => node.dataset.key),
      missed: [...pane.querySelectorAll('.box-FN.differs')].map((node) => node.dataset.key),
      hidden: getComputedStyle(pane).visibility === 'hidden', clip: pane.style.clipPath,
      chips: [...pane.querySelectorAll('.chips .chip:not(.crowded)')].map((node) => node.textContent)};
  });
  const text = (name) => host.querySelector(name).textContent;
  return {a: panes[0], b: panes[1], mode: host.querySelector('.pair-work').dataset.mode, said: text('.pair-said'),
    place: text('.joined-text'), divider: host.querySelector('.divider').getAttribute('aria-valuenow')};
}"""


@cache
def core() -> tuple[tuple[snapshot.ThresholdResult, snapshot.ThresholdResult], Ledger]:
    results = box_result(0), box_result(1)
    return results, ledger(*results)


def places_of(show: str, label: str | None = None) -> list[tuple[int, str, int]]:
    _, both = core()
    both = both if label is None else both.only(labels={label})
    return [(row, *place_of(row)) for row in listed_pages(both, show).tolist()]


def panes(screen: Screen) -> dict[str, Any]:
    measured: dict[str, Any] = screen.page.evaluate(PANES)
    return measured


def ready(screen: Screen) -> Screen:
    """Wait until both pages have been drawn."""
    screen.settled()
    screen.page.locator(".pair-pane .chips.ready").nth(1).wait_for(state="attached")
    return screen.rested()


def wait_for_page(screen: Screen, document: str, number: int) -> None:
    def there() -> bool:
        address = screen.address()
        return (address.get("doc"), address.get("page")) == (document, str(number))

    screen.wait(there, f"{document}, page {number}; {screen.address()}")
    ready(screen)


def middle(place: list[float]) -> tuple[float, float]:
    return (place[0] + place[2]) / 2, (place[1] + place[3]) / 2


@pytest.fixture
def panes_alone(tabs: Any, tmp_path: Path) -> Iterator[Alone]:
    with harness(HARNESS, tmp_path) as url:
        screen = Alone(tabs.new_page(), url, 2)
        yield screen
        screen.close()


def test_from_the_sentence_to_pages_boxes_and_causes(server: str, visit: Visit) -> None:
    course(
        visit(server).open("compare"),
        the_sentence_leads_to_the_exact_page_and_back,
        a_page_with_many_differences_hides_no_label,
        a_cause_lists_its_pages_until_another_filter_is_chosen,
        pages_turn_by_key_and_by_click,
        numbers_of_the_ledger_open_their_pages,
        a_bar_opens_its_mistakes,
        a_link_shows_its_look_and_opens_in_the_page_browser_with_its_model_and_box,
        nothing_sticks_out_the_first_line_is_pressed_and_the_tools_are_one_row,
        labels_of_the_axis_stay_in_its_column,
        where_nothing_is_left_a_sentence_and_a_way_out_say_so,
    )


def the_sentence_leads_to_the_exact_page_and_back(screen: Screen) -> None:
    ready(screen)
    key, places = failing_cause()
    assert panes(screen)["b"]["pane"][3] <= 900, "both panes are in the first window"
    assert panes(screen)["b"]["pane"][3] - panes(screen)["b"]["pane"][1] >= 570, "most of the height"
    begun = screen.address()
    assert (begun["cause"], begun["doc"], begun["page"]) == (key, places[0][0], str(places[0][1])), "what decides"
    screen.page.get_by_role("button", name=re.compile("^All [0-9]+ differences")).click()
    loss = screen.page.locator(".board-part", has_text="Worst loss: Text recall")
    loss.click()
    wanted = places_of("b_broke", "Text")
    wait_for_page(screen, *wanted[0][1:])
    assert screen.address()["show"] == "b_broke"
    assert screen.address()["label"] == "Text"
    listed = screen.page.locator(".net-page").all_inner_texts()
    assert len(listed) == len(wanted)
    results, both = core()
    drawn = read_by_browser(pair_data(*results, both, wanted[0][0], models=MODELS, show="b_broke", labels=["Text"]))
    broken = sorted(each["key"] for each in drawn["differences"])
    assert broken
    shown = panes(screen)
    assert set(broken) <= set(shown["b"]["full"])
    assert shown["place"] == f"{count_of(len(broken), 'difference')} here"
    top, bottom = shown["a"]["pane"][1], shown["a"]["pane"][3]
    assert 0 <= top < bottom <= 900, "the panes were brought into the window"
    screen.page.keyboard.press("n")
    screen.wait(lambda: screen.address().get("box", "") == drawn["differences"][0]["key"], "the box in the address")
    shown = panes(screen)
    assert drawn["differences"][0]["key"] in shown["a"]["marked"]
    assert drawn["differences"][0]["key"] in shown["b"]["marked"]
    assert shown["said"] == drawn["differences"][0]["words"]
    screen.page.go_back()
    screen.page.go_back()
    wait_for_page(screen, *places[0])
    assert "show" not in screen.address()
    assert "label" not in screen.address()
    assert screen.page.locator(".net-page").count() == len(places)


def a_page_with_many_differences_hides_no_label(screen: Screen) -> None:
    """Where there is no room for a label its status alone is written; the chosen box has all of it."""
    ready(screen.to("compare", doc="harvest-survey-2024.pdf", page="4"))
    wait_for_page(screen, "harvest-survey-2024.pdf", 4)
    texts = screen.page.locator(".pane .chip:not(.crowded)").all_inner_texts()
    assert texts.count("FP") > 2
    assert "Table read as 14 boxes" in texts
    assert not any("hidden at this zoom" in note for note in screen.page.locator(".note").all_inner_texts())


def numbers_of_the_ledger_open_their_pages(screen: Screen) -> None:
    _, both = core()
    cell = screen.page.locator(".ledger-a_only")
    cell.click()
    wait_for_page(screen, *places_of("b_broke")[0][1:])
    assert screen.address()["show"] == "b_broke"
    assert int(cell.locator("b").inner_text()) == boxes_of(both.total, "b_broke")[0]
    assert screen.page.locator(".ledger-a_only[aria-current=true]").count() == 1
    assert screen.page.locator(".kinds button[aria-pressed=true]").get_attribute("data-name") == "b_broke"
    screen.page.locator(".ledger-invented", has_text="shared").click()
    wait_for_page(screen, *places_of("both_invent")[0][1:])


def failing_cause() -> tuple[str, list[tuple[str, int]]]:
    results, both = core()
    made, family = changed_causes(*results, both), Family("joined", truth_label="Text", prediction_label="Text")
    rows = pages_of(made, made.families.index(family), both)
    return key_of(family), [place_of(row) for row in rows.tolist()]


def a_cause_lists_its_pages_until_another_filter_is_chosen(screen: Screen) -> None:
    key, places = failing_cause()
    first = screen.page.locator(".cause-row").first
    assert "fails the rule" in first.inner_text()
    first.focus()
    screen.page.keyboard.press("Enter")
    wait_for_page(screen, *places[0])
    assert screen.address()["cause"] == key
    assert screen.page.locator(".cause-row[aria-pressed=true]").count() == 1
    assert screen.page.locator(".net-page").count() == len(places)
    assert screen.page.locator(".kinds button[aria-pressed=true]").count() == 0
    assert screen.page.locator(".cause-row[aria-pressed=true] + .net-list").count() == 1, "its pages stand in it"
    while (words := screen.page.locator(".pair-foot .key-group span").first.inner_text()) == "next difference":
        screen.page.keyboard.press("n")
    assert words == f"next: {places[1][0].removesuffix('.pdf')}, page {places[1][1]}"
    screen.page.keyboard.press("n")
    wait_for_page(screen, *places[1])
    screen.page.locator(".kinds button[data-name=b_fixed]").click()
    wait_for_page(screen, *places_of("b_fixed")[0][1:])
    assert "cause" not in screen.address()


def a_link_shows_its_look_and_opens_in_the_page_browser_with_its_model_and_box(screen: Screen) -> None:
    row, document, number = places_of("only_b_invents")[0]
    results, both = core()
    expected = read_by_browser(pair_data(*results, both, row, models=MODELS, show="only_b_invents"))["differences"]
    key = next(each["key"] for each in expected if each["kind"] == "b_invents")
    link = {"show": "only_b_invents", "doc": document, "page": str(number), "box": key, "look": "slider"}
    ready(screen.to("compare", **link))
    assert panes(screen)["mode"] == "slider"
    assert screen.address() == link
    assert screen.page.locator(".net-page.current").inner_text().startswith(f"p. {number}")
    screen.page.locator(".pair-head.pair-b .pair-open").click()
    screen.arrived("Pages")
    address = screen.address()
    assert (address["doc"], address["page"], address["model"], address["box"]) == (
        document, str(number), "2", f"p{key[1:]}",
    )  # fmt: skip


def pages_turn_by_key_and_by_click(screen: Screen) -> None:
    wanted = places_of("b_fixed")
    screen.page.keyboard.press("ArrowRight")
    wait_for_page(screen, *wanted[1][1:])
    screen.page.locator(".net-page").nth(3).click()
    wait_for_page(screen, *wanted[3][1:])
    assert screen.page.locator(".net-page.current").count() == 1


def a_bar_opens_its_mistakes(screen: Screen) -> None:
    bars = screen.page.locator("[data-testid=stVegaLiteChart]").first
    bars.scroll_into_view_if_needed()
    screen.settled()
    frame = bars.bounding_box()
    assert frame
    screen.page.mouse.click(frame["x"] + 150, frame["y"] + 26)
    screen.arrived("Pages")
    results, _ = core()
    counts = sum(result.mistakes.counts for result in results)
    assert screen.address()["mistakes"] == DOCUMENT[int(counts.argmax())]


def same_view(view: dict[str, Any]) -> None:
    shift = [view["b"]["pane"][side] - view["a"]["pane"][side] for side in range(4)]
    moved = [view["a"]["sheet"][side] + shift[side] for side in range(4)]
    assert moved == pytest.approx(view["b"]["sheet"], abs=0.51)


def test_the_panes_alone(panes_alone: Alone) -> None:
    course(
        panes_alone.scene("boxes=20"),
        a_zoomed_page_asks_for_a_sharper_image,
        zoom_and_pan_are_linked,
        a_box_is_marked_in_both_pages,
        next_difference_walks_through_all_of_them,
        flip_shows_one_model_in_the_place_of_the_other,
        the_divider_moves_by_keys_and_by_hand,
        help_lists_the_keys,
        agreement_is_faded_and_a_filter_brings_its_boxes_forward,
        a_page_without_a_picture_keeps_its_boxes_and_hostile_names_stay_text,
    )


def zoom_and_pan_are_linked(screen: Alone) -> None:
    screen.page.keyboard.press("0")
    screen.rested()
    start = panes(screen)
    same_view(start)
    assert start["a"]["pane"][2] - start["a"]["pane"][0] == start["b"]["pane"][2] - start["b"]["pane"][0]
    x, y = middle(start["b"]["pane"])
    screen.page.mouse.move(x, y)
    screen.page.mouse.wheel(0, -300)
    screen.rested()
    zoomed = panes(screen)
    assert zoomed["a"]["sheet"][2] - zoomed["a"]["sheet"][0] > 1.3 * (start["a"]["sheet"][2] - start["a"]["sheet"][0])
    same_view(zoomed)
    screen.page.mouse.down()
    screen.page.mouse.move(x - 60, y - 90, steps=6)
    screen.page.mouse.up()
    screen.rested()
    panned = panes(screen)
    same_view(panned)
    assert panned["a"]["sheet"][1] < zoomed["a"]["sheet"][1] - 50
    screen.page.mouse.move(5, 5)
    for key, compare in (("+", 1), ("-", -1), ("0", -1)):
        before = panes(screen)
        screen.page.keyboard.press(key)
        screen.rested()
        after = panes(screen)
        width = (after["a"]["sheet"][2] - after["a"]["sheet"][0]) - (before["a"]["sheet"][2] - before["a"]["sheet"][0])
        assert width * compare > 0
        same_view(after)
    assert {name for name, _ in screen.report()["log"]} <= {"sharper"}, "zoom and pan need no run"


def a_box_is_marked_in_both_pages(screen: Alone) -> None:
    screen.page.keyboard.press("0")
    screen.rested()
    drawn = panes(screen)
    fixed = drawn["a"]["missed"][0]
    screen.page.mouse.move(*middle(drawn["a"]["boxes"][fixed]))
    screen.wait(lambda: all(fixed in panes(screen)[side]["marked"] for side in "ab"), "the box marked in both panes")
    tooltips = screen.page.locator(".tooltip.shown:not(.silent)")
    screen.wait(lambda: tooltips.count() == 2, "a tooltip in both panes")
    screen.page.mouse.click(*middle(drawn["a"]["boxes"][fixed]))
    screen.page.mouse.move(5, 5)
    screen.wait(lambda: any(name == "selected" for name, _ in screen.report()["log"]), "the choice")
    screen.wait(lambda: all(fixed in panes(screen)[side]["marked"] for side in "ab"), "the choice marked in both panes")
    screen.wait(lambda: tooltips.count() == 0, "no tooltip")
    screen.page.keyboard.press("Escape")
    screen.wait(lambda: panes(screen)["a"]["marked"] == [], "no choice")


def next_difference_walks_through_all_of_them(screen: Screen) -> None:
    total = int(panes(screen)["place"].split()[0])
    assert total > 3
    said = set()
    for step in range(total):
        screen.page.keyboard.press("n")
        place = f"{step + 1} of {total} differences here"
        screen.wait(lambda place=place: panes(screen)["place"] == place, place)
        drawn = panes(screen)
        said.add(drawn["said"])
        inside = [
            mark[1] >= drawn[side]["pane"][1] - 1 and mark[3] <= drawn[side]["pane"][3] + 1
            for side in "ab"
            for mark in drawn[side]["marks"]
        ]
        assert any(inside), "the difference is brought into the panes"
    assert len(said) > total / 2
    screen.page.keyboard.press("p")
    screen.wait(lambda: panes(screen)["place"] == f"{total - 1} of {total} differences here", "the difference before")


def flip_shows_one_model_in_the_place_of_the_other(screen: Alone) -> None:
    screen.page.keyboard.press("f")
    screen.wait(lambda: panes(screen)["a"]["hidden"], "one model only")
    first = panes(screen)
    assert (first["mode"], first["a"]["hidden"], first["b"]["hidden"]) == ("flip", True, False)
    assert first["a"]["sheet"] == first["b"]["sheet"]
    screen.wait(lambda: ["mode", "'flip'"] in screen.report()["log"], "the way to look, noted once it is at rest")
    screen.page.keyboard.press("f")
    screen.wait(lambda: panes(screen)["b"]["hidden"], "the other model only")
    second = panes(screen)
    assert (second["a"]["hidden"], second["b"]["hidden"]) == (False, True)
    assert second["a"]["sheet"] == first["b"]["sheet"]
    screen.page.get_by_role("button", name="Side by side").click()
    screen.wait(lambda: not any(panes(screen)[side]["hidden"] for side in "ab"), "both models")


def the_divider_moves_by_keys_and_by_hand(screen: Alone) -> None:
    screen.page.keyboard.press("d")
    screen.wait(lambda: panes(screen)["mode"] == "slider", "the divider")
    divider = screen.page.get_by_role("slider", name="Divider")
    divider.focus()
    for key, wanted in (
        ("ArrowLeft", "48"),
        ("ArrowRight", "50"),
        ("Shift+ArrowRight", "60"),
        ("Home", "0"),
        ("End", "100"),
    ):
        screen.page.keyboard.press(key)
        screen.wait(lambda wanted=wanted: panes(screen)["divider"] == wanted, f"the divider at {wanted}")
        drawn = panes(screen)
        assert drawn["b"]["clip"].endswith(f"{wanted}%)")
    assert "go" not in {name for name, _ in screen.report()["log"]}, "the arrow keys of the divider turn no page"
    left, top, right, bottom = panes(screen)["a"]["pane"]
    screen.page.mouse.move(right - 1, (top + bottom) / 2)
    screen.page.mouse.down()
    screen.page.mouse.move(left + 0.3 * (right - left), (top + bottom) / 2, steps=4)
    screen.page.mouse.up()
    assert panes(screen)["divider"] == "30"


def agreement_is_faded_and_a_filter_brings_its_boxes_forward(screen: Alone) -> None:
    screen.scene("boxes=60")
    faded = screen.page.locator(".box.agrees").first.evaluate("(node) => getComputedStyle(node).strokeOpacity")
    full = screen.page.locator(".box-TP.differs").first.evaluate("(node) => getComputedStyle(node).strokeOpacity")
    assert float(faded) == pytest.approx(1 / 3, abs=0.01)
    assert float(full) == 1.0
    before = panes(screen)
    screen.page.get_by_role("button", name="Both missed").click()
    screen.wait(lambda: panes(screen)["place"] != before["place"], "the differences of the filter")
    after = panes(screen)
    assert set(before["a"]["full"]) < set(after["a"]["full"])


def a_zoomed_page_asks_for_a_sharper_image(screen: Alone) -> None:
    for _ in range(4):
        screen.page.keyboard.press("+")
        screen.painted()
    screen.wait(lambda: any(name == "sharper" for name, _ in screen.report()["log"]), "the wish")
    images = "shadows().flatMap((root) => [...root.querySelectorAll('.page-image')])"
    width = f"() => Math.min(...{images}.map((image) => image.naturalWidth))"
    screen.wait(lambda: screen.page.evaluate(width) > 1200, "the sharper image in both panes")
    same_view(panes(screen))


def a_page_without_a_picture_keeps_its_boxes_and_hostile_names_stay_text(screen: Alone) -> None:
    screen.scene("boxes=20&scene=problem")
    assert screen.page.locator(".problem:visible").count() == 2
    assert len(panes(screen)["a"]["boxes"]) > 15
    screen.scene("boxes=20&scene=hostile")
    assert screen.page.evaluate("() => window.hacked") is None
    for name in (".net-name", ".pair-head"):
        assert HOSTILE in screen.page.locator(name).first.inner_text(), name
    assert screen.page.locator(".layoutscope-viewer img:not(.page-image), .layoutscope-viewer a").count() == 0


def help_lists_the_keys(screen: Screen) -> None:
    screen.page.keyboard.press("?")
    dialog = screen.page.get_by_role("dialog", name="Keys of the comparison")
    dialog.wait_for()
    assert "Flip" in dialog.inner_text()
    screen.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def nothing_sticks_out_the_first_line_is_pressed_and_the_tools_are_one_row(screen: Screen) -> None:
    page = screen.to("compare", look="side").page
    page.emulate_media(color_scheme="dark")
    ground = "(node) => getComputedStyle(node).backgroundColor"
    app = page.get_by_test_id("stApp")
    screen.wait(lambda: app.evaluate(ground) == "rgb(20, 24, 29)", "the dark theme")
    for width, height in ((1440, 900), (960, 700), (820, 1180)):
        page.set_viewport_size({"width": width, "height": height})
        ready(screen)
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= width
        drawn = panes(screen)
        assert (drawn["a"]["pane"][2] < drawn["b"]["pane"][0]) == (width > 900), (
            "one pane where there is no room for two"
        )
        assert drawn["b"]["pane"][2] <= width
        assert drawn["a"]["pane"][2] - drawn["a"]["pane"][0] > 200, width
        ticks = page.evaluate(
            """() => shadows().flatMap((root) => [...root.querySelectorAll('.axis-tick')])
              .map((node) => { const r = node.getBoundingClientRect(); return [r.left, r.right]; })"""
        )
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(ticks)), f"ticks are apart at {width}"
        if width < 900:
            continue
        page.locator(".pair-pane").first.focus()
        # The place in the list of differences takes more room when one is chosen.
        page.keyboard.press("n")
        screen.settled()
        tops = page.locator(".pair-toolbar > :not(.grow)").evaluate_all(
            """(nodes) => nodes.filter((node) => node.offsetWidth).map((node) => node.getBoundingClientRect())
              .map((place) => Math.round((place.top + place.bottom) / 24))"""
        )
        assert len(set(tops)) <= (1 if width > 1100 else 2), (width, tops)
        screen.thresholds().get_by_role("slider", name="IoU threshold").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("slider", name="IoU threshold").wait_for(state="hidden")


def labels_of_the_axis_stay_in_its_column(screen: Screen) -> None:
    screen.page.set_viewport_size({"width": 1440, "height": 900})
    screen.to("compare", scores="0.99,0.99")
    screen.page.get_by_role("button", name=re.compile("^All [0-9]+ differences")).click()
    screen.page.locator(".axis-tick").first.wait_for()
    outside = screen.page.locator(".axis-tick").evaluate_all(
        """(ticks) => ticks.filter((tick) => {
          const one = tick.getBoundingClientRect(), axis = tick.parentElement.getBoundingClientRect();
          return one.left < axis.left || one.right > axis.right;
        }).map((tick) => tick.textContent)"""
    )
    assert outside == []


def where_nothing_is_left_a_sentence_and_a_way_out_say_so(screen: Screen) -> None:
    screen.to("compare", scores="0,0", within="tram-options.pdf", label="Formula")
    work = screen.page.locator(".pair-work")
    work.get_by_role("button", name="Show every changed page").wait_for()
    assert work.locator(".message").inner_text()
    assert work.locator(".sheet:visible").count() == 0
    assert screen.page.get_by_text("BidiComponent Error").count() == 0
