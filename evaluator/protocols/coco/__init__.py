"""COCO detection: the face of the protocol."""

from evaluator.protocols.coco.evaluation import (
    AREA_RANGES,
    IOU_THRESHOLDS,
    MAX_DETECTIONS,
    NAME,
    NUMBERS,
    VERSION,
    CocoResult,
    Matching,
    average,
    evaluate,
    pair,
)

__all__ = [
    "AREA_RANGES", "IOU_THRESHOLDS", "MAX_DETECTIONS", "NAME", "NUMBERS", "VERSION", "CocoResult", "Matching",
    "average", "evaluate", "pair",
]  # fmt: skip
