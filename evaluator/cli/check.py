"""The command that reads and validates files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from evaluator import export, formats
from evaluator.cli.program import BAD_INPUT, OK
from evaluator.metrics.results import count_of
from evaluator.model.dataset import Annotations
from evaluator.model.issues import BadInput, Issue, has_errors, issues_text


def check(
    files: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
    columns: str = "",
) -> int:
    """Read and validate files; list all issues; exit 2 when any of them is an error.

    A ground truth and predictions given together are also checked against each other.

    Parameters
    ----------
    files
        Annotation files, or folders of them.
    json
        Write JSON to standard output.
    columns
        What the columns of a CSV or Parquet file hold, "document=file,label=cls,x1=left,y1=top,x2=right,y2=bottom".
    """
    results = [_check(path, columns) for path in files]
    issues = [issue for _, of_file in results for issue in of_file]
    annotations = [read for read, _ in results if read is not None]
    truths = [read for read in annotations if read.side == "ground_truth"]
    if len(truths) == 1:
        predictions = [read for read in annotations if read.side == "prediction"]
        issues += [issue for read in predictions for issue in formats.pair_issues(truths[0], read)]
    if json:
        described = [_described(path, read) for path, (read, _) in zip(files, results, strict=True)]
        print(export.to_json({"files": described, "issues": issues}))
    else:
        sys.stdout.write(issues_text(issues))
        errors = sum(issue.severity == "error" for issue in issues)
        warnings = count_of(len(issues) - errors, "warning")
        print(f"{len(files)} checked: {count_of(errors, 'error')}, {warnings}")
    return BAD_INPUT if has_errors(issues) else OK


def _check(path: Path, columns: str) -> tuple[Annotations | None, tuple[Issue, ...]]:
    """What a file holds, if it can be evaluated, and all that is wrong or odd about it."""
    try:
        read = formats.read(path, max_per_rule=None, columns=columns)
    except BadInput as problem:
        return None, problem.issues
    return read, read.issues


def _described(path: Path, read: Annotations | None) -> dict[str, Any]:
    """A checked file as plain values."""
    if read is None:
        return {"name": path.name, "valid": False}
    return {
        "name": path.name,
        "valid": True,
        "sha256": read.sha256,
        "format": read.format,
        "side": read.side,
        "model": read.model,
        "labels": read.labels[: read.evaluated],
        "documents": len(read.documents),
        "pages": len(set(zip(read.page_document.tolist(), read.page_index.tolist(), strict=True))),
        "boxes": len(read.boxes),
    }
