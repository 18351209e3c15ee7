"""The corrected ground truth as a file of schema 1.3.

The original is never written to. Ignored boxes stay in: to ignore a mistake says nothing about the ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from evaluator.formats.snapshot import ground_truth_file
from evaluator.model.issues import refuse
from evaluator.review.corrections import Corrections
from evaluator.review.verdicts import time_text
from evaluator.system.whole_file import write_whole


def snapshot_file(to: Corrections, *, created_at: datetime) -> bytes:
    """The corrected ground truth in schema 1.3; see `evaluator.formats.snapshot.ground_truth_file`.

    ``info.model.corrected_from`` names the file that was corrected, its digest and the number of verdicts. The time
    needs a time zone.
    """
    official = to.official.ground_truth.source
    origin = {"name": official.name, "sha256": official.sha256, "verdicts": len(to.of_boxes)}
    truth = to.dataset.ground_truth.source
    return ground_truth_file(truth, created_at=time_text(created_at), notes={"corrected_from": origin})


def write(path: Path, content: bytes, *, sources: Sequence[Path] = ()) -> None:
    """Put a file in its place at once: a crash leaves the old one or the new one.

    Parameters
    ----------
    sources : sequence of Path
        Files that must not be replaced.

    Raises
    ------
    BadInput
        When the place is one of the sources.
    OSError
        When it cannot be written; what was there before is untouched.
    """
    if any(source.exists() and path.exists() and source.samefile(path) for source in sources):
        rule = "a source file is never written to"
        refuse(path.name, "", rule, "the file that was corrected", "Choose another name.")
    write_whole(path, [content])
