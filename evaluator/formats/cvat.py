"""CVAT for images 1.1: XML to columns, boxes and polygons.

Owns the format `Cvat`. A page is an ``<image>``; its document is the stem of the image name, as
in `coco`. Coordinates are pixels of the image, origin top left. A polygon, and a box that is turned, keep their
outline; their box is the smallest that holds it. CVAT has no scores. Shapes that are no regions (lines, points, masks,
ellipses) are left out, with an issue for each kind. Nothing is clamped, and no image is opened.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import numpy as np

from evaluator.formats import limits, xml_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.xml_text import Element
from evaluator.model.boxes import FloatArray
from evaluator.model.dataset import Annotations, Boxes, Document, Side
from evaluator.model.issues import BadInput, Collector, quote

_SOURCE: Final = "CVAT for images 1.1"
_ROOT_MARK = re.compile(rb"<annotations[\s/>]")
_IMAGE_MARK = re.compile(rb"<image[\s/>]")
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?", re.ASCII)
_CORNERS: Final = ("xtl", "ytl", "xbr", "ybr")
_FEWEST_POINTS: Final = 3
# CVAT lets a shape be drawn over the edge of its image; models round.
_TOLERANCE_PX: Final = 1.0

Corners = tuple[float, float, float, float]


class _Image(NamedTuple):
    """An image as the file names it, its size, and where."""

    id: str
    name: str
    size: tuple[float, float]
    line: int


class _Shape(NamedTuple):
    """A region: row of its image, position in it, label, corners, outline if it is no plain box, line, tag."""

    image: int
    position: int
    label: str
    xyxy: Corners
    ring: FloatArray | None
    line: int
    tag: str


class Cvat(BoxFormat):
    """CVAT for images 1.1.

    Notes
    -----
    CVAT, "CVAT for images 1.1" (XML annotation format). ``rotation`` turns a box clockwise around its centre, in
    degrees. Attributes, occlusion and z-order are not read. Images of one name in several folders are pages of one
    document, in the order of the file, with a warning.
    """

    name = "cvat"
    title = "CVAT for images 1.1 (XML)"
    looks_for = "an <annotations> element with an <image>"
    suffixes = (".xml",)

    def detect(self, head: bytes, name: str = "") -> bool:
        """An ``<annotations>`` element with an ``<image>``."""
        text = xml_text.narrow(head)
        return xml_text.looks_like_xml(head) and bool(_ROOT_MARK.search(text) and _IMAGE_MARK.search(text))

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """A ground truth: CVAT has no scores. None for a file without images."""
        return "ground_truth" if self.detect(content) else None

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """The columns of a file; see `Format.read`. It has no scores, and nothing in it may be repaired.

        Returns
        -------
        Annotations
            Unit pixels, with page sizes; a ground truth unless it is given as predictions. Labels are those that a
            region has, in the order in which they occur. ``boxes.ids`` give the line of the region. A file without
            regions gives box columns of length 0.
        """
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        source = xml_text.open_source(content, collector)
        elements = _Elements(collector)
        xml_text.parse(source, elements, collector)
        if not elements.roots and not collector.failed:
            rule = f"the outermost element must be <annotations> ({_SOURCE})"
            collector.error("", rule, "no element", "Export the file again.")
        _report_left_out(elements.left_out, collector)
        _check_numbers(elements, collector)
        stems = _stems(elements.images, collector)
        if collector.failed:
            raise BadInput(collector.issues())
        return _annotations(source, elements, stems, reading.side or "ground_truth", collector)


FORMAT: Final = Cvat()


class _Elements:
    """The visitor: elements to images and regions, with the issues that one element shows."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._in_annotations = False
        self._image: Element | None = None
        self._position = 0
        self.roots = 0
        self.images: list[_Image] = []
        self.shapes: list[_Shape] = []
        self.left_out: dict[str, list[Element]] = {}

    def start(self, element: Element) -> None:
        """Take note of an element by its depth: the root, an image, a shape."""
        if element.depth == 1:
            self._start_root(element)
        elif element.depth == 2 and self._in_annotations:
            self._start_image(element)
        elif element.depth == 3 and self._image is not None:
            self._start_shape(element)

    def end(self, element: Element) -> None:
        """An image is complete."""
        if element.depth == 2:
            self._image = None

    def _start_root(self, element: Element) -> None:
        self.roots += 1
        self._in_annotations = element.name == "annotations"
        if not self._in_annotations or self.roots > 1:
            rule = f"the file must have one outermost element, <annotations> ({_SOURCE})"
            self._collector.error(element.place, rule, quote(element.name), "Export the file again.")

    def _start_image(self, element: Element) -> None:
        if element.name == "track":
            rule = "tracks are not read, they belong to videos (CVAT for video 1.1)"
            self._collector.error(element.place, rule, "a track", 'Export the task as "CVAT for images 1.1".')
        if element.name != "image":
            return
        self._image, self._position = element, 0
        name = element.attributes.get("name", "")
        if not name.strip():
            rule = f"an image must have a name ({_SOURCE})"
            self._collector.error(element.place, rule, "", "Name the image.")
        size = tuple(_number(element, key, self._collector) for key in ("width", "height"))
        if not all(math.isnan(value) or value > 0.0 for value in size):
            rule = f"width and height must be above 0 ({_SOURCE})"
            self._collector.error(element.place, rule, _listed(size), "Write the size of the image in pixels.")
        width, height = size
        key = element.attributes.get("id", str(len(self.images)))
        self.images.append(_Image(key, name, (width, height), element.line))

    def _start_shape(self, element: Element) -> None:
        position, self._position = self._position, self._position + 1
        outline = {"box": _box, "polygon": _polygon}.get(element.name)
        if outline is None:
            self.left_out.setdefault(element.name, []).append(element)
            return
        label = element.attributes.get("label", "")
        if not label.strip():
            rule = f"a region must have a label ({_SOURCE})"
            self._collector.error(element.place, rule, quote(label) if label else "", "Label it, or remove it.")
        shape = outline(element, self._collector)
        if shape is None:
            return
        xyxy, ring = shape
        if not max(map(abs, xyxy)) <= limits.MAX_COORDINATE:
            rule = f"coordinates must be at most {limits.MAX_COORDINATE:,.0f} pixels"
            self._collector.error(element.place, rule, _listed(xyxy), "Correct the region.")
            return
        row = len(self.images) - 1
        self._check_inside(element, xyxy, self.images[row].size)
        self.shapes.append(_Shape(row, position, label, xyxy, ring, element.line, element.name))

    def _check_inside(self, element: Element, xyxy: Corners, size: tuple[float, float]) -> None:
        """Warn of a region that leaves its image."""
        beyond = (-xyxy[0], -xyxy[1], xyxy[2] - size[0], xyxy[3] - size[1])
        if max(beyond) > _TOLERANCE_PX:
            rule = f"a region should not leave its image by more than {_TOLERANCE_PX:g} px"
            what = f"{_listed(xyxy)} (corners) in {size[0]:g} x {size[1]:g}"
            self._collector.warning(element.place, rule, what, "It is compared as it is; check the size of the image.")


