"""The commands that compare predictions: ``compare`` two or more models, and ``gate`` a new one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Group, Parameter

from evaluator.analysis.slices.named_slices import PREFIX, slices_part, with_slices
from evaluator.cli.arguments import letters
from evaluator.cli.decision_options import LARGEST_LOSS, LEAST, Least, Loss, Measure, rule_of
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
from evaluator.cli.paths import PasswordFile, passwords_of
from evaluator.cli.program import (
    GATE_FAILED,
    OK,
    Json,
    Markdown,
    Protocol,
    Truth,
    UsageError,
    in_one_sentence,
    print_issues,
)
from evaluator.cli.progress import progress
from evaluator.cli.protocol_options import DEFAULT, ProtocolOptions, given_options, need_protocol
from evaluator.compare.comparison import Comparison, signature_line
from evaluator.compare.comparison import compare as compared
from evaluator.compare.gate import EXAMPLE, ConditionError, Verdict, judge, parse, verdict_table
from evaluator.data.issues import count_of
from evaluator.metrics import export
from evaluator.metrics.costs import costs_tables
from evaluator.metrics.resampling import LEAST_RESAMPLES, RESAMPLES, SEED
from evaluator.metrics.results import ResultTable
from evaluator.pdf.passwords import opening_with
from evaluator.project import OptionError, evaluate_together, model_names, one_input
from evaluator.protocols import PROTOCOLS, protocol_of
from evaluator.protocols.base import Evaluation, Say
from evaluator.system.memory import release_freed_memory, share_among_threads

_MOST_RESAMPLES: Final = 1_000_000

_resampling = Group("Intervals", sort_key=3)
_output = Group("Output", sort_key=4)

_Seed = Annotated[int, Parameter(group=_resampling, help="Seed of the resampling.")]
_Resamples = Annotated[
    int,
    Parameter(
        group=_resampling, help=f"How often documents are drawn for the intervals; at least {LEAST_RESAMPLES} times."
    ),
]
_Json = Annotated[Json, Parameter(group=_output)]
_Markdown = Annotated[Markdown, Parameter(group=_output)]


def compare(
    protocol: MaybeProtocol = None,
    /,
    *,
    gt: MaybeTruth = (),
    pred: MaybePredictions = (),
    project: ProjectFile = None,
    options: ProtocolOptions = DEFAULT,
    slices: SlicesFile = None,
    attributes: PageTable = None,
    costs: CostsTable = None,
    failed_empty: FailedEmpty = False,
    password_file: PasswordFile = None,
    decide_by: Measure = None,
    least: Least = LEAST,
    largest_loss: Loss = LARGEST_LOSS,
    seed: _Seed = SEED,
    resamples: _Resamples = RESAMPLES,
    json: _Json = False,
    markdown: _Markdown = False,
    brief: Annotated[
        bool,
        Parameter(
            group=_output, negative="", help="Only clear differences, and the pages with most mistakes of B alone."
        ),
    ] = False,
) -> int:
    """Compare two or more models: which boxes each one finds, every difference with its interval, and a decision.

    The first --pred is A, the baseline, the second B, the candidate; more of them are in a table of all models.

    Parameters
    ----------
    pred
        Prediction file or folder; give it twice or more.
    """
    _check(json=json, markdown=markdown, resamples=resamples, seed=seed)
    if brief and json:
        raise UsageError("choose one of --json and --brief.")
    files = compared_files(protocol, gt, pred, project, given_options(options))
    if len(files.pred) < 2:
        raise UsageError("give --pred twice or more; to evaluate one prediction use layoutscope evaluate.")
    check_table(files.gt, slices, attributes)
    check_costs(costs, failed_empty=failed_empty)
    rule = rule_of(decide_by, least, largest_loss, PROTOCOLS[files.protocol])
    pdfs = files.options.get("pdfs")
    with opening_with(passwords_of(password_file)), progress("Reading") as say:
        evaluations = _evaluated(files, say, costs, failed_empty=failed_empty)
        say("Comparing")
        evaluations, named = named_in(evaluations, files.gt, slices, attributes, pdfs=pdfs, say=say)
        parts, ties = [slices_part(each) for each in named], [each.ties for each in named]
        results = [one.result for one in evaluations]
        comparison = compared(
            results, letters(len(files.pred)), seed=seed, resamples=resamples, more=parts, more_ties=ties, rule=rule
        )
        with in_one_sentence(ValueError):
            text = export.in_form(
                lambda: _values(comparison, evaluations),
                lambda: (
                    *comparison.tables(model_names(files.pred), brief=brief),
                    *costs_tables((one.costs for one in evaluations), comparison.signature),
                ),
                json=json,
                markdown=markdown,
            )
    sys.stdout.write(text)
    if not json:  # the JSON has them
        print_issues((issue for one in evaluations for issue in one.issues), comparison.labels.sentences)
    return OK


def gate(
    protocol: Protocol,
    /,
    *,
    gt: Truth,
    pred: Path,
    baseline: Path | None = None,
    fail_if: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    options: ProtocolOptions = DEFAULT,
    slices: SlicesFile = None,
    attributes: PageTable = None,
    costs: CostsTable = None,
    failed_empty: FailedEmpty = False,
    password_file: PasswordFile = None,
    seed: _Seed = SEED,
    resamples: _Resamples = RESAMPLES,
    json: _Json = False,
    markdown: _Markdown = False,
) -> int:
    """Fail with exit code 1 when a prediction is not good enough, in absolute terms or against a baseline.

    A condition states what is not allowed: "recall[Table] < baseline - 0.5pt", "f1 < 0.85", "precision < baseline and
    significant". See docs/ci-gate.md for all of it. A named slice can be given instead of a label:
    "recall[slice:scans] < 0.5".

    Parameters
    ----------
    pred
        Prediction file or folder.
    baseline
        Prediction file or folder of what is in use now.
    fail_if
        A condition; repeat it for more.
    """
    need_protocol(protocol)
    _check(json=json, markdown=markdown, resamples=resamples, seed=seed)
    if not fail_if:
        raise UsageError(f"give at least one --fail-if, such as --fail-if {EXAMPLE}.")
    check_table(one_input(gt), slices, attributes)
    check_costs(costs, failed_empty=failed_empty)
    paths = [pred] if baseline is None else [pred, baseline]
    given = given_options(options)
    pdfs = given.get("pdfs")
    passwords = passwords_of(password_file)
    with opening_with(passwords), progress("Reading") as say, in_one_sentence(ConditionError):
        conditions = [parse(text) for text in fail_if]
        files = ComparedFiles(protocol, one_input(gt), paths, given)
        evaluations = _evaluated(files, say, costs, failed_empty=failed_empty)
        say("Judging")
        results = [one.result for one in evaluations]
        sides, ties = [protocol_of(result).measures(result) for result in results], [one.tied_ranges for one in results]
        of_slices = any((each.label or "").startswith(PREFIX) for each in conditions)
        if slices is not None or of_slices:
            evaluations, named = named_in(evaluations, one_input(gt), slices, attributes, pdfs=pdfs, say=say)
            sides = [with_slices(side, each) for side, each in zip(sides, named, strict=True)]
            ties = [{**side, **each.ties} for side, each in zip(ties, named, strict=True)]
        reference = sides[1] if len(sides) > 1 else None
        verdicts = judge(conditions, sides[0], reference, seed=seed, resamples=resamples, ties=(ties[-1], ties[0]))
    failed = sum(verdict.failed for verdict in verdicts)
    sys.stdout.write(_verdicts(verdicts, evaluations, paths, seed, resamples, json=json, markdown=markdown))
    if not json:
        print_issues(issue for one in evaluations for issue in one.issues)
    if failed:
        sys.stderr.write(f"gate failed: {failed} of {count_of(len(verdicts), 'condition')}\n")
    return GATE_FAILED if failed else OK


def _evaluated(files: ComparedFiles, say: Say, costs: Path | None, *, failed_empty: bool) -> list[Evaluation]:
    share_among_threads()  # all columns of all models are there at a time
    with in_one_sentence(OptionError):
        return evaluate_together(
            files.protocol, files.gt, files.pred, say, costs=costs, failed_empty=failed_empty, **files.options
        )


def _check(*, json: bool, markdown: bool, resamples: int, seed: int) -> None:
    """Refuse two forms at once, and numbers with which nothing can be drawn."""
    if json and markdown:
        raise UsageError("choose one of --json and --markdown.")
    if not LEAST_RESAMPLES <= resamples <= _MOST_RESAMPLES:
        allowed = f"between {LEAST_RESAMPLES} and {_MOST_RESAMPLES:,}"
        raise UsageError(f"--resamples must be {allowed}; found {resamples:,}.")
    if seed < 0:
        raise UsageError(f"--seed must be at least 0; found {seed}.")


def _values(comparison: Comparison, evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    # What one step has freed is given back for the next one: of many pages each takes as much as the boxes.
    each = [one.to_json() for one in evaluations]
    release_freed_memory()
    values = comparison.to_json(each)
    release_freed_memory()
    return values


def _verdicts(
    verdicts: Sequence[Verdict],
    evaluations: Sequence[Evaluation],
    paths: Sequence[Path],
    seed: int,
    resamples: int,
    *,
    json: bool,
    markdown: bool,
) -> str:  # fmt: skip
    failed = sum(verdict.failed for verdict in verdicts)
    signatures = [one.result.signature for one in evaluations]
    line = signatures[0].line
    if len(signatures) > 1:
        line = signature_line(signatures[::-1], letters(2), seed=seed, resamples=resamples)

    def values() -> dict[str, Any]:
        return {
            "passed": not failed,
            "signature": line,
            "conditions": [verdict.to_json() for verdict in verdicts],
            "result": evaluations[0].to_json(),
            "baseline": evaluations[1].to_json() if len(evaluations) > 1 else None,
            "seed": seed,
            "resamples": resamples,
        }

    name, *baseline = model_names(paths)
    against = f" against {baseline[0]}" if baseline else ""
    ended = f"failed, {failed} of {count_of(len(verdicts), 'condition')}" if failed else "passed"
    title = f"Gate {ended}: {name}{against}"

    def tables() -> list[ResultTable]:
        return [verdict_table(verdicts, title, line), *costs_tables((one.costs for one in evaluations), line)]

    return export.in_form(values, tables, json=json, markdown=markdown)
