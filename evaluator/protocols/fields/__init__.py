"""Field bounding-box mAP: the face of the protocol."""

from evaluator.protocols.fields.evaluation import (
    IOU_THRESHOLDS,
    NAME,
    STATUSES,
    VERSION,
    FieldsResult,
    evaluate,
    score,
)

__all__ = [
    "IOU_THRESHOLDS", "NAME", "STATUSES", "VERSION", "FieldsResult", "evaluate", "score",
]  # fmt: skip
