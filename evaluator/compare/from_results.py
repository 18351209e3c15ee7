"""What each protocol's numbers are made of: from a result to its `Measures`.

Owns which metrics are compared under which protocol, and their sums by document. The values are those that the
protocol reports; only what happens to them when documents are resampled is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.metrics.average_precision import RECALL_101
from evaluator.metrics.box_results import ALL_LABELS, UNMATCHED, BoxResult
from evaluator.metrics.measures import Averages, Key, Means, Measures, Part, Ratios
from evaluator.metrics.ranked import Interpolation, Ranking, all_point, eleven_point, on_grid
from evaluator.metrics.results import RATIOS, MetricColumns, sum_by, weighted_mean
from evaluator.model.boxes import FloatArray, IntArray
from evaluator.model.dataset import Dataset
from evaluator.protocols import fields, pixel, pod, posters
from evaluator.protocols.coco.evaluation import CocoResult
from evaluator.protocols.fields.evaluation import BELOW_THRESHOLD, MISSED, SPURIOUS, TRUE_POSITIVE, FieldsResult
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.matrix import VECTORS
from evaluator.protocols.pod.evaluation import PodResult
from evaluator.protocols.posters.evaluation import PostersResult
from evaluator.protocols.snapshot.evaluation import SnapshotResult

ALL_POSTERS: Final = "All posters"

ProtocolResult = SnapshotResult | PodResult | CocoResult | PixelResult | FieldsResult | PostersResult


def box_result(result: ProtocolResult) -> BoxResult[Any] | None:
    """The result at the first IoU threshold, whose boxes the ledger counts; None for protocols without boxes."""
    if isinstance(result, SnapshotResult | PodResult | CocoResult):
        return list[BoxResult[Any]](result.thresholds.values())[0]
    return None


class LabelNames(NamedTuple):
    """The labels of the two files behind a result; empty for protocols without labelled boxes."""

    ground_truth: tuple[str, ...] = ()
    prediction: tuple[str, ...] = ()


def label_names(result: ProtocolResult) -> LabelNames:
    """The labels that the ground truth and the prediction of a result know."""
    if isinstance(result, FieldsResult | PostersResult):
        return LabelNames()
    owner = result if isinstance(result, PixelResult) else result.matching
    return LabelNames(owner.dataset.ground_truth.source.labels, owner.prediction.source.labels)


def measures(result: ProtocolResult) -> Measures:
    """Everything that can be compared of a result.

    Parameters
    ----------
    result : a protocol's result

    Returns
    -------
    Measures
        Precision, recall, F1 and the means of the fit at the first IoU threshold for protocols that match boxes;
        AP, AP50, AP75 and AR100 for coco, AP, mAP and mean F1 for pod; the class vectors and their means for pixel;
        AP and localisation for fields; the four criteria for posters.
    """
    if isinstance(result, PixelResult):
        return _pixel(result)
    if isinstance(result, FieldsResult):
        return _fields(result)
    if isinstance(result, PostersResult):
        return _posters(result)
    if isinstance(result, CocoResult):
        return box_measures(next(iter(result.thresholds.values())), *_coco(result))
    if isinstance(result, PodResult):
        first = next(iter(result.thresholds.values()))
        return box_measures(first, *_pod(first))
    return box_measures(next(iter(result.thresholds.values())))


def box_measures(result: BoxResult[Any], *more: Part) -> Measures:
    """What can be compared of any result that matches boxes.

    Parameters
    ----------
    result : BoxResult
    *more : Part
        What its protocol has besides, of the same documents.

    Returns
    -------
    Measures
        The metrics of `evaluator.metrics.results.RATIOS` over all labels and per label.
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
    return Measures(_ids(dataset), ALL_LABELS, (*parts, *more))


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


def _ids(dataset: Dataset) -> tuple[str, ...]:
    return tuple(document.doc_id for document in dataset.documents)


# --- average precision of boxes ------------------------------------------------------------------------------


