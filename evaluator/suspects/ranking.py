"""The ground truth boxes that are likely wrong, and the places where one is likely missing, most likely first.

Owns the weighing. For each ground truth box, what the models and the page show is given a probability under "it is
right" and under each kind of error; how often each kind occurs is estimated from the same data, so that kinds and
scores are comparable in one list. Predictions that are at no ground truth box are weighed in the same way under "an
object is there" and "the model made it up". The score of a suspect is the probability of the error that follows.

Models are taken to err independently where the ground truth is right; where they err together (a hard page), two of
them in agreement are trusted too much, and the list shows cases that a reviewer answers with "model wrong".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evaluator.model.boxes import BoolArray, FloatArray, IntArray, iou
from evaluator.suspects import absent as absent_boxes
from evaluator.suspects import at_boxes
from evaluator.suspects.evidence import Seen, dependence, seen_by
from evaluator.suspects.laws import looks, neighbourhood
from evaluator.suspects.pairing import NOBODY, Columns, covered_by_others, shares

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

    Attributes
    ----------
    kind : int64, shape (K,)
        Place in `KINDS`.
    score : float64, shape (K,), in [0, 1]
        Probability that the ground truth is wrong there.
    truth : int64, shape (K,)
        Row of the ground truth box; -1 for one that is missing.
    page : int64, shape (K,)
    label : int64, shape (K,)
        Of the ground truth box now; for a missing one that of the proposal.
    xyxy : float64, shape (K, 4)
        The box now; for a missing one that of the proposal.
    new_label : int64, shape (K,)
    new_xyxy : float64, shape (K, 4)
        The proposal; for an extra box those of the box itself.
    prediction : int64, shape (K, M)
        Row of the prediction of each model at the place; -1 for none.
    covered : float64, shape (K,)
        How far another ground truth box claims the place, in [0, 1].
    usual : float64, shape (K, 4)
        How far a model's sides usually are from such a box, in the unit of the boxes; NaN for missing ones.
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
        """The suspects in the given rows and order."""
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
    """Suspected errors of a ground truth, most likely first.

    Parameters
    ----------
    truth : Columns
        The ground truth of all pages.
    models : sequence of Columns
        Predictions of one or two models, under the same codes of pages and labels.
    labels : int
        Number of labels.
    page_size : float64, shape (pages, 2), optional
        Width and height of each page in the unit of the boxes; 1 when absent.
    looked : sequence of bool arrays of shape (pages,), optional
        Which pages each model covers; all when absent. Where it did not look, it is no evidence.
    least : float
        Suspects with a lower score are left out.

    Returns
    -------
    Ranked
        Empty without boxes.

    Raises
    ------
    ValueError
        For no model or more than two.
    """
    if not 1 <= len(models) <= 2:
        raise ValueError(f"suspects need one or two models; found {len(models)}")
    pages = 1 + max((int(side.page.max()) for side in (truth, *models) if side), default=-1)
    page_size = np.ones((pages, 2)) if page_size is None else page_size
    looked = [np.ones(len(page_size), dtype=bool)] * len(models) if looked is None else looked
    kept = [np.flatnonzero(covers[model.page]) for model, covers in zip(models, looked, strict=True)]
    seen = [
        seen_by(truth, model if covers.all() else model.take(rows), covers, page_size, labels=labels)
        for model, covers, rows in zip(models, looked, kept, strict=True)
    ]
    normal = shares(truth, page_size)
    look = looks(normal, truth.label, labels)
    cells = look.cells(normal)
    covered = covered_by_others(truth, truth, themselves=True)
    beside = neighbourhood(truth.page, truth.xyxy[:, 1], truth.label, labels)
    together = dependence(seen)
    weighed = at_boxes.weigh(truth, seen, look.of(cells) + beside, covered, together=together)
    gaps = absent_boxes.absent(truth, seen, weighed, look, page_size, together=together)
    parts = (_of_boxes(truth, seen, kept, weighed, least), _of_gaps(gaps, kept, least))
    ranked = Ranked(*(np.concatenate([getattr(part, name) for part in parts]) for name in Ranked.__dataclass_fields__))
    # Ties go by page and place, so that the list does not depend on the order of the file.
    return ranked.take(np.lexsort((ranked.xyxy[:, 0], ranked.xyxy[:, 1], ranked.page, -ranked.score)))


def _of_boxes(
    truth: Columns, seen: Sequence[Seen], kept: Sequence[IntArray], evidence: at_boxes.AtBoxes, least: float
) -> Ranked:
    """The ground truth boxes that are likely wrong, each under its likeliest error."""
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
    partners = [_original(each.partner[rows], back) for each, back in zip(seen, kept, strict=True)]
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


def _original(rows: IntArray, kept: IntArray) -> IntArray:
    """Rows of all predictions from rows of those that were kept; `NOBODY` stays."""
    return np.where(rows == NOBODY, NOBODY, np.append(kept, NOBODY)[rows])


def _middle(truth: Columns, seen: Sequence[Seen], rows: IntArray) -> FloatArray:
    """Where the models put the sides of some boxes, less what they usually add; the box itself without any."""
    total, count = np.zeros((len(rows), 4)), np.zeros((len(rows), 1))
    for each in seen:
        hit = each.hit[rows][:, None]
        total += np.where(hit, truth.xyxy[rows] + (each.jitter.z[:, rows] * each.jitter.scale[:, rows]).T, 0.0)
        count += hit
    middle = np.where(count > 0, total / np.maximum(count, 1), truth.xyxy[rows])
    valid = (middle[:, 2:] > middle[:, :2]).all(axis=1, keepdims=True)
    return np.where(valid, middle, truth.xyxy[rows])


def _usual(seen: Sequence[Seen], rows: IntArray) -> FloatArray:
    """The usual deviation of each side of some boxes, float64, shape (N, 4), of the models that find them; else NaN."""
    hits = np.array([each.hit[rows] for each in seen])[:, :, None]
    scales = np.array([each.jitter.scale[:, rows].T for each in seen])
    found_by = hits.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(hits, scales, 0.0).sum(axis=0) / np.where(found_by, found_by, np.nan))


def _of_gaps(gaps: absent_boxes.Absent, kept: Sequence[IntArray], least: float) -> Ranked:
    """The places where a box is likely missing."""
    rows = np.flatnonzero(gaps.score >= least)
    columns = [_original(gaps.prediction[rows, model], back) for model, back in enumerate(kept)]
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
