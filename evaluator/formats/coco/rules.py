"""The rules on the values of a COCO file: ids, images, categories, boxes, areas, scores.

The same for a file read as a whole or piece by piece. Boxes are x, y, width, height in pixels, origin top left.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from msgspec import UNSET

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import CodeArray, Document, Side
from evaluator.data.issues import Collector, count_of, quote
from evaluator.data.polygons import Outlines
from evaluator.formats import limits
from evaluator.formats.coco.ids import Texts, id_text, quoted_id
from evaluator.formats.coco.shape import ATTRIBUTE_KEYS, DOCUMENT_KEYS, PAGE_KEYS, Category, Image, ItemColumns
from evaluator.formats.image_paths import Apart, Parts, page_of, parts_of, stem_of, tell_apart

# A box that leaves its image by more than this is reported; models round.
_TOLERANCE_PX = 1.0
_ROTATION = re.compile(rb'"rotation"\s*:\s*(-?\d+(?:\.\d+)?)')


class Pages(NamedTuple):
    """The images as page entries: ids, documents, and what the columns of `Annotations` need."""

    ids: IntArray
    documents: tuple[Document, ...]
    page_document: CodeArray
    page_index: IntArray
    page_size: FloatArray | None
    attributes: Mapping[str, Sequence[str | None]]
    images: Sequence[str]


class Labels(NamedTuple):
    """The categories by rising id."""

    ids: IntArray
    names: tuple[str, ...]


def check_images(images: Sequence[Image], collector: Collector, texts: Texts = None) -> Pages:
    """Return the images as page entries, after the rules on ids, documents, pages and sizes."""
    ids = [image.id for image in images]
    _check_unique(ids, "$.images", "an image", collector, texts)
    for image in images:
        # COCO Annotator states the folders of an image beside its name.
        if image.path and isinstance(name := image.file_name, str) and image.path.endswith(f"/{name}"):
            image.file_name = image.path.lstrip("/")
    names = _stated(images, "doc") or [_document_of(image, texts) for image in images]
    apart = _tell_apart(images, names, collector)
    if apart is not None:
        names = [apart.documents.get(row, name) for row, name in enumerate(names)]
    code = {name: row for row, name in enumerate(dict.fromkeys(names))}
    files = _stated(images, "file_name")
    paths = dict(zip(names, files, strict=False))
    if not files:
        files = [image.file_name if isinstance(image.file_name, str) else "" for image in images]
        there = (isinstance(image.file_name, str) for image in images)
        paths = {name: file for name, file, stated in zip(names, files, there, strict=True) if stated}
    of_page = np.array([code[name] for name in names], dtype=np.int32)
    return Pages(
        ids=np.array([-1 if key is None else key for key in ids], dtype=np.int64),
        documents=tuple(Document(name, name, paths.get(name, "")) for name in code),
        page_document=of_page,
        page_index=_page_indices(images, names, of_page, apart, collector),
        page_size=_page_size(images, collector),
        attributes=_attributes(images),
        images=files,
    )


def _stated(images: Sequence[Image], key: str) -> list[str]:
    """Return what all images have under a key; empty when one of them has no text there."""
    texts = [*map(attrgetter(key), images)]
    return texts if set(map(type, texts)) == {str} and all(texts) else []


def _attributes(images: Sequence[Image]) -> dict[str, list[str | None]]:
    """Return what the images say besides, as text; equal texts are one object, because they repeat on many pages."""
    shared: dict[str, str] = {}
    columns = {}
    for key in ATTRIBUTE_KEYS:
        values = [*map(attrgetter(key), images)]
        if values.count(UNSET) < len(values):
            texts = (None if value is UNSET or value is None else str(value) for value in values)
            columns[key] = [None if text is None else shared.setdefault(text, text) for text in texts]
    return columns


def _document_of(image: Image, texts: Texts) -> str:
    for value in (image.doc, image.doc_name):
        if isinstance(value, str) and value:
            return value
    if isinstance(image.file_name, str) and image.file_name:
        named = page_of(image.file_name)
        return named[0] if named else stem_of(image.file_name)
    # Without an id the file is refused; the other rules are tried all the same.
    return "" if image.id is None else id_text(image.id, texts)


def _tell_apart(images: Sequence[Image], names: list[str], collector: Collector) -> Apart | None:
    """Return what the folders of images of one stem say, and report it; also images that are of one path."""
    if len(set(names)) == len(names) or any(_given(images, key) == len(images) for key in DOCUMENT_KEYS):
        return None
    files = {
        row: image.file_name
        for row, image in enumerate(images)
        if all(getattr(image, key) is UNSET for key in DOCUMENT_KEYS) and isinstance(image.file_name, str)
    }
    apart = tell_apart(names, files)
    if apart is not None:
        apart.report(collector, "$.images")
    by_path: dict[Parts, list[str]] = defaultdict(list)
    for file in files.values():
        by_path[parts_of(file)].append(file)
    for parts, same in by_path.items():
        if len(same) > 1:
            rule = "images with one file name are read as pages of one document"
            fix = "Give the images a key doc if they are different documents."
            collector.warning("$.images", rule, f"{quote(parts[-1])}: {', '.join(map(quote, same[:3]))}", fix)
    return apart


def _page_indices(
    images: Sequence[Image], names: Sequence[str], document: CodeArray, apart: Apart | None, collector: Collector
) -> IntArray:
    if any(_given(images, key) for key in PAGE_KEYS):
        return _given_pages(images, names, collector)
    order = np.argsort(document, kind="stable")
    before = np.searchsorted(document[order], document[order])
    pages = np.empty(len(order), dtype=np.int64)
    pages[order] = np.arange(len(order)) - before
    for row, image in enumerate(images):
        # What has another document is named by `doc`.
        named = page_of(image.file_name) if isinstance(image.file_name, str) else None
        if named and named[0] == names[row]:
            pages[row] = named[1]
    for row, page in apart.pages.items() if apart else ():
        pages[row] = page
    return pages


def _given(images: Sequence[Image], key: str) -> int:
    return len(images) - [*map(attrgetter(key), images)].count(UNSET)


def _given_pages(images: Sequence[Image], names: Sequence[str], collector: Collector) -> IntArray:
    from_one = all(image.page_no != 0 for image in images)
    if not from_one:
        fix = "The page_no of this file are read as counted from 0."
        collector.warning("$.images", "page_no counts from 1", "0", fix)
    given = [next((key for key in PAGE_KEYS if getattr(image, key) is not UNSET), None) for image in images]
    first_key: dict[str, str | None] = {}
    owner: dict[tuple[str, int], int] = {}
    pages = np.zeros(len(images), dtype=np.int64)
    order: Counter[str] = Counter()
    for row, (image, name, key) in enumerate(zip(images, names, given, strict=True)):
        place = f"$.images[{row}]"
        if first_key.setdefault(name, key) != key:
            rule = "all images of a document must give their page by the same key, or none"
            collector.error(place, rule, f"{quote(key)} after {quote(first_key[name])}", "Use one key for all.")
            continue
        value = order[name] if key is None else getattr(image, key)
        order[name] += 1
        if value is None:  # reported by the exact walk
            continue
        index = value - (key == "page_no" and from_one)
        if not 0 <= index <= limits.MAX_PAGE_INDEX:
            lowest = int(key == "page_no" and from_one)
            rule = f"{key} must be from {lowest} to {limits.MAX_PAGE_INDEX}"
            collector.error(f"{place}.{key}", rule, str(value), "Correct the page.")
        elif owner.setdefault((name, index), row) != row:
            rule = "two images must not be the same page of a document"
            there = f"page {value} of {quote(name)}, as $.images[{owner[name, index]}]"
            collector.error(f"{place}.{key}", rule, there, "Correct the page, or name the document of each.")
        else:
            pages[row] = index
    return pages


def _page_size(images: Sequence[Image], collector: Collector) -> FloatArray | None:
    sides = {key: [*map(attrgetter(key), images)] for key in ("width", "height")}
    if any({type(UNSET), type(None)} & {*map(type, values)} for values in sides.values()):
        rule = "width and height of every image are needed to draw boxes on a page (COCO format)"
        collector.warning("$.images", rule, "an image without them", "Nothing else is lost; add them.")
        known = [None not in pair and UNSET not in pair for pair in zip(*sides.values(), strict=True)]
        if not any(known):
            return None
        sides = {
            key: [value if both else math.nan for value, both in zip(values, known, strict=True)]
            for key, values in sides.items()
        }
    sizes = np.array([sides["width"], sides["height"]], dtype=np.float64).reshape(2, -1)
    for (key, values), stated in zip(sides.items(), sizes, strict=True):
        for row in np.flatnonzero(stated <= 0.0).tolist():
            fix = "Write the size of the image in pixels."
            collector.error(f"$.images[{row}].{key}", f"{key} must be above 0 (COCO format)", str(values[row]), fix)
    return sizes.T.copy()


def check_categories(categories: Sequence[Category], collector: Collector, texts: Texts = None) -> Labels:
    """Return the categories by rising id, after the rules on their ids and names."""
    _check_unique([category.id for category in categories], "$.categories", "a category", collector, texts)
    first: dict[str, int] = {}
    for row, category in enumerate(categories):
        if category.name is None:
            continue
        if not category.name:
            collector.error(f"$.categories[{row}].name", "a category must have a name (COCO format)", '""', "Name it.")
        elif first.setdefault(category.name, row) != row:
            rule = "two categories must not have one name"
            fix = "Name them apart, or give their annotations one category_id."
            there = f"{quote(category.name)}, as $.categories[{first[category.name]}]"
            collector.error(f"$.categories[{row}].name", rule, there, fix)
    if len(categories) > limits.MAX_LABELS:
        rule = f"a file may have {limits.MAX_LABELS:,} labels"
        collector.error("$.categories", rule, f"{len(categories):,}", "Remove those that are not used.")
    usable = sorted((c for c in categories if c.id is not None and c.name is not None), key=lambda c: c.id)
    return Labels(np.array([c.id for c in usable], dtype=np.int64), tuple(c.name for c in usable))


def _check_unique(ids: Sequence[int | None], place: str, what: str, collector: Collector, texts: Texts) -> None:
    if len(set(ids)) == len(ids):
        return
    first: dict[int, int] = {}
    for row, key in enumerate(ids):
        if key is not None and first.setdefault(key, row) != row:
            rule = f"the id of {what} must occur once (COCO format)"
            again = f"{quoted_id(key, texts)}, as {place}[{first[key]}]"
            collector.error(f"{place}[{row}].id", rule, again, "Give each its own id.")


def check_ids(ids: IntArray | None, place: str, collector: Collector, texts: Texts = None) -> None:
    """Report annotation ids that repeat: tools that look annotations up by id use the last one for all."""
    if ids is None or (np.diff(ids) > 0).all():
        return
    order = np.argsort(ids, kind="stable")
    again = np.flatnonzero(np.diff(ids[order]) == 0)
    before = dict(zip(order[again + 1].tolist(), order[again].tolist(), strict=True))
    collector.errors(
        "the id of an annotation must occur once (COCO format)",
        sorted(before),
        lambda row: (
            f"{place}[{row}].id",
            f"{quoted_id(int(ids[row]), texts)}, as {place}[{before[row]}]",
            "Give each its own id.",
        ),
    )


def check_id_zero(ids: IntArray | None, crowd: IntArray | None, place: str, collector: Collector) -> None:
    """Warn of ground truth with id 0: pycocotools does not see its match, as 0 means "no match" there."""
    if ids is None:
        return
    # A crowd is never a true positive.
    rows = np.flatnonzero(ids == 0 if crowd is None else (ids == 0) & (crowd == 0))
    if len(rows):
        rule = "pycocotools counts a match with the annotation of id 0 as a false positive"
        fix = "It is matched here, so AP and AR are higher than those of pycocotools; count the ids from 1."
        collector.warning(f"{place}[{rows[0]}].id", rule, "0", fix)


def check_crowds(crowd: IntArray | None, place: str, collector: Collector) -> None:
    """Warn of a ground truth of crowds alone."""
    if crowd is not None and crowd.all():
        rule = "some annotations should be no crowds, which COCO never counts as found or missed (pycocotools)"
        fix = "Write iscrowd 0 for single regions; RLE needs no iscrowd 1."
        collector.warning(f"{place}[0].iscrowd", rule, f"iscrowd in all {len(crowd):,}", fix)


def check_items(items: ItemColumns, place: str, collector: Collector, *, side: Side) -> None:
    """Check the boxes, areas and flags."""
    xywh = items.xywh

    def report(severity: str, rule: str, rows: BoolArray, key: str, fix: str) -> None:
        if not rows.any():
            return
        values = {"bbox": xywh, "area": items.area}[key]
        described: Callable[[int], tuple[str, str, str]] = lambda row: (  # noqa: E731
            f"{place}[{row}].{key}",
            # A side that is written as -0 is 0 to whoever parsed it as an integer.
            quote((values[row] + 0.0).tolist()),
            fix,
        )
        _note(collector, severity, rule, np.flatnonzero(rows), described)

    width, height = xywh[:, 2], xywh[:, 3]
    negative = (width < 0.0) | (height < 0.0)
    rule = "width and height must not be negative (COCO format)"
    report("error", rule, negative, "bbox", "Write x, y of the upper left corner, then width and height.")
    with np.errstate(over="ignore", invalid="ignore"):
        huge = np.isinf(xywh[:, 0] + width) | np.isinf(xywh[:, 1] + height) | np.isinf(width * height)
    report("error", "the corners and the area of a box must fit float64", huge, "bbox", "Correct the box.")
    rule = "a box without width or height overlaps nothing (pycocotools)"
    report(
        "warning", rule, ((width == 0.0) | (height == 0.0)) & ~negative, "bbox", "It counts; correct it if it is wrong."
    )
    if side == "ground_truth":
        rule = "area must not be negative (COCO format)"
        report("error", rule, items.area < 0.0, "area", "Write the area in pixels.")
        if items.no_area.any():
            rule = "every annotation must have an area (COCO format)"
            fix = "Width times height of the box is used to distinguish small from large."
            rows = np.flatnonzero(items.no_area)
            collector.warning(f"{place}[{rows[0]}]", rule, f"{len(rows):,} without area", fix)
        if not items.no_score.all():
            rule = "the scores of a ground truth are not used"
            collector.warning(place, rule, "score", "Give the file as predictions if it is a model's.")
    if items.crowd is not None:
        wrong = np.flatnonzero((items.crowd != 0) & (items.crowd != 1))
        crowd = items.crowd
        collector.errors(
            "iscrowd must be 0 or 1 (COCO format)",
            wrong.tolist(),
            lambda row: (f"{place}[{row}].iscrowd", str(crowd[row]), "Write 0 or 1."),
        )
    if items.ignored is not None and side == "ground_truth":
        rule = "ignore is not read; iscrowd marks what is ignored (pycocotools)"
        rows = np.flatnonzero(items.ignored)
        collector.warning(f"{place}[{rows[0]}].ignore", rule, f"{len(rows):,} with ignore", "They count; use iscrowd.")


def check_scores(items: ItemColumns, place: str, collector: Collector) -> None:
    """Check the scores of predictions."""
    collector.errors(
        "every result must have a score (COCO format)",
        np.flatnonzero(items.no_score).tolist(),
        lambda row: (f"{place}[{row}]", "", "Write the model's confidence."),
    )
    outside = np.flatnonzero((items.score < 0.0) | (items.score > 1.0))
    if len(outside):
        rule = "scores are expected to be in [0, 1]"
        fix = "They are ranked as they are; thresholds on the score refer to them."
        collector.warning(f"{place}[{outside[0]}].score", rule, f"{len(outside):,} outside", fix)


def check_rotation(content: bytes, collector: Collector) -> None:
    """Warn of what the file states to be turned, as CVAT does, which COCO's own evaluation ignores."""
    angles = map(float, _ROTATION.findall(content)) if b'"rotation"' in content else ()
    if turned := [angle for angle in angles if angle % 360.0]:
        rule = "the rotation of a box or image should be 0; pycocotools does not read it (CVAT)"
        what = f"{count_of(len(turned), 'other value')}, the first {turned[0]:g} degrees"
        fix = "These boxes are compared as they are written; CVAT for images 1.1 and Pascal VOC are read with it."
        collector.warning("$", rule, what, fix)