def _box(element: Element, collector: Collector) -> tuple[Corners, FloatArray | None] | None:
    """Corners of a box, and its outline when it is turned; None with an issue when it is none."""
    x1, y1, x2, y2 = (_number(element, key, collector) for key in _CORNERS)
    turned = _number(element, "rotation", collector) if "rotation" in element.attributes else 0.0
    if any(map(math.isnan, (x1, y1, x2, y2, turned))):
        return None
    if x2 < x1 or y2 < y1:
        rule = f"xbr must not be less than xtl, nor ybr less than ytl ({_SOURCE})"
        collector.error(element.place, rule, _listed((x1, y1, x2, y2)), "Exchange the corners, or remove the box.")
        return None
    if turned % 360.0 == 0.0:
        return (x1, y1, x2, y2), None
    sine, cosine = math.sin(math.radians(turned)), math.cos(math.radians(turned))
    corners = np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]])
    centre = np.array([(x1 + x2) / 2.0, (y1 + y2) / 2.0])
    # The y axis points down, so that this turns clockwise on screen.
    ring = (corners - centre) @ np.array([[cosine, sine], [-sine, cosine]]) + centre
    return _bounds(ring), ring


def _polygon(element: Element, collector: Collector) -> tuple[Corners, FloatArray | None] | None:
    """Corners and outline of a polygon; None with an issue when it is none."""
    text = element.attributes.get("points", "")
    points = [point.split(",") for point in text.split(";")] if text.strip() else []
    wrong = next((point for point in points if len(point) != 2 or not all(map(_is_number, point))), None)
    if not points or wrong is not None:
        rule = f"points must be pairs x,y of finite numbers with semicolons between them ({_SOURCE})"
        what = f"{quote(','.join(wrong))} in {quote(text)}" if wrong and len(points) > 1 else quote(text)
        collector.error(element.place, rule, what, 'Write them, for example points="10,10;90,10;50,60".')
        return None
    if len(points) < _FEWEST_POINTS:
        rule = f"a polygon must have at least {_FEWEST_POINTS} points ({_SOURCE})"
        collector.error(element.place, rule, quote(text), "Correct the polygon, or remove it.")
        return None
    ring = np.array(points, dtype=np.float64)
    return _bounds(ring), ring


