"""The corrected ground truth as a file of schema 1.3, which every reader of the format accepts.

Owns the writing: boxes as shares of the page, ids of the source kept, and a file that appears whole or not at all. The
original is never written to. Ignored boxes stay in: to ignore a mistake says nothing about the ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from evaluator.formats import snapshot
from evaluator.formats.base import Reading
from evaluator.model.boxes import FloatArray
from evaluator.model.dataset import Annotations
from evaluator.model.issues import BadInput, Issue
from evaluator.review.corrections import Corrections
from evaluator.review.verdicts import time_text
from evaluator.system.whole_file import write_whole


def snapshot_file(to: Corrections, *, created_at: datetime) -> bytes:
    """The corrected ground truth in schema 1.3.

    Parameters
    ----------
    created_at : datetime
        With a time zone.

    Returns
    -------
    bytes
        JSON in UTF-8, indented, with a closing newline. ``info.model.corrected_from`` names the file that was
        corrected, its digest and the number of verdicts.

    Raises
    ------
    BadInput
        When the boxes are in pixels and a page has no size, or the ground truth breaks a rule of schema 1.3 that its
        own format does not have (a box beyond the page, for instance); with all findings.
    """
    truth = to.dataset.ground_truth.source
    content = msgspec.json.format(msgspec.json.encode(_value(to, truth, created_at)), indent=2) + b"\n"
    # Not written unless our own reader takes it: its findings say what is wrong.
    snapshot.FORMAT.read(content, truth.name, Reading(side="ground_truth"))
    return content


def write(path: Path, content: bytes, *, sources: Sequence[Path] = ()) -> None:
    """Put a file in its place at once: a crash leaves the old one or the new one.

    Parameters
    ----------
    sources : sequence of Path
        Files that must not be replaced.

    Raises
    ------
    BadInput
        When the place is one of the sources.
    OSError
        When it cannot be written; what was there before is untouched.
    """
    if any(source.exists() and path.exists() and source.samefile(path) for source in sources):
        fix = "Choose another name."
        raise BadInput([_finding(path.name, "a source file is never written to", "the file that was corrected", fix)])
    write_whole(path, [content])


def _value(to: Corrections, truth: Annotations, created_at: datetime) -> dict[str, Any]:
    """The file as plain values."""
    official = to.official.ground_truth.source
    origin = {"name": official.name, "sha256": official.sha256, "verdicts": len(to.of_boxes)}
    pages = _objects(truth)
    ids = truth.page_ids or [
        f"{truth.documents[code].doc_id}::p{page:03d}"
        for code, page in zip(truth.page_document.tolist(), truth.page_index.tolist(), strict=True)
    ]
    mapped = {str(place): label for place, label in enumerate(truth.labels[: truth.evaluated], 1)}
    return {
        "label_map": dict(truth.label_map) if _plain_map(truth) else mapped,
        "info": {
            "schema_version": "1.3",
            "type": "ground_truth",
            "created_at": time_text(created_at),
            "run_id": None,
            # The one part of info in which schema 1.3 allows keys of our own.
            "model": {"name": truth.model or "annotators", "version": truth.version, "corrected_from": origin},
            "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
        },
        "documents": [
            # The schema wants a path that is not empty; formats without one have the name.
            {"doc_id": document.doc_id, "doc_name": document.name, "doc_path": document.path or document.name}
            for document in truth.documents
        ],
        "predictions": [
            {
                "page_id": ids[entry],
                "doc_id": truth.documents[code].doc_id,
                "page_index": page,
                "objects": pages[entry],
            }
            for entry, (code, page) in enumerate(
                zip(truth.page_document.tolist(), truth.page_index.tolist(), strict=True)
            )
        ],
    }


def _plain_map(truth: Annotations) -> bool:
    """Whether a label map is one of schema 1.3: numbers to exactly the labels that are scored."""
    return bool(truth.label_map) and sorted(truth.label_map.values()) == sorted(truth.labels[: truth.evaluated])


def _objects(truth: Annotations) -> list[list[dict[str, Any]]]:
    """The objects of each page entry, in the order of their positions."""
    boxes, corners = truth.boxes, _shares(truth).tolist()
    objects: list[list[dict[str, Any]]] = [[] for _ in range(len(truth.page_index))]
    for row in np.lexsort((np.arange(len(boxes)), boxes.position)).tolist():
        objects[boxes.entry[row]].append(
            {"id": boxes.ids[row] or f"o{row}", "label": truth.labels[boxes.label[row]], "bbox": corners[row]}
        )
    return objects


def _shares(truth: Annotations) -> FloatArray:
    """Corners as shares of the page."""
    if truth.unit == "page":
        return truth.boxes.xyxy
    unknown = truth.page_size is None or np.isnan(truth.page_size[truth.boxes.entry]).any()
    if truth.page_size is None or unknown:
        rule = "schema 1.3 has boxes as shares of the page, which needs the size of every page"
        fix = "Give the page sizes in the ground truth file, or export from a file of another format."
        raise BadInput([_finding(truth.name, rule, "boxes in pixels, pages without size", fix)])
    size = truth.page_size[truth.boxes.entry]
    return np.asarray(truth.boxes.xyxy / np.concatenate([size, size], axis=1))


def _finding(name: str, rule: str, found: str, fix: str) -> Issue:
    return Issue(severity="error", file=name, place="", rule=rule, found=found, fix=fix)
