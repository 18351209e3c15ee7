"""COCO instances and results lists, bytes to columns; a page is an image.

Owns the format `Coco`, and `resolve`. Boxes come as x, y, width, height and leave as corners, in pixels, origin top
left. What the fast decoder refuses is read by the exact walk; the rules are the same. Nothing is clamped or dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, overload

import msgspec
import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, Boxes, CodeArray, Document, Side
from evaluator.data.issues import Collector
from evaluator.data.order import distinct
from evaluator.formats import image_folder, json_text, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.coco.category_names import check_names, labels_of, stated_names
from evaluator.formats.coco.ids import Texts, id_text, id_texts, quoted_id
from evaluator.formats.coco.image_names import check_files, images_of
from evaluator.formats.coco.outlines import outlines
from evaluator.formats.coco.rules import (
    check_categories,
    check_crowds,
    check_id_zero,
    check_ids,
    check_images,
    check_inside,
    check_items,
    check_outlines,
    check_rotation,
    check_scores,
    check_size,
    rows_of,
)
from evaluator.formats.coco.shape import CocoFile, ItemColumns, corners, decode
from evaluator.formats.coco.validate import validate
from evaluator.system.threads import thread_pool

_MARKS = (
    b'"image_id"', b'"category_id"', b'"images"', b'"file_name"', b'"annotations"', b'"categories"', b'"iscrowd"',
)  # fmt: skip
# OmniDocBench, and Label Studio: they name images and categories too.
_SCORES = re.compile(rb'"score"\s*:\s*[-\d]')
_MARKS_OF_OTHERS = (b'"layout_dets"', b'"rectanglelabels"', b'"polygonlabels"', b'"label_id"')


class _Where(NamedTuple):
    """Document, page, label and image of each item, as the columns of `Boxes` have them."""

    document: CodeArray
    page: IntArray
    label: CodeArray
    entry: CodeArray


class Numbers(Sequence[str]):
    """Ids, int64 (N,), as text made when looked at; without `texts` that of the numbers themselves."""

    __slots__ = ("texts", "values")

    def __init__(self, values: IntArray, texts: Texts = None) -> None:
        self.values, self.texts = values, texts

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return Numbers(self.values[row], self.texts)
        return id_text(int(self.values[row]), self.texts)


class Coco(BoxFormat):
    """COCO instances and results.

    COCO data format, https://cocodataset.org/#format-data and #format-results. The document of an image is ``doc`` or
    ``doc_name``, else the stem of its file name, whose folders may be in ``path``; the page is ``page_index`` or
    ``page`` (from 0) or ``page_no`` (from 1), else the place among the images of the document. Predictions have scores
    only where they carry the key ``score``. The ``file_name`` and ``category_name`` of a result say which image and
    category it means, before its ids. A rotation of boxes or images is not read, with a warning.
    """

    name = "coco"
    title = "COCO instances or results (JSON)"
    looks_for = "two of the keys image_id, category_id, images, file_name, annotations, categories, iscrowd"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether two keys of COCO are there, and none of a format that has such keys as well."""
        marks = [mark for mark in _MARKS if mark in head]
        if b'"image_id"' not in marks and any(mark in head for mark in _MARKS_OF_OTHERS):
            return False
        if not {b'"image_id"', b'"file_name"'} & {*marks} and b'"image_name"' in head:
            return False
        named = b'"image_id"' in marks and b'"category_name"' in head
        return (len(marks) >= 2 or named) and not image_folder.FORMAT.detect(head)

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return prediction for a results list, and for an object whose boxes all have a score, which may be either."""
        head = content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith(b"["):
            return "prediction"
        if not head.startswith(b"{") or b'"images"' not in content:
            return None
        scores = len(_SCORES.findall(content)) if b'"score"' in content else 0
        return "prediction" if scores >= content.count(b'"bbox"') > 0 else "ground_truth"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a COCO file, in pixels; see `Format.read`.

        ``Boxes.position`` is the position among annotations or results, ``entry`` that of the image; `page_ids` are
        image ids. A results list is never a ground truth; until `resolve` each image id is a document, labels are
        category ids, none of them evaluated, and ``label_map`` has the ``category_name`` that results state by id.
        """
        content = json_text.text_of(content, name)
        with thread_pool(1) as pool:
            digest = pool.submit(json_text.digest, content)
            file = decode(content)
        source = json_text.Source(name, content, digest.result())
        if file is not None:
            # Outlines are looked into last; a number there that is out of range is left to the exact walk.
            with suppress(msgspec.MsgspecError, RecursionError):
                return _checked(source, file, reading, Collector(name, max_per_rule=reading.max_per_rule))
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        fix = "Split the file; something in it is not plain COCO."
        file = validate(json_text.parse_exactly(source, collector, fix=fix), collector)
        return _checked(source, file, reading, collector)

    def read_in_parts(self, path: Path, reading: Reading = ANY_SIDE) -> Annotations | None:
        """Return the columns of a file of plain numbers of any size as `read`; None for any other file."""
        from evaluator.formats.coco.stream import NEED_FULL_VALIDATION, plain_file  # most files are read at once

        try:
            file, source = plain_file(path)
        except NEED_FULL_VALIDATION:
            return None
        return _checked(source, file, reading, Collector(path.name, max_per_rule=reading.max_per_rule))

    def place_in_file(self, source: Annotations, row: int) -> str:
        """Return the JSON path of the annotation or result."""
        return f"{source.items_at}[{source.source_of(row)[2]}]"

    def outline_place(self, source: Annotations, row: int) -> str:
        """Return the JSON path of the segmentation."""
        return f"{self.place(source, row)}.segmentation"

    def resolve(self, prediction: Annotations, truth: Annotations) -> Annotations:
        """Return a results list with the pages and labels of its ground truth; see `resolve`."""
        return resolve(prediction, truth)


