"""The pixels of one cell of a pixel confusion matrix on one page, with the boxes that explain them.

Positions are shares of the displayed page. Rectangles lie on whole pixels of the raster, boxes keep their edges.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from evaluator.components.payload import Rect
from evaluator.components.tint.payload import TintBoxItem, TintItem
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.issues import displayed
from evaluator.metrics.pixel_counts import Resolution
from evaluator.protocols.pixel.evaluation import PixelResult

MOST_BOXES: Final = 80
"""Boxes that are drawn with the pixels; the rest is counted in ``left_out``."""


def tint_data(
    result: PixelResult, page: int, row: int, column: int, *, names: tuple[str, str] = ("True", "Predicted")
) -> TintItem:
    """Return what is drawn on one counted page row for one cell; `names` are the chips of the sides."""
    region = result.cell_region(page, row, column)
    boxes, left_out = _boxes(result, page, row, column, region.rectangles)
    return TintItem(
        raster=result.extent[page].tolist(),
        rectangles=region.rectangles.tolist(),
        outline=region.outline.tolist(),
        pixels=region.pixels,
        boxes=[
            TintBoxItem(
                xyxy=xyxy,
                side="prediction" if side else "ground_truth",
                text=displayed(f"{names[side]} {result.classes[code]}"),
            )
            for side, code, xyxy in boxes
        ],
        left_out=left_out,
    )


def _boxes(
    result: PixelResult, page: int, row: int, column: int, rectangles: IntArray
) -> tuple[list[tuple[int, int, Rect]], int]:
    extent = result.extent[page]
    sides = [_on_page(side, page) for side in result.on_page(page)]
    wanted = (row, column)
    drawn = [
        (xyxy[(bit == code) & _meets(xyxy, rectangles)] if code else xyxy[:0])
        for (bit, xyxy), code in zip(sides, wanted, strict=True)
    ]
    codes = list(wanted)
    for side in (0, 1):
        other = 1 - side
        if not wanted[side] and wanted[other]:
            bit, xyxy = sides[side]
            drawn[side] = xyxy[(bit == wanted[other]) & _meets(xyxy, drawn[other])]
            codes[side] = wanted[other]
    boxes = [
        (side, codes[side], (xyxy / np.concatenate([extent, extent])).tolist())
        for side in (0, 1)
        for xyxy in drawn[side]
    ]
    return boxes[:MOST_BOXES], max(len(boxes) - MOST_BOXES, 0)


def _on_page(side: Resolution, page: int) -> tuple[IntArray, FloatArray]:
    """Return class and edges of the boxes of one page, in pixels of its raster, not rounded."""
    xyxy = side.xyxy
    if side.scale is not None:
        xyxy = xyxy * np.tile(side.scale[page], 2)
    return side.bit, np.asarray(xyxy, dtype=np.float64)


def _meets(boxes: FloatArray, others: FloatArray | IntArray) -> BoolArray:
    meets = np.zeros(len(boxes), dtype=bool)
    for x1, y1, x2, y2 in others.tolist():
        meets |= (boxes[:, 0] < x2) & (boxes[:, 2] > x1) & (boxes[:, 1] < y2) & (boxes[:, 3] > y1)
    return meets
