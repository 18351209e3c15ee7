"""A pack from files that are read already: further evaluation systems beside the boxes, or without any.

Owns the order of the work and its progress: the protocol's own numbers, a chapter for each further system, then what
the pack says. The dashboard hands over what is open, the terminal what it has read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from evaluator.drawing.payloads import ModelItem
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute
from evaluator.model.issues import Issue
from evaluator.pack.cards import PackOptions
from evaluator.pack.chapters import Made, issues_of, made_of, own_chapter
from evaluator.pack.contents import Contents, gather, gather_chapters
from evaluator.pack.since import Packed
from evaluator.pack.slice_cards import pack_slices
from evaluator.pack.text_findings import text_findings
from evaluator.project import AnyProject, evaluate_read, explained
from evaluator.protocols import AnyBoxProtocol, AnyProtocol
from evaluator.protocols.base import Options, Source
from evaluator.review.identity import stored_name
from evaluator.review.verdicts import ReviewLog
from evaluator.slices.attributes import OfPages
from evaluator.system.recent import Recent

# Called with how much is done, how much there is, and what is being done.
Note = Callable[[int, int, str], None]


class Boxes(NamedTuple):
    """The boxes that decision, findings and pages are of.

    Attributes
    ----------
    results : sequence of BoxResult, length >= 1
        Of one dataset at one IoU threshold, each at the score threshold of its model.
    called : sequence of ModelItem
        What the models are called, one each.
    options : Options
        Of the protocol, for its own numbers.
    of_pages : mapping
        What the PDFs show of pages, for slices; see `evaluator.slices.pdf_pages`. Empty where they are not read.
    of_boxes : sequence of sequence of Attribute
        The same of the boxes of the ground truth, then of each result; empty where they are not read.
    """

    protocol: AnyBoxProtocol
    results: Sequence[AnyBoxResult]
    called: Sequence[ModelItem]
    log: ReviewLog
    issues: Sequence[Issue]
    options: Options
    of_pages: OfPages = MappingProxyType({})
    of_boxes: Sequence[Sequence[Attribute]] = ()


MadeBefore = Recent[Hashable, Made]
"""Chapters by what they are made of, for all who make packs in this process."""


class Further(NamedTuple):
    """One more evaluation for a pack.

    Attributes
    ----------
    models : sequence of Source, length >= 1
        The second is compared with the first.
    scores : sequence of float
        A score threshold for each model; see `project.evaluate_read`.
    project : Project, optional
        What the files were opened as, to say more of files that cannot be compared.
    key : hashable, optional
        Everything that the chapter follows from, findings apart; without it the chapter is made anew each time.
    log : ReviewLog
        Verdicts on fields and words, which the chapter lists.
    """

    protocol: AnyProtocol
    truth: Source
    models: Sequence[Source]
    options: Options
    called: Sequence[ModelItem]
    scores: Sequence[float] = ()
    project: AnyProject | None = None
    key: Hashable | None = None
    log: ReviewLog = ReviewLog()

    def made(self, note: Note, options: PackOptions, before: MadeBefore | None = None) -> Made:
        """Its chapter with its findings, one that was made before where there is one.

        Raises as `project.evaluate_read`.
        """
        made = self._made(note, before)
        # As verdicts name the models: by their files.
        models = {stored_name(source.name) for source in self.models}
        findings = text_findings(self.log, self.truth, models, options)
        if findings is None:
            return made
        return made._replace(chapter=replace(made.chapter, blocks=(findings, *made.chapter.blocks)))

    def _made(self, note: Note, before: MadeBefore | None) -> Made:
        """The chapter without findings."""
        words = f"Evaluating {self.protocol.title}"
        note(0, 0, words)
        known = before.get(self.key) if before is not None and self.key is not None else None
        if known is not None:
            return known
        with explained(self.project, self.protocol, self.options):
            evaluations = evaluate_read(
                self.protocol,
                self.truth,
                self.models,
                self.options,
                lambda done, total: note(done, total, words),
                scores=self.scores,
            )
        note(0, 0, f"Comparing the models: {self.protocol.title}")
        made = made_of(evaluations, self.called)
        if before is not None and self.key is not None:
            before.put(self.key, made)
        return made


def gather_all(
    boxes: Boxes | None,
    further: Sequence[Further],
    options: PackOptions,
    note: Note,
    *,
    earlier: Packed | None = None,
    before: MadeBefore | None = None,
) -> Contents:
    """The contents of a pack about what is open.

    Parameters
    ----------
    boxes : Boxes or None
        None for a pack of `further` alone.
    further : sequence of Further
        At least one without boxes.
    note : callable
        Called with what is being done; what it raises ends the work.
    earlier : Packed, optional
        The record of an earlier pack, to say what changed; without effect without boxes.
    before : MadeBefore, optional
        Chapters that need not be made again.

    Raises
    ------
    BadInput
        With all issues of files that a further system cannot evaluate.
    OptionError
        An option's value makes no sense.
    ValueError
        Neither boxes nor a further evaluation.
    """
    chapters = [each.made(note, options, before) for each in further]
    if boxes is None:
        return gather_chapters([each.chapter for each in chapters], options, issues=issues_of(chapters))
    of = boxes.protocol
    note(0, 0, f"Evaluating {of.title}")
    evaluations = [of.result(result.matching, of.thresholds, boxes.options) for result in boxes.results]
    own = own_chapter(of, evaluations, boxes.called)
    slices = pack_slices(
        boxes.results,
        [model.letter for model in boxes.called],
        of_pages=boxes.of_pages,
        of_boxes=boxes.of_boxes,
        count=lambda done, total: note(done, total, "Searching for slices"),
    )
    note(0, 0, "Gathering the pack")
    return gather(
        boxes.results,
        boxes.called,
        boxes.log,
        options,
        issues=tuple(dict.fromkeys((*boxes.issues, *issues_of(chapters)))),
        own=own,
        chapters=[each.chapter for each in chapters],
        earlier=earlier,
        slices=slices,
    )
