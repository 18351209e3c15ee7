"""Annotations with boxes removed, relabelled or added; the originals stay as they are.

Pages and documents stay, so that results before and after have the same rows. An added box has the page entry of its
page, a position behind the boxes that stood there, and no outline.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, area
from evaluator.data.dataset import Annotations, Boxes, Document, page_keys
from evaluator.data.subsets import boxes_at


class Addition(NamedTuple):
    """Box to add, corners in the unit of the file; `page_size`, or NaN, is for a page that is new to it."""

    document: Document
    page: int
    label: str
    xyxy: tuple[float, float, float, float]
    target_id: str
    page_size: tuple[float, float] = (math.nan, math.nan)


def apply_edits(
    source: Annotations,
    *,
    removed: BoolArray,
    relabelled: Mapping[int, str],
    added: Sequence[Addition],
    marked: BoolArray,
    labels: Sequence[str],
    reason: str,
) -> tuple[Annotations, BoolArray]:
    """Return the annotations with boxes removed, relabelled (by row) and added, and the `marked` rows.

    `labels` is what the files map together; the file gets them all, in this order, when it needs one that it did not
    have. `reason` enters the digest, so that two corrections of one file are two files.
    """
    needed = {*relabelled.values(), *(box.label for box in added)}
    if not needed <= set(source.labels[: source.evaluated]):
        source = _with_labels(source, labels)
    source = _with_pages(source, added)
    label = source.boxes.label.copy()
    for row, name in relabelled.items():
        label[row] = source.labels.index(name)
    rows = np.flatnonzero(~removed)
    boxes = _extended(boxes_at(replace(source.boxes, label=label), rows), source, added)
    digest = hashlib.sha256(f"{source.sha256}/{reason}".encode()).hexdigest()
    marks = np.concatenate([marked[rows], np.zeros(len(added), dtype=bool)])
    return replace(source, boxes=boxes, sha256=digest, parts=()), marks


def _with_labels(source: Annotations, names: Sequence[str]) -> Annotations:
    fresh = [name for name in names if name not in source.labels[: source.evaluated]]
    rest = [label for label in source.labels[source.evaluated :] if label not in fresh]
    labels = (*source.labels[: source.evaluated], *fresh, *rest)
    codes = np.array([labels.index(label) for label in source.labels], dtype=np.int32)
    return replace(
        source,
        labels=labels,
        evaluated=source.evaluated + len(fresh),
        boxes=replace(source.boxes, label=codes[source.boxes.label]),
        label_map=_with_keys(source.label_map, fresh),
    )


def _with_keys(label_map: Mapping[str, str], fresh: Sequence[str]) -> dict[str, str]:
    """Return a label map with new names under the next free numbers; an empty one stays empty."""
    if not label_map:
        return {}
    first = max((int(key) for key in label_map if key.isascii() and key.isdigit()), default=0) + 1
    return {**label_map, **{str(first + place): name for place, name in enumerate(fresh)}}


def _entries(source: Annotations) -> dict[tuple[str, int], int]:
    """Return the first page entry of each page, by document id and page."""
    entries: dict[tuple[str, int], int] = {}
    for entry, key in enumerate(page_keys(source)):
        entries.setdefault(key, entry)
    return entries


def _with_pages(source: Annotations, added: Sequence[Addition]) -> Annotations:
    known = _entries(source)
    fresh: dict[tuple[str, int], Addition] = {}
    for box in added:
        if (box.document.doc_id, box.page) not in known:
            fresh.setdefault((box.document.doc_id, box.page), box)
    if not fresh:
        return source
    documents = {document.doc_id: document for document in source.documents}
    for box in fresh.values():
        documents.setdefault(box.document.doc_id, box.document)
    codes, size = {doc_id: code for code, doc_id in enumerate(documents)}, source.page_size
    sizes = np.array([box.page_size for box in fresh.values()], dtype=np.float64)
    return replace(
        source,
        documents=tuple(documents.values()),
        page_document=np.append(source.page_document, np.array([codes[doc_id] for doc_id, _ in fresh], dtype=np.int32)),
        page_index=np.append(source.page_index, np.array([page for _, page in fresh], dtype=np.int64)),
        page_ids=[*source.page_ids, *(f"{doc_id}::p{page:03d}" for doc_id, page in fresh)]
        if len(source.page_ids)
        else (),
        page_size=None if size is None else np.concatenate([size, sizes]),
    )


def _extended(boxes: Boxes, source: Annotations, added: Sequence[Addition]) -> Boxes:
    if not added:
        return boxes
    entries = _entries(source)
    entry = np.array([entries[box.document.doc_id, box.page] for box in added], dtype=np.int32)
    behind = np.zeros(len(source.page_index), dtype=np.int64)
    np.maximum.at(behind, boxes.entry, boxes.position.astype(np.int64) + 1)
    position = []
    for number in entry.tolist():
        position.append(int(behind[number]))
        behind[number] += 1
    xyxy = np.array([box.xyxy for box in added], dtype=np.float64).reshape(-1, 4)

    def longer(column: FloatArray | None, values: FloatArray) -> FloatArray | None:
        return None if column is None else np.concatenate([column, values])

    return Boxes(
        document=np.append(boxes.document, source.page_document[entry]),
        page=np.append(boxes.page, np.array([box.page for box in added], dtype=np.int64)),
        label=np.append(boxes.label, np.array([source.labels.index(box.label) for box in added], dtype=np.int32)),
        xyxy=np.concatenate([boxes.xyxy, xyxy]),
        score=np.append(boxes.score, np.full(len(added), np.nan)),
        entry=np.append(boxes.entry, entry),
        position=np.append(boxes.position, np.array(position, dtype=np.int32)),
        ids=[*boxes.ids, *(f"accepted-{box.target_id[:12]}-{place}" for place, box in enumerate(added))],
        area=longer(boxes.area, area(xyxy)),
        crowd=None if boxes.crowd is None else np.append(boxes.crowd, np.zeros(len(added), dtype=bool)),
        polygons=boxes.polygons,
        box_area=longer(boxes.box_area, area(xyxy)),
    )
