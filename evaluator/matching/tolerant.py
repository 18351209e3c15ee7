"""A second score of boxes beside the strict one: where one object is in several boxes, or several in one, they count.

The strict pairs stay. A box of which most pieces on the other side are not paired, and together fit it, is one group
with them; a box is in one group at most. The score is never below the strict one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray, area, intersection
from evaluator.data.dataset import JoinedBoxes
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult, page_and_label
from evaluator.matching.pairs import overlapping_pairs
from evaluator.metrics.results import JsonObject

# Four times the shared area is at least three times that of the piece.
_PIECE: Final = (4.0, 3.0)
_FEWEST_PIECES: Final = 2
# Of any two boxes that share an area.
_LEAST_IOU: Final = 1e-12


class BoxGroup(NamedTuple):
    """A box and its pieces on the other side, in rows of the two files; `iou` is that of the box with all of them."""

    kind: Literal["split", "merge"]
    iou: float
    ground_truth: tuple[int, ...]
    predictions: tuple[int, ...]


@dataclass(frozen=True)
class Tolerant:
    """How many boxes of both sides are paired or in a group, and of how many."""

    groups: tuple[BoxGroup, ...]
    found: int
    truths: int
    right: int
    predicted: int

    @property
    def recall(self) -> float | None:
        """Return the share of the ground truth; None without any."""
        return self.found / self.truths if self.truths else None

    @property
    def precision(self) -> float | None:
        """Return the share of the predictions; None without any."""
        return self.right / self.predicted if self.predicted else None

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of both, 0 where either is 0 or undefined; None without any box."""
        if not self.truths and not self.predicted:
            return None
        recall, precision = self.recall or 0.0, self.precision or 0.0
        return 2.0 * recall * precision / (recall + precision) if recall and precision else 0.0


def tolerant(result: AnyBoxResult) -> Tolerant:
    """Return the tolerant score of the boxes that take part at the IoU threshold of a result."""
    matching = result.matching
    truth, prediction = matching.dataset.ground_truth, matching.prediction
    takes_part = matching.truth_counts, result.counting_predictions
    partners = result.truth_partner, result.prediction_partner
    first, second = (np.flatnonzero(counts) for counts in takes_part)
    keys = [page_and_label(matching.dataset, side) for side in (truth, prediction)]
    near = overlapping_pairs(
        truth.xyxy[first], keys[0][first], prediction.xyxy[second], keys[1][second], iou_floor=_LEAST_IOU
    )
    pairs = first[near.ground_truth], second[near.prediction]
    splits = _candidates("split", (truth, prediction), pairs, partners, result.iou)
    merges = _candidates("merge", (prediction, truth), pairs[::-1], partners[::-1], result.iou)
    groups: list[BoxGroup] = []
    grouped = [np.zeros(len(counts), dtype=bool) for counts in takes_part]
    for group in sorted([*splits, *merges], key=lambda group: -group.iou):
        members = [*group.ground_truth], [*group.predictions]
        if not any(own[rows].any() for own, rows in zip(grouped, members, strict=True)):
            groups.append(group)
            for own, rows in zip(grouped, members, strict=True):
                own[rows] = True
    of_truth, of_prediction = (
        int((own | (counts & (partner != UNMATCHED))).sum())
        for own, counts, partner in zip(grouped, takes_part, partners, strict=True)
    )
    return Tolerant(tuple(groups), of_truth, len(first), of_prediction, len(second))


def _candidates(
    kind: Literal["split", "merge"],
    sides: tuple[JoinedBoxes, JoinedBoxes],
    pairs: tuple[IntArray, IntArray],
    partners: tuple[IntArray, IntArray],
    iou: float,
) -> Iterator[BoxGroup]:
    """Yield the boxes of the first side with at least two pieces that reach the threshold together, by row."""
    whole, piece = pairs
    boxes, pieces = sides[0].xyxy[whole], sides[1].xyxy[piece]
    size = area(pieces)
    free = (partners[1][piece] == UNMATCHED) | (partners[1][piece] == whole)
    lies_in = free & (size > 0.0) & (_PIECE[0] * intersection(boxes, pieces) >= _PIECE[1] * size)
    order = np.lexsort((piece[lies_in], whole[lies_in]))
    whole, piece = whole[lies_in][order], piece[lies_in][order]
    owners, starts = np.unique(whole, return_index=True)
    for one, parts in zip(owners.tolist(), np.split(piece, starts[1:]) if len(owners) else (), strict=True):
        partner = partners[0][one]
        if len(parts) < _FEWEST_PIECES or (partner != UNMATCHED and partner not in parts):
            continue
        fits = _iou_with_union(sides[0].xyxy[one], sides[1].xyxy[parts])
        if fits >= iou:
            members = (one,), tuple(parts.tolist())
            yield BoxGroup(kind, fits, *(members if kind == "split" else members[::-1]))


def _iou_with_union(box: FloatArray, pieces: FloatArray) -> float:
    clipped = np.concatenate([np.maximum(pieces[:, :2], box[:2]), np.minimum(pieces[:, 2:], box[2:])], axis=1)
    shared = _union_area(clipped[(clipped[:, 2:] > clipped[:, :2]).all(axis=1)])
    return shared / (float(area(box[None])[0]) + _union_area(pieces) - shared)


def _union_area(boxes: FloatArray) -> float:
    """Return the area that boxes cover, what several cover once: strip by strip between their left and right edges."""
    boxes = boxes[np.argsort(boxes[:, 1], kind="stable")]
    edges = np.unique(boxes[:, [0, 2]])
    covered = 0.0
    for left, right in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        inside = boxes[(boxes[:, 0] <= left) & (boxes[:, 2] >= right)]
        if len(inside):
            bottom = np.maximum.accumulate(inside[:, 3])
            top = np.maximum(inside[1:, 1], bottom[:-1])
            covered += (right - left) * float(inside[0, 3] - inside[0, 1] + np.maximum(inside[1:, 3] - top, 0.0).sum())
    return covered


def tolerant_json(result: AnyBoxResult) -> JsonObject:
    """Return the tolerant score of a result as plain values; members of groups by their positions in the files."""
    score = tolerant(result)
    dataset, prediction = result.matching.dataset, result.matching.prediction
    truth = dataset.ground_truth
    groups = []
    for group in score.groups:
        first = group.ground_truth[0]
        page = truth.page[first]
        groups.append(
            {
                "kind": group.kind,
                "iou": group.iou,
                "document": dataset.document_ids[dataset.page_document[page]],
                "page": int(dataset.page_index[page]),
                "label": dataset.labels[truth.label[first]],
                "ground_truth": truth.source.boxes.position[[*group.ground_truth]].tolist(),
                "predictions": prediction.source.boxes.position[[*group.predictions]].tolist(),
            }
        )
    return {
        "found": score.found, "right": score.right, "precision": score.precision, "recall": score.recall,
        "f1": score.f1, "groups": groups,
    }  # fmt: skip
