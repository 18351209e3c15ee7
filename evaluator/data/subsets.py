"""Annotations with some of their boxes, documents or pages; the originals stay as they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.dataset import Annotations, Boxes

T = TypeVar("T")


def kept_boxes(source: Annotations, kept: BoolArray) -> Annotations:
    """Return the annotations with some boxes and all pages, as one part; the same object for all boxes."""
    if kept.all():
        return source
    return replace(source, boxes=boxes_at(source.boxes, np.flatnonzero(kept)), parts=())


def only_page(source: Annotations, document: str, page: int) -> Annotations:
    """Return one page (from 0) alone, empty if the file lacks it; its document stays if the file has it."""
    return only_documents(source, [document], page)


def only_documents(source: Annotations, documents: Collection[str], page: int | None = None) -> Annotations:
    """Return some documents, with one of their pages (from 0) or all, as one part."""
    kept = [code for code, each in enumerate(source.documents) if each.doc_id in documents]
    taken = np.isin(source.page_document, kept) & (True if page is None else source.page_index == page)
    entries, rows = np.flatnonzero(taken), np.flatnonzero(taken[source.boxes.entry])
    boxes = boxes_at(source.boxes, rows)
    boxes = replace(boxes, entry=np.searchsorted(entries, boxes.entry).astype(np.int32))
    return cut(source, kept, entries, boxes)


def cut(source: Annotations, documents: Sequence[int], entries: IntArray, boxes: Boxes) -> Annotations:
    """Return some documents and page entries, by their rising codes, with the boxes of these, as one part.

    `entry` of the boxes counts the entries, and `document` is still a code of all documents.
    """
    chosen = entries.tolist()
    return replace(
        source,
        documents=tuple(source.documents[code] for code in documents),
        page_document=np.searchsorted(documents, source.page_document[entries]).astype(np.int32),
        page_index=source.page_index[entries],
        boxes=replace(boxes, document=np.searchsorted(documents, boxes.document).astype(np.int32)),
        parts=(),
        page_ids=[source.page_ids[entry] for entry in chosen] if len(source.page_ids) else (),
        page_size=None if source.page_size is None else source.page_size[entries],
        attributes={name: [values[entry] for entry in chosen] for name, values in source.attributes.items()},
        page_images=[source.page_images[entry] for entry in chosen] if len(source.page_images) else (),
    )


def boxes_at(boxes: Boxes, rows: IntArray) -> Boxes:
    """Return some of the boxes, in the order of the rows."""
    place = {row: new for new, row in enumerate(rows.tolist())} if boxes.polygons else {}
    return Boxes(
        document=boxes.document[rows],
        page=boxes.page[rows],
        label=boxes.label[rows],
        xyxy=boxes.xyxy[rows],
        score=boxes.score[rows],
        entry=boxes.entry[rows],
        position=boxes.position[rows],
        ids=[boxes.ids[row] for row in rows.tolist()],
        area=None if boxes.area is None else boxes.area[rows],
        crowd=None if boxes.crowd is None else boxes.crowd[rows],
        polygons={place[row]: rings for row, rings in boxes.polygons.items() if row in place},
        box_area=None if boxes.box_area is None else boxes.box_area[rows],
        row=rows if boxes.row is None else boxes.row[rows],
        order=_at(boxes.order, rows),
        text=_at(boxes.text, rows),
        cells=_at(boxes.cells, rows),
    )


def _at(column: Sequence[T] | None, rows: IntArray) -> Sequence[T] | None:
    return None if column is None else [column[row] for row in rows.tolist()]