def _rankings(result: BoxResult[Any], order: IntArray, ignored: IntArray) -> list[Ranking]:
    """The ranking of each scored label, from rows of the predictions by falling score."""
    matching = result.matching
    dataset, prediction = matching.dataset, matching.prediction
    counts = matching.prediction_counts.copy()
    counts[ignored] = False
    order = order[counts[order]]
    hit = result.prediction_partner[order] != UNMATCHED
    label, document = prediction.label[order], prediction.document[order].astype(np.int64)
    truth = dataset.ground_truth
    rankings = []
    for name in matching.labels:
        code = dataset.labels.index(name)
        rows = label == code
        positives = truth.document[matching.truth_counts & (truth.label == code)]
        rankings.append(Ranking(document[rows], hit[rows], np.bincount(positives, minlength=len(dataset.documents))))
    return rankings


def _pod(result: pod.ThresholdResult) -> tuple[Part, ...]:
    """AP of each label, and the means over the labels."""
    matching = result.matching
    labels = matching.labels
    everything = np.arange(len(labels))
    interpolated: Interpolation = eleven_point if matching.ap == "11-point" else all_point
    ap = Averages(
        keys=tuple(Key("ap", label) for label in labels),
        values=result.average_precision,
        rankings=tuple(_rankings(result, matching.order, np.flatnonzero(result.ignored))),
        interpolated=interpolated,
        documents=len(matching.dataset.documents),
    )
    f1 = box_measures(result).parts[RATIOS.index("f1")]
    # One part for the mean and what it is a mean of: a ranking is dear, so it is resampled once.
    return (
        Means(
            keys=(Key("map", ALL_LABELS), *ap.keys),
            values=np.append(_number(result.mean_average_precision), ap.values),
            of=ap,
            members=(everything, *everything[:, None]),
        ),
        Means((Key("mean_f1", ALL_LABELS),), _number(result.mean_f1), f1, (everything + 1,)),
    )


def _coco(result: CocoResult) -> tuple[Part, ...]:
    """AP, AP50 and AP75 over all labels and per label, and AR100."""
    labels, steps = result.matching.labels, list(result.thresholds)
    size = len(labels)
    documents = len(result.matching.dataset.documents)
    rankings: list[Ranking] = []
    found: list[FloatArray] = []
    positives: list[FloatArray] = []
    for threshold in result.thresholds.values():
        ranked = _rankings(threshold, result.matching.pairs.order, threshold.ignored)
        rankings += ranked
        found += [np.bincount(one.document[one.hit], minlength=documents).astype(np.float64) for one in ranked]
        positives += [one.positives.astype(np.float64) for one in ranked]
    unnamed = tuple(Key("", label) for _ in steps for label in labels)
    precision = Averages(
        unnamed, result.columns.precision["all"].ravel(), tuple(rankings), on_grid(RECALL_101), documents
    )
    recall = Ratios(
        unnamed, result.columns.recall["all"].ravel(), _stacked(documents, found), _stacked(documents, positives)
    )
    chosen = {"AP": range(len(steps)), "AP50": _where(steps, 0.5), "AP75": _where(steps, 0.75)}
    # One part for all of them: a ranking is dear, so it is resampled once.
    return (
        _together([_over_labels(name, result, precision, size, rows) for name, rows in chosen.items() if len(rows)]),
        _over_labels("AR100", result, recall, size, range(len(steps))),
    )


def _together(parts: Sequence[Means]) -> Means:
    """Means of the same numbers as one part."""
    return Means(
        keys=tuple(key for part in parts for key in part.keys),
        values=np.concatenate([part.values for part in parts]),
        of=parts[0].of,
        members=tuple(rows for part in parts for rows in part.members),
    )


def _stacked(documents: int, columns: Sequence[FloatArray]) -> FloatArray:
    """Columns side by side, float64, shape (D, M)."""
    return np.column_stack(columns) if columns else np.empty((documents, 0))


def _where(steps: Sequence[float], threshold: float) -> list[int]:
    return [row for row, value in enumerate(steps) if value == threshold]


