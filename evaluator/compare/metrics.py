"""The metrics that are compared: their names, and what is said of a model that is better or worse at one.

Owns one table. A metric that a protocol reports and that is not in it is not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Metric(NamedTuple):
    """One metric.

    Attributes
    ----------
    title : str
        As people read it.
    better, worse : str
        What B does when its number is higher, and when it is lower.
    target : float or None
        The number that is best, when neither more nor less is: such a difference is neither a gain nor a loss, and a
        document is better when it is nearer. None where higher is better.
    """

    title: str
    better: str
    worse: str
    target: float | None = None


METRICS: Final[Mapping[str, Metric]] = {
    "precision": Metric("precision", "invents less", "invents more"),
    "recall": Metric("recall", "finds more", "finds less"),
    "f1": Metric("F1", "is better", "is worse"),
    "mean_iou": Metric("mean IoU", "fits better", "fits worse"),
    "mean_coverage": Metric("coverage", "cuts off less", "cuts off more"),
    "mean_purity": Metric("purity", "takes in less from outside", "takes in more from outside"),
    "ap": Metric("AP", "ranks better", "ranks worse"),
    "map": Metric("mAP", "ranks better", "ranks worse"),
    "mean_f1": Metric("mean F1", "is better", "is worse"),
    "AP": Metric("AP", "ranks better", "ranks worse"),
    "AP50": Metric("AP50", "ranks better", "ranks worse"),
    "AP75": Metric("AP75", "ranks better", "ranks worse"),
    "AR100": Metric("AR100", "finds more", "finds less"),
    "mean_ap": Metric("mean AP", "ranks better", "ranks worse"),
    "map_50": Metric("mAP at 0.50", "ranks better", "ranks worse"),
    "map_75": Metric("mAP at 0.75", "ranks better", "ranks worse"),
    "ap_50": Metric("AP at 0.50", "ranks better", "ranks worse"),
    "ap_75": Metric("AP at 0.75", "ranks better", "ranks worse"),
    "iou": Metric("pixel IoU", "agrees better", "agrees worse"),
    "pixel_precision": Metric("pixel precision", "covers less beside", "covers more beside"),
    "pixel_recall": Metric("pixel recall", "covers more", "covers less"),
    "word_capture": Metric("word capture", "captures more words", "captures fewer words"),
    "rouge_l": Metric("ROUGE-L", "keeps the order of the text better", "keeps the order of the text worse"),
    "number_capture": Metric("number capture", "captures more numbers", "captures fewer numbers"),
    "field_proportion": Metric("field proportion", "writes more fields", "writes fewer fields", target=1.0),
}
"""Every metric by its name in JSON."""

HEADLINES: Final = (
    ("AP",),
    ("map",),
    ("mean_ap",),
    ("iou",),
    ("word_capture", "rouge_l", "number_capture"),
    ("recall", "precision"),
)
"""What a summary speaks of: the first group that is compared over all labels."""
