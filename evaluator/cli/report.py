"""The command that makes a review pack."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from cyclopts import Group, Parameter

from evaluator import protocols
from evaluator.analysis.doctor.match_check import check_evaluation
from evaluator.analysis.slices.pdf_pages import of_results
from evaluator.cli.arguments import letters, need_iou, need_ratio
from evaluator.cli.arguments import names as names_of
from evaluator.cli.decision_options import LARGEST_LOSS, LEAST, Least, Loss, Measure, rule_of
from evaluator.cli.paths import (
    PDFS,
    PasswordFile,
    Read,
    need_apart,
    need_no_foreign,
    need_store,
    passwords_of,
    store_files,
)
from evaluator.cli.program import OK, Truth, UsageError, in_one_sentence, need_folder, writing
from evaluator.cli.progress import Bar, progress
from evaluator.cli.protocol_options import DEFAULT_OF_PACK, PackedOptions, given_options
from evaluator.components.payload import ModelItem
from evaluator.data.issues import count_of, issues_text, plain
from evaluator.metrics.results import distinct_names
from evaluator.pack.chapters import model_name
from evaluator.pack.contents import Contents
from evaluator.pack.diff import read as read_earlier
from evaluator.pack.extra_protocols import Boxes, ExtraEvaluation, gather_all
from evaluator.pack.html_pack import Progress, WrittenPack, write_html
from evaluator.pack.options import PackOptions, today
from evaluator.pack.pictures import Pictures
from evaluator.pack.place import FILES, MARKED, foreign_files
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.passwords import opening_with
from evaluator.pdf.pool import PagePool
from evaluator.project import (
    MergedFiles,
    OptionError,
    explained,
    model_names,
    one_input,
    open_project,
    options_of,
    paths_of,
    protocol_named,
    require_joined,
)
from evaluator.protocols import AnyBoxProtocol, AnyProtocol
from evaluator.protocols.base import BoxProtocol, Evaluation, Options, Source
from evaluator.review.store_address import store_address
from evaluator.review.verdicts import Event, ReviewLog

_numbers = Group("Numbers", sort_key=1)
_contents = Group("Contents", sort_key=2)
_MEGABYTE = 2**20
# Of a pack that is one file.
_ENDINGS = (".html", ".pdf", ".zip")
# Processes that draw pages, each of some hundred megabytes at most.
_MOST_WORKERS = 8
_OF_TEXT: Final = ("--verdicts", "--tags")
_OF_TWO: Final = ("--decide-by", "--least", "--largest-loss")
# What every PDF of a pack has, and no document has.
_PRODUCER: Final = b"/Producer(LayoutScope)"


def review_pack(
    protocol: str = protocols.DEFAULT,
    /,
    *,
    gt: Truth,
    pred: Annotated[list[Path], Parameter(negative="")],
    out: Path,
    pdfs: Path | None = None,
    password_file: PasswordFile = None,
    keep_active_content: Annotated[bool, Parameter(negative="")] = False,
    options: PackedOptions = DEFAULT_OF_PACK,
    iou: Annotated[float | None, Parameter(group=_numbers)] = None,
    min_score: Annotated[tuple[float, ...], Parameter(group=_numbers, negative="")] = (),
    also: Annotated[tuple[str, ...], Parameter(group=_contents, negative="")] = (),
    title: Annotated[str, Parameter(group=_contents)] = "",
    findings: Annotated[str | None, Parameter(group=_contents)] = None,
    workspace: Annotated[str, Parameter(group=_contents)] = "",
    documents: Annotated[str | None, Parameter(group=_contents)] = None,
    verdicts: Annotated[str | None, Parameter(group=_contents)] = None,
    tags: Annotated[str | None, Parameter(group=_contents)] = None,
    pages: Annotated[int, Parameter(group=_contents)] = 60,
    budget: Annotated[float, Parameter(group=_contents)] = 20.0,
    seconds_per_box: Annotated[float, Parameter(group=_contents)] = 8.0,
    pages_per_year: Annotated[int, Parameter(group=_contents)] = 20_000,
    since: Annotated[Path | None, Parameter(group=_contents)] = None,
    decide_by: Measure = None,
    least: Least = LEAST,
    largest_loss: Loss = LARGEST_LOSS,
) -> int:
    """Make a review pack of one or more models: numbers, differences, findings and pages in one file.

    Parameters
    ----------
    protocol
        The evaluation system, or several for the same files separated by commas: snapshot,coco,pixel. The first one
        that matches boxes gives the decision, the findings and the pages.
    pred
        Prediction file or folder; a second one is compared with the first, further ones are listed.
    out
        pack.html or pack.pdf; or a folder or pack.zip that gets both, the tables, the findings of the chosen
        documents, verdicts and tags, and marked copies of the PDFs.
    pdfs
        The folder under which the PDFs are looked up by name; without it pages are empty sheets.
    keep_active_content
        Keep scripts, actions, XFA forms, films and embedded files of the PDFs in their marked copies, which are not
        copied otherwise.
    iou
        IoU threshold of decision, findings and pages; the protocol's first one when not given.
    min_score
        Leave out predictions below this score: once for all models, or once for each in the order of --pred.
    also
        One more evaluation of other files, as protocol,ground truth,prediction,...; repeat it for more.
    title
        The finding in words; made from the comparison when not given.
    findings
        The store of verdicts and notes: a file, or a database address. Beside the ground truth when not given.
    workspace
        The project in a database that several share.
    documents
        Ids of the documents whose findings, causes and pages are shown, separated by commas. Numbers are always over
        all documents.
    verdicts
        Findings of these verdicts only, separated by commas: model_wrong, ground_truth_wrong, ambiguous, ignore,
        conflict.
    tags
        Findings with one of these tags only, separated by commas.
    pages
        Maximum page pictures.
    budget
        Size of the HTML file in megabytes; pages get less sharp, then fewer, to stay within it.
    seconds_per_box
        What the correction of one box takes, for the cost of correction.
    pages_per_year
        Pages per year for which the cost of correction is estimated.
    since
        An earlier pack.html: what changed since then in the decision, the numbers and the findings.
    """
    systems = [_protocol(name) for name in names_of("protocol", protocol) or ()]
    boxes = next((system for system in systems if isinstance(system, BoxProtocol)), None)
    further = [_Also.of(text) for text in also]
    scores = _scores(min_score, len(pred))
    if boxes is not None:
        iou = _threshold(boxes, iou)
    rule = rule_of(decide_by, least, largest_loss, boxes or systems[0])
    _need_effect(systems, [each.system for each in further], len(pred), {
        "--verdicts": verdicts, "--tags": tags, "--documents": documents, "--iou": iou,
        "--decide-by": decide_by, "--least": least != LEAST, "--largest-loss": largest_loss != LARGEST_LOSS,
    })  # fmt: skip
    with in_one_sentence(ValueError):
        wanted = PackOptions(
            title=title,
            date=today(),
            pages=pages,
            budget=budget * _MEGABYTE,
            documents=names_of("--documents", documents) or (),
            verdicts=names_of("--verdicts", verdicts) or (),
            tags=names_of("--tags", tags) or (),
            seconds=seconds_per_box,
            pages_per_year=pages_per_year,
            rule=rule,
        )
    need_place(out)
    run = _Run(one_input(gt), pred, pdfs, given_options(options), scores)
    _need_own_place(out, run, further, findings, since, password_file=password_file)
    if keep_active_content and (pdfs is None or out.suffix.lower() in (".html", ".pdf")):
        raise UsageError(
            "--keep-active-content is for marked copies, which are made with --pdfs and a folder or .zip as --out."
        )
    if pdfs is not None:
        need_folder("--pdfs", pdfs)
    if since is not None and boxes is None:
        raise UsageError("--since compares packs with boxes; none of these protocols matches boxes.")
    earlier = None if since is None else read_earlier(since)
    workers = min(os.cpu_count() or 2, _MOST_WORKERS)
    with opening_with(passwords_of(password_file)), progress("Reading") as say, PagePool(workers=workers) as pool:
        run.need_options(systems)
        events = _events(findings, workspace, gt[0])
        with in_one_sentence(ValueError):
            of_boxes = None
            others = [run.further(system, say) for system in systems if system is not boxes]
            others += [each.further(say) for each in further]
            log = ReviewLog.of(events)
            others = [each._replace(log=log) for each in others]
            if boxes is not None and iou is not None:
                of_boxes = run.with_pages(run.boxes(boxes, iou, say, log), pool, say)
            contents = gather_all(of_boxes, others, wanted, _counted(say), earlier=earlier)
        _need_documents(wanted.documents, contents)
        pictures = Pictures(pool, pdfs, contents.dataset.page_images if contents.dataset is not None else None)
        with writing("--out", out):
            files = _write(out, contents, pictures, events, pdfs=pdfs, keep_active=keep_active_content, say=say)
    sys.stderr.write(issues_text(contents.issues))
    sys.stdout.write(files)
    return OK


def _need_effect(
    systems: Sequence[AnyProtocol], further: Sequence[AnyProtocol], models: int, given: Mapping[str, object]
) -> None:
    """Refuse options, by name with what was given if anything, that change nothing in a pack."""
    names = [name for name, value in given.items() if value]
    if not any(isinstance(system, BoxProtocol) for system in systems):
        # Fields and posters have findings, too.
        of_text = any(system.kind != "boxes" for system in (*systems, *further))
        if without := [name for name in names if not (of_text and name in _OF_TEXT)]:
            raise UsageError(f"{without[0]} is not an option of {systems[0].name}.")
    if models < 2 and (alone := [name for name in names if name in _OF_TWO]):
        raise UsageError(f"{alone[0]} is for two models; give --pred twice.")


def _scores(given: Sequence[float], models: int) -> list[float]:
    if len(given) not in (0, 1, models):
        of_models = count_of(models, "model")
        raise UsageError(
            f"--min-score is given once for all models, or once for each; found {len(given)} for {of_models}."
        )
    for value in given:
        need_ratio("--min-score", value)
    return list(given) if len(given) == models else [*given, 0.0][:1] * models


def _threshold(boxes: AnyBoxProtocol, iou: float | None) -> float:
    chosen_iou = boxes.thresholds[0] if iou is None else iou
    need_iou(chosen_iou)
    return chosen_iou


def _counted(say: Bar) -> Progress:
    shown = ""

    def note(done: int, total: int, text: str) -> None:
        nonlocal shown
        if text != shown:
            shown = text
            say(text)
        if total:
            say.count(done, total)

    return note


def _write(
    out: Path,
    contents: Contents,
    pictures: Pictures,
    events: Sequence[Event],
    *,
    pdfs: Path | None,
    keep_active: bool,
    say: Bar,
) -> str:
    step = _counted(say)
    if out.suffix.lower() == ".html":
        return _listed(out, write_html(out, contents, pictures, progress=step))
    if out.suffix.lower() == ".pdf":
        from evaluator.pack.pdf_pack import write_pdf

        return _listed(out, write_pdf(out, contents, pictures, progress=step))
    # The tables of a folder take Arrow.
    from evaluator.pack.folder import write_folder, write_zip

    as_zip = out.suffix.lower() == ".zip" and not out.is_dir()
    write = write_zip if as_zip else write_folder
    made = write(out, contents, pictures, events, pdfs, keep_active=keep_active, progress=step)
    marked = "".join(f"{one.name}: {one.words}\n" for one in made.marked)
    if as_zip:
        return _listed(out, made.html) + marked
    return _listed(out / "pack.html", made.html) + _listed(out / "pack.pdf", made.pdf) + marked


def need_place(out: Path) -> None:
    """Refuse a file that cannot be written where it is asked for, before any work is done."""
    ending = out.suffix.lower()
    if ending not in ("", *_ENDINGS) and not out.is_dir():
        raise UsageError(
            f"--out must end in .html, .pdf or .zip, or be a folder without an ending; found {plain(out.name)}. Change "
            "the ending, or make the folder first."
        )
    is_file = ending in _ENDINGS and not (ending == ".zip" and out.is_dir())
    folder = out.parent if is_file else next(each for each in (out, *out.absolute().parents) if each.exists())
    if not folder.exists():
        raise UsageError(f"--out: the folder {plain(folder.name or str(folder))} is not there; make it first.")
    if is_file and out.is_dir():
        raise UsageError(f"--out: {plain(out.name)} is a folder; give the name of a file.")
    # What may be written is known only when it is done: permissions do not tell it of every file system.
    with writing("--out", out), tempfile.TemporaryFile(dir=folder):
        pass


def _need_own_place(
    out: Path,
    run: _Run,
    further: Sequence[_Also],
    findings: str | None,
    since: Path | None,
    *,
    password_file: Path | None,
) -> None:
    """Refuse a store that is not there, and to write over what is read or what no pack wrote."""
    if findings is not None:
        need_store(findings)
    read: Read = {
        "--gt": paths_of(run.gt),
        "--pred": run.pred,
        PDFS: run.pdfs,
        "--also": [path for each in further for path in (each.gt, *each.pred)],
        "--since": since,
        "--password-file": password_file,
        "--findings": store_files(store_address(paths_of(run.gt)[0], named=findings, environment=os.environ)),
    }
    in_folder = out.is_dir() or out.suffix.lower() not in _ENDINGS
    written = [out / name for name in (*FILES, MARKED)] if in_folder else [out]
    need_apart(written, {flag: paths for flag, paths in read.items() if flag != PDFS})
    # An earlier pack may lie in the folder of the documents; it is none of them.
    need_apart([path for path in written if not _is_pack(path)], {PDFS: run.pdfs})
    if in_folder:
        need_no_foreign(out, foreign_files(out), "a pack replaces only the files of an earlier pack")


def _is_pack(path: Path) -> bool:
    return path.suffix.lower() == ".pdf" and path.is_file() and _PRODUCER in path.read_bytes()


def _protocol(name: str) -> AnyProtocol:
    with in_one_sentence(OptionError):
        return protocol_named(name)


class _Run(NamedTuple):
    gt: Path | MergedFiles
    pred: Sequence[Path]
    pdfs: Path | None
    chosen: Mapping[str, object]
    scores: Sequence[float]

    def need_options(self, systems: Sequence[AnyProtocol]) -> None:
        if len({system.name for system in systems}) < len(systems):
            raise UsageError("a protocol is named once.")
        if len({system.kind for system in systems}) > 1:
            listed = " and ".join(system.name for system in systems)
            raise UsageError(f"{listed} read different files; give those of the second with --also.")
        for name in self.chosen:
            if not any(hasattr(system.options, name) for system in systems):
                with in_one_sentence(ValueError):
                    options_of(systems[0], **{name: self.chosen[name]})
        if any(self.scores) and not any(hasattr(system.options, "min_score") for system in systems):
            raise UsageError(f"--min-score is not an option of {systems[0].name}.")

    def options(self, system: AnyProtocol) -> Options:
        given = {name: value for name, value in self.chosen.items() if hasattr(system.options, name)}
        if self.pdfs is not None and hasattr(system.options, "pdfs"):
            given["pdfs"] = self.pdfs
        return options_of(system, **given)

    def further(self, system: AnyProtocol, say: Bar) -> ExtraEvaluation:
        options = self.options(system)
        project = open_project(system, self.gt, list(self.pred), options, say)
        with explained(project, system, options):
            truth, models = project.required()
        return ExtraEvaluation(system, truth, models, options, self._called(models), self.scores, project)

    def boxes(self, system: AnyBoxProtocol, iou: float, say: Bar, log: ReviewLog) -> Boxes:
        options = self.options(system)
        files = require_joined(open_project(system, self.gt, list(self.pred), options, say), system, options)
        say("Matching")
        dataset = files.dataset
        floor = min(system.iou_floor, iou)
        # Each model at a score threshold of its own.
        results = [
            system.match(system.pair(dataset, model, options, iou_floor=floor), options, min_score=score).at(iou)
            for model, score in enumerate(self.scores)
        ]
        truth, issues = dataset.ground_truth.source, [*files.issues]
        for side, result in zip(dataset.predictions, results, strict=True):
            # How scores are ranked is said of all thresholds.
            thresholds = system.thresholds if system.needs_scores else (iou,)
            evaluated = system.result(result.matching, thresholds, options)
            evaluation = Evaluation(evaluated, evaluated.own_issues(side.source.name))
            issues += check_evaluation(system, truth, side.source, options, evaluation).issues
        called = self._called([side.source for side in dataset.predictions])
        return Boxes(system, results, called, log, tuple(dict.fromkeys(issues)), options)

    def with_pages(self, boxes: Boxes, pool: PagePool, say: Bar) -> Boxes:
        """Return the boxes with what the PDFs show of their pages, for slices; as they are without PDFs."""
        if self.pdfs is None:
            return boxes
        say("Reading pages")
        seen = of_results(boxes.results, PdfFolder(self.pdfs), pool, say.count)
        return boxes._replace(of_pages=seen.of_pages, of_boxes=seen.of_boxes)

    def _called(self, models: Sequence[Source]) -> list[ModelItem]:
        files = (Path(name).with_suffix("").as_posix() for name in model_names(self.pred))
        called = [model_name(model) or file for model, file in zip(models, files, strict=True)]
        names = distinct_names(called)
        return [ModelItem(*each) for each in zip(letters(len(names)), names, strict=True)]


class _Also(NamedTuple):
    system: AnyProtocol
    gt: Path
    pred: Sequence[Path]

    @classmethod
    def of(cls, text: str) -> _Also:
        """Return one from what was typed: protocol, ground truth and predictions, separated by commas."""
        name, *paths = (part.strip() for part in text.split(","))
        if len(paths) < 2 or not all(paths):
            raise UsageError(f'--also must look like "posters,ground_truth,predictions"; found {plain(text)}.')
        return cls(_protocol(name), Path(paths[0]), [Path(path) for path in paths[1:]])

    def further(self, say: Bar) -> ExtraEvaluation:
        return _Run(self.gt, self.pred, None, {}, [0.0] * len(self.pred)).further(self.system, say)


def _events(findings: str | None, workspace: str, gt: Path) -> list[Event]:
    address = store_address(gt, named=findings, environment=os.environ)
    if findings is None and "://" not in address and not Path(address).exists():
        return []
    # SQLAlchemy takes a tenth of the time that a pack without findings takes.
    from evaluator.review.problems import StoreProblem
    from evaluator.review.store import Store

    store = Store(address)
    try:
        return store.events(workspace)
    except StoreProblem as problem:
        raise UsageError(f"{plain(problem.title)}. {plain(problem.text)} {plain(problem.fix)}") from problem
    finally:
        store.close()


def _need_documents(wanted: tuple[str, ...], contents: Contents) -> None:
    known = {document.doc_id for document in contents.dataset.documents} if contents.dataset else set()
    missing = [plain(name) for name in wanted if name not in known]
    if missing:
        raise UsageError(f"--documents must be in the files; not there: {', '.join(missing)}.")


def _listed(path: Path, written: WrittenPack) -> str:
    left_out = f"; {count_of(written.left_out, 'page')} left out to stay within the budget" if written.left_out else ""
    size = f"{written.size / _MEGABYTE:.1f} MB"
    return f"{plain(path.name)}: {size}, {written.shown}{left_out}\n"
