"""Document Snapshot Detection 1.3: the face of the protocol."""

from evaluator.protocols.snapshot.evaluation import (
    IOU_FLOOR,
    IOU_THRESHOLDS,
    NAME,
    VERSION,
    Matching,
    Pairs,
    SnapshotResult,
    ThresholdResult,
    evaluate,
    pair,
)

__all__ = [
    "IOU_FLOOR", "IOU_THRESHOLDS", "NAME", "VERSION", "Matching", "Pairs", "SnapshotResult", "ThresholdResult",
    "evaluate", "pair",
]  # fmt: skip