def _over_labels(name: str, result: CocoResult, of: Part, size: int, steps: Sequence[int]) -> Means:
    """A number of COCO over all labels and per label, as the mean over some thresholds."""
    per_label = [np.array([step * size + label for step in steps], dtype=np.int64) for label in range(size)]
    labels = result.matching.labels
    values = [result.numbers[name], *(result.per_label[label][name] for label in labels)]
    return Means(
        keys=(Key(name, ALL_LABELS), *(Key(name, label) for label in labels)),
        values=np.concatenate([_number(value) for value in values]),
        of=of,
        members=(np.concatenate([np.empty(0, np.int64), *per_label]), *per_label),
    )


def _number(value: float | None) -> FloatArray:
    """One value as a column."""
    return np.array([np.nan if value is None else value], dtype=np.float64)


# --- protocols without a one-to-one matching of boxes ---------------------------------------------------------


def _pixel(result: PixelResult) -> Measures:
    """The class vectors and their means; documents weigh by their pixels, as in the protocol."""
    columns, whole, classes = result.per_document, result.whole, result.classes
    scaled = columns.matrices.scaled
    row, column = scaled.sum(axis=2), scaled.sum(axis=1)
    diagonal = np.diagonal(scaled, axis1=1, axis2=2)
    shared = columns.shared_pixels.astype(np.float64)
    first, second = columns.first_pixels.astype(np.float64), columns.second_pixels.astype(np.float64)
    sums = {
        "precision": (diagonal, column),
        "recall": (diagonal, row),
        "f1": (2.0 * diagonal, row + column),
        "iou": (shared, first + second - shared),
        "pixel_precision": (shared, second),
        "pixel_recall": (shared, first),
    }
    own = np.flatnonzero(result.comparable)
    names = tuple(classes[code] for code in own)
    parts: list[Part] = []
    for metric, (numerator, denominator) in sums.items():
        of = Ratios(
            keys=tuple(Key(metric, name) for name in names),
            values=getattr(whole, metric)[0, own],
            numerator=np.ascontiguousarray(numerator[:, own]),
            denominator=np.ascontiguousarray(denominator[:, own]),
        )
        if metric in VECTORS and result.same_classes:
            every = (np.arange(len(own)),)
            present = (Key(metric, pixel.PRESENT_CLASSES),)
            parts.append(Means((Key(metric, pixel.ALL_CLASSES),), whole.mean_all(metric), of, every, True))
            parts.append(Means(present, whole.mean_present(metric), of, every))
        parts.append(of)
    return Measures(_ids(result.dataset), pixel.ALL_CLASSES, tuple(parts))


def _fields(result: FieldsResult) -> Measures:
    """Precision, recall and IoU of the boxes at the first threshold, and AP, over the classes and per class."""
    compared, steps = result.compared, list(dict.fromkeys(result.iou))
    names = [compared.classes[code] for code in result.boxed]
    parts: list[Part] = list(_field_boxes(result, steps[0] if steps else fields.IOU_THRESHOLDS[0], names))
    if steps:
        every = Averages(
            keys=tuple(Key("", name) for name in names for _ in steps),
            values=result.average_precisions(steps)[list(result.boxed)].ravel(),
            rankings=tuple(_field_rankings(result, steps)),
            interpolated=on_grid(fields.RECALL[result.recall_grid]),
            documents=len(compared.documents),
        )
        cells = np.arange(len(names) * len(steps)).reshape(len(names), len(steps))
        means = [_field_means(("mean_ap", "ap"), result.mean_ap, every, names, cells)]
        for threshold in (0.5, 0.75):
            for step in _where(steps, threshold):
                name = f"{threshold:.2f}"[2:]
                mean, column = result.map_at(threshold), cells[:, step : step + 1]
                means.append(_field_means((f"map_{name}", f"ap_{name}"), mean, every, names, column))
        parts.append(_together(means))
    return Measures(compared.documents, fields.ALL_FIELDS, tuple(parts))


