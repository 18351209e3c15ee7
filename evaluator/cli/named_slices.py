"""The named slices of a command: which file they are in, and their numbers for results that match boxes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Group, Parameter

from evaluator.cli.program import UsageError
from evaluator.protocols.base import BoxEvaluation, Evaluation
from evaluator.slices.named import Counted, counted, default_file, read_named
from evaluator.slices.page_table import read_page_table

_slices: Final = Group("Named slices", sort_key=3)

SlicesFile = Annotated[
    Path | None,
    Parameter(group=_slices, help="Named slices; layoutscope-slices.json beside the ground truth when absent."),
]
PageTable = Annotated[
    Path | None,
    Parameter(group=_slices, help="CSV with attributes of documents or pages that named slices are about."),
]


def named_in(
    evaluations: Sequence[Evaluation], gt: Path, slices: Path | None, attributes: Path | None
) -> list[tuple[Counted, ...]]:
    """Recall and precision of the named slices, for each result.

    Returns
    -------
    list of tuple of Counted
        Empty tuples without named slices, and for protocols that do not match boxes unless a file was asked for.

    Raises
    ------
    BadInput
        When a file cannot be understood.
    UsageError
        When a slice is about an attribute that there is not, or was asked for of a protocol without matched boxes.
    """
    path = slices or default_file(gt)
    if slices is None and not path.exists():
        return [() for _ in evaluations]
    results = [one.result for one in evaluations]
    boxes = [result.first for result in results if isinstance(result, BoxEvaluation)]
    if len(boxes) < len(results):
        if slices is None:
            return [() for _ in evaluations]
        raise UsageError("--slices is about boxes that are matched one to one, which this protocol does not do.")
    named = read_named(path)
    of_pages = None
    if attributes is not None:
        of_pages = read_page_table(attributes, boxes[0].matching.dataset.document_ids)
    try:
        return [counted(each, named, of_pages) for each in boxes]
    except ValueError as problem:
        raise UsageError(f"{problem}.") from problem
