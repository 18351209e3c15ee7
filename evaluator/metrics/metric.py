"""What a metric is called, what is stated about a better or worse model, and the metrics of boxes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple


class Metric(NamedTuple):
    """One metric; `better` and `worse` state what B does when its number is higher, and when it is lower.

    `target`: the number that is best, when neither more nor less is; such a difference is neither a gain nor a loss,
    and a document is better when it is nearer. None where higher is better: such a metric is a share, `least` to 1.
    With `lower_is_better` a gain is a lower number, which may be above 1.
    """

    title: str
    better: str
    worse: str
    target: float | None = None
    lower_is_better: bool = False
    least: float = 0.0

    @property
    def most(self) -> float:
        """Return the largest value that is possible."""
        return 1.0 if self.target is None and not self.lower_is_better else math.inf


BOX_METRICS: Final[Mapping[str, Metric]] = {
    "precision": Metric("precision", "is more precise", "is less precise"),
    "recall": Metric("recall", "finds more", "finds less"),
    "f1": Metric("F1", "is better", "is worse"),
    "mean_iou": Metric("mean IoU", "fits better", "fits worse"),
    "mean_coverage": Metric("coverage", "cuts off less", "cuts off more"),
    "mean_purity": Metric("purity", "takes in less from outside", "takes in more from outside"),
}
"""Metrics of matched boxes by their names in JSON."""

BOX_HEADLINE: Final = ("recall", "precision")
"""What a summary of matched boxes speaks of."""
