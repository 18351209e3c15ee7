"""The files, protocol and options of a command: typed, or of a project file with its fixes."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from evaluator.cli.program import UsageError
from evaluator.cli.protocol_options import need_protocol
from evaluator.data.fixes import parse_fix
from evaluator.project import MergedFiles, one_input
from evaluator.protocols import DEFAULT, PROTOCOLS
from evaluator.workspace import project_file

MaybeProtocol = Annotated[str | None, Parameter(help="The evaluation system; that of the project when not given.")]
MaybeTruth = Annotated[
    tuple[Path, ...],
    Parameter(negative="", help="Ground-truth file or folder; repeat it to merge files of different documents."),
]
MaybePredictions = Annotated[tuple[Path, ...], Parameter(negative="")]
ProjectFile = Annotated[
    Path | None, Parameter(help="A layoutscope.toml: its ground truth, models, PDFs, protocol, level and fixes.")
]
CostsTable = Annotated[
    Path | None, Parameter(help="CSV with status, seconds and cost of pages or documents, stated beside the numbers.")
]
FailedEmpty = Annotated[
    bool, Parameter(negative="", help="Leave out what is predicted on pages that failed by --costs.")
]


class ComparedFiles(NamedTuple):
    """Files that a command compares, and the options of the protocol."""

    protocol: str
    gt: Path | MergedFiles
    pred: Sequence[Path | MergedFiles]
    options: dict[str, Any]


def compared_files(
    protocol: str | None, gt: Sequence[Path], pred: Sequence[Path], project: Path | None, options: dict[str, Any]
) -> ComparedFiles:
    """Return what a command compares; UsageError for what is missing or given twice, BadInput as `read`."""
    if project is None:
        if protocol is None:
            raise UsageError("name a PROTOCOL, or give a project with --project.")
        need_protocol(protocol)
        if not gt or not pred:
            missing = "--gt" if not gt else "--pred"
            raise UsageError(f"{missing} is needed: give --gt and --pred, or a project with --project.")
        return ComparedFiles(protocol, one_input(gt), list(pred), options)
    if gt or pred:
        raise UsageError(f"{project.name} lists what to compare; give it without --gt and --pred.")
    workspace, query = project_file.read(project)
    parts = dict(urllib.parse.parse_qsl(query))
    protocol = protocol or parts.get("protocol", DEFAULT)
    need_protocol(protocol)
    sides = workspace.of(PROTOCOLS[protocol].kind)
    if sides.ground_truth is None or not sides.predictions:
        raise UsageError(f"{project.name} has no ground truth and models for {protocol}.")
    known = PROTOCOLS[protocol].options.__struct_fields__
    kept: dict[str, Any] = {}
    fixes = tuple(parse_fix(urllib.parse.unquote(text)) for text in parts.get("fix", "").split(";") if text)
    if fixes:
        kept["fix"] = (*fixes, *options.get("fix", ()))
    if "level" in parts and "level" in known:
        kept["level"] = parts["level"]
    if sides.pdfs is not None and "pdfs" in known:
        kept["pdfs"] = sides.pdfs
    if workspace.as_reference and "as_reference" in known:
        kept["as_reference"] = True
    return ComparedFiles(protocol, sides.ground_truth, list(sides.predictions), {**kept, **options, **_both(kept)})


def check_costs(costs: Path | None, *, failed_empty: bool) -> None:
    """Refuse to leave out what failed without a table that says so."""
    if failed_empty and costs is None:
        raise UsageError("--failed-empty needs --costs, which says which pages failed.")


def _both(kept: dict[str, Any]) -> dict[str, Any]:
    """Return the fixes of the project with those that were typed, which do not take their place."""
    return {"fix": kept["fix"]} if "fix" in kept else {}
