"""The table of field types: per class of field, by its path, AP of several models and all numbers of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.fields import natural_order
from evaluator.metrics.results import defined, weighted_mean
from evaluator.protocols.fields.evaluation import ALL_FIELDS, FieldsResult

CURVE_IOU: Final = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""Thresholds of the curve of AP against IoU."""


class TypeRow(NamedTuple):
    """One class of field, or all of them (``ALL_FIELDS``).

    `ap`: by model, mean over the thresholds of the specification. All else is of the chosen model: `ap_at` and the
    counts of statuses at the threshold of the moment, `mean_iou` over its predicted boxes. None where a number is
    undefined or the model lacks the class.
    """

    label: str
    ap: Mapping[str, float | None]
    ap_at: float | None = None
    ap_50: float | None = None
    ap_75: float | None = None
    mean_iou: float | None = None
    num_gt: int = 0
    num_detections: int = 0
    true_positive: int = 0
    below_threshold: int = 0
    missed: int = 0
    spurious: int = 0


def field_types(results: Iterable[FieldsResult]) -> list[str]:
    """Return the types of fields that any model or the ground truth has, in natural order: not their containers.

    A type has a box or a value on either side; an object or a list that holds other fields has neither.
    """
    known = set[str]()
    for each in results:
        compared = each.compared
        known |= {compared.classes[code] for code in each.boxed}
        known |= {compared.classes[code] for code in np.unique(compared.field_class[compared.is_field]).tolist()}
    return sorted(known, key=natural_order)


def type_rows(results: Mapping[str, FieldsResult], chosen: str, *, iou: float) -> list[TypeRow]:
    """Return all fields first, then, in natural order, the classes with a box on either side in any model.

    `results`: by model letter, all against the same ground truth; `chosen` is one of the letters. The AP of all fields
    is the mean over the classes with ground truth; their mean IoU is over all predicted boxes.
    """
    result = results[chosen]
    table = result.average_precisions([iou, 0.5, 0.75])
    counts = result.per_class(iou)
    place = {name: code for code, name in enumerate(result.compared.classes)}
    known = {each.compared.classes[code] for each in results.values() for code in each.boxed}
    by_class = {letter: dict(zip(each.compared.classes, each.ap, strict=True)) for letter, each in results.items()}
    boxes_of_all = result.mean_iou_of_all, int(result.num_gt.sum()), int(result.num_detections.sum())
    ap_of_all = {letter: each.mean_ap for letter, each in results.items()}
    ap_at, ap_50, ap_75 = (weighted_mean(column)[0] for column in table.T)
    rows = [TypeRow(ALL_FIELDS, ap_of_all, ap_at, ap_50, ap_75, *boxes_of_all, *result.overall(iou).row(0))]
    for label in sorted(known, key=natural_order):
        ap = {letter: defined(column.get(label, np.nan)) for letter, column in by_class.items()}
        code = place.get(label)
        if code is None:
            rows.append(TypeRow(label, ap))
            continue
        boxes = defined(result.mean_iou[code]), int(result.num_gt[code]), int(result.num_detections[code])
        ap_at, ap_50, ap_75 = map(defined, table[code])
        rows.append(TypeRow(label, ap, ap_at, ap_50, ap_75, *boxes, *counts.row(code)))
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class ApCurves:
    """AP at T IoU thresholds, float64, shape (T,), of classes with ground truth, and their mean; NaN for none."""

    iou: tuple[float, ...]
    mean: FloatArray
    of_class: Mapping[str, FloatArray]


def ap_curves(result: FieldsResult) -> ApCurves:
    """Return the curves of AP against the IoU threshold, of every class and of their mean."""
    table = result.average_precisions(CURVE_IOU)
    defined_rows = np.flatnonzero(~np.isnan(table).any(axis=1))
    known = table[defined_rows]
    return ApCurves(
        iou=CURVE_IOU,
        mean=known.mean(axis=0) if len(known) else np.full(len(CURVE_IOU), np.nan),
        of_class={result.compared.classes[code]: table[code] for code in defined_rows.tolist()},
    )
