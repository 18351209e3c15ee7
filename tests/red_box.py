"""Where the red rectangle of a geometry page is on its picture, to a part of a pixel."""

import io

import numpy as np
from PIL import Image

from evaluator.pdf.pool import PageImage
from tests.pdf_fixtures import RED, Geometry

MOST_OFF = 1.0
"""Pixels by which an edge may be off."""


def pixels(image: PageImage) -> np.ndarray:
    with Image.open(io.BytesIO(image.webp or image.jpeg), formats=("WEBP", "JPEG")) as opened:
        shown = np.asarray(opened.convert("RGB"))
    assert shown.shape == (image.height, image.width, 3)
    return shown


def painted_box(share: np.ndarray) -> tuple[float, float, float, float]:
    """Edges in pixels of one filled rectangle; share (H, W) in [0, 1] says how much of a pixel is painted."""
    rows, columns = np.nonzero(share.max(axis=1) > 0.5)[0], np.nonzero(share.max(axis=0) > 0.5)[0]
    across = share[int(rows.mean())]
    down = share[:, int(columns.mean())]
    edges = []
    for line in (across, down):
        inside = np.nonzero(line > 0.5)[0]
        first, last = int(inside[0]), int(inside[-1])
        before = line[first - 1] if first else 0.0
        after = line[last + 1] if last + 1 < len(line) else 0.0
        # An antialiased edge pixel belongs to the rectangle in part.
        edges.append((first + 1 - line[first] - before, last + line[last] + after))
    return edges[0][0], edges[1][0], edges[0][1], edges[1][1]


def red_share(image: PageImage) -> np.ndarray:
    # Green is 255 on white and 0 on red, and mostly brightness, which WebP keeps sharper than colour.
    return 1.0 - pixels(image)[..., 1] / np.float32(255)


def off(image: PageImage, geometry: Geometry) -> float:
    """By how many pixels the edge that is furthest off is off."""
    expected = np.array(geometry.normalised(RED)) * [image.width, image.height, image.width, image.height]
    return float(np.abs(np.array(painted_box(red_share(image))) - expected).max())
