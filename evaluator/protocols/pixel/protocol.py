"""Multi-label pixel confusion as one object: options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final

import msgspec
import numpy as np
from msgspec import Meta

from evaluator import formats
from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput, Collector, Issue
from evaluator.data.page_sizes import measured_issues, names_issue
from evaluator.metrics.item_ledger import ItemLedger
from evaluator.metrics.measures import Key, Means, Measures, Part, Ratios
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.observations import Observations
from evaluator.pdf.sizes import page_sizes
from evaluator.protocols.base import (
    Columns,
    Count,
    Evaluation,
    FormatName,
    Labels,
    LevelName,
    MapLabel,
    MinScore,
    Options,
    PageSize,
    Pdfs,
    Protocol,
    raise_on_errors,
)
from evaluator.protocols.pixel.evaluation import (
    ALL_CLASSES,
    NAME,
    PRESENT_CLASSES,
    VERSION,
    PixelResult,
    evaluate,
)
from evaluator.protocols.pixel.inputs import Classes, MissingPage, matrix_classes
from evaluator.protocols.pixel.ledger import page_ledger
from evaluator.protocols.pixel.matrix import VECTORS
from evaluator.protocols.pixel.observations import MEASURES, observations


class PixelOptions(Options, frozen=True, kw_only=True):
    """The options of pixel confusion."""

    min_score: MinScore = 0.0
    labels: Labels = None
    map_label: MapLabel = msgspec.field(default_factory=dict)
    format: FormatName = None
    columns: Columns = ""
    level: LevelName = None
    classes: Annotated[Classes, Meta(description="whether both sides have the same classes.")] = "auto"
    missing_page: Annotated[
        MissingPage, Meta(description="a page that one side lacks counts as background, or is left out.")
    ] = "penalize"
    page_size: PageSize = None
    pdfs: Pdfs = None
    exact: Annotated[bool, Meta(description="add the integer counts of label sets to the JSON.")] = False


class PixelProtocol(Protocol[Annotations, PixelOptions]):
    """Which pixels of one class are taken for another; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = "Multi-label pixel confusion"
    options = PixelOptions
    metrics: ClassVar[Mapping[str, Metric]] = {
        "precision": BOX_METRICS["precision"],
        "recall": BOX_METRICS["recall"],
        "f1": BOX_METRICS["f1"],
        "iou": Metric("pixel IoU", "agrees better", "agrees worse"),
        "pixel_precision": Metric("pixel precision", "marks fewer wrong pixels", "marks more wrong pixels"),
        "pixel_recall": Metric("pixel recall", "covers more", "covers less"),
    }
    headline: ClassVar[tuple[str, ...]] = ("iou",)
    views = ("pixel_confusion", "slices")
    slice_measures = MEASURES

    def reading(self, side: Side, options: PixelOptions) -> formats.Reading:
        """Return how one side is read: scores may be missing, so that two annotators can be compared."""
        return formats.Reading(format=options.format, columns=options.columns, level=options.level, unscored=True)

    def label_mapping(self, options: PixelOptions) -> Mapping[str, str]:
        """Return new names of labels by their old ones."""
        return options.map_label

    def evaluate(
        self,
        truth: Annotations,
        models: Sequence[Annotations],
        options: PixelOptions,
        count: Count | None = None,
    ) -> list[Evaluation]:
        """Return one count of pixels for each model."""
        refused: list[Issue] = []
        sizes = None if options.pdfs is None else page_sizes(truth, options.pdfs, count, refused=refused)
        refused += measured_issues(truth, sizes) if sizes else ()
        evaluations = []
        for predicted in models:
            resolved = formats.resolve(predicted, truth)
            try:
                result = evaluate(
                    truth,
                    resolved,
                    classes=options.classes,
                    missing_page=options.missing_page,
                    page_sizes=sizes,
                    page_size=options.page_size,
                    labels=options.labels,
                    min_score=options.min_score,
                    count=count,
                )
            except BadInput as problem:
                raise BadInput((*refused, *names_issue(truth, resolved), *problem.issues)) from problem
            result = replace(result, exact=options.exact)
            issues = raise_on_errors(
                truth.issues, resolved.issues, (*result.issues, *refused, *self.crowd_issues(truth))
            )
            evaluations.append(Evaluation(result, issues))
        return evaluations

    def prepare(
        self, truth: Annotations, predicted: Annotations, options: PixelOptions
    ) -> tuple[Annotations, tuple[Issue, ...]]:
        """Return a prediction that can be joined with its truth; ValueError where their classes differ."""
        resolved, issues = super().prepare(truth, predicted, options)
        unused = Collector(predicted.name, max_per_rule=None)
        classes = matrix_classes(
            truth, resolved, classes=options.classes, labels=options.labels, shared=(), issues=unused
        )
        if not classes.same:
            raise ValueError(
                f"the classes of {truth.name} and {predicted.name} differ, so their boxes cannot be compared; bring "
                "names together with --map-label, or give --classes same"
            )
        return resolved, issues

    def labels(self, result: PixelResult) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels that the two files know."""
        return result.dataset.ground_truth.source.labels, result.prediction.source.labels

    def item_ledgers(self, a: PixelResult, b: PixelResult) -> tuple[ItemLedger, ...]:
        """Return a ledger by page; empty where the two sides use different classes."""
        pages = page_ledger(a, b)
        return () if pages is None else (pages,)

    def observations(self, results: Sequence[PixelResult], measure: str, *, scores: bool = False) -> Observations:
        """Return the labels of each page; pixels have no score."""
        return observations(results, measure)

    def measures(self, result: PixelResult) -> Measures:
        """Return the class vectors and their means; documents weigh by their pixels, as in the protocol."""
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
                present = (Key(metric, PRESENT_CLASSES),)
                parts.append(Means((Key(metric, ALL_CLASSES),), whole.mean_all(metric), of, every, True))
                parts.append(Means(present, whole.mean_present(metric), of, every))
            parts.append(of)
        return Measures(result.dataset.document_ids, ALL_CLASSES, tuple(parts))


PROTOCOL: Final = PixelProtocol()