FORMAT: Final = Coco()


def resolve(prediction: Annotations, ground_truth: Annotations) -> Annotations:
    """Return a results list with pages, documents and labels of its ground truth; others as they are.

    `BadInput` when the ground truth is not COCO or lacks an image or category. An empty list takes over the unit of a
    ground truth of any format.
    """
    if not is_unresolved(prediction):
        return prediction
    collector = Collector(prediction.name, max_per_rule=200)
    empty = not len(prediction.boxes)
    if not empty or is_unresolved(ground_truth):
        _need_images(ground_truth, collector)
    entry, label = _looked_up(prediction, ground_truth, collector)
    placed = replace(
        prediction.boxes,
        document=ground_truth.page_document[entry],
        page=ground_truth.page_index[entry],
        label=label,
        entry=entry,
    )
    size = ground_truth.page_size
    if size is not None:
        check_inside(placed.xyxy, size[entry], lambda row: f"{FORMAT.place(prediction, row)}.bbox", collector)
    return replace(
        prediction,
        labels=ground_truth.labels,
        evaluated=ground_truth.evaluated,
        documents=ground_truth.documents,
        page_document=ground_truth.page_document,
        page_index=ground_truth.page_index,
        boxes=placed,
        issues=(*prediction.issues, *collector.issues()),
        label_map=ground_truth.label_map,
        page_ids=ground_truth.page_ids,
        page_size=size,
        attributes=ground_truth.attributes,
        page_images=ground_truth.page_images,
        unit=ground_truth.unit if empty else prediction.unit,
    )


def _need_images(ground_truth: Annotations, collector: Collector) -> None:
    if ground_truth.format != FORMAT.name or not ground_truth.label_map:
        rule = "a COCO results list needs a COCO ground truth, which has the images and categories"
        what = f"{ground_truth.name} ({ground_truth.format})"
        collector.error("", rule, what, "Give the ground truth of these results.")
    elif len(set(ground_truth.page_ids)) != len(ground_truth.page_ids):
        rule = "the image ids of all files of a ground truth must differ to be named by a results list"
        again = next(key for key, times in Counter(ground_truth.page_ids).items() if times > 1)
        what = f"image id {again} twice in {ground_truth.name}"
        collector.error("", rule, what, "Evaluate the files one by one.")
    collector.raise_if_failed()


