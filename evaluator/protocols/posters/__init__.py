"""Poster text validation: the face of the protocol."""

from evaluator.protocols.posters.evaluation import (
    CRITERIA,
    FIELDS_FROM,
    FIELDS_TO,
    NAME,
    PASS_FROM,
    TITLE,
    VERSION,
    PosterResult,
    PostersResult,
    evaluate,
    failed,
)

__all__ = [
    "CRITERIA",
    "FIELDS_FROM",
    "FIELDS_TO",
    "NAME",
    "PASS_FROM",
    "TITLE",
    "VERSION",
    "PosterResult",
    "PostersResult",
    "evaluate",
    "failed",
]
