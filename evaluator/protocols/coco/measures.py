"""COCO as parts of `Measures`: the rankings behind its averages, and the averages, which are resampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import tee
from typing import Final

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.matching.box_items import SliceAverage
from evaluator.matching.box_measures import RankedLabel, column, joined_means, ranked_labels, steps_at
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.average_precision import RECALL_101
from evaluator.metrics.bootstrap_ap import on_grid
from evaluator.metrics.measures import Averages, Key, Means, Part, Ratios
from evaluator.protocols.coco.curves import MAX_DETECTIONS
from evaluator.protocols.coco.evaluation import CocoNumbers, CocoResult
from evaluator.protocols.coco.matching import MOST_DETECTIONS

_AT: Final[Mapping[str, float]] = {"AP50": 0.5, "AP75": 0.75}
_MOST: Final[Mapping[str, int]] = {f"AR{most}": most for most in MAX_DETECTIONS}


def ranked(result: CocoResult, average: SliceAverage) -> Iterator[list[RankedLabel]]:
    """Yield the boxes behind an average, by threshold, then by label; see `CocoProtocol.ranked`."""
    steps = [step for step in result.thresholds if average not in _AT or step == _AT[average]]
    matching = result.matching
    order, most = matching.pairs.order, _MOST.get(average, MOST_DETECTIONS)
    kept = np.zeros(len(matching.prediction), bool)
    kept[order] = matching.pairs.before < most
    at, again = tee(map(matching.at, steps))
    every = ranked_labels(at, order, lambda threshold: threshold.ignored)
    for result_at, ranked in zip(again, every, strict=True):
        yield ranked if most == MOST_DETECTIONS else [_first(one, kept, result_at.truth_partner) for one in ranked]


def _first(ranked: RankedLabel, kept: BoolArray, partner: IntArray) -> RankedLabel:
    """Return a label with some of the predictions alone: a box is found when its own is among them."""
    chosen = kept[ranked.prediction]
    own = ranked.found & kept[partner[ranked.truth]]
    return RankedLabel(ranked.prediction[chosen], ranked.hit[chosen], ranked.truth, own)


def averages(result: CocoNumbers) -> tuple[Part, ...]:
    """AP, AP50 and AP75 over all labels and per label, and AR100."""
    labels, steps = result.labels, result.iou
    size, documents = len(labels), len(result.documents)
    every = [*result.rankings()]
    hits = [np.bincount(one.document[one.hit], minlength=documents).astype(np.float64) for one in every]
    positives = [one.positives.astype(np.float64) for one in every]
    unnamed = tuple(Key("", label) for _ in steps for label in labels)
    precision = Averages(unnamed, result.columns.precision["all"].ravel(), tuple(every), on_grid(RECALL_101), documents)
    recall = Ratios(
        unnamed, result.columns.recall["all"].ravel(), _stacked(documents, hits), _stacked(documents, positives)
    )
    chosen = {"AP": range(len(steps)), **{name: steps_at(steps, threshold) for name, threshold in _AT.items()}}
    # One part for all of them: a ranking is dear, so it is resampled once.
    return (
        joined_means([_over_labels(name, result, precision, size, rows) for name, rows in chosen.items() if len(rows)]),
        _over_labels("AR100", result, recall, size, range(len(steps))),
    )


def _stacked(documents: int, columns: Sequence[FloatArray]) -> FloatArray:
    """Columns side by side, float64, shape (D, M)."""
    return np.column_stack(columns) if columns else np.empty((documents, 0))


def _over_labels(name: str, result: CocoNumbers, of: Part, size: int, steps: Sequence[int]) -> Means:
    per_label = [np.array([step * size + label for step in steps], dtype=np.int64) for label in range(size)]
    labels = result.labels
    values = [result.numbers[name], *(of_label[name] for of_label in result.per_label.values())]
    return Means(
        keys=(Key(name, ALL_LABELS), *(Key(name, label) for label in labels)),
        values=np.concatenate([column(value) for value in values]),
        of=of,
        members=(np.concatenate([np.empty(0, np.int64), *per_label]), *per_label),
    )
