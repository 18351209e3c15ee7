"""The command that reads and validates files."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from cyclopts import Parameter

from evaluator import formats
from evaluator.analysis.doctor.diagnosis import Diagnosis
from evaluator.analysis.doctor.match_check import diagnosis_of
from evaluator.cli.convert import both_sides, other_contents, read_any
from evaluator.cli.paths import PDFS, PasswordFile, passwords_of
from evaluator.cli.program import BAD_INPUT, OK, Columns, Json, LevelName, need_folder
from evaluator.cli.progress import progress
from evaluator.data.dataset import Annotations, Side, repeated_issues
from evaluator.data.fixes import Fix, fix_options
from evaluator.data.issues import BadInput, Issue, count_of, has_errors, issues_text, plain
from evaluator.formats.base import Reading
from evaluator.matching.overlap_limit import crowding_issues
from evaluator.metrics import export
from evaluator.metrics.results import ratio_text
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.locked import locked_issues
from evaluator.pdf.passwords import opening_with
from evaluator.protocols import DEFAULT, box_protocols
from evaluator.protocols.base import Source


def check(
    files: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    json: Json = False,
    format: str | None = None,
    columns: Columns = "",
    level: LevelName = None,
    pdfs: Path | None = None,
    password_file: PasswordFile = None,
) -> int:
    """Read and validate files; list all issues; exit 2 when any of them is an error.

    A ground truth and predictions given together are also checked against each other; where little or nothing matches,
    hypotheses are tried on the data, and what was found is shown with numbers and with the option that applies it. It
    is an error where `evaluate` would end with it.

    Parameters
    ----------
    files
        Files of boxes, extracted fields or posters, or folders of them.
    format
        Format of the files, when it should not be recognised by content.
    pdfs
        The folder under which the PDFs are looked up by name: those that need a password are named.
    """
    if pdfs is not None:
        need_folder(PDFS, pdfs)
    passwords = passwords_of(password_file)
    reading = Reading(format=format, columns=columns, level=level, max_per_rule=None)
    given, notes = [], []
    for path in files:
        within, said = both_sides(path, format)
        given += within
        notes += said
    files = given
    with progress("Reading") as say:
        results = []
        for path in files:
            say(f"Reading {path.name}")
            results.append(_check(path, reading))
    issues = [*notes, *(issue for _, of_file in results for issue in of_file)]
    # What could not be read may hold boxes.
    boxes = [
        (path, read)
        for path, (read, _) in zip(files, results, strict=True)
        if read is None or isinstance(read, Annotations)
    ]
    annotations = [read for _, read in boxes if read is not None]
    truths = [read for read in annotations if read.side == "ground_truth"]
    if pdfs is not None:
        with opening_with(passwords):
            issues += locked_issues((each.name for read in annotations for each in read.documents), PdfFolder(pdfs))
    if len(truths) == 1:
        predictions = [read for read in annotations if read.side == "prediction"]
        issues += [issue for read in predictions for issue in formats.pair_issues(truths[0], read)]
        issues += dict.fromkeys(issue for read in predictions for issue in _crowded(truths[0], read))
    pairs = [] if has_errors(issues) and len(files) == 1 else _pairs(boxes, reading)
    issues += dict.fromkeys(issue for truth, prediction in pairs for issue in _together(truth, prediction))
    issues += dict.fromkeys(
        issue for read in (*truths, *(truth for truth, _ in pairs)) for issue in repeated_issues(read, "ground_truth")
    )
    issues += [issue for _, prediction in pairs for issue in repeated_issues(prediction, "prediction")]
    diagnoses = _diagnoses(pairs)
    if has_errors(issues):
        # A file that breaks its rules matches nothing anyway; only what would mend it is worth saying.
        diagnoses = [each for each in diagnoses if each.best is not None]
    stated = {read.name for read in annotations if read.side == "prediction"}
    refused = [each for each in diagnoses if _refused(each, stated=each.file in stated)]
    issues += [each.issue() for each in refused]
    apart = {each.file for each in refused}
    issues += [issue for pair in pairs if pair[1].name not in apart for issue in _unshared(*pair)]
    if not has_errors(issues):
        issues += [issue for truth, prediction in pairs for issue in _tied(truth, prediction)]
    if json:
        described = [_described(path, read) for path, (read, _) in zip(files, results, strict=True)]
        rows = [each.to_json() for each in diagnoses]
        print(export.to_json({"files": described, "issues": issues, "diagnosis": rows}))
    else:
        sys.stdout.write(issues_text(issues))
        for each in diagnoses:
            sys.stdout.write(_diagnosis_text(each))
        errors = sum(issue.severity == "error" for issue in issues)
        warnings = count_of(len(issues) - errors, "warning")
        print(f"{len(files)} checked: {count_of(errors, 'error')}, {warnings}")
    return BAD_INPUT if has_errors(issues) else OK


def _crowded(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    if truth.unit != prediction.unit:
        return ()
    try:
        return crowding_issues(truth, formats.resolve(prediction, truth))
    except BadInput as problem:
        return problem.issues


def _tied(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return warnings where equal scores or a limit decide the numbers of the protocol of the prediction's format."""
    system, score = box_protocols().get(prediction.format), prediction.boxes.score
    if system is None or not system.needs_scores:
        return ()
    most = int(np.unique(prediction.boxes.entry, return_counts=True)[1].max(initial=0))
    if len(np.unique(score)) == len(score) and most <= getattr(system.options(), "max_detections", most):
        return ()
    try:
        (evaluation,) = system.evaluate(truth, [prediction], system.options())
    except (BadInput, ValueError):
        return ()  # what is wrong is said by the checks of the pair
    return evaluation.result.own_issues(prediction.name)


