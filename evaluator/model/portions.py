"""Annotations with some of their boxes, or one of their pages; the originals stay as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.dataset import Annotations, Boxes


def kept_boxes(source: Annotations, kept: BoolArray) -> Annotations:
    """Return the annotations with some boxes and all pages, as one part; the same object for all boxes."""
    if kept.all():
        return source
    return replace(source, boxes=boxes_at(source.boxes, np.flatnonzero(kept)), parts=())


def only_page(source: Annotations, document: str, page: int) -> Annotations:
    """Return one page (from 0) alone, empty if the file lacks it; its document stays if the file has it."""
    documents = tuple(each for each in source.documents if each.doc_id == document)
    code = next((code for code, each in enumerate(source.documents) if each.doc_id == document), -1)
    entries = np.flatnonzero((source.page_document == code) & (source.page_index == page))
    rows = np.flatnonzero(np.isin(source.boxes.entry, entries))
    boxes = boxes_at(source.boxes, rows)
    chosen = entries.tolist()
    return replace(
        source,
        documents=documents,
        page_document=np.zeros(len(entries), dtype=np.int32),
        page_index=source.page_index[entries],
        boxes=replace(
            boxes,
            document=np.zeros(len(rows), dtype=np.int32),
            entry=np.searchsorted(entries, boxes.entry).astype(np.int32),
        ),
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
    )
