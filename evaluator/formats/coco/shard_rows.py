"""The boxes of COCO files in a folder, as rows by shard: a large file is never in memory as a whole.

Owns the way from a file to the files of its shards and back to columns. A shard is a run of images by their ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, Boxes, Document, Side
from evaluator.formats.coco.reader import FORMAT, Numbers
from evaluator.formats.coco.shape import NeedsFullValidation, corners
from evaluator.formats.coco.stream import (
    MOST_THREADS,
    NEED_FULL_VALIDATION,
    PREDICTION,
    TRUTH,
    ImagesAndLabels,
    Instances,
    Results,
    Rows,
)
from evaluator.system.engine import Shard


class PackJob(NamedTuple):
    """What is to be packed; `folder` gets a file per shard, `threads` read pieces of `path` at a time.

    `most`: bytes that the file may have, None for the limit of files that are read at once.
    """

    path: Path
    side: Side
    named: ImagesAndLabels
    shards: Sequence[Shard]
    folder: Path
    threads: int = MOST_THREADS
    most: int | None = None


class PackResult(NamedTuple):
    """What was packed: the digest of the file, and how many boxes each page has, int64."""

    sha256: str
    boxes: IntArray


def write_shards(given: PackJob) -> PackResult:
    """Write the boxes of a file into those of its shards; raise `NeedsFullValidation` where it is not plain."""
    try:
        with given.path.open("rb") as file:
            source = (Instances if given.side == "ground_truth" else Results)(file, given.most)
            boxes = _written(source.rows(given.named, given.threads), given)
        return PackResult(source.sha256, boxes)
    except NEED_FULL_VALIDATION as problem:
        # Others cannot all be handed from one process to another.
        raise NeedsFullValidation from problem


def _written(parts: Iterable[Rows], given: PackJob) -> IntArray:
    """Return how many boxes each page has, once all rows are written; those of a shard keep the order of the file."""
    boxes = np.zeros(len(given.named.ids), dtype=np.int64)
    stops = [shard.stop for shard in given.shards]
    with ExitStack() as stack:
        paths = (place_of(given.folder, given.side, shard) for shard in given.shards)
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for rows in parts:
            page = rows["page"]
            first = int(page.min())
            there = np.bincount(page - first)
            boxes[first : first + len(there)] += there
            number = np.searchsorted(stops, page, side="right")
            order = np.argsort(number, kind="stable")
            begins = np.flatnonzero(np.diff(number[order], prepend=-1))
            for own in np.split(order, begins[1:]):
                files[number[own[0]]].write(rows.take(own).view(np.uint8).data)
    return boxes


def read_shard(folder: Path, side: Side, shard: Shard, labels: tuple[str, ...]) -> Annotations:
    """Return the boxes of a shard as one document, whose pages are in the order of the image ids."""
    is_truth, rows = side == "ground_truth", rows_of(folder, side, shard)
    xywh = np.ascontiguousarray(rows["xywh"])
    boxes = Boxes(
        document=np.zeros(len(rows), dtype=np.int32),
        page=np.empty(0, dtype=np.int64),
        label=rows["label"].astype(np.int32),
        xyxy=corners(xywh),
        score=np.broadcast_to(np.nan, len(rows)) if is_truth else rows["score"].astype(np.float64),
        entry=rows["page"] - np.int32(shard.start),
        position=np.arange(len(rows), dtype=np.int32),
        ids=(),
        area=rows["area"].astype(np.float64) if is_truth else None,
        crowd=rows["crowd"].copy() if is_truth else None,
        box_area=xywh[:, 2] * xywh[:, 3],
    )
    return as_document(boxes, side, shard.stop - shard.start, labels)


def as_document(boxes: Boxes, side: Side, pages: int, labels: tuple[str, ...]) -> Annotations:
    """Return boxes on so many pages, by `entry`, as one document."""
    place = np.arange(len(boxes), dtype=np.int32)
    return Annotations(
        name=side,
        sha256="",
        format=FORMAT.name,
        side=side,
        model=None,
        version=None,
        labels=labels,
        evaluated=len(labels),
        documents=(Document("", ""),),
        page_document=np.zeros(pages, dtype=np.int32),
        page_index=np.arange(pages),
        boxes=replace(
            boxes,
            document=np.zeros(len(boxes), dtype=np.int32),
            page=boxes.entry.astype(np.int64),
            position=place,
            ids=Numbers(place.astype(np.int64)),
            crowd=boxes.crowd if boxes.crowd is not None and boxes.crowd.any() else None,
        ),
        unit="pixels",
    )


def rows_of(folder: Path, side: Side, shard: Shard) -> Rows:
    """Return the rows of a shard, as they were written."""
    return np.fromfile(place_of(folder, side, shard), dtype=TRUTH if side == "ground_truth" else PREDICTION)


def place_of(folder: Path, side: Side, shard: Shard) -> Path:
    """Return the file of the rows of a shard."""
    return folder / f"{side}-{shard.start}.rows"
