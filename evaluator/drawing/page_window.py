"""The pages around the shown one, so that the browser turns pages by itself: packed, and named by their content.

What a page shows under one operating point and filter is its content; its picture, verdicts, the chosen box and the
strip change without it and travel apart. A content is sent once: the browser states which names it has. Coordinates are
shares of the page, kept to six decimals: a hundredth of a pixel on the largest picture.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from evaluator.drawing.payloads import BoxItem, BoxRow, PackedItem, PagePayload, Payload, SaidItem, StripItem

_DECIMALS: Final = 6


def name_of(item: Payload | Sequence[Payload]) -> str:
    """The name of a content: 16 hexadecimal digits that follow from everything in it."""
    return hashlib.blake2b(msgspec.json.encode(item), digest_size=8).hexdigest()


def packed(payload: PagePayload) -> PackedItem:
    """The content of a page: without picture, strip, chosen box, address, and the verdicts on its mistakes."""
    labels = list(dict.fromkeys(box.label for box in payload.boxes))
    places = {label: place for place, label in enumerate(labels)}
    truth, prediction = (_beginning(payload.boxes, side) for side in ("ground_truth", "prediction"))
    mistakes = [msgspec.structs.replace(each, verdict=None, unsaved=None, answered="") for each in payload.mistakes]
    page = None if payload.page is None else msgspec.structs.replace(payload.page, image=None, image_width=0)
    bare = msgspec.structs.replace(
        payload, page=page, boxes=(), strip=(), strip_first=0, selected=None, address="", mistakes=mistakes
    )
    rows = [_row(box, places[box.label], truth if box.side == "ground_truth" else prediction) for box in payload.boxes]
    outlines = {box.key: box.outline for box in payload.boxes if box.outline is not None}
    return PackedItem(payload=bare, boxes=rows, labels=labels, sources=(truth, prediction), outlines=outlines)


def said(payload: PagePayload) -> Mapping[str, SaidItem]:
    """The verdicts on the mistakes of a page, by number; mistakes without a verdict are left out."""
    return {
        str(each.number): SaidItem(each.verdict, each.unsaved, each.answered)
        for each in payload.mistakes
        if each.verdict is not None or each.unsaved is not None or each.answered
    }


def without_current(strip: Sequence[StripItem]) -> list[StripItem]:
    """A strip that is the same for all pages in it: which page is the current one is known by its place."""
    return [msgspec.structs.replace(each, current=False) for each in strip]


def _beginning(boxes: Sequence[BoxItem], side: str) -> str:
    """What the sources of all boxes of a side begin with."""
    sources = [box.source for box in boxes if box.side == side and box.source is not None]
    return os.path.commonprefix(sources)  # noqa: RUF071 - of texts, not of paths


def _row(box: BoxItem, label: int, beginning: str) -> BoxRow:
    """A box as a row."""
    x1, y1, x2, y2 = (round(each, _DECIMALS) for each in box.xyxy)
    ratios = (box.score, box.iou, box.coverage, box.purity, box.nearest.iou if box.nearest else None)
    score, iou, coverage, purity, near = (None if each is None else round(each, _DECIMALS) for each in ratios)
    return (
        box.key,
        box.side,
        box.status,
        label,
        x1,
        y1,
        x2,
        y2,
        score,
        iou,
        coverage,
        purity,
        box.partner,
        box.nearest.key if box.nearest else None,
        near,
        box.mistake,
        box.faded,
        box.cause,
        None if box.source is None else box.source[len(beginning) :],
    )