def _field_means(
    metrics: tuple[str, str], mean: float | None, every: Averages, names: Sequence[str], cells: IntArray
) -> Means:
    """AP as the mean over some thresholds: over the classes, and of each class, each under its name."""
    per_class = [float(every.values[row].mean()) for row in cells]
    return Means(
        keys=(Key(metrics[0], fields.ALL_FIELDS), *(Key(metrics[1], name) for name in names)),
        values=np.append(_number(mean), per_class),
        of=every,
        members=(cells.ravel(), *cells),
    )


def _field_boxes(result: FieldsResult, iou: float, names: Sequence[str]) -> Iterator[Part]:
    """Precision and recall at a threshold, and the mean IoU of the predicted boxes."""
    compared, boxed = result.compared, list(result.boxed)
    status = result.status(iou)
    hit, predicted = status == TRUE_POSITIVE, np.isin(status, _PREDICTED)
    truth = np.isin(status, _TRUTH)
    per_class, overall = result.per_class(iou), result.overall(iou)
    mean_iou = weighted_mean(result.mean_iou, result.num_detections.astype(np.float64))[0]
    ones = np.ones(len(compared))
    for metric, above, below, values in (
        ("precision", hit * ones, predicted * ones, np.append(overall.precision, per_class.precision[boxed])),
        ("recall", hit * ones, truth * ones, np.append(overall.recall, per_class.recall[boxed])),
        ("mean_iou", compared.iou * predicted, predicted * ones, np.append(_number(mean_iou), result.mean_iou[boxed])),
    ):
        yield Ratios(
            keys=(Key(metric, fields.ALL_FIELDS), *(Key(metric, name) for name in names)),
            values=values,
            numerator=_by_class(result, above),
            denominator=_by_class(result, below),
        )


_PREDICTED: Final = (TRUE_POSITIVE, BELOW_THRESHOLD, SPURIOUS)
_TRUTH: Final = (TRUE_POSITIVE, BELOW_THRESHOLD, MISSED)


def _by_class(result: FieldsResult, values: FloatArray) -> FloatArray:
    """Sums by document over all classes and for each listed class, float64, shape (D, 1 + C)."""
    compared, size = result.compared, len(result.compared.classes)
    cell = compared.document * size + compared.field_class
    # In canonical order, so that the order of files changes no digit.
    sums = sum_by(cell[compared.order], values[compared.order], len(compared.documents) * size)
    table = sums.reshape(len(compared.documents), size)
    return np.column_stack([table.sum(axis=1), table[:, list(result.boxed)]])


def _field_rankings(result: FieldsResult, steps: Sequence[float]) -> Iterator[Ranking]:
    """The ranking of each listed class at each threshold."""
    compared = result.compared
    documents = len(compared.documents)
    status = result.status(steps[0])
    score = np.where(np.isnan(compared.confidence), fields.MISSING_CONFIDENCE, compared.confidence)
    order = compared.arrival if compared.parity == "stickler" else compared.order
    rows = order[np.isin(status[order], _PREDICTED)]
    rows = rows[np.argsort(-score[rows], kind="stable")]
    for code in result.boxed:
        ranked = rows[compared.field_class[rows] == code]
        truth = compared.document[np.isin(status, _TRUTH) & (compared.field_class == code)]
        positives = np.bincount(truth, minlength=documents)
        for threshold in steps:
            yield Ranking(compared.document[ranked], compared.iou[ranked] >= threshold, positives)


def _posters(result: PostersResult) -> Measures:
    """The means of the four criteria over the posters where they are defined."""
    columns = np.column_stack([result.column(criterion) for criterion in posters.CRITERIA])
    known = ~np.isnan(columns)
    part = Ratios(
        keys=tuple(Key(criterion, ALL_POSTERS) for criterion in posters.CRITERIA),
        values=np.concatenate([_number(result.aggregate[name]) for name in posters.CRITERIA]),
        numerator=np.where(known, columns, 0.0),
        denominator=known.astype(np.float64),
    )
    return Measures(tuple(poster.poster_id for poster in result.posters), ALL_POSTERS, (part,))
