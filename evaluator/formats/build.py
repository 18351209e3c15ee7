"""Pages and boxes in file order to `Annotations`, checked in the same words for every format.

Owns `Builder`. A reader states what its file states, and where; nothing is clamped or dropped in silence.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray
from evaluator.data.cells import Table, moved
from evaluator.data.dataset import Annotations, Boxes, Document, Level, LevelKey, Place, Side
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import limits, xml_text
from evaluator.formats.base import Reading
from evaluator.formats.image_paths import Parts, is_image, page_of, parts_of, stem_of, tell_apart
from evaluator.formats.nesting import MOST_ABOVE, Nesting

# Tools let a box be drawn over the edge of its page; models round, and shares are written with six decimals.
_TOLERANCE: Final = {"pixels": 1.0, "page": 1e-6}
# Of two statements of one box; shares may have three decimals.
_ROUNDED: Final = {"pixels": 1.0, "page": 0.001}
_TURNED: Final = 20
"""Pages that are named whose width and height seem to be exchanged."""
_FAR: Final = 1.02
"""How far boxes of such a page reach, of its width or height: a box that is drawn over the edge says nothing."""
NO_ATTRIBUTES: Final[Mapping[str, str]] = {}
"""Of a page of which a file states nothing else."""

_CORNERS: Final = 4
_NO_BOX: Final = (math.nan,) * 4
_NEXT_CORNER: Final = (1, 2, 3, 0)
FEWEST_POINTS: Final = 3
"""Points of an outline."""
ELLIPSE_POINTS: Final = 64
"""Points of the outline of an ellipse, which has 99.8 % of its area."""

Corners = tuple[float, float, float, float]
Size = tuple[float, float]


class Shape(NamedTuple):
    """Corners and outline of a region; without rings it is a plain box."""

    xyxy: Corners
    rings: Sequence[FloatArray] = ()

    @classmethod
    def of(cls, ring: FloatArray) -> Shape:
        """Return the shape of an outline, float64 (K, 2); a plain box for the corners of an upright one."""
        return cls(bounds(ring), outline(ring))

    @classmethod
    def of_box(cls, xyxy: Corners, degrees: float) -> Shape:
        """Return a box turned clockwise around its centre; it keeps its outline unless it is upright."""
        if degrees % 360.0 == 0.0:
            return cls(xyxy)
        x1, y1, x2, y2 = xyxy
        centre = np.array([(x1 + x2) / 2.0, (y1 + y2) / 2.0])
        ring = rotate(np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]) - centre, centre, math.radians(degrees))
        return cls(bounds(ring), (ring,))

    @classmethod
    def of_ellipse(cls, centre: tuple[float, float], radii: tuple[float, float], angle: float = 0.0) -> Shape:
        """Return the box around an ellipse turned clockwise by `angle` radians, and `ELLIPSE_POINTS` points on it."""
        sine, cosine = math.sin(angle), math.cos(angle)
        across, down = math.hypot(radii[0] * cosine, radii[1] * sine), math.hypot(radii[0] * sine, radii[1] * cosine)
        turns = np.arange(ELLIPSE_POINTS) * (2.0 * math.pi / ELLIPSE_POINTS)
        ring = rotate(np.column_stack([np.cos(turns), np.sin(turns)]) * radii, centre, angle)
        x, y = centre
        return cls((x - across, y - down, x + across, y + down), (ring,))


class Held(NamedTuple):
    """What is read of an item beside its box; see `Boxes`."""

    order: Place | None = None
    text: str | None = None
    cells: Table | None = None


def member_place(at: Place, number: int, *, ordered: bool) -> Place:
    """Return the place of a member of a group that stands at a place; every second number is in an unordered group."""
    return (*at, number) if (len(at) % 2 == 0) == ordered else (*at, 0, number)


class _Page(NamedTuple):
    """A page entry; `noun` is what issues call it, `number` its place in the document, from 0, `image` its path."""

    noun: str
    document: str
    number: int
    size: Size | None
    page_id: str
    place: str
    attributes: Mapping[str, str]
    image: str = ""


class _Boxes:
    """The boxes of a file in columns, which take a fraction of the memory of an object for each box."""

    def __init__(self) -> None:
        self.page, self.position, self.label = array("i"), array("i"), array("i")
        self.xyxy, self.score = array("d"), array("d")
        self.ids: list[str] = []
        self.rings: dict[int, list[FloatArray]] = {}
        self.held: dict[int, Held] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def without(self, rows: set[int]) -> _Boxes:
        kept = [row for row in range(len(self)) if row not in rows]
        boxes = _Boxes()
        for name in ("page", "position", "label", "score"):
            values = getattr(self, name)
            setattr(boxes, name, array(values.typecode, [values[row] for row in kept]))
        boxes.xyxy = array("d", [edge for row in kept for edge in self.xyxy[4 * row : 4 * row + 4]])
        boxes.ids = [self.ids[row] for row in kept]
        boxes.rings = {new: self.rings[row] for new, row in enumerate(kept) if row in self.rings}
        boxes.held = {new: self.held[row] for new, row in enumerate(kept) if row in self.held}
        return boxes

    def column(self, at: int) -> list[Any] | None:
        if all(held[at] is None for held in self.held.values()):
            return None
        return [self.held[row][at] if row in self.held else None for row in range(len(self))]


class Builder:
    """The pages and boxes of one file on their way to columns.

    `source` is what the rules come from ("CVAT for images 1.1"), `score` what the file calls a score. `unit` is that of
    the boxes, origin top left. `labels` are there in any case; others follow in order of appearance. `nesting` takes
    which items lie in others; the boxes that the level of the reading leaves out are dropped at the end.
    """

    def __init__(
        self,
        collector: Collector,
        *,
        format: str,
        source: str,
        unit: Literal["pixels", "page"] = "pixels",
        labels: Sequence[str] = (),
        score: str = "score",
    ) -> None:
        self._collector, self._format, self._source, self._unit = collector, format, source, unit
        self._score = score
        self._labels = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        self._documents: dict[str, Document] = {}
        self._on_document: Counter[str] = Counter()
        self._on_page: Counter[int] = Counter()
        self._images: dict[str, dict[str, int]] = {}
        self._pages: list[_Page] = []
        self._paths: list[str] = []
        self._boxes = _Boxes()
        self.nesting = Nesting()
        self._fixed_labels = len(self._labels)
        self._turned: list[tuple[str, Corners]] = []
        self._leaving: list[tuple[int, Corners, str]] = []
        self._scored = 0
        self._first_scored = ""
        self._odd_scores: list[tuple[str, float]] = []
        self._left_out = False

    @property
    def pages(self) -> int:
        """Return how many pages there are so far."""
        return len(self._pages)

    @property
    def boxes(self) -> int:
        """Return how many boxes there are so far."""
        return len(self._boxes)

    def has_boxes(self, page: int) -> bool:
        """Return whether there is a box on a page so far."""
        return page in self._on_page

    def image(
        self,
        name: str,
        place: str,
        *,
        size: Size | None = None,
        page_id: str = "",
        path: str = "",
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
    ) -> int:
        """Add a page that is an image file, and return its row for `box`; its document is the stem of its name.

        A name by `image_paths.page_name` is that page of its document. `path` is what the file states besides of where
        the image is. A name that is empty or repeated is an error. Images of one stem in several folders are told apart
        by them, with a warning.
        """
        key = str(PurePosixPath(name.replace("\\", "/")))
        document, index = page_of(name) or (stem_of(name), None)
        of_document = self._images.setdefault(document, {})
        if not name.strip():
            self._collector.error(place, f"an image must have a name ({self._source})", "", "Name the image.")
        row = self.page(
            document, place, index=index, size=size, page_id=page_id, path=path or name, attributes=attributes
        )
        self._pages[row] = self._pages[row]._replace(noun="an image", image=name)
        if (first := of_document.setdefault(key, row)) != row:
            what = f"{quote(name)}, as in {self._pages[first].place}"
            self._collector.error(place, f"an image must occur once ({self._source})", what, "Join the two.")
        return row

    def document(self, document: str) -> None:
        """Add a document, also when it has no page entry."""
        self._documents.setdefault(document, Document(document, document))

    def page(
        self,
        document: str,
        place: str,
        *,
        index: int | None = None,
        size: Size | None = None,
        page_id: str = "",
        name: str = "",
        path: str = "",
        image: str = "",
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
    ) -> int:
        """Add a page entry, also one without boxes, and return its row for `box`.

        `index` counts from 0; None counts the pages of the document. `size` is width and height in pixels: None where
        the file states none, NaN for one already reported. `name`, under which the PDF is found, and `path` are those
        of the document; its first page decides. `image` is the path of the page; of a first page it is `path` if that
        is one of an image.
        """
        if size is not None and not all(math.isnan(side) or 0.0 < side < math.inf for side in size):
            rule = f"width and height must be above 0 ({self._source})"
            self._collector.error(place, rule, listed(size), "Write the size of the image in pixels.")
        self._documents.setdefault(document, Document(document, name or document, path))
        index = self._on_document[document] if index is None else index
        self._on_document[document] += 1
        self._paths.append(path)
        image = image or (path if index == 0 and is_image(path) else "")
        self._pages.append(_Page("a page", document, index, size, page_id, place, attributes, image))
        return len(self._pages) - 1

    def box(
        self,
        page: int,
        label: str,
        xyxy: Corners | None,
        place: str,
        *,
        score: float | None = None,
        rings: Sequence[FloatArray] = (),
        position: int | None = None,
        box_id: str = "",
        item: Hashable = None,
        held: Held | None = None,
    ) -> None:
        """Add a box, or an error with the reason why it is none.

        `xyxy` is in the unit of the builder, NaN for one already reported, None for an item without a box, which is
        read where `Reading.items` asks for it; `held` is what it holds besides. `rings` are float64, shape (K, 2),
        empty for a plain box. Without `position` the boxes of the page are counted; without `box_id` it is the place.
        `item` is that of `nesting` for a box that may lie in others or hold them.
        """
        error, score = self._collector.error, math.nan if score is None else score
        if not label.strip():
            rule = f"a region must have a label ({self._source})"
            error(place, rule, quote(label) if label else "", "Label it, or remove it.")
        if xyxy is None:
            xyxy = _NO_BOX
        elif any(map(math.isnan, xyxy)):
            if not self._collector.failed:
                error(place, f"coordinates must be finite numbers ({self._source})", "NaN", "Correct the region.")
            return
        elif not max(map(abs, xyxy)) <= limits.MAX_COORDINATE:
            rule = f"coordinates must be at most {limits.MAX_COORDINATE:,.0f} pixels"
            error(place, rule, listed(xyxy), "Correct the region.")
            return
        else:
            if xyxy[2] < xyxy[0] or xyxy[3] < xyxy[1]:
                self._turned.append((place, xyxy))
            self._note_leaving(page, xyxy, place)
        position = self._on_page[page] if position is None else position
        self._on_page[page] += 1
        boxes = self._boxes
        if held is not None:
            boxes.held[len(boxes)] = held
        if item is not None:
            self.nesting.add_box(item, len(boxes.ids), place)
        if len(rings):
            boxes.rings[len(boxes)] = list(rings)
        boxes.page.append(page)
        boxes.position.append(position)
        boxes.label.append(self._labels.setdefault(label, len(self._labels)))
        boxes.xyxy.extend(xyxy)
        boxes.score.append(score)
        boxes.ids.append(box_id or place)
        if not math.isnan(score):
            self._first_scored = self._first_scored or place
            self._scored += 1
            if not 0.0 <= score <= 1.0:
                self._odd_scores.append((place, score))

    def check_again(self, place: str, used: str, xyxy: Corners, other: str, again: Corners | None) -> None:
        """Warn of a region of which two keys state different boxes; the one that is `used` goes first."""
        if again is None:
            return
        room = _ROUNDED[self._unit]
        x1, y1, x2, y2 = xyxy
        left, top, right, bottom = again
        if abs(x1 - left) > room or abs(y1 - top) > room or abs(x2 - right) > room or abs(y2 - bottom) > room:
            rule, found = f"{other} should be the box of {used} ({self._source})", f"{listed(again)} and {listed(xyxy)}"
            self._collector.warning(place, rule, found, f"The box of {used} is compared; correct the other one.")

    def left_out(self, place: str, rule: str, found: str, fix: str) -> None:
        """Warn of regions that are left out; a file without any other is refused by `annotations`."""
        self._collector.warning(place, rule, found, fix)
        self._left_out = True

    def annotations(
        self, sha256: str, reading: Reading, *, side: Side | None = None, normalise: bool = False
    ) -> Annotations:
        """Return the columns of the file; raise `BadInput` with all its issues when one is an error.

        The side of the reading goes before `side`; without both, boxes with scores are predictions. `normalise` makes
        pixels shares of the page, for which every page needs a size. Page sizes are None when no page states one.
        """
        side = reading.side or side or ("prediction" if self._scored else "ground_truth")
        self._check_inside()
        if not reading.as_written:
            self._check_corners()
        self._check_limits()
        if self._left_out and not len(self._boxes) and not self._collector.failed:
            rule = f"a file must have a region that can be read, or pages without anything ({self._source})"
            self._collector.error("", rule, "none", "The warnings say what was left out; correct it, or omit the file.")
        self._check_scores(side, as_reference=reading.as_reference)
        self._tell_images_apart()
        without = [page for page in self._pages if page.size is None]
        if normalise and without:
            page = without[0]
            rule = f"every page must have a width and a height ({self._source})"
            self._collector.error(page.place, rule, "none", "Write the size of the page.")
        self._collector.raise_if_failed()
        scale = None
        if len(without) < len(self._pages) or not self._pages:
            sizes = [(math.nan, math.nan) if page.size is None else page.size for page in self._pages]
            scale = np.array(sizes, dtype=np.float64).reshape(-1, 2)
        levels = self._choose_level(reading.level)
        columns = self._columns(sha256, side, scale, normalise=normalise)
        return replace(columns, level=reading.level, levels=levels) if levels else columns

    def _choose_level(self, level: Level | None) -> dict[LevelKey, int]:
        """Drop the boxes that a level leaves out; return how many each level has, empty if none lies in another."""
        if not self.nesting.stated:
            return {}
        if unsound := self.nesting.drop_unsound():
            rule = f"no item should lie in itself or more than {MOST_ABOVE} others, by way of others ({self._source})"
            found = f"{count_of(len(unsound), 'box')} of items that do, or that lie in one that does"
            fix = "Correct which lies in which; all of them are read."
            self._collector.warning(self.nesting.place_of(unsound[0]), rule, found, fix)
        left_out = self.nesting.left_out(self._boxes.page)
        total = len(self._boxes)
        counts: dict[LevelKey, int] = {each or "": total - len(dropped) for each, dropped in left_out.items()}
        if dropped := left_out.get(level):
            rule = f"a box and the boxes in it should not both be counted ({self._source})"
            found = f"{count_of(total, 'box')}, of which {total - len(dropped):,} are read"
            others = f"outer ({counts['outer']:,}), inner ({counts['inner']:,}) or all ({total:,})"
            fix = f"Read others with --level {others}."
            self._collector.warning(self.nesting.place_of(min(dropped)), rule, found, fix)
            self._boxes = self._boxes.without(dropped)
            names, used = list(self._labels), {*self._boxes.label, *range(self._fixed_labels)}
            self._labels = {names[code]: new for new, code in enumerate(sorted(used))}
            codes = dict(zip(sorted(used), range(len(used)), strict=True))
            self._boxes.label = array("i", [codes[code] for code in self._boxes.label])
        return counts

    def _refuse_infinite(self, xyxy: FloatArray, size: FloatArray) -> None:
        """Refuse boxes that are infinite in shares of a page of nearly no size; `size` is by box."""
        rows = np.flatnonzero(np.isinf(xyxy).any(axis=1))
        if len(rows):
            rule = f"the size of a page must be in the unit of its boxes ({self._source})"
            width, height = size[rows[0]].tolist()
            self._collector.fail("", rule, f"{width:g} x {height:g}", "Correct the width and height of the page.")

    def _columns(self, sha256: str, side: Side, size: FloatArray | None, *, normalise: bool) -> Annotations:
        pages, boxes = self._pages, self._boxes
        documents = {document: code for code, document in enumerate(self._documents)}
        page_document = np.array([documents[page.document] for page in pages], dtype=np.int32)
        page_index = np.array([page.number for page in pages], dtype=np.int64)
        entry = np.array(boxes.page, dtype=np.int32)
        xyxy = np.array(boxes.xyxy, dtype=np.float64).reshape(-1, 4)
        polygons, cells = boxes.rings, boxes.column(2)
        if normalise and size is not None:
            with np.errstate(over="ignore"):
                xyxy = xyxy / np.tile(size[entry], 2)
            self._refuse_infinite(xyxy, size[entry])
            polygons = {row: [ring / size[entry[row]] for ring in rings] for row, rings in polygons.items()}
            if cells is not None:
                cells = [moved(table, by) for table, by in zip(cells, (1.0 / size[entry]).tolist(), strict=True)]
        attributes = dict.fromkeys(name for page in pages for name in page.attributes)
        score = np.array(boxes.score, dtype=np.float64)
        return Annotations(
            name=self._collector.file,
            sha256=sha256,
            format=self._format,
            side=side,
            model=None,
            version=None,
            labels=tuple(self._labels),
            evaluated=len(self._labels),
            documents=tuple(self._documents.values()),
            page_document=page_document,
            page_index=page_index,
            boxes=Boxes(
                document=page_document[entry],
                page=page_index[entry],
                label=np.array(boxes.label, dtype=np.int32),
                xyxy=xyxy,
                score=score if side == "prediction" else np.full(len(boxes), np.nan),
                entry=entry,
                position=np.array(boxes.position, dtype=np.int32),
                ids=boxes.ids,
                polygons=polygons,
                order=boxes.column(0),
                text=boxes.column(1),
                cells=cells,
            ),
            issues=self._collector.issues(),
            page_ids=[page.page_id for page in pages],
            unit="page" if normalise else self._unit,
            page_size=size,
            attributes={name: [page.attributes.get(name) for page in pages] for name in attributes},
            page_images=[page.image for page in pages] if any(page.image for page in pages) else (),
        )

    def _note_leaving(self, page: int, xyxy: Corners, place: str) -> None:
        size = (1.0, 1.0) if self._unit == "page" else self._pages[page].size or (math.inf, math.inf)
        room = _TOLERANCE[self._unit]
        if self._unit == "pixels" and not (size[0] > 0.0 and size[1] > 0.0):
            return
        x1, y1, x2, y2 = xyxy
        if -x1 > room or -y1 > room or x2 - size[0] > room or y2 - size[1] > room:
            self._leaving.append((page, xyxy, place))

    def _check_inside(self) -> None:
        """Warn of boxes that leave their page, and once of the pages whose boxes would not if they were turned."""
        room, turned = _TOLERANCE[self._unit], dict.fromkeys(self._turned_pages())
        for page, xyxy, place in self._leaving:
            if page in turned:
                continue
            width, height = (1.0, 1.0) if self._unit == "page" else self._pages[page].size or (math.inf, math.inf)
            rule = f"a region should not leave its image by more than {room:g} px"
            if self._unit == "page":
                rule = f"coordinates should be between 0 and 1, shares of the page ({self._source})"
            what = f"{listed(xyxy)} (corners) in {width:g} x {height:g}"
            self._collector.warning(place, rule, what, "It is compared as it is; check the size of the image.")
        if turned:
            pages = [self._pages[page] for page in turned]
            names = [quote(f"{page.document}, page {page.number + 1}") for page in pages]
            more = f" and {len(names) - _TURNED:,} more" if len(names) > _TURNED else ""
            self._collector.warning(
                pages[0].place,
                f"the regions of a page should lie within its width and height ({self._source})",
                f"{count_of(len(names), 'page')} where they would if these were exchanged: "
                f"{', '.join(names[:_TURNED])}{more}",
                "Exchange width and height where the image is so; boxes are compared as they are.",
            )

    def _turned_pages(self) -> list[int]:
        """Return the pages in pixels that boxes leave by far, if all lie within the page of height by width, rising."""
        if not self._leaving or self._unit == "page":
            return []
        ends = np.full((len(self._pages), 4), -np.inf)
        corners = np.array(self._boxes.xyxy, dtype=np.float64).reshape(-1, 4)
        np.fmax.at(ends, np.array(self._boxes.page, dtype=np.int64), corners * (-1.0, -1.0, 1.0, 1.0))
        turned = []
        for page in sorted({page for page, _, _ in self._leaving}):
            width, height = self._pages[page].size or (math.inf, math.inf)
            far = (ends[page, 2:] > _FAR * np.array([width, height])).any()
            if far and (ends[page] <= np.array([0.0, 0.0, height, width]) + _TOLERANCE["pixels"]).all():
                turned.append(page)
        return turned

    def _check_corners(self) -> None:
        for place, xyxy in self._turned:
            rule = f"x2 must not be less than x1, nor y2 less than y1 ({self._source})"
            self._collector.error(place, rule, listed(xyxy), "Exchange the corners, or remove the box.")

    def _check_limits(self) -> None:
        error = self._collector.error
        for row, count in sorted(self._on_page.items()):
            if count > limits.MAX_OBJECTS_PER_PAGE:
                rule = f"{self._pages[row].noun} may have {limits.MAX_OBJECTS_PER_PAGE:,} regions"
                error(self._pages[row].place, rule, f"{count:,}", "Remove some.")
        for most, count, what in (
            (limits.MAX_LABELS, len(self._labels), "labels"),
            (limits.MAX_BOXES, len(self._boxes), "boxes"),
        ):
            if count > most:
                error("", f"a file may have {most:,} {what}", f"{count:,}", f"Check the {what}.")

    def _check_scores(self, side: Side, *, as_reference: bool) -> None:
        name, source = self._score, self._source
        if side == "prediction":
            for place, score in self._odd_scores:
                if math.isinf(score):
                    rule = f"{name} must be a finite number ({source})"
                    self._collector.error(place, rule, f"{score:g}", "Write a number between 0 and 1.")
                else:
                    rule = f"{name} should be between 0 and 1 ({source})"
                    fix = "It is kept as it is; only the rank counts."
                    self._collector.warning(place, rule, f"{score:.12g}", fix)
        elif self._scored:
            what = f"{self._scored:,} of {len(self._boxes):,} regions with one"
            if as_reference:
                rule = "predictions are used as the reference, on request"
                fix = "Their scores are left out; read results accordingly."
                self._collector.warning(self._first_scored, rule, what, fix)
            else:
                rule = f"a ground truth file must not have a {name} ({source})"
                fix = f"Give this file as the prediction, or remove the {name}."
                self._collector.error(self._first_scored, rule, what, fix)

    def _tell_images_apart(self) -> None:
        """Give images of one name in several folders documents of their own; report them, and images of one path."""
        for document, images in self._images.items():
            if len(images) == 1:
                continue
            by_path: dict[Parts, list[str]] = {}
            for image in images:
                by_path.setdefault(parts_of(image), []).append(image)
            for same in by_path.values():
                if len(same) > 1:
                    rule = "images with one file name are read as pages of one document"
                    what = f"{quote(document)}: {', '.join(map(quote, same[:3]))}"
                    self._collector.warning("", rule, what, "Rename the images if they are different documents.")
        self._tell_documents_apart()
        names = [page.document for page in self._pages]
        files = {
            row: page.image
            for row, page in enumerate(self._pages)
            if page.image and page.document == stem_of(page.image)
        }
        apart = tell_apart(names, files)
        if apart is None:
            return
        apart.report(self._collector)
        moved = {names[row] for row in apart.documents}
        moved -= {name for row, name in enumerate(names) if row not in apart.documents}
        self._documents = {name: document for name, document in self._documents.items() if name not in moved}
        for row, document in apart.documents.items():
            page = self._pages[row]
            self._documents.setdefault(document, Document(document, document, page.image))
            self._pages[row] = page._replace(document=document, number=apart.pages[row])

    def _tell_documents_apart(self) -> None:
        """Give documents of one name and several paths, which are no images, names of their own; report them."""
        paths = {row: path for row, path in enumerate(self._paths) if path and not self._pages[row].image}
        own = {path: self._pages[row].document for row, path in paths.items()}
        if len({*own.values()}) == len(own):
            return
        apart = tell_apart([*own.values()], dict(enumerate(own)), images=False)
        if apart is None:
            return
        apart.report(self._collector)
        named = dict(zip(own, (apart.documents.get(row, name) for row, name in enumerate(own.values())), strict=True))
        for row, path in paths.items():
            self._documents.setdefault(named[path], Document(named[path], named[path], path))
            self._pages[row] = self._pages[row]._replace(document=named[path])
        left = {page.document for page in self._pages}
        self._documents = {
            name: each for name, each in self._documents.items() if name in left or name not in own.values()
        }


def bounds(ring: FloatArray) -> Corners:
    """Return the smallest box that holds all points, float64 of shape (K, 2)."""
    (x1, y1), (x2, y2) = ring.min(axis=0), ring.max(axis=0)
    return float(x1), float(y1), float(x2), float(y2)


def outline(ring: FloatArray) -> Sequence[FloatArray]:
    """Return the rings of a region; none for the four corners of an upright box."""
    low, high = ring.min(axis=0), ring.max(axis=0)
    if len(ring) == _CORNERS and bool(((ring == low) | (ring == high)).all()):
        # In a row around the box, two neighbours differ in one coordinate; across it, in both.
        steps = ring != ring[_NEXT_CORNER, :]
        if bool((steps.sum(axis=1) == 1).all()):
            return ()
    return (ring,)


def points(text: str) -> FloatArray | None:
    """Return points, float64 (K, 2), from text as in PAGE XML and ALTO; None for anything else, or none.

    >>> points("1,2 3,4.5"), points("1,2 3")
    (array([[1. , 2. ],
           [3. , 4.5]]), None)
    """
    words = text.replace(",", " ").split()
    if not words or len(words) % 2 or not all(map(xml_text.is_number, words)):
        return None
    return np.array(words, dtype=np.float64).reshape(-1, 2)


def rotate(offsets: FloatArray, centre: npt.ArrayLike, angle: float) -> FloatArray:
    """Return offsets, float64 (K, 2), turned clockwise on screen by `angle` radians, around a centre."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return np.asarray(offsets @ np.array([[cosine, sine], [-sine, cosine]]) + np.asarray(centre), dtype=np.float64)


def listed(values: Sequence[float]) -> str:
    """Return numbers as an issue shows them: ``[1, 2.5]``."""
    return f"[{', '.join(f'{value:.12g}' for value in values)}]"
