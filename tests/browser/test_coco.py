"""COCO and POD in a real Chromium: from the worst page to the pack, outlines on the page, and the ranking of models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.project import evaluate_together
from evaluator.protocols import box_protocols
from evaluator.protocols.base import BoxEvaluation
from tests.browser.conftest import Screen, dashboard
from tests.dashboard import SAMPLE_DATA

pytestmark = [pytest.mark.browser]
LOWER, UPPER = [0, 0, 40, 40, 0, 40], [0, 0, 40, 0, 40, 40]


def test_coco_from_the_outline_on_the_page_to_the_ranking(visit: Callable[..., Screen], tmp_path: Path) -> None:
    # Equal triangles on the first page, opposite ones of the same box on the second.
    box = {"category_id": 1, "bbox": [0, 0, 40, 40], "area": 800, "iscrowd": 0}
    truth = {
        "images": [{"id": number, "width": 80, "height": 80, "file_name": f"{number}.png"} for number in (1, 2)],
        "categories": [{"id": 1, "name": "Text"}],
        "annotations": [{**box, "id": number, "image_id": number, "segmentation": [LOWER]} for number in (1, 2)],
    }
    predicted = [{**box, "image_id": 1, "segmentation": [LOWER], "score": 0.5}]
    predicted += [{**box, "image_id": 2, "segmentation": [UPPER], "score": 0.9}]
    (tmp_path / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    for name in ("first.json", "second.json"):
        (tmp_path / name).write_text(json.dumps(predicted), encoding="utf-8")
    words = [str(tmp_path), "--gt", str(tmp_path / "truth.json")]
    words += [word for name in ("first.json", "second.json") for word in ("--pred", str(tmp_path / name))]
    with dashboard(tmp_path, "open", *words) as url:
        screen = visit(url).open("", protocol="coco")
        assert "coco 2.0 · IoU ≥ 0.50" in screen.text()
        screen.page.get_by_text("Compare outlines").click()
        screen.wait(lambda: "polygon IoU ≥ 0.50" in screen.text(), "the signature of outlines")
        screen.settled().go("Page browser")
        # The page of the opposite triangles is the worst one now; both outlines lie in the place of their box.
        assert screen.counts() == {"TP": 0, "FP": 1, "FN": 1}
        shapes = screen.page.locator(".by-outline .shape path")
        assert shapes.count() == 2
        assert {shapes.nth(at).get_attribute("d") for at in (0, 1)} == {
            "M0 0L5000 5000L0 5000Z",
            "M0 0L5000 0L5000 5000Z",
        }
        drawn, place = shapes.first.bounding_box(), screen.places()["boxes"]["g1"]
        assert drawn is not None
        # Chromium adds the points of the line at sharp corners.
        assert abs(drawn["x"] - place[0]) < 6
        assert abs(drawn["y"] + drawn["height"] - place[3]) < 6
        screen.page.mouse.move(*screen.middle("g1"))
        screen.page.locator(".tooltip", has_text="Text").wait_for()
        screen.open("models", protocol="coco", polygons="yes", rank_by="AP")
        assert "AP: of all predictions" in screen.text()
        assert screen.page.locator("[data-testid=stException]").count() == 0
        screen.leave()


def result_at(protocol: str, iou: float) -> AnyBoxResult:
    """The first model of the sample at a threshold, by the rule of the protocol and without the dashboard."""
    system = box_protocols()[protocol]
    (evaluated,) = evaluate_together(protocol, SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json"])
    assert isinstance(evaluated.result, BoxEvaluation)
    options = system.options()
    result: AnyBoxResult = system.match(system.pair(evaluated.result.evaluated, 0, options), options).at(iou)
    return result


def counts_of_page(result: AnyBoxResult, document: str, number: int) -> dict[str, int]:
    """Numbers on the toggles of a page of the page browser."""
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


@pytest.mark.parametrize(("protocol", "title"), [("coco", "coco 2.0"), ("pod", "pod 2017")])
def test_from_the_worst_page_to_the_pack(
    visit: Callable[..., Screen], sample_server: str, tmp_path: Path, protocol: str, title: str
) -> None:
    screen = visit(sample_server).open("", protocol=protocol)
    assert title in screen.text()
    screen.go("Page browser")
    place = screen.where()
    counts = counts_of_page(result_at(protocol, 0.5), *place)
    assert screen.counts() == counts
    assert counts["FP"] + counts["FN"] > 0, "the worst page comes first"
    # A box under the pointer says what it is.
    screen.page.mouse.move(*screen.middle(next(key for key in screen.places()["boxes"] if key.startswith("p"))))
    screen.page.locator(".tooltip:visible").wait_for()
    screen.page.mouse.move(5, 5)
    # The threshold matches anew by the rule of the protocol.
    slider = screen.page.get_by_role("slider", name="IoU threshold")
    slider.focus()
    for _ in range(25):
        screen.page.keyboard.press("ArrowRight")
    wanted = counts_of_page(result_at(protocol, 0.75), *place)
    assert wanted != counts, "the test needs a page where the threshold matters"
    screen.wait(lambda: screen.where() == place and screen.counts() == wanted, f"counts at 0.75: {wanted}")
    screen.wait(lambda: screen.address().get("iou") == "0.75", "the threshold in the address")
    screen.settled()
    # A verdict, kept under a name.
    page = screen.page
    page.locator(".mistake").first.evaluate("node => node.click()")
    page.get_by_role("button", name="Model wrong").click()
    name = page.get_by_role("textbox", name="Your name, needed for verdicts")
    state = page.locator(".verdict-state", has_text="Ada, ")
    name.or_(state).first.wait_for()
    if name.is_visible():
        name.fill("Ada")
        name.press("Enter")
    state.wait_for()
    screen.go("Compare")
    page.locator(".net-page").first.wait_for()
    assert "0.75" in page.locator(".ls-title span").inner_text()
    screen.go("Review pack")
    # Its numbers alone: drawing pages is the matter of other tests.
    for title_of_slider in ("Maximum findings", "Maximum pages with a picture"):
        slider = page.get_by_role("slider", name=title_of_slider)
        slider.focus()
        page.keyboard.press("Home")
        screen.wait(lambda slider=slider: slider.input_value() == "0", f"none: {title_of_slider}")  # type: ignore[misc]
        screen.settled()
    page.get_by_role("button", name="Make the pack").click()
    button = page.get_by_role("button", name="Download review-pack.html")
    button.wait_for(timeout=120_000)
    with page.expect_download() as waiting:
        button.click()
    waiting.value.save_as(tmp_path / "pack.html")
    written = (tmp_path / "pack.html").read_text(encoding="utf-8")
    assert title in written
    assert "Key numbers" in written
