"""Average precision of resampled corpora: the curve of every resample, without building a corpus.

A document that is drawn twice has every box twice, the copies side by side in the ranking. The best precision of such a
block is at its end, so the interpolated precision of the weighted curve is that of the corpus with the copies.

Rankings of up to `EXACT` predictions are resampled exactly. Of longer ones the curve is followed in stretches of the
ranking: what a resample has in each stretch is counted exactly, and inside of it the curve keeps its shape. What this
leaves out is small beside the spread of the resamples; `tests/benchmarks/bench_compare` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.system.one_thread import one_thread

Counts = npt.NDArray[Any]
"""Integers, and float32 for followed curves."""
Shares = npt.NDArray[np.float32]
Interpolation = Callable[[Counts, IntArray], Counts]
"""Share of the recall axis, in [0, 1], that is reached with so many true positives of so much ground truth (above 0);
both of any shape, broadcast. Average precision is the interpolated precision times what each true positive adds."""

EXACT: Final = 512
"""Predictions up to which a ranking is resampled exactly."""

# A stretch holds one prediction in so many of those before it, and one in so many of all: the root of their number, so
# that long rankings, whose intervals are narrow, are followed in more steps.
_STRETCHES_BEFORE: Final = 40
_STRETCHES_OF_ROOT: Final = 3.0
_FEWEST_STRETCHES: Final = 160
_MOST_STRETCHES: Final = 1152
# Predictions of a ranking by which those that may be the same are found.
_LOOKED_AT: Final = 64
# Resamples that are worked on at once.
_RESAMPLES_AT_ONCE: Final = 2000


@dataclass(frozen=True, eq=False)
class Ranking:
    """The predictions of one label that count at one threshold, by falling score.

    `document`: int64, shape (P,), code of each. `hit`: bool, shape (P,), true positives. `positives`: int64, shape
    (D,), ground truth that counts in each document.
    """

    document: IntArray
    hit: BoolArray
    positives: IntArray

    def average(self, interpolated: Interpolation) -> float:
        """Return average precision with every document once, in [0, 1]; NaN without ground truth."""
        positives = self.positives.sum(keepdims=True)
        if not positives[0]:
            return np.nan
        hits = np.flatnonzero(self.hit)
        if not len(hits):
            return 0.0
        hits_so_far = np.arange(1, len(hits) + 1, dtype=np.int32)
        best = np.maximum.accumulate((hits_so_far / (hits + 1))[::-1])[::-1]
        reached = interpolated(hits_so_far, positives)
        return float(best[0] * reached[0] + np.einsum("k,k->", best[1:], np.diff(reached)))

    def per_document(self, interpolated: Interpolation) -> FloatArray:
        """Return average precision of each document alone, float64, shape (D,); NaN without ground truth."""
        # Stable: inside of a document the predictions keep their ranks.
        few = len(self.positives) <= 1 << 16  # numpy sorts short integers without comparing them
        order = np.argsort(self.document.astype(np.uint16) if few else self.document, kind="stable")
        document, hit = self.document[order], self.hit[order]
        hits = np.flatnonzero(hit & (self.positives[document] > 0))
        owner = document[hits]
        hits_so_far = np.arange(1, len(hits) + 1) - self._before(owner)[owner]
        best = hits_so_far / (hits - self._before(document)[owner] + 1)
        # The best from each true positive to the last of its document, twice as far ahead in each round.
        ahead = 1
        while ahead < len(hits) and (same := owner[ahead:] == owner[:-ahead]).any():
            best[:-ahead] = np.where(same, np.maximum(best[:-ahead], best[ahead:]), best[:-ahead])
            ahead *= 2
        positives = self.positives[owner]
        share = interpolated(hits_so_far, positives) - np.where(
            hits_so_far > 1, interpolated(hits_so_far - 1, positives), 0.0
        )
        total = np.bincount(owner, best * share, minlength=len(self.positives))
        return np.where(self.positives > 0, total, np.nan)

    def _before(self, document: IntArray) -> IntArray:
        """Return how many of some boxes, by document, are in documents of lower code, int64, shape (D,)."""
        count = np.bincount(document, minlength=len(self.positives))
        return np.asarray(np.cumsum(count) - count)


class Curves:
    """Average precision of several rankings, prepared once for any number of resamples.

    Those of the same predictions are resampled together; rankings longer than `exact` are followed in stretches.
    `interpolated`: `on_grid`, `eleven_point` or `all_point`.
    """

    def __init__(self, rankings: Sequence[Ranking], interpolated: Interpolation, *, exact: int = EXACT) -> None:
        self._size = len(rankings)
        self._groups: list[tuple[list[int], _Short | _Stretches]] = []
        for group in by_predictions(rankings):
            chosen = [rankings[place] for place in group]
            made = _short if len(chosen[0].document) <= exact else _stretches
            self._groups.append((group, made(chosen, interpolated)))

    def averages(self, weights: FloatArray) -> FloatArray:
        """Return average precision of each ranking in each resample, float64, shape (R, M)."""
        answer = np.empty((len(weights), self._size))
        # In this thread: operations this short only make threads wait for each other.
        with one_thread():
            for start in range(0, len(weights), _RESAMPLES_AT_ONCE):
                rows = slice(start, min(start + _RESAMPLES_AT_ONCE, len(weights)))
                # Last the corpus itself, by which followed curves are moved.
                drawn = np.vstack([weights[rows], np.ones((1, weights.shape[1]))])
                by_document = np.ascontiguousarray(drawn.T, dtype=np.float32)
                for group, curves in self._groups:
                    answer[rows, group] = curves.average(by_document)[:, :-1].T
        return answer


def on_grid(recall: FloatArray) -> Interpolation:
    """Return the mean interpolated precision over a rising recall grid, as COCO and the fields have it.

    See `evaluator.metrics.average_precision.precision_at_recall`; without its 2**-52 in the denominator.
    """
    equal = np.array_equal(recall, np.linspace(0.0, 1.0, len(recall)))

    def reached(counts: Counts, positives: IntArray) -> Counts:
        if equal and counts.dtype == np.float32:
            # A followed curve. The sum keeps a point that is reached exactly; no other is so near to up to a million.
            count = counts * ((len(recall) - 1) / positives).astype(np.float32)
            count += np.float32(1e-4)
            np.floor(count, out=count)
            count += 1
            count /= len(recall)
            return count
        return np.searchsorted(recall, counts / positives, side="right") / len(recall)

    return reached


def eleven_point(counts: Counts, positives: IntArray) -> FloatArray:
    """Return the interpolation at eleven recall levels; see `average_precision.eleven_point_precision`."""
    return np.asarray((10 * counts // positives + 1) / 11.0)


def all_point(counts: Counts, positives: IntArray) -> FloatArray:
    """Return the area under the interpolated curve; see `average_precision.all_point_precision`."""
    return np.asarray(counts / positives)


def by_predictions(rankings: Sequence[Ranking], most: int | None = None) -> list[list[int]]:
    """Return places of the rankings, those of the same predictions and ground truth together.

    Each place once; groups by their first places, at most `most` in each, and rising inside; empty for no rankings.
    """
    groups: list[list[int]] = []
    # What is compared in full is alike so far: hundreds of short rankings would be compared with each other else.
    alike: dict[tuple[int, bytes], list[list[int]]] = {}
    for place, ranking in enumerate(rankings):
        candidates = alike.setdefault((len(ranking.document), ranking.document[:_LOOKED_AT].tobytes()), [])
        for group in candidates:
            first = rankings[group[0]]
            if (
                len(group) != most
                and np.array_equal(first.document, ranking.document)
                and np.array_equal(first.positives, ranking.positives)
            ):
                group.append(place)
                break
        else:
            candidates.append([place])
            groups.append(candidates[-1])
    return groups


def per_document(rankings: Sequence[Ranking], interpolated: Interpolation) -> list[FloatArray]:
    """Return average precision of each document alone by each ranking, float64, shape (D,)."""
    answer = [np.empty(0)] * len(rankings)
    for group in by_predictions(rankings):
        known: dict[bytes, FloatArray] = {}
        for place in group:
            hit = rankings[place].hit.tobytes()
            if hit not in known:
                known[hit] = rankings[place].per_document(interpolated)
            answer[place] = known[hit]
    return answer


@dataclass(frozen=True, eq=False)
class _Short:
    """The predictions of one label whose curves are resampled exactly, for T thresholds at once.

    `documents`: codes of the N that have a box, rising. `document`: row in these of each prediction, by rank. `hits`:
    places of the true positives, each set once. `at`: shape (T,), which set each threshold has. `positives`: shape
    (N,).
    """

    documents: IntArray
    document: IntArray
    hits: tuple[IntArray, ...]
    at: IntArray
    positives: IntArray
    interpolated: Interpolation

    def average(self, by_document: Shares) -> FloatArray:
        """Return average precision of each resample, float64, shape (T, R).

        `by_document` is how often each document occurs in each resample, float32, shape (D, R).
        """
        drawn = by_document[self.documents].astype(np.float64)
        positives = np.rint(self.positives @ drawn).astype(np.int64)
        ranked = np.cumsum(drawn[self.document], axis=0)
        # Where none is drawn yet nothing is found either: 0 / 1.
        np.maximum(ranked, 1.0, out=ranked)
        known = np.unique(np.maximum(positives, 1), return_inverse=True)
        areas = np.array([self._area(hits, drawn, ranked, *known) for hits in self.hits])
        return np.where(positives > 0, areas[self.at], np.nan)

    def _area(
        self, hits: IntArray, drawn: FloatArray, ranked: FloatArray, known: IntArray, row: IntArray
    ) -> FloatArray:
        """Return the area under each curve, shape (R,), from the last true positive to the first."""
        area, best, precision = np.zeros((3, len(row)))
        owner = self.document[hits]
        upto = np.bincount(owner, minlength=len(drawn)) @ drawn
        # What is reached follows from two small numbers: looked up, in a table that begins anew for each of one.
        width = int(upto.max(initial=0.0)) + 1
        known = known[:, None]
        table = np.asarray(self.interpolated(np.minimum(np.arange(width), known), known), dtype=np.float64)
        # Nothing is reached before the first true positive, whatever an interpolation makes of a recall of 0.
        table[:, 0] = 0.0
        table = table.ravel()
        cell = row * width + upto.astype(np.int64)
        steps = drawn.astype(np.int64)
        reached = table[cell]
        for rank, of in zip(hits[::-1].tolist(), owner[::-1].tolist(), strict=True):
            np.divide(upto, ranked[rank], out=precision)
            np.maximum(best, precision, out=best)
            upto -= drawn[of]
            cell -= steps[of]
            before = table.take(cell)
            area += best * (reached - before)
            reached = before
        return area


def _short(rankings: Sequence[Ranking], interpolated: Interpolation) -> _Short:
    document, positives = rankings[0].document, rankings[0].positives
    documents = np.flatnonzero((np.bincount(document, minlength=len(positives)) > 0) | (positives > 0))
    places: dict[bytes, int] = {}
    at = [places.setdefault(ranking.hit.tobytes(), len(places)) for ranking in rankings]
    hits = tuple(np.flatnonzero(np.frombuffer(hit, dtype=np.bool_)) for hit in places)
    return _Short(
        documents, np.searchsorted(documents, document), hits, np.array(at), positives[documents], interpolated
    )


@dataclass(frozen=True, eq=False)
class _Stretches:
    """The predictions of one label by stretch of their ranking, for T thresholds at once; S stretches.

    `edges`: shape (S + 1,), where stretches begin, and the end. `counted`: bool, shape (1 + T, P), all predictions,
    then the true positives at each threshold; `counted_in`: shape (1 + T, D), their number by document. Of shape (S, T,
    1): `hits_after`, `ranked_after`: share of the true positives, and of all predictions, behind the place of the best
    precision; `level`, in [0, 1]: the mean interpolated precision over the true positives, between the best precision
    behind the stretch (0) and the best from its begin on (1). `exact`: shape (T,), with every document once; NaN
    without ground truth.
    """

    document: IntArray
    edges: IntArray
    counted: BoolArray
    counted_in: Shares
    hits_after: Shares
    ranked_after: Shares
    level: Shares
    positives: IntArray
    interpolated: Interpolation
    exact: FloatArray

    def average(self, drawn: Shares) -> FloatArray:
        """Return average precision of each resample, float64, shape (T, R).

        The followed curve, moved by what it misses of the exact one with all documents once, which is the last
        resample; for `drawn` see `followed`.
        """
        positives = np.rint(self.positives @ drawn.astype(np.float64)).astype(np.int64)
        followed = self.followed(drawn, np.maximum(positives, 1)).astype(np.float64)
        missed = self.exact - followed[:, -1]
        return np.where(positives > 0, np.clip(followed + missed[:, None], 0.0, 1.0), np.nan)

    def followed(self, drawn: Shares, positives: IntArray) -> Shares:
        """Return average precision along the stretches, shape (T, R), from the last stretch to the first.

        `drawn`: float32, shape (D, R), how often each document occurs in each resample. `positives`: int64, shape (R,),
        above 0, ground truth that is drawn. Counts in float32 are exact up to 2 ** 24.
        """
        upto = self.counted_in @ drawn
        inside = np.empty_like(upto)
        hits, positives = upto[1:], positives.astype(np.float32)
        reached = self.interpolated(hits, positives)
        area, best, precision, behind = np.zeros((4, *hits.shape), dtype=np.float32)
        for stretch in reversed(range(len(self.level))):
            here = slice(self.edges[stretch], self.edges[stretch + 1])
            np.matmul(self.counted[:, here].astype(np.float32), drawn.take(self.document[here], axis=0), out=inside)
            alone = here.stop - here.start == 1
            # Of one prediction alone the best precision is its own.
            ranked = upto[0] if alone else upto[0] - inside[0] * self.ranked_after[stretch]
            if not alone:
                np.multiply(inside[1:], self.hits_after[stretch], out=behind)
                np.subtract(hits, behind, out=precision)
            # Where none is drawn yet nothing is found either.
            np.divide(hits if alone else precision, np.maximum(ranked, np.float32(1e-6)), out=precision)
            if not alone:
                np.minimum(precision, 1.0, out=precision)
            np.maximum(precision, best, out=precision)
            upto -= inside
            before = self.interpolated(hits, positives) if stretch else np.zeros_like(reached)
            reached -= before
            if alone:
                reached *= precision
            else:
                np.subtract(precision, best, out=behind)
                behind *= self.level[stretch]
                behind += best
                reached *= behind
            area += reached
            best, precision, reached = precision, best, before
        return np.asarray(area, dtype=np.float32)


def _stretches(rankings: Sequence[Ranking], interpolated: Interpolation) -> _Stretches:
    document, positives = rankings[0].document, rankings[0].positives
    edges = _edges(len(document))
    hits = [ranking.hit for ranking in rankings]
    counted = np.stack([np.ones(len(document), dtype=np.bool_), *hits])
    shapes = zip(*(_shape(hit, edges) for hit in hits), strict=True)
    hits_after, ranked_after, level = (np.stack(columns, axis=1).astype(np.float32)[..., None] for columns in shapes)
    return _Stretches(
        document,
        edges,
        counted,
        np.stack([np.bincount(document[row], minlength=len(positives)) for row in counted]).astype(np.float32),
        hits_after,
        ranked_after,
        level,
        positives=positives,
        interpolated=interpolated,
        exact=np.array([ranking.average(interpolated) for ranking in rankings]),
    )


def _edges(predictions: int) -> IntArray:
    """Return where the stretches of a ranking begin, and its end: one prediction each at the top."""
    stretches = min(max(round(_STRETCHES_OF_ROOT * math.sqrt(predictions)), _FEWEST_STRETCHES), _MOST_STRETCHES)
    most = max(predictions // stretches, 1)
    edges = [0]
    while edges[-1] < predictions:
        edges.append(min(edges[-1] + min(max(edges[-1] // _STRETCHES_BEFORE, 1), most), predictions))
    return np.array(edges, dtype=np.int64)


def _shape(hit: BoolArray, edges: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `hits_after`, `ranked_after` and `level` of `_Stretches`: the curve inside of each stretch."""
    hits_so_far = np.cumsum(hit)
    precision = np.where(hit, hits_so_far / np.arange(1, len(hit) + 1), 0.0)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    start, stop = edges[:-1], edges[1:]
    size = stop - start
    stretch = np.repeat(np.arange(len(size)), size)
    hits = np.bincount(stretch, hit, minlength=len(size))
    top = np.maximum.reduceat(precision, start)
    # The first place in each stretch with its best precision; its end where it has no true positive.
    at = np.flatnonzero((precision == top[stretch]) & hit)
    at = at[np.unique(stretch[at], return_index=True)[1]]
    place = stop - 1
    place[stretch[at]] = at
    hits_after = (hits_so_far[stop - 1] - hits_so_far[place]) / np.maximum(hits, 1)
    behind = np.append(best, 0.0)[stop]
    rise = best[start] - behind
    mean = np.bincount(stretch, np.where(hit, best, 0.0), minlength=len(size)) / np.maximum(hits, 1)
    level = np.divide(mean - behind, rise, out=np.ones(len(size)), where=(rise > 0.0) & (hits > 0))
    return hits_after, (stop - 1 - place) / size, np.clip(level, 0.0, 1.0)
