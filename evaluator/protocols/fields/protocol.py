"""Field bounding-box mAP as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from msgspec import Meta

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.fields import FieldDocuments, Schema
from evaluator.formats.fields import check_pair, read_schema
from evaluator.matching.box_measures import column, joined_means, steps_at
from evaluator.metrics.bootstrap_ap import Ranking, on_grid
from evaluator.metrics.exact_sums import ExactSums
from evaluator.metrics.item_ledger import ItemLedger
from evaluator.metrics.measures import Averages, Key, Means, Measures, Part, Ratios
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.observations import Observations
from evaluator.protocols.base import (
    Count,
    Evaluation,
    Labels,
    MinScore,
    Options,
    Protocol,
    ShardRunner,
    Thresholds,
    raise_on_errors,
)
from evaluator.protocols.fields.evaluation import (
    ALL_FIELDS,
    BELOW_THRESHOLD,
    IOU_THRESHOLDS,
    MISSED,
    MISSING_CONFIDENCE,
    NAME,
    RECALL,
    SPURIOUS,
    TRUE_POSITIVE,
    VERSION,
    FieldsResult,
    evaluate,
)
from evaluator.protocols.fields.ledger import FieldLedgers
from evaluator.protocols.fields.observations import MEASURES, observations


class FieldsOptions(Options, frozen=True, kw_only=True):
    """The options of field bounding-box mAP."""

    iou: Thresholds = ()
    min_score: MinScore = 0.0
    labels: Labels = None
    parity: Annotated[
        Literal["none", "stickler"], Meta(description="reproduce the pairing of the reference program.")
    ] = "none"
    recall_grid: Annotated[
        Literal["linspace", "decimal"] | None, Meta(description="how the 101 recall points are computed.")
    ] = None
    schema: Annotated[Path | None, Meta(description="JSON file that states how values are compared.")] = None


class OptionsWithSchema(FieldsOptions, frozen=True, kw_only=True):
    """The options with a schema that is read already, as the dashboard has it."""

    read: Schema | None = None


class FieldsProtocol(Protocol[FieldDocuments, FieldsOptions]):
    """Where extracted fields are found, and whether their confidence can be trusted; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = "Field bounding-box mAP"
    kind = "fields"
    options = FieldsOptions
    metrics: ClassVar[Mapping[str, Metric]] = {
        "precision": BOX_METRICS["precision"],
        "recall": BOX_METRICS["recall"],
        "mean_iou": BOX_METRICS["mean_iou"],
        "ap": Metric("AP", "ranks better", "ranks worse"),
        "mean_ap": Metric("mean AP", "ranks better", "ranks worse"),
        "map_50": Metric("mAP at 0.50", "ranks better", "ranks worse"),
        "map_75": Metric("mAP at 0.75", "ranks better", "ranks worse"),
        "ap_50": Metric("AP at 0.50", "ranks better", "ranks worse"),
        "ap_75": Metric("AP at 0.75", "ranks better", "ranks worse"),
        "value": Metric("right values", "reads more values right", "reads fewer values right"),
    }
    headline: ClassVar[tuple[str, ...]] = ("mean_ap",)
    views = ("fields", "slices", "findings")
    slice_measures = MEASURES

    def evaluate(
        self,
        truth: FieldDocuments,
        models: Sequence[FieldDocuments],
        options: FieldsOptions,
        count: Count | None = None,
        parts: ShardRunner | None = None,
    ) -> list[Evaluation]:
        """Return one comparison of fields for each model."""
        issues = [raise_on_errors(truth.issues, one.issues, check_pair(truth, one)) for one in models]
        schema = options.read if isinstance(options, OptionsWithSchema) else None
        if options.schema is not None:
            schema = read_schema(options.schema)
        results = (
            evaluate(
                truth,
                predicted,
                iou=options.iou or IOU_THRESHOLDS,
                schema=schema,
                parity=options.parity,
                recall_grid=options.recall_grid,
                min_score=options.min_score,
                labels=options.labels,
                parts=parts,
            )
            for predicted in models
        )
        return [
            Evaluation(result, (*of_pair, *result.own_issues(one.name)))
            for result, of_pair, one in zip(results, issues, models, strict=True)
        ]

    def evaluate_in_shards(
        self, truth: FieldDocuments, predicted: FieldDocuments, options: FieldsOptions, parts: ShardRunner
    ) -> Evaluation:
        """Return `evaluate` of one model, whose fields are compared by parts of the documents."""
        return self.evaluate(truth, [predicted], options, parts=parts)[0]

    def item_ledgers(self, a: FieldsResult, b: FieldsResult) -> tuple[ItemLedger, ...]:
        """Field by field, by box at the first threshold and by value."""
        return FieldLedgers(a, b).by_box_and_value(next(iter(a.iou), IOU_THRESHOLDS[0]))

    def observations(self, results: Sequence[FieldsResult], measure: str, *, scores: bool = False) -> Observations:
        """Return the fields behind a measure, boxes at the first threshold."""
        return observations(results, measure, next(iter(results[0].iou), IOU_THRESHOLDS[0]), scores=scores)

    def measures(self, result: FieldsResult) -> Measures:
        """Precision, recall and IoU of the boxes at the first threshold, and AP, over the classes and per class."""
        compared, steps = result.compared, list(dict.fromkeys(result.iou))
        names = [compared.classes[code] for code in result.boxed]
        parts: list[Part] = list(_field_boxes(result, steps[0] if steps else IOU_THRESHOLDS[0], names))
        if steps:
            every = Averages(
                keys=tuple(Key("", name) for name in names for _ in steps),
                values=result.average_precisions(steps)[list(result.boxed)].ravel(),
                rankings=tuple(_field_rankings(result, steps)),
                interpolated=on_grid(RECALL[result.recall_grid]),
                documents=len(compared.documents),
            )
            cells = np.arange(len(names) * len(steps)).reshape(len(names), len(steps))
            means = [_field_means(("mean_ap", "ap"), result.mean_ap, every, names, cells)]
            for threshold in (0.5, 0.75):
                for step in steps_at(steps, threshold):
                    name = f"{threshold:.2f}"[2:]
                    mean, column = result.map_at(threshold), cells[:, step : step + 1]
                    means.append(_field_means((f"map_{name}", f"ap_{name}"), mean, every, names, column))
            parts.append(joined_means(means))
        return Measures(compared.documents, ALL_FIELDS, tuple(parts))


