"""One course through the views for each protocol: worst page, hover, threshold, verdict, Compare, pack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.project import evaluate_together
from evaluator.protocols import box_protocols
from evaluator.protocols.base import BoxEvaluation
from tests.browser.conftest import Screen
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
    """Numbers on the toggles of a page of the Page browser."""
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


@pytest.mark.parametrize(("signed", "standard"), [("snapshot 1.3", 0.5), ("coco 2.0", 0.5), ("pod 2017", 0.6)])
def test_from_the_worst_page_to_the_pack(
    visit: Callable[..., Screen], sample_server: str, tmp_path: Path, signed: str, standard: float
) -> None:
    protocol = signed.split(maxsplit=1)[0]
    screen = visit(sample_server).open("page_browser", protocol=protocol)
    page = screen.page
    high = 0.95
    at_first, at_high = results_of(protocol, standard, high)
    place = screen.where()
    counts, wanted = counts_of_page(at_first, *place), counts_of_page(at_high, *place)
    assert screen.counts() == counts
    assert counts["FP"] + counts["FN"] > 0, "the worst page comes first"
    signature = page.locator(".ls-title span")
    assert signature.inner_text().startswith(signed)
    # A box under the pointer says what it is.
    page.mouse.move(*screen.middle(next(key for key in screen.places()["boxes"] if key.startswith("p"))))
    page.locator(".tooltip:visible").wait_for()
    page.mouse.move(5, 5)
    # The threshold matches anew by the rule of the protocol, on the same page.
    slider = page.get_by_role("slider", name="IoU threshold")
    slider.focus()
    page.keyboard.press("End")
    assert wanted != counts, "the test needs a page where the threshold matters"
    screen.wait(lambda: screen.where() == place and screen.counts() == wanted, f"counts at {high}: {wanted}")
    screen.wait(lambda: screen.address().get("iou") == str(high), "the threshold in the address")
    screen.settled()
    # A verdict waits for a name, and is kept under it.
    slider.blur()
    judged_next(screen)
    screen.go("Compare")
    page.locator(".net-page").first.wait_for()
    assert signature.inner_text().startswith(signed)
    assert f"{high}" in signature.inner_text()
    assert "Key numbers" in packed(screen, tmp_path / "pack.html", signed)


def judged_next(screen: Screen) -> None:
    """The first verdict, on the next mistake: it waits for a name, and is kept under it."""
    page = screen.page
    page.keyboard.press("n")
    page.get_by_role("button", name="Model wrong").click()
    name = page.get_by_role("textbox", name="Your name, needed for verdicts")
    name.wait_for()
    name.fill("Ada")
    name.press("Enter")
    page.locator(".verdict-state", has_text="Ada, ").wait_for()


def packed(screen: Screen, path: Path, signed: str, also: str = "", judged: str = "") -> str:
    """A pack of the numbers, made in its view, with findings where a judged thing is named: the pack has it.

    Pictures of pages are the matter of other tests.
    """
    page = screen.page
    screen.go("Review pack")
    for title in ("Maximum findings", "Maximum pages with a picture")[bool(judged) :]:
        slider = page.get_by_role("slider", name=title)
        slider.focus()
        page.keyboard.press("Home")
        screen.wait(lambda slider=slider: slider.input_value() == "0", f"none: {title}")  # type: ignore[misc]
        screen.settled()
    if also:
        page.get_by_test_id("stButtonGroup").get_by_text(also, exact=True).click()
        screen.settled()
    page.get_by_role("button", name="Make the pack").click()
    button = page.get_by_role("button", name="Download review-pack.html")
    button.wait_for(timeout=120_000)
    with page.expect_download() as waiting:
        button.click()
    waiting.value.save_as(path)
    written = path.read_text(encoding="utf-8")
    assert signed in written
    assert judged in written
    assert not judged or "Ambiguous" in written
    return written


def panes_of(screen: Screen, kind: str) -> str:
    """Compare on a kind: a box is marked and explained in both panes, judged, and the keys walk on; what was judged."""
    page = screen.page
    screen.go("Compare")
    page.get_by_role("combobox", name="Compare").click()
    page.get_by_role("option", name=kind, exact=True).click()
    screen.wait(lambda: screen.address().get("compare") == kind.lower(), "the kind in the address")
    screen.settled()
    page.locator(".pair-pane .chips.ready").nth(1).wait_for(state="attached")
    assert page.locator(".pair-pane .box.differs").count() > 0
    page.locator(".pair-pane").first.focus()
    page.keyboard.press("n")
    page.locator(".pair-pane .marked").first.wait_for(state="attached")
    said = page.locator(".pair-said").inner_text().strip()
    assert said
    # The choice is sent after a rest, and is still there when it was answered.
    screen.wait(lambda: "chosen" in screen.address(), "the chosen box in the address")
    screen.settled()
    assert page.locator(".pair-pane .marked").count() > 0
    assert page.locator(".pair-said").inner_text().strip() == said
    # The pointer on the chosen box; the pages may still move to it.
    where = "(node) => { const r = node.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; }"
    tooltip = page.locator(".tooltip:visible").first

    def hovered() -> bool:
        x, y = page.locator(".pair-pane .marked").first.evaluate(where)
        page.mouse.move(x + 1, y)
        page.mouse.move(x, y)
        screen.painted()
        return bool(tooltip.is_visible())

    screen.wait(hovered, "the facts of the box under the pointer")
    page.mouse.move(5, 5)
    judged = judged_here(screen)
    # Zoom is of both panes.
    page.locator(".pair-pane").first.focus()
    page.keyboard.press("+")
    places = page.locator(".pair-pane .sheet")
    sizes = [places.nth(at).bounding_box() for at in (0, 1)]
    assert sizes[0]["width"] == sizes[1]["width"]
    first = page.locator(".net-page.current").inner_text()
    page.keyboard.press("ArrowRight")
    screen.wait(lambda: page.locator(".net-page.current").inner_text() != first, "the next page of the list")
    screen.settled()
    assert "chosen" not in screen.address(), "a box of another page"
    return judged


def judged_here(screen: Screen) -> str:
    """A verdict on the chosen mistake, with the name where nobody has one yet; it is kept under it. Its label."""
    page = screen.page
    about = page.locator(".verdict-title").inner_text()
    page.get_by_role("button", name="Ambiguous").click()
    name = page.get_by_role("textbox", name="Your name, needed for verdicts")
    kept = page.locator(".verdict-state", has_text="Ada, ")
    screen.wait(lambda: bool(name.is_visible() or kept.count()), "the verdict, or who gives it")
    if name.is_visible():
        name.fill("Ada")
        name.press("Enter")
    kept.wait_for()
    assert page.get_by_role("button", name="Ambiguous").get_attribute("aria-pressed") == "true"
    screen.settled()
    return str(about.rpartition(" \u00b7 ")[2])


def test_pixels_from_the_worst_page_to_the_pack(
    visit: Callable[..., Screen], sample_server: str, tmp_path: Path
) -> None:
    screen = visit(sample_server).open("pixel_confusion")
    page = screen.page
    signature = page.locator(".ls-title span")
    assert signature.inner_text().startswith("pixel 2020")
    page.locator(".tint-caption", has_text="pixels").wait_for()
    assert "no pixel of this cell" not in page.locator(".tint-caption").inner_text(), "the worst page comes first"
    cell = page.locator(".layoutscope-matrix [role=gridcell]").nth(1)
    cell.hover()
    slider = page.get_by_role("slider", name="Minimum score, A")
    slider.focus()
    page.keyboard.press("End")
    screen.wait(lambda: "score ≥ 1" in signature.inner_text(), "the threshold in the signature")
    page.keyboard.press("Home")
    screen.wait(lambda: "score ≥ 0.00" in signature.inner_text(), "the threshold back at its start")
    screen.settled()
    judged = panes_of(screen, "Pixels")
    packed(screen, tmp_path / "pack.html", "pixel 2020", "Multi-label pixel confusion", judged)


def test_fields_from_the_worst_page_to_the_pack(
    visit: Callable[..., Screen], sample_server: str, tmp_path: Path
) -> None:
    screen = visit(sample_server).open("fields")
    page = screen.page
    page.locator(".chips.ready").wait_for(state="attached")
    counts = screen.counts()
    assert counts["FP"] + counts["FN"] > 0, "the worst page comes first"
    page.mouse.move(*screen.middle(next(key for key in screen.places()["boxes"] if key.startswith("p"))))
    page.locator(".tooltip:visible").wait_for()
    page.mouse.move(5, 5)
    slider = page.get_by_role("slider", name="IoU threshold")
    slider.focus()
    page.keyboard.press("End")
    screen.wait(lambda: screen.address().get("field_iou") == "0.95", "the threshold in the address")
    screen.settled()
    slider.blur()
    judged_next(screen)
    judged = panes_of(screen, "Fields")
    assert screen.address().get("field_iou") == "0.95"
    packed(screen, tmp_path / "pack.html", "fields 1.0", "Field bounding-box mAP", f": {judged}")


def test_posters_from_the_worst_poster_to_the_pack(
    visit: Callable[..., Screen], sample_server: str, tmp_path: Path
) -> None:
    screen = visit(sample_server).open("posters", poster="seed-bank")
    page = screen.page
    page.locator(".chips.ready").wait_for(state="attached")
    page.mouse.move(*screen.middle(next(iter(screen.places()["boxes"]))))
    page.locator(".tooltip:visible").wait_for()
    page.mouse.move(5, 5)
    signature = page.locator(".ls-title span")
    assert "profile documented" in signature.inner_text()
    page.get_by_text("Published", exact=True).first.click()
    screen.wait(lambda: "profile published" in signature.inner_text(), "the other profile")
    page.get_by_text("Documented", exact=True).first.click()
    screen.wait(lambda: "profile documented" in signature.inner_text(), "the first profile")
    screen.settled()
    judged = panes_of(screen, "Posters")
    assert page.locator("[class*=st-key-compare_texts] .ls-text").count() == 2
    screen.go("Findings")
    assert "Ambiguous" in screen.text()
    packed(screen, tmp_path / "pack.html", "posters 1", "Poster text validation", f": {judged}")
