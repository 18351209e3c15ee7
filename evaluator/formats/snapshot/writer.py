"""Boxes of any format as a ground truth file of schema 1.3: shares of the page, ids as in the source."""

from __future__ import annotations

import msgspec
import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.issues import refuse
from evaluator.formats.base import Reading
from evaluator.formats.snapshot.reader import FORMAT


def ground_truth_file(truth: Annotations, *, created_at: str, notes: dict[str, object]) -> bytes:
    """Return a ground truth in schema 1.3, as indented UTF-8 JSON; `created_at` is in UTC.

    `notes` go into ``info.model``, where schema 1.3 allows keys of our own. `BadInput`, with all issues, when pixels
    have no page size, or a rule of schema 1.3 is broken that the source's format does not have.
    """
    content = msgspec.json.format(msgspec.json.encode(_value(truth, created_at, notes)), indent=2) + b"\n"
    # Not written unless our own reader takes it: its issues say what is wrong.
    FORMAT.read(content, truth.name, Reading(side="ground_truth"))
    return content


def _value(truth: Annotations, created_at: str, notes: dict[str, object]) -> dict[str, object]:
    pages = page_keys(truth)
    ids = truth.page_ids or [f"{doc_id}::p{page:03d}" for doc_id, page in pages]
    scored = truth.labels[: truth.evaluated]
    mapped = {str(place): label for place, label in enumerate(scored, 1)}
    # A map of schema 1.3 has numbers for exactly the labels that are scored.
    has_map = bool(truth.label_map) and sorted(truth.label_map.values()) == sorted(scored)
    return {
        "label_map": dict(truth.label_map) if has_map else mapped,
        "info": {
            "schema_version": "1.3",
            "type": "ground_truth",
            "created_at": created_at,
            "run_id": None,
            "model": {"name": truth.model or "annotators", "version": truth.version, **notes},
            "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
        },
        "documents": [
            # The schema wants a path that is not empty; formats without one have the name.
            {"doc_id": document.doc_id, "doc_name": document.name, "doc_path": document.path or document.name}
            for document in truth.documents
        ],
        "predictions": [
            {"page_id": page_id, "doc_id": doc_id, "page_index": page, "objects": objects}
            for page_id, (doc_id, page), objects in zip(ids, pages, _objects(truth), strict=True)
        ],
    }


def _objects(truth: Annotations) -> list[list[dict[str, object]]]:
    boxes, corners = truth.boxes, _shares(truth).tolist()
    objects: list[list[dict[str, object]]] = [[] for _ in range(len(truth.page_index))]
    for row in np.lexsort((np.arange(len(boxes)), boxes.position)).tolist():
        objects[boxes.entry[row]].append(
            {"id": boxes.ids[row] or f"o{row}", "label": truth.labels[boxes.label[row]], "bbox": corners[row]}
        )
    return objects


def _shares(truth: Annotations) -> FloatArray:
    if truth.unit == "page":
        return truth.boxes.xyxy
    size = truth.box_page_size
    if size is None:
        rule = "schema 1.3 has boxes as shares of the page, which needs the size of every page"
        fix = "Give the page sizes in the ground truth file, or export from a file of another format."
        refuse(truth.name, "", rule, "boxes in pixels, pages without size", fix)
    return np.asarray(truth.boxes.xyxy / np.concatenate([size, size], axis=1))
