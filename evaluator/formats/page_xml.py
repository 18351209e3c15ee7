"""PAGE XML of 2010 to 2019: regions to boxes and polygons in pixels, origin top left; a file is one page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from evaluator.data.boxes import FloatArray
from evaluator.data.cells import Cell
from evaluator.data.dataset import Place
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import limits
from evaluator.formats.build import Held, Shape, Size, bounds, points
from evaluator.formats.nesting import is_whole
from evaluator.formats.xml_format import Item, XmlFile, XmlFormat, ring_of
from evaluator.formats.xml_text import Element

_SOURCE: Final = "PAGE XML"
# Transkribus and eScriptorium write types of their own here: "readingOrder {index:0;} structure {type:Main;}".
_STRUCTURE = re.compile(r"structure\s*\{[^{}]*?\btype\s*:\s*([^;{}]+)")
# Transkribus writes blanks in there as \u0020.
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_DEPTH: Final = 3
# Elements of a page that have an outline and are no region.
_NO_OTHERS: Final = ("Border", "PrintSpace", "Region")
_ON_PAGE: Final = (
    "AlternativeImage", "Border", "PrintSpace", "ReadingOrder", "Layers", "Relations", "TextStyle", "UserDefined",
    "Labels",
)  # fmt: skip
_OF_TEXT: Final = ("TextLine", "Word", "Glyph")
_IN_REGIONS: Final = (
    *_OF_TEXT, "TextEquiv", "TextStyle", "AlternativeImage", "Coords", "Baseline", "Grid", "Graphemes", "Roles",
    "TableCell", "CornerPts", "UserDefined", "Property", "Labels",
)  # fmt: skip
_ROLE: Final = (("rowIndex", 0), ("columnIndex", 0), ("rowSpan", 1), ("colSpan", 1))
_TRANSKRIBUS: Final = (("row", 0), ("col", 0), *_ROLE[2:])
_WHOLE: Final = re.compile(r"[0-9]{1,10}")
_SIDES: Final = ("imageWidth", "imageHeight")


class _File(XmlFile):
    """A file, which is a page, with what lies on the page itself and is no region."""

    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        super().__init__(format, collector, name)
        self._others: list[Element] = []
        self._order: list[Element] = []
        self._bare: list[Element] = []
        self._ids: set[str] = set()

    def take(self, element: Element) -> None:
        if element.depth == 1 and element.name != "PcGts":
            rule = f"the outermost element must be <PcGts> ({_SOURCE})"
            self.collector.error(element.place, rule, quote(element.name), "Export the file again.")
        elif element.depth == _DEPTH and element.parent == "Page":
            if not element.name.endswith(_NO_OTHERS) and element.child("Coords"):
                self._others.append(element)
            elif self.reads_items and not element.name.endswith("Region"):
                self.need_known([element], _ON_PAGE)
            if element.name == "ReadingOrder" and self.reads_items:
                self._order += element.children
            self._regions_of(element)
        elif element.name == "Page" and element.parent == "PcGts":
            self._page(element)

    def end(self) -> None:
        if self._others:
            rule = f"a page should have regions, with lines and words in them ({_SOURCE})"
            first = self._others[0]
            what = f"{count_of(len(self._others), 'other element')} with an outline, the first a <{first.name}>"
            self.builder.left_out(first.place, rule, what, "They are left out.")
        if self._bare:
            rule = f"a table should have cells with their rows and columns ({_SOURCE})"
            what = f"{count_of(len(self._bare), 'table')} without"
            fix = "They have no cells to be compared; add TableCellRole to the regions in them."
            self.collector.warning(self._bare[0].place, rule, what, fix)
        super().end()

    def _regions_of(self, element: Element, inside: Item | None = None) -> None:
        if not element.name.endswith("Region"):
            return
        coords, label = element.child("Coords"), _label(element)
        inner = [child for child in element.children if child.name.endswith("Region")]
        nested = inside is not None or inner
        item = self.item(inside, group=_is_group(element, label)) if nested else None
        score = math.nan if coords is None or "conf" not in coords.attributes else self.number(coords, "conf")
        ring = _ring(element, coords, self)
        if ring is not None:
            box_id = element.attributes.get("id", "")
            held = self._held(element) if self.reads_items else None
            self.keep(element, label, Shape.of(ring), score=score, box_id=box_id, item=item, held=held)
        for child in inner:
            self._regions_of(child, item)

    def _held(self, element: Element) -> Held:
        """Return the text and the cells of a region; its place in the order is known when the page ends."""
        self._ids.add(element.attributes.get("id", ""))
        cells = tuple(self._cells(element)) if element.name == "TableRegion" else ()
        if element.name == "TableRegion" and not cells:
            self._bare.append(element)
        return Held(None, self._text(element), cells or None)

    def _text(self, element: Element) -> str | None:
        said = [child for child in element.children if child.name == "TextEquiv"]
        said.sort(key=lambda each: self.number(each, "index") if "index" in each.attributes else -math.inf)
        self.need_known((child for child in element.children if not child.name.endswith("Region")), _IN_REGIONS)
        self.need_known((child for each in said for child in each.children), ("Unicode", "PlainText"))
        held = (said[0].child("Unicode") or said[0].child("PlainText")) if said else None
        text = None if not said else "" if held is None else held.text
        parts = () if text else (self._text(child) for child in element.children if child.name in _OF_TEXT)
        between = {"TextLine": " ", "Word": ""}.get(element.name, "\n")
        return between.join(filter(None, parts)) or text

    def _cells(self, element: Element) -> Iterator[Cell]:
        """Yield the cells of a table: regions with a role in it, or the cells of Transkribus."""
        for child in element.children:
            roles = child.child("Roles")
            role = roles.child("TableCellRole") if roles else None
            stated, keys = (role, _ROLE) if role is not None else (child, _TRANSKRIBUS)
            if role is None and child.name != "TableCell":
                continue
            assert stated is not None
            row, col, row_span, col_span = (self._whole(stated, key, least) for key, least in keys)
            header = stated.attributes.get("header", "") in ("true", "1")
            ring = points(_points_of(child.child("Coords")))
            box = None if ring is None else bounds(ring)
            yield Cell(row, col, row_span, col_span, header, self._text(child) or "", box)

    def _whole(self, element: Element, key: str, least: int) -> int:
        text = element.attributes.get(key, "1" if least else "").strip()
        if _WHOLE.fullmatch(text) and least <= int(text) <= limits.MAX_PAGE_INDEX:
            return int(text)
        rule = f"{key} must be a whole number from {least} on ({_SOURCE})"
        self.collector.error(element.place, rule, quote(text) if text else "none", "Correct it.")
        return least

    def _page(self, element: Element) -> None:
        size = self._size(element)
        image = element.attributes.get("imageFilename", "").strip() or self.collector.file
        self.add_kept(self.builder.image(image, element.place, size=size), self._places())

    def _places(self) -> dict[str, Place]:
        """Return where the reading order has each region; say which it names that are not there, or again."""
        places: dict[str, Place] = {}
        odd: list[Element] = []
        for root in self._order:
            for element, place in self.references(root, ("regionRef", "index")):
                name = element.attributes.get("regionRef", "")
                if name not in self._ids or name in places:
                    odd.append(element)
                else:
                    places[name] = place
        if odd:
            rule = f"ReadingOrder should name each region of the page once ({_SOURCE})"
            first = quote(odd[0].attributes.get("regionRef", ""))
            found = f"{count_of(len(odd), 'name')} of none or again, the first {first}"
            self.collector.warning(odd[0].place, rule, found, "They are left out.")
        return places

    def _size(self, element: Element) -> Size | None:
        stated = [element.attributes[key].strip() for key in _SIDES if key in element.attributes]
        if stated not in ([], ["0", "0"]):
            width, height = (self.number(element, key) for key in _SIDES)
            return width, height
        rule = f"imageWidth and imageHeight should be those of the image ({_SOURCE})"
        fix = "The page is read without a size; write that of the image."
        self.collector.warning(element.place, rule, " x ".join(stated) or "none", fix)
        return None


class PageXml(XmlFormat):
    """PAGE content schema of PRImA, 2010-03-19 to 2019-07-15, with and without prefix.

    Regions at any depth are read; lines, words, glyphs, border and print space are not. A region that holds others is
    read as a whole, and as these when it has no kind and no lines of its own; see `Reading.level`. Outlines are
    ``points`` or ``Point`` elements. The label of a text region is its ``type`` (``heading``), of another its element
    (``TableRegion``); a type in ``custom``, as Transkribus and eScriptorium write it, stands in for a missing one. The
    score is ``conf`` of the outline. ``boxes.ids`` are the ids of the regions. Items have the places of
    ``ReadingOrder`` and the text of ``TextEquiv``, else of their lines, words or glyphs; tables the regions in them
    that have a ``TableCellRole``, or the cells of Transkribus.
    """

    name = "page-xml"
    title = "PAGE XML, 2010 to 2019"
    looks_for = "a <PcGts> element"
    source = _SOURCE
    holds_items = True
    marks = (re.compile(rb"<(?:[\w.-]+:)?PcGts[\s/>]"),)
    score_mark = re.compile(rb"<(?:[\w.-]+:)?Coords\s[^<>]*?\bconf\s*=")
    score = "conf"
    depth = _DEPTH
    states_side = False
    file_per_document = True
    file = _File


FORMAT: Final = PageXml()


def _ring(element: Element, coords: Element | None, file: _File) -> FloatArray | None:
    text = _points_of(coords)
    if not text.strip():
        rule = f"a region must have an outline ({_SOURCE})"
        file.builder.left_out(element.place, rule, "none", "It is left out; draw its outline to have it compared.")
        return None
    return ring_of(element, text, file.collector, source=_SOURCE)


def _points_of(coords: Element | None) -> str:
    if coords is None:
        return ""
    children = (child.attributes for child in coords.children if child.name == "Point")
    # A missing coordinate stays visible: "?" is no number.
    older = " ".join(f"{point.get('x', '?')},{point.get('y', '?')}" for point in children)
    return coords.attributes.get("points", "") or older


def _is_group(element: Element, label: str) -> bool:
    """Return whether a region only groups others: it has no kind and no line of text of its own."""
    if element.name == "CustomRegion":
        return not is_whole(label)
    return (
        element.name in ("TextRegion", "UnknownRegion")
        and label in ("other", element.name)
        and element.child("TextLine") is None
    )


def _label(element: Element) -> str:
    own = _STRUCTURE.search(element.attributes.get("custom", ""))
    stated = element.attributes.get("type", "").strip() if element.name in ("TextRegion", "CustomRegion") else ""
    if own and stated in ("", "other"):
        return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), own[1]).strip() or element.name
    return stated or element.name
