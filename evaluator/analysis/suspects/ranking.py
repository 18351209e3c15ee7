"""The ground truth boxes that are likely wrong, and the places where one is likely missing, most likely first.

What models and page show at a box is weighed under "it is right" and under each kind of error, whose frequencies are
estimated from the same data; lone predictions under "an object is there" and "the model made it up". The score of a
suspect is the probability of its error. Where models err together (a hard page), their agreement is trusted too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evaluator.analysis.suspects.box_errors import BoxErrors, box_errors
from evaluator.analysis.suspects.missing_boxes import MissingBoxes, missing_boxes
from evaluator.analysis.suspects.model_evidence import ModelEvidence, dependence, model_evidence
from evaluator.analysis.suspects.noise_model import looks, neighbourhood
from evaluator.analysis.suspects.pairing import NOBODY, Columns, covered_by_others, original_rows, shares
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, iou

Kind = Literal["missing", "extra", "label", "border"]
KINDS: Final[tuple[Kind, ...]] = ("missing", "extra", "label", "border")
MISSING, EXTRA, LABEL, BORDER = range(4)
LEAST_SCORE: Final = 0.01
"""Suspects below this probability are not listed."""
_RIGHT_ENOUGH: Final = 0.95
"""A ground truth box with at least this IoU to what it should be is right."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """Suspects as columns of one length K, most likely first.

    `kind`: place in `KINDS`. `score`: probability that the ground truth is wrong, in [0, 1]. `truth`: row of the ground
    truth box, -1 for a missing one. `label`, `xyxy`: now, for a missing one those of the proposal. `new_label`,
    `new_xyxy`: the proposal, for an extra box the box itself. `prediction`: int64 (K, M), -1 for none. `covered`: how
    far another ground truth box claims the place, in [0, 1]. `usual`: float64 (K, 4), usual deviation of a model's
    sides in the unit of the boxes; NaN for missing ones.
    """

    kind: IntArray
    score: FloatArray
    truth: IntArray
    page: IntArray
    label: IntArray
    xyxy: FloatArray
    new_label: IntArray
    new_xyxy: FloatArray
    prediction: IntArray
    covered: FloatArray
    usual: FloatArray

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: IntArray) -> Ranked:
        """Return the suspects in the given rows and order."""
        return Ranked(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def rank(
    truth: Columns,
    models: Sequence[Columns],
    *,
    labels: int,
    page_size: FloatArray | None = None,
    looked: Sequence[BoolArray] | None = None,
    least: float = LEAST_SCORE,
) -> Ranked:
    """Return suspected errors of a ground truth, most likely first.

    `models`: one or two (else ValueError), under the same codes of pages and labels. `page_size`: float64 (pages, 2) in
    the unit of the boxes, 1 when None. `looked`: which pages each model covers, all when None; where it did not look,
    it is no evidence. Suspects with a score below `least` are left out.
    """
    if not 1 <= len(models) <= 2:
        raise ValueError(f"suspects need one or two models; found {len(models)}")
    pages = 1 + max((int(side.page.max()) for side in (truth, *models) if side), default=-1)
    page_size = np.ones((pages, 2)) if page_size is None else page_size
    looked = [np.ones(len(page_size), dtype=bool)] * len(models) if looked is None else looked
    kept = [np.flatnonzero(covers[model.page]) for model, covers in zip(models, looked, strict=True)]
    seen = [
        model_evidence(truth, model if covers.all() else model.take(rows), covers, page_size, labels=labels)
        for model, covers, rows in zip(models, looked, kept, strict=True)
    ]
    normal = shares(truth, page_size)
    look = looks(normal, truth.label, labels)
    cells = look.cells(normal)
    covered = covered_by_others(truth, truth, themselves=True)
    beside = neighbourhood(truth.page, truth.xyxy[:, 1], truth.label, labels)
    together = dependence(seen)
    weighed = box_errors(truth, seen, look.of(cells) + beside, covered, together=together)
    gaps = missing_boxes(truth, seen, weighed, look, page_size, together=together)
    parts = (_of_boxes(truth, seen, kept, weighed, least), _of_gaps(gaps, kept, least))
    ranked = Ranked(*(np.concatenate([getattr(part, name) for part in parts]) for name in Ranked.__dataclass_fields__))
    # Ties go by page and place, so that the list does not depend on the order of the file.
    return ranked.take(np.lexsort((ranked.xyxy[:, 0], ranked.xyxy[:, 1], ranked.page, -ranked.score)))


def _of_boxes(
    truth: Columns, seen: Sequence[ModelEvidence], kept: Sequence[IntArray], evidence: BoxErrors, least: float
) -> Ranked:
    """Return the ground truth boxes that are likely wrong, each under its likeliest error."""
    rows = np.flatnonzero(evidence.wrong >= least)
    chances = np.array([evidence.extra[rows], evidence.label[rows], evidence.border[rows]])
    middle = np.where(evidence.moved[rows], _middle(truth, seen, rows), truth.xyxy[rows])
    # A border that would hardly change is right enough.
    chances[2, iou(truth.xyxy[rows], middle) > _RIGHT_ENOUGH] = 0.0
    worth = np.flatnonzero(chances.sum(axis=0) >= least)
    rows, chances, middle = rows[worth], chances[:, worth], middle[worth]
    kind = np.array([EXTRA, LABEL, BORDER])[np.argmax(chances, axis=0)]
    now = truth.xyxy[rows]
    proposed = np.where((kind == BORDER)[:, None], middle, now)
    partners = [original_rows(each.partner[rows], back) for each, back in zip(seen, kept, strict=True)]
    return Ranked(
        kind=kind,
        score=np.minimum(chances.sum(axis=0), 1.0),
        truth=rows,
        page=truth.page[rows],
        label=truth.label[rows],
        xyxy=now,
        new_label=np.where(kind == LABEL, evidence.best_label[rows], truth.label[rows]),
        new_xyxy=proposed,
        prediction=np.column_stack(partners),
        covered=evidence.covered[rows],
        usual=_usual(seen, rows),
    )


def _middle(truth: Columns, seen: Sequence[ModelEvidence], rows: IntArray) -> FloatArray:
    """Return where the models put the sides, less what they usually add; the box itself without any."""
    total, count = np.zeros((len(rows), 4)), np.zeros((len(rows), 1))
    for each in seen:
        hit = each.hit[rows][:, None]
        total += np.where(hit, truth.xyxy[rows] + (each.jitter.z[:, rows] * each.jitter.scale[:, rows]).T, 0.0)
        count += hit
    middle = np.where(count > 0, total / np.maximum(count, 1), truth.xyxy[rows])
    valid = (middle[:, 2:] > middle[:, :2]).all(axis=1, keepdims=True)
    return np.where(valid, middle, truth.xyxy[rows])


def _usual(seen: Sequence[ModelEvidence], rows: IntArray) -> FloatArray:
    """Return the usual deviation of each side, float64, (N, 4), of the models that find a box; else NaN."""
    hits = np.array([each.hit[rows] for each in seen])[:, :, None]
    scales = np.array([each.jitter.scale[:, rows].T for each in seen])
    found_by = hits.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(hits, scales, 0.0).sum(axis=0) / np.where(found_by, found_by, np.nan))


def _of_gaps(gaps: MissingBoxes, kept: Sequence[IntArray], least: float) -> Ranked:
    rows = np.flatnonzero(gaps.score >= least)
    columns = [original_rows(gaps.prediction[rows, model], back) for model, back in enumerate(kept)]
    return Ranked(
        kind=np.full(len(rows), MISSING),
        score=gaps.score[rows],
        truth=np.full(len(rows), NOBODY),
        page=gaps.page[rows],
        label=gaps.label[rows],
        xyxy=gaps.xyxy[rows],
        new_label=gaps.label[rows],
        new_xyxy=gaps.xyxy[rows],
        prediction=np.column_stack(columns),
        covered=gaps.covered[rows],
        usual=np.full((len(rows), 4), np.nan),
    )
