"""Base of the XML formats of annotation tools: elements to pages and boxes in pixels, origin top left."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import ClassVar, Final

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations, Place, Side
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import xml_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import FEWEST_POINTS, Builder, Held, Shape, member_place, points
from evaluator.formats.xml_text import Element

_GROUPS: Final = ("OrderedGroup", "UnorderedGroup")
_BESIDE_REFERENCES: Final = ("UserDefined", "Labels")
NO_PLACES: Final[Mapping[str, Place]] = {}
"""Of a page that states no order."""


class Item:
    """What may lie in others and hold them; with `group` it is read as its parts."""

    __slots__ = ("group",)

    def __init__(self, *, group: bool) -> None:
        self.group = group


class XmlFile(ABC):
    """The elements of a file as pages and boxes, in shares with `normalise`; `collector` gets every issue.

    With `reads_items` their order, text and cells are read besides; see `Reading`.
    """

    normalise = reads_items = False

    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        self.collector, self.name, self._source = collector, name, format.source
        self.builder = Builder(collector, format=format.name, source=format.source, score=format.score)
        self._kept: list[tuple[str, Held | None, Callable[..., None]]] = []
        self._unknown: list[Element] = []

    def item(self, inside: Item | None, *, group: bool) -> Item:
        """Return an item that lies in another, or in none."""
        item = Item(group=group)
        if inside is not None:
            self.builder.nesting.put(item, inside=inside, group=inside.group)
        return item

    def keep(
        self,
        element: Element,
        label: str,
        shape: Shape,
        *,
        box_id: str,
        score: float | None = None,
        item: Hashable = None,
        held: Held | None = None,
    ) -> None:
        """Keep the box of an element until `add_kept`: the page of it ends later."""
        add = partial(self.builder.box, label=label, xyxy=shape.xyxy, place=element.place, score=score)
        self._kept.append((box_id, held, partial(add, rings=shape.rings, box_id=box_id, item=item)))

    def add_kept(self, page: int, places: Mapping[str, Place] = NO_PLACES) -> None:
        """Add the boxes that were kept for a page, which stand in its order at these places by id."""
        for box_id, held, add in self._kept:
            placed = None if held is None else held._replace(order=places.get(box_id, held.order))
            add(page, held=placed)
        self._kept.clear()

    def need_known(self, elements: Iterable[Element], known: Collection[str]) -> None:
        """Say in the end which of some elements have another name than these, so that what they hold is not read."""
        self._unknown += (each for each in elements if each.name not in known)

    def references(self, group: Element, keys: tuple[str, str], at: Place = ()) -> Iterator[tuple[Element, Place]]:
        """Yield what refers to others in the groups of a reading order, with their places.

        `keys`: the attributes of a reference and of its number in an ordered group. A group that refers to something
        itself is read after that.
        """
        key, index = keys
        if not group.name.startswith(_GROUPS):
            yield group, at
            return
        if key in group.attributes:
            yield group, member_place(at, 0, ordered=True)
            at = member_place(at, 1, ordered=True)
        ordered = group.name.startswith("Ordered")
        members = [each for each in group.children if each.name.startswith((*_GROUPS, "RegionRef", "ElementRef"))]
        self.need_known((each for each in group.children if each not in members), _BESIDE_REFERENCES)
        if ordered and any(index in each.attributes for each in members):
            members.sort(key=lambda each: self.number(each, index))
        for number, member in enumerate(members):
            yield from self.references(member, keys, member_place(at, number, ordered=ordered))

    @abstractmethod
    def take(self, element: Element) -> None:
        """Take an element that has ended, at the depth of the format or around that."""

    def end(self) -> None:
        """Report what only the whole file shows; a file without a page where a format has nothing else to say."""
        if self._unknown:
            rule = f"elements should be those of the format ({self._source})"
            first = self._unknown[0]
            what = f"{count_of(len(self._unknown), 'other element')}, the first a <{first.name}>"
            self.collector.warning(first.place, rule, what, "What they hold is not read.")
        if not self.builder.pages and not self.collector.failed:
            self.collector.error("", f"the file must have a <Page> ({self._source})", "none", "Export the file again.")

    def number(self, element: Element, key: str) -> float:
        """Return the finite number of an attribute; see `xml_text.number`."""
        return xml_text.number(element, key, self.collector, source=self._source)


class XmlFormat(BoxFormat):
    """A format of XML files of pages or images.

    `source`: what the rules come from, for issues. `marks`: the head of a file has all. `score_mark`: what a file with
    scores has; None for a format without. `score`: its name there. `depth`: elements at it are taken whole; 1 for the
    root.
    """

    suffixes = (".xml",)
    source: ClassVar[str]
    marks: ClassVar[tuple[re.Pattern[bytes], ...]]
    score_mark: ClassVar[re.Pattern[bytes] | None] = None
    score: ClassVar[str] = "score"
    depth: ClassVar[int] = 1
    file: ClassVar[type[XmlFile]]

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether XML has the marks of the format; see `Format.looks_for`."""
        text = xml_text.narrow(head)
        return xml_text.looks_like_xml(head) and all(mark.search(text) for mark in self.marks)

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction" when the file has a score; None otherwise."""
        scored = self.score_mark is not None and self.score_mark.search(xml_text.narrow(content))
        return "prediction" if scored else None

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, in pixels, or page where the format states so; see `Format.read`."""
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        source = xml_text.open_source(content, collector)
        file = self.file(self, collector, name)
        file.reads_items = reading.items
        xml_text.parse(source, file.take, collector, depth=self.depth)
        file.end()
        return file.builder.annotations(source.sha256, reading, normalise=file.normalise)


def ring_of(
    element: Element,
    text: str,
    collector: Collector,
    *,
    source: str,
    key: str = "points",
    noun: str = "region",
    pairs: str = "x,y of finite numbers with blanks between them",
) -> FloatArray | None:
    """Return an outline, float64 (K, 2), from the text of an attribute `key`; None with an error for anything else."""
    ring = points(text)
    if ring is None:
        rule = f"{key} must be pairs {pairs} ({source})"
        collector.error(element.place, rule, quote(text), f'Write them, for example {key}="10,10 90,10 50,60".')
    elif len(ring) < FEWEST_POINTS:
        rule = f"an outline must have at least {FEWEST_POINTS} points ({source})"
        collector.error(element.place, rule, quote(text), f"Correct the {noun}, or remove it.")
        return None
    return ring
