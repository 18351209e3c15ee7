"""How models and labels behave where nothing is wrong, measured on the data itself.

Owns the small laws that evidence is weighed with: score bins, deviations of sides in units of their usual size, the
look of labels. Every law is a histogram or a robust scale with a few counts added, so that no event is impossible.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray

SCORE_BINS: Final = 16
_ADDED: Final = 1.0
"""Counts that are spread over the bins of each histogram."""
_ENOUGH: Final = 40
"""A label with fewer paired boxes has the scale of all labels."""
_NORMAL: Final = 1.4826
"""Standard deviation of a normal law over its median absolute deviation."""
_SMALLEST_SCALE: Final = 1e-3
_UNSEEN: Final = 0.01
_UNSEEN_ON_PAGE: Final = 0.0005
"""Deviations below these shares of the box and of the page are not seen; no scale is smaller."""
_BY_AXIS: Final = [0, 2, 1, 3]
"""Left, top, right, bottom as left, right, top, bottom, and back."""
_SAMPLE: Final = 6_000
"""So many boxes are enough for a scale or a quantile."""


def score_bins(score: FloatArray) -> IntArray:
    """Return the bin of each score, int64 in [0, `SCORE_BINS`), equally many in each; 0 without scores."""
    missing = np.isnan(score)
    known = score[~missing] if missing.any() else score
    if not len(known):
        return np.zeros(len(score), dtype=np.int64)
    edges = np.unique(quantiles(known[:: max(len(known) // _SAMPLE, 1)], SCORE_BINS))
    return binned(known_scores(score), edges)


def known_scores(score: FloatArray) -> FloatArray:
    """Return the scores, 0 where there is none."""
    return np.where(np.isnan(score), 0.0, score)


def log_sum(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return ``np.logaddexp`` of two finite columns, equal to the last digit or two.

    >>> np.exp(log_sum(np.log([1.0, 2.0]), np.log([3.0, 6.0]))).round(9)
    array([4., 8.])
    """
    # Several times faster than logaddexp, which takes one number at a time.
    return np.asarray(np.maximum(first, second) + np.log1p(np.exp(-np.abs(first - second))))


def log_total(values: FloatArray) -> FloatArray:
    """Return the log of the sum of exponentials of finite values along the first axis; see `log_sum`."""
    top = values.max(axis=0)
    return np.asarray(top + np.log(np.exp(values - top).sum(axis=0)))


def quantiles(values: FloatArray, parts: int) -> FloatArray:
    """Return the cuts of values into equal parts, float64, (parts - 1,), interpolated; needs a value."""
    ordered = np.sort(values)
    place = np.arange(1, parts) / parts * (len(ordered) - 1)
    before = place.astype(np.int64)
    low, high = ordered[before], ordered[np.minimum(before + 1, len(ordered) - 1)]
    return np.asarray(low + (high - low) * (place - before))


def binned(values: FloatArray, edges: FloatArray, *, above: bool = False) -> IntArray:
    """Return how many of some edges each value reaches, or with `above` exceeds, int64, shape (N,)."""
    # A few comparisons of a whole column take less time than a binary search for each value.
    bins = np.zeros(len(values), dtype=np.int8)
    for edge in edges.tolist():
        bins += (values > edge if above else values >= edge).view(np.int8)
    return bins.astype(np.int64)


def within(values: FloatArray, least: float, most: float) -> FloatArray:
    """Return the values clipped to a range."""
    # For short columns several times faster than numpy.clip.
    return np.minimum(np.maximum(values, least), most)


def histogram(
    bins: IntArray, size: int, weight: FloatArray | None = None, *, base: FloatArray | None = None
) -> FloatArray:
    """Return the shares of the bins with `base` counts added, float64, (size,), above 0; equal for no data."""
    counts = np.bincount(bins, weight, minlength=size) + _ADDED / size
    if base is not None:
        counts = counts + base
    return np.asarray(counts / counts.sum())