def check_size(boxes: int, collector: Collector) -> None:
    """Check how many boxes a file has."""
    if boxes > limits.MAX_BOXES:
        collector.error("", f"a file may have {limits.MAX_BOXES:,} boxes", f"{boxes:,}", "Split the file.")


def check_inside(xyxy: FloatArray, size: FloatArray, place: Callable[[int], str], collector: Collector) -> None:
    """Warn of boxes that leave their image."""
    outside = (xyxy[:, 0] < -_TOLERANCE_PX) | (xyxy[:, 1] < -_TOLERANCE_PX)
    outside |= (xyxy[:, 2] - size[:, 0] > _TOLERANCE_PX) | (xyxy[:, 3] - size[:, 1] > _TOLERANCE_PX)
    rule = f"a box should not leave its image by more than {_TOLERANCE_PX:g} px"
    _note(
        collector,
        "warning",
        rule,
        np.flatnonzero(outside),
        lambda row: (
            place(row),
            f"{quote((xyxy[row] + 0.0).tolist())} (corners) in {size[row, 0]:g} x {size[row, 1]:g}",
            "It is compared as it is; check the size of the image.",
        ),
    )


def check_outlines(
    xyxy: FloatArray, polygons: Mapping[int, Sequence[FloatArray]], place: str, collector: Collector
) -> None:
    """Warn of outlines that are not those of their box."""
    if not isinstance(polygons, Outlines):
        return
    rows, extents = polygons.columns[0], polygons.extents
    off = np.flatnonzero((np.abs(extents - xyxy[rows]) > _TOLERANCE_PX).any(axis=1))
    _note(
        collector,
        "warning",
        f"segmentation should be the outline of bbox, to {_TOLERANCE_PX:g} px",
        off,
        lambda at: (
            f"{place}[{rows[at]}]",
            f"{quote(extents[at].tolist())} and {quote(xyxy[rows[at]].tolist())}",
            "Boxes are compared, and outlines on request; correct the other one.",
        ),
    )


