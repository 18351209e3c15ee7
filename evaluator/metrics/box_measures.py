"""What can be compared of any matching of boxes: the sums by document behind its ratios, and its rankings.

Owns the way from a `BoxResult` to `Measures`. What a protocol reports besides, average precision for instance, it adds
as further parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.metrics.box_results import ALL_LABELS, UNMATCHED, AnyBoxResult
from evaluator.metrics.measures import Key, Means, Measures, Part, Ratios
from evaluator.metrics.ranked import Ranking
from evaluator.metrics.results import RATIOS, MetricColumns
from evaluator.model.boxes import FloatArray, IntArray


def box_measures(result: AnyBoxResult, *more: Part) -> Measures:
    """What can be compared of a result that matches boxes: the metrics of `RATIOS` over all labels and per label.

    `more` is what its protocol has besides, of the same documents.
    """
    dataset, labels = result.matching.dataset, result.matching.labels
    documents = len(dataset.documents)
    pooled, every = result.per_document, result.per_document_and_label
    parts = []
    for metric in RATIOS:
        numerator, denominator = _sums(metric, pooled)
        numerators, denominators = _sums(metric, every)
        parts.append(
            Ratios(
                keys=(Key(metric, ALL_LABELS), *(Key(metric, label) for label in labels)),
                values=np.append(getattr(result.micro, metric), getattr(result.per_label, metric)),
                numerator=np.column_stack([numerator, numerators.reshape(documents, len(labels))]),
                denominator=np.column_stack([denominator, denominators.reshape(documents, len(labels))]),
            )
        )
    return Measures(dataset.document_ids, ALL_LABELS, (*parts, *more))


def _sums(metric: str, columns: MetricColumns) -> tuple[FloatArray, FloatArray]:
    """What a metric divides by what, row by row."""
    tp, fp, fn = (column.astype(np.float64) for column in (columns.tp, columns.fp, columns.fn))
    fit = columns.fit_sums
    sums = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "f1": (2.0 * tp, 2.0 * tp + fp + fn),
        "mean_iou": (fit.iou, tp),
        "mean_coverage": (fit.coverage, tp),
        "mean_purity": (fit.purity, tp),
    }
    return sums[metric]


def rankings(result: AnyBoxResult, order: IntArray, ignored: IntArray) -> list[Ranking]:
    """The ranking of each scored label, in the order of ``result.matching.labels``.

    Parameters
    ----------
    order : int64
        Rows of the predictions by falling score.
    ignored : int64
        Rows of the predictions that are neither true nor false positives.
    """
    matching = result.matching
    dataset, prediction = matching.dataset, matching.prediction
    counts = matching.prediction_counts.copy()
    counts[ignored] = False
    order = order[counts[order]]
    hit = result.prediction_partner[order] != UNMATCHED
    label, document = prediction.label[order], prediction.document[order].astype(np.int64)
    truth = dataset.ground_truth
    ranked = []
    for name in matching.labels:
        code = dataset.labels.index(name)
        rows = label == code
        positives = truth.document[matching.truth_counts & (truth.label == code)]
        ranked.append(Ranking(document[rows], hit[rows], np.bincount(positives, minlength=len(dataset.documents))))
    return ranked


def joined_means(parts: Sequence[Means]) -> Means:
    """Means of the same numbers as one part: a ranking is dear, so it is resampled once."""
    return Means(
        keys=tuple(key for part in parts for key in part.keys),
        values=np.concatenate([part.values for part in parts]),
        of=parts[0].of,
        members=tuple(rows for part in parts for rows in part.members),
    )


def column(value: float | None) -> FloatArray:
    """One value as a column, float64, shape (1,); NaN for None."""
    return np.array([np.nan if value is None else value], dtype=np.float64)