def _bounds(ring: FloatArray) -> Corners:
    """The smallest box that holds all points."""
    (x1, y1), (x2, y2) = ring.min(axis=0), ring.max(axis=0)
    return float(x1), float(y1), float(x2), float(y2)


def _listed(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{value:.12g}' for value in values)}]"


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None and math.isfinite(float(text))


def _number(element: Element, key: str, collector: Collector) -> float:
    """A finite number of an attribute; NaN with an issue."""
    text = element.attributes.get(key, "")
    if _is_number(text):
        return float(text)
    rule = f"{key} must be a finite number ({_SOURCE})"
    collector.error(element.place, rule, quote(text) if key in element.attributes else "none", "Correct it.")
    return math.nan


def _report_left_out(left_out: Mapping[str, list[Element]], collector: Collector) -> None:
    for kind, elements in left_out.items():
        rule = f"only boxes and polygons are read ({_SOURCE})"
        what = f"{len(elements):,} of the kind {quote(kind)}"
        fix = "They are left out; draw regions as boxes or polygons."
        collector.warning(elements[0].place, rule, what, fix)


def _check_numbers(elements: _Elements, collector: Collector) -> None:
    """Errors for more regions or labels than are read."""
    for row, count in Counter(shape.image for shape in elements.shapes).items():
        if count > limits.MAX_OBJECTS_PER_PAGE:
            rule = f"an image may have {limits.MAX_OBJECTS_PER_PAGE:,} regions"
            collector.error(xml_text.place(elements.images[row].line, "image"), rule, f"{count:,}", "Remove some.")
    labels = len({shape.label for shape in elements.shapes})
    if labels > limits.MAX_LABELS:
        collector.error("", f"a file may have {limits.MAX_LABELS:,} labels", f"{labels:,}", "Check the labels.")


def _stems(images: list[_Image], collector: Collector) -> list[str]:
    """The document of each image: its name without folders and ending."""
    names = [PurePosixPath(image.name.replace("\\", "/")) for image in images]
    stems = [path.stem or str(path) for path in names]
    first: dict[str, int] = {}
    for row, path in enumerate(names):
        if first.setdefault(str(path), row) != row:
            rule = f"an image must occur once ({_SOURCE})"
            what = f"{quote(images[row].name)}, as in line {images[first[str(path)]].line}"
            collector.error(xml_text.place(images[row].line, "image"), rule, what, "Join the two.")
    paths: dict[str, list[str]] = {}
    for stem, path in zip(stems, names, strict=True):
        paths.setdefault(stem, []).append(str(path))
    for stem, files in paths.items():
        if len(set(files)) > 1:
            rule = "images with one file name are read as pages of one document"
            fix = "Rename the images if they are different documents."
            collector.warning("", rule, f"{quote(stem)}: {', '.join(map(quote, files[:3]))}", fix)
    return stems


def _annotations(
    source: xml_text.Source, elements: _Elements, stems: list[str], side: Side, collector: Collector
) -> Annotations:
    """The columns of a file without errors."""
    images, shapes = elements.images, elements.shapes
    code = {stem: row for row, stem in enumerate(dict.fromkeys(stems))}
    labels = {label: row for row, label in enumerate(dict.fromkeys(shape.label for shape in shapes))}
    paths = {stem: image.name for stem, image in zip(reversed(stems), reversed(images), strict=True)}
    order: Counter[str] = Counter()
    pages = []
    for stem in stems:
        pages.append(order[stem])
        order[stem] += 1
    document = np.array([code[stem] for stem in stems], dtype=np.int32)
    page = np.array(pages, dtype=np.int64)
    entry = np.array([shape.image for shape in shapes], dtype=np.int32)
    return Annotations(
        name=source.name,
        sha256=source.sha256,
        format=FORMAT.name,
        side=side,
        model=None,
        version=None,
        labels=tuple(labels),
        evaluated=len(labels),
        documents=tuple(Document(stem, stem, paths[stem]) for stem in code),
        page_document=document,
        page_index=page,
        boxes=Boxes(
            document=document[entry],
            page=page[entry],
            label=np.array([labels[shape.label] for shape in shapes], dtype=np.int32),
            xyxy=np.array([shape.xyxy for shape in shapes], dtype=np.float64).reshape(-1, 4),
            score=np.full(len(shapes), np.nan),
            entry=entry,
            position=np.array([shape.position for shape in shapes], dtype=np.int32),
            ids=[f"line {shape.line}" for shape in shapes],
            polygons={row: [shape.ring] for row, shape in enumerate(shapes) if shape.ring is not None},
        ),
        issues=collector.issues(),
        page_ids=[image.id for image in images],
        unit="pixels",
        page_size=np.array([image.size for image in images], dtype=np.float64).reshape(-1, 2),
    )
