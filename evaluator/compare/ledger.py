"""The ledger: which of two models found each ground truth box, and which false positives they share.

``a`` is the baseline, ``b`` the candidate, both `BoxResult` of one ground truth. Rows are file order, codes those of
the results' datasets. Nothing is resampled here.

``gains`` are mistakes that only ``a`` makes (ground truth that only ``b`` finds, false positives of ``a`` alone),
``losses`` those that only ``b`` makes, and ``net = gains - losses`` = (hits of b - hits of a) - (false positives of b -
false positives of a): what both do falls out. ``net_found`` counts the ground truth alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import AnyArray, BoolArray, IntArray
from evaluator.data.dataset import CodeArray, Dataset, JoinedBoxes
from evaluator.data.order import order_by
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult, BoxMatching
from evaluator.matching.pairs import Candidates, greedy_rows, overlapping_pairs
from evaluator.metrics.results import count_by

BOTH, A_ONLY, B_ONLY, NEITHER = range(4)
OUTCOMES: Final = ("both", "a_only", "b_only", "neither")
"""The outcomes of a ground truth box, by code."""
NOT_COUNTED: Final = -1
"""Outcome of ground truth that takes no part: a label that is not scored, or a box that the filter leaves out."""

SHARED_IOU: Final = 0.5
"""From this IoU on, two false positives of one label are one false positive of both models."""

OutcomeArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class LedgerCounts:
    """Counts of boxes by outcome, as columns of one length R (labels, pages, documents, or one for all).

    `both`, `a_only`, `b_only` and `neither` count ground truth by who found it; `shared` false positives that both
    models have (one of each), `a_invents` and `b_invents` those of one model.
    """

    both: IntArray
    a_only: IntArray
    b_only: IntArray
    neither: IntArray
    shared: IntArray
    a_invents: IntArray
    b_invents: IntArray

    def __len__(self) -> int:
        return len(self.both)

    @cached_property
    def gains(self) -> IntArray:
        """Mistakes of ``a`` alone, int64, shape (R,): what only ``b`` finds, false positives of ``a`` alone."""
        return self.b_only + self.a_invents

    @cached_property
    def losses(self) -> IntArray:
        """Mistakes of ``b`` alone, int64, shape (R,): what only ``a`` finds, false positives of ``b`` alone."""
        return self.a_only + self.b_invents

    @cached_property
    def net(self) -> IntArray:
        """Return by how many mistakes ``b`` has fewer, int64, shape (R,); negative where it has more."""
        return self.gains - self.losses

    @cached_property
    def net_found(self) -> IntArray:
        """Return how many more ground truths ``b`` finds, int64, shape (R,); negative where it finds fewer."""
        return self.b_only - self.a_only

    @cached_property
    def changed(self) -> IntArray:
        """Boxes with which only one model is right or wrong, int64, shape (R,)."""
        return self.gains + self.losses

    def of(self, rows: Callable[[IntArray], IntArray]) -> LedgerCounts:
        """Return other rows, made of each column."""
        return LedgerCounts(*(rows(getattr(self, each.name)) for each in fields(self)))

    def rows(self, places: IntArray | slice = slice(None)) -> list[dict[str, int]]:
        """Return some rows as plain values: the four outcomes, then the false positives, then the net change."""
        columns = {
            **{name: getattr(self, name) for name in OUTCOMES},
            **{f"false_positives_{name}": column for name, column in self._false_positives.items()},
            "net": self.net,
        }
        values = zip(*(column[places].tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in values]

    def false_positives(self, index: int) -> dict[str, int]:
        """Return the false positives of one row by who has them: ``shared``, ``a_only``, ``b_only``."""
        return {name: int(column[index]) for name, column in self._false_positives.items()}

    @property
    def _false_positives(self) -> dict[str, IntArray]:
        return {"shared": self.shared, "a_only": self.a_invents, "b_only": self.b_invents}


@dataclass(frozen=True, eq=False)
class FalsePositives:
    """False positives of one model, as columns of one length F in file order.

    `row` is the row in the file of the predictions, `partner` the row of the other model's false positive of the same
    place, -1 where this model is alone; `side` has all predictions of the model.
    """

    row: IntArray
    partner: IntArray
    side: JoinedBoxes

    @cached_property
    def page(self) -> IntArray:
        """Row of each in the page columns of the dataset, int64, shape (F,)."""
        return self.side.page[self.row]

    @property
    def document(self) -> CodeArray:
        """Code of the document of each, int32, shape (F,)."""
        return self.side.document[self.row]

    @property
    def label(self) -> CodeArray:
        """Code of the label of each, int32, shape (F,)."""
        return self.side.label[self.row]

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def shared(self) -> BoolArray:
        """Return which of them the other model has too, bool, shape (F,)."""
        return np.asarray(self.partner != UNMATCHED)

    def take(self, rows: BoolArray) -> FalsePositives:
        """Return some of them."""
        return FalsePositives(self.row[rows], self.partner[rows], self.side)


@dataclass(frozen=True, eq=False)
class Ledger:
    """Two results of one ground truth, box by box; `labels` are those that are counted.

    `truth_outcome`, shape (G,), has a code into `OUTCOMES` for each ground truth, -1 for those that take no part.
    """

    dataset: Dataset
    labels: tuple[str, ...]
    truth_outcome: OutcomeArray
    a: FalsePositives
    b: FalsePositives

    @cached_property
    def total(self) -> LedgerCounts:
        """Return one row: everything."""
        return self.per_page.of(lambda column: column.sum(keepdims=True))

    @cached_property
    def per_label(self) -> LedgerCounts:
        """Return one row per label of `labels`."""
        dataset = self.dataset
        every = self._by(dataset.ground_truth.label, self.a.label, self.b.label, len(dataset.labels))
        rows = np.array([dataset.label_code[label] for label in self.labels], dtype=np.int64)
        return every.of(lambda column: column[rows])

    @cached_property
    def per_page(self) -> LedgerCounts:
        """Return one row per page of the dataset."""
        return self._by(self.dataset.ground_truth.page, self.a.page, self.b.page, self.dataset.pages)

    @cached_property
    def per_document(self) -> LedgerCounts:
        """Return one row per document of the dataset."""
        document, size = self.dataset.page_document.astype(np.int64), len(self.dataset.documents)
        return self.per_page.of(lambda column: count_by(document, column, size))

    def only(self, *, labels: Collection[str] | None = None, documents: Collection[str] | None = None) -> Ledger:
        """Return the ledger of some labels (names) and documents (ids); all of them when absent.

        Names that are not counted are passed over. Box rows keep their places; what is left out has no outcome.
        """
        dataset = self.dataset
        chosen = tuple(label for label in self.labels if labels is None or label in labels)
        keeps_label = np.array([label in chosen for label in dataset.labels], dtype=bool)
        keeps_document = np.array([documents is None or d.doc_id in documents for d in dataset.documents], dtype=bool)

        def kept(boxes: JoinedBoxes | FalsePositives) -> BoolArray:
            return np.asarray(keeps_label[boxes.label] & keeps_document[boxes.document])

        return replace(
            self,
            labels=chosen,
            truth_outcome=np.where(kept(dataset.ground_truth), self.truth_outcome, NOT_COUNTED).astype(np.int8),
            a=self.a.take(kept(self.a)),
            b=self.b.take(kept(self.b)),
        )

    @property
    def pages(self) -> IntArray:
        """Rows of all pages of the dataset, the largest net loss first, then the one with more changes."""
        return np.lexsort((-self.per_page.changed, self.per_page.net))

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return the counts of each label under the keys of the terminal contract, by label."""
        return dict(zip(self.labels, self.per_label.rows(), strict=True))

    def false_positives_json(self) -> dict[str, int]:
        """Return the false positives by who has them: ``shared``, ``a_only``, ``b_only``."""
        return self.total.false_positives(0)

    def documents_json(self) -> dict[str, dict[str, int]]:
        """Return the counts of each document by its id."""
        return {
            document.doc_id: counts
            for document, counts in zip(self.dataset.documents, self.per_document.rows(), strict=True)
        }

    def pages_json(self) -> list[dict[str, object]]:
        """Return the changed pages as plain values, the largest net loss first; pages from 0."""
        dataset, counts = self.dataset, self.per_page
        changed = self.pages[counts.changed[self.pages] > 0]
        columns = (dataset.page_document, dataset.page_index, counts.gains, counts.losses)
        return [
            {"document": dataset.documents[document].doc_id, "page": page, "gains": gains, "losses": losses, **row}
            for document, page, gains, losses, row in zip(
                *(column[changed].tolist() for column in columns), counts.rows(changed), strict=True
            )
        ]

    def _by(self, truth: AnyArray, a_code: AnyArray, b_code: AnyArray, size: int) -> LedgerCounts:
        """Return the counts per code; codes are one per ground truth and one per false positive of each model."""
        # One column more, in front, for what is not counted.
        width = 1 + len(OUTCOMES)
        cells = np.multiply(truth, width, dtype=np.int64)
        cells += self.truth_outcome
        cells -= NOT_COUNTED
        outcomes = np.bincount(cells, minlength=size * width).reshape(size, width)
        both, a_only, b_only, neither = outcomes.T[1:]
        shared = np.bincount(a_code[self.a.shared], minlength=size)
        return LedgerCounts(
            both=both,
            a_only=a_only,
            b_only=b_only,
            neither=neither,
            shared=shared,
            a_invents=np.bincount(a_code, minlength=size) - shared,
            b_invents=np.bincount(b_code[~self.b.shared], minlength=size),
        )


