"""How many pages to review until the recall on a right ground truth is known to so many points, and which ones.

Owns the stratified sample and its bound. The pages of the data are the population; nothing is claimed about others.
Pages are put into strata by how many errors the suspects promise, and drawn at random in each: a ranked list alone
gives no bound, because nobody knows what is wrong on the pages that it leaves out. A reviewer looks at the *whole*
page, so that boxes which no model found are counted as well. Official counts are known on every page; what is estimated
is how far the review changes them (the difference estimator of survey sampling).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evaluator.model.boxes import FloatArray, IntArray

LEVEL: Final = 0.95
SEED: Final = 0
STRATA: Final = 4
LEAST_PAGES: Final = 20
"""No bound is given after fewer reviewed pages, unless there are no more."""
UNSUSPECTED: Final = 0.003
"""Share of wrong boxes among those that nothing speaks against, before anything is reviewed; at least."""
_BESIDE: Final = 0.1
"""Where many errors are suspected there are more that are not: at least so many for each of them."""
_HIDDEN: Final = 0.04
"""A page without boxes may lack one as if it had so many."""
_EFFECT: Final = 0.28
"""Mean square of what the review of one wrong box adds to the error of the recall, in boxes: many change nothing."""
_UNSEEN: Final = 0.5
"""So many wrong boxes are taken to have been overlooked by the draw in each stratum."""
_NORMAL: Final = 1.959963984540054
_LEAST_OF_STRATUM: Final = 4
# What was expected before the review counts as so many reviewed pages of each stratum, and no more.
_PRIOR_PAGES: Final = 2.0


class Counts(NamedTuple):
    """What a page has: boxes of the ground truth, and how many of them are matched."""

    boxes: int
    matched: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Which pages to review, in this order, and how many of them are expected to do.

    Attributes
    ----------
    margin : float
        The wanted half width of the interval.
    boxes, matched : int64, shape (P,)
        Official counts of each page.
    stratum : int64, shape (P,)
        Rising with the promise of errors.
    spread : float64, shape (strata,)
        Standard deviation of what a page of the stratum adds to the error of the recall, as expected, in boxes.
    order : int64, shape (P,)
        All pages in the order of the review: at every point the strata have about the share that serves the bound.
    pages : int
        How many are expected to do; 0 when the official recall cannot be further off.
    """

    margin: float
    boxes: IntArray
    matched: IntArray
    stratum: IntArray
    spread: FloatArray
    order: IntArray
    pages: int

    @property
    def official(self) -> float | None:
        """The recall on the ground truth as it is; None without boxes."""
        total = int(self.boxes.sum())
        return int(self.matched.sum()) / total if total else None


class Bound(NamedTuple):
    """What is known of the recall after some pages.

    Attributes
    ----------
    reviewed : int
    recall : float or None
        The estimate on a right ground truth; None while too few pages are reviewed.
    half : float or None
        Half width of its 95 % interval.
    more : int
        How many more pages are expected to do; 0 when the margin is reached.
    """

    reviewed: int
    recall: float | None
    half: float | None
    more: int

    @property
    def done(self) -> bool:
        """Whether the review may stop."""
        return self.more == 0


def plan(boxes: IntArray, matched: IntArray, expected: FloatArray, *, margin: float, seed: int = SEED) -> Plan:
    """The pages to review for a wanted margin.

    Parameters
    ----------
    boxes, matched : int64, shape (P,)
        Ground truth boxes of each page, and how many of them the model has.
    expected : float64, shape (P,)
        How many errors the suspects promise on each page: the sum of their probabilities.
    margin : float
        Half width of the interval, for instance 0.03.
    seed : int
        Of the draw; the same one gives the same pages.

    Raises
    ------
    ValueError
        For a margin that is not between 0 and 1.

    Notes
    -----
    Neyman allocation: pages of each stratum in proportion to its size times the expected deviation of its pages.
    """
    if not 0.0 < margin < 1.0:
        raise ValueError(f"the margin must be between 0 and 1; found {margin:g}")
    unsuspected = max(UNSUSPECTED, _BESIDE * float(expected.sum()) / max(float(boxes.sum()), 1.0))
    promise = expected + unsuspected * (boxes + _HIDDEN)
    order = np.argsort(promise, kind="stable")
    # Equal shares of the summed square root of the promise (Dalenius and Hodges).
    share = np.cumsum(np.sqrt(promise[order]))
    stratum = np.zeros(len(boxes), dtype=np.int64)
    if len(boxes):
        stratum[order] = np.minimum((share / share[-1] * STRATA - 1e-9).astype(np.int64), STRATA - 1)
    total = max(int(boxes.sum()), 1)
    sizes = np.bincount(stratum, minlength=STRATA).astype(np.int64)
    means = np.bincount(stratum, promise, minlength=STRATA) / np.maximum(sizes, 1)
    spread = np.sqrt(means * _EFFECT)
    ordered = _interleaved(stratum, sizes, (sizes * spread).astype(np.float64), np.random.default_rng(seed))
    empty = Plan(margin, boxes, matched, stratum, spread, ordered, 0)
    return Plan(margin, boxes, matched, stratum, spread, ordered, _needed(empty, spread, float(total)))


