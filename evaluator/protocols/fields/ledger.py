"""Two comparisons of fields with one ground truth, field by field: which fields which model has right.

Owns the two ways in which a field of the ground truth is right: its box has a match at a threshold, and its value is
right; and what is wrong with a field that only predictions have.
"""

from __future__ import annotations

import numpy as np

from evaluator.metrics.item_ledger import Item, ItemLedger, item_ledger
from evaluator.metrics.results import threshold_text
from evaluator.model.boxes import BoolArray, FloatArray
from evaluator.model.fields import natural_order
from evaluator.protocols.fields.drill_down import problems
from evaluator.protocols.fields.evaluation import SPURIOUS, TRUE_POSITIVE, FieldsResult

EVERYTHING = "All fields"
BY_BOX, BY_VALUE, BY_BOTH = "box", "value", "box and value"


def field_ledgers(a: FieldsResult, b: FieldsResult, iou: float) -> tuple[ItemLedger, ItemLedger]:
    """The ledgers of fields, by box and by value.

    Parameters
    ----------
    a, b : FieldsResult
        Of two predictions against one ground truth.
    iou : float
        Threshold of the boxes, in (0, 1].

    Returns
    -------
    pair of ItemLedger
        Rows are all fields, then each class of field. By box every field of the ground truth with a box counts, and
        every predicted box without one; by value every field of the ground truth, and every predicted value without
        one that is not null. Where only one of the models has such a spurious field, nothing is wrong in the other.

    Notes
    -----
    Under stickler's parity a box of the ground truth may be lost in the pairing of one model; such a field counts in
    neither. Spurious fields of both models are one field when they have one path in one document. Fields of results
    from a stored state are on no page.
    """
    names = sorted({name for result in (a, b) for name in result.compared.classes}, key=natural_order)
    box, value = [], []
    for result in (a, b):
        compared, status = result.compared, result.status(iou)
        lonely = compared.only_predicted
        box.append((result, result.with_truth, status == TRUE_POSITIVE, status == SPURIOUS))
        value.append((result, result.taking_part & ~lonely, compared.right, result.taking_part & lonely))
    return (
        _ledger(BY_BOX, names, box, at=f"IoU ≥ {threshold_text(iou)}"),
        _ledger(BY_VALUE, names, value),
    )


def whole_ledger(a: FieldsResult, b: FieldsResult, iou: float) -> ItemLedger:
    """The ledger of fields by box and value together; see `field_ledgers`.

    Every field counts; one is right when nothing is wrong with its box at the threshold, where either side has one, and
    its value is right.
    """
    names = sorted({name for result in (a, b) for name in result.compared.classes}, key=natural_order)
    models = []
    for result in (a, b):
        lonely = result.compared.only_predicted
        models.append((result, result.taking_part & ~lonely, ~problems(result, iou), result.taking_part & lonely))
    return _ledger(BY_BOTH, names, models, at=f"IoU ≥ {threshold_text(iou)}")


def _ledger(
    measure: str,
    names: list[str],
    models: list[tuple[FieldsResult, BoolArray, BoolArray, BoolArray]],
    at: str = "",
) -> ItemLedger:
    """The ledger of both models: each its result, what counts of the ground truth, what is right, what is spurious."""
    amounts = [_wrong(result, names, counted, right) for result, counted, right, _ in models]
    spurious = [_spurious(result, names, rows & ~right) for result, _, right, rows in models]
    for place in dict.fromkeys(place for model in spurious for place in model):
        # The page is that of the first model that has the field.
        item, wrong = next(model[place] for model in spurious if place in model)
        for own, model in zip(amounts, spurious, strict=True):
            own[item] = wrong if place in model else np.where(np.isnan(wrong), np.nan, 0.0)
    return item_ledger("field", measure, (EVERYTHING, *names), *amounts, at=at)


def _wrong(result: FieldsResult, names: list[str], counted: BoolArray, right: BoolArray) -> dict[Item, FloatArray]:
    """1 for each field of the ground truth that is wrong, else 0, over everything and in the row of its class."""
    compared = result.compared
    wrong: dict[Item, FloatArray] = {}
    for at in compared.order[(compared.is_field & counted)[compared.order]].tolist():
        path = compared.truth_path[at]
        if path is None:
            continue
        truth = compared.truth[at] if len(compared.truth) else None
        page = truth.page if truth is not None and truth.has_box else None
        item = Item(compared.documents[compared.document[at]], page, path)
        wrong[item] = _amounts(result, names, at, 0.0 if right[at] else 1.0)
    return wrong


def _spurious(
    result: FieldsResult, names: list[str], rows: BoolArray
) -> dict[tuple[str, str], tuple[Item, FloatArray]]:
    """What only a prediction has, by document and path, with 1 over everything and in the row of its class."""
    compared = result.compared
    fields: dict[tuple[str, str], tuple[Item, FloatArray]] = {}
    for at in compared.order[(compared.is_field & rows)[compared.order]].tolist():
        path = compared.prediction_path[at]
        if path is None:
            continue
        predicted = compared.predicted[at] if len(compared.predicted) else None
        page = predicted.page if predicted is not None and predicted.has_box else None
        document = compared.documents[compared.document[at]]
        fields[document, path] = Item(document, page, path, spurious=True), _amounts(result, names, at, 1.0)
    return fields


def _amounts(result: FieldsResult, names: list[str], at: int, amount: float) -> FloatArray:
    """An amount over everything and in the row of a field's class, float64, shape (1 + names,); else NaN."""
    compared = result.compared
    amounts = np.full(1 + len(names), np.nan)
    amounts[[0, 1 + names.index(compared.classes[compared.field_class[at]])]] = amount
    return amounts
