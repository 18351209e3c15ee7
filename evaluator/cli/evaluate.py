"""The command that evaluates predictions under one protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from evaluator.analysis.slices.named_slices import NamedNumbers, default_file, slices_json, slices_table
from evaluator.cli.from_project import (
    ComparedFiles,
    CostsTable,
    FailedEmpty,
    MaybePredictions,
    MaybeProtocol,
    MaybeTruth,
    ProjectFile,
    check_costs,
    compared_files,
)
from evaluator.cli.named_slices import PageTable, SlicesFile, check_table, named_in
from evaluator.cli.paths import PDFS, PasswordFile, Read, need_apart, passwords_of, store_files
from evaluator.cli.program import OK, Json, Markdown, UsageError, in_one_sentence, print_issues, writing
from evaluator.cli.progress import Bar, progress
from evaluator.cli.protocol_options import DEFAULT, ProtocolOptions, given_options
from evaluator.compare.stored_results import stored_values
from evaluator.data.issues import plain
from evaluator.metrics import export
from evaluator.metrics.costs import costs_tables
from evaluator.metrics.results import ResultTable
from evaluator.pdf.passwords import opening_with
from evaluator.project import OptionError, in_corpora, paths_of
from evaluator.project import evaluate as evaluated_files
from evaluator.protocols.base import Evaluation
from evaluator.system.atomic_write import atomic_write
from evaluator.system.clusters import EngineError, EngineName, executor_of

_output = Group("Output", sort_key=3)
_engine = Group("Engine", sort_key=4)
# JSON, CSV and Markdown.
_FORMS = ("result.json", "result.csv", "result.md")


def evaluate(
    protocol: MaybeProtocol = None,
    /,
    *,
    gt: MaybeTruth = (),
    pred: MaybePredictions = (),
    project: ProjectFile = None,
    options: ProtocolOptions = DEFAULT,
    json: Annotated[Json, Parameter(group=_output)] = False,
    csv: Annotated[bool, Parameter(group=_output, negative="")] = False,
    markdown: Annotated[Markdown, Parameter(group=_output)] = False,
    out: Annotated[Path | None, Parameter(group=_output)] = None,
    findings: Annotated[
        str | None,
        Parameter(group=_output, help="The store of verdicts: adds the numbers on the corrected ground truth."),
    ] = None,
    costs: CostsTable = None,
    failed_empty: FailedEmpty = False,
    slices: SlicesFile = None,
    attributes: PageTable = None,
    password_file: PasswordFile = None,
    shard: Annotated[
        str | None,
        Parameter(
            group=_output, help='Evaluate one part of whole documents, "3/64", into --out; see layoutscope merge.'
        ),
    ] = None,
    engine: Annotated[
        EngineName,
        Parameter(
            group=_engine, help="What works on parts of a large corpus: processes here, or workers of a cluster."
        ),
    ] = "local",
    engine_address: Annotated[
        str | None,
        Parameter(group=_engine, help="The cluster; without it Dask is started on this machine."),
    ] = None,
) -> int:
    """Evaluate predictions against a ground truth.

    Parameters
    ----------
    pred
        Prediction file or folder; repeat it for more models.
    csv
        Write CSV to standard output; for pixel every cell of every matrix.
    out
        Folder that gets result.json, result.csv and result.md, and for pixel one CSV per matrix.
    """
    form = form_of(json=json, csv=csv, markdown=markdown)
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out must name a folder; {plain(out.name)} is a file. Choose another name.")
    compared = compared_files(protocol, gt, pred, project, given_options(options))
    check_table(compared.gt, slices, attributes)
    options_given = compared.options
    check_costs(costs, failed_empty=failed_empty)
    sources = _read_by(compared, project, slices, attributes, findings=findings, password_file=password_file)
    read: Read = {**sources, "--costs": costs}
    if out is not None:
        need_apart([out / name for name in _FORMS], read)
    if engine != "local":
        options_given = {"page_ranges": True, **options_given}
        if engine_address is not None and not in_corpora(compared.gt, compared.pred):
            raise UsageError("--engine-address takes a corpus that all workers can read; see layoutscope corpus.")
    if findings and options_given.get("page_ranges"):
        parts = "--page-ranges" if engine == "local" else f"--engine {engine}"
        raise UsageError(f"{parts} leaves no boxes that --findings could correct; choose one of them.")
    if shard is not None:
        from evaluator.cli.parts import write_part  # most evaluations are one run

        if out is None or form or findings or slices or attributes or costs or engine != "local":
            raise UsageError("--shard goes with --out alone; layoutscope merge writes the result.")
        with opening_with(passwords_of(password_file)):
            return write_part(compared, shard, out)
    with opening_with(passwords_of(password_file)), progress("Reading") as say:
        # Ray says on standard output which workers it lost.
        with in_one_sentence(OptionError, EngineError), redirect_stdout(sys.stderr):
            # A table needs no boxes; the JSON has what is kept of them.
            beside = default_file(paths_of(compared.gt)[0]).exists()
            boxes = json or any((out, findings, slices, attributes, beside))
            results = evaluated_files(
                compared.protocol,
                compared.gt,
                compared.pred,
                say,
                say.count,
                boxes=boxes,
                executor=executor_of(engine, engine_address),
                costs=costs,
                failed_empty=failed_empty,
                **options_given,
            )
        if findings:
            from evaluator.cli.findings import with_corrected  # it brings the database library

            results = with_corrected(results, findings)
        results, named = named_in(results, compared.gt, slices, attributes, pdfs=options_given.get("pdfs"), say=say)
        text = results_text(results, named, form, out, read=read, say=say)
    sys.stdout.write(text)
    if not json:  # the JSON has them
        print_issues(issue for evaluated in results for issue in evaluated.issues)
    return OK


def form_of(*, json: bool, csv: bool, markdown: bool) -> str | None:
    """Return the name of the form of a result that was chosen; None for a table."""
    if json + csv + markdown > 1:
        raise UsageError("choose one of --json, --csv and --markdown.")
    return next((name for name, chosen in zip(_FORMS, (json, csv, markdown), strict=True) if chosen), None)


def _read_by(
    compared: ComparedFiles,
    project: Path | None,
    slices: Path | None,
    attributes: Path | None,
    *,
    findings: str | None,
    password_file: Path | None,
) -> Read:
    return {
        "--gt": paths_of(compared.gt),
        "--pred": [path for each in compared.pred for path in paths_of(each)],
        PDFS: compared.options.get("pdfs"),
        "--project": project,
        "--slices": slices,
        "--attributes": attributes,
        "--password-file": password_file,
        "--findings": store_files(findings),
    }


def results_text(
    results: Sequence[Evaluation],
    named: Sequence[NamedNumbers],
    chosen: str | None,
    out: Path | None,
    *,
    read: Read,
    say: Bar,
) -> str:
    """Return the results in the chosen form for standard output; write all forms into the folder, if any."""
    tables = [evaluated.result.table() for evaluated in results]
    beside = [table for evaluated in results for table in evaluated.result.tables_beside()]
    beside += costs_tables((evaluated.costs for evaluated in results), tables[0].signature)
    tables += [
        slices_table(slices, f"Named slices: {table.title}", table.signature)
        for table, slices in zip(tuple(tables), named, strict=True)
        if slices.measures
    ]
    tables += beside
    # Made when it is wanted: the matrices of every page are dear, and most runs want a table.
    makers: tuple[Callable[[], str], ...] = (
        lambda: export.to_json(_values(results, named)) + "\n",
        lambda: export.to_csv([evaluated.result.csv_table() for evaluated in results]),
        lambda: export.to_markdown(tables),
    )
    forms = dict(zip(_FORMS, makers, strict=True))
    made: dict[str, str] = {}
    for name in forms if out is not None else [chosen] if chosen else []:
        say(f"Writing {name}")
        made[name] = forms[name]()
    if out is not None:
        for model, evaluated in enumerate(results):
            files = numbered(evaluated.result.csv_files(), model, len(results))
            made |= {name: export.to_csv([table]) for name, table in files.items()}
        # The names of the matrices are known only now.
        need_apart([out / name for name in made], read)
        with writing("--out", out):
            out.mkdir(parents=True, exist_ok=True)
            for name, text in made.items():
                atomic_write(out / name, [text.encode()])
    return made[chosen] if chosen else export.to_text(tables)


def numbered(files: Mapping[str, ResultTable], model: int, models: int) -> dict[str, ResultTable]:
    """Return the files of one of several models (from 0) under own names: ``model-2-confusion.csv``."""
    return dict(files) if models == 1 else {f"model-{model + 1}-{name}": table for name, table in files.items()}


def _values(results: Sequence[Evaluation], named: Sequence[NamedNumbers]) -> dict[str, Any] | list[dict[str, Any]]:
    values = [
        {
            **evaluated.to_json(),
            **stored_values(evaluated.result),
            **({"slices": slices_json(slices)} if slices.measures else {}),
        }
        for evaluated, slices in zip(results, named, strict=True)
    ]
    return values[0] if len(values) == 1 else values
