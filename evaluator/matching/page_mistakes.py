"""The mistakes of one page of a result, named by themselves, and which mistake each box of the page belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Side, box_key
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.error_types import NONE, Mistakes, name_mistakes
from evaluator.matching.page_rows import rows_on


@dataclass(frozen=True, eq=False, kw_only=True)
class PageMistakes:
    """Mistakes of one page.

    Rows of `mistakes` count on the page; `truth_rows` and `prediction_rows` are the rows of the files behind them.
    """

    mistakes: Mistakes
    truth_rows: IntArray
    prediction_rows: IntArray

    @cached_property
    def of_box(self) -> dict[str, int]:
        """Return the mistake whose name a box carries, by the box's key on the page (``g12``, ``p3``)."""
        sides: tuple[tuple[Side, IntArray, IntArray], ...] = (
            ("ground_truth", self.truth_rows, self.mistakes.of_truth),
            ("prediction", self.prediction_rows, self.mistakes.of_prediction),
        )
        return {
            box_key(side, row): mistake
            for side, rows, of in sides
            for row, mistake in zip(rows.tolist(), of.tolist(), strict=True)
            if mistake != NONE
        }

    def rows_of(self, mistake: int, side: Side) -> IntArray:
        """Return the rows of the file of a side that are boxes of a mistake."""
        if side == "ground_truth":
            return self.truth_rows[self.mistakes.truths_of(mistake)]
        return self.prediction_rows[self.mistakes.predictions_of(mistake)]


def page_mistakes(result: AnyBoxResult, page: int) -> PageMistakes:
    """Return the mistakes of a page (row of the dataset; none for -1), by name, then the boxes' rows."""
    pairs = result.matching.pairs
    truths, predictions = rows_on(result, page, None)
    partner = result.partners("ground_truth", truths)
    mistakes = name_mistakes(
        pairs.columns("ground_truth", truths),
        pairs.columns("prediction", predictions),
        np.where(partner == UNMATCHED, NONE, np.searchsorted(predictions, partner)),
        iou=result.iou,
    )
    return PageMistakes(mistakes=mistakes, truth_rows=truths, prediction_rows=predictions)
