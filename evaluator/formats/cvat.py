"""CVAT for images 1.1: XML to boxes, polygons, ellipses and masks.

Pixels of the image, origin top left. A page is an ``<image>``; its document is the stem of its name, as in `coco`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluator.data.dataset import Side
from evaluator.data.issues import Collector, quote
from evaluator.formats import xml_text
from evaluator.formats.build import FEWEST_POINTS, Shape, bounds, listed
from evaluator.formats.masks import rings, row_rectangles
from evaluator.formats.xml_format import XmlFile, XmlFormat
from evaluator.formats.xml_text import Element

_SOURCE: Final = "CVAT for images 1.1"
_WHOLE: Final = re.compile(r"\d{1,15}", re.ASCII)


class _File(XmlFile):
    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        super().__init__(format, collector, name)
        self._roots = 0
        self._left_out: dict[str, list[Element]] = {}
        self._tracks: list[str] = []
        self._unlabelled: list[str] = []

    def take(self, element: Element) -> None:
        if element.depth == 1:
            self._roots += 1
            if element.name != "annotations" or self._roots > 1:
                rule = f"the file must have one outermost element, <annotations> ({_SOURCE})"
                self.collector.error(element.place, rule, quote(element.name), "Export the file again.")
        elif element.name == "image" and element.parent == "annotations":
            self._image(element)
        elif element.name == "track" and element.parent == "annotations":
            self._tracks.append(element.place)
        elif element.parent == "annotations" and element.name not in ("version", "meta"):
            rule = f"only images are read, beside version and meta ({_SOURCE})"
            self.builder.left_out(element.place, rule, quote(element.name), "It is left out; correct its name.")

    def end(self) -> None:
        if not self._roots and not self.collector.failed:
            rule = f"the outermost element must be <annotations> ({_SOURCE})"
            self.collector.error("", rule, "no element", "Export the file again.")
        if self._tracks:
            rule = "tracks are not read, they belong to videos (CVAT for video 1.1)"
            what = "a track" if len(self._tracks) == 1 else f"{len(self._tracks):,} tracks"
            self.collector.error(self._tracks[0], rule, what, 'Export the task as "CVAT for images 1.1".')
        for kind, elements in self._left_out.items():
            rule = f"only boxes, polygons, ellipses and masks are read ({_SOURCE})"
            what = f"{len(elements):,} of the kind {quote(kind)}"
            fix = "They are left out; draw regions as boxes or polygons."
            self.builder.left_out(elements[0].place, rule, what, fix)
        if self._unlabelled:
            rule = f"a region should have a label ({_SOURCE})"
            what = f"{len(self._unlabelled):,} without"
            fix = "They are left out; label them to have them compared."
            self.builder.left_out(self._unlabelled[0], rule, what, fix)

    def _image(self, element: Element) -> None:
        width, height = (self.number(element, key) for key in ("width", "height"))
        attributes = element.attributes
        page_id = attributes.get("id", str(self.builder.pages))
        name, subset = attributes.get("name", ""), attributes.get("subset", "")
        steps = (subset, attributes.get("task_id", ""), name)
        page = self.builder.image(
            "/".join(step for step in steps if step) if name.strip() else "",
            element.place,
            size=(width, height),
            page_id=page_id,
            attributes={"subset": subset} if subset else {},
        )
        for position, region in enumerate(element.children):
            outline = _SHAPES.get(region.name)
            if outline is None:
                self._left_out.setdefault(region.name, []).append(region)
            elif not region.attributes.get("label", "").strip():
                self._unlabelled.append(region.place)
            elif shape := outline(region, self.collector):
                self.builder.box(
                    page,
                    region.attributes["label"],
                    shape.xyxy,
                    region.place,
                    rings=shape.rings,
                    position=position,
                    box_id=f"line {region.line}",
                )


class Cvat(XmlFormat):
    """CVAT, "CVAT for images 1.1" (XML annotation format).

    ``rotation`` is clockwise around the centre of a box or ellipse, in degrees; a rotate box keeps its outline. An
    ellipse has an outline of 64 points; the box of a mask is its stated extent, its outline the pixels. No scores,
    attributes, occlusion or z-order. Shapes that are no regions and regions without a label are left out, with an
    issue; videos are refused. The subset and the task of an image are folders that it lies in. ``boxes.ids`` are lines.
    """

    name = "cvat"
    title = "CVAT for images 1.1 (XML)"
    looks_for = "an <annotations> element with an <image> or a <track>"
    source = _SOURCE
    marks = (re.compile(rb"<annotations[\s/>]"), re.compile(rb"<(?:image|track|meta)[\s/>]"))
    depth = 2
    file = _File

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "ground_truth": CVAT has no scores. None for a file without images."""
        return "ground_truth" if self.detect(content) else None