def ledger(a: AnyBoxResult, b: AnyBoxResult) -> Ledger:
    """Return the ledger of a baseline and a candidate of one `Dataset`, at one IoU threshold.

    Score thresholds may differ. ``both + a_only`` are the true positives of ``a``, ``b_only + neither`` its false
    negatives, ``shared + a_invents`` its false positives, and so for ``b``. `ValueError` for results of different
    datasets, thresholds, labels or ground truth that counts.

    Two false positives are shared when they have one label, one page and IoU >= 0.5 (inclusive, whatever the protocol's
    own threshold); pairs are taken one to one by falling IoU, ties by the corners of the boxes, so that neither the
    order of rows nor swapping the models changes a count.
    """
    _check_comparable(a, b)
    matching: BoxMatching = a.matching
    by_finders = np.array([NEITHER, B_ONLY, A_ONLY, BOTH], dtype=np.int8)
    of_a, of_b = (result.truth_matched.view(np.int8) for result in (a, b))
    outcome = by_finders[2 * of_a + of_b]
    shared_a, shared_b = _shared(a, b)
    return Ledger(
        dataset=matching.dataset,
        labels=matching.labels,
        truth_outcome=np.where(matching.truth_counts, outcome, np.int8(NOT_COUNTED)),
        a=_false_positives(a, shared_a, shared_b),
        b=_false_positives(b, shared_b, shared_a),
    )


