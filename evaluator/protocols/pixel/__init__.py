"""Multi-label pixel confusion: the face of the protocol."""

from evaluator.protocols.pixel.evaluation import (
    ALL_CLASSES,
    CLASSES,
    MATRICES,
    MISSING_PAGE,
    MIXED_SIZES,
    NAME,
    ORDER_MATTERS,
    PRESENT_CLASSES,
    SCOPES,
    VERSION,
    Cell,
    PixelResult,
    Scope,
    evaluate,
)

__all__ = [
    "ALL_CLASSES",
    "CLASSES",
    "MATRICES",
    "MISSING_PAGE",
    "MIXED_SIZES",
    "NAME",
    "ORDER_MATTERS",
    "PRESENT_CLASSES",
    "SCOPES",
    "VERSION",
    "Cell",
    "PixelResult",
    "Scope",
    "evaluate",
]
