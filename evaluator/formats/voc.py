"""Pascal VOC: one XML file for each image, to columns and boxes.

Owns the format `Voc`. A file is one page; its document is the stem of the image name, or of the file's own name where
it has none. Coordinates are pixels of the image, origin top left, as they are in the file. Nothing is clamped, and
no image is opened.
"""

from __future__ import annotations

import math
import re
from typing import Final

import numpy as np

from evaluator.formats import xml_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder, Size, bounds, listed, outline
from evaluator.formats.xml_text import Element
from evaluator.model.boxes import FloatArray
from evaluator.model.dataset import Annotations, Side
from evaluator.model.issues import Collector, quote

_SOURCE: Final = "Pascal VOC"
_ROOT_MARK = re.compile(rb"<annotation[\s/>]")
_PART_MARK = re.compile(rb"<(?:object|filename|size)[\s/>]")
_SCORE_MARK = re.compile(rb"<(?:score|confidence)>")
_EDGES: Final = ("xmin", "ymin", "xmax", "ymax")


class Voc(BoxFormat):
    """Pascal VOC.

    Notes
    -----
    PASCAL VOC development kit, annotation format. Corners are taken as they are: the pixels of the competition count
    from 1 and include the last one, those of most tools count from 0; the difference is at most one pixel. An object
    may have a ``score`` or ``confidence``. Parts of objects are left out, with an issue, and difficult objects are
    compared as any other, with an issue. A ``robndbox`` (roLabelImg: ``cx``, ``cy``, ``w``, ``h`` and ``angle``, in
    radians, clockwise) keeps its outline. A size of 0 x 0 is none, with an issue.
    """

    name = "voc"
    title = "Pascal VOC (XML)"
    looks_for = "an <annotation> element with an <object>, <filename> or <size>"
    suffixes = (".xml",)
    states_side = False
    file_per_document = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """An ``<annotation>`` element with an ``<object>``, ``<filename>`` or ``<size>``."""
        text = xml_text.narrow(head)
        return xml_text.looks_like_xml(head) and bool(_ROOT_MARK.search(text) and _PART_MARK.search(text))

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """A prediction when an object has a score; else the file does not state it."""
        return "prediction" if _SCORE_MARK.search(xml_text.narrow(content)) else None

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """The columns of a file; see `Format.read`.

        Returns
        -------
        Annotations
            Unit pixels, with the page size when the file states it. ``boxes.ids`` give the line of the object. A
            file without objects gives box columns of length 0.
        """
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        source = xml_text.open_source(content, collector)
        file = _File(collector, name)
        xml_text.parse(source, file.take, collector)
        if not file.builder.pages and not collector.failed:
            rule = f"the outermost element must be <annotation> ({_SOURCE})"
            collector.error("", rule, "no element", "Export the file again.")
        for rule, issues, fix in (
            (f"parts of objects are not read ({_SOURCE})", file.parts, "They are left out."),
            (
                "objects marked as difficult are compared as any other; the competition's own evaluation leaves them "
                f"out ({_SOURCE})",
                file.difficult,
                "Remove them to have them left out.",
            ),
        ):
            if issues:
                collector.warning(issues[0].place, rule, f"{len(issues):,}", fix)
        return file.builder.annotations(source.sha256, reading)


FORMAT: Final = Voc()


class _File:
    """The elements of a file as a page and its boxes, with the issues that one element shows."""

    def __init__(self, collector: Collector, name: str) -> None:
        self._collector, self._name = collector, name
        self.builder = Builder(collector, format=Voc.name, source=_SOURCE)
        self.parts: list[Element] = []
        self.difficult: list[Element] = []

    def take(self, root: Element) -> None:
        """The root with all objects."""
        if root.name != "annotation" or self.builder.pages:
            rule = f"the file must have one outermost element, <annotation> ({_SOURCE})"
            self._collector.error(root.place, rule, quote(root.name), "Write one file for each image.")
            return
        name, size = _child(root, "filename"), _child(root, "size")
        page = self.builder.image(
            name.text if name is not None and name.text else self._name,
            root.place,
            size=None if size is None else self._size(size),
        )
        for position, element in enumerate(each for each in root.children if each.name == "object"):
            self._object(element, page, position)

    def _object(self, element: Element, page: int, position: int) -> None:
        self.parts += [child for child in element.children if child.name == "part"]
        difficult = _child(element, "difficult")
        if difficult is not None and difficult.text not in ("", "0"):
            self.difficult.append(element)
        box, label = _child(element, "bndbox"), _child(element, "name")
        turned = _child(element, "robndbox")
        if box is None and turned is None:
            rule = f"an object must have a <bndbox> ({_SOURCE})"
            kinds = ", ".join(quote(child.name) for child in element.children)
            self._collector.error(
                element.place, rule, f"only {kinds}" if kinds else "", "Add it, or remove the object."
            )
            return
        ring = None
        if box is None and turned is not None:
            box, ring = turned, self._turned(turned)
            x1, y1, x2, y2 = bounds(ring)
        else:
            assert box is not None
            x1, y1, x2, y2 = (self._number(box, key) for key in _EDGES)
        scores = (each for key in ("score", "confidence") if (each := _child(element, key)) is not None)
        stated = next(scores, None)
        score = math.nan if stated is None else self._value(stated)
        if any(map(math.isnan, (x1, y1, x2, y2))):
            return
        if x2 < x1 or y2 < y1:
            rule = f"xmax must not be less than xmin, nor ymax less than ymin ({_SOURCE})"
            what = listed((x1, y1, x2, y2))
            self._collector.error(box.place, rule, what, "Exchange the corners, or remove the object.")
            return
        self.builder.box(
            page,
            "" if label is None else label.text,
            (x1, y1, x2, y2),
            element.place,
            score=score,
            rings=() if ring is None else outline(ring),
            position=position,
            box_id=f"line {element.line}",
        )

    def _size(self, element: Element) -> Size | None:
        """The size of the image; None for 0 x 0, which tools write that do not open the image."""
        width, height = self._number(element, "width"), self._number(element, "height")
        if width == height == 0.0:
            rule = f"width and height should be those of the image ({_SOURCE})"
            fix = "The page is read without a size; write that of the image."
            self._collector.warning(element.place, rule, "0 x 0", fix)
            return None
        return width, height

    def _turned(self, box: Element) -> FloatArray:
        """The corners of a turned box, float64 of shape (4, 2): centre, sides, and the angle clockwise in radians."""
        x, y, width, height, angle = (self._number(box, key) for key in ("cx", "cy", "w", "h", "angle"))
        sides = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2.0
        sine, cosine = math.sin(angle), math.cos(angle)
        # The y axis points down, so that this turns clockwise on screen.
        turned: FloatArray = sides @ np.array([[cosine, sine], [-sine, cosine]]) + np.array([x, y])
        return turned

    def _number(self, parent: Element, key: str) -> float:
        """The finite number in a child; NaN with an error without."""
        child = _child(parent, key)
        if child is not None:
            return self._value(child)
        self._collector.error(parent.place, f"{key} must be a finite number ({_SOURCE})", "none", "Correct it.")
        return math.nan

    def _value(self, element: Element) -> float:
        """The finite number that an element holds; NaN with an error for anything else."""
        if xml_text.is_number(element.text):
            return float(element.text)
        rule = f"{element.name} must be a finite number ({_SOURCE})"
        self._collector.error(element.place, rule, quote(element.text), "Correct it.")
        return math.nan


def _child(element: Element, name: str) -> Element | None:
    """The first child of a name; None without."""
    return next((child for child in element.children if child.name == name), None)
