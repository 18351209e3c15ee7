"""Mistakes where only some pages differ from what was named before: those pages alone are named again.

Owns no rule. Each mistake is of one page, and what `document` does on a page follows from the boxes of that page, so
mistakes of the other pages stay, under another number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, eq=False)
class RenamedMistakes:
    """Mistakes of which those of some pages were named again, and the others are what they were.

    Attributes
    ----------
    earlier : Mistakes
        Of the same boxes, which may have matched and taken part otherwise on `pages`.
    pages : bool, shape (pages,)
    own : Mistakes
        Those of `pages`, with rows of all boxes.
    """

    earlier: Mistakes
    pages: BoolArray
    own: Mistakes

    def joined(self) -> Mistakes:
        """All mistakes: what `name_mistakes` gives."""
        return _joined(self.earlier, self.own, self.pages)

    def followed_by(self, step: RenamedMistakes) -> RenamedMistakes:
        """The mistakes after some of `own`, and of other pages, were named once more; `step` is about `own`."""
        return RenamedMistakes(self.earlier, self.pages | step.pages, step.joined())

    def corrections(self, labels: int) -> IntArray:
        """Sum of the corrections of each label, int64, shape (labels,); see `Mistakes.corrections_per_label`."""
        earlier = self.earlier
        replaced = np.flatnonzero(self.pages[earlier.page])
        gone = np.bincount(earlier.label[replaced], weights=earlier.corrections[replaced], minlength=labels)
        return earlier.corrections_per_label(labels) - gone.astype(np.int64) + self.own.corrections_per_label(labels)


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
) -> RenamedMistakes:
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
    """
    of_truths, truths, truth_counts = truth.on(pages)
    of_predictions, predictions, prediction_counts = prediction.on(pages)
    partner = partner_of(of_truths)
    pairs = touching_by_page.on(pages)
    named = name_mistakes(
        truths,
        predictions,
        np.where(partner == NONE, NONE, np.searchsorted(of_predictions, partner)),
        iou=iou,
        truth_counts=truth_counts,
        prediction_counts=prediction_counts,
        touching=Touching(
            prediction=np.searchsorted(of_predictions, touching.prediction[pairs]).astype(np.int32),
            truth=np.searchsorted(of_truths, touching.truth[pairs]).astype(np.int32),
            page=touching.page[pairs],
            fit=Overlap(*(column[pairs] for column in touching.fit)),
            iou=touching.iou,
        ),
    )
    own = replace(
        named,
        truth_rows=of_truths[named.truth_rows],
        prediction_rows=of_predictions[named.prediction_rows],
        truth_carriers=named.truth_carriers.among(of_truths, len(truth.boxes)),
        prediction_carriers=named.prediction_carriers.among(of_predictions, len(prediction.boxes)),
    )
    return RenamedMistakes(earlier, pages, own)


def _joined(earlier: Mistakes, own: Mistakes, pages: BoolArray) -> Mistakes:
    """The mistakes of the other pages as they were, and those of some pages that were named again."""
    joining = Joining(earlier.page, own.page, pages)

    def column(name: str) -> AnyArray:
        return joining.column(getattr(earlier, name), getattr(own, name))

    def ragged(rows: str, offsets: str) -> tuple[IntArray, IntArray]:
        first, second = ((getattr(each, rows), getattr(each, offsets)) for each in (earlier, own))
        return joining.ragged(first, second)

    def carriers(first: Carriers, second: Carriers) -> Carriers:
        kept = joining.kept[first.mistake]
        old, new = first.rows[kept], second.rows
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
        truth_carriers=carriers(earlier.truth_carriers, own.truth_carriers),
        prediction_carriers=carriers(earlier.prediction_carriers, own.prediction_carriers),
    )
