"""The command that finds by itself where a model fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, cast

from cyclopts import Group, Parameter

from evaluator import project
from evaluator.analysis.slices.all_measures import find_by_all_measures
from evaluator.analysis.slices.attributes import PageValues, merge_page_values
from evaluator.analysis.slices.averages import find_by_average
from evaluator.analysis.slices.measure_values import ALL, WORDS, Measure, is_average, problem_of
from evaluator.analysis.slices.named_slices import NamedSlice, default_file, save_named
from evaluator.analysis.slices.observation_slices import find_observation_slices, measure_problem, pages_of
from evaluator.analysis.slices.pdf_pages import of_listed_pages, of_results
from evaluator.analysis.slices.search import SMALLEST_EFFECT
from evaluator.analysis.slices.slices import Slices, find_slices, signature_of
from evaluator.cli.absent_documents import absent_note, absent_of
from evaluator.cli.named_slices import table_of
from evaluator.cli.paths import PasswordFile, passwords_of
from evaluator.cli.program import (
    OK,
    Json,
    Markdown,
    Protocol,
    Truth,
    UsageError,
    in_one_sentence,
    print_issues,
    writing,
)
from evaluator.cli.progress import Bar, progress
from evaluator.cli.protocol_options import DEFAULT, ProtocolOptions, given_options, need_protocol
from evaluator.data.issues import Issue
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics import export
from evaluator.metrics.observations import Attribute
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.passwords import opening_with
from evaluator.pdf.pool import PagePool
from evaluator.project import OptionError
from evaluator.protocols import PROTOCOLS, box_protocols
from evaluator.protocols.base import BoxEvaluation, Result

_search = Group("Search", sort_key=3)
_output = Group("Output", sort_key=4)


def slices(
    protocol: Protocol,
    /,
    *,
    gt: Truth,
    pred: Annotated[list[Path], Parameter(negative="")],
    options: ProtocolOptions = DEFAULT,
    measure: Annotated[str | None, Parameter(group=_search)] = None,
    attributes: Annotated[Path | None, Parameter(group=_search)] = None,
    conditions: Annotated[int, Parameter(group=_search)] = 3,
    smallest: Annotated[float, Parameter(group=_search)] = SMALLEST_EFFECT,
    use_score: Annotated[bool, Parameter(group=_search, negative="")] = False,
    only_confirmed: Annotated[bool, Parameter(group=_search, negative="")] = False,
    password_file: PasswordFile = None,
    save: Annotated[str | None, Parameter(group=_output)] = None,
    slices_file: Annotated[Path | None, Parameter(group=_output)] = None,
    json: Annotated[Json, Parameter(group=_output)] = False,
    markdown: Annotated[Markdown, Parameter(group=_output)] = False,
) -> int:
    """Find the sets of boxes, fields or posters, by up to three conditions, in which a model is worse than elsewhere.

    With two --pred, where B does differently from A. With --pdfs the words, fonts, ink, pictures and ruled lines of
    pages and boxes are attributes too. See docs/slices.md for what is tried and how chance is controlled.

    Parameters
    ----------
    pred
        Prediction file or folder; a second one is compared with the first.
    measure
        recall (the default), precision, f1, mean_iou, mean_coverage, mean_purity, or all of these in one list. With
        coco also AP, AP50, AP75, AR1, AR10 and AR100, with pod map and mean_f1: conditions then are on pages, documents
        and labels. fields has recall, precision, mean_iou, value (right values) and all; posters passes (the default),
        word_capture, rouge_l, number_capture, field_proportion, all of these, words, numbers and sections; pixel iou
        (the default), recall, precision, f1 and all, of the labels of pages.
    attributes
        CSV with attributes of documents or pages: a column document, perhaps page (from 0) or page_no (from 1).
    conditions
        Conditions of a slice, at most: 1, 2 or 3.
    smallest
        Smallest difference that is listed, as a ratio.
    use_score
        Let conditions be on the score of predictions; with --measure precision, and mean_iou of fields.
    only_confirmed
        List only what the other half of the documents confirms.
    save
        Keep the first slice under this name, for evaluate, compare and gate.
    slices_file
        Where named slices are kept; layoutscope-slices.json beside the ground truth when absent.
    """
    need_protocol(protocol)
    if json and markdown:
        raise UsageError("choose one of --json and --markdown.")
    if len(pred) > 2:
        raise UsageError("give --pred once or twice.")
    if not 1 <= conditions <= 3:
        raise UsageError(f"--conditions must be 1, 2 or 3; found {conditions}.")
    if not 0.0 <= smallest < 1.0:
        raise UsageError(f"--smallest must be at least 0 and below 1; found {smallest:g}.")
    measure = _measure(protocol, measure)
    if use_score and not _of_predictions(protocol, measure):
        raise UsageError("--use-score goes with --measure precision: the ground truth has no scores.")
    given = given_options(options)
    # Here the pages give attributes; those of a protocol that counts pixels give their sizes too.
    pdfs = given.get("pdfs")
    if PROTOCOLS[protocol].matches_boxes or not hasattr(PROTOCOLS[protocol].options, "pdfs"):
        given.pop("pdfs", None)
    with opening_with(passwords_of(password_file)), progress("Reading") as say:
        with in_one_sentence(OptionError):
            evaluations = project.evaluate_together(protocol, project.one_input(gt), pred, say, **given)
        sought = _Sought(measure, pdfs, use_score=use_score, smallest=smallest, depth=conditions)
        results = [one.result for one in evaluations]
        boxes = [result for result in results if isinstance(result, BoxEvaluation)]
        table: PageValues = {}
        issues: tuple[Issue, ...] = ()
        if attributes is not None:
            table, issues = table_of(attributes, results)
        result, absent = _of_boxes(boxes, sought, table, say) if boxes else _observed(results, sought, table, say)
    if only_confirmed:
        result = result._replace(slices=tuple(each for each in result.slices if each.confirmed))
    if save is not None:
        if not result.slices:
            raise UsageError(f"there is no slice to save as {save}.")
        file = slices_file or default_file(gt[0])
        with writing("--slices-file", file):
            save_named(file, NamedSlice(save, result.slices[0].conditions))
    sys.stdout.write(_printed(result, json=json, markdown=markdown))
    beside = [result.summary, *[each.sentence for each in result.thin]] if json else ()
    print_issues((*(issue for one in evaluations for issue in one.issues), *issues), (*absent, *beside))
    return OK


class _Sought(NamedTuple):
    """What is searched: the arguments of the command."""

    measure: str
    pdfs: Path | None
    use_score: bool
    smallest: float
    depth: int


def _measure(protocol: str, name: str | None) -> str:
    if protocol not in box_protocols():
        words = PROTOCOLS[protocol].slice_measures
        if not words:
            raise UsageError(f"{protocol} says of nothing that slices are made of whether it is right.")
        measure = name or next(iter(words))
        problem = measure_problem(words, measure)
    else:
        averages = box_protocols()[protocol].averages
        measure = {each.casefold(): each for each in averages}.get((name or "recall").casefold(), name or "recall")
        problem = problem_of(measure, averages)
    if problem:
        raise UsageError(f"--measure: {problem}.")
    return measure


def _of_predictions(protocol: str, measure: str) -> bool:
    words = WORDS if protocol in box_protocols() else PROTOCOLS[protocol].slice_measures
    return any(name == measure and each.scored for name, each in words.items())


def _observed(
    results: Sequence[Result], sought: _Sought, table: PageValues, say: Bar
) -> tuple[Slices, list[str]]:  # fmt: skip
    """Search what a protocol observes one by one; also which documents have no file, as a note."""
    of_pages: PageValues = {}
    absent: list[str] = []
    if sought.pdfs is not None:
        say("Reading pages")
        folder = PdfFolder(sought.pdfs)
        pages = pages_of(results)
        absent = absent_of(pages, len({name for name, _ in pages}), folder)
        with PagePool() as pool:
            of_pages = of_listed_pages(pages, folder, pool, say.count)
    of_pages = merge_page_values(of_pages, table)
    say("Searching")
    with in_one_sentence(ValueError):
        slices = find_observation_slices(
            results,
            sought.measure,
            of_pages=of_pages,
            use_score=sought.use_score,
            smallest=sought.smallest,
            depth=sought.depth,
            signature=signature_of([each.signature.line for each in results]),
            count=say.count,
        )
    return slices, absent


def _of_boxes(
    results: Sequence[BoxEvaluation], sought: _Sought, table: PageValues, say: Bar
) -> tuple[Slices, list[str]]:  # fmt: skip
    """Search matched boxes; also which documents have no file, as a note."""
    boxes = [result.first for result in results]
    of_pages, of_boxes, absent = _from_pdfs(boxes, sought.pdfs, say)
    of_pages = merge_page_values(of_pages, table)
    say("Searching")
    return _searched(results, sought, of_pages, of_boxes, say), absent


def _searched(
    results: Sequence[BoxEvaluation],
    sought: _Sought,
    of_pages: PageValues,
    of_boxes: Sequence[Sequence[Attribute]],
    say: Bar,
) -> Slices:
    measure, smallest, depth = sought.measure, sought.smallest, sought.depth
    if is_average(measure):
        line = signature_of([each.signature.line for each in results])
        try:
            return find_by_average(
                results, measure, of_pages=of_pages, smallest=smallest, depth=depth, signature=line
            )  # fmt: skip
        except ValueError as refused:
            raise UsageError(f"--measure: {refused}.") from refused
    boxes = [each.first for each in results]
    line = signature_of([each.matching.signature(each.iou).line for each in boxes])
    if measure == ALL:
        return find_by_all_measures(
            boxes,
            of_pages=of_pages,
            of_boxes=of_boxes,
            smallest=smallest,
            depth=depth,
            signature=line,
            count=say.count,
        )
    return find_slices(
        boxes,
        measure=cast(Measure, measure),
        of_pages=of_pages,
        of_boxes=of_boxes,
        use_score=sought.use_score,
        smallest=smallest,
        depth=depth,
        signature=line,
    )


def _from_pdfs(
    boxes: Sequence[AnyBoxResult], pdfs: Path | None, say: Bar
) -> tuple[PageValues, Sequence[Sequence[Attribute]], list[str]]:
    if pdfs is None:
        return {}, (), []
    say("Reading pages")
    folder = PdfFolder(pdfs)
    with PagePool() as pool:
        seen = of_results(boxes, folder, pool, say.count)
    return seen.of_pages, seen.of_boxes, absent_note(boxes[0].matching.dataset, folder)


def _printed(result: Slices, *, json: bool, markdown: bool) -> str:
    if json:
        return export.to_json([each.to_json() for each in result.slices]) + "\n"
    if markdown:
        return export.to_markdown([result.table()])
    sentences = "".join(f"{each.sentence}\n" for each in result.slices)
    table = ("\n" if result.slices else "") + export.to_text([result.table()])
    return sentences + table + "".join(f"{sentence}\n" for sentence in [each.sentence for each in result.thin])
