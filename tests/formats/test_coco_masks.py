"""COCO run-length masks and results without bbox: the pixels of pycocotools, its boxes, and its IoU."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as official  # type: ignore[import-untyped]

from evaluator import formats, project
from evaluator.data.issues import BadInput
from evaluator.formats.masks import mask_rectangles
from evaluator.project import Upload
from tests.protocols.test_protocol_coco import assert_equal_to_official, random_set, read_pair

IMAGE = {"id": 1, "file_name": "p.png", "width": 60, "height": 40}


def painted(rectangles: np.ndarray, height: int, width: int) -> np.ndarray:
    times = np.zeros((height, width), dtype=int)
    for x1, y1, x2, y2 in rectangles.astype(int).tolist():
        times[y1:y2, x1:x2] += 1
    return times


def encoded(pixels: np.ndarray, *, compressed: bool = True) -> dict[str, Any]:
    """A mask in one of the two forms of JSON, the compressed one by pycocotools."""
    if compressed:
        made = official.encode(np.asfortranarray(pixels.astype(np.uint8)))
        return {"size": list(pixels.shape), "counts": made["counts"].decode()}
    flat = pixels.ravel(order="F").astype(int)
    edges = [0, *(np.flatnonzero(np.diff(flat)) + 1).tolist(), len(flat)]
    runs = np.diff(edges).tolist()
    return {"size": list(pixels.shape), "counts": [0, *runs] if flat[0] else runs}


def masks(seed: int, height: int, width: int) -> np.ndarray:
    """A mask of some rectangles, with holes now and then."""
    draw = np.random.default_rng(seed)
    pixels = np.zeros((height, width), dtype=bool)
    for value in (True, True, False, True):
        (x1, x2), (y1, y2) = (np.sort(draw.integers(0, side + 1, 2)) for side in (width, height))
        pixels[y1:y2, x1:x2] = value
    return pixels


@given(seed=st.integers(0, 10**6), height=st.integers(1, 30), width=st.integers(1, 30), compressed=st.booleans())
def test_a_mask_has_the_pixels_of_pycocotools(seed: int, height: int, width: int, *, compressed: bool) -> None:
    pixels = masks(seed, height, width)
    rectangles = mask_rectangles(encoded(pixels, compressed=compressed))
    assert (painted(rectangles, height, width) == pixels).all()


def test_worked_by_hand() -> None:
    # 3 high, 2 wide; pixels 1 to 4 down the columns: the lower two of the first, the upper two of the second.
    rectangles = mask_rectangles({"size": [3, 2], "counts": [1, 4, 1]})
    assert rectangles.tolist() == [[0.0, 1.0, 1.0, 3.0], [1.0, 0.0, 2.0, 2.0]]
    assert mask_rectangles({"size": [3, 2], "counts": [6]}).shape == (0, 4)


@pytest.mark.parametrize(
    "mask",
    [
        {}, {"size": [2, 2]}, {"size": [2, 2], "counts": "x"}, {"size": [2, 2], "counts": [1, -1, 4]},
        {"size": [2, 2], "counts": [1, 2]}, {"size": [0, 2], "counts": [0]}, {"size": [2, True], "counts": [2]},
        {"size": [2, 2], "counts": [1.0, 3]}, {"size": [10**9, 10**9], "counts": [10**18]},
        {"size": [2, 2], "counts": "P" * 40}, {"size": [2, 2], "counts": "\u00e9"}, {"size": [2, 2], "counts": None},
        {"size": [1, 60_000], "counts": [1] * 60_000} | {"size": [60_000, 1]},
    ],
)  # fmt: skip
def test_what_is_no_mask_is_refused(mask: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a reason of its own
        mask_rectangles(mask)


def sides(truth: np.ndarray, predicted: np.ndarray) -> tuple[Upload, Upload]:
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "segmentation": encoded(truth), "area": int(truth.sum()),
                  "bbox": official.toBbox(official_of(truth)).tolist(), "iscrowd": 0}  # fmt: skip
    instances = {"images": [IMAGE], "categories": [{"id": 1, "name": "Table"}], "annotations": [annotation]}
    results = [{"image_id": 1, "category_id": 1, "segmentation": encoded(predicted), "score": 0.9}]
    named = (("gt.json", instances), ("dt.json", results))
    first, second = (Upload(name, ((name, json.dumps(content).encode()),)) for name, content in named)
    return first, second


def official_of(pixels: np.ndarray) -> Any:
    return official.encode(np.asfortranarray(pixels.astype(np.uint8)))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_results_without_bbox_have_the_box_and_the_iou_of_pycocotools(seed: int) -> None:
    truth, predicted = masks(seed, 40, 60), np.roll(masks(seed, 40, 60), 2, axis=1)
    gt, dt = sides(truth, predicted)
    read = formats.read_bytes(dt.files[0][1], "dt.json")
    x1, y1, width, height = official.toBbox(official_of(predicted)).tolist()
    assert read.boxes.xyxy.tolist() == [[x1, y1, x1 + width, y1 + height]]
    assert [issue.rule for issue in read.issues] == [
        "an entry without bbox has the box around its segmentation, as in pycocotools"
    ]
    ((iou,),) = official.iou([official_of(predicted)], [official_of(truth)], [0]).tolist()
    (evaluated,) = project.evaluate("coco", gt, [dt], polygons=True, iou=(0.05,), allow_no_match=True)
    fits = evaluated.result.first.matches.iou.tolist()  # type: ignore[attr-defined]
    assert fits == pytest.approx([iou] if iou >= 0.05 else [])


def test_the_size_of_a_result_without_bbox_is_that_of_its_mask() -> None:
    """The twelve numbers of pycocotools: masks that fill half of their box, so that many boxes are of another size."""
    instances, results = random_set(0)
    rows, columns = np.indices((300, 300))
    masked = []
    for result in results:
        x, y, width, height = (int(value) for value in result["bbox"])
        pixels = (columns >= x) & (columns < x + width) & (rows >= y) & (rows < y + height)
        pixels &= (columns - x) * max(height, 1) <= (rows - y + 1) * max(width, 1)
        if pixels.any():
            kept = {key: result[key] for key in ("image_id", "category_id", "score")}
            masked.append(kept | {"segmentation": encoded(pixels)})
    _, predicted = read_pair(instances, masked)
    assert not np.array_equal(predicted.boxes.area, predicted.boxes.box_area)
    assert_equal_to_official(instances, masked)


def test_a_file_without_any_bbox_has_the_extremes_of_points_and_one_issue_that_counts_them() -> None:
    region = {"image_id": 1, "category_id": 1, "segmentation": [[5, 5, 30, 8, 20, 30]], "score": 0.5}
    read = formats.read_bytes(json.dumps([region] * 1200).encode(), "dt.json")
    assert read.boxes.xyxy.tolist() == [[5.0, 5.0, 30.0, 30.0]] * 1200
    assert read.boxes.polygons[0][0].tolist() == [[5.0, 5.0], [30.0, 8.0], [20.0, 30.0]]
    assert [(issue.place, issue.found, issue.rule) for issue in read.issues] == [
        ("$[0]", "no bbox and 1,199 more",
         "an entry without bbox has the box around its segmentation, as in pycocotools"),
    ]  # fmt: skip


def test_without_both_an_entry_is_refused() -> None:
    result = [{"image_id": 1, "category_id": 1, "segmentation": {"size": [2, 2], "counts": "?"}, "score": 0.5}]
    with pytest.raises(BadInput, match="bbox"):
        formats.read_bytes(json.dumps(result).encode(), "dt.json")
