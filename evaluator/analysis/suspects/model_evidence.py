"""What the models show at each ground truth box and beside it, before anything is weighed.

Boxes are in the unit of the files; rows are those of the columns that were given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects.noise_model import Jitter, jitter, score_bins
from evaluator.analysis.suspects.pairing import NOBODY, SAME_PLACE_IOU, Columns, partners, without_repeats
from evaluator.data.boxes import BoolArray, FloatArray, IntArray

_FEW: Final = 30
_UNKNOWN: Final = 0.1


class ModelEvidence(NamedTuple):
    """What one model shows at each of G ground truth boxes.

    At each box: `partner`, row of the prediction, `NOBODY` for none; `looked`, whether the model covers the page;
    `same`, whether labels agree; `label` of the prediction, else its own; `bin`, score bin of the partner, else 0.
    `covers`: bool (pages,). `bins`: score bin of each prediction. `alone`: predictions at no box, without repeats.
    """

    boxes: Columns
    partner: IntArray
    covers: BoolArray
    looked: BoolArray
    hit: BoolArray
    same: BoolArray
    label: IntArray
    bins: IntArray
    bin: IntArray
    jitter: Jitter
    alone: IntArray

    def at(self, rows: IntArray) -> ModelEvidence:
        """Return the same at some of the ground truth boxes."""
        columns = {name: getattr(self, name)[rows] for name in ("partner", "looked", "hit", "same", "label", "bin")}
        return self._replace(**columns, jitter=self.jitter.at(rows))


def model_evidence(
    truth: Columns, boxes: Columns, covers: BoolArray, page_size: FloatArray, *, labels: int
) -> ModelEvidence:
    """Return what a model shows at each ground truth box.

    `covers`: bool (pages,), the pages the model covers. `page_size`: float64 (pages, 2) in the unit of the boxes.
    """
    partner = partners(truth, boxes, iou_floor=SAME_PLACE_IOU)
    hit = partner != NOBODY
    label, bin_of, xyxy = truth.label.copy(), np.zeros(len(partner), dtype=np.int64), truth.xyxy.copy()
    bins = score_bins(boxes.score)
    paired = np.flatnonzero(hit)
    at = partner[paired]
    label[paired], bin_of[paired] = boxes.label[at], bins[at]
    xyxy[paired] = boxes.xyxy.take(at, axis=0)
    same = label == truth.label
    alone = np.ones(len(boxes.page), dtype=bool)
    alone[at] = False
    rows = np.flatnonzero(alone)
    return ModelEvidence(
        boxes=boxes,
        partner=partner,
        covers=covers,
        looked=covers[truth.page],
        hit=hit,
        same=same,
        label=label,
        bins=bins,
        bin=bin_of,
        jitter=jitter(
            truth.xyxy, xyxy, truth.label, page_size[truth.page], labels=labels, paired=hit & same, wanted=hit
        ),
        alone=rows[without_repeats(boxes.take(rows))],
    )


def dependence(seen: Sequence[ModelEvidence]) -> float:
    """Return how far two models err together, in [0, 1]; 0 for one model.

    The square of the correlation of their scores at the same objects, less what comes by chance: errors of the ground
    truth have no part in it. 0.1 without scores, or with fewer than 30 objects.
    """
    if len(seen) < 2:
        return 0.0
    first, second = seen
    rows = np.flatnonzero(first.hit & second.hit & first.same & second.same)
    a, b = first.bin[rows].astype(np.float64), second.bin[rows].astype(np.float64)
    if len(rows) < _FEW or not a.std() or not b.std():
        return _UNKNOWN
    square = float(np.corrcoef(a, b)[0, 1]) ** 2
    # So much comes by chance.
    return max(square - 4.0 / len(rows), 0.0)
