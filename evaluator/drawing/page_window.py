"""The pages around the shown one, so that the browser turns pages by itself: packed, and named by their content.

What a page shows under one operating point and filter is its content; its picture, verdicts, the chosen box and the
strip change without it and travel apart. A content is sent once: the browser states which names it has. Coordinates are
shares of the page, kept to six decimals: a hundredth of a pixel on the largest picture.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, cast

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
    PairBoxItem,
    PairRow,
    PaneItem,
    Payload,
    SaidItem,
    StripItem,
)

_DECIMALS: Final = 6


def name_of(item: Payload | Sequence[Payload]) -> str:
    """The name of a content: 16 hexadecimal digits that follow from everything in it."""
    return hashlib.blake2b(msgspec.json.encode(item), digest_size=8).hexdigest()


class PackedBoxes(NamedTuple):
    """Boxes as rows, and what many of them repeat."""

    boxes: Sequence[BoxRow] | Sequence[PairRow]
    labels: list[str]
    sources: tuple[str, str]
    outlines: Mapping[str, str]


def packed_boxes(boxes: Sequence[BoxItem]) -> PackedBoxes:
    """The boxes of a page as rows: they stay while the verdicts on the page change."""
    labels = list(dict.fromkeys(box.label for box in boxes))
    places = {label: place for place, label in enumerate(labels)}
    truth, prediction = (_beginning(boxes, side) for side in ("ground_truth", "prediction"))
    rows = [_row(box, places[box.label], truth if box.side == "ground_truth" else prediction) for box in boxes]
    outlines = {box.key: box.outline for box in boxes if box.outline is not None}
    return PackedBoxes(rows, labels, (truth, prediction), outlines)


def packed_pair_boxes(boxes: Sequence[PairBoxItem]) -> PackedBoxes:
    """The boxes of one of two models as rows."""
    rows = packed_boxes(boxes)
    pairs = [
        (row, box.kind, box.full, box.chip, box.mate)
        for row, box in zip(cast("Sequence[BoxRow]", rows.boxes), boxes, strict=True)
    ]
    return rows._replace(boxes=pairs)


def packed(payload: PagePayload, boxes: PackedBoxes) -> PackedItem:
    """The content of a page: without picture, strip, chosen box, address, and the verdicts on its mistakes.

    Parameters
    ----------
    boxes : PackedBoxes
        Those of `payload`.
    """
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
    return PackedItem(payload=bare, **boxes._asdict())


def packed_pair(page: PageItem, drawn: PairLayers, boxes: Sequence[PackedBoxes]) -> PackedPairItem:
    """The content of a page of two models: without picture, and the verdicts on its mistakes.

    Parameters
    ----------
    boxes : sequence of PackedBoxes
        Those of each pane.
    """
    bare = msgspec.structs.replace(page, image=None, image_width=0)
    panes = [
        PackedPaneItem(
            pane=msgspec.structs.replace(pane, boxes=(), mistakes=_unjudged(pane.mistakes)), **rows._asdict()
        )
        for pane, rows in zip(drawn.panes, boxes, strict=True)
    ]
    return PackedPairItem(page=bare, panes=panes, differences=drawn.differences)


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