def bound(planned: Plan, reviewed: Mapping[int, Counts]) -> Bound:
    """What is known of the recall after the review of some pages.

    Parameters
    ----------
    reviewed : mapping of Counts
        The counts of each reviewed page on its right ground truth, by the row of the page. They must be the first ones
        of the order; others are left out, because they were not drawn.

    Returns
    -------
    Bound
        The interval is that of the stratified difference estimator. In a stratum of few pages what was expected of it
        counts beside what was seen, so that four pages without an error are no proof.
    """
    count, pages = _drawn(planned, reviewed), len(planned.boxes)
    least = min(LEAST_PAGES, pages)
    if count < least or not pages:
        return Bound(count, None, None, max(planned.pages, least) - count)
    known = _estimate(planned, reviewed, count)
    if known is None:
        return Bound(count, None, None, pages - count)
    sizes, drawn = _pages_of_strata(planned)
    half = _NORMAL * math.sqrt(_variance(sizes, drawn[count - 1], known.spread)) / known.total
    if half <= planned.margin or count == pages:
        return Bound(count, known.recall, half, 0)
    return Bound(count, known.recall, half, max(_needed(planned, known.spread, known.total) - count, 1))


class _Estimate(NamedTuple):
    """What some reviewed pages say.

    Attributes
    ----------
    total : float
        Boxes of the right ground truth.
    recall : float
    spread : float64, shape (strata,)
        Standard deviation of what a page of each stratum adds to the error.
    """

    total: float
    recall: float
    spread: FloatArray


def _estimate(planned: Plan, reviewed: Mapping[int, Counts], count: int) -> _Estimate | None:
    """What the first pages of the order say; None when there would be no boxes."""
    rows = planned.order[:count]
    counts = np.array([reviewed[int(row)] for row in rows], dtype=np.float64)
    change_boxes, change_matched = counts[:, 0] - planned.boxes[rows], counts[:, 1] - planned.matched[rows]
    stratum = planned.stratum[rows]
    sizes = np.bincount(planned.stratum, minlength=STRATA).astype(np.float64)
    drawn = np.bincount(stratum, minlength=STRATA).astype(np.float64)
    weight = np.divide(sizes, drawn, out=np.zeros(STRATA), where=drawn > 0)
    total = float(planned.boxes.sum()) + float((weight[stratum] * change_boxes).sum())
    matched = float(planned.matched.sum()) + float((weight[stratum] * change_matched).sum())
    if total <= 0.0:
        return None
    recall = min(max(matched / total, 0.0), 1.0)
    residual = change_matched - recall * change_boxes
    return _Estimate(total, recall, _spread(planned.spread, residual, stratum, drawn))


def _pages_of_strata(planned: Plan) -> tuple[FloatArray, FloatArray]:
    """Pages of each stratum, and of each beginning of the order, float64, shapes (strata,) and (P, strata)."""
    sizes = np.bincount(planned.stratum, minlength=STRATA).astype(np.float64)
    drawn = np.cumsum(planned.stratum[planned.order][:, None] == np.arange(STRATA), axis=0).astype(np.float64)
    return sizes, drawn


class Course(NamedTuple):
    """How the half width of the interval falls with the number of reviewed pages.

    Attributes
    ----------
    seen : tuple of (int, float)
        Pages and half width after them, as they were so far.
    expected : tuple of (int, float)
        From the present to beyond the page at which the margin is expected to be reached.
    """

    seen: tuple[tuple[int, float], ...]
    expected: tuple[tuple[int, float], ...]


