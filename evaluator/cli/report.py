"""The command that makes a review pack."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from cyclopts import Group, Parameter

from evaluator import protocols
from evaluator.checkup import checked_match
from evaluator.cli.arguments import letters, need_ratio
from evaluator.cli.arguments import names as names_of
from evaluator.cli.deciding import Least, Loss, Measure, rule_of
from evaluator.cli.program import OK, UsageError
from evaluator.cli.progress import Bar, progress
from evaluator.cli.protocol_options import DEFAULT_OF_PACK, PackedOptions, chosen
from evaluator.drawing.payloads import ModelItem
from evaluator.metrics.results import count_of
from evaluator.model.dataset import Dataset
from evaluator.model.issues import BadInput, issues_text, plain
from evaluator.pack.cards import PackOptions
from evaluator.pack.chapters import Made, issues_of, made_of, model_name, own_chapter
from evaluator.pack.contents import Contents, gather, gather_chapters
from evaluator.pack.folder import write_folder
from evaluator.pack.html_pack import Written, write_html
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.since import Packed
from evaluator.pack.since import read as read_earlier
from evaluator.pack.slice_cards import pack_slices
from evaluator.pdf.pool import PagePool
from evaluator.project import (
    OptionError,
    evaluate_together,
    open_project,
    options_of,
    protocol_named,
    require_joined,
)
from evaluator.protocols import AnyProtocol
from evaluator.protocols.base import BoxEvaluation, BoxProtocol, Options, Result
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
    options: PackedOptions = DEFAULT_OF_PACK,
    iou: Annotated[float | None, Parameter(group=_numbers)] = None,
    min_score: Annotated[tuple[float, ...], Parameter(group=_numbers, negative="")] = (),
    also: Annotated[tuple[str, ...], Parameter(group=_contents, negative="")] = (),
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
    seconds_per_box: Annotated[float, Parameter(group=_contents)] = 8.0,
    pages_per_year: Annotated[int, Parameter(group=_contents)] = 20_000,
    since: Annotated[Path | None, Parameter(group=_contents)] = None,
    decide_by: Measure = None,
    least: Least = 1.0,
    largest_loss: Loss = 5.0,
) -> int:
    """Make a review pack of one or more models: numbers, differences, findings and pages in one file.

    Parameters
    ----------
    protocol
        The evaluation system, or several for the same files separated by commas: snapshot,coco,pixel. The first one
        that matches boxes gives the decision, the findings and the pages.
    gt
        Ground-truth file or folder.
    pred
        Prediction file or folder; a second one is compared with the first, further ones are listed.
    out
        pack.html or pack.pdf, or a folder that gets both, the tables, the findings and marked copies of the PDFs.
    pdfs
        The folder under which the PDFs are looked up by name; without it pages are empty sheets.
    iou
        IoU threshold of decision, findings and pages; the protocol's first one when not given.
    min_score
        Leave out predictions below this score; repeat it for each further model.
    also
        One more evaluation of other files, as protocol,ground truth,prediction,...; repeat it for more.
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
    seconds_per_box
        What the correction of one box takes, for the hand work.
    pages_per_year
        For how many pages a year the hand work is computed.
    since
        An earlier pack.html: what changed since then in the decision, the numbers and the findings.
    """
    systems = [_protocol(name) for name in names_of(protocol) or ()]
    boxes = next((system for system in systems if isinstance(system, BoxProtocol)), None)
    further = [_Further.of(text) for text in also]
    if len(min_score) > len(pred):
        raise UsageError(f"--min-score is given once for each model; found {len(min_score)}.")
    for value in min_score:
        need_ratio("--min-score", value)
    if boxes is not None:
        iou = boxes.thresholds[0] if iou is None else iou
        if not boxes.iou_floor <= iou <= 1.0:
            raise UsageError(f"--iou must be between {boxes.iou_floor} and 1; found {iou:g}.")
    rule = rule_of(decide_by, least, largest_loss)
    try:
        wanted = PackOptions(
            title=title,
            date=_today(),
            judged_only=judged_only,
            cards=cards,
            pages=pages,
            budget=round(budget * _MEGABYTE),
            documents=names_of(documents) or (),
            verdicts=names_of(verdicts) or (),
            tags=names_of(tags) or (),
            seconds=seconds_per_box,
            pages_per_year=pages_per_year,
            rule=rule,
        )
    except ValueError as problem:
        raise UsageError(f"{problem}.") from problem
    need_place(out)
    if since is not None and boxes is None:
        raise UsageError("--since compares packs with boxes; none of these protocols matches boxes.")
    earlier = None if since is None else read_earlier(since)
    run = _Run(gt, pred, pdfs, chosen(options), [*min_score, *[0.0] * len(pred)][: len(pred)])
    with progress("Reading") as say:
        run.need_options(systems)
        others = [run.chapter(system, say) for system in systems if system is not boxes]
        others += [each.chapter(say) for each in further]
        events = _events(findings, workspace, gt)
        if boxes is None or iou is None:
            contents = gather_chapters([each.chapter for each in others], wanted, issues=issues_of(others))
        else:
            contents = run.boxes(
                boxes, iou, say, log=ReviewLog.of(events), wanted=wanted, others=others, earlier=earlier
            )
        _need_documents(wanted.documents, contents)
        with PagePool() as pool:
            pictures = Pictures(pool, pdfs, contents.dataset.page_images if contents.dataset is not None else None)

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
    sys.stderr.write(issues_text(contents.issues))
    sys.stdout.write(told)
    return OK


def need_place(out: Path) -> None:
    """Refuse a file that cannot be written where it is asked for, before any work is done."""
    is_file = out.suffix.lower() in (".html", ".pdf")
    folder = out.parent if is_file else next(each for each in (out, *out.absolute().parents) if each.exists())
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "is not there"
        raise UsageError(f"--out: the folder {plain(folder.name or str(folder))} {what}; make it first.")
    if is_file and out.is_dir():
        raise UsageError(f"--out: {plain(out.name)} is a folder; give the name of a file.")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"--out: nothing may be written in the folder {plain(folder.resolve().name)}.")


def _protocol(name: str) -> AnyProtocol:
    """A protocol by its name."""
    try:
        return protocol_named(name)
    except OptionError as problem:
        raise UsageError(f"{problem}.") from problem


class _Run(NamedTuple):
    """Files and options that several protocols evaluate."""

    gt: Path
    pred: Sequence[Path]
    pdfs: Path | None
    chosen: Mapping[str, Any]
    scores: Sequence[float]

    def need_options(self, systems: Sequence[AnyProtocol]) -> None:
        """Refuse several protocols that read different files, and an option that none of them has."""
        if len({system.name for system in systems}) < len(systems):
            raise UsageError("a protocol is named once.")
        if len({system.kind for system in systems}) > 1:
            listed = " and ".join(system.name for system in systems)
            raise UsageError(f"{listed} read different files; give those of the second with --also.")
        for name in self.chosen:
            if not any(hasattr(system.options, name) for system in systems):
                with _refused():
                    options_of(systems[0], **{name: self.chosen[name]})
        if any(self.scores) and not any(hasattr(system.options, "min_score") for system in systems):
            raise UsageError(f"--min-score is not an option of {systems[0].name}.")

    def options(self, system: AnyProtocol) -> Options:
        """The options of one protocol: those that it has of those that were given."""
        given = {name: value for name, value in self.chosen.items() if hasattr(system.options, name)}
        if self.pdfs is not None and hasattr(system.options, "pdfs"):
            given["pdfs"] = self.pdfs
        return options_of(system, **given)

    def chapter(self, system: AnyProtocol, say: Bar) -> Made:
        """The chapter of a protocol beside the one of the boxes."""
        given = msgspec.structs.asdict(self.options(system))
        with _refused():
            evaluations = evaluate_together(
                system.name, self.gt, self.pred, say, say.count, scores=self.scores, **given
            )
        results = [evaluation.result for evaluation in evaluations]
        return made_of(evaluations, _called(results, [path.stem for path in self.pred]))

    def boxes(
        self,
        system: BoxProtocol[Any],
        iou: float,
        say: Bar,
        *,
        log: ReviewLog,
        wanted: PackOptions,
        others: Sequence[Made],
        earlier: Packed | None = None,
    ) -> Contents:
        """The contents of a pack whose decision, findings and pages are of one protocol that matches boxes."""
        options = self.options(system)
        with _refused():
            files = require_joined(open_project(system, self.gt, list(self.pred), options, say), system, options)
            say("Evaluating")
            evaluations = self._evaluations(system, files.dataset, options)
            results = [each.matching.at(iou) for each in evaluations]
        issues = list(files.issues)
        for side, result in zip(files.dataset.predictions, results, strict=True):
            truth = files.dataset.ground_truth.source
            issues += checked_match(system, truth, side.source, options, result)
        called = _called(evaluations, [path.stem for path in self.pred])
        say("Searching for slices")
        return gather(
            results,
            called,
            log,
            wanted,
            issues=tuple(dict.fromkeys([*issues, *issues_of(others)])),
            own=own_chapter(system, evaluations, called),
            chapters=[each.chapter for each in others],
            earlier=earlier,
            slices=pack_slices(results, [model.letter for model in called]),
        )

    def _evaluations(self, system: BoxProtocol[Any], dataset: Dataset, options: Any) -> list[BoxEvaluation]:  # noqa: ANN401
        """Each model at a score threshold of its own, at the thresholds of the protocol."""
        matchings = [
            system.match(system.pair(dataset, model, options), options, min_score=score)
            for model, score in enumerate(self.scores)
        ]
        return [system.result(matching, system.thresholds, options) for matching in matchings]


@contextmanager
def _refused() -> Iterator[None]:
    """An option that makes no sense becomes a UsageError of one sentence."""
    try:
        yield
    except BadInput:
        raise
    except ValueError as problem:
        raise UsageError(f"{problem}.") from problem


class _Further(NamedTuple):
    """One more evaluation, of files of its own."""

    system: AnyProtocol
    gt: Path
    pred: Sequence[Path]

    @classmethod
    def of(cls, text: str) -> _Further:
        """From what was typed: protocol, ground truth and predictions, separated by commas."""
        name, *paths = (part.strip() for part in text.split(","))
        if len(paths) < 2 or not all(paths):
            raise UsageError(f'--also must look like "posters,ground_truth,predictions"; found {plain(text)}.')
        return cls(_protocol(name), Path(paths[0]), [Path(path) for path in paths[1:]])

    def chapter(self, say: Bar) -> Made:
        """Its chapter, under the protocol's own options."""
        return _Run(self.gt, self.pred, None, {}, [0.0] * len(self.pred)).chapter(self.system, say)


def _called(results: Sequence[Result], names: Sequence[str]) -> list[ModelItem]:
    """What the models are called: as their files state, or as these are named."""
    said = [model_name(result) or name for result, name in zip(results, names, strict=True)]
    return [ModelItem(*each) for each in zip(letters(len(said)), said, strict=True)]


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


def _need_documents(wanted: tuple[str, ...], contents: Contents) -> None:
    """Refuse documents that the files do not have."""
    known = {document.doc_id for document in contents.dataset.documents} if contents.dataset else set()
    missing = [plain(name) for name in wanted if name not in known]
    if missing:
        raise UsageError(f"--documents must be in the files; not there: {', '.join(missing)}.")


def _told(path: Path, written: Written) -> str:
    """What was written, in one line."""
    left_out = f"; {count_of(written.left_out, 'page')} left out to stay within the budget" if written.left_out else ""
    size = f"{written.size / _MEGABYTE:.1f} MB"
    return f"{plain(path.name)}: {size}, {count_of(written.pages, 'page')} with a picture{left_out}\n"
