"""How many pages to review, and which, until the recall on a right ground truth is known to so many points.

A stratified sample: pages are put into strata by the errors that the suspects promise, and drawn at random in each,
because a ranked list alone gives no bound. The pages of the data are the population. A reviewer looks at the *whole*
page, so that boxes which no model found are counted. What is estimated is how far the review changes the official
counts, in proportion to the promise of the pages (the ratio estimator of survey sampling).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects.listing import Suspects
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Dataset
from evaluator.matching.box_results import UNMATCHED
from evaluator.metrics.resampling import student_expansion
from evaluator.metrics.results import ResultTable
from evaluator.protocols import AnyBoxProtocol
from evaluator.protocols.base import BoxOptions

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
_EFFECT: Final = 0.4
"""Mean square of what the review of one wrong box adds to the error of the recall, in boxes, before any is seen."""
_ASSUMED: Final = 4.0
"""What was assumed before the review counts as so many wrong boxes."""
_LEVELLED: Final = 0.25
"""A stratum is taken to be like all of them as if so many wrong boxes of it had said so."""
_UNCHANGED: Final = 0.5
"""The recall is taken to be the official one as if so many wrong boxes had said so."""
_FREEDOM: Final = 6.0
_FREEDOM_OF_BOX: Final = 0.5
"""Degrees of freedom of the interval, to begin with and for each promised wrong box that was reviewed."""
_LEAST_OF_STRATUM: Final = 4
_MOST_SUMS: Final = 4_096
"""Beginnings of an order whose promise is kept, at most."""


class Counts(NamedTuple):
    """The ground truth boxes of a page, and how many of them are matched."""

    boxes: int
    matched: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Which pages to review, in this order, and how many of them are expected to do.

    By page: `boxes`, `matched`, official counts; `stratum`, rising with the promise; `promise`, wrong boxes expected,
    suspected or not, more than 0; `expected`, errors that the suspects promise. `order`: all pages; at every point the
    strata have about the share that serves the bound. `pages`: 0 when the official recall cannot be further off.
    """

    margin: float
    boxes: IntArray
    matched: IntArray
    stratum: IntArray
    promise: FloatArray
    order: IntArray
    expected: FloatArray
    pages: int
    # What beginnings of the order promise, by their length: it does not depend on what is matched.
    _sums: dict[int, _Promised] = field(default_factory=dict, repr=False)

    @property
    def official(self) -> float | None:
        """Return the recall on the ground truth as it is; None without boxes."""
        total = int(self.boxes.sum())
        return int(self.matched.sum()) / total if total else None


class Bound(NamedTuple):
    """What is known of the recall after some pages.

    `recall`: the estimate on a right ground truth, `half`: half width of its 95 % interval; None while too few pages
    are reviewed. `more`: how many more pages are expected to do; 0 when the margin is reached.
    """

    reviewed: int
    recall: float | None
    half: float | None
    more: int

    @property
    def done(self) -> bool:
        """Return whether the review may stop."""
        return self.more == 0


def plan(
    boxes: IntArray,
    matched: IntArray,
    expected: FloatArray,
    *,
    margin: float,
    seed: int = SEED,
    earlier: Plan | None = None,
) -> Plan:
    """Return the pages to review for a wanted margin, the half width of the interval.

    `expected`: sum of the probabilities of the suspects of each page. The same `seed` gives the same pages; the draw of
    an `earlier` plan with the same seed is taken over where its boxes and promises are equal. Neyman allocation: pages
    of each stratum in proportion to its size times the expected deviation. ValueError: a margin not between 0 and 1.
    """
    if not 0.0 < margin < 1.0:
        raise ValueError(f"the margin must be between 0 and 1; found {margin:g}")
    if earlier is None or not (np.array_equal(earlier.boxes, boxes) and np.array_equal(earlier.expected, expected)):
        stratum, promise, order = _draw(boxes, expected, seed)
        empty = Plan(margin, boxes, matched, stratum, promise, order, expected, 0)
    else:
        empty = replace(earlier, margin=margin, boxes=boxes, matched=matched, expected=expected, pages=0)
    return replace(empty, pages=_needed(empty, _official(empty)))


