"""Label Studio: a task for each page, with rectangles and polygons in per cent."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, count_of
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled, score_of

_TITLE = "Label Studio"


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return one JSON file: annotations of a ground truth, predictions of a model with name and scores."""
    tasks: list[dict[str, object]] = []
    several = 0
    for number, page in enumerate(pages, 1):
        result = []
        for place, (row, corners) in enumerate(scaled(source, page, "page"), 1):
            x1, y1, x2, y2 = (100.0 * corners).tolist()
            label = source.labels[source.boxes.label[row]]
            rings = rings_of(source, page, row, "page")
            several += len(rings) > 1
            value: dict[str, object] = {"x": x1, "y": y1, "width": x2 - x1, "height": y2 - y1, "rotation": 0}
            kind = "rectanglelabels"
            if len(rings) == 1:
                kind, value = "polygonlabels", {"points": (100.0 * rings[0]).tolist(), "closed": True}
            region: dict[str, object] = {
                "id": f"r{number}_{place}",
                "type": kind,
                "from_name": "label",
                "to_name": "image",
                "image_rotation": 0,
                "value": {**value, kind: [label]},
            }
            if page.size is not None:
                region |= {"original_width": round(page.size[0]), "original_height": round(page.size[1])}
            if (score := score_of(source, row)) is not None:
                region["score"] = score
            result.append(region)
        # Readers take it as an address.
        data = {"image": page.image.replace("%", "%25")}
        task: dict[str, object] = {"id": number, "data": data, "annotations": [], "predictions": []}
        if source.side == "prediction":
            scores = source.boxes.score[page.rows]
            known = scores[~np.isnan(scores)]
            made: dict[str, object] = {"model_version": source.model or source.name, "result": result}
            if len(known):
                made["score"] = float(known.mean())
            task["predictions"] = [made]
        else:
            task["annotations"] = [{"id": number, "result": result}]
        tasks.append(task)
    if several:
        rule = f"a {_TITLE} polygon is one ring"
        collector.warning("", rule, f"{count_of(several, 'box')} with several", "Their boxes alone are written.")
    if any(page.size is None for page in pages):
        rule = f"{_TITLE} regions have the size of their image"
        collector.warning("", rule, "no page sizes", "original_width and original_height are left out.")
    return {"tasks.json": msgspec.json.format(msgspec.json.encode(tasks), indent=1)}


WRITER = Writer(
    "label-studio", "Label Studio (JSON)", _TITLE, folder=False, unit="page", lacks=("documents", "crowds"), write=write
)
