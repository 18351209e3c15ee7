"""Average precision of resampled corpora: the curve of every resample, exact, without building one.

Owns `Ranking`, the predictions of one label at one threshold by rank, and its average precision under weights of
documents. A document that is drawn twice has every box twice, the copies side by side in the ranking. The best
precision of such a block is at its end, so the interpolated precision of the weighted curve is that of the corpus with
the copies. Which interpolation, the protocol says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluator.metrics.average_precision import first_reaching
from evaluator.model.boxes import BoolArray, FloatArray, IntArray

Counts = npt.NDArray[np.int32]
Interpolation = Callable[[FloatArray, Counts, IntArray], FloatArray]
"""Average precision of R resamples from interpolated precision and true positives found so far, both of shape (R, K),
and the ground truth that counts, shape (R,) and above 0."""

# Cells of predictions by resamples that are worked on at once: they stay in the processor's cache.
_CELLS_AT_ONCE: Final = 1 << 17


@dataclass(frozen=True, eq=False)
class Ranking:
    """The predictions of one label that count at one threshold, by falling score.

    Attributes
    ----------
    document : int64, shape (P,)
        Code of the document of each.
    hit : bool, shape (P,)
        The true positives.
    positives : int64, shape (D,)
        Ground truth that counts in each document.
    """

    document: IntArray
    hit: BoolArray
    positives: IntArray

    def average(self, weights: FloatArray, interpolated: Interpolation) -> FloatArray:
        """Average precision of each resample, float64, shape (R,), in [0, 1].

        NaN where no ground truth is drawn; 0 where some is and no prediction finds any.

        Parameters
        ----------
        weights : float64, shape (R, D), whole numbers >= 0
            How often each document occurs.
        interpolated : callable
            `on_grid`, `eleven_point` or `all_point`.
        """
        answer = np.full(len(weights), np.nan)
        positives = np.rint(weights @ self.positives).astype(np.int64)
        known = np.flatnonzero(positives)
        for rows in _some_of(known, len(self.document)):
            answer[rows] = self._average(weights[rows].astype(np.int32), positives[rows], interpolated)
        return answer

    def per_document(self, interpolated: Interpolation) -> FloatArray:
        """Average precision of each document alone, float64, shape (D,); NaN without ground truth."""
        documents = len(self.positives)
        answer = np.where(self.positives > 0, 0.0, np.nan)
        # Stable: inside of a document the predictions keep their ranks.
        order = np.argsort(self.document, kind="stable")
        start, stop = np.searchsorted(self.document[order], [np.arange(documents), np.arange(documents) + 1])
        once = np.ones((1, 1), dtype=np.int32)
        for row in np.flatnonzero((self.positives > 0) & (stop > start)).tolist():
            hit = self.hit[order[start[row] : stop[row]]]
            alone = Ranking(np.zeros(len(hit), dtype=np.int64), hit, self.positives[row : row + 1])
            answer[row] = alone._average(once, alone.positives, interpolated)[0]
        return answer

    def _average(self, drawn: Counts, positives: IntArray, interpolated: Interpolation) -> FloatArray:
        """The same for resamples that have ground truth."""
        weight = np.take(drawn, self.document, axis=1)
        found = np.cumsum(np.take(weight, self._hits, axis=1), axis=1, dtype=np.int32)
        if not found.shape[1]:
            return np.zeros(len(positives))
        ranked = np.take(np.cumsum(weight, axis=1, dtype=np.int32), self._hits, axis=1)
        # Where none is drawn yet nothing is found either: 0 / 1.
        precision = found / np.maximum(ranked, 1)
        best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
        return interpolated(best, found, positives)

    @cached_property
    def _hits(self) -> IntArray:
        """Places of the true positives."""
        return np.flatnonzero(self.hit)


def on_grid(recall: FloatArray) -> Interpolation:
    """Mean of the interpolated precision over a rising recall grid, as COCO and the fields' protocol have it.

    See `evaluator.metrics.average_precision.precision_at_recall`; without its 2**-52 in the denominator.
    """
    return lambda best, found, positives: _at(best, found, first_reaching(recall, positives[:, None]) + 1)


def eleven_point(best: FloatArray, found: Counts, positives: IntArray) -> FloatArray:
    """Mean of the interpolated precision at eleven recall levels; see `average_precision.eleven_point_precision`."""
    return _at(best, found, np.maximum(-(-np.arange(11) * positives[:, None] // 10), 1))


def all_point(best: FloatArray, found: Counts, positives: IntArray) -> FloatArray:
    """Area under the interpolated curve; see `average_precision.all_point_precision`."""
    area = best[:, 0] * found[:, 0] + np.einsum("rk,rk->r", best[:, 1:], np.diff(found, axis=1))
    return np.asarray(area / positives)


def _at(best: FloatArray, found: Counts, needed: IntArray) -> FloatArray:
    """Mean over grid points of the precision where so many are found, shape (R,); 0 where they never are.

    `best` and `found` have shape (R, K), `needed` (R, N).
    """
    size = found.shape[1]
    place = np.stack([np.searchsorted(row, wanted) for row, wanted in zip(found, needed, strict=True)])
    value = np.take_along_axis(best, np.minimum(place, size - 1), axis=1)
    return np.asarray(np.where(place < size, value, 0.0).mean(axis=1))


def _some_of(rows: IntArray, width: int) -> Iterator[IntArray]:
    """The rows, as many at a time as fit into the cache with `width` cells each."""
    step = max(_CELLS_AT_ONCE // max(width, 1), 1)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
