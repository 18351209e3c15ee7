"""OmniDocBench: pages with regions for a ground truth, results by image for predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec

from evaluator.data.cells import MOST_SLOTS, html_of
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
    lost = large = 0
    tables = source.boxes.cells
    for page in pages:
        assert page.size is not None
        regions = []
        ranks = _ranks(source, page)
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
            regions.append({**region, **_held(source, row, ranks.get(row), label)})
            large += tables is not None and tables[row] is not None and "html" not in regions[-1]
        width, height = (int(side) if side == int(side) else side for side in page.size)
        info = {"page_no": page.number, "height": height, "width": width, "image_path": page.image}
        truths.append({"layout_dets": regions, "page_info": info, "extra": {"relation": []}})
    if lost:
        rule = f"an {_TITLE} outline has four points, and results have none"
        collector.warning("", rule, f"{count_of(lost, 'box')} with another one", "Their boxes alone are written.")
    if large:
        rule = f"a table that becomes HTML may have {MOST_SLOTS:,} rows times columns, and its cells as many slots"
        collector.warning("", rule, f"{count_of(large, 'table')} with more", "Their cells are left out.")
    grouped = 0 if predicted else sum(len(place) > 1 for place in source.boxes.order or () if place)
    if grouped:
        rule = f"{_TITLE} numbers what is read, and has no groups"
        collector.warning(
            "", rule, f"{count_of(grouped, 'item')} in one", "They are numbered in the order of the file."
        )
    columns = [column for column in (source.boxes.order, source.boxes.text, tables) if column is not None]
    held = sum(any(held is not None for held in row) for row in zip(*columns, strict=True))
    if predicted and held:
        rule, fix = (
            f"{_TITLE} results have no order, text and tables",
            "write them with --to items, or as a ground truth.",
        )
        collector.warning("", rule, f"{count_of(held, 'item')} with some", f"They are left out; {fix}")
    empty = sum(not page.rows for page in pages)
    if predicted and empty:
        rule = f"{_TITLE} results list boxes, no pages"
        collector.warning("", rule, f"{count_of(empty, 'page')} without boxes", "They are left out.")
    value: object = truths
    if predicted:
        value = {"results": results, "categories": {str(code): label for code, label in enumerate(source.labels)}}
    return {"omnidocbench.json": msgspec.json.format(msgspec.json.encode(value), indent=1)}


def _ranks(source: Annotations, page: OutputPage) -> dict[int, int]:
    """Return where the items of a page are read, from 1, those of one place alike."""
    order = source.boxes.order or ()
    placed = {row: place for row in page.rows if order and (place := order[row]) is not None}
    ranks = {place: rank for rank, place in enumerate(sorted({*placed.values()}), 1)}
    return {row: ranks[place] for row, place in placed.items()}


def _held(source: Annotations, row: int, rank: int | None, label: str) -> dict[str, object]:
    """Return what an item has of order, text and table; the text of an equation is LaTeX."""
    boxes = source.boxes
    held: dict[str, object] = {} if boxes.order is None else {"order": rank}
    if boxes.text is not None and (text := boxes.text[row]) is not None:
        held["latex" if "equation" in label else "text"] = text
    if boxes.cells is not None and (table := boxes.cells[row]) is not None:
        html = html_of(table)
        # Markup that nobody can read is written as it is.
        if (written := table if html is None and isinstance(table, str) else html) is not None:
            held["html"] = written
    return held


WRITER = Writer(
    "omnidocbench",
    "OmniDocBench (JSON)",
    _TITLE,
    folder=False,
    unit="pixels",
    lacks=("boxless", "documents", "crowds", "model"),
    write=write,
    items=True,
)
