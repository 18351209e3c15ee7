"""Files of the ICDAR 2017 page object detection competition (POD): XML to columns.

Owns the format `Pod`. A file holds one page or many (``<document>`` roots one
after the other, as in the official sample, which is not well-formed XML), a zip archive holds such files.
Coordinates are pixels of the page image, origin top left; the files do not state how large a page is. Pages go by
the stem of their image name in lower case: that is the document, and its page index is 0. Boxes are the smallest
that hold all points; points that are not all corners of that box are its outline, in their order. Nothing is
clamped; what is left out or filled in is an issue.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from evaluator.formats import archive, folder, limits, xml_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.pod.pair import check_pair
from evaluator.formats.xml_text import Element
from evaluator.model.boxes import FloatArray
from evaluator.model.dataset import Annotations, Boxes, Document, Side
from evaluator.model.issues import BadInput, Collector, Issue, quote

LABELS: Final = ("formula", "table", "figure")
"""The labels of the competition, in the order of its tables."""

SUFFIXES: Final = (".xml",)

_SOURCE = "ICDAR 2017 POD"
_REGION_LABEL = {f"{label}region": code for code, label in enumerate(LABELS)}
_REGION_NAMES = "formulaRegion, tableRegion or figureRegion"
_NUMBER_TEXT = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_NUMBER = re.compile(_NUMBER_TEXT, re.ASCII)
_POINT = re.compile(rf"{_NUMBER_TEXT},{_NUMBER_TEXT}", re.ASCII)
_POINTS = re.compile(rf"\s*+{_POINT.pattern}(?:\s++{_POINT.pattern})*+\s*+", re.ASCII)
_ROOT_MARK = re.compile(rb"<document[\s/>]", re.IGNORECASE)
_PROB_MARK = re.compile(rb"\sprob\s*=", re.IGNORECASE)
_REGION_MARK = re.compile(rb"<(?:formula|table|figure)region[\s/>]", re.IGNORECASE)

Corners = tuple[float, float, float, float]


class _Page(NamedTuple):
    """A page as a file names it, and where."""

    filename: str
    key: str
    line: int


class _Region(NamedTuple):
    """A region: row of its page, position, label code, corners, outline, probability as written, line, tag."""

    page: int
    position: int
    label: int
    xyxy: Corners
    ring: FloatArray | None
    prob: str | None
    line: int
    tag: str


class Pod(BoxFormat):
    """Files of the ICDAR 2017 page object detection competition.

    Notes
    -----
    ICDAR 2017 POD, "Results format", and its sample submission: tags in any capitalisation, at least two points in
    any order. Left open there: two entries of one page are an error; regions of another kind are left out with a
    warning; a ``prob`` outside [0, 1] is kept with a warning, because only the rank matters.
    """

    name = "pod"
    title = "ICDAR 2017 page object detection (XML, or a zip archive of it)"
    looks_for = "a <document> element or a zip archive"
    suffixes = SUFFIXES

    def detect(self, head: bytes, name: str = "") -> bool:
        """A ``<document>`` element, or a zip archive."""
        return archive.is_archive(head) or (
            xml_text.looks_like_xml(head) and _ROOT_MARK.search(xml_text.narrow(head)) is not None
        )

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Predictions have a ``prob``; None for a file without regions, and for an archive that cannot be read."""
        if not archive.is_archive(content):
            return _stated_side(content)
        try:
            members = archive.read(content, Collector("", max_per_rule=1), suffixes=SUFFIXES)
        except BadInput:
            return None
        return _of_all([_stated_side(member.content) for member in members])

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """The columns of a file, or of a zip archive of such files; see `Format.read`.

        Regions of predictions without ``prob`` are an error; read leniently they get 1.0 with a warning.

        Returns
        -------
        Annotations
            In pixels, without page sizes, one document for each page. Labels are always the three of the competition;
            ``boxes.ids`` give the line of the region. A file without regions gives box columns of length 0 and is a
            ground truth when no side is given. For an archive ``parts`` are its files.
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
    """The columns of all files of a zip archive as one side."""
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
    """One XML file: what it states, and what is wrong with it.

    Raises `BadInput` when the file cannot be read to its end; other errors wait for `annotations`.
    """

    def __init__(self, name: str, content: bytes, max_per_rule: int | None) -> None:
        self.collector = Collector(name, max_per_rule=max_per_rule)
        source = xml_text.open_source(content, self.collector)
        self.sha256 = source.sha256
        self.pages: list[_Page] = []
        self.regions: list[_Region] = []
        elements = _Elements(self.pages, self.regions, self.collector)
        xml_text.parse(source, elements, self.collector)
        if not elements.roots and not self.collector.failed:
            rule = f"a file must have a <document> for each page ({_SOURCE})"
            self.collector.error("", rule, "no element", "Export the file again.")
        self.side = _side_of_regions(self.regions)

    def annotations(self, side: Side, reading: Reading) -> Annotations:
        """The columns of the file as one side; `BadInput` with all issues when anything is wrong."""
        collector, regions = self.collector, self.regions
        _check_pages(self.pages, collector)
        _check_crowds(self.pages, regions, collector)
        if side == "ground_truth":
            _check_truth(regions, collector, as_reference=reading.as_reference)
            score = np.full(len(regions), np.nan)
        else:
            scores = [_score(region, collector, lenient=reading.lenient) for region in regions]
            score = np.array(scores, dtype=np.float64)
        if collector.failed:
            raise BadInput(collector.issues())
        page = np.array([region.page for region in regions], dtype=np.int32)
        return Annotations(
            name=collector.file,
            sha256=self.sha256,
            format=FORMAT.name,
            side=side,
            model=None,
            version=None,
            labels=LABELS,
            evaluated=len(LABELS),
            documents=tuple(Document(page.key, _last_part(page.filename), page.filename) for page in self.pages),
            page_document=np.arange(len(self.pages), dtype=np.int32),
            page_index=np.zeros(len(self.pages), dtype=np.int64),
            boxes=Boxes(
                document=page,
                page=np.zeros(len(regions), dtype=np.int64),
                label=np.array([region.label for region in regions], dtype=np.int32),
                xyxy=np.array([region.xyxy for region in regions], dtype=np.float64).reshape(-1, 4),
                score=score,
                entry=page.copy(),
                position=np.array([region.position for region in regions], dtype=np.int32),
                ids=[f"line {region.line}" for region in regions],
                polygons={row: [region.ring] for row, region in enumerate(regions) if region.ring is not None},
            ),
            issues=collector.issues(),
            page_ids=[page.filename for page in self.pages],
            unit="pixels",
        )


class _Elements:
    """The visitor: elements to pages and regions, with the issues that one element shows."""

    def __init__(self, pages: list[_Page], regions: list[_Region], collector: Collector) -> None:
        self._pages, self._regions, self._collector = pages, regions, collector
        self._in_page = False
        self._region: Element | None = None
        self._shape: tuple[Corners, FloatArray | None] | None = None
        self._has_coords = False
        self._position = 0
        self.roots = 0

    def start(self, element: Element) -> None:
        """Take note of an element by its depth: page, region, points."""
        if element.depth == 1:
            self._start_page(element)
        elif element.depth == 2 and self._in_page:
            self._start_region(element)
        elif element.depth == 3 and self._region is not None:
            self._start_coords(element)

    def end(self, element: Element) -> None:
        """A region is complete."""
        if element.depth == 1:
            self._in_page = False
        if element.depth != 2 or self._region is None:
            return
        if not self._has_coords:
            rule = f"a region must have a <Coords> element ({_SOURCE})"
            self._collector.error(element.place, rule, "none", "Add the points, or remove the region.")
        elif self._shape is not None:
            page, label = len(self._pages) - 1, _REGION_LABEL[element.name.lower()]
            prob = element.attributes.get("prob")
            region = _Region(page, self._position, label, *self._shape, prob, element.line, element.name)
            self._regions.append(region)
        self._position += 1
        self._region = None

    def _start_page(self, element: Element) -> None:
        self.roots += 1
        self._position = 0
        self._in_page = element.name.lower() == "document"
        if not self._in_page:
            rule = f"the outermost elements must be <document> ({_SOURCE})"
            fix = "Give one <document> for each page."
            self._collector.error(element.place, rule, quote(element.name), fix)
            return
        filename = element.attributes.get("filename", "")
        key = _page_key(filename)
        if not key:
            rule = f"a document must have a filename ({_SOURCE})"
            what = quote(filename) if "filename" in element.attributes else ""
            fix = 'Name the page image, for example filename="POD_0001.bmp".'
            self._collector.error(element.place, rule, what, fix)
        elif _last_part(filename) != filename:
            rule = "a filename should be a name without folders"
            fix = f"Pages go by names: it is read as {quote(_last_part(filename))}."
            self._collector.warning(element.place, rule, quote(filename), fix)
        self._pages.append(_Page(filename, key, element.line))

    def _start_region(self, element: Element) -> None:
        if element.name.lower() not in _REGION_LABEL:
            rule = f"a region must be a {_REGION_NAMES} ({_SOURCE})"
            self._collector.warning(element.place, rule, quote(element.name), "It is left out.")
            return
        self._region, self._shape, self._has_coords = element, None, False

    def _start_coords(self, element: Element) -> None:
        if element.name.lower() != "coords":
            rule = f"a region has nothing but a <Coords> element ({_SOURCE})"
            self._collector.warning(element.place, rule, quote(element.name), "It is left out.")
            return
        if self._has_coords:
            rule = f"a region must have one <Coords> element ({_SOURCE})"
            self._collector.error(element.place, rule, "another one", "Make two regions of it.")
            return
        self._has_coords = True
        self._shape = _shape(element, self._collector)


def _shape(element: Element, collector: Collector) -> tuple[Corners, FloatArray | None] | None:
    """The smallest box that holds all points, and the outline when they are no box; None with an issue for neither."""
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
    return corners, None if is_box else np.array([x, y]).T.copy()


def _score(region: _Region, collector: Collector, *, lenient: bool) -> float:
    """The probability of a prediction; NaN with an error."""
    where = xml_text.place(region.line, region.tag)
    if region.prob is None:
        rule = f"a predicted region must have a prob, it decides the rank ({_SOURCE})"
        fix = "It gets 1.0, as asked for." if lenient else "Add it, or allow 1.0 for it with --lenient."
        collector.add("warning" if lenient else "error", where, rule, "none", fix)
        return 1.0 if lenient else math.nan
    text = region.prob.strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    if math.isinf(value):
        rule = f"prob must be a finite number ({_SOURCE})"
        collector.error(where, rule, quote(region.prob), "Write a number between 0 and 1.")
    elif not 0.0 <= value <= 1.0:
        rule = f"prob should be between 0 and 1 ({_SOURCE})"
        collector.warning(where, rule, quote(region.prob), "It is kept as it is; only the rank counts.")
    return value


def _check_truth(regions: Sequence[_Region], collector: Collector, *, as_reference: bool) -> None:
    """An issue when the regions of a ground truth have probabilities: it is a submission."""
    scored = [region for region in regions if region.prob is not None]
    if not scored:
        return
    where, what = xml_text.place(scored[0].line, scored[0].tag), f"{len(scored):,} of {len(regions):,} regions with one"
    if as_reference:
        rule = "predictions are used as the reference, on request"
        collector.warning(where, rule, what, "Their scores are left out; read results accordingly.")
        return
    rule = f"a ground truth file must not have a prob ({_SOURCE})"
    collector.error(where, rule, what, "Give this file as the prediction, or remove the prob.")


def _check_pages(pages: Sequence[_Page], collector: Collector) -> None:
    """Errors for pages that are there twice."""
    first: dict[str, _Page] = {}
    for page in pages:
        other = first.setdefault(page.key, page)
        if other is not page and page.key:
            rule = f"a page must not be there twice; pages go by name without ending and letter case ({_SOURCE})"
            what = f"{quote(page.filename)} after {quote(other.filename)} in line {other.line}"
            collector.error(
                xml_text.place(page.line, "document"), rule, what, "Put all regions of a page in one document."
            )


def _check_crowds(pages: Sequence[_Page], regions: Sequence[_Region], collector: Collector) -> None:
    """Errors for more regions than a page or a file may have."""
    per_page = np.bincount([region.page for region in regions], minlength=1) if regions else np.zeros(0, np.int64)
    for row in np.flatnonzero(per_page > limits.MAX_OBJECTS_PER_PAGE).tolist():
        rule = f"a page may have {limits.MAX_OBJECTS_PER_PAGE:,} boxes"
        collector.error(xml_text.place(pages[row].line, "document"), rule, f"{per_page[row]:,}", "Correct the export.")


def _page_key(filename: str) -> str:
    """What a page goes by: its file name without folders and ending, in lower case."""
    name = _last_part(filename).strip()
    return (name.rpartition(".")[0] or name).lower()


def _last_part(filename: str) -> str:
    """A file name without the folders that any system writes before it."""
    return re.split(r"[/\\]", filename)[-1]


def _side_of_regions(regions: Sequence[_Region]) -> Side | None:
    if not regions:
        return None
    return "prediction" if any(region.prob is not None for region in regions) else "ground_truth"


def _of_all(sides: Sequence[Side | None]) -> Side | None:
    """What several files are together: predictions when any of them is."""
    return "prediction" if "prediction" in sides else "ground_truth" if "ground_truth" in sides else None


def _stated_side(content: bytes) -> Side | None:
    text = xml_text.narrow(content)
    if _REGION_MARK.search(text) is None:
        return None
    return "prediction" if _PROB_MARK.search(text) else "ground_truth"
