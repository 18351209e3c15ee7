"""Two comparisons of fields with one ground truth, field by field: which fields which model has right.

Owns the two ways in which a field of the ground truth is right: its box has a match at a threshold, and its value is
right.
"""

from __future__ import annotations

import numpy as np

from evaluator.metrics.item_ledger import Item, ItemLedger, item_ledger
from evaluator.metrics.results import threshold_text
from evaluator.model.boxes import BoolArray, FloatArray
from evaluator.model.fields import natural_order
from evaluator.protocols.fields.evaluation import TRUE_POSITIVE, FieldsResult

EVERYTHING = "All fields"


def field_ledgers(a: FieldsResult, b: FieldsResult, iou: float) -> tuple[ItemLedger, ItemLedger]:
    """The ledgers of the fields of the ground truth, by box and by value.

    Parameters
    ----------
    a, b : FieldsResult
        Of two predictions against one ground truth.
    iou : float
        Threshold of the boxes, in (0, 1].

    Returns
    -------
    pair of ItemLedger
        Rows are all fields, then each class of field. By box every field of the ground truth with a box counts, by
        value every field of the ground truth. What only a prediction has takes no part.

    Notes
    -----
    Under stickler's parity a box of the ground truth may be lost in the pairing of one model; such a field counts in
    neither.
    """
    names = sorted({name for result in (a, b) for name in result.compared.classes}, key=natural_order)
    by_box = item_ledger(
        "field",
        f"box at IoU ≥ {threshold_text(iou)}",
        (EVERYTHING, *names),
        *(_wrong(result, names, result.with_truth, result.status(iou) == TRUE_POSITIVE) for result in (a, b)),
    )
    by_value = item_ledger(
        "field",
        "value",
        (EVERYTHING, *names),
        *(_wrong(result, names, result.taking_part, result.compared.right) for result in (a, b)),
    )
    return by_box, by_value


def _wrong(result: FieldsResult, names: list[str], counted: BoolArray, right: BoolArray) -> dict[Item, FloatArray]:
    """1 for each field of the ground truth that is wrong, else 0, over everything and in the row of its class."""
    compared = result.compared
    rows = compared.order[(compared.is_field & counted)[compared.order]]
    row_of = {name: place for place, name in enumerate(names, start=1)}
    wrong: dict[Item, FloatArray] = {}
    for at in rows.tolist():
        path = compared.truth_path[at]
        if path is None:
            continue
        amounts = np.full(1 + len(names), np.nan)
        amounts[[0, row_of[compared.classes[compared.field_class[at]]]]] = 0.0 if right[at] else 1.0
        truth = compared.truth[at] if len(compared.truth) else None
        page = truth.page if truth is not None and truth.has_box else None
        wrong[Item(compared.documents[compared.document[at]], page, path)] = amounts
    return wrong
