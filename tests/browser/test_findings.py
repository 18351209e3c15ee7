"""Verdicts in a real browser: on boxes, fields, causes and suspects; a meeting runs by keys."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from evaluator.review.verdicts import Event
from tests.browser.conftest import Screen, Visit, course, dashboard

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def judging(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("judging")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FINDINGS_VARIABLE, str(folder / "findings.sqlite"))
        with dashboard(folder) as url:
            yield url, folder / "findings.sqlite"


def events(path: Path) -> list[Event]:
    with Store(path) as store:
        return store.events()


def since(path: Path) -> Callable[[], list[Event]]:
    """What has been said after this moment."""
    before = len(events(path)) if path.exists() else 0
    return lambda: events(path)[before:] if path.exists() else []


def test_verdicts_in_compare_by_keys(visit: Visit, judging: tuple[str, Path]) -> None:
    """Before the other tests of this server: nothing is judged yet."""
    url, kept = judging
    course(
        visit(url).open("compare"),
        partial(a_verdict_on_a_difference_brings_corrected_numbers_that_stay_when_the_page_turns, kept),
        partial(one_verdict_for_a_cause_in_compare_and_in_the_gallery, kept),
        partial(a_verdict_on_a_field_draws_the_page_and_the_corrected_numbers_alone, kept),
    )


def a_verdict_on_a_difference_brings_corrected_numbers_that_stay_when_the_page_turns(
    kept: Path, screen: Screen
) -> None:
    """On the difference that N chooses, of the model that makes the mistake.

    The numbers above the panes belong to the part that runs for a verdict or a page; nothing else is drawn again.
    """
    given = since(kept)
    page, keys = screen.page, screen.page.keyboard
    page.locator(".pair-pane .chips.ready").nth(1).wait_for(state="attached")
    row, numbers = page.locator(".pair-lists .verdict"), page.locator(".ls-numbers-line")
    assert not row.is_visible()
    assert numbers.locator(".ls-after").count() == 0
    keys.press("v")
    row.wait_for()
    keys.press("Escape")
    title = row.locator(".verdict-title").inner_text()
    keys.press("2")
    row.locator(".verdict-name").wait_for()
    keys.type("Amara")
    keys.press("Enter")
    screen.wait(lambda: len(given()) >= 1, "the verdict")
    row.locator(".verdict-state", has_text="Amara, ").wait_for()
    assert row.locator(".verdict-button[aria-pressed=true]").inner_text() == "Ground truth wrong"
    (event,) = given()
    letter, model = ("A", "lines") if title.startswith("Verdict on A: ") else ("B", "blocks")
    assert title.startswith(f"Verdict on {letter}: ")
    assert (event.verdict, event.author, event.target.models) == ("ground_truth_wrong", "Amara", (model,))
    assert event.target.document == screen.address()["doc"]
    # The same key again asks first, and typing in the note judges nothing.
    keys.press("1")
    row.locator(".verdict-asks", has_text="Press 1 again").wait_for()
    keys.press("Tab")
    keys.type("1 2 cut")
    keys.press("Enter")
    screen.wait(lambda: len(given()) >= 2, "the note")
    assert [(each.verdict, each.note) for each in given()][1:] == [("ground_truth_wrong", "1 2 cut")]
    keys.press("Escape")
    numbers.locator(".ls-after").first.wait_for()
    said, first = numbers.inner_text(), page.locator(".net-page.current").inner_text()
    assert "corrected" in said
    keys.press("ArrowRight")
    screen.wait(lambda: page.locator(".net-page.current").inner_text() != first, "the next page").settled()
    assert numbers.inner_text() == said


def one_verdict_for_a_cause_in_compare_and_in_the_gallery(kept: Path, screen: Screen) -> None:
    """V, C and 1 judge a table read as lines; "more like this" lists the others, which one press judges together."""
    given = since(kept)
    page, keys = screen.page, screen.page.keyboard
    # The way to look follows an address, and the keys after it.
    work = page.locator(".pair-work")
    screen.to("compare", doc="harvest-survey-2024.pdf", page="4", look="slider")
    assert work.get_attribute("data-mode") == "slider"
    screen.to("compare", doc="harvest-survey-2024.pdf", page="4")
    assert work.get_attribute("data-mode") == "side"
    page.locator(".pair-pane .chips.ready").nth(1).wait_for(state="attached")
    row = page.locator(".pair-lists .verdict")
    pane, group = page.locator(".pair-pane").first, row.locator(".verdict-cause")
    pane.focus()

    def grouped() -> bool:
        keys.press("n")
        return bool(group.is_visible())

    screen.wait(grouped, "a difference of a cause")
    keys.press("c")
    assert row.locator(".verdict-title").inner_text() == "Verdict on A: 15 mistakes: Table read as 14 boxes"
    keys.press("1")
    screen.wait(lambda: len(given()) == 15, "a verdict on each mistake of the cause")
    assert {(event.verdict, event.author) for event in given()} == {("model_wrong", "Amara")}
    keys.press("p")
    row.locator(".verdict-state", has_text="Amara, ").wait_for()
    screen.settled()
    screen.tab_to(row.locator(".cause-alike"), key="Shift+Tab")
    keys.press("Enter")
    screen.arrived("Grid")
    assert "72 mistakes, at 8 places on 8 pages" in screen.text()
    page.get_by_text("1 of 8 judged").wait_for()
    assert page.locator(".gl-rest").inner_text() == "One verdict for the other 7"
    screen.press("c", "1")
    page.get_by_text("8 of 8 judged").wait_for()
    assert page.locator(".gl-said").all_text_contents() == ["● Model wrong by Amara"] * 8
    assert len({event.target_id for event in given()}) == 72


def a_verdict_on_a_field_draws_the_page_and_the_corrected_numbers_alone(kept: Path, screen: Screen) -> None:
    """By keys, under the name that was given in Compare; the view as a whole does not run."""
    given, page = since(kept), screen.page
    screen.to("fields", field_doc="quayside-77120", field_page="2").drawn()
    assert page.locator("table.ls-corrected").count() == 0
    page.locator(".pane").first.click(position={"x": 4, "y": 4})
    page.keyboard.press("n")
    page.locator(".verdict-button").first.wait_for()
    screen.settled()
    screen.messages.clear()
    page.keyboard.press("2")
    screen.wait(lambda: len(given()) == 1, "the verdict in the store")
    (event,) = given()
    assert (event.verdict, event.author) == ("ground_truth_wrong", "Amara")
    assert (event.target.kind, event.target.document, event.target.mistake) == ("field", "quayside-77120", "missed")
    page.locator("table.ls-corrected").wait_for()
    screen.settled()
    ends = [line.partition("script_finished ")[2] for line in screen.messages if "< script_finished" in line]
    # The way to the next mistake may cut the answer short.
    assert str(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY) in ends
    assert str(ForwardMsg.FINISHED_SUCCESSFULLY) not in ends
    corrected = page.locator("table.ls-corrected tr.ls-corrected td").all_inner_texts()
    official = page.locator("table.ls-corrected tr.ls-official td").all_inner_texts()
    assert (official[0], corrected[0]) == ("official", "corrected")
    assert int(corrected[6]) == int(official[6]) - 1, "one missed field less"


def test_a_whole_review_by_keys(visit: Visit, judging: tuple[str, Path]) -> None:
    """Find, judge, meet, minutes, a pack that is cancelled: Tab, arrows, letters, digits, Enter, nothing else."""
    url, kept = judging
    given = since(kept)
    screen = visit(url).open()
    page, keys = screen.page, screen.page.keyboard
    screen.tab_to(screen.word("Pages"))
    keys.press("Enter")
    screen.arrived("Pages")
    screen.tab_to(page.locator(".pane"))
    keys.press("n")
    screen.settled()
    page.locator(".mistake.chosen .verdict").wait_for()
    keys.press("1")
    page.locator(".verdict-name").wait_for()
    keys.type("Ngozi")
    keys.press("Enter")
    screen.wait(lambda: len(given()) >= 1, "the first verdict")
    # Typed while the answer is on its way: it stays, and the next message is by the same reviewer.
    keys.press("Tab")
    keys.type("1 row short")
    keys.press("Enter")
    screen.wait(lambda: len(given()) >= 2, "the note")
    assert [(event.verdict, event.note, event.author) for event in given()] == [
        ("model_wrong", "", "Ngozi"), ("model_wrong", "1 row short", "Ngozi")
    ]  # fmt: skip
    page.locator(".verdict-state", has_text="Ngozi, ").wait_for()
    screen.follow("Decisions")
    a_decision_is_edited_in_its_row_by_keys(kept, screen)
    screen.tab_to(page.get_by_role("button", name="Start meeting"))
    keys.press("Enter")
    heading = page.locator(".mt-title h1")
    heading.wait_for()
    # The whole screen: no sidebar while it runs.
    assert not page.get_by_test_id("stSidebar").is_visible()
    # The agenda: the arrows walk along it and back.
    first, before = heading.inner_text(), len(given())
    keys.press("n")
    screen.wait(lambda: heading.inner_text() != first, "the second item of the agenda")
    keys.press("p")
    screen.wait(lambda: heading.inner_text() == first, "the first item of the agenda")
    keys.press("ArrowRight")
    page.get_by_text("2 of ", exact=False).first.wait_for()
    screen.press("2", "v", "Control+A")
    keys.type("1 3 4: split at the gap")
    assert page.locator(".mt-verdict[aria-pressed=true]").inner_text().split("\n")[1] == "Ground truth wrong"
    keys.press("Enter")
    screen.wait(lambda: len(given()) > before, "the decision")
    screen.wait(lambda: heading.inner_text() != first, "the next item")
    decided = given()[before:]
    assert {(event.verdict, event.note, event.author) for event in decided} == {
        ("ground_truth_wrong", "1 3 4: split at the gap", "Ngozi")
    }
    screen.tab_to(page.locator(".mt-minutes"))
    with page.expect_download() as minutes:
        keys.press("Enter")
    written = Path(minutes.value.path()).read_text(encoding="utf-8")
    assert "split at the gap" in written
    assert "Ngozi" in written
    screen.tab_to(page.get_by_role("button", name="End the meeting"))
    keys.press("Enter")
    screen.arrived("Decisions")
    screen.follow("Pack")
    assert "B finds more" in screen.text()
    make = page.get_by_role("button", name="Make the pack")
    screen.tab_to(make)
    keys.press("Enter")
    screen.tab_to(page.get_by_role("button", name="Cancel"))
    keys.press("Enter")
    make.wait_for()
    screen.settled()
    assert page.get_by_role("button", name="Download review-pack.html").count() == 0


def a_decision_is_edited_in_its_row_by_keys(kept: Path, screen: Screen) -> None:
    given, page, keys = since(kept), screen.page, screen.page.keyboard
    row = page.locator(".dc-row[aria-current]")
    row.locator("img").nth(1).wait_for()
    first = row.locator(".dc-cause > b").inner_text()
    assert "fails the rule" in row.inner_text()
    # The whole place, of a cause that fills its page too.
    frame = page.locator(".dc-row", has_text="Several boxes read as one Figure").locator(".dc-crop").first
    frame.scroll_into_view_if_needed()
    frame.locator("img").wait_for()
    around, sheet = frame.bounding_box(), frame.locator(".gl-sheet").bounding_box()
    assert around
    assert sheet
    assert sheet["height"] <= around["height"]
    keys.press("ArrowDown")
    assert row.locator(".dc-cause > b").inner_text() != first
    keys.press("ArrowUp")
    keys.press("1")
    row.locator(".dc-verdict b", has_text="Model wrong").wait_for()
    mistakes = len({event.target_id for event in given()})
    for key, text, words in (("o", "Cleo", "Cleo"), ("d", "", "11 Dec 2026"), ("v", "gaps of 8 pt", "gaps of 8 pt")):
        keys.press(key)
        if key == "d":
            row.locator("input").fill("2026-12-11")
        else:
            keys.type(text)
        keys.press("Enter")
        row.get_by_text(words, exact=True).wait_for()
        screen.settled()
    keys.press("s")
    row.locator("select").select_option("in_progress")
    row.get_by_text("In work").wait_for()
    screen.settled()
    keys.press("o")
    keys.type("Nobody")
    keys.press("Escape")
    last = {event.target_id: event for event in given()}
    assert len(last) == mistakes > 1
    assert {(each.verdict, each.note, each.owner, each.due, each.status, each.author) for each in last.values()} == {
        ("model_wrong", "gaps of 8 pt", "Cleo", "2026-12-11", "in_progress", "Ngozi")
    }
    # Another verdict asks first.
    keys.press("3")
    page.locator(".dc-said", has_text="Press again").wait_for()
    # Where Amara has judged one of its places otherwise, the row says that besides.
    assert "Model wrong" in row.locator(".dc-verdict b").inner_text()


def test_places_are_judged_by_keys_in_the_grid(visit: Visit, judging: tuple[str, Path]) -> None:
    """A digit judges and moves on, C takes the rest of the cause, Shift several, U takes back."""
    url, kept = judging
    given, screen = since(kept), visit(url).open("gallery", model="2", question='{"name":"wrong_class"}')
    page, keys = screen.page, screen.page.keyboard
    said, current = page.locator(".gl-said"), page.locator(".gl-card.current")
    order = page.locator(".gl-card").evaluate_all("(cards) => cards.map((card) => card.dataset.card)")
    assert len(order) > 3

    def at() -> str | None:
        return current.get_attribute("data-card")

    keys.press("1")
    page.locator(".gl-name").wait_for()
    keys.type("Ada 1")
    keys.press("Enter")
    screen.wait(lambda: said.first.text_content() == "● Model wrong by Ada 1", "the first verdict")
    assert at() == order[1], "on to the next card"
    keys.press("Shift+ArrowRight")
    assert page.locator(".gl-card.selected").count() == 2
    screen.press("2")
    screen.wait(
        lambda: said.all_text_contents()[1:3] == ["◆ Ground truth wrong by Ada 1"] * 2, "one verdict on two places"
    )
    assert at() == order[3]
    keys.press("u")
    screen.wait(
        lambda: said.all_text_contents()[:3] == ["● Model wrong by Ada 1", *["◌ Not decided"] * 2], "two taken back"
    )
    screen.press("Home", "c")
    rest = page.locator(".gl-group").first.locator(".gl-judged").inner_text()
    judged, places = (int(word) for word in rest.split() if word.isdigit())
    assert page.locator(".gl-card.selected").count() == places - judged + 1
    keys.press("Escape")
    assert page.locator(".gl-card.selected").count() == 0
    events = given()
    assert {event.author for event in events} == {"Ada 1"}
    keys.press("Enter")
    screen.arrived("Pages")


def test_suspects_and_the_review_sample_by_keys(visit: Visit, judging: tuple[str, Path]) -> None:
    url, kept = judging
    course(
        visit(url).open("suspects", evidence="0"),
        partial(a_suspect_is_edited_accepted_and_taken_back_by_keys, kept),
        partial(verdicts_in_a_store_that_others_use_wait_and_are_saved_by_themselves, kept),
        partial(the_review_sample_goes_on_by_keys, kept),
    )


def a_suspect_is_edited_accepted_and_taken_back_by_keys(kept: Path, screen: Screen) -> None:
    """The name is asked for where the answer was pressed, and the edited box is the one that is stored."""
    given, page = since(kept), screen.page
    screen.wait(lambda: page.locator(".suspect-image[src]").is_visible(), "the page of the first suspect")
    first = page.locator(".suspect-row b").first.inner_text()
    page.locator(".suspect-pane").click()
    page.keyboard.press("e")
    corner = page.locator(".suspect-handle-3").bounding_box()
    assert corner is not None
    x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 12)
    page.mouse.up()
    edges = [float(page.locator(f"input[data-side='{side}']").input_value()) / 100 for side in range(4)]
    # Letters in a field are text: nothing is answered.
    page.locator("input[data-side='0']").press("1")
    page.locator("input[data-side='0']").fill(f"{100 * edges[0]:.2f}")
    page.locator(".suspect-pane").focus()
    page.keyboard.press("1")
    page.locator(".verdict-name").fill("Efua")
    page.keyboard.press("Enter")
    screen.wait(lambda: len(given()) == 1, "the verdict in the store")
    (event,) = given()
    assert (event.verdict, event.author) == ("ground_truth_wrong", "Efua")
    (box,) = event.target.of("prediction")
    assert box.xyxy == pytest.approx(edges, abs=1e-4)
    screen.wait(lambda: page.locator(".suspect-row b").first.inner_text() != first, "the next suspect")
    screen.press("3").wait(lambda: len(given()) == 2, "one more verdict")
    assert [each.verdict for each in given()] == ["ground_truth_wrong", "ambiguous"]
    # They are stored before the browser is told.
    screen.rested()
    # What is taken back can be answered anew, without the question whether to replace it.
    screen.press("u", "2").wait(lambda: len(given()) == 4, "the verdict taken back, and the new one")
    last, cleared, anew = given()[-3:]
    assert (cleared.action, anew.verdict) == ("cleared", "model_wrong")
    assert last.target_id == cleared.target_id == anew.target_id
    screen.rested()
    screen.press("u", "u").wait(lambda: [each.action for each in given()[4:]] == ["cleared"] * 2, "both taken back")


def verdicts_in_a_store_that_others_use_wait_and_are_saved_by_themselves(kept: Path, screen: Screen) -> None:
    """In each view that has a page with verdicts of its own; the reader goes on meanwhile."""
    given, page = since(kept), screen.page
    with contextlib.closing(sqlite3.connect(kept, isolation_level=None)) as others:
        others.execute("BEGIN IMMEDIATE")
        views: list[tuple[str, dict[str, str]]] = [
            ("page_browser", {}), ("fields", {"field_doc": "norris-20466"}), ("posters", {"poster_of": "B"}),
        ]  # fmt: skip
        for waiting, (view, address) in enumerate(views, 1):
            screen.to(view, **address).drawn()
            page.locator(".pane").first.click(position={"x": 4, "y": 4})
            page.keyboard.press("n")
            page.locator(".mistake.chosen .verdict").wait_for()
            screen.press("4")
            page.get_by_text(f"Waiting to be saved: {waiting} verdict").wait_for()
        screen.to("suspects", evidence="0")
        screen.wait(lambda: page.locator(".suspect-image[src]").is_visible(), "the page of the first suspect")
        page.locator(".suspect-pane").click()
        first = page.locator(".suspect-row b").first.inner_text()
        screen.press("3")
        page.locator(".suspect-done + .verdict-problem", has_text="Waiting to be saved: 1 answer").wait_for()
        assert page.locator(".suspect-row b").first.inner_text() != first
        page.get_by_text("Waiting to be saved: 4 verdicts. The findings are in use by others.").wait_for()
        assert (given(), page.get_by_text("NOT SAVED").count()) == ([], 0)
    screen.wait(lambda: len(given()) == 4, "all of them in the store")
    assert {(event.verdict, event.author) for event in given()} == {("ignore", "Efua"), ("ambiguous", "Efua")}
    page.get_by_text("Waiting to be saved").first.wait_for(state="detached")


def the_review_sample_goes_on_by_keys(kept: Path, screen: Screen) -> None:
    given = since(kept)
    screen.to("findings", queue="sample")
    page = screen.page
    page.locator(".gl-card img").first.wait_for()
    page.locator(".gl-card").first.focus()
    page.keyboard.press("Enter")
    screen.arrived("Pages")
    page.locator(".pane").first.wait_for()
    for number in (1, 2):
        page.get_by_text(f"{number - 1} of 20 pages reviewed").first.wait_for()
        screen.settled()
        page.keyboard.press("d")
        screen.wait(lambda number=number: len(given()) == number, "the page in the store")
    assert (given()[0].target.kind, given()[0].tags) == ("page", ("reviewed",))
    assert given()[1].target != given()[0].target
