"""Poster text validation: the face of the protocol."""

from evaluator.protocols.posters.evaluation import (
    NAME,
    VERSION,
    PostersResult,
    evaluate,
)

__all__ = [
    "NAME", "VERSION", "PostersResult", "evaluate",
]  # fmt: skip
