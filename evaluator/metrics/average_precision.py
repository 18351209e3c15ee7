"""Precision-recall curves and average precision, from predictions that are ranked by score.

Everything starts from the ranks of the true positives: rank 1 is the best prediction that counts, ignored ones have no
rank. Which predictions match or are ignored, the protocol decides. Undefined is NaN.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.order import begins
from evaluator.metrics.results import ratio

RECALL_101: Final[FloatArray] = np.linspace(0.0, 1.0, 101)
"""The recall grid of COCO, 0 to 1 in steps of 0.01 as pycocotools spells them; ten decimals differ by one ulp."""
RECALL_101.setflags(write=False)

# What pycocotools adds to the denominator: a true positive at rank 1 has a precision of 1 - 2**-52.
_COCO_EPSILON = float(np.spacing(1.0))


class Curve(NamedTuple):
    """Precision, recall and F1 of the predictions that score at least as much, float64, shape (K,).

    `score`: every score that occurs, falling. The others are in [0, 1], NaN where undefined.
    """

    score: FloatArray
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def descending_order(score: FloatArray) -> IntArray:
    """Return rows by falling score, int64, shape (N,); equal scores keep their order.

    The order of a stable sort of ``-score`` (mergesort in pycocotools). NaN is not allowed, -0.0 equals 0.0.
    """
    order = np.argsort(-score)
    ranked = score[order]
    tied = ranked[1:] == ranked[:-1]
    if not tied.any():
        return order
    in_run = np.zeros(len(order), dtype=bool)
    in_run[1:] = tied
    in_run[:-1] |= tied
    places = np.flatnonzero(in_run)
    key = (np.cumsum(begins(ranked[places])) << 32) | order[places]
    key.sort()
    order[places] = key & 0xFFFFFFFF
    return order


def precision_at_recall(rank: IntArray, positives: int, *, recall: FloatArray) -> FloatArray:
    """Return the best precision at each recall of a grid or a higher one, float64, shape (R,), in [0, 1].

    0 where the recall is never reached; NaN everywhere without positives. `positives`: ground-truth boxes that count.

    pycocotools 2.0, ``COCOeval.accumulate``, to the last digit: a grid point belongs to the first true positive whose
    recall in float64 is not below it, and precision is TP / (TP + FP + 2**-52).
    """
    if not positives:
        return np.full(len(recall), np.nan)
    first = first_reaching(recall, positives)
    reached = first[first < len(rank)]
    interpolated = np.zeros(len(recall))
    # Best of each stretch between two grid points, then of all stretches from there on.
    best = best_between(rank, reached)
    interpolated[: len(reached)] = np.maximum.accumulate(best[::-1])[::-1]
    return interpolated


def best_between(rank: npt.NDArray[np.signedinteger], reached: IntArray, *, before: int = 0) -> FloatArray:
    """Return the best precision of each stretch of a ranking, float64, shape (S,), in (0, 1].

    A stretch begins at a true positive, `reached` (int64, shape (S,), rising), and ends before the next, or at the end;
    `before` true positives precede the given ones.
    """
    if not len(reached):
        return np.empty(0)
    precision = np.arange(before + 1.0, before + len(rank) + 1.0)
    precision /= rank + _COCO_EPSILON
    return np.asarray(np.maximum.reduceat(precision, reached))


def first_reaching(recall: FloatArray, positives: int | IntArray) -> IntArray:
    """Return the index of the first true positive whose recall in float64 reaches each grid point, int64.

    Beyond the last one where the recall is never reached. `positives`, above 0, broadcasts against the grid.
    """
    # Off by one at most, because a product and a quotient round differently.
    needed = np.maximum(np.ceil(recall * positives), 1.0)
    needed -= (needed > 1.0) & ((needed - 1.0) / positives >= recall)
    needed += needed / positives < recall
    return needed.astype(np.int64) - 1


def average_precision(rank: IntArray, positives: int, *, recall: FloatArray = RECALL_101) -> float:
    """Return the mean of the interpolated precision over a recall grid, in [0, 1].

    NaN without positives, 0 with positives and without a true positive; see `precision_at_recall`.

    >>> round(average_precision(np.array([1, 3]), 2), 4)
    0.835
    """
    return float(precision_at_recall(rank, positives, recall=recall).mean())


def eleven_point_precision(rank: IntArray, positives: int) -> float:
    """Return the mean interpolated precision at recall 0, 0.1, ..., 1, in [0, 1], correctly rounded.

    NaN without positives, 0 without a true positive. ICDAR 2017 page object detection, "Evaluation", and Pascal VOC
    2007. Levels are compared in integers: with those of ``numpy.arange(0, 1.1, 0.1)`` a recall of exactly 3 / 10 misses
    the level 0.30000000000000004, which lowers the score by up to 1 / 11.

    >>> eleven_point_precision(np.array([1, 2, 3]), 10) == 4 / 11
    True
    """
    from fractions import Fraction  # nothing else here needs it

    if not positives:
        return float("nan")
    hits = np.arange(1, len(rank) + 1)
    precision = hits / rank
    total = Fraction(0)
    for level in range(11):
        needed = max(-(-level * positives // 10), 1)
        if needed > len(rank):
            break
        best = needed - 1 + int(precision[needed - 1 :].argmax())
        total += Fraction(best + 1, int(rank[best]))
    return float(total / 11)


def all_point_precision(rank: IntArray, positives: int) -> float:
    """Return the area under the interpolated precision-recall curve, in [0, 1].

    NaN without positives, 0 without a true positive. Pascal VOC 2010 and later: each true positive adds 1 / positives
    of recall at the best precision from there on.

    >>> all_point_precision(np.array([2]), 2)
    0.25
    """
    if not positives:
        return float("nan")
    precision = np.arange(1, len(rank) + 1) / rank
    best = np.maximum.accumulate(precision[::-1])
    return math.fsum(best.tolist()) / positives


def curve(score: FloatArray, true_positive: BoolArray, counts: BoolArray, positives: int) -> Curve:
    """Return precision, recall and F1 by score threshold, a row for each score; empty without predictions.

    `score` is float64, shape (N,), falling. Exact where a match does not depend on predictions with a lower score, as
    in COCO and POD; where it does (greedy by IoU), every threshold needs a matching of its own.
    """
    # The last prediction of each score.
    last = np.flatnonzero(begins(score[::-1])[::-1])
    hits, kept = (np.cumsum(flags, dtype=np.int64)[last] for flags in (true_positive, counts))
    everything = np.full(len(last), positives)
    return Curve(
        score=score[last],
        precision=ratio(hits, kept),
        recall=ratio(hits, everything),
        f1=ratio(2 * hits, kept + everything),
    )
