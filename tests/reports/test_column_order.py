"""Boxes whose numbers have another order or another meaning than the format says; the fix is found, and applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.analysis.doctor import match_check
from evaluator.data.boxes import FloatArray
from evaluator.data.fixes import apply_fixes, parse_fix
from evaluator.data.issues import BadInput
from evaluator.project import evaluate
from tests.building import annotations, box

PAGES, EACH = 12, 5
SIZE = np.array([1000.0, 1400.0])


def boxes() -> FloatArray:
    """Corners of boxes in shares of the page, page by page."""
    rng = np.random.default_rng(3)
    height, width = rng.uniform(0.08, 0.15, PAGES * EACH), rng.uniform(0.3, 0.6, PAGES * EACH)
    x, y = rng.uniform(0.05, 0.3, PAGES * EACH), np.tile(np.arange(EACH) * 0.18 + 0.02, PAGES)
    return np.stack([x, y, x + width, y + height], axis=1)


def in_form(corners: FloatArray, form: str) -> FloatArray:
    """Corners as the four numbers of a form."""
    first, second = corners[:, :2], corners[:, 2:]
    if form == "centre":
        first = (first + second) / 2.0
    numbers = corners if form == "xyxy" else np.hstack([first, second - corners[:, :2]])
    return numbers[:, [1, 0, 3, 2]] if form == "yxhw" else numbers


def yolo(folder: Path, numbers: FloatArray, *, confidence: str = "") -> Path:
    """A folder of labels; the confidence is the last column, the second, or missing."""
    (folder / "labels").mkdir(parents=True)
    (folder / "data.yaml").write_text("names: [Text, Table]\n")
    scores = np.random.default_rng(4).uniform(0.5, 0.99, (len(numbers), 1))
    columns = {"": [numbers], "last": [numbers, scores], "second": [scores, numbers]}[confidence]
    lines = [
        " ".join(f"{value:.6f}" if at else str(int(value)) for at, value in enumerate(row))
        for row in np.hstack([np.arange(len(numbers))[:, None] % 2, *columns]).tolist()
    ]
    for page in range(PAGES):
        (folder / "labels" / f"p{page:02d}.txt").write_text("\n".join(lines[EACH * page : EACH * (page + 1)]))
    return folder


def coco(path: Path, numbers: FloatArray) -> Path:
    """Instances without scores, or results of the same images as `path` says."""
    rows: list[dict[str, Any]] = [
        {"id": at + 1, "image_id": at // EACH + 1, "category_id": at % 2 + 1, "bbox": row, "area": 1.0, "iscrowd": 0}
        for at, row in enumerate(numbers.tolist())
    ]
    images = [{"id": page + 1, "file_name": f"p{page:02d}.png", "width": 1000, "height": 1400} for page in range(PAGES)]
    names = [{"id": 1, "name": "Text"}, {"id": 2, "name": "Table"}]
    results = [{key: row[key] for key in ("image_id", "category_id", "bbox")} | {"score": 0.9} for row in rows]
    whole = {"images": images, "categories": names, "annotations": rows}
    path.write_text(json.dumps(results if "results" in path.name else whole))
    return path


@pytest.mark.parametrize("pixels", [False, True], ids=["shares", "pixels"])
@pytest.mark.parametrize(
    ("form", "confidence", "options"),
    [
        ("centre", "second", ["confidence-second"]),
        ("xywh", "last", ["xywh"]),
        ("xyxy", "last", ["xyxy"]),
        ("xywh", "second", ["confidence-second", "xywh"]),
        ("xyxy", "second", ["confidence-second", "xyxy"]),
    ],
)
def test_yolo_in_another_order(tmp_path: Path, form: str, confidence: str, options: list[str], *, pixels: bool) -> None:
    truth = yolo(tmp_path / "gt", in_form(boxes(), "centre"))
    if pixels:
        truth = coco(tmp_path / "gt.json", in_form(boxes() * np.tile(SIZE, 2), "xywh"))
    prediction = yolo(tmp_path / "dt", in_form(boxes(), form), confidence=confidence)
    right = yolo(tmp_path / "right", in_form(boxes(), "centre"), confidence="last")
    diagnosis = match_check.diagnosis_of(formats.read(truth), formats.read(prediction, as_written=True))
    assert diagnosis.best is not None
    assert ([fix.text for fix in diagnosis.best.fixes], diagnosis.best.f1) == (options, 1.0)
    numbers = [
        evaluate("coco", truth, [path], fix=tuple(map(parse_fix, fixes)), page_size=(1000.0, 1400.0))[0].to_json()
        for path, fixes in ((prediction, options), (right, []))
    ]
    assert [each["AP"] for each in numbers] == [1.0, 1.0]


@pytest.mark.parametrize(("form", "option"), [("centre", "centre"), ("xyxy", "xyxy"), ("yxhw", "swap-axes")])
def test_coco_results_in_another_form(tmp_path: Path, form: str, option: str) -> None:
    pixels = boxes() * np.tile(SIZE, 2)
    truth = coco(tmp_path / "gt.json", in_form(pixels, "xywh"))
    prediction = coco(tmp_path / "results.json", in_form(pixels, form))
    diagnosis = match_check.diagnosis_of(formats.read(truth), formats.read(prediction, as_written=True))
    assert (diagnosis.option, diagnosis.best and diagnosis.best.f1) == (f"--fix {option}", 1.0)
    (evaluation,) = evaluate("coco", truth, [prediction], fix=(parse_fix(option),))
    assert evaluation.to_json()["AP"] == pytest.approx(1.0)


def test_axes_are_exchanged_in_the_shares_of_lines_whose_confidence_is_second(tmp_path: Path) -> None:
    truth = coco(tmp_path / "gt.json", in_form(boxes() * np.tile(SIZE, 2), "xywh"))
    swapped = in_form(boxes(), "centre")[:, [1, 0, 3, 2]]
    diagnosis = match_check.diagnosis_of(
        formats.read(truth), formats.read(yolo(tmp_path / "dt", swapped, confidence="second"), as_written=True)
    )
    assert (diagnosis.option, diagnosis.best and diagnosis.best.f1) == (
        "--fix confidence-second --fix units=share --fix swap-axes", 1.0,
    )  # fmt: skip


def test_what_is_said_of_a_confidence_in_the_second_column(tmp_path: Path) -> None:
    truth = yolo(tmp_path / "gt", in_form(boxes(), "centre"))
    prediction = yolo(tmp_path / "dt", in_form(boxes(), "centre"), confidence="second")
    with pytest.raises(BadInput) as problem:
        evaluate("coco", truth, [prediction], page_size=(1000.0, 1400.0))
    assert [issue.sentence for issue in problem.value.issues] == [
        "dt: boxes should match those of gt; nothing does; found F1 0.000; with the confidence read from the second "
        "column: 1.000. Apply it with --fix confidence-second, or allow the numbers as they are with --allow-no-match."
    ]


def test_boxes_without_a_confidence_have_none_in_the_second_column(tmp_path: Path) -> None:
    rule = "confidence-second needs lines without names of columns, with a number between 0 and 1 behind the class"
    source = formats.read(yolo(tmp_path / "gt", in_form(boxes(), "centre")))
    for each, found in ((source, "60 of 60 boxes without"), (annotations([box(0.1, 0.1, 0.2, 0.2)]), "snapshot")):
        with pytest.raises(BadInput) as problem:
            apply_fixes(each, source, [parse_fix("confidence-second")])
        (issue,) = problem.value.issues
        assert (issue.rule, issue.found, issue.fix) == (f"{rule} (YOLO)", found, "Leave it out.")
