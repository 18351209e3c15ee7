"""Shapes with a stated extent in a ground truth: masks and ellipses of CVAT and Label Studio, as boxes and outlines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.formats import cvat, label_studio
from evaluator.formats.masks import label_studio_rectangles, row_rectangles
from evaluator.project import evaluate
from tests import reading
from tests.formats.test_coco_masks import masks, painted
from tests.formats.test_readers_cvat import file, image
from tests.formats.test_readers_label_studio import task
from tests.reading import outlines, warned

FOLDER = Path(__file__).parent / "cvat_shapes"
ELLIPSE = '<ellipse label="Figure" cx="50" cy="40" rx="30" ry="10" {}/>'
MASK = '<mask label="Figure" rle="{}" left="{}" top="20" width="3" height="2"/>'


@pytest.mark.parametrize("polygons", [False, True])
def test_masks_and_ellipses_are_counted(polygons: bool) -> None:
    (evaluation,) = evaluate("snapshot", FOLDER / "gt.xml", [FOLDER / "pred.json"], iou=[0.5], polygons=polygons)
    numbers: Any = evaluation.to_json()["thresholds"]["0.5"]["micro"]  # type: ignore[index]
    assert {key: numbers[key] for key in ("tp", "fp", "fn")} == {"tp": 3, "fp": 0, "fn": 1}
    assert numbers["f1"] == pytest.approx(6 / 7)
    assert evaluation.issues == ()


def in_cvat(*shapes: str) -> Annotations:
    return reading.read(cvat.FORMAT, file(image(*shapes)), "c.xml")


def test_masks_of_cvat() -> None:
    # Pixels 1 to 4 of 3 a row: the right two of the first row, the left two of the second.
    source = in_cvat(MASK.format("1, 4, 1", 10), MASK.format("0,6", 1.5), MASK.format("6", 0))
    assert source.boxes.xyxy.tolist() == [[10, 20, 13, 22], [1.5, 20, 4.5, 22], [0, 20, 3, 22]]
    ring = [[11, 20], [13, 20], [13, 21], [11, 21]]
    assert sorted(outlines(source)[0]) == [[[10, 21], [12, 21], [12, 22], [10, 22]], ring]
    assert list(outlines(source)) == [0, 1]
    assert source.issues == ()


@pytest.mark.parametrize(
    ("rle", "why"),
    [
        ("1, 4", "the runs must fill the mask"),
        ("", "rle must be whole numbers with commas between them"),
        ("1, -4, 9", "rle must be whole numbers with commas between them"),
    ],
)
def test_a_mask_with_broken_runs_is_its_stated_extent(rle: str, why: str) -> None:
    source = in_cvat(MASK.format(rle, 10))
    assert source.boxes.xyxy.tolist() == [[10, 20, 13, 22]]
    assert not source.boxes.polygons
    assert warned(source) == [
        "c.xml: line 3, <mask>: the runs of a mask, rle, must fill its width and height (CVAT for images 1.1); found "
        f"{why}. Its box is used; export the mask again."
    ]


def test_ellipses_of_cvat() -> None:
    turned = (ELLIPSE.format(f'rotation="{angle}"') for angle in (90, 45))
    source = in_cvat(ELLIPSE.format(""), *turned)
    half = math.sqrt((30**2 + 10**2) / 2)
    boxes = [[20, 30, 80, 50], [40, 10, 60, 70], [50 - half, 40 - half, 50 + half, 40 + half]]
    assert source.boxes.xyxy == pytest.approx(np.array(boxes))
    # Clockwise on screen: the right end goes to the lower right.
    assert source.boxes.polygons[2][0][0] == pytest.approx([50 + 450**0.5, 40 + 450**0.5])
    for (ring,) in source.boxes.polygons.values():
        x, y = ring.T
        assert len(ring) == 64
        assert abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2 == pytest.approx(math.pi * 300, rel=0.002)


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (ELLIPSE.replace('"10"', '"-1"'), "line 3, <ellipse>: rx and ry must not be negative (CVAT for images 1.1); "
         "found [30, -1]. Correct the ellipse, or remove it."),
        (ELLIPSE.replace('"50"', '"x"'), 'line 3, <ellipse>: cx must be a finite number (CVAT for images 1.1); found '
         '"x". Correct it.'),
        (MASK.replace('"3"', '"-3"').format("6", 10), "line 3, <mask>: width and height must not be negative (CVAT for "
         "images 1.1); found [-3, 2]. Correct the mask, or remove it."),
        (MASK.replace('left="{}" ', ""), "line 3, <mask>: left must be a finite number (CVAT for images 1.1); found "
         "none. Correct it."),
    ],
)  # fmt: skip
def test_shapes_of_cvat_without_an_extent_are_refused(shape: str, sentence: str) -> None:
    assert reading.refused(cvat.FORMAT, file(image(shape.format("", ""))), "c.xml") == [f"c.xml: {sentence}"]


def packed(values: Sequence[int], *, sizes: Sequence[int] = (2, 3, 8, 16)) -> list[int]:
    """The bytes of the format rle-pack, with the shortest length that fits."""
    bits = f"{len(values):032b}{7:05b}" + "".join(f"{size - 1:04b}" for size in sizes)
    at = 0
    while at < len(values):
        stop = at + 1
        while stop < len(values) and values[stop] == values[at] and stop - at < 1 << sizes[-1]:
            stop += 1
        repeated = stop - at > 2
        stop = stop if repeated else min(at + 2, len(values))
        slot = next(slot for slot, size in enumerate(sizes) if stop - at - 1 < 1 << size)
        bits += f"{repeated:b}{slot:02b}{stop - at - 1:0{sizes[slot]}b}"
        bits += "".join(f"{value:08b}" for value in ([values[at]] if repeated else values[at:stop]))
        at = stop
    bits += "0" * (-len(bits) % 8)
    return [int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)]


def rgba(pixels: np.ndarray) -> list[int]:
    """The values of a brush: colours that vary, and alpha where the mask is."""
    colours = np.arange(pixels.size * 3).reshape(*pixels.shape, 3) % 5
    return np.dstack([colours, pixels * 255]).astype(int).ravel().tolist()


@given(seed=st.integers(0, 10**6), height=st.integers(1, 30), width=st.integers(1, 30))
def test_runs_along_rows_and_brushes_have_the_pixels_of_the_mask(seed: int, height: int, width: int) -> None:
    pixels = masks(seed, height, width)
    flat = pixels.ravel()
    edges = [0, *(np.flatnonzero(np.diff(flat)) + 1).tolist(), len(flat)]
    runs = [0, *np.diff(edges).tolist()] if flat[0] else np.diff(edges).tolist()
    assert (painted(row_rectangles(runs, width, height), height, width) == pixels).all()
    assert (painted(label_studio_rectangles(packed(rgba(pixels)), width, height), height, width) == pixels).all()


def brush(pixels: np.ndarray, rle: object = None, **more: object) -> dict[str, Any]:
    height, width = pixels.shape
    value = {"format": "rle", "rle": packed(rgba(pixels)) if rle is None else rle, "brushlabels": ["Figure"]}
    return {"id": "b", "type": "brushlabels", "original_width": width, "original_height": height, "value": value} | more


def ellipse(**more: object) -> dict[str, Any]:
    value = {"x": 50, "y": 25, "radiusX": 20, "radiusY": 5, "rotation": 0, "ellipselabels": ["Figure"], **more}
    return {"id": "e", "type": "ellipselabels", "original_width": 100, "original_height": 200, "value": value}


def in_label_studio(*results: object) -> Annotations:
    return reading.read(label_studio.FORMAT, json.dumps([task(*results)]).encode(), "l.json")


PIXELS = np.zeros((4, 10), dtype=bool)
PIXELS[1:3, 2:7] = True


def test_shapes_of_label_studio() -> None:
    source = in_label_studio(brush(PIXELS), ellipse() | {"original_width": 10, "original_height": 4})
    assert source.boxes.xyxy == pytest.approx(np.array([[0.2, 0.25, 0.7, 0.75], [0.3, 0.2, 0.7, 0.3]]))
    assert outlines(source)[0] == [[[0.2, 0.25], [0.7, 0.25], [0.7, 0.75], [0.2, 0.75]]]
    assert source.issues == ()
    # Turned in pixels: radii of 20 and 10 exchange their sides of a page of 100 x 200.
    turned = in_label_studio(ellipse(rotation=90))
    assert turned.boxes.xyxy == pytest.approx(np.array([[0.4, 0.15, 0.6, 0.35]]))
    assert len(turned.boxes.polygons[0][0]) == 64


def test_shapes_with_labels_of_their_own_and_of_json_min() -> None:
    bare = brush(PIXELS, type="brush")
    bare["value"] = {key: bare["value"][key] for key in ("format", "rle")}
    labels = {"id": "b", "type": "labels", "value": {"format": "rle", "rle": [1], "labels": ["Logo"]}}
    source = in_label_studio(bare, labels)
    assert (source.labels, source.boxes.xyxy.tolist()) == (("Logo",), [[0.2, 0.25, 0.7, 0.75]])
    shape, sizes = brush(PIXELS), {"original_width": 10, "original_height": 4}
    record = {"id": 1, "image": "a.png", "tag": [shape["value"] | sizes, ellipse()["value"] | sizes], "annotator": 1}
    content = json.dumps([record]).encode()
    assert formats.detect_bytes(content, "l.json") == "label-studio"
    assert len(reading.read(label_studio.FORMAT, content, "l.json").boxes) == 2


def test_a_brush_without_a_pixel_is_left_out_and_said() -> None:
    source = in_label_studio(brush(PIXELS), *[brush(PIXELS & False)] * 2)
    assert len(source.boxes) == 1
    assert warned(source) == [
        "l.json: $[0].annotations[0].result[1]: a brush mask should have a pixel (Label Studio); found 2 without. They "
        "are left out; remove them, or paint them."
    ]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (brush(PIXELS, [0, 1, 1, 2]), "rle ends too early"),
        (brush(PIXELS, packed([0] * 8)), "the runs must fill the mask"),
        (brush(PIXELS, packed(rgba(PIXELS))[:-2]), "rle ends too early"),
        (brush(PIXELS, [300]), "rle must be bytes"),
        (brush(PIXELS, "x"), "rle must be a list of bytes"),
        (brush(PIXELS, original_width=0), "no original_width and original_height above 0"),
    ],
)
def test_a_brush_that_cannot_be_read_is_refused(result: dict[str, Any], why: str) -> None:
    assert reading.refused(label_studio.FORMAT, json.dumps([task(result)]).encode(), "l.json") == [
        "l.json: $[0].annotations[0].result[0].value: a brush mask must have an rle of original_width x "
        f"original_height pixels (Label Studio); found {why}. Export the file again, or remove the mask."
    ]


def test_an_ellipse_with_a_negative_radius_is_refused() -> None:
    content = json.dumps([task(ellipse(radiusY=-1))]).encode()
    assert reading.refused(label_studio.FORMAT, content, "l.json") == [
        "l.json: $[0].annotations[0].result[0].value: radiusX and radiusY must not be negative (Label Studio); found "
        "[20, -1]. Correct the region, or remove it."
    ]