def _note(
    collector: Collector, severity: str, rule: str, rows: IntArray, describe: Callable[[int], tuple[str, str, str]]
) -> None:
    """Issues of one rule: every row for errors, the first one with the number of all for warnings."""
    if severity == "error":
        collector.errors(rule, rows.tolist(), describe)
    elif len(rows):
        place, value, fix = describe(int(rows[0]))
        more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        collector.warning(place, rule, value + more, fix)


class Index:
    """The rows of ids among `known`, int64 (K,), prepared once for many questions."""

    def __init__(self, known: IntArray) -> None:
        self._known = known
        self._place: IntArray | None = None
        self._order = np.empty(0, dtype=np.int64)
        if not len(known):
            return
        self._low, self._high = int(known.min()), int(known.max())
        if self._high - self._low < 8 * len(known) + 1024:
            self._place = np.full(self._high - self._low + 2, -1, dtype=np.int64)
            self._place[known - self._low] = np.arange(len(known))
        else:
            self._order = np.argsort(known, kind="stable")

    def rows_of(self, ids: IntArray) -> IntArray:
        """Return the row of each id in the known ones, int64; -1 for an unknown id."""
        known, order = self._known, self._order
        if not len(known):
            return np.full(len(ids), -1, dtype=np.int64)
        if self._place is not None:
            if not len(ids) or (int(ids.min()) >= self._low and int(ids.max()) <= self._high):
                return self._place[ids - self._low]
            inside = (ids >= self._low) & (ids <= self._high)
            return self._place[np.where(inside, ids - self._low, self._high - self._low + 1)]
        at = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
        return np.where(known[order[at]] == ids, order[at], -1)


def rows_of(ids: IntArray, known: IntArray) -> IntArray:
    """Return the row of each id in the known ones, int64; -1 for an unknown id. See `Index`."""
    return Index(known).rows_of(ids)
