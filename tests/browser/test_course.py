"""One course through the views, from the worst page to the pack, and through every kind of comparison."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from evaluator.matching.box_results import AnyBoxResult
from evaluator.project import evaluate_together
from evaluator.protocols import box_protocols
from evaluator.protocols.base import BoxEvaluation
from tests.browser.conftest import Screen, Visit, course
from tests.browser.test_app import nothing_sticks_out_of_a_narrow_window
from tests.dashboard import SAMPLE_DATA

pytestmark = pytest.mark.browser


def results_of(protocol: str, *thresholds: float) -> list[AnyBoxResult]:
    """The first model of the sample at some thresholds, by the rule of the protocol and without the dashboard."""
    system = box_protocols()[protocol]
    (evaluated,) = evaluate_together(protocol, SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json"])
    assert isinstance(evaluated.result, BoxEvaluation)
    options = system.options()
    matching = system.match(system.pair(evaluated.result.evaluated, 0, options), options)
    return [matching.at(iou) for iou in thresholds]


def counts_of_page(result: AnyBoxResult, document: str, number: int) -> dict[str, int]:
    dataset = result.matching.dataset
    code = [each.name for each in dataset.documents].index(document)
    page = np.flatnonzero((dataset.page_document == code) & (dataset.page_index == number - 1))
    truth, prediction = dataset.ground_truth.page, result.matching.prediction.page
    rows = {
        "TP": truth[result.matches.ground_truth],
        "FP": prediction[result.false_positives],
        "FN": truth[result.false_negatives],
    }
    return {status: int(np.isin(pages, page).sum()) for status, pages in rows.items()}


def test_from_the_worst_page_to_the_pack_and_every_kind_of_compare(visit: Visit, server: str, tmp_path: Path) -> None:
    """By POD: snapshot is that of all other courses, and what coco says stands in `test_views` and `test_pack_view`.

    Boxes of Compare are in `test_compare`; zoom and page turns of all kinds in `test_compare` and `test_window`.
    All of it is in the dark.
    """
    signed, standard, high = "pod 2017", 0.6, 0.95
    screen = visit(server, color_scheme="dark").open("page_browser", protocol="pod")
    page = screen.page
    at_first, at_high = results_of("pod", standard, high)
    place = screen.where()
    counts, wanted = counts_of_page(at_first, *place), counts_of_page(at_high, *place)
    assert screen.counts() == counts
    assert counts["FP"] + counts["FN"] > 0, "the worst page comes first"
    assert screen.signature().startswith(signed)
    # The threshold matches anew by the rule of the protocol, on the same page.
    screen.thresholds().get_by_role("slider", name="IoU threshold").focus()
    page.keyboard.press("End")
    assert wanted != counts, "the test needs a page where the threshold matters"
    screen.wait(lambda: screen.where() == place and screen.counts() == wanted, f"counts at {high}: {wanted}")
    screen.addressed(iou=str(high))
    # A verdict waits for a name with its note, and is kept under it.
    page.keyboard.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="detached")
    page.locator(".pane").focus()
    page.keyboard.press("n")
    note = page.get_by_role("textbox", name="Note on the verdict")
    note.fill("axis labels")
    page.get_by_role("button", name="Model wrong").click()
    name = page.get_by_role("textbox", name="Your name, needed for verdicts")
    name.wait_for()
    assert note.input_value() == "axis labels"
    name.fill("Edda")
    name.press("Enter")
    page.locator(".verdict-state", has_text="Edda, ").wait_for()
    # The pack has the numbers and the verdict; pictures of pages are the matter of other tests.
    nothing_sticks_out_of_a_narrow_window(screen.go("Pack"))
    pictures = page.get_by_role("slider", name="Maximum pages with a picture")
    pictures.focus()
    page.keyboard.press("Home")
    screen.wait(lambda: pictures.input_value() == "0", "no pictures").settled()
    page.get_by_role("button", name="Make the pack").click()
    button = page.get_by_role("button", name="Download review-pack.html")
    button.wait_for(timeout=120_000)
    with page.expect_download() as waiting:
        button.click()
    waiting.value.save_as(tmp_path / "pack.html")
    written = (tmp_path / "pack.html").read_text(encoding="utf-8")
    for words in (signed, "Key numbers", "Edda"):
        assert words in written
    screen.go("Compare")
    page.locator(".net-page").first.wait_for()
    assert screen.signature().startswith(signed)
    assert f"{high}" in screen.signature()
    course(
        screen,
        partial(a_box_is_marked_and_judged, "Pixels"),
        the_box_is_left_with_its_page,
        partial(a_box_is_marked_and_judged, "Fields"),
        partial(a_box_is_marked_and_judged, "Posters", poster="seed-bank"),
        the_texts_of_two_posters_and_the_verdict_among_findings,
    )


def a_box_is_marked_and_judged(kind: str, screen: Screen, **place: str) -> None:
    page = screen.page
    if kind in ("Fields", "Posters"):
        # The sample has them when they are asked for.
        screen.to("compare", compare=kind.lower(), **place)
    else:
        # That of boxes is the first choice of their filter.
        choices = screen.opened("pair_filter") if page.locator(".st-key-pair_filter").count() else page
        choices.get_by_role("combobox", name="Compare").click()
        page.get_by_role("option", name=kind, exact=True).click()
        screen.addressed(compare=kind.lower())
    page.locator(".pair-pane .chips.ready").nth(1).wait_for(state="attached")
    assert page.locator(".pair-pane .box.differs").count() > 0
    page.locator(".pair-pane").first.focus()
    page.keyboard.press("n")
    page.locator(".pair-pane .marked").first.wait_for(state="attached")
    said = page.locator(".pair-said").inner_text().strip()
    assert said
    # The choice is sent after a rest, and is still there when it was answered.
    screen.wait(lambda: "chosen" in screen.address(), "the chosen box in the address").settled()
    assert page.locator(".pair-pane .marked").count() > 0
    assert page.locator(".pair-said").inner_text().strip() == said
    judge_here(screen)


def the_box_is_left_with_its_page(screen: Screen) -> None:
    page = screen.page
    page.locator(".pair-pane").first.focus()
    first = page.locator(".net-page.current").inner_text()
    page.keyboard.press("ArrowRight")
    screen.wait(lambda: page.locator(".net-page.current").inner_text() != first, "the next page of the list").settled()
    assert "chosen" not in screen.address(), "a box of another page"


def judge_here(screen: Screen) -> None:
    """A verdict on the chosen mistake is kept under the name that was given before."""
    page = screen.page
    verdict = page.locator(".verdict-button", has_text="Ambiguous")
    verdict.click()
    page.locator(".verdict-state", has_text="Edda, ").wait_for()
    assert verdict.get_attribute("aria-pressed") == "true"
    screen.settled()


def the_texts_of_two_posters_and_the_verdict_among_findings(screen: Screen) -> None:
    assert screen.page.locator(".ls-texts > div").count() == 2
    nothing_sticks_out_of_a_narrow_window(screen.go("Decisions"))
    screen.page.locator(".dc-verdict", has_text="Ambiguous").first.wait_for()