FORMAT: Final = Cvat()


def _numbers(element: Element, keys: Sequence[str], collector: Collector) -> list[float]:
    keys = [*keys, "rotation"] if "rotation" in element.attributes else keys
    numbers = [xml_text.number(element, key, collector, source=_SOURCE) for key in keys]
    return numbers if "rotation" in keys else [*numbers, 0.0]


def _check_sides(element: Element, keys: str, sides: tuple[float, float], collector: Collector) -> bool:
    if min(sides) < 0:
        rule = f"{keys} must not be negative ({_SOURCE})"
        collector.error(element.place, rule, listed(sides), f"Correct the {element.name}, or remove it.")
    return min(sides) >= 0


def _box(element: Element, collector: Collector) -> Shape | None:
    x1, y1, x2, y2, angle = numbers = _numbers(element, ("xtl", "ytl", "xbr", "ybr"), collector)
    if any(map(math.isnan, numbers)):
        return None
    if x2 < x1 or y2 < y1:
        rule = f"xbr must not be less than xtl, nor ybr less than ytl ({_SOURCE})"
        collector.error(element.place, rule, listed((x1, y1, x2, y2)), "Exchange the corners, or remove the box.")
        return None
    return Shape.of_box((x1, y1, x2, y2), angle)


def _polygon(element: Element, collector: Collector) -> Shape | None:
    text = element.attributes.get("points", "")
    points = [point.split(",") for point in text.split(";")] if text.strip() else []
    wrong = next((point for point in points if len(point) != 2 or not all(map(xml_text.is_number, point))), None)
    if not points or wrong is not None:
        rule = f"points must be pairs x,y of finite numbers with semicolons between them ({_SOURCE})"
        what = f"{quote(','.join(wrong))} in {quote(text)}" if wrong and len(points) > 1 else quote(text)
        collector.error(element.place, rule, what, 'Write them, for example points="10,10;90,10;50,60".')
        return None
    if len(points) < FEWEST_POINTS:
        rule = f"a polygon must have at least {FEWEST_POINTS} points ({_SOURCE})"
        collector.error(element.place, rule, quote(text), "Correct the polygon, or remove it.")
        return None
    ring = np.array(points, dtype=np.float64)
    return Shape(bounds(ring), (ring,))


def _ellipse(element: Element, collector: Collector) -> Shape | None:
    x, y, across, down, angle = numbers = _numbers(element, ("cx", "cy", "rx", "ry"), collector)
    if any(map(math.isnan, numbers)) or not _check_sides(element, "rx and ry", (across, down), collector):
        return None
    return Shape.of_ellipse((x, y), (across, down), math.radians(angle))


def _mask(element: Element, collector: Collector) -> Shape | None:
    left, top, width, height, _ = numbers = _numbers(element, ("left", "top", "width", "height"), collector)
    if any(map(math.isnan, numbers)) or not _check_sides(element, "width and height", (width, height), collector):
        return None
    extent = (left, top, left + width, top + height)
    runs = [run.strip() for run in element.attributes.get("rle", "").split(",")]
    try:
        if not all(map(_WHOLE.fullmatch, runs)):
            raise ValueError("rle must be whole numbers with commas between them")
        rectangles = row_rectangles(list(map(int, runs)), int(width), int(height))
    except ValueError as problem:
        rule = f"the runs of a mask, rle, must fill its width and height ({_SOURCE})"
        collector.warning(element.place, rule, str(problem), "Its box is used; export the mask again.")
        return Shape(extent)
    return Shape(extent, list(rings(rectangles) + np.array([left, top])))


_SHAPES: Final = {"box": _box, "polygon": _polygon, "ellipse": _ellipse, "mask": _mask}
