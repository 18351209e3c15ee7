"""Predictions with equal scores: average precision in the best and in the worst order of them.

A ranking by score leaves the order of equal scores to the order of rows in a file. Who matches whom is kept as it is
there; of each run of equal scores of a label the true positives come first (best) or last (worst), at each threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.issues import Issue
from evaluator.data.order import begins
from evaluator.metrics.results import JsonObject

LEAST_RANGE: Final = 0.001
"""Best and worst that are nearer than this are not reported."""
# Numbers that are nearer are equal.
_EQUAL: Final = 1e-12
RULE: Final = "average precision ranks by score, and the order of equal scores is that of the rows in the file"


@dataclass(frozen=True)
class Ties:
    """What equal scores do to an average precision.

    `tied` of the `predictions` that count are in a run of equal scores of one label that has true and false positives.
    `best`, `worst`: `metric` when the true positives of each such run come first, and last; in [0, 1].
    """

    metric: str
    predictions: int
    tied: int
    best: float
    worst: float

    @property
    def share(self) -> float:
        """Share of the predictions that are tied, in [0, 1]."""
        return self.tied / self.predictions

    @property
    def matters(self) -> bool:
        """Return whether the order moves the number by more than `LEAST_RANGE`."""
        return self.best - self.worst > LEAST_RANGE

    @property
    def words(self) -> str:
        """Return the share and the range, for a sentence."""
        return (
            f"{self.tied:,} of {self.predictions:,} predictions ({self.share:.1%}) with the score of others of their "
            f"label, right and wrong ones; {self.metric} is {self.best:.3f} in the best order of them and "
            f"{self.worst:.3f} in the worst"
        )

    def to_json(self) -> JsonObject:
        """Return the ties as plain values under the keys of the terminal contract."""
        return {
            "metric": self.metric,
            "predictions": self.predictions,
            "tied": self.tied,
            "share": self.share,
            "best": self.best,
            "worst": self.worst,
        }

    def issue(self, file: str) -> Issue:
        """Return a warning about a file of predictions."""
        fix = "Export scores that differ, or report the range beside the number."
        return Issue(severity="warning", file=file, place="", rule=RULE, found=self.words, fix=fix)


class Range(NamedTuple):
    """A number in the worst and in the best order of equal scores."""

    worst: float
    best: float


def one_within_the_other(first: Range, second: Range) -> bool:
    """Return whether the order of equal scores alone can make two numbers equal: one range is within the other.

    Two single values are not: they differ whatever the order.

    >>> one_within_the_other(Range(0.1, 0.4), Range(0.3, 0.3)), one_within_the_other(Range(0.1, 0.4), Range(0.3, 0.5))
    (True, False)
    """
    wide, narrow = sorted((first, second), key=lambda one: one.worst - one.best)
    inside = wide.worst - _EQUAL <= narrow.worst and narrow.best <= wide.best + _EQUAL
    return inside and wide.best - wide.worst > _EQUAL


class TiedRanks(NamedTuple):
    """Ranks of the true positives of a label, int64, rising, in two orders; `mixed`: runs with true and false ones."""

    best: IntArray
    worst: IntArray
    mixed: BoolArray


def run_starts(score: FloatArray) -> IntArray | None:
    """Return where each run of equal scores begins, int64; None where no two are equal. `score` falls."""
    starts = begins(score)
    return None if starts.all() else np.flatnonzero(starts)


def tied_ranks(starts: IntArray, true_positive: BoolArray, counts: BoolArray) -> TiedRanks:
    """Return the ranks with the true positives of each run first, and last.

    `starts`: where runs begin; `true_positive`, `counts`: bool, shape (N,), of at least one prediction by falling
    score, where a true positive counts.

    >>> ranks = tied_ranks(np.array([0, 1]), np.array([False, False, True]), np.array([True, True, True]))
    >>> ranks.best, ranks.worst, ranks.mixed
    (array([2]), array([3]), array([False,  True]))
    """
    hits, counted = (np.add.reduceat(flags, starts, dtype=np.int64) for flags in (true_positive, counts))
    run = np.repeat(np.arange(len(starts)), hits)
    before = np.cumsum(counted) - counted
    best = np.arange(1, len(run) + 1) - (np.cumsum(hits) - hits)[run] + before[run]
    return TiedRanks(best, best + (counted - hits)[run], (hits > 0) & (counted > hits))


class TiedAverages(NamedTuple):
    """How many predictions are in mixed runs at any threshold, and AP in the best and the worst order of them."""

    tied: int
    averages: FloatArray


def tied_averages(
    score: FloatArray, steps: Iterable[tuple[BoolArray, BoolArray]], average: Callable[[IntArray], float]
) -> TiedAverages | None:
    """Return what the order of equal scores does to the average precision of a label; None where no two are equal.

    Parameters
    ----------
    score : float64 array, shape (N,)
        Falling scores.
    steps : iterable of pairs of bool arrays, shape (N,)
        What is a true positive, and what counts, at each of T thresholds.
    average : callable
        The average precision of the rising ranks of true positives.

    Returns
    -------
    TiedAverages or None
        `averages` has the shape (2, T), NaN where no order matters.

    """
    starts = run_starts(score)
    if starts is None:
        return None
    length = np.diff(starts, append=len(score))
    shared, length = np.repeat(length > 1, length), length[length > 1]
    # Most scores are alone: only the others are counted by run.
    rows, own = np.flatnonzero(shared), np.cumsum(length) - length
    run = np.repeat(np.arange(len(own)), length)
    matters, counted, averages = np.zeros(len(own), dtype=bool), np.zeros(len(rows), dtype=bool), []
    for hits, counts in steps:
        of_runs = counts[rows]
        ranks = tied_ranks(own, hits[rows], of_runs)
        counted |= of_runs
        matters |= ranks.mixed
        if not ranks.mixed.any():
            averages.append((np.nan, np.nan))
            continue
        alone = np.cumsum(counts & ~shared, dtype=np.int64)[hits]
        inside, best = shared[hits], np.cumsum(counts, dtype=np.int64)[hits]
        worst = best.copy()
        best[inside], worst[inside] = ranks.best + alone[inside], ranks.worst + alone[inside]
        averages.append((average(best), average(worst)))
    return TiedAverages(int(np.count_nonzero(counted & matters[run])), np.array(averages, dtype=np.float64).T)


def widest(ties: Iterable[Ties | None]) -> Ties | None:
    """Return the ties with the largest range that matter; None for none."""
    every = [one for one in ties if one is not None and one.matters]
    return max(every, key=lambda one: one.best - one.worst, default=None)
