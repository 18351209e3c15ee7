"""The command that makes a review pack."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from evaluator import protocols
from evaluator.checkup import checked_match
from evaluator.cli.arguments import assignment, letters, need_ratio
from evaluator.cli.arguments import names as names_of
from evaluator.cli.program import OK, UsageError
from evaluator.cli.progress import progress
from evaluator.doctor import FixError, fix_of
from evaluator.drawing.payloads import ModelItem
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.results import count_of
from evaluator.model.dataset import Dataset
from evaluator.model.issues import issues_text, plain
from evaluator.pack.cards import PackOptions
from evaluator.pack.contents import Contents, gather
from evaluator.pack.folder import write_folder
from evaluator.pack.html_pack import Written, write_html
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pdf.pool import PagePool
from evaluator.project import OptionError, open_project, require_joined
from evaluator.protocols import box_protocols
from evaluator.protocols.base import BoxOptions, BoxProtocol
from evaluator.review.place import store_address
from evaluator.review.problems import StoreProblem
from evaluator.review.store import Store
from evaluator.review.verdicts import Event, ReviewLog

_numbers = Group("Numbers", sort_key=1)
_contents = Group("Contents", sort_key=2)
_MEGABYTE = 2**20


def review_pack(
    protocol: str = protocols.DEFAULT,
    /,
    *,
    gt: Path,
    pred: Annotated[list[Path], Parameter(negative="")],
    out: Path,
    pdfs: Path | None = None,
    iou: Annotated[float | None, Parameter(group=_numbers)] = None,
    min_score: Annotated[tuple[float, ...], Parameter(group=_numbers, negative="")] = (),
    labels: Annotated[str | None, Parameter(group=_numbers)] = None,
    map_label: Annotated[tuple[str, ...], Parameter(group=_numbers, negative="")] = (),
    fix: Annotated[tuple[str, ...], Parameter(group=_numbers, negative="")] = (),
    allow_no_match: Annotated[bool, Parameter(group=_numbers, negative="")] = False,
    as_reference: Annotated[bool, Parameter(group=_numbers, negative="")] = False,
    title: Annotated[str, Parameter(group=_contents)] = "",
    findings: Annotated[str | None, Parameter(group=_contents)] = None,
    workspace: Annotated[str, Parameter(group=_contents)] = "",
    judged_only: Annotated[bool, Parameter(group=_contents, negative="")] = False,
    documents: Annotated[str | None, Parameter(group=_contents)] = None,
    verdicts: Annotated[str | None, Parameter(group=_contents)] = None,
    tags: Annotated[str | None, Parameter(group=_contents)] = None,
    cards: Annotated[int, Parameter(group=_contents)] = 60,
    pages: Annotated[int, Parameter(group=_contents)] = 60,
    budget: Annotated[float, Parameter(group=_contents)] = 20.0,
) -> int:
    """Make a review pack of one or more models: numbers, differences, findings and pages in one file.

    Parameters
    ----------
    protocol
        A protocol that matches boxes, which have pages to show.
    gt
        Ground-truth file or folder.
    pred
        Prediction file or folder; a second one is compared with the first, further ones are listed.
    out
        pack.html or pack.pdf, or a folder that gets both, the tables, the findings and marked copies of the PDFs.
    pdfs
        The folder under which the PDFs are looked up by name; without it pages are empty sheets.
    iou
        IoU threshold; the protocol's first one when not given.
    min_score
        Leave out predictions below this score; repeat it for each further model.
    labels
        Score these labels only, separated by commas.
    map_label
        Rename a label in all files, "fig=Figure"; repeat it for more.
    fix
        Mend the predictions before they are compared, y-flip or lines.json:page-offset=+1; repeat it for more.
    allow_no_match
        Make a pack of files of which nothing matches, too.
    as_reference
        Allow --gt to be a prediction file.
    title
        The finding in words; made from the comparison when not given.
    findings
        The store of verdicts and notes: a file, or a database address. Beside the ground truth when not given.
    workspace
        The project in a database that several share.
    judged_only
        Leave the findings empty when nobody has judged anything, instead of showing the largest mistakes.
    documents
        Ids of the documents whose findings and pages go in, separated by commas. Numbers are always of all.
    verdicts
        Findings of these verdicts only, separated by commas: model_wrong, ground_truth_wrong, ambiguous, ignore,
        conflict.
    tags
        Findings with one of these tags only, separated by commas.
    cards
        Maximum findings.
    pages
        Maximum page pictures.
    budget
        Size of the HTML file in megabytes; pages get less sharp, then fewer, to stay within it.
    """
    system = box_protocols().get(protocol)
    if system is None:
        raise UsageError(f"a review pack is made of {', '.join(box_protocols())} results; found {protocol}.")
    if len(min_score) > len(pred):
        raise UsageError(f"--min-score is given once for each model; found {len(min_score)}.")
    for value in min_score:
        need_ratio("--min-score", value)
    iou = system.thresholds[0] if iou is None else iou
    if not system.iou_floor <= iou <= 1.0:
        raise UsageError(f"--iou must be between {system.iou_floor} and 1; found {iou:g}.")
    try:
        options = PackOptions(
            title=title,
            date=_today(),
            judged_only=judged_only,
            cards=cards,
            pages=pages,
            budget=round(budget * _MEGABYTE),
            documents=names_of(documents) or (),
            verdicts=names_of(verdicts) or (),
            tags=names_of(tags) or (),
        )
    except ValueError as problem:
        raise UsageError(f"{problem}.") from problem
    with progress("Reading") as say:
        chosen = _options(
            system,
            labels=names_of(labels),
            map_label=dict(assignment("--map-label", text) for text in map_label),
            fix=fix,
            allow_no_match=allow_no_match,
            as_reference=as_reference,
        )
        try:
            files = require_joined(open_project(system, gt, pred, chosen, say), system, chosen)
        except OptionError as problem:
            raise UsageError(f"{problem}.") from problem
        events = _events(findings, workspace, gt)
        say("Evaluating")
        results = _results(system, files.dataset, chosen, iou, [*min_score, *[0.0] * len(pred)])
        issues = list(files.issues)
        for side, result in zip(files.dataset.predictions, results, strict=True):
            truth = files.dataset.ground_truth.source
            issues += checked_match(system, truth, side.source, chosen, result)
        sources = [side.source for side in files.dataset.predictions]
        named = [f"{read.model or read.name} {read.version or ''}".strip() for read in sources]
        called = [ModelItem(*each) for each in zip(letters(len(named)), named, strict=True)]
        contents = gather(results, called, ReviewLog.of(events), options, issues=issues)
        _need_documents(options.documents, contents)
        with PagePool() as pool:
            pictures = Pictures(pool, pdfs, files.dataset.page_images)

            def tell(done: int, total: int, text: str) -> None:
                say(f"{text} ({done} of {total})" if total else text)

            if out.suffix.lower() == ".html":
                told = _told(out, write_html(out, contents, pictures, progress=tell))
            elif out.suffix.lower() == ".pdf":
                told = _told(out, write_pdf(out, contents, pictures, progress=tell))
            else:
                made = write_folder(out, contents, pictures, events, pdfs, progress=tell)
                told = _told(out / "pack.html", made.html) + _told(out / "pack.pdf", made.pdf)
                for one in made.marked:
                    told += f"{one.name}: {one.problem or count_of(one.notes, 'mark')}\n"
    sys.stderr.write(issues_text(issues))
    sys.stdout.write(told)
    return OK


def _options(system: BoxProtocol[Any], *, fix: tuple[str, ...], **chosen: Any) -> BoxOptions:  # noqa: ANN401
    """The options of the protocol with those of the command; UsageError for a fix that is written wrongly."""
    try:
        options: BoxOptions = system.options(fix=tuple(map(fix_of, fix)), **chosen)
    except FixError as problem:
        raise UsageError(f"{problem}.") from problem
    return options


def _today() -> str:
    """The day of the pack."""
    today = date.today()
    return f"{today.day} {today:%B %Y}"


def _events(findings: str | None, workspace: str, gt: Path) -> list[Event]:
    """The verdicts and notes; none when no store is there."""
    address = store_address(gt, named=findings, environment=os.environ)
    if findings is None and "://" not in address and not Path(address).exists():
        return []
    store = Store(address)
    try:
        return store.events(workspace)
    except StoreProblem as problem:
        raise UsageError(f"{plain(problem.title)}. {plain(problem.text)} {plain(problem.fix)}") from problem
    finally:
        store.close()


def _results(
    protocol: BoxProtocol[BoxOptions], dataset: Dataset, options: BoxOptions, iou: float, scores: Sequence[float]
) -> list[AnyBoxResult]:
    """The result of each model on one dataset, each at a score threshold of its own."""
    try:
        pairs = [protocol.pair(dataset, model, options) for model in range(len(dataset.predictions))]
        return [
            protocol.match(of_model, options, min_score=score).at(iou)
            for of_model, score in zip(pairs, scores, strict=False)
        ]
    except ValueError as problem:
        raise UsageError(f"{problem}.") from problem


def _need_documents(wanted: tuple[str, ...], contents: Contents) -> None:
    """Refuse documents that the files do not have."""
    known = {document.doc_id for document in contents.dataset.documents}
    missing = [plain(name) for name in wanted if name not in known]
    if missing:
        raise UsageError(f"--documents must be in the files; not there: {', '.join(missing)}.")


def _told(path: Path, written: Written) -> str:
    """What was written, in one line."""
    left_out = f"; {count_of(written.left_out, 'page')} left out to stay within the budget" if written.left_out else ""
    size = f"{written.size / _MEGABYTE:.1f} MB"
    return f"{plain(path.name)}: {size}, {count_of(written.pages, 'page')} with a picture{left_out}\n"
