"""The plan of a review for a project: its pages by name, in order, and the recall of each model.

Leads from suspects and the matching of a protocol to `planning`, which knows only counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.analysis.suspects.listing import Suspects
from evaluator.analysis.suspects.planning import LEVEL, SEED, Plan, plan
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Dataset
from evaluator.matching.box_results import UNMATCHED
from evaluator.metrics.results import ResultTable
from evaluator.protocols import AnyBoxProtocol
from evaluator.protocols.base import BoxOptions


@dataclass(frozen=True, eq=False)
class Review:
    """Which pages to review.

    `plans`: one per model, all with the same pages in the same order. `expected`: float64 (P,), the errors that the
    suspects promise on each page.
    """

    dataset: Dataset
    plans: tuple[Plan, ...]
    expected: FloatArray

    @property
    def pages(self) -> int:
        """How many pages are expected to do."""
        return self.plans[0].pages

    @property
    def sentence(self) -> str:
        """How much to review, in words."""
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
) -> Review:
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
    return Review(dataset, tuple(plans), expected)
