"""The commands for findings: export, import and merge them, and write the corrected ground truth."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from cyclopts import App, Group, Parameter

from evaluator import project, protocols
from evaluator.cli.paths import Read, need_apart, need_free, need_store, store_files
from evaluator.cli.program import OK, Truth, UsageError, writing
from evaluator.cli.progress import progress
from evaluator.data.dataset import Annotations, join
from evaluator.data.issues import BadInput, Issue, count_of, issues_text, plain
from evaluator.metrics import export
from evaluator.protocols import PROTOCOLS, protocol_of
from evaluator.protocols.base import DatasetResult, Evaluation
from evaluator.protocols.fields import FieldsResult
from evaluator.review import findings_export, findings_import
from evaluator.review.corrected_results import corrected_evaluation
from evaluator.review.corrections import corrections, snapshot_file
from evaluator.review.field_corrections import corrected_fields, field_corrections
from evaluator.review.problems import StoreProblem
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from evaluator.review.verdicts import Event, ReviewedTarget, ReviewLog
from evaluator.system.atomic_write import atomic_write

T = TypeVar("T")
Format = Literal["csv", "json", "parquet"]

_store = Group("Store", sort_key=1)
_Address = Annotated[
    str | None,
    Parameter(
        name="--findings",
        group=_store,
        help="The store: a file or a database address. Default: the environment variable LAYOUTSCOPE_FINDINGS.",
    ),
]
_Workspace = Annotated[str, Parameter(group=_store, help="The project, in a database shared by several.")]

findings_app = App(name="findings", help="Verdicts and notes: export, import, merge, and the corrected ground truth.")


@findings_app.command(name="export")
def export_findings(
    *,
    findings: _Address = None,
    workspace: _Workspace = "",
    format: Format = "csv",
    out: Path | None = None,
) -> int:
    """Export every event of a store, with its target as it was judged.

    Parameters
    ----------
    format
        csv, json or parquet.
    out
        The file. Default: standard output, except for parquet.
    """
    if format == "parquet" and out is None:
        raise UsageError("parquet needs --out FILE.")
    _need_apart(out, {"--findings": store_files(_address_of(findings))})
    with _opened(findings, must_exist=True) as store:
        events = _asked(lambda: store.events(workspace))
    content = _written(events, format)
    if out is None:
        sys.stdout.write(content.decode())
    else:
        _write(out, content)
        sys.stderr.write(f"{count_of(len(events), 'event')} written to {plain(out.name)}\n")
    return OK


@findings_app.command(name="import")
def import_findings(
    files: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    findings: _Address = None,
    workspace: _Workspace = "",
) -> int:
    """Import events from files into a store; nothing is imported when a row of any file has an error.

    An event that is already in the store is skipped. Imported verdicts are never marked as verified.

    Parameters
    ----------
    files
        CSV, JSON or Parquet as exported, or a handwritten CSV.
    """
    events = [event for of_file in _read(files) for event in of_file]
    with _opened(findings) as store:
        before = len(_asked(lambda: store.events(workspace)))
        _asked(lambda: store.add(events, workspace))
        log = _asked(lambda: store.log(workspace))
    added = len(log.events) - before
    there = len(events) - added
    sys.stderr.write(f"{count_of(added, 'event')} added, {there:,} already there; {_counted(log)}\n")
    sys.stdout.write(_conflicts(log.conflicts))
    return OK


@findings_app.command(name="merge")
def merge_findings(
    files: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    format: Format = "json",
    out: Path | None = None,
) -> int:
    """Merge the findings of several reviewers and list their conflicts.

    Parameters
    ----------
    files
        Exported files, one for each reviewer or store.
    format
        csv, json or parquet.
    out
        The merged file. Default: only list the conflicts.
    """
    if len(files) < 2:
        raise UsageError("merge needs two files or more.")
    _need_apart(out, {"merge": files})
    merged = findings_import.merge(*_read(files))
    if out is not None:
        _write(out, _written(merged.events, format))
    repeated = f", {merged.repeated:,} of them in several files" if merged.repeated else ""
    sys.stderr.write(f"{count_of(len(merged.events), 'event')}{repeated}; {_counted(merged.log)}\n")
    sys.stdout.write(_conflicts(merged.conflicts))
    return OK


@findings_app.command
def correct(
    *,
    gt: Truth,
    pred: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    findings: _Address = None,
    workspace: _Workspace = "",
    out: Path,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write the ground truth corrected by the agreed verdicts, in schema 1.3; the original is not changed.

    Parameters
    ----------
    pred
        Prediction files, whose labels may be used. Accepted predictions are stored with the verdicts.
    out
        The corrected file.
    force
        Write over a file that exists.
    """
    _need_apart(out, {"--gt": gt, "--pred": pred, "--findings": store_files(_address_of(findings))})
    need_free(out, force=force)
    with progress("Reading"):
        protocol = protocols.box_protocols()[protocols.DEFAULT]
        options = protocol.options()
        files = project.open_project(protocol, project.one_input(gt), pred, options)
        truth, _ = files.required()
        assert isinstance(truth, Annotations)
        dataset = project.require_joined(files, protocol, options).dataset if pred else join(truth)
        with _opened(findings, must_exist=True) as store:
            to = corrections(dataset, _asked(lambda: store.log(workspace)))
        content = snapshot_file(to, created_at=datetime.now(UTC))
    _write(out, content)
    sys.stdout.write("".join(f"{plain(change.sentence)}\n" for change in to.of_boxes))
    sys.stderr.write(issues_text(to.issues))
    ignored = to.applied - len(to.of_boxes)
    more = f"; {count_of(ignored, 'mistake')} to ignore, whose boxes stay" if ignored else ""
    sys.stderr.write(f"{count_of(len(to.of_boxes), 'verdict')} applied{more}; written to {plain(out.name)}\n")
    return OK