def _looked_up(prediction: Annotations, ground_truth: Annotations, collector: Collector) -> tuple[CodeArray, CodeArray]:
    boxes, place = prediction.boxes, partial(FORMAT.place, prediction)
    entry = images_of(prediction, ground_truth, place, collector)
    label = labels_of(prediction, ground_truth, place, collector)
    collector.raise_if_failed()
    return entry[boxes.entry].astype(np.int32), label[boxes.label].astype(np.int32)


def is_unresolved(source: Annotations) -> bool:
    """Return whether a file is a results list that needs pages and labels of its ground truth."""
    return source.format == FORMAT.name and source.side == "prediction" and not source.evaluated


def _checked(source: json_text.Source, file: CocoFile, reading: Reading, collector: Collector) -> Annotations:
    if file.images is None or file.categories is None:
        return _results(source, file, reading, collector)
    side = reading.side or FORMAT.side_of(source.content) or "ground_truth"
    return _instances(source, file, side, collector)


def _results(source: json_text.Source, file: CocoFile, reading: Reading, collector: Collector) -> Annotations:
    items, texts = file.items, file.texts
    if reading.side == "ground_truth":
        rule = "a file given as ground truth must have images, annotations and categories (COCO format)"
        collector.fail("$", rule, "a results list", "Give the instances file here and this one as predictions.")
    check_items(items, "$", collector, side="prediction")
    # A list in which some have scores and some do not is a mistake, whoever reads it.
    if not (reading.unscored and items.no_score.all()):
        check_scores(items, "$", collector)
    check_size(len(items.xywh), collector)
    if not len(items.xywh):
        rule = "a results list should have results (COCO format)"
        collector.warning("$", rule, "an empty list", "Nothing to do if the model found nothing.")
    check_rotation(source.content, collector)
    label_map = stated_names(items, texts.categories, "$", collector)
    collector.raise_if_failed()
    image_ids, files, entry = _named_images(items)
    category_ids, category = distinct(items.category_id)
    label = category.astype(np.int32)
    if len(category_ids) > limits.MAX_LABELS:
        rule = f"a file may have {limits.MAX_LABELS:,} labels"
        collector.fail("$", rule, f"{len(category_ids):,}", "Check category_id.")
    names = id_texts(image_ids, texts.images)
    where = _Where(entry, np.zeros(len(entry), dtype=np.int64), label, entry)
    return Annotations(
        name=source.name,
        sha256=source.sha256,
        format=FORMAT.name,
        side="prediction",
        model=None,
        version=None,
        labels=tuple(id_texts(category_ids, texts.categories)),
        evaluated=0,
        documents=tuple(Document(key, key) for key in names),
        page_document=np.arange(len(names), dtype=np.int32),
        page_index=np.zeros(len(names), dtype=np.int64),
        boxes=_boxes(file, where, collector, place="$", side="prediction"),
        issues=collector.issues(),
        label_map=label_map,
        page_ids=names,
        page_images=files,
        unit="pixels",
        items_at="$",
    )


def _named_images(items: ItemColumns) -> tuple[IntArray, Sequence[str], CodeArray]:
    ids, entry = distinct(items.image_id)
    if not items.file_names:
        return ids, (), entry.astype(np.int32)
    stated = [(key, items.file_names.get(row, "")) for row, key in enumerate(items.image_id.tolist())]
    images = sorted(set(stated))
    rows = {image: row for row, image in enumerate(images)}
    ids = np.array([key for key, _ in images], dtype=np.int64)
    return ids, [name for _, name in images], np.array([rows[image] for image in stated], dtype=np.int32)


