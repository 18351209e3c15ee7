"""What is odd about two sides of extracted fields, as warnings: the evaluation has a rule for each."""

from __future__ import annotations

from evaluator.data.fields import FieldDocuments, class_key, leaves, natural_order
from evaluator.data.issues import Collector, Issue, examples


def check_pair(ground_truth: FieldDocuments, prediction: FieldDocuments) -> tuple[Issue, ...]:
    """Return warnings about two sides of fields, each read without error; empty when all is well.

    Documents that only one side has, no class of field in common, boxes that look like pages on one side and like
    pixels on the other, and a single document, whose mAP means little.
    """
    collector = Collector(prediction.name, max_per_rule=None)
    if not (ground_truth.single and prediction.single):
        _pair_documents(ground_truth, prediction, collector)
    _pair_classes(ground_truth, prediction, collector)
    _pair_units(ground_truth, prediction, collector)
    if len(ground_truth) == len(prediction) == 1:
        rule = "mAP over one document is a quick check: a handful of fields means little (fields, single document)"
        collector.warning("", rule, "1 document", "Evaluate the whole test set for numbers to rely on.")
    return collector.issues()


def _pair_documents(ground_truth: FieldDocuments, prediction: FieldDocuments, collector: Collector) -> None:
    truths, predictions = set(ground_truth.documents), set(prediction.documents)
    for only, name, count_as in (
        (truths - predictions, ground_truth.name, "missed"),
        (predictions - truths, prediction.name, "spurious"),
    ):
        if only:
            rule = f"boxes of documents that only {name} has count as {count_as} (fields)"
            collector.warning(
                "",
                rule,
                examples(sorted(only, key=natural_order)),
                "Give both sides the same documents under the same ids.",
            )


def _pair_classes(ground_truth: FieldDocuments, prediction: FieldDocuments, collector: Collector) -> None:
    truths, predictions = (
        {class_key(path) for tree in side.documents.values() for path, _ in leaves(tree)}
        for side in (ground_truth, prediction)
    )
    if truths and predictions and not truths & predictions:
        rule = f"fields should have the same paths as in {ground_truth.name} (fields)"
        here, there = (examples(sorted(names, key=natural_order)) for names in (predictions, truths))
        names = f"{here}, where {ground_truth.name} has {there}"
        collector.warning("", rule, names, "Nothing can be paired; rename the fields of one side.")


def _pair_units(ground_truth: FieldDocuments, prediction: FieldDocuments, collector: Collector) -> None:
    largest = [
        max((max(field.box) for tree in side.documents.values() for _, field in leaves(tree) if field.box), default=0.0)
        for side in (ground_truth, prediction)
    ]
    if min(largest) > 0.0 and (largest[0] <= 1.0) != (largest[1] <= 1.0) and max(largest) > 2.0:
        rule = f"boxes should be in the unit of {ground_truth.name} (fields)"
        numbers = f"coordinates up to {largest[1]:g}, where {ground_truth.name} has up to {largest[0]:g}"
        collector.warning(
            "", rule, numbers, "One side looks like shares of the page, the other like pixels; convert one."
        )
