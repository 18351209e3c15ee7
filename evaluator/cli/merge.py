"""The command that makes one result of the parts of an evaluation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evaluator.cli.evaluate import form_of, results_text
from evaluator.cli.named_slices import named_in
from evaluator.cli.parts import evaluated_in, read_job
from evaluator.cli.paths import Read, need_apart
from evaluator.cli.program import OK, Json, Markdown, print_issues
from evaluator.cli.progress import progress
from evaluator.project import paths_of


def merge(
    parts: Path,
    /,
    *,
    json: Json = False,
    csv: Annotated[bool, Parameter(negative="")] = False,
    markdown: Markdown = False,
    out: Path | None = None,
) -> int:
    """Make one result of the parts that evaluate --shard wrote: the same numbers as of one run.

    Parameters
    ----------
    parts
        The folder of the parts; the files that were evaluated have to be where they were.
    csv
        Write CSV to standard output.
    out
        Folder that gets result.json, result.csv and result.md.
    """
    form = form_of(json=json, csv=csv, markdown=markdown)
    job, content = read_job(parts)
    truth, prediction = job.sides
    read: Read = {"merge": parts, "--gt": paths_of(truth), "--pred": paths_of(prediction)}
    if out is not None:
        need_apart([out], read)
    results = evaluated_in(parts, job, content)
    with progress("Writing") as say:
        results, named = named_in(results, truth, None, None, pdfs=job.chosen.get("pdfs"), say=say)
        text = results_text(results, named, form, out, read=read, say=say)
    sys.stdout.write(text)
    if not json:
        print_issues(issue for evaluated in results for issue in evaluated.issues)
    return OK
