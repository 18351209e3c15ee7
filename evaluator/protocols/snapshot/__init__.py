"""Document Snapshot Detection 1.3: the face of the protocol."""

from evaluator.protocols.snapshot.evaluation import (
    IOU_FLOOR,
    IOU_THRESHOLDS,
    NAME,
    VERSION,
    BoxCounts,
    Matching,
    PairCodes,
    Pairs,
    SnapshotResult,
    ThresholdResult,
    evaluate,
    evaluate_model,
    pair,
)

__all__ = [
    "IOU_FLOOR",
    "IOU_THRESHOLDS",
    "NAME",
    "VERSION",
    "BoxCounts",
    "Matching",
    "PairCodes",
    "Pairs",
    "SnapshotResult",
    "ThresholdResult",
    "evaluate",
    "evaluate_model",
    "pair",
]
