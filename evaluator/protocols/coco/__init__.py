"""COCO detection: the face of the protocol."""

from evaluator.protocols.coco.curves import MAX_DETECTIONS, average
from evaluator.protocols.coco.evaluation import IOU_THRESHOLDS, NUMBERS, CocoResult, coco_numbers, evaluate
from evaluator.protocols.coco.matching import AREA_RANGES, NAME, VERSION, Matching, pair

__all__ = [
    "AREA_RANGES", "IOU_THRESHOLDS", "MAX_DETECTIONS", "NAME", "NUMBERS", "VERSION", "CocoResult", "Matching",
    "average", "coco_numbers", "evaluate", "pair",
]  # fmt: skip
