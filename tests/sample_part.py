"""The sample data, and that of a few documents: with fewer than eight, nothing is searched for slices."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Final

from evaluator import formats
from evaluator.data.dataset import Dataset, join
from evaluator.protocols.snapshot.evaluation import ThresholdResult, pair

SAMPLE: Final = Path(__file__).resolve().parents[1] / "sample_data"


def write_part(folder: Path, *documents: str) -> Path:
    """Write ground truth and both models with some of the documents only; return the folder."""
    for name in ("ground_truth", "lines", "blocks"):
        value = json.loads((SAMPLE / f"{name}.json").read_text(encoding="utf-8"))
        for rows in ("documents", "predictions"):
            value[rows] = [row for row in value[rows] if row["doc_id"] in documents]
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def write_part_with_pages(folder: Path, *documents: str) -> Path:
    """Write the same and the pages of these documents, as a folder that can be opened; return it."""
    (folder / "pdf").mkdir(parents=True)
    for document in documents:
        shutil.copy(SAMPLE / "pdf" / document, folder / "pdf")
    return write_part(folder, *documents)


@cache
def sample_dataset() -> Dataset:
    """Return the sample data with both of its models."""
    return join(*(formats.read(SAMPLE / f"{name}.json") for name in ("ground_truth", "lines", "blocks")))


@cache
def sample_results() -> tuple[ThresholdResult, ThresholdResult]:
    """Return both models of the sample data by snapshot 1.3 at IoU 0.5."""
    return pair(sample_dataset(), 0).match().at(0.5), pair(sample_dataset(), 1).match().at(0.5)
