"""The columns of a COCO file of plain numbers, written by shards of pages: no file is too large for memory.

Owns the way from the rows of shards to a folder of columns, which is the one that the file as a whole gives.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluator.data.dataset import Annotations, Boxes, CodeArray, Side
from evaluator.formats import columns, limits
from evaluator.formats.coco.reader import FORMAT, Numbers
from evaluator.formats.coco.rules import Index, Labels
from evaluator.formats.coco.shape import NeedsFullValidation, corners
from evaluator.formats.coco.shard_rows import PackJob, place_of, rows_of, write_shards
from evaluator.formats.coco.stream import ImagesAndLabels, Instances
from evaluator.formats.column_checks import AnyColumn
from evaluator.system.engine import Shard, plan

_PAGES: Final = 4_000
# Of each a file is open.
_MOST_SHARDS: Final = 250
# Field and type of what `Boxes` has under another name or in another type.
_FIELDS: Final = {"label": ("label", np.int32), "position": ("row", np.int32), "row": ("row", np.int64)}


def frame_of(path: Path) -> bytes:
    """Return an instances file without its annotations; one of `NEED_FULL_VALIDATION` for any other."""
    with path.open("rb") as file:
        return Instances(file, sys.maxsize).frame


def write(folder: Path, key: str, path: Path, pages: Annotations) -> Annotations:
    """Write the columns of a file, and return it without boxes, but with their ids.

    `pages`: what the file says without boxes, whose side it has. One of `NEED_FULL_VALIDATION` for a file that is not
    plain, or of whose boxes something is to be said.
    """
    entries = columns.page_order(pages)
    shards = plan(np.arange(len(entries)), max(_PAGES, len(entries) // _MOST_SHARDS))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as waiting:
        place, side = Path(waiting), pages.side
        packed = write_shards(PackJob(path, side, _named(pages, entries), shards, place, most=sys.maxsize))
        if not packed.boxes.any() or packed.boxes.max() > limits.MAX_OBJECTS_PER_PAGE:
            raise NeedsFullValidation
        ids, crowds, ordered = np.empty(packed.boxes.sum(), dtype=np.int64), 0, True
        for shard in shards:
            rows = rows_of(place, side, shard)
            rows = rows.take(np.argsort(rows["page"], kind="stable"))
            rows.tofile(place_of(place, side, shard))
            first = packed.boxes[: shard.start].sum()
            ordered = ordered and np.array_equal(rows["row"], np.arange(first, first + len(rows)))
            ids[rows["row"]] = rows["id"]
            crowds += int(rows["crowd"].sum()) if side == "ground_truth" else 0
        if crowds == len(ids):
            raise NeedsFullValidation
        there: dict[str, Any] = {"area": np.empty(0)} if side == "ground_truth" else {}
        there |= {"crowd": np.empty(0, dtype=bool)} if crowds else {}
        none: Any = np.empty(0)
        boxes = Boxes(none, none, none, none, none, none, none, ids=Numbers(ids), box_area=none, **there)
        source = replace(pages, sha256=packed.sha256, boxes=boxes)
        parts = [partial(_column, place, side, shard, entries, ordered) for shard in shards]
        columns.write(folder, source, key, parts)
    return source


def _named(pages: Annotations, entries: CodeArray) -> ImagesAndLabels:
    """Return what boxes name, the images in the order of their pages."""
    try:
        ids = np.array(list(map(int, pages.page_ids)), dtype=np.int64)
        labels = np.array(list(map(int, pages.label_map)), dtype=np.int64)
    except (ValueError, OverflowError) as problem:
        raise NeedsFullValidation from problem
    unique = len(np.unique(ids)) == len(entries) and len(labels) == len(pages.labels) > 0
    if pages.format != FORMAT.name or pages.unit != "pixels" or not unique:
        raise NeedsFullValidation
    size = np.full((len(ids), 2), np.nan) if pages.page_size is None else pages.page_size
    return ImagesAndLabels(
        ids=ids[entries],
        size=size[entries],
        document=pages.page_document[entries],
        page=pages.page_index[entries],
        documents=(),
        labels=Labels(labels, pages.labels),
        lookup=Index(ids[entries]),
        label_index=Index(labels),
    )


def _column(  # noqa: PLR0917 - what is bound, then what is asked for
    folder: Path, side: Side, shard: Shard, entries: CodeArray, ordered: bool, name: str
) -> AnyColumn | None:
    rows = rows_of(folder, side, shard)
    xywh = np.ascontiguousarray(rows["xywh"])
    match name:
        case "row" if ordered:
            return None
        case "entry":
            return entries.take(rows["page"])
        case "xyxy":
            return corners(xywh)
        case "box_area":
            return np.asarray(xywh[:, 2] * xywh[:, 3])
        case "score" if side == "ground_truth":
            return np.full(len(rows), np.nan)
    field, dtype = _FIELDS.get(name, (name, None))
    values: AnyColumn = rows[field].astype(dtype or rows.dtype[field])
    return values
