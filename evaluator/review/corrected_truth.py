"""The corrected ground truth as a file of schema 1.3; ignored boxes stay in."""

from __future__ import annotations

from datetime import datetime

from evaluator.formats.snapshot import ground_truth_file
from evaluator.review.corrections import Corrections
from evaluator.review.verdicts import time_text


def snapshot_file(to: Corrections, *, created_at: datetime) -> bytes:
    """Return the corrected ground truth in schema 1.3 with its origin; `created_at` needs a zone."""
    official = to.official.ground_truth.source
    origin = {"name": official.name, "sha256": official.sha256, "verdicts": len(to.of_boxes)}
    truth = to.dataset.ground_truth.source
    return ground_truth_file(truth, created_at=time_text(created_at), notes={"corrected_from": origin})