def with_corrected(results: Sequence[Evaluation], address: str) -> list[Evaluation]:
    """Return each evaluation, then the one on the corrected ground truth when any verdict applies.

    Verdicts that could not be applied are issues of the corrected one. `UsageError` for a protocol without corrected
    numbers, and for a store that cannot be read.
    """
    with _opened(address, must_exist=True) as store:
        log = _asked(store.log)
    protocol = protocol_of(results[0].result)
    if not protocol.correctable:
        able = ", ".join(name for name, each in PROTOCOLS.items() if each.correctable)
        raise UsageError(f"--findings needs one of {able}, whose results have corrected numbers.")
    if protocol.kind == "fields":
        return _with_corrected_fields(results, log)
    return [one for official in results for one in _with_corrected_boxes(official, log)]


def _with_corrected_boxes(official: Evaluation, log: ReviewLog) -> list[Evaluation]:
    """Return an evaluation of boxes, and the one on the corrected files when there is anything to correct."""
    result = official.result
    assert isinstance(result, DatasetResult)
    to = corrections(result.evaluated, log)
    issues = (*official.issues, *to.issues)
    both = [Evaluation(result, issues)]
    return [*both, Evaluation(corrected_evaluation(result, to), issues)] if to.applied else both


def _with_corrected_fields(results: Sequence[Evaluation], log: ReviewLog) -> list[Evaluation]:
    """Return evaluations of fields with their corrected ones; all models share one corrected ground truth."""
    official = [(evaluation, evaluation.result) for evaluation in results]
    to = field_corrections([result for _, result in official if isinstance(result, FieldsResult)], log)
    both: list[Evaluation] = []
    for evaluation, result in official:
        assert isinstance(result, FieldsResult)
        issues = (*evaluation.issues, *to.issues)
        both.append(Evaluation(evaluation.result, issues))
        if to.applied:
            both.append(Evaluation(corrected_fields(result, to), issues))
    return both


def _address_of(given: str | None) -> str:
    address = given or os.environ.get(FINDINGS_VARIABLE)
    if not address:
        raise UsageError(f"name the store with --findings FILE_OR_ADDRESS, or set {FINDINGS_VARIABLE}.")
    return address


def _opened(given: str | None, *, must_exist: bool = False) -> Store:
    address = _address_of(given)
    need_store(address, must_exist=must_exist)
    store: Store = _asked(lambda: Store(address))
    return store


def _need_apart(out: Path | None, read: Read) -> None:
    """Refuse to write where something is read; nothing to refuse on standard output."""
    if out is not None:
        need_apart([out], read)


def _write(out: Path, content: bytes) -> None:
    with writing("--out", out):
        atomic_write(out, [content])


def _asked(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except StoreProblem as problem:
        raise UsageError(f"{problem.title}. {problem.text} {problem.fix}") from problem


def _read(files: Sequence[Path]) -> list[tuple[Event, ...]]:
    events: list[tuple[Event, ...]] = []
    problems: list[Issue] = []
    for path in files:
        try:
            read = findings_import.read(path.read_bytes(), path.name, max_per_rule=None)
        except BadInput as bad:
            problems += bad.issues
            continue
        events.append(read.events)
        sys.stderr.write(issues_text(read.issues))
    if problems:
        raise BadInput(problems)
    return events


def _written(events: Sequence[Event], format: Format) -> bytes:
    if format == "parquet":
        return findings_export.to_parquet(events)
    text = findings_export.to_csv(events) if format == "csv" else findings_export.to_json(events) + "\n"
    return text.encode()


def _counted(log: ReviewLog) -> str:
    return f"{count_of(len(log), 'finding')}, {count_of(len(log.conflicts), 'conflict')}"


def _conflicts(conflicts: Sequence[ReviewedTarget]) -> str:
    if not conflicts:
        return ""
    every = findings_export.table(conflicts, title="Conflicts")
    shown = [every.columns.index(name) for name in ("document", "page_index", "label", "mistake", "opinions")]
    return export.to_text(
        [
            msgspec.structs.replace(
                every,
                columns=tuple(every.columns[column] for column in shown),
                rows=tuple(tuple(row[column] for column in shown) for row in every.rows),
            )
        ]
    )
