"""The command that lists ground truth that is likely wrong, and plans how much of it to review."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from evaluator import project
from evaluator.analysis.suspects import listing, review_plan
from evaluator.analysis.suspects.listing import LEAST_LISTED
from evaluator.analysis.suspects.page_evidence import with_page_evidence
from evaluator.cli.absent_documents import absent_note
from evaluator.cli.paths import PasswordFile, passwords_of
from evaluator.cli.program import OK, Protocol, Truth, UsageError, in_one_sentence, print_issues
from evaluator.cli.progress import progress
from evaluator.cli.protocol_options import DEFAULT, ProtocolOptions, given_options, need_protocol
from evaluator.data.dataset import Dataset, fix_texts
from evaluator.data.issues import count_of
from evaluator.metrics import export
from evaluator.metrics.results import Signature, threshold_text
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.passwords import opening_with
from evaluator.pdf.pool import PagePool
from evaluator.protocols import AnyProtocol, box_protocols, protocols_of_boxes
from evaluator.protocols.base import BoxOptions

_output = Group("Output", sort_key=3)
_SHOWN = 50


def suspects(
    protocol: Protocol,
    /,
    *,
    gt: Truth,
    pred: Annotated[list[Path], Parameter(negative="")],
    options: ProtocolOptions = DEFAULT,
    least: float = LEAST_LISTED,
    plan: float | None = None,
    password_file: PasswordFile = None,
    json: Annotated[bool, Parameter(group=_output, negative="")] = False,
    markdown: Annotated[bool, Parameter(group=_output, negative="")] = False,
) -> int:
    """List ground truth that deserves a second look, most likely wrong first, with a proposed correction.

    Two models say far more than one: where they agree with each other against the ground truth, it is likely wrong.
    With --pdfs words and ink of the pages count as well.

    Parameters
    ----------
    pred
        Prediction file or folder; once or twice.
    least
        Leave out suspects whose probability of being wrong is lower.
    plan
        How many points off the recall may be, such as 0.03: list the pages to review for that instead, in order.
    json
        Write all of them as JSON to standard output.
    markdown
        Write the first 50 as Markdown to standard output.
    """
    need_protocol(protocol)
    able, matching = protocols_of_boxes(), box_protocols()
    if protocol not in able:
        raise UsageError(f"suspects needs a protocol of boxes on pages: {', '.join(able)}; found {protocol}.")
    if plan is not None and protocol not in matching:
        raise UsageError(f"--plan needs a protocol that matches boxes: {', '.join(matching)}; found {protocol}.")
    if json and markdown:
        raise UsageError("choose one of --json and --markdown.")
    if not 1 <= len(pred) <= listing.MOST_MODELS:
        raise UsageError(f"give --pred once or twice; found {len(pred)}.")
    if not 0.0 <= least <= 1.0:
        raise UsageError(f"--least must be between 0 and 1; found {least:g}.")
    system, given = able[protocol], given_options(options)
    # An option of the protocol pixel as well; here words and ink of the pages count as evidence.
    pdfs = given.pop("pdfs", None)
    absent: list[str] = []
    with opening_with(passwords_of(password_file)), progress("Reading") as say, in_one_sentence(ValueError):
        settings = project.options_of(system, **given)
        labels: tuple[str, ...] | None = getattr(settings, "labels", None)
        min_score: float = getattr(settings, "min_score", 0.0)
        files = project.open_project(system, project.one_input(gt), pred, settings, say)
        joined = project.require_joined(files, system, settings)
        say("Weighing")
        suspects = listing.suspects(joined.dataset, labels=labels, min_score=min_score)
        if pdfs is not None:
            say("Reading pages")
            folder = PdfFolder(pdfs)
            with PagePool() as pool:
                suspects = with_page_evidence(suspects, folder, pool, count=say.count)
            absent = absent_note(joined.dataset, folder)
        if plan is not None:
            say("Planning")
            assert isinstance(settings, BoxOptions)
            review = review_plan.review_plan(suspects, matching[protocol], settings, margin=plan)
        suspects = suspects.at_least(least)
    evidence = () if pdfs is None else ("words and ink of the pages",)
    line = _signature(system, joined.dataset, evidence, labels=labels, min_score=min_score, least=least)
    if plan is not None:
        text = export.in_form(review.to_json, lambda: [review.table(line)], json=json, markdown=markdown)
    else:
        text = export.in_form(
            lambda: [one.to_json() for one in suspects.to_list()],
            lambda: [listing.table(suspects, _SHOWN, line)],
            json=json,
            markdown=markdown,
        )
    sys.stdout.write(text)
    print_issues(joined.issues, absent)
    return OK


def _signature(
    system: AnyProtocol,
    dataset: Dataset,
    evidence: Sequence[str],
    *,
    labels: tuple[str, ...] | None,
    min_score: float,
    least: float,
) -> str:
    """Return what made the list, in one line; no pair is matched, so there is no IoU threshold."""
    sides = (dataset.ground_truth, *dataset.predictions)
    fixes = dict.fromkeys(fix for side in sides[1:] for fix in fix_texts(sides[0].source, side.source))
    return Signature(
        protocol=system.name,
        version=system.version,
        min_score=min_score,
        labels=labels,
        options=(
            count_of(len(dataset.predictions), "model"),
            f"probability ≥ {threshold_text(least)}",
            *evidence,
            *fixes,
        ),
        documents=len(dataset.documents),
        pages=dataset.pages,
    ).line
