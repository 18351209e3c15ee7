"""The named slices of a command: which file they are in, and their numbers for its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Group, Parameter

from evaluator.analysis.slices.attributes import FROM_PDFS, PageValues, merge_page_values
from evaluator.analysis.slices.named_slices import NamedNumbers, NamedSlice, default_file, numbers_of, read_named
from evaluator.analysis.slices.observation_slices import documents_of, observation_numbers, pages_of
from evaluator.analysis.slices.page_table import read_page_table
from evaluator.cli.program import UsageError, in_one_sentence
from evaluator.cli.progress import SILENT, Bar
from evaluator.data.dataset import Dataset, page_keys
from evaluator.data.issues import Issue, plain
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute
from evaluator.project import MergedFiles, paths_of
from evaluator.protocols.base import BoxEvaluation, DatasetResult, Evaluation, Result

_slices: Final = Group("Named slices", sort_key=3)

SlicesFile = Annotated[
    Path | None,
    Parameter(group=_slices, help="Named slices; layoutscope-slices.json beside the ground truth when absent."),
]
PageTable = Annotated[
    Path | None,
    Parameter(group=_slices, help="CSV with attributes of documents or pages that named slices are about."),
]


def check_table(gt: Path | MergedFiles, slices: Path | None, attributes: Path | None) -> None:
    """Refuse a table of attributes without named slices, which alone are about it."""
    beside = default_file(paths_of(gt)[0])
    if attributes is not None and slices is None and not beside.exists():
        raise UsageError(
            f"--attributes has no effect without named slices; give --slices, or {beside.name} beside the ground truth."
        )


def named_in(
    evaluations: Sequence[Evaluation],
    gt: Path | MergedFiles,
    slices: Path | None,
    attributes: Path | None,
    *,
    pdfs: Path | None = None,
    say: Bar | None = None,
) -> tuple[list[Evaluation], list[NamedNumbers]]:
    """Return the evaluations and every measure of the named slices for each; empty without named slices.

    Of a protocol that does not match boxes, slices whose attributes it knows. Warnings about left-out rows of the table
    go to the evaluations. `BadInput` when a file cannot be understood, `UsageError` for an unknown attribute.
    """
    path = slices or default_file(paths_of(gt)[0])
    if slices is None and not path.exists():
        return list(evaluations), [NamedNumbers() for _ in evaluations]
    if not all(one.has_boxes for one in evaluations):
        raise UsageError(f"parts of a corpus leave no boxes for {plain(path.name)}; evaluate without --page-ranges.")
    results = [one.result for one in evaluations]
    boxes = [result for result in results if isinstance(result, BoxEvaluation)]
    named = read_named(path)
    of_pages, issues = (None, ()) if attributes is None else table_of(attributes, results)
    if len(boxes) < len(results):
        numbers = _observed(results, named, of_pages, known_only=slices is None)
    else:
        numbers = _of_boxes(boxes, named, of_pages, pdfs, say)
        if pdfs is not None and _needs_pdfs(named):
            issues = (*issues, *_locked(boxes[0].evaluated, pdfs))
    return [replace(each, issues=(*each.issues, *issues)) for each in evaluations], numbers


def table_of(attributes: Path, results: Sequence[Result]) -> tuple[PageValues, tuple[Issue, ...]]:
    """Return a table of attributes for the documents and pages of some results; as `read_page_table`."""
    first = results[0]
    if isinstance(first, DatasetResult):
        dataset = first.evaluated
        return read_page_table(attributes, dataset.document_ids, lambda: page_keys(dataset))
    return read_page_table(attributes, documents_of(results), lambda: pages_of(results))


def _of_boxes(
    boxes: Sequence[BoxEvaluation],
    named: Sequence[NamedSlice],
    of_pages: PageValues | None,
    pdfs: Path | None,
    say: Bar | None,
) -> list[NamedNumbers]:
    try:
        if pdfs is None or not _needs_pdfs(named):
            return [numbers_of(each, named, of_pages) for each in boxes]
        return [
            numbers_of(each, named, merge_page_values(shown, of_pages or {}), of_boxes)
            for each, (shown, of_boxes) in zip(
                boxes, _from_pdfs([each.first for each in boxes], pdfs, say), strict=True
            )
        ]
    except ValueError as problem:
        hint = "; --pdfs reads it from the documents" if pdfs is None and _needs_pdfs(named) else ""
        raise UsageError(f"{problem}{hint}.") from problem


def _observed(
    results: Sequence[Result], named: Sequence[NamedSlice], of_pages: PageValues | None, *, known_only: bool
) -> list[NamedNumbers]:
    with in_one_sentence(ValueError):
        return [observation_numbers(each, named, of_pages, known_only=known_only) for each in results]


def _needs_pdfs(named: Sequence[NamedSlice]) -> bool:
    return any(condition.attribute in FROM_PDFS for each in named for condition in each.conditions)


def _locked(dataset: Dataset, pdfs: Path) -> list[Issue]:
    from evaluator.pdf.folder import PdfFolder  # as below
    from evaluator.pdf.locked import locked_issues

    return locked_issues((document.name for document in dataset.documents), PdfFolder(pdfs))


def _from_pdfs(
    boxes: Sequence[AnyBoxResult], pdfs: Path, say: Bar | None
) -> Iterator[tuple[PageValues, Sequence[Sequence[Attribute]]]]:
    """Return what the PDFs show of the pages and of the boxes of each result; a page is read once for all."""
    from evaluator.analysis.slices.pdf_pages import of_results
    from evaluator.pdf.folder import PdfFolder  # here, because most runs read no pages
    from evaluator.pdf.pool import PagePool

    bar = say or SILENT
    bar("Reading pages")
    with PagePool() as pool:
        for each in boxes:
            seen = of_results([each], PdfFolder(pdfs), pool, bar.count)
            yield seen.of_pages, seen.of_boxes