def _instances(source: json_text.Source, file: CocoFile, side: Side, collector: Collector) -> Annotations:
    items, texts, place = file.items, file.texts, "$.annotations"
    pages = check_images(file.images or [], collector, texts.images)
    labels = check_categories(file.categories or [], collector, texts.categories)
    entry, label = rows_of(items.image_id, pages.ids), rows_of(items.category_id, labels.ids)
    for key, ids, codes, where in (
        ("image_id", items.image_id, entry, "images"),
        ("category_id", items.category_id, label, "categories"),
    ):
        rows = codes < 0 if items.unusable is None else (codes < 0) & ~items.unusable
        collector.errors(
            f"{key} must be the id of one of {where} (COCO format)",
            np.flatnonzero(rows).tolist(),
            lambda row, ids=ids, key=key, where=where: (  # type: ignore[misc]
                f"{place}[{row}].{key}",
                quoted_id(int(ids[row]), getattr(texts, where)),
                f"Correct the id, or add it to {where}.",
            ),
        )
    check_files(items, pages, texts.images, place, collector)
    check_names(items, labels, texts.categories, place, collector)
    check_items(items, place, collector, side=side)
    if side == "prediction" and not items.no_score.all():
        check_scores(items, place, collector)
    check_ids(items.id, place, collector, texts.annotations)
    if side == "ground_truth":
        check_crowds(items.crowd, place, collector)
    if side == "ground_truth" and texts.annotations is None:
        check_id_zero(items.id, items.crowd, place, collector)
    check_size(len(items.xywh), collector)
    check_rotation(source.content, collector)
    collector.raise_if_failed()
    at = _Where(pages.page_document[entry], pages.page_index[entry], label.astype(np.int32), entry.astype(np.int32))
    boxes = _boxes(file, at, collector, place=place, side=side)
    if pages.page_size is not None:
        check_inside(boxes.xyxy, pages.page_size[entry], lambda row: f"{place}[{row}].bbox", collector)
    return Annotations(
        name=source.name,
        sha256=source.sha256,
        format=FORMAT.name,
        side=side,
        model=None,
        version=None,
        labels=labels.names,
        evaluated=len(labels.names),
        documents=pages.documents,
        page_document=pages.page_document,
        page_index=pages.page_index,
        boxes=boxes,
        issues=collector.issues(),
        label_map=dict(zip(id_texts(labels.ids, texts.categories), labels.names, strict=True)),
        page_ids=id_texts(pages.ids, texts.images),
        unit="pixels",
        page_size=pages.page_size,
        attributes=pages.attributes,
        page_images=pages.images,
        items_at=place,
    )


def _boxes(file: CocoFile, where: _Where, collector: Collector, *, place: str, side: Side) -> Boxes:
    items, texts = file.items, file.texts.annotations
    xywh = items.xywh
    xyxy = corners(xywh)
    box_area = xywh[:, 2] * xywh[:, 3]
    sizes, stated = box_area, None
    if items.region_area:
        # As in pycocotools: what has no bbox is as large as its mask.
        sizes = box_area.copy()
        sizes[list(items.region_area)] = list(items.region_area.values())
    if side == "ground_truth":
        stated = np.where(items.no_area, sizes, items.area)
        # Most files state the area of the box: one column serves both.
        stated = box_area if np.array_equal(stated, box_area) else stated
    elif items.region_area:
        stated = sizes
    rows = np.arange(len(xyxy), dtype=np.int32)
    polygons = outlines(items.outlines, place, collector)
    check_outlines(xyxy, polygons, place, collector)
    return Boxes(
        document=where.document,
        page=where.page,
        label=where.label,
        xyxy=xyxy,
        score=items.score if side == "prediction" else np.broadcast_to(np.nan, len(xyxy)),
        entry=where.entry,
        position=rows,
        ids=Numbers(rows.astype(np.int64) if items.id is None else items.id, None if items.id is None else texts),
        area=stated,
        crowd=None if items.crowd is None else items.crowd != 0,
        polygons=polygons,
        box_area=box_area,
    )