def rates(
    bins: IntArray, happened: FloatArray, weight: FloatArray, *, base: FloatArray, falling: bool = False
) -> FloatArray:
    """Return how often something happened in each bin, float64, in (0, 1).

    `base`: further cases of each bin in which it did not happen. With `falling` neighbours that rise are pooled. A bin
    is drawn to the overall rate with the weight of two observations.
    """
    total = np.bincount(bins, weight, minlength=len(base)) + base
    events = np.bincount(bins, weight * happened, minlength=len(base))
    overall = (events.sum() + 0.5) / (total.sum() + 1.0)
    events, total = events + 2.0 * overall, total + 2.0
    rate = _falling(events / total, total) if falling else events / total
    return within(rate, 1e-5, 1.0 - 1e-5)


def _falling(rate: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the nearest rates that never rise (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []
    for value, mass in zip(rate.tolist(), weight.tolist(), strict=True):
        block = (value, mass, 1)
        while blocks and blocks[-1][0] < block[0]:
            before = blocks.pop()
            mass_of_both = before[1] + block[1]
            mean = (before[0] * before[1] + block[0] * block[1]) / mass_of_both
            block = (mean, mass_of_both, before[2] + block[2])
        blocks.append(block)
    return np.array([value for value, _, count in blocks for _ in range(count)])


def surest_rate(bins: IntArray, happened: BoolArray) -> float:
    """Return how often something happens to the quarter of predictions with the highest scores, in [0, 1].

    These are the least often wrong, so what still happens to them estimates how often the ground truth is wrong.
    Without scores the share of all; 0 for no predictions.
    """
    surest = bins >= (SCORE_BINS * 3) // 4
    if not surest.any():
        surest = np.ones(len(bins), dtype=bool)
    return float(happened[surest].mean()) if len(bins) else 0.0


class Jitter(NamedTuple):
    """How the sides of a model's boxes usually differ from the ground truth.

    `z`: float64 (4, G), prediction minus ground truth of x1, y1, x2, y2, less the usual difference, in usual
    deviations; 0 without a partner. `scale`: float64 (4, G), the usual deviation in the unit of the boxes. `relative`:
    median of the usual deviation over the size of the box.
    """

    z: FloatArray
    scale: FloatArray
    relative: float

    def at(self, rows: IntArray) -> Jitter:
        """Return the same of some of the boxes."""
        return Jitter(self.z.take(rows, axis=1), self.scale.take(rows, axis=1), self.relative)


def jitter(
    truth: FloatArray,
    predicted: FloatArray,
    label: IntArray,
    page_size: FloatArray,
    *,
    labels: int,
    paired: BoolArray,
    wanted: BoolArray,
) -> Jitter:
    """Return how far predicted sides are from the ground truth, per label and side.

    Row i of `truth` is paired with row i of `predicted` where `wanted`; `paired` are the pairs to learn from.
    `page_size`: float64 (G, 2), of the page of each box. Sizes are the geometric mean of both boxes, so that neither is
    taken for right; the scale is the median absolute deviation, after what the size of the box explains.
    """
    truth, predicted = np.ascontiguousarray(truth.T), np.ascontiguousarray(predicted.T)
    sizes = np.sqrt(np.maximum((truth[2:] - truth[:2]) * (predicted[2:] - predicted[:2]), 1e-18))
    rows = np.flatnonzero(paired)
    rows = rows[:: max(len(rows) // _SAMPLE, 1)]
    if not len(rows):
        return Jitter(np.zeros_like(truth), np.ones_like(truth), 0.05)
    order = rows[np.argsort(label[rows], kind="stable")]
    bounds = np.searchsorted(label[order], np.arange(labels + 1))
    # Sides of one axis are two rows beside each other: left, right, top, bottom.
    deviation = (predicted - truth)[_BY_AXIS].take(order, axis=1).reshape(2, 2, -1)
    growth = np.empty_like(sizes)
    for axis, size in enumerate(sizes):
        sample = size[order]
        deviation[axis] /= sample
        curve = _by_size(sample, np.abs(deviation[axis]).max(axis=0))
        growth[axis] = _at(curve, size)
        deviation[axis] /= growth[axis, order]
    by_side = deviation.reshape(4, -1)
    middles, spreads = np.empty((labels, 4)), np.empty((labels, 4))
    enough = np.diff(bounds) >= _ENOUGH
    if not enough.all():
        middles[:], spreads[:] = _location(by_side)
    for code in np.flatnonzero(enough).tolist():
        middles[code], spreads[code] = _location(by_side[:, bounds[code] : bounds[code + 1]])
    middles, spreads = middles.T[_BY_AXIS], spreads.T[_BY_AXIS]
    unit = sizes * growth
    # What nobody sees is no deviation, however exact the models are.
    least = np.maximum(_UNSEEN * sizes, _UNSEEN_ON_PAGE * page_size.T)
    scale, z = np.empty_like(truth), np.empty_like(truth)
    for side in range(4):
        axis = side % 2
        np.maximum(unit[axis] * spreads[side, label], least[axis], out=scale[side])
        z[side] = (predicted[side] - truth[side] - unit[axis] * middles[side, label]) / scale[side]
    z[:, ~wanted] = 0.0
    some = order[::4]
    relative = scale.take(some, axis=1) / np.tile(sizes.take(some, axis=1), (2, 1))
    return Jitter(z, scale, float(_median(relative.ravel())))


def _at(curve: tuple[FloatArray, FloatArray], size: FloatArray) -> FloatArray:
    """Return how much bigger than usual deviations are at some sizes."""
    if len(curve[0]) == 1:
        return np.ones(len(size))
    return np.interp(np.log(size), *curve)


def _location(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median of each row, and the usual deviation from it."""
    middle = _median(values)
    return middle, np.maximum(_median(np.abs(values - middle[:, None])) * _NORMAL, _SMALLEST_SCALE)


def _median(values: FloatArray) -> FloatArray:
    # For many short columns several times faster than numpy.median.
    half = values.shape[-1] // 2
    ordered = values.copy()
    ordered.partition(half, axis=-1)
    return np.asarray(ordered[..., half])


def _by_size(size: FloatArray, deviation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logs of some sizes, and the usual deviation there over that of all; 1 for few boxes."""
    parts = min(len(size) // 200, 6)
    if parts < 2:
        return np.zeros(1), np.ones(1)
    order = np.argsort(size)
    pieces = np.array_split(deviation[order], parts)
    starts = np.cumsum([0, *(len(piece) for piece in pieces[:-1])])
    middles = starts + [len(piece) // 2 for piece in pieces]
    values = np.array([_median(piece) for piece in pieces])
    overall = max(float(_median(deviation)), _SMALLEST_SCALE)
    return np.log(size[order[middles]]), np.maximum(values / overall, 0.1)


class Looks(NamedTuple):
    """How boxes of each label look: width and height, and place on the page, as histograms.

    `edges`: bins of log width, log height, centre x and centre y. `table`: by size and by place, float64 (bins,
    labels), log of the share of a label's boxes in each cell over equal shares.
    """

    edges: tuple[FloatArray, ...]
    table: tuple[FloatArray, FloatArray]

    def cells(self, xyxy: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the cells of some boxes, int64, by size and by place."""
        bins = [binned(values, edges, above=True) for edges, values in zip(self.edges, _features(xyxy), strict=True)]
        by_size = bins[0] * (len(self.edges[1]) + 1) + bins[1]
        by_place = bins[2] * (len(self.edges[3]) + 1) + bins[3]
        return by_size, by_place

    def of(self, cells: tuple[IntArray, IntArray]) -> FloatArray:
        """Return the log density of each box under each label, float64, (N, labels); 0 is as anywhere."""
        return np.asarray(self.table[0][cells[0]] + self.table[1][cells[1]])

    def of_label(self, cells: tuple[IntArray, IntArray], label: IntArray) -> FloatArray:
        """Return the log density of each box under its given label, float64, shape (N,)."""
        return np.asarray(
            sum(table.ravel()[bins * table.shape[1] + label] for table, bins in zip(self.table, cells, strict=True))
        )

    def other(self, cells: tuple[IntArray, IntArray], weight: FloatArray) -> FloatArray:
        """Return the log density of each box among weighted boxes of any label, float64, shape (N,)."""
        density = np.zeros(len(cells[0]))
        for bins, table in zip(cells, self.table, strict=True):
            density += np.log(histogram(bins, len(table), weight) * len(table))[bins]
        return density


def _features(xyxy: FloatArray) -> tuple[FloatArray, ...]:
    # One column after the other: a loop over pairs of numbers is slow.
    x1, y1, x2, y2 = np.ascontiguousarray(xyxy.T)
    size = [np.log(np.maximum(high - low, 1e-9)) for low, high in ((x1, x2), (y1, y2))]
    return size[0], size[1], (x2 + x1) / 2.0, (y2 + y1) / 2.0


def looks(xyxy: FloatArray, label: IntArray, labels: int) -> Looks:
    """Return how boxes of each label look; the bins hold equally many of all boxes."""
    edges = []
    step = max(len(xyxy) // _SAMPLE, 1)
    bins = int(np.clip(np.sqrt(len(xyxy) / 200.0), 2, 10))
    for values, count in zip(_features(xyxy[::step]), (bins, bins, min(bins, 4), min(bins, 6)), strict=True):
        edges.append(quantiles(values, count) if len(values) else np.zeros(0))
    empty = Looks(tuple(edges), (np.zeros((0, 0)), np.zeros((0, 0))))
    tables = []
    for cells, (first, second) in zip(empty.cells(xyxy), ((0, 1), (2, 3)), strict=True):
        size = (len(edges[first]) + 1) * (len(edges[second]) + 1)
        counts = np.bincount(cells * labels + label, minlength=size * labels).reshape(size, labels).astype(np.float64)
        pooled = (counts.sum(axis=1) + 1.0) / (counts.sum() + size)
        # A label is drawn to how all labels look with the weight of twenty boxes.
        share = (counts + 20.0 * pooled[:, None]) / (counts.sum(axis=0) + 20.0)
        tables.append(np.log(share * size))
    return Looks(tuple(edges), (tables[0], tables[1]))


def neighbourhood(page: IntArray, top: FloatArray, label: IntArray, labels: int) -> FloatArray:
    """Return the log density of each box's neighbours under each label, float64, shape (N, labels).

    Boxes of a page are in the order of `top`, their upper edge. 0 where a label is as usual beside its neighbours as
    any; the ends of a page are neighbours of their own kind.
    """
    order = np.lexsort((top, page))
    own, place = label[order], page[order]
    same = place[1:] == place[:-1]
    density = np.zeros((len(label), labels))
    for beside, where in ((own[:-1], slice(1, None)), (own[1:], slice(None, -1))):
        neighbour = np.full(len(own), labels, dtype=np.int64)
        neighbour[where] = np.where(same, beside, labels)
        counts = np.bincount(neighbour * labels + own, minlength=(labels + 1) * labels)
        table = counts.reshape(labels + 1, labels).astype(np.float64)
        pooled = (table.sum(axis=1) + 1.0) / (table.sum() + labels + 1)
        # A label is drawn to how all labels are with the weight of twenty boxes.
        share = (table + 20.0 * pooled[:, None]) / (table.sum(axis=0) + 20.0)
        density += np.log(share / pooled[:, None])[neighbour]
    in_file_order = np.empty_like(density)
    in_file_order[order] = density
    return in_file_order