def _check_comparable(a: AnyBoxResult, b: AnyBoxResult) -> None:
    if not _same(a.matching.dataset, b.matching.dataset):
        raise ValueError("two models are compared as predictions of one dataset; found two datasets")
    if a.iou != b.iou:
        raise ValueError(f"two models are compared at one IoU threshold; found {a.iou:g} and {b.iou:g}")
    if a.matching.labels != b.matching.labels:
        raise ValueError("two models are compared on the same labels; found different ones")
    if not np.array_equal(a.matching.truth_counts, b.matching.truth_counts):
        raise ValueError(
            "two models are compared on the same ground truth; found some that counts for one of them only, "
            "because only one of the files gives page sizes"
        )


def _same(one: Dataset, other: Dataset) -> bool:
    """Return whether two datasets have the same codes, as one joined again from the same files has."""
    return one is other or (
        one.documents == other.documents
        and one.labels == other.labels
        and np.array_equal(one.page_document, other.page_document)
        and np.array_equal(one.page_index, other.page_index)
        and np.array_equal(one.ground_truth.xyxy, other.ground_truth.xyxy)
    )


def _false_positives(result: AnyBoxResult, shared: IntArray, with_other: IntArray) -> FalsePositives:
    rows, prediction = result.false_positives, result.matching.prediction
    partner = np.full(len(prediction), UNMATCHED, dtype=np.int32)
    partner[shared] = with_other
    return FalsePositives(rows, partner[rows].astype(np.int64), prediction)


def _shared(a: AnyBoxResult, b: AnyBoxResult) -> tuple[IntArray, IntArray]:
    results = (a, b)
    rows = [_by_corners(result, result.false_positives) for result in results]
    content = [
        (len(some), _groups(result, some).tobytes(), result.matching.prediction.xyxy[some].tobytes())
        for result, some in zip(results, rows, strict=True)
    ]
    # Which side comes first decides ties; it must not depend on which model is the baseline.
    first = 0 if content[0] <= content[1] else 1
    ordered = [rows[first], rows[1 - first]]
    pairs = _overlapping((results[first], results[1 - first]), ordered)
    chosen = greedy_rows(pairs, len(ordered[0]), len(ordered[1]))
    shared = {first: ordered[0][pairs.ground_truth[chosen]], 1 - first: ordered[1][pairs.prediction[chosen]]}
    return shared[0], shared[1]


def _overlapping(results: tuple[AnyBoxResult, AnyBoxResult], rows: Sequence[IntArray]) -> Candidates:
    units = [result.matching.prediction.source.unit for result in results]
    if units[0] != units[1]:
        raise ValueError(f"boxes must have one unit; found {units[0]} and {units[1]}")
    (first, group), (second, other) = (
        (result.matching.prediction.xyxy[some], _groups(result, some))
        for result, some in zip(results, rows, strict=True)
    )
    return overlapping_pairs(first, group, second, other, iou_floor=SHARED_IOU)


def _groups(result: AnyBoxResult, rows: IntArray) -> IntArray:
    prediction = result.matching.prediction
    return np.asarray(prediction.page[rows] * len(result.matching.dataset.labels) + prediction.label[rows])


def _by_corners(result: AnyBoxResult, rows: IntArray) -> IntArray:
    x1, y1, x2, y2 = result.matching.prediction.xyxy[rows].T
    return rows[order_by([_groups(result, rows), x1, y1, x2, y2])]
