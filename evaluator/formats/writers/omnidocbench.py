"""OmniDocBench: pages with regions for a ground truth, results by image for predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, count_of
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled, score_of

_TITLE = "OmniDocBench"
_CORNERS = 4


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return one JSON file, of the form that the side has."""
    predicted = source.side == "prediction"
    truths: list[dict[str, object]] = []
    results: list[dict[str, object]] = []
    lost = 0
    for page in pages:
        assert page.size is not None
        regions = []
        for place, (row, corners) in enumerate(scaled(source, page, "pixels")):
            x1, y1, x2, y2 = corners.tolist()
            rings = rings_of(source, page, row, "pixels")
            whole = len(rings) == 1 and len(rings[0]) == _CORNERS
            lost += bool(rings) and (predicted or not whole)
            label = source.labels[source.boxes.label[row]]
            if predicted:
                result: dict[str, object] = {
                    "image_name": PurePosixPath(page.image).stem,
                    "bbox": [x1, y1, x2, y2],
                    "category_id": int(source.boxes.label[row]),
                }
                if (score := score_of(source, row)) is not None:
                    result["score"] = score
                results.append(result)
                continue
            poly = rings[0].ravel().tolist() if whole else [x1, y1, x2, y1, x2, y2, x1, y2]
            region = {"category_type": label, "poly": poly, "ignore": False, "order": place + 1, "anno_id": place}
            regions.append(region)
        width, height = (int(side) if side == int(side) else side for side in page.size)
        info = {"page_no": page.number, "height": height, "width": width, "image_path": page.image}
        truths.append({"layout_dets": regions, "page_info": info, "extra": {"relation": []}})
    if lost:
        rule = f"an {_TITLE} outline has four points, and results have none"
        collector.warning("", rule, f"{count_of(lost, 'box')} with another one", "Their boxes alone are written.")
    empty = sum(not page.rows for page in pages)
    if predicted and empty:
        rule = f"{_TITLE} results list boxes, no pages"
        collector.warning("", rule, f"{count_of(empty, 'page')} without boxes", "They are left out.")
    value: object = truths
    if predicted:
        value = {"results": results, "categories": {str(code): label for code, label in enumerate(source.labels)}}
    return {"omnidocbench.json": msgspec.json.format(msgspec.json.encode(value), indent=1)}


WRITER = Writer(
    "omnidocbench",
    "OmniDocBench (JSON)",
    _TITLE,
    folder=False,
    unit="pixels",
    lacks=("documents", "crowds", "model"),
    write=write,
)