def _pairs(
    checked: Sequence[tuple[Path, Annotations | None]], reading: Reading
) -> list[tuple[Annotations, Annotations]]:
    """Return each prediction with the one ground truth that it was given with; empty for several of these."""
    # A file that states no side, such as COCO with images, is the ground truth when it comes first.
    # A file without errors holds what it held when it was checked; it is not kept twice.
    held = [(path, read) for path, sound in checked if (read := sound or _as_written(path, reading)) is not None]
    truths = [path for path, read in held if read.side == "ground_truth"]
    first_read = _as_written(held[0][0], reading, side="ground_truth") if len(held) == 2 and not truths else None
    if first_read is not None:
        held[0] = held[0][0], first_read
        truths = [held[0][0]]
    if len(held) < 2 or (len(truths) != 1 and held[0][0] not in truths):
        return []
    first = truths[0]
    truth = next(read for path, read in held if path == first)
    others = (
        read if read.side == "prediction" else _as_written(path, reading, side="prediction")
        for path, read in held
        if path != first
    )
    return [(truth, prediction) for prediction in others if prediction is not None]


def _together(truth: Annotations, prediction: Annotations) -> list[Issue]:
    """Return what is done to the boxes of a prediction so that they can be compared; empty where they cannot."""
    try:
        resolved = formats.resolve(prediction, truth)
    except BadInput:
        return []
    return [issue for issue in resolved.issues if issue not in prediction.issues]


def _unshared(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return what one of two files lacks, by the protocol of the prediction's format; empty where it is no pair."""
    systems = box_protocols()
    try:
        return systems.get(prediction.format, systems[DEFAULT]).unshared_issues(
            truth, formats.resolve(prediction, truth)
        )
    except BadInput:
        return ()


def _diagnoses(pairs: Sequence[tuple[Annotations, Annotations]]) -> list[Diagnosis]:
    """Return the diagnoses of predictions with their ground truth, without those with nothing to say."""
    diagnoses = []
    for truth, prediction in pairs:
        with contextlib.suppress(BadInput):
            diagnoses.append(diagnosis_of(truth, prediction))
    return [each for each in diagnoses if not each.silent]


def _refused(diagnosis: Diagnosis, *, stated: bool) -> bool:
    # Files of different documents of which none states a side may be two ground truths.
    two_sides = stated or bool(diagnosis.shared_documents)
    return diagnosis.serious and (diagnosis.best is not None or (diagnosis.nothing_matches and two_sides))


def _as_written(path: Path, reading: Reading, side: Side | None = None) -> Annotations | None:
    """Return the boxes of a file with their coordinates as written; None when it cannot be read even so."""
    try:
        return formats.read(path, **{**msgspec.structs.asdict(reading), "side": side, "as_written": True})
    except BadInput:
        return None


def _diagnosis_text(diagnosis: Diagnosis) -> str:
    lines = [f"diagnosis: {plain(diagnosis.file)} against {plain(diagnosis.against)}: {diagnosis.sentence}"]
    if diagnosis.best is not None and diagnosis.best.documents:
        lines.append(f"  so in {diagnosis.best.documents:,} of {count_of(diagnosis.documents, 'document')}")
    if diagnosis.best is not None or not diagnosis.not_compared:
        lines += [f"  {ratio_text(each.f1)}  {plain(each.words)}" for each in diagnosis.hypotheses]
    for label in diagnosis.labels:
        proposal = f"probably {plain(label.proposal)}" if label.proposal else "no label of the ground truth"
        evidence = f"{label.overlapping:,} of {count_of(label.compared, 'box')} compared overlap"
        lines.append(f"  label {plain(label.label)}: {proposal}; {evidence}")
    if diagnosis.best is not None:
        lines.append(f"  apply it with {plain(diagnosis.option)}")
    elif diagnosis.labels_help:
        mapped = [Fix("label", f"{each.label}={each.proposal}") for each in diagnosis.labels if each.proposal]
        lines.append(f"  with these labels F1 {ratio_text(diagnosis.labels_f1)}: {plain(fix_options(mapped))}")
    return "\n".join(lines) + "\n"


def _check(path: Path, reading: Reading) -> tuple[Source | None, tuple[Issue, ...]]:
    try:
        read = read_any(path, reading)
    except BadInput as problem:
        return None, problem.issues
    return read, read.issues


def _described(path: Path, read: Source | None) -> dict[str, object]:
    if read is None:
        return {"name": path.name, "valid": False}
    checked = {"name": path.name, "valid": not has_errors(read.issues)}
    if not isinstance(read, Annotations):
        return checked | other_contents(read)
    return {
        **checked,
        "sha256": read.sha256,
        "format": read.format,
        "side": read.side,
        "model": read.model,
        "labels": read.labels[: read.evaluated],
        "documents": len(read.documents),
        "pages": len(set(zip(read.page_document.tolist(), read.page_index.tolist(), strict=True))),
        "boxes": len(read.boxes),
    }
