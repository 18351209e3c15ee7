"""Verdicts on wrong pixels: a verdict on a piece of wrong pixels is one on the boxes that make it.

Where the boxes of a piece are a mistake at the operating point of the boxes, the piece is that mistake. Where they
match, as along the edge of a box that is a little too large, the two boxes are judged together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray, intersection
from evaluator.data.dataset import JoinedBoxes, Side, box_key
from evaluator.data.issues import displayed
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.error_types import ERROR_TYPES
from evaluator.matching.page_rows import rows_on
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME
from evaluator.protocols.pixel.regions import WrongComponent
from evaluator.review.identity import (
    WRONG_PIXELS,
    finding_id,
    match_page_reviews,
    mistake_target,
    mistake_targets,
)
from evaluator.review.verdicts import ReviewedTarget, ReviewLog, Target


class JudgedPiece(NamedTuple):
    """What a verdict on a piece is about, the verdicts on it, and the boxes in words."""

    target: Target
    judged: ReviewedTarget | None
    words: str

    @property
    def id(self) -> str:
        """Return the identity under which a verdict on it is kept."""
        return finding_id(self.target, self.judged)


def judged_pieces(
    result: AnyBoxResult, page: int, pieces: Sequence[WrongComponent], extent: tuple[float, float], log: ReviewLog
) -> list[JudgedPiece | None]:
    """Return the boxes behind each piece of a page, with the verdicts on them.

    `page` is a row of the dataset of `result`, `extent` width and height of the page in pixels of its raster. None
    where no box of a piece's labels counts under `result`.
    """
    boxes = _Boxes(result, page, extent)
    behind = [boxes.behind(piece) for piece in pieces]
    targets = {one.target.id: one.target for one in behind if one is not None}
    reviews = match_page_reviews(list(targets.values()), result, page, log)
    by_id = {target_id: judged for target_id, (_, judged) in zip(targets, reviews, strict=True)}
    return [one and one._replace(judged=by_id[one.target.id]) for one in behind]


class _Boxes:
    def __init__(self, result: AnyBoxResult, page: int, extent: tuple[float, float]) -> None:
        self.result, self.page = result, page
        matching = result.matching
        self.dataset = matching.dataset
        self.sides: dict[Side, JoinedBoxes] = {
            "ground_truth": matching.dataset.ground_truth,
            "prediction": matching.prediction,
        }
        truths, predictions = rows_on(result, page, None)
        self.rows: dict[Side, IntArray] = {"ground_truth": truths, "prediction": predictions}
        self.scale = np.tile(np.asarray(extent), 2) if matching.dataset.ground_truth.source.unit == "page" else 1.0
        # Once: to write it every score is looked at.
        self.signature: str = matching.signature(result.iou).line
        self.mistakes = mistake_targets(result, page, signature=self.signature)

    def behind(self, piece: WrongComponent) -> JudgedPiece | None:
        # What the model drew made the pixels; where it drew nothing, the ground truth did.
        sides: tuple[Side, Side] = ("prediction", "ground_truth")
        rows = {
            side: row
            for side, label in zip(sides, reversed(piece.cell), strict=True)
            if label != BACKGROUND_NAME and (row := self._largest(side, label, piece.rectangles)) is not None
        }
        for side, row in rows.items():
            at = self.mistakes.of_box.get(box_key(side, row))
            if at is not None:
                target = self.mistakes.targets[at]
                title = ERROR_TYPES["document"][target.mistake or ""].title.lower()
                return JudgedPiece(target, None, f"made by: {title}, {displayed(target.label or '')}")
        return next((self._match(side, row) for side, row in rows.items()), None)

    def _largest(self, side: Side, label: str, rectangles: IntArray) -> int | None:
        if label not in self.dataset.labels:
            return None
        boxes, rows = self.sides[side], self.rows[side]
        rows = rows[boxes.label[rows] == self.dataset.labels.index(label)]
        if not len(rows):
            return None
        corners: FloatArray = boxes.xyxy[rows] * self.scale
        parts = rectangles.astype(np.float64)
        # One box against all parts: the only row of the first side is met by each of the other.
        common = [float(intersection(one[None], parts).sum()) for one in corners]
        largest = int(np.argmax(common))
        return int(rows[largest]) if common[largest] > 0.0 else None

    @cached_property
    def _partners(self) -> dict[Side, dict[int, int]]:
        return {
            side: dict(zip(rows.tolist(), self.result.partners(side, rows).tolist(), strict=True))
            for side, rows in self.rows.items()
        }

    def _match(self, side: Side, row: int) -> JudgedPiece | None:
        partner = self._partners[side].get(row, UNMATCHED)
        if partner == UNMATCHED:
            return None
        truth, prediction = (row, partner) if side == "ground_truth" else (partner, row)
        label = self.dataset.labels[self.dataset.ground_truth.label[truth]]
        target = mistake_target(
            self.result,
            self.page,
            (("ground_truth", truth), ("prediction", prediction)),
            name=WRONG_PIXELS,
            label=label,
            signature=self.signature,
        )
        iou = self.result.matched_iou(truth)
        return JudgedPiece(target, None, f"made by: a match of {displayed(label)}, IoU {iou:.2f}")
