"""Files of the ICDAR 2017 page object detection competition (POD): XML to boxes and outlines.

Pixels of the page image, origin top left; the files state no page size. A page's document is the stem of its image name
in lower case, its page index 0. Boxes are the smallest that hold all points; points that are not all corners of that
box are its outline, in their order.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput, Collector, Issue, quote
from evaluator.formats import archive, folder, limits, unsupported, xml_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder, Shape
from evaluator.formats.pod.pair import check_pair
from evaluator.formats.xml_text import Element

LABELS: Final = ("formula", "table", "figure")
"""The labels of the competition, in the order of its tables."""

SUFFIXES: Final = (".xml",)

_SOURCE = "ICDAR 2017 POD"
_REGION_LABEL = {f"{label}region": code for code, label in enumerate(LABELS)}
_REGION_NAMES = "formulaRegion, tableRegion or figureRegion"
_NUMBER_TEXT = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_POINT = re.compile(rf"{_NUMBER_TEXT},{_NUMBER_TEXT}", re.ASCII)
_POINTS = re.compile(rf"\s*+{_POINT.pattern}(?:\s++{_POINT.pattern})*+\s*+", re.ASCII)
_ROOT_MARK = re.compile(rb"<document[\s/>]", re.IGNORECASE)
_NAMED_ROOT_MARK = re.compile(rb"<document\s[^<>]*?\bfilename\s*=", re.IGNORECASE)
_TABLE_MARK = re.compile(rb"<table[\s/>]", re.IGNORECASE)
_PROB_MARK = re.compile(rb"\sprob\s*=", re.IGNORECASE)
_REGION_MARK = re.compile(rb"<(?:formula|table|figure)region[\s/>]", re.IGNORECASE)


class _Region(NamedTuple):
    """A region without its element, which takes ten times the memory.

    `page`: row of its page. `position`: in that page. `name`: of the element, as written. `prob`: None without.
    """

    page: int
    position: int
    name: str
    line: int
    prob: str | None
    shape: Shape

    @property
    def place(self) -> str:
        return f"line {self.line}, <{self.name}>"


class _Page(NamedTuple):
    """A page without its element: file name, line and tag."""

    filename: str
    line: int
    place: str


class Pod(BoxFormat):
    """ICDAR 2017 POD, "Results format", and its sample submission: tags in any case, two points or more.

    A file holds one page or many (``<document>`` roots one after the other, as in the official sample, which is not
    well-formed XML); a zip archive holds such files. Left open there: two entries of one page are an error; regions of
    another kind are left out with a warning; a ``prob`` outside [0, 1] is kept with a warning, as only the rank
    matters.
    """

    name = "pod"
    title = "ICDAR 2017 page object detection (XML, or a zip archive of it)"
    looks_for = "a <document> element or a zip archive"
    suffixes = SUFFIXES
    empty_of = ("ctdar",)
    lower_case = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether a ``<document>`` element of the format, or a zip archive, is there."""
        return archive.is_archive(head) or (
            xml_text.looks_like_xml(head)
            and _is_pod(xml_text.narrow(head))
            and unsupported.find(xml_text.narrow(head)) is None
        )

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction" where a region has ``prob``; None without regions or for a broken archive."""
        if not archive.is_archive(content):
            return _stated_side(content)
        try:
            members = archive.read(content, Collector("", max_per_rule=1), suffixes=SUFFIXES)
        except BadInput:
            return None
        return _of_all([_stated_side(member.content) for member in members])

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file or zip archive, in pixels without page sizes; see `Format.read`.

        One document for each page; labels are always the three of the competition, ``boxes.ids`` lines; ``parts`` are
        the files of an archive. A file without regions is a ground truth when no side is given. Regions of predictions
        without ``prob`` are an error; read leniently they get 1.0 with a warning.
        """
        if archive.is_archive(content):
            return _archive(content, name, reading)
        file = _File(name, content, reading.max_per_rule)
        return file.annotations(reading.side or file.side or "ground_truth", reading)

    def pair_issues(self, truth: Annotations, prediction: Annotations, *, lenient: bool = False) -> tuple[Issue, ...]:
        """See `check_pair`."""
        return check_pair(truth, prediction, lenient=lenient)


FORMAT: Final = Pod()


def _archive(content: bytes, name: str, reading: Reading) -> Annotations:
    collector = Collector(name, max_per_rule=reading.max_per_rule)
    members = archive.read(content, collector, suffixes=SUFFIXES)
    files, parts, issues = [], [], list(collector.issues())
    for member in members:
        try:
            files.append(_File(f"{name}/{member.name}", member.content, reading.max_per_rule))
        except BadInput as bad:
            issues += bad.issues
    side = reading.side or _of_all([file.side for file in files]) or "ground_truth"
    for file in files:
        try:
            parts.append(file.annotations(side, reading))
        except BadInput as bad:
            issues += bad.issues
    if len(parts) < len(members):
        raise BadInput([*issues, *(issue for part in parts for issue in part.issues)])
    merged = folder.merge(name, parts)
    digest = hashlib.sha256(content).hexdigest()
    return replace(merged, sha256=digest, issues=(*issues, *merged.issues))


class _File:
    """One XML file; `BadInput` when it cannot be read to its end, other errors wait for `annotations`."""

    def __init__(self, name: str, content: bytes, max_per_rule: int | None) -> None:
        self.collector = Collector(name, max_per_rule=max_per_rule)
        source = xml_text.open_source(content, self.collector)
        self.sha256 = source.sha256
        self._roots = 0
        self._pages: list[_Page] = []
        self._regions: list[_Region] = []
        self._others: list[tuple[str, str]] = []
        xml_text.parse(source, self._take, self.collector)
        if not self._roots and not self.collector.failed:
            rule = f"a file must have a <document> for each page ({_SOURCE})"
            self.collector.error("", rule, "no element", "Export the file again.")

    @property
    def side(self) -> Side | None:
        """Return "prediction" when a region has a probability; None without regions."""
        if not self._regions:
            return None
        scored = any(region.prob is not None for region in self._regions)
        return "prediction" if scored else "ground_truth"

    def annotations(self, side: Side, reading: Reading) -> Annotations:
        """Return the columns of the file as one side; `BadInput` with all issues when anything is wrong."""
        builder = Builder(self.collector, format=FORMAT.name, source=_SOURCE, labels=LABELS, score="prob")
        _check_repeated(self._pages, self.collector)
        for page in self._pages:
            name = page.filename
            builder.page(_page_key(name), page.place, page_id=name, name=_last_part(name), path=name)
        for place, kind in self._others:
            rule = f"a region must be a {_REGION_NAMES} ({_SOURCE})"
            # A model may find regions of more kinds than the competition has, and none of these on a page.
            other_region = side == "prediction" and kind.lower().endswith("region")
            leave_out = self.collector.warning if other_region else builder.left_out
            leave_out(place, rule, quote(kind), "It is left out.")
        for region in self._regions:
            builder.box(
                region.page,
                LABELS[_REGION_LABEL[region.name.lower()]],
                region.shape.xyxy,
                region.place,
                score=_score(region, self.collector, side, lenient=reading.lenient),
                rings=region.shape.rings,
                position=region.position,
                box_id=f"line {region.line}",
            )
        return builder.annotations(self.sha256, reading, side=side)

    def _take(self, page: Element) -> None:
        self._roots += 1
        if page.name.lower() != "document":
            rule = f"the outermost elements must be <document> ({_SOURCE})"
            self.collector.error(page.place, rule, quote(page.name), "Give one <document> for each page.")
            return
        filename = page.attributes.get("filename", "")
        if not _page_key(filename):
            rule = f"a document must have a filename ({_SOURCE})"
            what = quote(filename) if "filename" in page.attributes else ""
            fix = 'Name the page image, for example filename="POD_0001.bmp".'
            self.collector.error(page.place, rule, what, fix)
        elif _last_part(filename) != filename:
            rule = "a filename should be a name without folders"
            fix = f"Pages go by names: it is read as {quote(_last_part(filename))}."
            self.collector.warning(page.place, rule, quote(filename), fix)
        position = 0
        for element in page.children:
            if element.name.lower() not in _REGION_LABEL:
                self._others.append((element.place, element.name))
                continue
            if shape := self._shape(element):
                prob, name = element.attributes.get("prob"), sys.intern(element.name)
                self._regions.append(_Region(len(self._pages), position, name, element.line, prob, shape))
            position += 1
        self._pages.append(_Page(filename, page.line, page.place))

    def _shape(self, region: Element) -> Shape | None:
        coords = [inner for inner in region.children if inner.name.lower() == "coords"]
        for inner in region.children:
            if inner not in coords:
                rule = f"a region has nothing but a <Coords> element ({_SOURCE})"
                self.collector.warning(inner.place, rule, quote(inner.name), "It is left out.")
        for again in coords[1:]:
            rule = f"a region must have one <Coords> element ({_SOURCE})"
            self.collector.error(again.place, rule, "another one", "Make two regions of it.")
        if not coords:
            rule = f"a region must have a <Coords> element ({_SOURCE})"
            self.collector.error(region.place, rule, "none", "Add the points, or remove the region.")
        return _shape(coords[0], self.collector) if coords else None


def _shape(element: Element, collector: Collector) -> Shape | None:
    text = element.attributes.get("points", "")
    if not _POINTS.fullmatch(text):
        rule = f"points must be pairs x,y of finite numbers with blanks between them ({_SOURCE})"
        wrong = next((point for point in text.split() if not _POINT.fullmatch(point)), "")
        what = f"{quote(wrong)} in {quote(text)}" if wrong and wrong != text else quote(text)
        fix = 'Write the corners, for example points="100,100 300,200".'
        collector.error(element.place, rule, what if "points" in element.attributes else "no points", fix)
        return None
    values = [float(value) for value in text.replace(",", " ").split()]
    x, y = values[::2], values[1::2]
    if len(x) < 2:
        rule = f"points must be at least two ({_SOURCE})"
        collector.error(element.place, rule, quote(text), "Give two opposite corners, or all four.")
        return None
    corners = min(x), min(y), max(x), max(y)
    if not max(map(abs, corners)) <= limits.MAX_COORDINATE:
        rule = f"coordinates must be at most {limits.MAX_COORDINATE:,.0f} pixels"
        collector.error(element.place, rule, quote(text), "Correct the points.")
        return None
    if min(corners) < 0.0:
        rule = f"coordinates should not be negative, the origin is top left ({_SOURCE})"
        collector.warning(element.place, rule, quote(text), "The box is kept as it is.")
    # The corners of a box may come in any order, also in one that would be a polygon which crosses itself.
    points = set(zip(x, y, strict=True))
    is_box = len(points) != 3 and all(one in corners[::2] and other in corners[1::2] for one, other in points)
    return Shape(corners, () if is_box else (np.array([x, y]).T.copy(),))


def _score(region: _Region, collector: Collector, side: Side, *, lenient: bool) -> float:
    prob = region.prob
    if prob is None:
        if side == "ground_truth":
            return math.nan
        rule = f"a predicted region must have a prob, it decides the rank ({_SOURCE})"
        strict = "Add it. Snapshot and pixel need none; the command line takes 1.0 for it with --lenient."
        fix = "It gets 1.0, as asked for." if lenient else strict
        collector.add("warning" if lenient else "error", region.place, rule, "none", fix)
        return 1.0 if lenient else math.nan
    if not xml_text.is_number(prob):
        rule = f"prob must be a finite number ({_SOURCE})"
        collector.error(region.place, rule, quote(prob), "Write a number between 0 and 1.")
        return math.nan
    return float(prob)


def _check_repeated(pages: Sequence[_Page], collector: Collector) -> None:
    first: dict[str, _Page] = {}
    for page in pages:
        filename = page.filename
        other = first.setdefault(_page_key(filename), page)
        if other is not page and _page_key(filename):
            rule = f"a page must not be there twice; pages go by name without ending and letter case ({_SOURCE})"
            what = f"{quote(filename)} after {quote(other.filename)} in line {other.line}"
            collector.error(page.place, rule, what, "Put all regions of a page in one document.")


def _page_key(filename: str) -> str:
    """Return what a page goes by: its file name without folders and ending, in lower case."""
    name = _last_part(filename).strip()
    return (name.rpartition(".")[0] or name).lower()


def _last_part(filename: str) -> str:
    return re.split(r"[/\\]", filename)[-1]


def _of_all(sides: Sequence[Side | None]) -> Side | None:
    """Return what several files are together: predictions when any of them is."""
    return "prediction" if "prediction" in sides else "ground_truth" if "ground_truth" in sides else None


def _is_pod(text: bytes) -> bool:
    """Return whether a ``<document>`` has a region, or a file name and no ``<table>``, as those of cTDaR have."""
    if _ROOT_MARK.search(text) is None:
        return False
    named = _NAMED_ROOT_MARK.search(text) is not None and _TABLE_MARK.search(text) is None
    return named or _REGION_MARK.search(text) is not None


def _stated_side(content: bytes) -> Side | None:
    text = xml_text.narrow(content)
    if _REGION_MARK.search(text) is None:
        return None
    return "prediction" if _PROB_MARK.search(text) else "ground_truth"
