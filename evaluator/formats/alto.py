"""ALTO 1 to 4: blocks to boxes and polygons.

Pixels, or shares of the page where the file measures in parts of a millimetre or an inch; origin top left. The document
is the stem of the image name in the file, else of the file's own name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from evaluator.data.dataset import Place
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import xml_text
from evaluator.formats.build import Held, Shape, bounds, listed, member_place, outline
from evaluator.formats.image_paths import stem_of
from evaluator.formats.nesting import is_whole
from evaluator.formats.xml_format import Item, XmlFile, XmlFormat, ring_of
from evaluator.formats.xml_text import Element

_SOURCE: Final = "ALTO"
_UNITS: Final = ("pixel", "mm10", "inch1200")
_BLOCKS: Final = ("TextBlock", "Illustration", "GraphicalElement", "ComposedBlock")
_EDGES: Final = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
# Tags for what a block is; role and named-entity tags are about its text.
_KINDS: Final = ("LayoutTag", "StructureTag", "OtherTag")
_KIND_OF_TEXT: Final = re.compile(
    r"ne|named[ _-]?entit(y|ies)|person|location|place|organi[sz]ation|date|lang(uage)?|script|fonts?(style)?"
)
# Types that say of no tag in particular what it is.
_ANY_TYPE: Final = ("type", "block", "region", "structural", "structure", "layout", "logical", "physical")
# Types that say of a block no more than that it holds others.
_GROUPS: Final = (*_ANY_TYPE, "column", "container", "article", "page", "composedblock")
_ORDER: Final = ("ElementRef", "OrderedGroup", "UnorderedGroup")
# Of the reading order, below alto and ReadingOrder.
_ROOT: Final = 3
# alto, Layout, Page, the space on it, and the blocks in that.
_DEPTH: Final = 5


class _File(XmlFile):
    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        super().__init__(format, collector, name)
        self._unit = "pixel"
        self._image = name
        self._labels: dict[str, str] = {}
        self._of_text: dict[str, str] = {}
        self._left_out: list[Element] = []
        self._others: list[Element] = []
        # Blocks without a label of their own, and the one of what holds them.
        self._unlabelled: list[tuple[Element, str]] = []
        # What is in a block that is on the page itself; it ends before the block does.
        self._inside: list[Element] = []
        # Tags and unit may stand behind the pages that they are about.
        self._blocks: list[Element] = []
        self._pages: list[tuple[Element, list[Element]]] = []
        # What the reading order holds, by depth; it ends before what holds it.
        self._order: dict[int, list[Element]] = {}
        self._unordered: list[Element] = []
        # By IDNEXT: blocks that the next one does not follow, and those that name nothing.
        self._broken: list[Element] = []
        self._nowhere: list[Element] = []
        self._bare: list[Element] = []
        self._places: dict[int, Place] = {}
        self._texts: dict[int, str | None] = {}
        # The word of which the first part was read, until the second one is.
        self._parted = False

    def take(self, element: Element) -> None:
        if element.depth == 1 and element.name != "alto":
            rule = f"the outermost element must be <alto> ({_SOURCE})"
            self.collector.error(element.place, rule, quote(element.name), "Export the file again.")
        elif element.name == "MeasurementUnit" and element.parent == "Description":
            self._measure(element)
        elif element.name == "fileName" and element.parent == "sourceImageInformation" and element.text:
            self._image = element.text
        elif element.parent == "Tags":
            self._tag(element)
        elif element.parent in ("ReadingOrder", *_ORDER) and self.reads_items and element.name not in _ORDER:
            self.need_known([element], ())
        elif element.name in _ORDER:
            element.children += self._order.pop(element.depth + 1, [])
            self._order.setdefault(element.depth, []).append(element)
        elif element.depth == _DEPTH:
            if element.parent in _BLOCKS:
                self._inside.append(element)
            elif element.name in _BLOCKS:
                self._blocks.append(self._whole(element))
            elif _EDGES[0] in element.attributes:
                self._others.append(element)
        elif element.depth == _DEPTH - 1 and element.name in _BLOCKS:
            element.children, self._inside = self._inside, []
            self._blocks.append(self._whole(element))
        elif element.name == "Page" and element.parent == "Layout":
            self._pages.append((element, self._blocks))
            self._blocks = []
        elif element.parent == "Layout":
            rule = f"a Layout must have only pages ({_SOURCE})"
            self.collector.error(element.place, rule, quote(element.name), "Call it Page, or remove it.")

    def _whole(self, element: Element) -> Element:
        """Return a block with what is read of it: lines and words need not be held until the file ends."""
        return element if self.reads_items else _without_text(element)

    def _tag(self, element: Element) -> None:
        key, kind = element.attributes.get("ID", ""), element.attributes.get("TYPE", "").strip()
        if element.name not in _KINDS or _KIND_OF_TEXT.fullmatch(kind.lower()):
            self._of_text[key] = kind or element.name
        else:
            stated = "" if kind.lower() in _ANY_TYPE else kind
            self._labels.setdefault(key, element.attributes.get("LABEL", "").strip() or stated)

    def end(self) -> None:
        """Read the pages; say which blocks have tags that are no labels, and what is on a page and no block."""
        if self.reads_items:
            self._read_items()
        for page, blocks in self._pages:
            for block in blocks:
                self._take_blocks(block)
            self._page(page)
        if self._others:
            rule = f"a page should have blocks, with lines and words in them ({_SOURCE})"
            what = f"{count_of(len(self._others), 'other element')}, the first a <{self._others[0].name}>"
            self.builder.left_out(self._others[0].place, rule, what, "They are left out.")
        if self._unlabelled:
            first, holder = self._unlabelled[0]
            rule = f"a block in one with a label should have a label of its own ({_SOURCE})"
            what = f"{count_of(len(self._unlabelled), 'block')} without, the first in one of {quote(holder)}"
            fix = "They have the name of their element; --level outer reads what holds them, by their labels."
            self.collector.warning(first.place, rule, what, fix)
        if self._left_out:
            first = self._left_out[0]
            kind = next(self._of_text[key] for key in _references(first) if key in self._of_text)
            rule = f"tags for named entities, roles, languages and fonts are no labels ({_SOURCE})"
            what = f"{count_of(len(self._left_out), 'block')} with one, the first of kind {quote(kind)}"
            fix = "These blocks have the label of another tag, of their TYPE or of their element."
            self.collector.warning(first.place, rule, what, fix)
        if self._unordered:
            rule = f"a page should have its order, in ReadingOrder or IDNEXT ({_SOURCE})"
            fix = "Its blocks have that of the file; those in margins have none."
            found = count_of(len(self._unordered), "page")
            self.collector.warning(self._unordered[0].place, rule, f"{found} without", fix)
        if self._bare:
            rule, found = f"a String must have CONTENT ({_SOURCE})", f"{len(self._bare):,} without"
            self.collector.warning(self._bare[0].place, rule, found, "They are read without text.")
        if self._broken:
            rule = f"IDNEXT should lead from one block to the next, and in no circle ({_SOURCE})"
            name = quote(self._broken[0].attributes.get("ID", ""))
            found = f"{count_of(len(self._broken), 'block')} that the next does not follow, the first {name}"
            fix = "Blocks of a circle have no place in the order; correct IDNEXT."
            self.collector.warning(self._broken[0].place, rule, found, fix)
        if self._nowhere:
            rule = f"IDNEXT should name a block ({_SOURCE})"
            name = quote(self._nowhere[0].attributes["IDNEXT"])
            found = f"{count_of(len(self._nowhere), 'name')} of nothing, the first {name}"
            self.collector.warning(self._nowhere[0].place, rule, found, "The order ends there.")
        super().end()

    def _read_items(self) -> None:
        """Find the texts of blocks, and their places: by ReadingOrder, else page by page by IDNEXT, else by file."""
        pages = [(page, [block for top in tops for block in _within(top)]) for page, tops in self._pages]
        holders: dict[str, Element] = {}
        for _, blocks in pages:
            for block in blocks:
                self._texts[id(block)] = self._text(block)
                holders.update((key, block) for key in _ids(block))
        unknown = []
        for root in self._order.get(_ROOT, ()):
            for element, place in self.references(root, ("REF", "")):
                known = [holders[key] for key in element.attributes.get("REF", "").split() if key in holders]
                if known:
                    self._places.setdefault(id(known[0]), place)
                else:
                    unknown.append(element)
        if unknown:
            rule = f"ReadingOrder should name what is on a page ({_SOURCE})"
            found = (
                f"{count_of(len(unknown), 'name')} of nothing, the first {quote(unknown[0].attributes.get('REF', ''))}"
            )
            self.collector.warning(unknown[0].place, rule, found, "They are left out.")
        for page, blocks in pages if not self._order else ():
            if any("IDNEXT" in block.attributes for block in blocks):
                places, broken = _chained(blocks)
                self._places.update(places)
                self._broken += broken
                nowhere = (block for block in blocks if block.attributes.get("IDNEXT", "") not in {"", *holders})
                self._nowhere += nowhere
            elif blocks:
                self._unordered.append(page)
        bare = {*map(id, self._unordered)}
        for page, tops in self._pages:
            if id(page) in bare:
                inner = (block for top in tops if not top.parent.endswith("Margin") for block in _within(top))
                self._places.update((id(block), (number,)) for number, block in enumerate(inner))

    def _text(self, block: Element) -> str | None:
        lines: list[str] = []
        stated = [child for child in block.children if child.name == "TextLine"]
        self.need_known(block.children, ("Shape", "TextLine", *_BLOCKS))
        for line in stated:
            words: list[str] = []
            self.need_known(line.children, ("Shape", "String", "SP", "HYP"))
            self._bare += (part for part in line.children if part.name == "String" and "CONTENT" not in part.attributes)
            for part in line.children:
                content, kind = part.attributes.get("CONTENT", ""), part.attributes.get("SUBS_TYPE")
                if part.name == "HYP" and words and not self._parted:
                    words[-1] += content
                elif part.name == "String" and kind == "HypPart2" and self._parted:
                    self._parted = False
                elif part.name == "String":
                    self._parted = kind == "HypPart1" and "SUBS_CONTENT" in part.attributes
                    words.append(part.attributes["SUBS_CONTENT"] if self._parted else content)
            lines.append(" ".join(words))
        return "\n".join(filter(None, lines)) if stated else None

    def _measure(self, element: Element) -> None:
        if element.text not in _UNITS:
            rule = f"MeasurementUnit must be one of {', '.join(_UNITS)} ({_SOURCE})"
            self.collector.error(element.place, rule, quote(element.text), "Correct the unit.")
        self._unit = element.text
        self.normalise = self._unit != "pixel"

    def _take_blocks(self, element: Element, inside: Item | None = None, holder: str = "") -> None:
        if element.name not in _BLOCKS:
            return
        stated = next(self._tags(element), "") or element.attributes.get("TYPE", "").strip()
        if holder and not stated:
            self._unlabelled.append((element, holder))
        label = stated or element.name
        inner = [child for child in element.children if child.name in _BLOCKS]
        item = self.item(inside, group=not is_whole(label)) if inside is not None or inner else None
        if shape := _shape(element, self):
            held = None
            if self.reads_items:
                texts = [text for block in _within(element) if (text := self._texts[id(block)]) is not None]
                held = Held(self._places.get(id(element)), "\n".join(texts) if texts else None)
            self.keep(element, label, shape, box_id=element.attributes.get("ID", ""), item=item, held=held)
            if any(key in self._of_text for key in _references(element)):
                self._left_out.append(element)
        for child in inner:
            self._take_blocks(child, item, "" if is_whole(label) or stated.lower() in _GROUPS else stated)

    def _tags(self, element: Element) -> Iterator[str]:
        for key in _references(element):
            if label := self._labels.get(key, ""):
                yield label

    def _page(self, element: Element) -> None:
        given = [key for key in ("WIDTH", "HEIGHT") if key in element.attributes]
        size = (self.number(element, "WIDTH"), self.number(element, "HEIGHT")) if given else None
        if size == (0.0, 0.0) and self._unit == "pixel":
            rule = f"WIDTH and HEIGHT should be those of the page ({_SOURCE})"
            fix = "The page is read without a size; write that of the image."
            self.collector.warning(element.place, rule, "0 x 0", fix)
            size = None
        page_id = element.attributes.get("ID", "")
        page = self.builder.page(stem_of(self._image), element.place, size=size, page_id=page_id, path=self._image)
        self.add_kept(page)


class Alto(XmlFormat):
    """ALTO, Library of Congress, versions 1 to 4, with and without prefix.

    Blocks at any depth are read, also those directly on the page; lines, words, margins and print space are not. A
    ``ComposedBlock`` is read as its blocks, and as a whole when its label is that of a table, figure or list; see
    `Reading.level`. The label is that of the first layout, structure or other tag (``LABEL``, else ``TYPE``) that is
    not about the text, else ``TYPE``, else the element (``TextBlock``); tags may stand behind the pages. Boxes are
    HPOS, VPOS, WIDTH and HEIGHT, or that of the outline. There are no scores, so a file may be either side. Files in
    ``mm10`` or ``inch1200`` need page sizes. ``boxes.ids`` are the ids of the blocks. Items have the places of
    ``ReadingOrder``, else of IDNEXT, else of the file, and the text of their lines.
    """

    name = "alto"
    title = "ALTO XML, versions 1 to 4"
    looks_for = "an <alto> element"
    source = _SOURCE
    holds_items = True
    marks = (re.compile(rb"<(?:[\w.-]+:)?alto[\s/>]"),)
    depth = _DEPTH
    states_side = False
    file_per_document = True
    file = _File


FORMAT: Final = Alto()


def _without_text(element: Element) -> Element:
    """Return a block without its lines and words, which need not be held until the file ends."""
    blocks = (_without_text(child) for child in element.children if child.name in _BLOCKS)
    element.children = [*blocks, *(child for child in element.children if child.name == "Shape")]
    return element


def _within(block: Element) -> Iterator[Element]:
    yield block
    for child in block.children:
        if child.name in _BLOCKS:
            yield from _within(child)


def _ids(element: Element) -> Iterator[str]:
    if "ID" in element.attributes:
        yield element.attributes["ID"]
    for child in element.children:
        if child.name not in _BLOCKS:
            yield from _ids(child)


def _chained(blocks: Sequence[Element]) -> tuple[dict[int, Place], list[Element]]:
    """Return the places of blocks that name the next one, and those whose next one does not follow them.

    Several chains may be read in any order.
    """
    following = {block.attributes["ID"]: block.attributes.get("IDNEXT") for block in blocks if "ID" in block.attributes}
    by_id = {block.attributes.get("ID"): block for block in blocks}
    named = {*following.values()}
    starts = [key for key, after in following.items() if after is not None and key not in named]
    places: dict[int, Place] = {}
    left = {id(block) for block in blocks if block.attributes.get("IDNEXT") in following}
    for chain, start in enumerate(starts):
        at = member_place((), chain, ordered=False) if len(starts) > 1 else ()
        before = 0
        key: str | None = start
        while key in following and (block := id(by_id[key])) not in places:
            left.discard(before)
            places[block] = (*at, len(places))
            before, key = block, following[key]
    return places, [block for block in blocks if id(block) in left]


def _references(element: Element) -> list[str]:
    return element.attributes.get("TAGREFS", "").split()


def _shape(element: Element, file: _File) -> Shape | None:
    collector = file.collector
    number = partial(xml_text.number, element, collector=collector, source=_SOURCE)
    shape = element.child("Shape")
    polygon = shape.child("Polygon") if shape else None
    oval = next((each for each in shape.children if each.name in ("Circle", "Ellipse")), None) if shape else None
    ring = None
    if polygon is not None:
        text, pairs = polygon.attributes.get("POINTS", ""), "of finite numbers"
        ring = ring_of(polygon, text, collector, source=_SOURCE, key="POINTS", noun="block", pairs=pairs)
    if any(key in element.attributes for key in _EDGES):
        left, top, width, height = map(number, _EDGES)
        if any(map(math.isnan, (left, top, width, height))):
            return None
        if width < 0 or height < 0:
            rule = f"WIDTH and HEIGHT must not be negative ({_SOURCE})"
            collector.error(element.place, rule, listed((width, height)), "Correct the block, or remove it.")
            return None
        box = left, top, left + width, top + height
        if ring is not None:
            file.builder.check_again(element.place, "HPOS and WIDTH", box, "Polygon", bounds(ring))
        return Shape(box, () if ring is None else outline(ring))
    if ring is not None:
        return Shape.of(ring)
    if oval is not None:
        return _oval(oval, collector)
    if polygon is None:
        rule = f"a block must have {', '.join(_EDGES)} or an outline ({_SOURCE})"
        file.builder.left_out(element.place, rule, "neither", "It is left out; give its place to have it compared.")
    return None


def _oval(shape: Element, collector: Collector) -> Shape | None:
    """Return the box and outline of a circle or an ellipse, of which the lengths are the whole ones; None for none."""
    # A rotation is that of what the block holds.
    keys = ("HPOS", "VPOS", *(("RADIUS", "RADIUS") if shape.name == "Circle" else ("HLENGTH", "VLENGTH")))
    x, y, across, down = (xml_text.number(shape, key, collector, source=_SOURCE) for key in keys)
    if any(map(math.isnan, (x, y, across, down))):
        return None
    if min(across, down) < 0:
        rule = f"{' and '.join(dict.fromkeys(keys[2:]))} must not be negative ({_SOURCE})"
        collector.error(shape.place, rule, listed((across, down)), "Correct the block, or remove it.")
        return None
    half = 1.0 if shape.name == "Circle" else 0.5
    return Shape.of_ellipse((x, y), (half * across, half * down))
