"""What is open: the ground truth, the predictions and the PDF folder behind a command or a folder.

Owns the detection of roles from content (``info.type`` of the files, ``%PDF-`` files) and nothing else; it
reads only heads of files and evaluates nothing. Paths come from the command line or the uploader, never
from inside an annotation file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluator import readers
from evaluator.dataset import Side
from evaluator.errors import BadInput, Finding, Severity, has_errors

# How the terminal tells the dashboard what to open: JSON in the environment.
WORKSPACE_VARIABLE: Final = "LAYOUTSCOPE_WORKSPACE"
_FOLDER_DEPTH: Final = 4
_FOLDER_FILES: Final = 20_000
_MODELS_SHOWN: Final = 26
# The formats whose boxes are shares of the page, which is what the dashboard draws and evaluates.
SHOWN_FORMATS: Final = ("snapshot",)
_ANNOTATION_SUFFIXES: Final = (".json",)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files of one session.

    Attributes
    ----------
    ground_truth : Path or None
        None when no file is a ground truth and none was named as reference.
    predictions : tuple of Path
        In the order A, B, ...
    pdfs : Path or None
        The one folder under which documents are looked up by name.
    as_reference : bool
        The ground truth is a prediction file, used as reference because somebody asked for it.
    findings : tuple of Finding
        What was passed over, and why.
    """

    ground_truth: Path | None
    predictions: tuple[Path, ...]
    pdfs: Path | None
    as_reference: bool = False
    findings: tuple[Finding, ...] = ()


def find(
    paths: Sequence[Path] = (),
    *,
    ground_truth: Path | None = None,
    predictions: Sequence[Path] = (),
    pdfs: Path | None = None,
    as_reference: bool = False,
) -> Workspace:
    """The workspace behind folders and files, roles detected from content.

    Parameters
    ----------
    paths : sequence of Path
        Folders (searched four levels deep, hidden ones left out) and files.
    ground_truth, predictions, pdfs : optional
        Named by the user; what is named is not guessed.
    as_reference : bool
        Allows `ground_truth` to be a prediction file.

    Returns
    -------
    Workspace

    Raises
    ------
    BadInput
        When a path does not exist, or two files could be the ground truth.
    """
    named = [*paths, *([ground_truth] if ground_truth else []), *predictions, *([pdfs] if pdfs else [])]
    missing = [_missing(path) for path in named if not path.exists()]
    if missing:
        raise BadInput(missing)
    taken = {path.resolve() for path in (ground_truth, *predictions) if path}
    files = list(_files(paths))
    sides: dict[Side, list[Path]] = {"ground_truth": [], "prediction": []}
    findings: list[Finding] = []
    for path in files:
        if path.suffix.lower() in _ANNOTATION_SUFFIXES and path.resolve() not in taken:
            side = readers.side_of(path)
            if side is None:
                findings.append(_passed_over(path))
            elif (format_ := readers.detect(path)) not in SHOWN_FORMATS:
                findings.append(not_shown(path.name, format_, "warning"))
            else:
                sides[side].append(path)
    truths = [ground_truth] if ground_truth else sides["ground_truth"]
    if len(truths) > 1:
        findings.append(_several(truths))
    if ground_truth and not as_reference and ground_truth.is_file() and readers.side_of(ground_truth) == "prediction":
        findings.append(_not_a_truth(ground_truth))
    if has_errors(findings):
        raise BadInput(findings)
    return Workspace(
        ground_truth=truths[0] if truths else None,
        predictions=tuple(predictions or sides["prediction"])[:_MODELS_SHOWN],
        pdfs=pdfs or _folder_of_pdfs(files),
        as_reference=as_reference,
        findings=tuple(findings),
    )


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    """Files given or below the folders given, sorted by name in each folder."""
    seen = 0
    for path in paths:
        if path.is_file():
            yield path
            continue
        for folder, folders, names in os.walk(path):
            depth = len(Path(folder).relative_to(path).parts)
            folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _FOLDER_DEPTH else []
            for name in sorted(names):
                seen += 1
                if seen > _FOLDER_FILES:
                    return
                yield Path(folder) / name


def _folder_of_pdfs(files: Iterable[Path]) -> Path | None:
    """The deepest folder that holds every PDF of the files; None without any."""
    folders = {str(path.resolve().parent) for path in files if path.suffix.lower() == ".pdf"}
    return Path(os.path.commonpath(folders)) if folders else None


def _missing(path: Path) -> Finding:
    return Finding(
        severity="error",
        file=path.name or str(path),
        place="",
        rule="the file or folder must exist",
        found="",
        fix="Check the spelling, or give the path from the folder you are in.",
    )


def _passed_over(path: Path) -> Finding:
    return Finding(
        severity="warning",
        file=path.name,
        place="",
        rule="a JSON file must be of a known annotation format",
        found="none that LayoutScope reads",
        fix="The file is left out; run layoutscope check on it to see why.",
    )


def _not_a_truth(path: Path) -> Finding:
    return Finding(
        severity="error",
        file=path.name,
        place="$.info.type",
        rule='a ground truth file must have type "ground_truth" (snapshot 1.3, section 4)',
        found='"prediction"',
        fix="Give a ground truth, or add --as-reference to measure how far the models agree.",
    )


def not_shown(name: str, format_: str, severity: Severity) -> Finding:
    """That a file is of a format which the terminal evaluates and the dashboard does not show yet.

    Returns
    -------
    Finding
    """
    return Finding(
        severity=severity,
        file=name,
        place="",
        rule=f"the dashboard shows files of the format {' or '.join(SHOWN_FORMATS)}",
        found=format_,
        fix=f"Evaluate it in the terminal: layoutscope evaluate {format_} --gt FILE --pred FILE.",
    )


def _several(truths: Sequence[Path]) -> Finding:
    names = ", ".join(path.name for path in truths)
    return Finding(
        severity="error",
        file=truths[0].name,
        place="",
        rule="one session has one ground truth",
        found=names,
        fix="Name the one you mean with --gt.",
    )
