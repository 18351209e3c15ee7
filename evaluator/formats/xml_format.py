"""What the readers of annotation tools' XML share: marks of the content, and elements that become pages and boxes.

Owns `XmlFormat`, the base of these formats, and `XmlFile`, the file while it is read. Coordinates are pixels of the
image, origin top left, unless a format states otherwise. Nothing is clamped, and no image is opened.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar

from evaluator.formats import xml_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder
from evaluator.formats.xml_text import Element
from evaluator.model.dataset import Annotations, Side
from evaluator.model.issues import Collector


class XmlFile(ABC):
    """The elements of a file as pages and boxes, with the issues that one element shows.

    Attributes
    ----------
    collector : Collector
        Of the file; gets every issue.
    name : str
        Of the file.
    builder : Builder
    normalise : bool
        Boxes become shares of their page. Else they stay pixels.
    """

    normalise = False

    def __init__(self, format: XmlFormat, collector: Collector, name: str) -> None:
        self.collector, self.name, self._source = collector, name, format.source
        self.builder = Builder(collector, format=format.name, source=format.source, score=format.score)

    @abstractmethod
    def take(self, element: Element) -> None:
        """An element that has ended, at the depth of the format or around that."""

    @abstractmethod
    def end(self) -> None:
        """Report what only the whole file shows."""

    def number(self, element: Element, key: str) -> float:
        """The finite number of an attribute; see `xml_text.number`."""
        return xml_text.number(element, key, self.collector, source=self._source)


class XmlFormat(BoxFormat):
    """A format of XML files of pages or images.

    Attributes
    ----------
    source : str
        What the rules come from, for issues.
    marks : tuple of pattern
        The head of a file has all of them.
    score_mark : pattern or None
        What a file with scores has; None for a format without scores.
    score : str
        What the file calls a score.
    depth : int
        Elements at this depth are taken whole; 1 for the root.
    file : type of XmlFile
    """

    suffixes = (".xml",)
    source: ClassVar[str]
    marks: ClassVar[tuple[re.Pattern[bytes], ...]]
    score_mark: ClassVar[re.Pattern[bytes] | None] = None
    score: ClassVar[str] = "score"
    depth: ClassVar[int] = 1
    file: ClassVar[type[XmlFile]]

    def detect(self, head: bytes, name: str = "") -> bool:
        """XML with the marks of the format; see `Format.looks_for`."""
        text = xml_text.narrow(head)
        return xml_text.looks_like_xml(head) and all(mark.search(text) for mark in self.marks)

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """A prediction when the file has a score; else it does not state its side."""
        scored = self.score_mark is not None and self.score_mark.search(xml_text.narrow(content))
        return "prediction" if scored else None

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """The columns of a file; see `Format.read`.

        Returns
        -------
        Annotations
            Unit pixels, or page where the format states so. A file without regions gives box columns of length 0.
        """
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        source = xml_text.open_source(content, collector)
        file = self.file(self, collector, name)
        xml_text.parse(source, file.take, collector, depth=self.depth)
        file.end()
        return file.builder.annotations(source.sha256, reading, normalise=file.normalise)
