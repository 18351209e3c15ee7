"""Mistakes where only some pages differ from what was named before: those pages alone are named again.

Owns no rule. Each mistake is of one page, and what `document` does on a page follows from the boxes of that page, so
mistakes of the other pages stay, under another number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluator.metrics.error_types.document import Carriers, Mistakes, Touching, name_mistakes
from evaluator.metrics.error_types.names import NONE, BoxColumns
from evaluator.model.boxes import AnyArray, BoolArray, IntArray, Overlap
from evaluator.model.order import Joining, PageRows


class CountedBoxes(NamedTuple):
    """The boxes of one side, which of them take part, bool, shape (N,), and which are on which page."""

    boxes: BoxColumns
    counts: BoolArray
    by_page: PageRows

    def on(self, pages: BoolArray) -> tuple[IntArray, BoxColumns, BoolArray]:
        """Rows of the boxes on some pages, int64, rising, these boxes, and which of them take part."""
        rows = self.by_page.on(pages)
        boxes = BoxColumns(self.boxes.xyxy[rows], self.boxes.label[rows], self.boxes.page[rows])
        return rows, boxes, self.counts[rows]


def rename_mistakes(
    earlier: Mistakes,
    pages: BoolArray,
    truth: CountedBoxes,
    prediction: CountedBoxes,
    partner_of: Callable[[IntArray], IntArray],
    *,
    iou: float,
    touching: Touching,
    touching_by_page: PageRows,
) -> Mistakes:
    """The mistakes of boxes of which only some pages are not as they were.

    Parameters
    ----------
    earlier : Mistakes
        Of the same boxes, which may have matched and taken part otherwise on some pages.
    pages : bool, shape (pages,)
        The pages that may have changed: on all others each box has the partner that it had, takes part as it did, and
        no pair of `touching` has an IoU from the lower of the two thresholds up to the higher one, which is excluded.
    truth, prediction : CountedBoxes
        All boxes of the two files, compared without outlines.
    partner_of : callable
        Gives the row of the prediction that matched each of some ground truths, int64; -1 for none. It is asked for all
        those of `pages`, in rising rows.
    iou, touching
        As `name_mistakes` takes them.
    touching_by_page : PageRows
        Of `touching`.

    Returns
    -------
    Mistakes
        What `name_mistakes` gives.
    """
    of_truths, truths, truth_counts = truth.on(pages)
    of_predictions, predictions, prediction_counts = prediction.on(pages)
    places = [_places(of_truths, len(truth.boxes)), _places(of_predictions, len(prediction.boxes))]
    pairs = touching_by_page.on(pages)
    named = name_mistakes(
        truths,
        predictions,
        places[1][partner_of(of_truths)].astype(np.int64),
        iou=iou,
        truth_counts=truth_counts,
        prediction_counts=prediction_counts,
        touching=Touching(
            prediction=places[1][touching.prediction[pairs]],
            truth=places[0][touching.truth[pairs]],
            page=touching.page[pairs],
            fit=Overlap(*(column[pairs] for column in touching.fit)),
            iou=touching.iou,
        ),
    )
    own = replace(named, truth_rows=of_truths[named.truth_rows], prediction_rows=of_predictions[named.prediction_rows])
    return _joined(earlier, own, pages, of_truths, of_predictions)


def _places(rows: IntArray, size: int) -> AnyArray:
    """The place of each row among some, int32; of no meaning for the others, and -1 for the row -1."""
    places = np.empty(size + 1, dtype=np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    places[NONE] = NONE
    return places


def _joined(earlier: Mistakes, own: Mistakes, pages: BoolArray, truths: IntArray, predictions: IntArray) -> Mistakes:
    """The mistakes of the other pages as they were, and those of some pages that were named again.

    `own` has rows of all boxes, but its carriers are numbered among `truths` and `predictions`, the boxes of `pages`.
    """
    joining = Joining(earlier.page, own.page, pages)

    def column(name: str) -> AnyArray:
        return joining.column(getattr(earlier, name), getattr(own, name))

    def ragged(rows: str, offsets: str) -> tuple[IntArray, IntArray]:
        first, second = ((getattr(each, rows), getattr(each, offsets)) for each in (earlier, own))
        return joining.ragged(first, second)

    def carriers(first: Carriers, second: Carriers, rows: IntArray) -> Carriers:
        kept = joining.kept[first.mistake]
        old, new = first.rows[kept], rows[second.rows]
        place = np.searchsorted(old, new) + np.arange(len(new))
        stays = np.ones(len(old) + len(new), dtype=bool)
        stays[place] = False
        merged, mistake = np.empty(len(stays), dtype=np.int64), np.empty(len(stays), dtype=np.int64)
        merged[stays], mistake[stays] = old, joining.before[first.mistake[kept]]
        merged[place], mistake[place] = new, joining.after[second.mistake]
        return Carriers(merged, mistake, first.boxes)

    truth_rows, truth_offsets = ragged("truth_rows", "truth_offsets")
    prediction_rows, prediction_offsets = ragged("prediction_rows", "prediction_offsets")
    return Mistakes(
        kind=column("kind"),
        page=column("page"),
        label=column("label"),
        truth_offsets=truth_offsets,
        truth_rows=truth_rows,
        prediction_offsets=prediction_offsets,
        prediction_rows=prediction_rows,
        side=column("side"),
        share=column("share"),
        truth_carriers=carriers(earlier.truth_carriers, own.truth_carriers, truths),
        prediction_carriers=carriers(earlier.prediction_carriers, own.prediction_carriers, predictions),
    )
