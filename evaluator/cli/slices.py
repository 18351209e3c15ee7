"""The command that finds where a model fails by itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

from cyclopts import Group, Parameter

from evaluator import export, project
from evaluator.cli.absent_documents import absent_note
from evaluator.cli.program import OK, Protocol, Truth, UsageError, print_issues
from evaluator.cli.progress import Bar, progress
from evaluator.cli.protocol_options import DEFAULT, ProtocolOptions, chosen, need_protocol
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.project import OptionError
from evaluator.protocols import box_protocols
from evaluator.protocols.base import BoxEvaluation
from evaluator.slices.all_measures import find_by_all_measures
from evaluator.slices.attributes import Attribute, OfPages, joined
from evaluator.slices.averages import find_by_average
from evaluator.slices.measured import ALL, Measure, is_average, problem_of
from evaluator.slices.named import NamedSlice, default_file, saved
from evaluator.slices.page_table import read_page_table
from evaluator.slices.pdf_pages import of_results
from evaluator.slices.search import SMALLEST_EFFECT
from evaluator.slices.slices import Slices, find_slices, signature_of

_search = Group("Search", sort_key=3)
_output = Group("Output", sort_key=4)


def slices(
    protocol: Protocol,
    /,
    *,
    gt: Truth,
    pred: Annotated[list[Path], Parameter(negative="")],
    options: ProtocolOptions = DEFAULT,
    measure: Annotated[str, Parameter(group=_search)] = "recall",
    attributes: Annotated[Path | None, Parameter(group=_search)] = None,
    conditions: Annotated[int, Parameter(group=_search)] = 3,
    smallest: Annotated[float, Parameter(group=_search)] = SMALLEST_EFFECT,
    use_score: Annotated[bool, Parameter(group=_search, negative="")] = False,
    only_confirmed: Annotated[bool, Parameter(group=_search, negative="")] = False,
    save: Annotated[str | None, Parameter(group=_output)] = None,
    slices_file: Annotated[Path | None, Parameter(group=_output)] = None,
    json: Annotated[bool, Parameter(group=_output, negative="")] = False,
    markdown: Annotated[bool, Parameter(group=_output, negative="")] = False,
) -> int:
    """Find the sets of boxes, by up to three conditions, in which a model is worse than elsewhere.

    With two --pred, where B does differently from A. With --pdfs the words, fonts, ink, pictures and ruled lines of
    pages and boxes are attributes too. See docs/slices.md for what is tried and how chance is controlled.

    Parameters
    ----------
    pred
        Prediction file or folder; a second one is compared with the first.
    measure
        recall, precision, f1, mean_iou, mean_coverage, mean_purity, or all of these in one list. With coco also AP,
        AP50, AP75, AR1, AR10 and AR100, with pod map and mean_f1: conditions then are on pages, documents and labels.
    attributes
        CSV with attributes of documents or pages: a column document, perhaps page (from 0) or page_no (from 1).
    conditions
        Conditions of a slice, at most: 1, 2 or 3.
    smallest
        Smallest difference that is listed, as a ratio.
    use_score
        Let conditions be on the score of predictions; with --measure precision.
    only_confirmed
        List only what the other half of the documents confirms.
    save
        Keep the first slice under this name, for evaluate, compare and gate.
    slices_file
        Where named slices are kept; layoutscope-slices.json beside the ground truth when absent.
    json
        Write JSON to standard output.
    markdown
        Write Markdown to standard output.
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
    if use_score and measure != "precision":
        raise UsageError("--use-score goes with --measure precision: the ground truth has no scores.")
    given = chosen(options)
    # An option of the protocol pixel as well; here the pages give attributes.
    pdfs = given.pop("pdfs", None)
    with progress("Reading") as say:
        try:
            evaluations = project.evaluate_together(protocol, gt, pred, say, **given)
        except OptionError as refused:
            raise UsageError(f"{refused}.") from refused
        results = [one.result for one in evaluations if isinstance(one.result, BoxEvaluation)]
        boxes = [result.first for result in results]
        of_pages, of_boxes, absent = _from_pdfs(boxes, pdfs, say)
        if attributes is not None:
            of_pages = joined(of_pages, read_page_table(attributes, boxes[0].matching.dataset.document_ids))
        say("Searching")
        result = _searched(
            results, measure, of_pages, of_boxes, use_score=use_score, smallest=smallest, depth=conditions, say=say
        )
    if only_confirmed:
        result = result._replace(slices=tuple(each for each in result.slices if each.confirmed))
    if save is not None:
        if not result.slices:
            raise UsageError(f"there is no slice to save as {save}.")
        saved(slices_file or default_file(gt), NamedSlice(save, result.slices[0].conditions))
    sys.stdout.write(_printed(result, json=json, markdown=markdown))
    beside = [result.summary, *result.thin_sentences] if json else ()
    print_issues((issue for one in evaluations for issue in one.issues), (*absent, *beside))
    return OK


def _measure(protocol: str, name: str) -> str:
    """A measure that slices of the protocol have; averages may be written in small letters."""
    if protocol not in box_protocols():
        raise UsageError(f"slices are of boxes that are matched one to one, which {protocol} does not do.")
    averages = box_protocols()[protocol].averages
    measure = {each.casefold(): each for each in averages}.get(name.casefold(), name)
    if problem := problem_of(measure, averages):
        raise UsageError(f"--measure: {problem}.")
    return measure


def _searched(
    results: Sequence[BoxEvaluation],
    measure: str,
    of_pages: OfPages,
    of_boxes: Sequence[Sequence[Attribute]],
    *,
    use_score: bool,
    smallest: float,
    depth: int,
    say: Bar,
) -> Slices:
    """The search by one measure, by all that are means over boxes, or by an average of the protocol."""
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
        use_score=use_score,
        smallest=smallest,
        depth=depth,
        signature=line,
    )


def _from_pdfs(
    boxes: Sequence[AnyBoxResult], pdfs: Path | None, say: Bar
) -> tuple[OfPages, Sequence[Sequence[Attribute]], list[str]]:
    """What the PDFs show of the pages, and of the boxes of the ground truth and of each result; nothing without.

    And which documents have no file, as a note.
    """
    if pdfs is None:
        return {}, (), []
    say("Reading pages")
    folder = PdfFolder(pdfs)
    with PagePool() as pool:
        seen = of_results(boxes, folder, pool, say.count)
    return seen.of_pages, seen.of_boxes, absent_note(boxes[0].matching.dataset, folder)


def _printed(result: Slices, *, json: bool, markdown: bool) -> str:
    """The slices in the form that was asked for."""
    if json:
        return export.to_json([each.to_json() for each in result.slices]) + "\n"
    if markdown:
        return export.to_markdown([result.table()])
    sentences = "".join(f"{each.sentence}\n" for each in result.slices)
    table = ("\n" if result.slices else "") + export.to_text([result.table()])
    return sentences + table + "".join(f"{sentence}\n" for sentence in result.thin_sentences)
