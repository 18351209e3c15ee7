"""COCO in a real Chromium: outlines on the page, and what is compared."""

import json
from pathlib import Path

import pytest

from tests.browser.conftest import Visit, dashboard

pytestmark = [pytest.mark.browser]
LOWER, UPPER = [0, 0, 40, 40, 0, 40], [0, 0, 40, 0, 40, 40]


def test_coco_by_boxes_and_by_the_outlines_on_the_page(visit: Visit, tmp_path: Path) -> None:
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
        assert "coco 2.0 · IoU ≥ 0.50" in screen.signature()
        screen.opened("models").get_by_text("Compare outlines").click()
        screen.addressed(polygons="yes").page.keyboard.press("Escape")
        assert "polygon IoU ≥ 0.50" in screen.signature()
        screen.settled().go("Pages")
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
        screen.page.locator(".box-facts", has_text="Text").wait_for()
        assert screen.page.locator("[data-testid=stException]").count() == 0
        screen.leave()
