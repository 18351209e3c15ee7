"""The command that reads and validates files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from evaluator import evaluation, export, formats
from evaluator.cli.program import BAD_INPUT, OK, app
from evaluator.metrics.results import count_of
from evaluator.model.dataset import Annotations
from evaluator.model.issues import BadInput, Finding, has_errors


@app.command
def check(
    files: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Read and validate files; list all findings; exit 2 when any of them is an error.

    A ground truth and predictions given together are also checked against each other.

    Parameters
    ----------
    files
        Annotation files, or folders of them.
    json
        Write JSON to standard output.
    """
    results = [_check(path) for path in files]
    annotations = [read for read, _ in results if read is not None]
    findings = [finding for _, found in results for finding in found]
    truths = [read for read in annotations if read.side == "ground_truth"]
    if len(truths) == 1:
        predictions = [read for read in annotations if read.side == "prediction"]
        findings += [finding for read in predictions for finding in evaluation.check_pair(truths[0], read)]
    if json:
        described = [_described(path, read) for path, (read, _) in zip(files, results, strict=True)]
        print(export.to_json({"files": described, "findings": findings}))
    else:
        sys.stdout.write(export.findings_text(findings))
        errors = sum(finding.severity == "error" for finding in findings)
        warnings = count_of(len(findings) - errors, "warning")
        print(f"{len(files)} checked: {count_of(errors, 'error')}, {warnings}")
    return BAD_INPUT if has_errors(findings) else OK


def _check(path: Path) -> tuple[Annotations | None, tuple[Finding, ...]]:
    """What a file holds, if it can be evaluated, and all that is wrong or odd about it."""
    try:
        read = formats.read(path, max_per_rule=None)
    except BadInput as problem:
        return None, problem.findings
    return read, read.findings


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
