"""COCO files: instances (images, annotations, categories) and results lists, bytes to columns.

Owns the reader: `detect`, `side_of`, `read`, and `resolve`, which gives a results list the pages and labels of its
ground truth. A page is an image. Boxes come as x, y, width, height in pixels and leave as corners in pixels, origin
top left. A valid file takes the fast path, any doubt about its shape the exact walk; both end in the same rules and
columns. Nothing is clamped, dropped or coerced, and no image is opened.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import PurePosixPath
from typing import NamedTuple, overload

import msgspec
import numpy as np
from msgspec import UNSET

from evaluator.boxes import BoolArray, FloatArray, IntArray
from evaluator.dataset import Annotations, Boxes, CodeArray, Document, Side
from evaluator.errors import BadInput, Collector, quote
from evaluator.readers import json_text, limits
from evaluator.readers.coco_outlines import outlines
from evaluator.readers.coco_shape import DOCUMENT_KEYS, PAGE_KEYS, Category, CocoFile, Image, ItemColumns, decode
from evaluator.readers.coco_walk import walk

_MARKS = (
    b'"image_id"', b'"category_id"', b'"images"', b'"file_name"', b'"annotations"', b'"categories"', b'"iscrowd"',
)  # fmt: skip
# A box that leaves its image by more than this is reported; models round.
_TOLERANCE_PX = 1.0


class _Pages(NamedTuple):
    """The images as page entries: ids, documents, and what the columns of `Annotations` need."""

    ids: IntArray
    documents: tuple[Document, ...]
    page_document: CodeArray
    page_index: IntArray
    page_size: FloatArray | None


class _Labels(NamedTuple):
    """The categories by rising id."""

    ids: IntArray
    names: tuple[str, ...]


class _Where(NamedTuple):
    """Document, page, label and image of each item, as the columns of `Boxes` have them."""

    document: CodeArray
    page: IntArray
    label: CodeArray
    entry: CodeArray


class Numbers(Sequence[str]):
    """Whole numbers as text, made when looked at.

    Parameters
    ----------
    values : int64, shape (N,)
    """

    __slots__ = ("values",)

    def __init__(self, values: IntArray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        return Numbers(self.values[row]) if isinstance(row, slice) else str(int(self.values[row]))


def detect(head: bytes) -> bool:
    """Whether the beginning of a file looks like COCO: two of its own keys.

    Parameters
    ----------
    head : bytes
        The first `readers.HEAD_BYTES` bytes or the whole file.

    Returns
    -------
    bool
    """
    return sum(mark in head for mark in _MARKS) >= 2


def side_of(content: bytes) -> Side | None:
    """What a file is by its form, without reading it.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    "ground_truth", "prediction" or None
        An array is a results list; an object with images is a ground truth, though it may be given as a
        prediction. None for anything else.
    """
    head = content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        return "prediction"
    return "ground_truth" if head.startswith(b"{") and b'"images"' in content else None


def read(
    content: bytes,
    name: str,
    *,
    side: Side | None = None,
    as_reference: bool = False,
    max_per_rule: int | None = 200,
    _exact: bool = False,
) -> Annotations:
    """The columns of a COCO file.

    Parameters
    ----------
    content : bytes
        The file; a byte order mark is allowed.
    name : str
        Its name without folder.
    side : "ground_truth", "prediction" or None
        What the file is given as; None takes a results list as prediction and the other form as ground truth.
    as_reference : bool
        Without effect: a results list has no images and cannot be a ground truth.
    max_per_rule : int or None
        How many findings of one rule are spelled out; None spells out all.

    Returns
    -------
    Annotations
        Unit pixels. ``Boxes.position`` is the position in the array of annotations or results, ``entry`` that of
        the image; `page_ids` are the image ids. A results list names no page and no label: each image id is a
        document of its own and the labels are category ids until `resolve`; its ``label_map`` is empty, and none of
        its labels counts as evaluated.

    Raises
    ------
    BadInput
        With all findings of the file, warnings included.

    Notes
    -----
    COCO data format, https://cocodataset.org/#format-data and #format-results. The document of an image is its
    ``doc`` or ``doc_name``, else the file name without folder and ending. Its page is ``page_index`` or ``page``
    (from 0) or ``page_no`` (from 1), else its place among the images of the document. Annotations given as
    predictions have scores only where they carry the key ``score``. `_exact` forces the exact walk, for tests.
    """
    content = json_text.text_of(content, name)
    with ThreadPoolExecutor(1) as pool:
        digest = pool.submit(json_text.digest, content)
        file = None if _exact else decode(content)
    source = json_text.Source(name, content, digest.result())
    if file is not None:
        # Outlines are looked into last; a number there that is out of range has to be found by the exact walk.
        with suppress(msgspec.MsgspecError, RecursionError):
            return _checked(source, file, side, Collector(name, max_per_rule=max_per_rule))
    found = Collector(name, max_per_rule=max_per_rule)
    return _checked(source, _walk(source, found), side, found)


def resolve(prediction: Annotations, ground_truth: Annotations) -> Annotations:
    """A results list with the pages and labels of its ground truth.

    Parameters
    ----------
    prediction : Annotations
        From `read`; annotations with images of their own are returned as they are.
    ground_truth : Annotations
        A COCO ground truth.

    Returns
    -------
    Annotations
        The pages, documents and labels of the ground truth with the boxes of the prediction. The same object when
        it is not an unresolved results list.

    Raises
    ------
    BadInput
        The ground truth is not COCO, or a result names an image or a category that it does not have.
    """
    if not is_unresolved(prediction):
        return prediction
    found = Collector(prediction.name, max_per_rule=200)
    if ground_truth.format != "coco" or not ground_truth.label_map:
        rule = "a COCO results list needs a COCO ground truth, which has the images and categories"
        found.error("", rule, f"{ground_truth.name} ({ground_truth.format})", "Give the ground truth of these results.")
        raise BadInput(found.findings())
    if len(set(ground_truth.page_ids)) != len(ground_truth.page_ids):
        rule = "the image ids of all files of a ground truth must differ to be named by a results list"
        again = next(key for key, times in Counter(ground_truth.page_ids).items() if times > 1)
        found.error("", rule, f"image id {again} twice in {ground_truth.name}", "Evaluate the files one by one.")
        raise BadInput(found.findings())
    boxes = prediction.boxes
    image_ids = np.array([int(key) for key in prediction.page_ids], dtype=np.int64)
    entry = _codes(image_ids, np.array([int(key) for key in ground_truth.page_ids], dtype=np.int64))
    names = {name: row for row, name in enumerate(ground_truth.labels)}
    # Ids come first: a name is there only when somebody renamed a category id of the results.
    code = names | {key: names[name] for key, name in ground_truth.label_map.items()}
    label = np.array([code.get(key, -1) for key in prediction.labels], dtype=np.int64)
    entry_of, label_of = entry[boxes.entry].astype(np.int32), label[boxes.label].astype(np.int32)
    for key, unknown, text in (
        ("image_id", entry_of < 0, lambda row: prediction.page_ids[int(boxes.entry[row])]),
        ("category_id", label_of < 0, lambda row: prediction.labels[int(boxes.label[row])]),
    ):
        found.errors(
            f"{key} must be an id of {ground_truth.name} (COCO format)",
            np.flatnonzero(unknown).tolist(),
            lambda row, key=key, text=text: (  # type: ignore[misc]
                _place_of(prediction, row, key),
                text(row),
                "Give the ground truth of these results, or correct the id.",
            ),
        )
    if found.failed:
        raise BadInput(found.findings())
    placed = replace(
        boxes,
        document=ground_truth.page_document[entry_of],
        page=ground_truth.page_index[entry_of],
        label=label_of,
        entry=entry_of,
    )
    size = ground_truth.page_size
    if size is not None:
        _check_inside(placed.xyxy, size[entry_of], lambda row: _place_of(prediction, row, "bbox"), found)
    return replace(
        prediction,
        labels=ground_truth.labels,
        evaluated=ground_truth.evaluated,
        documents=ground_truth.documents,
        page_document=ground_truth.page_document,
        page_index=ground_truth.page_index,
        boxes=placed,
        findings=(*prediction.findings, *found.findings()),
        label_map=ground_truth.label_map,
        page_ids=ground_truth.page_ids,
        page_size=size,
    )


def is_unresolved(source: Annotations) -> bool:
    """Whether a file is a results list that still needs the pages and labels of its ground truth."""
    return source.format == "coco" and source.side == "prediction" and not source.label_map


def _walk(source: json_text.Source, found: Collector) -> CocoFile:
    if len(source.content) > limits.MAX_EXACT_BYTES:
        rule = f"findings are listed only for files of up to {limits.MAX_EXACT_BYTES:,} bytes"
        found.error("", rule, f"{len(source.content):,} bytes", "Split the file; something in it is not plain COCO.")
        raise BadInput(found.findings())
    file = walk(json_text.parse(source), found)
    if file is None:
        raise BadInput(found.findings())
    return file


def _checked(source: json_text.Source, file: CocoFile, side: Side | None, found: Collector) -> Annotations:
    """The columns of a file after the rules on its values."""
    if file.images is None or file.categories is None:
        return _results(source, file.items, side, found)
    return _instances(source, file, side or "ground_truth", found)


def _results(source: json_text.Source, items: ItemColumns, side: Side | None, found: Collector) -> Annotations:
    """A results list whose image and category ids stand for pages and labels."""
    if side == "ground_truth":
        rule = "a ground truth must have images, annotations and categories (COCO format)"
        found.error("$", rule, "a results list", "Give the instances file here and this one as predictions.")
        raise BadInput(found.findings())
    _check_items(items, "$", found, side="prediction")
    _check_scores(items, "$", found)
    _check_size(items, found)
    if found.failed:
        raise BadInput(found.findings())
    image_ids, entry = _distinct(items.image_id)
    category_ids, label = _distinct(items.category_id)
    if len(category_ids) > limits.MAX_LABELS:
        rule = f"a file may have {limits.MAX_LABELS:,} labels"
        found.error("$", rule, f"{len(category_ids):,}", "Check category_id.")
        raise BadInput(found.findings())
    names = list(map(str, image_ids.tolist()))
    where = _Where(entry, np.zeros(len(entry), dtype=np.int64), label, entry)
    return Annotations(
        name=source.name,
        sha256=source.sha256,
        format="coco",
        side="prediction",
        model=None,
        version=None,
        labels=tuple(map(str, category_ids.tolist())),
        evaluated=0,
        documents=tuple(Document(key, key) for key in names),
        page_document=np.arange(len(names), dtype=np.int32),
        page_index=np.zeros(len(names), dtype=np.int64),
        boxes=_boxes(items, where, found, place="$", side="prediction"),
        findings=found.findings(),
        page_ids=names,
        unit="pixels",
    )


def _instances(source: json_text.Source, file: CocoFile, side: Side, found: Collector) -> Annotations:
    """A file with images of its own, as ground truth or as predictions."""
    items, place = file.items, "$.annotations"
    pages = _check_images(file.images or [], found)
    labels = _check_categories(file.categories or [], found)
    entry, label = _codes(items.image_id, pages.ids), _codes(items.category_id, labels.ids)
    for key, ids, codes, where in (
        ("image_id", items.image_id, entry, "images"),
        ("category_id", items.category_id, label, "categories"),
    ):
        rows = codes < 0 if items.unusable is None else (codes < 0) & ~items.unusable
        found.errors(
            f"{key} must be the id of one of {where} (COCO format)",
            np.flatnonzero(rows).tolist(),
            lambda row, ids=ids, key=key, where=where: (  # type: ignore[misc]
                f"{place}[{row}].{key}",
                str(ids[row]),
                f"Correct the id, or add it to {where}.",
            ),
        )
    _check_items(items, place, found, side=side)
    if side == "prediction" and not items.no_score.all():
        _check_scores(items, place, found)
    _check_ids(items, place, found)
    _check_size(items, found)
    if found.failed:
        raise BadInput(found.findings())
    at = _Where(pages.page_document[entry], pages.page_index[entry], label.astype(np.int32), entry.astype(np.int32))
    boxes = _boxes(items, at, found, place=place, side=side)
    if pages.page_size is not None:
        _check_inside(boxes.xyxy, pages.page_size[entry], lambda row: f"{place}[{row}].bbox", found)
    return Annotations(
        name=source.name,
        sha256=source.sha256,
        format="coco",
        side=side,
        model=None,
        version=None,
        labels=labels.names,
        evaluated=len(labels.names),
        documents=pages.documents,
        page_document=pages.page_document,
        page_index=pages.page_index,
        boxes=boxes,
        findings=found.findings(),
        label_map={str(key): name for key, name in zip(labels.ids.tolist(), labels.names, strict=True)},
        page_ids=list(map(str, pages.ids.tolist())),
        unit="pixels",
        page_size=pages.page_size,
    )


def _boxes(items: ItemColumns, where: _Where, found: Collector, *, place: str, side: Side) -> Boxes:
    """The box columns of items without errors."""
    xywh = items.xywh
    xyxy = np.concatenate([xywh[:, :2], xywh[:, :2] + xywh[:, 2:]], axis=1)
    box_area = xywh[:, 2] * xywh[:, 3]
    stated = None
    if side == "ground_truth":
        stated = np.where(items.no_area, box_area, items.area)
        # Most files state the area of the box: one column serves both.
        stated = box_area if np.array_equal(stated, box_area) else stated
    rows = np.arange(len(xyxy), dtype=np.int32)
    return Boxes(
        document=where.document,
        page=where.page,
        label=where.label,
        xyxy=xyxy,
        score=items.score if side == "prediction" else np.broadcast_to(np.nan, len(xyxy)),
        entry=where.entry,
        position=rows,
        ids=Numbers(rows.astype(np.int64) if items.id is None else items.id),
        area=stated,
        crowd=None if items.crowd is None else items.crowd != 0,
        polygons=outlines(items.outlines, place, found),
        box_area=box_area,
    )


def _check_images(images: Sequence[Image], found: Collector) -> _Pages:
    ids = [image.id for image in images]
    _check_unique(ids, "$.images", "an image", found)
    names = [_document_of(image) for image in images]
    code = {name: row for row, name in enumerate(dict.fromkeys(names))}
    paths = {
        name: image.file_name for name, image in zip(names, images, strict=True) if isinstance(image.file_name, str)
    }
    return _Pages(
        ids=np.array([-1 if key is None else key for key in ids], dtype=np.int64),
        documents=tuple(Document(name, name, paths.get(name, "")) for name in code),
        page_document=np.array([code[name] for name in names], dtype=np.int32),
        page_index=_page_indices(images, names, found),
        page_size=_page_size(images, found),
    )


def _document_of(image: Image) -> str:
    for value in (image.doc, image.doc_name):
        if isinstance(value, str) and value:
            return value
    if isinstance(image.file_name, str) and image.file_name:
        return PurePosixPath(image.file_name.replace("\\", "/")).stem or image.file_name
    return str(image.id)


def _page_indices(images: Sequence[Image], names: Sequence[str], found: Collector) -> IntArray:
    """Page of each image in its document, from 0."""
    _report_merged(images, names, found)
    if all(not _given(images, key) for key in PAGE_KEYS):
        order: Counter[str] = Counter()
        pages = []
        for name in names:
            pages.append(order[name])
            order[name] += 1
        return np.array(pages, dtype=np.int64)
    return _given_pages(images, names, found)


def _given(images: Sequence[Image], key: str) -> int:
    """How many images have a key."""
    return len(images) - [*map(attrgetter(key), images)].count(UNSET)


def _given_pages(images: Sequence[Image], names: Sequence[str], found: Collector) -> IntArray:
    """Page of each image in its document, from 0, where some images say it."""
    from_one = all(image.page_no != 0 for image in images)
    if not from_one:
        fix = "The page_no of this file are read as counted from 0."
        found.warning("$.images", "page_no counts from 1", "0", fix)
    given = [next((key for key in PAGE_KEYS if getattr(image, key) is not UNSET), None) for image in images]
    first_key: dict[str, str | None] = {}
    owner: dict[tuple[str, int], int] = {}
    pages = np.zeros(len(images), dtype=np.int64)
    order: Counter[str] = Counter()
    for row, (image, name, key) in enumerate(zip(images, names, given, strict=True)):
        place = f"$.images[{row}]"
        if first_key.setdefault(name, key) != key:
            rule = "all images of a document must give their page by the same key, or none"
            found.error(place, rule, f"{quote(key)} after {quote(first_key[name])}", "Use one key for all.")
            continue
        value = order[name] if key is None else getattr(image, key)
        order[name] += 1
        if value is None:  # reported by the exact walk
            continue
        index = value - (key == "page_no" and from_one)
        if not 0 <= index <= limits.MAX_PAGE_INDEX:
            lowest = int(key == "page_no" and from_one)
            rule = f"{key} must be from {lowest} to {limits.MAX_PAGE_INDEX}"
            found.error(f"{place}.{key}", rule, str(value), "Correct the page.")
        elif owner.setdefault((name, index), row) != row:
            rule = "two images must not be the same page of a document"
            there = f"page {value} of {quote(name)}, as $.images[{owner[name, index]}]"
            found.error(f"{place}.{key}", rule, there, "Correct the page, or name the document of each.")
        else:
            pages[row] = index
    return pages


def _report_merged(images: Sequence[Image], names: Sequence[str], found: Collector) -> None:
    """Say that images of one name in several folders were read as pages of one document."""
    if len(set(names)) == len(names) or any(_given(images, key) == len(images) for key in DOCUMENT_KEYS):
        return
    by_name: dict[str, list[str]] = defaultdict(list)
    for image, name in zip(images, names, strict=True):
        if all(getattr(image, key) is UNSET for key in DOCUMENT_KEYS) and isinstance(image.file_name, str):
            by_name[name].append(image.file_name)
    for name, files in by_name.items():
        if len(files) > 1:
            rule = "images with one file name are read as pages of one document"
            fix = "Give the images a key doc if they are different documents."
            found.warning("$.images", rule, f"{quote(name)}: {', '.join(map(quote, files[:3]))}", fix)


def _page_size(images: Sequence[Image], found: Collector) -> FloatArray | None:
    """Width and height of each image; None when one does not say."""
    sides = {key: [*map(attrgetter(key), images)] for key in ("width", "height")}
    if any(UNSET in values or None in values for values in sides.values()):
        rule = "width and height of every image are needed to draw boxes on a page (COCO format)"
        found.warning("$.images", rule, "an image without them", "Nothing else is lost; add them.")
        return None
    for key, values in sides.items():
        for row in np.flatnonzero(np.array(values, dtype=np.float64) <= 0.0).tolist():
            fix = "Write the size of the image in pixels."
            found.error(f"$.images[{row}].{key}", f"{key} must be above 0 (COCO format)", str(values[row]), fix)
    return np.array([sides["width"], sides["height"]], dtype=np.float64).reshape(2, -1).T.copy()


def _check_categories(categories: Sequence[Category], found: Collector) -> _Labels:
    _check_unique([category.id for category in categories], "$.categories", "a category", found)
    first: dict[str, int] = {}
    for row, category in enumerate(categories):
        if category.name is None:
            continue
        if not category.name:
            found.error(f"$.categories[{row}].name", "a category must have a name (COCO format)", '""', "Name it.")
        elif first.setdefault(category.name, row) != row:
            rule = "two categories must not have one name"
            fix = "Name them apart, or give their annotations one category_id."
            there = f"{quote(category.name)}, as $.categories[{first[category.name]}]"
            found.error(f"$.categories[{row}].name", rule, there, fix)
    if len(categories) > limits.MAX_LABELS:
        rule = f"a file may have {limits.MAX_LABELS:,} labels"
        found.error("$.categories", rule, f"{len(categories):,}", "Remove those that are not used.")
    usable = sorted((c for c in categories if c.id is not None and c.name is not None), key=lambda c: c.id)
    return _Labels(np.array([c.id for c in usable], dtype=np.int64), tuple(c.name for c in usable))


def _check_unique(ids: Sequence[int | None], place: str, what: str, found: Collector) -> None:
    if len(set(ids)) == len(ids):
        return
    first: dict[int, int] = {}
    for row, key in enumerate(ids):
        if key is not None and first.setdefault(key, row) != row:
            rule = f"the id of {what} must occur once (COCO format)"
            found.error(f"{place}[{row}].id", rule, f"{key}, as {place}[{first[key]}]", "Give each its own id.")


def _check_ids(items: ItemColumns, place: str, found: Collector) -> None:
    """Annotation ids must differ: tools that look annotations up by id would use the last one for all."""
    if items.id is None or (np.diff(items.id) > 0).all():
        return
    order = np.argsort(items.id, kind="stable")
    again = np.flatnonzero(np.diff(items.id[order]) == 0)
    before = dict(zip(order[again + 1].tolist(), order[again].tolist(), strict=True))
    found.errors(
        "the id of an annotation must occur once (COCO format)",
        sorted(before),
        lambda row: (
            f"{place}[{row}].id",
            f"{items.id[row]}, as {place}[{before[row]}]",  # type: ignore[index]
            "Give each its own id.",
        ),
    )


def _check_items(items: ItemColumns, place: str, found: Collector, *, side: Side) -> None:
    """Rules on boxes, areas and flags."""
    xywh = items.xywh

    def report(severity: str, rule: str, rows: BoolArray, key: str, fix: str) -> None:
        if not rows.any():
            return
        values = {"bbox": xywh, "area": items.area}[key]
        described: Callable[[int], tuple[str, str, str]] = lambda row: (  # noqa: E731
            f"{place}[{row}].{key}",
            quote(values[row].tolist()),
            fix,
        )
        _note(found, severity, rule, np.flatnonzero(rows), described)

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
            fix = "Width times height of the box is used to tell small from large."
            rows = np.flatnonzero(items.no_area)
            found.warning(f"{place}[{rows[0]}]", rule, f"{len(rows):,} without area", fix)
        if not items.no_score.all():
            rule = "the scores of a ground truth are not used"
            found.warning(place, rule, "score", "Give the file as predictions if it is a model's.")
    if items.crowd is not None:
        wrong = np.flatnonzero((items.crowd != 0) & (items.crowd != 1))
        crowd = items.crowd
        found.errors(
            "iscrowd must be 0 or 1 (COCO format)",
            wrong.tolist(),
            lambda row: (f"{place}[{row}].iscrowd", str(crowd[row]), "Write 0 or 1."),
        )
    if items.ignored is not None and side == "ground_truth":
        rule = "ignore is not read; iscrowd says what is ignored (pycocotools)"
        rows = np.flatnonzero(items.ignored)
        found.warning(f"{place}[{rows[0]}].ignore", rule, f"{len(rows):,} with ignore", "They count; use iscrowd.")


def _check_scores(items: ItemColumns, place: str, found: Collector) -> None:
    found.errors(
        "every result must have a score (COCO format)",
        np.flatnonzero(items.no_score).tolist(),
        lambda row: (f"{place}[{row}]", "", "Write the model's confidence."),
    )
    outside = np.flatnonzero((items.score < 0.0) | (items.score > 1.0))
    if len(outside):
        rule = "scores are expected to be in [0, 1]"
        fix = "They are ranked as they are; thresholds on the score refer to them."
        found.warning(f"{place}[{outside[0]}].score", rule, f"{len(outside):,} outside", fix)


def _check_size(items: ItemColumns, found: Collector) -> None:
    if len(items.xywh) > limits.MAX_BOXES:
        found.error("", f"a file may have {limits.MAX_BOXES:,} boxes", f"{len(items.xywh):,}", "Split the file.")


def _check_inside(xyxy: FloatArray, size: FloatArray, place: Callable[[int], str], found: Collector) -> None:
    """Warn of boxes that leave their image."""
    outside = (xyxy[:, :2].min(axis=1, initial=0.0) < -_TOLERANCE_PX) | (
        (xyxy[:, 2] - size[:, 0] > _TOLERANCE_PX) | (xyxy[:, 3] - size[:, 1] > _TOLERANCE_PX)
    )
    rule = f"a box should not leave its image by more than {_TOLERANCE_PX:g} px"
    _note(
        found,
        "warning",
        rule,
        np.flatnonzero(outside),
        lambda row: (
            place(row),
            f"{quote(xyxy[row].tolist())} (corners) in {size[row, 0]:g} x {size[row, 1]:g}",
            "It is compared as it is; check the size of the image.",
        ),
    )


def _note(
    found: Collector, severity: str, rule: str, rows: IntArray, describe: Callable[[int], tuple[str, str, str]]
) -> None:
    """Findings of one rule: every row for errors, the first one with the number of all for warnings."""
    if severity == "error":
        found.errors(rule, rows.tolist(), describe)
    elif len(rows):
        place, value, fix = describe(int(rows[0]))
        more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        found.warning(place, rule, value + more, fix)


def _place_of(source: Annotations, row: int, key: str) -> str:
    name, _, position = source.source_of(row)
    return f"$[{position}].{key}" if name == source.name else f"{name}: $[{position}].{key}"


def _codes(ids: IntArray, known: IntArray) -> IntArray:
    """Row of each id in the known ones, int64; -1 for an unknown id."""
    if not len(known):
        return np.full(len(ids), -1, dtype=np.int64)
    low, high = int(known.min()), int(known.max())
    if high - low < 8 * len(known) + 1024:
        place = np.full(high - low + 2, -1, dtype=np.int64)
        place[known - low] = np.arange(len(known))
        inside = (ids >= low) & (ids <= high)
        return place[np.where(inside, ids - low, high - low + 1)]
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
    return np.where(known[order[at]] == ids, order[at], -1)


def _distinct(ids: IntArray) -> tuple[IntArray, CodeArray]:
    """The different ids, rising, and the row of each id among them."""
    if not len(ids):
        return ids, np.empty(0, dtype=np.int32)
    low, high = int(ids.min()), int(ids.max())
    if high - low < 8 * len(ids) + 1024:
        there = np.zeros(high - low + 1, dtype=bool)
        there[ids - low] = True
        known = np.flatnonzero(there) + low
        return known, _codes(ids, known).astype(np.int32)
    known, rows = np.unique(ids, return_inverse=True)
    return known, rows.astype(np.int32)
