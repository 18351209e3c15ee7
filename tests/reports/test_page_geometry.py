"""Stated geometry of pages: other sizes on some pages are rescaled or said, in every protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.page_sizes import on_same_pages
from evaluator.project import evaluate
from tests.terminal import run_command

PAGES, WIDTH, HEIGHT = 5, 1000, 1400
BOXES = [(100, 60, 600, 140), (52, 240, 518, 183), (177, 460, 525, 205)]
RESCALED = (
    "pred.json: both files should state one size for a page; its boxes are rescaled to the size in the ground truth; "
    "found {}. Nothing to do if both are images of one page."
)
AS_WRITTEN = (
    "pred.json: two sizes of a page should be in proportion; its boxes are compared as they are written; found {}. "
    "Correct the sizes, or give both sides the same images: the pages may be turned or cut."
)


def coco(path: Path, scales: dict[int, tuple[float, float]], *, score: float | None = None) -> Path:
    """A COCO file of five pages with three boxes; some pages at another scale in x and y, as their sizes state."""
    images, rows = [], []
    for page in range(PAGES):
        across, down = scales.get(page, (1.0, 1.0))
        size = {"width": int(WIDTH * across), "height": int(HEIGHT * down)}
        images.append({"id": page, "file_name": f"p{page}.png", **size})
        for x, y, w, h in BOXES:
            row = {"id": len(rows) + 1, "image_id": page, "category_id": 1, "iscrowd": 0, "area": w * h * across * down}
            row["bbox"] = [x * across, y * down, w * across, h * down]
            rows.append(row if score is None else {**row, "score": score})
    tree = {"images": images, "annotations": rows, "categories": [{"id": 1, "name": "Text"}]}
    path.write_text(json.dumps(tree))
    return path


def value(protocol: str, truth: Path, prediction: Path) -> tuple[float, list[str]]:
    """AP, or F1 at the first threshold, and the sentences."""
    (evaluation,) = evaluate(protocol, truth, [prediction])
    result: Any = evaluation.result
    number = evaluation.to_json()["AP"] if protocol == "coco" else result.first.micro.row(0)["f1"]
    return number, [issue.sentence for issue in evaluation.issues]


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return coco(tmp_path / "gt.json", {})


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod"])
@pytest.mark.parametrize("scale", [1.25, 0.5, 0.333, 2.0])
def test_pages_at_another_stated_scale_are_rescaled(truth: Path, protocol: str, scale: float) -> None:
    prediction = coco(truth.with_name("pred.json"), {0: (scale, scale), 3: (scale, scale)}, score=0.9)
    size = f"({int(WIDTH * scale)} x {int(HEIGHT * scale)} instead of 1000 x 1400)"
    number, sentences = value(protocol, truth, prediction)
    assert number == pytest.approx(1.0, abs=1e-12)
    assert sentences.count(RESCALED.format(f"2 of 5 pages: p0, page 1 {size}; p3, page 1 {size}")) == 1


def test_pixels_are_those_of_the_ground_truth(truth: Path) -> None:
    prediction = coco(truth.with_name("pred.json"), dict.fromkeys(range(4), (2.0, 2.0)), score=0.9)
    (evaluation,) = evaluate("pixel", truth, [prediction])
    assert evaluation.result.size.tolist() == [[WIDTH, HEIGHT]] * PAGES  # type: ignore[attr-defined]
    assert [number for row, column, number in evaluation.result.counts.triples(0) if row != column] == []  # type: ignore[attr-defined]
    size = "(2000 x 2800 instead of 1000 x 1400)"
    said = f"4 of 5 pages: p0, page 1 {size}; p1, page 1 {size}; p2, page 1 {size} and 1 more"
    assert [issue.sentence for issue in evaluation.issues] == [RESCALED.format(said)]


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pixel"])
def test_sizes_out_of_proportion_leave_the_numbers_as_written(truth: Path, protocol: str) -> None:
    tree = json.loads(coco(truth.with_name("pred.json"), {}, score=0.9).read_text())
    tree["images"][1] |= {"width": 1400, "height": 1000}
    truth.with_name("pred.json").write_text(json.dumps(tree))
    (evaluation,) = evaluate(protocol, truth, [truth.with_name("pred.json")])
    said = AS_WRITTEN.format("1 of 5 pages: p1, page 1 (1400 x 1000 instead of 1000 x 1400)")
    assert said in [issue.sentence for issue in evaluation.issues]
    read = formats.read(truth.with_name("pred.json"), side="prediction")
    placed = formats.resolve(read, formats.read(truth))
    assert placed.boxes.xyxy.tolist() == read.boxes.xyxy.tolist()
    assert on_same_pages(placed, formats.read(truth)) is placed


def test_equal_sizes_are_left_alone(truth: Path) -> None:
    read = formats.read(coco(truth.with_name("pred.json"), {}, score=0.9), side="prediction")
    assert formats.resolve(read, formats.read(truth)) is read


def test_the_areas_are_those_of_the_pixels_of_the_ground_truth(truth: Path) -> None:
    """A quarter of the scale makes boxes small for themselves; they are large in the ground truth."""
    prediction = coco(truth.with_name("pred.json"), dict.fromkeys(range(PAGES), (0.125, 0.125)), score=0.9)
    (evaluation,) = evaluate("coco", truth, [prediction])
    numbers = evaluation.to_json()
    assert (numbers["APl"], numbers["APs"], numbers["ARl"]) == (1.0, None, 1.0)


def test_check_says_it_too(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prediction = coco(truth.with_name("pred.json"), {1: (1.5, 1.5)}, score=0.9)
    code, out, _ = run_command(capsys, "check", truth, prediction)
    said = RESCALED.format("1 of 5 pages: p1, page 1 (1500 x 2100 instead of 1000 x 1400)")
    assert (code, out) == (0, f"warning: {said}\n2 checked: 0 errors, 1 warning\n")