def course(planned: Plan, reviewed: Mapping[int, Counts]) -> Course:
    """The half width so far, and as it is expected to go on; see `bound`.

    Returns
    -------
    Course
        Empty for no pages; nothing is seen before the first bound.
    """
    pages, count = len(planned.boxes), _drawn(planned, reviewed)
    least = min(LEAST_PAGES, pages)
    if not pages or not planned.boxes.any():
        return Course((), ())
    sizes, drawn = _pages_of_strata(planned)

    def half(known: _Estimate, after: int) -> float:
        return _NORMAL * math.sqrt(_variance(sizes, drawn[after - 1], known.spread)) / known.total

    known = [(after, _estimate(planned, reviewed, after)) for after in _steps(least, count)]
    seen = tuple((after, half(each, after)) for after, each in known if each is not None)
    now = known[-1][1] if known else None
    now = now or _Estimate(float(planned.boxes.sum()), 0.0, planned.spread)
    end = min(pages, max(round(1.3 * _needed(planned, now.spread, now.total)), count + 5, least + 5))
    return Course(seen, tuple((after, half(now, after)) for after in _steps(max(count, least), end)))


def _steps(first: int, last: int, *, most: int = 40) -> list[int]:
    """Some whole numbers from the first to the last, both included; none when there are none."""
    if last < first:
        return []
    return sorted(set(np.linspace(first, last, min(most, last - first + 1)).round().astype(int).tolist()))


def _drawn(planned: Plan, reviewed: Mapping[int, Counts]) -> int:
    """How many pages from the start of the order are reviewed without a gap."""
    count = 0
    for row in planned.order.tolist():
        if row not in reviewed:
            break
        count += 1
    return count


def _spread(expected: FloatArray, residual: FloatArray, stratum: IntArray, drawn: FloatArray) -> FloatArray:
    """Standard deviation of the pages of each stratum, from what was seen and a little of what was expected."""
    mean = np.bincount(stratum, residual, minlength=STRATA) / np.maximum(drawn, 1.0)
    squares = np.bincount(stratum, (residual - mean[stratum]) ** 2, minlength=STRATA)
    freedom = np.maximum(drawn - 1.0, 0.0)
    # Rare errors: many pages without one are no proof that there are none.
    squares += np.minimum(_UNSEEN * _EFFECT, 0.2 * drawn * expected**2)
    return np.asarray(np.sqrt((squares + _PRIOR_PAGES * expected**2) / (freedom + _PRIOR_PAGES)))


def _variance(sizes: FloatArray, drawn: FloatArray, spread: FloatArray) -> float:
    """Variance of a stratified total; a stratum without a page counts as if it had half a page."""
    pages = np.maximum(drawn, 0.5)
    return float((sizes**2 * np.maximum(1.0 - drawn / np.maximum(sizes, 1.0), 0.0) * spread**2 / pages).sum())


def _needed(planned: Plan, spread: FloatArray, total: float) -> int:
    """How many pages of the order reach the margin, if pages are as different as `spread` says."""
    pages = len(planned.boxes)
    sizes, drawn = _pages_of_strata(planned)
    low, high = min(LEAST_PAGES, pages), pages
    while low < high:
        middle = (low + high) // 2
        half = _NORMAL * math.sqrt(_variance(sizes, drawn[middle - 1], spread)) / total
        low, high = (low, middle) if half <= planned.margin else (middle + 1, high)
    return low


def _interleaved(stratum: IntArray, sizes: IntArray, weight: FloatArray, rng: np.random.Generator) -> IntArray:
    """All pages, at random within their stratum, so that each beginning of the order has the wanted shares."""
    place = np.empty(len(stratum))
    first = rng.random(len(sizes))
    for code, size in enumerate(sizes.tolist()):
        rows = np.flatnonzero(stratum == code)
        turn = rng.permutation(size) + first[code]
        place[rows] = turn / max(weight[code] / max(weight.sum(), 1e-12), 1e-9)
        # Every stratum has its first pages early, whatever its weight.
        place[rows[turn < _LEAST_OF_STRATUM]] *= 1e-3
    return np.argsort(place, kind="stable").astype(np.int64)
