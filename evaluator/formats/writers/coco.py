"""COCO: one image for each page, one annotation for each box, one category for each label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector
from evaluator.formats.coco.ids import by_number
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled, score_of

NAME: Final = "coco"
_RING = 6


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _image_ids(source: Annotations, pages: Sequence[OutputPage]) -> list[int]:
    """Return page ids from 1 in the order of the source's, which decides ties in AP; else by document and page."""
    if source.format == NAME and len(source.page_ids):
        at = zip(source.page_document.tolist(), source.page_index.tolist(), strict=True)
        # The first entry of a page states its id.
        rank: dict[tuple[int, int], Any] = dict(reversed(list(zip(at, by_number(source.page_ids), strict=True))))
        keys = [rank[page.document, page.number] for page in pages]
    else:
        keys = [(source.documents[page.document].doc_id, page.number) for page in pages]
    ids = [0] * len(pages)
    for number, place in enumerate(sorted(range(len(pages)), key=keys.__getitem__), 1):
        ids[place] = number
    return ids


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return one JSON file; document and page of an image are kept under ``doc`` and ``page_index``."""
    categories = {label: code + 1 for code, label in enumerate(source.labels)}
    boxes = source.boxes
    images: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    dropped = 0
    for number, page in zip(_image_ids(source, pages), pages, strict=True):
        assert page.size is not None
        images.append(
            {
                "id": number,
                "file_name": page.image,
                "width": _number(page.size[0]),
                "height": _number(page.size[1]),
                "doc": source.documents[page.document].doc_id,
                "page_index": page.number,
            }
        )
        for row, (x1, y1, x2, y2) in scaled(source, page, "pixels"):
            width, height = float(x2 - x1), float(y2 - y1)
            area = width * height
            if boxes.area is not None and source.unit == "pixels":
                area = float(boxes.area[row])
            item: dict[str, Any] = {
                "id": len(items) + 1,
                "image_id": number,
                "category_id": categories[source.labels[boxes.label[row]]],
                "bbox": [float(x1), float(y1), width, height],
                "area": area,
                "iscrowd": int(boxes.crowd is not None and bool(boxes.crowd[row])),
            }
            rings = [ring.ravel().tolist() for ring in rings_of(source, page, row, "pixels")]
            if rings:
                item["segmentation"] = [ring for ring in rings if len(ring) >= _RING]
                dropped += len(rings) - len(item["segmentation"])
            if (score := score_of(source, row)) is not None:
                item["score"] = score
            items.append(item)
    if dropped:
        collector.warning(
            "", "COCO outlines have at least three points", f"{dropped:,} with fewer", "They are left out."
        )
    value = {
        "images": images,
        "annotations": items,
        "categories": [{"id": key, "name": label} for label, key in categories.items()],
    }
    return {"coco.json": msgspec.json.format(msgspec.json.encode(value), indent=1)}


WRITER = Writer(NAME, "COCO instances (JSON)", "COCO", folder=False, unit="pixels", lacks=("model",), write=write)
