"""What the viewer draws of the items of a page, in whatever they are compared: boxes by row of their side.

Boxes are named by side and row (``g12``), as those of Pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.components.payload import BoxStatus, LimitItem, Rect
from evaluator.components.viewer.payload import BoxItem, CountsItem, MistakeItem, PageLayers
from evaluator.data.dataset import Dataset, Side
from evaluator.data.issues import count_of, cut, displayed
from evaluator.matching.item_pairs import text_of
from evaluator.matching.page_rows import page_shares
from evaluator.protocols.items import Page

DRAWN_BOXES: Final = 2_000
"""Boxes of a page that are drawn at most; the page says how many were left out."""
STATUSES: Final = ("TP", "FP", "FN")
Numbered = tuple[list[BoxItem], LimitItem | None]
"""Boxes with the numbers of their mistakes, and how many of how many they are; None for all."""
Counts = tuple[int, int, int]
"""What is right, wrong or extra, and missing."""
_EXCERPT: Final = 60


class PageItems:
    """The items of a page of a dataset with one prediction, and where they lie."""

    def __init__(self, dataset: Dataset, page: Page) -> None:
        self.dataset, self.page = dataset, page
        self.sides = {"ground_truth": dataset.ground_truth, "prediction": dataset.predictions[0]}
        self.rows: dict[Side, list[int]] = {"ground_truth": page.truth, "prediction": page.predicted}
        self.partner = {"ground_truth": page.pairs, "prediction": {other: one for one, other in page.pairs.items()}}
        self._places = {
            side: dict(
                zip(rows, page_shares(dataset, self.sides[side], np.array(rows, np.int64)).tolist(), strict=True)
            )
            for side, rows in self.rows.items()
        }
        self._row_at = {
            side: dict(zip(self.sides[side].source.boxes.position[rows].tolist(), rows, strict=True))
            for side, rows in self.rows.items()
        }

    def at(self, side: Side, positions: Iterable[int | None]) -> list[int]:
        """Return the rows of items by their positions in the file."""
        return [self._row_at[side][each] for each in positions if each is not None]

    def place(self, side: Side, row: int) -> Rect | None:
        """Return the corners of an item as shares of the page; None without a box, or a size of the page."""
        x1, y1, x2, y2 = self._places[side][row]
        return None if np.isnan([x1, y1, x2, y2]).any() else (x1, y1, x2, y2)

    def label(self, side: Side, row: int) -> str:
        """Return the label of an item."""
        return displayed(self.dataset.labels[self.sides[side].label[row]])

    def excerpt(self, side: Side, row: int) -> str:
        """Return the beginning of what an item says, in quotes, its label where it says nothing."""
        text = text_of(self.sides[side], row)
        if not text:
            return self.label(side, row)
        return f"“{displayed(text[:_EXCERPT])}{'…' if len(text) > _EXCERPT else ''}”"

    def box(self, side: Side, row: int, status: BoxStatus, name: str, **more: Any) -> BoxItem | None:  # noqa: ANN401
        """Return the box of an item, without a chip unless `more` has one; None where it has no box."""
        place, boxes = self.place(side, row), self.sides[side]
        if place is None:
            return None
        partner, score = self.partner[side].get(row), float(boxes.score[row])
        other: Side = "prediction" if side == "ground_truth" else "ground_truth"
        file, _, position = boxes.source.source_of(row)
        return BoxItem(
            key=key_of(side, row),
            side=side,
            status=status,
            label=self.label(side, row),
            xyxy=place,
            name=name,
            score=None if np.isnan(score) else score,
            partner=None if partner is None else key_of(other, partner),
            source=f"{file}, item {position + 1} of the page",
            **{"cause": "", **more},
        )

    def layers(self, kept: Kept, drawn: Numbered, counts: Counts, **own: Any) -> PageLayers:  # noqa: ANN401
        """Return what is drawn of the page; `own` is what only this comparison has."""
        boxes, limit = drawn
        return PageLayers(
            boxes=boxes,
            mistakes=kept.mistakes,
            hidden_mistakes=len(kept.hidden),
            counts=CountsItem(*counts, ground_truth=len(self.page.truth), predictions=len(self.page.predicted)),
            labels=(),
            limit=limit,
            statuses=STATUSES,
            **{"notes": self.notes(), **own},
        )

    def notes(self) -> list[str]:
        """Return a sentence about items that cannot be drawn."""
        absent = sum(self.place(side, row) is None for side, rows in self.rows.items() for row in rows)
        every = sum(map(len, self.rows.values()))
        words = f"Without a box, and so in the list alone: {absent:,} of {count_of(every, 'item')} of this page."
        return [words] if absent else []


def key_of(side: Side, row: int) -> str:
    """Return the name of the box of an item.

    >>> key_of("ground_truth", 12)
    'g12'
    """
    return f"{side[0]}{row}"


class Kept(NamedTuple):
    """Mistakes that pass a filter, numbered from 1, and the others."""

    mistakes: list[MistakeItem]
    hidden: list[MistakeItem]

    @property
    def keys(self) -> frozenset[str]:
        """Return the boxes of all mistakes."""
        return frozenset(key for each in (*self.mistakes, *self.hidden) for key in each.keys)

    def numbered(self, boxes: Iterable[BoxItem | None]) -> Numbered:
        """Return boxes with the numbers of their mistakes, the dearest of several; those of the others are pale."""
        every = [box for box in boxes if box is not None]
        number_of = {key: each.number for each in reversed(self.mistakes) for key in each.keys}
        hidden = {key for each in self.hidden for key in each.keys} - number_of.keys()
        drawn = [
            msgspec.structs.replace(box, mistake=number_of.get(box.key), faded=box.key in hidden)
            for box in every[:DRAWN_BOXES]
        ]
        return drawn, None if len(drawn) == len(every) else LimitItem(drawn=len(drawn), total=len(every))


def kept_mistakes(mistakes: Sequence[MistakeItem], names: Collection[str]) -> Kept:
    """Return the mistakes of some names, all for none."""
    kept = [each for each in mistakes if not names or each.name in names]
    hidden = [each for each in mistakes if names and each.name not in names]
    return Kept([msgspec.structs.replace(each, number=number) for number, each in enumerate(kept, start=1)], hidden)


def counts_of(boxes: Iterable[BoxItem]) -> Counts:
    """Return how many boxes have each of `STATUSES`."""
    of = Counter(box.status for box in boxes)
    right, wrong, missing = (of[status] for status in STATUSES)
    return right, wrong, missing


def labels_of(names: Iterable[str]) -> str:
    """Return different labels in one line."""
    return cut(", ".join(dict.fromkeys(names)))
