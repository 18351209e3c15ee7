"""The small picture of a suspect in the queue: the part of the page, the ground truth now, and what is proposed.

Owns the picture as an image of its own, because a cell of a table shows one image, and where a box is on a page.
Coordinates are shares of the displayed page, origin top left.
"""

from __future__ import annotations

import base64
from typing import Final

import numpy as np

from evaluator.drawing.payloads import CropItem, Rect
from evaluator.model.dataset import Dataset

_WIDTH: Final = 340.0
# The colours of a missed box and of a correction; paper stays white in the dark theme.
_NOW, _PROPOSED = "#5E35B1", "#1B2430"


def shares_of(dataset: Dataset, page: int, box: Rect) -> Rect | None:
    """A box of a file as shares of its page; None where the box is in pixels and no file gives the page's size.

    Parameters
    ----------
    page : int
        Row of the page in the dataset.
    """
    if dataset.ground_truth.source.unit == "page":
        return box
    width, height = dataset.page_size[page].tolist()
    if not (np.isfinite(width) and np.isfinite(height) and width > 0 and height > 0):
        return None
    x1, y1, x2, y2 = box
    return x1 / width, y1 / height, x2 / width, y2 / height


def small_picture(crop: CropItem, *, now: Rect | None, proposed: Rect | None) -> str | None:
    """A crop with the box as it is, dashed, and as it should be, as a ``data:`` URL of an SVG image.

    Returns
    -------
    str or None
        None where the page could not be drawn.
    """
    if crop.image is None:
        return None
    height = _WIDTH / crop.aspect
    left, top, right, bottom = crop.region

    def rectangle(box: Rect, style: str) -> str:
        x, width = ((box[at] - start) / (right - left) * _WIDTH for at, start in ((0, left), (2, box[0])))
        y, tall = ((box[at] - start) / (bottom - top) * height for at, start in ((1, top), (3, box[1])))
        return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" {style}/>'

    parts = [f'<image href="{crop.image}" width="{_WIDTH:.0f}" height="{height:.1f}" preserveAspectRatio="none"/>']
    if proposed is not None:
        parts.append(rectangle(proposed, f'fill="none" stroke="{_PROPOSED}" stroke-width="6"'))
    if now is not None:
        style = f'fill="{_NOW}" fill-opacity="0.1" stroke="{_NOW}" stroke-width="5" stroke-dasharray="14 8"'
        parts.append(rectangle(now, style))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:.0f}" height="{height:.1f}" '
        f'viewBox="0 0 {_WIDTH:.0f} {height:.1f}">{"".join(parts)}</svg>'
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
