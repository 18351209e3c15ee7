"""Multi-label pixel confusion: the face of the protocol."""

from evaluator.protocols.pixel.evaluation import (
    ALL_CLASSES,
    CLASSES,
    MISSING_PAGE,
    MIXED_SIZES,
    NAME,
    ORDER_MATTERS,
    PRESENT_CLASSES,
    VERSION,
    PixelInputs,
    PixelResult,
    evaluate,
)

__all__ = [
    "ALL_CLASSES", "CLASSES", "MISSING_PAGE", "MIXED_SIZES", "NAME", "ORDER_MATTERS", "PRESENT_CLASSES", "VERSION",
    "PixelInputs", "PixelResult", "evaluate",
]  # fmt: skip