def _draw(boxes: IntArray, expected: FloatArray, seed: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Return `stratum`, `promise` and `order` of a `Plan`."""
    unsuspected = max(UNSUSPECTED, _BESIDE * float(expected.sum()) / max(float(boxes.sum()), 1.0))
    promise = expected + unsuspected * (boxes + _HIDDEN)
    order = np.argsort(promise, kind="stable")
    # Equal shares of the summed square root of the promise (Dalenius and Hodges).
    share = np.cumsum(np.sqrt(promise[order]))
    stratum = np.zeros(len(boxes), dtype=np.int64)
    if len(boxes):
        stratum[order] = np.minimum((share / share[-1] * STRATA - 1e-9).astype(np.int64), STRATA - 1)
    sizes = np.bincount(stratum, minlength=STRATA).astype(np.int64)
    means = np.bincount(stratum, promise, minlength=STRATA) / np.maximum(sizes, 1)
    weight = (sizes * np.sqrt(means)).astype(np.float64)
    return stratum, promise, _interleaved(stratum, sizes, weight, np.random.default_rng(seed))


def bound(planned: Plan, reviewed: Mapping[int, Counts]) -> Bound:
    """Return what is known of the recall after the review of some pages.

    `reviewed`: the counts of each reviewed page on its right ground truth, by row of the page. Only pages from the
    start of the order count, the others were not drawn. The interval is symmetrical around the estimate, and that of a
    review in the order of the plan which stops when the margin is reached.

    With S the change seen in a stratum, P its promise, M that of its reviewed pages, B the change for each promised
    wrong box of all strata and a small a, the change of its other pages is (P - M) (S + a B) / (M + a). Its variance is
    (P - M) (P + a) / (M + a) times that for each promised wrong box, from the residuals of the reviewed pages and a
    little of what was assumed, so that pages without an error do not prove that there are none. Student's t, because
    few wrong boxes were seen.
    """
    count, pages = _drawn(planned, reviewed), len(planned.boxes)
    least = min(LEAST_PAGES, pages)
    if count < least or not pages:
        return Bound(count, None, None, max(planned.pages, least) - count)
    known = _estimate(planned, reviewed, count)
    if known is None:
        return Bound(count, None, None, pages - count)
    half = _half(_promised(planned, count), known)
    if half <= planned.margin or count == pages:
        return Bound(count, known.recall, half, 0)
    return Bound(count, known.recall, half, max(_needed(planned, known) - count, 1))


class _Estimate(NamedTuple):
    total: float
    recall: float
    effect: float


class _Promised(NamedTuple):
    """The wrong boxes promised on the first pages of the order, and on the others, float64, (..., strata)."""

    reviewed: FloatArray
    left: FloatArray

    @property
    def levelled(self) -> FloatArray:
        """Return how much the rate of all strata adds to what is expected of the other pages."""
        return np.asarray((self.left * _LEVELLED / (self.reviewed + _LEVELLED)).sum(axis=-1))

    @property
    def rate_weight(self) -> FloatArray:
        """Return by what a change seen in all strata is multiplied to give its rate."""
        return np.asarray(1.0 / (self.reviewed.sum(axis=-1) + _UNCHANGED))


def _official(planned: Plan) -> _Estimate:
    return _Estimate(max(float(planned.boxes.sum()), 1.0), planned.official or 0.0, _EFFECT)


def _estimate(planned: Plan, reviewed: Mapping[int, Counts], count: int) -> _Estimate | None:
    """Return what the first pages of the order say; None when there would be no boxes."""
    rows = planned.order[:count]
    counts = np.array([reviewed[int(row)] for row in rows], dtype=np.float64)
    change_boxes, change_matched = counts[:, 0] - planned.boxes[rows], counts[:, 1] - planned.matched[rows]
    stratum, promised = planned.stratum[rows], _promised(planned, count)

    def rates(change: FloatArray) -> FloatArray:
        seen = np.bincount(stratum, change, minlength=STRATA)
        return np.asarray((seen + _LEVELLED * seen.sum() * promised.rate_weight) / (promised.reviewed + _LEVELLED))

    def whole(now: IntArray, change: FloatArray) -> float:
        """Return a sum over all pages on their right ground truth."""
        return float(now.sum()) + float(change.sum()) + float((promised.left * rates(change)).sum())

    total, matched = whole(planned.boxes, change_boxes), whole(planned.matched, change_matched)
    if total <= 0.0:
        return None
    recall = min(max(matched / total, 0.0), 1.0)
    residual = change_matched - recall * change_boxes
    residual -= rates(residual)[stratum] * planned.promise[rows]
    # The rate of a stratum fits its own pages: their residuals are too small by the share that they have in it.
    share = planned.promise[rows] / (promised.reviewed + _LEVELLED)[stratum]
    squares = float((residual**2 / (1.0 - share)).sum())
    effect = (squares + _ASSUMED * _EFFECT) / (float(promised.reviewed.sum()) + _ASSUMED)
    return _Estimate(total, recall, effect)


def _promised(planned: Plan, count: int) -> _Promised:
    known = planned._sums.get(count)
    if known is not None:
        return known
    first, others = planned.order[:count], planned.order[count:]
    reviewed, left = (
        np.bincount(planned.stratum[rows], planned.promise[rows], minlength=STRATA).astype(np.float64)
        for rows in (first, others)
    )
    if len(planned._sums) < _MOST_SUMS:
        planned._sums[count] = _Promised(reviewed, left)
    return _Promised(reviewed, left)


def _half(promised: _Promised, known: _Estimate) -> float:
    reviewed, left = promised
    own = left * (reviewed + left + _LEVELLED) / (reviewed + _LEVELLED)
    variance = known.effect * float(own.sum() + promised.levelled**2 * promised.rate_weight)
    quantile = student_expansion(LEVEL, _FREEDOM + _FREEDOM_OF_BOX * float(reviewed.sum()))
    return quantile * math.sqrt(variance) / known.total


class Course(NamedTuple):
    """How the half width of the interval falls with the number of reviewed pages.

    `seen`: pages and half width after them so far. `expected`: from now to beyond the margin.
    """

    seen: tuple[tuple[int, float], ...]
    expected: tuple[tuple[int, float], ...]


def course(planned: Plan, reviewed: Mapping[int, Counts]) -> Course:
    """Return the half width so far and as expected to go on, see `bound`; empty for no pages."""
    pages, count = len(planned.boxes), _drawn(planned, reviewed)
    least = min(LEAST_PAGES, pages)
    if not pages or not planned.boxes.any():
        return Course((), ())

    def half(known: _Estimate, after: int) -> float:
        return _half(_promised(planned, after), known)

    known = [(after, _estimate(planned, reviewed, after)) for after in _steps(least, count)]
    seen = tuple((after, half(each, after)) for after, each in known if each is not None)
    now = known[-1][1] if known else None
    now = now or _official(planned)
    end = min(pages, max(round(1.3 * _needed(planned, now)), count + 5, least + 5))
    return Course(seen, tuple((after, half(now, after)) for after in _steps(max(count, least), end)))


def _steps(first: int, last: int, *, most: int = 40) -> list[int]:
    """Return some whole numbers from the first to the last, both included; none when there are none."""
    if last < first:
        return []
    return sorted(set(np.linspace(first, last, min(most, last - first + 1)).round().astype(int).tolist()))


def _drawn(planned: Plan, reviewed: Mapping[int, Counts]) -> int:
    """Return how many pages from the start of the order are reviewed without a gap."""
    count = 0
    for row in planned.order.tolist():
        if row not in reviewed:
            break
        count += 1
    return count


def _needed(planned: Plan, known: _Estimate) -> int:
    """Return the pages that reach the margin, if wrong boxes differ as much as the estimate says."""
    pages = len(planned.boxes)
    low, high = min(LEAST_PAGES, pages), pages
    while low < high:
        middle = (low + high) // 2
        half = _half(_promised(planned, middle), known)
        low, high = (low, middle) if half <= planned.margin else (middle + 1, high)
    return low


def _interleaved(stratum: IntArray, sizes: IntArray, weight: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return all pages, random in their stratum, with the wanted shares in each beginning."""
    place = np.empty(len(stratum))
    first = rng.random(len(sizes))
    for code, size in enumerate(sizes.tolist()):
        rows = np.flatnonzero(stratum == code)
        turn = rng.permutation(size) + first[code]
        place[rows] = turn / max(weight[code] / max(weight.sum(), 1e-12), 1e-9)
        # Every stratum has its first pages early, whatever its weight.
        place[rows[turn < _LEAST_OF_STRATUM]] *= 1e-3
    return np.argsort(place, kind="stable").astype(np.int64)


# --- the plan for a dataset ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ReviewPlan:
    """Which pages to review.

    `plans`: one per model, all with the same pages in the same order. `expected`: float64 (P,), the errors that the
    suspects promise on each page.
    """

    dataset: Dataset
    plans: tuple[Plan, ...]
    expected: FloatArray

    @property
    def pages(self) -> int:
        """Return how many pages are expected to do."""
        return self.plans[0].pages

    @property
    def sentence(self) -> str:
        """Return how much to review, in words."""
        points = f"±{100.0 * self.plans[0].margin:g} points"
        return f"Review {self.pages:,} of {self.dataset.pages:,} pages to know recall to {points}"

    def to_json(self) -> dict[str, object]:
        """Return the plan as plain values."""
        dataset = self.dataset
        return {
            "margin": self.plans[0].margin,
            "level": LEVEL,
            "pages": self.pages,
            "of": dataset.pages,
            "models": [
                {"name": side.source.name, "recall": planned.official}
                for side, planned in zip(dataset.predictions, self.plans, strict=True)
            ],
            "queue": [
                {"document": document, "page": page, "boxes": boxes, "expected_errors": expected}
                for document, page, boxes, expected in self._queue()
            ],
        }

    def table(self, signature: str) -> ResultTable:
        """Return the pages to review as rows, in order, counted from 1."""
        columns = ("document", "page_no", "boxes", "expected_errors")
        rows = tuple((document, page + 1, boxes, errors) for document, page, boxes, errors in self._queue())
        return ResultTable(title=self.sentence, signature=signature, columns=columns, rows=rows)

    def _queue(self) -> list[tuple[str, int, int, float]]:
        dataset, first = self.dataset, self.plans[0]
        return [
            (
                dataset.documents[dataset.page_document[row]].doc_id,
                int(dataset.page_index[row]),
                int(first.boxes[row]),
                round(float(self.expected[row]), 4),
            )
            for row in first.order[: self.pages].tolist()
        ]


def review_plan(
    suspects: Suspects, protocol: AnyBoxProtocol, options: BoxOptions, *, margin: float, seed: int = SEED
) -> ReviewPlan:
    """Return the pages to review until the recall of each model is known to a margin.

    `protocol` decides what is matched, at its first IoU threshold or that of the options. `margin`: half width of the
    95 % interval. ValueError: a margin that is not between 0 and 1.
    """
    dataset = suspects.dataset
    pages, page = dataset.pages, dataset.ground_truth.page
    expected = np.bincount(suspects.ranked.page, suspects.ranked.score, minlength=pages).astype(np.float64)
    plans = []
    for model in range(len(dataset.predictions)):
        first = protocol.evaluate_model(dataset, model, options).first
        counts = first.matching.truth_counts
        boxes = np.bincount(page[counts], minlength=pages)
        matched = np.bincount(page[counts & (first.truth_partner != UNMATCHED)], minlength=pages)
        plans.append(plan(boxes, matched, expected, margin=margin, seed=seed))
    return ReviewPlan(dataset, tuple(plans), expected)
