"""Which suspicions may be listed: where two models are open both must say the same, and no habit of theirs may say it.

What one model says against the ground truth is its own mistake far more often than one of the ground truth; and what
both do to many boxes of a label, such as a figure without the labels of its axes, follows another guideline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluator.analysis.suspects.pairing import NOBODY, Columns
from evaluator.analysis.suspects.ranking import BORDER, EXTRA, LABEL, MISSING, Ranked
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area, intersection, iou
from evaluator.matching.pairs import overlapping_pairs

_AGREE: Final = 0.78
"""IoU from which two models draw one box; lines of text are thin, and a pixel more or less is much of them."""
_ONE_OBJECT: Final = 0.7
"""IoU from which what two models draw is one object."""
_APART: Final = 0.15
"""So much better than with the ground truth they fit each other where its border is wrong."""
_HELD: Final = 0.5
"""A box that lies in another one by this share of its area is part of it."""
_CLAIMED: Final = 0.3
_MANY: Final = 5
"""A predicted box over so many ground truth boxes is of the page, not of them."""
_MOST_ALIKE: Final = 3
"""So many borders of one label that are moved alike are a habit, not errors."""


def supported(ranked: Ranked, truth: Columns, models: Sequence[Columns], looked: Sequence[BoolArray]) -> BoolArray:
    """Tell which suspects may be listed, bool, shape (K,); all where one model is open, or one covers the page."""
    keep = np.ones(len(ranked), dtype=bool)
    if len(models) < 2 or not len(ranked):
        return keep
    both = np.logical_and.reduce([covers[ranked.page] for covers in looked])
    hit = ranked.prediction != NOBODY
    labels = np.column_stack(
        [_taken(model.label, rows) for model, rows in zip(models, ranked.prediction.T, strict=True)]
    )
    first, second = (_taken(model.xyxy, rows) for model, rows in zip(models, ranked.prediction.T, strict=True))
    together = np.where(hit.all(axis=1), iou(first, second), 0.0)
    one_label = hit.all(axis=1) & (labels[:, 0] == labels[:, 1])
    fit = np.maximum(iou(ranked.xyxy, first) * hit[:, 0], iou(ranked.xyxy, second) * hit[:, 1])
    kind = ranked.kind
    held = _held_by(ranked, truth, models)
    says = {
        MISSING: one_label & (together >= _ONE_OBJECT) & (ranked.covered < _CLAIMED) & ~_holds_others(ranked, truth),
        EXTRA: ~held.any(axis=1),
        LABEL: one_label & (labels[:, 0] == ranked.new_label) & (together >= _ONE_OBJECT),
        BORDER: one_label & (labels[:, 0] == ranked.label) & (together >= _AGREE) & (together - fit >= _APART)
        & ~_holds_others(ranked, truth) & ~_habit(ranked) & ~_in_pieces(ranked, truth, models),
    }  # fmt: skip
    for which, supports in says.items():
        keep &= ~both | (kind != which) | supports
    return keep


def _taken(column: FloatArray | IntArray, rows: IntArray) -> np.ndarray:
    """Return the values of some rows; of the first one where there is nobody."""
    if not len(column):
        return np.zeros((len(rows), *column.shape[1:]), dtype=column.dtype)
    return np.asarray(column[np.maximum(rows, 0)])


def _held_by(ranked: Ranked, truth: Columns, models: Sequence[Columns]) -> BoolArray:
    """Tell which models have a box that holds half of the place of a suspect, bool, shape (K, M)."""
    # A box over many ground truth boxes, such as a figure that is the whole scan, says nothing of one of them.
    held = np.zeros((len(ranked), len(models)), dtype=bool)
    for place, model in enumerate(models):
        holds = overlapping_pairs(model.xyxy, model.page, truth.xyxy, truth.page, iou_floor=1e-3)
        within = _part_of(truth.xyxy[holds.prediction], model.xyxy[holds.ground_truth]) >= _HELD
        held_boxes = np.bincount(holds.ground_truth[within], minlength=len(model.page))
        pairs = overlapping_pairs(ranked.xyxy, ranked.page, model.xyxy, model.page, iou_floor=1e-3)
        one, other = ranked.xyxy[pairs.ground_truth], model.xyxy[pairs.prediction]
        inside = intersection(one, other) >= _HELD * np.maximum(np.minimum(area(one), area(other)), 1e-12)
        inside &= held_boxes[pairs.prediction] < _MANY
        held[pairs.ground_truth[inside], place] = True
    return held


def _holds_others(ranked: Ranked, truth: Columns) -> BoolArray:
    """Tell which proposals take in another ground truth box that the box now leaves out, bool, shape (K,)."""
    holds = np.zeros(len(ranked), dtype=bool)
    pairs = overlapping_pairs(ranked.new_xyxy, ranked.page, truth.xyxy, truth.page, iou_floor=1e-3)
    one, other = pairs.ground_truth, pairs.prediction
    boxes, size = truth.xyxy[other], np.maximum(area(truth.xyxy[other]), 1e-12)
    now = np.where((ranked.kind[one] == MISSING), 0.0, intersection(ranked.xyxy[one], boxes) / size)
    then = intersection(ranked.new_xyxy[one], boxes) / size
    holds[one[(other != ranked.truth[one]) & (then >= _HELD) & (now < _HELD)]] = True
    return holds


def _in_pieces(ranked: Ranked, truth: Columns, models: Sequence[Columns]) -> BoolArray:
    """Tell which boxes a model reads as several: it has more boxes there that are of no other ground truth box."""
    pieces = np.zeros(len(ranked), dtype=bool)
    for model, partner in zip(models, ranked.prediction.T, strict=True):
        held = overlapping_pairs(model.xyxy, model.page, truth.xyxy, truth.page, iou_floor=1e-3)
        part = _part_of(model.xyxy[held.ground_truth], truth.xyxy[held.prediction])
        pairs = overlapping_pairs(ranked.xyxy, ranked.page, model.xyxy, model.page, iou_floor=1e-3)
        row, box = pairs.ground_truth, pairs.prediction
        inside = (_part_of(model.xyxy[box], ranked.xyxy[row]) >= _HELD) & (box != partner[row])
        # By how many ground truth boxes each is held; one may be this very box.
        holders = np.bincount(held.ground_truth[part >= _HELD], minlength=len(model.page))
        pieces[row[inside & (holders[box] <= 1)]] = True
    return pieces


def _part_of(boxes: FloatArray, others: FloatArray) -> FloatArray:
    return np.asarray(intersection(boxes, others) / np.maximum(area(boxes), 1e-12))


def _habit(ranked: Ranked) -> BoolArray:
    """Tell which borders are moved alike on at least `_MOST_ALIKE` boxes of their label, bool, shape (K,)."""
    borders = np.flatnonzero(ranked.kind == BORDER)
    moved = (ranked.new_xyxy[borders] - ranked.xyxy[borders]) / ranked.usual[borders]
    side = np.argmax(np.abs(moved), axis=1)
    far = np.take_along_axis(moved, side[:, None], axis=1)[:, 0]
    way = (ranked.label[borders] * 4 + side) * 2 + (far > 0.0)
    far, habit = np.abs(far), np.zeros(len(ranked), dtype=bool)
    for each in np.unique(way).tolist():
        rows = np.flatnonzero(way == each)
        alike = len(rows) - np.searchsorted(np.sort(far[rows]), far[rows] / 2.0)
        habit[borders[rows]] = alike >= _MOST_ALIKE
    return habit
