"""Pascal VOC: one XML file for each image, to boxes in pixels of the image, origin top left.

A file is one page; its document is the stem of the image name, else of the file's own name.
"""

from __future__ import annotations

import math
import re
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import xml_text
from evaluator.formats.build import FEWEST_POINTS, Shape, Size, bounds, listed, outline, rotate
from evaluator.formats.xml_format import XmlFile, XmlFormat
from evaluator.formats.xml_text import Element

_SOURCE: Final = "Pascal VOC"
_COORDINATE: Final = re.compile(r"[xy]\d*")
# Of the path of an image: what may tell apart images of one name, and nothing of whose computer it was.
_STEPS: Final = 3
_EDGES: Final = ("xmin", "ymin", "xmax", "ymax")


class _File(XmlFile):
    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        super().__init__(format, collector, name)
        self._others: list[Element] = []
        self._parts: list[Element] = []
        self._difficult: list[Element] = []
        self._deleted: list[Element] = []

    def take(self, root: Element) -> None:
        if root.name != "annotation" or self.builder.pages:
            rule = f"the file must have one outermost element, <annotation> ({_SOURCE})"
            self.collector.error(root.place, rule, quote(root.name), "Write one file for each image.")
            return
        size = root.child("size") or root.child("imagesize")
        name, folder, path = (_text(root.child(key)) for key in ("filename", "folder", "path"))
        steps = path.replace("\\", "/").split("/")
        besides = "/".join(steps[-_STEPS:]) if len(steps) > 1 and steps[-1] == name else f"{folder}/{name}"
        page = self.builder.image(
            name or self.name,
            root.place,
            size=None if size is None else self._size(size),
            path=besides if name and (folder or path) else "",
        )
        self._others += [each for each in root.children if each.name != "object" and each.child("bndbox")]
        for position, element in enumerate(each for each in root.children if each.name == "object"):
            self._object(element, page, position)

    def end(self) -> None:
        if not self.builder.pages and not self.collector.failed:
            rule = f"the outermost element must be <annotation> ({_SOURCE})"
            self.collector.error("", rule, "no element", "Export the file again.")
        if self._others:
            rule, what = f"a <bndbox> must be in an <object> ({_SOURCE})", count_of(len(self._others), "other element")
            self.builder.left_out(self._others[0].place, rule, f"{what} with one", "They are left out.")
        for rule, elements, fix in (
            (f"parts of objects are not read ({_SOURCE})", self._parts, "They are left out."),
            ("objects marked as deleted are no objects (LabelMe XML)", self._deleted, "They are left out."),
            (
                "objects marked as difficult are compared as any other; the competition's own evaluation leaves them "
                f"out ({_SOURCE})",
                self._difficult,
                "Remove them to have them left out.",
            ),
        ):
            if elements:
                self.collector.warning(elements[0].place, rule, f"{len(elements):,}", fix)

    def _object(self, element: Element, page: int, position: int) -> None:
        first: dict[str, Element] = {}
        for child in element.children:
            first.setdefault(child.name, child)
        if _text(first.get("deleted")) == "1":
            self._deleted.append(element)
            return
        if "part" in first:
            self._parts += [child for child in element.children if child.name == "part"]
        difficult = first.get("difficult")
        if difficult is not None and difficult.text not in ("", "0"):
            self._difficult.append(element)
        box, label, rotated = first.get("bndbox"), first.get("name"), first.get("robndbox")
        ring = None if rotated is not None else self._polygon(first.get("polygon"))
        if box is None and rotated is None and ring is None:
            rule = f"an object must have a <bndbox> ({_SOURCE})"
            kinds = ", ".join(quote(child.name) for child in element.children)
            self.collector.error(element.place, rule, f"only {kinds}" if kinds else "", "Add it, or remove the object.")
            return
        if box is None and rotated is not None:
            ring = self._corners(rotated)
        if box is not None:
            x1, y1, x2, y2 = (self._child_number(box, key) for key in _EDGES)
        else:
            assert ring is not None
            x1, y1, x2, y2 = bounds(ring)
        stated = first.get("score", first.get("confidence"))
        score = math.nan if stated is None else self._value(stated)
        if any(map(math.isnan, (x1, y1, x2, y2))):
            return
        if x2 < x1 or y2 < y1:
            rule = f"xmax must not be less than xmin, nor ymax less than ymin ({_SOURCE})"
            what = listed((x1, y1, x2, y2))
            self.collector.error(
                element.place if box is None else box.place, rule, what, "Exchange the corners, or remove the object."
            )
            return
        shape = Shape((x1, y1, x2, y2), () if ring is None else outline(ring))
        if ring is not None:
            self.builder.check_again(element.place, "<bndbox>", shape.xyxy, "<polygon>", bounds(ring))
        if ring is None:
            shape = Shape.of_box(shape.xyxy, self._rotation(first.get("attributes")))
        self.builder.box(
            page,
            "" if label is None else label.text,
            shape.xyxy,
            element.place,
            score=score,
            rings=shape.rings,
            position=position,
            box_id=f"line {element.line}",
        )

    def _size(self, element: Element) -> Size | None:
        keys = ("ncols", "nrows") if element.name == "imagesize" else ("width", "height")
        width, height = (self._child_number(element, key) for key in keys)
        if width == height == 0.0:
            rule = f"width and height should be those of the image ({_SOURCE})"
            fix = "The page is read without a size; write that of the image."
            self.collector.warning(element.place, rule, "0 x 0", fix)
            return None
        return width, height

    def _rotation(self, attributes: Element | None) -> float:
        for each in attributes.children if attributes else ():
            value = each.child("value")
            if value is not None and _text(each.child("name")) == "rotation":
                return self._value(value)
        return 0.0

    def _corners(self, box: Element) -> FloatArray:
        x, y, width, height, angle = (self._child_number(box, key) for key in ("cx", "cy", "w", "h", "angle"))
        sides = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2.0
        return rotate(sides, (x, y), angle)

    def _polygon(self, element: Element | None) -> FloatArray | None:
        if element is None:
            return None
        leaves = [leaf for child in element.children for leaf in (child.children or [child])]
        values = [self._value(leaf) for leaf in leaves if _COORDINATE.fullmatch(leaf.name)]
        return np.array(values).reshape(-1, 2) if len(values) % 2 == 0 and len(values) >= 2 * FEWEST_POINTS else None

    def _child_number(self, parent: Element, key: str) -> float:
        child = parent.child(key)
        if child is not None:
            return self._value(child)
        self.collector.error(parent.place, f"{key} must be a finite number ({_SOURCE})", "none", "Correct it.")
        return math.nan

    def _value(self, element: Element) -> float:
        if xml_text.is_number(element.text):
            return float(element.text)
        rule = f"{element.name} must be a finite number ({_SOURCE})"
        self.collector.error(element.place, rule, quote(element.text), "Correct it.")
        return math.nan


class Voc(XmlFormat):
    """PASCAL VOC development kit, annotation format.

    Corners are taken as they are: pixels of the competition count from 1 and include the last, those of most tools
    from 0, at most one pixel apart. A ``polygon`` is the outline. An object may have a ``score`` or ``confidence``.
    Parts of objects are left out, difficult objects compared as any other, and a size of 0 x 0 is none, each with an
    issue. A ``robndbox`` of roLabelImg (angle in radians, clockwise) keeps its outline, and so does a box with the
    ``rotation`` of CVAT among its attributes (degrees). Objects that the XML of LabelMe marks as deleted are left out,
    with an issue. ``boxes.ids`` give the line of the object.
    """

    name = "voc"
    title = "Pascal VOC (XML)"
    looks_for = "an <annotation> element with an <object>, <filename> or <size>"
    source = _SOURCE
    marks = (re.compile(rb"<annotation[\s/>]"), re.compile(rb"<(?:object|filename|size)[\s/>]"))
    score_mark = re.compile(rb"<(?:score|confidence)>")
    states_side = False
    file_per_document = True
    file = _File


FORMAT: Final = Voc()


def _text(element: Element | None) -> str:
    return "" if element is None else element.text
