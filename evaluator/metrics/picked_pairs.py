"""Results that pick their matches out of pairs that are kept: one truth value for each pair says which of them match.

Owns `PickedPairs`, `PickedMatching` and `PickedResult`, which a protocol builds on when it keeps every pair that could
match, and `Tally`, which counts matches by any code and, at a new threshold, only those that changed. Which pairs match
the protocol decides. Rows are file order, codes are those of the `Dataset`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from evaluator.metrics.box_results import (
    UNMATCHED,
    BoxMatching,
    BoxPairs,
    BoxResult,
    MatchingT,
    at_least,
)
from evaluator.metrics.matching import Matches
from evaluator.metrics.results import MetricColumns, sum_by, sum_in_order
from evaluator.model.boxes import AnyArray, BoolArray, IntArray
from evaluator.model.dataset import Dataset, JoinedBoxes

# When more than this share of the pairs changed, all are counted.
_FEW_PAIRS: Final = 0.25


class Tally:
    """How many of some rows have each code; of another choice of rows only those are counted that were not as before.

    Parameters
    ----------
    code : integers from 0, shape (K,)
    size : int
        Above every code.

    Examples
    --------
    >>> tally = Tally(np.array([0, 1, 1]), 2)
    >>> tally.of(np.array([True, True, True])), tally.of(np.array([True, False, True]))
    (array([1, 2]), array([1, 1]))
    """

    def __init__(self, code: AnyArray, size: int) -> None:
        self._code, self._size = code, size
        # The rows that were counted last, and their counts.
        self._last: tuple[BoolArray, IntArray] | None = None

    def of(self, chosen: BoolArray) -> IntArray:
        """The counts of the chosen rows, bool, shape (K,); int64, shape (size,), to be read only."""
        last = self._last
        if last is not None and last[0] is chosen:
            return last[1]
        counts = self._counted(chosen) if last is None else self._moved(chosen, *last)
        counts.setflags(write=False)
        self._last = chosen, counts
        return counts

    def _moved(self, chosen: BoolArray, before: BoolArray, counts: IntArray) -> IntArray:
        rows = np.flatnonzero(chosen != before)
        if len(rows) > _FEW_PAIRS * len(chosen):
            return self._counted(chosen)
        come, code = chosen[rows], self._code[rows]
        return counts + np.bincount(code[come], minlength=self._size) - np.bincount(code[~come], minlength=self._size)

    def _counted(self, chosen: BoolArray) -> IntArray:
        return np.bincount(self._code[chosen], minlength=self._size)


class Partners:
    """Whom each box of a side matches; of another choice of pairs only the boxes change whose pairs do.

    Parameters
    ----------
    own, other : int64, shape (K,)
        Rows of the boxes of each pair on this side and on the other one.
    size : int
        How many boxes this side has.
    """

    def __init__(self, own: IntArray, other: IntArray, size: int) -> None:
        self._own, self._other, self._size = own, other, size
        self._last: tuple[BoolArray, IntArray] | None = None

    def of(self, taken: BoolArray) -> IntArray:
        """Row of the other side, int64, shape (size,), -1 for none, to be read only; `taken` are pairs that match."""
        last = self._last
        if last is None:
            partner, come = np.full(self._size, UNMATCHED, dtype=np.int64), np.flatnonzero(taken)
        else:
            moved, partner = np.flatnonzero(taken != last[0]), last[1].copy()
            come = moved[taken[moved]]
            partner[self._own[moved[~taken[moved]]]] = UNMATCHED
        partner[self._own[come]] = self._other[come]
        partner.setflags(write=False)
        self._last = taken, partner
        return partner


class BoxCounts(NamedTuple):
    """How many boxes of one side take part.

    Attributes
    ----------
    label : int64, shape (labels of the dataset,)
    page : int64, shape (pages of the dataset,)
    """

    label: IntArray
    page: IntArray

    @classmethod
    def of(cls, dataset: Dataset, side: JoinedBoxes, counts: BoolArray) -> BoxCounts:
        """The counts of the boxes of one side for which `counts` is set, bool, shape (N,)."""
        return cls.counted(dataset, side.label[counts], side.page[counts])

    @classmethod
    def counted(cls, dataset: Dataset, label: AnyArray, page: IntArray) -> BoxCounts:
        """The counts of boxes with these labels on these pages."""
        return cls(np.bincount(label, minlength=len(dataset.labels)), np.bincount(page, minlength=dataset.pages))


@dataclass(frozen=True, eq=False, kw_only=True)
class PickedPairs(BoxPairs[MatchingT], Generic[MatchingT]):
    """Every pair of one model that could match, with what tables need of them, looked up once for all thresholds."""

    @property
    @abstractmethod
    def fit(self) -> Matches:
        """The K pairs in the order of the answer, and how they fit."""

    @cached_property
    def label(self) -> IntArray:
        """Label of each pair, int64, shape (K,); both of its boxes have it."""
        return self.dataset.ground_truth.label[self.fit.ground_truth].astype(np.int64)

    @cached_property
    def page(self) -> IntArray:
        """Page of each pair, int64, shape (K,); both of its boxes are there."""
        return self.dataset.ground_truth.page[self.fit.ground_truth].astype(np.int64)

    @cached_property
    def truth_partners(self) -> Partners:
        """Whom each ground truth matches."""
        return Partners(self.fit.ground_truth, self.fit.prediction, len(self.dataset.ground_truth))

    @cached_property
    def prediction_partners(self) -> Partners:
        """Whom each prediction matches."""
        return Partners(self.fit.prediction, self.fit.ground_truth, len(self.prediction))

    @cached_property
    def truths(self) -> BoxCounts:
        """All ground truth."""
        truth = self.dataset.ground_truth
        return BoxCounts.counted(self.dataset, truth.label, truth.page)

    @cached_property
    def by_label(self) -> Tally:
        """Counts matches by their label."""
        return Tally(self.label, len(self.dataset.labels))

    @cached_property
    def by_page(self) -> Tally:
        """Counts matches by their page."""
        return Tally(self.page, self.dataset.pages)

    @cached_property
    def cell(self) -> IntArray:
        """Document and label of each pair as one number, ``document * labels + label``, int64, shape (K,)."""
        return self.document_and_label(self.dataset.ground_truth, self.fit.ground_truth)

    @cached_property
    def by_cell(self) -> Tally:
        """Counts matches by `cell`."""
        return Tally(self.cell, self.cells)

    @property
    def cells(self) -> int:
        """How many different `cell` there may be."""
        return len(self.dataset.documents) * len(self.dataset.labels)

    def document_and_label(self, side: JoinedBoxes, rows: IntArray) -> IntArray:
        """Document and label of some boxes as one number, int64; see `cell`."""
        return side.document[rows].astype(np.int64) * len(self.dataset.labels) + side.label[rows]

    @cached_property
    def truth_cells(self) -> IntArray:
        """How many ground truths there are of each `cell`, int64, shape (cells,)."""
        truth = self.dataset.ground_truth
        return self.counted_cells(truth, np.arange(len(truth)))

    def counted_cells(self, side: JoinedBoxes, rows: IntArray) -> IntArray:
        """How many of some boxes there are of each `cell`, int64, shape (cells,)."""
        return np.bincount(self.document_and_label(side, rows), minlength=self.cells)

    @cached_property
    def by_score(self) -> Tally:
        """Counts matches by `score_cells`."""
        return Tally(self.score_cells[self.fit.prediction].astype(np.int32), len(self.dataset.labels) * self.bins)

    @cached_property
    def by_step(self) -> Tally:
        """Counts matches by `step_cells`."""
        return Tally(self.step_cells[self.fit.prediction].astype(np.int32), self.step_count)


@dataclass(frozen=True, eq=False, kw_only=True)
class PickedMatching(BoxMatching):
    """The boxes of one model that take part, with how many there are of each label and on each page."""

    pairs: AnyPickedPairs

    @cached_property
    def truths(self) -> BoxCounts:
        """The ground truth that takes part."""
        if self.truth_counts.all():
            return self.pairs.truths
        return BoxCounts.of(self.dataset, self.dataset.ground_truth, self.truth_counts)

    @cached_property
    def predictions(self) -> BoxCounts:
        """The predictions that take part."""
        return BoxCounts.of(self.dataset, self.prediction, self.prediction_counts)

    @cached_property
    def truth_cells(self) -> IntArray:
        """How many ground truths take part by document and label; see `PickedPairs.cell`."""
        if self.truth_counts.all():
            return self.pairs.truth_cells
        return self.pairs.counted_cells(self.dataset.ground_truth, np.flatnonzero(self.truth_counts))

    @cached_property
    def prediction_cells(self) -> IntArray:
        """How many predictions take part by document and label."""
        return self.pairs.counted_cells(self.prediction, np.flatnonzero(self.prediction_counts))


PickedT = TypeVar("PickedT", bound=PickedMatching)


@dataclass(frozen=True, eq=False)
class PickedResult(BoxResult[PickedT]):
    """Everything that follows from which pairs match.

    Tables are counted over all pairs, those that do not match with a weight of 0: that asks for fewer passes over the
    pairs than picking the matches first, and adds up the same numbers in the same order.
    """

    @property
    @abstractmethod
    def taken(self) -> BoolArray:
        """Which of the pairs are true positives, bool, shape (K,)."""

    @cached_property
    def matches(self) -> Matches:
        """The true positives."""
        return self.matching.pairs.fit.take(np.flatnonzero(self.taken))

    @cached_property
    def matched_rows(self) -> tuple[IntArray, IntArray]:
        """Rows of the true positives, without how they fit."""
        fit, rows = self.matching.pairs.fit, np.flatnonzero(self.taken)
        return fit.prediction.take(rows), fit.ground_truth.take(rows)

    @cached_property
    def truth_partner(self) -> IntArray:
        """Row of the prediction that matched each ground truth, int64, shape (G,); -1 for none."""
        return self.matching.pairs.truth_partners.of(self.taken)

    @cached_property
    def prediction_partner(self) -> IntArray:
        """Row of the ground truth that each prediction matched, int64, shape (P,); -1 for none."""
        return self.matching.pairs.prediction_partners.of(self.taken)

    @property
    def predictions(self) -> BoxCounts:
        """The predictions that are true or false positives."""
        matching, counting = self.matching, self.counting_predictions
        if counting is matching.prediction_counts:
            return matching.predictions
        return BoxCounts.of(matching.dataset, matching.prediction, counting)

    @property
    def right_in_bins(self) -> IntArray:
        """See `BoxResult.right_in_bins`."""
        return self.matching.pairs.by_score.of(self.taken)

    @property
    def right_at_steps(self) -> IntArray:
        """See `BoxResult.right_at_steps`."""
        return at_least(self.matching.pairs.by_step.of(self.taken), len(self.matching.dataset.labels))

    @cached_property
    def micro(self) -> MetricColumns:
        """One row: all labels pooled."""
        matching, taken = self.matching, self.taken
        tp = np.array([np.count_nonzero(taken)])
        return MetricColumns(
            tp=tp,
            fp=np.count_nonzero(self.counting_predictions) - tp,
            fn=np.count_nonzero(matching.truth_counts) - tp,
            sum_of_fit=lambda name: sum_in_order(getattr(matching.pairs.fit, name), taken),
        )

    @cached_property
    def per_label(self) -> MetricColumns:
        """One row per label of ``matching.labels``, in that order."""
        matching, pairs, taken = self.matching, self.matching.pairs, self.taken
        tp, size = pairs.by_label.of(taken), len(matching.dataset.labels)
        return MetricColumns(
            tp=tp,
            fp=self.predictions.label - tp,
            fn=matching.truths.label - tp,
            sum_of_fit=lambda name: sum_by(pairs.label, getattr(pairs.fit, name) * taken, size),
        ).take(matching.label_codes)

    @cached_property
    def per_page(self) -> MetricColumns:
        """One row per page of the dataset."""
        matching, pairs, taken = self.matching, self.matching.pairs, self.taken
        tp, size = pairs.by_page.of(taken), matching.dataset.pages
        return MetricColumns(
            tp=tp,
            fp=self.predictions.page - tp,
            fn=matching.truths.page - tp,
            sum_of_fit=lambda name: sum_by(pairs.page, getattr(pairs.fit, name) * taken, size),
        )

    @cached_property
    def per_document(self) -> MetricColumns:
        """One row per document of the dataset."""
        size, labels = len(self.matching.dataset.documents), len(self.matching.dataset.labels)
        tp, fp, fn = (each.reshape(size, labels).sum(axis=1) for each in self._counts_by_cell)
        return MetricColumns(
            tp, fp, fn, sum_of_fit=lambda name: sum_by(self._match_document, getattr(self.matches, name), size)
        )

    @cached_property
    def per_document_and_label(self) -> MetricColumns:
        """One row per document of the dataset and label of ``matching.labels``: ``document * labels + label``."""
        dataset, pairs, taken = self.matching.dataset, self.matching.pairs, self.taken
        every = MetricColumns(
            *self._counts_by_cell,
            sum_of_fit=lambda name: sum_by(pairs.cell, getattr(pairs.fit, name) * taken, pairs.cells),
        )
        first = np.arange(len(dataset.documents), dtype=np.int64)[:, None] * len(dataset.labels)
        return every.take((first + self.matching.label_codes).ravel())

    @property
    def _counts_by_cell(self) -> tuple[IntArray, IntArray, IntArray]:
        """True positives, false positives and false negatives by document and label; see `PickedPairs.cell`."""
        matching, counting = self.matching, self.counting_predictions
        tp = matching.pairs.by_cell.of(self.taken)
        predictions = (
            matching.prediction_cells
            if counting is matching.prediction_counts
            else matching.pairs.counted_cells(matching.prediction, np.flatnonzero(counting))
        )
        return tp, predictions - tp, matching.truth_cells - tp


AnyPickedPairs = PickedPairs[Any]
