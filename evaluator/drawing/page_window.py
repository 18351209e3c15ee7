"""The pages around the shown one, so that the browser turns pages by itself: packed, and named by their content.

What a page shows under one operating point and filter is its content; its picture, verdicts, the chosen box and the
strip change without it and travel apart. A content is sent once: the browser states which names it has. Coordinates are
shares of the page, kept to six decimals: a hundredth of a pixel on the largest picture.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from evaluator.drawing.pair import PairLayers
from evaluator.drawing.payloads import (
    BoxItem,
    BoxRow,
    ListedPageItem,
    MistakeItem,
    PackedItem,
    PackedPairItem,
    PackedPaneItem,
    PageItem,
    PagePayload,
    PaneItem,
    Payload,
    SaidItem,
    StripItem,
)

_DECIMALS: Final = 6


def name_of(item: Payload | Sequence[Payload]) -> str:
    """The name of a content: 16 hexadecimal digits that follow from everything in it."""
    return hashlib.blake2b(msgspec.json.encode(item), digest_size=8).hexdigest()


def packed(payload: PagePayload) -> PackedItem:
    """The content of a page: without picture, strip, chosen box, address, and the verdicts on its mistakes."""
    page = None if payload.page is None else msgspec.structs.replace(payload.page, image=None, image_width=0)
    bare = msgspec.structs.replace(
        payload,
        page=page,
        boxes=(),
        strip=(),
        strip_first=0,
        selected=None,
        address="",
        visit="",
        mistakes=_unjudged(payload.mistakes),
    )
    rows = _rows(payload.boxes)
    return PackedItem(payload=bare, **rows._asdict(), outlines=_outlines(payload.boxes))


def packed_pair(page: PageItem, drawn: PairLayers) -> PackedPairItem:
    """The content of a page of two models: without picture, and the verdicts on its mistakes."""
    bare = msgspec.structs.replace(page, image=None, image_width=0)
    return PackedPairItem(page=bare, panes=[*map(_packed_pane, drawn.panes)], differences=drawn.differences)


def _packed_pane(pane: PaneItem) -> PackedPaneItem:
    """The page of one model."""
    rows = _rows(pane.boxes)
    pairs = [(row, box.kind, box.full, box.chip, box.mate) for row, box in zip(rows.boxes, pane.boxes, strict=True)]
    bare = msgspec.structs.replace(pane, boxes=(), mistakes=_unjudged(pane.mistakes))
    return PackedPaneItem(bare, pairs, rows.labels, rows.sources, _outlines(pane.boxes))


def said(payload: PagePayload) -> Mapping[str, SaidItem]:
    """The verdicts on the mistakes of a page, by number; mistakes without a verdict are left out."""
    return _said(payload.mistakes)


def said_of_pair(panes: Sequence[PaneItem]) -> Mapping[str, SaidItem]:
    """The verdicts on the mistakes of two models, by letter and number; mistakes without a verdict are left out."""
    return {f"{pane.letter}{number}": each for pane in panes for number, each in _said(pane.mistakes).items()}


ListedT = TypeVar("ListedT", StripItem, ListedPageItem)


def without_current(strip: Sequence[ListedT]) -> list[ListedT]:
    """A strip that is the same for all pages in it: which page is the current one is known by its place."""
    return [msgspec.structs.replace(each, current=False) for each in strip]


class _Rows(NamedTuple):
    """Boxes as rows, and what many of them repeat."""

    boxes: list[BoxRow]
    labels: list[str]
    sources: tuple[str, str]


def _rows(boxes: Sequence[BoxItem]) -> _Rows:
    """The boxes of a page as rows."""
    labels = list(dict.fromkeys(box.label for box in boxes))
    places = {label: place for place, label in enumerate(labels)}
    truth, prediction = (_beginning(boxes, side) for side in ("ground_truth", "prediction"))
    rows = [_row(box, places[box.label], truth if box.side == "ground_truth" else prediction) for box in boxes]
    return _Rows(rows, labels, (truth, prediction))


def _outlines(boxes: Sequence[BoxItem]) -> dict[str, str]:
    """The outlines of the boxes that have one, by key."""
    return {box.key: box.outline for box in boxes if box.outline is not None}


def _unjudged(mistakes: Sequence[MistakeItem]) -> list[MistakeItem]:
    """Mistakes without what was said about them."""
    return [msgspec.structs.replace(each, verdict=None, unsaved=None, answered="") for each in mistakes]


def _said(mistakes: Sequence[MistakeItem]) -> dict[str, SaidItem]:
    """What was said about mistakes, by number."""
    return {
        str(each.number): SaidItem(each.verdict, each.unsaved, each.answered)
        for each in mistakes
        if each.verdict is not None or each.unsaved is not None or each.answered
    }


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
