"""Document Snapshot Detection, schema 1.3: documents, pages and normalised boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import msgspec
import numpy as np

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, refuse
from evaluator.formats.writers.base import OutputPage, Writer, scaled, score_of

_TITLE = "schema 1.3"


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return one JSON file; boxes that the schema does not allow are left out, with a warning."""
    predicted = source.side == "prediction"
    if predicted:
        _need_scores(source)
    entries, outside = _pages(source, pages), count_left_out(source)
    if outside:
        rule = f"boxes must lie on their page and have a width and a height in {_TITLE}"
        collector.warning("", rule, f"{outside:,} do not", "They are left out.")
    model: dict[str, object] = {"name": source.model or (_stem(source.name) if predicted else "annotators")}
    if source.version:
        model["version"] = source.version
    value = {
        "label_map": {str(code): label for code, label in enumerate(source.labels, 1)},
        "info": {
            "schema_version": "1.3",
            "type": source.side,
            "run_id": None,
            "model": model,
            "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
        },
        "documents": [
            {"doc_id": each.doc_id, "doc_name": each.name or each.doc_id, "doc_path": each.path or each.name}
            for each in source.documents
        ],
        "predictions": entries,
    }
    return {"snapshot.json": msgspec.json.format(msgspec.json.encode(value), indent=1)}


def _stem(name: str) -> str:
    """Return the name of a file without its ending, which tells models apart where files name none."""
    return PurePath(name).stem or "unknown"


def _need_scores(source: Annotations) -> None:
    scores = source.boxes.score
    if np.isnan(scores).any():
        found = f"{int(np.isnan(scores).sum()):,} of {len(scores):,} without"
        fix = "Add the scores, or convert the file with --as ground_truth."
        refuse(source.name, "", f"every prediction must have a score in {_TITLE}", found, fix)
    if ((scores < 0.0) | (scores > 1.0)).any():
        found = f"{int(((scores < 0.0) | (scores > 1.0)).sum()):,} outside"
        refuse(source.name, "", f"scores must be in [0, 1] in {_TITLE}", found, "Scale them.")


def count_left_out(source: Annotations) -> int:
    """Return how many boxes the schema does not allow: beyond their page, or without a width or a height."""
    share = source.boxes.xyxy
    if source.unit == "pixels":
        size = source.box_page_size
        assert size is not None
        share = share * (1.0 / np.tile(size, 2))
    return len(share) - sum(map(_is_allowed, share.tolist()))


def _is_allowed(corners: Sequence[float]) -> bool:
    x1, y1, x2, y2 = corners
    return 0.0 <= x1 < x2 <= 1.0 and 0.0 <= y1 < y2 <= 1.0


def _pages(source: Annotations, pages: Sequence[OutputPage]) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = []
    for page in pages:
        of = source.documents[page.document]
        objects: list[dict[str, object]] = []
        for number, (row, corners) in enumerate(scaled(source, page, "page"), 1):
            x1, y1, x2, y2 = corners.tolist()
            if not _is_allowed((x1, y1, x2, y2)):
                continue
            label = source.labels[source.boxes.label[row]]
            item: dict[str, object] = {"id": f"o{number}", "label": label, "bbox": [x1, y1, x2, y2]}
            if source.side == "prediction":
                item["score"] = score_of(source, row)
            objects.append(item)
        page_id = f"{of.doc_id}::p{page.number:03d}"
        entries.append({"page_id": page_id, "doc_id": of.doc_id, "page_index": page.number, "objects": objects})
    return entries


WRITER = Writer(
    "snapshot",
    "Document Snapshot Detection, schema 1.3 (JSON)",
    _TITLE,
    folder=False,
    unit="page",
    lacks=("outlines", "crowds"),
    write=write,
    count_left_out=count_left_out,
)
