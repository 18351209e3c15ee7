"""ICDAR 2017 page object detection: the face of the protocol."""

from evaluator.protocols.pod.evaluation import (
    AVERAGE_PRECISION,
    IOU_THRESHOLDS,
    LINE_MAX_PX,
    NAME,
    SMALL_PX,
    VERSION,
    AveragePrecision,
    Matching,
    Pairs,
    PodResult,
    ThresholdResult,
    evaluate,
    pair,
)

__all__ = [
    "AVERAGE_PRECISION", "IOU_THRESHOLDS", "LINE_MAX_PX", "NAME", "SMALL_PX", "VERSION", "AveragePrecision",
    "Matching", "Pairs", "PodResult", "ThresholdResult", "evaluate", "pair",
]  # fmt: skip