PROTOCOL: Final = FieldsProtocol()


def _field_means(
    metrics: tuple[str, str], mean: float | None, every: Averages, names: Sequence[str], cells: IntArray
) -> Means:
    """AP as the mean over some thresholds: over the classes, and of each class, each under its name."""
    per_class = [float(every.values[row].mean()) for row in cells]
    return Means(
        keys=(Key(metrics[0], ALL_FIELDS), *(Key(metrics[1], name) for name in names)),
        values=np.append(column(mean), per_class),
        of=every,
        members=(cells.ravel(), *cells),
    )


def _field_boxes(result: FieldsResult, iou: float, names: Sequence[str]) -> Iterator[Part]:
    compared, boxed = result.compared, list(result.boxed)
    status = result.status(iou)
    hit, predicted = status == TRUE_POSITIVE, np.isin(status, _PREDICTED)
    truth = np.isin(status, _TRUTH)
    per_class, overall = result.per_class(iou), result.overall(iou)
    ones, mean_iou = np.ones(len(compared)), column(result.mean_iou_of_all)
    for metric, above, below, values in (
        ("precision", hit * ones, predicted * ones, np.append(overall.precision, per_class.precision[boxed])),
        ("recall", hit * ones, truth * ones, np.append(overall.recall, per_class.recall[boxed])),
        ("mean_iou", compared.iou * predicted, predicted * ones, np.append(mean_iou, result.mean_iou[boxed])),
    ):
        yield Ratios(
            keys=(Key(metric, ALL_FIELDS), *(Key(metric, name) for name in names)),
            values=values,
            numerator=_by_class(result, above),
            denominator=_by_class(result, below),
        )


_PREDICTED: Final = (TRUE_POSITIVE, BELOW_THRESHOLD, SPURIOUS)
_TRUTH: Final = (TRUE_POSITIVE, BELOW_THRESHOLD, MISSED)


def _by_class(result: FieldsResult, values: FloatArray) -> FloatArray:
    """Return sums by document over all classes and for each listed class, float64, shape (D, 1 + C)."""
    compared, size = result.compared, len(result.compared.classes)
    documents = len(compared.documents)
    sums = ExactSums.of(values, compared.document * size + compared.field_class, documents * size)
    of_all = sums.pooled(np.arange(documents).repeat(size), documents)
    return np.column_stack([of_all.total, sums.total.reshape(documents, size)[:, list(result.boxed)]])


def _field_rankings(result: FieldsResult, steps: Sequence[float]) -> Iterator[Ranking]:
    compared = result.compared
    documents = len(compared.documents)
    status = result.status(steps[0])
    score = np.where(np.isnan(compared.confidence), MISSING_CONFIDENCE, compared.confidence)
    order = compared.tie_order
    rows = order[np.isin(status[order], _PREDICTED)]
    rows = rows[np.argsort(-score[rows], kind="stable")]
    for code in result.boxed:
        ranked = rows[compared.field_class[rows] == code]
        truth = compared.document[np.isin(status, _TRUTH) & (compared.field_class == code)]
        positives = np.bincount(truth, minlength=documents)
        for threshold in steps:
            yield Ranking(compared.document[ranked], compared.iou[ranked] >= threshold, positives)
