"""`Measures` of any matching of boxes: the sums by document behind its ratios, and its rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.matching.box_results import ALL_LABELS, UNMATCHED, AnyBoxResult, BoxMatching
from evaluator.metrics.bootstrap_ap import Ranking
from evaluator.metrics.measures import Key, Means, Measures, Part, Ratios
from evaluator.metrics.results import RATIOS, Fit, MetricColumns

_FITS: Final[Mapping[str, Fit]] = {"mean_iou": "iou", "mean_coverage": "coverage", "mean_purity": "purity"}


def box_measures(result: AnyBoxResult, *more: Part, metrics: Sequence[str] = RATIOS) -> Measures:
    """Return what can be compared of a box matching: `RATIOS`, over all labels and per label.

    Only `metrics` are added up; `more` are further parts of the same documents, average precision for instance.
    """
    dataset, labels = result.matching.dataset, result.matching.labels
    documents = len(dataset.documents)
    pooled, every = result.per_document, result.per_document_and_label
    parts = []
    for metric in metrics:
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
    tp, fp, fn = (column.astype(np.float64) for column in (columns.tp, columns.fp, columns.fn))
    match metric:
        case "precision":
            return tp, tp + fp
        case "recall":
            return tp, tp + fn
        case "f1":
            return 2.0 * tp, 2.0 * tp + fp + fn
    return columns.fit_sum(_FITS[metric]), tp


class RankedLabel(NamedTuple):
    """The boxes of one label that count at one threshold, its predictions by falling score.

    `prediction`, `truth`: int64 rows, shape (P,) and (G,). `hit`, `found`: bool, which of these are matched.
    """

    prediction: IntArray
    hit: BoolArray
    truth: IntArray
    found: BoolArray


def ranked_labels(
    results: Iterable[AnyBoxResult], order: IntArray, ignored: Callable[[Any], IntArray]
) -> Iterator[list[RankedLabel]]:
    """Yield the ranked boxes of each scored label, by result.

    `order`: rows of the predictions by falling score. `ignored`: rows that are neither true nor false positives in a
    result. Results in which the same predictions count share their rows.
    """
    without: IntArray | None = None
    for result in results:
        matching = result.matching
        prediction, truth = matching.prediction, matching.dataset.ground_truth
        if without is None or not np.array_equal(without, ignored(result)):
            without = ignored(result)
            counts = matching.prediction_counts.copy()
            counts[without] = False
            rows = order[counts[order]]
            codes = matching.label_codes.tolist()
            of_label = [rows[prediction.label[rows] == code] for code in codes]
            counted = [np.flatnonzero(matching.truth_counts & (truth.label == code)) for code in codes]
        hit, matched = result.prediction_partner != UNMATCHED, result.truth_partner != UNMATCHED
        yield [
            RankedLabel(predicted, hit[predicted], true, matched[true])
            for predicted, true in zip(of_label, counted, strict=True)
        ]


def rankings(matching: BoxMatching, ranked: Iterable[RankedLabel]) -> tuple[Ranking, ...]:
    """Return the ranked boxes of labels by their documents."""
    truth, documents = matching.dataset.ground_truth, len(matching.dataset.documents)
    return tuple(
        Ranking(
            matching.prediction.document[one.prediction].astype(np.int64),
            one.hit,
            np.bincount(truth.document[one.truth], minlength=documents),
        )
        for one in ranked
    )


def joined_means(parts: Sequence[Means]) -> Means:
    """Return means of the same numbers as one part: a ranking is dear, so it is resampled once."""
    return Means(
        keys=tuple(key for part in parts for key in part.keys),
        values=np.concatenate([part.values for part in parts]),
        of=parts[0].of,
        members=tuple(rows for part in parts for rows in part.members),
    )


def steps_at(steps: Sequence[float], threshold: float) -> list[int]:
    """Return the places of a threshold among the steps."""
    return [row for row, value in enumerate(steps) if value == threshold]


def column(value: float | None) -> FloatArray:
    """Return one value as a column, float64, shape (1,); NaN for None."""
    return np.array([np.nan if value is None else value], dtype=np.float64)
