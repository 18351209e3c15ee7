"""The terms of the field with their formulas, once for every view: what a tooltip says beside a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TERMS: Final[Mapping[str, str]] = {
    "TP": "Matched (TP): a predicted box with its ground-truth box.",
    "FP": "Extra (FP): a predicted box without a ground-truth box.",
    "FN": "Missed (FN): a ground-truth box without a predicted box.",
    "Precision": "Share of the predicted boxes that are right: TP / (TP + FP).",
    "Recall": "Share of the ground-truth boxes that are found: TP / (TP + FN).",
    "F1": "Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN).",
    "IoU": "Intersection over union: shared area of two boxes / area of both together.",
    "Mean IoU": "Mean over the matched pairs of shared area / area of both together.",
    "Coverage": "Mean over the matched pairs of shared area / area of the ground-truth box.",
    "Purity": "Mean over the matched pairs of shared area / area of the predicted box.",
    "AP": "Average precision: area under precision over recall, mean of the IoU thresholds 0.50 to 0.95.",
    "AP50": "Average precision at IoU 0.50: area under precision over recall.",
    "AP75": "Average precision at IoU 0.75: area under precision over recall.",
    "mAP": "Mean over the labels of average precision: area under precision over recall.",
    "AR": "Average recall: mean of the largest recall at the IoU thresholds 0.50 to 0.95.",
    "ECE": "Expected calibration error: sum over bins of (boxes in the bin / all) × |precision − mean score|.",
    "Brier score": "Mean of (confidence − 1 if right, 0 if wrong)².",
    "AUROC": "Chance that a right item has a higher confidence than a wrong one; ties count half.",
    "Kappa": "Cohen's kappa: (agreement − agreement by chance) / (1 − agreement by chance).",
    "Classification": "TIDE: AP lost by boxes at the right place with the wrong label.",
    "Localisation": "TIDE: AP lost by boxes of the right label that fit too poorly.",
    "Both": "TIDE: AP lost by boxes of the wrong label that also fit poorly.",
    "Duplicate": "TIDE: AP lost by second boxes on a ground-truth box that has a better one.",
    "Background": "TIDE: AP lost by boxes where there is nothing to find.",
    "Missed": "TIDE: AP lost by ground-truth boxes that no prediction comes near.",
}
"""The formula of a term in words, by the name under which views show it."""


def explained(name: str) -> str:
    """Return the formula of a term; empty for a name without one.

    >>> explained("Recall")
    'Share of the ground-truth boxes that are found: TP / (TP + FN).'
    >>> explained("Median of ten")
    ''
    """
    return TERMS.get(name, "")
