"""ICDAR 2019 cTDaR and ICDAR 2013 tables: XML to boxes and outlines of tables.

Pixels of the image, origin top left. A file is one document, named by the stem of its ``filename``; its page is the
image, or that of a ``<region>``.
"""

from __future__ import annotations

import math
import re
from typing import Final

from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import limits
from evaluator.formats.build import Shape
from evaluator.formats.image_paths import stem_of
from evaluator.formats.xml_format import XmlFile, XmlFormat, ring_of
from evaluator.formats.xml_text import Element

_SOURCE: Final = "ICDAR 2019 cTDaR"
_LABEL: Final = "table"
_SCORES: Final = ("prob", "score", "conf", "confidence")
# A region of the page object detection competition, whose files have the same outermost element.
_POD_REGION: Final = re.compile(rb"<(?:formula|table|figure)region[\s/>]", re.IGNORECASE)


class _File(XmlFile):
    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        super().__init__(format, collector, name)
        self._cells: list[Element] = []
        self._others: list[Element] = []
        self._in_points: list[Element] = []
        self._pages: dict[tuple[str, int], int] = {}

    def take(self, root: Element) -> None:
        if root.name.lower() != "document":
            rule = f"the outermost elements must be <document> ({_SOURCE})"
            self.collector.error(root.place, rule, quote(root.name), "Export the file again.")
            return
        filename = root.attributes.get("filename", "").strip() or self.name
        numbered = any("page" in child.attributes for table in root.children for child in table.children)
        page = None if numbered else self.builder.image(filename, root.place)
        for element in root.children:
            if element.name.lower() == "table":
                self._table(element, filename, page)
            else:
                self._others.append(element)

    def end(self) -> None:
        if not self.builder.pages and not self.collector.failed:
            self.collector.error("", f"a file must have a <document> ({_SOURCE})", "none", "Export the file again.")
        if self._in_points:
            rule = "a <bounding-box> of ICDAR 2013 is in points from the bottom left of a PDF page of unstated height"
            fix = "Write the tables as <Coords points=...> in pixels of the page image from its top left, as cTDaR has."
            found = count_of(len(self._in_points), "table")
            self.collector.error(self._in_points[0].place, f"{rule} (ICDAR 2013 tables)", found, fix)
        for rule, elements, noun, fix in (
            (f"cells of tables are not read ({_SOURCE})", self._cells, "cell", "They are left out."),
            (f"a document should have nothing but tables ({_SOURCE})", self._others, "element", "They are left out."),
        ):
            if elements:
                self.builder.left_out(elements[0].place, rule, count_of(len(elements), noun), fix)

    def _table(self, table: Element, filename: str, page: int | None) -> None:
        """Add a table, or each region of it: a table that goes on on another page has several."""
        regions = [child for child in table.children if child.name.lower() == "region"]
        for region in regions or [table]:
            self._cells += [child for child in region.children if child.name.lower() == "cell"]
            row = self._page(region, filename) if page is None else page
            if row is not None and (shape := self._shape(region)):
                score = self._score(table)
                place, number = region.place, f"line {region.line}"
                self.builder.box(row, _LABEL, shape.xyxy, place, score=score, rings=shape.rings, box_id=number)
        if regions:
            self._cells += [child for child in table.children if child.name.lower() == "cell"]

    def _page(self, region: Element, filename: str) -> int | None:
        text = region.attributes.get("page", "")
        if not (text.isdecimal() and 1 <= int(text[:9]) <= limits.MAX_PAGE_INDEX):
            rule = f"page must be a whole number, 1 or more ({_SOURCE})"
            self.collector.error(region.place, rule, quote(text) if text else "none", "Correct the number of the page.")
            return None
        key = stem_of(filename), int(text) - 1
        if key not in self._pages:
            self._pages[key] = self.builder.page(key[0], region.place, index=key[1], path=filename)
        return self._pages[key]

    def _shape(self, region: Element) -> Shape | None:
        outlines = [child for child in region.children if child.name.lower() == "coords"]
        if len(outlines) == 1:
            ring = ring_of(outlines[0], outlines[0].attributes.get("points", ""), self.collector, source=_SOURCE)
            return None if ring is None else Shape.of(ring)
        if not outlines and any(each.child("bounding-box") for each in (region, *region.children)):
            self._in_points.append(region)
        else:
            rule = f"a table must have one <Coords> element ({_SOURCE})"
            found = f"{len(outlines)}" if outlines else "none"
            self.collector.error(region.place, rule, found, "Write the outline of the table, or remove the table.")
        return None

    def _score(self, table: Element) -> float:
        key = next((key for key in _SCORES if key in table.attributes), None)
        return math.nan if key is None else self.number(table, key)


class Ctdar(XmlFormat):
    """ICDAR 2019 cTDaR, "Ground truth" of tracks A and B, and ICDAR 2013 table competition with ``<Coords>``.

    Each ``<table>``, or each ``<region>`` of one, is a box with the label ``table``; points that are no upright box are
    its outline. A ``page`` of a region counts from 1. The score is ``prob``, ``score``, ``conf`` or ``confidence`` of
    the table. Cells are left out with a warning. A ``<bounding-box>`` of ICDAR 2013 is an error: it is in points from
    the bottom left of a PDF page whose height the file does not state. ``boxes.ids`` are lines.
    """

    name = "ctdar"
    title = "ICDAR 2019 cTDaR and ICDAR 2013 tables (XML)"
    looks_for = "a <document> element with a <table> that has <Coords> or a <bounding-box>"
    source = _SOURCE
    marks = (
        re.compile(rb"<document[\s/>]", re.IGNORECASE),
        re.compile(rb"<table[\s/>]", re.IGNORECASE),
        re.compile(rb"<(?:coords|bounding-box)[\s/>]", re.IGNORECASE),
    )
    score_mark = re.compile(rb"<table\s[^<>]*?\b(?:prob|score|conf|confidence)\s*=", re.IGNORECASE)
    states_side = False
    file_per_document = True
    file = _File

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether XML has tables with outlines, and no region of the page object detection competition."""
        return super().detect(head, name) and not _POD_REGION.search(head.replace(b"\0", b""))


FORMAT: Final = Ctdar()
